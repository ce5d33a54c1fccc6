// RUN: fly-opt --keep-names --as-compiled --fly-int-swizzle-simplify --canonicalize %s | FileCheck %s

// Indices that differ by a constant share the swizzle S<3,3,3>: 8 meets its bits, 3 stays below them, on either
// side of the sum. 80 has bit 6, which 64 * x may have too: that one stays.
// CHECK-LABEL: func.func @shared(
// CHECK-SAME: %x: i32) -> (i32, i32, i32, i32) {
// CHECK-NEXT: %c8 = arith.constant 8 : i32
// CHECK-NEXT: %c3 = arith.constant 3 : i32
// CHECK-NEXT: %c6 = arith.constant 6 : i32
// CHECK-NEXT: %c80 = arith.constant 80 : i32
// CHECK-NEXT: %mask = arith.constant 448 : i32
// CHECK-NEXT: %i0 = arith.shli %x, %c6 : i32
// CHECK-NEXT: %a0 = arith.andi %i0, %mask : i32
// CHECK-NEXT: %s0 = arith.shrsi %a0, %c3 : i32
// CHECK-NEXT: %r0 = arith.xori %i0, %s0 : i32
// CHECK-NEXT: %r1 = arith.xori %r0, %c8 : i32
// CHECK-NEXT: %r2 = arith.addi %r0, %c3 overflow<nsw,nuw> : i32
// CHECK-NEXT: %i3 = arith.addi %i0, %c80 : i32
// CHECK-NEXT: %a3 = arith.andi %i3, %mask : i32
// CHECK-NEXT: %s3 = arith.shrsi %a3, %c3 : i32
// CHECK-NEXT: %r3 = arith.xori %i3, %s3 : i32
// CHECK-NEXT: func.return %r0, %r1, %r2, %r3 : i32, i32, i32, i32
func.func @shared(%x: i32) -> (i32, i32, i32, i32) {
  %c6 = arith.constant 6 : i32
  %c3 = arith.constant 3 : i32
  %c8 = arith.constant 8 : i32
  %c80 = arith.constant 80 : i32
  %mask = arith.constant 448 : i32
  %i0 = arith.shli %x, %c6 : i32
  %a0 = arith.andi %i0, %mask : i32
  %s0 = arith.shrsi %a0, %c3 : i32
  %r0 = arith.xori %i0, %s0 : i32
  %i1 = arith.addi %i0, %c8 : i32
  %a1 = arith.andi %i1, %mask : i32
  %s1 = arith.shrsi %a1, %c3 : i32
  %r1 = arith.xori %i1, %s1 : i32
  %i2 = arith.addi %c3, %i0 : i32
  %a2 = arith.andi %i2, %mask : i32
  %s2 = arith.shrsi %a2, %c3 : i32
  %r2 = arith.xori %i2, %s2 : i32
  %i3 = arith.addi %i0, %c80 : i32
  %a3 = arith.andi %i3, %mask : i32
  %s3 = arith.shrsi %a3, %c3 : i32
  %r3 = arith.xori %i3, %s3 : i32
  return %r0, %r1, %r2, %r3 : i32, i32, i32, i32
}

// 80 has bits 6 and 4: known to be zero in 128 * x, so 80 goes through as swz(80) = 80 ^ (64 >> 3) = 88.
// CHECK-LABEL: func.func @constant_is_swizzled_too(
// CHECK-SAME: %x: i32) -> i32 {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.constant 88 : i32
// CHECK-NEXT: %c7 = arith.constant 7 : i32
// CHECK-NEXT: %c3 = arith.constant 3 : i32
// CHECK-NEXT: %mask = arith.constant 448 : i32
// CHECK-NEXT: %i0 = arith.shli %x, %c7 : i32
// CHECK-NEXT: [[V1:%[0-9]+]] = arith.andi %i0, %mask : i32
// CHECK-NEXT: [[V2:%[0-9]+]] = arith.shrsi [[V1]], %c3 : i32
// CHECK-NEXT: [[V3:%[0-9]+]] = arith.xori %i0, [[V2]] : i32
// CHECK-NEXT: %r1 = arith.xori [[V3]], [[V0]] : i32
// CHECK-NEXT: func.return %r1 : i32
func.func @constant_is_swizzled_too(%x: i32) -> i32 {
  %c7 = arith.constant 7 : i32
  %c3 = arith.constant 3 : i32
  %c80 = arith.constant 80 : i32
  %mask = arith.constant 448 : i32
  %i0 = arith.shli %x, %c7 : i32
  %i1 = arith.addi %i0, %c80 : i32
  %a1 = arith.andi %i1, %mask : i32
  %s1 = arith.shrsi %a1, %c3 : i32
  %r1 = arith.xori %i1, %s1 : i32
  return %r1 : i32
}

// Nothing is known of x: the sum may carry, and the swizzle stays where it is.
// CHECK-LABEL: func.func @carries(
// CHECK-SAME: %x: i32) -> i32 {
// CHECK-NEXT: %c3 = arith.constant 3 : i32
// CHECK-NEXT: %c8 = arith.constant 8 : i32
// CHECK-NEXT: %mask = arith.constant 448 : i32
// CHECK-NEXT: %i1 = arith.addi %x, %c8 : i32
// CHECK-NEXT: %a1 = arith.andi %i1, %mask : i32
// CHECK-NEXT: %s1 = arith.shrsi %a1, %c3 : i32
// CHECK-NEXT: %r1 = arith.xori %i1, %s1 : i32
// CHECK-NEXT: func.return %r1 : i32
func.func @carries(%x: i32) -> i32 {
  %c3 = arith.constant 3 : i32
  %c8 = arith.constant 8 : i32
  %mask = arith.constant 448 : i32
  %i1 = arith.addi %x, %c8 : i32
  %a1 = arith.andi %i1, %mask : i32
  %s1 = arith.shrsi %a1, %c3 : i32
  %r1 = arith.xori %i1, %s1 : i32
  return %r1 : i32
}

// What is known is followed through masks, sums, products and widenings.
// CHECK-LABEL: func.func @known(
// CHECK-SAME: %x: i32, %y: i32) -> i64 {
// CHECK-NEXT: %three = arith.constant 3 : i64
// CHECK-NEXT: %c12 = arith.constant 12 : i32
// CHECK-NEXT: %c16 = arith.constant 16 : i32
// CHECK-NEXT: %c2 = arith.constant 2 : i64
// CHECK-NEXT: %mask = arith.constant 48 : i64
// CHECK-NEXT: %a = arith.andi %x, %c12 : i32
// CHECK-NEXT: %b = arith.muli %y, %c16 : i32
// CHECK-NEXT: %s = arith.addi %a, %b : i32
// CHECK-NEXT: %w = arith.extsi %s : i32 to i64
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.andi %w, %mask : i64
// CHECK-NEXT: [[V1:%[0-9]+]] = arith.shrsi [[V0]], %c2 : i64
// CHECK-NEXT: [[V2:%[0-9]+]] = arith.xori %w, [[V1]] : i64
// CHECK-NEXT: %r = arith.addi [[V2]], %three overflow<nsw,nuw> : i64
// CHECK-NEXT: func.return %r : i64
func.func @known(%x: i32, %y: i32) -> i64 {
  %c12 = arith.constant 12 : i32
  %c15 = arith.constant 15 : i32
  %c16 = arith.constant 16 : i32
  %c2 = arith.constant 2 : i64
  %three = arith.constant 3 : i64
  %mask = arith.constant 48 : i64
  %a = arith.andi %x, %c12 : i32
  %b = arith.muli %y, %c16 : i32
  %s = arith.addi %a, %b : i32
  %w = arith.extsi %s : i32 to i64
  %i = arith.addi %w, %three : i64
  %m = arith.andi %i, %mask : i64
  %t = arith.shrsi %m, %c2 : i64
  %r = arith.xori %i, %t : i64
  return %r : i64
}

// A swizzle of an index that has no source bits, and one that shifts left.
// CHECK-LABEL: func.func @gone_and_left(
// CHECK-SAME: %x: i32) -> (i32, i32) {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.constant 9 : i32
// CHECK-NEXT: %c7 = arith.constant 7 : i32
// CHECK-NEXT: %c6 = arith.constant 6 : i32
// CHECK-NEXT: %i = arith.andi %x, %c7 : i32
// CHECK-NEXT: %j = arith.shli %x, %c6 : i32
// CHECK-NEXT: %q = arith.addi %j, [[V0]] overflow<nsw,nuw> : i32
// CHECK-NEXT: func.return %i, %q : i32, i32
func.func @gone_and_left(%x: i32) -> (i32, i32) {
  %c7 = arith.constant 7 : i32
  %c3 = arith.constant 3 : i32
  %c6 = arith.constant 6 : i32
  %c1 = arith.constant 1 : i32
  %mask = arith.constant 448 : i32
  %i = arith.andi %x, %c7 : i32
  %a = arith.andi %i, %mask : i32
  %s = arith.shrsi %a, %c3 : i32
  %r = arith.xori %i, %s : i32
  %j = arith.shli %x, %c6 : i32
  %k = arith.addi %j, %c1 : i32
  %b = arith.andi %k, %c7 : i32
  %t = arith.shli %b, %c3 : i32
  %q = arith.xori %k, %t : i32
  return %r, %q : i32, i32
}

// Folded on the way, wherever it comes from.
// CHECK-LABEL: func.func @identities(
// CHECK-SAME: %x: i32) -> (i32, i32, i32) {
// CHECK-NEXT: %c12 = arith.constant 12 : i32
// CHECK-NEXT: %c = arith.andi %x, %c12 : i32
// CHECK-NEXT: func.return %x, %x, %c : i32, i32, i32
func.func @identities(%x: i32) -> (i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c12 = arith.constant 12 : i32
  %c15 = arith.constant 15 : i32
  %a = arith.xori %x, %c0 : i32
  %b = arith.shli %x, %c0 : i32
  %c = arith.andi %x, %c12 : i32
  %d = arith.andi %c, %c15 : i32
  return %a, %b, %d : i32, i32, i32
}

// Shifts that mean nothing say nothing of the bits, and stay.
// CHECK-LABEL: func.func @meaningless(
// CHECK-SAME: %x: i32) -> (i32, i32) {
// CHECK-NEXT: %c = arith.constant -1 : i32
// CHECK-NEXT: %d = arith.constant 40 : i32
// CHECK-NEXT: %m = arith.constant 7 : i32
// CHECK-NEXT: %a = arith.shli %x, %c : i32
// CHECK-NEXT: %b = arith.andi %a, %m : i32
// CHECK-NEXT: %e = arith.shrsi %x, %d : i32
// CHECK-NEXT: %f = arith.andi %e, %m : i32
// CHECK-NEXT: func.return %b, %f : i32, i32
func.func @meaningless(%x: i32) -> (i32, i32) {
  %c = arith.constant -1 : i32
  %d = arith.constant 40 : i32
  %m = arith.constant 7 : i32
  %a = arith.shli %x, %c : i32
  %b = arith.andi %a, %m : i32
  %e = arith.shrsi %x, %d : i32
  %f = arith.andi %e, %m : i32
  return %b, %f : i32, i32
}

// What lies above the swizzle goes through it whatever the index is, and through several sums; what carries below stays.
// CHECK-LABEL: func.func @above(
// CHECK-SAME: %x: i32) -> (i32, i32) {
// CHECK-NEXT: [[V0:%[0-9]+]] = arith.constant 6144 : i32
// CHECK-NEXT: [[V1:%[0-9]+]] = arith.constant 8 : i32
// CHECK-NEXT: %c4096 = arith.constant 4096 : i32
// CHECK-NEXT: %c3 = arith.constant 3 : i32
// CHECK-NEXT: %mask = arith.constant 448 : i32
// CHECK-NEXT: [[V2:%[0-9]+]] = arith.andi %x, %mask : i32
// CHECK-NEXT: [[V3:%[0-9]+]] = arith.shrsi [[V2]], %c3 : i32
// CHECK-NEXT: [[V4:%[0-9]+]] = arith.xori %x, [[V3]] : i32
// CHECK-NEXT: %p = arith.addi [[V4]], [[V0]] : i32
// CHECK-NEXT: [[V5:%[0-9]+]] = arith.addi %x, [[V1]] : i32
// CHECK-NEXT: [[V6:%[0-9]+]] = arith.andi [[V5]], %mask : i32
// CHECK-NEXT: [[V7:%[0-9]+]] = arith.shrsi [[V6]], %c3 : i32
// CHECK-NEXT: [[V8:%[0-9]+]] = arith.xori [[V5]], [[V7]] : i32
// CHECK-NEXT: %q = arith.addi [[V8]], %c4096 : i32
// CHECK-NEXT: func.return %p, %q : i32, i32
func.func @above(%x: i32) -> (i32, i32) {
  %c3 = arith.constant 3 : i32
  %c2048 = arith.constant 2048 : i32
  %c4096 = arith.constant 4096 : i32
  %c4104 = arith.constant 4104 : i32
  %mask = arith.constant 448 : i32
  %i = arith.addi %x, %c2048 : i32
  %j = arith.addi %c4096, %i : i32
  %a = arith.andi %j, %mask : i32
  %b = arith.shrsi %a, %c3 : i32
  %p = arith.xori %j, %b : i32
  %k = arith.addi %x, %c4104 : i32
  %c = arith.andi %k, %mask : i32
  %d = arith.shrsi %c, %c3 : i32
  %q = arith.xori %k, %d : i32
  return %p, %q : i32, i32
}
