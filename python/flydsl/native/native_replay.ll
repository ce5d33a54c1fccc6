; Made from src/native_replay.c by `python -m flydsl.native.generate`.

%struct.anon = type { ptr, ptr, ptr }
%struct.Facts = type { i64, [320 x i64], [32 x i64] }
%struct.Tensor = type { i64, i64, i32, i32, ptr, ptr, i64 }

@fly.native_replay.handed = internal global %struct.anon zeroinitializer, align 8

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
  br i1 %cmp2, label %for.body, label %cleanup35

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
  br label %if.end31

if.else:                                          ; preds = %lor.lhs.false
  %arrayidx9 = getelementptr inbounds nuw i8, ptr %python, i64 40
  %5 = load i64, ptr %arrayidx9, align 8
  %cmp10 = icmp eq i64 %5, %2
  br i1 %cmp10, label %if.then14, label %lor.lhs.false11

lor.lhs.false11:                                  ; preds = %if.else
  %arrayidx12 = getelementptr inbounds nuw i8, ptr %python, i64 48
  %6 = load i64, ptr %arrayidx12, align 8
  %cmp13 = icmp eq i64 %6, %2
  br i1 %cmp13, label %if.then14, label %if.else18

if.then14:                                        ; preds = %lor.lhs.false11, %if.else
  %7 = load ptr, ptr %arrayidx, align 8
  %call16 = call i1 @fly.native_replay.take_tuple(ptr nonnull %python, ptr %7, ptr nonnull %facts)
  br label %if.end31

if.else18:                                        ; preds = %lor.lhs.false11
  %arrayidx19 = getelementptr inbounds nuw i8, ptr %python, i64 32
  %8 = load i64, ptr %arrayidx19, align 8
  %cmp20 = icmp eq i64 %8, %2
  br i1 %cmp20, label %if.then21, label %if.else25

if.then21:                                        ; preds = %if.else18
  %call23 = call i1 @fly.native_replay.take_text(ptr nonnull %python, ptr %0, ptr nonnull %facts)
  br label %if.end31

if.else25:                                        ; preds = %if.else18
  %call27 = call i1 @fly.native_replay.take_plain(ptr nonnull %python, ptr %0, ptr nonnull %facts)
  br label %if.end31

if.end31:                                         ; preds = %if.then14, %if.else25, %if.then21, %if.then8
  %taken.0.in = phi i1 [ %call, %if.then8 ], [ %call16, %if.then14 ], [ %call23, %if.then21 ], [ %call27, %if.else25 ]
  %not.taken.0.in = xor i1 %taken.0.in, true
  %. = zext i1 %not.taken.0.in to i32
  %retval.1. = select i1 %taken.0.in, i1 %retval.1, i1 false
  br i1 %taken.0.in, label %for.inc, label %cleanup35

for.inc:                                          ; preds = %if.end31
  %inc = add nuw nsw i64 %i.0, 1
  br label %for.cond

cleanup35:                                        ; preds = %for.cond, %if.end31
  %cleanup.dest.slot.0 = phi i32 [ %., %if.end31 ], [ 2, %for.cond ]
  %retval.2 = phi i1 [ %retval.1., %if.end31 ], [ %retval.1, %for.cond ]
  switch i32 %cleanup.dest.slot.0, label %unreachable [
    i32 2, label %for.end
    i32 1, label %return
  ]

for.end:                                          ; preds = %cleanup35
  br label %return

return:                                           ; preds = %entry, %for.end, %cleanup35
  %retval.0 = phi i1 [ %retval.2, %cleanup35 ], [ true, %for.end ], [ false, %entry ]
  ret i1 %retval.0

unreachable:                                      ; preds = %cleanup35
  unreachable
}

define internal ptr @fly.native_replay.key_of(ptr %python, ptr %facts) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 272
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
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 56
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
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 160
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
  %call = call ptr @fly.native_replay.take_handed(ptr %python, ptr %args, i64 %count)
  %tobool.not = icmp eq ptr %call, null
  br i1 %tobool.not, label %if.else, label %for.cond

for.cond:                                         ; preds = %if.end, %for.body
  %i.0 = phi i64 [ %inc, %for.body ], [ 0, %if.end ]
  %cmp4 = icmp slt i64 %i.0, %count
  br i1 %cmp4, label %for.body, label %if.end14

for.body:                                         ; preds = %for.cond
  %addresses = getelementptr inbounds nuw i8, ptr %call, i64 2568
  %arrayidx5 = getelementptr inbounds nuw i64, ptr %addresses, i64 %i.0
  %3 = load i64, ptr %arrayidx5, align 8
  %addresses6 = getelementptr inbounds nuw i8, ptr %own, i64 2568
  %arrayidx7 = getelementptr inbounds nuw i64, ptr %addresses6, i64 %i.0
  store i64 %3, ptr %arrayidx7, align 8
  %inc = add nuw nsw i64 %i.0, 1
  br label %for.cond

if.else:                                          ; preds = %if.end
  %call8 = call i1 @fly.native_replay.take_facts(ptr %python, ptr %args, i64 %count, ptr nonnull %own)
  %4 = load i64, ptr %own, align 8
  %cmp10 = icmp eq i64 %4, %1
  %or.cond = select i1 %call8, i1 %cmp10, i1 false
  br i1 %or.cond, label %if.end14, label %cleanup31

if.end14:                                         ; preds = %if.else, %for.cond
  %facts.0 = phi ptr [ %call, %for.cond ], [ %own, %if.else ]
  br label %for.cond16

for.cond16:                                       ; preds = %for.inc25, %if.end14
  %i15.0 = phi i64 [ 0, %if.end14 ], [ %inc26, %for.inc25 ]
  %cmp17.not = icmp slt i64 %i15.0, %1
  br i1 %cmp17.not, label %for.body19, label %for.end27

for.body19:                                       ; preds = %for.cond16
  %words = getelementptr inbounds nuw i8, ptr %facts.0, i64 8
  %arrayidx20 = getelementptr inbounds nuw i64, ptr %words, i64 %i15.0
  %5 = load i64, ptr %arrayidx20, align 8
  %arrayidx21 = getelementptr inbounds nuw i64, ptr %add.ptr, i64 %i15.0
  %6 = load i64, ptr %arrayidx21, align 8
  %cmp22.not = icmp eq i64 %5, %6
  br i1 %cmp22.not, label %for.inc25, label %cleanup

for.inc25:                                        ; preds = %for.body19
  %inc26 = add nuw nsw i64 %i15.0, 1
  br label %for.cond16

cleanup:                                          ; preds = %for.body19
  br i1 %cmp17.not, label %cleanup31, label %for.end27

for.end27:                                        ; preds = %for.cond16, %cleanup
  %addresses28 = getelementptr inbounds nuw i8, ptr %own, i64 2568
  %call29 = call ptr @fly.native_replay.run(ptr %python, ptr %replay, ptr %args, ptr nonnull %addresses28)
  br label %cleanup31

cleanup31:                                        ; preds = %for.end27, %cleanup, %if.else, %entry
  %retval.0 = phi ptr [ null, %entry ], [ null, %cleanup ], [ %call29, %for.end27 ], [ null, %if.else ]
  call void @llvm.lifetime.end.p0(ptr nonnull %own)
  ret ptr %retval.0
}

define ptr @fly_forward(ptr %self, ptr %args, i64 %count) {
entry:
  %call = call ptr @fly.native_replay.table_of(ptr %self)
  %0 = load i64, ptr %call, align 8
  %1 = inttoptr i64 %0 to ptr
  %2 = load i64, ptr %1, align 8
  %3 = inttoptr i64 %2 to ptr
  %add.ptr = getelementptr inbounds nuw i8, ptr %args, i64 8
  %sub = add nsw i64 %count, -1
  %call2 = call ptr @fly.native_replay.replayed(ptr %3, ptr nonnull %1, ptr nonnull %add.ptr, i64 %sub)
  %tobool.not = icmp eq ptr %call2, null
  br i1 %tobool.not, label %if.then, label %if.end10

if.then:                                          ; preds = %entry
  %arrayidx3 = getelementptr inbounds nuw i8, ptr %3, i64 160
  %4 = load i64, ptr %arrayidx3, align 8
  %5 = inttoptr i64 %4 to ptr
  %call4 = call ptr %5()
  %tobool5.not = icmp eq ptr %call4, null
  br i1 %tobool5.not, label %if.end, label %cleanup

if.end:                                           ; preds = %if.then
  %arrayidx7 = getelementptr inbounds nuw i8, ptr %3, i64 184
  %6 = load i64, ptr %arrayidx7, align 8
  %7 = inttoptr i64 %6 to ptr
  %arrayidx8 = getelementptr inbounds nuw i8, ptr %call, i64 16
  %8 = load i64, ptr %arrayidx8, align 8
  %9 = inttoptr i64 %8 to ptr
  %call9 = call ptr %7(ptr %9, ptr %args, i64 %count, ptr null)
  br label %cleanup

if.end10:                                         ; preds = %entry
  %arrayidx11 = getelementptr inbounds nuw i8, ptr %3, i64 248
  %10 = load i64, ptr %arrayidx11, align 8
  %11 = inttoptr i64 %10 to ptr
  %arrayidx12 = getelementptr inbounds nuw i8, ptr %3, i64 200
  %12 = load i64, ptr %arrayidx12, align 8
  %13 = inttoptr i64 %12 to ptr
  %14 = load ptr, ptr %args, align 8
  %arrayidx14 = getelementptr inbounds nuw i8, ptr %call, i64 8
  %15 = load i64, ptr %arrayidx14, align 8
  %16 = inttoptr i64 %15 to ptr
  %call15 = call ptr %11(ptr nonnull %call2, i64 1)
  %call16 = call i32 %13(ptr %14, ptr %16, ptr %call15)
  %tobool17.not = icmp eq i32 %call16, 0
  br i1 %tobool17.not, label %if.then18, label %if.end21

if.then18:                                        ; preds = %if.end10
  %call19 = call ptr %11(ptr nonnull %call2, i64 0)
  %call20 = call ptr @fly.native_replay.keep(ptr %3, ptr %call19)
  br label %if.end21

if.end21:                                         ; preds = %if.then18, %if.end10
  %found.0 = phi ptr [ null, %if.end10 ], [ %call20, %if.then18 ]
  call void @fly.native_replay.release(ptr %3, ptr nonnull %call2)
  br label %cleanup

cleanup:                                          ; preds = %if.then, %if.end21, %if.end
  %retval.0 = phi ptr [ %found.0, %if.end21 ], [ %call9, %if.end ], [ null, %if.then ]
  ret ptr %retval.0
}

define internal ptr @fly.native_replay.keep(ptr %python, ptr %object) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 136
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  call void %1(ptr %object)
  ret ptr %object
}

define internal void @fly.native_replay.release(ptr %python, ptr %object) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 144
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  call void %1(ptr %object)
  ret void
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
  %arrayidx6 = getelementptr inbounds nuw i8, ptr %1, i64 280
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
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 248
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  %call = call i1 @fly.native_replay.wants_gradient(ptr %python, ptr %site, ptr %args)
  br i1 %call, label %if.end8, label %if.then

if.then:                                          ; preds = %entry
  %call1 = call ptr %1(ptr %lane, i64 0)
  %2 = ptrtoint ptr %call1 to i64
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %python, i64 56
  %3 = load i64, ptr %arrayidx2, align 8
  %cmp = icmp eq i64 %3, %2
  br i1 %cmp, label %if.then3, label %if.end

if.then3:                                         ; preds = %if.then
  %call4 = call ptr @fly.native_replay.none(ptr %python)
  br label %cleanup30

if.end:                                           ; preds = %if.then
  %call5 = call ptr @fly.native_replay.table_of(ptr %call1)
  %addresses = getelementptr inbounds nuw i8, ptr %facts, i64 2568
  %call6 = call ptr @fly.native_replay.run(ptr %python, ptr %call5, ptr %args, ptr nonnull %addresses)
  %call7 = call ptr @fly.native_replay.or_none(ptr %python, ptr %call6)
  br label %cleanup30

if.end8:                                          ; preds = %entry
  %call9 = call ptr %1(ptr %lane, i64 1)
  %4 = ptrtoint ptr %call9 to i64
  %arrayidx11 = getelementptr inbounds nuw i8, ptr %python, i64 56
  %5 = load i64, ptr %arrayidx11, align 8
  %cmp12 = icmp eq i64 %5, %4
  br i1 %cmp12, label %if.then16, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %if.end8
  %arrayidx10 = getelementptr inbounds nuw i8, ptr %python, i64 168
  %6 = load i64, ptr %arrayidx10, align 8
  %7 = inttoptr i64 %6 to ptr
  %arrayidx13 = getelementptr inbounds nuw i8, ptr %site, i64 24
  %8 = load i64, ptr %arrayidx13, align 8
  %9 = inttoptr i64 %8 to ptr
  %call14 = call ptr %7(ptr %9)
  %call15 = call i1 @fly.native_replay.is_true(ptr %python, ptr %call14)
  br i1 %call15, label %if.then16, label %if.end18

if.then16:                                        ; preds = %lor.lhs.false, %if.end8
  %call17 = call ptr @fly.native_replay.none(ptr %python)
  br label %cleanup30

if.end18:                                         ; preds = %lor.lhs.false
  %arrayidx19 = getelementptr inbounds nuw i8, ptr %python, i64 288
  %10 = load i64, ptr %arrayidx19, align 8
  %11 = inttoptr i64 %10 to ptr
  %call20 = call ptr %11()
  store ptr %call20, ptr @fly.native_replay.handed, align 8
  store ptr %args, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), align 8
  store ptr %facts, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 16), align 8
  %arrayidx21 = getelementptr inbounds nuw i8, ptr %python, i64 184
  %12 = load i64, ptr %arrayidx21, align 8
  %13 = inttoptr i64 %12 to ptr
  %arrayidx22 = getelementptr inbounds nuw i8, ptr %site, i64 16
  %14 = load i64, ptr %arrayidx22, align 8
  %call23 = call ptr %13(ptr %call9, ptr %args, i64 %14, ptr null)
  %15 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), align 8
  %cmp24 = icmp eq ptr %15, %args
  br i1 %cmp24, label %if.then25, label %cleanup30

if.then25:                                        ; preds = %if.end18
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), align 8
  br label %cleanup30

cleanup30:                                        ; preds = %if.then16, %if.then25, %if.end18, %if.then3, %if.end
  %retval.1 = phi ptr [ %call7, %if.end ], [ %call4, %if.then3 ], [ %call17, %if.then16 ], [ %call23, %if.then25 ], [ %call23, %if.end18 ]
  ret ptr %retval.1
}

define internal i1 @fly.native_replay.take_tensor(ptr %python, ptr %args, i64 %at, ptr %facts) {
entry:
  %found = alloca %struct.Tensor, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %found)
  %arrayidx = getelementptr inbounds ptr, ptr %args, i64 %at
  %0 = load ptr, ptr %arrayidx, align 8
  %call = call i1 @fly.native_replay.read_tensor(ptr %python, ptr %0, ptr nonnull %found)
  br i1 %call, label %lor.lhs.false, label %cleanup52

lor.lhs.false:                                    ; preds = %entry
  %strides = getelementptr inbounds nuw i8, ptr %found, i64 32
  %1 = load ptr, ptr %strides, align 8
  %tobool.not = icmp eq ptr %1, null
  br i1 %tobool.not, label %cleanup52, label %lor.lhs.false1

lor.lhs.false1:                                   ; preds = %lor.lhs.false
  %2 = load i64, ptr %facts, align 8
  %add = add nsw i64 %2, 4
  %rank = getelementptr inbounds nuw i8, ptr %found, i64 16
  %3 = load i32, ptr %rank, align 8
  %mul = shl i32 %3, 1
  %conv = zext i32 %mul to i64
  %add2 = add nsw i64 %add, %conv
  %cmp = icmp sgt i64 %add2, 320
  br i1 %cmp, label %cleanup52, label %if.end

if.end:                                           ; preds = %lor.lhs.false1
  %4 = load i64, ptr %found, align 8
  %offset = getelementptr inbounds nuw i8, ptr %found, i64 40
  %5 = load i64, ptr %offset, align 8
  %add4 = add i64 %4, %5
  %rem = and i64 %add4, 15
  %tobool5.not = icmp eq i64 %rem, 0
  br i1 %tobool5.not, label %lor.lhs.false6, label %cleanup52

lor.lhs.false6:                                   ; preds = %if.end
  %call7 = call i64 @fly.native_replay.lowest(ptr %python, ptr nonnull %found)
  %cmp8 = icmp ult i64 %add4, %call7
  br i1 %cmp8, label %cleanup52, label %lor.lhs.false10

lor.lhs.false10:                                  ; preds = %lor.lhs.false6
  %dtype = getelementptr inbounds nuw i8, ptr %found, i64 20
  %6 = load i32, ptr %dtype, align 4
  %and = and i32 %6, 255
  %cmp11 = icmp eq i32 %and, 2
  br i1 %cmp11, label %land.lhs.true, label %if.end16

land.lhs.true:                                    ; preds = %lor.lhs.false10
  %7 = load ptr, ptr %arrayidx, align 8
  %call14 = call i1 @fly.native_replay.is_plain(ptr %python, ptr %7)
  br i1 %call14, label %if.end16, label %cleanup52

if.end16:                                         ; preds = %land.lhs.true, %lor.lhs.false10
  %words17 = getelementptr inbounds nuw i8, ptr %facts, i64 8
  %8 = load i64, ptr %facts, align 8
  %add.ptr = getelementptr inbounds i64, ptr %words17, i64 %8
  br label %while.cond

while.cond:                                       ; preds = %while.body, %if.end16
  %twin.0 = phi i64 [ 0, %if.end16 ], [ %inc, %while.body ]
  %arrayidx19 = getelementptr inbounds nuw ptr, ptr %args, i64 %twin.0
  %9 = load ptr, ptr %arrayidx19, align 8
  %10 = load ptr, ptr %arrayidx, align 8
  %cmp21.not = icmp eq ptr %9, %10
  br i1 %cmp21.not, label %while.end, label %while.body

while.body:                                       ; preds = %while.cond
  %inc = add nuw nsw i64 %twin.0, 1
  br label %while.cond

while.end:                                        ; preds = %while.cond
  %addresses = getelementptr inbounds nuw i8, ptr %facts, i64 2568
  %arrayidx23 = getelementptr inbounds i64, ptr %addresses, i64 %at
  store i64 %add4, ptr %arrayidx23, align 8
  %11 = load i32, ptr %rank, align 8
  %conv25 = zext i32 %11 to i64
  store i64 %conv25, ptr %add.ptr, align 8
  %12 = load i32, ptr %dtype, align 4
  %conv28 = zext i32 %12 to i64
  %arrayidx29 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 8
  store i64 %conv28, ptr %arrayidx29, align 8
  %device = getelementptr inbounds nuw i8, ptr %found, i64 8
  %13 = load i64, ptr %device, align 8
  %arrayidx30 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 16
  store i64 %13, ptr %arrayidx30, align 8
  %arrayidx31 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 24
  store i64 %twin.0, ptr %arrayidx31, align 8
  br label %for.cond

for.cond:                                         ; preds = %for.body, %while.end
  %i.0 = phi i64 [ 0, %while.end ], [ %inc45, %for.body ]
  %14 = load i32, ptr %rank, align 8
  %conv33 = zext i32 %14 to i64
  %cmp34 = icmp samesign ult i64 %i.0, %conv33
  br i1 %cmp34, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %shape = getelementptr inbounds nuw i8, ptr %found, i64 24
  %15 = load ptr, ptr %shape, align 8
  %arrayidx36 = getelementptr inbounds nuw i64, ptr %15, i64 %i.0
  %16 = load i64, ptr %arrayidx36, align 8
  %mul37 = shl nuw nsw i64 %i.0, 1
  %17 = getelementptr inbounds nuw i64, ptr %add.ptr, i64 %mul37
  %arrayidx39 = getelementptr inbounds nuw i8, ptr %17, i64 32
  store i64 %16, ptr %arrayidx39, align 8
  %18 = load ptr, ptr %strides, align 8
  %arrayidx41 = getelementptr inbounds nuw i64, ptr %18, i64 %i.0
  %19 = load i64, ptr %arrayidx41, align 8
  %20 = getelementptr inbounds nuw i64, ptr %add.ptr, i64 %mul37
  %arrayidx44 = getelementptr inbounds nuw i8, ptr %20, i64 40
  store i64 %19, ptr %arrayidx44, align 8
  %inc45 = add nuw nsw i64 %i.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  %mul48 = shl nuw nsw i64 %conv33, 1
  %add49 = add nuw nsw i64 %mul48, 4
  %21 = load i64, ptr %facts, align 8
  %add51 = add nsw i64 %21, %add49
  store i64 %add51, ptr %facts, align 8
  br label %cleanup52

cleanup52:                                        ; preds = %for.end, %land.lhs.true, %lor.lhs.false6, %if.end, %entry, %lor.lhs.false, %lor.lhs.false1
  %retval.0 = phi i1 [ false, %entry ], [ false, %lor.lhs.false1 ], [ false, %lor.lhs.false ], [ true, %for.end ], [ false, %land.lhs.true ], [ false, %lor.lhs.false6 ], [ false, %if.end ]
  call void @llvm.lifetime.end.p0(ptr nonnull %found)
  ret i1 %retval.0
}

define internal i1 @fly.native_replay.take_tuple(ptr %python, ptr %given, ptr %facts) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 240
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
  %arrayidx9 = getelementptr inbounds nuw i8, ptr %python, i64 248
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

define internal i1 @fly.native_replay.take_text(ptr %python, ptr %given, ptr %facts) {
entry:
  %bytes = alloca i64, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %bytes)
  %words1 = getelementptr inbounds nuw i8, ptr %facts, i64 8
  %0 = load i64, ptr %facts, align 8
  %add.ptr = getelementptr inbounds i64, ptr %words1, i64 %0
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 224
  %1 = load i64, ptr %arrayidx, align 8
  %2 = inttoptr i64 %1 to ptr
  %call = call ptr %2(ptr %given, ptr nonnull %bytes)
  %tobool.not = icmp eq ptr %call, null
  br i1 %tobool.not, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %call2 = call i1 @fly.native_replay.clear_error(ptr %python)
  br label %cleanup26

if.end:                                           ; preds = %entry
  %3 = load i64, ptr %bytes, align 8
  %add = add nsw i64 %3, 7
  %div = sdiv i64 %add, 8
  %add4 = add nsw i64 %div, 2
  %4 = load i64, ptr %facts, align 8
  %add6 = add nsw i64 %4, %add4
  %cmp = icmp sgt i64 %add6, 320
  br i1 %cmp, label %cleanup26, label %if.end8

if.end8:                                          ; preds = %if.end
  store i64 -5, ptr %add.ptr, align 8
  %5 = load i64, ptr %bytes, align 8
  %arrayidx10 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 8
  store i64 %5, ptr %arrayidx10, align 8
  br label %for.cond

for.cond:                                         ; preds = %for.body, %if.end8
  %i.0 = phi i64 [ 2, %if.end8 ], [ %inc, %for.body ]
  %cmp11 = icmp slt i64 %i.0, %add4
  br i1 %cmp11, label %for.body, label %for.cond14

for.body:                                         ; preds = %for.cond
  %arrayidx12 = getelementptr inbounds nuw i64, ptr %add.ptr, i64 %i.0
  store i64 0, ptr %arrayidx12, align 8
  %inc = add nuw nsw i64 %i.0, 1
  br label %for.cond

for.cond14:                                       ; preds = %for.cond, %for.body17
  %i13.0 = phi i64 [ %inc22, %for.body17 ], [ 0, %for.cond ]
  %6 = load i64, ptr %bytes, align 8
  %cmp15 = icmp slt i64 %i13.0, %6
  br i1 %cmp15, label %for.body17, label %for.end23

for.body17:                                       ; preds = %for.cond14
  %arrayidx18 = getelementptr inbounds nuw i8, ptr %call, i64 %i13.0
  %7 = load i8, ptr %arrayidx18, align 1
  %add.ptr19 = getelementptr inbounds nuw i8, ptr %add.ptr, i64 16
  %arrayidx20 = getelementptr inbounds nuw i8, ptr %add.ptr19, i64 %i13.0
  store i8 %7, ptr %arrayidx20, align 1
  %inc22 = add nuw nsw i64 %i13.0, 1
  br label %for.cond14

for.end23:                                        ; preds = %for.cond14
  %8 = load i64, ptr %facts, align 8
  %add25 = add nsw i64 %8, %add4
  store i64 %add25, ptr %facts, align 8
  br label %cleanup26

cleanup26:                                        ; preds = %for.end23, %if.end, %if.then
  %retval.0 = phi i1 [ %call2, %if.then ], [ true, %for.end23 ], [ false, %if.end ]
  call void @llvm.lifetime.end.p0(ptr nonnull %bytes)
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
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 56
  %4 = load i64, ptr %arrayidx, align 8
  %cmp6 = icmp eq i64 %4, %3
  br i1 %cmp6, label %if.then12, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %if.end
  %arrayidx7 = getelementptr inbounds nuw i8, ptr %python, i64 64
  %5 = load i64, ptr %arrayidx7, align 8
  %cmp8 = icmp eq i64 %5, %3
  br i1 %cmp8, label %if.then12, label %lor.lhs.false9

lor.lhs.false9:                                   ; preds = %lor.lhs.false
  %arrayidx10 = getelementptr inbounds nuw i8, ptr %python, i64 72
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
  %arrayidx19 = getelementptr inbounds nuw i8, ptr %python, i64 208
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
  %arrayidx25 = getelementptr inbounds nuw i8, ptr %python, i64 216
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
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 120
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

define internal i64 @fly.native_replay.lowest(ptr %python, ptr %found) {
entry:
  %device = getelementptr inbounds nuw i8, ptr %found, i64 8
  %0 = load i64, ptr %device, align 8
  %1 = and i64 %0, 4294967295
  %cmp = icmp eq i64 %1, 1
  br i1 %cmp, label %cond.end, label %cond.false

cond.false:                                       ; preds = %entry
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 128
  %2 = load i64, ptr %arrayidx, align 8
  br label %cond.end

cond.end:                                         ; preds = %entry, %cond.false
  %cond = phi i64 [ %2, %cond.false ], [ 65536, %entry ]
  ret i64 %cond
}

define internal i1 @fly.native_replay.is_plain(ptr %python, ptr %tensor) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 176
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %python, i64 80
  %2 = load i64, ptr %arrayidx1, align 8
  %3 = inttoptr i64 %2 to ptr
  %call = call ptr %1(ptr %3, ptr %tensor)
  %tobool.not = icmp eq ptr %call, null
  br i1 %tobool.not, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %call2 = call i1 @fly.native_replay.clear_error(ptr %python)
  br label %cleanup

if.end:                                           ; preds = %entry
  call void @fly.native_replay.release(ptr %python, ptr nonnull %call)
  %arrayidx3 = getelementptr inbounds nuw i8, ptr %python, i64 72
  %4 = load i64, ptr %arrayidx3, align 8
  %5 = inttoptr i64 %4 to ptr
  %cmp = icmp eq ptr %call, %5
  br label %cleanup

cleanup:                                          ; preds = %if.end, %if.then
  %retval.0 = phi i1 [ %cmp, %if.end ], [ %call2, %if.then ]
  ret i1 %retval.0
}

define internal i1 @fly.native_replay.clear_error(ptr %python) {
entry:
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 152
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  call void %1()
  ret i1 false
}

define internal ptr @fly.native_replay.take_handed(ptr %python, ptr %args, i64 %count) {
entry:
  %0 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), align 8
  %tobool.not = icmp eq ptr %0, null
  br i1 %tobool.not, label %return, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %entry
  %1 = load ptr, ptr @fly.native_replay.handed, align 8
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 288
  %2 = load i64, ptr %arrayidx, align 8
  %3 = inttoptr i64 %2 to ptr
  %call = call ptr %3()
  %cmp.not = icmp eq ptr %1, %call
  br i1 %cmp.not, label %for.cond, label %return

for.cond:                                         ; preds = %lor.lhs.false, %for.body
  %same.0.off0 = phi i1 [ %and5, %for.body ], [ true, %lor.lhs.false ]
  %i.0 = phi i64 [ %inc, %for.body ], [ 0, %lor.lhs.false ]
  %cmp1 = icmp slt i64 %i.0, %count
  br i1 %cmp1, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %4 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), align 8
  %arrayidx2 = getelementptr inbounds nuw ptr, ptr %4, i64 %i.0
  %5 = load ptr, ptr %arrayidx2, align 8
  %arrayidx3 = getelementptr inbounds nuw ptr, ptr %args, i64 %i.0
  %6 = load ptr, ptr %arrayidx3, align 8
  %cmp4 = icmp eq ptr %5, %6
  %and5 = and i1 %same.0.off0, %cmp4
  %inc = add nuw nsw i64 %i.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  store ptr null, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 8), align 8
  %7 = load ptr, ptr getelementptr inbounds nuw (i8, ptr @fly.native_replay.handed, i64 16), align 8
  %cond = select i1 %same.0.off0, ptr %7, ptr null
  br label %return

return:                                           ; preds = %entry, %lor.lhs.false, %for.end
  %retval.0 = phi ptr [ %cond, %for.end ], [ null, %lor.lhs.false ], [ null, %entry ]
  ret ptr %retval.0
}

define internal ptr @fly.native_replay.run(ptr %python, ptr %replay, ptr %args, ptr %addresses) {
entry:
  %buffers = alloca [32 x ptr], align 16
  call void @llvm.lifetime.start.p0(ptr nonnull %buffers)
  %arrayidx = getelementptr inbounds nuw i8, ptr %replay, i64 8
  %0 = load i64, ptr %arrayidx, align 8
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %replay, i64 48
  %1 = load i64, ptr %arrayidx1, align 8
  %. = call i64 @llvm.smax.i64(i64 %1, i64 0)
  %add.ptr = getelementptr inbounds nuw i8, ptr %replay, i64 96
  br label %for.cond

for.cond:                                         ; preds = %for.body, %entry
  %i.0 = phi i64 [ 0, %entry ], [ %inc, %for.body ]
  %cmp3 = icmp slt i64 %i.0, %0
  br i1 %cmp3, label %for.body, label %for.cond7

for.body:                                         ; preds = %for.cond
  %arrayidx4 = getelementptr inbounds nuw ptr, ptr %args, i64 %i.0
  %2 = load ptr, ptr %arrayidx4, align 8
  %arrayidx5 = getelementptr inbounds nuw ptr, ptr %buffers, i64 %i.0
  store ptr %2, ptr %arrayidx5, align 8
  %inc = add nuw nsw i64 %i.0, 1
  br label %for.cond

for.cond7:                                        ; preds = %for.cond, %if.end
  %row.0 = phi ptr [ %add.ptr15, %if.end ], [ %add.ptr, %for.cond ]
  %good.0.off0 = phi i1 [ %good.1.off0, %if.end ], [ true, %for.cond ]
  %i6.0 = phi i64 [ %inc17, %if.end ], [ 0, %for.cond ]
  %end.0 = phi i64 [ %end.1, %if.end ], [ %0, %for.cond ]
  %arrayidx8 = getelementptr inbounds nuw i8, ptr %replay, i64 16
  %3 = load i64, ptr %arrayidx8, align 8
  %cmp9 = icmp slt i64 %i6.0, %3
  br i1 %cmp9, label %for.body11, label %for.end18

for.body11:                                       ; preds = %for.cond7
  br i1 %good.0.off0, label %if.then, label %if.end

if.then:                                          ; preds = %for.body11
  %arrayidx12 = getelementptr inbounds ptr, ptr %buffers, i64 %end.0
  %arrayidx13 = getelementptr inbounds i64, ptr %addresses, i64 %end.0
  %call = call i1 @fly.native_replay.make(ptr %python, ptr nonnull %row.0, ptr nonnull %arrayidx12, ptr %arrayidx13)
  %inc14 = add nsw i64 %end.0, 1
  br label %if.end

if.end:                                           ; preds = %if.then, %for.body11
  %good.1.off0 = phi i1 [ %call, %if.then ], [ false, %for.body11 ]
  %end.1 = phi i64 [ %inc14, %if.then ], [ %end.0, %for.body11 ]
  %add.ptr15 = getelementptr inbounds nuw i8, ptr %row.0, i64 48
  %inc17 = add nuw nsw i64 %i6.0, 1
  br label %for.cond7

for.end18:                                        ; preds = %for.cond7
  %arrayidx19 = getelementptr inbounds nuw i8, ptr %replay, i64 32
  %4 = load i64, ptr %arrayidx19, align 8
  %add.ptr20 = getelementptr inbounds i64, ptr %row.0, i64 %4
  %add.ptr21 = getelementptr inbounds nuw i64, ptr %add.ptr20, i64 %.
  br i1 %good.0.off0, label %if.then23, label %if.end30

if.then23:                                        ; preds = %for.end18
  %arrayidx24 = getelementptr inbounds nuw i8, ptr %replay, i64 56
  %5 = load i64, ptr %arrayidx24, align 8
  %arrayidx25 = getelementptr inbounds nuw i8, ptr %replay, i64 64
  %6 = load i64, ptr %arrayidx25, align 8
  %7 = inttoptr i64 %6 to ptr
  %call26 = call ptr @fly.native_replay.keep(ptr %python, ptr %7)
  %call27 = call i64 @fly.native_replay.number_of(ptr %python, i64 %5, ptr %call26)
  %cmp28 = icmp ne i64 %call27, -1
  br label %if.end30

if.end30:                                         ; preds = %if.then23, %for.end18
  %stream.0 = phi i64 [ %call27, %if.then23 ], [ -1, %for.end18 ]
  %good.2.off0 = phi i1 [ %cmp28, %if.then23 ], [ false, %for.end18 ]
  br i1 %good.2.off0, label %land.lhs.true, label %if.end42

land.lhs.true:                                    ; preds = %if.end30
  %arrayidx32 = getelementptr inbounds nuw i8, ptr %replay, i64 72
  %8 = load i64, ptr %arrayidx32, align 8
  %tobool.not = icmp eq i64 %8, 0
  br i1 %tobool.not, label %if.end42, label %if.then33

if.then33:                                        ; preds = %land.lhs.true
  %arrayidx34 = getelementptr inbounds nuw i8, ptr %python, i64 232
  %9 = load i64, ptr %arrayidx34, align 8
  %10 = inttoptr i64 %9 to ptr
  %call35 = call ptr %10(i64 %stream.0)
  %11 = load i64, ptr %arrayidx32, align 8
  %call37 = call i64 @fly.native_replay.number_of(ptr %python, i64 %11, ptr %call35)
  %arrayidx38 = getelementptr inbounds i64, ptr %addresses, i64 %end.0
  store i64 %call37, ptr %arrayidx38, align 8
  %cmp40 = icmp ne i64 %call37, -1
  br label %if.end42

if.end42:                                         ; preds = %if.then33, %land.lhs.true, %if.end30
  %good.3.off0 = phi i1 [ %cmp40, %if.then33 ], [ true, %land.lhs.true ], [ false, %if.end30 ]
  br label %for.cond44

for.cond44:                                       ; preds = %for.body49, %if.end42
  %good.4.off0 = phi i1 [ %good.3.off0, %if.end42 ], [ %call50, %for.body49 ]
  %launched.0 = phi ptr [ %add.ptr21, %if.end42 ], [ %add.ptr53, %for.body49 ]
  %i43.0 = phi i64 [ 0, %if.end42 ], [ %inc55, %for.body49 ]
  %arrayidx45 = getelementptr inbounds nuw i8, ptr %replay, i64 24
  %12 = load i64, ptr %arrayidx45, align 8
  %cmp46 = icmp slt i64 %i43.0, %12
  %spec.select = select i1 %cmp46, i1 %good.4.off0, i1 false
  br i1 %spec.select, label %for.body49, label %for.end56

for.body49:                                       ; preds = %for.cond44
  %call50 = call i1 @fly.native_replay.launch(ptr %python, ptr %launched.0, ptr %addresses, i64 %stream.0)
  %arrayidx52 = getelementptr inbounds nuw i8, ptr %launched.0, i64 80
  %13 = load i64, ptr %arrayidx52, align 8
  %.idx = mul i64 %13, 24
  %14 = getelementptr i8, ptr %launched.0, i64 %.idx
  %add.ptr53 = getelementptr i8, ptr %14, i64 88
  %inc55 = add nuw nsw i64 %i43.0, 1
  br label %for.cond44

for.end56:                                        ; preds = %for.cond44
  br i1 %good.4.off0, label %if.then58, label %if.end60

if.then58:                                        ; preds = %for.end56
  %call59 = call ptr @fly.native_replay.results(ptr %python, ptr %replay, ptr nonnull %row.0, ptr nonnull %buffers)
  br label %if.end60

if.end60:                                         ; preds = %if.then58, %for.end56
  %found.0 = phi ptr [ %call59, %if.then58 ], [ null, %for.end56 ]
  br label %for.cond62

for.cond62:                                       ; preds = %for.inc71, %if.end60
  %i61.0 = phi i64 [ %0, %if.end60 ], [ %inc72, %for.inc71 ]
  %cmp63 = icmp slt i64 %i61.0, %end.0
  br i1 %cmp63, label %for.body65, label %for.end73

for.body65:                                       ; preds = %for.cond62
  %arrayidx66 = getelementptr inbounds ptr, ptr %buffers, i64 %i61.0
  %15 = load ptr, ptr %arrayidx66, align 8
  %tobool67.not = icmp eq ptr %15, null
  br i1 %tobool67.not, label %for.inc71, label %if.then68

if.then68:                                        ; preds = %for.body65
  call void @fly.native_replay.release(ptr %python, ptr nonnull %15)
  br label %for.inc71

for.inc71:                                        ; preds = %for.body65, %if.then68
  %inc72 = add nsw i64 %i61.0, 1
  br label %for.cond62

for.end73:                                        ; preds = %for.cond62
  call void @llvm.lifetime.end.p0(ptr nonnull %buffers)
  ret ptr %found.0
}

define internal i1 @fly.native_replay.make(ptr %python, ptr %row, ptr %made, ptr %address) {
entry:
  %found = alloca %struct.Tensor, align 8
  call void @llvm.lifetime.start.p0(ptr nonnull %found)
  store ptr null, ptr %made, align 8
  %arrayidx = getelementptr inbounds nuw i8, ptr %row, i64 16
  %0 = load i64, ptr %arrayidx, align 8
  %tobool.not = icmp eq i64 %0, 0
  br i1 %tobool.not, label %if.end9, label %if.then

if.then:                                          ; preds = %entry
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %python, i64 184
  %1 = load i64, ptr %arrayidx1, align 8
  %2 = inttoptr i64 %1 to ptr
  %3 = inttoptr i64 %0 to ptr
  %add.ptr = getelementptr inbounds nuw i8, ptr %row, i64 24
  %call = call ptr %2(ptr nonnull %3, ptr nonnull %add.ptr, i64 3, ptr null)
  store ptr %call, ptr %made, align 8
  %tobool3.not = icmp eq ptr %call, null
  br i1 %tobool3.not, label %cleanup26, label %lor.lhs.false

lor.lhs.false:                                    ; preds = %if.then
  %call4 = call i1 @fly.native_replay.read_tensor(ptr %python, ptr nonnull %call, ptr nonnull %found)
  br i1 %call4, label %if.end, label %cleanup26

if.end:                                           ; preds = %lor.lhs.false
  %device = getelementptr inbounds nuw i8, ptr %found, i64 8
  %4 = load i64, ptr %device, align 8
  %arrayidx6 = getelementptr inbounds nuw i8, ptr %row, i64 8
  %5 = load i64, ptr %arrayidx6, align 8
  %cmp.not = icmp eq i64 %4, %5
  br i1 %cmp.not, label %if.end9, label %if.then7

if.then7:                                         ; preds = %if.end
  %6 = load ptr, ptr %made, align 8
  call void @fly.native_replay.release(ptr %python, ptr %6)
  store ptr null, ptr %made, align 8
  br label %if.end9

if.end9:                                          ; preds = %if.then7, %if.end, %entry
  %7 = load ptr, ptr %made, align 8
  %tobool10.not = icmp eq ptr %7, null
  br i1 %tobool10.not, label %if.then11, label %if.end25

if.then11:                                        ; preds = %if.end9
  %arrayidx13 = getelementptr inbounds nuw i8, ptr %python, i64 176
  %8 = load i64, ptr %arrayidx13, align 8
  %9 = inttoptr i64 %8 to ptr
  %arrayidx14 = getelementptr inbounds nuw i8, ptr %python, i64 112
  %10 = load i64, ptr %arrayidx14, align 8
  %11 = inttoptr i64 %10 to ptr
  %12 = load i64, ptr %row, align 8
  %13 = inttoptr i64 %12 to ptr
  %call16 = call ptr %9(ptr %11, ptr %13)
  store ptr %call16, ptr %made, align 8
  %tobool17.not = icmp eq ptr %call16, null
  br i1 %tobool17.not, label %cleanup26, label %lor.lhs.false18

lor.lhs.false18:                                  ; preds = %if.then11
  %call19 = call i1 @fly.native_replay.read_tensor(ptr %python, ptr nonnull %call16, ptr nonnull %found)
  br i1 %call19, label %if.end25, label %cleanup26

if.end25:                                         ; preds = %lor.lhs.false18, %if.end9
  %14 = load i64, ptr %found, align 8
  %offset = getelementptr inbounds nuw i8, ptr %found, i64 40
  %15 = load i64, ptr %offset, align 8
  %add = add i64 %14, %15
  store i64 %add, ptr %address, align 8
  br label %cleanup26

cleanup26:                                        ; preds = %if.then11, %if.then, %lor.lhs.false, %lor.lhs.false18, %if.end25
  %retval.2 = phi i1 [ false, %if.then ], [ true, %if.end25 ], [ false, %lor.lhs.false18 ], [ false, %lor.lhs.false ], [ false, %if.then11 ]
  call void @llvm.lifetime.end.p0(ptr nonnull %found)
  ret i1 %retval.2
}

define internal i64 @fly.native_replay.number_of(ptr %python, i64 %function, ptr %given) {
entry:
  %overflow = alloca i32, align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %overflow)
  %tobool.not = icmp eq ptr %given, null
  br i1 %tobool.not, label %cond.end, label %cond.true

cond.true:                                        ; preds = %entry
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 176
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  %2 = inttoptr i64 %function to ptr
  %call = call ptr %1(ptr %2, ptr nonnull %given)
  br label %cond.end

cond.end:                                         ; preds = %entry, %cond.true
  %cond = phi ptr [ %call, %cond.true ], [ null, %entry ]
  br i1 %tobool.not, label %if.end, label %if.then

if.then:                                          ; preds = %cond.end
  call void @fly.native_replay.release(ptr %python, ptr nonnull %given)
  br label %if.end

if.end:                                           ; preds = %if.then, %cond.end
  %tobool2.not = icmp eq ptr %cond, null
  br i1 %tobool2.not, label %cleanup, label %if.end4

if.end4:                                          ; preds = %if.end
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %python, i64 56
  %3 = load i64, ptr %arrayidx5, align 8
  %4 = inttoptr i64 %3 to ptr
  %cmp = icmp eq ptr %cond, %4
  br i1 %cmp, label %cond.end10, label %cond.false7

cond.false7:                                      ; preds = %if.end4
  %arrayidx8 = getelementptr inbounds nuw i8, ptr %python, i64 208
  %5 = load i64, ptr %arrayidx8, align 8
  %6 = inttoptr i64 %5 to ptr
  %call9 = call i64 %6(ptr nonnull %cond, ptr nonnull %overflow)
  br label %cond.end10

cond.end10:                                       ; preds = %if.end4, %cond.false7
  %cond11 = phi i64 [ %call9, %cond.false7 ], [ 0, %if.end4 ]
  call void @fly.native_replay.release(ptr %python, ptr nonnull %cond)
  br label %cleanup

cleanup:                                          ; preds = %if.end, %cond.end10
  %retval.0 = phi i64 [ %cond11, %cond.end10 ], [ -1, %if.end ]
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
  %arrayidx18 = getelementptr inbounds nuw i8, ptr %python, i64 296
  %11 = load i64, ptr %arrayidx18, align 8
  %12 = inttoptr i64 %11 to ptr
  %call19 = call ptr %12()
  %call20 = call i32 @fly.native_replay.enter(ptr %launched, ptr nonnull %1, i64 %call)
  %arrayidx21 = getelementptr inbounds nuw i8, ptr %python, i64 304
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
  %arrayidx27 = getelementptr inbounds nuw i8, ptr %python, i64 232
  %15 = load i64, ptr %arrayidx27, align 8
  %16 = inttoptr i64 %15 to ptr
  %conv = sext i32 %call20 to i64
  %call28 = call ptr %16(i64 %conv)
  %tobool29.not = icmp eq ptr %call28, null
  br i1 %tobool29.not, label %cleanup42, label %if.then30

if.then30:                                        ; preds = %if.end26
  %arrayidx32 = getelementptr inbounds nuw i8, ptr %python, i64 176
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
  %arrayidx6 = getelementptr inbounds nuw i8, ptr %python, i64 256
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
  %arrayidx14 = getelementptr inbounds nuw i8, ptr %python, i64 264
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
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 192
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %launched, i64 8
  %2 = load i64, ptr %arrayidx1, align 8
  %3 = inttoptr i64 %2 to ptr
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %python, i64 104
  %4 = load i64, ptr %arrayidx2, align 8
  %5 = inttoptr i64 %4 to ptr
  %call = call ptr %1(ptr %3, ptr %5)
  %tobool.not = icmp eq ptr %call, null
  br i1 %tobool.not, label %if.then, label %if.end9

if.then:                                          ; preds = %entry
  %call3 = call i1 @fly.native_replay.clear_error(ptr %python)
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %python, i64 168
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
  %arrayidx10 = getelementptr inbounds nuw i8, ptr %python, i64 208
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
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %python, i64 256
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
  %arrayidx4 = getelementptr inbounds nuw i8, ptr %python, i64 264
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
  %arrayidx1 = getelementptr inbounds nuw i8, ptr %python, i64 168
  %1 = load i64, ptr %arrayidx1, align 8
  %2 = inttoptr i64 %1 to ptr
  %arrayidx2 = getelementptr inbounds nuw i8, ptr %python, i64 88
  %3 = load i64, ptr %arrayidx2, align 8
  %4 = inttoptr i64 %3 to ptr
  %call = call ptr %2(ptr %4)
  %call3 = call i1 @fly.native_replay.is_true(ptr %python, ptr %call)
  br i1 %call3, label %for.cond, label %cleanup18

for.cond:                                         ; preds = %entry, %for.inc
  %i.0 = phi i64 [ %inc, %for.inc ], [ 0, %entry ]
  %retval.1 = phi i1 [ %retval.3, %for.inc ], [ undef, %entry ]
  %cmp.not = icmp slt i64 %i.0, %0
  br i1 %cmp.not, label %for.body, label %cleanup18

for.body:                                         ; preds = %for.cond
  %arrayidx4 = getelementptr inbounds nuw ptr, ptr %args, i64 %i.0
  %5 = load ptr, ptr %arrayidx4, align 8
  %6 = ptrtoint ptr %5 to i64
  %arrayidx5 = getelementptr inbounds nuw i8, ptr %python, i64 56
  %7 = load i64, ptr %arrayidx5, align 8
  %cmp6 = icmp eq i64 %7, %6
  br i1 %cmp6, label %for.inc, label %if.end8

if.end8:                                          ; preds = %for.body
  %arrayidx9 = getelementptr inbounds nuw i8, ptr %python, i64 192
  %8 = load i64, ptr %arrayidx9, align 8
  %9 = inttoptr i64 %8 to ptr
  %arrayidx11 = getelementptr inbounds nuw i8, ptr %python, i64 96
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

cleanup18:                                        ; preds = %if.end8, %for.cond, %entry
  %retval.0 = phi i1 [ false, %entry ], [ %.retval.1, %if.end8 ], [ false, %for.cond ]
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
  %arrayidx = getelementptr inbounds nuw i8, ptr %python, i64 64
  %0 = load i64, ptr %arrayidx, align 8
  %1 = inttoptr i64 %0 to ptr
  %cmp = icmp eq ptr %answer, %1
  br label %return

return:                                           ; preds = %if.end, %if.then
  %retval.0 = phi i1 [ %cmp, %if.end ], [ %call, %if.then ]
  ret i1 %retval.0
}


