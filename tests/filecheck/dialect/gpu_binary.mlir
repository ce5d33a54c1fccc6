// RUN: fly-opt %s | FileCheck %s
// RUN: fly-opt %s | fly-opt | FileCheck %s
// RUN: fly-opt --print-op-generic %s | fly-opt | FileCheck %s
// RUN: fly-opt %s | mlir-opt | FileCheck %s --check-prefix=UPSTREAM

// Text and bytes that are no text.
// CHECK: gpu.binary @compiled [#gpu.object<#rocdl.target<chip = "gfx942">, bin = "\7FELF\FF">, #gpu.object<#nvvm.target<chip = "sm_90a">, assembly = ".version 8.8\0A">]
// UPSTREAM: gpu.binary @compiled {{.*}}bin = "\7FELF\FF"
gpu.binary @compiled [#gpu.object<#rocdl.target<chip = "gfx942">, bin = "\7FELF\FF">, #gpu.object<#nvvm.target<chip = "sm_90a">, assembly = ".version 8.8\0A">]
