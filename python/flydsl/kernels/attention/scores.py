"""What every attention kernel does with scores, whatever multiplied them: which keys a query sees, and softmax as it goes.

A thread holds scores of a few queries, its *rows*, each a vector over keys; the other keys of a block are in the
registers of neighbouring lanes. Exponents are powers of two: the scale and log2(e) meet in one factor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log2
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx

LOG2_E = log2(2.718281828459045)
LN_2 = 1 / LOG2_E
LOWEST = float("-inf")


@dataclass(frozen=True)
class Features:
    """What is asked for beside softmax(q k) v. ``left`` and ``right`` are edges of the band of keys that a query sees."""

    left: bool = False
    right: bool = False
    softcap: bool = False
    scale_first: bool = False
    """Scores are scaled before anything else, not inside the exponent: what is added to them, or a scale of no use there."""


# Which keys ----------------------------------------------------------------------------------------


@fx.struct
class Band:
    """Query i sees keys j of ``length`` with i + offset - left <= j <= i + offset + right: the last query, the last key."""

    offset: fx.Int32
    left: fx.Int32
    right: fx.Int32
    length: fx.Int32


def first_key(band: Any, features: Features, query: Any) -> Any:
    """The first key that a query sees."""
    return fx.max(query + band.offset - band.left, fx.Int32(0)) if features.left else fx.Int32(0)


def end_of_keys(band: Any, features: Features, query: Any) -> Any:
    """One past the last key that a query sees; not beyond ``length``, nor before the first key of all."""
    if not features.right:
        return band.length
    return fx.max(fx.min(query + band.offset + band.right + 1, band.length), fx.Int32(0))


def blocks_of(band: Any, features: Features, first: Any, last: Any, size: int) -> tuple[Any, Any, Any, Any]:
    """Blocks of keys for queries ``first`` to ``last``: from, to, and the part (from, to) of them that needs no mask."""
    begin, end = first_key(band, features, first) // size, fx.ceildiv(end_of_keys(band, features, last), size)
    plain_begin = fx.ceildiv(first_key(band, features, last), size)
    plain_end = end_of_keys(band, features, first) // size
    return begin, fx.max(end, begin), plain_begin, plain_end


def masked(scores: Any, columns: Any, band: Any, features: Features, query: Any, key: Any) -> Any:
    """Scores of a query against keys ``key + columns``, those that it does not see at minus infinity."""
    seen = columns < end_of_keys(band, features, query) - key
    if features.left:
        seen = seen & (columns >= first_key(band, features, query) - key)
    return seen.select(scores, fx.full_like(scores, LOWEST))


def capped(scores: Any, cap: Any) -> Any:
    """cap * tanh(scores / cap)."""
    powers = powers_of_two(scores * (2 * LOG2_E / cap))
    return cap - (2 * cap) / (powers + 1.0)


# Rows of a fragment --------------------------------------------------------------------------------


class FragmentRows:
    """A thread's part of a product's result, as rows of queries.

    ``queries`` is the mode of (M, N) that queries are on; the other one is that of keys, or of a head's elements.
    ``origin`` is where this thread's first value stands, and the others stand as in thread 0.
    """

    def __init__(self, tiled: Any, thread: Any, shape: tuple[int, int], queries: int = 0) -> None:
        where = fx.make_identity_tensor(shape)
        mine, pattern = (tiled.get_slice(t).partition_C(where) for t in (thread, 0))
        size = int(fx.size(pattern))
        places = [tuple(int(part) for part in fx.get_leaves(pattern[i])) for i in range(size)]
        first = [fx.Int32(part) for part in fx.get_leaves(mine[0])]
        self.query, self.column = first[queries], first[1 - queries]
        self.rows = sorted({place[queries] for place in places})
        self.lanes = [[i for i in range(size) if places[i][queries] == row] for row in self.rows]
        self.columns = [[places[i][1 - queries] for i in lanes] for lanes in self.lanes]
        self._order = [(self.rows.index(place[queries])) for place in places]

    def split(self, values: Any) -> list[Any]:
        """A vector for each row."""
        flat = values.reshape((values.numel,))
        return [flat.shuffle(flat, lanes) for lanes in self.lanes]

    def join(self, rows: list[Any]) -> Any:
        """The way back, flat."""
        count = [0] * len(rows)
        order = []
        for row in self._order:
            order.append(row * rows[0].numel + count[row])
            count[row] += 1
        whole = rows[0]
        for row in rows[1:]:
            whole = whole.shuffle(row, [*range(whole.numel + row.numel)])
        return whole.shuffle(whole, order)

    def spread(self, numbers: list[Any]) -> Any:
        """Each row's number at each of its values, flat."""
        few = fx.Vector.from_elements(numbers, fx.Float32)
        return few.shuffle(few, self._order)


# Softmax, block by block ---------------------------------------------------------------------------


def powers_of_two(exponents: Any) -> Any:
    """2 to the power of each element. Where the GPU can spare itself the trouble with subnormal results, it does."""
    if not fx.nvvm.is_target():
        return fx.math.exp2(exponents)
    if not isinstance(exponents, fx.Vector):
        return fx.nvvm.ex2(exponents)
    return fx.Vector.from_elements([fx.nvvm.ex2(exponents[i]) for i in range(exponents.numel)], fx.Float32)


def folded(values: Any, combine: Callable[[Any, Any], Any]) -> Any:
    """All elements of a vector combined, half with half, so that no chain is long."""
    while fx.const_expr(values.numel > 1):
        half = values.numel // 2
        low, high = (values.shuffle(values, range(start, start + half)) for start in (0, half))
        odd = [values[2 * half]] if values.numel % 2 else []
        values = combine(low, high)
        if fx.const_expr(odd):
            values = fx.Vector.from_elements([combine(values[0], odd[0]), *(values[i] for i in range(1, half))])
    return values[0]


def over_lanes(value: Any, combine: Callable[[Any, Any], Any], distances: tuple[int, ...]) -> Any:
    """Combine a number over the lanes that share a row."""
    for distance in distances:
        value = combine(value, fx.shuffle_xor(value, distance, fx.num_warp_threads()))
    return value


def add(a: Any, b: Any) -> Any:
    return a + b


@flyc.jit
def softmax_step(scores, tops, sums, factor, distances):
    """Take a block of scores in. The powers, what earlier results shrink by, the new maxima and this thread's sums.

    Scores times ``factor`` are exponents of two. A row that has seen no key yet has a maximum of minus infinity.
    """
    powers, shrink, new_tops, new_sums = [], [], [], []
    for row, top, total in zip(scores, tops, sums, strict=True):
        highest = fx.maxnumf(top, over_lanes(folded(row, fx.maxnumf), fx.maxnumf, distances))
        shift = (highest == LOWEST).select(fx.Float32(0.0), highest * factor)
        power = powers_of_two(fx.math.fma(row, fx.full_like(row, factor), fx.full_like(row, -shift)))
        less = powers_of_two(top * factor - shift)
        powers.append(power)
        shrink.append(less)
        new_tops.append(highest)
        new_sums.append(fx.math.fma(total, less, folded(power, add)))
    return powers, shrink, new_tops, new_sums


@flyc.jit
def softmax_end(top, total, factor, distances, sink):
    """(what to multiply a row's result by, the logarithm of its sum of exponentials).

    ``sink`` is the score of a key without a value, or None. A row that saw no key is zero, its logarithm minus infinity.
    """
    total = over_lanes(total, add, distances)
    shift = (top == LOWEST).select(fx.Float32(0.0), top * factor)
    scale = fx.Float32(1.0)
    if fx.const_expr(sink is not None):
        level = sink * LOG2_E
        highest = fx.maxnumf((top == LOWEST).select(fx.Float32(LOWEST), shift), level)
        scale = (top == LOWEST).select(fx.Float32(0.0), powers_of_two(shift - highest))
        total = total * scale + powers_of_two(level - highest)
        shift = highest
    empty = total == 0.0
    logarithm = empty.select(fx.Float32(LOWEST), (shift + fx.math.log2(total)) * LN_2)
    return empty.select(fx.Float32(0.0), scale / total), logarithm
