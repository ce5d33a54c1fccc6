"""The order of tiles: which one a block of the forward kernel works on in which round, its loads and its stores."""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.scores import softmax_end
from flydsl.kernels.attention.tiles import ROW_LANES, part_of, piece_of, whole_lines


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


@flyc.jit
def load(maps, places, pipes, tickets, work, place, plan):
    """The loading thread: which tile comes next, its queries, and its keys and values, which may be a block behind."""
    map_q, map_k, map_v = maps
    q_ptr, k_ptr, v_ptr = places
    pipe_q, pipe_k, pipe_v = pipes
    state_q, state_k, state_v = pipe_q.producer_start(), pipe_k.producer_start(), pipe_v.producer_start()
    behind = 0 if plan.joint else 1
    for iteration in range(iterations_of(work)):
        piece = piece_at(work, iteration, *place, plan)
        batch = piece.batch if fx.const_expr(place[0] is None) else 0
        kv = piece.head // work.queries_per_kv
        # A tile beyond the end of its sequence is nobody's work.
        blocks = (piece.first < piece.queries).select(piece.end - piece.begin, 0)
        if blocks > 0:
            pipe_q.acquire(state_q)
            tickets.at(state_q).poke(piece)
            fx.nvvm.mbarrier_arrive_expect_tx(pipe_q.full(state_q), map_q.bytes)
            at = (batch, piece.head, 0, piece.query_start + piece.first, 0)
            fx.nvvm.tma_load(map_q, at, q_ptr + state_q.stage * (plan.queries * plan.d), pipe_q.full(state_q))
            state_q = pipe_q.advance(state_q)
        for i in range((blocks > 0).select(blocks + behind, 0)):
            block = piece.end - 1 - i
            if i < blocks:
                pipe_k.acquire(state_k, map_k.bytes + (map_v.bytes if plan.joint else 0))
                at = (batch, kv, 0, piece.key_start + block * plan.keys, 0)
                fx.nvvm.tma_load(map_k, at, k_ptr + state_k.stage * (plan.keys * plan.d), pipe_k.full(state_k))
                if fx.const_expr(plan.joint):
                    fx.nvvm.tma_load(map_v, at, v_ptr + state_k.stage * (plan.keys * plan.dv), pipe_k.full(state_k))
                state_k = pipe_k.advance(state_k)
            if fx.const_expr(not plan.joint):
                if i > 0:
                    pipe_v.acquire(state_v, map_v.bytes)
                    at = (batch, kv, 0, piece.key_start + (block + 1) * plan.keys, 0)
                    if fx.const_expr(plan.linear):  # values are turned: rows of elements, columns of keys
                        at = (batch, kv, block + 1, 0, 0)
                    v_stage = v_ptr + state_v.stage * (plan.keys * plan.columns)
                    fx.nvvm.tma_load(map_v, at, v_stage, pipe_v.full(state_v))
                    state_v = pipe_v.advance(state_v)
    pipe_q.acquire(state_q)
    tickets.at(state_q).queries.poke(0)  # no more tiles
    pipe_q.commit(state_q)


@flyc.jit
def store(mine, piece, tops, sums, out, lse):
    """The forward kernel's rows, divided by their sums, to memory, eight neighbouring elements of a row at a time."""
    rows, sinks, dtype = mine.o_rows, mine.extras[2], mine.plan.result
    sink = None if sinks is None else fx.Float32(sinks[piece.head])
    batch = piece.batch if out.shape[0] != 1 else 0
    found = []
    for top, total, values in zip(tops, sums, rows.split(mine.o.load()), strict=True):
        if fx.const_expr(mine.plan.linear):
            scale, logarithm = softmax_end(top, values[values.numel - 1], (), sink)
            values = values.shuffle(values, range(mine.plan.dv // 4))
        else:
            scale, logarithm = softmax_end(top, total, ROW_LANES, sink)
        if fx.const_expr(mine.plan.scaled != ""):
            scale = scale * mine.scale_of(3, piece, 0)
        kept = (scale == 0.0).select(fx.zeros_like(values), values * scale).to(dtype)
        found.append((whole_lines(kept.bitcast(fx.Int32), rows.column // 2), logarithm))
    for i, (lines, logarithm) in enumerate(found):
        query = piece.first + rows.query + rows.rows[i]
        if query < piece.queries:
            row = out[batch, piece.head, piece.query_start + query, None]
            for block, line in enumerate(lines):
                line.bitcast(dtype).store(row, [block * 32 + rows.column * 4], alignment=16)
            if fx.const_expr(lse is not None):
                if rows.column == 0:
                    lse[batch, piece.head, piece.query_start + query] = logarithm
