"""Rows that come through a ring (`row_ring.py`), handed to the code of a kernel: one after the other, or the first pass
over each before the second over the one ahead of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.exchange import RowExchange, block_barrier
from flydsl.kernels.blocks.ring_lines import ring_lines
from flydsl.kernels.blocks.row_pieces import ShiftedShare, place_of
from flydsl.kernels.blocks.row_plan import RowPlan
from flydsl.kernels.blocks.row_ring import Ring, RingLine, RingRow, Run, store_from_ring
from flydsl.kernels.blocks.row_work import RowArrays, RowCode, RowWork
from flydsl.kernels.blocks.rows import Line, Share, row_start


@flyc.jit
def for_rows_in_ring(
    arrays: RowArrays, end: fx.Int32, plan: RowPlan, smem: fx.SharedAllocator, code: RowCode, begin: RowCode | None
) -> None:
    """Run ``code`` for the rows of this block, of all ``end`` rows."""
    ring = Ring(arrays.sources, end, plan, smem, plan.pivots if arrays.pivot else 0)
    exchange = RowExchange(plan, arrays.numbers, smem)
    if fx.thread_idx.x >= plan.lanes:
        if fx.thread_idx.x == plan.lanes:
            ring.send_for_all(len(arrays.lines))  # before the other blocks of a cluster have begun
    else:
        if fx.const_expr(plan.overlaps):
            _take_two_at_a_time(arrays, ring, exchange, smem, code, begin)
        else:
            _take_from_ring(arrays, ring, exchange, smem, code)


@flyc.jit
def _take_from_ring(
    arrays: RowArrays, ring: Ring, exchange: RowExchange, smem: fx.SharedAllocator, code: RowCode
) -> None:
    plan, source = ring.plan, arrays.sources[0]
    once = plan.in_order or not plan.one_place
    exchange = exchange if once else exchange.begun()

    def at_place(run: Run) -> Callable[[Any, Any], None]:
        share = ShiftedShare(plan, place_of(row_start(source, run.first), plan)) if plan.one_place else Share(plan)
        lines = ring_lines(arrays.lines, plan, share, smem, lambda: ring.lines_begun(run))
        if plan.shifted and not plan.one_place and arrays.lines:
            block_barrier(plan)  # the tables of lines are filled
        told = exchange.begun() if once else exchange  # behind the loads of lines, where that is there but once

        def take(index: Any, number: Any) -> None:
            row = RingRow(ring, index, number)
            code(_work_in_ring(arrays, row, lines, told.row(number)))
            row.give_back(plan.iterations)

        return take

    ring.for_each_row(at_place)


@flyc.jit
def _take_two_at_a_time(
    arrays: RowArrays, ring: Ring, exchange: RowExchange, smem: fx.SharedAllocator, code: RowCode, begin: RowCode
) -> None:
    """Have the first pass over each row come before the second over the one ahead of it."""
    plan, end, step = ring.plan, ring.end, ring.step
    run = Run(ring.begin, end, step, fx.Int32(0))
    lines = ring_lines(arrays.lines, plan, Share(plan), smem, lambda: ring.lines_begun(run))
    exchange = exchange.begun()

    def work(index: Any, number: Any, begun: bool) -> tuple[RingRow, RowWork]:
        row = RingRow(ring, index, number, is_here=begun)
        return row, replace(_work_in_ring(arrays, row, lines, exchange.row(number)), begun=begun)

    def end_row(index: Any, number: Any) -> None:
        row, own = work(index, number, True)
        code(own)
        row.give_back(plan.iterations)

    if ring.begin < end:
        last, number = fx.Int32(ring.begin), fx.Int32(0)
        begin(work(last, number, False)[1])
        for index in range(ring.begin + step, end, step):
            begin(work(index, number + 1, False)[1])
            end_row(last, number)
            last, number = fx.Int32(index), number + 1
        end_row(last, number)


def _work_in_ring(
    arrays: RowArrays, row: RingRow, lines: Callable[[Share, Any], list[Line]], exchange: RowExchange
) -> RowWork:
    plan = row.ring.plan
    start = row_start(arrays.sources[0], row.row)
    share = ShiftedShare(plan, place_of(start, plan)) if plan.shifted else Share(plan)
    x: list[Line] = [RingLine(row, number, share, arrays.fill) for number in range(len(arrays.sources))]
    stores = [store_from_ring(target, row, share) for target in arrays.targets]
    return RowWork(x, lines(share, row.row), exchange, share, row.row, True, stores)
