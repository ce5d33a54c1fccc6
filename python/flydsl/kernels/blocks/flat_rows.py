"""Rows that lie one behind the other, as one line of pieces: for kernels that map elements by numbers of their row.

Nothing has to be known of a row as a whole, so no thread waits for another, and all accesses are pieces of 16 bytes
wherever rows begin. A piece may have the end of a row and the beginning of the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.cache_hints import ONCE, PLAIN, copy_atom
from flydsl.kernels.blocks.inputs import require_type
from flydsl.kernels.blocks.row_pieces import place_of
from flydsl.kernels.blocks.row_plan import ACCESS_BYTES, DTYPES, LEAST_PIECES, RowPlan
from flydsl.kernels.blocks.rows import begin_alike, widened

THREADS, AT_ONCE = 256, 2
"""Of a block, and pieces that each of them loads before it computes: on an H200 two are faster than one or four."""

Numbers = Callable[[fx.Int32], Sequence[Any]]
"""``numbers(row)`` are what elements of a row are mapped by."""
Mapping = Callable[[Any, Sequence[Any], Any], Any]
"""``mapping(vector, numbers, column)`` maps elements of a row, the first of which is at a column, maybe before it."""


def flat_plan(length: int, dtype: str) -> RowPlan:
    width = ACCESS_BYTES * 8 // DTYPES[dtype].width
    return RowPlan(length, dtype, width, THREADS, once=True, hints=ONCE if fx.nvvm.is_target() else PLAIN)


def lie_flat(matrices: list[Any], rows: fx.Int32, plan: RowPlan) -> Any:
    """Return whether rows of all matrices lie one behind the other, and begin at the same place in a piece."""
    flat = begin_alike(matrices, plan) & (fx.Int64(rows) * plan.length >= LEAST_PIECES * plan.width)
    for matrix in matrices:
        flat = flat & (fx.Int64(matrix.stride[0]) == plan.length)
    return flat


def flat_blocks(source: fx.Tensor, rows: fx.Int32, plan: RowPlan) -> Any:
    """Return how many blocks take the pieces of so many rows."""
    elements = place_of(fx.get_iter(source), plan) + fx.Int64(rows) * plan.length
    each = THREADS * AT_ONCE * plan.width
    return fx.Int32((elements + each - 1) // each)


class _Pieces:
    """A block's pieces of a matrix, counted from the block's first: which are there, and which are whole."""

    def __init__(self, source: fx.Tensor, rows: fx.Int32, plan: RowPlan) -> None:
        self.plan, self.rows, self.place = plan, rows, fx.Int32(place_of(fx.get_iter(source), plan))
        each, one, none = THREADS * AT_ONCE, fx.Int32(1), fx.Int32(0)
        block = fx.Int64(fx.block_idx.x) * (each * plan.width)
        self.start = block - self.place
        """Which element of all the block's first one is; below 0 where it is none."""
        elements = fx.Int64(rows) * plan.length - self.start
        self.elements = fx.Int32(fx.min(elements, fx.Int64(each * plan.width)))
        """From there on to the last one."""
        before = (self.start < 0).select(one, none)
        self.lowest, self.highest = before, self.elements // plan.width - 1
        first = fx.max(self.start, fx.Int64(0)) // plan.length
        self.row = fx.Int32(first)
        self.column = fx.Int32(self.start - first * plan.length)

    def number(self, turn: int) -> Any:
        return fx.Int32(fx.thread_idx.x) + turn * THREADS

    def whole(self, turn: int) -> Any:
        return (self.number(turn) >= self.lowest) & (self.number(turn) <= self.highest)

    @property
    def two_rows(self) -> bool:
        """Whether the block has pieces of two rows at most."""
        return self.plan.length >= THREADS * AT_ONCE * self.plan.width

    def place_in_rows(self, turn: int) -> tuple[Any, Any]:
        """Return how many rows behind the block's first one a piece begins, and at which column."""
        column, length = self.column + self.number(turn) * self.plan.width, self.plan.length
        if self.two_rows:
            further = (column >= length).select(fx.Int32(1), fx.Int32(0))
        else:
            further = fx.max(column, fx.Int32(0)) // length
        return further, column - further * length

    def within(self, turn: int) -> list[Any]:
        """Return which elements of a piece are of the matrix."""
        first = self.number(turn) * self.plan.width
        least = fx.Int32(fx.max(-self.start, fx.Int64(0)))
        return [(first + i >= least) & (first + i < self.elements) for i in range(self.plan.width)]

    def view(self, matrix: fx.Tensor, number: Any) -> Any:
        at = fx.get_iter(matrix) + (self.start + fx.Int64(number) * self.plan.width)
        return fx.make_view(at, fx.make_layout(self.plan.width, 1))


def map_pieces(
    source: fx.Tensor, target: fx.Tensor, rows: fx.Int32, plan: RowPlan, numbers: Numbers, mapping: Mapping
) -> None:
    """Map all elements of ``source`` to ``target``; both `lie_flat`, or are the same."""
    require_type((source,), DTYPES[plan.dtype])
    pieces = _Pieces(source, rows, plan)
    vectors = [_load(pieces, source, turn) for turn in range(AT_ONCE)]
    places = [pieces.place_in_rows(turn) for turn in range(AT_ONCE)]
    of_row = _numbers_of(pieces, numbers)
    own = [of_row(further) for further, _ in places]
    results = []
    for turn, (vector, (further, column)) in enumerate(zip(vectors, places, strict=True)):
        wide = widened(_completed(pieces, source, turn, vector))
        results.append(_mapped(plan, wide, column, own[turn], lambda row=further: of_row(row + 1), mapping))
    for turn, result in enumerate(results):
        _store(pieces, target, turn, result)


def _numbers_of(pieces: _Pieces, numbers: Numbers) -> Numbers:
    """Return a function of how far a row is behind the block's first one; beyond the last row it is that."""

    def of_row(further: Any) -> Sequence[Any]:
        return numbers(fx.min(pieces.row + further, pieces.rows - 1))

    if not pieces.two_rows:
        return of_row
    first, second = of_row(0), of_row(1)

    def of_either(further: Any) -> Sequence[Any]:
        return [(further > 0).select(b, a) for a, b in zip(first, second, strict=True)]

    return of_either


def _load(pieces: _Pieces, source: fx.Tensor, turn: int) -> Any:
    """Return a piece, or a neighbour in the place of one that is cut: behind a branch, a wave would wait for it."""
    plan, kind = pieces.plan, DTYPES[pieces.plan.dtype]
    number = fx.min(fx.max(pieces.number(turn), pieces.lowest), pieces.highest)
    found = fx.make_rmem_tensor(plan.width, kind)
    fx.copy_atom_call(copy_atom(8 * ACCESS_BYTES, kind, plan.hints.load), pieces.view(source, number), found)
    return found.load()


@flyc.jit
def _completed(pieces: _Pieces, source: fx.Tensor, turn: int, vector: Any) -> Any:
    """Return the elements of a piece that is cut instead of its neighbour's."""
    if not pieces.whole(turn):
        kind, within, view = DTYPES[pieces.plan.dtype], pieces.within(turn), pieces.view(source, pieces.number(turn))
        found = fx.make_rmem_tensor(pieces.plan.width, kind)
        found.fill(0.0)
        for element in fx.range_constexpr(pieces.plan.width):
            if within[element]:
                found[element] = view[element]
        vector = found.load()
    return vector


@flyc.jit
def _mapped(
    plan: RowPlan, vector: Any, column: Any, own: Any, of_next: Callable[[], Sequence[Any]], mapping: Mapping
) -> Any:
    """Return what a vector becomes, part of which may be of the next row."""
    result = mapping(vector, own, column)
    if column + plan.width > plan.length:
        behind = column - plan.length
        other = mapping(vector, of_next(), behind)
        parts = [(behind + i >= 0).select(other[i], result[i]) for i in range(plan.width)]
        result = fx.Vector.from_elements(parts, fx.Float32)
    return result


@flyc.jit
def _store(pieces: _Pieces, target: fx.Tensor, turn: int, result: Any) -> None:
    plan, kind = pieces.plan, target.dtype
    rounded = fx.make_rmem_tensor(plan.width, kind)
    rounded.store(result.to(kind))
    view = pieces.view(target, pieces.number(turn))
    if pieces.whole(turn):
        fx.copy_atom_call(copy_atom(8 * ACCESS_BYTES, kind, plan.hints.store), rounded, view)
    else:
        within = pieces.within(turn)
        for element in fx.range_constexpr(plan.width):
            if within[element]:
                view[element] = rounded[element]
