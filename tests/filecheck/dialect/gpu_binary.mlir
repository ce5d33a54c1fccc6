// RUN: fly-opt --keep-names %s | FileCheck %s
// RUN: fly-opt --keep-names %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names --print-op-generic %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names %s | mlir-opt | FileCheck %s --check-prefix=UPSTREAM

// Text and bytes that are no text.
// CHECK: gpu.binary @compiled [#gpu.object<#rocdl.target<chip = "gfx942">, bin = "\7FELF\FF">, #gpu.object<#nvvm.target<chip = "sm_90a">, assembly = ".version 8.8\0A">]
// UPSTREAM: gpu.binary @compiled {{.*}}bin = "\7FELF\FF"
gpu.binary @compiled [#gpu.object<#rocdl.target<chip = "gfx942">, bin = "\7FELF\FF">, #gpu.object<#nvvm.target<chip = "sm_90a">, assembly = ".version 8.8\0A">]
