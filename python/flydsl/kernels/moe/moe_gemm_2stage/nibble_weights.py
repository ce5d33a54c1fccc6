"""Weights of four bits for rows of 16: a word of eight is widened in registers, and scaled there if groups have scales.

The words are those of ``pack_int4(shuffle_weight(w))``: for each block of 16 rows [K / 16][16 rows][2] words, each of
eight neighbours along K. A lane of the matrix instruction wants eight neighbours, of 32 that four lanes share: so it
loads one word a column and chunk.
"""

from __future__ import annotations

from typing import Any

import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.gemm.preshuffle_plan import BLOCK, WAVES
from flydsl.kernels.moe.moe_gemm_2stage.stage_plan import StagePlan

EIGHT = 8
"""Weights of a word."""
SIGNS = 0x88888888 - (1 << 32)
LOW = 0x0F0F0F0F


def eight_numbers(word: Any, scale: Any) -> list[Any]:
    """The signed values of a word in f32, times a scale if there is one.

    Byte j has value j low and value j + 4 high. With the sign bits turned over they are 8 more than they were, and
    bytes become floats by one instruction each.
    """
    turned = word ^ SIGNS
    halves = [turned & LOW, fx.shrui(turned, 4) & LOW]
    plain = [fx.Float32(fx.shrui(half, 8 * j) & 0xFF) for half in halves for j in range(4)]
    if scale is None:
        return [value - 8.0 for value in plain]
    return [fx.math.fma(value, scale, scale * -8.0) for value in plain]


class NibbleWeights:
    """Two tiles of packed words in registers, one multiplied while the other arrives chunk by chunk."""

    def __init__(self, plan: StagePlan, B: Any, scales: Any, at: tuple[Any, Any, Any], tiled: Any) -> None:
        self.plan, (expert, column, part) = plan, at
        lane, wave = fx.thread_idx.x % 64, fx.thread_idx.x // 64
        group, row = lane // BLOCK, lane % BLOCK
        block_words = BLOCK * plan.depth // EIGHT  # of 16 rows
        first = (fx.Int64(expert) * plan.n + column * plan.tile) // BLOCK * block_words
        span = plan.columns * (plan.parts - 1) + plan.tile
        start = fx.recast_iter(fx.Int32, fx.get_iter(B)) + first
        skipped = part * (plan.k * BLOCK // EIGHT)
        start = rocdl.make_buffer_ptr(start, span * plan.depth // 2)
        start = start + (skipped + wave * block_words + group // 2 * (2 * BLOCK) + row * 2 + group % 2)
        steps = (plan.columns // BLOCK * block_words, WAVES * block_words)
        shape = (plan.parts, plan.column_tiles // plan.parts)
        self.view = fx.make_view(start, fx.make_layout((1, shape), (1, steps)))
        self.access = fx.make_copy_atom(rocdl.BufferCopy32b(), fx.Int32)
        self.words = [fx.make_rmem_tensor((plan.chunks, plan.column_tiles), fx.Int32) for _ in range(2)]
        self.wide = tiled.make_fragment_A(fx.make_identity_tensor((plan.tile_n, plan.chunk)))
        if plan.group:
            self._find_scales(scales, expert, column * plan.tile + wave * BLOCK + row, part)

    def _find_scales(self, scales: Any, expert: fx.Int32, column: fx.Int32, part: Any) -> None:
        """f32 [E][K / 32][N], or bf16 [E][K / 64][N][2]."""
        plan = self.plan
        pair = 2 if plan.bf16_scales else 1
        groups = plan.depth // plan.group
        dtype = fx.BFloat16 if plan.bf16_scales else fx.Float32
        if scales is None or scales.dtype is not dtype:
            raise ValueError(f"scale_w must hold {dtype.__name__} for groups of this kernel")
        self.scale_start = fx.get_iter(scales) + fx.Int64(expert) * (groups * plan.n)
        self.first_group, self.last_group, self.pair = part * (plan.k // plan.group), groups - 1, pair
        tiles = range(plan.column_tiles)
        self.scale_places = [
            (column + tile % plan.parts * plan.columns + tile // plan.parts * (BLOCK * WAVES)) * pair for tile in tiles
        ]
        self.scales = [fx.make_rmem_tensor((plan.chunks, plan.column_tiles), fx.Float32) for _ in range(2)]

    def load(self, tile: int, chunk: int, at: Any) -> None:
        """Fetch a chunk of a tile; ``at`` is 16 times its place along K."""
        fx.copy(self.access, self.view, self.words[tile % 2][chunk : chunk + 1, None], soffset=at // EIGHT)
        if self.plan.group:
            group = fx.min(self.first_group + at // (BLOCK * self.plan.group), fx.Int32(self.last_group))
            line = group // self.pair * (self.plan.n * self.pair) + group % self.pair
            for j, place in enumerate(self.scale_places):
                number = (self.scale_start + (line + place)).load()
                self.scales[tile % 2][chunk, j] = fx.Float32(number)

    def chunk(self, tile: int, chunk: fx.Int32) -> Any:
        """A chunk as the instruction takes it."""
        number = chunk[-1] if isinstance(chunk, tuple) else (chunk or 0)
        for column in range(self.plan.column_tiles):
            scale = self.scales[tile % 2][number, column] if self.plan.group else None
            values = eight_numbers(self.words[tile % 2][number, column], scale)
            wide = fx.Vector.from_elements(values, fx.Float32).to(fx.BFloat16)
            part = fx.coalesce(self.wide[None, column, None])
            part.store(wide)
        return self.wide[None, None, 0] if isinstance(chunk, int) else self.wide
