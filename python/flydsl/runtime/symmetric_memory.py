"""Memory that several ranks share: arrays of the virtual GPU, and how the addresses of all ranks are kept."""

from __future__ import annotations

import math
import mmap
import os
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from flydsl.base.native_names import COUNT_SHIFT, STRIDE_SHIFT

ALIGNMENT = 256
"""Bytes. Kernels may take the widest accesses from where symmetric memory begins."""


def stride_of(size: int) -> int:
    """Bytes from a rank's memory to that of the next: a power of two, so that a multicast address can say it."""
    return 1 << max(size - 1, ALIGNMENT - 1).bit_length()


def virtual_multicast(first: int, stride: int, world: int) -> int:
    """Return the address that stands for the memory of all ranks on the virtual GPU; kernels only add offsets to it."""
    assert first < 1 << STRIDE_SHIFT, "an address has more bits than a process's"
    return first | (stride.bit_length() - 1) << STRIDE_SHIFT | world << COUNT_SHIFT


def part_of(memory: Any, number: int, stride: int, shape: Sequence[int], dtype: DTypeLike) -> Any:
    """Return the array of one rank in the memory of all."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    return memory[number * stride : number * stride + size].view(dtype).reshape(tuple(shape))


def array_bytes(shape: Sequence[int], dtype: DTypeLike) -> int:
    """Bytes of an array, one at least."""
    return max(math.prod(shape) * np.dtype(dtype).itemsize, 1)


def aligned_bytes(size: int) -> Any:
    """Bytes of zeros that begin where wide accesses may."""
    raw = np.zeros(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size]


def shared_file(size: int) -> tuple[str, mmap.mmap]:
    """Memory of zeros that other processes of this machine can open, and the path of its file."""
    folder = "/dev/shm" if os.path.isdir("/dev/shm") else None
    handle, path = tempfile.mkstemp(prefix="flydsl_rank_", dir=folder)
    os.ftruncate(handle, size)
    return path, _mapped(handle)


def opened_file(path: str) -> mmap.mmap:
    """Return the memory of another process."""
    return _mapped(os.open(path, os.O_RDWR))


def _mapped(handle: int) -> mmap.mmap:
    try:
        return mmap.mmap(handle, os.fstat(handle).st_size)
    finally:
        os.close(handle)


def address_table(local: object, addresses: Sequence[int], multicast: int = 0) -> Any:
    """Return the addresses of all ranks and their multicast address, where kernels can read them: beside ``local``."""
    table = np.array([*addresses, multicast], np.int64)
    if isinstance(local, np.ndarray):
        return table
    import torch

    return torch.from_numpy(table).to(getattr(local, "device"))  # noqa: B009 - of a tensor, which this does not know
