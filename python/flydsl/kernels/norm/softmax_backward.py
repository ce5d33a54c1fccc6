"""The gradient of a row softmax: dx = y * (dy - sum(dy * y)), f32 inside.

fn = build_softmax_bwd_module(N, "bf16")
fn(dy, y, dx, M, stream)
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.inputs import in_rows
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.reduce import dot
from flydsl.kernels.blocks.row_choice import check_row, only, plan_row
from flydsl.kernels.blocks.row_loop import for_each_row
from flydsl.kernels.blocks.row_plan import RowPlan, RowTask
from flydsl.kernels.blocks.row_work import RowArrays, RowWork
from flydsl.kernels.blocks.rows import launch_rows

TASK = RowTask(sources=2)
TIERS = ((16384, 2), (32768, 1))
"""Elements of the longest row of which so many of dy and y are counted as kept between the two passes."""


@kept
def build_softmax_bwd_module(N: int, dtype_str: str = "f32", plan: RowPlan | None = None) -> Any:
    """Return the launcher ``fn(dy, y, dx, m)`` for rows of N elements, of matrices or in one mode; ``plan``
    replaces the model's choice."""
    check_row(N, dtype_str)

    @flyc.kernel
    def softmax_bwd_kernel(dy: fx.Tensor, y: fx.Tensor, dx: fx.Tensor, m: fx.Int32, plan: fx.Constexpr):
        for_each_row(RowArrays((dy, y), (dx,), numbers=1), m, plan, softmax_bwd_row)

    @flyc.jit
    def softmax_bwd(dy: fx.Tensor, y: fx.Tensor, dx: fx.Tensor, m: fx.Int32, stream: fx.Stream = None):
        choice = only(plan) if plan else plan_row(N, dtype_str, task=TASK)
        dy, y, dx = in_rows(N, dy, y, dx)
        launch_rows(lambda chosen: softmax_bwd_kernel(dy, y, dx, m, chosen), m, choice, stream, (dy, y, dx))

    return softmax_bwd


def softmax_bwd_row(work: RowWork) -> None:
    dy, y = work.x
    (total,) = work.exchange.totals([dot(dy, y)])
    for iteration, (gradient, value) in enumerate(zip(dy.again(), y.again(), strict=True)):
        work.store(iteration, value * (gradient - total))


@kept
def softmax_bwd_buffered_operands(N: int, dtype_str: str = "f32") -> int:
    """Return how many of dy and y count as kept between the two passes over a row, by FlyDSL's tiers of length: both,
    y alone, neither.

    The tiers are those that callers from there reckon with. Plans here follow the target (docs/rows.md) and keep both
    or neither: AMD's keep both up to 16,384 elements, but for some of 16 bits on RDNA, and load both again beyond;
    Hopper's keep both of far longer ones, but for some of 16 bits that the first-level cache gives again.
    """
    check_row(N, dtype_str)
    return next((operands for longest, operands in TIERS if longest >= N), 0)
