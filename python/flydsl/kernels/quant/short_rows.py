"""Quantising short rows that lie one behind the other and begin anywhere in a piece of 16 bytes.

A few lanes have the pieces that a row lies in: all loads are whole pieces, and so are all stores but those of a row's
first and last piece, which neighbouring rows have parts of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.exchange import begin_behind_older_launches
from flydsl.kernels.blocks.narrow import largest_magnitude, quantised, row_scale
from flydsl.kernels.blocks.reduce import maximum, wave_reduce
from flydsl.kernels.blocks.rows import picked
from flydsl.kernels.blocks.wide_pieces import ALIGNMENT, THREADS

MOST_TURNS = 8
"""Pieces of a thread."""
REACHED = {32: 1.04, 16: 0.92, 8: 0.82, 4: 0.6}
"""What share of a copy's speed so many lanes with a row reach: fewer of them write more parts of 32 bytes."""
FP8_SPEED, OTHER_SPEED = (4.0, 4.0, 128), (1.1, 1.4, 80)
"""How fast a format is where that is less, for each piece and lane, how many pieces' time a row takes by itself, and of
how many pieces rows may be. Fitted on an H200, 2026-11-17, to fp8, which has an instruction, of 131 to 1,013 elements,
and to int8, which is slow to convert, of 203 and 619."""


@dataclass(frozen=True)
class ShortRows:
    """Rows of ``length`` elements, ``width`` of them in a piece, of which each of ``lanes`` threads has ``turns``.

    The first piece of a row is in the place behind the last one, so that the turns before have whole pieces.
    """

    length: int
    width: int
    lanes: int
    turns: int

    @property
    def rows(self) -> int:
        """How many a block has."""
        return THREADS // self.lanes

    @property
    def block(self) -> tuple[int, int, int]:
        return self.lanes, self.rows, 1

    def known_whole(self, turn: int) -> bool:
        """Return whether all pieces of a turn are known to be of one row."""
        return (turn + 1) * self.lanes < (self.length - 1) // self.width


def short_rows(length: int, size: int, quant: str) -> ShortRows | None:
    """Return how rows of elements of so many bytes are spread over lanes; None where rows are too long, less than a
    piece, or begin at pieces."""
    width = ALIGNMENT // size
    pieces = -(-(length + width - 1) // width)
    speed, alone, most = FP8_SPEED if quant == "fp8" else OTHER_SPEED
    if pieces > most or length < width or length % width == 0:
        return None

    def share(lanes: int) -> float:
        return min(REACHED[lanes], speed * pieces / (lanes * (alone + -(-pieces // lanes))))

    lanes = max((lanes for lanes in REACHED if pieces <= lanes * MOST_TURNS), key=share)
    return ShortRows(length, width, lanes, -(-pieces // lanes))


class _Row:
    """A thread's pieces of its row; one that is behind the last row has that."""

    def __init__(self, plan: ShortRows, rows: Any) -> None:
        number = fx.block_idx.x * plan.rows + fx.thread_idx.y
        self.plan, self.there, self.row = plan, number < rows, fx.min(number, rows - 1)
        self.lane = fx.Int32(fx.thread_idx.x)
        self.place = self.row * (plan.length % plan.width) & (plan.width - 1)
        self.start = fx.Int64(self.row) * plan.length - self.place
        """Which element of all the row's first piece begins with."""
        self.last = (self.place + plan.length - 1) // plan.width
        self.is_end = self.row == rows - 1

    def piece(self, turn: int) -> Any:
        """Return which piece of the row it is; one that is not there is the first."""
        following = self.lane + (turn * self.plan.lanes + 1)
        if self.plan.known_whole(turn):
            return following
        return (following <= self.last).select(following, fx.Int32(0))

    def is_piece(self, turn: int) -> Any:
        if self.plan.known_whole(turn):
            return self.there
        return self.there & (self.lane + turn * self.plan.lanes <= self.last)

    def column(self, turn: int) -> Any:
        """Return which element of the row a piece begins with; below 0 where it is none."""
        return self.piece(turn) * self.plan.width - self.place

    def whole(self, turn: int) -> Any:
        """Return whether all elements of a piece are the row's."""
        return fx.Uint32(self.column(turn)) <= self.plan.length - self.plan.width

    def inside(self, turn: int) -> list[Any]:
        return [fx.Uint32(self.column(turn) + i) < self.plan.length for i in range(self.plan.width)]

    def view(self, matrix: Any, turn: int, back: Any = 0) -> Any:
        """Return a piece of a matrix, or one that is ``back`` pieces before it."""
        start = fx.get_iter(matrix) + self.start + (self.piece(turn) - back) * self.plan.width
        aligned = start.aligned(self.plan.width * (matrix.dtype.width // 8))
        return fx.make_view(aligned, fx.make_layout(self.plan.width, 1))


@flyc.jit
def _load(row: _Row, source: fx.Tensor, turn: int) -> Any:
    """Return a piece as f32, with 0 in the place of what is not the row's; nothing behind the matrix is read."""
    if fx.const_expr(row.plan.known_whole(turn)):
        return row.view(source, turn).load().to(fx.Float32)
    whole, inside = row.whole(turn), row.inside(turn)
    cut = row.is_end & (row.column(turn) + row.plan.width > row.plan.length)
    vector = row.view(source, turn, cut.select(fx.Int32(1), fx.Int32(0))).load()
    if cut:
        view, found = row.view(source, turn), fx.make_rmem_tensor(row.plan.width, source.dtype)
        found.fill(0.0)
        for element in fx.range_constexpr(row.plan.width):
            if inside[element]:
                found[element] = view[element]
        vector = found.load()
    vector = vector.to(fx.Float32)
    if ~whole:
        vector = picked(vector, inside, 0.0, fx.Float32)
    return vector


@flyc.jit
def _store(row: _Row, target: fx.Tensor, turn: int, codes: Any) -> None:
    view, inside = row.view(target, turn), row.inside(turn)
    if row.is_piece(turn):
        if fx.const_expr(row.plan.known_whole(turn)):
            view.store(codes)
        else:
            if row.whole(turn):
                view.store(codes)
            else:
                for element in fx.range_constexpr(row.plan.width):
                    if inside[element]:
                        view[element] = codes[element]


def quantise_short_rows(
    source: fx.Tensor, target: fx.Tensor, scales: fx.Tensor, rows: fx.Int32, plan: ShortRows, quant: str
) -> None:
    """Write the codes and the scales of all rows: what a kernel does whose blocks are ``plan.block``."""
    begin_behind_older_launches()
    row = _Row(plan, rows)
    vectors = [_load(row, source, turn) for turn in range(plan.turns)]
    scale, inverse = row_scale(wave_reduce(largest_magnitude(vectors), maximum, plan.lanes), quant)
    if row.there & (row.lane == 0):
        scales[row.row] = scale
    for turn, vector in enumerate(vectors):
        _store(row, target, turn, quantised(vector * inverse, quant))
