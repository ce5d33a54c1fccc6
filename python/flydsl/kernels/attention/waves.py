"""The waves of a block of attention: their products, their fragments, and tiles of keys and values in shared memory.

Products are transposed: scores are K Q^T and results V^T P, with queries as columns. A lane then has scores of one
query, and the powers it makes of them are what the second product takes from it: they never leave its registers. Where
an instruction wants other keys of a lane than the first product gives it, V is read in that order: sums do not mind.

Keys and values pass through registers on their way to shared memory, where V lies transposed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from math import prod
from operator import add, mul
from typing import Any

import flydsl.expr as fx
from flydsl.kernels.attention.scores import PLAIN, Features
from flydsl.kernels.attention.tiles import FragmentRows

EIGHT = 8
"""Rows of a tile of turned values that 16-byte reads of as many lanes take."""
MOST_ROWS = 64
"""Rows of a tile at most, so that their bytes can be counted in 32 bits."""
TURNED_PAD = 4
"""Elements between rows of a turned tile, which is read and written 8 bytes at a time: neighbouring rows begin in
different banks."""


@dataclass(frozen=True)
class Instruction:
    """A matrix instruction: its queries and depth, how far lanes that share a query are apart, the order of keys in its
    depth, the registers of a lane, and the elements of a head of queries and results that are not too many for them.

    A block has ``waves``. ``results`` registers of a lane at most are for sums of a wave's part of the results. LLVM is
    asked for registers that leave room for so many waves ``beside`` each other on a SIMD, where heads are small.
    ``reads_ahead`` is how many products before its own values are read, if LLVM is told. A lane has so many elements of
    a key as ``neighbours``, and of turned values as ``turned``. Rows in shared memory begin in different banks: so many
    elements as ``apart`` lie between keys, and ``turned`` ones between turned values. A thread turns a ``piece`` of
    values, so many rows and columns, at a time. ``rounds_bits`` says that no instruction of the target makes bf16.
    """

    make: Callable[[Any], Any]
    queries: int
    depth: int
    distances: tuple[int, ...]
    order: tuple[tuple[int, ...], tuple[int, ...]]
    registers: int = 512
    widest: int = 1 << 16
    waves: int = 4
    results: int = 128
    beside: int = 0
    reads_ahead: int = 0
    neighbours: int = 8
    turned: int = 4
    apart: int = 8
    piece: tuple[int, int] = (4, 4)
    rounds_bits: bool = False


INSTRUCTIONS = (
    Instruction(
        lambda dtype: fx.rocdl.MFMA(32, 32, 16, dtype), 32, 16, (32,), ((4, 2, 2), (1, 8, 4)), widest=512,
        beside=2,
    ),
    Instruction(
        lambda dtype: fx.rocdl.MFMA(32, 32, 8, dtype), 32, 8, (32,), ((8,), (1,)), 256, widest=512, neighbours=4,
        apart=4,
    ),
    Instruction(lambda dtype: fx.rocdl.MFMA(16, 16, 32, dtype), 16, 32, (16, 32), ((4, 2, 4), (1, 16, 4)), apart=16),
    Instruction(lambda dtype: fx.rocdl.MFMA(16, 16, 16, dtype), 16, 16, (16, 32), ((16,), (1,)), neighbours=4, apart=4),
    Instruction(
        lambda dtype: fx.rocdl.rdna4.WMMA(16, 16, 16, dtype), 16, 16, (16,), ((16,), (1,)), 256, waves=8, results=64,
        reads_ahead=4, turned=8, piece=(2, 8), rounds_bits=True,
    ),
)  # fmt: skip
"""Best first. LDS of gfx950 has room for two blocks. gfx942 has 512 registers, but less LDS: a block counts on half of
them, so that its tiles are small enough for two."""
SMALL = 256
"""Elements of a head of queries and of results, with which registers suffice for several blocks."""


@dataclass(frozen=True)
class WavePlan:
    """Head sizes, queries and keys of a block's tile, and what is asked for.

    ``spread`` waves have the same queries: each makes all of their scores, and a part of the elements of their results.
    With ``split`` each makes a part of their scores, over as many elements of a head, and all add them up.
    """

    dtype: Any
    d: int
    dv: int
    queries: int
    keys: int = 64
    features: Features = PLAIN
    group: int = 1
    spread: int = 1
    split: bool = False
    exchanged: bool = False
    """Whether tiles have no gaps between rows (`exchanged_waves`)."""

    @property
    def scored(self) -> int:
        """Elements of a head over which a wave makes scores."""
        return self.d // self.spread if self.split else self.d

    @property
    def held(self) -> int:
        """Elements of a head of queries and of results."""
        return self.d + self.dv


def choose_instruction(dtype: Any, held: int = 0) -> Instruction:
    """Return the first one for heads of so many elements that the target being compiled for has."""
    for candidate in INSTRUCTIONS:
        with suppress(ValueError):  # this target has no such instruction
            fx.make_mma_atom(candidate.make(dtype))
            if held <= candidate.widest:
                return candidate
    raise ValueError(f"this target has no matrix instruction for attention in {dtype.__name__}")


def tiled_over(instruction: Instruction, dtype: Any, queries: int, spread: int = 1) -> Any:
    """Return the instruction repeated over waves: side by side along the queries, and ``spread`` along a head's
    elements."""
    waves = queries // instruction.queries
    return fx.make_tiled_mma(
        fx.make_mma_atom(instruction.make(dtype)), fx.make_layout((spread, waves, 1), (waves, 1, 0))
    )


def keys_of(instruction: Instruction, held: int) -> int:
    """Keys of a block: fewer where queries and their results, ``held`` elements, alone fill the registers."""
    keys = 64 if held <= instruction.registers // 2 else 32 if held <= instruction.registers else 16
    return max(keys, instruction.queries, instruction.depth)


def spread_of(instruction: Instruction, dv: int, waves: int) -> int:
    """Return how many waves share the results of the same queries, if ``waves`` have different ones: a block's waves in
    all at least, and so many that results leave room in the registers."""
    each = dv * instruction.queries // fx.num_warp_threads()
    wanted = max(instruction.waves // waves, -(-each // instruction.results))
    while dv % (instruction.queries * wanted):
        wanted -= 1
    return wanted


def splits(instruction: Instruction, d: int, spread: int) -> bool:
    """Return whether queries take so many registers that waves that share them make a part of the scores each."""
    registers = d * instruction.queries // (2 * fx.num_warp_threads())
    return spread > 1 and d // instruction.depth % spread == 0 and registers > instruction.registers // 2


def waves_beside(instruction: Instruction, held: int) -> dict[str, int]:
    """Return what LLVM is told of the waves that share a SIMD, if heads have ``held`` elements."""
    return {"rocdl.waves_per_eu": instruction.beside} if instruction.beside and held <= SMALL else {}


def copy_of(count: int, dtype: Any) -> Any:
    """Return the copy of four or eight neighbours."""
    return fx.make_copy_atom(fx.UniversalCopy128b() if count == 8 else fx.UniversalCopy64b(), dtype)


def threads_of(plan: WavePlan) -> int:
    """Threads of a block."""
    waves = plan.queries // choose_instruction(plan.dtype, plan.held).queries
    return waves * plan.spread * fx.num_warp_threads()


class Waves:
    """The products of a block, a lane's fragments, and the tiles in shared memory.

    ``q_tile`` gives the tile of queries, as it may be seen by the lane that has a query.
    """

    AHEAD = 1
    """Steps of a product whose operand is read before the one that is multiplied."""
    WILD = False
    """Whether powers of queries that have seen no key are made like others, and thrown away."""
    SEGMENTS = False
    """Whether a descriptor may reach only a part of a sequence's keys."""
    SPARE = 0
    """Bytes between a descriptor's start and the rows of a block."""

    def __init__(self, q_tile, sources, extras, numbers, plan):
        self.extras, self.numbers, self.plan, self.sources = extras, numbers, plan, sources
        self.instruction = choose_instruction(plan.dtype, plan.held)
        self.distances, self.threads = self.instruction.distances, threads_of(plan)
        self.allocator = fx.SharedAllocator()
        lanes = fx.num_warp_threads()
        self.wave = fx.rocdl.readfirstlane(fx.Int32(fx.thread_idx.x // lanes))
        self.first = tiled_over(self.instruction, plan.dtype, plan.queries)
        self.second = tiled_over(self.instruction, plan.dtype, plan.queries, plan.spread)
        # Waves that have the same queries make the same scores.
        self.scorer = fx.thread_idx.x if plan.spread == 1 else fx.thread_idx.x % (self.threads // plan.spread)
        self.make_tiles()
        scores, results = (plan.keys, plan.queries), (plan.dv, plan.queries)
        self.s = self.first.make_fragment_C(fx.make_identity_tensor(scores))
        self.o = self.second.make_fragment_C(fx.make_identity_tensor(results))
        self.p = self.second.make_fragment_B(fx.make_identity_tensor(scores[::-1]))
        self.s_rows = FragmentRows(self.first, self.scorer, scores, queries=1)
        self.q_part = self.first.get_slice(self.scorer).partition_B(self.own(q_tile(self.s_rows.query)))
        self.q = fx.make_fragment_like(self.q_part)

    @cached_property
    def o_rows(self):
        """The rows of the results. The thread's number is found anew: the one of before would be kept in registers."""
        thread = self.wave * fx.num_warp_threads() + fx.rocdl.mbcnt(fx.gpu.ballot(True))
        return FragmentRows(self.second, thread, (self.plan.dv, self.plan.queries), queries=1)

    def make_tiles(self):
        plan, pitch = self.plan, self.plan.d + self.instruction.apart
        rows, down = self.turned_layout()
        v_storage = self.allocator.allocate(fx.Array[plan.dtype, max(map(mul, rows, down)), 16]).ptr
        k_storage = self.allocator.allocate(fx.Array[plan.dtype, plan.keys * pitch, 16]).ptr
        self.k_tile = fx.make_view(k_storage, fx.make_layout((plan.keys, plan.d), (pitch, 1)))
        self.v_tile = fx.make_view(v_storage, fx.make_layout((rows, plan.keys), (down, 1)))
        ordered = fx.make_layout((rows, self.order_of_keys()), (down, self.order_of_keys(1)))
        self.k_part = self.first.get_slice(self.scorer).partition_A(self.own(self.k_tile))
        if plan.split:
            values = plan.keys * plan.queries * plan.spread
            self.parts = self.allocator.allocate(fx.Array[fx.Float32, values, 16]).ptr
        self.v_part = self.second.get_slice(fx.thread_idx.x).partition_A(fx.make_view(v_storage, ordered))

    def own(self, tile):
        """The elements of heads over which this wave makes scores."""
        if not self.plan.split:
            return tile
        waves = fx.make_identity_tensor((self.plan.queries // self.instruction.queries, self.plan.spread))
        _, part = fx.get_leaves(waves[self.wave])
        first = fx.get_scalar(part) * self.plan.scored
        return tile[:, first : first + self.plan.scored]

    def join_scores(self):
        """Add up the parts of scores of the waves that have the same queries, through shared memory."""
        if fx.const_expr(not self.plan.split):
            return
        fx.rocdl.sched_barrier(0)  # the order of reads that LLVM is told is of the product's
        values, together = self.s.load(), self.threads // self.plan.spread
        flat = values.reshape(values.numel)
        pieces = range(values.numel // 4)
        layout = fx.make_layout((4, self.threads, len(pieces)), (1, 4, 4 * self.threads))
        parts, totals = fx.make_view(self.parts, layout), []
        for i in pieces:
            parts[None, fx.thread_idx.x, i].store(flat.shuffle(flat, range(4 * i, 4 * i + 4)))
        fx.rocdl.lds_barrier()  # keys that are on their way stay there
        for i in pieces:
            found = [parts[None, self.scorer + part * together, i].load() for part in range(self.plan.spread)]
            four = reduce(add, found)
            totals += [four[j] for j in range(4)]
        self.s.store(fx.Vector.from_elements(totals, fx.Float32).reshape(values.shape))

    def order_of_keys(self, apart=0):
        """The extents of a block's keys in the order of the second product, or how far these are ``apart``."""
        shape, stride = self.instruction.order
        depth = self.instruction.depth
        if apart == 0:
            return (*shape, self.plan.keys // depth)
        return (*(apart * step for step in stride), apart * depth)

    def four(self):
        """A copy of four neighbouring elements: what every instruction has side by side."""
        return fx.make_copy_atom(fx.UniversalCopy64b(), self.plan.dtype)

    def piece(self):
        """Rows and columns of values that a thread turns at a time."""
        return self.instruction.piece

    def turned_rows(self):
        """Pieces along the rows of a tile that neighbouring lanes turn: they write to different banks then."""
        return self.instruction.turned if self.piece() == (4, 4) else fx.num_warp_threads()

    def turned_layout(self):
        """The extents of rows of turned values, and how far these are apart."""
        across = self.plan.keys + self.instruction.turned
        return (EIGHT, self.plan.dv // EIGHT), (across, EIGHT * across + self.gap())

    def gap(self):
        """Elements behind eight rows of turned values: lanes that turn pieces of other rows write to other banks."""
        return self.plan.keys if self.piece() == (2, 8) and self.plan.keys < 2 * fx.num_warp_threads() else 0

    def turned_read(self):
        """Neighbours of a row of turned values that are read at once."""
        return self.instruction.turned

    def shares(self, width, piece):
        """(row, column) of this thread's pieces, of so many rows and columns, of a tile ``width`` columns wide. Where
        they do not come out even, threads share the last, which one of them `keeps`."""
        rows, columns = piece
        shape, down, across = self.order_of_pieces(self.plan.keys // rows, width // columns, rows)
        pieces, count, found = fx.make_identity_tensor(shape), prod(shape), []
        below, odd = divmod(self.threads, count // shape[-1])
        for iteration in range(-(-count // self.threads)):
            at, further = fx.thread_idx.x, iteration * below * down[-1]
            if odd or count % self.threads:
                at, further = fx.min(at + iteration * self.threads, fx.Int32(count - 1)), 0
            leaves = fx.get_leaves(pieces[at])
            row, column = (sum(leaf * step for leaf, step in zip(leaves, steps, strict=True) if step)
                           for steps in (down, across))  # fmt: skip
            found.append(((row + further) * rows, column * columns))
        return found

    def keeps(self, width, piece, number):
        """Whether this thread's piece of a number is its own: known where they come out even."""
        left = self.plan.keys // piece[0] * (width // piece[1]) - number * self.threads
        return True if left >= self.threads else fx.thread_idx.x < left

    def order_of_pieces(self, down, across, rows):
        """The extents of pieces as threads take them, and how far these are apart along rows and along columns.

        Lanes write a row at a time. Where it ends among those that write together, they write halves of two instead,
        of which one begins half of all banks behind the other.
        """
        first = min(self.turned_rows(), down) if rows > 1 else 1
        if first > 1:
            return (first, across, down // first), (1, 0, first), (0, 1, 0)
        half, apart = (4, 32 // self.instruction.apart) if rows == 1 else (8, 2)
        if across % (2 * half) == 0:
            return (across, down), (0, 1), (1, 0)
        return (half, 2, across // half, apart, down // (2 * apart)), (0, apart, 0, 1, 2 * apart), (1, 0, half, 0, 0)

    def start(self, piece, block):
        """Have the last block of keys come: where it is, and this thread's part of it."""
        rows = [block_rows(tensor, piece, block, self.plan.keys) for tensor in self.sources]
        return [one.first for one in rows], self.load([partial(self.elements, one) for one in rows])

    def load(self, rows):
        """This thread's part of a block: eight elements of K, a piece of V at a time.

        ``rows`` give elements of a row of K, and of V: (row, column, how many, rows behind that one).
        """
        plan, (k_rows, v_rows), (down, across) = self.plan, rows, self.piece()
        keys = [k_rows(*place, 8) for place in self.shares(plan.d, (1, 8))]
        values = [v_rows(*place, across, i) for place in self.shares(plan.dv, (down, across)) for i in range(down)]
        return keys, values

    def arrive(self, piece, block, held):
        """Put a block into shared memory and have the one in front of it come.

        What comes is given, and what reads of K, and of V, for a step of a product.
        """
        firsts, loaded = held
        self.meet()  # everyone has multiplied the tiles of the block before
        self.fill_tiles(*loaded)
        self.meet()
        rows = self.rows_in_front(piece, block, firsts)
        return ([one.first for one in rows], self.load([partial(self.elements, one) for one in rows])), self.reads()

    def meet(self):
        """Wait for everyone's accesses to shared memory, and for this thread's loads: once, and not for each."""
        fx.rocdl.s_waitcnt(vmcnt=0)
        fx.rocdl.lds_barrier()

    def rows_in_front(self, piece, block, firsts):
        """The rows of K, and of V, of the block in front of one whose descriptors begin at ``firsts``."""
        return [rows_in_front(tensor, piece, block, self.plan.keys, first, self.SPARE)
                for tensor, first in zip(self.sources, firsts, strict=True)]  # fmt: skip

    def elements(self, rows, row, column, count, behind=0):
        return rows.load(row, column, fx.Vector.make_type(count, self.plan.dtype), behind)

    def fill_tiles(self, keys, values):
        """K as it is; V transposed, a piece that a thread has after the other."""
        plan, down = self.plan, self.piece()[0]
        for i, place in enumerate(self.shares(plan.d, (1, 8))):
            if self.keeps(plan.d, (1, 8), i):
                keys[i].store(self.k_tile, list(place), alignment=2 * self.instruction.neighbours)
        for i, place in enumerate(self.shares(plan.dv, self.piece())):
            if self.keeps(plan.dv, self.piece(), i):
                self.store_values(*place, values[i * down : (i + 1) * down])

    def store_values(self, row, column, rows):
        """A piece of values, turned."""
        for j in fx.range_constexpr(self.piece()[1]):
            values = fx.Vector.from_elements([vector[j] for vector in rows], self.plan.dtype)
            values.store(self.v_tile, [column + j, row], alignment=2 * len(rows))

    def reads(self):
        """What reads of K, and of V, for a step."""
        ways = ((self.instruction.neighbours, self.k_part), (self.turned_read(), self.v_part))
        return [partial(self.read, copy_of(count, self.plan.dtype), part) for count, part in ways]

    def read(self, atom, part, step):
        """What the instructions take of a tile for a step."""
        fragment = fx.make_fragment_like(part[None, None, step])
        fx.copy(atom, part[None, None, step], fragment)
        return fragment

    def power_type(self):
        """The type that softmax gives powers in."""
        return fx.Float32

    def hold_powers(self, rows):
        """Put powers where the second product takes them from. Where LLVM is told of reads, only they go ahead."""
        rounded = [self.rounded(row) for row in rows]
        self.p.store(self.s_rows.join(rounded).reshape(self.p.shape))
        if fx.const_expr(self.instruction.reads_ahead):
            fx.rocdl.sched_barrier(fx.rocdl.mask_dsrd)

    def rounded(self, powers):
        """Powers in the type of the products. Where no instruction makes bf16, a NaN may be lost: their sum has it."""
        dtype = self.plan.dtype
        if dtype is not fx.BFloat16 or not self.instruction.rounds_bits:
            return powers.to(dtype)
        bits = powers.bitcast(fx.Uint32)
        bits = bits + ((bits >> 16 & 1) + 0x7FFF)
        return (bits >> 16).to(fx.Uint16).bitcast(dtype)

    def multiply(self, tiled, accumulators, read, operand, steps):
        """accumulators += what is read * operand, a step of the instruction's depth after the other."""
        held = [read(step) for step in range(min(self.AHEAD, steps))]
        for k in fx.range_constexpr(steps):
            if fx.const_expr(k + self.AHEAD < steps):
                held.append(read(k + self.AHEAD))
            fx.gemm(tiled, accumulators, held[k], operand[None, None, k], accumulators)

    def factor(self):
        """What makes exponents of scores."""
        return self.numbers[0]

    def results(self, kept):
        """(first element, neighbours) of a lane's results."""
        for start in range(0, kept.numel, 4):
            yield self.o_rows.column + self.o_rows.columns[0][start], kept.shuffle(kept, range(start, start + 4))

    def read_ahead(self, products):
        """Have the reads of the product before go some of its instructions ahead, each of which takes one of them.

        LLVM, to save registers, would have each wait for its own.
        """
        ahead = min(self.instruction.reads_ahead, products)
        if fx.const_expr(ahead):
            fx.rocdl.sched_dsrd(ahead)
            for _ in fx.range_constexpr(products - ahead):
                fx.rocdl.sched_mfma(1)
                fx.rocdl.sched_dsrd(1)
            fx.rocdl.sched_mfma(ahead)


class Rows:
    """Rows of a tensor through a descriptor that ends with them, so that zeros lie behind.

    It begins ``spare`` bytes in front of them, at ``first``, and has so many bytes as ``records``.
    """

    def __init__(self, tensor, first, records, spare=0):
        self.tensor, self.bytes_of, self.stride = tensor, tensor.dtype.width // 8, row_stride(tensor)
        self.first, self.records, self.spare = first.aligned(16), records, spare

    def descriptor(self):
        return fx.rocdl.make_buffer_ptr(self.first, fx.Int64(self.records))

    def load(self, row, column, kind, behind=0):
        """Elements of a row, counted from the one so many ``behind``: a scalar offset, less which a descriptor ends."""
        offsets = (row * self.stride + column) * self.bytes_of, behind * self.stride * self.bytes_of
        return fx.rocdl.raw_ptr_buffer_load(kind, self.descriptor(), *offsets)

    def behind(self, spare):
        """The same rows with ``spare`` bytes between them and the descriptor's start."""
        return Rows(self.tensor, self.first + (-spare), self.records + spare, spare)


def row_stride(tensor):
    return fx.Int32(fx.get_scalar(fx.get_(tensor.stride, 0)))  # callers refuse rows 2^24 elements apart


def sequence_rows(tensor, start, first, count):
    """The rows of a sequence of ``count`` that begins at ``start``, from the ``first`` on."""
    rows, width = (fx.get_scalar(leaf) for leaf in fx.get_leaves(tensor.shape))
    inside = fx.min(fx.min(count, fx.Int32(rows) - start) - first, fx.Int32(MOST_ROWS))
    stride, bytes_of = row_stride(tensor), tensor.dtype.width // 8
    apart = stride * bytes_of
    records = (inside > 0).select(inside * apart + (width * bytes_of - apart), fx.Int32(0))
    pointer = fx.get_iter(tensor) + fx.Int64(start + first) * fx.Int64(stride)
    return Rows(tensor, fx.recast_iter(fx.Uint8, pointer), records)


def rows_in_front(tensor, piece, block, keys, first, spare):
    """The rows of the block of keys in front of one whose descriptor begins at ``first``; where none is, the same ones.

    Only the last block of a sequence may have fewer rows than others, so that the descriptor's end is found once, and
    its start by an addition. No rows are there of a sequence that claims more than the tensor has.
    """
    there, width = (fx.Int32(fx.get_scalar(leaf)) for leaf in fx.get_leaves(tensor.shape))
    stride, bytes_of = row_stride(tensor), tensor.dtype.width // 8
    whole = ((keys - 1) * stride + width) * bytes_of
    whole = (piece.band.length <= there - piece.key_start).select(whole, fx.Int32(0))
    last = block_rows(tensor, piece, piece.end - 1, keys).records
    records = (piece.end - 1 > piece.begin).select(whole, last)
    step = (block > piece.begin).select(stride * (-keys * bytes_of), fx.Int32(0))
    return Rows(tensor, first + fx.Int64(step), records + spare, spare)


def block_rows(tensor, piece, block, keys):
    """The rows of a block of keys of a sequence."""
    return sequence_rows(tensor, piece.key_start, block * keys, piece.band.length)
