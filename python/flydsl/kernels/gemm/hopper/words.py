"""Lines of A and B that begin at multiples of 4 or 8 bytes, which TMA cannot read: a warpgroup copies them by words."""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.gemm.hopper.plan import WARPGROUP
from flydsl.kernels.gemm.hopper.tiles import Operand, extent


class WordLines(Operand):
    """Tiles of a matrix, (rows, K), of which a thread of the loading warpgroup copies words of so many bytes."""

    def __init__(self, matrix: Any, ptr: Any, rows: int, bk: int, stages: int, word: int) -> None:
        self.matrix, self.ptr, self.rows, self.bk, self.stages = matrix, ptr, rows, bk, stages
        self.along_k, self.swizzle = True, fx.make_swizzle(3, 4, 3)
        self.piece = 8 * word // ptr.dtype.width
        of_line = bk // self.piece
        self.atom = fx.make_copy_atom(fx.nvvm.CpAsync(8 * word, "ca"), ptr.dtype)
        threads = fx.make_layout((WARPGROUP // of_line, of_line), (of_line, 1))
        words = fx.make_layout((1, self.piece), (0, 1))
        self.mine = fx.make_tiled_copy_tv(self.atom, threads, words).get_slice(fx.thread_idx.x)
        """A thread's words of a tile: neighbours have neighbouring ones of a line."""
        self.coords = self.mine.partition_D(fx.make_identity_tensor((rows, bk)))
        self.lines = rows // (WARPGROUP // of_line)
        """Lines that a thread has a word of."""

    @property
    def column(self) -> Any:
        """Where in a step a thread's words are."""
        return fx.Int32(fx.get_leaves(self.coords[0])[1])

    def sources(self, batch: tuple[Any, ...], row: Any) -> list[Any]:
        """Return the lines, as words, that a thread copies of; behind the last one, that."""
        last, found = extent(self.matrix, -2) - 1, []
        for i in range(self.lines):
            line, _ = fx.get_leaves(self.coords[0, i, 0])
            at = fx.min(row + fx.Int32(line), last)
            found.append(fx.logical_divide(self.matrix[(*batch, at, None)], fx.make_layout(self.piece, 1)))
        return found

    def targets(self, stage: Any) -> list[Any]:
        """Return a thread's words of a stage."""
        own = self.mine.partition_D(self.tiles(self.stages))
        return [own[None, i, 0, stage] for i in range(self.lines)]


@flyc.jit
def load_words(A, B, pipe, schedule):
    """The loading warpgroup: words of both matrices by all threads, which arrive at the barrier of their stage."""
    state = pipe.producer_start()
    length = extent(A.matrix, -1)
    first, last, each = schedule.range()
    k_first, k_last = schedule.k_range()
    tile, place = first, schedule.first()
    while tile < last:
        lines = A.sources(place.a, place.row) + B.sources(place.b, place.column)
        for step in range(k_first, k_last):
            pipe.acquire(state)
            targets = A.targets(state.stage) + B.targets(state.stage)
            column = step * A.bk + A.column
            if column < length:
                for source, target in zip(lines, targets):
                    fx.copy_atom_call(A.atom, source[None, column // A.piece], target)
                fx.nvvm.cp_async_mbarrier_arrive(pipe.full(state))
            else:
                for target in targets:
                    target.store(fx.full(A.piece, 0.0, A.ptr.dtype))
                fx.nvvm.mbarrier_arrive(pipe.full(state))
            state = pipe.advance(state)
        tile = tile + each
        if tile < last:
            place = schedule.at(tile)
