// RUN: fly-opt --fly-rewrite-func-signature --fly-canonicalize --fly-layout-lowering --fly-int-swizzle-simplify --canonicalize --fly-convert-atom-call-to-ssa-form --fly-promote-regmem-to-vectorssa --convert-fly-to-rocdl --canonicalize %s | FileCheck %s
// RUN: fly-opt --pass-pipeline="builtin.module(fly-rewrite-func-signature,fly-canonicalize,fly-layout-lowering,fly-convert-atom-call-to-ssa-form,fly-promote-regmem-to-vectorssa,convert-fly-to-rocdl,canonicalize,gpu.module(convert-scf-to-cf,cse,convert-gpu-to-rocdl{chip=gfx942}),rocdl-attach-target{chip=gfx942},gpu-module-to-binary{format=isa})" %s | FileCheck %s --check-prefix=ISA

// The forms fit each other, and the passes behind them: a kernel from tensors to machine code.
!mfma = !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x4, (f32, f32) -> f32>>

// CHECK-LABEL: gpu.func @product(
// CHECK-SAME: %arg0: !llvm.ptr<1>, %arg1: !llvm.struct<packed (struct<packed (i32)>)>, %arg2: !llvm.ptr<1>) kernel {
// CHECK-NOT: fly.
// CHECK: %[[A:.*]] = llvm.load
// CHECK: %[[D:.*]] = rocdl.mfma.f32.16x16x4f32 %{{.*}}, %{{.*}}, %{{.*}}, 0, 0, 0 : (f32, f32, vector<4xf32>) -> vector<4xf32>
// CHECK: llvm.store %[[D]]
// ISA: v_mfma_f32_16x16x4
// ISA-SAME: s_endpgm
gpu.module @kernels {
  gpu.func @product(%t: !fly.memref<f32, global, (64,?):(1,64)>, %o: !fly.memref<f32, global, (4,64):(1,4), align<16>>) kernel {
    %x = gpu.thread_id x
    %i = arith.index_cast %x : index to i32
    %c = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<(?,0)>
    %v = fly.memref.load(%t, %c) : (!fly.memref<f32, global, (64,?):(1,64)>, !fly.int_tuple<(?,0)>) -> f32
    %one = fly.static : !fly.layout<1:1>
    %four = fly.static : !fly.layout<4:1>
    %zero = fly.static : !fly.int_tuple<0>
    %z = arith.constant dense<0.0> : vector<4xf32>
    %a = fly.memref.alloca(%one) : (!fly.layout<1:1>) -> !fly.memref<f32, register, 1:1>
    %d = fly.memref.alloca(%four) : (!fly.layout<4:1>) -> !fly.memref<f32, register, 4:1>
    fly.memref.store(%v, %a, %zero) : (f32, !fly.memref<f32, register, 1:1>, !fly.int_tuple<0>) -> ()
    fly.memref.store_vec(%z, %d) : (vector<4xf32>, !fly.memref<f32, register, 4:1>) -> ()
    %m = fly.make_mma_atom : !mfma
    fly.mma_atom_call(%m, %d, %a, %a, %d) : (!mfma, !fly.memref<f32, register, 4:1>, !fly.memref<f32, register, 1:1>, !fly.memref<f32, register, 1:1>, !fly.memref<f32, register, 4:1>) -> ()
    %k = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<(*,?)>
    %s = fly.slice(%o, %k) : (!fly.memref<f32, global, (4,64):(1,4), align<16>>, !fly.int_tuple<(*,?)>) -> !fly.memref<f32, global, 4:1, align<16>>
    %r = fly.memref.load_vec(%d) : (!fly.memref<f32, register, 4:1>) -> vector<4xf32>
    fly.memref.store_vec(%r, %s) : (vector<4xf32>, !fly.memref<f32, global, 4:1, align<16>>) -> ()
    gpu.return
  }
}
