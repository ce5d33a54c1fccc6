; Made from src/host_pool.c by `python -m flydsl.native.generate`.

%struct.Launch = type { i32, i32, ptr, i64, i64, i64, i32 }
%struct.Semaphore = type { [64 x i8] }
%struct.anon = type { ptr, ptr, ptr, ptr, i64 }
%struct.Job = type { ptr, ptr, ptr, i64, i64, i64, i64, i32, i32 }
%struct.Time = type { i64, i64 }

@fly.host_pool.unwatched = internal global %struct.Launch zeroinitializer, align 8
@fly.host_pool.launches = internal global [32 x %struct.Launch] zeroinitializer, align 16
@fly.host_pool.launch_count = internal global i64 0, align 8
@fly.host_pool.asleep = internal global i32 0, align 4
@fly.host_pool.wake = internal global %struct.Semaphore zeroinitializer, align 64
@fly.host_pool.workers = internal global i32 0, align 4
@fly.host_pool.busy = internal global i32 0, align 64
@fly.host_pool.start = internal global %struct.Semaphore zeroinitializer, align 64
@fly.host_pool.done = internal global %struct.Semaphore zeroinitializer, align 64
@fly.host_pool.python = internal global %struct.anon zeroinitializer, align 8
@fly.host_pool.raised = internal global [3 x ptr] zeroinitializer, align 16
@fly.host_pool.time_limit = internal global i64 0, align 8
@fly.host_pool.job = internal global %struct.Job zeroinitializer, align 64
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

declare i32 @sem_init(ptr, i32, i32)

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

declare void @free(ptr)

declare i32 @pthread_create(ptr, ptr, ptr, ptr)

declare i32 @pthread_detach(i64)

declare i32 @sem_wait(ptr)

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
  %1 = load atomic i64, ptr %number1 acquire, align 16
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
  store volatile i32 1, ptr %arrayidx, align 16
  br label %for.inc

for.inc:                                          ; preds = %if.end22, %for.body
  %any.1.off0 = phi i1 [ true, %if.end22 ], [ %any.0.off0, %for.body ]
  %inc = add nuw nsw i32 %i.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  ret i1 %any.0.off0
}

declare i32 @nanosleep(ptr, ptr)


