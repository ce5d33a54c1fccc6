; Made from src/host_tensor_copy.c by `python -m flydsl.native.generate`.

define internal i64 @fly.tensor_end(ptr %tile) {
entry:
  %call = call i64 @fly.host_tensor_copy.element_count(ptr %tile)
  %tobool.not = icmp eq i64 %call, 0
  br i1 %tobool.not, label %cond.end, label %cond.true

cond.true:                                        ; preds = %entry
  %sub = add i64 %call, -1
  %call1 = call i64 @fly.host_tensor_copy.place_of(ptr %tile, i64 %sub)
  %arrayidx = getelementptr inbounds nuw i8, ptr %tile, i64 16
  %0 = load i64, ptr %arrayidx, align 8
  %add = add i64 %call1, %0
  br label %cond.end

cond.end:                                         ; preds = %entry, %cond.true
  %cond = phi i64 [ %add, %cond.true ], [ 0, %entry ]
  ret i64 %cond
}

define internal i64 @fly.host_tensor_copy.element_count(ptr %tile) {
entry:
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %count.0 = phi i64 [ 1, %entry ], [ %mul, %for.body ]
  %d.0 = phi i32 [ 0, %entry ], [ %inc, %for.body ]
  %cmp = icmp samesign ult i32 %d.0, 5
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %0 = zext nneg i32 %d.0 to i64
  %1 = getelementptr inbounds nuw i64, ptr %tile, i64 %0
  %arrayidx = getelementptr inbounds nuw i8, ptr %1, i64 80
  %2 = load i64, ptr %arrayidx, align 8
  %mul = mul i64 %count.0, %2
  %inc = add nuw nsw i32 %d.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  ret i64 %count.0
}

define internal i64 @fly.host_tensor_copy.place_of(ptr %tile, i64 %element) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %tile, i64 16
  %0 = load i64, ptr %arrayidx, align 8
  %mul = mul i64 %element, %0
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %tile, i64 24
  %1 = load i64, ptr %arrayidx1, align 8
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %tile, i64 8
  %2 = load i64, ptr %arrayidx2, align 8
  %tobool.not = icmp eq i64 %1, 0
  br i1 %tobool.not, label %cond.end, label %cond.true

cond.true:                                        ; preds = %entry
  %div = udiv i64 %mul, %1
  %arrayidx3 = getelementptr inbounds nuw i8, ptr %tile, i64 32
  %3 = load i64, ptr %arrayidx3, align 8
  %mul4 = mul i64 %div, %3
  br label %cond.end

cond.end:                                         ; preds = %entry, %cond.true
  %cond = phi i64 [ %mul4, %cond.true ], [ 0, %entry ]
  %add = add i64 %2, %mul
  %add5 = add i64 %add, %cond
  ret i64 %add5
}

define internal void @fly.tensor_copy(ptr %tile, ptr %shared, i1 %store) {
entry:
  %call = call i64 @fly.host_tensor_copy.element_count(ptr %tile)
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %element.0 = phi i64 [ 0, %entry ], [ %inc, %for.body ]
  %cmp = icmp ult i64 %element.0, %call
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  call void @fly.host_tensor_copy.move_element(ptr %tile, ptr %shared, i64 %element.0, i1 %store)
  %inc = add i64 %element.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  ret void
}

define internal void @fly.host_tensor_copy.move_element(ptr %tile, ptr %shared, i64 %element, i1 %store) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %tile, i64 16
  %0 = load i64, ptr %arrayidx, align 8
  br label %for.cond

for.cond:                                         ; preds = %cond.end, %entry
  %inside.0.off0 = phi i1 [ true, %entry ], [ %and30, %cond.end ]
  %d.0 = phi i32 [ 0, %entry ], [ %inc, %cond.end ]
  %offset.0 = phi i64 [ 0, %entry ], [ %add20, %cond.end ]
  %left.0 = phi i64 [ %element, %entry ], [ %div, %cond.end ]
  %cmp = icmp samesign ult i32 %d.0, 5
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %1 = zext nneg i32 %d.0 to i64
  %2 = getelementptr inbounds nuw i64, ptr %tile, i64 %1
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %2, i64 80
  %3 = load i64, ptr %arrayidx1, align 8
  %rem = urem i64 %left.0, %3
  %div = udiv i64 %left.0, %3
  %cmp5 = icmp eq i32 %d.0, 1
  br i1 %cmp5, label %land.lhs.true, label %if.end

land.lhs.true:                                    ; preds = %for.body
  %arrayidx6 = getelementptr inbounds nuw i8, ptr %tile, i64 152
  %4 = load i64, ptr %arrayidx6, align 8
  %tobool.not = icmp eq i64 %4, 0
  br i1 %tobool.not, label %if.end, label %if.then

if.then:                                          ; preds = %land.lhs.true
  %5 = getelementptr i64, ptr %tile, i64 %rem
  %arrayidx8 = getelementptr i8, ptr %5, i64 160
  %6 = load i64, ptr %arrayidx8, align 8
  br label %if.end

if.end:                                           ; preds = %if.then, %land.lhs.true, %for.body
  %at.0 = phi i64 [ %6, %if.then ], [ %rem, %land.lhs.true ], [ %rem, %for.body ]
  %7 = zext nneg i32 %d.0 to i64
  %8 = getelementptr inbounds nuw i64, ptr %tile, i64 %7
  %arrayidx11 = getelementptr inbounds nuw i8, ptr %8, i64 40
  %9 = load i64, ptr %arrayidx11, align 8
  %cmp12 = icmp ult i64 %at.0, %9
  %and30 = and i1 %inside.0.off0, %cmp12
  %tobool16.not = icmp eq i32 %d.0, 0
  br i1 %tobool16.not, label %cond.end, label %cond.true

cond.true:                                        ; preds = %if.end
  %10 = zext nneg i32 %d.0 to i64
  %11 = getelementptr inbounds nuw i64, ptr %tile, i64 %10
  %arrayidx19 = getelementptr inbounds nuw i8, ptr %11, i64 112
  %12 = load i64, ptr %arrayidx19, align 8
  %mul = mul i64 %at.0, %12
  br label %cond.end

cond.end:                                         ; preds = %if.end, %cond.true
  %cond = phi i64 [ %mul, %cond.true ], [ %at.0, %if.end ]
  %add20 = add i64 %offset.0, %cond
  %inc = add nuw nsw i32 %d.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  %13 = load i64, ptr %tile, align 8
  %mul22 = mul i64 %offset.0, %0
  %add23 = add i64 %13, %mul22
  %14 = inttoptr i64 %add23 to ptr
  %call = call i64 @fly.host_tensor_copy.place_of(ptr nonnull %tile, i64 %element)
  %add.ptr = getelementptr inbounds nuw i8, ptr %shared, i64 %call
  br i1 %store, label %if.then25, label %if.else

if.then25:                                        ; preds = %for.end
  br i1 %inside.0.off0, label %if.then27, label %if.end33

if.then27:                                        ; preds = %if.then25
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %14, ptr align 1 %add.ptr, i64 %0, i1 false)
  br label %if.end33

if.else:                                          ; preds = %for.end
  br i1 %inside.0.off0, label %if.then30, label %if.else31

if.then30:                                        ; preds = %if.else
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %add.ptr, ptr align 1 %14, i64 %0, i1 false)
  br label %if.end33

if.else31:                                        ; preds = %if.else
  call void @llvm.memset.p0.i64(ptr align 1 %add.ptr, i8 0, i64 %0, i1 false)
  br label %if.end33

if.end33:                                         ; preds = %if.then30, %if.else31, %if.then25, %if.then27
  ret void
}


