; Made from src/host_pool.c by `python -m flydsl.native.generate`.

%struct.Launch = type { i32, i32, ptr, i64, i64, i64, i32, ptr }
%struct.Semaphore = type { [64 x i8] }
%struct.RankHooks = type { ptr, ptr, ptr, ptr }
%struct.Scheduler = type { [8192 x i8], [16 x ptr], ptr, i64, i64, i32, i32, i32, [12 x i8] }
%struct.Rank = type { %struct.Semaphore, i64, i32, i32, i32, ptr }
%struct.anon = type { i64, i64 }
%struct.anon.0 = type { i32, i64, [16 x i32], [16 x i32] }
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
@fly.host_pool.python.0 = internal global ptr null, align 8
@fly.host_pool.python.1 = internal global ptr null, align 8
@fly.host_pool.python.2 = internal global ptr null, align 8
@fly.host_pool.python.3 = internal global ptr null, align 8
@fly.host_pool.python.4 = internal global i64 0, align 8
@fly.host_pool.raised = internal global [3 x ptr] zeroinitializer, align 16
@fly.host_pool.time_limit = internal global i64 0, align 8
@fly.host_pool.job = internal global %struct.Job zeroinitializer, align 64
@fly.host_pool.__const.in_vain.nap = private constant %struct.Time { i64 0, i64 20000 }, align 8
@fly.host_pool.__const.watchman.beat = private constant %struct.Time { i64 0, i64 20000000 }, align 8

define nonnull ptr @fly_launch_begin(ptr writeonly captures(none) %dims) {
entry:
  br label %for.body

for.cond.cleanup:                                 ; preds = %for.body
  br i1 %cmp1, label %if.end15, label %if.then5

for.body:                                         ; preds = %entry, %for.body
  %indvars.iv = phi i64 [ 0, %entry ], [ %indvars.iv.next, %for.body ]
  %arrayidx = getelementptr inbounds nuw %struct.Launch, ptr @fly.host_pool.launches, i64 %indvars.iv
  %taken = getelementptr inbounds nuw i8, ptr %arrayidx, i64 4
  %0 = cmpxchg ptr %taken, i32 0, i32 1 seq_cst monotonic, align 4
  %1 = extractvalue { i32, i1 } %0, 1
  %launch.1 = select i1 %1, ptr %arrayidx, ptr @fly.host_pool.unwatched
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %cmp = icmp samesign ult i64 %indvars.iv, 31
  %cmp1 = icmp eq ptr %launch.1, @fly.host_pool.unwatched
  %2 = and i1 %cmp, %cmp1
  br i1 %2, label %for.body, label %for.cond.cleanup

if.then5:                                         ; preds = %for.cond.cleanup
  store volatile i32 0, ptr %launch.1, align 8
  %reason = getelementptr inbounds nuw i8, ptr %launch.1, i64 40
  store i32 0, ptr %reason, align 8
  %call = tail call i64 @pthread_self()
  %caller = getelementptr inbounds nuw i8, ptr %launch.1, i64 32
  store i64 %call, ptr %caller, align 8
  %number = getelementptr inbounds nuw i8, ptr %launch.1, i64 16
  %3 = atomicrmw add ptr @fly.host_pool.launch_count, i64 1 monotonic, align 8
  %4 = add i64 %3, 1
  store atomic i64 %4, ptr %number release, align 8
  %5 = load atomic i32, ptr @fly.host_pool.asleep seq_cst, align 4
  %tobool.not = icmp eq i32 %5, 0
  br i1 %tobool.not, label %if.end15, label %land.lhs.true

land.lhs.true:                                    ; preds = %if.then5
  %6 = atomicrmw xchg ptr @fly.host_pool.asleep, i32 0 seq_cst, align 4
  %tobool11.not = icmp eq i32 %6, 0
  br i1 %tobool11.not, label %if.end15, label %if.then12

if.then12:                                        ; preds = %land.lhs.true
  %call13 = tail call i32 @sem_post(ptr nonnull @fly.host_pool.wake)
  br label %if.end15

if.end15:                                         ; preds = %if.then5, %land.lhs.true, %if.then12, %for.cond.cleanup
  %scheduler = getelementptr inbounds nuw i8, ptr %launch.1, i64 48
  store ptr null, ptr %scheduler, align 8
  %check_in = getelementptr inbounds nuw i8, ptr %launch.1, i64 8
  store ptr @fly.host_pool.check_in, ptr %check_in, align 8
  %7 = ptrtoint ptr %launch.1 to i64
  %arrayidx16 = getelementptr inbounds nuw i8, ptr %dims, i64 56
  store i64 %7, ptr %arrayidx16, align 8
  ret ptr %launch.1
}

declare i64 @pthread_self() 

declare i32 @sem_post(ptr) 

define internal i32 @fly.host_pool.check_in(ptr %launch, i32 %place) {
entry:
  %call = tail call i64 @pthread_self()
  %reason = getelementptr inbounds nuw i8, ptr %launch, i64 40
  %0 = load i32, ptr %reason, align 8
  %tobool.not = icmp eq i32 %0, 0
  br i1 %tobool.not, label %land.lhs.true, label %if.end19

land.lhs.true:                                    ; preds = %entry
  %overdue = getelementptr inbounds nuw i8, ptr %launch, i64 24
  %1 = load i64, ptr %overdue, align 8
  %number = getelementptr inbounds nuw i8, ptr %launch, i64 16
  %2 = load i64, ptr %number, align 8
  %cmp = icmp eq i64 %1, %2
  br i1 %cmp, label %if.end19.sink.split, label %land.lhs.true4

land.lhs.true4:                                   ; preds = %land.lhs.true
  %caller = getelementptr inbounds nuw i8, ptr %launch, i64 32
  %3 = load i64, ptr %caller, align 8
  %cmp5 = icmp eq i64 %call, %3
  br i1 %cmp5, label %if.then6, label %cleanup

if.then6:                                         ; preds = %land.lhs.true4
  store volatile i32 0, ptr %launch, align 8
  %4 = load ptr, ptr @fly.host_pool.python.0, align 8
  %tobool7.not = icmp ne ptr %4, null
  %5 = load i64, ptr @fly.host_pool.python.4, align 8
  %cmp9 = icmp eq i64 %call, %5
  %or.cond = select i1 %tobool7.not, i1 %cmp9, i1 false
  br i1 %or.cond, label %land.lhs.true10, label %cleanup

land.lhs.true10:                                  ; preds = %if.then6
  %call.i = tail call i32 %4()
  %6 = load ptr, ptr @fly.host_pool.python.2, align 8
  %call1.i = tail call i32 %6()
  %cmp.i.not = icmp eq i32 %call1.i, 0
  br i1 %cmp.i.not, label %if.end15, label %if.then12

if.then12:                                        ; preds = %land.lhs.true10
  %7 = load ptr, ptr @fly.host_pool.python.3, align 8
  tail call void %7(ptr nonnull @fly.host_pool.raised, ptr nonnull getelementptr inbounds nuw (i8, ptr @fly.host_pool.raised, i64 8), ptr nonnull getelementptr inbounds nuw (i8, ptr @fly.host_pool.raised, i64 16))
  %8 = load ptr, ptr @fly.host_pool.python.1, align 8
  tail call void %8(i32 %call.i)
  br label %if.end19.sink.split

if.end15:                                         ; preds = %land.lhs.true10
  %9 = load ptr, ptr @fly.host_pool.python.1, align 8
  tail call void %9(i32 %call.i)
  %.pr13.pr.pre = load i32, ptr %reason, align 8
  %tobool17.not = icmp eq i32 %.pr13.pr.pre, 0
  br i1 %tobool17.not, label %cleanup, label %if.end19

if.end19.sink.split:                              ; preds = %land.lhs.true, %if.then12
  %.sink = phi i32 [ 16777216, %if.then12 ], [ 33554432, %land.lhs.true ]
  store i32 %.sink, ptr %reason, align 8
  br label %if.end19

if.end19:                                         ; preds = %if.end19.sink.split, %entry, %if.end15
  %10 = phi i32 [ %.pr13.pr.pre, %if.end15 ], [ %0, %entry ], [ %.sink, %if.end19.sink.split ]
  store volatile i32 1, ptr %launch, align 8
  %add = add nsw i32 %10, %place
  br label %cleanup

cleanup:                                          ; preds = %land.lhs.true4, %if.then6, %if.end15, %if.end19
  %retval.0 = phi i32 [ %add, %if.end19 ], [ 0, %if.end15 ], [ 0, %if.then6 ], [ 0, %land.lhs.true4 ]
  ret i32 %retval.0
}

define void @fly_launch_end(ptr writeonly captures(address) %launch) #0 {
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
  %time.i.i.i = alloca %struct.Time, align 8
  %time.i.i = alloca %struct.Time, align 8
  %own = alloca %struct.Job, align 8
  %0 = load i64, ptr %dims, align 8
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %dims, i64 8
  %1 = load i64, ptr %arrayidx1.i, align 8
  %mul.i = mul nsw i64 %1, %0
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %dims, i64 16
  %2 = load i64, ptr %arrayidx2.i, align 8
  %mul3.i = mul nsw i64 %mul.i, %2
  %cmp = icmp slt i64 %mul3.i, 1
  br i1 %cmp, label %cleanup, label %for.body.i

for.cond.cleanup.i:                               ; preds = %for.body.i
  br i1 %cmp1.i, label %fly_launch_begin.exit, label %if.then5.i

for.body.i:                                       ; preds = %entry, %for.body.i
  %indvars.iv.i = phi i64 [ %indvars.iv.next.i, %for.body.i ], [ 0, %entry ]
  %arrayidx.i = getelementptr inbounds nuw %struct.Launch, ptr @fly.host_pool.launches, i64 %indvars.iv.i
  %taken.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 4
  %3 = cmpxchg ptr %taken.i, i32 0, i32 1 seq_cst monotonic, align 4
  %4 = extractvalue { i32, i1 } %3, 1
  %launch.1.i = select i1 %4, ptr %arrayidx.i, ptr @fly.host_pool.unwatched
  %indvars.iv.next.i = add nuw nsw i64 %indvars.iv.i, 1
  %cmp.i = icmp samesign ult i64 %indvars.iv.i, 31
  %cmp1.i = icmp eq ptr %launch.1.i, @fly.host_pool.unwatched
  %5 = and i1 %cmp.i, %cmp1.i
  br i1 %5, label %for.body.i, label %for.cond.cleanup.i

if.then5.i:                                       ; preds = %for.cond.cleanup.i
  store volatile i32 0, ptr %launch.1.i, align 8
  %reason.i = getelementptr inbounds nuw i8, ptr %launch.1.i, i64 40
  store i32 0, ptr %reason.i, align 8
  %call.i = tail call i64 @pthread_self()
  %caller.i = getelementptr inbounds nuw i8, ptr %launch.1.i, i64 32
  store i64 %call.i, ptr %caller.i, align 8
  %number.i = getelementptr inbounds nuw i8, ptr %launch.1.i, i64 16
  %6 = atomicrmw add ptr @fly.host_pool.launch_count, i64 1 monotonic, align 8
  %7 = add i64 %6, 1
  store atomic i64 %7, ptr %number.i release, align 8
  %8 = load atomic i32, ptr @fly.host_pool.asleep seq_cst, align 4
  %tobool.not.i = icmp eq i32 %8, 0
  br i1 %tobool.not.i, label %fly_launch_begin.exit, label %land.lhs.true.i

land.lhs.true.i:                                  ; preds = %if.then5.i
  %9 = atomicrmw xchg ptr @fly.host_pool.asleep, i32 0 seq_cst, align 4
  %tobool11.not.i = icmp eq i32 %9, 0
  br i1 %tobool11.not.i, label %fly_launch_begin.exit, label %if.then12.i

if.then12.i:                                      ; preds = %land.lhs.true.i
  %call13.i = tail call i32 @sem_post(ptr nonnull @fly.host_pool.wake)
  br label %fly_launch_begin.exit

fly_launch_begin.exit:                            ; preds = %for.cond.cleanup.i, %if.then5.i, %land.lhs.true.i, %if.then12.i
  %scheduler.i = getelementptr inbounds nuw i8, ptr %launch.1.i, i64 48
  store ptr null, ptr %scheduler.i, align 8
  %check_in.i = getelementptr inbounds nuw i8, ptr %launch.1.i, i64 8
  store ptr @fly.host_pool.check_in, ptr %check_in.i, align 8
  %10 = ptrtoint ptr %launch.1.i to i64
  %arrayidx16.i = getelementptr inbounds nuw i8, ptr %dims, i64 56
  store i64 %10, ptr %arrayidx16.i, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %own)
  store ptr %kernel, ptr %own, align 8
  %args3 = getelementptr inbounds nuw i8, ptr %own, i64 8
  store ptr %args, ptr %args3, align 8
  %dims4 = getelementptr inbounds nuw i8, ptr %own, i64 16
  store ptr %dims, ptr %dims4, align 8
  %scratch_bytes5 = getelementptr inbounds nuw i8, ptr %own, i64 24
  store i64 %scratch_bytes, ptr %scratch_bytes5, align 8
  %total6 = getelementptr inbounds nuw i8, ptr %own, i64 32
  store i64 %mul3.i, ptr %total6, align 8
  %chunk = getelementptr inbounds nuw i8, ptr %own, i64 40
  store i64 %mul3.i, ptr %chunk, align 8
  %next = getelementptr inbounds nuw i8, ptr %own, i64 48
  %status = getelementptr inbounds nuw i8, ptr %own, i64 60
  call void @llvm.memset.p0.i64(ptr nonnull align 8 dereferenceable(16) %next, i8 0, i64 16, i1 false)
  %11 = load i32, ptr @fly.host_pool.workers, align 4
  %tobool = icmp ne i32 %11, 0
  %cmp7 = icmp ne i64 %mul3.i, 1
  %or.cond = and i1 %cmp7, %tobool
  br i1 %or.cond, label %land.lhs.true8, label %if.else

land.lhs.true8:                                   ; preds = %fly_launch_begin.exit
  %12 = cmpxchg ptr @fly.host_pool.busy, i32 0, i32 1 seq_cst seq_cst, align 64
  %13 = extractvalue { i32, i1 } %12, 1
  br i1 %13, label %if.then9, label %if.else

if.then9:                                         ; preds = %land.lhs.true8
  %14 = load i64, ptr %total6, align 8
  %15 = load i32, ptr @fly.host_pool.workers, align 4
  %conv.i = sext i32 %15 to i64
  %mul.i8 = shl nsw i64 %conv.i, 4
  %div.i = sdiv i64 %14, %mul.i8
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 64 dereferenceable(64) @fly.host_pool.job, ptr nonnull readonly align 8 dereferenceable(64) %own, i64 64, i1 false)
  %cond.i = tail call i64 @llvm.umax.i64(i64 %div.i, i64 1)
  store i64 %cond.i, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.job, i64 40), align 8
  store i32 %15, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.job, i64 56), align 8
  fence seq_cst
  %16 = load i32, ptr @fly.host_pool.workers, align 4
  %cmp4.i = icmp sgt i32 %16, 0
  br i1 %cmp4.i, label %for.body.i10, label %for.cond.cleanup.i9

for.cond.cleanup.i9:                              ; preds = %for.body.i10, %if.then9
  tail call fastcc void @fly.host_pool.run_blocks(ptr nonnull @fly.host_pool.job)
  %nanoseconds.i.i.i = getelementptr inbounds nuw i8, ptr %time.i.i.i, i64 8
  %nanoseconds.i.i = getelementptr inbounds nuw i8, ptr %time.i.i, i64 8
  %reason.i.i.i = getelementptr inbounds nuw i8, ptr %launch.1.i, i64 40
  %overdue.i.i.i = getelementptr inbounds nuw i8, ptr %launch.1.i, i64 24
  %number.i.i.i = getelementptr inbounds nuw i8, ptr %launch.1.i, i64 16
  %caller.i.i.i = getelementptr inbounds nuw i8, ptr %launch.1.i, i64 32
  br label %for.cond.i.i

for.cond.i.i:                                     ; preds = %cleanup.i.i, %for.cond.cleanup.i9
  call void @llvm.lifetime.start.p0(ptr nonnull %time.i.i.i)
  %call.i.i.i = call i32 @clock_gettime(i32 0, ptr nonnull %time.i.i.i)
  %17 = load i64, ptr %time.i.i.i, align 8
  %mul.i.i.i = mul i64 %17, 1000000000
  %18 = load i64, ptr %nanoseconds.i.i.i, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %time.i.i.i)
  %add.i.i.i = add i64 %18, 20000000
  %add.i.i = add i64 %add.i.i.i, %mul.i.i.i
  call void @llvm.lifetime.start.p0(ptr nonnull %time.i.i)
  %add.i.i.frozen = freeze i64 %add.i.i
  %div.i.i = udiv i64 %add.i.i.frozen, 1000000000
  store i64 %div.i.i, ptr %time.i.i, align 8
  %19 = mul i64 %div.i.i, 1000000000
  %rem.i.i.decomposed = sub i64 %add.i.i.frozen, %19
  store i64 %rem.i.i.decomposed, ptr %nanoseconds.i.i, align 8
  %call1.i.i = call i32 @sem_timedwait(ptr nonnull @fly.host_pool.done, ptr nonnull %time.i.i)
  %tobool.not.i.i = icmp eq i32 %call1.i.i, 0
  br i1 %tobool.not.i.i, label %run_on_pool.exit, label %if.end.i.i

if.end.i.i:                                       ; preds = %for.cond.i.i
  %20 = load volatile i32, ptr %launch.1.i, align 8
  %tobool2.not.i.i = icmp eq i32 %20, 0
  br i1 %tobool2.not.i.i, label %cleanup.i.i, label %if.then3.i.i

if.then3.i.i:                                     ; preds = %if.end.i.i
  %call.i3.i.i = call i64 @pthread_self()
  %21 = load i32, ptr %reason.i.i.i, align 8
  %tobool.not.i.i.i = icmp eq i32 %21, 0
  br i1 %tobool.not.i.i.i, label %land.lhs.true.i.i.i, label %if.end19.i.i.i

land.lhs.true.i.i.i:                              ; preds = %if.then3.i.i
  %22 = load i64, ptr %overdue.i.i.i, align 8
  %23 = load i64, ptr %number.i.i.i, align 8
  %cmp.i.i.i = icmp eq i64 %22, %23
  br i1 %cmp.i.i.i, label %if.end19.sink.split.i.i.i, label %land.lhs.true4.i.i.i

land.lhs.true4.i.i.i:                             ; preds = %land.lhs.true.i.i.i
  %24 = load i64, ptr %caller.i.i.i, align 8
  %cmp5.i.i.i = icmp eq i64 %call.i3.i.i, %24
  br i1 %cmp5.i.i.i, label %if.then6.i.i.i, label %cleanup.i.i

if.then6.i.i.i:                                   ; preds = %land.lhs.true4.i.i.i
  store volatile i32 0, ptr %launch.1.i, align 8
  %25 = load ptr, ptr @fly.host_pool.python.0, align 8
  %tobool7.not.i.i.i = icmp ne ptr %25, null
  %26 = load i64, ptr @fly.host_pool.python.4, align 8
  %cmp9.i.i.i = icmp eq i64 %call.i3.i.i, %26
  %or.cond.i.i.i = select i1 %tobool7.not.i.i.i, i1 %cmp9.i.i.i, i1 false
  br i1 %or.cond.i.i.i, label %land.lhs.true10.i.i.i, label %cleanup.i.i

land.lhs.true10.i.i.i:                            ; preds = %if.then6.i.i.i
  %call.i.i.i.i = call i32 %25()
  %27 = load ptr, ptr @fly.host_pool.python.2, align 8
  %call1.i.i.i.i = call i32 %27()
  %cmp.i.not.i.i.i = icmp eq i32 %call1.i.i.i.i, 0
  br i1 %cmp.i.not.i.i.i, label %if.end15.i.i.i, label %if.then12.i.i.i

if.then12.i.i.i:                                  ; preds = %land.lhs.true10.i.i.i
  %28 = load ptr, ptr @fly.host_pool.python.3, align 8
  call void %28(ptr nonnull @fly.host_pool.raised, ptr nonnull getelementptr inbounds nuw (i8, ptr @fly.host_pool.raised, i64 8), ptr nonnull getelementptr inbounds nuw (i8, ptr @fly.host_pool.raised, i64 16))
  %29 = load ptr, ptr @fly.host_pool.python.1, align 8
  call void %29(i32 %call.i.i.i.i)
  br label %if.end19.sink.split.i.i.i

if.end15.i.i.i:                                   ; preds = %land.lhs.true10.i.i.i
  %30 = load ptr, ptr @fly.host_pool.python.1, align 8
  call void %30(i32 %call.i.i.i.i)
  %.pr13.pr.pre.i.i.i = load i32, ptr %reason.i.i.i, align 8
  %tobool17.not.i.i.i = icmp eq i32 %.pr13.pr.pre.i.i.i, 0
  br i1 %tobool17.not.i.i.i, label %cleanup.i.i, label %if.end19.i.i.i

if.end19.sink.split.i.i.i:                        ; preds = %if.then12.i.i.i, %land.lhs.true.i.i.i
  %.sink.i.i.i = phi i32 [ 16777216, %if.then12.i.i.i ], [ 33554432, %land.lhs.true.i.i.i ]
  store i32 %.sink.i.i.i, ptr %reason.i.i.i, align 8
  br label %if.end19.i.i.i

if.end19.i.i.i:                                   ; preds = %if.end19.sink.split.i.i.i, %if.end15.i.i.i, %if.then3.i.i
  store volatile i32 1, ptr %launch.1.i, align 8
  br label %cleanup.i.i

cleanup.i.i:                                      ; preds = %if.end19.i.i.i, %if.end15.i.i.i, %if.then6.i.i.i, %land.lhs.true4.i.i.i, %if.end.i.i
  call void @llvm.lifetime.end.p0(ptr nonnull %time.i.i)
  br label %for.cond.i.i

for.body.i10:                                     ; preds = %if.then9, %for.body.i10
  %i.05.i = phi i32 [ %inc.i, %for.body.i10 ], [ 0, %if.then9 ]
  %call.i11 = tail call i32 @sem_post(ptr nonnull @fly.host_pool.start)
  %inc.i = add nuw nsw i32 %i.05.i, 1
  %31 = load i32, ptr @fly.host_pool.workers, align 4
  %cmp.i12 = icmp slt i32 %inc.i, %31
  br i1 %cmp.i12, label %for.body.i10, label %for.cond.cleanup.i9

run_on_pool.exit:                                 ; preds = %for.cond.i.i
  call void @llvm.lifetime.end.p0(ptr nonnull %time.i.i)
  %32 = load atomic i32, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.job, i64 60) seq_cst, align 4
  store atomic i32 0, ptr @fly.host_pool.busy seq_cst, align 64
  store i32 %32, ptr %status, align 4
  br label %if.end12

if.else:                                          ; preds = %land.lhs.true8, %fly_launch_begin.exit
  call fastcc void @fly.host_pool.run_blocks(ptr nonnull %own)
  %.pr = load i32, ptr %status, align 4
  br label %if.end12

if.end12:                                         ; preds = %if.else, %run_on_pool.exit
  %33 = phi i32 [ %.pr, %if.else ], [ %32, %run_on_pool.exit ]
  %tobool14.not = icmp eq i32 %33, 0
  br i1 %tobool14.not, label %if.then15, label %if.end17

if.then15:                                        ; preds = %if.end12
  %reason = getelementptr inbounds nuw i8, ptr %launch.1.i, i64 40
  %34 = load i32, ptr %reason, align 8
  store i32 %34, ptr %status, align 4
  br label %if.end17

if.end17:                                         ; preds = %if.then15, %if.end12
  %35 = phi i32 [ %34, %if.then15 ], [ %33, %if.end12 ]
  br i1 %cmp1.i, label %fly_launch_end.exit, label %if.then.i

if.then.i:                                        ; preds = %if.end17
  %taken.i13 = getelementptr inbounds nuw i8, ptr %launch.1.i, i64 4
  store atomic i32 0, ptr %taken.i13 seq_cst, align 4
  br label %fly_launch_end.exit

fly_launch_end.exit:                              ; preds = %if.end17, %if.then.i
  call void @llvm.lifetime.end.p0(ptr nonnull %own)
  br label %cleanup

cleanup:                                          ; preds = %entry, %fly_launch_end.exit
  %retval.0 = phi i32 [ %35, %fly_launch_end.exit ], [ 0, %entry ]
  ret i32 %retval.0
}

define internal fastcc void @fly.host_pool.run_blocks(ptr captures(none) %job) {
entry:
  %scratch_bytes = getelementptr inbounds nuw i8, ptr %job, i64 24
  %0 = load i64, ptr %scratch_bytes, align 8
  %tobool.not = icmp eq i64 %0, 0
  br i1 %tobool.not, label %if.end, label %land.lhs.true

land.lhs.true:                                    ; preds = %entry
  %add = add i64 %0, 127
  %and = and i64 %add, -128
  %call = tail call align 128 ptr @aligned_alloc(i64 128, i64 %and)
  %tobool1.not = icmp eq ptr %call, null
  br i1 %tobool1.not, label %if.then, label %if.end

if.then:                                          ; preds = %land.lhs.true
  %status = getelementptr inbounds nuw i8, ptr %job, i64 60
  store atomic i32 -2, ptr %status seq_cst, align 4
  br label %cleanup29

if.end:                                           ; preds = %land.lhs.true, %entry
  %scratch.0 = phi ptr [ %call, %land.lhs.true ], [ null, %entry ]
  %next = getelementptr inbounds nuw i8, ptr %job, i64 48
  %chunk = getelementptr inbounds nuw i8, ptr %job, i64 40
  %status6 = getelementptr inbounds nuw i8, ptr %job, i64 60
  %total = getelementptr inbounds nuw i8, ptr %job, i64 32
  %args = getelementptr inbounds nuw i8, ptr %job, i64 8
  %dims = getelementptr inbounds nuw i8, ptr %job, i64 16
  br label %for.body

for.body:                                         ; preds = %for.cond.cleanup18, %if.end
  %1 = load i64, ptr %chunk, align 8
  %2 = atomicrmw add ptr %next, i64 %1 seq_cst, align 8
  %3 = load i64, ptr %chunk, align 8
  %add5 = add nsw i64 %3, %2
  %4 = load i64, ptr %total, align 8
  %cmp.not = icmp slt i64 %2, %4
  br i1 %cmp.not, label %lor.lhs.false, label %cleanup27

lor.lhs.false:                                    ; preds = %for.body
  %5 = load atomic i32, ptr %status6 seq_cst, align 4
  %tobool8.not = icmp eq i32 %5, 0
  br i1 %tobool8.not, label %for.cond11.preheader, label %cleanup27

for.cond11.preheader:                             ; preds = %lor.lhs.false
  %cmp1223 = icmp sgt i64 %3, 0
  br i1 %cmp1223, label %land.lhs.true13, label %for.cond.cleanup18

land.lhs.true13:                                  ; preds = %for.cond11.preheader, %for.body19
  %n.025 = phi i64 [ %inc, %for.body19 ], [ %2, %for.cond11.preheader ]
  %code.224 = phi i32 [ %call.i, %for.body19 ], [ 0, %for.cond11.preheader ]
  %6 = load i64, ptr %total, align 8
  %cmp15 = icmp slt i64 %n.025, %6
  %tobool16.not = icmp eq i32 %code.224, 0
  %or.cond = select i1 %cmp15, i1 %tobool16.not, i1 false
  br i1 %or.cond, label %for.body19, label %for.cond.cleanup18

for.cond.cleanup18:                               ; preds = %for.body19, %land.lhs.true13, %for.cond11.preheader
  %code.2.lcssa = phi i32 [ 0, %for.cond11.preheader ], [ %code.224, %land.lhs.true13 ], [ %call.i, %for.body19 ]
  %cond = icmp eq i32 %code.2.lcssa, 0
  br i1 %cond, label %for.body, label %if.then22

for.body19:                                       ; preds = %land.lhs.true13
  %7 = load ptr, ptr %job, align 8
  %8 = load ptr, ptr %args, align 8
  %9 = load ptr, ptr %dims, align 8
  %10 = load i64, ptr %9, align 8
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %9, i64 8
  %11 = load i64, ptr %arrayidx1.i, align 8
  %n.025.frozen = freeze i64 %n.025
  %.frozen = freeze i64 %10
  %div.i = udiv i64 %n.025.frozen, %.frozen
  %12 = mul i64 %div.i, %.frozen
  %rem.i.decomposed = sub i64 %n.025.frozen, %12
  %.frozen28 = freeze i64 %11
  %div4.i = udiv i64 %div.i, %.frozen28
  %13 = mul i64 %div4.i, %.frozen28
  %rem2.i.decomposed = sub i64 %div.i, %13
  %call.i = tail call i32 %7(ptr %8, i64 %rem.i.decomposed, i64 %rem2.i.decomposed, i64 %div4.i, ptr nonnull %9, ptr %scratch.0)
  %inc = add nsw i64 %n.025, 1
  %cmp12 = icmp slt i64 %inc, %add5
  br i1 %cmp12, label %land.lhs.true13, label %for.cond.cleanup18

if.then22:                                        ; preds = %for.cond.cleanup18
  %14 = cmpxchg ptr %status6, i32 0, i32 %code.2.lcssa seq_cst seq_cst, align 4
  br label %cleanup27

cleanup27:                                        ; preds = %for.body, %lor.lhs.false, %if.then22
  tail call void @free(ptr %scratch.0)
  br label %cleanup29

cleanup29:                                        ; preds = %cleanup27, %if.then
  ret void
}

define void @fly_host_spin(ptr readonly captures(none) %launch, i32 %site) {
entry:
  %scheduler1 = getelementptr inbounds nuw i8, ptr %launch, i64 48
  %0 = load ptr, ptr %scheduler1, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %cleanup, label %if.end

if.end:                                           ; preds = %entry
  %current = getelementptr inbounds nuw i8, ptr %0, i64 8320
  %1 = load ptr, ptr %current, align 16
  %step = getelementptr inbounds nuw i8, ptr %0, i64 8328
  %2 = load i64, ptr %step, align 8
  %looked = getelementptr inbounds nuw i8, ptr %1, i64 8224
  store i64 %2, ptr %looked, align 16
  %site2 = getelementptr inbounds nuw i8, ptr %1, i64 8232
  store i32 %site, ptr %site2, align 8
  %call = tail call i32 @swapcontext(ptr %1, ptr nonnull %0)
  br label %cleanup

cleanup:                                          ; preds = %entry, %if.end
  ret void
}

declare i32 @swapcontext(ptr, ptr) 

define void @fly_host_step(ptr readonly captures(none) %launch) {
entry:
  %scheduler1 = getelementptr inbounds nuw i8, ptr %launch, i64 48
  %0 = load ptr, ptr %scheduler1, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %cleanup, label %if.end

if.end:                                           ; preds = %entry
  %step = getelementptr inbounds nuw i8, ptr %0, i64 8328
  %1 = load i64, ptr %step, align 8
  %inc = add i64 %1, 1
  store i64 %inc, ptr %step, align 8
  %random = getelementptr inbounds nuw i8, ptr %0, i64 8336
  %2 = load i64, ptr %random, align 16
  %tobool2.not = icmp eq i64 %2, 0
  br i1 %tobool2.not, label %cleanup, label %land.lhs.true

land.lhs.true:                                    ; preds = %if.end
  %shl.i = shl i64 %2, 13
  %xor.i = xor i64 %shl.i, %2
  %shr.i = lshr i64 %xor.i, 7
  %xor1.i = xor i64 %shr.i, %xor.i
  %shl2.i = shl i64 %xor1.i, 17
  %xor3.i = xor i64 %shl2.i, %xor1.i
  store i64 %xor3.i, ptr %random, align 16
  %mul.i = mul i64 %xor3.i, 5627501853
  %3 = and i64 %mul.i, 25769803776
  %cmp = icmp eq i64 %3, 0
  br i1 %cmp, label %if.then3, label %cleanup

if.then3:                                         ; preds = %land.lhs.true
  %current = getelementptr inbounds nuw i8, ptr %0, i64 8320
  %4 = load ptr, ptr %current, align 16
  %call5 = tail call i32 @swapcontext(ptr %4, ptr nonnull %0)
  br label %cleanup

cleanup:                                          ; preds = %if.end, %land.lhs.true, %if.then3, %entry
  ret void
}

define void @fly_ranks_begin(i32 %count, i64 %seed, i32 %places) {
entry:
  %0 = load ptr, ptr @fly.host_pool.hooks, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  tail call void %0()
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
  %cmp10 = icmp sgt i32 %count, 0
  br i1 %cmp10, label %for.body.preheader, label %for.cond.cleanup

for.body.preheader:                               ; preds = %if.end
  %wide.trip.count = zext nneg i32 %count to i64
  br label %for.body

for.cond.cleanup:                                 ; preds = %for.body, %if.end
  ret void

for.body:                                         ; preds = %for.body.preheader, %for.body
  %indvars.iv = phi i64 [ 0, %for.body.preheader ], [ %indvars.iv.next, %for.body ]
  %arrayidx = getelementptr inbounds nuw %struct.Rank, ptr @fly.host_pool.ranks, i64 %indvars.iv
  %cmp2 = icmp eq i64 %indvars.iv, 0
  %conv = zext i1 %cmp2 to i32
  %call = tail call i32 @sem_init(ptr nonnull %arrayidx, i32 0, i32 %conv)
  %thread = getelementptr inbounds nuw i8, ptr %arrayidx, i64 64
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond.not = icmp eq i64 %indvars.iv.next, %wide.trip.count
  tail call void @llvm.memset.p0.i64(ptr nonnull align 16 dereferenceable(20) %thread, i8 0, i64 20, i1 false)
  br i1 %exitcond.not, label %for.cond.cleanup, label %for.body
}

declare i32 @sem_init(ptr, i32, i32) 

define void @fly_ranks_enter(i32 %rank) {
entry:
  %idxprom = sext i32 %rank to i64
  %arrayidx = getelementptr inbounds %struct.Rank, ptr @fly.host_pool.ranks, i64 %idxprom
  br label %while.cond.i

while.cond.i:                                     ; preds = %while.cond.i, %entry
  %call.i = tail call i32 @sem_wait(ptr nonnull %arrayidx)
  %tobool.not.i = icmp eq i32 %call.i, 0
  br i1 %tobool.not.i, label %take_turn.exit, label %while.cond.i

take_turn.exit:                                   ; preds = %while.cond.i
  %call = tail call i64 @pthread_self()
  %thread = getelementptr inbounds nuw i8, ptr %arrayidx, i64 64
  store i64 %call, ptr %thread, align 16
  ret void
}

define void @fly_ranks_leave(i32 %rank) {
entry:
  %idxprom = sext i32 %rank to i64
  %arrayidx = getelementptr inbounds %struct.Rank, ptr @fly.host_pool.ranks, i64 %idxprom
  %state = getelementptr inbounds nuw i8, ptr %arrayidx, i64 72
  store i32 3, ptr %state, align 8
  tail call fastcc void @fly.host_pool.hand_on()
  ret void
}

define internal fastcc void @fly.host_pool.hand_on() {
entry:
  %0 = load i32, ptr @fly.host_pool.rank_count, align 4
  %cmp3543 = icmp sgt i32 %0, 0
  br i1 %cmp3543, label %for.body.preheader, label %return

for.body.preheader:                               ; preds = %entry, %if.end22
  %1 = phi i32 [ %19, %if.end22 ], [ %0, %entry ]
  %wide.trip.count = zext nneg i32 %1 to i64
  br label %for.body

for.cond1:                                        ; preds = %for.body
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond.not = icmp eq i64 %indvars.iv.next, %wide.trip.count
  br i1 %exitcond.not, label %for.body.preheader.i, label %for.body

for.body:                                         ; preds = %for.body.preheader, %for.cond1
  %indvars.iv = phi i64 [ 0, %for.body.preheader ], [ %indvars.iv.next, %for.cond1 ]
  %arrayidx = getelementptr inbounds nuw %struct.Rank, ptr @fly.host_pool.ranks, i64 %indvars.iv
  %state = getelementptr inbounds nuw i8, ptr %arrayidx, i64 72
  %2 = load i32, ptr %state, align 8
  %cmp2 = icmp eq i32 %2, 0
  br i1 %cmp2, label %cleanup, label %for.cond1

cleanup:                                          ; preds = %for.body
  %call = tail call i32 @sem_post(ptr nonnull %arrayidx)
  br label %return

for.body.preheader.i:                             ; preds = %for.cond1
  %wide.trip.count.i = zext nneg i32 %1 to i64
  br label %for.body.i

for.body.i:                                       ; preds = %for.body.i, %for.body.preheader.i
  %indvars.iv.i = phi i64 [ 0, %for.body.preheader.i ], [ %indvars.iv.next.i, %for.body.i ]
  %found.05.i = phi i32 [ 0, %for.body.preheader.i ], [ %add.i, %for.body.i ]
  %arrayidx.i = getelementptr inbounds nuw %struct.Rank, ptr @fly.host_pool.ranks, i64 %indvars.iv.i
  %state1.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 72
  %3 = load i32, ptr %state1.i, align 8
  %cmp2.i = icmp eq i32 %3, 1
  %conv.i = zext i1 %cmp2.i to i32
  %add.i = add nuw nsw i32 %found.05.i, %conv.i
  %indvars.iv.next.i = add nuw nsw i64 %indvars.iv.i, 1
  %exitcond.not.i = icmp eq i64 %indvars.iv.next.i, %wide.trip.count.i
  br i1 %exitcond.not.i, label %in_state.exit, label %for.body.i

in_state.exit:                                    ; preds = %for.body.i
  %tobool.not = icmp eq i32 %add.i, 0
  br i1 %tobool.not, label %for.body.i11, label %if.then6

if.then6:                                         ; preds = %in_state.exit
  %call7 = tail call fastcc i32 @fly.host_pool.run_together(ptr nonnull @fly.host_pool.together)
  %idxprom8 = zext nneg i32 %call7 to i64
  %arrayidx9 = getelementptr inbounds nuw ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.together, i64 8192), i64 %idxprom8
  %4 = load ptr, ptr %arrayidx9, align 8
  %rank = getelementptr inbounds nuw i8, ptr %4, i64 84
  %5 = load i32, ptr %rank, align 4
  %idxprom10 = sext i32 %5 to i64
  %arrayidx11 = getelementptr inbounds %struct.Rank, ptr @fly.host_pool.ranks, i64 %idxprom10
  %state12 = getelementptr inbounds nuw i8, ptr %arrayidx11, i64 72
  store i32 0, ptr %state12, align 8
  %6 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.hooks, i64 16), align 8
  %tobool13.not = icmp eq ptr %6, null
  br i1 %tobool13.not, label %if.end16, label %if.then14

if.then14:                                        ; preds = %if.then6
  %7 = load i32, ptr %rank, align 4
  tail call void %6(i32 %7)
  %.pre = load ptr, ptr %arrayidx9, align 8
  br label %if.end16

if.end16:                                         ; preds = %if.then14, %if.then6
  %8 = phi ptr [ %.pre, %if.then14 ], [ %4, %if.then6 ]
  %9 = load i32, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.together, i64 8344), align 8
  %dec.i = add nsw i32 %9, -1
  store i32 %dec.i, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.together, i64 8344), align 8
  %idxprom2.i = sext i32 %dec.i to i64
  %arrayidx3.i = getelementptr inbounds ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.together, i64 8192), i64 %idxprom2.i
  %10 = load ptr, ptr %arrayidx3.i, align 8
  store ptr %10, ptr %arrayidx9, align 8
  %launch.i = getelementptr inbounds nuw i8, ptr %8, i64 24
  %11 = load ptr, ptr %launch.i, align 8
  %cmp.not.i.i = icmp eq ptr %11, @fly.host_pool.unwatched
  br i1 %cmp.not.i.i, label %forget.exit, label %if.then.i.i

if.then.i.i:                                      ; preds = %if.end16
  %taken.i.i = getelementptr inbounds nuw i8, ptr %11, i64 4
  store atomic i32 0, ptr %taken.i.i seq_cst, align 4
  br label %forget.exit

forget.exit:                                      ; preds = %if.end16, %if.then.i.i
  %memory.i = getelementptr inbounds nuw i8, ptr %8, i64 40
  %12 = load ptr, ptr %memory.i, align 8
  tail call void @free(ptr %12)
  %fibers.i = getelementptr inbounds nuw i8, ptr %8, i64 32
  %13 = load ptr, ptr %fibers.i, align 8
  tail call void @free(ptr %13)
  br label %if.end22

for.body.i11:                                     ; preds = %in_state.exit, %for.body.i11
  %indvars.iv.i12 = phi i64 [ %indvars.iv.next.i19, %for.body.i11 ], [ 0, %in_state.exit ]
  %found.05.i13 = phi i32 [ %add.i18, %for.body.i11 ], [ 0, %in_state.exit ]
  %arrayidx.i14 = getelementptr inbounds nuw %struct.Rank, ptr @fly.host_pool.ranks, i64 %indvars.iv.i12
  %state1.i15 = getelementptr inbounds nuw i8, ptr %arrayidx.i14, i64 72
  %14 = load i32, ptr %state1.i15, align 8
  %cmp2.i16 = icmp eq i32 %14, 2
  %conv.i17 = zext i1 %cmp2.i16 to i32
  %add.i18 = add nuw nsw i32 %found.05.i13, %conv.i17
  %indvars.iv.next.i19 = add nuw nsw i64 %indvars.iv.i12, 1
  %exitcond.not.i20 = icmp eq i64 %indvars.iv.next.i19, %wide.trip.count.i
  br i1 %exitcond.not.i20, label %in_state.exit21, label %for.body.i11

in_state.exit21:                                  ; preds = %for.body.i11
  %tobool18.not = icmp eq i32 %add.i18, 0
  br i1 %tobool18.not, label %return, label %for.body.i.i

for.body.i.i:                                     ; preds = %in_state.exit21, %for.body.i.i
  %indvars.iv.i.i = phi i64 [ %indvars.iv.next.i.i, %for.body.i.i ], [ 0, %in_state.exit21 ]
  %found.05.i.i = phi i32 [ %add.i.i, %for.body.i.i ], [ 0, %in_state.exit21 ]
  %arrayidx.i.i = getelementptr inbounds nuw %struct.Rank, ptr @fly.host_pool.ranks, i64 %indvars.iv.i.i
  %state1.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i.i, i64 72
  %15 = load i32, ptr %state1.i.i, align 8
  %cmp2.i.i = icmp eq i32 %15, 3
  %conv.i.i = zext i1 %cmp2.i.i to i32
  %add.i.i = add nuw nsw i32 %found.05.i.i, %conv.i.i
  %indvars.iv.next.i.i = add nuw nsw i64 %indvars.iv.i.i, 1
  %exitcond.not.i.i = icmp eq i64 %indvars.iv.next.i.i, %wide.trip.count.i
  br i1 %exitcond.not.i.i, label %for.body.lr.ph.i, label %for.body.i.i

for.body.lr.ph.i:                                 ; preds = %for.body.i.i
  %16 = icmp ne i32 %add.i.i, 0
  %conv.i22 = zext i1 %16 to i32
  br label %for.body.i24

for.cond.cleanup.i:                               ; preds = %for.inc.i
  %17 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.hooks, i64 24), align 8
  %tobool.i = icmp eq ptr %17, null
  %or.cond.not.i = select i1 %16, i1 true, i1 %tobool.i
  br i1 %or.cond.not.i, label %if.end22, label %if.then10.i

for.body.i24:                                     ; preds = %for.inc.i, %for.body.lr.ph.i
  %indvars.iv.i25 = phi i64 [ 0, %for.body.lr.ph.i ], [ %indvars.iv.next.i28, %for.inc.i ]
  %arrayidx.i26 = getelementptr inbounds nuw %struct.Rank, ptr @fly.host_pool.ranks, i64 %indvars.iv.i25
  %state.i = getelementptr inbounds nuw i8, ptr %arrayidx.i26, i64 72
  %18 = load i32, ptr %state.i, align 8
  %cmp2.i27 = icmp eq i32 %18, 2
  br i1 %cmp2.i27, label %if.then.i, label %for.inc.i

if.then.i:                                        ; preds = %for.body.i24
  store i32 0, ptr %state.i, align 8
  %failed8.i = getelementptr inbounds nuw i8, ptr %arrayidx.i26, i64 80
  store i32 %conv.i22, ptr %failed8.i, align 16
  br label %for.inc.i

for.inc.i:                                        ; preds = %if.then.i, %for.body.i24
  %indvars.iv.next.i28 = add nuw nsw i64 %indvars.iv.i25, 1
  %exitcond.not.i29 = icmp eq i64 %indvars.iv.next.i28, %wide.trip.count.i
  br i1 %exitcond.not.i29, label %for.cond.cleanup.i, label %for.body.i24

if.then10.i:                                      ; preds = %for.cond.cleanup.i
  tail call void %17()
  br label %if.end22

if.end22:                                         ; preds = %if.then10.i, %for.cond.cleanup.i, %forget.exit
  %19 = load i32, ptr @fly.host_pool.rank_count, align 4
  %cmp35 = icmp sgt i32 %19, 0
  br i1 %cmp35, label %for.body.preheader, label %return

return:                                           ; preds = %in_state.exit21, %if.end22, %entry, %cleanup
  ret void
}

define void @fly_ranks_stop() #1 {
entry:
  store atomic i32 1, ptr @fly.host_pool.stopped monotonic, align 4
  ret void
}

define void @fly_ranks_end() #2 {
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
  tail call fastcc void @fly.host_pool.hand_on()
  br label %while.cond.i

while.cond.i:                                     ; preds = %while.cond.i, %entry
  %call.i = tail call i32 @sem_wait(ptr nonnull %arrayidx)
  %tobool.not.i = icmp eq i32 %call.i, 0
  br i1 %tobool.not.i, label %take_turn.exit, label %while.cond.i

take_turn.exit:                                   ; preds = %while.cond.i
  %failed = getelementptr inbounds nuw i8, ptr %arrayidx, i64 80
  %0 = load i32, ptr %failed, align 16
  ret i32 %0
}

define void @fly_ranks_code(i32 %code) {
entry:
  %call.i = tail call i64 @pthread_self()
  %0 = load i32, ptr @fly.host_pool.rank_count, align 4
  %cmp.not5.i = icmp sgt i32 %0, 0
  br i1 %cmp.not5.i, label %for.body.preheader.i, label %if.end

for.body.preheader.i:                             ; preds = %entry
  %wide.trip.count.i = zext nneg i32 %0 to i64
  br label %for.body.i

for.body.i:                                       ; preds = %for.inc.i, %for.body.preheader.i
  %indvars.iv.i = phi i64 [ 0, %for.body.preheader.i ], [ %indvars.iv.next.i, %for.inc.i ]
  %arrayidx.i = getelementptr inbounds nuw %struct.Rank, ptr @fly.host_pool.ranks, i64 %indvars.iv.i
  %thread.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 64
  %1 = load i64, ptr %thread.i, align 16
  %cmp1.i = icmp eq i64 %1, %call.i
  br i1 %cmp1.i, label %land.lhs.true.i, label %for.inc.i

land.lhs.true.i:                                  ; preds = %for.body.i
  %state.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 72
  %2 = load i32, ptr %state.i, align 8
  %cmp4.not.i = icmp eq i32 %2, 3
  br i1 %cmp4.not.i, label %for.inc.i, label %if.then

for.inc.i:                                        ; preds = %land.lhs.true.i, %for.body.i
  %indvars.iv.next.i = add nuw nsw i64 %indvars.iv.i, 1
  %exitcond.not.i = icmp eq i64 %indvars.iv.next.i, %wide.trip.count.i
  br i1 %exitcond.not.i, label %if.end, label %for.body.i

if.then:                                          ; preds = %land.lhs.true.i
  %idxprom = and i64 %indvars.iv.i, 4294967295
  %arrayidx = getelementptr inbounds nuw %struct.Rank, ptr @fly.host_pool.ranks, i64 %idxprom
  %code1 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 76
  store i32 %code, ptr %code1, align 4
  br label %if.end

if.end:                                           ; preds = %for.inc.i, %entry, %if.then
  ret void
}

define void @fly_ranks_memory(i64 %low, i64 %bytes) #3 {
entry:
  %0 = load i32, ptr @fly.host_pool.symmetric_count, align 4
  %cmp = icmp slt i32 %0, 1024
  br i1 %cmp, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %idxprom = sext i32 %0 to i64
  %arrayidx = getelementptr inbounds %struct.anon, ptr @fly.host_pool.symmetric, i64 %idxprom
  store i64 %low, ptr %arrayidx, align 16
  %add = add i64 %bytes, %low
  %inc = add nsw i32 %0, 1
  store i32 %inc, ptr @fly.host_pool.symmetric_count, align 4
  %end = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  store i64 %add, ptr %end, align 8
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  ret void
}

define i1 @fly_ranks_share(i64 %address) #4 {
entry:
  %0 = load i32, ptr @fly.host_pool.symmetric_count, align 4
  %cmp6 = icmp sgt i32 %0, 0
  br i1 %cmp6, label %for.body.preheader, label %cleanup

for.body.preheader:                               ; preds = %entry
  %wide.trip.count = zext nneg i32 %0 to i64
  br label %for.body

for.body:                                         ; preds = %for.body.preheader, %for.inc
  %indvars.iv = phi i64 [ 0, %for.body.preheader ], [ %indvars.iv.next, %for.inc ]
  %arrayidx = getelementptr inbounds nuw %struct.anon, ptr @fly.host_pool.symmetric, i64 %indvars.iv
  %1 = load i64, ptr %arrayidx, align 16
  %cmp1.not = icmp ult i64 %address, %1
  br i1 %cmp1.not, label %for.inc, label %land.lhs.true

land.lhs.true:                                    ; preds = %for.body
  %end = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %2 = load i64, ptr %end, align 8
  %cmp4 = icmp ult i64 %address, %2
  br i1 %cmp4, label %cleanup, label %for.inc

for.inc:                                          ; preds = %for.body, %land.lhs.true
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond.not = icmp eq i64 %indvars.iv.next, %wide.trip.count
  br i1 %exitcond.not, label %cleanup, label %for.body

cleanup:                                          ; preds = %land.lhs.true, %for.inc, %entry
  %cmp.lcssa = phi i1 [ false, %entry ], [ false, %for.inc ], [ true, %land.lhs.true ]
  ret i1 %cmp.lcssa
}

define nonnull ptr @fly_ranks_waiting() #5 {
entry:
  ret ptr @fly.host_pool.waiting
}

define void @fly_ranks_hooks(ptr readonly captures(none) %functions) #6 {
entry:
  tail call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(32) @fly.host_pool.hooks, ptr nonnull align 8 dereferenceable(32) %functions, i64 32, i1 false)
  ret void
}

define void @fly_ranks_outside(i32 %count, ptr readonly captures(none) %handles, ptr readonly captures(none) %numbers, i64 %limit) #7 {
entry:
  store i32 %count, ptr @fly.host_pool.outside, align 16
  store i64 %limit, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.outside, i64 8), align 8
  %0 = icmp sgt i32 %count, 0
  br i1 %0, label %for.body.preheader, label %for.cond.cleanup

for.body.preheader:                               ; preds = %entry
  %1 = tail call i32 @llvm.umin.i32(i32 %count, i32 16)
  %wide.trip.count = zext nneg i32 %1 to i64
  br label %for.body

for.cond.cleanup:                                 ; preds = %for.body, %entry
  ret void

for.body:                                         ; preds = %for.body.preheader, %for.body
  %indvars.iv = phi i64 [ 0, %for.body.preheader ], [ %indvars.iv.next, %for.body ]
  %arrayidx = getelementptr inbounds nuw i32, ptr %handles, i64 %indvars.iv
  %2 = load i32, ptr %arrayidx, align 4
  %arrayidx3 = getelementptr inbounds nuw i32, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.outside, i64 16), i64 %indvars.iv
  store i32 %2, ptr %arrayidx3, align 4
  %arrayidx5 = getelementptr inbounds nuw i32, ptr %numbers, i64 %indvars.iv
  %3 = load i32, ptr %arrayidx5, align 4
  %arrayidx7 = getelementptr inbounds nuw i32, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.outside, i64 80), i64 %indvars.iv
  store i32 %3, ptr %arrayidx7, align 4
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %exitcond.not = icmp eq i64 %indvars.iv.next, %wide.trip.count
  br i1 %exitcond.not, label %for.cond.cleanup, label %for.body
}

define i1 @fly_ranks_here(ptr writeonly captures(none) %who) #8 {
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
  %4 = load ptr, ptr %current, align 16
  %block = getelementptr inbounds nuw i8, ptr %4, i64 8200
  %5 = load i64, ptr %block, align 8
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %who, i64 8
  store i64 %5, ptr %arrayidx2, align 8
  %6 = load ptr, ptr %current, align 16
  %of4 = getelementptr inbounds nuw i8, ptr %6, i64 8192
  %7 = load ptr, ptr %of4, align 16
  %code = getelementptr inbounds nuw i8, ptr %7, i64 88
  %8 = load i32, ptr %code, align 8
  %conv5 = sext i32 %8 to i64
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
  %call.i = tail call i64 @pthread_self()
  %0 = load i32, ptr @fly.host_pool.rank_count, align 4
  %cmp.not5.i = icmp sgt i32 %0, 0
  br i1 %cmp.not5.i, label %for.body.preheader.i, label %own_rank.exit

for.body.preheader.i:                             ; preds = %entry
  %wide.trip.count.i = zext nneg i32 %0 to i64
  br label %for.body.i

for.body.i:                                       ; preds = %for.inc.i, %for.body.preheader.i
  %indvars.iv.i = phi i64 [ 0, %for.body.preheader.i ], [ %indvars.iv.next.i, %for.inc.i ]
  %arrayidx.i = getelementptr inbounds nuw %struct.Rank, ptr @fly.host_pool.ranks, i64 %indvars.iv.i
  %thread.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 64
  %1 = load i64, ptr %thread.i, align 16
  %cmp1.i = icmp eq i64 %1, %call.i
  br i1 %cmp1.i, label %land.lhs.true.i, label %for.inc.i

land.lhs.true.i:                                  ; preds = %for.body.i
  %state.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 72
  %2 = load i32, ptr %state.i, align 8
  %cmp4.not.i = icmp eq i32 %2, 3
  br i1 %cmp4.not.i, label %for.inc.i, label %cleanup.loopexit.split.loop.exit.i

for.inc.i:                                        ; preds = %land.lhs.true.i, %for.body.i
  %indvars.iv.next.i = add nuw nsw i64 %indvars.iv.i, 1
  %exitcond.not.i = icmp eq i64 %indvars.iv.next.i, %wide.trip.count.i
  br i1 %exitcond.not.i, label %own_rank.exit, label %for.body.i

cleanup.loopexit.split.loop.exit.i:               ; preds = %land.lhs.true.i
  %3 = trunc nuw nsw i64 %indvars.iv.i to i32
  br label %own_rank.exit

own_rank.exit:                                    ; preds = %for.inc.i, %entry, %cleanup.loopexit.split.loop.exit.i
  %spec.select.i = phi i32 [ -1, %entry ], [ %3, %cleanup.loopexit.split.loop.exit.i ], [ -1, %for.inc.i ]
  call void @llvm.lifetime.start.p0(ptr nonnull %alone)
  %cmp = icmp slt i32 %spec.select.i, 0
  %alone.together = select i1 %cmp, ptr %alone, ptr @fly.host_pool.together
  call void @llvm.lifetime.start.p0(ptr nonnull %resident)
  store ptr %kernel, ptr %resident, align 8
  %args2 = getelementptr inbounds nuw i8, ptr %resident, i64 8
  store ptr %args, ptr %args2, align 8
  %dims3 = getelementptr inbounds nuw i8, ptr %resident, i64 16
  store ptr %dims, ptr %dims3, align 8
  %launch = getelementptr inbounds nuw i8, ptr %resident, i64 24
  %fibers = getelementptr inbounds nuw i8, ptr %resident, i64 32
  %memory = getelementptr inbounds nuw i8, ptr %resident, i64 40
  %places = getelementptr inbounds nuw i8, ptr %resident, i64 48
  %total = getelementptr inbounds nuw i8, ptr %resident, i64 56
  store i64 0, ptr %launch, align 8
  %4 = load i64, ptr %dims, align 8
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %dims, i64 8
  %5 = load i64, ptr %arrayidx1.i, align 8
  %mul.i = mul nsw i64 %5, %4
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %dims, i64 16
  %6 = load i64, ptr %arrayidx2.i, align 8
  %mul3.i = mul nsw i64 %mul.i, %6
  store i64 %mul3.i, ptr %total, align 8
  %next = getelementptr inbounds nuw i8, ptr %resident, i64 64
  %status = getelementptr inbounds nuw i8, ptr %resident, i64 80
  %rank5 = getelementptr inbounds nuw i8, ptr %resident, i64 84
  %7 = getelementptr inbounds nuw i8, ptr %resident, i64 72
  call void @llvm.memset.p0.i64(ptr nonnull align 8 dereferenceable(12) %7, i8 0, i64 12, i1 false)
  store i32 %spec.select.i, ptr %rank5, align 4
  %code = getelementptr inbounds nuw i8, ptr %resident, i64 88
  store i32 0, ptr %code, align 8
  %8 = getelementptr inbounds nuw i8, ptr %resident, i64 92
  store i32 0, ptr %8, align 4
  %cmp6 = icmp sgt i32 %spec.select.i, -1
  %tobool = icmp ne i32 %certain, 0
  %or.cond = select i1 %cmp6, i1 true, i1 %tobool
  br i1 %or.cond, label %if.end, label %if.then

if.then:                                          ; preds = %own_rank.exit
  %call7 = tail call i32 @fly_host_launch(ptr %kernel, ptr %args, ptr nonnull %dims, i64 %scratch_bytes)
  br label %cleanup

if.end:                                           ; preds = %own_rank.exit
  %cmp9 = icmp slt i64 %mul3.i, 1
  br i1 %cmp9, label %cleanup, label %if.end11

if.end11:                                         ; preds = %if.end
  %add.i = add i64 %scratch_bytes, 255
  %and.i = and i64 %add.i, -128
  %9 = load i32, ptr @fly.host_pool.capacity, align 4
  %tobool.not.i = icmp eq i32 %9, 0
  %conv.i = sext i32 %9 to i64
  %spec.select.i15 = tail call i64 @llvm.smin.i64(i64 %mul3.i, i64 %conv.i)
  %cond.i = select i1 %tobool.not.i, i64 %mul3.i, i64 %spec.select.i15
  %add5.i = add i64 %and.i, 532863
  %and6.i = and i64 %add5.i, -128
  %mul.i16 = mul i64 %cond.i, %and6.i
  %call.i17 = tail call align 128 ptr @aligned_alloc(i64 128, i64 %mul.i16)
  store ptr %call.i17, ptr %memory, align 8
  %mul7.i = mul i64 %cond.i, 8240
  %add8.i = add i64 %mul7.i, 127
  %and9.i = and i64 %add8.i, -128
  %call10.i = tail call align 128 ptr @aligned_alloc(i64 128, i64 %and9.i)
  store ptr %call10.i, ptr %fibers, align 8
  %tobool12.not.i = icmp ne ptr %call.i17, null
  %tobool14.not.i = icmp ne ptr %call10.i, null
  %or.cond.not.i = and i1 %tobool12.not.i, %tobool14.not.i
  br i1 %or.cond.not.i, label %if.end.i, label %if.then13

if.end.i:                                         ; preds = %if.end11
  store i64 %cond.i, ptr %next, align 8
  store i64 %cond.i, ptr %places, align 8
  %cmp1623.i = icmp sgt i64 %cond.i, 0
  br i1 %cmp1623.i, label %for.body.i18, label %for.body.i21.preheader

for.body.i21.preheader:                           ; preds = %for.body.i18, %if.end.i
  br label %for.body.i21

for.body.i18:                                     ; preds = %if.end.i, %for.body.i18
  %i.024.i = phi i64 [ %inc.i, %for.body.i18 ], [ 0, %if.end.i ]
  %10 = load ptr, ptr %fibers, align 8
  %arrayidx.i19 = getelementptr inbounds nuw %struct.Fiber, ptr %10, i64 %i.024.i
  %of.i = getelementptr inbounds nuw i8, ptr %arrayidx.i19, i64 8192
  store ptr %resident, ptr %of.i, align 16
  %11 = load ptr, ptr %memory, align 8
  %mul22.i = mul i64 %i.024.i, %and6.i
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %11, i64 %mul22.i
  %stack.i = getelementptr inbounds nuw i8, ptr %arrayidx.i19, i64 8216
  store ptr %add.ptr.i, ptr %stack.i, align 8
  %add.ptr24.i = getelementptr inbounds nuw i8, ptr %add.ptr.i, i64 524288
  %scratch25.i = getelementptr inbounds nuw i8, ptr %arrayidx.i19, i64 8208
  store ptr %add.ptr24.i, ptr %scratch25.i, align 16
  %12 = ptrtoint ptr %arrayidx.i19 to i64
  %block2.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i19, i64 8200
  store i64 %i.024.i, ptr %block2.i.i, align 8
  %looked.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i19, i64 8224
  call void @llvm.memset.p0.i64(ptr nonnull align 16 dereferenceable(14) %looked.i.i, i8 0, i64 14, i1 false)
  %call.i.i = call i32 @getcontext(ptr %arrayidx.i19)
  %link.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i19, i64 8
  store ptr null, ptr %link.i.i, align 8
  %13 = load ptr, ptr %stack.i, align 8
  %stack3.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i19, i64 16
  store ptr %13, ptr %stack3.i.i, align 16
  %stack_bytes.i.i = getelementptr inbounds nuw i8, ptr %arrayidx.i19, i64 32
  store i64 524288, ptr %stack_bytes.i.i, align 16
  %conv.i.i = trunc i64 %12 to i32
  %shr.i.i = lshr i64 %12, 32
  %conv4.i.i = trunc nuw i64 %shr.i.i to i32
  call void (ptr, ptr, i32, ...) @makecontext(ptr %arrayidx.i19, ptr nonnull @fly.host_pool.block_main, i32 2, i32 %conv.i.i, i32 %conv4.i.i)
  %inc.i = add nuw nsw i64 %i.024.i, 1
  %exitcond.not.i20 = icmp eq i64 %inc.i, %cond.i
  br i1 %exitcond.not.i20, label %for.body.i21.preheader, label %for.body.i18

if.then13:                                        ; preds = %if.end11
  tail call void @free(ptr %call.i17)
  tail call void @free(ptr %call10.i)
  br label %cleanup

for.cond.cleanup.i:                               ; preds = %for.body.i21
  br i1 %cmp1.i25, label %fly_launch_begin.exit, label %if.then5.i

for.body.i21:                                     ; preds = %for.body.i21.preheader, %for.body.i21
  %indvars.iv.i22 = phi i64 [ %indvars.iv.next.i24, %for.body.i21 ], [ 0, %for.body.i21.preheader ]
  %arrayidx.i23 = getelementptr inbounds nuw %struct.Launch, ptr @fly.host_pool.launches, i64 %indvars.iv.i22
  %taken.i = getelementptr inbounds nuw i8, ptr %arrayidx.i23, i64 4
  %14 = cmpxchg ptr %taken.i, i32 0, i32 1 seq_cst monotonic, align 4
  %15 = extractvalue { i32, i1 } %14, 1
  %launch.1.i = select i1 %15, ptr %arrayidx.i23, ptr @fly.host_pool.unwatched
  %indvars.iv.next.i24 = add nuw nsw i64 %indvars.iv.i22, 1
  %cmp.i = icmp samesign ult i64 %indvars.iv.i22, 31
  %cmp1.i25 = icmp eq ptr %launch.1.i, @fly.host_pool.unwatched
  %16 = and i1 %cmp.i, %cmp1.i25
  br i1 %16, label %for.body.i21, label %for.cond.cleanup.i

if.then5.i:                                       ; preds = %for.cond.cleanup.i
  store volatile i32 0, ptr %launch.1.i, align 8
  %reason.i = getelementptr inbounds nuw i8, ptr %launch.1.i, i64 40
  store i32 0, ptr %reason.i, align 8
  %call.i26 = call i64 @pthread_self()
  %caller.i = getelementptr inbounds nuw i8, ptr %launch.1.i, i64 32
  store i64 %call.i26, ptr %caller.i, align 8
  %number.i = getelementptr inbounds nuw i8, ptr %launch.1.i, i64 16
  %17 = atomicrmw add ptr @fly.host_pool.launch_count, i64 1 monotonic, align 8
  %18 = add i64 %17, 1
  store atomic i64 %18, ptr %number.i release, align 8
  %19 = load atomic i32, ptr @fly.host_pool.asleep seq_cst, align 4
  %tobool.not.i27 = icmp eq i32 %19, 0
  br i1 %tobool.not.i27, label %fly_launch_begin.exit, label %land.lhs.true.i28

land.lhs.true.i28:                                ; preds = %if.then5.i
  %20 = atomicrmw xchg ptr @fly.host_pool.asleep, i32 0 seq_cst, align 4
  %tobool11.not.i = icmp eq i32 %20, 0
  br i1 %tobool11.not.i, label %fly_launch_begin.exit, label %if.then12.i

if.then12.i:                                      ; preds = %land.lhs.true.i28
  %call13.i = call i32 @sem_post(ptr nonnull @fly.host_pool.wake)
  br label %fly_launch_begin.exit

fly_launch_begin.exit:                            ; preds = %for.cond.cleanup.i, %if.then5.i, %land.lhs.true.i28, %if.then12.i
  %scheduler.i = getelementptr inbounds nuw i8, ptr %launch.1.i, i64 48
  %check_in.i = getelementptr inbounds nuw i8, ptr %launch.1.i, i64 8
  store ptr @fly.host_pool.check_in, ptr %check_in.i, align 8
  %21 = ptrtoint ptr %launch.1.i to i64
  %arrayidx16.i = getelementptr inbounds nuw i8, ptr %dims, i64 56
  store i64 %21, ptr %arrayidx16.i, align 8
  store ptr %launch.1.i, ptr %launch, align 8
  store ptr %alone.together, ptr %scheduler.i, align 8
  br i1 %cmp, label %if.then22, label %if.end25

if.then22:                                        ; preds = %fly_launch_begin.exit
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
  %call23 = call fastcc i32 @fly.host_pool.run_together(ptr nonnull %alone)
  %idxprom.i = zext nneg i32 %call23 to i64
  %arrayidx.i29 = getelementptr inbounds nuw ptr, ptr %residents, i64 %idxprom.i
  %22 = load ptr, ptr %arrayidx.i29, align 8
  %23 = load i32, ptr %count, align 8
  %dec.i = add nsw i32 %23, -1
  store i32 %dec.i, ptr %count, align 8
  %idxprom2.i = sext i32 %dec.i to i64
  %arrayidx3.i = getelementptr inbounds ptr, ptr %residents, i64 %idxprom2.i
  %24 = load ptr, ptr %arrayidx3.i, align 8
  store ptr %24, ptr %arrayidx.i29, align 8
  %launch.i = getelementptr inbounds nuw i8, ptr %22, i64 24
  %25 = load ptr, ptr %launch.i, align 8
  %cmp.not.i.i = icmp eq ptr %25, @fly.host_pool.unwatched
  br i1 %cmp.not.i.i, label %forget.exit, label %if.then.i.i

if.then.i.i:                                      ; preds = %if.then22
  %taken.i.i = getelementptr inbounds nuw i8, ptr %25, i64 4
  store atomic i32 0, ptr %taken.i.i seq_cst, align 4
  br label %forget.exit

forget.exit:                                      ; preds = %if.then22, %if.then.i.i
  %memory.i30 = getelementptr inbounds nuw i8, ptr %22, i64 40
  %26 = load ptr, ptr %memory.i30, align 8
  call void @free(ptr %26)
  %fibers.i31 = getelementptr inbounds nuw i8, ptr %22, i64 32
  %27 = load ptr, ptr %fibers.i31, align 8
  call void @free(ptr %27)
  %28 = load i32, ptr %status, align 8
  br label %cleanup

if.end25:                                         ; preds = %fly_launch_begin.exit
  %idxprom = zext nneg i32 %spec.select.i to i64
  %arrayidx26 = getelementptr inbounds nuw %struct.Rank, ptr @fly.host_pool.ranks, i64 %idxprom
  %code27 = getelementptr inbounds nuw i8, ptr %arrayidx26, i64 76
  %29 = load i32, ptr %code27, align 4
  store i32 %29, ptr %code, align 8
  %30 = load i32, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.together, i64 8344), align 8
  %inc = add nsw i32 %30, 1
  store i32 %inc, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.together, i64 8344), align 8
  %idxprom29 = sext i32 %30 to i64
  %arrayidx30 = getelementptr inbounds ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.together, i64 8192), i64 %idxprom29
  store ptr %resident, ptr %arrayidx30, align 8
  %state = getelementptr inbounds nuw i8, ptr %arrayidx26, i64 72
  store i32 1, ptr %state, align 8
  %31 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.hooks, i64 8), align 8
  %tobool33.not = icmp eq ptr %31, null
  br i1 %tobool33.not, label %if.end35, label %if.then34

if.then34:                                        ; preds = %if.end25
  call void %31(i32 %spec.select.i)
  br label %if.end35

if.end35:                                         ; preds = %if.then34, %if.end25
  call fastcc void @fly.host_pool.hand_on()
  br label %while.cond.i

while.cond.i:                                     ; preds = %while.cond.i, %if.end35
  %call.i32 = call i32 @sem_wait(ptr nonnull %arrayidx26)
  %tobool.not.i33 = icmp eq i32 %call.i32, 0
  br i1 %tobool.not.i33, label %take_turn.exit, label %while.cond.i

take_turn.exit:                                   ; preds = %while.cond.i
  %32 = load i32, ptr %status, align 8
  br label %cleanup

cleanup:                                          ; preds = %if.end, %take_turn.exit, %forget.exit, %if.then13, %if.then
  %retval.0 = phi i32 [ %call7, %if.then ], [ %28, %forget.exit ], [ %32, %take_turn.exit ], [ -2, %if.then13 ], [ 0, %if.end ]
  call void @llvm.lifetime.end.p0(ptr nonnull %resident)
  call void @llvm.lifetime.end.p0(ptr nonnull %alone)
  ret i32 %retval.0
}

declare void @free(ptr allocptr captures(none)) #9

define internal fastcc range(i32 0, 2147483647) i32 @fly.host_pool.run_together(ptr %scheduler) {
entry:
  %time.i7.i = alloca %struct.Time, align 8
  %handle.i.i = alloca %struct.PollHandle, align 4
  %time.i.i = alloca %struct.Time, align 8
  %nap.i = alloca %struct.Time, align 8
  %count = getelementptr inbounds nuw i8, ptr %scheduler, i64 8344
  %residents = getelementptr inbounds nuw i8, ptr %scheduler, i64 8192
  %current = getelementptr inbounds nuw i8, ptr %scheduler, i64 8320
  %cmp16 = icmp eq ptr %scheduler, @fly.host_pool.together
  %random.i = getelementptr inbounds nuw i8, ptr %scheduler, i64 8336
  %turns.i = getelementptr inbounds nuw i8, ptr %scheduler, i64 8352
  %slow.i = getelementptr inbounds nuw i8, ptr %scheduler, i64 8348
  %step.i.i = getelementptr inbounds nuw i8, ptr %scheduler, i64 8328
  %events.i.i = getelementptr inbounds nuw i8, ptr %handle.i.i, i64 4
  %found.i.i = getelementptr inbounds nuw i8, ptr %handle.i.i, i64 6
  %nanoseconds.i10.i = getelementptr inbounds nuw i8, ptr %time.i7.i, i64 8
  %nanoseconds.i.i = getelementptr inbounds nuw i8, ptr %time.i.i, i64 8
  br label %for.cond.outer

for.cond.outer:                                   ; preds = %in_vain.exit, %entry
  %since.0.ph = phi i64 [ %since.365, %in_vain.exit ], [ 0, %entry ]
  %naps.0.ph = phi i64 [ %inc.i4566, %in_vain.exit ], [ 0, %entry ]
  br label %for.cond

for.cond:                                         ; preds = %for.cond.outer, %run_fiber.exit
  %naps.0 = phi i64 [ %cond30, %run_fiber.exit ], [ %naps.0.ph, %for.cond.outer ]
  %0 = load i32, ptr %count, align 8
  %cmp.not80 = icmp sgt i32 %0, 0
  br i1 %cmp.not80, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond, %for.inc
  %indvars.iv = phi i64 [ %indvars.iv.next, %for.inc ], [ 0, %for.cond ]
  %arrayidx = getelementptr inbounds nuw ptr, ptr %residents, i64 %indvars.iv
  %1 = load ptr, ptr %arrayidx, align 8
  %launch2 = getelementptr inbounds nuw i8, ptr %1, i64 24
  %2 = load ptr, ptr %launch2, align 8
  %3 = load volatile i32, ptr %2, align 8
  %tobool.not = icmp eq i32 %3, 0
  %status8.phi.trans.insert = getelementptr inbounds nuw i8, ptr %1, i64 80
  %.pre = load i32, ptr %status8.phi.trans.insert, align 8
  br i1 %tobool.not, label %if.end, label %land.lhs.true

land.lhs.true:                                    ; preds = %for.body
  %tobool3.not = icmp eq i32 %.pre, 0
  br i1 %tobool3.not, label %if.then, label %if.end.thread

if.end.thread:                                    ; preds = %land.lhs.true
  %4 = trunc nuw nsw i64 %indvars.iv to i32
  br label %cleanup38

if.then:                                          ; preds = %land.lhs.true
  %5 = load ptr, ptr %current, align 16
  %tobool4.not = icmp eq ptr %5, null
  br i1 %tobool4.not, label %cond.end, label %cond.true

cond.true:                                        ; preds = %if.then
  %site6 = getelementptr inbounds nuw i8, ptr %5, i64 8232
  %6 = load i32, ptr %site6, align 8
  br label %cond.end

cond.end:                                         ; preds = %if.then, %cond.true
  %cond = phi i32 [ %6, %cond.true ], [ 0, %if.then ]
  %call.i = call i64 @pthread_self()
  %reason.i = getelementptr inbounds nuw i8, ptr %2, i64 40
  %7 = load i32, ptr %reason.i, align 8
  %tobool.not.i = icmp eq i32 %7, 0
  br i1 %tobool.not.i, label %land.lhs.true.i, label %if.end19.i

land.lhs.true.i:                                  ; preds = %cond.end
  %overdue.i = getelementptr inbounds nuw i8, ptr %2, i64 24
  %8 = load i64, ptr %overdue.i, align 8
  %number.i = getelementptr inbounds nuw i8, ptr %2, i64 16
  %9 = load i64, ptr %number.i, align 8
  %cmp.i = icmp eq i64 %8, %9
  br i1 %cmp.i, label %if.end19.sink.split.i, label %land.lhs.true4.i

land.lhs.true4.i:                                 ; preds = %land.lhs.true.i
  %caller.i = getelementptr inbounds nuw i8, ptr %2, i64 32
  %10 = load i64, ptr %caller.i, align 8
  %cmp5.i = icmp eq i64 %call.i, %10
  br i1 %cmp5.i, label %if.then6.i, label %check_in.exit

if.then6.i:                                       ; preds = %land.lhs.true4.i
  store volatile i32 0, ptr %2, align 8
  %11 = load ptr, ptr @fly.host_pool.python.0, align 8
  %tobool7.not.i = icmp ne ptr %11, null
  %12 = load i64, ptr @fly.host_pool.python.4, align 8
  %cmp9.i = icmp eq i64 %call.i, %12
  %or.cond.i = select i1 %tobool7.not.i, i1 %cmp9.i, i1 false
  br i1 %or.cond.i, label %land.lhs.true10.i, label %check_in.exit

land.lhs.true10.i:                                ; preds = %if.then6.i
  %call.i.i = call i32 %11()
  %13 = load ptr, ptr @fly.host_pool.python.2, align 8
  %call1.i.i = call i32 %13()
  %cmp.i.not.i = icmp eq i32 %call1.i.i, 0
  br i1 %cmp.i.not.i, label %if.end15.i, label %if.then12.i

if.then12.i:                                      ; preds = %land.lhs.true10.i
  %14 = load ptr, ptr @fly.host_pool.python.3, align 8
  call void %14(ptr nonnull @fly.host_pool.raised, ptr nonnull getelementptr inbounds nuw (i8, ptr @fly.host_pool.raised, i64 8), ptr nonnull getelementptr inbounds nuw (i8, ptr @fly.host_pool.raised, i64 16))
  %15 = load ptr, ptr @fly.host_pool.python.1, align 8
  call void %15(i32 %call.i.i)
  br label %if.end19.sink.split.i

if.end15.i:                                       ; preds = %land.lhs.true10.i
  %16 = load ptr, ptr @fly.host_pool.python.1, align 8
  call void %16(i32 %call.i.i)
  %.pr13.pr.pre.i = load i32, ptr %reason.i, align 8
  %tobool17.not.i = icmp eq i32 %.pr13.pr.pre.i, 0
  br i1 %tobool17.not.i, label %check_in.exit, label %if.end19.i

if.end19.sink.split.i:                            ; preds = %if.then12.i, %land.lhs.true.i
  %.sink.i = phi i32 [ 16777216, %if.then12.i ], [ 33554432, %land.lhs.true.i ]
  store i32 %.sink.i, ptr %reason.i, align 8
  br label %if.end19.i

if.end19.i:                                       ; preds = %if.end19.sink.split.i, %if.end15.i, %cond.end
  %17 = phi i32 [ %.pr13.pr.pre.i, %if.end15.i ], [ %7, %cond.end ], [ %.sink.i, %if.end19.sink.split.i ]
  store volatile i32 1, ptr %2, align 8
  %add.i = add nsw i32 %17, %cond
  br label %check_in.exit

check_in.exit:                                    ; preds = %land.lhs.true4.i, %if.then6.i, %if.end15.i, %if.end19.i
  %retval.0.i = phi i32 [ %add.i, %if.end19.i ], [ 0, %if.end15.i ], [ 0, %if.then6.i ], [ 0, %land.lhs.true4.i ]
  store i32 %retval.0.i, ptr %status8.phi.trans.insert, align 8
  br label %if.end

if.end:                                           ; preds = %for.body, %check_in.exit
  %18 = phi i32 [ %retval.0.i, %check_in.exit ], [ %.pre, %for.body ]
  %tobool9.not = icmp eq i32 %18, 0
  br i1 %tobool9.not, label %cleanup, label %cleanup38.loopexit

cleanup:                                          ; preds = %if.end
  %ended = getelementptr inbounds nuw i8, ptr %1, i64 72
  %19 = load i64, ptr %ended, align 8
  %total = getelementptr inbounds nuw i8, ptr %1, i64 56
  %20 = load i64, ptr %total, align 8
  %cmp10.not = icmp eq i64 %19, %20
  br i1 %cmp10.not, label %cleanup38.loopexit, label %for.inc

for.inc:                                          ; preds = %cleanup
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %21 = load i32, ptr %count, align 8
  %22 = sext i32 %21 to i64
  %cmp.not = icmp slt i64 %indvars.iv.next, %22
  br i1 %cmp.not, label %for.body, label %for.end

for.end:                                          ; preds = %for.inc, %for.cond
  %23 = phi i32 [ %0, %for.cond ], [ %21, %for.inc ]
  br i1 %cmp16, label %land.lhs.true17, label %if.end20

land.lhs.true17:                                  ; preds = %for.end
  %24 = load atomic i32, ptr @fly.host_pool.stopped monotonic, align 4
  %tobool18.not = icmp eq i32 %24, 0
  br i1 %tobool18.not, label %if.end20, label %if.then19

if.then19:                                        ; preds = %land.lhs.true17
  call fastcc void @fly.host_pool.give_up(ptr nonnull @fly.host_pool.together, i32 50331648)
  br label %cleanup38

if.end20:                                         ; preds = %land.lhs.true17, %for.end
  %25 = load i64, ptr %random.i, align 16
  %tobool.not.i27 = icmp eq i64 %25, 0
  br i1 %tobool.not.i27, label %if.end.i, label %land.lhs.true.i28

land.lhs.true.i28:                                ; preds = %if.end20
  %26 = load i32, ptr %turns.i, align 16
  %inc.i = add nsw i32 %26, 1
  store i32 %inc.i, ptr %turns.i, align 16
  %27 = and i32 %inc.i, -2147483617
  %cmp.i29 = icmp eq i32 %27, 1
  br i1 %cmp.i29, label %if.then.i, label %if.end.i

if.then.i:                                        ; preds = %land.lhs.true.i28
  %shl.i.i = shl i64 %25, 13
  %xor.i.i = xor i64 %shl.i.i, %25
  %shr.i.i = lshr i64 %xor.i.i, 7
  %xor1.i.i = xor i64 %shr.i.i, %xor.i.i
  %shl2.i.i = shl i64 %xor1.i.i, 17
  %xor3.i.i = xor i64 %shl2.i.i, %xor1.i.i
  store i64 %xor3.i.i, ptr %random.i, align 16
  %mul.i.i = mul i64 %xor3.i.i, 2685821657736338717
  %shr5.i.i = lshr i64 %mul.i.i, 33
  %conv.i = sext i32 %23 to i64
  %mul.i = shl nsw i64 %conv.i, 1
  %add.i33 = add nsw i64 %mul.i, 2
  %rem1.i = urem i64 %shr5.i.i, %add.i33
  %conv2.i = trunc nuw nsw i64 %rem1.i to i32
  store i32 %conv2.i, ptr %slow.i, align 4
  br label %if.end.i

if.end.i:                                         ; preds = %if.then.i, %land.lhs.true.i28, %if.end20
  %28 = phi i64 [ %xor3.i.i, %if.then.i ], [ %25, %land.lhs.true.i28 ], [ 0, %if.end20 ]
  %cmp32135.i = icmp sgt i32 %23, 0
  %wide.trip.count.i = zext nneg i32 %23 to i64
  br label %for.body.i

for.body.i:                                       ; preds = %for.inc78.i, %if.end.i
  %.pr.i = phi i64 [ %28, %if.end.i ], [ %.pr150.i, %for.inc78.i ]
  %29 = phi i64 [ %28, %if.end.i ], [ %31, %for.inc78.i ]
  %fit.0144.i = phi i64 [ 0, %if.end.i ], [ %fit.2.lcssa.i, %for.inc78.i ]
  %quick.0143.i = phi i64 [ 0, %if.end.i ], [ %quick.4.lcssa.i, %for.inc78.i ]
  %tobool5.not.i = phi i1 [ true, %if.end.i ], [ false, %for.inc78.i ]
  br i1 %tobool5.not.i, label %if.end29.i, label %if.then6.i30

if.then6.i30:                                     ; preds = %for.body.i
  %tobool7.not.i31 = icmp eq i64 %fit.0144.i, 0
  br i1 %tobool7.not.i31, label %if.else, label %if.end9.i

if.end9.i:                                        ; preds = %if.then6.i30
  %tobool10.not.i = icmp eq i64 %quick.0143.i, 0
  br i1 %tobool10.not.i, label %lor.end.thread.i, label %lor.lhs.false.i

lor.lhs.false.i:                                  ; preds = %if.end9.i
  %tobool12.not.i = icmp eq i64 %29, 0
  br i1 %tobool12.not.i, label %if.end29.i, label %lor.end.i

lor.end.i:                                        ; preds = %lor.lhs.false.i
  %shl.i46.i = shl i64 %29, 13
  %xor.i47.i = xor i64 %shl.i46.i, %29
  %shr.i48.i = lshr i64 %xor.i47.i, 7
  %xor1.i49.i = xor i64 %shr.i48.i, %xor.i47.i
  %shl2.i50.i = shl i64 %xor1.i49.i, 17
  %xor3.i51.i = xor i64 %shl2.i50.i, %xor1.i49.i
  %xor3.i51.fr.i = freeze i64 %xor3.i51.i
  store i64 %xor3.i51.fr.i, ptr %random.i, align 16
  %mul.i52.i = mul i64 %xor3.i51.fr.i, 74346978589
  %30 = and i64 %mul.i52.i, 128849018880
  %cmp15.i = icmp eq i64 %30, 0
  %tobool18.not.i = icmp eq i64 %xor3.i51.fr.i, 0
  br i1 %tobool18.not.i, label %cond.end24.i, label %cond.true.i

lor.end.thread.i:                                 ; preds = %if.end9.i
  %tobool18.not157.i = icmp eq i64 %.pr.i, 0
  br i1 %tobool18.not157.i, label %if.end29.i, label %cond.true.i

cond.true.i:                                      ; preds = %lor.end.thread.i, %lor.end.i
  %cond.fr68159.i = phi i1 [ true, %lor.end.thread.i ], [ %cmp15.i, %lor.end.i ]
  %.pr148158.i = phi i64 [ %.pr.i, %lor.end.thread.i ], [ %xor3.i51.fr.i, %lor.end.i ]
  %shl.i55.i = shl i64 %.pr148158.i, 13
  %xor.i56.i = xor i64 %shl.i55.i, %.pr148158.i
  %shr.i57.i = lshr i64 %xor.i56.i, 7
  %xor1.i58.i = xor i64 %shr.i57.i, %xor.i56.i
  %shl2.i59.i = shl i64 %xor1.i58.i, 17
  %xor3.i60.i = xor i64 %shl2.i59.i, %xor1.i58.i
  store i64 %xor3.i60.i, ptr %random.i, align 16
  %mul.i61.i = mul i64 %xor3.i60.i, 2685821657736338717
  %shr5.i62.i = lshr i64 %mul.i61.i, 33
  %spec.select = select i1 %cond.fr68159.i, i64 %fit.0144.i, i64 %quick.0143.i
  %spec.select106 = select i1 %cond.fr68159.i, i64 0, i64 %quick.0143.i
  %rem22163.i = urem i64 %shr5.i62.i, %spec.select
  br label %if.end29.i

cond.end24.i:                                     ; preds = %lor.end.i
  %spec.select.i = select i1 %cmp15.i, i64 0, i64 %quick.0143.i
  br label %if.end29.i

if.end29.i:                                       ; preds = %cond.end24.i, %cond.true.i, %lor.end.thread.i, %lor.lhs.false.i, %for.body.i
  %.pr150.i = phi i64 [ %.pr.i, %for.body.i ], [ 0, %lor.end.thread.i ], [ %xor3.i60.i, %cond.true.i ], [ 0, %cond.end24.i ], [ %.pr.i, %lor.lhs.false.i ]
  %31 = phi i64 [ %29, %for.body.i ], [ 0, %lor.end.thread.i ], [ %xor3.i60.i, %cond.true.i ], [ 0, %cond.end24.i ], [ 0, %lor.lhs.false.i ]
  %wanted.0.i = phi i64 [ -1, %for.body.i ], [ 0, %lor.end.thread.i ], [ %rem22163.i, %cond.true.i ], [ 0, %cond.end24.i ], [ 0, %lor.lhs.false.i ]
  %quick.1.i = phi i64 [ %quick.0143.i, %for.body.i ], [ 0, %lor.end.thread.i ], [ %spec.select106, %cond.true.i ], [ %spec.select.i, %cond.end24.i ], [ 0, %lor.lhs.false.i ]
  br i1 %cmp32135.i, label %for.body35.i, label %for.inc78.i

for.body35.i:                                     ; preds = %if.end29.i, %for.inc70.i
  %indvars.iv.i = phi i64 [ %indvars.iv.next.i, %for.inc70.i ], [ 0, %if.end29.i ]
  %fit.2139.i = phi i64 [ %fit.4.lcssa.i, %for.inc70.i ], [ %fit.0144.i, %if.end29.i ]
  %quick.4137.i = phi i64 [ %quick.6.lcssa.i, %for.inc70.i ], [ %quick.1.i, %if.end29.i ]
  %wanted.1136.i = phi i64 [ %wanted.2.lcssa.i, %for.inc70.i ], [ %wanted.0.i, %if.end29.i ]
  %arrayidx.i = getelementptr inbounds nuw ptr, ptr %residents, i64 %indvars.iv.i
  %32 = load ptr, ptr %arrayidx.i, align 8
  %places.i = getelementptr inbounds nuw i8, ptr %32, i64 48
  %33 = load i64, ptr %places.i, align 8
  %cmp37128.i = icmp sgt i64 %33, 0
  br i1 %cmp37128.i, label %for.body40.lr.ph.i, label %for.inc70.i

for.body40.lr.ph.i:                               ; preds = %for.body35.i
  %fibers.i = getelementptr inbounds nuw i8, ptr %32, i64 32
  %34 = load ptr, ptr %fibers.i, align 8
  br label %for.body40.i

for.body40.i:                                     ; preds = %for.inc.i, %for.body40.lr.ph.i
  %k.0132.i = phi i64 [ 0, %for.body40.lr.ph.i ], [ %inc64.i, %for.inc.i ]
  %fit.4131.i = phi i64 [ %fit.2139.i, %for.body40.lr.ph.i ], [ %fit.6.ph.i, %for.inc.i ]
  %quick.6130.i = phi i64 [ %quick.4137.i, %for.body40.lr.ph.i ], [ %quick.8.ph.i, %for.inc.i ]
  %wanted.2129.i = phi i64 [ %wanted.1136.i, %for.body40.lr.ph.i ], [ %wanted.4.ph.i, %for.inc.i ]
  %arrayidx41.i = getelementptr inbounds nuw %struct.Fiber, ptr %34, i64 %k.0132.i
  %over.i.i = getelementptr inbounds nuw i8, ptr %arrayidx41.i, i64 8237
  %35 = load i8, ptr %over.i.i, align 1
  %tobool.not.i.i = icmp eq i8 %35, 0
  br i1 %tobool.not.i.i, label %land.rhs.i.i, label %for.inc.i

land.rhs.i.i:                                     ; preds = %for.body40.i
  %begun.i.i = getelementptr inbounds nuw i8, ptr %arrayidx41.i, i64 8236
  %36 = load i8, ptr %begun.i.i, align 4
  %tobool1.not.i.i = icmp eq i8 %36, 0
  br i1 %tobool1.not.i.i, label %if.end44.i, label %may_run.exit.i

may_run.exit.i:                                   ; preds = %land.rhs.i.i
  %looked.i.i = getelementptr inbounds nuw i8, ptr %arrayidx41.i, i64 8224
  %37 = load i64, ptr %looked.i.i, align 16
  %38 = load i64, ptr %step.i.i, align 8
  %cmp.i.not.i32 = icmp eq i64 %37, %38
  br i1 %cmp.i.not.i32, label %for.inc.i, label %if.end44.i

if.end44.i:                                       ; preds = %may_run.exit.i, %land.rhs.i.i
  br i1 %tobool5.not.i, label %if.then46.i, label %if.else.i

if.then46.i:                                      ; preds = %if.end44.i
  %inc47.i = add nsw i64 %fit.4131.i, 1
  %39 = load i32, ptr %slow.i, align 4
  %40 = zext i32 %39 to i64
  %cmp49.i = icmp ne i64 %indvars.iv.i, %40
  %conv51.i = zext i1 %cmp49.i to i64
  %add52.i = add nsw i64 %quick.6130.i, %conv51.i
  br label %for.inc.i

if.else.i:                                        ; preds = %if.end44.i
  %tobool53.not.i = icmp eq i64 %quick.6130.i, 0
  br i1 %tobool53.not.i, label %land.lhs.true58.i, label %lor.lhs.false54.i

lor.lhs.false54.i:                                ; preds = %if.else.i
  %41 = load i32, ptr %slow.i, align 4
  %42 = zext i32 %41 to i64
  %cmp56.not.i = icmp eq i64 %indvars.iv.i, %42
  br i1 %cmp56.not.i, label %for.inc.i, label %land.lhs.true58.i

land.lhs.true58.i:                                ; preds = %lor.lhs.false54.i, %if.else.i
  %dec.i = add nsw i64 %wanted.2129.i, -1
  %cmp59.i = icmp eq i64 %wanted.2129.i, 0
  br i1 %cmp59.i, label %if.then23, label %for.inc.i

for.inc.i:                                        ; preds = %land.lhs.true58.i, %lor.lhs.false54.i, %if.then46.i, %may_run.exit.i, %for.body40.i
  %wanted.4.ph.i = phi i64 [ %wanted.2129.i, %may_run.exit.i ], [ %wanted.2129.i, %if.then46.i ], [ %wanted.2129.i, %lor.lhs.false54.i ], [ %dec.i, %land.lhs.true58.i ], [ %wanted.2129.i, %for.body40.i ]
  %quick.8.ph.i = phi i64 [ %quick.6130.i, %may_run.exit.i ], [ %add52.i, %if.then46.i ], [ %quick.6130.i, %lor.lhs.false54.i ], [ %quick.6130.i, %land.lhs.true58.i ], [ %quick.6130.i, %for.body40.i ]
  %fit.6.ph.i = phi i64 [ %fit.4131.i, %may_run.exit.i ], [ %inc47.i, %if.then46.i ], [ %fit.4131.i, %lor.lhs.false54.i ], [ %fit.4131.i, %land.lhs.true58.i ], [ %fit.4131.i, %for.body40.i ]
  %inc64.i = add nuw nsw i64 %k.0132.i, 1
  %exitcond.not.i = icmp eq i64 %inc64.i, %33
  br i1 %exitcond.not.i, label %for.inc70.i, label %for.body40.i

for.inc70.i:                                      ; preds = %for.inc.i, %for.body35.i
  %wanted.2.lcssa.i = phi i64 [ %wanted.1136.i, %for.body35.i ], [ %wanted.4.ph.i, %for.inc.i ]
  %quick.6.lcssa.i = phi i64 [ %quick.4137.i, %for.body35.i ], [ %quick.8.ph.i, %for.inc.i ]
  %fit.4.lcssa.i = phi i64 [ %fit.2139.i, %for.body35.i ], [ %fit.6.ph.i, %for.inc.i ]
  %indvars.iv.next.i = add nuw nsw i64 %indvars.iv.i, 1
  %exitcond147.not.i = icmp eq i64 %indvars.iv.next.i, %wide.trip.count.i
  br i1 %exitcond147.not.i, label %for.inc78.i, label %for.body35.i

for.inc78.i:                                      ; preds = %for.inc70.i, %if.end29.i
  %quick.4.lcssa.i = phi i64 [ %quick.1.i, %if.end29.i ], [ %quick.6.lcssa.i, %for.inc70.i ]
  %fit.2.lcssa.i = phi i64 [ %fit.0144.i, %if.end29.i ], [ %fit.4.lcssa.i, %for.inc70.i ]
  br i1 %tobool5.not.i, label %for.body.i, label %if.else

if.then23:                                        ; preds = %land.lhs.true58.i
  %43 = load i64, ptr %step.i.i, align 8
  store ptr %arrayidx41.i, ptr %current, align 16
  %44 = load i8, ptr %begun.i.i, align 4
  %tobool.not.i34 = icmp eq i8 %44, 0
  br i1 %tobool.not.i34, label %if.then.i41, label %if.end.i35

if.then.i41:                                      ; preds = %if.then23
  store i8 1, ptr %begun.i.i, align 4
  %45 = load i64, ptr %step.i.i, align 8
  %inc.i42 = add i64 %45, 1
  store i64 %inc.i42, ptr %step.i.i, align 8
  br label %if.end.i35

if.end.i35:                                       ; preds = %if.then.i41, %if.then23
  store ptr %scheduler, ptr @fly.host_pool.running, align 8
  %call.i36 = call i32 @swapcontext(ptr nonnull %scheduler, ptr nonnull %arrayidx41.i)
  store ptr null, ptr @fly.host_pool.running, align 8
  %46 = load i8, ptr %over.i.i, align 1
  %tobool3.not.i = icmp eq i8 %46, 0
  br i1 %tobool3.not.i, label %run_fiber.exit, label %if.end5.i

if.end5.i:                                        ; preds = %if.end.i35
  %of6.i = getelementptr inbounds nuw i8, ptr %arrayidx41.i, i64 8192
  %47 = load ptr, ptr %of6.i, align 16
  %ended.i = getelementptr inbounds nuw i8, ptr %47, i64 72
  %48 = load i64, ptr %ended.i, align 8
  %inc7.i = add nsw i64 %48, 1
  store i64 %inc7.i, ptr %ended.i, align 8
  %next.i = getelementptr inbounds nuw i8, ptr %47, i64 64
  %49 = load i64, ptr %next.i, align 8
  %total.i = getelementptr inbounds nuw i8, ptr %47, i64 56
  %50 = load i64, ptr %total.i, align 8
  %cmp.i37 = icmp slt i64 %49, %50
  br i1 %cmp.i37, label %if.then8.i, label %run_fiber.exit

if.then8.i:                                       ; preds = %if.end5.i
  %inc10.i = add nsw i64 %49, 1
  store i64 %inc10.i, ptr %next.i, align 8
  %51 = ptrtoint ptr %arrayidx41.i to i64
  %block2.i.i = getelementptr inbounds nuw i8, ptr %arrayidx41.i, i64 8200
  store i64 %49, ptr %block2.i.i, align 8
  %looked.i.i38 = getelementptr inbounds nuw i8, ptr %arrayidx41.i, i64 8224
  call void @llvm.memset.p0.i64(ptr nonnull align 16 dereferenceable(14) %looked.i.i38, i8 0, i64 14, i1 false)
  %call.i.i39 = call i32 @getcontext(ptr nonnull %arrayidx41.i)
  %link.i.i = getelementptr inbounds nuw i8, ptr %arrayidx41.i, i64 8
  store ptr null, ptr %link.i.i, align 8
  %stack.i.i = getelementptr inbounds nuw i8, ptr %arrayidx41.i, i64 8216
  %52 = load ptr, ptr %stack.i.i, align 8
  %stack3.i.i = getelementptr inbounds nuw i8, ptr %arrayidx41.i, i64 16
  store ptr %52, ptr %stack3.i.i, align 8
  %stack_bytes.i.i = getelementptr inbounds nuw i8, ptr %arrayidx41.i, i64 32
  store i64 524288, ptr %stack_bytes.i.i, align 8
  %conv.i.i = trunc i64 %51 to i32
  %shr.i.i40 = lshr i64 %51, 32
  %conv4.i.i = trunc nuw i64 %shr.i.i40 to i32
  call void (ptr, ptr, i32, ...) @makecontext(ptr nonnull %arrayidx41.i, ptr nonnull @fly.host_pool.block_main, i32 2, i32 %conv.i.i, i32 %conv4.i.i)
  br label %run_fiber.exit

run_fiber.exit:                                   ; preds = %if.end.i35, %if.end5.i, %if.then8.i
  %53 = load i64, ptr %step.i.i, align 8
  %cmp26 = icmp eq i64 %53, %43
  %cond30 = select i1 %cmp26, i64 %naps.0, i64 0
  br label %for.cond

if.else:                                          ; preds = %if.then6.i30, %for.inc78.i
  call void @llvm.lifetime.start.p0(ptr nonnull %nap.i)
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(16) %nap.i, ptr nonnull align 8 dereferenceable(16) @fly.host_pool.__const.in_vain.nap, i64 16, i1 false)
  %54 = load i32, ptr @fly.host_pool.outside, align 16
  %tobool.not.i43 = icmp eq i32 %54, 0
  br i1 %tobool.not.i43, label %if.then.i54, label %if.end.i44

if.then.i54:                                      ; preds = %if.else
  call fastcc void @fly.host_pool.give_up(ptr %scheduler, i32 50331648)
  br label %cleanup35.thread

if.end.i44:                                       ; preds = %if.else
  %tobool1.not.i = icmp eq i64 %naps.0, 0
  br i1 %tobool1.not.i, label %if.end3.i.thread, label %if.end3.i

if.end3.i.thread:                                 ; preds = %if.end.i44
  call void @llvm.lifetime.start.p0(ptr nonnull %time.i.i)
  %call.i.i52 = call i32 @clock_gettime(i32 1, ptr nonnull %time.i.i)
  %55 = load i64, ptr %time.i.i, align 8
  %mul.i.i53 = mul i64 %55, 1000000000
  %56 = load i64, ptr %nanoseconds.i.i, align 8
  %add.i.i = add i64 %mul.i.i53, %56
  call void @llvm.lifetime.end.p0(ptr nonnull %time.i.i)
  br label %in_vain.exit

if.end3.i:                                        ; preds = %if.end.i44
  %inc.i45 = add i64 %naps.0, 1
  %rem.i = and i64 %inc.i45, 255
  %cmp.i46 = icmp eq i64 %rem.i, 0
  br i1 %cmp.i46, label %if.then4.i, label %in_vain.exit

if.then4.i:                                       ; preds = %if.end3.i
  %cmp9.i.i = icmp sgt i32 %54, 0
  br i1 %cmp9.i.i, label %for.body.i.i, label %dead_process.exit.i

for.body.i.i:                                     ; preds = %if.then4.i, %for.inc.i.i
  %indvars.iv.i.i = phi i64 [ %indvars.iv.next.i.i, %for.inc.i.i ], [ 0, %if.then4.i ]
  call void @llvm.lifetime.start.p0(ptr nonnull %handle.i.i)
  %arrayidx.i.i = getelementptr inbounds nuw i32, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.outside, i64 16), i64 %indvars.iv.i.i
  %57 = load i32, ptr %arrayidx.i.i, align 4
  store i32 %57, ptr %handle.i.i, align 4
  store i16 1, ptr %events.i.i, align 4
  store i16 0, ptr %found.i.i, align 2
  %call.i6.i = call i32 @poll(ptr nonnull %handle.i.i, i64 1, i32 0)
  %cmp2.i.i = icmp slt i32 %call.i6.i, 1
  br i1 %cmp2.i.i, label %for.inc.i.i, label %cleanup5.i.i

for.inc.i.i:                                      ; preds = %for.body.i.i
  call void @llvm.lifetime.end.p0(ptr nonnull %handle.i.i)
  %indvars.iv.next.i.i = add nuw nsw i64 %indvars.iv.i.i, 1
  %58 = load i32, ptr @fly.host_pool.outside, align 16
  %59 = sext i32 %58 to i64
  %cmp.i.i = icmp slt i64 %indvars.iv.next.i.i, %59
  br i1 %cmp.i.i, label %for.body.i.i, label %dead_process.exit.i

cleanup5.i.i:                                     ; preds = %for.body.i.i
  %arrayidx4.i.i = getelementptr inbounds nuw i32, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.outside, i64 80), i64 %indvars.iv.i.i
  %60 = load i32, ptr %arrayidx4.i.i, align 4
  call void @llvm.lifetime.end.p0(ptr nonnull %handle.i.i)
  br label %dead_process.exit.i

dead_process.exit.i:                              ; preds = %for.inc.i.i, %cleanup5.i.i, %if.then4.i
  %61 = phi i32 [ %60, %cleanup5.i.i ], [ -1, %if.then4.i ], [ -1, %for.inc.i.i ]
  %62 = load i64, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.outside, i64 8), align 8
  %tobool6.not.i = icmp eq i64 %62, 0
  br i1 %tobool6.not.i, label %land.end.i, label %land.rhs.i

land.rhs.i:                                       ; preds = %dead_process.exit.i
  call void @llvm.lifetime.start.p0(ptr nonnull %time.i7.i)
  %call.i8.i = call i32 @clock_gettime(i32 1, ptr nonnull %time.i7.i)
  %63 = load i64, ptr %time.i7.i, align 8
  %mul.i9.i = mul i64 %63, 1000000000
  %64 = load i64, ptr %nanoseconds.i10.i, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %time.i7.i)
  %add.i11.i = sub i64 %64, %since.0.ph
  %sub.i = add i64 %add.i11.i, %mul.i9.i
  %65 = load i64, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.outside, i64 8), align 8
  %cmp8.i = icmp ugt i64 %sub.i, %65
  br label %land.end.i

land.end.i:                                       ; preds = %land.rhs.i, %dead_process.exit.i
  %66 = phi i1 [ false, %dead_process.exit.i ], [ %cmp8.i, %land.rhs.i ]
  %cmp9.i49 = icmp sgt i32 %61, -1
  %or.cond.i50 = select i1 %cmp9.i49, i1 true, i1 %66
  br i1 %or.cond.i50, label %if.then10.i, label %in_vain.exit

if.then10.i:                                      ; preds = %land.end.i
  call fastcc void @fly.host_pool.give_up(ptr %scheduler, i32 67108864)
  %conv.i51 = sext i32 %61 to i64
  store i64 %conv.i51, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.waiting, i64 4032), align 16
  br label %cleanup35.thread

cleanup35.thread:                                 ; preds = %if.then.i54, %if.then10.i
  call void @llvm.lifetime.end.p0(ptr nonnull %nap.i)
  br label %cleanup38

in_vain.exit:                                     ; preds = %if.end3.i, %land.end.i, %if.end3.i.thread
  %inc.i4566 = phi i64 [ 1, %if.end3.i.thread ], [ %inc.i45, %land.end.i ], [ %inc.i45, %if.end3.i ]
  %since.365 = phi i64 [ %add.i.i, %if.end3.i.thread ], [ %since.0.ph, %land.end.i ], [ %since.0.ph, %if.end3.i ]
  %call14.i = call i32 @nanosleep(ptr nonnull %nap.i, ptr null)
  %67 = load i64, ptr %step.i.i, align 8
  %inc15.i = add i64 %67, 1
  store i64 %inc15.i, ptr %step.i.i, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %nap.i)
  br label %for.cond.outer

cleanup38.loopexit:                               ; preds = %cleanup, %if.end
  %68 = trunc nuw nsw i64 %indvars.iv to i32
  br label %cleanup38

cleanup38:                                        ; preds = %cleanup38.loopexit, %if.end.thread, %cleanup35.thread, %if.then19
  %retval.4 = phi i32 [ 0, %if.then19 ], [ 0, %cleanup35.thread ], [ %4, %if.end.thread ], [ %68, %cleanup38.loopexit ]
  ret i32 %retval.4
}

define i32 @fly_pool_start(i32 %wanted) {
entry:
  %thread.i5 = alloca i64, align 8
  %thread.i = alloca i64, align 8
  store i32 0, ptr @fly.host_pool.busy, align 64
  store i32 0, ptr @fly.host_pool.workers, align 4
  store i32 0, ptr @fly.host_pool.asleep, align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 4), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 60), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 116), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 172), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 228), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 284), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 340), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 396), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 452), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 508), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 564), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 620), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 676), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 732), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 788), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 844), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 900), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 956), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 1012), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 1068), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 1124), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 1180), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 1236), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 1292), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 1348), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 1404), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 1460), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 1516), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 1572), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 1628), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 1684), align 4
  store i32 0, ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.launches, i64 1740), align 4
  %call = tail call i32 @sem_init(ptr nonnull @fly.host_pool.start, i32 0, i32 0)
  %call1 = tail call i32 @sem_init(ptr nonnull @fly.host_pool.done, i32 0, i32 0)
  %call2 = tail call i32 @sem_init(ptr nonnull @fly.host_pool.wake, i32 0, i32 0)
  %cmp315 = icmp sgt i32 %wanted, 0
  br i1 %cmp315, label %land.rhs, label %while.end

land.rhs:                                         ; preds = %entry, %while.body
  %started.016 = phi i32 [ %inc5, %while.body ], [ 0, %entry ]
  call void @llvm.lifetime.start.p0(ptr nonnull %thread.i)
  %call.i = call i32 @pthread_create(ptr nonnull %thread.i, ptr null, ptr nonnull @fly.host_pool.worker, ptr null)
  %tobool.not.i = icmp eq i32 %call.i, 0
  br i1 %tobool.not.i, label %start_thread.exit, label %start_thread.exit.thread

start_thread.exit.thread:                         ; preds = %land.rhs
  call void @llvm.lifetime.end.p0(ptr nonnull %thread.i)
  br label %while.end

start_thread.exit:                                ; preds = %land.rhs
  %0 = load i64, ptr %thread.i, align 8
  %call1.i = call i32 @pthread_detach(i64 %0)
  %tobool2.not.i = icmp eq i32 %call1.i, 0
  call void @llvm.lifetime.end.p0(ptr nonnull %thread.i)
  br i1 %tobool2.not.i, label %while.body, label %while.end

while.body:                                       ; preds = %start_thread.exit
  %inc5 = add nuw nsw i32 %started.016, 1
  %exitcond.not = icmp eq i32 %inc5, %wanted
  br i1 %exitcond.not, label %while.end, label %land.rhs

while.end:                                        ; preds = %start_thread.exit, %while.body, %entry, %start_thread.exit.thread
  %started.013 = phi i32 [ %started.016, %start_thread.exit.thread ], [ 0, %entry ], [ %started.016, %start_thread.exit ], [ %wanted, %while.body ]
  call void @llvm.lifetime.start.p0(ptr nonnull %thread.i5)
  %call.i6 = call i32 @pthread_create(ptr nonnull %thread.i5, ptr null, ptr nonnull @fly.host_pool.watchman, ptr null)
  %tobool.not.i7 = icmp eq i32 %call.i6, 0
  br i1 %tobool.not.i7, label %land.rhs.i8, label %start_thread.exit11

land.rhs.i8:                                      ; preds = %while.end
  %1 = load i64, ptr %thread.i5, align 8
  %call1.i9 = call i32 @pthread_detach(i64 %1)
  br label %start_thread.exit11

start_thread.exit11:                              ; preds = %while.end, %land.rhs.i8
  call void @llvm.lifetime.end.p0(ptr nonnull %thread.i5)
  store i32 %started.013, ptr @fly.host_pool.workers, align 4
  ret i32 %started.013
}

define internal nonnull ptr @fly.host_pool.worker(ptr readnone captures(none) %unused) noreturn {
entry:
  br label %while.cond

while.cond:                                       ; preds = %while.cond.backedge, %entry
  %call = tail call i32 @sem_wait(ptr nonnull @fly.host_pool.start)
  %tobool.not = icmp eq i32 %call, 0
  br i1 %tobool.not, label %while.end, label %while.cond.backedge

while.cond.backedge:                              ; preds = %while.cond, %if.then, %while.end
  br label %while.cond

while.end:                                        ; preds = %while.cond
  tail call fastcc void @fly.host_pool.run_blocks(ptr nonnull @fly.host_pool.job)
  %0 = atomicrmw sub ptr getelementptr inbounds nuw (i8, ptr @fly.host_pool.job, i64 56), i32 1 seq_cst, align 8
  %cmp = icmp eq i32 %0, 1
  br i1 %cmp, label %if.then, label %while.cond.backedge

if.then:                                          ; preds = %while.end
  %call1 = tail call i32 @sem_post(ptr nonnull @fly.host_pool.done)
  br label %while.cond.backedge
}

define internal nonnull ptr @fly.host_pool.watchman(ptr readnone captures(none) %unused) noreturn {
entry:
  %time.i.i2 = alloca %struct.Time, align 8
  %time.i.i = alloca %struct.Time, align 8
  %since = alloca [32 x i64], align 16
  %seen = alloca [32 x i64], align 16
  %beat = alloca %struct.Time, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %since)
  call void @llvm.memset.p0.i64(ptr nonnull align 16 dereferenceable(256) %since, i8 0, i64 256, i1 false)
  call void @llvm.lifetime.start.p0(ptr nonnull %seen)
  call void @llvm.memset.p0.i64(ptr nonnull align 16 dereferenceable(256) %seen, i8 0, i64 256, i1 false)
  call void @llvm.lifetime.start.p0(ptr nonnull %beat)
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(16) %beat, ptr nonnull align 8 dereferenceable(16) @fly.host_pool.__const.watchman.beat, i64 16, i1 false)
  %nanoseconds.i.i = getelementptr inbounds nuw i8, ptr %time.i.i, i64 8
  %nanoseconds.i.i5 = getelementptr inbounds nuw i8, ptr %time.i.i2, i64 8
  br label %for.cond

for.cond:                                         ; preds = %if.end14, %entry
  %quiet.0 = phi i32 [ 0, %entry ], [ %inc, %if.end14 ]
  %0 = load atomic i64, ptr @fly.host_pool.time_limit monotonic, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %time.i.i)
  %call.i.i = call i32 @clock_gettime(i32 1, ptr nonnull %time.i.i)
  %1 = load i64, ptr %time.i.i, align 8
  %mul.i.i = mul i64 %1, 1000000000
  %2 = load i64, ptr %nanoseconds.i.i, align 8
  %add.i.i = add i64 %mul.i.i, %2
  call void @llvm.lifetime.end.p0(ptr nonnull %time.i.i)
  %tobool14.not.i = icmp eq i64 %0, 0
  br label %for.body.i

for.body.i:                                       ; preds = %cleanup.i, %for.cond
  %indvars.iv.i = phi i64 [ 0, %for.cond ], [ %indvars.iv.next.i, %cleanup.i ]
  %any.0.off019.i = phi i1 [ false, %for.cond ], [ %any.1.off0.i, %cleanup.i ]
  %arrayidx.i = getelementptr inbounds nuw %struct.Launch, ptr @fly.host_pool.launches, i64 %indvars.iv.i
  %number1.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 16
  %3 = load atomic i64, ptr %number1.i acquire, align 8
  %taken.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 4
  %4 = load atomic i32, ptr %taken.i seq_cst, align 4
  %tobool.not.i = icmp eq i32 %4, 0
  br i1 %tobool.not.i, label %cleanup.i, label %if.end.i

if.end.i:                                         ; preds = %for.body.i
  %arrayidx7.i = getelementptr inbounds nuw i64, ptr %seen, i64 %indvars.iv.i
  %5 = load i64, ptr %arrayidx7.i, align 8
  %cmp8.not.i = icmp eq i64 %5, %3
  br i1 %cmp8.not.i, label %if.else.i, label %if.then9.i

if.then9.i:                                       ; preds = %if.end.i
  store i64 %3, ptr %arrayidx7.i, align 8
  %arrayidx13.i = getelementptr inbounds nuw i64, ptr %since, i64 %indvars.iv.i
  store i64 %add.i.i, ptr %arrayidx13.i, align 8
  br label %if.end22.i

if.else.i:                                        ; preds = %if.end.i
  br i1 %tobool14.not.i, label %if.end22.i, label %land.lhs.true.i

land.lhs.true.i:                                  ; preds = %if.else.i
  %arrayidx16.i = getelementptr inbounds nuw i64, ptr %since, i64 %indvars.iv.i
  %6 = load i64, ptr %arrayidx16.i, align 8
  %sub.i = sub i64 %add.i.i, %6
  %cmp17.not.i = icmp ult i64 %sub.i, %0
  br i1 %cmp17.not.i, label %if.end22.i, label %if.then18.i

if.then18.i:                                      ; preds = %land.lhs.true.i
  %overdue.i = getelementptr inbounds nuw i8, ptr %arrayidx.i, i64 24
  store atomic i64 %3, ptr %overdue.i release, align 8
  br label %if.end22.i

if.end22.i:                                       ; preds = %if.then18.i, %land.lhs.true.i, %if.else.i, %if.then9.i
  store volatile i32 1, ptr %arrayidx.i, align 8
  br label %cleanup.i

cleanup.i:                                        ; preds = %if.end22.i, %for.body.i
  %any.1.off0.i = phi i1 [ true, %if.end22.i ], [ %any.0.off019.i, %for.body.i ]
  %indvars.iv.next.i = add nuw nsw i64 %indvars.iv.i, 1
  %exitcond.not.i = icmp eq i64 %indvars.iv.next.i, 32
  br i1 %exitcond.not.i, label %look_around.exit, label %for.body.i

look_around.exit:                                 ; preds = %cleanup.i
  %spec.select = select i1 %any.1.off0.i, i32 0, i32 %quiet.0
  %cmp = icmp ugt i32 %spec.select, 49
  br i1 %cmp, label %if.then2, label %if.end14

if.then2:                                         ; preds = %look_around.exit
  store atomic i32 1, ptr @fly.host_pool.asleep seq_cst, align 4
  %7 = load atomic i64, ptr @fly.host_pool.time_limit monotonic, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %time.i.i2)
  %call.i.i3 = call i32 @clock_gettime(i32 1, ptr nonnull %time.i.i2)
  %8 = load i64, ptr %time.i.i2, align 8
  %mul.i.i4 = mul i64 %8, 1000000000
  %9 = load i64, ptr %nanoseconds.i.i5, align 8
  %add.i.i6 = add i64 %mul.i.i4, %9
  call void @llvm.lifetime.end.p0(ptr nonnull %time.i.i2)
  %tobool14.not.i7 = icmp eq i64 %7, 0
  br label %for.body.i8.outer

for.body.i8.outer:                                ; preds = %cleanup.i21.thread, %if.then2
  %indvars.iv.i9.ph = phi i64 [ %indvars.iv.next.i2334, %cleanup.i21.thread ], [ 0, %if.then2 ]
  %any.0.off019.i10.ph = phi i1 [ true, %cleanup.i21.thread ], [ false, %if.then2 ]
  br label %for.body.i8

for.body.i8:                                      ; preds = %for.body.i8.outer, %cleanup.i21
  %indvars.iv.i9 = phi i64 [ %indvars.iv.next.i23, %cleanup.i21 ], [ %indvars.iv.i9.ph, %for.body.i8.outer ]
  %arrayidx.i11 = getelementptr inbounds nuw %struct.Launch, ptr @fly.host_pool.launches, i64 %indvars.iv.i9
  %number1.i12 = getelementptr inbounds nuw i8, ptr %arrayidx.i11, i64 16
  %10 = load atomic i64, ptr %number1.i12 acquire, align 8
  %taken.i13 = getelementptr inbounds nuw i8, ptr %arrayidx.i11, i64 4
  %11 = load atomic i32, ptr %taken.i13 seq_cst, align 4
  %tobool.not.i14 = icmp eq i32 %11, 0
  br i1 %tobool.not.i14, label %cleanup.i21, label %if.end.i15

if.end.i15:                                       ; preds = %for.body.i8
  %arrayidx7.i16 = getelementptr inbounds nuw i64, ptr %seen, i64 %indvars.iv.i9
  %12 = load i64, ptr %arrayidx7.i16, align 8
  %cmp8.not.i17 = icmp eq i64 %12, %10
  br i1 %cmp8.not.i17, label %if.else.i25, label %if.then9.i18

if.then9.i18:                                     ; preds = %if.end.i15
  store i64 %10, ptr %arrayidx7.i16, align 8
  %arrayidx13.i19 = getelementptr inbounds nuw i64, ptr %since, i64 %indvars.iv.i9
  store i64 %add.i.i6, ptr %arrayidx13.i19, align 8
  br label %cleanup.i21.thread

if.else.i25:                                      ; preds = %if.end.i15
  br i1 %tobool14.not.i7, label %cleanup.i21.thread, label %land.lhs.true.i26

land.lhs.true.i26:                                ; preds = %if.else.i25
  %arrayidx16.i27 = getelementptr inbounds nuw i64, ptr %since, i64 %indvars.iv.i9
  %13 = load i64, ptr %arrayidx16.i27, align 8
  %sub.i28 = sub i64 %add.i.i6, %13
  %cmp17.not.i29 = icmp ult i64 %sub.i28, %7
  br i1 %cmp17.not.i29, label %cleanup.i21.thread, label %if.then18.i30

if.then18.i30:                                    ; preds = %land.lhs.true.i26
  %overdue.i31 = getelementptr inbounds nuw i8, ptr %arrayidx.i11, i64 24
  store atomic i64 %10, ptr %overdue.i31 release, align 8
  br label %cleanup.i21.thread

cleanup.i21:                                      ; preds = %for.body.i8
  %indvars.iv.next.i23 = add nuw nsw i64 %indvars.iv.i9, 1
  %exitcond.not.i24 = icmp eq i64 %indvars.iv.next.i23, 32
  br i1 %exitcond.not.i24, label %look_around.exit32, label %for.body.i8

cleanup.i21.thread:                               ; preds = %if.then9.i18, %if.else.i25, %land.lhs.true.i26, %if.then18.i30
  store volatile i32 1, ptr %arrayidx.i11, align 8
  %indvars.iv.next.i2334 = add nuw nsw i64 %indvars.iv.i9, 1
  %exitcond.not.i2435 = icmp eq i64 %indvars.iv.next.i2334, 32
  br i1 %exitcond.not.i2435, label %if.then6, label %for.body.i8.outer

look_around.exit32:                               ; preds = %cleanup.i21
  br i1 %any.0.off019.i10.ph, label %if.then6, label %while.cond

if.then6:                                         ; preds = %cleanup.i21.thread, %look_around.exit32
  %14 = atomicrmw xchg ptr @fly.host_pool.asleep, i32 0 seq_cst, align 4
  %cmp8 = icmp eq i32 %14, 0
  br i1 %cmp8, label %if.then9, label %if.end14

if.then9:                                         ; preds = %if.then6
  %call10 = call i32 @sem_wait(ptr nonnull @fly.host_pool.wake)
  br label %if.end14

while.cond:                                       ; preds = %look_around.exit32, %while.cond
  %call12 = call i32 @sem_wait(ptr nonnull @fly.host_pool.wake)
  %tobool.not = icmp eq i32 %call12, 0
  br i1 %tobool.not, label %if.end14, label %while.cond

if.end14:                                         ; preds = %while.cond, %if.then9, %if.then6, %look_around.exit
  %quiet.2 = phi i32 [ %spec.select, %look_around.exit ], [ 0, %if.then9 ], [ 0, %if.then6 ], [ 0, %while.cond ]
  %call15 = call i32 @nanosleep(ptr nonnull %beat, ptr null)
  %inc = add nuw nsw i32 %quiet.2, 1
  br label %for.cond
}

define nonnull ptr @fly_pool_watch_signals(ptr readonly captures(none) %functions, i64 %main_thread) #11 {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %functions, i64 8
  %0 = load ptr, ptr %arrayidx, align 8
  store ptr %0, ptr @fly.host_pool.python.1, align 8
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %functions, i64 16
  %1 = load ptr, ptr %arrayidx1, align 8
  store ptr %1, ptr @fly.host_pool.python.2, align 8
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %functions, i64 24
  %2 = load ptr, ptr %arrayidx2, align 8
  store ptr %2, ptr @fly.host_pool.python.3, align 8
  store i64 %main_thread, ptr @fly.host_pool.python.4, align 8
  %3 = load ptr, ptr %functions, align 8
  store ptr %3, ptr @fly.host_pool.python.0, align 8
  ret ptr @fly.host_pool.raised
}

define void @fly_pool_limit(i64 %nanoseconds) #1 {
entry:
  store atomic i64 %nanoseconds, ptr @fly.host_pool.time_limit monotonic, align 8
  ret void
}

declare i32 @sem_timedwait(ptr, ptr) 

declare i32 @clock_gettime(i32, ptr) 

declare ptr @aligned_alloc(i64 allocalign , i64 ) #12

declare i32 @sem_wait(ptr) 

declare i32 @getcontext(ptr) 

declare void @makecontext(ptr, ptr, i32, ...) 

define internal void @fly.host_pool.block_main(i32 %low, i32 %high) noinline noreturn {
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
  %7 = load i64, ptr %4, align 8
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %4, i64 8
  %8 = load i64, ptr %arrayidx1.i, align 8
  %.frozen = freeze i64 %6
  %.frozen12 = freeze i64 %7
  %div.i = udiv i64 %.frozen, %.frozen12
  %9 = mul i64 %div.i, %.frozen12
  %rem.i.decomposed = sub i64 %.frozen, %9
  %.frozen13 = freeze i64 %8
  %div4.i = udiv i64 %div.i, %.frozen13
  %10 = mul i64 %div4.i, %.frozen13
  %rem2.i.decomposed = sub i64 %div.i, %10
  %call.i = tail call i32 %2(ptr %3, i64 %rem.i.decomposed, i64 %rem2.i.decomposed, i64 %div4.i, ptr nonnull %4, ptr %5)
  %tobool.not = icmp eq i32 %call.i, 0
  br i1 %tobool.not, label %if.end, label %land.lhs.true

land.lhs.true:                                    ; preds = %entry
  %status3 = getelementptr inbounds nuw i8, ptr %1, i64 80
  %11 = load i32, ptr %status3, align 8
  %tobool4.not = icmp eq i32 %11, 0
  br i1 %tobool4.not, label %if.then, label %if.end

if.then:                                          ; preds = %land.lhs.true
  store i32 %call.i, ptr %status3, align 8
  br label %if.end

if.end:                                           ; preds = %if.then, %land.lhs.true, %entry
  %over = getelementptr inbounds nuw i8, ptr %0, i64 8237
  store i8 1, ptr %over, align 1
  %launch = getelementptr inbounds nuw i8, ptr %1, i64 24
  %12 = load ptr, ptr %launch, align 8
  %scheduler6 = getelementptr inbounds nuw i8, ptr %12, i64 48
  %13 = load ptr, ptr %scheduler6, align 8
  %step = getelementptr inbounds nuw i8, ptr %13, i64 8328
  %14 = load i64, ptr %step, align 8
  %inc = add i64 %14, 1
  store i64 %inc, ptr %step, align 8
  %call8 = tail call i32 @swapcontext(ptr nonnull %0, ptr %13)
  unreachable
}

define internal fastcc void @fly.host_pool.give_up(ptr readonly captures(none) %scheduler, i32 range(i32 50331648, 67108865) %reason) #14 {
entry:
  %count = getelementptr inbounds nuw i8, ptr %scheduler, i64 8344
  %0 = load i32, ptr %count, align 8
  %cmp31 = icmp sgt i32 %0, 0
  br i1 %cmp31, label %for.body.lr.ph, label %for.cond.cleanup

for.body.lr.ph:                                   ; preds = %entry
  %residents = getelementptr inbounds nuw i8, ptr %scheduler, i64 8192
  br label %for.body

for.cond.cleanup.loopexit:                        ; preds = %for.cond.cleanup3
  %1 = shl i64 %rows.1.lcssa, 6
  br label %for.cond.cleanup

for.cond.cleanup:                                 ; preds = %for.cond.cleanup.loopexit, %entry
  %rows.0.lcssa = phi i64 [ 0, %entry ], [ %1, %for.cond.cleanup.loopexit ]
  %2 = getelementptr i8, ptr @fly.host_pool.waiting, i64 %rows.0.lcssa
  %arrayidx44 = getelementptr i8, ptr %2, i64 8
  store i64 -1, ptr %arrayidx44, align 8
  ret void

for.body:                                         ; preds = %for.body.lr.ph, %for.cond.cleanup3
  %3 = phi i32 [ %0, %for.body.lr.ph ], [ %6, %for.cond.cleanup3 ]
  %indvars.iv = phi i64 [ 0, %for.body.lr.ph ], [ %indvars.iv.next, %for.cond.cleanup3 ]
  %rows.033 = phi i64 [ 0, %for.body.lr.ph ], [ %rows.1.lcssa, %for.cond.cleanup3 ]
  %arrayidx = getelementptr inbounds nuw ptr, ptr %residents, i64 %indvars.iv
  %4 = load ptr, ptr %arrayidx, align 8
  %places = getelementptr inbounds nuw i8, ptr %4, i64 48
  %5 = load i64, ptr %places, align 8
  %cmp228 = icmp sgt i64 %5, 0
  br i1 %cmp228, label %for.body4.lr.ph, label %for.cond.cleanup3

for.body4.lr.ph:                                  ; preds = %for.body
  %fibers = getelementptr inbounds nuw i8, ptr %4, i64 32
  %status = getelementptr inbounds nuw i8, ptr %4, i64 80
  %rank = getelementptr inbounds nuw i8, ptr %4, i64 84
  %code = getelementptr inbounds nuw i8, ptr %4, i64 88
  %total = getelementptr inbounds nuw i8, ptr %4, i64 56
  %next = getelementptr inbounds nuw i8, ptr %4, i64 64
  %dims = getelementptr inbounds nuw i8, ptr %4, i64 16
  br label %for.body4

for.cond.cleanup3.loopexit:                       ; preds = %cleanup
  %.pre35 = load i32, ptr %count, align 8
  br label %for.cond.cleanup3

for.cond.cleanup3:                                ; preds = %for.cond.cleanup3.loopexit, %for.body
  %6 = phi i32 [ %3, %for.body ], [ %.pre35, %for.cond.cleanup3.loopexit ]
  %rows.1.lcssa = phi i64 [ %rows.033, %for.body ], [ %rows.2, %for.cond.cleanup3.loopexit ]
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %7 = sext i32 %6 to i64
  %cmp = icmp slt i64 %indvars.iv.next, %7
  br i1 %cmp, label %for.body, label %for.cond.cleanup.loopexit

for.body4:                                        ; preds = %for.body4.lr.ph, %cleanup
  %8 = phi i64 [ %5, %for.body4.lr.ph ], [ %25, %cleanup ]
  %rows.130 = phi i64 [ %rows.033, %for.body4.lr.ph ], [ %rows.2, %cleanup ]
  %k.029 = phi i64 [ 0, %for.body4.lr.ph ], [ %inc35, %cleanup ]
  %9 = load ptr, ptr %fibers, align 8
  %arrayidx5 = getelementptr inbounds nuw %struct.Fiber, ptr %9, i64 %k.029
  %over = getelementptr inbounds nuw i8, ptr %arrayidx5, i64 8237
  %10 = load i8, ptr %over, align 1
  %tobool.not = icmp eq i8 %10, 0
  br i1 %tobool.not, label %if.end, label %cleanup

if.end:                                           ; preds = %for.body4
  %11 = load i32, ptr %status, align 8
  %tobool6.not = icmp eq i32 %11, 0
  br i1 %tobool6.not, label %if.then7, label %if.end9

if.then7:                                         ; preds = %if.end
  %site = getelementptr inbounds nuw i8, ptr %arrayidx5, i64 8232
  %12 = load i32, ptr %site, align 8
  %add = add nsw i32 %12, %reason
  store i32 %add, ptr %status, align 8
  br label %if.end9

if.end9:                                          ; preds = %if.then7, %if.end
  %cmp10 = icmp slt i64 %rows.130, 63
  br i1 %cmp10, label %if.then11, label %cleanup

if.then11:                                        ; preds = %if.end9
  %arrayidx12.idx = shl nsw i64 %rows.130, 6
  %arrayidx12 = getelementptr inbounds i8, ptr @fly.host_pool.waiting, i64 %arrayidx12.idx
  %13 = load i32, ptr %rank, align 4
  %conv = sext i32 %13 to i64
  store i64 %conv, ptr %arrayidx12, align 16
  %block = getelementptr inbounds nuw i8, ptr %arrayidx5, i64 8200
  %14 = load i64, ptr %block, align 8
  %arrayidx14 = getelementptr inbounds nuw i8, ptr %arrayidx12, i64 8
  store i64 %14, ptr %arrayidx14, align 8
  %site15 = getelementptr inbounds nuw i8, ptr %arrayidx5, i64 8232
  %15 = load i32, ptr %site15, align 8
  %conv16 = sext i32 %15 to i64
  %arrayidx17 = getelementptr inbounds nuw i8, ptr %arrayidx12, i64 16
  store i64 %conv16, ptr %arrayidx17, align 16
  %16 = load i32, ptr %code, align 8
  %conv18 = sext i32 %16 to i64
  %arrayidx19 = getelementptr inbounds nuw i8, ptr %arrayidx12, i64 24
  store i64 %conv18, ptr %arrayidx19, align 8
  %17 = load i64, ptr %total, align 8
  %18 = load i64, ptr %next, align 8
  %sub = sub nsw i64 %17, %18
  %arrayidx20 = getelementptr inbounds nuw i8, ptr %arrayidx12, i64 32
  store i64 %sub, ptr %arrayidx20, align 16
  %19 = load ptr, ptr %dims, align 8
  %20 = load i64, ptr %19, align 8
  %arrayidx31 = getelementptr inbounds nuw i8, ptr %arrayidx12, i64 40
  store i64 %20, ptr %arrayidx31, align 8
  %21 = load ptr, ptr %dims, align 8
  %arrayidx28.1 = getelementptr inbounds nuw i8, ptr %21, i64 8
  %22 = load i64, ptr %arrayidx28.1, align 8
  %arrayidx31.1 = getelementptr inbounds nuw i8, ptr %arrayidx12, i64 48
  store i64 %22, ptr %arrayidx31.1, align 16
  %23 = load ptr, ptr %dims, align 8
  %arrayidx28.2 = getelementptr inbounds nuw i8, ptr %23, i64 16
  %24 = load i64, ptr %arrayidx28.2, align 8
  %arrayidx31.2 = getelementptr inbounds nuw i8, ptr %arrayidx12, i64 56
  store i64 %24, ptr %arrayidx31.2, align 8
  %inc = add nsw i64 %rows.130, 1
  %.pre = load i64, ptr %places, align 8
  br label %cleanup

cleanup:                                          ; preds = %if.then11, %if.end9, %for.body4
  %25 = phi i64 [ %8, %for.body4 ], [ %8, %if.end9 ], [ %.pre, %if.then11 ]
  %rows.2 = phi i64 [ %rows.130, %for.body4 ], [ %rows.130, %if.end9 ], [ %inc, %if.then11 ]
  %inc35 = add nuw nsw i64 %k.029, 1
  %cmp2 = icmp slt i64 %inc35, %25
  br i1 %cmp2, label %for.body4, label %for.cond.cleanup3.loopexit
}

declare i32 @nanosleep(ptr, ptr) 

declare i32 @poll(ptr, i64, i32) 

declare i32 @pthread_create(ptr, ptr, ptr, ptr) 

declare i32 @pthread_detach(i64) 


