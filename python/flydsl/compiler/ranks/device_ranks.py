"""`flyc.device_ranks`: several GPUs, or several streams of one, as ranks of this process: a thread for each.

Memory is the driver's, which GPUs open to each other. Kernels of ranks on one GPU wait for each other, so the blocks of
all of them together must fit on it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import DTypeLike

from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, DslValueError
from flydsl.compiler.ranks.rank import ThreadRank
from flydsl.runtime import device_memory
from flydsl.runtime.symmetric_memory import array_bytes

_GLANCE = 0.2
"""Seconds between two looks whether a rank has failed."""


class DeviceRank(ThreadRank):
    """One of the ranks of a group: a device and a stream of its own, which is torch's current one in its thread."""

    def __init__(self, group: DeviceRanks, number: int, stream: Any) -> None:
        super().__init__(number, group._board)
        self._group, self.device, self.stream = group, group.devices[number], stream
        self.multicast = False

    def barrier(self) -> None:
        """Wait for every rank on the host."""
        try:
            self._group._meeting.wait(knobs.RUNTIME_PEER_LIMIT.get())
        except threading.BrokenBarrierError as error:
            raise DslRuntimeError(
                f"rank {self.number} waits for all ranks, and some have ended or do not come here",
                hint="let every rank make the same calls",
            ) from error

    def _allocate(self, shape: Sequence[int], dtype: DTypeLike) -> tuple[Any, list[int], int]:
        own = device_memory.allocate(self.device, array_bytes(shape, dtype))
        self._group._memory.append(own)
        for other in self._group.devices:
            device_memory.reach(self.device, other)
        return own.tensor(shape, dtype), self.exchange(own.address), 0


class DeviceRanks:
    """A group of ranks of this process. ``run`` gives every rank its program."""

    def __init__(self, devices: Sequence[Any]) -> None:
        if not devices:
            raise DslValueError("there is no device", hint='name one for each rank: ["cuda:0", "cuda:1"]')
        self.devices = list(devices)
        self._board: list[Any] = [None] * len(self.devices)
        self._meeting = threading.Barrier(len(self.devices))
        self._memory: list[device_memory.DeviceMemory] = []
        self._stuck = False

    def run(self, program: Callable[[DeviceRank], Any]) -> list[Any]:
        """Call ``program(rank)`` for every rank, all together; what each returned. The first error is raised.

        Symmetric tensors live until all ranks have returned and their streams are through. Ranks whose kernels wait for
        one that has failed are left behind after a time limit (`FLYDSL_RUNTIME_PEER_LIMIT`).
        """
        import torch

        if self._stuck:
            raise DslRuntimeError("kernels of these ranks still wait for one that has failed", hint="end this process")
        results: list[Any] = [None] * len(self.devices)
        failures: list[tuple[int, BaseException]] = []

        def one(number: int) -> None:
            try:
                with torch.cuda.device(self.devices[number]):
                    stream = torch.cuda.Stream()
                    with torch.cuda.stream(stream):
                        results[number] = program(DeviceRank(self, number, stream))
                    stream.synchronize()
            except BaseException as error:
                failures.append((number, error))
                self._meeting.abort()

        threads = [threading.Thread(target=one, args=(number,), daemon=True) for number in range(len(self.devices))]
        for thread in threads:
            thread.start()
        stuck = self._await(threads, failures)
        if stuck:  # nothing ends their kernels but the end of this process, and those still use the memory
            self._stuck = True
            number, error = failures[0]
            error.add_note(f"raised by rank {number} of {len(threads)}; kernels of ranks {stuck} wait for it, for ever")
            raise error
        self._meeting.reset()
        while self._memory:
            self._memory.pop().close()
        if failures:
            number, error = failures[0]
            error.add_note(f"raised by rank {number} of {len(self.devices)}")
            raise error
        return results

    def _await(self, threads: Sequence[threading.Thread], failures: Sequence[Any]) -> list[int]:
        """Wait for all ranks, and after a failure no longer than the time limit; those that have not ended then."""
        limit = knobs.RUNTIME_PEER_LIMIT.get() or float("inf")
        until = float("inf")
        while any(thread.is_alive() for thread in threads) and time.monotonic() < until:
            next(thread for thread in threads if thread.is_alive()).join(_GLANCE)
            until = min(until, time.monotonic() + limit) if failures else until
        return [number for number, thread in enumerate(threads) if thread.is_alive()]


def device_ranks(devices: Sequence[Any]) -> DeviceRanks:
    """Ranks of this process on GPUs, one for each of ``devices``; ``.run(program)`` calls ``program(rank)`` for each.

    A device is one of torch's, or its name; a device that is named twice has two ranks, each with a stream of its own.
    """
    import torch

    return DeviceRanks([torch.device(device) for device in devices])
