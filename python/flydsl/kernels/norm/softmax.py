"""Row softmax, f32 inside.

fn = build_softmax_module(M, N, "bf16")
fn(A, C, M, stream)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.activation import inverse, powers_of_e
from flydsl.kernels.blocks.exchange import FEW_WAVES
from flydsl.kernels.blocks.inputs import in_rows
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.reduce import LOWEST, above_lowest, add, maximum, row_sum, wave_maximum
from flydsl.kernels.blocks.row_choice import check_row, only, plan_row
from flydsl.kernels.blocks.row_loop import for_each_row
from flydsl.kernels.blocks.row_plan import RowPlan
from flydsl.kernels.blocks.row_work import RowArrays, RowWork
from flydsl.kernels.blocks.rows import Line, launch_rows


@kept
def build_softmax_module(
    M: int, N: int, dtype_str: str = "f32", threads: int | None = None, plan: RowPlan | None = None
) -> Any:
    """Return the launcher of a softmax over rows of N elements; ``M`` is a hint and may differ per call.

    A and C are matrices, or all of their rows in one mode. ``threads`` asks for blocks of so many threads, ``plan`` for
    one plan instead of the model's choice.
    """
    check_row(N, dtype_str)

    @flyc.kernel
    def softmax_kernel(A: fx.Tensor, C: fx.Tensor, m: fx.Int32, plan: fx.Constexpr):
        for_each_row(RowArrays((A,), (C,), fill=LOWEST, numbers=2), m, plan, softmax_row)

    @flyc.jit
    def softmax(A: fx.Tensor, C: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        choice = only(plan) if plan else plan_row(N, dtype_str, threads)
        A, C = in_rows(N, A, C)
        launch_rows(lambda chosen: softmax_kernel(A, C, m, chosen), m, choice, stream, (A, C))

    return softmax


def softmax_row(work: RowWork) -> None:
    """Each wave takes powers of e relative to its own maximum; one exchange of maxima and sums puts them together.

    Powers are kept where the row is; else they are computed again, relative to the row's maximum.
    """
    x, exchange = work.x[0], work.exchange
    if not x.held:
        kept: list[tuple[Any, Any]] | None = [] if exchange.plan.into_registers else None
        top, total = sum_of_powers(x, kept=kept)
        highest, total = powers_of_row(exchange, top, total)
        scale = inverse(total)
        if kept is not None:
            for iteration, (powers, base) in enumerate(kept):
                work.store(iteration, powers * (powers_of_e(base, highest) * scale))
            return
        for iteration, vector in enumerate(x.again()):
            work.store(iteration, powers_of_e(vector, highest) * scale)
        return
    top = top_of_wave(x, exchange)
    shift = above_lowest(top)
    powers = x.mapped(lambda vector: powers_of_e(vector, shift))
    highest, total = powers_of_waves(exchange, top, row_sum(powers()))
    scale = powers_of_e(shift, highest) * inverse(total)
    for iteration, vector in enumerate(powers()):
        work.store(iteration, vector * scale)


def top_of_wave(x: Line, exchange: Any) -> Any:
    """Return the largest element of a wave's part of a row that threads keep."""
    if fx.nvvm.is_target() and x.held[0].dtype.width == 16 and exchange.plan.size == 2:
        # Two elements an instruction, as they lie.
        top = reduce(fx.maxnumf, x.held).reduce("max").to(fx.Float32)
    else:
        top = reduce(greatest, (vector.reduce("max") for vector in x))
    at_once = exchange.plan.few and exchange.group == fx.num_warp_threads() and fx.nvvm.is_target()
    return wave_maximum(top) if at_once else exchange.reduce(top, greatest)


def sum_about(x: Line, base: Any, also: Callable[[int, Any], None] | None = None) -> Any:
    """Return the sum of the powers of e of this thread's elements, relative to ``base``; ``also`` is as in
    `sum_of_powers`."""
    total = None
    for iteration, vector in enumerate(x.again()):
        powers = powers_of_e(vector, base)
        total = powers if total is None else total + powers
        if also is not None:
            also(iteration, vector)
    assert total is not None
    return total.reduce("add", fastmath="reassoc")


def greatest(a: Any, b: Any) -> Any:
    """Return the greater of two numbers. Of a NaN nothing need be left: sums of powers have it too. AMD's GPUs before
    gfx950 have no instruction that keeps it."""
    return maximum(a, b) if fx.nvvm.is_target() else fx.maxnumf(a, b)


def sum_of_powers(
    x: Line, also: Callable[[int, Any], None] | None = None, kept: list[tuple[Any, Any]] | None = None
) -> tuple[Any, Any]:
    """Return (largest element, sum of the powers of e relative to it) of this thread's elements, in one pass.

    The sum grows with the largest element so far. ``also`` is called with each vector and its iteration. ``kept`` is
    given each vector's powers, and what they are relative to.
    """
    top, total = fx.Float32(LOWEST), fx.Float32(0.0)
    for iteration, vector in enumerate(x):
        higher = fx.max(top, vector.reduce("max"))
        base = above_lowest(higher)
        powers = powers_of_e(vector, base)
        total = fx.math.fma(total, powers_of_e(top, base), powers.reduce("add", fastmath="reassoc"))
        top = higher
        if kept is not None:
            kept.append((powers, base))
        if also is not None:
            also(iteration, vector)
    return top, total


def powers_of_row(exchange: Any, top: Any, total: Any, more: Sequence[Any] = ()) -> tuple[Any, ...]:
    """Return (what powers of the row are relative to, their sum, the sum of each of ``more``), from what each thread
    has."""
    highest = exchange.reduce(top, maximum)
    return powers_of_waves(exchange, highest, total * powers_of_e(top, above_lowest(highest)), more)


def powers_of_waves(exchange: Any, highest: Any, total: Any, more: Sequence[Any] = ()) -> tuple[Any, ...]:
    """`powers_of_row` of threads whose powers are all relative to the wave's ``highest`` element."""
    waves = exchange.publish([highest, *(exchange.reduce(value, add) for value in (total, *more))])
    alone = FEW_WAVES if exchange.plan.few else FEW_WAVES // 2
    tops, parts = waves.read(0, LOWEST, alone), waves.read(1, 0.0, alone)
    base = above_lowest(waves.combine(tops, greatest))
    whole = waves.combine([part * powers_of_e(other, base) for other, part in zip(tops, parts, strict=True)], add)
    return base, whole, *(waves.sum(2 + index) for index in range(len(more)))
