"""``fx.schedule``: which tile a block works on, as functions of its number.

Every function takes Python ints or a kernel's integers, and answers in kind, so what a kernel does can be tried out,
drawn and tested outside of one. Each order visits every tile of any grid exactly once.

    m, n = fx.schedule.bands(fx.schedule.by_die(fx.block_idx.x, tiles, 8), grid_m, grid_n, 8)

| function | order |
|---|---|
| `bands` | bands of rows, column by column: what a column of blocks reads of B stays in L2 |
| `hilbert` | squares along a Hilbert curve: neighbours in time are neighbours in both modes |
| `by_die` | the tiles of one die (XCD) of an MI300 side by side, where the hardware deals blocks out in turn |
| `persistent` | the tiles of one of few blocks that stay: the bounds of a loop |
| `grouped` | several grids behind each other: which one, and the number in it |
| `stream_k` | equal shares of all steps along K, whatever tiles they belong to |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from flydsl.base.errors import DslValueError

Number = Any
"""A Python int or a run-time integer."""


def _choose(condition: Any, then: Number, otherwise: Number) -> Number:
    """Return one of two numbers: decided here where the condition is Python's."""
    if isinstance(condition, bool):
        return then if condition else otherwise
    return condition.select(then, otherwise)


def _least(a: Number, b: Number) -> Number:
    return _choose(a < b, a, b)


def _positive(number: Any, what: str) -> None:
    if type(number) is not int or number < 1:
        raise DslValueError(f"{what} is a Python int of at least 1, got {number!r}")


def bands(index: Number, grid_m: Number, grid_n: Number, rows: int = 8) -> tuple[Number, Number]:
    """Return (m, n) of a tile: bands of ``rows`` rows one after the other, each column by column; the last may be
    lower."""
    _positive(rows, "the height of a band")
    tiles = rows * grid_n
    band, inside = index // tiles, index % tiles
    height = _least(grid_m - band * rows, rows)
    return band * rows + inside % height, inside // height


def hilbert(index: Number, grid_m: Number, grid_n: Number, side: int = 8) -> tuple[Number, Number]:
    """Return (m, n) of a tile: squares of ``side`` (a power of two) along a Hilbert curve, what is left over row by
    row."""
    _positive(side, "the side of a square")
    if side & (side - 1):
        raise DslValueError(f"a Hilbert curve fills squares whose side is a power of two, not {side}")
    strip, inside = index // (side * grid_n), index % (side * grid_n)
    height = _least(grid_m - strip * side, side)
    square, place = inside // (height * side), inside % (height * side)
    width = _least(grid_n - square * side, side)
    x, y = _along_curve(place, side)
    whole = (height == side) & (width == side)
    m, n = _choose(whole, x, place // width), _choose(whole, y, place % width)
    return strip * side + m, square * side + n


def _along_curve(place: Number, side: int) -> tuple[Number, Number]:
    """Return where a square's Hilbert curve is after so many steps: quarters from the smallest on, each turned into
    place."""
    x = y = place * 0
    size = 1
    while size < side:
        right = place // 2 % 2
        up = (place + right) % 2
        flipped = (up == 0) & (right == 1)
        x, y = _choose(flipped, size - 1 - x, x), _choose(flipped, size - 1 - y, y)
        x, y = _choose(up == 0, y, x), _choose(up == 0, x, y)
        x, y = x + size * right, y + size * up
        place, size = place // 4, size * 2
    return x, y


def by_die(index: Number, tiles: Number, dies: int = 8) -> Number:
    """Return the tile of a block where blocks go to ``dies`` dies in turn: each die gets neighbours, as evenly as can
    be."""
    _positive(dies, "the number of dies")
    die, turn = index % dies, index // dies
    return die * (tiles // dies) + _least(die, tiles % dies) + turn


def persistent(block: Number, blocks: Number, tiles: Number) -> tuple[Number, Number, Number]:
    """Return the bounds of the loop over a block's tiles: ``for tile in range(*fx.schedule.persistent(b, blocks,
    tiles))``."""
    return block, tiles, blocks


def grouped(index: Number, counts: Sequence[Number]) -> tuple[Number, Number]:
    """Return (group, number in it) of a tile, where groups of ``counts`` tiles follow each other; some may have
    none."""
    if not counts:
        raise DslValueError("grouped needs the number of tiles of at least one group")
    group, start = index * 0, index * 0
    total = counts[0]
    for number in range(1, len(counts)):
        behind = index >= total
        group, start = _choose(behind, group * 0 + number, group), _choose(behind, start * 0 + total, start)
        total = total + counts[number]
    return group, index - start


class Share(NamedTuple):
    """Steps ``begin`` up to ``end`` of all tiles' steps along K, ``depth`` of them a tile."""

    begin: Number
    end: Number
    depth: Number

    def tile(self, step: Number) -> Number:
        """Return the tile that a step belongs to."""
        return step // self.depth

    def first(self, tile: Number) -> Number:
        """Return the first step along K of a tile that this share has."""
        start = self.begin - tile * self.depth
        return _choose(start > 0, start, start * 0)

    def last(self, tile: Number) -> Number:
        """Return the step behind the last one along K that this share has of a tile."""
        return _least(self.end - tile * self.depth, self.depth)

    def is_whole(self, tile: Number) -> Any:
        """Return whether this share has all steps of a tile, so that nobody else adds to it."""
        return (self.begin <= tile * self.depth) & (self.end >= (tile + 1) * self.depth)


def stream_k(worker: Number, workers: Number, tiles: Number, depth: Number) -> Share:
    """Return a worker's share of the ``tiles * depth`` steps: neighbours, and at most one more than another's."""
    steps = tiles * depth
    begin = worker * (steps // workers) + _least(worker, steps % workers)
    more = _choose(worker < steps % workers, steps // workers + 1, steps // workers)
    return Share(begin, begin + more, depth)


__all__ = ["Share", "bands", "by_die", "grouped", "hilbert", "persistent", "stream_k"]
