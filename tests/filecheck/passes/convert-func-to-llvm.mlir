// RUN: fly-opt --keep-names --convert-func-to-llvm %s | FileCheck %s

// CHECK: llvm.func @outside(i32) -> i32
func.func private @outside(i32) -> i32

// CHECK: llvm.func @caller(%i: i64, %x: i32) -> i32 {
// CHECK-NEXT: %i_1 = builtin.unrealized_conversion_cast %i : i64 to index
// CHECK-NEXT: %r = llvm.call @outside(%x) : (i32) -> i32
// CHECK-NEXT: llvm.return %r : i32
// CHECK-NEXT: }
func.func @caller(%i: index, %x: i32) -> i32 {
  %r = func.call @outside(%x) : (i32) -> i32
  return %r : i32
}

// Several results are one struct.
// CHECK: llvm.func @both(%x_1: i32, %y: f32) -> !llvm.struct<(i32, f32)> {
// CHECK-NEXT: %0 = "llvm.mlir.poison"() : () -> !llvm.struct<(i32, f32)>
// CHECK-NEXT: %1 = llvm.insertvalue %x_1, %0[0] : !llvm.struct<(i32, f32)>
// CHECK-NEXT: %2 = llvm.insertvalue %y, %1[1] : !llvm.struct<(i32, f32)>
// CHECK-NEXT: llvm.return %2 : !llvm.struct<(i32, f32)>
// CHECK-NEXT: }
func.func @both(%x: i32, %y: f32) -> (i32, f32) {
  return %x, %y : i32, f32
}

// CHECK: llvm.func @use(%x_2: i32, %y_1: f32) -> f32 {
// CHECK-NEXT: %3 = llvm.call @both(%x_2, %y_1) : (i32, f32) -> !llvm.struct<(i32, f32)>
// CHECK-NEXT: %a = llvm.extractvalue %3[0] : !llvm.struct<(i32, f32)>
// CHECK-NEXT: %b = llvm.extractvalue %3[1] : !llvm.struct<(i32, f32)>
// CHECK-NEXT: llvm.return %b : f32
// CHECK-NEXT: }
func.func @use(%x: i32, %y: f32) -> f32 {
  %a, %b = func.call @both(%x, %y) : (i32, f32) -> (i32, f32)
  return %b : f32
}
