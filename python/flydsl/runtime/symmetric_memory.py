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

ALIGNMENT = 256
"""Bytes. Kernels may take the widest accesses from where symmetric memory begins."""


def array_bytes(shape: Sequence[int], dtype: DTypeLike) -> int:
    """Bytes of an array, one at least."""
    return max(math.prod(shape) * np.dtype(dtype).itemsize, 1)


def aligned_array(shape: Sequence[int], dtype: DTypeLike, memory: mmap.mmap | None = None) -> Any:
    """An array of zeros that begins where wide accesses may; in ``memory``, where some is given."""
    kind = np.dtype(dtype)
    size = math.prod(shape) * kind.itemsize
    raw = np.zeros(size + ALIGNMENT, np.uint8) if memory is None else np.frombuffer(memory, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(kind).reshape(tuple(shape))


def shared_file(size: int) -> tuple[str, mmap.mmap]:
    """Memory of zeros that other processes of this machine can open, and the path of its file."""
    folder = "/dev/shm" if os.path.isdir("/dev/shm") else None
    handle, path = tempfile.mkstemp(prefix="flydsl_rank_", dir=folder)
    os.ftruncate(handle, size)
    return path, _mapped(handle)


def opened_file(path: str) -> mmap.mmap:
    """The memory of another process."""
    return _mapped(os.open(path, os.O_RDWR))


def _mapped(handle: int) -> mmap.mmap:
    try:
        return mmap.mmap(handle, os.fstat(handle).st_size)
    finally:
        os.close(handle)


def address_table(local: object, addresses: Sequence[int]) -> Any:
    """The addresses of all ranks, where kernels can read them: beside ``local``."""
    table = np.array(addresses, np.int64)
    if isinstance(local, np.ndarray):
        return table
    import torch

    return torch.from_numpy(table).to(getattr(local, "device"))  # noqa: B009 - of a tensor, which this does not know
