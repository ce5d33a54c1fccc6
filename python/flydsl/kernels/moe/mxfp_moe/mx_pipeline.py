"""The experts' pipeline for numbers with a scale for every 32 elements of K, on gfx950: fp4 or fp8 rows and weights.

The scales of 32 rows and 256 elements are one word a lane, of which each instruction picks its byte
(`gemm.preshuffle.scales`). Those of rows lie in the order of experts, `mx_rows.moe_mxfp4_sort`; those of weights as
`shuffle_scale_w4` of an expert after the other. Weights of four bits are bytes of two, in the order of
`shuffle_weight`; a lane's 16 bytes are 32 neighbours along K.
"""

from __future__ import annotations

from typing import Any

import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.gemm.lds_plan import LANES
from flydsl.kernels.gemm.matrix_cores import ACCESS_BYTES, BLOCK, SCALED_DEPTH, UNIT_SCALES
from flydsl.kernels.gemm.mxfp4_preshuffle import fp4_of
from flydsl.kernels.gemm.preshuffle.scales import WORD_DEPTH, ScaleWords
from flydsl.kernels.gemm.preshuffle_plan import WAVES
from flydsl.kernels.moe.moe_gemm_2stage.stage_plan import Rows, StagePlan
from flydsl.kernels.moe.moe_gemm_2stage.stages import ExpertPipeline

FORMATS = {"fp4": fx.Float4E2M1FN, "fp8": fx.Float8E4M3FN}


class Fp4Weights:
    """Two tiles of an expert's four-bit weights in registers, one multiplied while the other arrives."""

    def __init__(self, plan: StagePlan, view: Any) -> None:
        self.plan = plan
        self.view = view
        self.access = fx.make_copy_atom(rocdl.BufferCopy128b(), fx.Int8)
        shape = (ACCESS_BYTES, (plan.parts, plan.column_tiles // plan.parts), plan.chunks)
        self.tiles = [fx.make_rmem_tensor(shape, fx.Int8) for _ in range(2)]

    def load(self, tile: int, chunk: int, at: Any) -> None:
        """Fetch a chunk; ``at`` is 16 times its place in a row of A, in bytes."""
        at = at // 2 if self.plan.mx[0] == "fp8" else at
        fx.copy(self.access, self.view, self.tiles[tile % 2][None, None, chunk], soffset=at)

    def chunk(self, tile: int, chunk: fx.Int32) -> Any:
        number = chunk[-1] if isinstance(chunk, tuple) else (chunk or 0)
        return self.tiles[tile % 2][None, None, number]


class UnitScales:
    """Scales of 1 for all rows."""

    def __init__(self) -> None:
        self.tiles = [self, self]

    def __getitem__(self, place: Any) -> Any:
        return fx.Int32(UNIT_SCALES)

    def load(self, tile: int, word: Any) -> None:
        """Fetch nothing: all scales are known."""


class ExpertMxPipeline(ExpertPipeline):
    """The experts' pipeline with scales inside of the products."""

    def __init__(self, plan: StagePlan, A: Any, B: Any, scales: Any, rows: Rows, at: tuple[Any, Any, Any]) -> None:
        super().__init__(plan, A, B, scales, rows, at)
        self.total = fx.make_fragment_like(self.total, dtype=fx.Float32)
        self.total.fill(0.0)
        expert, column, _ = at
        self.density = 2 if plan.mx[0] == "fp4" else 1
        self.depth = plan.depth * self.density
        self.words = plan.tile_k * self.density // WORD_DEPTH
        first = fx.Int64(expert) * (plan.n * (self.depth // 32))
        of_expert = fx.make_view(fx.get_iter(scales[1]) + first, fx.make_layout(1, 1))
        self.column_scales = ScaleWords(of_expert, fx.Int32(plan.n), self._column_pairs(column), self.depth, self.words)
        pairs = (rows.first // 32, max(plan.tile_m // 32, 1), 1)
        self.row_scales: Any = UnitScales()
        if not plan.unit_rows:
            self.row_scales = ScaleWords(scales[0], rows.first + 32 * pairs[1], pairs, self.depth, self.words)
        self.first_word = self.part * (plan.k * self.density // WORD_DEPTH)
        # A tile of 16 rows is one half of a pair of blocks.
        self.row_shift = rows.first // BLOCK % 2 * 8 if plan.tile_m % 32 else 0

    def _column_pairs(self, column: fx.Int32) -> tuple[Any, Any, Any]:
        """Return which words hold the scales of the wave's columns: of blocks of 16 it takes every fourth."""
        plan, count = self.plan, self.plan.column_tiles // self.plan.parts
        if plan.interleaved:  # a word has gate and up of 16 columns
            return column * (plan.tile // BLOCK) + self.wave, count, WAVES
        first, step = column * (plan.tile // 32) + self.wave // 2, WAVES // 2
        return first, (plan.parts, count), (plan.columns // 32, step)

    def weights_of(self, B: Any, column: fx.Int32, dtype: Any) -> Any:
        plan = self.plan
        if plan.mx[1] == "fp8":
            return super().weights_of(B, column, dtype)
        self.b_end = plan.columns * plan.parts * plan.depth  # behind every row of the expert
        depth, between = plan.b_depth, plan.parts if plan.interleaved else 1
        block = BLOCK * depth
        first = fx.Int64(self.expert) * (plan.n * depth)
        start = fx.recast_iter(fx.Int8, fx.get_iter(B)) + first
        start = rocdl.make_buffer_ptr(start, plan.n * depth)
        threads = fx.make_layout((LANES, WAVES), (ACCESS_BYTES, between * block))
        skipped = self.part * (BLOCK * plan.k // (2 if plan.mx[0] == "fp8" else 1))  # by the parts of K before this one
        first = column * (plan.tile // BLOCK) * (between * block) + skipped
        start = start + (first + fx.get_scalar(threads(fx.thread_idx.x)))
        parts = block if plan.interleaved else plan.columns * depth
        layout = fx.make_layout(
            (ACCESS_BYTES, (plan.parts, plan.column_tiles // plan.parts)), (1, (parts, WAVES * between * block))
        )
        return Fp4Weights(plan, fx.make_view(start, layout))

    def check(self, A: Any, B: Any, dtype: Any) -> None:
        """Bytes are what their formats say."""

    def load_b(self, tile: int, chunk: int, after: Any = 0) -> None:
        if chunk == 0:
            last = (self.plan.k - self.plan.tile_k) * self.density // WORD_DEPTH
            word = fx.min(fx.Int32((after + tile * self.plan.tile_k) * self.density // WORD_DEPTH), fx.Int32(last))
            self.row_scales.load(tile, self.first_word + word)
            self.column_scales.load(tile, self.first_word + word)
        super().load_b(tile, chunk, after)

    def add_products(self, a: Any, b: Any, tile: int, chunk: int) -> None:
        plan, (word, half) = self.plan, divmod(chunk, WORD_DEPTH // SCALED_DEPTH)
        rows = [operand(a, i, plan.mx[0]) for i in range(plan.row_tiles)]
        columns = [operand(b, j, plan.mx[1]) for j in range(plan.column_tiles)]
        of_rows, of_columns = (scales.tiles[tile % 2] for scales in (self.row_scales, self.column_scales))
        formats = FORMATS[plan.mx[1]], FORMATS[plan.mx[0]]
        for i, row in enumerate(rows):
            for j, column in enumerate(columns):
                pick = j % plan.parts if plan.interleaved else 0
                picks = {"opsel_a": 2 * half + pick, "opsel_b": 2 * half + i % 2}
                atom = fx.make_mma_atom(rocdl.MFMAScale(BLOCK, BLOCK, SCALED_DEPTH, *formats, **picks))
                total = fx.coalesce(self.total[None, j, i])
                of_column = of_columns[j // plan.parts if plan.interleaved else j, word]
                of_column = of_column if plan.interleaved else of_column >> (self.wave % 2 * 8)
                scales = {"scale_a": of_column, "scale_b": of_rows[i // 2, word] >> self.row_shift}
                fx.gemm(atom, total, column, row, total, **scales)


def operand(fragment: Any, tile: int, kind: str) -> Any:
    """Return a tile's part of the registers of one chunk, as what the instruction takes."""
    part = fragment[None, tile, None] if fx.rank(fragment) == 3 else fragment[None, tile]
    if kind == "fp4":
        return fp4_of(part)
    values = fx.make_rmem_tensor(fx.get_scalar(fx.size(part)), fx.Float8E4M3FN)
    values.store(fx.coalesce(part).load())
    return values
