"""RMSNorm: x / sqrt(mean(x^2) + eps) * gamma, one block or cluster a row, f32 inside.

fn = build_rmsnorm_module(N, "bf16")
fn(X, gamma, Y, M, stream)
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.reduce import add, wave_reduce
from flydsl.kernels.blocks.row_loop import Exchange, Store, for_each_row
from flydsl.kernels.blocks.rows import Line, check_options, check_row, launch_rows, plan_row, sum_of_squares


@lru_cache(maxsize=None, typed=True)
def build_rmsnorm_module(N: int, dtype: str, eps: float = 1e-5, threads: int | None = None) -> Any:
    """The launcher of an RMSNorm over rows of N elements."""
    check_row(N, dtype)
    check_options(eps, threads)

    @flyc.kernel
    def rmsnorm_kernel(X: fx.Tensor, gamma: fx.Tensor, Y: fx.Tensor, first: fx.Int32, m: fx.Int32, plan: fx.Constexpr):
        def code(x: Line, lines: list[Line], exchange: Exchange, store: Store) -> None:
            rmsnorm_row(x, lines[0], exchange, store, N, eps)

        for_each_row(X, Y, (first, m), plan, code, numbers=1, fill=0.0, lines=(gamma,))

    @flyc.jit
    def rmsnorm(X: fx.Tensor, gamma: fx.Tensor, Y: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        plan = plan_row(N, dtype, threads, lines=1)
        launch_rows(lambda first, part: rmsnorm_kernel(X, gamma, Y, first, m, part), m, plan, stream)

    return rmsnorm


def rmsnorm_row(x: Line, scale: Line, exchange: Exchange, store: Store, length: int, eps: float) -> None:
    waves = exchange([wave_reduce(sum_of_squares(x), add)])
    total = waves.combine(waves.read(0, 0.0), add)
    rstd = fx.math.rsqrt(total * (1.0 / length) + eps, fastmath="afn")
    for turn, vector in enumerate(x.again()):
        store(turn, vector * rstd * scale[turn])
