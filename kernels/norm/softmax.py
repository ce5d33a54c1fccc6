"""Row softmax: one block or cluster a row, the row in registers, f32 inside.

fn = build_softmax_module(M, N, "bf16")
fn(A, C, M, stream)
"""

from __future__ import annotations

from functools import cache
from math import log2
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from kernels.blocks.exchange import RowExchange
from kernels.blocks.reduce import add, maximum, wave_reduce
from kernels.blocks.rows import (
    RowPlan,
    check_row,
    launch_rows,
    load_row,
    plan_row,
    row_number,
    row_sum,
    row_vectors,
    store_turn,
)

LOG2_E = log2(2.718281828459045)
LOWEST = float("-inf")


@cache
def build_softmax_module(M: int, N: int, dtype: str, threads: int | None = None) -> Any:
    """The launcher of a softmax over rows of N elements; ``M`` is a hint and may differ per call."""
    check_row(N, dtype)

    @flyc.kernel
    def softmax_kernel(A: fx.Tensor, C: fx.Tensor, plan: fx.Constexpr):
        softmax_row(A, C, plan)

    @flyc.jit
    def softmax(A: fx.Tensor, C: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        plan = plan_row(N, dtype, threads)
        launch_rows(softmax_kernel(A, C, plan), m, plan, stream)

    return softmax


def softmax_row(A: Any, C: Any, plan: RowPlan) -> None:
    """Each wave takes powers of 2 relative to its own maximum; one exchange of maxima and sums puts them together.

    Exponents are ``x * log2 e - m`` in one rounding, where m is the wave's maximum times log2 e, rounded once.
    """
    row = row_number(plan)
    exchange = RowExchange(plan, 2)
    x = load_row(row_vectors(A, row, plan), plan, LOWEST)
    top = x[0].reduce("max")
    for vector in x[1:]:
        top = fx.max(top, vector.reduce("max"))
    top = wave_reduce(top, maximum) * LOG2_E
    # A wave that lies beyond the row, or a row of nothing but -inf, has powers of zero, not inf - inf.
    shift = (top == LOWEST).select(fx.Float32(0.0), top)
    powers = [fx.math.exp2(fx.math.fma(vector, LOG2_E, -shift)) for vector in x]
    mine = wave_reduce(row_sum(powers), add)

    exchange.publish([shift, mine])
    shifts = exchange.read(0, shift, LOWEST)
    sums = exchange.read(1, mine, 0.0)
    highest = exchange.combine(shifts, maximum)
    total = exchange.combine([s * fx.math.exp2(t - highest) for t, s in zip(shifts, sums, strict=True)], add)
    scale = fx.math.exp2(shift - highest) / total
    out = row_vectors(C, row, plan)
    for turn, vector in enumerate(powers):
        store_turn(vector * scale, out, plan, turn)
