; The checker behind the sanitizers of the virtual GPU: kernels call it before every access to memory.
;
; A sanitized launch runs its workgroups one after the other, so all state is global; Python holds a lock around it.
; Time counts accesses and meetings. What happened before @epoch (the block's last barrier) or, between lanes of one
; wave, before @wave_epoch (their last collective) is ordered before what happens now.
;
; Per byte of scratch (shared memory and registers) a flag says whether it was written. Per granule of memory that
; threads share (a byte of shared memory, an element of an array) a cell remembers who touched it:
;   cell = five slots: the last plain write, two reads, two atomics
;   slot = { time | bytes of the granule << 56, block << 32 | thread << 20 | site }
; Two slots are enough for reads: whoever writes next, one of two different readers is another thread. A reader of an
; earlier block is kept in the second, for it is in conflict with every write of this block.

%slot = type { i64, i64 }
%cell = type { %slot, %slot, %slot, %slot, %slot }
%interval = type { i64, i64, i64 }
;                  low, end, region
%region = type { i64, i64, i64, ptr }
;                low, end, log2 of the granule, cells

@flags = internal global i64 0
@ranges = internal global ptr null
@range_count = internal global i64 0
@regions = internal global ptr null
@region_count = internal global i64 0
@roots = internal global [256 x %interval] zeroinitializer
@time = internal global i64 1
@launch_start = internal global i64 0
@epoch = internal global i64 0
@wave_epoch = internal global i64 0
@synced = internal global i64 0
@block = internal global i64 0
@wave_shift = internal global i64 0
@dims = internal global ptr null
@scratch = internal global i64 0
@scratch_bytes = internal global i64 0
@shared_bytes = internal global i64 0
@written = internal global ptr null
@shared_cells = internal global ptr null
@report = internal global ptr null

declare ptr @aligned_alloc(i64, i64)
declare ptr @calloc(i64, i64)
declare void @free(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare i64 @llvm.umax.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)

; What Python tells before it enters a launcher: the checks (1 bounds, 2 race, 4 uninit, 8 barrier), the intervals of
; the array arguments, the memory regions they lie in, and where the report goes.
define void @fly_sanitizer_begin(i64 %flags, ptr %ranges, i64 %range_count, ptr %regions, i64 %region_count, ptr %report) {
  store i64 %flags, ptr @flags
  store ptr %ranges, ptr @ranges
  store i64 %range_count, ptr @range_count
  store ptr %regions, ptr @regions
  store i64 %region_count, ptr @region_count
  store ptr %report, ptr @report
  ret void
}

define internal i64 @tick() {
  %before = load i64, ptr @time
  %now = add i64 %before, 1
  store i64 %now, ptr @time
  ret i64 %now
}

; The interval a kernel's pointer argument may reach: that of the array argument it came from, or, when that is not
; known (%row < 0), of the one it points into; without one, everything.
define void @fly_sanitizer_root(i64 %index, ptr %pointer, i64 %row) {
entry:
  %root = getelementptr [256 x %interval], ptr @roots, i64 0, i64 %index
  %address = ptrtoint ptr %pointer to i64
  %table = load ptr, ptr @ranges
  %count = load i64, ptr @range_count
  %known = icmp sge i64 %row, 0
  br i1 %known, label %found, label %search
search:
  %i = phi i64 [ 0, %entry ], [ %i.next, %next ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %unknown
look:
  %entry.low = getelementptr %interval, ptr %table, i64 %i, i32 0
  %low = load i64, ptr %entry.low
  %entry.end = getelementptr %interval, ptr %table, i64 %i, i32 1
  %end = load i64, ptr %entry.end
  %above = icmp uge i64 %address, %low
  %below = icmp ult i64 %address, %end
  %inside = and i1 %above, %below
  br i1 %inside, label %found, label %next
next:
  %i.next = add i64 %i, 1
  br label %search
found:
  %at = phi i64 [ %row, %entry ], [ %i, %look ]
  %source = getelementptr %interval, ptr %table, i64 %at
  %copied = load %interval, ptr %source
  store %interval %copied, ptr %root
  ret void
unknown:
  store %interval { i64 0, i64 -1, i64 -1 }, ptr %root
  ret void
}

define ptr @fly_sanitizer_roots() {
  ret ptr @roots
}

; Run the blocks of a launch in order; 0, -2 without memory, or what a block returned.
define i32 @fly_sanitizer_launch(ptr %kernel, ptr %args, ptr %dims, i64 %bytes, i64 %static, i64 %wave_shift) {
entry:
  %gx = load i64, ptr %dims
  %py = getelementptr i64, ptr %dims, i64 1
  %gy = load i64, ptr %py
  %pz = getelementptr i64, ptr %dims, i64 2
  %gz = load i64, ptr %pz
  %pd = getelementptr i64, ptr %dims, i64 6
  %dynamic = load i64, ptr %pd
  %xy = mul i64 %gx, %gy
  %total = mul i64 %xy, %gz
  %shared = add i64 %static, %dynamic
  store ptr %dims, ptr @dims
  store i64 %wave_shift, ptr @wave_shift
  store i64 %bytes, ptr @scratch_bytes
  store i64 %shared, ptr @shared_bytes
  %more = add i64 %bytes, 255
  %rounded = and i64 %more, -128
  %scratch = call ptr @aligned_alloc(i64 128, i64 %rounded)
  %written = call ptr @calloc(i64 %rounded, i64 1)
  %some = add i64 %shared, 1
  %cells = call ptr @calloc(i64 %some, i64 80)
  %no.scratch = icmp eq ptr %scratch, null
  %no.written = icmp eq ptr %written, null
  %no.cells = icmp eq ptr %cells, null
  %no.two = or i1 %no.scratch, %no.written
  %none = or i1 %no.two, %no.cells
  %address = ptrtoint ptr %scratch to i64
  store i64 %address, ptr @scratch
  store ptr %written, ptr @written
  store ptr %cells, ptr @shared_cells
  %start = call i64 @tick()
  store i64 %start, ptr @launch_start
  br i1 %none, label %finish, label %check
check:
  %n = phi i64 [ 0, %entry ], [ %n.next, %next ]
  %left = icmp slt i64 %n, %total
  br i1 %left, label %run, label %finish
run:
  store i64 %n, ptr @block
  store i64 0, ptr @synced
  call void @fly_sanitizer_barrier()
  call void @llvm.memset.p0.i64(ptr %written, i8 0, i64 %bytes, i1 false)
  %bx = urem i64 %n, %gx
  %n1 = udiv i64 %n, %gx
  %by = urem i64 %n1, %gy
  %bz = udiv i64 %n1, %gy
  %code = call i32 %kernel(ptr %args, i64 %bx, i64 %by, i64 %bz, ptr %dims, ptr %scratch)
  %bad = icmp ne i32 %code, 0
  br i1 %bad, label %finish, label %next
next:
  %n.next = add i64 %n, 1
  br label %check
finish:
  %status = phi i32 [ -2, %entry ], [ 0, %check ], [ %code, %run ]
  call void @free(ptr %scratch)
  call void @free(ptr %written)
  call void @free(ptr %cells)
  ret i32 %status
}

; Meetings --------------------------------------------------------------------------------------

define void @fly_sanitizer_barrier() {
  %now = call i64 @tick()
  store i64 %now, ptr @epoch
  store i64 %now, ptr @wave_epoch
  ret void
}

define void @fly_sanitizer_wave() {
  %now = call i64 @tick()
  store i64 %now, ptr @wave_epoch
  ret void
}

; A barrier that %absent never reaches while %present waits there.
define void @fly_sanitizer_stray(i64 %site, i64 %present, i64 %absent) {
  %block = load i64, ptr @block
  %high = shl i64 %block, 32
  %shifted = shl i64 %absent, 20
  %who = or i64 %high, %shifted
  %whole = or i64 %who, %site
  call void @fill(i64 8, i64 %site, i64 %present, i64 0, i64 0, i64 0, i64 0, i64 0, i64 %whole)
  ret void
}

; Registers begin a new life: what they held is gone.
define void @fly_sanitizer_forget(ptr %pointer, i64 %bytes) {
entry:
  %address = ptrtoint ptr %pointer to i64
  %base = load i64, ptr @scratch
  %offset = sub i64 %address, %base
  %map = load ptr, ptr @written
  %place = getelementptr i8, ptr %map, i64 %offset
  call void @llvm.memset.p0.i64(ptr %place, i8 0, i64 %bytes, i1 false)
  ret void
}

; Reports ---------------------------------------------------------------------------------------

; check, site, thread, block, address, bytes, kind, low, end, other's block/thread/site, then the extents.
define internal void @fill(i64 %check, i64 %site, i64 %thread, i64 %address, i64 %bytes, i64 %kind, i64 %low, i64 %end, i64 %other) noinline {
entry:
  %r = load ptr, ptr @report
  %block = load i64, ptr @block
  store i64 %check, ptr %r
  %p1 = getelementptr i64, ptr %r, i64 1
  store i64 %site, ptr %p1
  %p2 = getelementptr i64, ptr %r, i64 2
  store i64 %thread, ptr %p2
  %p3 = getelementptr i64, ptr %r, i64 3
  store i64 %block, ptr %p3
  %p4 = getelementptr i64, ptr %r, i64 4
  store i64 %address, ptr %p4
  %p5 = getelementptr i64, ptr %r, i64 5
  store i64 %bytes, ptr %p5
  %p6 = getelementptr i64, ptr %r, i64 6
  store i64 %kind, ptr %p6
  %p7 = getelementptr i64, ptr %r, i64 7
  store i64 %low, ptr %p7
  %p8 = getelementptr i64, ptr %r, i64 8
  store i64 %end, ptr %p8
  %p9 = getelementptr i64, ptr %r, i64 9
  store i64 %other, ptr %p9
  %scratch = load i64, ptr @scratch
  %p10 = getelementptr i64, ptr %r, i64 10
  store i64 %scratch, ptr %p10
  %dims = load ptr, ptr @dims
  br label %copy
copy:
  %i = phi i64 [ 0, %entry ], [ %i.next, %copy ]
  %from = getelementptr i64, ptr %dims, i64 %i
  %extent = load i64, ptr %from
  %j = add i64 %i, 11
  %to = getelementptr i64, ptr %r, i64 %j
  store i64 %extent, ptr %to
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, 6
  br i1 %more, label %copy, label %done
done:
  ret void
}

; Accesses --------------------------------------------------------------------------------------

; Before an access of %bytes at %address. %kind: 1 reads, 2 writes, 4 atomic, 8 a read of what may never have been
; written, 16 an atomic that orders. %region: a region, -1 for unknown, -2 shared memory, -3 registers.
; [%low, %end) is what the tensor may reach. 1 when the launch must stop.
define i1 @fly_sanitizer_access(i64 %site, i64 %address, i64 %bytes, i64 %kind, i64 %thread, i64 %low, i64 %end, i64 %region) {
entry:
  %empty = icmp eq i64 %bytes, 0
  br i1 %empty, label %fine, label %start
start:
  %flags = load i64, ptr @flags
  %bounds.bit = and i64 %flags, 1
  %bounds = icmp ne i64 %bounds.bit, 0
  %stop = add i64 %address, %bytes
  %under = icmp ult i64 %address, %low
  %over = icmp ugt i64 %stop, %end
  %outside = or i1 %under, %over
  %fault = and i1 %bounds, %outside
  br i1 %fault, label %out_of_bounds, label %inside
out_of_bounds:
  call void @fill(i64 1, i64 %site, i64 %thread, i64 %address, i64 %bytes, i64 %kind, i64 %low, i64 %end, i64 0)
  ret i1 true
inside:
  %uninit.bit = and i64 %flags, 4
  %uninit = icmp ne i64 %uninit.bit, 0
  %private = icmp slt i64 %region, -1
  %map = and i1 %uninit, %private
  br i1 %map, label %mapped, label %sharing
mapped:
  %missing = call i64 @unwritten(i64 %address, i64 %bytes, i64 %kind)
  %unset = icmp ne i64 %missing, 0
  br i1 %unset, label %uninitialised, label %sharing
uninitialised:
  call void @fill(i64 4, i64 %site, i64 %thread, i64 %missing, i64 %bytes, i64 %kind, i64 %low, i64 %end, i64 0)
  ret i1 true
sharing:
  %race.bit = and i64 %flags, 2
  %race = icmp ne i64 %race.bit, 0
  %common = icmp sge i64 %region, -2
  %look = and i1 %race, %common
  br i1 %look, label %shared_memory, label %fine
shared_memory:
  %bad = call i1 @touch(i64 %site, i64 %address, i64 %bytes, i64 %kind, i64 %thread, i64 %low, i64 %end, i64 %region)
  ret i1 %bad
fine:
  ret i1 false
}

; Follow the written flags of an access; the address of a byte that is read but was never written, or 0.
define internal i64 @unwritten(i64 %address, i64 %bytes, i64 %kind) {
entry:
  %base = load i64, ptr @scratch
  %size = load i64, ptr @scratch_bytes
  %offset = sub i64 %address, %base
  %stop = add i64 %offset, %bytes
  %begins = icmp ule i64 %offset, %size
  %ends = icmp ule i64 %stop, %size
  %held = and i1 %begins, %ends
  br i1 %held, label %start, label %fine
start:
  %map = load ptr, ptr @written
  %quiet.bits = and i64 %kind, 9
  %asks = icmp eq i64 %quiet.bits, 1
  %write.bit = and i64 %kind, 2
  %writes = icmp ne i64 %write.bit, 0
  br label %byte
byte:
  %i = phi i64 [ %offset, %start ], [ %i.next, %next ]
  %place = getelementptr i8, ptr %map, i64 %i
  br i1 %asks, label %ask, label %mark
ask:
  %flag = load i8, ptr %place
  %never = icmp eq i8 %flag, 0
  br i1 %never, label %missing, label %mark
mark:
  br i1 %writes, label %set, label %next
set:
  store i8 1, ptr %place
  br label %next
next:
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %stop
  br i1 %more, label %byte, label %fine
missing:
  %at = add i64 %base, %i
  ret i64 %at
fine:
  ret i64 0
}

define internal i64 @region_of(i64 %address) {
entry:
  %table = load ptr, ptr @regions
  %count = load i64, ptr @region_count
  br label %check
check:
  %i = phi i64 [ 0, %entry ], [ %i.next, %next ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %look, label %none
look:
  %plow = getelementptr %region, ptr %table, i64 %i, i32 0
  %low = load i64, ptr %plow
  %pend = getelementptr %region, ptr %table, i64 %i, i32 1
  %end = load i64, ptr %pend
  %above = icmp uge i64 %address, %low
  %below = icmp ult i64 %address, %end
  %inside = and i1 %above, %below
  br i1 %inside, label %found, label %next
next:
  %i.next = add i64 %i, 1
  br label %check
found:
  ret i64 %i
none:
  ret i64 -1
}

; Look for a conflict in the cells of an access, and note the access there.
define internal i1 @touch(i64 %site, i64 %address, i64 %bytes, i64 %kind, i64 %thread, i64 %low, i64 %end, i64 %given) {
entry:
  %is.shared = icmp eq i64 %given, -2
  br i1 %is.shared, label %shared, label %global
shared:
  %shared.low = load i64, ptr @scratch
  %shared.size = load i64, ptr @shared_bytes
  %shared.cells = load ptr, ptr @shared_cells
  br label %begin
global:
  %named = icmp sge i64 %given, 0
  br i1 %named, label %known, label %search
search:
  %searched = call i64 @region_of(i64 %address)
  %nowhere = icmp slt i64 %searched, 0
  br i1 %nowhere, label %fine, label %known
known:
  %number = phi i64 [ %given, %global ], [ %searched, %search ]
  %table = load ptr, ptr @regions
  %row = getelementptr %region, ptr %table, i64 %number
  %facts = load %region, ptr %row
  %global.low = extractvalue %region %facts, 0
  %global.end = extractvalue %region %facts, 1
  %global.size = sub i64 %global.end, %global.low
  %global.shift = extractvalue %region %facts, 2
  %global.cells = extractvalue %region %facts, 3
  br label %begin
begin:
  %base = phi i64 [ %shared.low, %shared ], [ %global.low, %known ]
  %size = phi i64 [ %shared.size, %shared ], [ %global.size, %known ]
  %shift = phi i64 [ 0, %shared ], [ %global.shift, %known ]
  %cells = phi ptr [ %shared.cells, %shared ], [ %global.cells, %known ]
  %offset = sub i64 %address, %base
  %stop = add i64 %offset, %bytes
  %begins = icmp ult i64 %offset, %size
  %ends = icmp ule i64 %stop, %size
  %held = and i1 %begins, %ends
  br i1 %held, label %start, label %fine
start:
  %now = call i64 @tick()
  %block = load i64, ptr @block
  %high = shl i64 %block, 32
  %middle = shl i64 %thread, 20
  %place = or i64 %high, %middle
  %who = or i64 %place, %site
  %first = lshr i64 %offset, %shift
  br label %granule
granule:
  %g = phi i64 [ %first, %start ], [ %g.next, %next ]
  %g.low = shl i64 %g, %shift
  %g.next = add i64 %g, 1
  %g.end = shl i64 %g.next, %shift
  %from = call i64 @llvm.umax.i64(i64 %offset, i64 %g.low)
  %to = call i64 @llvm.umin.i64(i64 %stop, i64 %g.end)
  %from.bit = sub i64 %from, %g.low
  %to.bit = sub i64 %to, %g.low
  %below.to = shl i64 1, %to.bit
  %below.from = shl i64 1, %from.bit
  %mask = sub i64 %below.to, %below.from
  %cell = getelementptr %cell, ptr %cells, i64 %g
  %other = call i64 @meet(ptr %cell, i64 %mask, i64 %kind, i64 %who, i64 %now, i1 %is.shared)
  %clash = icmp ne i64 %other, -1
  br i1 %clash, label %conflict, label %next
next:
  %more = icmp ult i64 %g.end, %stop
  br i1 %more, label %granule, label %fine
conflict:
  %at = add i64 %base, %from
  call void @fill(i64 2, i64 %site, i64 %thread, i64 %at, i64 %bytes, i64 %kind, i64 %low, i64 %end, i64 %other)
  ret i1 true
fine:
  ret i1 false
}

; Who in a cell is in conflict with this access, or -1; without a conflict the access is noted.
define internal i64 @meet(ptr %cell, i64 %mask, i64 %kind, i64 %who, i64 %now, i1 %shared) {
entry:
  %write = getelementptr %cell, ptr %cell, i32 0, i32 0
  %read.a = getelementptr %cell, ptr %cell, i32 0, i32 1
  %read.b = getelementptr %cell, ptr %cell, i32 0, i32 2
  %atomic.a = getelementptr %cell, ptr %cell, i32 0, i32 3
  %atomic.b = getelementptr %cell, ptr %cell, i32 0, i32 4
  %write.bit = and i64 %kind, 2
  %writes = icmp ne i64 %write.bit, 0
  %atomic.bit = and i64 %kind, 4
  %atomic = icmp ne i64 %atomic.bit, 0
  %plain = xor i1 %atomic, true
  %sync.bit = and i64 %kind, 16
  %syncs = icmp ne i64 %sync.bit, 0
  br i1 %syncs, label %order, label %writer
order:
  call void @synchronise(ptr %atomic.a, i64 %who)
  br label %writer
writer:
  %c0 = call i1 @conflicts(ptr %write, i64 %mask, i64 %who, i1 %shared)
  br i1 %c0, label %found, label %readers
readers:
  br i1 %writes, label %reader.a, label %atomics
reader.a:
  %c1 = call i1 @conflicts(ptr %read.a, i64 %mask, i64 %who, i1 %shared)
  br i1 %c1, label %found, label %reader.b
reader.b:
  %c2 = call i1 @conflicts(ptr %read.b, i64 %mask, i64 %who, i1 %shared)
  br i1 %c2, label %found, label %atomics
atomics:
  br i1 %plain, label %atomics.a, label %note
atomics.a:
  %c3 = call i1 @conflicts(ptr %atomic.a, i64 %mask, i64 %who, i1 %shared)
  br i1 %c3, label %found, label %atomics.b
atomics.b:
  %c4 = call i1 @conflicts(ptr %atomic.b, i64 %mask, i64 %who, i1 %shared)
  br i1 %c4, label %found, label %note
found:
  %slot = phi ptr [ %write, %writer ], [ %read.a, %reader.a ], [ %read.b, %reader.b ], [ %atomic.a, %atomics.a ], [ %atomic.b, %atomics.b ]
  %pwho = getelementptr %slot, ptr %slot, i32 0, i32 1
  %other = load i64, ptr %pwho
  ret i64 %other
note:
  br i1 %writes, label %note.write, label %note.read
note.write:
  br i1 %atomic, label %note.atomic, label %note.plain
note.atomic:
  call void @remember(ptr %atomic.a, ptr %atomic.b, i64 %mask, i64 %who, i64 %now)
  ret i64 -1
note.plain:
  call void @replace(ptr %write, i64 %mask, i64 %who, i64 %now)
  ret i64 -1
note.read:
  ; An atomic read is not noted: it would be taken for a plain one.
  br i1 %atomic, label %done, label %note.plain.read
note.plain.read:
  call void @remember(ptr %read.a, ptr %read.b, i64 %mask, i64 %who, i64 %now)
  ret i64 -1
done:
  ret i64 -1
}

; Whether what a slot holds happened at the same time as an access by %who, in another thread.
define internal i1 @conflicts(ptr %slot, i64 %mask, i64 %who, i1 %shared) {
entry:
  %stamp = load i64, ptr %slot
  %bytes = lshr i64 %stamp, 56
  %overlap = and i64 %bytes, %mask
  %touches = icmp ne i64 %overlap, 0
  br i1 %touches, label %when, label %none
when:
  %time = and i64 %stamp, 72057594037927935
  %start = load i64, ptr @launch_start
  %recent = icmp ugt i64 %time, %start
  br i1 %recent, label %whose, label %none
whose:
  %pwho = getelementptr %slot, ptr %slot, i32 0, i32 1
  %theirs = load i64, ptr %pwho
  %their.thread = lshr i64 %theirs, 20
  %my.thread = lshr i64 %who, 20
  %same = icmp eq i64 %their.thread, %my.thread
  br i1 %same, label %none, label %where
where:
  %their.block = lshr i64 %theirs, 32
  %my.block = lshr i64 %who, 32
  %one.block = icmp eq i64 %their.block, %my.block
  br i1 %one.block, label %near, label %far
near:
  %shift = load i64, ptr @wave_shift
  %their.wave = lshr i64 %their.thread, %shift
  %my.wave = lshr i64 %my.thread, %shift
  %one.wave = icmp eq i64 %their.wave, %my.wave
  %epoch = load i64, ptr @epoch
  %wave.epoch = load i64, ptr @wave_epoch
  %since = select i1 %one.wave, i64 %wave.epoch, i64 %epoch
  %unordered = icmp ugt i64 %time, %since
  ret i1 %unordered
far:
  %synced = load i64, ptr @synced
  %apart = icmp ugt i64 %time, %synced
  %not.shared = xor i1 %shared, true
  %race = and i1 %apart, %not.shared
  ret i1 %race
none:
  ret i1 false
}

; Note an access in a slot. Bytes that the same thread touched since the last barrier stay.
define internal void @replace(ptr %slot, i64 %mask, i64 %who, i64 %now) {
  %stamp = load i64, ptr %slot
  %pwho = getelementptr %slot, ptr %slot, i32 0, i32 1
  %theirs = load i64, ptr %pwho
  %their.thread = lshr i64 %theirs, 20
  %my.thread = lshr i64 %who, 20
  %same = icmp eq i64 %their.thread, %my.thread
  %time = and i64 %stamp, 72057594037927935
  %epoch = load i64, ptr @epoch
  %wave.epoch = load i64, ptr @wave_epoch
  %latest = call i64 @llvm.umax.i64(i64 %epoch, i64 %wave.epoch)
  %recent = icmp ugt i64 %time, %latest
  %keep = and i1 %same, %recent
  %bytes = lshr i64 %stamp, 56
  %kept = select i1 %keep, i64 %bytes, i64 0
  %all = or i64 %kept, %mask
  %high = shl i64 %all, 56
  %new = or i64 %high, %now
  store i64 %new, ptr %slot
  store i64 %who, ptr %pwho
  ret void
}

; Note an access in one of two slots, so that two different threads are remembered.
define internal void @remember(ptr %a, ptr %b, i64 %mask, i64 %who, i64 %now) {
entry:
  %pa = getelementptr %slot, ptr %a, i32 0, i32 1
  %last = load i64, ptr %pa
  %last.thread = lshr i64 %last, 20
  %my.thread = lshr i64 %who, 20
  %same = icmp eq i64 %last.thread, %my.thread
  br i1 %same, label %set, label %shift
shift:
  %b.stamp = load i64, ptr %b
  %b.time = and i64 %b.stamp, 72057594037927935
  %start = load i64, ptr @launch_start
  %b.recent = icmp ugt i64 %b.time, %start
  %pb = getelementptr %slot, ptr %b, i32 0, i32 1
  %b.who = load i64, ptr %pb
  %b.block = lshr i64 %b.who, 32
  %my.block = lshr i64 %who, 32
  %b.other = icmp ne i64 %b.block, %my.block
  %keep = and i1 %b.recent, %b.other
  br i1 %keep, label %set, label %move
move:
  %old = load %slot, ptr %a
  store %slot %old, ptr %b
  br label %set
set:
  call void @replace(ptr %a, i64 %mask, i64 %who, i64 %now)
  ret void
}

; An ordering atomic sees what happened before the last atomic of another block on the same place.
define internal void @synchronise(ptr %slot, i64 %who) {
entry:
  %stamp = load i64, ptr %slot
  %time = and i64 %stamp, 72057594037927935
  %start = load i64, ptr @launch_start
  %recent = icmp ugt i64 %time, %start
  %pwho = getelementptr %slot, ptr %slot, i32 0, i32 1
  %theirs = load i64, ptr %pwho
  %their.block = lshr i64 %theirs, 32
  %my.block = lshr i64 %who, 32
  %apart = icmp ne i64 %their.block, %my.block
  %orders = and i1 %recent, %apart
  br i1 %orders, label %raise, label %done
raise:
  %before = load i64, ptr @synced
  %now = call i64 @llvm.umax.i64(i64 %before, i64 %time)
  store i64 %now, ptr @synced
  br label %done
done:
  ret void
}
