"""What surrounds the backward kernel of attention, row by row: deltas before it, and the sums of dQ turned into dQ.

The workspace has a place for each tile of queries and head: the logarithms of its rows and then their deltas, and its
part of dQ in f32, in the order of the registers that hold it. Sequences of different lengths have places of their own.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.backward_tiles import BackwardPlan
from flydsl.kernels.attention.hopper_backward import sums_of_queries
from flydsl.kernels.attention.hopper_forward import WARPGROUP
from flydsl.kernels.attention.scores import LOG2_E, add, folded, over_lanes

LANES = 4
"""Threads that share a row."""
PIECE = 8
"""Elements that a thread reads or writes at a time."""
LEAST_LOGARITHM = -(2.0**22)
"""Below it an f32 has no digits for the fraction, and powers relative to it are not known: such rows have no gradient.
They see no key, or only those that a mask of huge numbers hides."""


def wait_for_the_kernel_before():
    """A launch may begin while the one before it ends, where there is such a thing."""
    if fx.nvvm.is_target():
        fx.nvvm.griddepcontrol_launch_dependents()
        fx.nvvm.griddepcontrol_wait()


@flyc.jit
def rows_at(tile, head, batch, lengths, longest, plan):
    """(the tensors' batch, first row, end of rows, place in the workspace) of a tile of queries."""
    slot = batch * fx.ceildiv(longest, plan.queries) + tile
    first, end = tile * plan.queries, longest
    if fx.const_expr(lengths is not None):
        start = lengths[0][batch]
        slot = start // plan.queries + batch + tile
        first, end, batch = first + start, lengths[0][batch + 1], fx.Int32(0)
    return batch, first, end, slot * fx.grid_dim.y + head


@flyc.kernel
def before_kernel(
    out: Any, dout: Any, lse: Any, stats: Any, sums: Any, counters: Any, lengths: Any, longest: fx.Int32,
    plan: fx.Constexpr,
):  # fmt: skip
    """Logarithms to the base of two and deltas of a tile; sums and counters become zero.

    Rows below `LEAST_LOGARITHM`, and those behind the end, have the logarithm infinity: all their powers are zero.
    """
    wait_for_the_kernel_before()
    tile, head, batch = fx.block_idx
    place, first, end, slot = rows_at(tile, head, batch, lengths, longest, plan)
    if first < end:
        row, lane = first + fx.thread_idx.x // LANES, fx.thread_idx.x % LANES
        at = fx.min(row, end - 1)
        lines = [tensor[place, head, at, None] for tensor in (out, dout)]
        kind = fx.Vector.make_type(PIECE, plan.dtype)
        total = fx.full(PIECE, 0.0, fx.Float32)
        for i in fx.range_constexpr(plan.dv // PIECE // LANES):
            a, b = (
                fx.Vector.load(kind, line, [(i * LANES + lane) * PIECE], alignment=16).to(fx.Float32) for line in lines
            )
            total = total + a * b
        delta = over_lanes(folded(total, add), add, (1, 2))
        logarithm = lse[place, head, at] * LOG2_E
        unseen = (row >= end) | (logarithm < LEAST_LOGARITHM)
        if lane == 0:
            stats[slot, fx.thread_idx.x // LANES] = unseen.select(fx.Float32(float("inf")), logarithm)
            stats[slot, plan.queries + fx.thread_idx.x // LANES] = (row >= end).select(fx.Float32(0.0), delta)
        if fx.const_expr(sums is not None):
            zeros, threads = fx.full(4, 0.0, fx.Float32), plan.queries * LANES
            for i in fx.range_constexpr(plan.sums // LANES // 4):
                zeros.store(sums[slot, None], [(i * threads + fx.thread_idx.x) * 4], alignment=16)
        if fx.const_expr(counters is not None):
            if fx.thread_idx.x < plan.consumers:
                counters[slot * plan.consumers + fx.thread_idx.x] = 0


@flyc.kernel
def after_kernel(sums: Any, dQ: Any, lengths: Any, longest: fx.Int32, scale: fx.Float32, plan: fx.Constexpr):
    """The sums of a tile, times ``scale``, to dQ. They are in the order of fragments, and go through shared memory."""
    wait_for_the_kernel_before()
    tile, head, batch = fx.block_idx
    place, first, end, slot = rows_at(tile, head, batch, lengths, longest, plan)
    thread, threads = fx.thread_idx.x, plan.consumers * WARPGROUP
    pitch = plan.sums + 4
    storage = fx.SharedAllocator().allocate(fx.Array[fx.Float32, plan.queries * pitch, 16]).ptr
    shape, stride = (plan.queries, plan.sums), (pitch, 1)
    rows = fx.make_view(storage, fx.make_layout(shape, stride))
    turned = fx.make_view(storage, fx.make_layout(shape[::-1], stride[::-1]))
    if first < end:
        mine = sums_of_queries(plan).get_slice(thread).partition_C(turned if plan.transposed else rows)
        each, four = plan.share // WARPGROUP, fx.Vector.make_type(4, fx.Float32)
        start = thread // WARPGROUP * plan.share + thread % WARPGROUP * 4
        for i in fx.range_constexpr(each // 4):
            values = fx.Vector.load(four, sums[slot, None], [start + i * 4 * WARPGROUP], alignment=16)
            for j in fx.range_constexpr(4):
                mine[4 * i + j] = values[j]
        fx.barrier()
        pieces = plan.d // PIECE
        for i in range(thread, plan.queries * pieces, threads):
            if first + i // pieces < end:
                line = rows[i // pieces, None]
                found = fx.Vector.load(fx.Vector.make_type(PIECE, fx.Float32), line, [i % pieces * PIECE], alignment=16)
                target = dQ[place, head, first + i // pieces, None]
                (found * scale).to(plan.dtype).store(target, [i % pieces * PIECE], alignment=16)


def tile_grid(longest: Any, heads: Any, batches: Any, plan: BackwardPlan) -> tuple[Any, Any, Any]:
    return fx.ceildiv(longest, plan.queries), heads, batches
