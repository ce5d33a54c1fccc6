"""Reductions over a wave and over a block: every thread gets the result.

Inside a wave values meet by xor shuffles; the waves of a block meet in shared memory, one slot each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx

Combine = Callable[[Any, Any], Any]


def add(a: Any, b: Any) -> Any:
    return a + b


def maximum(a: Any, b: Any) -> Any:
    return fx.max(a, b)


def wave_reduce(value: Any, combine: Combine) -> Any:
    """Combine a value over all lanes of the wave."""
    width = fx.num_warp_threads()
    distance = width // 2
    while fx.const_expr(distance > 0):
        value = combine(value, fx.shuffle_xor(value, distance, width))
        distance //= 2
    return value


def wave_count(threads: int) -> int:
    """How many waves a block of that many threads has on the current target."""
    return -(-threads // fx.num_warp_threads())


@flyc.jit
def block_reduce(value: Any, combine: Combine, slots: Any, threads: int) -> Any:
    """Combine a value over the block; ``slots`` is a shared tensor with one element per wave.

    Each reduction of a kernel needs slots of its own, so that no barrier is needed behind the reads.
    """
    value = wave_reduce(value, combine)
    waves = wave_count(threads)
    if fx.const_expr(waves == 1):
        return value
    thread = fx.thread_idx.x
    if fx.lane_id() == 0:
        slots[thread // fx.num_warp_threads()] = value
    fx.barrier()
    total = slots[0]
    for wave in fx.range_constexpr(1, waves):
        total = combine(total, slots[wave])
    return total
