"""What every attention kernel does with scores, whatever multiplied them: which keys a query sees, and softmax.

A thread holds scores of a few queries, its *rows*, each a vector over keys; the other keys of a block are in the
registers of neighbouring lanes. Exponents are powers of two: the scale and log2(e) meet in one factor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from math import gcd
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.activation import LN_2, LOG2_E, inverse, powers_of_two
from flydsl.kernels.blocks.reduce import LOWEST, above_lowest, add

LEAST_F32 = -(2.0**128 - 2.0**104)
MAX_FACTOR = 1024.0
MAX_CAP = 2.0**14
"""Capped scores are rounded as the cap is, which would be seen under a greater one."""


@dataclass(frozen=True)
class Features:
    """What is asked for beside softmax(q k) v. ``left`` and ``right`` bound the band of keys that a query sees."""

    left: bool = False
    right: bool = False
    softcap: bool = False
    scale_first: bool = False
    """Scores become exponents of two before anything else, not by the factor of the exponential."""


PLAIN = Features()


def is_scaled_first(scale: float, softcap: float, added: bool = False) -> bool:
    """Return whether a factor of the exponential will not do: scores are capped or something is ``added`` to them, the
    greatest product has not the greatest exponent, or levels are so large that the factor's rounding overflows."""
    return softcap > 0 or added or not 0 < scale <= MAX_FACTOR


def check_softcap(softcap: float) -> None:
    if not 0 <= softcap <= MAX_CAP:
        raise ValueError(f"softcap is 0, for none, to {MAX_CAP:.0f}, got {softcap}")


def factor_of(scale: Any, features: Features) -> Any:
    """Return what makes exponents of two of scores, as `tiles.scores_of` gives them."""
    return fx.Float32(1.0 if features.scale_first else scale * LOG2_E)


def exponents_of(terms: Any) -> Any:
    """Return what is added to exponents of two where ``terms`` are added to scores.

    Only minus infinity hides a key: the lowest of all numbers, a usual mask, is not to become that. A query for which
    all keys have it sees them all alike.
    """
    found = fx.max(terms * LOG2_E, fx.full_like(terms, LEAST_F32))
    return (terms == LOWEST).select(terms, found)


# Which keys ----------------------------------------------------------------------------------------


@fx.struct
class Band:
    """Query i sees keys j of ``length`` with i + offset - left <= j <= i + offset + right."""

    offset: fx.Int32
    left: fx.Int32
    right: fx.Int32
    length: fx.Int32


def first_key(band: Any, features: Features, query: Any) -> Any:
    """Return the first key that a query sees."""
    return fx.max(query + band.offset - band.left, fx.Int32(0)) if features.left else fx.Int32(0)


def end_of_keys(band: Any, features: Features, query: Any) -> Any:
    """Return one past the last key that a query sees; not beyond ``length``, nor before the first key of all."""
    if not features.right:
        return band.length
    return fx.max(fx.min(query + band.offset + band.right + 1, band.length), fx.Int32(0))


def blocks_of(band: Any, features: Features, first: Any, last: Any, size: int) -> tuple[Any, Any, Any, Any]:
    """Blocks of keys for queries ``first`` to ``last``: from, to, and from and to of those that need no mask."""
    begin, end = first_key(band, features, first) // size, fx.ceildiv(end_of_keys(band, features, last), size)
    plain_begin = fx.ceildiv(first_key(band, features, last), size)
    plain_end = end_of_keys(band, features, first) // size
    return begin, fx.max(end, begin), plain_begin, plain_end


def masked(scores: Any, columns: Any, band: Any, features: Features, query: Any, key: Any, side: str = "both") -> Any:
    """Scores of a query against keys ``key + columns``, those that it does not see at minus infinity.

    On one ``side`` alone, ``"left"`` or ``"right"``, or on ``"both"``.
    """
    inside = {
        "right": lambda: columns < end_of_keys(band, features, query) - key,
        "left": lambda: columns >= first_key(band, features, query) - key,
    }
    sides = [side] if side != "both" else ["right", "left"] if features.left else ["right"]
    seen = reduce(lambda a, b: a & b, [inside[one]() for one in sides])
    return seen.select(scores, fx.full_like(scores, LOWEST))


def capped(scores: Any, cap: Any) -> Any:
    """cap * tanh(scores / cap); both may be exponents of two."""
    powers = powers_of_two(scores * (2 * LOG2_E / cap))
    return cap - (2 * cap) / (powers + 1.0)


# Softmax, block by block ---------------------------------------------------------------------------


def folded(values: Any, combine: Callable[[Any, Any], Any], chains: int = 4) -> Any:
    """Return all elements of a vector combined, in a few chains, so that none is long and not all need be there at
    once."""
    width = gcd(chains, values.numel)
    parts = [values.shuffle(values, range(start, start + width)) for start in range(0, values.numel, width)]
    chain = reduce(combine, parts)
    return reduce(combine, [chain[i] for i in range(width)])


def over_lanes(value: Any, combine: Callable[[Any, Any], Any], distances: tuple[int, ...]) -> Any:
    """Combine a number over the lanes that share a row."""
    for distance in distances:
        value = combine(value, of_lane(value, distance))
    return value


def of_lane(value: Any, distance: int) -> Any:
    """Return the number of the lane at a distance. On RDNA rows of 16 change places without an address."""
    if (distance, fx.num_warp_threads()) == (16, 32) and not fx.nvvm.is_target():
        return fx.rocdl.permlane16(value, 0x76543210, 0xFEDCBA98, across=True)
    return fx.shuffle_xor(value, distance, fx.num_warp_threads())


LIMIT = 2.0**13
"""What a thread's sum of powers may be before its maxima are looked for again: f16 ends at 2^16."""


def softmax_start(scores: list[Any], factor: Any, distances: tuple[int, ...], dtype: Any) -> tuple[Any, Any, Any]:
    """Take the first block of scores in: powers as ``dtype``, levels, and this thread's sums."""
    tops = [top * factor for top in maxima(scores, distances)]
    powers, sums = exponentials(scores, tops, factor, dtype)
    return powers, tops, sums


@flyc.jit
def softmax_step(scores, tops, sums, factor, distances, dtype, results=None, cut=None, wild=False, early=None):
    """Take a block of scores in: powers as ``dtype``, whether and by what earlier results shrink, levels, own sums.

    Earlier ``results`` of one row shrink here, if they are given.

    Scores times ``factor``, which may be another one in every block, are exponents of two, relative to the level of
    their row. A level is the maximum of the first keys, not of all: softmax is the same for every level, as long as no
    power overflows. Only where one might, or where no key was seen yet, are the maxima of all rows of the wave found
    anew, and earlier results shrink. So they are where the wave's block has to be ``cut``, if that is given: whether it
    has, and a function that hides scores. If powers may be ``wild``, those of rows that saw no key are infinite or NaN
    before they are found anew, which spares a comparison.

    ``early`` are a function that is called before powers are looked at, and one that powers found anew pass through.
    """
    powers, added = exponentials(scores, tops, factor, dtype, wild)
    if fx.const_expr(early is not None):
        early[0]()
    shrink = [fx.Float32(1.0) for _ in scores]
    unfit = fx.Boolean(False)
    for top, more in zip(tops, added, strict=True):
        unfit = unfit | ~(more <= LIMIT) if wild else unfit | (top == LOWEST) | (more > LIMIT)
    moved = fx.gpu.any(unfit)
    if fx.const_expr(cut is not None):
        moved = moved | cut[0]
    if moved:
        if fx.const_expr(cut is not None):
            scores = cut[1](scores)
        found = [top * factor for top in maxima(scores, distances)]
        highest = [fx.maxnumf(top, high) for top, high in zip(tops, found, strict=True)]
        shrink = [powers_of_two(top - above_lowest(high)) for top, high in zip(tops, highest, strict=True)]
        powers, added = exponentials(scores, highest, factor, dtype)
        if fx.const_expr(early is not None):
            powers = early[1](powers)
        tops = highest
        if fx.const_expr(results is not None):
            results.store(results.load() * shrink[0])
    sums = [fx.math.fma(total, less, more) for total, less, more in zip(sums, shrink, added, strict=True)]
    return powers, moved, shrink, tops, sums


def maxima(scores: list[Any], distances: tuple[int, ...]) -> list[Any]:
    """Return the greatest score of each row, NaN left out."""
    return [over_lanes(folded(row, fx.maxnumf), fx.maxnumf, distances) for row in scores]


def found_anew(powers: list[Any], zero: Any) -> list[Any]:
    """Return the same powers by other instructions, with a zero that no compiler knows.

    LLVM would round these and those of other blocks where both meet, behind a branch, and not beside `ex2`.
    """
    rows = [row.bitcast(fx.Int32) for row in powers]
    flipped = [fx.Vector.from_elements([row[i] ^ zero for i in range(row.numel)], fx.Int32) for row in rows]
    return [row.bitcast(power.dtype) for row, power in zip(flipped, powers, strict=True)]


def exponentials(
    scores: list[Any], tops: list[Any], factor: Any, dtype: Any, wild: bool = False
) -> tuple[list[Any], list[Any]]:
    """Powers of two of each row, rounded to ``dtype``, and their sums. Of rows without keys they may be ``wild``:
    infinite, or NaN."""
    starts = [-(top if wild else above_lowest(top)) for top in tops]
    powers = [powers_of_two(line(row, factor, start)) for row, start in zip(scores, starts, strict=True)]
    sums = [folded(row, add) for row in powers]
    return [rounded(row, dtype) for row in powers], sums


def line(row: Any, factor: Any, start: Any) -> Any:
    """Return row * factor + start. On RDNA, which multiplies no pairs, LLVM would keep vectors of one number in as many
    registers."""
    if fx.nvvm.is_target() or fx.num_warp_threads() == 64:
        return fx.math.fma(row, fx.full_like(row, factor), fx.full_like(row, start))
    return fx.Vector.from_elements([fx.math.fma(row[i], factor, start) for i in range(row.numel)], fx.Float32)


def rounded(row: Any, dtype: Any) -> Any:
    """Return a row of f32 in another type; in 8 bits as words of four, by the instruction that stops at 448, which no
    power is to reach.

    Two such instructions fill a word, where the compiler would put bytes together by two more.
    """
    if dtype.width != 8:
        return row.to(dtype)
    pairs = [fx.nvvm.cvt_e4m3x2(row[i], row[i + 1]) for i in range(0, row.numel, 2)]
    words = [fx.Vector.from_elements(pairs[i : i + 2], fx.Int16).bitcast(fx.Int32) for i in range(0, len(pairs), 2)]
    return fx.Vector.from_elements([word[0] for word in words], fx.Int32)


@flyc.jit
def softmax_end(top, total, distances, sink):
    """(what to multiply a row's result by, the logarithm of its sum of exponentials).

    ``sink`` is the score of a key without value, or None. A row that saw no key is zero, its logarithm minus infinity.
    """
    total = over_lanes(total, add, distances)
    shift = above_lowest(top)
    scale = fx.Float32(1.0)
    if fx.const_expr(sink is not None):
        score = sink * LOG2_E
        highest = fx.maxnumf((top == LOWEST).select(fx.Float32(LOWEST), shift), score)
        highest = above_lowest(highest)
        scale = (top == LOWEST).select(fx.Float32(0.0), powers_of_two(shift - highest))
        total = total * scale + powers_of_two(score - highest)
        shift = highest
    empty = total == 0.0
    logarithm = empty.select(fx.Float32(LOWEST), (shift + fx.math.log2(total)) * LN_2)
    return empty.select(fx.Float32(0.0), scale * inverse(total)), logarithm
