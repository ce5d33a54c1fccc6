"""Row softmax, f32 inside.

fn = build_softmax_module(M, N, "bf16")
fn(A, C, M, stream)
"""

from __future__ import annotations

from functools import cache, reduce
from math import log2
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.reduce import add, maximum
from flydsl.kernels.blocks.row_loop import RowArrays, RowWork, for_each_row
from flydsl.kernels.blocks.row_plan import RowChoice, RowPlan, check_row, plan_row
from flydsl.kernels.blocks.rows import launch_rows, row_sum

LOG2_E = log2(2.718281828459045)
LOWEST = float("-inf")


@cache
def build_softmax_module(M: int, N: int, dtype: str, threads: int | None = None, plan: RowPlan | None = None) -> Any:
    """The launcher of a softmax over rows of N elements; ``M`` is a hint and may differ per call.

    ``threads`` asks for blocks of so many threads, ``plan`` for one plan instead of the model's choice.
    """
    check_row(N, dtype)

    @flyc.kernel
    def softmax_kernel(A: fx.Tensor, C: fx.Tensor, m: fx.Int32, plan: fx.Constexpr):
        for_each_row(RowArrays((A,), (C,), fill=LOWEST, numbers=2), m, plan, softmax_row)

    @flyc.jit
    def softmax(A: fx.Tensor, C: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        choice = RowChoice(plan) if plan else plan_row(N, dtype, threads)
        launch_rows(lambda chosen: softmax_kernel(A, C, m, chosen), m, choice, stream)

    return softmax


def softmax_row(work: RowWork) -> None:
    """Each wave takes powers of 2 relative to its own maximum; one exchange of maxima and sums puts them together.

    Exponents are ``x * log2 e - m`` in one rounding, where m is the wave's maximum times log2 e, rounded once.
    """
    x, exchange = work.x[0], work.exchange
    top = exchange.reduce(reduce(maximum, (vector.reduce("max") for vector in x)), maximum) * LOG2_E
    # A wave that lies beyond the row, or a row of nothing but -inf, has powers of zero, not inf - inf.
    shift = (top == LOWEST).select(fx.Float32(0.0), top)
    powers = x.mapped(lambda vector: powers_of_two(fx.math.fma(vector, LOG2_E, -shift)))
    waves = exchange.publish([shift, exchange.reduce(row_sum(powers()), add)])

    shifts, sums = waves.read(0, LOWEST), waves.read(1, 0.0)
    highest = waves.combine(shifts, maximum)
    total = waves.combine([s * fx.math.exp2(t - highest) for t, s in zip(shifts, sums, strict=True)], add)
    scale = fx.math.exp2(shift - highest).divf(total, fastmath="arcp,afn")
    for turn, vector in enumerate(powers()):
        work.store(turn, vector * scale)


def powers_of_two(exponents: Any) -> Any:
    """2 to the power of each element. Where the GPU can spare itself the trouble with subnormal results, it does."""
    if not fx.nvvm.is_target():
        return fx.math.exp2(exponents)
    return fx.Vector.from_elements([fx.nvvm.ex2(exponents[i]) for i in range(exponents.numel)], fx.Float32)
