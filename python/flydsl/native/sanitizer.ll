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
@fly.sanitizer.told = internal global i1 false, align 1
@fly.sanitizer.accesses = internal global i64 0, align 8

define void @fly_sanitizer_begin(i64 %checks, ptr %arrays, i64 %array_count, ptr %memory, i64 %memory_count, ptr %words) #0 {
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

define void @fly_sanitizer_root(i64 %index, ptr %pointer, i64 %row) #1 {
entry:
  %0 = ptrtoint ptr %pointer to i64
  %1 = load i64, ptr @fly.sanitizer.range_count, align 8
  %cmp9 = icmp slt i64 %row, 0
  %cmp110 = icmp sgt i64 %1, 0
  %2 = select i1 %cmp9, i1 %cmp110, i1 false
  br i1 %2, label %for.body.lr.ph, label %for.cond.cleanup

for.body.lr.ph:                                   ; preds = %entry
  %3 = load ptr, ptr @fly.sanitizer.ranges, align 8
  br label %for.body

for.cond.cleanup:                                 ; preds = %for.inc, %entry
  %row.addr.0.lcssa = phi i64 [ %row, %entry ], [ %row.addr.1, %for.inc ]
  %arrayidx5 = getelementptr inbounds %struct.Interval, ptr @fly.sanitizer.roots, i64 %index
  %cmp6 = icmp sgt i64 %row.addr.0.lcssa, -1
  %cmp8 = icmp slt i64 %row.addr.0.lcssa, %1
  %or.cond = select i1 %cmp6, i1 %cmp8, i1 false
  br i1 %or.cond, label %cond.true, label %cond.false

for.body:                                         ; preds = %for.body.lr.ph, %for.inc
  %row.addr.012 = phi i64 [ %row, %for.body.lr.ph ], [ %row.addr.1, %for.inc ]
  %i.011 = phi i64 [ 0, %for.body.lr.ph ], [ %inc, %for.inc ]
  %arrayidx = getelementptr inbounds nuw %struct.Interval, ptr %3, i64 %i.011
  %4 = load i64, ptr %arrayidx, align 8
  %cmp2.not = icmp ugt i64 %4, %0
  br i1 %cmp2.not, label %for.inc, label %land.lhs.true

land.lhs.true:                                    ; preds = %for.body
  %end = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %5 = load i64, ptr %end, align 8
  %cmp4 = icmp ugt i64 %5, %0
  %spec.select = select i1 %cmp4, i64 %i.011, i64 %row.addr.012
  br label %for.inc

for.inc:                                          ; preds = %land.lhs.true, %for.body
  %row.addr.1 = phi i64 [ %row.addr.012, %for.body ], [ %spec.select, %land.lhs.true ]
  %inc = add nuw nsw i64 %i.011, 1
  %cmp = icmp slt i64 %row.addr.1, 0
  %cmp1 = icmp slt i64 %inc, %1
  %6 = select i1 %cmp, i1 %cmp1, i1 false
  br i1 %6, label %for.body, label %for.cond.cleanup

cond.true:                                        ; preds = %for.cond.cleanup
  %7 = load ptr, ptr @fly.sanitizer.ranges, align 8
  %arrayidx9 = getelementptr inbounds nuw %struct.Interval, ptr %7, i64 %row.addr.0.lcssa
  tail call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(24) %arrayidx5, ptr nonnull align 8 dereferenceable(24) %arrayidx9, i64 24, i1 false)
  br label %cond.end

cond.false:                                       ; preds = %for.cond.cleanup
  store i64 0, ptr %arrayidx5, align 8
  %.compoundliteral.sroa.2.0.arrayidx5.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx5, i64 8
  tail call void @llvm.memset.p0.i64(ptr nonnull align 8 dereferenceable(16) %.compoundliteral.sroa.2.0.arrayidx5.sroa_idx, i8 -1, i64 16, i1 false)
  br label %cond.end

cond.end:                                         ; preds = %cond.false, %cond.true
  ret void
}

define nonnull ptr @fly_sanitizer_roots() #2 {
entry:
  ret ptr @fly.sanitizer.roots
}

define void @fly_sanitizer_here(i64 %number) #0 {
entry:
  store i64 %number, ptr @fly.sanitizer.block, align 8
  ret void
}

define void @fly_sanitizer_wave() #3 {
entry:
  %0 = load i64, ptr @fly.sanitizer.time, align 8
  %inc.i = add i64 %0, 1
  store i64 %inc.i, ptr @fly.sanitizer.time, align 8
  store i64 %inc.i, ptr @fly.sanitizer.wave_epoch, align 8
  ret void
}

define void @fly_sanitizer_ranks_open() {
entry:
  tail call void @fly_ranks_hooks(ptr nonnull @fly.sanitizer.hooks)
  ret void
}

declare void @fly_ranks_hooks(ptr) 

define nonnull ptr @fly_sanitizer_ranks_report() #2 {
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
  br i1 %tobool.not, label %cleanup, label %cond.true

cond.true:                                        ; preds = %entry
  %call.i = call i1 @fly_ranks_here(ptr nonnull %who)
  br i1 %call.i, label %lor.lhs.false.i, label %cleanup

lor.lhs.false.i:                                  ; preds = %cond.true
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %who, i64 8
  %1 = load i64, ptr %arrayidx.i, align 8
  %cmp.i = icmp sgt i64 %1, 63
  br i1 %cmp.i, label %cleanup, label %cond.end

cond.end:                                         ; preds = %lor.lhs.false.i
  %2 = load i64, ptr %who, align 16
  %3 = call i64 @llvm.smax.i64(i64 %2, i64 0)
  %spec.select.i = shl i64 %3, 6
  %add.i = add nsw i64 %spec.select.i, %1
  %cmp = icmp slt i64 %add.i, 0
  %and1 = and i64 %kind, 768
  %tobool2.not = icmp eq i64 %and1, 0
  %or.cond32 = select i1 %cmp, i1 true, i1 %tobool2.not
  br i1 %or.cond32, label %cleanup, label %if.end

if.end:                                           ; preds = %cond.end
  %conv = trunc i64 %add.i to i32
  %idxprom.i = and i64 %add.i, 4294967295
  %arrayidx.i33 = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.actors, i64 %idxprom.i
  %4 = load ptr, ptr %arrayidx.i33, align 8
  %tobool.not.i = icmp eq ptr %4, null
  br i1 %tobool.not.i, label %if.then.i, label %actor_at.exit

if.then.i:                                        ; preds = %if.end
  %call.i35 = call dereferenceable_or_null(5728) ptr @calloc(i64 1, i64 5728)
  store ptr %call.i35, ptr %arrayidx.i33, align 8
  %call3.i = call dereferenceable_or_null(73728) ptr @calloc(i64 1024, i64 72)
  %seen.i = getelementptr inbounds nuw i8, ptr %call.i35, i64 5720
  store ptr %call3.i, ptr %seen.i, align 8
  %div9.i = lshr i64 %add.i, 6
  %idxprom.i.i = and i64 %div9.i, 67108863
  %arrayidx.i.i = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.rank_views, i64 %idxprom.i.i
  %5 = load ptr, ptr %arrayidx.i.i, align 8
  %tobool.not.i.i = icmp eq ptr %5, null
  br i1 %tobool.not.i.i, label %if.then.i.i, label %rank_view.exit.i

if.then.i.i:                                      ; preds = %if.then.i
  %call.i.i = call dereferenceable_or_null(5648) ptr @calloc(i64 1, i64 5648)
  store ptr %call.i.i, ptr %arrayidx.i.i, align 8
  br label %rank_view.exit.i

rank_view.exit.i:                                 ; preds = %if.then.i.i, %if.then.i
  %6 = phi ptr [ %call.i.i, %if.then.i.i ], [ %5, %if.then.i ]
  call fastcc void @fly.sanitizer.join_view(ptr nonnull %call.i35, ptr %6)
  %arrayidx7.i = getelementptr inbounds nuw i32, ptr %call.i35, i64 %idxprom.i
  %7 = load i32, ptr %arrayidx7.i, align 4
  %add.i36 = add i32 %7, 1
  %barrier.i = getelementptr inbounds nuw i8, ptr %call.i35, i64 5652
  store i32 %add.i36, ptr %barrier.i, align 4
  %clock.i = getelementptr inbounds nuw i8, ptr %call.i35, i64 5648
  store i32 %add.i36, ptr %clock.i, align 16
  br label %actor_at.exit

actor_at.exit:                                    ; preds = %if.end, %rank_view.exit.i
  %8 = phi ptr [ %call.i35, %rank_view.exit.i ], [ %4, %if.end ]
  %conv5 = trunc i64 %thread to i32
  %count.i = getelementptr inbounds nuw i8, ptr %8, i64 5696
  %9 = load i32, ptr %count.i, align 8
  %cmp27.not.i = icmp eq i32 %9, 0
  br i1 %cmp27.not.i, label %own_of.exit, label %for.body.lr.ph.i

for.body.lr.ph.i:                                 ; preds = %actor_at.exit
  %near4 = getelementptr inbounds nuw i8, ptr %8, i64 5688
  %10 = load ptr, ptr %near4, align 8
  %wide.trip.count.i = zext i32 %9 to i64
  br label %for.body.i

for.cond.i:                                       ; preds = %for.body.i
  %indvars.iv.next.i = add nuw nsw i64 %indvars.iv.i, 1
  %exitcond.not.i = icmp eq i64 %indvars.iv.next.i, %wide.trip.count.i
  br i1 %exitcond.not.i, label %own_of.exit, label %for.body.i

for.body.i:                                       ; preds = %for.cond.i, %for.body.lr.ph.i
  %indvars.iv.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %indvars.iv.next.i, %for.cond.i ]
  %arrayidx.i37 = getelementptr inbounds nuw ptr, ptr %10, i64 %indvars.iv.i
  %11 = load ptr, ptr %arrayidx.i37, align 8
  %thread1.i = getelementptr inbounds nuw i8, ptr %11, i64 5648
  %12 = load i32, ptr %thread1.i, align 16
  %cmp2.i = icmp eq i32 %12, %conv5
  br i1 %cmp2.i, label %own_of.exit, label %for.cond.i

own_of.exit:                                      ; preds = %for.cond.i, %for.body.i, %actor_at.exit
  %retval.1.i = phi ptr [ null, %actor_at.exit ], [ null, %for.cond.i ], [ %11, %for.body.i ]
  %count.i38 = getelementptr inbounds nuw i8, ptr %8, i64 5712
  %13 = load i32, ptr %count.i38, align 8
  %cmp27.not.i39 = icmp eq i32 %13, 0
  br i1 %cmp27.not.i39, label %own_of.exit52, label %for.body.lr.ph.i40

for.body.lr.ph.i40:                               ; preds = %own_of.exit
  %far7 = getelementptr inbounds nuw i8, ptr %8, i64 5704
  %14 = load ptr, ptr %far7, align 8
  %wide.trip.count.i41 = zext i32 %13 to i64
  br label %for.body.i42

for.cond.i47:                                     ; preds = %for.body.i42
  %indvars.iv.next.i48 = add nuw nsw i64 %indvars.iv.i43, 1
  %exitcond.not.i49 = icmp eq i64 %indvars.iv.next.i48, %wide.trip.count.i41
  br i1 %exitcond.not.i49, label %own_of.exit52, label %for.body.i42

for.body.i42:                                     ; preds = %for.cond.i47, %for.body.lr.ph.i40
  %indvars.iv.i43 = phi i64 [ 0, %for.body.lr.ph.i40 ], [ %indvars.iv.next.i48, %for.cond.i47 ]
  %arrayidx.i44 = getelementptr inbounds nuw ptr, ptr %14, i64 %indvars.iv.i43
  %15 = load ptr, ptr %arrayidx.i44, align 8
  %thread1.i45 = getelementptr inbounds nuw i8, ptr %15, i64 5648
  %16 = load i32, ptr %thread1.i45, align 16
  %cmp2.i46 = icmp eq i32 %16, %conv5
  br i1 %cmp2.i46, label %own_of.exit52, label %for.cond.i47

own_of.exit52:                                    ; preds = %for.cond.i47, %for.body.i42, %own_of.exit
  %retval.1.i51 = phi ptr [ null, %own_of.exit ], [ null, %for.cond.i47 ], [ %15, %for.body.i42 ]
  %and10 = and i64 %kind, 512
  %tobool11 = icmp ne i64 %and10, 0
  %and12 = and i64 %kind, 64
  %tobool13 = icmp ne i64 %and12, 0
  %tobool14 = icmp ne ptr %retval.1.i, null
  %or.cond = and i1 %tobool13, %tobool14
  br i1 %or.cond, label %if.then15, label %if.end19

if.then15:                                        ; preds = %own_of.exit52
  %taken = getelementptr inbounds nuw i8, ptr %8, i64 5656
  %count.i53 = getelementptr inbounds nuw i8, ptr %8, i64 5664
  %17 = load i32, ptr %count.i53, align 8
  %cmp27.not.i54 = icmp eq i32 %17, 0
  %.pre.i.pre = load ptr, ptr %taken, align 8
  br i1 %cmp27.not.i54, label %cleanup.i65, label %for.body.lr.ph.i55

for.body.lr.ph.i55:                               ; preds = %if.then15
  %wide.trip.count.i56 = zext i32 %17 to i64
  br label %for.body.i57

for.cond.i62:                                     ; preds = %for.body.i57
  %indvars.iv.next.i63 = add nuw nsw i64 %indvars.iv.i58, 1
  %exitcond.not.i64 = icmp eq i64 %indvars.iv.next.i63, %wide.trip.count.i56
  br i1 %exitcond.not.i64, label %cleanup.i65, label %for.body.i57

for.body.i57:                                     ; preds = %for.cond.i62, %for.body.lr.ph.i55
  %indvars.iv.i58 = phi i64 [ 0, %for.body.lr.ph.i55 ], [ %indvars.iv.next.i63, %for.cond.i62 ]
  %arrayidx.i59 = getelementptr inbounds nuw ptr, ptr %.pre.i.pre, i64 %indvars.iv.i58
  %18 = load ptr, ptr %arrayidx.i59, align 8
  %thread1.i60 = getelementptr inbounds nuw i8, ptr %18, i64 5648
  %19 = load i32, ptr %thread1.i60, align 16
  %cmp2.i61 = icmp eq i32 %19, %conv5
  br i1 %cmp2.i61, label %own_of.exit69, label %for.cond.i62

cleanup.i65:                                      ; preds = %for.cond.i62, %if.then15
  %room.i = getelementptr inbounds nuw i8, ptr %8, i64 5668
  %20 = load i32, ptr %room.i, align 4
  %cmp9.i = icmp eq i32 %17, %20
  br i1 %cmp9.i, label %if.then10.i, label %if.end18.i

if.then10.i:                                      ; preds = %cleanup.i65
  %mul.i = shl i32 %17, 1
  %spec.select.i67 = select i1 %cmp27.not.i54, i32 8, i32 %mul.i
  store i32 %spec.select.i67, ptr %room.i, align 4
  %conv.i = zext i32 %spec.select.i67 to i64
  %mul16.i = shl nuw nsw i64 %conv.i, 3
  %call.i68 = call ptr @realloc(ptr %.pre.i.pre, i64 %mul16.i)
  store ptr %call.i68, ptr %taken, align 8
  %.pre31.i = load i32, ptr %count.i53, align 8
  br label %if.end18.i

if.end18.i:                                       ; preds = %if.then10.i, %cleanup.i65
  %21 = phi i32 [ %.pre31.i, %if.then10.i ], [ %17, %cleanup.i65 ]
  %22 = phi ptr [ %call.i68, %if.then10.i ], [ %.pre.i.pre, %cleanup.i65 ]
  %call19.i = call dereferenceable_or_null(5664) ptr @calloc(i64 1, i64 5664)
  %thread20.i = getelementptr inbounds nuw i8, ptr %call19.i, i64 5648
  store i32 %conv5, ptr %thread20.i, align 16
  %inc23.i = add i32 %21, 1
  store i32 %inc23.i, ptr %count.i53, align 8
  %idxprom24.i = zext i32 %21 to i64
  %arrayidx25.i = getelementptr inbounds nuw ptr, ptr %22, i64 %idxprom24.i
  store ptr %call19.i, ptr %arrayidx25.i, align 8
  br label %own_of.exit69

own_of.exit69:                                    ; preds = %for.body.i57, %if.end18.i
  %retval.1.i66 = phi ptr [ %call19.i, %if.end18.i ], [ %18, %for.body.i57 ]
  call fastcc void @fly.sanitizer.join_view(ptr nonnull %retval.1.i66, ptr nonnull %retval.1.i)
  br label %if.end19

if.end19:                                         ; preds = %own_of.exit69, %own_of.exit52
  %tobool23 = icmp ne ptr %retval.1.i51, null
  %or.cond1 = and i1 %tobool13, %tobool23
  %or.cond2 = select i1 %or.cond1, i1 %tobool11, i1 false
  br i1 %or.cond2, label %if.then26, label %if.end32

if.then26:                                        ; preds = %if.end19
  %taken27 = getelementptr inbounds nuw i8, ptr %8, i64 5656
  %count.i70 = getelementptr inbounds nuw i8, ptr %8, i64 5664
  %23 = load i32, ptr %count.i70, align 8
  %cmp27.not.i71 = icmp eq i32 %23, 0
  %.pre.i85.pre = load ptr, ptr %taken27, align 8
  br i1 %cmp27.not.i71, label %cleanup.i82, label %for.body.lr.ph.i72

for.body.lr.ph.i72:                               ; preds = %if.then26
  %wide.trip.count.i73 = zext i32 %23 to i64
  br label %for.body.i74

for.cond.i79:                                     ; preds = %for.body.i74
  %indvars.iv.next.i80 = add nuw nsw i64 %indvars.iv.i75, 1
  %exitcond.not.i81 = icmp eq i64 %indvars.iv.next.i80, %wide.trip.count.i73
  br i1 %exitcond.not.i81, label %cleanup.i82, label %for.body.i74

for.body.i74:                                     ; preds = %for.cond.i79, %for.body.lr.ph.i72
  %indvars.iv.i75 = phi i64 [ 0, %for.body.lr.ph.i72 ], [ %indvars.iv.next.i80, %for.cond.i79 ]
  %arrayidx.i76 = getelementptr inbounds nuw ptr, ptr %.pre.i85.pre, i64 %indvars.iv.i75
  %24 = load ptr, ptr %arrayidx.i76, align 8
  %thread1.i77 = getelementptr inbounds nuw i8, ptr %24, i64 5648
  %25 = load i32, ptr %thread1.i77, align 16
  %cmp2.i78 = icmp eq i32 %25, %conv5
  br i1 %cmp2.i78, label %own_of.exit100, label %for.cond.i79

cleanup.i82:                                      ; preds = %for.cond.i79, %if.then26
  %room.i83 = getelementptr inbounds nuw i8, ptr %8, i64 5668
  %26 = load i32, ptr %room.i83, align 4
  %cmp9.i84 = icmp eq i32 %23, %26
  br i1 %cmp9.i84, label %if.then10.i93, label %if.end18.i86

if.then10.i93:                                    ; preds = %cleanup.i82
  %mul.i94 = shl i32 %23, 1
  %spec.select.i95 = select i1 %cmp27.not.i71, i32 8, i32 %mul.i94
  store i32 %spec.select.i95, ptr %room.i83, align 4
  %conv.i96 = zext i32 %spec.select.i95 to i64
  %mul16.i97 = shl nuw nsw i64 %conv.i96, 3
  %call.i98 = call ptr @realloc(ptr %.pre.i85.pre, i64 %mul16.i97)
  store ptr %call.i98, ptr %taken27, align 8
  %.pre31.i99 = load i32, ptr %count.i70, align 8
  br label %if.end18.i86

if.end18.i86:                                     ; preds = %if.then10.i93, %cleanup.i82
  %27 = phi i32 [ %.pre31.i99, %if.then10.i93 ], [ %23, %cleanup.i82 ]
  %28 = phi ptr [ %call.i98, %if.then10.i93 ], [ %.pre.i85.pre, %cleanup.i82 ]
  %call19.i87 = call dereferenceable_or_null(5664) ptr @calloc(i64 1, i64 5664)
  %thread20.i88 = getelementptr inbounds nuw i8, ptr %call19.i87, i64 5648
  store i32 %conv5, ptr %thread20.i88, align 16
  %inc23.i89 = add i32 %27, 1
  store i32 %inc23.i89, ptr %count.i70, align 8
  %idxprom24.i90 = zext i32 %27 to i64
  %arrayidx25.i91 = getelementptr inbounds nuw ptr, ptr %28, i64 %idxprom24.i90
  store ptr %call19.i87, ptr %arrayidx25.i91, align 8
  br label %own_of.exit100

own_of.exit100:                                   ; preds = %for.body.i74, %if.end18.i86
  %retval.1.i92 = phi ptr [ %call19.i87, %if.end18.i86 ], [ %24, %for.body.i74 ]
  call fastcc void @fly.sanitizer.join_view(ptr nonnull %retval.1.i92, ptr nonnull %retval.1.i51)
  br label %if.end32

if.end32:                                         ; preds = %own_of.exit100, %if.end19
  br i1 %tobool13, label %for.body.lr.ph, label %for.cond.cleanup

for.body.lr.ph:                                   ; preds = %if.end32
  %seen = getelementptr inbounds nuw i8, ptr %8, i64 5720
  %div4631 = lshr i64 %add.i, 6
  br label %for.body

for.cond.cleanup:                                 ; preds = %for.inc, %if.end32
  %and54 = and i64 %kind, 128
  %tobool55.not = icmp eq i64 %and54, 0
  br i1 %tobool55.not, label %cleanup, label %if.then56

for.body:                                         ; preds = %for.body.lr.ph, %for.inc
  %indvars.iv = phi i64 [ 0, %for.body.lr.ph ], [ %indvars.iv.next, %for.inc ]
  %29 = load ptr, ptr %seen, align 8
  %arrayidx = getelementptr inbounds nuw %struct.Seen, ptr %29, i64 %indvars.iv
  %thread37 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 56
  %30 = load i16, ptr %thread37, align 8
  %conv38 = zext i16 %30 to i64
  %cmp39 = icmp eq i64 %thread, %conv38
  br i1 %cmp39, label %land.lhs.true41, label %for.inc

land.lhs.true41:                                  ; preds = %for.body
  br i1 %tobool11, label %if.then49, label %lor.lhs.false44

lor.lhs.false44:                                  ; preds = %land.lhs.true41
  %div30 = lshr i64 %indvars.iv, 6
  %conv45 = and i64 %div30, 67108863
  %cmp47 = icmp eq i64 %div4631, %conv45
  br i1 %cmp47, label %if.then49, label %for.inc

if.then49:                                        ; preds = %lor.lhs.false44, %land.lhs.true41
  %acquired = getelementptr inbounds nuw i8, ptr %arrayidx, i64 65
  store i8 1, ptr %acquired, align 1
  br label %for.inc

for.inc:                                          ; preds = %for.body, %lor.lhs.false44, %if.then49
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond.not = icmp eq i64 %indvars.iv.next, 1024
  br i1 %exitcond.not, label %for.cond.cleanup, label %for.body

if.then56:                                        ; preds = %for.cond.cleanup
  %shown57 = getelementptr inbounds nuw i8, ptr %8, i64 5672
  %count.i101 = getelementptr inbounds nuw i8, ptr %8, i64 5680
  %31 = load i32, ptr %count.i101, align 8
  %cmp27.not.i102 = icmp eq i32 %31, 0
  %.pre.i116.pre = load ptr, ptr %shown57, align 8
  br i1 %cmp27.not.i102, label %cleanup.i113, label %for.body.lr.ph.i103

for.body.lr.ph.i103:                              ; preds = %if.then56
  %wide.trip.count.i104 = zext i32 %31 to i64
  br label %for.body.i105

for.cond.i110:                                    ; preds = %for.body.i105
  %indvars.iv.next.i111 = add nuw nsw i64 %indvars.iv.i106, 1
  %exitcond.not.i112 = icmp eq i64 %indvars.iv.next.i111, %wide.trip.count.i104
  br i1 %exitcond.not.i112, label %cleanup.i113, label %for.body.i105

for.body.i105:                                    ; preds = %for.cond.i110, %for.body.lr.ph.i103
  %indvars.iv.i106 = phi i64 [ 0, %for.body.lr.ph.i103 ], [ %indvars.iv.next.i111, %for.cond.i110 ]
  %arrayidx.i107 = getelementptr inbounds nuw ptr, ptr %.pre.i116.pre, i64 %indvars.iv.i106
  %32 = load ptr, ptr %arrayidx.i107, align 8
  %thread1.i108 = getelementptr inbounds nuw i8, ptr %32, i64 5648
  %33 = load i32, ptr %thread1.i108, align 16
  %cmp2.i109 = icmp eq i32 %33, %conv5
  br i1 %cmp2.i109, label %own_of.exit131, label %for.cond.i110

cleanup.i113:                                     ; preds = %for.cond.i110, %if.then56
  %room.i114 = getelementptr inbounds nuw i8, ptr %8, i64 5684
  %34 = load i32, ptr %room.i114, align 4
  %cmp9.i115 = icmp eq i32 %31, %34
  br i1 %cmp9.i115, label %if.then10.i124, label %if.end18.i117

if.then10.i124:                                   ; preds = %cleanup.i113
  %mul.i125 = shl i32 %31, 1
  %spec.select.i126 = select i1 %cmp27.not.i102, i32 8, i32 %mul.i125
  store i32 %spec.select.i126, ptr %room.i114, align 4
  %conv.i127 = zext i32 %spec.select.i126 to i64
  %mul16.i128 = shl nuw nsw i64 %conv.i127, 3
  %call.i129 = call ptr @realloc(ptr %.pre.i116.pre, i64 %mul16.i128)
  store ptr %call.i129, ptr %shown57, align 8
  %.pre31.i130 = load i32, ptr %count.i101, align 8
  br label %if.end18.i117

if.end18.i117:                                    ; preds = %if.then10.i124, %cleanup.i113
  %35 = phi i32 [ %.pre31.i130, %if.then10.i124 ], [ %31, %cleanup.i113 ]
  %36 = phi ptr [ %call.i129, %if.then10.i124 ], [ %.pre.i116.pre, %cleanup.i113 ]
  %call19.i118 = call dereferenceable_or_null(5664) ptr @calloc(i64 1, i64 5664)
  %thread20.i119 = getelementptr inbounds nuw i8, ptr %call19.i118, i64 5648
  store i32 %conv5, ptr %thread20.i119, align 16
  %inc23.i120 = add i32 %35, 1
  store i32 %inc23.i120, ptr %count.i101, align 8
  %idxprom24.i121 = zext i32 %35 to i64
  %arrayidx25.i122 = getelementptr inbounds nuw ptr, ptr %36, i64 %idxprom24.i121
  store ptr %call19.i118, ptr %arrayidx25.i122, align 8
  br label %own_of.exit131

own_of.exit131:                                   ; preds = %for.body.i105, %if.end18.i117
  %retval.1.i123 = phi ptr [ %call19.i118, %if.end18.i117 ], [ %32, %for.body.i105 ]
  call fastcc void @fly.sanitizer.show(ptr nonnull %retval.1.i123, i32 %conv, i32 %conv5)
  br label %cleanup

cleanup:                                          ; preds = %cond.true, %lor.lhs.false.i, %entry, %for.cond.cleanup, %own_of.exit131, %cond.end
  call void @llvm.lifetime.end.p0(ptr nonnull %who)
  ret void
}

define internal fastcc void @fly.sanitizer.join_view(ptr captures(none) %into, ptr readonly captures(none) %from) #4 {
entry:
  br label %for.body

for.cond12.preheader:                             ; preds = %for.inc
  %tail_count = getelementptr inbounds nuw i8, ptr %from, i64 5632
  %0 = load i32, ptr %tail_count, align 16
  %cmp1314.not = icmp eq i32 %0, 0
  br i1 %cmp1314.not, label %for.cond.cleanup14, label %for.body15.lr.ph

for.body15.lr.ph:                                 ; preds = %for.cond12.preheader
  %tails = getelementptr inbounds nuw i8, ptr %from, i64 4096
  %tail_count.i = getelementptr inbounds nuw i8, ptr %into, i64 5632
  %tails.i = getelementptr inbounds nuw i8, ptr %into, i64 4096
  br label %for.body15

for.body:                                         ; preds = %entry, %for.inc
  %indvars.iv = phi i64 [ 0, %entry ], [ %indvars.iv.next, %for.inc ]
  %arrayidx = getelementptr inbounds nuw i32, ptr %from, i64 %indvars.iv
  %1 = load i32, ptr %arrayidx, align 4
  %arrayidx3 = getelementptr inbounds nuw i32, ptr %into, i64 %indvars.iv
  %2 = load i32, ptr %arrayidx3, align 4
  %cmp4 = icmp ugt i32 %1, %2
  br i1 %cmp4, label %if.then, label %for.inc

if.then:                                          ; preds = %for.body
  store i32 %1, ptr %arrayidx3, align 4
  br label %for.inc

for.inc:                                          ; preds = %for.body, %if.then
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond.not = icmp eq i64 %indvars.iv.next, 1024
  br i1 %exitcond.not, label %for.cond12.preheader, label %for.body

for.cond.cleanup14:                               ; preds = %add_tail.exit, %for.cond12.preheader
  ret void

for.body15:                                       ; preds = %for.body15.lr.ph, %add_tail.exit
  %3 = phi i32 [ %0, %for.body15.lr.ph ], [ %11, %add_tail.exit ]
  %indvars.iv16 = phi i64 [ 0, %for.body15.lr.ph ], [ %indvars.iv.next17, %add_tail.exit ]
  %arrayidx17 = getelementptr inbounds nuw %struct.Tail, ptr %tails, i64 %indvars.iv16
  %tail.sroa.0.0.copyload.i = load i32, ptr %arrayidx17, align 4
  %tail.sroa.9.0..sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx17, i64 8
  %tail.sroa.9.0.copyload.i = load i32, ptr %tail.sroa.9.0..sroa_idx.i, align 4
  %idxprom.i = zext i32 %tail.sroa.0.0.copyload.i to i64
  %arrayidx.i = getelementptr inbounds nuw i32, ptr %into, i64 %idxprom.i
  %4 = load i32, ptr %arrayidx.i, align 4
  %cmp.not.i = icmp ult i32 %4, %tail.sroa.9.0.copyload.i
  br i1 %cmp.not.i, label %if.end.i, label %add_tail.exit

if.end.i:                                         ; preds = %for.body15
  %tail.sroa.7.0..sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx17, i64 4
  %tail.sroa.7.0.copyload.i = load i32, ptr %tail.sroa.7.0..sroa_idx.i, align 4
  %5 = load i32, ptr %tail_count.i, align 16
  %cmp129.not.i = icmp eq i32 %5, 0
  br i1 %cmp129.not.i, label %for.cond.cleanup.thread.i, label %for.body.i

for.cond.cleanup.i:                               ; preds = %if.end26.i
  %cmp28.i = icmp eq i32 %kept.1.i, 128
  %spec.select.i = select i1 %cmp28.i, i32 127, i32 %kept.1.i
  br label %for.cond.cleanup.thread.i

for.cond.cleanup.thread.i:                        ; preds = %for.cond.cleanup.i, %if.end.i
  %tail.sroa.9.0.lcssa47.i = phi i32 [ %tail.sroa.9.0.copyload.i, %if.end.i ], [ %tail.sroa.9.1.i, %for.cond.cleanup.i ]
  %tail.sroa.7.0.lcssa46.i = phi i32 [ %tail.sroa.7.0.copyload.i, %if.end.i ], [ %tail.sroa.7.1.i, %for.cond.cleanup.i ]
  %tail.sroa.0.0.lcssa45.i = phi i32 [ %tail.sroa.0.0.copyload.i, %if.end.i ], [ %tail.sroa.0.1.i, %for.cond.cleanup.i ]
  %6 = phi i32 [ 0, %if.end.i ], [ %spec.select.i, %for.cond.cleanup.i ]
  %inc32.i = add i32 %6, 1
  %idxprom33.i = zext i32 %6 to i64
  %arrayidx34.i = getelementptr inbounds nuw %struct.Tail, ptr %tails.i, i64 %idxprom33.i
  store i32 %tail.sroa.0.0.lcssa45.i, ptr %arrayidx34.i, align 4
  %tail.sroa.7.0.arrayidx34.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx34.i, i64 4
  store i32 %tail.sroa.7.0.lcssa46.i, ptr %tail.sroa.7.0.arrayidx34.sroa_idx.i, align 4
  %tail.sroa.9.0.arrayidx34.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx34.i, i64 8
  store i32 %tail.sroa.9.0.lcssa47.i, ptr %tail.sroa.9.0.arrayidx34.sroa_idx.i, align 4
  store i32 %inc32.i, ptr %tail_count.i, align 16
  %.pre = load i32, ptr %tail_count, align 16
  br label %add_tail.exit

for.body.i:                                       ; preds = %if.end.i, %if.end26.i
  %7 = phi i32 [ %9, %if.end26.i ], [ %5, %if.end.i ]
  %indvars.iv.i = phi i64 [ %indvars.iv.next.i, %if.end26.i ], [ 0, %if.end.i ]
  %tail.sroa.9.034.i = phi i32 [ %tail.sroa.9.1.i, %if.end26.i ], [ %tail.sroa.9.0.copyload.i, %if.end.i ]
  %tail.sroa.7.033.i = phi i32 [ %tail.sroa.7.1.i, %if.end26.i ], [ %tail.sroa.7.0.copyload.i, %if.end.i ]
  %tail.sroa.0.032.i = phi i32 [ %tail.sroa.0.1.i, %if.end26.i ], [ %tail.sroa.0.0.copyload.i, %if.end.i ]
  %kept.031.i = phi i32 [ %kept.1.i, %if.end26.i ], [ 0, %if.end.i ]
  %arrayidx3.i = getelementptr inbounds nuw %struct.Tail, ptr %tails.i, i64 %indvars.iv.i
  %old.sroa.0.0.copyload.i = load i32, ptr %arrayidx3.i, align 4
  %old.sroa.7.0.arrayidx3.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx3.i, i64 4
  %old.sroa.7.0.copyload.i = load i32, ptr %old.sroa.7.0.arrayidx3.sroa_idx.i, align 4
  %old.sroa.8.0.arrayidx3.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx3.i, i64 8
  %old.sroa.8.0.copyload.i = load i32, ptr %old.sroa.8.0.arrayidx3.sroa_idx.i, align 4
  %cmp6.i = icmp ne i32 %old.sroa.0.0.copyload.i, %tail.sroa.0.032.i
  %cmp8.i = icmp ne i32 %old.sroa.7.0.copyload.i, %tail.sroa.7.033.i
  %spec.select27.not28.i = select i1 %cmp6.i, i1 true, i1 %cmp8.i
  %cmp11.not.i = icmp ult i32 %old.sroa.8.0.copyload.i, %tail.sroa.9.034.i
  %or.cond.i = select i1 %spec.select27.not28.i, i1 true, i1 %cmp11.not.i
  %tail.sroa.0.1.i = select i1 %or.cond.i, i32 %tail.sroa.0.032.i, i32 %old.sroa.0.0.copyload.i
  %tail.sroa.7.1.i = select i1 %or.cond.i, i32 %tail.sroa.7.033.i, i32 %old.sroa.7.0.copyload.i
  %tail.sroa.9.1.i = select i1 %or.cond.i, i32 %tail.sroa.9.034.i, i32 %old.sroa.8.0.copyload.i
  br i1 %spec.select27.not28.i, label %land.lhs.true15.i, label %if.end26.i

land.lhs.true15.i:                                ; preds = %for.body.i
  %idxprom18.i = zext i32 %old.sroa.0.0.copyload.i to i64
  %arrayidx19.i = getelementptr inbounds nuw i32, ptr %into, i64 %idxprom18.i
  %8 = load i32, ptr %arrayidx19.i, align 4
  %cmp21.i = icmp ult i32 %8, %old.sroa.8.0.copyload.i
  br i1 %cmp21.i, label %if.then22.i, label %if.end26.i

if.then22.i:                                      ; preds = %land.lhs.true15.i
  %inc.i = add i32 %kept.031.i, 1
  %idxprom24.i = zext i32 %kept.031.i to i64
  %arrayidx25.i = getelementptr inbounds nuw %struct.Tail, ptr %tails.i, i64 %idxprom24.i
  store i32 %old.sroa.0.0.copyload.i, ptr %arrayidx25.i, align 4
  %old.sroa.7.0.arrayidx25.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx25.i, i64 4
  store i32 %old.sroa.7.0.copyload.i, ptr %old.sroa.7.0.arrayidx25.sroa_idx.i, align 4
  %old.sroa.8.0.arrayidx25.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx25.i, i64 8
  store i32 %old.sroa.8.0.copyload.i, ptr %old.sroa.8.0.arrayidx25.sroa_idx.i, align 4
  %.pre.i = load i32, ptr %tail_count.i, align 16
  br label %if.end26.i

if.end26.i:                                       ; preds = %if.then22.i, %land.lhs.true15.i, %for.body.i
  %9 = phi i32 [ %7, %for.body.i ], [ %.pre.i, %if.then22.i ], [ %7, %land.lhs.true15.i ]
  %kept.1.i = phi i32 [ %kept.031.i, %for.body.i ], [ %inc.i, %if.then22.i ], [ %kept.031.i, %land.lhs.true15.i ]
  %indvars.iv.next.i = add nuw nsw i64 %indvars.iv.i, 1
  %10 = zext i32 %9 to i64
  %cmp1.i = icmp samesign ult i64 %indvars.iv.next.i, %10
  br i1 %cmp1.i, label %for.body.i, label %for.cond.cleanup.i

add_tail.exit:                                    ; preds = %for.body15, %for.cond.cleanup.thread.i
  %11 = phi i32 [ %3, %for.body15 ], [ %.pre, %for.cond.cleanup.thread.i ]
  %indvars.iv.next17 = add nuw nsw i64 %indvars.iv16, 1
  %12 = zext i32 %11 to i64
  %cmp13 = icmp samesign ult i64 %indvars.iv.next17, %12
  br i1 %cmp13, label %for.body15, label %for.cond.cleanup14
}

define internal fastcc void @fly.sanitizer.show(ptr captures(none) %into, i32 %number, i32 %thread) #5 {
entry:
  %idxprom.i = zext i32 %number to i64
  %arrayidx.i = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.actors, i64 %idxprom.i
  %0 = load ptr, ptr %arrayidx.i, align 8
  %tobool.not.i = icmp eq ptr %0, null
  br i1 %tobool.not.i, label %if.then.i, label %actor_at.exit

if.then.i:                                        ; preds = %entry
  %call.i = tail call dereferenceable_or_null(5728) ptr @calloc(i64 1, i64 5728)
  store ptr %call.i, ptr %arrayidx.i, align 8
  %call3.i = tail call dereferenceable_or_null(73728) ptr @calloc(i64 1024, i64 72)
  %seen.i = getelementptr inbounds nuw i8, ptr %call.i, i64 5720
  store ptr %call3.i, ptr %seen.i, align 8
  %div9.i = lshr i32 %number, 6
  %idxprom.i.i = zext nneg i32 %div9.i to i64
  %arrayidx.i.i = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.rank_views, i64 %idxprom.i.i
  %1 = load ptr, ptr %arrayidx.i.i, align 8
  %tobool.not.i.i = icmp eq ptr %1, null
  br i1 %tobool.not.i.i, label %if.then.i.i, label %rank_view.exit.i

if.then.i.i:                                      ; preds = %if.then.i
  %call.i.i = tail call dereferenceable_or_null(5648) ptr @calloc(i64 1, i64 5648)
  store ptr %call.i.i, ptr %arrayidx.i.i, align 8
  br label %rank_view.exit.i

rank_view.exit.i:                                 ; preds = %if.then.i.i, %if.then.i
  %2 = phi ptr [ %call.i.i, %if.then.i.i ], [ %1, %if.then.i ]
  tail call fastcc void @fly.sanitizer.join_view(ptr nonnull %call.i, ptr %2)
  %arrayidx7.i = getelementptr inbounds nuw i32, ptr %call.i, i64 %idxprom.i
  %3 = load i32, ptr %arrayidx7.i, align 4
  %add.i = add i32 %3, 1
  %barrier.i = getelementptr inbounds nuw i8, ptr %call.i, i64 5652
  store i32 %add.i, ptr %barrier.i, align 4
  %clock.i = getelementptr inbounds nuw i8, ptr %call.i, i64 5648
  store i32 %add.i, ptr %clock.i, align 16
  br label %actor_at.exit

actor_at.exit:                                    ; preds = %entry, %rank_view.exit.i
  %4 = phi ptr [ %call.i, %rank_view.exit.i ], [ %0, %entry ]
  %count.i = getelementptr inbounds nuw i8, ptr %4, i64 5664
  %5 = load i32, ptr %count.i, align 8
  %cmp27.not.i = icmp eq i32 %5, 0
  br i1 %cmp27.not.i, label %if.end, label %for.body.lr.ph.i

for.body.lr.ph.i:                                 ; preds = %actor_at.exit
  %taken1 = getelementptr inbounds nuw i8, ptr %4, i64 5656
  %6 = load ptr, ptr %taken1, align 8
  %wide.trip.count.i = zext i32 %5 to i64
  br label %for.body.i

for.cond.i:                                       ; preds = %for.body.i
  %indvars.iv.next.i = add nuw nsw i64 %indvars.iv.i, 1
  %exitcond.not.i = icmp eq i64 %indvars.iv.next.i, %wide.trip.count.i
  br i1 %exitcond.not.i, label %if.end, label %for.body.i

for.body.i:                                       ; preds = %for.cond.i, %for.body.lr.ph.i
  %indvars.iv.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %indvars.iv.next.i, %for.cond.i ]
  %arrayidx.i15 = getelementptr inbounds nuw ptr, ptr %6, i64 %indvars.iv.i
  %7 = load ptr, ptr %arrayidx.i15, align 8
  %thread1.i = getelementptr inbounds nuw i8, ptr %7, i64 5648
  %8 = load i32, ptr %thread1.i, align 16
  %cmp2.i = icmp eq i32 %8, %thread
  br i1 %cmp2.i, label %if.then, label %for.cond.i

if.then:                                          ; preds = %for.body.i
  tail call fastcc void @fly.sanitizer.join_view(ptr %into, ptr %4)
  br label %if.end

if.end:                                           ; preds = %for.cond.i, %actor_at.exit, %if.then
  %.sink = phi ptr [ %7, %if.then ], [ %4, %actor_at.exit ], [ %4, %for.cond.i ]
  tail call fastcc void @fly.sanitizer.join_view(ptr %into, ptr %.sink)
  %arrayidx = getelementptr inbounds nuw i32, ptr %into, i64 %idxprom.i
  %9 = load i32, ptr %arrayidx, align 4
  %barrier = getelementptr inbounds nuw i8, ptr %4, i64 5652
  %10 = load i32, ptr %barrier, align 4
  %sub = add i32 %10, -1
  %cmp = icmp ult i32 %9, %sub
  br i1 %cmp, label %if.then4, label %if.end10

if.then4:                                         ; preds = %if.end
  store i32 %sub, ptr %arrayidx, align 4
  br label %if.end10

if.end10:                                         ; preds = %if.then4, %if.end
  %11 = phi i32 [ %sub, %if.then4 ], [ %9, %if.end ]
  %clock13 = getelementptr inbounds nuw i8, ptr %4, i64 5648
  %12 = load i32, ptr %clock13, align 16
  %cmp.not.i = icmp ult i32 %11, %12
  br i1 %cmp.not.i, label %if.end.i, label %add_tail.exit

if.end.i:                                         ; preds = %if.end10
  %tail_count.i = getelementptr inbounds nuw i8, ptr %into, i64 5632
  %13 = load i32, ptr %tail_count.i, align 16
  %cmp129.not.i = icmp eq i32 %13, 0
  br i1 %cmp129.not.i, label %for.cond.cleanup.thread.i, label %for.body.lr.ph.i19

for.body.lr.ph.i19:                               ; preds = %if.end.i
  %tails.i = getelementptr inbounds nuw i8, ptr %into, i64 4096
  br label %for.body.i20

for.cond.cleanup.i:                               ; preds = %if.end26.i
  %cmp28.i = icmp eq i32 %kept.1.i, 128
  %spec.select.i = select i1 %cmp28.i, i32 127, i32 %kept.1.i
  br label %for.cond.cleanup.thread.i

for.cond.cleanup.thread.i:                        ; preds = %for.cond.cleanup.i, %if.end.i
  %tail.sroa.9.0.lcssa47.i = phi i32 [ %12, %if.end.i ], [ %tail.sroa.9.1.i, %for.cond.cleanup.i ]
  %tail.sroa.7.0.lcssa46.i = phi i32 [ %thread, %if.end.i ], [ %tail.sroa.7.1.i, %for.cond.cleanup.i ]
  %tail.sroa.0.0.lcssa45.i = phi i32 [ %number, %if.end.i ], [ %tail.sroa.0.1.i, %for.cond.cleanup.i ]
  %14 = phi i32 [ 0, %if.end.i ], [ %spec.select.i, %for.cond.cleanup.i ]
  %tails31.i = getelementptr inbounds nuw i8, ptr %into, i64 4096
  %inc32.i = add i32 %14, 1
  %idxprom33.i = zext i32 %14 to i64
  %arrayidx34.i = getelementptr inbounds nuw %struct.Tail, ptr %tails31.i, i64 %idxprom33.i
  store i32 %tail.sroa.0.0.lcssa45.i, ptr %arrayidx34.i, align 4
  %tail.sroa.7.0.arrayidx34.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx34.i, i64 4
  store i32 %tail.sroa.7.0.lcssa46.i, ptr %tail.sroa.7.0.arrayidx34.sroa_idx.i, align 4
  %tail.sroa.9.0.arrayidx34.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx34.i, i64 8
  store i32 %tail.sroa.9.0.lcssa47.i, ptr %tail.sroa.9.0.arrayidx34.sroa_idx.i, align 4
  store i32 %inc32.i, ptr %tail_count.i, align 16
  %.pre = load i32, ptr %clock13, align 16
  br label %add_tail.exit

for.body.i20:                                     ; preds = %if.end26.i, %for.body.lr.ph.i19
  %15 = phi i32 [ %13, %for.body.lr.ph.i19 ], [ %17, %if.end26.i ]
  %indvars.iv.i21 = phi i64 [ 0, %for.body.lr.ph.i19 ], [ %indvars.iv.next.i22, %if.end26.i ]
  %tail.sroa.9.034.i = phi i32 [ %12, %for.body.lr.ph.i19 ], [ %tail.sroa.9.1.i, %if.end26.i ]
  %tail.sroa.7.033.i = phi i32 [ %thread, %for.body.lr.ph.i19 ], [ %tail.sroa.7.1.i, %if.end26.i ]
  %tail.sroa.0.032.i = phi i32 [ %number, %for.body.lr.ph.i19 ], [ %tail.sroa.0.1.i, %if.end26.i ]
  %kept.031.i = phi i32 [ 0, %for.body.lr.ph.i19 ], [ %kept.1.i, %if.end26.i ]
  %arrayidx3.i = getelementptr inbounds nuw %struct.Tail, ptr %tails.i, i64 %indvars.iv.i21
  %old.sroa.0.0.copyload.i = load i32, ptr %arrayidx3.i, align 4
  %old.sroa.7.0.arrayidx3.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx3.i, i64 4
  %old.sroa.7.0.copyload.i = load i32, ptr %old.sroa.7.0.arrayidx3.sroa_idx.i, align 4
  %old.sroa.8.0.arrayidx3.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx3.i, i64 8
  %old.sroa.8.0.copyload.i = load i32, ptr %old.sroa.8.0.arrayidx3.sroa_idx.i, align 4
  %cmp6.i = icmp ne i32 %old.sroa.0.0.copyload.i, %tail.sroa.0.032.i
  %cmp8.i = icmp ne i32 %old.sroa.7.0.copyload.i, %tail.sroa.7.033.i
  %spec.select27.not28.i = select i1 %cmp6.i, i1 true, i1 %cmp8.i
  %cmp11.not.i = icmp ult i32 %old.sroa.8.0.copyload.i, %tail.sroa.9.034.i
  %or.cond.i = select i1 %spec.select27.not28.i, i1 true, i1 %cmp11.not.i
  %tail.sroa.0.1.i = select i1 %or.cond.i, i32 %tail.sroa.0.032.i, i32 %old.sroa.0.0.copyload.i
  %tail.sroa.7.1.i = select i1 %or.cond.i, i32 %tail.sroa.7.033.i, i32 %old.sroa.7.0.copyload.i
  %tail.sroa.9.1.i = select i1 %or.cond.i, i32 %tail.sroa.9.034.i, i32 %old.sroa.8.0.copyload.i
  br i1 %spec.select27.not28.i, label %land.lhs.true15.i, label %if.end26.i

land.lhs.true15.i:                                ; preds = %for.body.i20
  %idxprom18.i = zext i32 %old.sroa.0.0.copyload.i to i64
  %arrayidx19.i = getelementptr inbounds nuw i32, ptr %into, i64 %idxprom18.i
  %16 = load i32, ptr %arrayidx19.i, align 4
  %cmp21.i = icmp ult i32 %16, %old.sroa.8.0.copyload.i
  br i1 %cmp21.i, label %if.then22.i, label %if.end26.i

if.then22.i:                                      ; preds = %land.lhs.true15.i
  %inc.i = add i32 %kept.031.i, 1
  %idxprom24.i = zext i32 %kept.031.i to i64
  %arrayidx25.i = getelementptr inbounds nuw %struct.Tail, ptr %tails.i, i64 %idxprom24.i
  store i32 %old.sroa.0.0.copyload.i, ptr %arrayidx25.i, align 4
  %old.sroa.7.0.arrayidx25.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx25.i, i64 4
  store i32 %old.sroa.7.0.copyload.i, ptr %old.sroa.7.0.arrayidx25.sroa_idx.i, align 4
  %old.sroa.8.0.arrayidx25.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx25.i, i64 8
  store i32 %old.sroa.8.0.copyload.i, ptr %old.sroa.8.0.arrayidx25.sroa_idx.i, align 4
  %.pre.i = load i32, ptr %tail_count.i, align 16
  br label %if.end26.i

if.end26.i:                                       ; preds = %if.then22.i, %land.lhs.true15.i, %for.body.i20
  %17 = phi i32 [ %15, %for.body.i20 ], [ %.pre.i, %if.then22.i ], [ %15, %land.lhs.true15.i ]
  %kept.1.i = phi i32 [ %kept.031.i, %for.body.i20 ], [ %inc.i, %if.then22.i ], [ %kept.031.i, %land.lhs.true15.i ]
  %indvars.iv.next.i22 = add nuw nsw i64 %indvars.iv.i21, 1
  %18 = zext i32 %17 to i64
  %cmp1.i = icmp samesign ult i64 %indvars.iv.next.i22, %18
  br i1 %cmp1.i, label %for.body.i20, label %for.cond.cleanup.i

add_tail.exit:                                    ; preds = %if.end10, %for.cond.cleanup.thread.i
  %19 = phi i32 [ %12, %if.end10 ], [ %.pre, %for.cond.cleanup.thread.i ]
  %inc = add i32 %19, 1
  store i32 %inc, ptr %clock13, align 16
  ret void
}

define i1 @fly_sanitizer_ranks_writer(i64 %address) #5 {
entry:
  %0 = load ptr, ptr @fly.sanitizer.pages, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %cleanup, label %if.end.i

if.end.i:                                         ; preds = %entry
  %shr.i = lshr i64 %address, 12
  %mul.i = mul i64 %shr.i, -7046029254386353131
  %shr1.i = lshr i64 %mul.i, 49
  br label %for.body.i

for.body.i:                                       ; preds = %for.inc.i, %if.end.i
  %tries.011.i = phi i32 [ 0, %if.end.i ], [ %inc.i, %for.inc.i ]
  %at.010.i = phi i64 [ %shr1.i, %if.end.i ], [ %rem19.i, %for.inc.i ]
  %arrayidx.i = getelementptr inbounds nuw %struct.anon, ptr %0, i64 %at.010.i
  %cells.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 8
  %1 = load ptr, ptr %cells.i, align 8
  %tobool2.not.i = icmp eq ptr %1, null
  br i1 %tobool2.not.i, label %cond.end, label %if.end9.i

if.end9.i:                                        ; preds = %for.body.i
  %.pre.i = load i64, ptr %arrayidx.i, align 8
  %2 = icmp eq i64 %.pre.i, %shr.i
  br i1 %2, label %cond.end.thread, label %for.inc.i

cond.end.thread:                                  ; preds = %if.end9.i
  %shr16.i19 = lshr i64 %address, 2
  %rem.i20 = and i64 %shr16.i19, 1023
  %arrayidx17.i21 = getelementptr inbounds nuw %struct.SharedCell, ptr %1, i64 %rem.i20
  br label %lor.lhs.false

for.inc.i:                                        ; preds = %if.end9.i
  %inc.i = add nuw nsw i32 %tries.011.i, 1
  %add.i = add nuw nsw i64 %at.010.i, 1
  %rem19.i = and i64 %add.i, 32767
  %exitcond.i = icmp eq i32 %inc.i, 32768
  br i1 %exitcond.i, label %cleanup, label %for.body.i

cond.end:                                         ; preds = %for.body.i
  store i64 %shr.i, ptr %arrayidx.i, align 8
  %call6.i = tail call dereferenceable_or_null(385024) ptr @calloc(i64 1024, i64 376)
  store ptr %call6.i, ptr %cells.i, align 8
  %shr16.i = lshr i64 %address, 2
  %rem.i = and i64 %shr16.i, 1023
  %arrayidx17.i = getelementptr inbounds nuw %struct.SharedCell, ptr %call6.i, i64 %rem.i
  %tobool1.not = icmp eq ptr %call6.i, null
  br i1 %tobool1.not, label %cleanup, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %cond.end.thread, %cond.end
  %arrayidx17.i23 = phi ptr [ %arrayidx17.i21, %cond.end.thread ], [ %arrayidx17.i, %cond.end ]
  %clock = getelementptr inbounds nuw i8, ptr %arrayidx17.i23, i64 12
  %3 = load i32, ptr %clock, align 4
  %tobool2.not = icmp eq i32 %3, 0
  br i1 %tobool2.not, label %cleanup, label %if.end

if.end:                                           ; preds = %lor.lhs.false
  %site.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i23, i64 16
  %4 = load i32, ptr %site.i, align 8
  %conv.i = zext i32 %4 to i64
  store i64 %conv.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 56), align 8
  %actor.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i23, i64 8
  %5 = load i32, ptr %actor.i, align 8
  %div9.i = lshr i32 %5, 6
  %conv1.i = zext nneg i32 %div9.i to i64
  store i64 %conv1.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 64), align 16
  %6 = load i32, ptr %actor.i, align 8
  %rem.i3 = and i32 %6, 63
  %conv4.i = zext nneg i32 %rem.i3 to i64
  store i64 %conv4.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 72), align 8
  %thread.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i23, i64 24
  %7 = load i16, ptr %thread.i, align 8
  %conv6.i = zext i16 %7 to i64
  store i64 %conv6.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 80), align 16
  %code.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i23, i64 26
  %8 = load i16, ptr %code.i, align 2
  %conv8.i = zext i16 %8 to i64
  store i64 %conv8.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 88), align 8
  br label %cleanup

cleanup:                                          ; preds = %for.inc.i, %entry, %cond.end, %lor.lhs.false, %if.end
  %retval.0 = phi i1 [ true, %if.end ], [ false, %lor.lhs.false ], [ false, %cond.end ], [ false, %entry ], [ false, %for.inc.i ]
  ret i1 %retval.0
}

define void @fly_sanitizer_barrier() {
entry:
  %who.i = alloca [3 x i64], align 16
  %0 = load i64, ptr @fly.sanitizer.time, align 8
  %inc.i = add i64 %0, 1
  store i64 %inc.i, ptr @fly.sanitizer.time, align 8
  store i64 %inc.i, ptr @fly.sanitizer.wave_epoch, align 8
  store i64 %inc.i, ptr @fly.sanitizer.epoch, align 8
  %1 = load i64, ptr @fly.sanitizer.flags, align 8
  %and = and i64 %1, 64
  %tobool.not = icmp eq i64 %and, 0
  br i1 %tobool.not, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  call void @llvm.lifetime.start.p0(ptr nonnull %who.i)
  %call.i.i = call i1 @fly_ranks_here(ptr nonnull %who.i)
  br i1 %call.i.i, label %lor.lhs.false.i.i, label %ranks_barrier.exit

lor.lhs.false.i.i:                                ; preds = %if.then
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %who.i, i64 8
  %2 = load i64, ptr %arrayidx.i.i, align 8
  %cmp.i.i = icmp sgt i64 %2, 63
  br i1 %cmp.i.i, label %ranks_barrier.exit, label %actor_here.exit.i

actor_here.exit.i:                                ; preds = %lor.lhs.false.i.i
  %3 = load i64, ptr %who.i, align 16
  %4 = call i64 @llvm.smax.i64(i64 %3, i64 0)
  %spec.select.i.i = shl i64 %4, 6
  %add.i.i = add nsw i64 %spec.select.i.i, %2
  %cmp.i = icmp sgt i64 %add.i.i, -1
  br i1 %cmp.i, label %if.then.i, label %ranks_barrier.exit

if.then.i:                                        ; preds = %actor_here.exit.i
  %idxprom.i.i = and i64 %add.i.i, 4294967295
  %arrayidx.i2.i = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.actors, i64 %idxprom.i.i
  %5 = load ptr, ptr %arrayidx.i2.i, align 8
  %tobool.not.i.i = icmp eq ptr %5, null
  br i1 %tobool.not.i.i, label %if.then.i.i, label %actor_at.exit.i

if.then.i.i:                                      ; preds = %if.then.i
  %call.i4.i = call dereferenceable_or_null(5728) ptr @calloc(i64 1, i64 5728)
  store ptr %call.i4.i, ptr %arrayidx.i2.i, align 8
  %call3.i.i = call dereferenceable_or_null(73728) ptr @calloc(i64 1024, i64 72)
  %seen.i.i = getelementptr inbounds nuw i8, ptr %call.i4.i, i64 5720
  store ptr %call3.i.i, ptr %seen.i.i, align 8
  %div9.i.i = lshr i64 %add.i.i, 6
  %idxprom.i.i.i = and i64 %div9.i.i, 67108863
  %arrayidx.i.i.i = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.rank_views, i64 %idxprom.i.i.i
  %6 = load ptr, ptr %arrayidx.i.i.i, align 8
  %tobool.not.i.i.i = icmp eq ptr %6, null
  br i1 %tobool.not.i.i.i, label %if.then.i.i.i, label %rank_view.exit.i.i

if.then.i.i.i:                                    ; preds = %if.then.i.i
  %call.i.i.i = call dereferenceable_or_null(5648) ptr @calloc(i64 1, i64 5648)
  store ptr %call.i.i.i, ptr %arrayidx.i.i.i, align 8
  br label %rank_view.exit.i.i

rank_view.exit.i.i:                               ; preds = %if.then.i.i.i, %if.then.i.i
  %7 = phi ptr [ %call.i.i.i, %if.then.i.i.i ], [ %6, %if.then.i.i ]
  call fastcc void @fly.sanitizer.join_view(ptr nonnull %call.i4.i, ptr %7)
  %arrayidx7.i.i = getelementptr inbounds nuw i32, ptr %call.i4.i, i64 %idxprom.i.i
  %8 = load i32, ptr %arrayidx7.i.i, align 4
  %add.i5.i = add i32 %8, 1
  %barrier.i.i = getelementptr inbounds nuw i8, ptr %call.i4.i, i64 5652
  store i32 %add.i5.i, ptr %barrier.i.i, align 4
  %clock.i.i = getelementptr inbounds nuw i8, ptr %call.i4.i, i64 5648
  store i32 %add.i5.i, ptr %clock.i.i, align 16
  br label %actor_at.exit.i

actor_at.exit.i:                                  ; preds = %rank_view.exit.i.i, %if.then.i
  %9 = phi ptr [ %call.i4.i, %rank_view.exit.i.i ], [ %5, %if.then.i ]
  %taken.i.i = getelementptr inbounds nuw i8, ptr %9, i64 5656
  %count.i.i = getelementptr inbounds nuw i8, ptr %9, i64 5664
  %10 = load i32, ptr %count.i.i, align 8
  %cmp8.not.i.i = icmp eq i32 %10, 0
  br i1 %cmp8.not.i.i, label %new_stretch.exit.i, label %for.body.i.i

for.cond.cleanup.i.i:                             ; preds = %for.body.i.i
  %11 = icmp eq i32 %18, 0
  br i1 %11, label %new_stretch.exit.i, label %for.body.i.i.i

for.body.i.i.i:                                   ; preds = %for.cond.cleanup.i.i, %for.body.i.i.i
  %indvars.iv.i.i.i = phi i64 [ %indvars.iv.next.i.i.i, %for.body.i.i.i ], [ 0, %for.cond.cleanup.i.i ]
  %12 = load ptr, ptr %taken.i.i, align 8
  %arrayidx.i.i8.i = getelementptr inbounds nuw ptr, ptr %12, i64 %indvars.iv.i.i.i
  %13 = load ptr, ptr %arrayidx.i.i8.i, align 8
  call void @free(ptr %13)
  %indvars.iv.next.i.i.i = add nuw nsw i64 %indvars.iv.i.i.i, 1
  %14 = load i32, ptr %count.i.i, align 8
  %15 = zext i32 %14 to i64
  %cmp.i.i.i = icmp samesign ult i64 %indvars.iv.next.i.i.i, %15
  br i1 %cmp.i.i.i, label %for.body.i.i.i, label %new_stretch.exit.i

for.body.i.i:                                     ; preds = %actor_at.exit.i, %for.body.i.i
  %indvars.iv.i.i = phi i64 [ %indvars.iv.next.i.i, %for.body.i.i ], [ 0, %actor_at.exit.i ]
  %16 = load ptr, ptr %taken.i.i, align 8
  %arrayidx.i6.i = getelementptr inbounds nuw ptr, ptr %16, i64 %indvars.iv.i.i
  %17 = load ptr, ptr %arrayidx.i6.i, align 8
  call fastcc void @fly.sanitizer.join_view(ptr nonnull %9, ptr %17)
  %indvars.iv.next.i.i = add nuw nsw i64 %indvars.iv.i.i, 1
  %18 = load i32, ptr %count.i.i, align 8
  %19 = zext i32 %18 to i64
  %cmp.i7.i = icmp samesign ult i64 %indvars.iv.next.i.i, %19
  br i1 %cmp.i7.i, label %for.body.i.i, label %for.cond.cleanup.i.i

new_stretch.exit.i:                               ; preds = %for.body.i.i.i, %for.cond.cleanup.i.i, %actor_at.exit.i
  store i32 0, ptr %count.i.i, align 8
  %clock.i9.i = getelementptr inbounds nuw i8, ptr %9, i64 5648
  %20 = load i32, ptr %clock.i9.i, align 16
  %inc4.i.i = add i32 %20, 1
  store i32 %inc4.i.i, ptr %clock.i9.i, align 16
  %barrier.i10.i = getelementptr inbounds nuw i8, ptr %9, i64 5652
  store i32 %inc4.i.i, ptr %barrier.i10.i, align 4
  br label %ranks_barrier.exit

ranks_barrier.exit:                               ; preds = %if.then, %lor.lhs.false.i.i, %actor_here.exit.i, %new_stretch.exit.i
  call void @llvm.lifetime.end.p0(ptr nonnull %who.i)
  br label %if.end

if.end:                                           ; preds = %ranks_barrier.exit, %entry
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
  %call = tail call i32 @fly_resident_launch(ptr %kernel, ptr %args, ptr %extents, i64 %bytes, i32 1)
  br label %cleanup

if.end:                                           ; preds = %entry
  store ptr %extents, ptr @fly.sanitizer.dims, align 8
  store i64 %log2_of_wave, ptr @fly.sanitizer.wave_shift, align 8
  store i64 %bytes, ptr @fly.sanitizer.scratch_bytes, align 8
  %arrayidx = getelementptr inbounds nuw i8, ptr %extents, i64 48
  %1 = load i64, ptr %arrayidx, align 8
  %add2 = add i64 %1, %fixed_shared
  store i64 %add2, ptr @fly.sanitizer.shared_bytes, align 8
  %call3 = tail call align 128 ptr @aligned_alloc(i64 128, i64 %and)
  %call4 = tail call ptr @calloc(i64 %and, i64 1)
  store ptr %call4, ptr @fly.sanitizer.written, align 8
  %add5 = add i64 %add2, 1
  %call6 = tail call ptr @calloc(i64 %add5, i64 80)
  store ptr %call6, ptr @fly.sanitizer.shared_cells, align 8
  %2 = ptrtoint ptr %call3 to i64
  store i64 %2, ptr @fly.sanitizer.scratch, align 8
  %3 = load i64, ptr @fly.sanitizer.time, align 8
  %inc.i = add i64 %3, 1
  store i64 %inc.i, ptr @fly.sanitizer.time, align 8
  store i64 %inc.i, ptr @fly.sanitizer.launch_start, align 8
  %and8 = and i64 %0, 16
  %tobool9.not = icmp eq i64 %and8, 0
  br i1 %tobool9.not, label %if.end15, label %if.end15.thread

if.end15:                                         ; preds = %if.end
  %tobool16 = icmp ne ptr %call3, null
  %tobool17 = icmp ne ptr %call4, null
  %or.cond = and i1 %tobool16, %tobool17
  %tobool19 = icmp ne ptr %call6, null
  %or.cond1 = and i1 %or.cond, %tobool19
  br i1 %or.cond1, label %if.then29, label %if.end39

if.end15.thread:                                  ; preds = %if.end
  %call11 = tail call ptr @calloc(i64 %and, i64 4)
  store ptr %call11, ptr @fly.sanitizer.fillers, align 8
  %call12 = tail call ptr @calloc(i64 %and, i64 4)
  store ptr %call12, ptr @fly.sanitizer.readers, align 8
  %call13 = tail call ptr @calloc(i64 %and, i64 4)
  store ptr %call13, ptr @fly.sanitizer.writers, align 8
  %call14 = tail call ptr @calloc(i64 %and, i64 8)
  store ptr %call14, ptr @fly.sanitizer.write_times, align 8
  %tobool1630 = icmp ne ptr %call3, null
  %tobool1731 = icmp ne ptr %call4, null
  %or.cond32 = and i1 %tobool1630, %tobool1731
  %tobool1933 = icmp ne ptr %call6, null
  %or.cond134 = and i1 %or.cond32, %tobool1933
  br i1 %or.cond134, label %lor.lhs.false, label %if.end39

lor.lhs.false:                                    ; preds = %if.end15.thread
  %4 = insertelement <4 x ptr> poison, ptr %call11, i64 0
  %5 = insertelement <4 x ptr> %4, ptr %call12, i64 1
  %6 = insertelement <4 x ptr> %5, ptr %call13, i64 2
  %7 = insertelement <4 x ptr> %6, ptr %call14, i64 3
  %8 = icmp eq <4 x ptr> %7, zeroinitializer
  %9 = bitcast <4 x i1> %8 to i4
  %10 = icmp eq i4 %9, 0
  br i1 %10, label %if.then29, label %if.end39

if.then29:                                        ; preds = %if.end15, %lor.lhs.false
  %call30 = tail call ptr @fly_launch_begin(ptr nonnull %extents)
  %11 = load i64, ptr %extents, align 8
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %extents, i64 8
  %12 = load i64, ptr %arrayidx1.i, align 8
  %mul.i = mul nsw i64 %12, %11
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %extents, i64 16
  %13 = load i64, ptr %arrayidx2.i, align 8
  %mul3.i = mul nsw i64 %mul.i, %13
  %cmp35 = icmp sgt i64 %mul3.i, 0
  br i1 %cmp35, label %for.body, label %for.cond.cleanup

for.cond.cleanup:                                 ; preds = %for.body, %if.then29
  %status.1.lcssa = phi i32 [ 0, %if.then29 ], [ %spec.store.select, %for.body ]
  tail call void @fly_launch_end(ptr %call30)
  %.pre = load ptr, ptr @fly.sanitizer.written, align 8
  %.pre37 = load ptr, ptr @fly.sanitizer.shared_cells, align 8
  br label %if.end39

for.body:                                         ; preds = %if.then29, %for.body
  %n.036 = phi i64 [ %inc, %for.body ], [ 0, %if.then29 ]
  store i64 %n.036, ptr @fly.sanitizer.block, align 8
  store i64 0, ptr @fly.sanitizer.synced, align 8
  tail call void @fly_sanitizer_barrier()
  %14 = load ptr, ptr @fly.sanitizer.written, align 8
  tail call void @llvm.memset.p0.i64(ptr align 1 %14, i8 0, i64 %bytes, i1 false)
  %15 = load i64, ptr @fly.sanitizer.ticket_count, align 8
  %add33 = add i64 %15, 1
  store i64 %add33, ptr @fly.sanitizer.first_ticket, align 8
  %16 = load i64, ptr @fly.sanitizer.time, align 8
  %inc.i28 = add i64 %16, 1
  store i64 %inc.i28, ptr @fly.sanitizer.time, align 8
  store i64 %inc.i28, ptr @fly.sanitizer.fence_time, align 8
  %17 = load i64, ptr %extents, align 8
  %18 = load i64, ptr %arrayidx1.i, align 8
  %n.036.frozen = freeze i64 %n.036
  %.frozen = freeze i64 %17
  %div.i = udiv i64 %n.036.frozen, %.frozen
  %19 = mul i64 %div.i, %.frozen
  %rem.i.decomposed = sub i64 %n.036.frozen, %19
  %.frozen38 = freeze i64 %18
  %div4.i = udiv i64 %div.i, %.frozen38
  %20 = mul i64 %div4.i, %.frozen38
  %rem2.i.decomposed = sub i64 %div.i, %20
  %call.i = tail call i32 %kernel(ptr %args, i64 %rem.i.decomposed, i64 %rem2.i.decomposed, i64 %div4.i, ptr nonnull %extents, ptr nonnull %call3)
  %21 = load i8, ptr @fly.sanitizer.failed, align 1
  %loadedv36 = trunc nuw i8 %21 to i1
  %spec.store.select = select i1 %loadedv36, i32 6, i32 %call.i
  %inc = add nuw nsw i64 %n.036, 1
  %cmp = icmp slt i64 %inc, %mul3.i
  %tobool32.not = icmp eq i32 %spec.store.select, 0
  %22 = select i1 %cmp, i1 %tobool32.not, i1 false
  br i1 %22, label %for.body, label %for.cond.cleanup

if.end39:                                         ; preds = %if.end15.thread, %for.cond.cleanup, %lor.lhs.false, %if.end15
  %23 = phi ptr [ %.pre37, %for.cond.cleanup ], [ %call6, %lor.lhs.false ], [ %call6, %if.end15 ], [ %call6, %if.end15.thread ]
  %24 = phi ptr [ %.pre, %for.cond.cleanup ], [ %call4, %lor.lhs.false ], [ %call4, %if.end15 ], [ %call4, %if.end15.thread ]
  %status.0 = phi i32 [ %status.1.lcssa, %for.cond.cleanup ], [ -2, %lor.lhs.false ], [ -2, %if.end15 ], [ -2, %if.end15.thread ]
  %25 = load ptr, ptr @fly.sanitizer.fillers, align 8
  tail call void @free(ptr %25)
  %26 = load ptr, ptr @fly.sanitizer.readers, align 8
  tail call void @free(ptr %26)
  %27 = load ptr, ptr @fly.sanitizer.writers, align 8
  tail call void @free(ptr %27)
  %28 = load ptr, ptr @fly.sanitizer.write_times, align 8
  tail call void @free(ptr %28)
  %29 = load ptr, ptr @fly.sanitizer.tickets, align 8
  tail call void @free(ptr %29)
  store ptr null, ptr @fly.sanitizer.writers, align 8
  store ptr null, ptr @fly.sanitizer.readers, align 8
  store ptr null, ptr @fly.sanitizer.fillers, align 8
  store ptr null, ptr @fly.sanitizer.write_times, align 8
  store ptr null, ptr @fly.sanitizer.tickets, align 8
  store i64 0, ptr @fly.sanitizer.ticket_room, align 8
  store i64 0, ptr @fly.sanitizer.ticket_count, align 8
  tail call void @free(ptr %call3)
  tail call void @free(ptr %24)
  tail call void @free(ptr %23)
  br label %cleanup

cleanup:                                          ; preds = %if.end39, %if.then
  %retval.0 = phi i32 [ %call, %if.then ], [ %status.0, %if.end39 ]
  ret i32 %retval.0
}

declare i32 @fly_resident_launch(ptr, ptr, ptr, i64, i32) 

declare ptr @aligned_alloc(i64 allocalign , i64 ) #6

declare ptr @calloc(i64 , i64 ) #7

declare ptr @fly_launch_begin(ptr) 

declare void @fly_launch_end(ptr) 

declare void @free(ptr allocptr captures(none)) #8

define void @fly_sanitizer_stray(i64 %site, i64 %present, i64 %absent) #9 {
entry:
  %here = alloca %struct.Touch, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %here)
  %0 = getelementptr inbounds nuw i8, ptr %here, i64 8
  call void @llvm.memset.p0.i64(ptr nonnull align 8 dereferenceable(56) %0, i8 0, i64 56, i1 false)
  store i64 %site, ptr %here, align 8
  %thread = getelementptr inbounds nuw i8, ptr %here, i64 32
  store i64 %present, ptr %thread, align 8
  %1 = load i64, ptr @fly.sanitizer.block, align 8
  %shl.i = shl i64 %1, 32
  %shl1.i = shl i64 %absent, 20
  %2 = or i64 %shl1.i, %shl.i
  %or2.i = or i64 %2, %site
  call fastcc void @fly.sanitizer.fill(i32 8, ptr %here, i64 0, i64 %or2.i)
  call void @llvm.lifetime.end.p0(ptr nonnull %here)
  ret void
}

define internal fastcc void @fly.sanitizer.fill(i32 range(i32 1, 33) %check, ptr nonnull readonly captures(none) %touch, i64 %address, i64 %other) #10 noinline {
entry:
  %conv = zext nneg i32 %check to i64
  %0 = load ptr, ptr @fly.sanitizer.report, align 8
  store i64 %conv, ptr %0, align 8
  %1 = load i64, ptr %touch, align 8
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %0, i64 8
  store i64 %1, ptr %arrayidx1, align 8
  %thread = getelementptr inbounds nuw i8, ptr %touch, i64 32
  %2 = load i64, ptr %thread, align 8
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %0, i64 16
  store i64 %2, ptr %arrayidx2, align 8
  %3 = load i64, ptr @fly.sanitizer.block, align 8
  %arrayidx3 = getelementptr inbounds nuw i8, ptr %0, i64 24
  store i64 %3, ptr %arrayidx3, align 8
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %0, i64 32
  store i64 %address, ptr %arrayidx4, align 8
  %bytes = getelementptr inbounds nuw i8, ptr %touch, i64 16
  %4 = load i64, ptr %bytes, align 8
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %0, i64 40
  store i64 %4, ptr %arrayidx5, align 8
  %kind = getelementptr inbounds nuw i8, ptr %touch, i64 24
  %5 = load i64, ptr %kind, align 8
  %arrayidx6 = getelementptr inbounds nuw i8, ptr %0, i64 48
  store i64 %5, ptr %arrayidx6, align 8
  %low = getelementptr inbounds nuw i8, ptr %touch, i64 40
  %6 = load i64, ptr %low, align 8
  %arrayidx7 = getelementptr inbounds nuw i8, ptr %0, i64 56
  store i64 %6, ptr %arrayidx7, align 8
  %end = getelementptr inbounds nuw i8, ptr %touch, i64 48
  %7 = load i64, ptr %end, align 8
  %arrayidx8 = getelementptr inbounds nuw i8, ptr %0, i64 64
  store i64 %7, ptr %arrayidx8, align 8
  %arrayidx9 = getelementptr inbounds nuw i8, ptr %0, i64 72
  store i64 %other, ptr %arrayidx9, align 8
  %8 = load i64, ptr @fly.sanitizer.scratch, align 8
  %arrayidx10 = getelementptr inbounds nuw i8, ptr %0, i64 80
  store i64 %8, ptr %arrayidx10, align 8
  %9 = load ptr, ptr @fly.sanitizer.dims, align 8
  %10 = load i64, ptr %9, align 8
  %arrayidx14 = getelementptr inbounds nuw i8, ptr %0, i64 88
  store i64 %10, ptr %arrayidx14, align 8
  %arrayidx12.1 = getelementptr inbounds nuw i8, ptr %9, i64 8
  %11 = load i64, ptr %arrayidx12.1, align 8
  %arrayidx14.1 = getelementptr inbounds nuw i8, ptr %0, i64 96
  store i64 %11, ptr %arrayidx14.1, align 8
  %arrayidx12.2 = getelementptr inbounds nuw i8, ptr %9, i64 16
  %12 = load i64, ptr %arrayidx12.2, align 8
  %arrayidx14.2 = getelementptr inbounds nuw i8, ptr %0, i64 104
  store i64 %12, ptr %arrayidx14.2, align 8
  %arrayidx12.3 = getelementptr inbounds nuw i8, ptr %9, i64 24
  %13 = load i64, ptr %arrayidx12.3, align 8
  %arrayidx14.3 = getelementptr inbounds nuw i8, ptr %0, i64 112
  store i64 %13, ptr %arrayidx14.3, align 8
  %arrayidx12.4 = getelementptr inbounds nuw i8, ptr %9, i64 32
  %14 = load i64, ptr %arrayidx12.4, align 8
  %arrayidx14.4 = getelementptr inbounds nuw i8, ptr %0, i64 120
  store i64 %14, ptr %arrayidx14.4, align 8
  %arrayidx12.5 = getelementptr inbounds nuw i8, ptr %9, i64 40
  %15 = load i64, ptr %arrayidx12.5, align 8
  %arrayidx14.5 = getelementptr inbounds nuw i8, ptr %0, i64 128
  store i64 %15, ptr %arrayidx14.5, align 8
  %arrayidx15 = getelementptr inbounds nuw i8, ptr %0, i64 136
  store i64 0, ptr %arrayidx15, align 8
  ret void
}

define i1 @fly_sanitizer_modes(i64 %site, i64 %thread, i64 %low, i64 %end, ptr readonly captures(none) %pairs, i64 %modes) #1 {
entry:
  %here = alloca %struct.Touch, align 8
  %cmp20.not = icmp eq i64 %modes, 0
  br i1 %cmp20.not, label %.loopexit, label %for.body

for.body:                                         ; preds = %entry, %for.inc23
  %mode.021 = phi i64 [ %inc24, %for.inc23 ], [ 0, %entry ]
  %arrayidx.idx = shl i64 %mode.021, 4
  %arrayidx = getelementptr inbounds nuw i8, ptr %pairs, i64 %arrayidx.idx
  %0 = load i64, ptr %arrayidx, align 8
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %1 = load i64, ptr %arrayidx2, align 8
  %cmp3 = icmp ult i64 %0, %1
  br i1 %cmp3, label %for.inc23, label %if.end

if.end:                                           ; preds = %for.body
  call void @llvm.lifetime.start.p0(ptr nonnull %here)
  store i64 %site, ptr %here, align 8
  %address = getelementptr inbounds nuw i8, ptr %here, i64 8
  %thread5 = getelementptr inbounds nuw i8, ptr %here, i64 32
  call void @llvm.memset.p0.i64(ptr nonnull align 8 dereferenceable(24) %address, i8 0, i64 24, i1 false)
  store i64 %thread, ptr %thread5, align 8
  %low6 = getelementptr inbounds nuw i8, ptr %here, i64 40
  store i64 %low, ptr %low6, align 8
  %end7 = getelementptr inbounds nuw i8, ptr %here, i64 48
  store i64 %end, ptr %end7, align 8
  %region = getelementptr inbounds nuw i8, ptr %here, i64 56
  store i64 0, ptr %region, align 8
  call fastcc void @fly.sanitizer.fill(i32 32, ptr %here, i64 %low, i64 0)
  %2 = load ptr, ptr @fly.sanitizer.report, align 8
  %arrayidx8 = getelementptr inbounds nuw i8, ptr %2, i64 144
  store i64 %mode.021, ptr %arrayidx8, align 8
  %arrayidx9 = getelementptr inbounds nuw i8, ptr %2, i64 152
  store i64 %modes, ptr %arrayidx9, align 8
  %3 = load i64, ptr %arrayidx2, align 8
  %arrayidx13 = getelementptr inbounds nuw i8, ptr %2, i64 160
  store i64 %3, ptr %arrayidx13, align 8
  %invariant.umin = tail call i64 @llvm.umin.i64(i64 %modes, i64 8)
  br label %for.body18

for.body18:                                       ; preds = %if.end, %for.body18
  %index.023 = phi i64 [ 0, %if.end ], [ %inc, %for.body18 ]
  %arrayidx20.idx = shl nuw nsw i64 %index.023, 4
  %arrayidx20 = getelementptr inbounds nuw i8, ptr %pairs, i64 %arrayidx20.idx
  %4 = load i64, ptr %arrayidx20, align 8
  %5 = getelementptr inbounds nuw i64, ptr %2, i64 %index.023
  %arrayidx22 = getelementptr inbounds nuw i8, ptr %5, i64 168
  store i64 %4, ptr %arrayidx22, align 8
  %inc = add nuw nsw i64 %index.023, 1
  %exitcond26.not = icmp eq i64 %inc, %invariant.umin
  br i1 %exitcond26.not, label %cleanup, label %for.body18

for.inc23:                                        ; preds = %for.body
  %inc24 = add nuw i64 %mode.021, 1
  %exitcond.not = icmp eq i64 %inc24, %modes
  br i1 %exitcond.not, label %.loopexit, label %for.body

cleanup:                                          ; preds = %for.body18
  call void @llvm.lifetime.end.p0(ptr nonnull %here)
  br label %.loopexit

.loopexit:                                        ; preds = %for.inc23, %entry, %cleanup
  %cmp18 = phi i1 [ true, %cleanup ], [ false, %entry ], [ false, %for.inc23 ]
  ret i1 %cmp18
}

define void @fly_sanitizer_forget(ptr %pointer, i64 %bytes) #11 {
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
  tail call void @llvm.memset.p0.i64(ptr align 1 %add.ptr, i8 0, i64 %bytes, i1 false)
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  ret void
}

define i64 @fly_sanitizer_pending(i64 %site, i64 %address, i64 %bytes, i64 %kind, i64 %thread, i64 %low, i64 %end, i64 %region) #12 {
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
  br i1 %cmp12, label %cleanup, label %if.end.i

if.end.i:                                         ; preds = %lor.lhs.false11
  %3 = load i64, ptr @fly.sanitizer.time, align 8
  %inc.i.i = add i64 %3, 1
  store i64 %inc.i.i, ptr @fly.sanitizer.time, align 8
  %cmp2.not15.i = icmp ult i64 %sub, %add
  br i1 %cmp2.not15.i, label %for.body.i, label %if.end14

for.body.i:                                       ; preds = %if.end.i, %for.inc.i
  %byte.016.i = phi i64 [ %inc.i, %for.inc.i ], [ %sub, %if.end.i ]
  %call3.i = call fastcc i1 @fly.sanitizer.meets_work(ptr nonnull readonly %touch, i64 %byte.016.i)
  br i1 %call3.i, label %cleanup, label %for.inc.i

for.inc.i:                                        ; preds = %for.body.i
  %inc.i = add i64 %byte.016.i, 1
  %exitcond.not.i = icmp eq i64 %inc.i, %add
  br i1 %exitcond.not.i, label %if.end14, label %for.body.i

if.end14:                                         ; preds = %for.inc.i, %if.end.i
  %and15 = and i64 %kind, 2
  %tobool16.not = icmp eq i64 %and15, 0
  %4 = load i64, ptr @fly.sanitizer.ticket_count, align 8
  %add.i13 = add i64 %4, 1
  %5 = load i64, ptr @fly.sanitizer.ticket_room, align 8
  %cmp.not.i = icmp ult i64 %add.i13, %5
  %.pre.i = load ptr, ptr @fly.sanitizer.tickets, align 8
  br i1 %cmp.not.i, label %new_ticket.exit, label %if.then.i

if.then.i:                                        ; preds = %if.end14
  %tobool.not.i = icmp eq i64 %5, 0
  %mul.i = shl i64 %5, 1
  %cond.i = select i1 %tobool.not.i, i64 1024, i64 %mul.i
  store i64 %cond.i, ptr @fly.sanitizer.ticket_room, align 8
  %mul1.i = mul i64 %cond.i, 72
  %call.i = tail call ptr @realloc(ptr %.pre.i, i64 %mul1.i)
  %tobool2.not.i = icmp eq ptr %call.i, null
  br i1 %tobool2.not.i, label %if.then3.i, label %if.end.i14

if.then3.i:                                       ; preds = %if.then.i
  tail call void @llvm.trap()
  unreachable

if.end.i14:                                       ; preds = %if.then.i
  store ptr %call.i, ptr @fly.sanitizer.tickets, align 8
  br label %new_ticket.exit

new_ticket.exit:                                  ; preds = %if.end14, %if.end.i14
  %6 = phi ptr [ %call.i, %if.end.i14 ], [ %.pre.i, %if.end14 ]
  %storedv.i = zext i1 %tobool16.not to i8
  store i64 %add.i13, ptr @fly.sanitizer.ticket_count, align 8
  %arrayidx.i15 = getelementptr inbounds nuw %struct.Ticket, ptr %6, i64 %add.i13
  %7 = load i64, ptr @fly.sanitizer.block, align 8
  %shl.i.i = shl i64 %7, 32
  %shl1.i.i = shl i64 %thread, 20
  %8 = or i64 %shl1.i.i, %shl.i.i
  %or2.i.i = or i64 %8, %site
  store i64 %address, ptr %arrayidx.i15, align 8
  %.compoundliteral.sroa.2.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i15, i64 8
  store i64 %bytes, ptr %.compoundliteral.sroa.2.0.arrayidx.sroa_idx.i, align 8
  %.compoundliteral.sroa.3.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i15, i64 16
  store i64 %or2.i.i, ptr %.compoundliteral.sroa.3.0.arrayidx.sroa_idx.i, align 8
  %.compoundliteral.sroa.4.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i15, i64 24
  store i64 %low, ptr %.compoundliteral.sroa.4.0.arrayidx.sroa_idx.i, align 8
  %.compoundliteral.sroa.5.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i15, i64 32
  store i64 %end, ptr %.compoundliteral.sroa.5.0.arrayidx.sroa_idx.i, align 8
  %.compoundliteral.sroa.6.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i15, i64 40
  %.compoundliteral.sroa.9.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i15, i64 64
  tail call void @llvm.memset.p0.i64(ptr nonnull align 8 dereferenceable(24) %.compoundliteral.sroa.6.0.arrayidx.sroa_idx.i, i8 0, i64 24, i1 false)
  store i8 %storedv.i, ptr %.compoundliteral.sroa.9.0.arrayidx.sroa_idx.i, align 8
  %.compoundliteral.sroa.10.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i15, i64 65
  store i8 1, ptr %.compoundliteral.sroa.10.0.arrayidx.sroa_idx.i, align 1
  %.compoundliteral.sroa.11.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i15, i64 66
  store i8 %storedv.i, ptr %.compoundliteral.sroa.11.0.arrayidx.sroa_idx.i, align 2
  %.compoundliteral.sroa.12.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i15, i64 67
  store i8 0, ptr %.compoundliteral.sroa.12.0.arrayidx.sroa_idx.i, align 1
  %.compoundliteral.sroa.13.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i15, i64 68
  store i32 0, ptr %.compoundliteral.sroa.13.0.arrayidx.sroa_idx.i, align 4
  br i1 %cmp2.not15.i, label %for.body.lr.ph, label %cleanup

for.body.lr.ph:                                   ; preds = %new_ticket.exit
  %conv = trunc i64 %add.i13 to i32
  %9 = load ptr, ptr @fly.sanitizer.fillers, align 8
  %10 = load ptr, ptr @fly.sanitizer.readers, align 8
  %cond = select i1 %tobool16.not, ptr %10, ptr %9
  br label %for.body

for.body:                                         ; preds = %for.body.lr.ph, %for.body
  %byte.021 = phi i64 [ %sub, %for.body.lr.ph ], [ %inc, %for.body ]
  %arrayidx = getelementptr inbounds nuw i32, ptr %cond, i64 %byte.021
  store i32 %conv, ptr %arrayidx, align 4
  %inc = add nuw i64 %byte.021, 1
  %exitcond.not = icmp eq i64 %inc, %add
  br i1 %exitcond.not, label %cleanup, label %for.body

cleanup:                                          ; preds = %for.body.i, %for.body, %new_ticket.exit, %entry, %lor.lhs.false10, %lor.lhs.false11
  %retval.0 = phi i64 [ %add.i13, %new_ticket.exit ], [ 0, %entry ], [ 0, %lor.lhs.false11 ], [ 0, %lor.lhs.false10 ], [ %add.i13, %for.body ], [ -1, %for.body.i ]
  call void @llvm.lifetime.end.p0(ptr nonnull %touch)
  ret i64 %retval.0
}

define i64 @fly_sanitizer_tile(i64 %site, i64 %shared, i64 %descriptor, i64 %rows, i64 %depth, i64 %size, i1 %k_major, i64 %thread, i64 %low, i64 %end) #12 {
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
  %1 = load i64, ptr @fly.sanitizer.ticket_count, align 8
  %add.i = add i64 %1, 1
  %2 = load i64, ptr @fly.sanitizer.ticket_room, align 8
  %cmp.not.i = icmp ult i64 %add.i, %2
  %.pre.i = load ptr, ptr @fly.sanitizer.tickets, align 8
  br i1 %cmp.not.i, label %new_ticket.exit, label %if.then.i

if.then.i:                                        ; preds = %if.end
  %tobool.not.i = icmp eq i64 %2, 0
  %mul.i = shl i64 %2, 1
  %cond.i = select i1 %tobool.not.i, i64 1024, i64 %mul.i
  store i64 %cond.i, ptr @fly.sanitizer.ticket_room, align 8
  %mul1.i = mul i64 %cond.i, 72
  %call.i = tail call ptr @realloc(ptr %.pre.i, i64 %mul1.i)
  %tobool2.not.i = icmp eq ptr %call.i, null
  br i1 %tobool2.not.i, label %if.then3.i, label %if.end.i

if.then3.i:                                       ; preds = %if.then.i
  tail call void @llvm.trap()
  unreachable

if.end.i:                                         ; preds = %if.then.i
  store ptr %call.i, ptr @fly.sanitizer.tickets, align 8
  br label %new_ticket.exit

new_ticket.exit:                                  ; preds = %if.end, %if.end.i
  %3 = phi ptr [ %call.i, %if.end.i ], [ %.pre.i, %if.end ]
  store i64 %add.i, ptr @fly.sanitizer.ticket_count, align 8
  %arrayidx.i = getelementptr inbounds nuw %struct.Ticket, ptr %3, i64 %add.i
  %4 = load i64, ptr @fly.sanitizer.block, align 8
  %shl.i.i = shl i64 %4, 32
  %shl1.i.i = shl i64 %thread, 20
  %5 = or i64 %shl1.i.i, %shl.i.i
  %or2.i.i = or i64 %5, %site
  store i64 %shared, ptr %arrayidx.i, align 8
  %.compoundliteral.sroa.2.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 8
  %.compoundliteral.sroa.3.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 16
  store i64 %or2.i.i, ptr %.compoundliteral.sroa.3.0.arrayidx.sroa_idx.i, align 8
  %.compoundliteral.sroa.4.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 24
  store i64 %low, ptr %.compoundliteral.sroa.4.0.arrayidx.sroa_idx.i, align 8
  %.compoundliteral.sroa.5.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 32
  store i64 %end, ptr %.compoundliteral.sroa.5.0.arrayidx.sroa_idx.i, align 8
  %.compoundliteral.sroa.6.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 40
  %.compoundliteral.sroa.9.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 64
  store i8 1, ptr %.compoundliteral.sroa.9.0.arrayidx.sroa_idx.i, align 8
  %.compoundliteral.sroa.10.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 65
  store i8 1, ptr %.compoundliteral.sroa.10.0.arrayidx.sroa_idx.i, align 1
  %.compoundliteral.sroa.11.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 66
  store i8 0, ptr %.compoundliteral.sroa.11.0.arrayidx.sroa_idx.i, align 2
  %.compoundliteral.sroa.12.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 67
  %.compoundliteral.sroa.13.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 68
  store i32 0, ptr %.compoundliteral.sroa.13.0.arrayidx.sroa_idx.i, align 4
  store i64 %descriptor, ptr %.compoundliteral.sroa.6.0.arrayidx.sroa_idx.i, align 8
  %rows6 = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 48
  store i64 %rows, ptr %rows6, align 8
  %mul = mul i64 %size, %depth
  %depth7 = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 56
  store i64 %mul, ptr %depth7, align 8
  store i64 %size, ptr %.compoundliteral.sroa.2.0.arrayidx.sroa_idx.i, align 8
  store i8 %storedv, ptr %.compoundliteral.sroa.12.0.arrayidx.sroa_idx.i, align 1
  %cmp.not32.not = icmp eq i64 %rows, 0
  br i1 %cmp.not32.not, label %cleanup32, label %for.cond11.preheader.lr.ph

for.cond11.preheader.lr.ph:                       ; preds = %new_ticket.exit
  %6 = load i64, ptr @fly.sanitizer.scratch, align 8
  %sub = sub i64 %shared, %6
  %7 = load i64, ptr @fly.sanitizer.scratch_bytes, align 8
  %conv = trunc i64 %add.i to i32
  %8 = load ptr, ptr @fly.sanitizer.readers, align 8
  br label %for.cond11.preheader

for.cond11.preheader:                             ; preds = %for.cond11.preheader.lr.ph, %for.inc25
  %9 = phi i64 [ %mul, %for.cond11.preheader.lr.ph ], [ %22, %for.inc25 ]
  %10 = phi i64 [ %mul, %for.cond11.preheader.lr.ph ], [ %23, %for.inc25 ]
  %row.033 = phi i64 [ 0, %for.cond11.preheader.lr.ph ], [ %inc26, %for.inc25 ]
  %cmp13.not30.not = icmp eq i64 %10, 0
  br i1 %cmp13.not30.not, label %for.inc25, label %for.body15.lr.ph

for.body15.lr.ph:                                 ; preds = %for.cond11.preheader
  %mul37.i = mul i64 %row.033, %size
  %div33.i = lshr i64 %row.033, 3
  %rem.i = and i64 %row.033, 7
  br label %for.body15

for.body15:                                       ; preds = %for.body15.lr.ph, %for.inc
  %11 = phi i64 [ %9, %for.body15.lr.ph ], [ %21, %for.inc ]
  %byte.031 = phi i64 [ 0, %for.body15.lr.ph ], [ %inc, %for.inc ]
  %12 = load i64, ptr %.compoundliteral.sroa.6.0.arrayidx.sroa_idx.i, align 8
  %shr.i = lshr i64 %12, 62
  %cmp.i = icmp eq i64 %shr.i, 0
  %13 = lshr i64 %12, 12
  %shl4.i = and i64 %13, 262128
  %14 = lshr i64 %12, 28
  %shl7.i = and i64 %14, 262128
  br i1 %cmp.i, label %cond.end17.i, label %cond.false.i

cond.false.i:                                     ; preds = %for.body15
  %cmp10.i = icmp eq i64 %shr.i, 1
  br i1 %cmp10.i, label %cond.end17.i, label %cond.false13.i

cond.false13.i:                                   ; preds = %cond.false.i
  %cmp14.i = icmp eq i64 %shr.i, 2
  %15 = select i1 %cmp14.i, i64 64, i64 32
  br label %cond.end17.i

cond.end17.i:                                     ; preds = %cond.false13.i, %cond.false.i, %for.body15
  %cond18.i = phi i64 [ 16, %for.body15 ], [ %15, %cond.false13.i ], [ 128, %cond.false.i ]
  %16 = load i8, ptr %.compoundliteral.sroa.12.0.arrayidx.sroa_idx.i, align 1
  %loadedv.i = trunc i8 %16 to i1
  br i1 %loadedv.i, label %if.then.i25, label %if.else.i

if.then.i25:                                      ; preds = %cond.end17.i
  %mul.i26 = mul i64 %shl7.i, %div33.i
  %mul26.i = mul nuw nsw i64 %cond18.i, %rem.i
  %div2734.i = lshr i64 %byte.031, 4
  %cond31.i = select i1 %cmp.i, i64 %shl4.i, i64 16
  %mul32.i = mul i64 %cond31.i, %div2734.i
  %rem34.i = and i64 %byte.031, 15
  %add.i27 = or disjoint i64 %mul.i26, %rem34.i
  %add33.i = add i64 %add.i27, %mul32.i
  %add35.i = add i64 %add33.i, %mul26.i
  br label %tile_byte.exit

if.else.i:                                        ; preds = %cond.end17.i
  %byte.031.frozen = freeze i64 %byte.031
  %size.frozen = freeze i64 %size
  %div40.i = udiv i64 %byte.031.frozen, %size.frozen
  %17 = mul i64 %div40.i, %size.frozen
  %rem38.i.decomposed = sub i64 %byte.031.frozen, %17
  %add39.i = add i64 %rem38.i.decomposed, %mul37.i
  %18 = tail call range(i64 4, 65) i64 @llvm.cttz.i64(i64 %cond18.i, i1 true)
  %div4131.i = lshr i64 %add39.i, %18
  %cond46.i = select i1 %cmp.i, i64 %shl7.i, i64 %shl4.i
  %mul47.i = mul i64 %div4131.i, %cond46.i
  %div4832.i = lshr i64 %div40.i, 3
  %cond53.i = select i1 %cmp.i, i64 %shl4.i, i64 %shl7.i
  %mul54.i = mul i64 %div4832.i, %cond53.i
  %rem56.i = and i64 %div40.i, 7
  %mul57.i = mul nuw nsw i64 %rem56.i, %cond18.i
  %19 = add nsw i64 %cond18.i, -1
  %rem59.i = and i64 %add39.i, %19
  %add55.i = add i64 %mul54.i, %rem59.i
  %add58.i = add i64 %add55.i, %mul47.i
  %add60.i = add i64 %add58.i, %mul57.i
  br label %tile_byte.exit

tile_byte.exit:                                   ; preds = %if.then.i25, %if.else.i
  %add35.pn.i = phi i64 [ %add35.i, %if.then.i25 ], [ %add60.i, %if.else.i ]
  %and.i24 = shl i64 %12, 4
  %shl.i = and i64 %and.i24, 262128
  %at.0.i = add i64 %add35.pn.i, %shl.i
  %sub.i = sub nuw nsw i64 4, %shr.i
  %shr62.i = lshr i64 %at.0.i, 7
  %notmask.i = shl nsw i64 -1, %sub.i
  %20 = xor i64 %notmask.i, -1
  %sub64.i = select i1 %cmp.i, i64 0, i64 %20
  %and65.i = and i64 %shr62.i, %sub64.i
  %shl66.i = shl nuw nsw i64 %and65.i, 4
  %xor.i = xor i64 %shl66.i, %at.0.i
  %add = add i64 %xor.i, %sub
  %cmp17.not = icmp ult i64 %add, %7
  br i1 %cmp17.not, label %if.end19, label %for.inc

if.end19:                                         ; preds = %tile_byte.exit
  %call20 = call fastcc i1 @fly.sanitizer.meets_work(ptr %touch, i64 %add)
  br i1 %call20, label %cleanup32, label %if.end22

if.end22:                                         ; preds = %if.end19
  %arrayidx = getelementptr inbounds nuw i32, ptr %8, i64 %add
  store i32 %conv, ptr %arrayidx, align 4
  %.pre = load i64, ptr %depth7, align 8
  br label %for.inc

for.inc:                                          ; preds = %if.end22, %tile_byte.exit
  %21 = phi i64 [ %.pre, %if.end22 ], [ %11, %tile_byte.exit ]
  %inc = add nuw i64 %byte.031, 1
  %cmp13.not = icmp ult i64 %inc, %21
  br i1 %cmp13.not, label %for.body15, label %for.inc25

for.inc25:                                        ; preds = %for.inc, %for.cond11.preheader
  %22 = phi i64 [ %9, %for.cond11.preheader ], [ %21, %for.inc ]
  %23 = phi i64 [ 0, %for.cond11.preheader ], [ %21, %for.inc ]
  %inc26 = add nuw i64 %row.033, 1
  %exitcond.not = icmp eq i64 %inc26, %rows
  br i1 %exitcond.not, label %cleanup32, label %for.cond11.preheader

cleanup32:                                        ; preds = %for.inc25, %if.end19, %new_ticket.exit, %entry
  %retval.0 = phi i64 [ 0, %entry ], [ %add.i, %new_ticket.exit ], [ -1, %if.end19 ], [ %add.i, %for.inc25 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %touch)
  ret i64 %retval.0
}

define internal fastcc i1 @fly.sanitizer.meets_work(ptr nonnull readonly captures(none) %touch, i64 %byte) #9 {
entry:
  %kind = getelementptr inbounds nuw i8, ptr %touch, i64 24
  %0 = load i64, ptr %kind, align 8
  %1 = load ptr, ptr @fly.sanitizer.fillers, align 8
  %arrayidx = getelementptr inbounds nuw i32, ptr %1, i64 %byte
  %2 = load i32, ptr %arrayidx, align 4
  %conv = zext i32 %2 to i64
  %3 = load i64, ptr @fly.sanitizer.first_ticket, align 8
  %cmp.not.i = icmp ugt i64 %3, %conv
  br i1 %cmp.not.i, label %if.end, label %under_way.exit

under_way.exit:                                   ; preds = %entry
  %4 = load ptr, ptr @fly.sanitizer.tickets, align 8
  %arrayidx.i = getelementptr inbounds nuw %struct.Ticket, ptr %4, i64 %conv
  %open.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 65
  %5 = load i8, ptr %open.i, align 1
  %loadedv.i = trunc i8 %5 to i1
  br i1 %loadedv.i, label %if.then, label %if.end

if.then:                                          ; preds = %under_way.exit
  %6 = load i64, ptr @fly.sanitizer.scratch, align 8
  %add = add i64 %6, %byte
  %who = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 16
  %7 = load i64, ptr %who, align 8
  tail call fastcc void @fly.sanitizer.fill(i32 16, ptr nonnull readonly %touch, i64 %add, i64 %7)
  br label %cleanup.sink.split

if.end:                                           ; preds = %entry, %under_way.exit
  %and = and i64 %0, 2
  %tobool.not = icmp eq i64 %and, 0
  br i1 %tobool.not, label %if.end20, label %land.lhs.true

land.lhs.true:                                    ; preds = %if.end
  %8 = load ptr, ptr @fly.sanitizer.readers, align 8
  %arrayidx9 = getelementptr inbounds nuw i32, ptr %8, i64 %byte
  %9 = load i32, ptr %arrayidx9, align 4
  %conv10 = zext i32 %9 to i64
  %cmp.not.i17 = icmp ugt i64 %3, %conv10
  br i1 %cmp.not.i17, label %if.end20, label %under_way.exit22

under_way.exit22:                                 ; preds = %land.lhs.true
  %10 = load ptr, ptr @fly.sanitizer.tickets, align 8
  %arrayidx.i19 = getelementptr inbounds nuw %struct.Ticket, ptr %10, i64 %conv10
  %open.i20 = getelementptr inbounds nuw i8, ptr %arrayidx.i19, i64 65
  %11 = load i8, ptr %open.i20, align 1
  %loadedv.i21 = trunc i8 %11 to i1
  br i1 %loadedv.i21, label %if.then13, label %if.end20

if.then13:                                        ; preds = %under_way.exit22
  %12 = load i64, ptr @fly.sanitizer.scratch, align 8
  %add14 = add i64 %12, %byte
  %who18 = getelementptr inbounds nuw i8, ptr %arrayidx.i19, i64 16
  %13 = load i64, ptr %who18, align 8
  tail call fastcc void @fly.sanitizer.fill(i32 16, ptr nonnull readonly %touch, i64 %add14, i64 %13)
  br label %cleanup.sink.split

if.end20:                                         ; preds = %land.lhs.true, %under_way.exit22, %if.end
  %14 = and i64 %0, 42
  %or.cond = icmp eq i64 %14, 32
  br i1 %or.cond, label %land.lhs.true29, label %cleanup

land.lhs.true29:                                  ; preds = %if.end20
  %15 = load ptr, ptr @fly.sanitizer.write_times, align 8
  %arrayidx30 = getelementptr inbounds nuw i64, ptr %15, i64 %byte
  %16 = load i64, ptr %arrayidx30, align 8
  %17 = load i64, ptr @fly.sanitizer.fence_time, align 8
  %cmp = icmp ugt i64 %16, %17
  br i1 %cmp, label %if.then32, label %cleanup

if.then32:                                        ; preds = %land.lhs.true29
  %18 = load i64, ptr @fly.sanitizer.scratch, align 8
  %add33 = add i64 %18, %byte
  %19 = load ptr, ptr @fly.sanitizer.writers, align 8
  %arrayidx34 = getelementptr inbounds nuw i32, ptr %19, i64 %byte
  %20 = load i32, ptr %arrayidx34, align 4
  %21 = load i64, ptr @fly.sanitizer.block, align 8
  %shl.i = shl i64 %21, 32
  %or.i = zext i32 %20 to i64
  %or2.i = or disjoint i64 %shl.i, %or.i
  tail call fastcc void @fly.sanitizer.fill(i32 16, ptr nonnull readonly %touch, i64 %add33, i64 %or2.i)
  br label %cleanup.sink.split

cleanup.sink.split:                               ; preds = %if.then, %if.then13, %if.then32
  %.sink = phi i64 [ 3, %if.then32 ], [ 2, %if.then13 ], [ 1, %if.then ]
  %22 = load ptr, ptr @fly.sanitizer.report, align 8
  %arrayidx.i24 = getelementptr inbounds nuw i8, ptr %22, i64 136
  store i64 %.sink, ptr %arrayidx.i24, align 8
  br label %cleanup

cleanup:                                          ; preds = %cleanup.sink.split, %if.end20, %land.lhs.true29
  %retval.0 = phi i1 [ false, %if.end20 ], [ false, %land.lhs.true29 ], [ true, %cleanup.sink.split ]
  ret i1 %retval.0
}

define void @fly_sanitizer_settle(i64 %number) #1 {
entry:
  %touch = alloca %struct.Touch, align 8
  %0 = load ptr, ptr @fly.sanitizer.tickets, align 8
  %add.ptr = getelementptr inbounds nuw %struct.Ticket, ptr %0, i64 %number
  %1 = load i64, ptr @fly.sanitizer.first_ticket, align 8
  %cmp = icmp ult i64 %number, %1
  br i1 %cmp, label %cleanup, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %entry
  %open = getelementptr inbounds nuw i8, ptr %add.ptr, i64 65
  %2 = load i8, ptr %open, align 1
  %loadedv = trunc i8 %2 to i1
  br i1 %loadedv, label %if.end, label %cleanup

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
  %shr = lshr i64 %3, 20
  %and5 = and i64 %shr, 4095
  store i64 %and5, ptr %thread, align 8
  %low = getelementptr inbounds nuw i8, ptr %touch, i64 40
  %low6 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 24
  %6 = load i64, ptr %low6, align 8
  store i64 %6, ptr %low, align 8
  %end = getelementptr inbounds nuw i8, ptr %touch, i64 48
  %end7 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 32
  %7 = load i64, ptr %end7, align 8
  store i64 %7, ptr %end, align 8
  %region = getelementptr inbounds nuw i8, ptr %touch, i64 56
  store i64 -2, ptr %region, align 8
  %reads = getelementptr inbounds nuw i8, ptr %add.ptr, i64 64
  %8 = load i8, ptr %reads, align 8
  %loadedv8 = trunc i8 %8 to i1
  %9 = load i8, ptr @fly.sanitizer.failed, align 1
  %loadedv9 = trunc nuw i8 %9 to i1
  %or.cond = select i1 %loadedv8, i1 true, i1 %loadedv9
  br i1 %or.cond, label %if.end13, label %land.lhs.true10

land.lhs.true10:                                  ; preds = %if.end
  %10 = load i64, ptr @fly.sanitizer.flags, align 8
  %and11 = and i64 %10, 2
  %tobool.not = icmp eq i64 %and11, 0
  br i1 %tobool.not, label %if.end13, label %if.then12

if.then12:                                        ; preds = %land.lhs.true10
  %call = call fastcc i1 @fly.sanitizer.races(ptr %touch)
  %storedv = zext i1 %call to i8
  store i8 %storedv, ptr @fly.sanitizer.failed, align 1
  br label %if.end13

if.end13:                                         ; preds = %if.then12, %land.lhs.true10, %if.end
  call void @llvm.lifetime.end.p0(ptr nonnull %touch)
  br label %cleanup

cleanup:                                          ; preds = %entry, %lor.lhs.false, %if.end13
  ret void
}

define internal fastcc i1 @fly.sanitizer.races(ptr nonnull readonly captures(none) %touch) #1 {
entry:
  %region = getelementptr inbounds nuw i8, ptr %touch, i64 56
  %0 = load i64, ptr %region, align 8
  %cmp = icmp eq i64 %0, -2
  %1 = load i64, ptr @fly.sanitizer.scratch, align 8
  %2 = load i64, ptr @fly.sanitizer.shared_bytes, align 8
  %add = add i64 %2, %1
  br i1 %cmp, label %if.end6, label %if.then

if.then:                                          ; preds = %entry
  %cmp2 = icmp sgt i64 %0, -1
  br i1 %cmp2, label %if.then.if.end_crit_edge, label %cond.false

if.then.if.end_crit_edge:                         ; preds = %if.then
  %.pre = load ptr, ptr @fly.sanitizer.regions, align 8
  %arrayidx.phi.trans.insert = getelementptr inbounds nuw %struct.RegionFacts, ptr %.pre, i64 %0
  %memory.sroa.0.0.copyload.pre = load i64, ptr %arrayidx.phi.trans.insert, align 8
  %memory.sroa.7.0.arrayidx.sroa_idx.phi.trans.insert = getelementptr inbounds nuw i8, ptr %arrayidx.phi.trans.insert, i64 8
  %memory.sroa.7.0.copyload.pre = load i64, ptr %memory.sroa.7.0.arrayidx.sroa_idx.phi.trans.insert, align 8
  br label %if.end

cond.false:                                       ; preds = %if.then
  %address = getelementptr inbounds nuw i8, ptr %touch, i64 8
  %3 = load i64, ptr %address, align 8
  %4 = load i64, ptr @fly.sanitizer.region_count, align 8
  %cmp7.i = icmp sgt i64 %4, 0
  br i1 %cmp7.i, label %for.body.lr.ph.i, label %cleanup60

for.body.lr.ph.i:                                 ; preds = %cond.false
  %5 = load ptr, ptr @fly.sanitizer.regions, align 8
  br label %for.body.i

for.body.i:                                       ; preds = %for.inc.i, %for.body.lr.ph.i
  %i.08.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %inc.i, %for.inc.i ]
  %arrayidx.i = getelementptr inbounds nuw %struct.RegionFacts, ptr %5, i64 %i.08.i
  %6 = load i64, ptr %arrayidx.i, align 8
  %cmp1.not.i = icmp ult i64 %3, %6
  br i1 %cmp1.not.i, label %for.inc.i, label %land.lhs.true.i

land.lhs.true.i:                                  ; preds = %for.body.i
  %end.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 8
  %7 = load i64, ptr %end.i, align 8
  %cmp3.i = icmp ult i64 %3, %7
  br i1 %cmp3.i, label %if.end, label %for.inc.i

for.inc.i:                                        ; preds = %land.lhs.true.i, %for.body.i
  %inc.i = add nuw nsw i64 %i.08.i, 1
  %exitcond.not.i = icmp eq i64 %inc.i, %4
  br i1 %exitcond.not.i, label %cleanup60, label %for.body.i

if.end:                                           ; preds = %land.lhs.true.i, %if.then.if.end_crit_edge
  %memory.sroa.7.0.copyload = phi i64 [ %memory.sroa.7.0.copyload.pre, %if.then.if.end_crit_edge ], [ %7, %land.lhs.true.i ]
  %memory.sroa.0.0.copyload = phi i64 [ %memory.sroa.0.0.copyload.pre, %if.then.if.end_crit_edge ], [ %6, %land.lhs.true.i ]
  %8 = phi ptr [ %.pre, %if.then.if.end_crit_edge ], [ %5, %land.lhs.true.i ]
  %cond55 = phi i64 [ %0, %if.then.if.end_crit_edge ], [ %i.08.i, %land.lhs.true.i ]
  %arrayidx = getelementptr inbounds nuw %struct.RegionFacts, ptr %8, i64 %cond55
  %memory.sroa.9.0.arrayidx.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 16
  %memory.sroa.9.0.copyload = load i64, ptr %memory.sroa.9.0.arrayidx.sroa_idx, align 8
  %memory.sroa.14.0.arrayidx.sroa_idx = getelementptr inbounds nuw i8, ptr %arrayidx, i64 24
  br label %if.end6

if.end6:                                          ; preds = %if.end, %entry
  %memory.sroa.0.0 = phi i64 [ %1, %entry ], [ %memory.sroa.0.0.copyload, %if.end ]
  %memory.sroa.7.0 = phi i64 [ %add, %entry ], [ %memory.sroa.7.0.copyload, %if.end ]
  %memory.sroa.9.0 = phi i64 [ 0, %entry ], [ %memory.sroa.9.0.copyload, %if.end ]
  %memory.sroa.14.0.in = phi ptr [ @fly.sanitizer.shared_cells, %entry ], [ %memory.sroa.14.0.arrayidx.sroa_idx, %if.end ]
  %memory.sroa.14.0 = load ptr, ptr %memory.sroa.14.0.in, align 8
  %sub = sub i64 %memory.sroa.7.0, %memory.sroa.0.0
  %address9 = getelementptr inbounds nuw i8, ptr %touch, i64 8
  %9 = load i64, ptr %address9, align 8
  %sub11 = sub i64 %9, %memory.sroa.0.0
  %bytes = getelementptr inbounds nuw i8, ptr %touch, i64 16
  %10 = load i64, ptr %bytes, align 8
  %add12 = add i64 %sub11, %10
  %cmp13.not = icmp uge i64 %sub11, %sub
  %cmp14 = icmp ugt i64 %add12, %sub
  %or.cond = select i1 %cmp13.not, i1 true, i1 %cmp14
  br i1 %or.cond, label %cleanup60, label %if.end16

if.end16:                                         ; preds = %if.end6
  %11 = load i64, ptr @fly.sanitizer.time, align 8
  %inc.i36 = add i64 %11, 1
  store i64 %inc.i36, ptr @fly.sanitizer.time, align 8
  %thread = getelementptr inbounds nuw i8, ptr %touch, i64 32
  %12 = load i64, ptr %thread, align 8
  %13 = load i64, ptr %touch, align 8
  %14 = load i64, ptr @fly.sanitizer.block, align 8
  %shl.i = shl i64 %14, 32
  %shl1.i = shl i64 %12, 20
  %or.i = or i64 %13, %shl1.i
  %or2.i = or i64 %or.i, %shl.i
  %shr = lshr i64 %sub11, %memory.sroa.9.0
  %shl66 = shl i64 %shr, %memory.sroa.9.0
  %cmp21.not67 = icmp ult i64 %shl66, %add12
  br i1 %cmp21.not67, label %for.body.lr.ph, label %cleanup60

for.body.lr.ph:                                   ; preds = %if.end16
  %synced.promoted = load i64, ptr @fly.sanitizer.synced, align 8
  %kind = getelementptr inbounds nuw i8, ptr %touch, i64 24
  %.pre.i = load i64, ptr @fly.sanitizer.launch_start, align 8
  %.pre110.i = lshr i64 %or2.i, 20
  %15 = load i64, ptr @fly.sanitizer.wave_shift, align 8
  %shr17.i.i = lshr i64 %.pre110.i, %15
  %16 = load i64, ptr @fly.sanitizer.wave_epoch, align 8
  %17 = load i64, ptr @fly.sanitizer.epoch, align 8
  %cond.i.i100.i = tail call i64 @llvm.umax.i64(i64 %17, i64 %16)
  br label %for.body

for.body:                                         ; preds = %for.body.lr.ph, %cleanup45
  %shl70 = phi i64 [ %shl66, %for.body.lr.ph ], [ %shl28, %cleanup45 ]
  %granule.069 = phi i64 [ %shr, %for.body.lr.ph ], [ %add26, %cleanup45 ]
  %cond.i.i.i6568 = phi i64 [ %synced.promoted, %for.body.lr.ph ], [ %cond.i.i.i64, %cleanup45 ]
  %add26 = add i64 %granule.069, 1
  %shl28 = shl i64 %add26, %memory.sroa.9.0
  %cond.i = tail call i64 @llvm.umax.i64(i64 %sub11, i64 %shl70)
  %cond.i37 = tail call i64 @llvm.umin.i64(i64 %add12, i64 %shl28)
  %sub31 = sub i64 %cond.i37, %shl70
  %shl32 = shl nuw i64 1, %sub31
  %sub33 = sub i64 %cond.i, %shl70
  %shl34.neg = shl nsw i64 -1, %sub33
  %sub35 = add i64 %shl32, %shl34.neg
  %arrayidx37 = getelementptr inbounds nuw %struct.Cell, ptr %memory.sroa.14.0, i64 %granule.069
  %18 = load i64, ptr %kind, align 8
  %and.i = and i64 %18, 2
  %tobool.not.i = icmp eq i64 %and.i, 0
  %and2.i = and i64 %18, 4
  %tobool3.not.i = icmp eq i64 %and2.i, 0
  %and5.i = and i64 %18, 16
  %tobool6.not.i = icmp eq i64 %and5.i, 0
  br i1 %tobool6.not.i, label %if.end.i, label %if.then.i

if.then.i:                                        ; preds = %for.body
  %atomics.i = getelementptr inbounds nuw i8, ptr %arrayidx37, i64 48
  %19 = load i64, ptr %atomics.i, align 8
  %and.i.i.i = and i64 %19, 72057594037927935
  %cmp.i.i = icmp ugt i64 %and.i.i.i, %.pre.i
  br i1 %cmp.i.i, label %land.lhs.true.i.i, label %if.end.i

land.lhs.true.i.i:                                ; preds = %if.then.i
  %who1.i.i = getelementptr inbounds nuw i8, ptr %arrayidx37, i64 56
  %20 = load i64, ptr %who1.i.i, align 8
  %cmp4.not.unshifted.i.i = xor i64 %20, %or2.i
  %cmp4.not.i.i = icmp ult i64 %cmp4.not.unshifted.i.i, 4294967296
  br i1 %cmp4.not.i.i, label %if.end.i, label %if.then.i.i

if.then.i.i:                                      ; preds = %land.lhs.true.i.i
  %cond.i.i.i = tail call i64 @llvm.umax.i64(i64 %cond.i.i.i6568, i64 %and.i.i.i)
  store i64 %cond.i.i.i, ptr @fly.sanitizer.synced, align 8
  br label %if.end.i

if.end.i:                                         ; preds = %if.then.i.i, %land.lhs.true.i.i, %if.then.i, %for.body
  %cond.i.i.i64 = phi i64 [ %cond.i.i.i, %if.then.i.i ], [ %cond.i.i.i6568, %land.lhs.true.i.i ], [ %cond.i.i.i6568, %if.then.i ], [ %cond.i.i.i6568, %for.body ]
  %21 = load i64, ptr %arrayidx37, align 8
  %and.i.i39.i = and i64 %21, 72057594037927935
  %shr.i.i.i = lshr i64 %21, 56
  %and.i.i = and i64 %shr.i.i.i, %sub35
  %tobool.not.i.i = icmp ne i64 %and.i.i, 0
  %cmp.not.i.i = icmp ugt i64 %and.i.i39.i, %.pre.i
  %or.cond.i.i = select i1 %tobool.not.i.i, i1 %cmp.not.i.i, i1 false
  br i1 %or.cond.i.i, label %lor.lhs.false2.i.i, label %for.cond.preheader.i

lor.lhs.false2.i.i:                               ; preds = %if.end.i
  %who3.i.i = getelementptr inbounds nuw i8, ptr %arrayidx37, i64 8
  %22 = load i64, ptr %who3.i.i, align 8
  %shr.i9.i.i = lshr i64 %22, 20
  %cmp6.i.i = icmp eq i64 %shr.i9.i.i, %.pre110.i
  br i1 %cmp6.i.i, label %for.cond.preheader.i, label %if.end.i.i

if.end.i.i:                                       ; preds = %lor.lhs.false2.i.i
  %cmp10.not.unshifted.i.i = xor i64 %22, %or2.i
  %cmp10.not.i.i = icmp ult i64 %cmp10.not.unshifted.i.i, 4294967296
  br i1 %cmp10.not.i.i, label %if.end13.i.i, label %if.then11.i.i

if.then11.i.i:                                    ; preds = %if.end.i.i
  %cmp12.i.i = icmp ule i64 %and.i.i39.i, %cond.i.i.i64
  %.not.i = or i1 %cmp, %cmp12.i.i
  br i1 %.not.i, label %for.cond.preheader.i, label %meet.exit

if.end13.i.i:                                     ; preds = %if.end.i.i
  %shr.i.i = lshr i64 %shr.i9.i.i, %15
  %cmp18.i.i = icmp eq i64 %shr.i.i, %shr17.i.i
  %cond.i.i = select i1 %cmp18.i.i, i64 %16, i64 %17
  %cmp21.i.i = icmp ugt i64 %and.i.i39.i, %cond.i.i
  br i1 %cmp21.i.i, label %meet.exit, label %for.cond.preheader.i

for.cond.preheader.i:                             ; preds = %if.end.i, %if.end13.i.i, %if.then11.i.i, %lor.lhs.false2.i.i
  %reads.i = getelementptr inbounds nuw i8, ptr %arrayidx37, i64 16
  br i1 %tobool.not.i, label %for.inc.1.i, label %land.lhs.true.i38

land.lhs.true.i38:                                ; preds = %for.cond.preheader.i
  %23 = load i64, ptr %reads.i, align 8
  %and.i.i40.i = and i64 %23, 72057594037927935
  %shr.i.i41.i = lshr i64 %23, 56
  %and.i42.i = and i64 %shr.i.i41.i, %sub35
  %tobool.not.i43.i = icmp ne i64 %and.i42.i, 0
  %cmp.not.i44.i = icmp ugt i64 %and.i.i40.i, %.pre.i
  %or.cond.i45.i = select i1 %tobool.not.i43.i, i1 %cmp.not.i44.i, i1 false
  br i1 %or.cond.i45.i, label %lor.lhs.false2.i47.i, label %land.lhs.true.1.i

lor.lhs.false2.i47.i:                             ; preds = %land.lhs.true.i38
  %who3.i48.i = getelementptr inbounds nuw i8, ptr %arrayidx37, i64 24
  %24 = load i64, ptr %who3.i48.i, align 8
  %shr.i9.i49.i = lshr i64 %24, 20
  %cmp6.i51.i = icmp eq i64 %shr.i9.i49.i, %.pre110.i
  br i1 %cmp6.i51.i, label %land.lhs.true.1.i, label %if.end.i52.i

if.end.i52.i:                                     ; preds = %lor.lhs.false2.i47.i
  %cmp10.not.unshifted.i53.i = xor i64 %24, %or2.i
  %cmp10.not.i54.i = icmp ult i64 %cmp10.not.unshifted.i53.i, 4294967296
  br i1 %cmp10.not.i54.i, label %if.end13.i58.i, label %conflicts.exit64.i

if.end13.i58.i:                                   ; preds = %if.end.i52.i
  %shr.i59.i = lshr i64 %shr.i9.i49.i, %15
  %cmp18.i61.i = icmp eq i64 %shr.i59.i, %shr17.i.i
  %cond.i62.i = select i1 %cmp18.i61.i, i64 %16, i64 %17
  %cmp21.i63.i = icmp ugt i64 %and.i.i40.i, %cond.i62.i
  br i1 %cmp21.i63.i, label %meet.exit, label %land.lhs.true.1.i

conflicts.exit64.i:                               ; preds = %if.end.i52.i
  %cmp12.i56.i = icmp ule i64 %and.i.i40.i, %cond.i.i.i64
  %.not106.i = or i1 %cmp, %cmp12.i56.i
  br i1 %.not106.i, label %land.lhs.true.1.i, label %meet.exit

land.lhs.true.1.i:                                ; preds = %conflicts.exit64.i, %if.end13.i58.i, %lor.lhs.false2.i47.i, %land.lhs.true.i38
  %arrayidx12.1.i = getelementptr inbounds nuw i8, ptr %arrayidx37, i64 32
  %25 = load i64, ptr %arrayidx12.1.i, align 8
  %and.i.i40.1.i = and i64 %25, 72057594037927935
  %shr.i.i41.1.i = lshr i64 %25, 56
  %and.i42.1.i = and i64 %shr.i.i41.1.i, %sub35
  %tobool.not.i43.1.i = icmp ne i64 %and.i42.1.i, 0
  %cmp.not.i44.1.i = icmp ugt i64 %and.i.i40.1.i, %.pre.i
  %or.cond.i45.1.i = select i1 %tobool.not.i43.1.i, i1 %cmp.not.i44.1.i, i1 false
  br i1 %or.cond.i45.1.i, label %lor.lhs.false2.i47.1.i, label %for.inc.1.i

lor.lhs.false2.i47.1.i:                           ; preds = %land.lhs.true.1.i
  %who3.i48.1.i = getelementptr inbounds nuw i8, ptr %arrayidx37, i64 40
  %26 = load i64, ptr %who3.i48.1.i, align 8
  %shr.i9.i49.1.i = lshr i64 %26, 20
  %cmp6.i51.1.i = icmp eq i64 %shr.i9.i49.1.i, %.pre110.i
  br i1 %cmp6.i51.1.i, label %for.inc.1.i, label %if.end.i52.1.i

if.end.i52.1.i:                                   ; preds = %lor.lhs.false2.i47.1.i
  %cmp10.not.unshifted.i53.1.i = xor i64 %26, %or2.i
  %cmp10.not.i54.1.i = icmp ult i64 %cmp10.not.unshifted.i53.1.i, 4294967296
  br i1 %cmp10.not.i54.1.i, label %if.end13.i58.1.i, label %conflicts.exit64.1.i

conflicts.exit64.1.i:                             ; preds = %if.end.i52.1.i
  %cmp12.i56.1.i = icmp ule i64 %and.i.i40.1.i, %cond.i.i.i64
  %.not106.1.i = or i1 %cmp, %cmp12.i56.1.i
  br i1 %.not106.1.i, label %for.inc.1.i, label %meet.exit

if.end13.i58.1.i:                                 ; preds = %if.end.i52.1.i
  %shr.i59.1.i = lshr i64 %shr.i9.i49.1.i, %15
  %cmp18.i61.1.i = icmp eq i64 %shr.i59.1.i, %shr17.i.i
  %cond.i62.1.i = select i1 %cmp18.i61.1.i, i64 %16, i64 %17
  %cmp21.i63.1.i = icmp ugt i64 %and.i.i40.1.i, %cond.i62.1.i
  br i1 %cmp21.i63.1.i, label %meet.exit, label %for.inc.1.i

for.inc.1.i:                                      ; preds = %if.end13.i58.1.i, %conflicts.exit64.1.i, %lor.lhs.false2.i47.1.i, %land.lhs.true.1.i, %for.cond.preheader.i
  %atomics28.i = getelementptr inbounds nuw i8, ptr %arrayidx37, i64 48
  br i1 %tobool3.not.i, label %land.lhs.true27.i, label %for.inc39.1.i

land.lhs.true27.i:                                ; preds = %for.inc.1.i
  %27 = load i64, ptr %atomics28.i, align 8
  %and.i.i65.i = and i64 %27, 72057594037927935
  %shr.i.i66.i = lshr i64 %27, 56
  %and.i67.i = and i64 %shr.i.i66.i, %sub35
  %tobool.not.i68.i = icmp ne i64 %and.i67.i, 0
  %cmp.not.i69.i = icmp ugt i64 %and.i.i65.i, %.pre.i
  %or.cond.i70.i = select i1 %tobool.not.i68.i, i1 %cmp.not.i69.i, i1 false
  br i1 %or.cond.i70.i, label %lor.lhs.false2.i72.i, label %land.lhs.true27.1.i

lor.lhs.false2.i72.i:                             ; preds = %land.lhs.true27.i
  %who3.i73.i = getelementptr inbounds nuw i8, ptr %arrayidx37, i64 56
  %28 = load i64, ptr %who3.i73.i, align 8
  %shr.i9.i74.i = lshr i64 %28, 20
  %cmp6.i76.i = icmp eq i64 %shr.i9.i74.i, %.pre110.i
  br i1 %cmp6.i76.i, label %land.lhs.true27.1.i, label %if.end.i77.i

if.end.i77.i:                                     ; preds = %lor.lhs.false2.i72.i
  %cmp10.not.unshifted.i78.i = xor i64 %28, %or2.i
  %cmp10.not.i79.i = icmp ult i64 %cmp10.not.unshifted.i78.i, 4294967296
  br i1 %cmp10.not.i79.i, label %if.end13.i83.i, label %conflicts.exit89.i

if.end13.i83.i:                                   ; preds = %if.end.i77.i
  %shr.i84.i = lshr i64 %shr.i9.i74.i, %15
  %cmp18.i86.i = icmp eq i64 %shr.i84.i, %shr17.i.i
  %cond.i87.i = select i1 %cmp18.i86.i, i64 %16, i64 %17
  %cmp21.i88.i = icmp ugt i64 %and.i.i65.i, %cond.i87.i
  br i1 %cmp21.i88.i, label %meet.exit, label %land.lhs.true27.1.i

conflicts.exit89.i:                               ; preds = %if.end.i77.i
  %cmp12.i81.i = icmp ule i64 %and.i.i65.i, %cond.i.i.i64
  %.not107.i = or i1 %cmp, %cmp12.i81.i
  br i1 %.not107.i, label %land.lhs.true27.1.i, label %meet.exit

land.lhs.true27.1.i:                              ; preds = %conflicts.exit89.i, %if.end13.i83.i, %lor.lhs.false2.i72.i, %land.lhs.true27.i
  %arrayidx30.1.i = getelementptr inbounds nuw i8, ptr %arrayidx37, i64 64
  %29 = load i64, ptr %arrayidx30.1.i, align 8
  %and.i.i65.1.i = and i64 %29, 72057594037927935
  %shr.i.i66.1.i = lshr i64 %29, 56
  %and.i67.1.i = and i64 %shr.i.i66.1.i, %sub35
  %tobool.not.i68.1.i = icmp ne i64 %and.i67.1.i, 0
  %cmp.not.i69.1.i = icmp ugt i64 %and.i.i65.1.i, %.pre.i
  %or.cond.i70.1.i = select i1 %tobool.not.i68.1.i, i1 %cmp.not.i69.1.i, i1 false
  br i1 %or.cond.i70.1.i, label %lor.lhs.false2.i72.1.i, label %for.inc39.1.i

lor.lhs.false2.i72.1.i:                           ; preds = %land.lhs.true27.1.i
  %who3.i73.1.i = getelementptr inbounds nuw i8, ptr %arrayidx37, i64 72
  %30 = load i64, ptr %who3.i73.1.i, align 8
  %shr.i9.i74.1.i = lshr i64 %30, 20
  %cmp6.i76.1.i = icmp eq i64 %shr.i9.i74.1.i, %.pre110.i
  br i1 %cmp6.i76.1.i, label %for.inc39.1.i, label %if.end.i77.1.i

if.end.i77.1.i:                                   ; preds = %lor.lhs.false2.i72.1.i
  %cmp10.not.unshifted.i78.1.i = xor i64 %30, %or2.i
  %cmp10.not.i79.1.i = icmp ult i64 %cmp10.not.unshifted.i78.1.i, 4294967296
  br i1 %cmp10.not.i79.1.i, label %if.end13.i83.1.i, label %conflicts.exit89.1.i

conflicts.exit89.1.i:                             ; preds = %if.end.i77.1.i
  %cmp12.i81.1.i = icmp ule i64 %and.i.i65.1.i, %cond.i.i.i64
  %.not107.1.i = or i1 %cmp, %cmp12.i81.1.i
  br i1 %.not107.1.i, label %for.inc39.1.i, label %meet.exit

if.end13.i83.1.i:                                 ; preds = %if.end.i77.1.i
  %shr.i84.1.i = lshr i64 %shr.i9.i74.1.i, %15
  %cmp18.i86.1.i = icmp eq i64 %shr.i84.1.i, %shr17.i.i
  %cond.i87.1.i = select i1 %cmp18.i86.1.i, i64 %16, i64 %17
  %cmp21.i88.1.i = icmp ugt i64 %and.i.i65.1.i, %cond.i87.1.i
  br i1 %cmp21.i88.1.i, label %meet.exit, label %for.inc39.1.i

for.inc39.1.i:                                    ; preds = %if.end13.i83.1.i, %conflicts.exit89.1.i, %lor.lhs.false2.i72.1.i, %land.lhs.true27.1.i, %for.inc.1.i
  %31 = and i64 %18, 6
  %or.cond.i = icmp eq i64 %31, 6
  br i1 %or.cond.i, label %if.then47.i, label %if.else.i

if.then47.i:                                      ; preds = %for.inc39.1.i
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %arrayidx37, i64 64
  %32 = load i64, ptr %arrayidx.i.i, align 8
  %and.i.i90.i = and i64 %32, 72057594037927935
  %cmp.i91.i = icmp ugt i64 %and.i.i90.i, %.pre.i
  br i1 %cmp.i91.i, label %land.rhs.i.i, label %land.end.i.i

land.rhs.i.i:                                     ; preds = %if.then47.i
  %who2.i.i = getelementptr inbounds nuw i8, ptr %arrayidx37, i64 72
  %33 = load i64, ptr %who2.i.i, align 8
  %cmp5.unshifted.i.i = xor i64 %33, %or2.i
  %cmp5.i.i = icmp ugt i64 %cmp5.unshifted.i.i, 4294967295
  br label %land.end.i.i

land.end.i.i:                                     ; preds = %land.rhs.i.i, %if.then47.i
  %34 = phi i1 [ false, %if.then47.i ], [ %cmp5.i.i, %land.rhs.i.i ]
  %who7.i.i = getelementptr inbounds nuw i8, ptr %arrayidx37, i64 56
  %35 = load i64, ptr %who7.i.i, align 8
  %cmp10.unshifted.i.i = xor i64 %35, %or2.i
  %cmp10.i.i = icmp ult i64 %cmp10.unshifted.i.i, 1048576
  %or.cond.i92.i = select i1 %cmp10.i.i, i1 true, i1 %34
  br i1 %or.cond.i92.i, label %if.end.i94.i, label %if.end.thread.i.i

if.end.thread.i.i:                                ; preds = %land.end.i.i
  tail call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(16) %arrayidx.i.i, ptr nonnull align 8 dereferenceable(16) %atomics28.i, i64 16, i1 false)
  br label %remember.exit.i

if.end.i94.i:                                     ; preds = %land.end.i.i
  br i1 %cmp10.i.i, label %land.rhs.i.i.i, label %remember.exit.i

land.rhs.i.i.i:                                   ; preds = %if.end.i94.i
  %36 = load i64, ptr %atomics28.i, align 8
  %and.i.i.i.i = and i64 %36, 72057594037927935
  %cmp5.i.i.i = icmp ugt i64 %and.i.i.i.i, %cond.i.i100.i
  br i1 %cmp5.i.i.i, label %cond.true.i.i.i, label %remember.exit.i

cond.true.i.i.i:                                  ; preds = %land.rhs.i.i.i
  %shr.i7.i.i.i = lshr i64 %36, 56
  %37 = or i64 %shr.i7.i.i.i, %sub35
  br label %remember.exit.i

remember.exit.i:                                  ; preds = %cond.true.i.i.i, %land.rhs.i.i.i, %if.end.i94.i, %if.end.thread.i.i
  %cond.i.i93.i = phi i64 [ %37, %cond.true.i.i.i ], [ %sub35, %land.rhs.i.i.i ], [ %sub35, %if.end.i94.i ], [ %sub35, %if.end.thread.i.i ]
  %shl.i.i.i = shl i64 %cond.i.i93.i, 56
  %or7.i.i.i = or i64 %shl.i.i.i, %inc.i36
  store i64 %or7.i.i.i, ptr %atomics28.i, align 8
  store i64 %or2.i, ptr %who7.i.i, align 8
  br label %cleanup45

if.else.i:                                        ; preds = %for.inc39.1.i
  br i1 %tobool.not.i, label %if.else52.i, label %if.then50.i

if.then50.i:                                      ; preds = %if.else.i
  %who1.i95.i = getelementptr inbounds nuw i8, ptr %arrayidx37, i64 8
  %38 = load i64, ptr %who1.i95.i, align 8
  %cmp.unshifted.i.i = xor i64 %38, %or2.i
  %cmp.i96.i = icmp ult i64 %cmp.unshifted.i.i, 1048576
  %cmp5.i101.i = icmp ugt i64 %and.i.i39.i, %cond.i.i100.i
  %39 = select i1 %cmp.i96.i, i1 %cmp5.i101.i, i1 false
  %spec.select.i = select i1 %39, i64 %shr.i.i.i, i64 0
  %cond.i97.i = or i64 %spec.select.i, %sub35
  %shl.i.i = shl i64 %cond.i97.i, 56
  %or7.i.i = or i64 %shl.i.i, %inc.i36
  store i64 %or7.i.i, ptr %arrayidx37, align 8
  store i64 %or2.i, ptr %who1.i95.i, align 8
  br label %cleanup45

if.else52.i:                                      ; preds = %if.else.i
  br i1 %tobool3.not.i, label %if.then54.i, label %cleanup45

if.then54.i:                                      ; preds = %if.else52.i
  %arrayidx.i39 = getelementptr inbounds nuw i8, ptr %arrayidx37, i64 32
  %40 = load i64, ptr %arrayidx.i39, align 8
  %and.i.i40 = and i64 %40, 72057594037927935
  %cmp.i = icmp ugt i64 %and.i.i40, %.pre.i
  br i1 %cmp.i, label %land.rhs.i, label %land.end.i

land.rhs.i:                                       ; preds = %if.then54.i
  %who2.i = getelementptr inbounds nuw i8, ptr %arrayidx37, i64 40
  %41 = load i64, ptr %who2.i, align 8
  %cmp5.unshifted.i = xor i64 %41, %or2.i
  %cmp5.i = icmp ugt i64 %cmp5.unshifted.i, 4294967295
  br label %land.end.i

land.end.i:                                       ; preds = %land.rhs.i, %if.then54.i
  %42 = phi i1 [ false, %if.then54.i ], [ %cmp5.i, %land.rhs.i ]
  %who7.i = getelementptr inbounds nuw i8, ptr %arrayidx37, i64 24
  %43 = load i64, ptr %who7.i, align 8
  %cmp10.unshifted.i = xor i64 %43, %or2.i
  %cmp10.i = icmp ult i64 %cmp10.unshifted.i, 1048576
  %or.cond.i41 = select i1 %cmp10.i, i1 true, i1 %42
  br i1 %or.cond.i41, label %if.end.i45, label %if.end.thread.i

if.end.thread.i:                                  ; preds = %land.end.i
  tail call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(16) %arrayidx.i39, ptr nonnull align 8 dereferenceable(16) %reads.i, i64 16, i1 false)
  br label %remember.exit

if.end.i45:                                       ; preds = %land.end.i
  br i1 %cmp10.i, label %land.rhs.i.i46, label %remember.exit

land.rhs.i.i46:                                   ; preds = %if.end.i45
  %44 = load i64, ptr %reads.i, align 8
  %and.i.i.i47 = and i64 %44, 72057594037927935
  %cmp5.i.i49 = icmp ugt i64 %and.i.i.i47, %cond.i.i100.i
  br i1 %cmp5.i.i49, label %cond.true.i.i, label %remember.exit

cond.true.i.i:                                    ; preds = %land.rhs.i.i46
  %shr.i7.i.i = lshr i64 %44, 56
  %45 = or i64 %shr.i7.i.i, %sub35
  br label %remember.exit

remember.exit:                                    ; preds = %if.end.thread.i, %if.end.i45, %land.rhs.i.i46, %cond.true.i.i
  %cond.i.i42 = phi i64 [ %45, %cond.true.i.i ], [ %sub35, %land.rhs.i.i46 ], [ %sub35, %if.end.i45 ], [ %sub35, %if.end.thread.i ]
  %shl.i.i43 = shl i64 %cond.i.i42, 56
  %or7.i.i44 = or i64 %shl.i.i43, %inc.i36
  store i64 %or7.i.i44, ptr %reads.i, align 8
  store i64 %or2.i, ptr %who7.i, align 8
  br label %cleanup45

meet.exit:                                        ; preds = %if.then11.i.i, %if.end13.i.i, %if.end13.i58.i, %conflicts.exit64.i, %conflicts.exit64.1.i, %if.end13.i58.1.i, %if.end13.i83.i, %conflicts.exit89.i, %conflicts.exit89.1.i, %if.end13.i83.1.i
  %retval.0.i = phi i64 [ %28, %conflicts.exit89.i ], [ %22, %if.end13.i.i ], [ %26, %if.end13.i58.1.i ], [ %28, %if.end13.i83.i ], [ %30, %conflicts.exit89.1.i ], [ %30, %if.end13.i83.1.i ], [ %22, %if.then11.i.i ], [ %24, %conflicts.exit64.i ], [ %24, %if.end13.i58.i ], [ %26, %conflicts.exit64.1.i ]
  %cmp40.not = icmp eq i64 %retval.0.i, -1
  br i1 %cmp40.not, label %cleanup45, label %cleanup45.thread

cleanup45.thread:                                 ; preds = %meet.exit
  %add43 = add i64 %cond.i, %memory.sroa.0.0
  tail call fastcc void @fly.sanitizer.fill(i32 2, ptr %touch, i64 %add43, i64 %retval.0.i)
  br label %cleanup60

cleanup45:                                        ; preds = %if.else52.i, %remember.exit, %if.then50.i, %remember.exit.i, %meet.exit
  %cmp21.not = icmp ult i64 %shl28, %add12
  br i1 %cmp21.not, label %for.body, label %cleanup60

cleanup60:                                        ; preds = %for.inc.i, %cleanup45, %if.end16, %cleanup45.thread, %cond.false, %if.end6
  %retval.2 = phi i1 [ false, %if.end6 ], [ false, %cleanup45 ], [ false, %cond.false ], [ true, %cleanup45.thread ], [ false, %if.end16 ], [ false, %for.inc.i ]
  ret i1 %retval.2
}

define void @fly_sanitizer_fence() #3 {
entry:
  %0 = load i64, ptr @fly.sanitizer.time, align 8
  %inc.i = add i64 %0, 1
  store i64 %inc.i, ptr @fly.sanitizer.time, align 8
  store i64 %inc.i, ptr @fly.sanitizer.fence_time, align 8
  ret void
}

define void @fly_sanitizer_registers(i64 %site, i64 %address, i64 %thread, i64 %low, i64 %end, i64 %product, i64 %fault) #9 {
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
  %0 = load i64, ptr @fly.sanitizer.block, align 8
  %shl.i = shl i64 %0, 32
  %shl1.i = shl i64 %thread, 20
  %or.i = or i64 %product, %shl1.i
  %or2.i = or i64 %or.i, %shl.i
  call fastcc void @fly.sanitizer.fill(i32 16, ptr nonnull readonly %touch, i64 %address, i64 %or2.i)
  %conv.i = and i64 %fault, 4294967295
  %1 = load ptr, ptr @fly.sanitizer.report, align 8
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %1, i64 136
  store i64 %conv.i, ptr %arrayidx.i, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %touch)
  ret void
}

define i32 @fly_sanitizer_end(i32 %status) #1 {
entry:
  %touch = alloca %struct.Touch, align 8
  %0 = load i64, ptr @fly.sanitizer.first_ticket, align 8
  %tobool = icmp ne i32 %status, 0
  %1 = load i8, ptr @fly.sanitizer.failed, align 1
  %loadedv = trunc nuw i8 %1 to i1
  %or.cond = select i1 %tobool, i1 true, i1 %loadedv
  %2 = load i64, ptr @fly.sanitizer.ticket_count, align 8
  %cmp.not18 = icmp ugt i64 %0, %2
  %or.cond1419 = select i1 %or.cond, i1 true, i1 %cmp.not18
  br i1 %or.cond1419, label %.loopexit, label %for.body.lr.ph

for.body.lr.ph:                                   ; preds = %entry
  %3 = load ptr, ptr @fly.sanitizer.tickets, align 8
  br label %for.body

for.body:                                         ; preds = %for.body.lr.ph, %for.inc
  %number.020 = phi i64 [ %0, %for.body.lr.ph ], [ %inc, %for.inc ]
  %add.ptr = getelementptr inbounds nuw %struct.Ticket, ptr %3, i64 %number.020
  %open = getelementptr inbounds nuw i8, ptr %add.ptr, i64 65
  %4 = load i8, ptr %open, align 1
  %loadedv1 = trunc i8 %4 to i1
  br i1 %loadedv1, label %lor.lhs.false, label %for.inc

lor.lhs.false:                                    ; preds = %for.body
  %store = getelementptr inbounds nuw i8, ptr %add.ptr, i64 66
  %5 = load i8, ptr %store, align 2
  %loadedv2 = trunc i8 %5 to i1
  br i1 %loadedv2, label %cleanup11, label %for.inc

for.inc:                                          ; preds = %lor.lhs.false, %for.body
  %inc = add i64 %number.020, 1
  %cmp.not = icmp ugt i64 %inc, %2
  br i1 %cmp.not, label %.loopexit, label %for.body

cleanup11:                                        ; preds = %lor.lhs.false
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
  %shr = lshr i64 %6, 20
  %and6 = and i64 %shr, 4095
  store i64 %and6, ptr %thread, align 8
  %low = getelementptr inbounds nuw i8, ptr %touch, i64 40
  %low7 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 24
  %9 = load i64, ptr %low7, align 8
  store i64 %9, ptr %low, align 8
  %end = getelementptr inbounds nuw i8, ptr %touch, i64 48
  %end8 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 32
  %10 = load i64, ptr %end8, align 8
  store i64 %10, ptr %end, align 8
  %region = getelementptr inbounds nuw i8, ptr %touch, i64 56
  store i64 -2, ptr %region, align 8
  call fastcc void @fly.sanitizer.fill(i32 16, ptr nonnull readonly %touch, i64 %7, i64 %6)
  %11 = load ptr, ptr @fly.sanitizer.report, align 8
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %11, i64 136
  store i64 4, ptr %arrayidx.i, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %touch)
  br label %.loopexit

.loopexit:                                        ; preds = %for.inc, %entry, %cleanup11
  %12 = phi i32 [ 6, %cleanup11 ], [ %status, %entry ], [ 0, %for.inc ]
  ret i32 %12
}

define i1 @fly_sanitizer_access(i64 %site, i64 %address, i64 %bytes, i64 %kind, i64 %thread, i64 %low, i64 %end, i64 %region) {
entry:
  %.compoundliteral.sroa.0.i.i.i = alloca { %struct.Event, %struct.Event }, align 8
  %who.i = alloca [3 x i64], align 16
  %here.i = alloca %struct.Event, align 8
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
  %loadedv = trunc nuw i8 %0 to i1
  %or.cond = select i1 %tobool, i1 true, i1 %loadedv
  br i1 %or.cond, label %cleanup48, label %if.end

if.end:                                           ; preds = %entry
  %1 = load i64, ptr @fly.sanitizer.flags, align 8
  %and = and i64 %1, 64
  %tobool10.not = icmp eq i64 %and, 0
  br i1 %tobool10.not, label %if.end12, label %if.then11

if.then11:                                        ; preds = %if.end
  %cmp = icmp sgt i64 %region, -2
  br i1 %cmp, label %land.rhs, label %cleanup48

land.rhs:                                         ; preds = %if.then11
  call void @llvm.lifetime.start.p0(ptr nonnull %who.i)
  %call.i.i = call i1 @fly_ranks_here(ptr nonnull %who.i)
  br i1 %call.i.i, label %lor.lhs.false.i.i, label %ranks_access.exit

lor.lhs.false.i.i:                                ; preds = %land.rhs
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %who.i, i64 8
  %2 = load i64, ptr %arrayidx.i.i, align 8
  %cmp.i.i = icmp sgt i64 %2, 63
  br i1 %cmp.i.i, label %ranks_access.exit, label %actor_here.exit.i

actor_here.exit.i:                                ; preds = %lor.lhs.false.i.i
  %3 = load i64, ptr %who.i, align 16
  %4 = call i64 @llvm.smax.i64(i64 %3, i64 0)
  %spec.select.i.i = shl i64 %4, 6
  %add.i.i = add nsw i64 %spec.select.i.i, %2
  %.b.i = load i1, ptr @fly.sanitizer.told, align 1
  %cmp.i = icmp slt i64 %add.i.i, 0
  %or.cond.i = select i1 %.b.i, i1 true, i1 %cmp.i
  br i1 %or.cond.i, label %ranks_access.exit, label %lor.lhs.false1.i

lor.lhs.false1.i:                                 ; preds = %actor_here.exit.i
  %call2.i = call i1 @fly_ranks_share(i64 %address)
  br i1 %call2.i, label %if.end.i, label %ranks_access.exit

if.end.i:                                         ; preds = %lor.lhs.false1.i
  %conv.i = trunc i64 %add.i.i to i32
  %idxprom.i.i = and i64 %add.i.i, 4294967295
  %arrayidx.i19.i = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.actors, i64 %idxprom.i.i
  %5 = load ptr, ptr %arrayidx.i19.i, align 8
  %tobool.not.i.i = icmp eq ptr %5, null
  br i1 %tobool.not.i.i, label %if.then.i.i, label %if.end.actor_at.exit_crit_edge.i

if.end.actor_at.exit_crit_edge.i:                 ; preds = %if.end.i
  %clock6.phi.trans.insert.i = getelementptr inbounds nuw i8, ptr %5, i64 5648
  %.pre.i = load i32, ptr %clock6.phi.trans.insert.i, align 16
  %barrier.phi.trans.insert.i = getelementptr inbounds nuw i8, ptr %5, i64 5652
  %.pre135.i = load i32, ptr %barrier.phi.trans.insert.i, align 4
  br label %actor_at.exit.i

if.then.i.i:                                      ; preds = %if.end.i
  %call.i21.i = call dereferenceable_or_null(5728) ptr @calloc(i64 1, i64 5728)
  store ptr %call.i21.i, ptr %arrayidx.i19.i, align 8
  %call3.i.i = call dereferenceable_or_null(73728) ptr @calloc(i64 1024, i64 72)
  %seen.i.i = getelementptr inbounds nuw i8, ptr %call.i21.i, i64 5720
  store ptr %call3.i.i, ptr %seen.i.i, align 8
  %div9.i.i = lshr i64 %add.i.i, 6
  %idxprom.i.i.i = and i64 %div9.i.i, 67108863
  %arrayidx.i.i.i = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.rank_views, i64 %idxprom.i.i.i
  %6 = load ptr, ptr %arrayidx.i.i.i, align 8
  %tobool.not.i.i.i = icmp eq ptr %6, null
  br i1 %tobool.not.i.i.i, label %if.then.i.i.i, label %rank_view.exit.i.i

if.then.i.i.i:                                    ; preds = %if.then.i.i
  %call.i.i.i = call dereferenceable_or_null(5648) ptr @calloc(i64 1, i64 5648)
  store ptr %call.i.i.i, ptr %arrayidx.i.i.i, align 8
  br label %rank_view.exit.i.i

rank_view.exit.i.i:                               ; preds = %if.then.i.i.i, %if.then.i.i
  %7 = phi ptr [ %call.i.i.i, %if.then.i.i.i ], [ %6, %if.then.i.i ]
  call fastcc void @fly.sanitizer.join_view(ptr nonnull %call.i21.i, ptr %7)
  %arrayidx7.i.i = getelementptr inbounds nuw i32, ptr %call.i21.i, i64 %idxprom.i.i
  %8 = load i32, ptr %arrayidx7.i.i, align 4
  %add.i22.i = add i32 %8, 1
  %barrier.i.i = getelementptr inbounds nuw i8, ptr %call.i21.i, i64 5652
  store i32 %add.i22.i, ptr %barrier.i.i, align 4
  %clock.i.i = getelementptr inbounds nuw i8, ptr %call.i21.i, i64 5648
  store i32 %add.i22.i, ptr %clock.i.i, align 16
  br label %actor_at.exit.i

actor_at.exit.i:                                  ; preds = %rank_view.exit.i.i, %if.end.actor_at.exit_crit_edge.i
  %9 = phi i32 [ %add.i22.i, %rank_view.exit.i.i ], [ %.pre135.i, %if.end.actor_at.exit_crit_edge.i ]
  %10 = phi i32 [ %add.i22.i, %rank_view.exit.i.i ], [ %.pre.i, %if.end.actor_at.exit_crit_edge.i ]
  %11 = phi ptr [ %call.i21.i, %rank_view.exit.i.i ], [ %5, %if.end.actor_at.exit_crit_edge.i ]
  call void @llvm.lifetime.start.p0(ptr nonnull %here.i)
  %12 = load i64, ptr @fly.sanitizer.accesses, align 8
  %inc.i = add i64 %12, 1
  store i64 %inc.i, ptr @fly.sanitizer.accesses, align 8
  store i64 %inc.i, ptr %here.i, align 8
  %actor4.i = getelementptr inbounds nuw i8, ptr %here.i, i64 8
  store i32 %conv.i, ptr %actor4.i, align 8
  %clock.i = getelementptr inbounds nuw i8, ptr %here.i, i64 12
  store i32 %10, ptr %clock.i, align 4
  %site7.i = getelementptr inbounds nuw i8, ptr %here.i, i64 16
  %conv8.i = trunc i64 %site to i32
  store i32 %conv8.i, ptr %site7.i, align 8
  %stretch.i = getelementptr inbounds nuw i8, ptr %here.i, i64 20
  store i32 %9, ptr %stretch.i, align 4
  %thread9.i = getelementptr inbounds nuw i8, ptr %here.i, i64 24
  %conv10.i = trunc i64 %thread to i16
  store i16 %conv10.i, ptr %thread9.i, align 8
  %code.i = getelementptr inbounds nuw i8, ptr %here.i, i64 26
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %who.i, i64 16
  %13 = load i64, ptr %arrayidx.i, align 16
  %conv11.i = trunc i64 %13 to i16
  store i16 %conv11.i, ptr %code.i, align 2
  %14 = getelementptr inbounds nuw i8, ptr %here.i, i64 28
  store i32 0, ptr %14, align 4
  %and.i = and i64 %address, -4
  %add.i = add i64 %bytes, %address
  %cmp12.not112.i = icmp ult i64 %and.i, %add.i
  br i1 %cmp12.not112.i, label %for.body.lr.ph.i, label %cleanup34.i

for.body.lr.ph.i:                                 ; preds = %actor_at.exit.i
  %and.i.i = and i64 %kind, 2
  %tobool.i.i = icmp eq i64 %and.i.i, 0
  %and1.i.i = and i64 %kind, 4
  %tobool2.not.i31.i = icmp eq i64 %and1.i.i, 0
  %and1.lobit.i.i = lshr exact i64 %and1.i.i, 2
  %storedv3.i.i = trunc nuw nsw i64 %and1.lobit.i.i to i8
  %and60.i.i = and i64 %kind, 1
  %tobool61.not.i.i = icmp eq i64 %and60.i.i, 0
  %15 = and i64 %kind, 5
  %or.cond.not.i.i = icmp eq i64 %15, 5
  %and17.i.i.i = and i64 %kind, 512
  %tobool18.not.i.i.i = icmp eq i64 %and17.i.i.i, 0
  %and23.i.i.i = and i64 %kind, 768
  %tobool24.i.i.i = icmp ne i64 %and23.i.i.i, 0
  %seen25.i.i.i = getelementptr inbounds nuw i8, ptr %11, i64 5720
  %.compoundliteral.sroa.0.32.look.sroa_idx.i.i.i = getelementptr inbounds nuw i8, ptr %.compoundliteral.sroa.0.i.i.i, i64 32
  %and34.i.i.i = and i64 %kind, 64
  %tobool35.i.i.i = icmp ne i64 %and34.i.i.i, 0
  %16 = and i1 %tobool24.i.i.i, %tobool35.i.i.i
  %storedv36.i.i.i = zext i1 %16 to i8
  %taken.i.i.i = getelementptr inbounds nuw i8, ptr %11, i64 5656
  %count.i.i.i.i = getelementptr inbounds nuw i8, ptr %11, i64 5664
  %room.i.i.i.i = getelementptr inbounds nuw i8, ptr %11, i64 5668
  %count.i.i134.i.i = getelementptr inbounds nuw i8, ptr %11, i64 5680
  %shown2.i.i.i = getelementptr inbounds nuw i8, ptr %11, i64 5672
  %and10.i.i.i = and i64 %kind, 128
  %tobool11.not.i.i.i = icmp eq i64 %and10.i.i.i, 0
  %conv78.i.i = trunc i64 %kind to i16
  br label %for.body.i

for.body.i:                                       ; preds = %if.end27.i, %for.body.lr.ph.i
  %low.0113.i = phi i64 [ %and.i, %for.body.lr.ph.i ], [ %add16.i, %if.end27.i ]
  %add16.i = add i64 %low.0113.i, 4
  %cond.i23.i = call i64 @llvm.umin.i64(i64 %add.i, i64 %add16.i)
  %shr.i.i = lshr i64 %low.0113.i, 12
  %mul.i.i = mul i64 %shr.i.i, -7046029254386353131
  %shr1.i.i = lshr i64 %mul.i.i, 49
  %17 = load ptr, ptr @fly.sanitizer.pages, align 8
  %tobool.not.i24.i = icmp eq ptr %17, null
  br i1 %tobool.not.i24.i, label %if.then.i29.i, label %if.end.i25.i

if.then.i29.i:                                    ; preds = %for.body.i
  %call.i30.i = call dereferenceable_or_null(524288) ptr @calloc(i64 32768, i64 16)
  store ptr %call.i30.i, ptr @fly.sanitizer.pages, align 8
  br label %if.end.i25.i

if.end.i25.i:                                     ; preds = %if.then.i29.i, %for.body.i
  %18 = phi ptr [ %call.i30.i, %if.then.i29.i ], [ %17, %for.body.i ]
  br label %for.body.i.i

for.body.i.i:                                     ; preds = %for.inc.i.i, %if.end.i25.i
  %tries.011.i.i = phi i32 [ 0, %if.end.i25.i ], [ %inc.i.i, %for.inc.i.i ]
  %at.010.i.i = phi i64 [ %shr1.i.i, %if.end.i25.i ], [ %rem19.i.i, %for.inc.i.i ]
  %arrayidx.i26.i = getelementptr inbounds nuw %struct.anon, ptr %18, i64 %at.010.i.i
  %cells.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i26.i, i64 8
  %19 = load ptr, ptr %cells.i.i, align 8
  %tobool2.not.i.i = icmp eq ptr %19, null
  br i1 %tobool2.not.i.i, label %shared_cell.exit.i, label %if.end9.i.i

if.end9.i.i:                                      ; preds = %for.body.i.i
  %.pre.i.i = load i64, ptr %arrayidx.i26.i, align 8
  %20 = icmp eq i64 %.pre.i.i, %shr.i.i
  br i1 %20, label %shared_cell.exit.thread.i, label %for.inc.i.i

shared_cell.exit.thread.i:                        ; preds = %if.end9.i.i
  %shr16.i153.i = lshr exact i64 %low.0113.i, 2
  %rem.i154.i = and i64 %shr16.i153.i, 1023
  %arrayidx17.i155.i = getelementptr inbounds nuw %struct.SharedCell, ptr %19, i64 %rem.i154.i
  br label %land.lhs.true.i

for.inc.i.i:                                      ; preds = %if.end9.i.i
  %inc.i.i = add nuw nsw i32 %tries.011.i.i, 1
  %add.i27.i = add nuw nsw i64 %at.010.i.i, 1
  %rem19.i.i = and i64 %add.i27.i, 32767
  %exitcond.i.i = icmp eq i32 %inc.i.i, 32768
  br i1 %exitcond.i.i, label %if.end27.i, label %for.body.i.i

shared_cell.exit.i:                               ; preds = %for.body.i.i
  store i64 %shr.i.i, ptr %arrayidx.i26.i, align 8
  %call6.i.i = call dereferenceable_or_null(385024) ptr @calloc(i64 1024, i64 376)
  store ptr %call6.i.i, ptr %cells.i.i, align 8
  %shr16.i.i = lshr exact i64 %low.0113.i, 2
  %rem.i.i = and i64 %shr16.i.i, 1023
  %arrayidx17.i.i = getelementptr inbounds nuw %struct.SharedCell, ptr %call6.i.i, i64 %rem.i.i
  %tobool.not.i = icmp eq ptr %call6.i.i, null
  br i1 %tobool.not.i, label %if.end27.i, label %land.lhs.true.i

land.lhs.true.i:                                  ; preds = %shared_cell.exit.i, %shared_cell.exit.thread.i
  %arrayidx17.i157.i = phi ptr [ %arrayidx17.i155.i, %shared_cell.exit.thread.i ], [ %arrayidx17.i.i, %shared_cell.exit.i ]
  %sub19.i = call i64 @llvm.usub.sat.i64(i64 %address, i64 %low.0113.i)
  %sh_prom20.i = trunc i64 %sub19.i to i32
  %shl21.neg.i = shl nsw i32 -1, %sh_prom20.i
  %sub.i = sub i64 %cond.i23.i, %low.0113.i
  %sh_prom.i = trunc i64 %sub.i to i32
  %shl.i = shl nuw i32 1, %sh_prom.i
  %sub22.i = add i32 %shl.i, %shl21.neg.i
  %conv23.i = trunc i32 %sub22.i to i8
  %write_mask.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 360
  %21 = load i8, ptr %write_mask.i.i, align 8
  %and570.i.i = and i8 %21, %conv23.i
  %tobool6.not.i.i = icmp eq i8 %and570.i.i, 0
  br i1 %tobool6.not.i.i, label %if.end27.i.i, label %land.lhs.true.i.i

land.lhs.true.i.i:                                ; preds = %land.lhs.true.i
  br i1 %tobool2.not.i31.i, label %land.lhs.true11.i.i, label %land.lhs.true8.i.i

land.lhs.true8.i.i:                               ; preds = %land.lhs.true.i.i
  %write_atomic.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 371
  %22 = load i8, ptr %write_atomic.i.i, align 1
  %loadedv9.i.i = trunc i8 %22 to i1
  br i1 %loadedv9.i.i, label %if.end27.i.i, label %land.lhs.true11.i.i

land.lhs.true11.i.i:                              ; preds = %land.lhs.true8.i.i, %land.lhs.true.i.i
  %call.i32.i = call fastcc i1 @fly.sanitizer.unseen(ptr %11, ptr nonnull readonly %here.i, ptr nonnull %arrayidx17.i157.i)
  br i1 %call.i32.i, label %if.then.i40.i, label %if.end27.i.i

if.then.i40.i:                                    ; preds = %land.lhs.true11.i.i
  %write_atomic15.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 371
  %23 = load i8, ptr %write_atomic15.i.i, align 1
  %24 = and i8 %23, 1
  %25 = zext nneg i8 %24 to i64
  %cmp.not.i.i = icmp eq i64 %and1.lobit.i.i, %25
  br i1 %cmp.not.i.i, label %if.end.i42.i, label %if.then19.i.i

if.then19.i.i:                                    ; preds = %if.then.i40.i
  store i64 10, ptr @fly.sanitizer.rank_report, align 16
  store i64 %kind, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 8), align 8
  %26 = load i32, ptr %site7.i, align 8
  %conv.i.i.i.i = zext i32 %26 to i64
  store i64 %conv.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 16), align 16
  %27 = load i32, ptr %actor4.i, align 8
  %div9.i.i.i.i = lshr i32 %27, 6
  %conv1.i.i.i.i = zext nneg i32 %div9.i.i.i.i to i64
  store i64 %conv1.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 24), align 8
  %rem.i.i.i.i = and i32 %27, 63
  %conv4.i.i.i.i = zext nneg i32 %rem.i.i.i.i to i64
  store i64 %conv4.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 32), align 16
  %28 = load i16, ptr %thread9.i, align 8
  %conv6.i.i.i.i = zext i16 %28 to i64
  store i64 %conv6.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 40), align 8
  %29 = load i16, ptr %code.i, align 2
  %conv8.i.i.i.i = zext i16 %29 to i64
  store i64 %conv8.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 48), align 16
  %site.i1.i.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 16
  %30 = load i32, ptr %site.i1.i.i.i, align 8
  %conv.i2.i.i.i = zext i32 %30 to i64
  store i64 %conv.i2.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 56), align 8
  %actor.i3.i.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 8
  %31 = load i32, ptr %actor.i3.i.i.i, align 8
  %div9.i4.i.i.i = lshr i32 %31, 6
  %conv1.i5.i.i.i = zext nneg i32 %div9.i4.i.i.i to i64
  store i64 %conv1.i5.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 64), align 16
  %32 = load i32, ptr %actor.i3.i.i.i, align 8
  %rem.i6.i.i.i = and i32 %32, 63
  %conv4.i7.i.i.i = zext nneg i32 %rem.i6.i.i.i to i64
  store i64 %conv4.i7.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 72), align 8
  %thread.i8.i.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 24
  %33 = load i16, ptr %thread.i8.i.i.i, align 8
  %conv6.i9.i.i.i = zext i16 %33 to i64
  store i64 %conv6.i9.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 80), align 16
  %code.i10.i.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 26
  %34 = load i16, ptr %code.i10.i.i.i, align 2
  %conv8.i11.i.i.i = zext i16 %34 to i64
  store i64 %conv8.i11.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 88), align 8
  %site.i1.i.i.val.i = load i32, ptr %site.i1.i.i.i, align 8
  %35 = select i1 %tobool2.not.i31.i, i32 %26, i32 %site.i1.i.i.val.i
  %conv.i13.i.i.i = zext i32 %35 to i64
  store i64 %conv.i13.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 96), align 16
  %cond.i41.sroa.sel62.i = select i1 %tobool2.not.i31.i, ptr %actor4.i, ptr %actor.i3.i.i.i
  %36 = load i32, ptr %cond.i41.sroa.sel62.i, align 8
  %div9.i15.i.i.i = lshr i32 %36, 6
  %conv1.i16.i.i.i = zext nneg i32 %div9.i15.i.i.i to i64
  store i64 %conv1.i16.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 104), align 8
  %37 = load i32, ptr %cond.i41.sroa.sel62.i, align 8
  %rem.i17.i.i.i = and i32 %37, 63
  %conv4.i18.i.i.i = zext nneg i32 %rem.i17.i.i.i to i64
  store i64 %conv4.i18.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 112), align 16
  %thread.i8.i.i.val.i = load i16, ptr %thread.i8.i.i.i, align 8
  %38 = select i1 %tobool2.not.i31.i, i16 %28, i16 %thread.i8.i.i.val.i
  %conv6.i20.i.i.i = zext i16 %38 to i64
  store i64 %conv6.i20.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 120), align 8
  %code.i10.i.i.val.i = load i16, ptr %code.i10.i.i.i, align 2
  %39 = select i1 %tobool2.not.i31.i, i16 %29, i16 %code.i10.i.i.val.i
  %conv8.i22.i.i.i = zext i16 %39 to i64
  store i64 %conv8.i22.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 128), align 16
  store i1 true, ptr @fly.sanitizer.told, align 1
  br label %cleanup34.i

if.end.i42.i:                                     ; preds = %if.then.i40.i
  %40 = load ptr, ptr %seen25.i.i.i, align 8
  %actor2.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 8
  %41 = load i32, ptr %actor2.i.i, align 8
  %idxprom.i43.i = zext i32 %41 to i64
  %arrayidx.i44.i = getelementptr inbounds nuw %struct.Seen, ptr %40, i64 %idxprom.i43.i
  %clock.i46.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 12
  %42 = load i32, ptr %clock.i46.i, align 4
  %tobool.not.i47.i = icmp eq i32 %42, 0
  br i1 %tobool.not.i47.i, label %if.then3.i.i, label %if.end5.i.i

if.then3.i.i:                                     ; preds = %if.end.i42.i
  store i64 8, ptr @fly.sanitizer.rank_report, align 16
  store i64 %kind, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 8), align 8
  %43 = load i32, ptr %site7.i, align 8
  %conv.i.i41.i.i = zext i32 %43 to i64
  store i64 %conv.i.i41.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 16), align 16
  %44 = load i32, ptr %actor4.i, align 8
  %div9.i.i43.i.i = lshr i32 %44, 6
  %conv1.i.i44.i.i = zext nneg i32 %div9.i.i43.i.i to i64
  store i64 %conv1.i.i44.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 24), align 8
  %rem.i.i45.i.i = and i32 %44, 63
  %conv4.i.i46.i.i = zext nneg i32 %rem.i.i45.i.i to i64
  store i64 %conv4.i.i46.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 32), align 16
  %45 = load i16, ptr %thread9.i, align 8
  %conv6.i.i48.i.i = zext i16 %45 to i64
  store i64 %conv6.i.i48.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 40), align 8
  %46 = load i16, ptr %code.i, align 2
  %conv8.i.i50.i.i = zext i16 %46 to i64
  store i64 %conv8.i.i50.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 48), align 16
  %site.i1.i51.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 16
  %47 = load i32, ptr %site.i1.i51.i.i, align 8
  %conv.i2.i52.i.i = zext i32 %47 to i64
  store i64 %conv.i2.i52.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 56), align 8
  %48 = load i32, ptr %actor2.i.i, align 8
  %div9.i4.i54.i.i = lshr i32 %48, 6
  %conv1.i5.i55.i.i = zext nneg i32 %div9.i4.i54.i.i to i64
  store i64 %conv1.i5.i55.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 64), align 16
  %49 = load i32, ptr %actor2.i.i, align 8
  %rem.i6.i56.i.i = and i32 %49, 63
  %conv4.i7.i57.i.i = zext nneg i32 %rem.i6.i56.i.i to i64
  store i64 %conv4.i7.i57.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 72), align 8
  %thread.i8.i58.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 24
  %50 = load i16, ptr %thread.i8.i58.i.i, align 8
  %conv6.i9.i59.i.i = zext i16 %50 to i64
  store i64 %conv6.i9.i59.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 80), align 16
  %code.i10.i60.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 26
  %51 = load i16, ptr %code.i10.i60.i.i, align 2
  %conv8.i11.i61.i.i = zext i16 %51 to i64
  store i64 %conv8.i11.i61.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 88), align 8
  store i64 %conv.i.i41.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 96), align 16
  store i64 %conv1.i.i44.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 104), align 8
  store i64 %conv4.i.i46.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 112), align 16
  store i64 %conv6.i.i48.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 120), align 8
  br label %explain.exit.i

if.end5.i.i:                                      ; preds = %if.end.i42.i
  %released.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 64
  %52 = load i8, ptr %released.i.i, align 8
  %loadedv6.i.i = trunc i8 %52 to i1
  br i1 %loadedv6.i.i, label %if.end10.i.i, label %if.then7.i.i

if.then7.i.i:                                     ; preds = %if.end5.i.i
  store i64 3, ptr @fly.sanitizer.rank_report, align 16
  store i64 %kind, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 8), align 8
  %53 = load i32, ptr %site7.i, align 8
  %conv.i.i74.i.i = zext i32 %53 to i64
  store i64 %conv.i.i74.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 16), align 16
  %54 = load i32, ptr %actor4.i, align 8
  %div9.i.i76.i.i = lshr i32 %54, 6
  %conv1.i.i77.i.i = zext nneg i32 %div9.i.i76.i.i to i64
  store i64 %conv1.i.i77.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 24), align 8
  %rem.i.i78.i.i = and i32 %54, 63
  %conv4.i.i79.i.i = zext nneg i32 %rem.i.i78.i.i to i64
  store i64 %conv4.i.i79.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 32), align 16
  %55 = load i16, ptr %thread9.i, align 8
  %conv6.i.i81.i.i = zext i16 %55 to i64
  store i64 %conv6.i.i81.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 40), align 8
  %56 = load i16, ptr %code.i, align 2
  %conv8.i.i83.i.i = zext i16 %56 to i64
  store i64 %conv8.i.i83.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 48), align 16
  %site.i1.i84.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 16
  %57 = load i32, ptr %site.i1.i84.i.i, align 8
  %conv.i2.i85.i.i = zext i32 %57 to i64
  store i64 %conv.i2.i85.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 56), align 8
  %58 = load i32, ptr %actor2.i.i, align 8
  %div9.i4.i87.i.i = lshr i32 %58, 6
  %conv1.i5.i88.i.i = zext nneg i32 %div9.i4.i87.i.i to i64
  store i64 %conv1.i5.i88.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 64), align 16
  %59 = load i32, ptr %actor2.i.i, align 8
  %rem.i6.i89.i.i = and i32 %59, 63
  %conv4.i7.i90.i.i = zext nneg i32 %rem.i6.i89.i.i to i64
  store i64 %conv4.i7.i90.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 72), align 8
  %thread.i8.i91.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 24
  %60 = load i16, ptr %thread.i8.i91.i.i, align 8
  %conv6.i9.i92.i.i = zext i16 %60 to i64
  store i64 %conv6.i9.i92.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 80), align 16
  %code.i10.i93.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 26
  %61 = load i16, ptr %code.i10.i93.i.i, align 2
  %conv8.i11.i94.i.i = zext i16 %61 to i64
  store i64 %conv8.i11.i94.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 88), align 8
  %site.i12.i95.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 16
  %62 = load i32, ptr %site.i12.i95.i.i, align 8
  %conv.i13.i96.i.i = zext i32 %62 to i64
  store i64 %conv.i13.i96.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 96), align 16
  %actor.i14.i97.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 8
  %63 = load i32, ptr %actor.i14.i97.i.i, align 8
  %div9.i15.i98.i.i = lshr i32 %63, 6
  %conv1.i16.i99.i.i = zext nneg i32 %div9.i15.i98.i.i to i64
  store i64 %conv1.i16.i99.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 104), align 8
  %64 = load i32, ptr %actor.i14.i97.i.i, align 8
  %rem.i17.i100.i.i = and i32 %64, 63
  %conv4.i18.i101.i.i = zext nneg i32 %rem.i17.i100.i.i to i64
  store i64 %conv4.i18.i101.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 112), align 16
  %thread.i19.i102.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 24
  %65 = load i16, ptr %thread.i19.i102.i.i, align 8
  %conv6.i20.i103.i.i = zext i16 %65 to i64
  store i64 %conv6.i20.i103.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 120), align 8
  %code.i21.i104.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 26
  br label %explain.exit.i

if.end10.i.i:                                     ; preds = %if.end5.i.i
  %acquired.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 65
  %66 = load i8, ptr %acquired.i.i, align 1
  %loadedv11.i.i = trunc i8 %66 to i1
  br i1 %loadedv11.i.i, label %if.end14.i.i, label %if.then12.i.i

if.then12.i.i:                                    ; preds = %if.end10.i.i
  store i64 4, ptr @fly.sanitizer.rank_report, align 16
  store i64 %kind, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 8), align 8
  %67 = load i32, ptr %site7.i, align 8
  %conv.i.i107.i.i = zext i32 %67 to i64
  store i64 %conv.i.i107.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 16), align 16
  %68 = load i32, ptr %actor4.i, align 8
  %div9.i.i109.i.i = lshr i32 %68, 6
  %conv1.i.i110.i.i = zext nneg i32 %div9.i.i109.i.i to i64
  store i64 %conv1.i.i110.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 24), align 8
  %rem.i.i111.i.i = and i32 %68, 63
  %conv4.i.i112.i.i = zext nneg i32 %rem.i.i111.i.i to i64
  store i64 %conv4.i.i112.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 32), align 16
  %69 = load i16, ptr %thread9.i, align 8
  %conv6.i.i114.i.i = zext i16 %69 to i64
  store i64 %conv6.i.i114.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 40), align 8
  %70 = load i16, ptr %code.i, align 2
  %conv8.i.i116.i.i = zext i16 %70 to i64
  store i64 %conv8.i.i116.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 48), align 16
  %site.i1.i117.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 16
  %71 = load i32, ptr %site.i1.i117.i.i, align 8
  %conv.i2.i118.i.i = zext i32 %71 to i64
  store i64 %conv.i2.i118.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 56), align 8
  %72 = load i32, ptr %actor2.i.i, align 8
  %div9.i4.i120.i.i = lshr i32 %72, 6
  %conv1.i5.i121.i.i = zext nneg i32 %div9.i4.i120.i.i to i64
  store i64 %conv1.i5.i121.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 64), align 16
  %73 = load i32, ptr %actor2.i.i, align 8
  %rem.i6.i122.i.i = and i32 %73, 63
  %conv4.i7.i123.i.i = zext nneg i32 %rem.i6.i122.i.i to i64
  store i64 %conv4.i7.i123.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 72), align 8
  %thread.i8.i124.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 24
  %74 = load i16, ptr %thread.i8.i124.i.i, align 8
  %conv6.i9.i125.i.i = zext i16 %74 to i64
  store i64 %conv6.i9.i125.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 80), align 16
  %code.i10.i126.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 26
  %75 = load i16, ptr %code.i10.i126.i.i, align 2
  %conv8.i11.i127.i.i = zext i16 %75 to i64
  store i64 %conv8.i11.i127.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 88), align 8
  %site.i12.i128.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 48
  %76 = load i32, ptr %site.i12.i128.i.i, align 8
  %conv.i13.i129.i.i = zext i32 %76 to i64
  store i64 %conv.i13.i129.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 96), align 16
  %actor.i14.i130.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 40
  %77 = load i32, ptr %actor.i14.i130.i.i, align 8
  %div9.i15.i131.i.i = lshr i32 %77, 6
  %conv1.i16.i132.i.i = zext nneg i32 %div9.i15.i131.i.i to i64
  store i64 %conv1.i16.i132.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 104), align 8
  %78 = load i32, ptr %actor.i14.i130.i.i, align 8
  %rem.i17.i133.i.i = and i32 %78, 63
  %conv4.i18.i134.i.i = zext nneg i32 %rem.i17.i133.i.i to i64
  store i64 %conv4.i18.i134.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 112), align 16
  %thread.i19.i135.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 56
  %79 = load i16, ptr %thread.i19.i135.i.i, align 8
  %conv6.i20.i136.i.i = zext i16 %79 to i64
  store i64 %conv6.i20.i136.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 120), align 8
  %code.i21.i137.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 58
  br label %explain.exit.i

if.end14.i.i:                                     ; preds = %if.end10.i.i
  %thread.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 24
  %80 = load i16, ptr %thread.i.i, align 8
  %thread16.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 24
  %81 = load i16, ptr %thread16.i.i, align 8
  %cmp.not.i49.i = icmp eq i16 %80, %81
  br i1 %cmp.not.i49.i, label %land.lhs.true.i50.i, label %land.rhs.i.i

land.rhs.i.i:                                     ; preds = %if.end14.i.i
  %stretch.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 20
  %82 = load i32, ptr %stretch.i.i, align 4
  %stretch20.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 20
  %83 = load i32, ptr %stretch20.i.i, align 4
  %cmp21.i.i = icmp eq i32 %82, %83
  br i1 %cmp21.i.i, label %if.end32.i.i, label %land.lhs.true.i50.i

land.lhs.true.i50.i:                              ; preds = %land.rhs.i.i, %if.end14.i.i
  %84 = load i64, ptr %arrayidx17.i157.i, align 8
  %85 = load i64, ptr %arrayidx.i44.i, align 8
  %cmp27.i.i = icmp ugt i64 %84, %85
  br i1 %cmp27.i.i, label %if.then29.i.i, label %if.end32.i.i

if.then29.i.i:                                    ; preds = %land.lhs.true.i50.i
  store i64 5, ptr @fly.sanitizer.rank_report, align 16
  store i64 %kind, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 8), align 8
  %86 = load i32, ptr %site7.i, align 8
  %conv.i.i140.i.i = zext i32 %86 to i64
  store i64 %conv.i.i140.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 16), align 16
  %87 = load i32, ptr %actor4.i, align 8
  %div9.i.i142.i.i = lshr i32 %87, 6
  %conv1.i.i143.i.i = zext nneg i32 %div9.i.i142.i.i to i64
  store i64 %conv1.i.i143.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 24), align 8
  %rem.i.i144.i.i = and i32 %87, 63
  %conv4.i.i145.i.i = zext nneg i32 %rem.i.i144.i.i to i64
  store i64 %conv4.i.i145.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 32), align 16
  %88 = load i16, ptr %thread9.i, align 8
  %conv6.i.i147.i.i = zext i16 %88 to i64
  store i64 %conv6.i.i147.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 40), align 8
  %89 = load i16, ptr %code.i, align 2
  %conv8.i.i149.i.i = zext i16 %89 to i64
  store i64 %conv8.i.i149.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 48), align 16
  %site.i1.i150.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 16
  %90 = load i32, ptr %site.i1.i150.i.i, align 8
  %conv.i2.i151.i.i = zext i32 %90 to i64
  store i64 %conv.i2.i151.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 56), align 8
  %91 = load i32, ptr %actor2.i.i, align 8
  %div9.i4.i153.i.i = lshr i32 %91, 6
  %conv1.i5.i154.i.i = zext nneg i32 %div9.i4.i153.i.i to i64
  store i64 %conv1.i5.i154.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 64), align 16
  %92 = load i32, ptr %actor2.i.i, align 8
  %rem.i6.i155.i.i = and i32 %92, 63
  %conv4.i7.i156.i.i = zext nneg i32 %rem.i6.i155.i.i to i64
  store i64 %conv4.i7.i156.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 72), align 8
  %93 = load i16, ptr %thread.i.i, align 8
  %conv6.i9.i158.i.i = zext i16 %93 to i64
  store i64 %conv6.i9.i158.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 80), align 16
  %code.i10.i159.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 26
  %94 = load i16, ptr %code.i10.i159.i.i, align 2
  %conv8.i11.i160.i.i = zext i16 %94 to i64
  store i64 %conv8.i11.i160.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 88), align 8
  %site.i12.i161.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 16
  %95 = load i32, ptr %site.i12.i161.i.i, align 8
  %conv.i13.i162.i.i = zext i32 %95 to i64
  store i64 %conv.i13.i162.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 96), align 16
  %actor.i14.i163.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 8
  %96 = load i32, ptr %actor.i14.i163.i.i, align 8
  %div9.i15.i164.i.i = lshr i32 %96, 6
  %conv1.i16.i165.i.i = zext nneg i32 %div9.i15.i164.i.i to i64
  store i64 %conv1.i16.i165.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 104), align 8
  %97 = load i32, ptr %actor.i14.i163.i.i, align 8
  %rem.i17.i166.i.i = and i32 %97, 63
  %conv4.i18.i167.i.i = zext nneg i32 %rem.i17.i166.i.i to i64
  store i64 %conv4.i18.i167.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 112), align 16
  %98 = load i16, ptr %thread16.i.i, align 8
  %conv6.i20.i169.i.i = zext i16 %98 to i64
  store i64 %conv6.i20.i169.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 120), align 8
  %code.i21.i170.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 26
  br label %explain.exit.i

if.end32.i.i:                                     ; preds = %land.lhs.true.i50.i, %land.rhs.i.i
  %99 = load i32, ptr %count.i.i.i.i, align 8
  %cmp33.not240.not.i.i = icmp eq i32 %99, 0
  br i1 %cmp33.not240.not.i.i, label %for.end.i57.i, label %for.body.lr.ph.i51.i

for.body.lr.ph.i51.i:                             ; preds = %if.end32.i.i
  %100 = load ptr, ptr %taken.i.i.i, align 8
  %clock.i.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 12
  %101 = load i32, ptr %clock.i.i.i, align 4
  %conv.i.i52.i = zext i16 %80 to i32
  %102 = zext i32 %99 to i64
  br label %for.body.i53.i

for.body.i53.i:                                   ; preds = %for.inc.i55.i, %for.body.lr.ph.i51.i
  %indvars.iv.i = phi i64 [ %indvars.iv.next.i, %for.inc.i55.i ], [ 0, %for.body.lr.ph.i51.i ]
  %arrayidx37.i.i = getelementptr inbounds nuw ptr, ptr %100, i64 %indvars.iv.i
  %103 = load ptr, ptr %arrayidx37.i.i, align 8
  %arrayidx.i.i54.i = getelementptr inbounds nuw i32, ptr %103, i64 %idxprom.i43.i
  %104 = load i32, ptr %arrayidx.i.i54.i, align 4
  %cmp.not.i.i.i = icmp ult i32 %104, %101
  br i1 %cmp.not.i.i.i, label %for.cond.preheader.i.i.i, label %if.then39.i.i

for.cond.preheader.i.i.i:                         ; preds = %for.body.i53.i
  %tails.i.i.i = getelementptr inbounds nuw i8, ptr %103, i64 4096
  %tail_count.i.i.i = getelementptr inbounds nuw i8, ptr %103, i64 5632
  %105 = load i32, ptr %tail_count.i.i.i, align 16
  %cmp113.not.i.i.i = icmp eq i32 %105, 0
  br i1 %cmp113.not.i.i.i, label %for.inc.i55.i, label %for.body.lr.ph.i.i.i

for.body.lr.ph.i.i.i:                             ; preds = %for.cond.preheader.i.i.i
  %wide.trip.count.i.i.i = zext i32 %105 to i64
  br label %for.body.i.i.i

for.body.i.i.i:                                   ; preds = %if.end16.i.i.i, %for.body.lr.ph.i.i.i
  %indvars.iv.i.i.i = phi i64 [ 0, %for.body.lr.ph.i.i.i ], [ %indvars.iv.next.i.i.i, %if.end16.i.i.i ]
  %arrayidx3.i.i.i = getelementptr inbounds nuw %struct.Tail, ptr %tails.i.i.i, i64 %indvars.iv.i.i.i
  %106 = load i32, ptr %arrayidx3.i.i.i, align 4
  %cmp6.i.i.i = icmp eq i32 %106, %41
  br i1 %cmp6.i.i.i, label %land.lhs.true.i.i58.i, label %if.end16.i.i.i

land.lhs.true.i.i58.i:                            ; preds = %for.body.i.i.i
  %thread.i.i59.i = getelementptr inbounds nuw i8, ptr %arrayidx3.i.i.i, i64 4
  %107 = load i32, ptr %thread.i.i59.i, align 4
  %cmp8.i.i.i = icmp eq i32 %107, %conv.i.i52.i
  br i1 %cmp8.i.i.i, label %land.lhs.true10.i.i.i, label %if.end16.i.i.i

land.lhs.true10.i.i.i:                            ; preds = %land.lhs.true.i.i58.i
  %clock11.i.i.i = getelementptr inbounds nuw i8, ptr %arrayidx3.i.i.i, i64 8
  %108 = load i32, ptr %clock11.i.i.i, align 4
  %cmp13.not.i.i.i = icmp ult i32 %108, %101
  br i1 %cmp13.not.i.i.i, label %if.end16.i.i.i, label %if.then39.i.i

if.end16.i.i.i:                                   ; preds = %land.lhs.true10.i.i.i, %land.lhs.true.i.i58.i, %for.body.i.i.i
  %indvars.iv.next.i.i.i = add nuw nsw i64 %indvars.iv.i.i.i, 1
  %exitcond.not.i.i.i = icmp eq i64 %indvars.iv.next.i.i.i, %wide.trip.count.i.i.i
  br i1 %exitcond.not.i.i.i, label %for.inc.i55.i, label %for.body.i.i.i

if.then39.i.i:                                    ; preds = %for.body.i53.i, %land.lhs.true10.i.i.i
  store i64 7, ptr @fly.sanitizer.rank_report, align 16
  store i64 %kind, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 8), align 8
  %109 = load i32, ptr %site7.i, align 8
  %conv.i.i173.i.i = zext i32 %109 to i64
  store i64 %conv.i.i173.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 16), align 16
  %110 = load i32, ptr %actor4.i, align 8
  %div9.i.i175.i.i = lshr i32 %110, 6
  %conv1.i.i176.i.i = zext nneg i32 %div9.i.i175.i.i to i64
  store i64 %conv1.i.i176.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 24), align 8
  %rem.i.i177.i.i = and i32 %110, 63
  %conv4.i.i178.i.i = zext nneg i32 %rem.i.i177.i.i to i64
  store i64 %conv4.i.i178.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 32), align 16
  %111 = load i16, ptr %thread9.i, align 8
  %conv6.i.i180.i.i = zext i16 %111 to i64
  store i64 %conv6.i.i180.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 40), align 8
  %112 = load i16, ptr %code.i, align 2
  %conv8.i.i182.i.i = zext i16 %112 to i64
  store i64 %conv8.i.i182.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 48), align 16
  %site.i1.i183.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 16
  %113 = load i32, ptr %site.i1.i183.i.i, align 8
  %conv.i2.i184.i.i = zext i32 %113 to i64
  store i64 %conv.i2.i184.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 56), align 8
  %114 = load i32, ptr %actor2.i.i, align 8
  %div9.i4.i186.i.i = lshr i32 %114, 6
  %conv1.i5.i187.i.i = zext nneg i32 %div9.i4.i186.i.i to i64
  store i64 %conv1.i5.i187.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 64), align 16
  %115 = load i32, ptr %actor2.i.i, align 8
  %rem.i6.i188.i.i = and i32 %115, 63
  %conv4.i7.i189.i.i = zext nneg i32 %rem.i6.i188.i.i to i64
  store i64 %conv4.i7.i189.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 72), align 8
  %116 = load i16, ptr %thread.i.i, align 8
  %conv6.i9.i191.i.i = zext i16 %116 to i64
  store i64 %conv6.i9.i191.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 80), align 16
  %code.i10.i192.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 26
  %117 = load i16, ptr %code.i10.i192.i.i, align 2
  %conv8.i11.i193.i.i = zext i16 %117 to i64
  store i64 %conv8.i11.i193.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 88), align 8
  %site.i12.i194.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 48
  %118 = load i32, ptr %site.i12.i194.i.i, align 8
  %conv.i13.i195.i.i = zext i32 %118 to i64
  store i64 %conv.i13.i195.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 96), align 16
  %actor.i14.i196.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 40
  %119 = load i32, ptr %actor.i14.i196.i.i, align 8
  %div9.i15.i197.i.i = lshr i32 %119, 6
  %conv1.i16.i198.i.i = zext nneg i32 %div9.i15.i197.i.i to i64
  store i64 %conv1.i16.i198.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 104), align 8
  %120 = load i32, ptr %actor.i14.i196.i.i, align 8
  %rem.i17.i199.i.i = and i32 %120, 63
  %conv4.i18.i200.i.i = zext nneg i32 %rem.i17.i199.i.i to i64
  store i64 %conv4.i18.i200.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 112), align 16
  %thread.i19.i201.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 56
  %121 = load i16, ptr %thread.i19.i201.i.i, align 8
  %conv6.i20.i202.i.i = zext i16 %121 to i64
  store i64 %conv6.i20.i202.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 120), align 8
  %code.i21.i203.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 58
  br label %explain.exit.i

for.inc.i55.i:                                    ; preds = %if.end16.i.i.i, %for.cond.preheader.i.i.i
  %indvars.iv.next.i = add nuw nsw i64 %indvars.iv.i, 1
  %exitcond.not.i.i = icmp eq i64 %indvars.iv.next.i, %102
  br i1 %exitcond.not.i.i, label %for.end.i57.i, label %for.body.i53.i

for.end.i57.i:                                    ; preds = %for.inc.i55.i, %if.end32.i.i
  store i64 6, ptr @fly.sanitizer.rank_report, align 16
  store i64 %kind, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 8), align 8
  %122 = load i32, ptr %site7.i, align 8
  %conv.i.i206.i.i = zext i32 %122 to i64
  store i64 %conv.i.i206.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 16), align 16
  %123 = load i32, ptr %actor4.i, align 8
  %div9.i.i208.i.i = lshr i32 %123, 6
  %conv1.i.i209.i.i = zext nneg i32 %div9.i.i208.i.i to i64
  store i64 %conv1.i.i209.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 24), align 8
  %rem.i.i210.i.i = and i32 %123, 63
  %conv4.i.i211.i.i = zext nneg i32 %rem.i.i210.i.i to i64
  store i64 %conv4.i.i211.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 32), align 16
  %124 = load i16, ptr %thread9.i, align 8
  %conv6.i.i213.i.i = zext i16 %124 to i64
  store i64 %conv6.i.i213.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 40), align 8
  %125 = load i16, ptr %code.i, align 2
  %conv8.i.i215.i.i = zext i16 %125 to i64
  store i64 %conv8.i.i215.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 48), align 16
  %site.i1.i216.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 16
  %126 = load i32, ptr %site.i1.i216.i.i, align 8
  %conv.i2.i217.i.i = zext i32 %126 to i64
  store i64 %conv.i2.i217.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 56), align 8
  %127 = load i32, ptr %actor2.i.i, align 8
  %div9.i4.i219.i.i = lshr i32 %127, 6
  %conv1.i5.i220.i.i = zext nneg i32 %div9.i4.i219.i.i to i64
  store i64 %conv1.i5.i220.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 64), align 16
  %128 = load i32, ptr %actor2.i.i, align 8
  %rem.i6.i221.i.i = and i32 %128, 63
  %conv4.i7.i222.i.i = zext nneg i32 %rem.i6.i221.i.i to i64
  store i64 %conv4.i7.i222.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 72), align 8
  %129 = load i16, ptr %thread.i.i, align 8
  %conv6.i9.i224.i.i = zext i16 %129 to i64
  store i64 %conv6.i9.i224.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 80), align 16
  %code.i10.i225.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 26
  %130 = load i16, ptr %code.i10.i225.i.i, align 2
  %conv8.i11.i226.i.i = zext i16 %130 to i64
  store i64 %conv8.i11.i226.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 88), align 8
  %site.i12.i227.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 16
  %131 = load i32, ptr %site.i12.i227.i.i, align 8
  %conv.i13.i228.i.i = zext i32 %131 to i64
  store i64 %conv.i13.i228.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 96), align 16
  %actor.i14.i229.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 8
  %132 = load i32, ptr %actor.i14.i229.i.i, align 8
  %div9.i15.i230.i.i = lshr i32 %132, 6
  %conv1.i16.i231.i.i = zext nneg i32 %div9.i15.i230.i.i to i64
  store i64 %conv1.i16.i231.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 104), align 8
  %133 = load i32, ptr %actor.i14.i229.i.i, align 8
  %rem.i17.i232.i.i = and i32 %133, 63
  %conv4.i18.i233.i.i = zext nneg i32 %rem.i17.i232.i.i to i64
  store i64 %conv4.i18.i233.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 112), align 16
  %134 = load i16, ptr %thread16.i.i, align 8
  %conv6.i20.i235.i.i = zext i16 %134 to i64
  store i64 %conv6.i20.i235.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 120), align 8
  %code.i21.i236.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i44.i, i64 26
  br label %explain.exit.i

explain.exit.i:                                   ; preds = %for.end.i57.i, %if.then39.i.i, %if.then29.i.i, %if.then12.i.i, %if.then7.i.i, %if.then3.i.i
  %.sink.in.i.i = phi ptr [ %code.i21.i203.i.i, %if.then39.i.i ], [ %code.i21.i170.i.i, %if.then29.i.i ], [ %code.i21.i236.i.i, %for.end.i57.i ], [ %code.i21.i137.i.i, %if.then12.i.i ], [ %code.i21.i104.i.i, %if.then7.i.i ], [ %code.i, %if.then3.i.i ]
  %.sink.i48.i = load i16, ptr %.sink.in.i.i, align 2
  %conv8.i22.i204.i.i = zext i16 %.sink.i48.i to i64
  store i64 %conv8.i22.i204.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 128), align 16
  store i1 true, ptr @fly.sanitizer.told, align 1
  br label %cleanup34.i

if.end27.i.i:                                     ; preds = %land.lhs.true11.i.i, %land.lhs.true8.i.i, %land.lhs.true.i
  br i1 %tobool.i.i, label %for.end.i.i, label %for.body.lr.ph.i.i

for.body.lr.ph.i.i:                               ; preds = %if.end27.i.i
  %read_masks.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 361
  %135 = load i8, ptr %read_masks.i.i, align 1
  %and3472.i.i = and i8 %135, %conv23.i
  %tobool35.not.i.i = icmp eq i8 %and3472.i.i, 0
  br i1 %tobool35.not.i.i, label %for.inc.i33.i, label %land.lhs.true36.i.i

land.lhs.true36.i.i:                              ; preds = %for.body.lr.ph.i.i
  %reads.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 32
  %call39.i.i = call fastcc i1 @fly.sanitizer.unseen(ptr %11, ptr nonnull readonly %here.i, ptr %reads.i.i)
  br i1 %call39.i.i, label %if.then41.i.i, label %for.inc.i33.i

if.then41.i.i:                                    ; preds = %land.lhs.true36.9.i.i, %land.lhs.true36.8.i.i, %land.lhs.true36.7.i.i, %land.lhs.true36.6.i.i, %land.lhs.true36.5.i.i, %land.lhs.true36.4.i.i, %land.lhs.true36.3.i.i, %land.lhs.true36.2.i.i, %land.lhs.true36.1.i.i, %land.lhs.true36.i.i
  %arrayidx38.lcssa.i.i = phi ptr [ %reads.i.i, %land.lhs.true36.i.i ], [ %arrayidx38.1.i.i, %land.lhs.true36.1.i.i ], [ %arrayidx38.2.i.i, %land.lhs.true36.2.i.i ], [ %arrayidx38.3.i.i, %land.lhs.true36.3.i.i ], [ %arrayidx38.4.i.i, %land.lhs.true36.4.i.i ], [ %arrayidx38.5.i.i, %land.lhs.true36.5.i.i ], [ %arrayidx38.6.i.i, %land.lhs.true36.6.i.i ], [ %arrayidx38.7.i.i, %land.lhs.true36.7.i.i ], [ %arrayidx38.8.i.i, %land.lhs.true36.8.i.i ], [ %arrayidx38.9.i.i, %land.lhs.true36.9.i.i ]
  br i1 %tobool2.not.i31.i, label %cond.false50.i.i, label %cond.true47.i.i

cond.true47.i.i:                                  ; preds = %if.then41.i.i
  store i64 10, ptr @fly.sanitizer.rank_report, align 16
  store i64 %kind, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 8), align 8
  %136 = load i32, ptr %site7.i, align 8
  %conv.i.i75.i.i = zext i32 %136 to i64
  store i64 %conv.i.i75.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 16), align 16
  %137 = load i32, ptr %actor4.i, align 8
  %div9.i.i77.i.i = lshr i32 %137, 6
  %conv1.i.i78.i.i = zext nneg i32 %div9.i.i77.i.i to i64
  store i64 %conv1.i.i78.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 24), align 8
  %rem.i.i79.i.i = and i32 %137, 63
  %conv4.i.i80.i.i = zext nneg i32 %rem.i.i79.i.i to i64
  store i64 %conv4.i.i80.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 32), align 16
  %138 = load i16, ptr %thread9.i, align 8
  %conv6.i.i82.i.i = zext i16 %138 to i64
  store i64 %conv6.i.i82.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 40), align 8
  %139 = load i16, ptr %code.i, align 2
  %conv8.i.i84.i.i = zext i16 %139 to i64
  store i64 %conv8.i.i84.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 48), align 16
  %site.i1.i85.i.i = getelementptr inbounds nuw i8, ptr %arrayidx38.lcssa.i.i, i64 16
  %140 = load i32, ptr %site.i1.i85.i.i, align 8
  %conv.i2.i86.i.i = zext i32 %140 to i64
  store i64 %conv.i2.i86.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 56), align 8
  %actor.i3.i87.i.i = getelementptr inbounds nuw i8, ptr %arrayidx38.lcssa.i.i, i64 8
  %141 = load i32, ptr %actor.i3.i87.i.i, align 8
  %div9.i4.i88.i.i = lshr i32 %141, 6
  %conv1.i5.i89.i.i = zext nneg i32 %div9.i4.i88.i.i to i64
  store i64 %conv1.i5.i89.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 64), align 16
  %142 = load i32, ptr %actor.i3.i87.i.i, align 8
  %rem.i6.i90.i.i = and i32 %142, 63
  %conv4.i7.i91.i.i = zext nneg i32 %rem.i6.i90.i.i to i64
  store i64 %conv4.i7.i91.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 72), align 8
  %thread.i8.i92.i.i = getelementptr inbounds nuw i8, ptr %arrayidx38.lcssa.i.i, i64 24
  %143 = load i16, ptr %thread.i8.i92.i.i, align 8
  %conv6.i9.i93.i.i = zext i16 %143 to i64
  store i64 %conv6.i9.i93.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 80), align 16
  %code.i10.i94.i.i = getelementptr inbounds nuw i8, ptr %arrayidx38.lcssa.i.i, i64 26
  %144 = load i16, ptr %code.i10.i94.i.i, align 2
  %conv8.i11.i95.i.i = zext i16 %144 to i64
  store i64 %conv8.i11.i95.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 88), align 8
  %145 = load i32, ptr %site.i1.i85.i.i, align 8
  %conv.i13.i97.i.i = zext i32 %145 to i64
  store i64 %conv.i13.i97.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 96), align 16
  %146 = load i32, ptr %actor.i3.i87.i.i, align 8
  %div9.i15.i99.i.i = lshr i32 %146, 6
  %conv1.i16.i100.i.i = zext nneg i32 %div9.i15.i99.i.i to i64
  store i64 %conv1.i16.i100.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 104), align 8
  %147 = load i32, ptr %actor.i3.i87.i.i, align 8
  %rem.i17.i101.i.i = and i32 %147, 63
  %conv4.i18.i102.i.i = zext nneg i32 %rem.i17.i101.i.i to i64
  store i64 %conv4.i18.i102.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 112), align 16
  %148 = load i16, ptr %thread.i8.i92.i.i, align 8
  %conv6.i20.i104.i.i = zext i16 %148 to i64
  store i64 %conv6.i20.i104.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 120), align 8
  %149 = load i16, ptr %code.i10.i94.i.i, align 2
  %conv8.i22.i106.i.i = zext i16 %149 to i64
  store i64 %conv8.i22.i106.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 128), align 16
  store i1 true, ptr @fly.sanitizer.told, align 1
  br label %cleanup34.i

cond.false50.i.i:                                 ; preds = %if.then41.i.i
  %actor2.i.i.i = getelementptr inbounds nuw i8, ptr %arrayidx38.lcssa.i.i, i64 8
  store i64 9, ptr @fly.sanitizer.rank_report, align 16
  store i64 %kind, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 8), align 8
  %150 = load i32, ptr %site7.i, align 8
  %conv.i.i.i.i.i = zext i32 %150 to i64
  store i64 %conv.i.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 16), align 16
  %151 = load i32, ptr %actor4.i, align 8
  %div9.i.i.i.i.i = lshr i32 %151, 6
  %conv1.i.i.i.i.i = zext nneg i32 %div9.i.i.i.i.i to i64
  store i64 %conv1.i.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 24), align 8
  %rem.i.i.i.i.i = and i32 %151, 63
  %conv4.i.i.i.i.i = zext nneg i32 %rem.i.i.i.i.i to i64
  store i64 %conv4.i.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 32), align 16
  %152 = load i16, ptr %thread9.i, align 8
  %conv6.i.i.i.i.i = zext i16 %152 to i64
  store i64 %conv6.i.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 40), align 8
  %153 = load i16, ptr %code.i, align 2
  %conv8.i.i.i.i.i = zext i16 %153 to i64
  store i64 %conv8.i.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 48), align 16
  %site.i1.i.i.i.i = getelementptr inbounds nuw i8, ptr %arrayidx38.lcssa.i.i, i64 16
  %154 = load i32, ptr %site.i1.i.i.i.i, align 8
  %conv.i2.i.i.i.i = zext i32 %154 to i64
  store i64 %conv.i2.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 56), align 8
  %155 = load i32, ptr %actor2.i.i.i, align 8
  %div9.i4.i.i.i.i = lshr i32 %155, 6
  %conv1.i5.i.i.i.i = zext nneg i32 %div9.i4.i.i.i.i to i64
  store i64 %conv1.i5.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 64), align 16
  %156 = load i32, ptr %actor2.i.i.i, align 8
  %rem.i6.i.i.i.i = and i32 %156, 63
  %conv4.i7.i.i.i.i = zext nneg i32 %rem.i6.i.i.i.i to i64
  store i64 %conv4.i7.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 72), align 8
  %thread.i8.i.i.i.i = getelementptr inbounds nuw i8, ptr %arrayidx38.lcssa.i.i, i64 24
  %157 = load i16, ptr %thread.i8.i.i.i.i, align 8
  %conv6.i9.i.i.i.i = zext i16 %157 to i64
  store i64 %conv6.i9.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 80), align 16
  %code.i10.i.i.i.i = getelementptr inbounds nuw i8, ptr %arrayidx38.lcssa.i.i, i64 26
  %158 = load i16, ptr %code.i10.i.i.i.i, align 2
  %conv8.i11.i.i.i.i = zext i16 %158 to i64
  store i64 %conv8.i11.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 88), align 8
  store i64 %conv.i.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 96), align 16
  store i64 %conv1.i.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 104), align 8
  store i64 %conv4.i.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 112), align 16
  store i64 %conv6.i.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 120), align 8
  store i64 %conv8.i.i.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 128), align 16
  store i1 true, ptr @fly.sanitizer.told, align 1
  br label %cleanup34.i

for.inc.i33.i:                                    ; preds = %land.lhs.true36.i.i, %for.body.lr.ph.i.i
  %arrayidx.1.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 362
  %159 = load i8, ptr %arrayidx.1.i.i, align 1
  %and3472.1.i.i = and i8 %159, %conv23.i
  %tobool35.not.1.i.i = icmp eq i8 %and3472.1.i.i, 0
  br i1 %tobool35.not.1.i.i, label %for.inc.1.i.i, label %land.lhs.true36.1.i.i

land.lhs.true36.1.i.i:                            ; preds = %for.inc.i33.i
  %arrayidx38.1.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 64
  %call39.1.i.i = call fastcc i1 @fly.sanitizer.unseen(ptr %11, ptr nonnull readonly %here.i, ptr %arrayidx38.1.i.i)
  br i1 %call39.1.i.i, label %if.then41.i.i, label %for.inc.1.i.i

for.inc.1.i.i:                                    ; preds = %land.lhs.true36.1.i.i, %for.inc.i33.i
  %arrayidx.2.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 363
  %160 = load i8, ptr %arrayidx.2.i.i, align 1
  %and3472.2.i.i = and i8 %160, %conv23.i
  %tobool35.not.2.i.i = icmp eq i8 %and3472.2.i.i, 0
  br i1 %tobool35.not.2.i.i, label %for.inc.2.i.i, label %land.lhs.true36.2.i.i

land.lhs.true36.2.i.i:                            ; preds = %for.inc.1.i.i
  %arrayidx38.2.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 96
  %call39.2.i.i = call fastcc i1 @fly.sanitizer.unseen(ptr %11, ptr nonnull readonly %here.i, ptr %arrayidx38.2.i.i)
  br i1 %call39.2.i.i, label %if.then41.i.i, label %for.inc.2.i.i

for.inc.2.i.i:                                    ; preds = %land.lhs.true36.2.i.i, %for.inc.1.i.i
  %arrayidx.3.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 364
  %161 = load i8, ptr %arrayidx.3.i.i, align 1
  %and3472.3.i.i = and i8 %161, %conv23.i
  %tobool35.not.3.i.i = icmp eq i8 %and3472.3.i.i, 0
  br i1 %tobool35.not.3.i.i, label %for.inc.3.i.i, label %land.lhs.true36.3.i.i

land.lhs.true36.3.i.i:                            ; preds = %for.inc.2.i.i
  %arrayidx38.3.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 128
  %call39.3.i.i = call fastcc i1 @fly.sanitizer.unseen(ptr %11, ptr nonnull readonly %here.i, ptr %arrayidx38.3.i.i)
  br i1 %call39.3.i.i, label %if.then41.i.i, label %for.inc.3.i.i

for.inc.3.i.i:                                    ; preds = %land.lhs.true36.3.i.i, %for.inc.2.i.i
  %arrayidx.4.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 365
  %162 = load i8, ptr %arrayidx.4.i.i, align 1
  %and3472.4.i.i = and i8 %162, %conv23.i
  %tobool35.not.4.i.i = icmp eq i8 %and3472.4.i.i, 0
  br i1 %tobool35.not.4.i.i, label %for.inc.4.i.i, label %land.lhs.true36.4.i.i

land.lhs.true36.4.i.i:                            ; preds = %for.inc.3.i.i
  %arrayidx38.4.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 160
  %call39.4.i.i = call fastcc i1 @fly.sanitizer.unseen(ptr %11, ptr nonnull readonly %here.i, ptr %arrayidx38.4.i.i)
  br i1 %call39.4.i.i, label %if.then41.i.i, label %for.inc.4.i.i

for.inc.4.i.i:                                    ; preds = %land.lhs.true36.4.i.i, %for.inc.3.i.i
  %arrayidx.5.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 366
  %163 = load i8, ptr %arrayidx.5.i.i, align 1
  %and3472.5.i.i = and i8 %163, %conv23.i
  %tobool35.not.5.i.i = icmp eq i8 %and3472.5.i.i, 0
  br i1 %tobool35.not.5.i.i, label %for.inc.5.i.i, label %land.lhs.true36.5.i.i

land.lhs.true36.5.i.i:                            ; preds = %for.inc.4.i.i
  %arrayidx38.5.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 192
  %call39.5.i.i = call fastcc i1 @fly.sanitizer.unseen(ptr %11, ptr nonnull readonly %here.i, ptr %arrayidx38.5.i.i)
  br i1 %call39.5.i.i, label %if.then41.i.i, label %for.inc.5.i.i

for.inc.5.i.i:                                    ; preds = %land.lhs.true36.5.i.i, %for.inc.4.i.i
  %arrayidx.6.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 367
  %164 = load i8, ptr %arrayidx.6.i.i, align 1
  %and3472.6.i.i = and i8 %164, %conv23.i
  %tobool35.not.6.i.i = icmp eq i8 %and3472.6.i.i, 0
  br i1 %tobool35.not.6.i.i, label %for.inc.6.i.i, label %land.lhs.true36.6.i.i

land.lhs.true36.6.i.i:                            ; preds = %for.inc.5.i.i
  %arrayidx38.6.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 224
  %call39.6.i.i = call fastcc i1 @fly.sanitizer.unseen(ptr %11, ptr nonnull readonly %here.i, ptr %arrayidx38.6.i.i)
  br i1 %call39.6.i.i, label %if.then41.i.i, label %for.inc.6.i.i

for.inc.6.i.i:                                    ; preds = %land.lhs.true36.6.i.i, %for.inc.5.i.i
  %arrayidx.7.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 368
  %165 = load i8, ptr %arrayidx.7.i.i, align 1
  %and3472.7.i.i = and i8 %165, %conv23.i
  %tobool35.not.7.i.i = icmp eq i8 %and3472.7.i.i, 0
  br i1 %tobool35.not.7.i.i, label %for.inc.7.i.i, label %land.lhs.true36.7.i.i

land.lhs.true36.7.i.i:                            ; preds = %for.inc.6.i.i
  %arrayidx38.7.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 256
  %call39.7.i.i = call fastcc i1 @fly.sanitizer.unseen(ptr %11, ptr nonnull readonly %here.i, ptr %arrayidx38.7.i.i)
  br i1 %call39.7.i.i, label %if.then41.i.i, label %for.inc.7.i.i

for.inc.7.i.i:                                    ; preds = %land.lhs.true36.7.i.i, %for.inc.6.i.i
  %arrayidx.8.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 369
  %166 = load i8, ptr %arrayidx.8.i.i, align 1
  %and3472.8.i.i = and i8 %166, %conv23.i
  %tobool35.not.8.i.i = icmp eq i8 %and3472.8.i.i, 0
  br i1 %tobool35.not.8.i.i, label %for.inc.8.i.i, label %land.lhs.true36.8.i.i

land.lhs.true36.8.i.i:                            ; preds = %for.inc.7.i.i
  %arrayidx38.8.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 288
  %call39.8.i.i = call fastcc i1 @fly.sanitizer.unseen(ptr %11, ptr nonnull readonly %here.i, ptr %arrayidx38.8.i.i)
  br i1 %call39.8.i.i, label %if.then41.i.i, label %for.inc.8.i.i

for.inc.8.i.i:                                    ; preds = %land.lhs.true36.8.i.i, %for.inc.7.i.i
  %arrayidx.9.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 370
  %167 = load i8, ptr %arrayidx.9.i.i, align 1
  %and3472.9.i.i = and i8 %167, %conv23.i
  %tobool35.not.9.i.i = icmp eq i8 %and3472.9.i.i, 0
  br i1 %tobool35.not.9.i.i, label %for.end.i.i, label %land.lhs.true36.9.i.i

land.lhs.true36.9.i.i:                            ; preds = %for.inc.8.i.i
  %arrayidx38.9.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 320
  %call39.9.i.i = call fastcc i1 @fly.sanitizer.unseen(ptr %11, ptr nonnull readonly %here.i, ptr %arrayidx38.9.i.i)
  br i1 %call39.9.i.i, label %if.then41.i.i, label %for.end.i.i

for.end.i.i:                                      ; preds = %land.lhs.true36.9.i.i, %for.inc.8.i.i, %if.end27.i.i
  br i1 %or.cond.not.i.i, label %land.lhs.true62.i.i, label %if.end66.i.i

land.lhs.true62.i.i:                              ; preds = %for.end.i.i
  call void @llvm.lifetime.start.p0(ptr nonnull %.compoundliteral.sroa.0.i.i.i)
  %sync1.i.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 352
  %168 = load ptr, ptr %sync1.i.i.i, align 8
  %tobool.not.i.i39.i = icmp eq ptr %168, null
  br i1 %tobool.not.i.i39.i, label %look_at.exit.thread.i.i, label %lor.lhs.false.i.i.i

lor.lhs.false.i.i.i:                              ; preds = %land.lhs.true62.i.i
  %store.i.i.i = getelementptr inbounds nuw i8, ptr %168, i64 5648
  %actor2.i107.i.i = getelementptr inbounds nuw i8, ptr %168, i64 5656
  %169 = load i32, ptr %actor2.i107.i.i, align 8
  %170 = load i32, ptr %actor4.i, align 8
  %cmp.i.i.i = icmp eq i32 %169, %170
  br i1 %cmp.i.i.i, label %look_at.exit.thread.i.i, label %if.end.i.i.i

if.end.i.i.i:                                     ; preds = %lor.lhs.false.i.i.i
  %cmp8.not.unshifted.i.i.i = xor i32 %170, %169
  %cmp8.not.i.i.i = icmp ult i32 %cmp8.not.unshifted.i.i.i, 64
  br i1 %cmp8.not.i.i.i, label %if.end22.i.i.i, label %land.lhs.true.i.i.i

land.lhs.true.i.i.i:                              ; preds = %if.end.i.i.i
  %write_kind.i.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 372
  %171 = load i16, ptr %write_kind.i.i.i, align 4
  %172 = and i16 %171, 512
  %tobool9.not.i.i.i = icmp eq i16 %172, 0
  br i1 %tobool9.not.i.i.i, label %if.then10.i.i.i, label %if.end13.i.i.i

if.then10.i.i.i:                                  ; preds = %land.lhs.true.i.i.i
  store i64 1, ptr @fly.sanitizer.rank_report, align 16
  store i64 %kind, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 8), align 8
  %173 = load i32, ptr %site7.i, align 8
  %conv.i.i.i112.i.i = zext i32 %173 to i64
  store i64 %conv.i.i.i112.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 16), align 16
  %div9.i.i.i113.i.i = lshr i32 %170, 6
  %conv1.i.i.i114.i.i = zext nneg i32 %div9.i.i.i113.i.i to i64
  store i64 %conv1.i.i.i114.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 24), align 8
  %rem.i.i.i115.i.i = and i32 %170, 63
  %conv4.i.i.i116.i.i = zext nneg i32 %rem.i.i.i115.i.i to i64
  store i64 %conv4.i.i.i116.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 32), align 16
  %174 = load i16, ptr %thread9.i, align 8
  %conv6.i.i.i118.i.i = zext i16 %174 to i64
  store i64 %conv6.i.i.i118.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 40), align 8
  %175 = load i16, ptr %code.i, align 2
  %conv8.i.i.i120.i.i = zext i16 %175 to i64
  store i64 %conv8.i.i.i120.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 48), align 16
  %site.i1.i.i121.i.i = getelementptr inbounds nuw i8, ptr %168, i64 5664
  %176 = load i32, ptr %site.i1.i.i121.i.i, align 8
  %conv.i2.i.i122.i.i = zext i32 %176 to i64
  store i64 %conv.i2.i.i122.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 56), align 8
  %div9.i4.i.i123.i.i = lshr i32 %169, 6
  %conv1.i5.i.i124.i.i = zext nneg i32 %div9.i4.i.i123.i.i to i64
  store i64 %conv1.i5.i.i124.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 64), align 16
  %rem.i6.i.i125.i.i = and i32 %169, 63
  %conv4.i7.i.i126.i.i = zext nneg i32 %rem.i6.i.i125.i.i to i64
  store i64 %conv4.i7.i.i126.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 72), align 8
  %thread.i8.i.i127.i.i = getelementptr inbounds nuw i8, ptr %168, i64 5672
  %177 = load i16, ptr %thread.i8.i.i127.i.i, align 8
  %conv6.i9.i.i128.i.i = zext i16 %177 to i64
  store i64 %conv6.i9.i.i128.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 80), align 16
  %code.i10.i.i129.i.i = getelementptr inbounds nuw i8, ptr %168, i64 5674
  %178 = load i16, ptr %code.i10.i.i129.i.i, align 2
  %conv8.i11.i.i130.i.i = zext i16 %178 to i64
  br label %look_at.exit.i.i

if.end13.i.i.i:                                   ; preds = %land.lhs.true.i.i.i
  br i1 %tobool18.not.i.i.i, label %if.then19.i.i.i, label %if.end22.i.i.i

if.then19.i.i.i:                                  ; preds = %if.end13.i.i.i
  store i64 2, ptr @fly.sanitizer.rank_report, align 16
  store i64 %kind, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 8), align 8
  %179 = load i32, ptr %site7.i, align 8
  %conv.i.i36.i.i.i = zext i32 %179 to i64
  store i64 %conv.i.i36.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 16), align 16
  %div9.i.i38.i.i.i = lshr i32 %170, 6
  %conv1.i.i39.i.i.i = zext nneg i32 %div9.i.i38.i.i.i to i64
  store i64 %conv1.i.i39.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 24), align 8
  %rem.i.i40.i.i.i = and i32 %170, 63
  %conv4.i.i41.i.i.i = zext nneg i32 %rem.i.i40.i.i.i to i64
  store i64 %conv4.i.i41.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 32), align 16
  %180 = load i16, ptr %thread9.i, align 8
  %conv6.i.i43.i.i.i = zext i16 %180 to i64
  store i64 %conv6.i.i43.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 40), align 8
  %181 = load i16, ptr %code.i, align 2
  %conv8.i.i45.i.i.i = zext i16 %181 to i64
  store i64 %conv8.i.i45.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 48), align 16
  %site.i1.i46.i.i.i = getelementptr inbounds nuw i8, ptr %168, i64 5664
  %182 = load i32, ptr %site.i1.i46.i.i.i, align 8
  %conv.i2.i47.i.i.i = zext i32 %182 to i64
  store i64 %conv.i2.i47.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 56), align 8
  %div9.i4.i49.i.i.i = lshr i32 %169, 6
  %conv1.i5.i50.i.i.i = zext nneg i32 %div9.i4.i49.i.i.i to i64
  store i64 %conv1.i5.i50.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 64), align 16
  %rem.i6.i51.i.i.i = and i32 %169, 63
  %conv4.i7.i52.i.i.i = zext nneg i32 %rem.i6.i51.i.i.i to i64
  store i64 %conv4.i7.i52.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 72), align 8
  %thread.i8.i53.i.i.i = getelementptr inbounds nuw i8, ptr %168, i64 5672
  %183 = load i16, ptr %thread.i8.i53.i.i.i, align 8
  %conv6.i9.i54.i.i.i = zext i16 %183 to i64
  store i64 %conv6.i9.i54.i.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 80), align 16
  %code.i10.i55.i.i.i = getelementptr inbounds nuw i8, ptr %168, i64 5674
  %184 = load i16, ptr %code.i10.i55.i.i.i, align 2
  %conv8.i11.i56.i.i.i = zext i16 %184 to i64
  br label %look_at.exit.i.i

if.end22.i.i.i:                                   ; preds = %if.end13.i.i.i, %if.end.i.i.i
  %185 = load ptr, ptr %seen25.i.i.i, align 8
  %idxprom.i108.i.i = zext i32 %169 to i64
  %arrayidx.i109.i.i = getelementptr inbounds nuw %struct.Seen, ptr %185, i64 %idxprom.i108.i.i
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(32) %.compoundliteral.sroa.0.i.i.i, ptr nonnull align 16 dereferenceable(32) %store.i.i.i, i64 32, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(32) %.compoundliteral.sroa.0.32.look.sroa_idx.i.i.i, ptr nonnull readonly align 8 dereferenceable(32) %here.i, i64 32, i1 false)
  %released30.i.i.i = getelementptr inbounds nuw i8, ptr %168, i64 5680
  %186 = load i8, ptr %released30.i.i.i, align 16
  %storedv31.i.i.i = and i8 %186, 1
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(64) %arrayidx.i109.i.i, ptr nonnull align 8 dereferenceable(64) %.compoundliteral.sroa.0.i.i.i, i64 64, i1 false)
  %.compoundliteral.sroa.3.0..sroa_idx.i.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i109.i.i, i64 64
  store i8 %storedv31.i.i.i, ptr %.compoundliteral.sroa.3.0..sroa_idx.i.i.i, align 8
  %.compoundliteral.sroa.4.0..sroa_idx.i.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i109.i.i, i64 65
  store i8 %storedv36.i.i.i, ptr %.compoundliteral.sroa.4.0..sroa_idx.i.i.i, align 1
  %.compoundliteral.sroa.5.0..sroa_idx.i.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i109.i.i, i64 66
  call void @llvm.memset.p0.i64(ptr nonnull align 2 dereferenceable(6) %.compoundliteral.sroa.5.0..sroa_idx.i.i.i, i8 0, i64 6, i1 false)
  br i1 %16, label %if.then39.i.i.i, label %if.else.i.i.i

if.then39.i.i.i:                                  ; preds = %if.end22.i.i.i
  %187 = load i16, ptr %thread9.i, align 8
  %conv40.i.i.i = zext i16 %187 to i32
  %188 = load i32, ptr %count.i.i.i.i, align 8
  %cmp27.not.i.i.i.i = icmp eq i32 %188, 0
  %.pre.i.pre.i.i.i = load ptr, ptr %taken.i.i.i, align 8
  br i1 %cmp27.not.i.i.i.i, label %cleanup.i.i.i.i, label %for.body.lr.ph.i.i.i.i

for.body.lr.ph.i.i.i.i:                           ; preds = %if.then39.i.i.i
  %wide.trip.count.i.i.i.i = zext i32 %188 to i64
  br label %for.body.i.i.i.i

for.cond.i.i.i.i:                                 ; preds = %for.body.i.i.i.i
  %indvars.iv.next.i.i.i.i = add nuw nsw i64 %indvars.iv.i.i.i.i, 1
  %exitcond.not.i.i.i.i = icmp eq i64 %indvars.iv.next.i.i.i.i, %wide.trip.count.i.i.i.i
  br i1 %exitcond.not.i.i.i.i, label %cleanup.i.i.i.i, label %for.body.i.i.i.i

for.body.i.i.i.i:                                 ; preds = %for.cond.i.i.i.i, %for.body.lr.ph.i.i.i.i
  %indvars.iv.i.i.i.i = phi i64 [ 0, %for.body.lr.ph.i.i.i.i ], [ %indvars.iv.next.i.i.i.i, %for.cond.i.i.i.i ]
  %arrayidx.i.i.i.i = getelementptr inbounds nuw ptr, ptr %.pre.i.pre.i.i.i, i64 %indvars.iv.i.i.i.i
  %189 = load ptr, ptr %arrayidx.i.i.i.i, align 8
  %thread1.i.i.i.i = getelementptr inbounds nuw i8, ptr %189, i64 5648
  %190 = load i32, ptr %thread1.i.i.i.i, align 16
  %cmp2.i.i.i.i = icmp eq i32 %190, %conv40.i.i.i
  br i1 %cmp2.i.i.i.i, label %look_at.exit.thread.sink.split.i.i, label %for.cond.i.i.i.i

cleanup.i.i.i.i:                                  ; preds = %for.cond.i.i.i.i, %if.then39.i.i.i
  %191 = load i32, ptr %room.i.i.i.i, align 4
  %cmp9.i.i.i.i = icmp eq i32 %188, %191
  br i1 %cmp9.i.i.i.i, label %if.then10.i.i.i.i, label %if.end18.i.i.i.i

if.then10.i.i.i.i:                                ; preds = %cleanup.i.i.i.i
  %mul.i.i.i.i = shl i32 %188, 1
  %spec.select.i.i.i.i = select i1 %cmp27.not.i.i.i.i, i32 8, i32 %mul.i.i.i.i
  store i32 %spec.select.i.i.i.i, ptr %room.i.i.i.i, align 4
  %conv.i.i110.i.i = zext i32 %spec.select.i.i.i.i to i64
  %mul16.i.i.i.i = shl nuw nsw i64 %conv.i.i110.i.i, 3
  %call.i.i.i.i = call ptr @realloc(ptr %.pre.i.pre.i.i.i, i64 %mul16.i.i.i.i)
  store ptr %call.i.i.i.i, ptr %taken.i.i.i, align 8
  %.pre31.i.i.i.i = load i32, ptr %count.i.i.i.i, align 8
  br label %if.end18.i.i.i.i

if.end18.i.i.i.i:                                 ; preds = %if.then10.i.i.i.i, %cleanup.i.i.i.i
  %192 = phi i32 [ %.pre31.i.i.i.i, %if.then10.i.i.i.i ], [ %188, %cleanup.i.i.i.i ]
  %193 = phi ptr [ %call.i.i.i.i, %if.then10.i.i.i.i ], [ %.pre.i.pre.i.i.i, %cleanup.i.i.i.i ]
  %call19.i.i.i.i = call dereferenceable_or_null(5664) ptr @calloc(i64 1, i64 5664)
  %thread20.i.i.i.i = getelementptr inbounds nuw i8, ptr %call19.i.i.i.i, i64 5648
  store i32 %conv40.i.i.i, ptr %thread20.i.i.i.i, align 16
  %inc23.i.i.i.i = add i32 %192, 1
  store i32 %inc23.i.i.i.i, ptr %count.i.i.i.i, align 8
  br label %look_at.exit.thread.sink.split.sink.split.i.i

if.else.i.i.i:                                    ; preds = %if.end22.i.i.i
  %cond.v.i.i.i = select i1 %cmp8.not.i.i.i, i64 5688, i64 5704
  %cond.i.i.i = getelementptr inbounds nuw i8, ptr %11, i64 %cond.v.i.i.i
  %194 = load i16, ptr %thread9.i, align 8
  %conv46.i.i.i = zext i16 %194 to i32
  %count.i68.i.i.i = getelementptr inbounds nuw i8, ptr %cond.i.i.i, i64 8
  %195 = load i32, ptr %count.i68.i.i.i, align 8
  %cmp27.not.i69.i.i.i = icmp eq i32 %195, 0
  %.pre.i83.pre.i.i.i = load ptr, ptr %cond.i.i.i, align 8
  br i1 %cmp27.not.i69.i.i.i, label %cleanup.i80.i.i.i, label %for.body.lr.ph.i70.i.i.i

for.body.lr.ph.i70.i.i.i:                         ; preds = %if.else.i.i.i
  %wide.trip.count.i71.i.i.i = zext i32 %195 to i64
  br label %for.body.i72.i.i.i

for.cond.i77.i.i.i:                               ; preds = %for.body.i72.i.i.i
  %indvars.iv.next.i78.i.i.i = add nuw nsw i64 %indvars.iv.i73.i.i.i, 1
  %exitcond.not.i79.i.i.i = icmp eq i64 %indvars.iv.next.i78.i.i.i, %wide.trip.count.i71.i.i.i
  br i1 %exitcond.not.i79.i.i.i, label %cleanup.i80.i.i.i, label %for.body.i72.i.i.i

for.body.i72.i.i.i:                               ; preds = %for.cond.i77.i.i.i, %for.body.lr.ph.i70.i.i.i
  %indvars.iv.i73.i.i.i = phi i64 [ 0, %for.body.lr.ph.i70.i.i.i ], [ %indvars.iv.next.i78.i.i.i, %for.cond.i77.i.i.i ]
  %arrayidx.i74.i.i.i = getelementptr inbounds nuw ptr, ptr %.pre.i83.pre.i.i.i, i64 %indvars.iv.i73.i.i.i
  %196 = load ptr, ptr %arrayidx.i74.i.i.i, align 8
  %thread1.i75.i.i.i = getelementptr inbounds nuw i8, ptr %196, i64 5648
  %197 = load i32, ptr %thread1.i75.i.i.i, align 16
  %cmp2.i76.i.i.i = icmp eq i32 %197, %conv46.i.i.i
  br i1 %cmp2.i76.i.i.i, label %look_at.exit.thread.sink.split.i.i, label %for.cond.i77.i.i.i

cleanup.i80.i.i.i:                                ; preds = %for.cond.i77.i.i.i, %if.else.i.i.i
  %room.i81.i.i.i = getelementptr inbounds nuw i8, ptr %cond.i.i.i, i64 12
  %198 = load i32, ptr %room.i81.i.i.i, align 4
  %cmp9.i82.i.i.i = icmp eq i32 %195, %198
  br i1 %cmp9.i82.i.i.i, label %if.then10.i91.i.i.i, label %if.end18.i84.i.i.i

if.then10.i91.i.i.i:                              ; preds = %cleanup.i80.i.i.i
  %mul.i92.i.i.i = shl i32 %195, 1
  %spec.select.i93.i.i.i = select i1 %cmp27.not.i69.i.i.i, i32 8, i32 %mul.i92.i.i.i
  store i32 %spec.select.i93.i.i.i, ptr %room.i81.i.i.i, align 4
  %conv.i94.i.i.i = zext i32 %spec.select.i93.i.i.i to i64
  %mul16.i95.i.i.i = shl nuw nsw i64 %conv.i94.i.i.i, 3
  %call.i96.i.i.i = call ptr @realloc(ptr %.pre.i83.pre.i.i.i, i64 %mul16.i95.i.i.i)
  store ptr %call.i96.i.i.i, ptr %cond.i.i.i, align 8
  %.pre31.i97.i.i.i = load i32, ptr %count.i68.i.i.i, align 8
  br label %if.end18.i84.i.i.i

if.end18.i84.i.i.i:                               ; preds = %if.then10.i91.i.i.i, %cleanup.i80.i.i.i
  %199 = phi i32 [ %.pre31.i97.i.i.i, %if.then10.i91.i.i.i ], [ %195, %cleanup.i80.i.i.i ]
  %200 = phi ptr [ %call.i96.i.i.i, %if.then10.i91.i.i.i ], [ %.pre.i83.pre.i.i.i, %cleanup.i80.i.i.i ]
  %call19.i85.i.i.i = call dereferenceable_or_null(5664) ptr @calloc(i64 1, i64 5664)
  %thread20.i86.i.i.i = getelementptr inbounds nuw i8, ptr %call19.i85.i.i.i, i64 5648
  store i32 %conv46.i.i.i, ptr %thread20.i86.i.i.i, align 16
  %inc23.i87.i.i.i = add i32 %199, 1
  store i32 %inc23.i87.i.i.i, ptr %count.i68.i.i.i, align 8
  br label %look_at.exit.thread.sink.split.sink.split.i.i

look_at.exit.thread.sink.split.sink.split.i.i:    ; preds = %if.end18.i84.i.i.i, %if.end18.i.i.i.i
  %.sink173.i.i = phi i32 [ %199, %if.end18.i84.i.i.i ], [ %192, %if.end18.i.i.i.i ]
  %.sink.i.i = phi ptr [ %200, %if.end18.i84.i.i.i ], [ %193, %if.end18.i.i.i.i ]
  %call19.i85.i.sink.i.i = phi ptr [ %call19.i85.i.i.i, %if.end18.i84.i.i.i ], [ %call19.i.i.i.i, %if.end18.i.i.i.i ]
  %idxprom24.i88.i.i.i = zext i32 %.sink173.i.i to i64
  %arrayidx25.i89.i.i.i = getelementptr inbounds nuw ptr, ptr %.sink.i.i, i64 %idxprom24.i88.i.i.i
  store ptr %call19.i85.i.sink.i.i, ptr %arrayidx25.i89.i.i.i, align 8
  br label %look_at.exit.thread.sink.split.i.i

look_at.exit.thread.sink.split.i.i:               ; preds = %for.body.i72.i.i.i, %for.body.i.i.i.i, %look_at.exit.thread.sink.split.sink.split.i.i
  %retval.1.i90.i.sink.i.i = phi ptr [ %call19.i85.i.sink.i.i, %look_at.exit.thread.sink.split.sink.split.i.i ], [ %189, %for.body.i.i.i.i ], [ %196, %for.body.i72.i.i.i ]
  call fastcc void @fly.sanitizer.join_view(ptr nonnull %retval.1.i90.i.sink.i.i, ptr nonnull %168)
  br label %look_at.exit.thread.i.i

look_at.exit.thread.i.i:                          ; preds = %look_at.exit.thread.sink.split.i.i, %lor.lhs.false.i.i.i, %land.lhs.true62.i.i
  call void @llvm.lifetime.end.p0(ptr nonnull %.compoundliteral.sroa.0.i.i.i)
  br label %if.end66.i.i

look_at.exit.i.i:                                 ; preds = %if.then19.i.i.i, %if.then10.i.i.i
  %storemerge79.i = phi i64 [ %conv8.i11.i56.i.i.i, %if.then19.i.i.i ], [ %conv8.i11.i.i130.i.i, %if.then10.i.i.i ]
  %storemerge78.i = phi i64 [ %conv.i.i36.i.i.i, %if.then19.i.i.i ], [ %conv.i2.i.i122.i.i, %if.then10.i.i.i ]
  %storemerge77.i = phi i64 [ %conv1.i.i39.i.i.i, %if.then19.i.i.i ], [ %conv1.i5.i.i124.i.i, %if.then10.i.i.i ]
  %storemerge76.i = phi i64 [ %conv4.i.i41.i.i.i, %if.then19.i.i.i ], [ %conv4.i7.i.i126.i.i, %if.then10.i.i.i ]
  %storemerge.i = phi i64 [ %conv6.i.i43.i.i.i, %if.then19.i.i.i ], [ %conv6.i9.i.i128.i.i, %if.then10.i.i.i ]
  %storemerge.i.i = phi i64 [ %conv8.i.i45.i.i.i, %if.then19.i.i.i ], [ %conv8.i11.i.i130.i.i, %if.then10.i.i.i ]
  store i64 %storemerge79.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 88), align 8
  store i64 %storemerge78.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 96), align 16
  store i64 %storemerge77.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 104), align 8
  store i64 %storemerge76.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 112), align 16
  store i64 %storemerge.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 120), align 8
  store i64 %storemerge.i.i, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_report, i64 128), align 16
  store i1 true, ptr @fly.sanitizer.told, align 1
  call void @llvm.lifetime.end.p0(ptr nonnull %.compoundliteral.sroa.0.i.i.i)
  br label %cleanup34.i

if.end66.i.i:                                     ; preds = %look_at.exit.thread.i.i, %for.end.i.i
  br i1 %tobool.i.i, label %if.else79.i.i, label %if.then68.i.i

if.then68.i.i:                                    ; preds = %if.end66.i.i
  %sync.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 352
  %201 = load ptr, ptr %sync.i.i, align 8
  br i1 %tobool2.not.i31.i, label %if.else.i.i, label %if.then70.i.i

if.then70.i.i:                                    ; preds = %if.then68.i.i
  %tobool.not.i131.i.i = icmp eq ptr %201, null
  br i1 %tobool.not.i131.i.i, label %if.then.i.i35.i, label %if.end.i132.i.i

if.then.i.i35.i:                                  ; preds = %if.then70.i.i
  %call.i.i36.i = call dereferenceable_or_null(5696) ptr @calloc(i64 1, i64 5696)
  store ptr %call.i.i36.i, ptr %sync.i.i, align 8
  br label %if.end.i132.i.i

if.end.i132.i.i:                                  ; preds = %if.then.i.i35.i, %if.then70.i.i
  %202 = phi ptr [ %call.i.i36.i, %if.then.i.i35.i ], [ %201, %if.then70.i.i ]
  %203 = load i16, ptr %thread9.i, align 8
  %conv.i.i.i = zext i16 %203 to i32
  %204 = load i32, ptr %count.i.i134.i.i, align 8
  %cmp27.not.i.i135.i.i = icmp eq i32 %204, 0
  br i1 %cmp27.not.i.i135.i.i, label %own_of.exit.i146.i.i, label %for.body.lr.ph.i.i136.i.i

for.body.lr.ph.i.i136.i.i:                        ; preds = %if.end.i132.i.i
  %205 = load ptr, ptr %shown2.i.i.i, align 8
  %wide.trip.count.i.i137.i.i = zext i32 %204 to i64
  br label %for.body.i.i138.i.i

for.cond.i.i143.i.i:                              ; preds = %for.body.i.i138.i.i
  %indvars.iv.next.i.i144.i.i = add nuw nsw i64 %indvars.iv.i.i139.i.i, 1
  %exitcond.not.i.i145.i.i = icmp eq i64 %indvars.iv.next.i.i144.i.i, %wide.trip.count.i.i137.i.i
  br i1 %exitcond.not.i.i145.i.i, label %own_of.exit.i146.i.i, label %for.body.i.i138.i.i

for.body.i.i138.i.i:                              ; preds = %for.cond.i.i143.i.i, %for.body.lr.ph.i.i136.i.i
  %indvars.iv.i.i139.i.i = phi i64 [ 0, %for.body.lr.ph.i.i136.i.i ], [ %indvars.iv.next.i.i144.i.i, %for.cond.i.i143.i.i ]
  %arrayidx.i.i140.i.i = getelementptr inbounds nuw ptr, ptr %205, i64 %indvars.iv.i.i139.i.i
  %206 = load ptr, ptr %arrayidx.i.i140.i.i, align 8
  %thread1.i.i141.i.i = getelementptr inbounds nuw i8, ptr %206, i64 5648
  %207 = load i32, ptr %thread1.i.i141.i.i, align 16
  %cmp2.i.i142.i.i = icmp eq i32 %207, %conv.i.i.i
  br i1 %cmp2.i.i142.i.i, label %own_of.exit.i146.i.i, label %for.cond.i.i143.i.i

own_of.exit.i146.i.i:                             ; preds = %for.body.i.i138.i.i, %for.cond.i.i143.i.i, %if.end.i132.i.i
  %retval.1.i.i147.i.i = phi ptr [ null, %if.end.i132.i.i ], [ %206, %for.body.i.i138.i.i ], [ null, %for.cond.i.i143.i.i ]
  br i1 %tobool61.not.i.i, label %if.then5.i.i.i, label %if.end8.i.i.i

if.then5.i.i.i:                                   ; preds = %own_of.exit.i146.i.i
  call void @llvm.memset.p0.i64(ptr nonnull align 16 dereferenceable(5648) %202, i8 0, i64 5648, i1 false)
  %208 = load ptr, ptr %sync.i.i, align 8
  %released.i.i.i = getelementptr inbounds nuw i8, ptr %208, i64 5680
  store i8 0, ptr %released.i.i.i, align 16
  %.pre.i.i.i = load ptr, ptr %sync.i.i, align 8
  br label %if.end8.i.i.i

if.end8.i.i.i:                                    ; preds = %if.then5.i.i.i, %own_of.exit.i146.i.i
  %209 = phi ptr [ %.pre.i.i.i, %if.then5.i.i.i ], [ %202, %own_of.exit.i146.i.i ]
  %store.i148.i.i = getelementptr inbounds nuw i8, ptr %209, i64 5648
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 16 dereferenceable(32) %store.i148.i.i, ptr nonnull readonly align 8 dereferenceable(32) %here.i, i64 32, i1 false)
  br i1 %tobool11.not.i.i.i, label %if.else.i149.i.i, label %if.then12.i.i.i

if.then12.i.i.i:                                  ; preds = %if.end8.i.i.i
  %210 = load ptr, ptr %sync.i.i, align 8
  %released14.i.i.i = getelementptr inbounds nuw i8, ptr %210, i64 5680
  store i8 1, ptr %released14.i.i.i, align 16
  %211 = load ptr, ptr %sync.i.i, align 8
  %212 = load i32, ptr %actor4.i, align 8
  call fastcc void @fly.sanitizer.show(ptr %211, i32 %212, i32 %conv.i.i.i)
  br label %if.end72.i.i

if.else.i149.i.i:                                 ; preds = %if.end8.i.i.i
  %tobool20.not.i.i.i = icmp eq ptr %retval.1.i.i147.i.i, null
  br i1 %tobool20.not.i.i.i, label %if.end72.i.i, label %if.then21.i.i.i

if.then21.i.i.i:                                  ; preds = %if.else.i149.i.i
  %213 = load ptr, ptr %sync.i.i, align 8
  %released23.i.i.i = getelementptr inbounds nuw i8, ptr %213, i64 5680
  store i8 1, ptr %released23.i.i.i, align 16
  %214 = load ptr, ptr %sync.i.i, align 8
  call fastcc void @fly.sanitizer.join_view(ptr %214, ptr nonnull %retval.1.i.i147.i.i)
  br label %if.end72.i.i

if.else.i.i:                                      ; preds = %if.then68.i.i
  call void @free(ptr %201)
  store ptr null, ptr %sync.i.i, align 8
  br label %if.end72.i.i

if.end72.i.i:                                     ; preds = %if.else.i.i, %if.then21.i.i.i, %if.else.i149.i.i, %if.then12.i.i.i
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(32) %arrayidx17.i157.i, ptr nonnull readonly align 8 dereferenceable(32) %here.i, i64 32, i1 false)
  store i8 %conv23.i, ptr %write_mask.i.i, align 8
  %write_atomic76.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 371
  store i8 %storedv3.i.i, ptr %write_atomic76.i.i, align 1
  %write_kind.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 372
  store i16 %conv78.i.i, ptr %write_kind.i.i, align 4
  br label %if.end27.i

if.else79.i.i:                                    ; preds = %if.end66.i.i
  br i1 %tobool2.not.i31.i, label %for.cond83.preheader.i.i, label %if.end27.i

for.cond83.preheader.i.i:                         ; preds = %if.else79.i.i
  %reads88.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 32
  %clock.i37.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 44
  %215 = load i32, ptr %clock.i37.i, align 4
  %tobool91.not.i.i = icmp eq i32 %215, 0
  br i1 %tobool91.not.i.i, label %if.then99.i.i, label %lor.lhs.false.i38.i

for.cond83.i.i:                                   ; preds = %lor.lhs.false.i38.i
  %arrayidx90.1.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 64
  %clock.1.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 76
  %216 = load i32, ptr %clock.1.i.i, align 4
  %tobool91.not.1.i.i = icmp eq i32 %216, 0
  br i1 %tobool91.not.1.i.i, label %if.then99.i.i, label %lor.lhs.false.1.i.i

lor.lhs.false.1.i.i:                              ; preds = %for.cond83.i.i
  %actor95.1.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 72
  %217 = load i32, ptr %actor95.1.i.i, align 8
  %cmp97.1.i.i = icmp eq i32 %217, %235
  br i1 %cmp97.1.i.i, label %if.then99.i.i, label %for.cond83.1.i.i

for.cond83.1.i.i:                                 ; preds = %lor.lhs.false.1.i.i
  %arrayidx90.2.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 96
  %clock.2.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 108
  %218 = load i32, ptr %clock.2.i.i, align 4
  %tobool91.not.2.i.i = icmp eq i32 %218, 0
  br i1 %tobool91.not.2.i.i, label %if.then99.i.i, label %lor.lhs.false.2.i.i

lor.lhs.false.2.i.i:                              ; preds = %for.cond83.1.i.i
  %actor95.2.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 104
  %219 = load i32, ptr %actor95.2.i.i, align 8
  %cmp97.2.i.i = icmp eq i32 %219, %235
  br i1 %cmp97.2.i.i, label %if.then99.i.i, label %for.cond83.2.i.i

for.cond83.2.i.i:                                 ; preds = %lor.lhs.false.2.i.i
  %arrayidx90.3.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 128
  %clock.3.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 140
  %220 = load i32, ptr %clock.3.i.i, align 4
  %tobool91.not.3.i.i = icmp eq i32 %220, 0
  br i1 %tobool91.not.3.i.i, label %if.then99.i.i, label %lor.lhs.false.3.i.i

lor.lhs.false.3.i.i:                              ; preds = %for.cond83.2.i.i
  %actor95.3.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 136
  %221 = load i32, ptr %actor95.3.i.i, align 8
  %cmp97.3.i.i = icmp eq i32 %221, %235
  br i1 %cmp97.3.i.i, label %if.then99.i.i, label %for.cond83.3.i.i

for.cond83.3.i.i:                                 ; preds = %lor.lhs.false.3.i.i
  %arrayidx90.4.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 160
  %clock.4.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 172
  %222 = load i32, ptr %clock.4.i.i, align 4
  %tobool91.not.4.i.i = icmp eq i32 %222, 0
  br i1 %tobool91.not.4.i.i, label %if.then99.i.i, label %lor.lhs.false.4.i.i

lor.lhs.false.4.i.i:                              ; preds = %for.cond83.3.i.i
  %actor95.4.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 168
  %223 = load i32, ptr %actor95.4.i.i, align 8
  %cmp97.4.i.i = icmp eq i32 %223, %235
  br i1 %cmp97.4.i.i, label %if.then99.i.i, label %for.cond83.4.i.i

for.cond83.4.i.i:                                 ; preds = %lor.lhs.false.4.i.i
  %arrayidx90.5.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 192
  %clock.5.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 204
  %224 = load i32, ptr %clock.5.i.i, align 4
  %tobool91.not.5.i.i = icmp eq i32 %224, 0
  br i1 %tobool91.not.5.i.i, label %if.then99.i.i, label %lor.lhs.false.5.i.i

lor.lhs.false.5.i.i:                              ; preds = %for.cond83.4.i.i
  %actor95.5.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 200
  %225 = load i32, ptr %actor95.5.i.i, align 8
  %cmp97.5.i.i = icmp eq i32 %225, %235
  br i1 %cmp97.5.i.i, label %if.then99.i.i, label %for.cond83.5.i.i

for.cond83.5.i.i:                                 ; preds = %lor.lhs.false.5.i.i
  %arrayidx90.6.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 224
  %clock.6.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 236
  %226 = load i32, ptr %clock.6.i.i, align 4
  %tobool91.not.6.i.i = icmp eq i32 %226, 0
  br i1 %tobool91.not.6.i.i, label %if.then99.i.i, label %lor.lhs.false.6.i.i

lor.lhs.false.6.i.i:                              ; preds = %for.cond83.5.i.i
  %actor95.6.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 232
  %227 = load i32, ptr %actor95.6.i.i, align 8
  %cmp97.6.i.i = icmp eq i32 %227, %235
  br i1 %cmp97.6.i.i, label %if.then99.i.i, label %for.cond83.6.i.i

for.cond83.6.i.i:                                 ; preds = %lor.lhs.false.6.i.i
  %arrayidx90.7.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 256
  %clock.7.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 268
  %228 = load i32, ptr %clock.7.i.i, align 4
  %tobool91.not.7.i.i = icmp eq i32 %228, 0
  br i1 %tobool91.not.7.i.i, label %if.then99.i.i, label %lor.lhs.false.7.i.i

lor.lhs.false.7.i.i:                              ; preds = %for.cond83.6.i.i
  %actor95.7.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 264
  %229 = load i32, ptr %actor95.7.i.i, align 8
  %cmp97.7.i.i = icmp eq i32 %229, %235
  br i1 %cmp97.7.i.i, label %if.then99.i.i, label %for.cond83.7.i.i

for.cond83.7.i.i:                                 ; preds = %lor.lhs.false.7.i.i
  %arrayidx90.8.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 288
  %clock.8.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 300
  %230 = load i32, ptr %clock.8.i.i, align 4
  %tobool91.not.8.i.i = icmp eq i32 %230, 0
  br i1 %tobool91.not.8.i.i, label %if.then99.i.i, label %lor.lhs.false.8.i.i

lor.lhs.false.8.i.i:                              ; preds = %for.cond83.7.i.i
  %actor95.8.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 296
  %231 = load i32, ptr %actor95.8.i.i, align 8
  %cmp97.8.i.i = icmp eq i32 %231, %235
  br i1 %cmp97.8.i.i, label %if.then99.i.i, label %for.cond83.8.i.i

for.cond83.8.i.i:                                 ; preds = %lor.lhs.false.8.i.i
  %arrayidx90.9.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 320
  %clock.9.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 332
  %232 = load i32, ptr %clock.9.i.i, align 4
  %tobool91.not.9.i.i = icmp eq i32 %232, 0
  br i1 %tobool91.not.9.i.i, label %if.then99.i.i, label %lor.lhs.false.9.i.i

lor.lhs.false.9.i.i:                              ; preds = %for.cond83.8.i.i
  %actor95.9.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 328
  %233 = load i32, ptr %actor95.9.i.i, align 8
  %cmp97.9.i.i = icmp eq i32 %233, %235
  br i1 %cmp97.9.i.i, label %if.then99.i.i, label %if.end27.i

lor.lhs.false.i38.i:                              ; preds = %for.cond83.preheader.i.i
  %actor95.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 40
  %234 = load i32, ptr %actor95.i.i, align 8
  %235 = load i32, ptr %actor4.i, align 8
  %cmp97.i.i = icmp eq i32 %234, %235
  br i1 %cmp97.i.i, label %if.then99.i.i, label %for.cond83.i.i

if.then99.i.i:                                    ; preds = %lor.lhs.false.i38.i, %lor.lhs.false.9.i.i, %for.cond83.8.i.i, %lor.lhs.false.8.i.i, %for.cond83.7.i.i, %lor.lhs.false.7.i.i, %for.cond83.6.i.i, %lor.lhs.false.6.i.i, %for.cond83.5.i.i, %lor.lhs.false.5.i.i, %for.cond83.4.i.i, %lor.lhs.false.4.i.i, %for.cond83.3.i.i, %lor.lhs.false.3.i.i, %for.cond83.2.i.i, %lor.lhs.false.2.i.i, %for.cond83.1.i.i, %lor.lhs.false.1.i.i, %for.cond83.i.i, %for.cond83.preheader.i.i
  %idxprom89.lcssa.i.i = phi i64 [ 0, %lor.lhs.false.i38.i ], [ 0, %for.cond83.preheader.i.i ], [ 1, %for.cond83.i.i ], [ 1, %lor.lhs.false.1.i.i ], [ 2, %for.cond83.1.i.i ], [ 2, %lor.lhs.false.2.i.i ], [ 3, %for.cond83.2.i.i ], [ 3, %lor.lhs.false.3.i.i ], [ 4, %for.cond83.3.i.i ], [ 4, %lor.lhs.false.4.i.i ], [ 5, %for.cond83.4.i.i ], [ 5, %lor.lhs.false.5.i.i ], [ 6, %for.cond83.5.i.i ], [ 6, %lor.lhs.false.6.i.i ], [ 7, %for.cond83.6.i.i ], [ 7, %lor.lhs.false.7.i.i ], [ 8, %for.cond83.7.i.i ], [ 8, %lor.lhs.false.8.i.i ], [ 9, %for.cond83.8.i.i ], [ 9, %lor.lhs.false.9.i.i ]
  %arrayidx90.lcssa.i.i = phi ptr [ %reads88.i.i, %lor.lhs.false.i38.i ], [ %reads88.i.i, %for.cond83.preheader.i.i ], [ %arrayidx90.1.i.i, %for.cond83.i.i ], [ %arrayidx90.1.i.i, %lor.lhs.false.1.i.i ], [ %arrayidx90.2.i.i, %for.cond83.1.i.i ], [ %arrayidx90.2.i.i, %lor.lhs.false.2.i.i ], [ %arrayidx90.3.i.i, %for.cond83.2.i.i ], [ %arrayidx90.3.i.i, %lor.lhs.false.3.i.i ], [ %arrayidx90.4.i.i, %for.cond83.3.i.i ], [ %arrayidx90.4.i.i, %lor.lhs.false.4.i.i ], [ %arrayidx90.5.i.i, %for.cond83.4.i.i ], [ %arrayidx90.5.i.i, %lor.lhs.false.5.i.i ], [ %arrayidx90.6.i.i, %for.cond83.5.i.i ], [ %arrayidx90.6.i.i, %lor.lhs.false.6.i.i ], [ %arrayidx90.7.i.i, %for.cond83.6.i.i ], [ %arrayidx90.7.i.i, %lor.lhs.false.7.i.i ], [ %arrayidx90.8.i.i, %for.cond83.7.i.i ], [ %arrayidx90.8.i.i, %lor.lhs.false.8.i.i ], [ %arrayidx90.9.i.i, %for.cond83.8.i.i ], [ %arrayidx90.9.i.i, %lor.lhs.false.9.i.i ]
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(32) %arrayidx90.lcssa.i.i, ptr nonnull readonly align 8 dereferenceable(32) %here.i, i64 32, i1 false)
  %read_masks104.i.i = getelementptr inbounds nuw i8, ptr %arrayidx17.i157.i, i64 361
  %arrayidx106.i.i = getelementptr inbounds nuw i8, ptr %read_masks104.i.i, i64 %idxprom89.lcssa.i.i
  %236 = load i8, ptr %arrayidx106.i.i, align 1
  %or73.i.i = or i8 %236, %conv23.i
  store i8 %or73.i.i, ptr %arrayidx106.i.i, align 1
  br label %if.end27.i

if.end27.i:                                       ; preds = %for.inc.i.i, %if.then99.i.i, %lor.lhs.false.9.i.i, %if.else79.i.i, %if.end72.i.i, %shared_cell.exit.i
  %cmp12.not.i = icmp ult i64 %add16.i, %add.i
  br i1 %cmp12.not.i, label %for.body.i, label %cleanup34.i

cleanup34.i:                                      ; preds = %if.end27.i, %look_at.exit.i.i, %cond.false50.i.i, %cond.true47.i.i, %explain.exit.i, %if.then19.i.i, %actor_at.exit.i
  %cmp12.not95.i = phi i1 [ true, %explain.exit.i ], [ true, %cond.true47.i.i ], [ true, %cond.false50.i.i ], [ true, %if.then19.i.i ], [ true, %look_at.exit.i.i ], [ false, %actor_at.exit.i ], [ false, %if.end27.i ]
  call void @llvm.lifetime.end.p0(ptr nonnull %here.i)
  br label %ranks_access.exit

ranks_access.exit:                                ; preds = %land.rhs, %lor.lhs.false.i.i, %actor_here.exit.i, %lor.lhs.false1.i, %cleanup34.i
  %retval.0.i = phi i1 [ %cmp12.not95.i, %cleanup34.i ], [ false, %lor.lhs.false1.i ], [ false, %actor_here.exit.i ], [ false, %lor.lhs.false.i.i ], [ false, %land.rhs ]
  call void @llvm.lifetime.end.p0(ptr nonnull %who.i)
  br label %cleanup48

if.end12:                                         ; preds = %if.end
  %and13 = and i64 %1, 1
  %tobool14.not = icmp eq i64 %and13, 0
  br i1 %tobool14.not, label %if.end19, label %land.lhs.true

land.lhs.true:                                    ; preds = %if.end12
  %cmp15 = icmp ult i64 %address, %low
  %add = add i64 %bytes, %address
  %cmp17 = icmp ugt i64 %add, %end
  %or.cond22 = select i1 %cmp15, i1 true, i1 %cmp17
  br i1 %or.cond22, label %if.then18, label %if.end19

if.then18:                                        ; preds = %land.lhs.true
  call fastcc void @fly.sanitizer.fill(i32 1, ptr %touch, i64 %address, i64 0)
  br label %cleanup48

if.end19:                                         ; preds = %land.lhs.true, %if.end12
  %and20 = and i64 %1, 4
  %tobool21 = icmp ne i64 %and20, 0
  %cmp23 = icmp slt i64 %region, -1
  %or.cond1 = select i1 %tobool21, i1 %cmp23, i1 false
  br i1 %or.cond1, label %if.then24, label %if.end29

if.then24:                                        ; preds = %if.end19
  %237 = load i64, ptr @fly.sanitizer.scratch, align 8
  %sub.i24 = sub i64 %address, %237
  %add.i25 = add i64 %sub.i24, %bytes
  %238 = load i64, ptr @fly.sanitizer.scratch_bytes, align 8
  %cmp.i26 = icmp ugt i64 %sub.i24, %238
  %cmp1.i = icmp ugt i64 %add.i25, %238
  %or.cond.i27 = or i1 %cmp.i26, %cmp1.i
  br i1 %or.cond.i27, label %if.end29, label %if.end.i28

if.end.i28:                                       ; preds = %if.then24
  %and.i29 = and i64 %kind, 9
  %cmp2.i = icmp eq i64 %and.i29, 1
  %and4.i = and i64 %kind, 2
  %tobool.not.i30 = icmp eq i64 %and4.i, 0
  %cmp6.not12.i = icmp ult i64 %sub.i24, %add.i25
  br i1 %cmp6.not12.i, label %for.body.lr.ph.i32, label %if.end29

for.body.lr.ph.i32:                               ; preds = %if.end.i28
  %239 = load ptr, ptr @fly.sanitizer.written, align 8
  br label %for.body.i33

for.body.i33:                                     ; preds = %for.inc.i, %for.body.lr.ph.i32
  %i.013.i = phi i64 [ %sub.i24, %for.body.lr.ph.i32 ], [ %inc.i34, %for.inc.i ]
  br i1 %cmp2.i, label %land.lhs.true.i35, label %if.end10.i

land.lhs.true.i35:                                ; preds = %for.body.i33
  %arrayidx.i36 = getelementptr inbounds nuw i8, ptr %239, i64 %i.013.i
  %240 = load i8, ptr %arrayidx.i36, align 1
  %tobool7.not.i = icmp eq i8 %240, 0
  br i1 %tobool7.not.i, label %unwritten.exit, label %if.end10.i

if.end10.i:                                       ; preds = %land.lhs.true.i35, %for.body.i33
  br i1 %tobool.not.i30, label %for.inc.i, label %if.then12.i

if.then12.i:                                      ; preds = %if.end10.i
  %arrayidx13.i = getelementptr inbounds nuw i8, ptr %239, i64 %i.013.i
  store i8 1, ptr %arrayidx13.i, align 1
  br label %for.inc.i

for.inc.i:                                        ; preds = %if.then12.i, %if.end10.i
  %inc.i34 = add i64 %i.013.i, 1
  %exitcond.not.i = icmp eq i64 %inc.i34, %add.i25
  br i1 %exitcond.not.i, label %if.end29, label %for.body.i33

unwritten.exit:                                   ; preds = %land.lhs.true.i35
  %add9.i = add i64 %i.013.i, %237
  %tobool26.not = icmp eq i64 %add9.i, 0
  br i1 %tobool26.not, label %if.end29, label %if.then27

if.then27:                                        ; preds = %unwritten.exit
  call fastcc void @fly.sanitizer.fill(i32 4, ptr %touch, i64 %add9.i, i64 0)
  br label %cleanup48

if.end29:                                         ; preds = %for.inc.i, %if.end.i28, %if.then24, %unwritten.exit, %if.end19
  %and30 = and i64 %1, 16
  %tobool31 = icmp ne i64 %and30, 0
  %cmp33 = icmp eq i64 %region, -2
  %or.cond2 = select i1 %tobool31, i1 %cmp33, i1 false
  %and35 = and i64 %kind, 32
  %tobool36.not = icmp eq i64 %and35, 0
  %or.cond23 = select i1 %or.cond2, i1 %tobool36.not, i1 false
  br i1 %or.cond23, label %land.lhs.true37, label %if.end40

land.lhs.true37:                                  ; preds = %if.end29
  %241 = load i64, ptr @fly.sanitizer.scratch, align 8
  %sub.i38 = sub i64 %address, %241
  %add.i40 = add i64 %sub.i38, %bytes
  %242 = load i64, ptr @fly.sanitizer.scratch_bytes, align 8
  %cmp.i41 = icmp ugt i64 %sub.i38, %242
  %cmp1.i42 = icmp ugt i64 %add.i40, %242
  %or.cond.i43 = or i1 %cmp.i41, %cmp1.i42
  br i1 %or.cond.i43, label %if.end40, label %if.end.i44

if.end.i44:                                       ; preds = %land.lhs.true37
  %243 = load i64, ptr @fly.sanitizer.time, align 8
  %inc.i.i45 = add i64 %243, 1
  store i64 %inc.i.i45, ptr @fly.sanitizer.time, align 8
  %cmp2.not15.i = icmp ult i64 %sub.i38, %add.i40
  br i1 %cmp2.not15.i, label %for.body.lr.ph.i47, label %if.end40

for.body.lr.ph.i47:                               ; preds = %if.end.i44
  %244 = load ptr, ptr @fly.sanitizer.write_times, align 8
  %245 = load ptr, ptr @fly.sanitizer.writers, align 8
  %246 = and i64 %kind, 2
  %or.cond14.i.not = icmp eq i64 %246, 0
  %shl.i54 = shl i64 %thread, 20
  %or.i = or i64 %shl.i54, %site
  %conv.i55 = trunc i64 %or.i to i32
  br label %for.body.i49

for.body.i49:                                     ; preds = %for.inc.i50, %for.body.lr.ph.i47
  %byte.016.i = phi i64 [ %sub.i38, %for.body.lr.ph.i47 ], [ %inc.i51, %for.inc.i50 ]
  %call3.i = call fastcc i1 @fly.sanitizer.meets_work(ptr nonnull readonly %touch, i64 %byte.016.i)
  br i1 %call3.i, label %cleanup48, label %if.end5.i

if.end5.i:                                        ; preds = %for.body.i49
  br i1 %or.cond14.i.not, label %for.inc.i50, label %if.then9.i

if.then9.i:                                       ; preds = %if.end5.i
  %arrayidx.i53 = getelementptr inbounds nuw i64, ptr %244, i64 %byte.016.i
  store i64 %inc.i.i45, ptr %arrayidx.i53, align 8
  %arrayidx10.i = getelementptr inbounds nuw i32, ptr %245, i64 %byte.016.i
  store i32 %conv.i55, ptr %arrayidx10.i, align 4
  br label %for.inc.i50

for.inc.i50:                                      ; preds = %if.then9.i, %if.end5.i
  %inc.i51 = add i64 %byte.016.i, 1
  %exitcond.not.i52 = icmp eq i64 %inc.i51, %add.i40
  br i1 %exitcond.not.i52, label %if.end40, label %for.body.i49

if.end40:                                         ; preds = %for.inc.i50, %if.end.i44, %land.lhs.true37, %if.end29
  %and41 = and i64 %1, 2
  %tobool42 = icmp ne i64 %and41, 0
  %cmp44 = icmp sgt i64 %region, -3
  %or.cond3 = select i1 %tobool42, i1 %cmp44, i1 false
  br i1 %or.cond3, label %land.rhs45, label %cleanup48

land.rhs45:                                       ; preds = %if.end40
  %call46 = call fastcc i1 @fly.sanitizer.races(ptr %touch)
  br label %cleanup48

cleanup48:                                        ; preds = %for.body.i49, %if.then27, %if.end40, %land.rhs45, %if.then11, %ranks_access.exit, %entry, %if.then18
  %retval.0 = phi i1 [ true, %if.then27 ], [ %loadedv, %entry ], [ true, %if.then18 ], [ false, %if.end40 ], [ %retval.0.i, %ranks_access.exit ], [ false, %if.then11 ], [ %call46, %land.rhs45 ], [ true, %for.body.i49 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %touch)
  ret i1 %retval.0
}

define internal void @fly.sanitizer.ranks_started() {
entry:
  br label %for.body

for.body:                                         ; preds = %entry, %for.inc
  %indvars.iv = phi i64 [ 0, %entry ], [ %indvars.iv.next, %for.inc ]
  %arrayidx = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.actors, i64 %indvars.iv
  %0 = load ptr, ptr %arrayidx, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %for.inc, label %if.then

if.then:                                          ; preds = %for.body
  %taken = getelementptr inbounds nuw i8, ptr %0, i64 5656
  %count.i = getelementptr inbounds nuw i8, ptr %0, i64 5664
  %1 = load i32, ptr %count.i, align 8
  %cmp5.not.i = icmp eq i32 %1, 0
  br i1 %cmp5.not.i, label %clear_owns.exit, label %for.body.i

for.body.i:                                       ; preds = %if.then, %for.body.i
  %indvars.iv.i = phi i64 [ %indvars.iv.next.i, %for.body.i ], [ 0, %if.then ]
  %2 = load ptr, ptr %taken, align 8
  %arrayidx.i = getelementptr inbounds nuw ptr, ptr %2, i64 %indvars.iv.i
  %3 = load ptr, ptr %arrayidx.i, align 8
  tail call void @free(ptr %3)
  %indvars.iv.next.i = add nuw nsw i64 %indvars.iv.i, 1
  %4 = load i32, ptr %count.i, align 8
  %5 = zext i32 %4 to i64
  %cmp.i = icmp samesign ult i64 %indvars.iv.next.i, %5
  br i1 %cmp.i, label %for.body.i, label %clear_owns.exit

clear_owns.exit:                                  ; preds = %for.body.i, %if.then
  store i32 0, ptr %count.i, align 8
  %near = getelementptr inbounds nuw i8, ptr %0, i64 5688
  %count.i20 = getelementptr inbounds nuw i8, ptr %0, i64 5696
  %6 = load i32, ptr %count.i20, align 8
  %cmp5.not.i21 = icmp eq i32 %6, 0
  br i1 %cmp5.not.i21, label %clear_owns.exit27, label %for.body.i22

for.body.i22:                                     ; preds = %clear_owns.exit, %for.body.i22
  %indvars.iv.i23 = phi i64 [ %indvars.iv.next.i25, %for.body.i22 ], [ 0, %clear_owns.exit ]
  %7 = load ptr, ptr %near, align 8
  %arrayidx.i24 = getelementptr inbounds nuw ptr, ptr %7, i64 %indvars.iv.i23
  %8 = load ptr, ptr %arrayidx.i24, align 8
  tail call void @free(ptr %8)
  %indvars.iv.next.i25 = add nuw nsw i64 %indvars.iv.i23, 1
  %9 = load i32, ptr %count.i20, align 8
  %10 = zext i32 %9 to i64
  %cmp.i26 = icmp samesign ult i64 %indvars.iv.next.i25, %10
  br i1 %cmp.i26, label %for.body.i22, label %clear_owns.exit27

clear_owns.exit27:                                ; preds = %for.body.i22, %clear_owns.exit
  store i32 0, ptr %count.i20, align 8
  %far = getelementptr inbounds nuw i8, ptr %0, i64 5704
  %count.i28 = getelementptr inbounds nuw i8, ptr %0, i64 5712
  %11 = load i32, ptr %count.i28, align 8
  %cmp5.not.i29 = icmp eq i32 %11, 0
  br i1 %cmp5.not.i29, label %clear_owns.exit35, label %for.body.i30

for.body.i30:                                     ; preds = %clear_owns.exit27, %for.body.i30
  %indvars.iv.i31 = phi i64 [ %indvars.iv.next.i33, %for.body.i30 ], [ 0, %clear_owns.exit27 ]
  %12 = load ptr, ptr %far, align 8
  %arrayidx.i32 = getelementptr inbounds nuw ptr, ptr %12, i64 %indvars.iv.i31
  %13 = load ptr, ptr %arrayidx.i32, align 8
  tail call void @free(ptr %13)
  %indvars.iv.next.i33 = add nuw nsw i64 %indvars.iv.i31, 1
  %14 = load i32, ptr %count.i28, align 8
  %15 = zext i32 %14 to i64
  %cmp.i34 = icmp samesign ult i64 %indvars.iv.next.i33, %15
  br i1 %cmp.i34, label %for.body.i30, label %clear_owns.exit35

clear_owns.exit35:                                ; preds = %for.body.i30, %clear_owns.exit27
  store i32 0, ptr %count.i28, align 8
  %shown = getelementptr inbounds nuw i8, ptr %0, i64 5672
  %count.i36 = getelementptr inbounds nuw i8, ptr %0, i64 5680
  %16 = load i32, ptr %count.i36, align 8
  %cmp5.not.i37 = icmp eq i32 %16, 0
  br i1 %cmp5.not.i37, label %clear_owns.exit43, label %for.body.i38

for.body.i38:                                     ; preds = %clear_owns.exit35, %for.body.i38
  %indvars.iv.i39 = phi i64 [ %indvars.iv.next.i41, %for.body.i38 ], [ 0, %clear_owns.exit35 ]
  %17 = load ptr, ptr %shown, align 8
  %arrayidx.i40 = getelementptr inbounds nuw ptr, ptr %17, i64 %indvars.iv.i39
  %18 = load ptr, ptr %arrayidx.i40, align 8
  tail call void @free(ptr %18)
  %indvars.iv.next.i41 = add nuw nsw i64 %indvars.iv.i39, 1
  %19 = load i32, ptr %count.i36, align 8
  %20 = zext i32 %19 to i64
  %cmp.i42 = icmp samesign ult i64 %indvars.iv.next.i41, %20
  br i1 %cmp.i42, label %for.body.i38, label %clear_owns.exit43

clear_owns.exit43:                                ; preds = %for.body.i38, %clear_owns.exit35
  store i32 0, ptr %count.i36, align 8
  %seen = getelementptr inbounds nuw i8, ptr %0, i64 5720
  %21 = load ptr, ptr %seen, align 8
  tail call void @free(ptr %21)
  tail call void @free(ptr nonnull %0)
  store ptr null, ptr %arrayidx, align 8
  br label %for.inc

for.inc:                                          ; preds = %for.body, %clear_owns.exit43
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond.not = icmp eq i64 %indvars.iv.next, 1024
  br i1 %exitcond.not, label %for.body19.preheader, label %for.body

for.body19.preheader:                             ; preds = %for.inc
  %22 = load ptr, ptr @fly.sanitizer.rank_views, align 16
  tail call void @free(ptr %22)
  store ptr null, ptr @fly.sanitizer.rank_views, align 16
  %23 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 8), align 8
  tail call void @free(ptr %23)
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 8), align 8
  %24 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 16), align 16
  tail call void @free(ptr %24)
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 16), align 16
  %25 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 24), align 8
  tail call void @free(ptr %25)
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 24), align 8
  %26 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 32), align 16
  tail call void @free(ptr %26)
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 32), align 16
  %27 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 40), align 8
  tail call void @free(ptr %27)
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 40), align 8
  %28 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 48), align 16
  tail call void @free(ptr %28)
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 48), align 16
  %29 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 56), align 8
  tail call void @free(ptr %29)
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 56), align 8
  %30 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 64), align 16
  tail call void @free(ptr %30)
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 64), align 16
  %31 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 72), align 8
  tail call void @free(ptr %31)
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 72), align 8
  %32 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 80), align 16
  tail call void @free(ptr %32)
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 80), align 16
  %33 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 88), align 8
  tail call void @free(ptr %33)
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 88), align 8
  %34 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 96), align 16
  tail call void @free(ptr %34)
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 96), align 16
  %35 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 104), align 8
  tail call void @free(ptr %35)
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 104), align 8
  %36 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 112), align 16
  tail call void @free(ptr %36)
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 112), align 16
  %37 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 120), align 8
  tail call void @free(ptr %37)
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.sanitizer.rank_views, i64 120), align 8
  %38 = load ptr, ptr @fly.sanitizer.pages, align 8
  %tobool2949.not = icmp eq ptr %38, null
  br i1 %tobool2949.not, label %for.cond.cleanup31, label %for.cond33.preheader

for.cond33.preheader:                             ; preds = %for.body19.preheader, %for.cond.cleanup40
  %39 = phi ptr [ %41, %for.cond.cleanup40 ], [ %38, %for.body19.preheader ]
  %indvars.iv59 = phi i64 [ %indvars.iv.next60, %for.cond.cleanup40 ], [ 0, %for.body19.preheader ]
  %arrayidx35 = getelementptr inbounds nuw %struct.anon, ptr %39, i64 %indvars.iv59
  %cells = getelementptr inbounds nuw i8, ptr %arrayidx35, i64 8
  %40 = load ptr, ptr %cells, align 8
  %tobool3647.not = icmp eq ptr %40, null
  br i1 %tobool3647.not, label %for.cond.cleanup40, label %for.body41

for.cond.cleanup31:                               ; preds = %for.cond.cleanup40, %for.body19.preheader
  %.lcssa44 = phi ptr [ null, %for.body19.preheader ], [ %41, %for.cond.cleanup40 ]
  tail call void @free(ptr %.lcssa44)
  store ptr null, ptr @fly.sanitizer.pages, align 8
  store i1 false, ptr @fly.sanitizer.told, align 1
  ret void

for.cond.cleanup40.loopexit:                      ; preds = %for.body41
  %.pre = load ptr, ptr @fly.sanitizer.pages, align 8
  br label %for.cond.cleanup40

for.cond.cleanup40:                               ; preds = %for.cond.cleanup40.loopexit, %for.cond33.preheader
  %41 = phi ptr [ %39, %for.cond33.preheader ], [ %.pre, %for.cond.cleanup40.loopexit ]
  %.lcssa = phi ptr [ null, %for.cond33.preheader ], [ %45, %for.cond.cleanup40.loopexit ]
  tail call void @free(ptr %.lcssa)
  %indvars.iv.next60 = add nuw nsw i64 %indvars.iv59, 1
  %tobool29 = icmp ne ptr %41, null
  %cmp30 = icmp samesign ult i64 %indvars.iv59, 32767
  %42 = select i1 %tobool29, i1 %cmp30, i1 false
  br i1 %42, label %for.cond33.preheader, label %for.cond.cleanup31

for.body41:                                       ; preds = %for.cond33.preheader, %for.body41
  %indvars.iv57 = phi i64 [ %indvars.iv.next58, %for.body41 ], [ 0, %for.cond33.preheader ]
  %43 = phi ptr [ %45, %for.body41 ], [ %40, %for.cond33.preheader ]
  %arrayidx46 = getelementptr inbounds nuw %struct.SharedCell, ptr %43, i64 %indvars.iv57
  %sync = getelementptr inbounds nuw i8, ptr %arrayidx46, i64 352
  %44 = load ptr, ptr %sync, align 8
  tail call void @free(ptr %44)
  %indvars.iv.next58 = add nuw nsw i64 %indvars.iv57, 1
  %45 = load ptr, ptr %cells, align 8
  %tobool36 = icmp ne ptr %45, null
  %cmp38 = icmp samesign ult i64 %indvars.iv57, 1023
  %46 = select i1 %tobool36, i1 %cmp38, i1 false
  br i1 %46, label %for.body41, label %for.cond.cleanup40.loopexit
}

define internal void @fly.sanitizer.launch_began(i32 %rank) {
entry:
  %mul = shl nsw i32 %rank, 6
  %idxprom.i = zext i32 %rank to i64
  %arrayidx.i = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.rank_views, i64 %idxprom.i
  %0 = zext i32 %mul to i64
  %invariant.gep = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.actors, i64 %0
  br label %for.body

for.cond.cleanup:                                 ; preds = %if.end
  ret void

for.body:                                         ; preds = %entry, %if.end
  %indvars.iv = phi i64 [ 0, %entry ], [ %indvars.iv.next, %if.end ]
  %gep = getelementptr inbounds nuw ptr, ptr %invariant.gep, i64 %indvars.iv
  %1 = load ptr, ptr %gep, align 8
  %tobool.not = icmp eq ptr %1, null
  br i1 %tobool.not, label %if.end, label %if.then

if.then:                                          ; preds = %for.body
  %2 = load ptr, ptr %arrayidx.i, align 8
  %tobool.not.i = icmp eq ptr %2, null
  br i1 %tobool.not.i, label %if.then.i, label %rank_view.exit

if.then.i:                                        ; preds = %if.then
  %call.i = tail call dereferenceable_or_null(5648) ptr @calloc(i64 1, i64 5648)
  store ptr %call.i, ptr %arrayidx.i, align 8
  br label %rank_view.exit

rank_view.exit:                                   ; preds = %if.then, %if.then.i
  %3 = phi ptr [ %call.i, %if.then.i ], [ %2, %if.then ]
  tail call fastcc void @fly.sanitizer.join_view(ptr nonnull %1, ptr %3)
  %taken.i = getelementptr inbounds nuw i8, ptr %1, i64 5656
  %count.i = getelementptr inbounds nuw i8, ptr %1, i64 5664
  %4 = load i32, ptr %count.i, align 8
  %cmp8.not.i = icmp eq i32 %4, 0
  br i1 %cmp8.not.i, label %new_stretch.exit, label %for.body.i

for.cond.cleanup.i:                               ; preds = %for.body.i
  %5 = icmp eq i32 %12, 0
  br i1 %5, label %new_stretch.exit, label %for.body.i.i

for.body.i.i:                                     ; preds = %for.cond.cleanup.i, %for.body.i.i
  %indvars.iv.i.i = phi i64 [ %indvars.iv.next.i.i, %for.body.i.i ], [ 0, %for.cond.cleanup.i ]
  %6 = load ptr, ptr %taken.i, align 8
  %arrayidx.i.i = getelementptr inbounds nuw ptr, ptr %6, i64 %indvars.iv.i.i
  %7 = load ptr, ptr %arrayidx.i.i, align 8
  tail call void @free(ptr %7)
  %indvars.iv.next.i.i = add nuw nsw i64 %indvars.iv.i.i, 1
  %8 = load i32, ptr %count.i, align 8
  %9 = zext i32 %8 to i64
  %cmp.i.i = icmp samesign ult i64 %indvars.iv.next.i.i, %9
  br i1 %cmp.i.i, label %for.body.i.i, label %new_stretch.exit

for.body.i:                                       ; preds = %rank_view.exit, %for.body.i
  %indvars.iv.i = phi i64 [ %indvars.iv.next.i, %for.body.i ], [ 0, %rank_view.exit ]
  %10 = load ptr, ptr %taken.i, align 8
  %arrayidx.i6 = getelementptr inbounds nuw ptr, ptr %10, i64 %indvars.iv.i
  %11 = load ptr, ptr %arrayidx.i6, align 8
  tail call fastcc void @fly.sanitizer.join_view(ptr nonnull %1, ptr %11)
  %indvars.iv.next.i = add nuw nsw i64 %indvars.iv.i, 1
  %12 = load i32, ptr %count.i, align 8
  %13 = zext i32 %12 to i64
  %cmp.i = icmp samesign ult i64 %indvars.iv.next.i, %13
  br i1 %cmp.i, label %for.body.i, label %for.cond.cleanup.i

new_stretch.exit:                                 ; preds = %for.body.i.i, %rank_view.exit, %for.cond.cleanup.i
  store i32 0, ptr %count.i, align 8
  %clock.i = getelementptr inbounds nuw i8, ptr %1, i64 5648
  %14 = load i32, ptr %clock.i, align 16
  %inc4.i = add i32 %14, 1
  store i32 %inc4.i, ptr %clock.i, align 16
  %barrier.i = getelementptr inbounds nuw i8, ptr %1, i64 5652
  store i32 %inc4.i, ptr %barrier.i, align 4
  br label %if.end

if.end:                                           ; preds = %new_stretch.exit, %for.body
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond.not = icmp eq i64 %indvars.iv.next, 64
  br i1 %exitcond.not, label %for.cond.cleanup, label %for.body
}

define internal void @fly.sanitizer.launch_ended(i32 %rank) {
entry:
  %idxprom.i = zext i32 %rank to i64
  %arrayidx.i = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.rank_views, i64 %idxprom.i
  %0 = load ptr, ptr %arrayidx.i, align 8
  %tobool.not.i = icmp eq ptr %0, null
  br i1 %tobool.not.i, label %if.then.i, label %rank_view.exit

if.then.i:                                        ; preds = %entry
  %call.i = tail call dereferenceable_or_null(5648) ptr @calloc(i64 1, i64 5648)
  store ptr %call.i, ptr %arrayidx.i, align 8
  br label %rank_view.exit

rank_view.exit:                                   ; preds = %entry, %if.then.i
  %1 = phi ptr [ %call.i, %if.then.i ], [ %0, %entry ]
  %mul = shl nsw i32 %rank, 6
  %2 = zext i32 %mul to i64
  br label %for.body

for.cond.cleanup:                                 ; preds = %cleanup
  ret void

for.body:                                         ; preds = %rank_view.exit, %cleanup
  %indvars.iv = phi i64 [ 0, %rank_view.exit ], [ %indvars.iv.next, %cleanup ]
  %3 = add nuw nsw i64 %indvars.iv, %2
  %arrayidx = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.actors, i64 %3
  %4 = load ptr, ptr %arrayidx, align 8
  %tobool.not = icmp eq ptr %4, null
  br i1 %tobool.not, label %cleanup, label %if.end

if.end:                                           ; preds = %for.body
  %taken.i = getelementptr inbounds nuw i8, ptr %4, i64 5656
  %count.i = getelementptr inbounds nuw i8, ptr %4, i64 5664
  %5 = load i32, ptr %count.i, align 8
  %cmp8.not.i = icmp eq i32 %5, 0
  br i1 %cmp8.not.i, label %new_stretch.exit, label %for.body.i

for.cond.cleanup.i:                               ; preds = %for.body.i
  %6 = icmp eq i32 %13, 0
  br i1 %6, label %new_stretch.exit, label %for.body.i.i

for.body.i.i:                                     ; preds = %for.cond.cleanup.i, %for.body.i.i
  %indvars.iv.i.i = phi i64 [ %indvars.iv.next.i.i, %for.body.i.i ], [ 0, %for.cond.cleanup.i ]
  %7 = load ptr, ptr %taken.i, align 8
  %arrayidx.i.i = getelementptr inbounds nuw ptr, ptr %7, i64 %indvars.iv.i.i
  %8 = load ptr, ptr %arrayidx.i.i, align 8
  tail call void @free(ptr %8)
  %indvars.iv.next.i.i = add nuw nsw i64 %indvars.iv.i.i, 1
  %9 = load i32, ptr %count.i, align 8
  %10 = zext i32 %9 to i64
  %cmp.i.i = icmp samesign ult i64 %indvars.iv.next.i.i, %10
  br i1 %cmp.i.i, label %for.body.i.i, label %new_stretch.exit

for.body.i:                                       ; preds = %if.end, %for.body.i
  %indvars.iv.i = phi i64 [ %indvars.iv.next.i, %for.body.i ], [ 0, %if.end ]
  %11 = load ptr, ptr %taken.i, align 8
  %arrayidx.i12 = getelementptr inbounds nuw ptr, ptr %11, i64 %indvars.iv.i
  %12 = load ptr, ptr %arrayidx.i12, align 8
  tail call fastcc void @fly.sanitizer.join_view(ptr nonnull %4, ptr %12)
  %indvars.iv.next.i = add nuw nsw i64 %indvars.iv.i, 1
  %13 = load i32, ptr %count.i, align 8
  %14 = zext i32 %13 to i64
  %cmp.i = icmp samesign ult i64 %indvars.iv.next.i, %14
  br i1 %cmp.i, label %for.body.i, label %for.cond.cleanup.i

new_stretch.exit:                                 ; preds = %for.body.i.i, %if.end, %for.cond.cleanup.i
  store i32 0, ptr %count.i, align 8
  %clock.i = getelementptr inbounds nuw i8, ptr %4, i64 5648
  %15 = load i32, ptr %clock.i, align 16
  %inc4.i = add i32 %15, 1
  store i32 %inc4.i, ptr %clock.i, align 16
  %barrier.i = getelementptr inbounds nuw i8, ptr %4, i64 5652
  store i32 %inc4.i, ptr %barrier.i, align 4
  %near = getelementptr inbounds nuw i8, ptr %4, i64 5688
  %count.i13 = getelementptr inbounds nuw i8, ptr %4, i64 5696
  %16 = load i32, ptr %count.i13, align 16
  %cmp5.not.i = icmp eq i32 %16, 0
  br i1 %cmp5.not.i, label %clear_owns.exit, label %for.body.i14

for.body.i14:                                     ; preds = %new_stretch.exit, %for.body.i14
  %indvars.iv.i15 = phi i64 [ %indvars.iv.next.i17, %for.body.i14 ], [ 0, %new_stretch.exit ]
  %17 = load ptr, ptr %near, align 8
  %arrayidx.i16 = getelementptr inbounds nuw ptr, ptr %17, i64 %indvars.iv.i15
  %18 = load ptr, ptr %arrayidx.i16, align 8
  tail call void @free(ptr %18)
  %indvars.iv.next.i17 = add nuw nsw i64 %indvars.iv.i15, 1
  %19 = load i32, ptr %count.i13, align 8
  %20 = zext i32 %19 to i64
  %cmp.i18 = icmp samesign ult i64 %indvars.iv.next.i17, %20
  br i1 %cmp.i18, label %for.body.i14, label %clear_owns.exit

clear_owns.exit:                                  ; preds = %for.body.i14, %new_stretch.exit
  store i32 0, ptr %count.i13, align 8
  %far = getelementptr inbounds nuw i8, ptr %4, i64 5704
  %count.i20 = getelementptr inbounds nuw i8, ptr %4, i64 5712
  %21 = load i32, ptr %count.i20, align 8
  %cmp5.not.i21 = icmp eq i32 %21, 0
  br i1 %cmp5.not.i21, label %clear_owns.exit28, label %for.body.i22

for.body.i22:                                     ; preds = %clear_owns.exit, %for.body.i22
  %indvars.iv.i23 = phi i64 [ %indvars.iv.next.i25, %for.body.i22 ], [ 0, %clear_owns.exit ]
  %22 = load ptr, ptr %far, align 8
  %arrayidx.i24 = getelementptr inbounds nuw ptr, ptr %22, i64 %indvars.iv.i23
  %23 = load ptr, ptr %arrayidx.i24, align 8
  tail call void @free(ptr %23)
  %indvars.iv.next.i25 = add nuw nsw i64 %indvars.iv.i23, 1
  %24 = load i32, ptr %count.i20, align 8
  %25 = zext i32 %24 to i64
  %cmp.i26 = icmp samesign ult i64 %indvars.iv.next.i25, %25
  br i1 %cmp.i26, label %for.body.i22, label %clear_owns.exit28

clear_owns.exit28:                                ; preds = %for.body.i22, %clear_owns.exit
  store i32 0, ptr %count.i20, align 8
  %shown = getelementptr inbounds nuw i8, ptr %4, i64 5672
  %count.i29 = getelementptr inbounds nuw i8, ptr %4, i64 5680
  %26 = load i32, ptr %count.i29, align 8
  %cmp5.not.i30 = icmp eq i32 %26, 0
  br i1 %cmp5.not.i30, label %clear_owns.exit37, label %for.body.i31

for.body.i31:                                     ; preds = %clear_owns.exit28, %for.body.i31
  %indvars.iv.i32 = phi i64 [ %indvars.iv.next.i34, %for.body.i31 ], [ 0, %clear_owns.exit28 ]
  %27 = load ptr, ptr %shown, align 8
  %arrayidx.i33 = getelementptr inbounds nuw ptr, ptr %27, i64 %indvars.iv.i32
  %28 = load ptr, ptr %arrayidx.i33, align 8
  tail call void @free(ptr %28)
  %indvars.iv.next.i34 = add nuw nsw i64 %indvars.iv.i32, 1
  %29 = load i32, ptr %count.i29, align 8
  %30 = zext i32 %29 to i64
  %cmp.i35 = icmp samesign ult i64 %indvars.iv.next.i34, %30
  br i1 %cmp.i35, label %for.body.i31, label %clear_owns.exit37

clear_owns.exit37:                                ; preds = %for.body.i31, %clear_owns.exit28
  store i32 0, ptr %count.i29, align 8
  tail call fastcc void @fly.sanitizer.join_view(ptr %1, ptr nonnull %4)
  %31 = load i32, ptr %clock.i, align 16
  %arrayidx3 = getelementptr inbounds nuw i32, ptr %1, i64 %3
  store i32 %31, ptr %arrayidx3, align 4
  br label %cleanup

cleanup:                                          ; preds = %for.body, %clear_owns.exit37
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond.not = icmp eq i64 %indvars.iv.next, 64
  br i1 %exitcond.not, label %for.cond.cleanup, label %for.body
}

define internal void @fly.sanitizer.ranks_met() {
entry:
  %rank_views.promoted = load ptr, ptr @fly.sanitizer.rank_views, align 16
  br label %for.body

for.body:                                         ; preds = %entry, %rank_view.exit8
  %indvars.iv = phi i64 [ 1, %entry ], [ %indvars.iv.next, %rank_view.exit8 ]
  %call.i2021 = phi ptr [ %rank_views.promoted, %entry ], [ %rank_views.promoted23, %rank_view.exit8 ]
  %tobool.not.i = icmp eq ptr %call.i2021, null
  br i1 %tobool.not.i, label %if.then.i, label %rank_view.exit

if.then.i:                                        ; preds = %for.body
  %call.i = tail call dereferenceable_or_null(5648) ptr @calloc(i64 1, i64 5648)
  store ptr %call.i, ptr @fly.sanitizer.rank_views, align 16
  br label %rank_view.exit

rank_view.exit:                                   ; preds = %for.body, %if.then.i
  %rank_views.promoted23 = phi ptr [ %call.i, %if.then.i ], [ %call.i2021, %for.body ]
  %arrayidx.i = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.rank_views, i64 %indvars.iv
  %0 = load ptr, ptr %arrayidx.i, align 8
  %tobool.not.i5 = icmp eq ptr %0, null
  br i1 %tobool.not.i5, label %if.then.i6, label %rank_view.exit8

if.then.i6:                                       ; preds = %rank_view.exit
  %call.i7 = tail call dereferenceable_or_null(5648) ptr @calloc(i64 1, i64 5648)
  store ptr %call.i7, ptr %arrayidx.i, align 8
  br label %rank_view.exit8

rank_view.exit8:                                  ; preds = %rank_view.exit, %if.then.i6
  %1 = phi ptr [ %call.i7, %if.then.i6 ], [ %0, %rank_view.exit ]
  tail call fastcc void @fly.sanitizer.join_view(ptr %rank_views.promoted23, ptr %1)
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond.not = icmp eq i64 %indvars.iv.next, 16
  br i1 %exitcond.not, label %for.body6, label %for.body

for.cond.cleanup5:                                ; preds = %rank_view.exit18
  ret void

for.body6:                                        ; preds = %rank_view.exit8, %rank_view.exit18
  %indvars.iv28 = phi i64 [ %indvars.iv.next29, %rank_view.exit18 ], [ 1, %rank_view.exit8 ]
  %call.i172526 = phi ptr [ %call.i1724, %rank_view.exit18 ], [ %rank_views.promoted23, %rank_view.exit8 ]
  %arrayidx.i10 = getelementptr inbounds nuw ptr, ptr @fly.sanitizer.rank_views, i64 %indvars.iv28
  %2 = load ptr, ptr %arrayidx.i10, align 8
  %tobool.not.i11 = icmp eq ptr %2, null
  br i1 %tobool.not.i11, label %if.then.i12, label %rank_view.exit14

if.then.i12:                                      ; preds = %for.body6
  %call.i13 = tail call dereferenceable_or_null(5648) ptr @calloc(i64 1, i64 5648)
  store ptr %call.i13, ptr %arrayidx.i10, align 8
  br label %rank_view.exit14

rank_view.exit14:                                 ; preds = %for.body6, %if.then.i12
  %3 = phi ptr [ %call.i13, %if.then.i12 ], [ %2, %for.body6 ]
  %tobool.not.i15 = icmp eq ptr %call.i172526, null
  br i1 %tobool.not.i15, label %if.then.i16, label %rank_view.exit18

if.then.i16:                                      ; preds = %rank_view.exit14
  %call.i17 = tail call dereferenceable_or_null(5648) ptr @calloc(i64 1, i64 5648)
  store ptr %call.i17, ptr @fly.sanitizer.rank_views, align 16
  br label %rank_view.exit18

rank_view.exit18:                                 ; preds = %rank_view.exit14, %if.then.i16
  %call.i1724 = phi ptr [ %call.i17, %if.then.i16 ], [ %call.i172526, %rank_view.exit14 ]
  tail call fastcc void @fly.sanitizer.join_view(ptr %3, ptr %call.i1724)
  %indvars.iv.next29 = add nuw nsw i64 %indvars.iv28, 1
  %exitcond30.not = icmp eq i64 %indvars.iv.next29, 16
  br i1 %exitcond30.not, label %for.cond.cleanup5, label %for.body6
}

declare i1 @fly_ranks_here(ptr) 

declare ptr @realloc(ptr allocptr captures(none), i64 ) #13

declare i1 @fly_ranks_share(i64) 

define internal fastcc i1 @fly.sanitizer.unseen(ptr readonly captures(none) %actor, ptr nonnull readonly captures(none) %here, ptr nonnull readonly captures(none) %event) #14 {
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
  %idxprom.i = zext i32 %1 to i64
  %arrayidx.i = getelementptr inbounds nuw i32, ptr %actor, i64 %idxprom.i
  %3 = load i32, ptr %arrayidx.i, align 4
  %cmp.not.i = icmp ult i32 %3, %0
  br i1 %cmp.not.i, label %for.cond.preheader.i, label %return

for.cond.preheader.i:                             ; preds = %lor.lhs.false3
  %tails.i = getelementptr inbounds nuw i8, ptr %actor, i64 4096
  %tail_count.i = getelementptr inbounds nuw i8, ptr %actor, i64 5632
  %4 = load i32, ptr %tail_count.i, align 16
  %cmp113.not.i = icmp eq i32 %4, 0
  br i1 %cmp113.not.i, label %if.end, label %for.body.lr.ph.i

for.body.lr.ph.i:                                 ; preds = %for.cond.preheader.i
  %thread7.i = getelementptr inbounds nuw i8, ptr %event, i64 24
  %wide.trip.count.i = zext i32 %4 to i64
  br label %for.body.i

for.body.i:                                       ; preds = %if.end16.i, %for.body.lr.ph.i
  %indvars.iv.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %indvars.iv.next.i, %if.end16.i ]
  %arrayidx3.i = getelementptr inbounds nuw %struct.Tail, ptr %tails.i, i64 %indvars.iv.i
  %5 = load i32, ptr %arrayidx3.i, align 4
  %cmp6.i = icmp eq i32 %5, %1
  br i1 %cmp6.i, label %land.lhs.true.i, label %if.end16.i

land.lhs.true.i:                                  ; preds = %for.body.i
  %thread.i = getelementptr inbounds nuw i8, ptr %arrayidx3.i, i64 4
  %6 = load i32, ptr %thread.i, align 4
  %7 = load i16, ptr %thread7.i, align 8
  %conv.i = zext i16 %7 to i32
  %cmp8.i = icmp eq i32 %6, %conv.i
  br i1 %cmp8.i, label %land.lhs.true10.i, label %if.end16.i

land.lhs.true10.i:                                ; preds = %land.lhs.true.i
  %clock11.i = getelementptr inbounds nuw i8, ptr %arrayidx3.i, i64 8
  %8 = load i32, ptr %clock11.i, align 4
  %cmp13.not.i = icmp ult i32 %8, %0
  br i1 %cmp13.not.i, label %if.end16.i, label %return

if.end16.i:                                       ; preds = %land.lhs.true10.i, %land.lhs.true.i, %for.body.i
  %indvars.iv.next.i = add nuw nsw i64 %indvars.iv.i, 1
  %exitcond.not.i = icmp eq i64 %indvars.iv.next.i, %wide.trip.count.i
  br i1 %exitcond.not.i, label %if.end, label %for.body.i

if.end:                                           ; preds = %if.end16.i, %for.cond.preheader.i
  %thread = getelementptr inbounds nuw i8, ptr %here, i64 24
  %9 = load i16, ptr %thread, align 8
  %conv = zext i16 %9 to i32
  %count.i = getelementptr inbounds nuw i8, ptr %actor, i64 5664
  %10 = load i32, ptr %count.i, align 8
  %cmp27.not.i = icmp eq i32 %10, 0
  br i1 %cmp27.not.i, label %return, label %for.body.lr.ph.i7

for.body.lr.ph.i7:                                ; preds = %if.end
  %taken4 = getelementptr inbounds nuw i8, ptr %actor, i64 5656
  %11 = load ptr, ptr %taken4, align 8
  %wide.trip.count.i8 = zext i32 %10 to i64
  br label %for.body.i9

for.cond.i:                                       ; preds = %for.body.i9
  %indvars.iv.next.i12 = add nuw nsw i64 %indvars.iv.i10, 1
  %exitcond.not.i13 = icmp eq i64 %indvars.iv.next.i12, %wide.trip.count.i8
  br i1 %exitcond.not.i13, label %return, label %for.body.i9

for.body.i9:                                      ; preds = %for.cond.i, %for.body.lr.ph.i7
  %indvars.iv.i10 = phi i64 [ 0, %for.body.lr.ph.i7 ], [ %indvars.iv.next.i12, %for.cond.i ]
  %arrayidx.i11 = getelementptr inbounds nuw ptr, ptr %11, i64 %indvars.iv.i10
  %12 = load ptr, ptr %arrayidx.i11, align 8
  %thread1.i = getelementptr inbounds nuw i8, ptr %12, i64 5648
  %13 = load i32, ptr %thread1.i, align 16
  %cmp2.i = icmp eq i32 %13, %conv
  br i1 %cmp2.i, label %lor.rhs, label %for.cond.i

lor.rhs:                                          ; preds = %for.body.i9
  %arrayidx.i16 = getelementptr inbounds nuw i32, ptr %12, i64 %idxprom.i
  %14 = load i32, ptr %arrayidx.i16, align 4
  %cmp.not.i18 = icmp ult i32 %14, %0
  br i1 %cmp.not.i18, label %for.cond.preheader.i20, label %return

for.cond.preheader.i20:                           ; preds = %lor.rhs
  %tails.i21 = getelementptr inbounds nuw i8, ptr %12, i64 4096
  %tail_count.i22 = getelementptr inbounds nuw i8, ptr %12, i64 5632
  %15 = load i32, ptr %tail_count.i22, align 16
  %cmp113.not.i23 = icmp eq i32 %15, 0
  br i1 %cmp113.not.i23, label %return, label %for.body.lr.ph.i24

for.body.lr.ph.i24:                               ; preds = %for.cond.preheader.i20
  %thread7.i25 = getelementptr inbounds nuw i8, ptr %event, i64 24
  %wide.trip.count.i26 = zext i32 %15 to i64
  br label %for.body.i27

for.body.i27:                                     ; preds = %if.end16.i31, %for.body.lr.ph.i24
  %indvars.iv.i28 = phi i64 [ 0, %for.body.lr.ph.i24 ], [ %indvars.iv.next.i32, %if.end16.i31 ]
  %arrayidx3.i29 = getelementptr inbounds nuw %struct.Tail, ptr %tails.i21, i64 %indvars.iv.i28
  %16 = load i32, ptr %arrayidx3.i29, align 4
  %cmp6.i30 = icmp eq i32 %16, %1
  br i1 %cmp6.i30, label %land.lhs.true.i34, label %if.end16.i31

land.lhs.true.i34:                                ; preds = %for.body.i27
  %thread.i35 = getelementptr inbounds nuw i8, ptr %arrayidx3.i29, i64 4
  %17 = load i32, ptr %thread.i35, align 4
  %18 = load i16, ptr %thread7.i25, align 8
  %conv.i36 = zext i16 %18 to i32
  %cmp8.i37 = icmp eq i32 %17, %conv.i36
  br i1 %cmp8.i37, label %land.lhs.true10.i38, label %if.end16.i31

land.lhs.true10.i38:                              ; preds = %land.lhs.true.i34
  %clock11.i39 = getelementptr inbounds nuw i8, ptr %arrayidx3.i29, i64 8
  %19 = load i32, ptr %clock11.i39, align 4
  %cmp13.not.i40 = icmp ult i32 %19, %0
  br i1 %cmp13.not.i40, label %if.end16.i31, label %return

if.end16.i31:                                     ; preds = %land.lhs.true10.i38, %land.lhs.true.i34, %for.body.i27
  %indvars.iv.next.i32 = add nuw nsw i64 %indvars.iv.i28, 1
  %exitcond.not.i33 = icmp eq i64 %indvars.iv.next.i32, %wide.trip.count.i26
  br i1 %exitcond.not.i33, label %return, label %for.body.i27

return:                                           ; preds = %land.lhs.true10.i, %for.cond.i, %if.end16.i31, %land.lhs.true10.i38, %for.cond.preheader.i20, %lor.rhs, %if.end, %lor.lhs.false3, %entry, %lor.lhs.false
  %retval.0 = phi i1 [ false, %entry ], [ true, %if.end ], [ false, %lor.lhs.false ], [ true, %if.end16.i31 ], [ false, %lor.lhs.false3 ], [ true, %for.cond.i ], [ false, %lor.rhs ], [ true, %for.cond.preheader.i20 ], [ false, %land.lhs.true10.i38 ], [ false, %land.lhs.true10.i ]
  ret i1 %retval.0
}


