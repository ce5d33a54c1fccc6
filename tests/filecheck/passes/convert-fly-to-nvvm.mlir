// RUN: fly-opt --keep-names --convert-fly-to-nvvm %s | FileCheck %s
// RUN: fly-opt --keep-names --convert-fly-to-nvvm %s | mlir-opt

// Pointers and plain copies are those of every target.
// CHECK-LABEL: func.func @copy(
// CHECK-SAME: %g: !llvm.ptr<1>, %s: !llvm.ptr<3>) {
// CHECK-NEXT: %v = llvm.load %g {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NEXT: llvm.store %v, %s {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK-NEXT: func.return
func.func @copy(%g: !fly.ptr<f32, global, align<16>>, %s: !fly.ptr<f32, shared, align<16>>) {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<128>, 32>
  %l = fly.static : !fly.layout<4:1>
  %m = fly.make_view(%g, %l) : (!fly.ptr<f32, global, align<16>>, !fly.layout<4:1>) -> !fly.memref<f32, global, 4:1, align<16>>
  %n = fly.make_view(%s, %l) : (!fly.ptr<f32, shared, align<16>>, !fly.layout<4:1>) -> !fly.memref<f32, shared, 4:1, align<16>>
  %v = fly.copy_atom_call_ssa(%a, %m) : (!fly.copy_atom<!fly.universal_copy<128>, 32>, !fly.memref<f32, global, 4:1, align<16>>) -> vector<4xf32>
  fly.copy_atom_call_ssa(%a, %v, %n) : (!fly.copy_atom<!fly.universal_copy<128>, 32>, vector<4xf32>, !fly.memref<f32, shared, 4:1, align<16>>) -> ()
  return
}

// Scopes have the names LLVM has for them on this target; the widest one needs none.
// CHECK-LABEL: func.func @scopes(
// CHECK-SAME: %g: !llvm.ptr<1>, %x: vector<1xi32>) {
// CHECK-NEXT: [[V0:%[0-9]+]] = vector.extract %x[0] : i32 from vector<1xi32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "llvm.atomicrmw"(%g, [[V0]]) <{bin_op = 1 : i64, ordering = 2 : i64, alignment = 4 : i64}> : (!llvm.ptr<1>, i32) -> i32
// CHECK-NEXT: [[V2:%[0-9]+]] = vector.extract %x[0] : i32 from vector<1xi32>
// CHECK-NEXT: [[V3:%[0-9]+]] = "llvm.atomicrmw"(%g, [[V2]]) <{bin_op = 7 : i64, ordering = 2 : i64, alignment = 4 : i64, syncscope = "device"}> : (!llvm.ptr<1>, i32) -> i32
// CHECK-NEXT: [[V4:%[0-9]+]] = vector.extract %x[0] : i32 from vector<1xi32>
// CHECK-NEXT: [[V5:%[0-9]+]] = "llvm.atomicrmw"(%g, [[V4]]) <{bin_op = 5 : i64, ordering = 2 : i64, alignment = 4 : i64, syncscope = "block"}> : (!llvm.ptr<1>, i32) -> i32
// CHECK-NEXT: func.return
func.func @scopes(%g: !fly.ptr<i32, global>, %x: vector<1xi32>) {
  %l = fly.static : !fly.layout<1:0>
  %m = fly.make_view(%g, %l) : (!fly.ptr<i32, global>, !fly.layout<1:0>) -> !fly.memref<i32, global, 1:0>
  %system = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_atomic<add, i32>, 32>
  %agent = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_atomic<max, i32, scope = agent>, 32>
  %group = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_atomic<or, i32, scope = workgroup>, 32>
  fly.copy_atom_call_ssa(%system, %x, %m) : (!fly.copy_atom<!fly.universal_atomic<add, i32>, 32>, vector<1xi32>, !fly.memref<i32, global, 1:0>) -> ()
  fly.copy_atom_call_ssa(%agent, %x, %m) : (!fly.copy_atom<!fly.universal_atomic<max, i32, scope = agent>, 32>, vector<1xi32>, !fly.memref<i32, global, 1:0>) -> ()
  fly.copy_atom_call_ssa(%group, %x, %m) : (!fly.copy_atom<!fly.universal_atomic<or, i32, scope = workgroup>, 32>, vector<1xi32>, !fly.memref<i32, global, 1:0>) -> ()
  return
}
