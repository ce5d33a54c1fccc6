"""Attention backward by waves, on AMD GPUs: one kernel for dQ and one for dK and dV, each the other turned around.

A block *owns* rows: queries in the kernel of dQ, keys in that of dK and dV. It meets the *others*, keys or queries, a
tile after the other. Products are transposed as in `wave_forward`: a lane has one row of its own and, of each tile, the
scores with all others, and what becomes of them is what the next product takes from its registers:

    own queries:  s = K Q^T    dp = V dO^T    dQ^T += K^T ds
    own keys:     s = Q K^T    dp = dO V^T    dK^T += Q^T ds    dV^T += dO^T p

Scores are computed twice, seven products instead of five; but no block adds to what another one found, so that the
same bits come out each time, and there is nothing to be cleared or converted.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.backward_tiles import (
    BackwardPlan,
    gradients_of_scores,
    piece_at,
    powers_of_scores,
    span_of,
)
from flydsl.kernels.attention.tiles import FragmentRows, piece_of
from flydsl.kernels.attention.waves import (
    TURNED_PAD,
    choose_instruction,
    copy_of,
    sequence_rows,
    tiled_over,
    waves_beside,
)

OTHERS = 32
"""Rows of a tile of others."""
CHANGED = 64
"""Elements of a head that take as many registers, beside the sums for keys, as what caps and masks change of scores:
with heads of 128, two waves of a SIMD spilled 3 to 51 registers on gfx950."""
TURNED_ROWS = 4
"""Blocks along the rows of a tile that neighbouring lanes turn: they write to different banks then."""


class TileOfOthers:
    """A tile in shared memory, as it is and, some of its columns, turned; threads hold blocks of 4 x 4 elements on the
    way there."""

    def __init__(self, waves, d, columns):
        dtype, allocator = waves.plan.dtype, waves.allocator
        self.d, self.threads, (self.first, self.count) = d, waves.threads, columns
        pitch, count = d + waves.instruction.apart, self.count
        self.exchanged = waves.instruction.apart == 8
        rows = allocator.allocate(fx.Array[dtype, OTHERS * pitch, 16]).ptr
        self.rows = fx.make_view(rows, fx.make_layout((OTHERS, d), (pitch, 1)))
        thread, high = waves.tiled.get_slice(fx.thread_idx.x), waves.high
        parts = [fx.make_view(rows + part * high * pitch, fx.make_layout((high, d), (pitch, 1)))
                 for part in range(OTHERS // high)]  # fmt: skip
        self.rows_parts = [thread.partition_A(part) for part in parts]
        if count > 0:
            turned = allocator.allocate(fx.Array[dtype, count * (OTHERS + TURNED_PAD), 16]).ptr
            self.turned = fx.make_view(turned, fx.make_layout((count, OTHERS), (OTHERS + TURNED_PAD, 1)))
            (shape, stride), depth = waves.instruction.order, waves.instruction.depth
            ordered = fx.make_layout((count, (*shape, OTHERS // depth)), (OTHERS + TURNED_PAD, (*stride, depth)))
            self.turned_part = thread.partition_A(fx.make_view(turned, ordered))

    def places(self):
        """(row, column) of this thread's blocks; where they do not come out even, threads share the last.

        Rows with gaps of 16 bytes begin in the same bank when they are eight apart: lanes that write such rows at the
        same time write columns of their own.
        """
        count = OTHERS * self.d // 16
        blocks = fx.make_identity_tensor((TURNED_ROWS, self.d // 4, OTHERS // 4 // TURNED_ROWS))
        found = []
        for iteration in range(-(-count // self.threads)):
            block = fx.min(fx.thread_idx.x + iteration * self.threads, fx.Int32(count - 1))
            low, column, high = fx.get_leaves(blocks[block])
            if self.exchanged:
                column = column ^ low // 2 * TURNED_ROWS
            found.append(((low + high * TURNED_ROWS) * 4, column * 4))
        return found

    def load(self, tensor, start, first, count, dtype):
        """This thread's blocks of rows ``first`` on; behind the last of ``count`` there are zeros."""
        rows, four = sequence_rows(tensor, start, first, count), fx.Vector.make_type(4, dtype)
        return [rows.load(row, column, four, i) for row, column in self.places() for i in range(4)]

    def fill(self, blocks, dtype):
        for iteration, (row, column) in enumerate(self.places()):
            four = blocks[iteration * 4 : iteration * 4 + 4]
            for i in fx.range_constexpr(4):
                four[i].store(self.rows, [row + i, column], alignment=8)
            if fx.const_expr(self.count == self.d):
                self.turn(four, row, column, dtype)
            elif fx.const_expr(self.count > 0):
                if (column >= self.first) & (column < self.first + self.count):
                    self.turn(four, row, column - self.first, dtype)

    def turn(self, four, row, column, dtype):
        for i in fx.range_constexpr(4):
            turned = fx.Vector.from_elements([vector[i] for vector in four], dtype)
            turned.store(self.turned, [column + i, row], alignment=8)


class Waves:
    """The products of a block: fragments of its own rows, tiles of others, and accumulators.

    ``queries`` is the mode of scores that queries are on: 1 for those who own queries, 0 for those who own keys. Scores
    are made with as many others at a time as an instruction has rows, ``high``.
    """

    def __init__(self, queries, plan):
        self.plan, self.queries = plan, queries
        self.instruction = choose_instruction(plan.dtype)
        self.allocator, self.threads = fx.SharedAllocator(), self.instruction.waves * fx.num_warp_threads()
        self.own = self.instruction.waves * self.instruction.queries
        self.tiled = tiled_over(self.instruction, plan.dtype, self.own)
        self.high = self.instruction.queries
        self.x = TileOfOthers(self, plan.d, plan.key_columns)
        self.y = TileOfOthers(self, plan.dv, plan.value_columns if queries == 0 else (0, 0))
        where, scores = fx.make_identity_tensor, (self.high, self.own)
        self.s, self.dp = (self.tiled.make_fragment_C(where(scores)) for _ in range(2))
        self.p, self.ds = (self.tiled.make_fragment_B(where(scores[::-1])) for _ in range(2))
        columns = (plan.key_columns, plan.value_columns)
        self.sums_x, self.sums_y = (self.tiled.make_fragment_C(where((count, self.own))) for _, count in columns)
        self.rows = FragmentRows(self.tiled, fx.thread_idx.x, scores, queries=queries)

    def four(self):
        """A copy of four neighbouring elements: what every instruction has side by side."""
        return fx.make_copy_atom(fx.UniversalCopy64b(), self.plan.dtype)

    @flyc.jit
    def own_rows(self, tensor, start, first, count, d):
        """Fragments of this block's own rows, each lane that of its row; zeros behind the last of ``count``."""
        down = fx.get_scalar(fx.get_(tensor.stride, 0))
        tile = fx.make_view(fx.get_iter(tensor[start + first, None]), fx.make_layout((self.own, d), (down, 1)))
        part = self.tiled.get_slice(fx.thread_idx.x).partition_B(tile)
        held = fx.make_fragment_like(part)
        held.fill(0.0)
        if first + self.own_row() < count:
            fx.copy(self.four(), part, held)
        return held

    def own_row(self):
        """Which of the block's rows is this lane's."""
        return self.rows.query if self.queries == 1 else self.rows.column

    def rows_of(self, number):
        """The rows of scores of a part of the others."""
        rows = copy(self.rows)
        if self.queries == 1:
            rows.column = rows.column + number * self.high
        else:
            rows.query = rows.query + number * self.high
        return rows

    def multiply(self, accumulators, part, operand, steps, first=None):
        """accumulators += part * operand, a step of the instruction's depth after the other; of a turned part those
        from the ``first`` on."""
        atom = copy_of(self.instruction.neighbours, self.plan.dtype) if first is None else self.four()
        for k in fx.range_constexpr(steps):
            a = fx.make_fragment_like(part[None, None, (first or 0) + k])
            fx.copy(atom, part[None, None, (first or 0) + k], a)
            fx.gemm(self.tiled, accumulators, a, operand[None, None, k], accumulators)

    def store(self, sums, scale, tensor, start, first, count, columns):
        """A lane's row to memory, runs of neighbouring elements at a time."""
        rows = FragmentRows(self.tiled, fx.thread_idx.x, (columns[1], self.own), queries=1)
        values = (rows.split(sums.load())[0] * scale).to(self.plan.dtype)
        store_row(values, rows, tensor, start, first + rows.query, start + count, columns[0])


@flyc.jit
def store_row(values, rows, tensor, start, row, end, column):
    if start + row < end:
        line = tensor[start + row, None]
        for first in fx.range_constexpr(0, values.numel, 4):
            four = values.shuffle(values, range(first, first + 4))
            four.store(line, [column + rows.column + rows.columns[0][first]], alignment=8)


@flyc.jit
def meet(mine, own, others, piece, block, plain, levels, extras, numbers, both):
    """One tile of others, whose elements are in registers: scores, what they weigh, and the sums that they add to.

    ``levels`` gives the logarithms (0) or deltas (1) of this lane's queries, when they are needed.
    """
    plan, (x, y) = mine.plan, others
    fx.rocdl.s_waitcnt(vmcnt=0)  # once, and not for every load
    fx.rocdl.lds_barrier()  # everyone has multiplied the tile before
    mine.x.fill(x, plan.dtype)
    mine.y.fill(y, plan.dtype)
    fx.rocdl.lds_barrier()
    for number in fx.range_constexpr(OTHERS // mine.high):
        meet_part(mine, own, number, piece, block, plain, levels, extras, numbers, both)


@flyc.jit
def meet_part(mine, own, number, piece, block, plain, levels, extras, numbers, both):
    """A part of a tile of others that is in shared memory."""
    plan, depth, rows, (a, b) = mine.plan, mine.instruction.depth, mine.rows_of(number), own
    steps = mine.high // depth
    mine.s.fill(0.0)
    mine.multiply(mine.s, mine.x.rows_parts[number], a, plan.d // depth)
    powers, slopes = powers_of_scores(
        mine.s.load(), rows, piece, block, plain, levels(rows, 0), extras, numbers, plan
    )  # fmt: skip
    # Each product is done before the next begins, since not all of their operands fit into the registers.
    if fx.const_expr(both):
        mine.p.store(rows.join(powers).to(plan.dtype).reshape(mine.p.shape))
        mine.multiply(mine.sums_y, mine.y.turned_part, mine.p, steps, number * steps)
    if fx.const_expr(both or len(plan.parts) > 1):
        fx.rocdl.sched_barrier(0)
    mine.dp.fill(0.0)
    mine.multiply(mine.dp, mine.y.rows_parts[number], b, plan.dv // depth)
    ds = gradients_of_scores(powers, rows.split(mine.dp.load()), levels(rows, 1), slopes)
    mine.ds.store(rows.join(ds).to(plan.dtype).reshape(mine.ds.shape))
    mine.multiply(mine.sums_x, mine.x.turned_part, mine.ds, steps, number * steps)


def levels_of(line, rows, which):
    """The logarithms or deltas of a lane's queries, where a lane has many."""
    return [line[which * OTHERS + rows.query + row] for row in rows.rows]


# Kernels -------------------------------------------------------------------------------------------


@flyc.kernel
def queries_kernel(
    tensors: Any, stats: Any, dQ: Any, extras: Any, lengths: Any, numbers: Any, extents: Any, window: Any,
    per_kv: fx.Int32, plan: fx.Constexpr,
):  # fmt: skip
    """dQ of a tile of queries. ``stats`` has logarithms and deltas of each `OTHERS` queries."""
    tile, head, batch = fx.block_idx
    # The last queries see most keys: they go first.
    piece = piece_of(fx.grid_dim.x - 1 - tile, head, batch, lengths, extents, window, plan)
    if piece.first < piece.queries:
        place = fx.Int32(0) if fx.const_expr(lengths is not None) else batch
        slot = batch * fx.ceildiv(piece.queries, OTHERS)
        if fx.const_expr(lengths is not None):
            slot = piece.query_start // OTHERS + batch
        Q, K, V, dO = (tensor[place, at, None, None] for tensor, at in zip(
            tensors, (head, head // per_kv, head // per_kv, head), strict=True))  # fmt: skip
        mine = Waves(1, plan)
        own = [mine.own_rows(tensor, piece.query_start, piece.first, piece.queries, d)
               for tensor, d in ((Q, plan.d), (dO, plan.dv))]  # fmt: skip
        query = fx.min(piece.first + mine.own_row(), piece.queries - 1)
        line = stats[(slot + query // OTHERS) * fx.grid_dim.y + head, None]
        own_levels = ([line[query % OTHERS]], [line[OTHERS + query % OTHERS]])
        levels = lambda _, which: own_levels[which]  # noqa: E731
        mine.sums_x.fill(0.0)
        for block in range(piece.begin, fx.min(piece.end, fx.ceildiv(piece.band.length, plan.keys))):
            first = block * plan.keys
            others = [tile.load(tensor, piece.key_start, first, piece.band.length, plan.dtype)
                      for tile, tensor in ((mine.x, K), (mine.y, V))]  # fmt: skip
            plain = (block >= piece.plain_begin) & (block < piece.plain_end)
            meet(mine, own, others, piece, block, plain, levels, extras, numbers, False)
        target = dQ[place, head, None, None]
        mine.store(mine.sums_x, numbers[1], target, piece.query_start, piece.first, piece.queries, plan.key_columns)


@flyc.kernel
def keys_kernel(
    tensors: Any, stats: Any, grads: Any, extras: Any, lengths: Any, numbers: Any, extents: Any, window: Any,
    per_kv: fx.Int32, plan: fx.Constexpr,
):  # fmt: skip
    """dK and dV of a tile of keys, over the queries of all heads that share them."""
    tile, kv, batch = fx.block_idx
    span, slot = span_of(tile, kv * per_kv, batch, lengths, extents, window, plan)
    heads, first = fx.grid_dim.y * per_kv, tile * plan.keys
    if first < span.band.length:
        place = fx.Int32(0) if fx.const_expr(lengths is not None) else batch
        Q, K, V, dO = (tensor[place, None, None, None] for tensor in tensors)
        mine = Waves(0, plan)
        own = [mine.own_rows(tensor[kv, None, None], span.key_start, first, span.band.length, d)
               for tensor, d in ((K, plan.d), (V, plan.dv))]  # fmt: skip
        mine.sums_x.fill(0.0)
        mine.sums_y.fill(0.0)
        for head in range(span.head, span.head + per_kv):
            for i in range(span.begin, span.end):
                piece = piece_at(span, head, i, plan)
                others = [tile.load(tensor[head, None, None], span.query_start, piece.first, span.queries, plan.dtype)
                          for tile, tensor in ((mine.x, Q), (mine.y, dO))]  # fmt: skip
                line = stats[(slot + i) * heads + head, None]
                plain = (i >= span.plain_begin) & (i < span.plain_end)
                meet(mine, own, others, piece, tile, plain, partial(levels_of, line), extras, numbers, True)
        for sums, scale, grad, columns in (
            (mine.sums_x, numbers[1], grads[0], plan.key_columns),
            (mine.sums_y, 1.0, grads[1], plan.value_columns),
        ):
            target = grad[place, kv, None, None]
            mine.store(sums, scale, target, span.key_start, first, span.band.length, columns)


def wave_backward(
    tensors: Any, grads: Any, stats: Any, extras: Any, lengths: Any, numbers: Any, window: Any, batches: Any,
    longest: Any, plan: Any, stream: Any,
) -> None:  # fmt: skip
    """Launch both kernels, in a jit function. ``tensors`` are Q, K, V, dO; ``longest`` are of queries and of keys."""
    Q, K, _, _ = tensors
    dQ, *others = grads
    instruction = choose_instruction(plan.dtype)
    heads, kv_heads = fx.Int32(Q.shape[1]), fx.Int32(K.shape[1])
    own = instruction.waves * instruction.queries
    given = (extras, lengths, numbers, (fx.Int32(Q.shape[2]), fx.Int32(K.shape[2])), window, heads // kv_heads)
    block = (instruction.waves * fx.num_warp_threads(), 1, 1)
    attrs = waves_beside(instruction, plan.d + plan.dv)
    queries_kernel(tensors, stats, dQ, *given, replace(plan, queries=own, keys=OTHERS), value_attrs=attrs).launch(
        grid=(fx.ceildiv(longest[0], own), heads, batches), block=block, stream=stream
    )
    attrs = waves_beside(instruction, plan.d + plan.dv + plan.features.scale_first * CHANGED)
    keys_kernel(
        tensors, stats, tuple(others), *given, replace(plan, queries=OTHERS, keys=own), value_attrs=attrs
    ).launch(grid=(fx.ceildiv(longest[1], own), kv_heads, batches), block=block, stream=stream)


def wave_plan(plan: BackwardPlan) -> BackwardPlan:
    """Return the plan with as many columns for a launch as registers have sums for, where heads are long."""
    instruction = choose_instruction(plan.dtype)
    if max(plan.d, plan.dv) <= plan.widest:
        return plan
    return replace(plan, widest=instruction.results * fx.num_warp_threads() // (2 * instruction.queries))


WAVE_PLAN = BackwardPlan(fx.Float16, 64, 64, queries=OTHERS)
"""What the rows before the kernels are made for; targets know their tiles themselves."""
