"""Waves whose keys and values go from memory straight into shared memory (gfx950): no registers on the way.

A block of keys is copied while the one before it is multiplied, into the other of two places. A copy lays a wave's
lanes side by side, so tiles have no gaps between rows; pieces of a row are exchanged by its number instead, in what a
lane fetches, so that reads meet in no bank. Values lie as in memory and are turned by transposing reads.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.attention.waves import Waves, block_rows

COPIED = 8
"""Elements that a lane copies at once: 16 bytes."""
LINE = 128
"""Elements of all 64 banks."""


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

    Rows that share the banks are told apart by up to ``bits`` bits of their number.
    """

    def __init__(self, waves: Any, width: int, unit: int, bits: int) -> None:
        self.waves, self.width, self.size = waves, width, waves.plan.keys * width
        self.bits, self.base = min(bits, (width // unit).bit_length() - 1), unit.bit_length() - 1
        self.shift = max(width, LINE).bit_length() - 1 - self.base
        lanes = fx.num_warp_threads()
        self.first_lane = rocdl.readfirstlane(fx.Int32(fx.thread_idx.x // lanes)) * lanes
        self.storage = waves.allocator.allocate(fx.Array[waves.plan.dtype, 2 * self.size, 1024]).ptr

    def view(self, stage: Any, shape: Any, stride: Any) -> Any:
        return fx.make_view(self.storage + stage * self.size, self.exchanged(shape, stride))

    def exchanged(self, shape: Any, stride: Any) -> Any:
        """Return a layout whose pieces are exchanged; exchanged twice they are where they were."""
        swizzle = fx.static(fx.SwizzleType.get(self.bits, self.base, self.shift))
        return fx.make_composed_layout(swizzle, fx.make_layout(shape, stride))

    def copy(self, tensor: Any, piece: Any, block: Any, stage: Any) -> None:
        """Start this thread's copies of a block."""
        rows = block_rows(tensor, piece, block, self.waves.plan.keys)
        threads, step = self.waves.threads, self.waves.threads * COPIED
        # Iterations after which rows are exchanged as before: those need no offset of their own.
        period = max((1 << (self.base + self.shift + self.bits)) // step, 1)
        exchanged = self.exchanged((self.width, self.waves.plan.keys), (1, self.width))
        in_memory = fx.make_layout((self.width, self.waves.plan.keys), (1, rows.stride))
        for iteration in range(self.size // step):
            again = iteration // period * period
            place = ((iteration - again) * threads + fx.thread_idx.x) * COPIED
            offset = fx.get_scalar(in_memory(exchanged(place))) * rows.bytes_of
            target = self.storage + stage * self.size + (iteration * threads + self.first_lane) * COPIED
            before = again * step // self.width * rows.stride * rows.bytes_of
            rocdl.raw_ptr_buffer_load_lds(rows.descriptor(), target, 16, offset, before)


class CopiedWaves(Waves):
    """Waves with rings of tiles; what is carried from block to block is the place of the one that comes."""

    AHEAD = 2

    def make_tiles(self):
        plan = self.plan
        self.rings = (Ring(self, plan.d, COPIED, 4), Ring(self, plan.dv, 32, 2))
        self.wide = fx.make_copy_atom(fx.UniversalCopy128b(), plan.dtype)
        self.turning = fx.make_copy_atom(rocdl.cdna4.LDSReadTrans(16, 64), plan.dtype)
        self.k_copy, self.v_copy = (
            fx.make_tiled_copy_A(atom, self.first).get_slice(fx.thread_idx.x) for atom in (self.wide, self.turning)
        )

    def tiles_at(self, stage):
        """What reads of K, and of V, at a place."""
        plan, (keys, values) = self.plan, self.rings
        k_tile = keys.view(stage, (plan.keys, plan.d), (plan.d, 1))
        v_tile = values.view(stage, (plan.dv, self.order_of_keys()), (1, self.order_of_keys(plan.dv)))
        ways = ((self.wide, self.k_copy, k_tile), (self.turning, self.v_copy, v_tile))
        return [partial(self.read_by, atom, copy, copy.partition_S(tile), self.first.make_fragment_A(tile))
                for atom, copy, tile in ways]  # fmt: skip

    def start(self, piece, block):
        self.copy_block(piece, block, fx.Int32(0))
        return fx.Int32(0)

    def copy_block(self, piece, block, stage):
        for ring, tensor in zip(self.rings, self.sources, strict=True):
            ring.copy(tensor, piece, block, stage)

    def arrive(self, piece, following, held):
        rocdl.s_waitcnt(vmcnt=0)
        rocdl.s_barrier()  # everyone's copies are there, and the other place has been read
        self.copy_block(piece, following, 1 - held)
        return 1 - held, self.tiles_at(held)

    def read_by(self, atom, copy, part, fragment, step):
        fx.copy(atom, part[None, None, step], copy.retile(fragment)[None, None, step])
        return fragment[None, None, step]
