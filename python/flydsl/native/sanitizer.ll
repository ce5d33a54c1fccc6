; Made from src/sanitizer.c by `python -m flydsl.native.generate`.

%struct.Interval = type { i64, i64, i64 }
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
  br i1 %cmp6, label %cond.true, label %cond.false

cond.true:                                        ; preds = %for.end
  %6 = load ptr, ptr @fly.sanitizer.ranges, align 8
  %arrayidx7 = getelementptr inbounds nuw %struct.Interval, ptr %6, i64 %row.addr.0
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(24) %arrayidx5, ptr nonnull align 8 dereferenceable(24) %arrayidx7, i64 24, i1 false)
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

define void @fly_sanitizer_barrier() {
entry:
  %call = call i64 @fly.sanitizer.tick()
  store i64 %call, ptr @fly.sanitizer.wave_epoch, align 8
  store i64 %call, ptr @fly.sanitizer.epoch, align 8
  ret void
}

define internal i64 @fly.sanitizer.tick() {
entry:
  %0 = load i64, ptr @fly.sanitizer.time, align 8
  %inc = add i64 %0, 1
  store i64 %inc, ptr @fly.sanitizer.time, align 8
  ret i64 %inc
}

define void @fly_sanitizer_wave() {
entry:
  %call = call i64 @fly.sanitizer.tick()
  store i64 %call, ptr @fly.sanitizer.wave_epoch, align 8
  ret void
}

define i32 @fly_sanitizer_launch(ptr %kernel, ptr %args, ptr %extents, i64 %bytes, i64 %fixed_shared, i64 %log2_of_wave) {
entry:
  %add = add i64 %bytes, 255
  %and = and i64 %add, -128
  store ptr %extents, ptr @fly.sanitizer.dims, align 8
  store i64 %log2_of_wave, ptr @fly.sanitizer.wave_shift, align 8
  store i64 %bytes, ptr @fly.sanitizer.scratch_bytes, align 8
  %arrayidx = getelementptr inbounds nuw i8, ptr %extents, i64 48
  %0 = load i64, ptr %arrayidx, align 8
  %add1 = add i64 %fixed_shared, %0
  store i64 %add1, ptr @fly.sanitizer.shared_bytes, align 8
  %call = call ptr @aligned_alloc(i64 128, i64 %and)
  %call2 = call ptr @calloc(i64 %and, i64 1)
  store ptr %call2, ptr @fly.sanitizer.written, align 8
  %1 = load i64, ptr @fly.sanitizer.shared_bytes, align 8
  %add3 = add i64 %1, 1
  %call4 = call ptr @calloc(i64 %add3, i64 80)
  store ptr %call4, ptr @fly.sanitizer.shared_cells, align 8
  %2 = ptrtoint ptr %call to i64
  store i64 %2, ptr @fly.sanitizer.scratch, align 8
  %call5 = call i64 @fly.sanitizer.tick()
  store i64 %call5, ptr @fly.sanitizer.launch_start, align 8
  %3 = load i64, ptr @fly.sanitizer.flags, align 8
  %and6 = and i64 %3, 16
  %tobool.not = icmp eq i64 %and6, 0
  br i1 %tobool.not, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  %call7 = call ptr @calloc(i64 %and, i64 4)
  store ptr %call7, ptr @fly.sanitizer.fillers, align 8
  %call8 = call ptr @calloc(i64 %and, i64 4)
  store ptr %call8, ptr @fly.sanitizer.readers, align 8
  %call9 = call ptr @calloc(i64 %and, i64 4)
  store ptr %call9, ptr @fly.sanitizer.writers, align 8
  %call10 = call ptr @calloc(i64 %and, i64 8)
  store ptr %call10, ptr @fly.sanitizer.write_times, align 8
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  %tobool11 = icmp ne ptr %call, null
  %4 = load ptr, ptr @fly.sanitizer.written, align 8
  %tobool12 = icmp ne ptr %4, null
  %or.cond = select i1 %tobool11, i1 %tobool12, i1 false
  %5 = load ptr, ptr @fly.sanitizer.shared_cells, align 8
  %tobool14 = icmp ne ptr %5, null
  %or.cond20 = select i1 %or.cond, i1 %tobool14, i1 false
  br i1 %or.cond20, label %land.lhs.true15, label %if.end34

land.lhs.true15:                                  ; preds = %if.end
  br i1 %tobool.not, label %if.then24, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %land.lhs.true15
  %6 = load ptr, ptr @fly.sanitizer.fillers, align 8
  %tobool17 = icmp ne ptr %6, null
  %7 = load ptr, ptr @fly.sanitizer.readers, align 8
  %tobool19 = icmp ne ptr %7, null
  %or.cond21 = select i1 %tobool17, i1 %tobool19, i1 false
  %8 = load ptr, ptr @fly.sanitizer.writers, align 8
  %tobool21 = icmp ne ptr %8, null
  %or.cond22 = select i1 %or.cond21, i1 %tobool21, i1 false
  %9 = load ptr, ptr @fly.sanitizer.write_times, align 8
  %tobool23 = icmp ne ptr %9, null
  %or.cond23 = select i1 %or.cond22, i1 %tobool23, i1 false
  br i1 %or.cond23, label %if.then24, label %if.end34

if.then24:                                        ; preds = %lor.lhs.false, %land.lhs.true15
  %call25 = call ptr @fly_launch_begin(ptr %extents)
  %call26 = call i64 @fly.sanitizer.block_count(ptr %extents)
  br label %for.cond

for.cond:                                         ; preds = %for.body, %if.then24
  %n.0 = phi i64 [ 0, %if.then24 ], [ %inc, %for.body ]
  %status.1 = phi i32 [ 0, %if.then24 ], [ %spec.select, %for.body ]
  %cmp = icmp slt i64 %n.0, %call26
  %tobool27.not = icmp eq i32 %status.1, 0
  %10 = select i1 %cmp, i1 %tobool27.not, i1 false
  br i1 %10, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  store i64 %n.0, ptr @fly.sanitizer.block, align 8
  store i64 0, ptr @fly.sanitizer.synced, align 8
  call void @fly_sanitizer_barrier()
  %11 = load ptr, ptr @fly.sanitizer.written, align 8
  call void @llvm.memset.p0.i64(ptr align 1 %11, i8 0, i64 %bytes, i1 false)
  %12 = load i64, ptr @fly.sanitizer.ticket_count, align 8
  %add28 = add i64 %12, 1
  store i64 %add28, ptr @fly.sanitizer.first_ticket, align 8
  %call29 = call i64 @fly.sanitizer.tick()
  store i64 %call29, ptr @fly.sanitizer.fence_time, align 8
  %call30 = call i32 @fly.sanitizer.run_block(ptr %kernel, ptr %args, ptr %extents, ptr nonnull %call, i64 %n.0)
  %13 = load i8, ptr @fly.sanitizer.failed, align 1
  %loadedv31 = trunc i8 %13 to i1
  %spec.select = select i1 %loadedv31, i32 6, i32 %call30
  %inc = add nuw nsw i64 %n.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  call void @fly_launch_end(ptr %call25)
  br label %if.end34

if.end34:                                         ; preds = %for.end, %lor.lhs.false, %if.end
  %status.0 = phi i32 [ %status.1, %for.end ], [ -2, %if.end ], [ -2, %lor.lhs.false ]
  %14 = load ptr, ptr @fly.sanitizer.fillers, align 8
  call void @free(ptr %14)
  %15 = load ptr, ptr @fly.sanitizer.readers, align 8
  call void @free(ptr %15)
  %16 = load ptr, ptr @fly.sanitizer.writers, align 8
  call void @free(ptr %16)
  %17 = load ptr, ptr @fly.sanitizer.write_times, align 8
  call void @free(ptr %17)
  %18 = load ptr, ptr @fly.sanitizer.tickets, align 8
  call void @free(ptr %18)
  store ptr null, ptr @fly.sanitizer.writers, align 8
  store ptr null, ptr @fly.sanitizer.readers, align 8
  store ptr null, ptr @fly.sanitizer.fillers, align 8
  store ptr null, ptr @fly.sanitizer.write_times, align 8
  store ptr null, ptr @fly.sanitizer.tickets, align 8
  store i64 0, ptr @fly.sanitizer.ticket_room, align 8
  store i64 0, ptr @fly.sanitizer.ticket_count, align 8
  call void @free(ptr %call)
  %19 = load ptr, ptr @fly.sanitizer.written, align 8
  call void @free(ptr %19)
  %20 = load ptr, ptr @fly.sanitizer.shared_cells, align 8
  call void @free(ptr %20)
  ret i32 %status.0
}

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
  %0 = load ptr, ptr @fly.sanitizer.written, align 8
  %1 = ptrtoint ptr %pointer to i64
  %2 = load i64, ptr @fly.sanitizer.scratch, align 8
  %sub = sub i64 %1, %2
  %add.ptr = getelementptr inbounds nuw i8, ptr %0, i64 %sub
  call void @llvm.memset.p0.i64(ptr align 1 %add.ptr, i8 0, i64 %bytes, i1 false)
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
  br label %cleanup40

if.end:                                           ; preds = %entry
  %2 = load i64, ptr @fly.sanitizer.flags, align 8
  %and = and i64 %2, 1
  %tobool10.not = icmp eq i64 %and, 0
  br i1 %tobool10.not, label %if.end14, label %land.lhs.true

land.lhs.true:                                    ; preds = %if.end
  %cmp = icmp ult i64 %address, %low
  %add = add i64 %address, %bytes
  %cmp12 = icmp ugt i64 %add, %end
  %or.cond13 = select i1 %cmp, i1 true, i1 %cmp12
  br i1 %or.cond13, label %if.then13, label %if.end14

if.then13:                                        ; preds = %land.lhs.true
  call void @fly.sanitizer.fill(i32 1, ptr nonnull %touch, i64 %address, i64 0)
  br label %cleanup40

if.end14:                                         ; preds = %land.lhs.true, %if.end
  %3 = load i64, ptr @fly.sanitizer.flags, align 8
  %and15 = and i64 %3, 4
  %tobool16 = icmp ne i64 %and15, 0
  %cmp18 = icmp slt i64 %region, -1
  %or.cond14 = select i1 %tobool16, i1 %cmp18, i1 false
  br i1 %or.cond14, label %if.then19, label %if.end23

if.then19:                                        ; preds = %if.end14
  %call = call i64 @fly.sanitizer.unwritten(ptr nonnull %touch)
  %tobool20.not = icmp eq i64 %call, 0
  br i1 %tobool20.not, label %if.end23, label %if.then21

if.then21:                                        ; preds = %if.then19
  call void @fly.sanitizer.fill(i32 4, ptr nonnull %touch, i64 %call, i64 0)
  br label %cleanup40

if.end23:                                         ; preds = %if.then19, %if.end14
  %4 = load i64, ptr @fly.sanitizer.flags, align 8
  %and24 = and i64 %4, 16
  %tobool25 = icmp eq i64 %and24, 0
  %cmp27 = icmp ne i64 %region, -2
  %or.cond15.not18 = select i1 %tobool25, i1 true, i1 %cmp27
  %and29 = and i64 %kind, 32
  %tobool30 = icmp ne i64 %and29, 0
  %or.cond16 = select i1 %or.cond15.not18, i1 true, i1 %tobool30
  br i1 %or.cond16, label %if.end34, label %land.lhs.true31

land.lhs.true31:                                  ; preds = %if.end23
  %call32 = call i1 @fly.sanitizer.disturbs(ptr nonnull %touch)
  br i1 %call32, label %cleanup40, label %if.end34

if.end34:                                         ; preds = %land.lhs.true31, %if.end23
  %5 = load i64, ptr @fly.sanitizer.flags, align 8
  %and35 = and i64 %5, 2
  %tobool36 = icmp ne i64 %and35, 0
  %cmp38 = icmp sgt i64 %region, -3
  %or.cond17 = select i1 %tobool36, i1 %cmp38, i1 false
  br i1 %or.cond17, label %land.rhs, label %cleanup40

land.rhs:                                         ; preds = %if.end34
  %call39 = call i1 @fly.sanitizer.races(ptr nonnull %touch)
  br label %cleanup40

cleanup40:                                        ; preds = %if.then21, %if.end34, %land.rhs, %land.lhs.true31, %if.then13, %if.then
  %retval.0 = phi i1 [ %loadedv9, %if.then ], [ true, %if.then13 ], [ true, %if.then21 ], [ true, %land.lhs.true31 ], [ %call39, %land.rhs ], [ false, %if.end34 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %touch)
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

declare ptr @realloc(ptr, i64)

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


