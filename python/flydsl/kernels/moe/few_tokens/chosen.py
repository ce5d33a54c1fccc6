"""The experts that a few tokens chose, found by every block for itself: no launch, and no wait, before the products."""

from __future__ import annotations

from functools import reduce
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.reduce import add, maximum, wave_reduce
from flydsl.kernels.moe.few_tokens.plan import MOST_TOKENS
from flydsl.kernels.moe.topk_gating import SMALLEST
from flydsl.kernels.norm.softmax import power_of_e

LEAST, LAST = -(2**31), 2**31 - 1
"""A key below those of all numbers, and an expert behind all others."""
LOW_BITS = 0x1FFF
"""Of a key of a number of 16 bits, which are the same for all of a sign: they have room for an expert."""


def key_of(score: Any) -> Any:
    """Return an integer that is as large among integers as a number is among numbers."""
    score = (score == 0.0).select(fx.Float32(0.0), score)  # of either sign
    bits = fx.Vector.from_elements([score], fx.Float32).bitcast(fx.Int32)[0]
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


def score_of(key: Any) -> Any:
    """Return the number of a key."""
    bits = key ^ ((key >> 31) & 0x7FFFFFFF)
    return fx.Vector.from_elements([bits], fx.Int32).bitcast(fx.Float32)[0]


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


def largest_of(logits: Any, token: Any, experts: int, topk: int, renormalize: bool | None) -> tuple[Any, Any]:
    """Return the weight and the expert that this lane has of a token's largest, by a warp; no weight with None.

    A softmax of NaN has experts too, so that the token's result is NaN.
    """
    lane = fx.lane_id()
    mine = [lane + first for first in range(0, experts, 32)]
    scores = [fx.Float32(logits[token, fx.min(expert, fx.Int32(experts - 1))]) for expert in mine]
    pick = pick_together if logits.dtype.width == 16 and experts <= LOW_BITS else pick_apart
    keys = [(e < experts).select(key_of(score), fx.Int32(LEAST)) for e, score in zip(mine, scores, strict=True)]
    picked = pick(keys, mine, topk)
    expert = picked[0][1]
    for slot in range(1, topk):
        expert = (lane == slot).select(picked[slot][1], expert)
    if renormalize is None:
        return fx.Float32(0.0), expert
    top = score_of(picked[0][0])
    powers = [(e < experts).select(power_of_e(s, top), fx.Float32(0.0)) for e, s in zip(mine, scores, strict=True)]
    total = wave_reduce(reduce(add, powers), add, 32)
    chances = [power_of_e(score_of(key), top) / total for key, _ in picked]
    if renormalize:
        share = 1.0 / fx.max(reduce(add, chances), fx.Float32(SMALLEST))
        chances = [chance * share for chance in chances]
    weight = chances[0]
    for slot in range(1, topk):
        weight = (lane == slot).select(chances[slot], weight)
    return weight, expert


class ChosenExperts:
    """In shared memory: each chosen expert once and, of each token, how much an expert counts and which pair of both it
    is. A token may list an expert twice; one that does not exist is none."""

    def __init__(self, smem: Any, experts: int, topk: int, pairs: int) -> None:
        self.experts, self.topk, self.pairs = experts, topk, pairs
        self.ids, self.numbers, self.places, self.total = (
            fx.make_view(smem.allocate(fx.Array[fx.Int32, count, 16]).ptr, fx.make_layout(count, 1))
            for count in (pairs, pairs, pairs, 1)
        )
        self.weights = fx.make_view(smem.allocate(fx.Array[fx.Float32, pairs, 16]).ptr, fx.make_layout(pairs, 1))
        table = fx.make_layout((pairs, MOST_TOKENS), (MOST_TOKENS, 1))
        count = pairs * MOST_TOKENS
        self.shares = fx.make_view(smem.allocate(fx.Array[fx.Float32, count, 16]).ptr, table)
        self.rows = fx.make_view(smem.allocate(fx.Array[fx.Int32, count, 16]).ptr, table)

    @flyc.jit
    def read(self, logits: Any, ids: Any, weights: Any, T: Any, renormalize: bool | None) -> None:
        """The experts of all tokens, by their logits, a warp for each token, or by name."""
        warp, lane = fx.thread_idx.x // 32, fx.lane_id()
        if fx.const_expr(logits is not None):
            if warp < T:
                weight, expert = largest_of(logits, warp, self.experts, self.topk, renormalize)
                if lane < self.topk:
                    self.weights[warp * self.topk + lane] = weight
                    self.ids[warp * self.topk + lane] = expert
        elif fx.thread_idx.x < T * self.topk:
            self.ids[fx.thread_idx.x] = ids[fx.thread_idx.x]
            self.weights[fx.thread_idx.x] = weights[fx.thread_idx.x]

    @flyc.jit
    def find(self, T: Any) -> Any:
        """Return how many experts were chosen."""
        if fx.thread_idx.x < self.pairs * MOST_TOKENS:
            number, token = fx.thread_idx.x // MOST_TOKENS, fx.thread_idx.x % MOST_TOKENS
            self.shares[number, token], self.rows[number, token] = 0.0, 0
        fx.barrier()
        if fx.thread_idx.x < 32:
            self.write_tables(fx.thread_idx.x, T)
        fx.barrier()
        return fx.Int32(self.total[0])

    @flyc.jit
    def write_tables(self, lane: Any, T: Any) -> None:
        """One warp, a lane for each pair of a token and an expert."""
        pairs, topk = T * self.topk, self.topk
        pair = fx.min(lane, pairs - 1)
        mine, weight = fx.Int32(self.ids[pair]), fx.Float32(self.weights[pair])
        there = (lane < pairs) & (mine >= 0) & (mine < self.experts)
        mine = there.select(mine, fx.Int32(-1))
        first, own, share = lane, lane, fx.Float32(0.0)
        for other in reversed(range(self.pairs)):  # up to the first that is the same, of all and of the token
            same = fx.shuffle_idx(mine, other, 32) == mine
            of_token = same & (fx.Int32(other // topk) == pair // topk)
            first = same.select(fx.Int32(other), first)
            own = of_token.select(fx.Int32(other), own)
            share += of_token.select(fx.shuffle_idx(weight, other, 32), fx.Float32(0.0))
        leaders = fx.Int32(fx.ballot(there & (first == lane)))
        number = fx.Int32(fx.math.ctpop(leaders & ((fx.Int32(1) << first) - 1)))
        if lane == 0:
            self.total[0] = fx.Int32(fx.math.ctpop(leaders))
        if lane < pairs:
            self.places[lane] = -1
        if there & (first == lane):
            self.numbers[number] = mine
        if there & (own == lane):
            token = pair // topk
            self.shares[number, token], self.rows[number, token] = share, pair
            self.places[pair] = number * T + token
