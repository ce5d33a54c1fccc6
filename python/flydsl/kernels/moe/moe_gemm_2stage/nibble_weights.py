"""Weights of four bits for rows of 16: a word of eight is widened in registers, and scaled there if groups have scales.

A lane of the matrix instruction wants eight neighbours along K, of 32 that four lanes share: so it loads one word a
column and chunk. Words of int4 are those of ``pack_int4(shuffle_weight(w))``, for each block of 16 rows [K / 16][16
rows][2] of them; words of mxfp4 those of ``shuffle_weight`` of bytes of two, [K / 32][16 rows][4].

Scales of groups of 32 are f32 [E][K / 32][N], bf16 [E][K / 64][N][2], bf16 [E][N][K / 32], or, of mxfp4, E8M0 in the
order of `shuffle_scale_w4`. Where blocks of 16 rows of gate and up alternate, so do those of scales.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.blocks.narrow import number_of_e8m0
from flydsl.kernels.gemm.preshuffle_plan import BLOCK, WAVES
from flydsl.kernels.moe.moe_gemm_2stage.stage_plan import StagePlan
from flydsl.kernels.moe.mxfp_moe.mx_rows import scale_place

EIGHT = 8
"""Weights of a word."""
SIGNS = 0x88888888 - (1 << 32)
LOW = 0x0F0F0F0F
SCALES: dict[str, Any] = {"columns": fx.Float32, "pairs": fx.BFloat16, "rows": fx.BFloat16, "e8m0": fx.Uint8}
"""How scales of groups lie -> what they are: of a group side by side, of two groups, of a row, in the order of MX."""


def eight_numbers(word: Any, scale: Any) -> list[Any]:
    """Return the signed values of a word in f32, times a scale if there is one.

    Byte j has value j low and value j + 4 high. With the sign bits turned over they are 8 more than they were, and
    bytes become floats by one instruction each.
    """
    turned = word ^ SIGNS
    halves = [turned & LOW, fx.shrui(turned, 4) & LOW]
    plain = [fx.Float32(fx.shrui(half, 8 * j) & 0xFF) for half in halves for j in range(4)]
    if scale is None:
        return [value - 8.0 for value in plain]
    return [fx.math.fma(value, scale, scale * -8.0) for value in plain]


def eight_floats(word: Any, scale: Any) -> Any:
    """Return the values of eight fp4, the first in the lowest bits, times their scale in bf16, which holds them
    exactly: by an instruction for two where the target has one."""
    with suppress(ValueError):
        pairs = [rocdl.cvt_scalef32_pk_bf16_fp4(word, scale, byte) for byte in range(4)]
        return fx.Vector.from_elements([pair[i] for pair in pairs for i in range(2)], fx.BFloat16)
    wide = fx.Vector.from_elements([word], fx.Int32).bitcast(fx.Float4E2M1FN).to(fx.Float32)
    return (wide * scale).to(fx.BFloat16)


class NibbleWeights:
    """Two tiles of packed words in registers, one multiplied while the other arrives chunk by chunk."""

    def __init__(self, plan: StagePlan, B: Any, scales: Any, at: tuple[Any, Any, Any], tiled: Any) -> None:
        self.plan, (expert, column, part) = plan, at
        lane, wave = fx.thread_idx.x % 64, fx.thread_idx.x // 64
        block_words = BLOCK * plan.depth // EIGHT  # of 16 rows
        between = plan.parts if plan.interleaved else 1
        first = fx.Int64(expert) * (plan.n // BLOCK) + column * (plan.tile // BLOCK * between)
        span = plan.tile * plan.parts if plan.interleaved else plan.columns * (plan.parts - 1) + plan.tile
        start = fx.recast_iter(fx.Int32, fx.get_iter(B)) + first * block_words
        start = rocdl.make_buffer_ptr(start, span * plan.depth // 2)
        # A lane has a row, and one of its four words: of int4 two lie side by side, and two behind all rows.
        words = fx.make_layout((BLOCK, 2, 2), (2, 1, 2 * BLOCK) if plan.nibbles == "int4" else (4, 1, 2))
        place = wave * (between * block_words) + fx.get_scalar(words(lane))
        start = start + (part * (plan.k * BLOCK // EIGHT) + place)
        steps = (
            block_words if plan.interleaved else plan.columns // BLOCK * block_words,
            WAVES * between * block_words,
        )
        shape = (plan.parts, plan.column_tiles // plan.parts)
        self.view = fx.make_view(start, fx.make_layout((1, shape), (1, steps)))
        self.access = fx.make_copy_atom(rocdl.BufferCopy32b(), fx.Int32)
        self.words = [fx.make_rmem_tensor((plan.chunks, plan.column_tiles), fx.Int32) for _ in range(2)]
        self.wide = tiled.make_fragment_A(fx.make_identity_tensor((plan.tile_n, plan.chunk)))
        if plan.group:
            self._find_scales(scales, expert, column * plan.tile + wave * BLOCK + lane % BLOCK, part)

    def _find_scales(self, scales: Any, expert: fx.Int32, column: fx.Int32, part: Any) -> None:
        """Where scales begin, and the columns that the lane has."""
        plan = self.plan
        dtype = SCALES[plan.group_scales]
        if scales is None or (scales.dtype is not dtype if dtype.width > 8 else scales.dtype.width != 8):
            raise ValueError(f"scale_w must hold {dtype.__name__} for groups of this kernel")
        scales = fx.get_iter(scales) if dtype.width > 8 else fx.recast_iter(dtype, fx.get_iter(scales))
        self.groups = plan.depth // plan.group
        self.scale_start = scales + fx.Int64(expert) * (self.groups * plan.n)
        self.first_group = part * (plan.k // plan.group)
        self.scale_columns = [
            (tile % plan.parts, column + tile // plan.parts * (BLOCK * WAVES)) for tile in range(plan.column_tiles)
        ]
        self.scales = [fx.make_rmem_tensor((plan.chunks, plan.column_tiles), fx.Float32) for _ in range(2)]

    def scale_at(self, group: Any, part: int, column: Any) -> Any:
        """Return the scale of a group of a column of gate (0) or up (1)."""
        plan, kind = self.plan, self.plan.group_scales
        row = column + part * plan.columns
        if plan.interleaved:
            row = column // BLOCK * (2 * BLOCK) + part * BLOCK + column % BLOCK
        if kind == "e8m0":
            return number_of_e8m0((self.scale_start + scale_place(row, group, self.groups)).load())
        if kind == "rows":
            place = row * self.groups + group
        elif kind == "pairs":
            place = group // 2 * (plan.n * 2) + row * 2 + group % 2
        else:
            place = group * plan.n + row
        return fx.Float32((self.scale_start + place).load())

    def load(self, tile: int, chunk: int, at: Any) -> None:
        """Fetch a chunk of a tile; ``at`` is 16 times its place along K."""
        fx.copy(self.access, self.view, self.words[tile % 2][chunk : chunk + 1, None], soffset=at // EIGHT)
        if self.plan.group:
            group = fx.min(self.first_group + at // (BLOCK * self.plan.group), fx.Int32(self.groups - 1))
            for j, (part, column) in enumerate(self.scale_columns):
                self.scales[tile % 2][chunk, j] = self.scale_at(group, part, column)

    def chunk(self, tile: int, chunk: fx.Int32) -> Any:
        """Return a chunk as the instruction takes it."""
        number = chunk[-1] if isinstance(chunk, tuple) else (chunk or 0)
        for column in range(self.plan.column_tiles):
            scale = self.scales[tile % 2][number, column] if self.plan.group else None
            word = self.words[tile % 2][number, column]
            if self.plan.nibbles == "int4":
                wide = fx.Vector.from_elements(eight_numbers(word, scale), fx.Float32).to(fx.BFloat16)
            else:
                wide = eight_floats(word, scale)
            part = fx.coalesce(self.wide[None, column, None])
            part.store(wide)
        return self.wide[None, None, 0] if isinstance(chunk, int) else self.wide
