// RUN: fly-opt --keep-names --ensure-debug-info-scope-on-llvm-func --print-debuginfo %s | FileCheck %s
// RUN: fly-opt --keep-names --ensure-debug-info-scope-on-llvm-func="emission-kind=LineTablesOnly" --print-debuginfo %s | FileCheck %s
// RUN: fly-opt --keep-names --pass-pipeline="builtin.module(ensure-debug-info-scope-on-llvm-func{emission-kind=Full})" --print-debuginfo %s | FileCheck %s
// RUN: fly-opt --keep-names --ensure-debug-info-scope-on-llvm-func --print-debuginfo %s | fly-opt --keep-names --print-debuginfo | FileCheck %s
// RUN: fly-opt --keep-names --ensure-debug-info-scope-on-llvm-func --print-debuginfo %s | mlir-opt --verify-each

// The function's location names its file and line as a scope; what is inside keeps its own.
// CHECK: llvm.func @k(%p: !llvm.ptr loc(unknown)) {
// CHECK-NEXT: llvm.return loc("dir/kernel.py":7:4)
// CHECK-NEXT: loc(fused<#llvm.di_subprogram<id = distinct[1]<>, compileUnit = <id = distinct[0]<>,
// CHECK-SAME: file = <"kernel.py" in "dir">,
// CHECK-SAME: name = "k", linkageName = "k",
// CHECK-SAME: line = 5, scopeLine = 5,
// CHECK-SAME: ["dir/kernel.py":5:0])
llvm.func @k(%p: !llvm.ptr) {
  llvm.return loc("dir/kernel.py":7:4)
} loc("dir/kernel.py":5:0)
