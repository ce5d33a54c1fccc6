"""The scheduler of virtual ranks in this process, and who waited when a launch could not go on.

`native/src/host_ranks.h` runs blocks that wait for each other; this is its face in Python.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Sequence
from typing import NamedTuple

from flydsl.native.constants import (
    RANKS_MOST,
    WAITING_BLOCK,
    WAITING_CODE,
    WAITING_GRID,
    WAITING_LEFT,
    WAITING_MOST,
    WAITING_RANK,
    WAITING_SITE,
    WAITING_WORDS,
)
from flydsl.runtime import host_pool

_thread = threading.local()
MOST_RANKS = RANKS_MOST
INT = ctypes.c_int32


class Waiter(NamedTuple):
    """A block that waits: of which rank (-1 without ranks), where, and how many blocks of its launch never began."""

    rank: int
    block: tuple[int, int, int]
    site: int
    code: int
    left: int


def call(name: str, *arguments: int, result: type[ctypes.c_int32] | None = None) -> int:
    """Call a function of the scheduler with integers or addresses."""
    kinds = [ctypes.c_int64 if abs(argument) >= 2**31 else ctypes.c_int32 for argument in arguments]
    return ctypes.CFUNCTYPE(result, *kinds)(host_pool.address(f"fly_ranks_{name}"))(*arguments)


def begin(count: int, seed: int, places: int) -> None:
    """Begin a group of ranks, whose launches are interleaved by a seed; ``places`` blocks fit on each at once."""
    function = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.c_uint64, ctypes.c_int32)
    function(host_pool.address("fly_ranks_begin"))(count, seed, places)


def share(address: int, size: int) -> None:
    """Let the sanitizer of ranks follow so many bytes."""
    ctypes.CFUNCTYPE(None, ctypes.c_uint64, ctypes.c_uint64)(host_pool.address("fly_ranks_memory"))(address, size)


def is_rank() -> bool:
    """Return whether this thread is a virtual rank."""
    return getattr(_thread, "rank", False)


def enter(number: int) -> None:
    """Wait for the first turn of a rank, whose thread this is."""
    call("enter", number)
    _thread.rank = True


def waiters() -> tuple[list[Waiter], int]:
    """Return the blocks that waited when a launch last gave up, and the rank whose process has died, or -1."""
    function = ctypes.CFUNCTYPE(ctypes.c_void_p)(host_pool.address("fly_ranks_waiting"))
    words = (ctypes.c_int64 * (WAITING_MOST * WAITING_WORDS)).from_address(function())
    rows = [words[at : at + WAITING_WORDS] for at in range(0, len(words), WAITING_WORDS)]
    found: list[Waiter] = []
    for row in rows[:-1]:
        number = row[WAITING_BLOCK]
        if number < 0:
            break
        x, y = row[WAITING_GRID], row[WAITING_GRID + 1]
        block = (number % x, number // x % y, number // x // y)
        found.append(Waiter(row[WAITING_RANK], block, row[WAITING_SITE], row[WAITING_CODE], row[WAITING_LEFT]))
    return found, rows[-1][0]


def watch_processes(processes: Sequence[tuple[int, int]], seconds: float) -> list[int]:
    """Let launches wait for what other processes write: (rank, process) of each; handles to close in the end.

    A launch that looks in vain for ``seconds`` gives up, and at once when one of the processes has died.
    """
    handles = [os.pidfd_open(process) for _, process in processes]
    table, numbers = ((ctypes.c_int32 * max(len(row), 1))(*row) for row in (handles, [rank for rank, _ in processes]))
    function = ctypes.CFUNCTYPE(None, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64)
    function(host_pool.address("fly_ranks_outside"))(
        len(handles), ctypes.addressof(table), ctypes.addressof(numbers), int(seconds * 1e9)
    )
    return handles
