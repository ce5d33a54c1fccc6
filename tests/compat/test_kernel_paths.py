"""The kernels under the paths that FlyDSL's documentation gives them, with the entries and arguments it states."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.expr as fx
from kernels import (
    blockscale_preshuffle_gemm,
    custom_all_reduce,
    flash_attn_generic,
    flash_attn_gfx950,
    fused_rope_cache_kernel,
    gemm_common_gfx1250,
    gemm_fp8fp4_gfx1250,
    hgemm_splitk,
    layernorm_kernel,
    mixed_moe_gemm_2stage,
    moe_blockscale_2stage,
    moe_gemm_2stage,
    pa_decode_fp8,
    preshuffle_gemm,
    rdna_f16_gemm,
    rdna_fp8_preshuffle_gemm,
    reduce,
    rmsnorm_kernel,
    softmax_kernel,
    wmma_gemm_gfx1250,
)
from tests.compat.launching import run

REPOSITORY = Path(__file__).resolve().parents[2]
MOE = "model_dim inter_dim experts topk tile_m tile_n tile_k"
ENTRIES: list[tuple[Any, str]] = [
    (preshuffle_gemm.compile_preshuffle_gemm_a8,
     "M N K tile_m tile_n tile_k in_dtype out_dtype lds_stage use_cshuffle_epilog waves_per_eu use_async_copy "
     "dsrd_preload dvmem_preload epilogue xcd_swizzle"),
    (blockscale_preshuffle_gemm.compile_blockscale_preshuffle_gemm,
     "M N K tile_m tile_n tile_k scale_block_k out_dtype use_cshuffle_epilog waves_per_eu use_async_copy"),
    (hgemm_splitk.hgemm_splitk_, "c a b bias hgemm_kwargs stream"),
    (hgemm_splitk.compile_hgemm_kernel,
     "TILE_M TILE_N TILE_K STAGES SPLIT_K BLOCK_M_WARPS BLOCK_N_WARPS BLOCK_K_WARPS B_TO_LDS HAS_BIAS"),
    (moe_gemm_2stage.compile_moe_gemm1, f"{MOE} doweight_stage1 in_dtype out_dtype"),
    (moe_gemm_2stage.compile_moe_gemm2, f"{MOE} doweight_stage2 in_dtype out_dtype accumulate"),
    (moe_blockscale_2stage.compile_moe_blockscale_gemm1, f"{MOE} doweight_stage1 scale_block_k out_dtype"),
    (mixed_moe_gemm_2stage.compile_mixed_moe_gemm1, f"{MOE} a_dtype b_dtype out_dtype"),
    (pa_decode_fp8.pa_decode_ps_launch,
     "output query key_cache value_cache context_lengths kv_page_indices kv_indptr softmax_scale key_scale "
     "value_scale"),
    (flash_attn_generic.build_flash_attn_func_module, "num_heads head_dim causal dtype_str sm_scale waves_per_eu"),
    (flash_attn_gfx950.build_flash_attn_func_module, "num_heads head_dim causal dtype_str"),
    (fused_rope_cache_kernel.build_fused_rope_cache_module,
     "head_dim rotary_dim num_q_heads num_kv_heads block_size is_neox flash_layout dtype_str apply_scale"),
    (gemm_fp8fp4_gfx1250.compile_fp8fp4_gemm, "data_format scale_mode N K tile_m tile_n tile_k m_warp n_warp"),
    (gemm_common_gfx1250.pipeline_fence, "outstanding use_cluster"),
    (wmma_gemm_gfx1250.compile_wmma_gemm_tdm, "N K tile_m tile_n tile_k m_warp n_warp"),
    (rdna_fp8_preshuffle_gemm.compile_fp8_gemm, "M N K tile_m tile_n tile_k k_unroll group_m"),
    (custom_all_reduce.init_custom_ar, ""),
    (rdna_f16_gemm.create_wmma_gemm_module, "M N K"),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "names"), ENTRIES, ids=[f"{e.__module__}.{e.__name__}" for e, _ in ENTRIES])
def test_an_entry_takes_what_is_stated(entry: Any, names: str) -> None:
    parameters = inspect.signature(entry).parameters
    taken = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    assert [name for name in names.split() if name not in parameters] == [] or taken
    assert entry.__module__.startswith("flydsl.kernels."), "it is the library's own, not a copy"


@pytest.mark.parametrize("form", ["with rows", "without"])
def test_norm_builders_in_both_forms(form: str, rng: np.random.Generator) -> None:
    """``build(M, N, dtype)`` as the documentation has it, ``build(N, dtype)`` as the repository; softmax keeps M."""
    m, n = 3, 65
    sizes = (m, n, "f32") if form == "with rows" else (n, "f32")
    x, gamma, beta = (rng.standard_normal(shape).astype(np.float32) for shape in ((m, n), n, n))
    y = np.full((m, n), np.nan, np.float32)
    wide = x.astype(np.float64)
    softmax_kernel.build_softmax_module(m, n, *sizes[2:])(x, y, m)
    powers = np.exp(wide - wide.max(1, keepdims=True))
    np.testing.assert_allclose(y, powers / powers.sum(1, keepdims=True), rtol=1e-5)
    rmsnorm_kernel.build_rmsnorm_module(*sizes)(x, gamma, y, m)
    np.testing.assert_allclose(y, wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-5) * gamma, rtol=1e-4, atol=1e-6)
    layernorm_kernel.build_layernorm_module(*sizes)(x, gamma, beta, y, m)
    centred = wide - wide.mean(1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * gamma + beta
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


def test_reductions_over_a_wave(rng: np.random.Generator) -> None:
    x, out = rng.random(64, np.float32), np.zeros((2, 64), np.float32)

    def body(x: fx.Tensor, out: fx.Tensor) -> None:
        t = fx.thread_idx.x
        out[0, t] = reduce.wave_reduce(x[t], reduce.add)
        out[1, t] = reduce.wave_reduce(x[t], reduce.maximum)

    run(body, x, out, block=64)
    np.testing.assert_allclose(out[0], x.astype(np.float64).sum(), rtol=1e-5)
    assert (out[1] == x.max()).all()


@pytest.mark.large_shape
def test_softmax_of_a_models_rows(rng: np.random.Generator) -> None:
    m, n = 8192, 8192
    x = rng.standard_normal((m, n)).astype(np.float32)
    y = np.full_like(x, np.nan)
    softmax_kernel.build_softmax_module(m, n)(x, y, m)
    np.testing.assert_allclose(y.sum(1), 1, rtol=1e-5)
    powers = np.exp(x[::999].astype(np.float64) - x[::999].max(1, keepdims=True))
    np.testing.assert_allclose(y[::999], powers / powers.sum(1, keepdims=True), rtol=1e-4)


HELD = {
    "kernels.softmax_bwd_kernel": "build_softmax_bwd_module softmax_bwd_buffered_operands",
    "kernels.norm.softmax_bwd_kernel": "build_softmax_bwd_module softmax_bwd_buffered_operands",
    "kernels.layernorm_kernel": "build_layernorm_module build_layernorm_bwd_module layernorm layernorm_fwd "
    "layernorm_bwd build_fused_add_layernorm_module build_layernorm_dynamicquant_module "
    "build_layernorm_smoothquant_module build_fused_add_layernorm_dynamicquant_module "
    "build_fused_add_layernorm_smoothquant_module",
    "kernels.rmsnorm_kernel": "build_rmsnorm_module build_rmsnorm_bwd_module rmsnorm rmsnorm_fwd rmsnorm_bwd "
    "fused_add_rmsnorm rmsnorm_direct rmsnorm_autotuned build_fused_add_rmsnorm_module "
    "build_rmsnorm_dynamicquant_module build_rmsnorm_smoothquant_module "
    "build_fused_add_rmsnorm_dynamicquant_module build_fused_add_rmsnorm_smoothquant_module",
    "kernels.norm.layernorm_kernel": "build_layernorm_module layernorm",
    "kernels.norm.rmsnorm_kernel": "build_rmsnorm_module rmsnorm",
    "kernels.norm.rmsnorm_bwd_kernel": "build_rmsnorm_bwd_module rmsnorm_bwd",
    "kernels.qk_norm_rope_quant": "flydsl_qk_norm_rope_quant",
    "kernels.layout_utils": "idx2crd crd2idx get",
    "kernels.common.layout_utils": "idx2crd crd2idx get",
    "kernels.common.mem_ops": "atomic_add buffer_atomic_add global_load global_store get_llvm_ptr",
    "kernels.common.utils": "cdiv align_up is_pow2 exp2_f32_fast rcp_f32",
    "kernels.common.gfx1250_cluster": "compute_mcast_masks",
    "kernels.silu_and_mul_fq": "build_silu_and_mul_fq_module",
    "kernels.moe.silu_and_mul_fq": "build_silu_and_mul_fq_module",
    "kernels.quant_kernel": "build_quant_module",
    "kernels.vec_add": "vecAdd",
}


@pytest.mark.parametrize("path", HELD)
def test_a_path_leads_to_what_it_holds(path: str) -> None:
    module = import_module(path)
    assert [name for name in HELD[path].split() if not callable(getattr(module, name, None))] == []
    assert module.__name__.startswith("flydsl."), "it is the library's own, not a copy"


def test_a_module_is_imported_from_its_folder() -> None:
    """Beside ``import kernels.norm.layernorm_kernel``, in whatever order: in a process of its own."""
    code = (
        "from kernels.norm import layernorm_kernel, softmax\n"
        "from kernels.common import mem_ops, utils\n"
        "from kernels.moe.moe_gemm_2stage import gemm1, compile_moe_gemm1\n"
        "import kernels.norm.softmax_kernel, flydsl.kernels.norm.softmax, flydsl.expr.mem_ops\n"
        "print(softmax is kernels.norm.softmax_kernel is flydsl.kernels.norm.softmax, mem_ops is flydsl.expr.mem_ops)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=REPOSITORY)
    assert shown.stdout == "True True\n", shown.stderr
