"""Powers of 8 bits without exponentials, on Hopper: codes that are linear in scores, and sums by the second product.

The code of a float with three bits behind its point is, but for a constant, eight times its logarithm, if the curve
between two powers of two is taken as straight: 1 + f instead of 2^f, which is 4 % too much in the mean, from none to
6 %. Rounding to three bits errs by as much. So a score becomes a power by one product and sum, in f16, whose result is
rounded to a whole number behind 1024: its lower byte is the code.

Scores are added up in f16, two to a register. So that they fit, queries are divided by a power of two that keeps the
largest score of all below 2^16, if need be (`fit_queries`).

Columns of ones behind the values add the powers up, as they were rounded. The sums of 8-bit products have 14 bits and
cut off the rest, so that a run of them must be short: sums of f32 take results of each `RUN` keys. In
memory these would take as long as all else (1033 TFLOP/s instead of 1448 with 16 heads of 128 at 16384 tokens, three
warpgroups, on an H200 on 2026-11-17): two warpgroups have registers for them.
"""

from __future__ import annotations

from functools import reduce
from math import log2
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.head_tiles import chunk_of
from flydsl.kernels.attention.scores import (
    exponentials,
    folded,
    maxima,
    over_lanes,
)
from flydsl.kernels.attention.tiles import ROW_LANES, WARPGROUP
from flydsl.kernels.blocks.activation import LOG2_E, powers_of_two
from flydsl.kernels.blocks.reduce import LOWEST, above_lowest, add

ONES = 8
"""Columns of ones behind the values, as few as a product may have more."""
ONE = 0x38383838
"""Four times 1 in 8 bits."""
LINEAR = log2(LOG2_E**2 / 2)
"""The logarithm of the mean of (1 + f) / 2^f over f from 0 to 1."""
FIRST, LAST = 1024.0, 1024.0 + 126.0
"""The codes of zero and of 448 behind 1024, from where on f16 has whole numbers only."""
CODE_OF_ONE = FIRST + 56.0
SMALL = (0.25, 0.75 * FIRST + 4.0)
"""What makes codes of powers below 2^-6 of what the line has there. They grow with the powers themselves: a second
line, flatter, is near them down to 2^-9."""
LEVELS, FACTORS = (-120.0, 380.0), (2.0**-16, 2.0**12)
"""Levels whose eighths, and factors of scores which, f16 has; with others, powers are found one by one."""
WHOLE = 1.5 * 2.0**23
"""From here on f32 has whole numbers only."""
RUN = 512
"""Keys whose products are added up in 8-bit products. Of values that are all 1, 0.996 are left behind so many, 0.990
behind 1024 and 0.81 behind 16384 (on an H200 on 2026-11-17)."""


# Values and queries --------------------------------------------------------------------------------


@flyc.jit
def write_ones(v_ptr, plan):
    """Rows of ones behind the values of each stage, which stay there."""
    words, tile = plan.keys * ONES // 4, plan.keys * plan.columns // 4
    for i in range(fx.thread_idx.x, plan.stages * words, plan.threads):
        place = fx.recast_iter(fx.Int32, v_ptr) + (i // words * tile + tile - words + i % words)
        fx.make_view(place, fx.make_layout(1, 1))[0] = ONE
    fx.nvvm.fence_proxy_async()


@flyc.jit
def fit_queries(mine, tile):
    """Divide queries by powers of two so that no score, nor a part of one, is beyond f16; by what rows of scores are.

    Sums of a row's magnitudes become 128 at most, and keys are 448 at most. Two lanes have a row: swizzles move its
    pieces only inside of it. What gets lost of a query is below 2^-10, where others are about 1.
    """
    plan, chunk = mine.plan, chunk_of(mine.plan.d, 8)
    start = fx.recast_iter(fx.Int32, mine.q_ptr).aligned(16) + tile * (plan.queries * plan.d // 4)
    pieces, columns = chunk // 32, plan.d // chunk
    strides = (1, 4, (chunk // 8, chunk // 4), plan.queries * chunk // 4)
    held = fx.make_view(start, fx.make_layout((4, pieces, (2, plan.queries), columns), strides))
    thread = fx.thread_idx.x - WARPGROUP
    places = [held[None, i, thread, j] for i in range(pieces) for j in range(columns)]
    pairs = [pair for place in places for pair in pairs_of(place.load())]
    total = reduce(add, [abs(pair) for pair in pairs]).to(fx.Float32)
    bits = over_lanes(total[0] + total[1], add, (1,)).bitcast(fx.Int32)
    shift = fx.max((bits >> 23) - (127 + 6), fx.Int32(0))
    if fx.gpu.any(shift > 0):
        less = fx.Float16(((-shift + 127) << 23).bitcast(fx.Float32))  # 2^-shift
        codes = [fx.nvvm.cvt_e4m3x2(pair * fx.full_like(pair, less)) for pair in pairs]
        for i in fx.range_constexpr(len(places)):
            places[i].store(fx.Vector.from_elements(codes[i * 8 : i * 8 + 8], fx.Int16).bitcast(fx.Int32))
        fx.nvvm.fence_proxy_async()
    fx.nvvm.barrier_sync(8 + mine.number, WARPGROUP)
    more, first = ((shift + 127) << 23).bitcast(fx.Float32), mine.s_rows.query % 16 * 2
    return [fx.shuffle_idx(more, first + 2 * row, 32) for row in mine.s_rows.rows]


def pairs_of(words: Any) -> list[Any]:
    """Words of four numbers of 8 bits as pairs of f16."""
    codes = words.bitcast(fx.Int16)
    return [fx.nvvm.cvt_f16x2(codes[i], fx.Float8E4M3FN) for i in range(codes.numel)]


# Softmax -------------------------------------------------------------------------------------------


def linear_start(scores: list[Any], factor: Any, larger: list[Any]) -> tuple[Any, Any, Any]:
    """Take the first block of scores in: codes, levels, and where codes start."""
    scores = widened(scores, larger)
    tops = code_levels(scores, factor)
    return exact_codes(scores, tops, factor), tops, starts_of(tops, factor, larger)


@flyc.jit
def linear_step(scores, tops, starts, factor, larger, cut):
    """Take a block of scores in: codes, whether and by what earlier results shrink, levels, and where codes start.

    As `scores.softmax_step`, for scores that are ``larger`` than their f16. Powers are those of two, one by one, where
    levels move, and where codes have no start.
    """
    codes, most = linear_codes(scores, starts, [factor * much for much in larger])
    shrink = [fx.Float32(1.0) for _ in scores]
    moved = fx.gpu.any(~(most <= LAST))
    if fx.const_expr(cut is not None):
        moved = moved | cut[0]
    if moved:
        if fx.const_expr(cut is not None):
            scores = cut[1](scores)
        scores = widened(scores, larger)
        found = code_levels(scores, factor)
        highest = [fx.maxnumf(top, high) for top, high in zip(tops, found, strict=True)]
        shrink = [powers_of_two(top - above_lowest(high)) for top, high in zip(tops, highest, strict=True)]
        codes = exact_codes(scores, highest, factor)
        tops, starts = highest, starts_of(highest, factor, larger)
    return codes, moved, shrink, tops, starts


def starts_of(tops: list[Any], factor: Any, larger: list[Any]) -> list[Any]:
    """Return the code of a score of zero in each row; infinity where f16 has not what the level or the factor is."""
    found = []
    for top, much in zip(tops, larger, strict=True):
        fits = (top >= LEVELS[0]) & (top <= LEVELS[1]) & (factor * much >= FACTORS[0]) & (factor * much <= FACTORS[1])
        found.append(fx.Float16(fits.select(CODE_OF_ONE - 8.0 * top, fx.Float32(-LOWEST))))
    return found


def linear_codes(scores: list[Any], starts: list[Any], factors: list[Any]) -> tuple[list[Any], Any]:
    """Codes of each row's powers behind 1024, and the greatest of all, or NaN."""
    rows, most = [], fx.Vector.from_elements([FIRST, FIRST], fx.Float16)
    for row, start, factor in zip(scores, starts, factors, strict=True):
        codes = fx.math.fma(row, fx.full_like(row, fx.Float16(8.0 * factor)), fx.full_like(row, start))
        pairs = [codes.shuffle(codes, [i, i + 1]) for i in range(0, codes.numel, 2)]
        most = reduce(lambda one, other: one.maximumf(other), pairs, most)
        small = fx.math.fma(codes, *(fx.full_like(row, fx.Float16(number)) for number in SMALL))
        codes = codes.maximumf(small.maximumf(fx.full_like(row, fx.Float16(FIRST))))
        rows.append(codes)
    both = most.to(fx.Float32)
    return rows, both[0].maximumf(both[1])


def exact_codes(scores: list[Any], tops: list[Any], factor: Any) -> list[Any]:
    """Codes of powers of two behind 1024, as large in the mean as others are."""
    words, _ = exponentials(scores, [top - LINEAR for top in tops], factor, fx.Float8E4M3FN)
    codes = [row.bitcast(fx.Int8).to(fx.Int16) for row in words]
    return [(row | fx.full_like(row, 0x6400)).bitcast(fx.Float16) for row in codes]


def words_of(codes: list[Any]) -> Any:
    """Codes of rows as the first operand of a product: words of four of a row, from one row after the other."""
    rows = [row.bitcast(fx.Int8) for row in codes]
    fours = [[2 * i for i in range(first, first + 4)] for first in range(0, codes[0].numel, 4)]
    words = [row.shuffle(row, four).bitcast(fx.Int32)[0] for four in fours for row in rows]
    return fx.Vector.from_elements(words, fx.Int32)


def widened(scores: list[Any], larger: list[Any]) -> list[Any]:
    return [row.to(fx.Float32) * much for row, much in zip(scores, larger, strict=True)]


def code_levels(scores: list[Any], factor: Any) -> list[Any]:
    """Return the exponent of each row that codes are relative to, in eighths.

    The greatest power is 2^8.5, near the end of 8 bits at 448, if it stands alone, so that little gets lost beside it.
    If others are as large, or few are seen yet, more of the next ones may be larger, and all are less: 2^2 where all 32
    of a lane are alike. Of random scores that a causal mask cuts, levels move again in 1 % of a warp's blocks then, and
    in 6 % if it did not matter how many are seen (2048 tokens).
    """
    tops = [top * factor for top in maxima(scores, ROW_LANES)]
    _, sums = exponentials(scores, tops, factor, fx.Float32)
    found = []
    for row, top, total in zip(scores, tops, sums, strict=True):
        seen = folded((row > LOWEST).select(fx.full_like(row, 1.0), fx.zeros_like(row)), add)
        total, seen = (over_lanes(number, fx.maxnumf, ROW_LANES) for number in (total, seen))
        high = top + 1.3 * fx.math.log2(total * row.numel / fx.maxnumf(seen, 1.0)) - 8.5
        found.append((top == LOWEST).select(top, (8.0 * high + WHOLE - WHOLE) / 8.0))
    return found
