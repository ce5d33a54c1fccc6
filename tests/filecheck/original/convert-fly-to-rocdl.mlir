// RUN: fly-opt --convert-fly-to-rocdl %s | FileCheck %s
// RUN: fly-opt --convert-fly-to-rocdl %s | fly-opt | FileCheck %s
// RUN: fly-opt --convert-fly-to-rocdl --convert-arith-to-llvm --canonicalize %s | FileCheck %s --check-prefix=FOLDED

// Signatures: tensors and pointers by their address space, atoms by their state, narrow floats as integers.
!plain = !fly.copy_atom<!fly.universal_copy<128>, 32>
!buffer = !fly.copy_atom<!fly_rocdl.cdna3.buffer_copy<128>, 16>
!lds = !fly.copy_atom<!fly_rocdl.cdna3.buffer_copy_lds<128>, 32>
!scaled = !fly.mma_atom<!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselA = 0, opselB = 0>>
!scaled16 = !fly.mma_atom<!fly_rocdl.gfx1250.wmma_scale<16x16x128, (f8E4M3FN, f8E4M3FN) -> f32, opselA = 0, opselB = 0, modC = 0, reuseA = false, reuseB = false, blockSize = 16>>
!tensor = !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>, 32>

// CHECK-LABEL: func.func @pointers(
// CHECK-SAME: %arg0: !llvm.ptr<1>, %arg1: !llvm.ptr<3>, %arg2: !llvm.ptr<5>, %arg3: !llvm.ptr, %arg4: !llvm.struct<(ptr<8>, i32)>, %arg5: vector<4xi8>, %arg6: i4) -> !llvm.ptr<3> {
// CHECK-NEXT: return %arg1 : !llvm.ptr<3>
func.func @pointers(%g: !fly.memref<f32, global, (?,4):(4,1)>, %s: !fly.memref<f16, shared, 8:1>, %r: !fly.ptr<f32, register>,
                    %a: !fly.ptr<i8, generic>, %b: !fly.memref<f32, #fly_rocdl.buffer_desc, 4:1>, %x: vector<4xf8E4M3FN>,
                    %y: f4E2M1FN) -> !fly.memref<f16, shared, 8:1> {
  return %s : !fly.memref<f16, shared, 8:1>
}

// CHECK-LABEL: func.func private @atoms(
// CHECK-SAME: !llvm.struct<()>, !llvm.struct<(i32)>, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, i32)>, !llvm.struct<(i64, i64)>, !llvm.struct<(i32, i32, i32, i32, i32, i32, i64, i64, i64, i64, i64)>) -> ()
func.func private @atoms(!plain, !buffer, !lds, !scaled, !scaled16, !tensor)

// A kernel and its launch; one block of dynamic shared memory for all kernels of a module, static ones beside it.
module attributes {gpu.container_module} {
  // CHECK: gpu.module @kernels {
  // CHECK-NEXT: llvm.mlir.global external @__dynamic_shared_0() {addr_space = 3 : i32, alignment = 1024 : i64, dso_local} : !llvm.array<0 x i8>
  // CHECK-NEXT: llvm.mlir.global internal @__shared_alloc_0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x i8>
  gpu.module @kernels {
    // CHECK-NEXT: gpu.func @k(%arg0: !llvm.ptr<3>) kernel {
    // CHECK-NEXT: %[[A:.*]] = llvm.mlir.addressof @__dynamic_shared_0 : !llvm.ptr<3>
    // CHECK-NEXT: llvm.getelementptr %[[A]][0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    gpu.func @k(%s: !fly.memref<f16, shared, 8:1>) kernel {
      %d = fly.get_dyn_shared() : !fly.ptr<i8, shared, align<1024>>
      gpu.return
    }
    // CHECK: gpu.func @other() kernel {
    // CHECK-NEXT: llvm.mlir.addressof @__dynamic_shared_0
    // CHECK: llvm.mlir.addressof @__shared_alloc_0
    gpu.func @other() kernel {
      %d = fly.get_dyn_shared() : !fly.ptr<i8, shared, align<1024>>
      %s = fly.make_ptr() {dictAttrs = {allocSize = 16 : i64}} : () -> !fly.ptr<f32, shared, align<16>>
      gpu.return
    }
  }
  // CHECK: func.func @launch(%arg0: !llvm.ptr<3>, %arg1: index) {
  // CHECK: gpu.launch_func @kernels::@k {{.*}} args(%arg0 : !llvm.ptr<3>)
  func.func @launch(%s: !fly.memref<f16, shared, 8:1>, %n: index) {
    gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%s : !fly.memref<f16, shared, 8:1>)
    return
  }
}

// An offset is an operand, never folded. Constants add up, run-time numbers add up; a constant goes last, unless others
// use the pointer in between.
// CHECK-LABEL: func.func @offsets(
// CHECK-NEXT: %[[C8:.*]] = arith.constant 8 : i32
// CHECK-NEXT: %[[P:.*]] = llvm.getelementptr %arg0[%[[C8]]] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
// CHECK-NEXT: llvm.load %[[P]] {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK-NEXT: %[[SUM:.*]] = arith.addi %arg1, %arg2 : i32
// CHECK-NEXT: %[[Q:.*]] = llvm.getelementptr %arg0[%[[SUM]]] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
// CHECK-NEXT: llvm.load %[[Q]]
// CHECK-NEXT: %[[R:.*]] = llvm.getelementptr %arg0[%arg1]
// CHECK-NEXT: %[[C6:.*]] = arith.constant 6 : i32
// CHECK-NEXT: %[[S:.*]] = llvm.getelementptr %[[R]][%[[C6]]]
// CHECK-NEXT: llvm.load %[[S]]
// CHECK-NEXT: %[[T:.*]] = llvm.getelementptr %arg0[%arg1]
// CHECK-NEXT: %[[D6:.*]] = arith.constant 6 : i32
// CHECK-NEXT: %[[U:.*]] = llvm.getelementptr %[[T]][%[[D6]]]
// CHECK-NEXT: llvm.load %[[U]]
// CHECK-NEXT: %[[E6:.*]] = arith.constant 6 : i32
// CHECK-NEXT: %[[V:.*]] = llvm.getelementptr %arg0[%[[E6]]]
// CHECK-NEXT: %[[W:.*]] = llvm.getelementptr %[[V]][%arg1]
// CHECK-NEXT: llvm.load %[[V]]
// CHECK-NEXT: llvm.load %[[W]]
func.func @offsets(%p: !fly.ptr<f32, global>, %i: i32, %j: i32) -> (f32, f32, f32, f32, f32, f32) {
  %6 = fly.make_int_tuple() : () -> !fly.int_tuple<6>
  %2 = fly.static : !fly.int_tuple<2>
  %ti = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?>
  %tj = fly.make_int_tuple(%j) : (i32) -> !fly.int_tuple<?>
  %ss0 = fly.add_offset(%p, %6) : (!fly.ptr<f32, global>, !fly.int_tuple<6>) -> !fly.ptr<f32, global>
  %ss = fly.add_offset(%ss0, %2) : (!fly.ptr<f32, global>, !fly.int_tuple<2>) -> !fly.ptr<f32, global>
  %a = fly.ptr.load(%ss) : (!fly.ptr<f32, global>) -> f32
  %dd0 = fly.add_offset(%p, %ti) : (!fly.ptr<f32, global>, !fly.int_tuple<?>) -> !fly.ptr<f32, global>
  %dd = fly.add_offset(%dd0, %tj) : (!fly.ptr<f32, global>, !fly.int_tuple<?>) -> !fly.ptr<f32, global>
  %b = fly.ptr.load(%dd) : (!fly.ptr<f32, global>) -> f32
  %sd0 = fly.add_offset(%p, %6) : (!fly.ptr<f32, global>, !fly.int_tuple<6>) -> !fly.ptr<f32, global>
  %sd = fly.add_offset(%sd0, %ti) : (!fly.ptr<f32, global>, !fly.int_tuple<?>) -> !fly.ptr<f32, global>
  %c = fly.ptr.load(%sd) : (!fly.ptr<f32, global>) -> f32
  %ds0 = fly.add_offset(%p, %ti) : (!fly.ptr<f32, global>, !fly.int_tuple<?>) -> !fly.ptr<f32, global>
  %ds = fly.add_offset(%ds0, %6) : (!fly.ptr<f32, global>, !fly.int_tuple<6>) -> !fly.ptr<f32, global>
  %d = fly.ptr.load(%ds) : (!fly.ptr<f32, global>) -> f32
  %m0 = fly.add_offset(%p, %6) : (!fly.ptr<f32, global>, !fly.int_tuple<6>) -> !fly.ptr<f32, global>
  %m = fly.add_offset(%m0, %ti) : (!fly.ptr<f32, global>, !fly.int_tuple<?>) -> !fly.ptr<f32, global>
  %e = fly.ptr.load(%m0) : (!fly.ptr<f32, global>) -> f32
  %f = fly.ptr.load(%m) : (!fly.ptr<f32, global>) -> f32
  return %a, %b, %c, %d, %e, %f : f32, f32, f32, f32, f32, f32
}

// CHECK-LABEL: func.func @registers(
// CHECK-NEXT: %[[N:.*]] = arith.constant 8 : i64
// CHECK-NEXT: %[[P:.*]] = llvm.alloca %[[N]] x f32 : (i64) -> !llvm.ptr<5>
// CHECK-NEXT: return %[[P]] : !llvm.ptr<5>
func.func @registers() -> !fly.ptr<f32, register> {
  %p = fly.make_ptr() {dictAttrs = {allocSize = 8 : i64}} : () -> !fly.ptr<f32, register>
  return %p : !fly.ptr<f32, register>
}

// A buffer moves its offset field, one addition a step.
// CHECK-LABEL: func.func @buffer_offset(
// CHECK-NEXT: %[[C:.*]] = arith.constant 6 : i32
// CHECK-NEXT: %[[O:.*]] = llvm.extractvalue %arg0[1] : !llvm.struct<(ptr<8>, i32)>
// CHECK-NEXT: %[[P:.*]] = arith.addi %[[O]], %[[C]] : i32
// CHECK-NEXT: %[[S:.*]] = llvm.insertvalue %[[P]], %arg0[1] : !llvm.struct<(ptr<8>, i32)>
// CHECK-NEXT: return %[[S]]
func.func @buffer_offset(%b: !fly.ptr<f32, #fly_rocdl.buffer_desc>) -> !fly.ptr<f32, #fly_rocdl.buffer_desc> {
  %6 = fly.make_int_tuple() : () -> !fly.int_tuple<6>
  %m = fly.add_offset(%b, %6) : (!fly.ptr<f32, #fly_rocdl.buffer_desc>, !fly.int_tuple<6>) -> !fly.ptr<f32, #fly_rocdl.buffer_desc>
  return %m : !fly.ptr<f32, #fly_rocdl.buffer_desc>
}

// State: zeros at first, a field per value set, read by the call; a tensor copy begins without bounds and with the
// strides of its tensor.
// CHECK-LABEL: func.func @state(
// CHECK-NEXT: %[[U:.*]] = llvm.mlir.undef : !llvm.struct<(i32, i32)>
// CHECK-NEXT: %[[Z:.*]] = arith.constant 0 : i32
// CHECK-NEXT: %[[A:.*]] = llvm.insertvalue %[[Z]], %[[U]][0] : !llvm.struct<(i32, i32)>
// CHECK-NEXT: %[[Y:.*]] = arith.constant 0 : i32
// CHECK-NEXT: %[[B:.*]] = llvm.insertvalue %[[Y]], %[[A]][1]
// CHECK-NEXT: %[[C:.*]] = llvm.insertvalue %arg0, %[[B]][1]
// CHECK-NEXT: return %[[C]] : !llvm.struct<(i32, i32)>
func.func @state(%x: i32) -> !scaled {
  %m = fly.make_mma_atom : !scaled
  %n = fly.atom.set_value(%m, "scale_b", %x) : (!scaled, i32) -> !scaled
  return %n : !scaled
}

// CHECK-LABEL: func.func @tensor_copy(
// CHECK: %[[E:.*]] = arith.constant 2147483647 : i32
// CHECK-NEXT: llvm.insertvalue %[[E]], %{{.*}}[1]
// CHECK: %[[S:.*]] = arith.constant -2147483648 : i64
// CHECK-NEXT: llvm.insertvalue %[[S]], %{{.*}}[6]
// CHECK: %[[O:.*]] = arith.constant 0 : i64
// CHECK-NEXT: llvm.insertvalue %[[O]], %{{.*}}[10]
func.func @tensor_copy() -> !tensor {
  %m = fly.make_copy_atom {valBits = 32 : i32} : !tensor
  return %m : !tensor
}

// CHECK-LABEL: func.func @buffer(
// CHECK-SAME: %arg2: !llvm.struct<(i32)>
// CHECK: %[[R:.*]] = llvm.extractvalue %arg0[0] : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[S:.*]] = llvm.extractvalue %arg2[0] : !llvm.struct<(i32)>
// CHECK: %[[BYTES:.*]] = arith.muli %[[S]], %c2_i32{{.*}} : i32
// CHECK: %[[V:.*]] = rocdl.raw.ptr.buffer.load %[[R]], %{{.*}}, %[[BYTES]], %{{.*}} : vector<4xi32>
// CHECK-NEXT: llvm.store %[[V]], %arg1
func.func @buffer(%b: !fly.memref<f16, #fly_rocdl.buffer_desc, 8:1>, %r: !fly.memref<f16, register, 8:1>, %a: !buffer) {
  fly.copy_atom_call(%a, %b, %r) : (!buffer, !fly.memref<f16, #fly_rocdl.buffer_desc, 8:1>, !fly.memref<f16, register, 8:1>) -> ()
  return
}

// Matrix instructions, on memory and on vectors.
!mfma = !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x4, (f32, f32) -> f32>>
// CHECK-LABEL: func.func @mfma(
// CHECK: %[[A:.*]] = llvm.load %arg0 : !llvm.ptr<5> -> f32
// CHECK: %[[B:.*]] = llvm.load %arg0 : !llvm.ptr<5> -> f32
// CHECK: %[[C:.*]] = llvm.load %arg1 : !llvm.ptr<5> -> vector<4xf32>
// CHECK: %[[D:.*]] = rocdl.mfma.f32.16x16x4f32 %[[A]], %[[B]], %[[C]], 0, 0, 0 : (f32, f32, vector<4xf32>) -> vector<4xf32>
// CHECK: llvm.store %[[D]], %arg1 : vector<4xf32>, !llvm.ptr<5>
func.func @mfma(%a: !fly.memref<f32, register, 1:1>, %c: !fly.memref<f32, register, 4:1>) {
  %m = fly.make_mma_atom : !mfma
  fly.mma_atom_call(%m, %c, %a, %a, %c) : (!mfma, !fly.memref<f32, register, 4:1>, !fly.memref<f32, register, 1:1>, !fly.memref<f32, register, 1:1>, !fly.memref<f32, register, 4:1>) -> ()
  return
}

// CHECK-LABEL: func.func @mfma_scaled(
// CHECK-SAME: %arg0: vector<32xi8>, %arg1: vector<32xi4>, %arg2: vector<4xf32>, %arg3: !llvm.struct<(i32, i32)>
// CHECK: %[[A:.*]] = llvm.bitcast %arg0 : vector<32xi8> to vector<8xi32>
// CHECK: %[[B:.*]] = llvm.bitcast %arg1 : vector<32xi4> to vector<4xi32>
// CHECK: %[[SA:.*]] = llvm.extractvalue %arg3[0] : !llvm.struct<(i32, i32)>
// CHECK: %[[SB:.*]] = llvm.extractvalue %arg3[1]
// CHECK: rocdl.mfma.scale.f32.16x16x128.f8f6f4 %[[A]], %[[B]], %arg2, fp8_e4m3, fp4_e2m1, 0, %[[SA]], 0, %[[SB]] :
func.func @mfma_scaled(%a: vector<32xf8E4M3FN>, %b: vector<32xf4E2M1FN>, %c: vector<4xf32>, %m: !scaled) -> vector<4xf32> {
  %d = fly.mma_atom_call_ssa(%m, %a, %b, %c) : (!scaled, vector<32xf8E4M3FN>, vector<32xf4E2M1FN>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// A state that is set and read at once leaves no struct behind.
// FOLDED-LABEL: func.func @state_at_once(
// FOLDED-NOT: llvm.insertvalue
// FOLDED: %[[Z:.*]] = llvm.mlir.constant(0 : i32) : i32
// FOLDED-NOT: llvm.extractvalue
// FOLDED: rocdl.mfma.scale.f32.16x16x128.f8f6f4 %{{.*}}, %{{.*}}, %arg2, fp8_e4m3, fp4_e2m1, 0, %arg3, 0, %[[Z]] :
func.func @state_at_once(%a: vector<32xf8E4M3FN>, %b: vector<32xf4E2M1FN>, %c: vector<4xf32>, %s: i32) -> vector<4xf32> {
  %m = fly.make_mma_atom : !scaled
  %n = fly.atom.set_value(%m, "scale_a", %s) : (!scaled, i32) -> !scaled
  %d = fly.mma_atom_call_ssa(%n, %a, %b, %c) : (!scaled, vector<32xf8E4M3FN>, vector<32xf4E2M1FN>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

!iu8 = !fly.mma_atom<!fly_rocdl.gfx11.wmma<16x16x16, (i8, i8) -> i32, signA = true, signB = false, clamp = true>>
// CHECK-LABEL: func.func @wmma(
// CHECK: rocdl.wmma.i32.16x16x16.iu8 %{{.*}}, %{{.*}}, %arg1 {clamp = true, signA = true} : (vector<4xi32>, vector<4xi32>, vector<8xi32>) -> vector<8xi32>
func.func @wmma(%a: vector<16xi8>, %c: vector<8xi32>) -> vector<8xi32> {
  %m = fly.make_mma_atom : !iu8
  %d = fly.mma_atom_call_ssa(%m, %a, %a, %c) : (!iu8, vector<16xi8>, vector<16xi8>, vector<8xi32>) -> vector<8xi32>
  return %d : vector<8xi32>
}

!iu4 = !fly.mma_atom<!fly_rocdl.gfx1250.wmma<16x16x32, (i4, i4) -> i32, signB = true>>
// CHECK-LABEL: func.func @wmma_of_four_bits(
// CHECK: rocdl.wmma.i32.16x16x32.iu4 %{{.*}}, %{{.*}}, %arg1 {signB = true} : (vector<2xi32>, vector<2xi32>, vector<8xi32>) -> vector<8xi32>
func.func @wmma_of_four_bits(%a: vector<16xi4>, %c: vector<8xi32>) -> vector<8xi32> {
  %m = fly.make_mma_atom : !iu4
  %d = fly.mma_atom_call_ssa(%m, %a, %a, %c) : (!iu4, vector<16xi4>, vector<16xi4>, vector<8xi32>) -> vector<8xi32>
  return %d : vector<8xi32>
}

// CHECK-LABEL: func.func @wmma_scaled(
// CHECK: %[[SA:.*]] = llvm.extractvalue %arg2[0] : !llvm.struct<(i64, i64)>
// CHECK: %[[SB:.*]] = llvm.extractvalue %arg2[1]
// CHECK: rocdl.wmma.scale16.f32.16x16x128.f8f6f4 %{{.*}}, %{{.*}}, %arg1, %[[SA]], %[[SB]], fmtA = fp8_e4m3, fmtB = fp8_e4m3, modC = none, scaleAType = row0, fmtScaleA = e8, scaleBType = row0, fmtScaleB = e8 : (vector<16xi32>, vector<16xi32>, vector<8xf32>, i64, i64) -> vector<8xf32>
func.func @wmma_scaled(%a: vector<64xf8E4M3FN>, %c: vector<8xf32>, %m: !scaled16) -> vector<8xf32> {
  %d = fly.mma_atom_call_ssa(%m, %a, %a, %c) : (!scaled16, vector<64xf8E4M3FN>, vector<64xf8E4M3FN>, vector<8xf32>) -> vector<8xf32>
  return %d : vector<8xf32>
}

// Plain copies and products on memory, and arithmetic between: narrow floats are floats only where they are computed with.
// CHECK-LABEL: func.func @memory(
// CHECK: %[[V:.*]] = llvm.load %arg0 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NEXT: llvm.store %[[V]], %arg1 {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<5>
// CHECK: %[[P:.*]] = arith.mulf
// CHECK: %[[D:.*]] = arith.addf %[[P]]
// CHECK: llvm.store %[[D]], %arg2
// CHECK: %[[F:.*]] = arith.bitcast %arg3 : i8 to f8E4M3FN
// CHECK: arith.extf %[[F]] : f8E4M3FN to f32
func.func @memory(%g: !fly.memref<f32, global, 4:1>, %r: !fly.memref<f32, register, 4:1>, %o: !fly.memref<f32, register, 1:1>, %f: f8E4M3FN) -> f32 {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !plain
  fly.copy_atom_call(%a, %g, %r) : (!plain, !fly.memref<f32, global, 4:1>, !fly.memref<f32, register, 4:1>) -> ()
  %m = fly.make_mma_atom : !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
  fly.mma_atom_call(%m, %o, %o, %o, %o) : (!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.memref<f32, register, 1:1>, !fly.memref<f32, register, 1:1>, !fly.memref<f32, register, 1:1>, !fly.memref<f32, register, 1:1>) -> ()
  %w = arith.extf %f : f8E4M3FN to f32
  return %w : f32
}
