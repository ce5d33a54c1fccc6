// RUN: fly-opt --keep-names --as-compiled --fly-canonicalize %s | FileCheck %s

// Static algebra folds, whatever it is made of; dead values go.
// CHECK-LABEL: func.func @folds(
// CHECK-SAME: %p: !fly.ptr<f32, global>) -> f32 {
// CHECK-NEXT: %at = fly.static : !fly.int_tuple<(1,2)>
// CHECK-NEXT: %l = fly.static : !fly.layout<(3,5):(5,1)>
// CHECK-NEXT: %v = fly.make_view(%p, %l) : {{.*}} -> !fly.memref<f32, global, (3,5):(5,1)>
// CHECK-NEXT: %x = fly.memref.load(%v, %at) : (!fly.memref<f32, global, (3,5):(5,1)>, !fly.int_tuple<(1,2)>) -> f32
// CHECK-NEXT: func.return %x : f32
func.func @folds(%p: !fly.ptr<f32, global>) -> f32 {
  %s = fly.static : !fly.int_tuple<(3,5)>
  %d = fly.static : !fly.int_tuple<(5,1)>
  %l = fly.make_layout(%s, %d) : (!fly.int_tuple<(3,5)>, !fly.int_tuple<(5,1)>) -> !fly.layout<(3,5):(5,1)>
  %n = fly.size(%l) : (!fly.layout<(3,5):(5,1)>) -> !fly.int_tuple<15>
  %c = fly.coalesce(%l) : (!fly.layout<(3,5):(5,1)>) -> !fly.layout<(3,5):(5,1)>
  %v = fly.make_view(%p, %c) : (!fly.ptr<f32, global>, !fly.layout<(3,5):(5,1)>) -> !fly.memref<f32, global, (3,5):(5,1)>
  %at = fly.make_coord() : () -> !fly.int_tuple<(1,2)>
  %x = fly.memref.load(%v, %at) : (!fly.memref<f32, global, (3,5):(5,1)>, !fly.int_tuple<(1,2)>) -> f32
  return %x : f32
}

// What was put together is not taken apart again.
// CHECK-LABEL: func.func @projections(
// CHECK-SAME: %p: !fly.ptr<f32, global>, %i: i32, %j: i64) -> (i32, i64, i32, i64) {
// CHECK-NEXT: func.return %i, %j, %i, %j : i32, i64, i32, i64
func.func @projections(%p: !fly.ptr<f32, global>, %i: i32, %j: i64) -> (i32, i64, i32, i64) {
  %s = fly.make_shape(%i, %j) : (i32, i64) -> !fly.int_tuple<(?,?{i64})>
  %d = fly.static : !fly.int_tuple<(1,8)>
  %l = fly.make_layout(%s, %d) : (!fly.int_tuple<(?,?{i64})>, !fly.int_tuple<(1,8)>) -> !fly.layout<(?,?{i64}):(1,8)>
  %v = fly.make_view(%p, %l) : (!fly.ptr<f32, global>, !fly.layout<(?,?{i64}):(1,8)>) -> !fly.memref<f32, global, (?,?{i64}):(1,8)>
  %m = fly.get_layout(%v) : (!fly.memref<f32, global, (?,?{i64}):(1,8)>) -> !fly.layout<(?,?{i64}):(1,8)>
  %t = fly.get_shape(%m) : (!fly.layout<(?,?{i64}):(1,8)>) -> !fly.int_tuple<(?,?{i64})>
  %a, %b = fly.get_leaves(%t) {dynamicOnly = true} : (!fly.int_tuple<(?,?{i64})>) -> (i32, i64)
  %u = fly.get_shape(%v) : (!fly.memref<f32, global, (?,?{i64}):(1,8)>) -> !fly.int_tuple<(?,?{i64})>
  %e, %f = fly.get_leaves(%u) : (!fly.int_tuple<(?,?{i64})>) -> (i32, i64)
  return %a, %b, %e, %f : i32, i64, i32, i64
}

// Composed layouts likewise; a leaf that is not alone stays behind its projection.
// CHECK-LABEL: func.func @composed(
// CHECK-SAME: %i: i32) -> (i32, i32, i32) {
// CHECK-NEXT: %pair = fly.make_coord(%i) : (i32) -> !fly.int_tuple<(?,4)>
// CHECK-NEXT: %b, %c = fly.get_leaves(%pair) : (!fly.int_tuple<(?,4)>) -> (i32, i32)
// CHECK-NEXT: func.return %i, %b, %c : i32, i32, i32
func.func @composed(%i: i32) -> (i32, i32, i32) {
  %w = fly.static : !fly.swizzle<S<3,3,3>>
  %o = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?>
  %l = fly.static : !fly.layout<(8,8):(8,1)>
  %z = fly.make_composed_layout(%w, %o, %l) : (!fly.swizzle<S<3,3,3>>, !fly.int_tuple<?>, !fly.layout<(8,8):(8,1)>) -> !fly.composed_layout<S<3,3,3> o ? o (8,8):(8,1)>
  %q = fly.composed_get_offset(%z) : (!fly.composed_layout<S<3,3,3> o ? o (8,8):(8,1)>) -> !fly.int_tuple<?>
  %a = fly.get_scalar(%q) : (!fly.int_tuple<?>) -> i32
  %pair = fly.make_coord(%i) : (i32) -> !fly.int_tuple<(?,4)>
  %b, %c = fly.get_leaves(%pair) : (!fly.int_tuple<(?,4)>) -> (i32, i32)
  return %a, %b, %c : i32, i32, i32
}

// Registers, loads and prints have effects and stay; statics of a region are shared from the top.
// CHECK-LABEL: func.func @effects(
// CHECK-SAME: %c: i1, %p: !fly.ptr<f32, global>, %v: vector<4xf32>) {
// CHECK-NEXT: %l = fly.static : !fly.layout<4:1>
// CHECK-NEXT: %dead = fly.memref.alloca() : () -> !fly.memref<f32, register, 4:1>
// CHECK-NEXT: scf.if %c {
// CHECK-NEXT: %m = fly.make_view(%p, %l) : (!fly.ptr<f32, global>, !fly.layout<4:1>) -> !fly.memref<f32, global, 4:1>
// CHECK-NEXT: fly.memref.store_vec(%v, %m) : (vector<4xf32>, !fly.memref<f32, global, 4:1>) -> ()
// CHECK-NEXT: } else {
// CHECK-NEXT: %m_1 = fly.make_view(%p, %l) : (!fly.ptr<f32, global>, !fly.layout<4:1>) -> !fly.memref<f32, global, 4:1>
// CHECK-NEXT: %x = fly.memref.load_vec(%m_1) : (!fly.memref<f32, global, 4:1>) -> vector<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @effects(%c: i1, %p: !fly.ptr<f32, global>, %v: vector<4xf32>) {
  %dead = fly.memref.alloca() : () -> !fly.memref<f32, register, 4:1>
  scf.if %c {
    %l = fly.static : !fly.layout<4:1>
    %m = fly.make_view(%p, %l) : (!fly.ptr<f32, global>, !fly.layout<4:1>) -> !fly.memref<f32, global, 4:1>
    fly.memref.store_vec(%v, %m) : (vector<4xf32>, !fly.memref<f32, global, 4:1>) -> ()
  } else {
    %l = fly.static : !fly.layout<4:1>
    %m = fly.make_view(%p, %l) : (!fly.ptr<f32, global>, !fly.layout<4:1>) -> !fly.memref<f32, global, 4:1>
    %x = fly.memref.load_vec(%m) : (!fly.memref<f32, global, 4:1>) -> vector<4xf32>
  }
  return
}

// An atom's type is static, but the values set on it are not: they stay.
// CHECK-LABEL: func.func @state(
// CHECK-NEXT: %m = fly.static : !fly.mma_atom
// CHECK-NEXT: %b = vector.bitcast %w
// CHECK-NEXT: %n = fly.atom.set_value(%m, "scale_a", %s)
// CHECK-NEXT: %o = fly.atom.set_value(%n, "scale_b", %t)
// CHECK-NEXT: %d = fly.mma_atom_call_ssa(%o, %a, %b, %c)
func.func @state(%a: vector<32xf8E4M3FN>, %w: vector<4xi32>, %c: vector<4xf32>, %s: i32, %t: i32) -> vector<4xf32> {
  %b = "vector.bitcast"(%w) : (vector<4xi32>) -> vector<32xf4E2M1FN>
  %m = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselA = 0, opselB = 1>>
  %n = fly.atom.set_value(%m, "scale_a", %s) : (!fly.mma_atom<!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselA = 0, opselB = 1>>, i32) -> !fly.mma_atom<!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselA = 0, opselB = 1>>
  %o = fly.atom.set_value(%n, "scale_b", %t) : (!fly.mma_atom<!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselA = 0, opselB = 1>>, i32) -> !fly.mma_atom<!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselA = 0, opselB = 1>>
  %d = fly.mma_atom_call_ssa(%o, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselA = 0, opselB = 1>>, vector<32xf8E4M3FN>, vector<32xf4E2M1FN>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}
