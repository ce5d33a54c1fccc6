"""The preshuffle GEMM of floats of eight, six and four bits with a scale for every 32 elements of K, for gfx950.

gemm = compile_preshuffle_gemm_w4(N=8192, K=8192, tile_m=64, tile_n=128, tile_k=256, a_dtype="fp4")
gemm(C, A, shuffle_weight(B), e8m0_shuffle(scale_a), e8m0_shuffle(scale_b), bias, M, N, stream)

C[m, n] = sum over k of A[m, k] * B[n, k] * 2 ** (scale_a[m, k / 32] + scale_b[n, k / 32] - 254). Scales are E8M0 bytes
in the order of `e8m0_shuffle`; the bias is not read. Formats are those of `quantize_mx`: fp4 has two E2M1 values a
byte, the even one in the lower half; fp6 has 32 bytes for 32 E2M3 values, of which the first 24 count; fp8 is E4M3FN.

To the pipeline a tile is bytes. Of the 128 elements of an instruction each of four lanes has 32: of fp4 one 16-byte
access, of fp8 two that lie 64 bytes apart, of fp6 two neighbours. The scales of 32 rows and 256 elements are one word a
lane, of which each instruction picks its byte; where A is copied into LDS they come with it, once for all waves.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.blocks.inputs import require_elements, written_as
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.limits import hint_waves, refuse
from flydsl.kernels.gemm.matrix_cores import BLOCK, SCALED_DEPTH, instruction_for
from flydsl.kernels.gemm.preshuffle.scales import LANES, WORD_DEPTH, CopiedWords, ScaleCopies, ScaleWords, Side
from flydsl.kernels.gemm.preshuffle.weights import Weights, weights_from
from flydsl.kernels.gemm.preshuffle_gemm import Pipeline, multiply_in_blocks
from flydsl.kernels.gemm.preshuffle_plan import LINES_OF_COPY, THREADS, WAVES, GemmPlan
from flydsl.kernels.quant.shuffles import e8m0_shuffle


@dataclass(frozen=True)
class Format:
    """A format of elements: its type, how many share a byte in memory, and the type that its bytes are copied as."""

    dtype: Any
    per_byte: int
    moved_as: str


FORMATS = {
    "fp4": Format(fx.Float4E2M1FN, 2, "int8"),
    "fp6": Format(fx.Float6E2M3FN, 1, "fp8"),
    "fp8": Format(fx.Float8E4M3FN, 1, "fp8"),
}
PAIRS = (("fp4", "fp4"), ("fp6", "fp4"), ("fp8", "fp4"), ("fp8", "fp8"))
"""Formats of A and of B that go together."""
MOVED: dict[str, Any] = {"int8": fx.Int8, "fp8": fx.Float8E4M3FN}


class MxPipeline(Pipeline):
    """A pipeline of bytes, multiplied as floats of few bits.

    A wave takes every fourth block of 16 columns, so of each word it needs the bytes of one half: that of its number.
    """

    BY_ROWS = False

    formats: tuple[Format, Format]

    def __init__(self, plan: GemmPlan, A: Any, B: Any, scales: tuple[Any, Any], m: Any, at: tuple[Any, Any]) -> None:
        column, row = at
        a, b = self.formats
        super().__init__(plan, bytes_of(A, a), bytes_of(B, b), m, column, row)
        plan, self.per_byte = self.plan, a.per_byte
        self.total = fx.make_fragment_like(self.total, dtype=fx.Float32)
        self.total.fill(0.0)
        depth, words = a.per_byte * plan.k, words_of(a.per_byte * plan.tile_k)
        wave = rocdl.readfirstlane(fx.Int32(fx.thread_idx.x // LANES))
        self.half_of_word, pair = wave % 2 * 8, wave // 2
        sides = (Side(scales[0], m, row * (plan.tile_m // 32), plan.tile_m // 32),
                 Side(scales[1], fx.Int32(plan.n), column * (plan.tile_n // 32), plan.tile_n // 32))  # fmt: skip
        if plan.copied:
            self.copies = self.copies_from(sides, depth, words)
            first = self.copies.before_columns * LINES_OF_COPY + pair * words
            self.row_scales: Any = CopiedWords(self.copies, 0, plan.tile_m // 32, words)
            self.column_scales: Any = CopiedWords(self.copies, first, plan.column_tiles, WAVES // 2 * words)
            return
        rows, columns = sides
        self.row_scales = ScaleWords(rows.scales, rows.rows, (rows.first, rows.pairs, 1), depth, words)
        of_columns = (columns.first + pair, plan.column_tiles, WAVES // 2)
        self.column_scales = ScaleWords(columns.scales, columns.rows, of_columns, depth, words)

    def registers(self, plan: GemmPlan) -> int:
        """Return the registers of a lane, with the words of scales of two tiles."""
        words = words_of(self.per_byte * plan.tile_k)
        return super().registers(plan) + 2 * words * (plan.tile_m // 32 + plan.column_tiles)

    def copies_from(self, sides: tuple[Side, Side], depth: int, words: int) -> ScaleCopies:
        """Return the copies of scales into LDS, behind the tiles of A."""
        plan = self.plan
        room = plan.lds_stages * plan.scale_copies * WAVES * LINES_OF_COPY * LANES
        start = self.allocator.allocate(fx.Array[fx.Int32, room], 1024).peek().ptr
        return ScaleCopies(plan, start, sides, depth, words)

    def word_of(self, tile: int, after: Any) -> Any:
        """Return where the scales of a tile begin along K, in words; of one beyond the end nobody uses them."""
        elements = self.per_byte * self.plan.tile_k
        last = (self.plan.iterations - 1) * elements // WORD_DEPTH
        return fx.min(fx.Int32((after * self.per_byte + tile * elements) // WORD_DEPTH), fx.Int32(last))

    def load_a(self, tile: int, after: Any = 0) -> None:
        super().load_a(tile, after)
        if self.plan.copied:
            self.copies.copy(tile % self.plan.lds_stages, self.word_of(tile, after))

    def read_a(self, tile: int, chunk: int) -> None:
        super().read_a(tile, chunk)
        if self.plan.copied and chunk == 0:
            self.row_scales.read(tile)
            self.column_scales.read(tile)

    def weights_of(self, B: Any, column: Any, dtype: Any) -> Any:
        plan = self.plan
        self.b_end = plan.tile_n * plan.k
        waves, depth = fx.make_layout((WAVES, 1, 1), (1, 0, 0)), plan.tile_k // 2 if plan.halved else plan.tile_k
        self.of_weights = instruction_for(self.formats[1].moved_as, waves, depth)
        view = weights_from(B, column * plan.tile_n, plan)
        return Weights(plan, view, self.of_weights.tiled, self.of_weights.dtype)

    def read_slots(self, slots: list[Any]) -> list[Any]:
        """Lanes have two accesses that lie 64 bytes apart. Of fp6 they are neighbours, so places along K change."""
        if self.formats[0].dtype is not fx.Float6E2M3FN:
            return slots
        plan, size = self.plan, self.plan.staged_rows * self.plan.tile_k
        shape = (plan.tile_m, (16, 4, 2, plan.tile_k // SCALED_DEPTH))
        layout = fx.make_composed_layout(self.swizzle, fx.make_layout(shape, (plan.tile_k, (1, 32, 16, 128))))
        return [fx.make_view(self.lds + stage * size, layout) for stage in range(plan.lds_stages)]

    def load_b(self, tile: int, chunk: int, after: Any = 0) -> None:
        if chunk == 0 and not self.plan.copied:
            word = self.word_of(tile, after)
            self.row_scales.load(tile, word)
            self.column_scales.load(tile, word)
        super().load_b(tile, chunk, after)

    def multiply(self, tile: int, chunk: int) -> None:
        plan, (a, b) = self.plan, self.formats
        halves = WORD_DEPTH // SCALED_DEPTH
        word, half = divmod(chunk if plan.chunks > 1 else tile % halves, halves)
        along_a, along_b = (self.along(chunk, found.steps) for found in (self.instruction, self.of_weights))
        held, weights = self.a[tile % len(self.a)], self.b.tiles[tile % 2]
        rows = [operand(held[None, i, along_a], a.dtype) for i in range(plan.row_tiles)]
        columns = [operand(weights[None, j, along_b], b.dtype) for j in range(plan.column_tiles)]
        of_rows, of_columns = (scales.tiles[tile % 2] for scales in (self.row_scales, self.column_scales))
        for i, row in enumerate(rows):
            for j, column in enumerate(columns):
                picks = {"opsel_a": 2 * half, "opsel_b": 2 * half + i % 2}
                atom = fx.make_mma_atom(rocdl.MFMAScale(BLOCK, BLOCK, SCALED_DEPTH, b.dtype, a.dtype, **picks))
                total = fx.coalesce(self.total[None, j, i])
                scales = {"scale_a": of_columns[j, word] >> self.half_of_word, "scale_b": of_rows[i // 2, word]}
                fx.gemm(atom, total, column, row, total, **scales)


def scale_bytes(rows: Any, plan: GemmPlan, a_dtype: str) -> Any:
    """Return the bytes of scales of so many rows: words for 32 rows and 256 elements."""
    words = -(-FORMATS[a_dtype].per_byte * plan.k // WORD_DEPTH)
    return fx.Int64((rows + 31) // 32) * (words * LANES * 4)


def words_of(elements: int) -> int:
    """Return how many words of scales a lane has for so many elements of K; two tiles of 128 share one."""
    return max(elements // WORD_DEPTH, 1)


def bytes_of(tensor: Any, kind: Format) -> Any:
    """Return a tensor of bytes as the type that the copies of the pipeline are made for."""
    return fx.make_view(fx.recast_iter(MOVED[kind.moved_as], fx.get_iter(tensor)), tensor.layout)


def operand(part: Any, dtype: Any) -> Any:
    """Return a lane's bytes as 32 values of an operand."""
    words = part.load().bitcast(fx.Int32)
    needed = dtype.width  # 32 values fill as many words as a value has bits
    kept = fx.Vector.from_elements([words[i] for i in range(needed)], fx.Int32)
    found = fx.make_rmem_tensor(32, dtype)
    found.store(kept.bitcast(dtype))
    return found


def fp4_of(part: Any) -> Any:
    """Return the 16 bytes of an access as 32 values of an operand."""
    return operand(part, fx.Float4E2M1FN)


def pipeline_of(a_dtype: str, b_dtype: str) -> type[MxPipeline]:
    """Return the pipeline of two formats."""
    found = (FORMATS[a_dtype], FORMATS[b_dtype])
    return type(f"{a_dtype}x{b_dtype}", (MxPipeline,), {"formats": found})


def plan_of(
    N: int, K: int, tiles: tuple[int, int, int], a_dtype: str, b_dtype: str, out_dtype: str, **more: Any
) -> GemmPlan:
    """Return the plan in bytes of A along K, checked."""
    if (a_dtype, b_dtype) not in PAIRS:
        known = ", ".join(f"{a} with {b}" for a, b in PAIRS)
        raise NotImplementedError(f"a_dtype and b_dtype may be {known}; got {a_dtype} and {b_dtype}")
    tile_m, tile_n, tile_k = tiles
    if tile_k == SCALED_DEPTH and more.get("lds_stages", 2) != 2:
        raise NotImplementedError(f"tile_k = {SCALED_DEPTH} takes lds_stage = 2, got {more['lds_stages']}")
    least = SCALED_DEPTH if tile_k == SCALED_DEPTH else WORD_DEPTH
    for name, value, step in (("tile_k", tile_k, least), ("K", K, tile_k), ("tile_m", tile_m, 32),
                              ("tile_n", tile_n, BLOCK * WAVES)):  # fmt: skip
        if value <= 0 or value % step:
            raise ValueError(f"{name} must be a positive multiple of {step}, got {value}")
    a, b = FORMATS[a_dtype], FORMATS[b_dtype]
    if more.get("copied"):
        lines = (tile // 32 * words_of(tile_k) for tile in (tile_m, tile_n))
        more["scale_copies"] = -(-sum(-(-count // LINES_OF_COPY) for count in lines) // WAVES)
    return GemmPlan(N, K // a.per_byte, tile_m, tile_n, tile_k // a.per_byte, a.moved_as, out_dtype, scheduled=False,
                    halved=a.per_byte < b.per_byte, **more)  # fmt: skip


@kept
def launcher(plan: GemmPlan, a_dtype: str, b_dtype: str, waves_per_eu: int | None = None) -> Any:
    kind = pipeline_of(a_dtype, b_dtype)

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def mx_gemm_kernel(C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, sa: fx.Tensor, sb: fx.Tensor, m: fx.Int32):
        multiply_in_blocks(kind, C, A, B, (sa, sb), m, plan)

    @flyc.jit
    def mx_gemm(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, scale_a: fx.Tensor, scale_b: fx.Tensor, bias: fx.Tensor, M: fx.Int32,
        N: fx.Constexpr[int], stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        plan.require_call(N, ("gfx950",), "gfx942 has compile_preshuffle_gemm, gfx1250 compile_fp8fp4_gemm")
        scales = (
            ("scale_a", scale_a, scale_bytes(M, plan, a_dtype)),
            ("scale_b", scale_b, scale_bytes(N, plan, a_dtype)),
        )
        require_elements(*plan.matrices(C, A, B, M), *scales)
        mx_gemm_kernel(C, A, B, scale_a, scale_b, M).launch(grid=plan.blocks(M), block=(THREADS, 1, 1), stream=stream)

    return hint_waves(mx_gemm, waves_per_eu)


def compile_preshuffle_gemm_w4(
    *, M: int = 0, N: int, K: int, tile_m: int, tile_n: int, tile_k: int, a_dtype: str = "fp4", b_dtype: str = "fp4",
    out_dtype: str = "bf16", lds_stage: int = 2, use_cshuffle_epilog: bool = False, waves_per_eu: int | None = None,
    use_async_copy: bool = False, dsrd_preload: int = 2, dvmem_preload: int = 2, epilogue: str = "none",
    xcd_swizzle: int = 0,
) -> Any:  # fmt: skip
    """Return the launcher ``gemm(C, A, B_shuffled, scale_a, scale_b, bias, M, N, stream)``; ``M`` here is a hint.

    A is fp4, fp6 or fp8 beside weights of fp4, or both are fp8. ``use_async_copy`` brings A and all scales into LDS
    without registers, and ``use_cshuffle_epilog`` stores C in rows, by way of LDS. Reads and loads of a chunk come
    before its products, so the preloads have nothing to add.
    """
    for name, value in (("dsrd_preload", dsrd_preload), ("dvmem_preload", dvmem_preload)):
        refuse(name, value if value != -1 else 2, 2, "all accesses of a chunk come before its first product here")
    if epilogue != "none":
        raise ValueError(f"block-scaled products have no epilogue, and {epilogue!r} is asked for")
    plan = plan_of(N, K, (tile_m, tile_n, tile_k), a_dtype, b_dtype, out_dtype, lds_stages=lds_stage, band=xcd_swizzle,
                   copied=use_async_copy, shuffled_store=use_cshuffle_epilog)  # fmt: skip
    return launcher(plan, a_dtype, b_dtype, waves_per_eu)


def compile_preshuffle_gemm_a6w4(**options: Any) -> Any:
    """`compile_preshuffle_gemm_w4` with A in fp6."""
    return compile_preshuffle_gemm_w4(**{**options, "a_dtype": "fp6", "b_dtype": "fp4"})


def launch_gemm(
    C: Any, A: Any, B: Any, SA: Any, SB: Any, M: int, N: int, stream: Any, columns: int, K: int, tile_m: int,
    tile_n: int, tile_k: int, a_dtype: str = "fp4", out_dtype: str = "bf16", b_dtype: str = "fp4", batch: int = 1,
    a_row_stride: int = -1, a_batch_stride: int = -1, sca_row_stride: int = -1, sca_batch_stride: int = -1,
    c_row_stride: int = -1, c_batch_stride: int = -1, waves_per_eu: int | None = None, xcd_swizzle: int = 0,
) -> None:  # fmt: skip
    """Launch ``batch`` products of one weight: arrays are contiguous, so strides that are given must be the plain ones.

    ``N`` and ``columns`` are the same number, which the original takes both at run time and while compiling.
    """
    if batch < 1 or columns != N:
        raise ValueError(f"batch must be at least 1, and N what was compiled for; got {batch}, {N} and {columns}")
    row_bytes = K // FORMATS[a_dtype].per_byte if a_dtype in FORMATS else K
    for name, given, plain in (
        ("a_row_stride", a_row_stride, row_bytes), ("a_batch_stride", a_batch_stride, M * row_bytes),
        ("c_row_stride", c_row_stride, N), ("c_batch_stride", c_batch_stride, M * N),
        ("sca_row_stride", sca_row_stride, K // 32), ("sca_batch_stride", sca_batch_stride, prod(SA.shape) // batch),
    ):  # fmt: skip
        if given not in (-1, plain) and given >= 0:
            raise ValueError(
                f"{name} must be {plain}, as of contiguous arrays, or -1; got {given}: copy the array first"
            )
    gemm = compile_preshuffle_gemm_w4(
        N=columns, K=K, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, a_dtype=a_dtype, b_dtype=b_dtype,
        out_dtype=out_dtype, waves_per_eu=waves_per_eu or None, xcd_swizzle=xcd_swizzle,
    )  # fmt: skip
    if batch == 1:
        gemm(C, A, B, SA, SB, SB, M, N, stream)
        return
    outs, sides, scales = written_as("C", C, batch, -1), A.reshape(batch, -1), SA.reshape(batch, -1)
    for number in range(batch):
        gemm(outs[number], sides[number], B, scales[number], SB, SB, M, N, stream)


# Four waves, large tiles -----------------------------------------------------------------------------

LARGE, BAND = 256, 4
"""The side of a tile of A and B together, and rows of tiles that a chiplet works through together."""


@kept
def compile_fp4_gemm_4w(*, K: int, use_xcd_remap: bool = True, MN: tuple[int, int] | None = None) -> Any:
    """Return the launcher ``gemm(A, B_shuffled, C, scale_a, scale_b, M, N, stream)`` of large tiles, in fp4 and bf16.

    Extents are multiples of 256; ``MN`` are some known beforehand, which are checked here. Tiles have 128 rows: with
    256 the sums alone fill a lane's accumulation registers, and a quarter of all instructions moves them about.
    """
    if K <= 0 or K % WORD_DEPTH:
        raise ValueError(f"K must be a positive multiple of {WORD_DEPTH}, got {K}")
    for name, extent in zip("MN", MN or ()):
        if extent % LARGE:
            raise ValueError(
                f"{name} must be a multiple of {LARGE}, got {extent}; compile_preshuffle_gemm_w4 takes any M"
            )

    @flyc.jit
    def fp4_gemm(
        A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, scale_a: fx.Tensor, scale_b: fx.Tensor, M: fx.Int32,
        N: fx.Constexpr[int], stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        plan = plan_of(
            N, K, (LARGE // 2, LARGE, WORD_DEPTH), "fp4", "fp4", "bf16", copied=True, band=BAND if use_xcd_remap else 0
        )
        launcher(plan, "fp4", "fp4")(C, A, B, scale_a, scale_b, scale_b, M, N, stream)

    return fp4_gemm


__all__ = [
    "compile_fp4_gemm_4w", "compile_preshuffle_gemm_a6w4", "compile_preshuffle_gemm_w4", "e8m0_shuffle", "launch_gemm",
]  # fmt: skip
