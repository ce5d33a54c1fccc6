"""Block scales on their way to the products: E8M0 bytes in the order of `e8m0_shuffle`.

A line is what 64 lanes take for 32 rows and 256 elements of K: one word each, of which an instruction picks its byte.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.gemm.preshuffle_plan import LINES_OF_COPY, WAVES, GemmPlan

WORD_DEPTH = 256
"""Elements of K whose scales share a word: two instructions deep, for two blocks of 16 rows."""
LANES = 64


class ScaleWords:
    """The scale words of a wave's rows, of two tiles along K: one is used while the other arrives."""

    def __init__(self, scales: Any, rows: Any, pairs: tuple[Any, Any, Any], depth: int, words: int) -> None:
        """``pairs`` are the first of the wave's pairs of 16 rows, how many, and how far apart, in one mode or more."""
        first, count, apart = pairs
        across = -(-depth // WORD_DEPTH) * LANES
        steps = tuple(step * across for step in apart) if isinstance(apart, tuple) else apart * across
        records = fx.Int64((rows + 31) // 32) * (across * 4)
        start = rocdl.make_buffer_ptr(fx.recast_iter(fx.Int32, fx.get_iter(scales)), records)
        start = start + (first * across + fx.thread_idx.x % LANES)
        self.view = fx.make_view(start, fx.make_layout((count, words), (steps, LANES)))
        self.access = fx.make_copy_atom(rocdl.BufferCopy32b(), fx.Int32)
        self.tiles = [fx.make_rmem_tensor((count, words), fx.Int32) for _ in range(2)]

    def load(self, tile: int, word: Any) -> None:
        """Fetch those of a tile that begins ``word`` words along K."""
        fx.copy(self.access, self.view, self.tiles[tile % 2], soffset=word * LANES)


class Side(NamedTuple):
    """The scales of A's rows or B's: all of them, how many rows they are of, and the block's pairs of 16 rows."""

    scales: Any
    rows: Any
    first: Any
    pairs: int


class ScaleCopies:
    """The scale words of a block's rows and columns, copied into LDS beside the tiles of A.

    A wave copies four lines at once; those of rows come before those of columns, and no copy has some of both. What a
    wave copies beyond the last line is nobody's.
    """

    def __init__(self, plan: GemmPlan, start: Any, sides: tuple[Side, Side], depth: int, words: int) -> None:
        """``start`` is where they begin in LDS: as many words for a stage as all copies bring."""
        self.plan, self.start, self.words = plan, start, words
        self.stage_words = plan.scale_copies * WAVES * LINES_OF_COPY * LANES
        self.atom = fx.make_copy_atom(rocdl.BufferCopyLDS(128), fx.Int32)
        across = -(-depth // WORD_DEPTH) * LANES
        self.before_columns = copies_of(sides[0], words)
        self.wave = rocdl.readfirstlane(fx.Int32(fx.thread_idx.x // LANES))
        self.sources = [self._source(sides, across, self.wave + number * WAVES) for number in range(plan.scale_copies)]

    def _source(self, sides: tuple[Side, Side], across: int, number: Any) -> Any:
        """Return where a lane's part of a wave's copy is in memory, as a view through a descriptor."""
        rows, columns = sides
        of_rows = number < self.before_columns
        pointers = (fx.recast_iter(fx.Int32, fx.get_iter(side.scales)) for side in sides)
        records = (fx.Int64((side.rows + 31) // 32) * (across * 4) for side in sides)
        pointer = rocdl.make_buffer_ptr(either(of_rows, *pointers), of_rows.select(*records))
        lanes, lines = LANES // LINES_OF_COPY, self.plan.scale_copies * WAVES * LINES_OF_COPY
        order = fx.make_layout((lanes, (self.words, lines)), (4, (LANES, across)))
        place = order(of_rows.select(number, number - self.before_columns) * LANES + fx.thread_idx.x % LANES)
        first = of_rows.select(rows.first, columns.first) * across
        return fx.make_view((pointer + (first + fx.get_scalar(place))).aligned(16), fx.make_layout(4, 1))

    def copy(self, stage: int, word: Any) -> None:
        """Copy those of a tile that begins ``word`` words along K into a stage."""
        for number, source in enumerate(self.sources):
            at = self.start + (stage * self.stage_words + (self.wave + number * WAVES) * LINES_OF_COPY * LANES)
            fx.copy(self.atom, source, fx.make_view(at, fx.make_layout(4, 1)), soffset=word * LANES)


@flyc.jit
def either(condition: Any, first: Any, second: Any) -> Any:
    """Return the first of two pointers where the condition holds, else the second."""
    found = second
    if condition:
        found = first
    return found


def copies_of(side: Side, words: int) -> int:
    """Return how many copies of a wave bring a side's lines of a tile."""
    return -(-side.pairs * words // LINES_OF_COPY)


class CopiedWords:
    """The scale words of a wave's rows of one side, read from LDS into registers of two tiles by turns."""

    def __init__(self, copies: ScaleCopies, first: Any, count: int, apart: int) -> None:
        """``first`` is the first of the wave's lines in a stage; its pairs of 16 rows are ``apart`` lines apart."""
        words, stage = copies.words, copies.stage_words
        start = copies.start + (first * LANES + fx.thread_idx.x % LANES)
        layout = fx.make_layout((count, words), (apart * LANES, LANES))
        self.views = [fx.make_view(start + number * stage, layout) for number in range(copies.plan.lds_stages)]
        self.access = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Int32)
        self.tiles = [fx.make_rmem_tensor((count, words), fx.Int32) for _ in range(2)]

    def read(self, tile: int) -> None:
        fx.copy(self.access, self.views[tile % len(self.views)], self.tiles[tile % 2])
