// RUN: fly-opt --keep-names %s | FileCheck %s
// RUN: fly-opt --keep-names %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names --print-op-generic %s | fly-opt --keep-names | FileCheck %s

// The layout algebra. The answers of the worked examples are those of the CuTe papers and of docs/layout_algebra.md.

func.func @queries(%l: !fly.layout<(3,5):(5,1)>, %gap: !fly.layout<(4,8):(1,5)>, %id: !fly.layout<(4,8):(1E0,1E1)>,
                   %m: !fly.memref<f32, global, (?,8):(8,1)>, %t: !fly.int_tuple<(2,(3,4))>) {
  // CHECK: %0 = fly.size(%l) : (!fly.layout<(3,5):(5,1)>) -> !fly.int_tuple<15>
  %0 = fly.size(%l) : (!fly.layout<(3,5):(5,1)>) -> !fly.int_tuple<15>
  // CHECK: %1 = fly.size(%t) : (!fly.int_tuple<(2,(3,4))>) -> !fly.int_tuple<24>
  %1 = fly.size(%t) : (!fly.int_tuple<(2,(3,4))>) -> !fly.int_tuple<24>
  // CHECK: %2 = fly.size(%m) : (!fly.memref<f32, global, (?,8):(8,1)>) -> !fly.int_tuple<?{i64 div=8}>
  %2 = fly.size(%m) : (!fly.memref<f32, global, (?,8):(8,1)>) -> !fly.int_tuple<?{i64 div=8}>
  // CHECK: %3 = fly.cosize(%gap) : (!fly.layout<(4,8):(1,5)>) -> !fly.int_tuple<39>
  %3 = fly.cosize(%gap) : (!fly.layout<(4,8):(1,5)>) -> !fly.int_tuple<39>
  // CHECK: %4 = fly.coshape(%id) : (!fly.layout<(4,8):(1E0,1E1)>) -> !fly.int_tuple<(4,8)>
  %4 = fly.coshape(%id) : (!fly.layout<(4,8):(1E0,1E1)>) -> !fly.int_tuple<(4,8)>
  // CHECK: %5 = fly.coprofile(%id) : (!fly.layout<(4,8):(1E0,1E1)>) -> !fly.int_tuple<(0,0)>
  %5 = fly.coprofile(%id) : (!fly.layout<(4,8):(1E0,1E1)>) -> !fly.int_tuple<(0,0)>
  return
}

func.func @coordinates(%c: !fly.int_tuple<(1,2)>, %l: !fly.layout<(3,5):(5,1)>, %r: !fly.int_tuple<(?,2)>, %z: !fly.composed_layout<S<1,0,1> o 0 o 4:1>,
                       %three: !fly.int_tuple<3>, %w: !fly.swizzle<S<1,0,1>>, %five: !fly.int_tuple<5>, %rm: !fly.layout<(4,8):(8,1)>, %n: !fly.layout<((2,4),8):((1,2),8)>) {
  // CHECK: %0 = fly.crd2idx(%c, %l) : (!fly.int_tuple<(1,2)>, !fly.layout<(3,5):(5,1)>) -> !fly.int_tuple<7>
  %0 = fly.crd2idx(%c, %l) : (!fly.int_tuple<(1,2)>, !fly.layout<(3,5):(5,1)>) -> !fly.int_tuple<7>
  // CHECK: %1 = fly.crd2idx(%r, %l) : (!fly.int_tuple<(?,2)>, !fly.layout<(3,5):(5,1)>) -> !fly.int_tuple<?>
  %1 = fly.crd2idx(%r, %l) : (!fly.int_tuple<(?,2)>, !fly.layout<(3,5):(5,1)>) -> !fly.int_tuple<?>
  // CHECK: %2 = fly.crd2idx(%three, %z) : {{.*}} -> !fly.int_tuple<2>
  %2 = fly.crd2idx(%three, %z) : (!fly.int_tuple<3>, !fly.composed_layout<S<1,0,1> o 0 o 4:1>) -> !fly.int_tuple<2>
  // CHECK: %3 = fly.crd2idx(%three, %w) : (!fly.int_tuple<3>, !fly.swizzle<S<1,0,1>>) -> !fly.int_tuple<2>
  %3 = fly.crd2idx(%three, %w) : (!fly.int_tuple<3>, !fly.swizzle<S<1,0,1>>) -> !fly.int_tuple<2>
  // CHECK: %4 = fly.idx2crd(%five, %rm) : {{.*}} -> !fly.int_tuple<(0,5)>
  %4 = fly.idx2crd(%five, %rm) : (!fly.int_tuple<5>, !fly.layout<(4,8):(8,1)>) -> !fly.int_tuple<(0,5)>
  // CHECK: %5 = fly.get_1d_coord(%five, %rm) : {{.*}} -> !fly.int_tuple<20>
  %5 = fly.get_1d_coord(%five, %rm) : (!fly.int_tuple<5>, !fly.layout<(4,8):(8,1)>) -> !fly.int_tuple<20>
  // CHECK: %6 = fly.get_flat_coord(%five, %n) : {{.*}} -> !fly.int_tuple<(5,0)>
  %6 = fly.get_flat_coord(%five, %n) : (!fly.int_tuple<5>, !fly.layout<((2,4),8):((1,2),8)>) -> !fly.int_tuple<(5,0)>
  return
}

func.func @compose(%a: !fly.layout<(6,2):(8,2)>, %b: !fly.layout<(4,3):(3,1)>, %c: !fly.layout<((2,2),(3,1)):((1,2),(4,0))>, %p: !fly.int_tuple<(1,1)>,
                   %l32: !fly.layout<3:2>, %n: !fly.int_tuple<12>, %four: !fly.layout<4:2>, %m: !fly.memref<f32, global, (6,2):(8,2)>, %tile: !fly.tile<[2:1|*]>) {
  // CHECK: %0 = fly.composition(%a, %b) : {{.*}} -> !fly.layout<((2,2),3):((24,2),8)>
  %0 = fly.composition(%a, %b) : (!fly.layout<(6,2):(8,2)>, !fly.layout<(4,3):(3,1)>) -> !fly.layout<((2,2),3):((24,2),8)>
  // CHECK: %1 = fly.composition(%m, %tile) : {{.*}} -> !fly.memref<f32, global, (2,2):(8,2)>
  %1 = fly.composition(%m, %tile) : (!fly.memref<f32, global, (6,2):(8,2)>, !fly.tile<[2:1|*]>) -> !fly.memref<f32, global, (2,2):(8,2)>
  // CHECK: %2 = fly.coalesce(%c) : (!fly.layout<((2,2),(3,1)):((1,2),(4,0))>) -> !fly.layout<12:1>
  %2 = fly.coalesce(%c) : (!fly.layout<((2,2),(3,1)):((1,2),(4,0))>) -> !fly.layout<12:1>
  // CHECK: %3 = fly.coalesce(%c, %p) : {{.*}} -> !fly.layout<(4,3):(1,4)>
  %3 = fly.coalesce(%c, %p) : (!fly.layout<((2,2),(3,1)):((1,2),(4,0))>, !fly.int_tuple<(1,1)>) -> !fly.layout<(4,3):(1,4)>
  // CHECK: %4 = fly.complement(%l32, %n) : (!fly.layout<3:2>, !fly.int_tuple<12>) -> !fly.layout<(2,2):(1,6)>
  %4 = fly.complement(%l32, %n) : (!fly.layout<3:2>, !fly.int_tuple<12>) -> !fly.layout<(2,2):(1,6)>
  // CHECK: %5 = fly.complement(%four) : (!fly.layout<4:2>) -> !fly.layout<2:1>
  %5 = fly.complement(%four) : (!fly.layout<4:2>) -> !fly.layout<2:1>
  return
}

func.func @inverses(%rm: !fly.layout<(4,8):(8,1)>, %gap: !fly.layout<(4,8):(1,5)>, %four: !fly.layout<4:2>) {
  // CHECK: %0 = fly.right_inverse(%rm) : (!fly.layout<(4,8):(8,1)>) -> !fly.layout<(8,4):(4,1)>
  %0 = fly.right_inverse(%rm) : (!fly.layout<(4,8):(8,1)>) -> !fly.layout<(8,4):(4,1)>
  // CHECK: %1 = fly.right_inverse(%gap) : (!fly.layout<(4,8):(1,5)>) -> !fly.layout<4:1>
  %1 = fly.right_inverse(%gap) : (!fly.layout<(4,8):(1,5)>) -> !fly.layout<4:1>
  // CHECK: %2 = fly.left_inverse(%gap) : (!fly.layout<(4,8):(1,5)>) -> !fly.layout<(5,8):(1,4)>
  %2 = fly.left_inverse(%gap) : (!fly.layout<(4,8):(1,5)>) -> !fly.layout<(5,8):(1,4)>
  // CHECK: %3 = fly.left_inverse(%four) : (!fly.layout<4:2>) -> !fly.layout<(2,4):(0,1)>
  %3 = fly.left_inverse(%four) : (!fly.layout<4:2>) -> !fly.layout<(2,4):(0,1)>
  return
}

func.func @divides(%l: !fly.layout<12:1>, %d: !fly.layout<3:1>, %a: !fly.layout<(10,(4,6)):(31,(53,2))>, %tile: !fly.tile<[5:2|(2,4):(1,2)]>,
                   %m: !fly.memref<f32, global, (?,64):(64,1)>, %t2: !fly.tile<[16|16]>) {
  // CHECK: %0 = fly.logical_divide(%l, %d) : (!fly.layout<12:1>, !fly.layout<3:1>) -> !fly.layout<(3,4):(1,3)>
  %0 = fly.logical_divide(%l, %d) : (!fly.layout<12:1>, !fly.layout<3:1>) -> !fly.layout<(3,4):(1,3)>
  // CHECK: %1 = fly.logical_divide(%a, %tile) : {{.*}} -> !fly.layout<((5,2),((2,(2,2)),3)):((62,31),((53,(106,2)),4))>
  %1 = fly.logical_divide(%a, %tile) : (!fly.layout<(10,(4,6)):(31,(53,2))>, !fly.tile<[5:2|(2,4):(1,2)]>) -> !fly.layout<((5,2),((2,(2,2)),3)):((62,31),((53,(106,2)),4))>
  // CHECK: %2 = fly.zipped_divide(%m, %t2) : {{.*}} -> !fly.memref<f32, global, ((16,16),(?,4)):((64,1),(1024,16))>
  %2 = fly.zipped_divide(%m, %t2) : (!fly.memref<f32, global, (?,64):(64,1)>, !fly.tile<[16|16]>) -> !fly.memref<f32, global, ((16,16),(?,4)):((64,1),(1024,16))>
  // CHECK: %3 = fly.tiled_divide(%m, %t2) : {{.*}} -> !fly.memref<f32, global, ((16,16),?,4):((64,1),1024,16)>
  %3 = fly.tiled_divide(%m, %t2) : (!fly.memref<f32, global, (?,64):(64,1)>, !fly.tile<[16|16]>) -> !fly.memref<f32, global, ((16,16),?,4):((64,1),1024,16)>
  // CHECK: %4 = fly.flat_divide(%m, %t2) : {{.*}} -> !fly.memref<f32, global, (16,16,?,4):(64,1,1024,16)>
  %4 = fly.flat_divide(%m, %t2) : (!fly.memref<f32, global, (?,64):(64,1)>, !fly.tile<[16|16]>) -> !fly.memref<f32, global, (16,16,?,4):(64,1,1024,16)>
  return
}

func.func @products(%a: !fly.layout<(2,2):(4,1)>, %six: !fly.layout<6:1>, %cm: !fly.layout<(4,8):(1,4)>, %two: !fly.layout<(2,2):(1,2)>,
                    %shape: !fly.int_tuple<(8,16)>, %order: !fly.int_tuple<(0,1)>) {
  // CHECK: %0 = fly.logical_product(%a, %six) : {{.*}} -> !fly.layout<((2,2),(2,3)):((4,1),(2,8))>
  %0 = fly.logical_product(%a, %six) : (!fly.layout<(2,2):(4,1)>, !fly.layout<6:1>) -> !fly.layout<((2,2),(2,3)):((4,1),(2,8))>
  // CHECK: %1 = fly.zipped_product(%cm, %two) : {{.*}} -> !fly.layout<((4,8),(2,2)):((1,4),(32,64))>
  %1 = fly.zipped_product(%cm, %two) : (!fly.layout<(4,8):(1,4)>, !fly.layout<(2,2):(1,2)>) -> !fly.layout<((4,8),(2,2)):((1,4),(32,64))>
  // CHECK: %2 = fly.tiled_product(%cm, %two) : {{.*}} -> !fly.layout<((4,8),2,2):((1,4),32,64)>
  %2 = fly.tiled_product(%cm, %two) : (!fly.layout<(4,8):(1,4)>, !fly.layout<(2,2):(1,2)>) -> !fly.layout<((4,8),2,2):((1,4),32,64)>
  // CHECK: %3 = fly.flat_product(%cm, %two) : {{.*}} -> !fly.layout<(4,8,2,2):(1,4,32,64)>
  %3 = fly.flat_product(%cm, %two) : (!fly.layout<(4,8):(1,4)>, !fly.layout<(2,2):(1,2)>) -> !fly.layout<(4,8,2,2):(1,4,32,64)>
  // CHECK: %4 = fly.blocked_product(%cm, %two) : {{.*}} -> !fly.layout<((4,2),(8,2)):((1,32),(4,64))>
  %4 = fly.blocked_product(%cm, %two) : (!fly.layout<(4,8):(1,4)>, !fly.layout<(2,2):(1,2)>) -> !fly.layout<((4,2),(8,2)):((1,32),(4,64))>
  // CHECK: %5 = fly.raked_product(%cm, %two) : {{.*}} -> !fly.layout<((2,4),(2,8)):((32,1),(64,4))>
  %5 = fly.raked_product(%cm, %two) : (!fly.layout<(4,8):(1,4)>, !fly.layout<(2,2):(1,2)>) -> !fly.layout<((2,4),(2,8)):((32,1),(64,4))>
  // CHECK: %6 = fly.tile_to_shape(%cm, %shape, %order) : {{.*}} -> !fly.layout<((4,2),(8,2)):((1,32),(4,64))>
  %6 = fly.tile_to_shape(%cm, %shape, %order) : (!fly.layout<(4,8):(1,4)>, !fly.int_tuple<(8,16)>, !fly.int_tuple<(0,1)>) -> !fly.layout<((4,2),(8,2)):((1,32),(4,64))>
  return
}

func.func @recast(%l: !fly.layout<6:1>, %h: !fly.layout<(4,8):(8,1)>, %z: !fly.composed_layout<S<3,4,3> o 0 o (8,64):(64,1)>) {
  // CHECK: %0 = fly.recast_layout(%l) {new_type_bits = 8 : i32, old_type_bits = 16 : i32} : {{.*}} -> !fly.layout<12:1>
  %0 = fly.recast_layout(%l) {new_type_bits = 8 : i32, old_type_bits = 16 : i32} : (!fly.layout<6:1>) -> !fly.layout<12:1>
  // CHECK: %1 = fly.recast_layout(%h) {new_type_bits = 32 : i32, old_type_bits = 16 : i32} : {{.*}} -> !fly.layout<(4,4):(4,1)>
  %1 = fly.recast_layout(%h) {new_type_bits = 32 : i32, old_type_bits = 16 : i32} : (!fly.layout<(4,8):(8,1)>) -> !fly.layout<(4,4):(4,1)>
  // CHECK: %2 = fly.recast_layout(%z) {new_type_bits = 16 : i32, old_type_bits = 8 : i32} : {{.*}} -> !fly.composed_layout<S<3,3,3> o 0 o (8,32):(32,1)>
  %2 = fly.recast_layout(%z) {new_type_bits = 16 : i32, old_type_bits = 8 : i32} : (!fly.composed_layout<S<3,4,3> o 0 o (8,64):(64,1)>) -> !fly.composed_layout<S<3,3,3> o 0 o (8,32):(32,1)>
  return
}
