"""LayerNorm: (x - mean) / sqrt(var + eps) * gamma + beta, f32 inside.

fn = build_layernorm_module(N, "bf16")
fn(X, gamma, beta, Y, M, stream)
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.exchange import RowExchange
from flydsl.kernels.blocks.reduce import add
from flydsl.kernels.blocks.row_loop import Store, for_each_row
from flydsl.kernels.blocks.row_plan import RowChoice, RowPlan, check_options, check_row, plan_row
from flydsl.kernels.blocks.rows import Line, launch_rows, row_sum, sum_of_squares


@lru_cache(maxsize=None, typed=True)
def build_layernorm_module(
    N: int, dtype: str, eps: float = 1e-5, threads: int | None = None, plan: RowPlan | None = None
) -> Any:
    """The launcher of a LayerNorm over rows of N elements.

    ``threads`` asks for blocks of so many threads, ``plan`` for one plan instead of the model's choice.
    """
    check_row(N, dtype)
    check_options(eps, threads)

    @flyc.kernel
    def layernorm_kernel(
        X: fx.Tensor, gamma: fx.Tensor, beta: fx.Tensor, Y: fx.Tensor, m: fx.Int32, plan: fx.Constexpr
    ):
        def code(x: Line, lines: list[Line], exchange: RowExchange, store: Store) -> None:
            layernorm_row(x, lines, exchange, store, N, eps)

        for_each_row(X, Y, m, plan, code, numbers=3, fill=0.0, lines=(gamma, beta))

    @flyc.jit
    def layernorm(X: fx.Tensor, gamma: fx.Tensor, beta: fx.Tensor, Y: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        choice = RowChoice(plan) if plan else plan_row(N, dtype, threads, lines=2)
        launch_rows(lambda chosen: layernorm_kernel(X, gamma, beta, Y, m, chosen), m, choice, stream)

    return layernorm


def wave_moments(x: Line, exchange: RowExchange) -> tuple[Any, Any, Any]:
    """(sum, squares of the differences from the wave's own mean, elements) of a wave's part of the row."""
    total, count = exchange.reduce(row_sum(x), add), exchange.reduce(x.share.count(), add)
    mean = mean_of(total, count)
    centred = (x.share.within(vector - mean, turn) for turn, vector in enumerate(x.again()))
    return total, exchange.reduce(sum_of_squares(centred), add), count


def layernorm_row(x: Line, lines: list[Line], exchange: RowExchange, store: Store, length: int, eps: float) -> None:
    """One exchange: squares about each wave's mean and the means' distances add up to those about the row's mean.

    The variance is of differences, which loses no digits where all elements are large.
    """
    waves = exchange.publish(list(wave_moments(x, exchange)))
    sums, squares, counts = (waves.read(index, 0.0) for index in range(3))
    mean = waves.combine(sums, add) * (1.0 / length)
    parts = []
    for total, square, count in zip(sums, squares, counts, strict=True):
        distance = mean_of(total, count) - mean
        parts.append(square + count * distance * distance)
    rstd = fx.math.rsqrt(waves.combine(parts, add) * (1.0 / length) + eps, fastmath="afn")
    for turn, vector in enumerate(x.again()):
        scale, shift = (line[turn] for line in lines)
        store(turn, fx.math.fma((vector - mean) * rstd, scale, shift))


def mean_of(total: Any, count: Any) -> Any:
    """The mean of some elements, of which there may be none."""
    return total.divf(fx.max(count, fx.Float32(1.0)), fastmath="arcp,afn")
