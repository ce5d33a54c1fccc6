// RUN: fly-opt %s | FileCheck %s
// RUN: fly-opt %s | fly-opt | FileCheck %s

// Text that the original's tests have and print.

// CHECK-LABEL: func.func @loop(
// CHECK-NEXT: scf.while : () -> () {
// CHECK-NEXT: scf.condition(%arg0)
// CHECK-NEXT: } do {
// CHECK-NEXT: scf.yield
func.func @loop(%c: i1) {
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    scf.yield
  }
  return
}

// Compositions nest to the left, so that only the right side needs brackets.
// CHECK: func.func private @composed(!fly.composed_layout<S<3,3,3> o 0 o (4,8):(8,1) o 2 o 4:1>, !fly.composed_layout<16:3 o 2 o [16:1 o 5 o (4,4):(1,4)]>)
func.func private @composed(!fly.composed_layout<[S<3,3,3> o 0 o (4,8):(8,1)] o 2 o 4:1>, !fly.composed_layout<16:3 o 2 o [16:1 o 5 o (4,4):(1,4)]>)

// Signs stand with the types or in the parameters.
// CHECK: !fly_rocdl.gfx11.wmma<16x16x16, (i8, i8) -> i32, signA = false, signB = true, clamp = false>
func.func private @signs(!fly.mma_atom<!fly_rocdl.gfx11.wmma<16x16x16, (ui8, si8) -> i32, signA = false, signB = true, clamp = false>>)

// A predicated load may say nothing of what stays.
// CHECK: fly.copy_atom_call_ssa(%arg0, %arg1, %arg2) {operandSegmentSizes = array<i32: 1, 1, 0, 1>}
func.func @predicated(%a: !fly.copy_atom<!fly.universal_copy<128>, 32>, %m: !fly.memref<f32, global, 4:1>, %p: i1) -> vector<4xf32> {
  %0 = fly.copy_atom_call_ssa(%a, %m, %p) {operandSegmentSizes = array<i32: 1, 1, 0, 1>} : (!fly.copy_atom<!fly.universal_copy<128>, 32>, !fly.memref<f32, global, 4:1>, i1) -> vector<4xf32>
  return %0 : vector<4xf32>
}
