"""A tile of the preshuffle GEMM multiplied block of rows by block of rows, where one instruction covers its depth.

There are no chunks along K then whose reads from LDS could go beside the products of others. Two whole tiles of A in
registers would do, but leave room for one wave a SIMD; of blocks of 16 rows only a few are held.
"""

from __future__ import annotations

from typing import Any

import flydsl.expr as fx
from flydsl.expr import rocdl

WINDOW = 3
"""Blocks of 16 rows of A that a wave holds at most: one is multiplied while the others arrive from LDS."""


def step_by_rows(pipeline: Any, tile: int, after: Any, last: bool) -> None:
    """Multiply a tile; unless it is the last, the first blocks of the next are read beside its last products.

    Before these the waves meet: the next tile has landed then, and this one has been read.
    """
    plan, rows, window = pipeline.plan, pipeline.plan.row_tiles, min(pipeline.WINDOW, pipeline.plan.row_tiles)
    if not last:
        pipeline.load_b(tile + 1, 0, after)
        rocdl.sched_barrier(0)  # the wait for copies of A counts on these loads behind them
    for row in range(rows):
        if row % 2 == 0 and row <= rows - window:
            # With the first rows for all of B that is multiplied now: behind it are A's copies, and B's next tile.
            following = 0 if last else plan.b_loads + pipeline.scale_loads
            behind_b = {"vmcnt": plan.a_loads + following} if row == 0 else {}
            rocdl.s_waitcnt(lgkmcnt=max(window - 2, 0) * plan.accesses, **behind_b)
            rocdl.sched_barrier(0)
        pipeline.multiply_row(tile, row)
        rocdl.sched_barrier(0)
        if row == rows - window and not last:
            rocdl.s_waitcnt(vmcnt=plan.b_loads)
            pipeline.meet()
            pipeline.load_a(tile + 2, after)
            rocdl.sched_barrier(0)
        if row + window < rows:
            pipeline.read_rows(tile, row + window)
        elif not last:
            pipeline.read_rows(tile + 1, row + window - rows)


def steps_of(pipeline: Any) -> range:
    """Return the instructions along the depth of a tile."""
    return range(fx.get_scalar(fx.size(pipeline.a[0].shape[2])))


def multiply_row(pipeline: Any, sums: Any, tile: int, row: int, steps: range | None = None) -> None:
    """The products of a block of rows, added to some sums: of all steps along K, or of some."""
    a, b, state = pipeline.a[0], pipeline.b.chunk(tile, None), dict(pipeline.instruction.state)
    for step in steps_of(pipeline) if steps is None else steps:
        for column in range(pipeline.plan.column_tiles):
            total = fx.coalesce(sums[None, column, row])
            operands = fx.coalesce(b[None, column, step]), fx.coalesce(a[None, row, step])
            fx.gemm(pipeline.tiled, total, *operands, total, **state)
