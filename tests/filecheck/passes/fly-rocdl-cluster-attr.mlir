// RUN: fly-opt --keep-names --fly-rocdl-cluster-attr %s | FileCheck %s

gpu.module @kernels {
  // CHECK: llvm.func @clustered() attributes {gpu.kernel, passthrough = {{\[\[}}"amdgpu-cluster-dims", "2,2,1"]]} {
  // CHECK-NEXT: llvm.return
  // CHECK-NEXT: }
  llvm.func @clustered() attributes {gpu.kernel, fly.cluster = "2,2,1"} {
    llvm.return
  }
  // CHECK: llvm.func @plain() attributes {gpu.kernel} {
  // CHECK-NEXT: llvm.return
  // CHECK-NEXT: }
  llvm.func @plain() attributes {gpu.kernel} {
    llvm.return
  }
}
