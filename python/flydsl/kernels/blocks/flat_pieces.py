"""Matrices whose rows lie one behind the other, as lines of pieces of 16 bytes: for kernels that know of no rows.

Where a row begins does not matter then, however long rows are. Threads beside each other have pieces beside each other,
and some elements at the end of a line may be less than a piece.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import flydsl.expr as fx
from flydsl.kernels.blocks.exchange import begin_behind_older_launches
from flydsl.kernels.blocks.wide_pieces import ALIGNMENT, THREADS, begin_aligned

TURNS, FOLDED = 2, 4
"""Pieces that a thread sends for before it looks at the first: where it maps them, and where it folds them."""


def are_lines(matrices: Sequence[Any], rows: Any, length: int) -> Any:
    """Return whether so many rows of each matrix lie one behind the other."""
    together = fx.Boolean(True)
    for matrix in matrices:
        together = together & ((fx.Int64(matrix.stride[0]) == length) | (fx.Int32(rows) == 1))
    return together


def lie_flat(matrices: Sequence[Any], rows: Any, length: int) -> Any:
    """Return whether all matrices are lines that begin at multiples of 16 bytes, and no less than a piece."""
    return begin_aligned(matrices) & (fx.Int64(rows) * length >= ALIGNMENT) & are_lines(matrices, rows, length)


def folded(matrix: Any, rows: Any, length: int) -> Any:
    """Return a line as a matrix of other rows."""
    return fx.make_view(fx.get_iter(matrix), fx.make_layout((rows, length), (fx.Int64(length), 1)))


def _width(source: Any) -> int:
    """Return how many elements a piece has."""
    return ALIGNMENT // (source.dtype.width // 8)


def flat_grid(source: Any, elements: Any) -> tuple[Any, int, int]:
    """Return the blocks of a launch whose threads call `map_line`."""
    each = THREADS * TURNS * _width(source)
    return fx.Int32((elements + each - 1) // each), 1, 1


class _Span:
    """What a block has of a line of so many elements: ``whole`` pieces, and ``rest`` elements behind them."""

    def __init__(self, source: Any, elements: Any, block: Any) -> None:
        self.width = _width(source)
        each = THREADS * TURNS * self.width
        self.start = fx.Int64(block) * each
        there = fx.Int32(fx.min(elements - self.start, fx.Int64(each)))
        self.whole = there // self.width
        self.rest = there - self.whole * self.width

    def at(self, line: Any, element: Any, count: int) -> Any:
        """Return a view of elements of a line, the first of which is ``element`` of the span."""
        start = fx.get_iter(line) + self.start + element
        aligned = start.aligned(count * (line.dtype.width // 8)) if count > 1 else start
        return fx.make_view(aligned, fx.make_layout(count, 1))

    def load(self, line: Any, number: Any) -> Any:
        """Return a piece as f32; beyond the last one that, which may be in front of the span."""
        place = fx.min(number, self.whole - 1) * self.width
        return self.at(line, place, self.width).load().to(fx.Float32)


def map_line(
    function: Callable[..., Sequence[Any]], sources: Sequence[Any], targets: Sequence[Any], elements: Any,
    backwards: bool = False,
) -> None:  # fmt: skip
    """Write ``function`` of vectors of some lines to the same places of others, the last ones first if ``backwards``:
    what was read just before may be in a cache yet."""
    begin_behind_older_launches()
    block = fx.grid_dim.x - 1 - fx.block_idx.x if backwards else fx.block_idx.x
    span = _Span(sources[0], elements, block)
    numbers = [turn * THREADS + fx.thread_idx.x for turn in range(TURNS)]
    loaded = [[span.load(source, number) for source in sources] for number in numbers]
    for number, vectors in zip(numbers, loaded, strict=True):
        results = function(*vectors)
        if number < span.whole:
            for target, result in zip(targets, results, strict=True):
                span.at(target, number * span.width, span.width).store(result.to(target.dtype))
    if fx.thread_idx.x < span.rest:
        place = span.whole * span.width + fx.thread_idx.x
        results = function(*(span.at(source, place, 1).load().to(fx.Float32) for source in sources))
        for target, result in zip(targets, results, strict=True):
            span.at(target, place, 1).store(result.to(target.dtype))


def fold_line(function: Callable[[Any, Any], Any], start: Any, source: Any, elements: Any) -> Any:
    """Return ``function`` over (what it was before, a vector of a line) of a thread's elements, some of them twice.

    Blocks share the line, however many there are.
    """
    begin_behind_older_launches()
    width, found = _width(source), start
    pieces = elements // width
    first = fx.Int64(fx.block_idx.x) * (THREADS * FOLDED) + fx.thread_idx.x
    for piece in range(first, pieces, fx.Int64(fx.grid_dim.x) * (THREADS * FOLDED)):
        places = [fx.min(piece + turn * THREADS, pieces - 1) for turn in range(FOLDED)]
        for vector in [_elements(source, place * width, width) for place in places]:
            found = function(found, vector)
    return function(found, _elements(source, elements - 1 - fx.min(fx.thread_idx.x, width - 1), 1))


def _elements(line: Any, element: Any, count: int) -> Any:
    start = fx.get_iter(line) + element
    aligned = start.aligned(ALIGNMENT) if count > 1 else start
    return fx.make_view(aligned, fx.make_layout(count, 1)).load().to(fx.Float32)
