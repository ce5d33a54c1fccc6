// RUN: fly-opt --keep-names --as-compiled --fly-canonicalize --fly-layout-lowering --canonicalize %s | FileCheck %s

// What the algebra requires of run-time leaves is checked in front of each launch; nothing of it stays in the kernel.
// CHECK-LABEL: gpu.func @by_four(
// CHECK-NEXT: gpu.return
// CHECK-LABEL: gpu.func @guarded(
// CHECK-NOT: arith.minsi
// CHECK: gpu.return

// A launch of no blocks is not checked.
// CHECK-LABEL: func.func @launch(
// CHECK: [[SOME:%[0-9]+]] = arith.cmpi ne, %grid, {{%[0-9]+}} : index
// CHECK-NEXT: scf.if [[SOME]] {
// CHECK: arith.minsi %a, {{%[0-9]+}} : i32
// CHECK: llvm.call @fly_require_1([[OK:%[0-9]+]], {{%[0-9]+}}) {fly.message = "composition of 'x': cannot compose (?,?):(1,?) with 4:1: #0 of 4 elements fill a mode, and #0 does not divide 4\0A{{.*}}from_dlpack{{.*}}"} : (i1, i64) -> ()
// CHECK: gpu.launch_func @kernels::@by_four

// Behind a condition that the host can compute, under that condition.
// CHECK: scf.if [[SOME]] {
// CHECK-NEXT: {{%[0-9]+}} = arith.constant 8 : i32
// CHECK-NEXT: [[DEEP:%[0-9]+]] = arith.cmpi sgt, %a, {{%[0-9]+}} : i32
// CHECK-NEXT: scf.if [[DEEP]] {
// CHECK: llvm.call @fly_require_1(
// CHECK: gpu.launch_func @kernels::@guarded

// A condition that the input states is one like those of the algebra.
// CHECK-LABEL: func.func @stated(
// CHECK-NEXT: llvm.call @fly_require_1(%ok, %n) {fly.message = "#0 is odd\0A{{.*}}"} : (i1, i64) -> ()
// CHECK: llvm.func @fly_require_1(i1, i64)
gpu.module @kernels {
  gpu.func @by_four(%p: !fly.ptr<f32, global>, %n: i32, %m: i32, %d: i32) kernel attributes {fly.argument_names = ["x", "", "", ""]} {
    %s = fly.make_shape(%n, %m) : (i32, i32) -> !fly.int_tuple<(?,?)>
    %t = fly.make_stride(%d) : (i32) -> !fly.int_tuple<(1,?)>
    %l = fly.make_layout(%s, %t) : (!fly.int_tuple<(?,?)>, !fly.int_tuple<(1,?)>) -> !fly.layout<(?,?):(1,?)>
    %x = fly.make_view(%p, %l) : (!fly.ptr<f32, global>, !fly.layout<(?,?):(1,?)>) -> !fly.memref<f32, global, (?,?):(1,?)>
    %tile = fly.static : !fly.layout<4:1>
    %r = fly.composition(%x, %tile) : (!fly.memref<f32, global, (?,?):(1,?)>, !fly.layout<4:1>) -> !fly.memref<f32, global, (?,?):(1,?)>
    fly.checked(%r) : (!fly.memref<f32, global, (?,?):(1,?)>) -> ()
    gpu.return
  }
  gpu.func @guarded(%n: i32, %m: i32) kernel {
    %eight = arith.constant 8 : i32
    %deep = arith.cmpi sgt, %n, %eight : i32
    scf.if %deep {
      %s = fly.make_shape(%n, %m) : (i32, i32) -> !fly.int_tuple<(?,?)>
      %t = fly.static : !fly.int_tuple<(1,64)>
      %l = fly.make_layout(%s, %t) : (!fly.int_tuple<(?,?)>, !fly.int_tuple<(1,64)>) -> !fly.layout<(?,?):(1,64)>
      %tile = fly.static : !fly.layout<4:1>
      %r = fly.composition(%l, %tile) : (!fly.layout<(?,?):(1,64)>, !fly.layout<4:1>) -> !fly.layout<(?,?):(1,64)>
      fly.checked(%r) : (!fly.layout<(?,?):(1,64)>) -> ()
    }
    gpu.return
  }
}
func.func @launch(%p: !fly.ptr<f32, global>, %a: i32, %b: i32, %c: i32, %grid: index) {
  %one = arith.constant 1 : index
  gpu.launch_func @kernels::@by_four blocks in (%grid, %one, %one) threads in (%one, %one, %one) args(%p : !fly.ptr<f32, global>, %a : i32, %b : i32, %c : i32)
  gpu.launch_func @kernels::@guarded blocks in (%grid, %one, %one) threads in (%one, %one, %one) args(%a : i32, %b : i32)
  return
}

func.func @stated(%ok: i1, %n: i64) {
  fly.require("#0 is odd\0Ause an even number", %ok, %n) : (i1, i64) -> ()
  return
}
