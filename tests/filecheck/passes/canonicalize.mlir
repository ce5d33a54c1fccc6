// RUN: fly-opt --keep-names --canonicalize %s | FileCheck %s

// Repeated and unused pure operations go.
// CHECK-LABEL: func.func @pure(
// CHECK-SAME: %x: i32) -> (i32, i32) {
// CHECK-NEXT: %c = arith.constant 3 : i32
// CHECK-NEXT: %a = arith.addi %x, %c : i32
// CHECK-NEXT: func.return %a, %a : i32, i32
func.func @pure(%x: i32) -> (i32, i32) {
  %c = arith.constant 3 : i32
  %d = arith.constant 3 : i32
  %a = arith.addi %x, %c : i32
  %b = arith.addi %x, %d : i32
  %dead = arith.muli %a, %b : i32
  %more = arith.muli %dead, %b : i32
  return %a, %b : i32, i32
}

// A region uses what was computed around it, and keeps its own to itself.
// CHECK-LABEL: func.func @regions(
// CHECK-SAME: %c: i1, %x: i32) -> i32 {
// CHECK-NEXT: %a = arith.addi %x, %x : i32
// CHECK-NEXT: %r = scf.if %c -> (i32) {
// CHECK-NEXT: %d = arith.muli %a, %x : i32
// CHECK-NEXT: scf.yield %d : i32
// CHECK-NEXT: } else {
// CHECK-NEXT: %d_1 = arith.muli %a, %x : i32
// CHECK-NEXT: scf.yield %d_1 : i32
// CHECK-NEXT: }
// CHECK-NEXT: func.return %r : i32
func.func @regions(%c: i1, %x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  %r = scf.if %c -> (i32) {
    %b = arith.addi %x, %x : i32
    %d = arith.muli %b, %x : i32
    scf.yield %d : i32
  } else {
    %d = arith.muli %a, %x : i32
    scf.yield %d : i32
  }
  return %r : i32
}

// Memory is read again, and thread indices are asked for once; attributes tell operations apart.
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @effects(
  // CHECK-SAME: %p: !llvm.ptr<1>, %y: f32) kernel {
  // CHECK-NEXT: %t = gpu.thread_id x
  // CHECK-NEXT: %v = gpu.thread_id y
  // CHECK-NEXT: %i = arith.index_cast %t : index to i32
  // CHECK-NEXT: %k = arith.index_cast %v : index to i32
  // CHECK-NEXT: %q = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  // CHECK-NEXT: %a = llvm.load %q : !llvm.ptr<1> -> f32
  // CHECK-NEXT: llvm.store %y, %q : f32, !llvm.ptr<1>
  // CHECK-NEXT: %b = llvm.load %q : !llvm.ptr<1> -> f32
  // CHECK-NEXT: %s = arith.addf %a, %b : f32
  // CHECK-NEXT: %o = llvm.getelementptr %p[%k] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  // CHECK-NEXT: llvm.store %s, %o : f32, !llvm.ptr<1>
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: gpu.return
  gpu.func @effects(%p: !llvm.ptr<1>, %y: f32) kernel {
    %t = gpu.thread_id x
    %u = gpu.thread_id x
    %v = gpu.thread_id y
    %i = arith.index_cast %t : index to i32
    %j = arith.index_cast %u : index to i32
    %k = arith.index_cast %v : index to i32
    %q = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %r = llvm.getelementptr %p[%j] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %a = llvm.load %q : !llvm.ptr<1> -> f32
    llvm.store %y, %r : f32, !llvm.ptr<1>
    %b = llvm.load %r : !llvm.ptr<1> -> f32
    %s = arith.addf %a, %b : f32
    %o = llvm.getelementptr %p[%k] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %s, %o : f32, !llvm.ptr<1>
    gpu.barrier
    gpu.return
  }

  // A branch by a comparison of floats that only chooses is a selection; one that does more stays, and so does one by another condition.
  // CHECK-LABEL: gpu.func @choices
  // CHECK: %c = arith.cmpf olt, %x, %y : f32
  // CHECK: %one = arith.constant 1.000000e+00 : f32
  // CHECK: [[S:%.*]] = arith.select %c, %x, %one : f32
  // CHECK: scf.if %c -> (f32)
  // CHECK: scf.if %flag -> (f32)
  gpu.func @choices(%p: !llvm.ptr<1>, %x: f32, %y: f32, %flag: i1) kernel {
    %c = arith.cmpf olt, %x, %y : f32
    %s = scf.if %c -> (f32) {
      scf.yield %x : f32
    } else {
      %one = arith.constant 1.0 : f32
      scf.yield %one : f32
    }
    %t = scf.if %c -> (f32) {
      llvm.store %x, %p : f32, !llvm.ptr<1>
      scf.yield %x : f32
    } else {
      scf.yield %y : f32
    }
    %u = scf.if %flag -> (f32) {
      scf.yield %s : f32
    } else {
      scf.yield %t : f32
    }
    llvm.store %u, %p : f32, !llvm.ptr<1>
    gpu.return
  }
}
