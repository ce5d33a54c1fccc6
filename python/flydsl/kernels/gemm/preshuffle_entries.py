"""The preshuffle GEMMs by the names of FlyDSL 0.2.2: one builder for every element type, and what stands beside it."""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.limits import require
from flydsl.kernels.gemm.mxfp4_preshuffle import compile_preshuffle_gemm_a6w4, compile_preshuffle_gemm_w4, e8m0_shuffle
from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm, pack_int4, shuffle_weight
from flydsl.kernels.gemm.preshuffle_w4a16 import compile_preshuffle_gemm_w4a16


def compile_preshuffle_gemm_a8(
    *, M: int = 0, N: int, K: int, tile_m: int, tile_n: int, tile_k: int, in_dtype: str = "fp8",
    out_dtype: str = "fp16", lds_stage: int = 2, use_cshuffle_epilog: bool = False, waves_per_eu: int | None = None,
    use_async_copy: bool = False, dsrd_preload: int = -1, dvmem_preload: int = -1, epilogue: str = "none",
    xcd_swizzle: int = 0,
) -> Any:  # fmt: skip
    """Return the launcher ``gemm(C, A, B_shuffled, scale_a, scale_b, bias, M, N, stream)`` for any ``in_dtype``.

    With fp4 and fp6 the weights are fp4, and both scales E8M0 bytes of `e8m0_shuffle`. ``M`` is a hint. The preloads
    are reads of LDS and loads of a chunk that come before its first product; -1 spreads all of them over the products.
    """
    if use_cshuffle_epilog and epilogue != "none":
        raise ValueError(f"use_cshuffle_epilog goes without an epilogue, and {epilogue!r} is asked for")
    if in_dtype in ("fp4", "fp6"):
        return compile_preshuffle_gemm_w4(
            N=N, K=K, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, a_dtype=in_dtype, out_dtype=out_dtype,
            lds_stage=lds_stage, waves_per_eu=waves_per_eu, epilogue=epilogue, xcd_swizzle=xcd_swizzle,
            use_async_copy=use_async_copy, use_cshuffle_epilog=use_cshuffle_epilog, dsrd_preload=dsrd_preload,
            dvmem_preload=dvmem_preload,
        )  # fmt: skip
    ahead = max(dsrd_preload, 0), max(dvmem_preload, 0)
    return compile_preshuffle_gemm(
        N=N, K=K, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, in_dtype=in_dtype, out_dtype=out_dtype,
        lds_stage=lds_stage, waves_per_eu=waves_per_eu, epilogue=epilogue, xcd_swizzle=xcd_swizzle,
        use_async_copy=use_async_copy, use_cshuffle_epilog=use_cshuffle_epilog, preload=ahead,
    )  # fmt: skip


def compile_preshuffle_gemm_v2(
    *, N: int, K: int, tile_m: int, tile_n: int, tile_k: int, in_dtype: str = "fp8", out_dtype: str = "bf16",
    waves_per_eu: int | None = None, enable_scheduler: bool = True,
) -> Any:  # fmt: skip
    """Return the launcher ``gemm(C, A, B_shuffled, scale_a, scale_b, M, N, stream)``, without a bias."""
    require("in_dtype", in_dtype, ("fp8", "fp16", "bf16"))
    gemm = compile_preshuffle_gemm(
        N=N, K=K, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, in_dtype=in_dtype, out_dtype=out_dtype,
        waves_per_eu=waves_per_eu, enable_scheduler=enable_scheduler,
    )  # fmt: skip

    @flyc.jit
    def without_bias(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, scale_a: fx.Tensor, scale_b: fx.Tensor, M: fx.Int32,
        N: fx.Constexpr[int], stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        gemm(C, A, B, scale_a, scale_b, scale_b, M, N, stream)

    return without_bias


__all__ = [
    "compile_preshuffle_gemm", "compile_preshuffle_gemm_a6w4", "compile_preshuffle_gemm_a8",
    "compile_preshuffle_gemm_v2", "compile_preshuffle_gemm_w4", "compile_preshuffle_gemm_w4a16", "e8m0_shuffle",
    "pack_int4", "shuffle_weight",
]  # fmt: skip
