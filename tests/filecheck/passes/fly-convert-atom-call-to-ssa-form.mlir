// RUN: fly-opt --keep-names --as-compiled --fly-convert-atom-call-to-ssa-form --canonicalize %s | FileCheck %s

!copy = !fly.copy_atom<!fly.universal_copy<128>, 32>

// Memory to registers: the call gives a vector, which is written where the registers were.
// CHECK-LABEL: func.func @load(
// CHECK-SAME: %g: !fly.ptr<f32, global, align<16>>) {
// CHECK-NEXT: %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<128>, 32>
// CHECK-NEXT: %l = fly.static : !fly.layout<4:1>
// CHECK-NEXT: %r = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: %s = fly.make_view(%g, %l) : {{.*}} -> !fly.memref<f32, global, 4:1, align<16>>
// CHECK-NEXT: [[V0:%[0-9]+]] = fly.copy_atom_call_ssa(%a, %s) : {{.*}} -> vector<4xf32>
// CHECK-NEXT: fly.ptr.store([[V0]], %r) : (vector<4xf32>, !fly.ptr<f32, register>) -> ()
// CHECK-NEXT: [[V1:%[0-9]+]] = fly.ptr.load(%r) : (!fly.ptr<f32, register>) -> vector<4xf32>
// CHECK-NEXT: fly.copy_atom_call_ssa(%a, [[V1]], %s) : {{.*}} -> ()
// CHECK-NEXT: func.return
func.func @load(%g: !fly.ptr<f32, global, align<16>>) {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !copy
  %l = fly.static : !fly.layout<4:1>
  %r = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
  %s = fly.make_view(%g, %l) : (!fly.ptr<f32, global, align<16>>, !fly.layout<4:1>) -> !fly.memref<f32, global, 4:1, align<16>>
  %d = fly.make_view(%r, %l) : (!fly.ptr<f32, register>, !fly.layout<4:1>) -> !fly.memref<f32, register, 4:1>
  fly.copy_atom_call(%a, %s, %d) : (!copy, !fly.memref<f32, global, 4:1, align<16>>, !fly.memref<f32, register, 4:1>) -> ()
  fly.copy_atom_call(%a, %d, %s) : (!copy, !fly.memref<f32, register, 4:1>, !fly.memref<f32, global, 4:1, align<16>>) -> ()
  return
}

// A predicated load takes what the registers held; registers that are no run are read in pieces.
// CHECK-LABEL: func.func @predicated(
// CHECK-SAME: %g: !fly.ptr<f32, global>) {
// CHECK-NEXT: [[V0:%[0-9]+]] = fly.static : !fly.int_tuple<3>
// CHECK-NEXT: %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<64>, 32>
// CHECK-NEXT: %l = fly.static : !fly.layout<2:1>
// CHECK-NEXT: %r = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: %q = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<i1, register>
// CHECK-NEXT: %s = fly.make_view(%g, %l) : (!fly.ptr<f32, global>, !fly.layout<2:1>) -> !fly.memref<f32, global, 2:1>
// CHECK-NEXT: [[V1:%[0-9]+]] = fly.ptr.load(%q) : (!fly.ptr<i1, register>) -> i1
// CHECK-NEXT: [[V2:%[0-9]+]] = fly.ptr.load(%r) : (!fly.ptr<f32, register>) -> f32
// CHECK-NEXT: [[V3:%[0-9]+]] = fly.add_offset(%r, [[V0]]) : (!fly.ptr<f32, register>, !fly.int_tuple<3>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V4:%[0-9]+]] = fly.ptr.load([[V3]]) : (!fly.ptr<f32, register>) -> f32
// CHECK-NEXT: [[V5:%[0-9]+]] = "vector.from_elements"([[V2]], [[V4]]) : (f32, f32) -> vector<2xf32>
// CHECK-NEXT: [[V6:%[0-9]+]] = fly.copy_atom_call_ssa(%a, %s, [[V5]], [[V1]]) : {{.*}} -> vector<2xf32>
// CHECK-NEXT: [[V7:%[0-9]+]] = vector.extract [[V6]][0] : f32 from vector<2xf32>
// CHECK-NEXT: fly.ptr.store([[V7]], %r) : (f32, !fly.ptr<f32, register>) -> ()
// CHECK-NEXT: [[V8:%[0-9]+]] = vector.extract [[V6]][1] : f32 from vector<2xf32>
// CHECK-NEXT: fly.ptr.store([[V8]], [[V3]]) : (f32, !fly.ptr<f32, register>) -> ()
// CHECK-NEXT: [[V9:%[0-9]+]] = fly.ptr.load(%q) : (!fly.ptr<i1, register>) -> i1
// CHECK-NEXT: [[V10:%[0-9]+]] = fly.ptr.load(%r) : (!fly.ptr<f32, register>) -> f32
// CHECK-NEXT: [[V11:%[0-9]+]] = fly.ptr.load([[V3]]) : (!fly.ptr<f32, register>) -> f32
// CHECK-NEXT: [[V12:%[0-9]+]] = "vector.from_elements"([[V10]], [[V11]]) : (f32, f32) -> vector<2xf32>
// CHECK-NEXT: fly.copy_atom_call_ssa(%a, [[V12]], %s, [[V9]]) : {{.*}} -> ()
// CHECK-NEXT: func.return
func.func @predicated(%g: !fly.ptr<f32, global>) {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<64>, 32>
  %l = fly.static : !fly.layout<2:1>
  %gap = fly.static : !fly.layout<2:3>
  %one = fly.static : !fly.layout<1:0>
  %r = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
  %q = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<i1, register>
  %s = fly.make_view(%g, %l) : (!fly.ptr<f32, global>, !fly.layout<2:1>) -> !fly.memref<f32, global, 2:1>
  %d = fly.make_view(%r, %gap) : (!fly.ptr<f32, register>, !fly.layout<2:3>) -> !fly.memref<f32, register, 2:3>
  %p = fly.make_view(%q, %one) : (!fly.ptr<i1, register>, !fly.layout<1:0>) -> !fly.memref<i1, register, 1:0>
  fly.copy_atom_call(%a, %s, %d, %p) : (!fly.copy_atom<!fly.universal_copy<64>, 32>, !fly.memref<f32, global, 2:1>, !fly.memref<f32, register, 2:3>, !fly.memref<i1, register, 1:0>) -> ()
  fly.copy_atom_call(%a, %d, %s, %p) : (!fly.copy_atom<!fly.universal_copy<64>, 32>, !fly.memref<f32, register, 2:3>, !fly.memref<f32, global, 2:1>, !fly.memref<i1, register, 1:0>) -> ()
  return
}

// Between registers no instruction is needed; between memories one load and one store.
// CHECK-LABEL: func.func @between(
// CHECK-SAME: %g: !fly.ptr<f32, global>, %h: !fly.ptr<f32, shared>) {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK-NEXT: %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<128>, 32>
// CHECK-NEXT: %l = fly.static : !fly.layout<4:1>
// CHECK-NEXT: %q = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<i1, register>
// CHECK-NEXT: %r = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: %t = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V1:%[0-9]+]] = fly.ptr.load(%q) : (!fly.ptr<i1, register>) -> i1
// CHECK-NEXT: [[V2:%[0-9]+]] = fly.ptr.load(%r) : (!fly.ptr<f32, register>) -> vector<4xf32>
// CHECK-NEXT: [[V3:%[0-9]+]] = fly.ptr.load(%t) : (!fly.ptr<f32, register>) -> vector<4xf32>
// CHECK-NEXT: [[V4:%[0-9]+]] = arith.select [[V1]], [[V2]], [[V3]] : vector<4xf32>
// CHECK-NEXT: fly.ptr.store([[V4]], %t) : (vector<4xf32>, !fly.ptr<f32, register>) -> ()
// CHECK-NEXT: %m = fly.make_view(%g, %l) : (!fly.ptr<f32, global>, !fly.layout<4:1>) -> !fly.memref<f32, global, 4:1>
// CHECK-NEXT: %n = fly.make_view(%h, %l) : (!fly.ptr<f32, shared>, !fly.layout<4:1>) -> !fly.memref<f32, shared, 4:1>
// CHECK-NEXT: [[V5:%[0-9]+]] = fly.ptr.load(%q) : (!fly.ptr<i1, register>) -> i1
// CHECK-NEXT: [[V6:%[0-9]+]] = fly.copy_atom_call_ssa(%a, %m, [[V0]], [[V5]]) : {{.*}} -> vector<4xf32>
// CHECK-NEXT: fly.copy_atom_call_ssa(%a, [[V6]], %n, [[V5]]) : {{.*}} -> ()
// CHECK-NEXT: func.return
func.func @between(%g: !fly.ptr<f32, global>, %h: !fly.ptr<f32, shared>) {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !copy
  %l = fly.static : !fly.layout<4:1>
  %one = fly.static : !fly.layout<1:0>
  %q = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<i1, register>
  %p = fly.make_view(%q, %one) : (!fly.ptr<i1, register>, !fly.layout<1:0>) -> !fly.memref<i1, register, 1:0>
  %r = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
  %t = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
  %s = fly.make_view(%r, %l) : (!fly.ptr<f32, register>, !fly.layout<4:1>) -> !fly.memref<f32, register, 4:1>
  %d = fly.make_view(%t, %l) : (!fly.ptr<f32, register>, !fly.layout<4:1>) -> !fly.memref<f32, register, 4:1>
  fly.copy_atom_call(%a, %s, %d, %p) : (!copy, !fly.memref<f32, register, 4:1>, !fly.memref<f32, register, 4:1>, !fly.memref<i1, register, 1:0>) -> ()
  %m = fly.make_view(%g, %l) : (!fly.ptr<f32, global>, !fly.layout<4:1>) -> !fly.memref<f32, global, 4:1>
  %n = fly.make_view(%h, %l) : (!fly.ptr<f32, shared>, !fly.layout<4:1>) -> !fly.memref<f32, shared, 4:1>
  fly.copy_atom_call(%a, %m, %n, %p) : (!copy, !fly.memref<f32, global, 4:1>, !fly.memref<f32, shared, 4:1>, !fly.memref<i1, register, 1:0>) -> ()
  return
}

// A matrix instruction takes and gives vectors.
// CHECK-LABEL: func.func @mma(
// CHECK-NEXT: %m = fly.make_mma_atom : !fly.mma_atom<!fly.universal_fma<1x1x1, (f16, f16) -> f32>>
// CHECK-NEXT: %a = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<f16, register>
// CHECK-NEXT: %c = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V0:%[0-9]+]] = fly.ptr.load(%a) : (!fly.ptr<f16, register>) -> f16
// CHECK-NEXT: [[V1:%[0-9]+]] = "vector.from_elements"([[V0]]) : (f16) -> vector<1xf16>
// CHECK-NEXT: [[V2:%[0-9]+]] = fly.ptr.load(%a) : (!fly.ptr<f16, register>) -> f16
// CHECK-NEXT: [[V3:%[0-9]+]] = "vector.from_elements"([[V2]]) : (f16) -> vector<1xf16>
// CHECK-NEXT: [[V4:%[0-9]+]] = fly.ptr.load(%c) : (!fly.ptr<f32, register>) -> f32
// CHECK-NEXT: [[V5:%[0-9]+]] = "vector.from_elements"([[V4]]) : (f32) -> vector<1xf32>
// CHECK-NEXT: [[V6:%[0-9]+]] = fly.mma_atom_call_ssa(%m, [[V1]], [[V3]], [[V5]]) : {{.*}} -> vector<1xf32>
// CHECK-NEXT: [[V7:%[0-9]+]] = vector.extract [[V6]][0] : f32 from vector<1xf32>
// CHECK-NEXT: fly.ptr.store([[V7]], %c) : (f32, !fly.ptr<f32, register>) -> ()
// CHECK-NEXT: func.return
func.func @mma() {
  %m = fly.make_mma_atom : !fly.mma_atom<!fly.universal_fma<1x1x1, (f16, f16) -> f32>>
  %l = fly.static : !fly.layout<1:0>
  %a = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<f16, register>
  %c = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<f32, register>
  %va = fly.make_view(%a, %l) : (!fly.ptr<f16, register>, !fly.layout<1:0>) -> !fly.memref<f16, register, 1:0>
  %vc = fly.make_view(%c, %l) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
  fly.mma_atom_call(%m, %vc, %va, %va, %vc) : (!fly.mma_atom<!fly.universal_fma<1x1x1, (f16, f16) -> f32>>, !fly.memref<f32, register, 1:0>, !fly.memref<f16, register, 1:0>, !fly.memref<f16, register, 1:0>, !fly.memref<f32, register, 1:0>) -> ()
  return
}
