"""Row softmax: one block a row, the row in registers, f32 inside.

fn = build_softmax_module(M, N, "bf16")
fn(A, C, M, stream)
"""

from __future__ import annotations

from functools import cache
from math import log2
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from kernels.blocks.reduce import add, block_reduce, maximum
from kernels.blocks.rows import RowPlan, load_row, plan_row, row_sum, row_vectors, store_turn
from kernels.blocks.scratch import wave_slots

LOG2_E = log2(2.718281828459045)


@cache
def build_softmax_module(M: int, N: int, dtype: str, threads: int | None = None) -> Any:
    """The launcher of a softmax over rows of N elements; ``M`` is a hint and may differ per call."""
    plan = plan_row(N, dtype, threads)

    @flyc.kernel(known_block_size=(plan.threads, 1, 1))
    def softmax_kernel(A: fx.Tensor, C: fx.Tensor):
        softmax_row(A, C, plan)

    @flyc.jit
    def softmax(A: fx.Tensor, C: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        softmax_kernel(A, C).launch(grid=(m, 1, 1), block=(plan.threads, 1, 1), stream=stream)

    return softmax


def softmax_row(A: Any, C: Any, plan: RowPlan) -> None:
    """exp2((x - max) * log2 e) / sum, all elements of a row at once."""
    row = fx.block_idx.x
    maxima, sums = wave_slots(2, plan.threads)
    x = load_row(row_vectors(A, row, plan), plan, float("-inf"))
    top = x[0].reduce("max")
    for vector in x[1:]:
        top = fx.max(top, vector.reduce("max"))
    top = block_reduce(top, maximum, maxima, plan.threads)

    powers = [fx.math.exp2((vector - top) * LOG2_E) for vector in x]
    total = block_reduce(row_sum(powers), add, sums, plan.threads)
    scale = 1.0 / total
    out = row_vectors(C, row, plan)
    for turn, vector in enumerate(powers):
        store_turn(vector * scale, out, plan, turn)
