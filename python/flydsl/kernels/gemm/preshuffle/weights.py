"""A thread's registers of B, the shuffled weights: as they are multiplied, or four bits wide and widened on the way."""

from __future__ import annotations

from typing import Any

import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.gemm.matrix_cores import ACCESS_LANES, BLOCK
from flydsl.kernels.gemm.preshuffle_plan import WAVES, GemmPlan

NIBBLES = 0xF0F0F0F0 - (1 << 32)
"""The upper half of each byte of a word."""


def weights_from(tensor: Any, first: Any, plan: GemmPlan) -> Any:
    """Return the columns of a block in the shuffled B, as (n, k): a lane's access lies behind those of the 16 rows."""
    piece, depth = plan.b_piece, plan.b_depth
    shape = ((BLOCK, plan.tile_n // BLOCK), (piece, depth // piece))
    layout = fx.make_layout(shape, ((piece, BLOCK * depth), (1, BLOCK * piece)))
    start = fx.get_iter(tensor) + fx.Int64(first) * depth
    return fx.make_view(rocdl.make_buffer_ptr(start, plan.tile_n * depth * tensor.dtype.width // 8), layout)


class Weights:
    """Two tiles of B in registers, one multiplied while the other arrives chunk by chunk."""

    def __init__(self, plan: GemmPlan, view: Any, tiled: Any, dtype: Any) -> None:
        """``view`` is the block's columns of B, as (n, k)."""
        self.plan = plan
        tile = (plan.tile_n, plan.tile_k // 2 if plan.packed or plan.halved else plan.tile_k)
        weights = fx.zipped_divide(view, tile)[None, (0, 0)]
        self.access = fx.make_copy_atom(rocdl.BufferCopy(plan.b_piece * dtype.width), dtype)
        fetch = fx.make_tiled_copy_A(self.access, tiled).get_slice(fx.thread_idx.x)
        self.in_memory = fetch.partition_S(weights)
        self.tiles = [tiled.make_fragment_A(weights) for _ in range(2)]
        self.fetched = [fetch.retile(tile) for tile in self.tiles]

    def load(self, tile: int, chunk: int, at: Any) -> None:
        """Fetch a chunk of a tile from the scalar offset ``at``."""
        fx.copy(self.access, self.in_memory[None, None, 0], self.fetched[tile % 2][None, None, chunk], soffset=at)

    def chunk(self, tile: int, chunk: Any) -> Any:
        """Return a chunk as the instruction takes it; ``chunk`` is its coordinate along K."""
        return self.tiles[tile % 2][None, None, chunk]


class FourBitWeights(Weights):
    """Signed nibbles, widened to bytes that are 16 times as large: that takes three operations for eight of them.

    Byte j of a word holds the values j and j + 4 of the eight that follow each other along K.
    """

    def __init__(self, plan: GemmPlan, view: Any, tiled: Any, dtype: Any) -> None:
        run = plan.b_piece
        along_k = fx.make_layout((run, ACCESS_LANES), (1, run))
        bytes_of = fx.make_mma_atom(rocdl.MFMA(BLOCK, BLOCK, run * ACCESS_LANES, fx.Int8, fx.Int32))
        packed = fx.make_tiled_mma(bytes_of, fx.make_layout((WAVES, 1, 1), (1, 0, 0)), (None, None, along_k))
        super().__init__(plan, view, packed, fx.Int8)
        self.wide = tiled.make_fragment_A(fx.make_identity_tensor((plan.tile_n, plan.chunk)))

    def chunk(self, tile: int, chunk: Any) -> Any:
        number = chunk[-1] if isinstance(chunk, tuple) else (chunk or 0)
        for column in range(self.plan.column_tiles):
            words = self.tiles[tile % 2][None, column, number].load().bitcast(fx.Int32)
            for step in range(words.numel):
                halves = [(words[step] << 4) & NIBBLES, words[step] & NIBBLES]
                values = fx.Vector.from_elements(halves, fx.Int32).bitcast(fx.Int8)
                self.wide[None, column, step].store(values)
        return self.wide
