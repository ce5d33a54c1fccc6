// RUN: fly-opt --keep-names --convert-fly-to-nvvm --split-input-file --verify-diagnostics %s

// What only another vendor's GPUs have is refused.

func.func @no_descriptors(%base: !llvm.ptr<1>, %stride: i16, %n: i64, %flags: i32) {
  // expected-error@+1 {{a pointer of this kind needs a target that has it}}
  %p = fly.make_ptr(%base, %stride, %n, %flags) : (!llvm.ptr<1>, i16, i64, i32) -> !fly.ptr<f32, #fly_rocdl.buffer_desc>
  return
}

// -----

func.func @store_hint(%g: !fly.ptr<f32, global, align<16>>, %v: vector<4xf32>) {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly_nvvm.sm80.cached_copy<128, read_only>, 32>
  %l = fly.static : !fly.layout<4:1>
  %m = fly.make_view(%g, %l) : (!fly.ptr<f32, global, align<16>>, !fly.layout<4:1>) -> !fly.memref<f32, global, 4:1, align<16>>
  // expected-error@+1 {{a store has no hint 'read_only'}}
  fly.copy_atom_call_ssa(%a, %v, %m) : (!fly.copy_atom<!fly_nvvm.sm80.cached_copy<128, read_only>, 32>, vector<4xf32>, !fly.memref<f32, global, 4:1, align<16>>) -> ()
  return
}

// -----

func.func @hint_in_shared(%s: !fly.ptr<f32, shared, align<16>>) {
  %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly_nvvm.sm80.cached_copy<128, streaming>, 32>
  %l = fly.static : !fly.layout<4:1>
  %m = fly.make_view(%s, %l) : (!fly.ptr<f32, shared, align<16>>, !fly.layout<4:1>) -> !fly.memref<f32, shared, 4:1, align<16>>
  // expected-error@+1 {{needs global memory as its source, which lies in shared memory}}
  %v = fly.copy_atom_call_ssa(%a, %m) : (!fly.copy_atom<!fly_nvvm.sm80.cached_copy<128, streaming>, 32>, !fly.memref<f32, shared, 4:1, align<16>>) -> vector<4xf32>
  return
}
