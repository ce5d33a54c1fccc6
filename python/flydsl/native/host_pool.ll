; Made from src/host_pool.c by `python -m flydsl.native.generate`.

%struct.Launch = type { i32, i32, ptr, i64, i64, i64, i32, ptr }
%struct.Semaphore = type { [64 x i8] }
%struct.RankHooks = type { ptr, ptr, ptr, ptr }
%struct.Scheduler = type { [8192 x i8], [16 x ptr], ptr, i64, i64, i32, i32, i32, [12 x i8] }
%struct.Rank = type { %struct.Semaphore, i64, i32, i32, i32, ptr }
%struct.anon = type { i64, i64 }
%struct.anon.0 = type { i32, i64, [16 x i32], [16 x i32] }
%struct.anon.1 = type { ptr, ptr, ptr, ptr, i64 }
%struct.Job = type { ptr, ptr, ptr, i64, i64, i64, i64, i32, i32 }
%struct.Time = type { i64, i64 }
%struct.Resident = type { ptr, ptr, ptr, ptr, ptr, ptr, i64, i64, i64, i64, i32, i32, i32 }
%struct.Fiber = type { [8192 x i8], ptr, i64, ptr, ptr, i64, i32, i8, i8 }
%struct.PollHandle = type { i32, i16, i16 }

@fly.host_pool.unwatched = internal global %struct.Launch zeroinitializer, align 8
@fly.host_pool.launches = internal global [32 x %struct.Launch] zeroinitializer, align 16
@fly.host_pool.launch_count = internal global i64 0, align 8
@fly.host_pool.asleep = internal global i32 0, align 4
@fly.host_pool.wake = internal global %struct.Semaphore zeroinitializer, align 64
@fly.host_pool.workers = internal global i32 0, align 4
@fly.host_pool.busy = internal global i32 0, align 64
@fly.host_pool.hooks = internal global %struct.RankHooks zeroinitializer, align 8
@fly.host_pool.rank_count = internal global i32 0, align 4
@fly.host_pool.stopped = internal global i32 0, align 4
@fly.host_pool.symmetric_count = internal global i32 0, align 4
@fly.host_pool.capacity = internal global i32 0, align 4
@fly.host_pool.together = internal global %struct.Scheduler zeroinitializer, align 16
@fly.host_pool.ranks = internal global [16 x %struct.Rank] zeroinitializer, align 16
@fly.host_pool.symmetric = internal global [1024 x %struct.anon] zeroinitializer, align 16
@fly.host_pool.waiting = internal global [512 x i64] zeroinitializer, align 16
@fly.host_pool.outside = internal global %struct.anon.0 zeroinitializer, align 16
@fly.host_pool.running = internal global ptr null, align 8
@fly.host_pool.start = internal global %struct.Semaphore zeroinitializer, align 64
@fly.host_pool.done = internal global %struct.Semaphore zeroinitializer, align 64
@fly.host_pool.python = internal global %struct.anon.1 zeroinitializer, align 8
@fly.host_pool.raised = internal global [3 x ptr] zeroinitializer, align 16
@fly.host_pool.time_limit = internal global i64 0, align 8
@fly.host_pool.job = internal global %struct.Job zeroinitializer, align 64
@fly.host_pool.__const.in_vain.nap = private constant %struct.Time { i64 0, i64 20000 }, align 8
@fly.host_pool.__const.watchman.beat = private constant %struct.Time { i64 0, i64 20000000 }, align 8

define ptr @fly_launch_begin(ptr %dims) {
entry:
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %i.0 = phi i32 [ 0, %entry ], [ %inc, %for.body ]
  %launch.0 = phi ptr [ @fly.host_pool.unwatched, %entry ], [ %launch.1, %for.body ]
  %cmp = icmp samesign ult i32 %i.0, 32
  %cmp1 = icmp eq ptr %launch.0, @fly.host_pool.unwatched
  %spec.select = select i1 %cmp, i1 %cmp1, i1 false
  br i1 %spec.select, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw %struct.Launch, ptr @fly.host_pool.launches, i64 %idxprom
  %taken = getelementptr inbounds nuw i8, ptr %arrayidx, i64 4
  %0 = cmpxchg ptr %taken, i32 0, i32 1 seq_cst monotonic, align 4
  %1 = extractvalue { i32, i1 } %0, 1
  %launch.1 = select i1 %1, ptr %arrayidx, ptr %launch.0
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  %cmp4.not = icmp eq ptr %launch.0, @fly.host_pool.unwatched
  br i1 %cmp4.not, label %if.end15, label %if.then5

if.then5:                                         ; preds = %for.end
  store volatile i32 0, ptr %launch.0, align 8
  %reason = getelementptr inbounds nuw i8, ptr %launch.0, i64 40
  store i32 0, ptr %reason, align 8
  %call = call i64 @pthread_self()
  %caller = getelementptr inbounds nuw i8, ptr %launch.0, i64 32
  store i64 %call, ptr %caller, align 8
  %number = getelementptr inbounds nuw i8, ptr %launch.0, i64 16
  %2 = atomicrmw add ptr @fly.host_pool.launch_count, i64 1 monotonic, align 8
  %3 = add i64 %2, 1
  store atomic i64 %3, ptr %number release, align 8
  %4 = load atomic i32, ptr @fly.host_pool.asleep seq_cst, align 4
  %tobool.not = icmp eq i32 %4, 0
  br i1 %tobool.not, label %if.end15, label %land.lhs.true

land.lhs.true:                                    ; preds = %if.then5
  %5 = atomicrmw xchg ptr @fly.host_pool.asleep, i32 0 seq_cst, align 4
  %tobool11.not = icmp eq i32 %5, 0
  br i1 %tobool11.not, label %if.end15, label %if.then12

if.then12:                                        ; preds = %land.lhs.true
  %call13 = call i32 @sem_post(ptr nonnull @fly.host_pool.wake)
  br label %if.end15

if.end15:                                         ; preds = %if.then5, %land.lhs.true, %if.then12, %for.end
  %scheduler = getelementptr inbounds nuw i8, ptr %launch.0, i64 48
  store ptr null, ptr %scheduler, align 8
  %check_in = getelementptr inbounds nuw i8, ptr %launch.0, i64 8
  store ptr @fly.host_pool.check_in, ptr %check_in, align 8
  %6 = ptrtoint ptr %launch.0 to i64
  %arrayidx16 = getelementptr inbounds nuw i8, ptr %dims, i64 56
  store i64 %6, ptr %arrayidx16, align 8
  ret ptr %launch.0
}

declare i64 @pthread_self()

declare i32 @sem_post(ptr)

define internal i32 @fly.host_pool.check_in(ptr %launch, i32 %place) {
entry:
  %call = call i64 @pthread_self()
  %reason = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %0 = load i32, ptr %reason, align 8
  %tobool.not = icmp eq i32 %0, 0
  br i1 %tobool.not, label %land.lhs.true, label %if.end

land.lhs.true:                                    ; preds = %entry
  %overdue = getelementptr inbounds nuw i8, ptr %launch, i64 24
  %1 = load i64, ptr %overdue, align 8
  %number = getelementptr inbounds nuw i8, ptr %launch, i64 16
  %2 = load i64, ptr %number, align 8
  %cmp = icmp eq i64 %1, %2
  br i1 %cmp, label %if.then, label %if.end

if.then:                                          ; preds = %land.lhs.true
  store i32 33554432, ptr %reason, align 8
  br label %if.end

if.end:                                           ; preds = %if.then, %land.lhs.true, %entry
  %3 = load i32, ptr %reason, align 8
  %tobool3.not = icmp eq i32 %3, 0
  br i1 %tobool3.not, label %land.lhs.true4, label %if.end15

land.lhs.true4:                                   ; preds = %if.end
  %caller = getelementptr inbounds nuw i8, ptr %launch, i64 32
  %4 = load i64, ptr %caller, align 8
  %cmp5 = icmp eq i64 %call, %4
  br i1 %cmp5, label %if.then6, label %if.end15

if.then6:                                         ; preds = %land.lhs.true4
  store volatile i32 0, ptr %launch, align 8
  %5 = load ptr, ptr @fly.host_pool.python, align 8
  %tobool7 = icmp ne ptr %5, null
  %6 = load i64, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.python, i64 32), align 8
  %cmp9 = icmp eq i64 %call, %6
  %or.cond = select i1 %tobool7, i1 %cmp9, i1 false
  br i1 %or.cond, label %land.lhs.true10, label %if.end15

land.lhs.true10:                                  ; preds = %if.then6
  %call11 = call i1 @fly.host_pool.signalled()
  br i1 %call11, label %if.then12, label %if.end15

if.then12:                                        ; preds = %land.lhs.true10
  store i32 16777216, ptr %reason, align 8
  br label %if.end15

if.end15:                                         ; preds = %if.then6, %land.lhs.true10, %if.then12, %land.lhs.true4, %if.end
  %7 = load i32, ptr %reason, align 8
  %tobool17.not = icmp eq i32 %7, 0
  br i1 %tobool17.not, label %cleanup, label %if.end19

if.end19:                                         ; preds = %if.end15
  store volatile i32 1, ptr %launch, align 8
  %8 = load i32, ptr %reason, align 8
  %add = add nsw i32 %8, %place
  br label %cleanup

cleanup:                                          ; preds = %if.end15, %if.end19
  %retval.0 = phi i32 [ %add, %if.end19 ], [ 0, %if.end15 ]
  ret i32 %retval.0
}

define void @fly_launch_end(ptr %launch) {
entry:
  %cmp.not = icmp eq ptr %launch, @fly.host_pool.unwatched
  br i1 %cmp.not, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  %taken = getelementptr inbounds nuw i8, ptr %launch, i64 4
  store atomic i32 0, ptr %taken seq_cst, align 4
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  ret void
}

define i32 @fly_host_launch(ptr %kernel, ptr %args, ptr %dims, i64 %scratch_bytes) {
entry:
  %own = alloca %struct.Job, align 8
  %call = call i64 @fly.host_pool.block_count(ptr %dims)
  %cmp = icmp slt i64 %call, 1
  br i1 %cmp, label %cleanup, label %if.end

if.end:                                           ; preds = %entry
  %call1 = call ptr @fly_launch_begin(ptr %dims)
  call void @llvm.lifetime.start.p0(ptr nonnull %own)
  store ptr %kernel, ptr %own, align 8
  %args3 = getelementptr inbounds nuw i8, ptr %own, i64 8
  store ptr %args, ptr %args3, align 8
  %dims4 = getelementptr inbounds nuw i8, ptr %own, i64 16
  store ptr %dims, ptr %dims4, align 8
  %scratch_bytes5 = getelementptr inbounds nuw i8, ptr %own, i64 24
  store i64 %scratch_bytes, ptr %scratch_bytes5, align 8
  %total6 = getelementptr inbounds nuw i8, ptr %own, i64 32
  store i64 %call, ptr %total6, align 8
  %chunk = getelementptr inbounds nuw i8, ptr %own, i64 40
  store i64 %call, ptr %chunk, align 8
  %next = getelementptr inbounds nuw i8, ptr %own, i64 48
  store i64 0, ptr %next, align 8
  %pending = getelementptr inbounds nuw i8, ptr %own, i64 56
  store i32 0, ptr %pending, align 8
  %status = getelementptr inbounds nuw i8, ptr %own, i64 60
  store i32 0, ptr %status, align 4
  %0 = load i32, ptr @fly.host_pool.workers, align 4
  %tobool = icmp ne i32 %0, 0
  %cmp7 = icmp ne i64 %call, 1
  %or.cond = and i1 %tobool, %cmp7
  br i1 %or.cond, label %land.lhs.true8, label %if.else

land.lhs.true8:                                   ; preds = %if.end
  %1 = cmpxchg ptr @fly.host_pool.busy, i32 0, i32 1 seq_cst seq_cst, align 64
  %2 = extractvalue { i32, i1 } %1, 1
  br i1 %2, label %if.then9, label %if.else

if.then9:                                         ; preds = %land.lhs.true8
  %call10 = call i32 @fly.host_pool.run_on_pool(ptr %call1, ptr nonnull %own)
  store i32 %call10, ptr %status, align 4
  br label %if.end12

if.else:                                          ; preds = %land.lhs.true8, %if.end
  call void @fly.host_pool.run_blocks(ptr nonnull %own)
  br label %if.end12

if.end12:                                         ; preds = %if.else, %if.then9
  %3 = load i32, ptr %status, align 4
  %tobool14.not = icmp eq i32 %3, 0
  br i1 %tobool14.not, label %if.then15, label %if.end17

if.then15:                                        ; preds = %if.end12
  %reason = getelementptr inbounds nuw i8, ptr %call1, i64 40
  %4 = load i32, ptr %reason, align 8
  store i32 %4, ptr %status, align 4
  br label %if.end17

if.end17:                                         ; preds = %if.then15, %if.end12
  call void @fly_launch_end(ptr %call1)
  %5 = load i32, ptr %status, align 4
  call void @llvm.lifetime.end.p0(ptr nonnull %own)
  br label %cleanup

cleanup:                                          ; preds = %entry, %if.end17
  %retval.0 = phi i32 [ %5, %if.end17 ], [ 0, %entry ]
  ret i32 %retval.0
}

define internal i64 @fly.host_pool.block_count(ptr %dims) {
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

define internal i32 @fly.host_pool.run_on_pool(ptr %launch, ptr %wanted) {
entry:
  %total = getelementptr inbounds nuw i8, ptr %wanted, i64 32
  %0 = load i64, ptr %total, align 8
  %1 = load i32, ptr @fly.host_pool.workers, align 4
  %conv = sext i32 %1 to i64
  %mul = shl nsw i64 %conv, 4
  %div = sdiv i64 %0, %mul
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 64 dereferenceable(64) @fly.host_pool.job, ptr nonnull align 8 dereferenceable(64) %wanted, i64 64, i1 false)
  %div. = call i64 @llvm.umax.i64(i64 %div, i64 1)
  store i64 %div., ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.job, i64 40), align 8
  %2 = load i32, ptr @fly.host_pool.workers, align 4
  store i32 %2, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.job, i64 56), align 8
  fence seq_cst
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %i.0 = phi i32 [ 0, %entry ], [ %inc, %for.body ]
  %3 = load i32, ptr @fly.host_pool.workers, align 4
  %cmp = icmp slt i32 %i.0, %3
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %call = call i32 @sem_post(ptr nonnull @fly.host_pool.start)
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  call void @fly.host_pool.run_blocks(ptr nonnull @fly.host_pool.job)
  call void @fly.host_pool.join(ptr %launch)
  %4 = load atomic i32, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.job, i64 60) seq_cst, align 4
  store atomic i32 0, ptr @fly.host_pool.busy seq_cst, align 64
  ret i32 %4
}

define internal void @fly.host_pool.run_blocks(ptr %job) {
entry:
  %scratch_bytes = getelementptr inbounds nuw i8, ptr %job, i64 24
  %0 = load i64, ptr %scratch_bytes, align 8
  %tobool.not = icmp eq i64 %0, 0
  br i1 %tobool.not, label %if.end, label %land.lhs.true

land.lhs.true:                                    ; preds = %entry
  %add = add i64 %0, 127
  %and = and i64 %add, -128
  %call = call ptr @aligned_alloc(i64 128, i64 %and)
  %tobool1.not = icmp eq ptr %call, null
  br i1 %tobool1.not, label %if.then, label %if.end

if.then:                                          ; preds = %land.lhs.true
  %status = getelementptr inbounds nuw i8, ptr %job, i64 60
  store atomic i32 -2, ptr %status seq_cst, align 4
  br label %cleanup.cont32

if.end:                                           ; preds = %land.lhs.true, %entry
  %scratch.0 = phi ptr [ %call, %land.lhs.true ], [ null, %entry ]
  br label %for.cond

for.cond:                                         ; preds = %cleanup, %if.end
  %code.0 = phi i32 [ 0, %if.end ], [ %code.2, %cleanup ]
  %tobool2.not = icmp eq i32 %code.0, 0
  br i1 %tobool2.not, label %for.body, label %for.end28

for.body:                                         ; preds = %for.cond
  %next = getelementptr inbounds nuw i8, ptr %job, i64 48
  %chunk = getelementptr inbounds nuw i8, ptr %job, i64 40
  %1 = load i64, ptr %chunk, align 8
  %2 = atomicrmw add ptr %next, i64 %1 seq_cst, align 8
  %3 = load i64, ptr %chunk, align 8
  %add5 = add nsw i64 %2, %3
  %total = getelementptr inbounds nuw i8, ptr %job, i64 32
  %4 = load i64, ptr %total, align 8
  %cmp.not = icmp slt i64 %2, %4
  br i1 %cmp.not, label %lor.lhs.false, label %for.end28

lor.lhs.false:                                    ; preds = %for.body
  %status6 = getelementptr inbounds nuw i8, ptr %job, i64 60
  %5 = load atomic i32, ptr %status6 seq_cst, align 4
  %tobool8.not = icmp eq i32 %5, 0
  br i1 %tobool8.not, label %for.cond11, label %for.end28

for.cond11:                                       ; preds = %lor.lhs.false, %for.body19
  %code.2 = phi i32 [ %call20, %for.body19 ], [ %code.0, %lor.lhs.false ]
  %n.0 = phi i64 [ %inc, %for.body19 ], [ %2, %lor.lhs.false ]
  %cmp12 = icmp slt i64 %n.0, %add5
  br i1 %cmp12, label %land.lhs.true13, label %for.end

land.lhs.true13:                                  ; preds = %for.cond11
  %6 = load i64, ptr %total, align 8
  %cmp15 = icmp slt i64 %n.0, %6
  %tobool16.not = icmp eq i32 %code.2, 0
  %or.cond = select i1 %cmp15, i1 %tobool16.not, i1 false
  br i1 %or.cond, label %for.body19, label %for.end

for.body19:                                       ; preds = %land.lhs.true13
  %7 = load ptr, ptr %job, align 8
  %args = getelementptr inbounds nuw i8, ptr %job, i64 8
  %8 = load ptr, ptr %args, align 8
  %dims = getelementptr inbounds nuw i8, ptr %job, i64 16
  %9 = load ptr, ptr %dims, align 8
  %call20 = call i32 @fly.host_pool.run_block(ptr %7, ptr %8, ptr %9, ptr %scratch.0, i64 %n.0)
  %inc = add nsw i64 %n.0, 1
  br label %for.cond11

for.end:                                          ; preds = %land.lhs.true13, %for.cond11
  %tobool21.not = icmp eq i32 %code.2, 0
  br i1 %tobool21.not, label %cleanup, label %if.then22

if.then22:                                        ; preds = %for.end
  %10 = cmpxchg ptr %status6, i32 0, i32 %code.2 seq_cst seq_cst, align 4
  br label %cleanup

cleanup:                                          ; preds = %for.end, %if.then22
  br label %for.cond

for.end28:                                        ; preds = %for.body, %lor.lhs.false, %for.cond
  call void @free(ptr %scratch.0)
  br label %cleanup.cont32

cleanup.cont32:                                   ; preds = %if.then, %for.end28
  ret void
}

define void @fly_host_spin(ptr %launch, i32 %site) {
entry:
  %scheduler1 = getelementptr inbounds nuw i8, ptr %launch, i64 48
  %0 = load ptr, ptr %scheduler1, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %cleanup.cont, label %if.end

if.end:                                           ; preds = %entry
  %current = getelementptr inbounds nuw i8, ptr %0, i64 8320
  %1 = load ptr, ptr %current, align 16
  %step = getelementptr inbounds nuw i8, ptr %0, i64 8328
  %2 = load i64, ptr %step, align 8
  %looked = getelementptr inbounds nuw i8, ptr %1, i64 8224
  store i64 %2, ptr %looked, align 16
  %site2 = getelementptr inbounds nuw i8, ptr %1, i64 8232
  store i32 %site, ptr %site2, align 8
  %call = call i32 @swapcontext(ptr %1, ptr nonnull %0)
  br label %cleanup.cont

cleanup.cont:                                     ; preds = %if.end, %entry
  ret void
}

declare i32 @swapcontext(ptr, ptr)

define void @fly_host_step(ptr %launch) {
entry:
  %scheduler1 = getelementptr inbounds nuw i8, ptr %launch, i64 48
  %0 = load ptr, ptr %scheduler1, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %cleanup.cont, label %if.end

if.end:                                           ; preds = %entry
  %step = getelementptr inbounds nuw i8, ptr %0, i64 8328
  %1 = load i64, ptr %step, align 8
  %inc = add i64 %1, 1
  store i64 %inc, ptr %step, align 8
  %random = getelementptr inbounds nuw i8, ptr %0, i64 8336
  %2 = load i64, ptr %random, align 16
  %tobool2.not = icmp eq i64 %2, 0
  br i1 %tobool2.not, label %cleanup.cont, label %land.lhs.true

land.lhs.true:                                    ; preds = %if.end
  %call = call i64 @fly.host_pool.draw(ptr nonnull %0)
  %rem = and i64 %call, 3
  %cmp = icmp eq i64 %rem, 0
  br i1 %cmp, label %if.then3, label %cleanup.cont

if.then3:                                         ; preds = %land.lhs.true
  %current = getelementptr inbounds nuw i8, ptr %0, i64 8320
  %3 = load ptr, ptr %current, align 16
  %call5 = call i32 @swapcontext(ptr %3, ptr nonnull %0)
  br label %cleanup.cont

cleanup.cont:                                     ; preds = %entry, %if.then3, %land.lhs.true, %if.end
  ret void
}

define internal i64 @fly.host_pool.draw(ptr %scheduler) {
entry:
  %random = getelementptr inbounds nuw i8, ptr %scheduler, i64 8336
  %0 = load i64, ptr %random, align 16
  %shl = shl i64 %0, 13
  %xor = xor i64 %0, %shl
  %shr = lshr i64 %xor, 7
  %xor1 = xor i64 %xor, %shr
  %shl2 = shl i64 %xor1, 17
  %xor3 = xor i64 %xor1, %shl2
  store i64 %xor3, ptr %random, align 16
  %mul = mul i64 %xor3, 2685821657736338717
  %shr5 = lshr i64 %mul, 33
  ret i64 %shr5
}

define void @fly_ranks_begin(i32 %count, i64 %seed, i32 %places) {
entry:
  %0 = load ptr, ptr @fly.host_pool.hooks, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  call void %0()
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  store i32 %count, ptr @fly.host_pool.rank_count, align 4
  store i32 0, ptr @fly.host_pool.stopped, align 4
  store i32 0, ptr @fly.host_pool.symmetric_count, align 4
  store i32 %places, ptr @fly.host_pool.capacity, align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.together, i64 8348), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.together, i64 8352), align 16
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.together, i64 8344), align 8
  store i64 1, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.together, i64 8328), align 8
  %tobool1.not = icmp eq i64 %seed, 0
  %mul = mul i64 %seed, -7046029254386353131
  %or = or i64 %mul, 1
  %cond = select i1 %tobool1.not, i64 0, i64 %or
  store i64 %cond, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.together, i64 8336), align 16
  br label %for.cond

for.cond:                                         ; preds = %for.body, %if.end
  %i.0 = phi i32 [ 0, %if.end ], [ %inc, %for.body ]
  %cmp = icmp slt i32 %i.0, %count
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw %struct.Rank, ptr @fly.host_pool.ranks, i64 %idxprom
  %cmp2 = icmp eq i32 %i.0, 0
  %conv = zext i1 %cmp2 to i32
  %call = call i32 @sem_init(ptr nonnull %arrayidx, i32 0, i32 %conv)
  %thread = getelementptr inbounds nuw i8, ptr %arrayidx, i64 64
  store i64 0, ptr %thread, align 16
  %state = getelementptr inbounds nuw i8, ptr %arrayidx, i64 72
  store i32 0, ptr %state, align 8
  %code = getelementptr inbounds nuw i8, ptr %arrayidx, i64 76
  store i32 0, ptr %code, align 4
  %failed = getelementptr inbounds nuw i8, ptr %arrayidx, i64 80
  store i32 0, ptr %failed, align 16
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  ret void
}

declare i32 @sem_init(ptr, i32, i32)

define void @fly_ranks_enter(i32 %rank) {
entry:
  %idxprom = sext i32 %rank to i64
  %arrayidx = getelementptr inbounds %struct.Rank, ptr @fly.host_pool.ranks, i64 %idxprom
  call void @fly.host_pool.take_turn(ptr nonnull %arrayidx)
  %call = call i64 @pthread_self()
  %thread = getelementptr inbounds nuw i8, ptr %arrayidx, i64 64
  store i64 %call, ptr %thread, align 16
  ret void
}

define internal void @fly.host_pool.take_turn(ptr %rank) {
entry:
  br label %while.cond

while.cond:                                       ; preds = %while.cond, %entry
  %call = call i32 @sem_wait(ptr %rank)
  %tobool.not = icmp eq i32 %call, 0
  br i1 %tobool.not, label %while.end, label %while.cond

while.end:                                        ; preds = %while.cond
  ret void
}

define void @fly_ranks_leave(i32 %rank) {
entry:
  %idxprom = sext i32 %rank to i64
  %arrayidx = getelementptr inbounds %struct.Rank, ptr @fly.host_pool.ranks, i64 %idxprom
  %state = getelementptr inbounds nuw i8, ptr %arrayidx, i64 72
  store i32 3, ptr %state, align 8
  call void @fly.host_pool.hand_on()
  ret void
}

define internal void @fly.host_pool.hand_on() {
entry:
  br label %for.cond

for.cond:                                         ; preds = %if.end22, %entry
  br label %for.cond1

for.cond1:                                        ; preds = %for.inc, %for.cond
  %i.0 = phi i32 [ 0, %for.cond ], [ %inc, %for.inc ]
  %0 = load i32, ptr @fly.host_pool.rank_count, align 4
  %cmp = icmp slt i32 %i.0, %0
  br i1 %cmp, label %for.body, label %cleanup

for.body:                                         ; preds = %for.cond1
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw %struct.Rank, ptr @fly.host_pool.ranks, i64 %idxprom
  %state = getelementptr inbounds nuw i8, ptr %arrayidx, i64 72
  %1 = load i32, ptr %state, align 8
  %cmp2 = icmp eq i32 %1, 0
  br i1 %cmp2, label %if.then, label %for.inc

if.then:                                          ; preds = %for.body
  %call = call i32 @sem_post(ptr nonnull %arrayidx)
  br label %cleanup

for.inc:                                          ; preds = %for.body
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond1

cleanup:                                          ; preds = %for.cond1, %if.then
  %cleanup.dest.slot.0 = phi i32 [ 1, %if.then ], [ 4, %for.cond1 ]
  switch i32 %cleanup.dest.slot.0, label %unreachable [
    i32 4, label %for.end
    i32 1, label %return
  ]

for.end:                                          ; preds = %cleanup
  %call5 = call i32 @fly.host_pool.in_state(i32 1)
  %tobool.not = icmp eq i32 %call5, 0
  br i1 %tobool.not, label %if.else, label %if.then6

if.then6:                                         ; preds = %for.end
  %call7 = call i32 @fly.host_pool.run_together(ptr nonnull @fly.host_pool.together)
  %idxprom8 = sext i32 %call7 to i64
  %arrayidx9 = getelementptr inbounds ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.together, i64 8192), i64 %idxprom8
  %2 = load ptr, ptr %arrayidx9, align 8
  %rank = getelementptr inbounds nuw i8, ptr %2, i64 84
  %3 = load i32, ptr %rank, align 4
  %idxprom10 = sext i32 %3 to i64
  %arrayidx11 = getelementptr inbounds %struct.Rank, ptr @fly.host_pool.ranks, i64 %idxprom10
  %state12 = getelementptr inbounds nuw i8, ptr %arrayidx11, i64 72
  store i32 0, ptr %state12, align 8
  %4 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.hooks, i64 16), align 8
  %tobool13.not = icmp eq ptr %4, null
  br i1 %tobool13.not, label %if.end16, label %if.then14

if.then14:                                        ; preds = %if.then6
  %5 = load i32, ptr %rank, align 4
  call void %4(i32 %5)
  br label %if.end16

if.end16:                                         ; preds = %if.then14, %if.then6
  call void @fly.host_pool.forget(ptr nonnull @fly.host_pool.together, i32 %call7)
  br label %if.end22

if.else:                                          ; preds = %for.end
  %call17 = call i32 @fly.host_pool.in_state(i32 2)
  %tobool18.not = icmp eq i32 %call17, 0
  br i1 %tobool18.not, label %return, label %if.then19

if.then19:                                        ; preds = %if.else
  call void @fly.host_pool.end_meeting()
  br label %if.end22

if.end22:                                         ; preds = %if.then19, %if.end16
  br label %for.cond

return:                                           ; preds = %if.else, %cleanup
  ret void

unreachable:                                      ; preds = %cleanup
  unreachable
}

define void @fly_ranks_stop() {
entry:
  store atomic i32 1, ptr @fly.host_pool.stopped monotonic, align 4
  ret void
}

define void @fly_ranks_end() {
entry:
  store i32 0, ptr @fly.host_pool.capacity, align 4
  store i32 0, ptr @fly.host_pool.rank_count, align 4
  ret void
}

define i32 @fly_ranks_meet(i32 %rank) {
entry:
  %idxprom = sext i32 %rank to i64
  %arrayidx = getelementptr inbounds %struct.Rank, ptr @fly.host_pool.ranks, i64 %idxprom
  %state = getelementptr inbounds nuw i8, ptr %arrayidx, i64 72
  store i32 2, ptr %state, align 8
  call void @fly.host_pool.hand_on()
  call void @fly.host_pool.take_turn(ptr nonnull %arrayidx)
  %failed = getelementptr inbounds nuw i8, ptr %arrayidx, i64 80
  %0 = load i32, ptr %failed, align 16
  ret i32 %0
}

define void @fly_ranks_code(i32 %code) {
entry:
  %call = call i32 @fly.host_pool.own_rank()
  %cmp = icmp sgt i32 %call, -1
  br i1 %cmp, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %idxprom = zext nneg i32 %call to i64
  %arrayidx = getelementptr inbounds nuw %struct.Rank, ptr @fly.host_pool.ranks, i64 %idxprom
  %code1 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 76
  store i32 %code, ptr %code1, align 4
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  ret void
}

define internal i32 @fly.host_pool.own_rank() {
entry:
  %call = call i64 @pthread_self()
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %entry
  %i.0 = phi i32 [ 0, %entry ], [ %inc, %for.inc ]
  %0 = load i32, ptr @fly.host_pool.rank_count, align 4
  %cmp.not = icmp slt i32 %i.0, %0
  br i1 %cmp.not, label %for.body, label %cleanup

for.body:                                         ; preds = %for.cond
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw %struct.Rank, ptr @fly.host_pool.ranks, i64 %idxprom
  %thread = getelementptr inbounds nuw i8, ptr %arrayidx, i64 64
  %1 = load i64, ptr %thread, align 16
  %cmp1 = icmp eq i64 %1, %call
  br i1 %cmp1, label %land.lhs.true, label %for.inc

land.lhs.true:                                    ; preds = %for.body
  %state = getelementptr inbounds nuw i8, ptr %arrayidx, i64 72
  %2 = load i32, ptr %state, align 8
  %cmp4.not = icmp eq i32 %2, 3
  br i1 %cmp4.not, label %for.inc, label %cleanup

for.inc:                                          ; preds = %for.body, %land.lhs.true
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond

cleanup:                                          ; preds = %land.lhs.true, %for.cond
  %spec.select = phi i32 [ -1, %for.cond ], [ %i.0, %land.lhs.true ]
  ret i32 %spec.select
}

define void @fly_ranks_memory(i64 %low, i64 %bytes) {
entry:
  %0 = load i32, ptr @fly.host_pool.symmetric_count, align 4
  %cmp = icmp slt i32 %0, 1024
  br i1 %cmp, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %idxprom = sext i32 %0 to i64
  %arrayidx = getelementptr inbounds %struct.anon, ptr @fly.host_pool.symmetric, i64 %idxprom
  store i64 %low, ptr %arrayidx, align 16
  %add = add i64 %low, %bytes
  %1 = load i32, ptr @fly.host_pool.symmetric_count, align 4
  %inc = add nsw i32 %1, 1
  store i32 %inc, ptr @fly.host_pool.symmetric_count, align 4
  %idxprom2 = sext i32 %1 to i64
  %arrayidx3 = getelementptr inbounds %struct.anon, ptr @fly.host_pool.symmetric, i64 %idxprom2
  %end = getelementptr inbounds nuw i8, ptr %arrayidx3, i64 8
  store i64 %add, ptr %end, align 8
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  ret void
}

define i1 @fly_ranks_share(i64 %address) {
entry:
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %entry
  %i.0 = phi i32 [ 0, %entry ], [ %inc, %for.inc ]
  %0 = load i32, ptr @fly.host_pool.symmetric_count, align 4
  %cmp.not = icmp slt i32 %i.0, %0
  br i1 %cmp.not, label %for.body, label %cleanup

for.body:                                         ; preds = %for.cond
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw %struct.anon, ptr @fly.host_pool.symmetric, i64 %idxprom
  %1 = load i64, ptr %arrayidx, align 16
  %cmp1.not = icmp ult i64 %address, %1
  br i1 %cmp1.not, label %for.inc, label %land.lhs.true

land.lhs.true:                                    ; preds = %for.body
  %end = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %2 = load i64, ptr %end, align 8
  %cmp4 = icmp ult i64 %address, %2
  br i1 %cmp4, label %cleanup, label %for.inc

for.inc:                                          ; preds = %for.body, %land.lhs.true
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond

cleanup:                                          ; preds = %land.lhs.true, %for.cond
  ret i1 %cmp.not
}

define ptr @fly_ranks_waiting() {
entry:
  ret ptr @fly.host_pool.waiting
}

define void @fly_ranks_hooks(ptr %functions) {
entry:
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(32) @fly.host_pool.hooks, ptr nonnull align 8 dereferenceable(32) %functions, i64 32, i1 false)
  ret void
}

define void @fly_ranks_outside(i32 %count, ptr %handles, ptr %numbers, i64 %limit) {
entry:
  store i32 %count, ptr @fly.host_pool.outside, align 16
  store i64 %limit, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.outside, i64 8), align 8
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %i.0 = phi i32 [ 0, %entry ], [ %inc, %for.body ]
  %cmp = icmp slt i32 %i.0, %count
  %cmp1 = icmp samesign ult i32 %i.0, 16
  %spec.select = select i1 %cmp, i1 %cmp1, i1 false
  br i1 %spec.select, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw i32, ptr %handles, i64 %idxprom
  %0 = load i32, ptr %arrayidx, align 4
  %arrayidx3 = getelementptr inbounds nuw i32, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.outside, i64 16), i64 %idxprom
  store i32 %0, ptr %arrayidx3, align 4
  %arrayidx5 = getelementptr inbounds nuw i32, ptr %numbers, i64 %idxprom
  %1 = load i32, ptr %arrayidx5, align 4
  %arrayidx7 = getelementptr inbounds nuw i32, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.outside, i64 80), i64 %idxprom
  store i32 %1, ptr %arrayidx7, align 4
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  ret void
}

define i1 @fly_ranks_here(ptr %who) {
entry:
  %0 = load ptr, ptr @fly.host_pool.running, align 8
  %tobool.not = icmp ne ptr %0, null
  br i1 %tobool.not, label %if.end, label %return

if.end:                                           ; preds = %entry
  %current = getelementptr inbounds nuw i8, ptr %0, i64 8320
  %1 = load ptr, ptr %current, align 16
  %of = getelementptr inbounds nuw i8, ptr %1, i64 8192
  %2 = load ptr, ptr %of, align 16
  %rank = getelementptr inbounds nuw i8, ptr %2, i64 84
  %3 = load i32, ptr %rank, align 4
  %conv = sext i32 %3 to i64
  store i64 %conv, ptr %who, align 8
  %4 = load ptr, ptr @fly.host_pool.running, align 8
  %current1 = getelementptr inbounds nuw i8, ptr %4, i64 8320
  %5 = load ptr, ptr %current1, align 16
  %block = getelementptr inbounds nuw i8, ptr %5, i64 8200
  %6 = load i64, ptr %block, align 8
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %who, i64 8
  store i64 %6, ptr %arrayidx2, align 8
  %7 = load ptr, ptr @fly.host_pool.running, align 8
  %current3 = getelementptr inbounds nuw i8, ptr %7, i64 8320
  %8 = load ptr, ptr %current3, align 16
  %of4 = getelementptr inbounds nuw i8, ptr %8, i64 8192
  %9 = load ptr, ptr %of4, align 16
  %code = getelementptr inbounds nuw i8, ptr %9, i64 88
  %10 = load i32, ptr %code, align 8
  %conv5 = sext i32 %10 to i64
  %arrayidx6 = getelementptr inbounds nuw i8, ptr %who, i64 16
  store i64 %conv5, ptr %arrayidx6, align 8
  br label %return

return:                                           ; preds = %entry, %if.end
  ret i1 %tobool.not
}

define i32 @fly_resident_launch(ptr %kernel, ptr %args, ptr %dims, i64 %scratch_bytes, i32 %certain) {
entry:
  %alone = alloca %struct.Scheduler, align 16
  %resident = alloca %struct.Resident, align 8
  %call = call i32 @fly.host_pool.own_rank()
  call void @llvm.lifetime.start.p0(ptr nonnull %alone)
  %cmp = icmp sgt i32 %call, -1
  %alone.together = select i1 %cmp, ptr @fly.host_pool.together, ptr %alone
  call void @llvm.lifetime.start.p0(ptr nonnull %resident)
  store ptr %kernel, ptr %resident, align 8
  %args2 = getelementptr inbounds nuw i8, ptr %resident, i64 8
  store ptr %args, ptr %args2, align 8
  %dims3 = getelementptr inbounds nuw i8, ptr %resident, i64 16
  store ptr %dims, ptr %dims3, align 8
  %launch = getelementptr inbounds nuw i8, ptr %resident, i64 24
  store ptr null, ptr %launch, align 8
  %fibers = getelementptr inbounds nuw i8, ptr %resident, i64 32
  store ptr null, ptr %fibers, align 8
  %memory = getelementptr inbounds nuw i8, ptr %resident, i64 40
  store ptr null, ptr %memory, align 8
  %places = getelementptr inbounds nuw i8, ptr %resident, i64 48
  store i64 0, ptr %places, align 8
  %total = getelementptr inbounds nuw i8, ptr %resident, i64 56
  %call4 = call i64 @fly.host_pool.block_count(ptr %dims)
  store i64 %call4, ptr %total, align 8
  %next = getelementptr inbounds nuw i8, ptr %resident, i64 64
  store i64 0, ptr %next, align 8
  %ended = getelementptr inbounds nuw i8, ptr %resident, i64 72
  store i64 0, ptr %ended, align 8
  %status = getelementptr inbounds nuw i8, ptr %resident, i64 80
  store i32 0, ptr %status, align 8
  %rank5 = getelementptr inbounds nuw i8, ptr %resident, i64 84
  store i32 %call, ptr %rank5, align 4
  %code = getelementptr inbounds nuw i8, ptr %resident, i64 88
  store i32 0, ptr %code, align 8
  %0 = getelementptr inbounds nuw i8, ptr %resident, i64 92
  store i32 0, ptr %0, align 4
  %tobool = icmp ne i32 %certain, 0
  %or.cond = select i1 %cmp, i1 true, i1 %tobool
  br i1 %or.cond, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  %call7 = call i32 @fly_host_launch(ptr %kernel, ptr %args, ptr %dims, i64 %scratch_bytes)
  br label %cleanup

if.end:                                           ; preds = %entry
  %1 = load i64, ptr %total, align 8
  %cmp9 = icmp slt i64 %1, 1
  br i1 %cmp9, label %cleanup, label %if.end11

if.end11:                                         ; preds = %if.end
  %call12 = call i1 @fly.host_pool.make_resident(ptr nonnull %resident, i64 %scratch_bytes)
  br i1 %call12, label %if.end16, label %if.then13

if.then13:                                        ; preds = %if.end11
  %2 = load ptr, ptr %memory, align 8
  call void @free(ptr %2)
  %3 = load ptr, ptr %fibers, align 8
  call void @free(ptr %3)
  br label %cleanup

if.end16:                                         ; preds = %if.end11
  %call17 = call ptr @fly_launch_begin(ptr %dims)
  store ptr %call17, ptr %launch, align 8
  %scheduler20 = getelementptr inbounds nuw i8, ptr %call17, i64 48
  store ptr %alone.together, ptr %scheduler20, align 8
  br i1 %cmp, label %if.end25, label %if.then22

if.then22:                                        ; preds = %if.end16
  %count = getelementptr inbounds nuw i8, ptr %alone, i64 8344
  store i32 1, ptr %count, align 8
  %residents = getelementptr inbounds nuw i8, ptr %alone, i64 8192
  store ptr %resident, ptr %residents, align 16
  %current = getelementptr inbounds nuw i8, ptr %alone, i64 8320
  store ptr null, ptr %current, align 16
  %step = getelementptr inbounds nuw i8, ptr %alone, i64 8328
  store i64 1, ptr %step, align 8
  %random = getelementptr inbounds nuw i8, ptr %alone, i64 8336
  store i64 0, ptr %random, align 16
  %slow = getelementptr inbounds nuw i8, ptr %alone, i64 8348
  store i32 0, ptr %slow, align 4
  %turns = getelementptr inbounds nuw i8, ptr %alone, i64 8352
  store i32 0, ptr %turns, align 16
  %call23 = call i32 @fly.host_pool.run_together(ptr nonnull %alone)
  call void @fly.host_pool.forget(ptr nonnull %alone, i32 %call23)
  %4 = load i32, ptr %status, align 8
  br label %cleanup

if.end25:                                         ; preds = %if.end16
  %idxprom = zext nneg i32 %call to i64
  %arrayidx26 = getelementptr inbounds nuw %struct.Rank, ptr @fly.host_pool.ranks, i64 %idxprom
  %code27 = getelementptr inbounds nuw i8, ptr %arrayidx26, i64 76
  %5 = load i32, ptr %code27, align 4
  store i32 %5, ptr %code, align 8
  %6 = load i32, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.together, i64 8344), align 8
  %inc = add nsw i32 %6, 1
  store i32 %inc, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.together, i64 8344), align 8
  %idxprom29 = sext i32 %6 to i64
  %arrayidx30 = getelementptr inbounds ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.together, i64 8192), i64 %idxprom29
  store ptr %resident, ptr %arrayidx30, align 8
  %state = getelementptr inbounds nuw i8, ptr %arrayidx26, i64 72
  store i32 1, ptr %state, align 8
  %7 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.hooks, i64 8), align 8
  %tobool33.not = icmp eq ptr %7, null
  br i1 %tobool33.not, label %if.end35, label %if.then34

if.then34:                                        ; preds = %if.end25
  call void %7(i32 %call)
  br label %if.end35

if.end35:                                         ; preds = %if.then34, %if.end25
  call void @fly.host_pool.hand_on()
  call void @fly.host_pool.take_turn(ptr nonnull %arrayidx26)
  %8 = load i32, ptr %status, align 8
  br label %cleanup

cleanup:                                          ; preds = %if.end, %if.end35, %if.then22, %if.then13, %if.then
  %retval.0 = phi i32 [ %call7, %if.then ], [ %4, %if.then22 ], [ %8, %if.end35 ], [ -2, %if.then13 ], [ 0, %if.end ]
  call void @llvm.lifetime.end.p0(ptr nonnull %resident)
  call void @llvm.lifetime.end.p0(ptr nonnull %alone)
  ret i32 %retval.0
}

define internal i1 @fly.host_pool.make_resident(ptr %resident, i64 %scratch_bytes) {
entry:
  %add = add i64 %scratch_bytes, 255
  %and = and i64 %add, -128
  %0 = load i32, ptr @fly.host_pool.capacity, align 4
  %tobool.not = icmp eq i32 %0, 0
  br i1 %tobool.not, label %cond.false, label %land.lhs.true

land.lhs.true:                                    ; preds = %entry
  %conv = sext i32 %0 to i64
  %total = getelementptr inbounds nuw i8, ptr %resident, i64 56
  %1 = load i64, ptr %total, align 8
  %cmp = icmp sgt i64 %1, %conv
  br i1 %cmp, label %cond.end, label %cond.false

cond.false:                                       ; preds = %land.lhs.true, %entry
  %total4 = getelementptr inbounds nuw i8, ptr %resident, i64 56
  %2 = load i64, ptr %total4, align 8
  br label %cond.end

cond.end:                                         ; preds = %land.lhs.true, %cond.false
  %cond = phi i64 [ %2, %cond.false ], [ %conv, %land.lhs.true ]
  %add5 = add i64 %and, 532863
  %and6 = and i64 %add5, -128
  %mul = mul i64 %cond, %and6
  %call = call ptr @aligned_alloc(i64 128, i64 %mul)
  %memory = getelementptr inbounds nuw i8, ptr %resident, i64 40
  store ptr %call, ptr %memory, align 8
  %mul7 = mul i64 %cond, 8240
  %add8 = add i64 %mul7, 127
  %and9 = and i64 %add8, -128
  %call10 = call ptr @aligned_alloc(i64 128, i64 %and9)
  %fibers = getelementptr inbounds nuw i8, ptr %resident, i64 32
  store ptr %call10, ptr %fibers, align 8
  %3 = load ptr, ptr %memory, align 8
  %tobool12 = icmp ne ptr %3, null
  %tobool14 = icmp ne ptr %call10, null
  %or.cond = select i1 %tobool12, i1 %tobool14, i1 false
  br i1 %or.cond, label %if.end, label %cleanup

if.end:                                           ; preds = %cond.end
  %next = getelementptr inbounds nuw i8, ptr %resident, i64 64
  store i64 %cond, ptr %next, align 8
  %places15 = getelementptr inbounds nuw i8, ptr %resident, i64 48
  store i64 %cond, ptr %places15, align 8
  br label %for.cond

for.cond:                                         ; preds = %for.body, %if.end
  %i.0 = phi i64 [ 0, %if.end ], [ %inc, %for.body ]
  %cmp16 = icmp slt i64 %i.0, %cond
  br i1 %cmp16, label %for.body, label %cleanup

for.body:                                         ; preds = %for.cond
  %4 = load ptr, ptr %fibers, align 8
  %arrayidx = getelementptr inbounds nuw %struct.Fiber, ptr %4, i64 %i.0
  %of = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8192
  store ptr %resident, ptr %of, align 16
  %5 = load ptr, ptr %memory, align 8
  %mul22 = mul i64 %i.0, %and6
  %add.ptr = getelementptr inbounds nuw i8, ptr %5, i64 %mul22
  %stack = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8216
  store ptr %add.ptr, ptr %stack, align 8
  %add.ptr24 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 524288
  %scratch25 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8208
  store ptr %add.ptr24, ptr %scratch25, align 16
  call void @fly.host_pool.begin_block(ptr %arrayidx, i64 %i.0)
  %inc = add nuw nsw i64 %i.0, 1
  br label %for.cond

cleanup:                                          ; preds = %for.cond, %cond.end
  ret i1 %or.cond
}

declare void @free(ptr)

define internal void @fly.host_pool.forget(ptr %scheduler, i32 %index) {
entry:
  %residents = getelementptr inbounds nuw i8, ptr %scheduler, i64 8192
  %idxprom = sext i32 %index to i64
  %arrayidx = getelementptr inbounds ptr, ptr %residents, i64 %idxprom
  %0 = load ptr, ptr %arrayidx, align 8
  %count = getelementptr inbounds nuw i8, ptr %scheduler, i64 8344
  %1 = load i32, ptr %count, align 8
  %dec = add nsw i32 %1, -1
  store i32 %dec, ptr %count, align 8
  %idxprom2 = sext i32 %dec to i64
  %arrayidx3 = getelementptr inbounds ptr, ptr %residents, i64 %idxprom2
  %2 = load ptr, ptr %arrayidx3, align 8
  store ptr %2, ptr %arrayidx, align 8
  %launch = getelementptr inbounds nuw i8, ptr %0, i64 24
  %3 = load ptr, ptr %launch, align 8
  call void @fly_launch_end(ptr %3)
  %memory = getelementptr inbounds nuw i8, ptr %0, i64 40
  %4 = load ptr, ptr %memory, align 8
  call void @free(ptr %4)
  %fibers = getelementptr inbounds nuw i8, ptr %0, i64 32
  %5 = load ptr, ptr %fibers, align 8
  call void @free(ptr %5)
  ret void
}

define internal i32 @fly.host_pool.run_together(ptr %scheduler) {
entry:
  %since = alloca i64, align 8
  %naps = alloca i64, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %since)
  store i64 0, ptr %since, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %naps)
  store i64 0, ptr %naps, align 8
  br label %for.cond

for.cond:                                         ; preds = %cleanup35, %entry
  %retval.0 = phi i32 [ undef, %entry ], [ %retval.5, %cleanup35 ]
  br label %for.cond1

for.cond1:                                        ; preds = %for.inc, %for.cond
  %i.0 = phi i32 [ 0, %for.cond ], [ %inc, %for.inc ]
  %retval.1 = phi i32 [ %retval.0, %for.cond ], [ %retval.3, %for.inc ]
  %count = getelementptr inbounds nuw i8, ptr %scheduler, i64 8344
  %0 = load i32, ptr %count, align 8
  %cmp.not = icmp slt i32 %i.0, %0
  br i1 %cmp.not, label %for.body, label %cleanup14

for.body:                                         ; preds = %for.cond1
  %residents = getelementptr inbounds nuw i8, ptr %scheduler, i64 8192
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw ptr, ptr %residents, i64 %idxprom
  %1 = load ptr, ptr %arrayidx, align 8
  %launch2 = getelementptr inbounds nuw i8, ptr %1, i64 24
  %2 = load ptr, ptr %launch2, align 8
  %3 = load volatile i32, ptr %2, align 8
  %tobool.not = icmp eq i32 %3, 0
  br i1 %tobool.not, label %if.end, label %land.lhs.true

land.lhs.true:                                    ; preds = %for.body
  %status = getelementptr inbounds nuw i8, ptr %1, i64 80
  %4 = load i32, ptr %status, align 8
  %tobool3.not = icmp eq i32 %4, 0
  br i1 %tobool3.not, label %if.then, label %if.end

if.then:                                          ; preds = %land.lhs.true
  %current = getelementptr inbounds nuw i8, ptr %scheduler, i64 8320
  %5 = load ptr, ptr %current, align 16
  %tobool4.not = icmp eq ptr %5, null
  br i1 %tobool4.not, label %cond.end, label %cond.true

cond.true:                                        ; preds = %if.then
  %site6 = getelementptr inbounds nuw i8, ptr %5, i64 8232
  %6 = load i32, ptr %site6, align 8
  br label %cond.end

cond.end:                                         ; preds = %if.then, %cond.true
  %cond = phi i32 [ %6, %cond.true ], [ 0, %if.then ]
  %call = call i32 @fly.host_pool.check_in(ptr nonnull %2, i32 %cond)
  store i32 %call, ptr %status, align 8
  br label %if.end

if.end:                                           ; preds = %cond.end, %land.lhs.true, %for.body
  %status8 = getelementptr inbounds nuw i8, ptr %1, i64 80
  %7 = load i32, ptr %status8, align 8
  %tobool9.not = icmp eq i32 %7, 0
  br i1 %tobool9.not, label %lor.lhs.false, label %cleanup

lor.lhs.false:                                    ; preds = %if.end
  %ended = getelementptr inbounds nuw i8, ptr %1, i64 72
  %8 = load i64, ptr %ended, align 8
  %total = getelementptr inbounds nuw i8, ptr %1, i64 56
  %9 = load i64, ptr %total, align 8
  %cmp10 = icmp ne i64 %8, %9
  %spec.select26 = select i1 %cmp10, i32 %retval.1, i32 %i.0
  br label %cleanup

cleanup:                                          ; preds = %lor.lhs.false, %if.end
  %cleanup.dest.slot.1 = phi i1 [ false, %if.end ], [ %cmp10, %lor.lhs.false ]
  %retval.3 = phi i32 [ %i.0, %if.end ], [ %spec.select26, %lor.lhs.false ]
  br i1 %cleanup.dest.slot.1, label %for.inc, label %cleanup14

for.inc:                                          ; preds = %cleanup
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond1

cleanup14:                                        ; preds = %for.cond1, %cleanup
  %retval.2 = phi i32 [ %retval.3, %cleanup ], [ %retval.1, %for.cond1 ]
  br i1 %cmp.not, label %cleanup38, label %for.end

for.end:                                          ; preds = %cleanup14
  %cmp16 = icmp eq ptr %scheduler, @fly.host_pool.together
  br i1 %cmp16, label %land.lhs.true17, label %if.end20

land.lhs.true17:                                  ; preds = %for.end
  %10 = load atomic i32, ptr @fly.host_pool.stopped monotonic, align 4
  %tobool18.not = icmp eq i32 %10, 0
  br i1 %tobool18.not, label %if.end20, label %if.then19

if.then19:                                        ; preds = %land.lhs.true17
  call void @fly.host_pool.give_up(ptr %scheduler, i32 50331648)
  br label %cleanup38

if.end20:                                         ; preds = %land.lhs.true17, %for.end
  %call21 = call ptr @fly.host_pool.choose(ptr %scheduler)
  %tobool22.not = icmp eq ptr %call21, null
  br i1 %tobool22.not, label %if.else, label %if.then23

if.then23:                                        ; preds = %if.end20
  %step24 = getelementptr inbounds nuw i8, ptr %scheduler, i64 8328
  %11 = load i64, ptr %step24, align 8
  call void @fly.host_pool.run_fiber(ptr %scheduler, ptr nonnull %call21)
  %12 = load i64, ptr %step24, align 8
  %cmp26 = icmp eq i64 %12, %11
  %13 = load i64, ptr %naps, align 8
  %cond30 = select i1 %cmp26, i64 %13, i64 0
  store i64 %cond30, ptr %naps, align 8
  br label %if.end34

if.else:                                          ; preds = %if.end20
  %call31 = call i1 @fly.host_pool.in_vain(ptr %scheduler, ptr nonnull %since, ptr nonnull %naps)
  br i1 %call31, label %cleanup35, label %if.end34

if.end34:                                         ; preds = %if.else, %if.then23
  br label %cleanup35

cleanup35:                                        ; preds = %if.else, %if.end34
  %cond24 = phi i1 [ true, %if.end34 ], [ false, %if.else ]
  %retval.5 = phi i32 [ %retval.2, %if.end34 ], [ 0, %if.else ]
  br i1 %cond24, label %for.cond, label %cleanup38

cleanup38:                                        ; preds = %cleanup35, %cleanup14, %if.then19
  %retval.4 = phi i32 [ %retval.2, %cleanup14 ], [ 0, %if.then19 ], [ %retval.5, %cleanup35 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %naps)
  call void @llvm.lifetime.end.p0(ptr nonnull %since)
  ret i32 %retval.4
}

define i32 @fly_pool_start(i32 %wanted) {
entry:
  store i32 0, ptr @fly.host_pool.busy, align 64
  store i32 0, ptr @fly.host_pool.workers, align 4
  store i32 0, ptr @fly.host_pool.asleep, align 4
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %i.0 = phi i32 [ 0, %entry ], [ %inc, %for.body ]
  %cmp = icmp samesign ult i32 %i.0, 32
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw %struct.Launch, ptr @fly.host_pool.launches, i64 %idxprom
  %taken = getelementptr inbounds nuw i8, ptr %arrayidx, i64 4
  store i32 0, ptr %taken, align 4
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  %call = call i32 @sem_init(ptr nonnull @fly.host_pool.start, i32 0, i32 0)
  %call1 = call i32 @sem_init(ptr nonnull @fly.host_pool.done, i32 0, i32 0)
  %call2 = call i32 @sem_init(ptr nonnull @fly.host_pool.wake, i32 0, i32 0)
  br label %while.cond

while.cond:                                       ; preds = %while.body, %for.end
  %started.0 = phi i32 [ 0, %for.end ], [ %inc5, %while.body ]
  %cmp3 = icmp slt i32 %started.0, %wanted
  br i1 %cmp3, label %land.rhs, label %while.end

land.rhs:                                         ; preds = %while.cond
  %call4 = call i1 @fly.host_pool.start_thread(ptr nonnull @fly.host_pool.worker)
  br i1 %call4, label %while.body, label %while.end

while.body:                                       ; preds = %land.rhs
  %inc5 = add nuw nsw i32 %started.0, 1
  br label %while.cond

while.end:                                        ; preds = %while.cond, %land.rhs
  %call6 = call i1 @fly.host_pool.start_thread(ptr nonnull @fly.host_pool.watchman)
  store i32 %started.0, ptr @fly.host_pool.workers, align 4
  ret i32 %started.0
}

define internal i1 @fly.host_pool.start_thread(ptr %function) {
entry:
  %thread = alloca i64, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %thread)
  %call = call i32 @pthread_create(ptr nonnull %thread, ptr null, ptr %function, ptr null)
  %tobool.not = icmp eq i32 %call, 0
  br i1 %tobool.not, label %land.rhs, label %land.end

land.rhs:                                         ; preds = %entry
  %0 = load i64, ptr %thread, align 8
  %call1 = call i32 @pthread_detach(i64 %0)
  %tobool2.not = icmp eq i32 %call1, 0
  br label %land.end

land.end:                                         ; preds = %land.rhs, %entry
  %1 = phi i1 [ false, %entry ], [ %tobool2.not, %land.rhs ]
  call void @llvm.lifetime.end.p0(ptr nonnull %thread)
  ret i1 %1
}

define internal ptr @fly.host_pool.worker(ptr %unused) {
entry:
  br label %for.cond

for.cond:                                         ; preds = %if.end, %entry
  br label %while.cond

while.cond:                                       ; preds = %while.cond, %for.cond
  %call = call i32 @sem_wait(ptr nonnull @fly.host_pool.start)
  %tobool.not = icmp eq i32 %call, 0
  br i1 %tobool.not, label %while.end, label %while.cond

while.end:                                        ; preds = %while.cond
  call void @fly.host_pool.run_blocks(ptr nonnull @fly.host_pool.job)
  %0 = atomicrmw sub ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.job, i64 56), i32 1 seq_cst, align 8
  %cmp = icmp eq i32 %0, 1
  br i1 %cmp, label %if.then, label %if.end

if.then:                                          ; preds = %while.end
  %call1 = call i32 @sem_post(ptr nonnull @fly.host_pool.done)
  br label %if.end

if.end:                                           ; preds = %if.then, %while.end
  br label %for.cond
}

define internal ptr @fly.host_pool.watchman(ptr %unused) {
entry:
  %since = alloca [32 x i64], align 16
  %seen = alloca [32 x i64], align 16
  %beat = alloca %struct.Time, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %since)
  call void @llvm.memset.p0.i64(ptr nonnull align 16 dereferenceable(256) %since, i8 0, i64 256, i1 false)
  call void @llvm.lifetime.start.p0(ptr nonnull %seen)
  call void @llvm.memset.p0.i64(ptr nonnull align 16 dereferenceable(256) %seen, i8 0, i64 256, i1 false)
  call void @llvm.lifetime.start.p0(ptr nonnull %beat)
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(16) %beat, ptr nonnull align 8 dereferenceable(16) @fly.host_pool.__const.watchman.beat, i64 16, i1 false)
  br label %for.cond

for.cond:                                         ; preds = %if.end14, %entry
  %quiet.0 = phi i32 [ 0, %entry ], [ %inc, %if.end14 ]
  %call = call i1 @fly.host_pool.look_around(ptr nonnull %since, ptr nonnull %seen)
  %spec.select = select i1 %call, i32 0, i32 %quiet.0
  %cmp = icmp ugt i32 %spec.select, 49
  br i1 %cmp, label %if.then2, label %if.end14

if.then2:                                         ; preds = %for.cond
  store atomic i32 1, ptr @fly.host_pool.asleep seq_cst, align 4
  %call5 = call i1 @fly.host_pool.look_around(ptr nonnull %since, ptr nonnull %seen)
  br i1 %call5, label %if.then6, label %while.cond

if.then6:                                         ; preds = %if.then2
  %0 = atomicrmw xchg ptr @fly.host_pool.asleep, i32 0 seq_cst, align 4
  %cmp8 = icmp eq i32 %0, 0
  br i1 %cmp8, label %if.then9, label %if.end14

if.then9:                                         ; preds = %if.then6
  %call10 = call i32 @sem_wait(ptr nonnull @fly.host_pool.wake)
  br label %if.end14

while.cond:                                       ; preds = %while.cond, %if.then2
  %call12 = call i32 @sem_wait(ptr nonnull @fly.host_pool.wake)
  %tobool.not = icmp eq i32 %call12, 0
  br i1 %tobool.not, label %if.end14, label %while.cond

if.end14:                                         ; preds = %if.then9, %if.then6, %while.cond, %for.cond
  %quiet.2 = phi i32 [ %spec.select, %for.cond ], [ 0, %while.cond ], [ 0, %if.then6 ], [ 0, %if.then9 ]
  %call15 = call i32 @nanosleep(ptr nonnull %beat, ptr null)
  %inc = add nuw nsw i32 %quiet.2, 1
  br label %for.cond
}

define ptr @fly_pool_watch_signals(ptr %functions, i64 %main_thread) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %functions, i64 8
  %0 = load ptr, ptr %arrayidx, align 8
  store ptr %0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.python, i64 8), align 8
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %functions, i64 16
  %1 = load ptr, ptr %arrayidx1, align 8
  store ptr %1, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.python, i64 16), align 8
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %functions, i64 24
  %2 = load ptr, ptr %arrayidx2, align 8
  store ptr %2, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.python, i64 24), align 8
  store i64 %main_thread, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.python, i64 32), align 8
  %3 = load ptr, ptr %functions, align 8
  store ptr %3, ptr @fly.host_pool.python, align 8
  ret ptr @fly.host_pool.raised
}

define void @fly_pool_limit(i64 %nanoseconds) {
entry:
  store atomic i64 %nanoseconds, ptr @fly.host_pool.time_limit monotonic, align 8
  ret void
}

define internal i1 @fly.host_pool.signalled() {
entry:
  %0 = load ptr, ptr @fly.host_pool.python, align 8
  %call = call i32 %0()
  %1 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.python, i64 16), align 8
  %call1 = call i32 %1()
  %cmp = icmp ne i32 %call1, 0
  br i1 %cmp, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %2 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.python, i64 24), align 8
  call void %2(ptr nonnull @fly.host_pool.raised, ptr nonnull getelementptr inbounds nuw (i8, ptr @fly.host_pool.raised, i64 8), ptr nonnull getelementptr inbounds nuw (i8, ptr @fly.host_pool.raised, i64 16))
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  %3 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.python, i64 8), align 8
  call void %3(i32 %call)
  ret i1 %cmp
}

define internal void @fly.host_pool.join(ptr %launch) {
entry:
  %time = alloca %struct.Time, align 8
  br label %for.cond

for.cond:                                         ; preds = %cleanup, %entry
  %call = call i64 @fly.host_pool.now(i32 0)
  %add = add i64 %call, 20000000
  call void @llvm.lifetime.start.p0(ptr nonnull %time)
  %div = udiv i64 %add, 1000000000
  store i64 %div, ptr %time, align 8
  %nanoseconds = getelementptr inbounds nuw i8, ptr %time, i64 8
  %rem = urem i64 %add, 1000000000
  store i64 %rem, ptr %nanoseconds, align 8
  %call1 = call i32 @sem_timedwait(ptr nonnull @fly.host_pool.done, ptr nonnull %time)
  %tobool.not = icmp eq i32 %call1, 0
  br i1 %tobool.not, label %cleanup, label %if.end

if.end:                                           ; preds = %for.cond
  %0 = load volatile i32, ptr %launch, align 8
  %tobool2.not = icmp eq i32 %0, 0
  br i1 %tobool2.not, label %cleanup, label %if.then3

if.then3:                                         ; preds = %if.end
  %call4 = call i32 @fly.host_pool.check_in(ptr nonnull %launch, i32 0)
  br label %cleanup

cleanup:                                          ; preds = %if.end, %if.then3, %for.cond
  call void @llvm.lifetime.end.p0(ptr nonnull %time)
  switch i1 %tobool.not, label %unreachable [
    i1 false, label %for.cond
    i1 true, label %return
  ]

return:                                           ; preds = %cleanup
  ret void

unreachable:                                      ; preds = %cleanup
  unreachable
}

define internal i64 @fly.host_pool.now(i32 %clock) {
entry:
  %time = alloca %struct.Time, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %time)
  %call = call i32 @clock_gettime(i32 %clock, ptr nonnull %time)
  %0 = load i64, ptr %time, align 8
  %mul = mul i64 %0, 1000000000
  %nanoseconds = getelementptr inbounds nuw i8, ptr %time, i64 8
  %1 = load i64, ptr %nanoseconds, align 8
  %add = add i64 %mul, %1
  call void @llvm.lifetime.end.p0(ptr nonnull %time)
  ret i64 %add
}

declare i32 @sem_timedwait(ptr, ptr)

declare i32 @clock_gettime(i32, ptr)

declare ptr @aligned_alloc(i64, i64)

define internal i32 @fly.host_pool.run_block(ptr %kernel, ptr %args, ptr %dims, ptr %scratch, i64 %number) {
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

declare i32 @sem_wait(ptr)

define internal i32 @fly.host_pool.in_state(i32 %state) {
entry:
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %found.0 = phi i32 [ 0, %entry ], [ %add, %for.body ]
  %i.0 = phi i32 [ 0, %entry ], [ %inc, %for.body ]
  %0 = load i32, ptr @fly.host_pool.rank_count, align 4
  %cmp = icmp slt i32 %i.0, %0
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw %struct.Rank, ptr @fly.host_pool.ranks, i64 %idxprom
  %state1 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 72
  %1 = load i32, ptr %state1, align 8
  %cmp2 = icmp eq i32 %1, %state
  %conv = zext i1 %cmp2 to i32
  %add = add nuw nsw i32 %found.0, %conv
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  ret i32 %found.0
}

define internal void @fly.host_pool.end_meeting() {
entry:
  %call = call i32 @fly.host_pool.in_state(i32 3)
  %cmp = icmp sgt i32 %call, 0
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %entry
  %i.0 = phi i32 [ 0, %entry ], [ %inc, %for.inc ]
  %0 = load i32, ptr @fly.host_pool.rank_count, align 4
  %cmp1 = icmp slt i32 %i.0, %0
  br i1 %cmp1, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw %struct.Rank, ptr @fly.host_pool.ranks, i64 %idxprom
  %state = getelementptr inbounds nuw i8, ptr %arrayidx, i64 72
  %1 = load i32, ptr %state, align 8
  %cmp2 = icmp eq i32 %1, 2
  br i1 %cmp2, label %if.then, label %for.inc

if.then:                                          ; preds = %for.body
  store i32 0, ptr %state, align 8
  %conv = zext i1 %cmp to i32
  %failed8 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 80
  store i32 %conv, ptr %failed8, align 16
  br label %for.inc

for.inc:                                          ; preds = %for.body, %if.then
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  br i1 %cmp, label %if.end11, label %land.lhs.true

land.lhs.true:                                    ; preds = %for.end
  %2 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.hooks, i64 24), align 8
  %tobool.not = icmp eq ptr %2, null
  br i1 %tobool.not, label %if.end11, label %if.then10

if.then10:                                        ; preds = %land.lhs.true
  call void %2()
  br label %if.end11

if.end11:                                         ; preds = %if.then10, %land.lhs.true, %for.end
  ret void
}

define internal void @fly.host_pool.begin_block(ptr %fiber, i64 %block) {
entry:
  %0 = ptrtoint ptr %fiber to i64
  %block2 = getelementptr inbounds nuw i8, ptr %fiber, i64 8200
  store i64 %block, ptr %block2, align 8
  %over = getelementptr inbounds nuw i8, ptr %fiber, i64 8237
  store i8 0, ptr %over, align 1
  %begun = getelementptr inbounds nuw i8, ptr %fiber, i64 8236
  store i8 0, ptr %begun, align 4
  %looked = getelementptr inbounds nuw i8, ptr %fiber, i64 8224
  store i64 0, ptr %looked, align 16
  %site = getelementptr inbounds nuw i8, ptr %fiber, i64 8232
  store i32 0, ptr %site, align 8
  %call = call i32 @getcontext(ptr %fiber)
  %link = getelementptr inbounds nuw i8, ptr %fiber, i64 8
  store ptr null, ptr %link, align 8
  %stack = getelementptr inbounds nuw i8, ptr %fiber, i64 8216
  %1 = load ptr, ptr %stack, align 8
  %stack3 = getelementptr inbounds nuw i8, ptr %fiber, i64 16
  store ptr %1, ptr %stack3, align 8
  %stack_bytes = getelementptr inbounds nuw i8, ptr %fiber, i64 32
  store i64 524288, ptr %stack_bytes, align 8
  %conv = trunc i64 %0 to i32
  %shr = lshr i64 %0, 32
  %conv4 = trunc nuw i64 %shr to i32
  call void (ptr, ptr, i32, ...) @makecontext(ptr %fiber, ptr nonnull @fly.host_pool.block_main, i32 2, i32 %conv, i32 %conv4)
  ret void
}

declare i32 @getcontext(ptr)

declare void @makecontext(ptr, ptr, i32, ...)

define internal void @fly.host_pool.block_main(i32 %low, i32 %high) noinline {
entry:
  %conv = zext i32 %high to i64
  %shl = shl nuw i64 %conv, 32
  %conv1 = zext i32 %low to i64
  %or = or disjoint i64 %shl, %conv1
  %0 = inttoptr i64 %or to ptr
  %of2 = getelementptr inbounds nuw i8, ptr %0, i64 8192
  %1 = load ptr, ptr %of2, align 16
  %2 = load ptr, ptr %1, align 8
  %args = getelementptr inbounds nuw i8, ptr %1, i64 8
  %3 = load ptr, ptr %args, align 8
  %dims = getelementptr inbounds nuw i8, ptr %1, i64 16
  %4 = load ptr, ptr %dims, align 8
  %scratch = getelementptr inbounds nuw i8, ptr %0, i64 8208
  %5 = load ptr, ptr %scratch, align 16
  %block = getelementptr inbounds nuw i8, ptr %0, i64 8200
  %6 = load i64, ptr %block, align 8
  %call = call i32 @fly.host_pool.run_block(ptr %2, ptr %3, ptr %4, ptr %5, i64 %6)
  %tobool.not = icmp eq i32 %call, 0
  br i1 %tobool.not, label %if.end, label %land.lhs.true

land.lhs.true:                                    ; preds = %entry
  %status3 = getelementptr inbounds nuw i8, ptr %1, i64 80
  %7 = load i32, ptr %status3, align 8
  %tobool4.not = icmp eq i32 %7, 0
  br i1 %tobool4.not, label %if.then, label %if.end

if.then:                                          ; preds = %land.lhs.true
  store i32 %call, ptr %status3, align 8
  br label %if.end

if.end:                                           ; preds = %if.then, %land.lhs.true, %entry
  %over = getelementptr inbounds nuw i8, ptr %0, i64 8237
  store i8 1, ptr %over, align 1
  %launch = getelementptr inbounds nuw i8, ptr %1, i64 24
  %8 = load ptr, ptr %launch, align 8
  %scheduler6 = getelementptr inbounds nuw i8, ptr %8, i64 48
  %9 = load ptr, ptr %scheduler6, align 8
  %step = getelementptr inbounds nuw i8, ptr %9, i64 8328
  %10 = load i64, ptr %step, align 8
  %inc = add i64 %10, 1
  store i64 %inc, ptr %step, align 8
  %call8 = call i32 @swapcontext(ptr %0, ptr %9)
  unreachable
}

define internal void @fly.host_pool.give_up(ptr %scheduler, i32 %reason) {
entry:
  br label %for.cond

for.cond:                                         ; preds = %for.inc38, %entry
  %i.0 = phi i32 [ 0, %entry ], [ %inc39, %for.inc38 ]
  %rows.0 = phi i64 [ 0, %entry ], [ %rows.1, %for.inc38 ]
  %count = getelementptr inbounds nuw i8, ptr %scheduler, i64 8344
  %0 = load i32, ptr %count, align 8
  %cmp = icmp slt i32 %i.0, %0
  br i1 %cmp, label %for.body, label %for.end41

for.body:                                         ; preds = %for.cond
  %residents = getelementptr inbounds nuw i8, ptr %scheduler, i64 8192
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw ptr, ptr %residents, i64 %idxprom
  %1 = load ptr, ptr %arrayidx, align 8
  br label %for.cond1

for.cond1:                                        ; preds = %for.inc34, %for.body
  %k.0 = phi i64 [ 0, %for.body ], [ %inc35, %for.inc34 ]
  %rows.1 = phi i64 [ %rows.0, %for.body ], [ %rows.2, %for.inc34 ]
  %places = getelementptr inbounds nuw i8, ptr %1, i64 48
  %2 = load i64, ptr %places, align 8
  %cmp2 = icmp slt i64 %k.0, %2
  br i1 %cmp2, label %for.body4, label %for.inc38

for.body4:                                        ; preds = %for.cond1
  %fibers = getelementptr inbounds nuw i8, ptr %1, i64 32
  %3 = load ptr, ptr %fibers, align 8
  %arrayidx5 = getelementptr inbounds nuw %struct.Fiber, ptr %3, i64 %k.0
  %over = getelementptr inbounds nuw i8, ptr %arrayidx5, i64 8237
  %4 = load i8, ptr %over, align 1
  %tobool.not = icmp eq i8 %4, 0
  br i1 %tobool.not, label %if.end, label %for.inc34

if.end:                                           ; preds = %for.body4
  %status = getelementptr inbounds nuw i8, ptr %1, i64 80
  %5 = load i32, ptr %status, align 8
  %tobool6.not = icmp eq i32 %5, 0
  br i1 %tobool6.not, label %if.then7, label %if.end9

if.then7:                                         ; preds = %if.end
  %site = getelementptr inbounds nuw i8, ptr %arrayidx5, i64 8232
  %6 = load i32, ptr %site, align 8
  %add = add nsw i32 %reason, %6
  store i32 %add, ptr %status, align 8
  br label %if.end9

if.end9:                                          ; preds = %if.then7, %if.end
  %cmp10 = icmp slt i64 %rows.1, 63
  br i1 %cmp10, label %if.then11, label %for.inc34

if.then11:                                        ; preds = %if.end9
  %inc = add nsw i64 %rows.1, 1
  %arrayidx12.idx = shl nsw i64 %rows.1, 6
  %arrayidx12 = getelementptr inbounds i8, ptr @fly.host_pool.waiting, i64 %arrayidx12.idx
  %rank = getelementptr inbounds nuw i8, ptr %1, i64 84
  %7 = load i32, ptr %rank, align 4
  %conv = sext i32 %7 to i64
  store i64 %conv, ptr %arrayidx12, align 8
  %block = getelementptr inbounds nuw i8, ptr %arrayidx5, i64 8200
  %8 = load i64, ptr %block, align 8
  %arrayidx14 = getelementptr inbounds nuw i8, ptr %arrayidx12, i64 8
  store i64 %8, ptr %arrayidx14, align 8
  %site15 = getelementptr inbounds nuw i8, ptr %arrayidx5, i64 8232
  %9 = load i32, ptr %site15, align 8
  %conv16 = sext i32 %9 to i64
  %arrayidx17 = getelementptr inbounds nuw i8, ptr %arrayidx12, i64 16
  store i64 %conv16, ptr %arrayidx17, align 8
  %code = getelementptr inbounds nuw i8, ptr %1, i64 88
  %10 = load i32, ptr %code, align 8
  %conv18 = sext i32 %10 to i64
  %arrayidx19 = getelementptr inbounds nuw i8, ptr %arrayidx12, i64 24
  store i64 %conv18, ptr %arrayidx19, align 8
  %total = getelementptr inbounds nuw i8, ptr %1, i64 56
  %11 = load i64, ptr %total, align 8
  %next = getelementptr inbounds nuw i8, ptr %1, i64 64
  %12 = load i64, ptr %next, align 8
  %sub = sub nsw i64 %11, %12
  %arrayidx20 = getelementptr inbounds nuw i8, ptr %arrayidx12, i64 32
  store i64 %sub, ptr %arrayidx20, align 8
  br label %for.cond21

for.cond21:                                       ; preds = %for.body25, %if.then11
  %axis.0 = phi i32 [ 0, %if.then11 ], [ %inc32, %for.body25 ]
  %cmp22 = icmp samesign ult i32 %axis.0, 3
  br i1 %cmp22, label %for.body25, label %for.inc34

for.body25:                                       ; preds = %for.cond21
  %dims = getelementptr inbounds nuw i8, ptr %1, i64 16
  %13 = load ptr, ptr %dims, align 8
  %idxprom27 = zext nneg i32 %axis.0 to i64
  %arrayidx28 = getelementptr inbounds nuw i64, ptr %13, i64 %idxprom27
  %14 = load i64, ptr %arrayidx28, align 8
  %15 = zext nneg i32 %axis.0 to i64
  %16 = getelementptr inbounds nuw i64, ptr %arrayidx12, i64 %15
  %arrayidx31 = getelementptr inbounds nuw i8, ptr %16, i64 40
  store i64 %14, ptr %arrayidx31, align 8
  %inc32 = add nuw nsw i32 %axis.0, 1
  br label %for.cond21

for.inc34:                                        ; preds = %for.body4, %for.cond21, %if.end9
  %rows.2 = phi i64 [ %rows.1, %for.body4 ], [ %rows.1, %if.end9 ], [ %inc, %for.cond21 ]
  %inc35 = add nuw nsw i64 %k.0, 1
  br label %for.cond1

for.inc38:                                        ; preds = %for.cond1
  %inc39 = add nuw nsw i32 %i.0, 1
  br label %for.cond

for.end41:                                        ; preds = %for.cond
  %.idx = shl i64 %rows.0, 6
  %17 = getelementptr i8, ptr @fly.host_pool.waiting, i64 %.idx
  %arrayidx44 = getelementptr i8, ptr %17, i64 8
  store i64 -1, ptr %arrayidx44, align 8
  ret void
}

define internal ptr @fly.host_pool.choose(ptr %scheduler) {
entry:
  %random = getelementptr inbounds nuw i8, ptr %scheduler, i64 8336
  %0 = load i64, ptr %random, align 16
  %tobool.not = icmp eq i64 %0, 0
  br i1 %tobool.not, label %if.end, label %land.lhs.true

land.lhs.true:                                    ; preds = %entry
  %turns = getelementptr inbounds nuw i8, ptr %scheduler, i64 8352
  %1 = load i32, ptr %turns, align 16
  %inc = add nsw i32 %1, 1
  store i32 %inc, ptr %turns, align 16
  %2 = and i32 %inc, -2147483617
  %cmp = icmp eq i32 %2, 1
  br i1 %cmp, label %if.then, label %if.end

if.then:                                          ; preds = %land.lhs.true
  %call = call i64 @fly.host_pool.draw(ptr %scheduler)
  %count = getelementptr inbounds nuw i8, ptr %scheduler, i64 8344
  %3 = load i32, ptr %count, align 8
  %conv = sext i32 %3 to i64
  %mul = shl nsw i64 %conv, 1
  %add = add nsw i64 %mul, 2
  %rem1 = urem i64 %call, %add
  %conv2 = trunc i64 %rem1 to i32
  %slow = getelementptr inbounds nuw i8, ptr %scheduler, i64 8348
  store i32 %conv2, ptr %slow, align 4
  br label %if.end

if.end:                                           ; preds = %if.then, %land.lhs.true, %entry
  br label %for.cond

for.cond:                                         ; preds = %for.inc78, %if.end
  %pass.0 = phi i32 [ 0, %if.end ], [ %inc79, %for.inc78 ]
  %quick.0 = phi i64 [ 0, %if.end ], [ %quick.2, %for.inc78 ]
  %fit.0 = phi i64 [ 0, %if.end ], [ %fit.1, %for.inc78 ]
  %retval.0 = phi ptr [ undef, %if.end ], [ %retval.2, %for.inc78 ]
  %cmp3 = icmp samesign ult i32 %pass.0, 2
  br i1 %cmp3, label %for.body, label %cleanup80

for.body:                                         ; preds = %for.cond
  %tobool5.not = icmp eq i32 %pass.0, 0
  br i1 %tobool5.not, label %if.end29, label %if.then6

if.then6:                                         ; preds = %for.body
  %tobool7.not = icmp eq i64 %fit.0, 0
  br i1 %tobool7.not, label %cleanup75, label %if.end9

if.end9:                                          ; preds = %if.then6
  %tobool10.not = icmp eq i64 %quick.0, 0
  br i1 %tobool10.not, label %lor.end, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %if.end9
  %4 = load i64, ptr %random, align 16
  %tobool12.not = icmp eq i64 %4, 0
  br i1 %tobool12.not, label %lor.end, label %lor.rhs

lor.rhs:                                          ; preds = %lor.lhs.false
  %call13 = call i64 @fly.host_pool.draw(ptr %scheduler)
  %rem14 = and i64 %call13, 15
  %cmp15 = icmp eq i64 %rem14, 0
  br label %lor.end

lor.end:                                          ; preds = %lor.rhs, %lor.lhs.false, %if.end9
  %5 = phi i1 [ true, %lor.lhs.false ], [ true, %if.end9 ], [ %cmp15, %lor.rhs ]
  %6 = load i64, ptr %random, align 16
  %tobool18.not = icmp eq i64 %6, 0
  br i1 %tobool18.not, label %cond.end24, label %cond.true

cond.true:                                        ; preds = %lor.end
  %call19 = call i64 @fly.host_pool.draw(ptr %scheduler)
  %fit.0.quick.0 = select i1 %5, i64 %fit.0, i64 %quick.0
  %rem22 = urem i64 %call19, %fit.0.quick.0
  br label %cond.end24

cond.end24:                                       ; preds = %lor.end, %cond.true
  %cond25 = phi i64 [ %rem22, %cond.true ], [ 0, %lor.end ]
  %spec.select = select i1 %5, i64 0, i64 %quick.0
  br label %if.end29

if.end29:                                         ; preds = %cond.end24, %for.body
  %wanted.0 = phi i64 [ %cond25, %cond.end24 ], [ -1, %for.body ]
  %quick.1 = phi i64 [ %spec.select, %cond.end24 ], [ %quick.0, %for.body ]
  br label %for.cond30

for.cond30:                                       ; preds = %for.inc70, %if.end29
  %wanted.1 = phi i64 [ %wanted.0, %if.end29 ], [ %wanted.3, %for.inc70 ]
  %quick.4 = phi i64 [ %quick.1, %if.end29 ], [ %quick.7, %for.inc70 ]
  %i.0 = phi i32 [ 0, %if.end29 ], [ %inc71, %for.inc70 ]
  %fit.2 = phi i64 [ %fit.0, %if.end29 ], [ %fit.5, %for.inc70 ]
  %retval.3 = phi ptr [ %retval.0, %if.end29 ], [ %retval.6, %for.inc70 ]
  %count31 = getelementptr inbounds nuw i8, ptr %scheduler, i64 8344
  %7 = load i32, ptr %count31, align 8
  %cmp32 = icmp slt i32 %i.0, %7
  br i1 %cmp32, label %for.body35, label %cleanup72

for.body35:                                       ; preds = %for.cond30
  %residents = getelementptr inbounds nuw i8, ptr %scheduler, i64 8192
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw ptr, ptr %residents, i64 %idxprom
  %8 = load ptr, ptr %arrayidx, align 8
  br label %for.cond36

for.cond36:                                       ; preds = %for.inc, %for.body35
  %wanted.2 = phi i64 [ %wanted.1, %for.body35 ], [ %wanted.4, %for.inc ]
  %quick.6 = phi i64 [ %quick.4, %for.body35 ], [ %quick.8, %for.inc ]
  %fit.4 = phi i64 [ %fit.2, %for.body35 ], [ %fit.6, %for.inc ]
  %k.0 = phi i64 [ 0, %for.body35 ], [ %inc64, %for.inc ]
  %retval.5 = phi ptr [ %retval.3, %for.body35 ], [ %retval.7, %for.inc ]
  %places = getelementptr inbounds nuw i8, ptr %8, i64 48
  %9 = load i64, ptr %places, align 8
  %cmp37 = icmp slt i64 %k.0, %9
  br i1 %cmp37, label %for.body40, label %cleanup65

for.body40:                                       ; preds = %for.cond36
  %fibers = getelementptr inbounds nuw i8, ptr %8, i64 32
  %10 = load ptr, ptr %fibers, align 8
  %arrayidx41 = getelementptr inbounds nuw %struct.Fiber, ptr %10, i64 %k.0
  %call42 = call i1 @fly.host_pool.may_run(ptr %scheduler, ptr %arrayidx41)
  br i1 %call42, label %if.end44, label %cleanup

if.end44:                                         ; preds = %for.body40
  br i1 %tobool5.not, label %if.then46, label %if.else

if.then46:                                        ; preds = %if.end44
  %inc47 = add nsw i64 %fit.4, 1
  %slow48 = getelementptr inbounds nuw i8, ptr %scheduler, i64 8348
  %11 = load i32, ptr %slow48, align 4
  %cmp49 = icmp ne i32 %i.0, %11
  %conv51 = zext i1 %cmp49 to i64
  %add52 = add nsw i64 %quick.6, %conv51
  br label %cleanup

if.else:                                          ; preds = %if.end44
  %tobool53.not = icmp eq i64 %quick.6, 0
  br i1 %tobool53.not, label %land.lhs.true58, label %lor.lhs.false54

lor.lhs.false54:                                  ; preds = %if.else
  %slow55 = getelementptr inbounds nuw i8, ptr %scheduler, i64 8348
  %12 = load i32, ptr %slow55, align 4
  %cmp56.not = icmp eq i32 %i.0, %12
  br i1 %cmp56.not, label %cleanup, label %land.lhs.true58

land.lhs.true58:                                  ; preds = %lor.lhs.false54, %if.else
  %dec = add nsw i64 %wanted.2, -1
  %cmp59 = icmp eq i64 %wanted.2, 0
  %spec.select44 = zext i1 %cmp59 to i32
  %spec.select45 = select i1 %cmp59, ptr %arrayidx41, ptr %retval.5
  br label %cleanup

cleanup:                                          ; preds = %land.lhs.true58, %if.then46, %lor.lhs.false54, %for.body40
  %cleanup.dest.slot.4 = phi i32 [ 10, %for.body40 ], [ %spec.select44, %land.lhs.true58 ], [ 0, %lor.lhs.false54 ], [ 0, %if.then46 ]
  %wanted.4 = phi i64 [ %wanted.2, %for.body40 ], [ %dec, %land.lhs.true58 ], [ %wanted.2, %lor.lhs.false54 ], [ %wanted.2, %if.then46 ]
  %quick.8 = phi i64 [ %quick.6, %for.body40 ], [ %quick.6, %land.lhs.true58 ], [ %quick.6, %lor.lhs.false54 ], [ %add52, %if.then46 ]
  %fit.6 = phi i64 [ %fit.4, %for.body40 ], [ %fit.4, %land.lhs.true58 ], [ %fit.4, %lor.lhs.false54 ], [ %inc47, %if.then46 ]
  %retval.7 = phi ptr [ %retval.5, %for.body40 ], [ %spec.select45, %land.lhs.true58 ], [ %retval.5, %lor.lhs.false54 ], [ %retval.5, %if.then46 ]
  switch i32 %cleanup.dest.slot.4, label %cleanup65 [
    i32 0, label %for.inc
    i32 10, label %for.inc
  ]

for.inc:                                          ; preds = %cleanup, %cleanup
  %inc64 = add nuw nsw i64 %k.0, 1
  br label %for.cond36

cleanup65:                                        ; preds = %for.cond36, %cleanup
  %cleanup.dest.slot.3 = phi i32 [ %cleanup.dest.slot.4, %cleanup ], [ 8, %for.cond36 ]
  %wanted.3 = phi i64 [ %wanted.4, %cleanup ], [ %wanted.2, %for.cond36 ]
  %quick.7 = phi i64 [ %quick.8, %cleanup ], [ %quick.6, %for.cond36 ]
  %fit.5 = phi i64 [ %fit.6, %cleanup ], [ %fit.4, %for.cond36 ]
  %retval.6 = phi ptr [ %retval.7, %cleanup ], [ %retval.5, %for.cond36 ]
  %cond39 = icmp eq i32 %cleanup.dest.slot.3, 8
  %spec.select41 = select i1 %cond39, i32 0, i32 %cleanup.dest.slot.3
  %cond40 = icmp eq i32 %spec.select41, 0
  br i1 %cond40, label %for.inc70, label %cleanup72

for.inc70:                                        ; preds = %cleanup65
  %inc71 = add nuw nsw i32 %i.0, 1
  br label %for.cond30

cleanup72:                                        ; preds = %for.cond30, %cleanup65
  %cleanup.dest.slot.2 = phi i32 [ %spec.select41, %cleanup65 ], [ 5, %for.cond30 ]
  %quick.5 = phi i64 [ %quick.7, %cleanup65 ], [ %quick.4, %for.cond30 ]
  %fit.3 = phi i64 [ %fit.5, %cleanup65 ], [ %fit.2, %for.cond30 ]
  %retval.4 = phi ptr [ %retval.6, %cleanup65 ], [ %retval.3, %for.cond30 ]
  %cond37 = icmp eq i32 %cleanup.dest.slot.2, 5
  %spec.select42 = select i1 %cond37, i32 0, i32 %cleanup.dest.slot.2
  br label %cleanup75

cleanup75:                                        ; preds = %cleanup72, %if.then6
  %cleanup.dest.slot.1 = phi i32 [ %spec.select42, %cleanup72 ], [ 1, %if.then6 ]
  %quick.2 = phi i64 [ %quick.5, %cleanup72 ], [ %quick.0, %if.then6 ]
  %fit.1 = phi i64 [ %fit.3, %cleanup72 ], [ %fit.0, %if.then6 ]
  %retval.2 = phi ptr [ %retval.4, %cleanup72 ], [ null, %if.then6 ]
  %cond38 = icmp eq i32 %cleanup.dest.slot.1, 0
  br i1 %cond38, label %for.inc78, label %cleanup80

for.inc78:                                        ; preds = %cleanup75
  %inc79 = add nuw nsw i32 %pass.0, 1
  br label %for.cond

cleanup80:                                        ; preds = %for.cond, %cleanup75
  %cleanup.dest.slot.0 = phi i32 [ %cleanup.dest.slot.1, %cleanup75 ], [ 2, %for.cond ]
  %retval.1 = phi ptr [ %retval.2, %cleanup75 ], [ %retval.0, %for.cond ]
  %cond36 = icmp eq i32 %cleanup.dest.slot.0, 2
  %spec.select43 = select i1 %cond36, ptr null, ptr %retval.1
  ret ptr %spec.select43
}

define internal void @fly.host_pool.run_fiber(ptr %scheduler, ptr %fiber) {
entry:
  %current = getelementptr inbounds nuw i8, ptr %scheduler, i64 8320
  store ptr %fiber, ptr %current, align 16
  %begun = getelementptr inbounds nuw i8, ptr %fiber, i64 8236
  %0 = load i8, ptr %begun, align 4
  %tobool.not = icmp eq i8 %0, 0
  br i1 %tobool.not, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  store i8 1, ptr %begun, align 4
  %step = getelementptr inbounds nuw i8, ptr %scheduler, i64 8328
  %1 = load i64, ptr %step, align 8
  %inc = add i64 %1, 1
  store i64 %inc, ptr %step, align 8
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  store ptr %scheduler, ptr @fly.host_pool.running, align 8
  %call = call i32 @swapcontext(ptr %scheduler, ptr %fiber)
  store ptr null, ptr @fly.host_pool.running, align 8
  %over = getelementptr inbounds nuw i8, ptr %fiber, i64 8237
  %2 = load i8, ptr %over, align 1
  %tobool3.not = icmp eq i8 %2, 0
  br i1 %tobool3.not, label %return, label %if.end5

if.end5:                                          ; preds = %if.end
  %of6 = getelementptr inbounds nuw i8, ptr %fiber, i64 8192
  %3 = load ptr, ptr %of6, align 16
  %ended = getelementptr inbounds nuw i8, ptr %3, i64 72
  %4 = load i64, ptr %ended, align 8
  %inc7 = add nsw i64 %4, 1
  store i64 %inc7, ptr %ended, align 8
  %next = getelementptr inbounds nuw i8, ptr %3, i64 64
  %5 = load i64, ptr %next, align 8
  %total = getelementptr inbounds nuw i8, ptr %3, i64 56
  %6 = load i64, ptr %total, align 8
  %cmp = icmp slt i64 %5, %6
  br i1 %cmp, label %if.then8, label %return

if.then8:                                         ; preds = %if.end5
  %inc10 = add nsw i64 %5, 1
  store i64 %inc10, ptr %next, align 8
  call void @fly.host_pool.begin_block(ptr %fiber, i64 %5)
  br label %return

return:                                           ; preds = %if.end5, %if.then8, %if.end
  ret void
}

define internal i1 @fly.host_pool.in_vain(ptr %scheduler, ptr %since, ptr %naps) {
entry:
  %nap = alloca %struct.Time, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %nap)
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(16) %nap, ptr nonnull align 8 dereferenceable(16) @fly.host_pool.__const.in_vain.nap, i64 16, i1 false)
  %0 = load i32, ptr @fly.host_pool.outside, align 16
  %tobool.not = icmp eq i32 %0, 0
  br i1 %tobool.not, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  call void @fly.host_pool.give_up(ptr %scheduler, i32 50331648)
  br label %cleanup16

if.end:                                           ; preds = %entry
  %1 = load i64, ptr %naps, align 8
  %tobool1.not = icmp eq i64 %1, 0
  br i1 %tobool1.not, label %if.then2, label %if.end3

if.then2:                                         ; preds = %if.end
  %call = call i64 @fly.host_pool.now(i32 1)
  store i64 %call, ptr %since, align 8
  br label %if.end3

if.end3:                                          ; preds = %if.then2, %if.end
  %2 = load i64, ptr %naps, align 8
  %inc = add i64 %2, 1
  store i64 %inc, ptr %naps, align 8
  %rem = and i64 %inc, 255
  %cmp = icmp eq i64 %rem, 0
  br i1 %cmp, label %if.then4, label %if.end13

if.then4:                                         ; preds = %if.end3
  %call5 = call i32 @fly.host_pool.dead_process()
  %3 = load i64, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.outside, i64 8), align 8
  %tobool6.not = icmp eq i64 %3, 0
  br i1 %tobool6.not, label %land.end, label %land.rhs

land.rhs:                                         ; preds = %if.then4
  %call7 = call i64 @fly.host_pool.now(i32 1)
  %4 = load i64, ptr %since, align 8
  %sub = sub i64 %call7, %4
  %5 = load i64, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.outside, i64 8), align 8
  %cmp8 = icmp ugt i64 %sub, %5
  br label %land.end

land.end:                                         ; preds = %land.rhs, %if.then4
  %6 = phi i1 [ false, %if.then4 ], [ %cmp8, %land.rhs ]
  %cmp9 = icmp sgt i32 %call5, -1
  %brmerge = select i1 %cmp9, i1 true, i1 %6
  br i1 %brmerge, label %if.then10, label %if.end13

if.then10:                                        ; preds = %land.end
  call void @fly.host_pool.give_up(ptr %scheduler, i32 67108864)
  %conv = sext i32 %call5 to i64
  store i64 %conv, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.waiting, i64 4032), align 16
  br label %cleanup16

if.end13:                                         ; preds = %land.end, %if.end3
  %call14 = call i32 @nanosleep(ptr nonnull %nap, ptr null)
  %step = getelementptr inbounds nuw i8, ptr %scheduler, i64 8328
  %7 = load i64, ptr %step, align 8
  %inc15 = add i64 %7, 1
  store i64 %inc15, ptr %step, align 8
  br label %cleanup16

cleanup16:                                        ; preds = %if.then10, %if.end13, %if.then
  %retval.0 = phi i1 [ true, %if.then10 ], [ false, %if.end13 ], [ true, %if.then ]
  call void @llvm.lifetime.end.p0(ptr nonnull %nap)
  ret i1 %retval.0
}

define internal i1 @fly.host_pool.may_run(ptr %scheduler, ptr %fiber) {
entry:
  %over = getelementptr inbounds nuw i8, ptr %fiber, i64 8237
  %0 = load i8, ptr %over, align 1
  %tobool.not = icmp eq i8 %0, 0
  br i1 %tobool.not, label %land.rhs, label %land.end

land.rhs:                                         ; preds = %entry
  %begun = getelementptr inbounds nuw i8, ptr %fiber, i64 8236
  %1 = load i8, ptr %begun, align 4
  %tobool1.not = icmp eq i8 %1, 0
  br i1 %tobool1.not, label %land.end, label %lor.rhs

lor.rhs:                                          ; preds = %land.rhs
  %looked = getelementptr inbounds nuw i8, ptr %fiber, i64 8224
  %2 = load i64, ptr %looked, align 16
  %step = getelementptr inbounds nuw i8, ptr %scheduler, i64 8328
  %3 = load i64, ptr %step, align 8
  %cmp = icmp ne i64 %2, %3
  br label %land.end

land.end:                                         ; preds = %land.rhs, %lor.rhs, %entry
  %4 = phi i1 [ false, %entry ], [ true, %land.rhs ], [ %cmp, %lor.rhs ]
  ret i1 %4
}

define internal i32 @fly.host_pool.dead_process() {
entry:
  %handle = alloca %struct.PollHandle, align 4
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %entry
  %retval.0 = phi i32 [ undef, %entry ], [ %retval.2, %for.inc ]
  %i.0 = phi i32 [ 0, %entry ], [ %inc, %for.inc ]
  %0 = load i32, ptr @fly.host_pool.outside, align 16
  %cmp = icmp slt i32 %i.0, %0
  br i1 %cmp, label %for.body, label %cleanup5

for.body:                                         ; preds = %for.cond
  call void @llvm.lifetime.start.p0(ptr nonnull %handle)
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw i32, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.outside, i64 16), i64 %idxprom
  %1 = load i32, ptr %arrayidx, align 4
  store i32 %1, ptr %handle, align 4
  %events = getelementptr inbounds nuw i8, ptr %handle, i64 4
  store i16 1, ptr %events, align 4
  %found = getelementptr inbounds nuw i8, ptr %handle, i64 6
  store i16 0, ptr %found, align 2
  %call = call i32 @poll(ptr nonnull %handle, i64 1, i32 0)
  %cmp2 = icmp slt i32 %call, 1
  br i1 %cmp2, label %cleanup, label %if.then

if.then:                                          ; preds = %for.body
  %arrayidx4 = getelementptr inbounds nuw i32, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.outside, i64 80), i64 %idxprom
  %2 = load i32, ptr %arrayidx4, align 4
  br label %cleanup

cleanup:                                          ; preds = %for.body, %if.then
  %retval.2 = phi i32 [ %2, %if.then ], [ %retval.0, %for.body ]
  %cleanup.dest.slot.1 = phi i32 [ 1, %if.then ], [ 0, %for.body ]
  call void @llvm.lifetime.end.p0(ptr nonnull %handle)
  br i1 %cmp2, label %for.inc, label %cleanup5

for.inc:                                          ; preds = %cleanup
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond

cleanup5:                                         ; preds = %for.cond, %cleanup
  %retval.1 = phi i32 [ %retval.2, %cleanup ], [ %retval.0, %for.cond ]
  %cleanup.dest.slot.0 = phi i32 [ %cleanup.dest.slot.1, %cleanup ], [ 2, %for.cond ]
  switch i32 %cleanup.dest.slot.0, label %unreachable [
    i32 2, label %for.end
    i32 1, label %return
  ]

for.end:                                          ; preds = %cleanup5
  br label %return

return:                                           ; preds = %for.end, %cleanup5
  %retval.3 = phi i32 [ -1, %for.end ], [ %retval.1, %cleanup5 ]
  ret i32 %retval.3

unreachable:                                      ; preds = %cleanup5
  unreachable
}

declare i32 @nanosleep(ptr, ptr)

declare i32 @poll(ptr, i64, i32)

declare i32 @pthread_create(ptr, ptr, ptr, ptr)

declare i32 @pthread_detach(i64)

define internal i1 @fly.host_pool.look_around(ptr %since, ptr %seen) {
entry:
  %0 = load atomic i64, ptr @fly.host_pool.time_limit monotonic, align 8
  %call = call i64 @fly.host_pool.now(i32 1)
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %entry
  %i.0 = phi i32 [ 0, %entry ], [ %inc, %for.inc ]
  %any.0.off0 = phi i1 [ false, %entry ], [ %any.1.off0, %for.inc ]
  %cmp = icmp samesign ult i32 %i.0, 32
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %idxprom = zext nneg i32 %i.0 to i64
  %arrayidx = getelementptr inbounds nuw %struct.Launch, ptr @fly.host_pool.launches, i64 %idxprom
  %number1 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 16
  %1 = load atomic i64, ptr %number1 acquire, align 8
  %taken = getelementptr inbounds nuw i8, ptr %arrayidx, i64 4
  %2 = load atomic i32, ptr %taken seq_cst, align 4
  %tobool.not = icmp eq i32 %2, 0
  br i1 %tobool.not, label %for.inc, label %if.end

if.end:                                           ; preds = %for.body
  %arrayidx7 = getelementptr inbounds nuw i64, ptr %seen, i64 %idxprom
  %3 = load i64, ptr %arrayidx7, align 8
  %cmp8.not = icmp eq i64 %3, %1
  br i1 %cmp8.not, label %if.else, label %if.then9

if.then9:                                         ; preds = %if.end
  store i64 %1, ptr %arrayidx7, align 8
  %arrayidx13 = getelementptr inbounds nuw i64, ptr %since, i64 %idxprom
  store i64 %call, ptr %arrayidx13, align 8
  br label %if.end22

if.else:                                          ; preds = %if.end
  %tobool14.not = icmp eq i64 %0, 0
  br i1 %tobool14.not, label %if.end22, label %land.lhs.true

land.lhs.true:                                    ; preds = %if.else
  %arrayidx16 = getelementptr inbounds nuw i64, ptr %since, i64 %idxprom
  %4 = load i64, ptr %arrayidx16, align 8
  %sub = sub i64 %call, %4
  %cmp17.not = icmp ult i64 %sub, %0
  br i1 %cmp17.not, label %if.end22, label %if.then18

if.then18:                                        ; preds = %land.lhs.true
  %overdue = getelementptr inbounds nuw i8, ptr %arrayidx, i64 24
  store atomic i64 %1, ptr %overdue release, align 8
  br label %if.end22

if.end22:                                         ; preds = %if.else, %land.lhs.true, %if.then18, %if.then9
  store volatile i32 1, ptr %arrayidx, align 8
  br label %for.inc

for.inc:                                          ; preds = %if.end22, %for.body
  %any.1.off0 = phi i1 [ true, %if.end22 ], [ %any.0.off0, %for.body ]
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  ret i1 %any.0.off0
}


