"""RMSNorm: x / sqrt(mean(x^2) + eps) * gamma, one block or cluster a row, f32 inside.

fn = build_rmsnorm_module(N, "bf16")
fn(X, gamma, Y, M, stream)
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
def build_rmsnorm_module(N: int, dtype: str, eps: float = 1e-5, threads: int | None = None) -> Any:
    """The launcher of an RMSNorm over rows of N elements."""
    check_row(N, dtype)

    @flyc.kernel
    def rmsnorm_kernel(X: fx.Tensor, gamma: fx.Tensor, Y: fx.Tensor, plan: fx.Constexpr):
        rmsnorm_row(X, gamma, Y, plan, eps)

    @flyc.jit
    def rmsnorm(X: fx.Tensor, gamma: fx.Tensor, Y: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        plan = plan_row(N, dtype, threads, lines=1)
        launch_rows(rmsnorm_kernel(X, gamma, Y, plan), m, plan, stream)

    return rmsnorm


def rmsnorm_row(X: Any, gamma: Any, Y: Any, plan: RowPlan, eps: float) -> None:
    row = row_number(plan)
    exchange = RowExchange(plan, 1)
    x = load_row(row_vectors(X, row, plan), plan, 0.0)
    mine = wave_reduce(row_sum([vector * vector for vector in x]), add)
    exchange.publish([mine])
    total = exchange.combine(exchange.read(0, mine, 0.0), add)
    rstd = fx.math.rsqrt(total * (1.0 / plan.length) + eps)
    # The scale is loaded behind the reduction, vector by vector: held from the start it would double the registers.
    scale, out = line_vectors(gamma, plan), row_vectors(Y, row, plan)
    for turn, vector in enumerate(x):
        store_turn(vector * rstd * load_turn(scale, plan, turn, 0.0), out, plan, turn)
