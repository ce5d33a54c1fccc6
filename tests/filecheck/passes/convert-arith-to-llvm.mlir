// RUN: fly-opt --keep-names --convert-arith-to-llvm %s | FileCheck %s

// CHECK: llvm.func private @fly.f8E4M3FN_to_f32(%0: i8) -> f32 attributes {passthrough = ["alwaysinline", "nounwind", "willreturn", ["memory", "0"]]} {

// An index is i64; the cast back stands for whoever still wants an index.
// CHECK: func.func @integers(%i: index, %x: i32) -> (index, i32) {
// CHECK-NEXT: %one = llvm.mlir.constant(1) : i64
// CHECK-NEXT: %one_1 = builtin.unrealized_conversion_cast %one : i64 to index
// CHECK-NEXT: %24 = builtin.unrealized_conversion_cast %i : index to i64
// CHECK-NEXT: %a = llvm.add %24, %one : i64
// CHECK-NEXT: %a_1 = builtin.unrealized_conversion_cast %a : i64 to index
// CHECK-NEXT: %b = llvm.trunc %a : i64 to i32
// CHECK-NEXT: %c = llvm.mul %b, %x overflow<nsw> : i32
// CHECK-NEXT: %d = "llvm.intr.smax"(%c, %x) : (i32, i32) -> i32
// CHECK-NEXT: func.return %a_1, %d : index, i32
// CHECK-NEXT: }
func.func @integers(%i: index, %x: i32) -> (index, i32) {
  %one = arith.constant 1 : index
  %a = arith.addi %i, %one : index
  %b = arith.index_cast %a : index to i32
  %c = arith.muli %b, %x overflow<nsw> : i32
  %d = arith.maxsi %c, %x : i32
  return %a, %d : index, i32
}

// Dividing by a power of two and rounding down is a shift.
// CHECK: func.func @divide(%x: i32) -> i32 {
// CHECK-NEXT: %24 = llvm.mlir.constant(3 : i32) : i32
// CHECK-NEXT: %q = llvm.ashr %x, %24 : i32
// CHECK-NEXT: func.return %q : i32
// CHECK-NEXT: }
func.func @divide(%x: i32) -> i32 {
  %eight = arith.constant 8 : i32
  %q = arith.floordivsi %x, %eight : i32
  return %q : i32
}

// CHECK: func.func @floats(%x: f32, %v: vector<4xf32>) -> (f16, vector<4xf32>) {
// CHECK-NEXT: %zero = llvm.mlir.constant(dense<0.000000e+00> : vector<4xf32>) : vector<4xf32>
// CHECK-NEXT: %half = llvm.fptrunc %x : f32 to f16
// CHECK-NEXT: %less = llvm.fcmp "olt" %v, %zero : vector<4xf32>
// CHECK-NEXT: %p = llvm.fmul %v, %v {fastmathFlags = #llvm.fastmath<contract>} : vector<4xf32>
// CHECK-NEXT: %s = llvm.select %less, %zero, %p : vector<4xi1>, vector<4xf32>
// CHECK-NEXT: func.return %half, %s : f16, vector<4xf32>
// CHECK-NEXT: }
func.func @floats(%x: f32, %v: vector<4xf32>) -> (f16, vector<4xf32>) {
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %half = arith.truncf %x : f32 to f16
  %less = arith.cmpf olt, %v, %zero : vector<4xf32>
  %p = arith.mulf %v, %v fastmath<contract> : vector<4xf32>
  %s = arith.select %less, %zero, %p : vector<4xi1>, vector<4xf32>
  return %half, %s : f16, vector<4xf32>
}

// A float below 16 bits is an integer, and its conversion a function of the module.
// CHECK: func.func @narrow(%x: f8E4M3FN) -> f32 {
// CHECK-NEXT: %24 = builtin.unrealized_conversion_cast %x : f8E4M3FN to i8
// CHECK-NEXT: %w = llvm.call @fly.f8E4M3FN_to_f32(%24) : (i8) -> f32
// CHECK-NEXT: func.return %w : f32
// CHECK-NEXT: }
func.func @narrow(%x: f8E4M3FN) -> f32 {
  %w = arith.extf %x : f8E4M3FN to f32
  return %w : f32
}

// Calls of intrinsics pass through.
// CHECK: func.func @intrinsic(%x: f32) -> f32 {
// CHECK-NEXT: %r = llvm.call_intrinsic "llvm.amdgcn.rcp.f32"(%x) : (f32) -> f32
// CHECK-NEXT: func.return %r : f32
// CHECK-NEXT: }
func.func @intrinsic(%x: f32) -> f32 {
  %r = llvm.call_intrinsic "llvm.amdgcn.rcp.f32"(%x) : (f32) -> f32
  return %r : f32
}
