// RUN: fly-opt --keep-names --convert-vector-to-llvm %s | FileCheck %s

// Positions become operands, a vector of any rank is flat, and shuffles have LLVM's mask.
// CHECK: func.func @vectors(%v: vector<4xf32>, %m: vector<2x4xf32>, %x: f32, %i: index) -> (f32, vector<4xf32>, f32) {
// CHECK-NEXT: %0 = llvm.mlir.constant(2) : i64
// CHECK-NEXT: %1 = llvm.mlir.constant(1) : i64
// CHECK-NEXT: %2 = "llvm.mlir.poison"() : () -> vector<8xf32>
// CHECK-NEXT: %3 = "llvm.mlir.poison"() : () -> vector<4xf32>
// CHECK-NEXT: %4 = llvm.mlir.constant(0) : i64
// CHECK-NEXT: %5 = llvm.mlir.constant(3) : i64
// CHECK-NEXT: %a = "llvm.extractelement"(%v, %0) : (vector<4xf32>, i64) -> f32
// CHECK-NEXT: %b = llvm.insertelement %x, %v[%1 : i64] : vector<4xf32>
// CHECK-NEXT: %6 = builtin.unrealized_conversion_cast %m : vector<2x4xf32> to vector<8xf32>
// CHECK-NEXT: %row = llvm.shufflevector %6, %2 [4, 5, 6, 7] : vector<8xf32>
// CHECK-NEXT: %7 = llvm.insertelement %x, %3[%4 : i64] : vector<4xf32>
// CHECK-NEXT: %all = llvm.shufflevector %7, %3 [0, 0, 0, 0] : vector<4xf32>
// CHECK-NEXT: %sum = "llvm.intr.vector.reduce.fmaximum"(%row) <{fastmathFlags = #llvm.fastmath<none>}> : (vector<4xf32>) -> f32
// CHECK-NEXT: %8 = llvm.insertelement %a, %3[%4 : i64] : vector<4xf32>
// CHECK-NEXT: %9 = llvm.insertelement %x, %8[%1 : i64] : vector<4xf32>
// CHECK-NEXT: %10 = llvm.insertelement %sum, %9[%0 : i64] : vector<4xf32>
// CHECK-NEXT: %four = llvm.insertelement %x, %10[%5 : i64] : vector<4xf32>
// CHECK-NEXT: %f = arith.addf %four, %all : vector<4xf32>
// CHECK-NEXT: func.return %a, %f, %sum : f32, vector<4xf32>, f32
// CHECK-NEXT: }
func.func @vectors(%v: vector<4xf32>, %m: vector<2x4xf32>, %x: f32, %i: index) -> (f32, vector<4xf32>, f32) {
  %a = vector.extract %v[2] : f32 from vector<4xf32>
  %b = vector.insert %x, %v [1] : f32 into vector<4xf32>
  %row = vector.extract %m[1] : vector<4xf32> from vector<2x4xf32>
  %all = vector.broadcast %x : f32 to vector<4xf32>
  %sum = "vector.reduction"(%row) <{kind = #vector.kind<maximumf>, fastmath = #arith.fastmath<none>}> : (vector<4xf32>) -> f32
  %four = "vector.from_elements"(%a, %x, %sum, %x) : (f32, f32, f32, f32) -> vector<4xf32>
  %f = arith.addf %four, %all : vector<4xf32>
  return %a, %f, %sum : f32, vector<4xf32>, f32
}

// The same bits as another type.
// CHECK: func.func @bits(%v: vector<4xf16>) -> vector<2xi32> {
// CHECK-NEXT: %w = llvm.bitcast %v : vector<4xf16> to vector<2xi32>
// CHECK-NEXT: func.return %w : vector<2xi32>
// CHECK-NEXT: }
func.func @bits(%v: vector<4xf16>) -> vector<2xi32> {
  %w = vector.bitcast %v : vector<4xf16> to vector<2xi32>
  return %w : vector<2xi32>
}
