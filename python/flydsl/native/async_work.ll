; Made from src/async_work.c by `python -m flydsl.native.generate`.

%struct.Queue = type { i32, i32, i64 }
%struct.Item = type { i32, i64, i64, ptr, ptr, ptr, ptr, ptr, ptr, i32, i32, i32, i32, [5 x i32] }
%struct.anon = type { i64, [16 x i64], i8 }
%struct.Buffer = type { i64, i64, i64, i64, ptr }

@fly.async_work.SEED = internal constant [18 x i8] c"FLYDSL_ASYNC_SEED\00", align 16

define internal ptr @fly.async_begin(i64 %queues, i64 %groups, i64 %number, ptr %settle) noinline {
entry:
  %mul = shl i64 %queues, 4
  %add = add i64 %mul, 104
  %mul1 = shl i64 %groups, 3
  %add2 = add i64 %add, %mul1
  %call = call ptr @calloc(i64 1, i64 %add2)
  %tobool.not = icmp eq ptr %call, null
  br i1 %tobool.not, label %cleanup, label %if.end

if.end:                                           ; preds = %entry
  store i64 %queues, ptr %call, align 8
  %groups4 = getelementptr inbounds nuw i8, ptr %call, i64 8
  store i64 %groups, ptr %groups4, align 8
  %add.ptr = getelementptr inbounds nuw i8, ptr %call, i64 104
  %queue = getelementptr inbounds nuw i8, ptr %call, i64 32
  store ptr %add.ptr, ptr %queue, align 8
  %add.ptr6 = getelementptr inbounds nuw %struct.Queue, ptr %add.ptr, i64 %queues
  %group = getelementptr inbounds nuw i8, ptr %call, i64 88
  store ptr %add.ptr6, ptr %group, align 8
  %settle7 = getelementptr inbounds nuw i8, ptr %call, i64 96
  store ptr %settle, ptr %settle7, align 8
  %mul8 = mul i64 %number, 61
  %first_buffer = getelementptr inbounds nuw i8, ptr %call, i64 24
  store i64 %mul8, ptr %first_buffer, align 8
  %call9 = call ptr @getenv(ptr nonnull @fly.async_work.SEED)
  br label %for.cond

for.cond:                                         ; preds = %for.body, %if.end
  %digit.0 = phi ptr [ %call9, %if.end ], [ %incdec.ptr, %for.body ]
  %seed.0 = phi i64 [ 0, %if.end ], [ %add18, %for.body ]
  %tobool10.not = icmp eq ptr %digit.0, null
  br i1 %tobool10.not, label %for.end, label %land.lhs.true

land.lhs.true:                                    ; preds = %for.cond
  %0 = load i8, ptr %digit.0, align 1
  %1 = add i8 %0, -48
  %spec.select = icmp ult i8 %1, 10
  br i1 %spec.select, label %for.body, label %for.end

for.body:                                         ; preds = %land.lhs.true
  %mul15 = mul i64 %seed.0, 10
  %2 = load i8, ptr %digit.0, align 1
  %conv16 = zext i8 %2 to i64
  %sub = add nsw i64 %conv16, -48
  %add18 = add i64 %mul15, %sub
  %incdec.ptr = getelementptr inbounds nuw i8, ptr %digit.0, i64 1
  br label %for.cond

for.end:                                          ; preds = %for.cond, %land.lhs.true
  %tobool19.not = icmp eq i64 %seed.0, 0
  br i1 %tobool19.not, label %cleanup, label %if.then20

if.then20:                                        ; preds = %for.end
  %mul21 = mul i64 %seed.0, -7046029254386353131
  %3 = mul i64 %number, -3335678366873096957
  %mul23 = add i64 %3, -3335678366873096957
  %xor = xor i64 %mul21, %mul23
  %or = or i64 %xor, 1
  %seed24 = getelementptr inbounds nuw i8, ptr %call, i64 16
  store i64 %or, ptr %seed24, align 8
  br label %cleanup

cleanup:                                          ; preds = %for.end, %if.then20, %entry
  %retval.0 = phi ptr [ null, %entry ], [ %call, %if.then20 ], [ %call, %for.end ]
  ret ptr %retval.0
}

declare ptr @calloc(i64, i64)

declare ptr @getenv(ptr)

define internal void @fly.copy_issue(ptr %async, i64 %queue, ptr %target, ptr %source, i32 %bytes, i32 %filled, i1 %stores, i64 %ticket) noinline {
entry:
  %queue1 = getelementptr inbounds nuw i8, ptr %async, i64 32
  %0 = load ptr, ptr %queue1, align 8
  %add.ptr = getelementptr inbounds nuw %struct.Queue, ptr %0, i64 %queue
  %call = call ptr @fly.async_work.append(ptr %async, ptr %add.ptr, ptr nonnull @fly.async_work.land_bytes, i64 %ticket)
  %target2 = getelementptr inbounds nuw i8, ptr %call, i64 48
  store ptr %target, ptr %target2, align 8
  %source3 = getelementptr inbounds nuw i8, ptr %call, i64 40
  store ptr %source, ptr %source3, align 8
  %bytes4 = getelementptr inbounds nuw i8, ptr %call, i64 72
  store i32 %bytes, ptr %bytes4, align 8
  %filled5 = getelementptr inbounds nuw i8, ptr %call, i64 76
  store i32 %filled, ptr %filled5, align 4
  %cond = zext i1 %stores to i32
  %kind = getelementptr inbounds nuw i8, ptr %call, i64 84
  store i32 %cond, ptr %kind, align 4
  %seed = getelementptr inbounds nuw i8, ptr %async, i64 16
  %1 = load i64, ptr %seed, align 8
  %tobool.not = icmp eq i64 %1, 0
  br i1 %tobool.not, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  %2 = load ptr, ptr %queue1, align 8
  %add.ptr7 = getelementptr inbounds nuw %struct.Queue, ptr %2, i64 %queue
  call void @fly.async_work.stir_queue(ptr %async, ptr %add.ptr7)
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  ret void
}

define internal ptr @fly.async_work.append(ptr %async, ptr %queue, ptr %land, i64 %ticket) {
entry:
  %.compoundliteral.sroa.5 = alloca { ptr, ptr, ptr, ptr, ptr, i32, i32, i32, i32, [5 x i32] }, align 8
  %free_item = getelementptr inbounds nuw i8, ptr %async, i64 56
  %0 = load i32, ptr %free_item, align 8
  %tobool.not = icmp eq i32 %0, 0
  br i1 %tobool.not, label %if.else, label %if.then

if.then:                                          ; preds = %entry
  %call = call ptr @fly.async_work.item_at(ptr %async, i32 %0)
  %1 = load i32, ptr %call, align 8
  store i32 %1, ptr %free_item, align 8
  br label %if.end15

if.else:                                          ; preds = %entry
  %item_count = getelementptr inbounds nuw i8, ptr %async, i64 48
  %2 = load i32, ptr %item_count, align 8
  %add = add i32 %2, 1
  %item_room = getelementptr inbounds nuw i8, ptr %async, i64 52
  %3 = load i32, ptr %item_room, align 4
  %cmp.not = icmp ult i32 %add, %3
  br i1 %cmp.not, label %if.end13, label %if.then2

if.then2:                                         ; preds = %if.else
  %tobool4.not = icmp eq i32 %3, 0
  %mul = shl i32 %3, 1
  %cond = select i1 %tobool4.not, i32 64, i32 %mul
  %items6 = getelementptr inbounds nuw i8, ptr %async, i64 40
  %4 = load ptr, ptr %items6, align 8
  %conv = zext i32 %cond to i64
  %mul7 = mul nuw nsw i64 %conv, 112
  %call8 = call ptr @realloc(ptr %4, i64 %mul7)
  %tobool9.not = icmp eq ptr %call8, null
  br i1 %tobool9.not, label %if.then10, label %if.end

if.then10:                                        ; preds = %if.then2
  call void @llvm.trap()
  unreachable

if.end:                                           ; preds = %if.then2
  store ptr %call8, ptr %items6, align 8
  store i32 %cond, ptr %item_room, align 4
  br label %if.end13

if.end13:                                         ; preds = %if.end, %if.else
  %5 = load i32, ptr %item_count, align 8
  %inc = add i32 %5, 1
  store i32 %inc, ptr %item_count, align 8
  br label %if.end15

if.end15:                                         ; preds = %if.end13, %if.then
  %number.0 = phi i32 [ %0, %if.then ], [ %inc, %if.end13 ]
  %call16 = call ptr @fly.async_work.item_at(ptr %async, i32 %number.0)
  call void @llvm.memset.p0.i64(ptr nonnull align 8 dereferenceable(80) %.compoundliteral.sroa.5, i8 0, i64 80, i1 false)
  %position18 = getelementptr inbounds nuw i8, ptr %queue, i64 8
  %6 = load i64, ptr %position18, align 8
  store i64 0, ptr %call16, align 8
  %.compoundliteral.sroa.2.0..sroa_idx = getelementptr inbounds nuw i8, ptr %call16, i64 8
  store i64 %6, ptr %.compoundliteral.sroa.2.0..sroa_idx, align 8
  %.compoundliteral.sroa.3.0..sroa_idx = getelementptr inbounds nuw i8, ptr %call16, i64 16
  store i64 %ticket, ptr %.compoundliteral.sroa.3.0..sroa_idx, align 8
  %.compoundliteral.sroa.4.0..sroa_idx = getelementptr inbounds nuw i8, ptr %call16, i64 24
  store ptr %land, ptr %.compoundliteral.sroa.4.0..sroa_idx, align 8
  %.compoundliteral.sroa.5.0..sroa_idx = getelementptr inbounds nuw i8, ptr %call16, i64 32
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(80) %.compoundliteral.sroa.5.0..sroa_idx, ptr nonnull align 8 dereferenceable(80) %.compoundliteral.sroa.5, i64 80, i1 false)
  %7 = load i32, ptr %queue, align 8
  %tobool21.not = icmp eq i32 %7, 0
  br i1 %tobool21.not, label %if.else25, label %if.then22

if.then22:                                        ; preds = %if.end15
  %last = getelementptr inbounds nuw i8, ptr %queue, i64 4
  %8 = load i32, ptr %last, align 4
  %call23 = call ptr @fly.async_work.item_at(ptr %async, i32 %8)
  store i32 %number.0, ptr %call23, align 8
  br label %if.end27

if.else25:                                        ; preds = %if.end15
  store i32 %number.0, ptr %queue, align 8
  br label %if.end27

if.end27:                                         ; preds = %if.else25, %if.then22
  %last28 = getelementptr inbounds nuw i8, ptr %queue, i64 4
  store i32 %number.0, ptr %last28, align 4
  ret ptr %call16
}

define internal void @fly.async_work.land_bytes(ptr %item) {
entry:
  %snapshot = getelementptr inbounds nuw i8, ptr %item, i64 56
  %0 = load ptr, ptr %snapshot, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %cond.false, label %cond.end

cond.false:                                       ; preds = %entry
  %source2 = getelementptr inbounds nuw i8, ptr %item, i64 40
  %1 = load ptr, ptr %source2, align 8
  br label %cond.end

cond.end:                                         ; preds = %entry, %cond.false
  %cond = phi ptr [ %1, %cond.false ], [ %0, %entry ]
  %target = getelementptr inbounds nuw i8, ptr %item, i64 48
  %2 = load ptr, ptr %target, align 8
  %filled = getelementptr inbounds nuw i8, ptr %item, i64 76
  %3 = load i32, ptr %filled, align 4
  %conv = zext i32 %3 to i64
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %2, ptr align 1 %cond, i64 %conv, i1 false)
  %4 = load ptr, ptr %target, align 8
  %5 = load i32, ptr %filled, align 4
  %idx.ext = zext i32 %5 to i64
  %add.ptr = getelementptr inbounds nuw i8, ptr %4, i64 %idx.ext
  %bytes = getelementptr inbounds nuw i8, ptr %item, i64 72
  %6 = load i32, ptr %bytes, align 8
  %sub = sub i32 %6, %5
  %conv6 = zext i32 %sub to i64
  call void @llvm.memset.p0.i64(ptr align 1 %add.ptr, i8 0, i64 %conv6, i1 false)
  ret void
}

define internal void @fly.async_work.stir_queue(ptr %async, ptr %queue) {
entry:
  br label %while.cond

while.cond:                                       ; preds = %while.body, %entry
  %0 = load i32, ptr %queue, align 8
  %tobool.not = icmp eq i32 %0, 0
  br i1 %tobool.not, label %while.end, label %land.rhs

land.rhs:                                         ; preds = %while.cond
  %call = call i1 @fly.async_work.lands_now(ptr %async)
  br i1 %call, label %while.body, label %while.end

while.body:                                       ; preds = %land.rhs
  %1 = load i32, ptr %queue, align 8
  call void @fly.async_work.land(ptr %async, i32 %1)
  %2 = load i32, ptr %queue, align 8
  %call3 = call i32 @fly.async_work.removed(ptr %async, ptr nonnull %queue, i32 0, i32 %2)
  br label %while.cond

while.end:                                        ; preds = %while.cond, %land.rhs
  ret void
}

define internal void @fly.copy_count(ptr %async, i64 %queue) noinline {
entry:
  %queue1 = getelementptr inbounds nuw i8, ptr %async, i64 32
  %0 = load ptr, ptr %queue1, align 8
  %arrayidx = getelementptr inbounds nuw %struct.Queue, ptr %0, i64 %queue
  %position = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %1 = load i64, ptr %position, align 8
  %inc = add i64 %1, 1
  store i64 %inc, ptr %position, align 8
  ret void
}

define internal void @fly.copy_wait(ptr %async, i64 %queue, i64 %pending) noinline {
entry:
  %queue1 = getelementptr inbounds nuw i8, ptr %async, i64 32
  %0 = load ptr, ptr %queue1, align 8
  %add.ptr = getelementptr inbounds nuw %struct.Queue, ptr %0, i64 %queue
  %position = getelementptr inbounds nuw i8, ptr %add.ptr, i64 8
  %1 = load i64, ptr %position, align 8
  %cmp = icmp ugt i64 %1, %pending
  br i1 %cmp, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %sub = sub nuw i64 %1, %pending
  call void @fly.async_work.land_before(ptr %async, ptr %add.ptr, i64 %sub)
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  %seed = getelementptr inbounds nuw i8, ptr %async, i64 16
  %2 = load i64, ptr %seed, align 8
  %tobool.not = icmp eq i64 %2, 0
  br i1 %tobool.not, label %if.end4, label %if.then3

if.then3:                                         ; preds = %if.end
  call void @fly.async_work.stir_queue(ptr %async, ptr %add.ptr)
  br label %if.end4

if.end4:                                          ; preds = %if.then3, %if.end
  ret void
}

define internal void @fly.async_work.land_before(ptr %async, ptr %queue, i64 %position) {
entry:
  br label %while.cond

while.cond:                                       ; preds = %while.body, %entry
  %0 = load i32, ptr %queue, align 8
  %tobool.not = icmp eq i32 %0, 0
  br i1 %tobool.not, label %while.end, label %land.rhs

land.rhs:                                         ; preds = %while.cond
  %call = call ptr @fly.async_work.item_at(ptr %async, i32 %0)
  %position2 = getelementptr inbounds nuw i8, ptr %call, i64 8
  %1 = load i64, ptr %position2, align 8
  %cmp = icmp ult i64 %1, %position
  br i1 %cmp, label %while.body, label %while.end

while.body:                                       ; preds = %land.rhs
  %2 = load i32, ptr %queue, align 8
  call void @fly.async_work.land(ptr %async, i32 %2)
  %3 = load i32, ptr %queue, align 8
  %call5 = call i32 @fly.async_work.removed(ptr %async, ptr nonnull %queue, i32 0, i32 %3)
  br label %while.cond

while.end:                                        ; preds = %while.cond, %land.rhs
  ret void
}

define internal void @fly.copy_wait_read(ptr %async, i64 %queue, i64 %pending) noinline {
entry:
  %queue1 = getelementptr inbounds nuw i8, ptr %async, i64 32
  %0 = load ptr, ptr %queue1, align 8
  %add.ptr = getelementptr inbounds nuw %struct.Queue, ptr %0, i64 %queue
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %entry
  %number.0.in = phi ptr [ %add.ptr, %entry ], [ %call18, %for.inc ]
  %number.0 = load i32, ptr %number.0.in, align 8
  %tobool.not = icmp eq i32 %number.0, 0
  br i1 %tobool.not, label %for.end, label %for.body

for.body:                                         ; preds = %for.cond
  %call = call ptr @fly.async_work.item_at(ptr %async, i32 %number.0)
  %position = getelementptr inbounds nuw i8, ptr %call, i64 8
  %1 = load i64, ptr %position, align 8
  %add = add i64 %1, %pending
  %position2 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 8
  %2 = load i64, ptr %position2, align 8
  %cmp.not = icmp ult i64 %add, %2
  br i1 %cmp.not, label %lor.lhs.false, label %for.inc

lor.lhs.false:                                    ; preds = %for.body
  %snapshot = getelementptr inbounds nuw i8, ptr %call, i64 56
  %3 = load ptr, ptr %snapshot, align 8
  %tobool3.not = icmp eq ptr %3, null
  br i1 %tobool3.not, label %if.end, label %for.inc

if.end:                                           ; preds = %lor.lhs.false
  %bytes = getelementptr inbounds nuw i8, ptr %call, i64 72
  %4 = load i32, ptr %bytes, align 8
  %add4 = add i32 %4, 128
  %conv = zext i32 %add4 to i64
  %call5 = call ptr @malloc(i64 %conv)
  store ptr %call5, ptr %snapshot, align 8
  %tobool8.not = icmp eq ptr %call5, null
  br i1 %tobool8.not, label %if.then9, label %if.end10

if.then9:                                         ; preds = %if.end
  call void @llvm.trap()
  unreachable

if.end10:                                         ; preds = %if.end
  %5 = load ptr, ptr %snapshot, align 8
  %land = getelementptr inbounds nuw i8, ptr %call, i64 24
  %6 = load ptr, ptr %land, align 8
  %cmp12 = icmp eq ptr %6, @fly.async_work.land_box
  br i1 %cmp12, label %cond.true, label %cond.false

cond.true:                                        ; preds = %if.end10
  %target = getelementptr inbounds nuw i8, ptr %call, i64 48
  %7 = load ptr, ptr %target, align 8
  %offset = getelementptr inbounds nuw i8, ptr %call, i64 80
  %8 = load i32, ptr %offset, align 8
  %idx.ext = zext i32 %8 to i64
  %add.ptr14 = getelementptr inbounds nuw i8, ptr %7, i64 %idx.ext
  br label %cond.end

cond.false:                                       ; preds = %if.end10
  %source = getelementptr inbounds nuw i8, ptr %call, i64 40
  %9 = load ptr, ptr %source, align 8
  br label %cond.end

cond.end:                                         ; preds = %cond.false, %cond.true
  %cond = phi ptr [ %add.ptr14, %cond.true ], [ %9, %cond.false ]
  %10 = load i32, ptr %bytes, align 8
  %conv16 = zext i32 %10 to i64
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %5, ptr align 1 %cond, i64 %conv16, i1 false)
  %ticket = getelementptr inbounds nuw i8, ptr %call, i64 16
  %11 = load i64, ptr %ticket, align 8
  call void @fly.async_work.settle(ptr %async, i64 %11)
  store i64 0, ptr %ticket, align 8
  br label %for.inc

for.inc:                                          ; preds = %cond.end, %lor.lhs.false, %for.body
  %call18 = call ptr @fly.async_work.item_at(ptr %async, i32 %number.0)
  br label %for.cond

for.end:                                          ; preds = %for.cond
  ret void
}

define internal ptr @fly.async_work.item_at(ptr %async, i32 %number) {
entry:
  %items = getelementptr inbounds nuw i8, ptr %async, i64 40
  %0 = load ptr, ptr %items, align 8
  %idx.ext = zext i32 %number to i64
  %add.ptr = getelementptr inbounds nuw %struct.Item, ptr %0, i64 %idx.ext
  ret ptr %add.ptr
}

declare ptr @malloc(i64)

define internal void @fly.async_work.land_box(ptr %item) {
entry:
  %snapshot = getelementptr inbounds nuw i8, ptr %item, i64 56
  %0 = load ptr, ptr %snapshot, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %cond.false, label %cond.true

cond.true:                                        ; preds = %entry
  %offset = getelementptr inbounds nuw i8, ptr %item, i64 80
  %1 = load i32, ptr %offset, align 8
  %idx.ext = zext i32 %1 to i64
  %idx.neg = sub nsw i64 0, %idx.ext
  %add.ptr = getelementptr inbounds i8, ptr %0, i64 %idx.neg
  br label %cond.end

cond.false:                                       ; preds = %entry
  %target = getelementptr inbounds nuw i8, ptr %item, i64 48
  %2 = load ptr, ptr %target, align 8
  br label %cond.end

cond.end:                                         ; preds = %cond.false, %cond.true
  %cond = phi ptr [ %add.ptr, %cond.true ], [ %2, %cond.false ]
  %coordinates = getelementptr inbounds nuw i8, ptr %item, i64 88
  %engine = getelementptr inbounds nuw i8, ptr %item, i64 32
  %3 = load ptr, ptr %engine, align 8
  %source = getelementptr inbounds nuw i8, ptr %item, i64 40
  %4 = load ptr, ptr %source, align 8
  %offset2 = getelementptr inbounds nuw i8, ptr %item, i64 80
  %5 = load i32, ptr %offset2, align 8
  %kind = getelementptr inbounds nuw i8, ptr %item, i64 84
  %6 = load i32, ptr %kind, align 4
  %7 = load i32, ptr %coordinates, align 4
  %arrayidx3 = getelementptr inbounds nuw i8, ptr %item, i64 92
  %8 = load i32, ptr %arrayidx3, align 4
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %item, i64 96
  %9 = load i32, ptr %arrayidx4, align 4
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %item, i64 100
  %10 = load i32, ptr %arrayidx5, align 4
  %arrayidx6 = getelementptr inbounds nuw i8, ptr %item, i64 104
  %11 = load i32, ptr %arrayidx6, align 4
  call void %3(ptr %4, ptr %cond, i32 %5, i32 %6, i32 %7, i32 %8, i32 %9, i32 %10, i32 %11)
  ret void
}

define internal void @fly.async_work.settle(ptr %async, i64 %ticket) {
entry:
  %tobool.not = icmp eq i64 %ticket, 0
  br i1 %tobool.not, label %if.end, label %land.lhs.true

land.lhs.true:                                    ; preds = %entry
  %settle = getelementptr inbounds nuw i8, ptr %async, i64 96
  %0 = load ptr, ptr %settle, align 8
  %tobool1.not = icmp eq ptr %0, null
  br i1 %tobool1.not, label %if.end, label %if.then

if.then:                                          ; preds = %land.lhs.true
  call void %0(i64 %ticket)
  br label %if.end

if.end:                                           ; preds = %if.then, %land.lhs.true, %entry
  ret void
}

define internal void @fly.copy_wait_all(ptr %async, i64 %first, i64 %count) noinline {
entry:
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %queue.0 = phi i64 [ %first, %entry ], [ %inc, %for.body ]
  %add = add i64 %first, %count
  %cmp = icmp ult i64 %queue.0, %add
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %queue1 = getelementptr inbounds nuw i8, ptr %async, i64 32
  %0 = load ptr, ptr %queue1, align 8
  %add.ptr = getelementptr inbounds nuw %struct.Queue, ptr %0, i64 %queue.0
  call void @fly.async_work.land_before(ptr %async, ptr %add.ptr, i64 -1)
  %inc = add i64 %queue.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  ret void
}

define internal void @fly.copy_load(ptr %async, ptr %target, ptr %source, i32 %bytes, ptr %barrier, ptr %update, i64 %ticket) noinline {
entry:
  %update1 = getelementptr inbounds nuw i8, ptr %async, i64 80
  store ptr %update, ptr %update1, align 8
  %loads = getelementptr inbounds nuw i8, ptr %async, i64 64
  %call = call ptr @fly.async_work.append(ptr %async, ptr nonnull %loads, ptr nonnull @fly.async_work.land_bytes, i64 %ticket)
  %target2 = getelementptr inbounds nuw i8, ptr %call, i64 48
  store ptr %target, ptr %target2, align 8
  %source3 = getelementptr inbounds nuw i8, ptr %call, i64 40
  store ptr %source, ptr %source3, align 8
  %filled = getelementptr inbounds nuw i8, ptr %call, i64 76
  store i32 %bytes, ptr %filled, align 4
  %bytes4 = getelementptr inbounds nuw i8, ptr %call, i64 72
  store i32 %bytes, ptr %bytes4, align 8
  %barrier5 = getelementptr inbounds nuw i8, ptr %call, i64 64
  store ptr %barrier, ptr %barrier5, align 8
  call void @fly.async_stir(ptr %async)
  ret void
}

define internal void @fly.async_stir(ptr %async) noinline {
entry:
  %seed = getelementptr inbounds nuw i8, ptr %async, i64 16
  %0 = load i64, ptr %seed, align 8
  %tobool.not = icmp eq i64 %0, 0
  br i1 %tobool.not, label %for.end33, label %if.end

if.end:                                           ; preds = %entry
  %loads = getelementptr inbounds nuw i8, ptr %async, i64 64
  %1 = load i32, ptr %loads, align 8
  br label %for.cond

for.cond:                                         ; preds = %if.end6, %if.end
  %before.0 = phi i32 [ 0, %if.end ], [ %before.1, %if.end6 ]
  %number.0 = phi i32 [ %1, %if.end ], [ %number.1, %if.end6 ]
  %tobool1.not = icmp eq i32 %number.0, 0
  br i1 %tobool1.not, label %for.cond7, label %for.body

for.body:                                         ; preds = %for.cond
  %call = call i1 @fly.async_work.lands_now(ptr %async)
  br i1 %call, label %if.then2, label %if.else

if.then2:                                         ; preds = %for.body
  call void @fly.async_work.land(ptr %async, i32 %number.0)
  %call4 = call i32 @fly.async_work.removed(ptr %async, ptr nonnull %loads, i32 %before.0, i32 %number.0)
  br label %if.end6

if.else:                                          ; preds = %for.body
  %call5 = call ptr @fly.async_work.item_at(ptr %async, i32 %number.0)
  %2 = load i32, ptr %call5, align 8
  br label %if.end6

if.end6:                                          ; preds = %if.else, %if.then2
  %before.1 = phi i32 [ %before.0, %if.then2 ], [ %number.0, %if.else ]
  %number.1 = phi i32 [ %call4, %if.then2 ], [ %2, %if.else ]
  br label %for.cond

for.cond7:                                        ; preds = %for.cond, %for.inc
  %queue.0 = phi i64 [ %inc, %for.inc ], [ 0, %for.cond ]
  %3 = load i64, ptr %async, align 8
  %cmp = icmp ult i64 %queue.0, %3
  br i1 %cmp, label %for.body9, label %for.cond18

for.body9:                                        ; preds = %for.cond7
  %queue10 = getelementptr inbounds nuw i8, ptr %async, i64 32
  %4 = load ptr, ptr %queue10, align 8
  %arrayidx = getelementptr inbounds nuw %struct.Queue, ptr %4, i64 %queue.0
  %5 = load i32, ptr %arrayidx, align 8
  %tobool12.not = icmp eq i32 %5, 0
  br i1 %tobool12.not, label %for.inc, label %if.then13

if.then13:                                        ; preds = %for.body9
  call void @fly.async_work.stir_queue(ptr nonnull %async, ptr nonnull %arrayidx)
  br label %for.inc

for.inc:                                          ; preds = %for.body9, %if.then13
  %inc = add i64 %queue.0, 1
  br label %for.cond7

for.cond18:                                       ; preds = %for.cond7, %for.inc31
  %number17.0 = phi i64 [ %inc32, %for.inc31 ], [ 0, %for.cond7 ]
  %groups = getelementptr inbounds nuw i8, ptr %async, i64 8
  %6 = load i64, ptr %groups, align 8
  %cmp19 = icmp ult i64 %number17.0, %6
  br i1 %cmp19, label %for.body21, label %for.end33

for.body21:                                       ; preds = %for.cond18
  %group = getelementptr inbounds nuw i8, ptr %async, i64 88
  %7 = load ptr, ptr %group, align 8
  %arrayidx22 = getelementptr inbounds nuw ptr, ptr %7, i64 %number17.0
  %8 = load ptr, ptr %arrayidx22, align 8
  %tobool23.not = icmp eq ptr %8, null
  br i1 %tobool23.not, label %for.inc31, label %land.lhs.true

land.lhs.true:                                    ; preds = %for.body21
  %call24 = call i1 @fly.async_work.lands_now(ptr nonnull %async)
  br i1 %call24, label %if.then25, label %for.inc31

if.then25:                                        ; preds = %land.lhs.true
  %9 = load ptr, ptr %group, align 8
  %arrayidx27 = getelementptr inbounds nuw ptr, ptr %9, i64 %number17.0
  %10 = load ptr, ptr %arrayidx27, align 8
  %landed = getelementptr inbounds nuw i8, ptr %10, i64 8
  %11 = load i64, ptr %landed, align 8
  %add = add i64 %11, 1
  call void @fly.async_work.land_products(ptr nonnull %async, ptr %10, i64 %add)
  br label %for.inc31

for.inc31:                                        ; preds = %for.body21, %land.lhs.true, %if.then25
  %inc32 = add i64 %number17.0, 1
  br label %for.cond18

for.end33:                                        ; preds = %for.cond18, %entry
  ret void
}

define internal void @fly.copy_box(ptr %async, i64 %queue, ptr %box, ptr %map, ptr %shared, i32 %offset, i32 %kind, i32 %c0, i32 %c1, i32 %c2, i32 %c3, i32 %c4, i32 %bytes, ptr %barrier, ptr %update, i64 %ticket) noinline {
entry:
  %update1 = getelementptr inbounds nuw i8, ptr %async, i64 80
  store ptr %update, ptr %update1, align 8
  %tobool.not = icmp eq ptr %barrier, null
  br i1 %tobool.not, label %cond.false, label %cond.true

cond.true:                                        ; preds = %entry
  %loads = getelementptr inbounds nuw i8, ptr %async, i64 64
  br label %cond.end

cond.false:                                       ; preds = %entry
  %queue2 = getelementptr inbounds nuw i8, ptr %async, i64 32
  %0 = load ptr, ptr %queue2, align 8
  %add.ptr = getelementptr inbounds nuw %struct.Queue, ptr %0, i64 %queue
  br label %cond.end

cond.end:                                         ; preds = %cond.false, %cond.true
  %cond = phi ptr [ %loads, %cond.true ], [ %add.ptr, %cond.false ]
  %call = call ptr @fly.async_work.append(ptr %async, ptr %cond, ptr nonnull @fly.async_work.land_box, i64 %ticket)
  %engine = getelementptr inbounds nuw i8, ptr %call, i64 32
  store ptr %box, ptr %engine, align 8
  %source = getelementptr inbounds nuw i8, ptr %call, i64 40
  store ptr %map, ptr %source, align 8
  %target = getelementptr inbounds nuw i8, ptr %call, i64 48
  store ptr %shared, ptr %target, align 8
  %offset3 = getelementptr inbounds nuw i8, ptr %call, i64 80
  store i32 %offset, ptr %offset3, align 8
  %kind4 = getelementptr inbounds nuw i8, ptr %call, i64 84
  store i32 %kind, ptr %kind4, align 4
  %coordinates = getelementptr inbounds nuw i8, ptr %call, i64 88
  store i32 %c0, ptr %coordinates, align 8
  %arrayidx6 = getelementptr inbounds nuw i8, ptr %call, i64 92
  store i32 %c1, ptr %arrayidx6, align 4
  %arrayidx8 = getelementptr inbounds nuw i8, ptr %call, i64 96
  store i32 %c2, ptr %arrayidx8, align 8
  %arrayidx10 = getelementptr inbounds nuw i8, ptr %call, i64 100
  store i32 %c3, ptr %arrayidx10, align 4
  %arrayidx12 = getelementptr inbounds nuw i8, ptr %call, i64 104
  store i32 %c4, ptr %arrayidx12, align 8
  %bytes13 = getelementptr inbounds nuw i8, ptr %call, i64 72
  store i32 %bytes, ptr %bytes13, align 8
  %barrier14 = getelementptr inbounds nuw i8, ptr %call, i64 64
  store ptr %barrier, ptr %barrier14, align 8
  call void @fly.async_stir(ptr %async)
  ret void
}

define internal void @fly.copy_tile(ptr %async, i64 %queue, ptr %tile, ptr %table, i64 %words, ptr %shared, i1 %store, i64 %ticket) noinline {
entry:
  %queue1 = getelementptr inbounds nuw i8, ptr %async, i64 32
  %0 = load ptr, ptr %queue1, align 8
  %add.ptr = getelementptr inbounds nuw %struct.Queue, ptr %0, i64 %queue
  %call = call ptr @fly.async_work.append(ptr %async, ptr %add.ptr, ptr nonnull @fly.async_work.land_tile, i64 %ticket)
  %engine = getelementptr inbounds nuw i8, ptr %call, i64 32
  store ptr %tile, ptr %engine, align 8
  %mul = shl i64 %words, 3
  %call2 = call ptr @malloc(i64 %mul)
  %snapshot = getelementptr inbounds nuw i8, ptr %call, i64 56
  store ptr %call2, ptr %snapshot, align 8
  %tobool.not = icmp eq ptr %call2, null
  br i1 %tobool.not, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  call void @llvm.trap()
  unreachable

if.end:                                           ; preds = %entry
  %1 = load ptr, ptr %snapshot, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %1, ptr align 8 %table, i64 %mul, i1 false)
  %target = getelementptr inbounds nuw i8, ptr %call, i64 48
  store ptr %shared, ptr %target, align 8
  %conv = zext i1 %store to i32
  %kind = getelementptr inbounds nuw i8, ptr %call, i64 84
  store i32 %conv, ptr %kind, align 4
  %2 = load ptr, ptr %queue1, align 8
  %arrayidx = getelementptr inbounds nuw %struct.Queue, ptr %2, i64 %queue
  %position = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %3 = load i64, ptr %position, align 8
  %inc = add i64 %3, 1
  store i64 %inc, ptr %position, align 8
  %seed = getelementptr inbounds nuw i8, ptr %async, i64 16
  %4 = load i64, ptr %seed, align 8
  %tobool7.not = icmp eq i64 %4, 0
  br i1 %tobool7.not, label %if.end11, label %if.then8

if.then8:                                         ; preds = %if.end
  %5 = load ptr, ptr %queue1, align 8
  %add.ptr10 = getelementptr inbounds nuw %struct.Queue, ptr %5, i64 %queue
  call void @fly.async_work.stir_queue(ptr %async, ptr %add.ptr10)
  br label %if.end11

if.end11:                                         ; preds = %if.then8, %if.end
  ret void
}

define internal void @fly.async_work.land_tile(ptr %item) {
entry:
  %engine = getelementptr inbounds nuw i8, ptr %item, i64 32
  %0 = load ptr, ptr %engine, align 8
  %snapshot = getelementptr inbounds nuw i8, ptr %item, i64 56
  %1 = load ptr, ptr %snapshot, align 8
  %target = getelementptr inbounds nuw i8, ptr %item, i64 48
  %2 = load ptr, ptr %target, align 8
  %kind = getelementptr inbounds nuw i8, ptr %item, i64 84
  %3 = load i32, ptr %kind, align 4
  %tobool = icmp ne i32 %3, 0
  call void %0(ptr %1, ptr %2, i1 %tobool)
  ret void
}

define internal void @fly.copy_arrive(ptr %async, ptr %barrier, i32 %parity, ptr %test) noinline {
entry:
  %loads = getelementptr inbounds nuw i8, ptr %async, i64 64
  %0 = load i32, ptr %loads, align 8
  br label %for.cond

for.cond:                                         ; preds = %if.end, %entry
  %before.0 = phi i32 [ 0, %entry ], [ %before.1, %if.end ]
  %number.0 = phi i32 [ %0, %entry ], [ %number.1, %if.end ]
  %tobool.not = icmp eq i32 %number.0, 0
  br i1 %tobool.not, label %for.end, label %land.rhs

land.rhs:                                         ; preds = %for.cond
  %call = call i1 %test(ptr %barrier, i32 %parity)
  br i1 %call, label %for.end, label %for.body

for.body:                                         ; preds = %land.rhs
  %call1 = call ptr @fly.async_work.item_at(ptr %async, i32 %number.0)
  %barrier2 = getelementptr inbounds nuw i8, ptr %call1, i64 64
  %1 = load ptr, ptr %barrier2, align 8
  %cmp = icmp eq ptr %1, %barrier
  br i1 %cmp, label %if.then, label %if.else

if.then:                                          ; preds = %for.body
  call void @fly.async_work.land(ptr %async, i32 %number.0)
  %call4 = call i32 @fly.async_work.removed(ptr %async, ptr nonnull %loads, i32 %before.0, i32 %number.0)
  br label %if.end

if.else:                                          ; preds = %for.body
  %call5 = call ptr @fly.async_work.item_at(ptr %async, i32 %number.0)
  %2 = load i32, ptr %call5, align 8
  br label %if.end

if.end:                                           ; preds = %if.else, %if.then
  %before.1 = phi i32 [ %before.0, %if.then ], [ %number.0, %if.else ]
  %number.1 = phi i32 [ %call4, %if.then ], [ %2, %if.else ]
  br label %for.cond

for.end:                                          ; preds = %for.cond, %land.rhs
  ret void
}

define internal void @fly.async_work.land(ptr %async, i32 %number) {
entry:
  %call = call ptr @fly.async_work.item_at(ptr %async, i32 %number)
  %land = getelementptr inbounds nuw i8, ptr %call, i64 24
  %0 = load ptr, ptr %land, align 8
  call void %0(ptr %call)
  %ticket = getelementptr inbounds nuw i8, ptr %call, i64 16
  %1 = load i64, ptr %ticket, align 8
  call void @fly.async_work.settle(ptr %async, i64 %1)
  %barrier = getelementptr inbounds nuw i8, ptr %call, i64 64
  %2 = load ptr, ptr %barrier, align 8
  %tobool.not = icmp eq ptr %2, null
  br i1 %tobool.not, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  %update = getelementptr inbounds nuw i8, ptr %async, i64 80
  %3 = load ptr, ptr %update, align 8
  %bytes = getelementptr inbounds nuw i8, ptr %call, i64 72
  %4 = load i32, ptr %bytes, align 8
  %sub = sub nsw i32 0, %4
  call void %3(ptr nonnull %2, i32 0, i32 %sub)
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  ret void
}

define internal i32 @fly.async_work.removed(ptr %async, ptr %queue, i32 %before, i32 %number) {
entry:
  %call = call ptr @fly.async_work.item_at(ptr %async, i32 %number)
  %0 = load i32, ptr %call, align 8
  %tobool.not = icmp eq i32 %before, 0
  br i1 %tobool.not, label %if.else, label %if.then

if.then:                                          ; preds = %entry
  %call2 = call ptr @fly.async_work.item_at(ptr %async, i32 %before)
  store i32 %0, ptr %call2, align 8
  br label %if.end

if.else:                                          ; preds = %entry
  store i32 %0, ptr %queue, align 8
  br label %if.end

if.end:                                           ; preds = %if.else, %if.then
  %last = getelementptr inbounds nuw i8, ptr %queue, i64 4
  %1 = load i32, ptr %last, align 4
  %cmp = icmp eq i32 %1, %number
  br i1 %cmp, label %if.then4, label %if.end6

if.then4:                                         ; preds = %if.end
  store i32 %before, ptr %last, align 4
  br label %if.end6

if.end6:                                          ; preds = %if.then4, %if.end
  %snapshot = getelementptr inbounds nuw i8, ptr %call, i64 56
  %2 = load ptr, ptr %snapshot, align 8
  call void @free(ptr %2)
  %free_item = getelementptr inbounds nuw i8, ptr %async, i64 56
  %3 = load i32, ptr %free_item, align 8
  store i32 %3, ptr %call, align 8
  store i32 %number, ptr %free_item, align 8
  ret i32 %0
}

define internal i1 @fly.product_issue(ptr %async, i64 %group_number, ptr %multiply, ptr %a, i64 %a_bytes, ptr %b, ptr %c, i64 %c_bytes, ptr %d, i64 %d_bytes, i64 %words, ptr %scale, ptr %shared, i64 %site, i64 %ticket_a, i64 %ticket_b) noinline {
entry:
  %.compoundliteral.sroa.5 = alloca [2 x i64], align 8
  %.compoundliteral.sroa.9 = alloca [3 x i8], align 1
  %call = call ptr @fly.async_work.group_at(ptr %async, i64 %group_number)
  %add = add i64 %a_bytes, 64
  %call1 = call ptr @malloc(i64 %add)
  %tobool.not = icmp eq ptr %call1, null
  br i1 %tobool.not, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  call void @llvm.trap()
  unreachable

if.end:                                           ; preds = %entry
  %call2 = call ptr @fly.async_work.chained(ptr %call, ptr %c, i64 %c_bytes, i64 %words)
  br label %for.cond

for.cond:                                         ; preds = %for.body, %if.end
  %wave.0 = phi i64 [ 0, %if.end ], [ %inc, %for.body ]
  %fenced.0.off0 = phi i1 [ true, %if.end ], [ %tobool6, %for.body ]
  %cmp = icmp samesign ult i64 %wave.0, 4
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %arrayidx = getelementptr inbounds nuw %struct.anon, ptr %call, i64 %wave.0
  %fenced3 = getelementptr inbounds nuw i8, ptr %arrayidx, i64 1456
  %0 = load i8, ptr %fenced3, align 8
  %1 = and i8 %0, 1
  %tobool643 = icmp ne i8 %1, 0
  %tobool6 = select i1 %fenced.0.off0, i1 %tobool643, i1 false
  %inc = add nuw nsw i64 %wave.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  br i1 %fenced.0.off0, label %lor.end15, label %lor.rhs

lor.rhs:                                          ; preds = %for.end
  %cmp9 = icmp eq i64 %a_bytes, 8
  br i1 %cmp9, label %land.rhs, label %lor.end15

land.rhs:                                         ; preds = %lor.rhs
  %tobool11.not = icmp eq ptr %call2, null
  br i1 %tobool11.not, label %lor.rhs12, label %lor.end15

lor.rhs12:                                        ; preds = %land.rhs
  %call13 = call i1 @fly.async_work.untouched(ptr %call, ptr %c, i64 %c_bytes, i64 %words)
  %2 = xor i1 %call13, true
  br label %lor.end15

lor.end15:                                        ; preds = %lor.rhs, %lor.rhs12, %land.rhs, %for.end
  %lnot = phi i1 [ false, %for.end ], [ true, %lor.rhs ], [ false, %land.rhs ], [ %2, %lor.rhs12 ]
  call void @llvm.memset.p0.i64(ptr nonnull align 8 dereferenceable(16) %.compoundliteral.sroa.5, i8 0, i64 16, i1 false)
  %3 = load i64, ptr %b, align 8
  %4 = load i32, ptr %scale, align 4
  %storedv23 = zext i1 %lnot to i8
  call void @llvm.memset.p0.i64(ptr nonnull align 1 dereferenceable(3) %.compoundliteral.sroa.9, i8 0, i64 3, i1 false)
  store ptr null, ptr %call1, align 8
  %.compoundliteral.sroa.2.0..sroa_idx = getelementptr inbounds nuw i8, ptr %call1, i64 8
  store ptr %multiply, ptr %.compoundliteral.sroa.2.0..sroa_idx, align 8
  %.compoundliteral.sroa.3.0..sroa_idx = getelementptr inbounds nuw i8, ptr %call1, i64 16
  store ptr null, ptr %.compoundliteral.sroa.3.0..sroa_idx, align 8
  %.compoundliteral.sroa.4.0..sroa_idx = getelementptr inbounds nuw i8, ptr %call1, i64 24
  store ptr %shared, ptr %.compoundliteral.sroa.4.0..sroa_idx, align 8
  %.compoundliteral.sroa.5.0..sroa_idx = getelementptr inbounds nuw i8, ptr %call1, i64 32
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(16) %.compoundliteral.sroa.5.0..sroa_idx, ptr nonnull align 8 dereferenceable(16) %.compoundliteral.sroa.5, i64 16, i1 false)
  %.compoundliteral.sroa.6.0..sroa_idx = getelementptr inbounds nuw i8, ptr %call1, i64 48
  store i64 %3, ptr %.compoundliteral.sroa.6.0..sroa_idx, align 8
  %.compoundliteral.sroa.7.0..sroa_idx = getelementptr inbounds nuw i8, ptr %call1, i64 56
  store i32 %4, ptr %.compoundliteral.sroa.7.0..sroa_idx, align 8
  %.compoundliteral.sroa.8.0..sroa_idx = getelementptr inbounds nuw i8, ptr %call1, i64 60
  store i8 %storedv23, ptr %.compoundliteral.sroa.8.0..sroa_idx, align 4
  %.compoundliteral.sroa.9.0..sroa_idx = getelementptr inbounds nuw i8, ptr %call1, i64 61
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 1 dereferenceable(3) %.compoundliteral.sroa.9.0..sroa_idx, ptr nonnull align 1 dereferenceable(3) %.compoundliteral.sroa.9, i64 3, i1 false)
  %tobool24.not = icmp eq ptr %call2, null
  br i1 %tobool24.not, label %cond.false, label %cond.end

cond.false:                                       ; preds = %lor.end15
  %call25 = call ptr @fly.async_work.new_buffer(ptr %async, ptr %call, ptr %c, i64 %c_bytes, i64 %words)
  br label %cond.end

cond.end:                                         ; preds = %lor.end15, %cond.false
  %cond = phi ptr [ %call25, %cond.false ], [ %call2, %lor.end15 ]
  store ptr %cond, ptr %.compoundliteral.sroa.3.0..sroa_idx, align 8
  store i64 %ticket_a, ptr %.compoundliteral.sroa.5.0..sroa_idx, align 8
  %arrayidx30 = getelementptr inbounds nuw i8, ptr %call1, i64 40
  store i64 %ticket_b, ptr %arrayidx30, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 1 %.compoundliteral.sroa.9.0..sroa_idx, ptr align 1 %a, i64 %a_bytes, i1 false)
  %first = getelementptr inbounds nuw i8, ptr %call, i64 24
  %5 = load ptr, ptr %first, align 8
  %tobool32.not = icmp eq ptr %5, null
  br i1 %tobool32.not, label %if.else, label %if.then33

if.then33:                                        ; preds = %cond.end
  %last = getelementptr inbounds nuw i8, ptr %call, i64 32
  %6 = load ptr, ptr %last, align 8
  store ptr %call1, ptr %6, align 8
  br label %if.end36

if.else:                                          ; preds = %cond.end
  store ptr %call1, ptr %first, align 8
  br label %if.end36

if.end36:                                         ; preds = %if.else, %if.then33
  %last37 = getelementptr inbounds nuw i8, ptr %call, i64 32
  store ptr %call1, ptr %last37, align 8
  %7 = load i64, ptr %call, align 8
  %inc38 = add i64 %7, 1
  store i64 %inc38, ptr %call, align 8
  %8 = load ptr, ptr %.compoundliteral.sroa.3.0..sroa_idx, align 8
  %last40 = getelementptr inbounds nuw i8, ptr %8, i64 8
  store i64 %inc38, ptr %last40, align 8
  %9 = load ptr, ptr %.compoundliteral.sroa.3.0..sroa_idx, align 8
  %site42 = getelementptr inbounds nuw i8, ptr %9, i64 16
  store i64 %site, ptr %site42, align 8
  br label %for.cond43

for.cond43:                                       ; preds = %for.inc59, %if.end36
  %thread.0 = phi i64 [ 0, %if.end36 ], [ %inc60, %for.inc59 ]
  %cmp44 = icmp samesign ult i64 %thread.0, 128
  br i1 %cmp44, label %for.cond48, label %for.end61

for.cond48:                                       ; preds = %for.cond43, %for.body52
  %word.0 = phi i64 [ %inc57, %for.body52 ], [ 0, %for.cond43 ]
  %cmp49 = icmp ult i64 %word.0, %words
  br i1 %cmp49, label %for.body52, label %for.inc59

for.body52:                                       ; preds = %for.cond48
  %10 = load ptr, ptr %.compoundliteral.sroa.3.0..sroa_idx, align 8
  %call54 = call i32 @fly.async_work.handle(ptr %10, i64 %word.0)
  %mul = mul i64 %thread.0, %d_bytes
  %add.ptr = getelementptr inbounds nuw i8, ptr %d, i64 %mul
  %arrayidx55 = getelementptr inbounds nuw i32, ptr %add.ptr, i64 %word.0
  store i32 %call54, ptr %arrayidx55, align 4
  %inc57 = add i64 %word.0, 1
  br label %for.cond48

for.inc59:                                        ; preds = %for.cond48
  %inc60 = add nuw nsw i64 %thread.0, 1
  br label %for.cond43

for.end61:                                        ; preds = %for.cond43
  call void @fly.async_stir(ptr %async)
  ret i1 %lnot
}

define internal ptr @fly.async_work.group_at(ptr %async, i64 %number) {
entry:
  %group = getelementptr inbounds nuw i8, ptr %async, i64 88
  %0 = load ptr, ptr %group, align 8
  %arrayidx = getelementptr inbounds nuw ptr, ptr %0, i64 %number
  %1 = load ptr, ptr %arrayidx, align 8
  %tobool.not = icmp eq ptr %1, null
  br i1 %tobool.not, label %if.then, label %if.end9

if.then:                                          ; preds = %entry
  %call = call ptr @calloc(i64 1, i64 1896)
  %2 = load ptr, ptr %group, align 8
  %arrayidx2 = getelementptr inbounds nuw ptr, ptr %2, i64 %number
  store ptr %call, ptr %arrayidx2, align 8
  %3 = load ptr, ptr %group, align 8
  %arrayidx4 = getelementptr inbounds nuw ptr, ptr %3, i64 %number
  %4 = load ptr, ptr %arrayidx4, align 8
  %tobool5.not = icmp eq ptr %4, null
  br i1 %tobool5.not, label %if.then6, label %if.end

if.then6:                                         ; preds = %if.then
  call void @llvm.trap()
  unreachable

if.end:                                           ; preds = %if.then
  %first_buffer = getelementptr inbounds nuw i8, ptr %async, i64 24
  %5 = load i64, ptr %first_buffer, align 8
  %6 = load ptr, ptr %group, align 8
  %arrayidx8 = getelementptr inbounds nuw ptr, ptr %6, i64 %number
  %7 = load ptr, ptr %arrayidx8, align 8
  %buffers = getelementptr inbounds nuw i8, ptr %7, i64 16
  store i64 %5, ptr %buffers, align 8
  br label %if.end9

if.end9:                                          ; preds = %if.end, %entry
  %8 = load ptr, ptr %group, align 8
  %arrayidx11 = getelementptr inbounds nuw ptr, ptr %8, i64 %number
  %9 = load ptr, ptr %arrayidx11, align 8
  ret ptr %9
}

define internal ptr @fly.async_work.chained(ptr %group, ptr %c, i64 %c_bytes, i64 %words) {
entry:
  %0 = load i32, ptr %c, align 4
  %call = call ptr @fly.async_work.buffer_of(ptr %group, i32 %0)
  %tobool.not = icmp eq ptr %call, null
  br i1 %tobool.not, label %cleanup16, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %entry
  %words1 = getelementptr inbounds nuw i8, ptr %call, i64 24
  %1 = load i64, ptr %words1, align 8
  %cmp.not = icmp eq i64 %1, %words
  br i1 %cmp.not, label %for.cond, label %cleanup16

for.cond:                                         ; preds = %lor.lhs.false, %for.inc11
  %retval.1 = phi ptr [ %retval.3, %for.inc11 ], [ undef, %lor.lhs.false ]
  %thread.0 = phi i64 [ %inc12, %for.inc11 ], [ 0, %lor.lhs.false ]
  %cmp2 = icmp samesign ugt i64 %thread.0, 127
  br i1 %cmp2, label %cleanup16, label %for.cond3

for.cond3:                                        ; preds = %for.cond, %for.inc
  %word.0 = phi i64 [ %inc, %for.inc ], [ 0, %for.cond ]
  %cmp4.not = icmp ult i64 %word.0, %words
  br i1 %cmp4.not, label %for.body6, label %cleanup

for.body6:                                        ; preds = %for.cond3
  %mul = mul i64 %thread.0, %c_bytes
  %add.ptr = getelementptr inbounds nuw i8, ptr %c, i64 %mul
  %arrayidx = getelementptr inbounds nuw i32, ptr %add.ptr, i64 %word.0
  %2 = load i32, ptr %arrayidx, align 4
  %call7 = call i32 @fly.async_work.handle(ptr nonnull %call, i64 %word.0)
  %cmp8.not = icmp eq i32 %2, %call7
  br i1 %cmp8.not, label %for.inc, label %cleanup

for.inc:                                          ; preds = %for.body6
  %inc = add i64 %word.0, 1
  br label %for.cond3

cleanup:                                          ; preds = %for.body6, %for.cond3
  %retval.3 = phi ptr [ %retval.1, %for.cond3 ], [ null, %for.body6 ]
  br i1 %cmp4.not, label %cleanup16, label %for.inc11

for.inc11:                                        ; preds = %cleanup
  %inc12 = add nuw nsw i64 %thread.0, 1
  br label %for.cond

cleanup16:                                        ; preds = %cleanup, %for.cond, %entry, %lor.lhs.false
  %retval.0 = phi ptr [ null, %entry ], [ null, %lor.lhs.false ], [ %retval.3, %cleanup ], [ %call, %for.cond ]
  ret ptr %retval.0
}

define internal i1 @fly.async_work.untouched(ptr %group, ptr %c, i64 %c_bytes, i64 %words) {
entry:
  br label %for.cond

for.cond:                                         ; preds = %for.inc19, %entry
  %index.0 = phi i64 [ 0, %entry ], [ %inc20, %for.inc19 ]
  %retval.0 = phi i1 [ undef, %entry ], [ %.retval.0, %for.inc19 ]
  %cmp = icmp samesign ult i64 %index.0, 32
  br i1 %cmp, label %for.body, label %cleanup21

for.body:                                         ; preds = %for.cond
  %ring = getelementptr inbounds nuw i8, ptr %group, i64 40
  %add.ptr = getelementptr inbounds nuw %struct.Buffer, ptr %ring, i64 %index.0
  %data = getelementptr inbounds nuw i8, ptr %add.ptr, i64 32
  %0 = load ptr, ptr %data, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %land.end, label %land.lhs.true

land.lhs.true:                                    ; preds = %for.body
  %words1 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 24
  %1 = load i64, ptr %words1, align 8
  %cmp2 = icmp eq i64 %1, %words
  br i1 %cmp2, label %land.rhs, label %land.end

land.rhs:                                         ; preds = %land.lhs.true
  %last = getelementptr inbounds nuw i8, ptr %add.ptr, i64 8
  %2 = load i64, ptr %last, align 8
  %landed = getelementptr inbounds nuw i8, ptr %group, i64 8
  %3 = load i64, ptr %landed, align 8
  %cmp3 = icmp ule i64 %2, %3
  br label %land.end

land.end:                                         ; preds = %land.rhs, %land.lhs.true, %for.body
  %4 = phi i1 [ false, %land.lhs.true ], [ false, %for.body ], [ %cmp3, %land.rhs ]
  br label %for.cond4

for.cond4:                                        ; preds = %for.body9, %land.end
  %same.0.in = phi i1 [ %4, %land.end ], [ %tobool15.not, %for.body9 ]
  %thread.0 = phi i64 [ 0, %land.end ], [ %inc, %for.body9 ]
  %cmp6 = icmp samesign ult i64 %thread.0, 128
  %spec.select = select i1 %same.0.in, i1 %cmp6, i1 false
  br i1 %spec.select, label %for.body9, label %for.end

for.body9:                                        ; preds = %for.cond4
  %mul = mul i64 %thread.0, %c_bytes
  %add.ptr10 = getelementptr inbounds nuw i8, ptr %c, i64 %mul
  %5 = load ptr, ptr %data, align 8
  %mul12 = mul i64 %thread.0, %words
  %add.ptr13 = getelementptr inbounds nuw i32, ptr %5, i64 %mul12
  %mul14 = shl i64 %words, 2
  %call = call i32 @memcmp(ptr %add.ptr10, ptr %add.ptr13, i64 %mul14)
  %tobool15.not = icmp eq i32 %call, 0
  %inc = add nuw nsw i64 %thread.0, 1
  br label %for.cond4

for.end:                                          ; preds = %for.cond4
  %. = zext i1 %same.0.in to i32
  %.retval.0 = select i1 %same.0.in, i1 true, i1 %retval.0
  br i1 %same.0.in, label %cleanup21, label %for.inc19

for.inc19:                                        ; preds = %for.end
  %inc20 = add nuw nsw i64 %index.0, 1
  br label %for.cond

cleanup21:                                        ; preds = %for.cond, %for.end
  %cleanup.dest.slot.0 = phi i32 [ %., %for.end ], [ 2, %for.cond ]
  %retval.1 = phi i1 [ %.retval.0, %for.end ], [ %retval.0, %for.cond ]
  switch i32 %cleanup.dest.slot.0, label %unreachable [
    i32 2, label %for.end23
    i32 1, label %return
  ]

for.end23:                                        ; preds = %cleanup21
  br label %return

return:                                           ; preds = %for.end23, %cleanup21
  %retval.3 = phi i1 [ false, %for.end23 ], [ %retval.1, %cleanup21 ]
  ret i1 %retval.3

unreachable:                                      ; preds = %cleanup21
  unreachable
}

define internal ptr @fly.async_work.new_buffer(ptr %async, ptr %group, ptr %c, i64 %c_bytes, i64 %words) {
entry:
  %ring = getelementptr inbounds nuw i8, ptr %group, i64 40
  %buffers = getelementptr inbounds nuw i8, ptr %group, i64 16
  %0 = load i64, ptr %buffers, align 8
  %inc = add i64 %0, 1
  store i64 %inc, ptr %buffers, align 8
  %rem = and i64 %inc, 31
  %add.ptr = getelementptr inbounds nuw %struct.Buffer, ptr %ring, i64 %rem
  %data = getelementptr inbounds nuw i8, ptr %add.ptr, i64 32
  %1 = load ptr, ptr %data, align 8
  %tobool.not = icmp eq ptr %1, null
  br i1 %tobool.not, label %if.end, label %land.lhs.true

land.lhs.true:                                    ; preds = %entry
  %last = getelementptr inbounds nuw i8, ptr %add.ptr, i64 8
  %2 = load i64, ptr %last, align 8
  %landed = getelementptr inbounds nuw i8, ptr %group, i64 8
  %3 = load i64, ptr %landed, align 8
  %cmp = icmp ugt i64 %2, %3
  br i1 %cmp, label %if.then, label %if.end

if.then:                                          ; preds = %land.lhs.true
  call void @fly.async_work.land_products(ptr %async, ptr %group, i64 %2)
  br label %if.end

if.end:                                           ; preds = %if.then, %land.lhs.true, %entry
  %words2 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 24
  %4 = load i64, ptr %words2, align 8
  %cmp3.not = icmp eq i64 %4, %words
  br i1 %cmp3.not, label %if.end13, label %if.then4

if.then4:                                         ; preds = %if.end
  %5 = load ptr, ptr %data, align 8
  call void @free(ptr %5)
  %mul6 = shl i64 %words, 9
  %call = call ptr @malloc(i64 %mul6)
  store ptr %call, ptr %data, align 8
  %tobool9.not = icmp eq ptr %call, null
  br i1 %tobool9.not, label %if.then10, label %if.end11

if.then10:                                        ; preds = %if.then4
  call void @llvm.trap()
  unreachable

if.end11:                                         ; preds = %if.then4
  store i64 %words, ptr %words2, align 8
  br label %if.end13

if.end13:                                         ; preds = %if.end11, %if.end
  %6 = load i64, ptr %buffers, align 8
  store i64 %6, ptr %add.ptr, align 8
  br label %for.cond

for.cond:                                         ; preds = %for.body, %if.end13
  %thread.0 = phi i64 [ 0, %if.end13 ], [ %inc22, %for.body ]
  %cmp15 = icmp samesign ult i64 %thread.0, 128
  br i1 %cmp15, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %7 = load ptr, ptr %data, align 8
  %mul17 = mul i64 %thread.0, %words
  %add.ptr18 = getelementptr inbounds nuw i32, ptr %7, i64 %mul17
  %mul19 = mul i64 %thread.0, %c_bytes
  %add.ptr20 = getelementptr inbounds nuw i8, ptr %c, i64 %mul19
  %mul21 = shl i64 %words, 2
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %add.ptr18, ptr align 1 %add.ptr20, i64 %mul21, i1 false)
  call void @fly.async_work.hand_out(ptr %group, ptr %add.ptr18, i64 %words, i64 %thread.0)
  %inc22 = add nuw nsw i64 %thread.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  ret ptr %add.ptr
}

define internal i32 @fly.async_work.handle(ptr %buffer, i64 %word) {
entry:
  %0 = load i64, ptr %buffer, align 8
  %1 = trunc i64 %0 to i32
  %conv = shl i32 %1, 7
  %shl = and i32 %conv, 2097024
  %conv1 = trunc i64 %word to i32
  %or = or i32 %shl, %conv1
  %or2 = or i32 %or, 2141192192
  ret i32 %or2
}

define internal void @fly.product_fence(ptr %async, i64 %first, i64 %threads) noinline {
entry:
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %thread.0 = phi i64 [ %first, %entry ], [ %add4, %for.body ]
  %add = add i64 %first, %threads
  %cmp = icmp ult i64 %thread.0, %add
  br i1 %cmp, label %land.rhs, label %for.end

land.rhs:                                         ; preds = %for.cond
  %div7 = lshr i64 %thread.0, 7
  %groups = getelementptr inbounds nuw i8, ptr %async, i64 8
  %0 = load i64, ptr %groups, align 8
  %cmp1 = icmp ult i64 %div7, %0
  br i1 %cmp1, label %for.body, label %for.end

for.body:                                         ; preds = %land.rhs
  %div28 = lshr i64 %thread.0, 7
  %call = call ptr @fly.async_work.group_at(ptr %async, i64 %div28)
  %rem = lshr i64 %thread.0, 5
  %div39 = and i64 %rem, 3
  %arrayidx = getelementptr inbounds nuw %struct.anon, ptr %call, i64 %div39
  %fenced = getelementptr inbounds nuw i8, ptr %arrayidx, i64 1456
  store i8 1, ptr %fenced, align 8
  %add4 = add i64 %thread.0, 32
  br label %for.cond

for.end:                                          ; preds = %for.cond, %land.rhs
  ret void
}

define internal void @fly.product_commit(ptr %async, i64 %first, i64 %threads) noinline {
entry:
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %thread.0 = phi i64 [ %first, %entry ], [ %add8, %for.body ]
  %add = add i64 %first, %threads
  %cmp = icmp ult i64 %thread.0, %add
  br i1 %cmp, label %land.rhs, label %for.end

land.rhs:                                         ; preds = %for.cond
  %div10 = lshr i64 %thread.0, 7
  %groups = getelementptr inbounds nuw i8, ptr %async, i64 8
  %0 = load i64, ptr %groups, align 8
  %cmp1 = icmp ult i64 %div10, %0
  br i1 %cmp1, label %for.body, label %for.end

for.body:                                         ; preds = %land.rhs
  %div211 = lshr i64 %thread.0, 7
  %call = call ptr @fly.async_work.group_at(ptr %async, i64 %div211)
  %rem = lshr i64 %thread.0, 5
  %div312 = and i64 %rem, 3
  %1 = load i64, ptr %call, align 8
  %waves = getelementptr inbounds nuw i8, ptr %call, i64 1320
  %arrayidx = getelementptr inbounds nuw %struct.anon, ptr %waves, i64 %div312
  %marks = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %2 = load i64, ptr %arrayidx, align 8
  %inc = add i64 %2, 1
  store i64 %inc, ptr %arrayidx, align 8
  %rem6 = and i64 %2, 15
  %arrayidx7 = getelementptr inbounds nuw i64, ptr %marks, i64 %rem6
  store i64 %1, ptr %arrayidx7, align 8
  %add8 = add i64 %thread.0, 32
  br label %for.cond

for.end:                                          ; preds = %for.cond, %land.rhs
  ret void
}

define internal void @fly.product_wait(ptr %async, i64 %first, i64 %threads, i64 %pending, ptr %rows, i64 %bytes, i64 %words) noinline {
entry:
  br label %for.cond

for.cond:                                         ; preds = %if.end, %entry
  %thread.0 = phi i64 [ %first, %entry ], [ %inc, %if.end ]
  %add = add i64 %first, %threads
  %cmp = icmp ult i64 %thread.0, %add
  br i1 %cmp, label %land.rhs, label %for.end

land.rhs:                                         ; preds = %for.cond
  %div20 = lshr i64 %thread.0, 7
  %groups = getelementptr inbounds nuw i8, ptr %async, i64 8
  %0 = load i64, ptr %groups, align 8
  %cmp1 = icmp ult i64 %div20, %0
  br i1 %cmp1, label %for.body, label %for.end

for.body:                                         ; preds = %land.rhs
  %div221 = lshr i64 %thread.0, 7
  %call = call ptr @fly.async_work.group_at(ptr %async, i64 %div221)
  %rem = and i64 %thread.0, 127
  %div322 = lshr i64 %rem, 5
  %waves = getelementptr inbounds nuw i8, ptr %call, i64 1320
  %arrayidx = getelementptr inbounds nuw %struct.anon, ptr %waves, i64 %div322
  %1 = load i64, ptr %arrayidx, align 8
  %fenced = getelementptr inbounds nuw i8, ptr %arrayidx, i64 136
  store i8 0, ptr %fenced, align 8
  %rem7 = and i64 %thread.0, 31
  %cmp8 = icmp eq i64 %rem7, 0
  %cmp9 = icmp ugt i64 %1, %pending
  %or.cond = select i1 %cmp8, i1 %cmp9, i1 false
  br i1 %or.cond, label %if.then, label %if.end

if.then:                                          ; preds = %for.body
  %marks = getelementptr inbounds nuw i8, ptr %arrayidx, i64 8
  %2 = xor i64 %pending, -1
  %sub12 = add i64 %1, %2
  %rem13 = and i64 %sub12, 15
  %arrayidx14 = getelementptr inbounds nuw i64, ptr %marks, i64 %rem13
  %3 = load i64, ptr %arrayidx14, align 8
  call void @fly.async_work.land_products(ptr %async, ptr %call, i64 %3)
  br label %if.end

if.end:                                           ; preds = %if.then, %for.body
  %sub15 = sub i64 %thread.0, %first
  %mul = mul i64 %sub15, %bytes
  %add.ptr = getelementptr inbounds nuw i8, ptr %rows, i64 %mul
  call void @fly.async_work.hand_out(ptr %call, ptr %add.ptr, i64 %words, i64 %rem)
  %inc = add i64 %thread.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond, %land.rhs
  ret void
}

define internal void @fly.async_work.land_products(ptr %async, ptr %group, i64 %until) {
entry:
  br label %while.cond

while.cond:                                       ; preds = %for.end, %entry
  %first = getelementptr inbounds nuw i8, ptr %group, i64 24
  %0 = load ptr, ptr %first, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %while.end, label %land.rhs

land.rhs:                                         ; preds = %while.cond
  %landed = getelementptr inbounds nuw i8, ptr %group, i64 8
  %1 = load i64, ptr %landed, align 8
  %cmp = icmp ult i64 %1, %until
  br i1 %cmp, label %while.body, label %while.end

while.body:                                       ; preds = %land.rhs
  %2 = load ptr, ptr %first, align 8
  %buffer = getelementptr inbounds nuw i8, ptr %2, i64 16
  %3 = load ptr, ptr %buffer, align 8
  %data2 = getelementptr inbounds nuw i8, ptr %3, i64 32
  %4 = load ptr, ptr %data2, align 8
  %multiply = getelementptr inbounds nuw i8, ptr %2, i64 8
  %5 = load ptr, ptr %multiply, align 8
  %a = getelementptr inbounds nuw i8, ptr %2, i64 61
  %b = getelementptr inbounds nuw i8, ptr %2, i64 48
  %scale = getelementptr inbounds nuw i8, ptr %2, i64 56
  %shared = getelementptr inbounds nuw i8, ptr %2, i64 24
  %6 = load ptr, ptr %shared, align 8
  call void %5(ptr nonnull %a, ptr nonnull %b, ptr %4, ptr %4, ptr nonnull %scale, ptr %6)
  br label %for.cond

for.cond:                                         ; preds = %for.body, %while.body
  %word.0 = phi i64 [ 0, %while.body ], [ %inc, %for.body ]
  %unfenced = getelementptr inbounds nuw i8, ptr %2, i64 60
  %7 = load i8, ptr %unfenced, align 4
  %loadedv = trunc i8 %7 to i1
  br i1 %loadedv, label %land.rhs3, label %for.end

land.rhs3:                                        ; preds = %for.cond
  %8 = load ptr, ptr %buffer, align 8
  %words = getelementptr inbounds nuw i8, ptr %8, i64 24
  %9 = load i64, ptr %words, align 8
  %mul = shl i64 %9, 7
  %cmp5 = icmp ult i64 %word.0, %mul
  br i1 %cmp5, label %for.body, label %for.end

for.body:                                         ; preds = %land.rhs3
  %10 = load ptr, ptr %buffer, align 8
  %data8 = getelementptr inbounds nuw i8, ptr %10, i64 32
  %11 = load ptr, ptr %data8, align 8
  %arrayidx = getelementptr inbounds nuw i32, ptr %11, i64 %word.0
  store i32 2147483647, ptr %arrayidx, align 4
  %inc = add i64 %word.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond, %land.rhs3
  %tickets = getelementptr inbounds nuw i8, ptr %2, i64 32
  %12 = load i64, ptr %tickets, align 8
  call void @fly.async_work.settle(ptr %async, i64 %12)
  %arrayidx11 = getelementptr inbounds nuw i8, ptr %2, i64 40
  %13 = load i64, ptr %arrayidx11, align 8
  call void @fly.async_work.settle(ptr %async, i64 %13)
  %14 = load ptr, ptr %2, align 8
  store ptr %14, ptr %first, align 8
  %landed13 = getelementptr inbounds nuw i8, ptr %group, i64 8
  %15 = load i64, ptr %landed13, align 8
  %inc14 = add i64 %15, 1
  store i64 %inc14, ptr %landed13, align 8
  call void @free(ptr nonnull %2)
  br label %while.cond

while.end:                                        ; preds = %while.cond, %land.rhs
  ret void
}

define internal void @fly.async_work.hand_out(ptr %group, ptr %row, i64 %words, i64 %thread) {
entry:
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %entry
  %word.0 = phi i64 [ 0, %entry ], [ %inc, %for.inc ]
  %cmp = icmp ult i64 %word.0, %words
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %arrayidx = getelementptr inbounds nuw i32, ptr %row, i64 %word.0
  %0 = load i32, ptr %arrayidx, align 4
  %call = call ptr @fly.async_work.buffer_of(ptr %group, i32 %0)
  %tobool.not = icmp eq ptr %call, null
  br i1 %tobool.not, label %for.inc, label %land.lhs.true

land.lhs.true:                                    ; preds = %for.body
  %last = getelementptr inbounds nuw i8, ptr %call, i64 8
  %1 = load i64, ptr %last, align 8
  %landed = getelementptr inbounds nuw i8, ptr %group, i64 8
  %2 = load i64, ptr %landed, align 8
  %cmp1.not = icmp ugt i64 %1, %2
  br i1 %cmp1.not, label %for.inc, label %if.then

if.then:                                          ; preds = %land.lhs.true
  %data = getelementptr inbounds nuw i8, ptr %call, i64 32
  %3 = load ptr, ptr %data, align 8
  %words2 = getelementptr inbounds nuw i8, ptr %call, i64 24
  %4 = load i64, ptr %words2, align 8
  %mul = mul i64 %thread, %4
  %5 = load i32, ptr %arrayidx, align 4
  %and = and i32 %5, 127
  %conv = zext nneg i32 %and to i64
  %6 = getelementptr i32, ptr %3, i64 %mul
  %arrayidx4 = getelementptr i32, ptr %6, i64 %conv
  %7 = load i32, ptr %arrayidx4, align 4
  store i32 %7, ptr %arrayidx, align 4
  br label %for.inc

for.inc:                                          ; preds = %for.body, %land.lhs.true, %if.then
  %inc = add i64 %word.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  ret void
}

define internal i64 @fly.product_pending(ptr %async, i64 %thread, ptr %words, i64 %count) noinline {
entry:
  %div12 = lshr i64 %thread, 7
  %groups = getelementptr inbounds nuw i8, ptr %async, i64 8
  %0 = load i64, ptr %groups, align 8
  %cmp = icmp ult i64 %div12, %0
  br i1 %cmp, label %cond.true, label %cond.end

cond.true:                                        ; preds = %entry
  %group1 = getelementptr inbounds nuw i8, ptr %async, i64 88
  %1 = load ptr, ptr %group1, align 8
  %arrayidx = getelementptr inbounds nuw ptr, ptr %1, i64 %div12
  %2 = load ptr, ptr %arrayidx, align 8
  br label %cond.end

cond.end:                                         ; preds = %entry, %cond.true
  %cond = phi ptr [ %2, %cond.true ], [ null, %entry ]
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %cond.end
  %word.0 = phi i64 [ 0, %cond.end ], [ %inc, %for.inc ]
  %retval.0 = phi i64 [ undef, %cond.end ], [ %retval.2, %for.inc ]
  %tobool = icmp eq ptr %cond, null
  %cmp3 = icmp uge i64 %word.0, %count
  %spec.select.not = select i1 %tobool, i1 true, i1 %cmp3
  br i1 %spec.select.not, label %cleanup6, label %for.body

for.body:                                         ; preds = %for.cond
  %arrayidx4 = getelementptr inbounds nuw i32, ptr %words, i64 %word.0
  %3 = load i32, ptr %arrayidx4, align 4
  %call = call ptr @fly.async_work.buffer_of(ptr nonnull %cond, i32 %3)
  %tobool5.not = icmp eq ptr %call, null
  br i1 %tobool5.not, label %cleanup, label %if.then

if.then:                                          ; preds = %for.body
  %site = getelementptr inbounds nuw i8, ptr %call, i64 16
  %4 = load i64, ptr %site, align 8
  %shl = shl i64 %4, 32
  %add = add i64 %word.0, 1
  %or = or i64 %shl, %add
  br label %cleanup

cleanup:                                          ; preds = %for.body, %if.then
  %retval.2 = phi i64 [ %or, %if.then ], [ %retval.0, %for.body ]
  br i1 %tobool5.not, label %for.inc, label %cleanup6

for.inc:                                          ; preds = %cleanup
  %inc = add i64 %word.0, 1
  br label %for.cond

cleanup6:                                         ; preds = %for.cond, %cleanup
  %spec.select11 = phi i64 [ %retval.2, %cleanup ], [ 0, %for.cond ]
  ret i64 %spec.select11
}

define internal ptr @fly.async_work.buffer_of(ptr %group, i32 %content) {
entry:
  %shr.mask = and i32 %content, -2097152
  %cmp.not = icmp eq i32 %shr.mask, 2141192192
  br i1 %cmp.not, label %if.end, label %return

if.end:                                           ; preds = %entry
  %shr1 = lshr i32 %content, 7
  %and = and i32 %shr1, 16383
  %conv = zext nneg i32 %and to i64
  %ring = getelementptr inbounds nuw i8, ptr %group, i64 40
  %rem = and i64 %conv, 31
  %add.ptr = getelementptr inbounds nuw %struct.Buffer, ptr %ring, i64 %rem
  %data = getelementptr inbounds nuw i8, ptr %add.ptr, i64 32
  %0 = load ptr, ptr %data, align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %cond.false, label %land.rhs

land.rhs:                                         ; preds = %if.end
  %1 = load i64, ptr %add.ptr, align 8
  %and3 = and i64 %1, 16383
  %cmp4 = icmp eq i64 %and3, %conv
  br i1 %cmp4, label %land.lhs.true, label %cond.false

land.lhs.true:                                    ; preds = %land.rhs
  %and7 = and i32 %content, 127
  %conv8 = zext nneg i32 %and7 to i64
  %words = getelementptr inbounds nuw i8, ptr %add.ptr, i64 24
  %2 = load i64, ptr %words, align 8
  %cmp9 = icmp ugt i64 %2, %conv8
  br i1 %cmp9, label %return, label %cond.false

cond.false:                                       ; preds = %if.end, %land.lhs.true, %land.rhs
  br label %return

return:                                           ; preds = %cond.false, %land.lhs.true, %entry
  %retval.0 = phi ptr [ null, %entry ], [ null, %cond.false ], [ %add.ptr, %land.lhs.true ]
  ret ptr %retval.0
}

define internal i1 @fly.async_work.lands_now(ptr %async) {
entry:
  %seed = getelementptr inbounds nuw i8, ptr %async, i64 16
  %0 = load i64, ptr %seed, align 8
  %tobool.not = icmp eq i64 %0, 0
  br i1 %tobool.not, label %return, label %if.end

if.end:                                           ; preds = %entry
  %shl = shl i64 %0, 13
  %xor = xor i64 %0, %shl
  %shr = lshr i64 %xor, 7
  %xor5 = xor i64 %xor, %shr
  %shl7 = shl i64 %xor5, 17
  %xor9 = xor i64 %xor5, %shl7
  store i64 %xor9, ptr %seed, align 8
  %shr11 = lshr i64 %xor9, 33
  %rem = urem i64 %shr11, 3
  %cmp = icmp eq i64 %rem, 0
  br label %return

return:                                           ; preds = %entry, %if.end
  %retval.0 = phi i1 [ %cmp, %if.end ], [ false, %entry ]
  ret i1 %retval.0
}

define internal void @fly.async_end(ptr %async, ptr %shared, i64 %bytes, i64 %stride, i64 %blocks) noinline {
entry:
  %tobool.not = icmp eq ptr %async, null
  br i1 %tobool.not, label %return, label %for.cond

for.cond:                                         ; preds = %entry, %for.inc24
  %queue.0 = phi i64 [ %inc25, %for.inc24 ], [ 0, %entry ]
  %gone.0.off0 = phi i1 [ %gone.1.off0, %for.inc24 ], [ false, %entry ]
  %0 = load i64, ptr %async, align 8
  %cmp = icmp ult i64 %queue.0, %0
  br i1 %cmp, label %for.body, label %for.cond28

for.body:                                         ; preds = %for.cond
  %queue1 = getelementptr inbounds nuw i8, ptr %async, i64 32
  %1 = load ptr, ptr %queue1, align 8
  %arrayidx = getelementptr inbounds nuw %struct.Queue, ptr %1, i64 %queue.0
  br label %for.cond2

for.cond2:                                        ; preds = %if.end20, %for.body
  %number.0.in = phi ptr [ %arrayidx, %for.body ], [ %call22, %if.end20 ]
  %gone.1.off0 = phi i1 [ %gone.0.off0, %for.body ], [ %or34, %if.end20 ]
  %number.0 = load i32, ptr %number.0.in, align 8
  %tobool3.not = icmp eq i32 %number.0, 0
  br i1 %tobool3.not, label %for.inc24, label %for.body5

for.body5:                                        ; preds = %for.cond2
  %call = call ptr @fly.async_work.item_at(ptr nonnull %async, i32 %number.0)
  br label %for.cond6

for.cond6:                                        ; preds = %for.body10, %for.body5
  %block.0 = phi i64 [ 0, %for.body5 ], [ %inc, %for.body10 ]
  br i1 %gone.1.off0, label %for.end, label %land.lhs.true

land.lhs.true:                                    ; preds = %for.cond6
  %kind = getelementptr inbounds nuw i8, ptr %call, i64 84
  %2 = load i32, ptr %kind, align 4
  %cmp7 = icmp ne i32 %2, 0
  %cmp8 = icmp ult i64 %block.0, %blocks
  %spec.select = select i1 %cmp7, i1 %cmp8, i1 false
  br i1 %spec.select, label %for.body10, label %for.end

for.body10:                                       ; preds = %land.lhs.true
  %mul = mul i64 %block.0, %stride
  %add.ptr = getelementptr inbounds nuw i8, ptr %shared, i64 %mul
  call void @llvm.memset.p0.i64(ptr align 1 %add.ptr, i8 -91, i64 %bytes, i1 false)
  %inc = add i64 %block.0, 1
  br label %for.cond6

for.end:                                          ; preds = %for.cond6, %land.lhs.true
  %kind11 = getelementptr inbounds nuw i8, ptr %call, i64 84
  %3 = load i32, ptr %kind11, align 4
  %cmp12 = icmp ne i32 %3, 0
  %or34 = or i1 %gone.1.off0, %cmp12
  br i1 %cmp12, label %if.then19, label %if.end20

if.then19:                                        ; preds = %for.end
  %land = getelementptr inbounds nuw i8, ptr %call, i64 24
  %4 = load ptr, ptr %land, align 8
  call void %4(ptr %call)
  br label %if.end20

if.end20:                                         ; preds = %if.then19, %for.end
  %snapshot = getelementptr inbounds nuw i8, ptr %call, i64 56
  %5 = load ptr, ptr %snapshot, align 8
  call void @free(ptr %5)
  %call22 = call ptr @fly.async_work.item_at(ptr nonnull %async, i32 %number.0)
  br label %for.cond2

for.inc24:                                        ; preds = %for.cond2
  %inc25 = add i64 %queue.0, 1
  br label %for.cond

for.cond28:                                       ; preds = %for.cond, %for.end55
  %number27.0 = phi i64 [ %inc57, %for.end55 ], [ 0, %for.cond ]
  %groups = getelementptr inbounds nuw i8, ptr %async, i64 8
  %6 = load i64, ptr %groups, align 8
  %cmp29 = icmp ult i64 %number27.0, %6
  br i1 %cmp29, label %for.body32, label %for.end58

for.body32:                                       ; preds = %for.cond28
  %group33 = getelementptr inbounds nuw i8, ptr %async, i64 88
  %7 = load ptr, ptr %group33, align 8
  %arrayidx34 = getelementptr inbounds nuw ptr, ptr %7, i64 %number27.0
  %8 = load ptr, ptr %arrayidx34, align 8
  %tobool35 = icmp ne ptr %8, null
  br i1 %tobool35, label %cond.true, label %cond.end

cond.true:                                        ; preds = %for.body32
  %first36 = getelementptr inbounds nuw i8, ptr %8, i64 24
  %9 = load ptr, ptr %first36, align 8
  br label %cond.end

cond.end:                                         ; preds = %for.body32, %cond.true
  %cond = phi ptr [ %9, %cond.true ], [ null, %for.body32 ]
  br label %for.cond37

for.cond37:                                       ; preds = %for.body40, %cond.end
  %product.0 = phi ptr [ %cond, %cond.end ], [ %10, %for.body40 ]
  %tobool38.not = icmp eq ptr %product.0, null
  br i1 %tobool38.not, label %for.cond44, label %for.body40

for.body40:                                       ; preds = %for.cond37
  %10 = load ptr, ptr %product.0, align 8
  call void @free(ptr nonnull %product.0)
  br label %for.cond37

for.cond44:                                       ; preds = %for.cond37, %for.body51
  %index.0 = phi i64 [ %inc54, %for.body51 ], [ 0, %for.cond37 ]
  %cmp47 = icmp samesign ult i64 %index.0, 32
  %spec.select31 = select i1 %tobool35, i1 %cmp47, i1 false
  br i1 %spec.select31, label %for.body51, label %for.end55

for.body51:                                       ; preds = %for.cond44
  %arrayidx52 = getelementptr inbounds nuw %struct.Buffer, ptr %8, i64 %index.0
  %data = getelementptr inbounds nuw i8, ptr %arrayidx52, i64 72
  %11 = load ptr, ptr %data, align 8
  call void @free(ptr %11)
  %inc54 = add nuw nsw i64 %index.0, 1
  br label %for.cond44

for.end55:                                        ; preds = %for.cond44
  call void @free(ptr %8)
  %inc57 = add i64 %number27.0, 1
  br label %for.cond28

for.end58:                                        ; preds = %for.cond28
  %items = getelementptr inbounds nuw i8, ptr %async, i64 40
  %12 = load ptr, ptr %items, align 8
  call void @free(ptr %12)
  call void @free(ptr nonnull %async)
  br label %return

return:                                           ; preds = %entry, %for.end58
  ret void
}

declare void @free(ptr)

declare ptr @realloc(ptr, i64)

declare i32 @memcmp(ptr, ptr, i64)


