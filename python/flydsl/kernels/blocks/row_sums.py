"""Sums over the rows of a block, where rows begin anywhere in a piece and come through a ring (`row_ring.py`).

A run is all rows of a block, or those of one place in a piece where it has several. All of its rows begin at one place,
so that a thread has the same columns of each and keeps their sums, which move on between runs (`Edges`). A row is gone
over twice. Its first pass comes before the second one of the row ahead of it: what waves tell each other is on its way
meanwhile, and nobody waits. Short rows have a wave each, which sends for those to come itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.exchange import RowExchange, block_barrier
from flydsl.kernels.blocks.reduce import wave_count
from flydsl.kernels.blocks.ring_lines import KeptLine, kept_iterations, lines_near
from flydsl.kernels.blocks.row_machine import machine_of_target
from flydsl.kernels.blocks.row_pieces import WAVE, LineAtPlace, ShiftedShare, place_of
from flydsl.kernels.blocks.row_plan import RowPlan
from flydsl.kernels.blocks.row_resources import sending_registers, taking_limit, widens_lines
from flydsl.kernels.blocks.row_ring import Ring, RingLine, RingRow, Run, store_from_ring
from flydsl.kernels.blocks.row_work import RowArrays, RowWork
from flydsl.kernels.blocks.rows import Line, Share, row_start

NOWHERE = -1
"""Where rows begin in a piece, before there was one."""
FirstPass = Callable[[RowWork, list[Any]], tuple[list[Any], list[Any]]]
"""``first(work, sums)`` gives the sums with what the row adds to them, and numbers whose totals over the row..."""
SecondPass = Callable[[RowWork, list[Any]], None]
"""``second(work, totals)`` needs to write results."""


class Begun(NamedTuple):
    """A row that was gone over once."""

    index: Any
    """Which row of the matrices it is."""
    where: list[Any]
    """Its place in the ring."""
    told: list[Any]
    """The set of slots of its exchange, and their phase."""
    sent: list[Any]
    """What `RowExchange.send` returned."""

    @staticmethod
    def nothing(ring: Ring, exchange: RowExchange) -> Begun:
        """Return the one ahead of a first row, which is never looked at."""
        where, none = ring.plan.parts + len(ring.sources), fx.Int32(0)
        return Begun(none, [none] * where, [none, none], _zeros(exchange.sent))


@flyc.jit
def sum_in_ring(
    arrays: RowArrays, end: fx.Int32, plan: RowPlan, passes: tuple[FirstPass, SecondPass], smem: fx.SharedAllocator,
    give: Callable[[list[Any], Share, Any, Any], None],
) -> None:  # fmt: skip
    """`for_rows_in_turn` for rows that come through a ring: those threads that take them ``give`` their sums to a row
    of partial sums, with memory that these may meet in, if there is some."""
    edges = Edges(plan, smem) if plan.one_place else None
    exchange = RowExchange(plan, arrays.numbers, smem)
    ring = Ring(arrays.sources, end, plan, smem, given=arrays.given)
    if fx.const_expr(plan.rows > 1):
        share, sums = _share_of(arrays, ring, ring.begin), _no_sums(plan)
        if ring.begin < end:
            for number in fx.range_constexpr(plan.slots):
                ring.send_for_own(ring.begin + number * ring.step, fx.Int32(number))
            run = Run(ring.begin, end, ring.step, fx.Int32(0))
            sums = _sums_from_ring(arrays, ring, run, share, exchange, passes, sums)
        give(sums, share, None, fx.block_idx.x)
    else:
        if fx.thread_idx.x >= plan.lanes:
            if fx.const_expr(plan.lends):
                fx.nvvm.setmaxnreg(sending_registers(plan), increase=False)
            if fx.thread_idx.x == plan.lanes:
                ring.send_for_all(len(arrays.lines))
        else:
            if fx.const_expr(plan.lends):
                fx.nvvm.setmaxnreg(taking_limit(plan, machine_of_target(), len(arrays.lines)), increase=True)
            begun = exchange.begun()  # rows are on their way meanwhile
            take = partial(_sum_run, arrays, ring, begun, passes, edges)
            place, *sums = ring.for_each_run(take, [fx.Int32(NOWHERE), *_no_sums(plan)])
            give(sums, ShiftedShare(plan, fx.max(place, fx.Int32(0)), steady=True), ring.meeting(), ring.begin)


@flyc.jit
def _sum_run(
    arrays: RowArrays, ring: Ring, exchange: RowExchange, passes: tuple[FirstPass, SecondPass], edges: Any,
    run: Run, held: list[Any],
) -> list[Any]:  # fmt: skip
    """Return where a run's rows begin in a piece, and sums with those of its rows; ``held`` is the same of the rows
    before. A run may have no rows, where a block has several."""
    (place, *sums), share = held, _share_of(arrays, ring, run.first)
    if fx.const_expr(edges is not None):
        sums = edges.moved(sums, place, share.place)
        if run.first < run.stop:
            sums = _sums_from_ring(arrays, ring, run, share, exchange, passes, sums)
    else:
        sums = _sums_from_ring(arrays, ring, run, share, exchange, passes, sums)
    return [share.place, *sums]


def _share_of(arrays: RowArrays, ring: Ring, row: Any) -> ShiftedShare:
    """Return the part that this thread has of rows that begin where ``row`` does in a piece."""
    place = place_of(row_start(arrays.sources[0], row), ring.plan) if ring.plan.shifted else fx.Int32(0)
    return ShiftedShare(ring.plan, place, steady=True)


def _no_sums(plan: RowPlan) -> list[Any]:
    return [fx.Vector.filled(plan.width, 0.0, fx.Float32) for _ in range(plan.sums * plan.iterations)]


@flyc.jit
def _sums_from_ring(
    arrays: RowArrays, ring: Ring, run: Run, share: ShiftedShare, exchange: RowExchange,
    passes: tuple[FirstPass, SecondPass], sums: list[Any],
) -> list[Any]:  # fmt: skip
    """Return sums with those of the rows of a run, which all begin at one place in a piece.

    A row's first pass comes before the second one of the row before it: what waves tell each other is on its way then.
    """
    plan, step = ring.plan, run.step
    keep = kept_iterations(arrays.lines, plan)
    kept: list[Line] = [LineAtPlace(line, share, keep) for line in arrays.lines]
    tell = (lambda: ring.lines_begun(run)) if plan.rows == 1 else lambda: None
    kept = lines_near(kept, [plan.near_lines] * len(kept), ring.smem, tell)
    wide = widens_lines(plan, machine_of_target(), len(kept))
    if fx.const_expr(wide):
        for line in kept:
            line.widen()

    def work(row: RingRow, told: RowExchange) -> RowWork:
        x: list[Line] = [RingLine(row, source, share, arrays.fill) for source in range(len(arrays.sources))]
        lines: list[Line] = [line if wide else KeptLine(line, row.row) for line in kept]
        stores = [store_from_ring(target, row, share) for target in arrays.targets]
        return RowWork(x, lines, told, share, row.row, True, stores, row.numbers(), row.row < 0)

    def begin_row(index: Any, number: Any, sums: list[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Go over a row for the first time; return the sums with it, what this thread has of the numbers whose totals
        the second pass needs, and where the row is in the ring."""
        row = RingRow(ring, index, number)
        return *passes[0](work(row, exchange.row(number)), sums), row.where

    def end_row(begun: Begun, number: Any, totals: list[Any]) -> None:
        row = RingRow(ring, begun.index, number, where=begun.where)
        passes[1](work(row, exchange.at(*begun.told)), totals)
        if fx.const_expr(plan.rows > 1):
            ring.send_for_own(begun.index + plan.slots * step, number)
        else:
            row.give_back(plan.iterations)

    def take(index: Any, number: Any, sums: list[Any], begun: Begun, comes: Any, began: Any) -> tuple[list[Any], Begun]:
        """Go over a row for the first time, if one ``comes``, and over the one ahead of it again, if that ``began``;
        return the sums, and what was begun."""
        values, where = _zeros(arrays.numbers), begun.where
        if comes:
            sums, values, where = begin_row(index, number, sums)
        told, ahead = exchange.row(number), exchange.at(*begun.told)
        if began:
            ahead.wait()
        sent, totals = told.send(values, None if began is False else ahead.told(begun.sent), comes)
        if began:
            end_row(begun, number - 1, totals)
        return sums, Begun(fx.Int32(index), where, [told.set, told.phase], sent)

    number, begun = run.number, Begun.nothing(ring, exchange)
    if fx.const_expr(plan.once_in_code):
        for index in range(run.first, run.stop + step, step):
            sums, begun = take(index, number, sums, begun, index < run.stop, index != run.first)
            number = number + 1
    else:
        sums, begun = take(run.first, number, sums, begun, True, False)
        for index in range(run.first + step, run.stop, step):
            number = number + 1
            sums, begun = take(index, number, sums, begun, True, True)
        take(run.stop, number + 1, sums, begun, False, True)
    return sums


def _zeros(count: int) -> list[Any]:
    return [fx.Float32(0.0) for _ in range(count)]


class Edges:
    """Memory by which sums move to the elements behind theirs: those of rows that begin so many elements later in a
    piece. A thread's last sum of each vector is the first of the next lane then, or of another wave or block, which
    find it here. Rows move through a piece once, so that each step has memory and a barrier of its own for what comes
    from the block before."""

    def __init__(self, plan: RowPlan, smem: fx.SharedAllocator) -> None:
        self.plan, self.waves = plan, wave_count(plan.lanes)
        self.groups = plan.iterations * self.waves
        self.ends = smem.allocate(fx.Array[fx.Float32, plan.sums * (self.groups + 1)]).ptr
        self.before = smem.allocate(fx.Array[fx.Float32, plan.sums * plan.width]).ptr
        self.barriers = smem.allocate(fx.Array[fx.Int64, plan.width]).ptr
        self._begin()

    @flyc.jit
    def _begin(self) -> None:
        """Make the barriers; one of the cluster comes behind."""
        if fx.thread_idx.x == 0:
            for step in fx.range_constexpr(self.plan.width):
                fx.nvvm.mbarrier_init(self.barriers + step, 1)

    @flyc.jit
    def moved(self, sums: list[Any], start: Any, stop: Any) -> list[Any]:
        """Return sums for rows that begin at ``stop``, of those that began at ``start``, if there were some."""
        if start >= 0:
            for step in range(start, stop):
                sums = self._moved_by_one(sums, step)
        return sums

    @flyc.jit
    def _moved_by_one(self, sums: list[Any], step: Any) -> list[Any]:
        plan, thread, apart = self.plan, fx.thread_idx.x, self.groups + 1
        wave = fx.nvvm.warp_uniform(thread // WAVE)
        count, last = plan.sums, plan.share - 1
        of_sum = [sums[index * plan.iterations : (index + 1) * plan.iterations] for index in range(count)]
        block, barrier = fx.nvvm.block_rank_in_cluster(), self.barriers + step
        if (thread == last % plan.lanes) & (block + 1 < plan.cluster):
            for index, own in enumerate(of_sum):
                place = self.before + (step * count + index)
                fx.nvvm.cluster_store(own[last // plan.lanes][plan.width - 1], place, block + 1, barrier)
        block_barrier(plan)  # what was there has been read
        if fx.lane_id() == WAVE - 1:
            for index, own in enumerate(of_sum):
                for iteration, vector in enumerate(own):
                    self.ends[index * apart + 1 + iteration * self.waves + wave] = vector[plan.width - 1]
        if thread == 0:
            for index in fx.range_constexpr(count):
                self.ends[index * apart] = fx.Float32(0.0)
            if block > 0:
                fx.nvvm.mbarrier_arrive_expect_tx(barrier, 4 * count)
                fx.nvvm.mbarrier_wait(barrier, 0)
                for index in fx.range_constexpr(count):
                    self.ends[index * apart] = self.before[step * count + index]
        block_barrier(plan)
        found = []
        for index, own in enumerate(of_sum):
            for iteration, vector in enumerate(own):
                ahead = self.ends[index * apart + iteration * self.waves + wave]
                others = fx.shuffle_up(vector[plan.width - 1], 1, WAVE)
                first = (fx.lane_id() == 0).select(ahead, others)
                parts = [first, *(vector[element] for element in range(plan.width - 1))]
                found.append(fx.Vector.from_elements(parts, fx.Float32))
        return found


@flyc.jit
def settle(work: RowWork, values: list[Any], place: Any) -> None:
    """Have sums be added up before what follows, where rows are read again; ``place`` is never written.

    LLVM puts off what is needed at the end of a loop's round behind the branches before that end: all that is added
    would wait in registers, which rows of that kind have too few of.
    """
    if fx.const_expr(work.never is not False):
        if work.never:
            place[0] = sum((vector.reduce("add") for vector in values[1:]), values[0].reduce("add"))
