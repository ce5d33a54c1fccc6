// A store is what the next load gives.
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
func.func @while(%x: f32, %limit: f32) -> f32 {
  %p = fly.make_ptr() {dictAttrs = {allocSize = 1 : i64}} : () -> !fly.ptr<f32, register>
  fly.ptr.store(%x, %p) : (f32, !fly.ptr<f32, register>) -> ()
  scf.while : () -> () {
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
func.func @undefined() -> vector<2xf32> {
  %p = fly.make_ptr() {dictAttrs = {allocSize = 2 : i64}} : () -> !fly.ptr<f32, register>
  %r = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> vector<2xf32>
  return %r : vector<2xf32>
}

// A run-time offset, a cast, an access past the end, a pointer that leaves: these stay memory.
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
