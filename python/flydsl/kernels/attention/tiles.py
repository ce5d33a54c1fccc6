"""A tile of queries over blocks of keys: what it sees, and how its scores lie in a thread's registers."""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.scores import Band, blocks_of, capped, exponents_of, masked
from flydsl.kernels.blocks.activation import LOG2_E
from flydsl.kernels.blocks.fragment_places import FragmentPlaces

# Tiles -------------------------------------------------------------------------------------------


@fx.struct
class Piece:
    """A tile of one sequence: its head and batch, where it starts, and the keys that it sees, block by block.

    Blocks ``begin`` to ``end``, of which those from ``plain_begin`` to ``plain_end`` need no mask.
    """

    head: fx.Int32
    batch: fx.Int32
    first: fx.Int32
    queries: fx.Int32
    query_start: fx.Int32
    key_start: fx.Int32
    band: Band
    begin: fx.Int32
    end: fx.Int32
    plain_begin: fx.Int32
    plain_end: fx.Int32


def start_of(starts: Any, number: Any, tokens: Any) -> Any:
    """Return where a sequence starts: among the tokens, also where starts that nobody looked at lead elsewhere."""
    return fx.min(fx.max(starts[number], fx.Int32(0)), tokens)


@flyc.jit
def sequence_of(batch, lengths, extents):
    """Where queries and keys of a sequence start, and how many there are of both.

    Sequences of different lengths lie one behind the other, as many tokens as ``extents`` say; ``lengths`` has where
    they start, or is None.
    """
    queries, keys = extents
    query_start = key_start = fx.Int32(0)
    if fx.const_expr(lengths is not None):
        query_start, key_start = (start_of(of, batch, tokens) for of, tokens in zip(lengths, extents, strict=True))
        queries, keys = (start_of(of, batch + 1, tokens) for of, tokens in zip(lengths, extents, strict=True))
        queries, keys = fx.max(queries - query_start, fx.Int32(0)), fx.max(keys - key_start, fx.Int32(0))
    return query_start, key_start, queries, keys


@flyc.jit
def piece_of(tile, head, batch, lengths, extents, window, plan):
    """A tile of a sequence."""
    query_start, key_start, queries, keys = sequence_of(batch, lengths, extents)
    band = Band(keys - queries, window[0], window[1], keys)
    first = tile * plan.queries
    last = fx.min(first + plan.queries, queries) - 1
    begin, end, plain_begin, plain_end = blocks_of(band, plan.features, first, last, plan.keys)
    # One block at least: queries that see no key see a block of masked ones.
    end = fx.max(end, begin + 1)
    return Piece(head, batch, first, queries, query_start, key_start, band, begin, end, plain_begin, plain_end)


@flyc.jit
def part_of(piece, part, parts, plan):
    """One of so many parts of a tile: the rows of some warpgroups, behind which the tile's queries end."""
    count = fx.ceildiv(fx.Int32(plan.consumers), parts) * (plan.queries // plan.consumers)
    first = piece.first + part * count
    queries = fx.min(first + count, piece.queries)
    begin, end, plain_begin, plain_end = blocks_of(piece.band, plan.features, first, queries - 1, plan.keys)
    return Piece(
        piece.head, piece.batch, first, queries, piece.query_start, piece.key_start, piece.band, begin,
        fx.max(end, begin + 1), plain_begin, plain_end,
    )  # fmt: skip


@flyc.jit
def rows_of(piece, number, plan):
    """The part of a tile that warpgroup ``number`` has, with the blocks that its own rows see."""
    count = plan.queries // plan.consumers
    first = piece.first + number * count
    last = fx.min(first + count, piece.queries) - 1
    begin, end, plain_begin, plain_end = blocks_of(piece.band, plan.features, first, last, plan.keys)
    # A warpgroup without rows takes one of the tile's blocks.
    end = (first < piece.queries).select(fx.min(end, piece.end), fx.Int32(0))
    end = fx.max(end, piece.begin + 1)
    begin = fx.min(begin, end - 1)
    return Piece(
        piece.head, piece.batch, piece.first, piece.queries, piece.query_start, piece.key_start, piece.band, begin, end,
        plain_begin, plain_end,
    )  # fmt: skip


TICKET_BYTES = 64
"""Room for a `Piece`."""


class Tickets:
    """Shared memory in which a loading thread says what tile is in each stage of the ring of queries."""

    def __init__(self, smem: Any, stages: int) -> None:
        self.start = smem.allocate(stages * TICKET_BYTES, TICKET_BYTES)

    def at(self, state: Any) -> Any:
        return fx.Storage[Piece](self.start + state.stage * TICKET_BYTES)


# Rows of a fragment --------------------------------------------------------------------------------

WARPGROUP = 128
"""Threads of a warpgroup."""
ROW_LANES = (1, 2)
"""Distances between the four lanes that share a row of a warpgroup's accumulators."""


class FragmentRows:
    """A thread's part of a product's result, as rows of queries.

    ``queries`` is the mode of (M, N) that queries are on; the other one is that of keys, or of a head's elements.
    ``origin`` is where this thread's first value stands, and the others stand as in thread 0.
    """

    def __init__(self, tiled: Any, thread: Any, shape: tuple[int, int], queries: int = 0) -> None:
        fragment = FragmentPlaces(tiled, thread, shape)
        places, self.rows = fragment.steps, fragment.along(queries)
        self.query, self.column = fragment.origin[queries], fragment.origin[1 - queries]
        self.lanes = [[i for i, place in enumerate(places) if place[queries] == row] for row in self.rows]
        self.columns = [[places[i][1 - queries] for i in lanes] for lanes in self.lanes]
        self._order = fragment.numbers(queries)

    def split(self, values: Any) -> list[Any]:
        """Return a vector for each row."""
        flat = values.reshape((values.numel,))
        return [flat.shuffle(flat, lanes) for lanes in self.lanes]

    def join(self, rows: list[Any]) -> Any:
        """Return the way back, flat."""
        count = [0] * len(rows)
        order = []
        for row in self._order:
            order.append(row * rows[0].numel + count[row])
            count[row] += 1
        whole = rows[0]
        for row in rows[1:]:
            whole = whole.shuffle(row, [*range(whole.numel + row.numel)])
        return whole.shuffle(whole, order)

    def scale(self, held: Any, factors: list[Any]) -> None:
        """Multiply the values that a fragment holds by a factor for each row."""
        values, few = held.load(), fx.Vector.from_elements(factors, fx.Float32)
        held.store(values * few.shuffle(few, self._order).reshape(values.shape))


def whole_lines(words: Any, lane: Any) -> list[Any]:
    """Four lanes have a word each of every group of eight elements; of four groups, each of them gets a whole one.

    It is a transpose of 4 x 4 words: first of pairs of lanes, then of pairs of pairs.
    """
    lines = []
    for first in range(0, words.numel, 4):
        four = [words[first + i] for i in range(4)]
        for distance in (1, 2):
            upper = (lane & distance) != 0
            for low in [i for i in range(4) if not i & distance]:
                high = low + distance
                other = fx.shuffle_xor(upper.select(four[low], four[high]), distance, 32)
                four[low], four[high] = upper.select(other, four[low]), upper.select(four[high], other)
        lines.append(fx.Vector.from_elements(four, fx.Int32))
    return lines


# Scores --------------------------------------------------------------------------------------------


@flyc.jit
def scores_of(values, rows, piece, block, extras, numbers, plan, with_mask):
    """The products of a block as rows of scores, as they go into the softmax."""
    scores = rows.split(values)
    for i in fx.range_constexpr(len(scores)):
        query = (piece.first + rows.query + rows.rows[i]) // plan.group
        key = block * plan.keys + rows.column
        scores[i] = changed(scores[i], piece, query, key, rows.columns[i], extras, numbers, plan.features)
    return hidden(scores, rows, piece, block, plan) if fx.const_expr(with_mask) else scores


def hidden(scores, rows, piece, block, plan, side="both"):
    """Rows of scores, those of keys that a query does not see, on one ``side`` or on both, at minus infinity."""
    found = []
    for row, score in enumerate(scores):
        query = (piece.first + rows.query + rows.rows[row]) // plan.group
        columns = fx.Vector.from_elements([fx.Int32(c) for c in rows.columns[row]], fx.Int32)
        key = block * plan.keys + rows.column
        found.append(masked(score, columns, piece.band, plan.features, query, key, side))
    return found


@flyc.jit
def changed(scores, piece, query, key, columns, extras, numbers, features):
    """Exponents of two: scores with cap, slopes and bias, unless a factor is all that makes exponents of them."""
    _, scale, cap = numbers
    bias, slopes, _ = extras
    if fx.const_expr(features.scale_first):
        scores = scores * (scale * LOG2_E)
    if fx.const_expr(features.softcap):
        scores = capped(scores, cap * LOG2_E)
    if fx.const_expr(slopes is not None):
        slope = fx.Float32(slopes[piece.batch, piece.head]) * LOG2_E
        away = [fx.Float32(abs(query + piece.band.offset - key - c)) for c in columns]
        scores = scores - fx.Vector.from_elements(away, fx.Float32) * slope
    if fx.const_expr(bias is not None):
        row = bias[piece.batch, piece.head, fx.min(query, piece.queries - 1), None]
        terms = [fx.Float32(row[fx.min(key + c, piece.band.length - 1)]) for c in columns]
        scores = scores + exponents_of(fx.Vector.from_elements(terms, fx.Float32))
    return scores
