// RUN: fly-opt --fly-int-swizzle-simplify %s | FileCheck %s

// The mask 448 has six zeros and three ones: the swizzle repeats every 512.
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @constant(
  // CHECK: %[[B:.*]] = arith.andi %arg0, %c448_i32 : i32
  // CHECK-NEXT: %[[S:.*]] = arith.shrsi %[[B]], %c3_i32 : i32
  // CHECK-NEXT: %[[X:.*]] = arith.xori %arg0, %[[S]] : i32
  // CHECK-NEXT: %[[R:.*]] = arith.addi %[[X]], %c1024_i32 : i32
  // CHECK-NEXT: memref.store %[[R]]
  gpu.func @constant(%x: i32, %out: memref<1xi32>) kernel {
    %i0 = arith.constant 0 : index
    %c1024 = arith.constant 1024 : i32
    %mask = arith.constant 448 : i32
    %c3 = arith.constant 3 : i32
    %i = arith.addi %x, %c1024 : i32
    %a = arith.andi %i, %mask : i32
    %s = arith.shrsi %a, %c3 : i32
    %r = arith.xori %i, %s : i32
    memref.store %r, %out[%i0] : memref<1xi32>
    gpu.return
  }

  // What multiplies and shifts make divisible, and what a tuple says of a value; the rest stays inside, in its order.
  // CHECK-LABEL: gpu.func @divisible(
  // CHECK: %[[M:.*]] = arith.muli %arg0, %c256_i64 : i64
  // CHECK: %[[D:.*]] = arith.shli %[[M]], %c1_i64 : i64
  // CHECK: %[[REST:.*]] = arith.addi %arg1, %c8_i64 : i64
  // CHECK-NEXT: %[[B:.*]] = arith.andi %[[REST]], %c448_i64 : i64
  // CHECK-NEXT: %[[S:.*]] = arith.shrui %[[B]], %c3_i64 : i64
  // CHECK-NEXT: %[[X:.*]] = arith.xori %[[REST]], %[[S]] : i64
  // CHECK-NEXT: %[[P:.*]] = arith.addi %[[X]], %[[D]] : i64
  // CHECK-NEXT: %[[Q:.*]] = arith.addi %[[P]], %arg2 : i64
  // CHECK-NEXT: memref.store %[[Q]]
  gpu.func @divisible(%x: i64, %y: i64, %z: i64, %out: memref<1xi64>) kernel {
    %i0 = arith.constant 0 : index
    %c1 = arith.constant 1 : i64
    %c8 = arith.constant 8 : i64
    %c256 = arith.constant 256 : i64
    %mask = arith.constant 448 : i64
    %c3 = arith.constant 3 : i64
    %t = fly.make_int_tuple(%z) : (i64) -> !fly.int_tuple<?{i64 div=512}>
    %m = arith.muli %x, %c256 : i64
    %d = arith.shli %m, %c1 : i64
    %e = arith.addi %d, %y : i64
    %f = arith.addi %e, %c8 : i64
    %i = arith.addi %f, %z : i64
    %a = arith.andi %i, %mask : i64
    %s = arith.shrui %a, %c3 : i64
    %r = arith.xori %i, %s : i64
    memref.store %r, %out[%i0] : memref<1xi64>
    gpu.return
  }

  // Nothing is left inside: the swizzle of zero is zero. A choice between multiples is one.
  // CHECK-LABEL: gpu.func @all(
  // CHECK: %[[C:.*]] = arith.select
  // CHECK: %[[Z:.*]] = arith.constant 0 : i32
  // CHECK-NEXT: %[[R:.*]] = arith.addi %[[Z]], %[[C]] : i32
  // CHECK-NEXT: memref.store %[[R]]
  gpu.func @all(%c: i1, %out: memref<1xi32>) kernel {
    %i0 = arith.constant 0 : index
    %c512 = arith.constant 512 : i32
    %c1536 = arith.constant 1536 : i32
    %mask = arith.constant 448 : i32
    %c3 = arith.constant 3 : i32
    %i = arith.select %c, %c512, %c1536 : i32
    %a = arith.andi %i, %mask : i32
    %s = arith.shrsi %a, %c3 : i32
    %r = arith.xori %i, %s : i32
    memref.store %r, %out[%i0] : memref<1xi32>
    gpu.return
  }

  // Left alone: 256 is half a period, and 320 is no run of bits.
  // CHECK-LABEL: gpu.func @stays(
  // CHECK: %[[I:.*]] = arith.addi %arg0, %c256_i32 : i32
  // CHECK: arith.andi %[[I]], %c448_i32
  // CHECK: arith.xori %[[I]]
  // CHECK: %[[J:.*]] = arith.addi %arg0, %c512_i32 : i32
  // CHECK: arith.andi %[[J]], %c320_i32
  // CHECK: arith.xori %[[J]]
  gpu.func @stays(%x: i32, %out: memref<1xi32>) kernel {
    %i0 = arith.constant 0 : index
    %c256 = arith.constant 256 : i32
    %c512 = arith.constant 512 : i32
    %mask = arith.constant 448 : i32
    %gap = arith.constant 320 : i32
    %c3 = arith.constant 3 : i32
    %i = arith.addi %x, %c256 : i32
    %a = arith.andi %i, %mask : i32
    %s = arith.shrsi %a, %c3 : i32
    %r = arith.xori %i, %s : i32
    memref.store %r, %out[%i0] : memref<1xi32>
    %j = arith.addi %x, %c512 : i32
    %b = arith.andi %j, %gap : i32
    %t = arith.shrsi %b, %c3 : i32
    %q = arith.xori %j, %t : i32
    memref.store %q, %out[%i0] : memref<1xi32>
    gpu.return
  }
}
