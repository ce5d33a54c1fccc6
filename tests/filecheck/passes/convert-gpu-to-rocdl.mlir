// RUN: fly-opt --keep-names --convert-gpu-to-rocdl %s | FileCheck %s
// RUN: fly-opt --keep-names --convert-gpu-to-rocdl="chipset=gfx942 index-bitwidth=64 runtime=HIP use-bare-ptr-memref-call-conv=true" %s | FileCheck %s

gpu.module @kernels {
  // Everything in the module goes to llvm and rocdl, and the kernel's block size to attributes LLVM reads.
  // CHECK: llvm.func @indices(%p: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel, gpu.known_block_size = array<i32: 64, 1, 1>, rocdl.reqd_work_group_size = array<i32: 64, 1, 1>, passthrough = ["nounwind", ["amdgpu-flat-work-group-size", "64,64"], ["uniform-work-group-size", "true"]]} {
  // CHECK-NEXT: %d = llvm.mlir.constant(64) : i64
  // CHECK-NEXT: %0 = "rocdl.workitem.id.x"() : () -> i32
  // CHECK-NEXT: %t = llvm.zext %0 : i32 to i64
  // CHECK-NEXT: %1 = "rocdl.workgroup.id.y"() : () -> i32
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

  // A barrier orders the workgroup's memory; a shuffle goes through ds_bpermute; intrinsics pass through.
  // CHECK: llvm.func @lanes(%p_1: !llvm.ptr<3>, %x: f32) attributes {gpu.kernel, rocdl.kernel, passthrough = ["nounwind", ["amdgpu-flat-work-group-size", "1,1024"], ["uniform-work-group-size", "true"]]} {
  // CHECK-NEXT: %one = llvm.mlir.constant(1 : i32) : i32
  // CHECK-NEXT: %width = llvm.mlir.constant(64 : i32) : i32
  // CHECK-NEXT: %2 = llvm.mlir.constant(-1 : i32) : i32
  // CHECK-NEXT: %3 = llvm.mlir.constant(0 : i32) : i32
  // CHECK-NEXT: %4 = llvm.mlir.constant(2 : i32) : i32
  // CHECK-NEXT: "llvm.fence"() <{syncscope = "workgroup", ordering = 5 : i64}> : () -> ()
  // CHECK-NEXT: "rocdl.s.barrier"() : () -> ()
  // CHECK-NEXT: "llvm.fence"() <{syncscope = "workgroup", ordering = 4 : i64}> : () -> ()
  // CHECK-NEXT: %5 = "rocdl.mbcnt.lo"(%2, %3) : (i32, i32) -> i32
  // CHECK-NEXT: %6 = "rocdl.mbcnt.hi"(%2, %5) : (i32, i32) -> i32
  // CHECK-NEXT: %7 = llvm.sub %width, %one : i32
  // CHECK-NEXT: %8 = llvm.and %6, %7 : i32
  // CHECK-NEXT: %9 = llvm.sub %6, %8 : i32
  // CHECK-NEXT: %10 = llvm.xor %8, %one : i32
  // CHECK-NEXT: %valid = llvm.icmp "ult" %10, %width : i32
  // CHECK-NEXT: %11 = llvm.select %valid, %10, %8 : i1, i32
  // CHECK-NEXT: %12 = llvm.add %9, %11 : i32
  // CHECK-NEXT: %13 = llvm.shl %12, %4 : i32
  // CHECK-NEXT: %14 = llvm.bitcast %x : f32 to i32
  // CHECK-NEXT: %15 = "rocdl.ds_bpermute"(%13, %14) : (i32, i32) -> i32
  // CHECK-NEXT: %y = llvm.bitcast %15 : i32 to f32
  // CHECK-NEXT: %z = llvm.call_intrinsic "llvm.amdgcn.rcp.f32"(%y) : (f32) -> f32
  // CHECK-NEXT: llvm.store %z, %p_1 : f32, !llvm.ptr<3>
  // CHECK-NEXT: llvm.return
  // CHECK-NEXT: }
  gpu.func @lanes(%p: !llvm.ptr<3>, %x: f32) kernel {
    %one = arith.constant 1 : i32
    %width = arith.constant 64 : i32
    gpu.barrier
    %y, %valid = "gpu.shuffle"(%x, %one, %width) <{mode = #gpu<shuffle_mode xor>}> : (f32, i32, i32) -> (f32, i1)
    %z = llvm.call_intrinsic "llvm.amdgcn.rcp.f32"(%y) : (f32) -> f32
    llvm.store %z, %p : f32, !llvm.ptr<3>
    gpu.return
  }
}
