"""Strips of 16 rows of weights times a few rows of numbers, by mma.sync.

Weights go through shared memory, a ring of batches for each warp, which waits for nobody else. Rows of numbers are held
by the whole block.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.narrow import e4m3_of, row_scale
from flydsl.kernels.blocks.reduce import add, maximum, wave_reduce
from flydsl.kernels.moe.few_tokens.plan import MOST_TOKENS, SCALED, STRIP, THREADS, WARPS, Stage

LANES = 4
"""That have weights of the same row, and numbers of the same token."""
TOGETHER = 4
"""Pieces of rows of a thread that are under way together."""
Load = Callable[[list[Any]], list[Any]]
"""From where pieces are to their words."""


def words_at(pointer: Any) -> Any:
    """Return 16 bytes as four words."""
    return fx.make_view(pointer.aligned(16), fx.make_layout(128 // pointer.dtype.width, 1)).load().bitcast(fx.Int32)


def words_of(pointers: list[Any]) -> list[Any]:
    """Return 16 bytes each as four words."""
    return [words_at(pointer) for pointer in pointers]


def copy_async(source: Any, target: Any, bits: int, cache: str) -> None:
    """Send for a few bytes of global memory."""
    layout = fx.make_layout(bits // source.dtype.width, 1)
    place = target if source.dtype is target.dtype else fx.recast_iter(source.dtype, target)
    views = (fx.make_view(pointer.aligned(bits // 8), layout) for pointer in (source, place))
    fx.copy_atom_call(fx.make_copy_atom(fx.nvvm.CpAsync(bits, cache), source.dtype), *views)


class HeldRows:
    """Rows of numbers in shared memory, as they are or, for weights of 8 bits, as codes with a scale for each 128: what
    a quantiser of rows makes of them."""

    def __init__(self, smem: Any, dtype: Any, stage: Stage) -> None:
        self.dtype, self.stage, self.line = dtype, stage, stage.line_bytes // 4
        self.words = smem.allocate(fx.Array[fx.Int32, stage.held * self.line, 128]).ptr
        self.scales = None
        if stage.size == 1:
            blocks = stage.columns // SCALED
            pointer = smem.allocate(fx.Array[fx.Float32, stage.held * blocks, 16]).ptr
            self.scales = fx.make_view(pointer, fx.make_layout((stage.held, blocks), (blocks, 1)))

    def places(self, first: Any, end: Any) -> list[tuple[Any, Any]]:
        """Return which pieces a thread has, of those from one on, and whether they are there: neighbouring threads have
        neighbouring ones. From the end on it is the thread's first piece again, so that not all ask for the same."""
        own = fx.min(first + fx.thread_idx.x, end - 1)
        steps = [first + (i * THREADS + fx.thread_idx.x) for i in range(TOGETHER)]
        return [((step < end).select(step, own), step < end) for step in steps]

    def bring(self, first: Any, end: Any, pointer_of: Callable[[Any], Any], load: Load = words_of) -> list[Any]:
        """Return pieces of 16 bytes. A pointer says where a row is. Nobody branches, and all loads are under way at
        once."""
        each = self.stage.columns // 8
        return load([pointer_of(place // each) + place % each * 8 for place, _ in self.places(first, end)])

    @flyc.jit
    def keep(self, brought: list[Any], first: Any, end: Any) -> None:
        """Put what `bring` returned where it belongs: nothing of threads without a piece of their own. One branch is
        for all stores, since LLVM moves loads behind branches of each."""
        if fx.const_expr(self.scales is None):
            if first + fx.thread_idx.x < end:
                self.put_all(brought, first, end)
        else:  # lanes find scales together
            self.put_all(brought, first, end)

    def put_all(self, brought: list[Any], first: Any, end: Any) -> None:
        each = self.stage.columns // 8
        for words, (place, is_there) in zip(brought, self.places(first, end), strict=True):
            self.put(words, is_there, place // each, place % each)

    @flyc.jit
    def fill(self, first: Any, end: Any, pointer_of: Callable[[Any], Any], load: Load = words_of) -> None:
        """Bring and keep pieces of rows."""
        for start in range(first, end, THREADS * TOGETHER):
            self.keep(self.bring(start, end, pointer_of, load), start, end)

    @flyc.jit
    def put(self, words: Any, is_there: Any, row: Any, piece: Any) -> None:
        """A piece to its place; of codes, 16 lanes have what a scale is for."""
        if fx.const_expr(self.scales is None):
            fx.make_view(self.words + (row * self.line + piece * 4), fx.make_layout(4, 1)).store(words)
        else:
            numbers = words.bitcast(self.dtype).to(fx.Float32)
            top = wave_reduce(abs(numbers).reduce("maximumf"), maximum, SCALED // 8)
            scale, inverse = row_scale(top, "fp8")
            codes = e4m3_of(numbers * inverse).bitcast(fx.Int32)
            if is_there:
                fx.make_view(self.words + (row * self.line + piece * 2), fx.make_layout(2, 1)).store(codes)
                if piece % (SCALED // 8) == 0:
                    self.scales[row, piece // (SCALED // 8)] = scale

    def load(self, row: Any, column: Any) -> list[Any]:
        """Return a lane's 16 bytes of a row."""
        return list(words_at(self.words + (row * self.line + column * self.stage.size // 4)))


class Turn(NamedTuple):
    """What a warp multiplies: a strip of an expert, and which batch of the warp's part of the columns."""

    expert: Any
    strip: Any
    batch: Any


class StripRing:
    """A warp's batches of weights on their way, by copies of 16 bytes that lanes send for."""

    scales: Any = None

    def __init__(self, smem: Any, weights: Any, held: HeldRows, stage: Stage, part: Any) -> None:
        self.weights, self.dtype, self.held, self.stage, self.part = weights, weights.dtype, held, stage, part
        self.row, self.column = fx.lane_id() // LANES, fx.lane_id() % LANES * (16 // stage.size)
        self.atom = fx.make_mma_atom(fx.nvvm.MmaSync(STRIP, MOST_TOKENS, 32 // stage.size, self.dtype, fx.Float32))
        self.slot_words, self.first_slot = stage.slot_bytes // 4, fx.thread_idx.x // 32 * stage.depth
        words = smem.allocate(fx.Array[fx.Int32, WARPS * stage.depth * self.slot_words, 128]).ptr
        self.words = words + self.first_slot * self.slot_words

    def zeros(self) -> Any:
        """Return sums of a lane: of two rows, eight apart, and of two tokens that are neighbours."""
        sums = fx.make_rmem_tensor(4, fx.Float32)
        sums.fill(0.0)
        return sums

    def first_column(self, batch: Any) -> Any:
        return (self.part * self.stage.batches + batch) * self.stage.batch

    def column_of(self, batch: Any, piece: int) -> tuple[Any, Any]:
        """Return where a lane's columns of a piece begin, and whether they are there; behind the last they are those of
        the last piece."""
        width = self.stage.batch // self.stage.pieces
        column, last = self.first_column(batch) + piece * width, fx.Int32(self.stage.columns - width)
        return fx.min(column, last) + self.column, column <= last

    @flyc.jit
    def send(self, i: Any) -> None:
        """Send for the batch of a turn, if there is one. It is a group of copies.

        Neighbouring lanes send for neighbouring pieces of 16 bytes of a row. Every other row has its halves exchanged,
        so that lanes that read rows below each other find different banks.
        """
        if i < self.turns:
            stage, slot, turn = self.stage, i % self.stage.depth, self.turn_of(i)
            of_row, each = stage.pieces * LANES, 16 // stage.size
            piece, row, at_once = fx.lane_id() % of_row, fx.lane_id() // of_row, 32 // of_row
            column = fx.min(self.first_column(turn.batch) + piece * each, fx.Int32(stage.columns - each))
            top = fx.Int64(turn.expert) * stage.rows + (turn.strip * STRIP + row)
            start = fx.get_iter(self.weights) + (top * stage.columns + column)
            place = self.words + (slot * self.slot_words + (row * of_row + (piece ^ (row % 2 * LANES))) * 4)
            for first in fx.range_constexpr(0, STRIP, at_once):
                copy_async(start + first * stage.columns, place + first * of_row * 4, 128, "cg")
        fx.nvvm.cp_async_commit_group()

    def weights_at(self, slot: Any, piece: int, half: int) -> Any:
        of_row, own = self.stage.pieces * LANES, piece * LANES + fx.lane_id() % LANES
        start = (half * 8 + self.row) * of_row + (own ^ (self.row % 2 * LANES))
        return self.words + (slot * self.slot_words + start * 4)

    def wait(self, turn: Any) -> None:
        """Wait until the batch of a turn is there for all lanes."""
        fx.nvvm.cp_async_wait_group(self.stage.depth - 1)
        self.meet()

    def meet(self) -> None:
        """The lanes of a warp see each other's copies, or are done with them; each warp has a named barrier."""
        fx.nvvm.barrier_sync(fx.thread_idx.x // 32 + 1, 32)

    def prepare(self) -> None:
        """Make what a ring needs before the block meets and weights are sent for."""

    def begin(self, turn_of: Callable[[Any], Turn], turns: Any) -> None:
        """Send for as many batches as the ring has slots, of so many turns."""
        self.turn_of, self.turns = turn_of, turns
        for i in range(self.stage.depth):
            self.send(fx.Int32(i))

    @flyc.jit
    def sum_strip(self, first: Any, row: Any) -> Any:
        """Return the warp's part of a strip, from a turn on, times the row that is this lane's token's."""
        sums = [self.zeros() for _ in range(self.stage.pieces if self.scales is None else 1)]
        for batch in range(self.stage.batches):
            turn = first + batch
            self.wait(turn)
            self.multiply(turn % self.stage.depth, batch, row, sums)
            self.meet()
            self.send(turn + self.stage.depth)
        return reduce(add, [part.load() for part in sums])

    def multiply(self, slot: Any, batch: Any, row: Any, sums: list[Any]) -> None:
        """sums += the weights of a slot * a row's numbers; pieces have sums of their own, so that none waits.

        Lanes have columns in an order of their own, of weights and of numbers: any order gives the same sum.
        """
        parts = sums if self.scales is None else [self.zeros() for _ in range(self.stage.pieces)]
        for piece in range(self.stage.pieces):
            column, is_there = self.column_of(batch, piece)
            numbers = [is_there.select(word, fx.Int32(0)) for word in self.held.load(row, column)]
            upper, lower = (list(words_at(self.weights_at(slot, piece, half))) for half in range(2))
            for j in (0, 2):
                a = fx.Vector.from_elements([upper[j], lower[j], upper[j + 1], lower[j + 1]], fx.Int32)
                self.add_product(a, fx.Vector.from_elements(numbers[j : j + 2], fx.Int32), parts[piece])
        if self.scales is not None:
            self.add_scaled(slot, batch, row, reduce(add, [part.load() for part in parts]), sums[0])

    def add_product(self, a: Any, b: Any, sums: Any) -> None:
        operands = []
        for words in (a, b):
            numbers = words.bitcast(self.dtype)
            operands.append(fx.make_rmem_tensor(numbers.numel, self.dtype))
            operands[-1].store(numbers)
        fx.mma_atom_call(self.atom, sums, *operands, sums)

    def add_scaled(self, slot: Any, batch: Any, row: Any, part: Any, sums: Any) -> None:
        """sums += products of 128 columns by the scales of the weights and of a lane's two tokens."""
        block = fx.min(self.first_column(batch) // SCALED, fx.Int32(self.stage.columns // SCALED - 1))
        own = self.held.scales[row, block]
        of_weights = fx.make_view(self.scales_here + slot, fx.make_layout(1, 1)).load()[0]
        first = fx.lane_id() % LANES * (2 * LANES)
        factors = [fx.shuffle_idx(own, first + i * LANES, 32) * of_weights for i in range(2)]
        sums.store(fx.math.fma(part, fx.Vector.from_elements(factors * 2, fx.Float32), sums.load()))


class ScaledStripRing(StripRing):
    """Batches of weights of 8 bits are boxes of a tensor map: half as many bytes for each turn, so that what lanes do
    for a copy, and loads that wait behind copies, would take the time. ``scales`` are f32 (experts, rows / 128,
    columns / 128)."""

    def __init__(
        self, smem: Any, weights: Any, boxes: Any, scales: Any, held: HeldRows, stage: Stage, part: Any
    ) -> None:
        super().__init__(smem, weights, held, stage, part)
        self.map, self.scales, slots = boxes, scales, WARPS * stage.depth
        self.arrived = smem.allocate(fx.Array[fx.Int64, slots, 16]).ptr + self.first_slot
        self.scales_here = smem.allocate(fx.Array[fx.Float32, slots, 16]).ptr + self.first_slot

    @flyc.jit
    def prepare(self) -> None:
        if fx.lane_id() == 0:
            fx.nvvm.prefetch_tensor_map(self.map)
            for slot in fx.range_constexpr(self.stage.depth):
                fx.nvvm.mbarrier_init(self.arrived + slot, 2)
            fx.nvvm.fence_mbarrier_init()

    @flyc.jit
    def send(self, i: Any) -> None:
        """Send for the batch of a turn, if there is one, and for its scale, which is no box and arrives by itself.
        Behind the last column weights are zero."""
        if (i < self.turns) & (fx.lane_id() == 0):
            slot, turn = i % self.stage.depth, self.turn_of(i)
            column = self.first_column(turn.batch)
            block = fx.min(column // SCALED, fx.Int32(self.stage.columns // SCALED - 1))
            line = self.scales[turn.expert, turn.strip * STRIP // SCALED, None]
            copy_async(fx.get_iter(line) + block, self.scales_here + slot, 32, "ca")
            fx.nvvm.cp_async_mbarrier_arrive(self.arrived + slot)
            fx.nvvm.mbarrier_arrive_expect_tx(self.arrived + slot, self.stage.slot_bytes)
            place = fx.recast_iter(self.dtype, self.words + slot * self.slot_words)
            fx.nvvm.tma_load(self.map, (turn.expert, turn.strip * STRIP, column), place, self.arrived + slot)

    def weights_at(self, slot: Any, piece: int, half: int) -> Any:
        start = (half * 8 + self.row) * (self.stage.pieces * LANES) + (piece * LANES + fx.lane_id() % LANES)
        return self.words + (slot * self.slot_words + start * 4)

    def wait(self, turn: Any) -> None:
        fx.nvvm.mbarrier_wait(self.arrived + turn % self.stage.depth, turn // self.stage.depth % 2)


def ring_of(smem: Any, weights: Any, boxes: Any, scales: Any, held: HeldRows, stage: Stage, part: Any) -> StripRing:
    """Return the ring of weights that have scales, or none."""
    if scales is None:
        return StripRing(smem, weights, held, stage, part)
    return ScaledStripRing(smem, weights, boxes, scales, held, stage, part)
