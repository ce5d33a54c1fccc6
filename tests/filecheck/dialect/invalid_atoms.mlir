// RUN: fly-opt --keep-names --split-input-file --verify-diagnostics %s
// Instructions that do not exist are refused where their type is written, with what is wrong.

// expected-error@+1 {{unsupported MNK for GFX1250 WMMA_Scale: 16x32x128 (expected 16x16x128 or 32x16x128)}}
func.func @wmma_scale_shape(%a: !fly.mma_atom<!fly_rocdl.gfx1250.wmma_scale<16x32x128, (f8E4M3FN, f8E4M3FN) -> f32, opselA = 0, opselB = 0, modC = 0, reuseA = false, reuseB = false, blockSize = 32>>) {
  return
}

// -----

// expected-error@+1 {{GFX1250 WMMA_Scale 32x16x128 requires f4E2M1FN A and B}}
func.func @wmma_scale_types(%a: !fly.mma_atom<!fly_rocdl.gfx1250.wmma_scale<32x16x128, (f8E4M3FN, f8E4M3FN) -> f32, opselA = 0, opselB = 0, modC = 0, reuseA = false, reuseB = false, blockSize = 32>>) {
  return
}

// -----

// expected-error@+1 {{blockSize must be 16 or 32, got 8}}
func.func @wmma_scale_block(%a: !fly.mma_atom<!fly_rocdl.gfx1250.wmma_scale<16x16x128, (f8E4M3FN, f8E4M3FN) -> f32, opselA = 0, opselB = 0, modC = 0, reuseA = false, reuseB = false, blockSize = 8>>) {
  return
}

// -----

// expected-error@+1 {{numWarps must be a positive power of two, got 3}}
func.func @tdm_warps(%a: !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 3, pad = 0, 0, cache = 0, barrier = false, timeout = false>, 16>) {
  return
}

// -----

// expected-error@+1 {{padInterval and padAmount must both be zero or both non-zero}}
func.func @tdm_padding(%a: !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 8, 0, cache = 0, barrier = false, timeout = false>, 16>) {
  return
}

// -----

// expected-error@+1 {{padInterval must be a power of two (in elements), got 6}}
func.func @tdm_interval(%a: !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 6, 2, cache = 0, barrier = false, timeout = false>, 16>) {
  return
}

// -----

// expected-error@+1 {{signA/signB/clamp are only valid for integer (iu4/iu8) WMMA}}
func.func @wmma_signs(%a: !fly.mma_atom<!fly_rocdl.gfx1250.wmma<16x16x32, (f16, f16) -> f32, signA = true, signB = false, clamp = false>>) {
  return
}

// -----

// expected-error@+1 {{GFX11 WMMA fp16/bf16 path does not accept signA/signB/clamp}}
func.func @wmma_gfx11_signs(%a: !fly.mma_atom<!fly_rocdl.gfx11.wmma<16x16x16, (f16, f16) -> f32, signA = true, signB = false, clamp = false>>) {
  return
}

// -----

// expected-error@+1 {{GFX120X WMMA requires M=N=K=16, got 16x16x32}}
func.func @wmma_gfx120x_shape(%a: !fly.mma_atom<!fly_rocdl.gfx120x.wmma<16x16x32, (f16, f16) -> f32, signA = false, signB = false, clamp = false>>) {
  return
}

// -----

// expected-error@+1 {{unsupported GFX120X WMMA configuration: 16x16x16 with A='f32'}}
func.func @wmma_gfx120x_types(%a: !fly.mma_atom<!fly_rocdl.gfx120x.wmma<16x16x16, (f32, f32) -> f32, signA = false, signB = false, clamp = false>>) {
  return
}
