"""Waves whose tiles of 64 keys fill half of the shared memory of a unit, through registers (gfx942).

There is no room for gaps between rows. Pieces of 16 bytes of a row are exchanged by its number instead, so that reads
meet in no bank, and a lane reads what it needs for two instructions at once: K in that order along a head, and values
with keys in that order, as they are put there. A thread turns eight elements of four values; of a head's elements those
that are eight apart are neighbouring rows, so that a thread's pieces are exchanged alike, and a lane ends with eight
neighbours of a result.

Keys and values come through one descriptor for as many blocks as 32 bits count the bytes of, a segment of a sequence: a
block is a scalar offset then.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.attention.copied_waves import log2
from flydsl.kernels.attention.tiles import Piece
from flydsl.kernels.attention.waves import Waves, choose_instruction, row_stride

KEYS = 64
EIGHT = 8
"""Elements of 16 bytes."""
LINE = 64
"""Elements of all banks: eight rows are told apart in it."""
ALU = 0x6
"""Vector and scalar instructions that do not access memory, as the scheduler names them."""
SAME_LANE = 0xE4
"""The pattern of a move between four lanes that leaves each where it is."""
TURNED = 4
"""Values that a thread turns."""
LDS_BYTES = 32 * 1024
"""Half of a unit's: two blocks share it."""
TWO_WAVES = {"rocdl.waves_per_eu": 2}
"""What LLVM is told of waves that share a SIMD."""
REACH = 1 << 30
"""Bytes of a descriptor that blocks of keys lie in."""


def can_exchange(plan: Any, bias: Any) -> bool:
    """Return whether tiles of 64 keys fit, and threads of the target being compiled for share them evenly.

    Registers have no room for what caps, windows and biases take beside 64 scores.
    """
    dtype, d, dv = plan.dtype, plan.d, plan.dv
    found = choose_instruction(dtype, d + dv)
    if found.queries != 32 or found.depth != 8 or bias is not None or plan.features.softcap or plan.features.left:
        return False
    threads = found.waves * fx.num_warp_threads()
    even = d >= LINE and d & (d - 1) == 0 and KEYS // TURNED * (dv // EIGHT) == threads
    return even and KEYS * (d + dv) * dtype.width // 8 <= LDS_BYTES


class SegmentRows:
    """The rows of a segment of a sequence through one descriptor, and the bytes from block to block."""

    def __init__(self, tensor: Any, piece: Any, keys: int) -> None:
        there, width = (fx.Int32(fx.get_scalar(leaf)) for leaf in fx.get_leaves(tensor.shape))
        stride, bytes_of = row_stride(tensor), tensor.dtype.width // 8
        first = piece.begin * keys
        rows = fx.min(piece.band.length - first, (piece.end - piece.begin) * keys)
        # No rows are there of a sequence that claims more than the tensor has.
        known = (rows > 0) & (piece.band.length <= there - piece.key_start)
        records = fx.Int64(rows - 1) * fx.Int64(stride * bytes_of) + fx.Int64(width * bytes_of)
        pointer = fx.get_iter(tensor) + fx.Int64(piece.key_start + first) * fx.Int64(stride)
        pointer = fx.recast_iter(fx.Uint8, pointer).aligned(16)
        self.rows = rocdl.make_buffer_ptr(pointer, known.select(records, fx.Int64(0)))
        self.step = known.select(stride * (keys * bytes_of), fx.Int32(0))
        self.stride, self.bytes_of, self.eight = stride, bytes_of, fx.Vector.make_type(EIGHT, tensor.dtype)

    def load(self, row: Any, column: Any, block: Any) -> Any:
        """Eight elements of a row of a block."""
        place = (row * self.stride + column) * self.bytes_of
        return rocdl.raw_ptr_buffer_load(self.eight, self.rows, place, block * self.step)


class ExchangedWaves(Waves):
    """Waves with tiles without gaps. From block to block a thread carries its part of the one that comes."""

    SEGMENTS = WILD = True

    def make_tiles(self):
        plan = self.plan
        self.first = self.second = self.in_pairs()
        self.k_storage = self.allocator.allocate(fx.Array[plan.dtype, KEYS * plan.d, 1024]).ptr
        self.v_storage = self.allocator.allocate(fx.Array[plan.dtype, KEYS * plan.dv, 1024]).ptr
        self.wide = fx.make_copy_atom(fx.UniversalCopy128b(), plan.dtype)
        self.copy = fx.make_tiled_copy_A(self.wide, self.first).get_slice(fx.thread_idx.x)
        tiles = (self.k_storage, KEYS, plan.d), (self.v_storage, plan.dv, KEYS)
        self.parts = [
            [self.copy.partition_S(fx.make_view(storage + column, exchanged(width, (rows, LINE), (width, 1))))
             for column in range(0, width, LINE)]
            for storage, rows, width in tiles
        ]  # fmt: skip
        self.in_lanes = rocdl.mov_dpp(self.numbers[0], SAME_LANE)

    def in_pairs(self):
        """Repeat the instruction over waves, with a lane's elements for two of them side by side."""
        plan, found = self.plan, self.instruction
        run = found.depth // 2
        order = fx.make_layout((run, 2, 2), (1, 2 * run, run))
        waves = fx.make_layout((1, plan.queries // found.queries, 1), (0, 1, 0))
        return fx.make_tiled_mma(fx.make_mma_atom(found.make(plan.dtype)), waves, (None, None, order))

    # Blocks of keys --------------------------------------------------------------------------------

    def segments(self, piece):
        """How many descriptors the keys of a piece need, and how many blocks each reaches."""
        strides = [row_stride(tensor) * (KEYS * tensor.dtype.width // 8) for tensor in self.sources]
        blocks = fx.max(fx.Int32(REACH) // fx.max(fx.max(*strides), fx.Int32(1)), fx.Int32(1))
        return fx.ceildiv(piece.end - piece.begin, blocks), blocks

    def segment(self, piece, number, blocks):
        """Return the blocks of a piece that one descriptor reaches, from the last on."""
        end = piece.end - number * blocks
        begin = fx.max(end - blocks, piece.begin)
        return Piece(
            piece.head, piece.batch, piece.first, piece.queries, piece.query_start, piece.key_start, piece.band, begin,
            end, piece.plain_begin, piece.plain_end,
        )  # fmt: skip

    def start(self, piece, block):
        return self.load_block(piece, block - piece.begin)

    def arrive(self, piece, block, held):
        self.meet()  # everyone has multiplied the tiles of the block before
        self.fill_tiles(*held)
        self.meet()
        return self.load_block(piece, fx.max(block - piece.begin - 1, fx.Int32(0))), self.reads()

    def load_block(self, piece, block):
        """This thread's part of a block, counted from the segment's first."""
        k_rows, v_rows = (SegmentRows(tensor, piece, KEYS) for tensor in self.sources)
        row, column, apart = self.k_share()
        key, element, _ = self.v_share()
        keys = [k_rows.load(row + n * apart, column, block) for n in range(KEYS // apart)]
        return keys, [v_rows.load(key + e, element, block) for e in range(TURNED)]

    def k_share(self):
        """(row, column) of this thread's first piece of K, and how many rows apart its pieces are."""
        across = self.plan.d // EIGHT
        apart = self.threads // across
        column, row = fx.get_leaves(fx.make_identity_tensor((across, apart))[fx.thread_idx.x])
        return row, column * EIGHT, apart

    def v_share(self):
        """(first of this thread's keys, its elements, and where they are in a row of turned values).

        Sixteen lanes write all banks: two keys apart by eight, whose values are side by side, of eight rows.
        """
        chunks = self.plan.dv // EIGHT
        shape = (EIGHT, 2, chunks // EIGHT, 2, KEYS // 16)
        low, pair, high, half, group = fx.get_leaves(fx.make_identity_tensor(shape)[fx.thread_idx.x])
        key = group * 16 + pair * 8 + half * TURNED
        return key, (low + high * EIGHT) * EIGHT, group * 16 + half * 8 + pair * TURNED

    def fill_tiles(self, keys, values):
        """K as it is; eight rows of V transposed, which a thread has four elements of."""
        plan = self.plan
        row, column, apart = self.k_share()
        place = fx.get_scalar(exchanged(plan.d, KEYS * plan.d, 1)(row * plan.d + column))
        for n, vector in enumerate(keys):
            self.put(vector, self.k_storage + (place + n * apart * plan.d))
        _, element, position = self.v_share()
        first = element // EIGHT * KEYS + position
        place = fx.get_scalar(exchanged(KEYS, KEYS * plan.dv, 1)(first))
        for i in fx.range_constexpr(EIGHT):
            four = fx.Vector.from_elements([vector[i] for vector in values], plan.dtype)
            self.put(four, self.v_storage + (place + i * (plan.dv // EIGHT) * KEYS))

    def put(self, vector, place):
        size = vector.numel
        vector.store(fx.make_view(place, fx.make_layout(size, 1)), [0], alignment=2 * size)

    # Products ----------------------------------------------------------------------------------------

    def reads(self):
        """What reads of K, and of V, for a unit of their product."""
        plan = self.plan
        shapes, rows = ((KEYS, plan.d), (plan.dv, KEYS)), self.instruction.queries
        k_read, v_read = (partial(self.read, parts, self.first.make_fragment_A(fx.make_identity_tensor(shape)))
                          for parts, shape in zip(self.parts, shapes, strict=True))  # fmt: skip
        # Keys block by block, so that scores of the first are there when those of the last are made.
        k_pairs = product(range(KEYS // rows), range(0, plan.d // 16, 2))
        k_units = [[(block, pair), (block, pair + 1)] for block, pair in k_pairs]
        v_units = [[(block, pair) for block in range(plan.dv // rows)] for pair in range(KEYS // 16)]
        return (k_read, k_units), (v_read, v_units)

    def read(self, parts, fragment, unit):
        """What pairs of instructions along the depth take, in one read for each: (block of rows, pair) of a unit."""
        filled = self.copy.retile(fragment)
        for block, pair in unit:
            line, inside = divmod(pair, LINE // 16)
            fx.copy(self.wide, parts[line][None, block, inside], filled[None, block, pair])
        return fragment

    def multiply(self, tiled, accumulators, source, operand, steps):
        """accumulators += what is read * operand, unit by unit; the next is read meanwhile.

        One wait is for all that a unit reads; LLVM would have one for each.
        """
        read, units = source
        held = [read(unit) for unit in units[: self.AHEAD]]
        for number, unit in enumerate(units):
            if fx.const_expr(number + self.AHEAD < len(units)):
                held.append(read(units[number + self.AHEAD]))
            # Softmax of the first scores goes beside the last products of others, and powers for the last products of
            # values are made before them: neither waits for what the matrix core has yet to write or read.
            apart = number < len(units) - 2 if accumulators is self.s else number == len(units) - 1
            later = sum(len(unit) for unit in units[number + 1 : len(held)])
            rocdl.sched_barrier(0 if apart else ALU)
            rocdl.s_waitcnt(lgkmcnt=later)
            rocdl.sched_barrier(0 if apart else ALU)
            for half in range(2):
                for block, pair in unit:
                    total = fx.coalesce(accumulators[None, block, 0])
                    pieces = held[number][None, block, (half, pair)], operand[None, 0, (half, pair)]
                    fx.gemm(tiled, total, *(fx.coalesce(piece) for piece in pieces), total)

    def factor(self):
        """The factor, not known to be the same for all blocks: LLVM would keep it in a register for each score."""
        return rocdl.mov_dpp(self.in_lanes, SAME_LANE)

    def power_type(self):
        return fx.Float32 if self.plan.dtype is fx.BFloat16 else self.plan.dtype

    def hold_powers(self, rows):
        """Powers rounded, halves up: for each step of the product by itself, or LLVM would do it behind the one before.

        Whether it keeps a NaN does not matter: sums of the same powers are NaN too.
        """
        if self.plan.dtype is not fx.BFloat16:
            super().hold_powers(rows)
            return
        flat = self.s_rows.join(rows)
        for step in range(KEYS // self.instruction.depth):
            words = flat.shuffle(flat, range(step * 4, step * 4 + 4)).bitcast(fx.Int32) + 0x8000
            halves = words.bitcast(fx.Int16)
            upper = halves.shuffle(halves, range(1, halves.numel, 2)).bitcast(fx.BFloat16)
            pair, half = divmod(step, 2)
            self.p[None, 0, (half, pair)].store(upper)

    def results(self, kept):
        """(first element, eight neighbours) of a lane's results."""
        rows, chunks = self.o_rows, self.plan.dv // EIGHT
        order = sorted(range(kept.numel), key=lambda i: element_of(rows.columns[0][i], chunks))
        for start in range(0, kept.numel, EIGHT):
            eight = order[start : start + EIGHT]
            yield rows.column * EIGHT + element_of(rows.columns[0][eight[0]], chunks), kept.shuffle(kept, eight)


def element_of(row, chunks):
    """Return which element of a head a row of turned values has, of so many ``chunks`` of eight."""
    return row % chunks * EIGHT + row // chunks


def exchanged(width: int, shape: Any, stride: Any) -> Any:
    """Return a layout of rows of so many elements, whose pieces of eight are exchanged by the row's number."""
    swizzle = fx.SwizzleType.get(log2(EIGHT), log2(EIGHT), log2(width) - log2(EIGHT))
    return fx.make_composed_layout(fx.static(swizzle), fx.make_layout(shape, stride))
