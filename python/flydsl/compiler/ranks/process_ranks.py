"""`flyc.process_rank`: this process as one of the ranks of a `torch.distributed` process group, of any back end.

The group carries what programs tell each other; kernels reach each other's memory directly. On the CPU that is shared
memory of one machine, on GPUs memory that the driver opens in other processes (`runtime/device_memory.py`).
"""

from __future__ import annotations

import math
import os
import socket
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from flydsl.base import knobs
from flydsl.base.errors import DriverError, DslRuntimeError, DslValueError
from flydsl.compiler.cache.compiled_code import pool_object
from flydsl.compiler.ranks.process_watch import ProcessWatch, ended
from flydsl.compiler.ranks.rank import Rank
from flydsl.runtime import device_memory, host_pool, host_ranks
from flydsl.runtime.symmetric_memory import (
    ALIGNMENT,
    array_bytes,
    opened_file,
    part_of,
    shared_file,
    stride_of,
    virtual_multicast,
)

T = TypeVar("T")
Memory = Literal["auto", "handles", "torch"]


class ProcessRank(Rank):
    """This process as a rank; ``close`` gives back the memory that it shares."""

    def __init__(self, group: Any, device: object, memory: Memory) -> None:
        import torch.distributed as dist

        super().__init__(dist.get_rank(group), dist.get_world_size(group))
        self._dist, self._group, self.device = dist, group, device
        self._handles: dict[int, int] = {}
        self._pieces: list[Any] = []
        """Memory of all ranks, which is unmapped when nobody has it any more."""
        self._opened: list[device_memory.DeviceMemory] = []
        rows = self.exchange((socket.gethostname(), os.getpid()))
        self._one_machine = len({host for host, _ in rows}) == 1
        self._by_torch = memory == "torch" and device != "cpu"
        if self._one_machine and memory == "auto" and device != "cpu":
            found = self.exchange(device_memory.multicast_device(device))
            self._by_torch = all(able for _, able in found) and len({name for name, _ in found}) == self.world
        self.multicast = device == "cpu" or self._by_torch
        self._process_watch: ProcessWatch | None = None
        if self._one_machine:
            self._watch([(rank, process) for rank, (_, process) in enumerate(rows) if rank != self.number])

    def _watch(self, others: Sequence[tuple[int, int]]) -> None:
        """Launches of the virtual GPU look for dead ranks themselves; for a GPU a thread does."""
        limit = knobs.RUNTIME_PEER_LIMIT.get()
        if self.device == "cpu":
            host_pool.start(pool_object)
            handles = host_ranks.watch_processes(others, limit)
        else:
            try:
                handles = [os.pidfd_open(process) for _, process in others]
            except OSError:  # processes of another container, which kernels reach and this cannot see
                return
        self._handles = {rank: handle for (rank, _), handle in zip(others, handles, strict=True)}
        if self.device != "cpu":
            wait = partial(device_memory.synchronize, self.device)
            self._process_watch = ProcessWatch(self.number, self._handles, wait, limit)

    def dead(self) -> list[int]:
        """Ranks whose processes have ended."""
        return ended(self._handles)

    def _collective(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except RuntimeError as error:
            dead = self.dead()
            if not dead:
                raise
            raise DslRuntimeError(
                f"rank {dead[0]} has died: rank {self.number} waits for it in vain", hint="look for its error"
            ) from error

    def barrier(self) -> None:
        """Wait for every rank on the host."""
        self._collective(lambda: self._dist.barrier(self._group))

    def exchange(self, value: T) -> list[T]:
        """Return what every rank gave, in the order of ranks."""
        found: list[Any] = [None] * self.world
        self._collective(lambda: self._dist.all_gather_object(found, value, group=self._group))
        return found

    def _allocate(self, shape: Sequence[int], dtype: DTypeLike) -> tuple[Any, list[int], int]:
        if not self._one_machine:
            raise DslRuntimeError(
                "ranks on several machines cannot reach each other's memory", hint="make a group of one machine's ranks"
            )
        size = array_bytes(shape, dtype)
        if self.device == "cpu":
            return self._on_host(size, shape, dtype)
        return self._by_torch_memory(size, shape, dtype) if self._by_torch else self._on_device(size, shape, dtype)

    def _by_torch_memory(self, size: int, shape: Sequence[int], dtype: DTypeLike) -> tuple[Any, list[int], int]:
        kind, group = np.dtype(dtype), self._group or self._dist.group.WORLD
        raw, addresses, multicast = device_memory.by_torch(self.device, -(-size // ALIGNMENT) * ALIGNMENT, group)
        self._pieces.append(raw)
        self.multicast = self.multicast and multicast != 0
        local = raw[: math.prod(shape) * kind.itemsize].view(device_memory.torch_type(kind)).reshape(tuple(shape))
        return local, addresses, multicast

    def _on_host(self, size: int, shape: Sequence[int], dtype: DTypeLike) -> tuple[Any, list[int], int]:
        stride = stride_of(size)
        path, own = shared_file(stride * self.world) if self.number == 0 else ("", None)
        path = self.exchange(path)[0]
        piece = opened_file(path) if own is None else own
        self._pieces.append(piece)
        memory = np.frombuffer(piece, np.uint8)
        self.barrier()
        if own is not None:
            os.unlink(path)  # all have it open: it is gone when the last process ends, however that ends
        first = memory.ctypes.data
        addresses = [first + rank * stride for rank in range(self.world)]
        return (
            part_of(memory, self.number, stride, shape, dtype), addresses, virtual_multicast(first, stride, self.world)
        )  # fmt: skip

    def _on_device(self, size: int, shape: Sequence[int], dtype: DTypeLike) -> tuple[Any, list[int], int]:
        own = device_memory.allocate(self.device, size)
        self._opened.append(own)
        addresses, problem = [], ""
        for rank, handle in enumerate(self.exchange(own.handle())):
            try:
                memory = own if rank == self.number else device_memory.opened(self.device, handle)
            except DriverError as error:
                problem = f"rank {self.number} cannot reach the memory of rank {rank}: {error.message}"
                break
            self._opened += [memory] if memory is not own else []
            addresses.append(memory.address)
        problem = next(filter(None, self.exchange(problem)), "")
        if problem:  # on every rank the same, so that all go on another way
            raise DslRuntimeError(problem, hint="use GPUs that are connected, or the process group's own collectives")
        return own.tensor(shape, dtype), addresses, 0

    def close(self) -> None:
        """Give back the memory of all symmetric tensors of this rank. All ranks call it, when no kernel runs."""
        self.barrier()
        for memory in reversed(self._opened):
            memory.close()
        self._opened.clear()
        self._pieces.clear()
        if self._process_watch is not None:
            self._process_watch.close()
        for handle in self._handles.values():
            os.close(handle)
        self._handles.clear()
        if self.device == "cpu":
            host_ranks.watch_processes([], 0)


def process_rank(group: Any = None, *, device: Any = "cpu", memory: Memory = "auto") -> ProcessRank:
    """Return this process as a rank of a `torch.distributed` process group, the default one without ``group``.

    ``device`` says where symmetric memory is: "cpu" for the virtual GPU, or a CUDA or HIP device of torch. There
    ``memory`` is shared by "handles" of the driver, or is "torch"'s symmetric memory; "auto" takes the latter where it
    has multicast addresses.
    """
    import torch
    import torch.distributed as dist

    if not dist.is_initialized():
        raise DslRuntimeError(
            "there is no process group", hint='call torch.distributed.init_process_group("gloo") first, under torchrun'
        )
    if memory not in ("auto", "handles", "torch"):
        raise DslValueError(f"there is no memory {memory!r}", hint='choose "auto", "handles" or "torch"')
    return ProcessRank(group, "cpu" if str(device) == "cpu" else torch.device(device), memory)
