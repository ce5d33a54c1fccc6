"""Counters of blocks that are done, for launches whose last blocks put results together.

A launch finds its counters zero and leaves them so. Launches of one stream run one after the other and share them;
what is captured in a graph may run beside anything, and has some of its own, which the graph sets to zero.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from flydsl.ops import arrays

MOST = 8192
"""Counters that a stream has."""
_PER_THREAD = 2
"""CUDA's handle of the default stream of whichever thread asks: not one stream."""


@cache
def counters_of_device(device: int) -> dict[int, Any]:
    """Return the counters of a GPU's streams."""
    return {}


@cache
def counter_addresses(device: int | None) -> dict[int, int]:
    """Return where the counters of a GPU's streams begin; None is the host, which has none to keep."""
    return {}


def counters_of(x: Any, count: int = 1) -> Any:
    """Return counters for a launch on an array's device and current stream: i32 that are zero, ``count`` or more."""
    if arrays.is_array(x):
        return np.zeros(count, np.int32)
    if count > MOST:
        return x.new_zeros(count, dtype=arrays.met_torch().int32)
    stream = arrays.stream_of(x)
    if not x.is_cuda or stream == _PER_THREAD or arrays.is_capturing(x.device.index):
        return _zeros(x, count)
    known = counters_of_device(x.device.index)
    if stream not in known:
        made = known.setdefault(stream, _zeros(x, MOST))
        counter_addresses(x.device.index)[stream] = made.data_ptr()
    return known[stream]


def _zeros(x: Any, count: int) -> Any:
    torch = arrays.met_torch()
    with torch._C._DisableTorchDispatch():  # what is not made for one call is nothing that a recording has to make
        return x.new_zeros(count, dtype=torch.int32)
