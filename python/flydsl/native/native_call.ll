; Made from src/native_call.c by `python -m flydsl.native.generate`.

%struct.Tensor = type { i64, i64, i32, i32, ptr, ptr, i64 }

define i32 @fly_native_call(ptr %plan, ptr %args, ptr %report) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %plan, i64 72
  %0 = load i64, ptr %arrayidx, align 8
  %1 = alloca i8, i64 %0, align 16
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %plan, i64 80
  %2 = load i64, ptr %arrayidx1, align 8
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %plan, i64 160
  %3 = load i64, ptr %arrayidx2, align 8
  %4 = inttoptr i64 %3 to ptr
  %call = call i64 %4(ptr %args)
  %cmp.not = icmp eq i64 %call, %2
  br i1 %cmp.not, label %if.end, label %cleanup30

if.end:                                           ; preds = %entry
  %add.ptr = getelementptr inbounds nuw i8, ptr %plan, i64 192
  br label %for.cond

for.cond:                                         ; preds = %if.end14, %if.end
  %row.0 = phi ptr [ %add.ptr, %if.end ], [ %add.ptr16, %if.end14 ]
  %i.0 = phi i64 [ 0, %if.end ], [ %inc, %if.end14 ]
  %cmp3.not = icmp slt i64 %i.0, %2
  br i1 %cmp3.not, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %plan, i64 104
  %5 = load i64, ptr %arrayidx4, align 8
  %6 = inttoptr i64 %5 to ptr
  %call5 = call ptr %6(ptr %args, i64 %i.0)
  %call6 = call i1 @fly.native_call.take(ptr %plan, ptr %row.0, ptr %call5, ptr nonnull %1)
  br i1 %call6, label %if.end8, label %cleanup

if.end8:                                          ; preds = %for.body
  %7 = load i64, ptr %row.0, align 8
  %cmp10 = icmp eq i64 %7, 6
  br i1 %cmp10, label %if.then11, label %if.end14

if.then11:                                        ; preds = %if.end8
  %arrayidx12 = getelementptr inbounds nuw i8, ptr %row.0, i64 8
  %8 = load i64, ptr %arrayidx12, align 8
  %add.ptr13 = getelementptr inbounds i64, ptr %row.0, i64 %8
  br label %if.end14

if.end14:                                         ; preds = %if.then11, %if.end8
  %row.1 = phi ptr [ %add.ptr13, %if.then11 ], [ %row.0, %if.end8 ]
  %arrayidx15 = getelementptr inbounds nuw i8, ptr %row.1, i64 8
  %9 = load i64, ptr %arrayidx15, align 8
  %add.ptr16 = getelementptr inbounds i64, ptr %row.1, i64 %9
  %inc = add nuw nsw i64 %i.0, 1
  br label %for.cond

cleanup:                                          ; preds = %for.body
  br i1 %cmp3.not, label %cleanup30, label %for.end

for.end:                                          ; preds = %for.cond, %cleanup
  %arrayidx17 = getelementptr inbounds nuw i8, ptr %plan, i64 152
  %10 = load i64, ptr %arrayidx17, align 8
  %cmp18 = icmp sgt i64 %10, -1
  br i1 %cmp18, label %if.then19, label %if.end21

if.then19:                                        ; preds = %for.end
  call void @fly.native_call.put64(ptr nonnull %1, i64 %10, i64 0)
  br label %if.end21

if.end21:                                         ; preds = %if.then19, %for.end
  %arrayidx22 = getelementptr inbounds nuw i8, ptr %plan, i64 88
  %11 = load i64, ptr %arrayidx22, align 8
  %12 = inttoptr i64 %11 to ptr
  %call23 = call ptr %12()
  %13 = load i64, ptr %plan, align 8
  %14 = inttoptr i64 %13 to ptr
  %call25 = call i32 %14(ptr nonnull %1, ptr %report)
  %arrayidx26 = getelementptr inbounds nuw i8, ptr %plan, i64 96
  %15 = load i64, ptr %arrayidx26, align 8
  %16 = inttoptr i64 %15 to ptr
  call void %16(ptr %call23)
  br label %cleanup30

cleanup30:                                        ; preds = %if.end21, %cleanup, %entry
  %retval.0 = phi i32 [ -1000000, %entry ], [ -1000000, %cleanup ], [ %call25, %if.end21 ]
  ret i32 %retval.0
}

define internal i1 @fly.native_call.take(ptr %plan, ptr %row, ptr %given, ptr %block) {
entry:
  %0 = load i64, ptr %row, align 8
  switch i64 %0, label %sw.default [
    i64 0, label %sw.bb
    i64 1, label %sw.bb1
    i64 2, label %sw.bb3
    i64 3, label %sw.bb5
    i64 4, label %sw.bb7
    i64 5, label %return
    i64 6, label %sw.bb10
  ]

sw.bb:                                            ; preds = %entry
  %call = call i1 @fly.native_call.take_tensor(ptr %plan, ptr nonnull %row, ptr %given, ptr %block)
  br label %return

sw.bb1:                                           ; preds = %entry
  %call2 = call i1 @fly.native_call.take_int(ptr %plan, ptr nonnull %row, ptr %given, ptr %block)
  br label %return

sw.bb3:                                           ; preds = %entry
  %call4 = call i1 @fly.native_call.take_float(ptr %plan, ptr nonnull %row, ptr %given, ptr %block)
  br label %return

sw.bb5:                                           ; preds = %entry
  %call6 = call i1 @fly.native_call.take_stream(ptr %plan, ptr nonnull %row, ptr %given, ptr %block)
  br label %return

sw.bb7:                                           ; preds = %entry
  %1 = ptrtoint ptr %given to i64
  %arrayidx8 = getelementptr inbounds nuw i8, ptr %row, i64 16
  %2 = load i64, ptr %arrayidx8, align 8
  %cmp = icmp eq i64 %2, %1
  br label %return

sw.bb10:                                          ; preds = %entry
  %arrayidx11 = getelementptr inbounds nuw i8, ptr %row, i64 8
  %3 = load i64, ptr %arrayidx11, align 8
  %add.ptr = getelementptr inbounds i64, ptr %row, i64 %3
  %call12 = call i1 @fly.native_call.take_adaptor(ptr %plan, ptr nonnull %row, ptr nonnull %add.ptr, ptr %given, ptr %block)
  br label %return

sw.default:                                       ; preds = %entry
  br label %return

return:                                           ; preds = %entry, %sw.default, %sw.bb10, %sw.bb7, %sw.bb5, %sw.bb3, %sw.bb1, %sw.bb
  %retval.0 = phi i1 [ false, %sw.default ], [ %call, %sw.bb ], [ %call2, %sw.bb1 ], [ %call4, %sw.bb3 ], [ %call6, %sw.bb5 ], [ %cmp, %sw.bb7 ], [ %call12, %sw.bb10 ], [ true, %entry ]
  ret i1 %retval.0
}

define internal void @fly.native_call.put64(ptr %block, i64 %place, i64 %value) {
entry:
  %add.ptr = getelementptr inbounds i8, ptr %block, i64 %place
  store i64 %value, ptr %add.ptr, align 1
  ret void
}

define internal i1 @fly.native_call.take_tensor(ptr %plan, ptr %row, ptr %given, ptr %block) {
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
  %call = call i32 %5(ptr %given, ptr nonnull %found)
  %tobool.not = icmp eq i32 %call, 0
  br i1 %tobool.not, label %if.end7, label %if.then5

if.then5:                                         ; preds = %if.end
  %call6 = call i1 @fly.native_call.clear_error(ptr %plan)
  br label %cleanup66

if.end7:                                          ; preds = %if.end
  %call8 = call i1 @fly.native_call.is_plain(ptr %plan, ptr %given)
  br i1 %call8, label %if.end10, label %cleanup66

if.end10:                                         ; preds = %if.end7
  %device = getelementptr inbounds nuw i8, ptr %found, i64 8
  %6 = load i64, ptr %device, align 8
  %arrayidx11 = getelementptr inbounds nuw i8, ptr %row, i64 24
  %7 = load i64, ptr %arrayidx11, align 8
  %cmp12.not = icmp eq i64 %6, %7
  br i1 %cmp12.not, label %lor.lhs.false, label %cleanup66

lor.lhs.false:                                    ; preds = %if.end10
  %rank = getelementptr inbounds nuw i8, ptr %found, i64 16
  %8 = load i32, ptr %rank, align 8
  %conv = zext i32 %8 to i64
  %arrayidx13 = getelementptr inbounds nuw i8, ptr %row, i64 32
  %9 = load i64, ptr %arrayidx13, align 8
  %cmp14.not = icmp eq i64 %9, %conv
  br i1 %cmp14.not, label %lor.lhs.false16, label %cleanup66

lor.lhs.false16:                                  ; preds = %lor.lhs.false
  %dtype = getelementptr inbounds nuw i8, ptr %found, i64 20
  %10 = load i32, ptr %dtype, align 4
  %conv17 = zext i32 %10 to i64
  %arrayidx18 = getelementptr inbounds nuw i8, ptr %row, i64 16
  %11 = load i64, ptr %arrayidx18, align 8
  %cmp19.not = icmp eq i64 %11, %conv17
  br i1 %cmp19.not, label %lor.lhs.false21, label %cleanup66

lor.lhs.false21:                                  ; preds = %lor.lhs.false16
  %strides = getelementptr inbounds nuw i8, ptr %found, i64 32
  %12 = load ptr, ptr %strides, align 8
  %tobool22.not = icmp eq ptr %12, null
  br i1 %tobool22.not, label %cleanup66, label %if.end24

if.end24:                                         ; preds = %lor.lhs.false21
  %13 = load i64, ptr %found, align 8
  %offset = getelementptr inbounds nuw i8, ptr %found, i64 40
  %14 = load i64, ptr %offset, align 8
  %add = add i64 %13, %14
  %arrayidx25 = getelementptr inbounds nuw i8, ptr %row, i64 40
  %15 = load i64, ptr %arrayidx25, align 8
  %and = and i64 %add, %15
  %tobool26.not = icmp eq i64 %and, 0
  br i1 %tobool26.not, label %lor.lhs.false27, label %cleanup66

lor.lhs.false27:                                  ; preds = %if.end24
  %arrayidx28 = getelementptr inbounds nuw i8, ptr %plan, i64 176
  %16 = load i64, ptr %arrayidx28, align 8
  %cmp29 = icmp ult i64 %add, %16
  br i1 %cmp29, label %cleanup66, label %if.end32

if.end32:                                         ; preds = %lor.lhs.false27
  %arrayidx33 = getelementptr inbounds nuw i8, ptr %row, i64 48
  %17 = load i64, ptr %arrayidx33, align 8
  call void @fly.native_call.put64(ptr %block, i64 %17, i64 %add)
  %add.ptr = getelementptr inbounds nuw i8, ptr %row, i64 64
  %18 = load i32, ptr %rank, align 8
  %conv36 = zext i32 %18 to i64
  %add.ptr37.idx = shl nuw nsw i64 %conv36, 5
  %add.ptr37 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 %add.ptr37.idx
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %if.end32
  %i.0 = phi i64 [ 0, %if.end32 ], [ %inc, %for.inc ]
  %19 = load i32, ptr %rank, align 8
  %conv39 = zext i32 %19 to i64
  %cmp40 = icmp samesign uge i64 %i.0, %conv39
  br i1 %cmp40, label %cleanup66, label %for.body

for.body:                                         ; preds = %for.cond
  %mul42 = shl nsw i64 %i.0, 2
  %add.ptr43 = getelementptr inbounds nuw i64, ptr %add.ptr, i64 %mul42
  %shape = getelementptr inbounds nuw i8, ptr %found, i64 24
  %20 = load ptr, ptr %shape, align 8
  %arrayidx44 = getelementptr inbounds nuw i64, ptr %20, i64 %i.0
  %21 = load i64, ptr %arrayidx44, align 8
  %call45 = call i1 @fly.native_call.take_leaf(ptr nonnull %add.ptr43, i64 %21, ptr %block)
  br i1 %call45, label %lor.lhs.false46, label %cleanup66

lor.lhs.false46:                                  ; preds = %for.body
  %add.ptr48 = getelementptr inbounds nuw i64, ptr %add.ptr37, i64 %mul42
  %22 = load ptr, ptr %strides, align 8
  %arrayidx50 = getelementptr inbounds nuw i64, ptr %22, i64 %i.0
  %23 = load i64, ptr %arrayidx50, align 8
  %call51 = call i1 @fly.native_call.take_leaf(ptr nonnull %add.ptr48, i64 %23, ptr %block)
  br i1 %call51, label %lor.lhs.false52, label %cleanup66

lor.lhs.false52:                                  ; preds = %lor.lhs.false46
  %arrayidx53 = getelementptr inbounds nuw i8, ptr %row, i64 56
  %24 = load i64, ptr %arrayidx53, align 8
  %cmp54 = icmp slt i64 %i.0, %24
  br i1 %cmp54, label %land.lhs.true56, label %for.inc

land.lhs.true56:                                  ; preds = %lor.lhs.false52
  %25 = load ptr, ptr %strides, align 8
  %arrayidx58 = getelementptr inbounds nuw i64, ptr %25, i64 %i.0
  %26 = load i64, ptr %arrayidx58, align 8
  %cmp59 = icmp eq i64 %26, 1
  br i1 %cmp59, label %cleanup66, label %for.inc

for.inc:                                          ; preds = %lor.lhs.false52, %land.lhs.true56
  %inc = add nuw nsw i64 %i.0, 1
  br label %for.cond

cleanup66:                                        ; preds = %for.cond, %land.lhs.true56, %lor.lhs.false46, %for.body, %lor.lhs.false27, %if.end24, %if.end10, %lor.lhs.false, %lor.lhs.false16, %lor.lhs.false21, %if.end7, %land.lhs.true, %if.then5
  %retval.0 = phi i1 [ false, %land.lhs.true ], [ %call6, %if.then5 ], [ false, %if.end7 ], [ false, %if.end10 ], [ false, %lor.lhs.false21 ], [ false, %lor.lhs.false16 ], [ false, %lor.lhs.false ], [ false, %if.end24 ], [ false, %lor.lhs.false27 ], [ %cmp40, %for.body ], [ %cmp40, %lor.lhs.false46 ], [ %cmp40, %land.lhs.true56 ], [ %cmp40, %for.cond ]
  call void @llvm.lifetime.end.p0(ptr nonnull %found)
  ret i1 %retval.0
}

define internal i1 @fly.native_call.take_int(ptr %plan, ptr %row, ptr %given, ptr %block) {
entry:
  %overflow = alloca i32, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow)
  %type = getelementptr inbounds nuw i8, ptr %given, i64 8
  %0 = load ptr, ptr %type, align 8
  %1 = ptrtoint ptr %0 to i64
  %arrayidx = getelementptr inbounds nuw i8, ptr %plan, i64 56
  %2 = load i64, ptr %arrayidx, align 8
  %cmp.not = icmp eq i64 %2, %1
  br i1 %cmp.not, label %if.end, label %cleanup18

if.end:                                           ; preds = %entry
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %plan, i64 120
  %3 = load i64, ptr %arrayidx1, align 8
  %4 = inttoptr i64 %3 to ptr
  %call = call i64 %4(ptr %given, ptr nonnull %overflow)
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %row, i64 16
  %5 = load i64, ptr %arrayidx2, align 8
  %6 = load i32, ptr %overflow, align 4
  %tobool.not = icmp eq i32 %6, 0
  br i1 %tobool.not, label %lor.lhs.false, label %cleanup18

lor.lhs.false:                                    ; preds = %if.end
  %arrayidx3 = getelementptr inbounds nuw i8, ptr %row, i64 32
  %7 = load i64, ptr %arrayidx3, align 8
  %cmp4 = icmp slt i64 %call, %7
  br i1 %cmp4, label %cleanup18, label %lor.lhs.false5

lor.lhs.false5:                                   ; preds = %lor.lhs.false
  %arrayidx6 = getelementptr inbounds nuw i8, ptr %row, i64 40
  %8 = load i64, ptr %arrayidx6, align 8
  %cmp7 = icmp sgt i64 %call, %8
  br i1 %cmp7, label %cleanup18, label %if.end9

if.end9:                                          ; preds = %lor.lhs.false5
  %arrayidx10 = getelementptr inbounds nuw i8, ptr %row, i64 24
  %9 = load i64, ptr %arrayidx10, align 8
  switch i64 %9, label %sw.default [
    i64 1, label %sw.bb
    i64 2, label %sw.bb12
    i64 4, label %sw.bb15
  ]

sw.bb:                                            ; preds = %if.end9
  %conv = trunc i64 %call to i8
  %arrayidx11 = getelementptr inbounds i8, ptr %block, i64 %5
  store i8 %conv, ptr %arrayidx11, align 1
  br label %cleanup18

sw.bb12:                                          ; preds = %if.end9
  %conv13 = trunc i64 %call to i16
  %add.ptr = getelementptr inbounds i8, ptr %block, i64 %5
  store i16 %conv13, ptr %add.ptr, align 1
  br label %cleanup18

sw.bb15:                                          ; preds = %if.end9
  %conv16 = trunc i64 %call to i32
  call void @fly.native_call.put32(ptr %block, i64 %5, i32 %conv16)
  br label %cleanup18

sw.default:                                       ; preds = %if.end9
  call void @fly.native_call.put64(ptr %block, i64 %5, i64 %call)
  br label %cleanup18

cleanup18:                                        ; preds = %lor.lhs.false5, %lor.lhs.false, %if.end, %sw.default, %sw.bb15, %sw.bb12, %sw.bb, %entry
  %retval.0 = phi i1 [ false, %entry ], [ false, %if.end ], [ false, %lor.lhs.false5 ], [ false, %lor.lhs.false ], [ true, %sw.default ], [ true, %sw.bb15 ], [ true, %sw.bb12 ], [ true, %sw.bb ]
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow)
  ret i1 %retval.0
}

define internal i1 @fly.native_call.take_float(ptr %plan, ptr %row, ptr %given, ptr %block) {
entry:
  %type = getelementptr inbounds nuw i8, ptr %given, i64 8
  %0 = load ptr, ptr %type, align 8
  %1 = ptrtoint ptr %0 to i64
  %arrayidx = getelementptr inbounds nuw i8, ptr %plan, i64 64
  %2 = load i64, ptr %arrayidx, align 8
  %cmp.not = icmp eq i64 %2, %1
  br i1 %cmp.not, label %if.end, label %cleanup

if.end:                                           ; preds = %entry
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %plan, i64 128
  %3 = load i64, ptr %arrayidx1, align 8
  %4 = inttoptr i64 %3 to ptr
  %call = call double %4(ptr %given)
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %row, i64 24
  %5 = load i64, ptr %arrayidx2, align 8
  %cmp3 = icmp eq i64 %5, 8
  br i1 %cmp3, label %if.then4, label %if.end6

if.then4:                                         ; preds = %if.end
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %row, i64 16
  %6 = load i64, ptr %arrayidx5, align 8
  %7 = bitcast double %call to i64
  call void @fly.native_call.put64(ptr %block, i64 %6, i64 %7)
  br label %cleanup

if.end6:                                          ; preds = %if.end
  %conv = fptrunc double %call to float
  %arrayidx7 = getelementptr inbounds nuw i8, ptr %row, i64 16
  %8 = load i64, ptr %arrayidx7, align 8
  %9 = bitcast float %conv to i32
  call void @fly.native_call.put32(ptr %block, i64 %8, i32 %9)
  %10 = call float @llvm.fabs.f32(float %conv)
  %cmp8 = fcmp une float %10, 0x7FF0000000000000
  %11 = call double @llvm.fabs.f64(double %call)
  %cmp10 = fcmp oeq double %11, 0x7FF0000000000000
  %12 = select i1 %cmp8, i1 true, i1 %cmp10
  br label %cleanup

cleanup:                                          ; preds = %entry, %if.end6, %if.then4
  %retval.0 = phi i1 [ %12, %if.end6 ], [ true, %if.then4 ], [ false, %entry ]
  ret i1 %retval.0
}

define internal i1 @fly.native_call.take_stream(ptr %plan, ptr %row, ptr %given, ptr %block) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %row, i64 16
  %0 = load i64, ptr %arrayidx, align 8
  %1 = ptrtoint ptr %given to i64
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %plan, i64 48
  %2 = load i64, ptr %arrayidx1, align 8
  %cmp = icmp eq i64 %2, %1
  br i1 %cmp, label %if.then, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %entry
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %row, i64 56
  %3 = load i64, ptr %arrayidx2, align 8
  %cmp3 = icmp eq i64 %3, %1
  br i1 %cmp3, label %if.then, label %if.end

if.then:                                          ; preds = %lor.lhs.false, %entry
  call void @fly.native_call.put64(ptr %block, i64 %0, i64 0)
  br label %cleanup

if.end:                                           ; preds = %lor.lhs.false
  %type = getelementptr inbounds nuw i8, ptr %given, i64 8
  %4 = load ptr, ptr %type, align 8
  %5 = ptrtoint ptr %4 to i64
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %row, i64 24
  %6 = load i64, ptr %arrayidx4, align 8
  %cmp5.not = icmp eq i64 %6, %5
  br i1 %cmp5.not, label %if.end7, label %cleanup

if.end7:                                          ; preds = %if.end
  %arrayidx8 = getelementptr inbounds nuw i8, ptr %row, i64 32
  %7 = load i64, ptr %arrayidx8, align 8
  %call = call i64 @fly.native_call.attribute(ptr %plan, ptr %given, i64 %7)
  %arrayidx9 = getelementptr inbounds nuw i8, ptr %row, i64 40
  %8 = load i64, ptr %arrayidx9, align 8
  %call10 = call i64 @fly.native_call.attribute(ptr %plan, ptr %given, i64 %8)
  call void @fly.native_call.put64(ptr %block, i64 %0, i64 %call)
  %arrayidx11 = getelementptr inbounds nuw i8, ptr %row, i64 48
  %9 = load i64, ptr %arrayidx11, align 8
  %cmp12 = icmp eq i64 %call10, %9
  %cmp13 = icmp ne i64 %call, -1
  %spec.select = select i1 %cmp12, i1 %cmp13, i1 false
  br label %cleanup

cleanup:                                          ; preds = %if.end, %if.end7, %if.then
  %retval.0 = phi i1 [ true, %if.then ], [ %spec.select, %if.end7 ], [ false, %if.end ]
  ret i1 %retval.0
}

define internal i1 @fly.native_call.take_adaptor(ptr %plan, ptr %row, ptr %inner, ptr %given, ptr %block) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %plan, i64 168
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %plan, i64 136
  %2 = load i64, ptr %arrayidx1, align 8
  %3 = inttoptr i64 %2 to ptr
  %type = getelementptr inbounds nuw i8, ptr %given, i64 8
  %4 = load ptr, ptr %type, align 8
  %5 = ptrtoint ptr %4 to i64
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %row, i64 16
  %6 = load i64, ptr %arrayidx2, align 8
  %cmp.not = icmp eq i64 %6, %5
  br i1 %cmp.not, label %if.end, label %cleanup26

if.end:                                           ; preds = %entry
  %arrayidx3 = getelementptr inbounds nuw i8, ptr %row, i64 32
  %7 = load i64, ptr %arrayidx3, align 8
  %8 = inttoptr i64 %7 to ptr
  %call = call ptr %1(ptr %given, ptr %8)
  %tobool.not = icmp eq ptr %call, null
  br i1 %tobool.not, label %if.then4, label %if.end6

if.then4:                                         ; preds = %if.end
  %call5 = call i1 @fly.native_call.clear_error(ptr %plan)
  br label %cleanup26

if.end6:                                          ; preds = %if.end
  %arrayidx7 = getelementptr inbounds nuw i8, ptr %plan, i64 184
  %9 = load i64, ptr %arrayidx7, align 8
  %10 = inttoptr i64 %9 to ptr
  %arrayidx8 = getelementptr inbounds nuw i8, ptr %row, i64 24
  %11 = load i64, ptr %arrayidx8, align 8
  %12 = inttoptr i64 %11 to ptr
  %call9 = call i32 %10(ptr nonnull %call, ptr %12, i32 2)
  call void %3(ptr nonnull %call)
  switch i32 %call9, label %cond.true [
    i32 1, label %if.end15
    i32 0, label %cleanup26
  ]

cond.true:                                        ; preds = %if.end6
  %call13 = call i1 @fly.native_call.clear_error(ptr %plan)
  br label %cleanup26

if.end15:                                         ; preds = %if.end6
  %arrayidx16 = getelementptr inbounds nuw i8, ptr %row, i64 40
  %13 = load i64, ptr %arrayidx16, align 8
  %14 = inttoptr i64 %13 to ptr
  %call17 = call ptr %1(ptr %given, ptr %14)
  %tobool18.not = icmp eq ptr %call17, null
  br i1 %tobool18.not, label %if.then19, label %if.end21

if.then19:                                        ; preds = %if.end15
  %call20 = call i1 @fly.native_call.clear_error(ptr %plan)
  br label %cleanup26

if.end21:                                         ; preds = %if.end15
  %call22 = call i1 @fly.native_call.take_tensor(ptr %plan, ptr %inner, ptr nonnull %call17, ptr %block)
  call void %3(ptr nonnull %call17)
  br label %cleanup26

cleanup26:                                        ; preds = %cond.true, %if.end6, %if.then4, %if.then19, %if.end21, %entry
  %retval.0 = phi i1 [ false, %entry ], [ %call5, %if.then4 ], [ %call20, %if.then19 ], [ %call22, %if.end21 ], [ %call13, %cond.true ], [ false, %if.end6 ]
  ret i1 %retval.0
}

define internal i1 @fly.native_call.clear_error(ptr %plan) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %plan, i64 144
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  call void %1()
  ret i1 false
}

define internal i1 @fly.native_call.is_plain(ptr %plan, ptr %tensor) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %plan, i64 112
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %plan, i64 32
  %2 = load i64, ptr %arrayidx1, align 8
  %3 = inttoptr i64 %2 to ptr
  %call = call ptr %1(ptr %3, ptr %tensor)
  %tobool.not = icmp eq ptr %call, null
  br i1 %tobool.not, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %call2 = call i1 @fly.native_call.clear_error(ptr %plan)
  br label %cleanup

if.end:                                           ; preds = %entry
  %arrayidx3 = getelementptr inbounds nuw i8, ptr %plan, i64 136
  %4 = load i64, ptr %arrayidx3, align 8
  %5 = inttoptr i64 %4 to ptr
  call void %5(ptr nonnull %call)
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %plan, i64 40
  %6 = load i64, ptr %arrayidx4, align 8
  %7 = inttoptr i64 %6 to ptr
  %cmp = icmp eq ptr %call, %7
  br label %cleanup

cleanup:                                          ; preds = %if.end, %if.then
  %retval.0 = phi i1 [ %cmp, %if.end ], [ %call2, %if.then ]
  ret i1 %retval.0
}

define internal i1 @fly.native_call.take_leaf(ptr %leaf, i64 %value, ptr %block) {
entry:
  %0 = load i64, ptr %leaf, align 8
  %cmp.not = icmp eq i64 %0, -1
  br i1 %cmp.not, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  %cmp2 = icmp eq i64 %0, %value
  br label %return

if.end:                                           ; preds = %entry
  %arrayidx3 = getelementptr inbounds nuw i8, ptr %leaf, i64 24
  %1 = load i64, ptr %arrayidx3, align 8
  %and = and i64 %value, %1
  %tobool.not = icmp eq i64 %and, 0
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %leaf, i64 16
  %2 = load i64, ptr %arrayidx4, align 8
  %cmp5 = icmp eq i64 %2, 8
  br i1 %cmp5, label %if.then6, label %if.end8

if.then6:                                         ; preds = %if.end
  %arrayidx7 = getelementptr inbounds nuw i8, ptr %leaf, i64 8
  %3 = load i64, ptr %arrayidx7, align 8
  call void @fly.native_call.put64(ptr %block, i64 %3, i64 %value)
  br label %return

if.end8:                                          ; preds = %if.end
  %arrayidx9 = getelementptr inbounds nuw i8, ptr %leaf, i64 8
  %4 = load i64, ptr %arrayidx9, align 8
  %conv = trunc i64 %value to i32
  call void @fly.native_call.put32(ptr %block, i64 %4, i32 %conv)
  br i1 %tobool.not, label %land.rhs, label %return

land.rhs:                                         ; preds = %if.end8
  %5 = add i64 %value, 2147483648
  %cmp14 = icmp ult i64 %5, 4294967296
  br label %return

return:                                           ; preds = %if.then6, %land.rhs, %if.end8, %if.then
  %retval.0 = phi i1 [ %cmp2, %if.then ], [ %tobool.not, %if.then6 ], [ false, %if.end8 ], [ %cmp14, %land.rhs ]
  ret i1 %retval.0
}

define internal void @fly.native_call.put32(ptr %block, i64 %place, i32 %value) {
entry:
  %add.ptr = getelementptr inbounds i8, ptr %block, i64 %place
  store i32 %value, ptr %add.ptr, align 1
  ret void
}

define internal i64 @fly.native_call.attribute(ptr %plan, ptr %object, i64 %name) {
entry:
  %overflow = alloca i32, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow)
  %arrayidx = getelementptr inbounds nuw i8, ptr %plan, i64 168
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  %2 = inttoptr i64 %name to ptr
  %call = call ptr %1(ptr %object, ptr %2)
  %tobool.not = icmp eq ptr %call, null
  br i1 %tobool.not, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %call1 = call i1 @fly.native_call.clear_error(ptr %plan)
  br label %cleanup

if.end:                                           ; preds = %entry
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %plan, i64 120
  %3 = load i64, ptr %arrayidx2, align 8
  %4 = inttoptr i64 %3 to ptr
  %call3 = call i64 %4(ptr nonnull %call, ptr nonnull %overflow)
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %plan, i64 136
  %5 = load i64, ptr %arrayidx4, align 8
  %6 = inttoptr i64 %5 to ptr
  call void %6(ptr nonnull %call)
  br label %cleanup

cleanup:                                          ; preds = %if.end, %if.then
  %retval.0 = phi i64 [ %call3, %if.end ], [ -1, %if.then ]
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow)
  ret i64 %retval.0
}


