"""Cross-entropy of rows of logits with class indices: one pass over a row forward, one backward, f32 inside.

forward = build_cross_entropy_module(V, "bf16")
forward(logits, target, loss, powers, M, ignore_index, smoothing, stream)
forward(logits, target, loss, powers, M, ignore_index, smoothing, stream, result, scale, counter, averaged)
backward = build_cross_entropy_bwd_module(V, "bf16")
backward(logits, target, powers, dloss, dlogits, M, ignore_index, smoothing, scale, stream)

A row's loss is (1 - s) * (lse - x[target]) + s * (lse - mean(x)), where lse is log(sum(exp(x))) and s the label
smoothing; rows whose target is ``ignore_index`` have a loss of zero and a gradient of zero. A target outside the
classes has a loss of NaN, and nothing is read at its place.

``powers`` is f32 (2, M): the largest logit of each row, and 1 over the sum of the powers of e relative to it. Their lse
in one number would be off by half a unit of the largest logit: all of the logarithm, where logits are large.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.activation import LN_2, powers_of_e
from flydsl.kernels.blocks.exchange import begin_behind_older_launches, wait_for_older_launches
from flydsl.kernels.blocks.flat_rows import flat_blocks, flat_plan, lie_flat, map_pieces
from flydsl.kernels.blocks.inputs import require_extents, require_numbers
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.reduce import LOWEST, above_lowest, add, wave_count, wave_reduce
from flydsl.kernels.blocks.row_choice import RowChoice, check_row, only, plan_row
from flydsl.kernels.blocks.row_loop import for_each_row
from flydsl.kernels.blocks.row_plan import RowPlan, RowTask
from flydsl.kernels.blocks.row_work import RowArrays, RowWork
from flydsl.kernels.blocks.rows import launch_rows
from flydsl.kernels.norm.softmax import (
    powers_of_row,
    powers_of_waves,
    sum_about,
    sum_of_powers,
    top_of_wave,
)

FORWARD, BACKWARD = RowTask(targets=0, once=True), RowTask(once=True)


def label_of(number: Any) -> fx.Int64:
    """Return the class a target names; bytes count from 0 to 255."""
    return (number.to(fx.Uint8) if number.dtype is fx.Int8 else number).to(fx.Int64)


@kept
def build_cross_entropy_module(N: int, dtype: str, smoothed: bool = False, plan: RowPlan | None = None) -> Any:
    """Return the launcher ``fn(logits, target, loss, powers, m, ignore_index, smoothing)``; both results are f32.

    ``smoothed`` has the mean of the logits computed, which label smoothing needs. With ``result, scale, counter,
    averaged`` behind the stream the losses are added up too (`put_loss`), of no rows as well; the counter, an i32, is
    zero before a launch and behind it, and for one launch at a time.
    """
    check_row(N, dtype)

    @flyc.kernel
    def cross_entropy_kernel(
        logits: fx.Tensor, target: fx.Tensor, loss: fx.Tensor, powers: fx.Tensor, m: fx.Int32, ignore: fx.Int64,
        smoothing: fx.Float32, whole: Any, plan: fx.Constexpr,
    ):  # fmt: skip
        def code(work: RowWork) -> None:
            # Means are of differences to one element: logits may be far from zero, and close to each other.
            first = logits[work.index, 0].to(fx.Float32) if smoothed else None
            first = fx.math.isfinite(first).select(first, fx.Float32(0.0)) if smoothed else None
            top, total, mean = _sum_of_powers(work, first, N)
            log = fx.math.log2(total) * LN_2
            label = label_of(target[work.index])
            counts = (label != ignore) & (label >= 0) & (label < N)
            place = counts.select(label, fx.Int64(0))
            picked = logits[work.index, place].to(fx.Float32)
            own = top - picked + log
            if fx.const_expr(smoothed):
                own = (1.0 - smoothing) * own + smoothing * ((top - first) - mean + log)
            without = (label == ignore).select(fx.Float32(0.0), fx.Float32(float("nan")))
            work.put(loss, counts.select(own, without))
            work.put(powers[0, None], top)
            work.put(powers[1, None], 1.0 / total)

        if fx.const_expr(whole is not None):
            begin_behind_older_launches()  # ahead of `mean_loss_kernel`, which waits for all losses
        arrays = RowArrays((logits,), fill=LOWEST, numbers=3 if smoothed else 2)
        for_each_row(arrays, m, plan, code)
        if fx.const_expr(whole is not None):
            add_up_in_last_block(loss, target, whole, m, ignore)

    @flyc.jit
    def cross_entropy(
        logits: fx.Tensor, target: fx.Tensor, loss: fx.Tensor, powers: fx.Tensor, m: fx.Int32, ignore: fx.Int64,
        smoothing: fx.Float32, stream: fx.Stream = None, result: fx.Tensor | None = None,
        scale: fx.Tensor | None = None, counter: fx.Tensor | None = None, averaged: fx.Int32 = 0,
    ):  # fmt: skip
        choice = only(plan) if plan else plan_row(N, dtype, task=FORWARD)
        whole = None if result is None else (result, scale, counter, averaged)
        require_numbers((target, loss), m)
        require_extents((powers,), 2, m)
        require_numbers((result, scale, counter), 1)
        launch_rows(
            lambda chosen: cross_entropy_kernel(logits, target, loss, powers, m, ignore, smoothing, whole, chosen), m,
            choice, stream, (logits,),
        )  # fmt: skip
        if fx.const_expr(result is not None):
            if (m > ADDED_AT_ONCE) | (m == 0):  # of no rows there is no last block
                blocks = adding_blocks()
                mean_loss_kernel(loss, target, result, scale, m, ignore, averaged, blocks).launch(
                    grid=(blocks, 1, 1), block=(THREADS, 1, 1), cluster=(blocks, 1, 1) if blocks > 1 else None,
                    stream=stream, pdl=fx.nvvm.has_dependent_launches(),
                )  # fmt: skip

    return cross_entropy


def _sum_of_powers(work: RowWork, first: Any, length: int) -> tuple[Any, Any, Any]:
    """Return (largest element, sum of the powers of e relative to it, mean of differences to ``first`` unless that is
    None) of a row, in one pass."""
    x, plain, smoothed = work.x[0], [fx.Float32(0.0)], first is not None

    def add_up(iteration: int, vector: Any) -> None:
        away = x.share.within_or_zero(vector - first, iteration)
        plain[0] = plain[0] + away.reduce("add", fastmath="reassoc")

    also = add_up if smoothed else None
    if x.held:
        top = top_of_wave(x, work.exchange)
        total = sum_about(x, above_lowest(top), also)
        base, whole, *sums = powers_of_waves(work.exchange, top, total, plain if smoothed else ())
    else:
        top, total = sum_of_powers(x, also)
        base, whole, *sums = powers_of_row(work.exchange, top, total, plain if smoothed else ())
    return base, whole, sums[0] * (1.0 / length) if smoothed else None


@kept
def build_cross_entropy_bwd_module(N: int, dtype: str, plan: RowPlan | None = None) -> Any:
    """Return the launcher ``fn(logits, target, powers, dloss, dlogits, m, ignore_index, smoothing, scale)``.

    ``dloss`` has a gradient for each row, or one for all; each is multiplied by ``scale``, an f32 array of one number.
    ``dlogits`` may be the logits themselves.
    """
    check_row(N, dtype)

    @flyc.kernel
    def cross_entropy_bwd_kernel(
        logits: fx.Tensor, target: fx.Tensor, powers: fx.Tensor, dloss: fx.Tensor, dlogits: fx.Tensor, m: fx.Int32,
        ignore: fx.Int64, smoothing: fx.Float32, scale: fx.Tensor, plan: fx.Constexpr,
    ):  # fmt: skip
        def code(work: RowWork) -> None:
            top, share, label, gradient = _numbers_of_row(work.index, N, (target, powers, dloss), ignore, scale)
            for iteration, vector in enumerate(work.x[0]):
                chances = powers_of_e(vector, top) * share - smoothing * (1.0 / N)
                hits = [
                    (column == label).select(1.0 - smoothing, fx.Float32(0.0))
                    for column in work.share.columns(iteration)
                ]
                work.store(iteration, (chances - fx.Vector.from_elements(hits, fx.Float32)) * gradient)

        for_each_row(RowArrays((logits,), (dlogits,), fill=LOWEST), m, plan, code)

    @flyc.kernel
    def cross_entropy_bwd_flat_kernel(
        logits: fx.Tensor, target: fx.Tensor, powers: fx.Tensor, dloss: fx.Tensor, dlogits: fx.Tensor, m: fx.Int32,
        ignore: fx.Int64, smoothing: fx.Float32, scale: fx.Tensor,
    ):  # fmt: skip
        def numbers(row: Any) -> tuple[Any, ...]:
            return _numbers_of_row(row, N, (target, powers, dloss), ignore, scale)

        def gradients(vector: Any, own: Any, column: Any) -> Any:
            top, share, label, gradient = own
            chances = powers_of_e(vector, top) * share - smoothing * (1.0 / N)
            return without_hit(chances, label - column, 1.0 - smoothing) * gradient

        wait_for_older_launches()
        map_pieces(logits, dlogits, m, flat_plan(N, dtype), numbers, gradients)

    @flyc.jit
    def cross_entropy_bwd(
        logits: fx.Tensor, target: fx.Tensor, powers: fx.Tensor, dloss: fx.Tensor, dlogits: fx.Tensor, m: fx.Int32,
        ignore: fx.Int64, smoothing: fx.Float32, scale: fx.Tensor, stream: fx.Stream = None,
    ):  # fmt: skip
        given = (logits, target, powers, dloss, dlogits, m, ignore, smoothing, scale)
        require_numbers((target,), m)
        require_numbers((scale,), 1)
        require_extents((powers,), 2, m)
        require_extents((logits, dlogits), m, N)
        count = fx.Int32(fx.size(dloss))
        fx.require(
            (count == 1) | (count >= m), "there are {} gradients of losses, for {} rows", count, m,
            hint="pass one for each row, or one for all",
        )  # fmt: skip

        def by_rows(choice: RowChoice) -> None:
            kernel = cross_entropy_bwd_kernel
            launch_rows(lambda chosen: kernel(*given, chosen), m, choice, stream, (logits, dlogits))

        flat = flat_plan(N, dtype)
        if fx.const_expr(plan is not None or flat.width > N):
            by_rows(only(plan) if plan else plan_row(N, dtype, task=BACKWARD))
        else:
            if lie_flat([logits, dlogits], m, flat):
                cross_entropy_bwd_flat_kernel(*given).launch(
                    grid=(flat_blocks(logits, m, flat), 1, 1), block=(flat.lanes, 1, 1), stream=stream,
                    pdl=fx.nvvm.has_dependent_launches(),
                )  # fmt: skip
            else:
                by_rows(only(plan_row(N, dtype, task=BACKWARD).many))

    return cross_entropy_bwd


def _numbers_of_row(row: Any, length: int, arrays: tuple[Any, Any, Any], ignore: Any, scale: Any) -> tuple[Any, ...]:
    """Return a row's largest logit, 1 over the sum of its powers, its class, and its gradient, zero where the target is
    none of the classes; ``arrays`` are the targets, the powers, and a gradient for each row or one for all."""
    target, powers, dloss = arrays
    label = label_of(target[row])
    counts = (label != ignore) & (label >= 0) & (label < length)
    given = dloss[fx.min(row, fx.Int32(dloss.shape[0]) - 1)].to(fx.Float32) * scale[0]
    return powers[0, row], powers[1, row], fx.Int32(label), counts.select(given, fx.Float32(0.0))


@flyc.jit
def without_hit(chances: Any, place: Any, hit: Any) -> Any:
    """Return a vector with ``hit`` taken from the element at a place, if that is one of it."""
    if (place >= 0) & (place < chances.numel):
        hits = [(place == i).select(hit, fx.Float32(0.0)) for i in range(chances.numel)]
        chances = chances - fx.Vector.from_elements(hits, fx.Float32)
    return chances


# Over all rows -------------------------------------------------------------------------------------------------------

THREADS, MOST_ADDING = 1024, 8
"""Of each block that adds up losses, and how many of these blocks there are at most."""
ADDED_AT_ONCE = 1024
"""Rows whose losses the last block adds up: a second launch takes longer than a wave does for them."""
TOGETHER = 8
"""Rows whose losses a thread loads before it adds them."""


@flyc.jit
def sum_and_count(
    loss: fx.Tensor, target: fx.Tensor, m: fx.Int32, ignore: fx.Int64, begin: fx.Int32, step: fx.Constexpr[int]
) -> tuple[fx.Float32, fx.Float32]:
    """Return a thread's part of the sum of all losses, every ``step``-th from ``begin`` on, and how many of these rows
    are not ignored."""
    total, count = fx.Float32(0.0), fx.Int32(0)
    for first in range(begin, m, step * TOGETHER):
        rows = [fx.Int32(first) + number * step for number in range(TOGETHER)]
        found = [(loss[row], label_of(target[row])) for row in (fx.min(row, m - 1) for row in rows)]
        for row, (value, label) in zip(rows, found, strict=True):
            total = total + (row < m).select(value, fx.Float32(0.0))
            count = count + ((row < m) & (label != ignore)).select(fx.Int32(1), fx.Int32(0))
    return total, fx.Float32(count)


def put_loss(total: Any, count: Any, result: fx.Tensor, scale: fx.Tensor, averaged: fx.Int32) -> None:
    """Write the sum of the losses, or their mean, and what each row's gradient is to be multiplied by."""
    divisor = (averaged != 0).select(count, fx.Float32(1.0))
    scale[0] = 1.0 / divisor
    result[0] = total / divisor


@flyc.jit
def add_up_in_last_block(
    loss: fx.Tensor, target: fx.Tensor, whole: Any, m: fx.Int32, ignore: fx.Int64
) -> None:  # fmt: skip
    """Have the first wave of the block that is done last add up the losses, where there are few.

    ``whole`` has the result, the factor of gradients, the counter of blocks, and whether the mean is meant.
    """
    result, scale, counter, averaged = whole
    lanes = fx.num_warp_threads()
    if m <= ADDED_AT_ONCE:
        fx.fence("device")
        fx.barrier()
        if fx.thread_idx.x < lanes:
            before = fx.Int32(0)
            if fx.thread_idx.x == 0:
                before = fx.atomic("add", counter, 1, at=0, order="acq_rel", scope="device")
            if wave_reduce(before, add) == fx.Int32(fx.grid_dim.x) - 1:
                fx.fence("device")
                total, count = sum_and_count(loss, target, m, ignore, fx.Int32(fx.thread_idx.x), lanes)
                total, count = wave_reduce(total, add), wave_reduce(count, add)
                if fx.thread_idx.x == 0:
                    put_loss(total, count, result, scale, averaged)
                    counter[0] = 0  # for the next launch


def adding_blocks() -> int:
    """Return how many blocks add up losses: a cluster of them on Hopper, where one would wait for its own loads."""
    return min(fx.nvvm.max_cluster_size(), MOST_ADDING)


@flyc.kernel
def mean_loss_kernel(
    loss: fx.Tensor, target: fx.Tensor, result: fx.Tensor, scale: fx.Tensor, m: fx.Int32, ignore: fx.Int64,
    averaged: fx.Int32, blocks: fx.Constexpr[int],
):  # fmt: skip
    """The blocks of a cluster add up the losses, in a fixed order. They begin while losses are computed; all waves give
    their sums to the first block."""
    if fx.const_expr(blocks > 1):
        fx.nvvm.cluster_arrive(relaxed=True)
    begin, step, waves = fx.Int32(fx.block_idx.x * THREADS + fx.thread_idx.x), blocks * THREADS, wave_count(THREADS)
    wait_for_older_launches()
    total, count = sum_and_count(loss, target, m, ignore, begin, step)
    slots = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 2 * waves * blocks]).peek()
    parts = wave_reduce(total, add), wave_reduce(count, add)
    own = begin // fx.num_warp_threads()
    if fx.const_expr(blocks > 1):
        fx.nvvm.cluster_wait()
        if fx.lane_id() == 0:
            for place, part in enumerate(parts):
                fx.nvvm.cluster_store(part, slots.ptr + (own + place * waves * blocks), 0)
        fx.nvvm.cluster_sync()
    else:
        if fx.lane_id() == 0:
            for place, part in enumerate(parts):
                slots[own + place * waves * blocks] = part
        fx.barrier()
    if begin < fx.num_warp_threads():
        total, count = (_sum_of_waves(slots, place * waves * blocks, waves * blocks) for place in range(2))
        if begin == 0:
            put_loss(total, count, result, scale, averaged)


def _sum_of_waves(slots: Any, first: int, count: int) -> Any:
    """Return the sum of so many numbers, added up by a wave."""
    lanes = fx.num_warp_threads()
    inside = [fx.lane_id() + start for start in range(0, count, lanes)]
    values = [slots[first + fx.min(place, fx.Int32(count - 1))] for place in inside]
    total = fx.Float32(0.0)
    for place, value in zip(inside, values, strict=True):
        total = total + (place < count).select(value, fx.Float32(0.0))
    return wave_reduce(total, add)
