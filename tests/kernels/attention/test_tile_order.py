"""The order of tiles on Hopper: every tile once, and blocks that end at about the same time."""

from __future__ import annotations

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.forward_order import Work, iterations_of, tile_at


@flyc.kernel
def list_tiles(found: fx.Tensor, counts: fx.Tensor, work: Work):
    block = fx.block_idx.x
    iterations = iterations_of(work)
    counts[block] = iterations
    for iteration in range(iterations):
        tile, head, batch = tile_at(work, iteration)
        found[block, iteration, 0] = tile
        found[block, iteration, 1] = batch * work.heads + head


@flyc.jit
def list_all(found: fx.Tensor, counts: fx.Tensor, blocks: fx.Int32, tiles: fx.Int32, heads: fx.Int32, group: fx.Int32):
    list_tiles(found, counts, Work(tiles, heads, fx.Int32(2), group, fx.Int32(1))).launch(grid=blocks, block=1)


@pytest.mark.parametrize(
    ("blocks", "tiles", "heads", "group", "even"),
    [(132, 64, 16, 6, 0.94), (132, 64, 16, 32, 0.99), (132, 16, 64, 26, 0.95), (4, 3, 1, 1, 0.5), (5, 1, 1, 2, 0.4)],
)
def test_every_tile_once(blocks: int, tiles: int, heads: int, group: int, even: float) -> None:
    """A causal tile of number t sees t + 1 blocks of keys: ``even`` is the mean of what blocks do over the most."""
    found = np.full((blocks, 2 * tiles * heads // blocks + 1, 2), -1, np.int32)
    counts = np.zeros(blocks, np.int32)
    list_all(found, counts, blocks, tiles, heads, group)
    seen = [tuple(pair) for block, count in zip(found, counts, strict=True) for pair in block[:count].tolist()]
    assert sorted(seen) == [(tile, row) for tile in range(tiles) for row in range(2 * heads)]
    work = np.array([(block[:count, 0] + 1).sum() for block, count in zip(found, counts, strict=True)])
    assert work.mean() / work.max() >= even
