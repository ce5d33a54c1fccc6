// RUN: fly-opt --keep-names --as-compiled --fly-layout-lowering %s | FileCheck %s

// A function of layouts may give some back: what it computes is lowered, and what it returns is made of the leaves.

// CHECK-LABEL: func.func @static_size
// CHECK: %[[N:.*]] = fly.make_int_tuple() : () -> !fly.int_tuple<15>
// CHECK-NEXT: func.return %[[N]] : !fly.int_tuple<15>
func.func @static_size() -> !fly.int_tuple<15> {
  %s = fly.static : !fly.int_tuple<(3,5)>
  %n = fly.int_tuple_product(%s) : (!fly.int_tuple<(3,5)>) -> !fly.int_tuple<15>
  return %n : !fly.int_tuple<15>
}

// CHECK-LABEL: func.func @half_of_a_row
// CHECK-SAME: (%[[I:.*]]: i32)
// CHECK: %[[SUM:.*]] = arith.addi %[[I]]
// CHECK: %[[SHAPE:.*]] = fly.make_int_tuple(%[[SUM]]) : (i32) -> !fly.int_tuple<(?,8)>
// CHECK: %[[STRIDE:.*]] = fly.make_int_tuple() : () -> !fly.int_tuple<(8,1)>
// CHECK: %[[L:.*]] = fly.make_layout(%[[SHAPE]], %[[STRIDE]])
// CHECK: func.return %[[L]] : !fly.layout<(?,8):(8,1)>
func.func @half_of_a_row(%i: i32) -> !fly.layout<(?,8):(8,1)> {
  %t = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<(?,8)>
  %one = fly.static : !fly.int_tuple<(1,0)>
  %more = fly.int_tuple_add(%t, %one) : (!fly.int_tuple<(?,8)>, !fly.int_tuple<(1,0)>) -> !fly.int_tuple<(?,8)>
  %d = fly.static : !fly.int_tuple<(8,1)>
  %l = fly.make_layout(%more, %d) : (!fly.int_tuple<(?,8)>, !fly.int_tuple<(8,1)>) -> !fly.layout<(?,8):(8,1)>
  return %l : !fly.layout<(?,8):(8,1)>
}
