"""The order of tiles on Hopper: every tile once, and blocks that end at about the same time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.attention import Inputs
from flydsl.kernels.attention.forward_order import Work, iterations_of, parts_of, tile_at, turn_of
from flydsl.kernels.attention.hopper_forward import ForwardPlan
from flydsl.kernels.attention.scores import Features

EVEN = ForwardPlan(fx.Float16, 64, 64, consumers=3)
"""A plan whose tiles see equally many keys."""


@flyc.kernel
def list_tiles(found: fx.Tensor, counts: fx.Tensor, work: Work):
    block = fx.block_idx.x
    iterations = iterations_of(work)
    counts[block] = iterations
    for iteration in range(iterations):
        tile, head, batch = tile_at(work, iteration)
        found[block, iteration, 0] = tile
        found[block, iteration, 1] = batch * work.heads + head
        _, part, parts = turn_of(work, iteration)
        found[block, iteration, 2] = part
        found[block, iteration, 3] = parts


@flyc.jit
def list_all(
    found: fx.Tensor, counts: fx.Tensor, blocks: fx.Int32, tiles: fx.Int32, heads: fx.Int32, group: fx.Int32,
    smaller: fx.Int32, plan: fx.Constexpr[ForwardPlan],
):  # fmt: skip
    work = Work(tiles, heads, fx.Int32(2), group, fx.Int32(1), parts_of(tiles * heads * 2, blocks, plan, smaller))
    list_tiles(found, counts, work).launch(grid=blocks, block=1)


def listed(
    blocks: int, tiles: int, heads: int, group: int, plan: ForwardPlan, smaller: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """(tile, head, part, parts) of each block's rounds, and how many it has."""
    found, counts = np.full((blocks, 2 * tiles * heads // blocks + 1, 4), -1, np.int32), np.zeros(blocks, np.int32)
    list_all(found, counts, blocks, tiles, heads, group, smaller, plan)
    return found, counts


@pytest.mark.parametrize(
    ("blocks", "tiles", "heads", "group", "even"),
    [(132, 64, 16, 6, 0.94), (132, 64, 16, 32, 0.99), (132, 16, 64, 26, 0.95), (4, 3, 1, 1, 0.5), (5, 1, 1, 2, 0.4)],
)
def test_every_tile_once(blocks: int, tiles: int, heads: int, group: int, even: float) -> None:
    """A causal tile of number t sees t + 1 blocks of keys: ``even`` is the mean of what blocks do over the most."""
    found, counts = listed(blocks, tiles, heads, group, replace(EVEN, features=Features(right=True)))
    seen = [tuple(pair[:2]) for block, count in zip(found, counts, strict=True) for pair in block[:count].tolist()]
    assert sorted(seen) == [(tile, row) for tile in range(tiles) for row in range(2 * heads)]
    work = np.array([(block[:count, 0] + 1).sum() for block, count in zip(found, counts, strict=True)])
    assert work.mean() / work.max() >= even


@pytest.mark.parametrize(("blocks", "tiles", "wanted"), [(132, 43, 2), (5, 3, 3), (4, 3, 2), (4, 2, 3)])
def test_parts_of_the_last_round(blocks: int, tiles: int, wanted: int) -> None:
    """Of every tile all parts once; those of the last round are shared by blocks that would have none."""
    heads = 16 if blocks == 132 else 1
    found, counts = listed(blocks, tiles, heads, 2, EVEN)
    seen = [tuple(row) for block, count in zip(found, counts, strict=True) for row in block[:count].tolist()]
    left = 2 * heads * tiles % blocks
    assert sum(parts > 1 for *_, parts in seen) == left * wanted
    whole = {(tile, head): parts for tile, head, _, parts in seen}
    assert len(whole) == 2 * heads * tiles
    assert sorted(seen) == sorted((*tile, part, parts) for tile, parts in whole.items() for part in range(parts))


def test_a_window_ends_with_its_smaller_tiles() -> None:
    """Tiles of 192 queries and a window of 1024: the first five see fewer blocks of 64 keys than the others."""
    found, counts = listed(132, 43, 16, 32, replace(EVEN, features=Features(left=True, right=True)), 5 * 32)
    assert (found[..., 3] <= 1).all()
    work = np.array(
        [np.minimum(3 * block[:count, 0] + 3, 17).sum() for block, count in zip(found, counts, strict=True)]
    )
    assert work.mean() / work.max() > 0.98


@pytest.mark.parametrize(("keys", "reach", "wanted"), [(8192, None, 11), (8192, 1025, 32), (512, 1025, 32)])
def test_heads_that_stay_in_the_cache(keys: int, reach: int | None, wanted: int) -> None:
    """All of K and V of 12 heads fit, and of a window the part that is seen at a time of many more."""
    q, k = (np.zeros((2, 16, length, 64), np.float16) for length in (64, keys))
    assert Inputs(q, k, k, None, None, None, None).head_group(reach) == wanted
