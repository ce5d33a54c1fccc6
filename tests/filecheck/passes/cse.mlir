// RUN: fly-opt --keep-names --cse %s | FileCheck %s

// What the first block computes precedes all others; what one branch computes does not precede the other.
// CHECK: func.func @blocks(%c: i1, %x: i32, %y: i32) -> i32 {
// CHECK-NEXT: %a = arith.addi %x, %y : i32
// CHECK-NEXT: cf.cond_br %c, ^left, ^right
// CHECK-NEXT: ^left:
// CHECK-NEXT: %d = arith.muli %a, %x : i32
// CHECK-NEXT: cf.br ^done(%d : i32)
// CHECK-NEXT: ^right:
// CHECK-NEXT: %e = arith.muli %a, %x : i32
// CHECK-NEXT: %f = arith.subi %e, %a : i32
// CHECK-NEXT: cf.br ^done(%f : i32)
// CHECK-NEXT: ^done(%r: i32):
// CHECK-NEXT: func.return %r : i32
// CHECK-NEXT: }
func.func @blocks(%c: i1, %x: i32, %y: i32) -> i32 {
  %a = arith.addi %x, %y : i32
  cf.cond_br %c, ^left, ^right
^left:
  %b = arith.addi %x, %y : i32
  %d = arith.muli %b, %x : i32
  cf.br ^done(%d : i32)
^right:
  %e = arith.muli %a, %x : i32
  %f = arith.subi %e, %a : i32
  cf.br ^done(%f : i32)
^done(%r: i32):
  return %r : i32
}
