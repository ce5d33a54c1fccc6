"""The experts that a few tokens chose, found by every block for itself: no launch, and no wait, before the products."""

from __future__ import annotations

from functools import reduce
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.activation import powers_of_e
from flydsl.kernels.blocks.reduce import add, in_order, maximum, wave_reduce
from flydsl.kernels.moe.few_tokens.plan import MOST_TOKENS
from flydsl.kernels.moe.topk_gating import SMALLEST, expert_named

LEAST, LAST = -(2**31), 2**31 - 1
"""A key below those of all numbers, and an expert behind all others."""
LOW_BITS = 0x1FFF
"""Of a key of a number of 16 bits, which are the same for all of a sign: they have room for an expert."""


def key_of(score: Any) -> Any:
    """Return an integer that is as large among integers as a number is among numbers."""
    score = (score == 0.0).select(fx.Float32(0.0), score)  # of either sign
    return in_order(score.bitcast(fx.Int32))


def score_of(key: Any) -> Any:
    """Return the number of a key."""
    return in_order(key).bitcast(fx.Float32)


def pick_together(keys: list[Any], mine: list[Any], topk: int) -> list[tuple[Any, Any]]:
    """Return (key, expert) of the largest of a warp's keys, of numbers of 16 bits; of equals, the first expert."""
    keys, picked = (
        [(key & ~LOW_BITS) | ((LOW_BITS - expert) & LOW_BITS) for key, expert in zip(keys, mine, strict=True)],
        [],
    )
    for _ in range(topk):
        largest = fx.nvvm.redux(reduce(maximum, keys), "max")
        keys = [(key == largest).select(fx.Int32(LEAST), key) for key in keys]
        key = (largest & ~LOW_BITS) | ((largest >> 31) & LOW_BITS)
        picked.append((key, LOW_BITS - (largest & LOW_BITS)))
    return picked


def pick_apart(keys: list[Any], mine: list[Any], topk: int) -> list[tuple[Any, Any]]:
    """`pick_together` of any numbers: first the key, then its expert."""
    picked = []
    for _ in range(topk):
        largest = fx.nvvm.redux(reduce(maximum, keys), "max")
        found = [(key == largest).select(expert, fx.Int32(LAST)) for key, expert in zip(keys, mine, strict=True)]
        first = fx.nvvm.redux(reduce(fx.min, found), "min")
        picked.append((largest, first))
        keys = [(expert == first).select(fx.Int32(LEAST), key) for key, expert in zip(keys, mine, strict=True)]
    return picked


def experts_of_lane(experts: int) -> list[Any]:
    """Return the experts whose logits a lane of a warp has; those behind the last do not exist."""
    return [fx.lane_id() + first for first in range(0, experts, 32)]


def largest_of(numbers: list[Any], experts: int, topk: int, renormalize: bool | None) -> tuple[Any, Any]:
    """Return the weight and the expert that this lane has of the largest of a warp's logits; no weight with None.

    A softmax of NaN has experts too, so that the token's result is NaN.
    """
    lane, mine = fx.lane_id(), experts_of_lane(experts)
    scores = [fx.Float32(number) for number in numbers]
    pick = pick_together if numbers[0].dtype.width == 16 and experts <= LOW_BITS else pick_apart
    keys = [(e < experts).select(key_of(score), fx.Int32(LEAST)) for e, score in zip(mine, scores, strict=True)]
    picked = pick(keys, mine, topk)
    expert = picked[0][1]
    for slot in range(1, topk):
        expert = (lane == slot).select(picked[slot][1], expert)
    if renormalize is None:
        return fx.Float32(0.0), expert
    top = score_of(picked[0][0])
    powers = [(e < experts).select(powers_of_e(s, top), fx.Float32(0.0)) for e, s in zip(mine, scores, strict=True)]
    total = wave_reduce(reduce(add, powers), add, 32)
    chances = [powers_of_e(score_of(key), top) / total for key, _ in picked]
    if renormalize:
        share = 1.0 / fx.max(reduce(add, chances), fx.Float32(SMALLEST))
        chances = [chance * share for chance in chances]
    weight = chances[0]
    for slot in range(1, topk):
        weight = (lane == slot).select(chances[slot], weight)
    return weight, expert


class ChosenExperts:
    """In shared memory: each chosen expert once. A token may list an expert twice; one that does not exist is none."""

    def __init__(self, smem: Any, experts: int, topk: int, pairs: int, T: Any) -> None:
        self.experts, self.topk, self.pairs, self.tokens = experts, topk, pairs, T
        self.ids, self.numbers, self.total = (
            fx.make_view(smem.allocate(fx.Array[fx.Int32, count, 16]).ptr, fx.make_layout(count, 1))
            for count in (pairs, pairs, 1)
        )
        self.weights = fx.make_view(smem.allocate(fx.Array[fx.Float32, pairs, 16]).ptr, fx.make_layout(pairs, 1))

    def load(self, logits: Any, ids: Any, weights: Any) -> list[Any]:
        """Return what this thread has of the experts of all tokens: logits, a warp for each token, or an expert by name
        and its weight. Behind the last it is that one, so that nobody branches before other loads are under way."""
        if logits is not None:
            token, last = fx.min(fx.thread_idx.x // 32, self.tokens - 1), fx.Int32(self.experts - 1)
            return [logits[token, fx.min(expert, last)] for expert in experts_of_lane(self.experts)]
        pair = fx.min(fx.thread_idx.x, self.tokens * self.topk - 1)
        return [expert_named(ids[pair], self.experts), fx.Float32(weights[pair])]

    @flyc.jit
    def read(self, loaded: list[Any], by_logits: bool, renormalize: bool | None) -> None:
        """Write down the experts of all tokens and their weights."""
        warp, lane = fx.thread_idx.x // 32, fx.lane_id()
        if fx.const_expr(by_logits):
            if warp < self.tokens:
                weight, expert = largest_of(loaded, self.experts, self.topk, renormalize)
                if lane < self.topk:
                    self.weights[warp * self.topk + lane] = weight
                    self.ids[warp * self.topk + lane] = expert
        elif fx.thread_idx.x < self.tokens * self.topk:
            self.ids[fx.thread_idx.x], self.weights[fx.thread_idx.x] = loaded[0], loaded[1]

    @flyc.jit
    def find(self) -> Any:
        """Return how many experts were chosen."""
        fx.barrier()
        if fx.thread_idx.x < 32:
            self.write(fx.thread_idx.x)
        fx.barrier()
        return fx.Int32(self.total[0])

    def write(self, lane: Any) -> None:
        """One warp, a lane for each pair of a token and an expert."""
        self.number_experts(lane)

    @flyc.jit
    def number_experts(self, lane: Any) -> tuple[Any, Any, Any]:
        """Write down each expert once. Return this lane's pair, whether its expert exists, and the expert's number."""
        pairs = self.tokens * self.topk
        pair = fx.min(lane, pairs - 1)
        mine = fx.Int32(self.ids[pair])
        there = (lane < pairs) & (mine >= 0) & (mine < self.experts)
        first = lane
        for other in reversed(range(self.pairs)):
            first = (fx.shuffle_idx(mine, other, 32) == mine).select(fx.Int32(other), first)
        leaders = fx.Int32(fx.ballot(there & (first == lane)))
        number = fx.Int32(fx.math.ctpop(leaders & ((fx.Int32(1) << first) - 1)))
        if lane == 0:
            self.total[0] = fx.Int32(fx.math.ctpop(leaders))
        if there & (first == lane):
            self.numbers[number] = mine
        return pair, there, number


class ChosenRows(ChosenExperts):
    """Places of rows of pairs of a token and an expert as well, in the order of experts, and, of each token, how much
    an expert counts and which of those rows is theirs."""

    def __init__(self, smem: Any, experts: int, topk: int, pairs: int, T: Any) -> None:
        super().__init__(smem, experts, topk, pairs, T)
        self.places = fx.make_view(smem.allocate(fx.Array[fx.Int32, pairs, 16]).ptr, fx.make_layout(pairs, 1))
        count, table = pairs * MOST_TOKENS, fx.make_layout((pairs, MOST_TOKENS), (MOST_TOKENS, 1))
        self.shares = fx.make_view(smem.allocate(fx.Array[fx.Float32, count, 16]).ptr, table)
        self.rows = fx.make_view(smem.allocate(fx.Array[fx.Int32, count, 16]).ptr, table)

    @flyc.jit
    def find(self) -> Any:
        if fx.thread_idx.x < self.pairs * MOST_TOKENS:
            number, token = fx.thread_idx.x // MOST_TOKENS, fx.thread_idx.x % MOST_TOKENS
            self.shares[number, token], self.rows[number, token] = 0.0, 0
        return super().find()

    @flyc.jit
    def write(self, lane: Any) -> None:
        pair, there, number = self.number_experts(lane)
        token, weight = pair // self.topk, fx.Float32(self.weights[pair])
        key = there.select(number * self.tokens + token, fx.Int32(LAST - 32) + lane)
        own, share, row = lane, fx.Float32(0.0), fx.Int32(0)
        for other in reversed(range(self.pairs)):  # up to the first that is the same
            found = fx.shuffle_idx(key, other, 32)
            own = (found == key).select(fx.Int32(other), own)
            share += (found == key).select(fx.shuffle_idx(weight, other, 32), fx.Float32(0.0))
        is_own = there & (own == lane)
        place = is_own.select(key, fx.Int32(LAST - 32) + lane)
        for other in range(self.pairs):
            row += (fx.shuffle_idx(place, other, 32) < place).select(fx.Int32(1), fx.Int32(0))
        if lane < self.pairs:
            self.places[row] = place
        if is_own:
            self.shares[number, token], self.rows[number, token] = share, row

    def rows_before(self, number: Any) -> Any:
        """Return how many pairs are of experts before one."""
        lane = fx.lane_id()
        place = fx.Int32(self.places[fx.min(lane, self.pairs - 1)])
        return fx.Int32(fx.math.ctpop(fx.Int32(fx.ballot((lane < self.pairs) & (place < number * self.tokens)))))
