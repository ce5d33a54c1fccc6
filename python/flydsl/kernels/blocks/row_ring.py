"""Long rows on Hopper: blocks stay, and their rows come to shared memory chunk by chunk, through a ring of slots.

A block, or a cluster of them, has a row in shared memory while it goes over it twice: once for its numbers, once for
its results, which threads write straight to memory. One wave does nothing but send for chunks: each that the others
have read in the second pass makes place for one of a row to come, so that the memory is always busy. Threads read the
pieces of 16 bytes that a row lies in, wherever in the first of them it begins, and write such pieces: rows of all
matrices must begin at the same place in a piece (`rows.py` looks at that). What is not of the row is masked in the
first and the last vector. Or they read and write rows of f32 element by element, neighbouring lanes neighbouring ones,
which is as fast wherever a row begins, and each thread has the same elements of all rows. `ring_lines.py` has the
lines that go with every row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.cache_hints import Hint
from flydsl.kernels.blocks.reduce import wave_count
from flydsl.kernels.blocks.row_pieces import place_of, store_shifted
from flydsl.kernels.blocks.row_plan import ACCESS_BYTES, DTYPES, SECTOR, RowPlan
from flydsl.kernels.blocks.rows import (
    Access,
    Line,
    Share,
    picked,
    row_start,
    store_iteration,
    vectors_of,
)


@dataclass(frozen=True)
class Run:
    """Every ``step``-th row from ``first`` to before ``stop``, the block's ``number``-th one and those behind it."""

    first: Any
    stop: Any
    step: Any
    number: Any


class InSharedMemory(Protocol):
    """A row whose pieces are in shared memory."""

    def start_of(self, source: int, iteration: int) -> Any: ...

    def give_back(self, iterations: int, behind: Any = None) -> None: ...


class RingLine(Line):
    """This thread's vectors of a row in the ring, which are waited for when they are first asked for, or in a tile."""

    def __init__(self, row: InSharedMemory, source: int, share: Any, fill: float) -> None:
        self.row, self.source, self.share, self.fill = row, source, share, fill
        self.hint, self.again_hint, self.dtype, self.held = None, None, None, []
        self.taken: list[Any] = []
        """Vectors that the first pass took into registers, as f32, and something of each, which comes when they do."""
        self.words: Any = fx.Int32(0)

    def _loaded(self, iteration: int) -> Any:
        """Return a vector with what lies beside the row; lanes beyond a slot's end have its last one."""
        plan = self.share.plan
        vectors = vectors_of(self.row.start_of(self.source, iteration), plan, plan.lanes * plan.accesses)
        access, rest = Access(plan, vectors, DTYPES[plan.dtype], None), plan.share - iteration * plan.lanes
        ends = plan.slots and plan.parts == 1 and not plan.by_elements and rest < plan.lanes
        for place in range(plan.accesses):
            number = self.share.vector(place)
            number = fx.min(number, fx.Int32(rest - 1)) if ends else number
            for memory, register in access.pairs(number, place):
                fx.copy_atom_call(access.atom, memory, register)
        return access.fragment.load()

    def of_first_lane(self) -> Any:
        """Return some of the row's first elements, whichever lane of whichever block asks."""
        self.row.start_of(self.source, 0)  # they have come with the first chunk
        kind = DTYPES[self.share.plan.dtype]
        access = Access(self.share.plan, vectors_of(self.row.pivot, self.share.plan, 1), kind, None)
        for memory, register in access.pairs(fx.Int32(0), 0):
            fx.copy_atom_call(access.atom, memory, register)
        return self._wide(access.fragment.load())

    def again_at(self, iteration: int) -> Any:
        """Return a vector whose elements are all that a result depends on: those beside the row are of no account."""
        return self.taken[iteration] if self.taken else self._wide(self._loaded(iteration))

    def _get(self, iteration: int, hint: Hint | None) -> Any:
        vector = super()._get(iteration, hint)
        if self.share.plan.into_registers:
            self.taken.append(vector)
            self.words = self.words | vector.bitcast(fx.Int32)[0]
            self.row.give_back(iteration + 1, self.words)
        return vector

    def again(self) -> Iterator[Any]:
        """Return the vectors for a loop that stores results: see `again_at`."""
        return (self.again_at(iteration) for iteration in range(self.share.plan.iterations))

    def _load(self, iteration: int, hint: Hint | None) -> Any:
        plan = self.share.plan
        kind, vector = DTYPES[plan.dtype], self._loaded(iteration)
        if plan.shifted:
            return self.share.filled(vector, iteration, self.fill, kind)
        insides = self.share.insides(iteration)
        return vector if insides is None else picked(vector, insides, self.fill, kind)

    def _in_turn(self, hint: Hint | None) -> Iterator[Any]:
        return (self._get(iteration, hint) for iteration in range(self.share.plan.iterations))


@flyc.jit
def begin_barriers(barriers: fx.Pointer, count: int, arrivals: int, threads: int) -> None:
    """Make words of shared memory barriers; every wave of a block of so many threads makes some. The lanes of one wave
    would be gone through one by one: 120 barriers took 3 us so."""
    lanes, waves = fx.num_warp_threads(), wave_count(threads)
    wave = fx.nvvm.warp_uniform(fx.thread_idx.x // lanes)
    if fx.nvvm.elect_one():
        for first in fx.range_constexpr(0, count, waves):
            if wave < count - first:
                fx.nvvm.mbarrier_init(barriers + (first + wave), arrivals)


class Ring:
    """Slots for chunks of the rows of this block, who has arrived in them, and who has been read."""

    def __init__(
        self, sources: Any, end: fx.Int32, plan: RowPlan, smem: fx.SharedAllocator, pivots: int = 0,
        given: Sequence[fx.Tensor] = (),
    ) -> None:  # fmt: skip
        """``pivots`` is how many rows' first elements have place beside the slots; none where nobody asks for them.
        ``given`` are vectors of f32 whose numbers of a row come with it (`RingRow.numbers`)."""
        self.sources, self.end, self.plan, self.share, self.smem = sources, end, plan, Share(plan), smem
        self.given = given
        kind, slots = DTYPES[plan.dtype], plan.rows * plan.slots
        self.memories = [smem.allocate(fx.Array[kind, slots * plan.chunk, 128]).ptr for _ in sources]
        self.pivots = smem.allocate(fx.Array[kind, pivots * plan.width, 16]).ptr if pivots else None
        self.arrived, self.read = (smem.allocate(fx.Array[fx.Int64, slots]).ptr for _ in range(2))
        self.numbers = [smem.allocate(fx.Array[fx.Float32, slots]).ptr for _ in given]
        self.begun = smem.allocate(fx.Array[fx.Int64, 1]).ptr
        self.begin = fx.block_idx.x // plan.cluster
        self.step = fx.grid_dim.x // plan.cluster
        self._start()
        if plan.rows > 1:
            # Each wave has slots of its own, and every so many-th of the block's rows.
            wave = self.share.row
            self.memories = [memory + wave * (plan.slots * plan.chunk) for memory in self.memories]
            self.arrived = self.arrived + wave * plan.slots
            self.numbers = [numbers + wave * plan.slots for numbers in self.numbers]
            self.begin, self.step = self.begin + wave * self.step, self.step * plan.rows

    def _start(self) -> None:
        slots, threads, waves = self.plan.rows * self.plan.slots, self.plan.threads, wave_count(self.plan.lanes)
        begin_barriers(self.arrived, slots, 2 if self.given else 1, threads)
        begin_barriers(self.read, slots, waves, threads)
        begin_barriers(self.begun, 1, waves, threads)
        fx.nvvm.fence_mbarrier_init()
        fx.barrier()

    @flyc.jit
    def lines_begun(self, run: Run) -> None:
        """This wave has begun to load the lines that go with the rows of a run: who sends is told for the first one
        that has rows, and so once, since it may ask late."""
        if (run.number == 0) & (run.first < run.stop):
            if fx.nvvm.elect_one():
                fx.nvvm.mbarrier_arrive(self.begun)

    def meeting(self) -> Any:
        """Return memory for f32: that of the first source's slots, when all rows have been read."""
        return fx.recast_iter(fx.Float32, self.memories[0])

    @flyc.jit
    def for_each_run(self, take: Callable[[Run, list[Any]], list[Any]], held: list[Any]) -> list[Any]:
        """Have ``take`` make what is held before each run of rows of this block what is held behind it, and return that
        of the last one.

        It is one, of every so many-th row; or rows that begin at one place in a piece follow each other, where the plan
        asks for that: blocks then have equal parts of all rows in the order of their places, the nearest to a piece's
        beginning first. What a run takes beside its rows counts as some of them: each place begins with rows that are
        not there.
        """
        if fx.const_expr(self.plan.in_order or not self.plan.one_place):
            held = take(Run(self.begin, self.end, self.step, fx.Int32(0)), held)
        else:
            (places, step), nobody, number = self._places(), self.plan.run_rows, fx.Int32(0)
            lowest = place_of(row_start(self.sources[0], fx.Int32(0)), self.plan) // (self.plan.width // places)
            each = (self.end + places - 1) // places + nobody
            share = (each * places + self.step - 1) // self.step
            low = fx.min(self.begin * share, each * places)
            high = fx.min(low + share, each * places)
            for turn in range(low // each, (high + each - 1) // each):
                row, before = (turn - lowest) * step & (places - 1), turn * each
                first = fx.max(low - before - nobody, fx.Int32(0)) * places + row
                stop = fx.min((fx.min(high - before, each) - nobody) * places + row, self.end)
                held = take(Run(first, stop, places, number), held)
                number = number + fx.max(stop - first + places - 1, fx.Int32(0)) // places
        return held

    def _places(self) -> tuple[Any, Any]:
        """Return at how many places in a piece rows begin, a power of two, and how many rows are between one that
        begins at a place and one that begins at the next."""
        width = self.plan.width
        distance = fx.Int32(self.sources[0].stride[0] % width) | width
        apart = distance & -distance  # elements between places: the power of two in the distance of rows
        return width // apart, distance // apart  # an odd number, its own inverse modulo 8

    def for_each_row(self, at_place: Callable[[Run], Callable[[Any, Any], None]]) -> None:
        """Call ``at_place(run)(row, number)`` for the rows of this block; the outer call is for each run, and loads
        lines."""
        self.for_each_run(lambda run, _: self._rows_of_run(run, at_place(run)), [])

    @flyc.jit
    def _rows_of_run(self, run: Run, code: Callable[[Any, Any], None]) -> list[Any]:
        number = run.number
        for row in range(run.first, run.stop, run.step):
            code(row, number)
            number = number + 1
        return []

    def send_for_all(self, lines: int) -> None:
        """Send for the chunks of all rows of this block, each when its slot is free; one thread does that.

        With ``lines``, a second row may have to wait for `lines_begun`. Lines come behind all that a ring has place for
        otherwise, and nobody can begin: LayerNorm of 122 rows of 251,412 bf16 began after 5 of 37 us on an H200
        (2026-11-19).
        """
        self.for_each_row(lambda _: partial(self._send_for_row, lines))

    @flyc.jit
    def _send_for_row(self, lines: int, row: fx.Int32, number: fx.Int32) -> None:
        plan = self.plan
        if fx.const_expr(lines > 0 and plan.lines_first):
            if number == 1:
                fx.nvvm.mbarrier_wait(self.begun, 0)
        for chunk, (slot, uses) in enumerate(slots_of_row(plan, number)):
            parts = self._parts(row, chunk)  # found while the slot may still be read
            fx.nvvm.mbarrier_wait(self.read + slot, (uses + 1) % 2)  # of no use before, the wait is over at once
            self._send(parts, slot, self.pivot_of(number) if chunk == 0 else None)
            self._send_numbers(row if chunk == 0 else None, slot)

    @flyc.jit
    def send_for_own(self, row: fx.Int32, number: fx.Int32) -> None:
        """Send for a row of this wave, whose slot all its lanes have read; where waves have slots of their own."""
        if fx.nvvm.elect_one():
            if row < self.end:
                slot = number % self.plan.slots
                self._send(self._parts(row, 0), slot)
                self._send_numbers(row, slot)

    def pivot_of(self, number: fx.Int32) -> Any:
        """Return where first elements of this block's ``number``-th row are; None where nobody asks for them."""
        return None if self.pivots is None else self.pivots + number % self.plan.pivots * self.plan.width

    def _parts(self, row: fx.Int32, chunk: int) -> list[_Chunk]:
        """Return a row's chunk of every source."""
        return [_Chunk(self, source, row, chunk) for source in self.sources]

    def _send(self, parts: list[_Chunk], slot: fx.Int32, pivot: Any = None) -> None:
        """Have a chunk of every source brought to a slot, and first elements of the row to ``pivot``; one thread does
        that."""
        places = [
            memory + slot * self.plan.chunk + part.slide for memory, part in zip(self.memories, parts, strict=True)
        ]
        for part, place in zip(parts, places, strict=True):
            part.copy_ends(place)
        size = sum(part.size for part in parts) + (0 if pivot is None else ACCESS_BYTES)
        fx.nvvm.mbarrier_arrive_expect_tx(self.arrived + slot, size)
        if pivot is not None:
            # The second piece that the row lies in: all of it is the row's.
            second = parts[0].start - parts[0].place + self.plan.width
            fx.nvvm.bulk_load(second, pivot, ACCESS_BYTES, self.arrived + slot, l2=self.plan.hints.priority)
        for part, place in zip(parts, places, strict=True):
            part.send_for(place, self.arrived + slot)

    def _send_numbers(self, row: fx.Int32 | None, slot: fx.Int32) -> None:
        """Have the numbers of a row brought to where its first chunk's are; other chunks have none."""
        if not self.given:
            return
        if row is not None:
            send_numbers(self.given, row, [place + slot for place in self.numbers])
        fx.nvvm.cp_async_mbarrier_arrive(self.arrived + slot)


def send_numbers(given: Sequence[fx.Tensor], row: Any, places: list[Any]) -> None:
    """Have a row's numbers of vectors of f32 brought to places, without waiting."""
    atom, one = fx.make_copy_atom(fx.nvvm.CpAsync(32, "ca"), fx.Float32), fx.make_layout(1, 1)
    for values, place in zip(given, places, strict=True):
        fx.copy_atom_call(atom, fx.logical_divide(values, one)[None, row], fx.make_view(place, one))


def slots_of_row(plan: RowPlan, number: fx.Int32) -> list[tuple[Any, Any]]:
    """Return the slot of each chunk of a block's ``number``-th row, and how often that was used before.

    Only the first one is divided: a row has no more chunks than there are slots.
    """
    uses = number * plan.parts // plan.slots
    first = number * plan.parts - uses * plan.slots
    if plan.slots % plan.parts == 0:
        return [(first + chunk, uses) for chunk in range(plan.parts)]
    beyond = [first + chunk >= plan.slots for chunk in range(plan.parts)]
    return [
        (over.select(first + (chunk - plan.slots), first + chunk), uses + over.select(fx.Int32(1), fx.Int32(0)))
        for chunk, over in enumerate(beyond)
    ]


def slide_of(piece: fx.Pointer, plan: RowPlan) -> Any:
    """Return how many elements behind a slot's beginning a piece lies that a chunk begins with: as many as it does in a
    sector of memory. What bulk copies move from one half of sectors to the other takes longer: LayerNorm's gradient of
    40,000 bf16 has 0.93 of a copy's speed on an H200 (2026-11-18), and 0.82 where rows begin in the middle of sectors
    and slots do not."""
    return place_of(piece, plan, SECTOR) if plan.slides else fx.Int32(0)


class _Chunk:
    """Pieces of a row that one slot takes: ``low`` up to ``high``, of which those that are read whole are sent for.

    The piece in which the first row begins and that in which the last one ends may be in nobody's memory as a whole:
    their elements are copied one by one.
    """

    def __init__(self, ring: Ring, source: fx.Tensor, row: fx.Int32, chunk: int) -> None:
        plan, share, self.width = ring.plan, ring.share, ACCESS_BYTES // ring.plan.size
        self.plan, self.start, self.length = plan, row_start(source, row), fx.Int32(plan.length)
        each = plan.chunk_iterations * plan.lanes * plan.accesses * plan.width // self.width
        self.low, self.place, is_last = fx.Int32(chunk * each), fx.Int32(0), row == ring.end - 1
        most, before = min(each, plan.share - chunk * each), row == 0
        if plan.by_elements:
            # Pieces are those of the block's part, one more than would be without a shift.
            most, before = each + 1, before & (fx.Int32(share.offset) == 0)
            is_last = is_last & (fx.Int32(share.offset) + share.here == plan.length)
            self.start, self.length = self.start + share.offset, fx.Int32(share.here)
        else:
            self.low = self.low + share.offset
        if plan.anywhere:
            self.place = place_of(self.start, plan)
        self.slide = slide_of(self.start - self.place + self.low * self.width, plan)
        pieces = (self.place + self.length + self.width - 1) // self.width
        high = fx.min(self.low + most, pieces)
        self.begin, self.stop = self.low, fx.max(high, self.low)
        if plan.anywhere:
            one, none = fx.Int32(1), fx.Int32(0)
            self.cut_before = before & (self.low == 0) & (self.place > 0)
            open_end = (self.place + self.length) % self.width > 0
            self.cut_behind = is_last & (high == pieces) & (high > self.low) & open_end
            self.begin = self.low + self.cut_before.select(one, none)
            self.stop = fx.max(self.stop - self.cut_behind.select(one, none), self.begin)
            self.last = pieces - 1
        self.size = (self.stop - self.begin) * ACCESS_BYTES

    @flyc.jit
    def copy_ends(self, slot: fx.Pointer) -> None:
        if fx.const_expr(self.plan.anywhere):
            if self.cut_before:
                self._copy(slot, fx.Int32(0))
            if self.cut_behind:
                self._copy(slot, self.last)

    def _copy(self, slot: fx.Pointer, piece: Any) -> None:
        copy_piece(self.start, slot, piece, self.low, self.place, self.width, self.length)

    def send_for(self, slot: fx.Pointer, arrived: fx.Pointer) -> None:
        if self.size > 0:
            come = self.start - self.place + self.begin * self.width
            place = slot + (self.begin - self.low) * self.width
            fx.nvvm.bulk_load(come, place, self.size, arrived, l2=self.plan.hints.priority)


def copy_piece(
    source: fx.Pointer, target: fx.Pointer, piece: Any, low: Any, place: Any, width: int, length: Any
) -> None:
    """Copy the elements of a piece that are of the row, one by one. The row begins at ``source``, which is ``place``
    elements behind the first of its pieces, and ``target`` has its pieces from ``low`` on."""
    for element in fx.range_constexpr(width):
        at = piece * width + element - place
        if (at >= 0) & (at < length):
            target[(piece - low) * width + element] = source[at]


class RingRow:
    """A row in the ring: which slots its chunks are in, and which of them have been waited for and given back."""

    def __init__(
        self, ring: Ring, row: fx.Int32, number: fx.Int32, *, is_here: bool = False, where: list[Any] | None = None
    ) -> None:  # fmt: skip
        """``is_here``: all chunks have been waited for, and where ``where`` of another `RingRow` of it is given."""
        self.ring, self.row, plan = ring, row, ring.plan
        slots = [(slot, 0) for slot in where[: plan.parts]] if where else slots_of_row(plan, number)
        self.slots, self.phases = [slot for slot, _ in slots], [uses % 2 for _, uses in slots]
        self.waited, self.returned = plan.parts if is_here or where else 0, 0
        self.writes = [0] * plan.iterations
        self.pivot = ring.pivot_of(number)
        self.places = where[plan.parts :] if where else [self._place(source) for source in ring.sources]

    def _place(self, source: fx.Tensor) -> Any:
        """Return where in its slot the row's part of a source begins."""
        plan, share = self.ring.plan, self.ring.share
        start = row_start(source, self.row)
        if plan.by_elements:
            place = place_of(start + share.offset, plan)
            return place + slide_of(start + share.offset - place, plan)
        lowest = share.offset * plan.width - (place_of(start, plan) if plan.shifted else 0)
        return slide_of(start + lowest, plan) if plan.slides else fx.Int32(0)

    def numbers(self) -> list[Any]:
        """Return the row's numbers of the vectors that were given, which come with its first chunk."""
        self.start_of(0, 0)
        return [numbers[self.slots[0]] for numbers in self.ring.numbers]

    @property
    def where(self) -> list[Any]:
        """Return where the row lies, so that another `RingRow` of it need not find that."""
        return [*self.slots, *self.places]

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
        inner = inner * plan.lanes * plan.accesses * plan.width
        return self.ring.memories[source] + self.slots[chunk] * plan.chunk + self.places[source] + inner

    def stored(self, iteration: int) -> None:
        """A vector of a iteration was written: with that of the last target, the iteration is done."""
        self.writes[iteration] += 1
        if self.writes[iteration] == self.ring.plan.targets:
            self.give_back(iteration + 1)

    def give_back(self, iterations: int, behind: Any = None) -> None:
        """So many iterations are done: their chunks make place for others.

        ``behind`` is a word that loads give which nothing else has waited for: a barrier may be reached before they
        are done, and was on an H200 (2026-11-18), so that its place depends on them, by bits that are always zero.
        """
        plan = self.ring.plan
        done = plan.parts if iterations == plan.iterations else iterations // plan.chunk_iterations
        while self.returned < done:
            slot = self.slots[self.returned]
            self._give_back(slot if behind is None else slot + (behind & (self.row >> 31)))
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
