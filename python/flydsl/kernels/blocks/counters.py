"""Counters of blocks that are done, for launches whose last blocks put results together, and of tiles that were drawn.

A launch finds its counters zero and leaves them so. Launches of one stream run one after the other and share them;
what is captured in a graph may run beside anything: a launch has one of its own there for good, from a stock that was
set to zero before, or several that the graph sets to zero.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np

from flydsl.kernels.blocks.inputs import current_stream

MOST = 8192
"""Counters that a stream has."""
AHEAD, STOCK, STEP = 256, 4096, 32
"""Launches in graphs that counters are there for before any was captured, and that more are made for at a time once
some were; and the words from one's counter to the next: a cache line."""
_PER_THREAD = 2
"""CUDA's handle of the default stream of whichever thread asks: not one stream."""


class Stock:
    """Counters of a GPU for launches in graphs: of each, one that no other launch ever has, and that is kept."""

    def __init__(self) -> None:
        self._made: list[Any] = []
        self._left: list[tuple[Any, int]] = []

    def fill(self, x: Any) -> None:
        """Make new ones beside a tensor, if few are left, and wait for them: a graph is launched on any stream."""
        if len(self._left) < AHEAD:
            words = _zeros(x, (STOCK if self._made else AHEAD) * STEP)
            sys.modules["torch"].cuda.current_stream(x.device).synchronize()
            self._made.append(words)
            self._left += [(words, place) for place in range(0, len(words), STEP)]

    def take(self) -> Any:
        """Return one that nobody had, or None."""
        if not self._left:
            return None
        words, place = self._left.pop()
        return words[place : place + 1]


@cache
def stock_of_device(device: int) -> Stock:
    return Stock()


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
    if isinstance(x, np.ndarray):
        return np.zeros(count, np.int32)
    if count > MOST:
        return x.new_zeros(count, dtype=sys.modules["torch"].int32)
    if not x.is_cuda:
        return _zeros(x, count)
    device = x.device.index
    stream, stock = current_stream(device), stock_of_device(device)
    if is_capturing(device):
        own = stock.take() if count == 1 else None
        return _zeros(x, count) if own is None else own
    if stream == _PER_THREAD:
        return _zeros(x, count)
    stock.fill(x)
    known = counters_of_device(device)
    if stream not in known:
        made = known.setdefault(stream, _zeros(x, MOST))
        counter_addresses(device)[stream] = made.data_ptr()
    return known[stream]


def is_capturing(device: int) -> bool:
    """Return whether what is launched on a GPU's current stream goes into a graph."""
    torch = sys.modules["torch"]
    if device != torch._C._cuda_getDevice():
        with torch.cuda.device(device):
            return torch._C._cuda_isCurrentStreamCapturing()
    return torch._C._cuda_isCurrentStreamCapturing()


def _zeros(x: Any, count: int) -> Any:
    torch = sys.modules["torch"]
    with torch._C._DisableTorchDispatch():  # what is not made for one call is nothing that a recording has to make
        return x.new_zeros(count, dtype=torch.int32)
