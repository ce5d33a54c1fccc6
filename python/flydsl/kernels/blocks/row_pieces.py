"""Rows whose vectors are the pieces of 16 bytes that they lie in, wherever in the first of them they begin.

All accesses are wide and aligned; what is not of the row is masked in the first and the last vector, by the threads
that have them. Rows of all matrices must begin at the same place in a piece (`rows.py` looks at that).
"""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.cache_hints import Hint
from flydsl.kernels.blocks.exchange import block_barrier
from flydsl.kernels.blocks.row_machine import HOPPER
from flydsl.kernels.blocks.row_plan import ACCESS_BYTES, RowPlan
from flydsl.kernels.blocks.row_resources import meeting_iterations
from flydsl.kernels.blocks.rows import Access, Line, Share, picked, row_start, vectors_of, widened_again

WAVE, NAMED_BARRIERS = HOPPER.wave, 16
"""Lanes of a wave, and named barriers of a block, where rows are taken by pieces."""


def place_of(start: fx.Pointer, plan: Any, unit: int = ACCESS_BYTES) -> Any:
    """Return how many elements a row begins behind a multiple of so many bytes."""
    return fx.Int32(fx.Uint64(fx.ptrtoint(start)) % unit) // plan.size


class ShiftedShare(Share):
    """Vectors are pieces of 16 bytes; the row begins at element ``place`` of the first piece."""

    def __init__(self, plan: RowPlan, place: Any, *, steady: bool = False) -> None:
        super().__init__(plan)
        self.place = place
        self.steady = steady
        """Whether it is the share of all rows of a block: then masks are the same for all of them."""

    def anew(self, row: fx.Int32) -> ShiftedShare:
        """Return the same share, by numbers that depend on a row: for what is seldom done, and what LLVM would keep in
        registers for all rows."""
        own = copy(self)
        own.place = self.place + (row >> 31)
        return own

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

    def in_share(self, iteration: int) -> Any:
        """Return whether a vector is of the block's part of the row."""
        inside = (iteration + 1) * self.plan.lanes <= self.plan.share
        return fx.Boolean(True) if inside else self.vector(iteration) < self.plan.share

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
    def filled(self, vector: Any, iteration: int, fill: Any, dtype: Any) -> Any:
        """Return the vector with ``fill`` in place of what is not of the row; threads with whole vectors skip that,
        but where masks are kept for all rows of a block."""
        if fx.const_expr(not self.known_whole(iteration)):
            if fx.const_expr(self.steady and fill == 0.0):
                vector = (vector.bitcast(fx.Int32) & self._mask(iteration, dtype.width)).bitcast(dtype)
            else:
                if fx.const_expr((iteration + 1) * self.plan.lanes > self.plan.share):
                    # Waves behind the block's part have no branch to take.
                    vector = picked(vector, [self.in_share(iteration)] * self.plan.width, fill, dtype)
                if self.in_share(iteration) & ~self.whole(iteration):
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

    @flyc.jit
    def elements(self, start: fx.Pointer, iteration: int, fill: float, dtype: Any) -> Any:
        """Return a vector of a row, read element by element; ``fill`` where it has none."""
        found, first = fx.make_rmem_tensor(self.plan.width, dtype), self.first(iteration)
        found.fill(fill)
        insides = self.insides(iteration)
        for element in fx.range_constexpr(self.plan.width):
            if insides[element]:
                found[element] = start[first + element]
        return found.load()

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


class LineAtPlace(Line):
    """What of a line goes with the vectors of rows that begin at one place in a piece, ``keep`` of them loaded once.

    A vector is cut out of two neighbouring pieces of the line, or loaded element by element where the line ends in one
    of them. All loads of pieces begin before one is waited for. Elements beside the row are some of the line.
    """

    def __init__(self, line: fx.Tensor, share: ShiftedShare, keep: bool | int = True) -> None:
        self.start, plan = fx.get_iter(line), share.plan
        self.pieces = vectors_of(self.start, plan, plan.length // plan.width)
        self.by_words = plan.width * line.dtype.width == 8 * ACCESS_BYTES and plan.length >= plan.width
        super().__init__(None, share, 0.0, keep=False, dtype=line.dtype)
        count = plan.iterations if keep is True else min(int(keep), plan.iterations)
        begun = [self._begun(iteration, share.plan.hints.line) for iteration in range(count)]
        self.held = [self._completed(words, iteration) for iteration, words in enumerate(begun)]

    def _load(self, iteration: int, hint: Hint | None) -> Any:
        return self._completed(self._begun(iteration, hint), iteration)

    def elements(self, iteration: int) -> Any:
        last = fx.Int32(self.share.plan.length - 1)
        columns = [fx.max(fx.min(column, last), fx.Int32(0)) for column in self.share.columns(iteration)]
        return fx.Vector.from_elements([self.start[column] for column in columns], self.dtype)

    def _begun(self, iteration: int, hint: Hint | None) -> list[Any]:
        """Return the words of both pieces, where a vector is made of such."""
        if not self.by_words:
            return []
        share, whole = self.share, self.share.plan.length // self.share.plan.width
        number = share.offset + share.vector(iteration)
        words = []
        for piece in (number - 1, number):
            access = Access(share.plan, self.pieces, self.dtype, hint)
            inside = fx.max(fx.min(fx.Int32(piece), fx.Int32(whole - 1)), fx.Int32(0))
            for memory, register in access.pairs(inside, 0):
                fx.copy_atom_call(access.atom, memory, register)
            vector = access.fragment.load().bitcast(fx.Int32)
            words += [vector[word] for word in range(vector.numel)]
        return words

    def _completed(self, words: list[Any], iteration: int) -> Any:
        return at_place(self, words, iteration)

    def cut(self, words: list[Any]) -> Any:
        share = self.share
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
def at_place(line: LineAtPlace, words: list[Any], iteration: int) -> Any:
    """Return a vector of a line, cut out of the words of two pieces where both are whole."""
    plan, share = line.share.plan, line.share
    whole = plan.length // plan.width
    if fx.const_expr(not line.by_words):
        vector = line.elements(iteration)
    elif fx.const_expr((plan.cluster - 1) * plan.share + (iteration + 1) * plan.lanes <= whole):
        vector = line.cut(words)
    else:
        vector = line.cut(words)
        if fx.Int32(share.offset + share.vector(iteration)) >= whole:
            vector = line.elements(iteration)
    return vector


class PieceLine(Line):
    """This thread's vectors of a row in memory whose pieces are loaded wherever it begins.

    All are loaded without a branch, behind which a wave would wait: where a vector is beyond the row, or its piece is
    not in the memory of ``end`` rows as a whole, a neighbour comes instead. What is not of the row is masked, and
    pieces that are cut are read, when all loads have begun. Rows have `LEAST_PIECES` at least.
    """

    def __init__(
        self, source: fx.Tensor, row: fx.Int32, end: fx.Int32, share: ShiftedShare, fill: float,
        ahead: list[Any] | None = None,
    ) -> None:  # fmt: skip
        """``ahead`` are the vectors of the row, where they were loaded before (`ahead`)."""
        self.start, self.row, self.end, plan = row_start(source, row), row, end, share.plan
        vectors = vectors_of(self.start - share.place, plan, plan.vectors)
        super().__init__(vectors, share, fill, keep=False, hint=plan.hints.load, again=plan.hints.again)
        stop = share.place + plan.length
        self.lowest = ((row == 0) & (share.place > 0)).select(fx.Int32(1), fx.Int32(0))
        cut = (row == end - 1) & (stop % plan.width > 0)
        self.highest = (stop - 1) // plan.width - cut.select(fx.Int32(1), fx.Int32(0))
        if plan.keep:
            loaded = self.ahead() if ahead is None else ahead
            self.held = [self._completed(vector, iteration) for iteration, vector in enumerate(loaded)]

    def ahead(self) -> list[Any]:
        """Return all vectors, for `PieceLine` of the same row later on."""
        return [self._begun(iteration, self.hint) for iteration in range(self.share.plan.iterations)]

    def again_at(self, iteration: int) -> Any:
        if not self.held:
            return super().again_at(iteration)
        return widened_again(self.held[iteration], self.row >> 31)

    def _load(self, iteration: int, hint: Hint | None) -> Any:
        return self._completed(self._begun(iteration, hint), iteration)

    def _begun(self, iteration: int, hint: Hint | None) -> Any:
        share = self.share
        number = fx.Int32(share.offset + share.vector(iteration))
        if not share.known_whole(iteration):
            number = fx.max(fx.min(number, self.highest), self.lowest)
        access = Access(share.plan, self.vectors, self.kind, hint)
        for memory, register in access.pairs(number, 0):
            fx.copy_atom_call(access.atom, memory, register)
        return access.fragment.load()

    def _completed(self, vector: Any, iteration: int) -> Any:
        return self.share.filled(read_cut_piece(self, vector, iteration), iteration, self.fill, self.kind)


@flyc.jit
def read_cut_piece(line: PieceLine, vector: Any, iteration: int) -> Any:
    """Return a vector with the row's own elements, where it is not in memory as a whole."""
    share = line.share
    if fx.const_expr(not share.known_whole(iteration)):
        if (share.first(iteration) < share._end(iteration)) & ~share.within_rows(iteration, line.row, line.end):
            vector = share.anew(line.row).elements(line.start, iteration, line.fill, line.kind)
    return vector


def store_shifted(
    vector: fx.Vector, target: fx.Tensor, row: fx.Int32, share: Any, iteration: int, alive: Any = True
) -> None:
    """Write a vector of a row that begins in a piece where the source's does."""
    store_at(vector, row_start(target, row), target.dtype, row, share, iteration, share.plan.hints.store, alive)


@flyc.jit
def store_at(
    vector: fx.Vector, start: fx.Pointer, kind: Any, row: fx.Int32, share: Any, iteration: int, hint: Hint | None,
    alive: Any = True,
) -> None:  # fmt: skip
    """Write a vector of a row that begins at ``start``: whole, or what of it is in the row."""
    plan = share.plan
    vectors = vectors_of(start - share.place + share.offset * plan.width, plan, plan.share)
    access = Access(plan, vectors, kind, hint)
    access.fragment.store(vector.to(kind))
    writes, known = fx.Boolean(True) if alive is True else alive, share.known_whole(iteration)
    if writes if known else writes & share.whole(iteration):
        for memory, register in access.pairs(share.vector(iteration), 0):
            fx.copy_atom_call(access.atom, register, memory)
    if fx.const_expr(not known):
        if writes & share.in_share(iteration) & ~share.whole(iteration):
            rounded, own = access.fragment.load(), share.anew(row)
            first, insides = own.first(iteration), own.insides(iteration)
            for element in fx.range_constexpr(plan.width):
                if insides[element]:
                    start[first + element] = rounded[element]


@flyc.jit
def store_sums(sums: list[Any], start: fx.Pointer, share: ShiftedShare, meeting: fx.Pointer, atomic: bool) -> None:
    """Write all vectors of sums to where a line of them begins, or add them; the line need not begin as rows do.

    A thread's elements lie side by side, and those of a wave too: by way of shared memory, ``meeting``, neighbouring
    lanes write neighbouring elements. One by one, each would be a sector of its own. Waves do not wait for each other
    in between.
    """
    plan, line = share.plan, fx.make_view(start, fx.make_layout(share.plan.length, 1))
    wave = fx.nvvm.warp_uniform(share.lane // WAVE)
    own = wave * WAVE * plan.width + fx.lane_id()
    block_barrier(plan)  # what was there has been read
    for begin in fx.range_constexpr(0, len(sums), meeting_iterations(plan)):
        together = sums[begin : begin + meeting_iterations(plan)]
        _wave_barrier(plan, wave)
        for place, vector in enumerate(together):
            put_vector(vector, meeting, share, share.vector(place))
        _wave_barrier(plan, wave)
        if fx.const_expr(plan.once_in_code):
            for place in range(len(together)):
                _store_met(line, share, begin, place, own, meeting, atomic)
        else:
            for place in fx.range_constexpr(len(together)):
                _store_met(line, share, begin, place, own, meeting, atomic)


@flyc.jit
def _store_met(
    line: fx.Tensor, share: ShiftedShare, begin: int, place: Any, own: Any, meeting: fx.Pointer, atomic: bool
) -> None:
    """Write what this thread has of the ``place``-th vectors that met, or add it; ``begin`` were there before."""
    plan = share.plan
    first = share.offset * plan.width - share.place + begin * plan.lanes * plan.width
    ats = [own + place * (plan.lanes * plan.width) + turn * WAVE for turn in range(plan.width)]
    found = [meeting[at] for at in ats]
    for at, value in zip(ats, found, strict=True):
        column = first + at
        here = (column >= 0) & (column < plan.length) & (at // plan.width + begin * plan.lanes < plan.share)
        if here:
            if fx.const_expr(atomic):
                fx.atomic("add", line, value, at=column)
            else:
                line[column] = value


def _wave_barrier(plan: RowPlan, wave: Any) -> None:
    """A barrier of a wave's lanes, or of all where there are more waves than named barriers behind the first two."""
    if plan.lanes // WAVE + 2 <= NAMED_BARRIERS:
        fx.nvvm.barrier_sync(wave + 2, WAVE)
    else:
        block_barrier(plan)


def put_vector(vector: fx.Vector, start: fx.Pointer, share: ShiftedShare, number: Any) -> None:
    """Write a vector of f32 as the one of that number behind ``start``, a multiple of 16 bytes."""
    plan = share.plan
    access = Access(plan, vectors_of(start, plan, plan.iterations * plan.lanes), fx.Float32, None)
    access.fragment.store(vector)
    for memory, register in access.pairs(number, 0):
        fx.copy_atom_call(access.atom, register, memory)
