// RUN: fly-opt --keep-names %s | FileCheck %s
// RUN: fly-opt --keep-names %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names --print-op-generic %s | fly-opt --keep-names | FileCheck %s

// Copy instructions of the targets, with and without their options.

// CHECK: @buffers(%0: !fly_rocdl.cdna3.buffer_copy<128>, %1: !fly_rocdl.cdna3.buffer_copy<32, cache = 2>,
// CHECK-SAME: %2: !fly_rocdl.cdna3.buffer_copy_lds<32>, %3: !fly_rocdl.cdna3.buffer_atomic<add, f32>,
// CHECK-SAME: %4: !fly_rocdl.cdna3.buffer_atomic<pk_add, bf16>
func.func private @buffers(%0: !fly_rocdl.cdna3.buffer_copy<128>, %1: !fly_rocdl.cdna3.buffer_copy<32, cache = 2>,
    %2: !fly_rocdl.cdna3.buffer_copy_lds<32>, %3: !fly_rocdl.cdna3.buffer_atomic<add, f32>,
    %4: !fly_rocdl.cdna3.buffer_atomic<pk_add, bf16>) { return }

// CHECK: @gfx950(%0: !fly_rocdl.cdna4.buffer_load_async_lds<128>, %1: !fly_rocdl.cdna4.global_load_async_lds<96>,
// CHECK-SAME: %2: !fly_rocdl.cdna4.lds_read_trans<trans = 16b, 64>
func.func private @gfx950(%0: !fly_rocdl.cdna4.buffer_load_async_lds<128>, %1: !fly_rocdl.cdna4.global_load_async_lds<96>,
    %2: !fly_rocdl.cdna4.lds_read_trans<trans = 16b, 64>) { return }

// CHECK: @gfx1250(%0: !fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>,
// CHECK-SAME: %1: !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 5, warps = 8, pad = 64, 8, cache = 1, barrier = true, timeout = true>, 16>,
// CHECK-SAME: %2: !fly_rocdl.gfx1250.lds_read_trans<trans = 16b, 128>
func.func private @gfx1250(%0: !fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>,
    %1: !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank=5, warps=8, pad=64,8, cache=1, barrier=true, timeout=true>, 16>,
    %2: !fly_rocdl.gfx1250.lds_read_trans<trans = 16b, 128>) { return }
