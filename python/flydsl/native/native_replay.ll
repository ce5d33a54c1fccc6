; Made from src/native_replay.c by `python -m flydsl.native.generate`.

%struct.Handed = type { ptr, ptr, ptr }
%struct.Facts = type { i64, [320 x i64], [32 x i64] }
%struct.Tensor = type { i64, i64, i32, i32, ptr, ptr, i64 }
%struct.Saved = type { ptr, ptr }
%struct.Parameter = type { ptr, ptr, i64, i64 }
%struct.Argument = type { i64, ptr, ptr }

@fly.native_replay.handed = internal global %struct.Handed zeroinitializer, align 8
@fly.native_replay.named_at = internal global i64 0, align 8
@fly.native_replay.named_python = internal global ptr null, align 8
@fly.native_replay.entries = internal global [64 x ptr] zeroinitializer, align 16

define void @fly_add_entry(ptr initializes((0, 8)) %entry1) #0 {
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
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %self, i64 392
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
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %self, i64 240
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
  %facts134 = ptrtoint ptr %facts to i64
  %overflow.i87 = alloca i32, align 4
  %bytes.i = alloca i64, align 8
  %overflow.i.i = alloca i32, align 4
  %overflow.i = alloca i32, align 4
  %found.i37 = alloca %struct.Tensor, align 8
  %found.i = alloca %struct.Tensor, align 8
  store i64 0, ptr %facts, align 8
  %cmp = icmp sgt i64 %count, 16
  br i1 %cmp, label %return, label %for.cond.preheader

for.cond.preheader:                               ; preds = %entry
  %cmp2117 = icmp slt i64 %count, 1
  br i1 %cmp2117, label %return, label %for.body.lr.ph

for.body.lr.ph:                                   ; preds = %for.cond.preheader
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %python, i64 8
  %tobool.not = icmp ne ptr %replay, null
  %arrayidx7 = getelementptr inbounds nuw i8, ptr %python, i64 40
  %arrayidx.i38 = getelementptr inbounds nuw i8, ptr %python, i64 336
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %replay, i64 88
  %arrayidx2.i40 = getelementptr inbounds nuw i8, ptr %python, i64 328
  %arrayidx3.i = getelementptr inbounds nuw i8, ptr %replay, i64 96
  %arrayidx.i.i43 = getelementptr inbounds nuw i8, ptr %python, i64 192
  %offset.i49 = getelementptr inbounds nuw i8, ptr %found.i37, i64 40
  %arrayidx8.i = getelementptr inbounds nuw i8, ptr %python, i64 296
  %addresses.i51 = getelementptr inbounds nuw i8, ptr %facts, i64 2568
  %words.i = getelementptr inbounds nuw i8, ptr %facts, i64 8
  %arrayidx16 = getelementptr inbounds nuw i8, ptr %python, i64 48
  %arrayidx23 = getelementptr inbounds nuw i8, ptr %python, i64 32
  %arrayidx.i92 = getelementptr inbounds nuw i8, ptr %python, i64 56
  %arrayidx7.i = getelementptr inbounds nuw i8, ptr %python, i64 64
  %arrayidx10.i95 = getelementptr inbounds nuw i8, ptr %python, i64 72
  %arrayidx15.i = getelementptr inbounds nuw i8, ptr %python, i64 16
  %arrayidx22.i = getelementptr inbounds nuw i8, ptr %python, i64 24
  %arrayidx25.i98 = getelementptr inbounds nuw i8, ptr %python, i64 304
  %arrayidx.i77 = getelementptr inbounds nuw i8, ptr %python, i64 312
  %strides.i = getelementptr inbounds nuw i8, ptr %found.i, i64 32
  %rank.i = getelementptr inbounds nuw i8, ptr %found.i, i64 16
  %offset.i = getelementptr inbounds nuw i8, ptr %found.i, i64 40
  %device.i.i = getelementptr inbounds nuw i8, ptr %found.i, i64 8
  %arrayidx.i27.i = getelementptr inbounds nuw i8, ptr %python, i64 200
  %dtype.i.i = getelementptr inbounds nuw i8, ptr %found.i, i64 20
  %arrayidx.i28.i = getelementptr inbounds nuw i8, ptr %python, i64 248
  %arrayidx1.i.i = getelementptr inbounds nuw i8, ptr %python, i64 80
  %arrayidx.i7.i.i = getelementptr inbounds nuw i8, ptr %python, i64 216
  %shape.i = getelementptr inbounds nuw i8, ptr %found.i, i64 24
  %0 = add i64 %facts134, 24
  br label %for.body

for.body:                                         ; preds = %for.body.lr.ph, %for.inc
  %i.0118 = phi i64 [ 0, %for.body.lr.ph ], [ %inc, %for.inc ]
  %arrayidx = getelementptr inbounds nuw ptr, ptr %args, i64 %i.0118
  %1 = load ptr, ptr %arrayidx, align 8
  %type3 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %2 = load ptr, ptr %type3, align 8
  %3 = ptrtoint ptr %2 to i64
  %4 = load i64, ptr %python, align 8
  %cmp.i = icmp eq i64 %4, %3
  br i1 %cmp.i, label %if.then5, label %is_tensor.exit

is_tensor.exit:                                   ; preds = %for.body
  %5 = load i64, ptr %arrayidx2.i, align 8
  %cmp3.i = icmp eq i64 %5, %3
  br i1 %cmp3.i, label %if.then5, label %if.else

if.then5:                                         ; preds = %for.body, %is_tensor.exit
  call void @llvm.lifetime.start.p0(ptr nonnull %found.i)
  %6 = load i64, ptr %arrayidx.i.i43, align 8
  %7 = inttoptr i64 %6 to ptr
  %call.i.i = call i32 %7(ptr nonnull %1, ptr nonnull %found.i)
  %tobool.not.i.i = icmp eq i32 %call.i.i, 0
  br i1 %tobool.not.i.i, label %lor.lhs.false.i, label %take_tensor.exit.thread.sink.split

lor.lhs.false.i:                                  ; preds = %if.then5
  %8 = load ptr, ptr %strides.i, align 8
  %tobool.not.i = icmp eq ptr %8, null
  br i1 %tobool.not.i, label %take_tensor.exit.thread, label %lor.lhs.false1.i

lor.lhs.false1.i:                                 ; preds = %lor.lhs.false.i
  %9 = load i64, ptr %facts, align 8
  %add.i = add nsw i64 %9, 4
  %10 = load i32, ptr %rank.i, align 8
  %mul.i = shl i32 %10, 1
  %conv.i = zext i32 %mul.i to i64
  %add2.i = add nsw i64 %add.i, %conv.i
  %cmp.i36 = icmp sgt i64 %add2.i, 320
  br i1 %cmp.i36, label %take_tensor.exit.thread, label %if.end.i

if.end.i:                                         ; preds = %lor.lhs.false1.i
  %11 = load i64, ptr %found.i, align 8
  %12 = load i64, ptr %offset.i, align 8
  %add4.i = add i64 %12, %11
  %rem.i = and i64 %add4.i, 15
  %tobool5.not.i = icmp eq i64 %rem.i, 0
  br i1 %tobool5.not.i, label %lor.lhs.false6.i, label %take_tensor.exit.thread

lor.lhs.false6.i:                                 ; preds = %if.end.i
  %13 = load i64, ptr %device.i.i, align 8
  %14 = and i64 %13, 4294967295
  %cmp.i.i = icmp eq i64 %14, 1
  br i1 %cmp.i.i, label %lowest.exit.i, label %cond.false.i.i

cond.false.i.i:                                   ; preds = %lor.lhs.false6.i
  %15 = load i64, ptr %arrayidx.i27.i, align 8
  br label %lowest.exit.i

lowest.exit.i:                                    ; preds = %cond.false.i.i, %lor.lhs.false6.i
  %cond.i.i = phi i64 [ %15, %cond.false.i.i ], [ 65536, %lor.lhs.false6.i ]
  %cmp8.i = icmp ult i64 %add4.i, %cond.i.i
  br i1 %cmp8.i, label %take_tensor.exit.thread, label %lor.lhs.false10.i

lor.lhs.false10.i:                                ; preds = %lowest.exit.i
  %16 = load i32, ptr %dtype.i.i, align 4
  %and.i.i = and i32 %16, 255
  %cmp.not.i.i = icmp eq i32 %and.i.i, 2
  br i1 %cmp.not.i.i, label %if.end.i.i, label %if.end14.i

if.end.i.i:                                       ; preds = %lor.lhs.false10.i
  %17 = load ptr, ptr %arrayidx, align 8
  %18 = load i64, ptr %arrayidx.i28.i, align 8
  %19 = inttoptr i64 %18 to ptr
  %20 = load i64, ptr %arrayidx1.i.i, align 8
  %21 = inttoptr i64 %20 to ptr
  %call.i29.i = call ptr %19(ptr %21, ptr %17)
  %tobool.not.i30.i = icmp eq ptr %call.i29.i, null
  br i1 %tobool.not.i30.i, label %take_tensor.exit.thread.sink.split, label %is_plain.exit.i

is_plain.exit.i:                                  ; preds = %if.end.i.i
  %22 = load i64, ptr %arrayidx.i7.i.i, align 8
  %23 = inttoptr i64 %22 to ptr
  call void %23(ptr nonnull %call.i29.i)
  %24 = load i64, ptr %arrayidx10.i95, align 8
  %25 = inttoptr i64 %24 to ptr
  %cmp6.i.i = icmp eq ptr %call.i29.i, %25
  br i1 %cmp6.i.i, label %is_plain.exit.if.end14_crit_edge.i, label %take_tensor.exit.thread

is_plain.exit.if.end14_crit_edge.i:               ; preds = %is_plain.exit.i
  %.pre.i = load i64, ptr %facts, align 8
  br label %if.end14.i

if.end14.i:                                       ; preds = %is_plain.exit.if.end14_crit_edge.i, %lor.lhs.false10.i
  %26 = phi i64 [ %.pre.i, %is_plain.exit.if.end14_crit_edge.i ], [ %9, %lor.lhs.false10.i ]
  %27 = load ptr, ptr %arrayidx, align 8
  br label %while.cond.i

while.cond.i:                                     ; preds = %while.cond.i, %if.end14.i
  %twin.0.i = phi i64 [ 0, %if.end14.i ], [ %inc.i, %while.cond.i ]
  %arrayidx17.i = getelementptr inbounds nuw ptr, ptr %args, i64 %twin.0.i
  %28 = load ptr, ptr %arrayidx17.i, align 8
  %cmp19.not.i = icmp eq ptr %28, %27
  %inc.i = add nuw nsw i64 %twin.0.i, 1
  br i1 %cmp19.not.i, label %while.end.i, label %while.cond.i

while.end.i:                                      ; preds = %while.cond.i
  %add.ptr.i = getelementptr inbounds i64, ptr %words.i, i64 %26
  %arrayidx21.i = getelementptr inbounds nuw i64, ptr %addresses.i51, i64 %i.0118
  store i64 %add4.i, ptr %arrayidx21.i, align 8
  %29 = load i32, ptr %rank.i, align 8
  %conv23.i = zext i32 %29 to i64
  store i64 %conv23.i, ptr %add.ptr.i, align 8
  %30 = load i32, ptr %dtype.i.i, align 4
  %conv25.i = zext i32 %30 to i64
  %arrayidx26.i = getelementptr inbounds nuw i8, ptr %add.ptr.i, i64 8
  store i64 %conv25.i, ptr %arrayidx26.i, align 8
  %31 = load i64, ptr %device.i.i, align 8
  %arrayidx27.i = getelementptr inbounds nuw i8, ptr %add.ptr.i, i64 16
  store i64 %31, ptr %arrayidx27.i, align 8
  %arrayidx28.i = getelementptr inbounds nuw i8, ptr %add.ptr.i, i64 24
  store i64 %twin.0.i, ptr %arrayidx28.i, align 8
  %cmp3135.not.i = icmp eq i32 %29, 0
  br i1 %cmp3135.not.i, label %take_tensor.exit, label %for.body.lr.ph.i

for.body.lr.ph.i:                                 ; preds = %while.end.i
  %32 = load ptr, ptr %shape.i, align 8
  %33 = load ptr, ptr %strides.i, align 8
  br label %for.body.i

for.body.i:                                       ; preds = %for.body.i, %for.body.lr.ph.i
  %i.036.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %inc42.i, %for.body.i ]
  %arrayidx33.i = getelementptr inbounds nuw i64, ptr %32, i64 %i.036.i
  %34 = load i64, ptr %arrayidx33.i, align 8
  %.idx.i = shl nuw nsw i64 %i.036.i, 4
  %35 = getelementptr inbounds nuw i8, ptr %add.ptr.i, i64 %.idx.i
  %arrayidx36.i = getelementptr inbounds nuw i8, ptr %35, i64 32
  store i64 %34, ptr %arrayidx36.i, align 8
  %arrayidx38.i = getelementptr inbounds nuw i64, ptr %33, i64 %i.036.i
  %36 = load i64, ptr %arrayidx38.i, align 8
  %arrayidx41.i = getelementptr inbounds nuw i8, ptr %35, i64 40
  store i64 %36, ptr %arrayidx41.i, align 8
  %inc42.i = add nuw nsw i64 %i.036.i, 1
  %exitcond.not.i = icmp eq i64 %inc42.i, %conv23.i
  br i1 %exitcond.not.i, label %take_tensor.exit, label %for.body.i

take_tensor.exit.thread.sink.split:               ; preds = %if.end.i.i, %if.then5
  %arrayidx.i.i.i = getelementptr inbounds nuw i8, ptr %python, i64 224
  %37 = load i64, ptr %arrayidx.i.i.i, align 8
  %38 = inttoptr i64 %37 to ptr
  call void %38()
  br label %take_tensor.exit.thread

take_tensor.exit.thread:                          ; preds = %lor.lhs.false1.i, %lor.lhs.false.i, %is_plain.exit.i, %lowest.exit.i, %if.end.i, %take_tensor.exit.thread.sink.split
  call void @llvm.lifetime.end.p0(ptr nonnull %found.i)
  br label %return

take_tensor.exit:                                 ; preds = %for.body.i, %while.end.i
  %mul45.i = shl nuw nsw i64 %conv23.i, 1
  %add46.i = add nuw nsw i64 %mul45.i, 4
  %39 = load i64, ptr %facts, align 8
  %add48.i = add nsw i64 %add46.i, %39
  store i64 %add48.i, ptr %facts, align 8
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
  %40 = load i64, ptr %arrayidx.i38, align 8
  %41 = inttoptr i64 %40 to ptr
  %42 = load i64, ptr %arrayidx1.i, align 8
  %add.ptr.i39 = getelementptr inbounds i64, ptr %replay, i64 %42
  %43 = load i64, ptr %arrayidx2.i40, align 8
  %44 = inttoptr i64 %43 to ptr
  %call.i = call i64 %44(ptr nonnull %1)
  %cmp.not.i = icmp eq i64 %call.i, 2
  br i1 %cmp.not.i, label %lor.lhs.false.i42, label %if.end36.thread108

lor.lhs.false.i42:                                ; preds = %if.then9
  %45 = load i64, ptr %facts, align 8
  %46 = load i64, ptr %arrayidx3.i, align 8
  %cmp4.not.i = icmp slt i64 %45, %46
  br i1 %cmp4.not.i, label %lor.lhs.false5.i, label %if.end36.thread108

lor.lhs.false5.i:                                 ; preds = %lor.lhs.false.i42
  %call6.i = call ptr %41(ptr nonnull %1, i64 0)
  %47 = load i64, ptr %arrayidx.i.i43, align 8
  %48 = inttoptr i64 %47 to ptr
  %call.i.i44 = call i32 %48(ptr %call6.i, ptr nonnull %found.i37)
  %tobool.not.i.i45 = icmp eq i32 %call.i.i44, 0
  br i1 %tobool.not.i.i45, label %if.end.i48, label %read_tensor.exit.i46

read_tensor.exit.i46:                             ; preds = %lor.lhs.false5.i
  %arrayidx.i.i.i47 = getelementptr inbounds nuw i8, ptr %python, i64 224
  %49 = load i64, ptr %arrayidx.i.i.i47, align 8
  %50 = inttoptr i64 %49 to ptr
  call void %50()
  br label %if.end36.thread108

if.end.i48:                                       ; preds = %lor.lhs.false5.i
  %51 = load i64, ptr %found.i37, align 8
  %52 = load i64, ptr %offset.i49, align 8
  %add.i50 = add i64 %52, %51
  %53 = load i64, ptr %arrayidx8.i, align 8
  %54 = inttoptr i64 %53 to ptr
  %call9.i = call ptr %41(ptr nonnull %1, i64 1)
  %call10.i = call i64 %54(ptr %call9.i, ptr nonnull %overflow.i)
  %add11.i = add i64 %add.i50, %call10.i
  %arrayidx12.i = getelementptr inbounds nuw i64, ptr %addresses.i51, i64 %i.0118
  store i64 %add11.i, ptr %arrayidx12.i, align 8
  %55 = load i64, ptr %facts, align 8
  %add14.i = add nsw i64 %55, 4
  %arrayidx16.i = getelementptr inbounds i64, ptr %add.ptr.i39, i64 %55
  %56 = load i64, ptr %arrayidx16.i, align 8
  %mul.i52 = shl nsw i64 %56, 1
  %add17.i = add nsw i64 %add14.i, %mul.i52
  %57 = load i64, ptr %arrayidx3.i, align 8
  %cmp19.not.i53 = icmp sgt i64 %add17.i, %57
  br i1 %cmp19.not.i53, label %if.end36.thread108, label %for.cond.preheader.i

for.cond.preheader.i:                             ; preds = %if.end.i48
  %cmp2320.i = icmp slt i64 %55, %add17.i
  br i1 %cmp2320.i, label %for.body.i55, label %if.end36

for.body.i55:                                     ; preds = %for.cond.preheader.i, %for.body.i55
  %58 = phi i64 [ %inc.i57, %for.body.i55 ], [ %55, %for.cond.preheader.i ]
  %arrayidx25.i = getelementptr inbounds i64, ptr %add.ptr.i39, i64 %58
  %59 = load i64, ptr %arrayidx25.i, align 8
  %arrayidx27.i56 = getelementptr inbounds i64, ptr %words.i, i64 %58
  store i64 %59, ptr %arrayidx27.i56, align 8
  %60 = load i64, ptr %facts, align 8
  %inc.i57 = add nsw i64 %60, 1
  store i64 %inc.i57, ptr %facts, align 8
  %cmp23.i = icmp slt i64 %inc.i57, %add17.i
  br i1 %cmp23.i, label %for.body.i55, label %if.end36

if.else13:                                        ; preds = %if.else
  %cmp15 = icmp eq i64 %.pre, %3
  br i1 %cmp15, label %if.then18, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %if.else13
  %61 = load i64, ptr %arrayidx16, align 8
  %cmp17 = icmp eq i64 %61, %3
  br i1 %cmp17, label %if.then18, label %if.else22

if.then18:                                        ; preds = %lor.lhs.false, %if.else13
  %62 = load i64, ptr %arrayidx2.i40, align 8
  %63 = inttoptr i64 %62 to ptr
  %call.i59 = call i64 %63(ptr nonnull %1)
  %64 = load i64, ptr %facts, align 8
  %cmp.i60 = icmp sgt i64 %64, 318
  br i1 %cmp.i60, label %return, label %if.end.i61

if.end.i61:                                       ; preds = %if.then18
  %add.ptr.i62 = getelementptr inbounds i64, ptr %words.i, i64 %64
  store i64 -4, ptr %add.ptr.i62, align 8
  %arrayidx5.i = getelementptr inbounds nuw i8, ptr %add.ptr.i62, i64 8
  store i64 %call.i59, ptr %arrayidx5.i, align 8
  %65 = load i64, ptr %facts, align 8
  %add7.i = add nsw i64 %65, 2
  store i64 %add7.i, ptr %facts, align 8
  %cmp8.not16.i = icmp slt i64 %call.i59, 1
  br i1 %cmp8.not16.i, label %for.inc, label %for.body.i65

for.body.i65:                                     ; preds = %if.end.i61, %for.inc.i
  %i.017.i = phi i64 [ %inc.i71, %for.inc.i ], [ 0, %if.end.i61 ]
  %66 = load i64, ptr %arrayidx.i38, align 8
  %67 = inttoptr i64 %66 to ptr
  %call10.i66 = call ptr %67(ptr %1, i64 %i.017.i)
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i.i)
  %type1.i.i = getelementptr inbounds nuw i8, ptr %call10.i66, i64 8
  %68 = load ptr, ptr %type1.i.i, align 8
  %69 = ptrtoint ptr %68 to i64
  %70 = load i64, ptr %facts, align 8
  %add.ptr.i.i = getelementptr inbounds i64, ptr %words.i, i64 %70
  %71 = ptrtoint ptr %call10.i66 to i64
  %cmp.i.i67 = icmp sgt i64 %70, 318
  br i1 %cmp.i.i67, label %take_plain.exit.thread14.i, label %if.end.i.i68

if.end.i.i68:                                     ; preds = %for.body.i65
  %add.i.i = add nsw i64 %70, 2
  store i64 %add.i.i, ptr %facts, align 8
  %72 = load i64, ptr %arrayidx.i92, align 8
  %cmp6.i.i69 = icmp eq i64 %72, %71
  br i1 %cmp6.i.i69, label %if.then12.i.i, label %lor.lhs.false.i.i

lor.lhs.false.i.i:                                ; preds = %if.end.i.i68
  %73 = load i64, ptr %arrayidx7.i, align 8
  %cmp8.i.i = icmp eq i64 %73, %71
  br i1 %cmp8.i.i, label %if.then12.i.i, label %lor.lhs.false9.i.i

lor.lhs.false9.i.i:                               ; preds = %lor.lhs.false.i.i
  %74 = load i64, ptr %arrayidx10.i95, align 8
  %cmp11.i.i = icmp eq i64 %74, %71
  br i1 %cmp11.i.i, label %if.then12.i.i, label %if.else.i.i

if.then12.i.i:                                    ; preds = %lor.lhs.false9.i.i, %lor.lhs.false.i.i, %if.end.i.i68
  store i64 -3, ptr %add.ptr.i.i, align 8
  %arrayidx14.i.i = getelementptr inbounds nuw i8, ptr %add.ptr.i.i, i64 8
  store i64 %71, ptr %arrayidx14.i.i, align 8
  br label %take_plain.exit.thread.i

if.else.i.i:                                      ; preds = %lor.lhs.false9.i.i
  %75 = load i64, ptr %arrayidx15.i, align 8
  %cmp16.i.i = icmp eq i64 %75, %69
  br i1 %cmp16.i.i, label %take_plain.exit.i, label %if.else21.i.i

if.else21.i.i:                                    ; preds = %if.else.i.i
  %76 = load i64, ptr %arrayidx22.i, align 8
  %cmp23.i.i = icmp eq i64 %76, %69
  br i1 %cmp23.i.i, label %if.then24.i.i, label %take_plain.exit.thread14.i

if.then24.i.i:                                    ; preds = %if.else21.i.i
  %77 = load i64, ptr %arrayidx25.i98, align 8
  %78 = inttoptr i64 %77 to ptr
  %call26.i.i = call double %78(ptr nonnull %call10.i66)
  store i64 -2, ptr %add.ptr.i.i, align 8
  %arrayidx28.i.i = getelementptr inbounds nuw i8, ptr %add.ptr.i.i, i64 8
  store double %call26.i.i, ptr %arrayidx28.i.i, align 8
  br label %take_plain.exit.thread.i

take_plain.exit.thread.i:                         ; preds = %if.then24.i.i, %if.then12.i.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i.i)
  br label %for.inc.i

take_plain.exit.thread14.i:                       ; preds = %if.else21.i.i, %for.body.i65
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i.i)
  br label %return

take_plain.exit.i:                                ; preds = %if.else.i.i
  store i64 -1, ptr %add.ptr.i.i, align 8
  %79 = load i64, ptr %arrayidx8.i, align 8
  %80 = inttoptr i64 %79 to ptr
  %call.i.i73 = call i64 %80(ptr nonnull %call10.i66, ptr nonnull %overflow.i.i)
  %arrayidx20.i.i = getelementptr inbounds nuw i8, ptr %add.ptr.i.i, i64 8
  store i64 %call.i.i73, ptr %arrayidx20.i.i, align 8
  %81 = load i32, ptr %overflow.i.i, align 4
  %tobool.not.i.i74 = icmp eq i32 %81, 0
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i.i)
  br i1 %tobool.not.i.i74, label %for.inc.i, label %return

for.inc.i:                                        ; preds = %take_plain.exit.i, %take_plain.exit.thread.i
  %inc.i71 = add nuw nsw i64 %i.017.i, 1
  %exitcond.not.i72 = icmp eq i64 %inc.i71, %call.i59
  br i1 %exitcond.not.i72, label %for.inc, label %for.body.i65

if.else22:                                        ; preds = %lor.lhs.false
  %82 = load i64, ptr %arrayidx23, align 8
  %cmp24 = icmp eq i64 %82, %3
  br i1 %cmp24, label %if.then25, label %if.else29

if.then25:                                        ; preds = %if.else22
  call void @llvm.lifetime.start.p0(ptr nonnull %bytes.i)
  %83 = load i64, ptr %facts, align 8
  %add.ptr.i76 = getelementptr inbounds i64, ptr %words.i, i64 %83
  %84 = load i64, ptr %arrayidx.i77, align 8
  %85 = inttoptr i64 %84 to ptr
  %call.i78 = call ptr %85(ptr nonnull %1, ptr nonnull %bytes.i)
  %call.i78135 = ptrtoint ptr %call.i78 to i64
  %tobool.not.i79 = icmp eq ptr %call.i78, null
  br i1 %tobool.not.i79, label %if.then.i, label %if.end.i80

if.then.i:                                        ; preds = %if.then25
  %arrayidx.i.i86 = getelementptr inbounds nuw i8, ptr %python, i64 224
  %86 = load i64, ptr %arrayidx.i.i86, align 8
  %87 = inttoptr i64 %86 to ptr
  call void %87()
  br label %take_text.exit.thread

if.end.i80:                                       ; preds = %if.then25
  %88 = load i64, ptr %bytes.i, align 8
  %add.i81 = add nsw i64 %88, 7
  %div.i = sdiv i64 %add.i81, 8
  %add4.i82 = add nsw i64 %div.i, 2
  %89 = load i64, ptr %facts, align 8
  %add6.i = add nsw i64 %add4.i82, %89
  %cmp.i83 = icmp slt i64 %add6.i, 321
  br i1 %cmp.i83, label %if.end8.i, label %take_text.exit.thread

if.end8.i:                                        ; preds = %if.end.i80
  store i64 -5, ptr %add.ptr.i76, align 8
  %arrayidx10.i = getelementptr inbounds nuw i8, ptr %add.ptr.i76, i64 8
  store i64 %88, ptr %arrayidx10.i, align 8
  %cmp1116.i = icmp sgt i64 %88, 0
  br i1 %cmp1116.i, label %for.body17.lr.ph.i, label %take_text.exit

for.body17.lr.ph.i:                               ; preds = %if.end8.i
  %90 = shl i64 %83, 3
  %91 = getelementptr i8, ptr %facts, i64 %90
  %scevgep.i = getelementptr i8, ptr %91, i64 24
  %smax.i = call i64 @llvm.smax.i64(i64 %add4.i82, i64 3)
  %92 = shl nuw i64 %smax.i, 3
  %93 = add i64 %92, -16
  call void @llvm.memset.p0.i64(ptr align 8 %scevgep.i, i8 0, i64 %93, i1 false)
  %add.ptr19.i = getelementptr inbounds nuw i8, ptr %add.ptr.i76, i64 16
  %min.iters.check = icmp ult i64 %88, 4
  br i1 %min.iters.check, label %for.body17.i.preheader, label %vector.memcheck

vector.memcheck:                                  ; preds = %for.body17.lr.ph.i
  %94 = add i64 %0, %90
  %95 = sub i64 %94, %call.i78135
  %diff.check = icmp ult i64 %95, 4
  br i1 %diff.check, label %for.body17.i.preheader, label %vector.ph

vector.ph:                                        ; preds = %vector.memcheck
  %n.vec = and i64 %88, 9223372036854775804
  br label %vector.body

vector.body:                                      ; preds = %vector.body, %vector.ph
  %index = phi i64 [ 0, %vector.ph ], [ %index.next, %vector.body ]
  %96 = getelementptr inbounds nuw i8, ptr %call.i78, i64 %index
  %wide.load = load <4 x i8>, ptr %96, align 1
  %97 = getelementptr inbounds nuw i8, ptr %add.ptr19.i, i64 %index
  store <4 x i8> %wide.load, ptr %97, align 1
  %index.next = add nuw i64 %index, 4
  %98 = icmp eq i64 %index.next, %n.vec
  br i1 %98, label %middle.block, label %vector.body

middle.block:                                     ; preds = %vector.body
  %cmp.n = icmp eq i64 %88, %n.vec
  br i1 %cmp.n, label %take_text.exit, label %for.body17.i.preheader

for.body17.i.preheader:                           ; preds = %vector.memcheck, %for.body17.lr.ph.i, %middle.block
  %i13.019.i.ph = phi i64 [ 0, %vector.memcheck ], [ 0, %for.body17.lr.ph.i ], [ %n.vec, %middle.block ]
  br label %for.body17.i

for.body17.i:                                     ; preds = %for.body17.i.preheader, %for.body17.i
  %i13.019.i = phi i64 [ %inc22.i, %for.body17.i ], [ %i13.019.i.ph, %for.body17.i.preheader ]
  %arrayidx18.i = getelementptr inbounds nuw i8, ptr %call.i78, i64 %i13.019.i
  %99 = load i8, ptr %arrayidx18.i, align 1
  %arrayidx20.i = getelementptr inbounds nuw i8, ptr %add.ptr19.i, i64 %i13.019.i
  store i8 %99, ptr %arrayidx20.i, align 1
  %inc22.i = add nuw nsw i64 %i13.019.i, 1
  %exitcond.not.i85 = icmp eq i64 %inc22.i, %88
  br i1 %exitcond.not.i85, label %take_text.exit, label %for.body17.i

take_text.exit.thread:                            ; preds = %if.end.i80, %if.then.i
  call void @llvm.lifetime.end.p0(ptr nonnull %bytes.i)
  br label %return

take_text.exit:                                   ; preds = %for.body17.i, %middle.block, %if.end8.i
  %100 = load i64, ptr %facts, align 8
  %add25.i = add nsw i64 %100, %add4.i82
  store i64 %add25.i, ptr %facts, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %bytes.i)
  br label %for.inc

if.else29:                                        ; preds = %if.else22
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i87)
  %101 = load i64, ptr %facts, align 8
  %add.ptr.i88 = getelementptr inbounds i64, ptr %words.i, i64 %101
  %102 = ptrtoint ptr %1 to i64
  %cmp.i89 = icmp sgt i64 %101, 318
  br i1 %cmp.i89, label %take_plain.exit.thread114, label %if.end.i90

if.end.i90:                                       ; preds = %if.else29
  %add.i91 = add nsw i64 %101, 2
  store i64 %add.i91, ptr %facts, align 8
  %103 = load i64, ptr %arrayidx.i92, align 8
  %cmp6.i = icmp eq i64 %103, %102
  br i1 %cmp6.i, label %if.then12.i, label %lor.lhs.false.i93

lor.lhs.false.i93:                                ; preds = %if.end.i90
  %104 = load i64, ptr %arrayidx7.i, align 8
  %cmp8.i94 = icmp eq i64 %104, %102
  br i1 %cmp8.i94, label %if.then12.i, label %lor.lhs.false9.i

lor.lhs.false9.i:                                 ; preds = %lor.lhs.false.i93
  %105 = load i64, ptr %arrayidx10.i95, align 8
  %cmp11.i = icmp eq i64 %105, %102
  br i1 %cmp11.i, label %if.then12.i, label %if.else.i

if.then12.i:                                      ; preds = %lor.lhs.false9.i, %lor.lhs.false.i93, %if.end.i90
  store i64 -3, ptr %add.ptr.i88, align 8
  %arrayidx14.i = getelementptr inbounds nuw i8, ptr %add.ptr.i88, i64 8
  store i64 %102, ptr %arrayidx14.i, align 8
  br label %take_plain.exit.thread

if.else.i:                                        ; preds = %lor.lhs.false9.i
  %106 = load i64, ptr %arrayidx15.i, align 8
  %cmp16.i = icmp eq i64 %106, %3
  br i1 %cmp16.i, label %take_plain.exit, label %if.else21.i

if.else21.i:                                      ; preds = %if.else.i
  %107 = load i64, ptr %arrayidx22.i, align 8
  %cmp23.i96 = icmp eq i64 %107, %3
  br i1 %cmp23.i96, label %if.then24.i, label %take_plain.exit.thread114

if.then24.i:                                      ; preds = %if.else21.i
  %108 = load i64, ptr %arrayidx25.i98, align 8
  %109 = inttoptr i64 %108 to ptr
  %call26.i = call double %109(ptr nonnull %1)
  store i64 -2, ptr %add.ptr.i88, align 8
  %arrayidx28.i99 = getelementptr inbounds nuw i8, ptr %add.ptr.i88, i64 8
  store double %call26.i, ptr %arrayidx28.i99, align 8
  br label %take_plain.exit.thread

take_plain.exit.thread:                           ; preds = %if.then24.i, %if.then12.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i87)
  br label %for.inc

take_plain.exit.thread114:                        ; preds = %if.else29, %if.else21.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i87)
  br label %return

take_plain.exit:                                  ; preds = %if.else.i
  store i64 -1, ptr %add.ptr.i88, align 8
  %110 = load i64, ptr %arrayidx8.i, align 8
  %111 = inttoptr i64 %110 to ptr
  %call.i100 = call i64 %111(ptr nonnull %1, ptr nonnull %overflow.i87)
  %arrayidx20.i101 = getelementptr inbounds nuw i8, ptr %add.ptr.i88, i64 8
  store i64 %call.i100, ptr %arrayidx20.i101, align 8
  %112 = load i32, ptr %overflow.i87, align 4
  %tobool.not.i102 = icmp eq i32 %112, 0
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i87)
  br i1 %tobool.not.i102, label %for.inc, label %return

if.end36.thread108:                               ; preds = %if.then9, %lor.lhs.false.i42, %if.end.i48, %read_tensor.exit.i46
  call void @llvm.lifetime.end.p0(ptr nonnull %found.i37)
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br label %return

if.end36:                                         ; preds = %for.body.i55, %for.cond.preheader.i
  call void @llvm.lifetime.end.p0(ptr nonnull %found.i37)
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br label %for.inc

for.inc:                                          ; preds = %for.inc.i, %if.end.i61, %take_plain.exit.thread, %take_text.exit, %take_tensor.exit, %if.end36, %take_plain.exit
  %inc = add nuw nsw i64 %i.0118, 1
  %exitcond.not = icmp eq i64 %inc, %count
  br i1 %exitcond.not, label %return, label %for.body

return:                                           ; preds = %if.then18, %take_plain.exit, %for.inc, %take_plain.exit.i, %for.cond.preheader, %if.end36.thread108, %take_tensor.exit.thread, %take_text.exit.thread, %take_plain.exit.thread114, %take_plain.exit.thread14.i, %entry
  %retval.0 = phi i1 [ false, %entry ], [ false, %if.end36.thread108 ], [ false, %take_plain.exit.thread14.i ], [ true, %for.cond.preheader ], [ false, %take_plain.exit.thread114 ], [ false, %take_text.exit.thread ], [ false, %take_tensor.exit.thread ], [ false, %take_plain.exit.i ], [ false, %if.then18 ], [ false, %take_plain.exit ], [ true, %for.inc ]
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
  call void @llvm.memset.p0.i64(ptr nonnull align 8 dereferenceable(16) %saved, i8 0, i64 16, i1 false)
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
  %part.phi.trans.insert = getelementptr inbounds nuw i8, ptr %saved, i64 8
  %.pre = load ptr, ptr %part.phi.trans.insert, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %facts.i)
  %tobool.not = icmp eq ptr %.pre, null
  br i1 %tobool.not, label %if.end, label %if.then

if.then:                                          ; preds = %replayed.exit
  %arrayidx.i10 = getelementptr inbounds nuw i8, ptr %1, i64 216
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
  %arrayidx.i11 = getelementptr inbounds nuw i8, ptr %1, i64 344
  %12 = load i64, ptr %arrayidx.i11, align 8
  %13 = inttoptr i64 %12 to ptr
  %call.i12 = call ptr %13(i64 2)
  %tobool.not.i = icmp eq ptr %call.i12, null
  br i1 %tobool.not.i, label %if.then.i, label %if.end.i

if.then.i:                                        ; preds = %cond.true6
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %1, i64 216
  %14 = load i64, ptr %arrayidx.i.i, align 8
  %15 = inttoptr i64 %14 to ptr
  call void %15(ptr nonnull %call12.i)
  %16 = load i64, ptr %arrayidx.i.i, align 8
  %17 = inttoptr i64 %16 to ptr
  call void %17(ptr %11)
  br label %cond.end10

if.end.i:                                         ; preds = %cond.true6
  %arrayidx1.i13 = getelementptr inbounds nuw i8, ptr %1, i64 352
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
  %arrayidx.i17 = getelementptr inbounds nuw i8, ptr %1, i64 232
  %22 = load i64, ptr %arrayidx.i17, align 8
  %23 = inttoptr i64 %22 to ptr
  %call.i18 = call ptr %23()
  %tobool1.not.i = icmp eq ptr %call.i18, null
  br i1 %tobool1.not.i, label %if.end.i19, label %cond.end10

if.end.i19:                                       ; preds = %lor.lhs.false.i16
  %arrayidx.i.i20 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %24 = load i64, ptr %arrayidx.i.i20, align 8
  %25 = inttoptr i64 %24 to ptr
  %arrayidx.i.i.i = getelementptr inbounds nuw i8, ptr %1, i64 208
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
  call void @llvm.memset.p0.i64(ptr nonnull align 8 dereferenceable(16) %saved, i8 0, i64 16, i1 false)
  %tobool.not = icmp eq ptr %call2.sroa.4.0.copyload, null
  br i1 %tobool.not, label %if.then, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %entry
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %3, i64 392
  %4 = load i64, ptr %arrayidx4, align 8
  %5 = inttoptr i64 %4 to ptr
  %call5 = tail call ptr %5()
  %cmp.not = icmp eq ptr %call2.sroa.0.0.copyload, %call5
  br i1 %cmp.not, label %if.end, label %if.then

if.then:                                          ; preds = %lor.lhs.false, %entry
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %3, i64 56
  %6 = load i64, ptr %arrayidx.i, align 8
  %7 = inttoptr i64 %6 to ptr
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %3, i64 208
  %8 = load i64, ptr %arrayidx.i.i, align 8
  %9 = inttoptr i64 %8 to ptr
  tail call void %9(ptr %7)
  br label %cleanup

if.end:                                           ; preds = %lor.lhs.false
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), align 8
  %addresses = getelementptr inbounds nuw i8, ptr %call2.sroa.6.0.copyload, i64 2568
  %call8 = call fastcc ptr @fly.native_replay.run(ptr nonnull %3, ptr nonnull %1, ptr nonnull %call2.sroa.4.0.copyload, ptr nonnull %addresses, ptr nonnull %saved)
  %tobool9.not = icmp eq ptr %call8, null
  %.pre = load ptr, ptr %saved, align 8
  br i1 %tobool9.not, label %if.end18, label %land.lhs.true

land.lhs.true:                                    ; preds = %if.end
  %tobool.not.i = icmp eq ptr %.pre, null
  br i1 %tobool.not.i, label %land.lhs.true13, label %put.exit

put.exit:                                         ; preds = %land.lhs.true
  %arrayidx11 = getelementptr inbounds nuw i8, ptr %self, i64 40
  %10 = load i64, ptr %arrayidx11, align 8
  %11 = load ptr, ptr %args, align 8
  %arrayidx.i17 = getelementptr inbounds nuw i8, ptr %3, i64 288
  %12 = load i64, ptr %arrayidx.i17, align 8
  %13 = inttoptr i64 %12 to ptr
  %14 = inttoptr i64 %10 to ptr
  %call.i = call i32 %13(ptr %11, ptr %14, ptr nonnull %.pre)
  %tobool1.not.i = icmp eq i32 %call.i, 0
  br i1 %tobool1.not.i, label %land.lhs.true13, label %if.then17

land.lhs.true13:                                  ; preds = %land.lhs.true, %put.exit
  %part = getelementptr inbounds nuw i8, ptr %saved, i64 8
  %15 = load ptr, ptr %part, align 8
  %tobool.not.i18 = icmp eq ptr %15, null
  br i1 %tobool.not.i18, label %if.end18, label %put.exit23

put.exit23:                                       ; preds = %land.lhs.true13
  %arrayidx15 = getelementptr inbounds nuw i8, ptr %self, i64 48
  %16 = load i64, ptr %arrayidx15, align 8
  %17 = load ptr, ptr %args, align 8
  %arrayidx.i20 = getelementptr inbounds nuw i8, ptr %3, i64 288
  %18 = load i64, ptr %arrayidx.i20, align 8
  %19 = inttoptr i64 %18 to ptr
  %20 = inttoptr i64 %16 to ptr
  %call.i21 = call i32 %19(ptr %17, ptr %20, ptr nonnull %15)
  %tobool1.not.i22 = icmp eq i32 %call.i21, 0
  br i1 %tobool1.not.i22, label %if.end18, label %if.then17

if.then17:                                        ; preds = %put.exit23, %put.exit
  %arrayidx.i24 = getelementptr inbounds nuw i8, ptr %3, i64 216
  %21 = load i64, ptr %arrayidx.i24, align 8
  %22 = inttoptr i64 %21 to ptr
  call void %22(ptr nonnull %call8)
  br label %if.end18

if.end18:                                         ; preds = %land.lhs.true13, %if.then17, %put.exit23, %if.end
  %found.0 = phi ptr [ %call8, %put.exit23 ], [ null, %if.then17 ], [ null, %if.end ], [ %call8, %land.lhs.true13 ]
  %tobool20.not = icmp eq ptr %.pre, null
  br i1 %tobool20.not, label %if.end23, label %if.then21

if.then21:                                        ; preds = %if.end18
  %arrayidx.i25 = getelementptr inbounds nuw i8, ptr %3, i64 216
  %23 = load i64, ptr %arrayidx.i25, align 8
  %24 = inttoptr i64 %23 to ptr
  call void %24(ptr nonnull %.pre)
  br label %if.end23

if.end23:                                         ; preds = %if.then21, %if.end18
  %part24 = getelementptr inbounds nuw i8, ptr %saved, i64 8
  %25 = load ptr, ptr %part24, align 8
  %tobool25.not = icmp eq ptr %25, null
  br i1 %tobool25.not, label %if.end28, label %if.then26

if.then26:                                        ; preds = %if.end23
  %arrayidx.i26 = getelementptr inbounds nuw i8, ptr %3, i64 216
  %26 = load i64, ptr %arrayidx.i26, align 8
  %27 = inttoptr i64 %26 to ptr
  call void %27(ptr nonnull %25)
  br label %if.end28

if.end28:                                         ; preds = %if.then26, %if.end23
  %tobool.not.i27 = icmp eq ptr %found.0, null
  br i1 %tobool.not.i27, label %lor.lhs.false.i, label %cleanup

lor.lhs.false.i:                                  ; preds = %if.end28
  %arrayidx.i28 = getelementptr inbounds nuw i8, ptr %3, i64 232
  %28 = load i64, ptr %arrayidx.i28, align 8
  %29 = inttoptr i64 %28 to ptr
  %call.i29 = call ptr %29()
  %tobool1.not.i30 = icmp eq ptr %call.i29, null
  br i1 %tobool1.not.i30, label %if.end.i, label %cleanup

if.end.i:                                         ; preds = %lor.lhs.false.i
  %arrayidx.i.i31 = getelementptr inbounds nuw i8, ptr %3, i64 56
  %30 = load i64, ptr %arrayidx.i.i31, align 8
  %31 = inttoptr i64 %30 to ptr
  %arrayidx.i.i.i = getelementptr inbounds nuw i8, ptr %3, i64 208
  %32 = load i64, ptr %arrayidx.i.i.i, align 8
  %33 = inttoptr i64 %32 to ptr
  call void %33(ptr %31)
  br label %cleanup

cleanup:                                          ; preds = %if.end.i, %lor.lhs.false.i, %if.end28, %if.then
  %retval.0 = phi ptr [ %7, %if.then ], [ %31, %if.end.i ], [ null, %lor.lhs.false.i ], [ %found.0, %if.end28 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %saved)
  ret ptr %retval.0
}

define internal fastcc ptr @fly.native_replay.run(ptr readonly captures(none) %python, ptr readonly captures(none) %replay, ptr readonly captures(none) %args, ptr captures(none) %addresses, ptr writeonly captures(address_is_null) %beside) {
entry:
  %capturing.i.i92 = alloca i32, align 4
  %overflow.i93 = alloca i32, align 4
  %found.i = alloca %struct.Tensor, align 8
  %found.i.i = alloca %struct.Tensor, align 8
  %capturing.i.i = alloca i32, align 4
  %overflow.i = alloca i32, align 4
  %buffers = alloca [32 x ptr], align 16
  call void @llvm.lifetime.start.p0(ptr nonnull %buffers)
  %arrayidx = getelementptr inbounds nuw i8, ptr %replay, i64 8
  %0 = load i64, ptr %arrayidx, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i)
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %python, i64 248
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
  %arrayidx5.i = getelementptr inbounds nuw i8, ptr %python, i64 296
  %9 = load i64, ptr %arrayidx5.i, align 8
  %10 = inttoptr i64 %9 to ptr
  %call6.i = call i64 %10(ptr nonnull %call3.i, ptr nonnull %overflow.i)
  br label %cond.end.i

cond.end.i:                                       ; preds = %cond.false.i, %if.end.i
  %cond.i = phi i64 [ %call6.i, %cond.false.i ], [ 0, %if.end.i ]
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %python, i64 216
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
  %cmp139 = icmp sgt i64 %0, 0
  br i1 %cmp139, label %for.body.preheader, label %for.cond.cleanup

for.body.preheader:                               ; preds = %stream_of.exit
  %15 = shl nuw i64 %0, 3
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 16 %buffers, ptr align 8 %args, i64 %15, i1 false)
  br label %for.cond.cleanup

for.cond.cleanup:                                 ; preds = %for.body.preheader, %stream_of.exit
  %cmp5 = icmp ne i64 %retval.0.i, -1
  %arrayidx8 = getelementptr inbounds nuw i8, ptr %replay, i64 16
  %16 = load i64, ptr %arrayidx8, align 8
  %cmp9141 = icmp sgt i64 %16, 0
  br i1 %cmp9141, label %for.body11.lr.ph, label %for.cond.cleanup10

for.body11.lr.ph:                                 ; preds = %for.cond.cleanup
  %arrayidx.i.i70 = getelementptr inbounds nuw i8, ptr %replay, i64 80
  %tobool.i.i = icmp ne i64 %retval.0.i, 0
  %arrayidx1.i.i = getelementptr inbounds nuw i8, ptr %python, i64 264
  %arrayidx.i.i.i = getelementptr inbounds nuw i8, ptr %python, i64 192
  %device.i.i = getelementptr inbounds nuw i8, ptr %found.i.i, i64 8
  %arrayidx.i19.i.i = getelementptr inbounds nuw i8, ptr %python, i64 216
  %arrayidx15.i.i = getelementptr inbounds nuw i8, ptr %python, i64 184
  %arrayidx.i.i24.i.i = getelementptr inbounds nuw i8, ptr %python, i64 224
  %offset.i.i = getelementptr inbounds nuw i8, ptr %found.i.i, i64 40
  %arrayidx14.i = getelementptr inbounds nuw i8, ptr %python, i64 376
  %arrayidx.i32.i = getelementptr inbounds nuw i8, ptr %python, i64 208
  %arrayidx29.i = getelementptr inbounds nuw i8, ptr %python, i64 320
  %arrayidx.i33.i = getelementptr inbounds nuw i8, ptr %python, i64 344
  %arrayidx1.i37.i = getelementptr inbounds nuw i8, ptr %python, i64 352
  %part = getelementptr inbounds nuw i8, ptr %beside, i64 8
  %device.i = getelementptr inbounds nuw i8, ptr %found.i, i64 8
  %offset.i = getelementptr inbounds nuw i8, ptr %found.i, i64 40
  br label %for.body11

for.cond.cleanup10:                               ; preds = %if.end24, %for.cond.cleanup
  %end.0.lcssa = phi i64 [ %0, %for.cond.cleanup ], [ %end.1, %if.end24 ]
  %row.0.lcssa = phi ptr [ %add.ptr, %for.cond.cleanup ], [ %add.ptr25, %if.end24 ]
  %good.0.off0.lcssa = phi i1 [ %cmp5, %for.cond.cleanup ], [ %good.1.off0, %if.end24 ]
  %add.ptr29 = getelementptr inbounds i64, ptr %row.0.lcssa, i64 %13
  %cond = call i64 @llvm.smax.i64(i64 %14, i64 0)
  %add.ptr31 = getelementptr inbounds nuw i64, ptr %add.ptr29, i64 %cond
  br i1 %good.0.off0.lcssa, label %land.lhs.true, label %if.end70

for.body11:                                       ; preds = %for.body11.lr.ph, %if.end24
  %17 = phi i64 [ %16, %for.body11.lr.ph ], [ %109, %if.end24 ]
  %i6.0150 = phi i64 [ 0, %for.body11.lr.ph ], [ %inc27, %if.end24 ]
  %good.0.off0149 = phi i1 [ %cmp5, %for.body11.lr.ph ], [ %good.1.off0, %if.end24 ]
  %row.0143 = phi ptr [ %add.ptr, %for.body11.lr.ph ], [ %add.ptr25, %if.end24 ]
  %end.0142 = phi i64 [ %0, %for.body11.lr.ph ], [ %end.1, %if.end24 ]
  br i1 %good.0.off0149, label %if.then, label %if.end24

if.then:                                          ; preds = %for.body11
  %arrayidx12 = getelementptr inbounds ptr, ptr %buffers, i64 %end.0142
  store ptr null, ptr %arrayidx12, align 8
  %arrayidx13 = getelementptr inbounds nuw i8, ptr %row.0143, i64 32
  %18 = load i64, ptr %arrayidx13, align 8
  %tobool.not = icmp eq i64 %18, 0
  %arrayidx20 = getelementptr inbounds i64, ptr %addresses, i64 %end.0142
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
  %arrayidx4.i75 = getelementptr inbounds nuw i8, ptr %row.0143, i64 40
  %26 = load i64, ptr %arrayidx4.i75, align 8
  %cmp5.i = icmp eq i64 %25, %26
  br i1 %cmp5.i, label %if.then.i, label %if.end18.i

if.then.i:                                        ; preds = %lor.lhs.false2.i, %lor.lhs.false.i, %is_captured.exit.i
  %27 = phi i1 [ false, %lor.lhs.false2.i ], [ false, %lor.lhs.false.i ], [ true, %is_captured.exit.i ]
  call void @llvm.lifetime.start.p0(ptr nonnull %found.i.i)
  %arrayidx.i29.i = getelementptr inbounds nuw i8, ptr %row.0143, i64 16
  %28 = load i64, ptr %arrayidx.i29.i, align 8
  %tobool.not.i.i = icmp eq i64 %28, 0
  br i1 %tobool.not.i.i, label %if.then12.i.i, label %if.then.i.i

if.then.i.i:                                      ; preds = %if.then.i
  %29 = load i64, ptr %arrayidx1.i.i, align 8
  %30 = inttoptr i64 %29 to ptr
  %31 = inttoptr i64 %28 to ptr
  %arrayidx3.i.i = getelementptr inbounds nuw i8, ptr %row.0143, i64 24
  %32 = load i64, ptr %arrayidx3.i.i, align 8
  %33 = inttoptr i64 %32 to ptr
  %call.i30.i = call ptr %30(ptr nonnull %31, ptr %33)
  %tobool4.not.i.i = icmp eq ptr %call.i30.i, null
  br i1 %tobool4.not.i.i, label %if.then7.thread.i, label %lor.lhs.false.i.i

lor.lhs.false.i.i:                                ; preds = %if.then.i.i
  %34 = load i64, ptr %arrayidx.i.i.i, align 8
  %35 = inttoptr i64 %34 to ptr
  %call.i.i.i = call i32 %35(ptr nonnull %call.i30.i, ptr nonnull %found.i.i)
  %tobool.not.i.i.i = icmp eq i32 %call.i.i.i, 0
  br i1 %tobool.not.i.i.i, label %if.end.i.i, label %if.then8.i

if.end.i.i:                                       ; preds = %lor.lhs.false.i.i
  %36 = load i64, ptr %device.i.i, align 8
  %arrayidx7.i.i = getelementptr inbounds nuw i8, ptr %row.0143, i64 8
  %37 = load i64, ptr %arrayidx7.i.i, align 8
  %cmp.not.i.i = icmp eq i64 %36, %37
  br i1 %cmp.not.i.i, label %cleanup.i, label %if.then8.i.i

if.then8.i.i:                                     ; preds = %if.end.i.i
  %38 = load i64, ptr %arrayidx.i19.i.i, align 8
  %39 = inttoptr i64 %38 to ptr
  call void %39(ptr nonnull %call.i30.i)
  br label %if.then12.i.i

if.then12.i.i:                                    ; preds = %if.then8.i.i, %if.then.i
  %40 = load i64, ptr %arrayidx.i, align 8
  %41 = inttoptr i64 %40 to ptr
  %42 = load i64, ptr %arrayidx15.i.i, align 8
  %43 = inttoptr i64 %42 to ptr
  %44 = load i64, ptr %row.0143, align 8
  %45 = inttoptr i64 %44 to ptr
  %call17.i.i = call ptr %41(ptr %43, ptr %45)
  %tobool18.not.i.i = icmp eq ptr %call17.i.i, null
  br i1 %tobool18.not.i.i, label %if.then7.thread.i, label %lor.lhs.false19.i.i

lor.lhs.false19.i.i:                              ; preds = %if.then12.i.i
  %46 = load i64, ptr %arrayidx.i.i.i, align 8
  %47 = inttoptr i64 %46 to ptr
  %call.i21.i.i = call i32 %47(ptr nonnull %call17.i.i, ptr nonnull %found.i.i)
  %tobool.not.i22.i.i = icmp eq i32 %call.i21.i.i, 0
  br i1 %tobool.not.i22.i.i, label %cleanup.i, label %if.then8.i

if.then7.thread.i:                                ; preds = %if.then12.i.i, %if.then.i.i
  call void @llvm.lifetime.end.p0(ptr nonnull %found.i.i)
  br label %take_from_stock.exit

if.then8.i:                                       ; preds = %lor.lhs.false19.i.i, %lor.lhs.false.i.i
  %made.1.ph.i = phi ptr [ %call.i30.i, %lor.lhs.false.i.i ], [ %call17.i.i, %lor.lhs.false19.i.i ]
  %48 = load i64, ptr %arrayidx.i.i24.i.i, align 8
  %49 = inttoptr i64 %48 to ptr
  call void %49()
  call void @llvm.lifetime.end.p0(ptr nonnull %found.i.i)
  %50 = load i64, ptr %arrayidx.i19.i.i, align 8
  %51 = inttoptr i64 %50 to ptr
  call void %51(ptr nonnull %made.1.ph.i)
  br label %take_from_stock.exit

cleanup.i:                                        ; preds = %lor.lhs.false19.i.i, %if.end.i.i
  %made.0.i = phi ptr [ %call17.i.i, %lor.lhs.false19.i.i ], [ %call.i30.i, %if.end.i.i ]
  %52 = load i64, ptr %found.i.i, align 8
  %53 = load i64, ptr %offset.i.i, align 8
  %add.i.i = add i64 %53, %52
  call void @llvm.lifetime.end.p0(ptr nonnull %found.i.i)
  %54 = ptrtoint ptr %made.0.i to i64
  %arrayidx10.i = getelementptr inbounds nuw i8, ptr %19, i64 8
  store i64 %54, ptr %arrayidx10.i, align 8
  %arrayidx11.i = getelementptr inbounds nuw i8, ptr %19, i64 16
  store i64 %add.i.i, ptr %arrayidx11.i, align 8
  %arrayidx12.i = getelementptr inbounds nuw i8, ptr %19, i64 24
  store i64 %retval.0.i, ptr %arrayidx12.i, align 8
  %arrayidx13.i = getelementptr inbounds nuw i8, ptr %19, i64 32
  store i64 0, ptr %arrayidx13.i, align 8
  %55 = load i64, ptr %arrayidx14.i, align 8
  %56 = inttoptr i64 %55 to ptr
  %57 = load i64, ptr %19, align 8
  %58 = inttoptr i64 %57 to ptr
  %call16.i = call i32 %56(ptr %58, i64 0, ptr nonnull %made.0.i)
  br label %if.end18.i

if.end18.i:                                       ; preds = %cleanup.i, %lor.lhs.false2.i
  %59 = phi i1 [ %27, %cleanup.i ], [ false, %lor.lhs.false2.i ]
  %arrayidx19.i = getelementptr inbounds nuw i8, ptr %19, i64 8
  %60 = load i64, ptr %arrayidx19.i, align 8
  %61 = inttoptr i64 %60 to ptr
  %62 = load i64, ptr %arrayidx.i32.i, align 8
  %63 = inttoptr i64 %62 to ptr
  call void %63(ptr %61)
  %arrayidx21.i = getelementptr inbounds nuw i8, ptr %row.0143, i64 48
  %64 = load i64, ptr %arrayidx21.i, align 8
  %arrayidx22.i = getelementptr inbounds nuw i8, ptr %19, i64 32
  %65 = load i64, ptr %arrayidx22.i, align 8
  %mul.i = mul nsw i64 %65, %64
  %arrayidx23.i = getelementptr inbounds nuw i8, ptr %19, i64 16
  %66 = load i64, ptr %arrayidx23.i, align 8
  %add.i = add nsw i64 %66, %mul.i
  store i64 %add.i, ptr %arrayidx20, align 8
  br i1 %59, label %cond.true.i, label %cond.false.i72

cond.true.i:                                      ; preds = %if.end18.i
  %arrayidx25.i = getelementptr inbounds nuw i8, ptr %row.0143, i64 40
  %67 = load i64, ptr %arrayidx25.i, align 8
  br label %cond.end.i73

cond.false.i72:                                   ; preds = %if.end18.i
  %68 = load i64, ptr %arrayidx22.i, align 8
  %add27.i = add nsw i64 %68, 1
  br label %cond.end.i73

cond.end.i73:                                     ; preds = %cond.false.i72, %cond.true.i
  %cond.i74 = phi i64 [ %67, %cond.true.i ], [ %add27.i, %cond.false.i72 ]
  store i64 %cond.i74, ptr %arrayidx22.i, align 8
  %69 = load i64, ptr %arrayidx29.i, align 8
  %70 = inttoptr i64 %69 to ptr
  %call30.i = call ptr %70(i64 %mul.i)
  %tobool31.not.i = icmp eq ptr %call30.i, null
  br i1 %tobool31.not.i, label %if.end34.i, label %if.then32.i

if.then32.i:                                      ; preds = %cond.end.i73
  %71 = load i64, ptr %arrayidx.i33.i, align 8
  %72 = inttoptr i64 %71 to ptr
  %call.i34.i = call ptr %72(i64 2)
  %tobool.not.i35.i = icmp eq ptr %call.i34.i, null
  br i1 %tobool.not.i35.i, label %if.then.i38.i, label %if.end.i36.i

if.then.i38.i:                                    ; preds = %if.then32.i
  %73 = load i64, ptr %arrayidx.i19.i.i, align 8
  %74 = inttoptr i64 %73 to ptr
  call void %74(ptr %61)
  %75 = load i64, ptr %arrayidx.i19.i.i, align 8
  %76 = inttoptr i64 %75 to ptr
  call void %76(ptr nonnull %call30.i)
  br label %take_from_stock.exit

if.end.i36.i:                                     ; preds = %if.then32.i
  %77 = load i64, ptr %arrayidx1.i37.i, align 8
  %78 = inttoptr i64 %77 to ptr
  %call2.i.i = call i32 %78(ptr nonnull %call.i34.i, i64 0, ptr %61)
  %79 = load i64, ptr %arrayidx1.i37.i, align 8
  %80 = inttoptr i64 %79 to ptr
  %call4.i.i = call i32 %80(ptr nonnull %call.i34.i, i64 1, ptr nonnull %call30.i)
  br label %take_from_stock.exit

if.end34.i:                                       ; preds = %cond.end.i73
  %81 = load i64, ptr %arrayidx.i19.i.i, align 8
  %82 = inttoptr i64 %81 to ptr
  call void %82(ptr %61)
  br label %take_from_stock.exit

take_from_stock.exit:                             ; preds = %if.then7.thread.i, %if.then8.i, %if.then.i38.i, %if.end.i36.i, %if.end34.i
  %retval.1.i = phi ptr [ %call.i34.i, %if.end.i36.i ], [ null, %if.end34.i ], [ null, %if.then.i38.i ], [ null, %if.then7.thread.i ], [ null, %if.then8.i ]
  store ptr %retval.1.i, ptr %part, align 8
  %cmp17 = icmp ne ptr %retval.1.i, null
  br label %if.end

if.else:                                          ; preds = %if.then
  call void @llvm.lifetime.start.p0(ptr nonnull %found.i)
  %arrayidx.i76 = getelementptr inbounds nuw i8, ptr %row.0143, i64 16
  %83 = load i64, ptr %arrayidx.i76, align 8
  %tobool.not.i77 = icmp eq i64 %83, 0
  br i1 %tobool.not.i77, label %if.then12.i, label %if.then.i78

if.then.i78:                                      ; preds = %if.else
  %84 = load i64, ptr %arrayidx1.i.i, align 8
  %85 = inttoptr i64 %84 to ptr
  %86 = inttoptr i64 %83 to ptr
  %arrayidx3.i80 = getelementptr inbounds nuw i8, ptr %row.0143, i64 24
  %87 = load i64, ptr %arrayidx3.i80, align 8
  %88 = inttoptr i64 %87 to ptr
  %call.i = call ptr %85(ptr nonnull %86, ptr %88)
  store ptr %call.i, ptr %arrayidx12, align 8
  %tobool4.not.i = icmp eq ptr %call.i, null
  br i1 %tobool4.not.i, label %make.exit, label %lor.lhs.false.i81

lor.lhs.false.i81:                                ; preds = %if.then.i78
  %89 = load i64, ptr %arrayidx.i.i.i, align 8
  %90 = inttoptr i64 %89 to ptr
  %call.i.i83 = call i32 %90(ptr nonnull %call.i, ptr nonnull %found.i)
  %tobool.not.i.i84 = icmp eq i32 %call.i.i83, 0
  br i1 %tobool.not.i.i84, label %if.end.i87, label %read_tensor.exit.i

read_tensor.exit.i:                               ; preds = %lor.lhs.false.i81
  %91 = load i64, ptr %arrayidx.i.i24.i.i, align 8
  %92 = inttoptr i64 %91 to ptr
  call void %92()
  br label %make.exit

if.end.i87:                                       ; preds = %lor.lhs.false.i81
  %93 = load i64, ptr %device.i, align 8
  %arrayidx7.i = getelementptr inbounds nuw i8, ptr %row.0143, i64 8
  %94 = load i64, ptr %arrayidx7.i, align 8
  %cmp.not.i88 = icmp eq i64 %93, %94
  br i1 %cmp.not.i88, label %if.end23.i, label %if.then8.i89

if.then8.i89:                                     ; preds = %if.end.i87
  %95 = load i64, ptr %arrayidx.i19.i.i, align 8
  %96 = inttoptr i64 %95 to ptr
  call void %96(ptr nonnull %call.i)
  br label %if.then12.i

if.then12.i:                                      ; preds = %if.then8.i89, %if.else
  %97 = load i64, ptr %arrayidx.i, align 8
  %98 = inttoptr i64 %97 to ptr
  %99 = load i64, ptr %arrayidx15.i.i, align 8
  %100 = inttoptr i64 %99 to ptr
  %101 = load i64, ptr %row.0143, align 8
  %102 = inttoptr i64 %101 to ptr
  %call17.i = call ptr %98(ptr %100, ptr %102)
  store ptr %call17.i, ptr %arrayidx12, align 8
  %tobool18.not.i = icmp eq ptr %call17.i, null
  br i1 %tobool18.not.i, label %make.exit, label %lor.lhs.false19.i

lor.lhs.false19.i:                                ; preds = %if.then12.i
  %103 = load i64, ptr %arrayidx.i.i.i, align 8
  %104 = inttoptr i64 %103 to ptr
  %call.i21.i = call i32 %104(ptr nonnull %call17.i, ptr nonnull %found.i)
  %tobool.not.i22.i = icmp eq i32 %call.i21.i, 0
  br i1 %tobool.not.i22.i, label %if.end23.i, label %read_tensor.exit25.i

read_tensor.exit25.i:                             ; preds = %lor.lhs.false19.i
  %105 = load i64, ptr %arrayidx.i.i24.i.i, align 8
  %106 = inttoptr i64 %105 to ptr
  call void %106()
  br label %make.exit

if.end23.i:                                       ; preds = %if.end.i87, %lor.lhs.false19.i
  %107 = load i64, ptr %found.i, align 8
  %108 = load i64, ptr %offset.i, align 8
  %add.i91 = add i64 %108, %107
  store i64 %add.i91, ptr %arrayidx20, align 8
  br label %make.exit

make.exit:                                        ; preds = %if.then.i78, %read_tensor.exit.i, %if.then12.i, %read_tensor.exit25.i, %if.end23.i
  %retval.0.i86 = phi i1 [ true, %if.end23.i ], [ false, %if.then.i78 ], [ false, %read_tensor.exit.i ], [ false, %if.then12.i ], [ false, %read_tensor.exit25.i ]
  call void @llvm.lifetime.end.p0(ptr nonnull %found.i)
  br label %if.end

if.end:                                           ; preds = %make.exit, %take_from_stock.exit
  %good.2.in = phi i1 [ %cmp17, %take_from_stock.exit ], [ %retval.0.i86, %make.exit ]
  %inc23 = add nsw i64 %end.0142, 1
  %.pre = load i64, ptr %arrayidx8, align 8
  br label %if.end24

if.end24:                                         ; preds = %if.end, %for.body11
  %109 = phi i64 [ %.pre, %if.end ], [ %17, %for.body11 ]
  %end.1 = phi i64 [ %inc23, %if.end ], [ %end.0142, %for.body11 ]
  %good.1.off0 = phi i1 [ %good.2.in, %if.end ], [ false, %for.body11 ]
  %add.ptr25 = getelementptr inbounds nuw i8, ptr %row.0143, i64 56
  %inc27 = add nuw nsw i64 %i6.0150, 1
  %cmp9 = icmp slt i64 %inc27, %109
  br i1 %cmp9, label %for.body11, label %for.cond.cleanup10

land.lhs.true:                                    ; preds = %for.cond.cleanup10
  %arrayidx33 = getelementptr inbounds nuw i8, ptr %replay, i64 72
  %110 = load i64, ptr %arrayidx33, align 8
  %tobool34.not = icmp eq i64 %110, 0
  br i1 %tobool34.not, label %if.end40, label %if.then35

if.then35:                                        ; preds = %land.lhs.true
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i93)
  call void @llvm.lifetime.start.p0(ptr nonnull %capturing.i.i92)
  store i32 0, ptr %capturing.i.i92, align 4
  %arrayidx.i.i94 = getelementptr inbounds nuw i8, ptr %replay, i64 80
  %111 = load i64, ptr %arrayidx.i.i94, align 8
  %tobool.i.i95 = icmp ne i64 %retval.0.i, 0
  %tobool1.i.i96 = icmp ne i64 %111, 0
  %or.cond.i.i97 = select i1 %tobool.i.i95, i1 %tobool1.i.i96, i1 false
  br i1 %or.cond.i.i97, label %is_captured.exit.i107, label %is_captured.exit.thread.i98

is_captured.exit.thread.i98:                      ; preds = %if.then35
  call void @llvm.lifetime.end.p0(ptr nonnull %capturing.i.i92)
  br label %if.end.i99

is_captured.exit.i107:                            ; preds = %if.then35
  %112 = inttoptr i64 %111 to ptr
  %call.i.i108 = call i32 %112(i64 %retval.0.i, ptr nonnull %capturing.i.i92)
  %tobool2.i.i109 = icmp ne i32 %call.i.i108, 0
  %113 = load i32, ptr %capturing.i.i92, align 4
  %tobool3.i.i110 = icmp ne i32 %113, 0
  %114 = select i1 %tobool2.i.i109, i1 true, i1 %tobool3.i.i110
  call void @llvm.lifetime.end.p0(ptr nonnull %capturing.i.i92)
  br i1 %114, label %counters_of.exit, label %if.end.i99

if.end.i99:                                       ; preds = %is_captured.exit.i107, %is_captured.exit.thread.i98
  %arrayidx.i100 = getelementptr inbounds nuw i8, ptr %python, i64 320
  %115 = load i64, ptr %arrayidx.i100, align 8
  %116 = inttoptr i64 %115 to ptr
  %call1.i = call ptr %116(i64 %retval.0.i)
  %tobool.not.i101 = icmp eq ptr %call1.i, null
  br i1 %tobool.not.i101, label %counters_of.exit, label %if.end3.i

if.end3.i:                                        ; preds = %if.end.i99
  %arrayidx4.i102 = getelementptr inbounds nuw i8, ptr %python, i64 384
  %117 = load i64, ptr %arrayidx4.i102, align 8
  %118 = inttoptr i64 %117 to ptr
  %119 = load i64, ptr %arrayidx33, align 8
  %120 = inttoptr i64 %119 to ptr
  %call6.i104 = call ptr %118(ptr %120, ptr nonnull %call1.i)
  %arrayidx.i9.i = getelementptr inbounds nuw i8, ptr %python, i64 216
  %121 = load i64, ptr %arrayidx.i9.i, align 8
  %122 = inttoptr i64 %121 to ptr
  call void %122(ptr nonnull %call1.i)
  %tobool7.not.i = icmp eq ptr %call6.i104, null
  br i1 %tobool7.not.i, label %counters_of.exit, label %cond.true.i105

cond.true.i105:                                   ; preds = %if.end3.i
  %arrayidx8.i = getelementptr inbounds nuw i8, ptr %python, i64 296
  %123 = load i64, ptr %arrayidx8.i, align 8
  %124 = inttoptr i64 %123 to ptr
  %call9.i = call i64 %124(ptr nonnull %call6.i104, ptr nonnull %overflow.i93)
  br label %counters_of.exit

counters_of.exit:                                 ; preds = %is_captured.exit.i107, %if.end.i99, %if.end3.i, %cond.true.i105
  %retval.0.i106 = phi i64 [ 0, %is_captured.exit.i107 ], [ 0, %if.end.i99 ], [ %call9.i, %cond.true.i105 ], [ 0, %if.end3.i ]
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i93)
  %arrayidx37 = getelementptr inbounds i64, ptr %addresses, i64 %end.0.lcssa
  store i64 %retval.0.i106, ptr %arrayidx37, align 8
  %cmp38 = icmp ne i64 %retval.0.i106, 0
  br label %if.end40

if.end40:                                         ; preds = %counters_of.exit, %land.lhs.true
  %good.3.off0 = phi i1 [ %cmp38, %counters_of.exit ], [ true, %land.lhs.true ]
  %arrayidx43 = getelementptr inbounds nuw i8, ptr %replay, i64 24
  %125 = load i64, ptr %arrayidx43, align 8
  %cmp44153 = icmp sgt i64 %125, 0
  %126 = select i1 %cmp44153, i1 %good.3.off0, i1 false
  br i1 %126, label %for.body47, label %for.cond.cleanup46

for.cond.cleanup46:                               ; preds = %for.body47, %if.end40
  %good.4.off0.lcssa = phi i1 [ %good.3.off0, %if.end40 ], [ %call48, %for.body47 ]
  %tobool57 = icmp ne ptr %beside, null
  %or.cond = select i1 %good.4.off0.lcssa, i1 %tobool57, i1 false
  br i1 %or.cond, label %if.then58, label %if.end63

for.body47:                                       ; preds = %if.end40, %for.body47
  %i41.0155 = phi i64 [ %inc53, %for.body47 ], [ 0, %if.end40 ]
  %launched.0154 = phi ptr [ %add.ptr51, %for.body47 ], [ %add.ptr31, %if.end40 ]
  %call48 = call fastcc i1 @fly.native_replay.launch(ptr %python, ptr %launched.0154, ptr %addresses, i64 %retval.0.i)
  %arrayidx50 = getelementptr inbounds nuw i8, ptr %launched.0154, i64 88
  %127 = load i64, ptr %arrayidx50, align 8
  %.idx = mul i64 %127, 24
  %128 = getelementptr i8, ptr %launched.0154, i64 %.idx
  %add.ptr51 = getelementptr i8, ptr %128, i64 96
  %inc53 = add nuw nsw i64 %i41.0155, 1
  %129 = load i64, ptr %arrayidx43, align 8
  %cmp44 = icmp slt i64 %inc53, %129
  %130 = select i1 %cmp44, i1 %call48, i1 false
  br i1 %130, label %for.body47, label %for.cond.cleanup46

if.then58:                                        ; preds = %for.cond.cleanup46
  %arrayidx2.i112 = getelementptr inbounds nuw i8, ptr %python, i64 344
  %131 = load i64, ptr %arrayidx2.i112, align 8
  %132 = inttoptr i64 %131 to ptr
  %call3.i113 = call ptr %132(i64 %14)
  %tobool.i = icmp ne ptr %call3.i113, null
  %cmp13.i = icmp sgt i64 %14, 0
  %133 = select i1 %tobool.i, i1 %cmp13.i, i1 false
  br i1 %133, label %for.body.lr.ph.i, label %gathered.exit

for.body.lr.ph.i:                                 ; preds = %if.then58
  %arrayidx4.i115 = getelementptr inbounds nuw i8, ptr %python, i64 352
  %arrayidx.i12.i = getelementptr inbounds nuw i8, ptr %python, i64 208
  br label %for.body.i

for.body.i:                                       ; preds = %for.body.i, %for.body.lr.ph.i
  %i.014.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %inc.i, %for.body.i ]
  %134 = load i64, ptr %arrayidx4.i115, align 8
  %135 = inttoptr i64 %134 to ptr
  %arrayidx5.i116 = getelementptr inbounds nuw i64, ptr %add.ptr29, i64 %i.014.i
  %136 = load i64, ptr %arrayidx5.i116, align 8
  %arrayidx6.i = getelementptr inbounds ptr, ptr %buffers, i64 %136
  %137 = load ptr, ptr %arrayidx6.i, align 8
  %138 = load i64, ptr %arrayidx.i12.i, align 8
  %139 = inttoptr i64 %138 to ptr
  call void %139(ptr %137)
  %call8.i = call i32 %135(ptr nonnull %call3.i113, i64 %i.014.i, ptr %137)
  %inc.i = add nuw nsw i64 %i.014.i, 1
  %exitcond.not = icmp eq i64 %inc.i, %14
  br i1 %exitcond.not, label %gathered.exit.thread, label %for.body.i

gathered.exit.thread:                             ; preds = %for.body.i
  store ptr %call3.i113, ptr %beside, align 8
  br label %if.then65

gathered.exit:                                    ; preds = %if.then58
  store ptr %call3.i113, ptr %beside, align 8
  br i1 %tobool.i, label %if.then65, label %if.end70

if.end63:                                         ; preds = %for.cond.cleanup46
  br i1 %good.4.off0.lcssa, label %if.then65, label %if.end70

if.then65:                                        ; preds = %gathered.exit.thread, %gathered.exit, %if.end63
  %arrayidx66 = getelementptr inbounds nuw i8, ptr %replay, i64 40
  %140 = load i64, ptr %arrayidx66, align 8
  %tobool67.not = icmp eq i64 %140, 0
  br i1 %tobool67.not, label %if.end.i118, label %if.then.i134

if.then.i134:                                     ; preds = %if.then65
  %141 = load i64, ptr %row.0.lcssa, align 8
  %arrayidx1.i135 = getelementptr inbounds ptr, ptr %buffers, i64 %141
  %142 = load ptr, ptr %arrayidx1.i135, align 8
  %arrayidx.i.i136 = getelementptr inbounds nuw i8, ptr %python, i64 208
  %143 = load i64, ptr %arrayidx.i.i136, align 8
  %144 = inttoptr i64 %143 to ptr
  call void %144(ptr %142)
  br label %if.end70

if.end.i118:                                      ; preds = %if.then65
  %arrayidx2.i119 = getelementptr inbounds nuw i8, ptr %python, i64 344
  %145 = load i64, ptr %arrayidx2.i119, align 8
  %146 = inttoptr i64 %145 to ptr
  %call3.i120 = call ptr %146(i64 %13)
  %tobool.i121 = icmp ne ptr %call3.i120, null
  %cmp13.i122 = icmp sgt i64 %13, 0
  %147 = select i1 %tobool.i121, i1 %cmp13.i122, i1 false
  br i1 %147, label %for.body.lr.ph.i124, label %if.end70

for.body.lr.ph.i124:                              ; preds = %if.end.i118
  %arrayidx4.i125 = getelementptr inbounds nuw i8, ptr %python, i64 352
  %arrayidx.i12.i126 = getelementptr inbounds nuw i8, ptr %python, i64 208
  br label %for.body.i127

for.body.i127:                                    ; preds = %for.body.i127, %for.body.lr.ph.i124
  %i.014.i128 = phi i64 [ 0, %for.body.lr.ph.i124 ], [ %inc.i132, %for.body.i127 ]
  %148 = load i64, ptr %arrayidx4.i125, align 8
  %149 = inttoptr i64 %148 to ptr
  %arrayidx5.i129 = getelementptr inbounds nuw i64, ptr %row.0.lcssa, i64 %i.014.i128
  %150 = load i64, ptr %arrayidx5.i129, align 8
  %arrayidx6.i130 = getelementptr inbounds ptr, ptr %buffers, i64 %150
  %151 = load ptr, ptr %arrayidx6.i130, align 8
  %152 = load i64, ptr %arrayidx.i12.i126, align 8
  %153 = inttoptr i64 %152 to ptr
  call void %153(ptr %151)
  %call8.i131 = call i32 %149(ptr nonnull %call3.i120, i64 %i.014.i128, ptr %151)
  %inc.i132 = add nuw nsw i64 %i.014.i128, 1
  %exitcond159.not = icmp eq i64 %inc.i132, %13
  br i1 %exitcond159.not, label %if.end70, label %for.body.i127

if.end70:                                         ; preds = %for.body.i127, %for.cond.cleanup10, %if.end.i118, %if.then.i134, %gathered.exit, %if.end63
  %found.0 = phi ptr [ null, %gathered.exit ], [ null, %if.end63 ], [ %142, %if.then.i134 ], [ %call3.i120, %if.end.i118 ], [ null, %for.cond.cleanup10 ], [ %call3.i120, %for.body.i127 ]
  %cmp73157 = icmp slt i64 %0, %end.0.lcssa
  br i1 %cmp73157, label %for.body75.lr.ph, label %for.cond.cleanup74

for.body75.lr.ph:                                 ; preds = %if.end70
  %arrayidx.i138 = getelementptr inbounds nuw i8, ptr %python, i64 216
  br label %for.body75

for.cond.cleanup74:                               ; preds = %for.inc81, %if.end70
  call void @llvm.lifetime.end.p0(ptr nonnull %buffers)
  ret ptr %found.0

for.body75:                                       ; preds = %for.body75.lr.ph, %for.inc81
  %i71.0158 = phi i64 [ %0, %for.body75.lr.ph ], [ %inc82, %for.inc81 ]
  %arrayidx76 = getelementptr inbounds ptr, ptr %buffers, i64 %i71.0158
  %154 = load ptr, ptr %arrayidx76, align 8
  %tobool77.not = icmp eq ptr %154, null
  br i1 %tobool77.not, label %for.inc81, label %if.then78

if.then78:                                        ; preds = %for.body75
  %155 = load i64, ptr %arrayidx.i138, align 8
  %156 = inttoptr i64 %155 to ptr
  call void %156(ptr nonnull %154)
  br label %for.inc81

for.inc81:                                        ; preds = %for.body75, %if.then78
  %inc82 = add i64 %i71.0158, 1
  %exitcond160.not = icmp eq i64 %inc82, %end.0.lcssa
  br i1 %exitcond160.not, label %for.cond.cleanup74, label %for.body75
}

define void @fly_name_attributes(i64 %place, ptr %python) #1 {
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
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %0, i64 368
  %14 = load i64, ptr %arrayidx5, align 8
  %15 = inttoptr i64 %14 to ptr
  %call6 = tail call ptr %15(ptr %name)
  %tobool7.not = icmp eq ptr %call6, null
  br i1 %tobool7.not, label %cleanup12, label %if.end9

if.end9:                                          ; preds = %for.end
  %arrayidx10 = getelementptr inbounds nuw i8, ptr %0, i64 280
  %16 = load i64, ptr %arrayidx10, align 8
  %17 = inttoptr i64 %16 to ptr
  %call11 = tail call ptr %17(ptr %type, ptr nonnull %call6)
  br label %cleanup12.sink.split

cleanup12.sink.split:                             ; preds = %if.then, %if.end9
  %.sink = phi i64 [ 216, %if.end9 ], [ 208, %if.then ]
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
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %1, i64 384
  %2 = load i64, ptr %arrayidx.i, align 8
  %3 = inttoptr i64 %2 to ptr
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %1, i64 136
  %4 = load i64, ptr %arrayidx1.i, align 8
  %5 = inttoptr i64 %4 to ptr
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %1, i64 144
  %6 = load i64, ptr %arrayidx2.i, align 8
  %7 = inttoptr i64 %6 to ptr
  %call.i = tail call ptr %3(ptr %5, ptr %7)
  %arrayidx3.i = getelementptr inbounds nuw i8, ptr %1, i64 152
  %8 = load i64, ptr %arrayidx3.i, align 8
  %9 = inttoptr i64 %8 to ptr
  %arrayidx4.i = getelementptr inbounds nuw i8, ptr %1, i64 160
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
  %arrayidx8.i = getelementptr inbounds nuw i8, ptr %1, i64 296
  %14 = load i64, ptr %arrayidx8.i, align 8
  %15 = inttoptr i64 %14 to ptr
  %call9.i = call i64 %15(ptr nonnull %call5.i, ptr nonnull %overflow.i)
  %cmp10.i = icmp sgt i64 %call9.i, -1
  br i1 %cmp10.i, label %if.then.i, label %if.end.i

if.then.i:                                        ; preds = %lor.lhs.false7.i, %entry
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %1, i64 224
  %16 = load i64, ptr %arrayidx.i.i, align 8
  %17 = inttoptr i64 %16 to ptr
  call void %17()
  br label %unwatched.exit.thread

if.end.i:                                         ; preds = %lor.lhs.false7.i
  %arrayidx.i12.i = getelementptr inbounds nuw i8, ptr %1, i64 120
  %18 = load i64, ptr %arrayidx.i12.i, align 8
  %19 = inttoptr i64 %18 to ptr
  %arrayidx1.i.i = getelementptr inbounds nuw i8, ptr %1, i64 88
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
  %arrayidx1.i14.i = getelementptr inbounds nuw i8, ptr %1, i64 96
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
  %arrayidx.i.i19 = getelementptr inbounds nuw i8, ptr %1, i64 360
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
  %arrayidx.i28.i = getelementptr inbounds nuw i8, ptr %1, i64 216
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
  %arrayidx.i24 = getelementptr inbounds nuw i8, ptr %1, i64 232
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
  %retval.0.i2155 = phi ptr [ %46, %find.exit ], [ %call18.i, %if.then20.i ], [ %call18.i, %for.body.i ]
  %arrayidx.i29 = getelementptr inbounds nuw i8, ptr %1, i64 208
  %51 = load i64, ptr %arrayidx.i29, align 8
  %52 = inttoptr i64 %51 to ptr
  call void %52(ptr nonnull %retval.0.i2155)
  %arrayidx.i30 = getelementptr inbounds nuw i8, ptr %1, i64 336
  %53 = load i64, ptr %arrayidx.i30, align 8
  %54 = inttoptr i64 %53 to ptr
  %arrayidx1.i31 = getelementptr inbounds nuw i8, ptr %1, i64 128
  %55 = load i64, ptr %arrayidx1.i31, align 8
  %56 = inttoptr i64 %55 to ptr
  %call.i32 = call i8 %56()
  %tobool.not.i33 = icmp eq i8 %call.i32, 0
  br i1 %tobool.not.i33, label %if.end30.i, label %land.lhs.true.i34

land.lhs.true.i34:                                ; preds = %if.end7
  %arrayidx2.i35 = getelementptr inbounds nuw i8, ptr %self, i64 56
  %57 = load i64, ptr %arrayidx2.i35, align 8
  %arrayidx3.i36 = getelementptr inbounds nuw i8, ptr %self, i64 48
  %58 = load i64, ptr %arrayidx3.i36, align 8
  %arrayidx.i.i37 = getelementptr inbounds nuw i8, ptr %1, i64 280
  %59 = load i64, ptr %arrayidx.i.i37, align 8
  %60 = inttoptr i64 %59 to ptr
  %arrayidx.i5.i.i.i = getelementptr inbounds nuw i8, ptr %1, i64 216
  %cmp.not9.i.i = icmp slt i64 %57, %58
  br i1 %cmp.not9.i.i, label %for.body.lr.ph.i.i, label %if.end.thread102.i

if.end.thread102.i:                               ; preds = %land.lhs.true.i34
  %arrayidx7104.i = getelementptr inbounds nuw i8, ptr %self, i64 64
  %61 = load i64, ptr %arrayidx7104.i, align 8
  %tobool8.not105.i = icmp eq i64 %61, 0
  %.106.i = select i1 %tobool8.not105.i, i64 %57, i64 %61
  br label %land.rhs.i38

for.body.lr.ph.i.i:                               ; preds = %land.lhs.true.i34
  %arrayidx2.i.i = getelementptr inbounds nuw i8, ptr %1, i64 56
  %arrayidx5.i.i = getelementptr inbounds nuw i8, ptr %1, i64 168
  %arrayidx.i.i.i41 = getelementptr inbounds nuw i8, ptr %1, i64 64
  %arrayidx.i.i.i.i = getelementptr inbounds nuw i8, ptr %1, i64 224
  br label %for.body.i.i

for.body.i.i:                                     ; preds = %for.inc.i.i, %for.body.lr.ph.i.i
  %i.010.i.i = phi i64 [ %57, %for.body.lr.ph.i.i ], [ %inc.i.i, %for.inc.i.i ]
  %arrayidx1.i.i42 = getelementptr inbounds ptr, ptr %args, i64 %i.010.i.i
  %62 = load ptr, ptr %arrayidx1.i.i42, align 8
  %63 = ptrtoint ptr %62 to i64
  %64 = load i64, ptr %arrayidx2.i.i, align 8
  %cmp3.not.i.i = icmp eq i64 %64, %63
  br i1 %cmp3.not.i.i, label %for.inc.i.i, label %land.lhs.true.i.i

land.lhs.true.i.i:                                ; preds = %for.body.i.i
  %65 = load i64, ptr %arrayidx5.i.i, align 8
  %66 = inttoptr i64 %65 to ptr
  %call.i.i43 = call ptr %60(ptr %62, ptr %66)
  %tobool.not.i.i.i = icmp eq ptr %call.i.i43, null
  br i1 %tobool.not.i.i.i, label %is_true.exit.thread.i.i, label %is_true.exit.i.i

is_true.exit.thread.i.i:                          ; preds = %land.lhs.true.i.i
  %67 = load i64, ptr %arrayidx.i.i.i.i, align 8
  %68 = inttoptr i64 %67 to ptr
  call void %68()
  br label %for.inc.i.i

is_true.exit.i.i:                                 ; preds = %land.lhs.true.i.i
  %69 = load i64, ptr %arrayidx.i5.i.i.i, align 8
  %70 = inttoptr i64 %69 to ptr
  call void %70(ptr nonnull %call.i.i43)
  %71 = load i64, ptr %arrayidx.i.i.i41, align 8
  %72 = inttoptr i64 %71 to ptr
  %cmp.i.i.i = icmp eq ptr %call.i.i43, %72
  br i1 %cmp.i.i.i, label %if.then.i46, label %for.inc.i.i

for.inc.i.i:                                      ; preds = %is_true.exit.i.i, %is_true.exit.thread.i.i, %for.body.i.i
  %inc.i.i = add i64 %i.010.i.i, 1
  %exitcond.not.i.i = icmp eq i64 %inc.i.i, %58
  br i1 %exitcond.not.i.i, label %if.end.i44, label %for.body.i.i

if.then.i46:                                      ; preds = %is_true.exit.i.i
  %73 = load i64, ptr %arrayidx2.i.i, align 8
  %74 = inttoptr i64 %73 to ptr
  %75 = load i64, ptr %arrayidx.i29, align 8
  %76 = inttoptr i64 %75 to ptr
  call void %76(ptr %74)
  br label %cleanup10.sink.split

if.end.i44:                                       ; preds = %for.inc.i.i
  %77 = load i64, ptr %arrayidx2.i35, align 8
  %arrayidx7.i = getelementptr inbounds nuw i8, ptr %self, i64 64
  %78 = load i64, ptr %arrayidx7.i, align 8
  %tobool8.not.i = icmp eq i64 %78, 0
  %..i = select i1 %tobool8.not.i, i64 %77, i64 %78
  %.pre.i45 = load i64, ptr %arrayidx.i.i37, align 8
  %.pre119.i = inttoptr i64 %.pre.i45 to ptr
  br label %land.rhs.i38

land.rhs.i38:                                     ; preds = %if.end.i44, %if.end.thread102.i
  %.pre-phi.i = phi ptr [ %.pre119.i, %if.end.i44 ], [ %60, %if.end.thread102.i ]
  %.108.i = phi i64 [ %..i, %if.end.i44 ], [ %.106.i, %if.end.thread102.i ]
  %79 = phi i64 [ %77, %if.end.i44 ], [ %57, %if.end.thread102.i ]
  %cmp.not9.i38.i = icmp sgt i64 %.108.i, 0
  br i1 %cmp.not9.i38.i, label %for.body.lr.ph.i40.i, label %land.lhs.true16.i

for.body.lr.ph.i40.i:                             ; preds = %land.rhs.i38
  %arrayidx2.i41.i = getelementptr inbounds nuw i8, ptr %1, i64 56
  %arrayidx5.i42.i = getelementptr inbounds nuw i8, ptr %1, i64 168
  %arrayidx.i.i43.i = getelementptr inbounds nuw i8, ptr %1, i64 64
  %arrayidx.i.i.i44.i = getelementptr inbounds nuw i8, ptr %1, i64 224
  br label %for.body.i45.i

for.body.i45.i:                                   ; preds = %for.inc.i54.i, %for.body.lr.ph.i40.i
  %i.010.i46.i = phi i64 [ 0, %for.body.lr.ph.i40.i ], [ %inc.i55.i, %for.inc.i54.i ]
  %arrayidx1.i47.i = getelementptr inbounds nuw ptr, ptr %args, i64 %i.010.i46.i
  %80 = load ptr, ptr %arrayidx1.i47.i, align 8
  %81 = ptrtoint ptr %80 to i64
  %82 = load i64, ptr %arrayidx2.i41.i, align 8
  %cmp3.not.i48.i = icmp eq i64 %82, %81
  br i1 %cmp3.not.i48.i, label %for.inc.i54.i, label %land.lhs.true.i49.i

land.lhs.true.i49.i:                              ; preds = %for.body.i45.i
  %83 = load i64, ptr %arrayidx5.i42.i, align 8
  %84 = inttoptr i64 %83 to ptr
  %call.i50.i = call ptr %.pre-phi.i(ptr %80, ptr %84)
  %tobool.not.i.i51.i = icmp eq ptr %call.i50.i, null
  br i1 %tobool.not.i.i51.i, label %is_true.exit.thread.i57.i, label %is_true.exit.i52.i

is_true.exit.thread.i57.i:                        ; preds = %land.lhs.true.i49.i
  %85 = load i64, ptr %arrayidx.i.i.i44.i, align 8
  %86 = inttoptr i64 %85 to ptr
  call void %86()
  br label %for.inc.i54.i

is_true.exit.i52.i:                               ; preds = %land.lhs.true.i49.i
  %87 = load i64, ptr %arrayidx.i5.i.i.i, align 8
  %88 = inttoptr i64 %87 to ptr
  call void %88(ptr nonnull %call.i50.i)
  %89 = load i64, ptr %arrayidx.i.i43.i, align 8
  %90 = inttoptr i64 %89 to ptr
  %cmp.i.i53.i = icmp eq ptr %call.i50.i, %90
  br i1 %cmp.i.i53.i, label %if.then22.i, label %for.inc.i54.i

for.inc.i54.i:                                    ; preds = %is_true.exit.i52.i, %is_true.exit.thread.i57.i, %for.body.i45.i
  %inc.i55.i = add nuw nsw i64 %i.010.i46.i, 1
  %exitcond.not.i56.i = icmp eq i64 %inc.i55.i, %.108.i
  br i1 %exitcond.not.i56.i, label %land.lhs.true16.loopexit.i, label %for.body.i45.i

land.lhs.true16.loopexit.i:                       ; preds = %for.inc.i54.i
  %.pre118.i = load i64, ptr %arrayidx.i.i37, align 8
  %.pre120.i = inttoptr i64 %.pre118.i to ptr
  br label %land.lhs.true16.i

land.lhs.true16.i:                                ; preds = %land.lhs.true16.loopexit.i, %land.rhs.i38
  %.pre-phi121.i = phi ptr [ %.pre120.i, %land.lhs.true16.loopexit.i ], [ %.pre-phi.i, %land.rhs.i38 ]
  %cmp.not9.i61.i = icmp slt i64 %.108.i, %79
  br i1 %cmp.not9.i61.i, label %for.body.lr.ph.i63.i, label %if.end30.i

for.body.lr.ph.i63.i:                             ; preds = %land.lhs.true16.i
  %arrayidx2.i64.i = getelementptr inbounds nuw i8, ptr %1, i64 56
  %arrayidx5.i65.i = getelementptr inbounds nuw i8, ptr %1, i64 168
  %arrayidx.i.i66.i = getelementptr inbounds nuw i8, ptr %1, i64 64
  %arrayidx.i.i.i67.i = getelementptr inbounds nuw i8, ptr %1, i64 224
  br label %for.body.i68.i

for.body.i68.i:                                   ; preds = %for.inc.i77.i, %for.body.lr.ph.i63.i
  %i.010.i69.i = phi i64 [ %.108.i, %for.body.lr.ph.i63.i ], [ %inc.i78.i, %for.inc.i77.i ]
  %arrayidx1.i70.i = getelementptr inbounds ptr, ptr %args, i64 %i.010.i69.i
  %91 = load ptr, ptr %arrayidx1.i70.i, align 8
  %92 = ptrtoint ptr %91 to i64
  %93 = load i64, ptr %arrayidx2.i64.i, align 8
  %cmp3.not.i71.i = icmp eq i64 %93, %92
  br i1 %cmp3.not.i71.i, label %for.inc.i77.i, label %land.lhs.true.i72.i

land.lhs.true.i72.i:                              ; preds = %for.body.i68.i
  %94 = load i64, ptr %arrayidx5.i65.i, align 8
  %95 = inttoptr i64 %94 to ptr
  %call.i73.i = call ptr %.pre-phi121.i(ptr %91, ptr %95)
  %tobool.not.i.i74.i = icmp eq ptr %call.i73.i, null
  br i1 %tobool.not.i.i74.i, label %is_true.exit.thread.i80.i, label %is_true.exit.i75.i

is_true.exit.thread.i80.i:                        ; preds = %land.lhs.true.i72.i
  %96 = load i64, ptr %arrayidx.i.i.i67.i, align 8
  %97 = inttoptr i64 %96 to ptr
  call void %97()
  br label %for.inc.i77.i

is_true.exit.i75.i:                               ; preds = %land.lhs.true.i72.i
  %98 = load i64, ptr %arrayidx.i5.i.i.i, align 8
  %99 = inttoptr i64 %98 to ptr
  call void %99(ptr nonnull %call.i73.i)
  %100 = load i64, ptr %arrayidx.i.i66.i, align 8
  %101 = inttoptr i64 %100 to ptr
  %cmp.i.i76.i = icmp eq ptr %call.i73.i, %101
  br i1 %cmp.i.i76.i, label %if.then18.i, label %for.inc.i77.i

for.inc.i77.i:                                    ; preds = %is_true.exit.i75.i, %is_true.exit.thread.i80.i, %for.body.i68.i
  %inc.i78.i = add i64 %i.010.i69.i, 1
  %exitcond.not.i79.i = icmp eq i64 %inc.i78.i, %79
  br i1 %exitcond.not.i79.i, label %if.end30.i, label %for.body.i68.i

if.then18.i:                                      ; preds = %is_true.exit.i75.i
  %102 = load i64, ptr %arrayidx2.i64.i, align 8
  %103 = inttoptr i64 %102 to ptr
  %104 = load i64, ptr %arrayidx.i29, align 8
  %105 = inttoptr i64 %104 to ptr
  call void %105(ptr %103)
  br label %cleanup10.sink.split

if.then22.i:                                      ; preds = %is_true.exit.i52.i
  %call23.i = call ptr %54(ptr nonnull %retval.0.i2155, i64 1)
  %106 = ptrtoint ptr %call23.i to i64
  %107 = load i64, ptr %arrayidx2.i41.i, align 8
  %cmp.i40 = icmp eq i64 %107, %106
  br i1 %cmp.i40, label %if.then26.i, label %lor.lhs.false.i

lor.lhs.false.i:                                  ; preds = %if.then22.i
  %108 = load i64, ptr %arrayidx.i12.i, align 8
  %109 = inttoptr i64 %108 to ptr
  %arrayidx1.i.i.i = getelementptr inbounds nuw i8, ptr %1, i64 104
  %110 = load i64, ptr %arrayidx1.i.i.i, align 8
  %conv.i.i.i = trunc i64 %110 to i32
  %call.i.i.i = call i8 %109(i32 %conv.i.i.i)
  %tobool.i.not.i.i = icmp eq i8 %call.i.i.i, 0
  br i1 %tobool.i.not.i.i, label %transformed.exit.i, label %if.then26.i

transformed.exit.i:                               ; preds = %lor.lhs.false.i
  %111 = load i64, ptr %arrayidx.i12.i, align 8
  %112 = inttoptr i64 %111 to ptr
  %arrayidx1.i3.i.i = getelementptr inbounds nuw i8, ptr %1, i64 112
  %113 = load i64, ptr %arrayidx1.i3.i.i, align 8
  %conv.i4.i.i = trunc i64 %113 to i32
  %call.i5.i.i = call i8 %112(i32 %conv.i4.i.i)
  %tobool.i6.i.not.i = icmp eq i8 %call.i5.i.i, 0
  br i1 %tobool.i6.i.not.i, label %if.end28.i, label %if.then26.i

if.then26.i:                                      ; preds = %transformed.exit.i, %lor.lhs.false.i, %if.then22.i
  %114 = load i64, ptr %arrayidx2.i41.i, align 8
  %115 = inttoptr i64 %114 to ptr
  %116 = load i64, ptr %arrayidx.i29, align 8
  %117 = inttoptr i64 %116 to ptr
  call void %117(ptr %115)
  br label %cleanup10.sink.split

if.end28.i:                                       ; preds = %transformed.exit.i
  call void @llvm.lifetime.start.p0(ptr nonnull %before.sroa.5.i.i)
  %before.sroa.0.0.copyload.i.i = load ptr, ptr @fly.native_replay.handed, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(16) %before.sroa.5.i.i, ptr nonnull align 8 dereferenceable(16) getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), i64 16, i1 false)
  %arrayidx.i87.i = getelementptr inbounds nuw i8, ptr %1, i64 392
  %118 = load i64, ptr %arrayidx.i87.i, align 8
  %119 = inttoptr i64 %118 to ptr
  %call.i88.i = call ptr %119()
  store ptr %call.i88.i, ptr @fly.native_replay.handed, align 8
  store ptr %args, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), align 8
  store ptr %facts, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 16), align 8
  %arrayidx3.i.i = getelementptr inbounds nuw i8, ptr %1, i64 256
  %120 = load i64, ptr %arrayidx3.i.i, align 8
  %121 = inttoptr i64 %120 to ptr
  %122 = load i64, ptr %arrayidx2.i35, align 8
  %call5.i.i = call ptr %121(ptr %call23.i, ptr nonnull %args, i64 %122, ptr null)
  %123 = load ptr, ptr @fly.native_replay.handed, align 8
  %cmp.i.i = icmp eq ptr %123, %call.i88.i
  br i1 %cmp.i.i, label %if.then.i.i, label %derived.exit.i

if.then.i.i:                                      ; preds = %if.end28.i
  %cmp9.i.i = icmp eq ptr %before.sroa.0.0.copyload.i.i, %call.i88.i
  br i1 %cmp9.i.i, label %cond.true.i.i, label %cond.false.i.i

cond.true.i.i:                                    ; preds = %if.then.i.i
  store ptr %before.sroa.0.0.copyload.i.i, ptr @fly.native_replay.handed, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(16) getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), ptr nonnull align 8 dereferenceable(16) %before.sroa.5.i.i, i64 16, i1 false)
  br label %derived.exit.i

cond.false.i.i:                                   ; preds = %if.then.i.i
  call void @llvm.memset.p0.i64(ptr nonnull align 8 dereferenceable(24) @fly.native_replay.handed, i8 0, i64 24, i1 false)
  br label %derived.exit.i

derived.exit.i:                                   ; preds = %cond.false.i.i, %cond.true.i.i, %if.end28.i
  call void @llvm.lifetime.end.p0(ptr nonnull %before.sroa.5.i.i)
  br label %cleanup10.sink.split

if.end30.i:                                       ; preds = %for.inc.i77.i, %land.lhs.true16.i, %if.end7
  %call31.i = call ptr %54(ptr nonnull %retval.0.i2155, i64 0)
  %124 = ptrtoint ptr %call31.i to i64
  %arrayidx32.i = getelementptr inbounds nuw i8, ptr %1, i64 56
  %125 = load i64, ptr %arrayidx32.i, align 8
  %cmp33.i = icmp eq i64 %125, %124
  br i1 %cmp33.i, label %if.then34.i, label %if.end36.i

if.then34.i:                                      ; preds = %if.end30.i
  %126 = load i64, ptr %arrayidx.i29, align 8
  %127 = inttoptr i64 %126 to ptr
  call void %127(ptr %call31.i)
  br label %cleanup10.sink.split

if.end36.i:                                       ; preds = %if.end30.i
  %add.ptr.i.i = getelementptr inbounds nuw i8, ptr %call31.i, i64 32
  %addresses.i = getelementptr inbounds nuw i8, ptr %facts, i64 2568
  %call38.i = call fastcc ptr @fly.native_replay.run(ptr nonnull readonly %1, ptr nonnull %add.ptr.i.i, ptr %args, ptr nonnull %addresses.i, ptr null)
  %tobool.not.i.i = icmp eq ptr %call38.i, null
  br i1 %tobool.not.i.i, label %lor.lhs.false.i.i, label %cleanup10.sink.split

lor.lhs.false.i.i:                                ; preds = %if.end36.i
  %arrayidx.i91.i = getelementptr inbounds nuw i8, ptr %1, i64 232
  %128 = load i64, ptr %arrayidx.i91.i, align 8
  %129 = inttoptr i64 %128 to ptr
  %call.i92.i = call ptr %129()
  %tobool1.not.i.i = icmp eq ptr %call.i92.i, null
  br i1 %tobool1.not.i.i, label %if.end.i.i, label %cleanup10.sink.split

if.end.i.i:                                       ; preds = %lor.lhs.false.i.i
  %130 = load i64, ptr %arrayidx32.i, align 8
  %131 = inttoptr i64 %130 to ptr
  %132 = load i64, ptr %arrayidx.i29, align 8
  %133 = inttoptr i64 %132 to ptr
  call void %133(ptr %131)
  br label %cleanup10.sink.split

cleanup10.sink.split:                             ; preds = %if.end.i.i, %lor.lhs.false.i.i, %if.end36.i, %if.then34.i, %derived.exit.i, %if.then26.i, %if.then18.i, %if.then.i46, %if.then, %if.end.i27
  %.sink64 = phi i64 [ 208, %if.end.i27 ], [ 208, %if.then ], [ 216, %if.then.i46 ], [ 216, %if.then18.i ], [ 216, %if.then26.i ], [ 216, %derived.exit.i ], [ 216, %if.then34.i ], [ 216, %if.end36.i ], [ 216, %lor.lhs.false.i.i ], [ 216, %if.end.i.i ]
  %.sink = phi ptr [ %50, %if.end.i27 ], [ %25, %if.then ], [ %retval.0.i2155, %if.then.i46 ], [ %retval.0.i2155, %if.then18.i ], [ %retval.0.i2155, %if.then26.i ], [ %retval.0.i2155, %derived.exit.i ], [ %retval.0.i2155, %if.then34.i ], [ %retval.0.i2155, %if.end36.i ], [ %retval.0.i2155, %lor.lhs.false.i.i ], [ %retval.0.i2155, %if.end.i.i ]
  %retval.0.ph = phi ptr [ %50, %if.end.i27 ], [ %25, %if.then ], [ %74, %if.then.i46 ], [ %103, %if.then18.i ], [ %115, %if.then26.i ], [ %call5.i.i, %derived.exit.i ], [ %call31.i, %if.then34.i ], [ %call38.i, %if.end36.i ], [ null, %lor.lhs.false.i.i ], [ %131, %if.end.i.i ]
  %arrayidx.i.i.i = getelementptr inbounds nuw i8, ptr %1, i64 %.sink64
  %134 = load i64, ptr %arrayidx.i.i.i, align 8
  %135 = inttoptr i64 %134 to ptr
  call void %135(ptr %.sink)
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
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %4, i64 328
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
  %arrayidx16.i = getelementptr inbounds nuw i8, ptr %4, i64 336
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
  %arrayidx8.i = getelementptr inbounds nuw i8, ptr %4, i64 240
  %arrayidx.i19.i = getelementptr inbounds nuw i8, ptr %4, i64 216
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
  %arrayidx.i.i35 = getelementptr inbounds nuw i8, ptr %4, i64 224
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
  %arrayidx.i36 = getelementptr inbounds nuw i8, ptr %4, i64 216
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
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %python, i64 400
  %3 = load i64, ptr %arrayidx1.i, align 8
  %4 = inttoptr i64 %3 to ptr
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %python, i64 392
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
  %arrayidx6.i = getelementptr inbounds nuw i8, ptr %python, i64 280
  %8 = load i64, ptr %arrayidx6.i, align 8
  %9 = inttoptr i64 %8 to ptr
  %arrayidx7.i = getelementptr inbounds nuw i8, ptr %launched, i64 8
  %10 = load i64, ptr %arrayidx7.i, align 8
  %11 = inttoptr i64 %10 to ptr
  %arrayidx8.i = getelementptr inbounds nuw i8, ptr %python, i64 176
  %12 = load i64, ptr %arrayidx8.i, align 8
  %13 = inttoptr i64 %12 to ptr
  %call9.i = tail call ptr %9(ptr %11, ptr %13)
  %tobool.not.i = icmp eq ptr %call9.i, null
  br i1 %tobool.not.i, label %if.end15.i, label %if.end18.i

if.end15.i:                                       ; preds = %if.end.i
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %python, i64 224
  %14 = load i64, ptr %arrayidx.i.i, align 8
  %15 = inttoptr i64 %14 to ptr
  tail call void %15()
  %arrayidx12.i = getelementptr inbounds nuw i8, ptr %python, i64 240
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
  %arrayidx19.i = getelementptr inbounds nuw i8, ptr %python, i64 296
  %20 = load i64, ptr %arrayidx19.i, align 8
  %21 = inttoptr i64 %20 to ptr
  %call20.i = call i64 %21(ptr nonnull %report.021.i, ptr nonnull %overflow.i)
  %arrayidx21.i = getelementptr inbounds nuw i8, ptr %2, i64 8
  store i64 %call20.i, ptr %arrayidx21.i, align 8
  store i64 %call3.i, ptr %2, align 8
  %arrayidx.i18.i = getelementptr inbounds nuw i8, ptr %python, i64 216
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
  %arrayidx19 = getelementptr inbounds nuw i8, ptr %python, i64 408
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
  %arrayidx2248 = getelementptr inbounds nuw i8, ptr %python, i64 416
  br label %if.end27.sink.split

enter.exit:                                       ; preds = %if.end10.i, %land.lhs.true13.i, %if.then.i34
  %retval.0.i32 = phi i32 [ %call.i35, %if.then.i34 ], [ %call11.i, %land.lhs.true13.i ], [ %call11.i, %if.end10.i ]
  call void @llvm.lifetime.end.p0(ptr nonnull %before.i)
  %arrayidx22 = getelementptr inbounds nuw i8, ptr %python, i64 416
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
  %arrayidx.i37 = getelementptr inbounds nuw i8, ptr %python, i64 320
  %49 = load i64, ptr %arrayidx.i37, align 8
  %50 = inttoptr i64 %49 to ptr
  %conv.i = sext i32 %retval.0.i32 to i64
  %call.i38 = call ptr %50(i64 %conv.i)
  %tobool.not.i39 = icmp eq ptr %call.i38, null
  br i1 %tobool.not.i39, label %if.end27, label %if.end.i40

if.end.i40:                                       ; preds = %if.then25
  %arrayidx1.i41 = getelementptr inbounds nuw i8, ptr %python, i64 248
  %51 = load i64, ptr %arrayidx1.i41, align 8
  %52 = inttoptr i64 %51 to ptr
  %arrayidx2.i42 = getelementptr inbounds nuw i8, ptr %launched, i64 24
  %53 = load i64, ptr %arrayidx2.i42, align 8
  %54 = inttoptr i64 %53 to ptr
  %call3.i43 = call ptr %52(ptr %54, ptr nonnull %call.i38)
  %arrayidx.i.i44 = getelementptr inbounds nuw i8, ptr %python, i64 216
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


