"""The order of tiles: which tile of queries a block of the forward kernel works on in which round."""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.tiles import part_of, piece_of


@fx.struct
class Work:
    """Tiles of a launch. Heads go through the cache in groups; tiles of the last round are taken in ``parts``."""

    tiles: fx.Int32
    heads: fx.Int32
    batches: fx.Int32
    group: fx.Int32
    queries_per_kv: fx.Int32
    parts: fx.Int32


def parts_of(total: Any, blocks: Any, plan: Any, smaller: Any = 0) -> Any:
    """Return in how many parts the tiles are taken that are left for a last round: of whole warpgroups.

    Where 56 tiles are left for 132 blocks, two blocks have a part of each, and the round ends sooner: 16 heads of 128
    in 8 bits had 1046 TFLOP/s instead of 1007 (1021 instead of 999 in a second round) at 16384 tokens, 32 of 64 had 566
    instead of 548 at 8192, on an H200 on 2026-11-17. Where queries see more and more keys, the order of tiles has
    blocks end together, and parts would disturb it (1014 instead of 1064, causal in 8 bits). So they would where the
    last tiles are ``smaller`` ones of a window, of which there are so many.
    """
    if plan.features.left != plan.features.right:
        return fx.Int32(1)
    left = total % blocks
    parts = fx.max(fx.min(blocks // fx.max(left, 1), fx.Int32(plan.consumers)), 1)
    return (left <= smaller).select(1, parts)


@flyc.jit
def turn_of(work, iteration):
    """(which of a round's tiles, which part of it, of how many) this block has."""
    block = (iteration % 2 == 0).select(fx.block_idx.x, fx.grid_dim.x - 1 - fx.block_idx.x)
    is_last = iteration == work.tiles * work.heads * work.batches // fx.grid_dim.x
    parts = is_last.select(work.parts, 1)
    return block // parts, block % parts, parts


@flyc.jit
def tile_at(work, iteration):
    """(tile, head, batch) of this block's ``iteration``.

    Tiles get smaller through the last group of heads, larger through the one before, and so on, and every other round
    runs backwards over the blocks: neighbouring rounds make up for each other, and all blocks end together.
    """
    turn, _, _ = turn_of(work, iteration)
    index = iteration * fx.grid_dim.x + turn
    section = index // (work.group * work.tiles)
    first = section * work.group
    height = fx.min(work.heads * work.batches - first, work.group)
    inside = index - first * work.tiles
    row, tile = first + inside % height, inside // height
    after = fx.ceildiv(work.heads * work.batches, work.group) - 1 - section
    tile = (after % 2 == 0).select(work.tiles - 1 - tile, tile)
    return tile, row % work.heads, row // work.heads


@flyc.jit
def iterations_of(work):
    """Rounds in which this block has a tile, or a part of one."""
    total = work.tiles * work.heads * work.batches
    rounds = total // fx.grid_dim.x
    left = total - rounds * fx.grid_dim.x
    block = (rounds % 2 == 0).select(fx.block_idx.x, fx.grid_dim.x - 1 - fx.block_idx.x)
    return (block < left * work.parts).select(rounds + 1, rounds)


@flyc.jit
def piece_at(work, iteration, lengths, extents, window, plan):
    """The tile of an iteration, or its part of one."""
    tile, head, batch = tile_at(work, iteration)
    _, part, parts = turn_of(work, iteration)
    return part_of(piece_of(tile, head, batch, lengths, extents, window, plan), part, parts, plan)
