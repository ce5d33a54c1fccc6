// RUN: fly-opt --keep-names --convert-math-to-llvm %s | FileCheck %s

// CHECK: llvm.func @erff(f32) -> f32 attributes {passthrough = ["nounwind", "willreturn", ["memory", "0"]]}

// CHECK: func.func @functions(%x: f32, %h: f16, %v: vector<4xf32>, %n: i32) -> (f32, f16, vector<4xf32>, i32) {
// CHECK-NEXT: %a = llvm.intr.exp2(%x) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
// CHECK-NEXT: %b = llvm.intr.sqrt(%h) : (f16) -> f16
// CHECK-NEXT: %c = llvm.intr.fma(%v, %v, %v) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
// CHECK-NEXT: %d = "llvm.intr.ctlz"(%n) <{is_zero_poison = false}> : (i32) -> i32
// CHECK-NEXT: func.return %a, %b, %c, %d : f32, f16, vector<4xf32>, i32
// CHECK-NEXT: }
func.func @functions(%x: f32, %h: f16, %v: vector<4xf32>, %n: i32) -> (f32, f16, vector<4xf32>, i32) {
  %a = math.exp2 %x fastmath<afn> : f32
  %b = math.sqrt %h : f16
  %c = math.fma %v, %v, %v : vector<4xf32>
  %d = math.ctlz %n : i32
  return %a, %b, %c, %d : f32, f16, vector<4xf32>, i32
}

// 16-bit floats are computed in f32; a function that only the C library has is called and declared.
// CHECK: func.func @narrow(%h: f16, %x: f32) -> (f16, f32) {
// CHECK-NEXT: %0 = llvm.fpext %h : f16 to f32
// CHECK-NEXT: %1 = llvm.intr.exp2(%0) : (f32) -> f32
// CHECK-NEXT: %a = llvm.fptrunc %1 : f32 to f16
// CHECK-NEXT: %b = llvm.call @erff(%x) : (f32) -> f32
// CHECK-NEXT: func.return %a, %b : f16, f32
// CHECK-NEXT: }
func.func @narrow(%h: f16, %x: f32) -> (f16, f32) {
  %a = math.exp2 %h : f16
  %b = math.erf %x : f32
  return %a, %b : f16, f32
}
