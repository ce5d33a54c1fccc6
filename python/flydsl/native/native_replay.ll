; Made from src/native_replay.c by `python -m flydsl.native.generate`.

%struct.Handed = type { ptr, ptr, ptr }
%struct.Facts = type { i64, [320 x i64], [32 x i64] }
%struct.Tensor = type { i64, i64, i32, i32, ptr, ptr, i64 }

@fly.native_replay.handed = internal global %struct.Handed zeroinitializer, align 8

define ptr @fly_facts(ptr readonly captures(none) %self, ptr readonly captures(none) %args, i64 %count) {
entry:
  %facts = alloca %struct.Facts, align 8
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %self, i64 32
  call void @llvm.lifetime.start.p0(ptr nonnull %facts)
  %call1 = call fastcc i1 @fly.native_replay.take_facts(ptr nonnull %add.ptr.i, ptr %args, i64 %count, ptr %facts)
  br i1 %call1, label %cond.true, label %cond.false

cond.true:                                        ; preds = %entry
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %self, i64 360
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
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %self, i64 216
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
  %facts97 = ptrtoint ptr %facts to i64
  %overflow.i = alloca i32, align 4
  %bytes.i = alloca i64, align 8
  %overflow.i.i = alloca i32, align 4
  %found.i = alloca %struct.Tensor, align 8
  store i64 0, ptr %facts, align 8
  %cmp = icmp sgt i64 %count, 16
  br i1 %cmp, label %return, label %for.cond.preheader

for.cond.preheader:                               ; preds = %entry
  %cmp282 = icmp slt i64 %count, 1
  br i1 %cmp282, label %return, label %for.body.lr.ph

for.body.lr.ph:                                   ; preds = %for.cond.preheader
  %arrayidx6 = getelementptr inbounds nuw i8, ptr %python, i64 8
  %arrayidx9 = getelementptr inbounds nuw i8, ptr %python, i64 40
  %arrayidx12 = getelementptr inbounds nuw i8, ptr %python, i64 48
  %arrayidx19 = getelementptr inbounds nuw i8, ptr %python, i64 32
  %words2.i = getelementptr inbounds nuw i8, ptr %facts, i64 8
  %arrayidx.i60 = getelementptr inbounds nuw i8, ptr %python, i64 56
  %arrayidx7.i = getelementptr inbounds nuw i8, ptr %python, i64 64
  %arrayidx10.i63 = getelementptr inbounds nuw i8, ptr %python, i64 72
  %arrayidx15.i = getelementptr inbounds nuw i8, ptr %python, i64 16
  %arrayidx22.i = getelementptr inbounds nuw i8, ptr %python, i64 24
  %arrayidx25.i = getelementptr inbounds nuw i8, ptr %python, i64 272
  %arrayidx19.i = getelementptr inbounds nuw i8, ptr %python, i64 264
  %arrayidx.i46 = getelementptr inbounds nuw i8, ptr %python, i64 280
  %arrayidx.i29 = getelementptr inbounds nuw i8, ptr %python, i64 296
  %arrayidx9.i = getelementptr inbounds nuw i8, ptr %python, i64 304
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %python, i64 168
  %strides.i = getelementptr inbounds nuw i8, ptr %found.i, i64 32
  %rank.i = getelementptr inbounds nuw i8, ptr %found.i, i64 16
  %offset.i = getelementptr inbounds nuw i8, ptr %found.i, i64 40
  %device.i.i = getelementptr inbounds nuw i8, ptr %found.i, i64 8
  %arrayidx.i27.i = getelementptr inbounds nuw i8, ptr %python, i64 176
  %dtype.i.i = getelementptr inbounds nuw i8, ptr %found.i, i64 20
  %arrayidx.i28.i = getelementptr inbounds nuw i8, ptr %python, i64 224
  %arrayidx1.i.i = getelementptr inbounds nuw i8, ptr %python, i64 80
  %arrayidx.i7.i.i = getelementptr inbounds nuw i8, ptr %python, i64 192
  %addresses.i = getelementptr inbounds nuw i8, ptr %facts, i64 2568
  %shape.i = getelementptr inbounds nuw i8, ptr %found.i, i64 24
  %0 = add i64 %facts97, 24
  br label %for.body

for.body:                                         ; preds = %for.body.lr.ph, %for.inc
  %i.083 = phi i64 [ 0, %for.body.lr.ph ], [ %inc, %for.inc ]
  %arrayidx = getelementptr inbounds nuw ptr, ptr %args, i64 %i.083
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
  %24 = load i64, ptr %arrayidx10.i63, align 8
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
  %add.ptr.i = getelementptr inbounds i64, ptr %words2.i, i64 %26
  %arrayidx21.i = getelementptr inbounds nuw i64, ptr %addresses.i, i64 %i.083
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

take_tensor.exit.thread.sink.split:               ; preds = %if.end.i.i, %if.then8
  %arrayidx.i.i.i = getelementptr inbounds nuw i8, ptr %python, i64 200
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
  %i.017.i = phi i64 [ %inc.i40, %for.inc.i ], [ 0, %if.end.i31 ]
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
  br i1 %cmp.i.i36, label %take_plain.exit.thread14.i, label %if.end.i.i37

if.end.i.i37:                                     ; preds = %for.body.i35
  %add.i.i = add nsw i64 %50, 2
  store i64 %add.i.i, ptr %facts, align 8
  %52 = load i64, ptr %arrayidx.i60, align 8
  %cmp6.i.i38 = icmp eq i64 %52, %51
  br i1 %cmp6.i.i38, label %if.then12.i.i, label %lor.lhs.false.i.i

lor.lhs.false.i.i:                                ; preds = %if.end.i.i37
  %53 = load i64, ptr %arrayidx7.i, align 8
  %cmp8.i.i = icmp eq i64 %53, %51
  br i1 %cmp8.i.i, label %if.then12.i.i, label %lor.lhs.false9.i.i

lor.lhs.false9.i.i:                               ; preds = %lor.lhs.false.i.i
  %54 = load i64, ptr %arrayidx10.i63, align 8
  %cmp11.i.i = icmp eq i64 %54, %51
  br i1 %cmp11.i.i, label %if.then12.i.i, label %if.else.i.i

if.then12.i.i:                                    ; preds = %lor.lhs.false9.i.i, %lor.lhs.false.i.i, %if.end.i.i37
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
  %59 = load i64, ptr %arrayidx19.i, align 8
  %60 = inttoptr i64 %59 to ptr
  %call.i.i42 = call i64 %60(ptr nonnull %call10.i, ptr nonnull %overflow.i.i)
  %arrayidx20.i.i = getelementptr inbounds nuw i8, ptr %add.ptr.i.i, i64 8
  store i64 %call.i.i42, ptr %arrayidx20.i.i, align 8
  %61 = load i32, ptr %overflow.i.i, align 4
  %tobool.not.i.i43 = icmp eq i32 %61, 0
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i.i)
  br i1 %tobool.not.i.i43, label %for.inc.i, label %return

for.inc.i:                                        ; preds = %take_plain.exit.i, %take_plain.exit.thread.i
  %inc.i40 = add nuw nsw i64 %i.017.i, 1
  %exitcond.not.i41 = icmp eq i64 %inc.i40, %call.i
  br i1 %exitcond.not.i41, label %for.inc, label %for.body.i35

if.else18:                                        ; preds = %lor.lhs.false11
  %62 = load i64, ptr %arrayidx19, align 8
  %cmp20 = icmp eq i64 %62, %3
  br i1 %cmp20, label %if.then21, label %if.else25

if.then21:                                        ; preds = %if.else18
  call void @llvm.lifetime.start.p0(ptr nonnull %bytes.i)
  %63 = load i64, ptr %facts, align 8
  %add.ptr.i45 = getelementptr inbounds i64, ptr %words2.i, i64 %63
  %64 = load i64, ptr %arrayidx.i46, align 8
  %65 = inttoptr i64 %64 to ptr
  %call.i47 = call ptr %65(ptr nonnull %1, ptr nonnull %bytes.i)
  %call.i4798 = ptrtoint ptr %call.i47 to i64
  %tobool.not.i48 = icmp eq ptr %call.i47, null
  br i1 %tobool.not.i48, label %if.then.i, label %if.end.i49

if.then.i:                                        ; preds = %if.then21
  %arrayidx.i.i55 = getelementptr inbounds nuw i8, ptr %python, i64 200
  %66 = load i64, ptr %arrayidx.i.i55, align 8
  %67 = inttoptr i64 %66 to ptr
  call void %67()
  br label %take_text.exit.thread

if.end.i49:                                       ; preds = %if.then21
  %68 = load i64, ptr %bytes.i, align 8
  %add.i50 = add nsw i64 %68, 7
  %div.i = sdiv i64 %add.i50, 8
  %add4.i51 = add nsw i64 %div.i, 2
  %69 = load i64, ptr %facts, align 8
  %add6.i = add nsw i64 %add4.i51, %69
  %cmp.i52 = icmp slt i64 %add6.i, 321
  br i1 %cmp.i52, label %if.end8.i, label %take_text.exit.thread

if.end8.i:                                        ; preds = %if.end.i49
  store i64 -5, ptr %add.ptr.i45, align 8
  %arrayidx10.i = getelementptr inbounds nuw i8, ptr %add.ptr.i45, i64 8
  store i64 %68, ptr %arrayidx10.i, align 8
  %cmp1116.i = icmp sgt i64 %68, 0
  br i1 %cmp1116.i, label %for.body17.lr.ph.i, label %take_text.exit

for.body17.lr.ph.i:                               ; preds = %if.end8.i
  %70 = shl i64 %63, 3
  %71 = getelementptr i8, ptr %facts, i64 %70
  %scevgep.i = getelementptr i8, ptr %71, i64 24
  %smax.i = call i64 @llvm.smax.i64(i64 %add4.i51, i64 3)
  %72 = shl nuw i64 %smax.i, 3
  %73 = add i64 %72, -16
  call void @llvm.memset.p0.i64(ptr align 8 %scevgep.i, i8 0, i64 %73, i1 false)
  %add.ptr19.i = getelementptr inbounds nuw i8, ptr %add.ptr.i45, i64 16
  %min.iters.check = icmp ult i64 %68, 4
  br i1 %min.iters.check, label %for.body17.i.preheader, label %vector.memcheck

vector.memcheck:                                  ; preds = %for.body17.lr.ph.i
  %74 = add i64 %0, %70
  %75 = sub i64 %74, %call.i4798
  %diff.check = icmp ult i64 %75, 4
  br i1 %diff.check, label %for.body17.i.preheader, label %vector.ph

vector.ph:                                        ; preds = %vector.memcheck
  %n.vec = and i64 %68, 9223372036854775804
  br label %vector.body

vector.body:                                      ; preds = %vector.body, %vector.ph
  %index = phi i64 [ 0, %vector.ph ], [ %index.next, %vector.body ]
  %76 = getelementptr inbounds nuw i8, ptr %call.i47, i64 %index
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
  %arrayidx18.i = getelementptr inbounds nuw i8, ptr %call.i47, i64 %i13.019.i
  %79 = load i8, ptr %arrayidx18.i, align 1
  %arrayidx20.i = getelementptr inbounds nuw i8, ptr %add.ptr19.i, i64 %i13.019.i
  store i8 %79, ptr %arrayidx20.i, align 1
  %inc22.i = add nuw nsw i64 %i13.019.i, 1
  %exitcond.not.i54 = icmp eq i64 %inc22.i, %68
  br i1 %exitcond.not.i54, label %take_text.exit, label %for.body17.i

take_text.exit.thread:                            ; preds = %if.end.i49, %if.then.i
  call void @llvm.lifetime.end.p0(ptr nonnull %bytes.i)
  br label %return

take_text.exit:                                   ; preds = %for.body17.i, %middle.block, %if.end8.i
  %80 = load i64, ptr %facts, align 8
  %add25.i = add nsw i64 %80, %add4.i51
  store i64 %add25.i, ptr %facts, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %bytes.i)
  br label %for.inc

if.else25:                                        ; preds = %if.else18
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i)
  %81 = load i64, ptr %facts, align 8
  %add.ptr.i56 = getelementptr inbounds i64, ptr %words2.i, i64 %81
  %82 = ptrtoint ptr %1 to i64
  %cmp.i57 = icmp sgt i64 %81, 318
  br i1 %cmp.i57, label %if.end31.thread77, label %if.end.i58

if.end.i58:                                       ; preds = %if.else25
  %add.i59 = add nsw i64 %81, 2
  store i64 %add.i59, ptr %facts, align 8
  %83 = load i64, ptr %arrayidx.i60, align 8
  %cmp6.i = icmp eq i64 %83, %82
  br i1 %cmp6.i, label %if.then12.i, label %lor.lhs.false.i61

lor.lhs.false.i61:                                ; preds = %if.end.i58
  %84 = load i64, ptr %arrayidx7.i, align 8
  %cmp8.i62 = icmp eq i64 %84, %82
  br i1 %cmp8.i62, label %if.then12.i, label %lor.lhs.false9.i

lor.lhs.false9.i:                                 ; preds = %lor.lhs.false.i61
  %85 = load i64, ptr %arrayidx10.i63, align 8
  %cmp11.i = icmp eq i64 %85, %82
  br i1 %cmp11.i, label %if.then12.i, label %if.else.i

if.then12.i:                                      ; preds = %lor.lhs.false9.i, %lor.lhs.false.i61, %if.end.i58
  store i64 -3, ptr %add.ptr.i56, align 8
  %arrayidx14.i = getelementptr inbounds nuw i8, ptr %add.ptr.i56, i64 8
  store i64 %82, ptr %arrayidx14.i, align 8
  br label %if.end31.thread74

if.else.i:                                        ; preds = %lor.lhs.false9.i
  %86 = load i64, ptr %arrayidx15.i, align 8
  %cmp16.i = icmp eq i64 %86, %3
  br i1 %cmp16.i, label %if.end31, label %if.else21.i

if.else21.i:                                      ; preds = %if.else.i
  %87 = load i64, ptr %arrayidx22.i, align 8
  %cmp23.i = icmp eq i64 %87, %3
  br i1 %cmp23.i, label %if.then24.i, label %if.end31.thread77

if.then24.i:                                      ; preds = %if.else21.i
  %88 = load i64, ptr %arrayidx25.i, align 8
  %89 = inttoptr i64 %88 to ptr
  %call26.i = call double %89(ptr nonnull %1)
  store i64 -2, ptr %add.ptr.i56, align 8
  %arrayidx28.i65 = getelementptr inbounds nuw i8, ptr %add.ptr.i56, i64 8
  store double %call26.i, ptr %arrayidx28.i65, align 8
  br label %if.end31.thread74

if.end31.thread74:                                ; preds = %if.then24.i, %if.then12.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br label %for.inc

if.end31.thread77:                                ; preds = %if.else25, %if.else21.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br label %return

if.end31:                                         ; preds = %if.else.i
  store i64 -1, ptr %add.ptr.i56, align 8
  %90 = load i64, ptr %arrayidx19.i, align 8
  %91 = inttoptr i64 %90 to ptr
  %call.i66 = call i64 %91(ptr nonnull %1, ptr nonnull %overflow.i)
  %arrayidx20.i67 = getelementptr inbounds nuw i8, ptr %add.ptr.i56, i64 8
  store i64 %call.i66, ptr %arrayidx20.i67, align 8
  %92 = load i32, ptr %overflow.i, align 4
  %tobool.not.i68 = icmp eq i32 %92, 0
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br i1 %tobool.not.i68, label %for.inc, label %return

for.inc:                                          ; preds = %for.inc.i, %if.end.i31, %take_text.exit, %take_tensor.exit, %if.end31.thread74, %if.end31
  %inc = add nuw nsw i64 %i.083, 1
  %exitcond.not = icmp eq i64 %inc, %count
  br i1 %exitcond.not, label %return, label %for.body

return:                                           ; preds = %if.then14, %for.inc, %if.end31, %take_plain.exit.i, %for.cond.preheader, %if.end31.thread77, %take_tensor.exit.thread, %take_text.exit.thread, %take_plain.exit.thread14.i, %entry
  %retval.0 = phi i1 [ false, %entry ], [ false, %if.end31.thread77 ], [ false, %take_plain.exit.thread14.i ], [ true, %for.cond.preheader ], [ false, %take_text.exit.thread ], [ false, %take_tensor.exit.thread ], [ false, %take_plain.exit.i ], [ false, %if.then14 ], [ true, %for.inc ], [ false, %if.end31 ]
  ret i1 %retval.0
}

define ptr @fly_replay(ptr %self, ptr readonly captures(none) %args, i64 %count) {
entry:
  %facts.i = alloca %struct.Facts, align 8
  %second = alloca ptr, align 8
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %self, i64 32
  %0 = load i64, ptr %add.ptr.i, align 8
  %1 = inttoptr i64 %0 to ptr
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %self, i64 80
  %2 = load i64, ptr %arrayidx1, align 8
  %cmp = icmp sgt i64 %2, -1
  call void @llvm.lifetime.start.p0(ptr nonnull %second)
  store ptr null, ptr %second, align 8
  %second. = select i1 %cmp, ptr %second, ptr null
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %self, i64 120
  %3 = load i64, ptr %arrayidx.i, align 8
  %add.ptr.i8 = getelementptr inbounds i64, ptr %add.ptr.i, i64 %3
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %self, i64 128
  %4 = load i64, ptr %arrayidx1.i, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %facts.i)
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %self, i64 40
  %5 = load i64, ptr %arrayidx2.i, align 8
  %cmp.not.i = icmp eq i64 %count, %5
  br i1 %cmp.not.i, label %lor.lhs.false.i, label %cond.false6.thread

lor.lhs.false.i:                                  ; preds = %entry
  %call.i = call fastcc i1 @fly.native_replay.take_facts(ptr readonly %1, ptr readonly %args, i64 %count, ptr %facts.i)
  %6 = load i64, ptr %facts.i, align 8
  %cmp5.not.i = icmp eq i64 %6, %4
  %or.cond.i = select i1 %call.i, i1 %cmp5.not.i, i1 false
  br i1 %or.cond.i, label %for.cond.preheader.i, label %cond.false6.thread

for.cond.preheader.i:                             ; preds = %lor.lhs.false.i
  %cmp6.not12.i = icmp sgt i64 %4, 0
  br i1 %cmp6.not12.i, label %for.body.lr.ph.i, label %replayed.exit

for.body.lr.ph.i:                                 ; preds = %for.cond.preheader.i
  %words.i = getelementptr inbounds nuw i8, ptr %facts.i, i64 8
  br label %for.body.i

for.cond.i:                                       ; preds = %for.body.i
  %inc.i = add nuw nsw i64 %i.013.i, 1
  %exitcond.not.i = icmp eq i64 %inc.i, %4
  br i1 %exitcond.not.i, label %replayed.exit, label %for.body.i

for.body.i:                                       ; preds = %for.cond.i, %for.body.lr.ph.i
  %i.013.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %inc.i, %for.cond.i ]
  %arrayidx7.i = getelementptr inbounds nuw i64, ptr %words.i, i64 %i.013.i
  %7 = load i64, ptr %arrayidx7.i, align 8
  %arrayidx8.i = getelementptr inbounds nuw i64, ptr %add.ptr.i8, i64 %i.013.i
  %8 = load i64, ptr %arrayidx8.i, align 8
  %cmp9.not.i = icmp eq i64 %7, %8
  br i1 %cmp9.not.i, label %for.cond.i, label %cond.false6.thread

cond.false6.thread:                               ; preds = %for.body.i, %lor.lhs.false.i, %entry
  call void @llvm.lifetime.end.p0(ptr nonnull %facts.i)
  br label %lor.lhs.false.i14

replayed.exit:                                    ; preds = %for.cond.i, %for.cond.preheader.i
  %addresses.i = getelementptr inbounds nuw i8, ptr %facts.i, i64 2568
  %call12.i = call fastcc ptr @fly.native_replay.run(ptr readonly %1, ptr nonnull %add.ptr.i, ptr readonly %args, ptr nonnull %addresses.i, ptr %second.)
  call void @llvm.lifetime.end.p0(ptr nonnull %facts.i)
  %tobool = icmp ne ptr %call12.i, null
  %or.cond = select i1 %tobool, i1 %cmp, i1 false
  br i1 %or.cond, label %cond.true4, label %cond.false6

cond.true4:                                       ; preds = %replayed.exit
  %9 = load ptr, ptr %second, align 8
  %arrayidx.i9 = getelementptr inbounds nuw i8, ptr %1, i64 312
  %10 = load i64, ptr %arrayidx.i9, align 8
  %11 = inttoptr i64 %10 to ptr
  %call.i10 = call ptr %11(i64 2)
  %tobool.not.i = icmp eq ptr %call.i10, null
  br i1 %tobool.not.i, label %if.then.i, label %if.end.i

if.then.i:                                        ; preds = %cond.true4
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %1, i64 192
  %12 = load i64, ptr %arrayidx.i.i, align 8
  %13 = inttoptr i64 %12 to ptr
  call void %13(ptr nonnull %call12.i)
  %14 = load i64, ptr %arrayidx.i.i, align 8
  %15 = inttoptr i64 %14 to ptr
  call void %15(ptr %9)
  br label %cond.end8

if.end.i:                                         ; preds = %cond.true4
  %arrayidx1.i11 = getelementptr inbounds nuw i8, ptr %1, i64 320
  %16 = load i64, ptr %arrayidx1.i11, align 8
  %17 = inttoptr i64 %16 to ptr
  %call2.i = call i32 %17(ptr nonnull %call.i10, i64 0, ptr nonnull %call12.i)
  %18 = load i64, ptr %arrayidx1.i11, align 8
  %19 = inttoptr i64 %18 to ptr
  %call4.i = call i32 %19(ptr nonnull %call.i10, i64 1, ptr %9)
  br label %cond.end8

cond.false6:                                      ; preds = %replayed.exit
  %tobool.not.i12 = icmp eq ptr %call12.i, null
  br i1 %tobool.not.i12, label %lor.lhs.false.i14, label %cond.end8

lor.lhs.false.i14:                                ; preds = %cond.false6.thread, %cond.false6
  %arrayidx.i15 = getelementptr inbounds nuw i8, ptr %1, i64 208
  %20 = load i64, ptr %arrayidx.i15, align 8
  %21 = inttoptr i64 %20 to ptr
  %call.i16 = call ptr %21()
  %tobool1.not.i = icmp eq ptr %call.i16, null
  br i1 %tobool1.not.i, label %if.end.i17, label %cond.end8

if.end.i17:                                       ; preds = %lor.lhs.false.i14
  %arrayidx.i.i18 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %22 = load i64, ptr %arrayidx.i.i18, align 8
  %23 = inttoptr i64 %22 to ptr
  %arrayidx.i.i.i = getelementptr inbounds nuw i8, ptr %1, i64 184
  %24 = load i64, ptr %arrayidx.i.i.i, align 8
  %25 = inttoptr i64 %24 to ptr
  call void %25(ptr %23)
  br label %cond.end8

cond.end8:                                        ; preds = %if.end.i17, %lor.lhs.false.i14, %cond.false6, %if.end.i, %if.then.i
  %cond9 = phi ptr [ %call.i10, %if.end.i ], [ null, %if.then.i ], [ %23, %if.end.i17 ], [ null, %lor.lhs.false.i14 ], [ %call12.i, %cond.false6 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %second)
  ret ptr %cond9
}

define ptr @fly_forward(ptr readonly captures(none) %self, ptr readonly captures(none) %args, i64 %count) {
entry:
  %saved = alloca ptr, align 8
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %self, i64 32
  %0 = load i64, ptr %add.ptr.i, align 8
  %1 = inttoptr i64 %0 to ptr
  %2 = load i64, ptr %1, align 8
  %3 = inttoptr i64 %2 to ptr
  %call2.sroa.0.0.copyload = load ptr, ptr @fly.native_replay.handed, align 8
  %call2.sroa.4.0.copyload = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), align 8
  %call2.sroa.6.0.copyload = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 16), align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %saved)
  store ptr null, ptr %saved, align 8
  %tobool.not = icmp eq ptr %call2.sroa.4.0.copyload, null
  br i1 %tobool.not, label %if.then, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %entry
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %3, i64 344
  %4 = load i64, ptr %arrayidx4, align 8
  %5 = inttoptr i64 %4 to ptr
  %call5 = tail call ptr %5()
  %cmp.not = icmp eq ptr %call2.sroa.0.0.copyload, %call5
  br i1 %cmp.not, label %if.end, label %if.then

if.then:                                          ; preds = %lor.lhs.false, %entry
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %3, i64 56
  %6 = load i64, ptr %arrayidx.i, align 8
  %7 = inttoptr i64 %6 to ptr
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %3, i64 184
  %8 = load i64, ptr %arrayidx.i.i, align 8
  %9 = inttoptr i64 %8 to ptr
  tail call void %9(ptr %7)
  br label %cleanup

if.end:                                           ; preds = %lor.lhs.false
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), align 8
  %addresses = getelementptr inbounds nuw i8, ptr %call2.sroa.6.0.copyload, i64 2568
  %call8 = call fastcc ptr @fly.native_replay.run(ptr nonnull %3, ptr nonnull %1, ptr nonnull %call2.sroa.4.0.copyload, ptr nonnull %addresses, ptr nonnull %saved)
  %tobool9.not = icmp eq ptr %call8, null
  %.pr.pre = load ptr, ptr %saved, align 8
  br i1 %tobool9.not, label %if.end16, label %land.lhs.true

land.lhs.true:                                    ; preds = %if.end
  %arrayidx10 = getelementptr inbounds nuw i8, ptr %3, i64 256
  %10 = load i64, ptr %arrayidx10, align 8
  %11 = inttoptr i64 %10 to ptr
  %12 = load ptr, ptr %args, align 8
  %arrayidx12 = getelementptr inbounds nuw i8, ptr %self, i64 40
  %13 = load i64, ptr %arrayidx12, align 8
  %14 = inttoptr i64 %13 to ptr
  %call13 = call i32 %11(ptr %12, ptr %14, ptr %.pr.pre)
  %tobool14.not = icmp eq i32 %call13, 0
  br i1 %tobool14.not, label %if.end16, label %if.then15

if.then15:                                        ; preds = %land.lhs.true
  %arrayidx.i12 = getelementptr inbounds nuw i8, ptr %3, i64 192
  %15 = load i64, ptr %arrayidx.i12, align 8
  %16 = inttoptr i64 %15 to ptr
  call void %16(ptr nonnull %call8)
  br label %if.end16

if.end16:                                         ; preds = %if.then15, %if.end, %land.lhs.true
  %found.0 = phi ptr [ %call8, %land.lhs.true ], [ null, %if.end ], [ null, %if.then15 ]
  %tobool17.not = icmp eq ptr %.pr.pre, null
  br i1 %tobool17.not, label %if.end19, label %if.then18

if.then18:                                        ; preds = %if.end16
  %arrayidx.i13 = getelementptr inbounds nuw i8, ptr %3, i64 192
  %17 = load i64, ptr %arrayidx.i13, align 8
  %18 = inttoptr i64 %17 to ptr
  call void %18(ptr nonnull %.pr.pre)
  br label %if.end19

if.end19:                                         ; preds = %if.then18, %if.end16
  %tobool.not.i = icmp eq ptr %found.0, null
  br i1 %tobool.not.i, label %lor.lhs.false.i, label %cleanup

lor.lhs.false.i:                                  ; preds = %if.end19
  %arrayidx.i14 = getelementptr inbounds nuw i8, ptr %3, i64 208
  %19 = load i64, ptr %arrayidx.i14, align 8
  %20 = inttoptr i64 %19 to ptr
  %call.i = call ptr %20()
  %tobool1.not.i = icmp eq ptr %call.i, null
  br i1 %tobool1.not.i, label %if.end.i, label %cleanup

if.end.i:                                         ; preds = %lor.lhs.false.i
  %arrayidx.i.i15 = getelementptr inbounds nuw i8, ptr %3, i64 56
  %21 = load i64, ptr %arrayidx.i.i15, align 8
  %22 = inttoptr i64 %21 to ptr
  %arrayidx.i.i.i = getelementptr inbounds nuw i8, ptr %3, i64 184
  %23 = load i64, ptr %arrayidx.i.i.i, align 8
  %24 = inttoptr i64 %23 to ptr
  call void %24(ptr %22)
  br label %cleanup

cleanup:                                          ; preds = %if.end.i, %lor.lhs.false.i, %if.end19, %if.then
  %retval.0 = phi ptr [ %7, %if.then ], [ %22, %if.end.i ], [ null, %lor.lhs.false.i ], [ %found.0, %if.end19 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %saved)
  ret ptr %retval.0
}

define internal fastcc ptr @fly.native_replay.run(ptr readonly captures(none) %python, ptr %replay, ptr readonly captures(none) %args, ptr captures(none) %addresses, ptr writeonly captures(address_is_null) %second) {
entry:
  %overflow.i57 = alloca i32, align 4
  %capturing.i = alloca i32, align 4
  %overflow.i = alloca i32, align 4
  %found.i = alloca %struct.Tensor, align 8
  %buffers = alloca [32 x ptr], align 16
  call void @llvm.lifetime.start.p0(ptr nonnull %buffers)
  %arrayidx = getelementptr inbounds nuw i8, ptr %replay, i64 8
  %0 = load i64, ptr %arrayidx, align 8
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %replay, i64 32
  %1 = load i64, ptr %arrayidx1, align 8
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %replay, i64 48
  %2 = load i64, ptr %arrayidx2, align 8
  %add.ptr = getelementptr inbounds nuw i8, ptr %replay, i64 104
  %cmp101 = icmp sgt i64 %0, 0
  br i1 %cmp101, label %for.body.preheader, label %for.cond6.preheader

for.body.preheader:                               ; preds = %entry
  %3 = shl nuw i64 %0, 3
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 16 %buffers, ptr align 8 %args, i64 %3, i1 false)
  br label %for.cond6.preheader

for.cond6.preheader:                              ; preds = %for.body.preheader, %entry
  %arrayidx7 = getelementptr inbounds nuw i8, ptr %replay, i64 16
  %4 = load i64, ptr %arrayidx7, align 8
  %cmp8103 = icmp sgt i64 %4, 0
  br i1 %cmp8103, label %for.body10.lr.ph, label %for.cond.cleanup9.thread

for.cond.cleanup9.thread:                         ; preds = %for.cond6.preheader
  %add.ptr18128 = getelementptr inbounds i64, ptr %add.ptr, i64 %1
  %cond129 = tail call i64 @llvm.smax.i64(i64 %2, i64 0)
  %add.ptr20130 = getelementptr inbounds nuw i64, ptr %add.ptr18128, i64 %cond129
  br label %land.rhs

for.body10.lr.ph:                                 ; preds = %for.cond6.preheader
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %python, i64 232
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %python, i64 168
  %arrayidx.i.i.i = getelementptr inbounds nuw i8, ptr %python, i64 200
  %device.i = getelementptr inbounds nuw i8, ptr %found.i, i64 8
  %arrayidx.i21.i = getelementptr inbounds nuw i8, ptr %python, i64 192
  %arrayidx13.i = getelementptr inbounds nuw i8, ptr %python, i64 224
  %arrayidx14.i = getelementptr inbounds nuw i8, ptr %python, i64 160
  %offset.i = getelementptr inbounds nuw i8, ptr %found.i, i64 40
  br label %for.body10

for.cond.cleanup9:                                ; preds = %if.end
  %add.ptr18 = getelementptr inbounds i64, ptr %add.ptr14, i64 %1
  %cond = call i64 @llvm.smax.i64(i64 %2, i64 0)
  %add.ptr20 = getelementptr inbounds nuw i64, ptr %add.ptr18, i64 %cond
  br i1 %good.1.off0, label %land.rhs, label %if.end64

for.body10:                                       ; preds = %for.body10.lr.ph, %if.end
  %5 = phi i64 [ %4, %for.body10.lr.ph ], [ %30, %if.end ]
  %i5.0108 = phi i64 [ 0, %for.body10.lr.ph ], [ %inc16, %if.end ]
  %good.0.off0107 = phi i1 [ true, %for.body10.lr.ph ], [ %good.1.off0, %if.end ]
  %row.0105 = phi ptr [ %add.ptr, %for.body10.lr.ph ], [ %add.ptr14, %if.end ]
  %end.0104 = phi i64 [ %0, %for.body10.lr.ph ], [ %end.1, %if.end ]
  br i1 %good.0.off0107, label %if.then, label %if.end

if.then:                                          ; preds = %for.body10
  %arrayidx11 = getelementptr inbounds ptr, ptr %buffers, i64 %end.0104
  %arrayidx12 = getelementptr inbounds i64, ptr %addresses, i64 %end.0104
  call void @llvm.lifetime.start.p0(ptr nonnull %found.i)
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %row.0105, i64 16
  %6 = load i64, ptr %arrayidx.i, align 8
  %tobool.not.i = icmp eq i64 %6, 0
  br i1 %tobool.not.i, label %if.then11.i, label %if.then.i

if.then.i:                                        ; preds = %if.then
  %7 = load i64, ptr %arrayidx1.i, align 8
  %8 = inttoptr i64 %7 to ptr
  %9 = inttoptr i64 %6 to ptr
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %row.0105, i64 24
  %call.i = call ptr %8(ptr nonnull %9, ptr nonnull %add.ptr.i, i64 3, ptr null)
  store ptr %call.i, ptr %arrayidx11, align 8
  %tobool3.not.i = icmp eq ptr %call.i, null
  br i1 %tobool3.not.i, label %make.exit, label %lor.lhs.false.i

lor.lhs.false.i:                                  ; preds = %if.then.i
  %10 = load i64, ptr %arrayidx.i.i, align 8
  %11 = inttoptr i64 %10 to ptr
  %call.i.i = call i32 %11(ptr nonnull %call.i, ptr nonnull %found.i)
  %tobool.not.i.i = icmp eq i32 %call.i.i, 0
  br i1 %tobool.not.i.i, label %if.end.i, label %read_tensor.exit.i

read_tensor.exit.i:                               ; preds = %lor.lhs.false.i
  %12 = load i64, ptr %arrayidx.i.i.i, align 8
  %13 = inttoptr i64 %12 to ptr
  call void %13()
  br label %make.exit

if.end.i:                                         ; preds = %lor.lhs.false.i
  %14 = load i64, ptr %device.i, align 8
  %arrayidx6.i = getelementptr inbounds nuw i8, ptr %row.0105, i64 8
  %15 = load i64, ptr %arrayidx6.i, align 8
  %cmp.not.i = icmp eq i64 %14, %15
  br i1 %cmp.not.i, label %if.end25.i, label %if.then7.i

if.then7.i:                                       ; preds = %if.end.i
  %16 = load i64, ptr %arrayidx.i21.i, align 8
  %17 = inttoptr i64 %16 to ptr
  call void %17(ptr nonnull %call.i)
  br label %if.then11.i

if.then11.i:                                      ; preds = %if.then7.i, %if.then
  %18 = load i64, ptr %arrayidx13.i, align 8
  %19 = inttoptr i64 %18 to ptr
  %20 = load i64, ptr %arrayidx14.i, align 8
  %21 = inttoptr i64 %20 to ptr
  %22 = load i64, ptr %row.0105, align 8
  %23 = inttoptr i64 %22 to ptr
  %call16.i = call ptr %19(ptr %21, ptr %23)
  store ptr %call16.i, ptr %arrayidx11, align 8
  %tobool17.not.i = icmp eq ptr %call16.i, null
  br i1 %tobool17.not.i, label %make.exit, label %lor.lhs.false18.i

lor.lhs.false18.i:                                ; preds = %if.then11.i
  %24 = load i64, ptr %arrayidx.i.i, align 8
  %25 = inttoptr i64 %24 to ptr
  %call.i23.i = call i32 %25(ptr nonnull %call16.i, ptr nonnull %found.i)
  %tobool.not.i24.i = icmp eq i32 %call.i23.i, 0
  br i1 %tobool.not.i24.i, label %if.end25.i, label %read_tensor.exit27.i

read_tensor.exit27.i:                             ; preds = %lor.lhs.false18.i
  %26 = load i64, ptr %arrayidx.i.i.i, align 8
  %27 = inttoptr i64 %26 to ptr
  call void %27()
  br label %make.exit

if.end25.i:                                       ; preds = %if.end.i, %lor.lhs.false18.i
  %28 = load i64, ptr %found.i, align 8
  %29 = load i64, ptr %offset.i, align 8
  %add.i = add i64 %29, %28
  store i64 %add.i, ptr %arrayidx12, align 8
  br label %make.exit

make.exit:                                        ; preds = %if.then.i, %read_tensor.exit.i, %if.then11.i, %read_tensor.exit27.i, %if.end25.i
  %retval.2.i = phi i1 [ true, %if.end25.i ], [ false, %read_tensor.exit27.i ], [ false, %if.then11.i ], [ false, %read_tensor.exit.i ], [ false, %if.then.i ]
  call void @llvm.lifetime.end.p0(ptr nonnull %found.i)
  %inc13 = add nsw i64 %end.0104, 1
  %.pre = load i64, ptr %arrayidx7, align 8
  br label %if.end

if.end:                                           ; preds = %make.exit, %for.body10
  %30 = phi i64 [ %.pre, %make.exit ], [ %5, %for.body10 ]
  %end.1 = phi i64 [ %inc13, %make.exit ], [ %end.0104, %for.body10 ]
  %good.1.off0 = phi i1 [ %retval.2.i, %make.exit ], [ false, %for.body10 ]
  %add.ptr14 = getelementptr inbounds nuw i8, ptr %row.0105, i64 48
  %inc16 = add nuw nsw i64 %i5.0108, 1
  %cmp8 = icmp slt i64 %inc16, %30
  br i1 %cmp8, label %for.body10, label %for.cond.cleanup9

land.rhs:                                         ; preds = %for.cond.cleanup9.thread, %for.cond.cleanup9
  %add.ptr20138 = phi ptr [ %add.ptr20130, %for.cond.cleanup9.thread ], [ %add.ptr20, %for.cond.cleanup9 ]
  %row.0.lcssa134 = phi ptr [ %add.ptr, %for.cond.cleanup9.thread ], [ %add.ptr14, %for.cond.cleanup9 ]
  %end.0.lcssa131 = phi i64 [ %0, %for.cond.cleanup9.thread ], [ %end.1, %for.cond.cleanup9 ]
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i)
  %arrayidx.i52 = getelementptr inbounds nuw i8, ptr %python, i64 224
  %31 = load i64, ptr %arrayidx.i52, align 8
  %32 = inttoptr i64 %31 to ptr
  %arrayidx1.i53 = getelementptr inbounds nuw i8, ptr %replay, i64 56
  %33 = load i64, ptr %arrayidx1.i53, align 8
  %34 = inttoptr i64 %33 to ptr
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %replay, i64 64
  %35 = load i64, ptr %arrayidx2.i, align 8
  %36 = inttoptr i64 %35 to ptr
  %call3.i = call ptr %32(ptr %34, ptr %36)
  %tobool.not.i54 = icmp eq ptr %call3.i, null
  br i1 %tobool.not.i54, label %land.end.thread98, label %if.end.i55

land.end.thread98:                                ; preds = %land.rhs
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br label %if.end64

if.end.i55:                                       ; preds = %land.rhs
  %arrayidx4.i = getelementptr inbounds nuw i8, ptr %python, i64 56
  %37 = load i64, ptr %arrayidx4.i, align 8
  %38 = inttoptr i64 %37 to ptr
  %cmp.i = icmp eq ptr %call3.i, %38
  br i1 %cmp.i, label %land.end, label %cond.false.i

cond.false.i:                                     ; preds = %if.end.i55
  %arrayidx5.i = getelementptr inbounds nuw i8, ptr %python, i64 264
  %39 = load i64, ptr %arrayidx5.i, align 8
  %40 = inttoptr i64 %39 to ptr
  %call6.i = call i64 %40(ptr nonnull %call3.i, ptr nonnull %overflow.i)
  br label %land.end

land.end:                                         ; preds = %if.end.i55, %cond.false.i
  %cond.i = phi i64 [ %call6.i, %cond.false.i ], [ 0, %if.end.i55 ]
  %arrayidx.i.i56 = getelementptr inbounds nuw i8, ptr %python, i64 192
  %41 = load i64, ptr %arrayidx.i.i56, align 8
  %42 = inttoptr i64 %41 to ptr
  call void %42(ptr nonnull %call3.i)
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  %cmp23.not = icmp eq i64 %cond.i, -1
  br i1 %cmp23.not, label %if.end64, label %land.lhs.true

land.lhs.true:                                    ; preds = %land.end
  %arrayidx26 = getelementptr inbounds nuw i8, ptr %replay, i64 72
  %43 = load i64, ptr %arrayidx26, align 8
  %tobool.not = icmp eq i64 %43, 0
  br i1 %tobool.not, label %if.end32, label %if.then27

if.then27:                                        ; preds = %land.lhs.true
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i57)
  call void @llvm.lifetime.start.p0(ptr nonnull %capturing.i)
  store i32 0, ptr %capturing.i, align 4
  %arrayidx.i58 = getelementptr inbounds nuw i8, ptr %replay, i64 80
  %44 = load i64, ptr %arrayidx.i58, align 8
  %45 = inttoptr i64 %44 to ptr
  %call.i59 = call i32 %45(i64 %cond.i, ptr nonnull %capturing.i)
  %tobool.i = icmp ne i32 %call.i59, 0
  %46 = load i32, ptr %capturing.i, align 4
  %tobool1.i = icmp ne i32 %46, 0
  %or.cond.i = select i1 %tobool.i, i1 true, i1 %tobool1.i
  br i1 %or.cond.i, label %counters_of.exit, label %if.end.i60

if.end.i60:                                       ; preds = %if.then27
  %arrayidx2.i61 = getelementptr inbounds nuw i8, ptr %python, i64 288
  %47 = load i64, ptr %arrayidx2.i61, align 8
  %48 = inttoptr i64 %47 to ptr
  %call3.i62 = call ptr %48(i64 %cond.i)
  %tobool4.not.i = icmp eq ptr %call3.i62, null
  br i1 %tobool4.not.i, label %counters_of.exit, label %if.end6.i

if.end6.i:                                        ; preds = %if.end.i60
  %arrayidx7.i = getelementptr inbounds nuw i8, ptr %python, i64 336
  %49 = load i64, ptr %arrayidx7.i, align 8
  %50 = inttoptr i64 %49 to ptr
  %51 = load i64, ptr %arrayidx26, align 8
  %52 = inttoptr i64 %51 to ptr
  %call9.i = call ptr %50(ptr %52, ptr nonnull %call3.i62)
  %53 = load i64, ptr %arrayidx.i.i56, align 8
  %54 = inttoptr i64 %53 to ptr
  call void %54(ptr nonnull %call3.i62)
  %tobool10.not.i64 = icmp eq ptr %call9.i, null
  br i1 %tobool10.not.i64, label %counters_of.exit, label %cond.true.i

cond.true.i:                                      ; preds = %if.end6.i
  %arrayidx11.i = getelementptr inbounds nuw i8, ptr %python, i64 264
  %55 = load i64, ptr %arrayidx11.i, align 8
  %56 = inttoptr i64 %55 to ptr
  %call12.i = call i64 %56(ptr nonnull %call9.i, ptr nonnull %overflow.i57)
  br label %counters_of.exit

counters_of.exit:                                 ; preds = %if.then27, %if.end.i60, %if.end6.i, %cond.true.i
  %retval.0.i65 = phi i64 [ 0, %if.then27 ], [ 0, %if.end.i60 ], [ %call12.i, %cond.true.i ], [ 0, %if.end6.i ]
  call void @llvm.lifetime.end.p0(ptr nonnull %capturing.i)
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i57)
  %arrayidx29 = getelementptr inbounds i64, ptr %addresses, i64 %end.0.lcssa131
  store i64 %retval.0.i65, ptr %arrayidx29, align 8
  %cmp30 = icmp ne i64 %retval.0.i65, 0
  br label %if.end32

if.end32:                                         ; preds = %counters_of.exit, %land.lhs.true
  %good.2.in = phi i1 [ %cmp30, %counters_of.exit ], [ true, %land.lhs.true ]
  %arrayidx35 = getelementptr inbounds nuw i8, ptr %replay, i64 24
  %57 = load i64, ptr %arrayidx35, align 8
  %cmp36111 = icmp sgt i64 %57, 0
  %58 = select i1 %cmp36111, i1 %good.2.in, i1 false
  br i1 %58, label %for.body41, label %for.cond.cleanup40

for.cond.cleanup40:                               ; preds = %for.body41, %if.end32
  %good.3.in.lcssa = phi i1 [ %good.2.in, %if.end32 ], [ %call42, %for.body41 ]
  %tobool51 = icmp ne ptr %second, null
  %or.cond = select i1 %good.3.in.lcssa, i1 %tobool51, i1 false
  br i1 %or.cond, label %if.then52, label %if.end57

for.body41:                                       ; preds = %if.end32, %for.body41
  %i33.0113 = phi i64 [ %inc47, %for.body41 ], [ 0, %if.end32 ]
  %launched.0112 = phi ptr [ %add.ptr45, %for.body41 ], [ %add.ptr20138, %if.end32 ]
  %call42 = call fastcc i1 @fly.native_replay.launch(ptr nonnull %python, ptr %launched.0112, ptr %addresses, i64 %cond.i)
  %arrayidx44 = getelementptr inbounds nuw i8, ptr %launched.0112, i64 88
  %59 = load i64, ptr %arrayidx44, align 8
  %.idx = mul i64 %59, 24
  %60 = getelementptr i8, ptr %launched.0112, i64 %.idx
  %add.ptr45 = getelementptr i8, ptr %60, i64 96
  %inc47 = add nuw nsw i64 %i33.0113, 1
  %61 = load i64, ptr %arrayidx35, align 8
  %cmp36 = icmp slt i64 %inc47, %61
  %62 = select i1 %cmp36, i1 %call42, i1 false
  br i1 %62, label %for.body41, label %for.cond.cleanup40

if.then52:                                        ; preds = %for.cond.cleanup40
  %arrayidx2.i67 = getelementptr inbounds nuw i8, ptr %python, i64 312
  %63 = load i64, ptr %arrayidx2.i67, align 8
  %64 = inttoptr i64 %63 to ptr
  %call3.i68 = call ptr %64(i64 %2)
  %tobool.i69 = icmp ne ptr %call3.i68, null
  %cmp13.i = icmp sgt i64 %2, 0
  %65 = select i1 %tobool.i69, i1 %cmp13.i, i1 false
  br i1 %65, label %for.body.lr.ph.i, label %gathered.exit

for.body.lr.ph.i:                                 ; preds = %if.then52
  %arrayidx4.i71 = getelementptr inbounds nuw i8, ptr %python, i64 320
  %arrayidx.i12.i = getelementptr inbounds nuw i8, ptr %python, i64 184
  %66 = getelementptr inbounds i64, ptr %row.0.lcssa134, i64 %1
  br label %for.body.i

for.body.i:                                       ; preds = %for.body.i, %for.body.lr.ph.i
  %i.014.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %inc.i, %for.body.i ]
  %67 = load i64, ptr %arrayidx4.i71, align 8
  %68 = inttoptr i64 %67 to ptr
  %arrayidx5.i72 = getelementptr inbounds nuw i64, ptr %66, i64 %i.014.i
  %69 = load i64, ptr %arrayidx5.i72, align 8
  %arrayidx6.i73 = getelementptr inbounds ptr, ptr %buffers, i64 %69
  %70 = load ptr, ptr %arrayidx6.i73, align 8
  %71 = load i64, ptr %arrayidx.i12.i, align 8
  %72 = inttoptr i64 %71 to ptr
  call void %72(ptr %70)
  %call8.i = call i32 %68(ptr nonnull %call3.i68, i64 %i.014.i, ptr %70)
  %inc.i = add nuw nsw i64 %i.014.i, 1
  %exitcond.not = icmp eq i64 %inc.i, %2
  br i1 %exitcond.not, label %gathered.exit.thread, label %for.body.i

gathered.exit.thread:                             ; preds = %for.body.i
  store ptr %call3.i68, ptr %second, align 8
  br label %if.then59

gathered.exit:                                    ; preds = %if.then52
  store ptr %call3.i68, ptr %second, align 8
  br i1 %tobool.i69, label %if.then59, label %if.end64

if.end57:                                         ; preds = %for.cond.cleanup40
  br i1 %good.3.in.lcssa, label %if.then59, label %if.end64

if.then59:                                        ; preds = %gathered.exit.thread, %gathered.exit, %if.end57
  %arrayidx60 = getelementptr inbounds nuw i8, ptr %replay, i64 40
  %73 = load i64, ptr %arrayidx60, align 8
  %tobool61.not = icmp eq i64 %73, 0
  br i1 %tobool61.not, label %if.end.i75, label %if.then.i91

if.then.i91:                                      ; preds = %if.then59
  %74 = load i64, ptr %row.0.lcssa134, align 8
  %arrayidx1.i92 = getelementptr inbounds ptr, ptr %buffers, i64 %74
  %75 = load ptr, ptr %arrayidx1.i92, align 8
  %arrayidx.i.i93 = getelementptr inbounds nuw i8, ptr %python, i64 184
  %76 = load i64, ptr %arrayidx.i.i93, align 8
  %77 = inttoptr i64 %76 to ptr
  call void %77(ptr %75)
  br label %if.end64

if.end.i75:                                       ; preds = %if.then59
  %arrayidx2.i76 = getelementptr inbounds nuw i8, ptr %python, i64 312
  %78 = load i64, ptr %arrayidx2.i76, align 8
  %79 = inttoptr i64 %78 to ptr
  %call3.i77 = call ptr %79(i64 %1)
  %tobool.i78 = icmp ne ptr %call3.i77, null
  %cmp13.i79 = icmp sgt i64 %1, 0
  %80 = select i1 %tobool.i78, i1 %cmp13.i79, i1 false
  br i1 %80, label %for.body.lr.ph.i81, label %if.end64

for.body.lr.ph.i81:                               ; preds = %if.end.i75
  %arrayidx4.i82 = getelementptr inbounds nuw i8, ptr %python, i64 320
  %arrayidx.i12.i83 = getelementptr inbounds nuw i8, ptr %python, i64 184
  br label %for.body.i84

for.body.i84:                                     ; preds = %for.body.i84, %for.body.lr.ph.i81
  %i.014.i85 = phi i64 [ 0, %for.body.lr.ph.i81 ], [ %inc.i89, %for.body.i84 ]
  %81 = load i64, ptr %arrayidx4.i82, align 8
  %82 = inttoptr i64 %81 to ptr
  %arrayidx5.i86 = getelementptr inbounds nuw i64, ptr %row.0.lcssa134, i64 %i.014.i85
  %83 = load i64, ptr %arrayidx5.i86, align 8
  %arrayidx6.i87 = getelementptr inbounds ptr, ptr %buffers, i64 %83
  %84 = load ptr, ptr %arrayidx6.i87, align 8
  %85 = load i64, ptr %arrayidx.i12.i83, align 8
  %86 = inttoptr i64 %85 to ptr
  call void %86(ptr %84)
  %call8.i88 = call i32 %82(ptr nonnull %call3.i77, i64 %i.014.i85, ptr %84)
  %inc.i89 = add nuw nsw i64 %i.014.i85, 1
  %exitcond117.not = icmp eq i64 %inc.i89, %1
  br i1 %exitcond117.not, label %if.end64, label %for.body.i84

if.end64:                                         ; preds = %for.body.i84, %for.cond.cleanup9, %land.end.thread98, %land.end, %if.end.i75, %if.then.i91, %gathered.exit, %if.end57
  %end.0.lcssa132149156 = phi i64 [ %end.0.lcssa131, %gathered.exit ], [ %end.0.lcssa131, %if.end57 ], [ %end.0.lcssa131, %if.then.i91 ], [ %end.0.lcssa131, %if.end.i75 ], [ %end.0.lcssa131, %land.end ], [ %end.1, %for.cond.cleanup9 ], [ %end.0.lcssa131, %land.end.thread98 ], [ %end.0.lcssa131, %for.body.i84 ]
  %found.0 = phi ptr [ null, %gathered.exit ], [ null, %if.end57 ], [ %75, %if.then.i91 ], [ %call3.i77, %if.end.i75 ], [ null, %land.end ], [ null, %for.cond.cleanup9 ], [ null, %land.end.thread98 ], [ %call3.i77, %for.body.i84 ]
  %cmp67115 = icmp slt i64 %0, %end.0.lcssa132149156
  br i1 %cmp67115, label %for.body69.lr.ph, label %for.cond.cleanup68

for.body69.lr.ph:                                 ; preds = %if.end64
  %arrayidx.i95 = getelementptr inbounds nuw i8, ptr %python, i64 192
  br label %for.body69

for.cond.cleanup68:                               ; preds = %for.inc75, %if.end64
  call void @llvm.lifetime.end.p0(ptr nonnull %buffers)
  ret ptr %found.0

for.body69:                                       ; preds = %for.body69.lr.ph, %for.inc75
  %i65.0116 = phi i64 [ %0, %for.body69.lr.ph ], [ %inc76, %for.inc75 ]
  %arrayidx70 = getelementptr inbounds ptr, ptr %buffers, i64 %i65.0116
  %87 = load ptr, ptr %arrayidx70, align 8
  %tobool71.not = icmp eq ptr %87, null
  br i1 %tobool71.not, label %for.inc75, label %if.then72

if.then72:                                        ; preds = %for.body69
  %88 = load i64, ptr %arrayidx.i95, align 8
  %89 = inttoptr i64 %88 to ptr
  call void %89(ptr nonnull %87)
  br label %for.inc75

for.inc75:                                        ; preds = %for.body69, %if.then72
  %inc76 = add i64 %i65.0116, 1
  %exitcond118.not = icmp eq i64 %inc76, %end.0.lcssa132149156
  br i1 %exitcond118.not, label %for.cond.cleanup68, label %for.body69
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
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %1, i64 336
  %2 = load i64, ptr %arrayidx.i, align 8
  %3 = inttoptr i64 %2 to ptr
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %1, i64 216
  %4 = load i64, ptr %arrayidx1.i, align 8
  %5 = inttoptr i64 %4 to ptr
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %1, i64 264
  %6 = load i64, ptr %arrayidx2.i, align 8
  %7 = inttoptr i64 %6 to ptr
  %arrayidx3.i = getelementptr inbounds nuw i8, ptr %1, i64 112
  %8 = load i64, ptr %arrayidx3.i, align 8
  %9 = inttoptr i64 %8 to ptr
  %arrayidx4.i = getelementptr inbounds nuw i8, ptr %1, i64 120
  %10 = load i64, ptr %arrayidx4.i, align 8
  %11 = inttoptr i64 %10 to ptr
  %call.i = tail call ptr %3(ptr %9, ptr %11)
  %arrayidx5.i = getelementptr inbounds nuw i8, ptr %1, i64 128
  %12 = load i64, ptr %arrayidx5.i, align 8
  %13 = inttoptr i64 %12 to ptr
  %arrayidx6.i = getelementptr inbounds nuw i8, ptr %1, i64 136
  %14 = load i64, ptr %arrayidx6.i, align 8
  %15 = inttoptr i64 %14 to ptr
  %call7.i = tail call ptr %3(ptr %13, ptr %15)
  %16 = ptrtoint ptr %call.i to i64
  %arrayidx8.i = getelementptr inbounds nuw i8, ptr %1, i64 72
  %17 = load i64, ptr %arrayidx8.i, align 8
  %cmp.i = icmp eq i64 %17, %16
  %tobool.i = icmp ne ptr %call7.i, null
  %or.cond.i = select i1 %cmp.i, i1 %tobool.i, i1 false
  br i1 %or.cond.i, label %lor.lhs.false9.i, label %unwatched.exit.thread.sink.split

lor.lhs.false9.i:                                 ; preds = %entry
  %call10.i = call i64 %7(ptr nonnull %call7.i, ptr nonnull %overflow.i)
  %cmp11.i = icmp sgt i64 %call10.i, -1
  br i1 %cmp11.i, label %unwatched.exit.thread.sink.split, label %if.end.i

if.end.i:                                         ; preds = %lor.lhs.false9.i
  %arrayidx13.i = getelementptr inbounds nuw i8, ptr %1, i64 96
  %18 = load i64, ptr %arrayidx13.i, align 8
  %19 = inttoptr i64 %18 to ptr
  %call14.i = call ptr %5(ptr %19)
  %tobool15.not.i = icmp eq ptr %call14.i, null
  br i1 %tobool15.not.i, label %unwatched.exit.thread.sink.split, label %if.end18.i

if.end18.i:                                       ; preds = %if.end.i
  %call19.i = call i64 %7(ptr nonnull %call14.i, ptr nonnull %overflow.i)
  %cmp20.not.i = icmp eq i64 %call19.i, 0
  %arrayidx.i21.i = getelementptr inbounds nuw i8, ptr %1, i64 192
  %20 = load i64, ptr %arrayidx.i21.i, align 8
  %21 = inttoptr i64 %20 to ptr
  call void %21(ptr nonnull %call14.i)
  br i1 %cmp20.not.i, label %land.rhs.i, label %unwatched.exit.thread

land.rhs.i:                                       ; preds = %if.end18.i
  %arrayidx21.i = getelementptr inbounds nuw i8, ptr %1, i64 104
  %22 = load i64, ptr %arrayidx21.i, align 8
  %23 = inttoptr i64 %22 to ptr
  %call22.i = call ptr %5(ptr %23)
  %tobool.not.i.i = icmp eq ptr %call22.i, null
  br i1 %tobool.not.i.i, label %unwatched.exit.thread52, label %unwatched.exit

unwatched.exit.thread52:                          ; preds = %land.rhs.i
  %arrayidx.i.i.i = getelementptr inbounds nuw i8, ptr %1, i64 200
  %24 = load i64, ptr %arrayidx.i.i.i, align 8
  %25 = inttoptr i64 %24 to ptr
  call void %25()
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br label %lor.lhs.false

unwatched.exit.thread.sink.split:                 ; preds = %if.end.i, %entry, %lor.lhs.false9.i
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %1, i64 200
  %26 = load i64, ptr %arrayidx.i.i, align 8
  %27 = inttoptr i64 %26 to ptr
  call void %27()
  br label %unwatched.exit.thread

unwatched.exit.thread:                            ; preds = %unwatched.exit.thread.sink.split, %if.end18.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br label %if.then

unwatched.exit:                                   ; preds = %land.rhs.i
  %28 = load i64, ptr %arrayidx.i21.i, align 8
  %29 = inttoptr i64 %28 to ptr
  call void %29(ptr nonnull %call22.i)
  %arrayidx.i22.i = getelementptr inbounds nuw i8, ptr %1, i64 64
  %30 = load i64, ptr %arrayidx.i22.i, align 8
  %31 = inttoptr i64 %30 to ptr
  %cmp.i.i.not = icmp eq ptr %call22.i, %31
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br i1 %cmp.i.i.not, label %if.then, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %unwatched.exit.thread52, %unwatched.exit
  %call2 = call fastcc i1 @fly.native_replay.take_facts(ptr nonnull %1, ptr %args, i64 %count, ptr %facts)
  br i1 %call2, label %if.end, label %if.then

if.then:                                          ; preds = %unwatched.exit.thread, %lor.lhs.false, %unwatched.exit
  %arrayidx.i14 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %32 = load i64, ptr %arrayidx.i14, align 8
  %33 = inttoptr i64 %32 to ptr
  %arrayidx.i.i15 = getelementptr inbounds nuw i8, ptr %1, i64 184
  br label %cleanup10.sink.split

if.end:                                           ; preds = %lor.lhs.false
  %arrayidx.i16 = getelementptr inbounds nuw i8, ptr %self, i64 80
  %34 = load i64, ptr %arrayidx.i16, align 8
  %35 = inttoptr i64 %34 to ptr
  %36 = load i64, ptr %35, align 8
  %tobool.not.i = icmp eq i64 %36, 0
  %.pre.i = load i64, ptr %facts, align 8
  br i1 %tobool.not.i, label %if.end12.i, label %land.lhs.true.i

land.lhs.true.i:                                  ; preds = %if.end
  %arrayidx2.i17 = getelementptr inbounds nuw i8, ptr %35, i64 8
  %37 = load i64, ptr %arrayidx2.i17, align 8
  %cmp.i18 = icmp eq i64 %37, %.pre.i
  br i1 %cmp.i18, label %while.cond.preheader.i, label %if.end12.i

while.cond.preheader.i:                           ; preds = %land.lhs.true.i
  %cmp429.i = icmp sgt i64 %.pre.i, 0
  br i1 %cmp429.i, label %land.rhs.lr.ph.i, label %while.end.i

land.rhs.lr.ph.i:                                 ; preds = %while.cond.preheader.i
  %words.i = getelementptr inbounds nuw i8, ptr %facts, i64 8
  br label %land.rhs.i21

land.rhs.i21:                                     ; preds = %while.body.i, %land.rhs.lr.ph.i
  %at.030.i = phi i64 [ 0, %land.rhs.lr.ph.i ], [ %inc.i, %while.body.i ]
  %38 = getelementptr inbounds nuw i64, ptr %35, i64 %at.030.i
  %arrayidx5.i22 = getelementptr inbounds nuw i8, ptr %38, i64 16
  %39 = load i64, ptr %arrayidx5.i22, align 8
  %arrayidx6.i23 = getelementptr inbounds nuw i64, ptr %words.i, i64 %at.030.i
  %40 = load i64, ptr %arrayidx6.i23, align 8
  %cmp7.i = icmp eq i64 %39, %40
  br i1 %cmp7.i, label %while.body.i, label %while.end.i

while.body.i:                                     ; preds = %land.rhs.i21
  %inc.i = add nuw nsw i64 %at.030.i, 1
  %exitcond.not.i = icmp eq i64 %inc.i, %.pre.i
  br i1 %exitcond.not.i, label %find.exit, label %land.rhs.i21

while.end.i:                                      ; preds = %land.rhs.i21, %while.cond.preheader.i
  %at.0.lcssa.i = phi i64 [ 0, %while.cond.preheader.i ], [ %at.030.i, %land.rhs.i21 ]
  %cmp9.i = icmp eq i64 %at.0.lcssa.i, %.pre.i
  br i1 %cmp9.i, label %find.exit, label %if.end12.i

if.end12.i:                                       ; preds = %while.end.i, %land.lhs.true.i, %if.end
  %arrayidx.i.i19 = getelementptr inbounds nuw i8, ptr %1, i64 328
  %41 = load i64, ptr %arrayidx.i.i19, align 8
  %42 = inttoptr i64 %41 to ptr
  %words.i.i = getelementptr inbounds nuw i8, ptr %facts, i64 8
  %mul.i.i = shl nsw i64 %.pre.i, 3
  %call.i.i = call ptr %42(ptr nonnull %words.i.i, i64 %mul.i.i)
  %tobool13.not.i = icmp eq ptr %call.i.i, null
  br i1 %tobool13.not.i, label %if.then5, label %if.end15.i

if.end15.i:                                       ; preds = %if.end12.i
  %43 = load i64, ptr %arrayidx.i, align 8
  %44 = inttoptr i64 %43 to ptr
  %arrayidx17.i = getelementptr inbounds nuw i8, ptr %self, i64 40
  %45 = load i64, ptr %arrayidx17.i, align 8
  %46 = inttoptr i64 %45 to ptr
  %call18.i = call ptr %44(ptr %46, ptr nonnull %call.i.i)
  %47 = load i64, ptr %arrayidx.i21.i, align 8
  %48 = inttoptr i64 %47 to ptr
  call void %48(ptr nonnull %call.i.i)
  %tobool19.not.i = icmp eq ptr %call18.i, null
  br i1 %tobool19.not.i, label %if.then5, label %if.then20.i

if.then20.i:                                      ; preds = %if.end15.i
  %49 = ptrtoint ptr %call18.i to i64
  store i64 %49, ptr %35, align 8
  %50 = load i64, ptr %facts, align 8
  %arrayidx23.i = getelementptr inbounds nuw i8, ptr %35, i64 8
  store i64 %50, ptr %arrayidx23.i, align 8
  %cmp2532.i = icmp sgt i64 %50, 0
  br i1 %cmp2532.i, label %for.body.i, label %if.end7

for.body.i:                                       ; preds = %if.then20.i, %for.body.i
  %i.033.i = phi i64 [ %inc30.i, %for.body.i ], [ 0, %if.then20.i ]
  %arrayidx27.i = getelementptr inbounds nuw i64, ptr %words.i.i, i64 %i.033.i
  %51 = load i64, ptr %arrayidx27.i, align 8
  %52 = getelementptr inbounds nuw i64, ptr %35, i64 %i.033.i
  %arrayidx29.i = getelementptr inbounds nuw i8, ptr %52, i64 16
  store i64 %51, ptr %arrayidx29.i, align 8
  %inc30.i = add nuw nsw i64 %i.033.i, 1
  %53 = load i64, ptr %facts, align 8
  %cmp25.i = icmp slt i64 %inc30.i, %53
  br i1 %cmp25.i, label %for.body.i, label %if.end7

find.exit:                                        ; preds = %while.body.i, %while.end.i
  %54 = inttoptr i64 %36 to ptr
  br label %if.end7

if.then5:                                         ; preds = %if.end15.i, %if.end12.i
  %arrayidx.i24 = getelementptr inbounds nuw i8, ptr %1, i64 208
  %55 = load i64, ptr %arrayidx.i24, align 8
  %56 = inttoptr i64 %55 to ptr
  %call.i25 = call ptr %56()
  %tobool1.not.i = icmp eq ptr %call.i25, null
  br i1 %tobool1.not.i, label %if.end.i27, label %cleanup10

if.end.i27:                                       ; preds = %if.then5
  %arrayidx.i.i28 = getelementptr inbounds nuw i8, ptr %1, i64 56
  %57 = load i64, ptr %arrayidx.i.i28, align 8
  %58 = inttoptr i64 %57 to ptr
  %arrayidx.i.i.i29 = getelementptr inbounds nuw i8, ptr %1, i64 184
  br label %cleanup10.sink.split

if.end7:                                          ; preds = %for.body.i, %find.exit, %if.then20.i
  %retval.0.i2060 = phi ptr [ %54, %find.exit ], [ %call18.i, %if.then20.i ], [ %call18.i, %for.body.i ]
  %arrayidx.i30 = getelementptr inbounds nuw i8, ptr %1, i64 184
  %59 = load i64, ptr %arrayidx.i30, align 8
  %60 = inttoptr i64 %59 to ptr
  call void %60(ptr nonnull %retval.0.i2060)
  %arrayidx.i31 = getelementptr inbounds nuw i8, ptr %1, i64 304
  %61 = load i64, ptr %arrayidx.i31, align 8
  %62 = inttoptr i64 %61 to ptr
  %63 = load i64, ptr %arrayidx1.i, align 8
  %64 = inttoptr i64 %63 to ptr
  %arrayidx2.i33 = getelementptr inbounds nuw i8, ptr %1, i64 88
  %65 = load i64, ptr %arrayidx2.i33, align 8
  %66 = inttoptr i64 %65 to ptr
  %call.i34 = call ptr %64(ptr %66)
  %tobool.not.i.i35 = icmp eq ptr %call.i34, null
  br i1 %tobool.not.i.i35, label %is_true.exit.thread.i, label %is_true.exit.i

is_true.exit.thread.i:                            ; preds = %if.end7
  %arrayidx.i.i.i49 = getelementptr inbounds nuw i8, ptr %1, i64 200
  %67 = load i64, ptr %arrayidx.i.i.i49, align 8
  %68 = inttoptr i64 %67 to ptr
  call void %68()
  br label %if.end33.i

is_true.exit.i:                                   ; preds = %if.end7
  %69 = load i64, ptr %arrayidx.i21.i, align 8
  %70 = inttoptr i64 %69 to ptr
  call void %70(ptr nonnull %call.i34)
  %arrayidx.i.i36 = getelementptr inbounds nuw i8, ptr %1, i64 64
  %71 = load i64, ptr %arrayidx.i.i36, align 8
  %72 = inttoptr i64 %71 to ptr
  %cmp.i.i37 = icmp eq ptr %call.i34, %72
  br i1 %cmp.i.i37, label %land.lhs.true.i39, label %if.end33.i

land.lhs.true.i39:                                ; preds = %is_true.exit.i
  %arrayidx4.i40 = getelementptr inbounds nuw i8, ptr %self, i64 56
  %73 = load i64, ptr %arrayidx4.i40, align 8
  %arrayidx5.i41 = getelementptr inbounds nuw i8, ptr %self, i64 48
  %74 = load i64, ptr %arrayidx5.i41, align 8
  %arrayidx.i38.i = getelementptr inbounds nuw i8, ptr %1, i64 248
  %75 = load i64, ptr %arrayidx.i38.i, align 8
  %76 = inttoptr i64 %75 to ptr
  %cmp.not9.i.i = icmp slt i64 %73, %74
  br i1 %cmp.not9.i.i, label %for.body.lr.ph.i.i, label %if.end.thread126.i

if.end.thread126.i:                               ; preds = %land.lhs.true.i39
  %arrayidx9128.i = getelementptr inbounds nuw i8, ptr %self, i64 64
  %77 = load i64, ptr %arrayidx9128.i, align 8
  %tobool.not129.i = icmp eq i64 %77, 0
  %.130.i = select i1 %tobool.not129.i, i64 %73, i64 %77
  br label %land.rhs.i42

for.body.lr.ph.i.i:                               ; preds = %land.lhs.true.i39
  %arrayidx2.i.i = getelementptr inbounds nuw i8, ptr %1, i64 56
  %arrayidx5.i.i = getelementptr inbounds nuw i8, ptr %1, i64 144
  %arrayidx.i.i.i.i = getelementptr inbounds nuw i8, ptr %1, i64 200
  br label %for.body.i.i

for.body.i.i:                                     ; preds = %for.inc.i.i, %for.body.lr.ph.i.i
  %i.010.i.i = phi i64 [ %73, %for.body.lr.ph.i.i ], [ %inc.i.i, %for.inc.i.i ]
  %arrayidx1.i.i = getelementptr inbounds ptr, ptr %args, i64 %i.010.i.i
  %78 = load ptr, ptr %arrayidx1.i.i, align 8
  %79 = ptrtoint ptr %78 to i64
  %80 = load i64, ptr %arrayidx2.i.i, align 8
  %cmp3.not.i.i = icmp eq i64 %80, %79
  br i1 %cmp3.not.i.i, label %for.inc.i.i, label %land.lhs.true.i.i

land.lhs.true.i.i:                                ; preds = %for.body.i.i
  %81 = load i64, ptr %arrayidx5.i.i, align 8
  %82 = inttoptr i64 %81 to ptr
  %call.i.i44 = call ptr %76(ptr %78, ptr %82)
  %tobool.not.i.i.i = icmp eq ptr %call.i.i44, null
  br i1 %tobool.not.i.i.i, label %is_true.exit.thread.i.i, label %is_true.exit.i.i

is_true.exit.thread.i.i:                          ; preds = %land.lhs.true.i.i
  %83 = load i64, ptr %arrayidx.i.i.i.i, align 8
  %84 = inttoptr i64 %83 to ptr
  call void %84()
  br label %for.inc.i.i

is_true.exit.i.i:                                 ; preds = %land.lhs.true.i.i
  %85 = load i64, ptr %arrayidx.i21.i, align 8
  %86 = inttoptr i64 %85 to ptr
  call void %86(ptr nonnull %call.i.i44)
  %87 = load i64, ptr %arrayidx.i.i36, align 8
  %88 = inttoptr i64 %87 to ptr
  %cmp.i.i.i = icmp eq ptr %call.i.i44, %88
  br i1 %cmp.i.i.i, label %if.then.i48, label %for.inc.i.i

for.inc.i.i:                                      ; preds = %is_true.exit.i.i, %is_true.exit.thread.i.i, %for.body.i.i
  %inc.i.i = add i64 %i.010.i.i, 1
  %exitcond.not.i.i = icmp eq i64 %inc.i.i, %74
  br i1 %exitcond.not.i.i, label %if.end.i45, label %for.body.i.i

if.then.i48:                                      ; preds = %is_true.exit.i.i
  %89 = load i64, ptr %arrayidx2.i.i, align 8
  %90 = inttoptr i64 %89 to ptr
  %91 = load i64, ptr %arrayidx.i30, align 8
  %92 = inttoptr i64 %91 to ptr
  call void %92(ptr %90)
  br label %cleanup10.sink.split

if.end.i45:                                       ; preds = %for.inc.i.i
  %93 = load i64, ptr %arrayidx4.i40, align 8
  %arrayidx9.i = getelementptr inbounds nuw i8, ptr %self, i64 64
  %94 = load i64, ptr %arrayidx9.i, align 8
  %tobool.not.i46 = icmp eq i64 %94, 0
  %..i = select i1 %tobool.not.i46, i64 %93, i64 %94
  %.pre.i47 = load i64, ptr %arrayidx.i38.i, align 8
  %.pre148.i = inttoptr i64 %.pre.i47 to ptr
  br label %land.rhs.i42

land.rhs.i42:                                     ; preds = %if.end.i45, %if.end.thread126.i
  %.pre-phi.i = phi ptr [ %.pre148.i, %if.end.i45 ], [ %76, %if.end.thread126.i ]
  %.132.i = phi i64 [ %..i, %if.end.i45 ], [ %.130.i, %if.end.thread126.i ]
  %95 = phi i64 [ %93, %if.end.i45 ], [ %73, %if.end.thread126.i ]
  %cmp.not9.i44.i = icmp sgt i64 %.132.i, 0
  br i1 %cmp.not9.i44.i, label %for.body.lr.ph.i46.i, label %land.lhs.true17.i

for.body.lr.ph.i46.i:                             ; preds = %land.rhs.i42
  %arrayidx2.i47.i = getelementptr inbounds nuw i8, ptr %1, i64 56
  %arrayidx5.i48.i = getelementptr inbounds nuw i8, ptr %1, i64 144
  %arrayidx.i.i.i50.i = getelementptr inbounds nuw i8, ptr %1, i64 200
  br label %for.body.i51.i

for.body.i51.i:                                   ; preds = %for.inc.i60.i, %for.body.lr.ph.i46.i
  %i.010.i52.i = phi i64 [ 0, %for.body.lr.ph.i46.i ], [ %inc.i61.i, %for.inc.i60.i ]
  %arrayidx1.i53.i = getelementptr inbounds nuw ptr, ptr %args, i64 %i.010.i52.i
  %96 = load ptr, ptr %arrayidx1.i53.i, align 8
  %97 = ptrtoint ptr %96 to i64
  %98 = load i64, ptr %arrayidx2.i47.i, align 8
  %cmp3.not.i54.i = icmp eq i64 %98, %97
  br i1 %cmp3.not.i54.i, label %for.inc.i60.i, label %land.lhs.true.i55.i

land.lhs.true.i55.i:                              ; preds = %for.body.i51.i
  %99 = load i64, ptr %arrayidx5.i48.i, align 8
  %100 = inttoptr i64 %99 to ptr
  %call.i56.i = call ptr %.pre-phi.i(ptr %96, ptr %100)
  %tobool.not.i.i57.i = icmp eq ptr %call.i56.i, null
  br i1 %tobool.not.i.i57.i, label %is_true.exit.thread.i63.i, label %is_true.exit.i58.i

is_true.exit.thread.i63.i:                        ; preds = %land.lhs.true.i55.i
  %101 = load i64, ptr %arrayidx.i.i.i50.i, align 8
  %102 = inttoptr i64 %101 to ptr
  call void %102()
  br label %for.inc.i60.i

is_true.exit.i58.i:                               ; preds = %land.lhs.true.i55.i
  %103 = load i64, ptr %arrayidx.i21.i, align 8
  %104 = inttoptr i64 %103 to ptr
  call void %104(ptr nonnull %call.i56.i)
  %105 = load i64, ptr %arrayidx.i.i36, align 8
  %106 = inttoptr i64 %105 to ptr
  %cmp.i.i59.i = icmp eq ptr %call.i56.i, %106
  br i1 %cmp.i.i59.i, label %if.then23.i, label %for.inc.i60.i

for.inc.i60.i:                                    ; preds = %is_true.exit.i58.i, %is_true.exit.thread.i63.i, %for.body.i51.i
  %inc.i61.i = add nuw nsw i64 %i.010.i52.i, 1
  %exitcond.not.i62.i = icmp eq i64 %inc.i61.i, %.132.i
  br i1 %exitcond.not.i62.i, label %land.lhs.true17.loopexit.i, label %for.body.i51.i

land.lhs.true17.loopexit.i:                       ; preds = %for.inc.i60.i
  %.pre147.i = load i64, ptr %arrayidx.i38.i, align 8
  %.pre149.i = inttoptr i64 %.pre147.i to ptr
  br label %land.lhs.true17.i

land.lhs.true17.i:                                ; preds = %land.lhs.true17.loopexit.i, %land.rhs.i42
  %.pre-phi150.i = phi ptr [ %.pre149.i, %land.lhs.true17.loopexit.i ], [ %.pre-phi.i, %land.rhs.i42 ]
  %cmp.not9.i67.i = icmp slt i64 %.132.i, %95
  br i1 %cmp.not9.i67.i, label %for.body.lr.ph.i69.i, label %if.end33.i

for.body.lr.ph.i69.i:                             ; preds = %land.lhs.true17.i
  %arrayidx2.i70.i = getelementptr inbounds nuw i8, ptr %1, i64 56
  %arrayidx5.i71.i = getelementptr inbounds nuw i8, ptr %1, i64 144
  %arrayidx.i.i.i73.i = getelementptr inbounds nuw i8, ptr %1, i64 200
  br label %for.body.i74.i

for.body.i74.i:                                   ; preds = %for.inc.i83.i, %for.body.lr.ph.i69.i
  %i.010.i75.i = phi i64 [ %.132.i, %for.body.lr.ph.i69.i ], [ %inc.i84.i, %for.inc.i83.i ]
  %arrayidx1.i76.i = getelementptr inbounds ptr, ptr %args, i64 %i.010.i75.i
  %107 = load ptr, ptr %arrayidx1.i76.i, align 8
  %108 = ptrtoint ptr %107 to i64
  %109 = load i64, ptr %arrayidx2.i70.i, align 8
  %cmp3.not.i77.i = icmp eq i64 %109, %108
  br i1 %cmp3.not.i77.i, label %for.inc.i83.i, label %land.lhs.true.i78.i

land.lhs.true.i78.i:                              ; preds = %for.body.i74.i
  %110 = load i64, ptr %arrayidx5.i71.i, align 8
  %111 = inttoptr i64 %110 to ptr
  %call.i79.i = call ptr %.pre-phi150.i(ptr %107, ptr %111)
  %tobool.not.i.i80.i = icmp eq ptr %call.i79.i, null
  br i1 %tobool.not.i.i80.i, label %is_true.exit.thread.i86.i, label %is_true.exit.i81.i

is_true.exit.thread.i86.i:                        ; preds = %land.lhs.true.i78.i
  %112 = load i64, ptr %arrayidx.i.i.i73.i, align 8
  %113 = inttoptr i64 %112 to ptr
  call void %113()
  br label %for.inc.i83.i

is_true.exit.i81.i:                               ; preds = %land.lhs.true.i78.i
  %114 = load i64, ptr %arrayidx.i21.i, align 8
  %115 = inttoptr i64 %114 to ptr
  call void %115(ptr nonnull %call.i79.i)
  %116 = load i64, ptr %arrayidx.i.i36, align 8
  %117 = inttoptr i64 %116 to ptr
  %cmp.i.i82.i = icmp eq ptr %call.i79.i, %117
  br i1 %cmp.i.i82.i, label %if.then19.i, label %for.inc.i83.i

for.inc.i83.i:                                    ; preds = %is_true.exit.i81.i, %is_true.exit.thread.i86.i, %for.body.i74.i
  %inc.i84.i = add i64 %i.010.i75.i, 1
  %exitcond.not.i85.i = icmp eq i64 %inc.i84.i, %95
  br i1 %exitcond.not.i85.i, label %if.end33.i, label %for.body.i74.i

if.then19.i:                                      ; preds = %is_true.exit.i81.i
  %118 = load i64, ptr %arrayidx2.i70.i, align 8
  %119 = inttoptr i64 %118 to ptr
  %120 = load i64, ptr %arrayidx.i30, align 8
  %121 = inttoptr i64 %120 to ptr
  call void %121(ptr %119)
  br label %cleanup10.sink.split

if.then23.i:                                      ; preds = %is_true.exit.i58.i
  %call24.i = call ptr %62(ptr nonnull %retval.0.i2060, i64 1)
  %122 = ptrtoint ptr %call24.i to i64
  %123 = load i64, ptr %arrayidx2.i47.i, align 8
  %cmp.i43 = icmp eq i64 %123, %122
  br i1 %cmp.i43, label %if.then29.i, label %lor.lhs.false.i

lor.lhs.false.i:                                  ; preds = %if.then23.i
  %arrayidx26.i = getelementptr inbounds nuw i8, ptr %self, i64 72
  %124 = load i64, ptr %arrayidx26.i, align 8
  %125 = inttoptr i64 %124 to ptr
  %call27.i = call ptr %64(ptr %125)
  %tobool.not.i90.i = icmp eq ptr %call27.i, null
  br i1 %tobool.not.i90.i, label %is_true.exit98.thread.i, label %is_true.exit98.i

is_true.exit98.thread.i:                          ; preds = %lor.lhs.false.i
  %126 = load i64, ptr %arrayidx.i.i.i50.i, align 8
  %127 = inttoptr i64 %126 to ptr
  call void %127()
  br label %if.end31.i

is_true.exit98.i:                                 ; preds = %lor.lhs.false.i
  %128 = load i64, ptr %arrayidx.i21.i, align 8
  %129 = inttoptr i64 %128 to ptr
  call void %129(ptr nonnull %call27.i)
  %130 = load i64, ptr %arrayidx.i.i36, align 8
  %131 = inttoptr i64 %130 to ptr
  %cmp.i94.i = icmp eq ptr %call27.i, %131
  br i1 %cmp.i94.i, label %is_true.exit98.if.then29_crit_edge.i, label %if.end31.i

is_true.exit98.if.then29_crit_edge.i:             ; preds = %is_true.exit98.i
  %.pre146.i = load i64, ptr %arrayidx2.i47.i, align 8
  %132 = inttoptr i64 %.pre146.i to ptr
  br label %if.then29.i

if.then29.i:                                      ; preds = %is_true.exit98.if.then29_crit_edge.i, %if.then23.i
  %133 = phi ptr [ %132, %is_true.exit98.if.then29_crit_edge.i ], [ %call24.i, %if.then23.i ]
  %134 = load i64, ptr %arrayidx.i30, align 8
  %135 = inttoptr i64 %134 to ptr
  call void %135(ptr %133)
  br label %cleanup10.sink.split

if.end31.i:                                       ; preds = %is_true.exit98.i, %is_true.exit98.thread.i
  call void @llvm.lifetime.start.p0(ptr nonnull %before.sroa.5.i.i)
  %before.sroa.0.0.copyload.i.i = load ptr, ptr @fly.native_replay.handed, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(16) %before.sroa.5.i.i, ptr nonnull align 8 dereferenceable(16) getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), i64 16, i1 false)
  %arrayidx.i101.i = getelementptr inbounds nuw i8, ptr %1, i64 344
  %136 = load i64, ptr %arrayidx.i101.i, align 8
  %137 = inttoptr i64 %136 to ptr
  %call.i102.i = call ptr %137()
  store ptr %call.i102.i, ptr @fly.native_replay.handed, align 8
  store ptr %args, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), align 8
  store ptr %facts, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 16), align 8
  %arrayidx3.i.i = getelementptr inbounds nuw i8, ptr %1, i64 232
  %138 = load i64, ptr %arrayidx3.i.i, align 8
  %139 = inttoptr i64 %138 to ptr
  %140 = load i64, ptr %arrayidx4.i40, align 8
  %call5.i.i = call ptr %139(ptr %call24.i, ptr nonnull %args, i64 %140, ptr null)
  %141 = load ptr, ptr @fly.native_replay.handed, align 8
  %cmp.i103.i = icmp eq ptr %141, %call.i102.i
  br i1 %cmp.i103.i, label %if.then.i105.i, label %derived.exit.i

if.then.i105.i:                                   ; preds = %if.end31.i
  %cmp9.i.i = icmp eq ptr %before.sroa.0.0.copyload.i.i, %call.i102.i
  br i1 %cmp9.i.i, label %cond.true.i.i, label %cond.false.i.i

cond.true.i.i:                                    ; preds = %if.then.i105.i
  store ptr %before.sroa.0.0.copyload.i.i, ptr @fly.native_replay.handed, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr nonnull align 8 dereferenceable(16) getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), ptr nonnull align 8 dereferenceable(16) %before.sroa.5.i.i, i64 16, i1 false)
  br label %derived.exit.i

cond.false.i.i:                                   ; preds = %if.then.i105.i
  call void @llvm.memset.p0.i64(ptr nonnull align 8 dereferenceable(24) @fly.native_replay.handed, i8 0, i64 24, i1 false)
  br label %derived.exit.i

derived.exit.i:                                   ; preds = %cond.false.i.i, %cond.true.i.i, %if.end31.i
  call void @llvm.lifetime.end.p0(ptr nonnull %before.sroa.5.i.i)
  br label %cleanup10.sink.split

if.end33.i:                                       ; preds = %for.inc.i83.i, %land.lhs.true17.i, %is_true.exit.i, %is_true.exit.thread.i
  %call34.i = call ptr %62(ptr nonnull %retval.0.i2060, i64 0)
  %142 = ptrtoint ptr %call34.i to i64
  %arrayidx35.i = getelementptr inbounds nuw i8, ptr %1, i64 56
  %143 = load i64, ptr %arrayidx35.i, align 8
  %cmp36.i = icmp eq i64 %143, %142
  br i1 %cmp36.i, label %if.then37.i, label %if.end39.i

if.then37.i:                                      ; preds = %if.end33.i
  %144 = load i64, ptr %arrayidx.i30, align 8
  %145 = inttoptr i64 %144 to ptr
  call void %145(ptr %call34.i)
  br label %cleanup10.sink.split

if.end39.i:                                       ; preds = %if.end33.i
  %add.ptr.i.i = getelementptr inbounds nuw i8, ptr %call34.i, i64 32
  %addresses.i = getelementptr inbounds nuw i8, ptr %facts, i64 2568
  %call41.i = call fastcc ptr @fly.native_replay.run(ptr nonnull readonly %1, ptr nonnull %add.ptr.i.i, ptr %args, ptr nonnull %addresses.i, ptr null)
  %tobool.not.i108.i = icmp eq ptr %call41.i, null
  br i1 %tobool.not.i108.i, label %lor.lhs.false.i.i, label %cleanup10.sink.split

lor.lhs.false.i.i:                                ; preds = %if.end39.i
  %arrayidx.i110.i = getelementptr inbounds nuw i8, ptr %1, i64 208
  %146 = load i64, ptr %arrayidx.i110.i, align 8
  %147 = inttoptr i64 %146 to ptr
  %call.i111.i = call ptr %147()
  %tobool1.not.i.i = icmp eq ptr %call.i111.i, null
  br i1 %tobool1.not.i.i, label %if.end.i112.i, label %cleanup10.sink.split

if.end.i112.i:                                    ; preds = %lor.lhs.false.i.i
  %148 = load i64, ptr %arrayidx35.i, align 8
  %149 = inttoptr i64 %148 to ptr
  %150 = load i64, ptr %arrayidx.i30, align 8
  %151 = inttoptr i64 %150 to ptr
  call void %151(ptr %149)
  br label %cleanup10.sink.split

cleanup10.sink.split:                             ; preds = %if.end.i112.i, %lor.lhs.false.i.i, %if.end39.i, %if.then37.i, %derived.exit.i, %if.then29.i, %if.then19.i, %if.then.i48, %if.then, %if.end.i27
  %.sink69.in = phi ptr [ %arrayidx.i.i.i29, %if.end.i27 ], [ %arrayidx.i.i15, %if.then ], [ %arrayidx.i21.i, %if.then.i48 ], [ %arrayidx.i21.i, %if.then19.i ], [ %arrayidx.i21.i, %if.then29.i ], [ %arrayidx.i21.i, %derived.exit.i ], [ %arrayidx.i21.i, %if.then37.i ], [ %arrayidx.i21.i, %if.end39.i ], [ %arrayidx.i21.i, %lor.lhs.false.i.i ], [ %arrayidx.i21.i, %if.end.i112.i ]
  %.sink = phi ptr [ %58, %if.end.i27 ], [ %33, %if.then ], [ %retval.0.i2060, %if.then.i48 ], [ %retval.0.i2060, %if.then19.i ], [ %retval.0.i2060, %if.then29.i ], [ %retval.0.i2060, %derived.exit.i ], [ %retval.0.i2060, %if.then37.i ], [ %retval.0.i2060, %if.end39.i ], [ %retval.0.i2060, %lor.lhs.false.i.i ], [ %retval.0.i2060, %if.end.i112.i ]
  %retval.0.ph = phi ptr [ %58, %if.end.i27 ], [ %33, %if.then ], [ %90, %if.then.i48 ], [ %119, %if.then19.i ], [ %133, %if.then29.i ], [ %call5.i.i, %derived.exit.i ], [ %call34.i, %if.then37.i ], [ %call41.i, %if.end39.i ], [ null, %lor.lhs.false.i.i ], [ %149, %if.end.i112.i ]
  %.sink69 = load i64, ptr %.sink69.in, align 8
  %152 = inttoptr i64 %.sink69 to ptr
  call void %152(ptr %.sink)
  br label %cleanup10

cleanup10:                                        ; preds = %cleanup10.sink.split, %if.then5
  %retval.0 = phi ptr [ null, %if.then5 ], [ %retval.0.ph, %cleanup10.sink.split ]
  call void @llvm.lifetime.end.p0(ptr nonnull %facts)
  ret ptr %retval.0
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
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %python, i64 352
  %3 = load i64, ptr %arrayidx1.i, align 8
  %4 = inttoptr i64 %3 to ptr
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %python, i64 344
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
  %arrayidx6.i = getelementptr inbounds nuw i8, ptr %python, i64 248
  %8 = load i64, ptr %arrayidx6.i, align 8
  %9 = inttoptr i64 %8 to ptr
  %arrayidx7.i = getelementptr inbounds nuw i8, ptr %launched, i64 8
  %10 = load i64, ptr %arrayidx7.i, align 8
  %11 = inttoptr i64 %10 to ptr
  %arrayidx8.i = getelementptr inbounds nuw i8, ptr %python, i64 152
  %12 = load i64, ptr %arrayidx8.i, align 8
  %13 = inttoptr i64 %12 to ptr
  %call9.i = tail call ptr %9(ptr %11, ptr %13)
  %tobool.not.i = icmp eq ptr %call9.i, null
  br i1 %tobool.not.i, label %if.end15.i, label %if.end18.i

if.end15.i:                                       ; preds = %if.end.i
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %python, i64 200
  %14 = load i64, ptr %arrayidx.i.i, align 8
  %15 = inttoptr i64 %14 to ptr
  tail call void %15()
  %arrayidx12.i = getelementptr inbounds nuw i8, ptr %python, i64 216
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
  %arrayidx19.i = getelementptr inbounds nuw i8, ptr %python, i64 264
  %20 = load i64, ptr %arrayidx19.i, align 8
  %21 = inttoptr i64 %20 to ptr
  %call20.i = call i64 %21(ptr nonnull %report.021.i, ptr nonnull %overflow.i)
  %arrayidx21.i = getelementptr inbounds nuw i8, ptr %2, i64 8
  store i64 %call20.i, ptr %arrayidx21.i, align 8
  store i64 %call3.i, ptr %2, align 8
  %arrayidx.i18.i = getelementptr inbounds nuw i8, ptr %python, i64 192
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
  %arrayidx19 = getelementptr inbounds nuw i8, ptr %python, i64 360
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
  %arrayidx2248 = getelementptr inbounds nuw i8, ptr %python, i64 368
  br label %if.end27.sink.split

enter.exit:                                       ; preds = %if.end10.i, %land.lhs.true13.i, %if.then.i34
  %retval.0.i32 = phi i32 [ %call.i35, %if.then.i34 ], [ %call11.i, %land.lhs.true13.i ], [ %call11.i, %if.end10.i ]
  call void @llvm.lifetime.end.p0(ptr nonnull %before.i)
  %arrayidx22 = getelementptr inbounds nuw i8, ptr %python, i64 368
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
  %arrayidx.i37 = getelementptr inbounds nuw i8, ptr %python, i64 288
  %49 = load i64, ptr %arrayidx.i37, align 8
  %50 = inttoptr i64 %49 to ptr
  %conv.i = sext i32 %retval.0.i32 to i64
  %call.i38 = call ptr %50(i64 %conv.i)
  %tobool.not.i39 = icmp eq ptr %call.i38, null
  br i1 %tobool.not.i39, label %if.end27, label %if.end.i40

if.end.i40:                                       ; preds = %if.then25
  %arrayidx1.i41 = getelementptr inbounds nuw i8, ptr %python, i64 224
  %51 = load i64, ptr %arrayidx1.i41, align 8
  %52 = inttoptr i64 %51 to ptr
  %arrayidx2.i42 = getelementptr inbounds nuw i8, ptr %launched, i64 24
  %53 = load i64, ptr %arrayidx2.i42, align 8
  %54 = inttoptr i64 %53 to ptr
  %call3.i43 = call ptr %52(ptr %54, ptr nonnull %call.i38)
  %arrayidx.i.i44 = getelementptr inbounds nuw i8, ptr %python, i64 192
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


