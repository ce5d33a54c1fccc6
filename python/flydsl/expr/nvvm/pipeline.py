"""A ring of stages between threads that load and threads that compute.

    pipe = fx.nvvm.Pipeline(smem, stages=4, consumers=2)
    if thread == 0:
        pipe.init()
    fx.barrier()

    state = pipe.producer_start()                     state = pipe.consumer_start()
    pipe.acquire(state, tx_bytes)                     pipe.wait(state)
    fx.nvvm.tma_load(map, at, dst, pipe.full(state))  ... use the stage ...
    state = pipe.advance(state)                       pipe.release(state); state = pipe.advance(state)

Each stage has two mbarriers: *full* completes when its bytes have arrived, *empty* when all consumers released it.
"""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslValueError
from flydsl.expr.memory.array import Array
from flydsl.expr.memory.struct import struct
from flydsl.expr.numeric import Int32, Int64
from flydsl.expr.nvvm import barriers
from flydsl.expr.tensors.pointer import Pointer


@struct
class PipelineState:
    """A place in the ring: the stage, and the parity of the phase to wait for."""

    stage: Int32
    phase: Int32


class Stages:
    """The places of a ring of ``stages``, one behind the other."""

    stages: int

    def producer_start(self) -> Any:
        """Return where filling begins: every stage counts as released once."""
        return PipelineState(Int32(0), Int32(1))

    def consumer_start(self) -> Any:
        """Return where using begins."""
        return PipelineState(Int32(0), Int32(0))

    def advance(self, state: Any) -> Any:
        """Return the next stage of the ring; each time round the parity changes."""
        last = state.stage == self.stages - 1
        return PipelineState(last.select(Int32(0), state.stage + 1), last.select(state.phase ^ 1, state.phase))


class Pipeline(Stages):
    """The barriers of a ring of ``stages`` in a block's shared memory.

    ``consumers`` is how many arrivals give a stage back in each block; with a ``cluster`` of several blocks, whose
    loads are multicast, those of all its blocks. With ``by_cp_async`` the ``producers`` are threads that fill a stage
    by `CpAsync`, each of which commits; a stage is full when the copies of all of them are there.
    """

    def __init__(self, allocator: Any, *, stages: int, consumers: int, producers: int = 1, cluster: int = 1,
                 by_cp_async: bool = False) -> None:  # fmt: skip
        if stages < 1 or consumers < 1 or producers < 1 or cluster < 1:
            raise DslValueError("a pipeline needs at least one stage, producer, consumer and block")
        self.stages = stages
        self.consumers = consumers
        self.producers = producers
        self.cluster = cluster
        self._arrive = barriers.cp_async_mbarrier_arrive if by_cp_async else barriers.mbarrier_arrive
        self._full = allocator.allocate(Array[Int64, stages]).ptr
        self._empty = allocator.allocate(Array[Int64, stages]).ptr

    def init(self) -> None:
        """Initialise the barriers; by one thread, before a barrier of the block or cluster."""
        for stage in range(self.stages):
            barriers.mbarrier_init(self._full + stage, self.producers)
            barriers.mbarrier_init(self._empty + stage, self.consumers * self.cluster)
        barriers.fence_mbarrier_init()

    def full(self, state: Any) -> Pointer:
        """Return the barrier that loads of this stage complete."""
        return self._full + state.stage

    def empty(self, state: Any) -> Pointer:
        """Return the barrier that consumers of this stage complete."""
        return self._empty + state.stage

    def acquire(self, state: Any, tx_bytes: Any = None) -> None:
        """A producer waits for the stage to be free and, given ``tx_bytes``, announces the bytes that will come."""
        barriers.mbarrier_wait(self.empty(state), state.phase)
        if tx_bytes is not None:
            barriers.mbarrier_arrive_expect_tx(self.full(state), tx_bytes)

    def commit(self, state: Any) -> None:
        """A producer that filled the stage itself, or has its copies under way, says so."""
        self._arrive(self.full(state))

    def wait(self, state: Any) -> None:
        """A consumer waits for the stage to be full."""
        barriers.mbarrier_wait(self.full(state), state.phase)

    def release(self, state: Any) -> None:
        """A consumer gives the stage back, to the producers of the whole cluster."""
        if self.cluster == 1:
            barriers.mbarrier_arrive(self.empty(state))
            return
        for block in range(self.cluster):
            barriers.mbarrier_arrive(self.empty(state), block)


__all__ = ["Pipeline", "PipelineState"]
