"""Waves whose keys and values go from memory straight into shared memory (gfx950): no registers on the way.

A block of keys is copied while the one before it is multiplied, into the other of two places. A copy lays a wave's
lanes side by side, so tiles have no gaps between rows; pieces of a row are exchanged by its number instead, in what a
lane fetches, so that reads meet in no bank. Values lie as in memory and are turned by transposing reads.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from math import gcd
from typing import Any

import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.attention.waves import Waves, block_rows

COPIED = 8
"""Elements that a lane copies at once: 16 bytes."""
LINE = 128
"""Elements of all 64 banks."""
OWN_OFFSETS = 1 << 12
"""Bytes that the offset of a copy's instruction may say, beside its registers."""


def can_copy(dtype: Any, d: int, dv: int) -> bool:
    """Return whether the target being compiled for has such copies and reads, and rows can be exchanged evenly."""
    if any(width & (width - 1) or width < 64 for width in (d, dv)):
        return False
    with suppress(ValueError):
        fx.make_copy_atom(rocdl.BufferCopyLDS(16 * COPIED), dtype)
        return fx.make_copy_atom(rocdl.cdna4.LDSReadTrans(16, 64), dtype) is not None
    return False


class Ring:
    """Two places for a tile of ``keys`` rows of ``width`` elements, whose pieces of ``unit`` are exchanged.

    Rows that share the banks are told apart by up to ``bits`` bits of their number. Copies of a wave lie side by side,
    as far as the instruction's own offset reaches: so they share the scalar register that says where they go. Where
    bits count that neighbouring copies would differ in, these fetch rows that are further apart, which do not, so that
    they share a lane's offset too; then groups of pieces are exchanged by the number of the wave that copies a row.
    """

    def __init__(self, waves: Any, width: int, unit: int, bits: int, block: int = 0) -> None:
        """Reads of ``block`` rows at a time may find them apart; 0 if rows have to lie as in memory."""
        self.waves, self.width, self.size = waves, width, waves.plan.keys * width
        self.bytes_of, lanes = waves.plan.dtype.width // 8, fx.num_warp_threads()
        each, copies, count = lanes * COPIED, self.size // (waves.threads * COPIED), waves.threads // lanes
        bits, base = min(bits, log2(width // unit)), log2(unit)
        shift = max(log2(width), log2(LINE)) - base
        beside = gcd(copies, OWN_OFFSETS // (each * self.bytes_of)) if each % width == 0 else 1
        own = min(bits, max(log2(each) - base - shift, 0))  # bits that rows of one copy differ in
        lines = each * count // width  # rows of copies of all waves
        fits = block > 0 and block % lines == 0 == beside * lines % block
        self.apart = 0 < bits - own <= log2(count) and beside > 1 and fits
        beside = beside if self.apart or own == bits else 1
        self.each, self.beside, self.turns, self.count = each, beside, copies // beside, count
        self.swizzle = (own if self.apart else bits, base, shift)
        # Waves that exchange groups alike, by the last bits of their numbers.
        self.group, kinds = (1 << (base + own), 1 << (bits - own)) if self.apart else (width, 1)
        self.waves_alike = (kinds, count // kinds), (1, 0)
        self.wave = rocdl.readfirstlane(fx.Int32(fx.thread_idx.x // lanes))
        self.storage = waves.allocator.allocate(fx.Array[waves.plan.dtype, 2 * self.size, 1024]).ptr

    def blocks(self, rows: int) -> tuple[list[int], Any, Any]:
        """Return where blocks of so many rows in the order of memory begin, and shape and stride of a block's rows."""
        starts = range(0, self.waves.plan.keys, rows)
        if not self.apart:
            return [row * self.width for row in starts], rows, self.width
        copied = self.each // self.width * self.count  # rows of copies of all waves
        step = self.beside * self.each
        places = [divmod(row // copied, self.beside) for row in starts]
        shape = (self.each // self.width, self.count, rows // copied)
        stride = (self.width, step, self.each)
        return [turn * self.count * step + beside * self.each for turn, beside in places], shape, stride

    def in_memory(self, stride: Any) -> Any:
        """Return the layout from a tile's elements in shared memory, in order, to those in memory."""
        per, whole = self.each // self.width, self.waves.plan.keys
        if not self.apart:
            return fx.make_layout((self.width, whole), (1, stride))
        steps = (per * self.count, per, per * self.count * self.beside)
        return fx.make_layout((self.width, per, self.beside, self.count, self.turns),
                              (1, stride, *(step * stride for step in steps)))  # fmt: skip

    def at(self, place: Any) -> Any:
        """Return where a tile begins, so many bytes behind the first."""
        return fx.recast_iter(self.waves.plan.dtype, fx.recast_iter(fx.Uint8, self.storage) + place)

    def view(self, place: Any, shape: Any, stride: Any, start: Any = 0) -> Any:
        """Return a part of a tile from element ``start`` on, where pieces are exchanged as at its start."""
        return fx.make_view(self.at(place) + start, self.exchanged(shape, stride))

    def exchanged(self, shape: Any, stride: Any) -> Any:
        """Return a layout whose pieces are exchanged; exchanged twice they are where they were."""
        return fx.make_composed_layout(fx.static(fx.SwizzleType.get(*self.swizzle)), fx.make_layout(shape, stride))

    def groups_of(self, row: Any) -> list[Any]:
        """Return where the groups of pieces of a row are, from its start."""
        if not self.apart:
            return [0]
        exchanges = fx.make_layout((self.each // self.width, *self.waves_alike[0], self.beside),
                                   (0, *self.waves_alike[1], 0))  # fmt: skip
        exchange = fx.get_scalar(exchanges(row))
        return [(exchange ^ group) * self.group for group in range(self.width // self.group)]

    def copy(self, rows: Any, place: Any) -> None:
        """Start this thread's copies of the rows of a block."""
        step, whole = self.beside * self.each, self.beside * self.each * self.count
        # Elements after which rows are exchanged as before: turns that are so far apart share a lane's offset.
        period = 1 << sum(self.swizzle)
        order = fx.make_layout(((fx.num_warp_threads(), self.count), self.turns), ((COPIED, step), whole))
        exchanged, in_memory = self.exchanged(self.size, 1), self.in_memory(rows.stride)
        exchange = fx.get_scalar(fx.make_layout(*self.waves_alike)(self.wave))
        for number in range(self.beside * self.turns):
            turn, beside = divmod(number, self.beside)
            alike = turn if whole % period else 0
            piece = fx.get_scalar(order((fx.thread_idx.x, alike))) ^ exchange * self.group
            offset = fx.get_scalar(in_memory(exchanged(piece))) * self.bytes_of
            further = (turn - alike) * whole + beside * self.each * (self.count if self.apart else 1)
            own = beside * self.each * self.bytes_of
            target = self.at(place) + fx.get_scalar(order((self.wave * fx.num_warp_threads(), turn)))
            before = further // self.width * rows.stride * self.bytes_of + (rows.spare - own)
            rocdl.raw_ptr_buffer_load_lds(rows.descriptor(), target, 16, offset, before, own)


def log2(number: int) -> int:
    return number.bit_length() - 1


class CopiedWaves(Waves):
    """Waves with rings of tiles; what is carried from block to block is where the one that comes lies in both memories.

    An instruction's own offset moves a copy in both. What it adds in memory is taken off the scalar offset, which is
    never negative: a descriptor begins as far in front of the rows.
    """

    AHEAD = 2
    SPARE = OWN_OFFSETS

    def make_tiles(self):
        plan = self.plan
        self.rings = (Ring(self, plan.d, COPIED, 4, self.instruction.queries), Ring(self, plan.dv, 32, 2))
        self.wide = fx.make_copy_atom(fx.UniversalCopy128b(), plan.dtype)
        self.turning = fx.make_copy_atom(rocdl.cdna4.LDSReadTrans(16, 64), plan.dtype)
        self.k_copy, self.v_copy = (
            fx.make_tiled_copy_A(atom, self.first).get_slice(fx.thread_idx.x) for atom in (self.wide, self.turning)
        )
        block = fx.make_identity_tensor((self.instruction.queries, self.instruction.depth))
        self.key_row = fx.get_leaves(self.k_copy.partition_S(block)[0, 0, 0])[0]

    def tiles_at(self, stages):
        """What reads of K, and of V, at their places."""
        plan, (keys, values) = self.plan, self.rings
        starts, shape, stride = keys.blocks(self.instruction.queries)
        k_blocks = [
            [self.k_copy.partition_S(keys.view(stages[0], (shape, keys.group), (stride, 1), start + group))
             for group in keys.groups_of(self.key_row)]
            for start in starts
        ]  # fmt: skip
        v_tile = values.view(stages[-1], (plan.dv, self.order_of_keys()), (1, self.order_of_keys(plan.dv)))
        k_fragment = self.first.make_fragment_A(fx.make_identity_tensor((plan.keys, plan.d)))
        v_part, v_fragment = self.v_copy.partition_S(v_tile), self.first.make_fragment_A(v_tile)
        return partial(self.read_keys, k_blocks, k_fragment), partial(self.read_values, v_part, v_fragment)

    def start(self, piece, block):
        rows = [block_rows(tensor, piece, block, self.plan.keys).behind(self.SPARE) for tensor in self.sources]
        sizes = {ring.size for ring in self.rings}
        return self.copy_block(rows, [fx.Int32(0)] * len(sizes))

    def copy_block(self, rows, stages):
        """Copies into the places that ``stages`` name: one for both rings where these are alike."""
        for ring, of_block, stage in zip(self.rings, rows, (stages[0], stages[-1]), strict=True):
            ring.copy(of_block, stage)
        return [of_block.first for of_block in rows], stages

    def arrive(self, piece, block, held):
        firsts, stages = held
        rows = self.rows_in_front(piece, block, firsts)
        others = [ring.size * ring.bytes_of - stage for ring, stage in zip(self.rings, stages)]
        rocdl.s_waitcnt(vmcnt=0)
        rocdl.s_barrier()  # everyone's copies are there, and the other place has been read
        return self.copy_block(rows, others), self.tiles_at(stages)

    def read_keys(self, blocks, fragment, step):
        filled = self.k_copy.retile(fragment)
        group, inside = divmod(step, self.rings[0].group // self.instruction.depth)
        for number, groups in enumerate(blocks):
            fx.copy(self.wide, groups[group][None, 0, inside], filled[None, number, step])
        return fragment[None, None, step]

    def read_values(self, part, fragment, step):
        fx.copy(self.turning, part[None, None, step], self.v_copy.retile(fragment)[None, None, step])
        return fragment[None, None, step]
