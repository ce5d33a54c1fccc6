// RUN: fly-opt --fly-canonicalize %s | FileCheck %s
// RUN: fly-opt --canonicalize %s | FileCheck %s --check-prefix=STRUCTS
// RUN: fly-opt --fly-canonicalize %s | fly-opt --fly-canonicalize | FileCheck %s

// Static tuples are made of nothing, static layouts of two such tuples; the rest stays `fly.static`.
// CHECK-LABEL: func.func @static(
// CHECK-NEXT: %[[T:.*]] = fly.make_int_tuple() : () -> !fly.int_tuple<(3,5)>
// CHECK-NEXT: %[[S:.*]] = fly.make_int_tuple() : () -> !fly.int_tuple<(4,8)>
// CHECK-NEXT: %[[D:.*]] = fly.make_int_tuple() : () -> !fly.int_tuple<(1,4)>
// CHECK-NEXT: %[[L:.*]] = fly.make_layout(%[[S]], %[[D]]) : (!fly.int_tuple<(4,8)>, !fly.int_tuple<(1,4)>) -> !fly.layout<(4,8):(1,4)>
// CHECK-NEXT: %[[Z:.*]] = fly.static : !fly.swizzle<S<3,3,3>>
// CHECK-NEXT: %[[N:.*]] = fly.make_int_tuple() : () -> !fly.int_tuple<32>
// CHECK-NEXT: return %[[T]], %[[L]], %[[N]], %[[Z]]
func.func @static() -> (!fly.int_tuple<(3,5)>, !fly.layout<(4,8):(1,4)>, !fly.int_tuple<32>, !fly.swizzle<S<3,3,3>>) {
  %t = fly.static : !fly.int_tuple<(3,5)>
  %l = fly.static : !fly.layout<(4,8):(1,4)>
  %z = fly.static : !fly.swizzle<S<3,3,3>>
  %n = fly.size(%l) : (!fly.layout<(4,8):(1,4)>) -> !fly.int_tuple<32>
  return %t, %l, %n, %z : !fly.int_tuple<(3,5)>, !fly.layout<(4,8):(1,4)>, !fly.int_tuple<32>, !fly.swizzle<S<3,3,3>>
}

// Upstream's pass reads fields of a struct where they were set; a field around or inside another stays.
// STRUCTS-LABEL: func.func @fields(
// STRUCTS-SAME: %arg0: i32, %arg1: i32, %arg2: !llvm.struct<(i32, i32)>, %arg3: !llvm.struct<(struct<(i32, i32)>, i32)>)
// STRUCTS-NEXT: %[[A:.*]] = llvm.insertvalue %arg0, %arg3[0, 1]
// STRUCTS-NEXT: %[[B:.*]] = llvm.extractvalue %[[A]][0]
// STRUCTS-NEXT: return %arg0, %arg1, %[[B]]
func.func @fields(%x: i32, %y: i32, %s: !llvm.struct<(i32, i32)>, %n: !llvm.struct<(struct<(i32, i32)>, i32)>) -> (i32, i32, !llvm.struct<(i32, i32)>) {
  %a = llvm.insertvalue %x, %s[0] : !llvm.struct<(i32, i32)>
  %b = llvm.insertvalue %y, %a[1] : !llvm.struct<(i32, i32)>
  %c = llvm.extractvalue %b[0] : !llvm.struct<(i32, i32)>
  %d = llvm.extractvalue %b[1] : !llvm.struct<(i32, i32)>
  %e = llvm.insertvalue %x, %n[0, 1] : !llvm.struct<(struct<(i32, i32)>, i32)>
  %f = llvm.extractvalue %e[0] : !llvm.struct<(struct<(i32, i32)>, i32)>
  return %c, %d, %f : i32, i32, !llvm.struct<(i32, i32)>
}
