"""Counters of blocks that are done, for launches whose last block puts results together.

A launch finds its counter zero and leaves it so. Launches of one stream run one after the other and share a counter;
what is captured in a graph may run beside anything, and has one of its own, which the graph sets to zero.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from flydsl.ops import arrays

_PER_THREAD = 2
"""CUDA's handle of the default stream of whichever thread asks: not one stream."""


@cache
def counters_of_device(device: int) -> dict[int, Any]:
    """Return the counters of a GPU's streams."""
    return {}


def counter_of(x: Any) -> Any:
    """Return a counter for a launch on an array's device and current stream, an i32 that is zero."""
    if arrays.is_array(x):
        return np.zeros(1, np.int32)
    stream = arrays.stream_of(x)
    if not x.is_cuda or stream == _PER_THREAD or arrays.is_capturing(x.device.index):
        return _zero(x)
    known = counters_of_device(x.device.index)
    return known[stream] if stream in known else known.setdefault(stream, _zero(x))


def _zero(x: Any) -> Any:
    torch = arrays.met_torch()
    with torch._C._DisableTorchDispatch():  # what is not made for one call is nothing that a recording has to make
        return x.new_zeros(1, dtype=torch.int32)


def is_counter(address: int, device: int | None) -> bool:
    """Return whether a stream of a GPU has its counter there; None is the host, which has none to keep."""
    return device is not None and any(address == kept.data_ptr() for kept in counters_of_device(device).values())


def addresses_for(device: int) -> Callable[[int], int]:
    """Return a function for replays: where the counter of a stream lies, and -1 where there is none for this call."""
    known = counters_of_device(device)

    def address(stream: int) -> int:
        return known[stream].data_ptr() if stream in known and not arrays.is_capturing(device) else -1

    return address
