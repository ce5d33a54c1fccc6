// RUN: fly-opt --keep-names --convert-gpu-to-nvvm %s | FileCheck %s

gpu.module @kernels {
  // Everything in the module goes to llvm and nvvm.
  // CHECK: llvm.func @indices(%p: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel, gpu.known_block_size = array<i32: 64, 1, 1>, nvvm.reqntid = array<i32: 64, 1, 1>, passthrough = ["nounwind"]} {
  // CHECK-NEXT: %d = llvm.mlir.constant(64) : i64
  // CHECK-NEXT: %0 = "nvvm.read.ptx.sreg.tid.x"() : () -> i32
  // CHECK-NEXT: %t = llvm.zext %0 : i32 to i64
  // CHECK-NEXT: %1 = "nvvm.read.ptx.sreg.ctaid.y"() : () -> i32
  // CHECK-NEXT: %b = llvm.zext %1 : i32 to i64
  // CHECK-NEXT: %s = llvm.mul %b, %d : i64
  // CHECK-NEXT: %i = llvm.add %s, %t : i64
  // CHECK-NEXT: %q = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i64
  // CHECK-NEXT: llvm.store %i, %q : i64, !llvm.ptr<1>
  // CHECK-NEXT: llvm.return
  // CHECK-NEXT: }
  gpu.func @indices(%p: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %b = gpu.block_id y
    %d = gpu.block_dim x
    %s = arith.muli %b, %d : index
    %i = arith.addi %s, %t : index
    %j = arith.index_cast %i : index to i64
    %q = llvm.getelementptr %p[%j] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i64
    llvm.store %j, %q : i64, !llvm.ptr<1>
    gpu.return
  }

  // Local memory is allocated in the generic space, which is the only one PTX allocates in.
  // CHECK: llvm.func @local(%x: f32) attributes {gpu.kernel, nvvm.kernel, passthrough = ["nounwind"]} {
  // CHECK-NEXT: %one = llvm.mlir.constant(1) : i64
  // CHECK-NEXT: %2 = llvm.mlir.constant(0 : i32) : i32
  // CHECK-NEXT: %3 = llvm.alloca %one x f32 {alignment = 4 : i64} : (i64) -> !llvm.ptr
  // CHECK-NEXT: %slot = "llvm.addrspacecast"(%3) : (!llvm.ptr) -> !llvm.ptr<5>
  // CHECK-NEXT: llvm.store %x, %slot : f32, !llvm.ptr<5>
  // CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%2) : (i32) -> ()
  // CHECK-NEXT: llvm.return
  // CHECK-NEXT: }
  gpu.func @local(%x: f32) kernel {
    %one = arith.constant 1 : i64
    %slot = llvm.alloca %one x f32 {alignment = 4 : i64} : (i64) -> !llvm.ptr<5>
    llvm.store %x, %slot : f32, !llvm.ptr<5>
    gpu.barrier
    gpu.return
  }
}
