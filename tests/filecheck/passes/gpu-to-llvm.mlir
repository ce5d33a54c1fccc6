// RUN: fly-opt --keep-names --gpu-to-llvm %s | FileCheck %s
// RUN: fly-opt --keep-names --pass-pipeline="builtin.module(gpu-to-llvm{use-bare-pointers-for-host=true use-bare-pointers-for-kernels=true intersperse-sizes-for-kernels=false})" %s | FileCheck %s
// RUN: not fly-opt --gpu-to-llvm="use-bare-pointers=true" %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: pass 'gpu-to-llvm' takes no options, got use-bare-pointers=true

// A launch takes sizes of i64 and stays a launch, with its attributes.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    // CHECK: gpu.func @k(%x: f32) kernel {
    // CHECK-NEXT: gpu.return
    // CHECK-NEXT: }
    gpu.func @k(%x: f32) kernel {
      gpu.return
    }
  }
  // CHECK: func.func @launch(%n: index, %x: f32, %stream: !llvm.ptr) {
  // CHECK-NEXT: %one = arith.constant 1 : index
  // CHECK-NEXT: %0 = builtin.unrealized_conversion_cast %n : index to i64
  // CHECK-NEXT: %1 = builtin.unrealized_conversion_cast %one : index to i64
  // CHECK-NEXT: %2 = builtin.unrealized_conversion_cast %one : index to i64
  // CHECK-NEXT: %3 = builtin.unrealized_conversion_cast %one : index to i64
  // CHECK-NEXT: %4 = builtin.unrealized_conversion_cast %one : index to i64
  // CHECK-NEXT: %5 = builtin.unrealized_conversion_cast %one : index to i64
  // CHECK-NEXT: gpu.launch_func <%stream : !llvm.ptr> @kernels::@k blocks in (%0, %1, %2) threads in (%3, %4, %5) : i64 args(%x : f32) {fly.pdl}
  // CHECK-NEXT: func.return
  // CHECK-NEXT: }
  func.func @launch(%n: index, %x: f32, %stream: !llvm.ptr) {
    %one = arith.constant 1 : index
    gpu.launch_func <%stream : !llvm.ptr> @kernels::@k blocks in (%n, %one, %one) threads in (%one, %one, %one) args(%x : f32) {fly.pdl}
    return
  }
}
