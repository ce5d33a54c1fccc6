// RUN: fly-opt --keep-names --as-compiled --fly-layout-lowering --fly-convert-atom-call-to-ssa-form --convert-fly-to-rocdl --split-input-file --verify-diagnostics %s

// What no pass can lower is refused where it stands, with what to do instead.

func.func @not_rewritten(%t: !fly.memref<f32, global, ?:1>) {
  // expected-error@+1 {{a value of type !fly.memref<f32, global, ?:1> comes from outside}}
  %0 = fly.size(%t) : (!fly.memref<f32, global, ?:1>) -> !fly.int_tuple<?>
  return
}

// -----

func.func @handed_on(%c: i1, %i: i32) {
  %t = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?>
  %r = scf.if %c -> (!fly.int_tuple<?>) {
    scf.yield %t : !fly.int_tuple<?>
  } else {
    // expected-error@+1 {{scf.yield hands on a value of type !fly.int_tuple<?>, which has no run-time form}}
    scf.yield %t : !fly.int_tuple<?>
  }
  return
}

// -----

func.func @undivided(%g: !fly.ptr<f32, global>) {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<128>, 32>
  %l = fly.static : !fly.layout<6:1>
  %m = fly.make_view(%g, %l) : (!fly.ptr<f32, global>, !fly.layout<6:1>) -> !fly.memref<f32, global, 6:1>
  %r = fly.memref.alloca() : () -> !fly.memref<f32, register, 6:1>
  // expected-error@+1 {{the tensors hold 6 values (6:1 to 6:1), which the atom's 4 do not divide}}
  fly.copy(%a, %m, %r) : (!fly.copy_atom<!fly.universal_copy<128>, 32>, !fly.memref<f32, global, 6:1>, !fly.memref<f32, register, 6:1>) -> ()
  return
}

// -----

func.func @predicates(%g: !fly.ptr<f32, global>) {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<64>, 32>
  %l = fly.static : !fly.layout<8:1>
  %m = fly.make_view(%g, %l) : (!fly.ptr<f32, global>, !fly.layout<8:1>) -> !fly.memref<f32, global, 8:1>
  %r = fly.memref.alloca() : () -> !fly.memref<f32, register, 8:1>
  %p = fly.memref.alloca() : () -> !fly.memref<i1, register, 3:1>
  // expected-error@+1 {{3 predicates (3:1) for 4 copies of 2 values (8:1)}}
  fly.copy(%a, %m, %r, %p) : (!fly.copy_atom<!fly.universal_copy<64>, 32>, !fly.memref<f32, global, 8:1>, !fly.memref<f32, register, 8:1>, !fly.memref<i1, register, 3:1>) -> ()
  return
}

// -----

func.func @scattered(%g: !fly.ptr<f32, global>) {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<128>, 32>
  %l = fly.static : !fly.layout<4:2>
  %m = fly.make_view(%g, %l) : (!fly.ptr<f32, global>, !fly.layout<4:2>) -> !fly.memref<f32, global, 4:2>
  %r = fly.memref.alloca() : () -> !fly.memref<f32, register, 4:1>
  // expected-error@+1 {{one copy moves 4 neighbouring elements, but the source side holds them at 4:2}}
  fly.copy(%a, %m, %r) : (!fly.copy_atom<!fly.universal_copy<128>, 32>, !fly.memref<f32, global, 4:2>, !fly.memref<f32, register, 4:1>) -> ()
  return
}

// -----

func.func @traversal() {
  %m = fly.make_mma_atom : !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
  %d = fly.memref.alloca() : () -> !fly.memref<f32, register, (1,2,2):(0,1,2)>
  %l = fly.static : !fly.layout<3:1>
  // expected-error@+1 {{the traversal layout 3:1 does not cover 2 x 2 x 2 atoms exactly}}
  fly.gemm(%m, %d, %d, %d, %d) traversalLayout = %l : (!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.layout<3:1>) -> ()
  return
}

// -----

func.func @narrow(%p: !fly.ptr<f4E2M1FN, global>) {
  // expected-error@+1 {{f4E2M1FN is narrower than a byte and cannot be addressed}}
  %x = fly.ptr.load(%p) : (!fly.ptr<f4E2M1FN, global>) -> f4E2M1FN
  return
}

// -----

func.func @atomic_load(%g: !fly.ptr<f32, global>) {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_atomic<add, f32>, 32>
  %l = fly.static : !fly.layout<1:0>
  %m = fly.make_view(%g, %l) : (!fly.ptr<f32, global>, !fly.layout<1:0>) -> !fly.memref<f32, global, 1:0>
  %r = fly.memref.alloca() : () -> !fly.memref<f32, register, 1:0>
  // expected-error@+1 {{an atomic combines registers into memory; it gives nothing back}}
  fly.copy_atom_call(%a, %m, %r) : (!fly.copy_atom<!fly.universal_atomic<add, f32>, 32>, !fly.memref<f32, global, 1:0>, !fly.memref<f32, register, 1:0>) -> ()
  return
}

// -----

func.func @atomic_register() {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_atomic<add, f32>, 32>
  %r = fly.memref.alloca() : () -> !fly.memref<f32, register, 1:0>
  // expected-error@+1 {{an atomic combines into memory, but its destination is a register}}
  fly.copy_atom_call(%a, %r, %r) : (!fly.copy_atom<!fly.universal_atomic<add, f32>, 32>, !fly.memref<f32, register, 1:0>, !fly.memref<f32, register, 1:0>) -> ()
  return
}

// -----

func.func @assume(%c: i1) {
  // expected-error@+1 {{assume has no meaning yet}}
  fly.assume(%c) : (i1) -> ()
  return
}

// -----

func.func @registers_without_end(%x: f32) {
  // expected-error@+1 {{99223372036854 elements are more than the registers of a thread can be}}
  %p = fly.make_ptr() {dictAttrs = {allocSize = 99223372036854 : i64}} : () -> !fly.ptr<f32, register>
  fly.ptr.store(%x, %p) : (f32, !fly.ptr<f32, register>) -> ()
  return
}
