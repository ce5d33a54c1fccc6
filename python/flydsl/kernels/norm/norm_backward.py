"""Gradients of LayerNorm and RMSNorm: dx row by row, and dgamma and dbeta, which are sums over all rows.

With n the normalised row, d = dy * gamma and means over the row: dx = (d - mean(d) - n * mean(d * n)) * rstd, without
mean(d) for RMSNorm; dgamma = sum(dy * n), dbeta = sum(dy). Blocks stay and take one row after the other, and each
thread keeps the sums of its columns in registers. Then either every block writes a row of partial sums, which a second
kernel adds up in a fixed order, so that results are the same in every run; or blocks add theirs by atomics.

Of the longest rows on Hopper, every block has a strip of columns of all rows instead (`strip_backward.py`). Others
whose sums have no place in registers are read twice: for the sums of columns (`column_sums.py`), then for dx.
"""

from __future__ import annotations

from math import gcd
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.exchange import wait_for_older_launches
from flydsl.kernels.blocks.flat_rows import lie_flat
from flydsl.kernels.blocks.inputs import in_rows, require_extents, require_numbers, require_rows, require_type
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.row_choice import RowChoice, check_row, lines_beside, plan_of_sums, plan_row
from flydsl.kernels.blocks.row_loop import for_each_row, for_rows_in_turn, share_of_block
from flydsl.kernels.blocks.row_machine import HOPPER, machine_of_target
from flydsl.kernels.blocks.row_pieces import ShiftedShare, put_vector, store_sums
from flydsl.kernels.blocks.row_plan import DTYPES, RowPlan, RowTask
from flydsl.kernels.blocks.row_resources import meeting_elements, register_limit
from flydsl.kernels.blocks.row_sums import settle, sum_in_ring
from flydsl.kernels.blocks.row_work import RowArrays, RowWork
from flydsl.kernels.blocks.rows import (
    Share,
    begin_alike,
    launch_rows,
    places,
    require_places,
    row_start,
    store_iteration,
    vectors_of,
)
from flydsl.kernels.norm.backward_terms import line_of_norm, on_line, slopes_of, slopes_of_input, sums_with_row
from flydsl.kernels.norm.column_sums import add_rows, sum_columns
from flydsl.kernels.norm.strip_backward import fit_strips, launch_strips
from flydsl.kernels.norm.strip_plan import StripPlan, is_faster, strip_plan

PIECE = 4
"""Sums that a thread writes at once."""


def backward_task(centred: bool) -> RowTask:
    return RowTask(sources=2, sums=2 if centred else 1)


@kept
def norm_backward_launcher(
    centred: bool, length: int, dtype: str, atomic: bool, added: bool, plan: RowPlan | StripPlan | None = None,
    blocks: int = HOPPER.processors,
) -> Any:  # fmt: skip
    """``fn(dy, x, gamma, mean, rstd, dx, dresidual, dgamma_sums, dbeta_sums, dgamma, dbeta, m)``.

    Sums are f32: matrices of `partial_rows`, or with ``atomic`` single rows of zeros, which are then the results.
    ``added`` says that ``dresidual`` is added to dx. RMSNorm has None in the places of ``mean`` and ``dbeta``.
    ``blocks`` is how many the GPU has place for at once, where long rows are divided over all of them.
    """
    check_row(length, dtype)

    @flyc.kernel
    def norm_bwd_kernel(
        dy: fx.Tensor, x: fx.Tensor, gamma: fx.Tensor | None, mean: fx.Tensor | None, rstd: fx.Tensor, dx: fx.Tensor,
        dresidual: fx.Tensor | None, dgamma_sums: fx.Tensor, dbeta_sums: fx.Tensor | None, m: fx.Int32,
        plan: fx.Constexpr,
    ):  # fmt: skip
        wait_for_older_launches()
        lines = () if gamma is None else (gamma,)
        sources = (dy, x) if dresidual is None else (dy, x, dresidual)

        passes = (
            lambda work, sums: _first_pass(work, sums, spare),
            lambda work, totals: _second_pass(work, totals, length),
        )

        def code(work: RowWork, sums: list[Any]) -> list[Any]:
            if fx.const_expr(not plan.shifted or plan.keeps_wide):
                return _norm_bwd_row(work, sums, length)
            kept: list[Any] | None = [] if plan.keep and plan.staged else None
            sums, values = _first_pass(work, sums, spare, kept)
            _second_pass(work, work.exchange.totals(values), length, kept)
            return sums

        given = (rstd,) if mean is None else (rstd, mean)
        arrays = RowArrays(sources, (dx,), lines, numbers=2 if centred else 1, given=given)
        smem = fx.SharedAllocator(128, static=not fx.nvvm.is_target())
        by_pieces = plan.shifted or plan.slots > 0
        spare = smem.allocate(fx.Array[fx.Float32, 1]).ptr if by_pieces else None
        size = meeting_elements(plan)
        meeting = smem.allocate(fx.Array[fx.Float32, size, 16]).ptr if size else None
        places = smem.allocate(fx.Array[fx.Int32, plan.rows]).ptr if plan.rows > 1 and by_pieces else None
        outs = [dgamma_sums] if dbeta_sums is None else [dgamma_sums, dbeta_sums]

        def give(sums: list[Any], share: Share, near: Any, row: Any) -> None:
            for index, out in enumerate(outs):
                own = sums[index * plan.iterations : (index + 1) * plan.iterations]
                start = fx.get_iter(out) if atomic else row_start(out, row)
                _give_sums(own, start, (meeting if near is None else near, places), share, atomic)

        if fx.const_expr(plan.slots > 0):
            sum_in_ring(arrays, m, plan, passes, smem, give)
        else:
            sums = for_rows_in_turn(arrays, m, plan, code, smem)
            give(sums, share_of_block(dy, m, plan), None, fx.block_idx.x // plan.cluster)

    @flyc.kernel
    def norm_dx_kernel(
        dy: fx.Tensor, x: fx.Tensor, gamma: fx.Tensor | None, mean: fx.Tensor | None, rstd: fx.Tensor, dx: fx.Tensor,
        dresidual: fx.Tensor | None, m: fx.Int32, plan: fx.Constexpr,
    ):  # fmt: skip
        lines = () if gamma is None else (gamma,)
        sources = (dy, x) if dresidual is None else (dy, x, dresidual)
        given = (rstd,) if mean is None else (rstd, mean)
        arrays = RowArrays(sources, (dx,), lines, numbers=2 if centred else 1)
        for_each_row(arrays, m, plan, lambda work: _norm_dx_row(work, [values[work.index] for values in given], length))

    @flyc.jit
    def norm_bwd(
        dy: fx.Tensor, x: fx.Tensor, gamma: fx.Tensor | None, mean: fx.Tensor | None, rstd: fx.Tensor, dx: fx.Tensor,
        dresidual: fx.Tensor | None, dgamma_sums: fx.Tensor, dbeta_sums: fx.Tensor | None, dgamma: fx.Tensor | None,
        dbeta: fx.Tensor | None, m: fx.Int32, stream: fx.Stream = None,
    ):  # fmt: skip
        dy, x, dx, dresidual = in_rows(length, dy, x, dx, dresidual)
        if fx.const_expr(not atomic):
            dgamma_sums, dbeta_sums = in_rows(length, dgamma_sums, dbeta_sums)
        task = RowTask(sources=2 + added, sums=2 if centred else 1)
        beside = max(lines_beside((gamma,), dtype), 1)
        chosen = plan or plan_of_sums(length, dtype, task, beside)
        if fx.const_expr(plan is None and not atomic and machine_of_target().bulk):
            weight = 0 if gamma is None else gamma.dtype.width // 8
            strips = strip_plan(length, dtype, blocks, task.sources, task.sums, weight)
            if fx.const_expr(strips is not None and (chosen is None or is_faster(strips, chosen))):
                chosen = strips
        outs = [dgamma_sums] if dbeta_sums is None else [dgamma_sums, dbeta_sums]
        results = [(dgamma_sums, dgamma), (dbeta_sums, dbeta)]
        given = (rstd,) if mean is None else (rstd, mean)

        def launch(chosen: RowPlan) -> None:
            require_places(matrices, (gamma,), m, chosen)
            blocks = _block_count(chosen, m, None if atomic else dgamma_sums, dy)
            cluster = (chosen.cluster, 1, 1) if chosen.cluster > 1 else None
            limit = {"fly.maxnreg": register_limit(chosen, machine_of_target(), beside)} if fx.nvvm.is_target() else {}
            norm_bwd_kernel(dy, x, gamma, mean, rstd, dx, dresidual, dgamma_sums, dbeta_sums, m, chosen).launch(
                grid=(blocks * chosen.cluster, 1, 1), block=(chosen.threads, 1, 1), cluster=cluster, stream=stream,
                value_attrs=limit, pdl=fx.nvvm.has_dependent_launches(),
            )  # fmt: skip
            if not atomic:
                add_rows(results, blocks, length, places(chosen), stream)

        def launch_twice(by_one_plan: bool) -> None:
            if atomic or dgamma is not None or dbeta is not None:
                rows, most = sum_columns((dy, x), given, outs, m, length, atomic, stream)
                if not atomic:
                    add_rows(results, rows, length, most, stream)
            # Behind the sums, which read rows that dx may be written over.
            choice = plan_row(length, dtype, lines=lines_beside((gamma,), dtype), task=RowTask(sources=task.sources))
            choice = RowChoice(choice.apart or choice.many) if by_one_plan else choice
            launch_rows(
                lambda chosen: norm_dx_kernel(dy, x, gamma, mean, rstd, dx, dresidual, m, chosen), m, choice, stream,
                (dy, x, dresidual, dx), (gamma,),
            )  # fmt: skip

        matrices = [matrix for matrix in (dy, x, dresidual, dx) if matrix is not None]
        require_rows([*matrices, dgamma_sums, dbeta_sums], length)
        require_extents(matrices, m, length)
        if fx.const_expr(not atomic):
            require_extents((dgamma_sums, dbeta_sums), fx.max(dgamma_sums.shape[0], fx.min(m, fx.Int32(1))), length)
        require_type((dy, x, dresidual), DTYPES[dtype])
        require_numbers((gamma,), length)
        require_type((mean, rstd), fx.Float32)
        require_numbers((mean, rstd), m)
        if fx.const_expr(isinstance(chosen, StripPlan)):
            if fit_strips(matrices, dgamma_sums, m, chosen):
                launch_strips(dy, x, gamma, given, dx, dresidual, dgamma_sums, (dgamma, dbeta), m, chosen, stream)
            else:
                launch_twice(by_one_plan=True)  # such launches are rare, and others are compiled sooner
        elif fx.const_expr(chosen is None):
            launch_twice(by_one_plan=False)
        elif fx.const_expr(chosen.apart is None):
            launch(chosen)
        else:
            alike = lie_flat(matrices, m, chosen) if chosen.staged else begin_alike(matrices, chosen)
            if alike & (_block_count(chosen, m, None if atomic else dgamma_sums, dy) > 0):
                launch(chosen)
            else:
                launch(chosen.apart)

    return norm_bwd


def _block_count(plan: RowPlan, m: fx.Int32, sums: fx.Tensor | None, source: fx.Tensor) -> Any:
    """Return how many blocks, or clusters of them, take rows in turn: no more than there are rows of partial sums, and
    none of no rows, whose sums are zeros.

    Where rows begin anywhere and are not taken in the order of their places, those of a block must begin at one place
    in a piece: blocks then have a row each, or are a multiple of the rows after which one begins at the same place
    again, which may be none. Those are as many as a piece has elements, and half as many for each power of two in the
    distance of rows.
    """
    blocks = fx.min(fx.ceildiv(m, plan.tile_rows), fx.Int32(places(plan)))
    if sums is not None:
        blocks = fx.min(blocks, fx.Int32(sums.shape[0]))
    if plan.one_place or not plan.shifted:
        return blocks
    most = plan.width // gcd(plan.width, plan.rows) if plan.early or plan.staged else plan.width
    apart, distance = fx.Int32(most), fx.Int64(source.stride[0])
    for power in (2, 4, 8):
        apart = (distance % power == 0).select(fx.Int32(max(most // power, 1)), apart)
    return (blocks < m).select(blocks // apart * apart, blocks)


def _norm_bwd_row(work: RowWork, sums: list[Any], length: int) -> list[Any]:
    """Write dx of a row; returns the sums with what the row adds to them."""
    iterations, dy, x = work.share.plan.iterations, work.x[0], work.x[1]
    scale, *mean = work.given

    def normed(vector: Any) -> Any:
        return (vector - mean[0] if mean else vector) * scale

    def weighted(iteration: int, vector: Any) -> Any:
        return vector * work.lines[0][iteration] if work.lines else vector

    kept: dict[int, tuple[Any, Any]] = {}
    products = total = None
    for iteration in range(iterations):
        gradient, value = dy[iteration], normed(x[iteration])
        if work.share.plan.keeps_wide:
            kept[iteration] = gradient, value
        d = weighted(iteration, gradient)
        products = d * value if products is None else fx.math.fma(d, value, products)
        total = d if total is None else total + d
    parts = [products, total] if mean else [products]
    values = [part.reduce("add", fastmath="reassoc") for part in parts]
    means = [total * (1.0 / length) for total in work.exchange.totals(values)]
    slope, shift = -means[0] * scale, -means[1] * scale if mean else None
    factor = (
        None if work.alive is True or work.share.plan.shifted else work.alive.select(fx.Float32(1.0), fx.Float32(0.0))
    )
    added = list(sums)
    for iteration in range(iterations):
        gradient, value = kept[iteration] if kept else (dy.again_at(iteration), normed(x.again_at(iteration)))
        rest = value * slope if shift is None else fx.math.fma(value, slope, shift)
        result = fx.math.fma(weighted(iteration, gradient), scale, rest)
        work.store(iteration, result if len(work.x) < 3 else result + work.x[2].again_at(iteration))
        gradient = gradient if factor is None else gradient * factor
        added[iteration] = fx.math.fma(gradient, value, sums[iteration])
        if shift is not None:
            added[iterations + iteration] = sums[iterations + iteration] + gradient
    return added


def _first_pass(
    work: RowWork, sums: list[Any], spare: Any, kept: list[Any] | None = None
) -> tuple[list[Any], list[Any]]:
    """Return the sums with what a row adds to them, and what this thread has of the row's: of d * n, and of d.

    What the second pass needs of each vector, d and n, is added to ``kept``, where there is such a list.
    """
    dy, x = work.x[0], work.x[1]
    added, parts = sums_with_row(
        lambda iteration: (dy[iteration], x[iteration]),
        lambda iteration, gradient: gradient * work.lines[0][iteration] if work.lines else gradient,
        line_of_norm(work.given), sums, work.share.plan.iterations, kept,
    )  # fmt: skip
    settle(work, added, spare)
    return added, [part.reduce("add", fastmath="reassoc") for part in parts]


def _second_pass(work: RowWork, totals: list[Any], length: int, kept: list[Any] | None = None) -> None:
    """Write dx of a row, d * rstd + n * slope + shift, by what was ``kept`` or by reading the row again."""
    dy, x, line = work.x[0], work.x[1], line_of_norm(work.given)
    slopes = slopes_of(totals, line, length)
    of_input = slopes_of_input(slopes, line)
    for iteration in range(work.share.plan.iterations):
        if kept is not None:
            d, value = kept[iteration]
            rest = on_line(value, slopes)
        else:
            vector, gradient = x.again_at(iteration), dy.again_at(iteration)
            rest = on_line(vector, of_input)
            d = gradient * work.lines[0].again_at(iteration) if work.lines else gradient
        result = fx.math.fma(d, line[0], rest)
        work.store(iteration, result if len(work.x) < 3 else result + work.x[2].again_at(iteration))


def _norm_dx_row(work: RowWork, given: list[Any], length: int) -> None:
    """Write dx of a row, of which nothing is summed but what it needs itself; ``given`` is rstd and, if the row is
    centred, its mean."""
    dy, x, *others = work.x
    scale, *mean = given
    products = total = None
    for gradient, vector, *weights in zip(dy, x, *work.lines, strict=True):
        d = gradient * weights[0] if weights else gradient
        value = (vector - mean[0] if mean else vector) * scale
        products = d * value if products is None else fx.math.fma(d, value, products)
        total = d if total is None else total + d
    parts = [products, total] if mean else [products]
    totals = work.exchange.totals([part.reduce("add", fastmath="reassoc") for part in parts])
    slope, *shift = [total * (-1.0 / length) * scale for total in totals]
    rows = (dy.again(), x.again(), *(line.in_turn() for line in work.lines), *(other.again() for other in others))
    for iteration, (gradient, vector, *rest) in enumerate(zip(*rows, strict=True)):
        weights, more = rest[: len(work.lines)], rest[len(work.lines) :]
        value = (vector - mean[0] if mean else vector) * scale
        terms = fx.math.fma(value, slope, shift[0]) if shift else value * slope
        result = fx.math.fma(gradient * weights[0] if weights else gradient, scale, terms)
        work.store(iteration, result + more[0] if more else result)


# Sums over rows ------------------------------------------------------------------------------------------------------


def _give_sums(sums: list[Any], start: Any, meeting: tuple[Any, Any], share: Share, atomic: bool) -> None:
    """Add up the sums of the rows of a block, and write or add them to where a row of sums begins."""
    plan = share.plan
    if plan.rows > 1:
        _give_sums_of_rows(sums, start, *meeting, share, atomic)
        return
    if isinstance(share, ShiftedShare):
        store_sums(sums, start, share, meeting[0], atomic)
        return
    vectors = vectors_of(start + share.offset * plan.width, plan)
    for iteration, vector in enumerate(sums):
        if atomic:
            _add_iteration(vector, start + share.offset * plan.width, share, iteration)
        else:
            store_iteration(vector, vectors, share, iteration, True, dtype=fx.Float32)


def _add_iteration(vector: Any, start: Any, share: Share, iteration: int) -> None:
    """Add one of this thread's vectors to memory, element by element."""
    plan = share.plan
    line = fx.make_view(start, fx.make_layout(plan.length, 1))
    for place, number in enumerate(share.accesses(iteration)):
        inside = share.inside(number)
        if fx.Boolean(True) if inside is True else inside:
            for element in range(plan.width):
                value = vector[place * plan.width + element]
                fx.atomic("add", line, value, at=share.vector(number) * plan.width + element)


def _place_of_sum(column: Any, plan: RowPlan) -> Any:
    """Return where the sum of a column lies. Lanes that write two pieces of 16 bytes would write to half of the banks
    at a time: of every other four the pieces change places."""
    return column ^ ((column >> 5) & 1) * PIECE if plan.width == 2 * PIECE else column


def _put_iteration(vector: Any, start: Any, share: Share, iteration: int) -> None:
    """Write one of this thread's vectors of sums to shared memory, in pieces of 16 bytes."""
    width = share.plan.width
    count = min(width, PIECE)
    for place, number in enumerate(share.accesses(iteration)):
        inside = share.inside(number)
        if fx.Boolean(True) if inside is True else inside:
            for first in range(0, width, count):
                own = [vector[place * width + first + element] for element in range(count)]
                at = start + _place_of_sum(share.vector(number) * width + first, share.plan)
                fx.make_view(at, fx.make_layout(count, 1)).store(fx.Vector.from_elements(own, fx.Float32))


@flyc.jit
def _give_sums_of_rows(sums: list[Any], start: Any, meeting: Any, places: Any, share: Share, atomic: bool) -> None:
    """The sums of all rows of a block meet in shared memory; each thread then has a column of them.

    Where rows begin anywhere, whole vectors are written there, and ``places`` has where in the first each row begins.
    """
    plan, shifted = share.plan, isinstance(share, ShiftedShare)
    apart = plan.iterations * plan.lanes * plan.width if shifted else plan.length
    own = meeting + share.row * apart
    fx.barrier()
    for iteration, vector in enumerate(sums):
        if fx.const_expr(shifted):
            put_vector(vector, own, share, share.vector(iteration))
        else:
            _put_iteration(vector, own, share, iteration)
    if fx.const_expr(shifted):
        if share.lane == 0:
            places[share.row] = share.place
    fx.barrier()
    line = fx.make_view(start, fx.make_layout(plan.length, 1))
    for column in range(fx.thread_idx.x, plan.length, plan.threads):
        total = fx.Float32(0.0)
        for row in fx.range_constexpr(plan.rows):
            place = column + places[row] if shifted else _place_of_sum(column, plan)
            total = total + meeting[place + row * apart]
        if fx.const_expr(atomic):
            fx.atomic("add", line, total, at=column)
        else:
            line[column] = total
