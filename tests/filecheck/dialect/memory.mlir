// RUN: fly-opt --keep-names %s | FileCheck %s
// RUN: fly-opt --keep-names %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names --print-op-generic %s | fly-opt --keep-names | FileCheck %s


// Pointers, allocations, loads and stores.

func.func @pointers(%p: !fly.ptr<f32, global>, %o: !fly.int_tuple<4>, %r: !fly.int_tuple<?{div=4}>, %w: !fly.swizzle<S<3,3,3>>, %i: i64, %k: i32,
                    %q: !fly.ptr<f32, global, align<16>>, %base: !llvm.ptr<1>, %stride: i16, %m: !fly.memref<f32, global, (3,5):(5,1)>,
                    %z: !fly.memref<f16, shared, S<1,0,1> o 3 o 2:4>, %s: !fly.ptr<i8, shared, align<1024>>, %d: !fly.ptr<f32, #fly_rocdl.buffer_desc>) {
  // CHECK: %0 = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
  %0 = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
  // CHECK: %1 = fly.make_ptr(%base, %stride, %i, %k) : {{.*}} -> !fly.ptr<f32, #fly_rocdl.buffer_desc>
  %1 = fly.make_ptr(%base, %stride, %i, %k) : (!llvm.ptr<1>, i16, i64, i32) -> !fly.ptr<f32, #fly_rocdl.buffer_desc>
  // CHECK: %2 = fly.get_dyn_shared() : !fly.ptr<i8, shared, align<1024>>
  %2 = fly.get_dyn_shared() : !fly.ptr<i8, shared, align<1024>>
  // CHECK: %3 = fly.inttoptr(%i) : (i64) -> !fly.ptr<f32, global, align<16>>
  %3 = fly.inttoptr(%i) : (i64) -> !fly.ptr<f32, global, align<16>>
  // CHECK: %4 = fly.ptrtoint(%p) : (!fly.ptr<f32, global>) -> i64
  %4 = fly.ptrtoint(%p) : (!fly.ptr<f32, global>) -> i64
  // CHECK: %5 = fly.ptrtoint(%s) : (!fly.ptr<i8, shared, align<1024>>) -> i32
  %5 = fly.ptrtoint(%s) : (!fly.ptr<i8, shared, align<1024>>) -> i32
  // CHECK: %6 = fly.to_llvm_ptr(%p) {llvm_address_space = 1 : i32} : (!fly.ptr<f32, global>) -> !llvm.ptr<1>
  %6 = fly.to_llvm_ptr(%p) {llvm_address_space = 1 : i32} : (!fly.ptr<f32, global>) -> !llvm.ptr<1>
  // CHECK: %7 = fly.add_offset(%p, %o) : (!fly.ptr<f32, global>, !fly.int_tuple<4>) -> !fly.ptr<f32, global>
  %7 = fly.add_offset(%p, %o) : (!fly.ptr<f32, global>, !fly.int_tuple<4>) -> !fly.ptr<f32, global>
  // CHECK: %8 = fly.add_offset(%q, %r) : {{.*}} -> !fly.ptr<f32, global, align<16>>
  %8 = fly.add_offset(%q, %r) : (!fly.ptr<f32, global, align<16>>, !fly.int_tuple<?{div=4}>) -> !fly.ptr<f32, global, align<16>>
  // CHECK: %9 = fly.apply_swizzle(%q, %w) : {{.*}} -> !fly.ptr<f32, global, align<8>, S<3,3,3>>
  %9 = fly.apply_swizzle(%q, %w) : (!fly.ptr<f32, global, align<16>>, !fly.swizzle<S<3,3,3>>) -> !fly.ptr<f32, global, align<8>, S<3,3,3>>
  // CHECK: %10 = fly.recast_iter(%s) : {{.*}} -> !fly.ptr<f16, shared, align<1024>>
  %10 = fly.recast_iter(%s) : (!fly.ptr<i8, shared, align<1024>>) -> !fly.ptr<f16, shared, align<1024>>
  // CHECK: %11 = fly.decomposition(%z) : {{.*}} -> !fly.memref<f16, shared, 2:4>
  %11 = fly.decomposition(%z) : (!fly.memref<f16, shared, S<1,0,1> o 3 o 2:4>) -> !fly.memref<f16, shared, 2:4>
  // CHECK: %12 = fly.extract_aligned_pointer_as_index %m : !fly.memref<f32, global, (3,5):(5,1)> -> index
  %12 = fly.extract_aligned_pointer_as_index %m : !fly.memref<f32, global, (3,5):(5,1)> -> index
  // CHECK: %13 = fly_rocdl.get_buffer_rsrc(%d) : (!fly.ptr<f32, #fly_rocdl.buffer_desc>) -> !llvm.ptr<8>
  %13 = fly_rocdl.get_buffer_rsrc(%d) : (!fly.ptr<f32, #fly_rocdl.buffer_desc>) -> !llvm.ptr<8>
  return
}

func.func @accesses(%p: !fly.ptr<ui8, global>, %v: vector<4xi8>, %x: i8, %m: !fly.memref<f32, global, (3,5):(5,1)>, %c: !fly.int_tuple<(?,1)>, %f: f32,
                    %l: !fly.layout<4:1>, %vec: vector<15xf32>, %b: i1, %t: !fly.coord_tensor<0, 4:2>) {
  // CHECK: %0 = fly.ptr.load(%p) : (!fly.ptr<ui8, global>) -> vector<4xi8>
  %0 = fly.ptr.load(%p) : (!fly.ptr<ui8, global>) -> vector<4xi8>
  // CHECK: fly.ptr.store(%v, %p) : (vector<4xi8>, !fly.ptr<ui8, global>) -> ()
  fly.ptr.store(%v, %p) : (vector<4xi8>, !fly.ptr<ui8, global>) -> ()
  // CHECK: %1 = fly.ptr.load(%p) : (!fly.ptr<ui8, global>) -> i8
  %1 = fly.ptr.load(%p) : (!fly.ptr<ui8, global>) -> i8
  // CHECK: fly.ptr.store(%x, %p) : (i8, !fly.ptr<ui8, global>) -> ()
  fly.ptr.store(%x, %p) : (i8, !fly.ptr<ui8, global>) -> ()
  // CHECK: %2 = fly.memref.alloca() : () -> !fly.memref<f32, register, (4,2):(1,4)>
  %2 = fly.memref.alloca() : () -> !fly.memref<f32, register, (4,2):(1,4)>
  // CHECK: %3 = fly.memref.alloca(%l) : (!fly.layout<4:1>) -> !fly.memref<f32, register, 4:1>
  %3 = fly.memref.alloca(%l) : (!fly.layout<4:1>) -> !fly.memref<f32, register, 4:1>
  // CHECK: %4 = fly.memref.load(%m, %c) : (!fly.memref<f32, global, (3,5):(5,1)>, !fly.int_tuple<(?,1)>) -> f32
  %4 = fly.memref.load(%m, %c) : (!fly.memref<f32, global, (3,5):(5,1)>, !fly.int_tuple<(?,1)>) -> f32
  // CHECK: fly.memref.store(%f, %m, %c) : {{.*}} -> ()
  fly.memref.store(%f, %m, %c) : (f32, !fly.memref<f32, global, (3,5):(5,1)>, !fly.int_tuple<(?,1)>) -> ()
  // CHECK: %5 = fly.memref.load_vec(%m) : (!fly.memref<f32, global, (3,5):(5,1)>) -> vector<15xf32>
  %5 = fly.memref.load_vec(%m) : (!fly.memref<f32, global, (3,5):(5,1)>) -> vector<15xf32>
  // CHECK: %6 = fly.memref.load_vec(%t) : (!fly.coord_tensor<0, 4:2>) -> vector<4xi32>
  %6 = fly.memref.load_vec(%t) : (!fly.coord_tensor<0, 4:2>) -> vector<4xi32>
  // CHECK: fly.memref.store_vec(%vec, %m) : (vector<15xf32>, !fly.memref<f32, global, (3,5):(5,1)>) -> ()
  fly.memref.store_vec(%vec, %m) : (vector<15xf32>, !fly.memref<f32, global, (3,5):(5,1)>) -> ()
  // CHECK: fly.print("x = {}, \22b\22 = {}", %f, %b) : (f32, i1) -> ()
  fly.print("x = {}, \"b\" = {}", %f, %b) : (f32, i1) -> ()
  // CHECK: fly.print(%f) : (f32) -> ()
  fly.print(%f) : (f32) -> ()
  // CHECK: fly.assume(%b) : (i1) -> ()
  fly.assume(%b) : (i1) -> ()
  return
}

// What must hold before a kernel runs, and a value that is lowered for what it requires.
func.func @checks(%ok: i1, %n: i64, %l: !fly.layout<(?,4):(1,?)>) {
  // CHECK: fly.require("a step of 4 does not fit the mode of extent #0\0Achoose another tile", %ok, %n) : (i1, i64) -> ()
  fly.require("a step of 4 does not fit the mode of extent #0\0Achoose another tile", %ok, %n) : (i1, i64) -> ()
  // CHECK: fly.checked(%l) : (!fly.layout<(?,4):(1,?)>) -> ()
  fly.checked(%l) : (!fly.layout<(?,4):(1,?)>) -> ()
  return
}

func.func @under_a_mask(%row: !fly.memref<f32, global, 4:1>, %flags: vector<2xi1>, %v: vector<4xf32>) {
  // CHECK: %0 = fly.memref.masked_load_vec(%row, %flags, %v) {mask = array<i32: 0, 0, 1, 1>} : {{.*}} -> vector<4xf32>
  %0 = fly.memref.masked_load_vec(%row, %flags, %v) {mask = array<i32: 0, 0, 1, 1>} : (!fly.memref<f32, global, 4:1>, vector<2xi1>, vector<4xf32>) -> vector<4xf32>
  // CHECK: fly.memref.masked_store_vec(%0, %row, %flags) {mask = array<i32: 0, 0, 1, 1>} : {{.*}} -> ()
  fly.memref.masked_store_vec(%0, %row, %flags) {mask = array<i32: 0, 0, 1, 1>} : (vector<4xf32>, !fly.memref<f32, global, 4:1>, vector<2xi1>) -> ()
  return
}
