"""How many blocks share a tile of keys of attention's gradients on Hopper: a model of what ends soonest.

A launch has a block for each tile of keys and head of keys, which may be too few for all multiprocessors, or leave many
of them idle in the last round. Blocks that share a tile have parts of its tiles of queries, of all heads, that are as
long as one another. Each writes dk and dv of its own, in f32, and one more launch adds them up.

The numbers are fitted to 21 shapes in up to 12 parts each, on an H200 on 2026-11-17: with them the chosen parts took
1.005 times as long as the best ones on average, and 1.05 times at most. 1 x 6955 tokens, causal, 4 heads of 128 that
share one of keys, took 929 us in one part, 275 in 4, 252 in 5, 271 in 6, and with cuDNN 368.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flydsl.kernels.attention.attention import Inputs
from flydsl.kernels.attention.backward_tiles import BackwardPlan
from flydsl.kernels.blocks.inputs import empty_beside, multiprocessors

SPEED = 4e6
"""Operations that a block makes in a microsecond."""
START = 2.0
"""Microseconds that a block takes to begin and to end."""
MEMORY = 2e6
"""Bytes of parts that are written and read in a microsecond."""
LAUNCH = 2.0
"""Microseconds of the launch that adds up."""
FULL_ROUNDS = 4
"""With so many tiles of keys for each multiprocessor little is idle in the end."""


@dataclass(frozen=True)
class Tiles:
    """Tiles of keys: how many there are, tiles of queries that the most and the mean of them see, of all heads that
    share the keys, whether all see about as many, and how many heads share them."""

    count: int
    most: int
    mean: float
    alike: bool
    group: int = 1


def parts_of(given: Inputs, keys: int, left: int | None, right: int | None, plan: BackwardPlan) -> int:
    """Return how many blocks share a tile of keys: as many as end soonest."""
    tiles, share, processors = -(-keys // plan.keys) * given.batches, None, multiprocessors(given.q)
    if given.varied:
        tiles = min(tiles, int(given.k.shape[2]) // plan.keys + given.batches)
        share = min(int(given.q.shape[2]) / max(given.longest * given.batches, 1), 1.0)
    if not 0 < tiles * given.kv_heads < FULL_ROUNDS * processors:
        return 1
    heads = (given.heads, given.kv_heads)
    return choose_parts(tiles_of_keys(tiles, heads, given.longest, keys, left, right, share, plan), processors, plan)


@lru_cache(maxsize=1024)
def tiles_of_keys(
    count: int, heads: tuple[int, int], queries: int, keys: int, left: int | None, right: int | None,
    share: float | None, plan: BackwardPlan,
) -> Tiles:  # fmt: skip
    """Return what the tiles of sequences see that all have so many queries and keys, or on average a ``share``."""
    seen, group = tiles_seen(queries, keys, left, right, plan), heads[0] // heads[1]
    alike = share is None and (right is None or left is not None)
    mean = sum(seen) / len(seen) * (1.0 if share is None else share)
    return Tiles(count * heads[1], max(seen) * group, mean * group, alike, group)


def tiles_seen(queries: int, keys: int, left: int | None, right: int | None, plan: BackwardPlan) -> list[int]:
    """Return how many tiles of queries of a head see each tile of a sequence's keys; `span_of` says which."""
    found, offset, last = [], keys - queries, -(-queries // plan.queries)
    for low in range(0, keys, plan.keys):
        begin = 0 if right is None else max(low - offset - right, 0) // plan.queries
        end = last if left is None else min(last, -(-max(low + plan.keys + left - offset, 0) // plan.queries))
        found.append(max(end - begin, 0))
    return found


@lru_cache(maxsize=1024)
def choose_parts(tiles: Tiles, processors: int, plan: BackwardPlan) -> int:
    """Return how many parts end soonest, and few where it is the same.

    Where blocks add to dq in an order, and tiles of keys are seen by different queries, parts are whole heads. Others
    would begin with what is the end of some part of the keys before, and wait for all of that part: the shape above
    took 523 us in 4 parts and 992 in 6.
    """
    most = max(1, min(tiles.most, FULL_ROUNDS * processors // tiles.count))
    in_heads = plan.deterministic and (plan.features.left or plan.features.right)
    choices = [parts for parts in range(1, most + 1) if not in_heads or tiles.group % parts == 0]
    return min(choices, key=lambda parts: time_of(parts, tiles, processors, plan))


def time_of(parts: int, tiles: Tiles, processors: int, plan: BackwardPlan) -> float:
    """Return about how many microseconds gradients take in so many parts.

    Blocks that are alike run in rounds. Of others those with most work begin first, and those with little fill what
    these leave: they end with the longest, or with the mean of all.
    """
    tile = 2 * plan.queries * plan.keys * (3 * plan.d + 2 * plan.dv) / SPEED
    blocks, longest = tiles.count * parts, tiles.most / parts * tile + START
    if tiles.alike:
        found = -(-blocks // processors) * longest
    else:
        found = max(longest, blocks * (tiles.mean / parts * tile + START) / processors)
    if parts == 1:
        return found
    return found + 8 * blocks * plan.keys * (plan.d + plan.dv) / MEMORY + LAUNCH


def room_for_parts(given: Inputs, parts: int) -> tuple[Any, Any]:
    """dk and dv of each part; uninitialised."""
    if parts < 1:
        raise ValueError(f"blocks that share a tile of keys are one or more, got {parts} parts")
    if parts == 1:
        return None, None
    sizes = [int(n) for n in given.k.shape[:3]]
    return (
        empty_beside(given.q, (parts, *sizes, given.d), "float32"),
        empty_beside(given.q, (parts, *sizes, given.dv), "float32"),
    )
