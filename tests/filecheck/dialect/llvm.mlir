// RUN: fly-opt --keep-names %s | FileCheck %s
// RUN: fly-opt --keep-names %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names --print-op-generic %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names %s | mlir-opt | FileCheck %s --check-prefix=UPSTREAM

// Comparisons and choices of vectors, which xDSL has for scalars only, assembly, and operations it lacks.

// CHECK-LABEL: llvm.func @vectors(
// UPSTREAM-LABEL: llvm.func @vectors(
llvm.func @vectors(%a: vector<4xf32>, %b: vector<4xf32>, %x: f32, %i: i64) -> vector<4xf32> {
  // CHECK-NEXT: %c = llvm.fcmp "olt" %a, %b : vector<4xf32>
  // UPSTREAM: llvm.fcmp "olt"
  %c = llvm.fcmp "olt" %a, %b : vector<4xf32>
  // CHECK-NEXT: %d = llvm.fcmp "une" %x, %x {fastmathFlags = #llvm.fastmath<ninf>} : f32
  %d = llvm.fcmp "une" %x, %x {fastmathFlags = #llvm.fastmath<ninf>} : f32
  // CHECK-NEXT: %e = llvm.select %c, %a, %b : vector<4xi1>, vector<4xf32>
  // UPSTREAM: llvm.select %{{.*}} : vector<4xi1>, vector<4xf32>
  %e = llvm.select %c, %a, %b : vector<4xi1>, vector<4xf32>
  // CHECK-NEXT: %f = llvm.select %d, %e, %a {fastmathFlags = #llvm.fastmath<nsz>} : i1, vector<4xf32>
  %f = llvm.select %d, %e, %a {fastmathFlags = #llvm.fastmath<nsz>} : i1, vector<4xf32>
  // CHECK-NEXT: %g = "llvm.extractelement"(%f, %i) : (vector<4xf32>, i64) -> f32
  // UPSTREAM: llvm.extractelement
  %g = "llvm.extractelement"(%f, %i) : (vector<4xf32>, i64) -> f32
  // CHECK-NEXT: %h = "llvm.intr.roundeven"(%g) <{fastmathFlags = #llvm.fastmath<none>}> : (f32) -> f32
  // UPSTREAM: llvm.intr.roundeven
  %h = "llvm.intr.roundeven"(%g) <{fastmathFlags = #llvm.fastmath<none>}> : (f32) -> f32
  llvm.return %f : vector<4xf32>
}

// CHECK-LABEL: llvm.func @assembly(
// UPSTREAM-LABEL: llvm.func @assembly(
llvm.func @assembly(%w: i32) -> i32 {
  // CHECK-NEXT: llvm.inline_asm has_side_effects {note = "hello"} "nop", "" : () -> ()
  // UPSTREAM: llvm.inline_asm has_side_effects {note = "hello"} "nop", ""  : () -> ()
  llvm.inline_asm has_side_effects {note = "hello"} "nop", "" : () -> ()
  // CHECK-NEXT: %y = llvm.inline_asm asm_dialect = att "mov $0, $1;", "=r,r" %w : (i32) -> i32
  // UPSTREAM: llvm.inline_asm asm_dialect = att "mov $0, $1;", "=r,r" %{{.*}} : (i32) -> i32
  %y = llvm.inline_asm asm_dialect = att "mov $0, $1;", "=r,r" %w : (i32) -> i32
  llvm.return %y : i32
}
