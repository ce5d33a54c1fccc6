// RUN: fly-opt --keep-names --convert-scf-to-cf %s | FileCheck %s

// A loop becomes a head that tests, a body, and what follows; its values are the head's arguments.
// CHECK: func.func @loop(%n: i32, %x: f32) -> f32 {
// CHECK-NEXT: %zero = arith.constant 0 : i32
// CHECK-NEXT: %one = arith.constant 1 : i32
// CHECK-NEXT: cf.br ^bb1(%zero, %x : i32, f32)
// CHECK-NEXT: ^bb1(%i: i32, %acc: f32):
// CHECK-NEXT: %0 = arith.cmpi slt, %i, %n : i32
// CHECK-NEXT: cf.cond_br %0, ^bb2, ^bb3
// CHECK-NEXT: ^bb2:
// CHECK-NEXT: %next = arith.addf %acc, %x : f32
// CHECK-NEXT: %1 = arith.addi %i, %one overflow<nsw> : i32
// CHECK-NEXT: cf.br ^bb1(%1, %next : i32, f32)
// CHECK-NEXT: ^bb3:
// CHECK-NEXT: func.return %acc : f32
// CHECK-NEXT: }
func.func @loop(%n: i32, %x: f32) -> f32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = scf.for %i = %zero to %n step %one iter_args(%acc = %x) -> (f32) : i32 {
    %next = arith.addf %acc, %x : f32
    scf.yield %next : f32
  }
  return %r : f32
}

// Branches meet in a block with the results as arguments; without an else the other edge goes there directly.
// CHECK: func.func @branches(%c: i1, %p: !llvm.ptr, %x: i32, %y: i32) -> i32 {
// CHECK-NEXT: cf.cond_br %c, ^bb1, ^bb2
// CHECK-NEXT: ^bb1:
// CHECK-NEXT: cf.br ^bb3(%x : i32)
// CHECK-NEXT: ^bb2:
// CHECK-NEXT: %d = arith.muli %x, %y : i32
// CHECK-NEXT: cf.br ^bb3(%d : i32)
// CHECK-NEXT: ^bb3(%r: i32):
// CHECK-NEXT: cf.cond_br %c, ^bb4, ^bb5
// CHECK-NEXT: ^bb4:
// CHECK-NEXT: llvm.store %r, %p : i32, !llvm.ptr
// CHECK-NEXT: cf.br ^bb5
// CHECK-NEXT: ^bb5:
// CHECK-NEXT: func.return %r : i32
// CHECK-NEXT: }
func.func @branches(%c: i1, %p: !llvm.ptr, %x: i32, %y: i32) -> i32 {
  %r = scf.if %c -> (i32) {
    scf.yield %x : i32
  } else {
    %d = arith.muli %x, %y : i32
    scf.yield %d : i32
  }
  scf.if %c {
    llvm.store %r, %p : i32, !llvm.ptr
  }
  return %r : i32
}

// The first region of a while loop is its head; what it passes on is seen by the body and after the loop.
// CHECK: func.func @loop_while(%n: i32) -> i32 {
// CHECK-NEXT: %one = arith.constant 1 : i32
// CHECK-NEXT: cf.br ^bb1(%n : i32)
// CHECK-NEXT: ^bb1(%a: i32):
// CHECK-NEXT: %more = arith.cmpi sgt, %a, %one : i32
// CHECK-NEXT: cf.cond_br %more, ^bb2, ^bb3
// CHECK-NEXT: ^bb2:
// CHECK-NEXT: %half = arith.shrsi %a, %one : i32
// CHECK-NEXT: cf.br ^bb1(%half : i32)
// CHECK-NEXT: ^bb3:
// CHECK-NEXT: func.return %a : i32
// CHECK-NEXT: }
func.func @loop_while(%n: i32) -> i32 {
  %one = arith.constant 1 : i32
  %r = scf.while (%a = %n) : (i32) -> i32 {
    %more = arith.cmpi sgt, %a, %one : i32
    scf.condition(%more) %a : i32
  } do {
  ^bb0(%b: i32):
    %half = arith.shrsi %b, %one : i32
    scf.yield %half : i32
  }
  return %r : i32
}

// A loop inside a branch.
// CHECK: func.func @nested(%c: i1, %n: index, %p: !llvm.ptr) {
// CHECK-NEXT: %zero = arith.constant 0 : index
// CHECK-NEXT: %one = arith.constant 1 : index
// CHECK-NEXT: cf.cond_br %c, ^bb1, ^bb5
// CHECK-NEXT: ^bb1:
// CHECK-NEXT: cf.br ^bb2(%zero : index)
// CHECK-NEXT: ^bb2(%i: index):
// CHECK-NEXT: %0 = arith.cmpi slt, %i, %n : index
// CHECK-NEXT: cf.cond_br %0, ^bb3, ^bb4
// CHECK-NEXT: ^bb3:
// CHECK-NEXT: %j = arith.index_cast %i : index to i64
// CHECK-NEXT: llvm.store %j, %p : i64, !llvm.ptr
// CHECK-NEXT: %1 = arith.addi %i, %one overflow<nsw> : index
// CHECK-NEXT: cf.br ^bb2(%1 : index)
// CHECK-NEXT: ^bb4:
// CHECK-NEXT: cf.br ^bb5
// CHECK-NEXT: ^bb5:
// CHECK-NEXT: func.return
// CHECK-NEXT: }
func.func @nested(%c: i1, %n: index, %p: !llvm.ptr) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.if %c {
    scf.for %i = %zero to %n step %one {
      %j = arith.index_cast %i : index to i64
      llvm.store %j, %p : i64, !llvm.ptr
    }
  }
  return
}
