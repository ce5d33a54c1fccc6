"""The gradient of V alone, on Hopper: dV = P^T dO, of heads whose sums for dK leave no room for it.

Two products a tile of queries, as forward: scores of a tile are multiplied beside the powers of the tile before, and
become powers while these are.
"""

from __future__ import annotations

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.backward_tiles import piece_at, powers_of_scores
from flydsl.kernels.attention.hopper_forward import WARPGROUP


@flyc.jit
def compute_values(mine, span, tile, slots):
    """Through the tiles of queries: scores of one, and beside them the product of the powers before with their dO."""
    _, _, per_kv, own = slots
    first, end = (0, (span.end - span.begin) * per_kv) if own is None else own
    state_q, state_o = mine.pipe_q.consumer_start(), mine.pipe_o.consumer_start()
    mine.dv.fill(0.0)
    mine.pipe_k.wait(mine.pipe_k.consumer_start())
    if fx.const_expr(mine.plan.shared_rows):
        mine.clear(1, span.band.length - tile * mine.plan.keys, 0)
    if first < end:
        powers = weigh(mine, span, tile, first, state_q, state_o, False)
        mine.p.store(powers)
        state_q = mine.pipe_q.advance(state_q)
        for i in range(first + 1, end):
            powers = weigh(mine, span, tile, i, state_q, state_o, True)
            fx.nvvm.wgmma_wait_group(0, mine.dv)
            mine.release(mine.pipe_o, state_o)
            mine.p.store(powers)
            state_q, state_o = mine.pipe_q.advance(state_q), mine.pipe_o.advance(state_o)
        fx.nvvm.wgmma_fence()
        add_values(mine, span, end - 1, state_o)
        fx.nvvm.wgmma_wait_group(0, mine.dv)


@flyc.jit
def weigh(mine, span, tile, index, state_q, state_o, beside):
    """The powers of a tile of queries, and ``beside`` their products those of the tile before with its dO."""
    plan = mine.plan
    piece, number = tile_of_queries(span, index, plan)
    mine.pipe_q.wait(state_q)
    if fx.const_expr(plan.shared_rows):
        mine.clear(0, piece.queries - piece.first, state_q.stage)
    fx.nvvm.wgmma_fence()
    mine.start_scores(state_q.stage, fx.nvvm.warp_uniform(mine.thread))
    if fx.const_expr(beside):
        add_values(mine, span, index - 1, state_o)
    levels = mine.numbers_of(0, state_q.stage)
    fx.nvvm.wgmma_wait_group(int(beside), mine.s)
    fx.nvvm.barrier_sync(2 + mine.number, WARPGROUP)  # all have read their levels
    mine.release(mine.pipe_q, state_q)
    plain = (number >= span.plain_begin) & (number < span.plain_end)
    powers, _ = powers_of_scores(
        mine.s.load(), mine.rows, piece, tile, plain, levels, mine.extras, mine.numbers, plan
    )  # fmt: skip
    return mine.rows.join(powers).to(plan.dtype).reshape(mine.p.shape)


@flyc.jit
def add_values(mine, span, index, state_o):
    """dv += p^T do of a tile of queries, asynchronously."""
    mine.pipe_o.wait(state_o)
    if fx.const_expr(mine.plan.shared_rows):
        piece, _ = tile_of_queries(span, index, mine.plan)
        mine.clear(3, piece.queries - piece.first, state_o.stage)
    mine.start_values(state_o.stage)


@flyc.jit
def tile_of_queries(span, index, plan):
    """(a tile of queries, its number) of those of all heads that share the keys."""
    count = span.end - span.begin
    number = span.begin + index % count
    return piece_at(span, span.head + index // count, number, plan), number
