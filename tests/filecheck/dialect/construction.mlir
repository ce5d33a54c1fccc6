// RUN: fly-opt --keep-names %s | FileCheck %s
// RUN: fly-opt --keep-names %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names --print-op-generic %s | fly-opt --keep-names | FileCheck %s

// Operations that make tuples, layouts, views, fragments, atoms and tiled operations.

func.func @tuples(%i: i32, %j: i64) {
  // CHECK: %s = fly.static : !fly.int_tuple<(3,5)>
  %s = fly.static : !fly.int_tuple<(3,5)>
  // CHECK: %leaf = fly.static : !fly.int_tuple<4>
  %leaf = fly.static : !fly.int_tuple<4>
  // CHECK: %one = fly.static : !fly.int_tuple<(4)>
  %one = fly.static : !fly.int_tuple<(4)>
  // CHECK: %w = fly.static : !fly.swizzle<S<3,3,3>>
  %w = fly.static : !fly.swizzle<S<3,3,3>>
  // CHECK: %c = fly.make_coord(%i) : (i32) -> !fly.int_tuple<(?,2)>
  %c = fly.make_coord(%i) : (i32) -> !fly.int_tuple<(?,2)>
  // CHECK: %d = fly.make_shape(%i, %j) : (i32, i64) -> !fly.int_tuple<(?,(8,?{i64}))>
  %d = fly.make_shape(%i, %j) : (i32, i64) -> !fly.int_tuple<(?,(8,?{i64}))>
  // CHECK: %e = fly.make_stride(%j) : (i64) -> !fly.int_tuple<(1,?{i64 div=16})>
  %e = fly.make_stride(%j) : (i64) -> !fly.int_tuple<(1,?{i64 div=16})>
  // CHECK: %f = fly.make_int_tuple(%i, %i) : (i32, i32) -> !fly.int_tuple<(?{div=4},?,*)>
  %f = fly.make_int_tuple(%i, %i) : (i32, i32) -> !fly.int_tuple<(?{div=4},?,*)>
  // CHECK: %g = fly.make_int_tuple() : () -> !fly.int_tuple<(1E0,2E0E1)>
  %g = fly.make_int_tuple() : () -> !fly.int_tuple<(1E0,2E0E1)>
  // CHECK: %h = fly.make_stride(%i) : (i32) -> !fly.int_tuple<?E1>
  %h = fly.make_stride(%i) : (i32) -> !fly.int_tuple<?E1>
  return
}

func.func @layouts(%s: !fly.int_tuple<(3,5)>, %d: !fly.int_tuple<(5,1)>, %o: !fly.int_tuple<(1,0)>,
                   %ds: !fly.int_tuple<(?,8)>, %dd: !fly.int_tuple<(1,?{i64})>, %zero: !fly.int_tuple<0>,
                   %pair: !fly.int_tuple<(0,0)>, %z: !fly.swizzle<S<2,0,3>>, %cs: !fly.coord_swizzle<CS<2,0,[0],0,[1]>>,
                   %rm: !fly.layout<(8,8):(8,1)>, %id: !fly.layout<(8,8):(1E0,1E1)>,
                   %nested: !fly.composed_layout<S<2,0,3> o 0 o (8,8):(8,1)>) {
  // CHECK: %0 = fly.make_layout(%s, %d) : {{.*}} -> !fly.layout<(3,5):(5,1)>
  %0 = fly.make_layout(%s, %d) : (!fly.int_tuple<(3,5)>, !fly.int_tuple<(5,1)>) -> !fly.layout<(3,5):(5,1)>
  // CHECK: %1 = fly.make_layout(%ds, %dd) : {{.*}} -> !fly.layout<(?,8):(1,?{i64})>
  %1 = fly.make_layout(%ds, %dd) : (!fly.int_tuple<(?,8)>, !fly.int_tuple<(1,?{i64})>) -> !fly.layout<(?,8):(1,?{i64})>
  // CHECK: %gap = fly.static : !fly.layout<(3,5):(10,2)>
  %gap = fly.static : !fly.layout<(3,5):(10,2)>
  // CHECK: %2 = fly.make_layout_like(%gap) : (!fly.layout<(3,5):(10,2)>) -> !fly.layout<(3,5):(5,1)>
  %2 = fly.make_layout_like(%gap) : (!fly.layout<(3,5):(10,2)>) -> !fly.layout<(3,5):(5,1)>
  // CHECK: %3 = fly.make_ordered_layout(%s, %o) : {{.*}} -> !fly.layout<(3,5):(5,1)>
  %3 = fly.make_ordered_layout(%s, %o) : (!fly.int_tuple<(3,5)>, !fly.int_tuple<(1,0)>) -> !fly.layout<(3,5):(5,1)>
  // CHECK: %4 = fly.make_composed_layout(%z, %zero, %rm) : {{.*}} -> !fly.composed_layout<S<2,0,3> o 0 o (8,8):(8,1)>
  %4 = fly.make_composed_layout(%z, %zero, %rm) : (!fly.swizzle<S<2,0,3>>, !fly.int_tuple<0>, !fly.layout<(8,8):(8,1)>) -> !fly.composed_layout<S<2,0,3> o 0 o (8,8):(8,1)>
  // CHECK: %5 = fly.make_composed_layout(%z, %zero, %nested) : {{.*}} -> !fly.composed_layout<S<2,0,3> o 0 o [S<2,0,3> o 0 o (8,8):(8,1)]>
  %5 = fly.make_composed_layout(%z, %zero, %nested) : (!fly.swizzle<S<2,0,3>>, !fly.int_tuple<0>, !fly.composed_layout<S<2,0,3> o 0 o (8,8):(8,1)>) -> !fly.composed_layout<S<2,0,3> o 0 o [S<2,0,3> o 0 o (8,8):(8,1)]>
  // CHECK: %6 = fly.make_composed_layout(%cs, %pair, %id) : {{.*}} -> !fly.composed_layout<CS<2,0,[0],0,[1]> o (0,0) o (8,8):(1E0,1E1)>
  %6 = fly.make_composed_layout(%cs, %pair, %id) : (!fly.coord_swizzle<CS<2,0,[0],0,[1]>>, !fly.int_tuple<(0,0)>, !fly.layout<(8,8):(1E0,1E1)>) -> !fly.composed_layout<CS<2,0,[0],0,[1]> o (0,0) o (8,8):(1E0,1E1)>
  // CHECK: %7 = fly.make_identity_layout(%s) : (!fly.int_tuple<(3,5)>) -> !fly.layout<(3,5):(1E0,1E1)>
  %7 = fly.make_identity_layout(%s) : (!fly.int_tuple<(3,5)>) -> !fly.layout<(3,5):(1E0,1E1)>
  return
}

func.func @views(%p: !fly.ptr<f32, global>, %l: !fly.layout<6:1>, %z: !fly.composed_layout<S<2,0,3> o 0 o (8,8):(8,1)>,
                 %o: !fly.int_tuple<(0,0)>, %id: !fly.layout<(3,5):(1E0,1E1)>, %m: !fly.memref<f32, global, 6:2>,
                 %lay: !fly.layout<((8,1),2,3):((1,0),48,8)>, %crd: !fly.coord_tensor<(0,0), (3,5):(1E0,1E1)>) {
  // CHECK: %0 = fly.make_view(%p, %l) : {{.*}} -> !fly.memref<f32, global, 6:1>
  %0 = fly.make_view(%p, %l) : (!fly.ptr<f32, global>, !fly.layout<6:1>) -> !fly.memref<f32, global, 6:1>
  // CHECK: %1 = fly.make_view(%p, %z) : {{.*}} -> !fly.memref<f32, global, S<2,0,3> o 0 o (8,8):(8,1)>
  %1 = fly.make_view(%p, %z) : (!fly.ptr<f32, global>, !fly.composed_layout<S<2,0,3> o 0 o (8,8):(8,1)>) -> !fly.memref<f32, global, S<2,0,3> o 0 o (8,8):(8,1)>
  // CHECK: %2 = fly.make_view(%o, %id) : {{.*}} -> !fly.coord_tensor<(0,0), (3,5):(1E0,1E1)>
  %2 = fly.make_view(%o, %id) : (!fly.int_tuple<(0,0)>, !fly.layout<(3,5):(1E0,1E1)>) -> !fly.coord_tensor<(0,0), (3,5):(1E0,1E1)>
  // CHECK: %3 = fly.make_fragment_like(%m, f16) : {{.*}} -> !fly.memref<f16, register, 6:1>
  %3 = fly.make_fragment_like(%m, f16) : (!fly.memref<f32, global, 6:2>) -> !fly.memref<f16, register, 6:1>
  // CHECK: %4 = fly.make_fragment_like(%m) : (!fly.memref<f32, global, 6:2>) -> !fly.memref<f32, register, 6:1>
  %4 = fly.make_fragment_like(%m) : (!fly.memref<f32, global, 6:2>) -> !fly.memref<f32, register, 6:1>
  // CHECK: %5 = fly.make_fragment_like(%crd, i32) : {{.*}} -> !fly.memref<i32, register, (3,5):(1,3)>
  %5 = fly.make_fragment_like(%crd, i32) : (!fly.coord_tensor<(0,0), (3,5):(1E0,1E1)>) -> !fly.memref<i32, register, (3,5):(1,3)>
  // CHECK: %6 = fly.make_fragment_layout_like(%lay) : {{.*}} -> !fly.layout<((8,1),2,3):((1,0),24,8)>
  %6 = fly.make_fragment_layout_like(%lay) : (!fly.layout<((8,1),2,3):((1,0),48,8)>) -> !fly.layout<((8,1),2,3):((1,0),24,8)>
  return
}

func.func @atoms(%tv: !fly.layout<(4,4):(4,1)>, %tile: !fly.tile<[4|4]>, %mnk: !fly.layout<(2,2,1):(1,2,0)>, %perm: !fly.tile<[8|*|4]>) {
  // CHECK: %0 = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<128>, 32>
  %0 = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<128>, 32>
  // CHECK: %1 = fly.make_mma_atom : !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
  %1 = fly.make_mma_atom : !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
  // CHECK: %from = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly.universal_copy<64>, 16>
  %from = fly.make_copy_atom {valBits = 16 : i32} : !fly.universal_copy<64>
  // CHECK: %fma = fly.make_mma_atom : !fly.mma_atom<!fly.universal_fma<1x1x1, (f16, f16) -> f32>>
  %fma = fly.make_mma_atom : !fly.universal_fma<1x1x1, (f16, f16) -> f32>
  // CHECK: %2 = fly.make_tiled_copy(%0, %tv, %tile) : {{.*}} -> !fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<128>, 32>, <(4,4):(4,1)>, <[4|4]>>
  %2 = fly.make_tiled_copy(%0, %tv, %tile) : (!fly.copy_atom<!fly.universal_copy<128>, 32>, !fly.layout<(4,4):(4,1)>, !fly.tile<[4|4]>) -> !fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<128>, 32>, <(4,4):(4,1)>, <[4|4]>>
  // CHECK: %3 = fly.make_tiled_mma(%1, %mnk) : {{.*}} -> f32>>, <(2,2,1):(1,2,0)>>
  %3 = fly.make_tiled_mma(%1, %mnk) : (!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.layout<(2,2,1):(1,2,0)>) -> !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, <(2,2,1):(1,2,0)>>
  // CHECK: %4 = fly.make_tiled_mma(%1, %mnk, %perm) : {{.*}} -> f32>>, <(2,2,1):(1,2,0)>, <[8|*|4]>>
  %4 = fly.make_tiled_mma(%1, %mnk, %perm) : (!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.layout<(2,2,1):(1,2,0)>, !fly.tile<[8|*|4]>) -> !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, <(2,2,1):(1,2,0)>, <[8|*|4]>>
  return
}
