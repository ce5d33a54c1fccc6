// RUN: fly-opt --keep-names --as-compiled --fly-rewrite-func-signature %s | FileCheck %s

// A tensor becomes its pointer and a struct of its run-time leaves; what is static vanishes.
// CHECK-LABEL: func.func @tensor(
// CHECK-SAME: [[V0:%[0-9]+]]: !fly.ptr<f32, global>, [[V1:%[0-9]+]]: !llvm.struct<(i32)>, %n: i32, [[V2:%[0-9]+]]: !fly.ptr<f16, shared, align<16>>) {
// CHECK-NEXT: [[V3:%[0-9]+]] = llvm.extractvalue [[V1]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: [[V4:%[0-9]+]] = fly.make_int_tuple([[V3]]) : (i32) -> !fly.int_tuple<(?,4)>
// CHECK-NEXT: [[V5:%[0-9]+]] = fly.static : !fly.int_tuple<(4,1)>
// CHECK-NEXT: [[V6:%[0-9]+]] = fly.make_layout([[V4]], [[V5]]) : (!fly.int_tuple<(?,4)>, !fly.int_tuple<(4,1)>) -> !fly.layout<(?,4):(4,1)>
// CHECK-NEXT: %t = fly.make_view([[V0]], [[V6]]) : {{.*}} -> !fly.memref<f32, global, (?,4):(4,1)>
// CHECK-NEXT: [[V7:%[0-9]+]] = fly.static : !fly.layout<(8,8):(8,1)>
// CHECK-NEXT: %s = fly.make_view([[V2]], [[V7]]) : {{.*}} -> !fly.memref<f16, shared, (8,8):(8,1), align<16>>
// CHECK-NEXT: [[V8:%[0-9]+]] = fly.size(%t) : (!fly.memref<f32, global, (?,4):(4,1)>) -> !fly.int_tuple<?{i64 div=4}>
// CHECK-NEXT: [[V9:%[0-9]+]] = fly.get_shape(%s) : (!fly.memref<f16, shared, (8,8):(8,1), align<16>>) -> !fly.int_tuple<(8,8)>
// CHECK-NEXT: func.return
func.func @tensor(%t: !fly.memref<f32, global, (?,4):(4,1)>, %n: i32, %s: !fly.memref<f16, shared, (8,8):(8,1), align<16>>) {
  %0 = fly.size(%t) : (!fly.memref<f32, global, (?,4):(4,1)>) -> !fly.int_tuple<?{i64 div=4}>
  %1 = fly.get_shape(%s) : (!fly.memref<f16, shared, (8,8):(8,1), align<16>>) -> !fly.int_tuple<(8,8)>
  return
}

// CHECK-LABEL: func.func @values(
// CHECK-SAME: [[V0:%[0-9]+]]: !llvm.struct<(i32, i64)>, [[V1:%[0-9]+]]: !llvm.struct<(i32)>, [[V2:%[0-9]+]]: !llvm.struct<(i32)>, [[V3:%[0-9]+]]: !llvm.struct<(i32)>, [[V4:%[0-9]+]]: !llvm.struct<(i32)>, %p: !fly.ptr<f32, global>) {
// CHECK-NEXT: %l = fly.static : !fly.layout<(4,8):(1,4)>
// CHECK-NEXT: [[V5:%[0-9]+]] = llvm.extractvalue [[V0]][0] : !llvm.struct<(i32, i64)>
// CHECK-NEXT: [[V6:%[0-9]+]] = llvm.extractvalue [[V0]][1] : !llvm.struct<(i32, i64)>
// CHECK-NEXT: [[V7:%[0-9]+]] = fly.make_int_tuple([[V5]]) : (i32) -> !fly.int_tuple<(?,8)>
// CHECK-NEXT: [[V8:%[0-9]+]] = fly.make_int_tuple([[V6]]) : (i64) -> !fly.int_tuple<(1,?{i64})>
// CHECK-NEXT: %d = fly.make_layout([[V7]], [[V8]]) : {{.*}} -> !fly.layout<(?,8):(1,?{i64})>
// CHECK-NEXT: [[V9:%[0-9]+]] = llvm.extractvalue [[V1]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: %c = fly.make_int_tuple([[V9]]) : (i32) -> !fly.int_tuple<(*,?)>
// CHECK-NEXT: [[V10:%[0-9]+]] = llvm.extractvalue [[V2]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: %b = fly.make_int_tuple([[V10]]) : (i32) -> !fly.int_tuple<(?E0,1E1)>
// CHECK-NEXT: [[V11:%[0-9]+]] = llvm.extractvalue [[V3]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: [[V12:%[0-9]+]] = fly.static : !fly.swizzle<S<3,3,3>>
// CHECK-NEXT: [[V13:%[0-9]+]] = fly.make_int_tuple([[V11]]) : (i32) -> !fly.int_tuple<?>
// CHECK-NEXT: [[V14:%[0-9]+]] = fly.static : !fly.layout<(4,8):(8,1)>
// CHECK-NEXT: %z = fly.make_composed_layout([[V12]], [[V13]], [[V14]]) : {{.*}} -> !fly.composed_layout<S<3,3,3> o ? o (4,8):(8,1)>
// CHECK-NEXT: %a = fly.static : !fly.copy_atom<!fly.universal_copy<128>, 32>
// CHECK-NEXT: %tile = fly.static : !fly.tile<[4|*]>
// CHECK-NEXT: [[V15:%[0-9]+]] = llvm.extractvalue [[V4]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: [[V16:%[0-9]+]] = fly.make_int_tuple([[V15]]) : (i32) -> !fly.int_tuple<(0,?)>
// CHECK-NEXT: [[V17:%[0-9]+]] = fly.static : !fly.layout<(4,8):(1E0,1E1)>
// CHECK-NEXT: %k = fly.make_view([[V16]], [[V17]]) : {{.*}} -> !fly.coord_tensor<(0,?), (4,8):(1E0,1E1)>
// CHECK-NEXT: [[V18:%[0-9]+]] = fly.size(%l) : (!fly.layout<(4,8):(1,4)>) -> !fly.int_tuple<32>
// CHECK-NEXT: [[V19:%[0-9]+]] = fly.size(%d) : (!fly.layout<(?,8):(1,?{i64})>) -> !fly.int_tuple<?{i64 div=8}>
// CHECK-NEXT: [[V20:%[0-9]+]] = fly.int_tuple_product_each(%c) : (!fly.int_tuple<(*,?)>) -> !fly.int_tuple<(*,?)>
// CHECK-NEXT: [[V21:%[0-9]+]] = fly.get(%b) {mode = array<i32: 0>} : (!fly.int_tuple<(?E0,1E1)>) -> !fly.int_tuple<?E0>
// CHECK-NEXT: [[V22:%[0-9]+]] = fly.composed_get_offset(%z) : (!fly.composed_layout<S<3,3,3> o ? o (4,8):(8,1)>) -> !fly.int_tuple<?>
// CHECK-NEXT: [[V23:%[0-9]+]] = fly.logical_divide(%l, %tile) : {{.*}} -> !fly.layout<((4,1),8):((1,0),4)>
// CHECK-NEXT: [[V24:%[0-9]+]] = fly.get_iter(%k) : (!fly.coord_tensor<(0,?), (4,8):(1E0,1E1)>) -> !fly.int_tuple<(0,?)>
// CHECK-NEXT: [[V25:%[0-9]+]] = fly.ptr.load(%p) : (!fly.ptr<f32, global>) -> f32
// CHECK-NEXT: func.return
func.func @values(%l: !fly.layout<(4,8):(1,4)>, %d: !fly.layout<(?,8):(1,?{i64})>, %c: !fly.int_tuple<(*,?)>, %b: !fly.int_tuple<(?E0,1E1)>,
                  %z: !fly.composed_layout<S<3,3,3> o ? o (4,8):(8,1)>, %a: !fly.copy_atom<!fly.universal_copy<128>, 32>, %tile: !fly.tile<[4|*]>,
                  %k: !fly.coord_tensor<(0,?), (4,8):(1E0,1E1)>, %p: !fly.ptr<f32, global>) {
  %0 = fly.size(%l) : (!fly.layout<(4,8):(1,4)>) -> !fly.int_tuple<32>
  %1 = fly.size(%d) : (!fly.layout<(?,8):(1,?{i64})>) -> !fly.int_tuple<?{i64 div=8}>
  %2 = fly.int_tuple_product_each(%c) : (!fly.int_tuple<(*,?)>) -> !fly.int_tuple<(*,?)>
  %3 = fly.get(%b) {mode = array<i32: 0>} : (!fly.int_tuple<(?E0,1E1)>) -> !fly.int_tuple<?E0>
  %4 = fly.composed_get_offset(%z) : (!fly.composed_layout<S<3,3,3> o ? o (4,8):(8,1)>) -> !fly.int_tuple<?>
  %5 = fly.logical_divide(%l, %tile) : (!fly.layout<(4,8):(1,4)>, !fly.tile<[4|*]>) -> !fly.layout<((4,1),8):((1,0),4)>
  %6 = fly.get_iter(%k) : (!fly.coord_tensor<(0,?), (4,8):(1E0,1E1)>) -> !fly.int_tuple<(0,?)>
  %7 = fly.ptr.load(%p) : (!fly.ptr<f32, global>) -> f32
  return
}

// A kernel, and the launch that hands it the parts.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @k(
    // CHECK-SAME: [[V0:%[0-9]+]]: !fly.ptr<f32, global>, [[V1:%[0-9]+]]: !llvm.struct<(i32)>, %i: i32) kernel {
    // CHECK-NEXT: [[V2:%[0-9]+]] = llvm.extractvalue [[V1]][0] : !llvm.struct<(i32)>
    // CHECK-NEXT: [[V3:%[0-9]+]] = fly.make_int_tuple([[V2]]) : (i32) -> !fly.int_tuple<?>
    // CHECK-NEXT: [[V4:%[0-9]+]] = fly.static : !fly.int_tuple<1>
    // CHECK-NEXT: [[V5:%[0-9]+]] = fly.make_layout([[V3]], [[V4]]) : (!fly.int_tuple<?>, !fly.int_tuple<1>) -> !fly.layout<?:1>
    // CHECK-NEXT: %t = fly.make_view([[V0]], [[V5]]) : (!fly.ptr<f32, global>, !fly.layout<?:1>) -> !fly.memref<f32, global, ?:1>
    // CHECK-NEXT: %l = fly.static : !fly.layout<4:1>
    // CHECK-NEXT: [[V6:%[0-9]+]] = fly.get_shape(%t) : (!fly.memref<f32, global, ?:1>) -> !fly.int_tuple<?>
    // CHECK-NEXT: gpu.return
    gpu.func @k(%t: !fly.memref<f32, global, ?:1>, %l: !fly.layout<4:1>, %i: i32) kernel {
      %0 = fly.get_shape(%t) : (!fly.memref<f32, global, ?:1>) -> !fly.int_tuple<?>
      gpu.return
    }
  }
  // CHECK-LABEL: func.func @launch(
  // CHECK-SAME: [[V0:%[0-9]+]]: !fly.ptr<f32, global>, [[V1:%[0-9]+]]: !llvm.struct<(i32)>, %i: i32, %n: index, %s: !llvm.ptr) {
  // CHECK-NEXT: [[V2:%[0-9]+]] = llvm.extractvalue [[V1]][0] : !llvm.struct<(i32)>
  // CHECK-NEXT: [[V3:%[0-9]+]] = fly.make_int_tuple([[V2]]) : (i32) -> !fly.int_tuple<?>
  // CHECK-NEXT: [[V4:%[0-9]+]] = fly.static : !fly.int_tuple<1>
  // CHECK-NEXT: [[V5:%[0-9]+]] = fly.make_layout([[V3]], [[V4]]) : (!fly.int_tuple<?>, !fly.int_tuple<1>) -> !fly.layout<?:1>
  // CHECK-NEXT: %t = fly.make_view([[V0]], [[V5]]) : (!fly.ptr<f32, global>, !fly.layout<?:1>) -> !fly.memref<f32, global, ?:1>
  // CHECK-NEXT: %l = fly.static : !fly.layout<4:1>
  // CHECK-NEXT: [[V6:%[0-9]+]] = fly.get_iter(%t) : (!fly.memref<f32, global, ?:1>) -> !fly.ptr<f32, global>
  // CHECK-NEXT: [[V7:%[0-9]+]] = fly.get_layout(%t) : (!fly.memref<f32, global, ?:1>) -> !fly.layout<?:1>
  // CHECK-NEXT: [[V8:%[0-9]+]] = fly.get_shape([[V7]]) : (!fly.layout<?:1>) -> !fly.int_tuple<?>
  // CHECK-NEXT: [[V9:%[0-9]+]] = fly.get_leaves([[V8]]) {dynamicOnly = true} : (!fly.int_tuple<?>) -> i32
  // CHECK-NEXT: [[V10:%[0-9]+]] = llvm.mlir.undef : !llvm.struct<(i32)>
  // CHECK-NEXT: [[V11:%[0-9]+]] = llvm.insertvalue [[V9]], [[V10]][0] : !llvm.struct<(i32)>
  // CHECK-NEXT: gpu.launch_func <%s : !llvm.ptr> @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args([[V6]] : !fly.ptr<f32, global>, [[V11]] : !llvm.struct<(i32)>, %i : i32) {fly.pdl}
  // CHECK-NEXT: func.return
  func.func @launch(%t: !fly.memref<f32, global, ?:1>, %l: !fly.layout<4:1>, %i: i32, %n: index, %s: !llvm.ptr) {
    gpu.launch_func <%s : !llvm.ptr> @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%t : !fly.memref<f32, global, ?:1>, %l : !fly.layout<4:1>, %i : i32) {fly.pdl}
    return
  }
}

// Structured control flow.
// CHECK-LABEL: func.func @loops(
// CHECK-SAME: %n: index, %c: i1, [[V0:%[0-9]+]]: !llvm.struct<(i32)>, [[V1:%[0-9]+]]: !llvm.struct<(i32)>) {
// CHECK-NEXT: [[V2:%[0-9]+]] = llvm.extractvalue [[V0]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: %t = fly.make_int_tuple([[V2]]) : (i32) -> !fly.int_tuple<?>
// CHECK-NEXT: [[V3:%[0-9]+]] = llvm.extractvalue [[V1]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: %u = fly.make_int_tuple([[V3]]) : (i32) -> !fly.int_tuple<?>
// CHECK-NEXT: %l = fly.static : !fly.layout<4:1>
// CHECK-NEXT: %lo = arith.constant 0 : index
// CHECK-NEXT: %one = arith.constant 1 : index
// CHECK-NEXT: [[V4:%[0-9]+]] = fly.get_leaves(%t) {dynamicOnly = true} : (!fly.int_tuple<?>) -> i32
// CHECK-NEXT: [[V5:%[0-9]+]] = llvm.mlir.undef : !llvm.struct<(i32)>
// CHECK-NEXT: [[V6:%[0-9]+]] = llvm.insertvalue [[V4]], [[V5]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: [[V7:%[0-9]+]] = scf.for %i = %lo to %n step %one iter_args([[V8:%[0-9]+]] = [[V6]]) -> (!llvm.struct<(i32)>) {
// CHECK-NEXT: [[V9:%[0-9]+]] = llvm.extractvalue [[V8]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: %x = fly.make_int_tuple([[V9]]) : (i32) -> !fly.int_tuple<?>
// CHECK-NEXT: %y = fly.static : !fly.layout<4:1>
// CHECK-NEXT: %z = fly.int_tuple_add(%x, %u) : (!fly.int_tuple<?>, !fly.int_tuple<?>) -> !fly.int_tuple<?>
// CHECK-NEXT: [[V10:%[0-9]+]] = fly.get_leaves(%z) {dynamicOnly = true} : (!fly.int_tuple<?>) -> i32
// CHECK-NEXT: [[V11:%[0-9]+]] = llvm.mlir.undef : !llvm.struct<(i32)>
// CHECK-NEXT: [[V12:%[0-9]+]] = llvm.insertvalue [[V10]], [[V11]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: scf.yield [[V12]] : !llvm.struct<(i32)>
// CHECK-NEXT: }
// CHECK-NEXT: [[V13:%[0-9]+]] = llvm.extractvalue [[V7]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: %r = fly.make_int_tuple([[V13]]) : (i32) -> !fly.int_tuple<?>
// CHECK-NEXT: %r_1 = fly.static : !fly.layout<4:1>
// CHECK-NEXT: [[V14:%[0-9]+]] = scf.if %c -> (!llvm.struct<(i32)>) {
// CHECK-NEXT: [[V15:%[0-9]+]] = fly.get_leaves(%r) {dynamicOnly = true} : (!fly.int_tuple<?>) -> i32
// CHECK-NEXT: [[V16:%[0-9]+]] = llvm.mlir.undef : !llvm.struct<(i32)>
// CHECK-NEXT: [[V17:%[0-9]+]] = llvm.insertvalue [[V15]], [[V16]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: scf.yield [[V17]] : !llvm.struct<(i32)>
// CHECK-NEXT: } else {
// CHECK-NEXT: [[V18:%[0-9]+]] = fly.get_leaves(%u) {dynamicOnly = true} : (!fly.int_tuple<?>) -> i32
// CHECK-NEXT: [[V19:%[0-9]+]] = llvm.mlir.undef : !llvm.struct<(i32)>
// CHECK-NEXT: [[V20:%[0-9]+]] = llvm.insertvalue [[V18]], [[V19]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: scf.yield [[V20]] : !llvm.struct<(i32)>
// CHECK-NEXT: }
// CHECK-NEXT: [[V21:%[0-9]+]] = llvm.extractvalue [[V14]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: %s = fly.make_int_tuple([[V21]]) : (i32) -> !fly.int_tuple<?>
// CHECK-NEXT: [[V22:%[0-9]+]] = fly.get_leaves(%s) {dynamicOnly = true} : (!fly.int_tuple<?>) -> i32
// CHECK-NEXT: [[V23:%[0-9]+]] = llvm.mlir.undef : !llvm.struct<(i32)>
// CHECK-NEXT: [[V24:%[0-9]+]] = llvm.insertvalue [[V22]], [[V23]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: [[V25:%[0-9]+]] = scf.while ([[V26:%[0-9]+]] = [[V24]]) : (!llvm.struct<(i32)>) -> !llvm.struct<(i32)> {
// CHECK-NEXT: [[V27:%[0-9]+]] = llvm.extractvalue [[V26]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: %x_1 = fly.make_int_tuple([[V27]]) : (i32) -> !fly.int_tuple<?>
// CHECK-NEXT: [[V28:%[0-9]+]] = fly.get_leaves(%x_1) {dynamicOnly = true} : (!fly.int_tuple<?>) -> i32
// CHECK-NEXT: [[V29:%[0-9]+]] = llvm.mlir.undef : !llvm.struct<(i32)>
// CHECK-NEXT: [[V30:%[0-9]+]] = llvm.insertvalue [[V28]], [[V29]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: scf.condition(%c) [[V30]] : !llvm.struct<(i32)>
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0([[V31:%[0-9]+]]: !llvm.struct<(i32)>):
// CHECK-NEXT: [[V32:%[0-9]+]] = llvm.extractvalue [[V31]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: %y_1 = fly.make_int_tuple([[V32]]) : (i32) -> !fly.int_tuple<?>
// CHECK-NEXT: [[V33:%[0-9]+]] = fly.get_leaves(%y_1) {dynamicOnly = true} : (!fly.int_tuple<?>) -> i32
// CHECK-NEXT: [[V34:%[0-9]+]] = llvm.mlir.undef : !llvm.struct<(i32)>
// CHECK-NEXT: [[V35:%[0-9]+]] = llvm.insertvalue [[V33]], [[V34]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: scf.yield [[V35]] : !llvm.struct<(i32)>
// CHECK-NEXT: }
// CHECK-NEXT: [[V36:%[0-9]+]] = llvm.extractvalue [[V25]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: %w = fly.make_int_tuple([[V36]]) : (i32) -> !fly.int_tuple<?>
// CHECK-NEXT: %q = fly.int_tuple_product(%w) : (!fly.int_tuple<?>) -> !fly.int_tuple<?>
// CHECK-NEXT: %v = fly.crd2idx(%q, %r_1) : (!fly.int_tuple<?>, !fly.layout<4:1>) -> !fly.int_tuple<?>
// CHECK-NEXT: func.return
func.func @loops(%n: index, %c: i1, %t: !fly.int_tuple<?>, %u: !fly.int_tuple<?>, %l: !fly.layout<4:1>) {
  %lo = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r:2 = scf.for %i = %lo to %n step %one iter_args(%x = %t, %y = %l) -> (!fly.int_tuple<?>, !fly.layout<4:1>) {
    %z = fly.int_tuple_add(%x, %u) : (!fly.int_tuple<?>, !fly.int_tuple<?>) -> !fly.int_tuple<?>
    scf.yield %z, %y : !fly.int_tuple<?>, !fly.layout<4:1>
  }
  %s = scf.if %c -> (!fly.int_tuple<?>) {
    scf.yield %r#0 : !fly.int_tuple<?>
  } else {
    scf.yield %u : !fly.int_tuple<?>
  }
  %w = scf.while (%x = %s) : (!fly.int_tuple<?>) -> !fly.int_tuple<?> {
    scf.condition(%c) %x : !fly.int_tuple<?>
  } do {
  ^bb0(%y: !fly.int_tuple<?>):
    scf.yield %y : !fly.int_tuple<?>
  }
  %q = fly.int_tuple_product(%w) : (!fly.int_tuple<?>) -> !fly.int_tuple<?>
  %v = fly.crd2idx(%q, %r#1) : (!fly.int_tuple<?>, !fly.layout<4:1>) -> !fly.int_tuple<?>
  return
}

// Results and calls.
// CHECK-LABEL: func.func private @callee(
// CHECK-SAME: !llvm.struct<(i32)>) -> !llvm.struct<(i32)>
func.func private @callee(!fly.int_tuple<(?,4)>) -> (!fly.int_tuple<?>, !fly.layout<4:1>)

// CHECK-LABEL: func.func @caller(
// CHECK-SAME: [[V0:%[0-9]+]]: !llvm.struct<(i32)> {note = 1 : i32}) -> (!llvm.struct<(i32)>, f32) {
// CHECK-NEXT: [[V1:%[0-9]+]] = llvm.extractvalue [[V0]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: %i = fly.make_int_tuple([[V1]]) : (i32) -> !fly.int_tuple<(?,4)>
// CHECK-NEXT: [[V2:%[0-9]+]] = fly.get_leaves(%i) {dynamicOnly = true} : (!fly.int_tuple<(?,4)>) -> i32
// CHECK-NEXT: [[V3:%[0-9]+]] = llvm.mlir.undef : !llvm.struct<(i32)>
// CHECK-NEXT: [[V4:%[0-9]+]] = llvm.insertvalue [[V2]], [[V3]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: [[V5:%[0-9]+]] = func.call @callee([[V4]]) : (!llvm.struct<(i32)>) -> !llvm.struct<(i32)>
// CHECK-NEXT: [[V6:%[0-9]+]] = llvm.extractvalue [[V5]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: [[V7:%[0-9]+]] = fly.make_int_tuple([[V6]]) : (i32) -> !fly.int_tuple<?>
// CHECK-NEXT: [[V8:%[0-9]+]] = fly.static : !fly.layout<4:1>
// CHECK-NEXT: %f = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: [[V9:%[0-9]+]] = fly.get_leaves([[V7]]) {dynamicOnly = true} : (!fly.int_tuple<?>) -> i32
// CHECK-NEXT: [[V10:%[0-9]+]] = llvm.mlir.undef : !llvm.struct<(i32)>
// CHECK-NEXT: [[V11:%[0-9]+]] = llvm.insertvalue [[V9]], [[V10]][0] : !llvm.struct<(i32)>
// CHECK-NEXT: func.return [[V11]], %f : !llvm.struct<(i32)>, f32
func.func @caller(%i: !fly.int_tuple<(?,4)> {note = 1 : i32}) -> (!fly.int_tuple<?>, f32) {
  %0:2 = func.call @callee(%i) : (!fly.int_tuple<(?,4)>) -> (!fly.int_tuple<?>, !fly.layout<4:1>)
  %f = arith.constant 1.0 : f32
  return %0#0, %f : !fly.int_tuple<?>, f32
}
