// RUN: fly-opt --keep-names %s | FileCheck %s
// RUN: fly-opt --keep-names %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names --print-op-generic %s | fly-opt --keep-names | FileCheck %s

// NVIDIA's copy instructions, as types of their own and inside atoms.

// CHECK: @copies(%0: !fly_nvvm.sm80.cached_copy<128, streaming>, %1: !fly_nvvm.sm80.cached_copy<32, read_only_no_allocate>,
// CHECK-SAME: %2: !fly_nvvm.sm80.cp_async<128, cg>, %3: !fly_nvvm.sm80.cp_async<64, ca>)
func.func private @copies(%0: !fly_nvvm.sm80.cached_copy<128, streaming>, %1: !fly_nvvm.sm80.cached_copy<32,read_only_no_allocate>,
    %2: !fly_nvvm.sm80.cp_async<128, cg>, %3: !fly_nvvm.sm80.cp_async<64, ca>) { return }

// CHECK: @atoms(%0: !fly.copy_atom<!fly_nvvm.sm80.cached_copy<64, no_allocate>, 16>,
// CHECK-SAME: %1: !fly.copy_atom<!fly_nvvm.sm80.cp_async<32, ca>, 32>)
func.func private @atoms(%0: !fly.copy_atom<!fly_nvvm.sm80.cached_copy<64, no_allocate>, 16>,
    %1: !fly.copy_atom<!fly_nvvm.sm80.cp_async<32, ca>, 32>) { return }

// A priority in the second-level cache.
// CHECK: @policies(%0: !fly_nvvm.sm80.cached_copy<128, evict_last, evict_first>,
// CHECK-SAME: %1: !fly.copy_atom<!fly_nvvm.sm80.cached_copy<32, always, evict_unchanged>, 32>)
func.func private @policies(%0: !fly_nvvm.sm80.cached_copy<128,evict_last,evict_first>,
    %1: !fly.copy_atom<!fly_nvvm.sm80.cached_copy<32, always, evict_unchanged>, 32>) { return }

// CHECK: func.func @matrices(%0: !fly_nvvm.ldmatrix<4>, %1: !fly_nvvm.ldmatrix<2, trans>,
// CHECK-SAME: %2: !fly.copy_atom<!fly_nvvm.stmatrix<1>, 16>)
func.func @matrices(%0: !fly_nvvm.ldmatrix<4>, %1: !fly_nvvm.ldmatrix<2, trans>,
    %2: !fly.copy_atom<!fly_nvvm.stmatrix<1>, 16>) { return }
