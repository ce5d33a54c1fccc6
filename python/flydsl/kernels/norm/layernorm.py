"""LayerNorm: (x - mean) / sqrt(var + eps) * gamma + beta, one block or cluster a row, f32 inside.

fn = build_layernorm_module(N, "bf16")
fn(X, gamma, beta, Y, M, stream)
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.reduce import add, wave_reduce
from flydsl.kernels.blocks.row_loop import Exchange, Store, for_each_row
from flydsl.kernels.blocks.rows import (
    Line,
    RowPlan,
    check_options,
    check_row,
    held_elements,
    inside_row,
    launch_rows,
    plan_row,
    row_sum,
    sum_of_squares,
)


@lru_cache(maxsize=None, typed=True)
def build_layernorm_module(N: int, dtype: str, eps: float = 1e-5, threads: int | None = None) -> Any:
    """The launcher of a LayerNorm over rows of N elements."""
    check_row(N, dtype)
    check_options(eps, threads)

    @flyc.kernel
    def layernorm_kernel(
        X: fx.Tensor, gamma: fx.Tensor, beta: fx.Tensor, Y: fx.Tensor, first: fx.Int32, m: fx.Int32, plan: fx.Constexpr
    ):
        def code(x: Line, lines: list[Line], exchange: Exchange, store: Store) -> None:
            layernorm_row(x, lines, exchange, store, plan, eps)

        for_each_row(X, Y, (first, m), plan, code, numbers=3, fill=0.0, lines=(gamma, beta))

    @flyc.jit
    def layernorm(X: fx.Tensor, gamma: fx.Tensor, beta: fx.Tensor, Y: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        plan = plan_row(N, dtype, threads, lines=2)
        launch_rows(lambda first, part: layernorm_kernel(X, gamma, beta, Y, first, m, part), m, plan, stream)

    return layernorm


def wave_moments(x: Line, plan: RowPlan) -> tuple[Any, Any, Any]:
    """(sum, squares of the differences from the wave's own mean, elements) of a wave's part of the row."""
    total = wave_reduce(row_sum(x), add)
    count = held_elements(plan)
    count = count * fx.num_warp_threads() if plan.full else wave_reduce(count, add)
    mean = total / fx.max(count, fx.Float32(1.0))
    centred = inside_row([vector - mean for vector in x.again()], plan)
    return total, wave_reduce(sum_of_squares(centred), add), count


def layernorm_row(x: Line, lines: list[Line], exchange: Exchange, store: Store, plan: RowPlan, eps: float) -> None:
    """One exchange: squares about each wave's mean and the means' distances add up to those about the row's mean.

    The variance is of differences, which loses no digits where all elements are large.
    """
    waves = exchange(list(wave_moments(x, plan)))
    sums, squares, counts = (waves.read(index, 0.0) for index in range(3))
    mean = waves.combine(sums, add) * (1.0 / plan.length)
    parts = []
    for total, square, count in zip(sums, squares, counts, strict=True):
        distance = total / fx.max(count, fx.Float32(1.0)) - mean
        parts.append(square + count * distance * distance)
    rstd = fx.math.rsqrt(waves.combine(parts, add) * (1.0 / plan.length) + eps, fastmath="afn")
    for turn, vector in enumerate(x.again()):
        scale, shift = (line[turn] for line in lines)
        store(turn, fx.math.fma((vector - mean) * rstd, scale, shift))
