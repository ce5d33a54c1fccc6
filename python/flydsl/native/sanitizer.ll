; Made from src/sanitizer.c by `python -m flydsl.native.generate`.

%struct.Interval = type { i64, i64, i64 }
%struct.RankHooks = type { ptr, ptr, ptr, ptr }
%struct.Seen = type { %struct.Event, %struct.Event, i8, i8 }
%struct.Event = type { i64, i32, i32, i32, i32, i16, i16 }
%struct.Tail = type { i32, i32, i32 }
%struct.anon = type { i64, ptr }
%struct.SharedCell = type { %struct.Event, [10 x %struct.Event], ptr, i8, [10 x i8], i8, i16 }
%struct.Touch = type { i64, i64, i64, i64, i64, i64, i64, i64 }
%struct.Ticket = type { i64, i64, i64, i64, i64, i64, i64, i64, i8, i8, i8, i8 }
%struct.RegionFacts = type { i64, i64, i64, ptr }
%struct.Cell = type { %struct.Slot, [2 x %struct.Slot], [2 x %struct.Slot] }
%struct.Slot = type { i64, i64 }

@fly.sanitizer.flags = internal global i64 0, align 8
@fly.sanitizer.ranges = internal global ptr null, align 8
@fly.sanitizer.range_count = internal global i64 0, align 8
@fly.sanitizer.regions = internal global ptr null, align 8
@fly.sanitizer.region_count = internal global i64 0, align 8
@fly.sanitizer.report = internal global ptr null, align 8
@fly.sanitizer.failed = internal global i8 0, align 1
@fly.sanitizer.roots = internal global [256 x %struct.Interval] zeroinitializer, align 16
@fly.sanitizer.block = internal global i64 0, align 8
@fly.sanitizer.wave_epoch = internal global i64 0, align 8
@fly.sanitizer.hooks = internal constant %struct.RankHooks { ptr @fly.sanitizer.ranks_started, ptr @fly.sanitizer.launch_began, ptr @fly.sanitizer.launch_ended, ptr @fly.sanitizer.ranks_met }, align 8
@fly.sanitizer.rank_report = internal global [17 x i64] zeroinitializer, align 16
@fly.sanitizer.pages = internal global ptr null, align 8
@fly.sanitizer.epoch = internal global i64 0, align 8
@fly.sanitizer.dims = internal global ptr null, align 8
@fly.sanitizer.wave_shift = internal global i64 0, align 8
@fly.sanitizer.scratch_bytes = internal global i64 0, align 8
@fly.sanitizer.shared_bytes = internal global i64 0, align 8
@fly.sanitizer.written = internal global ptr null, align 8
@fly.sanitizer.shared_cells = internal global ptr null, align 8
@fly.sanitizer.scratch = internal global i64 0, align 8
@fly.sanitizer.launch_start = internal global i64 0, align 8
@fly.sanitizer.fillers = internal global ptr null, align 8
@fly.sanitizer.readers = internal global ptr null, align 8
@fly.sanitizer.writers = internal global ptr null, align 8
@fly.sanitizer.write_times = internal global ptr null, align 8
@fly.sanitizer.synced = internal global i64 0, align 8
@fly.sanitizer.ticket_count = internal global i64 0, align 8
@fly.sanitizer.first_ticket = internal global i64 0, align 8
@fly.sanitizer.fence_time = internal global i64 0, align 8
@fly.sanitizer.tickets = internal global ptr null, align 8
@fly.sanitizer.ticket_room = internal global i64 0, align 8
@fly.sanitizer.time = internal global i64 1, align 8
@fly.sanitizer.actors = internal global [1024 x ptr] zeroinitializer, align 16
@fly.sanitizer.rank_views = internal global [16 x ptr] zeroinitializer, align 16
@fly.sanitizer.told = internal global i8 0, align 1
@fly.sanitizer.accesses = internal global i64 0, align 8

define void @fly_sanitizer_begin(i64 %checks, ptr %arrays, i64 %array_count, ptr %memory, i64 %memory_count, ptr %words) {
entry:
  store i64 %checks, ptr @fly.sanitizer.flags, align 8
  store ptr %arrays, ptr @fly.sanitizer.ranges, align 8
  store i64 %array_count, ptr @fly.sanitizer.range_count, align 8
  store ptr %memory, ptr @fly.sanitizer.regions, align 8
  store i64 %memory_count, ptr @fly.sanitizer.region_count, align 8
  store ptr %words, ptr @fly.sanitizer.report, align 8
  store i8 0, ptr @fly.sanitizer.failed, align 1
  ret void
}

define void @fly_sanitizer_root(i64 %index, ptr %pointer, i64 %row) {
entry:
  %0 = ptrtoint ptr %pointer to i64
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %entry
  %i.0 = phi i64 [ 0, %entry ], [ %inc, %for.inc ]
  %row.addr.0 = phi i64 [ %row, %entry ], [ %row.addr.1, %for.inc ]
  %cmp = icmp slt i64 %row.addr.0, 0
  %1 = load i64, ptr @fly.sanitizer.range_count, align 8
  %cmp1 = icmp slt i64 %i.0, %1
  %2 = select i1 %cmp, i1 %cmp1, i1 false
  br i1 %2, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %3 = load ptr, ptr @fly.sanitizer.ranges, align 8
  %arrayidx = getelementptr inbounds nuw %struct.Interval, ptr %3, i64 %i.0
  %4 = load i64, ptr %arrayidx, align 8
  %cmp2.not = icmp ugt i64 %4, %0
  br i1 %cmp2.not, label %for.inc, label %land.lhs.true

land.lhs.true:                                    ; preds = %for.body
  %end = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %5 = load i64, ptr %end, align 8
  %cmp4 = icmp ugt i64 %5, %0
  %spec.select = select i1 %cmp4, i64 %i.0, i64 %row.addr.0
  br label %for.inc

for.inc:                                          ; preds = %land.lhs.true, %for.body
  %row.addr.1 = phi i64 [ %row.addr.0, %for.body ], [ %spec.select, %land.lhs.true ]
  %inc = add nuw nsw i64 %i.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  %arrayidx5 = getelementptr inbounds %struct.Interval, ptr @fly.sanitizer.roots, i64 %index
  %cmp6 = icmp sgt i64 %row.addr.0, -1
  %6 = load i64, ptr @fly.sanitizer.range_count, align 8
  %cmp8 = icmp slt i64 %row.addr.0, %6
  %or.cond = select i1 %cmp6, i1 %cmp8, i1 false
  br i1 %or.cond, label %cond.true, label %cond.false

cond.true:                                        ; preds = %for.end
  %7 = load ptr, ptr @fly.sanitizer.ranges, align 8
  %arrayidx9 = getelementptr inbounds nuw %struct.Interval, ptr %7, i64 %row.addr.0
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(24) %arrayidx5, ptr nonnull align 8 dereferenceable(24) %arrayidx9, i64 24, i1 false)
  br label %cond.end

cond.false:                                       ; preds = %for.end
  store i64 0, ptr %arrayidx5, align 8
  %.compoundliteral.sroa.2.0.arrayidx5.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx5, i64 8
  store i64 -1, ptr %.compoundliteral.sroa.2.0.arrayidx5.sroa_idx, align 8
  %.compoundliteral.sroa.3.0.arrayidx5.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx5, i64 16
  store i64 -1, ptr %.compoundliteral.sroa.3.0.arrayidx5.sroa_idx, align 8
  br label %cond.end

cond.end:                                         ; preds = %cond.false, %cond.true
  ret void
}

define ptr @fly_sanitizer_roots() {
entry:
  ret ptr @fly.sanitizer.roots
}

define void @fly_sanitizer_here(i64 %number) {
entry:
  store i64 %number, ptr @fly.sanitizer.block, align 8
  ret void
}

define void @fly_sanitizer_wave() {
entry:
  %call = call i64 @fly.sanitizer.tick()
  store i64 %call, ptr @fly.sanitizer.wave_epoch, align 8
  ret void
}

define internal i64 @fly.sanitizer.tick() {
entry:
  %0 = load i64, ptr @fly.sanitizer.time, align 8
  %inc = add i64 %0, 1
  store i64 %inc, ptr @fly.sanitizer.time, align 8
  ret i64 %inc
}

define void @fly_sanitizer_ranks_open() {
entry:
  call void @fly_ranks_hooks(ptr nonnull @fly.sanitizer.hooks)
  ret void
}

declare void @fly_ranks_hooks(ptr)

define ptr @fly_sanitizer_ranks_report() {
entry:
  ret ptr @fly.sanitizer.rank_report
}

define void @fly_sanitizer_ranks_fence(i64 %kind, i64 %thread) {
entry:
  %who = alloca [3 x i64], align 16
  call void @llvm.lifetime.start.p0(ptr nonnull %who)
  %0 = load i64, ptr @fly.sanitizer.flags, align 8
  %and = and i64 %0, 64
  %tobool.not = icmp eq i64 %and, 0
  br i1 %tobool.not, label %cond.end, label %cond.true

cond.true:                                        ; preds = %entry
  %call = call i64 @fly.sanitizer.actor_here(ptr nonnull %who)
  br label %cond.end

cond.end:                                         ; preds = %entry, %cond.true
  %cond = phi i64 [ %call, %cond.true ], [ -1, %entry ]
  %cmp = icmp sgt i64 %cond, -1
  %and1 = and i64 %kind, 768
  %tobool2 = icmp ne i64 %and1, 0
  %or.cond = select i1 %cmp, i1 %tobool2, i1 false
  br i1 %or.cond, label %if.end, label %cleanup

if.end:                                           ; preds = %cond.end
  %conv = trunc i64 %cond to i32
  %call3 = call ptr @fly.sanitizer.actor_at(i32 %conv)
  %near4 = getelementptr inbounds nuw i8, ptr %call3, i64 5688
  %conv5 = trunc i64 %thread to i32
  %call6 = call ptr @fly.sanitizer.own_of(ptr nonnull %near4, i32 %conv5, i1 false)
  %far7 = getelementptr inbounds nuw i8, ptr %call3, i64 5704
  %call9 = call ptr @fly.sanitizer.own_of(ptr nonnull %far7, i32 %conv5, i1 false)
  %and10 = and i64 %kind, 512
  %tobool11.not30 = icmp eq i64 %and10, 0
  %and12 = and i64 %kind, 64
  %tobool13 = icmp ne i64 %and12, 0
  %tobool14 = icmp ne ptr %call6, null
  %or.cond28 = select i1 %tobool13, i1 %tobool14, i1 false
  br i1 %or.cond28, label %if.then15, label %if.end19

if.then15:                                        ; preds = %if.end
  %taken = getelementptr inbounds nuw i8, ptr %call3, i64 5656
  %call17 = call ptr @fly.sanitizer.own_of(ptr nonnull %taken, i32 %conv5, i1 true)
  call void @fly.sanitizer.join_view(ptr %call17, ptr nonnull %call6)
  br label %if.end19

if.end19:                                         ; preds = %if.then15, %if.end
  %tobool23 = icmp eq ptr %call9, null
  %not.tobool13 = xor i1 %tobool13, true
  %or.cond29 = select i1 %not.tobool13, i1 true, i1 %tobool23
  %brmerge = select i1 %or.cond29, i1 true, i1 %tobool11.not30
  br i1 %brmerge, label %if.end32, label %if.then26

if.then26:                                        ; preds = %if.end19
  %taken27 = getelementptr inbounds nuw i8, ptr %call3, i64 5656
  %call29 = call ptr @fly.sanitizer.own_of(ptr nonnull %taken27, i32 %conv5, i1 true)
  call void @fly.sanitizer.join_view(ptr %call29, ptr %call9)
  br label %if.end32

if.end32:                                         ; preds = %if.end19, %if.then26
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %if.end32
  %i.0 = phi i32 [ 0, %if.end32 ], [ %inc, %for.inc ]
  %cmp35 = icmp samesign ult i32 %i.0, 1024
  %spec.select = select i1 %tobool13, i1 %cmp35, i1 false
  br i1 %spec.select, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %seen = getelementptr inbounds nuw i8, ptr %call3, i64 5720
  %1 = load ptr, ptr %seen, align 8
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw %struct.Seen, ptr %1, i64 %idxprom
  %thread37 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 56
  %2 = load i16, ptr %thread37, align 8
  %conv38 = zext i16 %2 to i64
  %cmp39 = icmp eq i64 %thread, %conv38
  br i1 %cmp39, label %land.lhs.true41, label %for.inc

land.lhs.true41:                                  ; preds = %for.body
  br i1 %tobool11.not30, label %lor.lhs.false44, label %if.then49

lor.lhs.false44:                                  ; preds = %land.lhs.true41
  %div31 = lshr i32 %i.0, 6
  %conv45 = zext nneg i32 %div31 to i64
  %div4632 = lshr i64 %cond, 6
  %cmp47 = icmp eq i64 %div4632, %conv45
  br i1 %cmp47, label %if.then49, label %for.inc

if.then49:                                        ; preds = %lor.lhs.false44, %land.lhs.true41
  %3 = load ptr, ptr %seen, align 8
  %arrayidx52 = getelementptr inbounds nuw %struct.Seen, ptr %3, i64 %idxprom
  %acquired = getelementptr inbounds nuw i8, ptr %arrayidx52, i64 65
  store i8 1, ptr %acquired, align 1
  br label %for.inc

for.inc:                                          ; preds = %for.body, %lor.lhs.false44, %if.then49
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  %and54 = and i64 %kind, 128
  %tobool55.not = icmp eq i64 %and54, 0
  br i1 %tobool55.not, label %cleanup, label %if.then56

if.then56:                                        ; preds = %for.end
  %shown57 = getelementptr inbounds nuw i8, ptr %call3, i64 5672
  %call59 = call ptr @fly.sanitizer.own_of(ptr nonnull %shown57, i32 %conv5, i1 true)
  call void @fly.sanitizer.show(ptr %call59, i32 %conv, i32 %conv5)
  br label %cleanup

cleanup:                                          ; preds = %for.end, %if.then56, %cond.end
  call void @llvm.lifetime.end.p0(ptr nonnull %who)
  ret void
}

define internal i64 @fly.sanitizer.actor_here(ptr %who) {
entry:
  %call = call i1 @fly_ranks_here(ptr %who)
  br i1 %call, label %lor.lhs.false, label %return

lor.lhs.false:                                    ; preds = %entry
  %arrayidx = getelementptr inbounds nuw i8, ptr %who, i64 8
  %0 = load i64, ptr %arrayidx, align 8
  %cmp = icmp sgt i64 %0, 63
  br i1 %cmp, label %return, label %if.end

if.end:                                           ; preds = %lor.lhs.false
  %1 = load i64, ptr %who, align 8
  %. = call i64 @llvm.smax.i64(i64 %1, i64 0)
  %mul = shl nsw i64 %., 6
  %2 = load i64, ptr %arrayidx, align 8
  %add = add nsw i64 %mul, %2
  br label %return

return:                                           ; preds = %entry, %lor.lhs.false, %if.end
  %retval.0 = phi i64 [ %add, %if.end ], [ -1, %lor.lhs.false ], [ -1, %entry ]
  ret i64 %retval.0
}

define internal ptr @fly.sanitizer.actor_at(i32 %number) {
entry:
  %idxprom = zext i32 %number to i64
  %arrayidx = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.actors, i64 %idxprom
  %0 = load ptr, ptr %arrayidx, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %call = call ptr @calloc(i64 1, i64 5728)
  store ptr %call, ptr %arrayidx, align 8
  %call3 = call ptr @calloc(i64 1024, i64 72)
  %seen = getelementptr inbounds nuw i8, ptr %call, i64 5720
  store ptr %call3, ptr %seen, align 8
  %div9 = lshr i32 %number, 6
  %call4 = call ptr @fly.sanitizer.rank_view(i32 %div9)
  call void @fly.sanitizer.join_view(ptr %call, ptr %call4)
  %arrayidx7 = getelementptr inbounds nuw i32, ptr %call, i64 %idxprom
  %1 = load i32, ptr %arrayidx7, align 4
  %add = add i32 %1, 1
  %barrier = getelementptr inbounds nuw i8, ptr %call, i64 5652
  store i32 %add, ptr %barrier, align 4
  %clock = getelementptr inbounds nuw i8, ptr %call, i64 5648
  store i32 %add, ptr %clock, align 16
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  %2 = load ptr, ptr %arrayidx, align 8
  ret ptr %2
}

define internal ptr @fly.sanitizer.own_of(ptr %owns, i32 %thread, i1 %make) {
entry:
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %entry
  %i.0 = phi i32 [ 0, %entry ], [ %inc, %for.inc ]
  %count = getelementptr inbounds nuw i8, ptr %owns, i64 8
  %0 = load i32, ptr %count, align 8
  %cmp = icmp ult i32 %i.0, %0
  br i1 %cmp, label %for.body, label %cleanup

for.body:                                         ; preds = %for.cond
  %1 = load ptr, ptr %owns, align 8
  %idxprom = zext i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw ptr, ptr %1, i64 %idxprom
  %2 = load ptr, ptr %arrayidx, align 8
  %thread1 = getelementptr inbounds nuw i8, ptr %2, i64 5648
  %3 = load i32, ptr %thread1, align 16
  %cmp2 = icmp eq i32 %3, %thread
  br i1 %cmp2, label %cleanup, label %for.inc

for.inc:                                          ; preds = %for.body
  %inc = add i32 %i.0, 1
  br label %for.cond

cleanup:                                          ; preds = %for.body, %for.cond
  %cleanup.dest.slot.0 = phi i32 [ 2, %for.cond ], [ 1, %for.body ]
  %retval.0 = phi ptr [ undef, %for.cond ], [ %2, %for.body ]
  switch i32 %cleanup.dest.slot.0, label %unreachable [
    i32 2, label %for.end
    i32 1, label %return
  ]

for.end:                                          ; preds = %cleanup
  br i1 %make, label %if.end7, label %return

if.end7:                                          ; preds = %for.end
  %4 = load i32, ptr %count, align 8
  %room = getelementptr inbounds nuw i8, ptr %owns, i64 12
  %5 = load i32, ptr %room, align 4
  %cmp9 = icmp eq i32 %4, %5
  br i1 %cmp9, label %if.then10, label %if.end18

if.then10:                                        ; preds = %if.end7
  %tobool.not = icmp eq i32 %5, 0
  %mul = shl i32 %5, 1
  %cond = select i1 %tobool.not, i32 8, i32 %mul
  store i32 %cond, ptr %room, align 4
  %6 = load ptr, ptr %owns, align 8
  %conv = zext i32 %cond to i64
  %mul16 = shl nuw nsw i64 %conv, 3
  %call = call ptr @realloc(ptr %6, i64 %mul16)
  store ptr %call, ptr %owns, align 8
  br label %if.end18

if.end18:                                         ; preds = %if.then10, %if.end7
  %call19 = call ptr @calloc(i64 1, i64 5664)
  %thread20 = getelementptr inbounds nuw i8, ptr %call19, i64 5648
  store i32 %thread, ptr %thread20, align 16
  %7 = load ptr, ptr %owns, align 8
  %8 = load i32, ptr %count, align 8
  %inc23 = add i32 %8, 1
  store i32 %inc23, ptr %count, align 8
  %idxprom24 = zext i32 %8 to i64
  %arrayidx25 = getelementptr inbounds nuw ptr, ptr %7, i64 %idxprom24
  store ptr %call19, ptr %arrayidx25, align 8
  br label %return

return:                                           ; preds = %for.end, %if.end18, %cleanup
  %retval.1 = phi ptr [ %call19, %if.end18 ], [ %retval.0, %cleanup ], [ null, %for.end ]
  ret ptr %retval.1

unreachable:                                      ; preds = %cleanup
  unreachable
}

define internal void @fly.sanitizer.join_view(ptr %into, ptr %from) {
entry:
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %entry
  %i.0 = phi i32 [ 0, %entry ], [ %inc, %for.inc ]
  %cmp = icmp samesign ult i32 %i.0, 1024
  br i1 %cmp, label %for.body, label %for.cond12

for.body:                                         ; preds = %for.cond
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw i32, ptr %from, i64 %idxprom
  %0 = load i32, ptr %arrayidx, align 4
  %arrayidx3 = getelementptr inbounds nuw i32, ptr %into, i64 %idxprom
  %1 = load i32, ptr %arrayidx3, align 4
  %cmp4 = icmp ugt i32 %0, %1
  br i1 %cmp4, label %if.then, label %for.inc

if.then:                                          ; preds = %for.body
  store i32 %0, ptr %arrayidx3, align 4
  br label %for.inc

for.inc:                                          ; preds = %for.body, %if.then
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond

for.cond12:                                       ; preds = %for.cond, %for.body15
  %i11.0 = phi i32 [ %inc19, %for.body15 ], [ 0, %for.cond ]
  %tail_count = getelementptr inbounds nuw i8, ptr %from, i64 5632
  %2 = load i32, ptr %tail_count, align 16
  %cmp13 = icmp ult i32 %i11.0, %2
  br i1 %cmp13, label %for.body15, label %for.end20

for.body15:                                       ; preds = %for.cond12
  %tails = getelementptr inbounds nuw i8, ptr %from, i64 4096
  %idxprom16 = zext i32 %i11.0 to i64
  %arrayidx17 = getelementptr inbounds nuw %struct.Tail, ptr %tails, i64 %idxprom16
  call void @fly.sanitizer.add_tail(ptr %into, ptr nonnull %arrayidx17)
  %inc19 = add i32 %i11.0, 1
  br label %for.cond12

for.end20:                                        ; preds = %for.cond12
  ret void
}

define internal void @fly.sanitizer.show(ptr %into, i32 %number, i32 %thread) {
entry:
  %tail = alloca %struct.Tail, align 4
  %call = call ptr @fly.sanitizer.actor_at(i32 %number)
  %taken1 = getelementptr inbounds nuw i8, ptr %call, i64 5656
  %call2 = call ptr @fly.sanitizer.own_of(ptr nonnull %taken1, i32 %thread, i1 false)
  call void @fly.sanitizer.join_view(ptr %into, ptr %call)
  %tobool.not = icmp eq ptr %call2, null
  br i1 %tobool.not, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  call void @fly.sanitizer.join_view(ptr %into, ptr nonnull %call2)
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  %idxprom = zext i32 %number to i64
  %arrayidx = getelementptr inbounds nuw i32, ptr %into, i64 %idxprom
  %0 = load i32, ptr %arrayidx, align 4
  %barrier = getelementptr inbounds nuw i8, ptr %call, i64 5652
  %1 = load i32, ptr %barrier, align 4
  %sub = add i32 %1, -1
  %cmp = icmp ult i32 %0, %sub
  br i1 %cmp, label %if.then4, label %if.end10

if.then4:                                         ; preds = %if.end
  store i32 %sub, ptr %arrayidx, align 4
  br label %if.end10

if.end10:                                         ; preds = %if.then4, %if.end
  call void @llvm.lifetime.start.p0(ptr nonnull %tail)
  store i32 %number, ptr %tail, align 4
  %thread12 = getelementptr inbounds nuw i8, ptr %tail, i64 4
  store i32 %thread, ptr %thread12, align 4
  %clock = getelementptr inbounds nuw i8, ptr %tail, i64 8
  %clock13 = getelementptr inbounds nuw i8, ptr %call, i64 5648
  %2 = load i32, ptr %clock13, align 16
  store i32 %2, ptr %clock, align 4
  call void @fly.sanitizer.add_tail(ptr %into, ptr nonnull %tail)
  %3 = load i32, ptr %clock13, align 16
  %inc = add i32 %3, 1
  store i32 %inc, ptr %clock13, align 16
  call void @llvm.lifetime.end.p0(ptr nonnull %tail)
  ret void
}

define i1 @fly_sanitizer_ranks_writer(i64 %address) {
entry:
  %0 = load ptr, ptr @fly.sanitizer.pages, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %cond.end, label %cond.true

cond.true:                                        ; preds = %entry
  %call = call ptr @fly.sanitizer.shared_cell(i64 %address)
  br label %cond.end

cond.end:                                         ; preds = %entry, %cond.true
  %cond = phi ptr [ %call, %cond.true ], [ null, %entry ]
  %tobool1.not = icmp eq ptr %cond, null
  br i1 %tobool1.not, label %cleanup, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %cond.end
  %clock = getelementptr inbounds nuw i8, ptr %cond, i64 12
  %1 = load i32, ptr %clock, align 4
  %tobool2.not = icmp eq i32 %1, 0
  br i1 %tobool2.not, label %cleanup, label %if.end

if.end:                                           ; preds = %lor.lhs.false
  call void @fly.sanitizer.put_event(ptr nonnull getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 56), ptr nonnull %cond)
  br label %cleanup

cleanup:                                          ; preds = %cond.end, %lor.lhs.false, %if.end
  %retval.0 = phi i1 [ true, %if.end ], [ false, %lor.lhs.false ], [ false, %cond.end ]
  ret i1 %retval.0
}

define internal ptr @fly.sanitizer.shared_cell(i64 %address) {
entry:
  %shr = lshr i64 %address, 12
  %mul = mul i64 %shr, -7046029254386353131
  %shr1 = lshr i64 %mul, 49
  %0 = load ptr, ptr @fly.sanitizer.pages, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %call = call ptr @calloc(i64 32768, i64 16)
  store ptr %call, ptr @fly.sanitizer.pages, align 8
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %if.end
  %at.0 = phi i64 [ %shr1, %if.end ], [ %rem19, %for.inc ]
  %tries.0 = phi i32 [ 0, %if.end ], [ %inc, %for.inc ]
  %cmp = icmp samesign ugt i32 %tries.0, 32767
  br i1 %cmp, label %cleanup, label %for.body

for.body:                                         ; preds = %for.cond
  %1 = load ptr, ptr @fly.sanitizer.pages, align 8
  %arrayidx = getelementptr inbounds nuw %struct.anon, ptr %1, i64 %at.0
  %cells = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %2 = load ptr, ptr %cells, align 8
  %tobool2.not = icmp eq ptr %2, null
  br i1 %tobool2.not, label %if.then3, label %if.end9

if.then3:                                         ; preds = %for.body
  store i64 %shr, ptr %arrayidx, align 8
  %call6 = call ptr @calloc(i64 1024, i64 376)
  %3 = load ptr, ptr @fly.sanitizer.pages, align 8
  %arrayidx7 = getelementptr inbounds nuw %struct.anon, ptr %3, i64 %at.0
  %cells8 = getelementptr inbounds nuw i8, ptr %arrayidx7, i64 8
  store ptr %call6, ptr %cells8, align 8
  br label %if.end9

if.end9:                                          ; preds = %if.then3, %for.body
  %4 = load ptr, ptr @fly.sanitizer.pages, align 8
  %arrayidx10 = getelementptr inbounds nuw %struct.anon, ptr %4, i64 %at.0
  %5 = load i64, ptr %arrayidx10, align 8
  %cmp12 = icmp eq i64 %5, %shr
  br i1 %cmp12, label %if.then13, label %for.inc

if.then13:                                        ; preds = %if.end9
  %cells15 = getelementptr inbounds nuw i8, ptr %arrayidx10, i64 8
  %6 = load ptr, ptr %cells15, align 8
  %shr16 = lshr i64 %address, 2
  %rem = and i64 %shr16, 1023
  %arrayidx17 = getelementptr inbounds nuw %struct.SharedCell, ptr %6, i64 %rem
  br label %cleanup

for.inc:                                          ; preds = %if.end9
  %inc = add nuw nsw i32 %tries.0, 1
  %add = add nuw nsw i64 %at.0, 1
  %rem19 = and i64 %add, 32767
  br label %for.cond

cleanup:                                          ; preds = %for.cond, %if.then13
  %spec.select = phi ptr [ %arrayidx17, %if.then13 ], [ null, %for.cond ]
  ret ptr %spec.select
}

define internal void @fly.sanitizer.put_event(ptr %words, ptr %event) {
entry:
  %site = getelementptr inbounds nuw i8, ptr %event, i64 16
  %0 = load i32, ptr %site, align 8
  %conv = zext i32 %0 to i64
  store i64 %conv, ptr %words, align 8
  %actor = getelementptr inbounds nuw i8, ptr %event, i64 8
  %1 = load i32, ptr %actor, align 8
  %div9 = lshr i32 %1, 6
  %conv1 = zext nneg i32 %div9 to i64
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %words, i64 8
  store i64 %conv1, ptr %arrayidx2, align 8
  %2 = load i32, ptr %actor, align 8
  %rem = and i32 %2, 63
  %conv4 = zext nneg i32 %rem to i64
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %words, i64 16
  store i64 %conv4, ptr %arrayidx5, align 8
  %thread = getelementptr inbounds nuw i8, ptr %event, i64 24
  %3 = load i16, ptr %thread, align 8
  %conv6 = zext i16 %3 to i64
  %arrayidx7 = getelementptr inbounds nuw i8, ptr %words, i64 24
  store i64 %conv6, ptr %arrayidx7, align 8
  %code = getelementptr inbounds nuw i8, ptr %event, i64 26
  %4 = load i16, ptr %code, align 2
  %conv8 = zext i16 %4 to i64
  %arrayidx9 = getelementptr inbounds nuw i8, ptr %words, i64 32
  store i64 %conv8, ptr %arrayidx9, align 8
  ret void
}

define void @fly_sanitizer_barrier() {
entry:
  %call = call i64 @fly.sanitizer.tick()
  store i64 %call, ptr @fly.sanitizer.wave_epoch, align 8
  store i64 %call, ptr @fly.sanitizer.epoch, align 8
  %0 = load i64, ptr @fly.sanitizer.flags, align 8
  %and = and i64 %0, 64
  %tobool.not = icmp eq i64 %and, 0
  br i1 %tobool.not, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  call void @fly.sanitizer.ranks_barrier()
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  ret void
}

define internal void @fly.sanitizer.ranks_barrier() {
entry:
  %who = alloca [3 x i64], align 16
  call void @llvm.lifetime.start.p0(ptr nonnull %who)
  %call = call i64 @fly.sanitizer.actor_here(ptr nonnull %who)
  %cmp = icmp sgt i64 %call, -1
  br i1 %cmp, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %conv = trunc i64 %call to i32
  %call1 = call ptr @fly.sanitizer.actor_at(i32 %conv)
  call void @fly.sanitizer.new_stretch(ptr %call1)
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  call void @llvm.lifetime.end.p0(ptr nonnull %who)
  ret void
}

define i32 @fly_sanitizer_launch(ptr %kernel, ptr %args, ptr %extents, i64 %bytes, i64 %fixed_shared, i64 %log2_of_wave) {
entry:
  %add = add i64 %bytes, 255
  %and = and i64 %add, -128
  %0 = load i64, ptr @fly.sanitizer.flags, align 8
  %and1 = and i64 %0, 64
  %tobool.not = icmp eq i64 %and1, 0
  br i1 %tobool.not, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  %call = call i32 @fly_resident_launch(ptr %kernel, ptr %args, ptr %extents, i64 %bytes, i32 1)
  br label %cleanup

if.end:                                           ; preds = %entry
  store ptr %extents, ptr @fly.sanitizer.dims, align 8
  store i64 %log2_of_wave, ptr @fly.sanitizer.wave_shift, align 8
  store i64 %bytes, ptr @fly.sanitizer.scratch_bytes, align 8
  %arrayidx = getelementptr inbounds nuw i8, ptr %extents, i64 48
  %1 = load i64, ptr %arrayidx, align 8
  %add2 = add i64 %fixed_shared, %1
  store i64 %add2, ptr @fly.sanitizer.shared_bytes, align 8
  %call3 = call ptr @aligned_alloc(i64 128, i64 %and)
  %call4 = call ptr @calloc(i64 %and, i64 1)
  store ptr %call4, ptr @fly.sanitizer.written, align 8
  %2 = load i64, ptr @fly.sanitizer.shared_bytes, align 8
  %add5 = add i64 %2, 1
  %call6 = call ptr @calloc(i64 %add5, i64 80)
  store ptr %call6, ptr @fly.sanitizer.shared_cells, align 8
  %3 = ptrtoint ptr %call3 to i64
  store i64 %3, ptr @fly.sanitizer.scratch, align 8
  %call7 = call i64 @fly.sanitizer.tick()
  store i64 %call7, ptr @fly.sanitizer.launch_start, align 8
  %4 = load i64, ptr @fly.sanitizer.flags, align 8
  %and8 = and i64 %4, 16
  %tobool9.not = icmp eq i64 %and8, 0
  br i1 %tobool9.not, label %if.end15, label %if.then10

if.then10:                                        ; preds = %if.end
  %call11 = call ptr @calloc(i64 %and, i64 4)
  store ptr %call11, ptr @fly.sanitizer.fillers, align 8
  %call12 = call ptr @calloc(i64 %and, i64 4)
  store ptr %call12, ptr @fly.sanitizer.readers, align 8
  %call13 = call ptr @calloc(i64 %and, i64 4)
  store ptr %call13, ptr @fly.sanitizer.writers, align 8
  %call14 = call ptr @calloc(i64 %and, i64 8)
  store ptr %call14, ptr @fly.sanitizer.write_times, align 8
  br label %if.end15

if.end15:                                         ; preds = %if.then10, %if.end
  %tobool16 = icmp ne ptr %call3, null
  %5 = load ptr, ptr @fly.sanitizer.written, align 8
  %tobool17 = icmp ne ptr %5, null
  %or.cond = select i1 %tobool16, i1 %tobool17, i1 false
  %6 = load ptr, ptr @fly.sanitizer.shared_cells, align 8
  %tobool19 = icmp ne ptr %6, null
  %or.cond24 = select i1 %or.cond, i1 %tobool19, i1 false
  br i1 %or.cond24, label %land.lhs.true20, label %if.end39

land.lhs.true20:                                  ; preds = %if.end15
  br i1 %tobool9.not, label %if.then29, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %land.lhs.true20
  %7 = load ptr, ptr @fly.sanitizer.fillers, align 8
  %tobool22 = icmp ne ptr %7, null
  %8 = load ptr, ptr @fly.sanitizer.readers, align 8
  %tobool24 = icmp ne ptr %8, null
  %or.cond25 = select i1 %tobool22, i1 %tobool24, i1 false
  %9 = load ptr, ptr @fly.sanitizer.writers, align 8
  %tobool26 = icmp ne ptr %9, null
  %or.cond26 = select i1 %or.cond25, i1 %tobool26, i1 false
  %10 = load ptr, ptr @fly.sanitizer.write_times, align 8
  %tobool28 = icmp ne ptr %10, null
  %or.cond27 = select i1 %or.cond26, i1 %tobool28, i1 false
  br i1 %or.cond27, label %if.then29, label %if.end39

if.then29:                                        ; preds = %lor.lhs.false, %land.lhs.true20
  %call30 = call ptr @fly_launch_begin(ptr %extents)
  %call31 = call i64 @fly.sanitizer.block_count(ptr %extents)
  br label %for.cond

for.cond:                                         ; preds = %for.body, %if.then29
  %status.1 = phi i32 [ 0, %if.then29 ], [ %spec.select, %for.body ]
  %n.0 = phi i64 [ 0, %if.then29 ], [ %inc, %for.body ]
  %cmp = icmp slt i64 %n.0, %call31
  %tobool32.not = icmp eq i32 %status.1, 0
  %11 = select i1 %cmp, i1 %tobool32.not, i1 false
  br i1 %11, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  store i64 %n.0, ptr @fly.sanitizer.block, align 8
  store i64 0, ptr @fly.sanitizer.synced, align 8
  call void @fly_sanitizer_barrier()
  %12 = load ptr, ptr @fly.sanitizer.written, align 8
  call void @llvm.memset.p0.i64(ptr align 1 %12, i8 0, i64 %bytes, i1 false)
  %13 = load i64, ptr @fly.sanitizer.ticket_count, align 8
  %add33 = add i64 %13, 1
  store i64 %add33, ptr @fly.sanitizer.first_ticket, align 8
  %call34 = call i64 @fly.sanitizer.tick()
  store i64 %call34, ptr @fly.sanitizer.fence_time, align 8
  %call35 = call i32 @fly.sanitizer.run_block(ptr %kernel, ptr %args, ptr %extents, ptr nonnull %call3, i64 %n.0)
  %14 = load i8, ptr @fly.sanitizer.failed, align 1
  %loadedv36 = trunc i8 %14 to i1
  %spec.select = select i1 %loadedv36, i32 6, i32 %call35
  %inc = add nuw nsw i64 %n.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  call void @fly_launch_end(ptr %call30)
  br label %if.end39

if.end39:                                         ; preds = %for.end, %lor.lhs.false, %if.end15
  %status.0 = phi i32 [ %status.1, %for.end ], [ -2, %if.end15 ], [ -2, %lor.lhs.false ]
  %15 = load ptr, ptr @fly.sanitizer.fillers, align 8
  call void @free(ptr %15)
  %16 = load ptr, ptr @fly.sanitizer.readers, align 8
  call void @free(ptr %16)
  %17 = load ptr, ptr @fly.sanitizer.writers, align 8
  call void @free(ptr %17)
  %18 = load ptr, ptr @fly.sanitizer.write_times, align 8
  call void @free(ptr %18)
  %19 = load ptr, ptr @fly.sanitizer.tickets, align 8
  call void @free(ptr %19)
  store ptr null, ptr @fly.sanitizer.writers, align 8
  store ptr null, ptr @fly.sanitizer.readers, align 8
  store ptr null, ptr @fly.sanitizer.fillers, align 8
  store ptr null, ptr @fly.sanitizer.write_times, align 8
  store ptr null, ptr @fly.sanitizer.tickets, align 8
  store i64 0, ptr @fly.sanitizer.ticket_room, align 8
  store i64 0, ptr @fly.sanitizer.ticket_count, align 8
  call void @free(ptr %call3)
  %20 = load ptr, ptr @fly.sanitizer.written, align 8
  call void @free(ptr %20)
  %21 = load ptr, ptr @fly.sanitizer.shared_cells, align 8
  call void @free(ptr %21)
  br label %cleanup

cleanup:                                          ; preds = %if.end39, %if.then
  %retval.0 = phi i32 [ %call, %if.then ], [ %status.0, %if.end39 ]
  ret i32 %retval.0
}

declare i32 @fly_resident_launch(ptr, ptr, ptr, i64, i32)

declare ptr @aligned_alloc(i64, i64)

declare ptr @calloc(i64, i64)

declare ptr @fly_launch_begin(ptr)

define internal i64 @fly.sanitizer.block_count(ptr %dims) {
entry:
  %0 = load i64, ptr %dims, align 8
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %dims, i64 8
  %1 = load i64, ptr %arrayidx1, align 8
  %mul = mul nsw i64 %0, %1
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %dims, i64 16
  %2 = load i64, ptr %arrayidx2, align 8
  %mul3 = mul nsw i64 %mul, %2
  ret i64 %mul3
}

define internal i32 @fly.sanitizer.run_block(ptr %kernel, ptr %args, ptr %dims, ptr %scratch, i64 %number) {
entry:
  %0 = load i64, ptr %dims, align 8
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %dims, i64 8
  %1 = load i64, ptr %arrayidx1, align 8
  %rem = urem i64 %number, %0
  %div = udiv i64 %number, %0
  %rem2 = urem i64 %div, %1
  %div4 = udiv i64 %div, %1
  %call = call i32 %kernel(ptr %args, i64 %rem, i64 %rem2, i64 %div4, ptr nonnull %dims, ptr %scratch)
  ret i32 %call
}

declare void @fly_launch_end(ptr)

declare void @free(ptr)

define void @fly_sanitizer_stray(i64 %site, i64 %present, i64 %absent) {
entry:
  %here = alloca %struct.Touch, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %here)
  call void @llvm.memset.p0.i64(ptr nonnull align 8 dereferenceable(64) %here, i8 0, i64 64, i1 false)
  store i64 %site, ptr %here, align 8
  %thread = getelementptr inbounds nuw i8, ptr %here, i64 32
  store i64 %present, ptr %thread, align 8
  %call = call i64 @fly.sanitizer.who_is(i64 %absent, i64 %site)
  call void @fly.sanitizer.fill(i32 8, ptr nonnull %here, i64 0, i64 %call)
  call void @llvm.lifetime.end.p0(ptr nonnull %here)
  ret void
}

define internal void @fly.sanitizer.fill(i32 %check, ptr %touch, i64 %address, i64 %other) noinline {
entry:
  %conv = zext i32 %check to i64
  %0 = load ptr, ptr @fly.sanitizer.report, align 8
  store i64 %conv, ptr %0, align 8
  %1 = load i64, ptr %touch, align 8
  %2 = load ptr, ptr @fly.sanitizer.report, align 8
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %2, i64 8
  store i64 %1, ptr %arrayidx1, align 8
  %thread = getelementptr inbounds nuw i8, ptr %touch, i64 32
  %3 = load i64, ptr %thread, align 8
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %2, i64 16
  store i64 %3, ptr %arrayidx2, align 8
  %4 = load i64, ptr @fly.sanitizer.block, align 8
  %5 = load ptr, ptr @fly.sanitizer.report, align 8
  %arrayidx3 = getelementptr inbounds nuw i8, ptr %5, i64 24
  store i64 %4, ptr %arrayidx3, align 8
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %5, i64 32
  store i64 %address, ptr %arrayidx4, align 8
  %bytes = getelementptr inbounds nuw i8, ptr %touch, i64 16
  %6 = load i64, ptr %bytes, align 8
  %7 = load ptr, ptr @fly.sanitizer.report, align 8
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %7, i64 40
  store i64 %6, ptr %arrayidx5, align 8
  %kind = getelementptr inbounds nuw i8, ptr %touch, i64 24
  %8 = load i64, ptr %kind, align 8
  %arrayidx6 = getelementptr inbounds nuw i8, ptr %7, i64 48
  store i64 %8, ptr %arrayidx6, align 8
  %low = getelementptr inbounds nuw i8, ptr %touch, i64 40
  %9 = load i64, ptr %low, align 8
  %10 = load ptr, ptr @fly.sanitizer.report, align 8
  %arrayidx7 = getelementptr inbounds nuw i8, ptr %10, i64 56
  store i64 %9, ptr %arrayidx7, align 8
  %end = getelementptr inbounds nuw i8, ptr %touch, i64 48
  %11 = load i64, ptr %end, align 8
  %arrayidx8 = getelementptr inbounds nuw i8, ptr %10, i64 64
  store i64 %11, ptr %arrayidx8, align 8
  %12 = load ptr, ptr @fly.sanitizer.report, align 8
  %arrayidx9 = getelementptr inbounds nuw i8, ptr %12, i64 72
  store i64 %other, ptr %arrayidx9, align 8
  %13 = load i64, ptr @fly.sanitizer.scratch, align 8
  %arrayidx10 = getelementptr inbounds nuw i8, ptr %12, i64 80
  store i64 %13, ptr %arrayidx10, align 8
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %i.0 = phi i32 [ 0, %entry ], [ %inc, %for.body ]
  %cmp = icmp samesign ult i32 %i.0, 6
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %14 = load ptr, ptr @fly.sanitizer.dims, align 8
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx12 = getelementptr inbounds nuw i64, ptr %14, i64 %idxprom
  %15 = load i64, ptr %arrayidx12, align 8
  %16 = load ptr, ptr @fly.sanitizer.report, align 8
  %17 = zext nneg i32 %i.0 to i64
  %18 = getelementptr inbounds nuw i64, ptr %16, i64 %17
  %arrayidx14 = getelementptr inbounds nuw i8, ptr %18, i64 88
  store i64 %15, ptr %arrayidx14, align 8
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  %19 = load ptr, ptr @fly.sanitizer.report, align 8
  %arrayidx15 = getelementptr inbounds nuw i8, ptr %19, i64 136
  store i64 0, ptr %arrayidx15, align 8
  ret void
}

define internal i64 @fly.sanitizer.who_is(i64 %thread, i64 %site) {
entry:
  %0 = load i64, ptr @fly.sanitizer.block, align 8
  %shl = shl i64 %0, 32
  %shl1 = shl i64 %thread, 20
  %or = or i64 %shl, %shl1
  %or2 = or i64 %or, %site
  ret i64 %or2
}

define i1 @fly_sanitizer_modes(i64 %site, i64 %thread, i64 %low, i64 %end, ptr %pairs, i64 %modes) {
entry:
  %here = alloca %struct.Touch, align 8
  br label %for.cond

for.cond:                                         ; preds = %for.inc23, %entry
  %mode.0 = phi i64 [ 0, %entry ], [ %inc24, %for.inc23 ]
  %cmp.not = icmp ult i64 %mode.0, %modes
  br i1 %cmp.not, label %for.body, label %cleanup

for.body:                                         ; preds = %for.cond
  %mul = shl i64 %mode.0, 1
  %arrayidx = getelementptr inbounds nuw i64, ptr %pairs, i64 %mul
  %0 = load i64, ptr %arrayidx, align 8
  %1 = getelementptr inbounds nuw i64, ptr %pairs, i64 %mul
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %2 = load i64, ptr %arrayidx2, align 8
  %cmp3 = icmp ult i64 %0, %2
  br i1 %cmp3, label %for.inc23, label %if.end

if.end:                                           ; preds = %for.body
  call void @llvm.lifetime.start.p0(ptr nonnull %here)
  store i64 %site, ptr %here, align 8
  %address = getelementptr inbounds nuw i8, ptr %here, i64 8
  store i64 0, ptr %address, align 8
  %bytes = getelementptr inbounds nuw i8, ptr %here, i64 16
  store i64 0, ptr %bytes, align 8
  %kind = getelementptr inbounds nuw i8, ptr %here, i64 24
  store i64 0, ptr %kind, align 8
  %thread5 = getelementptr inbounds nuw i8, ptr %here, i64 32
  store i64 %thread, ptr %thread5, align 8
  %low6 = getelementptr inbounds nuw i8, ptr %here, i64 40
  store i64 %low, ptr %low6, align 8
  %end7 = getelementptr inbounds nuw i8, ptr %here, i64 48
  store i64 %end, ptr %end7, align 8
  %region = getelementptr inbounds nuw i8, ptr %here, i64 56
  store i64 0, ptr %region, align 8
  call void @fly.sanitizer.fill(i32 32, ptr nonnull %here, i64 %low, i64 0)
  %3 = load ptr, ptr @fly.sanitizer.report, align 8
  %arrayidx8 = getelementptr inbounds nuw i8, ptr %3, i64 144
  store i64 %mode.0, ptr %arrayidx8, align 8
  %arrayidx9 = getelementptr inbounds nuw i8, ptr %3, i64 152
  store i64 %modes, ptr %arrayidx9, align 8
  %4 = load i64, ptr %arrayidx2, align 8
  %arrayidx13 = getelementptr inbounds nuw i8, ptr %3, i64 160
  store i64 %4, ptr %arrayidx13, align 8
  br label %for.cond14

for.cond14:                                       ; preds = %for.body18, %if.end
  %index.0 = phi i64 [ 0, %if.end ], [ %inc, %for.body18 ]
  %cmp15 = icmp ult i64 %index.0, %modes
  %cmp16 = icmp samesign ult i64 %index.0, 8
  %spec.select = and i1 %cmp15, %cmp16
  br i1 %spec.select, label %for.body18, label %for.end

for.body18:                                       ; preds = %for.cond14
  %arrayidx20.idx = shl nuw nsw i64 %index.0, 4
  %arrayidx20 = getelementptr inbounds nuw i8, ptr %pairs, i64 %arrayidx20.idx
  %5 = load i64, ptr %arrayidx20, align 8
  %6 = load ptr, ptr @fly.sanitizer.report, align 8
  %7 = getelementptr inbounds nuw i64, ptr %6, i64 %index.0
  %arrayidx22 = getelementptr inbounds nuw i8, ptr %7, i64 168
  store i64 %5, ptr %arrayidx22, align 8
  %inc = add nuw nsw i64 %index.0, 1
  br label %for.cond14

for.end:                                          ; preds = %for.cond14
  call void @llvm.lifetime.end.p0(ptr nonnull %here)
  br label %cleanup

for.inc23:                                        ; preds = %for.body
  %inc24 = add i64 %mode.0, 1
  br label %for.cond

cleanup:                                          ; preds = %for.cond, %for.end
  ret i1 %cmp.not
}

define void @fly_sanitizer_forget(ptr %pointer, i64 %bytes) {
entry:
  %0 = load i64, ptr @fly.sanitizer.flags, align 8
  %and = and i64 %0, 64
  %tobool.not = icmp eq i64 %and, 0
  br i1 %tobool.not, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %1 = load ptr, ptr @fly.sanitizer.written, align 8
  %2 = ptrtoint ptr %pointer to i64
  %3 = load i64, ptr @fly.sanitizer.scratch, align 8
  %sub = sub i64 %2, %3
  %add.ptr = getelementptr inbounds nuw i8, ptr %1, i64 %sub
  call void @llvm.memset.p0.i64(ptr align 1 %add.ptr, i8 0, i64 %bytes, i1 false)
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  ret void
}

define i64 @fly_sanitizer_pending(i64 %site, i64 %address, i64 %bytes, i64 %kind, i64 %thread, i64 %low, i64 %end, i64 %region) {
entry:
  %touch = alloca %struct.Touch, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %touch)
  store i64 %site, ptr %touch, align 8
  %address2 = getelementptr inbounds nuw i8, ptr %touch, i64 8
  store i64 %address, ptr %address2, align 8
  %bytes3 = getelementptr inbounds nuw i8, ptr %touch, i64 16
  store i64 %bytes, ptr %bytes3, align 8
  %kind4 = getelementptr inbounds nuw i8, ptr %touch, i64 24
  %or = or i64 %kind, 32
  store i64 %or, ptr %kind4, align 8
  %thread5 = getelementptr inbounds nuw i8, ptr %touch, i64 32
  store i64 %thread, ptr %thread5, align 8
  %low6 = getelementptr inbounds nuw i8, ptr %touch, i64 40
  store i64 %low, ptr %low6, align 8
  %end7 = getelementptr inbounds nuw i8, ptr %touch, i64 48
  store i64 %end, ptr %end7, align 8
  %region8 = getelementptr inbounds nuw i8, ptr %touch, i64 56
  store i64 %region, ptr %region8, align 8
  %0 = load i64, ptr @fly.sanitizer.scratch, align 8
  %sub = sub i64 %address, %0
  %1 = load i64, ptr @fly.sanitizer.flags, align 8
  %and = and i64 %1, 16
  %tobool = icmp ne i64 %and, 0
  %tobool9 = icmp ne i64 %bytes, 0
  %or.cond = select i1 %tobool, i1 %tobool9, i1 false
  br i1 %or.cond, label %lor.lhs.false10, label %cleanup

lor.lhs.false10:                                  ; preds = %entry
  %2 = load i64, ptr @fly.sanitizer.scratch_bytes, align 8
  %cmp = icmp ugt i64 %sub, %2
  br i1 %cmp, label %cleanup, label %lor.lhs.false11

lor.lhs.false11:                                  ; preds = %lor.lhs.false10
  %add = add i64 %sub, %bytes
  %cmp12 = icmp ugt i64 %add, %2
  br i1 %cmp12, label %cleanup, label %if.end

if.end:                                           ; preds = %lor.lhs.false11
  %call = call i1 @fly.sanitizer.disturbs(ptr nonnull %touch)
  br i1 %call, label %cleanup, label %if.end14

if.end14:                                         ; preds = %if.end
  %and15 = and i64 %kind, 2
  %tobool16.not = icmp eq i64 %and15, 0
  %call17 = call i64 @fly.sanitizer.new_ticket(ptr nonnull %touch, i1 %tobool16.not)
  br label %for.cond

for.cond:                                         ; preds = %for.body, %if.end14
  %byte.0 = phi i64 [ %sub, %if.end14 ], [ %inc, %for.body ]
  %cmp19 = icmp ult i64 %byte.0, %add
  br i1 %cmp19, label %for.body, label %cleanup

for.body:                                         ; preds = %for.cond
  %conv = trunc i64 %call17 to i32
  %3 = load ptr, ptr @fly.sanitizer.fillers, align 8
  %4 = load ptr, ptr @fly.sanitizer.readers, align 8
  %cond = select i1 %tobool16.not, ptr %4, ptr %3
  %arrayidx = getelementptr inbounds nuw i32, ptr %cond, i64 %byte.0
  store i32 %conv, ptr %arrayidx, align 4
  %inc = add i64 %byte.0, 1
  br label %for.cond

cleanup:                                          ; preds = %for.cond, %if.end, %entry, %lor.lhs.false10, %lor.lhs.false11
  %retval.0 = phi i64 [ -1, %if.end ], [ 0, %entry ], [ 0, %lor.lhs.false11 ], [ 0, %lor.lhs.false10 ], [ %call17, %for.cond ]
  call void @llvm.lifetime.end.p0(ptr nonnull %touch)
  ret i64 %retval.0
}

define internal i1 @fly.sanitizer.disturbs(ptr %touch) {
entry:
  %address = getelementptr inbounds nuw i8, ptr %touch, i64 8
  %0 = load i64, ptr %address, align 8
  %1 = load i64, ptr @fly.sanitizer.scratch, align 8
  %sub = sub i64 %0, %1
  %bytes = getelementptr inbounds nuw i8, ptr %touch, i64 16
  %2 = load i64, ptr %bytes, align 8
  %add = add i64 %sub, %2
  %3 = load i64, ptr @fly.sanitizer.scratch_bytes, align 8
  %cmp = icmp ugt i64 %sub, %3
  %cmp1 = icmp ugt i64 %add, %3
  %or.cond = select i1 %cmp, i1 true, i1 %cmp1
  br i1 %or.cond, label %cleanup13, label %if.end

if.end:                                           ; preds = %entry
  %call = call i64 @fly.sanitizer.tick()
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %if.end
  %byte.0 = phi i64 [ %sub, %if.end ], [ %inc, %for.inc ]
  %cmp2.not = icmp ult i64 %byte.0, %add
  br i1 %cmp2.not, label %for.body, label %cleanup13

for.body:                                         ; preds = %for.cond
  %call3 = call i1 @fly.sanitizer.meets_work(ptr %touch, i64 %byte.0)
  br i1 %call3, label %cleanup13, label %if.end5

if.end5:                                          ; preds = %for.body
  %kind = getelementptr inbounds nuw i8, ptr %touch, i64 24
  %4 = load i64, ptr %kind, align 8
  %5 = and i64 %4, 34
  %or.cond14.not = icmp eq i64 %5, 2
  br i1 %or.cond14.not, label %if.then9, label %for.inc

if.then9:                                         ; preds = %if.end5
  %6 = load ptr, ptr @fly.sanitizer.write_times, align 8
  %arrayidx = getelementptr inbounds nuw i64, ptr %6, i64 %byte.0
  store i64 %call, ptr %arrayidx, align 8
  %thread = getelementptr inbounds nuw i8, ptr %touch, i64 32
  %7 = load i64, ptr %thread, align 8
  %shl = shl i64 %7, 20
  %8 = load i64, ptr %touch, align 8
  %or = or i64 %shl, %8
  %conv = trunc i64 %or to i32
  %9 = load ptr, ptr @fly.sanitizer.writers, align 8
  %arrayidx10 = getelementptr inbounds nuw i32, ptr %9, i64 %byte.0
  store i32 %conv, ptr %arrayidx10, align 4
  br label %for.inc

for.inc:                                          ; preds = %if.end5, %if.then9
  %inc = add i64 %byte.0, 1
  br label %for.cond

cleanup13:                                        ; preds = %for.cond, %for.body, %entry
  %retval.0 = phi i1 [ false, %entry ], [ %cmp2.not, %for.body ], [ %cmp2.not, %for.cond ]
  ret i1 %retval.0
}

define internal i64 @fly.sanitizer.new_ticket(ptr %touch, i1 %store) {
entry:
  %0 = load i64, ptr @fly.sanitizer.ticket_count, align 8
  %add = add i64 %0, 1
  %1 = load i64, ptr @fly.sanitizer.ticket_room, align 8
  %cmp.not = icmp ult i64 %add, %1
  br i1 %cmp.not, label %if.end4, label %if.then

if.then:                                          ; preds = %entry
  %tobool.not = icmp eq i64 %1, 0
  %mul = shl i64 %1, 1
  %cond = select i1 %tobool.not, i64 1024, i64 %mul
  store i64 %cond, ptr @fly.sanitizer.ticket_room, align 8
  %2 = load ptr, ptr @fly.sanitizer.tickets, align 8
  %mul1 = mul i64 %cond, 72
  %call = call ptr @realloc(ptr %2, i64 %mul1)
  %tobool2.not = icmp eq ptr %call, null
  br i1 %tobool2.not, label %if.then3, label %if.end

if.then3:                                         ; preds = %if.then
  call void @llvm.trap()
  unreachable

if.end:                                           ; preds = %if.then
  store ptr %call, ptr @fly.sanitizer.tickets, align 8
  br label %if.end4

if.end4:                                          ; preds = %if.end, %entry
  %storedv = zext i1 %store to i8
  %3 = load ptr, ptr @fly.sanitizer.tickets, align 8
  %4 = load i64, ptr @fly.sanitizer.ticket_count, align 8
  %inc = add i64 %4, 1
  store i64 %inc, ptr @fly.sanitizer.ticket_count, align 8
  %arrayidx = getelementptr inbounds nuw %struct.Ticket, ptr %3, i64 %inc
  %address5 = getelementptr inbounds nuw i8, ptr %touch, i64 8
  %5 = load i64, ptr %address5, align 8
  %bytes6 = getelementptr inbounds nuw i8, ptr %touch, i64 16
  %6 = load i64, ptr %bytes6, align 8
  %thread = getelementptr inbounds nuw i8, ptr %touch, i64 32
  %7 = load i64, ptr %thread, align 8
  %8 = load i64, ptr %touch, align 8
  %call7 = call i64 @fly.sanitizer.who_is(i64 %7, i64 %8)
  %low8 = getelementptr inbounds nuw i8, ptr %touch, i64 40
  %9 = load i64, ptr %low8, align 8
  %end9 = getelementptr inbounds nuw i8, ptr %touch, i64 48
  %10 = load i64, ptr %end9, align 8
  %kind = getelementptr inbounds nuw i8, ptr %touch, i64 24
  %11 = load i64, ptr %kind, align 8
  %and = and i64 %11, 2
  %tobool10.not = icmp eq i64 %and, 0
  %storedv11 = zext i1 %tobool10.not to i8
  store i64 %5, ptr %arrayidx, align 8
  %.compoundliteral.sroa.2.0.arrayidx.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  store i64 %6, ptr %.compoundliteral.sroa.2.0.arrayidx.sroa_idx, align 8
  %.compoundliteral.sroa.3.0.arrayidx.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 16
  store i64 %call7, ptr %.compoundliteral.sroa.3.0.arrayidx.sroa_idx, align 8
  %.compoundliteral.sroa.4.0.arrayidx.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 24
  store i64 %9, ptr %.compoundliteral.sroa.4.0.arrayidx.sroa_idx, align 8
  %.compoundliteral.sroa.5.0.arrayidx.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 32
  store i64 %10, ptr %.compoundliteral.sroa.5.0.arrayidx.sroa_idx, align 8
  %.compoundliteral.sroa.6.0.arrayidx.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 40
  store i64 0, ptr %.compoundliteral.sroa.6.0.arrayidx.sroa_idx, align 8
  %.compoundliteral.sroa.7.0.arrayidx.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 48
  store i64 0, ptr %.compoundliteral.sroa.7.0.arrayidx.sroa_idx, align 8
  %.compoundliteral.sroa.8.0.arrayidx.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 56
  store i64 0, ptr %.compoundliteral.sroa.8.0.arrayidx.sroa_idx, align 8
  %.compoundliteral.sroa.9.0.arrayidx.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 64
  store i8 %storedv11, ptr %.compoundliteral.sroa.9.0.arrayidx.sroa_idx, align 8
  %.compoundliteral.sroa.10.0.arrayidx.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 65
  store i8 1, ptr %.compoundliteral.sroa.10.0.arrayidx.sroa_idx, align 1
  %.compoundliteral.sroa.11.0.arrayidx.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 66
  store i8 %storedv, ptr %.compoundliteral.sroa.11.0.arrayidx.sroa_idx, align 2
  %.compoundliteral.sroa.12.0.arrayidx.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 67
  store i8 0, ptr %.compoundliteral.sroa.12.0.arrayidx.sroa_idx, align 1
  %.compoundliteral.sroa.13.0.arrayidx.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 68
  store i32 0, ptr %.compoundliteral.sroa.13.0.arrayidx.sroa_idx, align 4
  %12 = load i64, ptr @fly.sanitizer.ticket_count, align 8
  ret i64 %12
}

define i64 @fly_sanitizer_tile(i64 %site, i64 %shared, i64 %descriptor, i64 %rows, i64 %depth, i64 %size, i1 %k_major, i64 %thread, i64 %low, i64 %end) {
entry:
  %touch = alloca %struct.Touch, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %touch)
  store i64 %site, ptr %touch, align 8
  %address = getelementptr inbounds nuw i8, ptr %touch, i64 8
  store i64 %shared, ptr %address, align 8
  %bytes = getelementptr inbounds nuw i8, ptr %touch, i64 16
  store i64 %size, ptr %bytes, align 8
  %kind = getelementptr inbounds nuw i8, ptr %touch, i64 24
  store i64 33, ptr %kind, align 8
  %thread2 = getelementptr inbounds nuw i8, ptr %touch, i64 32
  store i64 %thread, ptr %thread2, align 8
  %low3 = getelementptr inbounds nuw i8, ptr %touch, i64 40
  store i64 %low, ptr %low3, align 8
  %end4 = getelementptr inbounds nuw i8, ptr %touch, i64 48
  store i64 %end, ptr %end4, align 8
  %region = getelementptr inbounds nuw i8, ptr %touch, i64 56
  store i64 -2, ptr %region, align 8
  %0 = load i64, ptr @fly.sanitizer.flags, align 8
  %and = and i64 %0, 16
  %tobool.not = icmp eq i64 %and, 0
  br i1 %tobool.not, label %cleanup32, label %if.end

if.end:                                           ; preds = %entry
  %storedv = zext i1 %k_major to i8
  %call = call i64 @fly.sanitizer.new_ticket(ptr nonnull %touch, i1 false)
  %1 = load ptr, ptr @fly.sanitizer.tickets, align 8
  %add.ptr = getelementptr inbounds nuw %struct.Ticket, ptr %1, i64 %call
  %descriptor5 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 40
  store i64 %descriptor, ptr %descriptor5, align 8
  %rows6 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 48
  store i64 %rows, ptr %rows6, align 8
  %mul = mul i64 %depth, %size
  %depth7 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 56
  store i64 %mul, ptr %depth7, align 8
  %bytes8 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 8
  store i64 %size, ptr %bytes8, align 8
  %k_major9 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 67
  store i8 %storedv, ptr %k_major9, align 1
  br label %for.cond

for.cond:                                         ; preds = %for.inc25, %if.end
  %row.0 = phi i64 [ 0, %if.end ], [ %inc26, %for.inc25 ]
  %retval.1 = phi i64 [ undef, %if.end ], [ %retval.4, %for.inc25 ]
  %cmp.not = icmp ult i64 %row.0, %rows
  br i1 %cmp.not, label %for.cond11, label %cleanup32

for.cond11:                                       ; preds = %for.cond, %for.inc
  %byte.0 = phi i64 [ %inc, %for.inc ], [ 0, %for.cond ]
  %retval.3 = phi i64 [ %retval.5, %for.inc ], [ %retval.1, %for.cond ]
  %2 = load i64, ptr %depth7, align 8
  %cmp13.not = icmp ult i64 %byte.0, %2
  br i1 %cmp13.not, label %for.body15, label %cleanup23

for.body15:                                       ; preds = %for.cond11
  %3 = load i64, ptr @fly.sanitizer.scratch, align 8
  %sub = sub i64 %shared, %3
  %call16 = call i64 @fly.sanitizer.tile_byte(ptr %add.ptr, i64 %row.0, i64 %byte.0, i64 %size)
  %add = add i64 %sub, %call16
  %4 = load i64, ptr @fly.sanitizer.scratch_bytes, align 8
  %cmp17.not = icmp ult i64 %add, %4
  br i1 %cmp17.not, label %if.end19, label %cleanup

if.end19:                                         ; preds = %for.body15
  %call20 = call i1 @fly.sanitizer.meets_work(ptr nonnull %touch, i64 %add)
  br i1 %call20, label %cleanup, label %if.end22

if.end22:                                         ; preds = %if.end19
  %conv = trunc i64 %call to i32
  %5 = load ptr, ptr @fly.sanitizer.readers, align 8
  %arrayidx = getelementptr inbounds nuw i32, ptr %5, i64 %add
  store i32 %conv, ptr %arrayidx, align 4
  br label %cleanup

cleanup:                                          ; preds = %if.end19, %for.body15, %if.end22
  %cleanup.dest.slot.2 = phi i32 [ 0, %if.end22 ], [ 7, %for.body15 ], [ 1, %if.end19 ]
  %retval.5 = phi i64 [ %retval.3, %if.end22 ], [ %retval.3, %for.body15 ], [ -1, %if.end19 ]
  switch i32 %cleanup.dest.slot.2, label %cleanup23 [
    i32 0, label %for.inc
    i32 7, label %for.inc
  ]

for.inc:                                          ; preds = %cleanup, %cleanup
  %inc = add i64 %byte.0, 1
  br label %for.cond11

cleanup23:                                        ; preds = %for.cond11, %cleanup
  %retval.4 = phi i64 [ %retval.5, %cleanup ], [ %retval.3, %for.cond11 ]
  br i1 %cmp13.not, label %cleanup32, label %for.inc25

for.inc25:                                        ; preds = %cleanup23
  %inc26 = add i64 %row.0, 1
  br label %for.cond

cleanup32:                                        ; preds = %cleanup23, %for.cond, %entry
  %retval.0 = phi i64 [ 0, %entry ], [ %retval.4, %cleanup23 ], [ %call, %for.cond ]
  call void @llvm.lifetime.end.p0(ptr nonnull %touch)
  ret i64 %retval.0
}

define internal i64 @fly.sanitizer.tile_byte(ptr %tile, i64 %row, i64 %byte, i64 %size) {
entry:
  %descriptor = getelementptr inbounds nuw i8, ptr %tile, i64 40
  %0 = load i64, ptr %descriptor, align 8
  %shr = lshr i64 %0, 62
  %cmp = icmp eq i64 %shr, 0
  %1 = lshr i64 %0, 12
  %shl4 = and i64 %1, 262128
  %2 = lshr i64 %0, 28
  %shl7 = and i64 %2, 262128
  %cmp10 = icmp eq i64 %shr, 1
  %cmp14 = icmp eq i64 %shr, 2
  %k_major = getelementptr inbounds nuw i8, ptr %tile, i64 67
  %3 = load i8, ptr %k_major, align 1
  %loadedv = trunc i8 %3 to i1
  br i1 %loadedv, label %if.then, label %if.else

if.then:                                          ; preds = %entry
  %div33 = lshr i64 %row, 3
  %mul = mul i64 %div33, %shl7
  %rem = and i64 %row, 7
  %4 = select i1 %cmp14, i64 6, i64 5
  %5 = select i1 %cmp10, i64 7, i64 %4
  %6 = select i1 %cmp, i64 4, i64 %5
  %mul26 = shl nuw nsw i64 %rem, %6
  %add = add i64 %mul, %mul26
  %div2734 = lshr i64 %byte, 4
  %shl4. = select i1 %cmp, i64 %shl4, i64 16
  %mul32 = mul i64 %div2734, %shl4.
  %add33 = add i64 %add, %mul32
  %rem34 = and i64 %byte, 15
  %add35 = or disjoint i64 %add33, %rem34
  br label %if.end

if.else:                                          ; preds = %entry
  %mul37 = mul i64 %row, %size
  %rem38 = urem i64 %byte, %size
  %add39 = add i64 %mul37, %rem38
  %div40 = udiv i64 %byte, %size
  %7 = select i1 %cmp14, i64 6, i64 5
  %8 = select i1 %cmp10, i64 7, i64 %7
  %9 = select i1 %cmp, i64 4, i64 %8
  %div4131 = lshr i64 %add39, %9
  %shl7.shl4 = select i1 %cmp, i64 %shl7, i64 %shl4
  %mul47 = mul i64 %div4131, %shl7.shl4
  %div4832 = lshr i64 %div40, 3
  %cond53 = select i1 %cmp, i64 %shl4, i64 %shl7
  %mul54 = mul i64 %div4832, %cond53
  %add55 = add i64 %mul47, %mul54
  %rem56 = and i64 %div40, 7
  %10 = select i1 %cmp14, i64 6, i64 5
  %11 = select i1 %cmp10, i64 7, i64 %10
  %12 = select i1 %cmp, i64 4, i64 %11
  %mul57 = shl nuw nsw i64 %rem56, %12
  %add58 = add i64 %add55, %mul57
  %13 = select i1 %cmp14, i64 63, i64 31
  %14 = select i1 %cmp10, i64 127, i64 %13
  %15 = select i1 %cmp, i64 15, i64 %14
  %rem59 = and i64 %add39, %15
  %add60 = add i64 %add58, %rem59
  br label %if.end

if.end:                                           ; preds = %if.else, %if.then
  %add35.pn = phi i64 [ %add35, %if.then ], [ %add60, %if.else ]
  %and = shl i64 %0, 4
  %shl = and i64 %and, 262128
  %at.0 = add i64 %shl, %add35.pn
  %sub = sub nuw nsw i64 4, %shr
  %shr62 = lshr i64 %at.0, 7
  %notmask = shl nsw i64 -1, %sub
  %16 = xor i64 %notmask, -1
  %sub64 = select i1 %cmp, i64 0, i64 %16
  %and65 = and i64 %shr62, %sub64
  %shl66 = shl nuw nsw i64 %and65, 4
  %xor = xor i64 %at.0, %shl66
  ret i64 %xor
}

define internal i1 @fly.sanitizer.meets_work(ptr %touch, i64 %byte) {
entry:
  %kind = getelementptr inbounds nuw i8, ptr %touch, i64 24
  %0 = load i64, ptr %kind, align 8
  %1 = load ptr, ptr @fly.sanitizer.fillers, align 8
  %arrayidx = getelementptr inbounds nuw i32, ptr %1, i64 %byte
  %2 = load i32, ptr %arrayidx, align 4
  %conv = zext i32 %2 to i64
  %call = call i1 @fly.sanitizer.under_way(i64 %conv)
  br i1 %call, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %3 = load i64, ptr @fly.sanitizer.scratch, align 8
  %add = add i64 %3, %byte
  %4 = load ptr, ptr @fly.sanitizer.tickets, align 8
  %5 = load ptr, ptr @fly.sanitizer.fillers, align 8
  %arrayidx5 = getelementptr inbounds nuw i32, ptr %5, i64 %byte
  %6 = load i32, ptr %arrayidx5, align 4
  %idxprom = zext i32 %6 to i64
  %arrayidx6 = getelementptr inbounds nuw %struct.Ticket, ptr %4, i64 %idxprom
  %who = getelementptr inbounds nuw i8, ptr %arrayidx6, i64 16
  %7 = load i64, ptr %who, align 8
  %call7 = call i1 @fly.sanitizer.fill_async(i32 1, ptr %touch, i64 %add, i64 %7)
  br label %cleanup

if.end:                                           ; preds = %entry
  %and = and i64 %0, 2
  %tobool.not = icmp eq i64 %and, 0
  br i1 %tobool.not, label %if.end20, label %land.lhs.true

land.lhs.true:                                    ; preds = %if.end
  %8 = load ptr, ptr @fly.sanitizer.readers, align 8
  %arrayidx9 = getelementptr inbounds nuw i32, ptr %8, i64 %byte
  %9 = load i32, ptr %arrayidx9, align 4
  %conv10 = zext i32 %9 to i64
  %call11 = call i1 @fly.sanitizer.under_way(i64 %conv10)
  br i1 %call11, label %if.then13, label %if.end20

if.then13:                                        ; preds = %land.lhs.true
  %10 = load i64, ptr @fly.sanitizer.scratch, align 8
  %add14 = add i64 %10, %byte
  %11 = load ptr, ptr @fly.sanitizer.tickets, align 8
  %12 = load ptr, ptr @fly.sanitizer.readers, align 8
  %arrayidx15 = getelementptr inbounds nuw i32, ptr %12, i64 %byte
  %13 = load i32, ptr %arrayidx15, align 4
  %idxprom16 = zext i32 %13 to i64
  %arrayidx17 = getelementptr inbounds nuw %struct.Ticket, ptr %11, i64 %idxprom16
  %who18 = getelementptr inbounds nuw i8, ptr %arrayidx17, i64 16
  %14 = load i64, ptr %who18, align 8
  %call19 = call i1 @fly.sanitizer.fill_async(i32 2, ptr %touch, i64 %add14, i64 %14)
  br label %cleanup

if.end20:                                         ; preds = %land.lhs.true, %if.end
  %15 = and i64 %0, 34
  %brmerge.not = icmp eq i64 %15, 32
  br i1 %brmerge.not, label %land.lhs.true25, label %cleanup

land.lhs.true25:                                  ; preds = %if.end20
  %16 = load i64, ptr %kind, align 8
  %and27 = and i64 %16, 8
  %tobool28.not = icmp eq i64 %and27, 0
  br i1 %tobool28.not, label %land.lhs.true29, label %cleanup

land.lhs.true29:                                  ; preds = %land.lhs.true25
  %17 = load ptr, ptr @fly.sanitizer.write_times, align 8
  %arrayidx30 = getelementptr inbounds nuw i64, ptr %17, i64 %byte
  %18 = load i64, ptr %arrayidx30, align 8
  %19 = load i64, ptr @fly.sanitizer.fence_time, align 8
  %cmp = icmp ugt i64 %18, %19
  br i1 %cmp, label %if.then32, label %cleanup

if.then32:                                        ; preds = %land.lhs.true29
  %20 = load i64, ptr @fly.sanitizer.scratch, align 8
  %add33 = add i64 %20, %byte
  %21 = load ptr, ptr @fly.sanitizer.writers, align 8
  %arrayidx34 = getelementptr inbounds nuw i32, ptr %21, i64 %byte
  %22 = load i32, ptr %arrayidx34, align 4
  %shr = lshr i32 %22, 20
  %conv35 = zext nneg i32 %shr to i64
  %and37 = and i32 %22, 1048575
  %conv38 = zext nneg i32 %and37 to i64
  %call39 = call i64 @fly.sanitizer.who_is(i64 %conv35, i64 %conv38)
  %call40 = call i1 @fly.sanitizer.fill_async(i32 3, ptr %touch, i64 %add33, i64 %call39)
  br label %cleanup

cleanup:                                          ; preds = %land.lhs.true25, %land.lhs.true29, %if.end20, %if.then32, %if.then13, %if.then
  %retval.0 = phi i1 [ %call7, %if.then ], [ %call19, %if.then13 ], [ %call40, %if.then32 ], [ false, %if.end20 ], [ false, %land.lhs.true29 ], [ false, %land.lhs.true25 ]
  ret i1 %retval.0
}

define void @fly_sanitizer_settle(i64 %number) {
entry:
  %touch = alloca %struct.Touch, align 8
  %0 = load ptr, ptr @fly.sanitizer.tickets, align 8
  %add.ptr = getelementptr inbounds nuw %struct.Ticket, ptr %0, i64 %number
  %1 = load i64, ptr @fly.sanitizer.first_ticket, align 8
  %cmp = icmp ult i64 %number, %1
  br i1 %cmp, label %cleanup.cont, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %entry
  %open = getelementptr inbounds nuw i8, ptr %add.ptr, i64 65
  %2 = load i8, ptr %open, align 1
  %loadedv = trunc i8 %2 to i1
  br i1 %loadedv, label %if.end, label %cleanup.cont

if.end:                                           ; preds = %lor.lhs.false
  store i8 0, ptr %open, align 1
  call void @llvm.lifetime.start.p0(ptr nonnull %touch)
  %who = getelementptr inbounds nuw i8, ptr %add.ptr, i64 16
  %3 = load i64, ptr %who, align 8
  %and = and i64 %3, 1048575
  store i64 %and, ptr %touch, align 8
  %address = getelementptr inbounds nuw i8, ptr %touch, i64 8
  %4 = load i64, ptr %add.ptr, align 8
  store i64 %4, ptr %address, align 8
  %bytes = getelementptr inbounds nuw i8, ptr %touch, i64 16
  %bytes3 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 8
  %5 = load i64, ptr %bytes3, align 8
  store i64 %5, ptr %bytes, align 8
  %kind = getelementptr inbounds nuw i8, ptr %touch, i64 24
  store i64 2, ptr %kind, align 8
  %thread = getelementptr inbounds nuw i8, ptr %touch, i64 32
  %6 = load i64, ptr %who, align 8
  %shr = lshr i64 %6, 20
  %and5 = and i64 %shr, 4095
  store i64 %and5, ptr %thread, align 8
  %low = getelementptr inbounds nuw i8, ptr %touch, i64 40
  %low6 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 24
  %7 = load i64, ptr %low6, align 8
  store i64 %7, ptr %low, align 8
  %end = getelementptr inbounds nuw i8, ptr %touch, i64 48
  %end7 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 32
  %8 = load i64, ptr %end7, align 8
  store i64 %8, ptr %end, align 8
  %region = getelementptr inbounds nuw i8, ptr %touch, i64 56
  store i64 -2, ptr %region, align 8
  %reads = getelementptr inbounds nuw i8, ptr %add.ptr, i64 64
  %9 = load i8, ptr %reads, align 8
  %loadedv8 = trunc i8 %9 to i1
  %10 = load i8, ptr @fly.sanitizer.failed, align 1
  %loadedv9 = trunc i8 %10 to i1
  %or.cond = select i1 %loadedv8, i1 true, i1 %loadedv9
  br i1 %or.cond, label %if.end13, label %land.lhs.true10

land.lhs.true10:                                  ; preds = %if.end
  %11 = load i64, ptr @fly.sanitizer.flags, align 8
  %and11 = and i64 %11, 2
  %tobool.not = icmp eq i64 %and11, 0
  br i1 %tobool.not, label %if.end13, label %if.then12

if.then12:                                        ; preds = %land.lhs.true10
  %call = call i1 @fly.sanitizer.races(ptr nonnull %touch)
  %storedv = zext i1 %call to i8
  store i8 %storedv, ptr @fly.sanitizer.failed, align 1
  br label %if.end13

if.end13:                                         ; preds = %if.then12, %land.lhs.true10, %if.end
  call void @llvm.lifetime.end.p0(ptr nonnull %touch)
  br label %cleanup.cont

cleanup.cont:                                     ; preds = %if.end13, %lor.lhs.false, %entry
  ret void
}

define internal i1 @fly.sanitizer.races(ptr %touch) {
entry:
  %region = getelementptr inbounds nuw i8, ptr %touch, i64 56
  %0 = load i64, ptr %region, align 8
  %cmp = icmp eq i64 %0, -2
  %1 = load i64, ptr @fly.sanitizer.scratch, align 8
  %2 = load i64, ptr @fly.sanitizer.shared_bytes, align 8
  %add = add i64 %1, %2
  %3 = load ptr, ptr @fly.sanitizer.shared_cells, align 8
  br i1 %cmp, label %if.end6, label %if.then

if.then:                                          ; preds = %entry
  %cmp2 = icmp sgt i64 %0, -1
  br i1 %cmp2, label %cond.end, label %cond.false

cond.false:                                       ; preds = %if.then
  %address = getelementptr inbounds nuw i8, ptr %touch, i64 8
  %4 = load i64, ptr %address, align 8
  %call = call i64 @fly.sanitizer.region_of(i64 %4)
  br label %cond.end

cond.end:                                         ; preds = %if.then, %cond.false
  %cond = phi i64 [ %call, %cond.false ], [ %0, %if.then ]
  %cmp4 = icmp sgt i64 %cond, -1
  br i1 %cmp4, label %if.end, label %cleanup60

if.end:                                           ; preds = %cond.end
  %5 = load ptr, ptr @fly.sanitizer.regions, align 8
  %arrayidx = getelementptr inbounds nuw %struct.RegionFacts, ptr %5, i64 %cond
  %memory.sroa.0.0.copyload = load i64, ptr %arrayidx, align 8
  %memory.sroa.7.0.arrayidx.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %memory.sroa.7.0.copyload = load i64, ptr %memory.sroa.7.0.arrayidx.sroa_idx, align 8
  %memory.sroa.9.0.arrayidx.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 16
  %memory.sroa.9.0.copyload = load i64, ptr %memory.sroa.9.0.arrayidx.sroa_idx, align 8
  %memory.sroa.14.0.arrayidx.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 24
  %memory.sroa.14.0.copyload = load ptr, ptr %memory.sroa.14.0.arrayidx.sroa_idx, align 8
  br label %if.end6

if.end6:                                          ; preds = %if.end, %entry
  %memory.sroa.0.0 = phi i64 [ %1, %entry ], [ %memory.sroa.0.0.copyload, %if.end ]
  %memory.sroa.7.0 = phi i64 [ %add, %entry ], [ %memory.sroa.7.0.copyload, %if.end ]
  %memory.sroa.9.0 = phi i64 [ 0, %entry ], [ %memory.sroa.9.0.copyload, %if.end ]
  %memory.sroa.14.0 = phi ptr [ %3, %entry ], [ %memory.sroa.14.0.copyload, %if.end ]
  %sub = sub i64 %memory.sroa.7.0, %memory.sroa.0.0
  %address9 = getelementptr inbounds nuw i8, ptr %touch, i64 8
  %6 = load i64, ptr %address9, align 8
  %sub11 = sub i64 %6, %memory.sroa.0.0
  %bytes = getelementptr inbounds nuw i8, ptr %touch, i64 16
  %7 = load i64, ptr %bytes, align 8
  %add12 = add i64 %sub11, %7
  %cmp13 = icmp uge i64 %sub11, %sub
  %cmp14 = icmp ugt i64 %add12, %sub
  %or.cond = select i1 %cmp13, i1 true, i1 %cmp14
  br i1 %or.cond, label %cleanup60, label %if.end16

if.end16:                                         ; preds = %if.end6
  %call17 = call i64 @fly.sanitizer.tick()
  %thread = getelementptr inbounds nuw i8, ptr %touch, i64 32
  %8 = load i64, ptr %thread, align 8
  %9 = load i64, ptr %touch, align 8
  %call18 = call i64 @fly.sanitizer.who_is(i64 %8, i64 %9)
  %shr = lshr i64 %sub11, %memory.sroa.9.0
  br label %for.cond

for.cond:                                         ; preds = %cleanup45, %if.end16
  %granule.0 = phi i64 [ %shr, %if.end16 ], [ %add26, %cleanup45 ]
  %retval.4 = phi i1 [ false, %if.end16 ], [ %retval.6, %cleanup45 ]
  %shl = shl i64 %granule.0, %memory.sroa.9.0
  %cmp21.not = icmp ult i64 %shl, %add12
  br i1 %cmp21.not, label %for.body, label %cleanup60

for.body:                                         ; preds = %for.cond
  %add26 = add i64 %granule.0, 1
  %shl28 = shl i64 %add26, %memory.sroa.9.0
  %call29 = call i64 @fly.sanitizer.larger(i64 %sub11, i64 %shl)
  %call30 = call i64 @fly.sanitizer.smaller(i64 %add12, i64 %shl28)
  %sub31 = sub i64 %call30, %shl
  %shl32 = shl nuw i64 1, %sub31
  %sub33 = sub i64 %call29, %shl
  %shl34.neg = shl nsw i64 -1, %sub33
  %sub35 = add i64 %shl34.neg, %shl32
  %arrayidx37 = getelementptr inbounds nuw %struct.Cell, ptr %memory.sroa.14.0, i64 %granule.0
  %kind = getelementptr inbounds nuw i8, ptr %touch, i64 24
  %10 = load i64, ptr %kind, align 8
  %call39 = call i64 @fly.sanitizer.meet(ptr %arrayidx37, i64 %sub35, i64 %10, i64 %call18, i64 %call17, i1 %cmp)
  %cmp40.not = icmp eq i64 %call39, -1
  br i1 %cmp40.not, label %cleanup45, label %if.then41

if.then41:                                        ; preds = %for.body
  %add43 = add i64 %memory.sroa.0.0, %call29
  call void @fly.sanitizer.fill(i32 2, ptr nonnull %touch, i64 %add43, i64 %call39)
  br label %cleanup45

cleanup45:                                        ; preds = %for.body, %if.then41
  %retval.6 = phi i1 [ true, %if.then41 ], [ %retval.4, %for.body ]
  br i1 %cmp40.not, label %for.cond, label %cleanup60

cleanup60:                                        ; preds = %cond.end, %cleanup45, %for.cond, %if.end6
  %retval.2 = phi i1 [ false, %cond.end ], [ false, %for.cond ], [ false, %if.end6 ], [ %retval.6, %cleanup45 ]
  ret i1 %retval.2
}

define void @fly_sanitizer_fence() {
entry:
  %call = call i64 @fly.sanitizer.tick()
  store i64 %call, ptr @fly.sanitizer.fence_time, align 8
  ret void
}

define void @fly_sanitizer_registers(i64 %site, i64 %address, i64 %thread, i64 %low, i64 %end, i64 %product, i64 %fault) {
entry:
  %touch = alloca %struct.Touch, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %touch)
  store i64 %site, ptr %touch, align 8
  %address2 = getelementptr inbounds nuw i8, ptr %touch, i64 8
  store i64 %address, ptr %address2, align 8
  %bytes = getelementptr inbounds nuw i8, ptr %touch, i64 16
  store i64 4, ptr %bytes, align 8
  %kind = getelementptr inbounds nuw i8, ptr %touch, i64 24
  store i64 1, ptr %kind, align 8
  %thread3 = getelementptr inbounds nuw i8, ptr %touch, i64 32
  store i64 %thread, ptr %thread3, align 8
  %low4 = getelementptr inbounds nuw i8, ptr %touch, i64 40
  store i64 %low, ptr %low4, align 8
  %end5 = getelementptr inbounds nuw i8, ptr %touch, i64 48
  store i64 %end, ptr %end5, align 8
  %region = getelementptr inbounds nuw i8, ptr %touch, i64 56
  store i64 -3, ptr %region, align 8
  %conv = trunc i64 %fault to i32
  %call = call i64 @fly.sanitizer.who_is(i64 %thread, i64 %product)
  %call6 = call i1 @fly.sanitizer.fill_async(i32 %conv, ptr nonnull %touch, i64 %address, i64 %call)
  call void @llvm.lifetime.end.p0(ptr nonnull %touch)
  ret void
}

define internal i1 @fly.sanitizer.fill_async(i32 %fault, ptr %touch, i64 %address, i64 %other) {
entry:
  call void @fly.sanitizer.fill(i32 16, ptr %touch, i64 %address, i64 %other)
  %conv = zext i32 %fault to i64
  %0 = load ptr, ptr @fly.sanitizer.report, align 8
  %arrayidx = getelementptr inbounds nuw i8, ptr %0, i64 136
  store i64 %conv, ptr %arrayidx, align 8
  ret i1 true
}

define i32 @fly_sanitizer_end(i32 %status) {
entry:
  %touch = alloca %struct.Touch, align 8
  %0 = load i64, ptr @fly.sanitizer.first_ticket, align 8
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %entry
  %number.0 = phi i64 [ %0, %entry ], [ %inc, %for.inc ]
  %retval.0 = phi i32 [ undef, %entry ], [ %retval.2, %for.inc ]
  %tobool = icmp ne i32 %status, 0
  %1 = load i8, ptr @fly.sanitizer.failed, align 1
  %loadedv = trunc i8 %1 to i1
  %or.cond = select i1 %tobool, i1 true, i1 %loadedv
  %2 = load i64, ptr @fly.sanitizer.ticket_count, align 8
  %cmp = icmp ugt i64 %number.0, %2
  %or.cond14.not = select i1 %or.cond, i1 true, i1 %cmp
  br i1 %or.cond14.not, label %cleanup11, label %for.body

for.body:                                         ; preds = %for.cond
  %3 = load ptr, ptr @fly.sanitizer.tickets, align 8
  %add.ptr = getelementptr inbounds nuw %struct.Ticket, ptr %3, i64 %number.0
  %open = getelementptr inbounds nuw i8, ptr %add.ptr, i64 65
  %4 = load i8, ptr %open, align 1
  %loadedv1 = trunc i8 %4 to i1
  br i1 %loadedv1, label %lor.lhs.false, label %cleanup

lor.lhs.false:                                    ; preds = %for.body
  %store = getelementptr inbounds nuw i8, ptr %add.ptr, i64 66
  %5 = load i8, ptr %store, align 2
  %loadedv2 = trunc i8 %5 to i1
  br i1 %loadedv2, label %if.end, label %cleanup

if.end:                                           ; preds = %lor.lhs.false
  call void @llvm.lifetime.start.p0(ptr nonnull %touch)
  %who = getelementptr inbounds nuw i8, ptr %add.ptr, i64 16
  %6 = load i64, ptr %who, align 8
  %and = and i64 %6, 1048575
  store i64 %and, ptr %touch, align 8
  %address = getelementptr inbounds nuw i8, ptr %touch, i64 8
  %7 = load i64, ptr %add.ptr, align 8
  store i64 %7, ptr %address, align 8
  %bytes = getelementptr inbounds nuw i8, ptr %touch, i64 16
  %bytes4 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 8
  %8 = load i64, ptr %bytes4, align 8
  store i64 %8, ptr %bytes, align 8
  %kind = getelementptr inbounds nuw i8, ptr %touch, i64 24
  store i64 1, ptr %kind, align 8
  %thread = getelementptr inbounds nuw i8, ptr %touch, i64 32
  %9 = load i64, ptr %who, align 8
  %shr = lshr i64 %9, 20
  %and6 = and i64 %shr, 4095
  store i64 %and6, ptr %thread, align 8
  %low = getelementptr inbounds nuw i8, ptr %touch, i64 40
  %low7 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 24
  %10 = load i64, ptr %low7, align 8
  store i64 %10, ptr %low, align 8
  %end = getelementptr inbounds nuw i8, ptr %touch, i64 48
  %end8 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 32
  %11 = load i64, ptr %end8, align 8
  store i64 %11, ptr %end, align 8
  %region = getelementptr inbounds nuw i8, ptr %touch, i64 56
  store i64 -2, ptr %region, align 8
  %12 = load i64, ptr %add.ptr, align 8
  %13 = load i64, ptr %who, align 8
  %call = call i1 @fly.sanitizer.fill_async(i32 4, ptr nonnull %touch, i64 %12, i64 %13)
  call void @llvm.lifetime.end.p0(ptr nonnull %touch)
  br label %cleanup

cleanup:                                          ; preds = %for.body, %lor.lhs.false, %if.end
  %cond = phi i1 [ false, %if.end ], [ true, %lor.lhs.false ], [ true, %for.body ]
  %cleanup.dest.slot.1 = phi i32 [ 1, %if.end ], [ 4, %lor.lhs.false ], [ 4, %for.body ]
  %retval.2 = phi i32 [ 6, %if.end ], [ %retval.0, %lor.lhs.false ], [ %retval.0, %for.body ]
  br i1 %cond, label %for.inc, label %cleanup11

for.inc:                                          ; preds = %cleanup
  %inc = add i64 %number.0, 1
  br label %for.cond

cleanup11:                                        ; preds = %for.cond, %cleanup
  %cleanup.dest.slot.0 = phi i32 [ %cleanup.dest.slot.1, %cleanup ], [ 2, %for.cond ]
  %retval.1 = phi i32 [ %retval.2, %cleanup ], [ %retval.0, %for.cond ]
  switch i32 %cleanup.dest.slot.0, label %unreachable [
    i32 2, label %for.end
    i32 1, label %return
  ]

for.end:                                          ; preds = %cleanup11
  br label %return

return:                                           ; preds = %for.end, %cleanup11
  %retval.3 = phi i32 [ %status, %for.end ], [ %retval.1, %cleanup11 ]
  ret i32 %retval.3

unreachable:                                      ; preds = %cleanup11
  unreachable
}

define i1 @fly_sanitizer_access(i64 %site, i64 %address, i64 %bytes, i64 %kind, i64 %thread, i64 %low, i64 %end, i64 %region) {
entry:
  %touch = alloca %struct.Touch, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %touch)
  store i64 %site, ptr %touch, align 8
  %address2 = getelementptr inbounds nuw i8, ptr %touch, i64 8
  store i64 %address, ptr %address2, align 8
  %bytes3 = getelementptr inbounds nuw i8, ptr %touch, i64 16
  store i64 %bytes, ptr %bytes3, align 8
  %kind4 = getelementptr inbounds nuw i8, ptr %touch, i64 24
  store i64 %kind, ptr %kind4, align 8
  %thread5 = getelementptr inbounds nuw i8, ptr %touch, i64 32
  store i64 %thread, ptr %thread5, align 8
  %low6 = getelementptr inbounds nuw i8, ptr %touch, i64 40
  store i64 %low, ptr %low6, align 8
  %end7 = getelementptr inbounds nuw i8, ptr %touch, i64 48
  store i64 %end, ptr %end7, align 8
  %region8 = getelementptr inbounds nuw i8, ptr %touch, i64 56
  store i64 %region, ptr %region8, align 8
  %tobool = icmp eq i64 %bytes, 0
  %0 = load i8, ptr @fly.sanitizer.failed, align 1
  %loadedv = trunc i8 %0 to i1
  %or.cond = select i1 %tobool, i1 true, i1 %loadedv
  br i1 %or.cond, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %1 = load i8, ptr @fly.sanitizer.failed, align 1
  %loadedv9 = trunc i8 %1 to i1
  br label %cleanup48

if.end:                                           ; preds = %entry
  %2 = load i64, ptr @fly.sanitizer.flags, align 8
  %and = and i64 %2, 64
  %tobool10.not = icmp eq i64 %and, 0
  br i1 %tobool10.not, label %if.end12, label %if.then11

if.then11:                                        ; preds = %if.end
  %cmp = icmp sgt i64 %region, -2
  br i1 %cmp, label %land.rhs, label %cleanup48

land.rhs:                                         ; preds = %if.then11
  %call = call i1 @fly.sanitizer.ranks_access(i64 %site, i64 %address, i64 %bytes, i64 %kind, i64 %thread)
  br label %cleanup48

if.end12:                                         ; preds = %if.end
  %and13 = and i64 %2, 1
  %tobool14.not = icmp eq i64 %and13, 0
  br i1 %tobool14.not, label %if.end19, label %land.lhs.true

land.lhs.true:                                    ; preds = %if.end12
  %cmp15 = icmp ult i64 %address, %low
  %add = add i64 %address, %bytes
  %cmp17 = icmp ugt i64 %add, %end
  %or.cond19 = select i1 %cmp15, i1 true, i1 %cmp17
  br i1 %or.cond19, label %if.then18, label %if.end19

if.then18:                                        ; preds = %land.lhs.true
  call void @fly.sanitizer.fill(i32 1, ptr nonnull %touch, i64 %address, i64 0)
  br label %cleanup48

if.end19:                                         ; preds = %land.lhs.true, %if.end12
  %3 = load i64, ptr @fly.sanitizer.flags, align 8
  %and20 = and i64 %3, 4
  %tobool21 = icmp ne i64 %and20, 0
  %cmp23 = icmp slt i64 %region, -1
  %or.cond20 = select i1 %tobool21, i1 %cmp23, i1 false
  br i1 %or.cond20, label %if.then24, label %if.end29

if.then24:                                        ; preds = %if.end19
  %call25 = call i64 @fly.sanitizer.unwritten(ptr nonnull %touch)
  %tobool26.not = icmp eq i64 %call25, 0
  br i1 %tobool26.not, label %if.end29, label %if.then27

if.then27:                                        ; preds = %if.then24
  call void @fly.sanitizer.fill(i32 4, ptr nonnull %touch, i64 %call25, i64 0)
  br label %cleanup48

if.end29:                                         ; preds = %if.then24, %if.end19
  %4 = load i64, ptr @fly.sanitizer.flags, align 8
  %and30 = and i64 %4, 16
  %tobool31 = icmp eq i64 %and30, 0
  %cmp33 = icmp ne i64 %region, -2
  %or.cond21.not24 = select i1 %tobool31, i1 true, i1 %cmp33
  %and35 = and i64 %kind, 32
  %tobool36 = icmp ne i64 %and35, 0
  %or.cond22 = select i1 %or.cond21.not24, i1 true, i1 %tobool36
  br i1 %or.cond22, label %if.end40, label %land.lhs.true37

land.lhs.true37:                                  ; preds = %if.end29
  %call38 = call i1 @fly.sanitizer.disturbs(ptr nonnull %touch)
  br i1 %call38, label %cleanup48, label %if.end40

if.end40:                                         ; preds = %land.lhs.true37, %if.end29
  %5 = load i64, ptr @fly.sanitizer.flags, align 8
  %and41 = and i64 %5, 2
  %tobool42 = icmp ne i64 %and41, 0
  %cmp44 = icmp sgt i64 %region, -3
  %or.cond23 = select i1 %tobool42, i1 %cmp44, i1 false
  br i1 %or.cond23, label %land.rhs45, label %cleanup48

land.rhs45:                                       ; preds = %if.end40
  %call46 = call i1 @fly.sanitizer.races(ptr nonnull %touch)
  br label %cleanup48

cleanup48:                                        ; preds = %if.then27, %if.end40, %land.rhs45, %land.lhs.true37, %if.then11, %land.rhs, %if.then18, %if.then
  %retval.0 = phi i1 [ %loadedv9, %if.then ], [ %call, %land.rhs ], [ true, %if.then18 ], [ true, %if.then27 ], [ true, %land.lhs.true37 ], [ false, %if.then11 ], [ %call46, %land.rhs45 ], [ false, %if.end40 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %touch)
  ret i1 %retval.0
}

define internal i1 @fly.sanitizer.ranks_access(i64 %site, i64 %address, i64 %bytes, i64 %kind, i64 %thread) {
entry:
  %who = alloca [3 x i64], align 16
  %here = alloca %struct.Event, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %who)
  %call = call i64 @fly.sanitizer.actor_here(ptr nonnull %who)
  %0 = load i8, ptr @fly.sanitizer.told, align 1
  %loadedv = trunc i8 %0 to i1
  %cmp = icmp slt i64 %call, 0
  %or.cond = select i1 %loadedv, i1 true, i1 %cmp
  br i1 %or.cond, label %cleanup36, label %lor.lhs.false1

lor.lhs.false1:                                   ; preds = %entry
  %call2 = call i1 @fly_ranks_share(i64 %address)
  br i1 %call2, label %if.end, label %cleanup36

if.end:                                           ; preds = %lor.lhs.false1
  %conv = trunc i64 %call to i32
  %call3 = call ptr @fly.sanitizer.actor_at(i32 %conv)
  call void @llvm.lifetime.start.p0(ptr nonnull %here)
  %1 = load i64, ptr @fly.sanitizer.accesses, align 8
  %inc = add i64 %1, 1
  store i64 %inc, ptr @fly.sanitizer.accesses, align 8
  store i64 %inc, ptr %here, align 8
  %actor4 = getelementptr inbounds nuw i8, ptr %here, i64 8
  store i32 %conv, ptr %actor4, align 8
  %clock = getelementptr inbounds nuw i8, ptr %here, i64 12
  %clock6 = getelementptr inbounds nuw i8, ptr %call3, i64 5648
  %2 = load i32, ptr %clock6, align 16
  store i32 %2, ptr %clock, align 4
  %site7 = getelementptr inbounds nuw i8, ptr %here, i64 16
  %conv8 = trunc i64 %site to i32
  store i32 %conv8, ptr %site7, align 8
  %stretch = getelementptr inbounds nuw i8, ptr %here, i64 20
  %barrier = getelementptr inbounds nuw i8, ptr %call3, i64 5652
  %3 = load i32, ptr %barrier, align 4
  store i32 %3, ptr %stretch, align 4
  %thread9 = getelementptr inbounds nuw i8, ptr %here, i64 24
  %conv10 = trunc i64 %thread to i16
  store i16 %conv10, ptr %thread9, align 8
  %code = getelementptr inbounds nuw i8, ptr %here, i64 26
  %arrayidx = getelementptr inbounds nuw i8, ptr %who, i64 16
  %4 = load i64, ptr %arrayidx, align 16
  %conv11 = trunc i64 %4 to i16
  store i16 %conv11, ptr %code, align 2
  %5 = getelementptr inbounds nuw i8, ptr %here, i64 28
  store i32 0, ptr %5, align 4
  %and = and i64 %address, -4
  br label %for.cond

for.cond:                                         ; preds = %cleanup, %if.end
  %low.0 = phi i64 [ %and, %if.end ], [ %add16, %cleanup ]
  %retval.1 = phi i1 [ undef, %if.end ], [ %retval.3, %cleanup ]
  %add = add i64 %address, %bytes
  %cmp12.not = icmp ult i64 %low.0, %add
  br i1 %cmp12.not, label %for.body, label %cleanup32

for.body:                                         ; preds = %for.cond
  %call14 = call i64 @fly.sanitizer.larger(i64 %address, i64 %low.0)
  %add16 = add i64 %low.0, 4
  %call17 = call i64 @fly.sanitizer.smaller(i64 %add, i64 %add16)
  %call18 = call ptr @fly.sanitizer.shared_cell(i64 %low.0)
  %tobool.not = icmp eq ptr %call18, null
  br i1 %tobool.not, label %if.end27, label %land.lhs.true

land.lhs.true:                                    ; preds = %for.body
  %sub19 = sub i64 %call14, %low.0
  %sh_prom20 = trunc i64 %sub19 to i32
  %shl21.neg = shl nsw i32 -1, %sh_prom20
  %sub = sub i64 %call17, %low.0
  %sh_prom = trunc i64 %sub to i32
  %shl = shl nuw i32 1, %sh_prom
  %sub22 = add i32 %shl21.neg, %shl
  %conv23 = trunc i32 %sub22 to i8
  %call24 = call i1 @fly.sanitizer.ranks_cell(ptr nonnull %call18, i8 %conv23, ptr %call3, ptr nonnull %here, i64 %kind)
  br i1 %call24, label %cleanup, label %if.end27

if.end27:                                         ; preds = %land.lhs.true, %for.body
  br label %cleanup

cleanup:                                          ; preds = %land.lhs.true, %if.end27
  %cond18 = phi i1 [ true, %if.end27 ], [ false, %land.lhs.true ]
  %retval.3 = phi i1 [ %retval.1, %if.end27 ], [ true, %land.lhs.true ]
  br i1 %cond18, label %for.cond, label %cleanup32

cleanup32:                                        ; preds = %for.cond, %cleanup
  %spec.select = phi i1 [ %retval.3, %cleanup ], [ false, %for.cond ]
  call void @llvm.lifetime.end.p0(ptr nonnull %here)
  br label %cleanup36

cleanup36:                                        ; preds = %entry, %lor.lhs.false1, %cleanup32
  %retval.0 = phi i1 [ %spec.select, %cleanup32 ], [ false, %lor.lhs.false1 ], [ false, %entry ]
  call void @llvm.lifetime.end.p0(ptr nonnull %who)
  ret i1 %retval.0
}

define internal i64 @fly.sanitizer.unwritten(ptr %touch) {
entry:
  %address = getelementptr inbounds nuw i8, ptr %touch, i64 8
  %0 = load i64, ptr %address, align 8
  %1 = load i64, ptr @fly.sanitizer.scratch, align 8
  %sub = sub i64 %0, %1
  %bytes = getelementptr inbounds nuw i8, ptr %touch, i64 16
  %2 = load i64, ptr %bytes, align 8
  %add = add i64 %sub, %2
  %3 = load i64, ptr @fly.sanitizer.scratch_bytes, align 8
  %cmp = icmp ugt i64 %sub, %3
  %cmp1 = icmp ugt i64 %add, %3
  %or.cond = select i1 %cmp, i1 true, i1 %cmp1
  br i1 %or.cond, label %cleanup17, label %if.end

if.end:                                           ; preds = %entry
  %kind = getelementptr inbounds nuw i8, ptr %touch, i64 24
  %4 = load i64, ptr %kind, align 8
  %and = and i64 %4, 9
  %cmp2 = icmp eq i64 %and, 1
  %and4 = and i64 %4, 2
  %tobool.not = icmp eq i64 %and4, 0
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %if.end
  %i.0 = phi i64 [ %sub, %if.end ], [ %inc, %for.inc ]
  %cmp6.not = icmp ult i64 %i.0, %add
  br i1 %cmp6.not, label %for.body, label %cleanup17

for.body:                                         ; preds = %for.cond
  br i1 %cmp2, label %land.lhs.true, label %if.end10

land.lhs.true:                                    ; preds = %for.body
  %5 = load ptr, ptr @fly.sanitizer.written, align 8
  %arrayidx = getelementptr inbounds nuw i8, ptr %5, i64 %i.0
  %6 = load i8, ptr %arrayidx, align 1
  %tobool7.not = icmp eq i8 %6, 0
  br i1 %tobool7.not, label %if.then8, label %if.end10

if.then8:                                         ; preds = %land.lhs.true
  %7 = load i64, ptr @fly.sanitizer.scratch, align 8
  %add9 = add i64 %7, %i.0
  br label %cleanup17

if.end10:                                         ; preds = %land.lhs.true, %for.body
  br i1 %tobool.not, label %for.inc, label %if.then12

if.then12:                                        ; preds = %if.end10
  %8 = load ptr, ptr @fly.sanitizer.written, align 8
  %arrayidx13 = getelementptr inbounds nuw i8, ptr %8, i64 %i.0
  store i8 1, ptr %arrayidx13, align 1
  br label %for.inc

for.inc:                                          ; preds = %if.end10, %if.then12
  %inc = add i64 %i.0, 1
  br label %for.cond

cleanup17:                                        ; preds = %if.then8, %for.cond, %entry
  %retval.0 = phi i64 [ 0, %entry ], [ %add9, %if.then8 ], [ 0, %for.cond ]
  ret i64 %retval.0
}

define internal void @fly.sanitizer.ranks_started() {
entry:
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %entry
  %i.0 = phi i32 [ 0, %entry ], [ %inc, %for.inc ]
  %cmp = icmp samesign ult i32 %i.0, 1024
  br i1 %cmp, label %for.body, label %for.cond16

for.body:                                         ; preds = %for.cond
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.actors, i64 %idxprom
  %0 = load ptr, ptr %arrayidx, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %for.inc, label %if.then

if.then:                                          ; preds = %for.body
  %taken = getelementptr inbounds nuw i8, ptr %0, i64 5656
  call void @fly.sanitizer.clear_owns(ptr nonnull %taken)
  %1 = load ptr, ptr %arrayidx, align 8
  %near = getelementptr inbounds nuw i8, ptr %1, i64 5688
  call void @fly.sanitizer.clear_owns(ptr nonnull %near)
  %2 = load ptr, ptr %arrayidx, align 8
  %far = getelementptr inbounds nuw i8, ptr %2, i64 5704
  call void @fly.sanitizer.clear_owns(ptr nonnull %far)
  %3 = load ptr, ptr %arrayidx, align 8
  %shown = getelementptr inbounds nuw i8, ptr %3, i64 5672
  call void @fly.sanitizer.clear_owns(ptr nonnull %shown)
  %4 = load ptr, ptr %arrayidx, align 8
  %seen = getelementptr inbounds nuw i8, ptr %4, i64 5720
  %5 = load ptr, ptr %seen, align 8
  call void @free(ptr %5)
  %6 = load ptr, ptr %arrayidx, align 8
  call void @free(ptr %6)
  store ptr null, ptr %arrayidx, align 8
  br label %for.inc

for.inc:                                          ; preds = %for.body, %if.then
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond

for.cond16:                                       ; preds = %for.cond, %for.body19
  %i15.0 = phi i32 [ %inc25, %for.body19 ], [ 0, %for.cond ]
  %cmp17 = icmp samesign ult i32 %i15.0, 16
  br i1 %cmp17, label %for.body19, label %for.cond28

for.body19:                                       ; preds = %for.cond16
  %idxprom20 = zext nneg i32 %i15.0 to i64
  %arrayidx21 = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.rank_views, i64 %idxprom20
  %7 = load ptr, ptr %arrayidx21, align 8
  call void @free(ptr %7)
  store ptr null, ptr %arrayidx21, align 8
  %inc25 = add nuw nsw i32 %i15.0, 1
  br label %for.cond16

for.cond28:                                       ; preds = %for.cond16, %for.end49
  %i27.0 = phi i32 [ %inc54, %for.end49 ], [ 0, %for.cond16 ]
  %8 = load ptr, ptr @fly.sanitizer.pages, align 8
  %tobool29 = icmp ne ptr %8, null
  %cmp30 = icmp samesign ult i32 %i27.0, 32768
  %spec.select = select i1 %tobool29, i1 %cmp30, i1 false
  br i1 %spec.select, label %for.cond33, label %for.end55

for.cond33:                                       ; preds = %for.cond28, %for.body41
  %k.0 = phi i32 [ %inc48, %for.body41 ], [ 0, %for.cond28 ]
  %9 = load ptr, ptr @fly.sanitizer.pages, align 8
  %idxprom34 = zext nneg i32 %i27.0 to i64
  %arrayidx35 = getelementptr inbounds nuw %struct.anon, ptr %9, i64 %idxprom34
  %cells = getelementptr inbounds nuw i8, ptr %arrayidx35, i64 8
  %10 = load ptr, ptr %cells, align 8
  %tobool36 = icmp ne ptr %10, null
  %cmp38 = icmp samesign ult i32 %k.0, 1024
  %spec.select19 = select i1 %tobool36, i1 %cmp38, i1 false
  br i1 %spec.select19, label %for.body41, label %for.end49

for.body41:                                       ; preds = %for.cond33
  %11 = load ptr, ptr @fly.sanitizer.pages, align 8
  %arrayidx43 = getelementptr inbounds nuw %struct.anon, ptr %11, i64 %idxprom34
  %cells44 = getelementptr inbounds nuw i8, ptr %arrayidx43, i64 8
  %12 = load ptr, ptr %cells44, align 8
  %idxprom45 = zext nneg i32 %k.0 to i64
  %arrayidx46 = getelementptr inbounds nuw %struct.SharedCell, ptr %12, i64 %idxprom45
  %sync = getelementptr inbounds nuw i8, ptr %arrayidx46, i64 352
  %13 = load ptr, ptr %sync, align 8
  call void @free(ptr %13)
  %inc48 = add nuw nsw i32 %k.0, 1
  br label %for.cond33

for.end49:                                        ; preds = %for.cond33
  %14 = load ptr, ptr @fly.sanitizer.pages, align 8
  %arrayidx51 = getelementptr inbounds nuw %struct.anon, ptr %14, i64 %idxprom34
  %cells52 = getelementptr inbounds nuw i8, ptr %arrayidx51, i64 8
  %15 = load ptr, ptr %cells52, align 8
  call void @free(ptr %15)
  %inc54 = add nuw nsw i32 %i27.0, 1
  br label %for.cond28

for.end55:                                        ; preds = %for.cond28
  %16 = load ptr, ptr @fly.sanitizer.pages, align 8
  call void @free(ptr %16)
  store ptr null, ptr @fly.sanitizer.pages, align 8
  store i8 0, ptr @fly.sanitizer.told, align 1
  ret void
}

define internal void @fly.sanitizer.launch_began(i32 %rank) {
entry:
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %entry
  %block.0 = phi i32 [ 0, %entry ], [ %inc, %for.inc ]
  %cmp = icmp samesign ult i32 %block.0, 64
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %mul = shl nsw i32 %rank, 6
  %add = or disjoint i32 %mul, %block.0
  %idxprom = zext i32 %add to i64
  %arrayidx = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.actors, i64 %idxprom
  %0 = load ptr, ptr %arrayidx, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %for.inc, label %if.then

if.then:                                          ; preds = %for.body
  %call = call ptr @fly.sanitizer.rank_view(i32 %rank)
  call void @fly.sanitizer.join_view(ptr nonnull %0, ptr %call)
  call void @fly.sanitizer.new_stretch(ptr nonnull %0)
  br label %for.inc

for.inc:                                          ; preds = %for.body, %if.then
  %inc = add nuw nsw i32 %block.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  ret void
}

define internal void @fly.sanitizer.launch_ended(i32 %rank) {
entry:
  %call = call ptr @fly.sanitizer.rank_view(i32 %rank)
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %entry
  %block.0 = phi i32 [ 0, %entry ], [ %inc, %for.inc ]
  %cmp = icmp samesign ult i32 %block.0, 64
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %mul = shl nsw i32 %rank, 6
  %add = or disjoint i32 %mul, %block.0
  %idxprom = zext i32 %add to i64
  %arrayidx = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.actors, i64 %idxprom
  %0 = load ptr, ptr %arrayidx, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %for.inc, label %if.end

if.end:                                           ; preds = %for.body
  call void @fly.sanitizer.new_stretch(ptr nonnull %0)
  %near = getelementptr inbounds nuw i8, ptr %0, i64 5688
  call void @fly.sanitizer.clear_owns(ptr nonnull %near)
  %far = getelementptr inbounds nuw i8, ptr %0, i64 5704
  call void @fly.sanitizer.clear_owns(ptr nonnull %far)
  %shown = getelementptr inbounds nuw i8, ptr %0, i64 5672
  call void @fly.sanitizer.clear_owns(ptr nonnull %shown)
  call void @fly.sanitizer.join_view(ptr %call, ptr nonnull %0)
  %clock = getelementptr inbounds nuw i8, ptr %0, i64 5648
  %1 = load i32, ptr %clock, align 16
  %arrayidx3 = getelementptr inbounds nuw i32, ptr %call, i64 %idxprom
  store i32 %1, ptr %arrayidx3, align 4
  br label %for.inc

for.inc:                                          ; preds = %if.end, %for.body
  %inc = add nuw nsw i32 %block.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  ret void
}

define internal void @fly.sanitizer.ranks_met() {
entry:
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %i.0 = phi i32 [ 1, %entry ], [ %inc, %for.body ]
  %cmp = icmp samesign ult i32 %i.0, 16
  br i1 %cmp, label %for.body, label %for.cond3

for.body:                                         ; preds = %for.cond
  %call = call ptr @fly.sanitizer.rank_view(i32 0)
  %call1 = call ptr @fly.sanitizer.rank_view(i32 %i.0)
  call void @fly.sanitizer.join_view(ptr %call, ptr %call1)
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond

for.cond3:                                        ; preds = %for.cond, %for.body6
  %i2.0 = phi i32 [ %inc10, %for.body6 ], [ 1, %for.cond ]
  %cmp4 = icmp samesign ult i32 %i2.0, 16
  br i1 %cmp4, label %for.body6, label %for.end11

for.body6:                                        ; preds = %for.cond3
  %call7 = call ptr @fly.sanitizer.rank_view(i32 %i2.0)
  %call8 = call ptr @fly.sanitizer.rank_view(i32 0)
  call void @fly.sanitizer.join_view(ptr %call7, ptr %call8)
  %inc10 = add nuw nsw i32 %i2.0, 1
  br label %for.cond3

for.end11:                                        ; preds = %for.cond3
  ret void
}

define internal void @fly.sanitizer.clear_owns(ptr %owns) {
entry:
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %i.0 = phi i32 [ 0, %entry ], [ %inc, %for.body ]
  %count = getelementptr inbounds nuw i8, ptr %owns, i64 8
  %0 = load i32, ptr %count, align 8
  %cmp = icmp ult i32 %i.0, %0
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %1 = load ptr, ptr %owns, align 8
  %idxprom = zext i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw ptr, ptr %1, i64 %idxprom
  %2 = load ptr, ptr %arrayidx, align 8
  call void @free(ptr %2)
  %inc = add i32 %i.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  store i32 0, ptr %count, align 8
  ret void
}

define internal ptr @fly.sanitizer.rank_view(i32 %rank) {
entry:
  %idxprom = zext i32 %rank to i64
  %arrayidx = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.rank_views, i64 %idxprom
  %0 = load ptr, ptr %arrayidx, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %call = call ptr @calloc(i64 1, i64 5648)
  store ptr %call, ptr %arrayidx, align 8
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  %1 = load ptr, ptr %arrayidx, align 8
  ret ptr %1
}

define internal void @fly.sanitizer.new_stretch(ptr %actor) {
entry:
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %i.0 = phi i32 [ 0, %entry ], [ %inc, %for.body ]
  %taken = getelementptr inbounds nuw i8, ptr %actor, i64 5656
  %count = getelementptr inbounds nuw i8, ptr %actor, i64 5664
  %0 = load i32, ptr %count, align 8
  %cmp = icmp ult i32 %i.0, %0
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %1 = load ptr, ptr %taken, align 8
  %idxprom = zext i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw ptr, ptr %1, i64 %idxprom
  %2 = load ptr, ptr %arrayidx, align 8
  call void @fly.sanitizer.join_view(ptr %actor, ptr %2)
  %inc = add i32 %i.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  call void @fly.sanitizer.clear_owns(ptr nonnull %taken)
  %clock = getelementptr inbounds nuw i8, ptr %actor, i64 5648
  %3 = load i32, ptr %clock, align 16
  %inc4 = add i32 %3, 1
  store i32 %inc4, ptr %clock, align 16
  %barrier = getelementptr inbounds nuw i8, ptr %actor, i64 5652
  store i32 %inc4, ptr %barrier, align 4
  ret void
}

declare i1 @fly_ranks_here(ptr)

declare ptr @realloc(ptr, i64)

define internal void @fly.sanitizer.add_tail(ptr %view, ptr %added) {
entry:
  %tail.sroa.0.0.copyload = load i32, ptr %added, align 4
  %tail.sroa.7.0..sroa_idx = getelementptr inbounds nuw i8, ptr %added, i64 4
  %tail.sroa.7.0.copyload = load i32, ptr %tail.sroa.7.0..sroa_idx, align 4
  %tail.sroa.9.0..sroa_idx = getelementptr inbounds nuw i8, ptr %added, i64 8
  %tail.sroa.9.0.copyload = load i32, ptr %tail.sroa.9.0..sroa_idx, align 4
  %idxprom = zext i32 %tail.sroa.0.0.copyload to i64
  %arrayidx = getelementptr inbounds nuw i32, ptr %view, i64 %idxprom
  %0 = load i32, ptr %arrayidx, align 4
  %cmp.not = icmp ult i32 %0, %tail.sroa.9.0.copyload
  br i1 %cmp.not, label %for.cond, label %cleanup.cont

for.cond:                                         ; preds = %entry, %for.inc
  %i.0 = phi i32 [ %inc27, %for.inc ], [ 0, %entry ]
  %kept.0 = phi i32 [ %kept.1, %for.inc ], [ 0, %entry ]
  %tail.sroa.0.0 = phi i32 [ %tail.sroa.0.1, %for.inc ], [ %tail.sroa.0.0.copyload, %entry ]
  %tail.sroa.7.0 = phi i32 [ %tail.sroa.7.1, %for.inc ], [ %tail.sroa.7.0.copyload, %entry ]
  %tail.sroa.9.0 = phi i32 [ %tail.sroa.9.1, %for.inc ], [ %tail.sroa.9.0.copyload, %entry ]
  %tail_count = getelementptr inbounds nuw i8, ptr %view, i64 5632
  %1 = load i32, ptr %tail_count, align 16
  %cmp1 = icmp ult i32 %i.0, %1
  br i1 %cmp1, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %tails = getelementptr inbounds nuw i8, ptr %view, i64 4096
  %idxprom2 = zext i32 %i.0 to i64
  %arrayidx3 = getelementptr inbounds nuw %struct.Tail, ptr %tails, i64 %idxprom2
  %old.sroa.0.0.copyload = load i32, ptr %arrayidx3, align 4
  %old.sroa.7.0.arrayidx3.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx3, i64 4
  %old.sroa.7.0.copyload = load i32, ptr %old.sroa.7.0.arrayidx3.sroa_idx, align 4
  %old.sroa.8.0.arrayidx3.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx3, i64 8
  %old.sroa.8.0.copyload = load i32, ptr %old.sroa.8.0.arrayidx3.sroa_idx, align 4
  %cmp6 = icmp eq i32 %old.sroa.0.0.copyload, %tail.sroa.0.0
  %cmp8 = icmp eq i32 %old.sroa.7.0.copyload, %tail.sroa.7.0
  %spec.select = select i1 %cmp6, i1 %cmp8, i1 false
  %cmp11 = icmp uge i32 %old.sroa.8.0.copyload, %tail.sroa.9.0
  %or.cond = select i1 %spec.select, i1 %cmp11, i1 false
  %tail.sroa.0.1 = select i1 %or.cond, i32 %old.sroa.0.0.copyload, i32 %tail.sroa.0.0
  %tail.sroa.7.1 = select i1 %or.cond, i32 %old.sroa.7.0.copyload, i32 %tail.sroa.7.0
  %tail.sroa.9.1 = select i1 %or.cond, i32 %old.sroa.8.0.copyload, i32 %tail.sroa.9.0
  br i1 %spec.select, label %for.inc, label %land.lhs.true15

land.lhs.true15:                                  ; preds = %for.body
  %idxprom18 = zext i32 %old.sroa.0.0.copyload to i64
  %arrayidx19 = getelementptr inbounds nuw i32, ptr %view, i64 %idxprom18
  %2 = load i32, ptr %arrayidx19, align 4
  %cmp21 = icmp ult i32 %2, %old.sroa.8.0.copyload
  br i1 %cmp21, label %if.then22, label %for.inc

if.then22:                                        ; preds = %land.lhs.true15
  %inc = add i32 %kept.0, 1
  %idxprom24 = zext i32 %kept.0 to i64
  %arrayidx25 = getelementptr inbounds nuw %struct.Tail, ptr %tails, i64 %idxprom24
  store i32 %old.sroa.0.0.copyload, ptr %arrayidx25, align 4
  %old.sroa.7.0.arrayidx25.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx25, i64 4
  store i32 %old.sroa.7.0.copyload, ptr %old.sroa.7.0.arrayidx25.sroa_idx, align 4
  %old.sroa.8.0.arrayidx25.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx25, i64 8
  store i32 %old.sroa.8.0.copyload, ptr %old.sroa.8.0.arrayidx25.sroa_idx, align 4
  br label %for.inc

for.inc:                                          ; preds = %for.body, %land.lhs.true15, %if.then22
  %kept.1 = phi i32 [ %kept.0, %for.body ], [ %inc, %if.then22 ], [ %kept.0, %land.lhs.true15 ]
  %inc27 = add i32 %i.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  %cmp28 = icmp eq i32 %kept.0, 128
  %spec.select27 = select i1 %cmp28, i32 127, i32 %kept.0
  %tails31 = getelementptr inbounds nuw i8, ptr %view, i64 4096
  %inc32 = add i32 %spec.select27, 1
  %idxprom33 = zext i32 %spec.select27 to i64
  %arrayidx34 = getelementptr inbounds nuw %struct.Tail, ptr %tails31, i64 %idxprom33
  store i32 %tail.sroa.0.0, ptr %arrayidx34, align 4
  %tail.sroa.7.0.arrayidx34.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx34, i64 4
  store i32 %tail.sroa.7.0, ptr %tail.sroa.7.0.arrayidx34.sroa_idx, align 4
  %tail.sroa.9.0.arrayidx34.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx34, i64 8
  store i32 %tail.sroa.9.0, ptr %tail.sroa.9.0.arrayidx34.sroa_idx, align 4
  store i32 %inc32, ptr %tail_count, align 16
  br label %cleanup.cont

cleanup.cont:                                     ; preds = %for.end, %entry
  ret void
}

define internal i1 @fly.sanitizer.under_way(i64 %ticket) {
entry:
  %0 = load i64, ptr @fly.sanitizer.first_ticket, align 8
  %cmp.not = icmp ult i64 %ticket, %0
  br i1 %cmp.not, label %land.end, label %land.rhs

land.rhs:                                         ; preds = %entry
  %1 = load ptr, ptr @fly.sanitizer.tickets, align 8
  %arrayidx = getelementptr inbounds nuw %struct.Ticket, ptr %1, i64 %ticket
  %open = getelementptr inbounds nuw i8, ptr %arrayidx, i64 65
  %2 = load i8, ptr %open, align 1
  %loadedv = trunc i8 %2 to i1
  br label %land.end

land.end:                                         ; preds = %land.rhs, %entry
  %3 = phi i1 [ false, %entry ], [ %loadedv, %land.rhs ]
  ret i1 %3
}

define internal i64 @fly.sanitizer.region_of(i64 %address) {
entry:
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %entry
  %i.0 = phi i64 [ 0, %entry ], [ %inc, %for.inc ]
  %0 = load i64, ptr @fly.sanitizer.region_count, align 8
  %cmp = icmp slt i64 %i.0, %0
  br i1 %cmp, label %for.body, label %cleanup

for.body:                                         ; preds = %for.cond
  %1 = load ptr, ptr @fly.sanitizer.regions, align 8
  %arrayidx = getelementptr inbounds nuw %struct.RegionFacts, ptr %1, i64 %i.0
  %2 = load i64, ptr %arrayidx, align 8
  %cmp1.not = icmp ult i64 %address, %2
  br i1 %cmp1.not, label %for.inc, label %land.lhs.true

land.lhs.true:                                    ; preds = %for.body
  %end = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %3 = load i64, ptr %end, align 8
  %cmp3 = icmp ult i64 %address, %3
  br i1 %cmp3, label %cleanup, label %for.inc

for.inc:                                          ; preds = %for.body, %land.lhs.true
  %inc = add nuw nsw i64 %i.0, 1
  br label %for.cond

cleanup:                                          ; preds = %land.lhs.true, %for.cond
  %cleanup.dest.slot.0 = phi i32 [ 2, %for.cond ], [ 1, %land.lhs.true ]
  switch i32 %cleanup.dest.slot.0, label %unreachable [
    i32 2, label %for.end
    i32 1, label %return
  ]

for.end:                                          ; preds = %cleanup
  br label %return

return:                                           ; preds = %for.end, %cleanup
  %retval.1 = phi i64 [ -1, %for.end ], [ %i.0, %cleanup ]
  ret i64 %retval.1

unreachable:                                      ; preds = %cleanup
  unreachable
}

define internal i64 @fly.sanitizer.larger(i64 %a, i64 %b) {
entry:
  %a.b = call i64 @llvm.umax.i64(i64 %a, i64 %b)
  ret i64 %a.b
}

define internal i64 @fly.sanitizer.smaller(i64 %a, i64 %b) {
entry:
  %a.b = call i64 @llvm.umin.i64(i64 %a, i64 %b)
  ret i64 %a.b
}

define internal i64 @fly.sanitizer.meet(ptr %cell, i64 %mask, i64 %kind, i64 %who, i64 %now, i1 %shared) {
entry:
  %and = and i64 %kind, 2
  %tobool.not39 = icmp eq i64 %and, 0
  %and2 = and i64 %kind, 4
  %tobool3.not40 = icmp eq i64 %and2, 0
  %and5 = and i64 %kind, 16
  %tobool6.not = icmp eq i64 %and5, 0
  br i1 %tobool6.not, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  %atomics = getelementptr inbounds nuw i8, ptr %cell, i64 48
  call void @fly.sanitizer.synchronise(ptr nonnull %atomics, i64 %who)
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  %call = call i1 @fly.sanitizer.conflicts(ptr %cell, i64 %mask, i64 %who, i1 %shared)
  br i1 %call, label %if.then7, label %for.cond

if.then7:                                         ; preds = %if.end
  %who9 = getelementptr inbounds nuw i8, ptr %cell, i64 8
  %0 = load i64, ptr %who9, align 8
  br label %cleanup60

for.cond:                                         ; preds = %if.end, %for.inc
  %i.0 = phi i32 [ %inc, %for.inc ], [ 0, %if.end ]
  %cmp = icmp samesign ugt i32 %i.0, 1
  br i1 %cmp, label %cleanup, label %for.body

for.body:                                         ; preds = %for.cond
  br i1 %tobool.not39, label %for.inc, label %land.lhs.true

land.lhs.true:                                    ; preds = %for.body
  %reads = getelementptr inbounds nuw i8, ptr %cell, i64 16
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx12 = getelementptr inbounds nuw %struct.Slot, ptr %reads, i64 %idxprom
  %call14 = call i1 @fly.sanitizer.conflicts(ptr nonnull %arrayidx12, i64 %mask, i64 %who, i1 %shared)
  br i1 %call14, label %if.then15, label %for.inc

if.then15:                                        ; preds = %land.lhs.true
  %who19 = getelementptr inbounds nuw i8, ptr %arrayidx12, i64 8
  %1 = load i64, ptr %who19, align 8
  br label %cleanup

for.inc:                                          ; preds = %for.body, %land.lhs.true
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond

cleanup:                                          ; preds = %for.cond, %if.then15
  %retval.1 = phi i64 [ %1, %if.then15 ], [ undef, %for.cond ]
  br i1 %cmp, label %for.cond22, label %cleanup60

for.cond22:                                       ; preds = %cleanup, %for.inc39
  %i21.0 = phi i32 [ %inc40, %for.inc39 ], [ 0, %cleanup ]
  %cmp23 = icmp samesign ugt i32 %i21.0, 1
  br i1 %cmp23, label %cleanup41, label %for.body25

for.body25:                                       ; preds = %for.cond22
  br i1 %tobool3.not40, label %land.lhs.true27, label %for.inc39

land.lhs.true27:                                  ; preds = %for.body25
  %atomics28 = getelementptr inbounds nuw i8, ptr %cell, i64 48
  %idxprom29 = zext nneg i32 %i21.0 to i64
  %arrayidx30 = getelementptr inbounds nuw %struct.Slot, ptr %atomics28, i64 %idxprom29
  %call32 = call i1 @fly.sanitizer.conflicts(ptr nonnull %arrayidx30, i64 %mask, i64 %who, i1 %shared)
  br i1 %call32, label %if.then33, label %for.inc39

if.then33:                                        ; preds = %land.lhs.true27
  %who37 = getelementptr inbounds nuw i8, ptr %arrayidx30, i64 8
  %2 = load i64, ptr %who37, align 8
  br label %cleanup41

for.inc39:                                        ; preds = %for.body25, %land.lhs.true27
  %inc40 = add nuw nsw i32 %i21.0, 1
  br label %for.cond22

cleanup41:                                        ; preds = %for.cond22, %if.then33
  %retval.2 = phi i64 [ %2, %if.then33 ], [ %retval.1, %for.cond22 ]
  br i1 %cmp23, label %for.end43, label %cleanup60

for.end43:                                        ; preds = %cleanup41
  %3 = and i64 %kind, 6
  %brmerge.not = icmp eq i64 %3, 6
  br i1 %brmerge.not, label %if.then47, label %if.else

if.then47:                                        ; preds = %for.end43
  %atomics48 = getelementptr inbounds nuw i8, ptr %cell, i64 48
  call void @fly.sanitizer.remember(ptr nonnull %atomics48, i64 %mask, i64 %who, i64 %now)
  br label %cleanup60

if.else:                                          ; preds = %for.end43
  br i1 %tobool.not39, label %if.else52, label %if.then50

if.then50:                                        ; preds = %if.else
  call void @fly.sanitizer.replace(ptr %cell, i64 %mask, i64 %who, i64 %now)
  br label %cleanup60

if.else52:                                        ; preds = %if.else
  br i1 %tobool3.not40, label %if.then54, label %cleanup60

if.then54:                                        ; preds = %if.else52
  %reads55 = getelementptr inbounds nuw i8, ptr %cell, i64 16
  call void @fly.sanitizer.remember(ptr nonnull %reads55, i64 %mask, i64 %who, i64 %now)
  br label %cleanup60

cleanup60:                                        ; preds = %if.then47, %if.else52, %if.then54, %if.then50, %cleanup41, %cleanup, %if.then7
  %retval.0 = phi i64 [ %0, %if.then7 ], [ %retval.1, %cleanup ], [ %retval.2, %cleanup41 ], [ -1, %if.then50 ], [ -1, %if.then54 ], [ -1, %if.else52 ], [ -1, %if.then47 ]
  ret i64 %retval.0
}

define internal void @fly.sanitizer.synchronise(ptr %slot, i64 %who) {
entry:
  %call = call i64 @fly.sanitizer.time_of(ptr %slot)
  %0 = load i64, ptr @fly.sanitizer.launch_start, align 8
  %cmp = icmp ugt i64 %call, %0
  br i1 %cmp, label %land.lhs.true, label %if.end

land.lhs.true:                                    ; preds = %entry
  %who1 = getelementptr inbounds nuw i8, ptr %slot, i64 8
  %1 = load i64, ptr %who1, align 8
  %call2 = call i64 @fly.sanitizer.block_of(i64 %1)
  %call3 = call i64 @fly.sanitizer.block_of(i64 %who)
  %cmp4.not = icmp eq i64 %call2, %call3
  br i1 %cmp4.not, label %if.end, label %if.then

if.then:                                          ; preds = %land.lhs.true
  %2 = load i64, ptr @fly.sanitizer.synced, align 8
  %call5 = call i64 @fly.sanitizer.time_of(ptr %slot)
  %call6 = call i64 @fly.sanitizer.larger(i64 %2, i64 %call5)
  store i64 %call6, ptr @fly.sanitizer.synced, align 8
  br label %if.end

if.end:                                           ; preds = %if.then, %land.lhs.true, %entry
  ret void
}

define internal i1 @fly.sanitizer.conflicts(ptr %slot, i64 %mask, i64 %who, i1 %shared) {
entry:
  %call = call i64 @fly.sanitizer.time_of(ptr %slot)
  %call1 = call i64 @fly.sanitizer.bytes_of(ptr %slot)
  %and = and i64 %call1, %mask
  %tobool = icmp eq i64 %and, 0
  %0 = load i64, ptr @fly.sanitizer.launch_start, align 8
  %cmp = icmp ule i64 %call, %0
  %or.cond = select i1 %tobool, i1 true, i1 %cmp
  br i1 %or.cond, label %cleanup, label %lor.lhs.false2

lor.lhs.false2:                                   ; preds = %entry
  %who3 = getelementptr inbounds nuw i8, ptr %slot, i64 8
  %1 = load i64, ptr %who3, align 8
  %call4 = call i64 @fly.sanitizer.thread_of(i64 %1)
  %call5 = call i64 @fly.sanitizer.thread_of(i64 %who)
  %cmp6 = icmp eq i64 %call4, %call5
  br i1 %cmp6, label %cleanup, label %if.end

if.end:                                           ; preds = %lor.lhs.false2
  %2 = load i64, ptr %who3, align 8
  %call8 = call i64 @fly.sanitizer.block_of(i64 %2)
  %call9 = call i64 @fly.sanitizer.block_of(i64 %who)
  %cmp10.not = icmp eq i64 %call8, %call9
  br i1 %cmp10.not, label %if.end13, label %if.then11

if.then11:                                        ; preds = %if.end
  %3 = load i64, ptr @fly.sanitizer.synced, align 8
  %cmp12 = icmp ugt i64 %call, %3
  %lnot = xor i1 %shared, true
  %spec.select = select i1 %cmp12, i1 %lnot, i1 false
  br label %cleanup

if.end13:                                         ; preds = %if.end
  %4 = load i64, ptr %who3, align 8
  %call15 = call i64 @fly.sanitizer.thread_of(i64 %4)
  %5 = load i64, ptr @fly.sanitizer.wave_shift, align 8
  %shr = lshr i64 %call15, %5
  %call16 = call i64 @fly.sanitizer.thread_of(i64 %who)
  %6 = load i64, ptr @fly.sanitizer.wave_shift, align 8
  %shr17 = lshr i64 %call16, %6
  %cmp18 = icmp eq i64 %shr, %shr17
  %7 = load i64, ptr @fly.sanitizer.wave_epoch, align 8
  %8 = load i64, ptr @fly.sanitizer.epoch, align 8
  %cond = select i1 %cmp18, i64 %7, i64 %8
  %cmp21 = icmp ugt i64 %call, %cond
  br label %cleanup

cleanup:                                          ; preds = %entry, %lor.lhs.false2, %if.end13, %if.then11
  %retval.0 = phi i1 [ %cmp21, %if.end13 ], [ %spec.select, %if.then11 ], [ false, %lor.lhs.false2 ], [ false, %entry ]
  ret i1 %retval.0
}

define internal void @fly.sanitizer.remember(ptr %slots, i64 %mask, i64 %who, i64 %now) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %slots, i64 16
  %call = call i64 @fly.sanitizer.time_of(ptr nonnull %arrayidx)
  %0 = load i64, ptr @fly.sanitizer.launch_start, align 8
  %cmp = icmp ugt i64 %call, %0
  br i1 %cmp, label %land.rhs, label %land.end

land.rhs:                                         ; preds = %entry
  %who2 = getelementptr inbounds nuw i8, ptr %slots, i64 24
  %1 = load i64, ptr %who2, align 8
  %call3 = call i64 @fly.sanitizer.block_of(i64 %1)
  %call4 = call i64 @fly.sanitizer.block_of(i64 %who)
  %cmp5 = icmp ne i64 %call3, %call4
  br label %land.end

land.end:                                         ; preds = %land.rhs, %entry
  %2 = phi i1 [ false, %entry ], [ %cmp5, %land.rhs ]
  %who7 = getelementptr inbounds nuw i8, ptr %slots, i64 8
  %3 = load i64, ptr %who7, align 8
  %call8 = call i64 @fly.sanitizer.thread_of(i64 %3)
  %call9 = call i64 @fly.sanitizer.thread_of(i64 %who)
  %cmp10.not8 = icmp eq i64 %call8, %call9
  %brmerge = select i1 %cmp10.not8, i1 true, i1 %2
  br i1 %brmerge, label %if.end, label %if.then

if.then:                                          ; preds = %land.end
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(16) %arrayidx, ptr nonnull align 8 dereferenceable(16) %slots, i64 16, i1 false)
  br label %if.end

if.end:                                           ; preds = %land.end, %if.then
  call void @fly.sanitizer.replace(ptr %slots, i64 %mask, i64 %who, i64 %now)
  ret void
}

define internal void @fly.sanitizer.replace(ptr %slot, i64 %mask, i64 %who, i64 %now) {
entry:
  %who1 = getelementptr inbounds nuw i8, ptr %slot, i64 8
  %0 = load i64, ptr %who1, align 8
  %call = call i64 @fly.sanitizer.thread_of(i64 %0)
  %call2 = call i64 @fly.sanitizer.thread_of(i64 %who)
  %cmp = icmp eq i64 %call, %call2
  br i1 %cmp, label %land.rhs, label %cond.end

land.rhs:                                         ; preds = %entry
  %call3 = call i64 @fly.sanitizer.time_of(ptr %slot)
  %1 = load i64, ptr @fly.sanitizer.epoch, align 8
  %2 = load i64, ptr @fly.sanitizer.wave_epoch, align 8
  %call4 = call i64 @fly.sanitizer.larger(i64 %1, i64 %2)
  %cmp5 = icmp ugt i64 %call3, %call4
  br i1 %cmp5, label %cond.true, label %cond.end

cond.true:                                        ; preds = %land.rhs
  %call6 = call i64 @fly.sanitizer.bytes_of(ptr %slot)
  %3 = or i64 %call6, %mask
  br label %cond.end

cond.end:                                         ; preds = %land.rhs, %entry, %cond.true
  %cond = phi i64 [ %3, %cond.true ], [ %mask, %entry ], [ %mask, %land.rhs ]
  %shl = shl i64 %cond, 56
  %or7 = or i64 %shl, %now
  store i64 %or7, ptr %slot, align 8
  store i64 %who, ptr %who1, align 8
  ret void
}

define internal i64 @fly.sanitizer.time_of(ptr %slot) {
entry:
  %0 = load i64, ptr %slot, align 8
  %and = and i64 %0, 72057594037927935
  ret i64 %and
}

define internal i64 @fly.sanitizer.block_of(i64 %who) {
entry:
  %shr = lshr i64 %who, 32
  ret i64 %shr
}

define internal i64 @fly.sanitizer.bytes_of(ptr %slot) {
entry:
  %0 = load i64, ptr %slot, align 8
  %shr = lshr i64 %0, 56
  ret i64 %shr
}

define internal i64 @fly.sanitizer.thread_of(i64 %who) {
entry:
  %shr = lshr i64 %who, 20
  ret i64 %shr
}

declare i1 @fly_ranks_share(i64)

define internal i1 @fly.sanitizer.ranks_cell(ptr %cell, i8 %mask, ptr %actor, ptr %here, i64 %kind) {
entry:
  %and = and i64 %kind, 2
  %tobool = icmp eq i64 %and, 0
  %and1 = and i64 %kind, 4
  %tobool2.not = icmp eq i64 %and1, 0
  %and1.lobit = lshr exact i64 %and1, 2
  %storedv3 = trunc nuw nsw i64 %and1.lobit to i8
  %write_mask = getelementptr inbounds nuw i8, ptr %cell, i64 360
  %0 = load i8, ptr %write_mask, align 8
  %and570 = and i8 %0, %mask
  %tobool6.not = icmp eq i8 %and570, 0
  br i1 %tobool6.not, label %if.end27, label %land.lhs.true

land.lhs.true:                                    ; preds = %entry
  br i1 %tobool2.not, label %land.lhs.true11, label %land.lhs.true8

land.lhs.true8:                                   ; preds = %land.lhs.true
  %write_atomic = getelementptr inbounds nuw i8, ptr %cell, i64 371
  %1 = load i8, ptr %write_atomic, align 1
  %loadedv9 = trunc i8 %1 to i1
  br i1 %loadedv9, label %if.end27, label %land.lhs.true11

land.lhs.true11:                                  ; preds = %land.lhs.true8, %land.lhs.true
  %call = call i1 @fly.sanitizer.unseen(ptr %actor, ptr %here, ptr %cell)
  br i1 %call, label %if.then, label %if.end27

if.then:                                          ; preds = %land.lhs.true11
  %and1.lobit71 = lshr exact i64 %and1, 2
  %write_atomic15 = getelementptr inbounds nuw i8, ptr %cell, i64 371
  %2 = load i8, ptr %write_atomic15, align 1
  %3 = and i8 %2, 1
  %4 = zext nneg i8 %3 to i64
  %cmp.not = icmp eq i64 %and1.lobit71, %4
  br i1 %cmp.not, label %if.end, label %if.then19

if.then19:                                        ; preds = %if.then
  %cell.here = select i1 %tobool2.not, ptr %here, ptr %cell
  %call24 = call i1 @fly.sanitizer.tell(i32 10, ptr %here, ptr %cell, ptr %cell.here, i64 %kind)
  br label %cleanup116

if.end:                                           ; preds = %if.then
  %call26 = call i1 @fly.sanitizer.explain(ptr %actor, ptr %here, ptr %cell, i64 %kind, i1 false)
  br label %cleanup116

if.end27:                                         ; preds = %land.lhs.true11, %land.lhs.true8, %entry
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %if.end27
  %i.0 = phi i32 [ 0, %if.end27 ], [ %inc, %for.inc ]
  %cmp30 = icmp samesign ugt i32 %i.0, 9
  %spec.select.not = select i1 %tobool, i1 true, i1 %cmp30
  br i1 %spec.select.not, label %cleanup, label %for.body

for.body:                                         ; preds = %for.cond
  %read_masks = getelementptr inbounds nuw i8, ptr %cell, i64 361
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw i8, ptr %read_masks, i64 %idxprom
  %5 = load i8, ptr %arrayidx, align 1
  %and3472 = and i8 %5, %mask
  %tobool35.not = icmp eq i8 %and3472, 0
  br i1 %tobool35.not, label %for.inc, label %land.lhs.true36

land.lhs.true36:                                  ; preds = %for.body
  %reads = getelementptr inbounds nuw i8, ptr %cell, i64 32
  %arrayidx38 = getelementptr inbounds nuw %struct.Event, ptr %reads, i64 %idxprom
  %call39 = call i1 @fly.sanitizer.unseen(ptr %actor, ptr %here, ptr nonnull %arrayidx38)
  br i1 %call39, label %if.then41, label %for.inc

if.then41:                                        ; preds = %land.lhs.true36
  br i1 %tobool2.not, label %cond.false50, label %cond.true47

cond.true47:                                      ; preds = %if.then41
  %call48 = call i1 @fly.sanitizer.tell(i32 10, ptr %here, ptr nonnull %arrayidx38, ptr nonnull %arrayidx38, i64 %kind)
  br label %cleanup

cond.false50:                                     ; preds = %if.then41
  %call51 = call i1 @fly.sanitizer.explain(ptr %actor, ptr %here, ptr nonnull %arrayidx38, i64 %kind, i1 true)
  br label %cleanup

for.inc:                                          ; preds = %for.body, %land.lhs.true36
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond

cleanup:                                          ; preds = %cond.true47, %cond.false50, %for.cond
  %retval.1 = phi i1 [ undef, %for.cond ], [ %call48, %cond.true47 ], [ %call51, %cond.false50 ]
  br i1 %spec.select.not, label %for.end, label %cleanup116

for.end:                                          ; preds = %cleanup
  %6 = and i64 %kind, 5
  %or.cond = icmp eq i64 %6, 5
  br i1 %or.cond, label %land.lhs.true62, label %if.end66

land.lhs.true62:                                  ; preds = %for.end
  %call63 = call i1 @fly.sanitizer.look_at(ptr %cell, ptr %actor, ptr %here, i64 %kind)
  br i1 %call63, label %cleanup116, label %if.end66

if.end66:                                         ; preds = %land.lhs.true62, %for.end
  br i1 %tobool, label %if.else79, label %if.then68

if.then68:                                        ; preds = %if.end66
  br i1 %tobool2.not, label %if.else, label %if.then70

if.then70:                                        ; preds = %if.then68
  call void @fly.sanitizer.raise_flag(ptr %cell, ptr %actor, ptr %here, i64 %kind)
  br label %if.end72

if.else:                                          ; preds = %if.then68
  %sync = getelementptr inbounds nuw i8, ptr %cell, i64 352
  %7 = load ptr, ptr %sync, align 8
  call void @free(ptr %7)
  store ptr null, ptr %sync, align 8
  br label %if.end72

if.end72:                                         ; preds = %if.else, %if.then70
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(32) %cell, ptr nonnull align 8 dereferenceable(32) %here, i64 32, i1 false)
  store i8 %mask, ptr %write_mask, align 8
  %write_atomic76 = getelementptr inbounds nuw i8, ptr %cell, i64 371
  store i8 %storedv3, ptr %write_atomic76, align 1
  %conv78 = trunc i64 %kind to i16
  %write_kind = getelementptr inbounds nuw i8, ptr %cell, i64 372
  store i16 %conv78, ptr %write_kind, align 4
  br label %cleanup116

if.else79:                                        ; preds = %if.end66
  br i1 %tobool2.not, label %for.cond83, label %cleanup116

for.cond83:                                       ; preds = %if.else79, %for.inc110
  %i82.0 = phi i32 [ %inc111, %for.inc110 ], [ 0, %if.else79 ]
  %cmp84 = icmp samesign ult i32 %i82.0, 10
  br i1 %cmp84, label %for.body87, label %cleanup116

for.body87:                                       ; preds = %for.cond83
  %reads88 = getelementptr inbounds nuw i8, ptr %cell, i64 32
  %idxprom89 = zext nneg i32 %i82.0 to i64
  %arrayidx90 = getelementptr inbounds nuw %struct.Event, ptr %reads88, i64 %idxprom89
  %clock = getelementptr inbounds nuw i8, ptr %arrayidx90, i64 12
  %8 = load i32, ptr %clock, align 4
  %tobool91.not = icmp eq i32 %8, 0
  br i1 %tobool91.not, label %if.then99, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %for.body87
  %actor95 = getelementptr inbounds nuw i8, ptr %arrayidx90, i64 8
  %9 = load i32, ptr %actor95, align 8
  %actor96 = getelementptr inbounds nuw i8, ptr %here, i64 8
  %10 = load i32, ptr %actor96, align 8
  %cmp97 = icmp eq i32 %9, %10
  br i1 %cmp97, label %if.then99, label %for.inc110

if.then99:                                        ; preds = %lor.lhs.false, %for.body87
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(32) %arrayidx90, ptr nonnull align 8 dereferenceable(32) %here, i64 32, i1 false)
  %read_masks104 = getelementptr inbounds nuw i8, ptr %cell, i64 361
  %arrayidx106 = getelementptr inbounds nuw i8, ptr %read_masks104, i64 %idxprom89
  %11 = load i8, ptr %arrayidx106, align 1
  %or73 = or i8 %11, %mask
  store i8 %or73, ptr %arrayidx106, align 1
  br label %cleanup116

for.inc110:                                       ; preds = %lor.lhs.false
  %inc111 = add nuw nsw i32 %i82.0, 1
  br label %for.cond83

cleanup116:                                       ; preds = %if.end72, %for.cond83, %if.then99, %if.else79, %land.lhs.true62, %cleanup, %if.end, %if.then19
  %retval.0 = phi i1 [ %retval.1, %cleanup ], [ %call26, %if.end ], [ true, %land.lhs.true62 ], [ %call24, %if.then19 ], [ false, %if.else79 ], [ false, %if.then99 ], [ false, %for.cond83 ], [ false, %if.end72 ]
  ret i1 %retval.0
}

define internal i1 @fly.sanitizer.unseen(ptr %actor, ptr %here, ptr %event) {
entry:
  %clock = getelementptr inbounds nuw i8, ptr %event, i64 12
  %0 = load i32, ptr %clock, align 4
  %tobool.not = icmp eq i32 %0, 0
  br i1 %tobool.not, label %return, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %entry
  %actor1 = getelementptr inbounds nuw i8, ptr %event, i64 8
  %1 = load i32, ptr %actor1, align 8
  %actor2 = getelementptr inbounds nuw i8, ptr %here, i64 8
  %2 = load i32, ptr %actor2, align 8
  %cmp = icmp eq i32 %1, %2
  br i1 %cmp, label %return, label %lor.lhs.false3

lor.lhs.false3:                                   ; preds = %lor.lhs.false
  %call = call i1 @fly.sanitizer.covers(ptr %actor, ptr %event)
  br i1 %call, label %return, label %if.end

if.end:                                           ; preds = %lor.lhs.false3
  %taken4 = getelementptr inbounds nuw i8, ptr %actor, i64 5656
  %thread = getelementptr inbounds nuw i8, ptr %here, i64 24
  %3 = load i16, ptr %thread, align 8
  %conv = zext i16 %3 to i32
  %call5 = call ptr @fly.sanitizer.own_of(ptr nonnull %taken4, i32 %conv, i1 false)
  %tobool6.not = icmp eq ptr %call5, null
  br i1 %tobool6.not, label %return, label %lor.rhs

lor.rhs:                                          ; preds = %if.end
  %call8 = call i1 @fly.sanitizer.covers(ptr nonnull %call5, ptr %event)
  %lnot = xor i1 %call8, true
  br label %return

return:                                           ; preds = %if.end, %lor.rhs, %entry, %lor.lhs.false, %lor.lhs.false3
  %retval.0 = phi i1 [ false, %entry ], [ false, %lor.lhs.false3 ], [ false, %lor.lhs.false ], [ true, %if.end ], [ %lnot, %lor.rhs ]
  ret i1 %retval.0
}

define internal i1 @fly.sanitizer.tell(i32 %fault, ptr %here, ptr %other, ptr %flag, i64 %kind) {
entry:
  %conv = zext i32 %fault to i64
  store i64 %conv, ptr @fly.sanitizer.rank_report, align 16
  store i64 %kind, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 8), align 8
  call void @fly.sanitizer.put_event(ptr nonnull getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 16), ptr %here)
  call void @fly.sanitizer.put_event(ptr nonnull getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 56), ptr %other)
  call void @fly.sanitizer.put_event(ptr nonnull getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 96), ptr %flag)
  store i8 1, ptr @fly.sanitizer.told, align 1
  ret i1 true
}

define internal i1 @fly.sanitizer.explain(ptr %actor, ptr %here, ptr %other, i64 %kind, i1 %read_before) {
entry:
  %seen1 = getelementptr inbounds nuw i8, ptr %actor, i64 5720
  %0 = load ptr, ptr %seen1, align 8
  %actor2 = getelementptr inbounds nuw i8, ptr %other, i64 8
  %1 = load i32, ptr %actor2, align 8
  %idxprom = zext i32 %1 to i64
  %arrayidx = getelementptr inbounds nuw %struct.Seen, ptr %0, i64 %idxprom
  br i1 %read_before, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %call = call i1 @fly.sanitizer.tell(i32 9, ptr %here, ptr %other, ptr %here, i64 %kind)
  br label %cleanup46

if.end:                                           ; preds = %entry
  %clock = getelementptr inbounds nuw i8, ptr %arrayidx, i64 12
  %2 = load i32, ptr %clock, align 4
  %tobool.not = icmp eq i32 %2, 0
  br i1 %tobool.not, label %if.then3, label %if.end5

if.then3:                                         ; preds = %if.end
  %call4 = call i1 @fly.sanitizer.tell(i32 8, ptr %here, ptr %other, ptr %here, i64 %kind)
  br label %cleanup46

if.end5:                                          ; preds = %if.end
  %released = getelementptr inbounds nuw i8, ptr %arrayidx, i64 64
  %3 = load i8, ptr %released, align 8
  %loadedv6 = trunc i8 %3 to i1
  br i1 %loadedv6, label %if.end10, label %if.then7

if.then7:                                         ; preds = %if.end5
  %call9 = call i1 @fly.sanitizer.tell(i32 3, ptr %here, ptr %other, ptr %arrayidx, i64 %kind)
  br label %cleanup46

if.end10:                                         ; preds = %if.end5
  %acquired = getelementptr inbounds nuw i8, ptr %arrayidx, i64 65
  %4 = load i8, ptr %acquired, align 1
  %loadedv11 = trunc i8 %4 to i1
  br i1 %loadedv11, label %if.end14, label %if.then12

if.then12:                                        ; preds = %if.end10
  %look = getelementptr inbounds nuw i8, ptr %arrayidx, i64 32
  %call13 = call i1 @fly.sanitizer.tell(i32 4, ptr %here, ptr %other, ptr nonnull %look, i64 %kind)
  br label %cleanup46

if.end14:                                         ; preds = %if.end10
  %thread = getelementptr inbounds nuw i8, ptr %other, i64 24
  %5 = load i16, ptr %thread, align 8
  %thread16 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 24
  %6 = load i16, ptr %thread16, align 8
  %cmp.not = icmp eq i16 %5, %6
  br i1 %cmp.not, label %land.lhs.true, label %land.rhs

land.rhs:                                         ; preds = %if.end14
  %stretch = getelementptr inbounds nuw i8, ptr %other, i64 20
  %7 = load i32, ptr %stretch, align 4
  %stretch20 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 20
  %8 = load i32, ptr %stretch20, align 4
  %cmp21 = icmp eq i32 %7, %8
  br i1 %cmp21, label %if.end32, label %land.lhs.true

land.lhs.true:                                    ; preds = %if.end14, %land.rhs
  %9 = load i64, ptr %other, align 8
  %10 = load i64, ptr %arrayidx, align 8
  %cmp27 = icmp ugt i64 %9, %10
  br i1 %cmp27, label %if.then29, label %if.end32

if.then29:                                        ; preds = %land.lhs.true
  %call31 = call i1 @fly.sanitizer.tell(i32 5, ptr %here, ptr nonnull %other, ptr nonnull %arrayidx, i64 %kind)
  br label %cleanup46

if.end32:                                         ; preds = %land.lhs.true, %land.rhs
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %if.end32
  %i.0 = phi i32 [ 0, %if.end32 ], [ %inc, %for.inc ]
  %count = getelementptr inbounds nuw i8, ptr %actor, i64 5664
  %11 = load i32, ptr %count, align 8
  %cmp33.not = icmp ult i32 %i.0, %11
  br i1 %cmp33.not, label %for.body, label %cleanup

for.body:                                         ; preds = %for.cond
  %taken = getelementptr inbounds nuw i8, ptr %actor, i64 5656
  %12 = load ptr, ptr %taken, align 8
  %idxprom36 = zext i32 %i.0 to i64
  %arrayidx37 = getelementptr inbounds nuw ptr, ptr %12, i64 %idxprom36
  %13 = load ptr, ptr %arrayidx37, align 8
  %call38 = call i1 @fly.sanitizer.covers(ptr %13, ptr %other)
  br i1 %call38, label %if.then39, label %for.inc

if.then39:                                        ; preds = %for.body
  %look40 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 32
  %call41 = call i1 @fly.sanitizer.tell(i32 7, ptr %here, ptr %other, ptr nonnull %look40, i64 %kind)
  br label %cleanup

for.inc:                                          ; preds = %for.body
  %inc = add i32 %i.0, 1
  br label %for.cond

cleanup:                                          ; preds = %for.cond, %if.then39
  %retval.2 = phi i1 [ %call41, %if.then39 ], [ undef, %for.cond ]
  br i1 %cmp33.not, label %cleanup46, label %for.end

for.end:                                          ; preds = %cleanup
  %call44 = call i1 @fly.sanitizer.tell(i32 6, ptr %here, ptr %other, ptr %arrayidx, i64 %kind)
  br label %cleanup46

cleanup46:                                        ; preds = %if.then29, %for.end, %cleanup, %if.then12, %if.then7, %if.then3, %if.then
  %retval.0 = phi i1 [ %call, %if.then ], [ %call4, %if.then3 ], [ %call13, %if.then12 ], [ %call9, %if.then7 ], [ %retval.2, %cleanup ], [ %call44, %for.end ], [ %call31, %if.then29 ]
  ret i1 %retval.0
}

define internal i1 @fly.sanitizer.look_at(ptr %cell, ptr %actor, ptr %here, i64 %kind) {
entry:
  %.compoundliteral.sroa.0 = alloca { %struct.Event, %struct.Event }, align 8
  %.compoundliteral.sroa.5 = alloca [6 x i8], align 2
  %sync1 = getelementptr inbounds nuw i8, ptr %cell, i64 352
  %0 = load ptr, ptr %sync1, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %cleanup52, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %entry
  %store = getelementptr inbounds nuw i8, ptr %0, i64 5648
  %actor2 = getelementptr inbounds nuw i8, ptr %0, i64 5656
  %1 = load i32, ptr %actor2, align 8
  %actor3 = getelementptr inbounds nuw i8, ptr %here, i64 8
  %2 = load i32, ptr %actor3, align 8
  %cmp = icmp eq i32 %1, %2
  br i1 %cmp, label %cleanup52, label %if.end

if.end:                                           ; preds = %lor.lhs.false
  %div31 = lshr i32 %1, 6
  %div732 = lshr i32 %2, 6
  %cmp8.not33 = icmp eq i32 %div31, %div732
  br i1 %cmp8.not33, label %if.end22, label %land.lhs.true

land.lhs.true:                                    ; preds = %if.end
  %write_kind = getelementptr inbounds nuw i8, ptr %cell, i64 372
  %3 = load i16, ptr %write_kind, align 4
  %4 = and i16 %3, 512
  %tobool9.not = icmp eq i16 %4, 0
  br i1 %tobool9.not, label %if.then10, label %if.end13

if.then10:                                        ; preds = %land.lhs.true
  %call = call i1 @fly.sanitizer.tell(i32 1, ptr %here, ptr nonnull %store, ptr nonnull %store, i64 %kind)
  br label %cleanup52

if.end13:                                         ; preds = %land.lhs.true
  %and17 = and i64 %kind, 512
  %tobool18.not = icmp eq i64 %and17, 0
  br i1 %tobool18.not, label %if.then19, label %if.end22

if.then19:                                        ; preds = %if.end13
  %call21 = call i1 @fly.sanitizer.tell(i32 2, ptr %here, ptr nonnull %store, ptr %here, i64 %kind)
  br label %cleanup52

if.end22:                                         ; preds = %if.end, %if.end13
  %and23 = and i64 %kind, 768
  %tobool24 = icmp ne i64 %and23, 0
  %seen25 = getelementptr inbounds nuw i8, ptr %actor, i64 5720
  %5 = load ptr, ptr %seen25, align 8
  %6 = load i32, ptr %actor2, align 8
  %idxprom = zext i32 %6 to i64
  %arrayidx = getelementptr inbounds nuw %struct.Seen, ptr %5, i64 %idxprom
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(32) %.compoundliteral.sroa.0, ptr nonnull align 16 dereferenceable(32) %store, i64 32, i1 false)
  %.compoundliteral.sroa.0.32.look.sroa_idx = getelementptr inbounds nuw i8, ptr %.compoundliteral.sroa.0, i64 32
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(32) %.compoundliteral.sroa.0.32.look.sroa_idx, ptr nonnull align 8 dereferenceable(32) %here, i64 32, i1 false)
  %released30 = getelementptr inbounds nuw i8, ptr %0, i64 5680
  %7 = load i8, ptr %released30, align 16
  %storedv31 = and i8 %7, 1
  %and34 = and i64 %kind, 64
  %tobool35 = icmp ne i64 %and34, 0
  %8 = and i1 %tobool24, %tobool35
  %storedv36 = zext i1 %8 to i8
  call void @llvm.memset.p0.i64(ptr nonnull align 2 dereferenceable(6) %.compoundliteral.sroa.5, i8 0, i64 6, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(64) %arrayidx, ptr nonnull align 8 dereferenceable(64) %.compoundliteral.sroa.0, i64 64, i1 false)
  %.compoundliteral.sroa.3.0..sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 64
  store i8 %storedv31, ptr %.compoundliteral.sroa.3.0..sroa_idx, align 8
  %.compoundliteral.sroa.4.0..sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 65
  store i8 %storedv36, ptr %.compoundliteral.sroa.4.0..sroa_idx, align 1
  %.compoundliteral.sroa.5.0..sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 66
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 2 dereferenceable(6) %.compoundliteral.sroa.5.0..sroa_idx, ptr nonnull align 2 dereferenceable(6) %.compoundliteral.sroa.5, i64 6, i1 false)
  br i1 %8, label %if.then39, label %if.else

if.then39:                                        ; preds = %if.end22
  %taken = getelementptr inbounds nuw i8, ptr %actor, i64 5656
  %thread = getelementptr inbounds nuw i8, ptr %here, i64 24
  %9 = load i16, ptr %thread, align 8
  %conv40 = zext i16 %9 to i32
  %call41 = call ptr @fly.sanitizer.own_of(ptr nonnull %taken, i32 %conv40, i1 true)
  call void @fly.sanitizer.join_view(ptr %call41, ptr nonnull %0)
  br label %cleanup52

if.else:                                          ; preds = %if.end22
  %cmp43 = icmp eq i32 %div31, %div732
  %cond.v = select i1 %cmp43, i64 5688, i64 5704
  %cond = getelementptr inbounds nuw i8, ptr %actor, i64 %cond.v
  %thread45 = getelementptr inbounds nuw i8, ptr %here, i64 24
  %10 = load i16, ptr %thread45, align 8
  %conv46 = zext i16 %10 to i32
  %call47 = call ptr @fly.sanitizer.own_of(ptr nonnull %cond, i32 %conv46, i1 true)
  call void @fly.sanitizer.join_view(ptr %call47, ptr nonnull %0)
  br label %cleanup52

cleanup52:                                        ; preds = %if.then10, %if.then19, %if.else, %if.then39, %entry, %lor.lhs.false
  %retval.0 = phi i1 [ false, %entry ], [ false, %lor.lhs.false ], [ %call, %if.then10 ], [ %call21, %if.then19 ], [ false, %if.else ], [ false, %if.then39 ]
  ret i1 %retval.0
}

define internal void @fly.sanitizer.raise_flag(ptr %cell, ptr %actor, ptr %here, i64 %kind) {
entry:
  %sync = getelementptr inbounds nuw i8, ptr %cell, i64 352
  %0 = load ptr, ptr %sync, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %call = call ptr @calloc(i64 1, i64 5696)
  store ptr %call, ptr %sync, align 8
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  %shown2 = getelementptr inbounds nuw i8, ptr %actor, i64 5672
  %thread = getelementptr inbounds nuw i8, ptr %here, i64 24
  %1 = load i16, ptr %thread, align 8
  %conv = zext i16 %1 to i32
  %call3 = call ptr @fly.sanitizer.own_of(ptr nonnull %shown2, i32 %conv, i1 false)
  %and = and i64 %kind, 1
  %tobool4.not = icmp eq i64 %and, 0
  br i1 %tobool4.not, label %if.then5, label %if.end8

if.then5:                                         ; preds = %if.end
  %2 = load ptr, ptr %sync, align 8
  call void @llvm.memset.p0.i64(ptr nonnull align 16 dereferenceable(5648) %2, i8 0, i64 5648, i1 false)
  %3 = load ptr, ptr %sync, align 8
  %released = getelementptr inbounds nuw i8, ptr %3, i64 5680
  store i8 0, ptr %released, align 16
  br label %if.end8

if.end8:                                          ; preds = %if.then5, %if.end
  %4 = load ptr, ptr %sync, align 8
  %store = getelementptr inbounds nuw i8, ptr %4, i64 5648
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 16 dereferenceable(32) %store, ptr nonnull align 8 dereferenceable(32) %here, i64 32, i1 false)
  %and10 = and i64 %kind, 128
  %tobool11.not = icmp eq i64 %and10, 0
  br i1 %tobool11.not, label %if.else, label %if.then12

if.then12:                                        ; preds = %if.end8
  %5 = load ptr, ptr %sync, align 8
  %released14 = getelementptr inbounds nuw i8, ptr %5, i64 5680
  store i8 1, ptr %released14, align 16
  %6 = load ptr, ptr %sync, align 8
  %actor17 = getelementptr inbounds nuw i8, ptr %here, i64 8
  %7 = load i32, ptr %actor17, align 8
  %8 = load i16, ptr %thread, align 8
  %conv19 = zext i16 %8 to i32
  call void @fly.sanitizer.show(ptr %6, i32 %7, i32 %conv19)
  br label %if.end28

if.else:                                          ; preds = %if.end8
  %tobool20.not = icmp eq ptr %call3, null
  br i1 %tobool20.not, label %if.end28, label %if.then21

if.then21:                                        ; preds = %if.else
  %9 = load ptr, ptr %sync, align 8
  %released23 = getelementptr inbounds nuw i8, ptr %9, i64 5680
  store i8 1, ptr %released23, align 16
  %10 = load ptr, ptr %sync, align 8
  call void @fly.sanitizer.join_view(ptr %10, ptr nonnull %call3)
  br label %if.end28

if.end28:                                         ; preds = %if.else, %if.then21, %if.then12
  ret void
}

define internal i1 @fly.sanitizer.covers(ptr %view, ptr %event) {
entry:
  %actor = getelementptr inbounds nuw i8, ptr %event, i64 8
  %0 = load i32, ptr %actor, align 8
  %idxprom = zext i32 %0 to i64
  %arrayidx = getelementptr inbounds nuw i32, ptr %view, i64 %idxprom
  %1 = load i32, ptr %arrayidx, align 4
  %clock = getelementptr inbounds nuw i8, ptr %event, i64 12
  %2 = load i32, ptr %clock, align 4
  %cmp.not = icmp ult i32 %1, %2
  br i1 %cmp.not, label %for.cond, label %return

for.cond:                                         ; preds = %entry, %for.inc
  %i.0 = phi i32 [ %inc, %for.inc ], [ 0, %entry ]
  %retval.1 = phi i1 [ %retval.3, %for.inc ], [ undef, %entry ]
  %tail_count = getelementptr inbounds nuw i8, ptr %view, i64 5632
  %3 = load i32, ptr %tail_count, align 16
  %cmp1 = icmp ult i32 %i.0, %3
  br i1 %cmp1, label %for.body, label %cleanup17

for.body:                                         ; preds = %for.cond
  %tails = getelementptr inbounds nuw i8, ptr %view, i64 4096
  %idxprom2 = zext i32 %i.0 to i64
  %arrayidx3 = getelementptr inbounds nuw %struct.Tail, ptr %tails, i64 %idxprom2
  %4 = load i32, ptr %arrayidx3, align 4
  %5 = load i32, ptr %actor, align 8
  %cmp6 = icmp eq i32 %4, %5
  br i1 %cmp6, label %land.lhs.true, label %if.end16

land.lhs.true:                                    ; preds = %for.body
  %thread = getelementptr inbounds nuw i8, ptr %arrayidx3, i64 4
  %6 = load i32, ptr %thread, align 4
  %thread7 = getelementptr inbounds nuw i8, ptr %event, i64 24
  %7 = load i16, ptr %thread7, align 8
  %conv = zext i16 %7 to i32
  %cmp8 = icmp eq i32 %6, %conv
  br i1 %cmp8, label %land.lhs.true10, label %if.end16

land.lhs.true10:                                  ; preds = %land.lhs.true
  %clock11 = getelementptr inbounds nuw i8, ptr %arrayidx3, i64 8
  %8 = load i32, ptr %clock11, align 4
  %9 = load i32, ptr %clock, align 4
  %cmp13.not = icmp ult i32 %8, %9
  br i1 %cmp13.not, label %if.end16, label %cleanup

if.end16:                                         ; preds = %land.lhs.true10, %land.lhs.true, %for.body
  br label %cleanup

cleanup:                                          ; preds = %land.lhs.true10, %if.end16
  %cond = phi i1 [ true, %if.end16 ], [ false, %land.lhs.true10 ]
  %cleanup.dest.slot.1 = phi i32 [ 0, %if.end16 ], [ 1, %land.lhs.true10 ]
  %retval.3 = phi i1 [ %retval.1, %if.end16 ], [ true, %land.lhs.true10 ]
  br i1 %cond, label %for.inc, label %cleanup17

for.inc:                                          ; preds = %cleanup
  %inc = add i32 %i.0, 1
  br label %for.cond

cleanup17:                                        ; preds = %for.cond, %cleanup
  %cleanup.dest.slot.0 = phi i32 [ %cleanup.dest.slot.1, %cleanup ], [ 2, %for.cond ]
  %retval.2 = phi i1 [ %retval.3, %cleanup ], [ %retval.1, %for.cond ]
  switch i32 %cleanup.dest.slot.0, label %unreachable [
    i32 2, label %for.end
    i32 1, label %return
  ]

for.end:                                          ; preds = %cleanup17
  br label %return

return:                                           ; preds = %entry, %for.end, %cleanup17
  %retval.0 = phi i1 [ %retval.2, %cleanup17 ], [ false, %for.end ], [ true, %entry ]
  ret i1 %retval.0

unreachable:                                      ; preds = %cleanup17
  unreachable
}


