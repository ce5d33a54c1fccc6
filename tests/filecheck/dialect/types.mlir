// RUN: fly-opt --keep-names %s | FileCheck %s
// RUN: fly-opt --keep-names %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names --print-op-generic %s | fly-opt --keep-names | FileCheck %s

// Every type, as it is written and as it may be written: spaces inside are read and not printed.

// CHECK: @int_tuples(%0: !fly.int_tuple<(4,(8,?),*)>, %1: !fly.int_tuple<(4)>, %2: !fly.int_tuple<4>, %3: !fly.int_tuple<((4))>,
// CHECK-SAME: %4: !fly.int_tuple<(?{i64},?{div=4},?{i64 div=16})>, %5: !fly.int_tuple<(1E0,2E0E1,?E2)>, %6: !fly.int_tuple<-3>, %7: !fly.int_tuple<*>
func.func private @int_tuples(%0: !fly.int_tuple<( 4, ( 8, ? ), * )>, %1: !fly.int_tuple<(4)>, %2: !fly.int_tuple<4>, %3: !fly.int_tuple<((4))>,
    %4: !fly.int_tuple<(?{i64}, ?{ div = 4 }, ?{i64 div=16})>, %5: !fly.int_tuple<(1E0,2E0E1,?E2)>, %6: !fly.int_tuple<-3>, %7: !fly.int_tuple<*>) { return }

// CHECK: @layouts(%0: !fly.layout<(4,8):(1,4)>, %1: !fly.layout<?:1>, %2: !fly.layout<(4):(1)>, %3: !fly.layout<4:1>,
// CHECK-SAME: %4: !fly.layout<((2,?),8):((1,?{i64 div=2}),0)>, %5: !fly.layout<(4,8):(1E0,1E1)>, %6: !fly.layout<4:-1>
func.func private @layouts(%0: !fly.layout<(4, 8) : (1, 4)>, %1: !fly.layout<?:1>, %2: !fly.layout<(4):(1)>, %3: !fly.layout<4:1>,
    %4: !fly.layout<((2,?),8):((1,?{i64 div=2}),0)>, %5: !fly.layout<(4,8):(1E0,1E1)>, %6: !fly.layout<4:-1>) { return }

// CHECK: @swizzles(%0: !fly.swizzle<S<3,3,3>>, %1: !fly.coord_swizzle<CS<3,0,[1],0,[2]>>, %2: !fly.coord_swizzle<CS<2,1,[0,1],3,[2,0]>>
func.func private @swizzles(%0: !fly.swizzle<S< 3, 3, 3 >>, %1: !fly.coord_swizzle<CS<3,0,[1],0,[2]>>, %2: !fly.coord_swizzle<CS<2,1,[0,1],3,[2,0]>>) { return }

// CHECK: @composed(%0: !fly.composed_layout<S<3,3,3> o 0 o (4,8):(8,1)>, %1: !fly.composed_layout<S<3,3,3> o ?{div=8} o [S<2,0,3> o 0 o (8,8):(8,1)]>,
// CHECK-SAME: %2: !fly.composed_layout<(4,2):(2,1) o (0,0) o 8:1E0>, %3: !fly.composed_layout<S<1,0,1> o 0 o 4:1 o 1 o 2:1>
func.func private @composed(%0: !fly.composed_layout<S<3,3,3> o 0 o (4,8):(8,1)>, %1: !fly.composed_layout<S<3,3,3> o ?{div=8} o [S<2,0,3> o 0 o (8,8):(8,1)]>,
    %2: !fly.composed_layout<(4,2):(2,1) o (0,0) o 8:1E0>, %3: !fly.composed_layout<[S<1,0,1> o 0 o 4:1] o 1 o 2:1>) { return }

// CHECK: @tiles(%0: !fly.tile<[2:7|(3,6):(1,3)|*|8]>, %1: !fly.tile<8>, %2: !fly.tile<[8]>, %3: !fly.tile<*>, %4: !fly.tile<[[2|3:1]|4]>, %5: !fly.tile<(2,2):(1,2)>
func.func private @tiles(%0: !fly.tile<[2:7|(3,6):(1,3)|*|8]>, %1: !fly.tile<8>, %2: !fly.tile<[8]>, %3: !fly.tile<*>, %4: !fly.tile<[[2|3:1]|4]>, %5: !fly.tile<(2,2):(1,2)>) { return }

// An alignment that is the element's own size goes without saying.
// CHECK: @pointers(%0: !fly.ptr<f32, global>, %1: !fly.ptr<f32, global, align<16>>, %2: !fly.ptr<f16, shared, align<8>, S<3,3,3>>, %3: !fly.ptr<i8, register>,
// CHECK-SAME: %4: !fly.ptr<ui8, generic>, %5: !fly.ptr<f8E4M3FNUZ, #fly_rocdl.buffer_desc>, %6: !fly.ptr<i1, register>, %7: !fly.ptr<f32, global>, %8: !fly.ptr<bf16, shared, S<2,1,3>>
func.func private @pointers(%0: !fly.ptr<f32, global>, %1: !fly.ptr<f32, global, align<16>>, %2: !fly.ptr<f16, shared, align<8>, S<3,3,3>>, %3: !fly.ptr<i8, register>,
    %4: !fly.ptr<ui8, generic>, %5: !fly.ptr<f8E4M3FNUZ, #fly_rocdl.buffer_desc>, %6: !fly.ptr<i1, register>, %7: !fly.ptr<f32, global, align<4>>, %8: !fly.ptr<bf16, shared, S<2,1,3>>) { return }

// CHECK: @memrefs(%0: !fly.memref<f32, register, (4,2):(1,4)>, %1: !fly.memref<f16, shared, S<3,3,3> o 0 o (8,64):(64,1), align<16>>,
// CHECK-SAME: %2: !fly.memref<f16, shared, (8,64):(64,1), align<16>, S<3,4,3>>, %3: !fly.memref<f32, global, (?,?{i64 div=4}):(?{i64 div=4},1), align<16>>
func.func private @memrefs(%0: !fly.memref<f32, register, (4,2):(1,4)>, %1: !fly.memref<f16, shared, S<3,3,3> o 0 o (8,64):(64,1), align<16>>,
    %2: !fly.memref<f16, shared, (8,64):(64,1), align<16>, S<3,4,3>>, %3: !fly.memref<f32, global, (?,?{i64 div=4}):(?{i64 div=4},1), align<16>>) { return }

// CHECK: @coordinates(%0: !fly.coord_tensor<(0,?), (4,8):(1E0,1E1)>, %1: !fly.coord_tensor<0, 4:2>, %2: !fly.coord_tensor<(0,0), CS<2,0,[0],0,[1]> o (0,0) o (8,8):(1E0,1E1)>
func.func private @coordinates(%0: !fly.coord_tensor<(0,?), (4,8):(1E0,1E1)>, %1: !fly.coord_tensor<0, 4:2>, %2: !fly.coord_tensor<(0,0), CS<2,0,[0],0,[1]> o (0,0) o (8,8):(1E0,1E1)>) { return }

// CHECK: @instructions(%0: !fly.universal_copy<128>, %1: !fly.universal_atomic<add, f32>, %2: !fly.universal_atomic<max, ui32, scope = agent>, %3: !fly.universal_fma<1x1x1, (f16, f16) -> f32>
func.func private @instructions(%0: !fly.universal_copy<128>, %1: !fly.universal_atomic<add, f32>, %2: !fly.universal_atomic<max, ui32, scope=agent>, %3: !fly.universal_fma<1x1x1, (f16,f16) -> f32>) { return }

// CHECK: @atoms(%0: !fly.copy_atom<!fly.universal_copy<128>, 32>, %1: !fly.copy_atom<!fly.universal_atomic<add, f32>, 32>, %2: !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
func.func private @atoms(%0: !fly.copy_atom<!fly.universal_copy<128>, 32>, %1: !fly.copy_atom<!fly.universal_atomic<add, f32>, 32>, %2: !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>) { return }

// CHECK: @tiled(%0: !fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<128>, 32>, <(4,4):(4,1)>, <[4|4]>>,
// CHECK-SAME: %1: !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, <(2,2,1):(1,2,0)>>,
// CHECK-SAME: %2: !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, <(2,2,1):(1,2,0)>, <[8|*|(2,2):(1,2)]>>
func.func private @tiled(%0: !fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<128>, 32>, <(4,4):(4,1)>, <[4|4]>>,
    %1: !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, <(2,2,1):(1,2,0)>>,
    %2: !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, <(2,2,1):(1,2,0)>, <[8|*|(2,2):(1,2)]>>) { return }
