"""RMSNorm: x / sqrt(mean(x^2) + eps) * gamma, f32 inside.

fn = build_rmsnorm_module(N, "bf16")
fn(X, gamma, Y, M, stream)
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
from flydsl.kernels.blocks.rows import Line, launch_rows, sum_of_squares


@lru_cache(maxsize=None, typed=True)
def build_rmsnorm_module(
    N: int, dtype: str, eps: float = 1e-5, threads: int | None = None, plan: RowPlan | None = None
) -> Any:
    """The launcher of an RMSNorm over rows of N elements.

    ``threads`` asks for blocks of so many threads, ``plan`` for one plan instead of the model's choice.
    """
    check_row(N, dtype)
    check_options(eps, threads)

    @flyc.kernel
    def rmsnorm_kernel(X: fx.Tensor, gamma: fx.Tensor, Y: fx.Tensor, m: fx.Int32, plan: fx.Constexpr):
        def code(x: Line, lines: list[Line], exchange: RowExchange, store: Store) -> None:
            rmsnorm_row(x, lines[0], exchange, store, N, eps)

        for_each_row(X, Y, m, plan, code, numbers=1, fill=0.0, lines=(gamma,))

    @flyc.jit
    def rmsnorm(X: fx.Tensor, gamma: fx.Tensor, Y: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        choice = RowChoice(plan) if plan else plan_row(N, dtype, threads, lines=1)
        launch_rows(lambda chosen: rmsnorm_kernel(X, gamma, Y, m, chosen), m, choice, stream)

    return rmsnorm


def rmsnorm_row(x: Line, scale: Line, exchange: RowExchange, store: Store, length: int, eps: float) -> None:
    waves = exchange.publish([exchange.reduce(sum_of_squares(x), add)])
    total = waves.combine(waves.read(0, 0.0), add)
    rstd = fx.math.rsqrt(total * (1.0 / length) + eps, fastmath="afn")
    for turn, vector in enumerate(x.again()):
        store(turn, vector * rstd * scale[turn])
