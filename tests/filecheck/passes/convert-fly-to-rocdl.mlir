// RUN: fly-opt --convert-fly-to-rocdl %s | mlir-opt

// Address spaces, offsets and alignments. Offsets are elements, of any width.
func.func @pointers(%g: !fly.ptr<f32, global, align<16>>, %s: !fly.ptr<f16, shared>, %any: !fly.ptr<i8, generic>, %i: i32, %l: i64) -> (vector<4xf32>, f16, i8) {
  %o = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?{div=4}>
  %three = fly.static : !fly.int_tuple<3>
  %big = fly.static : !fly.int_tuple<5000000000>
  %w = fly.make_int_tuple(%l) : (i64) -> !fly.int_tuple<?{i64}>
  %p = fly.add_offset(%g, %o) : (!fly.ptr<f32, global, align<16>>, !fly.int_tuple<?{div=4}>) -> !fly.ptr<f32, global, align<16>>
  %a = fly.ptr.load(%p) : (!fly.ptr<f32, global, align<16>>) -> vector<4xf32>
  %q = fly.add_offset(%s, %three) : (!fly.ptr<f16, shared>, !fly.int_tuple<3>) -> !fly.ptr<f16, shared>
  %b = fly.ptr.load(%q) : (!fly.ptr<f16, shared>) -> f16
  %r = fly.add_offset(%any, %big) : (!fly.ptr<i8, generic>, !fly.int_tuple<5000000000>) -> !fly.ptr<i8, generic>
  %t = fly.add_offset(%r, %w) : (!fly.ptr<i8, generic>, !fly.int_tuple<?{i64}>) -> !fly.ptr<i8, generic>
  %c = fly.ptr.load(%t) : (!fly.ptr<i8, generic>) -> i8
  return %a, %b, %c : vector<4xf32>, f16, i8
}

// Memory has bytes for bools and plain integers for narrow floats; registers do not tell signs apart.
func.func @memory_types(%b: !fly.ptr<i1, global>, %f: !fly.ptr<f8E4M3FNUZ, global>, %u: !fly.ptr<ui8, global>, %x: i1, %y: vector<4xf8E4M3FNUZ>, %z: i8) -> (i1, vector<4xf8E4M3FNUZ>, i8) {
  %a = fly.ptr.load(%b) : (!fly.ptr<i1, global>) -> i1
  fly.ptr.store(%x, %b) : (i1, !fly.ptr<i1, global>) -> ()
  %c = fly.ptr.load(%f) : (!fly.ptr<f8E4M3FNUZ, global>) -> vector<4xf8E4M3FNUZ>
  fly.ptr.store(%y, %f) : (vector<4xf8E4M3FNUZ>, !fly.ptr<f8E4M3FNUZ, global>) -> ()
  %d = fly.ptr.load(%u) : (!fly.ptr<ui8, global>) -> i8
  fly.ptr.store(%z, %u) : (i8, !fly.ptr<ui8, global>) -> ()
  return %a, %c, %d : i1, vector<4xf8E4M3FNUZ>, i8
}

// Casts, addresses and registers that stayed memory: those are allocated once, at the top.
func.func @casts(%g: !fly.ptr<i8, global, align<16>>, %c: i1, %i: i32, %x: f32) -> (i64, !llvm.ptr, f32) {
  %f = fly.recast_iter(%g) : (!fly.ptr<i8, global, align<16>>) -> !fly.ptr<f32, global, align<16>>
  %one = fly.static : !fly.int_tuple<1>
  %h = fly.add_offset(%f, %one) : (!fly.ptr<f32, global, align<16>>, !fly.int_tuple<1>) -> !fly.ptr<f32, global>
  %a = fly.ptrtoint(%h) : (!fly.ptr<f32, global>) -> i64
  %l = fly.to_llvm_ptr(%g) : (!fly.ptr<i8, global, align<16>>) -> !llvm.ptr
  %o = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?>
  %r = scf.if %c -> (f32) {
    %p = fly.make_ptr() {dictAttrs = {allocSize = 8 : i64}} : () -> !fly.ptr<f32, register>
    %q = fly.add_offset(%p, %o) : (!fly.ptr<f32, register>, !fly.int_tuple<?>) -> !fly.ptr<f32, register>
    fly.ptr.store(%x, %q) : (f32, !fly.ptr<f32, register>) -> ()
    %y = fly.ptr.load(%p) : (!fly.ptr<f32, register>) -> f32
    scf.yield %y : f32
  } else {
    %b = fly.inttoptr(%a) : (i64) -> !fly.ptr<f32, global>
    %y = fly.ptr.load(%b) : (!fly.ptr<f32, global>) -> f32
    scf.yield %y : f32
  }
  return %a, %l, %r : i64, !llvm.ptr, f32
}

// A pointer that other operations carry is LLVM's everywhere.
func.func @carried(%n: index, %g: !fly.ptr<f32, global>, %x: f32) -> !fly.ptr<f32, global> {
  %lo = arith.constant 0 : index
  %step = arith.constant 1 : index
  %one = fly.static : !fly.int_tuple<1>
  %r = scf.for %i = %lo to %n step %step iter_args(%p = %g) -> (!fly.ptr<f32, global>) {
    fly.ptr.store(%x, %p) : (f32, !fly.ptr<f32, global>) -> ()
    %q = fly.add_offset(%p, %one) : (!fly.ptr<f32, global>, !fly.int_tuple<1>) -> !fly.ptr<f32, global>
    scf.yield %q : !fly.ptr<f32, global>
  }
  return %r : !fly.ptr<f32, global>
}

// A swizzled pointer permutes its byte address at every access.
func.func @swizzled(%s: !fly.ptr<f16, shared, align<16>>, %x: f16) {
  %w = fly.static : !fly.swizzle<S<3,4,3>>
  %three = fly.static : !fly.int_tuple<3>
  %p = fly.apply_swizzle(%s, %w) : (!fly.ptr<f16, shared, align<16>>, !fly.swizzle<S<3,4,3>>) -> !fly.ptr<f16, shared, align<16>, S<3,4,3>>
  %q = fly.add_offset(%p, %three) : (!fly.ptr<f16, shared, align<16>, S<3,4,3>>, !fly.int_tuple<3>) -> !fly.ptr<f16, shared, S<3,4,3>>
  fly.ptr.store(%x, %q) : (f16, !fly.ptr<f16, shared, S<3,4,3>>) -> ()
  return
}

// Plain copies, with and without a predicate.
!copy = !fly.copy_atom<!fly.universal_copy<128>, 32>
func.func @copies(%g: !fly.ptr<f32, global, align<16>>, %old: vector<4xf32>, %c: i1) -> vector<4xf32> {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !copy
  %l = fly.static : !fly.layout<4:1>
  %m = fly.make_view(%g, %l) : (!fly.ptr<f32, global, align<16>>, !fly.layout<4:1>) -> !fly.memref<f32, global, 4:1, align<16>>
  %v = fly.copy_atom_call_ssa(%a, %m) : (!copy, !fly.memref<f32, global, 4:1, align<16>>) -> vector<4xf32>
  fly.copy_atom_call_ssa(%a, %v, %m) : (!copy, vector<4xf32>, !fly.memref<f32, global, 4:1, align<16>>) -> ()
  %w = fly.copy_atom_call_ssa(%a, %m, %old, %c) : (!copy, !fly.memref<f32, global, 4:1, align<16>>, vector<4xf32>, i1) -> vector<4xf32>
  fly.copy_atom_call_ssa(%a, %w, %m, %c) : (!copy, vector<4xf32>, !fly.memref<f32, global, 4:1, align<16>>, i1) -> ()
  return %w : vector<4xf32>
}

// Atomics: signedness chooses the operation, the scope has LLVM's name, one operation per element.
func.func @atomics(%f: !fly.ptr<f32, global>, %u: !fly.ptr<ui32, shared>, %d: !fly.ptr<f16, global>, %x: vector<1xf32>, %y: vector<1xi32>, %z: vector<2xf16>, %c: i1) {
  %l = fly.static : !fly.layout<1:0>
  %two = fly.static : !fly.layout<2:4>
  %add = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_atomic<add, f32, scope = agent>, 32>
  %max = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_atomic<max, ui32>, 32>
  %min = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly.universal_atomic<min, f16>, 16>
  %mf = fly.make_view(%f, %l) : (!fly.ptr<f32, global>, !fly.layout<1:0>) -> !fly.memref<f32, global, 1:0>
  %mu = fly.make_view(%u, %l) : (!fly.ptr<ui32, shared>, !fly.layout<1:0>) -> !fly.memref<ui32, shared, 1:0>
  %md = fly.make_view(%d, %two) : (!fly.ptr<f16, global>, !fly.layout<2:4>) -> !fly.memref<f16, global, 2:4>
  fly.copy_atom_call_ssa(%add, %x, %mf, %c) : (!fly.copy_atom<!fly.universal_atomic<add, f32, scope = agent>, 32>, vector<1xf32>, !fly.memref<f32, global, 1:0>, i1) -> ()
  fly.copy_atom_call_ssa(%max, %y, %mu) : (!fly.copy_atom<!fly.universal_atomic<max, ui32>, 32>, vector<1xi32>, !fly.memref<ui32, shared, 1:0>) -> ()
  fly.copy_atom_call_ssa(%min, %z, %md) : (!fly.copy_atom<!fly.universal_atomic<min, f16>, 16>, vector<2xf16>, !fly.memref<f16, global, 2:4>) -> ()
  return
}

// Multiply and add, unfused; narrower operands are widened to the accumulator first.
func.func @fma(%a: vector<1xf32>, %h: vector<1xf16>, %i: vector<1xi8>, %k: vector<1xi32>) -> (vector<1xf32>, vector<1xf32>, vector<1xi32>) {
  %m = fly.make_mma_atom : !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
  %n = fly.make_mma_atom : !fly.mma_atom<!fly.universal_fma<1x1x1, (f16, f16) -> f32>>
  %o = fly.make_mma_atom : !fly.mma_atom<!fly.universal_fma<1x1x1, (ui8, i8) -> i32>>
  %x = fly.mma_atom_call_ssa(%m, %a, %a, %a) : (!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, vector<1xf32>, vector<1xf32>, vector<1xf32>) -> vector<1xf32>
  %y = fly.mma_atom_call_ssa(%n, %h, %h, %a) : (!fly.mma_atom<!fly.universal_fma<1x1x1, (f16, f16) -> f32>>, vector<1xf16>, vector<1xf16>, vector<1xf32>) -> vector<1xf32>
  %z = fly.mma_atom_call_ssa(%o, %i, %i, %k) : (!fly.mma_atom<!fly.universal_fma<1x1x1, (ui8, i8) -> i32>>, vector<1xi8>, vector<1xi8>, vector<1xi32>) -> vector<1xi32>
  return %x, %y, %z : vector<1xf32>, vector<1xf32>, vector<1xi32>
}
