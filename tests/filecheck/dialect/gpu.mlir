// RUN: fly-opt --keep-names %s | FileCheck %s
// RUN: fly-opt --keep-names %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names --print-op-generic %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names %s | mlir-opt | FileCheck %s --check-prefix=UPSTREAM
// RUN: fly-opt --keep-names --print-op-generic %s | mlir-opt | FileCheck %s --check-prefix=UPSTREAM

// The gpu operations we emit, in the syntax upstream has for them: both tools read either form.

module attributes {gpu.container_module} {
  // CHECK: gpu.module @kernels {
  // UPSTREAM: gpu.module @kernels {
  gpu.module @kernels {
    // CHECK-NEXT: gpu.func @k(%a: !llvm.ptr<1>, %b: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, rocdl.waves_per_eu = 2 : i32} {
    // UPSTREAM: gpu.func @k(%{{.*}}: !llvm.ptr<1>, %{{.*}}: i32) kernel attributes {{.*}}rocdl.waves_per_eu = 2 : i32} {
    gpu.func @k(%a: !llvm.ptr<1>, %b: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, rocdl.waves_per_eu = 2 : i32} {
      // CHECK-NEXT: %t = gpu.thread_id x
      // CHECK-NEXT: %i = gpu.block_id y
      // CHECK-NEXT: %d = gpu.block_dim z
      // CHECK-NEXT: %g = gpu.grid_dim x
      // CHECK-NEXT: %w = gpu.global_id x
      // CHECK-NEXT: gpu.barrier
      // CHECK-NEXT: gpu.return
      // UPSTREAM: gpu.thread_id{{ +}}x
      // UPSTREAM: gpu.barrier
      %t = gpu.thread_id x
      %i = gpu.block_id y
      %d = gpu.block_dim z
      %g = gpu.grid_dim x
      %w = gpu.global_id x
      gpu.barrier
      gpu.return
    }
    // CHECK: gpu.func @helper(%x: f32) -> (f32) {
    // CHECK-NEXT: gpu.return %x : f32
    // UPSTREAM: gpu.func @helper(%{{.*}}: f32) -> f32 {
    gpu.func @helper(%x: f32) -> f32 {
      gpu.return %x : f32
    }
  }
  // CHECK: gpu.module @empty attributes {note = 1 : i32} {
  gpu.module @empty attributes {note = 1 : i32} {
  }
  // CHECK: gpu.module @targeted [#rocdl.target<O = 3, chip = "gfx942">, #nvvm.target<chip = "sm_90a", features = "+ptx88">] {
  // UPSTREAM: gpu.module @targeted [#rocdl.target<O = 3, chip = "gfx942">, #nvvm.target<chip = "sm_90a", features = "+ptx88">] {
  gpu.module @targeted [#rocdl.target<O = 3, chip = "gfx942">, #nvvm.target<chip = "sm_90a", features = "+ptx88">] {
  }
  func.func @launch(%p: !llvm.ptr<1>, %n: index, %b: i32, %s: !llvm.ptr) {
    // CHECK: gpu.launch_func <%s : !llvm.ptr> @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) dynamic_shared_memory_size %b args(%p : !llvm.ptr<1>, %b : i32)
    // UPSTREAM: gpu.launch_func <%{{.*}} : !llvm.ptr> @kernels::@k blocks in {{.*}} dynamic_shared_memory_size {{.*}} args(
    gpu.launch_func <%s : !llvm.ptr> @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) dynamic_shared_memory_size %b args(%p : !llvm.ptr<1>, %b : i32)
    // CHECK: gpu.launch_func @kernels::@k clusters in (%b, %b, %b) blocks in (%b, %b, %b) threads in (%b, %b, %b) : i32 args(%p : !llvm.ptr<1>, %b : i32) {fly.pdl, note}
    // UPSTREAM: gpu.launch_func {{.*}} {fly.pdl, note}
    gpu.launch_func @kernels::@k clusters in (%b, %b, %b) blocks in (%b, %b, %b) threads in (%b, %b, %b) : i32 args(%p : !llvm.ptr<1>, %b : i32) {fly.pdl, note}
    return
  }
}
