"""A tile of results in LDS on its way to memory: lanes write pieces of 16 rows, and read neighbours of one.

Rows lie behind each other without gaps, and the pieces of a row change places by its number. So rows that are written
together go to different banks, and neighbours that are read come from different ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Any

import flydsl.expr as fx
from flydsl.kernels.gemm.matrix_cores import ACCESS_BYTES

LINE = 16
"""Pieces that change places with each other, at most: as many as there are rows."""


@dataclass(frozen=True)
class ResultTile:
    """How results lie: where an element is, and accesses to it. Rows and columns may be numbers of the host."""

    columns: int
    dtype: Any
    piece: int
    """Neighbours of a row that a lane writes at once."""

    @property
    def row_bytes(self) -> int:
        return self.columns * self.dtype.width // 8

    @property
    def line(self) -> int:
        """Pieces that change places with each other: a row has a multiple of them."""
        return gcd(self.columns // self.piece, LINE)

    def turn(self, row: Any, column: Any) -> Any:
        """Return what the numbers of a row's pieces are exchanged by, or of those around a column."""
        return (row * self.line // LINE) & (self.line - 1)

    def place(self, row: Any, column: Any) -> Any:
        """Return the place of an element, counted in elements."""
        before, inside = column // (self.line * self.piece), (column // self.piece) & (self.line - 1)
        number = before * self.line + (inside ^ self.turn(row, column))
        return row * self.columns + number * self.piece + (column & (self.piece - 1))

    def write(self, start: Any, row: Any, column: Any, value: Any) -> None:
        """A piece of a row to its place."""
        fx.make_view(start + self.place(row, column), fx.make_layout(self.piece, 1)).store(value.to(self.dtype))

    def read(self, start: Any, row: Any, column: Any, count: int) -> Any:
        """Return so many neighbours of a row: a part of a piece, or 16 bytes at a time."""
        width = min(count, ACCESS_BYTES * 8 // self.dtype.width)
        found = [self._access(start, row, column + first, width) for first in range(0, count, width)]
        return found[0] if count == width else fx.Vector.from_elements([x for part in found for x in part])

    def _access(self, start: Any, row: Any, column: Any, width: int) -> Any:
        """Return one access of a lane. Two pieces that it covers may have changed places."""
        place = self.place(row, column)
        found = fx.make_view(start + place // width * width, fx.make_layout(width, 1)).load()
        if width <= self.piece:
            return found
        turned = found.shuffle(found, [*range(self.piece, width), *range(self.piece)])
        return ((self.turn(row, column) & 1) != 0).select(turned, found)


@dataclass(frozen=True)
class GroupTile(ResultTile):
    """Results of 32 bits, of which a lane reads half a line, piece by piece, and its neighbour the other half.

    Eight rows are written together. The number of a line exchanges its pieces, so that those of lanes further away are
    told apart too, and where eight rows have lines of the same number, so does how often they had it.
    """

    AT_ONCE = 8

    def turn(self, row: Any, column: Any) -> Any:
        lines = self.columns // (LINE * self.piece)
        again = self.AT_ONCE // gcd(lines, self.AT_ONCE)
        number, before = row * lines + column // (LINE * self.piece), row // again
        return (number ^ (before & (self.AT_ONCE // again - 1))) & (self.AT_ONCE - 1)
