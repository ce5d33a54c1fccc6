// RUN: fly-opt --keep-names --rocdl-attach-target %s | FileCheck %s
// RUN: fly-opt --keep-names --rocdl-attach-target="chip=gfx1201 O=3 features=+wavefrontsize64" %s | FileCheck %s --check-prefix=OPTIONS
// RUN: fly-opt --keep-names --pass-pipeline="builtin.module(rocdl-attach-target{chip=gfx950})" %s | FileCheck %s --check-prefix=PIPELINE
// RUN: fly-opt --rocdl-attach-target="chip=gfx90a triple=amdgcn-amd-amdhsa abi=600 O=1 features=+sramecc fast=true daz=true finite-only=true unsafe-math=true correct-sqrt=false wave64=false l=a.bc module=kern.*" %s | FileCheck %s --check-prefix=ALL
// RUN: fly-opt --rocdl-attach-target="fast=false daz=0 finite-only=false unsafe-math=false correct-sqrt=true wave64=1" %s | FileCheck %s
// RUN: not fly-opt --rocdl-attach-target="fast=maybe" %s 2>&1 | FileCheck %s --check-prefix=MAYBE
// RUN: not fly-opt --rocdl-attach-target="triple=nvptx64" %s 2>&1 | FileCheck %s --check-prefix=TRIPLE
// RUN: fly-opt --keep-names --rocdl-attach-target %s | mlir-opt --verify-each

// ALL: gpu.module @kernels [#rocdl.target<O = 1, chip = "gfx90a", features = "+sramecc", abi = "600", flags = {daz, fast, finite_only, no_wave64, unsafe_math, unsafe_sqrt}>] {
// MAYBE: the option fast is true or false, not 'maybe'
// TRIPLE: has the triple amdgcn-amd-amdhsa, not 'nvptx64'

// CHECK: gpu.module @kernels [#rocdl.target<O = 2, chip = "gfx942", abi = "500">] {
// OPTIONS: gpu.module @kernels [#rocdl.target<O = 3, chip = "gfx1201", features = "+wavefrontsize64", abi = "500">] {
// PIPELINE: gpu.module @kernels [#rocdl.target<O = 2, chip = "gfx950", abi = "500">] {
gpu.module @kernels {
  gpu.func @k() kernel {
    gpu.return
  }
}
