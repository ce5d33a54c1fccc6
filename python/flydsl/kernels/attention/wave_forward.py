"""Attention forward by waves: AMD's matrix instructions, and whoever else multiplies wave by wave.

A block has a few waves, each with its own queries (`waves`); they share tiles of K and V in shared memory, filled while
the products of the block before are under way: through registers or, where the target can, straight from memory.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.copied_waves import CopiedWaves, can_copy
from flydsl.kernels.attention.exchanged_waves import KEYS, TWO_WAVES, ExchangedWaves, can_exchange
from flydsl.kernels.attention.scores import softmax_end, softmax_step
from flydsl.kernels.attention.tiles import piece_of, scores_of
from flydsl.kernels.attention.waves import WavePlan, Waves, choose_instruction, keys_of, threads_of, waves_beside
from flydsl.kernels.blocks.reduce import LOWEST

# The kernel ----------------------------------------------------------------------------------------


@flyc.kernel
def wave_kernel(
    Q: Any, K: Any, V: Any, out: Any, lse: Any, extras: Any, lengths: Any, numbers: Any, extents: Any, window: Any,
    per_kv: fx.Int32, plan: fx.Constexpr,
):  # fmt: skip
    tile, head, batch = fx.block_idx
    # The last queries see most keys: they go first.
    piece = piece_of(fx.grid_dim.x - 1 - tile, head, batch, lengths, extents, window, plan)
    if piece.first < piece.queries:
        place = fx.Int32(0) if fx.const_expr(lengths is not None) else piece.batch
        sources = (K[place, piece.head // per_kv, None, None], V[place, piece.head // per_kv, None, None])
        down = fx.get_scalar(fx.get_(Q.stride, 2))
        first = fx.get_iter(Q[place, piece.head, piece.query_start + piece.first, None])
        q_tile = fx.make_view(first, fx.make_layout((plan.queries, plan.d), (down, 1)))
        mine = waves_of(plan)(lambda _: q_tile, sources, extras, numbers, plan)
        tops, sums = attend(mine, piece)
        store(mine, piece, tops, sums, out, lse, place)


def waves_of(plan):
    """How keys come into shared memory: straight from memory where the target can, or into tiles without gaps."""
    if can_copy(plan.dtype, plan.d, plan.dv):
        return CopiedWaves
    return ExchangedWaves if plan.exchanged else Waves


@flyc.jit
def attend(mine, piece):
    """Blocks of keys from the last to the first: those that need a mask, then the others."""
    # A lane's query stays in registers; beyond the sequence's end there are zeros.
    mine.q.fill(0.0)
    if piece.first + mine.s_rows.query < piece.queries:
        fx.copy(mine.four(), mine.q_part, mine.q)
    mine.o.fill(0.0)
    tops, sums = [fx.Float32(LOWEST)], [fx.Float32(0.0)]
    if fx.const_expr(not mine.SEGMENTS):
        return attend_blocks(mine, piece, tops, sums)
    count, blocks = mine.segments(piece)
    for number in range(count):
        tops, sums = attend_blocks(mine, mine.segment(piece, number, blocks), tops, sums)
    return tops, sums


@flyc.jit
def attend_blocks(mine, piece, tops, sums):
    """Go over the blocks of a piece, or of a segment of it."""
    begin, end = piece.begin, piece.end
    carried = (mine.start(piece, end - 1), tops, sums)
    plain = fx.max(fx.min(piece.plain_end, end), begin)
    for i in range(end - plain):
        carried = next_block(mine, piece, end - 1 - i, carried, True)
    low = fx.min(fx.max(piece.plain_begin, begin), plain)
    if fx.const_expr(mine.SEGMENTS):
        left = plain - 1 - begin  # one number for the loop and for where the next block is
        while left >= low - begin:
            carried = next_block(mine, piece, begin + left, carried, False)
            left = left - 1
    else:
        for i in range(plain - low):
            carried = next_block(mine, piece, plain - 1 - i, carried, False)
    if fx.const_expr(mine.plan.features.left):
        for i in range(low - begin):
            carried = next_block(mine, piece, low - 1 - i, carried, True)
    return carried[1:]


@flyc.jit
def next_block(mine, piece, block, carried, with_mask):
    """One block of keys; the next is on its way from memory meanwhile."""
    held, tops, sums = carried
    plan, depth = mine.plan, mine.instruction.depth
    following, (keys, values) = mine.arrive(piece, block, held)
    mine.s.fill(0.0)
    mine.multiply(mine.first, mine.s, keys, mine.q, plan.scored // depth)
    mine.read_ahead(plan.keys // mine.instruction.queries * (plan.scored // depth))
    mine.join_scores()
    scores = scores_of(mine.s.load(), mine.s_rows, piece, block, mine.extras, mine.numbers, plan, with_mask)
    step = softmax_step(scores, tops, sums, mine.factor(), mine.distances, mine.power_type(), results=mine.o,
                        wild=mine.WILD)  # fmt: skip
    powers, _, _, tops, sums = step
    mine.hold_powers(powers)
    mine.multiply(mine.second, mine.o, values, mine.p, plan.keys // depth)
    mine.read_ahead(plan.dv // (plan.spread * mine.instruction.queries) * (plan.keys // depth))
    return following, tops, sums


@flyc.jit
def store(mine, piece, tops, sums, out, lse, place):
    """A lane's query divided by its sum to memory, runs of neighbouring elements at a time."""
    rows, sinks = mine.o_rows, mine.extras[2]
    sink = None if sinks is None else fx.Float32(sinks[piece.head])
    scale, logarithm = softmax_end(tops[0], sums[0], mine.distances, sink)
    query = piece.first + rows.query
    values = rows.split(mine.o.load())[0]
    kept = (scale == 0.0).select(fx.zeros_like(values), values * scale).to(mine.plan.dtype)
    if query < piece.queries:
        line = out[place, piece.head, piece.query_start + query, None]
        for element, run in mine.results(kept):
            run.store(line, [element], alignment=2 * run.numel)
        if fx.const_expr(lse is not None):
            if rows.column == 0:
                lse[place, piece.head, piece.query_start + query] = logarithm


# Launching -----------------------------------------------------------------------------------------


def wave_forward(
    Q: Any, K: Any, V: Any, out: Any, lse: Any, extras: Any, lengths: Any, numbers: Any, window: Any, batches: Any,
    longest: Any, plan: Any, stream: Any,
) -> None:  # fmt: skip
    """Launch the kernel, in a jit function: ``longest`` queries at most in each of ``batches`` sequences."""
    instruction = choose_instruction(plan.dtype, plan.d + plan.dv)
    exchanged = can_exchange(plan, extras[0])
    keys, queries = keys_of(instruction, plan.d + plan.dv), instruction.waves * instruction.queries
    mine = WavePlan(plan.dtype, plan.d, plan.dv, queries, KEYS if exchanged else keys, plan.features,
                    exchanged=exchanged)  # fmt: skip
    heads = fx.Int32(Q.shape[1])
    extents = (fx.Int32(Q.shape[2]), fx.Int32(K.shape[2]))
    per_kv = heads // fx.Int32(K.shape[1])
    kernel = wave_kernel(Q, K, V, out, lse, extras, lengths, numbers, extents, window, per_kv, mine,
                         value_attrs=TWO_WAVES if exchanged else waves_beside(instruction, mine.held))  # fmt: skip
    kernel.launch(
        grid=(fx.ceildiv(longest, mine.queries), heads, batches),
        block=(threads_of(mine), 1, 1),
        stream=stream,
    )
