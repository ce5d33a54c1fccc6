// RUN: fly-opt --keep-names --as-compiled --fly-promote-regmem-to-vectorssa --canonicalize %s | FileCheck %s

// A store is what the next load gives.
// CHECK-LABEL: func.func @straight(
// CHECK-SAME: %v: vector<4xf32>) -> (vector<4xf32>, f32) {
// CHECK-NEXT: %x = vector.extract %v[2] : f32 from vector<4xf32>
// CHECK-NEXT: func.return %v, %x : vector<4xf32>, f32
func.func @straight(%v: vector<4xf32>) -> (vector<4xf32>, f32) {
  %p = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
  %two = fly.static : !fly.int_tuple<2>
  fly.ptr.store(%v, %p) : (vector<4xf32>, !fly.ptr<f32, register>) -> ()
  %w = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> vector<4xf32>
  %q = fly.add_offset(%p, %two) : (!fly.ptr<f32, register>, !fly.int_tuple<2>) -> !fly.ptr<f32, register>
  %x = fly.ptr.load(%q) : (!fly.ptr<f32, register>) -> f32
  return %w, %x : vector<4xf32>, f32
}

// An allocation is cut where vector accesses begin and end, and joined again where one spans the cuts.
// CHECK-LABEL: func.func @pieces(
// CHECK-SAME: %a: vector<2xf32>, %b: vector<2xf32>, %x: f32) -> (vector<4xf32>, vector<2xf32>) {
// CHECK-NEXT: %h = vector.insert %x, %b [1] : f32 into vector<2xf32>
// CHECK-NEXT: %w = vector.shuffle %a, %h [0, 1, 2, 3] : vector<2xf32>, vector<2xf32>
// CHECK-NEXT: func.return %w, %h : vector<4xf32>, vector<2xf32>
func.func @pieces(%a: vector<2xf32>, %b: vector<2xf32>, %x: f32) -> (vector<4xf32>, vector<2xf32>) {
  %p = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
  %one = fly.static : !fly.int_tuple<1>
  %two = fly.static : !fly.int_tuple<2>
  %q = fly.add_offset(%p, %two) : (!fly.ptr<f32, register>, !fly.int_tuple<2>) -> !fly.ptr<f32, register>
  %r = fly.add_offset(%q, %one) : (!fly.ptr<f32, register>, !fly.int_tuple<1>) -> !fly.ptr<f32, register>
  fly.ptr.store(%a, %p) : (vector<2xf32>, !fly.ptr<f32, register>) -> ()
  fly.ptr.store(%b, %q) : (vector<2xf32>, !fly.ptr<f32, register>) -> ()
  fly.ptr.store(%x, %r) : (f32, !fly.ptr<f32, register>) -> ()
  %w = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> vector<4xf32>
  %h = fly.ptr.load(%q) : (!fly.ptr<f32, register>) -> vector<2xf32>
  return %w, %h : vector<4xf32>, vector<2xf32>
}

// A loop carries what its body stores; what it only reads comes from outside.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME: %n: index, %v: vector<2xf32>, %u: vector<2xf32>) -> vector<2xf32> {
// CHECK-NEXT: %lo = arith.constant 0 : index
// CHECK-NEXT: %one = arith.constant 1 : index
// CHECK-NEXT: %r = scf.for %i = %lo to %n step %one iter_args(%a = %v) -> (vector<2xf32>) {
// CHECK-NEXT: %s = arith.addf %a, %u : vector<2xf32>
// CHECK-NEXT: scf.yield %s : vector<2xf32>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %r : vector<2xf32>
func.func @loop(%n: index, %v: vector<2xf32>, %u: vector<2xf32>) -> vector<2xf32> {
  %lo = arith.constant 0 : index
  %one = arith.constant 1 : index
  %p = fly.make_ptr() {dictAttrs = {allocSize = 2 : i64}} : () -> !fly.ptr<f32, register>
  %q = fly.make_ptr() {dictAttrs = {allocSize = 2 : i64}} : () -> !fly.ptr<f32, register>
  fly.ptr.store(%v, %p) : (vector<2xf32>, !fly.ptr<f32, register>) -> ()
  fly.ptr.store(%u, %q) : (vector<2xf32>, !fly.ptr<f32, register>) -> ()
  scf.for %i = %lo to %n step %one {
    %a = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> vector<2xf32>
    %b = fly.ptr.load(%q) : (!fly.ptr<f32, register>) -> vector<2xf32>
    %s = arith.addf %a, %b : vector<2xf32>
    fly.ptr.store(%s, %p) : (vector<2xf32>, !fly.ptr<f32, register>) -> ()
  }
  %r = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> vector<2xf32>
  return %r : vector<2xf32>
}

// Values the loop carries already stay in front; registers allocated in the body are new in every turn.
// CHECK-LABEL: func.func @nested(
// CHECK-SAME: %n: index, %x: f32, %i0: i32) -> (i32, f32) {
// CHECK-NEXT: [[V0:%[0-9]+]] = llvm.mlir.undef : f32
// CHECK-NEXT: %lo = arith.constant 0 : index
// CHECK-NEXT: %one = arith.constant 1 : index
// CHECK-NEXT: %r, %y = scf.for %i = %lo to %n step %one iter_args(%k = %i0, %a = %x) -> (i32, f32) {
// CHECK-NEXT: %b = scf.for %j = %lo to %n step %one iter_args([[V1:%[0-9]+]] = [[V0]]) -> (f32) {
// CHECK-NEXT: scf.yield %a : f32
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %k, %b : i32, f32
// CHECK-NEXT: }
// CHECK-NEXT: func.return %r, %y : i32, f32
func.func @nested(%n: index, %x: f32, %i0: i32) -> (i32, f32) {
  %lo = arith.constant 0 : index
  %one = arith.constant 1 : index
  %p = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<f32, register>
  fly.ptr.store(%x, %p) : (f32, !fly.ptr<f32, register>) -> ()
  %r = scf.for %i = %lo to %n step %one iter_args(%k = %i0) -> (i32) {
    %t = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<f32, register>
    scf.for %j = %lo to %n step %one {
      %a = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> f32
      fly.ptr.store(%a, %t) : (f32, !fly.ptr<f32, register>) -> ()
    }
    %b = fly.ptr.load(%t) : (!fly.ptr<f32, register>) -> f32
    fly.ptr.store(%b, %p) : (f32, !fly.ptr<f32, register>) -> ()
    scf.yield %k : i32
  }
  %y = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> f32
  return %r, %y : i32, f32
}

// A branch hands over both sides' values, also when there is no other side.
// CHECK-LABEL: func.func @branch(
// CHECK-SAME: %c: i1, %x: f32, %y: f32) -> f32 {
// CHECK-NEXT: %r = scf.if %c -> (f32) {
// CHECK-NEXT: scf.yield %y : f32
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %x : f32
// CHECK-NEXT: }
// CHECK-NEXT: func.return %r : f32
func.func @branch(%c: i1, %x: f32, %y: f32) -> f32 {
  %p = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<f32, register>
  fly.ptr.store(%x, %p) : (f32, !fly.ptr<f32, register>) -> ()
  scf.if %c {
    fly.ptr.store(%y, %p) : (f32, !fly.ptr<f32, register>) -> ()
  }
  %r = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> f32
  return %r : f32
}

// A while loop carries through both of its regions.
// CHECK-LABEL: func.func @while(
// CHECK-SAME: %x: f32, %limit: f32) -> f32 {
// CHECK-NEXT: %r = scf.while (%a = %x) : (f32) -> f32 {
// CHECK-NEXT: %c = arith.cmpf olt, %a, %limit : f32
// CHECK-NEXT: scf.condition(%c) %a : f32
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(%a_1: f32):
// CHECK-NEXT: %b = arith.addf %a_1, %a_1 : f32
// CHECK-NEXT: scf.yield %b : f32
// CHECK-NEXT: }
// CHECK-NEXT: func.return %r : f32
func.func @while(%x: f32, %limit: f32) -> f32 {
  %p = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<f32, register>
  fly.ptr.store(%x, %p) : (f32, !fly.ptr<f32, register>) -> ()
  scf.while () : () -> () {
    %a = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> f32
    %c = arith.cmpf olt, %a, %limit : f32
    scf.condition(%c)
  } do {
    %a = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> f32
    %b = arith.addf %a, %a : f32
    fly.ptr.store(%b, %p) : (f32, !fly.ptr<f32, register>) -> ()
    scf.yield
  }
  %r = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> f32
  return %r : f32
}

// What nobody stored is undefined.
// CHECK-LABEL: func.func @undefined(
// CHECK-SAME: ) -> vector<2xf32> {
// CHECK-NEXT: %r = llvm.mlir.undef : vector<2xf32>
// CHECK-NEXT: func.return %r : vector<2xf32>
func.func @undefined() -> vector<2xf32> {
  %p = fly.make_ptr() {dictAttrs = {allocSize = 2 : i64}} : () -> !fly.ptr<f32, register>
  %r = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> vector<2xf32>
  return %r : vector<2xf32>
}

// A run-time offset, a cast, an access past the end, a pointer that leaves: these stay memory.
// CHECK-LABEL: func.func @not_promoted(
// CHECK-SAME: %i: i32, %x: f32) -> (f32, i32, f32, !fly.ptr<f32, register>) {
// CHECK-NEXT: %p = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: %o = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?>
// CHECK-NEXT: %q = fly.add_offset(%p, %o) : (!fly.ptr<f32, register>, !fly.int_tuple<?>) -> !fly.ptr<f32, register>
// CHECK-NEXT: fly.ptr.store(%x, %p) : (f32, !fly.ptr<f32, register>) -> ()
// CHECK-NEXT: %a = fly.ptr.load(%q) : (!fly.ptr<f32, register>) -> f32
// CHECK-NEXT: %cast = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: %r = fly.recast_iter(%cast) : (!fly.ptr<f32, register>) -> !fly.ptr<i32, register>
// CHECK-NEXT: %b = fly.ptr.load(%r) : (!fly.ptr<i32, register>) -> i32
// CHECK-NEXT: %past = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: %two = fly.static : !fly.int_tuple<2>
// CHECK-NEXT: %s = fly.add_offset(%past, %two) : (!fly.ptr<f32, register>, !fly.int_tuple<2>) -> !fly.ptr<f32, register>
// CHECK-NEXT: %c = fly.ptr.load(%s) : (!fly.ptr<f32, register>) -> f32
// CHECK-NEXT: %leaves = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: func.return %a, %b, %c, %leaves : f32, i32, f32, !fly.ptr<f32, register>
func.func @not_promoted(%i: i32, %x: f32) -> (f32, i32, f32, !fly.ptr<f32, register>) {
  %p = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
  %o = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?>
  %q = fly.add_offset(%p, %o) : (!fly.ptr<f32, register>, !fly.int_tuple<?>) -> !fly.ptr<f32, register>
  fly.ptr.store(%x, %p) : (f32, !fly.ptr<f32, register>) -> ()
  %a = fly.ptr.load(%q) : (!fly.ptr<f32, register>) -> f32
  %cast = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<f32, register>
  %r = fly.recast_iter(%cast) : (!fly.ptr<f32, register>) -> !fly.ptr<i32, register>
  %b = fly.ptr.load(%r) : (!fly.ptr<i32, register>) -> i32
  %past = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<f32, register>
  %two = fly.static : !fly.int_tuple<2>
  %s = fly.add_offset(%past, %two) : (!fly.ptr<f32, register>, !fly.int_tuple<2>) -> !fly.ptr<f32, register>
  %c = fly.ptr.load(%s) : (!fly.ptr<f32, register>) -> f32
  %leaves = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<f32, register>
  return %a, %b, %c, %leaves : f32, i32, f32, !fly.ptr<f32, register>
}

// Control flow that the pass does not follow keeps its registers.
// CHECK-LABEL: func.func @blocks(
// CHECK-SAME: %c: i1, %x: f32) -> f32 {
// CHECK-NEXT: %p = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: fly.ptr.store(%x, %p) : (f32, !fly.ptr<f32, register>) -> ()
// CHECK-NEXT: cf.cond_br %c, ^bb1, ^bb2
// CHECK-NEXT: ^bb1:
// CHECK-NEXT: %y = arith.addf %x, %x : f32
// CHECK-NEXT: fly.ptr.store(%y, %p) : (f32, !fly.ptr<f32, register>) -> ()
// CHECK-NEXT: cf.br ^bb2
// CHECK-NEXT: ^bb2:
// CHECK-NEXT: %r = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> f32
// CHECK-NEXT: func.return %r : f32
func.func @blocks(%c: i1, %x: f32) -> f32 {
  %p = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<f32, register>
  fly.ptr.store(%x, %p) : (f32, !fly.ptr<f32, register>) -> ()
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %y = arith.addf %x, %x : f32
  fly.ptr.store(%y, %p) : (f32, !fly.ptr<f32, register>) -> ()
  cf.br ^bb2
^bb2:
  %r = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> f32
  return %r : f32
}
