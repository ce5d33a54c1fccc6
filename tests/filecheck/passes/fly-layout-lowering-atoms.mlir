// RUN: fly-opt --keep-names --as-compiled --fly-layout-lowering --canonicalize %s | FileCheck %s

// `copy` and `gemm` over whole tensors become one atom call per instruction.

// Two atoms side by side: the second differs by a constant offset.
// CHECK-LABEL: func.func @copy(
// CHECK-SAME: %g: !fly.ptr<f32, global, align<16>>, %i: i32) {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.constant 3 : i32
// CHECK-NEXT: [[V1:%[0-9]+]] = fly.static : !fly.layout<4:1>
// CHECK-NEXT: [[V2:%[0-9]+]] = fly.static : !fly.int_tuple<4>
// CHECK-NEXT: %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<128>, 32>
// CHECK-NEXT: [[V3:%[0-9]+]] = arith.shli %i, [[V0]] : i32
// CHECK-NEXT: [[V4:%[0-9]+]] = fly.make_ptr() {dictAttrs = {allocSize = 8 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V5:%[0-9]+]] = fly.make_int_tuple([[V3]]) : (i32) -> !fly.int_tuple<?{div=8}>
// CHECK-NEXT: [[V6:%[0-9]+]] = fly.add_offset(%g, [[V5]]) : {{.*}} -> !fly.ptr<f32, global, align<16>>
// CHECK-NEXT: [[V7:%[0-9]+]] = fly.make_view([[V6]], [[V1]]) : {{.*}} -> !fly.memref<f32, global, 4:1, align<16>>
// CHECK-NEXT: [[V8:%[0-9]+]] = fly.make_view([[V4]], [[V1]]) : (!fly.ptr<f32, register>, !fly.layout<4:1>) -> !fly.memref<f32, register, 4:1>
// CHECK-NEXT: fly.copy_atom_call(%a, [[V7]], [[V8]]) : {{.*}} -> ()
// CHECK-NEXT: [[V9:%[0-9]+]] = fly.add_offset([[V6]], [[V2]]) : {{.*}} -> !fly.ptr<f32, global, align<16>>
// CHECK-NEXT: [[V10:%[0-9]+]] = fly.make_view([[V9]], [[V1]]) : {{.*}} -> !fly.memref<f32, global, 4:1, align<16>>
// CHECK-NEXT: [[V11:%[0-9]+]] = fly.add_offset([[V4]], [[V2]]) : (!fly.ptr<f32, register>, !fly.int_tuple<4>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V12:%[0-9]+]] = fly.make_view([[V11]], [[V1]]) : (!fly.ptr<f32, register>, !fly.layout<4:1>) -> !fly.memref<f32, register, 4:1>
// CHECK-NEXT: fly.copy_atom_call(%a, [[V10]], [[V12]]) : {{.*}} -> ()
// CHECK-NEXT: func.return
func.func @copy(%g: !fly.ptr<f32, global, align<16>>, %i: i32) {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<128>, 32>
  %l = fly.static : !fly.layout<(64,8):(8,1)>
  %m = fly.make_view(%g, %l) : (!fly.ptr<f32, global, align<16>>, !fly.layout<(64,8):(8,1)>) -> !fly.memref<f32, global, (64,8):(8,1), align<16>>
  %c = fly.make_coord(%i) : (i32) -> !fly.int_tuple<(?,*)>
  %row = fly.slice(%m, %c) : (!fly.memref<f32, global, (64,8):(8,1), align<16>>, !fly.int_tuple<(?,*)>) -> !fly.memref<f32, global, 8:1, align<16>>
  %r = fly.memref.alloca() : () -> !fly.memref<f32, register, 8:1>
  fly.copy(%a, %row, %r) : (!fly.copy_atom<!fly.universal_copy<128>, 32>, !fly.memref<f32, global, 8:1, align<16>>, !fly.memref<f32, register, 8:1>) -> ()
  return
}

// Modes ((atom, rest), M): the first mode is innermost.
// CHECK-LABEL: func.func @nested(
// CHECK-SAME: %s: !fly.ptr<f16, shared, align<16>>) {
// CHECK-NEXT: [[V0:%[0-9]+]] = fly.static : !fly.layout<4:1>
// CHECK-NEXT: [[V1:%[0-9]+]] = fly.static : !fly.int_tuple<16>
// CHECK-NEXT: [[V2:%[0-9]+]] = fly.static : !fly.int_tuple<4>
// CHECK-NEXT: [[V3:%[0-9]+]] = fly.static : !fly.int_tuple<32>
// CHECK-NEXT: [[V4:%[0-9]+]] = fly.static : !fly.int_tuple<8>
// CHECK-NEXT: [[V5:%[0-9]+]] = fly.static : !fly.int_tuple<48>
// CHECK-NEXT: [[V6:%[0-9]+]] = fly.static : !fly.int_tuple<12>
// CHECK-NEXT: %a = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly.universal_copy<64>, 16>
// CHECK-NEXT: [[V7:%[0-9]+]] = fly.make_ptr() {dictAttrs = {allocSize = 16 : i64}} : () -> !fly.ptr<f16, register>
// CHECK-NEXT: [[V8:%[0-9]+]] = fly.make_view(%s, [[V0]]) : {{.*}} -> !fly.memref<f16, shared, 4:1, align<16>>
// CHECK-NEXT: [[V9:%[0-9]+]] = fly.make_view([[V7]], [[V0]]) : (!fly.ptr<f16, register>, !fly.layout<4:1>) -> !fly.memref<f16, register, 4:1>
// CHECK-NEXT: fly.copy_atom_call(%a, [[V8]], [[V9]]) : {{.*}} -> ()
// CHECK-NEXT: [[V10:%[0-9]+]] = fly.add_offset(%s, [[V1]]) : {{.*}} -> !fly.ptr<f16, shared, align<16>>
// CHECK-NEXT: [[V11:%[0-9]+]] = fly.make_view([[V10]], [[V0]]) : {{.*}} -> !fly.memref<f16, shared, 4:1, align<16>>
// CHECK-NEXT: [[V12:%[0-9]+]] = fly.add_offset([[V7]], [[V2]]) : (!fly.ptr<f16, register>, !fly.int_tuple<4>) -> !fly.ptr<f16, register>
// CHECK-NEXT: [[V13:%[0-9]+]] = fly.make_view([[V12]], [[V0]]) : (!fly.ptr<f16, register>, !fly.layout<4:1>) -> !fly.memref<f16, register, 4:1>
// CHECK-NEXT: fly.copy_atom_call(%a, [[V11]], [[V13]]) : {{.*}} -> ()
// CHECK-NEXT: [[V14:%[0-9]+]] = fly.add_offset(%s, [[V3]]) : {{.*}} -> !fly.ptr<f16, shared, align<16>>
// CHECK-NEXT: [[V15:%[0-9]+]] = fly.make_view([[V14]], [[V0]]) : {{.*}} -> !fly.memref<f16, shared, 4:1, align<16>>
// CHECK-NEXT: [[V16:%[0-9]+]] = fly.add_offset([[V7]], [[V4]]) : (!fly.ptr<f16, register>, !fly.int_tuple<8>) -> !fly.ptr<f16, register>
// CHECK-NEXT: [[V17:%[0-9]+]] = fly.make_view([[V16]], [[V0]]) : (!fly.ptr<f16, register>, !fly.layout<4:1>) -> !fly.memref<f16, register, 4:1>
// CHECK-NEXT: fly.copy_atom_call(%a, [[V15]], [[V17]]) : {{.*}} -> ()
// CHECK-NEXT: [[V18:%[0-9]+]] = fly.add_offset(%s, [[V5]]) : {{.*}} -> !fly.ptr<f16, shared, align<16>>
// CHECK-NEXT: [[V19:%[0-9]+]] = fly.make_view([[V18]], [[V0]]) : {{.*}} -> !fly.memref<f16, shared, 4:1, align<16>>
// CHECK-NEXT: [[V20:%[0-9]+]] = fly.add_offset([[V7]], [[V6]]) : (!fly.ptr<f16, register>, !fly.int_tuple<12>) -> !fly.ptr<f16, register>
// CHECK-NEXT: [[V21:%[0-9]+]] = fly.make_view([[V20]], [[V0]]) : (!fly.ptr<f16, register>, !fly.layout<4:1>) -> !fly.memref<f16, register, 4:1>
// CHECK-NEXT: fly.copy_atom_call(%a, [[V19]], [[V21]]) : {{.*}} -> ()
// CHECK-NEXT: func.return
func.func @nested(%s: !fly.ptr<f16, shared, align<16>>) {
  %a = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly.universal_copy<64>, 16>
  %l = fly.static : !fly.layout<((4,2),2):((1,16),32)>
  %m = fly.make_view(%s, %l) : (!fly.ptr<f16, shared, align<16>>, !fly.layout<((4,2),2):((1,16),32)>) -> !fly.memref<f16, shared, ((4,2),2):((1,16),32), align<16>>
  %r = fly.make_fragment_like(%m) : (!fly.memref<f16, shared, ((4,2),2):((1,16),32), align<16>>) -> !fly.memref<f16, register, ((4,2),2):((1,4),8)>
  fly.copy(%a, %m, %r) : (!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.memref<f16, shared, ((4,2),2):((1,16),32), align<16>>, !fly.memref<f16, register, ((4,2),2):((1,4),8)>) -> ()
  return
}

// One predicate per atom: its rank is one less, and its first mode lines up with the source's second.
// CHECK-LABEL: func.func @predicate_per_atom(
// CHECK-SAME: %g: !fly.ptr<f32, global>) {
// CHECK-NEXT: [[V0:%[0-9]+]] = fly.static : !fly.layout<2:1>
// CHECK-NEXT: [[V1:%[0-9]+]] = fly.static : !fly.layout<1:0>
// CHECK-NEXT: [[V2:%[0-9]+]] = fly.static : !fly.int_tuple<16>
// CHECK-NEXT: [[V3:%[0-9]+]] = fly.static : !fly.int_tuple<2>
// CHECK-NEXT: [[V4:%[0-9]+]] = fly.static : !fly.int_tuple<1>
// CHECK-NEXT: %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<64>, 32>
// CHECK-NEXT: [[V5:%[0-9]+]] = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V6:%[0-9]+]] = fly.make_ptr() {dictAttrs = {allocSize = 2 : i64}} : () -> !fly.ptr<i1, register>
// CHECK-NEXT: [[V7:%[0-9]+]] = fly.make_view(%g, [[V0]]) : (!fly.ptr<f32, global>, !fly.layout<2:1>) -> !fly.memref<f32, global, 2:1>
// CHECK-NEXT: [[V8:%[0-9]+]] = fly.make_view([[V5]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<2:1>) -> !fly.memref<f32, register, 2:1>
// CHECK-NEXT: [[V9:%[0-9]+]] = fly.make_view([[V6]], [[V1]]) : (!fly.ptr<i1, register>, !fly.layout<1:0>) -> !fly.memref<i1, register, 1:0>
// CHECK-NEXT: fly.copy_atom_call(%a, [[V7]], [[V8]], [[V9]]) : {{.*}} -> ()
// CHECK-NEXT: [[V10:%[0-9]+]] = fly.add_offset(%g, [[V2]]) : (!fly.ptr<f32, global>, !fly.int_tuple<16>) -> !fly.ptr<f32, global>
// CHECK-NEXT: [[V11:%[0-9]+]] = fly.make_view([[V10]], [[V0]]) : (!fly.ptr<f32, global>, !fly.layout<2:1>) -> !fly.memref<f32, global, 2:1>
// CHECK-NEXT: [[V12:%[0-9]+]] = fly.add_offset([[V5]], [[V3]]) : (!fly.ptr<f32, register>, !fly.int_tuple<2>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V13:%[0-9]+]] = fly.make_view([[V12]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<2:1>) -> !fly.memref<f32, register, 2:1>
// CHECK-NEXT: [[V14:%[0-9]+]] = fly.add_offset([[V6]], [[V4]]) : (!fly.ptr<i1, register>, !fly.int_tuple<1>) -> !fly.ptr<i1, register>
// CHECK-NEXT: [[V15:%[0-9]+]] = fly.make_view([[V14]], [[V1]]) : (!fly.ptr<i1, register>, !fly.layout<1:0>) -> !fly.memref<i1, register, 1:0>
// CHECK-NEXT: fly.copy_atom_call(%a, [[V11]], [[V13]], [[V15]]) : {{.*}} -> ()
// CHECK-NEXT: func.return
func.func @predicate_per_atom(%g: !fly.ptr<f32, global>) {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<64>, 32>
  %l = fly.static : !fly.layout<(2,2):(1,16)>
  %m = fly.make_view(%g, %l) : (!fly.ptr<f32, global>, !fly.layout<(2,2):(1,16)>) -> !fly.memref<f32, global, (2,2):(1,16)>
  %r = fly.memref.alloca() : () -> !fly.memref<f32, register, (2,2):(1,2)>
  %p = fly.memref.alloca() : () -> !fly.memref<i1, register, 2:1>
  fly.copy(%a, %m, %r, %p) : (!fly.copy_atom<!fly.universal_copy<64>, 32>, !fly.memref<f32, global, (2,2):(1,16)>, !fly.memref<f32, register, (2,2):(1,2)>, !fly.memref<i1, register, 2:1>) -> ()
  return
}

// A predicate of the source's rank is sliced with it; its first mode may hold one predicate per atom.
// CHECK-LABEL: func.func @predicate_of_same_rank(
// CHECK-SAME: %g: !fly.ptr<f32, global>) {
// CHECK-NEXT: [[V0:%[0-9]+]] = fly.static : !fly.layout<1:0>
// CHECK-NEXT: [[V1:%[0-9]+]] = fly.static : !fly.int_tuple<1>
// CHECK-NEXT: [[V2:%[0-9]+]] = fly.static : !fly.int_tuple<2>
// CHECK-NEXT: [[V3:%[0-9]+]] = fly.static : !fly.int_tuple<16>
// CHECK-NEXT: [[V4:%[0-9]+]] = fly.static : !fly.int_tuple<3>
// CHECK-NEXT: [[V5:%[0-9]+]] = fly.static : !fly.int_tuple<17>
// CHECK-NEXT: %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<32>, 32>
// CHECK-NEXT: [[V6:%[0-9]+]] = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V7:%[0-9]+]] = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<i1, register>
// CHECK-NEXT: [[V8:%[0-9]+]] = fly.make_view([[V6]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V9:%[0-9]+]] = fly.make_view(%g, [[V0]]) : (!fly.ptr<f32, global>, !fly.layout<1:0>) -> !fly.memref<f32, global, 1:0>
// CHECK-NEXT: [[V10:%[0-9]+]] = fly.make_view([[V7]], [[V0]]) : (!fly.ptr<i1, register>, !fly.layout<1:0>) -> !fly.memref<i1, register, 1:0>
// CHECK-NEXT: fly.copy_atom_call(%a, [[V8]], [[V9]], [[V10]]) : {{.*}} -> ()
// CHECK-NEXT: [[V11:%[0-9]+]] = fly.add_offset([[V6]], [[V1]]) : (!fly.ptr<f32, register>, !fly.int_tuple<1>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V12:%[0-9]+]] = fly.make_view([[V11]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V13:%[0-9]+]] = fly.add_offset(%g, [[V1]]) : (!fly.ptr<f32, global>, !fly.int_tuple<1>) -> !fly.ptr<f32, global>
// CHECK-NEXT: [[V14:%[0-9]+]] = fly.make_view([[V13]], [[V0]]) : (!fly.ptr<f32, global>, !fly.layout<1:0>) -> !fly.memref<f32, global, 1:0>
// CHECK-NEXT: [[V15:%[0-9]+]] = fly.add_offset([[V7]], [[V1]]) : (!fly.ptr<i1, register>, !fly.int_tuple<1>) -> !fly.ptr<i1, register>
// CHECK-NEXT: [[V16:%[0-9]+]] = fly.make_view([[V15]], [[V0]]) : (!fly.ptr<i1, register>, !fly.layout<1:0>) -> !fly.memref<i1, register, 1:0>
// CHECK-NEXT: fly.copy_atom_call(%a, [[V12]], [[V14]], [[V16]]) : {{.*}} -> ()
// CHECK-NEXT: [[V17:%[0-9]+]] = fly.add_offset([[V6]], [[V2]]) : (!fly.ptr<f32, register>, !fly.int_tuple<2>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V18:%[0-9]+]] = fly.make_view([[V17]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V19:%[0-9]+]] = fly.add_offset(%g, [[V3]]) : (!fly.ptr<f32, global>, !fly.int_tuple<16>) -> !fly.ptr<f32, global>
// CHECK-NEXT: [[V20:%[0-9]+]] = fly.make_view([[V19]], [[V0]]) : (!fly.ptr<f32, global>, !fly.layout<1:0>) -> !fly.memref<f32, global, 1:0>
// CHECK-NEXT: [[V21:%[0-9]+]] = fly.add_offset([[V7]], [[V2]]) : (!fly.ptr<i1, register>, !fly.int_tuple<2>) -> !fly.ptr<i1, register>
// CHECK-NEXT: [[V22:%[0-9]+]] = fly.make_view([[V21]], [[V0]]) : (!fly.ptr<i1, register>, !fly.layout<1:0>) -> !fly.memref<i1, register, 1:0>
// CHECK-NEXT: fly.copy_atom_call(%a, [[V18]], [[V20]], [[V22]]) : {{.*}} -> ()
// CHECK-NEXT: [[V23:%[0-9]+]] = fly.add_offset([[V6]], [[V4]]) : (!fly.ptr<f32, register>, !fly.int_tuple<3>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V24:%[0-9]+]] = fly.make_view([[V23]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V25:%[0-9]+]] = fly.add_offset(%g, [[V5]]) : (!fly.ptr<f32, global>, !fly.int_tuple<17>) -> !fly.ptr<f32, global>
// CHECK-NEXT: [[V26:%[0-9]+]] = fly.make_view([[V25]], [[V0]]) : (!fly.ptr<f32, global>, !fly.layout<1:0>) -> !fly.memref<f32, global, 1:0>
// CHECK-NEXT: [[V27:%[0-9]+]] = fly.add_offset([[V7]], [[V4]]) : (!fly.ptr<i1, register>, !fly.int_tuple<3>) -> !fly.ptr<i1, register>
// CHECK-NEXT: [[V28:%[0-9]+]] = fly.make_view([[V27]], [[V0]]) : (!fly.ptr<i1, register>, !fly.layout<1:0>) -> !fly.memref<i1, register, 1:0>
// CHECK-NEXT: fly.copy_atom_call(%a, [[V24]], [[V26]], [[V28]]) : {{.*}} -> ()
// CHECK-NEXT: func.return
func.func @predicate_of_same_rank(%g: !fly.ptr<f32, global>) {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<32>, 32>
  %l = fly.static : !fly.layout<(2,2):(1,16)>
  %m = fly.make_view(%g, %l) : (!fly.ptr<f32, global>, !fly.layout<(2,2):(1,16)>) -> !fly.memref<f32, global, (2,2):(1,16)>
  %r = fly.memref.alloca() : () -> !fly.memref<f32, register, (2,2):(1,2)>
  %p = fly.memref.alloca() : () -> !fly.memref<i1, register, (2,2):(1,2)>
  fly.copy(%a, %r, %m, %p) : (!fly.copy_atom<!fly.universal_copy<32>, 32>, !fly.memref<f32, register, (2,2):(1,2)>, !fly.memref<f32, global, (2,2):(1,16)>, !fly.memref<i1, register, (2,2):(1,2)>) -> ()
  return
}

// A swizzled side is walked plainly from where the swizzle puts the atom's first element.
// CHECK-LABEL: func.func @swizzled(
// CHECK-SAME: %s: !fly.ptr<f16, shared, align<16>>, %t: i32) {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.constant 6 : i32
// CHECK-NEXT: [[V1:%[0-9]+]] = fly.static : !fly.copy_atom<!fly.universal_copy<128>, 16>
// CHECK-NEXT: [[V2:%[0-9]+]] = fly.static : !fly.layout<8:1>
// CHECK-NEXT: [[V3:%[0-9]+]] = arith.constant 448 : i32
// CHECK-NEXT: [[V4:%[0-9]+]] = arith.constant 3 : i32
// CHECK-NEXT: [[V5:%[0-9]+]] = arith.constant 8 : i32
// CHECK-NEXT: [[V6:%[0-9]+]] = fly.static : !fly.int_tuple<8>
// CHECK-NEXT: [[V7:%[0-9]+]] = arith.shli %t, [[V0]] : i32
// CHECK-NEXT: [[V8:%[0-9]+]] = fly.make_ptr() {dictAttrs = {allocSize = 16 : i64}} : () -> !fly.ptr<f16, register>
// CHECK-NEXT: [[V9:%[0-9]+]] = fly.make_view([[V8]], [[V2]]) : (!fly.ptr<f16, register>, !fly.layout<8:1>) -> !fly.memref<f16, register, 8:1>
// CHECK-NEXT: [[V10:%[0-9]+]] = arith.andi [[V7]], [[V3]] : i32
// CHECK-NEXT: [[V11:%[0-9]+]] = arith.shrsi [[V10]], [[V4]] : i32
// CHECK-NEXT: [[V12:%[0-9]+]] = arith.xori [[V7]], [[V11]] : i32
// CHECK-NEXT: [[V13:%[0-9]+]] = fly.make_int_tuple([[V12]]) : (i32) -> !fly.int_tuple<?{div=8}>
// CHECK-NEXT: [[V14:%[0-9]+]] = fly.add_offset(%s, [[V13]]) : {{.*}} -> !fly.ptr<f16, shared, align<16>>
// CHECK-NEXT: [[V15:%[0-9]+]] = fly.make_view([[V14]], [[V2]]) : {{.*}} -> !fly.memref<f16, shared, 8:1, align<16>>
// CHECK-NEXT: fly.copy_atom_call([[V1]], [[V9]], [[V15]]) : {{.*}} -> ()
// CHECK-NEXT: [[V16:%[0-9]+]] = arith.addi [[V7]], [[V5]] : i32
// CHECK-NEXT: [[V17:%[0-9]+]] = fly.add_offset([[V8]], [[V6]]) : (!fly.ptr<f16, register>, !fly.int_tuple<8>) -> !fly.ptr<f16, register>
// CHECK-NEXT: [[V18:%[0-9]+]] = fly.make_view([[V17]], [[V2]]) : (!fly.ptr<f16, register>, !fly.layout<8:1>) -> !fly.memref<f16, register, 8:1>
// CHECK-NEXT: [[V19:%[0-9]+]] = arith.andi [[V16]], [[V3]] : i32
// CHECK-NEXT: [[V20:%[0-9]+]] = arith.shrsi [[V19]], [[V4]] : i32
// CHECK-NEXT: [[V21:%[0-9]+]] = arith.xori [[V16]], [[V20]] : i32
// CHECK-NEXT: [[V22:%[0-9]+]] = fly.make_int_tuple([[V21]]) : (i32) -> !fly.int_tuple<?{div=8}>
// CHECK-NEXT: [[V23:%[0-9]+]] = fly.add_offset(%s, [[V22]]) : {{.*}} -> !fly.ptr<f16, shared, align<16>>
// CHECK-NEXT: [[V24:%[0-9]+]] = fly.make_view([[V23]], [[V2]]) : {{.*}} -> !fly.memref<f16, shared, 8:1, align<16>>
// CHECK-NEXT: fly.copy_atom_call([[V1]], [[V18]], [[V24]]) : {{.*}} -> ()
// CHECK-NEXT: func.return
func.func @swizzled(%s: !fly.ptr<f16, shared, align<16>>, %t: i32) {
  %tc = fly.static : !fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<128>, 16>, <(64,8):(8,1)>, <[64|8]>>
  %z = fly.static : !fly.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>
  %m = fly.make_view(%s, %z) : (!fly.ptr<f16, shared, align<16>>, !fly.composed_layout<S<3,3,3> o 0 o (8,64):(64,1)>) -> !fly.memref<f16, shared, S<3,3,3> o 0 o (8,64):(64,1), align<16>>
  %c = fly.make_coord(%t) : (i32) -> !fly.int_tuple<(?,*)>
  %row = fly.slice(%m, %c) : (!fly.memref<f16, shared, S<3,3,3> o 0 o (8,64):(64,1), align<16>>, !fly.int_tuple<(?,*)>) -> !fly.memref<f16, shared, S<3,3,3> o ?{div=64} o 64:1, align<16>>
  %v = fly.static : !fly.layout<8:1>
  %d = fly.logical_divide(%row, %v) : (!fly.memref<f16, shared, S<3,3,3> o ?{div=64} o 64:1, align<16>>, !fly.layout<8:1>) -> !fly.memref<f16, shared, S<3,3,3> o ?{div=64} o (8,8):(1,8), align<16>>
  %two = fly.static : !fly.tile<[*|2]>
  %e = fly.composition(%d, %two) : (!fly.memref<f16, shared, S<3,3,3> o ?{div=64} o (8,8):(1,8), align<16>>, !fly.tile<[*|2]>) -> !fly.memref<f16, shared, S<3,3,3> o ?{div=64} o (8,2):(1,8), align<16>>
  %r = fly.memref.alloca() : () -> !fly.memref<f16, register, (8,2):(1,8)>
  fly.copy(%tc, %r, %e) : (!fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<128>, 16>, <(64,8):(8,1)>, <[64|8]>>, !fly.memref<f16, register, (8,2):(1,8)>, !fly.memref<f16, shared, S<3,3,3> o ?{div=64} o (8,2):(1,8), align<16>>) -> ()
  return
}

// The default order is NMK: n is fastest, k slowest; the first visit reads c, later ones what d became.
!mma = !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
// CHECK-LABEL: func.func @gemm(
// CHECK-NEXT: [[V0:%[0-9]+]] = fly.static : !fly.layout<1:0>
// CHECK-NEXT: [[V1:%[0-9]+]] = fly.static : !fly.int_tuple<2>
// CHECK-NEXT: [[V2:%[0-9]+]] = fly.static : !fly.int_tuple<1>
// CHECK-NEXT: [[V3:%[0-9]+]] = fly.static : !fly.int_tuple<3>
// CHECK-NEXT: %m = fly.make_mma_atom : !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
// CHECK-NEXT: [[V4:%[0-9]+]] = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V5:%[0-9]+]] = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V6:%[0-9]+]] = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V7:%[0-9]+]] = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V8:%[0-9]+]] = fly.make_view([[V4]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V9:%[0-9]+]] = fly.make_view([[V5]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V10:%[0-9]+]] = fly.make_view([[V6]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V11:%[0-9]+]] = fly.make_view([[V7]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: fly.mma_atom_call(%m, [[V8]], [[V9]], [[V10]], [[V11]]) : {{.*}} -> ()
// CHECK-NEXT: [[V12:%[0-9]+]] = fly.add_offset([[V4]], [[V1]]) : (!fly.ptr<f32, register>, !fly.int_tuple<2>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V13:%[0-9]+]] = fly.make_view([[V12]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V14:%[0-9]+]] = fly.add_offset([[V6]], [[V2]]) : (!fly.ptr<f32, register>, !fly.int_tuple<1>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V15:%[0-9]+]] = fly.make_view([[V14]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V16:%[0-9]+]] = fly.add_offset([[V7]], [[V1]]) : (!fly.ptr<f32, register>, !fly.int_tuple<2>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V17:%[0-9]+]] = fly.make_view([[V16]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: fly.mma_atom_call(%m, [[V13]], [[V9]], [[V15]], [[V17]]) : {{.*}} -> ()
// CHECK-NEXT: [[V18:%[0-9]+]] = fly.add_offset([[V4]], [[V2]]) : (!fly.ptr<f32, register>, !fly.int_tuple<1>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V19:%[0-9]+]] = fly.make_view([[V18]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V20:%[0-9]+]] = fly.add_offset([[V5]], [[V2]]) : (!fly.ptr<f32, register>, !fly.int_tuple<1>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V21:%[0-9]+]] = fly.make_view([[V20]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V22:%[0-9]+]] = fly.add_offset([[V7]], [[V2]]) : (!fly.ptr<f32, register>, !fly.int_tuple<1>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V23:%[0-9]+]] = fly.make_view([[V22]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: fly.mma_atom_call(%m, [[V19]], [[V21]], [[V10]], [[V23]]) : {{.*}} -> ()
// CHECK-NEXT: [[V24:%[0-9]+]] = fly.add_offset([[V4]], [[V3]]) : (!fly.ptr<f32, register>, !fly.int_tuple<3>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V25:%[0-9]+]] = fly.make_view([[V24]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V26:%[0-9]+]] = fly.add_offset([[V7]], [[V3]]) : (!fly.ptr<f32, register>, !fly.int_tuple<3>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V27:%[0-9]+]] = fly.make_view([[V26]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: fly.mma_atom_call(%m, [[V25]], [[V21]], [[V15]], [[V27]]) : {{.*}} -> ()
// CHECK-NEXT: [[V28:%[0-9]+]] = fly.add_offset([[V5]], [[V1]]) : (!fly.ptr<f32, register>, !fly.int_tuple<2>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V29:%[0-9]+]] = fly.make_view([[V28]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V30:%[0-9]+]] = fly.add_offset([[V6]], [[V1]]) : (!fly.ptr<f32, register>, !fly.int_tuple<2>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V31:%[0-9]+]] = fly.make_view([[V30]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: fly.mma_atom_call(%m, [[V8]], [[V29]], [[V31]], [[V8]]) : {{.*}} -> ()
// CHECK-NEXT: [[V32:%[0-9]+]] = fly.add_offset([[V6]], [[V3]]) : (!fly.ptr<f32, register>, !fly.int_tuple<3>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V33:%[0-9]+]] = fly.make_view([[V32]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: fly.mma_atom_call(%m, [[V13]], [[V29]], [[V33]], [[V13]]) : {{.*}} -> ()
// CHECK-NEXT: [[V34:%[0-9]+]] = fly.add_offset([[V5]], [[V3]]) : (!fly.ptr<f32, register>, !fly.int_tuple<3>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V35:%[0-9]+]] = fly.make_view([[V34]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: fly.mma_atom_call(%m, [[V19]], [[V35]], [[V31]], [[V19]]) : {{.*}} -> ()
// CHECK-NEXT: fly.mma_atom_call(%m, [[V25]], [[V35]], [[V33]], [[V25]]) : {{.*}} -> ()
// CHECK-NEXT: func.return
func.func @gemm() {
  %m = fly.make_mma_atom : !mma
  %d = fly.memref.alloca() : () -> !fly.memref<f32, register, (1,2,2):(0,1,2)>
  %a = fly.memref.alloca() : () -> !fly.memref<f32, register, (1,2,2):(0,1,2)>
  %b = fly.memref.alloca() : () -> !fly.memref<f32, register, (1,2,2):(0,1,2)>
  %c = fly.memref.alloca() : () -> !fly.memref<f32, register, (1,2,2):(0,1,2)>
  fly.gemm(%m, %d, %a, %b, %c) : (!mma, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>) -> ()
  return
}

// K fastest and turning round on every second (m, n); accumulating into the same registers.
// CHECK-LABEL: func.func @serpentine(
// CHECK-NEXT: [[V0:%[0-9]+]] = fly.static : !fly.layout<1:0>
// CHECK-NEXT: [[V1:%[0-9]+]] = fly.static : !fly.int_tuple<2>
// CHECK-NEXT: [[V2:%[0-9]+]] = fly.static : !fly.int_tuple<1>
// CHECK-NEXT: [[V3:%[0-9]+]] = fly.static : !fly.int_tuple<3>
// CHECK-NEXT: %m = fly.make_mma_atom : !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
// CHECK-NEXT: [[V4:%[0-9]+]] = fly.make_ptr() {dictAttrs = {allocSize = 2 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V5:%[0-9]+]] = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V6:%[0-9]+]] = fly.make_ptr() {dictAttrs = {allocSize = 2 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V7:%[0-9]+]] = fly.make_view([[V4]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V8:%[0-9]+]] = fly.make_view([[V5]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V9:%[0-9]+]] = fly.make_view([[V6]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: fly.mma_atom_call(%m, [[V7]], [[V8]], [[V9]], [[V7]]) : {{.*}} -> ()
// CHECK-NEXT: [[V10:%[0-9]+]] = fly.add_offset([[V5]], [[V1]]) : (!fly.ptr<f32, register>, !fly.int_tuple<2>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V11:%[0-9]+]] = fly.make_view([[V10]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V12:%[0-9]+]] = fly.add_offset([[V6]], [[V2]]) : (!fly.ptr<f32, register>, !fly.int_tuple<1>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V13:%[0-9]+]] = fly.make_view([[V12]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: fly.mma_atom_call(%m, [[V7]], [[V11]], [[V13]], [[V7]]) : {{.*}} -> ()
// CHECK-NEXT: [[V14:%[0-9]+]] = fly.add_offset([[V4]], [[V2]]) : (!fly.ptr<f32, register>, !fly.int_tuple<1>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V15:%[0-9]+]] = fly.make_view([[V14]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V16:%[0-9]+]] = fly.add_offset([[V5]], [[V3]]) : (!fly.ptr<f32, register>, !fly.int_tuple<3>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V17:%[0-9]+]] = fly.make_view([[V16]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: fly.mma_atom_call(%m, [[V15]], [[V17]], [[V13]], [[V15]]) : {{.*}} -> ()
// CHECK-NEXT: [[V18:%[0-9]+]] = fly.add_offset([[V5]], [[V2]]) : (!fly.ptr<f32, register>, !fly.int_tuple<1>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V19:%[0-9]+]] = fly.make_view([[V18]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: fly.mma_atom_call(%m, [[V15]], [[V19]], [[V9]], [[V15]]) : {{.*}} -> ()
// CHECK-NEXT: func.return
func.func @serpentine() {
  %m = fly.make_mma_atom : !mma
  %d = fly.memref.alloca() : () -> !fly.memref<f32, register, (1,2,1):(0,1,0)>
  %a = fly.memref.alloca() : () -> !fly.memref<f32, register, (1,2,2):(0,1,2)>
  %b = fly.memref.alloca() : () -> !fly.memref<f32, register, (1,1,2):(0,0,1)>
  fly.gemm(%m, %d, %a, %b, %d) {traversalOrder = "KMN_Serpentine"} : (!mma, !fly.memref<f32, register, (1,2,1):(0,1,0)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,1,2):(0,0,1)>, !fly.memref<f32, register, (1,2,1):(0,1,0)>) -> ()
  return
}

// An order of one's own: the layout gives the column-major (m, n, k) of every turn. Here n is fastest.
// CHECK-LABEL: func.func @by_layout(
// CHECK-NEXT: [[V0:%[0-9]+]] = fly.static : !fly.layout<1:0>
// CHECK-NEXT: [[V1:%[0-9]+]] = fly.static : !fly.int_tuple<2>
// CHECK-NEXT: [[V2:%[0-9]+]] = fly.static : !fly.int_tuple<1>
// CHECK-NEXT: [[V3:%[0-9]+]] = fly.static : !fly.int_tuple<3>
// CHECK-NEXT: %m = fly.make_mma_atom : !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
// CHECK-NEXT: [[V4:%[0-9]+]] = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V5:%[0-9]+]] = fly.make_ptr() {dictAttrs = {allocSize = 2 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V6:%[0-9]+]] = fly.make_ptr() {dictAttrs = {allocSize = 2 : i64}} : () -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V7:%[0-9]+]] = fly.make_view([[V4]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V8:%[0-9]+]] = fly.make_view([[V5]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V9:%[0-9]+]] = fly.make_view([[V6]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: fly.mma_atom_call(%m, [[V7]], [[V8]], [[V9]], [[V7]]) : {{.*}} -> ()
// CHECK-NEXT: [[V10:%[0-9]+]] = fly.add_offset([[V4]], [[V1]]) : (!fly.ptr<f32, register>, !fly.int_tuple<2>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V11:%[0-9]+]] = fly.make_view([[V10]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V12:%[0-9]+]] = fly.add_offset([[V6]], [[V2]]) : (!fly.ptr<f32, register>, !fly.int_tuple<1>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V13:%[0-9]+]] = fly.make_view([[V12]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: fly.mma_atom_call(%m, [[V11]], [[V8]], [[V13]], [[V11]]) : {{.*}} -> ()
// CHECK-NEXT: [[V14:%[0-9]+]] = fly.add_offset([[V4]], [[V2]]) : (!fly.ptr<f32, register>, !fly.int_tuple<1>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V15:%[0-9]+]] = fly.make_view([[V14]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: [[V16:%[0-9]+]] = fly.add_offset([[V5]], [[V2]]) : (!fly.ptr<f32, register>, !fly.int_tuple<1>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V17:%[0-9]+]] = fly.make_view([[V16]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: fly.mma_atom_call(%m, [[V15]], [[V17]], [[V9]], [[V15]]) : {{.*}} -> ()
// CHECK-NEXT: [[V18:%[0-9]+]] = fly.add_offset([[V4]], [[V3]]) : (!fly.ptr<f32, register>, !fly.int_tuple<3>) -> !fly.ptr<f32, register>
// CHECK-NEXT: [[V19:%[0-9]+]] = fly.make_view([[V18]], [[V0]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK-NEXT: fly.mma_atom_call(%m, [[V19]], [[V17]], [[V13]], [[V19]]) : {{.*}} -> ()
// CHECK-NEXT: func.return
func.func @by_layout() {
  %m = fly.make_mma_atom : !mma
  %d = fly.memref.alloca() : () -> !fly.memref<f32, register, (1,2,2):(0,1,2)>
  %a = fly.memref.alloca() : () -> !fly.memref<f32, register, (1,2):(0,1)>
  %b = fly.memref.alloca() : () -> !fly.memref<f32, register, (1,2):(0,1)>
  %l = fly.static : !fly.layout<(2,2):(2,1)>
  fly.gemm(%m, %d, %a, %b, %d) traversalLayout = %l : (!mma, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,2):(0,1)>, !fly.memref<f32, register, (1,2):(0,1)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.layout<(2,2):(2,1)>) -> ()
  return
}
