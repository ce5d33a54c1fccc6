"""Products of 8-bit floats with a scale for every row of A and of B, by blocks of four or eight waves (gfx950, gfx942).

gemm = compile_fp8_gemm_4w(K=8192)
gemm(A, B_T, C, scale_a, scale_b, M, N, stream)

C[m, n] = (sum over k of A[m, k] * B_T[n, k]) * scale_a[m] * scale_b[n] in bf16, for any M and N. With four waves each
has a SIMD to itself, and its own products cover its copies; with eight waves two share a SIMD, and one multiplies while
the other moves. ``b_preshuffled`` takes B in the order of `shuffle_weight`, by `preshuffle_b`.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.inputs import require_elements, require_pitch, require_type, require_whole
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.limits import require_multiple
from flydsl.kernels.gemm.lds_gemm import multiply_tiles
from flydsl.kernels.gemm.lds_plan import LANES, OTHERS, OUTPUTS, REGISTERS, SIMDS, LdsPlan
from flydsl.kernels.gemm.matrix_cores import ACCESS_BYTES, ACCESS_LANES, BLOCK
from flydsl.kernels.gemm.preshuffle_plan import WeightShapeError, shuffle_weight

TILE_K = 128
XCDS, BAND = 8, 4
"""Chiplets of the GPU, and rows of tiles that follow each other along M."""

BESIDE_SUMS = 196
"""Registers of a lane that a product needs beside its sums, where those take more than vector instructions name: with
four fewer, one is spilled for an N that is no power of two."""


def limits(plan: LdsPlan) -> dict[str, Any]:
    """Return a limit of registers. A wave that has its SIMD to itself may take 512, and without one LLVM does."""
    most = min(plan.sums + BESIDE_SUMS, REGISTERS)
    return {"fly.maxnreg": most} if plan.rolled else {}


def require_registers(plan: LdsPlan) -> None:
    """Refuse a tile whose sums leave no room for a wave's columns of B, those that are multiplied and those that come.

    November 2026, of 19 tiles on gfx950: LLVM spills 24 registers and more of the 9 that are refused.
    """
    columns = plan.tile_n // (plan.n_waves * BLOCK) * (BLOCK * TILE_K // (4 * LANES))
    there = REGISTERS // -(-plan.waves // SIMDS)
    if plan.sums + 2 * columns + OTHERS > there:
        raise ValueError(
            f"a lane of {plan.waves} waves has {there} registers, and a tile of {plan.tile_m} x {plan.tile_n} takes "
            f"{plan.sums} for sums, {2 * columns} for columns of B and {OTHERS} or more for the rest: take a smaller "
            "BLOCK_N or BLOCK_M"
        )


@kept
def launcher(K: int, tile: tuple[int, int], waves: tuple[int, int], remap: bool, shuffled: bool) -> Any:
    def plan_for(n: int) -> LdsPlan:
        if shuffled and n % 16:
            raise ValueError(f"shuffled weights come in blocks of 16 rows, so N must be a multiple of 16, got {n}")
        return LdsPlan(n, K, *tile, TILE_K, "fp8", "bf16", m_waves=waves[0], n_waves=waves[1], scaled=True,
                       b_shuffled=shuffled, xcds=XCDS if remap else 0, group_m=BAND if remap else 0)  # fmt: skip

    require_registers(plan_for(16))  # what does not depend on N is refused here already
    threads = plan_for(16).threads

    @flyc.kernel(known_block_size=(threads, 1, 1))
    def fp8_gemm_kernel(
        A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, sa: fx.Tensor, sb: fx.Tensor, m: fx.Int32, n: fx.Constexpr[int]
    ):
        multiply_tiles(C, A, B, (sa, sb, sb), m, (sa, sa), plan_for(n))

    @flyc.jit
    def fp8_gemm(
        A: fx.Tensor, B_T: fx.Tensor, C: fx.Tensor, scale_a: fx.Tensor, scale_b: fx.Tensor, M: fx.Int32,
        N: fx.Constexpr[int], stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        plan = plan_for(N)
        plan.require_call("a product of 8-bit floats")
        require_type((C,), OUTPUTS[plan.out])
        require_type((scale_a, scale_b), fx.Float32)
        rows = fx.Int64(M)
        require_elements(("A", A, rows * K), ("B_T", B_T, N * K), ("C", C, rows * N), ("scale_a", scale_a, M),
                         ("scale_b", scale_b, N))  # fmt: skip
        fp8_gemm_kernel(A, B_T, C, scale_a, scale_b, M, N, value_attrs=limits(plan)).launch(
            grid=plan.blocks(M), block=(threads, 1, 1), stream=stream
        )

    return fp8_gemm


@kept
def scaled_launcher(plan: LdsPlan) -> Any:
    """``fn(A, B_T, C, scale_a, scale_b, bias, M, stream)`` of any plan with scales; the bias is f32."""

    @flyc.kernel(known_block_size=(plan.threads, 1, 1))
    def scaled_kernel(
        A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, sa: fx.Tensor, sb: fx.Tensor, bias: fx.Tensor, m: fx.Int32
    ):
        multiply_tiles(C, A, B, (sa, sb, bias), m, (sa, sa), plan)

    @flyc.jit
    def scaled_gemm(
        A: fx.Tensor, B_T: fx.Tensor, C: fx.Tensor, scale_a: fx.Tensor, scale_b: fx.Tensor, bias: fx.Tensor,
        M: fx.Int32, stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        plan.require_call("a product of 8-bit floats")
        require_type((C,), OUTPUTS[plan.out])
        require_type((scale_a, scale_b), fx.Float32)
        for matrix, pitch, least in ((A, plan.lda, plan.k), (B_T, plan.ldb, plan.k), (C, plan.ldc, plan.n)):
            require_pitch(matrix, pitch or least, least)
        require_whole(scale_a, scale_b, *([bias] if plan.biased else []))
        scaled_kernel(A, B_T, C, scale_a, scale_b, bias, M, value_attrs=limits(plan)).launch(
            grid=plan.blocks(M), block=(plan.threads, 1, 1), stream=stream
        )

    return scaled_gemm


def compile_fp8_gemm_4w(
    *, K: int, BLOCK_M: int = 256, BLOCK_N: int = 256, use_xcd_remap: bool = True, b_preshuffled: bool = False
) -> Any:
    """Return the launcher ``gemm(A, B_T, C, scale_a, scale_b, M, N, stream)`` with two by two waves; M differs per
    call."""
    for name, value, step in (("K", K, TILE_K), ("BLOCK_M", BLOCK_M, 64), ("BLOCK_N", BLOCK_N, 64)):
        require_multiple(name, value, step)
    return launcher(K, (BLOCK_M, BLOCK_N), (2, 2), use_xcd_remap, b_preshuffled)


def compile_fp8_gemm_8w(*, K: int, BLOCK_M: int = 256, BLOCK_N: int = 256, b_preshuffled: bool = False) -> Any:
    """Return the same launcher with two by four waves, two of which share a SIMD."""
    for name, value, step in (("K", K, TILE_K), ("BLOCK_M", BLOCK_M, 128), ("BLOCK_N", BLOCK_N, 256)):
        require_multiple(name, value, step)
    return launcher(K, (BLOCK_M, BLOCK_N), (2, 4), True, b_preshuffled)


def preshuffle_b(weight: Any) -> Any:
    """B_T[..., n, k] of bytes in the order of ``b_preshuffled``, that of `shuffle_weight`; k is a multiple of 64."""
    shape, across = tuple(weight.shape), ACCESS_LANES * ACCESS_BYTES
    if shape[-1] % across:
        raise WeightShapeError(f"a weight of bytes has columns in blocks of {across}; its shape is {shape}")
    return shuffle_weight(weight)


__all__ = ["compile_fp8_gemm_4w", "compile_fp8_gemm_8w", "preshuffle_b"]
