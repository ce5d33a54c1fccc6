"""How many blocks share a tile of keys: what a tile sees, and what ends soonest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.kernels.attention.backward_parts import FULL_ROUNDS, Tiles, choose_parts, tiles_of_keys, tiles_seen, time_of
from flydsl.kernels.attention.backward_tiles import BackwardPlan
from flydsl.kernels.attention.scores import Features

PLAN = BackwardPlan(fx.BFloat16, 128, 128)
PROCESSORS = 132


@pytest.mark.parametrize("sides", [(None, None), (None, 0), (300, None), (300, 0), (100, 200)], ids=str)
def test_tiles_that_see_keys(sides: tuple[int | None, int | None], rng: np.random.Generator) -> None:
    """Those of which a query sees a key, counted one by one; a tile of a window may be counted for nothing."""
    left, right = sides
    for queries, keys in ((1, 1), (64, 128), (1000, 700), *rng.integers(1, 1500, (3, 2)).tolist()):
        ahead = np.arange(keys) - np.arange(queries)[:, None] - (keys - queries)
        sees = np.ones(ahead.shape, bool)
        if left is not None:
            sees &= ahead >= -left
        if right is not None:
            sees &= ahead <= right
        found = tiles_seen(queries, keys, left, right, PLAN)
        for tile, count in enumerate(found):
            rows = np.flatnonzero(sees[:, tile * PLAN.keys : (tile + 1) * PLAN.keys].any(1)) // PLAN.queries
            assert count in (len(np.unique(rows)), len(np.unique(rows)) + 1), (queries, keys, tile)


def test_tiles_of_sequences() -> None:
    """Under a causal mask the mean is about a half of the most; sequences of different lengths are shorter, too."""
    assert tiles_of_keys(8, (6, 2), 1024, 1024, None, None, None, PLAN) == Tiles(16, 48, 48.0, True, 3)
    assert tiles_of_keys(8, (6, 2), 1024, 1024, None, 0, None, PLAN) == Tiles(16, 48, 27.0, False, 3)
    assert tiles_of_keys(8, (6, 2), 1024, 1024, None, None, 0.25, PLAN) == Tiles(16, 48, 12.0, False, 3)


def test_few_tiles_are_shared() -> None:
    """A multiprocessor without a block is worth a part, of equal tiles and of those of a causal mask."""
    for alike, mean in ((True, 400.0), (False, 200.0)):
        tiles = Tiles(55, 400, mean, alike)
        parts = choose_parts(tiles, PROCESSORS, PLAN)
        assert parts * tiles.count >= PROCESSORS * 0.75
        assert time_of(parts, tiles, PROCESSORS, PLAN) < 0.6 * time_of(1, tiles, PROCESSORS, PLAN)


def test_the_last_round_is_filled() -> None:
    """142 equal blocks would take two rounds, the second one of ten."""
    assert choose_parts(Tiles(PROCESSORS + 10, 500, 500.0, True), PROCESSORS, PLAN) > 1
    assert choose_parts(Tiles(2 * PROCESSORS, 500, 500.0, True), PROCESSORS, PLAN) == 1


def test_what_is_not_worth_it() -> None:
    """Many tiles, tiles that few queries see, and sums that take longer than what they spare."""
    assert choose_parts(Tiles(FULL_ROUNDS * PROCESSORS, 500, 250.0, False), PROCESSORS, PLAN) == 1
    assert choose_parts(Tiles(1, 1, 1.0, True), PROCESSORS, PLAN) == 1
    assert choose_parts(Tiles(100, 4, 4.0, True), PROCESSORS, PLAN) == 1
    assert choose_parts(Tiles(4, 2, 2.0, True), PROCESSORS, replace(PLAN, d=64, dv=64)) == 1


def test_parts_of_an_order_are_whole_heads() -> None:
    """Under a mask; without one all tiles of keys are seen by the same queries."""
    tiles = Tiles(30, 600, 300.0, False, 6)
    causal = replace(PLAN, features=Features(right=True))
    free, ordered = (choose_parts(tiles, PROCESSORS, replace(causal, deterministic=order)) for order in (False, True))
    assert 6 % free != 0 and 6 % ordered == 0 and ordered > 1
    assert choose_parts(tiles, PROCESSORS, replace(PLAN, deterministic=True)) == free


def test_parts_are_no_more_than_tiles_of_queries() -> None:
    assert choose_parts(Tiles(1, 5, 5.0, True), PROCESSORS, PLAN) <= 5
