"""LayerNorm: (x - mean) / sqrt(var + eps) * gamma + beta, one block a row, f32 inside.

fn = build_layernorm_module(N, "bf16")
fn(X, gamma, beta, Y, M, stream)
"""

from __future__ import annotations

from functools import cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from kernels.blocks.reduce import add, block_reduce
from kernels.blocks.rows import (
    RowPlan,
    inside_row,
    line_vectors,
    load_row,
    load_turn,
    plan_row,
    row_sum,
    row_vectors,
    store_turn,
)
from kernels.blocks.scratch import wave_slots


@cache
def build_layernorm_module(N: int, dtype: str, eps: float = 1e-5, threads: int | None = None) -> Any:
    """The launcher of a LayerNorm over rows of N elements."""
    plan = plan_row(N, dtype, threads)

    @flyc.kernel(known_block_size=(plan.threads, 1, 1))
    def layernorm_kernel(X: fx.Tensor, gamma: fx.Tensor, beta: fx.Tensor, Y: fx.Tensor):
        layernorm_row(X, gamma, beta, Y, plan, eps)

    @flyc.jit
    def layernorm(X: fx.Tensor, gamma: fx.Tensor, beta: fx.Tensor, Y: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        layernorm_kernel(X, gamma, beta, Y).launch(grid=(m, 1, 1), block=(plan.threads, 1, 1), stream=stream)

    return layernorm


def layernorm_row(X: Any, gamma: Any, beta: Any, Y: Any, plan: RowPlan, eps: float) -> None:
    """Two passes over the registers: the variance is of the differences, which loses no digits."""
    row = fx.block_idx.x
    sums, squares = wave_slots(2, plan.threads)
    x = load_row(row_vectors(X, row, plan), plan, 0.0)
    mean = block_reduce(row_sum(x), add, sums, plan.threads) * (1.0 / plan.length)
    centred = inside_row([vector - mean for vector in x], plan)
    total = block_reduce(row_sum([vector * vector for vector in centred]), add, squares, plan.threads)
    rstd = fx.math.rsqrt(total * (1.0 / plan.length) + eps)
    # Scale and shift are loaded behind the reductions: held from the start they would triple the registers.
    scale, shift, out = line_vectors(gamma, plan), line_vectors(beta, plan), row_vectors(Y, row, plan)
    for turn, vector in enumerate(centred):
        g, b = (load_turn(line, plan, turn, 0.0) for line in (scale, shift))
        store_turn(vector * rstd * g + b, out, plan, turn)
