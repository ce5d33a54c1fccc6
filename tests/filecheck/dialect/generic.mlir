// RUN: fly-opt --keep-names %s | FileCheck %s
// RUN: fly-opt --keep-names --print-op-generic %s | FileCheck %s --check-prefix=GENERIC
// RUN: fly-opt --keep-names --print-op-generic %s | fly-opt --keep-names --print-op-generic | FileCheck %s --check-prefix=GENERIC

// Generic text is read with attributes given either way, and written with them behind the operands.

"func.func"() <{function_type = (!fly.int_tuple<(2,3,4)>, !fly.layout<6:1>, !fly.int_tuple<4>) -> (), sym_name = "f"}> ({
^bb0(%t: !fly.int_tuple<(2,3,4)>, %l: !fly.layout<6:1>, %e: !fly.int_tuple<4>):
  // CHECK: fly.select(%t) {indices = array<i32: 2, 0>} : (!fly.int_tuple<(2,3,4)>) -> !fly.int_tuple<(4,2)>
  // GENERIC: "fly.select"(%t) {indices = array<i32: 2, 0>} : (!fly.int_tuple<(2,3,4)>) -> !fly.int_tuple<(4,2)>
  %0 = "fly.select"(%t) {indices = array<i32: 2, 0>} : (!fly.int_tuple<(2,3,4)>) -> !fly.int_tuple<(4,2)>
  // CHECK: fly.get(%t) {mode = array<i32: 1>} : (!fly.int_tuple<(2,3,4)>) -> !fly.int_tuple<3>
  // GENERIC: "fly.get"(%t) {mode = array<i32: 1>} : (!fly.int_tuple<(2,3,4)>) -> !fly.int_tuple<3>
  %1 = "fly.get"(%t) <{mode = array<i32: 1>}> : (!fly.int_tuple<(2,3,4)>) -> !fly.int_tuple<3>
  // CHECK: fly.append<5>(%t, %e) : {{.*}} -> !fly.int_tuple<(2,3,4,4,4)>
  // GENERIC: "fly.append"(%t, %e) {n = 5 : i32} :
  %2 = "fly.append"(%t, %e) {n = 5 : i32} : (!fly.int_tuple<(2,3,4)>, !fly.int_tuple<4>) -> !fly.int_tuple<(2,3,4,4,4)>
  // CHECK: fly.static : !fly.layout<6:1>
  // GENERIC: "fly.static"() : () -> !fly.layout<6:1>
  %3 = "fly.static"() : () -> !fly.layout<6:1>
  // CHECK: fly.make_fragment_like(%l, f16) : (!fly.layout<6:1>) -> !fly.memref<f16, register, 6:1>
  // GENERIC: "fly.make_fragment_like"(%l) {dtype = f16} : (!fly.layout<6:1>) -> !fly.memref<f16, register, 6:1>
  %4 = "fly.make_fragment_like"(%l) {dtype = f16} : (!fly.layout<6:1>) -> !fly.memref<f16, register, 6:1>
  "func.return"() : () -> ()
}) : () -> ()
