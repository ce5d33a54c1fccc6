// RUN: fly-opt --keep-names --rocdl-attach-target %s | FileCheck %s
// RUN: fly-opt --keep-names --rocdl-attach-target="chip=gfx1201 O=3 features=+wavefrontsize64" %s | FileCheck %s --check-prefix=OPTIONS
// RUN: fly-opt --keep-names --pass-pipeline="builtin.module(rocdl-attach-target{chip=gfx950})" %s | FileCheck %s --check-prefix=PIPELINE
// RUN: fly-opt --keep-names --rocdl-attach-target %s | mlir-opt --verify-each

// CHECK: gpu.module @kernels [#rocdl.target<O = 2, chip = "gfx942", abi = "500">] {
// OPTIONS: gpu.module @kernels [#rocdl.target<O = 3, chip = "gfx1201", features = "+wavefrontsize64", abi = "500">] {
// PIPELINE: gpu.module @kernels [#rocdl.target<O = 2, chip = "gfx950", abi = "500">] {
gpu.module @kernels {
  gpu.func @k() kernel {
    gpu.return
  }
}
