"""The rows of a block, each handed to the code of a kernel as vectors in registers.

Threads load their vectors straight from memory where rows begin at multiples of 16 bytes. Other rows, and short ones,
pass through shared memory: the rows of a block lie in memory one behind the other, so they come as they lie, in pieces
of 16 bytes, and are cut into rows there. Results go back the same way. Before the first and behind the last whole
piece there are less than 16 bytes, which threads copy element by element, and so they do with rows that do not lie
together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.cache_hints import copy_atom
from flydsl.kernels.blocks.exchange import RowExchange
from flydsl.kernels.blocks.row_plan import ACCESS_BYTES, DTYPES, RowPlan
from flydsl.kernels.blocks.rows import Line, Share, store_turn, vectors_of

PIECES_AT_ONCE = 8
"""Pieces that a thread has on their way where threads copy them."""
Store = Callable[[int, Any], None]
"""``store(turn, vector)`` writes one of a thread's vectors of the result."""
RowCode = Callable[[Line, list[Line], RowExchange, Store], None]
"""``code(x, lines, exchange, store)`` computes a row of which this thread has the vectors ``x``."""


def for_each_row(
    source: Any, target: Any, end: Any, plan: RowPlan, code: RowCode, *, numbers: int, fill: float,
    lines: tuple[Any, ...] = (),
) -> None:  # fmt: skip
    """Run ``code``, which exchanges ``numbers`` numbers, for the rows of this block, of which there are ``end``.

    ``lines`` are tensors as long as a row that go with every row, as a scale or a shift. Elements beyond the row
    are ``fill``.
    """
    smem = fx.SharedAllocator(128, static=False)
    exchange, share, hints = RowExchange(plan, numbers, smem), Share(plan), plan.hints
    beside = [Line(_part(fx.get_iter(line), share), share, 0.0, keep=False, hint=hints.line) for line in lines]
    first = fx.block_idx.x // plan.cluster * plan.rows
    if plan.staged:
        tile = RowTile(share, source, target, first, end, smem)
        tile.fetch()
        vectors = tile.row(share.row)
        x = Line(vectors, share, fill, keep=plan.keep)
        code(x, beside, exchange, lambda turn, v: store_turn(v, vectors, share, turn, True))
        tile.write_back()
        return
    row = fx.min(first + share.row, end - 1)  # a thread without a row computes the last one, and writes nothing
    alive = first + share.row < end if plan.rows > 1 else True
    x = Line(_part(_start(source, row), share), share, fill, keep=plan.keep, hint=hints.load, again=hints.again)
    out = _part(_start(target, row), share)
    code(x, beside, exchange, lambda turn, v: store_turn(v, out, share, turn, alive, hints.store))


def _start(tensor: Any, row: Any) -> Any:
    return fx.get_iter(tensor[row, None])


def _part(start: Any, share: Share) -> Any:
    """The block's part of what begins at a pointer."""
    return vectors_of(start + share.offset * share.plan.width, share.plan)


class RowTile:
    """The rows of a block, or its part of one, in shared memory, as far from a multiple of 16 bytes as in memory."""

    def __init__(self, share: Share, source: Any, target: Any, first: Any, end: Any, smem: Any) -> None:
        plan = share.plan
        self.plan, self.share, self.source, self.target = plan, share, source, target
        self.per_piece = ACCESS_BYTES // plan.size
        self.buffer = smem.allocate(fx.Array[DTYPES[plan.dtype], plan.tile + self.per_piece, 128]).ptr
        self.arrived = smem.allocate(fx.Array[fx.Int64, 1]).ptr if plan.bulk else None
        self.first = first
        self.rows = fx.min(end - self.first, fx.Int32(plan.rows)) if plan.rows > 1 else fx.Int32(1)
        self.count = fx.Int32(share.here * plan.width if plan.cluster > 1 else self.rows * plan.length)
        self.start = self._start(source)
        shift = self._shift(self.start)
        self.as_it_lies = self._together(source) & (shift % plan.width == 0)
        self.place = self.as_it_lies.select(shift, fx.Int32(0))
        self.head = fx.min((self.per_piece - self.place) % self.per_piece, self.count)
        self.body = (self.count - self.head) // self.per_piece * self.per_piece
        self.edge = self._edge()

    def _start(self, tensor: Any) -> Any:
        return _start(tensor, self.first) + self.share.offset * self.plan.width

    def _shift(self, start: Any) -> Any:
        """How many elements a pointer is behind a multiple of 16 bytes."""
        return fx.Int32(fx.ptrtoint(start) % ACCESS_BYTES) // self.plan.size

    def _edge(self) -> Any:
        """The element outside whole pieces that this thread copies, or -1; some have one before, some one behind."""
        thread, per = fx.thread_idx.x, self.per_piece
        behind = self.head + self.body + thread - per
        at = (thread < per).select((thread < self.head).select(thread, -1), (behind < self.count).select(behind, -1))
        return (thread < 2 * per).select(at, -1)

    def _together(self, tensor: Any) -> Any:
        """Whether the tile's rows lie one behind the other."""
        return (tensor.stride[0] == self.plan.length) | (self.rows == 1)

    def row(self, number: Any) -> Any:
        """A row of the tile as (values of a vector, vectors)."""
        return vectors_of(self.buffer + self.place + number * self.plan.length, self.plan)

    def _element(self, at: Any) -> tuple[Any, Any]:
        """The coordinate of an element of the tile."""
        length = self.plan.length
        return self.first + at // length, self.share.offset * self.plan.width + at % length

    @flyc.jit
    def fetch(self) -> None:
        """Bring the rows; those of a last tile that is not full are zero."""
        if fx.const_expr(self.plan.bulk):
            self._send_for()
        elif self.as_it_lies:
            self._copy_pieces(self.start + self.head, self.buffer + self.place + self.head)
        if self.as_it_lies:
            if self.edge >= 0:
                self.buffer[self.place + self.edge] = self.start[self.edge]
        else:
            for at in range(fx.thread_idx.x, self.count, self.plan.threads):
                self.buffer[at] = self.source[self._element(at)]
        for at in range(self.count + fx.thread_idx.x, self.plan.tile if self.plan.rows > 1 else 0, self.plan.threads):
            self.buffer[self.place + at] = DTYPES[self.plan.dtype](0.0)
        fx.barrier()
        if fx.const_expr(self.plan.bulk):
            fx.nvvm.mbarrier_wait(self.arrived, 0)

    @flyc.jit
    def _send_for(self) -> None:
        if fx.thread_idx.x == 0:
            fx.nvvm.mbarrier_init(self.arrived, 1)
            fx.nvvm.fence_mbarrier_init()
            size = self.as_it_lies.select(self.body, fx.Int32(0)) * self.plan.size
            fx.nvvm.mbarrier_arrive_expect_tx(self.arrived, size)
            if size > 0:
                place = self.buffer + self.place + self.head
                fx.nvvm.bulk_load(self.start + self.head, place, size, self.arrived, l2=self.plan.hints.priority)

    @flyc.jit
    def write_back(self) -> None:
        """Write what the threads left in place of the rows."""
        if fx.const_expr(self.plan.bulk):
            fx.nvvm.fence_proxy_async()
        fx.barrier()
        start, place = self._start(self.target), self.buffer + self.place
        if self._together(self.target) & (self._shift(start) == self.place):
            if fx.const_expr(not self.plan.bulk):
                self._copy_pieces(place + self.head, start + self.head)
            elif (fx.thread_idx.x == 0) & (self.body > 0):
                fx.nvvm.bulk_store(place + self.head, start + self.head, self.body * self.plan.size)
                fx.nvvm.tma_commit_group()
                fx.nvvm.tma_wait_group(0, read=True)  # shared memory must outlive the copy that reads it
            if self.edge >= 0:
                start[self.edge] = place[self.edge]
        else:
            for at in range(fx.thread_idx.x, self.count, self.plan.threads):
                self.target[self._element(at)] = place[at]

    @flyc.jit
    def _copy_pieces(self, source: Any, target: Any) -> None:
        """Some pieces at once are on their way in each thread."""
        plan, dtype = self.plan, DTYPES[self.plan.dtype]
        pieces, most = self.body // self.per_piece, -(-plan.tile // self.per_piece // plan.threads)
        come, go = (
            fx.logical_divide(fx.make_view(p, fx.make_layout(plan.tile, 1)), fx.make_layout(self.per_piece, 1))
            for p in (source, target)
        )
        atom = copy_atom(ACCESS_BYTES * 8, dtype, None)
        for begin in fx.range_constexpr(0, most, PIECES_AT_ONCE):
            held = [fx.make_rmem_tensor(self.per_piece, dtype) for _ in range(min(PIECES_AT_ONCE, most - begin))]
            for k, fragment in enumerate(held):
                at = fx.thread_idx.x + (begin + k) * plan.threads
                if at < pieces:
                    fx.copy_atom_call(atom, come[None, at], fragment)
            for k, fragment in enumerate(held):
                at = fx.thread_idx.x + (begin + k) * plan.threads
                if at < pieces:
                    fx.copy_atom_call(atom, fragment, go[None, at])
