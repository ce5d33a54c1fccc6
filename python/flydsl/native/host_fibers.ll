; Made from src/host_fibers.c by `python -m flydsl.native.generate`.

%struct.Run = type { i64, i64, i64, i32, i32, i64, i64, ptr, ptr, ptr, ptr, ptr, i64, i64, i64, i64, i64, ptr, ptr, i64, ptr }

define internal void @fly.yield(ptr %run, i32 %site) noinline {
entry:
  %0 = load volatile i64, ptr %run, align 8
  %inc = add i64 %0, 1
  store volatile i64 %inc, ptr %run, align 8
  %waiting_site = getelementptr inbounds nuw i8, ptr %run, i64 28
  store volatile i32 %site, ptr %waiting_site, align 4
  %current = getelementptr inbounds nuw i8, ptr %run, i64 32
  %1 = load i64, ptr %current, align 8
  %call = call ptr @fly.host_fibers.context_of(ptr nonnull %run, i64 %1)
  %main = getelementptr inbounds nuw i8, ptr %run, i64 48
  %2 = load ptr, ptr %main, align 8
  %call1 = call i32 @swapcontext(ptr %call, ptr %2)
  ret void
}

declare i32 @swapcontext(ptr, ptr)

define internal ptr @fly.host_fibers.context_of(ptr %run, i64 %fiber) {
entry:
  %contexts = getelementptr inbounds nuw i8, ptr %run, i64 56
  %0 = load ptr, ptr %contexts, align 8
  %mul = shl i64 %fiber, 13
  %add.ptr = getelementptr inbounds nuw i8, ptr %0, i64 %mul
  ret ptr %add.ptr
}

define internal void @fly.progress(ptr %run) {
entry:
  store volatile i64 0, ptr %run, align 8
  %polls = getelementptr inbounds nuw i8, ptr %run, i64 16
  store volatile i64 0, ptr %polls, align 8
  ret void
}

define internal void @fly.poll(ptr %run, i32 %site) {
entry:
  %polls = getelementptr inbounds nuw i8, ptr %run, i64 16
  %0 = load volatile i64, ptr %polls, align 8
  %inc = add i64 %0, 1
  store volatile i64 %inc, ptr %polls, align 8
  %cmp = icmp ult i64 %inc, 1000000
  br i1 %cmp, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  store volatile i64 0, ptr %run, align 8
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  call void @fly.yield(ptr %run, i32 %site)
  ret void
}

define internal void @fly.look(ptr %run, ptr %launch, ptr %spin, i32 %site) {
entry:
  %0 = load volatile i64, ptr %run, align 8
  %live = getelementptr inbounds nuw i8, ptr %run, i64 8
  %1 = load volatile i64, ptr %live, align 8
  %cmp.not = icmp ult i64 %0, %1
  br i1 %cmp.not, label %lor.lhs.false, label %if.then

lor.lhs.false:                                    ; preds = %entry
  %polls = getelementptr inbounds nuw i8, ptr %run, i64 16
  %2 = load volatile i64, ptr %polls, align 8
  %3 = load volatile i64, ptr %live, align 8
  %mul = shl i64 %3, 1
  %cmp2 = icmp ugt i64 %2, %mul
  br i1 %cmp2, label %if.then, label %if.end

if.then:                                          ; preds = %lor.lhs.false, %entry
  call void %spin(ptr %launch, i32 %site)
  br label %if.end

if.end:                                           ; preds = %if.then, %lor.lhs.false
  call void @fly.poll(ptr nonnull %run, i32 %site)
  ret void
}

define internal ptr @fly.scratch_of(ptr %run, i64 %rank) {
entry:
  %scratch = getelementptr inbounds nuw i8, ptr %run, i64 136
  %0 = load ptr, ptr %scratch, align 8
  %scratch_stride = getelementptr inbounds nuw i8, ptr %run, i64 144
  %1 = load i64, ptr %scratch_stride, align 8
  %mul = mul nsw i64 %1, %rank
  %add.ptr = getelementptr inbounds i8, ptr %0, i64 %mul
  ret ptr %add.ptr
}

define internal ptr @fly.async_of(ptr %run) {
entry:
  %async = getelementptr inbounds nuw i8, ptr %run, i64 152
  %0 = load ptr, ptr %async, align 8
  ret ptr %0
}

define internal i32 @fly.run_waves(ptr %kernel, ptr %args, i64 %bx, i64 %by, i64 %bz, ptr %dims, ptr %scratch, i64 %stride, i64 %waves, i64 %cx, i64 %cy, i64 %cz, ptr %async) noinline {
entry:
  %main = alloca [8192 x i8], align 16
  %run = alloca %struct.Run, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %main)
  %mul = mul nsw i64 %cx, %cy
  %mul1 = mul nsw i64 %mul, %cz
  %mul2 = mul nsw i64 %mul1, %waves
  %mul3 = shl i64 %mul2, 13
  %and = and i64 %mul2, -128
  %add = add i64 %mul3, %and
  %add4 = add i64 %add, 128
  %mul5 = shl i64 %mul2, 20
  %add6 = add i64 %add4, %mul5
  %call = call ptr @aligned_alloc(i64 128, i64 %add6)
  %tobool.not = icmp eq ptr %call, null
  br i1 %tobool.not, label %cleanup, label %if.end

if.end:                                           ; preds = %entry
  call void @llvm.lifetime.start.p0(ptr nonnull %run)
  store volatile i64 0, ptr %run, align 8
  %live = getelementptr inbounds nuw i8, ptr %run, i64 8
  store volatile i64 %mul2, ptr %live, align 8
  %polls = getelementptr inbounds nuw i8, ptr %run, i64 16
  store volatile i64 0, ptr %polls, align 8
  %status = getelementptr inbounds nuw i8, ptr %run, i64 24
  store volatile i32 0, ptr %status, align 8
  %waiting_site = getelementptr inbounds nuw i8, ptr %run, i64 28
  store volatile i32 0, ptr %waiting_site, align 4
  %current = getelementptr inbounds nuw i8, ptr %run, i64 32
  store i64 0, ptr %current, align 8
  %waves7 = getelementptr inbounds nuw i8, ptr %run, i64 40
  store i64 %waves, ptr %waves7, align 8
  %main8 = getelementptr inbounds nuw i8, ptr %run, i64 48
  store ptr %main, ptr %main8, align 8
  %contexts9 = getelementptr inbounds nuw i8, ptr %run, i64 56
  store ptr %call, ptr %contexts9, align 8
  %finished = getelementptr inbounds nuw i8, ptr %run, i64 64
  %add.ptr = getelementptr inbounds nuw i8, ptr %call, i64 %mul3
  store ptr %add.ptr, ptr %finished, align 8
  %kernel10 = getelementptr inbounds nuw i8, ptr %run, i64 72
  store ptr %kernel, ptr %kernel10, align 8
  %args11 = getelementptr inbounds nuw i8, ptr %run, i64 80
  store ptr %args, ptr %args11, align 8
  %bx12 = getelementptr inbounds nuw i8, ptr %run, i64 88
  store i64 %bx, ptr %bx12, align 8
  %by13 = getelementptr inbounds nuw i8, ptr %run, i64 96
  store i64 %by, ptr %by13, align 8
  %bz14 = getelementptr inbounds nuw i8, ptr %run, i64 104
  store i64 %bz, ptr %bz14, align 8
  %cluster_x = getelementptr inbounds nuw i8, ptr %run, i64 112
  store i64 %cx, ptr %cluster_x, align 8
  %cluster_y = getelementptr inbounds nuw i8, ptr %run, i64 120
  store i64 %cy, ptr %cluster_y, align 8
  %dims15 = getelementptr inbounds nuw i8, ptr %run, i64 128
  store ptr %dims, ptr %dims15, align 8
  %scratch16 = getelementptr inbounds nuw i8, ptr %run, i64 136
  store ptr %scratch, ptr %scratch16, align 8
  %scratch_stride = getelementptr inbounds nuw i8, ptr %run, i64 144
  store i64 %stride, ptr %scratch_stride, align 8
  %async17 = getelementptr inbounds nuw i8, ptr %run, i64 152
  store ptr %async, ptr %async17, align 8
  %add.ptr18 = getelementptr inbounds nuw i8, ptr %call, i64 %add4
  call void @fly.host_fibers.make_fibers(ptr nonnull %run, i64 %mul2, ptr nonnull %add.ptr18)
  %call20 = call i32 @fly.host_fibers.take_turns(ptr nonnull %run, i64 %mul2)
  call void @free(ptr nonnull %call)
  call void @llvm.lifetime.end.p0(ptr nonnull %run)
  br label %cleanup

cleanup:                                          ; preds = %entry, %if.end
  %retval.0 = phi i32 [ %call20, %if.end ], [ -2, %entry ]
  call void @llvm.lifetime.end.p0(ptr nonnull %main)
  ret i32 %retval.0
}

declare ptr @aligned_alloc(i64, i64)

define internal void @fly.host_fibers.make_fibers(ptr %run, i64 %count, ptr %stacks) {
entry:
  %0 = ptrtoint ptr %run to i64
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %i.0 = phi i64 [ 0, %entry ], [ %inc, %for.body ]
  %cmp = icmp ult i64 %i.0, %count
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %call = call ptr @fly.host_fibers.context_of(ptr %run, i64 %i.0)
  %finished = getelementptr inbounds nuw i8, ptr %run, i64 64
  %1 = load ptr, ptr %finished, align 8
  %arrayidx = getelementptr inbounds nuw i8, ptr %1, i64 %i.0
  store volatile i8 0, ptr %arrayidx, align 1
  %call1 = call i32 @getcontext(ptr %call)
  %link = getelementptr inbounds nuw i8, ptr %call, i64 8
  store ptr null, ptr %link, align 8
  %mul = shl i64 %i.0, 20
  %add.ptr = getelementptr inbounds nuw i8, ptr %stacks, i64 %mul
  %stack = getelementptr inbounds nuw i8, ptr %call, i64 16
  store ptr %add.ptr, ptr %stack, align 8
  %stack_bytes = getelementptr inbounds nuw i8, ptr %call, i64 32
  store i64 1048576, ptr %stack_bytes, align 8
  %conv = trunc i64 %0 to i32
  %shr = lshr i64 %0, 32
  %conv2 = trunc nuw i64 %shr to i32
  call void (ptr, ptr, i32, ...) @makecontext(ptr %call, ptr nonnull @fly.host_fibers.fiber_main, i32 2, i32 %conv, i32 %conv2)
  %inc = add i64 %i.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  ret void
}

define internal i32 @fly.host_fibers.take_turns(ptr %run, i64 %count) {
entry:
  %dims = getelementptr inbounds nuw i8, ptr %run, i64 128
  %0 = load ptr, ptr %dims, align 8
  %arrayidx = getelementptr inbounds nuw i8, ptr %0, i64 56
  %1 = load i64, ptr %arrayidx, align 8
  %2 = inttoptr i64 %1 to ptr
  br label %while.cond

while.cond:                                       ; preds = %cleanup19, %entry
  %retval.0 = phi i32 [ undef, %entry ], [ %retval.1, %cleanup19 ]
  %live = getelementptr inbounds nuw i8, ptr %run, i64 8
  %3 = load volatile i64, ptr %live, align 8
  %tobool.not = icmp eq i64 %3, 0
  br i1 %tobool.not, label %while.end, label %while.body

while.body:                                       ; preds = %while.cond
  %4 = load volatile i32, ptr %2, align 8
  %tobool1.not = icmp eq i32 %4, 0
  br i1 %tobool1.not, label %cond.end, label %cond.true

cond.true:                                        ; preds = %while.body
  %check_in = getelementptr inbounds nuw i8, ptr %2, i64 8
  %5 = load ptr, ptr %check_in, align 8
  %waiting_site = getelementptr inbounds nuw i8, ptr %run, i64 28
  %6 = load volatile i32, ptr %waiting_site, align 4
  %call = call i32 %5(ptr nonnull %2, i32 %6)
  br label %cond.end

cond.end:                                         ; preds = %while.body, %cond.true
  %cond = phi i32 [ %call, %cond.true ], [ 0, %while.body ]
  %tobool2.not = icmp eq i32 %cond, 0
  br i1 %tobool2.not, label %for.cond, label %cleanup19

for.cond:                                         ; preds = %cond.end, %for.inc
  %fiber.0 = phi i64 [ %inc, %for.inc ], [ 0, %cond.end ]
  %cmp.not = icmp ult i64 %fiber.0, %count
  br i1 %cmp.not, label %for.body, label %cleanup

for.body:                                         ; preds = %for.cond
  %finished = getelementptr inbounds nuw i8, ptr %run, i64 64
  %7 = load ptr, ptr %finished, align 8
  %arrayidx3 = getelementptr inbounds nuw i8, ptr %7, i64 %fiber.0
  %8 = load volatile i8, ptr %arrayidx3, align 1
  %tobool4.not = icmp eq i8 %8, 0
  br i1 %tobool4.not, label %if.end6, label %for.inc

if.end6:                                          ; preds = %for.body
  %current = getelementptr inbounds nuw i8, ptr %run, i64 32
  store i64 %fiber.0, ptr %current, align 8
  %main = getelementptr inbounds nuw i8, ptr %run, i64 48
  %9 = load ptr, ptr %main, align 8
  %call7 = call ptr @fly.host_fibers.context_of(ptr %run, i64 %fiber.0)
  %call8 = call i32 @swapcontext(ptr %9, ptr %call7)
  %status = getelementptr inbounds nuw i8, ptr %run, i64 24
  %10 = load volatile i32, ptr %status, align 8
  %tobool9.not = icmp eq i32 %10, 0
  br i1 %tobool9.not, label %for.inc, label %if.then10

if.then10:                                        ; preds = %if.end6
  %11 = load volatile i32, ptr %status, align 8
  br label %cleanup

for.inc:                                          ; preds = %if.end6, %for.body
  %inc = add i64 %fiber.0, 1
  br label %for.cond

cleanup:                                          ; preds = %for.cond, %if.then10
  %retval.2 = phi i32 [ %11, %if.then10 ], [ %retval.0, %for.cond ]
  br i1 %cmp.not, label %cleanup19, label %for.end

for.end:                                          ; preds = %cleanup
  %12 = load volatile i64, ptr %live, align 8
  %tobool14.not = icmp eq i64 %12, 0
  br i1 %tobool14.not, label %cleanup19, label %land.lhs.true

land.lhs.true:                                    ; preds = %for.end
  %13 = load volatile i64, ptr %run, align 8
  %mul = shl i64 %count, 1
  %cmp15 = icmp ugt i64 %13, %mul
  br i1 %cmp15, label %if.then16, label %cleanup19

if.then16:                                        ; preds = %land.lhs.true
  %waiting_site17 = getelementptr inbounds nuw i8, ptr %run, i64 28
  %14 = load volatile i32, ptr %waiting_site17, align 4
  br label %cleanup19

cleanup19:                                        ; preds = %for.end, %land.lhs.true, %cond.end, %cleanup, %if.then16
  %retval.1 = phi i32 [ %cond, %cond.end ], [ %retval.2, %cleanup ], [ %14, %if.then16 ], [ %retval.2, %land.lhs.true ], [ %retval.2, %for.end ]
  %cond23 = phi i1 [ false, %cond.end ], [ false, %cleanup ], [ false, %if.then16 ], [ true, %land.lhs.true ], [ true, %for.end ]
  br i1 %cond23, label %while.cond, label %cleanup22

while.end:                                        ; preds = %while.cond
  %status21 = getelementptr inbounds nuw i8, ptr %run, i64 24
  %15 = load volatile i32, ptr %status21, align 8
  br label %cleanup22

cleanup22:                                        ; preds = %cleanup19, %while.end
  %retval.3 = phi i32 [ %retval.1, %cleanup19 ], [ %15, %while.end ]
  ret i32 %retval.3
}

declare void @free(ptr)

define internal i1 @fly.barrier(ptr %run, ptr %counter, i64 %rank, i32 %site) {
entry:
  %generation1 = getelementptr inbounds nuw i8, ptr %counter, i64 4
  %0 = load volatile i32, ptr %generation1, align 4
  %1 = load i32, ptr %counter, align 4
  %inc = add i32 %1, 1
  store i32 %inc, ptr %counter, align 4
  br label %while.cond

while.cond:                                       ; preds = %if.end, %entry
  %opens.0.off0 = phi i1 [ false, %entry ], [ %cmp4, %if.end ]
  %2 = load volatile i32, ptr %generation1, align 4
  %cmp = icmp eq i32 %2, %0
  br i1 %cmp, label %while.body, label %while.end

while.body:                                       ; preds = %while.cond
  %3 = load i32, ptr %counter, align 4
  %conv = zext i32 %3 to i64
  %call = call i64 @fly.host_fibers.ended_waves(ptr %run, i64 %rank)
  %add = add i64 %call, %conv
  %waves = getelementptr inbounds nuw i8, ptr %run, i64 40
  %4 = load i64, ptr %waves, align 8
  %cmp4 = icmp uge i64 %add, %4
  br i1 %cmp4, label %if.then, label %if.else

if.then:                                          ; preds = %while.body
  store i32 0, ptr %counter, align 4
  %add7 = add i32 %0, 1
  store volatile i32 %add7, ptr %generation1, align 4
  br label %if.end

if.else:                                          ; preds = %while.body
  call void @fly.yield(ptr %run, i32 %site)
  br label %if.end

if.end:                                           ; preds = %if.else, %if.then
  br label %while.cond

while.end:                                        ; preds = %while.cond
  call void @fly.progress(ptr %run)
  ret i1 %opens.0.off0
}

define internal i64 @fly.host_fibers.ended_waves(ptr %run, i64 %rank) {
entry:
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %ended.0 = phi i64 [ 0, %entry ], [ %add2, %for.body ]
  %wave.0 = phi i64 [ 0, %entry ], [ %inc, %for.body ]
  %waves = getelementptr inbounds nuw i8, ptr %run, i64 40
  %0 = load i64, ptr %waves, align 8
  %cmp = icmp ult i64 %wave.0, %0
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %finished = getelementptr inbounds nuw i8, ptr %run, i64 64
  %1 = load ptr, ptr %finished, align 8
  %mul = mul i64 %rank, %0
  %2 = getelementptr i8, ptr %1, i64 %mul
  %arrayidx = getelementptr i8, ptr %2, i64 %wave.0
  %3 = load volatile i8, ptr %arrayidx, align 1
  %conv = zext i8 %3 to i64
  %add2 = add i64 %ended.0, %conv
  %inc = add i64 %wave.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  ret i64 %ended.0
}

define internal i32 @fly.count_in(ptr %counter, i32 %threads, i32 %expected) {
entry:
  %generation1 = getelementptr inbounds nuw i8, ptr %counter, i64 4
  %0 = load volatile i32, ptr %generation1, align 4
  %1 = load i32, ptr %counter, align 4
  %add = add i32 %1, %threads
  store i32 %add, ptr %counter, align 4
  %cmp.not = icmp ult i32 %add, %expected
  br i1 %cmp.not, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  store i32 0, ptr %counter, align 4
  %add4 = add i32 %0, 1
  store volatile i32 %add4, ptr %generation1, align 4
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  ret i32 %0
}

define internal void @fly.wait_counter(ptr %run, ptr %counter, i32 %generation, i32 %site) {
entry:
  br label %while.cond

while.cond:                                       ; preds = %while.body, %entry
  %generation1 = getelementptr inbounds nuw i8, ptr %counter, i64 4
  %0 = load volatile i32, ptr %generation1, align 4
  %cmp = icmp eq i32 %0, %generation
  br i1 %cmp, label %while.body, label %while.end

while.body:                                       ; preds = %while.cond
  call void @fly.yield(ptr %run, i32 %site)
  br label %while.cond

while.end:                                        ; preds = %while.cond
  call void @fly.progress(ptr %run)
  ret void
}

define internal void @fly.mbarrier_init(ptr %barrier, i32 %count) {
entry:
  %conv = zext i32 %count to i64
  %shl = shl nuw nsw i64 %conv, 20
  %or = or i64 %shl, %conv
  store i64 %or, ptr %barrier, align 8
  ret void
}

define internal void @fly.mbarrier_update(ptr %barrier, i32 %arrivals, i32 %bytes) {
entry:
  %0 = load i64, ptr %barrier, align 8
  %conv = zext i32 %arrivals to i64
  %sub = sub i64 %0, %conv
  %and = and i64 %sub, 1048575
  %shl = shl i64 %0, 1
  %shr = ashr i64 %shl, 41
  %conv1 = sext i32 %bytes to i64
  %add = add nsw i64 %shr, %conv1
  %tobool = icmp ne i64 %and, 0
  %tobool2 = icmp ne i64 %add, 0
  %or.cond = select i1 %tobool, i1 true, i1 %tobool2
  br i1 %or.cond, label %if.then, label %if.else

if.then:                                          ; preds = %entry
  %and3 = and i64 %0, -9223370937344196608
  %shl4 = shl i64 %add, 40
  %and5 = and i64 %shl4, 9223370937343148032
  %1 = or disjoint i64 %and3, %and5
  %or6 = or disjoint i64 %1, %and
  br label %if.end

if.else:                                          ; preds = %entry
  %shr7 = lshr i64 %0, 20
  %and8 = and i64 %shr7, 1048575
  %shl9 = shl nuw nsw i64 %and8, 20
  %and11 = and i64 %0, -9223372036854775808
  %2 = or disjoint i64 %shl9, %and11
  %3 = or disjoint i64 %2, %and8
  %or12 = xor i64 %3, -9223372036854775808
  br label %if.end

if.end:                                           ; preds = %if.else, %if.then
  %storemerge = phi i64 [ %or12, %if.else ], [ %or6, %if.then ]
  store i64 %storemerge, ptr %barrier, align 8
  ret void
}

define internal i1 @fly.mbarrier_test(ptr %barrier, i32 %parity) {
entry:
  %0 = load volatile i64, ptr %barrier, align 8
  %shr = lshr i64 %0, 63
  %and = and i32 %parity, 1
  %conv = zext nneg i32 %and to i64
  %cmp = icmp ne i64 %shr, %conv
  ret i1 %cmp
}

define internal i32 @fly.element_bytes(ptr %map) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %map, i64 8
  %0 = load i64, ptr %arrayidx, align 8
  %1 = trunc i64 %0 to i32
  %conv = and i32 %1, 255
  ret i32 %conv
}

define internal i32 @fly.box_bytes(ptr %map) {
entry:
  %call = call i32 @fly.element_bytes(ptr %map)
  %conv = zext i32 %call to i64
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %bytes.0 = phi i64 [ %conv, %entry ], [ %mul, %for.body ]
  %mode.0 = phi i64 [ 0, %entry ], [ %inc, %for.body ]
  %cmp = icmp samesign ult i64 %mode.0, 5
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %call2 = call i64 @fly.host_fibers.box_extent(ptr %map, i64 %mode.0)
  %mul = mul i64 %bytes.0, %call2
  %inc = add nuw nsw i64 %mode.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  %conv3 = trunc i64 %bytes.0 to i32
  ret i32 %conv3
}

define internal i64 @fly.host_fibers.box_extent(ptr %map, i64 %mode) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %map, i64 16
  %0 = load i64, ptr %arrayidx, align 8
  %cmp = icmp ult i64 %mode, %0
  br i1 %cmp, label %cond.true, label %cond.end

cond.true:                                        ; preds = %entry
  %add.ptr = getelementptr inbounds nuw i8, ptr %map, i64 104
  %arrayidx1 = getelementptr inbounds nuw i16, ptr %add.ptr, i64 %mode
  %1 = load i16, ptr %arrayidx1, align 2
  %2 = zext i16 %1 to i64
  br label %cond.end

cond.end:                                         ; preds = %entry, %cond.true
  %cond = phi i64 [ %2, %cond.true ], [ 1, %entry ]
  ret i64 %cond
}

define internal void @fly.tma(ptr %map, ptr %shared, i32 %offset, i32 %kind, i32 %c0, i32 %c1, i32 %c2, i32 %c3, i32 %c4) noinline {
entry:
  %start = alloca [5 x i64], align 16
  call void @llvm.lifetime.start.p0(ptr nonnull %start)
  %conv = sext i32 %c0 to i64
  store i64 %conv, ptr %start, align 8
  %arrayinit.element = getelementptr inbounds nuw i8, ptr %start, i64 8
  %conv1 = sext i32 %c1 to i64
  store i64 %conv1, ptr %arrayinit.element, align 8
  %arrayinit.element2 = getelementptr inbounds nuw i8, ptr %start, i64 16
  %conv3 = sext i32 %c2 to i64
  store i64 %conv3, ptr %arrayinit.element2, align 8
  %arrayinit.element4 = getelementptr inbounds nuw i8, ptr %start, i64 24
  %conv5 = sext i32 %c3 to i64
  store i64 %conv5, ptr %arrayinit.element4, align 8
  %arrayinit.element6 = getelementptr inbounds nuw i8, ptr %start, i64 32
  %conv7 = sext i32 %c4 to i64
  store i64 %conv7, ptr %arrayinit.element6, align 8
  %call = call i32 @fly.element_bytes(ptr %map)
  %conv8 = zext i32 %call to i64
  %call9 = call i64 @fly.host_fibers.box_extent(ptr %map, i64 0)
  %arrayidx = getelementptr inbounds nuw i8, ptr %map, i64 24
  %0 = load i64, ptr %arrayidx, align 8
  %notmask = shl nsw i64 -1, %0
  %sub = xor i64 %notmask, -1
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %mode.0 = phi i64 [ 1, %entry ], [ %inc, %for.body ]
  %rows.0 = phi i64 [ 1, %entry ], [ %mul, %for.body ]
  %cmp = icmp samesign ult i64 %mode.0, 5
  br i1 %cmp, label %for.body, label %for.cond12

for.body:                                         ; preds = %for.cond
  %call11 = call i64 @fly.host_fibers.box_extent(ptr %map, i64 %mode.0)
  %mul = mul i64 %rows.0, %call11
  %inc = add nuw nsw i64 %mode.0, 1
  br label %for.cond

for.cond12:                                       ; preds = %for.cond, %for.inc65
  %row.0 = phi i64 [ %inc66, %for.inc65 ], [ 0, %for.cond ]
  %cmp13 = icmp ult i64 %row.0, %rows.0
  br i1 %cmp13, label %for.body16, label %for.end67

for.body16:                                       ; preds = %for.cond12
  %1 = load i64, ptr %map, align 8
  %2 = inttoptr i64 %1 to ptr
  br label %for.cond19

for.cond19:                                       ; preds = %for.body24, %for.body16
  %source.0 = phi ptr [ %2, %for.body16 ], [ %add.ptr, %for.body24 ]
  %inside.0.off0 = phi i1 [ true, %for.body16 ], [ %and34, %for.body24 ]
  %mode18.0 = phi i64 [ 1, %for.body16 ], [ %inc37, %for.body24 ]
  %left.0 = phi i64 [ %row.0, %for.body16 ], [ %div, %for.body24 ]
  %arrayidx20 = getelementptr inbounds nuw i8, ptr %map, i64 16
  %3 = load i64, ptr %arrayidx20, align 8
  %cmp21 = icmp ult i64 %mode18.0, %3
  br i1 %cmp21, label %for.body24, label %for.cond40

for.body24:                                       ; preds = %for.cond19
  %arrayidx25 = getelementptr inbounds nuw i64, ptr %start, i64 %mode18.0
  %4 = load i64, ptr %arrayidx25, align 8
  %call26 = call i64 @fly.host_fibers.box_extent(ptr nonnull %map, i64 %mode18.0)
  %rem = urem i64 %left.0, %call26
  %add = add i64 %4, %rem
  %5 = getelementptr i64, ptr %map, i64 %mode18.0
  %arrayidx28 = getelementptr i8, ptr %5, i64 32
  %6 = load i64, ptr %arrayidx28, align 8
  %cmp29 = icmp ult i64 %add, %6
  %and34 = and i1 %inside.0.off0, %cmp29
  %7 = getelementptr i64, ptr %map, i64 %mode18.0
  %arrayidx34 = getelementptr i8, ptr %7, i64 64
  %8 = load i64, ptr %arrayidx34, align 8
  %mul35 = mul i64 %add, %8
  %add.ptr = getelementptr inbounds nuw i8, ptr %source.0, i64 %mul35
  %inc37 = add i64 %mode18.0, 1
  %call38 = call i64 @fly.host_fibers.box_extent(ptr nonnull %map, i64 %mode18.0)
  %div = udiv i64 %left.0, %call38
  br label %for.cond19

for.cond40:                                       ; preds = %for.cond19, %land.end
  %column.0 = phi i64 [ %inc63, %land.end ], [ 0, %for.cond19 ]
  %cmp41 = icmp ult i64 %column.0, %call9
  br i1 %cmp41, label %for.body44, label %for.inc65

for.body44:                                       ; preds = %for.cond40
  %conv45 = zext i32 %offset to i64
  %mul46 = mul i64 %row.0, %call9
  %add47 = add i64 %mul46, %column.0
  %mul48 = mul i64 %add47, %conv8
  %add49 = add i64 %mul48, %conv45
  %add51 = add i64 %column.0, %conv
  %shr = lshr i64 %add49, 7
  %and52 = and i64 %shr, %sub
  %shl53 = shl nuw nsw i64 %and52, 4
  %xor = xor i64 %add49, %shl53
  %add.ptr54 = getelementptr inbounds nuw i8, ptr %shared, i64 %xor
  %mul55 = mul i64 %add51, %conv8
  %add.ptr56 = getelementptr inbounds nuw i8, ptr %source.0, i64 %mul55
  br i1 %inside.0.off0, label %land.rhs, label %land.end

land.rhs:                                         ; preds = %for.body44
  %arrayidx59 = getelementptr inbounds nuw i8, ptr %map, i64 32
  %9 = load i64, ptr %arrayidx59, align 8
  %cmp60 = icmp ult i64 %add51, %9
  br label %land.end

land.end:                                         ; preds = %land.rhs, %for.body44
  %10 = phi i1 [ false, %for.body44 ], [ %cmp60, %land.rhs ]
  call void @fly.host_fibers.copy_element(ptr %add.ptr54, ptr %add.ptr56, i1 %10, ptr nonnull %map, i32 %kind)
  %inc63 = add i64 %column.0, 1
  br label %for.cond40

for.inc65:                                        ; preds = %for.cond40
  %inc66 = add i64 %row.0, 1
  br label %for.cond12

for.end67:                                        ; preds = %for.cond12
  call void @llvm.lifetime.end.p0(ptr nonnull %start)
  ret void
}

define internal void @fly.host_fibers.copy_element(ptr %place, ptr %global, i1 %inside, ptr %map, i32 %kind) {
entry:
  %call = call i32 @fly.element_bytes(ptr %map)
  %conv = zext i32 %call to i64
  br i1 %inside, label %if.else, label %if.then

if.then:                                          ; preds = %entry
  %cmp = icmp eq i32 %kind, 0
  br i1 %cmp, label %if.then2, label %if.end13

if.then2:                                         ; preds = %if.then
  call void @llvm.memset.p0.i64(ptr align 1 %place, i8 0, i64 %conv, i1 false)
  br label %if.end13

if.else:                                          ; preds = %entry
  switch i32 %kind, label %if.else10 [
    i32 0, label %if.then5
    i32 1, label %if.then9
  ]

if.then5:                                         ; preds = %if.else
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %place, ptr align 1 %global, i64 %conv, i1 false)
  br label %if.end13

if.then9:                                         ; preds = %if.else
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %global, ptr align 1 %place, i64 %conv, i1 false)
  br label %if.end13

if.else10:                                        ; preds = %if.else
  %arrayidx = getelementptr inbounds nuw i8, ptr %map, i64 8
  %0 = load i64, ptr %arrayidx, align 8
  %shr = lshr i64 %0, 8
  call void @fly.host_fibers.combine_shared(ptr %global, ptr %place, i64 %shr, i32 %kind, i64 %conv)
  br label %if.end13

if.end13:                                         ; preds = %if.then5, %if.else10, %if.then9, %if.then, %if.then2
  ret void
}

declare i32 @getcontext(ptr)

declare void @makecontext(ptr, ptr, i32, ...)

define internal void @fly.host_fibers.fiber_main(i32 %low, i32 %high) noinline {
entry:
  %conv = zext i32 %high to i64
  %shl = shl nuw i64 %conv, 32
  %conv1 = zext i32 %low to i64
  %or = or disjoint i64 %shl, %conv1
  %0 = inttoptr i64 %or to ptr
  %current = getelementptr inbounds nuw i8, ptr %0, i64 32
  %1 = load i64, ptr %current, align 8
  %waves = getelementptr inbounds nuw i8, ptr %0, i64 40
  %2 = load i64, ptr %waves, align 8
  %div = udiv i64 %1, %2
  %cluster_x = getelementptr inbounds nuw i8, ptr %0, i64 112
  %3 = load i64, ptr %cluster_x, align 8
  %cluster_y = getelementptr inbounds nuw i8, ptr %0, i64 120
  %4 = load i64, ptr %cluster_y, align 8
  %kernel = getelementptr inbounds nuw i8, ptr %0, i64 72
  %5 = load ptr, ptr %kernel, align 8
  %args = getelementptr inbounds nuw i8, ptr %0, i64 80
  %6 = load ptr, ptr %args, align 8
  %bx = getelementptr inbounds nuw i8, ptr %0, i64 88
  %7 = load i64, ptr %bx, align 8
  %rem = urem i64 %div, %3
  %add = add i64 %7, %rem
  %by = getelementptr inbounds nuw i8, ptr %0, i64 96
  %8 = load i64, ptr %by, align 8
  %div2 = udiv i64 %div, %3
  %rem3 = urem i64 %div2, %4
  %add4 = add i64 %8, %rem3
  %bz = getelementptr inbounds nuw i8, ptr %0, i64 104
  %9 = load i64, ptr %bz, align 8
  %div6 = udiv i64 %div2, %4
  %add7 = add i64 %9, %div6
  %dims = getelementptr inbounds nuw i8, ptr %0, i64 128
  %10 = load ptr, ptr %dims, align 8
  %call = call ptr @fly.scratch_of(ptr %0, i64 %div)
  %11 = load i64, ptr %waves, align 8
  %rem9 = urem i64 %1, %11
  %call10 = call i32 %5(ptr %6, i64 %add, i64 %add4, i64 %add7, ptr %10, ptr %call, ptr %0, i64 %rem9, i64 %div)
  %tobool.not = icmp eq i32 %call10, 0
  br i1 %tobool.not, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  %status11 = getelementptr inbounds nuw i8, ptr %0, i64 24
  store volatile i32 %call10, ptr %status11, align 8
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  %finished = getelementptr inbounds nuw i8, ptr %0, i64 64
  %12 = load ptr, ptr %finished, align 8
  %arrayidx = getelementptr inbounds nuw i8, ptr %12, i64 %1
  store volatile i8 1, ptr %arrayidx, align 1
  %live = getelementptr inbounds nuw i8, ptr %0, i64 8
  %13 = load volatile i64, ptr %live, align 8
  %dec = add i64 %13, -1
  store volatile i64 %dec, ptr %live, align 8
  call void @fly.progress(ptr %0)
  %call12 = call ptr @fly.host_fibers.context_of(ptr %0, i64 %1)
  %main = getelementptr inbounds nuw i8, ptr %0, i64 48
  %14 = load ptr, ptr %main, align 8
  %call13 = call i32 @swapcontext(ptr %call12, ptr %14)
  unreachable
}

define internal void @fly.host_fibers.combine_shared(ptr %to, ptr %from, i64 %type, i32 %kind, i64 %size) noinline {
entry:
  %new = alloca i16, align 2
  %new8 = alloca i32, align 4
  %new25 = alloca i64, align 8
  switch i64 %size, label %sw.epilog [
    i64 2, label %do.body
    i64 4, label %do.body5
    i64 8, label %do.body22
  ]

do.body:                                          ; preds = %entry
  %0 = load atomic i16, ptr %to monotonic, align 2
  call void @llvm.lifetime.start.p0(ptr nonnull %new)
  br label %do.body1

do.body1:                                         ; preds = %do.body1, %do.body
  %old.0 = phi i16 [ %0, %do.body ], [ %3, %do.body1 ]
  store i16 %old.0, ptr %new, align 2
  call void @fly.host_fibers.combine(ptr nonnull %new, ptr %from, i64 %type, i32 %kind)
  %1 = load i16, ptr %new, align 2
  %2 = cmpxchg ptr %to, i16 %old.0, i16 %1 monotonic monotonic, align 2
  %3 = extractvalue { i16, i1 } %2, 0
  %4 = extractvalue { i16, i1 } %2, 1
  br i1 %4, label %do.end, label %do.body1

do.end:                                           ; preds = %do.body1
  call void @llvm.lifetime.end.p0(ptr nonnull %new)
  br label %sw.epilog

do.body5:                                         ; preds = %entry
  %5 = load atomic i32, ptr %to monotonic, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %new8)
  br label %do.body9

do.body9:                                         ; preds = %do.body9, %do.body5
  %old6.0 = phi i32 [ %5, %do.body5 ], [ %8, %do.body9 ]
  store i32 %old6.0, ptr %new8, align 4
  call void @fly.host_fibers.combine(ptr nonnull %new8, ptr %from, i64 %type, i32 %kind)
  %6 = load i32, ptr %new8, align 4
  %7 = cmpxchg ptr %to, i32 %old6.0, i32 %6 monotonic monotonic, align 4
  %8 = extractvalue { i32, i1 } %7, 0
  %9 = extractvalue { i32, i1 } %7, 1
  br i1 %9, label %do.end18, label %do.body9

do.end18:                                         ; preds = %do.body9
  call void @llvm.lifetime.end.p0(ptr nonnull %new8)
  br label %sw.epilog

do.body22:                                        ; preds = %entry
  %10 = load atomic i64, ptr %to monotonic, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %new25)
  br label %do.body26

do.body26:                                        ; preds = %do.body26, %do.body22
  %old23.0 = phi i64 [ %10, %do.body22 ], [ %13, %do.body26 ]
  store i64 %old23.0, ptr %new25, align 8
  call void @fly.host_fibers.combine(ptr nonnull %new25, ptr %from, i64 %type, i32 %kind)
  %11 = load i64, ptr %new25, align 8
  %12 = cmpxchg ptr %to, i64 %old23.0, i64 %11 monotonic monotonic, align 8
  %13 = extractvalue { i64, i1 } %12, 0
  %14 = extractvalue { i64, i1 } %12, 1
  br i1 %14, label %do.end35, label %do.body26

do.end35:                                         ; preds = %do.body26
  call void @llvm.lifetime.end.p0(ptr nonnull %new25)
  br label %sw.epilog

sw.epilog:                                        ; preds = %do.end35, %do.end18, %do.end, %entry
  ret void
}

define internal void @fly.host_fibers.combine(ptr %to, ptr %from, i64 %type, i32 %kind) {
entry:
  switch i64 %type, label %sw.epilog [
    i64 2, label %sw.bb
    i64 3, label %sw.bb10
    i64 4, label %sw.bb28
    i64 5, label %sw.bb46
    i64 7, label %sw.bb64
    i64 8, label %sw.bb65
    i64 6, label %sw.bb67
    i64 9, label %sw.bb72
  ]

sw.bb:                                            ; preds = %entry
  %cmp = icmp eq i32 %kind, 2
  br i1 %cmp, label %cond.true, label %cond.false

cond.true:                                        ; preds = %sw.bb
  %0 = load i32, ptr %to, align 4
  %1 = load i32, ptr %from, align 4
  %add = add i32 %0, %1
  br label %cond.end8

cond.false:                                       ; preds = %sw.bb
  %cmp1 = icmp eq i32 %kind, 3
  %2 = load i32, ptr %to, align 4
  %3 = load i32, ptr %from, align 4
  %4 = icmp uge i32 %2, %3
  %cmp4 = xor i1 %cmp1, %4
  %. = select i1 %cmp4, i32 %2, i32 %3
  br label %cond.end8

cond.end8:                                        ; preds = %cond.false, %cond.true
  %cond9 = phi i32 [ %add, %cond.true ], [ %., %cond.false ]
  store i32 %cond9, ptr %to, align 4
  br label %sw.epilog

sw.bb10:                                          ; preds = %entry
  %cmp11 = icmp eq i32 %kind, 2
  br i1 %cmp11, label %cond.true13, label %cond.false15

cond.true13:                                      ; preds = %sw.bb10
  %5 = load i32, ptr %to, align 4
  %6 = load i32, ptr %from, align 4
  %add14 = add nsw i32 %5, %6
  br label %cond.end26

cond.false15:                                     ; preds = %sw.bb10
  %cmp16 = icmp eq i32 %kind, 3
  %7 = load i32, ptr %to, align 4
  %8 = load i32, ptr %from, align 4
  %9 = icmp sge i32 %7, %8
  %cmp20 = xor i1 %cmp16, %9
  %.48 = select i1 %cmp20, i32 %7, i32 %8
  br label %cond.end26

cond.end26:                                       ; preds = %cond.false15, %cond.true13
  %cond27 = phi i32 [ %add14, %cond.true13 ], [ %.48, %cond.false15 ]
  store i32 %cond27, ptr %to, align 4
  br label %sw.epilog

sw.bb28:                                          ; preds = %entry
  %cmp29 = icmp eq i32 %kind, 2
  br i1 %cmp29, label %cond.true31, label %cond.false33

cond.true31:                                      ; preds = %sw.bb28
  %10 = load i64, ptr %to, align 8
  %11 = load i64, ptr %from, align 8
  %add32 = add i64 %10, %11
  br label %cond.end44

cond.false33:                                     ; preds = %sw.bb28
  %cmp34 = icmp eq i32 %kind, 3
  %12 = load i64, ptr %to, align 8
  %13 = load i64, ptr %from, align 8
  %14 = icmp uge i64 %12, %13
  %cmp38 = xor i1 %cmp34, %14
  %.49 = select i1 %cmp38, i64 %12, i64 %13
  br label %cond.end44

cond.end44:                                       ; preds = %cond.false33, %cond.true31
  %cond45 = phi i64 [ %add32, %cond.true31 ], [ %.49, %cond.false33 ]
  store i64 %cond45, ptr %to, align 8
  br label %sw.epilog

sw.bb46:                                          ; preds = %entry
  %cmp47 = icmp eq i32 %kind, 2
  br i1 %cmp47, label %cond.true49, label %cond.false51

cond.true49:                                      ; preds = %sw.bb46
  %15 = load i64, ptr %to, align 8
  %16 = load i64, ptr %from, align 8
  %add50 = add nsw i64 %15, %16
  br label %cond.end62

cond.false51:                                     ; preds = %sw.bb46
  %cmp52 = icmp eq i32 %kind, 3
  %17 = load i64, ptr %to, align 8
  %18 = load i64, ptr %from, align 8
  %19 = icmp sge i64 %17, %18
  %cmp56 = xor i1 %cmp52, %19
  %.50 = select i1 %cmp56, i64 %17, i64 %18
  br label %cond.end62

cond.end62:                                       ; preds = %cond.false51, %cond.true49
  %cond63 = phi i64 [ %add50, %cond.true49 ], [ %.50, %cond.false51 ]
  store i64 %cond63, ptr %to, align 8
  br label %sw.epilog

sw.bb64:                                          ; preds = %entry
  %20 = load float, ptr %to, align 4
  %21 = load float, ptr %from, align 4
  %call = call float @fly.host_fibers.combined_f32(float %20, float %21, i32 %kind)
  store float %call, ptr %to, align 4
  br label %sw.epilog

sw.bb65:                                          ; preds = %entry
  %22 = load double, ptr %from, align 8
  %23 = load double, ptr %to, align 8
  %add66 = fadd double %23, %22
  store double %add66, ptr %to, align 8
  br label %sw.epilog

sw.bb67:                                          ; preds = %entry
  %24 = load half, ptr %to, align 2
  %conv68 = fpext half %24 to float
  %25 = load half, ptr %from, align 2
  %conv69 = fpext half %25 to float
  %call70 = call float @fly.host_fibers.combined_f32(float %conv68, float %conv69, i32 %kind)
  %conv71 = fptrunc float %call70 to half
  store half %conv71, ptr %to, align 2
  br label %sw.epilog

sw.bb72:                                          ; preds = %entry
  %26 = load i16, ptr %to, align 2
  %call73 = call float @fly.host_fibers.from_bf16(i16 %26)
  %27 = load i16, ptr %from, align 2
  %call74 = call float @fly.host_fibers.from_bf16(i16 %27)
  %call75 = call float @fly.host_fibers.combined_f32(float %call73, float %call74, i32 %kind)
  %call76 = call i16 @fly.host_fibers.to_bf16(float %call75)
  store i16 %call76, ptr %to, align 2
  br label %sw.epilog

sw.epilog:                                        ; preds = %sw.bb72, %sw.bb67, %sw.bb65, %sw.bb64, %cond.end62, %cond.end44, %cond.end26, %cond.end8, %entry
  ret void
}

define internal float @fly.host_fibers.combined_f32(float %a, float %b, i32 %kind) {
entry:
  %cmp = icmp eq i32 %kind, 2
  br i1 %cmp, label %cond.true, label %cond.false

cond.true:                                        ; preds = %entry
  %add = fadd float %a, %b
  br label %cond.end8

cond.false:                                       ; preds = %entry
  %cmp1 = icmp eq i32 %kind, 3
  %0 = fcmp uge float %a, %b
  %cmp4 = xor i1 %cmp1, %0
  %a.b = select i1 %cmp4, float %a, float %b
  br label %cond.end8

cond.end8:                                        ; preds = %cond.false, %cond.true
  %cond9 = phi float [ %add, %cond.true ], [ %a.b, %cond.false ]
  ret float %cond9
}

define internal i16 @fly.host_fibers.to_bf16(float %value) {
entry:
  %0 = bitcast float %value to i32
  %add = add i32 %0, 32767
  %shr = lshr i32 %0, 16
  %and = and i32 %shr, 1
  %add1 = add i32 %add, %and
  %shr2 = lshr i32 %add1, 16
  %conv = trunc nuw i32 %shr2 to i16
  ret i16 %conv
}

define internal float @fly.host_fibers.from_bf16(i16 %bits) {
entry:
  %conv = zext i16 %bits to i32
  %shl = shl nuw i32 %conv, 16
  %0 = bitcast i32 %shl to float
  ret float %0
}


