// RUN: fly-opt --keep-names --convert-fly-to-nvvm %s | FileCheck %s

// An access with a cache hint is one instruction on 32-bit words, written as PTX.
// CHECK-LABEL: func.func @hinted(
// CHECK-SAME: %g: !llvm.ptr<1>, %o: !llvm.ptr<1>) {
// CHECK-NEXT: [[R:%[0-9]+]] = llvm.inline_asm has_side_effects {fly.ptx = "ld.global.4"} "ld.global.L1::no_allocate.v4.b32 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,l,~{memory}" %g : (!llvm.ptr<1>) -> !llvm.struct<(i32, i32, i32, i32)>
// CHECK-NEXT: llvm.extractvalue [[R]][0]
// CHECK: vector.bitcast {{%[0-9]+}} : vector<4xi32> to vector<4xf32>
// CHECK: llvm.inline_asm has_side_effects {fly.ptx = "st.global.4"} "st.global.cs.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,~{memory}" %o,
func.func @hinted(%g: !fly.ptr<f32, global, align<16>>, %o: !fly.ptr<f32, global, align<16>>) {
  %load = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly_nvvm.sm80.cached_copy<128, no_allocate>, 32>
  %store = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly_nvvm.sm80.cached_copy<128, streaming>, 32>
  %l = fly.static : !fly.layout<4:1>
  %m = fly.make_view(%g, %l) : (!fly.ptr<f32, global, align<16>>, !fly.layout<4:1>) -> !fly.memref<f32, global, 4:1, align<16>>
  %n = fly.make_view(%o, %l) : (!fly.ptr<f32, global, align<16>>, !fly.layout<4:1>) -> !fly.memref<f32, global, 4:1, align<16>>
  %v = fly.copy_atom_call_ssa(%load, %m) : (!fly.copy_atom<!fly_nvvm.sm80.cached_copy<128, no_allocate>, 32>, !fly.memref<f32, global, 4:1, align<16>>) -> vector<4xf32>
  fly.copy_atom_call_ssa(%store, %v, %n) : (!fly.copy_atom<!fly_nvvm.sm80.cached_copy<128, streaming>, 32>, vector<4xf32>, !fly.memref<f32, global, 4:1, align<16>>) -> ()
  return
}

// An asynchronous copy is LLVM's own.
// CHECK-LABEL: func.func @asynchronous(
// CHECK-SAME: %g: !llvm.ptr<1>, %s: !llvm.ptr<3>) {
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16"(%s, %g) : (!llvm.ptr<3>, !llvm.ptr<1>) -> ()
// CHECK-NEXT: func.return
func.func @asynchronous(%g: !fly.ptr<f16, global, align<16>>, %s: !fly.ptr<f16, shared, align<16>>) {
  %a = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_nvvm.sm80.cp_async<128, cg>, 16>
  %l = fly.static : !fly.layout<8:1>
  %m = fly.make_view(%g, %l) : (!fly.ptr<f16, global, align<16>>, !fly.layout<8:1>) -> !fly.memref<f16, global, 8:1, align<16>>
  %n = fly.make_view(%s, %l) : (!fly.ptr<f16, shared, align<16>>, !fly.layout<8:1>) -> !fly.memref<f16, shared, 8:1, align<16>>
  fly.copy_atom_call_ssa(%a, %m, %n) : (!fly.copy_atom<!fly_nvvm.sm80.cp_async<128, cg>, 16>, !fly.memref<f16, global, 8:1, align<16>>, !fly.memref<f16, shared, 8:1, align<16>>) -> ()
  return
}
