"""Lines that go with every row of a ring: a scale and a shift.

They are brought to the multiprocessor once, as far as there is place: into registers, what does not fit there into
shared memory; or, where rows begin anywhere, into a table in shared memory. What has no place comes from L2 for every
row, and is sent for ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.cache_hints import Hint
from flydsl.kernels.blocks.exchange import block_barrier
from flydsl.kernels.blocks.row_pieces import LineAtPlace
from flydsl.kernels.blocks.row_plan import DTYPES, RowPlan
from flydsl.kernels.blocks.row_resources import coming_elements, kept_line_iterations
from flydsl.kernels.blocks.rows import Access, Line, Share, picked, vectors_of, widened_again


def ring_lines(
    lines: Any, plan: RowPlan, share: Share, smem: fx.SharedAllocator, begun: Callable[[], None]
) -> Callable[[Share, Any], list[Line]]:
    """Return a function of a row's share and number: what of the lines goes with it.

    ``share`` is that of all rows which begin at one place in a piece. ``begun`` is called behind the loads of lines,
    before one is waited for.
    """
    keep = kept_iterations(lines, plan)

    def is_own(line: Any) -> bool:
        return line.dtype is DTYPES[plan.dtype]

    def near_line(line: Any) -> bool:
        return plan.near_lines and is_own(line)

    if plan.one_place:
        at_place: list[Line] = [LineAtPlace(line, share, keep) for line in lines]
        at_place = lines_near(at_place, [near_line(line) for line in lines], smem, begun)
        return lambda _, row: [KeptLine(line, row) for line in at_place]
    if plan.shifted:
        groups = _groups(lines)
        last = len(groups) - 1
        tables = [LineTable(group, plan, smem, begun if i == last else lambda: None) for i, group in enumerate(groups)]
        return lambda share, _: [
            ShiftedLine(table, share, number) for table in tables for number in range(len(table.lines))
        ]
    kept: list[Line] = [
        Line(vectors_of(fx.get_iter(line) + share.offset * plan.width, plan), share, None, keep=keep,
             hint=plan.hints.line, dtype=line.dtype)
        for line in lines
    ]  # fmt: skip
    kept = lines_near(kept, [near_line(line) for line in lines], smem, begun)
    if not (plan.lines_ahead and all(is_own(line) for line in lines)):
        return lambda _, row: [KeptLine(line, row) for line in kept]
    memories = [smem.allocate(fx.Array[line.kind, coming_elements(plan), 128]).ptr for line in kept]

    def coming(_: Share, row: Any) -> list[Line]:
        copies = Copies()
        return [KeptLine(ComingLine(*pair, copies), row) for pair in zip(kept, memories, strict=True)]

    return coming


def kept_iterations(lines: Any, plan: RowPlan) -> int:
    """Return of how many iterations of a row registers hold these lines."""
    words = [-(-plan.width * plan.accesses * line.dtype.width // 32) for line in lines]
    return kept_line_iterations(plan, sum(words))


def lines_near(
    lines: list[Line], which: list[bool], smem: fx.SharedAllocator, begun: Callable[[], None]
) -> list[Line]:  # fmt: skip
    """Return the lines, some of them as `NearLine`; all of these come at once, since no load passes a store. ``begun``
    is called behind the first loads."""
    found = [NearLine(line, smem) if near else line for line, near in zip(lines, which, strict=True)]
    near = [line for line in found if isinstance(line, NearLine)]
    most = max((len(line.rest) for line in near), default=0)
    if not most:
        begun()
    for first in range(0, most, NEAR_AT_ONCE):
        parts = [(line, line.rest[first : first + NEAR_AT_ONCE]) for line in near]
        loaded = [line.loaded_far(iterations) for line, iterations in parts]
        if first == 0:
            begun()
        for (line, iterations), vectors in zip(parts, loaded, strict=True):
            line.keep_near(iterations, vectors)
    return found


NEAR_AT_ONCE = 8
"""Vectors of each line that a thread has on their way to shared memory."""


class NearLine(Line):
    """A line of which registers have some iterations, and shared memory the others. Each thread reads what it wrote."""

    def __init__(self, line: Line, smem: fx.SharedAllocator) -> None:
        super().__init__(line.vectors, line.share, None, keep=0, hint=line.hint, dtype=line.dtype, held=line.held)
        plan = line.share.plan
        self.rest = range(len(line.held), plan.iterations)
        count = max(len(self.rest), 1) * plan.lanes * plan.accesses
        memory = smem.allocate(fx.Array[self.kind, count * plan.width, 128]).ptr
        self.places = vectors_of(memory, plan, count)
        self.line = line

    def loaded_far(self, iterations: Iterable[int]) -> list[Any]:
        return [self.line._load(iteration, self.line.hint) for iteration in iterations]

    def keep_near(self, iterations: Iterable[int], vectors: list[Any]) -> None:
        for iteration, vector in zip(iterations, vectors, strict=True):
            access, near = self._access(iteration)
            access.fragment.store(vector)
            for place, register in near:
                fx.copy_atom_call(access.atom, register, place)

    def _access(self, iteration: int) -> tuple[Access, list[Any]]:
        return slot_access(self.share, self.places, iteration - self.rest.start, self.kind)

    def _load(self, iteration: int, hint: Hint | None) -> Any:
        access, near = self._access(iteration)
        for place, register in near:
            fx.copy_atom_call(access.atom, place, register)
        return access.fragment.load()


def slot_access(share: Share, slots: Any, slot: int, dtype: Any) -> tuple[Access, list[Any]]:
    """Return this thread's access to a slot of shared memory for an iteration, and its places and registers."""
    plan = share.plan
    access = Access(plan, slots, dtype, None)
    places = [share.vector(slot * plan.accesses + number) for number in range(plan.accesses)]
    return access, [pair for number, vector in enumerate(places) for pair in access.pairs(vector, number)]


@dataclass
class Copies:
    """How many groups of asynchronous copies a thread has begun for a row."""

    begun: int = 0

    def wait_for(self, number: int) -> None:
        """Wait for a group: all but those that began behind it."""
        fx.nvvm.cp_async_wait_group(self.begun - 1 - number)


class ComingLine(Line):
    """A line of which registers have some iterations; the others come from L2 for every row, by copies to shared memory
    that are several iterations ahead. Each thread sends for what it reads itself, and waits for nobody."""

    def __init__(self, line: Line, memory: Any, copies: Copies) -> None:
        self.line, self.share, self.fill, self.hint, self.again_hint = line, line.share, None, line.hint, None
        self.dtype, self.held, self.copies, plan = line.dtype, line.held, copies, line.share.plan
        self.slots = vectors_of(memory, plan, plan.lanes * plan.accesses * (plan.lines_ahead + 1))
        bits = plan.width * self.kind.width
        self.atom = fx.make_copy_atom(fx.nvvm.CpAsync(bits, "cg" if bits == 128 else "ca"), self.kind)
        self.groups: dict[int, int] = {}
        for iteration in range(len(self.held), min(len(self.held) + plan.lines_ahead, plan.iterations)):
            self._send_for(iteration)

    def _slot(self, iteration: int) -> tuple[Access, list[Any]]:
        number = (iteration - len(self.held)) % (self.share.plan.lines_ahead + 1)
        return slot_access(self.share, self.slots, number, self.kind)

    def _send_for(self, iteration: int) -> None:
        share, plan = self.share, self.share.plan
        if iteration >= plan.iterations:
            return
        for number, (place, _) in zip(share.accesses(iteration), self._slot(iteration)[1], strict=True):
            vector = (
                share.vector(number) if share.inside(number) is True else fx.min(share.vector(number), share.here - 1)
            )
            fx.copy_atom_call(self.atom, self.line.vectors[None, vector], place)
        fx.nvvm.cp_async_commit_group()
        self.groups[iteration] = self.copies.begun
        self.copies.begun += 1

    def _load(self, iteration: int, hint: Hint | None) -> Any:
        self.copies.wait_for(self.groups[iteration])
        access, near = self._slot(iteration)
        for place, register in near:
            fx.copy_atom_call(access.atom, place, register)
        self._send_for(iteration + self.share.plan.lines_ahead)
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
        return self._wide(vector) if iteration >= len(self.held) else widened_again(vector, nothing)


def _groups(lines: Any) -> list[list[Any]]:
    """Lines that lie together in a table: two of 16 bits are read as one word."""
    pair = len(lines) > 1 and all(line.dtype.width == 16 for line in lines[:2]) and lines[0].dtype is lines[1].dtype
    return [list(lines[:2]), *([line] for line in lines[2:])] if pair else [[line] for line in lines]


class LineTable:
    """The block's part of a line, or of two, in shared memory, with what a shift may need before it.

    First come the elements 0, ``width``, … then 1, ``width + 1``, …: neighbouring lanes, which are ``width`` elements
    apart, read neighbouring places at any shift.
    """

    def __init__(self, lines: list[Any], plan: RowPlan, smem: fx.SharedAllocator, begun: Callable[[], None]) -> None:
        """``begun`` is called behind all loads."""
        self.plan, self.lines, self.groups, self.dtype = plan, lines, plan.share + 1, lines[0].dtype
        self.word = self.dtype if len(lines) == 1 else fx.Int32
        self.memory = smem.allocate(fx.Array[self.word, table_elements(plan), 128]).ptr
        self._fill(begun)

    def words(self, vectors: list[Any]) -> Any:
        """Elements of each line, as they lie in the table."""
        if len(vectors) == 1:
            return vectors[0]
        mixed = [vector[element] for element in range(self.plan.width) for vector in vectors]
        return fx.Vector.from_elements(mixed, self.dtype).bitcast(fx.Int32)

    @flyc.jit
    def _fill(self, begun: Callable[[], None]) -> None:
        plan, share = self.plan, Share(self.plan)
        starts = [fx.get_iter(line) for line in self.lines]
        iterations, whole = -(-self.groups // plan.lanes), plan.length // plan.width
        found = []
        for iteration in fx.range_constexpr(iterations):
            # Threads beyond the line load some of it: behind a branch, a wave would wait for one load before it begins
            # another. RMSNorm of 120,001 bf16 has 0.97 of a copy's speed so, and had 0.955 (H200, 2026-11-18).
            group = fx.Int32(share.offset) + fx.thread_idx.x + iteration * plan.lanes - 1
            inside = fx.max(fx.min(group, fx.Int32(whole - 1)), fx.Int32(0))
            accesses = [Access(plan, vectors_of(start, plan, whole), self.dtype, plan.hints.line) for start in starts]
            for access in accesses:
                for memory, register in access.pairs(inside, 0):
                    fx.copy_atom_call(access.atom, memory, register)
            found.append(accesses)
        begun()
        for iteration in fx.range_constexpr(iterations):
            group = fx.thread_idx.x + iteration * plan.lanes
            line = fx.Int32(share.offset) + group - 1
            inside = [(line >= 0) & (line < whole)] * plan.width
            vectors = [picked(access.fragment.load(), inside, 0.0, self.dtype) for access in found[iteration]]
            words = self.words(vectors)
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
