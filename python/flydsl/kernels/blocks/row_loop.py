"""The rows of a block, each handed to the code of a kernel as vectors in registers.

Several ways lead there (docs/rows.md): threads load their vectors straight from memory, or the pieces that rows lie in
(`row_pieces.py`); rows pass through shared memory (`row_tile.py`); blocks stay and take one tile after the other, while
the next ones are on their way there or to registers (`for_rows_in_turn`); or they stay and long rows come to them chunk
by chunk (`row_ring.py`). What a kernel does with a row is the same code in all of them: it is given a `RowWork`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.exchange import RowExchange, wait_for_older_launches
from flydsl.kernels.blocks.inputs import require_type
from flydsl.kernels.blocks.ring_lines import KeptLine
from flydsl.kernels.blocks.ring_loop import for_rows_in_ring
from flydsl.kernels.blocks.row_pieces import LineAtPlace, PieceLine, ShiftedShare, place_of, store_at, store_shifted
from flydsl.kernels.blocks.row_plan import DTYPES, RowPlan
from flydsl.kernels.blocks.row_ring import RingLine
from flydsl.kernels.blocks.row_tile import PiecesInTile, RowTile, needs_meeting, tile_elements, tile_memory
from flydsl.kernels.blocks.row_work import RowArrays, RowCode, RowWork
from flydsl.kernels.blocks.rows import Line, Share, in_place, loaded_after, row_start, store_iteration, vectors_of


def for_each_row(arrays: RowArrays, end: fx.Int32, plan: RowPlan, code: RowCode, begin: RowCode | None = None) -> None:
    """Run ``code`` for the rows of this block, of all ``end`` rows; ``begin`` is its first pass over a row, where that
    can come earlier (`RowWork.begun`)."""
    require_type(arrays.sources, DTYPES[plan.dtype])
    wait_for_older_launches()
    smem = fx.SharedAllocator(128, static=not fx.nvvm.is_target())
    if plan.slots:
        for_rows_in_ring(arrays, end, plan, smem, code, begin)
        return
    if plan.stays:
        for_rows_in_turn(arrays, end, plan, lambda work, _: (code(work), [])[1], smem)
        return
    block = _Block(arrays, end, plan, smem)
    first = fx.block_idx.x // plan.cluster * plan.tile_rows
    if not plan.staged:
        # All rows of a thread are loaded before the first is waited for: no load passes a store.
        for work in [block.work_in_memory(first + turn * plan.rows, end) for turn in range(plan.turns)]:
            code(work)
        return
    memories = [tile_memory(plan, smem) for _ in arrays.sources]
    tiles = [RowTile(block.share, *pair) for pair in _places(arrays.sources, first, end, memories)]
    _fetch(tiles, smem.allocate(fx.Array[fx.Int64, 1]).ptr if plan.bulk else None)
    code(block.work_in_tiles(tiles, first, end))
    _write_back(tiles, arrays)
    if plan.bulk:
        if fx.thread_idx.x == 0:
            fx.nvvm.tma_wait_group(0, read=True)  # shared memory must outlive the copy that reads it


def _places(sources: Sequence[Any], first: fx.Int32, end: fx.Int32, memories: list[Any]) -> list[tuple[Any, ...]]:
    return [(source, first, end, memory) for source, memory in zip(sources, memories, strict=True)]


class _Block:
    """What is the same for all rows of a block."""

    def __init__(self, arrays: RowArrays, end: fx.Int32, plan: RowPlan, smem: fx.SharedAllocator) -> None:
        self.arrays, self.plan, self.share = arrays, plan, share_of_block(arrays.sources[0], end, plan)
        self.end = end
        self.exchange = RowExchange(plan, arrays.numbers, smem)
        # Of many rows it is the row that is waited for: lines come behind it.
        behind = not (plan.few or plan.stays or plan.staged) and plan.turns == 1
        self.lines: list[Line] = [] if behind else self._lines()

    def _lines(self) -> list[Line]:
        """Blocks that stay load lines once, where there are registers for it. Others do so before they wait for each
        other where these are few: a launch of few rows would wait for the memory a second time."""
        plan, lines = self.plan, self.arrays.lines
        kept = plan.keeps_lines or (plan.keep and (plan.stays or plan.lines_early(len(lines))))
        beyond = 0.0 if plan.sums else None  # results beyond a row are of no account, but sums are
        return [
            LineAtPlace(line, self.share)
            if plan.shifted
            else Line(
                self._part(fx.get_iter(line)),
                self.share,
                beyond,
                keep=kept,
                hint=plan.hints.line,
                dtype=line.dtype,
                anew=self._anew(fx.get_iter(line)),
            )
            for line in lines
        ]

    def _part(self, start: fx.Pointer) -> Any:
        """Return the block's part of what begins at a pointer."""
        return vectors_of(start + self.share.offset * self.plan.width, self.plan)

    def _row(self, first: fx.Int32, end: fx.Int32, turn: int = 0) -> tuple[Any, Any]:
        """Return the number of this thread's row, and whether it has one."""
        if self.plan.tile_rows == 1:
            return first, True
        row = first + self.plan.row_in_tile(self.share.row, turn)
        return fx.min(row, end - 1), row < end

    def work_in_memory(self, first: fx.Int32, end: fx.Int32) -> RowWork:
        row, alive = self._row(first, end)
        if self.plan.shifted:
            return self._work_in_pieces(row, end)
        x = [self._line(source, row) for source in self.arrays.sources]
        lines = self.lines or self._lines()
        _load_together(x[0], lines, end)
        stores = self._stores([], row, alive)
        return RowWork(x, lines, self.exchange, self.share, row, alive, stores, nothing=end >> 31)

    def _work_in_pieces(self, row: fx.Int32, end: fx.Int32) -> RowWork:
        arrays = self.arrays
        share = ShiftedShare(self.plan, place_of(row_start(arrays.sources[0], row), self.plan))
        x: list[Line] = [PieceLine(source, row, end, share, arrays.fill) for source in arrays.sources]
        stores = [
            lambda iteration, vector, target=target: store_shifted(vector, target, row, share, iteration)
            for target in arrays.targets
        ]
        return RowWork(x, self.lines, self.exchange, share, row, True, stores)

    def _line(self, source: fx.Tensor, row: fx.Int32, held: Any = None) -> Line:
        plan, hints, start = self.plan, self.plan.hints, row_start(source, row)
        return Line(
            self._part(start), self.share, self.arrays.fill, keep=plan.keep, hint=hints.load,
            again=hints.again, held=held, anew=self._anew(start),
        )  # fmt: skip

    def _anew(self, start: fx.Pointer) -> Any:
        """Return the block's part of what begins at a pointer, by other addresses, if AMD's GPUs load rows again."""
        if self.plan.keep or fx.nvvm.is_target():
            return None
        return self._part(start + (self.end >> 31))

    def numbers(self, first: Any, end: fx.Int32) -> list[Any]:
        """Return what is given for this thread's rows, or for the last where they are beyond it."""
        turns = range(self.plan.turns)
        rows = [fx.min(fx.Int32(first) + self.share.row + turn * self.plan.rows, end - 1) for turn in turns]
        if isinstance(self.share, ShiftedShare):
            # Nothing, which depends on the lane: ptxas would move a number that all lanes have to a uniform register as
            # soon as it is loaded, and wait for it.
            rows = [row + (self.share.first(0) & (row >> 31)) for row in rows]
        return [values[row] for row in rows for values in self.arrays.given]

    def _row_at_place(self, row: fx.Int32, end: fx.Int32) -> fx.Int32:
        """Return the row, or behind the last one another of this thread's, which begins at the same place in a piece:
        the one before, where that is one."""
        before, first = row - _first_and_step(self.plan)[1], _first_of_thread(self.share, end)
        other = before if self.plan.rows == 1 else ((before >= first) & (before < end)).select(before, first)
        return (row < end).select(row, other)

    def vectors(self, first: Any, end: fx.Int32) -> list[Any]:
        """Return all that this thread has of rows that are loaded early, source after source."""
        if not self.plan.early:
            return []
        if isinstance(self.share, ShiftedShare):
            row = self._row_at_place(fx.Int32(first) + self.share.row, end)
            pieces = [PieceLine(source, row, end, self.share, self.arrays.fill, []) for source in self.arrays.sources]
            return [vector for line in pieces for vector in line.ahead()]
        row = fx.min(fx.Int32(first) + self.share.row, end - 1)
        lines = [self._line(source, row) for source in self.arrays.sources]
        return [vector for line in lines for vector in line.held]

    def nothing(self) -> tuple[list[Any], list[Any]]:
        """Return what `numbers` and `vectors` are where there is no row."""
        plan, kind = self.plan, DTYPES[self.plan.dtype]
        count = len(self.arrays.sources) * plan.iterations if plan.early else 0
        vector = fx.Vector.filled(plan.accesses * plan.width, 0.0, kind)
        return [fx.Float32(0.0) for _ in range(len(self.arrays.given) * plan.turns)], [vector for _ in range(count)]

    def work_in_turn(
        self, first: fx.Int32, end: fx.Int32, iteration: Any, numbers: list[Any], vectors: list[Any]
    ) -> RowWork:
        """Return the work on rows of a block that stays; ``vectors`` are those that were loaded early."""
        row, alive = self._row(first, end)
        count = self.plan.iterations
        if isinstance(self.share, ShiftedShare):
            return self._work_in_turn_by_pieces(row, end, alive, iteration, numbers, vectors)
        x = [
            self._line(source, row, vectors[place * count : (place + 1) * count] if vectors else None)
            for place, source in enumerate(self.arrays.sources)
        ]
        stores = self._stores([], row, alive)
        return RowWork(x, self.lines, self.exchange.row(iteration), self.share, row, alive, stores, numbers)

    def _work_in_turn_by_pieces(
        self, row: Any, end: fx.Int32, alive: Any, iteration: Any, numbers: list[Any], vectors: list[Any]
    ) -> RowWork:
        arrays, share, count = self.arrays, self.share, self.plan.iterations
        x: list[Line] = [
            PieceLine(source, row, end, share, arrays.fill, vectors[place * count : (place + 1) * count])
            for place, source in enumerate(arrays.sources)
        ]
        if alive is not True:
            for line in x:
                line.held = [only_if(alive, vector) for vector in line.held]  # sums count them
        stores = [
            lambda iteration, vector, target=target: store_shifted(vector, target, row, share, iteration, alive)
            for target in arrays.targets
        ]
        lines: list[Line] = [KeptLine(line, row) for line in self.lines]
        return RowWork(x, lines, self.exchange.row(iteration), share, row, alive, stores, numbers, row < 0)

    def work_in_tiles(
        self, tiles: list[RowTile], first: fx.Int32, end: fx.Int32, iteration: Any = 0, numbers: Sequence[Any] = (),
        turn: int = 0,
    ) -> RowWork:  # fmt: skip
        share, number = self.share, self.plan.row_in_tile(self.share.row, turn)
        row, alive = self._row(first, end, turn)
        if isinstance(share, ShiftedShare):
            return self._work_in_tiles_by_pieces(tiles, row, alive, number, numbers, share)
        vectors = [tile.row(number) for tile in tiles]
        x = [Line(line, share, self.arrays.fill, keep=self.plan.keep) for line in vectors]
        stores = self._stores(vectors, row, alive)
        return RowWork(x, self.lines, self.exchange.row(iteration), share, row, alive, stores, numbers)

    def _work_in_tiles_by_pieces(
        self, tiles: list[RowTile], row: Any, alive: Any, number: Any, numbers: Sequence[Any], share: ShiftedShare
    ) -> RowWork:
        """Return the work on a row of a tile whose rows begin at any place in a piece, the same one in all tiles."""
        arrays, starts = self.arrays, [tile.start_of_row(number) for tile in tiles]
        pieces = PiecesInTile([start - share.place for start in starts], self.plan)
        x: list[Line] = [RingLine(pieces, source, share, arrays.fill) for source in range(len(tiles))]
        store = partial(store_at, start=starts[0], kind=arrays.targets[0].dtype, row=row, share=share, hint=None)
        stores = [lambda iteration, vector: store(vector, iteration=iteration)]
        return RowWork(x, self.lines, self.exchange, share, row, alive, stores, numbers, row < 0)

    def _stores(self, tiles: list[Any], row: fx.Int32, alive: Any) -> list[Callable[[int, Any], None]]:
        share, hint = self.share, self.plan.hints.store

        def into_tile(place: Any) -> Callable[[int, Any], None]:
            return lambda iteration, vector: store_iteration(vector, place, share, iteration, True)

        def into_memory(target: fx.Tensor) -> Callable[[int, Any], None]:
            out = self._part(row_start(target, row))
            return lambda iteration, vector: store_iteration(vector, out, share, iteration, alive, hint, target.dtype)

        return [
            into_tile(tiles[index]) if index < len(tiles) and in_place(target, self.plan) else into_memory(target)
            for index, target in enumerate(self.arrays.targets)
        ]


def _load_together(x: Line, lines: list[Line], end: fx.Int32) -> None:
    """Have what was loaded of a row depend on what was loaded of lines.

    ptxas puts off loads of lines until the row has come and its numbers are computed: a launch of few rows would wait
    for the memory twice.
    """
    held = [vector for line in lines for vector in line.held]
    if x.held and held and fx.nvvm.is_target():
        x.held[0] = loaded_after(x.held[0], held, x.share.plan.width, end >> 31)


def only_if(alive: Any, vector: Any) -> Any:
    """Return the vector, or zeros; by the bits, which takes an instruction for each word."""
    return (vector.bitcast(fx.Int32) & alive.select(fx.Int32(-1), fx.Int32(0))).bitcast(vector.dtype)


@flyc.jit
def _fetch(tiles: list[RowTile], arrived: fx.Pointer) -> None:
    if fx.const_expr(arrived is not None):
        if fx.thread_idx.x == 0:
            fx.nvvm.mbarrier_init(arrived, 1)
            fx.nvvm.fence_mbarrier_init()
            _send_for(tiles, arrived)
    for tile in tiles:
        if fx.const_expr(arrived is None):
            tile.copy_pieces_here()
        tile.complete()
    fx.barrier()
    if fx.const_expr(arrived is not None):
        fx.nvvm.mbarrier_wait(arrived, 0)


def _send_for(tiles: list[RowTile], arrived: fx.Pointer) -> None:
    """Send for all tiles of some rows; one thread does that."""
    fx.nvvm.mbarrier_arrive_expect_tx(arrived, sum(tile.bytes_in_pieces() for tile in tiles))
    for tile in tiles:
        tile.send_for(arrived)


@flyc.jit
def _write_back(tiles: list[RowTile], arrays: RowArrays) -> None:
    if fx.const_expr(tiles[0].plan.bulk):
        fx.nvvm.fence_proxy_async()
    fx.barrier()
    for tile, target in zip(tiles, arrays.targets, strict=False):
        if fx.const_expr(in_place(target, tile.plan)):
            tile.write_back(target)
    if fx.const_expr(tiles[0].plan.bulk):
        if fx.thread_idx.x == 0:
            fx.nvvm.tma_commit_group()


# Blocks that stay ----------------------------------------------------------------------------------------------------

SummedCode = Callable[[RowWork, list[Any]], list[Any]]
"""``code(work, sums)`` computes a row, and gives the sums with what the row adds to them."""


def for_rows_in_turn(
    arrays: RowArrays, end: fx.Int32, plan: RowPlan, code: SummedCode, smem: fx.SharedAllocator
) -> list[Any]:
    """Run ``code`` for tile after tile; returns the sums, ``plan.iterations`` vectors for each of ``plan.sums``."""
    block = _Block(arrays, end, plan, smem)
    block.exchange.start()
    zeros = [fx.Vector.filled(plan.accesses * plan.width, 0.0, fx.Float32) for _ in range(plan.sums * plan.iterations)]
    if plan.stages:
        sums = _in_turn_through_shared_memory(arrays, end, block, smem, zeros, code)
    else:
        sums = _in_turn(end, block, zeros, code)
    return sums


def share_of_block(source: fx.Tensor, end: fx.Int32, plan: RowPlan) -> Share:
    """Return a thread's part of the rows of a block that stays: all begin at one place in a piece, that of the first.

    Blocks are a multiple of a piece's elements, so that the rows of a thread are such a multiple apart; or rows of a
    tile are, which lie one behind the other.
    """
    share = Share(plan)
    if plan.shifted and plan.stages:
        first = place_of(row_start(source, fx.Int32(0)), plan)
        return ShiftedShare(plan, (first + share.row * plan.length) % plan.width, steady=True)
    if not (plan.shifted and plan.early):
        return share
    return ShiftedShare(plan, place_of(row_start(source, _first_of_thread(share, end)), plan), steady=True)


def _first_of_thread(share: Share, end: fx.Int32) -> Any:
    """Return the first row of a thread of a block that stays: the last one of all where it has none."""
    first, _ = _first_and_step(share.plan)
    return first if share.plan.rows == 1 else fx.min(fx.Int32(first + share.row), end - 1)


def _first_and_step(plan: RowPlan) -> tuple[Any, Any]:
    """Return the first row of this block's first tile, and how far it is to the next."""
    return fx.block_idx.x // plan.cluster * plan.tile_rows, fx.grid_dim.x // plan.cluster * plan.tile_rows


@flyc.jit
def _in_turn(end: fx.Int32, block: _Block, sums: list[Any], code: SummedCode) -> list[Any]:
    begin, step = _first_and_step(block.plan)
    numbers, vectors = block.nothing()
    if begin < end:
        numbers, vectors = block.numbers(begin, end), block.vectors(begin, end)
    iteration = fx.Int32(0)
    for first in range(begin, end, step):
        next_numbers, next_vectors = block.numbers(first + step, end), block.vectors(first + step, end)
        sums = code(block.work_in_turn(first, end, iteration, numbers, vectors), sums)
        numbers, vectors = next_numbers, next_vectors
        iteration = iteration + 1
    return sums


@flyc.jit
def _in_turn_through_shared_memory(
    arrays: RowArrays, end: fx.Int32, block: _Block, smem: fx.SharedAllocator, sums: list[Any], code: SummedCode
) -> list[Any]:
    plan = block.plan
    memories = [tile_memory(plan, smem) for _ in arrays.sources]
    arrived = smem.allocate(fx.Array[fx.Int64, plan.stages]).ptr
    begin, step = _first_and_step(plan)

    def tiles_of(first: fx.Int32, stage: Any) -> list[RowTile]:
        shifted = [memory + stage * tile_elements(plan) for memory in memories]
        return [RowTile(block.share, *place) for place in _places(arrays.sources, first, end, shifted)]

    if fx.thread_idx.x == 0:
        for stage in fx.range_constexpr(plan.stages):
            fx.nvvm.mbarrier_init(arrived + stage, 1)
        fx.nvvm.fence_mbarrier_init()
        for stage in fx.range_constexpr(plan.stages):
            if begin + stage * step < end:
                _send_for(tiles_of(begin + stage * step, stage), arrived + stage)
    fx.barrier()
    numbers, _ = block.nothing()
    if begin < end:
        numbers = block.numbers(begin, end)
    iteration = fx.Int32(0)
    for first in range(begin, end, step):
        next_numbers = block.numbers(first + step, end)
        stage = iteration % plan.stages
        if iteration > 0:
            # The tile before this one is computed; once it is read back, its memory is for the next to come.
            ahead, before = first + (plan.stages - 1) * step, (iteration - 1) % plan.stages
            if fx.thread_idx.x == 0:
                if ahead < end:
                    fx.nvvm.tma_wait_group(0, read=True)
                    _send_for(tiles_of(ahead, before), arrived + before)
        tiles = tiles_of(first, stage)
        for tile in tiles:
            tile.complete()
        fx.nvvm.mbarrier_wait(arrived + stage, iteration // plan.stages % 2)
        if needs_meeting(tiles):
            fx.barrier()
        for turn in fx.range_constexpr(plan.turns):
            number = iteration * plan.turns + turn
            given = numbers[turn * len(arrays.given) : (turn + 1) * len(arrays.given)]
            sums = code(block.work_in_tiles(tiles, first, end, number, given, turn), sums)
        _write_back(tiles, arrays)
        numbers = next_numbers
        iteration = iteration + 1
    if fx.thread_idx.x == 0:
        fx.nvvm.tma_wait_group(0, read=True)
    return sums
