// RUN: fly-opt --fly-convert-atom-call-to-ssa-form %s | FileCheck %s
// RUN: fly-opt --fly-convert-atom-call-to-ssa-form %s | fly-opt | FileCheck %s
// RUN: fly-opt --fly-promote-regmem-to-vectorssa %s | FileCheck %s --check-prefix=PROMOTED

!copy = !fly.copy_atom<!fly.universal_copy<128>, 32>
!fma = !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>

// Registers that are one run become vectors, whatever the other side; a predicated load keeps what was there.
// CHECK-LABEL: func.func @calls(
// CHECK: %[[P:.*]] = fly.make_ptr()
// CHECK: %[[V:.*]] = fly.copy_atom_call_ssa(%{{.*}}, %arg0) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : {{.*}} -> vector<4xf32>
// CHECK-NEXT: fly.ptr.store(%[[V]], %[[P]]) : (vector<4xf32>, !fly.ptr<f32, register>) -> ()
// CHECK-NEXT: %[[W:.*]] = fly.ptr.load(%[[P]]) : (!fly.ptr<f32, register>) -> vector<4xf32>
// CHECK-NEXT: fly.copy_atom_call_ssa(%{{.*}}, %[[W]], %arg0) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : {{.*}} -> ()
// CHECK-NEXT: %[[Q:.*]] = fly.get_iter(%arg1)
// CHECK-NEXT: %[[F:.*]] = fly.ptr.load(%[[Q]]) : (!fly.ptr<i1, register>) -> i1
// CHECK-NEXT: %[[O:.*]] = fly.ptr.load(%[[P]])
// CHECK-NEXT: fly.copy_atom_call_ssa(%{{.*}}, %arg0, %[[O]], %[[F]]) {operandSegmentSizes = array<i32: 1, 1, 1, 1>}
func.func @calls(%g: !fly.memref<f32, global, 4:1>, %pred: !fly.memref<i1, register, 1:0>) {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !copy
  %l = fly.static : !fly.layout<(2,2):(1,2)>
  %r = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
  %d = fly.make_view(%r, %l) : (!fly.ptr<f32, register>, !fly.layout<(2,2):(1,2)>) -> !fly.memref<f32, register, (2,2):(1,2)>
  fly.copy_atom_call(%a, %g, %d) : (!copy, !fly.memref<f32, global, 4:1>, !fly.memref<f32, register, (2,2):(1,2)>) -> ()
  fly.copy_atom_call(%a, %d, %g) : (!copy, !fly.memref<f32, register, (2,2):(1,2)>, !fly.memref<f32, global, 4:1>) -> ()
  fly.copy_atom_call(%a, %g, %d, %pred) : (!copy, !fly.memref<f32, global, 4:1>, !fly.memref<f32, register, (2,2):(1,2)>, !fly.memref<i1, register, 1:0>) -> ()
  return
}

// Others stay on memory; a product needs all of its operands.
// CHECK-LABEL: func.func @on_memory(
// CHECK: fly.copy_atom_call(%{{.*}}, %arg0, %arg1)
// CHECK-NOT: copy_atom_call_ssa
// CHECK: fly.mma_atom_call(
// CHECK: %[[D:.*]] = fly.mma_atom_call_ssa({{.*}} -> vector<1xf32>
// CHECK-NEXT: %[[P:.*]] = fly.get_iter(%arg2)
// CHECK-NEXT: fly.ptr.store(%[[D]], %[[P]])
func.func @on_memory(%g: !fly.memref<f32, global, 4:1>, %gap: !fly.memref<f32, register, 4:2>, %one: !fly.memref<f32, register, 1:1>, %s: !fly.memref<f32, shared, 1:1>) {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !copy
  fly.copy_atom_call(%a, %g, %gap) : (!copy, !fly.memref<f32, global, 4:1>, !fly.memref<f32, register, 4:2>) -> ()
  %m = fly.make_mma_atom : !fma
  fly.mma_atom_call(%m, %one, %s, %one, %one) : (!fma, !fly.memref<f32, register, 1:1>, !fly.memref<f32, shared, 1:1>, !fly.memref<f32, register, 1:1>, !fly.memref<f32, register, 1:1>) -> ()
  fly.mma_atom_call(%m, %one, %one, %one, %one) : (!fma, !fly.memref<f32, register, 1:1>, !fly.memref<f32, register, 1:1>, !fly.memref<f32, register, 1:1>, !fly.memref<f32, register, 1:1>) -> ()
  return
}

// One vector for an allocation, from poison on; accesses are slices and elements of it.
// PROMOTED-LABEL: func.func @slices(
// PROMOTED: %[[V0:.*]] = ub.poison : vector<8xf32>
// PROMOTED: %[[V1:.*]] = vector.insert_strided_slice %arg0, %[[V0]] {offsets = [4], strides = [1]} : vector<4xf32> into vector<8xf32>
// PROMOTED-NEXT: %[[V2:.*]] = vector.insert %arg1, %[[V1]] [4] : f32 into vector<8xf32>
// PROMOTED-NEXT: %[[W:.*]] = vector.extract_strided_slice %[[V2]] {offsets = [4], sizes = [2], strides = [1]} : vector<8xf32> to vector<2xf32>
// PROMOTED-NEXT: %[[X:.*]] = vector.extract %[[V2]][4] : f32 from vector<8xf32>
// PROMOTED-NEXT: return %[[W]], %[[X]], %[[V2]]
func.func @slices(%v: vector<4xf32>, %x: f32) -> (vector<2xf32>, f32, vector<8xf32>) {
  %p = fly.make_ptr() {dictAttrs = {allocSize = 8 : i64}} : () -> !fly.ptr<f32, register>
  %four = fly.make_int_tuple() : () -> !fly.int_tuple<4>
  %q = fly.add_offset(%p, %four) : (!fly.ptr<f32, register>, !fly.int_tuple<4>) -> !fly.ptr<f32, register>
  fly.ptr.store(%v, %q) : (vector<4xf32>, !fly.ptr<f32, register>) -> ()
  fly.ptr.store(%x, %q) : (f32, !fly.ptr<f32, register>) -> ()
  %a = fly.ptr.load(%q) : (!fly.ptr<f32, register>) -> vector<2xf32>
  %b = fly.ptr.load(%q) : (!fly.ptr<f32, register>) -> f32
  %c = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> vector<8xf32>
  return %a, %b, %c : vector<2xf32>, f32, vector<8xf32>
}

// Narrow floats are integers in registers; a loop carries the vector.
// PROMOTED-LABEL: func.func @carried(
// PROMOTED: %[[V0:.*]] = ub.poison : vector<4xi8>
// PROMOTED: %[[V1:.*]] = vector.bitcast %arg0 : vector<4xf8E4M3FN> to vector<4xi8>
// PROMOTED: %[[R:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[V1]]) -> (vector<4xi8>) {
// PROMOTED: %[[H:.*]] = vector.extract_strided_slice %[[A]] {offsets = [0], sizes = [2], strides = [1]} : vector<4xi8> to vector<2xi8>
// PROMOTED-NEXT: %[[G:.*]] = vector.bitcast %[[H]] : vector<2xi8> to vector<2xf8E4M3FN>
// PROMOTED-NEXT: %[[I:.*]] = vector.bitcast %[[G]] : vector<2xf8E4M3FN> to vector<2xi8>
// PROMOTED-NEXT: %[[B:.*]] = vector.insert_strided_slice %[[I]], %[[A]] {offsets = [2], strides = [1]}
// PROMOTED-NEXT: scf.yield %[[B]] : vector<4xi8>
// PROMOTED: vector.bitcast %[[R]] : vector<4xi8> to vector<4xf8E4M3FN>
func.func @carried(%v: vector<4xf8E4M3FN>, %n: index) -> vector<4xf8E4M3FN> {
  %lo = arith.constant 0 : index
  %one = arith.constant 1 : index
  %p = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f8E4M3FN, register>
  %two = fly.make_int_tuple() : () -> !fly.int_tuple<2>
  %q = fly.add_offset(%p, %two) : (!fly.ptr<f8E4M3FN, register>, !fly.int_tuple<2>) -> !fly.ptr<f8E4M3FN, register>
  fly.ptr.store(%v, %p) : (vector<4xf8E4M3FN>, !fly.ptr<f8E4M3FN, register>) -> ()
  scf.for %i = %lo to %n step %one {
    %h = fly.ptr.load(%p) : (!fly.ptr<f8E4M3FN, register>) -> vector<2xf8E4M3FN>
    fly.ptr.store(%h, %q) : (vector<2xf8E4M3FN>, !fly.ptr<f8E4M3FN, register>) -> ()
  }
  %r = fly.ptr.load(%p) : (!fly.ptr<f8E4M3FN, register>) -> vector<4xf8E4M3FN>
  return %r : vector<4xf8E4M3FN>
}

// Under a cast or a run-time offset registers stay memory; others beside them do not.
// PROMOTED-LABEL: func.func @kept(
// PROMOTED: %[[P:.*]] = fly.make_ptr()
// PROMOTED: fly.recast_iter(%[[P]])
// PROMOTED: %[[Q:.*]] = fly.make_ptr()
// PROMOTED: fly.add_offset(%[[Q]]
// PROMOTED-NOT: fly.make_ptr
// PROMOTED: return %{{.*}}, %{{.*}}, %arg1
func.func @kept(%i: i32, %x: f32) -> (i32, f32, f32) {
  %p = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<f32, register>
  %c = fly.recast_iter(%p) : (!fly.ptr<f32, register>) -> !fly.ptr<i32, register>
  %a = fly.ptr.load(%c) : (!fly.ptr<i32, register>) -> i32
  %q = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
  %o = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?>
  %d = fly.add_offset(%q, %o) : (!fly.ptr<f32, register>, !fly.int_tuple<?>) -> !fly.ptr<f32, register>
  %b = fly.ptr.load(%d) : (!fly.ptr<f32, register>) -> f32
  %r = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<f32, register>
  fly.ptr.store(%x, %r) : (f32, !fly.ptr<f32, register>) -> ()
  return %a, %b, %x : i32, f32, f32
}
