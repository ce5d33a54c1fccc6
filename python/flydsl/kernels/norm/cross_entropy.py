"""Cross-entropy of rows of logits with class indices: one pass over a row forward, one backward, f32 inside.

forward = build_cross_entropy_module(V, "bf16")
forward(logits, target, loss, lse, M, ignore_index, smoothing, stream)
backward = build_cross_entropy_bwd_module(V, "bf16")
backward(logits, target, lse, dloss, dlogits, M, ignore_index, smoothing, scale, stream)

A row's loss is (1 - s) * (lse - x[target]) + s * (lse - mean(x)), where lse is log(sum(exp(x))) and s the label
smoothing; rows whose target is ``ignore_index`` have a loss of zero and a gradient of zero. A target outside the
classes has a loss of NaN, and nothing is read at its place.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.reduce import add, wave_count, wave_reduce
from flydsl.kernels.blocks.row_choice import RowTask, only, plan_row
from flydsl.kernels.blocks.row_loop import RowArrays, RowWork, for_each_row
from flydsl.kernels.blocks.row_plan import RowPlan, check_row
from flydsl.kernels.blocks.rows import launch_rows
from flydsl.kernels.norm.softmax import LOWEST, powers_of_e, powers_of_row, sum_of_powers

FORWARD, BACKWARD = RowTask(targets=0, once=True), RowTask(once=True)
LN_2 = 0.6931471805599453


def label_of(number: Any) -> fx.Int64:
    """Return the class a target names; bytes count from 0 to 255."""
    return (number.to(fx.Uint8) if number.dtype is fx.Int8 else number).to(fx.Int64)


@cache
def build_cross_entropy_module(N: int, dtype: str, smoothed: bool = False, plan: RowPlan | None = None) -> Any:
    """Return the launcher ``fn(logits, target, loss, lse, m, ignore_index, smoothing)``; both results are f32.

    ``smoothed`` has the mean of the logits computed, which label smoothing needs.
    """
    check_row(N, dtype)

    @flyc.kernel
    def cross_entropy_kernel(
        logits: fx.Tensor, target: fx.Tensor, loss: fx.Tensor, lse: fx.Tensor, m: fx.Int32, ignore: fx.Int64,
        smoothing: fx.Float32, plan: fx.Constexpr,
    ):  # fmt: skip
        def code(work: RowWork) -> None:
            top, log, mean = _log_sum(work, smoothed, N)
            label = label_of(target[work.index])
            counts = (label != ignore) & (label >= 0) & (label < N)
            place = counts.select(label, fx.Int64(0))
            picked = logits[work.index, place].to(fx.Float32)
            own = top - picked + log
            if fx.const_expr(smoothed):
                own = (1.0 - smoothing) * own + smoothing * (top - mean + log)
            without = (label == ignore).select(fx.Float32(0.0), fx.Float32(float("nan")))
            work.put(loss, counts.select(own, without))
            work.put(lse, top + log)

        arrays = RowArrays((logits,), fill=LOWEST, numbers=3 if smoothed else 2)
        for_each_row(arrays, m, plan, code)

    @flyc.jit
    def cross_entropy(
        logits: fx.Tensor, target: fx.Tensor, loss: fx.Tensor, lse: fx.Tensor, m: fx.Int32, ignore: fx.Int64,
        smoothing: fx.Float32, stream: fx.Stream = None,
    ):  # fmt: skip
        choice = only(plan) if plan else plan_row(N, dtype, task=FORWARD)
        launch_rows(
            lambda chosen: cross_entropy_kernel(logits, target, loss, lse, m, ignore, smoothing, chosen), m, choice,
            stream, (logits,),
        )  # fmt: skip

    return cross_entropy


def _log_sum(work: RowWork, smoothed: bool, length: int) -> tuple[Any, Any, Any]:
    """Return (largest element, log of the sum of the powers of e relative to it, mean) of a row, in one pass."""
    x, plain = work.x[0], [fx.Float32(0.0)]

    def add_up(iteration: int, vector: Any) -> None:
        plain[0] = plain[0] + x.share.within_or_zero(vector, iteration).reduce("add", fastmath="reassoc")

    top, total = sum_of_powers(x, add_up if smoothed else None)
    base, whole, *sums = powers_of_row(work.exchange, top, total, plain if smoothed else ())
    return base, fx.math.log2(whole) * LN_2, sums[0] * (1.0 / length) if smoothed else None


@cache
def build_cross_entropy_bwd_module(N: int, dtype: str, plan: RowPlan | None = None) -> Any:
    """Return the launcher ``fn(logits, target, lse, dloss, dlogits, m, ignore_index, smoothing, scale)``.

    ``dloss`` has a gradient for each row, or one for all; each is multiplied by ``scale``, an f32 array of one number.
    ``dlogits`` may be the logits themselves.
    """
    check_row(N, dtype)

    @flyc.kernel
    def cross_entropy_bwd_kernel(
        logits: fx.Tensor, target: fx.Tensor, lse: fx.Tensor, dloss: fx.Tensor, dlogits: fx.Tensor, m: fx.Int32,
        ignore: fx.Int64, smoothing: fx.Float32, scale: fx.Tensor, plan: fx.Constexpr,
    ):  # fmt: skip
        def code(work: RowWork) -> None:
            label = label_of(target[work.index])
            counts = (label != ignore) & (label >= 0) & (label < N)
            given = dloss[fx.min(work.index, fx.Int32(dloss.shape[0]) - 1)].to(fx.Float32) * scale[0]
            gradient = counts.select(given, fx.Float32(0.0))
            even = smoothing * (1.0 / N)
            for iteration, vector in enumerate(work.x[0]):
                chances = powers_of_e(vector, lse[work.index]) - even
                hits = [
                    (fx.Int64(column) == label).select(1.0 - smoothing, fx.Float32(0.0))
                    for column in work.share.columns(iteration)
                ]
                work.store(iteration, (chances - fx.Vector.from_elements(hits, fx.Float32)) * gradient)

        for_each_row(RowArrays((logits,), (dlogits,), fill=LOWEST), m, plan, code)

    @flyc.jit
    def cross_entropy_bwd(
        logits: fx.Tensor, target: fx.Tensor, lse: fx.Tensor, dloss: fx.Tensor, dlogits: fx.Tensor, m: fx.Int32,
        ignore: fx.Int64, smoothing: fx.Float32, scale: fx.Tensor, stream: fx.Stream = None,
    ):  # fmt: skip
        choice = only(plan) if plan else plan_row(N, dtype, task=BACKWARD)
        launch_rows(
            lambda chosen: cross_entropy_bwd_kernel(
                logits, target, lse, dloss, dlogits, m, ignore, smoothing, scale, chosen
            ),
            m, choice, stream, (logits, dlogits),
        )  # fmt: skip

    return cross_entropy_bwd


# Over all rows -------------------------------------------------------------------------------------------------------

THREADS = 1024


@flyc.kernel
def mean_loss_kernel(
    loss: fx.Tensor, target: fx.Tensor, result: fx.Tensor, scale: fx.Tensor, m: fx.Int32, ignore: fx.Int64,
    averaged: fx.Constexpr[bool],
):  # fmt: skip
    """The sum of the losses, or their mean over rows that are not ignored; one block, in a fixed order."""
    if fx.nvvm.is_target():
        fx.nvvm.griddepcontrol_wait()  # it begins while the losses are computed
    total, count = fx.Float32(0.0), fx.Float32(0.0)
    for row in range(fx.thread_idx.x, m, THREADS):
        total = total + loss[row]
        count = count + (label_of(target[row]) != ignore).select(fx.Float32(1.0), fx.Float32(0.0))
    slots = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 2 * wave_count(THREADS)]).peek()
    wave, waves = fx.thread_idx.x // fx.num_warp_threads(), wave_count(THREADS)
    total, count = wave_reduce(total, add), wave_reduce(count, add)
    if fx.lane_id() == 0:
        slots[wave] = total
        slots[wave + waves] = count
    fx.barrier()
    if fx.thread_idx.x == 0:
        for other in fx.range_constexpr(1, waves):
            total = total + slots[other]
            count = count + slots[waves + other]
        factor = 1.0 / count if averaged else fx.Float32(1.0)
        scale[0] = factor
        result[0] = total / count if averaged else total


@flyc.jit
def mean_loss(
    loss: fx.Tensor, target: fx.Tensor, result: fx.Tensor, scale: fx.Tensor, m: fx.Int32, ignore: fx.Int64,
    averaged: fx.Constexpr[bool], stream: fx.Stream = None,
):  # fmt: skip
    """``result[0]`` is the sum or mean of the losses, ``scale[0]`` what each row's gradient is to be multiplied by."""
    mean_loss_kernel(loss, target, result, scale, m, ignore, averaged).launch(
        grid=(1, 1, 1), block=(THREADS, 1, 1), stream=stream, pdl=fx.nvvm.is_target()
    )
