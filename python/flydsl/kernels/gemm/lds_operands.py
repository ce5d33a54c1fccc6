"""Operands that pass through LDS: how a thread brings its part there, and how a wave reads what it multiplies.

A copy lays a wave's lanes side by side in LDS, so a lane fetches the piece that belongs where the hardware puts it:
pieces of a line are exchanged in what is read from memory, not in where it is written.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.gemm.lds_plan import COPY_BYTES, LANES, Operand, log2
from flydsl.kernels.gemm.matrix_cores import ACCESS_BYTES, BLOCK


def in_memory(tensor: Any, operand: Operand, first: Any, extent: Any, depth: int) -> tuple[Any, Any]:
    """Return the rows of a tile over all of K, through a descriptor that ends with the matrix, and its end in elements.

    The end is that of the last access of 16 bytes, which lies in the matrix as a whole or in the padding of its line.
    """
    stride, piece, bytes_of = operand.stride, operand.piece, tensor.dtype.width // 8
    if operand.shuffled:
        layout = fx.make_layout(((BLOCK, operand.rows // BLOCK), (piece, depth // piece)),
                                ((piece, BLOCK * depth), (1, BLOCK * piece)))  # fmt: skip
        start, end = fx.Int64(first) * depth, fx.Int64(fx.min(extent - first, fx.Int32(operand.rows))) * depth
    elif operand.transposed:
        layout = fx.make_layout((operand.rows, depth), (1, stride))
        start, end = fx.Int64(first), fx.Int64((extent - first + piece - 1) // piece * piece) + (depth - 1) * stride
    else:
        layout = fx.make_layout((operand.rows, depth), (stride, 1))
        inside = fx.min(extent - first, fx.Int32(operand.rows))
        start, end = fx.Int64(first) * stride, fx.Int64(inside - 1) * stride + -(-depth // piece) * piece
    end = fx.max(end, fx.Int64(0))  # a tile beyond the last column has nothing
    pointer = rocdl.make_buffer_ptr((fx.get_iter(tensor) + start).aligned(16), end * bytes_of)
    return fx.make_view(pointer, layout), fx.Int32(end)


class Loader:
    """A thread's copies of one operand from memory into the stages of the ring."""

    def __init__(
        self, plan: Any, operand: Operand, tensor: Any, ring: Any, at: tuple[Any, Any], few: bool = False
    ) -> None:
        """``few`` asks for few registers: scalar offsets tell passes apart, where they can."""
        first, extent = at
        self.plan, self.operand = plan, operand
        memory, self.end = in_memory(tensor, operand, first, extent, max(plan.k, operand.depth))
        tile = fx.zipped_divide(memory, (operand.rows, operand.depth))[None, (0, 0)]
        self.atom, width = self.widest(tensor.dtype)
        unit = width // operand.elem_bytes
        across = min(operand.line // unit, plan.threads)
        threads, values = (plan.threads // across, across), (1, unit)
        if operand.transposed:
            copy = fx.make_tiled_copy_tv(self.atom, fx.make_layout(threads[::-1], (1, across)),
                                         fx.make_layout(values[::-1], (1, 0)))  # fmt: skip
        else:
            copy = fx.make_tiled_copy_tv(
                self.atom, fx.make_layout(threads, (across, 1)), fx.make_layout(values, (0, 1))
            )
        self.passes = range(operand.lines // threads[0])
        alike = few and self.passes_alike(threads[0])
        first = [0 if alike else i for i in self.passes]
        self.sources = [self.of_pass(copy.get_slice(self.exchanged(i, across, unit)).partition_S(tile), i)
                        for i in first]  # fmt: skip
        self.further = [(i - first[i]) * threads[0] * operand.stride for i in self.passes]
        self.ring, self.writing = ring, copy.get_slice(self.writer())
        self.targets = [self.targets_at(slot) for slot in ring]
        self.copies = operand.copies(plan.threads, width)

    def writer(self) -> Any:
        """Return the thread whose places in LDS are given: where a wave's first lane writes decides for all of them."""
        return rocdl.readfirstlane(fx.Int32(fx.thread_idx.x // LANES)) * LANES

    def passes_alike(self, rows: int) -> bool:
        """Return whether passes of so many rows fetch alike but for their rows: then a scalar offset tells them
        apart."""
        operand = self.operand
        return not (operand.transposed or operand.shuffled) and rows % (1 << (operand.bits + operand.skip)) == 0

    def targets_at(self, slot: Any) -> list[Any]:
        place = self.writing.partition_D(plain_tile(self.operand, slot))
        return [self.of_pass(place, i) for i in self.passes]

    def widest(self, dtype: Any) -> tuple[Any, int]:
        """Return the widest copy that the target has and the threads make evenly."""
        for width in widths_of_copies():
            if self.operand.copies(self.plan.threads, width):
                return fx.make_copy_atom(rocdl.BufferCopyLDS(8 * width), dtype), width
        raise ValueError("this target has no copy from memory into LDS; the kernel is for gfx942 and gfx950")

    def exchanged(self, number: int, across: int, unit: int) -> Any:
        """Return the thread whose part this one fetches in a pass: another piece of the same line."""
        operand, thread, threads = self.operand, fx.thread_idx.x, self.plan.threads
        if operand.bits == 0:
            return thread
        base = log2(operand.granule // unit)  # the exchange of pieces, counted in copies
        swizzle = fx.static(fx.SwizzleType.get(operand.bits, base, log2(across) + operand.skip - base))
        order = fx.make_composed_layout(swizzle, fx.make_layout(len(self.passes) * threads, 1))
        return fx.get_scalar(order(thread + number * threads)) - number * threads

    def of_pass(self, part: Any, number: int) -> Any:
        return part[None, None, number] if self.operand.transposed else part[None, number, None]

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
        return [partial(fx.copy, self.atom, source, target, soffset=offset + further)
                for source, target, further in zip(self.sources, targets, self.further, strict=True)]  # fmt: skip


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
        self.targets = [[fx.make_fragment_like(place) for place in self.places]]
        self.plain = fx.make_copy_atom(fx.UniversalCopy128b(), self.places[0].dtype)

    def writer(self) -> Any:
        return fx.thread_idx.x

    def widest(self, dtype: Any) -> tuple[Any, int]:
        return fx.make_copy_atom(rocdl.BufferCopy128b(), dtype), COPY_BYTES[0]

    def put(self) -> None:
        """What was fetched, into LDS."""
        for held, place in zip(self.targets[0], self.places, strict=True):
            fx.copy(self.plain, held, place)


def plain_tile(operand: Operand, start: Any) -> Any:
    """Return a tile of LDS line by line, as copies fill it."""
    strides = (1, operand.line) if operand.transposed else (operand.line, 1)
    return fx.make_view(start, fx.make_layout((operand.rows, operand.depth), strides))


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
