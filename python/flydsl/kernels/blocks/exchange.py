"""Numbers that the waves of a row tell each other: one slot of shared memory for each wave, in every block of the row.

A row that one block holds is exchanged with a barrier. A row that a cluster of blocks holds is exchanged through
distributed shared memory: each wave writes its numbers into every block, and one barrier of the cluster shows them.
Rows that are held by a wave, or by some of its lanes, have nothing to exchange.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.reduce import Combine, wave_count, wave_reduce
from flydsl.kernels.blocks.row_plan import RowPlan


class RowExchange:
    """Slots for ``count`` numbers of each wave. Made at the start of a kernel."""

    def __init__(self, plan: RowPlan, count: int, smem: Any) -> None:
        self.plan = plan
        self.group = min(plan.lanes, fx.num_warp_threads())
        self.waves = wave_count(plan.lanes)
        self.total = self.waves * plan.cluster
        size = self.total * plan.rows if self.total > 1 else 0
        self.slots = [smem.allocate(fx.Array[fx.Float32, size]).peek() for _ in range(count)] if size else []
        self.by_cluster = plan.cluster > 1 and count > 0
        # The other blocks' memory may be written once they have started: arrive now, wait before the first write.
        self.next()

    def next(self) -> None:
        """Numbers of the row before were read: other blocks may write those of the next."""
        if self.by_cluster:
            fx.nvvm.cluster_arrive()

    def finish(self) -> None:
        """Wait for what `next` began and no row followed."""
        if self.by_cluster:
            fx.nvvm.cluster_wait()

    def reduce(self, value: Any, how: Combine) -> Any:
        """Combine a value over the lanes of this wave that hold the row."""
        return wave_reduce(value, how, self.group)

    @flyc.jit
    def publish(self, values: list[Any], at: int = 0) -> RowNumbers:
        """Give this wave's numbers, the same in all its lanes, to every wave of the row, and get theirs.

        A row that is exchanged a second time has its further numbers ``at`` other slots.
        """
        slots = self.slots[at : at + len(values)]
        wave = fx.thread_idx.x // fx.num_warp_threads()
        lane = fx.lane_id()
        if fx.const_expr(self.plan.cluster > 1):
            if fx.const_expr(at == 0):
                fx.nvvm.cluster_wait()
            place = fx.nvvm.block_rank_in_cluster() * self.waves + wave
            if lane < self.plan.cluster:
                for slot, value in zip(slots, values, strict=True):
                    fx.nvvm.cluster_store(value, slot.ptr + place, lane)
            fx.nvvm.cluster_sync()
        elif fx.const_expr(self.total > 1):
            if lane == 0:
                for slot, value in zip(slots, values, strict=True):
                    slot[wave] = value
            fx.barrier()
        return RowNumbers(self, values, slots)

    def first_slot(self) -> Any:
        """The first of the slots of this thread's row."""
        return fx.thread_idx.x // self.plan.lanes * self.total if self.plan.rows > 1 else 0

    def lanes(self) -> int:
        """Over how many lanes the numbers of a row are spread when they are read: a power of 2."""
        lanes = 1
        while lanes < min(self.total, fx.num_warp_threads()):
            lanes *= 2
        return lanes


class RowNumbers:
    """What all waves of a row gave; ``own`` is what this one did."""

    def __init__(self, exchange: RowExchange, own: list[Any], slots: list[Any]) -> None:
        self.exchange, self.own, self.slots = exchange, own, slots

    def read(self, index: int, neutral: float) -> list[Any]:
        """A number of every wave, spread over the lanes; ``neutral`` in lanes without one."""
        total = self.exchange.total
        if total == 1:
            return [self.own[index]]
        lanes, slot = self.exchange.lanes(), self.slots[index]
        place, first_slot = fx.lane_id() % lanes, self.exchange.first_slot()
        found = []
        for first in range(0, total, lanes):
            inside = min(total - first, lanes)
            value = slot[first_slot + fx.min(place + first, fx.Int32(total - 1))]
            found.append(value if inside == lanes else (place < inside).select(value, fx.Float32(neutral)))
        return found

    def combine(self, values: list[Any], how: Combine) -> Any:
        """Combine what `read` gave, over the lanes too."""
        result = values[0]
        for value in values[1:]:
            result = how(result, value)
        return result if self.exchange.total == 1 else wave_reduce(result, how, self.exchange.lanes())
