// RUN: fly-opt --keep-names --as-compiled --fly-layout-lowering %s | FileCheck %s

// Run-time leaves become arithmetic; what is static never shows.
// CHECK-LABEL: func.func @crd2idx(
// CHECK-SAME: %i: i32, %j: i32, %d: i64) -> i64 {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.extsi %i : i32 to i64
// CHECK-NEXT: [[V1:%[0-9]+]] = arith.muli [[V0]], %d : i64
// CHECK-NEXT: [[V2:%[0-9]+]] = arith.extsi %j : i32 to i64
// CHECK-NEXT: %y = arith.addi [[V1]], [[V2]] : i64
// CHECK-NEXT: func.return %y : i64
func.func @crd2idx(%i: i32, %j: i32, %d: i64) -> i64 {
  %c = fly.make_coord(%i, %j) : (i32, i32) -> !fly.int_tuple<(?,?)>
  %s = fly.static : !fly.int_tuple<(64,32)>
  %t = fly.make_stride(%d) : (i64) -> !fly.int_tuple<(?{i64},1)>
  %l = fly.make_layout(%s, %t) : (!fly.int_tuple<(64,32)>, !fly.int_tuple<(?{i64},1)>) -> !fly.layout<(64,32):(?{i64},1)>
  %x = fly.crd2idx(%c, %l) : (!fly.int_tuple<(?,?)>, !fly.layout<(64,32):(?{i64},1)>) -> !fly.int_tuple<?{i64}>
  %y = fly.get_scalar(%x) : (!fly.int_tuple<?{i64}>) -> i64
  return %y : i64
}

// A power of two is a shift and a mask; anything else divides rounding down, as Python does.
// CHECK-LABEL: func.func @split(
// CHECK-SAME: %i: i32) -> (i32, i32) {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.constant 7 : i32
// CHECK-NEXT: [[V1:%[0-9]+]] = arith.constant 30 : i32
// CHECK-NEXT: [[V2:%[0-9]+]] = arith.constant 3 : i32
// CHECK-NEXT: [[V3:%[0-9]+]] = arith.constant 6 : i32
// CHECK-NEXT: [[V4:%[0-9]+]] = arith.constant 5 : i32
// CHECK-NEXT: [[V5:%[0-9]+]] = arith.constant 2 : i32
// CHECK-NEXT: [[V6:%[0-9]+]] = arith.andi %i, [[V0]] : i32
// CHECK-NEXT: [[V7:%[0-9]+]] = arith.muli [[V6]], [[V1]] : i32
// CHECK-NEXT: [[V8:%[0-9]+]] = arith.shrsi %i, [[V2]] : i32
// CHECK-NEXT: [[V9:%[0-9]+]] = arith.floordivsi [[V8]], [[V3]] : i32
// CHECK-NEXT: [[V10:%[0-9]+]] = arith.muli [[V9]], [[V3]] : i32
// CHECK-NEXT: [[V11:%[0-9]+]] = arith.subi [[V8]], [[V10]] : i32
// CHECK-NEXT: [[V12:%[0-9]+]] = arith.muli [[V11]], [[V4]] : i32
// CHECK-NEXT: [[V13:%[0-9]+]] = arith.addi [[V7]], [[V12]] : i32
// CHECK-NEXT: %y = arith.addi [[V13]], [[V9]] : i32
// CHECK-NEXT: [[V14:%[0-9]+]] = arith.andi [[V8]], [[V2]] : i32
// CHECK-NEXT: [[V15:%[0-9]+]] = arith.shli [[V6]], [[V5]] : i32
// CHECK-NEXT: %z = arith.addi [[V14]], [[V15]] : i32
// CHECK-NEXT: func.return %y, %z : i32, i32
func.func @split(%i: i32) -> (i32, i32) {
  %c = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?>
  %l = fly.static : !fly.layout<(8,(6,5)):(30,(5,1))>
  %x = fly.crd2idx(%c, %l) : (!fly.int_tuple<?>, !fly.layout<(8,(6,5)):(30,(5,1))>) -> !fly.int_tuple<?>
  %y = fly.get_scalar(%x) : (!fly.int_tuple<?>) -> i32
  %m = fly.static : !fly.layout<(4,8):(8,1)>
  %k = fly.get_1d_coord(%c, %m) : (!fly.int_tuple<?>, !fly.layout<(4,8):(8,1)>) -> !fly.int_tuple<?>
  %z = fly.get_scalar(%k) : (!fly.int_tuple<?>) -> i32
  return %y, %z : i32, i32
}

// The size of a dynamic layout is 64 bits wide; how many tiles cover it is a division rounding up.
// CHECK-LABEL: func.func @tiles(
// CHECK-SAME: %n: i32) -> (i64, i32) {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.constant 3 : i64
// CHECK-NEXT: [[V1:%[0-9]+]] = arith.constant 6 : i32
// CHECK-NEXT: [[V2:%[0-9]+]] = arith.extsi %n : i32 to i64
// CHECK-NEXT: %a = arith.shli [[V2]], [[V0]] : i64
// CHECK-NEXT: %b = arith.ceildivsi %n, [[V1]] : i32
// CHECK-NEXT: func.return %a, %b : i64, i32
func.func @tiles(%n: i32) -> (i64, i32) {
  %s = fly.make_shape(%n) : (i32) -> !fly.int_tuple<(?,8)>
  %d = fly.static : !fly.int_tuple<(8,1)>
  %l = fly.make_layout(%s, %d) : (!fly.int_tuple<(?,8)>, !fly.int_tuple<(8,1)>) -> !fly.layout<(?,8):(8,1)>
  %size = fly.size(%l) : (!fly.layout<(?,8):(8,1)>) -> !fly.int_tuple<?{i64 div=8}>
  %tile = fly.static : !fly.tile<[6|4]>
  %q = fly.zipped_divide(%l, %tile) : (!fly.layout<(?,8):(8,1)>, !fly.tile<[6|4]>) -> !fly.layout<((6,4),(?,2)):((8,1),(48,4))>
  %e = fly.get(%q) {mode = array<i32: 1, 0>} : (!fly.layout<((6,4),(?,2)):((8,1),(48,4))>) -> !fly.layout<?:48>
  %r = fly.get_shape(%e) : (!fly.layout<?:48>) -> !fly.int_tuple<?>
  %a = fly.get_scalar(%size) : (!fly.int_tuple<?{i64 div=8}>) -> i64
  %b = fly.get_scalar(%r) : (!fly.int_tuple<?>) -> i32
  return %a, %b : i64, i32
}

// A thread's part of a tensor: one run-time step, one constant one, one wide access. A sum of multiples of four elements
// is counted in fours in global memory.
// CHECK-LABEL: func.func @slice(
// CHECK-SAME: %p: !fly.ptr<f32, global, align<16>>, %b: i32, %t: i32) -> vector<4xf32> {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.constant 2 : i32
// CHECK-NEXT: [[V1:%[0-9]+]] = arith.constant 6 : i32
// CHECK-NEXT: [[V2:%[0-9]+]] = arith.shli %b, [[V1]] : i32
// CHECK-NEXT: [[V3:%[0-9]+]] = arith.addi [[V2]], %t : i32
// CHECK-NEXT: [[V4:%[0-9]+]] = arith.shli [[V3]], [[V0]] overflow<nsw> : i32
// CHECK-NEXT: [[V5:%[0-9]+]] = fly.make_int_tuple([[V4]]) : (i32) -> !fly.int_tuple<?{div=4}>
// CHECK-NEXT: [[V6:%[0-9]+]] = fly.add_offset(%p, [[V5]]) : {{.*}} -> !fly.ptr<f32, global, align<16>>
// CHECK-NEXT: %x = fly.ptr.load([[V6]]) : (!fly.ptr<f32, global, align<16>>) -> vector<4xf32>
// CHECK-NEXT: func.return %x : vector<4xf32>
func.func @slice(%p: !fly.ptr<f32, global, align<16>>, %b: i32, %t: i32) -> vector<4xf32> {
  %l = fly.static : !fly.layout<(64,256):(256,1)>
  %m = fly.make_view(%p, %l) : (!fly.ptr<f32, global, align<16>>, !fly.layout<(64,256):(256,1)>) -> !fly.memref<f32, global, (64,256):(256,1), align<16>>
  %v = fly.static : !fly.tile<[*|4:1]>
  %d = fly.logical_divide(%m, %v) : (!fly.memref<f32, global, (64,256):(256,1), align<16>>, !fly.tile<[*|4:1]>) -> !fly.memref<f32, global, (64,(4,64)):(256,(1,4)), align<16>>
  %c = fly.make_coord(%b, %t) : (i32, i32) -> !fly.int_tuple<(?,(*,?))>
  %s = fly.slice(%d, %c) : (!fly.memref<f32, global, (64,(4,64)):(256,(1,4)), align<16>>, !fly.int_tuple<(?,(*,?))>) -> !fly.memref<f32, global, 4:1, align<16>>
  %x = fly.memref.load_vec(%s) : (!fly.memref<f32, global, 4:1, align<16>>) -> vector<4xf32>
  return %x : vector<4xf32>
}

// Elements that are not neighbours are read one by one; runs are as wide as 16 bytes allow.
// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %p: !fly.ptr<f16, global>) -> vector<12xf16> {
// CHECK-NEXT: [[V0:%[0-9]+]] = fly.static : !fly.int_tuple<8>
// CHECK-NEXT: [[V1:%[0-9]+]] = fly.static : !fly.int_tuple<16>
// CHECK-NEXT: [[V2:%[0-9]+]] = fly.static : !fly.int_tuple<32>
// CHECK-NEXT: [[V3:%[0-9]+]] = fly.ptr.load(%p) : (!fly.ptr<f16, global>) -> vector<4xf16>
// CHECK-NEXT: [[V4:%[0-9]+]] = fly.add_offset(%p, [[V0]]) : (!fly.ptr<f16, global>, !fly.int_tuple<8>) -> !fly.ptr<f16, global>
// CHECK-NEXT: [[V5:%[0-9]+]] = fly.ptr.load([[V4]]) : (!fly.ptr<f16, global>) -> vector<4xf16>
// CHECK-NEXT: [[V6:%[0-9]+]] = fly.add_offset(%p, [[V1]]) : (!fly.ptr<f16, global>, !fly.int_tuple<16>) -> !fly.ptr<f16, global>
// CHECK-NEXT: [[V7:%[0-9]+]] = fly.ptr.load([[V6]]) : (!fly.ptr<f16, global>) -> vector<4xf16>
// CHECK-NEXT: [[V8:%[0-9]+]] = vector.shuffle [[V3]], [[V5]] [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xf16>, vector<4xf16>
// CHECK-NEXT: %x = vector.shuffle [[V8]], [[V7]] [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] : vector<8xf16>, vector<4xf16>
// CHECK-NEXT: [[V9:%[0-9]+]] = fly.ptr.load(%p) : (!fly.ptr<f16, global>) -> f16
// CHECK-NEXT: [[V10:%[0-9]+]] = fly.add_offset(%p, [[V2]]) : (!fly.ptr<f16, global>, !fly.int_tuple<32>) -> !fly.ptr<f16, global>
// CHECK-NEXT: [[V11:%[0-9]+]] = fly.ptr.load([[V10]]) : (!fly.ptr<f16, global>) -> f16
// CHECK-NEXT: %y = "vector.from_elements"([[V9]], [[V11]]) : (f16, f16) -> vector<2xf16>
// CHECK-NEXT: [[V12:%[0-9]+]] = vector.extract %y[0] : f16 from vector<2xf16>
// CHECK-NEXT: fly.ptr.store([[V12]], %p) : (f16, !fly.ptr<f16, global>) -> ()
// CHECK-NEXT: [[V13:%[0-9]+]] = vector.extract %y[1] : f16 from vector<2xf16>
// CHECK-NEXT: fly.ptr.store([[V13]], [[V10]]) : (f16, !fly.ptr<f16, global>) -> ()
// CHECK-NEXT: func.return %x : vector<12xf16>
func.func @gather(%p: !fly.ptr<f16, global>) -> vector<12xf16> {
  %l = fly.static : !fly.layout<(4,3):(1,8)>
  %m = fly.make_view(%p, %l) : (!fly.ptr<f16, global>, !fly.layout<(4,3):(1,8)>) -> !fly.memref<f16, global, (4,3):(1,8)>
  %x = fly.memref.load_vec(%m) : (!fly.memref<f16, global, (4,3):(1,8)>) -> vector<12xf16>
  %n = fly.static : !fly.layout<2:32>
  %w = fly.make_view(%p, %n) : (!fly.ptr<f16, global>, !fly.layout<2:32>) -> !fly.memref<f16, global, 2:32>
  %y = fly.memref.load_vec(%w) : (!fly.memref<f16, global, 2:32>) -> vector<2xf16>
  fly.memref.store_vec(%y, %w) : (vector<2xf16>, !fly.memref<f16, global, 2:32>) -> ()
  return %x : vector<12xf16>
}

// Runs along a contiguous mode are found when the other strides are known only at run time.
// CHECK-LABEL: func.func @dynamic_runs(
// CHECK-SAME: %p: !fly.ptr<f32, global>, %d: i32) -> vector<8xf32> {
// CHECK-NEXT: [[V0:%[0-9]+]] = fly.ptr.load(%p) : (!fly.ptr<f32, global>) -> vector<4xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = fly.make_int_tuple(%d) : (i32) -> !fly.int_tuple<?>
// CHECK-NEXT: [[V2:%[0-9]+]] = fly.add_offset(%p, [[V1]]) : (!fly.ptr<f32, global>, !fly.int_tuple<?>) -> !fly.ptr<f32, global>
// CHECK-NEXT: [[V3:%[0-9]+]] = fly.ptr.load([[V2]]) : (!fly.ptr<f32, global>) -> vector<4xf32>
// CHECK-NEXT: %x = vector.shuffle [[V0]], [[V3]] [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xf32>, vector<4xf32>
// CHECK-NEXT: func.return %x : vector<8xf32>
func.func @dynamic_runs(%p: !fly.ptr<f32, global>, %d: i32) -> vector<8xf32> {
  %s = fly.static : !fly.int_tuple<(4,2)>
  %t = fly.make_stride(%d) : (i32) -> !fly.int_tuple<(1,?)>
  %l = fly.make_layout(%s, %t) : (!fly.int_tuple<(4,2)>, !fly.int_tuple<(1,?)>) -> !fly.layout<(4,2):(1,?)>
  %m = fly.make_view(%p, %l) : (!fly.ptr<f32, global>, !fly.layout<(4,2):(1,?)>) -> !fly.memref<f32, global, (4,2):(1,?)>
  %x = fly.memref.load_vec(%m) : (!fly.memref<f32, global, (4,2):(1,?)>) -> vector<8xf32>
  return %x : vector<8xf32>
}

// Single elements.
// CHECK-LABEL: func.func @element(
// CHECK-SAME: %p: !fly.ptr<f32, global>, %i: i32, %f: f32) -> f32 {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.constant 3 : i32
// CHECK-NEXT: [[V1:%[0-9]+]] = fly.static : !fly.int_tuple<2>
// CHECK-NEXT: [[V2:%[0-9]+]] = arith.shli %i, [[V0]] : i32
// CHECK-NEXT: [[V3:%[0-9]+]] = fly.make_int_tuple([[V2]]) : (i32) -> !fly.int_tuple<?{div=8}>
// CHECK-NEXT: [[V4:%[0-9]+]] = fly.add_offset(%p, [[V3]]) : (!fly.ptr<f32, global>, !fly.int_tuple<?{div=8}>) -> !fly.ptr<f32, global>
// CHECK-NEXT: [[V5:%[0-9]+]] = fly.add_offset([[V4]], [[V1]]) : (!fly.ptr<f32, global>, !fly.int_tuple<2>) -> !fly.ptr<f32, global>
// CHECK-NEXT: %x = fly.ptr.load([[V5]]) : (!fly.ptr<f32, global>) -> f32
// CHECK-NEXT: fly.ptr.store(%f, [[V5]]) : (f32, !fly.ptr<f32, global>) -> ()
// CHECK-NEXT: func.return %x : f32
func.func @element(%p: !fly.ptr<f32, global>, %i: i32, %f: f32) -> f32 {
  %l = fly.static : !fly.layout<(4,8):(8,1)>
  %m = fly.make_view(%p, %l) : (!fly.ptr<f32, global>, !fly.layout<(4,8):(8,1)>) -> !fly.memref<f32, global, (4,8):(8,1)>
  %c = fly.make_coord(%i) : (i32) -> !fly.int_tuple<(?,2)>
  %x = fly.memref.load(%m, %c) : (!fly.memref<f32, global, (4,8):(8,1)>, !fly.int_tuple<(?,2)>) -> f32
  fly.memref.store(%f, %m, %c) : (f32, !fly.memref<f32, global, (4,8):(8,1)>, !fly.int_tuple<(?,2)>) -> ()
  return %x : f32
}

// A composed layout: the swizzle is applied to the element offset of the slice.
// CHECK-LABEL: func.func @swizzled(
// CHECK-SAME: %p: !fly.ptr<f16, shared, align<16>>, %i: i32) -> vector<8xf16> {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.constant 6 : i32
// CHECK-NEXT: [[V1:%[0-9]+]] = arith.constant 8 : i32
// CHECK-NEXT: [[V2:%[0-9]+]] = arith.constant 448 : i32
// CHECK-NEXT: [[V3:%[0-9]+]] = arith.constant 3 : i32
// CHECK-NEXT: [[V4:%[0-9]+]] = arith.shli %i, [[V0]] : i32
// CHECK-NEXT: [[V5:%[0-9]+]] = arith.addi [[V4]], [[V1]] : i32
// CHECK-NEXT: [[V6:%[0-9]+]] = arith.andi [[V5]], [[V2]] : i32
// CHECK-NEXT: [[V7:%[0-9]+]] = arith.shrsi [[V6]], [[V3]] : i32
// CHECK-NEXT: [[V8:%[0-9]+]] = arith.xori [[V5]], [[V7]] : i32
// CHECK-NEXT: [[V9:%[0-9]+]] = fly.make_int_tuple([[V8]]) : (i32) -> !fly.int_tuple<?{div=8}>
// CHECK-NEXT: [[V10:%[0-9]+]] = fly.add_offset(%p, [[V9]]) : {{.*}} -> !fly.ptr<f16, shared, align<16>>
// CHECK-NEXT: %x = fly.ptr.load([[V10]]) : (!fly.ptr<f16, shared, align<16>>) -> vector<8xf16>
// CHECK-NEXT: func.return %x : vector<8xf16>
func.func @swizzled(%p: !fly.ptr<f16, shared, align<16>>, %i: i32) -> vector<8xf16> {
  %z = fly.static : !fly.composed_layout<S<3,3,3> o 0 o (64,(8,8)):(64,(1,8))>
  %m = fly.make_view(%p, %z) : (!fly.ptr<f16, shared, align<16>>, !fly.composed_layout<S<3,3,3> o 0 o (64,(8,8)):(64,(1,8))>) -> !fly.memref<f16, shared, S<3,3,3> o 0 o (64,(8,8)):(64,(1,8)), align<16>>
  %c = fly.make_coord(%i) : (i32) -> !fly.int_tuple<(?,(*,1))>
  %s = fly.slice(%m, %c) : (!fly.memref<f16, shared, S<3,3,3> o 0 o (64,(8,8)):(64,(1,8)), align<16>>, !fly.int_tuple<(?,(*,1))>) -> !fly.memref<f16, shared, S<3,3,3> o ?{div=8} o 8:1, align<16>>
  %d = fly.decomposition(%s) : (!fly.memref<f16, shared, S<3,3,3> o ?{div=8} o 8:1, align<16>>) -> !fly.memref<f16, shared, 8:1, align<16>>
  %x = fly.memref.load_vec(%d) : (!fly.memref<f16, shared, 8:1, align<16>>) -> vector<8xf16>
  return %x : vector<8xf16>
}

// A swizzled pointer stays one: the conversion permutes its byte address at every access.
// CHECK-LABEL: func.func @swizzled_pointer(
// CHECK-SAME: %p: !fly.ptr<f16, shared, align<16>>, %o: i32) -> f16 {
// CHECK-NEXT: [[V0:%[0-9]+]] = fly.static : !fly.swizzle<S<3,4,3>>
// CHECK-NEXT: [[V1:%[0-9]+]] = fly.apply_swizzle(%p, [[V0]]) : {{.*}} -> !fly.ptr<f16, shared, align<16>, S<3,4,3>>
// CHECK-NEXT: [[V2:%[0-9]+]] = fly.make_int_tuple(%o) : (i32) -> !fly.int_tuple<?>
// CHECK-NEXT: [[V3:%[0-9]+]] = fly.add_offset([[V1]], [[V2]]) : {{.*}} -> !fly.ptr<f16, shared, S<3,4,3>>
// CHECK-NEXT: %x = fly.ptr.load([[V3]]) : (!fly.ptr<f16, shared, S<3,4,3>>) -> f16
// CHECK-NEXT: func.return %x : f16
func.func @swizzled_pointer(%p: !fly.ptr<f16, shared, align<16>>, %o: i32) -> f16 {
  %w = fly.static : !fly.swizzle<S<3,4,3>>
  %q = fly.apply_swizzle(%p, %w) : (!fly.ptr<f16, shared, align<16>>, !fly.swizzle<S<3,4,3>>) -> !fly.ptr<f16, shared, align<16>, S<3,4,3>>
  %t = fly.make_int_tuple(%o) : (i32) -> !fly.int_tuple<?>
  %r = fly.add_offset(%q, %t) : (!fly.ptr<f16, shared, align<16>, S<3,4,3>>, !fly.int_tuple<?>) -> !fly.ptr<f16, shared, S<3,4,3>>
  %x = fly.ptr.load(%r) : (!fly.ptr<f16, shared, S<3,4,3>>) -> f16
  return %x : f16
}

// Coordinates and the predicate made of them.
// CHECK-LABEL: func.func @coordinates(
// CHECK-SAME: %i: i32, %n: i32) -> (i1, vector<2xi32>) {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.constant 4 : i32
// CHECK-NEXT: %p = arith.cmpi slt, %i, %n : i32
// CHECK-NEXT: [[V1:%[0-9]+]] = arith.addi %i, [[V0]] : i32
// CHECK-NEXT: %w = "vector.from_elements"(%i, [[V1]]) : (i32, i32) -> vector<2xi32>
// CHECK-NEXT: func.return %p, %w : i1, vector<2xi32>
func.func @coordinates(%i: i32, %n: i32) -> (i1, vector<2xi32>) {
  %o = fly.static : !fly.int_tuple<(0,0)>
  %id = fly.static : !fly.layout<(64,8):(1E0,1E1)>
  %t = fly.make_view(%o, %id) : (!fly.int_tuple<(0,0)>, !fly.layout<(64,8):(1E0,1E1)>) -> !fly.coord_tensor<(0,0), (64,8):(1E0,1E1)>
  %c = fly.make_coord(%i) : (i32) -> !fly.int_tuple<(?,3)>
  %x = fly.get_layout(%t) : (!fly.coord_tensor<(0,0), (64,8):(1E0,1E1)>) -> !fly.layout<(64,8):(1E0,1E1)>
  %at = fly.crd2idx(%c, %x) : (!fly.int_tuple<(?,3)>, !fly.layout<(64,8):(1E0,1E1)>) -> !fly.int_tuple<(?,3)>
  %shape = fly.make_shape(%n) : (i32) -> !fly.int_tuple<(?,8)>
  %p = fly.elem_less(%at, %shape) : (!fly.int_tuple<(?,3)>, !fly.int_tuple<(?,8)>) -> i1
  %base = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?>
  %l = fly.static : !fly.layout<2:4>
  %v = fly.make_view(%base, %l) : (!fly.int_tuple<?>, !fly.layout<2:4>) -> !fly.coord_tensor<?, 2:4>
  %w = fly.memref.load_vec(%v) : (!fly.coord_tensor<?, 2:4>) -> vector<2xi32>
  return %p, %w : i1, vector<2xi32>
}

// 5 billion elements: the offset is computed in 64 bits.
// CHECK-LABEL: func.func @large(
// CHECK-SAME: %p: !fly.ptr<i8, global>, %i: i32) -> i8 {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.constant 100000 : i64
// CHECK-NEXT: [[V1:%[0-9]+]] = fly.static : !fly.int_tuple<99999>
// CHECK-NEXT: [[V2:%[0-9]+]] = arith.extsi %i : i32 to i64
// CHECK-NEXT: [[V3:%[0-9]+]] = arith.muli [[V2]], [[V0]] : i64
// CHECK-NEXT: [[V4:%[0-9]+]] = fly.make_int_tuple([[V3]]) : (i64) -> !fly.int_tuple<?{i64 div=100000}>
// CHECK-NEXT: [[V5:%[0-9]+]] = fly.add_offset(%p, [[V4]]) : {{.*}} -> !fly.ptr<i8, global>
// CHECK-NEXT: [[V6:%[0-9]+]] = fly.add_offset([[V5]], [[V1]]) : (!fly.ptr<i8, global>, !fly.int_tuple<99999>) -> !fly.ptr<i8, global>
// CHECK-NEXT: %x = fly.ptr.load([[V6]]) : (!fly.ptr<i8, global>) -> i8
// CHECK-NEXT: func.return %x : i8
func.func @large(%p: !fly.ptr<i8, global>, %i: i32) -> i8 {
  %l = fly.static : !fly.layout<(50000,100000):(100000,1)>
  %m = fly.make_view(%p, %l) : (!fly.ptr<i8, global>, !fly.layout<(50000,100000):(100000,1)>) -> !fly.memref<i8, global, (50000,100000):(100000,1)>
  %c = fly.make_coord(%i) : (i32) -> !fly.int_tuple<(?,99999)>
  %x = fly.memref.load(%m, %c) : (!fly.memref<i8, global, (50000,100000):(100000,1)>, !fly.int_tuple<(?,99999)>) -> i8
  return %x : i8
}

// What is computed twice in a block is computed once; a region does not lend to its neighbour.
// CHECK-LABEL: func.func @sharing(
// CHECK-SAME: %c: i1, %i: i32) -> i32 {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.constant 7 : i32
// CHECK-NEXT: [[V1:%[0-9]+]] = arith.constant 2 : i32
// CHECK-NEXT: [[V2:%[0-9]+]] = arith.constant 3 : i32
// CHECK-NEXT: %r = scf.if %c -> (i32) {
// CHECK-NEXT: [[V3:%[0-9]+]] = arith.andi %i, [[V0]] : i32
// CHECK-NEXT: [[V4:%[0-9]+]] = arith.shli [[V3]], [[V1]] : i32
// CHECK-NEXT: [[V5:%[0-9]+]] = arith.shrsi %i, [[V2]] : i32
// CHECK-NEXT: [[V6:%[0-9]+]] = arith.addi [[V4]], [[V5]] : i32
// CHECK-NEXT: %s = arith.addi [[V6]], [[V6]] : i32
// CHECK-NEXT: scf.yield %s : i32
// CHECK-NEXT: } else {
// CHECK-NEXT: [[V7:%[0-9]+]] = arith.andi %i, [[V0]] : i32
// CHECK-NEXT: [[V8:%[0-9]+]] = arith.shli [[V7]], [[V1]] : i32
// CHECK-NEXT: [[V9:%[0-9]+]] = arith.shrsi %i, [[V2]] : i32
// CHECK-NEXT: %s_1 = arith.addi [[V8]], [[V9]] : i32
// CHECK-NEXT: scf.yield %s_1 : i32
// CHECK-NEXT: }
// CHECK-NEXT: func.return %r : i32
func.func @sharing(%c: i1, %i: i32) -> i32 {
  %l = fly.static : !fly.layout<(8,4):(4,1)>
  %t = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?>
  %r = scf.if %c -> (i32) {
    %x = fly.crd2idx(%t, %l) : (!fly.int_tuple<?>, !fly.layout<(8,4):(4,1)>) -> !fly.int_tuple<?>
    %y = fly.crd2idx(%t, %l) : (!fly.int_tuple<?>, !fly.layout<(8,4):(4,1)>) -> !fly.int_tuple<?>
    %z = fly.int_tuple_add(%x, %y) : (!fly.int_tuple<?>, !fly.int_tuple<?>) -> !fly.int_tuple<?>
    %s = fly.get_scalar(%z) : (!fly.int_tuple<?>) -> i32
    scf.yield %s : i32
  } else {
    %x = fly.crd2idx(%t, %l) : (!fly.int_tuple<?>, !fly.layout<(8,4):(4,1)>) -> !fly.int_tuple<?>
    %s = fly.get_scalar(%x) : (!fly.int_tuple<?>) -> i32
    scf.yield %s : i32
  }
  return %r : i32
}

// The address of a tensor, and registers.
// CHECK-LABEL: func.func @addresses(
// CHECK-SAME: %p: !fly.ptr<f32, global>, %i: i32) -> (index, !llvm.ptr<1>) {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.constant 3 : i32
// CHECK-NEXT: [[V1:%[0-9]+]] = fly.static : !fly.int_tuple<4>
// CHECK-NEXT: [[V2:%[0-9]+]] = arith.shli %i, [[V0]] : i32
// CHECK-NEXT: [[V3:%[0-9]+]] = fly.make_int_tuple([[V2]]) : (i32) -> !fly.int_tuple<?{div=8}>
// CHECK-NEXT: [[V4:%[0-9]+]] = fly.add_offset(%p, [[V3]]) : (!fly.ptr<f32, global>, !fly.int_tuple<?{div=8}>) -> !fly.ptr<f32, global>
// CHECK-NEXT: [[V5:%[0-9]+]] = fly.ptrtoint([[V4]]) : (!fly.ptr<f32, global>) -> i64
// CHECK-NEXT: %x = arith.index_cast [[V5]] : i64 to index
// CHECK-NEXT: %y = fly.to_llvm_ptr(%p) : (!fly.ptr<f32, global>) -> !llvm.ptr<1>
// CHECK-NEXT: [[V6:%[0-9]+]] = fly.make_ptr() {dictAttrs = {allocSize = 8 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: %v = fly.ptr.load([[V6]]) : (!fly.ptr<f32, register>) -> vector<8xf32>
// CHECK-NEXT: [[V7:%[0-9]+]] = vector.shuffle %v, %v [0, 1, 2, 3] : vector<8xf32>, vector<8xf32>
// CHECK-NEXT: fly.ptr.store([[V7]], [[V4]]) : (vector<4xf32>, !fly.ptr<f32, global>) -> ()
// CHECK-NEXT: [[V8:%[0-9]+]] = vector.shuffle %v, %v [4, 5, 6, 7] : vector<8xf32>, vector<8xf32>
// CHECK-NEXT: [[V9:%[0-9]+]] = fly.add_offset([[V4]], [[V1]]) : (!fly.ptr<f32, global>, !fly.int_tuple<4>) -> !fly.ptr<f32, global>
// CHECK-NEXT: fly.ptr.store([[V8]], [[V9]]) : (vector<4xf32>, !fly.ptr<f32, global>) -> ()
// CHECK-NEXT: func.return %x, %y : index, !llvm.ptr<1>
func.func @addresses(%p: !fly.ptr<f32, global>, %i: i32) -> (index, !llvm.ptr<1>) {
  %l = fly.static : !fly.layout<(4,8):(8,1)>
  %m = fly.make_view(%p, %l) : (!fly.ptr<f32, global>, !fly.layout<(4,8):(8,1)>) -> !fly.memref<f32, global, (4,8):(8,1)>
  %c = fly.make_coord(%i) : (i32) -> !fly.int_tuple<(?,*)>
  %s = fly.slice(%m, %c) : (!fly.memref<f32, global, (4,8):(8,1)>, !fly.int_tuple<(?,*)>) -> !fly.memref<f32, global, 8:1>
  %x = fly.extract_aligned_pointer_as_index %s : !fly.memref<f32, global, 8:1> -> index
  %y = fly.extract_aligned_pointer_as_index %m : !fly.memref<f32, global, (4,8):(8,1)> -> !llvm.ptr<1>
  %f = fly.make_fragment_like(%s) : (!fly.memref<f32, global, 8:1>) -> !fly.memref<f32, register, 8:1>
  %v = fly.memref.load_vec(%f) : (!fly.memref<f32, register, 8:1>) -> vector<8xf32>
  fly.memref.store_vec(%v, %s) : (vector<8xf32>, !fly.memref<f32, global, 8:1>) -> ()
  return %x, %y : index, !llvm.ptr<1>
}

// Elements that share a predicate share an access and a branch; a row-major tile is read row by row.
// CHECK-LABEL: func.func @under_a_mask(
// CHECK: [[A:%[0-9]+]] = scf.if {{.*}} -> (vector<2xf32>) {
// CHECK: fly.ptr.load({{.*}}) : (!fly.ptr<f32, global, align<8>>) -> vector<2xf32>
// CHECK: [[B:%[0-9]+]] = scf.if {{.*}} -> (vector<2xf32>) {
// CHECK: vector.shuffle {{.*}} [0, 2, 1, 3] : vector<4xf32>, vector<4xf32>
func.func @under_a_mask(%p: !fly.ptr<f32, global, align<8>>, %flags: vector<2xi1>, %v: vector<4xf32>) -> vector<4xf32> {
  %l = fly.static : !fly.layout<(2,2):(6,1)>
  %m = fly.make_view(%p, %l) : (!fly.ptr<f32, global, align<8>>, !fly.layout<(2,2):(6,1)>) -> !fly.memref<f32, global, (2,2):(6,1), align<8>>
  %x = fly.memref.masked_load_vec(%m, %flags, %v) {mask = array<i32: 0, 1, 0, 1>} : (!fly.memref<f32, global, (2,2):(6,1), align<8>>, vector<2xi1>, vector<4xf32>) -> vector<4xf32>
  return %x : vector<4xf32>
}

// Where accesses under a mask go is worked out once, before any branch: the rows of two columns share their offsets.
// CHECK-LABEL: func.func @offsets_under_a_mask(
// CHECK: scf.if
// CHECK: [[ROW:%[0-9]+]] = arith.addi %pitch, {{.*}} : i64
// CHECK: scf.if
// CHECK-NOT: arith.
// CHECK: fly.make_int_tuple([[ROW]])
// CHECK: scf.if
// CHECK: scf.if
// CHECK-NOT: arith.
// CHECK: fly.make_int_tuple([[ROW]])
func.func @offsets_under_a_mask(%p: !fly.ptr<f32, global>, %flags: vector<4xi1>, %v: vector<4xf32>, %pitch: i64, %i: i32) {
  %s = fly.make_stride(%pitch, %pitch) : (i64, i64) -> !fly.int_tuple<(?{i64},(?{i64},32))>
  %e = fly.make_shape(%i) : (i32) -> !fly.int_tuple<(?,(2,2))>
  %l = fly.make_layout(%e, %s) : (!fly.int_tuple<(?,(2,2))>, !fly.int_tuple<(?{i64},(?{i64},32))>) -> !fly.layout<(?,(2,2)):(?{i64},(?{i64},32))>
  %m = fly.make_view(%p, %l) : (!fly.ptr<f32, global>, !fly.layout<(?,(2,2)):(?{i64},(?{i64},32))>) -> !fly.memref<f32, global, (?,(2,2)):(?{i64},(?{i64},32))>
  %c = fly.make_coord(%i) : (i32) -> !fly.int_tuple<(?,*)>
  %x = fly.slice(%m, %c) : (!fly.memref<f32, global, (?,(2,2)):(?{i64},(?{i64},32))>, !fly.int_tuple<(?,*)>) -> !fly.memref<f32, global, (2,2):(?{i64},32)>
  fly.memref.masked_store_vec(%v, %x, %flags) {mask = array<i32: 0, 1, 2, 3>} : (vector<4xf32>, !fly.memref<f32, global, (2,2):(?{i64},32)>, vector<4xi1>) -> ()
  return
}
