// RUN: fly-opt --keep-names --reconcile-unrealized-casts --allow-unregistered-dialect %s | FileCheck %s

// There and back is the value itself; a cast between two types that nothing undoes stays.
// CHECK: llvm.func @casts(%a: i64, %p: !llvm.ptr) {
// CHECK-NEXT: llvm.store %a, %p : i64, !llvm.ptr
// CHECK-NEXT: %d = builtin.unrealized_conversion_cast %a : i64 to index
// CHECK-NEXT: "test.use"(%d) : (index) -> ()
// CHECK-NEXT: llvm.return
// CHECK-NEXT: }
llvm.func @casts(%a: i64, %p: !llvm.ptr) {
  %b = builtin.unrealized_conversion_cast %a : i64 to index
  %c = builtin.unrealized_conversion_cast %b : index to i64
  llvm.store %c, %p : i64, !llvm.ptr
  %d = builtin.unrealized_conversion_cast %a : i64 to index
  "test.use"(%d) : (index) -> ()
  llvm.return
}
