// RUN: fly-opt --convert-fly-to-nvvm --split-input-file --verify-diagnostics %s

// What only another vendor's GPUs have is refused.

func.func @no_descriptors(%base: !llvm.ptr<1>, %stride: i16, %n: i64, %flags: i32) {
  // expected-error@+1 {{a pointer of this kind needs a target that has it}}
  %p = fly.make_ptr(%base, %stride, %n, %flags) : (!llvm.ptr<1>, i16, i64, i32) -> !fly.ptr<f32, #fly_rocdl.buffer_desc>
  return
}
