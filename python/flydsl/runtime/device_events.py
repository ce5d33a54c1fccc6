"""Timing on a GPU: a pair of the driver's events around each run, and a write that empties the caches between runs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

FLUSH_BYTES = 256 << 20
"""More than the last cache of any GPU here holds: 60 MB on an H200, 256 MB on an MI300."""


class EventNames(NamedTuple):
    """The driver's functions for one job."""

    create: str
    record: str
    elapsed: str
    destroy: str
    fill: str


def has_events(device: Any) -> bool:
    """Return whether runs on a device can be timed by it."""
    return hasattr(device, "event_names")


def run_times(
    device: Any, fn: Callable[[], object], prepare: Callable[[], object] | None, stream: int, rep: int
) -> list[float]:
    """Milliseconds of ``rep`` runs on a stream, each with cold caches.

    The write before a run also keeps the device busy while the host queues the run, so that short kernels are not
    measured together with the time their launch takes.
    """
    names, handle = device.event_names, ctypes.c_void_p(stream)
    flush = device.allocate(FLUSH_BYTES)
    pairs: list[tuple[ctypes.c_void_p, ctypes.c_void_p]] = []
    try:
        for _ in range(rep):
            pairs.append((_event(device, names), _event(device, names)))
        for before, after in pairs:
            if prepare is not None:
                prepare()
                device.synchronize()
            with device.selected():
                fill = (ctypes.c_void_p(flush), ctypes.c_int(0), ctypes.c_size_t(FLUSH_BYTES), handle)
                device.driver.call(names.fill, *fill)
                device.driver.call(names.record, before, handle)
            fn()
            with device.selected():
                device.driver.call(names.record, after, handle)
        device.synchronize()
        return [_elapsed(device, names, before, after) for before, after in pairs]
    finally:
        with device.selected():
            for event in (event for pair in pairs for event in pair):
                device.driver.try_call(names.destroy, event)
        device.free(flush)


def _event(device: Any, names: EventNames) -> ctypes.c_void_p:
    event = ctypes.c_void_p()
    with device.selected():
        device.driver.call(names.create, ctypes.byref(event), ctypes.c_uint(0))
    return event


def _elapsed(device: Any, names: EventNames, before: ctypes.c_void_p, after: ctypes.c_void_p) -> float:
    milliseconds = ctypes.c_float()
    with device.selected():
        device.driver.call(names.elapsed, ctypes.byref(milliseconds), before, after)
    return milliseconds.value
