; Made from src/native_replay.c by `python -m flydsl.native.generate`.

%struct.Facts = type { i64, [320 x i64], [32 x i64] }
%struct.Tensor = type { i64, i64, i32, i32, ptr, ptr, i64 }

@fly.native_replay.handed.0 = internal global ptr null, align 8
@fly.native_replay.handed.1 = internal global ptr null, align 8
@fly.native_replay.handed.2 = internal global ptr null, align 8

define ptr @fly_facts(ptr readonly captures(none) %self, ptr readonly captures(none) %args, i64 %count) {
entry:
  %facts = alloca %struct.Facts, align 8
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %self, i64 32
  call void @llvm.lifetime.start.p0(ptr nonnull %facts)
  %call1 = call fastcc i1 @fly.native_replay.take_facts(ptr nonnull %add.ptr.i, ptr %args, i64 %count, ptr %facts)
  br i1 %call1, label %cond.true, label %cond.false

cond.true:                                        ; preds = %entry
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %self, i64 304
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
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %self, i64 168
  %5 = load i64, ptr %arrayidx.i.i, align 8
  %6 = inttoptr i64 %5 to ptr
  tail call void %6(ptr %4)
  br label %cond.end

cond.end:                                         ; preds = %cond.false, %cond.true
  %cond = phi ptr [ %call.i, %cond.true ], [ %4, %cond.false ]
  call void @llvm.lifetime.end.p0(ptr nonnull %facts)
  ret ptr %cond
}

define internal fastcc i1 @fly.native_replay.take_facts(ptr readonly captures(none) %python, ptr readonly captures(none) %args, i64 %count, ptr nonnull captures(none) initializes((0, 8)) %facts) {
entry:
  %facts96 = ptrtoint ptr %facts to i64
  %overflow.i = alloca i32, align 4
  %bytes.i = alloca i64, align 8
  %overflow.i.i = alloca i32, align 4
  %found.i = alloca %struct.Tensor, align 8
  store i64 0, ptr %facts, align 8
  %cmp = icmp sgt i64 %count, 16
  br i1 %cmp, label %return, label %for.cond.preheader

for.cond.preheader:                               ; preds = %entry
  %cmp281 = icmp slt i64 %count, 1
  br i1 %cmp281, label %return, label %for.body.lr.ph

for.body.lr.ph:                                   ; preds = %for.cond.preheader
  %arrayidx6 = getelementptr inbounds nuw i8, ptr %python, i64 8
  %arrayidx9 = getelementptr inbounds nuw i8, ptr %python, i64 40
  %arrayidx12 = getelementptr inbounds nuw i8, ptr %python, i64 48
  %arrayidx19 = getelementptr inbounds nuw i8, ptr %python, i64 32
  %words2.i = getelementptr inbounds nuw i8, ptr %facts, i64 8
  %arrayidx.i58 = getelementptr inbounds nuw i8, ptr %python, i64 56
  %arrayidx7.i = getelementptr inbounds nuw i8, ptr %python, i64 64
  %arrayidx10.i61 = getelementptr inbounds nuw i8, ptr %python, i64 72
  %arrayidx15.i = getelementptr inbounds nuw i8, ptr %python, i64 16
  %arrayidx22.i = getelementptr inbounds nuw i8, ptr %python, i64 24
  %arrayidx25.i = getelementptr inbounds nuw i8, ptr %python, i64 216
  %arrayidx19.i64 = getelementptr inbounds nuw i8, ptr %python, i64 208
  %arrayidx.i44 = getelementptr inbounds nuw i8, ptr %python, i64 224
  %arrayidx.i29 = getelementptr inbounds nuw i8, ptr %python, i64 240
  %arrayidx9.i = getelementptr inbounds nuw i8, ptr %python, i64 248
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %python, i64 120
  %strides.i = getelementptr inbounds nuw i8, ptr %found.i, i64 32
  %rank.i = getelementptr inbounds nuw i8, ptr %found.i, i64 16
  %offset.i = getelementptr inbounds nuw i8, ptr %found.i, i64 40
  %device.i.i = getelementptr inbounds nuw i8, ptr %found.i, i64 8
  %arrayidx.i27.i = getelementptr inbounds nuw i8, ptr %python, i64 128
  %dtype.i = getelementptr inbounds nuw i8, ptr %found.i, i64 20
  %arrayidx.i28.i = getelementptr inbounds nuw i8, ptr %python, i64 176
  %arrayidx1.i.i = getelementptr inbounds nuw i8, ptr %python, i64 80
  %arrayidx.i7.i.i = getelementptr inbounds nuw i8, ptr %python, i64 144
  %addresses.i = getelementptr inbounds nuw i8, ptr %facts, i64 2568
  %shape.i = getelementptr inbounds nuw i8, ptr %found.i, i64 24
  %0 = add i64 %facts96, 24
  br label %for.body

for.body:                                         ; preds = %for.body.lr.ph, %for.inc
  %i.082 = phi i64 [ 0, %for.body.lr.ph ], [ %inc, %for.inc ]
  %arrayidx = getelementptr inbounds nuw ptr, ptr %args, i64 %i.082
  %1 = load ptr, ptr %arrayidx, align 8
  %type3 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %2 = load ptr, ptr %type3, align 8
  %3 = ptrtoint ptr %2 to i64
  %4 = load i64, ptr %python, align 8
  %cmp5 = icmp eq i64 %4, %3
  br i1 %cmp5, label %if.then8, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %for.body
  %5 = load i64, ptr %arrayidx6, align 8
  %cmp7 = icmp eq i64 %5, %3
  br i1 %cmp7, label %if.then8, label %if.else

if.then8:                                         ; preds = %lor.lhs.false, %for.body
  call void @llvm.lifetime.start.p0(ptr nonnull %found.i)
  %6 = load i64, ptr %arrayidx.i.i, align 8
  %7 = inttoptr i64 %6 to ptr
  %call.i.i = call i32 %7(ptr nonnull %1, ptr nonnull %found.i)
  %tobool.not.i.i = icmp eq i32 %call.i.i, 0
  br i1 %tobool.not.i.i, label %lor.lhs.false.i, label %take_tensor.exit.thread.sink.split

lor.lhs.false.i:                                  ; preds = %if.then8
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
  %cmp.i = icmp sgt i64 %add2.i, 320
  br i1 %cmp.i, label %take_tensor.exit.thread, label %if.end.i

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
  %16 = load i32, ptr %dtype.i, align 4
  %and.i = and i32 %16, 255
  %cmp11.i = icmp eq i32 %and.i, 2
  br i1 %cmp11.i, label %land.lhs.true.i, label %if.end16.i

land.lhs.true.i:                                  ; preds = %lor.lhs.false10.i
  %17 = load ptr, ptr %arrayidx, align 8
  %18 = load i64, ptr %arrayidx.i28.i, align 8
  %19 = inttoptr i64 %18 to ptr
  %20 = load i64, ptr %arrayidx1.i.i, align 8
  %21 = inttoptr i64 %20 to ptr
  %call.i29.i = call ptr %19(ptr %21, ptr %17)
  %tobool.not.i30.i = icmp eq ptr %call.i29.i, null
  br i1 %tobool.not.i30.i, label %take_tensor.exit.thread.sink.split, label %is_plain.exit.i

is_plain.exit.i:                                  ; preds = %land.lhs.true.i
  %22 = load i64, ptr %arrayidx.i7.i.i, align 8
  %23 = inttoptr i64 %22 to ptr
  call void %23(ptr nonnull %call.i29.i)
  %24 = load i64, ptr %arrayidx10.i61, align 8
  %25 = inttoptr i64 %24 to ptr
  %cmp.i31.i = icmp eq ptr %call.i29.i, %25
  br i1 %cmp.i31.i, label %is_plain.exit.if.end16_crit_edge.i, label %take_tensor.exit.thread

is_plain.exit.if.end16_crit_edge.i:               ; preds = %is_plain.exit.i
  %.pre.i = load i64, ptr %facts, align 8
  br label %if.end16.i

if.end16.i:                                       ; preds = %is_plain.exit.if.end16_crit_edge.i, %lor.lhs.false10.i
  %26 = phi i64 [ %.pre.i, %is_plain.exit.if.end16_crit_edge.i ], [ %9, %lor.lhs.false10.i ]
  %27 = load ptr, ptr %arrayidx, align 8
  br label %while.cond.i

while.cond.i:                                     ; preds = %while.cond.i, %if.end16.i
  %twin.0.i = phi i64 [ 0, %if.end16.i ], [ %inc.i, %while.cond.i ]
  %arrayidx19.i = getelementptr inbounds nuw ptr, ptr %args, i64 %twin.0.i
  %28 = load ptr, ptr %arrayidx19.i, align 8
  %cmp21.not.i = icmp eq ptr %28, %27
  %inc.i = add nuw nsw i64 %twin.0.i, 1
  br i1 %cmp21.not.i, label %while.end.i, label %while.cond.i

while.end.i:                                      ; preds = %while.cond.i
  %add.ptr.i = getelementptr inbounds i64, ptr %words2.i, i64 %26
  %arrayidx23.i = getelementptr inbounds nuw i64, ptr %addresses.i, i64 %i.082
  store i64 %add4.i, ptr %arrayidx23.i, align 8
  %29 = load i32, ptr %rank.i, align 8
  %conv25.i = zext i32 %29 to i64
  store i64 %conv25.i, ptr %add.ptr.i, align 8
  %30 = load i32, ptr %dtype.i, align 4
  %conv28.i = zext i32 %30 to i64
  %arrayidx29.i = getelementptr inbounds nuw i8, ptr %add.ptr.i, i64 8
  store i64 %conv28.i, ptr %arrayidx29.i, align 8
  %31 = load i64, ptr %device.i.i, align 8
  %arrayidx30.i = getelementptr inbounds nuw i8, ptr %add.ptr.i, i64 16
  store i64 %31, ptr %arrayidx30.i, align 8
  %arrayidx31.i = getelementptr inbounds nuw i8, ptr %add.ptr.i, i64 24
  store i64 %twin.0.i, ptr %arrayidx31.i, align 8
  %cmp3435.not.i = icmp eq i32 %29, 0
  br i1 %cmp3435.not.i, label %take_tensor.exit, label %for.body.lr.ph.i

for.body.lr.ph.i:                                 ; preds = %while.end.i
  %32 = load ptr, ptr %shape.i, align 8
  %33 = load ptr, ptr %strides.i, align 8
  br label %for.body.i

for.body.i:                                       ; preds = %for.body.i, %for.body.lr.ph.i
  %i.036.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %inc45.i, %for.body.i ]
  %arrayidx36.i = getelementptr inbounds nuw i64, ptr %32, i64 %i.036.i
  %34 = load i64, ptr %arrayidx36.i, align 8
  %.idx.i = shl nuw nsw i64 %i.036.i, 4
  %35 = getelementptr inbounds nuw i8, ptr %add.ptr.i, i64 %.idx.i
  %arrayidx39.i = getelementptr inbounds nuw i8, ptr %35, i64 32
  store i64 %34, ptr %arrayidx39.i, align 8
  %arrayidx41.i = getelementptr inbounds nuw i64, ptr %33, i64 %i.036.i
  %36 = load i64, ptr %arrayidx41.i, align 8
  %arrayidx44.i = getelementptr inbounds nuw i8, ptr %35, i64 40
  store i64 %36, ptr %arrayidx44.i, align 8
  %inc45.i = add nuw nsw i64 %i.036.i, 1
  %exitcond.not.i = icmp eq i64 %inc45.i, %conv25.i
  br i1 %exitcond.not.i, label %take_tensor.exit, label %for.body.i

take_tensor.exit.thread.sink.split:               ; preds = %land.lhs.true.i, %if.then8
  %arrayidx.i.i.i = getelementptr inbounds nuw i8, ptr %python, i64 152
  %37 = load i64, ptr %arrayidx.i.i.i, align 8
  %38 = inttoptr i64 %37 to ptr
  call void %38()
  br label %take_tensor.exit.thread

take_tensor.exit.thread:                          ; preds = %lor.lhs.false1.i, %lor.lhs.false.i, %is_plain.exit.i, %lowest.exit.i, %if.end.i, %take_tensor.exit.thread.sink.split
  call void @llvm.lifetime.end.p0(ptr nonnull %found.i)
  br label %return

take_tensor.exit:                                 ; preds = %for.body.i, %while.end.i
  %mul48.i = shl nuw nsw i64 %conv25.i, 1
  %add49.i = add nuw nsw i64 %mul48.i, 4
  %39 = load i64, ptr %facts, align 8
  %add51.i = add nsw i64 %add49.i, %39
  store i64 %add51.i, ptr %facts, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %found.i)
  br label %for.inc

if.else:                                          ; preds = %lor.lhs.false
  %40 = load i64, ptr %arrayidx9, align 8
  %cmp10 = icmp eq i64 %40, %3
  br i1 %cmp10, label %if.then14, label %lor.lhs.false11

lor.lhs.false11:                                  ; preds = %if.else
  %41 = load i64, ptr %arrayidx12, align 8
  %cmp13 = icmp eq i64 %41, %3
  br i1 %cmp13, label %if.then14, label %if.else18

if.then14:                                        ; preds = %lor.lhs.false11, %if.else
  %42 = load i64, ptr %arrayidx.i29, align 8
  %43 = inttoptr i64 %42 to ptr
  %call.i = call i64 %43(ptr nonnull %1)
  %44 = load i64, ptr %facts, align 8
  %cmp.i30 = icmp sgt i64 %44, 318
  br i1 %cmp.i30, label %return, label %if.end.i31

if.end.i31:                                       ; preds = %if.then14
  %add.ptr.i32 = getelementptr inbounds i64, ptr %words2.i, i64 %44
  store i64 -4, ptr %add.ptr.i32, align 8
  %arrayidx5.i = getelementptr inbounds nuw i8, ptr %add.ptr.i32, i64 8
  store i64 %call.i, ptr %arrayidx5.i, align 8
  %45 = load i64, ptr %facts, align 8
  %add7.i = add nsw i64 %45, 2
  store i64 %add7.i, ptr %facts, align 8
  %cmp8.not16.i = icmp slt i64 %call.i, 1
  br i1 %cmp8.not16.i, label %for.inc, label %for.body.i35

for.body.i35:                                     ; preds = %if.end.i31, %for.inc.i
  %i.017.i = phi i64 [ %inc.i38, %for.inc.i ], [ 0, %if.end.i31 ]
  %46 = load i64, ptr %arrayidx9.i, align 8
  %47 = inttoptr i64 %46 to ptr
  %call10.i = call ptr %47(ptr %1, i64 %i.017.i)
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i.i)
  %type1.i.i = getelementptr inbounds nuw i8, ptr %call10.i, i64 8
  %48 = load ptr, ptr %type1.i.i, align 8
  %49 = ptrtoint ptr %48 to i64
  %50 = load i64, ptr %facts, align 8
  %add.ptr.i.i = getelementptr inbounds i64, ptr %words2.i, i64 %50
  %51 = ptrtoint ptr %call10.i to i64
  %cmp.i.i36 = icmp sgt i64 %50, 318
  br i1 %cmp.i.i36, label %take_plain.exit.thread14.i, label %if.end.i.i

if.end.i.i:                                       ; preds = %for.body.i35
  %add.i.i = add nsw i64 %50, 2
  store i64 %add.i.i, ptr %facts, align 8
  %52 = load i64, ptr %arrayidx.i58, align 8
  %cmp6.i.i = icmp eq i64 %52, %51
  br i1 %cmp6.i.i, label %if.then12.i.i, label %lor.lhs.false.i.i

lor.lhs.false.i.i:                                ; preds = %if.end.i.i
  %53 = load i64, ptr %arrayidx7.i, align 8
  %cmp8.i.i = icmp eq i64 %53, %51
  br i1 %cmp8.i.i, label %if.then12.i.i, label %lor.lhs.false9.i.i

lor.lhs.false9.i.i:                               ; preds = %lor.lhs.false.i.i
  %54 = load i64, ptr %arrayidx10.i61, align 8
  %cmp11.i.i = icmp eq i64 %54, %51
  br i1 %cmp11.i.i, label %if.then12.i.i, label %if.else.i.i

if.then12.i.i:                                    ; preds = %lor.lhs.false9.i.i, %lor.lhs.false.i.i, %if.end.i.i
  store i64 -3, ptr %add.ptr.i.i, align 8
  %arrayidx14.i.i = getelementptr inbounds nuw i8, ptr %add.ptr.i.i, i64 8
  store i64 %51, ptr %arrayidx14.i.i, align 8
  br label %take_plain.exit.thread.i

if.else.i.i:                                      ; preds = %lor.lhs.false9.i.i
  %55 = load i64, ptr %arrayidx15.i, align 8
  %cmp16.i.i = icmp eq i64 %55, %49
  br i1 %cmp16.i.i, label %take_plain.exit.i, label %if.else21.i.i

if.else21.i.i:                                    ; preds = %if.else.i.i
  %56 = load i64, ptr %arrayidx22.i, align 8
  %cmp23.i.i = icmp eq i64 %56, %49
  br i1 %cmp23.i.i, label %if.then24.i.i, label %take_plain.exit.thread14.i

if.then24.i.i:                                    ; preds = %if.else21.i.i
  %57 = load i64, ptr %arrayidx25.i, align 8
  %58 = inttoptr i64 %57 to ptr
  %call26.i.i = call double %58(ptr nonnull %call10.i)
  store i64 -2, ptr %add.ptr.i.i, align 8
  %arrayidx28.i.i = getelementptr inbounds nuw i8, ptr %add.ptr.i.i, i64 8
  store double %call26.i.i, ptr %arrayidx28.i.i, align 8
  br label %take_plain.exit.thread.i

take_plain.exit.thread.i:                         ; preds = %if.then24.i.i, %if.then12.i.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i.i)
  br label %for.inc.i

take_plain.exit.thread14.i:                       ; preds = %if.else21.i.i, %for.body.i35
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i.i)
  br label %return

take_plain.exit.i:                                ; preds = %if.else.i.i
  store i64 -1, ptr %add.ptr.i.i, align 8
  %59 = load i64, ptr %arrayidx19.i64, align 8
  %60 = inttoptr i64 %59 to ptr
  %call.i.i40 = call i64 %60(ptr nonnull %call10.i, ptr nonnull %overflow.i.i)
  %arrayidx20.i.i = getelementptr inbounds nuw i8, ptr %add.ptr.i.i, i64 8
  store i64 %call.i.i40, ptr %arrayidx20.i.i, align 8
  %61 = load i32, ptr %overflow.i.i, align 4
  %tobool.not.i.i41 = icmp eq i32 %61, 0
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i.i)
  br i1 %tobool.not.i.i41, label %for.inc.i, label %return

for.inc.i:                                        ; preds = %take_plain.exit.i, %take_plain.exit.thread.i
  %inc.i38 = add nuw nsw i64 %i.017.i, 1
  %exitcond.not.i39 = icmp eq i64 %inc.i38, %call.i
  br i1 %exitcond.not.i39, label %for.inc, label %for.body.i35

if.else18:                                        ; preds = %lor.lhs.false11
  %62 = load i64, ptr %arrayidx19, align 8
  %cmp20 = icmp eq i64 %62, %3
  br i1 %cmp20, label %if.then21, label %if.else25

if.then21:                                        ; preds = %if.else18
  call void @llvm.lifetime.start.p0(ptr nonnull %bytes.i)
  %63 = load i64, ptr %facts, align 8
  %add.ptr.i43 = getelementptr inbounds i64, ptr %words2.i, i64 %63
  %64 = load i64, ptr %arrayidx.i44, align 8
  %65 = inttoptr i64 %64 to ptr
  %call.i45 = call ptr %65(ptr nonnull %1, ptr nonnull %bytes.i)
  %call.i4597 = ptrtoint ptr %call.i45 to i64
  %tobool.not.i46 = icmp eq ptr %call.i45, null
  br i1 %tobool.not.i46, label %if.then.i, label %if.end.i47

if.then.i:                                        ; preds = %if.then21
  %arrayidx.i.i53 = getelementptr inbounds nuw i8, ptr %python, i64 152
  %66 = load i64, ptr %arrayidx.i.i53, align 8
  %67 = inttoptr i64 %66 to ptr
  call void %67()
  br label %take_text.exit.thread

if.end.i47:                                       ; preds = %if.then21
  %68 = load i64, ptr %bytes.i, align 8
  %add.i48 = add nsw i64 %68, 7
  %div.i = sdiv i64 %add.i48, 8
  %add4.i49 = add nsw i64 %div.i, 2
  %69 = load i64, ptr %facts, align 8
  %add6.i = add nsw i64 %add4.i49, %69
  %cmp.i50 = icmp slt i64 %add6.i, 321
  br i1 %cmp.i50, label %if.end8.i, label %take_text.exit.thread

if.end8.i:                                        ; preds = %if.end.i47
  store i64 -5, ptr %add.ptr.i43, align 8
  %arrayidx10.i = getelementptr inbounds nuw i8, ptr %add.ptr.i43, i64 8
  store i64 %68, ptr %arrayidx10.i, align 8
  %cmp1116.i = icmp sgt i64 %68, 0
  br i1 %cmp1116.i, label %for.body17.lr.ph.i, label %take_text.exit

for.body17.lr.ph.i:                               ; preds = %if.end8.i
  %70 = shl i64 %63, 3
  %71 = getelementptr i8, ptr %facts, i64 %70
  %scevgep.i = getelementptr i8, ptr %71, i64 24
  %smax.i = call i64 @llvm.smax.i64(i64 %add4.i49, i64 3)
  %72 = shl nuw i64 %smax.i, 3
  %73 = add i64 %72, -16
  call void @llvm.memset.p0.i64(ptr align 8 %scevgep.i, i8 0, i64 %73, i1 false)
  %add.ptr19.i = getelementptr inbounds nuw i8, ptr %add.ptr.i43, i64 16
  %min.iters.check = icmp ult i64 %68, 4
  br i1 %min.iters.check, label %for.body17.i.preheader, label %vector.memcheck

vector.memcheck:                                  ; preds = %for.body17.lr.ph.i
  %74 = add i64 %0, %70
  %75 = sub i64 %74, %call.i4597
  %diff.check = icmp ult i64 %75, 4
  br i1 %diff.check, label %for.body17.i.preheader, label %vector.ph

vector.ph:                                        ; preds = %vector.memcheck
  %n.vec = and i64 %68, 9223372036854775804
  br label %vector.body

vector.body:                                      ; preds = %vector.body, %vector.ph
  %index = phi i64 [ 0, %vector.ph ], [ %index.next, %vector.body ]
  %76 = getelementptr inbounds nuw i8, ptr %call.i45, i64 %index
  %wide.load = load <4 x i8>, ptr %76, align 1
  %77 = getelementptr inbounds nuw i8, ptr %add.ptr19.i, i64 %index
  store <4 x i8> %wide.load, ptr %77, align 1
  %index.next = add nuw i64 %index, 4
  %78 = icmp eq i64 %index.next, %n.vec
  br i1 %78, label %middle.block, label %vector.body

middle.block:                                     ; preds = %vector.body
  %cmp.n = icmp eq i64 %68, %n.vec
  br i1 %cmp.n, label %take_text.exit, label %for.body17.i.preheader

for.body17.i.preheader:                           ; preds = %vector.memcheck, %for.body17.lr.ph.i, %middle.block
  %i13.019.i.ph = phi i64 [ 0, %vector.memcheck ], [ 0, %for.body17.lr.ph.i ], [ %n.vec, %middle.block ]
  br label %for.body17.i

for.body17.i:                                     ; preds = %for.body17.i.preheader, %for.body17.i
  %i13.019.i = phi i64 [ %inc22.i, %for.body17.i ], [ %i13.019.i.ph, %for.body17.i.preheader ]
  %arrayidx18.i = getelementptr inbounds nuw i8, ptr %call.i45, i64 %i13.019.i
  %79 = load i8, ptr %arrayidx18.i, align 1
  %arrayidx20.i = getelementptr inbounds nuw i8, ptr %add.ptr19.i, i64 %i13.019.i
  store i8 %79, ptr %arrayidx20.i, align 1
  %inc22.i = add nuw nsw i64 %i13.019.i, 1
  %exitcond.not.i52 = icmp eq i64 %inc22.i, %68
  br i1 %exitcond.not.i52, label %take_text.exit, label %for.body17.i

take_text.exit.thread:                            ; preds = %if.end.i47, %if.then.i
  call void @llvm.lifetime.end.p0(ptr nonnull %bytes.i)
  br label %return

take_text.exit:                                   ; preds = %for.body17.i, %middle.block, %if.end8.i
  %80 = load i64, ptr %facts, align 8
  %add25.i = add nsw i64 %80, %add4.i49
  store i64 %add25.i, ptr %facts, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %bytes.i)
  br label %for.inc

if.else25:                                        ; preds = %if.else18
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i)
  %81 = load i64, ptr %facts, align 8
  %add.ptr.i54 = getelementptr inbounds i64, ptr %words2.i, i64 %81
  %82 = ptrtoint ptr %1 to i64
  %cmp.i55 = icmp sgt i64 %81, 318
  br i1 %cmp.i55, label %if.end31.thread76, label %if.end.i56

if.end.i56:                                       ; preds = %if.else25
  %add.i57 = add nsw i64 %81, 2
  store i64 %add.i57, ptr %facts, align 8
  %83 = load i64, ptr %arrayidx.i58, align 8
  %cmp6.i = icmp eq i64 %83, %82
  br i1 %cmp6.i, label %if.then12.i, label %lor.lhs.false.i59

lor.lhs.false.i59:                                ; preds = %if.end.i56
  %84 = load i64, ptr %arrayidx7.i, align 8
  %cmp8.i60 = icmp eq i64 %84, %82
  br i1 %cmp8.i60, label %if.then12.i, label %lor.lhs.false9.i

lor.lhs.false9.i:                                 ; preds = %lor.lhs.false.i59
  %85 = load i64, ptr %arrayidx10.i61, align 8
  %cmp11.i62 = icmp eq i64 %85, %82
  br i1 %cmp11.i62, label %if.then12.i, label %if.else.i

if.then12.i:                                      ; preds = %lor.lhs.false9.i, %lor.lhs.false.i59, %if.end.i56
  store i64 -3, ptr %add.ptr.i54, align 8
  %arrayidx14.i = getelementptr inbounds nuw i8, ptr %add.ptr.i54, i64 8
  store i64 %82, ptr %arrayidx14.i, align 8
  br label %if.end31.thread73

if.else.i:                                        ; preds = %lor.lhs.false9.i
  %86 = load i64, ptr %arrayidx15.i, align 8
  %cmp16.i = icmp eq i64 %86, %3
  br i1 %cmp16.i, label %if.end31, label %if.else21.i

if.else21.i:                                      ; preds = %if.else.i
  %87 = load i64, ptr %arrayidx22.i, align 8
  %cmp23.i = icmp eq i64 %87, %3
  br i1 %cmp23.i, label %if.then24.i, label %if.end31.thread76

if.then24.i:                                      ; preds = %if.else21.i
  %88 = load i64, ptr %arrayidx25.i, align 8
  %89 = inttoptr i64 %88 to ptr
  %call26.i = call double %89(ptr nonnull %1)
  store i64 -2, ptr %add.ptr.i54, align 8
  %arrayidx28.i = getelementptr inbounds nuw i8, ptr %add.ptr.i54, i64 8
  store double %call26.i, ptr %arrayidx28.i, align 8
  br label %if.end31.thread73

if.end31.thread73:                                ; preds = %if.then24.i, %if.then12.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br label %for.inc

if.end31.thread76:                                ; preds = %if.else25, %if.else21.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br label %return

if.end31:                                         ; preds = %if.else.i
  store i64 -1, ptr %add.ptr.i54, align 8
  %90 = load i64, ptr %arrayidx19.i64, align 8
  %91 = inttoptr i64 %90 to ptr
  %call.i65 = call i64 %91(ptr nonnull %1, ptr nonnull %overflow.i)
  %arrayidx20.i66 = getelementptr inbounds nuw i8, ptr %add.ptr.i54, i64 8
  store i64 %call.i65, ptr %arrayidx20.i66, align 8
  %92 = load i32, ptr %overflow.i, align 4
  %tobool.not.i67 = icmp eq i32 %92, 0
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br i1 %tobool.not.i67, label %for.inc, label %return

for.inc:                                          ; preds = %for.inc.i, %if.end.i31, %take_text.exit, %take_tensor.exit, %if.end31.thread73, %if.end31
  %inc = add nuw nsw i64 %i.082, 1
  %exitcond.not = icmp eq i64 %inc, %count
  br i1 %exitcond.not, label %return, label %for.body

return:                                           ; preds = %if.then14, %for.inc, %if.end31, %take_plain.exit.i, %for.cond.preheader, %if.end31.thread76, %take_tensor.exit.thread, %take_text.exit.thread, %take_plain.exit.thread14.i, %entry
  %retval.0 = phi i1 [ false, %entry ], [ false, %if.end31.thread76 ], [ false, %take_plain.exit.thread14.i ], [ true, %for.cond.preheader ], [ false, %take_text.exit.thread ], [ false, %take_tensor.exit.thread ], [ false, %take_plain.exit.i ], [ false, %if.then14 ], [ true, %for.inc ], [ false, %if.end31 ]
  ret i1 %retval.0
}

define ptr @fly_replay(ptr %self, ptr readonly captures(none) %args, i64 %count) {
entry:
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %self, i64 32
  %0 = load i64, ptr %add.ptr.i, align 8
  %1 = inttoptr i64 %0 to ptr
  %call1 = tail call fastcc ptr @fly.native_replay.replayed(ptr %1, ptr nonnull %add.ptr.i, ptr %args, i64 %count)
  %tobool.not.i = icmp eq ptr %call1, null
  br i1 %tobool.not.i, label %lor.lhs.false.i, label %or_none.exit

lor.lhs.false.i:                                  ; preds = %entry
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %1, i64 160
  %2 = load i64, ptr %arrayidx.i, align 8
  %3 = inttoptr i64 %2 to ptr
  %call.i = tail call ptr %3()
  %tobool1.not.i = icmp eq ptr %call.i, null
  br i1 %tobool1.not.i, label %if.end.i, label %or_none.exit

if.end.i:                                         ; preds = %lor.lhs.false.i
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %1, i64 56
  %4 = load i64, ptr %arrayidx.i.i, align 8
  %5 = inttoptr i64 %4 to ptr
  %arrayidx.i.i.i = getelementptr inbounds nuw i8, ptr %1, i64 136
  %6 = load i64, ptr %arrayidx.i.i.i, align 8
  %7 = inttoptr i64 %6 to ptr
  tail call void %7(ptr %5)
  br label %or_none.exit

or_none.exit:                                     ; preds = %entry, %lor.lhs.false.i, %if.end.i
  %retval.0.i = phi ptr [ %5, %if.end.i ], [ null, %lor.lhs.false.i ], [ %call1, %entry ]
  ret ptr %retval.0.i
}

define internal fastcc ptr @fly.native_replay.replayed(ptr readonly captures(none) %python, ptr %replay, ptr readonly captures(none) %args, i64 %count) {
entry:
  %own = alloca %struct.Facts, align 8
  %arrayidx = getelementptr inbounds nuw i8, ptr %replay, i64 80
  %0 = load i64, ptr %arrayidx, align 8
  %add.ptr = getelementptr inbounds i64, ptr %replay, i64 %0
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %replay, i64 88
  %1 = load i64, ptr %arrayidx1, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %own)
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %replay, i64 8
  %2 = load i64, ptr %arrayidx2, align 8
  %cmp.not = icmp eq i64 %count, %2
  br i1 %cmp.not, label %if.end, label %cleanup31

if.end:                                           ; preds = %entry
  %3 = load ptr, ptr @fly.native_replay.handed.1, align 8
  %tobool.not.i = icmp eq ptr %3, null
  br i1 %tobool.not.i, label %if.else, label %lor.lhs.false.i

lor.lhs.false.i:                                  ; preds = %if.end
  %4 = load ptr, ptr @fly.native_replay.handed.0, align 8
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %python, i64 288
  %5 = load i64, ptr %arrayidx.i, align 8
  %6 = inttoptr i64 %5 to ptr
  %call.i = tail call ptr %6()
  %cmp.not.i = icmp eq ptr %4, %call.i
  br i1 %cmp.not.i, label %for.cond.preheader.i, label %if.else

for.cond.preheader.i:                             ; preds = %lor.lhs.false.i
  %cmp16.i = icmp sgt i64 %count, 0
  br i1 %cmp16.i, label %for.body.lr.ph.i, label %take_handed.exit.thread

for.body.lr.ph.i:                                 ; preds = %for.cond.preheader.i
  %7 = load ptr, ptr @fly.native_replay.handed.1, align 8
  br label %for.body.i

for.cond.cleanup.i:                               ; preds = %for.body.i
  store ptr null, ptr @fly.native_replay.handed.1, align 8
  br i1 %and5.i, label %take_handed.exit, label %if.else

for.body.i:                                       ; preds = %for.body.i, %for.body.lr.ph.i
  %i.08.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %inc.i, %for.body.i ]
  %same.0.off07.i = phi i1 [ true, %for.body.lr.ph.i ], [ %and5.i, %for.body.i ]
  %arrayidx2.i = getelementptr inbounds nuw ptr, ptr %7, i64 %i.08.i
  %8 = load ptr, ptr %arrayidx2.i, align 8
  %arrayidx3.i = getelementptr inbounds nuw ptr, ptr %args, i64 %i.08.i
  %9 = load ptr, ptr %arrayidx3.i, align 8
  %cmp4.i = icmp eq ptr %8, %9
  %cmp4.fr.i = freeze i1 %cmp4.i
  %and5.i = and i1 %same.0.off07.i, %cmp4.fr.i
  %inc.i = add nuw nsw i64 %i.08.i, 1
  %exitcond.not.i = icmp eq i64 %inc.i, %count
  br i1 %exitcond.not.i, label %for.cond.cleanup.i, label %for.body.i

take_handed.exit:                                 ; preds = %for.cond.cleanup.i
  %retval.0.i = load ptr, ptr @fly.native_replay.handed.2, align 8
  %tobool.not = icmp eq ptr %retval.0.i, null
  br i1 %tobool.not, label %if.else, label %for.body.lr.ph

take_handed.exit.thread:                          ; preds = %for.cond.preheader.i
  store ptr null, ptr @fly.native_replay.handed.1, align 8
  %retval.0.i27 = load ptr, ptr @fly.native_replay.handed.2, align 8
  %tobool.not28 = icmp eq ptr %retval.0.i27, null
  br i1 %tobool.not28, label %if.else, label %if.end14

for.body.lr.ph:                                   ; preds = %take_handed.exit
  %addresses = getelementptr inbounds nuw i8, ptr %retval.0.i, i64 2568
  %addresses6 = getelementptr inbounds nuw i8, ptr %own, i64 2568
  %10 = shl nuw i64 %count, 3
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 %addresses6, ptr nonnull align 8 %addresses, i64 %10, i1 false)
  br label %if.end14

if.else:                                          ; preds = %take_handed.exit.thread, %for.cond.cleanup.i, %lor.lhs.false.i, %if.end, %take_handed.exit
  %call8 = call fastcc i1 @fly.native_replay.take_facts(ptr %python, ptr %args, i64 %count, ptr %own)
  %11 = load i64, ptr %own, align 8
  %cmp10 = icmp eq i64 %11, %1
  %or.cond = select i1 %call8, i1 %cmp10, i1 false
  br i1 %or.cond, label %if.end14, label %cleanup31

if.end14:                                         ; preds = %take_handed.exit.thread, %for.body.lr.ph, %if.else
  %facts.0 = phi ptr [ %own, %if.else ], [ %retval.0.i27, %take_handed.exit.thread ], [ %retval.0.i, %for.body.lr.ph ]
  %cmp17.not25 = icmp sgt i64 %1, 0
  br i1 %cmp17.not25, label %for.body19.lr.ph, label %for.end27

for.body19.lr.ph:                                 ; preds = %if.end14
  %words = getelementptr inbounds nuw i8, ptr %facts.0, i64 8
  br label %for.body19

for.cond16:                                       ; preds = %for.body19
  %inc26 = add nuw nsw i64 %i15.026, 1
  %exitcond.not = icmp eq i64 %inc26, %1
  br i1 %exitcond.not, label %for.end27, label %for.body19

for.body19:                                       ; preds = %for.body19.lr.ph, %for.cond16
  %i15.026 = phi i64 [ 0, %for.body19.lr.ph ], [ %inc26, %for.cond16 ]
  %arrayidx20 = getelementptr inbounds nuw i64, ptr %words, i64 %i15.026
  %12 = load i64, ptr %arrayidx20, align 8
  %arrayidx21 = getelementptr inbounds nuw i64, ptr %add.ptr, i64 %i15.026
  %13 = load i64, ptr %arrayidx21, align 8
  %cmp22.not = icmp eq i64 %12, %13
  br i1 %cmp22.not, label %for.cond16, label %cleanup31

for.end27:                                        ; preds = %for.cond16, %if.end14
  %addresses28 = getelementptr inbounds nuw i8, ptr %own, i64 2568
  %call29 = call fastcc ptr @fly.native_replay.run(ptr %python, ptr nonnull %replay, ptr %args, ptr %addresses28)
  br label %cleanup31

cleanup31:                                        ; preds = %for.body19, %for.end27, %if.else, %entry
  %retval.0 = phi ptr [ null, %entry ], [ %call29, %for.end27 ], [ null, %if.else ], [ null, %for.body19 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %own)
  ret ptr %retval.0
}

define ptr @fly_forward(ptr readonly captures(none) %self, ptr %args, i64 %count) {
entry:
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %self, i64 32
  %0 = load i64, ptr %add.ptr.i, align 8
  %1 = inttoptr i64 %0 to ptr
  %2 = load i64, ptr %1, align 8
  %3 = inttoptr i64 %2 to ptr
  %add.ptr = getelementptr inbounds nuw i8, ptr %args, i64 8
  %sub = add nsw i64 %count, -1
  %call2 = tail call fastcc ptr @fly.native_replay.replayed(ptr %3, ptr nonnull %1, ptr nonnull %add.ptr, i64 %sub)
  %tobool.not = icmp eq ptr %call2, null
  br i1 %tobool.not, label %if.then, label %if.end10

if.then:                                          ; preds = %entry
  %arrayidx3 = getelementptr inbounds nuw i8, ptr %3, i64 160
  %4 = load i64, ptr %arrayidx3, align 8
  %5 = inttoptr i64 %4 to ptr
  %call4 = tail call ptr %5()
  %tobool5.not = icmp eq ptr %call4, null
  br i1 %tobool5.not, label %if.end, label %cleanup

if.end:                                           ; preds = %if.then
  %arrayidx7 = getelementptr inbounds nuw i8, ptr %3, i64 184
  %6 = load i64, ptr %arrayidx7, align 8
  %7 = inttoptr i64 %6 to ptr
  %arrayidx8 = getelementptr inbounds nuw i8, ptr %self, i64 48
  %8 = load i64, ptr %arrayidx8, align 8
  %9 = inttoptr i64 %8 to ptr
  %call9 = tail call ptr %7(ptr %9, ptr %args, i64 %count, ptr null)
  br label %cleanup

if.end10:                                         ; preds = %entry
  %arrayidx11 = getelementptr inbounds nuw i8, ptr %3, i64 248
  %10 = load i64, ptr %arrayidx11, align 8
  %11 = inttoptr i64 %10 to ptr
  %arrayidx12 = getelementptr inbounds nuw i8, ptr %3, i64 200
  %12 = load i64, ptr %arrayidx12, align 8
  %13 = inttoptr i64 %12 to ptr
  %14 = load ptr, ptr %args, align 8
  %arrayidx14 = getelementptr inbounds nuw i8, ptr %self, i64 40
  %15 = load i64, ptr %arrayidx14, align 8
  %16 = inttoptr i64 %15 to ptr
  %call15 = tail call ptr %11(ptr nonnull %call2, i64 1)
  %call16 = tail call i32 %13(ptr %14, ptr %16, ptr %call15)
  %tobool17.not = icmp eq i32 %call16, 0
  br i1 %tobool17.not, label %if.then18, label %if.end21

if.then18:                                        ; preds = %if.end10
  %call19 = tail call ptr %11(ptr nonnull %call2, i64 0)
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %3, i64 136
  %17 = load i64, ptr %arrayidx.i, align 8
  %18 = inttoptr i64 %17 to ptr
  tail call void %18(ptr %call19)
  br label %if.end21

if.end21:                                         ; preds = %if.then18, %if.end10
  %found.0 = phi ptr [ null, %if.end10 ], [ %call19, %if.then18 ]
  %arrayidx.i17 = getelementptr inbounds nuw i8, ptr %3, i64 144
  %19 = load i64, ptr %arrayidx.i17, align 8
  %20 = inttoptr i64 %19 to ptr
  tail call void %20(ptr nonnull %call2)
  br label %cleanup

cleanup:                                          ; preds = %if.then, %if.end21, %if.end
  %retval.0 = phi ptr [ %found.0, %if.end21 ], [ %call9, %if.end ], [ null, %if.then ]
  ret ptr %retval.0
}

define ptr @fly_again(ptr readonly captures(none) %self, ptr %args, i64 %count) {
entry:
  %facts = alloca %struct.Facts, align 8
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %self, i64 32
  %0 = load i64, ptr %add.ptr.i, align 8
  %1 = inttoptr i64 %0 to ptr
  call void @llvm.lifetime.start.p0(ptr nonnull %facts)
  %call1 = call fastcc i1 @fly.native_replay.take_facts(ptr %1, ptr %args, i64 %count, ptr %facts)
  br i1 %call1, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %1, i64 56
  %2 = load i64, ptr %arrayidx.i, align 8
  %3 = inttoptr i64 %2 to ptr
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %1, i64 136
  %4 = load i64, ptr %arrayidx.i.i, align 8
  %5 = inttoptr i64 %4 to ptr
  tail call void %5(ptr %3)
  br label %cleanup16

if.end:                                           ; preds = %entry
  %arrayidx.i17 = getelementptr inbounds nuw i8, ptr %1, i64 272
  %6 = load i64, ptr %arrayidx.i17, align 8
  %7 = inttoptr i64 %6 to ptr
  %words.i = getelementptr inbounds nuw i8, ptr %facts, i64 8
  %8 = load i64, ptr %facts, align 8
  %mul.i = shl nsw i64 %8, 3
  %call.i = call ptr %7(ptr nonnull %words.i, i64 %mul.i)
  %tobool.not = icmp eq ptr %call.i, null
  br i1 %tobool.not, label %cleanup16, label %if.end5

if.end5:                                          ; preds = %if.end
  %arrayidx6 = getelementptr inbounds nuw i8, ptr %1, i64 280
  %9 = load i64, ptr %arrayidx6, align 8
  %10 = inttoptr i64 %9 to ptr
  %arrayidx7 = getelementptr inbounds nuw i8, ptr %self, i64 40
  %11 = load i64, ptr %arrayidx7, align 8
  %12 = inttoptr i64 %11 to ptr
  %call8 = call ptr %10(ptr %12, ptr nonnull %call.i)
  %arrayidx.i18 = getelementptr inbounds nuw i8, ptr %1, i64 144
  %13 = load i64, ptr %arrayidx.i18, align 8
  %14 = inttoptr i64 %13 to ptr
  call void %14(ptr nonnull %call.i)
  %tobool9.not = icmp eq ptr %call8, null
  br i1 %tobool9.not, label %if.then10, label %if.end12

if.then10:                                        ; preds = %if.end5
  %arrayidx.i19 = getelementptr inbounds nuw i8, ptr %1, i64 160
  %15 = load i64, ptr %arrayidx.i19, align 8
  %16 = inttoptr i64 %15 to ptr
  %call.i20 = call ptr %16()
  %tobool1.not.i = icmp eq ptr %call.i20, null
  br i1 %tobool1.not.i, label %if.end.i, label %cleanup16

if.end.i:                                         ; preds = %if.then10
  %arrayidx.i.i21 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %17 = load i64, ptr %arrayidx.i.i21, align 8
  %18 = inttoptr i64 %17 to ptr
  %arrayidx.i.i.i = getelementptr inbounds nuw i8, ptr %1, i64 136
  %19 = load i64, ptr %arrayidx.i.i.i, align 8
  %20 = inttoptr i64 %19 to ptr
  call void %20(ptr %18)
  br label %cleanup16

if.end12:                                         ; preds = %if.end5
  %arrayidx.i22 = getelementptr inbounds nuw i8, ptr %1, i64 136
  %21 = load i64, ptr %arrayidx.i22, align 8
  %22 = inttoptr i64 %21 to ptr
  call void %22(ptr nonnull %call8)
  %arrayidx.i23 = getelementptr inbounds nuw i8, ptr %1, i64 248
  %23 = load i64, ptr %arrayidx.i23, align 8
  %24 = inttoptr i64 %23 to ptr
  %arrayidx.i.i24 = getelementptr inbounds nuw i8, ptr %self, i64 48
  %25 = load i64, ptr %arrayidx.i.i24, align 8
  %arrayidx1.i.i = getelementptr inbounds nuw i8, ptr %1, i64 168
  %26 = load i64, ptr %arrayidx1.i.i, align 8
  %27 = inttoptr i64 %26 to ptr
  %arrayidx2.i.i = getelementptr inbounds nuw i8, ptr %1, i64 88
  %28 = load i64, ptr %arrayidx2.i.i, align 8
  %29 = inttoptr i64 %28 to ptr
  %call.i.i = call ptr %27(ptr %29)
  %tobool.not.i.i.i = icmp eq ptr %call.i.i, null
  br i1 %tobool.not.i.i.i, label %is_true.exit.thread.i.i, label %is_true.exit.i.i

is_true.exit.thread.i.i:                          ; preds = %if.end12
  %arrayidx.i.i.i.i = getelementptr inbounds nuw i8, ptr %1, i64 152
  %30 = load i64, ptr %arrayidx.i.i.i.i, align 8
  %31 = inttoptr i64 %30 to ptr
  call void %31()
  br label %if.then.i

is_true.exit.i.i:                                 ; preds = %if.end12
  %32 = load i64, ptr %arrayidx.i18, align 8
  %33 = inttoptr i64 %32 to ptr
  call void %33(ptr nonnull %call.i.i)
  %arrayidx.i.i.i25 = getelementptr inbounds nuw i8, ptr %1, i64 64
  %34 = load i64, ptr %arrayidx.i.i.i25, align 8
  %35 = inttoptr i64 %34 to ptr
  %cmp.i.i.i = icmp eq ptr %call.i.i, %35
  %cmp.not24.i.i = icmp sgt i64 %25, 0
  %or.cond.i.i = select i1 %cmp.i.i.i, i1 %cmp.not24.i.i, i1 false
  br i1 %or.cond.i.i, label %for.body.lr.ph.i.i, label %if.then.i

for.body.lr.ph.i.i:                               ; preds = %is_true.exit.i.i
  %arrayidx5.i.i = getelementptr inbounds nuw i8, ptr %1, i64 56
  %arrayidx9.i.i = getelementptr inbounds nuw i8, ptr %1, i64 192
  %arrayidx11.i.i = getelementptr inbounds nuw i8, ptr %1, i64 96
  %arrayidx.i.i20.i.i = getelementptr inbounds nuw i8, ptr %1, i64 152
  br label %for.body.i.i

for.body.i.i:                                     ; preds = %for.inc.i.i, %for.body.lr.ph.i.i
  %i.025.i.i = phi i64 [ 0, %for.body.lr.ph.i.i ], [ %inc.i.i, %for.inc.i.i ]
  %arrayidx4.i.i = getelementptr inbounds nuw ptr, ptr %args, i64 %i.025.i.i
  %36 = load ptr, ptr %arrayidx4.i.i, align 8
  %37 = ptrtoint ptr %36 to i64
  %38 = load i64, ptr %arrayidx5.i.i, align 8
  %cmp6.i.i = icmp eq i64 %38, %37
  br i1 %cmp6.i.i, label %for.inc.i.i, label %if.end8.i.i

if.end8.i.i:                                      ; preds = %for.body.i.i
  %39 = load i64, ptr %arrayidx9.i.i, align 8
  %40 = inttoptr i64 %39 to ptr
  %41 = load i64, ptr %arrayidx11.i.i, align 8
  %42 = inttoptr i64 %41 to ptr
  %call12.i.i = call ptr %40(ptr %36, ptr %42)
  %tobool.not.i13.i.i = icmp eq ptr %call12.i.i, null
  br i1 %tobool.not.i13.i.i, label %is_true.exit21.thread.i.i, label %is_true.exit21.i.i

is_true.exit21.thread.i.i:                        ; preds = %if.end8.i.i
  %43 = load i64, ptr %arrayidx.i.i20.i.i, align 8
  %44 = inttoptr i64 %43 to ptr
  call void %44()
  br label %for.inc.i.i

is_true.exit21.i.i:                               ; preds = %if.end8.i.i
  %45 = load i64, ptr %arrayidx.i18, align 8
  %46 = inttoptr i64 %45 to ptr
  call void %46(ptr nonnull %call12.i.i)
  %47 = load i64, ptr %arrayidx.i.i.i25, align 8
  %48 = inttoptr i64 %47 to ptr
  %cmp.i17.i.i = icmp eq ptr %call12.i.i, %48
  br i1 %cmp.i17.i.i, label %if.end8.i, label %for.inc.i.i

for.inc.i.i:                                      ; preds = %is_true.exit21.i.i, %is_true.exit21.thread.i.i, %for.body.i.i
  %inc.i.i = add nuw nsw i64 %i.025.i.i, 1
  %exitcond.not.i.i = icmp eq i64 %inc.i.i, %25
  br i1 %exitcond.not.i.i, label %if.then.i, label %for.body.i.i

if.then.i:                                        ; preds = %for.inc.i.i, %is_true.exit.i.i, %is_true.exit.thread.i.i
  %call1.i = call ptr %24(ptr nonnull %call8, i64 0)
  %49 = ptrtoint ptr %call1.i to i64
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %1, i64 56
  %50 = load i64, ptr %arrayidx2.i, align 8
  %cmp.i = icmp eq i64 %50, %49
  br i1 %cmp.i, label %if.then3.i, label %if.end.i26

if.then3.i:                                       ; preds = %if.then.i
  %51 = load i64, ptr %arrayidx.i22, align 8
  %52 = inttoptr i64 %51 to ptr
  call void %52(ptr %call1.i)
  br label %follow.exit

if.end.i26:                                       ; preds = %if.then.i
  %add.ptr.i.i = getelementptr inbounds nuw i8, ptr %call1.i, i64 32
  %addresses.i = getelementptr inbounds nuw i8, ptr %facts, i64 2568
  %call6.i = call fastcc ptr @fly.native_replay.run(ptr nonnull readonly %1, ptr nonnull %add.ptr.i.i, ptr %args, ptr %addresses.i)
  %tobool.not.i.i = icmp eq ptr %call6.i, null
  br i1 %tobool.not.i.i, label %lor.lhs.false.i.i, label %follow.exit

lor.lhs.false.i.i:                                ; preds = %if.end.i26
  %arrayidx.i26.i = getelementptr inbounds nuw i8, ptr %1, i64 160
  %53 = load i64, ptr %arrayidx.i26.i, align 8
  %54 = inttoptr i64 %53 to ptr
  %call.i27.i = call ptr %54()
  %tobool1.not.i.i = icmp eq ptr %call.i27.i, null
  br i1 %tobool1.not.i.i, label %if.end.i.i, label %follow.exit

if.end.i.i:                                       ; preds = %lor.lhs.false.i.i
  %55 = load i64, ptr %arrayidx2.i, align 8
  %56 = inttoptr i64 %55 to ptr
  %57 = load i64, ptr %arrayidx.i22, align 8
  %58 = inttoptr i64 %57 to ptr
  call void %58(ptr %56)
  br label %follow.exit

if.end8.i:                                        ; preds = %is_true.exit21.i.i
  %call9.i = call ptr %24(ptr nonnull %call8, i64 1)
  %59 = ptrtoint ptr %call9.i to i64
  %60 = load i64, ptr %arrayidx5.i.i, align 8
  %cmp12.i = icmp eq i64 %60, %59
  br i1 %cmp12.i, label %if.then16.i, label %lor.lhs.false.i

lor.lhs.false.i:                                  ; preds = %if.end8.i
  %61 = load i64, ptr %arrayidx1.i.i, align 8
  %62 = inttoptr i64 %61 to ptr
  %arrayidx13.i = getelementptr inbounds nuw i8, ptr %self, i64 56
  %63 = load i64, ptr %arrayidx13.i, align 8
  %64 = inttoptr i64 %63 to ptr
  %call14.i = call ptr %62(ptr %64)
  %tobool.not.i30.i = icmp eq ptr %call14.i, null
  br i1 %tobool.not.i30.i, label %is_true.exit.thread.i, label %is_true.exit.i

is_true.exit.thread.i:                            ; preds = %lor.lhs.false.i
  %65 = load i64, ptr %arrayidx.i.i20.i.i, align 8
  %66 = inttoptr i64 %65 to ptr
  call void %66()
  br label %if.end18.i

is_true.exit.i:                                   ; preds = %lor.lhs.false.i
  %67 = load i64, ptr %arrayidx.i18, align 8
  %68 = inttoptr i64 %67 to ptr
  call void %68(ptr nonnull %call14.i)
  %69 = load i64, ptr %arrayidx.i.i.i25, align 8
  %70 = inttoptr i64 %69 to ptr
  %cmp.i.i = icmp eq ptr %call14.i, %70
  br i1 %cmp.i.i, label %is_true.exit.if.then16_crit_edge.i, label %if.end18.i

is_true.exit.if.then16_crit_edge.i:               ; preds = %is_true.exit.i
  %.pre.i = load i64, ptr %arrayidx5.i.i, align 8
  %71 = inttoptr i64 %.pre.i to ptr
  br label %if.then16.i

if.then16.i:                                      ; preds = %is_true.exit.if.then16_crit_edge.i, %if.end8.i
  %72 = phi ptr [ %71, %is_true.exit.if.then16_crit_edge.i ], [ %call9.i, %if.end8.i ]
  %73 = load i64, ptr %arrayidx.i22, align 8
  %74 = inttoptr i64 %73 to ptr
  call void %74(ptr %72)
  br label %follow.exit

if.end18.i:                                       ; preds = %is_true.exit.i, %is_true.exit.thread.i
  %arrayidx19.i = getelementptr inbounds nuw i8, ptr %1, i64 288
  %75 = load i64, ptr %arrayidx19.i, align 8
  %76 = inttoptr i64 %75 to ptr
  %call20.i = call ptr %76()
  store ptr %call20.i, ptr @fly.native_replay.handed.0, align 8
  store ptr %args, ptr @fly.native_replay.handed.1, align 8
  store ptr %facts, ptr @fly.native_replay.handed.2, align 8
  %arrayidx21.i = getelementptr inbounds nuw i8, ptr %1, i64 184
  %77 = load i64, ptr %arrayidx21.i, align 8
  %78 = inttoptr i64 %77 to ptr
  %79 = load i64, ptr %arrayidx.i.i24, align 8
  %call23.i = call ptr %78(ptr %call9.i, ptr nonnull %args, i64 %79, ptr null)
  %80 = load ptr, ptr @fly.native_replay.handed.1, align 8
  %cmp24.i = icmp eq ptr %80, %args
  br i1 %cmp24.i, label %if.then25.i, label %follow.exit

if.then25.i:                                      ; preds = %if.end18.i
  store ptr null, ptr @fly.native_replay.handed.1, align 8
  br label %follow.exit

follow.exit:                                      ; preds = %if.then3.i, %if.end.i26, %lor.lhs.false.i.i, %if.end.i.i, %if.then16.i, %if.end18.i, %if.then25.i
  %retval.1.i = phi ptr [ %call23.i, %if.end18.i ], [ %call1.i, %if.then3.i ], [ %72, %if.then16.i ], [ %call23.i, %if.then25.i ], [ %56, %if.end.i.i ], [ null, %lor.lhs.false.i.i ], [ %call6.i, %if.end.i26 ]
  %81 = load i64, ptr %arrayidx.i18, align 8
  %82 = inttoptr i64 %81 to ptr
  call void %82(ptr nonnull %call8)
  br label %cleanup16

cleanup16:                                        ; preds = %if.end.i, %if.then10, %if.end, %follow.exit, %if.then
  %retval.0 = phi ptr [ %3, %if.then ], [ null, %if.end ], [ %retval.1.i, %follow.exit ], [ %18, %if.end.i ], [ null, %if.then10 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %facts)
  ret ptr %retval.0
}

define internal fastcc ptr @fly.native_replay.run(ptr readonly captures(none) %python, ptr %replay, ptr readonly captures(none) %args, ptr nonnull captures(none) %addresses) {
entry:
  %overflow.i65 = alloca i32, align 4
  %overflow.i = alloca i32, align 4
  %found.i = alloca %struct.Tensor, align 8
  %buffers = alloca [32 x ptr], align 16
  call void @llvm.lifetime.start.p0(ptr nonnull %buffers)
  %arrayidx = getelementptr inbounds nuw i8, ptr %replay, i64 8
  %0 = load i64, ptr %arrayidx, align 8
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %replay, i64 48
  %1 = load i64, ptr %arrayidx1, align 8
  %spec.select = tail call i64 @llvm.smax.i64(i64 %1, i64 0)
  %add.ptr = getelementptr inbounds nuw i8, ptr %replay, i64 96
  %cmp3103 = icmp sgt i64 %0, 0
  br i1 %cmp3103, label %for.body.preheader, label %for.cond7.preheader

for.body.preheader:                               ; preds = %entry
  %2 = shl nuw i64 %0, 3
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 16 %buffers, ptr align 8 %args, i64 %2, i1 false)
  br label %for.cond7.preheader

for.cond7.preheader:                              ; preds = %for.body.preheader, %entry
  %arrayidx8 = getelementptr inbounds nuw i8, ptr %replay, i64 16
  %3 = load i64, ptr %arrayidx8, align 8
  %cmp9105 = icmp sgt i64 %3, 0
  br i1 %cmp9105, label %for.body11.lr.ph, label %for.cond.cleanup10.thread

for.cond.cleanup10.thread:                        ; preds = %for.cond7.preheader
  %arrayidx19128 = getelementptr inbounds nuw i8, ptr %replay, i64 32
  %4 = load i64, ptr %arrayidx19128, align 8
  %add.ptr20129 = getelementptr inbounds i64, ptr %add.ptr, i64 %4
  br label %if.then23

for.body11.lr.ph:                                 ; preds = %for.cond7.preheader
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %python, i64 184
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %python, i64 120
  %arrayidx.i.i.i = getelementptr inbounds nuw i8, ptr %python, i64 152
  %device.i = getelementptr inbounds nuw i8, ptr %found.i, i64 8
  %arrayidx.i21.i = getelementptr inbounds nuw i8, ptr %python, i64 144
  %arrayidx13.i = getelementptr inbounds nuw i8, ptr %python, i64 176
  %arrayidx14.i = getelementptr inbounds nuw i8, ptr %python, i64 112
  %offset.i = getelementptr inbounds nuw i8, ptr %found.i, i64 40
  br label %for.body11

for.cond.cleanup10:                               ; preds = %if.end
  %arrayidx19 = getelementptr inbounds nuw i8, ptr %replay, i64 32
  %5 = load i64, ptr %arrayidx19, align 8
  %add.ptr20 = getelementptr inbounds i64, ptr %add.ptr15, i64 %5
  br i1 %good.1.off0, label %if.then23, label %if.end60

for.body11:                                       ; preds = %for.body11.lr.ph, %if.end
  %6 = phi i64 [ %3, %for.body11.lr.ph ], [ %31, %if.end ]
  %end.0110 = phi i64 [ %0, %for.body11.lr.ph ], [ %end.1, %if.end ]
  %i6.0109 = phi i64 [ 0, %for.body11.lr.ph ], [ %inc17, %if.end ]
  %good.0.off0108 = phi i1 [ true, %for.body11.lr.ph ], [ %good.1.off0, %if.end ]
  %row.0106 = phi ptr [ %add.ptr, %for.body11.lr.ph ], [ %add.ptr15, %if.end ]
  br i1 %good.0.off0108, label %if.then, label %if.end

if.then:                                          ; preds = %for.body11
  %arrayidx12 = getelementptr inbounds ptr, ptr %buffers, i64 %end.0110
  %arrayidx13 = getelementptr inbounds i64, ptr %addresses, i64 %end.0110
  call void @llvm.lifetime.start.p0(ptr nonnull %found.i)
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %row.0106, i64 16
  %7 = load i64, ptr %arrayidx.i, align 8
  %tobool.not.i = icmp eq i64 %7, 0
  br i1 %tobool.not.i, label %if.then11.i, label %if.then.i

if.then.i:                                        ; preds = %if.then
  %8 = load i64, ptr %arrayidx1.i, align 8
  %9 = inttoptr i64 %8 to ptr
  %10 = inttoptr i64 %7 to ptr
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %row.0106, i64 24
  %call.i = call ptr %9(ptr nonnull %10, ptr nonnull %add.ptr.i, i64 3, ptr null)
  store ptr %call.i, ptr %arrayidx12, align 8
  %tobool3.not.i = icmp eq ptr %call.i, null
  br i1 %tobool3.not.i, label %make.exit, label %lor.lhs.false.i

lor.lhs.false.i:                                  ; preds = %if.then.i
  %11 = load i64, ptr %arrayidx.i.i, align 8
  %12 = inttoptr i64 %11 to ptr
  %call.i.i = call i32 %12(ptr nonnull %call.i, ptr nonnull %found.i)
  %tobool.not.i.i = icmp eq i32 %call.i.i, 0
  br i1 %tobool.not.i.i, label %if.end.i, label %read_tensor.exit.i

read_tensor.exit.i:                               ; preds = %lor.lhs.false.i
  %13 = load i64, ptr %arrayidx.i.i.i, align 8
  %14 = inttoptr i64 %13 to ptr
  call void %14()
  br label %make.exit

if.end.i:                                         ; preds = %lor.lhs.false.i
  %15 = load i64, ptr %device.i, align 8
  %arrayidx6.i = getelementptr inbounds nuw i8, ptr %row.0106, i64 8
  %16 = load i64, ptr %arrayidx6.i, align 8
  %cmp.not.i = icmp eq i64 %15, %16
  br i1 %cmp.not.i, label %if.end25.i, label %if.then7.i

if.then7.i:                                       ; preds = %if.end.i
  %17 = load i64, ptr %arrayidx.i21.i, align 8
  %18 = inttoptr i64 %17 to ptr
  call void %18(ptr nonnull %call.i)
  br label %if.then11.i

if.then11.i:                                      ; preds = %if.then7.i, %if.then
  %19 = load i64, ptr %arrayidx13.i, align 8
  %20 = inttoptr i64 %19 to ptr
  %21 = load i64, ptr %arrayidx14.i, align 8
  %22 = inttoptr i64 %21 to ptr
  %23 = load i64, ptr %row.0106, align 8
  %24 = inttoptr i64 %23 to ptr
  %call16.i = call ptr %20(ptr %22, ptr %24)
  store ptr %call16.i, ptr %arrayidx12, align 8
  %tobool17.not.i = icmp eq ptr %call16.i, null
  br i1 %tobool17.not.i, label %make.exit, label %lor.lhs.false18.i

lor.lhs.false18.i:                                ; preds = %if.then11.i
  %25 = load i64, ptr %arrayidx.i.i, align 8
  %26 = inttoptr i64 %25 to ptr
  %call.i23.i = call i32 %26(ptr nonnull %call16.i, ptr nonnull %found.i)
  %tobool.not.i24.i = icmp eq i32 %call.i23.i, 0
  br i1 %tobool.not.i24.i, label %if.end25.i, label %read_tensor.exit27.i

read_tensor.exit27.i:                             ; preds = %lor.lhs.false18.i
  %27 = load i64, ptr %arrayidx.i.i.i, align 8
  %28 = inttoptr i64 %27 to ptr
  call void %28()
  br label %make.exit

if.end25.i:                                       ; preds = %if.end.i, %lor.lhs.false18.i
  %29 = load i64, ptr %found.i, align 8
  %30 = load i64, ptr %offset.i, align 8
  %add.i = add i64 %30, %29
  store i64 %add.i, ptr %arrayidx13, align 8
  br label %make.exit

make.exit:                                        ; preds = %if.then.i, %read_tensor.exit.i, %if.then11.i, %read_tensor.exit27.i, %if.end25.i
  %retval.2.i = phi i1 [ true, %if.end25.i ], [ false, %read_tensor.exit27.i ], [ false, %if.then11.i ], [ false, %read_tensor.exit.i ], [ false, %if.then.i ]
  call void @llvm.lifetime.end.p0(ptr nonnull %found.i)
  %inc14 = add nsw i64 %end.0110, 1
  %.pre = load i64, ptr %arrayidx8, align 8
  br label %if.end

if.end:                                           ; preds = %make.exit, %for.body11
  %31 = phi i64 [ %.pre, %make.exit ], [ %6, %for.body11 ]
  %good.1.off0 = phi i1 [ %retval.2.i, %make.exit ], [ false, %for.body11 ]
  %end.1 = phi i64 [ %inc14, %make.exit ], [ %end.0110, %for.body11 ]
  %add.ptr15 = getelementptr inbounds nuw i8, ptr %row.0106, i64 48
  %inc17 = add nuw nsw i64 %i6.0109, 1
  %cmp9 = icmp slt i64 %inc17, %31
  br i1 %cmp9, label %for.body11, label %for.cond.cleanup10

if.then23:                                        ; preds = %for.cond.cleanup10.thread, %for.cond.cleanup10
  %add.ptr20129.pn = phi ptr [ %add.ptr20129, %for.cond.cleanup10.thread ], [ %add.ptr20, %for.cond.cleanup10 ]
  %arrayidx19136 = phi ptr [ %arrayidx19128, %for.cond.cleanup10.thread ], [ %arrayidx19, %for.cond.cleanup10 ]
  %end.0.lcssa133 = phi i64 [ %0, %for.cond.cleanup10.thread ], [ %end.1, %for.cond.cleanup10 ]
  %row.0.lcssa132 = phi ptr [ %add.ptr, %for.cond.cleanup10.thread ], [ %add.ptr15, %for.cond.cleanup10 ]
  %add.ptr21138 = getelementptr inbounds nuw i64, ptr %add.ptr20129.pn, i64 %spec.select
  %arrayidx24 = getelementptr inbounds nuw i8, ptr %replay, i64 56
  %32 = load i64, ptr %arrayidx24, align 8
  %arrayidx25 = getelementptr inbounds nuw i8, ptr %replay, i64 64
  %33 = load i64, ptr %arrayidx25, align 8
  %34 = inttoptr i64 %33 to ptr
  %arrayidx.i59 = getelementptr inbounds nuw i8, ptr %python, i64 136
  %35 = load i64, ptr %arrayidx.i59, align 8
  %36 = inttoptr i64 %35 to ptr
  call void %36(ptr %34)
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i)
  %tobool.not.i60 = icmp eq i64 %33, 0
  br i1 %tobool.not.i60, label %if.end30.thread96, label %if.end.i61

if.end.i61:                                       ; preds = %if.then23
  %arrayidx.i62 = getelementptr inbounds nuw i8, ptr %python, i64 176
  %37 = load i64, ptr %arrayidx.i62, align 8
  %38 = inttoptr i64 %37 to ptr
  %39 = inttoptr i64 %32 to ptr
  %call.i63 = call ptr %38(ptr %39, ptr nonnull %34)
  %arrayidx.i.i64 = getelementptr inbounds nuw i8, ptr %python, i64 144
  %40 = load i64, ptr %arrayidx.i.i64, align 8
  %41 = inttoptr i64 %40 to ptr
  call void %41(ptr nonnull %34)
  %tobool2.not.i = icmp eq ptr %call.i63, null
  br i1 %tobool2.not.i, label %if.end30.thread96, label %if.end4.i

if.end4.i:                                        ; preds = %if.end.i61
  %arrayidx5.i = getelementptr inbounds nuw i8, ptr %python, i64 56
  %42 = load i64, ptr %arrayidx5.i, align 8
  %43 = inttoptr i64 %42 to ptr
  %cmp.i = icmp eq ptr %call.i63, %43
  br i1 %cmp.i, label %if.end30.thread99, label %if.end30

if.end30.thread99:                                ; preds = %if.end4.i
  %44 = load i64, ptr %arrayidx.i.i64, align 8
  %45 = inttoptr i64 %44 to ptr
  call void %45(ptr nonnull %call.i63)
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br label %land.lhs.true

if.end30.thread96:                                ; preds = %if.end.i61, %if.then23
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br label %if.end60

if.end30:                                         ; preds = %if.end4.i
  %arrayidx8.i = getelementptr inbounds nuw i8, ptr %python, i64 208
  %46 = load i64, ptr %arrayidx8.i, align 8
  %47 = inttoptr i64 %46 to ptr
  %call9.i = call i64 %47(ptr nonnull %call.i63, ptr nonnull %overflow.i)
  %48 = load i64, ptr %arrayidx.i.i64, align 8
  %49 = inttoptr i64 %48 to ptr
  call void %49(ptr nonnull %call.i63)
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  %cmp28.not = icmp eq i64 %call9.i, -1
  br i1 %cmp28.not, label %if.end60, label %land.lhs.true

land.lhs.true:                                    ; preds = %if.end30.thread99, %if.end30
  %cond11.i102 = phi i64 [ 0, %if.end30.thread99 ], [ %call9.i, %if.end30 ]
  %arrayidx32 = getelementptr inbounds nuw i8, ptr %replay, i64 72
  %50 = load i64, ptr %arrayidx32, align 8
  %tobool.not = icmp eq i64 %50, 0
  br i1 %tobool.not, label %if.end42, label %if.then33

if.then33:                                        ; preds = %land.lhs.true
  %arrayidx34 = getelementptr inbounds nuw i8, ptr %python, i64 232
  %51 = load i64, ptr %arrayidx34, align 8
  %52 = inttoptr i64 %51 to ptr
  %call35 = call ptr %52(i64 %cond11.i102)
  %53 = load i64, ptr %arrayidx32, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i65)
  %tobool.not.i66 = icmp eq ptr %call35, null
  br i1 %tobool.not.i66, label %number_of.exit81, label %if.end.i67

if.end.i67:                                       ; preds = %if.then33
  %54 = load i64, ptr %arrayidx.i62, align 8
  %55 = inttoptr i64 %54 to ptr
  %56 = inttoptr i64 %53 to ptr
  %call.i69 = call ptr %55(ptr %56, ptr nonnull %call35)
  %57 = load i64, ptr %arrayidx.i.i64, align 8
  %58 = inttoptr i64 %57 to ptr
  call void %58(ptr nonnull %call35)
  %tobool2.not.i71 = icmp eq ptr %call.i69, null
  br i1 %tobool2.not.i71, label %number_of.exit81, label %if.end4.i72

if.end4.i72:                                      ; preds = %if.end.i67
  %59 = load i64, ptr %arrayidx5.i, align 8
  %60 = inttoptr i64 %59 to ptr
  %cmp.i74 = icmp eq ptr %call.i69, %60
  br i1 %cmp.i74, label %cond.end10.i78, label %cond.false7.i75

cond.false7.i75:                                  ; preds = %if.end4.i72
  %arrayidx8.i76 = getelementptr inbounds nuw i8, ptr %python, i64 208
  %61 = load i64, ptr %arrayidx8.i76, align 8
  %62 = inttoptr i64 %61 to ptr
  %call9.i77 = call i64 %62(ptr nonnull %call.i69, ptr nonnull %overflow.i65)
  br label %cond.end10.i78

cond.end10.i78:                                   ; preds = %cond.false7.i75, %if.end4.i72
  %cond11.i79 = phi i64 [ %call9.i77, %cond.false7.i75 ], [ 0, %if.end4.i72 ]
  %63 = load i64, ptr %arrayidx.i.i64, align 8
  %64 = inttoptr i64 %63 to ptr
  call void %64(ptr nonnull %call.i69)
  br label %number_of.exit81

number_of.exit81:                                 ; preds = %if.then33, %if.end.i67, %cond.end10.i78
  %retval.0.i80 = phi i64 [ %cond11.i79, %cond.end10.i78 ], [ -1, %if.end.i67 ], [ -1, %if.then33 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i65)
  %arrayidx38 = getelementptr inbounds i64, ptr %addresses, i64 %end.0.lcssa133
  store i64 %retval.0.i80, ptr %arrayidx38, align 8
  %cmp40 = icmp ne i64 %retval.0.i80, -1
  br label %if.end42

if.end42:                                         ; preds = %number_of.exit81, %land.lhs.true
  %good.3.off0 = phi i1 [ %cmp40, %number_of.exit81 ], [ true, %land.lhs.true ]
  %arrayidx45 = getelementptr inbounds nuw i8, ptr %replay, i64 24
  %65 = load i64, ptr %arrayidx45, align 8
  %cmp46113 = icmp sgt i64 %65, 0
  %66 = select i1 %cmp46113, i1 %good.3.off0, i1 false
  br i1 %66, label %for.body49, label %for.cond.cleanup48

for.cond.cleanup48:                               ; preds = %for.body49, %if.end42
  %good.4.off0.lcssa = phi i1 [ %good.3.off0, %if.end42 ], [ %call50, %for.body49 ]
  br i1 %good.4.off0.lcssa, label %if.then58, label %if.end60

for.body49:                                       ; preds = %if.end42, %for.body49
  %i43.0115 = phi i64 [ %inc55, %for.body49 ], [ 0, %if.end42 ]
  %launched.0114 = phi ptr [ %add.ptr53, %for.body49 ], [ %add.ptr21138, %if.end42 ]
  %call50 = call fastcc i1 @fly.native_replay.launch(ptr nonnull %python, ptr %launched.0114, ptr %addresses, i64 %cond11.i102)
  %arrayidx52 = getelementptr inbounds nuw i8, ptr %launched.0114, i64 80
  %67 = load i64, ptr %arrayidx52, align 8
  %.idx = mul i64 %67, 24
  %68 = getelementptr i8, ptr %launched.0114, i64 %.idx
  %add.ptr53 = getelementptr i8, ptr %68, i64 88
  %inc55 = add nuw nsw i64 %i43.0115, 1
  %69 = load i64, ptr %arrayidx45, align 8
  %cmp46 = icmp slt i64 %inc55, %69
  %70 = select i1 %cmp46, i1 %call50, i1 false
  br i1 %70, label %for.body49, label %for.cond.cleanup48

if.then58:                                        ; preds = %for.cond.cleanup48
  %71 = load i64, ptr %arrayidx19136, align 8
  %72 = load i64, ptr %arrayidx1, align 8
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %replay, i64 40
  %73 = load i64, ptr %arrayidx2.i, align 8
  %tobool.not.i84 = icmp eq i64 %73, 0
  br i1 %tobool.not.i84, label %if.end.i.i, label %if.then.i.i

if.then.i.i:                                      ; preds = %if.then58
  %74 = load i64, ptr %row.0.lcssa132, align 8
  %arrayidx1.i.i = getelementptr inbounds ptr, ptr %buffers, i64 %74
  %75 = load ptr, ptr %arrayidx1.i.i, align 8
  %arrayidx.i.i.i85 = getelementptr inbounds nuw i8, ptr %python, i64 136
  %76 = load i64, ptr %arrayidx.i.i.i85, align 8
  %77 = inttoptr i64 %76 to ptr
  call void %77(ptr %75)
  br label %gathered.exit.i

if.end.i.i:                                       ; preds = %if.then58
  %arrayidx2.i.i = getelementptr inbounds nuw i8, ptr %python, i64 256
  %78 = load i64, ptr %arrayidx2.i.i, align 8
  %79 = inttoptr i64 %78 to ptr
  %call3.i.i = call ptr %79(i64 %71)
  %tobool.i.i = icmp ne ptr %call3.i.i, null
  %cmp13.i.i = icmp sgt i64 %71, 0
  %80 = select i1 %tobool.i.i, i1 %cmp13.i.i, i1 false
  br i1 %80, label %for.body.lr.ph.i.i, label %gathered.exit.i

for.body.lr.ph.i.i:                               ; preds = %if.end.i.i
  %arrayidx4.i.i = getelementptr inbounds nuw i8, ptr %python, i64 264
  %arrayidx.i12.i.i = getelementptr inbounds nuw i8, ptr %python, i64 136
  br label %for.body.i.i

for.body.i.i:                                     ; preds = %for.body.i.i, %for.body.lr.ph.i.i
  %i.014.i.i = phi i64 [ 0, %for.body.lr.ph.i.i ], [ %inc.i.i, %for.body.i.i ]
  %81 = load i64, ptr %arrayidx4.i.i, align 8
  %82 = inttoptr i64 %81 to ptr
  %arrayidx5.i.i = getelementptr inbounds nuw i64, ptr %row.0.lcssa132, i64 %i.014.i.i
  %83 = load i64, ptr %arrayidx5.i.i, align 8
  %arrayidx6.i.i = getelementptr inbounds ptr, ptr %buffers, i64 %83
  %84 = load ptr, ptr %arrayidx6.i.i, align 8
  %85 = load i64, ptr %arrayidx.i12.i.i, align 8
  %86 = inttoptr i64 %85 to ptr
  call void %86(ptr %84)
  %call8.i.i = call i32 %82(ptr nonnull %call3.i.i, i64 %i.014.i.i, ptr %84)
  %inc.i.i = add nuw nsw i64 %i.014.i.i, 1
  %exitcond.not.i = icmp eq i64 %inc.i.i, %71
  br i1 %exitcond.not.i, label %gathered.exit.i, label %for.body.i.i

gathered.exit.i:                                  ; preds = %for.body.i.i, %if.end.i.i, %if.then.i.i
  %retval.0.i.i = phi ptr [ %75, %if.then.i.i ], [ %call3.i.i, %if.end.i.i ], [ %call3.i.i, %for.body.i.i ]
  %cmp.i86 = icmp sgt i64 %72, -1
  %tobool3.i = icmp ne ptr %retval.0.i.i, null
  %or.cond.i = select i1 %cmp.i86, i1 %tobool3.i, i1 false
  br i1 %or.cond.i, label %if.end.i88, label %if.end60

if.end.i88:                                       ; preds = %gathered.exit.i
  %add.ptr.i89 = getelementptr inbounds i64, ptr %row.0.lcssa132, i64 %71
  %arrayidx2.i23.i = getelementptr inbounds nuw i8, ptr %python, i64 256
  %87 = load i64, ptr %arrayidx2.i23.i, align 8
  %88 = inttoptr i64 %87 to ptr
  %call3.i24.i = call ptr %88(i64 %72)
  %tobool.i25.i = icmp ne ptr %call3.i24.i, null
  %cmp13.i26.i = icmp ne i64 %72, 0
  %89 = select i1 %tobool.i25.i, i1 %cmp13.i26.i, i1 false
  br i1 %89, label %for.body.lr.ph.i28.i, label %gathered.exit38.i

for.body.lr.ph.i28.i:                             ; preds = %if.end.i88
  %arrayidx4.i29.i = getelementptr inbounds nuw i8, ptr %python, i64 264
  %arrayidx.i12.i30.i = getelementptr inbounds nuw i8, ptr %python, i64 136
  br label %for.body.i31.i

for.body.i31.i:                                   ; preds = %for.body.i31.i, %for.body.lr.ph.i28.i
  %i.014.i32.i = phi i64 [ 0, %for.body.lr.ph.i28.i ], [ %inc.i36.i, %for.body.i31.i ]
  %90 = load i64, ptr %arrayidx4.i29.i, align 8
  %91 = inttoptr i64 %90 to ptr
  %arrayidx5.i33.i = getelementptr inbounds nuw i64, ptr %add.ptr.i89, i64 %i.014.i32.i
  %92 = load i64, ptr %arrayidx5.i33.i, align 8
  %arrayidx6.i34.i = getelementptr inbounds ptr, ptr %buffers, i64 %92
  %93 = load ptr, ptr %arrayidx6.i34.i, align 8
  %94 = load i64, ptr %arrayidx.i12.i30.i, align 8
  %95 = inttoptr i64 %94 to ptr
  call void %95(ptr %93)
  %call8.i35.i = call i32 %91(ptr nonnull %call3.i24.i, i64 %i.014.i32.i, ptr %93)
  %inc.i36.i = add nuw nsw i64 %i.014.i32.i, 1
  %exitcond49.not.i = icmp eq i64 %inc.i36.i, %72
  br i1 %exitcond49.not.i, label %cond.end.i, label %for.body.i31.i

gathered.exit38.i:                                ; preds = %if.end.i88
  %tobool5.not.i = icmp eq ptr %call3.i24.i, null
  br i1 %tobool5.not.i, label %if.then9.thread.i, label %cond.end.i

if.then9.thread.i:                                ; preds = %gathered.exit38.i
  %arrayidx.i48.i = getelementptr inbounds nuw i8, ptr %python, i64 144
  %96 = load i64, ptr %arrayidx.i48.i, align 8
  %97 = inttoptr i64 %96 to ptr
  call void %97(ptr nonnull %retval.0.i.i)
  br label %if.end60

cond.end.i:                                       ; preds = %for.body.i31.i, %gathered.exit38.i
  %98 = load i64, ptr %arrayidx2.i23.i, align 8
  %99 = inttoptr i64 %98 to ptr
  %call7.i = call ptr %99(i64 2)
  %tobool8.not.i = icmp eq ptr %call7.i, null
  br i1 %tobool8.not.i, label %if.then9.i, label %if.end13.i

if.then9.i:                                       ; preds = %cond.end.i
  %arrayidx.i.i91 = getelementptr inbounds nuw i8, ptr %python, i64 144
  %100 = load i64, ptr %arrayidx.i.i91, align 8
  %101 = inttoptr i64 %100 to ptr
  call void %101(ptr nonnull %retval.0.i.i)
  %102 = load i64, ptr %arrayidx.i.i91, align 8
  %103 = inttoptr i64 %102 to ptr
  call void %103(ptr nonnull %call3.i24.i)
  br label %if.end60

if.end13.i:                                       ; preds = %cond.end.i
  %arrayidx14.i90 = getelementptr inbounds nuw i8, ptr %python, i64 264
  %104 = load i64, ptr %arrayidx14.i90, align 8
  %105 = inttoptr i64 %104 to ptr
  %call15.i = call i32 %105(ptr nonnull %call7.i, i64 0, ptr nonnull %retval.0.i.i)
  %106 = load i64, ptr %arrayidx14.i90, align 8
  %107 = inttoptr i64 %106 to ptr
  %call17.i = call i32 %107(ptr nonnull %call7.i, i64 1, ptr nonnull %call3.i24.i)
  br label %if.end60

if.end60:                                         ; preds = %if.end30, %if.end30.thread96, %for.cond.cleanup10, %if.end13.i, %if.then9.i, %if.then9.thread.i, %gathered.exit.i, %for.cond.cleanup48
  %end.0.lcssa134148154 = phi i64 [ %end.0.lcssa133, %for.cond.cleanup48 ], [ %end.0.lcssa133, %gathered.exit.i ], [ %end.0.lcssa133, %if.end13.i ], [ %end.0.lcssa133, %if.then9.i ], [ %end.0.lcssa133, %if.then9.thread.i ], [ %end.1, %for.cond.cleanup10 ], [ %end.0.lcssa133, %if.end30.thread96 ], [ %end.0.lcssa133, %if.end30 ]
  %found.0 = phi ptr [ null, %for.cond.cleanup48 ], [ %retval.0.i.i, %gathered.exit.i ], [ %call7.i, %if.end13.i ], [ null, %if.then9.i ], [ null, %if.then9.thread.i ], [ null, %for.cond.cleanup10 ], [ null, %if.end30.thread96 ], [ null, %if.end30 ]
  %cmp63117 = icmp slt i64 %0, %end.0.lcssa134148154
  br i1 %cmp63117, label %for.body65.lr.ph, label %for.cond.cleanup64

for.body65.lr.ph:                                 ; preds = %if.end60
  %arrayidx.i92 = getelementptr inbounds nuw i8, ptr %python, i64 144
  br label %for.body65

for.cond.cleanup64:                               ; preds = %for.inc71, %if.end60
  call void @llvm.lifetime.end.p0(ptr nonnull %buffers)
  ret ptr %found.0

for.body65:                                       ; preds = %for.body65.lr.ph, %for.inc71
  %i61.0118 = phi i64 [ %0, %for.body65.lr.ph ], [ %inc72, %for.inc71 ]
  %arrayidx66 = getelementptr inbounds ptr, ptr %buffers, i64 %i61.0118
  %108 = load ptr, ptr %arrayidx66, align 8
  %tobool67.not = icmp eq ptr %108, null
  br i1 %tobool67.not, label %for.inc71, label %if.then68

if.then68:                                        ; preds = %for.body65
  %109 = load i64, ptr %arrayidx.i92, align 8
  %110 = inttoptr i64 %109 to ptr
  call void %110(ptr nonnull %108)
  br label %for.inc71

for.inc71:                                        ; preds = %for.body65, %if.then68
  %inc72 = add i64 %i61.0118, 1
  %exitcond.not = icmp eq i64 %inc72, %end.0.lcssa134148154
  br i1 %exitcond.not, label %for.cond.cleanup64, label %for.body65
}

define internal fastcc i1 @fly.native_replay.launch(ptr readonly captures(none) %python, ptr readonly captures(none) %launched, ptr nonnull readonly captures(none) %addresses, i64 %stream) {
entry:
  %before.i = alloca i64, align 8
  %overflow.i = alloca i32, align 4
  %arrayidx = getelementptr inbounds nuw i8, ptr %launched, i64 64
  %0 = load i64, ptr %arrayidx, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i)
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %python, i64 192
  %1 = load i64, ptr %arrayidx.i, align 8
  %2 = inttoptr i64 %1 to ptr
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %launched, i64 8
  %3 = load i64, ptr %arrayidx1.i, align 8
  %4 = inttoptr i64 %3 to ptr
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %python, i64 104
  %5 = load i64, ptr %arrayidx2.i, align 8
  %6 = inttoptr i64 %5 to ptr
  %call.i = tail call ptr %2(ptr %4, ptr %6)
  %tobool.not.i = icmp eq ptr %call.i, null
  br i1 %tobool.not.i, label %if.then.i, label %report_of.exit

if.then.i:                                        ; preds = %entry
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %python, i64 152
  %7 = load i64, ptr %arrayidx.i.i, align 8
  %8 = inttoptr i64 %7 to ptr
  tail call void %8()
  %arrayidx4.i = getelementptr inbounds nuw i8, ptr %python, i64 168
  %9 = load i64, ptr %arrayidx4.i, align 8
  %10 = inttoptr i64 %9 to ptr
  %arrayidx5.i = getelementptr inbounds nuw i8, ptr %launched, i64 16
  %11 = load i64, ptr %arrayidx5.i, align 8
  %12 = inttoptr i64 %11 to ptr
  %call6.i = tail call ptr %10(ptr %12)
  %tobool7.not.i = icmp eq ptr %call6.i, null
  br i1 %tobool7.not.i, label %report_of.exit.thread, label %report_of.exit

report_of.exit.thread:                            ; preds = %if.then.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br label %cleanup42

report_of.exit:                                   ; preds = %entry, %if.then.i
  %report.0.i = phi ptr [ %call.i, %entry ], [ %call6.i, %if.then.i ]
  %arrayidx10.i = getelementptr inbounds nuw i8, ptr %python, i64 208
  %13 = load i64, ptr %arrayidx10.i, align 8
  %14 = inttoptr i64 %13 to ptr
  %call11.i = call i64 %14(ptr nonnull %report.0.i, ptr nonnull %overflow.i)
  %arrayidx.i10.i = getelementptr inbounds nuw i8, ptr %python, i64 144
  %15 = load i64, ptr %arrayidx.i10.i, align 8
  %16 = inttoptr i64 %15 to ptr
  call void %16(ptr nonnull %report.0.i)
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  %tobool.not = icmp eq i64 %call11.i, 0
  br i1 %tobool.not, label %cleanup42, label %if.end

if.end:                                           ; preds = %report_of.exit
  %17 = alloca i8, i64 %0, align 16
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %launched, i64 56
  %18 = load i64, ptr %arrayidx1, align 8
  %19 = inttoptr i64 %18 to ptr
  %cmp49 = icmp sgt i64 %0, 0
  br i1 %cmp49, label %for.body, label %for.cond.cleanup

for.cond.cleanup:                                 ; preds = %for.body, %if.end
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %launched, i64 72
  %20 = load i64, ptr %arrayidx2, align 8
  %add.ptr.i = getelementptr inbounds i8, ptr %17, i64 %20
  store i64 %stream, ptr %add.ptr.i, align 1
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %launched, i64 80
  %21 = load i64, ptr %arrayidx5, align 8
  %cmp651 = icmp sgt i64 %21, 0
  br i1 %cmp651, label %for.body8.lr.ph, label %for.cond.cleanup7

for.body8.lr.ph:                                  ; preds = %for.cond.cleanup
  %add.ptr9 = getelementptr inbounds nuw i8, ptr %launched, i64 88
  br label %for.body8

for.body:                                         ; preds = %if.end, %for.body
  %i.050 = phi i64 [ %add, %for.body ], [ 0, %if.end ]
  %add.ptr = getelementptr inbounds nuw i8, ptr %19, i64 %i.050
  %22 = load i64, ptr %add.ptr, align 1
  %add.ptr.i32 = getelementptr inbounds nuw i8, ptr %17, i64 %i.050
  store i64 %22, ptr %add.ptr.i32, align 8
  %add = add nuw nsw i64 %i.050, 8
  %cmp = icmp slt i64 %add, %0
  br i1 %cmp, label %for.body, label %for.cond.cleanup

for.cond.cleanup7:                                ; preds = %for.body8, %for.cond.cleanup
  %arrayidx18 = getelementptr inbounds nuw i8, ptr %python, i64 296
  %23 = load i64, ptr %arrayidx18, align 8
  %24 = inttoptr i64 %23 to ptr
  %call19 = call ptr %24()
  call void @llvm.lifetime.start.p0(ptr nonnull %before.i)
  store i64 0, ptr %before.i, align 8
  %arrayidx.i33 = getelementptr inbounds nuw i8, ptr %launched, i64 48
  %25 = load i64, ptr %arrayidx.i33, align 8
  %arrayidx1.i34 = getelementptr inbounds nuw i8, ptr %launched, i64 32
  %26 = load i64, ptr %arrayidx1.i34, align 8
  %arrayidx2.i35 = getelementptr inbounds nuw i8, ptr %launched, i64 40
  %27 = load i64, ptr %arrayidx2.i35, align 8
  %28 = inttoptr i64 %27 to ptr
  %29 = load i64, ptr %launched, align 8
  %30 = inttoptr i64 %29 to ptr
  %tobool.not.i36 = icmp eq i64 %26, 0
  br i1 %tobool.not.i36, label %if.then.i39, label %if.end.i

if.then.i39:                                      ; preds = %for.cond.cleanup7
  %31 = inttoptr i64 %call11.i to ptr
  %call.i40 = call i32 %30(ptr nonnull %17, ptr nonnull %31)
  br label %enter.exit

if.end.i:                                         ; preds = %for.cond.cleanup7
  %32 = inttoptr i64 %26 to ptr
  %call5.i = call i32 %32(ptr nonnull %before.i)
  %tobool6.not.i = icmp eq i32 %call5.i, 0
  br i1 %tobool6.not.i, label %lor.lhs.false.i, label %enter.exit.thread

lor.lhs.false.i:                                  ; preds = %if.end.i
  %33 = load i64, ptr %before.i, align 8
  %cmp.not.i = icmp eq i64 %33, %25
  br i1 %cmp.not.i, label %if.end10.i, label %land.lhs.true.i

land.lhs.true.i:                                  ; preds = %lor.lhs.false.i
  %call7.i = call i32 %28(i64 %25)
  %tobool8.not.i = icmp eq i32 %call7.i, 0
  br i1 %tobool8.not.i, label %if.end10.i, label %enter.exit.thread

if.end10.i:                                       ; preds = %land.lhs.true.i, %lor.lhs.false.i
  %34 = inttoptr i64 %call11.i to ptr
  %call11.i38 = call i32 %30(ptr nonnull %17, ptr nonnull %34)
  %35 = load i64, ptr %before.i, align 8
  %cmp12.not.i = icmp eq i64 %35, %25
  br i1 %cmp12.not.i, label %enter.exit, label %land.lhs.true13.i

land.lhs.true13.i:                                ; preds = %if.end10.i
  %call14.i = call i32 %28(i64 %35)
  %tobool15.not.i = icmp eq i32 %call14.i, 0
  br i1 %tobool15.not.i, label %enter.exit, label %enter.exit.thread

enter.exit.thread:                                ; preds = %if.end.i, %land.lhs.true.i, %land.lhs.true13.i
  call void @llvm.lifetime.end.p0(ptr nonnull %before.i)
  %arrayidx2147 = getelementptr inbounds nuw i8, ptr %python, i64 304
  %36 = load i64, ptr %arrayidx2147, align 8
  %37 = inttoptr i64 %36 to ptr
  call void %37(ptr %call19)
  br label %if.then24

enter.exit:                                       ; preds = %if.end10.i, %land.lhs.true13.i, %if.then.i39
  %retval.0.i37 = phi i32 [ %call.i40, %if.then.i39 ], [ %call11.i38, %land.lhs.true13.i ], [ %call11.i38, %if.end10.i ]
  call void @llvm.lifetime.end.p0(ptr nonnull %before.i)
  %arrayidx21 = getelementptr inbounds nuw i8, ptr %python, i64 304
  %38 = load i64, ptr %arrayidx21, align 8
  %39 = inttoptr i64 %38 to ptr
  call void %39(ptr %call19)
  switch i32 %retval.0.i37, label %if.end26 [
    i32 -1000000, label %if.then24
    i32 0, label %if.then24
  ]

for.body8:                                        ; preds = %for.body8.lr.ph, %for.body8
  %i3.052 = phi i64 [ 0, %for.body8.lr.ph ], [ %inc, %for.body8 ]
  %add.ptr10.idx = mul nuw nsw i64 %i3.052, 24
  %add.ptr10 = getelementptr inbounds nuw i8, ptr %add.ptr9, i64 %add.ptr10.idx
  %40 = load i64, ptr %add.ptr10, align 8
  %arrayidx12 = getelementptr inbounds nuw i8, ptr %add.ptr10, i64 8
  %41 = load i64, ptr %arrayidx12, align 8
  %arrayidx13 = getelementptr inbounds i64, ptr %addresses, i64 %41
  %42 = load i64, ptr %arrayidx13, align 8
  %arrayidx14 = getelementptr inbounds nuw i8, ptr %add.ptr10, i64 16
  %43 = load i64, ptr %arrayidx14, align 8
  %add15 = add nsw i64 %43, %42
  %add.ptr.i41 = getelementptr inbounds i8, ptr %17, i64 %40
  store i64 %add15, ptr %add.ptr.i41, align 1
  %inc = add nuw nsw i64 %i3.052, 1
  %exitcond.not = icmp eq i64 %inc, %21
  br i1 %exitcond.not, label %for.cond.cleanup7, label %for.body8

if.then24:                                        ; preds = %enter.exit.thread, %enter.exit, %enter.exit
  %retval.0.i3748 = phi i32 [ -1000000, %enter.exit.thread ], [ %retval.0.i37, %enter.exit ], [ %retval.0.i37, %enter.exit ]
  %tobool25.not = icmp eq i32 %retval.0.i3748, 0
  br label %cleanup42

if.end26:                                         ; preds = %enter.exit
  %arrayidx27 = getelementptr inbounds nuw i8, ptr %python, i64 232
  %44 = load i64, ptr %arrayidx27, align 8
  %45 = inttoptr i64 %44 to ptr
  %conv = sext i32 %retval.0.i37 to i64
  %call28 = call ptr %45(i64 %conv)
  %tobool29.not = icmp eq ptr %call28, null
  br i1 %tobool29.not, label %cleanup42, label %if.then30

if.then30:                                        ; preds = %if.end26
  %arrayidx32 = getelementptr inbounds nuw i8, ptr %python, i64 176
  %46 = load i64, ptr %arrayidx32, align 8
  %47 = inttoptr i64 %46 to ptr
  %arrayidx33 = getelementptr inbounds nuw i8, ptr %launched, i64 24
  %48 = load i64, ptr %arrayidx33, align 8
  %49 = inttoptr i64 %48 to ptr
  %call34 = call ptr %47(ptr %49, ptr nonnull %call28)
  %50 = load i64, ptr %arrayidx.i10.i, align 8
  %51 = inttoptr i64 %50 to ptr
  call void %51(ptr nonnull %call28)
  %tobool35.not = icmp eq ptr %call34, null
  br i1 %tobool35.not, label %cleanup42, label %if.then36

if.then36:                                        ; preds = %if.then30
  %52 = load i64, ptr %arrayidx.i10.i, align 8
  %53 = inttoptr i64 %52 to ptr
  call void %53(ptr nonnull %call34)
  br label %cleanup42

cleanup42:                                        ; preds = %report_of.exit.thread, %if.then24, %if.then30, %if.then36, %if.end26, %report_of.exit
  %retval.0 = phi i1 [ false, %report_of.exit ], [ %tobool25.not, %if.then24 ], [ false, %if.then30 ], [ false, %if.then36 ], [ false, %if.end26 ], [ false, %report_of.exit.thread ]
  ret i1 %retval.0
}


