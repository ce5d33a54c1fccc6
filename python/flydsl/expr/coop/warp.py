"""Reductions and scans over a wave. See `flydsl.expr.coop`."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslValueError
from flydsl.expr import gpu
from flydsl.expr.numeric import Int32, Numeric, as_numeric
from flydsl.expr.trace.warp_operation import Combine, combination, identity_of, is_named, wave_width


def warp_reduce(value: Any, op: Any, *, width: int | None = None, stride: int = 1) -> Any:
    """Return all values of a segment of ``width`` lanes (the wave by default) combined, in every lane of it.

    With a ``stride``, those of lanes that lie a multiple of it apart: lanes that share a column of a fragment.
    Functions of the user's take values in the order of lanes.
    """
    number, combine, size = as_numeric(value), combination(op), wave_width(width)
    if wave_width(stride) > size:
        raise DslValueError(f"lanes {stride} apart do not lie in one segment of {size}", hint="leave width out")
    if not is_named(op):
        return _reduce_in_order(number, combine, size, stride)
    step = size // 2
    while step >= stride:
        number = combine(number, gpu.shuffle_xor(number, step, size))
        step //= 2
    return number


def _reduce_in_order(number: Numeric, combine: Combine, size: int, step: int) -> Numeric:
    """Return what neighbours hold, then neighbouring pairs, and so on: the lower lanes' part is the first operand."""
    lane = gpu.lane_id()
    while step < size:
        other = gpu.shuffle_xor(number, step, size)
        upper = (lane & step) != 0
        number = combine(upper.select(other, number), upper.select(number, other))
        step *= 2
    return number


def _lane_in(size: int) -> Int32:
    lane = gpu.lane_id()
    return lane if size == gpu.num_warp_threads() else lane % size


def inclusive_of_wave(number: Numeric, combine: Combine, size: int) -> Numeric:
    """Return each lane's value combined with those of the lanes before it, doubling the distance each step."""
    lane, step = _lane_in(size), 1
    while step < size:
        before = gpu.shuffle_up(number, step, size)
        number = (lane >= step).select(combine(before, number), number)
        step *= 2
    return number


def warp_inclusive_scan(value: Any, op: Any, *, width: int | None = None, init: Any = None) -> Any:
    """Lane k gets the combination of lanes 0 to k; ``init``, if given, comes before them."""
    number, combine, size = as_numeric(value), combination(op), wave_width(width)
    scanned = inclusive_of_wave(number, combine, size)
    return scanned if init is None else combine(type(number)(init), scanned)


def warp_exclusive_scan(value: Any, op: Any, *, width: int | None = None, init: Any = None) -> Any:
    """Lane k gets the combination of ``init`` (the identity of ``op``) and lanes 0 to k - 1."""
    return warp_scan(value, op, width=width, init=init)[1]


def warp_scan(value: Any, op: Any, *, width: int | None = None, init: Any = None) -> tuple[Any, Any]:
    """Both scans: (inclusive, exclusive)."""
    return warp_scan_with_aggregate(value, op, width=width, init=init)[:2]


def warp_scan_with_aggregate(
    value: Any, op: Any, *, width: int | None = None, init: Any = None
) -> tuple[Any, Any, Any]:
    """Both scans, and the combination of all lanes (without ``init``): (inclusive, exclusive, aggregate)."""
    number, combine, size = as_numeric(value), combination(op), wave_width(width)
    first = identity_of(op, type(number)) if init is None else type(number)(init)
    scanned = inclusive_of_wave(number, combine, size)
    aggregate = gpu.shuffle_idx(scanned, size - 1, size)
    before = gpu.shuffle_up(scanned, 1, size)
    before = before if init is None else combine(first, before)
    exclusive = (_lane_in(size) == 0).select(first, before)
    return (scanned if init is None else combine(first, scanned)), exclusive, aggregate


__all__ = [
    "warp_exclusive_scan", "warp_inclusive_scan", "warp_reduce", "warp_scan", "warp_scan_with_aggregate",
]  # fmt: skip
