// RUN: fly-opt --keep-names --as-compiled --convert-fly-to-rocdl %s | FileCheck %s
// RUN: fly-opt --keep-names --as-compiled --convert-fly-to-rocdl %s | mlir-opt

// Address spaces, offsets and alignments. Offsets are elements, of any width.
// CHECK-LABEL: func.func @pointers(
// CHECK-SAME: %g: !llvm.ptr<1>, %s: !llvm.ptr<3>, %any: !llvm.ptr, %i: i32, %l: i64) -> (vector<4xf32>, f16, i8) {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.constant 5000000000 : i64
// CHECK-NEXT: %p = llvm.getelementptr %g[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
// CHECK-NEXT: %a = llvm.load %p {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NEXT: %q = llvm.getelementptr %s[3] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f16
// CHECK-NEXT: %b = llvm.load %q {alignment = 2 : i64} : !llvm.ptr<3> -> f16
// CHECK-NEXT: %r = llvm.getelementptr %any{{\[}}[[V0]]{{\]}} : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK-NEXT: %t = llvm.getelementptr %r[%l] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK-NEXT: %c = llvm.load %t {alignment = 1 : i64} : !llvm.ptr -> i8
// CHECK-NEXT: func.return %a, %b, %c : vector<4xf32>, f16, i8
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

// A number of elements that is an exact multiple of some is one of wider elements in global memory, up to the widest access.
// CHECK-LABEL: func.func @units(
// CHECK: %a = llvm.getelementptr %h[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i128
// CHECK: %b = llvm.getelementptr %f[%eight] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
// CHECK: %c = llvm.getelementptr %h[%wraps] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f16
// CHECK: %d = llvm.getelementptr %s[%eight] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f16
func.func @units(%h: !fly.ptr<f16, global>, %f: !fly.ptr<f32, global>, %s: !fly.ptr<f16, shared>, %i: i32) -> (f16, f32, f16, f16) {
  %three = arith.constant 3 : i32
  %eight = arith.shli %i, %three overflow<nsw> : i32
  %wraps = arith.shli %i, %three : i32
  %o = fly.make_int_tuple(%eight) : (i32) -> !fly.int_tuple<?{div=8}>
  %w = fly.make_int_tuple(%wraps) : (i32) -> !fly.int_tuple<?{div=8}>
  %a = fly.add_offset(%h, %o) : (!fly.ptr<f16, global>, !fly.int_tuple<?{div=8}>) -> !fly.ptr<f16, global>
  %x = fly.ptr.load(%a) : (!fly.ptr<f16, global>) -> f16
  %b = fly.add_offset(%f, %o) : (!fly.ptr<f32, global>, !fly.int_tuple<?{div=8}>) -> !fly.ptr<f32, global>
  %y = fly.ptr.load(%b) : (!fly.ptr<f32, global>) -> f32
  %c = fly.add_offset(%h, %w) : (!fly.ptr<f16, global>, !fly.int_tuple<?{div=8}>) -> !fly.ptr<f16, global>
  %z = fly.ptr.load(%c) : (!fly.ptr<f16, global>) -> f16
  %d = fly.add_offset(%s, %o) : (!fly.ptr<f16, shared>, !fly.int_tuple<?{div=8}>) -> !fly.ptr<f16, shared>
  %u = fly.ptr.load(%d) : (!fly.ptr<f16, shared>) -> f16
  return %x, %y, %z, %u : f16, f32, f16, f16
}

// Memory has bytes for bools and plain integers for narrow floats; registers do not tell signs apart.
// CHECK-LABEL: func.func @memory_types(
// CHECK-SAME: %b: !llvm.ptr<1>, %f: !llvm.ptr<1>, %u: !llvm.ptr<1>, %x: i1, %y: vector<4xf8E4M3FNUZ>, %z: i8) -> (i1, vector<4xf8E4M3FNUZ>, i8) {
// CHECK-NEXT: [[ZERO:%[0-9]+]] = arith.constant 0 : i8
// CHECK-NEXT: [[V0:%[0-9]+]] = llvm.load %b {alignment = 1 : i64} : !llvm.ptr<1> -> i8
// CHECK-NEXT: %a = arith.cmpi ne, [[V0]], [[ZERO]] : i8
// CHECK-NEXT: [[V1:%[0-9]+]] = arith.extui %x : i1 to i8
// CHECK-NEXT: llvm.store [[V1]], %b {alignment = 1 : i64} : i8, !llvm.ptr<1>
// CHECK-NEXT: [[V2:%[0-9]+]] = llvm.load %f {alignment = 1 : i64} : !llvm.ptr<1> -> vector<4xi8>
// CHECK-NEXT: %c = arith.bitcast [[V2]] : vector<4xi8> to vector<4xf8E4M3FNUZ>
// CHECK-NEXT: [[V3:%[0-9]+]] = arith.bitcast %y : vector<4xf8E4M3FNUZ> to vector<4xi8>
// CHECK-NEXT: llvm.store [[V3]], %f {alignment = 1 : i64} : vector<4xi8>, !llvm.ptr<1>
// CHECK-NEXT: %d = llvm.load %u {alignment = 1 : i64} : !llvm.ptr<1> -> i8
// CHECK-NEXT: llvm.store %z, %u {alignment = 1 : i64} : i8, !llvm.ptr<1>
// CHECK-NEXT: func.return %a, %c, %d : i1, vector<4xf8E4M3FNUZ>, i8
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
// CHECK-LABEL: func.func @casts(
// CHECK-SAME: %g: !llvm.ptr<1>, %c: i1, %i: i32, %x: f32) -> (i64, !llvm.ptr, f32) {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.constant 8 : i32
// CHECK-NEXT: %p = llvm.alloca [[V0]] x f32 {alignment = 16 : i64} : (i32) -> !llvm.ptr<5>
// CHECK-NEXT: %f = llvm.bitcast %g : !llvm.ptr<1> to !llvm.ptr<1>
// CHECK-NEXT: %h = llvm.getelementptr %f[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
// CHECK-NEXT: %a = llvm.ptrtoint %h : !llvm.ptr<1> to i64
// CHECK-NEXT: %l = "llvm.addrspacecast"(%g) : (!llvm.ptr<1>) -> !llvm.ptr
// CHECK-NEXT: %r = scf.if %c -> (f32) {
// CHECK-NEXT: %q = llvm.getelementptr %p[%i] : (!llvm.ptr<5>, i32) -> !llvm.ptr<5>, f32
// CHECK-NEXT: llvm.store %x, %q {alignment = 4 : i64} : f32, !llvm.ptr<5>
// CHECK-NEXT: %y = llvm.load %p {alignment = 4 : i64} : !llvm.ptr<5> -> f32
// CHECK-NEXT: scf.yield %y : f32
// CHECK-NEXT: } else {
// CHECK-NEXT: %b = llvm.inttoptr %a : i64 to !llvm.ptr<1>
// CHECK-NEXT: %y_1 = llvm.load %b {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK-NEXT: scf.yield %y_1 : f32
// CHECK-NEXT: }
// CHECK-NEXT: func.return %a, %l, %r : i64, !llvm.ptr, f32
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
// CHECK-LABEL: func.func @carried(
// CHECK-SAME: %n: index, %g: !llvm.ptr<1>, %x: f32) -> !llvm.ptr<1> {
// CHECK-NEXT: %lo = arith.constant 0 : index
// CHECK-NEXT: %step = arith.constant 1 : index
// CHECK-NEXT: %r = scf.for %i = %lo to %n step %step iter_args(%p = %g) -> (!llvm.ptr<1>) {
// CHECK-NEXT: llvm.store %x, %p {alignment = 4 : i64} : f32, !llvm.ptr<1>
// CHECK-NEXT: %q = llvm.getelementptr %p[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
// CHECK-NEXT: scf.yield %q : !llvm.ptr<1>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %r : !llvm.ptr<1>
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
// CHECK-LABEL: func.func @swizzled(
// CHECK-SAME: %s: !llvm.ptr<3>, %x: f16) {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.constant 896 : i32
// CHECK-NEXT: [[V1:%[0-9]+]] = arith.constant 3 : i32
// CHECK-NEXT: %p = llvm.bitcast %s : !llvm.ptr<3> to !llvm.ptr<3>
// CHECK-NEXT: %q = llvm.getelementptr %p[3] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f16
// CHECK-NEXT: [[V2:%[0-9]+]] = llvm.ptrtoint %q : !llvm.ptr<3> to i32
// CHECK-NEXT: [[V3:%[0-9]+]] = arith.andi [[V2]], [[V0]] : i32
// CHECK-NEXT: [[V4:%[0-9]+]] = arith.shrsi [[V3]], [[V1]] : i32
// CHECK-NEXT: [[V5:%[0-9]+]] = arith.xori [[V2]], [[V4]] : i32
// CHECK-NEXT: [[V6:%[0-9]+]] = llvm.inttoptr [[V5]] : i32 to !llvm.ptr<3>
// CHECK-NEXT: llvm.store %x, [[V6]] {alignment = 2 : i64} : f16, !llvm.ptr<3>
// CHECK-NEXT: func.return
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
// CHECK-LABEL: func.func @copies(
// CHECK-SAME: %g: !llvm.ptr<1>, %old: vector<4xf32>, %c: i1) -> vector<4xf32> {
// CHECK-NEXT: %v = llvm.load %g {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NEXT: llvm.store %v, %g {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-NEXT: %w = scf.if %c -> (vector<4xf32>) {
// CHECK-NEXT: [[V0:%[0-9]+]] = llvm.load %g {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NEXT: scf.yield [[V0]] : vector<4xf32>
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %old : vector<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: scf.if %c {
// CHECK-NEXT: llvm.store %w, %g {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-NEXT: }
// CHECK-NEXT: func.return %w : vector<4xf32>
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
// CHECK-LABEL: func.func @atomics(
// CHECK-SAME: %f: !llvm.ptr<1>, %u: !llvm.ptr<3>, %d: !llvm.ptr<1>, %x: vector<1xf32>, %y: vector<1xi32>, %z: vector<2xf16>, %c: i1) {
// CHECK-NEXT: scf.if %c {
// CHECK-NEXT: [[V0:%[0-9]+]] = vector.extract %x[0] : f32 from vector<1xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "llvm.atomicrmw"(%f, [[V0]]) <{bin_op = 11 : i64, ordering = 2 : i64, alignment = 4 : i64, syncscope = "agent"}> : (!llvm.ptr<1>, f32) -> f32
// CHECK-NEXT: }
// CHECK-NEXT: [[V2:%[0-9]+]] = vector.extract %y[0] : i32 from vector<1xi32>
// CHECK-NEXT: [[V3:%[0-9]+]] = "llvm.atomicrmw"(%u, [[V2]]) <{bin_op = 9 : i64, ordering = 2 : i64, alignment = 4 : i64}> : (!llvm.ptr<3>, i32) -> i32
// CHECK-NEXT: [[V4:%[0-9]+]] = vector.extract %z[0] : f16 from vector<2xf16>
// CHECK-NEXT: [[V5:%[0-9]+]] = "llvm.atomicrmw"(%d, [[V4]]) <{bin_op = 14 : i64, ordering = 2 : i64, alignment = 2 : i64}> : (!llvm.ptr<1>, f16) -> f16
// CHECK-NEXT: [[V6:%[0-9]+]] = llvm.getelementptr %d[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f16
// CHECK-NEXT: [[V7:%[0-9]+]] = vector.extract %z[1] : f16 from vector<2xf16>
// CHECK-NEXT: [[V8:%[0-9]+]] = "llvm.atomicrmw"([[V6]], [[V7]]) <{bin_op = 14 : i64, ordering = 2 : i64, alignment = 2 : i64}> : (!llvm.ptr<1>, f16) -> f16
// CHECK-NEXT: func.return
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
// CHECK-LABEL: func.func @fma(
// CHECK-SAME: %a: vector<1xf32>, %h: vector<1xf16>, %i: vector<1xi8>, %k: vector<1xi32>) -> (vector<1xf32>, vector<1xf32>, vector<1xi32>) {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.mulf %a, %a : vector<1xf32>
// CHECK-NEXT: %x = arith.addf [[V0]], %a : vector<1xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = arith.extf %h : vector<1xf16> to vector<1xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = arith.extf %h : vector<1xf16> to vector<1xf32>
// CHECK-NEXT: [[V3:%[0-9]+]] = arith.mulf [[V1]], [[V2]] : vector<1xf32>
// CHECK-NEXT: %y = arith.addf [[V3]], %a : vector<1xf32>
// CHECK-NEXT: [[V4:%[0-9]+]] = arith.extui %i : vector<1xi8> to vector<1xi32>
// CHECK-NEXT: [[V5:%[0-9]+]] = arith.extsi %i : vector<1xi8> to vector<1xi32>
// CHECK-NEXT: [[V6:%[0-9]+]] = arith.muli [[V4]], [[V5]] : vector<1xi32>
// CHECK-NEXT: %z = arith.addi [[V6]], %k : vector<1xi32>
// CHECK-NEXT: func.return %x, %y, %z : vector<1xf32>, vector<1xf32>, vector<1xi32>
func.func @fma(%a: vector<1xf32>, %h: vector<1xf16>, %i: vector<1xi8>, %k: vector<1xi32>) -> (vector<1xf32>, vector<1xf32>, vector<1xi32>) {
  %m = fly.make_mma_atom : !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
  %n = fly.make_mma_atom : !fly.mma_atom<!fly.universal_fma<1x1x1, (f16, f16) -> f32>>
  %o = fly.make_mma_atom : !fly.mma_atom<!fly.universal_fma<1x1x1, (ui8, i8) -> i32>>
  %x = fly.mma_atom_call_ssa(%m, %a, %a, %a) : (!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, vector<1xf32>, vector<1xf32>, vector<1xf32>) -> vector<1xf32>
  %y = fly.mma_atom_call_ssa(%n, %h, %h, %a) : (!fly.mma_atom<!fly.universal_fma<1x1x1, (f16, f16) -> f32>>, vector<1xf16>, vector<1xf16>, vector<1xf32>) -> vector<1xf32>
  %z = fly.mma_atom_call_ssa(%o, %i, %i, %k) : (!fly.mma_atom<!fly.universal_fma<1x1x1, (ui8, i8) -> i32>>, vector<1xi8>, vector<1xi8>, vector<1xi32>) -> vector<1xi32>
  return %x, %y, %z : vector<1xf32>, vector<1xf32>, vector<1xi32>
}

// A scaled product takes its scales from the atom's state, the formats and selectors from its type; packed words that
// were only renamed are passed as they are.
// CHECK-LABEL: func.func @scaled(
// CHECK-NEXT: %0 = arith.constant 0 : i32
// CHECK-NEXT: %1 = arith.constant 4 : i32
// CHECK-NEXT: %2 = arith.constant 1 : i32
// CHECK-NEXT: %b = vector.bitcast %w
// CHECK-NEXT: %3 = vector.bitcast %a : vector<32xf8E4M3FN> to vector<8xi32>
// CHECK-NEXT: %d = "rocdl.mfma.scale.f32.16x16x128.f8f6f4"(%3, %w, %c, %0, %1, %0, %s, %2, %t)
// CHECK-NEXT: func.return %d : vector<4xf32>
func.func @scaled(%a: vector<32xf8E4M3FN>, %w: vector<4xi32>, %c: vector<4xf32>, %s: i32, %t: i32) -> vector<4xf32> {
  %b = "vector.bitcast"(%w) : (vector<4xi32>) -> vector<32xf4E2M1FN>
  %m = fly.make_mma_atom : !fly.mma_atom<!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselA = 0, opselB = 1>>
  %n = fly.atom.set_value(%m, "scale_a", %s) : (!fly.mma_atom<!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselA = 0, opselB = 1>>, i32) -> !fly.mma_atom<!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselA = 0, opselB = 1>>
  %o = fly.atom.set_value(%n, "scale_b", %t) : (!fly.mma_atom<!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselA = 0, opselB = 1>>, i32) -> !fly.mma_atom<!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselA = 0, opselB = 1>>
  %d = fly.mma_atom_call_ssa(%o, %a, %b, %c) : (!fly.mma_atom<!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselA = 0, opselB = 1>>, vector<32xf8E4M3FN>, vector<32xf4E2M1FN>, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}
