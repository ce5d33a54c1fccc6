"""Numbers that the waves of a row tell each other: one slot of shared memory for each wave, in every block of the row.

A row that one block holds is exchanged with a barrier. A row that a cluster of blocks holds is exchanged through
distributed shared memory: each wave sends its numbers to every block, and each block waits for the bytes that all waves
send to it. No barrier of the cluster is needed for that, which would wait for all results of the row before to be in
memory. Rows that are held by a wave, or by some of its lanes, have nothing to exchange.

Blocks of a whole grid tell each other words of memory, each of which says itself whether it is there: a place holds
`MISSING`, which no word is, until its word is written, eight bytes at a time. Who looks finds all of it or nothing; no
fence lies between a word and who waits for it, and no load behind the wait.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import reduce
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.reduce import Combine, add, combined, halved, wave_count, wave_reduce, wave_sums
from flydsl.kernels.blocks.row_plan import RowPlan

FEW_WAVES = 8
"""Waves of a row whose numbers a lane reads by itself to add them up."""

MISSING = -1
"""What is not there yet: four NaNs of 16 bits, or two of 32."""
SOME_NAN = 0x7FFF7FFF7FFF7FFF
"""As many NaNs that are there."""


def wait_for_older_launches() -> None:
    """Wait for the launches ahead on the stream, where a kernel is launched as a dependent of theirs.

    It reads and writes nothing before. The driver takes less host time for such a launch.
    """
    if fx.nvvm.has_dependent_launches():
        fx.nvvm.griddepcontrol_wait()


def begin_behind_older_launches() -> None:
    """Wait for older launches, and let the next one begin, which waits for this one's end in its turn."""
    wait_for_older_launches()
    if fx.nvvm.has_dependent_launches():
        fx.nvvm.griddepcontrol_launch_dependents()


def block_barrier(plan: RowPlan) -> None:
    """A barrier of the threads that have rows: beside them, a ring has a wave that sends for chunks."""
    if plan.slots:
        fx.nvvm.barrier_sync(1, plan.lanes)
    else:
        fx.barrier()


class RowExchange:
    """Slots for ``count`` numbers of each wave. Made at the start of a kernel."""

    def __init__(self, plan: RowPlan, count: int, smem: fx.SharedAllocator) -> None:
        self.plan, self.count = plan, count
        self.group = min(plan.lanes, fx.num_warp_threads())
        self.waves = wave_count(plan.lanes)
        self.total = self.waves * plan.cluster
        self.by_cluster = plan.cluster > 1 and count > 0
        # Blocks that stay take turns with two sets of slots: numbers of a row are written when those of the row before
        # have come from everybody, so all have read those of the one before that.
        # Where a first pass comes before the second over the row ahead of it, those of twice as many rows are in use.
        self.sets = 4 if plan.begins_ahead else 2 if plan.stays else 1
        self.all = self.total * plan.rows
        size = self.all * self.sets if self.total > 1 else 0
        self.slots = [smem.allocate(fx.Array[fx.Float32, size, 16]).peek() for _ in range(count)] if size else []
        self.set: Any = 0
        self.phase: Any = 0
        self.started = False
        self.by_halves = count == 2 and fx.nvvm.is_target() and not self.by_cluster and self.total > 1
        self.by_halves = self.by_halves and self.group == fx.num_warp_threads() and self.lanes() < self.group
        if self.by_cluster:
            self.barriers = smem.allocate(fx.Array[fx.Int64, count * self.sets]).ptr
            self._begin(count * self.sets)
        elif plan.sums and plan.slots and self.total > 1:
            self.barriers = smem.allocate(fx.Array[fx.Int64, self.sets]).ptr
            self._begin_in_block(count)

    @flyc.jit
    def _begin(self, barriers: int) -> None:
        if fx.thread_idx.x == 0:
            for barrier in fx.range_constexpr(barriers):
                fx.nvvm.mbarrier_init(self.barriers + barrier, 1)
            fx.nvvm.fence_mbarrier_init()
        fx.nvvm.cluster_arrive(relaxed=True)

    @flyc.jit
    def _begin_in_block(self, count: int) -> None:
        """Those at which a block's waves do not wait for each other at once; a barrier of the block comes behind."""
        if fx.thread_idx.x == 0:
            for barrier in fx.range_constexpr(self.sets):
                fx.nvvm.mbarrier_init(self.barriers + barrier, count * self.waves)

    def start(self) -> None:
        """Wait for the other blocks to have begun: their memory may be written then. Before the first numbers."""
        if self.by_cluster and not self.started:
            fx.nvvm.cluster_wait()
        self.started = True

    def begun(self) -> RowExchange:
        """Return the exchange for those of a block's threads that tell each other numbers; see `start`."""
        own = copy(self)
        own.start()
        return own

    def row(self, number: fx.Int32) -> RowExchange:
        """Return the exchange for this block's ``number``-th row."""
        if self.sets == 1:
            return self
        return self.at(number % self.sets, number // self.sets % 2)

    def at(self, place: Any, phase: Any) -> RowExchange:
        """Return the exchange for the row whose set of slots and phase these are."""
        own = copy(self)
        own.set, own.phase = place, phase
        return own

    def reduce(self, value: Any, how: Combine) -> Any:
        """Combine a value over the lanes of this wave that hold the row."""
        return wave_reduce(value, how, self.group)

    def publish(self, values: list[Any], at: int = 0) -> RowNumbers:
        """Give this wave's numbers, the same in all its lanes, to every wave of the row, and get theirs.

        A row that is exchanged a second time has its further numbers ``at`` other slots.
        """
        self.give(values, at)
        if not self.by_cluster and self.total > 1:
            block_barrier(self.plan)
        return self.given(values, at)

    @flyc.jit
    def give(self, values: list[Any], at: int = 0) -> None:
        """Give this wave's numbers to every wave of the row, and go on."""
        if fx.const_expr(self.by_cluster):
            self._send_to_cluster(values, at)
        elif fx.const_expr(self.total > 1):
            if fx.lane_id() == 0:
                for slot, value in zip(self.slots[at:], values, strict=False):
                    slot[self.place()] = value

    def given(self, values: list[Any], at: int = 0) -> RowNumbers:
        """Return what all waves of the row gave, which those of a cluster wait for; ``values`` are this one's."""
        if self.by_cluster:
            fx.nvvm.mbarrier_wait(self.barriers + (at * self.sets + self.set), self.phase)
        return RowNumbers(self, values, self.slots[at : at + len(values)])

    @flyc.jit
    def _send_to_cluster(self, values: list[Any], at: int) -> None:
        self.start()
        barrier = self.barriers + (at * self.sets + self.set)
        if fx.thread_idx.x == 0:
            fx.nvvm.mbarrier_arrive_expect_tx(barrier, 4 * len(values) * self.total)
        lane, place = fx.lane_id(), self.place() + fx.nvvm.block_rank_in_cluster() * self.waves
        if lane < self.plan.cluster:
            for slot, value in zip(self.slots[at:], values, strict=False):
                fx.nvvm.cluster_store(value, slot.ptr + place, lane, barrier)

    def totals(self, values: list[Any]) -> list[Any]:
        """Return the sum of each value over the row."""
        if self.by_halves and len(values) == 2:
            return self._two_totals(*values)
        waves = self.publish([self.reduce(value, add) for value in values])
        return [waves.sum(index) for index in range(len(values))]

    def _two_totals(self, first: Any, second: Any) -> list[Any]:
        """Half of a wave's lanes have the one and half the other, so that both take the steps of one."""
        value = halved(first, second, self.group)
        self._store_halves(wave_reduce(value, add, self.group // 2), lambda: None)
        block_barrier(self.plan)
        return Told(self, [first, second]).alone()

    @flyc.jit
    def _store_halves(self, part: Any, given: Callable[[], None]) -> None:
        half, lane = self.group // 2, fx.lane_id()
        if lane == 0:
            self.slots[0][self.place()] = part
            given()
        if lane == half:
            self.slots[1][self.place()] = part
            given()

    def send(self, values: list[Any], ahead: Told | None, comes: Any) -> tuple[list[Any], list[Any]]:
        """Give what this thread has of some sums to every wave of the row, if that ``comes``, and go on; and return the
        totals of what was told of the row ``ahead``, if there is one, found beside: a step of one sum is on its way
        while others take theirs."""
        own = (
            [(halved(*values, self.group), self.group // 2)]
            if self.by_halves
            else [(value, self.group) for value in values]
        )
        own = [] if comes is False else own
        found = wave_sums([*own, *(ahead.parts if ahead else [])])
        sent, others = found[: len(own)], found[len(own) :]
        self._send(sent, comes)
        return sent, ahead.totals(others) if ahead else []

    @flyc.jit
    def _send(self, values: list[Any], comes: Any) -> None:
        barrier = self.barriers + self.set if self.total > 1 else None
        if comes:
            if fx.const_expr(self.by_halves):
                self._store_halves(values[0], lambda: fx.nvvm.mbarrier_arrive(barrier))
            elif fx.const_expr(self.by_cluster):
                self._send_to_cluster(values, 0)
            elif fx.const_expr(self.total > 1):
                if fx.lane_id() == 0:
                    for slot, value in zip(self.slots, values, strict=True):
                        slot[self.place()] = value
                        fx.nvvm.mbarrier_arrive(barrier)

    def wait(self) -> None:
        """Wait for what all waves of the row sent."""
        if self.total > 1:
            fx.nvvm.mbarrier_wait(self.barriers + self.set, self.phase)

    @property
    def sent(self) -> int:
        """How many numbers `send` returns first."""
        return 1 if self.by_halves else self.count

    def told(self, values: list[Any]) -> Told:
        """Return what this lane reads of what was sent; ``values`` are what `send` returned."""
        return Told(self, values)

    def place(self) -> Any:
        """Return the slot of this wave."""
        return self.set * self.all + fx.thread_idx.x // fx.num_warp_threads()

    def first_slot(self) -> Any:
        """Return the first of the slots of this thread's row."""
        row = fx.thread_idx.x // self.plan.lanes * self.total if self.plan.rows > 1 else 0
        return self.set * self.all + row

    def lanes(self) -> int:
        """Over how many lanes the numbers of a row are spread when they are read: a power of 2."""
        lanes = 1
        while lanes < min(self.total, fx.num_warp_threads()):
            lanes *= 2
        return lanes


class Told:
    """What a lane has read of the sums that the waves of a row told each other: ``parts`` are numbers that are to be
    summed over groups of so many lanes (`wave_sums`)."""

    def __init__(self, exchange: RowExchange, own: list[Any]) -> None:
        self.exchange, lanes = exchange, exchange.lanes()
        waves = RowNumbers(exchange, own, exchange.slots)
        if exchange.by_halves:
            (one,), (other,) = (waves.read(index, 0.0) for index in range(2))
            self.parts = [((fx.lane_id() >= exchange.group // 2).select(other, one), lanes)]
        else:
            self.parts = [(combined(waves.read(index, 0.0), add), lanes) for index in range(len(own))]

    def alone(self) -> list[Any]:
        """Return the totals over the row, where nothing else is to be summed."""
        return self.totals(wave_sums(self.parts))

    def totals(self, sums: list[Any]) -> list[Any]:
        """Return the totals over the row, of the sums of ``parts``."""
        if not self.exchange.by_halves:
            return sums
        half, (mine,) = self.exchange.group // 2, sums
        upper, theirs = fx.lane_id() >= half, fx.shuffle_xor(mine, half, self.exchange.group)
        return [upper.select(theirs, mine), upper.select(mine, theirs)]


class RowNumbers:
    """What all waves of a row gave; ``own`` is what this one did."""

    def __init__(self, exchange: RowExchange, own: list[Any], slots: list[Any]) -> None:
        self.exchange, self.own, self.slots = exchange, own, slots

    def read(self, index: int, neutral: float, alone: int = 1) -> list[Any]:
        """Return a number of every wave, spread over the lanes; ``neutral`` in lanes without one.

        Where there are at most ``alone`` waves, each lane reads all of their numbers, which takes less time than to
        be told them, and more instructions if much is done with each.
        """
        total = self.exchange.total
        if total == 1:
            return [self.own[index]]
        lanes, slot, first_slot = self.exchange.lanes(), self.slots[index], self.exchange.first_slot()
        if total <= alone:
            return [slot[first_slot + wave] for wave in range(total)]
        place = fx.lane_id() % lanes
        found = []
        for first in range(0, total, lanes):
            inside = min(total - first, lanes)
            value = slot[first_slot + fx.min(place + first, fx.Int32(total - 1))]
            found.append(value if inside == lanes else (place < inside).select(value, fx.Float32(neutral)))
        return found

    def first(self, index: int) -> Any:
        """Return a number of the first wave."""
        return self.own[index] if self.exchange.total == 1 else self.slots[index][self.exchange.first_slot()]

    def sum(self, index: int) -> Any:
        """Return the sum of a number over the row."""
        return self.combine(self.read(index, 0.0, FEW_WAVES), add)

    def combine(self, values: list[Any], how: Combine) -> Any:
        """Combine what `read` gave, over the lanes too where they have different ones."""
        alone, value = len(values) == self.exchange.total, combined(values, how)
        return value if alone else wave_reduce(value, how, self.exchange.lanes())


# Words that blocks await ----------------------------------------------------------------------------------------------


def word_at(pointer: Any) -> Any:
    return fx.recast_iter(fx.Int64, pointer.aligned(8))


def forget(place: Any) -> None:
    """There is no word at a place yet."""
    fx.atomic_store(place, MISSING, scope="device")


def tell(place: Any, numbers: Any) -> None:
    """Write a word of numbers, so that others see all of them or none."""
    word = numbers.bitcast(fx.Int64)[0]
    fx.atomic_store(place, (word == MISSING).select(fx.Int64(SOME_NAN), word), scope="device")


def look(places: list[Any], found: Any) -> Any:
    """Load the words of places; return whether one is missing."""
    words = [fx.atomic_load(place, scope="device") for place in places]
    found.store(fx.Vector.from_elements(words, fx.Int64))
    return reduce(lambda some, one: some | one, [word == MISSING for word in words])
