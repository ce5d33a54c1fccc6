// RUN: fly-opt --keep-names %s | FileCheck %s
// RUN: fly-opt --keep-names %s | fly-opt --keep-names | FileCheck %s
// RUN: fly-opt --keep-names --print-op-generic %s | fly-opt --keep-names | FileCheck %s

// The vendors' matrix instructions, as types of their own and inside atoms. Flags that are not written have their usual value.

// CHECK: @mfma(%0: !fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>, %1: !fly_rocdl.cdna3.mfma<32x32x16, (f8E4M3FNUZ, f8E5M2FNUZ) -> f32>,
// CHECK-SAME: %2: !fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselA = 0, opselB = 3>
func.func private @mfma(%0: !fly_rocdl.cdna3.mfma<16x16x16, (f16,f16) -> f32>, %1: !fly_rocdl.cdna3.mfma<32x32x16, (f8E4M3FNUZ, f8E5M2FNUZ) -> f32>,
    %2: !fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f4E2M1FN) -> f32, opselB = 3>) { return }

// CHECK: @wmma(%0: !fly_rocdl.gfx11.wmma<16x16x16, (i8, i8) -> i32, signA = true, signB = false, clamp = false>,
// CHECK-SAME: %1: !fly_rocdl.gfx120x.wmma<16x16x16, (bf16, bf16) -> f32, signA = false, signB = false, clamp = false>,
// CHECK-SAME: %2: !fly_rocdl.gfx1250.wmma<16x16x128, (f8E4M3FN, f8E5M2) -> f16, signA = false, signB = false, clamp = false>,
// CHECK-SAME: %3: !fly_rocdl.gfx1250.wmma_scale<32x16x128, (f4E2M1FN, f4E2M1FN) -> f32, opselA = 0, opselB = 1, modC = 0, reuseA = true, reuseB = false, blockSize = 16>
func.func private @wmma(%0: !fly_rocdl.gfx11.wmma<16x16x16, (i8, i8) -> i32, signA=true>, %1: !fly_rocdl.gfx120x.wmma<16x16x16, (bf16, bf16) -> f32>,
    %2: !fly_rocdl.gfx1250.wmma<16x16x128, (f8E4M3FN, f8E5M2) -> f16>,
    %3: !fly_rocdl.gfx1250.wmma_scale<32x16x128, (f4E2M1FN, f4E2M1FN) -> f32, opselB = 1, reuseA = true, blockSize = 16>) { return }

// CHECK: @nvidia(%0: !fly_nvvm.sm80.mma_sync<16x8x8, (tf32, tf32) -> f32>,
// CHECK-SAME: %1: !fly_nvvm.sm90.wgmma<64x128x16, (bf16, bf16) -> f32, a = register, majorA = k, majorB = mn>
func.func private @nvidia(%0: !fly_nvvm.sm80.mma_sync<16x8x8, (tf32, tf32) -> f32>,
    %1: !fly_nvvm.sm90.wgmma<64x128x16, (bf16, bf16) -> f32, a = register, majorB = mn>) { return }

// CHECK: @atoms(%0: !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x4, (f32, f32) -> f32>>,
// CHECK-SAME: %1: !fly.tiled_mma<!fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x16, (f16, f16) -> f16>>, <(2,2,1):(1,2,0)>>
func.func private @atoms(%0: !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x4, (f32, f32) -> f32>>,
    %1: !fly.tiled_mma<!fly.mma_atom<!fly_nvvm.sm80.mma_sync<16x8x16, (f16, f16) -> f16>>, <(2,2,1):(1,2,0)>>) { return }
