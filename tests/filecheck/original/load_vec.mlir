// RUN: fly-opt --convert-fly-to-rocdl %s | FileCheck %s
// RUN: fly-opt --fly-layout-lowering %s | FileCheck %s --check-prefix=LOWERED

// One chunk for each run of the first mode of stride 1, column by column of the rest; each with its own constant.
// CHECK-LABEL: func.func @chunks(
// CHECK-NEXT: %[[V0:.*]] = ub.poison : vector<12xf32>
// CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : i32
// CHECK-NEXT: %[[P0:.*]] = llvm.getelementptr %arg0[%[[C0]]] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
// CHECK-NEXT: %[[X0:.*]] = llvm.load %[[P0]] {alignment = 4 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK-NEXT: %[[V1:.*]] = vector.insert_strided_slice %[[X0]], %[[V0]] {offsets = [0], strides = [1]} : vector<4xf32> into vector<12xf32>
// CHECK-NEXT: %[[C1:.*]] = arith.constant 8 : i32
// CHECK-NEXT: %[[P1:.*]] = llvm.getelementptr %arg0[%[[C1]]]
// CHECK-NEXT: %[[X1:.*]] = llvm.load %[[P1]] {alignment = 4 : i64}
// CHECK-NEXT: %[[V2:.*]] = vector.insert_strided_slice %[[X1]], %[[V1]] {offsets = [4], strides = [1]}
// CHECK: %[[V3:.*]] = vector.insert_strided_slice %{{.*}}, %[[V2]] {offsets = [8], strides = [1]}
// CHECK-NEXT: return %[[V3]]
// LOWERED-LABEL: func.func @chunks(
// LOWERED: %[[K:.*]] = fly.make_int_tuple() : () -> !fly.int_tuple<8>
// LOWERED-NEXT: %[[P:.*]] = fly.add_offset(%{{.*}}, %[[K]])
// LOWERED-NEXT: fly.ptr.load(%[[P]]) : (!fly.ptr<f32, global>) -> vector<4xf32>
func.func @chunks(%m: !fly.memref<f32, global, (4,3):(1,8)>) -> vector<12xf32> {
  %0 = fly.memref.load_vec(%m) : (!fly.memref<f32, global, (4,3):(1,8)>) -> vector<12xf32>
  return %0 : vector<12xf32>
}

// A run that is not the first mode is turned around.
// CHECK-LABEL: func.func @turned(
// CHECK: %[[W:.*]] = vector.shape_cast %{{.*}} : vector<12xf32> to vector<3x4xf32>
// CHECK-NEXT: %[[T:.*]] = vector.transpose %[[W]], [1, 0] : vector<3x4xf32> to vector<4x3xf32>
// CHECK-NEXT: %[[V:.*]] = vector.shape_cast %[[T]] : vector<4x3xf32> to vector<12xf32>
// CHECK-NEXT: %[[B:.*]] = vector.shape_cast %[[V]] : vector<12xf32> to vector<4x3xf32>
// CHECK-NEXT: %[[U:.*]] = vector.transpose %[[B]], [1, 0] : vector<4x3xf32> to vector<3x4xf32>
// CHECK-NEXT: %[[R:.*]] = vector.shape_cast %[[U]]
// CHECK-NEXT: %[[X:.*]] = vector.extract_strided_slice %[[R]] {offsets = [0], sizes = [4], strides = [1]} : vector<12xf32> to vector<4xf32>
// CHECK: llvm.store %[[X]]
func.func @turned(%m: !fly.memref<f32, global, (3,4):(8,1)>) {
  %0 = fly.memref.load_vec(%m) : (!fly.memref<f32, global, (3,4):(8,1)>) -> vector<12xf32>
  fly.memref.store_vec(%0, %m) : (vector<12xf32>, !fly.memref<f32, global, (3,4):(8,1)>) -> ()
  return
}

// No run: one element at a time. A run alone: one access.
// CHECK-LABEL: func.func @scalars(
// CHECK: %[[X:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<5> -> f32
// CHECK-NEXT: %[[V:.*]] = vector.insert %[[X]], %{{.*}} [0] : f32 into vector<3xf32>
// CHECK: arith.constant 2 : i32
// CHECK: vector.insert %{{.*}}, %[[V]] [1] : f32 into vector<3xf32>
// CHECK: arith.constant 4 : i32
// CHECK: llvm.load %arg1 {alignment = 4 : i64} : !llvm.ptr<5> -> vector<4xf32>
func.func @scalars(%m: !fly.memref<f32, register, 3:2>, %n: !fly.memref<f32, register, 4:1>) -> (vector<3xf32>, vector<4xf32>) {
  %0 = fly.memref.load_vec(%m) : (!fly.memref<f32, register, 3:2>) -> vector<3xf32>
  %1 = fly.memref.load_vec(%n) : (!fly.memref<f32, register, 4:1>) -> vector<4xf32>
  return %0, %1 : vector<3xf32>, vector<4xf32>
}

// The coordinates of a static tensor are a constant.
// CHECK-LABEL: func.func @coordinates(
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<[0, 1, 4, 5, 8, 9]> : vector<6xi32>
// CHECK-NEXT: return %[[C]]
func.func @coordinates() -> vector<6xi32> {
  %l = fly.static : !fly.layout<(2,3):(1,4)>
  %z = fly.make_int_tuple() : () -> !fly.int_tuple<0>
  %v = fly.make_view(%z, %l) : (!fly.int_tuple<0>, !fly.layout<(2,3):(1,4)>) -> !fly.coord_tensor<0, (2,3):(1,4)>
  %x = fly.memref.load_vec(%v) : (!fly.coord_tensor<0, (2,3):(1,4)>) -> vector<6xi32>
  return %x : vector<6xi32>
}

// Lowering leaves what a function returns, and takes tensors from outside.
// LOWERED-LABEL: func.func @row(
// LOWERED: %[[P:.*]] = fly.get_iter(%arg0)
// LOWERED: %[[L:.*]] = fly.make_layout({{.*}} -> !fly.layout<4:1>
// LOWERED: %[[Q:.*]] = fly.add_offset(%[[P]]
// LOWERED: %[[V:.*]] = fly.make_view(%[[Q]], %[[L]])
// LOWERED: %[[Z:.*]] = fly.static : !fly.swizzle<S<3,3,3>>
// LOWERED: return %[[V]], %[[Z]]
func.func @row(%m: !fly.memref<f32, global, (4,8):(1,4)>, %i: i32) -> (!fly.memref<f32, global, 4:1>, !fly.swizzle<S<3,3,3>>) {
  %c = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<(*,?)>
  %s = fly.slice(%m, %c) : (!fly.memref<f32, global, (4,8):(1,4)>, !fly.int_tuple<(*,?)>) -> !fly.memref<f32, global, 4:1>
  %z = fly.static : !fly.swizzle<S<3,3,3>>
  return %s, %z : !fly.memref<f32, global, 4:1>, !fly.swizzle<S<3,3,3>>
}
