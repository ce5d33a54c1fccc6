"""Numbers that the waves of a row tell each other: one slot of shared memory for each wave, in every block of the row.

A row that one block holds is exchanged with a barrier. A row that a cluster of blocks holds is exchanged through
distributed shared memory: each wave writes its numbers into every block, and one barrier of the cluster shows them.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from kernels.blocks.reduce import Combine, wave_count, wave_reduce
from kernels.blocks.rows import RowPlan


class RowExchange:
    """Slots for ``count`` numbers of each wave. Made at the start of a kernel, used once."""

    def __init__(self, plan: RowPlan, count: int) -> None:
        self.plan = plan
        self.waves = wave_count(plan.threads)
        self.total = self.waves * plan.cluster
        allocator = fx.SharedAllocator()
        self.slots = [
            allocator.allocate(fx.Array[fx.Float32, self.total]).peek().view(fx.make_layout(self.total, 1))
            for _ in range(count)
        ]
        if plan.cluster > 1:
            # The other blocks' memory may be written once they have started: arrive now, wait before the first write.
            fx.nvvm.cluster_arrive()

    @flyc.jit
    def publish(self, values: list[Any]) -> None:
        """Give this wave's numbers, the same in all its lanes, to every wave of the row."""
        wave = fx.thread_idx.x // fx.num_warp_threads()
        lane = fx.lane_id()
        if fx.const_expr(self.plan.cluster > 1):
            fx.nvvm.cluster_wait()
            place = fx.nvvm.block_rank_in_cluster() * self.waves + wave
            if lane < self.plan.cluster:
                for slot, value in zip(self.slots, values, strict=True):
                    fx.nvvm.cluster_store(value, fx.get_iter(slot) + place, lane)
            fx.nvvm.cluster_sync()
        elif fx.const_expr(self.total > 1):
            if lane == 0:
                for slot, value in zip(self.slots, values, strict=True):
                    slot[wave] = value
            fx.barrier()

    def read(self, index: int, own: Any, neutral: float) -> list[Any]:
        """Numbers of the row's waves, spread over the lanes; ``neutral`` in lanes without one."""
        if self.total == 1:
            return [own]
        lanes, slot = self._lanes(), self.slots[index]
        place = fx.lane_id() % lanes
        found = []
        for first in range(0, self.total, lanes):
            at = place + first
            inside = min(self.total - first, lanes)
            value = slot[fx.min(at, fx.Int32(self.total - 1))]
            found.append(value if inside == lanes else (place < inside).select(value, fx.Float32(neutral)))
        return found

    def combine(self, values: list[Any], how: Combine) -> Any:
        """Combine what `read` gave, over the lanes too."""
        result = values[0]
        for value in values[1:]:
            result = how(result, value)
        return result if self.total == 1 else wave_reduce(result, how, self._lanes())

    def _lanes(self) -> int:
        lanes = 1
        while lanes < min(self.total, fx.num_warp_threads()):
            lanes *= 2
        return lanes
