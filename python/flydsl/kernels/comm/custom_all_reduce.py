"""The all-reduce object by the names of FlyDSL: `init_custom_ar`, `FlyDSLAllreduce`.

All ranks make it together, and make the same calls. Calls are counted in device memory, so a graph that captured them
may be replayed; nothing has to be registered afterwards, because data goes through the stage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import flydsl.compiler as flyc
from flydsl.kernels.comm.model import fastest_way
from flydsl.kernels.comm.packs import PACK_BYTES
from flydsl.kernels.comm.rank_collectives import NAMES, Collectives

MAX_SIZE = 8192 * 1024 * 16
WORLDS = (2, 4, 8)
WRITE_ELEMENTS = 512 * 4096
"""Elements from which on eight ranks write into each other's memory instead of reading it."""


def meta_size() -> int:
    """Bytes that the caller has to add to the memory it shares: none."""
    return 0


class FlyDSLAllreduce:
    """All-reduce and all-gather of one rank."""

    def __init__(self, rank: flyc.Rank, max_size: int = MAX_SIZE, *, threads: int = 512, blocks: int = 16) -> None:
        if rank.world not in WORLDS:
            raise ValueError(f"the number of ranks is one of {WORLDS}, got {rank.world}")
        self.rank, self.max_size = rank, max_size
        self._collectives: Collectives | None = Collectives(
            rank, max_bytes=max_size // 2, threads=threads, blocks=blocks, check="new"
        )

    def should_custom_ar(self, inp: Any) -> bool:
        """Return whether `custom_all_reduce` takes an array."""
        name = str(inp.dtype).rpartition(".")[2]
        size = _bytes(inp)
        return self._collectives is not None and name in NAMES and size % PACK_BYTES == 0 and size <= self.max_size // 2

    def custom_all_reduce(
        self, inp: Any, *, out: Any = None, use_new: bool = True, open_fp8_quant: bool = False,
        validate: bool = True, stream_ptr: object = None,
    ) -> Any:  # fmt: skip
        """Return the sum over ranks, or None where it is not for us: another type, too large, or no multiple of 16
        bytes."""
        if validate and not self.should_custom_ar(inp):
            return None
        return self.all_reduce_reg(inp, out, open_fp8_quant=open_fp8_quant, stream_ptr=stream_ptr)

    def all_reduce_reg(
        self, inp: Any, out: Any = None, *, open_fp8_quant: bool = False, stream_ptr: object = None
    ) -> Any:
        """Return the sum over ranks; ``out`` is written where it is given. ``open_fp8_quant`` sends numbers in 8
        bits."""
        if open_fp8_quant:
            return self._open().all_reduce(inp, out, wire="fp8", stream=stream_ptr)
        return self._open().all_reduce(inp, out, way=self._way(inp), stream=stream_ptr)

    def all_gather_reg(self, inp: Any, out: Any = None, *, stream_ptr: object = None) -> Any:
        """Return what all ranks have, in a new first mode."""
        return self._open().all_gather(inp, out, stream=stream_ptr)

    def _way(self, inp: Any) -> str:
        size = _bytes(inp)
        if self.rank.world == 8 and size // inp.itemsize > WRITE_ELEMENTS:
            return "all_reduce_write"
        return fastest_way(self.rank.world, size)

    @contextmanager
    def capture(self) -> Iterator[None]:
        """Calls inside are captured into a graph: ranks agree on nothing over the host meanwhile."""
        collectives = self._open()
        before, collectives.check = collectives.check, "never"
        try:
            yield
        finally:
            collectives.check = before

    def close(self) -> None:
        """Refuse calls from now on, and let the memory go."""
        self._collectives = None

    def _open(self) -> Collectives:
        if self._collectives is None:
            raise RuntimeError("the all-reduce is closed")
        return self._collectives


def _bytes(array: Any) -> int:
    return int(array.itemsize) * int(array.size if not callable(array.size) else array.numel())


def init_custom_ar(
    meta: object, rank_data: object, handles: Sequence[object], offsets: Sequence[int], rank: int | flyc.Rank,
    full_nvlink: bool, out: object = None, max_size: int = MAX_SIZE,
) -> FlyDSLAllreduce:  # fmt: skip
    """Return the all-reduce object of a rank.

    ``rank`` is a `flyc.Rank`, or the number of this process in the default process group of `torch.distributed`. The
    memory is allocated and opened by us: of ``meta``, ``rank_data``, ``handles``, ``offsets`` and ``out`` only the
    number of ranks and the device are read.
    """
    if not full_nvlink and len(handles) > 2:
        raise ValueError("more than two ranks need links between all of them")
    if len(handles) != len(offsets):
        raise ValueError(f"every rank has a handle and an offset, got {len(handles)} and {len(offsets)}")
    if not isinstance(rank, flyc.Rank):
        number, rank = rank, flyc.process_rank(device=getattr(meta, "device", "cpu"))
        if rank.number != number:
            raise ValueError(f"this process is rank {rank.number} of its process group, not {number}")
    if rank.world != len(handles):
        raise ValueError(f"{len(handles)} handles are given for {rank.world} ranks")
    return FlyDSLAllreduce(rank, max_size)
