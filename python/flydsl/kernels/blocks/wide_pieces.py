"""Pieces of rows for kernels that compute piece by piece: one wide access of a thread each, where rows allow it.

Pieces are numbered through all rows, and threads beside each other have pieces beside each other. A thread has some of
them, and sends for all before it looks at the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.exchange import begin_behind_older_launches
from flydsl.kernels.blocks.inputs import ALIGNMENT

THREADS = 128
SLAB = 1 << 30
"""Pieces that are numbered in 32 bits; those of further rows are further slabs."""


def piece_of(length: int, size: int) -> int:
    """Return how many elements of so many bytes a thread has at a time: 16 bytes, or what divides ``length``."""
    return gcd(length, ALIGNMENT // size)


def my_pieces(rows: Any, pieces: int, turns: int) -> list[tuple[Any, Any, Any]]:
    """Return (row, piece of the row, whether there is one) of each of a thread's; one that is not there is the last."""
    slab = SLAB // pieces
    first_row = fx.block_idx.y * slab
    end = fx.min(rows - first_row, fx.Int32(slab)) * pieces
    found = []
    for turn in range(turns):
        number = fx.block_idx.x * (THREADS * turns) + turn * THREADS + fx.thread_idx.x
        last = fx.Uint32(fx.min(number, end - 1))  # by signed numbers, a piece's place would take twice as long
        found.append((first_row + fx.Int32(last // pieces), fx.Int32(last % pieces), number < end))
    return found


def grid_of(rows: Any, pieces: int, turns: int) -> tuple[Any, Any, int]:
    """Return the blocks of a launch whose threads call `my_pieces`."""
    slab = SLAB // pieces
    return fx.ceildiv(fx.min(rows, fx.Int32(slab)) * pieces, THREADS * turns), fx.ceildiv(rows, slab), 1


def load(source: fx.Tensor, row: Any, column: Any, length: int, wide: bool, kind: Any = fx.Float32) -> Any:
    """Return neighbouring elements of a row, as numbers of a kind; ``column`` is a multiple of ``length``."""
    start = _start(source, row, column, length, wide)
    return fx.make_view(start, fx.make_layout(length, 1)).load().to(kind)


def store(target: fx.Tensor, row: Any, column: Any, vector: Any, wide: bool) -> None:
    """Write neighbouring elements of a row; ``column`` is a multiple of their number."""
    start = _start(target, row, column, vector.numel, wide)
    fx.make_view(start, fx.make_layout(vector.numel, 1)).store(vector)


def _start(matrix: fx.Tensor, row: Any, column: Any, length: int, wide: bool) -> Any:
    start = fx.get_iter(matrix[row, None]) + column
    return start.aligned(min(length * (matrix.dtype.width // 8), ALIGNMENT)) if wide else start


def turns_of(each: int) -> int:
    """Return how many pieces of so many elements a thread of `map_pieces` has: at least eight elements, and two."""
    return max(8 // each, 2)


def map_pieces(
    function: Callable[..., Sequence[Any]], sources: Sequence[Any], targets: Sequence[Any], rows: Any, length: int,
    wide: bool,
) -> None:  # fmt: skip
    """Write ``function`` of pieces of some matrices to the same place of others; rows have ``length`` elements."""
    begin_behind_older_launches()
    each = piece_of(length, sources[0].dtype.width // 8)
    mine = my_pieces(rows, length // each, turns_of(each))
    loaded = [[load(source, row, piece * each, each, wide) for source in sources] for row, piece, _ in mine]
    for (row, piece, there), vectors in zip(mine, loaded, strict=True):
        results = function(*vectors)
        if there:
            for target, result in zip(targets, results, strict=True):
                store(target, row, piece * each, result.to(target.dtype), wide)


@flyc.jit
def launch_wide(
    kernel: Callable[[bool], Any], matrices: Sequence[Any], grid: Any, threads: int, stream: fx.Stream | None,
    alignment: int = ALIGNMENT,
) -> None:  # fmt: skip
    """Launch ``kernel(wide)``, which is wide where all rows of all matrices begin at multiples of so many bytes.

    AMD's accesses are wide anyway.
    """
    if fx.const_expr(fx.nvvm.is_target()):
        if begin_aligned(matrices, alignment) & _steps_are_aligned(matrices, alignment):
            launch(kernel(True), grid, stream, (threads, 1, 1))
        else:
            launch(kernel(False), grid, stream, (threads, 1, 1))
    else:
        launch(kernel(False), grid, stream, (threads, 1, 1))


def begin_aligned(matrices: Sequence[Any], alignment: int = ALIGNMENT) -> Any:
    """Return whether all matrices begin at multiples of so many bytes."""
    aligned = fx.Boolean(True)
    for matrix in matrices:
        aligned = aligned & (fx.Uint64(fx.ptrtoint(fx.get_iter(matrix))) % alignment == 0)
    return aligned


def _steps_are_aligned(matrices: Sequence[Any], alignment: int) -> Any:
    """Return whether a row of every matrix is a multiple of so many bytes behind the one before."""
    aligned = fx.Boolean(True)
    for matrix in matrices:
        aligned = aligned & (fx.Int64(matrix.stride[0]) * (matrix.dtype.width // 8) % alignment == 0)
    return aligned


def launch(kernel: Any, grid: Any, stream: fx.Stream | None, block: tuple[int, int, int] = (THREADS, 1, 1)) -> None:
    """Launch a kernel that calls `begin_behind_older_launches`, as a dependent of the launch before it."""
    kernel.launch(grid=grid, block=block, stream=stream, pdl=fx.nvvm.has_dependent_launches())
