"""A plan of a row kernel: how rows are spread over a device.

Every plan is one of a few kinds, and the kinds differ in numbers only: how many lanes hold a row, how many rows a
block has, how many blocks of a cluster share a row, and whether rows pass through shared memory. `row_resources.py`
says what of a multiprocessor it needs, `row_time.py` what a launch is expected to take; `row_choice.py` takes the
fastest plan. docs/rows.md states it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd
from typing import Any

import flydsl.expr as fx
from flydsl.kernels.blocks.cache_hints import PLAIN, RowHints
from flydsl.kernels.blocks.row_machine import HOPPER

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
QUARTERS = 4
"""Of a multiprocessor, each with registers of its own for the waves that it has."""
MAX_KEPT = 16
"""Elements of a row, or of a line, that a thread keeps beside sums of as many columns."""
FEW_LINES, EARLY_LINES, EARLY_THREADS = 16, 160, 128
"""Elements of lines that a thread keeps beside its row; and bytes of those of rows that threads of small blocks load
straight from memory, 8 or 16 bytes at once: LayerNorm of 112, 168 and 248 elements of 16 bits has 1.00, 1.03 and 1.04
of a copy's speed so on an H200 (2026-11-18), and 0.96, 1.01 and 1.01 where lines come when the row is summed, RMSNorm
of 1,000 and 2,000 1.04 and 1.06, and 1.02 and 1.03; LayerNorm of 304 and 584, with 160 bytes, takes 0.97 and 0.965 of
the time; but LayerNorm of 696, with 192 bytes, has 0.96 of the speed, of 1,600, with 224, 0.95 and 1.03, and RMSNorm of
18,584 by 512 threads, of which there is place for one block less then, 0.78."""
RUN_BYTES = 80_000
"""Bytes that a multiprocessor would move in the time that a block with a ring loses where it goes on to rows of another
place (`run_rows`)."""
SENT_FIRST = 48_000
"""Bytes of a multiprocessor's part of a row from which on lines are sent for before a second one: LayerNorm of 122 rows
of 251,412 bf16, 150 of 200,001 and 600 of 51,001 f16, with 61, 48 and 49 KB, has 0.89, 0.91 and 0.94 of a copy's speed
so on an H200 (2026-11-19), and 0.87, 0.90 and 0.915 otherwise; of 490 of 65,001, with 31 KB, 0.94 and 0.97."""
READ_AHEAD = 4
"""Vectors of a row that is only read, and not kept, that a thread has on their way."""


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
        wide = self.direct and self.maps and (self.width * self.size == ACCESS_BYTES or self.halved)
        return self.few or self.held * lines <= FEW_LINES or (small and wide)

    @property
    def halved(self) -> bool:
        """Whether threads reach a row by 8 bytes at once where they could by 16."""
        return 2 * self.width * self.size == ACCESS_BYTES and self.length % (2 * self.width) == 0 and self.turns == 1

    @property
    def idle(self) -> float:
        """Accesses of lanes for which a row has no elements, over those that it takes: 13 / 51 for four of 16 lanes."""
        return -(-self.share // self.lanes) * self.lanes / self.share - 1

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
    def once_in_code(self) -> bool:
        """Whether both passes over rows that are summed stand in a kernel once, in a loop that has a round more than
        rows. Otherwise a first pass stands ahead of the loop too and a second one behind it, and such code comes from
        memory for one row, which takes longer the longer it is: LayerNorm's gradient of 255,393 bf16 has 0.82 of a
        copy's speed with it once on an H200 (2026-11-19), and 0.785 otherwise; of 50,257, 0.895 and 0.92."""
        return self.sums > 0 and self.near_lines

    @property
    def passes(self) -> bool:
        """Whether rows are only read, once, and not kept: some vectors are on their way ahead of the one in hand."""
        return self.once and not (self.targets or self.keep or self.staged)

    @property
    def lines_stay(self) -> bool:
        """Whether blocks that stay take rows from shared memory, and keep lines in registers."""
        return self.stages > 0 and self.keep and not self.sums
