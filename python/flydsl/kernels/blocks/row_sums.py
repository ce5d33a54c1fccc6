"""Sums over the rows of a block, where rows begin anywhere in a piece and come through a ring (`row_ring.py`).

A run is all rows of a block, or those of one place in a piece where it has several. All of its rows begin at one place,
so that a thread has the same columns of each and keeps their sums. A row is gone over twice. Its first pass comes
before the second one of the row ahead of it: what waves tell each other is on its way meanwhile, and nobody waits.
Short rows have a wave each, which sends for those to come itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.exchange import RowExchange
from flydsl.kernels.blocks.ring_lines import KeptLine
from flydsl.kernels.blocks.row_machine import machine_of_target
from flydsl.kernels.blocks.row_pieces import LineAtPlace, ShiftedShare, place_of
from flydsl.kernels.blocks.row_plan import SENDING, RowPlan, taking_limit
from flydsl.kernels.blocks.row_ring import Ring, RingLine, RingRow, Run, store_from_ring
from flydsl.kernels.blocks.row_work import RowArrays, RowWork
from flydsl.kernels.blocks.rows import Line, Share, row_start

FirstPass = Callable[[RowWork, list[Any], Callable[[], None]], tuple[list[Any], list[Any]]]
"""``first(work, sums, meanwhile)`` gives the sums with what the row adds to them, and numbers whose totals over the
row... It calls ``meanwhile`` behind its last loads: what that waits for comes beside arithmetic."""
SecondPass = Callable[[RowWork, list[Any]], None]
"""``second(work, totals)`` needs to write results."""


@flyc.jit
def sum_in_ring(
    arrays: RowArrays, end: fx.Int32, plan: RowPlan, passes: tuple[FirstPass, SecondPass], smem: fx.SharedAllocator,
    give: Callable[[list[Any], Share, Any, Any], None],
) -> None:  # fmt: skip
    """`for_rows_in_turn` for rows that come through a ring: those threads that take them ``give`` their sums to a row
    of partial sums, with memory that these may meet in, if there is some."""
    exchange = RowExchange(plan, arrays.numbers, smem)
    ring = Ring(arrays.sources, end, plan, smem)
    if fx.const_expr(plan.rows > 1):
        share, sums = _share_of(arrays, ring, ring.begin), _no_sums(plan)
        if ring.begin < end:
            for number in fx.range_constexpr(plan.slots):
                ring.send_for_own(ring.begin + number * ring.step, fx.Int32(number))
            sums = _sums_from_ring(
                arrays, ring, Run(ring.begin, end, ring.step, fx.Int32(0), None), share, exchange, passes
            )
        give(sums, share, None, fx.block_idx.x)
    else:
        if fx.thread_idx.x >= plan.lanes:
            if fx.const_expr(plan.lends):
                fx.nvvm.setmaxnreg(SENDING, increase=False)
            if fx.thread_idx.x == plan.lanes:
                ring.send_for_all()
        else:
            if fx.const_expr(plan.lends):
                fx.nvvm.setmaxnreg(taking_limit(plan, machine_of_target(), len(arrays.lines)), increase=True)
            begun = exchange.begun()  # rows are on their way meanwhile
            ring.for_each_run(lambda run: _sum_run(arrays, ring, run, begun, passes, give))


@flyc.jit
def _sum_run(
    arrays: RowArrays, ring: Ring, run: Run, exchange: RowExchange, passes: tuple[FirstPass, SecondPass],
    give: Callable[[list[Any], Share, Any, Any], None],
) -> None:  # fmt: skip
    """Give the sums over a run's rows: zeros where it has none, as it may have where a block has several."""
    plan, share = ring.plan, _share_of(arrays, ring, run.first)
    if fx.const_expr(plan.one_place):
        done = lambda sums: give(sums, share, None, run.sums)  # noqa: E731
        if run.first < run.stop:
            _sums_from_ring(arrays, ring, run, share, exchange, passes, done)
        else:
            done(_no_sums(plan))
    else:
        give(_sums_from_ring(arrays, ring, run, share, exchange, passes), share, ring.meeting(), run.sums)


def _share_of(arrays: RowArrays, ring: Ring, row: Any) -> ShiftedShare:
    """Return the part that this thread has of rows that begin where ``row`` does in a piece."""
    place = place_of(row_start(arrays.sources[0], row), ring.plan) if ring.plan.shifted else fx.Int32(0)
    return ShiftedShare(ring.plan, place, steady=True)


def _no_sums(plan: RowPlan) -> list[Any]:
    return [fx.Vector.filled(plan.width, 0.0, fx.Float32) for _ in range(plan.sums * plan.iterations)]


@flyc.jit
def _sums_from_ring(
    arrays: RowArrays, ring: Ring, run: Run, share: ShiftedShare, exchange: RowExchange,
    passes: tuple[FirstPass, SecondPass], done: Callable[[list[Any]], None] | None = None,
) -> list[Any]:  # fmt: skip
    """Return the sums over the rows of a run, which all begin at one place in a piece. ``done`` is called with them
    when the first pass over the last row is: what a cluster's waves tell each other is on its way then.

    A row's first pass comes before the second one of the row before it: what waves tell each other is on its way then.
    """
    plan, step = ring.plan, run.step
    kept = [LineAtPlace(line, share) for line in arrays.lines]

    def work(index: Any, number: Any, numbers: list[Any], *, is_here: bool) -> tuple[RingRow, RowWork]:
        row = RingRow(ring, index, number, is_here=is_here)
        x: list[Line] = [RingLine(row, source, share, arrays.fill) for source in range(len(arrays.sources))]
        lines: list[Line] = [KeptLine(line, index) for line in kept]
        stores = [store_from_ring(target, row, share) for target in arrays.targets]
        return row, RowWork(x, lines, exchange.row(number), share, index, True, stores, numbers, index < 0)

    def given(index: Any) -> list[Any]:
        return [values[fx.min(fx.Int32(index), ring.end - 1)] for values in arrays.given]

    def begin_row(
        index: Any, number: Any, numbers: list[Any], sums: list[Any], ahead: list[Any] | None = None
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """Go over a row for the first time; the sums, what was sent, and the totals of what the row ahead has sent."""
        totals: list[Any] = []

        def meanwhile() -> None:
            if ahead is not None:
                totals.extend(exchange.row(number - 1).received(ahead))

        _, own = work(index, number, numbers, is_here=False)
        sums, values = passes[0](own, sums, meanwhile)
        return sums, own.exchange.send(values), totals

    def end_row(index: Any, number: Any, numbers: list[Any], totals: list[Any]) -> None:
        row, own = work(index, number, numbers, is_here=True)
        passes[1](own, totals)
        if fx.const_expr(plan.rows > 1):
            ring.send_for_own(index + plan.slots * step, number)
        else:
            row.give_back(plan.iterations)

    sums = _no_sums(plan)
    last, number, numbers, following = fx.Int32(run.first), run.number, given(run.first), given(run.first + step)
    sums, sent, _ = begin_row(last, number, numbers, sums)
    for index in range(run.first + step, run.stop, step):
        behind = given(index + step)
        sums, own, totals = begin_row(index, number + 1, following, sums, sent)
        end_row(last, number, numbers, totals)
        number = number + 1
        last, numbers, following, sent = fx.Int32(index), following, behind, own
    if fx.const_expr(done is not None):
        done(sums)
    end_row(last, number, numbers, exchange.row(number).received(sent))
    return sums


@flyc.jit
def settle(work: RowWork, values: list[Any], place: Any) -> None:
    """Have sums be added up before what follows, where rows are read again; ``place`` is never written.

    LLVM puts off what is needed at the end of a loop's round behind the branches before that end: all that is added
    would wait in registers, which rows of that kind have too few of.
    """
    if fx.const_expr(work.never is not False):
        if work.never:
            place[0] = sum((vector.reduce("add") for vector in values[1:]), values[0].reduce("add"))
