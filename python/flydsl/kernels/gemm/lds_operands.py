"""Operands that pass through LDS: how a thread brings its part there, and how a wave reads what it multiplies.

A copy lays a wave's lanes side by side in LDS, so a lane fetches the piece that belongs where the hardware puts it:
pieces of a line are exchanged in what is read from memory, not in where it is written.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from math import gcd
from typing import Any

import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.gemm.lds_plan import COPY_BYTES, LANES, OWN_OFFSETS, Operand, log2
from flydsl.kernels.gemm.matrix_cores import ACCESS_BYTES, BLOCK


def in_memory(tensor: Any, operand: Operand, first: Any, extent: Any, depth: int) -> tuple[Any, Any, Any]:
    """Return where a tile begins, through a descriptor that ends with the matrix, how its lines lie there, and the end
    in elements.

    The end is that of the last word of 32 bits, each of which the hardware compares with it: of the last access of 16
    bytes no word behind the matrix is read.
    """
    stride, piece, bytes_of = operand.stride, operand.piece, tensor.dtype.width // 8
    word = 4 // bytes_of
    lines = fx.make_layout((operand.line, operand.lines), (1, stride))
    if operand.shuffled:
        lines = fx.make_layout(((piece, operand.line // piece), (BLOCK, operand.lines // BLOCK)),
                               ((1, BLOCK * piece), (piece, BLOCK * depth)))  # fmt: skip
        start, end = fx.Int64(first) * depth, fx.Int64(fx.min(extent - first, fx.Int32(operand.rows))) * depth
    elif operand.transposed:
        start, end = fx.Int64(first), fx.Int64((extent - first + word - 1) // word * word) + (depth - 1) * stride
    else:
        inside = fx.min(extent - first, fx.Int32(operand.rows))
        start, end = fx.Int64(first) * stride, fx.Int64(inside - 1) * stride + -(-depth // word) * word
    end = fx.max(end, fx.Int64(0))  # a tile beyond the last column has nothing
    pointer = rocdl.make_buffer_ptr((fx.get_iter(tensor) + start).aligned(16), end * bytes_of)
    return pointer, lines, fx.Int32(end)


class Loader:
    """A thread's copies of one operand from memory into the stages of the ring.

    A wave's copies lie side by side in LDS, as far as the instruction's own offset reaches: so they share the scalar
    register that says where they go. Further ones are made in rounds of all waves.
    """

    def __init__(
        self, plan: Any, operand: Operand, tensor: Any, ring: Any, at: tuple[Any, Any], few: bool = False
    ) -> None:
        """``few`` asks for few vector registers: scalar offsets tell rounds apart, where they can."""
        self.plan, self.operand, self.ring = plan, operand, ring
        start, lines, self.end = in_memory(tensor, operand, *at, plan.k)
        self.atom, width = self.widest(tensor.dtype)
        self.unit, self.copies = width // operand.elem_bytes, operand.copies(plan.threads, width)
        self.beside = gcd(self.copies, self.most_beside(width))
        waves, each = plan.threads // LANES, LANES * self.unit
        self.round = self.beside * waves * each
        self.order = fx.make_layout(((LANES, waves), (self.beside, self.copies // self.beside)),
                                    ((self.unit, self.beside * each), (each, self.round)))  # fmt: skip
        self.writer = self.who_writes()
        self.few = few and self.rounds_alike()
        self.sources = [self.source(start, lines, number) for number in range(self.beside if self.few else self.copies)]
        self.targets = [self.targets_at(slot) for slot in ring]

    def most_beside(self, width: int) -> int:
        """Return how many copies the instruction's offset tells apart. It moves both sides of a copy, so what it adds
        in memory is taken off the lane's offset, which must not become negative."""
        operand, each = self.operand, LANES * self.unit
        if operand.shuffled or operand.stride < operand.line or each % operand.line:
            return 1
        return OWN_OFFSETS // (LANES * width)

    def rounds_alike(self) -> bool:
        """Return whether rounds fetch alike but for their lines."""
        period = self.operand.line << (self.operand.bits + self.operand.skip)
        return not self.operand.shuffled and self.round % period == 0

    def ahead(self, number: int) -> int:
        """Return the elements that the instruction's offset adds for a copy."""
        return number % self.beside * LANES * self.unit

    def source(self, start: Any, lines: Any, number: int) -> Any:
        """Return what a lane fetches: the piece that the exchange puts where the hardware writes."""
        order = fx.make_composed_layout(exchange_of(self.operand), self.order) if self.operand.bits else self.order
        offset = fx.get_scalar(lines(fx.get_scalar(order((fx.thread_idx.x, number))))) - self.ahead(number)
        return fx.make_view((start + offset).aligned(self.unit * self.operand.elem_bytes), fx.make_layout(self.unit, 1))

    def who_writes(self) -> Any:
        """Return the thread whose places in LDS are given: where a wave's first lane writes decides for all of them."""
        return rocdl.readfirstlane(fx.Int32(fx.thread_idx.x // LANES)) * LANES

    def targets_at(self, slot: Any) -> list[Any]:
        """Return where copies into a stage begin, before what the instruction's offset adds."""
        places = [
            fx.get_scalar(self.order((self.writer, number))) - self.ahead(number) for number in range(self.copies)
        ]
        return [fx.make_view(slot + place, fx.make_layout(self.unit, 1)) for place in places]

    def widest(self, dtype: Any) -> tuple[Any, int]:
        """Return the widest copy that the target has and the threads make evenly."""
        for width in widths_of_copies():
            if self.operand.copies(self.plan.threads, width):
                return fx.make_copy_atom(rocdl.BufferCopyLDS(8 * width), dtype), width
        raise ValueError("this target has no copy from memory into LDS; the kernel is for gfx942 and gfx950")

    def copies_of(self, stage: Any, tile: Any) -> list[Any]:
        """Return the copies of a tile along K into a stage, as functions that start them."""
        operand, plan = self.operand, self.plan
        step = operand.depth * (operand.stride if operand.transposed else BLOCK if operand.shuffled else 1)
        offset = tile * step
        if plan.empty and not isinstance(tile, int):  # before the first tile there is nothing: beyond the end neither
            offset = (tile < 0).select(self.end, offset)
        return self.copies_at(stage, offset)

    def copies_at(self, stage: Any, offset: Any) -> list[Any]:
        """Return the copies of what lies at a scalar offset into a stage, whose number may be known at run time
        only."""
        known = isinstance(stage, int)
        targets = self.targets[stage] if known else self.targets_at(self.operand.stage(self.ring, stage))
        found = []
        for number, target in enumerate(targets):
            own = self.ahead(number) * self.operand.elem_bytes
            state = {"soffset": self.offset_of(number, offset), **({"imm_offset": own} if own else {})}
            found.append(partial(fx.copy, self.atom, self.sources[number % len(self.sources)], target, **state))
        return found

    def offset_of(self, number: int, offset: Any) -> Any:
        """Return the scalar offset of a copy: the tile's, and that of its round where lanes do not tell rounds apart.
        It ends with the matrix, since the hardware compares with the size less this offset."""
        before = number // self.beside * self.round // self.operand.line * self.operand.stride
        return fx.min(fx.Int32(offset + before), self.end) if self.few and before else offset


def widths_of_copies() -> list[int]:
    """Bytes that a lane of the target may copy into LDS at once, the most first."""
    found: list[int] = []
    for width in COPY_BYTES:
        with suppress(ValueError):
            fx.make_copy_atom(rocdl.BufferCopyLDS(8 * width), fx.Uint8)
            found.append(width)
    return found


class Stager(Loader):
    """A thread's part of one operand on its way through registers to the one place that tiles have in LDS."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.places = self.targets[0]
        self.targets = [[fx.make_fragment_like(place) for place in self.places] for _ in range(self.plan.held)]
        self.plain = fx.make_copy_atom(fx.UniversalCopy128b(), self.places[0].dtype)

    def most_beside(self, width: int) -> int:
        return 1

    def who_writes(self) -> Any:
        return fx.thread_idx.x

    def widest(self, dtype: Any) -> tuple[Any, int]:
        return fx.make_copy_atom(rocdl.BufferCopy128b(), dtype), COPY_BYTES[0]

    def put(self, holder: int) -> None:
        """What a set of registers holds, into LDS."""
        for held, place in zip(self.targets[holder], self.places, strict=True):
            fx.copy(self.plain, held, place)


def exchanged_tile(operand: Operand, start: Any) -> Any:
    """Return a tile of LDS as rows by K: where each element was put by the exchange of pieces."""
    strides = (1, operand.line) if operand.transposed else (operand.line, 1)
    layout = fx.make_layout((operand.rows, operand.depth), strides)
    if operand.bits == 0:
        return fx.make_view(start, layout)
    return fx.make_view(start, fx.make_composed_layout(exchange_of(operand), layout))


def exchange_of(operand: Operand) -> Any:
    """Return the exchange of pieces as a swizzle."""
    base = log2(operand.granule)
    return fx.static(fx.SwizzleType.get(operand.bits, base, log2(operand.line) + operand.skip - base))


class Reader:
    """A wave's part of an operand in the stages of the ring, and its registers."""

    def __init__(self, operand: Operand, ring: Any, product: Any, side: str) -> None:
        tiled, plan = product.tiled, product.plan
        make_copy = fx.make_tiled_copy_A if side == "A" else fx.make_tiled_copy_B
        make_fragment = tiled.make_fragment_A if side == "A" else tiled.make_fragment_B
        self.atom = read_atom(operand, product.dtype)
        read = make_copy(self.atom, tiled).get_slice(product.thread)
        part = (operand.rows, plan.wave_depth)
        self.slots = [exchanged_tile(operand, start) for start in ring]
        self.operand, self.ring = operand, ring
        self.part_of = lambda slot: read.partition_S(fx.zipped_divide(slot, part)[None, (0, product.depth_wave)])
        self.sources = [self.part_of(slot) for slot in self.slots]
        self.fragment = make_fragment(fx.make_identity_tensor(part))
        self.filled = read.retile(self.fragment)
        self.reads = BLOCK * plan.wave_depth * operand.elem_bytes // (LANES * ACCESS_BYTES)

    def at(self, stage: Any) -> Any:
        """Return a stage to read from, whose number may be known at run time only."""
        if isinstance(stage, int):
            return self.sources[stage]
        return self.part_of(exchanged_tile(self.operand, self.operand.stage(self.ring, stage)))

    def read(self, source: Any, number: int) -> None:
        """A block of 16 rows over all of K, from LDS to registers."""
        fx.copy(self.atom, source[None, number, None], self.filled[None, number, None])

    def operands(self, number: int) -> list[Any]:
        """Return what the instructions along K take of a block."""
        steps = fx.get_scalar(fx.size(self.fragment.shape[2]))
        return [fx.coalesce(self.fragment[None, number, step]) for step in range(steps)]


def read_atom(operand: Operand, dtype: Any) -> Any:
    """16 bytes of a row; of a transposed tile four rows at once where the target reads so, else one by one."""
    if not operand.transposed:
        return fx.make_copy_atom(fx.UniversalCopy128b(), dtype)
    with suppress(ValueError):
        return fx.make_copy_atom(rocdl.cdna4.LDSReadTrans(16, 64), dtype)
    return fx.make_copy_atom(fx.UniversalCopy16b(), dtype)
