"""The preshuffle GEMM of 16-bit floats with weights of four bits, scaled by groups of K (gfx942, gfx950).

gemm = compile_preshuffle_gemm_w4a16(N=4096, K=4096, tile_m=64, tile_n=128, tile_k=128, a_dtype="bf16")
gemm(C, A, pack_int4(shuffle_weight(B)), unused, scale_b, unused, M, N, stream)

C[m, n] = sum over k of A[m, k] * (B[n, k] * scale_b[k / 32, n]), where B holds integers from -8 to 7 and ``scale_b`` is
f32 of shape [K/32][N], or [N] with ``group_size=0``. The weight and its scale are multiplied in f32 and rounded to the
type of A, as a dequantised weight would be.

A lane has 16 neighbours along K of a weight, eight bytes, which are of one group; A is read from LDS in the same order.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.blocks.inputs import require_elements
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.limits import hint_waves
from flydsl.kernels.gemm.matrix_cores import BLOCK, FOUR_BIT_SIDE
from flydsl.kernels.gemm.preshuffle.registers import WORDS
from flydsl.kernels.gemm.preshuffle.weights import FourBitWeights, weights_from
from flydsl.kernels.gemm.preshuffle_gemm import Pipeline, multiply_in_blocks
from flydsl.kernels.gemm.preshuffle_plan import THREADS, WAVES, GemmPlan, shuffle_weight
from flydsl.kernels.quant.shuffles import pack_int4

GROUP = 32
"""Elements of K that share a scale."""
TYPES = {"bf16": "int4_bf16", "fp16": "int4_fp16"}


class ScaledWeights(FourBitWeights):
    """Signed nibbles, widened to the type of A and multiplied with their scale."""

    def __init__(self, pipeline: W4A16Pipeline, view: Any, column: Any, scales: Any) -> None:
        plan, groups = pipeline.plan, pipeline.groups
        super().__init__(plan, view, pipeline.tiled, fx.Int8)
        self.groups, self.steps = groups, pipeline.instruction.steps
        rows = plan.k // GROUP if groups else 1
        # A lane has a column; of the 64 elements of a chunk the upper lanes have the second group.
        places = fx.make_layout((BLOCK, 2, 2, WAVES), (1, 0, plan.n if groups else 0, BLOCK))
        first = column * plan.tile_n + fx.get_scalar(places(fx.thread_idx.x))
        start = rocdl.make_buffer_ptr(fx.get_iter(scales), fx.Int64(rows * plan.n * 4)) + first
        self.view = fx.make_view(start, fx.make_layout(plan.column_tiles, BLOCK * WAVES))
        self.number = fx.make_copy_atom(rocdl.BufferCopy32b(), fx.Float32)
        self.scales = [fx.make_rmem_tensor((plan.column_tiles, plan.chunks), fx.Float32) for _ in range(2)]

    def load(self, tile: int, chunk: int, at: Any) -> None:
        offset = 0
        if self.groups:
            # A byte of a row is two elements, and 16 rows lie side by side. Beyond the end nobody uses the scale.
            last = self.plan.k // GROUP - self.plan.chunk // GROUP
            offset = fx.min(fx.Int32(at * 2 // (BLOCK * GROUP)), fx.Int32(last)) * self.plan.n
        fx.copy(self.number, self.view, self.scales[tile % 2][None, chunk], soffset=offset)
        super().load(tile, chunk, at)

    def chunk(self, tile: int, chunk: Any) -> Any:
        number = chunk[-1] if isinstance(chunk, tuple) else (chunk or 0)
        dtype = self.wide.dtype
        for column in range(self.plan.column_tiles):
            words = self.tiles[tile % 2][None, column, number].load().bitcast(fx.Int32)
            scale = self.scales[tile % 2][column, number] * 16.0  # the instruction gives a sixteenth
            values = [x for word in words for x in nibbles(word)]
            run = FOUR_BIT_SIDE // self.steps
            for step in range(self.steps):
                part = fx.Vector.from_elements(values[step * run : step * run + run], fx.Float32)
                self.wide[None, column, step].store((part * scale).to(dtype))
        return self.wide


def nibbles(word: Any) -> list[Any]:
    """Return a sixteenth of each of the eight values of a word: byte j has value j low and value j + 4 high."""
    return [rocdl.cvt_off_f32_i4(half, j) for half in (word, fx.shrui(word, 4)) for j in range(4)]


class W4A16Pipeline(Pipeline):
    """A pipeline whose weights have scales of their own."""

    BY_ROWS = False

    groups = True

    def __init__(self, plan: GemmPlan, A: Any, B: Any, scales: tuple[Any, Any], m: Any, at: tuple[Any, Any]) -> None:
        self.of_weights = scales[1]
        super().__init__(plan, A, B, m, *at)

    def registers(self, plan: GemmPlan) -> int:
        """Return the registers of a lane, with a chunk of wide weights and the scales of two tiles."""
        return super().registers(plan) + plan.column_tiles * (WORDS + 2 * plan.chunks)

    def weights_of(self, B: Any, column: Any, dtype: Any) -> Any:
        self.b_end = self.plan.tile_n * self.plan.k
        view = weights_from(B, column * self.plan.tile_n, self.plan)
        return ScaledWeights(self, view, column, self.of_weights)


class ChannelPipeline(W4A16Pipeline):
    """The same with one scale for a column."""

    groups = False


def shuffle_weights(codes: Any) -> Any:
    """Codes (N, K) from 0 to 15, which stand for that less 8, in the order of the kernel, two a byte."""
    signed = codes - 8
    return pack_int4(shuffle_weight(signed.astype("int8") if hasattr(signed, "astype") else signed.char()))


@kept
def compile_preshuffle_gemm_w4a16(
    *, M: int = 0, N: int, K: int, tile_m: int, tile_n: int, tile_k: int, a_dtype: str = "bf16",
    out_dtype: str = "bf16", group_size: int = GROUP, lds_stage: int = 2, waves_per_eu: int | None = None,
    use_async_copy: bool = False, xcd_swizzle: int = 0,
) -> Any:  # fmt: skip
    """Return the launcher ``gemm(C, A, B_packed, scale_a, scale_b, bias, M, N, stream)``; ``M`` here is a hint.

    ``scale_a`` and ``bias`` are not read. ``group_size`` is 32, or 0 for one scale a column.
    """
    if a_dtype not in TYPES:
        raise ValueError(f"a_dtype must be one of {', '.join(TYPES)}, got {a_dtype!r}")
    if group_size not in (0, GROUP):
        raise ValueError(f"group_size must be {GROUP}, or 0 for one scale a column; got {group_size}")
    plan = GemmPlan(N, K, tile_m, tile_n, tile_k, TYPES[a_dtype], out_dtype, scheduled=False, lds_stages=lds_stage,
                    band=xcd_swizzle, copied=use_async_copy)  # fmt: skip
    if tile_k % (2 * GROUP):
        raise ValueError(f"tile_k must be a positive multiple of {2 * GROUP}, two groups; got {tile_k}")
    kind = W4A16Pipeline if group_size else ChannelPipeline

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def w4a16_kernel(C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, scales: fx.Tensor, m: fx.Int32):
        multiply_in_blocks(kind, C, A, B, (scales, scales), m, plan)

    @flyc.jit
    def w4a16_gemm(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, scale_a: fx.Tensor, scale_b: fx.Tensor, bias: fx.Tensor, M: fx.Int32,
        N: fx.Constexpr[int], stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        plan.require_call(N, ("gfx942", "gfx950"))
        scales = N * (K // GROUP) if group_size else N
        require_elements(*plan.matrices(C, A, B, M), ("scale_b", scale_b, scales))
        w4a16_kernel(C, A, B, scale_b, M).launch(grid=plan.blocks(M), block=(THREADS, 1, 1), stream=stream)

    return hint_waves(w4a16_gemm, waves_per_eu)
