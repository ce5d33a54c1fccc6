// RUN: fly-opt --keep-names --nvvm-attach-target %s | FileCheck %s
// RUN: fly-opt --keep-names --nvvm-attach-target="chip=sm_80 O=3" %s | FileCheck %s --check-prefix=OPTIONS
// RUN: fly-opt --keep-names --nvvm-attach-target %s | mlir-opt --verify-each

// CHECK: gpu.module @kernels [#nvvm.target<O = 2, chip = "sm_90a", features = "+ptx88">] {
// OPTIONS: gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx88">] {
gpu.module @kernels {
  gpu.func @k() kernel {
    gpu.return
  }
}
