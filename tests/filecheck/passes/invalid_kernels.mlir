// RUN: fly-opt --keep-names --convert-gpu-to-rocdl --split-input-file --verify-diagnostics %s
// RUN: fly-opt --keep-names --convert-gpu-to-nvvm --split-input-file --verify-diagnostics %s

// A kernel that still takes what only the fly dialect knows cannot become a function of LLVM's.

gpu.module @kernels {
  // expected-error@+1 {{LLVM has no type for !fly.memref<f32, global, ?:1>, which the function takes or returns}}
  gpu.func @tensor(%t: !fly.memref<f32, global, ?:1>, %i: i32) kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error@+1 {{LLVM has no type for !fly.layout<4:1>, which the function takes or returns}}
  gpu.func @layout(%l: !fly.layout<4:1>) kernel {
    gpu.return
  }
}
