"""Rows of A that an index names, for the Hopper GEMM: a warpgroup copies them in pieces of 16 bytes.

TMA copies boxes, and a box of one row takes it as long as one of many: 50 cycles for each row, on an H200, 2026-11-16,
made a product of gathered rows five times as slow.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.gemm.hopper.places import Place
from flydsl.kernels.gemm.hopper.plan import WARPGROUP
from flydsl.kernels.gemm.hopper.tiles import Operand, SharedRing, extent

BEHIND = -2
"""Instead of the number of a row that is behind its group's end."""


class GatheringRing(SharedRing):
    """A ring whose stages threads fill, too: what they write, wgmma sees behind a fence."""

    def wait(self, state: Any) -> None:
        super().wait(state)
        fx.nvvm.fence_proxy_async()


class GatheredRows(Operand):
    """Tiles of A whose rows an index names; of an index outside of A, zeros."""

    def __init__(self, matrix: Any, index: Any, ptr: Any, rows: int, bk: int, stages: int, swizzle: Any) -> None:
        self.matrix, self.index, self.stages = matrix, index, stages
        self.ptr, self.rows, self.bk, self.swizzle, self.along_k = ptr, rows, bk, swizzle, True
        self.piece = 128 // matrix.dtype.width
        of_line = bk // self.piece
        self.atom = fx.make_copy_atom(fx.nvvm.CpAsync(128), matrix.dtype)
        threads = fx.make_layout((WARPGROUP // of_line, of_line), (of_line, 1))
        pieces = fx.make_layout((1, self.piece), (0, 1))
        self.mine = fx.make_tiled_copy_tv(self.atom, threads, pieces).get_slice(fx.thread_idx.x)
        """A thread's pieces of a tile: neighbours have neighbouring ones of a line."""
        self.coords = self.mine.partition_D(fx.make_identity_tensor((rows, bk)))
        self.count = rows // (WARPGROUP // of_line)
        """Pieces of a thread, each in a line of its own."""

    def rows_of(self, place: Place) -> tuple[list[Any], Any]:
        """Return which rows of A a thread copies pieces of, -1 for zeros, and whether there is none of those.

        Behind the group's end nothing is copied, as nobody stores what comes of it: groups of a few rows would send for
        one line many times, all blocks for the same.
        """
        count, found, all_there = extent(self.matrix, 0), [], fx.Boolean(True)
        for i in range(self.count):
            line, _ = fx.get_leaves(self.coords[0, i, 0])
            row = place.row + fx.Int32(line)
            source = fx.Int32(self.index[fx.min(row, place.end - 1)])
            is_there = (source >= 0) & (source < count)
            inside = row < place.end
            found.append(inside.select(is_there.select(source, fx.Int32(-1)), fx.Int32(BEHIND)))
            all_there = all_there & (is_there | (row >= place.end))
        return found, all_there

    @flyc.jit
    def copy(self, rows: list[Any], all_there: Any, is_whole: Any, k: Any, stage: Any, full: Any) -> None:
        """Send for a thread's pieces of the lines of step k, which arrive at the barrier when they are there. Of a tile
        that is whole, no row is behind the group's end."""
        length, piece, atom = extent(self.matrix, 1), self.piece, self.atom
        _, first = fx.get_leaves(self.coords[0])
        column = k * self.bk + fx.Int32(first)
        own = self.mine.partition_D(self.tiles(self.stages))
        targets = [own[None, i, 0, stage] for i in range(len(rows))]
        if is_whole & all_there & (column + piece <= length):
            for i in fx.range_constexpr(len(rows)):
                source = fx.logical_divide(self.matrix[rows[i], None], fx.make_layout(piece, 1))
                fx.copy_atom_call(atom, source[None, column // piece], targets[i])
            fx.nvvm.cp_async_mbarrier_arrive(full)
        elif all_there & (column + piece <= length):
            for i in fx.range_constexpr(len(rows)):
                if rows[i] > BEHIND:
                    source = fx.logical_divide(self.matrix[rows[i], None], fx.make_layout(piece, 1))
                    fx.copy_atom_call(atom, source[None, column // piece], targets[i])
            fx.nvvm.cp_async_mbarrier_arrive(full)
        else:
            for i in fx.range_constexpr(len(rows)):
                row, parts = fx.max(rows[i], fx.Int32(0)), []
                for j in fx.range_constexpr(piece):
                    is_there = (rows[i] >= 0) & (column + j < length)
                    value = self.matrix[row, fx.min(column + j, length - 1)]
                    parts += [is_there.select(value, self.matrix.dtype(0))]
                targets[i].store(fx.Vector.from_elements(parts, self.matrix.dtype))
            fx.nvvm.mbarrier_arrive(full)


@flyc.jit
def load_gathered(A, B, pipe, schedule):
    """The loading warpgroup: pieces of A by all threads, tiles of B by the first. Nobody waits for the pieces here:
    they arrive at the barrier of their stage."""
    state = pipe.producer_start()
    first, last, each = schedule.range()
    for tile in range(first, last, each):
        place = schedule.at(tile)
        rows, all_there = A.rows_of(place)
        is_whole = place.row + A.rows <= place.end
        k_first, k_last = schedule.all_steps()
        for step in range(k_first, k_last):
            k, column = schedule.k_and_column(step, place)
            pipe.acquire(state)
            if fx.thread_idx.x == 0:
                fx.nvvm.mbarrier_arrive_expect_tx(pipe.full(state), B.bytes)
                B.load(place.b, column, k * B.bk, state.stage, pipe.full(state), schedule.rank)
            A.copy(rows, all_there, is_whole, k, state.stage, pipe.full(state))
            state = pipe.advance(state)
