"""`flyc.virtual_ranks`: several virtual GPUs in one process, whose kernels run together in an order drawn from a seed.

Each rank is a thread with the same program. Ranks take turns, one at a time, until all are at a launch of a kernel
whose blocks wait; then the blocks of all ranks run, interleaved. What happens depends on the seed alone.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from flydsl.base.errors import DslRuntimeError, DslValueError
from flydsl.compiler.cache.compiled_code import pool_object
from flydsl.compiler.ranks.rank import ThreadRank
from flydsl.compiler.running import rank_report
from flydsl.expr.memory.symmetric import Symmetric
from flydsl.runtime import host_pool, host_ranks
from flydsl.runtime.symmetric_memory import aligned_bytes, array_bytes, part_of, stride_of, virtual_multicast

_PATIENCE, _GLANCE = 5.0, 0.1
"""Seconds that ranks have to end after an interrupt; with some left there is no other group in this process."""
_running = threading.Lock()
"""There is one group of ranks in a process at a time."""


class VirtualRank(ThreadRank):
    """One of the ranks of a group, as the program that it runs sees it."""

    def __init__(self, group: VirtualRanks, number: int) -> None:
        super().__init__(number, group._board)
        self._group = group

    def barrier(self) -> None:
        """Wait for every rank on the host."""
        if host_ranks.call("meet", self.number, result=host_ranks.INT):
            raise DslRuntimeError(
                f"rank {self.number} waits for all ranks, and some have ended without coming here",
                hint="let every rank make the same calls",
            )

    def require_same(self, tensor: Symmetric) -> None:
        """Refuse a symmetric tensor that has not the same bits on every rank. All ranks call it.

        Under ``flyc.sanitize("ranks")`` the error says which lines, ranks and blocks wrote the bits that differ.
        """
        found = [np.ascontiguousarray(array) for array in self.exchange(tensor.local)]
        first, mine = found[0].view(np.uint8).reshape(-1), found[self.number].view(np.uint8).reshape(-1)
        different = np.flatnonzero(first != mine)
        if different.size:
            raise rank_report.different_bits(
                tensor.local, self.number, int(different[0]), [int(address) for address in tensor.table[: self.world]]
            )
        self.barrier()

    def _allocate(self, shape: Sequence[int], dtype: DTypeLike) -> tuple[Any, list[int], int]:
        stride = stride_of(array_bytes(shape, dtype))
        memory: Any = self.exchange(aligned_bytes(stride * self.world) if self.number == 0 else None)[0]
        self._group._arrays.append(memory)
        local, first = part_of(memory, self.number, stride, shape, dtype), memory.ctypes.data
        host_ranks.share(local.ctypes.data, local.nbytes)
        addresses = [first + rank * stride for rank in range(self.world)]
        return local, addresses, virtual_multicast(first, stride, self.world)


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """The interrupts that came: Python drops what a handler raises in a destructor, or as a weak reference dies."""
    came: list[int] = []
    usual = signal.default_int_handler
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not usual:
        yield came
        return

    def handler(number: int, frame: Any) -> None:
        came.append(number)
        usual(number, frame)

    try:
        signal.signal(signal.SIGINT, handler)
        yield came
    finally:
        signal.signal(signal.SIGINT, usual)


class VirtualRanks:
    """A group of virtual GPUs. ``run`` gives every rank its program."""

    def __init__(self, world: int, *, seed: int = 0, resident: int = 0) -> None:
        if not 1 <= world <= host_ranks.MOST_RANKS:
            raise DslValueError(f"there are 1 to {host_ranks.MOST_RANKS} virtual ranks, not {world}")
        self.world, self.seed, self.resident = world, seed, resident
        self._board: list[Any] = [None] * world
        self._arrays: list[Any] = []
        self._ended: list[int] = list(range(world))

    def run(self, program: Callable[[VirtualRank], Any]) -> list[Any]:
        """Call ``program(rank)`` for every rank, all together; what each returned. The first error is raised."""
        if not _running.acquire(blocking=False):
            raise DslRuntimeError("virtual ranks run already in this process", hint="run one group after the other")
        try:
            with _interrupts() as interrupts:
                host_pool.start(pool_object)
                host_ranks.begin(self.world, self.seed, self.resident)
                return self._run(program, interrupts)
        finally:
            if len(self._ended) == self.world:
                host_ranks.call("end")
                self._arrays.clear()
                _running.release()

    def _run(self, program: Callable[[VirtualRank], Any], interrupts: Sequence[int]) -> list[Any]:
        results: list[Any] = [None] * self.world
        failures: list[tuple[int, BaseException]] = []
        numbers, over = iter(range(self.world)), threading.Lock()
        ended: list[int] = []

        def one() -> None:
            number = next(numbers, None)
            if number is None:
                return
            host_ranks.enter(number)
            try:
                results[number] = program(VirtualRank(self, number))
            except BaseException as error:
                failures.append((number, error))
            finally:
                host_ranks.call("leave", number)
                ended.append(number)
                if len(ended) == self.world and ended[-1] == number:
                    over.release()

        over.acquire()
        try:
            self._ended = ended
            self._start_threads(one)
            while len(ended) < self.world:  # a signal that comes just before an endless wait would not end it
                if interrupts:
                    raise KeyboardInterrupt
                over.acquire(timeout=_GLANCE)
        except BaseException:  # a signal's: launches end, and so do ranks that do not catch that
            host_ranks.call("stop")
            self._start_threads(one)  # for numbers that nobody has: the others would wait for them
            limit = time.monotonic() + _PATIENCE
            while len(ended) < self.world and time.monotonic() < limit:
                over.acquire(timeout=_GLANCE)
            raise
        if failures:
            number, error = failures[0]
            error.add_note(f"raised by rank {number} of {self.world} with seed {self.seed}")
            raise error
        return results

    def _start_threads(self, one: Callable[[], None]) -> None:
        """As many threads as there are ranks, which take their numbers themselves.

        What has ended is told by them, not by Python's threads: one whose ``join`` a signal interrupts counts as ended.
        """
        for _ in range(self.world):
            threading.Thread(target=one, daemon=True).start()


def virtual_ranks(world: int, *, seed: int = 0, resident: int = 0) -> VirtualRanks:
    """Return a group of ``world`` virtual GPUs in this process; ``.run(program)`` calls ``program(rank)`` for each of
    them.

    ``seed`` draws the order in which blocks of all ranks go on; 0 takes them in turn. ``resident`` is how many blocks
    of a launch fit on one device at once, all if 0.
    """
    return VirtualRanks(world, seed=seed, resident=resident)
