"""Reductions over a wave: every lane gets the result. Values meet by xor shuffles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flydsl.expr as fx

Combine = Callable[[Any, Any], Any]


def add(a: Any, b: Any) -> Any:
    return a + b


def maximum(a: Any, b: Any) -> Any:
    return fx.max(a, b)


def wave_reduce(value: Any, combine: Combine, lanes: int | None = None) -> Any:
    """Combine a value over all lanes of the wave, or over each group of ``lanes`` neighbours."""
    distance = (lanes or fx.num_warp_threads()) // 2
    while fx.const_expr(distance > 0):
        value = combine(value, fx.shuffle_xor(value, distance, fx.num_warp_threads()))
        distance //= 2
    return value


def wave_count(threads: int) -> int:
    """How many waves a block of that many threads has on the current target."""
    return -(-threads // fx.num_warp_threads())
