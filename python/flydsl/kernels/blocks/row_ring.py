"""Long rows on Hopper: blocks stay, and their rows come to shared memory chunk by chunk, through a ring of slots.

A block, or a cluster of them, has a row in shared memory while it goes over it twice: once for its numbers, once for
its results, which threads write straight to memory. One wave does nothing but send for chunks: each that the others
have read in the second pass makes place for one of a row to come, so that the memory is always busy. Threads read the
pieces of 16 bytes that a row lies in, wherever in the first of them it begins, and write such pieces: rows of all
matrices must begin at the same place in a piece (`rows.py` looks at that). What is not of the row is masked in the
first and the last vector. Lines that go with every row are brought to the multiprocessor once: into registers, or,
where rows begin anywhere, into a table in shared memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.cache_hints import Hint
from flydsl.kernels.blocks.exchange import block_barrier
from flydsl.kernels.blocks.reduce import wave_count
from flydsl.kernels.blocks.row_pieces import LineAtPlace, place_of, store_shifted
from flydsl.kernels.blocks.row_plan import ACCESS_BYTES, DTYPES, RowPlan, kept_line_iterations
from flydsl.kernels.blocks.rows import (
    Access,
    Line,
    Share,
    picked,
    row_start,
    store_iteration,
    vectors_of,
    widened_again,
)


class RingLine(Line):
    """This thread's vectors of a row in the ring, which are waited for when they are first asked for."""

    def __init__(self, row: RingRow, source: int, share: Any, fill: float) -> None:
        self.row, self.source, self.share, self.fill = row, source, share, fill
        self.hint, self.again_hint, self.dtype, self.held = None, None, None, []

    def _loaded(self, iteration: int) -> Any:
        """Return a vector with what lies beside the row."""
        plan = self.share.plan
        vectors = vectors_of(self.row.start_of(self.source, iteration), plan, plan.lanes)
        access = Access(plan, vectors, DTYPES[plan.dtype], None)
        for memory, register in access.pairs(self.share.lane, 0):
            fx.copy_atom_call(access.atom, memory, register)
        return access.fragment.load()

    def again_at(self, iteration: int) -> Any:
        """Return a vector whose elements are all that a result depends on: those beside the row are of no account."""
        return self._wide(self._loaded(iteration))

    def _load(self, iteration: int, hint: Hint | None) -> Any:
        plan = self.share.plan
        kind, vector = DTYPES[plan.dtype], self._loaded(iteration)
        if plan.shifted:
            return self.share.filled(vector, iteration, self.fill, kind)
        insides = self.share.insides(iteration)
        return vector if insides is None else picked(vector, insides, self.fill, kind)

    def _in_turn(self, hint: Hint | None) -> Iterator[Any]:
        return (self._get(iteration, hint) for iteration in range(self.share.plan.iterations))


class Ring:
    """Slots for chunks of the rows of this block, who has arrived in them, and who has been read."""

    def __init__(self, sources: Any, end: fx.Int32, plan: RowPlan, smem: fx.SharedAllocator) -> None:
        self.sources, self.end, self.plan, self.share = sources, end, plan, Share(plan)
        kind, slots = DTYPES[plan.dtype], plan.rows * plan.slots
        self.memories = [smem.allocate(fx.Array[kind, slots * plan.chunk, 128]).ptr for _ in sources]
        self.arrived, self.read = (smem.allocate(fx.Array[fx.Int64, slots]).ptr for _ in range(2))
        self.begin = fx.block_idx.x // plan.cluster
        self.step = fx.grid_dim.x // plan.cluster
        self._start()
        if plan.rows > 1:
            # Each wave has slots of its own, and every so many-th of the block's rows.
            wave = self.share.row
            self.memories = [memory + wave * (plan.slots * plan.chunk) for memory in self.memories]
            self.arrived = self.arrived + wave * plan.slots
            self.begin, self.step = self.begin + wave * self.step, self.step * plan.rows

    @flyc.jit
    def _start(self) -> None:
        if fx.thread_idx.x == 0:
            for slot in fx.range_constexpr(self.plan.rows * self.plan.slots):
                fx.nvvm.mbarrier_init(self.arrived + slot, 1)
                fx.nvvm.mbarrier_init(self.read + slot, wave_count(self.plan.lanes))
            fx.nvvm.fence_mbarrier_init()
        fx.barrier()

    @flyc.jit
    def for_each_row(self, at_place: Callable[[Any], Callable[[Any, Any], None]]) -> None:
        """Call ``at_place(row)(row, number)`` for the rows of this block.

        Those that begin at one place in a piece follow each other where the plan asks for that: blocks then have equal
        parts of all rows in the order of their places, and the outer call is for the first row of each place. It loads
        lines, which takes about as long as a row: each place begins with one that is not there.
        """
        number = fx.Int32(0)
        if fx.const_expr(not self.plan.one_place):
            code = at_place(self.begin)
            for row in range(self.begin, self.end, self.step):
                code(row, number)
                number = number + 1
        else:
            apart = self.plan.width
            each = (self.end + apart - 1) // apart + 1
            share = (each * apart + self.step - 1) // self.step
            low = self.begin * share
            high = fx.min(low + share, each * apart)
            for place in range(low // each, (high + each - 1) // each):
                first = fx.max(low - place * each - 1, fx.Int32(0)) * apart + place
                stop = fx.min((fx.min(high - place * each, each) - 1) * apart + place, self.end)
                number = self._rows_of_a_place(first, stop, number, at_place)

    @flyc.jit
    def _rows_of_a_place(
        self, first: Any, stop: Any, number: Any, at_place: Callable[[Any], Callable[[Any, Any], None]]
    ) -> Any:
        code = at_place(first)
        for row in range(first, stop, self.plan.width):
            code(row, number)
            number = number + 1
        return number

    def send_for_all(self) -> None:
        """Send for the chunks of all rows of this block, each when its slot is free; one thread does that."""
        self.for_each_row(lambda _: self._send_for_row)

    @flyc.jit
    def _send_for_row(self, row: fx.Int32, number: fx.Int32) -> None:
        plan = self.plan
        for chunk in fx.range_constexpr(plan.parts):
            count = number * plan.parts + chunk
            slot, uses = count % plan.slots, count // plan.slots
            if uses > 0:
                fx.nvvm.mbarrier_wait(self.read + slot, (uses - 1) % 2)
            self._send(row, chunk, slot)

    @flyc.jit
    def send_for_own(self, row: fx.Int32, number: fx.Int32) -> None:
        """Send for a row of this wave, whose slot all its lanes have read; where waves have slots of their own."""
        if fx.nvvm.elect_one():
            if row < self.end:
                self._send(row, 0, number % self.plan.slots)

    def _send(self, row: fx.Int32, chunk: int, slot: fx.Int32) -> None:
        """Have a chunk of every source brought to a slot; one thread does that."""
        parts = [_Chunk(self, source, row, chunk) for source in self.sources]
        places = [memory + slot * self.plan.chunk for memory in self.memories]
        for part, place in zip(parts, places, strict=True):
            part.copy_ends(place)
        fx.nvvm.mbarrier_arrive_expect_tx(self.arrived + slot, sum(part.size for part in parts))
        for part, place in zip(parts, places, strict=True):
            part.send_for(place, self.arrived + slot)


class _Chunk:
    """Pieces of a row that one slot takes: ``low`` up to ``high``, of which those that are read whole are sent for.

    The piece in which the first row begins and that in which the last one ends may be in nobody's memory as a whole:
    their elements are copied one by one.
    """

    def __init__(self, ring: Ring, source: fx.Tensor, row: fx.Int32, chunk: int) -> None:
        plan, width = ring.plan, ring.plan.width
        self.plan, self.start = plan, row_start(source, row)
        most = min(plan.chunk_iterations * plan.lanes, plan.share - chunk * plan.chunk_iterations * plan.lanes)
        self.low = fx.Int32(ring.share.offset) + chunk * plan.chunk_iterations * plan.lanes
        self.place, pieces = fx.Int32(0), fx.Int32(plan.vectors)
        if plan.shifted:
            self.place = place_of(self.start, plan)
            pieces = (self.place + plan.length + width - 1) // width
        high = fx.min(self.low + most, pieces)
        self.begin, self.stop = self.low, fx.max(high, self.low)
        if plan.shifted:
            one, none = fx.Int32(1), fx.Int32(0)
            self.cut_before = (row == 0) & (self.low == 0) & (self.place > 0)
            open_end = (self.place + plan.length) % width > 0
            self.cut_behind = (row == ring.end - 1) & (high == pieces) & (high > self.low) & open_end
            self.begin = self.low + self.cut_before.select(one, none)
            self.stop = fx.max(self.stop - self.cut_behind.select(one, none), self.begin)
            self.last = pieces - 1
        self.size = (self.stop - self.begin) * ACCESS_BYTES

    @flyc.jit
    def copy_ends(self, slot: fx.Pointer) -> None:
        if fx.const_expr(self.plan.shifted):
            if self.cut_before:
                self._copy(slot, fx.Int32(0))
            if self.cut_behind:
                self._copy(slot, self.last)

    def _copy(self, slot: fx.Pointer, piece: Any) -> None:
        """Copy the elements of a piece that are of the row."""
        for element in fx.range_constexpr(self.plan.width):
            at = piece * self.plan.width + element - self.place
            if (at >= 0) & (at < self.plan.length):
                slot[(piece - self.low) * self.plan.width + element] = self.start[at]

    def send_for(self, slot: fx.Pointer, arrived: fx.Pointer) -> None:
        width = self.plan.width
        if self.size > 0:
            come = self.start - self.place + self.begin * width
            place = slot + (self.begin - self.low) * width
            fx.nvvm.bulk_load(come, place, self.size, arrived, l2=self.plan.hints.priority)


class RingRow:
    """A row in the ring: which slots its chunks are in, and which of them have been waited for and given back."""

    def __init__(self, ring: Ring, row: fx.Int32, number: fx.Int32, *, is_here: bool = False) -> None:
        """``is_here`` says that all chunks have been waited for."""
        self.ring, self.row, plan = ring, row, ring.plan
        first = number * plan.parts
        self.slots = [(first + chunk) % plan.slots for chunk in range(plan.parts)]
        self.phases = [(first + chunk) // plan.slots % 2 for chunk in range(plan.parts)]
        self.waited, self.returned = plan.parts if is_here else 0, 0
        self.writes = [0] * plan.iterations

    def start_of(self, source: int, iteration: int) -> Any:
        """Return where the vectors of a iteration begin; waits for them."""
        plan = self.ring.plan
        chunk, inner = divmod(iteration, plan.chunk_iterations)
        if plan.once and not plan.targets and source == 0:
            self.give_back(iteration)
        assert chunk >= self.returned, "a chunk is asked for that was given back"
        while self.waited <= chunk:
            fx.nvvm.mbarrier_wait(self.ring.arrived + self.slots[self.waited], self.phases[self.waited])
            self.waited += 1
        return self.ring.memories[source] + self.slots[chunk] * plan.chunk + inner * plan.lanes * plan.width

    def stored(self, iteration: int) -> None:
        """A vector of a iteration was written: with that of the last target, the iteration is done."""
        self.writes[iteration] += 1
        if self.writes[iteration] == self.ring.plan.targets:
            self.give_back(iteration + 1)

    def give_back(self, iterations: int) -> None:
        """So many iterations are done: their chunks make place for others."""
        plan = self.ring.plan
        done = plan.parts if iterations == plan.iterations else iterations // plan.chunk_iterations
        while self.returned < done:
            self._give_back(self.slots[self.returned])
            self.returned += 1

    @flyc.jit
    def _give_back(self, slot: fx.Int32) -> None:
        if fx.nvvm.elect_one():
            fx.nvvm.mbarrier_arrive(self.ring.read + slot)


def store_from_ring(target: fx.Tensor, row: RingRow, share: Any) -> Callable[[int, Any], None]:
    """Return what writes a vector of a target."""
    plan = share.plan
    out = None if plan.shifted else vectors_of(row_start(target, row.row) + share.offset * plan.width, plan)

    def store(iteration: int, vector: fx.Vector) -> None:
        if plan.shifted:
            store_shifted(vector, target, row.row, share, iteration)
        else:
            store_iteration(vector, out, share, iteration, True, plan.hints.store, target.dtype)
        if plan.rows == 1:
            row.stored(iteration)

    return store


def ring_lines(lines: Any, plan: RowPlan, share: Share, smem: fx.SharedAllocator) -> Callable[[Share, Any], list[Line]]:
    """Return a function of a row's share and number: what of the lines goes with it.

    ``share`` is that of all rows which begin at one place in a piece.
    """
    words = [-(-plan.width * line.dtype.width // 32) for line in lines]
    keep = kept_line_iterations(plan, sum(words))

    def near_line(line: Any) -> bool:
        return plan.near_lines and line.dtype is DTYPES[plan.dtype]

    if plan.one_place:
        at_place: list[Line] = [LineAtPlace(line, share, keep) for line in lines]
        at_place = [NearLine(line, smem) if near_line(line) else line for line in at_place]
        return lambda _, row: [KeptLine(line, row) for line in at_place]
    if plan.shifted:
        tables = [LineTable(group, plan, smem) for group in _groups(lines)]
        return lambda share, _: [
            ShiftedLine(table, share, number) for table in tables for number in range(len(table.lines))
        ]
    kept: list[Line] = []
    for line in lines:
        own = Line(vectors_of(fx.get_iter(line) + share.offset * plan.width, plan), share, None, keep=keep,
                   hint=plan.hints.line, dtype=line.dtype)  # fmt: skip
        kept.append(NearLine(own, smem) if near_line(line) else own)
    return lambda _, row: [KeptLine(line, row) for line in kept]


NEAR_AT_ONCE = 8
"""Vectors of a line that a thread has on their way to shared memory."""


class NearLine(Line):
    """A line of which registers have some iterations, and shared memory the others. Each thread reads what it wrote."""

    def __init__(self, line: Line, smem: fx.SharedAllocator) -> None:
        super().__init__(line.vectors, line.share, None, keep=0, hint=line.hint, dtype=line.dtype, held=line.held)
        plan = line.share.plan
        self.rest = range(len(line.held), plan.iterations)
        memory = smem.allocate(fx.Array[self.kind, max(len(self.rest), 1) * plan.lanes * plan.width, 128]).ptr
        self.places = vectors_of(memory, plan, max(len(self.rest), 1) * plan.lanes)
        for first in range(0, len(self.rest), NEAR_AT_ONCE):
            iterations = self.rest[first : first + NEAR_AT_ONCE]
            loaded = [line._load(iteration, line.hint) for iteration in iterations]  # no load passes a store
            for iteration, vector in zip(iterations, loaded, strict=True):
                access, near = self._access(iteration)
                access.fragment.store(vector)
                for place, register in near:
                    fx.copy_atom_call(access.atom, register, place)

    def _access(self, iteration: int) -> tuple[Access, list[Any]]:
        access = Access(self.share.plan, self.places, self.kind, None)
        return access, access.pairs(self.share.lane + (iteration - self.rest.start) * self.share.plan.lanes, 0)

    def _load(self, iteration: int, hint: Hint | None) -> Any:
        access, near = self._access(iteration)
        for place, register in near:
            fx.copy_atom_call(access.atom, place, register)
        return access.fragment.load()


class KeptLine(Line):
    """A line that is kept for all rows, in its own type: 16-bit elements must not be made f32 before the loop.

    LLVM would move that out of the loop, and need twice the registers; so what is converted depends on the row, by
    bits that are always zero.
    """

    def __init__(self, line: Line, row: fx.Int32, other: fx.Int32 | None = None) -> None:
        """``other`` is a number that is not negative either: what is asked for again is converted again by it."""
        self.share, self.fill, self.hint, self.again_hint = line.share, line.fill, line.hint, line.again_hint
        self.line, self.dtype, self.held = line, line.dtype, line.held
        self.nothing = row >> 31
        self.nothing_again = self.nothing if other is None else other >> 31

    def _load(self, iteration: int, hint: Hint | None) -> Any:
        return self.line._load(iteration, hint)

    def _get(self, iteration: int, hint: Hint | None) -> Any:
        return self._converted(iteration, hint, self.nothing)

    def again_at(self, iteration: int) -> Any:
        return self._converted(iteration, self.again_hint, self.nothing_again)

    def _converted(self, iteration: int, hint: Hint | None, nothing: Any) -> Any:
        vector = self._own(iteration, hint)
        return vector.to(fx.Float32) if iteration >= len(self.held) else widened_again(vector, nothing)


def _groups(lines: Any) -> list[list[Any]]:
    """Lines that lie together in a table: two of 16 bits are read as one word."""
    pair = len(lines) > 1 and all(line.dtype.width == 16 for line in lines[:2]) and lines[0].dtype is lines[1].dtype
    return [list(lines[:2]), *([line] for line in lines[2:])] if pair else [[line] for line in lines]


class LineTable:
    """The block's part of a line, or of two, in shared memory, with what a shift may need before it.

    First come the elements 0, ``width``, … then 1, ``width + 1``, …: neighbouring lanes, which are ``width`` elements
    apart, read neighbouring places at any shift.
    """

    def __init__(self, lines: list[Any], plan: RowPlan, smem: fx.SharedAllocator) -> None:
        self.plan, self.lines, self.groups, self.dtype = plan, lines, plan.share + 1, lines[0].dtype
        self.word = self.dtype if len(lines) == 1 else fx.Int32
        self.memory = smem.allocate(fx.Array[self.word, table_elements(plan), 128]).ptr
        self._fill()

    def words(self, vectors: list[Any]) -> Any:
        """Elements of each line, as they lie in the table."""
        if len(vectors) == 1:
            return vectors[0]
        mixed = [vector[element] for element in range(self.plan.width) for vector in vectors]
        return fx.Vector.from_elements(mixed, self.dtype).bitcast(fx.Int32)

    @flyc.jit
    def _fill(self) -> None:
        plan, share = self.plan, Share(self.plan)
        starts = [fx.get_iter(line) for line in self.lines]
        iterations, whole = -(-self.groups // plan.lanes), plan.length // plan.width
        found = []
        for iteration in fx.range_constexpr(iterations):
            group = fx.Int32(share.offset) + fx.thread_idx.x + iteration * plan.lanes - 1
            accesses = [Access(plan, vectors_of(start, plan, whole), self.dtype, plan.hints.line) for start in starts]
            for access in accesses:
                access.fragment.fill(0.0)
            if (group >= 0) & (group < whole):
                for access in accesses:
                    for memory, register in access.pairs(group, 0):
                        fx.copy_atom_call(access.atom, memory, register)
            found.append(accesses)
        for iteration in fx.range_constexpr(iterations):
            group = fx.thread_idx.x + iteration * plan.lanes
            words = self.words([access.fragment.load() for access in found[iteration]])
            if group < self.groups:
                for element in fx.range_constexpr(plan.width):
                    self.memory[element * self.groups + group] = words[element]
        block_barrier(plan)
        group = whole + 1 - fx.Int32(share.offset)
        if (fx.thread_idx.x == 0) & (group >= 0) & (group < self.groups):
            # The elements behind the last whole vector, where zeros are.
            rest = range(plan.width)
            ends = [
                fx.Vector.from_elements(
                    [start[whole * plan.width + min(i, plan.length % plan.width - 1)] for i in rest], self.dtype
                )
                for start in starts
            ]
            words = self.words(ends)
            for element in fx.range_constexpr(plan.length % plan.width):
                self.memory[element * self.groups + group] = words[element]


def table_elements(plan: RowPlan) -> int:
    """Elements of a `LineTable`, with what lanes beyond the row may read."""
    return plan.width * (plan.share + 1) + plan.lanes


class ShiftedLine(Line):
    """What of a line in a `LineTable` goes with the vectors of a row."""

    def __init__(self, table: LineTable, share: Any, number: int) -> None:
        self.table, self.share, self.dtype, self.number = table, share, table.dtype, number
        self.held, self.hint, self.again_hint = [], None, None
        width = share.plan.width
        self.starts = []
        for element in range(width):
            before = share.place > element
            residue = before.select(element - share.place + width, element - share.place)
            group = before.select(fx.Int32(0), fx.Int32(1))
            self.starts.append(table.memory + (residue * table.groups + group + share.lane))

    def _words(self, iteration: int) -> Any:
        at = iteration * self.share.plan.lanes
        return fx.Vector.from_elements([start[at] for start in self.starts], self.table.word)

    def _load(self, iteration: int, hint: Hint | None) -> Any:
        words = self._words(iteration)
        if len(self.table.lines) == 1:
            return words
        mixed = words.bitcast(self.dtype)
        return fx.Vector.from_elements([mixed[2 * i + self.number] for i in range(words.numel)], self.dtype)

    def _get(self, iteration: int, hint: Hint | None) -> Any:
        if len(self.table.lines) == 1 or self.dtype is not fx.BFloat16:
            return self._load(iteration, hint).to(fx.Float32)
        words = self._words(iteration)  # a half of a word each: moved up, or cut off
        return ((words & -65536) if self.number else (words << 16)).bitcast(fx.Float32)

    def _in_turn(self, hint: Hint | None) -> Iterator[Any]:
        return (self._get(iteration, hint) for iteration in range(self.share.plan.iterations))
