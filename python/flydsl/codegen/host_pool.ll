; The thread pool of the host device: runs the workgroups of a launch on all cores.
;
; A launch hands out block numbers by an atomic counter, so the caller and every worker take the
; next chunk as they become free. One launch owns the pool at a time; a launch that finds it taken
; runs its blocks itself. A kernel is
;   i32 kernel(ptr args, i64 bx, i64 by, i64 bz, ptr dims, ptr scratch)
; with dims = [grid x y z, block x y z]; a status other than 0 stops the launch and is returned.

%job = type { ptr, ptr, ptr, i64, i64, i64, i64, i32, i32 }
;             kernel args dims scratch total chunk next pending status

@job = internal global %job zeroinitializer, align 64
@busy = internal global i32 0, align 64
@workers = internal global i32 0, align 4
@start = internal global [64 x i8] zeroinitializer, align 64
@done = internal global [64 x i8] zeroinitializer, align 64

declare i32 @sem_init(ptr, i32, i32)
declare i32 @sem_wait(ptr)
declare i32 @sem_post(ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_detach(i64)
declare ptr @aligned_alloc(i64, i64)
declare void @free(ptr)

; Take chunks of blocks from the counter at %next until there are none or a kernel fails.
define internal void @run_blocks(ptr %j, ptr %next) {
entry:
  %pk = getelementptr %job, ptr %j, i32 0, i32 0
  %kernel = load ptr, ptr %pk
  %pa = getelementptr %job, ptr %j, i32 0, i32 1
  %args = load ptr, ptr %pa
  %pd = getelementptr %job, ptr %j, i32 0, i32 2
  %dims = load ptr, ptr %pd
  %ps = getelementptr %job, ptr %j, i32 0, i32 3
  %bytes = load i64, ptr %ps
  %pt = getelementptr %job, ptr %j, i32 0, i32 4
  %total = load i64, ptr %pt
  %pc = getelementptr %job, ptr %j, i32 0, i32 5
  %chunk = load i64, ptr %pc
  %status = getelementptr %job, ptr %j, i32 0, i32 8
  %gx = load i64, ptr %dims
  %py = getelementptr i64, ptr %dims, i64 1
  %gy = load i64, ptr %py
  %scratch.needed = icmp ne i64 %bytes, 0
  br i1 %scratch.needed, label %take, label %begin
take:
  %more = add i64 %bytes, 127
  %rounded = and i64 %more, -128
  %allocated = call ptr @aligned_alloc(i64 128, i64 %rounded)
  %none = icmp eq ptr %allocated, null
  br i1 %none, label %exhausted, label %begin
exhausted:
  store atomic i32 -2, ptr %status seq_cst, align 4
  ret void
begin:
  %scratch = phi ptr [ null, %entry ], [ %allocated, %take ]
  br label %claim
claim:
  %first = atomicrmw add ptr %next, i64 %chunk seq_cst
  %failed = load atomic i32, ptr %status seq_cst, align 4
  %ok = icmp eq i32 %failed, 0
  %left = icmp slt i64 %first, %total
  %go = and i1 %ok, %left
  br i1 %go, label %bound, label %finish
bound:
  %far = add i64 %first, %chunk
  %over = icmp slt i64 %total, %far
  %last = select i1 %over, i64 %total, i64 %far
  br label %block
block:
  %n = phi i64 [ %first, %bound ], [ %n.next, %next.block ]
  %bx = urem i64 %n, %gx
  %n1 = udiv i64 %n, %gx
  %by = urem i64 %n1, %gy
  %bz = udiv i64 %n1, %gy
  %code = call i32 %kernel(ptr %args, i64 %bx, i64 %by, i64 %bz, ptr %dims, ptr %scratch)
  %bad = icmp ne i32 %code, 0
  br i1 %bad, label %fail, label %next.block
fail:
  %was = cmpxchg ptr %status, i32 0, i32 %code seq_cst seq_cst
  br label %finish
next.block:
  %n.next = add i64 %n, 1
  %again = icmp slt i64 %n.next, %last
  br i1 %again, label %block, label %claim
finish:
  call void @free(ptr %scratch)
  ret void
}

define internal ptr @worker(ptr %unused) {
entry:
  br label %wait
wait:
  %w = call i32 @sem_wait(ptr @start)
  %interrupted = icmp ne i32 %w, 0
  br i1 %interrupted, label %wait, label %work
work:
  %next = getelementptr %job, ptr @job, i32 0, i32 6
  call void @run_blocks(ptr @job, ptr %next)
  %pending = getelementptr %job, ptr @job, i32 0, i32 7
  %before = atomicrmw sub ptr %pending, i32 1 seq_cst
  %is.last = icmp eq i32 %before, 1
  br i1 %is.last, label %report, label %wait
report:
  %r = call i32 @sem_post(ptr @done)
  br label %wait
}

; Start the pool with a number of worker threads besides the caller; returns how many started.
define i32 @fly_pool_start(i32 %wanted) {
entry:
  %handle = alloca i64
  store i32 0, ptr @busy
  store i32 0, ptr @workers
  %a = call i32 @sem_init(ptr @start, i32 0, i32 0)
  %b = call i32 @sem_init(ptr @done, i32 0, i32 0)
  br label %check
check:
  %i = phi i32 [ 0, %entry ], [ %i.next, %started ]
  %more = icmp slt i32 %i, %wanted
  br i1 %more, label %create, label %finish
create:
  %c = call i32 @pthread_create(ptr %handle, ptr null, ptr @worker, ptr null)
  %refused = icmp ne i32 %c, 0
  br i1 %refused, label %finish, label %started
started:
  %h = load i64, ptr %handle
  %d = call i32 @pthread_detach(i64 %h)
  %i.next = add i32 %i, 1
  br label %check
finish:
  store i32 %i, ptr @workers
  ret i32 %i
}

define i32 @fly_host_launch(ptr %kernel, ptr %args, ptr %dims, i64 %scratch) {
entry:
  %gx = load i64, ptr %dims
  %py = getelementptr i64, ptr %dims, i64 1
  %gy = load i64, ptr %py
  %pz = getelementptr i64, ptr %dims, i64 2
  %gz = load i64, ptr %pz
  %xy = mul i64 %gx, %gy
  %total = mul i64 %xy, %gz
  %own = alloca %job, align 64
  %empty = icmp sle i64 %total, 0
  br i1 %empty, label %nothing, label %some
nothing:
  ret i32 0
some:
  %n = load i32, ptr @workers
  %alone = icmp eq i32 %n, 0
  %single = icmp eq i64 %total, 1
  %inline = or i1 %alone, %single
  br i1 %inline, label %by.caller, label %acquire
acquire:
  %lock = cmpxchg ptr @busy, i32 0, i32 1 seq_cst seq_cst
  %mine = extractvalue { i32, i1 } %lock, 1
  br i1 %mine, label %by.pool, label %by.caller
by.caller:
  call void @fill(ptr %own, ptr %kernel, ptr %args, ptr %dims, i64 %scratch, i64 %total, i64 %total, i32 0)
  %own.next = getelementptr %job, ptr %own, i32 0, i32 6
  call void @run_blocks(ptr %own, ptr %own.next)
  %own.status = getelementptr %job, ptr %own, i32 0, i32 8
  %s = load i32, ptr %own.status
  ret i32 %s
by.pool:
  %n64 = zext i32 %n to i64
  %parts = mul i64 %n64, 16
  %share = udiv i64 %total, %parts
  %small = icmp eq i64 %share, 0
  %chunk = select i1 %small, i64 1, i64 %share
  call void @fill(ptr @job, ptr %kernel, ptr %args, ptr %dims, i64 %scratch, i64 %total, i64 %chunk, i32 %n)
  fence seq_cst
  br label %wake
wake:
  %i = phi i32 [ 0, %by.pool ], [ %i.next, %wake ]
  %p = call i32 @sem_post(ptr @start)
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %wake, label %join
join:
  %next = getelementptr %job, ptr @job, i32 0, i32 6
  call void @run_blocks(ptr @job, ptr %next)
  br label %wait
wait:
  %w = call i32 @sem_wait(ptr @done)
  %interrupted = icmp ne i32 %w, 0
  br i1 %interrupted, label %wait, label %finished
finished:
  %status = getelementptr %job, ptr @job, i32 0, i32 8
  %code = load atomic i32, ptr %status seq_cst, align 4
  store atomic i32 0, ptr @busy seq_cst, align 4
  ret i32 %code
}

define internal void @fill(ptr %j, ptr %kernel, ptr %args, ptr %dims, i64 %scratch, i64 %total, i64 %chunk, i32 %pending) {
  %p0 = getelementptr %job, ptr %j, i32 0, i32 0
  store ptr %kernel, ptr %p0
  %p1 = getelementptr %job, ptr %j, i32 0, i32 1
  store ptr %args, ptr %p1
  %p2 = getelementptr %job, ptr %j, i32 0, i32 2
  store ptr %dims, ptr %p2
  %p3 = getelementptr %job, ptr %j, i32 0, i32 3
  store i64 %scratch, ptr %p3
  %p4 = getelementptr %job, ptr %j, i32 0, i32 4
  store i64 %total, ptr %p4
  %p5 = getelementptr %job, ptr %j, i32 0, i32 5
  store i64 %chunk, ptr %p5
  %p6 = getelementptr %job, ptr %j, i32 0, i32 6
  store i64 0, ptr %p6
  %p7 = getelementptr %job, ptr %j, i32 0, i32 7
  store i32 %pending, ptr %p7
  %p8 = getelementptr %job, ptr %j, i32 0, i32 8
  store i32 0, ptr %p8
  ret void
}
