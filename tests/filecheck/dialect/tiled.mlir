// RUN: fly-opt --keep-names %s | FileCheck %s
// RUN: fly-opt --keep-names %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names --print-op-generic %s | fly-opt --keep-names | FileCheck %s

// Partitions, fragments, copies and matrix products.

!copy = !fly.copy_atom<!fly.universal_copy<128>, 32>
!tiled = !fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<64>, 32>, <(4,(2,2)):(2,(1,8))>, <[4|4]>>
!mma = !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
!tmma = !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f16, f16) -> f32>>, <(4,4,1):(1,4,0)>>

func.func @partitions(%tc: !tiled, %g: !fly.memref<f32, global, (16,16):(1,16)>, %t: !fly.int_tuple<?>, %r: !fly.memref<f32, register, ((4,1),2,2):((1,0),4,8)>,
                      %c: !fly.coord_tensor<(0,0), (16,16):(1E0,1E1)>) {
  // CHECK: %0 = fly.tiled_copy.partition_src(%tc, %g, %t) : {{.*}} -> !fly.memref<f32, global, ((2,2),4,4):((1,32),4,64)>
  %0 = fly.tiled_copy.partition_src(%tc, %g, %t) : (!tiled, !fly.memref<f32, global, (16,16):(1,16)>, !fly.int_tuple<?>) -> !fly.memref<f32, global, ((2,2),4,4):((1,32),4,64)>
  // CHECK: %1 = fly.tiled_copy.partition_dst(%tc, %c, %t) : {{.*}} -> !fly.coord_tensor<(?{div=2},?), ((2,2),4,4):((1E0,2E1),4E0,4E1)>
  %1 = fly.tiled_copy.partition_dst(%tc, %c, %t) : (!tiled, !fly.coord_tensor<(0,0), (16,16):(1E0,1E1)>, !fly.int_tuple<?>) -> !fly.coord_tensor<(?{div=2},?), ((2,2),4,4):((1E0,2E1),4E0,4E1)>
  // CHECK: %2 = fly.tiled_copy.retile(%tc, %r) : {{.*}} -> !fly.memref<f32, register, ((2,2),2,2):((1,2),4,8)>
  %2 = fly.tiled_copy.retile(%tc, %r) : (!tiled, !fly.memref<f32, register, ((4,1),2,2):((1,0),4,8)>) -> !fly.memref<f32, register, ((2,2),2,2):((1,2),4,8)>
  return
}

func.func @matrix(%tm: !tmma, %g: !fly.memref<f16, global, (8,8):(8,1)>, %t: !fly.int_tuple<?>, %s: !fly.int_tuple<(8,8)>, %c: !fly.memref<f32, global, (8,8):(8,1)>) {
  // CHECK: %0 = fly.tiled_mma.partition(a, %tm, %g, %t) : {{.*}} -> !fly.memref<f16, global, (1,2,8):(0,32,1)>
  %0 = fly.tiled_mma.partition(a, %tm, %g, %t) : (!tmma, !fly.memref<f16, global, (8,8):(8,1)>, !fly.int_tuple<?>) -> !fly.memref<f16, global, (1,2,8):(0,32,1)>
  // CHECK: %1 = fly.tiled_mma.partition_shape(c, %tm, %s) : {{.*}} -> !fly.int_tuple<(1,2,2)>
  %1 = fly.tiled_mma.partition_shape(c, %tm, %s) : (!tmma, !fly.int_tuple<(8,8)>) -> !fly.int_tuple<(1,2,2)>
  // CHECK: %2 = fly.mma.make_fragment(b, %tm, %g, stages = 2) : {{.*}} -> !fly.memref<f16, register, (1,2,8,2):(0,8,1,16)>
  %2 = fly.mma.make_fragment(b, %tm, %g, stages = 2) : (!tmma, !fly.memref<f16, global, (8,8):(8,1)>) -> !fly.memref<f16, register, (1,2,8,2):(0,8,1,16)>
  // CHECK: %3 = fly.mma.make_fragment(c, %tm, %c) : {{.*}} -> !fly.memref<f32, register, (1,2,2):(0,2,1)>
  %3 = fly.mma.make_fragment(c, %tm, %c) : (!tmma, !fly.memref<f32, global, (8,8):(8,1)>) -> !fly.memref<f32, register, (1,2,2):(0,2,1)>
  return
}

func.func @copies(%a: !copy, %tc: !tiled, %s: !fly.memref<f32, global, (4,2):(1,4)>, %d: !fly.memref<f32, register, (4,2):(1,4)>, %p: !fly.memref<i1, register, 2:1>,
                  %s1: !fly.memref<f32, global, 4:1>, %d1: !fly.memref<f32, register, 4:1>, %p1: !fly.memref<i1, register, 1:0>, %v: vector<4xf32>, %f: i1, %n: i32) {
  // CHECK: fly.copy(%a, %s, %d) : {{.*}} -> ()
  fly.copy(%a, %s, %d) : (!copy, !fly.memref<f32, global, (4,2):(1,4)>, !fly.memref<f32, register, (4,2):(1,4)>) -> ()
  // CHECK: fly.copy(%tc, %s, %d, %p) : {{.*}} -> ()
  fly.copy(%tc, %s, %d, %p) : (!tiled, !fly.memref<f32, global, (4,2):(1,4)>, !fly.memref<f32, register, (4,2):(1,4)>, !fly.memref<i1, register, 2:1>) -> ()
  // CHECK: fly.copy_atom_call(%a, %s1, %d1) : {{.*}} -> ()
  fly.copy_atom_call(%a, %s1, %d1) : (!copy, !fly.memref<f32, global, 4:1>, !fly.memref<f32, register, 4:1>) -> ()
  // CHECK: fly.copy_atom_call(%a, %d1, %s1, %p1) : {{.*}} -> ()
  fly.copy_atom_call(%a, %d1, %s1, %p1) : (!copy, !fly.memref<f32, register, 4:1>, !fly.memref<f32, global, 4:1>, !fly.memref<i1, register, 1:0>) -> ()
  // CHECK: %0 = fly.copy_atom_call_ssa(%a, %s1) : {{.*}} -> vector<4xf32>
  %0 = fly.copy_atom_call_ssa(%a, %s1) : (!copy, !fly.memref<f32, global, 4:1>) -> vector<4xf32>
  // CHECK: %1 = fly.copy_atom_call_ssa(%a, %s1, %v, %f) : {{.*}} -> vector<4xf32>
  %1 = fly.copy_atom_call_ssa(%a, %s1, %v, %f) : (!copy, !fly.memref<f32, global, 4:1>, vector<4xf32>, i1) -> vector<4xf32>
  // CHECK: fly.copy_atom_call_ssa(%a, %v, %s1) : {{.*}} -> ()
  fly.copy_atom_call_ssa(%a, %v, %s1) : (!copy, vector<4xf32>, !fly.memref<f32, global, 4:1>) -> ()
  // CHECK: fly.copy_atom_call_ssa(%a, %v, %s1, %f) : {{.*}} -> ()
  fly.copy_atom_call_ssa(%a, %v, %s1, %f) : (!copy, vector<4xf32>, !fly.memref<f32, global, 4:1>, i1) -> ()
  // CHECK: %2 = fly.atom.set_value(%a, "soffset", %n) : {{.*}} -> !fly.copy_atom<!fly.universal_copy<128>, 32>
  %2 = fly.atom.set_value(%a, "soffset", %n) : (!copy, i32) -> !copy
  return
}

func.func @products(%m: !mma, %tm: !tmma, %acc: !fly.memref<f32, register, (1,2,2):(0,1,2)>, %a: !fly.memref<f32, register, (1,2,3):(0,1,2)>,
                    %l: !fly.layout<12:1>, %one: !fly.memref<f32, register, 1:0>, %v: vector<1xf32>) {
  // CHECK: fly.gemm(%m, %acc, %a, %a, %acc) : {{.*}} -> ()
  fly.gemm(%m, %acc, %a, %a, %acc) : (!mma, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,2,3):(0,1,2)>, !fly.memref<f32, register, (1,2,3):(0,1,2)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>) -> ()
  // CHECK: fly.gemm(%tm, %acc, %a, %a, %acc) {traversalOrder = "KMN_Serpentine"} : {{.*}} -> ()
  fly.gemm(%tm, %acc, %a, %a, %acc) {traversalOrder = "KMN_Serpentine"} : (!tmma, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,2,3):(0,1,2)>, !fly.memref<f32, register, (1,2,3):(0,1,2)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>) -> ()
  // CHECK: fly.gemm(%m, %acc, %a, %a, %acc) traversalLayout = %l : {{.*}} -> ()
  fly.gemm(%m, %acc, %a, %a, %acc) traversalLayout = %l : (!mma, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,2,3):(0,1,2)>, !fly.memref<f32, register, (1,2,3):(0,1,2)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.layout<12:1>) -> ()
  // CHECK: fly.mma_atom_call(%m, %one, %one, %one, %one) : {{.*}} -> ()
  fly.mma_atom_call(%m, %one, %one, %one, %one) : (!mma, !fly.memref<f32, register, 1:0>, !fly.memref<f32, register, 1:0>, !fly.memref<f32, register, 1:0>, !fly.memref<f32, register, 1:0>) -> ()
  // CHECK: %0 = fly.mma_atom_call_ssa(%m, %v, %v, %v) : {{.*}} -> vector<1xf32>
  %0 = fly.mma_atom_call_ssa(%m, %v, %v, %v) : (!mma, vector<1xf32>, vector<1xf32>, vector<1xf32>) -> vector<1xf32>
  return
}
