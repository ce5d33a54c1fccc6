"""Where tiles of the Hopper GEMM are, and how the threads of a block are told."""

from __future__ import annotations

from typing import Any, NamedTuple

import flydsl.expr as fx
from flydsl.kernels.gemm.hopper.plan import LINE_BYTES, GemmKind


class Place(NamedTuple):
    """Where a tile lies: which of the batches of A, B and C, its first row and column, and behind its last row; and
    whether no other tile has the same columns of B."""

    a: tuple[Any, ...]
    b: tuple[Any, ...]
    c: tuple[Any, ...]
    row: Any
    column: Any
    end: Any
    once: Any = False


class ToldPlaces:
    """Places of tiles, as the loading thread tells them, beside the first stage of each, and one that is told before.

    So warpgroups that multiply neither look for a tile's group nor divide by numbers of tiles between two tiles, when
    nobody multiplies.
    """

    def __init__(self, smem: Any, kind: GemmKind, stages: int) -> None:
        start = smem.allocate(fx.Array[fx.Int32, 4 * (stages + 1), LINE_BYTES]).ptr
        self.words, self.stages = fx.make_view(start, fx.make_layout((4, stages + 1), (1, 4))), stages
        self.has_matrices = kind.groups > 0 or kind.batched, kind.masked or kind.batched
        """Whether B, and whether A and C, have several."""

    def write(self, stage: Any, place: Place) -> None:
        words = (place.row, place.column, place.end, *(place.b or (0,)))
        self.words[None, stage].store(fx.Vector.from_elements([fx.Int32(word) for word in words], fx.Int32))

    def write_first(self, place: Place) -> None:
        self.write(self.stages, place)

    def read_first(self, alone: bool = False) -> Place:
        return self.read(self.stages, alone)

    def nowhere(self) -> Place:
        """Return a place of no rows, of the same form as those that are read."""
        zero = fx.Int32(0)
        b, a = ((zero,) if has else () for has in self.has_matrices)
        return Place(a, b, a, zero, zero, zero)

    def read(self, stage: Any, alone: bool = False) -> Place:
        """Return the place of the tile that begins with a stage, once that is full, to whole warps or one thread."""
        words = self.words[None, stage].load()
        row, column, end, matrix = (words[i] if alone else fx.nvvm.warp_uniform(words[i]) for i in range(4))
        b, a = ((matrix,) if has else () for has in self.has_matrices)
        return Place(a, b, a, row, column, end)
