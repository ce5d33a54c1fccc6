"""Rows of a block in shared memory, for those that do not begin at multiples of 16 bytes, and for short ones.

The rows of a block lie in memory one behind the other, so they come as they lie, in pieces of 16 bytes, and are cut
into rows in shared memory. Results go back the same way, from where the rows were. Pieces at the ends belong to
neighbouring rows too: they are read whole where there are neighbours, and written element by element.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.cache_hints import copy_atom
from flydsl.kernels.blocks.row_plan import ACCESS_BYTES, DTYPES, RowPlan
from flydsl.kernels.blocks.rows import Share, row_start, vectors_of

PIECES_AT_ONCE = 8
"""Pieces that a thread has on their way where threads copy them."""


def tile_elements(plan: RowPlan) -> int:
    """Elements of shared memory that a tile takes, a multiple of 128 bytes."""
    whole = 128 // plan.size
    return -(-(plan.tile + ACCESS_BYTES // plan.size) // whole) * whole


def tile_memory(plan: RowPlan, smem: fx.SharedAllocator) -> Any:
    """Shared memory for all tiles of one source, those on their way included."""
    count = tile_elements(plan) * max(plan.stages, 1)
    if plan.shifted:
        count += (plan.iterations * plan.lanes - plan.vectors) * plan.width  # what lanes beyond a row read
    return smem.allocate(fx.Array[DTYPES[plan.dtype], count, 128]).ptr


class RowTile:
    """Rows ``first`` and following of a matrix, or the block's part of one, as they lie in memory."""

    def __init__(self, share: Share, source: fx.Tensor, first: fx.Int32, end: fx.Int32, buffer: fx.Pointer) -> None:
        plan = share.plan
        self.plan, self.share, self.source, self.first, self.buffer = plan, share, source, first, buffer
        self.per_piece = ACCESS_BYTES // plan.size
        self.rows = fx.min(end - first, fx.Int32(plan.tile_rows)) if plan.tile_rows > 1 else fx.Int32(1)
        self.count = fx.Int32(share.here * plan.width if plan.cluster > 1 else self.rows * plan.length)
        self.low = share.offset * plan.width
        self.start = self._start(source)
        shift = self._shift(self.start)
        self.as_it_lies = self._together(source) & (plan.shifted or shift % plan.width == 0)
        self.place = self.as_it_lies.select(shift, fx.Int32(0))
        self.head = fx.min((self.per_piece - self.place) % self.per_piece, self.count)
        self.body = (self.count - self.head) // self.per_piece * self.per_piece
        stop = self.place + self.count
        self.has_before = (self.place == 0) | (first > 0)
        self.has_behind = (stop % self.per_piece == 0) | (first + self.rows < end)
        if plan.cluster > 1:
            self.has_before = self.has_before | (fx.Int32(share.offset) > 0)
            self.has_behind = self.has_behind | (fx.Int32(share.offset + share.here) < plan.vectors)
        # What comes in whole pieces, counted from the beginning of the buffer. A last row may lie within the piece that
        # it begins in, which does not come whole where nothing is behind it.
        self.begin = self.has_before.select(fx.Int32(0), self.place + self.head)
        pieces = (stop + self.has_behind.select(self.per_piece - 1, 0)) // self.per_piece
        self.stop = fx.max(pieces * self.per_piece, self.begin)

    def _start(self, tensor: fx.Tensor) -> Any:
        return row_start(tensor, self.first) + self.low

    def _shift(self, start: fx.Pointer) -> Any:
        """Return how many elements a pointer is behind a multiple of 16 bytes."""
        return fx.Int32(fx.Uint64(fx.ptrtoint(start)) % ACCESS_BYTES) // self.plan.size

    def _edge(self) -> Any:
        """Return the element outside whole pieces that this thread copies, or -1; some have one before, some one
        behind."""
        thread, per = fx.thread_idx.x, self.per_piece
        behind = self.head + self.body + thread - per
        at = (thread < per).select((thread < self.head).select(thread, -1), (behind < self.count).select(behind, -1))
        return (thread < 2 * per).select(at, -1)

    def _together(self, tensor: fx.Tensor) -> Any:
        """Return whether the tile's rows lie one behind the other; launchers see to it where rows begin anywhere."""
        if self.plan.shifted:
            return fx.Boolean(True)
        return (tensor.stride[0] == self.plan.length) | (self.rows == 1)

    def start_of_row(self, number: fx.Int32) -> Any:
        """Return where a row of the tile begins."""
        return self.buffer + self.place + number * self.plan.length

    def row(self, number: fx.Int32) -> Any:
        """Return a row of the tile as (values of a vector, vectors)."""
        return vectors_of(self.start_of_row(number), self.plan)

    def _element(self, at: Any) -> tuple[Any, Any]:
        """Return the coordinate of an element of the tile."""
        length = self.plan.length
        return self.first + at // length, self.low + at % length

    def bytes_in_pieces(self) -> Any:
        """Return how much `send_for` brings."""
        return self.as_it_lies.select(self.stop - self.begin, fx.Int32(0)) * self.plan.size

    def send_for(self, arrived: fx.Pointer) -> None:
        """Have the pieces brought; a single thread calls this, and ``arrived`` is told."""
        size = self.bytes_in_pieces()
        if size > 0:
            place = self.buffer + self.begin
            come = self.start - self.place + self.begin
            fx.nvvm.bulk_load(come, place, size, arrived, l2=self.plan.hints.priority)

    def copy_pieces_here(self) -> None:
        """Bring the pieces with all threads."""
        if self.as_it_lies:
            self._copy_pieces(self.start - self.place + self.begin, self.buffer + self.begin, self.stop - self.begin)

    @flyc.jit
    def complete(self) -> None:
        """Bring what came in no piece; rows of a last tile that is not full become zero."""
        if self.as_it_lies:
            if not (self.has_before & self.has_behind):
                edge = self._edge()
                at = self.place + edge
                came = (at >= self.begin) & (at < self.stop)
                if edge >= 0:
                    if not came:
                        self.buffer[at] = self.start[edge]
        else:
            for at in range(fx.thread_idx.x, self.count, self.plan.threads):
                self.buffer[at] = self.source[self._element(at)]
        if fx.const_expr(self.plan.tile_rows > 1):
            for at in range(self.count + fx.thread_idx.x, self.plan.tile, self.plan.threads):
                self.buffer[self.place + at] = DTYPES[self.plan.dtype](0.0)

    @flyc.jit
    def write_back(self, target: fx.Tensor) -> None:
        """Write what the threads left in place of the rows, after a barrier."""
        start, place = self._start(target), self.buffer + self.place
        alike = self._together(target) & (self.plan.shifted or self._shift(start) == self.place)
        if alike:
            if fx.const_expr(not self.plan.bulk):
                self._copy_pieces(place + self.head, start + self.head, self.body)
            elif (fx.thread_idx.x == 0) & (self.body > 0):
                fx.nvvm.bulk_store(place + self.head, start + self.head, self.body * self.plan.size)
            edge = self._edge()
            if edge >= 0:
                start[edge] = place[edge]
        else:
            for at in range(fx.thread_idx.x, self.count, self.plan.threads):
                target[self._element(at)] = place[at]

    @flyc.jit
    def _copy_pieces(self, source: fx.Tensor, target: fx.Tensor, elements: Any) -> None:
        """Some pieces at once are on their way in each thread."""
        plan, dtype, space = self.plan, DTYPES[self.plan.dtype], tile_elements(self.plan)
        # A tile that ends and begins between pieces lies in two more than it fills.
        pieces, touched = elements // self.per_piece, (plan.tile + 2 * (self.per_piece - 1)) // self.per_piece
        most = -(-touched // plan.threads)
        come, go = (
            fx.logical_divide(fx.make_view(p, fx.make_layout(space, 1)), fx.make_layout(self.per_piece, 1))
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


def needs_meeting(tiles: list[RowTile]) -> Any:
    """Return whether threads brought elements that others read."""
    needed = fx.Boolean(False)
    for tile in tiles:
        whole = tile.as_it_lies & tile.has_before & tile.has_behind
        needed = needed | whole.select(fx.Boolean(False), fx.Boolean(True))
        if tile.plan.tile_rows > 1:
            needed = needed | (tile.count < tile.plan.tile)
    return needed


class PiecesInTile:
    """The pieces that a row of each source lies in, which begin at ``starts`` in its tile."""

    def __init__(self, starts: list[Any], plan: RowPlan) -> None:
        self.starts, self.plan = starts, plan

    def start_of(self, source: int, iteration: int) -> Any:
        """Return where the vectors of an iteration begin."""
        return self.starts[source] + iteration * self.plan.lanes * self.plan.width
