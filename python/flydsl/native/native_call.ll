; Made from src/native_call.c by `python -m flydsl.native.generate`.

%struct.Tensor = type { i64, i64, i32, i32, ptr, ptr, i64 }

define ptr @fly_launch(ptr readonly captures(none) %self, ptr %args) {
entry:
  %overflow.i = alloca i32, align 4
  %overflow.i15.i.i.i = alloca i32, align 4
  %overflow.i.i.i.i = alloca i32, align 4
  %overflow.i.i.i = alloca i32, align 4
  %add.ptr.i = getelementptr inbounds nuw i8, ptr %self, i64 32
  %0 = load i64, ptr %add.ptr.i, align 8
  %1 = inttoptr i64 %0 to ptr
  %add.ptr = getelementptr inbounds nuw i8, ptr %self, i64 72
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %self, i64 40
  %2 = load i64, ptr %arrayidx1, align 8
  %3 = alloca i8, i64 %2, align 16
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %self, i64 48
  %4 = load i64, ptr %arrayidx.i, align 8
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %1, i64 336
  %5 = load i64, ptr %arrayidx1.i, align 8
  %6 = inttoptr i64 %5 to ptr
  %call.i = tail call i64 %6(ptr %args)
  %cmp.not.i = icmp eq i64 %call.i, %4
  br i1 %cmp.not.i, label %if.end.i, label %if.then

if.end.i:                                         ; preds = %entry
  %cmp2.not.not25.i = icmp sgt i64 %4, 0
  br i1 %cmp2.not.not25.i, label %for.body.lr.ph.i, label %for.end.i

for.body.lr.ph.i:                                 ; preds = %if.end.i
  %add.ptr.i19 = getelementptr inbounds nuw i8, ptr %self, i64 112
  %arrayidx3.i = getelementptr inbounds nuw i8, ptr %1, i64 344
  %arrayidx.i43.i.i = getelementptr inbounds nuw i8, ptr %1, i64 296
  %arrayidx6.i52.i.i = getelementptr inbounds nuw i8, ptr %1, i64 288
  %arrayidx.i19.i.i.i = getelementptr inbounds nuw i8, ptr %1, i64 232
  %arrayidx1.i34.i.i = getelementptr inbounds nuw i8, ptr %1, i64 56
  %arrayidx2.i.i.i.i = getelementptr inbounds nuw i8, ptr %1, i64 304
  %arrayidx.i.i.i.i.i = getelementptr inbounds nuw i8, ptr %1, i64 240
  %arrayidx.i24.i.i = getelementptr inbounds nuw i8, ptr %1, i64 24
  %arrayidx1.i28.i.i = getelementptr inbounds nuw i8, ptr %1, i64 312
  %arrayidx.i.i.i = getelementptr inbounds nuw i8, ptr %1, i64 16
  br label %for.body.i

for.body.i:                                       ; preds = %if.end13.i, %for.body.lr.ph.i
  %i.027.i = phi i64 [ 0, %for.body.lr.ph.i ], [ %inc.i, %if.end13.i ]
  %row.026.i = phi ptr [ %add.ptr.i19, %for.body.lr.ph.i ], [ %add.ptr15.i, %if.end13.i ]
  %7 = load i64, ptr %arrayidx3.i, align 8
  %8 = inttoptr i64 %7 to ptr
  %call4.i = call ptr %8(ptr %args, i64 %i.027.i)
  %9 = load i64, ptr %row.026.i, align 8
  switch i64 %9, label %if.then [
    i64 0, label %take.exit.i
    i64 1, label %sw.bb1.i.i
    i64 2, label %sw.bb3.i.i
    i64 3, label %sw.bb5.i.i
    i64 4, label %sw.bb7.i.i
    i64 5, label %if.end13.i
    i64 6, label %sw.bb10.i.i
  ]

sw.bb1.i.i:                                       ; preds = %for.body.i
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i.i.i)
  %type.i.i.i = getelementptr inbounds nuw i8, ptr %call4.i, i64 8
  %10 = load ptr, ptr %type.i.i.i, align 8
  %11 = ptrtoint ptr %10 to i64
  %12 = load i64, ptr %arrayidx.i.i.i, align 8
  %cmp.not.i.i.i = icmp eq i64 %12, %11
  br i1 %cmp.not.i.i.i, label %if.end.i.i.i, label %take_int.exit.i.i

if.end.i.i.i:                                     ; preds = %sw.bb1.i.i
  %13 = load i64, ptr %arrayidx2.i.i.i.i, align 8
  %14 = inttoptr i64 %13 to ptr
  %call.i.i.i = call i64 %14(ptr nonnull %call4.i, ptr nonnull %overflow.i.i.i)
  %arrayidx2.i.i.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 16
  %15 = load i64, ptr %arrayidx2.i.i.i, align 8
  %16 = load i32, ptr %overflow.i.i.i, align 4
  %tobool.not.i.i.i = icmp eq i32 %16, 0
  br i1 %tobool.not.i.i.i, label %lor.lhs.false.i.i.i, label %take_int.exit.i.i

lor.lhs.false.i.i.i:                              ; preds = %if.end.i.i.i
  %arrayidx3.i.i.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 32
  %17 = load i64, ptr %arrayidx3.i.i.i, align 8
  %cmp4.i.i.i = icmp slt i64 %call.i.i.i, %17
  br i1 %cmp4.i.i.i, label %take_int.exit.i.i, label %lor.lhs.false5.i.i.i

lor.lhs.false5.i.i.i:                             ; preds = %lor.lhs.false.i.i.i
  %arrayidx6.i.i.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 40
  %18 = load i64, ptr %arrayidx6.i.i.i, align 8
  %cmp7.i.i.i = icmp sgt i64 %call.i.i.i, %18
  br i1 %cmp7.i.i.i, label %take_int.exit.i.i, label %if.end9.i.i.i

if.end9.i.i.i:                                    ; preds = %lor.lhs.false5.i.i.i
  %arrayidx10.i.i.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 24
  %19 = load i64, ptr %arrayidx10.i.i.i, align 8
  switch i64 %19, label %sw.default.i.i.i [
    i64 1, label %sw.bb.i.i.i
    i64 2, label %sw.bb12.i.i.i
    i64 4, label %sw.bb15.i.i.i
  ]

sw.bb.i.i.i:                                      ; preds = %if.end9.i.i.i
  %conv.i.i.i = trunc i64 %call.i.i.i to i8
  %arrayidx11.i.i.i = getelementptr inbounds i8, ptr %3, i64 %15
  store i8 %conv.i.i.i, ptr %arrayidx11.i.i.i, align 1
  br label %take_int.exit.i.thread.i

sw.bb12.i.i.i:                                    ; preds = %if.end9.i.i.i
  %conv13.i.i.i = trunc i64 %call.i.i.i to i16
  %add.ptr.i.i.i = getelementptr inbounds i8, ptr %3, i64 %15
  store i16 %conv13.i.i.i, ptr %add.ptr.i.i.i, align 1
  br label %take_int.exit.i.thread.i

sw.bb15.i.i.i:                                    ; preds = %if.end9.i.i.i
  %conv16.i.i.i = trunc i64 %call.i.i.i to i32
  %add.ptr.i.i.i.i = getelementptr inbounds i8, ptr %3, i64 %15
  store i32 %conv16.i.i.i, ptr %add.ptr.i.i.i.i, align 1
  br label %take_int.exit.i.thread.i

sw.default.i.i.i:                                 ; preds = %if.end9.i.i.i
  %add.ptr.i17.i.i.i = getelementptr inbounds i8, ptr %3, i64 %15
  store i64 %call.i.i.i, ptr %add.ptr.i17.i.i.i, align 1
  br label %take_int.exit.i.thread.i

take_int.exit.i.thread.i:                         ; preds = %sw.default.i.i.i, %sw.bb15.i.i.i, %sw.bb12.i.i.i, %sw.bb.i.i.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i.i.i)
  br label %if.end7.i

take_int.exit.i.i:                                ; preds = %lor.lhs.false5.i.i.i, %lor.lhs.false.i.i.i, %if.end.i.i.i, %sw.bb1.i.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i.i.i)
  br label %if.then

sw.bb3.i.i:                                       ; preds = %for.body.i
  %type.i23.i.i = getelementptr inbounds nuw i8, ptr %call4.i, i64 8
  %20 = load ptr, ptr %type.i23.i.i, align 8
  %21 = ptrtoint ptr %20 to i64
  %22 = load i64, ptr %arrayidx.i24.i.i, align 8
  %cmp.not.i25.i.i = icmp eq i64 %22, %21
  br i1 %cmp.not.i25.i.i, label %if.end.i27.i.i, label %if.then

if.end.i27.i.i:                                   ; preds = %sw.bb3.i.i
  %23 = load i64, ptr %arrayidx1.i28.i.i, align 8
  %24 = inttoptr i64 %23 to ptr
  %call.i29.i.i = call double %24(ptr nonnull %call4.i)
  %arrayidx2.i30.i.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 24
  %25 = load i64, ptr %arrayidx2.i30.i.i, align 8
  %cmp3.i.i.i = icmp eq i64 %25, 8
  br i1 %cmp3.i.i.i, label %if.then4.i.i.i, label %if.end6.i.i.i

if.then4.i.i.i:                                   ; preds = %if.end.i27.i.i
  %arrayidx5.i.i.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 16
  %26 = load i64, ptr %arrayidx5.i.i.i, align 8
  %add.ptr.i.i32.i.i = getelementptr inbounds i8, ptr %3, i64 %26
  store double %call.i29.i.i, ptr %add.ptr.i.i32.i.i, align 1
  br label %if.end7.i

if.end6.i.i.i:                                    ; preds = %if.end.i27.i.i
  %conv.i31.i.i = fptrunc double %call.i29.i.i to float
  %arrayidx7.i.i.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 16
  %27 = load i64, ptr %arrayidx7.i.i.i, align 8
  %add.ptr.i7.i.i.i = getelementptr inbounds i8, ptr %3, i64 %27
  store float %conv.i31.i.i, ptr %add.ptr.i7.i.i.i, align 1
  %28 = call float @llvm.fabs.f32(float %conv.i31.i.i)
  %cmp8.i.i.i = fcmp une float %28, 0x7FF0000000000000
  %29 = call double @llvm.fabs.f64(double %call.i29.i.i)
  %cmp10.i.i.i = fcmp oeq double %29, 0x7FF0000000000000
  %30 = select i1 %cmp8.i.i.i, i1 true, i1 %cmp10.i.i.i
  br i1 %30, label %if.end7.i, label %if.then

sw.bb5.i.i:                                       ; preds = %for.body.i
  %arrayidx.i33.i.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 16
  %31 = load i64, ptr %arrayidx.i33.i.i, align 8
  %32 = ptrtoint ptr %call4.i to i64
  %33 = load i64, ptr %arrayidx1.i34.i.i, align 8
  %cmp.i.i.i = icmp eq i64 %33, %32
  br i1 %cmp.i.i.i, label %if.then.i.i.i, label %lor.lhs.false.i35.i.i

lor.lhs.false.i35.i.i:                            ; preds = %sw.bb5.i.i
  %arrayidx2.i36.i.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 56
  %34 = load i64, ptr %arrayidx2.i36.i.i, align 8
  %cmp3.i37.i.i = icmp eq i64 %34, %32
  br i1 %cmp3.i37.i.i, label %if.then.i.i.i, label %if.end.i38.i.i

if.then.i.i.i:                                    ; preds = %lor.lhs.false.i35.i.i, %sw.bb5.i.i
  %add.ptr.i.i42.i.i = getelementptr inbounds i8, ptr %3, i64 %31
  store i64 0, ptr %add.ptr.i.i42.i.i, align 1
  br label %if.end7.i

if.end.i38.i.i:                                   ; preds = %lor.lhs.false.i35.i.i
  %type.i39.i.i = getelementptr inbounds nuw i8, ptr %call4.i, i64 8
  %35 = load ptr, ptr %type.i39.i.i, align 8
  %36 = ptrtoint ptr %35 to i64
  %arrayidx4.i.i.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 24
  %37 = load i64, ptr %arrayidx4.i.i.i, align 8
  %cmp5.not.i.i.i = icmp eq i64 %37, %36
  br i1 %cmp5.not.i.i.i, label %if.end7.i.i.i, label %if.then

if.end7.i.i.i:                                    ; preds = %if.end.i38.i.i
  %arrayidx8.i.i.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 32
  %38 = load i64, ptr %arrayidx8.i.i.i, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i.i.i.i)
  %39 = load i64, ptr %arrayidx.i43.i.i, align 8
  %40 = inttoptr i64 %39 to ptr
  %41 = inttoptr i64 %38 to ptr
  %call.i.i.i.i = call ptr %40(ptr nonnull %call4.i, ptr %41)
  %tobool.not.i.i.i.i = icmp eq ptr %call.i.i.i.i, null
  br i1 %tobool.not.i.i.i.i, label %if.then.i.i.i.i, label %if.end.i.i.i.i

if.then.i.i.i.i:                                  ; preds = %if.end7.i.i.i
  %42 = load i64, ptr %arrayidx.i.i.i.i.i, align 8
  %43 = inttoptr i64 %42 to ptr
  call void %43()
  br label %attribute.exit.i.i.i

if.end.i.i.i.i:                                   ; preds = %if.end7.i.i.i
  %44 = load i64, ptr %arrayidx2.i.i.i.i, align 8
  %45 = inttoptr i64 %44 to ptr
  %call3.i.i.i.i = call i64 %45(ptr nonnull %call.i.i.i.i, ptr nonnull %overflow.i.i.i.i)
  %46 = load i64, ptr %arrayidx.i19.i.i.i, align 8
  %47 = inttoptr i64 %46 to ptr
  call void %47(ptr nonnull %call.i.i.i.i)
  br label %attribute.exit.i.i.i

attribute.exit.i.i.i:                             ; preds = %if.end.i.i.i.i, %if.then.i.i.i.i
  %retval.0.i.i.i.i = phi i64 [ %call3.i.i.i.i, %if.end.i.i.i.i ], [ -1, %if.then.i.i.i.i ]
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i.i.i.i)
  %arrayidx9.i.i.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 40
  %48 = load i64, ptr %arrayidx9.i.i.i, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i15.i.i.i)
  %49 = load i64, ptr %arrayidx.i43.i.i, align 8
  %50 = inttoptr i64 %49 to ptr
  %51 = inttoptr i64 %48 to ptr
  %call.i17.i.i.i = call ptr %50(ptr nonnull %call4.i, ptr %51)
  %tobool.not.i18.i.i.i = icmp eq ptr %call.i17.i.i.i, null
  br i1 %tobool.not.i18.i.i.i, label %if.then.i24.i.i.i, label %if.end.i19.i.i.i

if.then.i24.i.i.i:                                ; preds = %attribute.exit.i.i.i
  %52 = load i64, ptr %arrayidx.i.i.i.i.i, align 8
  %53 = inttoptr i64 %52 to ptr
  call void %53()
  br label %attribute.exit26.i.i.i

if.end.i19.i.i.i:                                 ; preds = %attribute.exit.i.i.i
  %54 = load i64, ptr %arrayidx2.i.i.i.i, align 8
  %55 = inttoptr i64 %54 to ptr
  %call3.i21.i.i.i = call i64 %55(ptr nonnull %call.i17.i.i.i, ptr nonnull %overflow.i15.i.i.i)
  %56 = load i64, ptr %arrayidx.i19.i.i.i, align 8
  %57 = inttoptr i64 %56 to ptr
  call void %57(ptr nonnull %call.i17.i.i.i)
  br label %attribute.exit26.i.i.i

attribute.exit26.i.i.i:                           ; preds = %if.end.i19.i.i.i, %if.then.i24.i.i.i
  %retval.0.i23.i.i.i = phi i64 [ %call3.i21.i.i.i, %if.end.i19.i.i.i ], [ -1, %if.then.i24.i.i.i ]
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i15.i.i.i)
  %add.ptr.i27.i.i.i = getelementptr inbounds i8, ptr %3, i64 %31
  store i64 %retval.0.i.i.i.i, ptr %add.ptr.i27.i.i.i, align 1
  %arrayidx11.i41.i.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 48
  %58 = load i64, ptr %arrayidx11.i41.i.i, align 8
  %cmp12.i.i.i = icmp eq i64 %retval.0.i23.i.i.i, %58
  %cmp13.i.i.i = icmp ne i64 %retval.0.i.i.i.i, -1
  %59 = select i1 %cmp12.i.i.i, i1 %cmp13.i.i.i, i1 false
  br i1 %59, label %if.end7.i, label %if.then

sw.bb7.i.i:                                       ; preds = %for.body.i
  %60 = ptrtoint ptr %call4.i to i64
  %arrayidx8.i.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 16
  %61 = load i64, ptr %arrayidx8.i.i, align 8
  %cmp.i.i = icmp eq i64 %61, %60
  br i1 %cmp.i.i, label %if.end7.i, label %if.then

sw.bb10.i.i:                                      ; preds = %for.body.i
  %arrayidx11.i.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 8
  %62 = load i64, ptr %arrayidx11.i.i, align 8
  %add.ptr.i.i = getelementptr inbounds i64, ptr %row.026.i, i64 %62
  %63 = load i64, ptr %arrayidx.i43.i.i, align 8
  %64 = inttoptr i64 %63 to ptr
  %type.i44.i.i = getelementptr inbounds nuw i8, ptr %call4.i, i64 8
  %65 = load ptr, ptr %type.i44.i.i, align 8
  %66 = ptrtoint ptr %65 to i64
  %arrayidx1.i45.i.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 16
  %67 = load i64, ptr %arrayidx1.i45.i.i, align 8
  %cmp.not.i46.i.i = icmp eq i64 %67, %66
  br i1 %cmp.not.i46.i.i, label %if.end.i48.i.i, label %if.then

if.end.i48.i.i:                                   ; preds = %sw.bb10.i.i
  %arrayidx2.i49.i.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 32
  %68 = load i64, ptr %arrayidx2.i49.i.i, align 8
  %69 = inttoptr i64 %68 to ptr
  %call.i50.i.i = call ptr %64(ptr nonnull %call4.i, ptr %69)
  %tobool.not.i51.i.i = icmp eq ptr %call.i50.i.i, null
  br i1 %tobool.not.i51.i.i, label %if.then3.i.i.i, label %if.end5.i.i.i

if.then3.i.i.i:                                   ; preds = %if.end.i48.i.i
  %70 = load i64, ptr %arrayidx.i.i.i.i.i, align 8
  %71 = inttoptr i64 %70 to ptr
  call void %71()
  br label %if.then

if.end5.i.i.i:                                    ; preds = %if.end.i48.i.i
  %72 = load i64, ptr %arrayidx6.i52.i.i, align 8
  %73 = inttoptr i64 %72 to ptr
  %arrayidx7.i53.i.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 24
  %74 = load i64, ptr %arrayidx7.i53.i.i, align 8
  %75 = inttoptr i64 %74 to ptr
  %call8.i.i.i = call i32 %73(ptr nonnull %call.i50.i.i, ptr %75, i32 2)
  %76 = load i64, ptr %arrayidx.i19.i.i.i, align 8
  %77 = inttoptr i64 %76 to ptr
  call void %77(ptr nonnull %call.i50.i.i)
  switch i32 %call8.i.i.i, label %cond.true.i.i.i [
    i32 1, label %if.end14.i.i.i
    i32 0, label %if.then
  ]

cond.true.i.i.i:                                  ; preds = %if.end5.i.i.i
  %78 = load i64, ptr %arrayidx.i.i.i.i.i, align 8
  %79 = inttoptr i64 %78 to ptr
  call void %79()
  br label %if.then

if.end14.i.i.i:                                   ; preds = %if.end5.i.i.i
  %arrayidx15.i.i.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 40
  %80 = load i64, ptr %arrayidx15.i.i.i, align 8
  %81 = inttoptr i64 %80 to ptr
  %call16.i.i.i = call ptr %64(ptr nonnull %call4.i, ptr %81)
  %tobool17.not.i.i.i = icmp eq ptr %call16.i.i.i, null
  br i1 %tobool17.not.i.i.i, label %if.then18.i.i.i, label %if.end20.i.i.i

if.then18.i.i.i:                                  ; preds = %if.end14.i.i.i
  %82 = load i64, ptr %arrayidx.i.i.i.i.i, align 8
  %83 = inttoptr i64 %82 to ptr
  call void %83()
  br label %if.then

if.end20.i.i.i:                                   ; preds = %if.end14.i.i.i
  %call21.i.i.i = call fastcc i1 @fly.native_call.take_tensor(ptr nonnull readonly %1, ptr nonnull readonly %add.ptr.i, ptr nonnull readonly %add.ptr.i.i, ptr nonnull %call16.i.i.i, ptr nonnull %3)
  %84 = load i64, ptr %arrayidx.i19.i.i.i, align 8
  %85 = inttoptr i64 %84 to ptr
  call void %85(ptr nonnull %call16.i.i.i)
  br i1 %call21.i.i.i, label %if.end7.i, label %if.then

take.exit.i:                                      ; preds = %for.body.i
  %call.i.i = call fastcc i1 @fly.native_call.take_tensor(ptr nonnull readonly %1, ptr nonnull readonly %add.ptr.i, ptr nonnull readonly %row.026.i, ptr %call4.i, ptr nonnull %3)
  br i1 %call.i.i, label %if.end7.i, label %if.then

if.end7.i:                                        ; preds = %take.exit.i, %if.end20.i.i.i, %sw.bb7.i.i, %attribute.exit26.i.i.i, %if.then.i.i.i, %if.end6.i.i.i, %if.then4.i.i.i, %take_int.exit.i.thread.i
  %.pr.i = load i64, ptr %row.026.i, align 8
  %cmp9.i = icmp eq i64 %.pr.i, 6
  br i1 %cmp9.i, label %if.then10.i, label %if.end13.i

if.then10.i:                                      ; preds = %if.end7.i
  %arrayidx11.i = getelementptr inbounds nuw i8, ptr %row.026.i, i64 8
  %86 = load i64, ptr %arrayidx11.i, align 8
  %add.ptr12.i = getelementptr inbounds i64, ptr %row.026.i, i64 %86
  br label %if.end13.i

if.end13.i:                                       ; preds = %if.then10.i, %if.end7.i, %for.body.i
  %row.1.i = phi ptr [ %add.ptr12.i, %if.then10.i ], [ %row.026.i, %if.end7.i ], [ %row.026.i, %for.body.i ]
  %arrayidx14.i = getelementptr inbounds nuw i8, ptr %row.1.i, i64 8
  %87 = load i64, ptr %arrayidx14.i, align 8
  %add.ptr15.i = getelementptr inbounds i64, ptr %row.1.i, i64 %87
  %inc.i = add nuw nsw i64 %i.027.i, 1
  %exitcond.not.i = icmp eq i64 %inc.i, %4
  br i1 %exitcond.not.i, label %for.end.i, label %for.body.i

for.end.i:                                        ; preds = %if.end13.i, %if.end.i
  %arrayidx16.i = getelementptr inbounds nuw i8, ptr %self, i64 56
  %88 = load i64, ptr %arrayidx16.i, align 8
  %cmp17.i = icmp sgt i64 %88, -1
  br i1 %cmp17.i, label %if.then18.i, label %if.end

if.then18.i:                                      ; preds = %for.end.i
  %add.ptr.i18.i = getelementptr inbounds nuw i8, ptr %3, i64 %88
  store i64 0, ptr %add.ptr.i18.i, align 1
  br label %if.end

if.then:                                          ; preds = %if.end6.i.i.i, %attribute.exit26.i.i.i, %sw.bb7.i.i, %if.end20.i.i.i, %take.exit.i, %sw.bb3.i.i, %if.end.i38.i.i, %sw.bb10.i.i, %if.end5.i.i.i, %for.body.i, %entry, %take_int.exit.i.i, %cond.true.i.i.i, %if.then18.i.i.i, %if.then3.i.i.i
  %arrayidx3 = getelementptr inbounds nuw i8, ptr %1, i64 72
  %89 = load i64, ptr %arrayidx3, align 8
  %90 = inttoptr i64 %89 to ptr
  %arrayidx.i20 = getelementptr inbounds nuw i8, ptr %1, i64 224
  %91 = load i64, ptr %arrayidx.i20, align 8
  %92 = inttoptr i64 %91 to ptr
  call void %92(ptr %90)
  br label %cleanup22

if.end:                                           ; preds = %if.then18.i, %for.end.i
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i)
  %arrayidx.i21 = getelementptr inbounds nuw i8, ptr %self, i64 104
  %93 = load i64, ptr %arrayidx.i21, align 8
  %94 = inttoptr i64 %93 to ptr
  %arrayidx1.i22 = getelementptr inbounds nuw i8, ptr %1, i64 408
  %95 = load i64, ptr %arrayidx1.i22, align 8
  %96 = inttoptr i64 %95 to ptr
  %arrayidx2.i = getelementptr inbounds nuw i8, ptr %1, i64 400
  %97 = load i64, ptr %arrayidx2.i, align 8
  %98 = inttoptr i64 %97 to ptr
  %call.i23 = call ptr %98()
  %call3.i = call i64 %96(ptr %call.i23)
  %99 = load i64, ptr %94, align 8
  %cmp.i = icmp eq i64 %99, %call3.i
  br i1 %cmp.i, label %if.then.i, label %if.end.i24

if.then.i:                                        ; preds = %if.end
  %arrayidx5.i = getelementptr inbounds nuw i8, ptr %94, i64 8
  br label %report_of.exit

if.end.i24:                                       ; preds = %if.end
  %arrayidx6.i = getelementptr inbounds nuw i8, ptr %1, i64 296
  %100 = load i64, ptr %arrayidx6.i, align 8
  %101 = inttoptr i64 %100 to ptr
  %arrayidx7.i = getelementptr inbounds nuw i8, ptr %self, i64 80
  %102 = load i64, ptr %arrayidx7.i, align 8
  %103 = inttoptr i64 %102 to ptr
  %arrayidx8.i = getelementptr inbounds nuw i8, ptr %1, i64 192
  %104 = load i64, ptr %arrayidx8.i, align 8
  %105 = inttoptr i64 %104 to ptr
  %call9.i = call ptr %101(ptr %103, ptr %105)
  %tobool.not.i = icmp eq ptr %call9.i, null
  br i1 %tobool.not.i, label %if.end15.i, label %if.end18.i

if.end15.i:                                       ; preds = %if.end.i24
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %1, i64 240
  %106 = load i64, ptr %arrayidx.i.i, align 8
  %107 = inttoptr i64 %106 to ptr
  call void %107()
  %arrayidx12.i = getelementptr inbounds nuw i8, ptr %1, i64 256
  %108 = load i64, ptr %arrayidx12.i, align 8
  %109 = inttoptr i64 %108 to ptr
  %arrayidx13.i = getelementptr inbounds nuw i8, ptr %self, i64 88
  %110 = load i64, ptr %arrayidx13.i, align 8
  %111 = inttoptr i64 %110 to ptr
  %call14.i = call ptr %109(ptr %111)
  %tobool16.not.i = icmp eq ptr %call14.i, null
  br i1 %tobool16.not.i, label %report_of.exit.thread, label %if.end18.i

report_of.exit.thread:                            ; preds = %if.end15.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  br label %cleanup22

if.end18.i:                                       ; preds = %if.end15.i, %if.end.i24
  %report.021.i = phi ptr [ %call14.i, %if.end15.i ], [ %call9.i, %if.end.i24 ]
  %arrayidx19.i = getelementptr inbounds nuw i8, ptr %1, i64 304
  %112 = load i64, ptr %arrayidx19.i, align 8
  %113 = inttoptr i64 %112 to ptr
  %call20.i = call i64 %113(ptr nonnull %report.021.i, ptr nonnull %overflow.i)
  %arrayidx21.i = getelementptr inbounds nuw i8, ptr %94, i64 8
  store i64 %call20.i, ptr %arrayidx21.i, align 8
  store i64 %call3.i, ptr %94, align 8
  %arrayidx.i18.i = getelementptr inbounds nuw i8, ptr %1, i64 232
  %114 = load i64, ptr %arrayidx.i18.i, align 8
  %115 = inttoptr i64 %114 to ptr
  call void %115(ptr nonnull %report.021.i)
  br label %report_of.exit

report_of.exit:                                   ; preds = %if.then.i, %if.end18.i
  %retval.0.i25.in = phi ptr [ %arrayidx5.i, %if.then.i ], [ %arrayidx21.i, %if.end18.i ]
  %retval.0.i25 = load i64, ptr %retval.0.i25.in, align 8
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i)
  %tobool.not = icmp eq i64 %retval.0.i25, 0
  br i1 %tobool.not, label %cleanup22, label %if.end7

if.end7:                                          ; preds = %report_of.exit
  %arrayidx8 = getelementptr inbounds nuw i8, ptr %1, i64 416
  %116 = load i64, ptr %arrayidx8, align 8
  %117 = inttoptr i64 %116 to ptr
  %call9 = call ptr %117()
  %118 = load i64, ptr %add.ptr, align 8
  %119 = inttoptr i64 %118 to ptr
  %120 = inttoptr i64 %retval.0.i25 to ptr
  %call11 = call i32 %119(ptr nonnull %3, ptr nonnull %120)
  %arrayidx12 = getelementptr inbounds nuw i8, ptr %1, i64 424
  %121 = load i64, ptr %arrayidx12, align 8
  %122 = inttoptr i64 %121 to ptr
  call void %122(ptr %call9)
  %tobool13.not = icmp eq i32 %call11, 0
  br i1 %tobool13.not, label %cond.false, label %if.then14

if.then14:                                        ; preds = %if.end7
  %arrayidx.i26 = getelementptr inbounds nuw i8, ptr %1, i64 328
  %123 = load i64, ptr %arrayidx.i26, align 8
  %124 = inttoptr i64 %123 to ptr
  %conv.i = sext i32 %call11 to i64
  %call.i27 = call ptr %124(i64 %conv.i)
  %tobool.not.i28 = icmp eq ptr %call.i27, null
  br i1 %tobool.not.i28, label %fail.exit, label %if.end.i29

if.end.i29:                                       ; preds = %if.then14
  %arrayidx1.i30 = getelementptr inbounds nuw i8, ptr %1, i64 264
  %125 = load i64, ptr %arrayidx1.i30, align 8
  %126 = inttoptr i64 %125 to ptr
  %arrayidx2.i31 = getelementptr inbounds nuw i8, ptr %self, i64 96
  %127 = load i64, ptr %arrayidx2.i31, align 8
  %128 = inttoptr i64 %127 to ptr
  %call3.i32 = call ptr %126(ptr %128, ptr nonnull %call.i27)
  %arrayidx.i.i33 = getelementptr inbounds nuw i8, ptr %1, i64 232
  %129 = load i64, ptr %arrayidx.i.i33, align 8
  %130 = inttoptr i64 %129 to ptr
  call void %130(ptr nonnull %call.i27)
  %tobool4.not.i = icmp eq ptr %call3.i32, null
  br i1 %tobool4.not.i, label %fail.exit, label %if.then5.i

if.then5.i:                                       ; preds = %if.end.i29
  %131 = load i64, ptr %arrayidx.i.i33, align 8
  %132 = inttoptr i64 %131 to ptr
  call void %132(ptr nonnull %call3.i32)
  br label %fail.exit

fail.exit:                                        ; preds = %if.then14, %if.end.i29, %if.then5.i
  %arrayidx17 = getelementptr inbounds nuw i8, ptr %1, i64 248
  %133 = load i64, ptr %arrayidx17, align 8
  %134 = inttoptr i64 %133 to ptr
  %call18 = call ptr %134()
  %tobool19.not = icmp eq ptr %call18, null
  br i1 %tobool19.not, label %cond.false, label %cleanup22

cond.false:                                       ; preds = %if.end7, %fail.exit
  %arrayidx20 = getelementptr inbounds nuw i8, ptr %1, i64 64
  %135 = load i64, ptr %arrayidx20, align 8
  %136 = inttoptr i64 %135 to ptr
  %arrayidx.i34 = getelementptr inbounds nuw i8, ptr %1, i64 224
  %137 = load i64, ptr %arrayidx.i34, align 8
  %138 = inttoptr i64 %137 to ptr
  call void %138(ptr %136)
  br label %cleanup22

cleanup22:                                        ; preds = %report_of.exit.thread, %report_of.exit, %fail.exit, %cond.false, %if.then
  %retval.0 = phi ptr [ %90, %if.then ], [ null, %report_of.exit ], [ %136, %cond.false ], [ null, %fail.exit ], [ null, %report_of.exit.thread ]
  ret ptr %retval.0
}

define internal fastcc i1 @fly.native_call.take_tensor(ptr readonly captures(none) %python, ptr readonly captures(none) %plan, ptr readonly captures(none) %row, ptr %given, ptr nonnull writeonly captures(none) %block) {
entry:
  %found = alloca %struct.Tensor, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %found)
  %type1 = getelementptr inbounds nuw i8, ptr %given, i64 8
  %0 = load ptr, ptr %type1, align 8
  %1 = ptrtoint ptr %0 to i64
  %2 = load i64, ptr %python, align 8
  %cmp.not = icmp eq i64 %2, %1
  br i1 %cmp.not, label %if.end, label %land.lhs.true

land.lhs.true:                                    ; preds = %entry
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %python, i64 8
  %3 = load i64, ptr %arrayidx2, align 8
  %cmp3.not = icmp eq i64 %3, %1
  br i1 %cmp3.not, label %if.end, label %cleanup61

if.end:                                           ; preds = %land.lhs.true, %entry
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %python, i64 208
  %4 = load i64, ptr %arrayidx.i, align 8
  %5 = inttoptr i64 %4 to ptr
  %call.i = call i32 %5(ptr nonnull %given, ptr nonnull %found)
  %tobool.not.i = icmp eq i32 %call.i, 0
  br i1 %tobool.not.i, label %lor.lhs.false, label %cleanup61.sink.split

lor.lhs.false:                                    ; preds = %if.end
  %dtype.i = getelementptr inbounds nuw i8, ptr %found, i64 20
  %6 = load i32, ptr %dtype.i, align 4
  %and.i = and i32 %6, 255
  %cmp.not.i = icmp eq i32 %and.i, 2
  br i1 %cmp.not.i, label %if.end.i, label %if.end6

if.end.i:                                         ; preds = %lor.lhs.false
  %arrayidx.i26 = getelementptr inbounds nuw i8, ptr %python, i64 264
  %7 = load i64, ptr %arrayidx.i26, align 8
  %8 = inttoptr i64 %7 to ptr
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %python, i64 80
  %9 = load i64, ptr %arrayidx1.i, align 8
  %10 = inttoptr i64 %9 to ptr
  %call.i27 = call ptr %8(ptr %10, ptr nonnull %given)
  %tobool.not.i28 = icmp eq ptr %call.i27, null
  br i1 %tobool.not.i28, label %cleanup61.sink.split, label %is_plain.exit

is_plain.exit:                                    ; preds = %if.end.i
  %arrayidx.i7.i = getelementptr inbounds nuw i8, ptr %python, i64 232
  %11 = load i64, ptr %arrayidx.i7.i, align 8
  %12 = inttoptr i64 %11 to ptr
  call void %12(ptr nonnull %call.i27)
  %arrayidx5.i = getelementptr inbounds nuw i8, ptr %python, i64 72
  %13 = load i64, ptr %arrayidx5.i, align 8
  %14 = inttoptr i64 %13 to ptr
  %cmp6.i = icmp eq ptr %call.i27, %14
  br i1 %cmp6.i, label %if.end6, label %cleanup61

if.end6:                                          ; preds = %lor.lhs.false, %is_plain.exit
  %device = getelementptr inbounds nuw i8, ptr %found, i64 8
  %15 = load i64, ptr %device, align 8
  %arrayidx7 = getelementptr inbounds nuw i8, ptr %row, i64 24
  %16 = load i64, ptr %arrayidx7, align 8
  %cmp8.not = icmp eq i64 %15, %16
  br i1 %cmp8.not, label %lor.lhs.false9, label %cleanup61

lor.lhs.false9:                                   ; preds = %if.end6
  %rank = getelementptr inbounds nuw i8, ptr %found, i64 16
  %17 = load i32, ptr %rank, align 8
  %conv = zext i32 %17 to i64
  %arrayidx10 = getelementptr inbounds nuw i8, ptr %row, i64 32
  %18 = load i64, ptr %arrayidx10, align 8
  %cmp11.not = icmp eq i64 %18, %conv
  br i1 %cmp11.not, label %lor.lhs.false13, label %cleanup61

lor.lhs.false13:                                  ; preds = %lor.lhs.false9
  %19 = load i32, ptr %dtype.i, align 4
  %conv14 = zext i32 %19 to i64
  %arrayidx15 = getelementptr inbounds nuw i8, ptr %row, i64 16
  %20 = load i64, ptr %arrayidx15, align 8
  %cmp16.not = icmp eq i64 %20, %conv14
  br i1 %cmp16.not, label %lor.lhs.false18, label %cleanup61

lor.lhs.false18:                                  ; preds = %lor.lhs.false13
  %strides = getelementptr inbounds nuw i8, ptr %found, i64 32
  %21 = load ptr, ptr %strides, align 8
  %tobool.not = icmp eq ptr %21, null
  br i1 %tobool.not, label %cleanup61, label %if.end20

if.end20:                                         ; preds = %lor.lhs.false18
  %22 = load i64, ptr %found, align 8
  %offset = getelementptr inbounds nuw i8, ptr %found, i64 40
  %23 = load i64, ptr %offset, align 8
  %add = add i64 %23, %22
  %arrayidx21 = getelementptr inbounds nuw i8, ptr %row, i64 40
  %24 = load i64, ptr %arrayidx21, align 8
  %and = and i64 %add, %24
  %tobool22.not = icmp eq i64 %and, 0
  br i1 %tobool22.not, label %lor.lhs.false23, label %cleanup61

lor.lhs.false23:                                  ; preds = %if.end20
  %arrayidx24 = getelementptr inbounds nuw i8, ptr %plan, i64 32
  %25 = load i64, ptr %arrayidx24, align 8
  %call25 = call fastcc i1 @fly.native_call.has_memory(ptr nonnull %python, ptr nonnull %given, ptr %found, i64 %25)
  br i1 %call25, label %if.end27, label %cleanup61

if.end27:                                         ; preds = %lor.lhs.false23
  %arrayidx28 = getelementptr inbounds nuw i8, ptr %row, i64 48
  %26 = load i64, ptr %arrayidx28, align 8
  %add.ptr.i = getelementptr inbounds i8, ptr %block, i64 %26
  store i64 %add, ptr %add.ptr.i, align 1
  %add.ptr = getelementptr inbounds nuw i8, ptr %row, i64 64
  %27 = load i32, ptr %rank, align 8
  %conv31 = zext i32 %27 to i64
  %add.ptr32.idx = shl nuw nsw i64 %conv31, 5
  %add.ptr32 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 %add.ptr32.idx
  %cmp35.not.not57.not = icmp eq i32 %27, 0
  br i1 %cmp35.not.not57.not, label %cleanup61, label %for.body.lr.ph

for.body.lr.ph:                                   ; preds = %if.end27
  %shape = getelementptr inbounds nuw i8, ptr %found, i64 24
  %28 = load ptr, ptr %shape, align 8
  %29 = load ptr, ptr %strides, align 8
  %arrayidx48 = getelementptr inbounds nuw i8, ptr %row, i64 56
  br label %for.body

for.body:                                         ; preds = %for.body.lr.ph, %for.inc
  %i.058 = phi i64 [ 0, %for.body.lr.ph ], [ %inc, %for.inc ]
  %mul37 = shl nsw i64 %i.058, 2
  %add.ptr38 = getelementptr inbounds nuw i64, ptr %add.ptr, i64 %mul37
  %arrayidx39 = getelementptr inbounds nuw i64, ptr %28, i64 %i.058
  %30 = load i64, ptr %arrayidx39, align 8
  %31 = load i64, ptr %add.ptr38, align 8
  %cmp.not.i30 = icmp eq i64 %31, -1
  br i1 %cmp.not.i30, label %if.end.i33, label %if.then.i31

if.then.i31:                                      ; preds = %for.body
  %cmp2.i = icmp eq i64 %31, %30
  br i1 %cmp2.i, label %lor.lhs.false41, label %cleanup61

if.end.i33:                                       ; preds = %for.body
  %arrayidx3.i = getelementptr inbounds nuw i8, ptr %add.ptr38, i64 24
  %32 = load i64, ptr %arrayidx3.i, align 8
  %and.i34 = and i64 %32, %30
  %tobool.not.i35 = icmp eq i64 %and.i34, 0
  %arrayidx4.i = getelementptr inbounds nuw i8, ptr %add.ptr38, i64 16
  %33 = load i64, ptr %arrayidx4.i, align 8
  %cmp5.i = icmp eq i64 %33, 8
  %arrayidx7.i = getelementptr inbounds nuw i8, ptr %add.ptr38, i64 8
  %34 = load i64, ptr %arrayidx7.i, align 8
  br i1 %cmp5.i, label %take_leaf.exit, label %if.end8.i

if.end8.i:                                        ; preds = %if.end.i33
  %conv.i = trunc i64 %30 to i32
  %add.ptr.i13.i = getelementptr inbounds i8, ptr %block, i64 %34
  store i32 %conv.i, ptr %add.ptr.i13.i, align 1
  %35 = add i64 %30, 2147483648
  %cmp14.i = icmp ult i64 %35, 4294967296
  %36 = and i1 %cmp14.i, %tobool.not.i35
  br i1 %36, label %lor.lhs.false41, label %cleanup61

take_leaf.exit:                                   ; preds = %if.end.i33
  %add.ptr.i.i = getelementptr inbounds i8, ptr %block, i64 %34
  store i64 %30, ptr %add.ptr.i.i, align 1
  br i1 %tobool.not.i35, label %lor.lhs.false41, label %cleanup61

lor.lhs.false41:                                  ; preds = %if.end8.i, %if.then.i31, %take_leaf.exit
  %add.ptr43 = getelementptr inbounds nuw i64, ptr %add.ptr32, i64 %mul37
  %arrayidx45 = getelementptr inbounds nuw i64, ptr %29, i64 %i.058
  %37 = load i64, ptr %arrayidx45, align 8
  %38 = load i64, ptr %add.ptr43, align 8
  %cmp.not.i36 = icmp eq i64 %38, -1
  br i1 %cmp.not.i36, label %if.end.i40, label %if.then.i37

if.then.i37:                                      ; preds = %lor.lhs.false41
  %cmp2.i38 = icmp eq i64 %38, %37
  br i1 %cmp2.i38, label %lor.lhs.false47, label %cleanup61

if.end.i40:                                       ; preds = %lor.lhs.false41
  %arrayidx3.i41 = getelementptr inbounds nuw i8, ptr %add.ptr43, i64 24
  %39 = load i64, ptr %arrayidx3.i41, align 8
  %and.i42 = and i64 %39, %37
  %tobool.not.i43 = icmp eq i64 %and.i42, 0
  %arrayidx4.i44 = getelementptr inbounds nuw i8, ptr %add.ptr43, i64 16
  %40 = load i64, ptr %arrayidx4.i44, align 8
  %cmp5.i45 = icmp eq i64 %40, 8
  %arrayidx7.i46 = getelementptr inbounds nuw i8, ptr %add.ptr43, i64 8
  %41 = load i64, ptr %arrayidx7.i46, align 8
  br i1 %cmp5.i45, label %take_leaf.exit53, label %if.end8.i47

if.end8.i47:                                      ; preds = %if.end.i40
  %conv.i48 = trunc i64 %37 to i32
  %add.ptr.i13.i49 = getelementptr inbounds i8, ptr %block, i64 %41
  store i32 %conv.i48, ptr %add.ptr.i13.i49, align 1
  %42 = add i64 %37, 2147483648
  %cmp14.i50 = icmp ult i64 %42, 4294967296
  %43 = and i1 %cmp14.i50, %tobool.not.i43
  br i1 %43, label %lor.lhs.false47, label %cleanup61

take_leaf.exit53:                                 ; preds = %if.end.i40
  %add.ptr.i.i52 = getelementptr inbounds i8, ptr %block, i64 %41
  store i64 %37, ptr %add.ptr.i.i52, align 1
  br i1 %tobool.not.i43, label %lor.lhs.false47, label %cleanup61

lor.lhs.false47:                                  ; preds = %if.end8.i47, %if.then.i37, %take_leaf.exit53
  %44 = load i64, ptr %arrayidx48, align 8
  %cmp49 = icmp slt i64 %i.058, %44
  br i1 %cmp49, label %land.lhs.true51, label %for.inc

land.lhs.true51:                                  ; preds = %lor.lhs.false47
  %45 = load i64, ptr %arrayidx45, align 8
  %cmp54 = icmp eq i64 %45, 1
  br i1 %cmp54, label %cleanup61, label %for.inc

for.inc:                                          ; preds = %lor.lhs.false47, %land.lhs.true51
  %inc = add nuw nsw i64 %i.058, 1
  %exitcond.not = icmp eq i64 %inc, %conv31
  br i1 %exitcond.not, label %cleanup61, label %for.body

cleanup61.sink.split:                             ; preds = %if.end.i, %if.end
  %arrayidx.i.i29 = getelementptr inbounds nuw i8, ptr %python, i64 240
  %46 = load i64, ptr %arrayidx.i.i29, align 8
  %47 = inttoptr i64 %46 to ptr
  call void %47()
  br label %cleanup61

cleanup61:                                        ; preds = %take_leaf.exit, %take_leaf.exit53, %land.lhs.true51, %for.inc, %if.then.i31, %if.end8.i, %if.then.i37, %if.end8.i47, %cleanup61.sink.split, %if.end27, %lor.lhs.false23, %if.end20, %if.end6, %lor.lhs.false9, %lor.lhs.false13, %lor.lhs.false18, %is_plain.exit, %land.lhs.true
  %retval.0 = phi i1 [ false, %land.lhs.true ], [ true, %if.end27 ], [ false, %if.end6 ], [ false, %is_plain.exit ], [ false, %lor.lhs.false18 ], [ false, %lor.lhs.false13 ], [ false, %lor.lhs.false9 ], [ false, %if.end20 ], [ false, %lor.lhs.false23 ], [ false, %cleanup61.sink.split ], [ false, %take_leaf.exit53 ], [ false, %if.end8.i47 ], [ false, %if.then.i37 ], [ false, %if.end8.i ], [ false, %if.then.i31 ], [ true, %for.inc ], [ false, %land.lhs.true51 ], [ false, %take_leaf.exit ]
  call void @llvm.lifetime.end.p0(ptr nonnull %found)
  ret i1 %retval.0
}

define internal fastcc i1 @fly.native_call.has_memory(ptr readonly captures(none) %python, ptr %tensor, ptr nonnull readonly captures(none) %found, i64 %lowest) {
entry:
  %overflow = alloca i32, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow)
  %0 = load i64, ptr %found, align 8
  %offset = getelementptr inbounds nuw i8, ptr %found, i64 40
  %1 = load i64, ptr %offset, align 8
  %add = add i64 %1, %0
  %cmp = icmp ult i64 %add, %lowest
  %tobool = icmp ne i64 %add, 0
  %or.cond = and i1 %cmp, %tobool
  br i1 %or.cond, label %if.end, label %cleanup12

if.end:                                           ; preds = %entry
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 264
  %2 = load i64, ptr %arrayidx, align 8
  %3 = inttoptr i64 %2 to ptr
  %arrayidx3 = getelementptr inbounds nuw i8, ptr %python, i64 88
  %4 = load i64, ptr %arrayidx3, align 8
  %5 = inttoptr i64 %4 to ptr
  %call = tail call ptr %3(ptr %5, ptr %tensor)
  %tobool4.not = icmp eq ptr %call, null
  br i1 %tobool4.not, label %if.then5, label %if.end7

if.then5:                                         ; preds = %if.end
  %arrayidx.i = getelementptr inbounds nuw i8, ptr %python, i64 240
  %6 = load i64, ptr %arrayidx.i, align 8
  %7 = inttoptr i64 %6 to ptr
  tail call void %7()
  br label %cleanup12

if.end7:                                          ; preds = %if.end
  %arrayidx8 = getelementptr inbounds nuw i8, ptr %python, i64 304
  %8 = load i64, ptr %arrayidx8, align 8
  %9 = inttoptr i64 %8 to ptr
  %call9 = call i64 %9(ptr nonnull %call, ptr nonnull %overflow)
  %arrayidx.i13 = getelementptr inbounds nuw i8, ptr %python, i64 232
  %10 = load i64, ptr %arrayidx.i13, align 8
  %11 = inttoptr i64 %10 to ptr
  call void %11(ptr nonnull %call)
  %dtype = getelementptr inbounds nuw i8, ptr %found, i64 20
  %12 = load i32, ptr %dtype, align 4
  %shr = lshr i32 %12, 8
  %and = and i32 %shr, 255
  %conv = zext nneg i32 %and to i64
  %mul = mul i64 %call9, %conv
  %div12 = lshr i64 %mul, 3
  %cmp10 = icmp ne i64 %add, %div12
  br label %cleanup12

cleanup12:                                        ; preds = %if.then5, %if.end7, %entry
  %retval.0 = phi i1 [ %tobool, %entry ], [ %cmp10, %if.end7 ], [ false, %if.then5 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow)
  ret i1 %retval.0
}


