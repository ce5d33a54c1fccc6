// RUN: fly-opt --keep-names %s | FileCheck %s
// RUN: fly-opt --keep-names %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names --print-op-generic %s | fly-opt --keep-names | FileCheck %s

// Operations that take tuples, layouts and tensors apart.

func.func @leaves(%t: !fly.int_tuple<(?,4,?)>, %u: !fly.int_tuple<?>, %v: !fly.int_tuple<((?{i64 div=8}))>, %big: !fly.int_tuple<5000000000>) {
  // CHECK: %0 = fly.get_scalar(%u) : (!fly.int_tuple<?>) -> i32
  %0 = fly.get_scalar(%u) : (!fly.int_tuple<?>) -> i32
  // CHECK: %1 = fly.get_scalar(%v) : (!fly.int_tuple<((?{i64 div=8}))>) -> i64
  %1 = fly.get_scalar(%v) : (!fly.int_tuple<((?{i64 div=8}))>) -> i64
  // CHECK: %2 = fly.get_scalar(%big) : (!fly.int_tuple<5000000000>) -> i64
  %2 = fly.get_scalar(%big) : (!fly.int_tuple<5000000000>) -> i64
  // CHECK: %3, %4 = fly.get_leaves(%t) {dynamicOnly = true} : (!fly.int_tuple<(?,4,?)>) -> (i32, i32)
  %3, %4 = fly.get_leaves(%t) {dynamicOnly = true} : (!fly.int_tuple<(?,4,?)>) -> (i32, i32)
  // CHECK: %5, %6, %7 = fly.get_leaves(%t) : (!fly.int_tuple<(?,4,?)>) -> (i32, i32, i32)
  %5:3 = fly.get_leaves(%t) : (!fly.int_tuple<(?,4,?)>) -> (i32, i32, i32)
  return
}

func.func @parts(%l: !fly.layout<(3,5):(5,1)>, %d: !fly.layout<(?,8):(1,?{i64})>,
                 %z: !fly.composed_layout<S<2,0,3> o 4 o (8,8):(8,1)>, %m: !fly.memref<f32, global, (?,8):(8,1), align<16>>,
                 %c: !fly.coord_tensor<(0,?), (4,8):(1E0,1E1)>, %w: !fly.memref<f16, shared, S<2,0,3> o 4 o (8,8):(8,1)>) {
  // CHECK: %0 = fly.get_shape(%l) : (!fly.layout<(3,5):(5,1)>) -> !fly.int_tuple<(3,5)>
  %0 = fly.get_shape(%l) : (!fly.layout<(3,5):(5,1)>) -> !fly.int_tuple<(3,5)>
  // CHECK: %1 = fly.get_stride(%d) : (!fly.layout<(?,8):(1,?{i64})>) -> !fly.int_tuple<(1,?{i64})>
  %1 = fly.get_stride(%d) : (!fly.layout<(?,8):(1,?{i64})>) -> !fly.int_tuple<(1,?{i64})>
  // CHECK: %2 = fly.get_shape(%z) : (!fly.composed_layout<S<2,0,3> o 4 o (8,8):(8,1)>) -> !fly.int_tuple<(8,8)>
  %2 = fly.get_shape(%z) : (!fly.composed_layout<S<2,0,3> o 4 o (8,8):(8,1)>) -> !fly.int_tuple<(8,8)>
  // CHECK: %3 = fly.get_shape(%m) : (!fly.memref<f32, global, (?,8):(8,1), align<16>>) -> !fly.int_tuple<(?,8)>
  %3 = fly.get_shape(%m) : (!fly.memref<f32, global, (?,8):(8,1), align<16>>) -> !fly.int_tuple<(?,8)>
  // CHECK: %4 = fly.get_stride(%m) : {{.*}} -> !fly.int_tuple<(8,1)>
  %4 = fly.get_stride(%m) : (!fly.memref<f32, global, (?,8):(8,1), align<16>>) -> !fly.int_tuple<(8,1)>
  // CHECK: %5 = fly.get_layout(%m) : {{.*}} -> !fly.layout<(?,8):(8,1)>
  %5 = fly.get_layout(%m) : (!fly.memref<f32, global, (?,8):(8,1), align<16>>) -> !fly.layout<(?,8):(8,1)>
  // CHECK: %6 = fly.get_iter(%m) : {{.*}} -> !fly.ptr<f32, global, align<16>>
  %6 = fly.get_iter(%m) : (!fly.memref<f32, global, (?,8):(8,1), align<16>>) -> !fly.ptr<f32, global, align<16>>
  // CHECK: %7 = fly.get_iter(%c) : (!fly.coord_tensor<(0,?), (4,8):(1E0,1E1)>) -> !fly.int_tuple<(0,?)>
  %7 = fly.get_iter(%c) : (!fly.coord_tensor<(0,?), (4,8):(1E0,1E1)>) -> !fly.int_tuple<(0,?)>
  // CHECK: %8 = fly.get_layout(%w) : {{.*}} -> !fly.composed_layout<S<2,0,3> o 4 o (8,8):(8,1)>
  %8 = fly.get_layout(%w) : (!fly.memref<f16, shared, S<2,0,3> o 4 o (8,8):(8,1)>) -> !fly.composed_layout<S<2,0,3> o 4 o (8,8):(8,1)>
  // CHECK: %9 = fly.composed_get_inner(%z) : {{.*}} -> !fly.swizzle<S<2,0,3>>
  %9 = fly.composed_get_inner(%z) : (!fly.composed_layout<S<2,0,3> o 4 o (8,8):(8,1)>) -> !fly.swizzle<S<2,0,3>>
  // CHECK: %10 = fly.composed_get_offset(%z) : {{.*}} -> !fly.int_tuple<4>
  %10 = fly.composed_get_offset(%z) : (!fly.composed_layout<S<2,0,3> o 4 o (8,8):(8,1)>) -> !fly.int_tuple<4>
  // CHECK: %11 = fly.composed_get_outer(%z) : {{.*}} -> !fly.layout<(8,8):(8,1)>
  %11 = fly.composed_get_outer(%z) : (!fly.composed_layout<S<2,0,3> o 4 o (8,8):(8,1)>) -> !fly.layout<(8,8):(8,1)>
  return
}
