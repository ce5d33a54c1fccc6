// RUN: fly-opt --keep-names --convert-cf-to-llvm %s | FileCheck %s

// Branches carry values of LLVM types; casts stand where others still want the old ones.
// CHECK: func.func @branch(%c: i1, %i: index, %x: f32) -> index {
// CHECK-NEXT: %0 = builtin.unrealized_conversion_cast %i : index to i64
// CHECK-NEXT: %1 = builtin.unrealized_conversion_cast %i : index to i64
// CHECK-NEXT: llvm.cond_br %c, ^one(%0 : i64), ^two(%x, %1 : f32, i64)
// CHECK-NEXT: ^one(%a: i64):
// CHECK-NEXT: %a_1 = builtin.unrealized_conversion_cast %a : i64 to index
// CHECK-NEXT: %b = arith.addi %a_1, %i : index
// CHECK-NEXT: %2 = builtin.unrealized_conversion_cast %b : index to i64
// CHECK-NEXT: llvm.br ^two(%x, %2 : f32, i64)
// CHECK-NEXT: ^two(%y: f32, %r: i64):
// CHECK-NEXT: %r_1 = builtin.unrealized_conversion_cast %r : i64 to index
// CHECK-NEXT: func.return %r_1 : index
// CHECK-NEXT: }
func.func @branch(%c: i1, %i: index, %x: f32) -> index {
  cf.cond_br %c, ^one(%i : index), ^two(%x, %i : f32, index)
^one(%a: index):
  %b = arith.addi %a, %i : index
  cf.br ^two(%x, %b : f32, index)
^two(%y: f32, %r: index):
  return %r : index
}

// CHECK: func.func @choose(%k: i32, %x: i32) -> i32 {
// CHECK-NEXT: "llvm.switch"(%k, %x) [^other, ^four] <{case_values = dense<4> : vector<1xi32>, case_operand_segments = array<i32: 1>, operandSegmentSizes = array<i32: 1, 0, 1>}> : (i32, i32) -> ()
// CHECK-NEXT: ^four(%y: i32):
// CHECK-NEXT: func.return %y : i32
// CHECK-NEXT: ^other:
// CHECK-NEXT: func.return %k : i32
// CHECK-NEXT: }
func.func @choose(%k: i32, %x: i32) -> i32 {
  cf.switch %k : i32, [
    default: ^other,
    4: ^four(%x : i32)
  ]
^four(%y: i32):
  return %y : i32
^other:
  return %k : i32
}

// CHECK: func.func @check(%c: i1) {
// CHECK-NEXT: llvm.cond_br %c, ^bb2, ^bb1
// CHECK-NEXT: ^bb1:
// CHECK-NEXT: "llvm.intr.trap"() : () -> ()
// CHECK-NEXT: llvm.unreachable
// CHECK-NEXT: ^bb2:
// CHECK-NEXT: func.return
// CHECK-NEXT: }
func.func @check(%c: i1) {
  cf.assert %c, "never"
  return
}
