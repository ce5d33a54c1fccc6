; Made from src/native_replay.c by `python -m flydsl.native.generate`.

%struct.Handed = type { ptr, ptr, ptr }
%struct.Tensor = type { i64, i64, i32, i32, ptr, ptr, i64 }
%struct.Facts = type { i64, [320 x i64], [32 x i64] }
%struct.Saved = type { ptr, ptr, i64 }
%struct.Parameter = type { ptr, ptr, i64, i64 }
%struct.Argument = type { i64, ptr, ptr }

@fly.native_replay.tensor_memory = internal global ptr null, align 8
@fly.native_replay.handed = internal global %struct.Handed zeroinitializer, align 8
@fly.native_replay.named_at = internal global i64 0, align 8
@fly.native_replay.named_python = internal global ptr null, align 8
@fly.native_replay.entries = internal global [64 x ptr] zeroinitializer, align 16

define void @fly_know_tensors(ptr %found) #0 {
entry:
  store ptr %found, ptr @fly.native_replay.tensor_memory, align 8
  ret void
}

define i1 @fly_reads_alike(ptr readonly captures(address_is_null) %at, ptr readonly captures(none) %python, ptr %given) {
entry:
  %own = alloca %struct.Tensor, align 8
  %known = alloca %struct.Tensor, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %own)
  call void @llvm.lifetime.start.p0(ptr nonnull %known)
  %call = call fastcc i1 @fly.native_replay.read_plain(ptr %at, ptr %given, ptr %own)
  br i1 %call, label %lor.lhs.false, label %cleanup

lor.lhs.false:                                    ; preds = %entry
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %python, i64 208
  %0 = load i64, ptr %arrayidx.i, align 8
  %1 = inttoptr i64 %0 to ptr
  %call.i = call i32 %1(ptr %given, ptr nonnull %known)
  %tobool.not.i = icmp eq i32 %call.i, 0
  br i1 %tobool.not.i, label %if.end, label %read_tensor.exit

read_tensor.exit:                                 ; preds = %lor.lhs.false
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %python, i64 240
  %2 = load i64, ptr %arrayidx.i.i, align 8
  %3 = inttoptr i64 %2 to ptr
  call void %3()
  br label %cleanup

if.end:                                           ; preds = %lor.lhs.false
  %4 = load i64, ptr %own, align 8
  %5 = load i64, ptr %known, align 8
  %offset = getelementptr inbounds nuw i8, ptr %known, i64 40
  %6 = load i64, ptr %offset, align 8
  %add = add i64 %6, %5
  %cmp = icmp eq i64 %4, %add
  br i1 %cmp, label %land.lhs.true, label %cleanup

land.lhs.true:                                    ; preds = %if.end
  %device = getelementptr inbounds nuw i8, ptr %own, i64 8
  %7 = load i64, ptr %device, align 8
  %device3 = getelementptr inbounds nuw i8, ptr %known, i64 8
  %8 = load i64, ptr %device3, align 8
  %cmp4 = icmp eq i64 %7, %8
  br i1 %cmp4, label %land.lhs.true5, label %cleanup

land.lhs.true5:                                   ; preds = %land.lhs.true
  %dtype = getelementptr inbounds nuw i8, ptr %own, i64 20
  %9 = load i32, ptr %dtype, align 4
  %dtype6 = getelementptr inbounds nuw i8, ptr %known, i64 20
  %10 = load i32, ptr %dtype6, align 4
  %cmp7 = icmp eq i32 %9, %10
  br i1 %cmp7, label %land.end, label %cleanup

land.end:                                         ; preds = %land.lhs.true5
  %rank = getelementptr inbounds nuw i8, ptr %own, i64 16
  %11 = load i32, ptr %rank, align 8
  %rank8 = getelementptr inbounds nuw i8, ptr %known, i64 16
  %12 = load i32, ptr %rank8, align 8
  %cmp9 = icmp eq i32 %11, %12
  %cmp128 = icmp ne i32 %11, 0
  %13 = and i1 %cmp9, %cmp128
  br i1 %13, label %for.body.lr.ph, label %cleanup

for.body.lr.ph:                                   ; preds = %land.end
  %shape = getelementptr inbounds nuw i8, ptr %own, i64 24
  %14 = load ptr, ptr %shape, align 8
  %shape14 = getelementptr inbounds nuw i8, ptr %known, i64 24
  %15 = load ptr, ptr %shape14, align 8
  %strides = getelementptr inbounds nuw i8, ptr %own, i64 32
  %16 = load ptr, ptr %strides, align 8
  %strides21 = getelementptr inbounds nuw i8, ptr %known, i64 32
  %17 = load ptr, ptr %strides21, align 8
  %18 = zext i32 %11 to i64
  br label %for.body

for.body:                                         ; preds = %for.body.lr.ph, %land.end25
  %indvars.iv = phi i64 [ 0, %for.body.lr.ph ], [ %indvars.iv.next, %land.end25 ]
  %arrayidx = getelementptr inbounds nuw i64, ptr %14, i64 %indvars.iv
  %19 = load i64, ptr %arrayidx, align 8
  %arrayidx16 = getelementptr inbounds nuw i64, ptr %15, i64 %indvars.iv
  %20 = load i64, ptr %arrayidx16, align 8
  %cmp17 = icmp eq i64 %19, %20
  br i1 %cmp17, label %land.end25, label %cleanup

land.end25:                                       ; preds = %for.body
  %arrayidx20 = getelementptr inbounds nuw i64, ptr %16, i64 %indvars.iv
  %21 = load i64, ptr %arrayidx20, align 8
  %arrayidx23 = getelementptr inbounds nuw i64, ptr %17, i64 %indvars.iv
  %22 = load i64, ptr %arrayidx23, align 8
  %cmp24 = icmp eq i64 %21, %22
  %indvars.iv.next = add nuw nsw i64 %indvars.iv, 1
  %cmp12 = icmp samesign ult i64 %indvars.iv.next, %18
  %23 = select i1 %cmp24, i1 %cmp12, i1 false
  br i1 %23, label %for.body, label %cleanup

cleanup:                                          ; preds = %for.body, %land.end25, %if.end, %land.lhs.true, %land.lhs.true5, %land.end, %read_tensor.exit, %entry
  %retval.0 = phi i1 [ false, %entry ], [ false, %read_tensor.exit ], [ %cmp9, %land.end ], [ false, %land.lhs.true ], [ false, %if.end ], [ false, %land.lhs.true5 ], [ false, %for.body ], [ %cmp24, %land.end25 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %known)
  call void @llvm.lifetime.end.p0(ptr nonnull %own)
  ret i1 %retval.0
}

define internal fastcc i1 @fly.native_replay.read_plain(ptr readonly captures(address_is_null) %at, ptr readonly captures(none) %given, ptr nonnull writeonly captures(none) %found) #1 {
entry:
  %tobool.not = icmp eq ptr %at, null
  br i1 %tobool.not, label %cleanup76, label %cond.end

cond.end:                                         ; preds = %entry
  %0 = load i64, ptr %at, align 8
  %add.ptr.i = getelementptr inbounds i8, ptr %given, i64 %0
  %1 = load i64, ptr %add.ptr.i, align 8
  %2 = inttoptr i64 %1 to ptr
  %tobool2.not = icmp eq i64 %1, 0
  br i1 %tobool2.not, label %cleanup76, label %if.end

if.end:                                           ; preds = %cond.end
  %keys3 = getelementptr inbounds nuw i8, ptr %at, i64 88
  %3 = load i64, ptr %keys3, align 8
  %add.ptr.i48 = getelementptr inbounds i8, ptr %2, i64 %3
  %4 = load i64, ptr %add.ptr.i48, align 8
  %rank5 = getelementptr inbounds nuw i8, ptr %at, i64 40
  %5 = load i64, ptr %rank5, align 8
  %add.ptr.i49 = getelementptr inbounds i8, ptr %2, i64 %5
  %6 = load i64, ptr %add.ptr.i49, align 8
  %plain = getelementptr inbounds nuw i8, ptr %at, i64 128
  %7 = load i64, ptr %plain, align 8
  %cmp7.not = icmp eq i64 %7, %4
  br i1 %cmp7.not, label %lor.lhs.false, label %while.body

while.body:                                       ; preds = %if.end
  %arrayidx.1 = getelementptr inbounds nuw i8, ptr %at, i64 136
  %8 = load i64, ptr %arrayidx.1, align 8
  %cmp7.not.1 = icmp eq i64 %8, %4
  br i1 %cmp7.not.1, label %lor.lhs.false, label %while.body.1

while.body.1:                                     ; preds = %while.body
  %arrayidx.2 = getelementptr inbounds nuw i8, ptr %at, i64 144
  %9 = load i64, ptr %arrayidx.2, align 8
  %cmp7.not.2 = icmp eq i64 %9, %4
  br i1 %cmp7.not.2, label %lor.lhs.false, label %while.body.2

while.body.2:                                     ; preds = %while.body.1
  %arrayidx.3 = getelementptr inbounds nuw i8, ptr %at, i64 152
  %10 = load i64, ptr %arrayidx.3, align 8
  %cmp7.not.3 = icmp eq i64 %10, %4
  br i1 %cmp7.not.3, label %lor.lhs.false, label %while.body.3

while.body.3:                                     ; preds = %while.body.2
  %arrayidx.4 = getelementptr inbounds nuw i8, ptr %at, i64 160
  %11 = load i64, ptr %arrayidx.4, align 8
  %cmp7.not.4 = icmp eq i64 %11, %4
  br i1 %cmp7.not.4, label %lor.lhs.false, label %while.body.4

while.body.4:                                     ; preds = %while.body.3
  %arrayidx.5 = getelementptr inbounds nuw i8, ptr %at, i64 168
  %12 = load i64, ptr %arrayidx.5, align 8
  %cmp7.not.5 = icmp eq i64 %12, %4
  br i1 %cmp7.not.5, label %lor.lhs.false, label %while.body.5

while.body.5:                                     ; preds = %while.body.4
  %arrayidx.6 = getelementptr inbounds nuw i8, ptr %at, i64 176
  %13 = load i64, ptr %arrayidx.6, align 8
  %cmp7.not.6 = icmp eq i64 %13, %4
  br i1 %cmp7.not.6, label %lor.lhs.false, label %while.body.6

while.body.6:                                     ; preds = %while.body.5
  %arrayidx.7 = getelementptr inbounds nuw i8, ptr %at, i64 184
  %14 = load i64, ptr %arrayidx.7, align 8
  %cmp7.not.7 = icmp eq i64 %14, %4
  br i1 %cmp7.not.7, label %lor.lhs.false, label %cleanup76

lor.lhs.false:                                    ; preds = %if.end, %while.body, %while.body.1, %while.body.2, %while.body.3, %while.body.4, %while.body.5, %while.body.6
  %most = getelementptr inbounds nuw i8, ptr %at, i64 72
  %15 = load i64, ptr %most, align 8
  %cmp9 = icmp ugt i64 %6, %15
  br i1 %cmp9, label %cleanup76, label %if.end11

if.end11:                                         ; preds = %lor.lhs.false
  %kind12 = getelementptr inbounds nuw i8, ptr %at, i64 80
  %16 = load i64, ptr %kind12, align 8
  %add.ptr = getelementptr inbounds i8, ptr %2, i64 %16
  %17 = load i32, ptr %add.ptr, align 4
  %and = and i32 %17, 65535
  %shr = lshr i32 %17, 16
  %and13 = and i32 %shr, 255
  %storage14 = getelementptr inbounds nuw i8, ptr %at, i64 8
  %18 = load i64, ptr %storage14, align 8
  %add.ptr.i50 = getelementptr inbounds i8, ptr %2, i64 %18
  %19 = load i64, ptr %add.ptr.i50, align 8
  %20 = inttoptr i64 %19 to ptr
  %tobool16 = icmp eq i64 %19, 0
  %cmp18 = icmp samesign ugt i32 %and, 63
  %or.cond = select i1 %tobool16, i1 true, i1 %cmp18
  br i1 %or.cond, label %cleanup76, label %lor.lhs.false19

lor.lhs.false19:                                  ; preds = %if.end11
  %dtype = getelementptr inbounds nuw i8, ptr %at, i64 192
  %idxprom = zext nneg i32 %and to i64
  %arrayidx20 = getelementptr inbounds nuw i64, ptr %dtype, i64 %idxprom
  %21 = load i64, ptr %arrayidx20, align 8
  %tobool21 = icmp eq i64 %21, 0
  %cmp23 = icmp samesign ugt i32 %and13, 31
  %or.cond1 = select i1 %tobool21, i1 true, i1 %cmp23
  br i1 %or.cond1, label %cleanup76, label %lor.lhs.false24

lor.lhs.false24:                                  ; preds = %lor.lhs.false19
  %device25 = getelementptr inbounds nuw i8, ptr %at, i64 704
  %idxprom26 = zext nneg i32 %and13 to i64
  %arrayidx27 = getelementptr inbounds nuw i64, ptr %device25, i64 %idxprom26
  %22 = load i64, ptr %arrayidx27, align 8
  %tobool28.not = icmp eq i64 %22, 0
  br i1 %tobool28.not, label %cleanup76, label %if.end30

if.end30:                                         ; preds = %lor.lhs.false24
  %data31 = getelementptr inbounds nuw i8, ptr %at, i64 16
  %23 = load i64, ptr %data31, align 8
  %add.ptr.i51 = getelementptr inbounds i8, ptr %20, i64 %23
  %24 = load i64, ptr %add.ptr.i51, align 8
  %shr33 = lshr i32 %17, 24
  %conv = zext nneg i32 %shr33 to i64
  %tobool34.not = icmp eq i64 %24, 0
  br i1 %tobool34.not, label %cleanup76, label %lor.lhs.false35

lor.lhs.false35:                                  ; preds = %if.end30
  %deleter = getelementptr inbounds nuw i8, ptr %at, i64 24
  %25 = load i64, ptr %deleter, align 8
  %add.ptr.i52 = getelementptr inbounds i8, ptr %20, i64 %25
  %26 = load i64, ptr %add.ptr.i52, align 8
  %sharing = getelementptr inbounds nuw i8, ptr %at, i64 32
  %27 = load i64, ptr %sharing, align 8
  %cmp37 = icmp eq i64 %26, %27
  br i1 %cmp37, label %cleanup76, label %if.end40

if.end40:                                         ; preds = %lor.lhs.false35
  %conv44 = trunc i64 %21 to i32
  %dtype45 = getelementptr inbounds nuw i8, ptr %found, i64 20
  store i32 %conv44, ptr %dtype45, align 4
  %offset = getelementptr inbounds nuw i8, ptr %at, i64 64
  %28 = load i64, ptr %offset, align 8
  %add.ptr.i53 = getelementptr inbounds i8, ptr %2, i64 %28
  %29 = load i64, ptr %add.ptr.i53, align 8
  %shr48 = lshr i64 %21, 8
  %and49 = and i64 %shr48, 255
  %mul = mul i64 %29, %and49
  %div47 = lshr i64 %mul, 3
  %add = add i64 %div47, %24
  store i64 %add, ptr %found, align 8
  %30 = load i64, ptr %arrayidx27, align 8
  %cmp55 = icmp sgt i32 %17, -1
  %shl = shl nuw nsw i64 %conv, 32
  %cond60 = select i1 %cmp55, i64 %shl, i64 0
  %or = or i64 %30, %cond60
  %device61 = getelementptr inbounds nuw i8, ptr %found, i64 8
  store i64 %or, ptr %device61, align 8
  %conv62 = trunc i64 %6 to i32
  %rank63 = getelementptr inbounds nuw i8, ptr %found, i64 16
  store i32 %conv62, ptr %rank63, align 8
  %sizes = getelementptr inbounds nuw i8, ptr %at, i64 48
  %31 = load i64, ptr %sizes, align 8
  %add.ptr64 = getelementptr inbounds i8, ptr %2, i64 %31
  %shape = getelementptr inbounds nuw i8, ptr %found, i64 24
  store ptr %add.ptr64, ptr %shape, align 8
  %strides = getelementptr inbounds nuw i8, ptr %at, i64 56
  %32 = load i64, ptr %strides, align 8
  %add.ptr65 = getelementptr inbounds i8, ptr %2, i64 %32
  %strides66 = getelementptr inbounds nuw i8, ptr %found, i64 32
  store ptr %add.ptr65, ptr %strides66, align 8
  %offset67 = getelementptr inbounds nuw i8, ptr %found, i64 40
  store i64 0, ptr %offset67, align 8
  br label %cleanup76

cleanup76:                                        ; preds = %while.body.6, %entry, %lor.lhs.false, %if.end40, %lor.lhs.false35, %if.end30, %if.end11, %lor.lhs.false19, %lor.lhs.false24, %cond.end
  %retval.0 = phi i1 [ false, %cond.end ], [ false, %entry ], [ false, %lor.lhs.false ], [ false, %if.end11 ], [ false, %lor.lhs.false24 ], [ false, %lor.lhs.false19 ], [ true, %if.end40 ], [ false, %lor.lhs.false35 ], [ false, %if.end30 ], [ false, %while.body.6 ]
  ret i1 %retval.0
}

define void @fly_add_entry(ptr initializes((0, 8)) %entry1) #2 {
entry:
  %function = getelementptr inbounds nuw i8, ptr %entry1, i64 8
  %0 = load ptr, ptr %function, align 8
  %1 = ptrtoint ptr %0 to i64
  %shr.i = ashr i64 %1, 4
  %rem.i = srem i64 %shr.i, 64
  %arrayidx.i = getelementptr inbounds ptr, ptr @fly.native_replay.entries, i64 %rem.i
  %2 = load ptr, ptr %arrayidx.i, align 8
  store ptr %2, ptr %entry1, align 8
  store ptr %entry1, ptr %arrayidx.i, align 8
  ret void
}

define ptr @fly_facts(ptr readonly captures(none) %self, ptr readonly captures(none) %args, i64 %count) {
entry:
  %facts = alloca %struct.Facts, align 8
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %self, i64 32
  call void @llvm.lifetime.start.p0(ptr nonnull %facts)
  %call1 = call fastcc i1 @fly.native_replay.take_facts(ptr nonnull %add.ptr.i, ptr %args, i64 %count, ptr null, ptr %facts)
  br i1 %call1, label %cond.true, label %cond.false

cond.true:                                        ; preds = %entry
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %self, i64 400
  %0 = load i64, ptr %arrayidx.i, align 8
  %1 = inttoptr i64 %0 to ptr
  %words.i = getelementptr inbounds nuw i8, ptr %facts, i64 8
  %2 = load i64, ptr %facts, align 8
  %mul.i = shl nsw i64 %2, 3
  %call.i = call ptr %1(ptr nonnull %words.i, i64 %mul.i)
  br label %cond.end

cond.false:                                       ; preds = %entry
  %arrayidx.i3 = getelementptr inbounds nuw i8, ptr %self, i64 88
  %3 = load i64, ptr %arrayidx.i3, align 8
  %4 = inttoptr i64 %3 to ptr
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %self, i64 256
  %5 = load i64, ptr %arrayidx.i.i, align 8
  %6 = inttoptr i64 %5 to ptr
  tail call void %6(ptr %4)
  br label %cond.end

cond.end:                                         ; preds = %cond.false, %cond.true
  %cond = phi ptr [ %call.i, %cond.true ], [ %4, %cond.false ]
  call void @llvm.lifetime.end.p0(ptr nonnull %facts)
  ret ptr %cond
}

define internal fastcc i1 @fly.native_replay.take_facts(ptr readonly captures(none) %python, ptr readonly captures(none) %args, i64 %count, ptr readonly captures(address_is_null) %replay, ptr nonnull captures(none) initializes((0, 8)) %facts) {
entry:
  %facts141 = ptrtoint ptr %facts to i64
  %overflow.i96 = alloca i32, align 4
  %bytes.i = alloca i64, align 8
  %overflow.i.i65 = alloca i32, align 4
  %overflow.i = alloca i32, align 4
  %found.i37 = alloca %struct.Tensor, align 8
  %overflow.i.i = alloca i32, align 4
  %found.i = alloca %struct.Tensor, align 8
  store i64 0, ptr %facts, align 8
  %cmp = icmp sgt i64 %count, 16
  br i1 %cmp, label %return, label %for.cond.preheader

for.cond.preheader:                               ; preds = %entry
  %cmp2124 = icmp slt i64 %count, 1
  br i1 %cmp2124, label %return, label %for.body.lr.ph

for.body.lr.ph:                                   ; preds = %for.cond.preheader
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %python, i64 8
  %tobool.not = icmp ne ptr %replay, null
  %arrayidx7 = getelementptr inbounds nuw i8, ptr %python, i64 40
  %arrayidx.i38 = getelementptr inbounds nuw i8, ptr %python, i64 344
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %replay, i64 88
  %arrayidx2.i40 = getelementptr inbounds nuw i8, ptr %python, i64 336
  %arrayidx3.i = getelementptr inbounds nuw i8, ptr %replay, i64 96
  %arrayidx.i.i.i49 = getelementptr inbounds nuw i8, ptr %python, i64 208
  %offset.i55 = getelementptr inbounds nuw i8, ptr %found.i37, i64 40
  %arrayidx8.i57 = getelementptr inbounds nuw i8, ptr %python, i64 304
  %addresses.i58 = getelementptr inbounds nuw i8, ptr %facts, i64 2568
  %words.i = getelementptr inbounds nuw i8, ptr %facts, i64 8
  %arrayidx16 = getelementptr inbounds nuw i8, ptr %python, i64 48
  %arrayidx23 = getelementptr inbounds nuw i8, ptr %python, i64 32
  %arrayidx.i101 = getelementptr inbounds nuw i8, ptr %python, i64 56
  %arrayidx7.i = getelementptr inbounds nuw i8, ptr %python, i64 64
  %arrayidx10.i103 = getelementptr inbounds nuw i8, ptr %python, i64 72
  %arrayidx15.i = getelementptr inbounds nuw i8, ptr %python, i64 16
  %arrayidx22.i = getelementptr inbounds nuw i8, ptr %python, i64 24
  %arrayidx25.i106 = getelementptr inbounds nuw i8, ptr %python, i64 312
  %arrayidx.i85 = getelementptr inbounds nuw i8, ptr %python, i64 320
  %strides.i = getelementptr inbounds nuw i8, ptr %found.i, i64 32
  %rank.i = getelementptr inbounds nuw i8, ptr %found.i, i64 16
  %offset.i = getelementptr inbounds nuw i8, ptr %found.i, i64 40
  %arrayidx8.i = getelementptr inbounds nuw i8, ptr %python, i64 216
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %python, i64 264
  %arrayidx3.i.i = getelementptr inbounds nuw i8, ptr %python, i64 88
  %arrayidx.i13.i.i = getelementptr inbounds nuw i8, ptr %python, i64 232
  %dtype.i.i = getelementptr inbounds nuw i8, ptr %found.i, i64 20
  %arrayidx1.i.i = getelementptr inbounds nuw i8, ptr %python, i64 80
  %device.i = getelementptr inbounds nuw i8, ptr %found.i, i64 8
  %shape.i = getelementptr inbounds nuw i8, ptr %found.i, i64 24
  %0 = add i64 %facts141, 24
  br label %for.body

for.body:                                         ; preds = %for.body.lr.ph, %for.inc
  %i.0125 = phi i64 [ 0, %for.body.lr.ph ], [ %inc, %for.inc ]
  %arrayidx = getelementptr inbounds nuw ptr, ptr %args, i64 %i.0125
  %1 = load ptr, ptr %arrayidx, align 8
  %type3 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %2 = load ptr, ptr %type3, align 8
  %3 = ptrtoint ptr %2 to i64
  %4 = load i64, ptr %python, align 8
  %cmp.i = icmp eq i64 %4, %3
  br i1 %cmp.i, label %if.then5.thread, label %is_tensor.exit

if.then5.thread:                                  ; preds = %for.body
  call void @llvm.lifetime.start.p0(ptr nonnull %found.i)
  br label %land.rhs.i.i

is_tensor.exit:                                   ; preds = %for.body
  %5 = load i64, ptr %arrayidx2.i, align 8
  %cmp3.i = icmp eq i64 %5, %3
  br i1 %cmp3.i, label %is_tensor.exit.i.i, label %if.else

is_tensor.exit.i.i:                               ; preds = %is_tensor.exit
  call void @llvm.lifetime.start.p0(ptr nonnull %found.i)
  %6 = load i64, ptr %arrayidx2.i, align 8
  %cmp3.i.i.i = icmp eq i64 %6, %3
  br i1 %cmp3.i.i.i, label %land.rhs.i.i, label %lor.rhs.i.i

land.rhs.i.i:                                     ; preds = %if.then5.thread, %is_tensor.exit.i.i
  %7 = load ptr, ptr @fly.native_replay.tensor_memory, align 8
  %call1.i.i = call fastcc i1 @fly.native_replay.read_plain(ptr %7, ptr nonnull %1, ptr nonnull %found.i)
  br i1 %call1.i.i, label %lor.lhs.false.i, label %lor.rhs.i.i

lor.rhs.i.i:                                      ; preds = %land.rhs.i.i, %is_tensor.exit.i.i
  %8 = load i64, ptr %arrayidx.i.i.i49, align 8
  %9 = inttoptr i64 %8 to ptr
  %call.i.i.i = call i32 %9(ptr nonnull %1, ptr nonnull %found.i)
  %tobool.not.i.i.i = icmp eq i32 %call.i.i.i, 0
  br i1 %tobool.not.i.i.i, label %lor.lhs.false.i, label %read_known.exit.i

read_known.exit.i:                                ; preds = %lor.rhs.i.i
  %arrayidx.i.i.i.i = getelementptr inbounds nuw i8, ptr %python, i64 240
  %10 = load i64, ptr %arrayidx.i.i.i.i, align 8
  %11 = inttoptr i64 %10 to ptr
  call void %11()
  br label %take_tensor.exit.thread

lor.lhs.false.i:                                  ; preds = %lor.rhs.i.i, %land.rhs.i.i
  %plain.1.ph.off0.i = phi i1 [ false, %lor.rhs.i.i ], [ true, %land.rhs.i.i ]
  %12 = load ptr, ptr %strides.i, align 8
  %tobool.not.i = icmp eq ptr %12, null
  br i1 %tobool.not.i, label %take_tensor.exit.thread, label %lor.lhs.false1.i

lor.lhs.false1.i:                                 ; preds = %lor.lhs.false.i
  %13 = load i64, ptr %facts, align 8
  %add.i = add nsw i64 %13, 4
  %14 = load i32, ptr %rank.i, align 8
  %mul.i = shl i32 %14, 1
  %conv.i = zext i32 %mul.i to i64
  %add2.i = add nsw i64 %add.i, %conv.i
  %cmp.i36 = icmp sgt i64 %add2.i, 320
  br i1 %cmp.i36, label %take_tensor.exit.thread, label %if.end.i

if.end.i:                                         ; preds = %lor.lhs.false1.i
  %15 = load i64, ptr %found.i, align 8
  %16 = load i64, ptr %offset.i, align 8
  %add4.i = add i64 %16, %15
  %rem.i = and i64 %add4.i, 15
  %tobool5.not.i = icmp eq i64 %rem.i, 0
  br i1 %tobool5.not.i, label %lor.lhs.false6.i, label %take_tensor.exit.thread

lor.lhs.false6.i:                                 ; preds = %if.end.i
  %17 = load ptr, ptr %arrayidx, align 8
  %18 = load i64, ptr %arrayidx8.i, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i.i)
  %cmp.i.i = icmp ult i64 %add4.i, %18
  %tobool.i.i = icmp ne i64 %add4.i, 0
  %or.cond.i.i = and i1 %tobool.i.i, %cmp.i.i
  br i1 %or.cond.i.i, label %if.end.i.i, label %has_memory.exit.i

if.end.i.i:                                       ; preds = %lor.lhs.false6.i
  %19 = load i64, ptr %arrayidx.i.i, align 8
  %20 = inttoptr i64 %19 to ptr
  %21 = load i64, ptr %arrayidx3.i.i, align 8
  %22 = inttoptr i64 %21 to ptr
  %call.i.i = call ptr %20(ptr %22, ptr %17)
  %tobool4.not.i.i = icmp eq ptr %call.i.i, null
  br i1 %tobool4.not.i.i, label %has_memory.exit.thread.i, label %if.end7.i.i

has_memory.exit.thread.i:                         ; preds = %if.end.i.i
  %arrayidx.i.i29.i = getelementptr inbounds nuw i8, ptr %python, i64 240
  %23 = load i64, ptr %arrayidx.i.i29.i, align 8
  %24 = inttoptr i64 %23 to ptr
  call void %24()
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i.i)
  br label %take_tensor.exit.thread

if.end7.i.i:                                      ; preds = %if.end.i.i
  %25 = load i64, ptr %arrayidx8.i57, align 8
  %26 = inttoptr i64 %25 to ptr
  %call9.i.i = call i64 %26(ptr nonnull %call.i.i, ptr nonnull %overflow.i.i)
  %27 = load i64, ptr %arrayidx.i13.i.i, align 8
  %28 = inttoptr i64 %27 to ptr
  call void %28(ptr nonnull %call.i.i)
  %29 = load i32, ptr %dtype.i.i, align 4
  %shr.i.i = lshr i32 %29, 8
  %and.i.i = and i32 %shr.i.i, 255
  %conv.i.i = zext nneg i32 %and.i.i to i64
  %mul.i.i = mul i64 %call9.i.i, %conv.i.i
  %div12.i.i = lshr i64 %mul.i.i, 3
  %cmp10.i.not.i = icmp eq i64 %add4.i, %div12.i.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i.i)
  br i1 %cmp10.i.not.i, label %take_tensor.exit.thread, label %lor.lhs.false10.i

has_memory.exit.i:                                ; preds = %lor.lhs.false6.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i.i)
  br i1 %tobool.i.i, label %lor.lhs.false10.i, label %take_tensor.exit.thread

lor.lhs.false10.i:                                ; preds = %has_memory.exit.i, %if.end7.i.i
  br i1 %plain.1.ph.off0.i, label %if.end17.i, label %lor.lhs.false12.i

lor.lhs.false12.i:                                ; preds = %lor.lhs.false10.i
  %30 = load i32, ptr %dtype.i.i, align 4
  %and.i31.i = and i32 %30, 255
  %cmp.not.i.i = icmp eq i32 %and.i31.i, 2
  br i1 %cmp.not.i.i, label %if.end.i33.i, label %if.end17.i

if.end.i33.i:                                     ; preds = %lor.lhs.false12.i
  %31 = load ptr, ptr %arrayidx, align 8
  %32 = load i64, ptr %arrayidx.i.i, align 8
  %33 = inttoptr i64 %32 to ptr
  %34 = load i64, ptr %arrayidx1.i.i, align 8
  %35 = inttoptr i64 %34 to ptr
  %call.i35.i = call ptr %33(ptr %35, ptr %31)
  %tobool.not.i.i = icmp eq ptr %call.i35.i, null
  br i1 %tobool.not.i.i, label %is_plain.exit.thread41.i, label %is_plain.exit.i

is_plain.exit.thread41.i:                         ; preds = %if.end.i33.i
  %arrayidx.i.i36.i = getelementptr inbounds nuw i8, ptr %python, i64 240
  %36 = load i64, ptr %arrayidx.i.i36.i, align 8
  %37 = inttoptr i64 %36 to ptr
  call void %37()
  br label %take_tensor.exit.thread

is_plain.exit.i:                                  ; preds = %if.end.i33.i
  %38 = load i64, ptr %arrayidx.i13.i.i, align 8
  %39 = inttoptr i64 %38 to ptr
  call void %39(ptr nonnull %call.i35.i)
  %40 = load i64, ptr %arrayidx10.i103, align 8
  %41 = inttoptr i64 %40 to ptr
  %cmp6.i.i = icmp eq ptr %call.i35.i, %41
  br i1 %cmp6.i.i, label %if.end17.i, label %take_tensor.exit.thread

if.end17.i:                                       ; preds = %is_plain.exit.i, %lor.lhs.false12.i, %lor.lhs.false10.i
  %42 = load i64, ptr %facts, align 8
  %43 = load ptr, ptr %arrayidx, align 8
  br label %while.cond.i

while.cond.i:                                     ; preds = %while.cond.i, %if.end17.i
  %twin.0.i = phi i64 [ 0, %if.end17.i ], [ %inc.i, %while.cond.i ]
  %arrayidx20.i = getelementptr inbounds nuw ptr, ptr %args, i64 %twin.0.i
  %44 = load ptr, ptr %arrayidx20.i, align 8
  %cmp22.not.i = icmp eq ptr %44, %43
  %inc.i = add nuw nsw i64 %twin.0.i, 1
  br i1 %cmp22.not.i, label %while.end.i, label %while.cond.i

while.end.i:                                      ; preds = %while.cond.i
  %add.ptr.i = getelementptr inbounds i64, ptr %words.i, i64 %42
  %arrayidx24.i = getelementptr inbounds nuw i64, ptr %addresses.i58, i64 %i.0125
  store i64 %add4.i, ptr %arrayidx24.i, align 8
  %45 = load i32, ptr %rank.i, align 8
  %conv26.i = zext i32 %45 to i64
  store i64 %conv26.i, ptr %add.ptr.i, align 8
  %46 = load i32, ptr %dtype.i.i, align 4
  %conv28.i = zext i32 %46 to i64
  %arrayidx29.i = getelementptr inbounds nuw i8, ptr %add.ptr.i, i64 8
  store i64 %conv28.i, ptr %arrayidx29.i, align 8
  %47 = load i64, ptr %device.i, align 8
  %arrayidx30.i = getelementptr inbounds nuw i8, ptr %add.ptr.i, i64 16
  store i64 %47, ptr %arrayidx30.i, align 8
  %arrayidx31.i = getelementptr inbounds nuw i8, ptr %add.ptr.i, i64 24
  store i64 %twin.0.i, ptr %arrayidx31.i, align 8
  %cmp3443.not.i = icmp eq i32 %45, 0
  br i1 %cmp3443.not.i, label %take_tensor.exit, label %for.body.lr.ph.i

for.body.lr.ph.i:                                 ; preds = %while.end.i
  %48 = load ptr, ptr %shape.i, align 8
  %49 = load ptr, ptr %strides.i, align 8
  br label %for.body.i

for.body.i:                                       ; preds = %for.body.i, %for.body.lr.ph.i
  %i.044.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %inc45.i, %for.body.i ]
  %arrayidx36.i = getelementptr inbounds nuw i64, ptr %48, i64 %i.044.i
  %50 = load i64, ptr %arrayidx36.i, align 8
  %.idx.i = shl nuw nsw i64 %i.044.i, 4
  %51 = getelementptr inbounds nuw i8, ptr %add.ptr.i, i64 %.idx.i
  %arrayidx39.i = getelementptr inbounds nuw i8, ptr %51, i64 32
  store i64 %50, ptr %arrayidx39.i, align 8
  %arrayidx41.i = getelementptr inbounds nuw i64, ptr %49, i64 %i.044.i
  %52 = load i64, ptr %arrayidx41.i, align 8
  %arrayidx44.i = getelementptr inbounds nuw i8, ptr %51, i64 40
  store i64 %52, ptr %arrayidx44.i, align 8
  %inc45.i = add nuw nsw i64 %i.044.i, 1
  %exitcond.not.i = icmp eq i64 %inc45.i, %conv26.i
  br i1 %exitcond.not.i, label %take_tensor.exit, label %for.body.i

take_tensor.exit.thread:                          ; preds = %lor.lhs.false1.i, %lor.lhs.false.i, %is_plain.exit.i, %has_memory.exit.i, %if.end.i, %if.end7.i.i, %read_known.exit.i, %has_memory.exit.thread.i, %is_plain.exit.thread41.i
  call void @llvm.lifetime.end.p0(ptr nonnull %found.i)
  br label %return

take_tensor.exit:                                 ; preds = %for.body.i, %while.end.i
  %mul48.i = shl nuw nsw i64 %conv26.i, 1
  %add49.i = add nuw nsw i64 %mul48.i, 4
  %53 = load i64, ptr %facts, align 8
  %add51.i = add nsw i64 %add49.i, %53
  store i64 %add51.i, ptr %facts, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %found.i)
  br label %for.inc

if.else:                                          ; preds = %is_tensor.exit
  %.pre = load i64, ptr %arrayidx7, align 8
  %cmp8 = icmp eq i64 %.pre, %3
  %or.cond = select i1 %tobool.not, i1 %cmp8, i1 false
  br i1 %or.cond, label %if.then9, label %if.else13

if.then9:                                         ; preds = %if.else
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i)
  call void @llvm.lifetime.start.p0(ptr nonnull %found.i37)
  %54 = load i64, ptr %arrayidx.i38, align 8
  %55 = inttoptr i64 %54 to ptr
  %56 = load i64, ptr %arrayidx1.i, align 8
  %add.ptr.i39 = getelementptr inbounds i64, ptr %replay, i64 %56
  %57 = load i64, ptr %arrayidx2.i40, align 8
  %58 = inttoptr i64 %57 to ptr
  %call.i = call i64 %58(ptr nonnull %1)
  %cmp.not.i = icmp eq i64 %call.i, 2
  br i1 %cmp.not.i, label %lor.lhs.false.i42, label %if.end36.thread115

lor.lhs.false.i42:                                ; preds = %if.then9
  %59 = load i64, ptr %facts, align 8
  %60 = load i64, ptr %arrayidx3.i, align 8
  %cmp4.not.i = icmp slt i64 %59, %60
  br i1 %cmp4.not.i, label %lor.lhs.false5.i, label %if.end36.thread115

lor.lhs.false5.i:                                 ; preds = %lor.lhs.false.i42
  %call6.i = call ptr %55(ptr nonnull %1, i64 0)
  %type.i.i.i43 = getelementptr inbounds nuw i8, ptr %call6.i, i64 8
  %61 = load ptr, ptr %type.i.i.i43, align 8
  %62 = ptrtoint ptr %61 to i64
  %63 = load i64, ptr %python, align 8
  %cmp.i.i.i44 = icmp eq i64 %63, %62
  br i1 %cmp.i.i.i44, label %land.rhs.i.i63, label %is_tensor.exit.i.i45

is_tensor.exit.i.i45:                             ; preds = %lor.lhs.false5.i
  %64 = load i64, ptr %arrayidx2.i, align 8
  %cmp3.i.i.i47 = icmp eq i64 %64, %62
  br i1 %cmp3.i.i.i47, label %land.rhs.i.i63, label %lor.rhs.i.i48

land.rhs.i.i63:                                   ; preds = %is_tensor.exit.i.i45, %lor.lhs.false5.i
  %65 = load ptr, ptr @fly.native_replay.tensor_memory, align 8
  %call1.i.i64 = call fastcc i1 @fly.native_replay.read_plain(ptr %65, ptr nonnull %call6.i, ptr nonnull %found.i37)
  br i1 %call1.i.i64, label %if.end.i54, label %lor.rhs.i.i48

lor.rhs.i.i48:                                    ; preds = %land.rhs.i.i63, %is_tensor.exit.i.i45
  %66 = load i64, ptr %arrayidx.i.i.i49, align 8
  %67 = inttoptr i64 %66 to ptr
  %call.i.i.i50 = call i32 %67(ptr nonnull %call6.i, ptr nonnull %found.i37)
  %tobool.not.i.i.i51 = icmp eq i32 %call.i.i.i50, 0
  br i1 %tobool.not.i.i.i51, label %if.end.i54, label %read_known.exit.i52

read_known.exit.i52:                              ; preds = %lor.rhs.i.i48
  %arrayidx.i.i.i.i53 = getelementptr inbounds nuw i8, ptr %python, i64 240
  %68 = load i64, ptr %arrayidx.i.i.i.i53, align 8
  %69 = inttoptr i64 %68 to ptr
  call void %69()
  br label %if.end36.thread115

if.end.i54:                                       ; preds = %lor.rhs.i.i48, %land.rhs.i.i63
  %70 = load i64, ptr %found.i37, align 8
  %71 = load i64, ptr %offset.i55, align 8
  %add.i56 = add i64 %71, %70
  %72 = load i64, ptr %arrayidx8.i57, align 8
  %73 = inttoptr i64 %72 to ptr
  %call9.i = call ptr %55(ptr nonnull %1, i64 1)
  %call10.i = call i64 %73(ptr %call9.i, ptr nonnull %overflow.i)
  %add11.i = add i64 %add.i56, %call10.i
  %arrayidx12.i = getelementptr inbounds nuw i64, ptr %addresses.i58, i64 %i.0125
  store i64 %add11.i, ptr %arrayidx12.i, align 8
  %74 = load i64, ptr %facts, align 8
  %add14.i = add nsw i64 %74, 4
  %arrayidx16.i = getelementptr inbounds i64, ptr %add.ptr.i39, i64 %74
  %75 = load i64, ptr %arrayidx16.i, align 8
  %mul.i59 = shl nsw i64 %75, 1
  %add17.i = add nsw i64 %add14.i, %mul.i59
  %76 = load i64, ptr %arrayidx3.i, align 8
  %cmp19.not.i = icmp sgt i64 %add17.i, %76
  br i1 %cmp19.not.i, label %if.end36.thread115, label %for.cond.preheader.i

for.cond.preheader.i:                             ; preds = %if.end.i54
  %cmp2320.i = icmp slt i64 %74, %add17.i
  br i1 %cmp2320.i, label %for.body.i61, label %if.end36

for.body.i61:                                     ; preds = %for.cond.preheader.i, %for.body.i61
  %77 = phi i64 [ %inc.i62, %for.body.i61 ], [ %74, %for.cond.preheader.i ]
  %arrayidx25.i = getelementptr inbounds i64, ptr %add.ptr.i39, i64 %77
  %78 = load i64, ptr %arrayidx25.i, align 8
  %arrayidx27.i = getelementptr inbounds i64, ptr %words.i, i64 %77
  store i64 %78, ptr %arrayidx27.i, align 8
  %79 = load i64, ptr %facts, align 8
  %inc.i62 = add nsw i64 %79, 1
  store i64 %inc.i62, ptr %facts, align 8
  %cmp23.i = icmp slt i64 %inc.i62, %add17.i
  br i1 %cmp23.i, label %for.body.i61, label %if.end36

if.else13:                                        ; preds = %if.else
  %cmp15 = icmp eq i64 %.pre, %3
  br i1 %cmp15, label %if.then18, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %if.else13
  %80 = load i64, ptr %arrayidx16, align 8
  %cmp17 = icmp eq i64 %80, %3
  br i1 %cmp17, label %if.then18, label %if.else22

if.then18:                                        ; preds = %lor.lhs.false, %if.else13
  %81 = load i64, ptr %arrayidx2.i40, align 8
  %82 = inttoptr i64 %81 to ptr
  %call.i67 = call i64 %82(ptr nonnull %1)
  %83 = load i64, ptr %facts, align 8
  %cmp.i68 = icmp sgt i64 %83, 318
  br i1 %cmp.i68, label %return, label %if.end.i69

if.end.i69:                                       ; preds = %if.then18
  %add.ptr.i70 = getelementptr inbounds i64, ptr %words.i, i64 %83
  store i64 -4, ptr %add.ptr.i70, align 8
  %arrayidx5.i = getelementptr inbounds nuw i8, ptr %add.ptr.i70, i64 8
  store i64 %call.i67, ptr %arrayidx5.i, align 8
  %84 = load i64, ptr %facts, align 8
  %add7.i = add nsw i64 %84, 2
  store i64 %add7.i, ptr %facts, align 8
  %cmp8.not16.i = icmp slt i64 %call.i67, 1
  br i1 %cmp8.not16.i, label %for.inc, label %for.body.i73

for.body.i73:                                     ; preds = %if.end.i69, %for.inc.i
  %i.017.i = phi i64 [ %inc.i79, %for.inc.i ], [ 0, %if.end.i69 ]
  %85 = load i64, ptr %arrayidx.i38, align 8
  %86 = inttoptr i64 %85 to ptr
  %call10.i74 = call ptr %86(ptr %1, i64 %i.017.i)
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i.i65)
  %type1.i.i = getelementptr inbounds nuw i8, ptr %call10.i74, i64 8
  %87 = load ptr, ptr %type1.i.i, align 8
  %88 = ptrtoint ptr %87 to i64
  %89 = load i64, ptr %facts, align 8
  %add.ptr.i.i = getelementptr inbounds i64, ptr %words.i, i64 %89
  %90 = ptrtoint ptr %call10.i74 to i64
  %cmp.i.i75 = icmp sgt i64 %89, 318
  br i1 %cmp.i.i75, label %take_plain.exit.thread14.i, label %if.end.i.i76

if.end.i.i76:                                     ; preds = %for.body.i73
  %add.i.i = add nsw i64 %89, 2
  store i64 %add.i.i, ptr %facts, align 8
  %91 = load i64, ptr %arrayidx.i101, align 8
  %cmp6.i.i77 = icmp eq i64 %91, %90
  br i1 %cmp6.i.i77, label %if.then12.i.i, label %lor.lhs.false.i.i

lor.lhs.false.i.i:                                ; preds = %if.end.i.i76
  %92 = load i64, ptr %arrayidx7.i, align 8
  %cmp8.i.i = icmp eq i64 %92, %90
  br i1 %cmp8.i.i, label %if.then12.i.i, label %lor.lhs.false9.i.i

lor.lhs.false9.i.i:                               ; preds = %lor.lhs.false.i.i
  %93 = load i64, ptr %arrayidx10.i103, align 8
  %cmp11.i.i = icmp eq i64 %93, %90
  br i1 %cmp11.i.i, label %if.then12.i.i, label %if.else.i.i

if.then12.i.i:                                    ; preds = %lor.lhs.false9.i.i, %lor.lhs.false.i.i, %if.end.i.i76
  store i64 -3, ptr %add.ptr.i.i, align 8
  %arrayidx14.i.i = getelementptr inbounds nuw i8, ptr %add.ptr.i.i, i64 8
  store i64 %90, ptr %arrayidx14.i.i, align 8
  br label %take_plain.exit.thread.i

if.else.i.i:                                      ; preds = %lor.lhs.false9.i.i
  %94 = load i64, ptr %arrayidx15.i, align 8
  %cmp16.i.i = icmp eq i64 %94, %88
  br i1 %cmp16.i.i, label %take_plain.exit.i, label %if.else21.i.i

if.else21.i.i:                                    ; preds = %if.else.i.i
  %95 = load i64, ptr %arrayidx22.i, align 8
  %cmp23.i.i = icmp eq i64 %95, %88
  br i1 %cmp23.i.i, label %if.then24.i.i, label %take_plain.exit.thread14.i

if.then24.i.i:                                    ; preds = %if.else21.i.i
  %96 = load i64, ptr %arrayidx25.i106, align 8
  %97 = inttoptr i64 %96 to ptr
  %call26.i.i = call double %97(ptr nonnull %call10.i74)
  store i64 -2, ptr %add.ptr.i.i, align 8
  %arrayidx28.i.i = getelementptr inbounds nuw i8, ptr %add.ptr.i.i, i64 8
  store double %call26.i.i, ptr %arrayidx28.i.i, align 8
  br label %take_plain.exit.thread.i

take_plain.exit.thread.i:                         ; preds = %if.then24.i.i, %if.then12.i.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i.i65)
  br label %for.inc.i

take_plain.exit.thread14.i:                       ; preds = %if.else21.i.i, %for.body.i73
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i.i65)
  br label %return

take_plain.exit.i:                                ; preds = %if.else.i.i
  store i64 -1, ptr %add.ptr.i.i, align 8
  %98 = load i64, ptr %arrayidx8.i57, align 8
  %99 = inttoptr i64 %98 to ptr
  %call.i.i81 = call i64 %99(ptr nonnull %call10.i74, ptr nonnull %overflow.i.i65)
  %arrayidx20.i.i = getelementptr inbounds nuw i8, ptr %add.ptr.i.i, i64 8
  store i64 %call.i.i81, ptr %arrayidx20.i.i, align 8
  %100 = load i32, ptr %overflow.i.i65, align 4
  %tobool.not.i.i82 = icmp eq i32 %100, 0
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i.i65)
  br i1 %tobool.not.i.i82, label %for.inc.i, label %return

for.inc.i:                                        ; preds = %take_plain.exit.i, %take_plain.exit.thread.i
  %inc.i79 = add nuw nsw i64 %i.017.i, 1
  %exitcond.not.i80 = icmp eq i64 %inc.i79, %call.i67
  br i1 %exitcond.not.i80, label %for.inc, label %for.body.i73

if.else22:                                        ; preds = %lor.lhs.false
  %101 = load i64, ptr %arrayidx23, align 8
  %cmp24 = icmp eq i64 %101, %3
  br i1 %cmp24, label %if.then25, label %if.else29

if.then25:                                        ; preds = %if.else22
  call void @llvm.lifetime.start.p0(ptr nonnull %bytes.i)
  %102 = load i64, ptr %facts, align 8
  %add.ptr.i84 = getelementptr inbounds i64, ptr %words.i, i64 %102
  %103 = load i64, ptr %arrayidx.i85, align 8
  %104 = inttoptr i64 %103 to ptr
  %call.i86 = call ptr %104(ptr nonnull %1, ptr nonnull %bytes.i)
  %call.i86142 = ptrtoint ptr %call.i86 to i64
  %tobool.not.i87 = icmp eq ptr %call.i86, null
  br i1 %tobool.not.i87, label %if.then.i, label %if.end.i88

if.then.i:                                        ; preds = %if.then25
  %arrayidx.i.i95 = getelementptr inbounds nuw i8, ptr %python, i64 240
  %105 = load i64, ptr %arrayidx.i.i95, align 8
  %106 = inttoptr i64 %105 to ptr
  call void %106()
  br label %take_text.exit.thread

if.end.i88:                                       ; preds = %if.then25
  %107 = load i64, ptr %bytes.i, align 8
  %add.i89 = add nsw i64 %107, 7
  %div.i = sdiv i64 %add.i89, 8
  %add4.i90 = add nsw i64 %div.i, 2
  %108 = load i64, ptr %facts, align 8
  %add6.i = add nsw i64 %add4.i90, %108
  %cmp.i91 = icmp slt i64 %add6.i, 321
  br i1 %cmp.i91, label %if.end8.i, label %take_text.exit.thread

if.end8.i:                                        ; preds = %if.end.i88
  store i64 -5, ptr %add.ptr.i84, align 8
  %arrayidx10.i = getelementptr inbounds nuw i8, ptr %add.ptr.i84, i64 8
  store i64 %107, ptr %arrayidx10.i, align 8
  %cmp1116.i = icmp sgt i64 %107, 0
  br i1 %cmp1116.i, label %for.body17.lr.ph.i, label %take_text.exit

for.body17.lr.ph.i:                               ; preds = %if.end8.i
  %109 = shl i64 %102, 3
  %110 = getelementptr i8, ptr %facts, i64 %109
  %scevgep.i = getelementptr i8, ptr %110, i64 24
  %smax.i = call i64 @llvm.smax.i64(i64 %add4.i90, i64 3)
  %111 = shl nuw i64 %smax.i, 3
  %112 = add i64 %111, -16
  call void @llvm.memset.p0.i64(ptr align 8 %scevgep.i, i8 0, i64 %112, i1 false)
  %add.ptr19.i = getelementptr inbounds nuw i8, ptr %add.ptr.i84, i64 16
  %min.iters.check = icmp ult i64 %107, 4
  br i1 %min.iters.check, label %for.body17.i.preheader, label %vector.memcheck

vector.memcheck:                                  ; preds = %for.body17.lr.ph.i
  %113 = add i64 %0, %109
  %114 = sub i64 %113, %call.i86142
  %diff.check = icmp ult i64 %114, 4
  br i1 %diff.check, label %for.body17.i.preheader, label %vector.ph

vector.ph:                                        ; preds = %vector.memcheck
  %n.vec = and i64 %107, 9223372036854775804
  br label %vector.body

vector.body:                                      ; preds = %vector.body, %vector.ph
  %index = phi i64 [ 0, %vector.ph ], [ %index.next, %vector.body ]
  %115 = getelementptr inbounds nuw i8, ptr %call.i86, i64 %index
  %wide.load = load <4 x i8>, ptr %115, align 1
  %116 = getelementptr inbounds nuw i8, ptr %add.ptr19.i, i64 %index
  store <4 x i8> %wide.load, ptr %116, align 1
  %index.next = add nuw i64 %index, 4
  %117 = icmp eq i64 %index.next, %n.vec
  br i1 %117, label %middle.block, label %vector.body

middle.block:                                     ; preds = %vector.body
  %cmp.n = icmp eq i64 %107, %n.vec
  br i1 %cmp.n, label %take_text.exit, label %for.body17.i.preheader

for.body17.i.preheader:                           ; preds = %vector.memcheck, %for.body17.lr.ph.i, %middle.block
  %i13.019.i.ph = phi i64 [ 0, %vector.memcheck ], [ 0, %for.body17.lr.ph.i ], [ %n.vec, %middle.block ]
  br label %for.body17.i

for.body17.i:                                     ; preds = %for.body17.i.preheader, %for.body17.i
  %i13.019.i = phi i64 [ %inc22.i, %for.body17.i ], [ %i13.019.i.ph, %for.body17.i.preheader ]
  %arrayidx18.i = getelementptr inbounds nuw i8, ptr %call.i86, i64 %i13.019.i
  %118 = load i8, ptr %arrayidx18.i, align 1
  %arrayidx20.i93 = getelementptr inbounds nuw i8, ptr %add.ptr19.i, i64 %i13.019.i
  store i8 %118, ptr %arrayidx20.i93, align 1
  %inc22.i = add nuw nsw i64 %i13.019.i, 1
  %exitcond.not.i94 = icmp eq i64 %inc22.i, %107
  br i1 %exitcond.not.i94, label %take_text.exit, label %for.body17.i

take_text.exit.thread:                            ; preds = %if.end.i88, %if.then.i
  call void @llvm.lifetime.end.p0(ptr nonnull %bytes.i)
  br label %return

take_text.exit:                                   ; preds = %for.body17.i, %middle.block, %if.end8.i
  %119 = load i64, ptr %facts, align 8
  %add25.i = add nsw i64 %119, %add4.i90
  store i64 %add25.i, ptr %facts, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %bytes.i)
  br label %for.inc

if.else29:                                        ; preds = %if.else22
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i96)
  %120 = load i64, ptr %facts, align 8
  %add.ptr.i97 = getelementptr inbounds i64, ptr %words.i, i64 %120
  %121 = ptrtoint ptr %1 to i64
  %cmp.i98 = icmp sgt i64 %120, 318
  br i1 %cmp.i98, label %take_plain.exit.thread121, label %if.end.i99

if.end.i99:                                       ; preds = %if.else29
  %add.i100 = add nsw i64 %120, 2
  store i64 %add.i100, ptr %facts, align 8
  %122 = load i64, ptr %arrayidx.i101, align 8
  %cmp6.i = icmp eq i64 %122, %121
  br i1 %cmp6.i, label %if.then12.i, label %lor.lhs.false.i102

lor.lhs.false.i102:                               ; preds = %if.end.i99
  %123 = load i64, ptr %arrayidx7.i, align 8
  %cmp8.i = icmp eq i64 %123, %121
  br i1 %cmp8.i, label %if.then12.i, label %lor.lhs.false9.i

lor.lhs.false9.i:                                 ; preds = %lor.lhs.false.i102
  %124 = load i64, ptr %arrayidx10.i103, align 8
  %cmp11.i = icmp eq i64 %124, %121
  br i1 %cmp11.i, label %if.then12.i, label %if.else.i

if.then12.i:                                      ; preds = %lor.lhs.false9.i, %lor.lhs.false.i102, %if.end.i99
  store i64 -3, ptr %add.ptr.i97, align 8
  %arrayidx14.i = getelementptr inbounds nuw i8, ptr %add.ptr.i97, i64 8
  store i64 %121, ptr %arrayidx14.i, align 8
  br label %take_plain.exit.thread

if.else.i:                                        ; preds = %lor.lhs.false9.i
  %125 = load i64, ptr %arrayidx15.i, align 8
  %cmp16.i = icmp eq i64 %125, %3
  br i1 %cmp16.i, label %take_plain.exit, label %if.else21.i

if.else21.i:                                      ; preds = %if.else.i
  %126 = load i64, ptr %arrayidx22.i, align 8
  %cmp23.i104 = icmp eq i64 %126, %3
  br i1 %cmp23.i104, label %if.then24.i, label %take_plain.exit.thread121

if.then24.i:                                      ; preds = %if.else21.i
  %127 = load i64, ptr %arrayidx25.i106, align 8
  %128 = inttoptr i64 %127 to ptr
  %call26.i = call double %128(ptr nonnull %1)
  store i64 -2, ptr %add.ptr.i97, align 8
  %arrayidx28.i = getelementptr inbounds nuw i8, ptr %add.ptr.i97, i64 8
  store double %call26.i, ptr %arrayidx28.i, align 8
  br label %take_plain.exit.thread

take_plain.exit.thread:                           ; preds = %if.then24.i, %if.then12.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i96)
  br label %for.inc

take_plain.exit.thread121:                        ; preds = %if.else29, %if.else21.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i96)
  br label %return

take_plain.exit:                                  ; preds = %if.else.i
  store i64 -1, ptr %add.ptr.i97, align 8
  %129 = load i64, ptr %arrayidx8.i57, align 8
  %130 = inttoptr i64 %129 to ptr
  %call.i107 = call i64 %130(ptr nonnull %1, ptr nonnull %overflow.i96)
  %arrayidx20.i108 = getelementptr inbounds nuw i8, ptr %add.ptr.i97, i64 8
  store i64 %call.i107, ptr %arrayidx20.i108, align 8
  %131 = load i32, ptr %overflow.i96, align 4
  %tobool.not.i109 = icmp eq i32 %131, 0
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i96)
  br i1 %tobool.not.i109, label %for.inc, label %return

if.end36.thread115:                               ; preds = %if.then9, %lor.lhs.false.i42, %if.end.i54, %read_known.exit.i52
  call void @llvm.lifetime.end.p0(ptr nonnull %found.i37)
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br label %return

if.end36:                                         ; preds = %for.body.i61, %for.cond.preheader.i
  call void @llvm.lifetime.end.p0(ptr nonnull %found.i37)
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br label %for.inc

for.inc:                                          ; preds = %for.inc.i, %if.end.i69, %take_plain.exit.thread, %take_text.exit, %take_tensor.exit, %if.end36, %take_plain.exit
  %inc = add nuw nsw i64 %i.0125, 1
  %exitcond.not = icmp eq i64 %inc, %count
  br i1 %exitcond.not, label %return, label %for.body

return:                                           ; preds = %if.then18, %take_plain.exit, %for.inc, %take_plain.exit.i, %for.cond.preheader, %if.end36.thread115, %take_tensor.exit.thread, %take_text.exit.thread, %take_plain.exit.thread121, %take_plain.exit.thread14.i, %entry
  %retval.0 = phi i1 [ false, %entry ], [ false, %if.end36.thread115 ], [ false, %take_plain.exit.thread14.i ], [ true, %for.cond.preheader ], [ false, %take_plain.exit.thread121 ], [ false, %take_text.exit.thread ], [ false, %take_tensor.exit.thread ], [ false, %take_plain.exit.i ], [ false, %if.then18 ], [ false, %take_plain.exit ], [ true, %for.inc ]
  ret i1 %retval.0
}

define ptr @fly_replay(ptr readonly captures(address_is_null) %self, ptr readonly captures(none) %args, i64 %count) {
entry:
  %facts.i = alloca %struct.Facts, align 8
  %saved = alloca %struct.Saved, align 8
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %self, i64 32
  %0 = load i64, ptr %add.ptr.i, align 8
  %1 = inttoptr i64 %0 to ptr
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %self, i64 80
  %2 = load i64, ptr %arrayidx1, align 8
  %cmp = icmp sgt i64 %2, -1
  call void @llvm.lifetime.start.p0(ptr nonnull %saved)
  call void @llvm.memset.p0.i64(ptr nonnull align 8 dereferenceable(24) %saved, i8 0, i64 24, i1 false)
  %saved. = select i1 %cmp, ptr %saved, ptr null
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %self, i64 120
  %3 = load i64, ptr %arrayidx.i, align 8
  %add.ptr.i9 = getelementptr inbounds i64, ptr %add.ptr.i, i64 %3
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %self, i64 128
  %4 = load i64, ptr %arrayidx1.i, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %facts.i)
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %self, i64 40
  %5 = load i64, ptr %arrayidx2.i, align 8
  %cmp.not.i = icmp eq i64 %count, %5
  br i1 %cmp.not.i, label %lor.lhs.false.i, label %cond.false8.thread

lor.lhs.false.i:                                  ; preds = %entry
  %call.i = call fastcc i1 @fly.native_replay.take_facts(ptr readonly %1, ptr readonly %args, i64 %count, ptr nonnull readonly %add.ptr.i, ptr %facts.i)
  %6 = load i64, ptr %facts.i, align 8
  %cmp5.not.i = icmp eq i64 %6, %4
  %or.cond.i = select i1 %call.i, i1 %cmp5.not.i, i1 false
  br i1 %or.cond.i, label %for.cond.preheader.i, label %cond.false8.thread

for.cond.preheader.i:                             ; preds = %lor.lhs.false.i
  %cmp6.not13.i = icmp sgt i64 %4, 0
  br i1 %cmp6.not13.i, label %for.body.lr.ph.i, label %replayed.exit

for.body.lr.ph.i:                                 ; preds = %for.cond.preheader.i
  %words.i = getelementptr inbounds nuw i8, ptr %facts.i, i64 8
  br label %for.body.i

for.cond.i:                                       ; preds = %for.body.i
  %inc.i = add nuw nsw i64 %i.014.i, 1
  %exitcond.not.i = icmp eq i64 %inc.i, %4
  br i1 %exitcond.not.i, label %replayed.exit, label %for.body.i

for.body.i:                                       ; preds = %for.cond.i, %for.body.lr.ph.i
  %i.014.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %inc.i, %for.cond.i ]
  %arrayidx7.i = getelementptr inbounds nuw i64, ptr %words.i, i64 %i.014.i
  %7 = load i64, ptr %arrayidx7.i, align 8
  %arrayidx8.i = getelementptr inbounds nuw i64, ptr %add.ptr.i9, i64 %i.014.i
  %8 = load i64, ptr %arrayidx8.i, align 8
  %cmp9.not.i = icmp eq i64 %7, %8
  br i1 %cmp9.not.i, label %for.cond.i, label %cond.false8.thread

cond.false8.thread:                               ; preds = %for.body.i, %entry, %lor.lhs.false.i
  call void @llvm.lifetime.end.p0(ptr nonnull %facts.i)
  br label %lor.lhs.false.i16

replayed.exit:                                    ; preds = %for.cond.i, %for.cond.preheader.i
  %addresses.i = getelementptr inbounds nuw i8, ptr %facts.i, i64 2568
  %call12.i = call fastcc ptr @fly.native_replay.run(ptr readonly %1, ptr nonnull readonly %add.ptr.i, ptr readonly %args, ptr nonnull %addresses.i, ptr %saved.)
  %stock.phi.trans.insert = getelementptr inbounds nuw i8, ptr %saved, i64 8
  %.pre = load ptr, ptr %stock.phi.trans.insert, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %facts.i)
  %tobool.not = icmp eq ptr %.pre, null
  br i1 %tobool.not, label %if.end, label %if.then

if.then:                                          ; preds = %replayed.exit
  %arrayidx.i10 = getelementptr inbounds nuw i8, ptr %1, i64 232
  %9 = load i64, ptr %arrayidx.i10, align 8
  %10 = inttoptr i64 %9 to ptr
  call void %10(ptr nonnull %.pre)
  br label %if.end

if.end:                                           ; preds = %if.then, %replayed.exit
  %tobool4 = icmp ne ptr %call12.i, null
  %or.cond = select i1 %tobool4, i1 %cmp, i1 false
  br i1 %or.cond, label %cond.true6, label %cond.false8

cond.true6:                                       ; preds = %if.end
  %11 = load ptr, ptr %saved, align 8
  %arrayidx.i11 = getelementptr inbounds nuw i8, ptr %1, i64 352
  %12 = load i64, ptr %arrayidx.i11, align 8
  %13 = inttoptr i64 %12 to ptr
  %call.i12 = call ptr %13(i64 2)
  %tobool.not.i = icmp eq ptr %call.i12, null
  br i1 %tobool.not.i, label %if.then.i, label %if.end.i

if.then.i:                                        ; preds = %cond.true6
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %1, i64 232
  %14 = load i64, ptr %arrayidx.i.i, align 8
  %15 = inttoptr i64 %14 to ptr
  call void %15(ptr nonnull %call12.i)
  %16 = load i64, ptr %arrayidx.i.i, align 8
  %17 = inttoptr i64 %16 to ptr
  call void %17(ptr %11)
  br label %cond.end10

if.end.i:                                         ; preds = %cond.true6
  %arrayidx1.i13 = getelementptr inbounds nuw i8, ptr %1, i64 360
  %18 = load i64, ptr %arrayidx1.i13, align 8
  %19 = inttoptr i64 %18 to ptr
  %call2.i = call i32 %19(ptr nonnull %call.i12, i64 0, ptr nonnull %call12.i)
  %20 = load i64, ptr %arrayidx1.i13, align 8
  %21 = inttoptr i64 %20 to ptr
  %call4.i = call i32 %21(ptr nonnull %call.i12, i64 1, ptr %11)
  br label %cond.end10

cond.false8:                                      ; preds = %if.end
  %tobool.not.i14 = icmp eq ptr %call12.i, null
  br i1 %tobool.not.i14, label %lor.lhs.false.i16, label %cond.end10

lor.lhs.false.i16:                                ; preds = %cond.false8.thread, %cond.false8
  %arrayidx.i17 = getelementptr inbounds nuw i8, ptr %1, i64 248
  %22 = load i64, ptr %arrayidx.i17, align 8
  %23 = inttoptr i64 %22 to ptr
  %call.i18 = call ptr %23()
  %tobool1.not.i = icmp eq ptr %call.i18, null
  br i1 %tobool1.not.i, label %if.end.i19, label %cond.end10

if.end.i19:                                       ; preds = %lor.lhs.false.i16
  %arrayidx.i.i20 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %24 = load i64, ptr %arrayidx.i.i20, align 8
  %25 = inttoptr i64 %24 to ptr
  %arrayidx.i.i.i = getelementptr inbounds nuw i8, ptr %1, i64 224
  %26 = load i64, ptr %arrayidx.i.i.i, align 8
  %27 = inttoptr i64 %26 to ptr
  call void %27(ptr %25)
  br label %cond.end10

cond.end10:                                       ; preds = %if.end.i19, %lor.lhs.false.i16, %cond.false8, %if.end.i, %if.then.i
  %cond11 = phi ptr [ %call.i12, %if.end.i ], [ null, %if.then.i ], [ %25, %if.end.i19 ], [ null, %lor.lhs.false.i16 ], [ %call12.i, %cond.false8 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %saved)
  ret ptr %cond11
}

define ptr @fly_forward(ptr readonly captures(none) %self, ptr readonly captures(none) %args, i64 %count) {
entry:
  %saved = alloca %struct.Saved, align 8
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %self, i64 32
  %0 = load i64, ptr %add.ptr.i, align 8
  %1 = inttoptr i64 %0 to ptr
  %2 = load i64, ptr %1, align 8
  %3 = inttoptr i64 %2 to ptr
  %call2.sroa.0.0.copyload = load ptr, ptr @fly.native_replay.handed, align 8
  %call2.sroa.4.0.copyload = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), align 8
  %call2.sroa.6.0.copyload = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 16), align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %saved)
  call void @llvm.memset.p0.i64(ptr nonnull align 8 dereferenceable(24) %saved, i8 0, i64 24, i1 false)
  %tobool.not = icmp eq ptr %call2.sroa.4.0.copyload, null
  br i1 %tobool.not, label %if.then, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %entry
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %3, i64 400
  %4 = load i64, ptr %arrayidx4, align 8
  %5 = inttoptr i64 %4 to ptr
  %call5 = tail call ptr %5()
  %cmp.not = icmp eq ptr %call2.sroa.0.0.copyload, %call5
  br i1 %cmp.not, label %if.end, label %if.then

if.then:                                          ; preds = %lor.lhs.false, %entry
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %3, i64 56
  %6 = load i64, ptr %arrayidx.i, align 8
  %7 = inttoptr i64 %6 to ptr
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %3, i64 224
  %8 = load i64, ptr %arrayidx.i.i, align 8
  %9 = inttoptr i64 %8 to ptr
  tail call void %9(ptr %7)
  br label %cleanup

if.end:                                           ; preds = %lor.lhs.false
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), align 8
  %addresses = getelementptr inbounds nuw i8, ptr %call2.sroa.6.0.copyload, i64 2568
  %call8 = call fastcc ptr @fly.native_replay.run(ptr nonnull %3, ptr nonnull %1, ptr nonnull %call2.sroa.4.0.copyload, ptr nonnull %addresses, ptr nonnull %saved)
  %10 = load ptr, ptr %args, align 8
  %arrayidx10 = getelementptr inbounds nuw i8, ptr %self, i64 40
  %11 = load i64, ptr %arrayidx10, align 8
  %12 = load ptr, ptr %saved, align 8
  %add.ptr.i19 = getelementptr inbounds i8, ptr %10, i64 %11
  %13 = load ptr, ptr %add.ptr.i19, align 8
  %tobool.not.i = icmp eq ptr %12, null
  br i1 %tobool.not.i, label %put.exit, label %if.end.i

if.end.i:                                         ; preds = %if.end
  store ptr %12, ptr %add.ptr.i19, align 8
  %tobool1.not.i = icmp eq ptr %13, null
  br i1 %tobool1.not.i, label %put.exit, label %if.then2.i

if.then2.i:                                       ; preds = %if.end.i
  %arrayidx.i.i20 = getelementptr inbounds nuw i8, ptr %3, i64 232
  %14 = load i64, ptr %arrayidx.i.i20, align 8
  %15 = inttoptr i64 %14 to ptr
  call void %15(ptr nonnull %13)
  br label %put.exit

put.exit:                                         ; preds = %if.end, %if.end.i, %if.then2.i
  %stock = getelementptr inbounds nuw i8, ptr %saved, i64 8
  %16 = load ptr, ptr %stock, align 8
  %tobool11.not = icmp eq ptr %16, null
  br i1 %tobool11.not, label %if.end25, label %if.end.i23

if.end.i23:                                       ; preds = %put.exit
  %arrayidx13 = getelementptr inbounds nuw i8, ptr %3, i64 328
  %17 = load i64, ptr %arrayidx13, align 8
  %18 = inttoptr i64 %17 to ptr
  %begin14 = getelementptr inbounds nuw i8, ptr %saved, i64 16
  %19 = load i64, ptr %begin14, align 8
  %div = sdiv i64 %19, 128
  %call15 = call ptr %18(i64 %div)
  %20 = load ptr, ptr %args, align 8
  %arrayidx17 = getelementptr inbounds nuw i8, ptr %self, i64 48
  %21 = load i64, ptr %arrayidx17, align 8
  %add.ptr.i21 = getelementptr inbounds i8, ptr %20, i64 %21
  %22 = load ptr, ptr %add.ptr.i21, align 8
  store ptr %16, ptr %add.ptr.i21, align 8
  %tobool1.not.i24 = icmp eq ptr %22, null
  br i1 %tobool1.not.i24, label %put.exit27, label %if.then2.i25

if.then2.i25:                                     ; preds = %if.end.i23
  %arrayidx.i.i26 = getelementptr inbounds nuw i8, ptr %3, i64 232
  %23 = load i64, ptr %arrayidx.i.i26, align 8
  %24 = inttoptr i64 %23 to ptr
  call void %24(ptr nonnull %22)
  br label %put.exit27

put.exit27:                                       ; preds = %if.end.i23, %if.then2.i25
  %25 = load ptr, ptr %args, align 8
  %arrayidx20 = getelementptr inbounds nuw i8, ptr %self, i64 56
  %26 = load i64, ptr %arrayidx20, align 8
  %add.ptr.i28 = getelementptr inbounds i8, ptr %25, i64 %26
  %27 = load ptr, ptr %add.ptr.i28, align 8
  %tobool.not.i29 = icmp eq ptr %call15, null
  br i1 %tobool.not.i29, label %put.exit34, label %if.end.i30

if.end.i30:                                       ; preds = %put.exit27
  store ptr %call15, ptr %add.ptr.i28, align 8
  %tobool1.not.i31 = icmp eq ptr %27, null
  br i1 %tobool1.not.i31, label %if.end25, label %if.then2.i32

if.then2.i32:                                     ; preds = %if.end.i30
  %arrayidx.i.i33 = getelementptr inbounds nuw i8, ptr %3, i64 232
  %28 = load i64, ptr %arrayidx.i.i33, align 8
  %29 = inttoptr i64 %28 to ptr
  call void %29(ptr nonnull %27)
  br label %if.end25

put.exit34:                                       ; preds = %put.exit27
  %cond = icmp eq ptr %call8, null
  br i1 %cond, label %lor.lhs.false.i, label %if.end25.thread

if.end25.thread:                                  ; preds = %put.exit34
  %arrayidx.i35 = getelementptr inbounds nuw i8, ptr %3, i64 232
  %30 = load i64, ptr %arrayidx.i35, align 8
  %31 = inttoptr i64 %30 to ptr
  call void %31(ptr nonnull %call8)
  br label %lor.lhs.false.i

if.end25:                                         ; preds = %if.then2.i32, %if.end.i30, %put.exit
  %tobool.not.i36 = icmp eq ptr %call8, null
  br i1 %tobool.not.i36, label %lor.lhs.false.i, label %cleanup

lor.lhs.false.i:                                  ; preds = %put.exit34, %if.end25.thread, %if.end25
  %arrayidx.i37 = getelementptr inbounds nuw i8, ptr %3, i64 248
  %32 = load i64, ptr %arrayidx.i37, align 8
  %33 = inttoptr i64 %32 to ptr
  %call.i = call ptr %33()
  %tobool1.not.i38 = icmp eq ptr %call.i, null
  br i1 %tobool1.not.i38, label %if.end.i39, label %cleanup

if.end.i39:                                       ; preds = %lor.lhs.false.i
  %arrayidx.i.i40 = getelementptr inbounds nuw i8, ptr %3, i64 56
  %34 = load i64, ptr %arrayidx.i.i40, align 8
  %35 = inttoptr i64 %34 to ptr
  %arrayidx.i.i.i = getelementptr inbounds nuw i8, ptr %3, i64 224
  %36 = load i64, ptr %arrayidx.i.i.i, align 8
  %37 = inttoptr i64 %36 to ptr
  call void %37(ptr %35)
  br label %cleanup

cleanup:                                          ; preds = %if.end.i39, %lor.lhs.false.i, %if.end25, %if.then
  %retval.0 = phi ptr [ %7, %if.then ], [ %35, %if.end.i39 ], [ null, %lor.lhs.false.i ], [ %call8, %if.end25 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %saved)
  ret ptr %retval.0
}

define internal fastcc ptr @fly.native_replay.run(ptr readonly captures(none) %python, ptr readonly captures(none) %replay, ptr readonly captures(none) %args, ptr captures(none) %addresses, ptr writeonly captures(address_is_null) %beside) {
entry:
  %capturing.i.i78 = alloca i32, align 4
  %overflow.i79 = alloca i32, align 4
  %capturing.i.i = alloca i32, align 4
  %made.i = alloca ptr, align 8
  %begin.i = alloca i64, align 8
  %overflow.i = alloca i32, align 4
  %buffers = alloca [32 x ptr], align 16
  call void @llvm.lifetime.start.p0(ptr nonnull %buffers)
  %arrayidx = getelementptr inbounds nuw i8, ptr %replay, i64 8
  %0 = load i64, ptr %arrayidx, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i)
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %python, i64 264
  %1 = load i64, ptr %arrayidx.i, align 8
  %2 = inttoptr i64 %1 to ptr
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %replay, i64 56
  %3 = load i64, ptr %arrayidx1.i, align 8
  %4 = inttoptr i64 %3 to ptr
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %replay, i64 64
  %5 = load i64, ptr %arrayidx2.i, align 8
  %6 = inttoptr i64 %5 to ptr
  %call3.i = tail call ptr %2(ptr %4, ptr %6)
  %tobool.not.i = icmp eq ptr %call3.i, null
  br i1 %tobool.not.i, label %stream_of.exit, label %if.end.i

if.end.i:                                         ; preds = %entry
  %arrayidx4.i = getelementptr inbounds nuw i8, ptr %python, i64 56
  %7 = load i64, ptr %arrayidx4.i, align 8
  %8 = inttoptr i64 %7 to ptr
  %cmp.i = icmp eq ptr %call3.i, %8
  br i1 %cmp.i, label %cond.end.i, label %cond.false.i

cond.false.i:                                     ; preds = %if.end.i
  %arrayidx5.i = getelementptr inbounds nuw i8, ptr %python, i64 304
  %9 = load i64, ptr %arrayidx5.i, align 8
  %10 = inttoptr i64 %9 to ptr
  %call6.i = call i64 %10(ptr nonnull %call3.i, ptr nonnull %overflow.i)
  br label %cond.end.i

cond.end.i:                                       ; preds = %cond.false.i, %if.end.i
  %cond.i = phi i64 [ %call6.i, %cond.false.i ], [ 0, %if.end.i ]
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %python, i64 232
  %11 = load i64, ptr %arrayidx.i.i, align 8
  %12 = inttoptr i64 %11 to ptr
  call void %12(ptr nonnull %call3.i)
  br label %stream_of.exit

stream_of.exit:                                   ; preds = %entry, %cond.end.i
  %retval.0.i = phi i64 [ %cond.i, %cond.end.i ], [ -1, %entry ]
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %replay, i64 32
  %13 = load i64, ptr %arrayidx1, align 8
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %replay, i64 48
  %14 = load i64, ptr %arrayidx2, align 8
  %add.ptr = getelementptr inbounds nuw i8, ptr %replay, i64 104
  %cmp125 = icmp sgt i64 %0, 0
  br i1 %cmp125, label %for.body.preheader, label %for.cond.cleanup

for.body.preheader:                               ; preds = %stream_of.exit
  %15 = shl nuw i64 %0, 3
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 16 %buffers, ptr align 8 %args, i64 %15, i1 false)
  br label %for.cond.cleanup

for.cond.cleanup:                                 ; preds = %for.body.preheader, %stream_of.exit
  %cmp5 = icmp ne i64 %retval.0.i, -1
  %arrayidx8 = getelementptr inbounds nuw i8, ptr %replay, i64 16
  %16 = load i64, ptr %arrayidx8, align 8
  %cmp9127 = icmp sgt i64 %16, 0
  br i1 %cmp9127, label %for.body11.lr.ph, label %for.cond.cleanup10

for.body11.lr.ph:                                 ; preds = %for.cond.cleanup
  %arrayidx.i.i70 = getelementptr inbounds nuw i8, ptr %replay, i64 80
  %tobool.i.i = icmp ne i64 %retval.0.i, 0
  %arrayidx.i25.i = getelementptr inbounds nuw i8, ptr %python, i64 232
  %arrayidx14.i = getelementptr inbounds nuw i8, ptr %python, i64 384
  %arrayidx.i26.i = getelementptr inbounds nuw i8, ptr %python, i64 224
  %stock21.i = getelementptr inbounds nuw i8, ptr %beside, i64 8
  %begin24.i = getelementptr inbounds nuw i8, ptr %beside, i64 16
  br label %for.body11

for.cond.cleanup10:                               ; preds = %if.end23, %for.cond.cleanup
  %end.0.lcssa = phi i64 [ %0, %for.cond.cleanup ], [ %end.1, %if.end23 ]
  %row.0.lcssa = phi ptr [ %add.ptr, %for.cond.cleanup ], [ %add.ptr24, %if.end23 ]
  %good.0.off0.lcssa = phi i1 [ %cmp5, %for.cond.cleanup ], [ %good.1.off0, %if.end23 ]
  %add.ptr28 = getelementptr inbounds i64, ptr %row.0.lcssa, i64 %13
  %cond = call i64 @llvm.smax.i64(i64 %14, i64 0)
  %add.ptr30 = getelementptr inbounds nuw i64, ptr %add.ptr28, i64 %cond
  br i1 %good.0.off0.lcssa, label %land.lhs.true, label %if.end69

for.body11:                                       ; preds = %for.body11.lr.ph, %if.end23
  %17 = phi i64 [ %16, %for.body11.lr.ph ], [ %47, %if.end23 ]
  %i6.0134 = phi i64 [ 0, %for.body11.lr.ph ], [ %inc26, %if.end23 ]
  %good.0.off0133 = phi i1 [ %cmp5, %for.body11.lr.ph ], [ %good.1.off0, %if.end23 ]
  %row.0129 = phi ptr [ %add.ptr, %for.body11.lr.ph ], [ %add.ptr24, %if.end23 ]
  %end.0128 = phi i64 [ %0, %for.body11.lr.ph ], [ %end.1, %if.end23 ]
  br i1 %good.0.off0133, label %if.then, label %if.end23

if.then:                                          ; preds = %for.body11
  %arrayidx12 = getelementptr inbounds ptr, ptr %buffers, i64 %end.0128
  store ptr null, ptr %arrayidx12, align 8
  %arrayidx13 = getelementptr inbounds nuw i8, ptr %row.0129, i64 32
  %18 = load i64, ptr %arrayidx13, align 8
  %tobool.not = icmp eq i64 %18, 0
  %arrayidx19 = getelementptr inbounds i64, ptr %addresses, i64 %end.0128
  br i1 %tobool.not, label %if.else, label %if.then14

if.then14:                                        ; preds = %if.then
  %19 = inttoptr i64 %18 to ptr
  call void @llvm.lifetime.start.p0(ptr nonnull %capturing.i.i)
  store i32 0, ptr %capturing.i.i, align 4
  %20 = load i64, ptr %arrayidx.i.i70, align 8
  %tobool1.i.i = icmp ne i64 %20, 0
  %or.cond.i.i = select i1 %tobool.i.i, i1 %tobool1.i.i, i1 false
  br i1 %or.cond.i.i, label %is_captured.exit.i, label %is_captured.exit.thread.i

is_captured.exit.thread.i:                        ; preds = %if.then14
  call void @llvm.lifetime.end.p0(ptr nonnull %capturing.i.i)
  br label %lor.lhs.false.i

is_captured.exit.i:                               ; preds = %if.then14
  %21 = inttoptr i64 %20 to ptr
  %call.i.i = call i32 %21(i64 %retval.0.i, ptr nonnull %capturing.i.i)
  %tobool2.i.i = icmp ne i32 %call.i.i, 0
  %22 = load i32, ptr %capturing.i.i, align 4
  %tobool3.i.i = icmp ne i32 %22, 0
  %23 = select i1 %tobool2.i.i, i1 true, i1 %tobool3.i.i
  call void @llvm.lifetime.end.p0(ptr nonnull %capturing.i.i)
  br i1 %23, label %if.then.i, label %lor.lhs.false.i

lor.lhs.false.i:                                  ; preds = %is_captured.exit.i, %is_captured.exit.thread.i
  %arrayidx1.i71 = getelementptr inbounds nuw i8, ptr %19, i64 24
  %24 = load i64, ptr %arrayidx1.i71, align 8
  %cmp.not.i = icmp eq i64 %24, %retval.0.i
  br i1 %cmp.not.i, label %lor.lhs.false2.i, label %if.then.i

lor.lhs.false2.i:                                 ; preds = %lor.lhs.false.i
  %arrayidx3.i = getelementptr inbounds nuw i8, ptr %19, i64 32
  %25 = load i64, ptr %arrayidx3.i, align 8
  %arrayidx4.i77 = getelementptr inbounds nuw i8, ptr %row.0129, i64 40
  %26 = load i64, ptr %arrayidx4.i77, align 8
  %cmp5.i = icmp eq i64 %25, %26
  br i1 %cmp5.i, label %if.then.i, label %if.end18.i

if.then.i:                                        ; preds = %lor.lhs.false2.i, %lor.lhs.false.i, %is_captured.exit.i
  %27 = phi i1 [ false, %lor.lhs.false2.i ], [ false, %lor.lhs.false.i ], [ true, %is_captured.exit.i ]
  call void @llvm.lifetime.start.p0(ptr nonnull %made.i)
  call void @llvm.lifetime.start.p0(ptr nonnull %begin.i)
  %call6.i72 = call fastcc i1 @fly.native_replay.make(ptr readonly %python, ptr nonnull readonly %row.0129, ptr %made.i, ptr nonnull %begin.i)
  %28 = load ptr, ptr %made.i, align 8
  br i1 %call6.i72, label %cleanup.i, label %if.then7.i

if.then7.i:                                       ; preds = %if.then.i
  %tobool.not.i73 = icmp eq ptr %28, null
  br i1 %tobool.not.i73, label %cleanup.thread.i, label %if.then8.i

if.then8.i:                                       ; preds = %if.then7.i
  %29 = load i64, ptr %arrayidx.i25.i, align 8
  %30 = inttoptr i64 %29 to ptr
  call void %30(ptr nonnull %28)
  br label %cleanup.thread.i

cleanup.thread.i:                                 ; preds = %if.then8.i, %if.then7.i
  call void @llvm.lifetime.end.p0(ptr nonnull %begin.i)
  call void @llvm.lifetime.end.p0(ptr nonnull %made.i)
  br label %if.end

cleanup.i:                                        ; preds = %if.then.i
  %31 = ptrtoint ptr %28 to i64
  %arrayidx10.i = getelementptr inbounds nuw i8, ptr %19, i64 8
  store i64 %31, ptr %arrayidx10.i, align 8
  %32 = load i64, ptr %begin.i, align 8
  %arrayidx11.i = getelementptr inbounds nuw i8, ptr %19, i64 16
  store i64 %32, ptr %arrayidx11.i, align 8
  %arrayidx12.i = getelementptr inbounds nuw i8, ptr %19, i64 24
  store i64 %retval.0.i, ptr %arrayidx12.i, align 8
  %arrayidx13.i = getelementptr inbounds nuw i8, ptr %19, i64 32
  store i64 0, ptr %arrayidx13.i, align 8
  %33 = load i64, ptr %arrayidx14.i, align 8
  %34 = inttoptr i64 %33 to ptr
  %35 = load i64, ptr %19, align 8
  %36 = inttoptr i64 %35 to ptr
  %call16.i = call i32 %34(ptr %36, i64 0, ptr %28)
  call void @llvm.lifetime.end.p0(ptr nonnull %begin.i)
  call void @llvm.lifetime.end.p0(ptr nonnull %made.i)
  br label %if.end18.i

if.end18.i:                                       ; preds = %cleanup.i, %lor.lhs.false2.i
  %37 = phi i1 [ %27, %cleanup.i ], [ false, %lor.lhs.false2.i ]
  %arrayidx19.i = getelementptr inbounds nuw i8, ptr %19, i64 8
  %38 = load i64, ptr %arrayidx19.i, align 8
  %39 = inttoptr i64 %38 to ptr
  %40 = load i64, ptr %arrayidx.i26.i, align 8
  %41 = inttoptr i64 %40 to ptr
  call void %41(ptr %39)
  store ptr %39, ptr %stock21.i, align 8
  %arrayidx22.i = getelementptr inbounds nuw i8, ptr %row.0129, i64 48
  %42 = load i64, ptr %arrayidx22.i, align 8
  %arrayidx23.i = getelementptr inbounds nuw i8, ptr %19, i64 32
  %43 = load i64, ptr %arrayidx23.i, align 8
  %mul.i = mul nsw i64 %43, %42
  store i64 %mul.i, ptr %begin24.i, align 8
  %arrayidx25.i = getelementptr inbounds nuw i8, ptr %19, i64 16
  %44 = load i64, ptr %arrayidx25.i, align 8
  %add.i = add nsw i64 %44, %mul.i
  store i64 %add.i, ptr %arrayidx19, align 8
  br i1 %37, label %cond.true.i, label %cond.false.i74

cond.true.i:                                      ; preds = %if.end18.i
  %arrayidx28.i = getelementptr inbounds nuw i8, ptr %row.0129, i64 40
  %45 = load i64, ptr %arrayidx28.i, align 8
  br label %cond.end.i75

cond.false.i74:                                   ; preds = %if.end18.i
  %46 = load i64, ptr %arrayidx23.i, align 8
  %add30.i = add nsw i64 %46, 1
  br label %cond.end.i75

cond.end.i75:                                     ; preds = %cond.false.i74, %cond.true.i
  %cond.i76 = phi i64 [ %45, %cond.true.i ], [ %add30.i, %cond.false.i74 ]
  store i64 %cond.i76, ptr %arrayidx23.i, align 8
  br label %if.end

if.else:                                          ; preds = %if.then
  %call20 = call fastcc i1 @fly.native_replay.make(ptr %python, ptr nonnull %row.0129, ptr %arrayidx12, ptr %arrayidx19)
  br label %if.end

if.end:                                           ; preds = %cond.end.i75, %cleanup.thread.i, %if.else
  %good.2.in = phi i1 [ %call20, %if.else ], [ true, %cond.end.i75 ], [ false, %cleanup.thread.i ]
  %inc22 = add nsw i64 %end.0128, 1
  %.pre = load i64, ptr %arrayidx8, align 8
  br label %if.end23

if.end23:                                         ; preds = %if.end, %for.body11
  %47 = phi i64 [ %.pre, %if.end ], [ %17, %for.body11 ]
  %end.1 = phi i64 [ %inc22, %if.end ], [ %end.0128, %for.body11 ]
  %good.1.off0 = phi i1 [ %good.2.in, %if.end ], [ false, %for.body11 ]
  %add.ptr24 = getelementptr inbounds nuw i8, ptr %row.0129, i64 56
  %inc26 = add nuw nsw i64 %i6.0134, 1
  %cmp9 = icmp slt i64 %inc26, %47
  br i1 %cmp9, label %for.body11, label %for.cond.cleanup10

land.lhs.true:                                    ; preds = %for.cond.cleanup10
  %arrayidx32 = getelementptr inbounds nuw i8, ptr %replay, i64 72
  %48 = load i64, ptr %arrayidx32, align 8
  %tobool33.not = icmp eq i64 %48, 0
  br i1 %tobool33.not, label %if.end39, label %if.then34

if.then34:                                        ; preds = %land.lhs.true
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i79)
  call void @llvm.lifetime.start.p0(ptr nonnull %capturing.i.i78)
  store i32 0, ptr %capturing.i.i78, align 4
  %arrayidx.i.i80 = getelementptr inbounds nuw i8, ptr %replay, i64 80
  %49 = load i64, ptr %arrayidx.i.i80, align 8
  %tobool.i.i81 = icmp ne i64 %retval.0.i, 0
  %tobool1.i.i82 = icmp ne i64 %49, 0
  %or.cond.i.i83 = select i1 %tobool.i.i81, i1 %tobool1.i.i82, i1 false
  br i1 %or.cond.i.i83, label %is_captured.exit.i93, label %is_captured.exit.thread.i84

is_captured.exit.thread.i84:                      ; preds = %if.then34
  call void @llvm.lifetime.end.p0(ptr nonnull %capturing.i.i78)
  br label %if.end.i85

is_captured.exit.i93:                             ; preds = %if.then34
  %50 = inttoptr i64 %49 to ptr
  %call.i.i94 = call i32 %50(i64 %retval.0.i, ptr nonnull %capturing.i.i78)
  %tobool2.i.i95 = icmp ne i32 %call.i.i94, 0
  %51 = load i32, ptr %capturing.i.i78, align 4
  %tobool3.i.i96 = icmp ne i32 %51, 0
  %52 = select i1 %tobool2.i.i95, i1 true, i1 %tobool3.i.i96
  call void @llvm.lifetime.end.p0(ptr nonnull %capturing.i.i78)
  br i1 %52, label %counters_of.exit, label %if.end.i85

if.end.i85:                                       ; preds = %is_captured.exit.i93, %is_captured.exit.thread.i84
  %arrayidx.i86 = getelementptr inbounds nuw i8, ptr %python, i64 328
  %53 = load i64, ptr %arrayidx.i86, align 8
  %54 = inttoptr i64 %53 to ptr
  %call1.i = call ptr %54(i64 %retval.0.i)
  %tobool.not.i87 = icmp eq ptr %call1.i, null
  br i1 %tobool.not.i87, label %counters_of.exit, label %if.end3.i

if.end3.i:                                        ; preds = %if.end.i85
  %arrayidx4.i88 = getelementptr inbounds nuw i8, ptr %python, i64 392
  %55 = load i64, ptr %arrayidx4.i88, align 8
  %56 = inttoptr i64 %55 to ptr
  %57 = load i64, ptr %arrayidx32, align 8
  %58 = inttoptr i64 %57 to ptr
  %call6.i90 = call ptr %56(ptr %58, ptr nonnull %call1.i)
  %arrayidx.i9.i = getelementptr inbounds nuw i8, ptr %python, i64 232
  %59 = load i64, ptr %arrayidx.i9.i, align 8
  %60 = inttoptr i64 %59 to ptr
  call void %60(ptr nonnull %call1.i)
  %tobool7.not.i = icmp eq ptr %call6.i90, null
  br i1 %tobool7.not.i, label %counters_of.exit, label %cond.true.i91

cond.true.i91:                                    ; preds = %if.end3.i
  %arrayidx8.i = getelementptr inbounds nuw i8, ptr %python, i64 304
  %61 = load i64, ptr %arrayidx8.i, align 8
  %62 = inttoptr i64 %61 to ptr
  %call9.i = call i64 %62(ptr nonnull %call6.i90, ptr nonnull %overflow.i79)
  br label %counters_of.exit

counters_of.exit:                                 ; preds = %is_captured.exit.i93, %if.end.i85, %if.end3.i, %cond.true.i91
  %retval.0.i92 = phi i64 [ 0, %is_captured.exit.i93 ], [ 0, %if.end.i85 ], [ %call9.i, %cond.true.i91 ], [ 0, %if.end3.i ]
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i79)
  %arrayidx36 = getelementptr inbounds i64, ptr %addresses, i64 %end.0.lcssa
  store i64 %retval.0.i92, ptr %arrayidx36, align 8
  %cmp37 = icmp ne i64 %retval.0.i92, 0
  br label %if.end39

if.end39:                                         ; preds = %counters_of.exit, %land.lhs.true
  %good.3.off0 = phi i1 [ %cmp37, %counters_of.exit ], [ true, %land.lhs.true ]
  %arrayidx42 = getelementptr inbounds nuw i8, ptr %replay, i64 24
  %63 = load i64, ptr %arrayidx42, align 8
  %cmp43137 = icmp sgt i64 %63, 0
  %64 = select i1 %cmp43137, i1 %good.3.off0, i1 false
  br i1 %64, label %for.body46, label %for.cond.cleanup45

for.cond.cleanup45:                               ; preds = %for.body46, %if.end39
  %good.4.off0.lcssa = phi i1 [ %good.3.off0, %if.end39 ], [ %call47, %for.body46 ]
  %tobool56 = icmp ne ptr %beside, null
  %or.cond = select i1 %good.4.off0.lcssa, i1 %tobool56, i1 false
  br i1 %or.cond, label %if.then57, label %if.end62

for.body46:                                       ; preds = %if.end39, %for.body46
  %i40.0139 = phi i64 [ %inc52, %for.body46 ], [ 0, %if.end39 ]
  %launched.0138 = phi ptr [ %add.ptr50, %for.body46 ], [ %add.ptr30, %if.end39 ]
  %call47 = call fastcc i1 @fly.native_replay.launch(ptr %python, ptr %launched.0138, ptr %addresses, i64 %retval.0.i)
  %arrayidx49 = getelementptr inbounds nuw i8, ptr %launched.0138, i64 88
  %65 = load i64, ptr %arrayidx49, align 8
  %.idx = mul i64 %65, 24
  %66 = getelementptr i8, ptr %launched.0138, i64 %.idx
  %add.ptr50 = getelementptr i8, ptr %66, i64 96
  %inc52 = add nuw nsw i64 %i40.0139, 1
  %67 = load i64, ptr %arrayidx42, align 8
  %cmp43 = icmp slt i64 %inc52, %67
  %68 = select i1 %cmp43, i1 %call47, i1 false
  br i1 %68, label %for.body46, label %for.cond.cleanup45

if.then57:                                        ; preds = %for.cond.cleanup45
  %arrayidx2.i98 = getelementptr inbounds nuw i8, ptr %python, i64 352
  %69 = load i64, ptr %arrayidx2.i98, align 8
  %70 = inttoptr i64 %69 to ptr
  %call3.i99 = call ptr %70(i64 %14)
  %tobool.i = icmp ne ptr %call3.i99, null
  %cmp13.i = icmp sgt i64 %14, 0
  %71 = select i1 %tobool.i, i1 %cmp13.i, i1 false
  br i1 %71, label %for.body.lr.ph.i, label %gathered.exit

for.body.lr.ph.i:                                 ; preds = %if.then57
  %arrayidx4.i101 = getelementptr inbounds nuw i8, ptr %python, i64 360
  %arrayidx.i12.i = getelementptr inbounds nuw i8, ptr %python, i64 224
  br label %for.body.i

for.body.i:                                       ; preds = %for.body.i, %for.body.lr.ph.i
  %i.014.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %inc.i, %for.body.i ]
  %72 = load i64, ptr %arrayidx4.i101, align 8
  %73 = inttoptr i64 %72 to ptr
  %arrayidx5.i102 = getelementptr inbounds nuw i64, ptr %add.ptr28, i64 %i.014.i
  %74 = load i64, ptr %arrayidx5.i102, align 8
  %arrayidx6.i = getelementptr inbounds ptr, ptr %buffers, i64 %74
  %75 = load ptr, ptr %arrayidx6.i, align 8
  %76 = load i64, ptr %arrayidx.i12.i, align 8
  %77 = inttoptr i64 %76 to ptr
  call void %77(ptr %75)
  %call8.i = call i32 %73(ptr nonnull %call3.i99, i64 %i.014.i, ptr %75)
  %inc.i = add nuw nsw i64 %i.014.i, 1
  %exitcond.not = icmp eq i64 %inc.i, %14
  br i1 %exitcond.not, label %gathered.exit.thread, label %for.body.i

gathered.exit.thread:                             ; preds = %for.body.i
  store ptr %call3.i99, ptr %beside, align 8
  br label %if.then64

gathered.exit:                                    ; preds = %if.then57
  store ptr %call3.i99, ptr %beside, align 8
  br i1 %tobool.i, label %if.then64, label %if.end69

if.end62:                                         ; preds = %for.cond.cleanup45
  br i1 %good.4.off0.lcssa, label %if.then64, label %if.end69

if.then64:                                        ; preds = %gathered.exit.thread, %gathered.exit, %if.end62
  %arrayidx65 = getelementptr inbounds nuw i8, ptr %replay, i64 40
  %78 = load i64, ptr %arrayidx65, align 8
  %tobool66.not = icmp eq i64 %78, 0
  br i1 %tobool66.not, label %if.end.i104, label %if.then.i120

if.then.i120:                                     ; preds = %if.then64
  %79 = load i64, ptr %row.0.lcssa, align 8
  %arrayidx1.i121 = getelementptr inbounds ptr, ptr %buffers, i64 %79
  %80 = load ptr, ptr %arrayidx1.i121, align 8
  %arrayidx.i.i122 = getelementptr inbounds nuw i8, ptr %python, i64 224
  %81 = load i64, ptr %arrayidx.i.i122, align 8
  %82 = inttoptr i64 %81 to ptr
  call void %82(ptr %80)
  br label %if.end69

if.end.i104:                                      ; preds = %if.then64
  %arrayidx2.i105 = getelementptr inbounds nuw i8, ptr %python, i64 352
  %83 = load i64, ptr %arrayidx2.i105, align 8
  %84 = inttoptr i64 %83 to ptr
  %call3.i106 = call ptr %84(i64 %13)
  %tobool.i107 = icmp ne ptr %call3.i106, null
  %cmp13.i108 = icmp sgt i64 %13, 0
  %85 = select i1 %tobool.i107, i1 %cmp13.i108, i1 false
  br i1 %85, label %for.body.lr.ph.i110, label %if.end69

for.body.lr.ph.i110:                              ; preds = %if.end.i104
  %arrayidx4.i111 = getelementptr inbounds nuw i8, ptr %python, i64 360
  %arrayidx.i12.i112 = getelementptr inbounds nuw i8, ptr %python, i64 224
  br label %for.body.i113

for.body.i113:                                    ; preds = %for.body.i113, %for.body.lr.ph.i110
  %i.014.i114 = phi i64 [ 0, %for.body.lr.ph.i110 ], [ %inc.i118, %for.body.i113 ]
  %86 = load i64, ptr %arrayidx4.i111, align 8
  %87 = inttoptr i64 %86 to ptr
  %arrayidx5.i115 = getelementptr inbounds nuw i64, ptr %row.0.lcssa, i64 %i.014.i114
  %88 = load i64, ptr %arrayidx5.i115, align 8
  %arrayidx6.i116 = getelementptr inbounds ptr, ptr %buffers, i64 %88
  %89 = load ptr, ptr %arrayidx6.i116, align 8
  %90 = load i64, ptr %arrayidx.i12.i112, align 8
  %91 = inttoptr i64 %90 to ptr
  call void %91(ptr %89)
  %call8.i117 = call i32 %87(ptr nonnull %call3.i106, i64 %i.014.i114, ptr %89)
  %inc.i118 = add nuw nsw i64 %i.014.i114, 1
  %exitcond143.not = icmp eq i64 %inc.i118, %13
  br i1 %exitcond143.not, label %if.end69, label %for.body.i113

if.end69:                                         ; preds = %for.body.i113, %for.cond.cleanup10, %if.end.i104, %if.then.i120, %gathered.exit, %if.end62
  %found.0 = phi ptr [ null, %gathered.exit ], [ null, %if.end62 ], [ %80, %if.then.i120 ], [ %call3.i106, %if.end.i104 ], [ null, %for.cond.cleanup10 ], [ %call3.i106, %for.body.i113 ]
  %cmp72141 = icmp slt i64 %0, %end.0.lcssa
  br i1 %cmp72141, label %for.body74.lr.ph, label %for.cond.cleanup73

for.body74.lr.ph:                                 ; preds = %if.end69
  %arrayidx.i124 = getelementptr inbounds nuw i8, ptr %python, i64 232
  br label %for.body74

for.cond.cleanup73:                               ; preds = %for.inc80, %if.end69
  call void @llvm.lifetime.end.p0(ptr nonnull %buffers)
  ret ptr %found.0

for.body74:                                       ; preds = %for.body74.lr.ph, %for.inc80
  %i70.0142 = phi i64 [ %0, %for.body74.lr.ph ], [ %inc81, %for.inc80 ]
  %arrayidx75 = getelementptr inbounds ptr, ptr %buffers, i64 %i70.0142
  %92 = load ptr, ptr %arrayidx75, align 8
  %tobool76.not = icmp eq ptr %92, null
  br i1 %tobool76.not, label %for.inc80, label %if.then77

if.then77:                                        ; preds = %for.body74
  %93 = load i64, ptr %arrayidx.i124, align 8
  %94 = inttoptr i64 %93 to ptr
  call void %94(ptr nonnull %92)
  br label %for.inc80

for.inc80:                                        ; preds = %for.body74, %if.then77
  %inc81 = add i64 %i70.0142, 1
  %exitcond144.not = icmp eq i64 %inc81, %end.0.lcssa
  br i1 %exitcond144.not, label %for.cond.cleanup73, label %for.body74
}

define void @fly_name_attributes(i64 %place, ptr %python) #0 {
entry:
  store i64 %place, ptr @fly.native_replay.named_at, align 8
  store ptr %python, ptr @fly.native_replay.named_python, align 8
  ret void
}

define ptr @fly_attribute(ptr %type, ptr %name) {
entry:
  %0 = load ptr, ptr @fly.native_replay.named_python, align 8
  %1 = load i64, ptr @fly.native_replay.named_at, align 8
  %add.ptr = getelementptr inbounds i8, ptr %type, i64 %1
  %2 = load ptr, ptr %add.ptr, align 8
  %tobool.not14 = icmp eq ptr %2, null
  br i1 %tobool.not14, label %for.end, label %land.rhs.preheader

land.rhs.preheader:                               ; preds = %entry
  %3 = load i64, ptr %2, align 8
  %tobool1.not24 = icmp eq i64 %3, 0
  br i1 %tobool1.not24, label %for.end, label %for.body

for.body:                                         ; preds = %land.rhs.preheader, %for.inc
  %4 = phi i64 [ %13, %for.inc ], [ %3, %land.rhs.preheader ]
  %at.01525 = phi ptr [ %add.ptr4, %for.inc ], [ %2, %land.rhs.preheader ]
  %5 = inttoptr i64 %4 to ptr
  %6 = load i8, ptr %5, align 1
  %tobool.not6.i = icmp eq i8 %6, 0
  br i1 %tobool.not6.i, label %same.exit, label %land.rhs.i

land.rhs.i:                                       ; preds = %for.body, %while.body.i
  %7 = phi i8 [ %9, %while.body.i ], [ %6, %for.body ]
  %b.addr.08.i = phi ptr [ %incdec.ptr4.i, %while.body.i ], [ %name, %for.body ]
  %a.addr.07.i = phi ptr [ %incdec.ptr.i, %while.body.i ], [ %5, %for.body ]
  %8 = load i8, ptr %b.addr.08.i, align 1
  %cmp.i = icmp eq i8 %7, %8
  br i1 %cmp.i, label %while.body.i, label %same.exit

while.body.i:                                     ; preds = %land.rhs.i
  %incdec.ptr.i = getelementptr inbounds nuw i8, ptr %a.addr.07.i, i64 1
  %incdec.ptr4.i = getelementptr inbounds nuw i8, ptr %b.addr.08.i, i64 1
  %9 = load i8, ptr %incdec.ptr.i, align 1
  %tobool.not.i = icmp eq i8 %9, 0
  br i1 %tobool.not.i, label %same.exit, label %land.rhs.i

same.exit:                                        ; preds = %land.rhs.i, %while.body.i, %for.body
  %b.addr.0.lcssa.i = phi ptr [ %name, %for.body ], [ %b.addr.08.i, %land.rhs.i ], [ %incdec.ptr4.i, %while.body.i ]
  %.lcssa.i = phi i8 [ 0, %for.body ], [ %7, %land.rhs.i ], [ 0, %while.body.i ]
  %10 = load i8, ptr %b.addr.0.lcssa.i, align 1
  %cmp7.i = icmp eq i8 %.lcssa.i, %10
  br i1 %cmp7.i, label %if.then, label %for.inc

if.then:                                          ; preds = %same.exit
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %at.01525, i64 8
  %11 = load i64, ptr %arrayidx2, align 8
  %12 = inttoptr i64 %11 to ptr
  br label %cleanup12.sink.split

for.inc:                                          ; preds = %same.exit
  %add.ptr4 = getelementptr inbounds nuw i8, ptr %at.01525, i64 16
  %13 = load i64, ptr %add.ptr4, align 8
  %tobool1.not = icmp eq i64 %13, 0
  br i1 %tobool1.not, label %for.end, label %for.body

for.end:                                          ; preds = %for.inc, %land.rhs.preheader, %entry
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %0, i64 376
  %14 = load i64, ptr %arrayidx5, align 8
  %15 = inttoptr i64 %14 to ptr
  %call6 = tail call ptr %15(ptr %name)
  %tobool7.not = icmp eq ptr %call6, null
  br i1 %tobool7.not, label %cleanup12, label %if.end9

if.end9:                                          ; preds = %for.end
  %arrayidx10 = getelementptr inbounds nuw i8, ptr %0, i64 296
  %16 = load i64, ptr %arrayidx10, align 8
  %17 = inttoptr i64 %16 to ptr
  %call11 = tail call ptr %17(ptr %type, ptr nonnull %call6)
  br label %cleanup12.sink.split

cleanup12.sink.split:                             ; preds = %if.then, %if.end9
  %.sink = phi i64 [ 232, %if.end9 ], [ 224, %if.then ]
  %call6.sink = phi ptr [ %call6, %if.end9 ], [ %12, %if.then ]
  %retval.0.ph = phi ptr [ %call11, %if.end9 ], [ %12, %if.then ]
  %arrayidx.i12 = getelementptr inbounds nuw i8, ptr %0, i64 %.sink
  %18 = load i64, ptr %arrayidx.i12, align 8
  %19 = inttoptr i64 %18 to ptr
  tail call void %19(ptr %call6.sink)
  br label %cleanup12

cleanup12:                                        ; preds = %cleanup12.sink.split, %for.end
  %retval.0 = phi ptr [ null, %for.end ], [ %retval.0.ph, %cleanup12.sink.split ]
  ret ptr %retval.0
}

define ptr @fly_again(ptr readonly captures(none) %self, ptr %args, i64 %count) {
entry:
  %before.sroa.5.i.i = alloca { ptr, ptr }, align 8
  %overflow.i = alloca i32, align 4
  %facts = alloca %struct.Facts, align 8
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %self, i64 32
  %0 = load i64, ptr %add.ptr.i, align 8
  %1 = inttoptr i64 %0 to ptr
  call void @llvm.lifetime.start.p0(ptr nonnull %facts)
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i)
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %1, i64 392
  %2 = load i64, ptr %arrayidx.i, align 8
  %3 = inttoptr i64 %2 to ptr
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %1, i64 152
  %4 = load i64, ptr %arrayidx1.i, align 8
  %5 = inttoptr i64 %4 to ptr
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %1, i64 160
  %6 = load i64, ptr %arrayidx2.i, align 8
  %7 = inttoptr i64 %6 to ptr
  %call.i = tail call ptr %3(ptr %5, ptr %7)
  %arrayidx3.i = getelementptr inbounds nuw i8, ptr %1, i64 168
  %8 = load i64, ptr %arrayidx3.i, align 8
  %9 = inttoptr i64 %8 to ptr
  %arrayidx4.i = getelementptr inbounds nuw i8, ptr %1, i64 176
  %10 = load i64, ptr %arrayidx4.i, align 8
  %11 = inttoptr i64 %10 to ptr
  %call5.i = tail call ptr %3(ptr %9, ptr %11)
  %12 = ptrtoint ptr %call.i to i64
  %arrayidx6.i = getelementptr inbounds nuw i8, ptr %1, i64 72
  %13 = load i64, ptr %arrayidx6.i, align 8
  %cmp.i = icmp eq i64 %13, %12
  %tobool.i = icmp ne ptr %call5.i, null
  %or.cond.i = select i1 %cmp.i, i1 %tobool.i, i1 false
  br i1 %or.cond.i, label %lor.lhs.false7.i, label %if.then.i

lor.lhs.false7.i:                                 ; preds = %entry
  %arrayidx8.i = getelementptr inbounds nuw i8, ptr %1, i64 304
  %14 = load i64, ptr %arrayidx8.i, align 8
  %15 = inttoptr i64 %14 to ptr
  %call9.i = call i64 %15(ptr nonnull %call5.i, ptr nonnull %overflow.i)
  %cmp10.i = icmp sgt i64 %call9.i, -1
  br i1 %cmp10.i, label %if.then.i, label %if.end.i

if.then.i:                                        ; preds = %lor.lhs.false7.i, %entry
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %1, i64 240
  %16 = load i64, ptr %arrayidx.i.i, align 8
  %17 = inttoptr i64 %16 to ptr
  call void %17()
  br label %unwatched.exit.thread

if.end.i:                                         ; preds = %lor.lhs.false7.i
  %arrayidx.i12.i = getelementptr inbounds nuw i8, ptr %1, i64 128
  %18 = load i64, ptr %arrayidx.i12.i, align 8
  %19 = inttoptr i64 %18 to ptr
  %arrayidx1.i.i = getelementptr inbounds nuw i8, ptr %1, i64 96
  %20 = load i64, ptr %arrayidx1.i.i, align 8
  %conv.i.i = trunc i64 %20 to i32
  %call.i.i = call i8 %19(i32 %conv.i.i)
  %tobool.i.not.i = icmp eq i8 %call.i.i, 0
  br i1 %tobool.i.not.i, label %unwatched.exit, label %unwatched.exit.thread

unwatched.exit.thread:                            ; preds = %if.then.i, %if.end.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br label %if.then

unwatched.exit:                                   ; preds = %if.end.i
  %21 = load i64, ptr %arrayidx.i12.i, align 8
  %22 = inttoptr i64 %21 to ptr
  %arrayidx1.i14.i = getelementptr inbounds nuw i8, ptr %1, i64 104
  %23 = load i64, ptr %arrayidx1.i14.i, align 8
  %conv.i15.i = trunc i64 %23 to i32
  %call.i16.i = call i8 %22(i32 %conv.i15.i)
  %tobool.i17.not.i = icmp eq i8 %call.i16.i, 0
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br i1 %tobool.i17.not.i, label %lor.lhs.false, label %if.then

lor.lhs.false:                                    ; preds = %unwatched.exit
  %call2 = call fastcc i1 @fly.native_replay.take_facts(ptr nonnull %1, ptr %args, i64 %count, ptr null, ptr %facts)
  br i1 %call2, label %if.end, label %if.then

if.then:                                          ; preds = %unwatched.exit.thread, %lor.lhs.false, %unwatched.exit
  %arrayidx.i14 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %24 = load i64, ptr %arrayidx.i14, align 8
  %25 = inttoptr i64 %24 to ptr
  br label %cleanup10.sink.split

if.end:                                           ; preds = %lor.lhs.false
  %arrayidx.i16 = getelementptr inbounds nuw i8, ptr %self, i64 72
  %26 = load i64, ptr %arrayidx.i16, align 8
  %27 = inttoptr i64 %26 to ptr
  %28 = load i64, ptr %27, align 8
  %tobool.not.i = icmp eq i64 %28, 0
  %.pre.i = load i64, ptr %facts, align 8
  br i1 %tobool.not.i, label %if.end12.i, label %land.lhs.true.i

land.lhs.true.i:                                  ; preds = %if.end
  %arrayidx2.i17 = getelementptr inbounds nuw i8, ptr %27, i64 8
  %29 = load i64, ptr %arrayidx2.i17, align 8
  %cmp.i18 = icmp eq i64 %29, %.pre.i
  br i1 %cmp.i18, label %while.cond.preheader.i, label %if.end12.i

while.cond.preheader.i:                           ; preds = %land.lhs.true.i
  %cmp429.i = icmp sgt i64 %.pre.i, 0
  br i1 %cmp429.i, label %land.rhs.lr.ph.i, label %while.end.i

land.rhs.lr.ph.i:                                 ; preds = %while.cond.preheader.i
  %words.i = getelementptr inbounds nuw i8, ptr %facts, i64 8
  br label %land.rhs.i22

land.rhs.i22:                                     ; preds = %while.body.i, %land.rhs.lr.ph.i
  %at.030.i = phi i64 [ 0, %land.rhs.lr.ph.i ], [ %inc.i, %while.body.i ]
  %30 = getelementptr inbounds nuw i64, ptr %27, i64 %at.030.i
  %arrayidx5.i = getelementptr inbounds nuw i8, ptr %30, i64 16
  %31 = load i64, ptr %arrayidx5.i, align 8
  %arrayidx6.i23 = getelementptr inbounds nuw i64, ptr %words.i, i64 %at.030.i
  %32 = load i64, ptr %arrayidx6.i23, align 8
  %cmp7.i = icmp eq i64 %31, %32
  br i1 %cmp7.i, label %while.body.i, label %while.end.i

while.body.i:                                     ; preds = %land.rhs.i22
  %inc.i = add nuw nsw i64 %at.030.i, 1
  %exitcond.not.i = icmp eq i64 %inc.i, %.pre.i
  br i1 %exitcond.not.i, label %find.exit, label %land.rhs.i22

while.end.i:                                      ; preds = %land.rhs.i22, %while.cond.preheader.i
  %at.0.lcssa.i = phi i64 [ 0, %while.cond.preheader.i ], [ %at.030.i, %land.rhs.i22 ]
  %cmp9.i = icmp eq i64 %at.0.lcssa.i, %.pre.i
  br i1 %cmp9.i, label %find.exit, label %if.end12.i

if.end12.i:                                       ; preds = %while.end.i, %land.lhs.true.i, %if.end
  %arrayidx.i.i19 = getelementptr inbounds nuw i8, ptr %1, i64 368
  %33 = load i64, ptr %arrayidx.i.i19, align 8
  %34 = inttoptr i64 %33 to ptr
  %words.i.i = getelementptr inbounds nuw i8, ptr %facts, i64 8
  %mul.i.i = shl nsw i64 %.pre.i, 3
  %call.i.i20 = call ptr %34(ptr nonnull %words.i.i, i64 %mul.i.i)
  %tobool13.not.i = icmp eq ptr %call.i.i20, null
  br i1 %tobool13.not.i, label %if.then5, label %if.end15.i

if.end15.i:                                       ; preds = %if.end12.i
  %35 = load i64, ptr %arrayidx.i, align 8
  %36 = inttoptr i64 %35 to ptr
  %arrayidx17.i = getelementptr inbounds nuw i8, ptr %self, i64 40
  %37 = load i64, ptr %arrayidx17.i, align 8
  %38 = inttoptr i64 %37 to ptr
  %call18.i = call ptr %36(ptr %38, ptr nonnull %call.i.i20)
  %arrayidx.i28.i = getelementptr inbounds nuw i8, ptr %1, i64 232
  %39 = load i64, ptr %arrayidx.i28.i, align 8
  %40 = inttoptr i64 %39 to ptr
  call void %40(ptr nonnull %call.i.i20)
  %tobool19.not.i = icmp eq ptr %call18.i, null
  br i1 %tobool19.not.i, label %if.then5, label %if.then20.i

if.then20.i:                                      ; preds = %if.end15.i
  %41 = ptrtoint ptr %call18.i to i64
  store i64 %41, ptr %27, align 8
  %42 = load i64, ptr %facts, align 8
  %arrayidx23.i = getelementptr inbounds nuw i8, ptr %27, i64 8
  store i64 %42, ptr %arrayidx23.i, align 8
  %cmp2532.i = icmp sgt i64 %42, 0
  br i1 %cmp2532.i, label %for.body.i, label %if.end7

for.body.i:                                       ; preds = %if.then20.i, %for.body.i
  %i.033.i = phi i64 [ %inc30.i, %for.body.i ], [ 0, %if.then20.i ]
  %arrayidx27.i = getelementptr inbounds nuw i64, ptr %words.i.i, i64 %i.033.i
  %43 = load i64, ptr %arrayidx27.i, align 8
  %44 = getelementptr inbounds nuw i64, ptr %27, i64 %i.033.i
  %arrayidx29.i = getelementptr inbounds nuw i8, ptr %44, i64 16
  store i64 %43, ptr %arrayidx29.i, align 8
  %inc30.i = add nuw nsw i64 %i.033.i, 1
  %45 = load i64, ptr %facts, align 8
  %cmp25.i = icmp slt i64 %inc30.i, %45
  br i1 %cmp25.i, label %for.body.i, label %if.end7

find.exit:                                        ; preds = %while.body.i, %while.end.i
  %46 = inttoptr i64 %28 to ptr
  br label %if.end7

if.then5:                                         ; preds = %if.end15.i, %if.end12.i
  %arrayidx.i24 = getelementptr inbounds nuw i8, ptr %1, i64 248
  %47 = load i64, ptr %arrayidx.i24, align 8
  %48 = inttoptr i64 %47 to ptr
  %call.i25 = call ptr %48()
  %tobool1.not.i = icmp eq ptr %call.i25, null
  br i1 %tobool1.not.i, label %if.end.i27, label %cleanup10

if.end.i27:                                       ; preds = %if.then5
  %arrayidx.i.i28 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %49 = load i64, ptr %arrayidx.i.i28, align 8
  %50 = inttoptr i64 %49 to ptr
  br label %cleanup10.sink.split

if.end7:                                          ; preds = %for.body.i, %find.exit, %if.then20.i
  %retval.0.i2153 = phi ptr [ %46, %find.exit ], [ %call18.i, %if.then20.i ], [ %call18.i, %for.body.i ]
  %arrayidx.i29 = getelementptr inbounds nuw i8, ptr %1, i64 224
  %51 = load i64, ptr %arrayidx.i29, align 8
  %52 = inttoptr i64 %51 to ptr
  call void %52(ptr nonnull %retval.0.i2153)
  %arrayidx.i30 = getelementptr inbounds nuw i8, ptr %1, i64 344
  %53 = load i64, ptr %arrayidx.i30, align 8
  %54 = inttoptr i64 %53 to ptr
  %arrayidx1.i31 = getelementptr inbounds nuw i8, ptr %1, i64 136
  %55 = load i64, ptr %arrayidx1.i31, align 8
  %56 = inttoptr i64 %55 to ptr
  %call.i32 = call i8 %56()
  %tobool.not.i33 = icmp eq i8 %call.i32, 0
  br i1 %tobool.not.i33, label %if.end43.i, label %land.end.i

land.end.i:                                       ; preds = %if.end7
  %arrayidx2.i34 = getelementptr inbounds nuw i8, ptr %1, i64 144
  %57 = load i64, ptr %arrayidx2.i34, align 8
  %58 = inttoptr i64 %57 to ptr
  %call3.i = call i8 %58()
  %tobool4.not.i = icmp eq i8 %call3.i, 0
  br i1 %tobool4.not.i, label %land.lhs.true.i36, label %if.end43.i

land.lhs.true.i36:                                ; preds = %land.end.i
  %arrayidx6.i37 = getelementptr inbounds nuw i8, ptr %self, i64 56
  %59 = load i64, ptr %arrayidx6.i37, align 8
  %arrayidx7.i = getelementptr inbounds nuw i8, ptr %self, i64 48
  %60 = load i64, ptr %arrayidx7.i, align 8
  %call8.i = call fastcc i1 @fly.native_replay.want_gradients(ptr nonnull readonly %1, ptr %args, i64 %59, i64 %60)
  br i1 %call8.i, label %if.then.i42, label %land.end20.i

if.then.i42:                                      ; preds = %land.lhs.true.i36
  %arrayidx.i.i43 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %61 = load i64, ptr %arrayidx.i.i43, align 8
  %62 = inttoptr i64 %61 to ptr
  %63 = load i64, ptr %arrayidx.i29, align 8
  %64 = inttoptr i64 %63 to ptr
  call void %64(ptr %62)
  br label %cleanup10.sink.split

land.end20.i:                                     ; preds = %land.lhs.true.i36
  %65 = load i64, ptr %arrayidx6.i37, align 8
  %arrayidx12.i = getelementptr inbounds nuw i8, ptr %self, i64 64
  %66 = load i64, ptr %arrayidx12.i, align 8
  %tobool13.not.i38 = icmp eq i64 %66, 0
  %..i = select i1 %tobool13.not.i38, i64 %65, i64 %66
  %call18.i39 = call fastcc i1 @fly.native_replay.want_gradients(ptr nonnull readonly %1, ptr %args, i64 0, i64 %..i)
  br i1 %call18.i39, label %if.then33.i, label %land.lhs.true26.i

land.lhs.true26.i:                                ; preds = %land.end20.i
  %call27.i = call fastcc i1 @fly.native_replay.want_gradients(ptr nonnull readonly %1, ptr %args, i64 %..i, i64 %65)
  br i1 %call27.i, label %if.then29.i, label %if.end43.i

if.then29.i:                                      ; preds = %land.lhs.true26.i
  %arrayidx.i35.i = getelementptr inbounds nuw i8, ptr %1, i64 56
  %67 = load i64, ptr %arrayidx.i35.i, align 8
  %68 = inttoptr i64 %67 to ptr
  %69 = load i64, ptr %arrayidx.i29, align 8
  %70 = inttoptr i64 %69 to ptr
  call void %70(ptr %68)
  br label %cleanup10.sink.split

if.then33.i:                                      ; preds = %land.end20.i
  %call34.i = call ptr %54(ptr nonnull %retval.0.i2153, i64 1)
  %71 = ptrtoint ptr %call34.i to i64
  %arrayidx35.i = getelementptr inbounds nuw i8, ptr %1, i64 56
  %72 = load i64, ptr %arrayidx35.i, align 8
  %cmp.i40 = icmp eq i64 %72, %71
  br i1 %cmp.i40, label %if.then39.i, label %lor.lhs.false.i

lor.lhs.false.i:                                  ; preds = %if.then33.i
  %73 = load i64, ptr %arrayidx.i12.i, align 8
  %74 = inttoptr i64 %73 to ptr
  %arrayidx1.i.i.i = getelementptr inbounds nuw i8, ptr %1, i64 112
  %75 = load i64, ptr %arrayidx1.i.i.i, align 8
  %conv.i.i.i = trunc i64 %75 to i32
  %call.i.i.i = call i8 %74(i32 %conv.i.i.i)
  %tobool.i.not.i.i = icmp eq i8 %call.i.i.i, 0
  br i1 %tobool.i.not.i.i, label %transformed.exit.i, label %if.then39.i

transformed.exit.i:                               ; preds = %lor.lhs.false.i
  %76 = load i64, ptr %arrayidx.i12.i, align 8
  %77 = inttoptr i64 %76 to ptr
  %arrayidx1.i3.i.i = getelementptr inbounds nuw i8, ptr %1, i64 120
  %78 = load i64, ptr %arrayidx1.i3.i.i, align 8
  %conv.i4.i.i = trunc i64 %78 to i32
  %call.i5.i.i = call i8 %77(i32 %conv.i4.i.i)
  %tobool.i6.i.not.i = icmp eq i8 %call.i5.i.i, 0
  br i1 %tobool.i6.i.not.i, label %if.end41.i, label %if.then39.i

if.then39.i:                                      ; preds = %transformed.exit.i, %lor.lhs.false.i, %if.then33.i
  %79 = load i64, ptr %arrayidx35.i, align 8
  %80 = inttoptr i64 %79 to ptr
  %81 = load i64, ptr %arrayidx.i29, align 8
  %82 = inttoptr i64 %81 to ptr
  call void %82(ptr %80)
  br label %cleanup10.sink.split

if.end41.i:                                       ; preds = %transformed.exit.i
  call void @llvm.lifetime.start.p0(ptr nonnull %before.sroa.5.i.i)
  %before.sroa.0.0.copyload.i.i = load ptr, ptr @fly.native_replay.handed, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(16) %before.sroa.5.i.i, ptr nonnull align 8 dereferenceable(16) getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), i64 16, i1 false)
  %arrayidx.i40.i = getelementptr inbounds nuw i8, ptr %1, i64 400
  %83 = load i64, ptr %arrayidx.i40.i, align 8
  %84 = inttoptr i64 %83 to ptr
  %call.i.i41 = call ptr %84()
  store ptr %call.i.i41, ptr @fly.native_replay.handed, align 8
  store ptr %args, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), align 8
  store ptr %facts, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 16), align 8
  %arrayidx3.i.i = getelementptr inbounds nuw i8, ptr %1, i64 272
  %85 = load i64, ptr %arrayidx3.i.i, align 8
  %86 = inttoptr i64 %85 to ptr
  %87 = load i64, ptr %arrayidx6.i37, align 8
  %call5.i.i = call ptr %86(ptr %call34.i, ptr %args, i64 %87, ptr null)
  %88 = load ptr, ptr @fly.native_replay.handed, align 8
  %cmp.i.i = icmp eq ptr %88, %call.i.i41
  br i1 %cmp.i.i, label %if.then.i.i, label %derived.exit.i

if.then.i.i:                                      ; preds = %if.end41.i
  %cmp9.i.i = icmp eq ptr %before.sroa.0.0.copyload.i.i, %call.i.i41
  br i1 %cmp9.i.i, label %cond.true.i.i, label %cond.false.i.i

cond.true.i.i:                                    ; preds = %if.then.i.i
  store ptr %before.sroa.0.0.copyload.i.i, ptr @fly.native_replay.handed, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(16) getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), ptr nonnull align 8 dereferenceable(16) %before.sroa.5.i.i, i64 16, i1 false)
  br label %derived.exit.i

cond.false.i.i:                                   ; preds = %if.then.i.i
  call void @llvm.memset.p0.i64(ptr nonnull align 8 dereferenceable(24) @fly.native_replay.handed, i8 0, i64 24, i1 false)
  br label %derived.exit.i

derived.exit.i:                                   ; preds = %cond.false.i.i, %cond.true.i.i, %if.end41.i
  call void @llvm.lifetime.end.p0(ptr nonnull %before.sroa.5.i.i)
  br label %cleanup10.sink.split

if.end43.i:                                       ; preds = %land.lhs.true26.i, %land.end.i, %if.end7
  %call44.i = call ptr %54(ptr nonnull %retval.0.i2153, i64 0)
  %89 = ptrtoint ptr %call44.i to i64
  %arrayidx45.i = getelementptr inbounds nuw i8, ptr %1, i64 56
  %90 = load i64, ptr %arrayidx45.i, align 8
  %cmp46.i = icmp eq i64 %90, %89
  br i1 %cmp46.i, label %if.then48.i, label %if.end50.i

if.then48.i:                                      ; preds = %if.end43.i
  %91 = load i64, ptr %arrayidx.i29, align 8
  %92 = inttoptr i64 %91 to ptr
  call void %92(ptr %call44.i)
  br label %cleanup10.sink.split

if.end50.i:                                       ; preds = %if.end43.i
  %add.ptr.i.i = getelementptr inbounds nuw i8, ptr %call44.i, i64 32
  %addresses.i = getelementptr inbounds nuw i8, ptr %facts, i64 2568
  %call52.i = call fastcc ptr @fly.native_replay.run(ptr nonnull readonly %1, ptr nonnull %add.ptr.i.i, ptr %args, ptr nonnull %addresses.i, ptr null)
  %tobool.not.i.i = icmp eq ptr %call52.i, null
  br i1 %tobool.not.i.i, label %lor.lhs.false.i.i, label %cleanup10.sink.split

lor.lhs.false.i.i:                                ; preds = %if.end50.i
  %arrayidx.i43.i = getelementptr inbounds nuw i8, ptr %1, i64 248
  %93 = load i64, ptr %arrayidx.i43.i, align 8
  %94 = inttoptr i64 %93 to ptr
  %call.i44.i = call ptr %94()
  %tobool1.not.i.i = icmp eq ptr %call.i44.i, null
  br i1 %tobool1.not.i.i, label %if.end.i.i, label %cleanup10.sink.split

if.end.i.i:                                       ; preds = %lor.lhs.false.i.i
  %95 = load i64, ptr %arrayidx45.i, align 8
  %96 = inttoptr i64 %95 to ptr
  %97 = load i64, ptr %arrayidx.i29, align 8
  %98 = inttoptr i64 %97 to ptr
  call void %98(ptr %96)
  br label %cleanup10.sink.split

cleanup10.sink.split:                             ; preds = %if.end.i.i, %lor.lhs.false.i.i, %if.end50.i, %if.then48.i, %derived.exit.i, %if.then39.i, %if.then29.i, %if.then.i42, %if.then, %if.end.i27
  %.sink59 = phi i64 [ 224, %if.end.i27 ], [ 224, %if.then ], [ 232, %if.then.i42 ], [ 232, %if.then29.i ], [ 232, %if.then39.i ], [ 232, %derived.exit.i ], [ 232, %if.then48.i ], [ 232, %if.end50.i ], [ 232, %lor.lhs.false.i.i ], [ 232, %if.end.i.i ]
  %.sink = phi ptr [ %50, %if.end.i27 ], [ %25, %if.then ], [ %retval.0.i2153, %if.then.i42 ], [ %retval.0.i2153, %if.then29.i ], [ %retval.0.i2153, %if.then39.i ], [ %retval.0.i2153, %derived.exit.i ], [ %retval.0.i2153, %if.then48.i ], [ %retval.0.i2153, %if.end50.i ], [ %retval.0.i2153, %lor.lhs.false.i.i ], [ %retval.0.i2153, %if.end.i.i ]
  %retval.0.ph = phi ptr [ %50, %if.end.i27 ], [ %25, %if.then ], [ %62, %if.then.i42 ], [ %68, %if.then29.i ], [ %80, %if.then39.i ], [ %call5.i.i, %derived.exit.i ], [ %call44.i, %if.then48.i ], [ %call52.i, %if.end50.i ], [ null, %lor.lhs.false.i.i ], [ %96, %if.end.i.i ]
  %arrayidx.i.i.i = getelementptr inbounds nuw i8, ptr %1, i64 %.sink59
  %99 = load i64, ptr %arrayidx.i.i.i, align 8
  %100 = inttoptr i64 %99 to ptr
  call void %100(ptr %.sink)
  br label %cleanup10

cleanup10:                                        ; preds = %cleanup10.sink.split, %if.then5
  %retval.0 = phi ptr [ null, %if.then5 ], [ %retval.0.ph, %cleanup10.sink.split ]
  call void @llvm.lifetime.end.p0(ptr nonnull %facts)
  ret ptr %retval.0
}

define ptr @fly_entry(ptr %function, ptr %args, i64 %flags, ptr %names) {
entry:
  %0 = ptrtoint ptr %function to i64
  %shr.i.i = ashr i64 %0, 4
  %rem.i.i = srem i64 %shr.i.i, 64
  %arrayidx.i.i = getelementptr inbounds ptr, ptr @fly.native_replay.entries, i64 %rem.i.i
  br label %while.cond.i

while.cond.i:                                     ; preds = %while.cond.i, %entry
  %entry1.0.in.i = phi ptr [ %arrayidx.i.i, %entry ], [ %entry1.0.i, %while.cond.i ]
  %entry1.0.i = load ptr, ptr %entry1.0.in.i, align 8
  %function2.i = getelementptr inbounds nuw i8, ptr %entry1.0.i, i64 8
  %1 = load ptr, ptr %function2.i, align 8
  %cmp.not.i = icmp eq ptr %1, %function
  br i1 %cmp.not.i, label %entry_of.exit, label %while.cond.i

entry_of.exit:                                    ; preds = %while.cond.i
  %site = getelementptr inbounds nuw i8, ptr %entry1.0.i, i64 16
  %2 = load ptr, ptr %site, align 8
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %2, i64 32
  %3 = load i64, ptr %add.ptr.i, align 8
  %4 = inttoptr i64 %3 to ptr
  %parameters = getelementptr inbounds nuw i8, ptr %entry1.0.i, i64 72
  %5 = load i64, ptr %parameters, align 8
  %arguments = getelementptr inbounds nuw i8, ptr %entry1.0.i, i64 80
  %6 = load i64, ptr %arguments, align 8
  %add = add nsw i64 %6, %5
  %mul = shl i64 %add, 3
  %7 = alloca i8, i64 %mul, align 16
  %add.ptr = getelementptr inbounds ptr, ptr %7, i64 %5
  %frame_of = getelementptr inbounds nuw i8, ptr %entry1.0.i, i64 32
  %8 = load ptr, ptr %frame_of, align 8
  %interpreter = getelementptr inbounds nuw i8, ptr %entry1.0.i, i64 40
  %9 = load ptr, ptr %interpreter, align 8
  %call4 = tail call ptr %8(ptr %9)
  %frame = getelementptr inbounds nuw i8, ptr %entry1.0.i, i64 48
  %10 = load ptr, ptr %frame, align 8
  %cmp = icmp eq ptr %call4, %10
  br i1 %cmp, label %land.lhs.true, label %if.end13

land.lhs.true:                                    ; preds = %entry_of.exit
  %and = and i64 %flags, 9223372036854775807
  %tobool.not.i = icmp eq ptr %names, null
  br i1 %tobool.not.i, label %cond.end.i, label %cond.true.i

cond.true.i:                                      ; preds = %land.lhs.true
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %4, i64 336
  %11 = load i64, ptr %arrayidx.i, align 8
  %12 = inttoptr i64 %11 to ptr
  %call.i = tail call i64 %12(ptr nonnull %names)
  br label %cond.end.i

cond.end.i:                                       ; preds = %cond.true.i, %land.lhs.true
  %cond.i = phi i64 [ %call.i, %cond.true.i ], [ 0, %land.lhs.true ]
  %positional.i = getelementptr inbounds nuw i8, ptr %entry1.0.i, i64 64
  %13 = load i64, ptr %positional.i, align 8
  %cmp.i = icmp sgt i64 %and, %13
  br i1 %cmp.i, label %if.end13, label %for.cond.preheader.i

for.cond.preheader.i:                             ; preds = %cond.end.i
  %14 = load i64, ptr %parameters, align 8
  %cmp262.i = icmp sgt i64 %14, 0
  br i1 %cmp262.i, label %for.body.lr.ph.i, label %for.cond12.preheader.i

for.body.lr.ph.i:                                 ; preds = %for.cond.preheader.i
  %parameter.i = getelementptr inbounds nuw i8, ptr %entry1.0.i, i64 88
  br label %for.body.i

for.cond12.preheader.i:                           ; preds = %cond.end8.i, %for.cond.preheader.i
  %cmp13.not70.i = icmp sgt i64 %cond.i, 0
  br i1 %cmp13.not70.i, label %for.body15.lr.ph.i, label %for.cond38.preheader.i

for.body15.lr.ph.i:                               ; preds = %for.cond12.preheader.i
  %arrayidx16.i = getelementptr inbounds nuw i8, ptr %4, i64 344
  %parameter20.i = getelementptr inbounds nuw i8, ptr %entry1.0.i, i64 88
  %15 = getelementptr inbounds nuw ptr, ptr %args, i64 %and
  br label %for.body15.i

for.body.i:                                       ; preds = %cond.end8.i, %for.body.lr.ph.i
  %i.063.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %inc.i, %cond.end8.i ]
  %cmp3.i = icmp samesign ult i64 %i.063.i, %and
  br i1 %cmp3.i, label %cond.true4.i, label %cond.false6.i

cond.true4.i:                                     ; preds = %for.body.i
  %arrayidx5.i = getelementptr inbounds nuw ptr, ptr %args, i64 %i.063.i
  br label %cond.end8.i

cond.false6.i:                                    ; preds = %for.body.i
  %16 = load ptr, ptr %parameter.i, align 8
  %arrayidx7.i = getelementptr inbounds nuw %struct.Parameter, ptr %16, i64 %i.063.i
  %otherwise.i = getelementptr inbounds nuw i8, ptr %arrayidx7.i, i64 8
  br label %cond.end8.i

cond.end8.i:                                      ; preds = %cond.false6.i, %cond.true4.i
  %cond9.in.i = phi ptr [ %arrayidx5.i, %cond.true4.i ], [ %otherwise.i, %cond.false6.i ]
  %cond9.i = load ptr, ptr %cond9.in.i, align 8
  %arrayidx10.i = getelementptr inbounds nuw ptr, ptr %7, i64 %i.063.i
  store ptr %cond9.i, ptr %arrayidx10.i, align 8
  %inc.i = add nuw nsw i64 %i.063.i, 1
  %cmp2.i = icmp slt i64 %inc.i, %14
  br i1 %cmp2.i, label %for.body.i, label %for.cond12.preheader.i

for.cond38.preheader.i:                           ; preds = %if.end28.i, %for.cond12.preheader.i
  %17 = phi i64 [ %14, %for.cond12.preheader.i ], [ %20, %if.end28.i ]
  %none68.i = getelementptr inbounds nuw i8, ptr %entry1.0.i, i64 24
  %cmp40.not72.i = icmp slt i64 %17, 1
  br i1 %cmp40.not72.i, label %land.lhs.true6, label %for.body42.lr.ph.i

for.body42.lr.ph.i:                               ; preds = %for.cond38.preheader.i
  %parameter43.i = getelementptr inbounds nuw i8, ptr %entry1.0.i, i64 88
  %arrayidx2.i.i = getelementptr inbounds nuw i8, ptr %4, i64 8
  %.pre79.i = load ptr, ptr %parameter43.i, align 8
  br label %for.body42.i

for.body15.i:                                     ; preds = %if.end28.i, %for.body15.lr.ph.i
  %i11.071.i = phi i64 [ 0, %for.body15.lr.ph.i ], [ %inc33.i, %if.end28.i ]
  %18 = load i64, ptr %arrayidx16.i, align 8
  %19 = inttoptr i64 %18 to ptr
  %call17.i = tail call ptr %19(ptr %names, i64 %i11.071.i)
  %20 = load i64, ptr %parameters, align 8
  %cmp1964.i = icmp slt i64 %and, %20
  br i1 %cmp1964.i, label %land.rhs.lr.ph.i, label %while.end.i

land.rhs.lr.ph.i:                                 ; preds = %for.body15.i
  %21 = load ptr, ptr %parameter20.i, align 8
  br label %land.rhs.i

land.rhs.i:                                       ; preds = %while.body.i, %land.rhs.lr.ph.i
  %at.065.i = phi i64 [ %and, %land.rhs.lr.ph.i ], [ %inc24.i, %while.body.i ]
  %arrayidx21.i = getelementptr inbounds nuw %struct.Parameter, ptr %21, i64 %at.065.i
  %22 = load ptr, ptr %arrayidx21.i, align 8
  %cmp23.not.i = icmp eq ptr %22, %call17.i
  br i1 %cmp23.not.i, label %while.end.i, label %while.body.i

while.body.i:                                     ; preds = %land.rhs.i
  %inc24.i = add nuw i64 %at.065.i, 1
  %exitcond.not.i = icmp eq i64 %inc24.i, %20
  br i1 %exitcond.not.i, label %if.end13, label %land.rhs.i

while.end.i:                                      ; preds = %land.rhs.i, %for.body15.i
  %at.0.lcssa.i = phi i64 [ %and, %for.body15.i ], [ %at.065.i, %land.rhs.i ]
  %cmp26.not.i = icmp eq i64 %at.0.lcssa.i, %20
  br i1 %cmp26.not.i, label %if.end13, label %if.end28.i

if.end28.i:                                       ; preds = %while.end.i
  %arrayidx29.i = getelementptr inbounds nuw ptr, ptr %15, i64 %i11.071.i
  %23 = load ptr, ptr %arrayidx29.i, align 8
  %arrayidx30.i = getelementptr inbounds nuw ptr, ptr %7, i64 %at.0.lcssa.i
  store ptr %23, ptr %arrayidx30.i, align 8
  %inc33.i = add nuw nsw i64 %i11.071.i, 1
  %exitcond78.not.i = icmp eq i64 %inc33.i, %cond.i
  br i1 %exitcond78.not.i, label %for.cond38.preheader.i, label %for.body15.i

for.body42.i:                                     ; preds = %if.end71.i, %for.body42.lr.ph.i
  %i37.073.i = phi i64 [ 0, %for.body42.lr.ph.i ], [ %inc76.i, %if.end71.i ]
  %arrayidx44.i = getelementptr inbounds nuw %struct.Parameter, ptr %.pre79.i, i64 %i37.073.i
  %stands45.i = getelementptr inbounds nuw i8, ptr %arrayidx44.i, i64 24
  %24 = load i64, ptr %stands45.i, align 8
  %arrayidx46.i = getelementptr inbounds nuw ptr, ptr %7, i64 %i37.073.i
  %25 = load ptr, ptr %arrayidx46.i, align 8
  %tobool47.i = icmp ne ptr %25, null
  %cmp48.i = icmp sgt i64 %24, -1
  %or.cond.i = select i1 %tobool47.i, i1 %cmp48.i, i1 false
  br i1 %or.cond.i, label %land.lhs.true49.i, label %if.end60.i

land.lhs.true49.i:                                ; preds = %for.body42.i
  %arrayidx50.i = getelementptr inbounds nuw ptr, ptr %7, i64 %24
  %26 = load ptr, ptr %arrayidx50.i, align 8
  %27 = load ptr, ptr %none68.i, align 8
  %cmp51.i = icmp eq ptr %26, %27
  br i1 %cmp51.i, label %land.lhs.true52.i, label %lor.lhs.false.i

land.lhs.true52.i:                                ; preds = %land.lhs.true49.i
  %type.i.i = getelementptr inbounds nuw i8, ptr %25, i64 8
  %28 = load ptr, ptr %type.i.i, align 8
  %29 = ptrtoint ptr %28 to i64
  %30 = load i64, ptr %4, align 8
  %cmp.i.i = icmp eq i64 %30, %29
  br i1 %cmp.i.i, label %if.then55.i, label %is_tensor.exit.i

is_tensor.exit.i:                                 ; preds = %land.lhs.true52.i
  %31 = load i64, ptr %arrayidx2.i.i, align 8
  %cmp3.i.i = icmp eq i64 %31, %29
  br i1 %cmp3.i.i, label %if.then55.i, label %lor.lhs.false.i

if.then55.i:                                      ; preds = %is_tensor.exit.i, %land.lhs.true52.i
  store ptr %25, ptr %arrayidx50.i, align 8
  store ptr %27, ptr %arrayidx46.i, align 8
  br label %if.end60.i

if.end60.i:                                       ; preds = %if.then55.i, %for.body42.i
  %32 = phi ptr [ %25, %for.body42.i ], [ %26, %if.then55.i ]
  %tobool62.not.i = icmp eq ptr %32, null
  br i1 %tobool62.not.i, label %if.end13, label %lor.lhs.false.i

lor.lhs.false.i:                                  ; preds = %if.end60.i, %is_tensor.exit.i, %land.lhs.true49.i
  %33 = phi ptr [ %32, %if.end60.i ], [ %25, %land.lhs.true49.i ], [ %25, %is_tensor.exit.i ]
  %absent.i = getelementptr inbounds nuw i8, ptr %arrayidx44.i, i64 16
  %34 = load i64, ptr %absent.i, align 8
  %tobool65.not.i = icmp eq i64 %34, 0
  br i1 %tobool65.not.i, label %if.end71.i, label %land.lhs.true66.i

land.lhs.true66.i:                                ; preds = %lor.lhs.false.i
  %35 = load ptr, ptr %none68.i, align 8
  %cmp69.not.i = icmp eq ptr %33, %35
  br i1 %cmp69.not.i, label %if.end71.i, label %if.end13

if.end71.i:                                       ; preds = %land.lhs.true66.i, %lor.lhs.false.i
  %inc76.i = add nuw nsw i64 %i37.073.i, 1
  %cmp40.not.not.i = icmp slt i64 %inc76.i, %17
  br i1 %cmp40.not.not.i, label %for.body42.i, label %land.lhs.true6

land.lhs.true6:                                   ; preds = %if.end71.i, %for.cond38.preheader.i
  %36 = load i64, ptr %arguments, align 8
  %cmp23.i = icmp slt i64 %36, 1
  br i1 %cmp23.i, label %if.then, label %for.body.lr.ph.i24

for.body.lr.ph.i24:                               ; preds = %land.lhs.true6
  %argument.i = getelementptr inbounds nuw i8, ptr %entry1.0.i, i64 96
  %arrayidx8.i = getelementptr inbounds nuw i8, ptr %4, i64 256
  %arrayidx.i19.i = getelementptr inbounds nuw i8, ptr %4, i64 232
  br label %for.body.i25

for.body.i25:                                     ; preds = %for.inc.i, %for.body.lr.ph.i24
  %37 = phi i64 [ %36, %for.body.lr.ph.i24 ], [ %44, %for.inc.i ]
  %i.024.i = phi i64 [ 0, %for.body.lr.ph.i24 ], [ %inc.i32, %for.inc.i ]
  %38 = load ptr, ptr %argument.i, align 8
  %arrayidx.i26 = getelementptr inbounds nuw %struct.Argument, ptr %38, i64 %i.024.i
  %own.sroa.0.0.copyload.i = load i64, ptr %arrayidx.i26, align 8
  %own.sroa.6.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i26, i64 16
  %own.sroa.6.0.copyload.i = load ptr, ptr %own.sroa.6.0.arrayidx.sroa_idx.i, align 8
  %cmp2.i27 = icmp slt i64 %own.sroa.0.0.copyload.i, 0
  %own.sroa.5.0.arrayidx.sroa_idx.i = getelementptr inbounds nuw i8, ptr %arrayidx.i26, i64 8
  %arrayidx4.i = getelementptr inbounds nuw ptr, ptr %7, i64 %own.sroa.0.0.copyload.i
  %cond.in.i = select i1 %cmp2.i27, ptr %own.sroa.5.0.arrayidx.sroa_idx.i, ptr %arrayidx4.i
  %cond.i28 = load ptr, ptr %cond.in.i, align 8
  %arrayidx5.i29 = getelementptr inbounds nuw ptr, ptr %add.ptr, i64 %i.024.i
  store ptr %cond.i28, ptr %arrayidx5.i29, align 8
  %tobool.not.i30 = icmp eq ptr %own.sroa.6.0.copyload.i, null
  br i1 %tobool.not.i30, label %for.inc.i, label %lor.lhs.false.i31

lor.lhs.false.i31:                                ; preds = %for.body.i25
  %39 = load ptr, ptr %none68.i, align 8
  %cmp7.not.i = icmp eq ptr %cond.i28, %39
  br i1 %cmp7.not.i, label %if.end.i, label %for.inc.i

if.end.i:                                         ; preds = %lor.lhs.false.i31
  %40 = load i64, ptr %arrayidx8.i, align 8
  %41 = inttoptr i64 %40 to ptr
  %call.i34 = tail call ptr %41(ptr nonnull %own.sroa.6.0.copyload.i)
  store ptr %call.i34, ptr %arrayidx5.i29, align 8
  %tobool12.not.i = icmp eq ptr %call.i34, null
  br i1 %tobool12.not.i, label %order_arguments.exit, label %if.end15.i

if.end15.i:                                       ; preds = %if.end.i
  %42 = load i64, ptr %arrayidx.i19.i, align 8
  %43 = inttoptr i64 %42 to ptr
  tail call void %43(ptr nonnull %call.i34)
  %.pre = load i64, ptr %arguments, align 8
  br label %for.inc.i

for.inc.i:                                        ; preds = %if.end15.i, %lor.lhs.false.i31, %for.body.i25
  %44 = phi i64 [ %.pre, %if.end15.i ], [ %37, %lor.lhs.false.i31 ], [ %37, %for.body.i25 ]
  %inc.i32 = add nuw nsw i64 %i.024.i, 1
  %cmp.not.i33 = icmp slt i64 %inc.i32, %44
  br i1 %cmp.not.i33, label %for.body.i25, label %if.then

order_arguments.exit:                             ; preds = %if.end.i
  %arrayidx.i.i35 = getelementptr inbounds nuw i8, ptr %4, i64 240
  %45 = load i64, ptr %arrayidx.i.i35, align 8
  %46 = inttoptr i64 %45 to ptr
  tail call void %46()
  br label %if.end13

if.then:                                          ; preds = %for.inc.i, %land.lhs.true6
  %47 = phi i64 [ %36, %land.lhs.true6 ], [ %44, %for.inc.i ]
  %48 = load ptr, ptr %site, align 8
  %call10 = call ptr @fly_again(ptr %48, ptr nonnull %add.ptr, i64 %47)
  %49 = load ptr, ptr %none68.i, align 8
  %cmp11.not = icmp eq ptr %call10, %49
  br i1 %cmp11.not, label %if.end, label %cleanup15

if.end:                                           ; preds = %if.then
  %arrayidx.i36 = getelementptr inbounds nuw i8, ptr %4, i64 232
  %50 = load i64, ptr %arrayidx.i36, align 8
  %51 = inttoptr i64 %50 to ptr
  call void %51(ptr %call10)
  br label %if.end13

if.end13:                                         ; preds = %while.end.i, %while.body.i, %land.lhs.true66.i, %if.end60.i, %cond.end.i, %order_arguments.exit, %if.end, %entry_of.exit
  %code = getelementptr inbounds nuw i8, ptr %entry1.0.i, i64 56
  %52 = load ptr, ptr %code, align 8
  %call14 = call ptr %52(ptr %function, ptr %args, i64 %flags, ptr %names)
  br label %cleanup15

cleanup15:                                        ; preds = %if.then, %if.end13
  %retval.1 = phi ptr [ %call14, %if.end13 ], [ %call10, %if.then ]
  ret ptr %retval.1
}

define internal fastcc i1 @fly.native_replay.make(ptr readonly captures(none) %python, ptr readonly captures(none) %row, ptr nonnull captures(none) initializes((0, 8)) %made, ptr writeonly captures(none) %address) {
entry:
  %found = alloca %struct.Tensor, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %found)
  store ptr null, ptr %made, align 8
  %arrayidx = getelementptr inbounds nuw i8, ptr %row, i64 16
  %0 = load i64, ptr %arrayidx, align 8
  %tobool.not = icmp eq i64 %0, 0
  br i1 %tobool.not, label %if.then12, label %if.then

if.then:                                          ; preds = %entry
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %python, i64 280
  %1 = load i64, ptr %arrayidx1, align 8
  %2 = inttoptr i64 %1 to ptr
  %3 = inttoptr i64 %0 to ptr
  %arrayidx3 = getelementptr inbounds nuw i8, ptr %row, i64 24
  %4 = load i64, ptr %arrayidx3, align 8
  %5 = inttoptr i64 %4 to ptr
  %call = tail call ptr %2(ptr nonnull %3, ptr %5)
  store ptr %call, ptr %made, align 8
  %tobool4.not = icmp eq ptr %call, null
  br i1 %tobool4.not, label %cleanup24, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %if.then
  %type.i.i = getelementptr inbounds nuw i8, ptr %call, i64 8
  %6 = load ptr, ptr %type.i.i, align 8
  %7 = ptrtoint ptr %6 to i64
  %8 = load i64, ptr %python, align 8
  %cmp.i.i = icmp eq i64 %8, %7
  br i1 %cmp.i.i, label %land.rhs.i, label %is_tensor.exit.i

is_tensor.exit.i:                                 ; preds = %lor.lhs.false
  %arrayidx2.i.i = getelementptr inbounds nuw i8, ptr %python, i64 8
  %9 = load i64, ptr %arrayidx2.i.i, align 8
  %cmp3.i.i = icmp eq i64 %9, %7
  br i1 %cmp3.i.i, label %land.rhs.i, label %lor.rhs.i

land.rhs.i:                                       ; preds = %is_tensor.exit.i, %lor.lhs.false
  %10 = load ptr, ptr @fly.native_replay.tensor_memory, align 8
  %call1.i = call fastcc i1 @fly.native_replay.read_plain(ptr %10, ptr nonnull %call, ptr nonnull %found)
  br i1 %call1.i, label %if.end, label %lor.rhs.i

lor.rhs.i:                                        ; preds = %is_tensor.exit.i, %land.rhs.i
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %python, i64 208
  %11 = load i64, ptr %arrayidx.i.i, align 8
  %12 = inttoptr i64 %11 to ptr
  %call.i.i = call i32 %12(ptr nonnull %call, ptr nonnull %found)
  %tobool.not.i.i = icmp eq i32 %call.i.i, 0
  br i1 %tobool.not.i.i, label %if.end, label %read_known.exit

read_known.exit:                                  ; preds = %lor.rhs.i
  %arrayidx.i.i.i = getelementptr inbounds nuw i8, ptr %python, i64 240
  %13 = load i64, ptr %arrayidx.i.i.i, align 8
  %14 = inttoptr i64 %13 to ptr
  call void %14()
  br label %cleanup24

if.end:                                           ; preds = %land.rhs.i, %lor.rhs.i
  %device = getelementptr inbounds nuw i8, ptr %found, i64 8
  %15 = load i64, ptr %device, align 8
  %arrayidx7 = getelementptr inbounds nuw i8, ptr %row, i64 8
  %16 = load i64, ptr %arrayidx7, align 8
  %cmp.not = icmp eq i64 %15, %16
  %.pr = load ptr, ptr %made, align 8
  br i1 %cmp.not, label %if.end10, label %if.then8

if.then8:                                         ; preds = %if.end
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %python, i64 232
  %17 = load i64, ptr %arrayidx.i, align 8
  %18 = inttoptr i64 %17 to ptr
  call void %18(ptr %.pr)
  store ptr null, ptr %made, align 8
  br label %if.then12

if.end10:                                         ; preds = %if.end
  %tobool11.not = icmp eq ptr %.pr, null
  br i1 %tobool11.not, label %if.then12, label %if.end23

if.then12:                                        ; preds = %entry, %if.then8, %if.end10
  %arrayidx14 = getelementptr inbounds nuw i8, ptr %python, i64 264
  %19 = load i64, ptr %arrayidx14, align 8
  %20 = inttoptr i64 %19 to ptr
  %arrayidx15 = getelementptr inbounds nuw i8, ptr %python, i64 200
  %21 = load i64, ptr %arrayidx15, align 8
  %22 = inttoptr i64 %21 to ptr
  %23 = load i64, ptr %row, align 8
  %24 = inttoptr i64 %23 to ptr
  %call17 = call ptr %20(ptr %22, ptr %24)
  store ptr %call17, ptr %made, align 8
  %tobool18.not = icmp eq ptr %call17, null
  br i1 %tobool18.not, label %cleanup24, label %lor.lhs.false19

lor.lhs.false19:                                  ; preds = %if.then12
  %type.i.i19 = getelementptr inbounds nuw i8, ptr %call17, i64 8
  %25 = load ptr, ptr %type.i.i19, align 8
  %26 = ptrtoint ptr %25 to i64
  %27 = load i64, ptr %python, align 8
  %cmp.i.i20 = icmp eq i64 %27, %26
  br i1 %cmp.i.i20, label %land.rhs.i31, label %is_tensor.exit.i21

is_tensor.exit.i21:                               ; preds = %lor.lhs.false19
  %arrayidx2.i.i22 = getelementptr inbounds nuw i8, ptr %python, i64 8
  %28 = load i64, ptr %arrayidx2.i.i22, align 8
  %cmp3.i.i23 = icmp eq i64 %28, %26
  br i1 %cmp3.i.i23, label %land.rhs.i31, label %lor.rhs.i25

land.rhs.i31:                                     ; preds = %is_tensor.exit.i21, %lor.lhs.false19
  %29 = load ptr, ptr @fly.native_replay.tensor_memory, align 8
  %call1.i32 = call fastcc i1 @fly.native_replay.read_plain(ptr %29, ptr nonnull %call17, ptr nonnull %found)
  br i1 %call1.i32, label %if.end23, label %lor.rhs.i25

lor.rhs.i25:                                      ; preds = %is_tensor.exit.i21, %land.rhs.i31
  %arrayidx.i.i26 = getelementptr inbounds nuw i8, ptr %python, i64 208
  %30 = load i64, ptr %arrayidx.i.i26, align 8
  %31 = inttoptr i64 %30 to ptr
  %call.i.i27 = call i32 %31(ptr nonnull %call17, ptr nonnull %found)
  %tobool.not.i.i28 = icmp eq i32 %call.i.i27, 0
  br i1 %tobool.not.i.i28, label %if.end23, label %read_known.exit34

read_known.exit34:                                ; preds = %lor.rhs.i25
  %arrayidx.i.i.i30 = getelementptr inbounds nuw i8, ptr %python, i64 240
  %32 = load i64, ptr %arrayidx.i.i.i30, align 8
  %33 = inttoptr i64 %32 to ptr
  call void %33()
  br label %cleanup24

if.end23:                                         ; preds = %lor.rhs.i25, %land.rhs.i31, %if.end10
  %34 = load i64, ptr %found, align 8
  %offset = getelementptr inbounds nuw i8, ptr %found, i64 40
  %35 = load i64, ptr %offset, align 8
  %add = add i64 %35, %34
  store i64 %add, ptr %address, align 8
  br label %cleanup24

cleanup24:                                        ; preds = %read_known.exit34, %read_known.exit, %if.then12, %if.then, %if.end23
  %retval.0 = phi i1 [ true, %if.end23 ], [ false, %if.then ], [ false, %read_known.exit ], [ false, %if.then12 ], [ false, %read_known.exit34 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %found)
  ret i1 %retval.0
}

define internal fastcc i1 @fly.native_replay.launch(ptr readonly captures(none) %python, ptr readonly captures(none) %launched, ptr readonly captures(none) %addresses, i64 %stream) {
entry:
  %before.i = alloca i64, align 8
  %overflow.i = alloca i32, align 4
  %arrayidx = getelementptr inbounds nuw i8, ptr %launched, i64 72
  %0 = load i64, ptr %arrayidx, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i)
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %launched, i64 32
  %1 = load i64, ptr %arrayidx.i, align 8
  %2 = inttoptr i64 %1 to ptr
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %python, i64 408
  %3 = load i64, ptr %arrayidx1.i, align 8
  %4 = inttoptr i64 %3 to ptr
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %python, i64 400
  %5 = load i64, ptr %arrayidx2.i, align 8
  %6 = inttoptr i64 %5 to ptr
  %call.i = tail call ptr %6()
  %call3.i = tail call i64 %4(ptr %call.i)
  %7 = load i64, ptr %2, align 8
  %cmp.i = icmp eq i64 %7, %call3.i
  br i1 %cmp.i, label %if.then.i, label %if.end.i

if.then.i:                                        ; preds = %entry
  %arrayidx5.i = getelementptr inbounds nuw i8, ptr %2, i64 8
  br label %report_of.exit

if.end.i:                                         ; preds = %entry
  %arrayidx6.i = getelementptr inbounds nuw i8, ptr %python, i64 296
  %8 = load i64, ptr %arrayidx6.i, align 8
  %9 = inttoptr i64 %8 to ptr
  %arrayidx7.i = getelementptr inbounds nuw i8, ptr %launched, i64 8
  %10 = load i64, ptr %arrayidx7.i, align 8
  %11 = inttoptr i64 %10 to ptr
  %arrayidx8.i = getelementptr inbounds nuw i8, ptr %python, i64 192
  %12 = load i64, ptr %arrayidx8.i, align 8
  %13 = inttoptr i64 %12 to ptr
  %call9.i = tail call ptr %9(ptr %11, ptr %13)
  %tobool.not.i = icmp eq ptr %call9.i, null
  br i1 %tobool.not.i, label %if.end15.i, label %if.end18.i

if.end15.i:                                       ; preds = %if.end.i
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %python, i64 240
  %14 = load i64, ptr %arrayidx.i.i, align 8
  %15 = inttoptr i64 %14 to ptr
  tail call void %15()
  %arrayidx12.i = getelementptr inbounds nuw i8, ptr %python, i64 256
  %16 = load i64, ptr %arrayidx12.i, align 8
  %17 = inttoptr i64 %16 to ptr
  %arrayidx13.i = getelementptr inbounds nuw i8, ptr %launched, i64 16
  %18 = load i64, ptr %arrayidx13.i, align 8
  %19 = inttoptr i64 %18 to ptr
  %call14.i = tail call ptr %17(ptr %19)
  %tobool16.not.i = icmp eq ptr %call14.i, null
  br i1 %tobool16.not.i, label %report_of.exit.thread, label %if.end18.i

report_of.exit.thread:                            ; preds = %if.end15.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br label %cleanup

if.end18.i:                                       ; preds = %if.end15.i, %if.end.i
  %report.021.i = phi ptr [ %call14.i, %if.end15.i ], [ %call9.i, %if.end.i ]
  %arrayidx19.i = getelementptr inbounds nuw i8, ptr %python, i64 304
  %20 = load i64, ptr %arrayidx19.i, align 8
  %21 = inttoptr i64 %20 to ptr
  %call20.i = call i64 %21(ptr nonnull %report.021.i, ptr nonnull %overflow.i)
  %arrayidx21.i = getelementptr inbounds nuw i8, ptr %2, i64 8
  store i64 %call20.i, ptr %arrayidx21.i, align 8
  store i64 %call3.i, ptr %2, align 8
  %arrayidx.i18.i = getelementptr inbounds nuw i8, ptr %python, i64 232
  %22 = load i64, ptr %arrayidx.i18.i, align 8
  %23 = inttoptr i64 %22 to ptr
  call void %23(ptr nonnull %report.021.i)
  br label %report_of.exit

report_of.exit:                                   ; preds = %if.then.i, %if.end18.i
  %retval.0.i.in = phi ptr [ %arrayidx5.i, %if.then.i ], [ %arrayidx21.i, %if.end18.i ]
  %retval.0.i = load i64, ptr %retval.0.i.in, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  %tobool.not = icmp eq i64 %retval.0.i, 0
  br i1 %tobool.not, label %cleanup, label %if.end

if.end:                                           ; preds = %report_of.exit
  %24 = alloca i8, i64 %0, align 16
  %cmp51 = icmp sgt i64 %0, 0
  br i1 %cmp51, label %for.body.lr.ph, label %for.cond.cleanup

for.body.lr.ph:                                   ; preds = %if.end
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %launched, i64 64
  %25 = load i64, ptr %arrayidx1, align 8
  %26 = inttoptr i64 %25 to ptr
  br label %for.body

for.cond.cleanup:                                 ; preds = %for.body, %if.end
  %arrayidx3 = getelementptr inbounds nuw i8, ptr %launched, i64 80
  %27 = load i64, ptr %arrayidx3, align 8
  %add.ptr.i = getelementptr inbounds i8, ptr %24, i64 %27
  store i64 %stream, ptr %add.ptr.i, align 1
  %arrayidx6 = getelementptr inbounds nuw i8, ptr %launched, i64 88
  %28 = load i64, ptr %arrayidx6, align 8
  %cmp753 = icmp sgt i64 %28, 0
  br i1 %cmp753, label %for.body9.lr.ph, label %for.cond.cleanup8

for.body9.lr.ph:                                  ; preds = %for.cond.cleanup
  %add.ptr10 = getelementptr inbounds nuw i8, ptr %launched, i64 96
  br label %for.body9

for.body:                                         ; preds = %for.body.lr.ph, %for.body
  %i.052 = phi i64 [ 0, %for.body.lr.ph ], [ %add, %for.body ]
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %26, i64 %i.052
  %29 = load i64, ptr %arrayidx2, align 8
  %add.ptr.i26 = getelementptr inbounds nuw i8, ptr %24, i64 %i.052
  store i64 %29, ptr %add.ptr.i26, align 8
  %add = add nuw nsw i64 %i.052, 8
  %cmp = icmp slt i64 %add, %0
  br i1 %cmp, label %for.body, label %for.cond.cleanup

for.cond.cleanup8:                                ; preds = %for.body9, %for.cond.cleanup
  %arrayidx19 = getelementptr inbounds nuw i8, ptr %python, i64 416
  %30 = load i64, ptr %arrayidx19, align 8
  %31 = inttoptr i64 %30 to ptr
  %call20 = call ptr %31()
  call void @llvm.lifetime.start.p0(ptr nonnull %before.i)
  store i64 0, ptr %before.i, align 8
  %arrayidx.i27 = getelementptr inbounds nuw i8, ptr %launched, i64 56
  %32 = load i64, ptr %arrayidx.i27, align 8
  %arrayidx1.i28 = getelementptr inbounds nuw i8, ptr %launched, i64 40
  %33 = load i64, ptr %arrayidx1.i28, align 8
  %arrayidx2.i29 = getelementptr inbounds nuw i8, ptr %launched, i64 48
  %34 = load i64, ptr %arrayidx2.i29, align 8
  %35 = inttoptr i64 %34 to ptr
  %36 = load i64, ptr %launched, align 8
  %37 = inttoptr i64 %36 to ptr
  %tobool.not.i30 = icmp eq i64 %33, 0
  br i1 %tobool.not.i30, label %if.then.i34, label %if.end.i31

if.then.i34:                                      ; preds = %for.cond.cleanup8
  %38 = inttoptr i64 %retval.0.i to ptr
  %call.i35 = call i32 %37(ptr nonnull %24, ptr nonnull %38)
  br label %enter.exit

if.end.i31:                                       ; preds = %for.cond.cleanup8
  %39 = inttoptr i64 %33 to ptr
  %call5.i = call i32 %39(ptr nonnull %before.i)
  %tobool6.not.i = icmp eq i32 %call5.i, 0
  br i1 %tobool6.not.i, label %lor.lhs.false.i, label %enter.exit.thread

lor.lhs.false.i:                                  ; preds = %if.end.i31
  %40 = load i64, ptr %before.i, align 8
  %cmp.not.i = icmp eq i64 %40, %32
  br i1 %cmp.not.i, label %if.end10.i, label %land.lhs.true.i

land.lhs.true.i:                                  ; preds = %lor.lhs.false.i
  %call7.i = call i32 %35(i64 %32)
  %tobool8.not.i = icmp eq i32 %call7.i, 0
  br i1 %tobool8.not.i, label %if.end10.i, label %enter.exit.thread

if.end10.i:                                       ; preds = %land.lhs.true.i, %lor.lhs.false.i
  %41 = inttoptr i64 %retval.0.i to ptr
  %call11.i = call i32 %37(ptr nonnull %24, ptr nonnull %41)
  %42 = load i64, ptr %before.i, align 8
  %cmp12.not.i = icmp eq i64 %42, %32
  br i1 %cmp12.not.i, label %enter.exit, label %land.lhs.true13.i

land.lhs.true13.i:                                ; preds = %if.end10.i
  %call14.i33 = call i32 %35(i64 %42)
  %tobool15.not.i = icmp eq i32 %call14.i33, 0
  br i1 %tobool15.not.i, label %enter.exit, label %enter.exit.thread

enter.exit.thread:                                ; preds = %if.end.i31, %land.lhs.true.i, %land.lhs.true13.i
  call void @llvm.lifetime.end.p0(ptr nonnull %before.i)
  %arrayidx2248 = getelementptr inbounds nuw i8, ptr %python, i64 424
  br label %if.end27.sink.split

enter.exit:                                       ; preds = %if.end10.i, %land.lhs.true13.i, %if.then.i34
  %retval.0.i32 = phi i32 [ %call.i35, %if.then.i34 ], [ %call11.i, %land.lhs.true13.i ], [ %call11.i, %if.end10.i ]
  call void @llvm.lifetime.end.p0(ptr nonnull %before.i)
  %arrayidx22 = getelementptr inbounds nuw i8, ptr %python, i64 424
  %43 = load i64, ptr %arrayidx22, align 8
  %44 = inttoptr i64 %43 to ptr
  call void %44(ptr %call20)
  %tobool23 = icmp ne i32 %retval.0.i32, 0
  switch i32 %retval.0.i32, label %if.then25 [
    i32 -1000000, label %if.end27
    i32 0, label %if.end27
  ]

for.body9:                                        ; preds = %for.body9.lr.ph, %for.body9
  %i4.054 = phi i64 [ 0, %for.body9.lr.ph ], [ %inc, %for.body9 ]
  %add.ptr11.idx = mul nuw nsw i64 %i4.054, 24
  %add.ptr11 = getelementptr inbounds nuw i8, ptr %add.ptr10, i64 %add.ptr11.idx
  %45 = load i64, ptr %add.ptr11, align 8
  %arrayidx13 = getelementptr inbounds nuw i8, ptr %add.ptr11, i64 8
  %46 = load i64, ptr %arrayidx13, align 8
  %arrayidx14 = getelementptr inbounds i64, ptr %addresses, i64 %46
  %47 = load i64, ptr %arrayidx14, align 8
  %arrayidx15 = getelementptr inbounds nuw i8, ptr %add.ptr11, i64 16
  %48 = load i64, ptr %arrayidx15, align 8
  %add16 = add nsw i64 %48, %47
  %add.ptr.i36 = getelementptr inbounds i8, ptr %24, i64 %45
  store i64 %add16, ptr %add.ptr.i36, align 1
  %inc = add nuw nsw i64 %i4.054, 1
  %exitcond.not = icmp eq i64 %inc, %28
  br i1 %exitcond.not, label %for.cond.cleanup8, label %for.body9

if.then25:                                        ; preds = %enter.exit
  %arrayidx.i37 = getelementptr inbounds nuw i8, ptr %python, i64 328
  %49 = load i64, ptr %arrayidx.i37, align 8
  %50 = inttoptr i64 %49 to ptr
  %conv.i = sext i32 %retval.0.i32 to i64
  %call.i38 = call ptr %50(i64 %conv.i)
  %tobool.not.i39 = icmp eq ptr %call.i38, null
  br i1 %tobool.not.i39, label %if.end27, label %if.end.i40

if.end.i40:                                       ; preds = %if.then25
  %arrayidx1.i41 = getelementptr inbounds nuw i8, ptr %python, i64 264
  %51 = load i64, ptr %arrayidx1.i41, align 8
  %52 = inttoptr i64 %51 to ptr
  %arrayidx2.i42 = getelementptr inbounds nuw i8, ptr %launched, i64 24
  %53 = load i64, ptr %arrayidx2.i42, align 8
  %54 = inttoptr i64 %53 to ptr
  %call3.i43 = call ptr %52(ptr %54, ptr nonnull %call.i38)
  %arrayidx.i.i44 = getelementptr inbounds nuw i8, ptr %python, i64 232
  %55 = load i64, ptr %arrayidx.i.i44, align 8
  %56 = inttoptr i64 %55 to ptr
  call void %56(ptr nonnull %call.i38)
  %tobool4.not.i = icmp eq ptr %call3.i43, null
  br i1 %tobool4.not.i, label %if.end27, label %if.end27.sink.split

if.end27.sink.split:                              ; preds = %if.end.i40, %enter.exit.thread
  %.sink59.in = phi ptr [ %arrayidx2248, %enter.exit.thread ], [ %arrayidx.i.i44, %if.end.i40 ]
  %call3.i43.sink = phi ptr [ %call20, %enter.exit.thread ], [ %call3.i43, %if.end.i40 ]
  %tobool2350.ph = phi i1 [ true, %enter.exit.thread ], [ %tobool23, %if.end.i40 ]
  %.sink59 = load i64, ptr %.sink59.in, align 8
  %57 = inttoptr i64 %.sink59 to ptr
  call void %57(ptr %call3.i43.sink)
  br label %if.end27

if.end27:                                         ; preds = %if.end27.sink.split, %if.end.i40, %if.then25, %enter.exit, %enter.exit
  %tobool2350 = phi i1 [ %tobool23, %if.end.i40 ], [ %tobool23, %enter.exit ], [ %tobool23, %enter.exit ], [ %tobool23, %if.then25 ], [ %tobool2350.ph, %if.end27.sink.split ]
  %lnot = xor i1 %tobool2350, true
  br label %cleanup

cleanup:                                          ; preds = %report_of.exit.thread, %report_of.exit, %if.end27
  %retval.0 = phi i1 [ %lnot, %if.end27 ], [ false, %report_of.exit ], [ false, %report_of.exit.thread ]
  ret i1 %retval.0
}

define internal fastcc i1 @fly.native_replay.want_gradients(ptr readonly captures(none) %python, ptr readonly captures(none) %args, i64 %from, i64 %to) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 296
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  %arrayidx.i5.i = getelementptr inbounds nuw i8, ptr %python, i64 232
  %cmp.not28 = icmp slt i64 %from, %to
  br i1 %cmp.not28, label %for.body.lr.ph, label %cleanup20

for.body.lr.ph:                                   ; preds = %entry
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %python, i64 56
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %python, i64 8
  %arrayidx12 = getelementptr inbounds nuw i8, ptr %python, i64 184
  %arrayidx.i17 = getelementptr inbounds nuw i8, ptr %python, i64 64
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %python, i64 240
  br label %for.body

for.body:                                         ; preds = %for.body.lr.ph, %for.inc
  %i.029 = phi i64 [ %from, %for.body.lr.ph ], [ %inc, %for.inc ]
  %arrayidx1 = getelementptr inbounds ptr, ptr %args, i64 %i.029
  %2 = load ptr, ptr %arrayidx1, align 8
  %3 = ptrtoint ptr %2 to i64
  %4 = load i64, ptr %arrayidx2, align 8
  %cmp3 = icmp eq i64 %4, %3
  br i1 %cmp3, label %for.inc, label %if.end

if.end:                                           ; preds = %for.body
  %5 = load ptr, ptr @fly.native_replay.tensor_memory, align 8
  %tobool.not = icmp eq ptr %5, null
  br i1 %tobool.not, label %land.lhs.true10, label %land.rhs

land.rhs:                                         ; preds = %if.end
  %type.i = getelementptr inbounds nuw i8, ptr %2, i64 8
  %6 = load ptr, ptr %type.i, align 8
  %7 = ptrtoint ptr %6 to i64
  %8 = load i64, ptr %python, align 8
  %cmp.i = icmp eq i64 %8, %7
  br i1 %cmp.i, label %land.lhs.true, label %is_tensor.exit

is_tensor.exit:                                   ; preds = %land.rhs
  %9 = load i64, ptr %arrayidx2.i, align 8
  %cmp3.i = icmp eq i64 %9, %7
  br i1 %cmp3.i, label %land.lhs.true, label %land.lhs.true10

land.lhs.true:                                    ; preds = %land.rhs, %is_tensor.exit
  %10 = load i64, ptr %5, align 8
  %add.ptr.i.i = getelementptr inbounds i8, ptr %2, i64 %10
  %11 = load i64, ptr %add.ptr.i.i, align 8
  %tobool.not.i = icmp eq i64 %11, 0
  br i1 %tobool.not.i, label %for.inc, label %cond.end.i

cond.end.i:                                       ; preds = %land.lhs.true
  %12 = inttoptr i64 %11 to ptr
  %derived2.i = getelementptr inbounds nuw i8, ptr %5, i64 96
  %13 = load i64, ptr %derived2.i, align 8
  %add.ptr.i10.i = getelementptr inbounds i8, ptr %12, i64 %13
  %14 = load i64, ptr %add.ptr.i10.i, align 8
  %15 = inttoptr i64 %14 to ptr
  %tobool4.not.i = icmp eq i64 %14, 0
  br i1 %tobool4.not.i, label %for.inc, label %land.rhs.i

land.rhs.i:                                       ; preds = %cond.end.i
  %viewed.i = getelementptr inbounds nuw i8, ptr %5, i64 120
  %16 = load i64, ptr %viewed.i, align 8
  %arrayidx.i = getelementptr inbounds i8, ptr %15, i64 %16
  %17 = load i8, ptr %arrayidx.i, align 1
  %tobool5.i.not = icmp eq i8 %17, 0
  %asked.i = getelementptr inbounds nuw i8, ptr %5, i64 104
  %18 = load i64, ptr %asked.i, align 8
  %arrayidx8.i = getelementptr inbounds i8, ptr %15, i64 %18
  %19 = load i8, ptr %arrayidx8.i, align 1
  %tobool10.not.i = icmp eq i8 %19, 0
  br i1 %tobool10.not.i, label %wants_gradient.exit, label %cleanup20

wants_gradient.exit:                              ; preds = %land.rhs.i
  %function.i = getelementptr inbounds nuw i8, ptr %5, i64 112
  %20 = load i64, ptr %function.i, align 8
  %add.ptr.i11.i = getelementptr inbounds i8, ptr %15, i64 %20
  %21 = load i64, ptr %add.ptr.i11.i, align 8
  %tobool12.i.not = icmp eq i64 %21, 0
  br i1 %tobool12.i.not, label %if.end8, label %cleanup20

if.end8:                                          ; preds = %wants_gradient.exit
  br i1 %tobool5.i.not, label %for.inc, label %land.lhs.true10

land.lhs.true10:                                  ; preds = %is_tensor.exit, %if.end, %if.end8
  %22 = load i64, ptr %arrayidx12, align 8
  %23 = inttoptr i64 %22 to ptr
  %call13 = tail call ptr %1(ptr %2, ptr %23)
  %tobool.not.i16 = icmp eq ptr %call13, null
  br i1 %tobool.not.i16, label %is_true.exit.thread, label %is_true.exit

is_true.exit.thread:                              ; preds = %land.lhs.true10
  %24 = load i64, ptr %arrayidx.i.i, align 8
  %25 = inttoptr i64 %24 to ptr
  tail call void %25()
  br label %for.inc

is_true.exit:                                     ; preds = %land.lhs.true10
  %26 = load i64, ptr %arrayidx.i5.i, align 8
  %27 = inttoptr i64 %26 to ptr
  tail call void %27(ptr nonnull %call13)
  %28 = load i64, ptr %arrayidx.i17, align 8
  %29 = inttoptr i64 %28 to ptr
  %cmp.i18 = icmp eq ptr %call13, %29
  br i1 %cmp.i18, label %cleanup20, label %for.inc

for.inc:                                          ; preds = %cond.end.i, %land.lhs.true, %if.end8, %is_true.exit, %is_true.exit.thread, %for.body
  %inc = add i64 %i.029, 1
  %exitcond.not = icmp eq i64 %inc, %to
  br i1 %exitcond.not, label %cleanup20, label %for.body

cleanup20:                                        ; preds = %for.inc, %is_true.exit, %wants_gradient.exit, %land.rhs.i, %entry
  %cmp.not.lcssa = phi i1 [ false, %entry ], [ true, %land.rhs.i ], [ true, %wants_gradient.exit ], [ true, %is_true.exit ], [ false, %for.inc ]
  ret i1 %cmp.not.lcssa
}


