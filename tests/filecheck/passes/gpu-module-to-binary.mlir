// RUN: fly-opt --keep-names --gpu-module-to-binary %s | FileCheck %s
// RUN: fly-opt --keep-names --gpu-module-to-binary %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names --gpu-module-to-binary %s | mlir-opt --verify-each
// RUN: fly-opt --keep-names --gpu-module-to-binary=format=isa %s | FileCheck %s --check-prefix=ISA
// RUN: fly-opt --keep-names --pass-pipeline="builtin.module(gpu-module-to-binary{format=llvm})" %s | FileCheck %s --check-prefix=LLVM
// RUN: fly-opt --gpu-module-to-binary="format=fatbin opts='-v --time' toolkit=/opt/rocm section=.text" %s | FileCheck %s --check-prefix=FATBIN
// RUN: fly-opt --pass-pipeline="builtin.module(gpu-module-to-binary{format=fatbin opts={-v --time}})" %s | FileCheck %s --check-prefix=FATBIN
// RUN: not fly-opt --gpu-module-to-binary=format=elf %s 2>&1 | FileCheck %s --check-prefix=FORMAT

// FATBIN: gpu.binary @amd [#gpu.object<#rocdl.target<chip = "gfx942">, {{(fatbin = )?}}"\7FELF
// FORMAT: gpu-module-to-binary makes bin, fatbin, isa, llvm, {{.*}}, not 'elf'

// A linked code object for AMD, PTX for NVIDIA; assembly or LLVM text when asked for.
// CHECK: gpu.binary @amd [#gpu.object<#rocdl.target<chip = "gfx942">, bin = "\7FELF
// CHECK: gpu.binary @nvidia [#gpu.object<#nvvm.target<chip = "sm_90a">, assembly = "//
// CHECK-SAME: .visible .entry other(
// ISA: gpu.binary @amd [#gpu.object<#rocdl.target<chip = "gfx942">, assembly = "
// ISA-SAME: s_endpgm
// LLVM: gpu.binary @amd [#gpu.object<#rocdl.target<chip = "gfx942">, offload = "
// LLVM-SAME: define amdgpu_kernel void @empty()
gpu.module @amd [#rocdl.target<chip = "gfx942">] {
  llvm.func @empty() attributes {gpu.kernel, rocdl.kernel} {
    llvm.return
  }
}
gpu.module @nvidia [#nvvm.target<chip = "sm_90a">] {
  llvm.func @other() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
