"""The rows of a block, each handed to the code of a kernel as vectors in registers.

Blocks of a plan with stages stay for several rows. While one row is at work, the next are on their way into a ring of
shared memory by bulk copies, which a single thread starts: the memory has something to do also while a block reduces.
The barrier of a row's exchange says that every thread has taken its vectors, so that the stage can be filled again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.exchange import RowExchange, RowNumbers
from flydsl.kernels.blocks.rows import (
    DTYPES,
    Line,
    RowPlan,
    line_vectors,
    row_number,
    row_vectors,
    store_turn,
)

Store = Callable[[int, Any], None]
"""``store(turn, vector)`` writes one of a thread's vectors of the result."""
Exchange = Callable[[list[Any]], RowNumbers]
"""``exchange(numbers)`` gives the numbers of this wave to the others of the row, and gets theirs; once a row."""
RowCode = Callable[[Line, list[Line], Exchange, Store], None]
"""``code(x, lines, exchange, store)`` computes a row of which this thread has the vectors ``x``."""


def for_each_row(
    source: Any, target: Any, rows: tuple[Any, Any], plan: RowPlan, code: RowCode, *, numbers: int, fill: float,
    lines: tuple[Any, ...] = (),
) -> None:  # fmt: skip
    """Run ``code``, which exchanges ``numbers`` numbers, for each row of this block; ``rows`` are (first, end).

    ``lines`` are tensors as long as a row that go with every row, as a scale or a shift. Elements beyond the row
    are ``fill``.
    """
    run = _rows_of_ring if plan.shape.stages else _row_of_threads
    run(source, target, rows, plan, code, numbers, fill, lines)


def _row_of_threads(
    source: Any, target: Any, rows: tuple[Any, Any], plan: RowPlan, code: RowCode, numbers: int, fill: float,
    lines: tuple[Any, ...],
) -> None:  # fmt: skip
    """A row in the registers of its threads."""
    exchange = RowExchange(plan, numbers, fx.SharedAllocator())
    row = row_number(rows[0], plan)
    hints = plan.shape.hints
    x = Line(row_vectors(source, row, plan), plan, fill, keep=not plan.shape.again, hint=hints.load, again=hints.again)
    held = _held(lines, plan)
    code(x, held, exchange.publish, _store_into(row_vectors(target, row, plan), plan))


def _held(lines: tuple[Any, ...], plan: RowPlan) -> list[Line]:
    return [
        Line(line_vectors(line, plan), plan, 0.0, keep=plan.shape.lines_early, hint=plan.shape.hints.line)
        for line in lines
    ]


def _store_into(vectors: Any, plan: RowPlan) -> Store:
    return lambda turn, vector: store_turn(vector, vectors, plan, turn)


@flyc.jit
def _rows_of_ring(
    source: Any, target: Any, rows: tuple[Any, Any], plan: RowPlan, code: RowCode, numbers: int, fill: float,
    lines: tuple[Any, ...],
) -> None:  # fmt: skip
    smem = fx.SharedAllocator(128, static=False)
    first, end = rows
    ring = RowRing(source, end, plan, smem)
    exchange = RowExchange(plan, numbers, smem)
    ring.start(first)
    held = _held(lines, plan)
    state, number = ring.pipe.consumer_start(), fx.Int32(0)
    for row in range(first + fx.block_idx.x, end, fx.grid_dim.x):  # at most ``each`` of them
        ring.pipe.wait(state)
        here = exchange.of_row(number, lambda row=row, state=state: ring.refill(row, state))
        x = Line(ring.vectors(state), plan, fill, keep=True)
        code(x, held, here.publish, _store_into(row_vectors(target, row, plan), plan))
        state, number = ring.pipe.advance(state), 1 - number


class RowRing:
    """Stages of shared memory, each with a row on its way or at work."""

    def __init__(self, tensor: Any, rows: Any, plan: RowPlan, smem: Any) -> None:
        self.tensor, self.rows, self.plan = tensor, rows, plan
        self.held = smem.allocate(fx.Array[DTYPES[plan.dtype], plan.shape.stages * plan.length, 128]).ptr
        self.pipe = fx.nvvm.Pipeline(smem, stages=plan.shape.stages, consumers=1)

    @flyc.jit
    def start(self, first: Any) -> None:
        """Send for the first rows of a block whose launch begins with row ``first``."""
        if fx.thread_idx.x == 0:
            self.pipe.init()
            state = self.pipe.consumer_start()
            for stage in fx.range_constexpr(self.plan.shape.stages):
                self.fetch(first + fx.block_idx.x + stage * fx.grid_dim.x, state)
                state = self.pipe.advance(state)
        fx.barrier()

    @flyc.jit
    def refill(self, row: Any, state: Any) -> None:
        """Behind a barrier: the stage that held this row gets the one that comes around next."""
        if fx.thread_idx.x == 0:
            self.fetch(row + self.plan.shape.stages * fx.grid_dim.x, state)

    @flyc.jit
    def fetch(self, row: Any, state: Any) -> None:
        """Send for a row, if there is one; thread 0 alone."""
        if row < self.rows:
            barrier, size = self.pipe.full(state), self.plan.row_bytes
            fx.nvvm.mbarrier_arrive_expect_tx(barrier, size)
            place = self.held + state.stage * self.plan.length
            source, priority = fx.get_iter(self.tensor[row, None]), self.plan.shape.hints.priority
            fx.nvvm.bulk_load(source, place, size, barrier, l2=priority)

    def vectors(self, state: Any) -> Any:
        """The row of a stage as (values of a vector, vectors)."""
        line = fx.make_view(self.held + state.stage * self.plan.length, fx.make_layout(self.plan.length, 1))
        return line_vectors(line, self.plan)
