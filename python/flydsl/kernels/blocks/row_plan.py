"""A plan of a row kernel: how rows are spread over a device, and what of a multiprocessor it needs.

Every plan is one of a few kinds, and the kinds differ in numbers only: how many lanes hold a row, how many rows a
block has, how many blocks of a cluster share a row, and whether rows pass through shared memory. `row_time.py` says
what a launch is expected to take; `row_choice.py` takes the fastest plan. docs/rows.md states it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd
from typing import Any

import flydsl.expr as fx
from flydsl.kernels.blocks.cache_hints import PLAIN, RowHints
from flydsl.kernels.blocks.row_machine import HOPPER, Machine

ACCESS_BYTES = 16
"""The widest access, and what rows must begin at a multiple of to be reached by it."""
SECTOR = 32
"""Bytes that memory reads and writes at once."""
LEAST_ACCESS = 4
"""Bytes that neighbouring lanes reach side by side as fast as 16, where a wave has no other rows."""
MOST_NARROW = 8192
"""Bytes of a row up to which that is known."""
LEAST_PIECES = 3
"""Of a row that is loaded by pieces, so that one in its middle is in its memory as a whole."""
DTYPES: dict[str, Any] = {"f32": fx.Float32, "f16": fx.Float16, "bf16": fx.BFloat16}
BARRIERS = 16
"""Bytes of the two barriers of a ring's slot."""
QUARTERS = 4
"""Of a multiprocessor, each with registers of its own for the waves that it has."""
UNUSED = {4: 12, 8: 12, 16: 20}
"""Multiprocessors of an H200 that have nothing to do, by the blocks of a cluster: the driver says how many fit."""
MAX_KEPT = 16
"""Elements of a row, or of a line, that a thread keeps beside sums of as many columns."""
LINE_REGISTERS = 32 * 1024
"""Registers of a multiprocessor that lines may take which go with every row of a ring: half of them."""
STRAIGHT = 32
"""Registers that a thread needs beside where nothing of a row is masked and it has more than four vectors: LayerNorm of
16,792 f16 with five some 190, of 16,791 160."""
MOST_WIDE, WIDE_LINES = 32, 12
"""Elements of a line that a thread keeps as f32 at most, and registers that it has to have beside: LayerNorm's gradient
of 50,257 and 4,097 bf16, with 32 and 24, has 0.91 and 0.93 of a copy's speed so on an H200 (2026-11-19), and 0.89 and
0.905 with its own 16 bits, of 40,001, with 40, 0.93 and 0.945."""
SENDING = 40
"""Registers that a thread of a warpgroup which sends for rows keeps."""
THREAD_LINE_REGISTERS, RING_REGISTERS = 88, 80
"""Those of a thread: with 112, one of 168 had to spill; and what it needs beside them where it may have more."""
FEW_LINES, EARLY_LINES, EARLY_THREADS = 16, 128, 128
"""Elements of lines that a thread keeps beside its row; and bytes of those of rows that threads of small blocks load
straight from memory, 16 bytes at once: LayerNorm of 112, 168 and 248 elements of 16 bits has 1.00, 1.03 and 1.04 of a
copy's speed so on an H200 (2026-11-18), and 0.96, 1.01 and 1.01 where lines come when the row is summed, RMSNorm of
1,000 and 2,000 1.04 and 1.06, and 1.02 and 1.03; LayerNorm of 1,600, with 224 bytes, 0.95 and 1.03, and RMSNorm of
18,584 by 512 threads, of which there is place for one block less then, 0.78."""
RUN_BYTES = 80_000
"""Bytes that a multiprocessor would move in the time that a block with a ring loses where it goes on to rows of another
place (`run_rows`)."""
SENT_FIRST = 48_000
"""Bytes of a multiprocessor's part of a row from which on lines are sent for before a second one: LayerNorm of 122 rows
of 251,412 bf16, 150 of 200,001 and 600 of 51,001 f16, with 61, 48 and 49 KB, has 0.89, 0.91 and 0.94 of a copy's speed
so on an H200 (2026-11-19), and 0.87, 0.90 and 0.915 otherwise; of 490 of 65,001, with 31 KB, 0.94 and 0.97."""
READ_AHEAD, READ_REGISTERS = 4, 48
"""Vectors of a row that is only read, and not kept, that a thread has on their way, and its registers."""


@dataclass(frozen=True)
class RowTask:
    """What a kernel does with rows, as far as plans depend on it; `RowPlan` has the same names."""

    sources: int = 1
    targets: int = 1
    sums: int = 0
    once: bool = False

    @property
    def fields(self) -> dict[str, Any]:
        return vars(self)


MAP = RowTask()
"""A matrix in, a matrix out."""


@dataclass(frozen=True)
class RowPlan:
    """Rows of ``length`` elements: ``rows`` of them in a block, ``lanes`` threads each, or one in a cluster of blocks.

    A thread moves ``width`` elements at once. ``staged`` rows pass through shared memory, so that memory is reached in
    pieces of 16 bytes wherever rows begin. What is not kept (``keep``) in registers is loaded again when it is needed.
    """

    length: int
    dtype: str
    width: int
    lanes: int
    rows: int = 1
    cluster: int = 1
    staged: bool = False
    keep: bool = True
    bulk: bool = False
    """Whether a single thread sends for the tiles of staged rows, and sends them back."""
    hints: RowHints = PLAIN
    sources: int = 1
    """Matrices that are read row by row, and those that are written."""
    targets: int = 1
    sums: int = 0
    """Sums over all rows that a thread keeps of each of its elements, as f32."""
    once: bool = False
    """Whether the kernel goes over a row a single time, so that nothing is loaded again."""
    stages: int = 0
    """Tiles that are in shared memory or on their way there: blocks then stay and take one tile after the other."""
    turns: int = 1
    """Rows of such a tile that a thread takes one after the other, so that what a tile takes by itself counts less; or
    rows that it loads at once, so that lines are loaded for several."""
    spread: int = 1
    """How far apart in a tile the rows are that a wave has at once, so that its lanes reach other banks."""
    relays: int = 1
    """How many times as many blocks that keep lines there are as have place at once: multiprocessors have different
    shares of the memory, and those that are done earlier take more of them."""
    slots: int = 0
    """Chunks of a row that shared memory has place for (`row_ring.py`): blocks stay, and chunks come all the time."""
    chunks: int = 1
    """Into how many chunks a block's part of a row is cut at most."""
    crowd: int = 1
    """How many blocks with such rings, or with rows that come early and no sums, a multiprocessor has."""
    pieces: bool = False
    """Whether threads load and store the pieces of 16 bytes that a row lies in, wherever it begins in the first."""
    one_place: bool = False
    """Whether all rows of a block with a ring begin at one place in a piece, so that lines stay in registers; or rows
    of one place follow each other, and what columns are summed to is written before those of another one."""
    in_order: bool = False
    """Whether such blocks take rows in their order nevertheless: so many that all of a block's begin alike."""
    near_lines: bool = False
    """Whether what registers do not hold of lines is in shared memory beside a ring; else L2 gives it every row."""
    into_registers: bool = False
    """Whether the first pass over a row of a ring takes it into registers, so that its slots are free before the
    second one."""
    early: bool = False
    """Whether blocks that stay load their next rows into registers while they compute on those before."""
    lines_ahead: int = 0
    """Iterations of lines, where neither registers nor shared memory have all of them, that are on their way from L2 to
    a ring's threads."""
    lends: bool = False
    """Whether it is a warpgroup that sends for rows, which lends its registers to the waves that take them."""
    overlaps: bool = False
    """Whether the first pass over a row of a ring comes before the second over the row ahead of it, so that nobody
    waits for what a cluster's waves tell each other."""
    words: bool = False
    """Whether whole waves reach longer rows by accesses of 8 bytes, as they do short ones."""
    few: bool = False
    """Whether it is for few rows, which wait for one thread's instructions: lines are loaded before the row is waited
    for, and what lanes tell each other takes as few steps as can be."""

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return DTYPES[self.dtype].width // 8

    @property
    def threads(self) -> int:
        """Of a block; a ring has a wave more, which sends for chunks, or four, but where waves have a row each."""
        beside = self.slots > 0 and self.rows == 1
        return self.lanes * self.rows + (HOPPER.wave * (QUARTERS if self.lends else 1) if beside else 0)

    @property
    def shifted(self) -> bool:
        """Whether vectors are the pieces of 16 bytes that a row lies in, wherever it begins in the first of them."""
        return (self.slots > 0 or self.pieces) and self.length % self.width > 0

    @property
    def by_elements(self) -> bool:
        """Whether threads take elements from a ring one by one, neighbouring lanes neighbouring ones."""
        return self.slots > 0 and self.width * self.size < ACCESS_BYTES

    @property
    def anywhere(self) -> bool:
        """Whether rows may begin anywhere in a piece of 16 bytes, and come by pieces nevertheless."""
        return self.shifted or self.by_elements

    @property
    def vectors(self) -> int:
        return -(-(self.length + self.width - 1) // self.width) if self.shifted else self.length // self.width

    @property
    def share(self) -> int:
        """Vectors of a row that a block has at most."""
        return -(-self.vectors // self.cluster)

    @property
    def accesses(self) -> int:
        """Accesses whose elements are computed on together, as one vector."""
        return min(ACCESS_BYTES // self.size // self.width, -(-self.share // self.lanes))

    @property
    def iterations(self) -> int:
        return -(-self.share // (self.lanes * self.accesses))

    @property
    def held(self) -> int:
        """Elements of a row that a thread has."""
        return self.iterations * self.accesses * self.width

    @property
    def taken(self) -> int:
        """Elements of a row that a thread computes on: none of those that are beyond it for all lanes."""
        return min(-(-self.share // self.lanes) * self.width, self.held)

    @property
    def tile_rows(self) -> int:
        """Rows that a block has at once."""
        return self.rows * self.turns

    def row_in_tile(self, group: Any, turn: int) -> Any:
        """Return which row of a tile the ``group``-th lanes of a block take in their ``turn``-th turn."""
        if self.spread == 1:
            return group + turn * self.rows
        together = HOPPER.wave // self.lanes
        step = group // together + turn * (self.rows // together)
        return (step // self.spread * together + group % together) * self.spread + step % self.spread

    @property
    def tile(self) -> int:
        """Elements of a source that a block has."""
        return self.tile_rows * (self.length if self.shifted and self.staged else self.share * self.width)

    @property
    def slides(self) -> bool:
        """Whether what a block has of a row may begin within a sector of memory, and lies so in a ring's slot too.
        Where a multiprocessor has several blocks, the instructions for that take longer than it spares."""
        within = self.length * self.size % SECTOR > 0 or (self.cluster > 1 and self.share % 2 > 0)
        return self.slots > 0 and self.crowd == 1 and within

    @property
    def chunk_iterations(self) -> int:
        return -(-self.iterations // self.chunks)

    @property
    def parts(self) -> int:
        """Into how many chunks a block's part of a row is really cut."""
        return -(-self.iterations // self.chunk_iterations)

    @property
    def chunk(self) -> int:
        """Elements of a source that a slot has place for; a piece more where the row may begin within one.

        Where a chunk is all that a block has of a row, lanes beyond it have no place.
        """
        piece = ACCESS_BYTES // self.size
        elements = self.chunk_iterations * self.lanes * self.accesses * self.width
        if self.by_elements:
            elements += piece
        elif self.parts == 1:
            elements = self.share * self.width
        return -(-(elements + piece) // (2 * piece)) * 2 * piece if self.slides else elements

    @property
    def apart(self) -> RowPlan | None:
        """A plan that spreads rows over as many blocks, for matrices whose rows begin at different places in a piece;
        None where this plan takes them."""
        if not self.shifted:
            return None
        width, keep = gcd(self.length, self.width), self.keep and not self.stays
        return replace(
            self, width=width, keep=keep, slots=0, chunks=1, crowd=1, one_place=False, pieces=False, near_lines=False,
            in_order=False, into_registers=False, overlaps=False, early=False, turns=1, lends=False, lines_ahead=0,
            staged=True, bulk=True, stages=2 if self.sums else self.stages,
        )  # fmt: skip

    @property
    def keeps_lines(self) -> bool:
        """Whether blocks that sum load their lines once: with their rows, or where elements are loaded one by one."""
        narrow = self.width * self.size < ACCESS_BYTES
        return self.sums > 0 and (self.keep or (narrow and self.held <= MAX_KEPT))

    @property
    def keeps_wide(self) -> bool:
        """Whether threads keep elements as the f32 that they compute on, and not as they lie in memory."""
        return self.keep and not (self.shifted and self.sums * self.held > MAX_KEPT)

    @property
    def one_pivot(self) -> bool:
        """Whether lanes know some elements of a row before they tell each other anything, and sums of squares about
        those lose no digits that matter: none that elements of 16 bits have."""
        if self.slots:
            return self.size == 2 and self.sources == 1 and not self.sums
        return self.cluster == 1 and not self.shifted and self.size == 2

    @property
    def pivots(self) -> int:
        """Rows of a ring whose first elements shared memory has for all blocks of a cluster."""
        return -(-self.slots // self.parts) + 1 if self.slots and self.one_pivot else 0

    @property
    def direct(self) -> bool:
        """Whether threads load and store the vectors of rows themselves, words at least at once, and keep them."""
        return self.keep and not (self.staged or self.shifted) and self.width * self.size >= LEAST_ACCESS

    def lines_early(self, lines: int) -> bool:
        """Return whether threads load so many lines before they wait for a row: few elements, or few wide accesses."""
        small = self.threads <= EARLY_THREADS and self.held * lines * self.size <= EARLY_LINES
        wide = self.direct and self.maps and self.width * self.size == ACCESS_BYTES
        return self.few or self.held * lines <= FEW_LINES or (small and wide)

    @property
    def narrow(self) -> bool:
        """Whether whole waves do so by accesses of 4 or 8 bytes, or halves of them that take rows in turn, with rows
        that a block has alone and that are short enough to have been measured."""
        short = (self.length * self.size <= MOST_NARROW or self.words) and self.cluster == 1
        whole = self.lanes >= HOPPER.wave or self.turns > 1
        return self.direct and self.width * self.size < ACCESS_BYTES and whole and short

    @property
    def maps(self) -> bool:
        """Whether one matrix is read and one written, and rows are gone over more than once: most was measured so."""
        return self.sources == self.targets == 1 and not (self.sums or self.once)

    @property
    def stays(self) -> bool:
        """Whether blocks take rows one after the other."""
        return bool(self.stages or self.sums or self.slots or self.early)

    @property
    def begins_ahead(self) -> bool:
        """Whether the first pass over a row of a ring comes before the second over the one ahead of it."""
        return self.overlaps or (self.sums > 0 and self.slots > 0)

    @property
    def lines_first(self) -> bool:
        """Whether a block with a ring sends for lines before it sends for a second row: where one keeps the memory busy
        until lines have come, which come behind what was sent for before them."""
        return self.crowd * self.sources * self.share * ACCESS_BYTES >= SENT_FIRST

    @property
    def run_rows(self) -> int:
        """How many rows a block could take in the time that it loses by going on to rows of another place."""
        moved = (self.sources + self.targets) * self.share * ACCESS_BYTES
        return -(-RUN_BYTES // moved) if self.sums else 1

    @property
    def counted(self) -> bool:
        """Whether ``crowd`` says how many blocks a multiprocessor has."""
        early = self.early and (self.pieces or not self.sums)
        return self.slots > 0 or early or (self.lines_stay and not self.sums) or (self.shifted and self.stages > 0)

    @property
    def passes(self) -> bool:
        """Whether rows are only read, once, and not kept: some vectors are on their way ahead of the one in hand."""
        return self.once and not (self.targets or self.keep or self.staged)

    @property
    def lines_stay(self) -> bool:
        """Whether blocks that stay take rows from shared memory, and keep lines in registers."""
        return self.stages > 0 and self.keep and not self.sums


# What it needs -------------------------------------------------------------------------------------------------------


def registers(plan: RowPlan, lines: int) -> int:
    """About how many registers a thread needs; a softmax keeps its powers as f32."""
    if plan.early and not plan.sums:
        # Beside the row and its lines, which are kept as they lie: the next row, and some vectors as f32.
        return -(-(48 + (2 + lines) * plan.held * plan.size // 4) // 8) * 8
    if plan.passes:
        # As the compiler is told: with fewer it has two vectors on their way, and not `READ_AHEAD` of them.
        return READ_REGISTERS if plan.threads <= 256 else 40 if plan.threads <= 512 else 32
    if plan.lines_stay:
        return -(-(32 + (1 + lines) * plan.taken) // 8) * 8
    if plan.sums and (plan.bulk or plan.early or plan.slots):
        return -(-_summing_registers(plan, lines) // 8) * 8
    if plan.stays:
        # A bound, no guess: blocks that stay must all be there at once.
        return min(64 if plan.sums * plan.held <= 8 and plan.held <= 32 else 128, 65536 // plan.threads)
    if not plan.keep:
        # Of two sources all vectors are on their way at once: 54 with three vectors of each, 72 to 79 with more.
        return (64 if plan.iterations <= 3 else 80) if plan.shifted and plan.sources > 1 else 32
    if plan.shifted and plan.once and not plan.targets:
        return -(-(24 + plan.held * plan.size // 4) // 8) * 8  # as they lie: 39 with five vectors of 16 bits
    held = plan.held * plan.sources * plan.turns
    if plan.narrow and held <= 32:
        return 16 + held
    if held <= 32:
        return 32 + held
    if plan.staged or plan.sources > 1:
        return int((1.5 if lines == 1 else 2) * held) + (16 if lines else 0)
    return int(1.15 * held) + (24 if lines > 1 else 18) if lines else held + 22


def _summing_registers(plan: RowPlan, lines: int) -> int:
    """Of a thread on Hopper that keeps sums of its columns: those, the next rows' vectors, the row's own as f32 and the
    lines. The compiler is told to take no more (`register_limit`)."""
    if plan.slots:
        # Lines as they lie; and masks of the row's ends. By what ptxas spills nothing with. Where no end of a row is in
        # the way, it has more vectors on their way: of rows that begin at pieces, if a thread has many.
        own = 64 if plan.sums == 1 else 60 if plan.size == 2 and plan.rows == 1 else 68 if plan.lends else 76
        own += STRAIGHT if not plan.shifted and plan.iterations > 4 else 0
        return own + (plan.sums * 4 + (0 if plan.near_lines else lines * plan.size)) * plan.held // 4
    ahead = plan.sources * plan.held * plan.size // 4 if plan.early else 0
    if plan.shifted and plan.staged:
        return 60 + (plan.sums + lines + (plan.sources if plan.keep else 0)) * plan.held
    if plan.shifted:
        own = plan.sources * plan.held if plan.keeps_wide else ahead
        base = 48 if plan.keeps_wide else 68 - 8 * plan.sums
        return base + plan.sums * plan.held + ahead + own + lines * plan.held * plan.size // 4
    own = (plan.sources + lines) * plan.held if plan.keep else 48 + (lines * plan.held if plan.keeps_lines else 0)
    return 30 + plan.sums * plan.held + ahead + own


def register_limit(plan: RowPlan, machine: Machine, lines: int) -> int:
    """Return what a thread may have so that as many blocks are there at once as `resident` says."""
    blocks = plan.crowd if plan.counted else max(resident(plan, machine, lines), 1)
    waves = -(-blocks * plan.threads // machine.wave // QUARTERS)  # of the fullest quarter
    return min(machine.registers // QUARTERS // (waves * machine.wave) // 8 * 8, 255)


def taking_limit(plan: RowPlan, machine: Machine, lines: int) -> int:
    """Return what a thread that takes rows may have: those of a warpgroup that sends are divided among others."""
    begin = register_limit(plan, machine, lines)
    if not plan.lends:
        return begin
    waves = -(-plan.crowd * plan.lanes // machine.wave // QUARTERS)
    lent = (begin - SENDING) * plan.crowd
    return min((begin * waves + lent) // waves // 8 * 8, 240)


def widens_lines(plan: RowPlan, machine: Machine, lines: int) -> bool:
    """Return whether threads that sum rows of a ring keep lines as f32, since they have registers for that: each
    element of a line is otherwise made f32 twice a row."""
    if plan.near_lines:
        return False
    more = lines * plan.held * (4 - plan.size) // 4
    return plan.held <= MOST_WIDE and registers(plan, lines) + more + WIDE_LINES <= taking_limit(plan, machine, lines)


def meeting_elements(plan: RowPlan) -> int:
    """Return of how many sums shared memory has place beside rows: those of all rows of a block meet there, and where
    rows begin anywhere those of a vector of each lane. A ring that all of a block's rows have come through has place
    itself (`meeting_iterations`)."""
    by_pieces = plan.shifted or plan.slots > 0
    if not plan.sums or (plan.rows == 1 and (plan.slots or not by_pieces)):
        return 0
    if by_pieces:
        return plan.lanes * plan.width * (plan.iterations * plan.rows if plan.rows > 1 else 1)
    return plan.rows * plan.length


def meeting_iterations(plan: RowPlan) -> int:
    """Return of how many vectors of each lane a block's sums meet at a time."""
    if not plan.slots:
        return 1
    return max(min(plan.slots * plan.chunk * plan.size // (4 * plan.lanes * plan.width), plan.iterations), 1)


def shared_bytes(plan: RowPlan, machine: Machine, lines: int = 0) -> int:
    """Shared memory of a block, with what the system takes."""
    sets = 4 if plan.begins_ahead else 2 if plan.slots else 1
    slots = 3 * 4 * plan.cluster * plan.rows * max(plan.lanes // machine.wave, 1) * sets
    tiles = plan.sources * max(plan.stages, 1) * (plan.tile * plan.size + 256) if plan.staged else 0
    summed = 4 * meeting_elements(plan)
    tables = lines if plan.shifted and plan.slots and not (plan.one_place or plan.sums) else 0
    table = tables * (ACCESS_BYTES * (plan.share + 1) + plan.size * plan.lanes + 128)
    near = lines * (near_line_bytes(plan, lines) + 128) if plan.near_lines else 0
    near += lines * (coming_elements(plan) * plan.size + 128) if plan.lines_ahead else 0
    ring = ring_bytes(plan) + BARRIERS * plan.rows * plan.slots + 256 if plan.slots else 0
    ring += ACCESS_BYTES * plan.pivots
    ring += edge_bytes(plan, machine) if plan.sums and plan.one_place else 0
    return 1024 + slots + tiles + summed + table + near + ring


def edge_bytes(plan: RowPlan, machine: Machine) -> int:
    """Return what a block has of shared memory for sums that move on (`row_sums.py`)."""
    groups = plan.iterations * plan.lanes // machine.wave
    return 4 * plan.sums * (groups + 1 + plan.width) + BARRIERS // 2 * plan.width


def coming_elements(plan: RowPlan) -> int:
    """Elements of a line that shared memory has place for where lines come for every row: those on their way, and an
    iteration that is being read."""
    return (plan.lines_ahead + 1) * plan.lanes * plan.accesses * plan.width


def kept_line_iterations(plan: RowPlan, words: int) -> int:
    """Return of how many iterations of a ring's rows registers hold the lines, which have so many words a vector."""
    if plan.sums:
        return 0 if plan.near_lines else plan.iterations
    most = min(LINE_REGISTERS // (plan.crowd * plan.lanes), THREAD_LINE_REGISTERS)
    most = max(most, register_limit(plan, HOPPER, 0) - RING_REGISTERS)
    return min(most // words, plan.iterations) if words else 0


def near_line_bytes(plan: RowPlan, lines: int) -> int:
    """Return what a block has of each line in shared memory where registers do not hold all."""
    rest = plan.iterations - kept_line_iterations(plan, lines * ACCESS_BYTES // 4)
    return rest * plan.lanes * ACCESS_BYTES


def resident(plan: RowPlan, machine: Machine, lines: int) -> int:
    """Blocks that a multiprocessor has at once."""
    if plan.slots:
        return plan.crowd if shared_bytes(plan, machine, lines) * plan.crowd <= machine.shared else 0
    if plan.counted:
        fits = register_limit(plan, machine, lines) >= registers(plan, lines)
        return plan.crowd if fits and shared_bytes(plan, machine, lines) * plan.crowd <= machine.shared else 0
    waves = -(-plan.threads // machine.wave)
    each = -(-registers(plan, lines) // 8) * 8
    by_registers = machine.registers // (waves * machine.wave * each)
    if plan.sums or plan.passes:
        # Exactly, since all blocks must be there at once: each quarter has registers for a whole number of waves.
        by_registers = QUARTERS * (machine.registers // QUARTERS // (machine.wave * each)) // waves
    return min(
        machine.blocks,
        machine.threads // (waves * machine.wave),
        by_registers,
        machine.shared // shared_bytes(plan, machine, lines),
    )


def ring_places(plan: RowPlan, machine: Machine) -> int:
    """Return how many blocks with rings, or clusters of them, the machine has at once."""
    places = max((machine.processors - UNUSED.get(plan.cluster, 0)) * plan.crowd // plan.cluster, 1)
    return places // plan.width * plan.width if plan.in_order else places


def ring_bytes(plan: RowPlan) -> int:
    """Shared memory of the slots of all sources."""
    return plan.rows * plan.slots * plan.sources * plan.chunk * plan.size
