"""Rows whose vectors are the pieces of 16 bytes that they lie in, wherever in the first of them they begin.

All accesses are wide and aligned; what is not of the row is masked in the first and the last vector, by the threads
that have them. Rows of all matrices must begin at the same place in a piece (`rows.py` looks at that).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.cache_hints import Hint
from flydsl.kernels.blocks.row_plan import ACCESS_BYTES, DTYPES, RowPlan
from flydsl.kernels.blocks.rows import Access, Line, Share, picked, row_start, vectors_of


def place_of(start: fx.Pointer, plan: RowPlan) -> Any:
    """Return how many elements a row begins behind a multiple of 16 bytes."""
    return fx.Int32(fx.Uint64(fx.ptrtoint(start)) % ACCESS_BYTES) // plan.size


class ShiftedShare(Share):
    """Vectors are pieces of 16 bytes; the row begins at element ``place`` of the first piece."""

    def __init__(self, plan: RowPlan, place: Any, *, steady: bool = False) -> None:
        super().__init__(plan)
        self.place = place
        self.steady = steady
        """Whether it is the share of all rows of a block: then masks are the same for all of them."""

    def first(self, iteration: int) -> Any:
        """Return which element of the row the first one of a vector is; below 0 where it is none."""
        return (self.offset + self.vector(iteration)) * self.plan.width - self.place

    def known_whole(self, iteration: int) -> bool:
        """Return whether all vectors of an iteration are known to be whole, whichever thread has them."""
        plan = self.plan
        beyond = (iteration + 1) * plan.lanes > plan.share
        behind = ((plan.cluster - 1) * plan.share + (iteration + 1) * plan.lanes) * plan.width > plan.length
        return iteration > 0 and not beyond and not behind

    def _end(self, iteration: int) -> Any:
        """Return where the row ends for this thread: lanes beyond the block's share have nothing of it."""
        plan, end = self.plan, fx.Int32(self.plan.length)
        if (iteration + 1) * plan.lanes <= plan.share:
            return end
        return (self.vector(iteration) < plan.share).select(end, fx.Int32(0))

    def whole(self, iteration: int) -> Any:
        """Return whether all elements of a vector are of the row: in all threads but one or two, where it is asked."""
        first = self.first(iteration)
        ends = first + self.plan.width <= self._end(iteration)
        return (first >= 0) & ends if iteration == 0 else ends

    def within_rows(self, iteration: int, row: fx.Int32, end: fx.Int32) -> Any:
        """Return whether the whole vector lies in memory of rows, be they others, of which there are ``end``."""
        first = self.first(iteration)
        return ((first >= 0) | (row > 0)) & ((first + self.plan.width <= self.plan.length) | (row < end - 1))

    def insides(self, iteration: int) -> list[Any] | None:
        if self.known_whole(iteration):
            return None
        first, end = self.first(iteration), self._end(iteration)
        ats = [first + place for place in range(self.plan.width)]
        return [(at >= 0) & (at < end) for at in ats] if iteration == 0 else [at < end for at in ats]

    @flyc.jit
    def filled(self, vector: Any, iteration: int, fill: float, dtype: Any) -> Any:
        """Return the vector with ``fill`` in place of what is not of the row; threads with whole vectors skip that,
        but where masks are kept for all rows of a block."""
        if fx.const_expr(not self.known_whole(iteration)):
            if fx.const_expr(self.steady and fill == 0.0):
                vector = (vector.bitcast(fx.Int32) & self._mask(iteration, dtype.width)).bitcast(dtype)
            else:
                if not self.whole(iteration):
                    vector = picked(vector, self.insides(iteration), fill, dtype)
        return vector

    def _mask(self, iteration: int, width: int) -> Any:
        """Return words whose bits are set where elements of so many bits are of the row.

        They are computed by shifts of signs: LLVM would put comparisons of all elements of each row in their place.
        """
        first, end = self.first(iteration), self._end(iteration)
        signs = [((first + i - end) & ~(first + i)) >> 31 for i in range(self.plan.width)]
        if width == 16:
            signs = [(low & 0xFFFF) | (high << 16) for low, high in zip(signs[::2], signs[1::2], strict=True)]
        return fx.Vector.from_elements(signs, fx.Int32)

    def within(self, vector: fx.Vector, iteration: int) -> Any:
        return self.within_or_zero(vector, iteration)

    def within_or_zero(self, vector: fx.Vector, iteration: int) -> Any:
        return self.filled(vector, iteration, 0.0, fx.Float32)

    def counted(self, iteration: int) -> Any:
        if self.known_whole(iteration):
            return fx.Float32(float(self.plan.width))
        first = self.first(iteration)
        elements = fx.min(first + self.plan.width, self._end(iteration)) - fx.max(first, fx.Int32(0))
        return fx.Float32(fx.max(elements, fx.Int32(0)))

    def columns(self, iteration: int) -> list[Any]:
        first = self.first(iteration)
        return [first + place for place in range(self.plan.width)]

    def count_of_wave(self, group: int) -> Any:
        plan, known, counts = self.plan, 0, fx.Int32(0)
        stop = fx.min((self.offset + fx.Int32(plan.share)) * plan.width - self.place, fx.Int32(plan.length))
        for iteration in range(plan.iterations):
            if self.known_whole(iteration):
                known += group * plan.width
                continue
            first = (self.offset + self.lane // group * group + iteration * plan.lanes) * plan.width - self.place
            elements = fx.min(first + group * plan.width, stop) - fx.max(first, fx.Int32(0))
            counts = counts + fx.max(elements, fx.Int32(0))
        return fx.Float32(counts + known)

    def count(self) -> Any:
        iterations = range(self.plan.iterations)
        known = sum(self.plan.width for iteration in iterations if self.known_whole(iteration))
        counts = [self.counted(iteration) for iteration in iterations if not self.known_whole(iteration)]
        return sum(counts, fx.Float32(float(known)))


class PiecesBefore(Line):
    """This thread's vectors of a row that were loaded before, and are masked now: that would wait for the load."""

    def __init__(self, vectors: list[Any], share: ShiftedShare, fill: float) -> None:
        kind = DTYPES[share.plan.dtype]
        held = [share.filled(vector, iteration, fill, kind) for iteration, vector in enumerate(vectors)]
        super().__init__(None, share, fill, keep=True, held=held)


class LineAtPlace(Line):
    """What of a line goes with the vectors of rows that begin at one place in a piece, ``keep`` of them loaded once.

    A vector is cut out of two neighbouring pieces of the line, or loaded element by element where the line ends in one
    of them. Elements beside the row are some of the line.
    """

    def __init__(self, line: fx.Tensor, share: ShiftedShare, keep: bool | int = True) -> None:
        self.start, plan = fx.get_iter(line), share.plan
        self.pieces = vectors_of(self.start, plan, plan.length // plan.width)
        self.by_words = plan.width * line.dtype.width == 8 * ACCESS_BYTES and plan.length >= plan.width
        super().__init__(None, share, 0.0, keep=keep, dtype=line.dtype)

    def _load(self, iteration: int, hint: Hint | None) -> Any:
        return load_at_place(self, iteration)

    def elements(self, iteration: int) -> Any:
        last = fx.Int32(self.share.plan.length - 1)
        columns = [fx.max(fx.min(column, last), fx.Int32(0)) for column in self.share.columns(iteration)]
        return fx.Vector.from_elements([self.start[column] for column in columns], self.dtype)

    def cut(self, iteration: int) -> Any:
        share, whole = self.share, self.share.plan.length // self.share.plan.width
        number = share.offset + share.vector(iteration)
        words = []
        for piece in (number - 1, number):
            access = Access(share.plan, self.pieces, self.dtype, share.plan.hints.line)
            inside = fx.max(fx.min(fx.Int32(piece), fx.Int32(whole - 1)), fx.Int32(0))
            for memory, register in access.pairs(inside, 0):
                fx.copy_atom_call(access.atom, memory, register)
            vector = access.fragment.load().bitcast(fx.Int32)
            words += [vector[word] for word in range(vector.numel)]
        return moved_down(words, (share.plan.width - share.place) * self.dtype.width // 16, self.dtype)


def moved_down(words: list[Any], halves: Any, dtype: Any) -> Any:
    """Return the first half of some words, moved down by so many halves of a word, at most by half of the words."""
    count = len(words) // 2
    for step in (4, 2, 1):
        far = (halves // 2 & step) != 0
        moved = [far.select(upper, lower) for lower, upper in zip(words, words[step:], strict=False)]
        words = moved + words[-step:]
    odd = halves % 2 != 0
    result = words[:count]
    if dtype.width == 16:
        result = [odd.select(low.shrui(16) | (high << 16), low) for low, high in pairwise(words[: count + 1])]
    return fx.Vector.from_elements(result, fx.Int32).bitcast(dtype)


@flyc.jit
def load_at_place(line: LineAtPlace, iteration: int) -> Any:
    """Return a vector of a line: by pieces where both are whole."""
    plan, share = line.share.plan, line.share
    whole = plan.length // plan.width
    if fx.const_expr(not line.by_words):
        vector = line.elements(iteration)
    elif fx.const_expr((plan.cluster - 1) * plan.share + (iteration + 1) * plan.lanes <= whole):
        vector = line.cut(iteration)
    else:
        vector = line.cut(iteration)
        if fx.Int32(share.offset + share.vector(iteration)) >= whole:
            vector = line.elements(iteration)
    return vector


class PieceLine(Line):
    """This thread's vectors of a row in memory whose pieces are loaded wherever it begins.

    Those that are kept are masked when all loads have begun, or not at all where they are ``masked`` later.
    """

    def __init__(
        self, source: fx.Tensor, row: fx.Int32, end: fx.Int32, share: ShiftedShare, fill: float, masked: bool = True
    ) -> None:
        self.start, self.row, self.end, plan = row_start(source, row), row, end, share.plan
        vectors = vectors_of(self.start - share.place + share.offset * plan.width, plan, plan.share)
        super().__init__(vectors, share, fill, keep=False, hint=plan.hints.load, again=plan.hints.again)
        if plan.keep:
            loaded = [load_piece(self, iteration, self.hint) for iteration in range(plan.iterations)]
            self.held = [self._filled(vector, i) for i, vector in enumerate(loaded)] if masked else loaded

    def _load(self, iteration: int, hint: Hint | None) -> Any:
        return self._filled(load_piece(self, iteration, hint), iteration)

    def _filled(self, vector: Any, iteration: int) -> Any:
        return self.share.filled(vector, iteration, self.fill, self.kind)


@flyc.jit
def load_piece(line: PieceLine, iteration: int, hint: Hint | None) -> Any:
    """Return a vector of a row, not masked. Pieces at its ends are loaded whole where other rows have the rest."""
    share, kind = line.share, DTYPES[line.share.plan.dtype]
    access = Access(share.plan, line.vectors, kind, hint)
    if fx.const_expr(share.known_whole(iteration)):
        for memory, register in access.pairs(share.vector(iteration), 0):
            fx.copy_atom_call(access.atom, memory, register)
    else:
        access.fragment.fill(line.fill)
        first, end = share.first(iteration), share._end(iteration)
        if share.whole(iteration) | ((first < end) & share.within_rows(iteration, line.row, line.end)):
            for memory, register in access.pairs(share.vector(iteration), 0):
                fx.copy_atom_call(access.atom, memory, register)
        else:
            insides = share.insides(iteration)
            for element in fx.range_constexpr(share.plan.width):
                if insides[element]:
                    access.fragment[element] = line.start[first + element]
    return access.fragment.load()


@flyc.jit
def store_shifted(vector: fx.Vector, target: fx.Tensor, row: fx.Int32, share: Any, iteration: int) -> None:
    """Write a vector of a row that begins in a piece where the source's does: whole, or what of it is in the row."""
    plan, start, kind = share.plan, row_start(target, row), target.dtype
    vectors = vectors_of(start - share.place + share.offset * plan.width, plan, plan.share)
    access = Access(plan, vectors, kind, plan.hints.store)
    access.fragment.store(vector.to(kind))
    if fx.const_expr(share.known_whole(iteration)):
        for memory, register in access.pairs(share.vector(iteration), 0):
            fx.copy_atom_call(access.atom, register, memory)
    else:
        if share.whole(iteration):
            for memory, register in access.pairs(share.vector(iteration), 0):
                fx.copy_atom_call(access.atom, register, memory)
        else:
            rounded, first, insides = access.fragment.load(), share.first(iteration), share.insides(iteration)
            for element in fx.range_constexpr(plan.width):
                if insides[element]:
                    start[first + element] = rounded[element]


def store_sums(vector: fx.Vector, start: fx.Pointer, share: ShiftedShare, iteration: int, atomic: bool) -> None:
    """Write a vector of sums to where a line of them begins, or add it; the line need not begin as rows do."""
    line, first = fx.make_view(start, fx.make_layout(share.plan.length, 1)), share.first(iteration)
    for element, inside in enumerate(share.insides(iteration) or [True] * share.plan.width):
        if fx.Boolean(True) if inside is True else inside:
            if atomic:
                fx.atomic("add", line, vector[element], at=first + element)
            else:
                line[first + element] = vector[element]
