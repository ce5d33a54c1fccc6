"""Reductions over a wave, of which every lane gets the result, and over the vectors that a thread has of a row.

Values meet by xor shuffles on NVIDIA's GPUs. AMD's pass a shuffle through LDS; but an instruction may take an operand
from another lane of its row of 16 (DPP), and a few of them from another row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import flydsl.expr as fx

Combine = Callable[[Any, Any], Any]
LOWEST = float("-inf")

_IN_ROW = {1: 0xB1, 2: 0x4E, 4: 0x141, 8: 0x140}
"""Distance -> DPP control: quad_perm 1 0 3 2, quad_perm 2 3 0 1, row_half_mirror, row_mirror (CDNA3 ISA, DPP_CTRL). The
mirrors meet lanes 7 and 15 apart, which have what those 4 and 8 apart do once smaller groups are combined."""
_BEHIND = (0x142, 0x143)
"""row_bcast:15 and row_bcast:31: the last lane of a row, and of two, given to those behind it. The wave's last lane
then has everything."""
_SAME_PLACE = (0x76543210, 0xFEDCBA98 - (1 << 32))
"""What each lane of a row takes of the other row: the lane at its own place."""


def add(a: Any, b: Any) -> Any:
    return a + b


def maximum(a: Any, b: Any) -> Any:
    return fx.max(a, b)


def above_lowest(top: Any) -> Any:
    """Return what exponents of a row are taken relative to: where there is nothing but -inf, powers are zero, not of
    inf - inf."""
    return (top == LOWEST).select(fx.Float32(0.0), top)


def wave_reduce(value: Any, combine: Combine, lanes: int | None = None) -> Any:
    """Combine a value over all lanes of the wave, or over each group of ``lanes`` neighbours."""
    wave = fx.num_warp_threads()
    group = lanes or wave
    if not fx.nvvm.is_target():
        return _reduce_by_rows(value, combine, group, wave)
    distance = group // 2
    while fx.const_expr(distance > 0):
        value = combine(value, fx.shuffle_xor(value, distance, wave))
        distance //= 2
    return value


def wave_sums(parts: list[tuple[Any, int]]) -> list[Any]:
    """Return the sum of each value over groups of so many neighbouring lanes, step by step side by side: what one waits
    for comes while others are added."""
    wave, values = fx.num_warp_threads(), [value for value, _ in parts]
    if not fx.nvvm.is_target():
        return [wave_reduce(value, add, group) for value, group in parts]
    distance = max(group for _, group in parts) // 2
    while fx.const_expr(distance > 0):
        moved = [
            fx.shuffle_xor(value, distance, wave) if distance < group else None
            for value, (_, group) in zip(values, parts, strict=True)
        ]
        values = [value if other is None else value + other for value, other in zip(values, moved, strict=True)]
        distance //= 2
    return values


def halved(first: Any, second: Any, lanes: int) -> Any:
    """Return what a lane is to sum over half of so many lanes: the lower ones the first value, the upper ones the
    second, so that both take the steps of one."""
    upper = fx.lane_id() >= lanes // 2
    return upper.select(second, first) + fx.shuffle_xor(upper.select(first, second), lanes // 2, lanes)


def combined(values: list[Any], how: Combine) -> Any:
    """Combine several values of a lane, pair by pair."""
    while len(values) > 1:
        pairs = zip(values[::2], values[1::2], strict=False)
        values = [how(a, b) for a, b in pairs] + values[len(values) // 2 * 2 :]
    return values[0]


def wave_maximum(value: fx.Float32) -> Any:
    """Return the largest f32 of a whole wave of an NVIDIA GPU, by one instruction: as integers in the order of the
    numbers. The largest of all is a NaN, where it has no sign."""
    return in_order(fx.nvvm.redux(in_order(value.bitcast(fx.Int32)), "max")).bitcast(fx.Float32)


def in_order(bits: Any) -> Any:
    """Return integers in the order of the f32 whose bits these are, or the other way: those below zero turned
    around."""
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


def _reduce_by_rows(value: Any, combine: Combine, group: int, wave: int) -> Any:
    """`wave_reduce` on AMD's GPUs: rows of 16 lanes, then all of them."""
    for distance, control in _IN_ROW.items():
        if distance < group:
            value = combine(value, fx.rocdl.mov_dpp(value, control))
    if group <= 16:
        return value
    if wave == 32:
        return combine(value, fx.rocdl.permlane16(value, *_SAME_PLACE, across=True))
    if group == wave:
        for control in _BEHIND:
            value = combine(value, fx.rocdl.mov_dpp(value, control))
        return fx.rocdl.readlane(value, wave - 1)
    return combine(value, fx.shuffle_xor(value, 16, wave))


def wave_count(threads: int) -> int:
    """Return how many waves a block of that many threads has on the current target."""
    return -(-threads // fx.num_warp_threads())


# Of a thread ----------------------------------------------------------------------------------------------------------


def row_sum(row: Iterable[Any]) -> Any:
    """Return the sum of this thread's elements."""
    first, *others = (vector.reduce("add", fastmath="reassoc") for vector in row)
    return sum(others, first)


def sum_of_squares(row: Iterable[Any]) -> Any:
    """Return the sum of the squares of this thread's elements, each vector of which is asked for in its turn."""
    total = None
    for x in row:
        total = x * x if total is None else fx.math.fma(x, x, total)
    assert total is not None
    return total.reduce("add", fastmath="reassoc")


def dot(a: Iterable[Any], b: Iterable[Any]) -> Any:
    """Return the sum of the products of this thread's elements of two rows."""
    total = None
    for x, y in zip(a, b, strict=True):
        total = x * y if total is None else fx.math.fma(x, y, total)
    assert total is not None
    return total.reduce("add", fastmath="reassoc")
