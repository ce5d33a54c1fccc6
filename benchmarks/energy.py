"""Energy of work on a GPU, by the counter of the driver's management library."""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

BURST = 0.02
"""Seconds of work between two looks at the counter."""


@cache
def _counter() -> tuple[Any, Any] | None:
    """The library and its name of the first device, or None."""
    try:
        library, device = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p()
    except OSError:
        return None
    failed = library.nvmlInit_v2() or library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device))
    return None if failed else (library, device)


def _spent() -> float:
    """Joules since the driver was loaded, once the device is done; NaN where nobody counts."""
    torch.cuda.synchronize()
    found, value = _counter(), ctypes.c_ulonglong()
    if found is None or found[0].nvmlDeviceGetTotalEnergyConsumption(found[1], ctypes.byref(value)):
        return math.nan
    return value.value / 1e3


def _burst(work: Callable[[], Any]) -> int:
    """Work for `BURST` seconds, and return how many calls that were."""
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < BURST:
        work()
        torch.cuda.synchronize()
        count += 1
    return count


def joules(work: Callable[[], Any], seconds: float) -> float:
    """Of one call of ``work`` among so many seconds of them; NaN where nobody counts.

    The counter goes on a few times in a second, so calls are counted from one of its steps to another. Asking it takes
    long, and the device idles then, so it is asked once a burst.
    """
    first = last = _spent()
    while first == last:
        _burst(work)
        first = _spent()
    start, count, last, now = time.perf_counter(), 0, first, first
    while now == last or time.perf_counter() - start < seconds:
        count, last, now = count + _burst(work), now, _spent()
    return (now - first) / count
