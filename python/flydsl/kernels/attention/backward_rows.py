"""What surrounds the backward kernel of attention, row by row: deltas before it, and sums turned into gradients.

The workspace has a place for each tile of queries and head: the logarithms of its rows and then their deltas, and its
part of dQ in f32, in the order of the registers that hold it. Sequences of different lengths have places of their own.
Where several blocks share a tile of keys, it also has dK and dV of each, as (part, batch, heads, keys, d) in f32.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.backward_tiles import BackwardPlan
from flydsl.kernels.attention.hopper_backward import order_of_sums, sums_of_queries
from flydsl.kernels.attention.hopper_forward import WARPGROUP
from flydsl.kernels.attention.scores import folded, over_lanes
from flydsl.kernels.attention.tiles import start_of
from flydsl.kernels.blocks.activation import LOG2_E
from flydsl.kernels.blocks.reduce import add

LANES = 4
"""Threads that share a row."""
PIECE = 8
"""Elements that a thread reads or writes at a time."""
ADDED, ADDERS = 16, 256
"""Rows of parts that a block adds up, and its threads."""
OUTSIDE = 8
"""Blocks of a head that set rows of no sequence to zero."""
TOGETHER = 4
"""Parts that are on their way at the same time."""
LEAST_LOGARITHM = -(2.0**22)
"""Below it an f32 has no digits for the fraction, and powers relative to it are not known: such rows have no gradient.
They see no key, or only those that a mask of huge numbers hides."""


def wait_for_the_kernel_before():
    """A launch may begin while the one before it ends, where there is such a thing."""
    if fx.nvvm.is_target():
        fx.nvvm.griddepcontrol_launch_dependents()
        fx.nvvm.griddepcontrol_wait()


@flyc.jit
def rows_at(tile, head, batch, lengths, longest, tokens, plan):
    """(the tensors' batch, first row, end of rows, place in the workspace) of a tile of queries."""
    slot = batch * fx.ceildiv(longest, plan.unit) * plan.pair + tile
    first, end = tile * plan.queries, longest
    if fx.const_expr(lengths is not None):
        start, end = (start_of(lengths[0], batch + other, fx.Int32(tokens)) for other in (0, 1))
        slot = (start // plan.unit + batch) * plan.pair + tile
        first, batch = first + start, fx.Int32(0)
    return batch, first, end, slot * fx.grid_dim.y + head


def pieces_of_rows(plan: BackwardPlan) -> Any:
    """Return how threads share the rows of a tile, `LANES` each, piece by piece."""
    threads, values = fx.make_layout((plan.queries, LANES), (LANES, 1)), fx.make_layout((1, PIECE), (0, 1))
    return fx.make_tiled_copy_tv(fx.make_copy_atom(fx.UniversalCopy128b(), plan.dtype), threads, values)


@flyc.kernel
def before_kernel(
    out: Any, dout: Any, lse: Any, stats: Any, sums: Any, counters: Any, lengths: Any, longest: fx.Int32,
    plan: fx.Constexpr,
):  # fmt: skip
    """Logarithms to the base of two and deltas of a tile; sums and counters become zero.

    Rows below `LEAST_LOGARITHM`, and those behind the end, have the logarithm infinity: all their powers are zero. A
    tile of a pair may have only such rows.
    """
    wait_for_the_kernel_before()
    tile, head, batch = fx.block_idx
    place, first, end, slot = rows_at(tile, head, batch, lengths, longest, out.shape[2], plan)
    thread, threads = fx.thread_idx.x, plan.queries * LANES
    if first - tile % plan.pair * plan.queries < end:
        own = pieces_of_rows(plan).get_slice(thread)
        places = own.partition_S(fx.make_identity_tensor((plan.queries, plan.dv)))
        line, column = (fx.Int32(part) for part in fx.get_leaves(places[0]))
        row = first + line
        at = fx.min(row, end - 1)
        same = fx.make_layout((plan.queries, plan.dv), (0, 1))  # each thread's row is a line of its own
        starts = [fx.get_iter(tensor[place, head, at, None]).aligned(16) for tensor in (out, dout)]
        parts = [own.partition_S(fx.make_view(start, same)) for start in starts]
        total = fx.full(PIECE, 0.0, fx.Float32)
        for i in fx.range_constexpr(plan.dv // PIECE // LANES):
            a, b = (part[None, 0, i].load().reshape((PIECE,)).to(fx.Float32) for part in parts)
            total = total + a * b
        delta = over_lanes(folded(total, add), add, (1, 2))
        logarithm = lse[place, head, at] * LOG2_E
        unseen = (row >= end) | (logarithm < LEAST_LOGARITHM)
        if column == 0:
            stats[slot, line] = unseen.select(fx.Float32(float("inf")), logarithm)
            stats[slot, plan.queries + line] = (row >= end).select(fx.Float32(0.0), delta)
        if fx.const_expr(sums is not None):
            columns = len(plan.pieces) * plan.sums
            fours = fx.make_layout((4, columns // LANES // 4, threads), (1, 4 * threads, 4))
            fx.make_view(fx.get_iter(sums[slot, None]).aligned(16), fours)[None, None, thread].fill(0.0)
        if fx.const_expr(counters is not None):
            count = len(plan.pieces) * plan.consumers
            if thread < count:
                counters[slot * count + thread] = 0


@flyc.kernel
def after_kernel(sums: Any, dQ: Any, lengths: Any, longest: fx.Int32, scale: fx.Float32, plan: fx.Constexpr):
    """The sums of a tile, times ``scale``, to columns of dQ; they go through shared memory, into rows."""
    wait_for_the_kernel_before()
    tile, head, batch = fx.block_idx
    place, first, end, slot = rows_at(tile, head, batch, lengths, longest, dQ.shape[2], plan)
    thread, threads = fx.thread_idx.x, plan.consumers * WARPGROUP
    pitch = plan.sums + 4
    storage = fx.SharedAllocator().allocate(fx.Array[fx.Float32, plan.queries * pitch, 16]).ptr
    shape, stride = (plan.queries, plan.sums), (pitch, 1)
    if fx.const_expr(plan.transposed):
        shape, stride = shape[::-1], stride[::-1]
    if first < end:
        mine = sums_of_queries(plan).get_slice(thread).partition_C(fx.make_view(storage, fx.make_layout(shape, stride)))
        for number, (column, count) in enumerate(plan.pieces):
            if fx.const_expr(number > 0):
                fx.barrier()
            start = fx.get_iter(sums[slot, None]) + number * plan.queries * plan.sums
            mine.store(fx.make_view(start.aligned(16), order_of_sums(plan))[None, None, thread].load())
            fx.barrier()
            shape = (PIECE, count // PIECE, plan.queries)
            pieces = fx.make_view(storage, fx.make_layout(shape, (1, PIECE, pitch)))
            order = fx.make_layout(shape[1:], (1, shape[1]))
            for i in range(thread, shape[1] * shape[2], threads):
                piece, row = (fx.Int32(part) for part in fx.get_leaves(fx.idx2crd(i, order)))
                if first + row < end:
                    found = (pieces[None, piece, row].load() * scale).to(plan.dtype)
                    found.store(dQ[place, head, first + row, None], [column + piece * PIECE], alignment=16)


@flyc.kernel
def add_kernel(parts: Any, grads: Any, lengths: Any, batches: fx.Int32, plan: fx.Constexpr):
    """Rows of dK and dV: the sums of their parts, from the first to the last, so that the same bits come out each
    time. Of sequences of different lengths, rows before the first one and behind the last one are nobody's."""
    wait_for_the_kernel_before()
    tile, head, batch = fx.block_idx
    first, end = tile * ADDED, fx.Int32(grads[0].shape[2])
    if fx.const_expr(lengths is not None):
        start, end = (start_of(lengths[1], number, end) for number in (0, batches))
        first = first + start
    eight = fx.Vector.make_type(PIECE, fx.Float32)
    for found, grad, columns in zip(parts, grads, (plan.d, plan.dv), strict=True):
        order = fx.make_layout((columns // PIECE, ADDED), (1, columns // PIECE))
        for i in range(fx.thread_idx.x, columns // PIECE * ADDED, ADDERS):
            piece, row = (fx.Int32(part) for part in fx.get_leaves(fx.idx2crd(i, order)))
            row, column = first + row, piece * PIECE
            if row < end:
                total, count = fx.full(PIECE, 0.0, fx.Float32), fx.Int32(found.shape[0])
                for start in range(0, count, TOGETHER):
                    lines = [found[fx.min(start + i, count - 1), batch, head, row, None] for i in range(TOGETHER)]
                    values = [fx.Vector.load(eight, line, [column], alignment=16) for line in lines]
                    for i in fx.range_constexpr(TOGETHER):
                        total = (start + i < count).select(total + values[i], total)
                total.to(plan.dtype).store(grad[batch, head, row, None], [column], alignment=16)


def tile_grid(longest: Any, heads: Any, batches: Any, plan: BackwardPlan) -> tuple[Any, Any, Any]:
    return fx.ceildiv(longest, plan.unit) * plan.pair, heads, batches


@flyc.kernel
def outside_kernel(grads: Any, starts: Any, batches: fx.Int32, plan: fx.Constexpr):
    """Rows of dQ, dK and dV that lie before the first sequence, or behind the last one, become zero."""
    wait_for_the_kernel_before()
    block, head, _ = fx.block_idx
    nothing = fx.full(PIECE, 0.0, fx.Float32).to(plan.dtype)
    for grad, own, size in zip(grads, starts, (plan.d, plan.d, plan.dv), strict=True):
        tokens, columns = fx.Int32(grad.shape[2]), size // PIECE
        first, end = (start_of(own, number, tokens) for number in (0, batches))
        rows = first + tokens - end
        if head < fx.Int32(grad.shape[1]):
            for i in range(fx.Int64(block * ADDERS + fx.thread_idx.x), fx.Int64(rows) * columns, OUTSIDE * ADDERS):
                row, piece = fx.Int32(i // columns), fx.Int32(i % columns)
                row = (row < first).select(row, row - first + end)
                nothing.store(grad[0, head, row, None], [piece * PIECE], alignment=16)
