"""`do_bench`: how long a call takes, by the device's events on a GPU and by a monotonic clock on the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any, overload

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.compiler.backends.base import current_device
from flydsl.runtime.device_events import has_events, run_times


@overload
def do_bench(fn: Callable[[], object], warmup: int = 5, rep: int = 25, quantiles: None = None, *, device: Any = None,
             stream: int = 0, prepare: Callable[[], object] | None = None) -> float: ...  # fmt: skip


@overload
def do_bench(fn: Callable[[], object], warmup: int = 5, rep: int = 25, *, quantiles: Sequence[float],
             device: Any = None, stream: int = 0,
             prepare: Callable[[], object] | None = None) -> list[float]: ...  # fmt: skip


def do_bench(fn: Callable[[], object], warmup: int = 5, rep: int = 25, quantiles: Sequence[float] | None = None, *,
             device: Any = None, stream: int = 0,
             prepare: Callable[[], object] | None = None) -> float | list[float]:  # fmt: skip
    """Return the median time of ``fn()`` in milliseconds over ``rep`` runs, after ``warmup`` runs that do not count.

    With ``quantiles`` a list with the time at each of them. ``device`` is by default the one new work goes to and
    ``stream`` its default stream; ``prepare()`` runs before every run and is not measured.
    """
    if not callable(fn):
        raise DslTypeError(f"do_bench measures a function without arguments, got {type(fn).__name__}")
    if rep < 1 or warmup < 0:
        raise DslValueError(f"do_bench needs rep >= 1 and warmup >= 0, got rep={rep} and warmup={warmup}")
    if quantiles is not None and not all(0 <= q <= 1 for q in quantiles):
        raise DslValueError(f"quantiles lie between 0 and 1, got {list(quantiles)}")
    device = current_device() if device is None else device
    for _ in range(warmup):
        if prepare is not None:
            prepare()
        fn()
    device.synchronize()
    if has_events(device):
        times = run_times(device, fn, prepare, stream, rep)
    else:
        times = _clock_times(device, fn, prepare, rep)
    times.sort()
    return _quantile(times, 0.5) if quantiles is None else [_quantile(times, share) for share in quantiles]


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Return the measured time nearest to a share of the way from the shortest to the longest."""
    last = len(ordered) - 1
    return ordered[int(share * last + 0.5)]


def _clock_times(device: Any, fn: Callable[[], object], prepare: Callable[[], object] | None, rep: int) -> list[float]:
    times: list[float] = []
    for _ in range(rep):
        if prepare is not None:
            prepare()
        device.synchronize()
        start = perf_counter_ns()
        fn()
        device.synchronize()
        times.append((perf_counter_ns() - start) / 1e6)
    return times
