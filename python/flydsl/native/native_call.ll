; Made from src/native_call.c by `python -m flydsl.native.generate`.

%struct.Tensor = type { i64, i64, i32, i32, ptr, ptr, i64 }

define i32 @fly_native_call(ptr readonly captures(none) %plan, ptr %args, ptr %report) {
entry:
  %overflow.i15.i.i = alloca i32, align 4
  %overflow.i.i.i = alloca i32, align 4
  %overflow.i.i = alloca i32, align 4
  %arrayidx = getelementptr inbounds nuw i8, ptr %plan, i64 72
  %0 = load i64, ptr %arrayidx, align 8
  %1 = alloca i8, i64 %0, align 16
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %plan, i64 80
  %2 = load i64, ptr %arrayidx1, align 8
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %plan, i64 160
  %3 = load i64, ptr %arrayidx2, align 8
  %4 = inttoptr i64 %3 to ptr
  %call = tail call i64 %4(ptr %args)
  %cmp.not = icmp eq i64 %call, %2
  br i1 %cmp.not, label %if.end, label %cleanup30

if.end:                                           ; preds = %entry
  %cmp3.not30 = icmp sgt i64 %2, 0
  br i1 %cmp3.not30, label %for.body.lr.ph, label %for.end

for.body.lr.ph:                                   ; preds = %if.end
  %add.ptr = getelementptr inbounds nuw i8, ptr %plan, i64 192
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %plan, i64 104
  %arrayidx.i42.i = getelementptr inbounds nuw i8, ptr %plan, i64 168
  %arrayidx1.i43.i = getelementptr inbounds nuw i8, ptr %plan, i64 136
  %arrayidx7.i53.i = getelementptr inbounds nuw i8, ptr %plan, i64 184
  %arrayidx1.i33.i = getelementptr inbounds nuw i8, ptr %plan, i64 48
  %arrayidx2.i.i.i = getelementptr inbounds nuw i8, ptr %plan, i64 120
  %arrayidx.i.i.i.i = getelementptr inbounds nuw i8, ptr %plan, i64 144
  %arrayidx.i23.i = getelementptr inbounds nuw i8, ptr %plan, i64 64
  %arrayidx1.i27.i = getelementptr inbounds nuw i8, ptr %plan, i64 128
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %plan, i64 56
  br label %for.body

for.body:                                         ; preds = %for.body.lr.ph, %if.end14
  %i.032 = phi i64 [ 0, %for.body.lr.ph ], [ %inc, %if.end14 ]
  %row.031 = phi ptr [ %add.ptr, %for.body.lr.ph ], [ %add.ptr16, %if.end14 ]
  %5 = load i64, ptr %arrayidx4, align 8
  %6 = inttoptr i64 %5 to ptr
  %call5 = call ptr %6(ptr %args, i64 %i.032)
  %7 = load i64, ptr %row.031, align 8
  switch i64 %7, label %cleanup30 [
    i64 0, label %take.exit
    i64 1, label %sw.bb1.i
    i64 2, label %sw.bb3.i
    i64 3, label %sw.bb5.i
    i64 4, label %sw.bb7.i
    i64 5, label %if.end14
    i64 6, label %sw.bb10.i
  ]

sw.bb1.i:                                         ; preds = %for.body
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i.i)
  %type.i.i = getelementptr inbounds nuw i8, ptr %call5, i64 8
  %8 = load ptr, ptr %type.i.i, align 8
  %9 = ptrtoint ptr %8 to i64
  %10 = load i64, ptr %arrayidx.i.i, align 8
  %cmp.not.i.i = icmp eq i64 %10, %9
  br i1 %cmp.not.i.i, label %if.end.i.i, label %take_int.exit.i

if.end.i.i:                                       ; preds = %sw.bb1.i
  %11 = load i64, ptr %arrayidx2.i.i.i, align 8
  %12 = inttoptr i64 %11 to ptr
  %call.i.i = call i64 %12(ptr nonnull %call5, ptr nonnull %overflow.i.i)
  %arrayidx2.i.i = getelementptr inbounds nuw i8, ptr %row.031, i64 16
  %13 = load i64, ptr %arrayidx2.i.i, align 8
  %14 = load i32, ptr %overflow.i.i, align 4
  %tobool.not.i.i = icmp eq i32 %14, 0
  br i1 %tobool.not.i.i, label %lor.lhs.false.i.i, label %take_int.exit.i

lor.lhs.false.i.i:                                ; preds = %if.end.i.i
  %arrayidx3.i.i = getelementptr inbounds nuw i8, ptr %row.031, i64 32
  %15 = load i64, ptr %arrayidx3.i.i, align 8
  %cmp4.i.i = icmp slt i64 %call.i.i, %15
  br i1 %cmp4.i.i, label %take_int.exit.i, label %lor.lhs.false5.i.i

lor.lhs.false5.i.i:                               ; preds = %lor.lhs.false.i.i
  %arrayidx6.i.i = getelementptr inbounds nuw i8, ptr %row.031, i64 40
  %16 = load i64, ptr %arrayidx6.i.i, align 8
  %cmp7.i.i = icmp sgt i64 %call.i.i, %16
  br i1 %cmp7.i.i, label %take_int.exit.i, label %if.end9.i.i

if.end9.i.i:                                      ; preds = %lor.lhs.false5.i.i
  %arrayidx10.i.i = getelementptr inbounds nuw i8, ptr %row.031, i64 24
  %17 = load i64, ptr %arrayidx10.i.i, align 8
  switch i64 %17, label %sw.default.i.i [
    i64 1, label %sw.bb.i.i
    i64 2, label %sw.bb12.i.i
    i64 4, label %sw.bb15.i.i
  ]

sw.bb.i.i:                                        ; preds = %if.end9.i.i
  %conv.i.i = trunc i64 %call.i.i to i8
  %arrayidx11.i.i = getelementptr inbounds i8, ptr %1, i64 %13
  store i8 %conv.i.i, ptr %arrayidx11.i.i, align 1
  br label %take_int.exit.i.thread

sw.bb12.i.i:                                      ; preds = %if.end9.i.i
  %conv13.i.i = trunc i64 %call.i.i to i16
  %add.ptr.i.i = getelementptr inbounds i8, ptr %1, i64 %13
  store i16 %conv13.i.i, ptr %add.ptr.i.i, align 1
  br label %take_int.exit.i.thread

sw.bb15.i.i:                                      ; preds = %if.end9.i.i
  %conv16.i.i = trunc i64 %call.i.i to i32
  %add.ptr.i.i.i = getelementptr inbounds i8, ptr %1, i64 %13
  store i32 %conv16.i.i, ptr %add.ptr.i.i.i, align 1
  br label %take_int.exit.i.thread

sw.default.i.i:                                   ; preds = %if.end9.i.i
  %add.ptr.i17.i.i = getelementptr inbounds i8, ptr %1, i64 %13
  store i64 %call.i.i, ptr %add.ptr.i17.i.i, align 1
  br label %take_int.exit.i.thread

take_int.exit.i.thread:                           ; preds = %sw.default.i.i, %sw.bb15.i.i, %sw.bb12.i.i, %sw.bb.i.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i.i)
  br label %if.end8

take_int.exit.i:                                  ; preds = %lor.lhs.false5.i.i, %lor.lhs.false.i.i, %if.end.i.i, %sw.bb1.i
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i.i)
  br label %cleanup30

sw.bb3.i:                                         ; preds = %for.body
  %type.i22.i = getelementptr inbounds nuw i8, ptr %call5, i64 8
  %18 = load ptr, ptr %type.i22.i, align 8
  %19 = ptrtoint ptr %18 to i64
  %20 = load i64, ptr %arrayidx.i23.i, align 8
  %cmp.not.i24.i = icmp eq i64 %20, %19
  br i1 %cmp.not.i24.i, label %if.end.i26.i, label %cleanup30

if.end.i26.i:                                     ; preds = %sw.bb3.i
  %21 = load i64, ptr %arrayidx1.i27.i, align 8
  %22 = inttoptr i64 %21 to ptr
  %call.i28.i = call double %22(ptr nonnull %call5)
  %arrayidx2.i29.i = getelementptr inbounds nuw i8, ptr %row.031, i64 24
  %23 = load i64, ptr %arrayidx2.i29.i, align 8
  %cmp3.i.i = icmp eq i64 %23, 8
  br i1 %cmp3.i.i, label %if.then4.i.i, label %if.end6.i.i

if.then4.i.i:                                     ; preds = %if.end.i26.i
  %arrayidx5.i.i = getelementptr inbounds nuw i8, ptr %row.031, i64 16
  %24 = load i64, ptr %arrayidx5.i.i, align 8
  %add.ptr.i.i31.i = getelementptr inbounds i8, ptr %1, i64 %24
  store double %call.i28.i, ptr %add.ptr.i.i31.i, align 1
  br label %if.end8

if.end6.i.i:                                      ; preds = %if.end.i26.i
  %conv.i30.i = fptrunc double %call.i28.i to float
  %arrayidx7.i.i = getelementptr inbounds nuw i8, ptr %row.031, i64 16
  %25 = load i64, ptr %arrayidx7.i.i, align 8
  %add.ptr.i7.i.i = getelementptr inbounds i8, ptr %1, i64 %25
  store float %conv.i30.i, ptr %add.ptr.i7.i.i, align 1
  %26 = call float @llvm.fabs.f32(float %conv.i30.i)
  %cmp8.i.i = fcmp une float %26, 0x7FF0000000000000
  %27 = call double @llvm.fabs.f64(double %call.i28.i)
  %cmp10.i.i = fcmp oeq double %27, 0x7FF0000000000000
  %28 = select i1 %cmp8.i.i, i1 true, i1 %cmp10.i.i
  br i1 %28, label %if.end8, label %cleanup30

sw.bb5.i:                                         ; preds = %for.body
  %arrayidx.i32.i = getelementptr inbounds nuw i8, ptr %row.031, i64 16
  %29 = load i64, ptr %arrayidx.i32.i, align 8
  %30 = ptrtoint ptr %call5 to i64
  %31 = load i64, ptr %arrayidx1.i33.i, align 8
  %cmp.i.i = icmp eq i64 %31, %30
  br i1 %cmp.i.i, label %if.then.i.i, label %lor.lhs.false.i34.i

lor.lhs.false.i34.i:                              ; preds = %sw.bb5.i
  %arrayidx2.i35.i = getelementptr inbounds nuw i8, ptr %row.031, i64 56
  %32 = load i64, ptr %arrayidx2.i35.i, align 8
  %cmp3.i36.i = icmp eq i64 %32, %30
  br i1 %cmp3.i36.i, label %if.then.i.i, label %if.end.i37.i

if.then.i.i:                                      ; preds = %lor.lhs.false.i34.i, %sw.bb5.i
  %add.ptr.i.i41.i = getelementptr inbounds i8, ptr %1, i64 %29
  store i64 0, ptr %add.ptr.i.i41.i, align 1
  br label %if.end8

if.end.i37.i:                                     ; preds = %lor.lhs.false.i34.i
  %type.i38.i = getelementptr inbounds nuw i8, ptr %call5, i64 8
  %33 = load ptr, ptr %type.i38.i, align 8
  %34 = ptrtoint ptr %33 to i64
  %arrayidx4.i.i = getelementptr inbounds nuw i8, ptr %row.031, i64 24
  %35 = load i64, ptr %arrayidx4.i.i, align 8
  %cmp5.not.i.i = icmp eq i64 %35, %34
  br i1 %cmp5.not.i.i, label %if.end7.i.i, label %cleanup30

if.end7.i.i:                                      ; preds = %if.end.i37.i
  %arrayidx8.i.i = getelementptr inbounds nuw i8, ptr %row.031, i64 32
  %36 = load i64, ptr %arrayidx8.i.i, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i.i.i)
  %37 = load i64, ptr %arrayidx.i42.i, align 8
  %38 = inttoptr i64 %37 to ptr
  %39 = inttoptr i64 %36 to ptr
  %call.i.i.i = call ptr %38(ptr nonnull %call5, ptr %39)
  %tobool.not.i.i.i = icmp eq ptr %call.i.i.i, null
  br i1 %tobool.not.i.i.i, label %if.then.i.i.i, label %if.end.i.i.i

if.then.i.i.i:                                    ; preds = %if.end7.i.i
  %40 = load i64, ptr %arrayidx.i.i.i.i, align 8
  %41 = inttoptr i64 %40 to ptr
  call void %41()
  br label %attribute.exit.i.i

if.end.i.i.i:                                     ; preds = %if.end7.i.i
  %42 = load i64, ptr %arrayidx2.i.i.i, align 8
  %43 = inttoptr i64 %42 to ptr
  %call3.i.i.i = call i64 %43(ptr nonnull %call.i.i.i, ptr nonnull %overflow.i.i.i)
  %44 = load i64, ptr %arrayidx1.i43.i, align 8
  %45 = inttoptr i64 %44 to ptr
  call void %45(ptr nonnull %call.i.i.i)
  br label %attribute.exit.i.i

attribute.exit.i.i:                               ; preds = %if.end.i.i.i, %if.then.i.i.i
  %retval.0.i.i.i = phi i64 [ %call3.i.i.i, %if.end.i.i.i ], [ -1, %if.then.i.i.i ]
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i.i.i)
  %arrayidx9.i.i = getelementptr inbounds nuw i8, ptr %row.031, i64 40
  %46 = load i64, ptr %arrayidx9.i.i, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow.i15.i.i)
  %47 = load i64, ptr %arrayidx.i42.i, align 8
  %48 = inttoptr i64 %47 to ptr
  %49 = inttoptr i64 %46 to ptr
  %call.i17.i.i = call ptr %48(ptr nonnull %call5, ptr %49)
  %tobool.not.i18.i.i = icmp eq ptr %call.i17.i.i, null
  br i1 %tobool.not.i18.i.i, label %if.then.i24.i.i, label %if.end.i19.i.i

if.then.i24.i.i:                                  ; preds = %attribute.exit.i.i
  %50 = load i64, ptr %arrayidx.i.i.i.i, align 8
  %51 = inttoptr i64 %50 to ptr
  call void %51()
  br label %attribute.exit26.i.i

if.end.i19.i.i:                                   ; preds = %attribute.exit.i.i
  %52 = load i64, ptr %arrayidx2.i.i.i, align 8
  %53 = inttoptr i64 %52 to ptr
  %call3.i21.i.i = call i64 %53(ptr nonnull %call.i17.i.i, ptr nonnull %overflow.i15.i.i)
  %54 = load i64, ptr %arrayidx1.i43.i, align 8
  %55 = inttoptr i64 %54 to ptr
  call void %55(ptr nonnull %call.i17.i.i)
  br label %attribute.exit26.i.i

attribute.exit26.i.i:                             ; preds = %if.end.i19.i.i, %if.then.i24.i.i
  %retval.0.i23.i.i = phi i64 [ %call3.i21.i.i, %if.end.i19.i.i ], [ -1, %if.then.i24.i.i ]
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow.i15.i.i)
  %add.ptr.i27.i.i = getelementptr inbounds i8, ptr %1, i64 %29
  store i64 %retval.0.i.i.i, ptr %add.ptr.i27.i.i, align 1
  %arrayidx11.i40.i = getelementptr inbounds nuw i8, ptr %row.031, i64 48
  %56 = load i64, ptr %arrayidx11.i40.i, align 8
  %cmp12.i.i = icmp eq i64 %retval.0.i23.i.i, %56
  %cmp13.i.i = icmp ne i64 %retval.0.i.i.i, -1
  %57 = select i1 %cmp12.i.i, i1 %cmp13.i.i, i1 false
  br i1 %57, label %if.end8, label %cleanup30

sw.bb7.i:                                         ; preds = %for.body
  %58 = ptrtoint ptr %call5 to i64
  %arrayidx8.i = getelementptr inbounds nuw i8, ptr %row.031, i64 16
  %59 = load i64, ptr %arrayidx8.i, align 8
  %cmp.i = icmp eq i64 %59, %58
  br i1 %cmp.i, label %if.end8, label %cleanup30

sw.bb10.i:                                        ; preds = %for.body
  %arrayidx11.i = getelementptr inbounds nuw i8, ptr %row.031, i64 8
  %60 = load i64, ptr %arrayidx11.i, align 8
  %add.ptr.i = getelementptr inbounds i64, ptr %row.031, i64 %60
  %61 = load i64, ptr %arrayidx.i42.i, align 8
  %62 = inttoptr i64 %61 to ptr
  %63 = load i64, ptr %arrayidx1.i43.i, align 8
  %64 = inttoptr i64 %63 to ptr
  %type.i44.i = getelementptr inbounds nuw i8, ptr %call5, i64 8
  %65 = load ptr, ptr %type.i44.i, align 8
  %66 = ptrtoint ptr %65 to i64
  %arrayidx2.i45.i = getelementptr inbounds nuw i8, ptr %row.031, i64 16
  %67 = load i64, ptr %arrayidx2.i45.i, align 8
  %cmp.not.i46.i = icmp eq i64 %67, %66
  br i1 %cmp.not.i46.i, label %if.end.i48.i, label %cleanup30

if.end.i48.i:                                     ; preds = %sw.bb10.i
  %arrayidx3.i49.i = getelementptr inbounds nuw i8, ptr %row.031, i64 32
  %68 = load i64, ptr %arrayidx3.i49.i, align 8
  %69 = inttoptr i64 %68 to ptr
  %call.i50.i = call ptr %62(ptr nonnull %call5, ptr %69)
  %tobool.not.i51.i = icmp eq ptr %call.i50.i, null
  br i1 %tobool.not.i51.i, label %if.then4.i55.i, label %if.end6.i52.i

if.then4.i55.i:                                   ; preds = %if.end.i48.i
  %70 = load i64, ptr %arrayidx.i.i.i.i, align 8
  %71 = inttoptr i64 %70 to ptr
  call void %71()
  br label %cleanup30

if.end6.i52.i:                                    ; preds = %if.end.i48.i
  %72 = load i64, ptr %arrayidx7.i53.i, align 8
  %73 = inttoptr i64 %72 to ptr
  %arrayidx8.i54.i = getelementptr inbounds nuw i8, ptr %row.031, i64 24
  %74 = load i64, ptr %arrayidx8.i54.i, align 8
  %75 = inttoptr i64 %74 to ptr
  %call9.i.i = call i32 %73(ptr nonnull %call.i50.i, ptr %75, i32 2)
  call void %64(ptr nonnull %call.i50.i)
  switch i32 %call9.i.i, label %cond.true.i.i [
    i32 1, label %if.end15.i.i
    i32 0, label %cleanup30
  ]

cond.true.i.i:                                    ; preds = %if.end6.i52.i
  %76 = load i64, ptr %arrayidx.i.i.i.i, align 8
  %77 = inttoptr i64 %76 to ptr
  call void %77()
  br label %cleanup30

if.end15.i.i:                                     ; preds = %if.end6.i52.i
  %arrayidx16.i.i = getelementptr inbounds nuw i8, ptr %row.031, i64 40
  %78 = load i64, ptr %arrayidx16.i.i, align 8
  %79 = inttoptr i64 %78 to ptr
  %call17.i.i = call ptr %62(ptr nonnull %call5, ptr %79)
  %tobool18.not.i.i = icmp eq ptr %call17.i.i, null
  br i1 %tobool18.not.i.i, label %if.then19.i.i, label %if.end21.i.i

if.then19.i.i:                                    ; preds = %if.end15.i.i
  %80 = load i64, ptr %arrayidx.i.i.i.i, align 8
  %81 = inttoptr i64 %80 to ptr
  call void %81()
  br label %cleanup30

if.end21.i.i:                                     ; preds = %if.end15.i.i
  %call22.i.i = call fastcc i1 @fly.native_call.take_tensor(ptr nonnull readonly %plan, ptr nonnull readonly %add.ptr.i, ptr nonnull %call17.i.i, ptr nonnull %1)
  call void %64(ptr nonnull %call17.i.i)
  br i1 %call22.i.i, label %if.end8, label %cleanup30

take.exit:                                        ; preds = %for.body
  %call.i = call fastcc i1 @fly.native_call.take_tensor(ptr nonnull readonly %plan, ptr nonnull readonly %row.031, ptr %call5, ptr nonnull %1)
  br i1 %call.i, label %if.end8, label %cleanup30

if.end8:                                          ; preds = %if.then4.i.i, %if.then.i.i, %take_int.exit.i.thread, %if.end6.i.i, %attribute.exit26.i.i, %sw.bb7.i, %if.end21.i.i, %take.exit
  %.pr = load i64, ptr %row.031, align 8
  %cmp10 = icmp eq i64 %.pr, 6
  br i1 %cmp10, label %if.then11, label %if.end14

if.then11:                                        ; preds = %if.end8
  %arrayidx12 = getelementptr inbounds nuw i8, ptr %row.031, i64 8
  %82 = load i64, ptr %arrayidx12, align 8
  %add.ptr13 = getelementptr inbounds i64, ptr %row.031, i64 %82
  br label %if.end14

if.end14:                                         ; preds = %for.body, %if.then11, %if.end8
  %row.1 = phi ptr [ %add.ptr13, %if.then11 ], [ %row.031, %if.end8 ], [ %row.031, %for.body ]
  %arrayidx15 = getelementptr inbounds nuw i8, ptr %row.1, i64 8
  %83 = load i64, ptr %arrayidx15, align 8
  %add.ptr16 = getelementptr inbounds i64, ptr %row.1, i64 %83
  %inc = add nuw nsw i64 %i.032, 1
  %exitcond.not = icmp eq i64 %inc, %2
  br i1 %exitcond.not, label %for.end, label %for.body

for.end:                                          ; preds = %if.end14, %if.end
  %arrayidx17 = getelementptr inbounds nuw i8, ptr %plan, i64 152
  %84 = load i64, ptr %arrayidx17, align 8
  %cmp18 = icmp sgt i64 %84, -1
  br i1 %cmp18, label %if.then19, label %if.end21

if.then19:                                        ; preds = %for.end
  %add.ptr.i23 = getelementptr inbounds nuw i8, ptr %1, i64 %84
  store i64 0, ptr %add.ptr.i23, align 1
  br label %if.end21

if.end21:                                         ; preds = %if.then19, %for.end
  %arrayidx22 = getelementptr inbounds nuw i8, ptr %plan, i64 88
  %85 = load i64, ptr %arrayidx22, align 8
  %86 = inttoptr i64 %85 to ptr
  %call23 = call ptr %86()
  %87 = load i64, ptr %plan, align 8
  %88 = inttoptr i64 %87 to ptr
  %call25 = call i32 %88(ptr nonnull %1, ptr %report)
  %arrayidx26 = getelementptr inbounds nuw i8, ptr %plan, i64 96
  %89 = load i64, ptr %arrayidx26, align 8
  %90 = inttoptr i64 %89 to ptr
  call void %90(ptr %call23)
  br label %cleanup30

cleanup30:                                        ; preds = %for.body, %if.end6.i52.i, %sw.bb10.i, %if.end.i37.i, %sw.bb3.i, %take.exit, %if.end21.i.i, %sw.bb7.i, %attribute.exit26.i.i, %if.end6.i.i, %if.then19.i.i, %cond.true.i.i, %if.then4.i55.i, %take_int.exit.i, %if.end21, %entry
  %retval.0 = phi i32 [ -1000000, %entry ], [ %call25, %if.end21 ], [ -1000000, %take_int.exit.i ], [ -1000000, %cond.true.i.i ], [ -1000000, %if.then19.i.i ], [ -1000000, %if.then4.i55.i ], [ -1000000, %if.end6.i.i ], [ -1000000, %attribute.exit26.i.i ], [ -1000000, %sw.bb7.i ], [ -1000000, %if.end21.i.i ], [ -1000000, %take.exit ], [ -1000000, %sw.bb3.i ], [ -1000000, %if.end.i37.i ], [ -1000000, %sw.bb10.i ], [ -1000000, %if.end6.i52.i ], [ -1000000, %for.body ]
  ret i32 %retval.0
}

define internal fastcc i1 @fly.native_call.take_tensor(ptr readonly captures(none) %plan, ptr readonly captures(none) %row, ptr %given, ptr nonnull writeonly captures(none) %block) {
entry:
  %found = alloca %struct.Tensor, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %found)
  %type1 = getelementptr inbounds nuw i8, ptr %given, i64 8
  %0 = load ptr, ptr %type1, align 8
  %1 = ptrtoint ptr %0 to i64
  %arrayidx = getelementptr inbounds nuw i8, ptr %plan, i64 16
  %2 = load i64, ptr %arrayidx, align 8
  %cmp.not = icmp eq i64 %2, %1
  br i1 %cmp.not, label %if.end, label %land.lhs.true

land.lhs.true:                                    ; preds = %entry
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %plan, i64 24
  %3 = load i64, ptr %arrayidx2, align 8
  %cmp3.not = icmp eq i64 %3, %1
  br i1 %cmp3.not, label %if.end, label %cleanup66

if.end:                                           ; preds = %land.lhs.true, %entry
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %plan, i64 8
  %4 = load i64, ptr %arrayidx4, align 8
  %5 = inttoptr i64 %4 to ptr
  %call = call i32 %5(ptr nonnull %given, ptr nonnull %found)
  %tobool.not = icmp eq i32 %call, 0
  br i1 %tobool.not, label %if.end7, label %cleanup66.sink.split

if.end7:                                          ; preds = %if.end
  %arrayidx.i27 = getelementptr inbounds nuw i8, ptr %plan, i64 112
  %6 = load i64, ptr %arrayidx.i27, align 8
  %7 = inttoptr i64 %6 to ptr
  %arrayidx1.i = getelementptr inbounds nuw i8, ptr %plan, i64 32
  %8 = load i64, ptr %arrayidx1.i, align 8
  %9 = inttoptr i64 %8 to ptr
  %call.i = call ptr %7(ptr %9, ptr nonnull %given)
  %tobool.not.i = icmp eq ptr %call.i, null
  br i1 %tobool.not.i, label %cleanup66.sink.split, label %is_plain.exit

is_plain.exit:                                    ; preds = %if.end7
  %arrayidx3.i = getelementptr inbounds nuw i8, ptr %plan, i64 136
  %10 = load i64, ptr %arrayidx3.i, align 8
  %11 = inttoptr i64 %10 to ptr
  call void %11(ptr nonnull %call.i)
  %arrayidx4.i = getelementptr inbounds nuw i8, ptr %plan, i64 40
  %12 = load i64, ptr %arrayidx4.i, align 8
  %13 = inttoptr i64 %12 to ptr
  %cmp.i = icmp eq ptr %call.i, %13
  br i1 %cmp.i, label %if.end10, label %cleanup66

if.end10:                                         ; preds = %is_plain.exit
  %device = getelementptr inbounds nuw i8, ptr %found, i64 8
  %14 = load i64, ptr %device, align 8
  %arrayidx11 = getelementptr inbounds nuw i8, ptr %row, i64 24
  %15 = load i64, ptr %arrayidx11, align 8
  %cmp12.not = icmp eq i64 %14, %15
  br i1 %cmp12.not, label %lor.lhs.false, label %cleanup66

lor.lhs.false:                                    ; preds = %if.end10
  %rank = getelementptr inbounds nuw i8, ptr %found, i64 16
  %16 = load i32, ptr %rank, align 8
  %conv = zext i32 %16 to i64
  %arrayidx13 = getelementptr inbounds nuw i8, ptr %row, i64 32
  %17 = load i64, ptr %arrayidx13, align 8
  %cmp14.not = icmp eq i64 %17, %conv
  br i1 %cmp14.not, label %lor.lhs.false16, label %cleanup66

lor.lhs.false16:                                  ; preds = %lor.lhs.false
  %dtype = getelementptr inbounds nuw i8, ptr %found, i64 20
  %18 = load i32, ptr %dtype, align 4
  %conv17 = zext i32 %18 to i64
  %arrayidx18 = getelementptr inbounds nuw i8, ptr %row, i64 16
  %19 = load i64, ptr %arrayidx18, align 8
  %cmp19.not = icmp eq i64 %19, %conv17
  br i1 %cmp19.not, label %lor.lhs.false21, label %cleanup66

lor.lhs.false21:                                  ; preds = %lor.lhs.false16
  %strides = getelementptr inbounds nuw i8, ptr %found, i64 32
  %20 = load ptr, ptr %strides, align 8
  %tobool22.not = icmp eq ptr %20, null
  br i1 %tobool22.not, label %cleanup66, label %if.end24

if.end24:                                         ; preds = %lor.lhs.false21
  %21 = load i64, ptr %found, align 8
  %offset = getelementptr inbounds nuw i8, ptr %found, i64 40
  %22 = load i64, ptr %offset, align 8
  %add = add i64 %22, %21
  %arrayidx25 = getelementptr inbounds nuw i8, ptr %row, i64 40
  %23 = load i64, ptr %arrayidx25, align 8
  %and = and i64 %add, %23
  %tobool26.not = icmp eq i64 %and, 0
  br i1 %tobool26.not, label %lor.lhs.false27, label %cleanup66

lor.lhs.false27:                                  ; preds = %if.end24
  %arrayidx28 = getelementptr inbounds nuw i8, ptr %plan, i64 176
  %24 = load i64, ptr %arrayidx28, align 8
  %cmp29 = icmp ult i64 %add, %24
  br i1 %cmp29, label %cleanup66, label %if.end32

if.end32:                                         ; preds = %lor.lhs.false27
  %arrayidx33 = getelementptr inbounds nuw i8, ptr %row, i64 48
  %25 = load i64, ptr %arrayidx33, align 8
  %add.ptr.i = getelementptr inbounds i8, ptr %block, i64 %25
  store i64 %add, ptr %add.ptr.i, align 1
  %add.ptr = getelementptr inbounds nuw i8, ptr %row, i64 64
  %add.ptr37.idx = shl nuw nsw i64 %conv, 5
  %add.ptr37 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 %add.ptr37.idx
  %cmp40.not.not53.not = icmp eq i32 %16, 0
  br i1 %cmp40.not.not53.not, label %cleanup66, label %for.body.lr.ph

for.body.lr.ph:                                   ; preds = %if.end32
  %shape = getelementptr inbounds nuw i8, ptr %found, i64 24
  %26 = load ptr, ptr %shape, align 8
  %arrayidx53 = getelementptr inbounds nuw i8, ptr %row, i64 56
  br label %for.body

for.body:                                         ; preds = %for.body.lr.ph, %for.inc
  %i.054 = phi i64 [ 0, %for.body.lr.ph ], [ %inc, %for.inc ]
  %mul42 = shl nsw i64 %i.054, 2
  %add.ptr43 = getelementptr inbounds nuw i64, ptr %add.ptr, i64 %mul42
  %arrayidx44 = getelementptr inbounds nuw i64, ptr %26, i64 %i.054
  %27 = load i64, ptr %arrayidx44, align 8
  %28 = load i64, ptr %add.ptr43, align 8
  %cmp.not.i = icmp eq i64 %28, -1
  br i1 %cmp.not.i, label %if.end.i30, label %if.then.i28

if.then.i28:                                      ; preds = %for.body
  %cmp2.i = icmp eq i64 %28, %27
  br i1 %cmp2.i, label %lor.lhs.false46, label %cleanup66

if.end.i30:                                       ; preds = %for.body
  %arrayidx3.i31 = getelementptr inbounds nuw i8, ptr %add.ptr43, i64 24
  %29 = load i64, ptr %arrayidx3.i31, align 8
  %and.i = and i64 %29, %27
  %tobool.not.i32 = icmp eq i64 %and.i, 0
  %arrayidx4.i33 = getelementptr inbounds nuw i8, ptr %add.ptr43, i64 16
  %30 = load i64, ptr %arrayidx4.i33, align 8
  %cmp5.i = icmp eq i64 %30, 8
  %arrayidx7.i = getelementptr inbounds nuw i8, ptr %add.ptr43, i64 8
  %31 = load i64, ptr %arrayidx7.i, align 8
  br i1 %cmp5.i, label %take_leaf.exit, label %if.end8.i

if.end8.i:                                        ; preds = %if.end.i30
  %conv.i = trunc i64 %27 to i32
  %add.ptr.i13.i = getelementptr inbounds i8, ptr %block, i64 %31
  store i32 %conv.i, ptr %add.ptr.i13.i, align 1
  %32 = add i64 %27, 2147483648
  %cmp14.i = icmp ult i64 %32, 4294967296
  %33 = and i1 %cmp14.i, %tobool.not.i32
  br i1 %33, label %lor.lhs.false46, label %cleanup66

take_leaf.exit:                                   ; preds = %if.end.i30
  %add.ptr.i.i = getelementptr inbounds i8, ptr %block, i64 %31
  store i64 %27, ptr %add.ptr.i.i, align 1
  br i1 %tobool.not.i32, label %lor.lhs.false46, label %cleanup66

lor.lhs.false46:                                  ; preds = %if.end8.i, %if.then.i28, %take_leaf.exit
  %add.ptr48 = getelementptr inbounds nuw i64, ptr %add.ptr37, i64 %mul42
  %arrayidx50 = getelementptr inbounds nuw i64, ptr %20, i64 %i.054
  %34 = load i64, ptr %arrayidx50, align 8
  %35 = load i64, ptr %add.ptr48, align 8
  %cmp.not.i34 = icmp eq i64 %35, -1
  br i1 %cmp.not.i34, label %if.end.i38, label %if.then.i35

if.then.i35:                                      ; preds = %lor.lhs.false46
  %cmp2.i36 = icmp eq i64 %35, %34
  br i1 %cmp2.i36, label %lor.lhs.false52, label %cleanup66

if.end.i38:                                       ; preds = %lor.lhs.false46
  %arrayidx3.i39 = getelementptr inbounds nuw i8, ptr %add.ptr48, i64 24
  %36 = load i64, ptr %arrayidx3.i39, align 8
  %and.i40 = and i64 %36, %34
  %tobool.not.i41 = icmp eq i64 %and.i40, 0
  %arrayidx4.i42 = getelementptr inbounds nuw i8, ptr %add.ptr48, i64 16
  %37 = load i64, ptr %arrayidx4.i42, align 8
  %cmp5.i43 = icmp eq i64 %37, 8
  %arrayidx7.i44 = getelementptr inbounds nuw i8, ptr %add.ptr48, i64 8
  %38 = load i64, ptr %arrayidx7.i44, align 8
  br i1 %cmp5.i43, label %take_leaf.exit51, label %if.end8.i45

if.end8.i45:                                      ; preds = %if.end.i38
  %conv.i46 = trunc i64 %34 to i32
  %add.ptr.i13.i47 = getelementptr inbounds i8, ptr %block, i64 %38
  store i32 %conv.i46, ptr %add.ptr.i13.i47, align 1
  %39 = add i64 %34, 2147483648
  %cmp14.i48 = icmp ult i64 %39, 4294967296
  %40 = and i1 %cmp14.i48, %tobool.not.i41
  br i1 %40, label %lor.lhs.false52, label %cleanup66

take_leaf.exit51:                                 ; preds = %if.end.i38
  %add.ptr.i.i50 = getelementptr inbounds i8, ptr %block, i64 %38
  store i64 %34, ptr %add.ptr.i.i50, align 1
  br i1 %tobool.not.i41, label %lor.lhs.false52, label %cleanup66

lor.lhs.false52:                                  ; preds = %if.end8.i45, %if.then.i35, %take_leaf.exit51
  %41 = load i64, ptr %arrayidx53, align 8
  %cmp54 = icmp slt i64 %i.054, %41
  br i1 %cmp54, label %land.lhs.true56, label %for.inc

land.lhs.true56:                                  ; preds = %lor.lhs.false52
  %42 = load i64, ptr %arrayidx50, align 8
  %cmp59 = icmp eq i64 %42, 1
  br i1 %cmp59, label %cleanup66, label %for.inc

for.inc:                                          ; preds = %lor.lhs.false52, %land.lhs.true56
  %inc = add nuw nsw i64 %i.054, 1
  %exitcond.not = icmp eq i64 %inc, %conv
  br i1 %exitcond.not, label %cleanup66, label %for.body

cleanup66.sink.split:                             ; preds = %if.end7, %if.end
  %arrayidx.i.i = getelementptr inbounds nuw i8, ptr %plan, i64 144
  %43 = load i64, ptr %arrayidx.i.i, align 8
  %44 = inttoptr i64 %43 to ptr
  call void %44()
  br label %cleanup66

cleanup66:                                        ; preds = %take_leaf.exit, %take_leaf.exit51, %land.lhs.true56, %for.inc, %if.then.i28, %if.end8.i, %if.then.i35, %if.end8.i45, %cleanup66.sink.split, %if.end32, %lor.lhs.false27, %if.end24, %if.end10, %lor.lhs.false, %lor.lhs.false16, %lor.lhs.false21, %is_plain.exit, %land.lhs.true
  %retval.0 = phi i1 [ false, %land.lhs.true ], [ true, %if.end32 ], [ false, %is_plain.exit ], [ false, %if.end10 ], [ false, %lor.lhs.false21 ], [ false, %lor.lhs.false16 ], [ false, %lor.lhs.false ], [ false, %if.end24 ], [ false, %lor.lhs.false27 ], [ false, %cleanup66.sink.split ], [ false, %take_leaf.exit51 ], [ false, %if.end8.i45 ], [ false, %if.then.i35 ], [ false, %if.end8.i ], [ false, %if.then.i28 ], [ true, %for.inc ], [ false, %land.lhs.true56 ], [ false, %take_leaf.exit ]
  call void @llvm.lifetime.end.p0(ptr nonnull %found)
  ret i1 %retval.0
}


