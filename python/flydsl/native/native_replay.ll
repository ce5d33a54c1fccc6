; Made from src/native_replay.c by `python -m flydsl.native.generate`.

%struct.Facts = type { i64, [320 x i64], [32 x i64] }
%struct.Tensor = type { i64, i64, i32, i32, ptr, ptr, i64 }

define ptr @fly_facts(ptr %self, ptr %args, i64 %count) {
entry:
  %facts = alloca %struct.Facts, align 8
  %call = call ptr @fly.native_replay.table_of(ptr %self)
  call void @llvm.lifetime.start.p0(ptr nonnull %facts)
  %call1 = call i1 @fly.native_replay.take_facts(ptr %call, ptr %args, i64 %count, ptr nonnull %facts)
  br i1 %call1, label %cond.true, label %cond.false

cond.true:                                        ; preds = %entry
  %call2 = call ptr @fly.native_replay.key_of(ptr %call, ptr nonnull %facts)
  br label %cond.end

cond.false:                                       ; preds = %entry
  %call3 = call ptr @fly.native_replay.none(ptr %call)
  br label %cond.end

cond.end:                                         ; preds = %cond.false, %cond.true
  %cond = phi ptr [ %call2, %cond.true ], [ %call3, %cond.false ]
  call void @llvm.lifetime.end.p0(ptr nonnull %facts)
  ret ptr %cond
}

define internal ptr @fly.native_replay.table_of(ptr %bytes) {
entry:
  %add.ptr = getelementptr inbounds nuw i8, ptr %bytes, i64 32
  ret ptr %add.ptr
}

define internal i1 @fly.native_replay.take_facts(ptr %python, ptr %args, i64 %count, ptr %facts) {
entry:
  store i64 0, ptr %facts, align 8
  %cmp = icmp sgt i64 %count, 16
  br i1 %cmp, label %return, label %for.cond

for.cond:                                         ; preds = %entry, %for.inc
  %i.0 = phi i64 [ %inc, %for.inc ], [ 0, %entry ]
  %retval.1 = phi i1 [ %retval.1., %for.inc ], [ undef, %entry ]
  %cmp2 = icmp slt i64 %i.0, %count
  br i1 %cmp2, label %for.body, label %cleanup27

for.body:                                         ; preds = %for.cond
  %arrayidx = getelementptr inbounds nuw ptr, ptr %args, i64 %i.0
  %0 = load ptr, ptr %arrayidx, align 8
  %type3 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %1 = load ptr, ptr %type3, align 8
  %2 = ptrtoint ptr %1 to i64
  %3 = load i64, ptr %python, align 8
  %cmp5 = icmp eq i64 %3, %2
  br i1 %cmp5, label %if.then8, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %for.body
  %arrayidx6 = getelementptr inbounds nuw i8, ptr %python, i64 8
  %4 = load i64, ptr %arrayidx6, align 8
  %cmp7 = icmp eq i64 %4, %2
  br i1 %cmp7, label %if.then8, label %if.else

if.then8:                                         ; preds = %lor.lhs.false, %for.body
  %call = call i1 @fly.native_replay.take_tensor(ptr nonnull %python, ptr %args, i64 %i.0, ptr nonnull %facts)
  br label %if.end23

if.else:                                          ; preds = %lor.lhs.false
  %arrayidx9 = getelementptr inbounds nuw i8, ptr %python, i64 32
  %5 = load i64, ptr %arrayidx9, align 8
  %cmp10 = icmp eq i64 %5, %2
  br i1 %cmp10, label %if.then14, label %lor.lhs.false11

lor.lhs.false11:                                  ; preds = %if.else
  %arrayidx12 = getelementptr inbounds nuw i8, ptr %python, i64 40
  %6 = load i64, ptr %arrayidx12, align 8
  %cmp13 = icmp eq i64 %6, %2
  br i1 %cmp13, label %if.then14, label %if.else18

if.then14:                                        ; preds = %lor.lhs.false11, %if.else
  %7 = load ptr, ptr %arrayidx, align 8
  %call16 = call i1 @fly.native_replay.take_tuple(ptr nonnull %python, ptr %7, ptr nonnull %facts)
  br label %if.end23

if.else18:                                        ; preds = %lor.lhs.false11
  %call20 = call i1 @fly.native_replay.take_plain(ptr nonnull %python, ptr %0, ptr nonnull %facts)
  br label %if.end23

if.end23:                                         ; preds = %if.then14, %if.else18, %if.then8
  %taken.0.in = phi i1 [ %call, %if.then8 ], [ %call16, %if.then14 ], [ %call20, %if.else18 ]
  %not.taken.0.in = xor i1 %taken.0.in, true
  %. = zext i1 %not.taken.0.in to i32
  %retval.1. = select i1 %taken.0.in, i1 %retval.1, i1 false
  br i1 %taken.0.in, label %for.inc, label %cleanup27

for.inc:                                          ; preds = %if.end23
  %inc = add nuw nsw i64 %i.0, 1
  br label %for.cond

cleanup27:                                        ; preds = %for.cond, %if.end23
  %cleanup.dest.slot.0 = phi i32 [ %., %if.end23 ], [ 2, %for.cond ]
  %retval.2 = phi i1 [ %retval.1., %if.end23 ], [ %retval.1, %for.cond ]
  switch i32 %cleanup.dest.slot.0, label %unreachable [
    i32 2, label %for.end
    i32 1, label %return
  ]

for.end:                                          ; preds = %cleanup27
  br label %return

return:                                           ; preds = %entry, %for.end, %cleanup27
  %retval.0 = phi i1 [ %retval.2, %cleanup27 ], [ true, %for.end ], [ false, %entry ]
  ret i1 %retval.0

unreachable:                                      ; preds = %cleanup27
  unreachable
}

define internal ptr @fly.native_replay.key_of(ptr %python, ptr %facts) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 256
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  %words = getelementptr inbounds nuw i8, ptr %facts, i64 8
  %2 = load i64, ptr %facts, align 8
  %mul = shl nsw i64 %2, 3
  %call = call ptr %1(ptr nonnull %words, i64 %mul)
  ret ptr %call
}

define internal ptr @fly.native_replay.none(ptr %python) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 48
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  %call = call ptr @fly.native_replay.keep(ptr %python, ptr %1)
  ret ptr %call
}

define ptr @fly_replay(ptr %self, ptr %args, i64 %count) {
entry:
  %call = call ptr @fly.native_replay.table_of(ptr %self)
  %0 = load i64, ptr %call, align 8
  %1 = inttoptr i64 %0 to ptr
  %call1 = call ptr @fly.native_replay.replayed(ptr %1, ptr nonnull %call, ptr %args, i64 %count)
  %call2 = call ptr @fly.native_replay.or_none(ptr %1, ptr %call1)
  ret ptr %call2
}

define internal ptr @fly.native_replay.or_none(ptr %python, ptr %found) {
entry:
  %tobool.not = icmp eq ptr %found, null
  br i1 %tobool.not, label %lor.lhs.false, label %return

lor.lhs.false:                                    ; preds = %entry
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 152
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  %call = call ptr %1()
  %tobool1.not = icmp eq ptr %call, null
  br i1 %tobool1.not, label %if.end, label %return

if.end:                                           ; preds = %lor.lhs.false
  %call2 = call ptr @fly.native_replay.none(ptr %python)
  br label %return

return:                                           ; preds = %entry, %lor.lhs.false, %if.end
  %retval.0 = phi ptr [ %call2, %if.end ], [ %found, %lor.lhs.false ], [ %found, %entry ]
  ret ptr %retval.0
}

define internal ptr @fly.native_replay.replayed(ptr %python, ptr %replay, ptr %args, i64 %count) {
entry:
  %facts = alloca %struct.Facts, align 8
  %arrayidx = getelementptr inbounds nuw i8, ptr %replay, i64 72
  %0 = load i64, ptr %arrayidx, align 8
  %add.ptr = getelementptr inbounds i64, ptr %replay, i64 %0
  call void @llvm.lifetime.start.p0(ptr nonnull %facts)
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %replay, i64 8
  %1 = load i64, ptr %arrayidx1, align 8
  %cmp.not = icmp eq i64 %count, %1
  br i1 %cmp.not, label %lor.lhs.false, label %cleanup14

lor.lhs.false:                                    ; preds = %entry
  %call = call i1 @fly.native_replay.take_facts(ptr %python, ptr %args, i64 %count, ptr nonnull %facts)
  br i1 %call, label %lor.lhs.false2, label %cleanup14

lor.lhs.false2:                                   ; preds = %lor.lhs.false
  %2 = load i64, ptr %facts, align 8
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %replay, i64 80
  %3 = load i64, ptr %arrayidx4, align 8
  %cmp5.not = icmp eq i64 %2, %3
  br i1 %cmp5.not, label %for.cond, label %cleanup14

for.cond:                                         ; preds = %lor.lhs.false2, %for.inc
  %i.0 = phi i64 [ %inc, %for.inc ], [ 0, %lor.lhs.false2 ]
  %4 = load i64, ptr %facts, align 8
  %cmp7.not = icmp slt i64 %i.0, %4
  br i1 %cmp7.not, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %words = getelementptr inbounds nuw i8, ptr %facts, i64 8
  %arrayidx8 = getelementptr inbounds nuw i64, ptr %words, i64 %i.0
  %5 = load i64, ptr %arrayidx8, align 8
  %arrayidx9 = getelementptr inbounds nuw i64, ptr %add.ptr, i64 %i.0
  %6 = load i64, ptr %arrayidx9, align 8
  %cmp10.not = icmp eq i64 %5, %6
  br i1 %cmp10.not, label %for.inc, label %cleanup

for.inc:                                          ; preds = %for.body
  %inc = add nuw nsw i64 %i.0, 1
  br label %for.cond

cleanup:                                          ; preds = %for.body
  br i1 %cmp7.not, label %cleanup14, label %for.end

for.end:                                          ; preds = %for.cond, %cleanup
  %addresses = getelementptr inbounds nuw i8, ptr %facts, i64 2568
  %call13 = call ptr @fly.native_replay.run(ptr %python, ptr %replay, ptr %args, ptr nonnull %addresses)
  br label %cleanup14

cleanup14:                                        ; preds = %entry, %lor.lhs.false, %lor.lhs.false2, %cleanup, %for.end
  %retval.0 = phi ptr [ %call13, %for.end ], [ null, %cleanup ], [ null, %lor.lhs.false2 ], [ null, %lor.lhs.false ], [ null, %entry ]
  call void @llvm.lifetime.end.p0(ptr nonnull %facts)
  ret ptr %retval.0
}

define ptr @fly_forward(ptr %self, ptr %args, i64 %count) {
entry:
  %call = call ptr @fly.native_replay.table_of(ptr %self)
  %0 = load i64, ptr %call, align 8
  %1 = inttoptr i64 %0 to ptr
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %1, i64 184
  %2 = load i64, ptr %arrayidx1, align 8
  %3 = inttoptr i64 %2 to ptr
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %args, i64 8
  %4 = load ptr, ptr %arrayidx2, align 8
  %arrayidx3 = getelementptr inbounds nuw i8, ptr %call, i64 8
  %5 = load i64, ptr %arrayidx3, align 8
  %6 = inttoptr i64 %5 to ptr
  %call4 = call ptr %3(ptr %4, ptr %6)
  %tobool.not = icmp eq ptr %call4, null
  br i1 %tobool.not, label %cleanup, label %if.end

if.end:                                           ; preds = %entry
  %7 = ptrtoint ptr %call4 to i64
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %1, i64 48
  %8 = load i64, ptr %arrayidx5, align 8
  %cmp.not = icmp eq i64 %8, %7
  br i1 %cmp.not, label %if.end9, label %if.then6

if.then6:                                         ; preds = %if.end
  %call7 = call ptr @fly.native_replay.table_of(ptr nonnull %call4)
  %add.ptr = getelementptr inbounds nuw i8, ptr %args, i64 16
  %sub = add nsw i64 %count, -2
  %call8 = call ptr @fly.native_replay.replayed(ptr %1, ptr %call7, ptr nonnull %add.ptr, i64 %sub)
  br label %if.end9

if.end9:                                          ; preds = %if.then6, %if.end
  %both.0 = phi ptr [ %call8, %if.then6 ], [ null, %if.end ]
  call void @fly.native_replay.release(ptr %1, ptr nonnull %call4)
  %tobool10.not = icmp eq ptr %both.0, null
  br i1 %tobool10.not, label %if.then11, label %if.end20

if.then11:                                        ; preds = %if.end9
  %arrayidx12 = getelementptr inbounds nuw i8, ptr %1, i64 152
  %9 = load i64, ptr %arrayidx12, align 8
  %10 = inttoptr i64 %9 to ptr
  %call13 = call ptr %10()
  %tobool14.not = icmp eq ptr %call13, null
  br i1 %tobool14.not, label %if.end16, label %cleanup

if.end16:                                         ; preds = %if.then11
  %arrayidx17 = getelementptr inbounds nuw i8, ptr %1, i64 176
  %11 = load i64, ptr %arrayidx17, align 8
  %12 = inttoptr i64 %11 to ptr
  %arrayidx18 = getelementptr inbounds nuw i8, ptr %call, i64 32
  %13 = load i64, ptr %arrayidx18, align 8
  %14 = inttoptr i64 %13 to ptr
  %call19 = call ptr %12(ptr %14, ptr %args, i64 %count, ptr null)
  br label %cleanup

if.end20:                                         ; preds = %if.end9
  %arrayidx21 = getelementptr inbounds nuw i8, ptr %1, i64 232
  %15 = load i64, ptr %arrayidx21, align 8
  %16 = inttoptr i64 %15 to ptr
  %arrayidx22 = getelementptr inbounds nuw i8, ptr %1, i64 192
  %17 = load i64, ptr %arrayidx22, align 8
  %18 = inttoptr i64 %17 to ptr
  %19 = load ptr, ptr %args, align 8
  %arrayidx24 = getelementptr inbounds nuw i8, ptr %call, i64 16
  %20 = load i64, ptr %arrayidx24, align 8
  %21 = inttoptr i64 %20 to ptr
  %call25 = call ptr %16(ptr nonnull %both.0, i64 1)
  %call26 = call i32 %18(ptr %19, ptr %21, ptr %call25)
  %tobool27.not = icmp eq i32 %call26, 0
  br i1 %tobool27.not, label %land.lhs.true, label %if.end36

land.lhs.true:                                    ; preds = %if.end20
  %22 = load ptr, ptr %args, align 8
  %arrayidx29 = getelementptr inbounds nuw i8, ptr %call, i64 24
  %23 = load i64, ptr %arrayidx29, align 8
  %24 = inttoptr i64 %23 to ptr
  %25 = load ptr, ptr %arrayidx2, align 8
  %call31 = call i32 %18(ptr %22, ptr %24, ptr %25)
  %tobool32.not = icmp eq i32 %call31, 0
  br i1 %tobool32.not, label %if.then33, label %if.end36

if.then33:                                        ; preds = %land.lhs.true
  %call34 = call ptr %16(ptr nonnull %both.0, i64 0)
  %call35 = call ptr @fly.native_replay.keep(ptr %1, ptr %call34)
  br label %if.end36

if.end36:                                         ; preds = %if.then33, %land.lhs.true, %if.end20
  %found.0 = phi ptr [ null, %if.end20 ], [ null, %land.lhs.true ], [ %call35, %if.then33 ]
  call void @fly.native_replay.release(ptr %1, ptr nonnull %both.0)
  br label %cleanup

cleanup:                                          ; preds = %if.then11, %entry, %if.end36, %if.end16
  %retval.0 = phi ptr [ %found.0, %if.end36 ], [ null, %entry ], [ %call19, %if.end16 ], [ null, %if.then11 ]
  ret ptr %retval.0
}

define internal void @fly.native_replay.release(ptr %python, ptr %object) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 136
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  call void %1(ptr %object)
  ret void
}

define internal ptr @fly.native_replay.keep(ptr %python, ptr %object) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 128
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  call void %1(ptr %object)
  ret ptr %object
}

define ptr @fly_again(ptr %self, ptr %args, i64 %count) {
entry:
  %facts = alloca %struct.Facts, align 8
  %call = call ptr @fly.native_replay.table_of(ptr %self)
  %0 = load i64, ptr %call, align 8
  %1 = inttoptr i64 %0 to ptr
  call void @llvm.lifetime.start.p0(ptr nonnull %facts)
  %call1 = call i1 @fly.native_replay.take_facts(ptr %1, ptr %args, i64 %count, ptr nonnull %facts)
  br i1 %call1, label %if.end, label %if.then

if.then:                                          ; preds = %entry
  %call2 = call ptr @fly.native_replay.none(ptr %1)
  br label %cleanup16

if.end:                                           ; preds = %entry
  %call3 = call ptr @fly.native_replay.key_of(ptr %1, ptr nonnull %facts)
  %tobool.not = icmp eq ptr %call3, null
  br i1 %tobool.not, label %cleanup16, label %if.end5

if.end5:                                          ; preds = %if.end
  %arrayidx6 = getelementptr inbounds nuw i8, ptr %1, i64 264
  %2 = load i64, ptr %arrayidx6, align 8
  %3 = inttoptr i64 %2 to ptr
  %arrayidx7 = getelementptr inbounds nuw i8, ptr %call, i64 8
  %4 = load i64, ptr %arrayidx7, align 8
  %5 = inttoptr i64 %4 to ptr
  %call8 = call ptr %3(ptr %5, ptr nonnull %call3)
  call void @fly.native_replay.release(ptr %1, ptr nonnull %call3)
  %tobool9.not = icmp eq ptr %call8, null
  br i1 %tobool9.not, label %if.then10, label %if.end12

if.then10:                                        ; preds = %if.end5
  %call11 = call ptr @fly.native_replay.or_none(ptr %1, ptr null)
  br label %cleanup16

if.end12:                                         ; preds = %if.end5
  %call13 = call ptr @fly.native_replay.keep(ptr %1, ptr nonnull %call8)
  %call14 = call ptr @fly.native_replay.follow(ptr %1, ptr nonnull %call, ptr nonnull %call8, ptr %args, ptr nonnull %facts)
  call void @fly.native_replay.release(ptr %1, ptr nonnull %call8)
  br label %cleanup16

cleanup16:                                        ; preds = %if.end, %if.end12, %if.then10, %if.then
  %retval.0 = phi ptr [ %call2, %if.then ], [ null, %if.end ], [ %call14, %if.end12 ], [ %call11, %if.then10 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %facts)
  ret ptr %retval.0
}

define internal ptr @fly.native_replay.follow(ptr %python, ptr %site, ptr %lane, ptr %args, ptr %facts) {
entry:
  %given = alloca [17 x ptr], align 16
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 232
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  %call = call i1 @fly.native_replay.wants_gradient(ptr %python, ptr %site, ptr %args)
  br i1 %call, label %if.end8, label %if.then

if.then:                                          ; preds = %entry
  %call1 = call ptr %1(ptr %lane, i64 0)
  %2 = ptrtoint ptr %call1 to i64
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %python, i64 48
  %3 = load i64, ptr %arrayidx2, align 8
  %cmp = icmp eq i64 %3, %2
  br i1 %cmp, label %if.then3, label %if.end

if.then3:                                         ; preds = %if.then
  %call4 = call ptr @fly.native_replay.none(ptr %python)
  br label %cleanup35

if.end:                                           ; preds = %if.then
  %call5 = call ptr @fly.native_replay.table_of(ptr %call1)
  %addresses = getelementptr inbounds nuw i8, ptr %facts, i64 2568
  %call6 = call ptr @fly.native_replay.run(ptr %python, ptr %call5, ptr %args, ptr nonnull %addresses)
  %call7 = call ptr @fly.native_replay.or_none(ptr %python, ptr %call6)
  br label %cleanup35

if.end8:                                          ; preds = %entry
  call void @llvm.lifetime.start.p0(ptr nonnull %given)
  %call9 = call ptr %1(ptr %lane, i64 1)
  store ptr %call9, ptr %given, align 16
  %4 = ptrtoint ptr %call9 to i64
  %arrayidx13 = getelementptr inbounds nuw i8, ptr %python, i64 48
  %5 = load i64, ptr %arrayidx13, align 8
  %cmp14 = icmp eq i64 %5, %4
  br i1 %cmp14, label %if.then18, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %if.end8
  %arrayidx11 = getelementptr inbounds nuw i8, ptr %python, i64 160
  %6 = load i64, ptr %arrayidx11, align 8
  %7 = inttoptr i64 %6 to ptr
  %arrayidx15 = getelementptr inbounds nuw i8, ptr %site, i64 32
  %8 = load i64, ptr %arrayidx15, align 8
  %9 = inttoptr i64 %8 to ptr
  %call16 = call ptr %7(ptr %9)
  %call17 = call i1 @fly.native_replay.is_true(ptr %python, ptr %call16)
  br i1 %call17, label %if.then18, label %for.cond

if.then18:                                        ; preds = %lor.lhs.false, %if.end8
  %call19 = call ptr @fly.native_replay.none(ptr %python)
  br label %cleanup33

for.cond:                                         ; preds = %lor.lhs.false, %for.body
  %i.0 = phi i64 [ %add, %for.body ], [ 0, %lor.lhs.false ]
  %arrayidx21 = getelementptr inbounds nuw i8, ptr %site, i64 16
  %10 = load i64, ptr %arrayidx21, align 8
  %cmp22 = icmp slt i64 %i.0, %10
  br i1 %cmp22, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %arrayidx23 = getelementptr inbounds nuw ptr, ptr %args, i64 %i.0
  %11 = load ptr, ptr %arrayidx23, align 8
  %add = add nuw nsw i64 %i.0, 1
  %arrayidx24 = getelementptr inbounds nuw ptr, ptr %given, i64 %add
  store ptr %11, ptr %arrayidx24, align 8
  br label %for.cond

for.end:                                          ; preds = %for.cond
  %arrayidx26 = getelementptr inbounds nuw i8, ptr %python, i64 176
  %12 = load i64, ptr %arrayidx26, align 8
  %13 = inttoptr i64 %12 to ptr
  %arrayidx27 = getelementptr inbounds nuw i8, ptr %site, i64 24
  %14 = load i64, ptr %arrayidx27, align 8
  %15 = inttoptr i64 %14 to ptr
  %add30 = add i64 %10, 1
  %call31 = call ptr %13(ptr %15, ptr nonnull %given, i64 %add30, ptr null)
  br label %cleanup33

cleanup33:                                        ; preds = %for.end, %if.then18
  %retval.2 = phi ptr [ %call19, %if.then18 ], [ %call31, %for.end ]
  call void @llvm.lifetime.end.p0(ptr nonnull %given)
  br label %cleanup35

cleanup35:                                        ; preds = %if.then3, %if.end, %cleanup33
  %retval.1 = phi ptr [ %retval.2, %cleanup33 ], [ %call4, %if.then3 ], [ %call7, %if.end ]
  ret ptr %retval.1
}

define internal i1 @fly.native_replay.take_tensor(ptr %python, ptr %args, i64 %at, ptr %facts) {
entry:
  %found = alloca %struct.Tensor, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %found)
  %arrayidx = getelementptr inbounds ptr, ptr %args, i64 %at
  %0 = load ptr, ptr %arrayidx, align 8
  %call = call i1 @fly.native_replay.read_tensor(ptr %python, ptr %0, ptr nonnull %found)
  br i1 %call, label %lor.lhs.false, label %cleanup61

lor.lhs.false:                                    ; preds = %entry
  %strides = getelementptr inbounds nuw i8, ptr %found, i64 32
  %1 = load ptr, ptr %strides, align 8
  %tobool.not = icmp eq ptr %1, null
  br i1 %tobool.not, label %cleanup61, label %lor.lhs.false1

lor.lhs.false1:                                   ; preds = %lor.lhs.false
  %2 = load i64, ptr %facts, align 8
  %add = add nsw i64 %2, 4
  %rank = getelementptr inbounds nuw i8, ptr %found, i64 16
  %3 = load i32, ptr %rank, align 8
  %mul = shl i32 %3, 1
  %conv = zext i32 %mul to i64
  %add2 = add nsw i64 %add, %conv
  %cmp = icmp sgt i64 %add2, 320
  br i1 %cmp, label %cleanup61, label %if.end

if.end:                                           ; preds = %lor.lhs.false1
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %python, i64 168
  %4 = load i64, ptr %arrayidx5, align 8
  %5 = inttoptr i64 %4 to ptr
  %arrayidx6 = getelementptr inbounds nuw i8, ptr %python, i64 72
  %6 = load i64, ptr %arrayidx6, align 8
  %7 = inttoptr i64 %6 to ptr
  %8 = load ptr, ptr %arrayidx, align 8
  %call8 = call ptr %5(ptr %7, ptr %8)
  %tobool9.not = icmp eq ptr %call8, null
  br i1 %tobool9.not, label %if.then10, label %if.end12

if.then10:                                        ; preds = %if.end
  %call11 = call i1 @fly.native_replay.clear_error(ptr %python)
  br label %cleanup61

if.end12:                                         ; preds = %if.end
  call void @fly.native_replay.release(ptr %python, ptr nonnull %call8)
  %9 = load i64, ptr %found, align 8
  %offset = getelementptr inbounds nuw i8, ptr %found, i64 40
  %10 = load i64, ptr %offset, align 8
  %add13 = add i64 %9, %10
  %arrayidx14 = getelementptr inbounds nuw i8, ptr %python, i64 64
  %11 = load i64, ptr %arrayidx14, align 8
  %12 = inttoptr i64 %11 to ptr
  %cmp15 = icmp ne ptr %call8, %12
  %rem = and i64 %add13, 15
  %tobool18 = icmp ne i64 %rem, 0
  %or.cond = select i1 %cmp15, i1 true, i1 %tobool18
  br i1 %or.cond, label %cleanup61, label %lor.lhs.false19

lor.lhs.false19:                                  ; preds = %if.end12
  %arrayidx20 = getelementptr inbounds nuw i8, ptr %python, i64 120
  %13 = load i64, ptr %arrayidx20, align 8
  %cmp21 = icmp ult i64 %add13, %13
  br i1 %cmp21, label %cleanup61, label %if.end24

if.end24:                                         ; preds = %lor.lhs.false19
  %words25 = getelementptr inbounds nuw i8, ptr %facts, i64 8
  %14 = load i64, ptr %facts, align 8
  %add.ptr = getelementptr inbounds i64, ptr %words25, i64 %14
  br label %while.cond

while.cond:                                       ; preds = %while.body, %if.end24
  %twin.0 = phi i64 [ 0, %if.end24 ], [ %inc, %while.body ]
  %arrayidx27 = getelementptr inbounds nuw ptr, ptr %args, i64 %twin.0
  %15 = load ptr, ptr %arrayidx27, align 8
  %16 = load ptr, ptr %arrayidx, align 8
  %cmp29.not = icmp eq ptr %15, %16
  br i1 %cmp29.not, label %while.end, label %while.body

while.body:                                       ; preds = %while.cond
  %inc = add nuw nsw i64 %twin.0, 1
  br label %while.cond

while.end:                                        ; preds = %while.cond
  %addresses = getelementptr inbounds nuw i8, ptr %facts, i64 2568
  %arrayidx31 = getelementptr inbounds i64, ptr %addresses, i64 %at
  store i64 %add13, ptr %arrayidx31, align 8
  %17 = load i32, ptr %rank, align 8
  %conv33 = zext i32 %17 to i64
  store i64 %conv33, ptr %add.ptr, align 8
  %dtype = getelementptr inbounds nuw i8, ptr %found, i64 20
  %18 = load i32, ptr %dtype, align 4
  %conv35 = zext i32 %18 to i64
  %arrayidx36 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 8
  store i64 %conv35, ptr %arrayidx36, align 8
  %device = getelementptr inbounds nuw i8, ptr %found, i64 8
  %19 = load i64, ptr %device, align 8
  %arrayidx37 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 16
  store i64 %19, ptr %arrayidx37, align 8
  %arrayidx38 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 24
  store i64 %twin.0, ptr %arrayidx38, align 8
  br label %for.cond

for.cond:                                         ; preds = %for.body, %while.end
  %i.0 = phi i64 [ 0, %while.end ], [ %inc52, %for.body ]
  %20 = load i32, ptr %rank, align 8
  %conv40 = zext i32 %20 to i64
  %cmp41 = icmp samesign ult i64 %i.0, %conv40
  br i1 %cmp41, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %shape = getelementptr inbounds nuw i8, ptr %found, i64 24
  %21 = load ptr, ptr %shape, align 8
  %arrayidx43 = getelementptr inbounds nuw i64, ptr %21, i64 %i.0
  %22 = load i64, ptr %arrayidx43, align 8
  %mul44 = shl nuw nsw i64 %i.0, 1
  %23 = getelementptr inbounds nuw i64, ptr %add.ptr, i64 %mul44
  %arrayidx46 = getelementptr inbounds nuw i8, ptr %23, i64 32
  store i64 %22, ptr %arrayidx46, align 8
  %24 = load ptr, ptr %strides, align 8
  %arrayidx48 = getelementptr inbounds nuw i64, ptr %24, i64 %i.0
  %25 = load i64, ptr %arrayidx48, align 8
  %26 = getelementptr inbounds nuw i64, ptr %add.ptr, i64 %mul44
  %arrayidx51 = getelementptr inbounds nuw i8, ptr %26, i64 40
  store i64 %25, ptr %arrayidx51, align 8
  %inc52 = add nuw nsw i64 %i.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  %mul55 = shl nuw nsw i64 %conv40, 1
  %add56 = add nuw nsw i64 %mul55, 4
  %27 = load i64, ptr %facts, align 8
  %add58 = add nsw i64 %27, %add56
  store i64 %add58, ptr %facts, align 8
  br label %cleanup61

cleanup61:                                        ; preds = %if.then10, %if.end12, %lor.lhs.false19, %for.end, %entry, %lor.lhs.false, %lor.lhs.false1
  %retval.0 = phi i1 [ false, %entry ], [ false, %lor.lhs.false1 ], [ false, %lor.lhs.false ], [ %call11, %if.then10 ], [ true, %for.end ], [ false, %lor.lhs.false19 ], [ false, %if.end12 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %found)
  ret i1 %retval.0
}

define internal i1 @fly.native_replay.take_tuple(ptr %python, ptr %given, ptr %facts) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 224
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  %call = call i64 %1(ptr %given)
  %2 = load i64, ptr %facts, align 8
  %cmp = icmp sgt i64 %2, 318
  br i1 %cmp, label %cleanup14, label %if.end

if.end:                                           ; preds = %entry
  %words1 = getelementptr inbounds nuw i8, ptr %facts, i64 8
  %add.ptr = getelementptr inbounds i64, ptr %words1, i64 %2
  store i64 -4, ptr %add.ptr, align 8
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 8
  store i64 %call, ptr %arrayidx5, align 8
  %3 = load i64, ptr %facts, align 8
  %add7 = add nsw i64 %3, 2
  store i64 %add7, ptr %facts, align 8
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %if.end
  %i.0 = phi i64 [ 0, %if.end ], [ %inc, %for.inc ]
  %cmp8 = icmp sge i64 %i.0, %call
  br i1 %cmp8, label %cleanup14, label %for.body

for.body:                                         ; preds = %for.cond
  %arrayidx9 = getelementptr inbounds nuw i8, ptr %python, i64 232
  %4 = load i64, ptr %arrayidx9, align 8
  %5 = inttoptr i64 %4 to ptr
  %call10 = call ptr %5(ptr %given, i64 %i.0)
  %call11 = call i1 @fly.native_replay.take_plain(ptr %python, ptr %call10, ptr nonnull %facts)
  br i1 %call11, label %for.inc, label %cleanup14

for.inc:                                          ; preds = %for.body
  %inc = add nuw nsw i64 %i.0, 1
  br label %for.cond

cleanup14:                                        ; preds = %for.cond, %for.body, %entry
  %retval.0 = phi i1 [ false, %entry ], [ %cmp8, %for.body ], [ %cmp8, %for.cond ]
  ret i1 %retval.0
}

define internal i1 @fly.native_replay.take_plain(ptr %python, ptr %given, ptr %facts) {
entry:
  %overflow = alloca i32, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow)
  %type1 = getelementptr inbounds nuw i8, ptr %given, i64 8
  %0 = load ptr, ptr %type1, align 8
  %1 = ptrtoint ptr %0 to i64
  %words2 = getelementptr inbounds nuw i8, ptr %facts, i64 8
  %2 = load i64, ptr %facts, align 8
  %add.ptr = getelementptr inbounds i64, ptr %words2, i64 %2
  %3 = ptrtoint ptr %given to i64
  %cmp = icmp sgt i64 %2, 318
  br i1 %cmp, label %cleanup, label %if.end

if.end:                                           ; preds = %entry
  %add = add nsw i64 %2, 2
  store i64 %add, ptr %facts, align 8
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 48
  %4 = load i64, ptr %arrayidx, align 8
  %cmp6 = icmp eq i64 %4, %3
  br i1 %cmp6, label %if.then12, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %if.end
  %arrayidx7 = getelementptr inbounds nuw i8, ptr %python, i64 56
  %5 = load i64, ptr %arrayidx7, align 8
  %cmp8 = icmp eq i64 %5, %3
  br i1 %cmp8, label %if.then12, label %lor.lhs.false9

lor.lhs.false9:                                   ; preds = %lor.lhs.false
  %arrayidx10 = getelementptr inbounds nuw i8, ptr %python, i64 64
  %6 = load i64, ptr %arrayidx10, align 8
  %cmp11 = icmp eq i64 %6, %3
  br i1 %cmp11, label %if.then12, label %if.else

if.then12:                                        ; preds = %lor.lhs.false9, %lor.lhs.false, %if.end
  store i64 -3, ptr %add.ptr, align 8
  %arrayidx14 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 8
  store i64 %3, ptr %arrayidx14, align 8
  br label %cleanup

if.else:                                          ; preds = %lor.lhs.false9
  %arrayidx15 = getelementptr inbounds nuw i8, ptr %python, i64 16
  %7 = load i64, ptr %arrayidx15, align 8
  %cmp16 = icmp eq i64 %7, %1
  br i1 %cmp16, label %if.then17, label %if.else21

if.then17:                                        ; preds = %if.else
  store i64 -1, ptr %add.ptr, align 8
  %arrayidx19 = getelementptr inbounds nuw i8, ptr %python, i64 200
  %8 = load i64, ptr %arrayidx19, align 8
  %9 = inttoptr i64 %8 to ptr
  %call = call i64 %9(ptr %given, ptr nonnull %overflow)
  %arrayidx20 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 8
  store i64 %call, ptr %arrayidx20, align 8
  %10 = load i32, ptr %overflow, align 4
  %tobool.not = icmp eq i32 %10, 0
  br label %cleanup

if.else21:                                        ; preds = %if.else
  %arrayidx22 = getelementptr inbounds nuw i8, ptr %python, i64 24
  %11 = load i64, ptr %arrayidx22, align 8
  %cmp23 = icmp eq i64 %11, %1
  br i1 %cmp23, label %if.then24, label %cleanup

if.then24:                                        ; preds = %if.else21
  %arrayidx25 = getelementptr inbounds nuw i8, ptr %python, i64 208
  %12 = load i64, ptr %arrayidx25, align 8
  %13 = inttoptr i64 %12 to ptr
  %call26 = call double %13(ptr %given)
  store i64 -2, ptr %add.ptr, align 8
  %arrayidx28 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 8
  store double %call26, ptr %arrayidx28, align 8
  br label %cleanup

cleanup:                                          ; preds = %if.then12, %if.then24, %if.else21, %entry, %if.then17
  %retval.0 = phi i1 [ false, %entry ], [ false, %if.else21 ], [ %tobool.not, %if.then17 ], [ true, %if.then24 ], [ true, %if.then12 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow)
  ret i1 %retval.0
}

define internal i1 @fly.native_replay.read_tensor(ptr %python, ptr %given, ptr %found) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 112
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  %call = call i32 %1(ptr %given, ptr %found)
  %tobool.not = icmp eq i32 %call, 0
  br i1 %tobool.not, label %return, label %if.then

if.then:                                          ; preds = %entry
  %call1 = call i1 @fly.native_replay.clear_error(ptr %python)
  br label %return

return:                                           ; preds = %entry, %if.then
  %retval.0 = phi i1 [ %call1, %if.then ], [ true, %entry ]
  ret i1 %retval.0
}

define internal i1 @fly.native_replay.clear_error(ptr %python) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 144
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  call void %1()
  ret i1 false
}

define internal ptr @fly.native_replay.run(ptr %python, ptr %replay, ptr %args, ptr %addresses) {
entry:
  %buffers = alloca [32 x ptr], align 16
  call void @llvm.lifetime.start.p0(ptr nonnull %buffers)
  %arrayidx = getelementptr inbounds nuw i8, ptr %replay, i64 8
  %0 = load i64, ptr %arrayidx, align 8
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %replay, i64 16
  %1 = load i64, ptr %arrayidx1, align 8
  %add.ptr = getelementptr inbounds nuw i8, ptr %replay, i64 88
  %add.ptr2.idx = shl nsw i64 %1, 4
  %add.ptr2 = getelementptr inbounds i8, ptr %add.ptr, i64 %add.ptr2.idx
  %arrayidx3 = getelementptr inbounds nuw i8, ptr %replay, i64 48
  %2 = load i64, ptr %arrayidx3, align 8
  %. = call i64 @llvm.smax.i64(i64 %2, i64 0)
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %replay, i64 32
  %3 = load i64, ptr %arrayidx5, align 8
  %add.ptr6 = getelementptr inbounds i64, ptr %add.ptr2, i64 %3
  %add.ptr7 = getelementptr inbounds nuw i64, ptr %add.ptr6, i64 %.
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %i.0 = phi i64 [ 0, %entry ], [ %inc, %for.body ]
  %cmp8 = icmp slt i64 %i.0, %0
  br i1 %cmp8, label %for.body, label %for.cond12

for.body:                                         ; preds = %for.cond
  %arrayidx9 = getelementptr inbounds nuw ptr, ptr %args, i64 %i.0
  %4 = load ptr, ptr %arrayidx9, align 8
  %arrayidx10 = getelementptr inbounds nuw ptr, ptr %buffers, i64 %i.0
  store ptr %4, ptr %arrayidx10, align 8
  %inc = add nuw nsw i64 %i.0, 1
  br label %for.cond

for.cond12:                                       ; preds = %for.cond, %for.body15
  %known.0 = phi i64 [ %inc19, %for.body15 ], [ %0, %for.cond ]
  %good.0.off0 = phi i1 [ %call, %for.body15 ], [ true, %for.cond ]
  %i11.0 = phi i64 [ %inc21, %for.body15 ], [ 0, %for.cond ]
  %cmp13 = icmp slt i64 %i11.0, %1
  %spec.select = select i1 %cmp13, i1 %good.0.off0, i1 false
  br i1 %spec.select, label %for.body15, label %for.end22

for.body15:                                       ; preds = %for.cond12
  %arrayidx16 = getelementptr inbounds ptr, ptr %buffers, i64 %known.0
  store ptr null, ptr %arrayidx16, align 8
  %add.ptr18.idx = shl nsw i64 %i11.0, 4
  %add.ptr18 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 %add.ptr18.idx
  %call = call i1 @fly.native_replay.make(ptr %python, ptr nonnull %add.ptr18, ptr nonnull %buffers, i64 %known.0, ptr %addresses)
  %inc19 = add nsw i64 %known.0, 1
  %inc21 = add nuw nsw i64 %i11.0, 1
  br label %for.cond12

for.end22:                                        ; preds = %for.cond12
  br i1 %good.0.off0, label %if.then, label %if.end

if.then:                                          ; preds = %for.end22
  %call24 = call i64 @fly.native_replay.stream_of(ptr %python, ptr %replay)
  %cmp25 = icmp ne i64 %call24, -1
  br label %if.end

if.end:                                           ; preds = %if.then, %for.end22
  %stream.0 = phi i64 [ %call24, %if.then ], [ -1, %for.end22 ]
  %good.1.off0 = phi i1 [ %cmp25, %if.then ], [ false, %for.end22 ]
  br label %for.cond28

for.cond28:                                       ; preds = %for.body35, %if.end
  %launched.0 = phi ptr [ %add.ptr7, %if.end ], [ %add.ptr40, %for.body35 ]
  %good.2.off0 = phi i1 [ %good.1.off0, %if.end ], [ %call36, %for.body35 ]
  %i27.0 = phi i64 [ 0, %if.end ], [ %inc42, %for.body35 ]
  %arrayidx29 = getelementptr inbounds nuw i8, ptr %replay, i64 24
  %5 = load i64, ptr %arrayidx29, align 8
  %cmp30 = icmp slt i64 %i27.0, %5
  %spec.select37 = select i1 %cmp30, i1 %good.2.off0, i1 false
  br i1 %spec.select37, label %for.body35, label %for.end43

for.body35:                                       ; preds = %for.cond28
  %call36 = call i1 @fly.native_replay.launch(ptr %python, ptr %launched.0, ptr %addresses, i64 %stream.0)
  %arrayidx38 = getelementptr inbounds nuw i8, ptr %launched.0, i64 80
  %6 = load i64, ptr %arrayidx38, align 8
  %.idx = mul i64 %6, 24
  %7 = getelementptr i8, ptr %launched.0, i64 %.idx
  %add.ptr40 = getelementptr i8, ptr %7, i64 88
  %inc42 = add nuw nsw i64 %i27.0, 1
  br label %for.cond28

for.end43:                                        ; preds = %for.cond28
  br i1 %good.2.off0, label %if.then45, label %if.end48

if.then45:                                        ; preds = %for.end43
  %call47 = call ptr @fly.native_replay.results(ptr %python, ptr %replay, ptr nonnull %add.ptr2, ptr nonnull %buffers)
  br label %if.end48

if.end48:                                         ; preds = %if.then45, %for.end43
  %found.0 = phi ptr [ %call47, %if.then45 ], [ null, %for.end43 ]
  br label %for.cond50

for.cond50:                                       ; preds = %for.inc58, %if.end48
  %i49.0 = phi i64 [ %0, %if.end48 ], [ %inc59, %for.inc58 ]
  %cmp51 = icmp slt i64 %i49.0, %known.0
  br i1 %cmp51, label %for.body53, label %for.end60

for.body53:                                       ; preds = %for.cond50
  %arrayidx54 = getelementptr inbounds ptr, ptr %buffers, i64 %i49.0
  %8 = load ptr, ptr %arrayidx54, align 8
  %tobool.not = icmp eq ptr %8, null
  br i1 %tobool.not, label %for.inc58, label %if.then55

if.then55:                                        ; preds = %for.body53
  call void @fly.native_replay.release(ptr %python, ptr nonnull %8)
  br label %for.inc58

for.inc58:                                        ; preds = %for.body53, %if.then55
  %inc59 = add nsw i64 %i49.0, 1
  br label %for.cond50

for.end60:                                        ; preds = %for.cond50
  call void @llvm.lifetime.end.p0(ptr nonnull %buffers)
  ret ptr %found.0
}

define internal i1 @fly.native_replay.make(ptr %python, ptr %row, ptr %buffers, i64 %at, ptr %addresses) {
entry:
  %found = alloca %struct.Tensor, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %found)
  %0 = load i64, ptr %row, align 8
  %cmp = icmp slt i64 %0, 0
  br i1 %cmp, label %cond.true, label %cond.false

cond.true:                                        ; preds = %entry
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %row, i64 8
  %1 = load i64, ptr %arrayidx1, align 8
  %2 = inttoptr i64 %1 to ptr
  br label %cond.end

cond.false:                                       ; preds = %entry
  %arrayidx3 = getelementptr inbounds nuw ptr, ptr %buffers, i64 %0
  %3 = load ptr, ptr %arrayidx3, align 8
  br label %cond.end

cond.end:                                         ; preds = %cond.false, %cond.true
  %cond = phi ptr [ %2, %cond.true ], [ %3, %cond.false ]
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %python, i64 168
  %4 = load i64, ptr %arrayidx4, align 8
  %5 = inttoptr i64 %4 to ptr
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %python, i64 104
  %6 = load i64, ptr %arrayidx5, align 8
  %7 = inttoptr i64 %6 to ptr
  %call = call ptr %5(ptr %7, ptr %cond)
  %tobool.not = icmp eq ptr %call, null
  br i1 %tobool.not, label %cleanup, label %if.end

if.end:                                           ; preds = %cond.end
  %arrayidx6 = getelementptr inbounds ptr, ptr %buffers, i64 %at
  store ptr %call, ptr %arrayidx6, align 8
  %call7 = call i1 @fly.native_replay.read_tensor(ptr %python, ptr nonnull %call, ptr nonnull %found)
  br i1 %call7, label %if.end9, label %cleanup

if.end9:                                          ; preds = %if.end
  %8 = load i64, ptr %found, align 8
  %offset = getelementptr inbounds nuw i8, ptr %found, i64 40
  %9 = load i64, ptr %offset, align 8
  %add = add i64 %8, %9
  %arrayidx10 = getelementptr inbounds i64, ptr %addresses, i64 %at
  store i64 %add, ptr %arrayidx10, align 8
  br label %cleanup

cleanup:                                          ; preds = %if.end, %cond.end, %if.end9
  %retval.0 = phi i1 [ true, %if.end9 ], [ false, %cond.end ], [ false, %if.end ]
  call void @llvm.lifetime.end.p0(ptr nonnull %found)
  ret i1 %retval.0
}

define internal i64 @fly.native_replay.stream_of(ptr %python, ptr %replay) {
entry:
  %overflow = alloca i32, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow)
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 168
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %replay, i64 56
  %2 = load i64, ptr %arrayidx1, align 8
  %3 = inttoptr i64 %2 to ptr
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %replay, i64 64
  %4 = load i64, ptr %arrayidx2, align 8
  %5 = inttoptr i64 %4 to ptr
  %call3 = call ptr %1(ptr %3, ptr %5)
  %tobool.not = icmp eq ptr %call3, null
  br i1 %tobool.not, label %cleanup, label %if.end

if.end:                                           ; preds = %entry
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %python, i64 48
  %6 = load i64, ptr %arrayidx4, align 8
  %7 = inttoptr i64 %6 to ptr
  %cmp = icmp eq ptr %call3, %7
  br i1 %cmp, label %cond.end, label %cond.false

cond.false:                                       ; preds = %if.end
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %python, i64 200
  %8 = load i64, ptr %arrayidx5, align 8
  %9 = inttoptr i64 %8 to ptr
  %call6 = call i64 %9(ptr nonnull %call3, ptr nonnull %overflow)
  br label %cond.end

cond.end:                                         ; preds = %if.end, %cond.false
  %cond = phi i64 [ %call6, %cond.false ], [ 0, %if.end ]
  call void @fly.native_replay.release(ptr %python, ptr nonnull %call3)
  br label %cleanup

cleanup:                                          ; preds = %entry, %cond.end
  %retval.0 = phi i64 [ %cond, %cond.end ], [ -1, %entry ]
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow)
  ret i64 %retval.0
}

define internal i1 @fly.native_replay.launch(ptr %python, ptr %launched, ptr %addresses, i64 %stream) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %launched, i64 64
  %0 = load i64, ptr %arrayidx, align 8
  %call = call i64 @fly.native_replay.report_of(ptr %python, ptr %launched)
  %tobool.not = icmp eq i64 %call, 0
  br i1 %tobool.not, label %cleanup42, label %if.end

if.end:                                           ; preds = %entry
  %1 = alloca i8, i64 %0, align 16
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %launched, i64 56
  %2 = load i64, ptr %arrayidx1, align 8
  %3 = inttoptr i64 %2 to ptr
  br label %for.cond

for.cond:                                         ; preds = %for.body, %if.end
  %i.0 = phi i64 [ 0, %if.end ], [ %add, %for.body ]
  %cmp = icmp slt i64 %i.0, %0
  br i1 %cmp, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %add.ptr = getelementptr inbounds nuw i8, ptr %3, i64 %i.0
  %4 = load i64, ptr %add.ptr, align 1
  call void @fly.native_replay.put64(ptr nonnull %1, i64 %i.0, i64 %4)
  %add = add nuw nsw i64 %i.0, 8
  br label %for.cond

for.end:                                          ; preds = %for.cond
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %launched, i64 72
  %5 = load i64, ptr %arrayidx2, align 8
  call void @fly.native_replay.put64(ptr nonnull %1, i64 %5, i64 %stream)
  br label %for.cond4

for.cond4:                                        ; preds = %for.body8, %for.end
  %i3.0 = phi i64 [ 0, %for.end ], [ %inc, %for.body8 ]
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %launched, i64 80
  %6 = load i64, ptr %arrayidx5, align 8
  %cmp6 = icmp slt i64 %i3.0, %6
  br i1 %cmp6, label %for.body8, label %for.end17

for.body8:                                        ; preds = %for.cond4
  %add.ptr9 = getelementptr inbounds nuw i8, ptr %launched, i64 88
  %add.ptr10.idx = mul nuw nsw i64 %i3.0, 24
  %add.ptr10 = getelementptr inbounds nuw i8, ptr %add.ptr9, i64 %add.ptr10.idx
  %7 = load i64, ptr %add.ptr10, align 8
  %arrayidx12 = getelementptr inbounds nuw i8, ptr %add.ptr10, i64 8
  %8 = load i64, ptr %arrayidx12, align 8
  %arrayidx13 = getelementptr inbounds i64, ptr %addresses, i64 %8
  %9 = load i64, ptr %arrayidx13, align 8
  %arrayidx14 = getelementptr inbounds nuw i8, ptr %add.ptr10, i64 16
  %10 = load i64, ptr %arrayidx14, align 8
  %add15 = add nsw i64 %9, %10
  call void @fly.native_replay.put64(ptr nonnull %1, i64 %7, i64 %add15)
  %inc = add nuw nsw i64 %i3.0, 1
  br label %for.cond4

for.end17:                                        ; preds = %for.cond4
  %arrayidx18 = getelementptr inbounds nuw i8, ptr %python, i64 272
  %11 = load i64, ptr %arrayidx18, align 8
  %12 = inttoptr i64 %11 to ptr
  %call19 = call ptr %12()
  %call20 = call i32 @fly.native_replay.enter(ptr %launched, ptr nonnull %1, i64 %call)
  %arrayidx21 = getelementptr inbounds nuw i8, ptr %python, i64 280
  %13 = load i64, ptr %arrayidx21, align 8
  %14 = inttoptr i64 %13 to ptr
  call void %14(ptr %call19)
  switch i32 %call20, label %if.end26 [
    i32 -1000000, label %if.then24
    i32 0, label %if.then24
  ]

if.then24:                                        ; preds = %for.end17, %for.end17
  %tobool22.not = icmp eq i32 %call20, 0
  br label %cleanup42

if.end26:                                         ; preds = %for.end17
  %arrayidx27 = getelementptr inbounds nuw i8, ptr %python, i64 216
  %15 = load i64, ptr %arrayidx27, align 8
  %16 = inttoptr i64 %15 to ptr
  %conv = sext i32 %call20 to i64
  %call28 = call ptr %16(i64 %conv)
  %tobool29.not = icmp eq ptr %call28, null
  br i1 %tobool29.not, label %cleanup42, label %if.then30

if.then30:                                        ; preds = %if.end26
  %arrayidx32 = getelementptr inbounds nuw i8, ptr %python, i64 168
  %17 = load i64, ptr %arrayidx32, align 8
  %18 = inttoptr i64 %17 to ptr
  %arrayidx33 = getelementptr inbounds nuw i8, ptr %launched, i64 24
  %19 = load i64, ptr %arrayidx33, align 8
  %20 = inttoptr i64 %19 to ptr
  %call34 = call ptr %18(ptr %20, ptr nonnull %call28)
  call void @fly.native_replay.release(ptr %python, ptr nonnull %call28)
  %tobool35.not = icmp eq ptr %call34, null
  br i1 %tobool35.not, label %cleanup42, label %if.then36

if.then36:                                        ; preds = %if.then30
  call void @fly.native_replay.release(ptr %python, ptr nonnull %call34)
  br label %cleanup42

cleanup42:                                        ; preds = %if.then24, %if.then30, %if.then36, %if.end26, %entry
  %retval.0 = phi i1 [ false, %entry ], [ %tobool22.not, %if.then24 ], [ false, %if.then30 ], [ false, %if.then36 ], [ false, %if.end26 ]
  ret i1 %retval.0
}

define internal ptr @fly.native_replay.results(ptr %python, ptr %replay, ptr %numbers, ptr %buffers) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %replay, i64 32
  %0 = load i64, ptr %arrayidx, align 8
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %replay, i64 48
  %1 = load i64, ptr %arrayidx1, align 8
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %replay, i64 40
  %2 = load i64, ptr %arrayidx2, align 8
  %tobool = icmp ne i64 %2, 0
  %call = call ptr @fly.native_replay.gathered(ptr %python, ptr %numbers, i64 %0, i1 %tobool, ptr %buffers)
  %cmp = icmp sgt i64 %1, -1
  %tobool3 = icmp ne ptr %call, null
  %or.cond = select i1 %cmp, i1 %tobool3, i1 false
  br i1 %or.cond, label %if.end, label %cleanup19

if.end:                                           ; preds = %entry
  %add.ptr = getelementptr inbounds i64, ptr %numbers, i64 %0
  %call4 = call ptr @fly.native_replay.gathered(ptr %python, ptr %add.ptr, i64 %1, i1 false, ptr %buffers)
  %tobool5.not = icmp eq ptr %call4, null
  br i1 %tobool5.not, label %cond.end, label %cond.true

cond.true:                                        ; preds = %if.end
  %arrayidx6 = getelementptr inbounds nuw i8, ptr %python, i64 240
  %3 = load i64, ptr %arrayidx6, align 8
  %4 = inttoptr i64 %3 to ptr
  %call7 = call ptr %4(i64 2)
  br label %cond.end

cond.end:                                         ; preds = %if.end, %cond.true
  %cond = phi ptr [ %call7, %cond.true ], [ null, %if.end ]
  %tobool8.not = icmp eq ptr %cond, null
  br i1 %tobool8.not, label %if.then9, label %if.end13

if.then9:                                         ; preds = %cond.end
  call void @fly.native_replay.release(ptr %python, ptr nonnull %call)
  br i1 %tobool5.not, label %cleanup19, label %if.then11

if.then11:                                        ; preds = %if.then9
  call void @fly.native_replay.release(ptr %python, ptr nonnull %call4)
  br label %cleanup19

if.end13:                                         ; preds = %cond.end
  %arrayidx14 = getelementptr inbounds nuw i8, ptr %python, i64 248
  %5 = load i64, ptr %arrayidx14, align 8
  %6 = inttoptr i64 %5 to ptr
  %call15 = call i32 %6(ptr nonnull %cond, i64 0, ptr nonnull %call)
  %7 = load i64, ptr %arrayidx14, align 8
  %8 = inttoptr i64 %7 to ptr
  %call17 = call i32 %8(ptr nonnull %cond, i64 1, ptr %call4)
  br label %cleanup19

cleanup19:                                        ; preds = %if.end13, %if.then11, %if.then9, %entry
  %retval.0 = phi ptr [ %call, %entry ], [ %cond, %if.end13 ], [ null, %if.then11 ], [ null, %if.then9 ]
  ret ptr %retval.0
}

define internal i64 @fly.native_replay.report_of(ptr %python, ptr %launched) {
entry:
  %overflow = alloca i32, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow)
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 184
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %launched, i64 8
  %2 = load i64, ptr %arrayidx1, align 8
  %3 = inttoptr i64 %2 to ptr
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %python, i64 96
  %4 = load i64, ptr %arrayidx2, align 8
  %5 = inttoptr i64 %4 to ptr
  %call = call ptr %1(ptr %3, ptr %5)
  %tobool.not = icmp eq ptr %call, null
  br i1 %tobool.not, label %if.then, label %if.end9

if.then:                                          ; preds = %entry
  %call3 = call i1 @fly.native_replay.clear_error(ptr %python)
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %python, i64 160
  %6 = load i64, ptr %arrayidx4, align 8
  %7 = inttoptr i64 %6 to ptr
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %launched, i64 16
  %8 = load i64, ptr %arrayidx5, align 8
  %9 = inttoptr i64 %8 to ptr
  %call6 = call ptr %7(ptr %9)
  %tobool7.not = icmp eq ptr %call6, null
  br i1 %tobool7.not, label %cleanup, label %if.end9

if.end9:                                          ; preds = %if.then, %entry
  %report.0 = phi ptr [ %call, %entry ], [ %call6, %if.then ]
  %arrayidx10 = getelementptr inbounds nuw i8, ptr %python, i64 200
  %10 = load i64, ptr %arrayidx10, align 8
  %11 = inttoptr i64 %10 to ptr
  %call11 = call i64 %11(ptr nonnull %report.0, ptr nonnull %overflow)
  call void @fly.native_replay.release(ptr %python, ptr nonnull %report.0)
  br label %cleanup

cleanup:                                          ; preds = %if.then, %if.end9
  %retval.0 = phi i64 [ %call11, %if.end9 ], [ 0, %if.then ]
  call void @llvm.lifetime.end.p0(ptr nonnull %overflow)
  ret i64 %retval.0
}

define internal void @fly.native_replay.put64(ptr %block, i64 %place, i64 %value) {
entry:
  %add.ptr = getelementptr inbounds i8, ptr %block, i64 %place
  store i64 %value, ptr %add.ptr, align 1
  ret void
}

define internal i32 @fly.native_replay.enter(ptr %launched, ptr %block, i64 %report) {
entry:
  %before = alloca i64, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %before)
  store i64 0, ptr %before, align 8
  %arrayidx = getelementptr inbounds nuw i8, ptr %launched, i64 48
  %0 = load i64, ptr %arrayidx, align 8
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %launched, i64 32
  %1 = load i64, ptr %arrayidx1, align 8
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %launched, i64 40
  %2 = load i64, ptr %arrayidx2, align 8
  %3 = inttoptr i64 %2 to ptr
  %4 = load i64, ptr %launched, align 8
  %5 = inttoptr i64 %4 to ptr
  %tobool.not = icmp eq i64 %1, 0
  br i1 %tobool.not, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %6 = inttoptr i64 %report to ptr
  %call = call i32 %5(ptr %block, ptr %6)
  br label %cleanup

if.end:                                           ; preds = %entry
  %7 = inttoptr i64 %1 to ptr
  %call5 = call i32 %7(ptr nonnull %before)
  %tobool6.not = icmp eq i32 %call5, 0
  br i1 %tobool6.not, label %lor.lhs.false, label %cleanup

lor.lhs.false:                                    ; preds = %if.end
  %8 = load i64, ptr %before, align 8
  %cmp.not = icmp eq i64 %8, %0
  br i1 %cmp.not, label %if.end10, label %land.lhs.true

land.lhs.true:                                    ; preds = %lor.lhs.false
  %call7 = call i32 %3(i64 %0)
  %tobool8.not = icmp eq i32 %call7, 0
  br i1 %tobool8.not, label %if.end10, label %cleanup

if.end10:                                         ; preds = %land.lhs.true, %lor.lhs.false
  %9 = inttoptr i64 %report to ptr
  %call11 = call i32 %5(ptr %block, ptr %9)
  %10 = load i64, ptr %before, align 8
  %cmp12.not = icmp eq i64 %10, %0
  br i1 %cmp12.not, label %cond.false, label %land.lhs.true13

land.lhs.true13:                                  ; preds = %if.end10
  %call14 = call i32 %3(i64 %10)
  %tobool15.not = icmp eq i32 %call14, 0
  br i1 %tobool15.not, label %cond.false, label %cleanup

cond.false:                                       ; preds = %land.lhs.true13, %if.end10
  br label %cleanup

cleanup:                                          ; preds = %cond.false, %land.lhs.true13, %if.end, %land.lhs.true, %if.then
  %retval.0 = phi i32 [ %call, %if.then ], [ -1000000, %if.end ], [ -1000000, %land.lhs.true ], [ %call11, %cond.false ], [ -1000000, %land.lhs.true13 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %before)
  ret i32 %retval.0
}

define internal ptr @fly.native_replay.gathered(ptr %python, ptr %numbers, i64 %count, i1 %alone, ptr %buffers) {
entry:
  br i1 %alone, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %0 = load i64, ptr %numbers, align 8
  %arrayidx1 = getelementptr inbounds ptr, ptr %buffers, i64 %0
  %1 = load ptr, ptr %arrayidx1, align 8
  %call = call ptr @fly.native_replay.keep(ptr %python, ptr %1)
  br label %return

if.end:                                           ; preds = %entry
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %python, i64 240
  %2 = load i64, ptr %arrayidx2, align 8
  %3 = inttoptr i64 %2 to ptr
  %call3 = call ptr %3(i64 %count)
  br label %for.cond

for.cond:                                         ; preds = %for.body, %if.end
  %i.0 = phi i64 [ 0, %if.end ], [ %inc, %for.body ]
  %tobool = icmp ne ptr %call3, null
  %cmp = icmp slt i64 %i.0, %count
  %spec.select = select i1 %tobool, i1 %cmp, i1 false
  br i1 %spec.select, label %for.body, label %return

for.body:                                         ; preds = %for.cond
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %python, i64 248
  %4 = load i64, ptr %arrayidx4, align 8
  %5 = inttoptr i64 %4 to ptr
  %arrayidx5 = getelementptr inbounds nuw i64, ptr %numbers, i64 %i.0
  %6 = load i64, ptr %arrayidx5, align 8
  %arrayidx6 = getelementptr inbounds ptr, ptr %buffers, i64 %6
  %7 = load ptr, ptr %arrayidx6, align 8
  %call7 = call ptr @fly.native_replay.keep(ptr %python, ptr %7)
  %call8 = call i32 %5(ptr nonnull %call3, i64 %i.0, ptr %call7)
  %inc = add nuw nsw i64 %i.0, 1
  br label %for.cond

return:                                           ; preds = %for.cond, %if.then
  %retval.0 = phi ptr [ %call, %if.then ], [ %call3, %for.cond ]
  ret ptr %retval.0
}

define internal i1 @fly.native_replay.wants_gradient(ptr %python, ptr %site, ptr %args) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %site, i64 16
  %0 = load i64, ptr %arrayidx, align 8
  %tobool.not = icmp eq i64 %0, 0
  br i1 %tobool.not, label %cleanup18, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %entry
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %python, i64 160
  %1 = load i64, ptr %arrayidx1, align 8
  %2 = inttoptr i64 %1 to ptr
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %python, i64 80
  %3 = load i64, ptr %arrayidx2, align 8
  %4 = inttoptr i64 %3 to ptr
  %call = call ptr %2(ptr %4)
  %call3 = call i1 @fly.native_replay.is_true(ptr %python, ptr %call)
  br i1 %call3, label %for.cond, label %cleanup18

for.cond:                                         ; preds = %lor.lhs.false, %for.inc
  %i.0 = phi i64 [ %inc, %for.inc ], [ 0, %lor.lhs.false ]
  %retval.1 = phi i1 [ %retval.3, %for.inc ], [ undef, %lor.lhs.false ]
  %cmp.not = icmp slt i64 %i.0, %0
  br i1 %cmp.not, label %for.body, label %cleanup18

for.body:                                         ; preds = %for.cond
  %arrayidx4 = getelementptr inbounds nuw ptr, ptr %args, i64 %i.0
  %5 = load ptr, ptr %arrayidx4, align 8
  %6 = ptrtoint ptr %5 to i64
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %python, i64 48
  %7 = load i64, ptr %arrayidx5, align 8
  %cmp6 = icmp eq i64 %7, %6
  br i1 %cmp6, label %for.inc, label %if.end8

if.end8:                                          ; preds = %for.body
  %arrayidx9 = getelementptr inbounds nuw i8, ptr %python, i64 184
  %8 = load i64, ptr %arrayidx9, align 8
  %9 = inttoptr i64 %8 to ptr
  %arrayidx11 = getelementptr inbounds nuw i8, ptr %python, i64 88
  %10 = load i64, ptr %arrayidx11, align 8
  %11 = inttoptr i64 %10 to ptr
  %call12 = call ptr %9(ptr %5, ptr %11)
  %call13 = call i1 @fly.native_replay.is_true(ptr %python, ptr %call12)
  %.retval.1 = select i1 %call13, i1 true, i1 %retval.1
  br i1 %call13, label %cleanup18, label %for.inc

for.inc:                                          ; preds = %if.end8, %for.body
  %retval.3 = phi i1 [ %retval.1, %for.body ], [ %.retval.1, %if.end8 ]
  %inc = add nuw nsw i64 %i.0, 1
  br label %for.cond

cleanup18:                                        ; preds = %if.end8, %for.cond, %entry, %lor.lhs.false
  %retval.0 = phi i1 [ false, %lor.lhs.false ], [ false, %entry ], [ %.retval.1, %if.end8 ], [ false, %for.cond ]
  ret i1 %retval.0
}

define internal i1 @fly.native_replay.is_true(ptr %python, ptr %answer) {
entry:
  %tobool.not = icmp eq ptr %answer, null
  br i1 %tobool.not, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %call = call i1 @fly.native_replay.clear_error(ptr %python)
  br label %return

if.end:                                           ; preds = %entry
  call void @fly.native_replay.release(ptr %python, ptr nonnull %answer)
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 56
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  %cmp = icmp eq ptr %answer, %1
  br label %return

return:                                           ; preds = %if.end, %if.then
  %retval.0 = phi i1 [ %cmp, %if.end ], [ %call, %if.then ]
  ret i1 %retval.0
}


