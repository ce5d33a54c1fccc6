// RUN: fly-opt --fly-rewrite-func-signature %s | FileCheck %s
// RUN: fly-opt --fly-rewrite-func-signature %s | fly-opt | FileCheck %s

// The original's structs: packed, one for each tuple that has run-time leaves, nested as the value is.

// CHECK-LABEL: func.func @layout(
// CHECK-SAME: %arg0: !llvm.struct<packed (struct<packed (i32)>, struct<packed (i32)>)>) {
// CHECK-NEXT: %[[SHAPE:.*]] = llvm.extractvalue %arg0[0]
// CHECK-NEXT: %[[STRIDE:.*]] = llvm.extractvalue %arg0[1]
// CHECK-NEXT: %[[N:.*]] = llvm.extractvalue %[[SHAPE]][0] : !llvm.struct<packed (i32)>
// CHECK-NEXT: %[[S:.*]] = fly.make_int_tuple(%[[N]]) : (i32) -> !fly.int_tuple<(4,?)>
// CHECK-NEXT: %[[D:.*]] = llvm.extractvalue %[[STRIDE]][0] : !llvm.struct<packed (i32)>
// CHECK-NEXT: %[[T:.*]] = fly.make_int_tuple(%[[D]]) : (i32) -> !fly.int_tuple<(1,?)>
// CHECK-NEXT: %[[L:.*]] = fly.make_layout(%[[S]], %[[T]])
// CHECK-NEXT: fly.size(%[[L]])
func.func @layout(%l: !fly.layout<(4,?):(1,?)>) {
  %0 = fly.size(%l) : (!fly.layout<(4,?):(1,?)>) -> !fly.int_tuple<?{i64 div=4}>
  return
}

// A static value vanishes, a tensor is its pointer and the struct of its layout, a composed layout (outer, offset,
// inner), a tensor of coordinates (base, layout).
// CHECK-LABEL: func.func @kinds(
// CHECK-SAME: %arg0: !llvm.struct<packed (i32, i64)>,
// CHECK-SAME: %arg1: !fly.ptr<f32, global>, %arg2: !llvm.struct<packed (struct<packed (i32)>)>,
// CHECK-SAME: %arg3: !llvm.struct<packed (struct<packed (struct<packed (i64)>)>, struct<packed (i32)>)>,
// CHECK-SAME: %arg4: !llvm.struct<packed (struct<packed (i32)>, struct<packed (struct<packed (i32)>)>)>) {
// CHECK: fly.static : !fly.layout<(4,8):(1,4)>
func.func @kinds(%t: !fly.int_tuple<(?,?{i64})>, %s: !fly.layout<(4,8):(1,4)>, %m: !fly.memref<f32, global, (?,4):(4,1)>,
                 %c: !fly.composed_layout<S<3,3,3> o ? o (4,8):(?{i64},1)>, %k: !fly.coord_tensor<(0,?), (4,?):(1E0,1E1)>) {
  %0 = fly.size(%s) : (!fly.layout<(4,8):(1,4)>) -> !fly.int_tuple<32>
  return
}

// A caller packs what it has.
// CHECK-LABEL: func.func @caller(
// CHECK: %[[U:.*]] = llvm.mlir.undef : !llvm.struct<packed (i32)>
// CHECK-NEXT: %[[SHAPE:.*]] = llvm.insertvalue %arg0, %[[U]][0] : !llvm.struct<packed (i32)>
// CHECK: %[[STRIDE:.*]] = llvm.insertvalue %arg1
// CHECK: %[[ONE:.*]] = llvm.insertvalue %[[SHAPE]], %{{.*}}[0] : !llvm.struct<packed (struct<packed (i32)>, struct<packed (i32)>)>
// CHECK-NEXT: %[[TWO:.*]] = llvm.insertvalue %[[STRIDE]], %[[ONE]][1]
// CHECK-NEXT: call @callee(%[[TWO]]) : (!llvm.struct<packed (struct<packed (i32)>, struct<packed (i32)>)>) -> ()
func.func @caller(%a: i32, %b: i32) {
  %0 = fly.make_int_tuple(%a) : (i32) -> !fly.int_tuple<(4,?)>
  %1 = fly.make_int_tuple(%b) : (i32) -> !fly.int_tuple<(1,?)>
  %2 = fly.make_layout(%0, %1) : (!fly.int_tuple<(4,?)>, !fly.int_tuple<(1,?)>) -> !fly.layout<(4,?):(1,?)>
  func.call @callee(%2) : (!fly.layout<(4,?):(1,?)>) -> ()
  return
}
func.func private @callee(!fly.layout<(4,?):(1,?)>)

// What a loop carries unchanged it yields as it came, pointer and struct alike.
// CHECK-LABEL: func.func @carried(
// CHECK-SAME: %arg0: !fly.ptr<f32, shared>, %arg1: !llvm.struct<packed (struct<packed (i32)>)>, %arg2: index)
// CHECK-SAME: -> (!fly.ptr<f32, shared>, !llvm.struct<packed (struct<packed (i32)>)>) {
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[P:.*]] = %arg0, %[[S:.*]] = %arg1) -> (!fly.ptr<f32, shared>, !llvm.struct<packed (struct<packed (i32)>)>) {
// CHECK: scf.yield %[[P]], %[[S]]
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @carried(%p: !fly.memref<f32, shared, ?:1>, %n: index) -> !fly.memref<f32, shared, ?:1> {
  %lo = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %lo to %n step %one iter_args(%x = %p) -> (!fly.memref<f32, shared, ?:1>) {
    scf.yield %x : !fly.memref<f32, shared, ?:1>
  }
  return %r : !fly.memref<f32, shared, ?:1>
}
