// RUN: fly-opt --fly-canonicalize %s | FileCheck %s
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
