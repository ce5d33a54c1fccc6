"""RMSNorm: x / sqrt(mean(x^2) + eps) * gamma, one block a row, f32 inside.

fn = build_rmsnorm_module(N, "bf16")
fn(X, gamma, Y, M, stream)
"""

from __future__ import annotations

from functools import cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from kernels.blocks.reduce import add, block_reduce
from kernels.blocks.rows import RowPlan, line_vectors, load_row, load_turn, plan_row, row_sum, row_vectors, store_turn
from kernels.blocks.scratch import wave_slots


@cache
def build_rmsnorm_module(N: int, dtype: str, eps: float = 1e-5, threads: int | None = None) -> Any:
    """The launcher of an RMSNorm over rows of N elements."""
    plan = plan_row(N, dtype, threads)

    @flyc.kernel(known_block_size=(plan.threads, 1, 1))
    def rmsnorm_kernel(X: fx.Tensor, gamma: fx.Tensor, Y: fx.Tensor):
        rmsnorm_row(X, gamma, Y, plan, eps)

    @flyc.jit
    def rmsnorm(X: fx.Tensor, gamma: fx.Tensor, Y: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        rmsnorm_kernel(X, gamma, Y).launch(grid=(m, 1, 1), block=(plan.threads, 1, 1), stream=stream)

    return rmsnorm


def rmsnorm_row(X: Any, gamma: Any, Y: Any, plan: RowPlan, eps: float) -> None:
    row = fx.block_idx.x
    (sums,) = wave_slots(1, plan.threads)
    x = load_row(row_vectors(X, row, plan), plan, 0.0)
    total = block_reduce(row_sum([vector * vector for vector in x]), add, sums, plan.threads)
    rstd = fx.math.rsqrt(total * (1.0 / plan.length) + eps)
    # The scale is loaded behind the reduction, vector by vector: held from the start it would double the registers.
    scale, out = line_vectors(gamma, plan), row_vectors(Y, row, plan)
    for turn, vector in enumerate(x):
        store_turn(vector * rstd * load_turn(scale, plan, turn, 0.0), out, plan, turn)
