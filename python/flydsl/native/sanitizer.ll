; Made from src/sanitizer.c by `python -m flydsl.native.generate`.

%struct.Interval = type { i64, i64, i64 }
%struct.Touch = type { i64, i64, i64, i64, i64, i64, i64, i64 }
%struct.RegionFacts = type { i64, i64, i64, ptr }
%struct.Cell = type { %struct.Slot, [2 x %struct.Slot], [2 x %struct.Slot] }
%struct.Slot = type { i64, i64 }

@fly.sanitizer.flags = internal global i64 0, align 8
@fly.sanitizer.ranges = internal global ptr null, align 8
@fly.sanitizer.range_count = internal global i64 0, align 8
@fly.sanitizer.regions = internal global ptr null, align 8
@fly.sanitizer.region_count = internal global i64 0, align 8
@fly.sanitizer.report = internal global ptr null, align 8
@fly.sanitizer.roots = internal global [256 x %struct.Interval] zeroinitializer, align 16
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
@fly.sanitizer.block = internal global i64 0, align 8
@fly.sanitizer.synced = internal global i64 0, align 8
@fly.sanitizer.time = internal global i64 1, align 8

define void @fly_sanitizer_begin(i64 %checks, ptr %arrays, i64 %array_count, ptr %memory, i64 %memory_count, ptr %words) {
entry:
  store i64 %checks, ptr @fly.sanitizer.flags, align 8
  store ptr %arrays, ptr @fly.sanitizer.ranges, align 8
  store i64 %array_count, ptr @fly.sanitizer.range_count, align 8
  store ptr %memory, ptr @fly.sanitizer.regions, align 8
  store i64 %memory_count, ptr @fly.sanitizer.region_count, align 8
  store ptr %words, ptr @fly.sanitizer.report, align 8
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
  %tobool = icmp ne ptr %call, null
  %3 = load ptr, ptr @fly.sanitizer.written, align 8
  %tobool6 = icmp ne ptr %3, null
  %or.cond = select i1 %tobool, i1 %tobool6, i1 false
  %4 = load ptr, ptr @fly.sanitizer.shared_cells, align 8
  %tobool8 = icmp ne ptr %4, null
  %or.cond15 = select i1 %or.cond, i1 %tobool8, i1 false
  br i1 %or.cond15, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %call9 = call ptr @fly_launch_begin(ptr %extents)
  %call10 = call i64 @fly.sanitizer.block_count(ptr %extents)
  br label %for.cond

for.cond:                                         ; preds = %for.body, %if.then
  %n.0 = phi i64 [ 0, %if.then ], [ %inc, %for.body ]
  %status.1 = phi i32 [ 0, %if.then ], [ %call12, %for.body ]
  %cmp = icmp slt i64 %n.0, %call10
  %tobool11.not = icmp eq i32 %status.1, 0
  %5 = select i1 %cmp, i1 %tobool11.not, i1 false
  br i1 %5, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  store i64 %n.0, ptr @fly.sanitizer.block, align 8
  store i64 0, ptr @fly.sanitizer.synced, align 8
  call void @fly_sanitizer_barrier()
  %6 = load ptr, ptr @fly.sanitizer.written, align 8
  call void @llvm.memset.p0.i64(ptr align 1 %6, i8 0, i64 %bytes, i1 false)
  %call12 = call i32 @fly.sanitizer.run_block(ptr %kernel, ptr %args, ptr %extents, ptr nonnull %call, i64 %n.0)
  %inc = add nuw nsw i64 %n.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  call void @fly_launch_end(ptr %call9)
  br label %if.end

if.end:                                           ; preds = %for.end, %entry
  %status.0 = phi i32 [ %status.1, %for.end ], [ -2, %entry ]
  call void @free(ptr %call)
  %7 = load ptr, ptr @fly.sanitizer.written, align 8
  call void @free(ptr %7)
  %8 = load ptr, ptr @fly.sanitizer.shared_cells, align 8
  call void @free(ptr %8)
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
  %tobool.not = icmp eq i64 %bytes, 0
  br i1 %tobool.not, label %cleanup27, label %if.end

if.end:                                           ; preds = %entry
  %0 = load i64, ptr @fly.sanitizer.flags, align 8
  %and = and i64 %0, 1
  %tobool9.not = icmp eq i64 %and, 0
  br i1 %tobool9.not, label %if.end12, label %land.lhs.true

land.lhs.true:                                    ; preds = %if.end
  %cmp = icmp ult i64 %address, %low
  %add = add i64 %address, %bytes
  %cmp10 = icmp ugt i64 %add, %end
  %or.cond = select i1 %cmp, i1 true, i1 %cmp10
  br i1 %or.cond, label %if.then11, label %if.end12

if.then11:                                        ; preds = %land.lhs.true
  call void @fly.sanitizer.fill(i32 1, ptr nonnull %touch, i64 %address, i64 0)
  br label %cleanup27

if.end12:                                         ; preds = %land.lhs.true, %if.end
  %1 = load i64, ptr @fly.sanitizer.flags, align 8
  %and13 = and i64 %1, 4
  %tobool14 = icmp ne i64 %and13, 0
  %cmp16 = icmp slt i64 %region, -1
  %or.cond11 = select i1 %tobool14, i1 %cmp16, i1 false
  br i1 %or.cond11, label %if.then17, label %if.end21

if.then17:                                        ; preds = %if.end12
  %call = call i64 @fly.sanitizer.unwritten(ptr nonnull %touch)
  %tobool18.not = icmp eq i64 %call, 0
  br i1 %tobool18.not, label %if.end21, label %if.then19

if.then19:                                        ; preds = %if.then17
  call void @fly.sanitizer.fill(i32 4, ptr nonnull %touch, i64 %call, i64 0)
  br label %cleanup27

if.end21:                                         ; preds = %if.then17, %if.end12
  %2 = load i64, ptr @fly.sanitizer.flags, align 8
  %and22 = and i64 %2, 2
  %tobool23 = icmp ne i64 %and22, 0
  %cmp25 = icmp sgt i64 %region, -3
  %or.cond12 = select i1 %tobool23, i1 %cmp25, i1 false
  br i1 %or.cond12, label %land.rhs, label %cleanup27

land.rhs:                                         ; preds = %if.end21
  %call26 = call i1 @fly.sanitizer.races(ptr nonnull %touch)
  br label %cleanup27

cleanup27:                                        ; preds = %if.then19, %if.end21, %land.rhs, %entry, %if.then11
  %retval.0 = phi i1 [ true, %if.then11 ], [ true, %if.then19 ], [ false, %entry ], [ %call26, %land.rhs ], [ false, %if.end21 ]
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


