// RUN: fly-opt --keep-names %s | FileCheck %s
// RUN: fly-opt --keep-names %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names --print-op-generic %s | fly-opt --keep-names | FileCheck %s

// Arithmetic on int tuples. The run-time leaves know their width and what divides them.

func.func @static(%a: !fly.int_tuple<(7,9)>, %b: !fly.int_tuple<(2,4)>, %n: !fly.int_tuple<((2,3),4)>, %six: !fly.int_tuple<6>,
                  %guide: !fly.int_tuple<(1,(1))>, %long: !fly.int_tuple<(1,2,3)>, %four: !fly.int_tuple<4>) {
  // CHECK: %0 = fly.int_tuple_add(%a, %b) : {{.*}} -> !fly.int_tuple<(9,13)>
  %0 = fly.int_tuple_add(%a, %b) : (!fly.int_tuple<(7,9)>, !fly.int_tuple<(2,4)>) -> !fly.int_tuple<(9,13)>
  // CHECK: %1 = fly.int_tuple_sub(%a, %b) : {{.*}} -> !fly.int_tuple<(5,5)>
  %1 = fly.int_tuple_sub(%a, %b) : (!fly.int_tuple<(7,9)>, !fly.int_tuple<(2,4)>) -> !fly.int_tuple<(5,5)>
  // CHECK: %2 = fly.int_tuple_mul(%a, %b) : {{.*}} -> !fly.int_tuple<(14,36)>
  %2 = fly.int_tuple_mul(%a, %b) : (!fly.int_tuple<(7,9)>, !fly.int_tuple<(2,4)>) -> !fly.int_tuple<(14,36)>
  // CHECK: %3 = fly.int_tuple_div(%a, %b) : {{.*}} -> !fly.int_tuple<(3,2)>
  %3 = fly.int_tuple_div(%a, %b) : (!fly.int_tuple<(7,9)>, !fly.int_tuple<(2,4)>) -> !fly.int_tuple<(3,2)>
  // CHECK: %4 = fly.int_tuple_mod(%a, %b) : {{.*}} -> !fly.int_tuple<(1,1)>
  %4 = fly.int_tuple_mod(%a, %b) : (!fly.int_tuple<(7,9)>, !fly.int_tuple<(2,4)>) -> !fly.int_tuple<(1,1)>
  // CHECK: %5 = fly.int_tuple_add(%a, %long) : {{.*}} -> !fly.int_tuple<(8,11,3)>
  %5 = fly.int_tuple_add(%a, %long) : (!fly.int_tuple<(7,9)>, !fly.int_tuple<(1,2,3)>) -> !fly.int_tuple<(8,11,3)>
  // CHECK: %6 = fly.int_tuple_product(%n) : (!fly.int_tuple<((2,3),4)>) -> !fly.int_tuple<24>
  %6 = fly.int_tuple_product(%n) : (!fly.int_tuple<((2,3),4)>) -> !fly.int_tuple<24>
  // CHECK: %7 = fly.int_tuple_product_each(%n) : (!fly.int_tuple<((2,3),4)>) -> !fly.int_tuple<(6,4)>
  %7 = fly.int_tuple_product_each(%n) : (!fly.int_tuple<((2,3),4)>) -> !fly.int_tuple<(6,4)>
  // CHECK: %8 = fly.int_tuple_product_like(%n, %b) : {{.*}} -> !fly.int_tuple<(6,4)>
  %8 = fly.int_tuple_product_like(%n, %b) : (!fly.int_tuple<((2,3),4)>, !fly.int_tuple<(2,4)>) -> !fly.int_tuple<(6,4)>
  // CHECK: %9 = fly.ceil_div(%a, %b) : (!fly.int_tuple<(7,9)>, !fly.int_tuple<(2,4)>) -> !fly.int_tuple<(4,3)>
  %9 = fly.ceil_div(%a, %b) : (!fly.int_tuple<(7,9)>, !fly.int_tuple<(2,4)>) -> !fly.int_tuple<(4,3)>
  // CHECK: %10 = fly.shape_div(%n, %six) : {{.*}} -> !fly.int_tuple<((1,1),4)>
  %10 = fly.shape_div(%n, %six) : (!fly.int_tuple<((2,3),4)>, !fly.int_tuple<6>) -> !fly.int_tuple<((1,1),4)>
  // CHECK: %11 = fly.elem_less(%b, %a) : (!fly.int_tuple<(2,4)>, !fly.int_tuple<(7,9)>) -> i1
  %11 = fly.elem_less(%b, %a) : (!fly.int_tuple<(2,4)>, !fly.int_tuple<(7,9)>) -> i1
  // CHECK: %12 = fly.equal(%b, %a) : (!fly.int_tuple<(2,4)>, !fly.int_tuple<(7,9)>) -> i1
  %12 = fly.equal(%b, %a) : (!fly.int_tuple<(2,4)>, !fly.int_tuple<(7,9)>) -> i1
  return
}

func.func @run_time(%x: !fly.int_tuple<(?{div=8},4)>, %y: !fly.int_tuple<(?{div=12},?{i64 div=2})>, %two: !fly.int_tuple<(2,2)>) {
  // CHECK: %0 = fly.int_tuple_add(%x, %y) : {{.*}} -> !fly.int_tuple<(?{div=4},?{i64 div=2})>
  %0 = fly.int_tuple_add(%x, %y) : (!fly.int_tuple<(?{div=8},4)>, !fly.int_tuple<(?{div=12},?{i64 div=2})>) -> !fly.int_tuple<(?{div=4},?{i64 div=2})>
  // CHECK: %1 = fly.int_tuple_mul(%x, %y) : {{.*}} -> !fly.int_tuple<(?{i64 div=96},?{i64 div=8})>
  %1 = fly.int_tuple_mul(%x, %y) : (!fly.int_tuple<(?{div=8},4)>, !fly.int_tuple<(?{div=12},?{i64 div=2})>) -> !fly.int_tuple<(?{i64 div=96},?{i64 div=8})>
  // CHECK: %2 = fly.int_tuple_div(%x, %two) : {{.*}} -> !fly.int_tuple<(?{div=4},2)>
  %2 = fly.int_tuple_div(%x, %two) : (!fly.int_tuple<(?{div=8},4)>, !fly.int_tuple<(2,2)>) -> !fly.int_tuple<(?{div=4},2)>
  // CHECK: %3 = fly.int_tuple_mod(%x, %two) : {{.*}} -> !fly.int_tuple<(0,0)>
  %3 = fly.int_tuple_mod(%x, %two) : (!fly.int_tuple<(?{div=8},4)>, !fly.int_tuple<(2,2)>) -> !fly.int_tuple<(0,0)>
  // CHECK: %4 = fly.ceil_div(%y, %x) : {{.*}} -> !fly.int_tuple<(?,?{i64})>
  %4 = fly.ceil_div(%y, %x) : (!fly.int_tuple<(?{div=12},?{i64 div=2})>, !fly.int_tuple<(?{div=8},4)>) -> !fly.int_tuple<(?,?{i64})>
  // CHECK: %5 = fly.elem_less(%x, %y) : {{.*}} -> i1
  %5 = fly.elem_less(%x, %y) : (!fly.int_tuple<(?{div=8},4)>, !fly.int_tuple<(?{div=12},?{i64 div=2})>) -> i1
  return
}
