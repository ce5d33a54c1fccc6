"""LayerNorm: (x - mean) / sqrt(var + eps) * gamma + beta, one block or cluster a row, f32 inside.

fn = build_layernorm_module(N, "bf16")
fn(X, gamma, beta, Y, M, stream)
"""

from __future__ import annotations

from functools import cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from kernels.blocks.exchange import RowExchange
from kernels.blocks.reduce import add, wave_reduce
from kernels.blocks.rows import (
    RowPlan,
    check_row,
    held_elements,
    inside_row,
    launch_rows,
    line_vectors,
    load_row,
    load_turn,
    plan_row,
    row_number,
    row_sum,
    row_vectors,
    store_turn,
)


@cache
def build_layernorm_module(N: int, dtype: str, eps: float = 1e-5, threads: int | None = None) -> Any:
    """The launcher of a LayerNorm over rows of N elements."""
    check_row(N, dtype)

    @flyc.kernel
    def layernorm_kernel(X: fx.Tensor, gamma: fx.Tensor, beta: fx.Tensor, Y: fx.Tensor, plan: fx.Constexpr):
        layernorm_row(X, gamma, beta, Y, plan, eps)

    @flyc.jit
    def layernorm(X: fx.Tensor, gamma: fx.Tensor, beta: fx.Tensor, Y: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        plan = plan_row(N, dtype, threads, lines=2)
        launch_rows(layernorm_kernel(X, gamma, beta, Y, plan), m, plan, stream)

    return layernorm


def wave_moments(x: list[Any], plan: RowPlan) -> tuple[Any, Any, Any]:
    """(sum, squares of the differences from the wave's own mean, elements) of a wave's part of the row."""
    total = wave_reduce(row_sum(x), add)
    count = held_elements(plan)
    count = count * fx.num_warp_threads() if plan.full else wave_reduce(count, add)
    mean = total / fx.max(count, fx.Float32(1.0))
    centred = inside_row([vector - mean for vector in x], plan)
    return total, wave_reduce(row_sum([vector * vector for vector in centred]), add), count


def layernorm_row(X: Any, gamma: Any, beta: Any, Y: Any, plan: RowPlan, eps: float) -> None:
    """One exchange: squares about each wave's mean and the means' distances add up to those about the row's mean.

    The variance is of differences, which loses no digits where all elements are large.
    """
    row = row_number(plan)
    exchange = RowExchange(plan, 3)
    x = load_row(row_vectors(X, row, plan), plan, 0.0)
    mine = wave_moments(x, plan)
    exchange.publish(list(mine))
    sums, squares, counts = (exchange.read(index, value, 0.0) for index, value in enumerate(mine))
    mean = exchange.combine(sums, add) * (1.0 / plan.length)
    parts = []
    for total, square, count in zip(sums, squares, counts, strict=True):
        distance = total / fx.max(count, fx.Float32(1.0)) - mean
        parts.append(square + count * distance * distance)
    rstd = fx.math.rsqrt(exchange.combine(parts, add) * (1.0 / plan.length) + eps)
    # Scale and shift are loaded behind the reductions: held from the start they would triple the registers.
    scale, shift, out = line_vectors(gamma, plan), line_vectors(beta, plan), row_vectors(Y, row, plan)
    for turn, vector in enumerate(x):
        g, b = (load_turn(line, plan, turn, 0.0) for line in (scale, shift))
        store_turn((vector - mean) * rstd * g + b, out, plan, turn)
