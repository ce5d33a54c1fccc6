"""What gradients of attention are made of, whatever multiplies: a plan, the queries that see some keys, and dS."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.head_tiles import chunk_of
from flydsl.kernels.attention.hopper_forward import WARPGROUP
from flydsl.kernels.attention.scores import PLAIN, Band, Features, capped
from flydsl.kernels.attention.tiles import Piece, hidden, scores_of, sequence_of
from flydsl.kernels.blocks.activation import powers_of_two


@dataclass(frozen=True)
class BackwardPlan:
    """Head sizes, queries and keys of a tile, stages of the rings of Q and dO, warpgroups that compute, features.

    Where something else than zeros may lie behind a sequence's end, ``shared_rows`` has it taken out. Sums stay in
    registers, which are too few for those of long heads, of more than ``widest`` elements: AMD's kernels find so many
    columns of each gradient in a launch, its ``part``, and Hopper's find dV in one launch, dQ and dK in the other.
    """

    dtype: Any
    d: int
    dv: int
    queries: int = 64
    keys: int = 128
    stages: int = 2
    consumers: int = 2
    features: Features = PLAIN
    group: int = 1
    shared_rows: bool = False
    deterministic: bool = False
    widest: int = 128
    part: int = 0
    finds_keys: bool = True
    """Whether this launch finds dQ and dK."""
    finds_values: bool = True
    pair: int = 1
    """Tiles of queries that are one in a launch for dV alone, which has room for more."""

    @property
    def parts(self) -> list[BackwardPlan]:
        """This plan for each of the launches that find all columns."""
        return [replace(self, part=i) for i in range(self._launches)]

    @property
    def launches(self) -> list[BackwardPlan]:
        """This plan for each of Hopper's launches."""
        if max(self.d, self.dv) <= self.widest:
            return [self]
        return [
            replace(self, finds_values=False),
            replace(self, finds_keys=False, queries=self.pair * self.queries),
        ]

    @property
    def unit(self) -> int:
        """Queries at multiples of which a sequence's tiles begin in the workspace."""
        return self.queries * self.pair if self.finds_keys else self.queries

    @property
    def _launches(self) -> int:
        return -(-max(self.d, self.dv) // self.widest)

    @property
    def key_columns(self) -> tuple[int, int]:
        """The first column of dQ and dK that this launch finds, and how many."""
        return self._columns(self.d)

    @property
    def value_columns(self) -> tuple[int, int]:
        """The first column of dV that this launch finds, and how many."""
        return self._columns(self.dv)

    def _columns(self, extent: int) -> tuple[int, int]:
        """Launches have about equal parts of whole chunks; one that is left without any finds the last part again."""
        chunk = chunk_of(extent)
        chunks = extent // chunk
        each = -(-chunks // self._launches)
        first = min(self.part * each, (chunks - 1) // each * each)
        return first * chunk, min(each, chunks - first) * chunk

    @property
    def threads(self) -> int:
        return (1 + self.consumers) * WARPGROUP

    @property
    def transposed(self) -> bool:
        """Whether dQ^T is computed: a product has rows for all warpgroups, and those of dQ may be too few."""
        return self.queries % (64 * self.consumers) != 0

    @property
    def last_keys_first(self) -> bool:
        """The order in which sums for dQ are made, where there is one.

        A tile of queries on the diagonal is its block's first: the blocks of earlier keys come to it later.
        """
        return self.deterministic and self.features.right

    @property
    def sums(self) -> int:
        """Columns of the sums for dQ: as rows of dQ^T they are made by 64 in each warpgroup, some for nobody."""
        rows, columns = 64 * self.consumers, min(self.d, self.widest)
        return -(-columns // rows) * rows if self.transposed else columns

    @property
    def pieces(self) -> list[tuple[int, int]]:
        """The columns of dQ that go through shared memory together: the first one, and how many."""
        return [(first, min(self.sums, self.d - first)) for first in range(0, self.d, self.sums)]

    @property
    def shared_elements(self) -> dict[str, int]:
        """What a block of warpgroups keeps in shared memory: elements of tiles, and f32 numbers of sums and rows."""
        queries = self.stages * self.queries
        only_for_keys = {"v": self.keys * self.dv, "ds": queries * self.keys, "sums": self.queries * self.sums}
        return {
            "q": queries * self.d, "k": self.keys * self.d, "do": queries * self.dv, "rows": 2 * queries,
            **{name: count if self.finds_keys else 0 for name, count in only_for_keys.items()},
        }  # fmt: skip

    @property
    def shared_bytes(self) -> int:
        return sum(count * (4 if name in ("sums", "rows") else 2) for name, count in self.shared_elements.items())

    @property
    def share(self) -> int:
        """Numbers of a piece of dQ that a warpgroup has."""
        return self.queries * self.sums // self.consumers


# Which queries -------------------------------------------------------------------------------------


@flyc.jit
def span_of(tile, head, batch, lengths, extents, window, plan):
    """A tile of keys, and the tiles of queries that see it: (all of that, the first query's place in the workspace).

    It is a `Piece` whose blocks are tiles of queries. Tiles of sequences that lie one behind the other begin at
    multiples of a `unit` in the workspace: sequence i begins i units later than it would, at most.
    """
    query_start, key_start, queries, keys = sequence_of(batch, lengths, extents)
    slot = batch * fx.ceildiv(queries, plan.unit)
    if fx.const_expr(lengths is not None):
        slot = query_start // plan.unit + batch
    band = Band(keys - queries, window[0], window[1], keys)
    low, high, size = tile * plan.keys, (tile + 1) * plan.keys, plan.queries
    begin = plain_begin = fx.Int32(0)
    end = plain_end = fx.ceildiv(queries, size)
    if fx.const_expr(plan.features.right):
        shift = band.offset + band.right
        begin = fx.max(low - shift, fx.Int32(0)) // size
        plain_begin = fx.ceildiv(fx.max(high - 1 - shift, fx.Int32(0)), size)
    if fx.const_expr(plan.features.left):
        shift = band.left - band.offset
        end = fx.min(end, fx.ceildiv(fx.max(high + shift, fx.Int32(0)), size))
        plain_end = fx.max(low + 1 + shift, fx.Int32(0)) // size
    plain_end = (high > keys).select(fx.Int32(0), plain_end)  # keys beyond the last one are hidden
    span = Piece(head, batch, fx.Int32(0), queries, query_start, key_start, band, begin, end, plain_begin, plain_end)
    return span, slot * (plan.unit // plan.queries)


@flyc.jit
def piece_at(span, head, tile, plan):
    """A tile of queries of one head."""
    first = tile * plan.queries
    return Piece(
        head, span.batch, first, span.queries, span.query_start, span.key_start, span.band, span.begin, span.end,
        span.plain_begin, span.plain_end,
    )  # fmt: skip


@flyc.jit
def queries_of(span, head, own):
    """(the first, the end) of the tiles of queries of one head that are ``own``, by numbers among those of all heads.

    Without such numbers all are.
    """
    if fx.const_expr(own is None):
        return span.begin, span.end
    before = span.begin - (head - span.head) * (span.end - span.begin)
    return fx.max(span.begin, before + own[0]), fx.min(span.end, before + own[1])


# Powers and their gradients ------------------------------------------------------------------------


@flyc.jit
def powers_of_scores(products, rows, piece, block, plain, levels, extras, numbers, plan):
    """(powers, by what gradients of scores shrink where scores are capped), as rows of queries.

    ``products`` are q k of a block of keys, ``levels`` the logarithms of the rows; ``plain`` blocks need no mask.
    """
    factor, scale, cap = numbers
    scores = scores_of(products, rows, piece, block, extras, numbers, plan, False)
    if plain == False:  # noqa: E712
        scores = hidden(scores, rows, piece, block, plan)
    powers = [powers_of_two(fx.math.fma(row, fx.full_like(row, factor), fx.full_like(row, -level)))
              for row, level in zip(scores, levels, strict=True)]  # fmt: skip
    slopes = [fx.full_like(row, 1.0) for row in powers]
    if fx.const_expr(plan.features.softcap):
        ratios = [capped(row * scale, cap) / cap for row in rows.split(products)]
        slopes = [1.0 - ratio * ratio for ratio in ratios]
    return powers, slopes


def gradients_of_scores(powers: Any, products: Any, deltas: Any, slopes: Any) -> list[Any]:
    """p * (do v - delta) of each row, and less where scores are capped."""
    return [
        power * (row - fx.full_like(row, delta)) * slope
        for power, row, delta, slope in zip(powers, products, deltas, slopes, strict=True)
    ]
