; Waves of a workgroup, or of a cluster of them, that wait for each other: each is a fiber with a stack of its own.
;
; One thread runs all fibers of a cluster in turn, so nothing here needs to be atomic and a run is the same every
; time. A fiber that cannot go on yields. When every fiber has yielded and none went on in between, nothing ever
; will: the run ends with the status of the place that waits.
;
; A kernel is   i32 wave(ptr args, i64 bx, i64 by, i64 bz, ptr dims, ptr scratch, ptr run, i64 wave, i64 rank)

%fly.run = type { i64, i64, i64, i64, i32, i32, ptr, ptr, ptr, ptr, ptr, i64, i64, i64, i64, i64, i64, i64, i64, ptr, i64 }
;  0 idle  1 live  2 current  3 count  4 status  5 waiting site  6 main context  7 contexts  8 finished
;  9 kernel  10 args  11 bx  12 by  13 bz  14 waves of a block  15 cluster x  16 cluster y  17 scratch stride
;  18 dims (as integer)  19 scratch  20 polls since something went on

declare i32 @getcontext(ptr)
declare void @makecontext(ptr, ptr, i32, ...)
declare i32 @swapcontext(ptr, ptr)
declare ptr @aligned_alloc(i64, i64)
declare void @free(ptr)

define internal ptr @fly.context(ptr %run, i64 %fiber) {
  %pc = getelementptr %fly.run, ptr %run, i32 0, i32 7
  %contexts = load ptr, ptr %pc
  %at = mul i64 %fiber, 8192
  %c = getelementptr i8, ptr %contexts, i64 %at
  ret ptr %c
}

; Let others run; comes back when it is this fiber's turn again. %site is the status if nobody ever can.
define internal void @fly.yield(ptr %run, i32 %site) noinline {
  %pi = getelementptr %fly.run, ptr %run, i32 0, i32 0
  %idle = load i64, ptr %pi
  %more = add i64 %idle, 1
  store i64 %more, ptr %pi
  %ps = getelementptr %fly.run, ptr %run, i32 0, i32 5
  store i32 %site, ptr %ps
  %pf = getelementptr %fly.run, ptr %run, i32 0, i32 2
  %me = load i64, ptr %pf
  %mine = call ptr @fly.context(ptr %run, i64 %me)
  %pm = getelementptr %fly.run, ptr %run, i32 0, i32 6
  %main = load ptr, ptr %pm
  %r = call i32 @swapcontext(ptr %mine, ptr %main)
  ret void
}

define internal void @fly.progress(ptr %run) {
  store i64 0, ptr %run
  %pp = getelementptr %fly.run, ptr %run, i32 0, i32 20
  store i64 0, ptr %pp
  ret void
}

; Let others run once. A fiber that only asks is not stuck, unless it has asked a million times and nothing went on.
define internal void @fly.poll(ptr %run, i32 %site) {
  %pp = getelementptr %fly.run, ptr %run, i32 0, i32 20
  %polls = load i64, ptr %pp
  %more = add i64 %polls, 1
  store i64 %more, ptr %pp
  %patient = icmp ult i64 %more, 1000000
  br i1 %patient, label %alive, label %go
alive:
  store i64 0, ptr %run
  br label %go
go:
  call void @fly.yield(ptr %run, i32 %site)
  ret void
}

; The block of the cluster at %rank: its scratch memory, where shared memory comes first.
define internal ptr @fly.scratch_of(ptr %run, i64 %rank) {
  %ps = getelementptr %fly.run, ptr %run, i32 0, i32 19
  %scratch = load ptr, ptr %ps
  %pt = getelementptr %fly.run, ptr %run, i32 0, i32 17
  %stride = load i64, ptr %pt
  %at = mul i64 %stride, %rank
  %p = getelementptr i8, ptr %scratch, i64 %at
  ret ptr %p
}

define internal void @fly.fiber_main(i32 %low, i32 %high) noinline {
  %a = zext i32 %low to i64
  %b = zext i32 %high to i64
  %c = shl i64 %b, 32
  %d = or i64 %a, %c
  %run = inttoptr i64 %d to ptr
  %pf = getelementptr %fly.run, ptr %run, i32 0, i32 2
  %me = load i64, ptr %pf
  %pw = getelementptr %fly.run, ptr %run, i32 0, i32 14
  %waves = load i64, ptr %pw
  %rank = udiv i64 %me, %waves
  %wave = urem i64 %me, %waves
  %pk = getelementptr %fly.run, ptr %run, i32 0, i32 9
  %kernel = load ptr, ptr %pk
  %pa = getelementptr %fly.run, ptr %run, i32 0, i32 10
  %args = load ptr, ptr %pa
  %p11 = getelementptr %fly.run, ptr %run, i32 0, i32 11
  %bx = load i64, ptr %p11
  %p12 = getelementptr %fly.run, ptr %run, i32 0, i32 12
  %by = load i64, ptr %p12
  %p13 = getelementptr %fly.run, ptr %run, i32 0, i32 13
  %bz = load i64, ptr %p13
  %p15 = getelementptr %fly.run, ptr %run, i32 0, i32 15
  %cx = load i64, ptr %p15
  %p16 = getelementptr %fly.run, ptr %run, i32 0, i32 16
  %cy = load i64, ptr %p16
  %rx = urem i64 %rank, %cx
  %rest = udiv i64 %rank, %cx
  %ry = urem i64 %rest, %cy
  %rz = udiv i64 %rest, %cy
  %x = add i64 %bx, %rx
  %y = add i64 %by, %ry
  %z = add i64 %bz, %rz
  %p18 = getelementptr %fly.run, ptr %run, i32 0, i32 18
  %dims = load ptr, ptr %p18
  %scratch = call ptr @fly.scratch_of(ptr %run, i64 %rank)
  %status = call i32 %kernel(ptr %args, i64 %x, i64 %y, i64 %z, ptr %dims, ptr %scratch, ptr %run, i64 %wave, i64 %rank)
  %bad = icmp ne i32 %status, 0
  br i1 %bad, label %fail, label %end
fail:
  %p4 = getelementptr %fly.run, ptr %run, i32 0, i32 4
  store i32 %status, ptr %p4
  br label %end
end:
  %p8 = getelementptr %fly.run, ptr %run, i32 0, i32 8
  %finished = load ptr, ptr %p8
  %flag = getelementptr i8, ptr %finished, i64 %me
  store i8 1, ptr %flag
  %pl = getelementptr %fly.run, ptr %run, i32 0, i32 1
  %live = load i64, ptr %pl
  %fewer = sub i64 %live, 1
  store i64 %fewer, ptr %pl
  call void @fly.progress(ptr %run)
  %mine = call ptr @fly.context(ptr %run, i64 %me)
  %pm = getelementptr %fly.run, ptr %run, i32 0, i32 6
  %main = load ptr, ptr %pm
  %r = call i32 @swapcontext(ptr %mine, ptr %main)
  unreachable
}

; Run the waves of a cluster whose first block is (bx, by, bz). Scratch memory of its blocks lies %stride apart.
define internal i32 @fly.run_waves(ptr %kernel, ptr %args, i64 %bx, i64 %by, i64 %bz, ptr %dims, ptr %scratch, i64 %stride, i64 %waves, i64 %cx, i64 %cy, i64 %cz) noinline {
entry:
  %run = alloca %fly.run, align 16
  %main = alloca [8192 x i8], align 16
  store %fly.run zeroinitializer, ptr %run
  %plane = mul i64 %cx, %cy
  %blocks = mul i64 %plane, %cz
  %count = mul i64 %blocks, %waves
  %p1 = getelementptr %fly.run, ptr %run, i32 0, i32 1
  store i64 %count, ptr %p1
  %p3 = getelementptr %fly.run, ptr %run, i32 0, i32 3
  store i64 %count, ptr %p3
  %p6 = getelementptr %fly.run, ptr %run, i32 0, i32 6
  store ptr %main, ptr %p6
  %p9 = getelementptr %fly.run, ptr %run, i32 0, i32 9
  store ptr %kernel, ptr %p9
  %p10 = getelementptr %fly.run, ptr %run, i32 0, i32 10
  store ptr %args, ptr %p10
  %p11 = getelementptr %fly.run, ptr %run, i32 0, i32 11
  store i64 %bx, ptr %p11
  %p12 = getelementptr %fly.run, ptr %run, i32 0, i32 12
  store i64 %by, ptr %p12
  %p13 = getelementptr %fly.run, ptr %run, i32 0, i32 13
  store i64 %bz, ptr %p13
  %p14 = getelementptr %fly.run, ptr %run, i32 0, i32 14
  store i64 %waves, ptr %p14
  %p15 = getelementptr %fly.run, ptr %run, i32 0, i32 15
  store i64 %cx, ptr %p15
  %p16 = getelementptr %fly.run, ptr %run, i32 0, i32 16
  store i64 %cy, ptr %p16
  %p17 = getelementptr %fly.run, ptr %run, i32 0, i32 17
  store i64 %stride, ptr %p17
  %p18 = getelementptr %fly.run, ptr %run, i32 0, i32 18
  store ptr %dims, ptr %p18
  %p19 = getelementptr %fly.run, ptr %run, i32 0, i32 19
  store ptr %scratch, ptr %p19
  %per = mul i64 %count, 8192
  %rest = and i64 %count, -128
  %flags = add i64 %rest, 128
  %head = add i64 %per, %flags
  %stacks = mul i64 %count, 1048576
  %all = add i64 %head, %stacks
  %memory = call ptr @aligned_alloc(i64 128, i64 %all)
  %none = icmp eq ptr %memory, null
  br i1 %none, label %exhausted, label %build
exhausted:
  ret i32 -2
build:
  %p7 = getelementptr %fly.run, ptr %run, i32 0, i32 7
  store ptr %memory, ptr %p7
  %finished = getelementptr i8, ptr %memory, i64 %per
  %p8 = getelementptr %fly.run, ptr %run, i32 0, i32 8
  store ptr %finished, ptr %p8
  %stack0 = getelementptr i8, ptr %memory, i64 %head
  %whole = ptrtoint ptr %run to i64
  %low = trunc i64 %whole to i32
  %up = lshr i64 %whole, 32
  %high = trunc i64 %up to i32
  br label %make
make:
  %i = phi i64 [ 0, %build ], [ %i1, %make ]
  %flag = getelementptr i8, ptr %finished, i64 %i
  store i8 0, ptr %flag
  %context = call ptr @fly.context(ptr %run, i64 %i)
  %g = call i32 @getcontext(ptr %context)
  %at = mul i64 %i, 1048576
  %stack = getelementptr i8, ptr %stack0, i64 %at
  %link = getelementptr i8, ptr %context, i64 8
  store ptr null, ptr %link
  %sp = getelementptr i8, ptr %context, i64 16
  store ptr %stack, ptr %sp
  %size = getelementptr i8, ptr %context, i64 32
  store i64 1048576, ptr %size
  call void (ptr, ptr, i32, ...) @makecontext(ptr %context, ptr @fly.fiber_main, i32 2, i32 %low, i32 %high)
  %i1 = add i64 %i, 1
  %again = icmp ult i64 %i1, %count
  br i1 %again, label %make, label %round
round:
  br label %turn
turn:
  %f = phi i64 [ 0, %round ], [ %f1, %step ]
  %ff = getelementptr i8, ptr %finished, i64 %f
  %over = load i8, ptr %ff
  %is.over = icmp ne i8 %over, 0
  br i1 %is.over, label %step, label %enter
enter:
  %p2 = getelementptr %fly.run, ptr %run, i32 0, i32 2
  store i64 %f, ptr %p2
  %theirs = call ptr @fly.context(ptr %run, i64 %f)
  %s = call i32 @swapcontext(ptr %main, ptr %theirs)
  %p4 = getelementptr %fly.run, ptr %run, i32 0, i32 4
  %status = load volatile i32, ptr %p4
  %bad = icmp ne i32 %status, 0
  br i1 %bad, label %leave, label %step
step:
  %f1 = add i64 %f, 1
  %more = icmp ult i64 %f1, %count
  br i1 %more, label %turn, label %check
check:
  %live = load volatile i64, ptr %p1
  %done = icmp eq i64 %live, 0
  br i1 %done, label %leave, label %stuck
stuck:
  %idle = load volatile i64, ptr %run
  %limit = mul i64 %count, 2
  %dead = icmp ugt i64 %idle, %limit
  br i1 %dead, label %deadlock, label %round
deadlock:
  %p5 = getelementptr %fly.run, ptr %run, i32 0, i32 5
  %site = load volatile i32, ptr %p5
  call void @free(ptr %memory)
  ret i32 %site
leave:
  %p4b = getelementptr %fly.run, ptr %run, i32 0, i32 4
  %code = load volatile i32, ptr %p4b
  call void @free(ptr %memory)
  ret i32 %code
}

; Counters of named barriers, clusters and warpgroups: { i32 arrived, i32 generation } each, in scratch memory.
; Arrive with %threads of %expected; the generation to wait for the end of.
define internal i32 @fly.count_in(ptr %counter, i32 %threads, i32 %expected) {
  %pg = getelementptr i32, ptr %counter, i64 1
  %generation = load i32, ptr %pg
  %before = load i32, ptr %counter
  %now = add i32 %before, %threads
  %full = icmp uge i32 %now, %expected
  br i1 %full, label %open, label %wait
open:
  store i32 0, ptr %counter
  %next = add i32 %generation, 1
  store i32 %next, ptr %pg
  ret i32 %generation
wait:
  store i32 %now, ptr %counter
  ret i32 %generation
}

; Yield until the generation is over.
define internal void @fly.wait_counter(ptr %run, ptr %counter, i32 %generation, i32 %site) {
entry:
  br label %test
test:
  %pg = getelementptr i32, ptr %counter, i64 1
  %now = load volatile i32, ptr %pg
  %over = icmp ne i32 %now, %generation
  br i1 %over, label %on, label %sleep
sleep:
  call void @fly.yield(ptr %run, i32 %site)
  br label %test
on:
  call void @fly.progress(ptr %run)
  ret void
}

; mbarriers: bits 0-19 pending arrivals, 20-39 arrivals of a phase, 40-62 pending bytes (signed), 63 the phase.
define internal void @fly.mbarrier_init(ptr %b, i32 %count) {
  %c = zext i32 %count to i64
  %d = shl i64 %c, 20
  %e = or i64 %c, %d
  store i64 %e, ptr %b, align 8
  ret void
}

define internal void @fly.mbarrier_update(ptr %b, i32 %arrivals, i32 %bytes) {
  %w = load i64, ptr %b, align 8
  %pending = and i64 %w, 1048575
  %a = zext i32 %arrivals to i64
  %left = sub i64 %pending, %a
  %s1 = shl i64 %w, 1
  %tx = ashr i64 %s1, 41
  %more = sext i32 %bytes to i64
  %tx1 = add i64 %tx, %more
  %high = shl i64 %tx1, 40
  %txbits = and i64 %high, 9223370937343148032
  %keep = and i64 %w, -9223370937344196608
  %l = and i64 %left, 1048575
  %n1 = or i64 %keep, %l
  %n2 = or i64 %n1, %txbits
  %za = icmp eq i64 %l, 0
  %zb = icmp eq i64 %tx1, 0
  %complete = and i1 %za, %zb
  br i1 %complete, label %flip, label %stay
stay:
  store i64 %n2, ptr %b, align 8
  ret void
flip:
  %c0 = lshr i64 %w, 20
  %c = and i64 %c0, 1048575
  %cs = shl i64 %c, 20
  %phase = and i64 %w, -9223372036854775808
  %other = xor i64 %phase, -9223372036854775808
  %f1 = or i64 %c, %cs
  %f2 = or i64 %f1, %other
  store i64 %f2, ptr %b, align 8
  ret void
}

define internal i1 @fly.mbarrier_test(ptr %b, i32 %parity) {
  %w = load volatile i64, ptr %b, align 8
  %phase = lshr i64 %w, 63
  %p = trunc i64 %phase to i32
  %o = and i32 %parity, 1
  %r = icmp ne i32 %p, %o
  ret i1 %r
}

; TMA. A map is sixteen words: address, element bytes (and its type from bit 8), rank, swizzle, extents, strides, box.
; %kind: 0 global to shared, 1 shared to global, 2 add into global, 3 minimum, 4 maximum.
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define internal i64 @fly.box_extent(ptr %map, i64 %mode) {
  %rp = getelementptr i64, ptr %map, i64 2
  %rank = load i64, ptr %rp
  %bp = getelementptr i64, ptr %map, i64 13
  %p = getelementptr i16, ptr %bp, i64 %mode
  %there = icmp ult i64 %mode, %rank
  br i1 %there, label %yes, label %no
yes:
  %b = load i16, ptr %p
  %w = zext i16 %b to i64
  ret i64 %w
no:
  ret i64 1
}

define internal i32 @fly.element_bytes(ptr %map) {
  %ep = getelementptr i64, ptr %map, i64 1
  %e = load i64, ptr %ep
  %w = trunc i64 %e to i32
  %size = and i32 %w, 255
  ret i32 %size
}

; Bytes of a box.
define internal i32 @fly.box_bytes(ptr %map) {
  %ep = getelementptr i64, ptr %map, i64 1
  %e0 = load i64, ptr %ep
  %size = and i64 %e0, 255
  %b0 = call i64 @fly.box_extent(ptr %map, i64 0)
  %b1 = call i64 @fly.box_extent(ptr %map, i64 1)
  %b2 = call i64 @fly.box_extent(ptr %map, i64 2)
  %b3 = call i64 @fly.box_extent(ptr %map, i64 3)
  %b4 = call i64 @fly.box_extent(ptr %map, i64 4)
  %m0 = mul i64 %size, %b0
  %m1 = mul i64 %m0, %b1
  %m2 = mul i64 %m1, %b2
  %m3 = mul i64 %m2, %b3
  %m4 = mul i64 %m3, %b4
  %r = trunc i64 %m4 to i32
  ret i32 %r
}

define internal void @fly.combine(ptr %to, ptr %from, i64 %type, i32 %kind) {
entry:
  switch i64 %type, label %none [
    i64 2, label %int  i64 3, label %int  i64 4, label %long  i64 5, label %long
    i64 6, label %half  i64 7, label %float  i64 8, label %double  i64 9, label %brain
  ]
double:
  %da = load double, ptr %to, align 8
  %db = load double, ptr %from, align 8
  %dr = fadd double %da, %db
  store double %dr, ptr %to, align 8
  ret void
long:
  %la = load i64, ptr %to, align 8
  %lb = load i64, ptr %from, align 8
  %ls = add i64 %la, %lb
  %lsigned = icmp eq i64 %type, 5
  %lslt = icmp slt i64 %la, %lb
  %lult = icmp ult i64 %la, %lb
  %lless = select i1 %lsigned, i1 %lslt, i1 %lult
  %lmin = select i1 %lless, i64 %la, i64 %lb
  %lmax = select i1 %lless, i64 %lb, i64 %la
  %lis2 = icmp eq i32 %kind, 2
  %lis3 = icmp eq i32 %kind, 3
  %lr1 = select i1 %lis3, i64 %lmin, i64 %lmax
  %lr2 = select i1 %lis2, i64 %ls, i64 %lr1
  store i64 %lr2, ptr %to, align 8
  ret void
float:
  %fa = load float, ptr %to, align 4
  %fb = load float, ptr %from, align 4
  %fr = call float @fly.combine_f32(float %fa, float %fb, i32 %kind)
  store float %fr, ptr %to, align 4
  ret void
int:
  %ia = load i32, ptr %to, align 4
  %ib = load i32, ptr %from, align 4
  %sum = add i32 %ia, %ib
  %signed = icmp eq i64 %type, 3
  %slt = icmp slt i32 %ia, %ib
  %ult = icmp ult i32 %ia, %ib
  %less = select i1 %signed, i1 %slt, i1 %ult
  %min = select i1 %less, i32 %ia, i32 %ib
  %max = select i1 %less, i32 %ib, i32 %ia
  %is2 = icmp eq i32 %kind, 2
  %is3 = icmp eq i32 %kind, 3
  %r1 = select i1 %is3, i32 %min, i32 %max
  %r2 = select i1 %is2, i32 %sum, i32 %r1
  store i32 %r2, ptr %to, align 4
  ret void
half:
  %ha = load half, ptr %to, align 2
  %hb = load half, ptr %from, align 2
  %hfa = fpext half %ha to float
  %hfb = fpext half %hb to float
  %hr = call float @fly.combine_f32(float %hfa, float %hfb, i32 %kind)
  %hh = fptrunc float %hr to half
  store half %hh, ptr %to, align 2
  ret void
brain:
  %ba = load i16, ptr %to, align 2
  %bb = load i16, ptr %from, align 2
  %bza = zext i16 %ba to i32
  %bzb = zext i16 %bb to i32
  %bsa = shl i32 %bza, 16
  %bsb = shl i32 %bzb, 16
  %bfa = bitcast i32 %bsa to float
  %bfb = bitcast i32 %bsb to float
  %br = call float @fly.combine_f32(float %bfa, float %bfb, i32 %kind)
  %raw = bitcast float %br to i32
  %o1 = lshr i32 %raw, 16
  %odd = and i32 %o1, 1
  %bias = add i32 %odd, 32767
  %rounded = add i32 %raw, %bias
  %cut = lshr i32 %rounded, 16
  %out = trunc i32 %cut to i16
  store i16 %out, ptr %to, align 2
  ret void
none:
  ret void
}

define internal float @fly.combine_f32(float %a, float %b, i32 %kind) {
  %sum = fadd float %a, %b
  %less = fcmp olt float %a, %b
  %min = select i1 %less, float %a, float %b
  %max = select i1 %less, float %b, float %a
  %is2 = icmp eq i32 %kind, 2
  %is3 = icmp eq i32 %kind, 3
  %r1 = select i1 %is3, float %min, float %max
  %r2 = select i1 %is2, float %sum, float %r1
  ret float %r2
}

; The same on memory that other clusters combine into as well, which other threads run: one element at a time.
define internal void @fly.combine_shared(ptr %to, ptr %from, i64 %type, i32 %kind, i64 %size) noinline {
entry:
  %own = alloca i64, align 8
  switch i64 %size, label %end [ i64 2, label %w16  i64 4, label %w32  i64 8, label %w64 ]
w16:
  %first16 = load atomic i16, ptr %to monotonic, align 2
  br label %try16
try16:
  %old16 = phi i16 [ %first16, %w16 ], [ %found16, %try16 ]
  store i16 %old16, ptr %own
  call void @fly.combine(ptr %own, ptr %from, i64 %type, i32 %kind)
  %new16 = load i16, ptr %own
  %pair16 = cmpxchg ptr %to, i16 %old16, i16 %new16 monotonic monotonic, align 2
  %found16 = extractvalue { i16, i1 } %pair16, 0
  %done16 = extractvalue { i16, i1 } %pair16, 1
  br i1 %done16, label %end, label %try16
w32:
  %first32 = load atomic i32, ptr %to monotonic, align 4
  br label %try32
try32:
  %old32 = phi i32 [ %first32, %w32 ], [ %found32, %try32 ]
  store i32 %old32, ptr %own
  call void @fly.combine(ptr %own, ptr %from, i64 %type, i32 %kind)
  %new32 = load i32, ptr %own
  %pair32 = cmpxchg ptr %to, i32 %old32, i32 %new32 monotonic monotonic, align 4
  %found32 = extractvalue { i32, i1 } %pair32, 0
  %done32 = extractvalue { i32, i1 } %pair32, 1
  br i1 %done32, label %end, label %try32
w64:
  %first64 = load atomic i64, ptr %to monotonic, align 8
  br label %try64
try64:
  %old64 = phi i64 [ %first64, %w64 ], [ %found64, %try64 ]
  store i64 %old64, ptr %own
  call void @fly.combine(ptr %own, ptr %from, i64 %type, i32 %kind)
  %new64 = load i64, ptr %own
  %pair64 = cmpxchg ptr %to, i64 %old64, i64 %new64 monotonic monotonic, align 8
  %found64 = extractvalue { i64, i1 } %pair64, 0
  %done64 = extractvalue { i64, i1 } %pair64, 1
  br i1 %done64, label %end, label %try64
end:
  ret void
}

define internal void @fly.tma(ptr %map, ptr %smem, i32 %offset, i32 %kind, i32 %c0, i32 %c1, i32 %c2, i32 %c3, i32 %c4) noinline {
entry:
  %base0 = load i64, ptr %map
  %base = inttoptr i64 %base0 to ptr
  %ep = getelementptr i64, ptr %map, i64 1
  %e0 = load i64, ptr %ep
  %size = and i64 %e0, 255
  %type = lshr i64 %e0, 8
  %sp = getelementptr i64, ptr %map, i64 3
  %swizzle = load i64, ptr %sp
  %one = shl i64 1, %swizzle
  %mask = sub i64 %one, 1
  %b0 = call i64 @fly.box_extent(ptr %map, i64 0)
  %b1 = call i64 @fly.box_extent(ptr %map, i64 1)
  %b2 = call i64 @fly.box_extent(ptr %map, i64 2)
  %b3 = call i64 @fly.box_extent(ptr %map, i64 3)
  %b4 = call i64 @fly.box_extent(ptr %map, i64 4)
  %r12 = mul i64 %b1, %b2
  %r123 = mul i64 %r12, %b3
  %rows = mul i64 %r123, %b4
  %coords = alloca [5 x i64]
  %start = alloca [5 x i64]
  %boxes = alloca [5 x i64]
  %s0 = sext i32 %c0 to i64
  %s1 = sext i32 %c1 to i64
  %s2 = sext i32 %c2 to i64
  %s3 = sext i32 %c3 to i64
  %s4 = sext i32 %c4 to i64
  %st1 = getelementptr i64, ptr %start, i64 1
  store i64 %s1, ptr %st1
  %st2 = getelementptr i64, ptr %start, i64 2
  store i64 %s2, ptr %st2
  %st3 = getelementptr i64, ptr %start, i64 3
  store i64 %s3, ptr %st3
  %st4 = getelementptr i64, ptr %start, i64 4
  store i64 %s4, ptr %st4
  %bx1 = getelementptr i64, ptr %boxes, i64 1
  store i64 %b1, ptr %bx1
  %bx2 = getelementptr i64, ptr %boxes, i64 2
  store i64 %b2, ptr %bx2
  %bx3 = getelementptr i64, ptr %boxes, i64 3
  store i64 %b3, ptr %bx3
  %bx4 = getelementptr i64, ptr %boxes, i64 4
  store i64 %b4, ptr %bx4
  %rp = getelementptr i64, ptr %map, i64 2
  %rank = load i64, ptr %rp
  %xp = getelementptr i64, ptr %map, i64 4
  %x0 = load i64, ptr %xp
  %off = zext i32 %offset to i64
  %rowbytes = mul i64 %b0, %size
  br label %row
row:
  %r = phi i64 [ 0, %entry ], [ %rnext, %row.end ]
  br label %mode
mode:
  %m = phi i64 [ 1, %row ], [ %mnext, %mode.next ]
  %left = phi i64 [ %r, %row ], [ %left1, %mode.next ]
  %ok = phi i1 [ true, %row ], [ %ok1, %mode.next ]
  %src = phi ptr [ %base, %row ], [ %src1, %mode.next ]
  %go = icmp ult i64 %m, %rank
  br i1 %go, label %mode.next, label %cells
mode.next:
  %bp = getelementptr i64, ptr %boxes, i64 %m
  %b = load i64, ptr %bp
  %i = urem i64 %left, %b
  %left1 = udiv i64 %left, %b
  %cp = getelementptr i64, ptr %start, i64 %m
  %cs = load i64, ptr %cp
  %c = add i64 %cs, %i
  %ex = getelementptr i64, ptr %xp, i64 %m
  %extent = load i64, ptr %ex
  %in = icmp ult i64 %c, %extent
  %ok1 = and i1 %ok, %in
  %mm = add i64 %m, 8
  %tp = getelementptr i64, ptr %map, i64 %mm
  %stride = load i64, ptr %tp
  %move = mul i64 %c, %stride
  %src1 = getelementptr i8, ptr %src, i64 %move
  %mnext = add i64 %m, 1
  br label %mode
cells:
  %rowat = mul i64 %r, %rowbytes
  %first = add i64 %off, %rowat
  br label %cell
cell:
  %k = phi i64 [ 0, %cells ], [ %knext, %cell.end ]
  %kb = mul i64 %k, %size
  %plain = add i64 %first, %kb
  %hi = lshr i64 %plain, 7
  %hm = and i64 %hi, %mask
  %flip = shl i64 %hm, 4
  %where = xor i64 %plain, %flip
  %place = getelementptr i8, ptr %smem, i64 %where
  %col = add i64 %s0, %k
  %cin = icmp ult i64 %col, %x0
  %valid = and i1 %ok, %cin
  %gb = mul i64 %col, %size
  %g = getelementptr i8, ptr %src, i64 %gb
  br i1 %valid, label %inside, label %outside
inside:
  switch i32 %kind, label %reduce [ i32 0, label %fetch  i32 1, label %write ]
fetch:
  call void @llvm.memcpy.p0.p0.i64(ptr %place, ptr %g, i64 %size, i1 false)
  br label %cell.end
write:
  call void @llvm.memcpy.p0.p0.i64(ptr %g, ptr %place, i64 %size, i1 false)
  br label %cell.end
reduce:
  call void @fly.combine_shared(ptr %g, ptr %place, i64 %type, i32 %kind, i64 %size)
  br label %cell.end
outside:
  %isload = icmp eq i32 %kind, 0
  br i1 %isload, label %zero, label %cell.end
zero:
  call void @llvm.memset.p0.i64(ptr %place, i8 0, i64 %size, i1 false)
  br label %cell.end
cell.end:
  %knext = add i64 %k, 1
  %kmore = icmp ult i64 %knext, %b0
  br i1 %kmore, label %cell, label %row.end
row.end:
  %rnext = add i64 %r, 1
  %rmore = icmp ult i64 %rnext, %rows
  br i1 %rmore, label %row, label %done
done:
  ret void
}
