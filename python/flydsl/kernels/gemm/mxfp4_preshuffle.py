"""The preshuffle GEMM of four-bit floats with a scale for every 32 elements of K, for gfx950.

gemm = compile_preshuffle_gemm_w4(N=8192, K=8192, tile_m=64, tile_n=128, tile_k=256)
gemm(C, A, shuffle_weight(B), e8m0_shuffle(scale_a), e8m0_shuffle(scale_b), bias, M, N, stream)

C[m, n] = sum over k of A[m, k] * B[n, k] * 2 ** (scale_a[m, k / 32] + scale_b[n, k / 32] - 254). A and B hold two E2M1
values a byte, the even one in the lower half; scales are E8M0 bytes in the order of `e8m0_shuffle`. The bias is not
read.

To the pipeline a tile is bytes: 64 of a row, one 16-byte access of each of four lanes, are the 128 elements of an
instruction. The scales of 32 rows and 256 elements are one word a lane, of which each instruction picks its byte.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.gemm.preshuffle_gemm import Pipeline, multiply_in_blocks
from flydsl.kernels.gemm.preshuffle_plan import BLOCK, SCALED_DEPTH, THREADS, WAVES, GemmPlan
from flydsl.kernels.quant.shuffles import e8m0_shuffle

WORD_DEPTH = 256
"""Elements of K whose scales share a word: two instructions deep, for two blocks of 16 rows."""
LANES = 64


class ScaleWords:
    """The scale words of a wave's rows, of two tiles along K: one is used while the other arrives."""

    def __init__(self, scales: Any, rows: Any, pairs: tuple[Any, int, int], depth: int, words: int) -> None:
        """``pairs`` are the first of the wave's pairs of 16 rows, how many, and how far apart."""
        first, count, apart = pairs
        across = depth // WORD_DEPTH * LANES
        records = fx.Int64((rows + 31) // 32 * 32) * (depth // 32)
        start = rocdl.make_buffer_ptr(fx.recast_iter(fx.Int32, fx.get_iter(scales)), records)
        start = start + (first * across + fx.thread_idx.x % LANES)
        self.view = fx.make_view(start, fx.make_layout((count, words), (apart * across, LANES)))
        self.access = fx.make_copy_atom(rocdl.BufferCopy32b(), fx.Int32)
        self.tiles = [fx.make_rmem_tensor((count, words), fx.Int32) for _ in range(2)]

    def load(self, tile: int, word: Any) -> None:
        """Fetch those of a tile that begins ``word`` words along K."""
        fx.copy(self.access, self.view, self.tiles[tile % 2], soffset=word * LANES)


class Fp4Pipeline(Pipeline):
    """A pipeline of bytes, multiplied as pairs of four-bit floats.

    A wave takes every fourth block of 16 columns, so of each word it needs the bytes of one half: that of its number.
    """

    def __init__(self, plan: GemmPlan, A: Any, B: Any, scales: tuple[Any, Any], m: Any, at: tuple[Any, Any]) -> None:
        column, row = at
        super().__init__(plan, bytes_of(A), bytes_of(B), m, column, row)
        plan, depth = self.plan, 2 * self.plan.k
        self.total = fx.make_fragment_like(self.total, dtype=fx.Float32)
        self.total.fill(0.0)
        words = 2 * plan.tile_k // WORD_DEPTH
        wave = rocdl.readfirstlane(fx.Int32(fx.thread_idx.x // LANES))
        self.half_of_word = wave % 2 * 8
        of_columns = (column * (plan.tile_n // 32) + wave // 2, plan.column_tiles, WAVES // 2)
        of_rows = (row * (plan.tile_m // 32), plan.tile_m // 32, 1)
        self.column_scales = ScaleWords(scales[1], fx.Int32(plan.n), of_columns, depth, words)
        self.row_scales = ScaleWords(scales[0], m, of_rows, depth, words)

    def load_b(self, tile: int, chunk: int, after: Any = 0) -> None:
        if chunk == 0:
            last = (self.plan.k - self.plan.tile_k) * 2 // WORD_DEPTH
            word = fx.min(fx.Int32((after + tile * self.plan.tile_k) * 2 // WORD_DEPTH), fx.Int32(last))
            self.row_scales.load(tile, word)
            self.column_scales.load(tile, word)
        super().load_b(tile, chunk, after)

    def add_products(self, a: Any, b: Any, tile: int, chunk: int) -> None:
        word, half = divmod(chunk, WORD_DEPTH // SCALED_DEPTH)
        rows = [fp4_of(a[None, i, None]) for i in range(self.plan.row_tiles)]
        columns = [fp4_of(b[None, j, None]) for j in range(self.plan.column_tiles)]
        of_rows, of_columns = (scales.tiles[tile % 2] for scales in (self.row_scales, self.column_scales))
        for i, row in enumerate(rows):
            for j, column in enumerate(columns):
                picks = {"opsel_a": 2 * half, "opsel_b": 2 * half + i % 2}
                atom = fx.make_mma_atom(rocdl.MFMAScale(BLOCK, BLOCK, SCALED_DEPTH, fx.Float4E2M1FN, **picks))
                total = fx.coalesce(self.total[None, j, i])
                scales = {"scale_a": of_columns[j, word] >> self.half_of_word, "scale_b": of_rows[i // 2, word]}
                fx.gemm(atom, total, column, row, total, **scales)


def bytes_of(tensor: Any) -> Any:
    """A tensor of bytes as the integers that the copies of the pipeline are made for."""
    return fx.make_view(fx.recast_iter(fx.Int8, fx.get_iter(tensor)), tensor.layout)


def fp4_of(part: Any) -> Any:
    """The 16 bytes of an access as 32 values of an operand."""
    operand = fx.make_rmem_tensor(2 * fx.get_scalar(fx.size(part)), fx.Float4E2M1FN)
    operand.store(part.load().bitcast(fx.Float4E2M1FN))
    return operand


@cache
def compile_preshuffle_gemm_w4(
    *, M: int = 0, N: int, K: int, tile_m: int, tile_n: int, tile_k: int, a_dtype: str = "fp4", b_dtype: str = "fp4",
    out_dtype: str = "bf16", lds_stage: int = 2, use_cshuffle_epilog: bool = False, waves_per_eu: int | None = None,
    use_async_copy: bool = False, dsrd_preload: int = 2, dvmem_preload: int = 2, epilogue: str = "none",
    xcd_swizzle: int = 0,
) -> Any:  # fmt: skip
    """The launcher ``gemm(C, A, B_shuffled, scale_a, scale_b, bias, M, N, stream)``; ``M`` here is a hint.

    The preloads, ``use_cshuffle_epilog`` and ``use_async_copy`` are ways to the same numbers and change nothing.
    """
    if (a_dtype, b_dtype) != ("fp4", "fp4"):
        raise NotImplementedError(f"a_dtype and b_dtype are fp4 here, got {a_dtype} and {b_dtype}")
    if epilogue != "none":
        raise ValueError(f"block-scaled products have no epilogue, and {epilogue!r} is asked for")
    for name, value, step in (("tile_k", tile_k, WORD_DEPTH), ("K", K, tile_k), ("tile_m", tile_m, 32),
                              ("tile_n", tile_n, BLOCK * WAVES)):  # fmt: skip
        if value <= 0 or value % step:
            raise ValueError(f"{name} must be a positive multiple of {step}, got {value}")
    plan = GemmPlan(N, K // 2, tile_m, tile_n, tile_k // 2, "int8", out_dtype, scheduled=False, lds_stages=lds_stage,
                    xcds=xcd_swizzle)  # fmt: skip

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def fp4_gemm_kernel(C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, sa: fx.Tensor, sb: fx.Tensor, m: fx.Int32):
        multiply_in_blocks(Fp4Pipeline, C, A, B, (sa, sb), m, plan)

    @flyc.jit
    def fp4_gemm(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, scale_a: fx.Tensor, scale_b: fx.Tensor, bias: fx.Tensor, M: fx.Int32,
        N: fx.Constexpr[int], stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        plan.require_columns(N)
        fp4_gemm_kernel(C, A, B, scale_a, scale_b, M).launch(grid=plan.blocks(M), block=(THREADS, 1, 1), stream=stream)

    if waves_per_eu is not None:
        fp4_gemm.compile_hints["waves_per_eu"] = waves_per_eu
    return fp4_gemm


__all__ = ["compile_preshuffle_gemm_w4", "e8m0_shuffle"]
