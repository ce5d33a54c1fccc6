"""How the Hopper GEMM is built for a product: kinds, configurations, and problems."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, gcd
from typing import Any

import flydsl.expr as fx
from flydsl.kernels.blocks.activation import GATES

WARPGROUP = 128
WARP_ROWS = 16
"""Rows of a block of 64 that a warp has accumulators of."""
BLOCK_ROWS = 64
"""Rows of one wgmma."""
ROW_BYTES = 128
"""Bytes of a swizzled line of A and B: K of a stage, where K is contiguous."""
SHARED_BYTES = 232448
"""Shared memory of a block on Hopper."""
BARRIER_BYTES = 16
"""Of a stage: two barriers."""
MIN_STAGES, MAX_STAGES = 3, 24
MAX_BOX = 256
"""Rows of a copy by TMA, and columns of a wgmma."""
SCALED = 128
"""Columns of A, and rows and columns of B, that a scale of a block is for."""
LEAST_SHARE = 8
"""Columns of sums that a block adds up at least, if it does."""
SMALL = 8192
"""Results of a tile up to which blocks gain time of memory where they share the larger matrix."""
LINE_BYTES = 16
"""What addresses and lines are multiples of where TMA reads them, and where results leave in whole pieces."""
MOST_OF_THREE = 200
"""Columns of a wgmma where four warpgroups begin with 128 registers a thread: ptxas 12.9 wants 130 for 208."""
ACROSS_COLUMNS = 64, 32
"""Of a box of 64 rows that a warpgroup sends off across C's lines: two of 32 take the place of its warps' own."""
RUN = 2
"""Steps of K, 128 numbers of fp8 each, whose products tensor cores add up by themselves."""
LEAST_STEPS = 4
"""Steps of K that are added at once with scales of blocks, where results of the tile before leave meanwhile."""
FITTING_SUMS = {1: 256, 2: 96, 3: 64}
"""Warpgroups that multiply to the sums a thread has room for in its equal share of the registers."""
MOST_SUMS = {1: 192, 2: 192, 3: 128}
"""Those that it has room for where loading threads give up theirs."""


@dataclass(frozen=True)
class PackedKind:
    """How weights of four bits are written: ``int4`` or ``mxfp4``, and how many along K have a scale."""

    name: str
    group: int

    def groups_of(self, columns: int) -> int:
        """Scales of so many columns, at least one."""
        return max(columns // self.group, 1)


@dataclass(frozen=True)
class GemmKind:
    """What is multiplied: types, which mode of each matrix is contiguous, and what happens to the sums.

    Types and modes are the kernel's own: of a swapped product its A is the caller's B.
    Lines of C begin and end at multiples of ``piece_bytes``, up to 16: what a lane stores at once.
    """

    a: Any
    b: Any
    c: Any
    a_along_k: bool = True
    b_along_k: bool = True
    c_along_n: bool = True
    piece_bytes: int = 16
    batched: bool = False
    activation: str = "none"
    block_scaled: bool = False
    """Whether sums of 128 along K are scaled by numbers of 1 x 128 of A and 128 x 128 of B."""
    groups: int = 0
    """How many groups of rows there may be, a power of two of at least 32; 0 of a product without groups."""
    masked: bool = False
    """Whether each group has a matrix of its own, of which some rows are taken."""
    gathers: bool = False
    scatter: str = ""
    """Rows of C are those in order, or an index says which: ``"store"``, or ``"add"`` to what is there."""
    packed: PackedKind | None = None
    """Of a product whose A are weights of four bits."""
    quantises: bool = False
    """Whether C is fp8 with a scale for each 128 of a row: tiles that lie beside each other leave together."""
    weights_first: bool = False
    """Whether B and sizes of groups are older than the launch before, which need not have ended when B is loaded."""
    run: int = 0
    """Steps of K that tensor cores add up by themselves, before sums in f32 take them; 0, if those are all."""
    words: int = 0
    """Of how many bytes words are that threads copy of lines of A and B; 0, if TMA copies them."""

    @property
    def rows_are_apart(self) -> bool:
        """Whether a tile may begin at any row: nothing but its own products and scales depends on where it is."""
        return not (self.groups or self.packed or self.quantises or self.columns_of_one > 1)

    def columns_are_apart(self, config: GemmConfig) -> bool:
        """Return whether a tile may begin at any sixteenth column: of blocks with scales it is prepared for two."""
        return self.rows_are_apart and (config.scaled_alike <= 16 or not self.block_scaled)

    @property
    def columns_of_one(self) -> int:
        """Columns of the product that a column of C is made of."""
        return 2 if self.activation in GATES else 1

    @property
    def piece(self) -> int:
        """Elements of C that a lane stores at once."""
        return 8 * self.piece_bytes // self.c.width

    @property
    def size(self) -> int:
        """Bytes of an element of A and B."""
        return self.a.width // 8

    @property
    def bk(self) -> int:
        """K of a stage."""
        return ROW_BYTES // self.size

    @property
    def can_send_across(self) -> bool:
        """Whether 64 rows of the product are 128 bytes of a line of C."""
        lines = not self.c_along_n and self.c.width * BLOCK_ROWS == 8 * ROW_BYTES and self.piece_bytes == LINE_BYTES
        other = self.groups or self.block_scaled or self.packed or self.quantises or self.columns_of_one > 1
        return lines and not other

    @property
    def maps_a(self) -> bool:
        """Whether TMA copies boxes of A."""
        return not (self.gathers or self.words or self.packed)

    @property
    def acc(self) -> Any:
        return fx.Int32 if self.a.is_integer else fx.Float32


@dataclass(frozen=True)
class GemmConfig:
    """Extents of a block's tile, warpgroups that multiply, stages of the ring, and what a cluster's blocks share.

    ``along`` says how they lie: below each other ("m", sharing B), beside each other ("n", sharing A), two beside each
    other and the rest below ("mn"), or two below each other and the rest beside ("nm"), sharing both, or one behind the
    other ("k", each with a part of K of the same tile). ``band`` is how many rows of clusters share an L2 window.
    ``swapped`` gives the kernel the caller's B as its A and C transposed, so that few rows become few columns.
    ``taking_turns`` gives each warpgroup a tile of its own: one multiplies while the other stores. Of ``staggered``
    blocks each begins at another place of K, so that they do not all ask memory for the same columns at once.
    ``behind`` is in how many parts K is where the others of a cluster share tiles. ``streams`` names the matrix, "a" or
    "b", that L2 lets go first, if the other one is so small that it can stay, or "once": B of groups with one tile.
    ``sends`` lets boxes of results leave by TMA, 128 bytes of each of a warp's rows; across C's lines, boxes of 64 rows
    of a warpgroup and ``sends_across`` columns. ``teams`` of warpgroups have all rows of a tile each and take
    steps of K by turns, so that one unpacks weights while another waits. Where runs of K are added up, or blocks have
    scales, ``defers`` lets results of a tile leave while the first products of the next one are made.
    A tile may have fewer rows than its warpgroups multiply: then memory decides, and rows divide among the blocks.
    ``draws`` lets a block take the next tile of groups when it has sent for all of its last one, so that tiles that lie
    beside each other are computed at the same time, however long others took; the last ones are halves. ``box_line``
    is how many bytes of a row of C a warp stores at once. Two warpgroups ``beside`` each other have half of a tile's
    columns each, and all of its 64 rows.
    """

    tile_m: int = 128
    tile_n: int = 256
    consumers: int = 2
    stages: int = 4
    cluster: int = 1
    along: str = "m"
    band: int = 8
    swapped: bool = False
    taking_turns: bool = False
    staggered: bool = False
    sends: bool = False
    sends_across: int = 0
    teams: int = 1
    behind: int = 1
    streams: str = ""
    defers: bool = False
    draws: bool = False
    box_line: int = ROW_BYTES
    beside: bool = False

    def sharing(self, mode: str) -> int:
        """Return how many blocks of a cluster lie along a mode."""
        if mode == "k" and self.along != "k":
            return self.behind
        if mode not in self.along:
            return 1
        return self.cluster // self.behind // len(self.along) if self.along[0] == mode else len(self.along)

    @cached_property
    def sharers(self) -> int:
        """Blocks of a cluster that share tiles, whose ranks follow each other."""
        return self.sharing("m") * self.sharing("n")

    @cached_property
    def splits(self) -> int:
        """In how many parts K is."""
        return self.sharing("k")

    @cached_property
    def shared_columns(self) -> int:
        """Columns whose sums a warpgroup stores: of parts of K as few as it takes, the same number in each block."""
        return ceildiv(self.own_columns // LEAST_SHARE, self.splits) * LEAST_SHARE

    @cached_property
    def sharing_blocks(self) -> int:
        """Blocks with a part of K that have a share of the columns of sums: of narrow tiles not all of them."""
        return ceildiv(self.own_columns, self.shared_columns)

    @property
    def shares_overlap(self) -> bool:
        """Whether the last share is moved back to end with the tile: two blocks store the same bits there."""
        return self.sharing_blocks * self.shared_columns > self.own_columns

    @property
    def l2_priorities(self) -> tuple[str | None, str | None]:
        """How long L2 keeps lines of A and of B; None leaves it to itself."""
        known = {"a": ("evict_first", "evict_last"), "b": ("evict_last", "evict_first")}
        return known.get(self.streams, (None, None))

    def store_boxes(self, kind: GemmKind) -> list[tuple[int, int]]:
        """Return the first column and the columns of C of each box of 16 rows that a warp sends off at once: lines of
        up to 128 bytes, of the rest of a tile shorter ones; where lines are C's columns, boxes of the same size."""
        columns, widest = self.shared_columns // kind.columns_of_one, self.box_line * 8 // kind.c.width
        each = widest if kind.c_along_n else gcd(columns, widest)
        return [(first, min(each, columns - first)) for first in range(0, columns, each)]

    def parts(self, kind: GemmKind) -> int:
        """Tiles beside each other that a block computes one after the other, and whose results leave together."""
        return SCALED * kind.columns_of_one // self.tile_n if kind.quantises else 1

    @property
    def boxes(self) -> int:
        """Places of a warp for results that leave."""
        return 2 if self.sends else max(self.sends_across // ACROSS_COLUMNS[-1], 1)

    @property
    def warps(self) -> int:
        """Warps that store."""
        return self.consumers // self.teams * WARPGROUP // 32

    @cached_property
    def of_tile(self) -> int:
        """Warpgroups that multiply a tile together."""
        return 1 if self.taking_turns else self.consumers // self.teams

    @property
    def may_idle(self) -> bool:
        """Whether a warpgroup multiplies nothing where all of its rows of a tile lie behind a group's end."""
        return self.of_tile > 1

    @property
    def halves_last(self) -> bool:
        """Whether some of the last tiles that are drawn are two each, of the rows of one warpgroup."""
        return self.draws and self.of_tile == 2 and self.tile_m == 2 * BLOCK_ROWS

    def drifts(self, problem: Problem) -> bool:
        """Return whether blocks do not stay at neighbouring tiles of groups: where a tile takes less time if a
        warpgroup has no rows, unless the other one waits for its products before the next ones, or for rows that are
        gathered. In turns every tile takes as long."""
        waits = self.products_apart == 1 if problem.block_scaled else self.adds_runs(problem)
        return problem.grouped and not (waits or problem.gathers) and self.may_idle

    @property
    def own_columns(self) -> int:
        """Columns of a tile that a warpgroup multiplies."""
        return self.tile_n // self.of_tile if self.beside else self.tile_n

    @cached_property
    def multiplied_rows(self) -> int:
        """Rows that the warpgroups of a tile multiply: those of the tile, and others that nobody stores."""
        whole = BLOCK_ROWS * (1 if self.beside else self.of_tile)
        return ceildiv(self.tile_m, whole) * whole

    @property
    def is_whole(self) -> bool:
        """Whether every row that is multiplied is one of the tile's."""
        return self.multiplied_rows == self.tile_m

    @property
    def threads(self) -> int:
        return (1 + self.consumers) * WARPGROUP

    @property
    def is_large(self) -> bool:
        """Whether products, and not memory, take the time of a tile."""
        return self.accumulators >= 64

    @property
    def is_small(self) -> bool:
        """Whether a tile's lines come sooner where blocks share them."""
        return self.tile_m * self.tile_n <= SMALL

    @cached_property
    def accumulators(self) -> int:
        """Registers of a thread that sums are in."""
        return self.multiplied_rows * self.tile_n // (self.of_tile * WARPGROUP)

    @property
    def halves(self) -> int:
        """In how many parts, by columns, products of blocks with scales are made: of tiles of 256 columns in two."""
        return 2 if self.own_columns == 2 * SCALED else 1

    @property
    def products_apart(self) -> int:
        """Steps whose products, before they are scaled, have registers of their own: two, or one of wide tiles."""
        return 2 if 3 * self.accumulators <= MOST_SUMS[self.consumers] else 1

    @property
    def scaled_alike(self) -> int:
        """Columns from a multiple of them in a tile on that always have one scale of B. Tiles of up to 144 columns, if
        they may have two, begin at any sixteenth."""
        own = self.own_columns
        return gcd(own, 16 if SCALED % own and own <= SCALED + 16 else SCALED)

    def parts_of_columns(self, kind: GemmKind) -> int:
        """In how many parts, by columns, products of a step are made: of blocks with scales, runs, and wide tiles."""
        return self.halves if kind.block_scaled or kind.run else 1 + self.is_wide

    @property
    def is_wide(self) -> bool:
        """Whether a product has too many columns for one instruction, as three warpgroups are compiled."""
        return self.consumers == 3 and self.tile_n > MOST_OF_THREE

    @property
    def suits_integers(self) -> bool:
        """Whether there are wgmma of integers with so many columns: 8, 24, or a multiple of 16."""
        return self.tile_n in (8, 24) or self.tile_n // (1 + self.is_wide) % 16 == 0

    def sums(self, block_scaled: bool, in_runs: bool = False) -> int:
        """Registers of a thread for sums: of a tile and, before they are scaled or added, of products of steps."""
        apart = self.products_apart if block_scaled else int(in_runs)
        return self.accumulators + apart * self.accumulators // self.halves

    def adds_runs(self, problem: Problem) -> bool:
        """Return whether a block's part of K is more than one of the problem's runs."""
        steps = ceildiv(ceildiv(problem.k * problem.size, ROW_BYTES), self.splits)
        return 0 < problem.run < steps

    def can_defer(self, problem: Problem) -> bool:
        """Return whether results of a tile may leave while the next one begins: both have registers before there are
        sums of the next one. It gained with two warpgroups, with three mostly not, and across C's lines not (13312 x
        384 x 1600 in tiles of 128 x 160 took 18.3 us, and 17.4 without), on an H200, 2026-11-17. With scales of blocks
        it gained in halves and with three, and not where two accumulators take turns; gates would spill."""
        alone = self.splits == 1 and not problem.quantises and not self.taking_turns
        if problem.block_scaled:
            one = self.products_apart == 1 and (self.halves > 1 or self.consumers == 3 or not problem.grouped)
            return alone and one and is_long(problem.k) and problem.columns_of_one == 1
        alone = alone and problem.c_along_n
        return self.adds_runs(problem) and problem.plain and alone and not self.is_small and self.consumers == 2

    def can_add_runs(self, gathers: bool) -> bool:
        """Return whether a thread has registers for products of a run beside its sums, of which threads that gather
        give up none, and nobody waits for a turn."""
        fits = self.sums(False, in_runs=True) <= (FITTING_SUMS if gathers else MOST_SUMS)[self.consumers]
        return fits and not self.taking_turns

    @property
    def can_scale(self) -> bool:
        """Whether blocks of 128 columns of B may have scales: a warpgroup has one block of rows, and registers, and a
        tile columns of two blocks at most."""
        own = self.own_columns
        fits = self.sums(True) <= MOST_SUMS[self.consumers] and own <= SCALED + gcd(own, SCALED)
        alone = self.consumers == 1 and self.products_apart == 1  # nobody multiplies while products are added
        return fits and not alone and self.multiplied_rows == BLOCK_ROWS * (1 if self.beside else self.consumers)

    def moves_registers(self, kind: GemmKind) -> bool:
        """Return whether sums leave too little of an equal share of the registers, so that loading threads give up
        theirs."""
        weights = 0 if kind.packed is None else 2 * 16  # two fragments
        shares = self.accumulators * self.shared_columns // self.tile_n if self.splits > 1 else 0
        return self.sums(kind.block_scaled, kind.run > 0) + weights + shares > FITTING_SUMS[self.consumers]

    @property
    def stage_bytes(self) -> int:
        return (self.tile_m + self.tile_n) * ROW_BYTES

    @property
    def other_bytes(self) -> int:
        """Shared memory beside the stages: boxes of C, sums of parts of K, rows that are not the tile's, alignment."""
        sums = 4 * self.multiplied_rows * (self.shared_columns * (self.splits - 1) + self.tile_n * (self.teams - 1))
        boxes = self.warps * self.boxes * WARP_ROWS * self.box_line
        return boxes + 1024 + sums + (self.multiplied_rows - self.tile_m) * ROW_BYTES

    def fitting_stages(self, more_bytes: int = 0, codes_of_one: int = 1) -> int:
        """As many as fit into shared memory, beside so many bytes more; A may be codes, some in the place of a number
        of B."""
        left, rows = SHARED_BYTES - self.other_bytes - more_bytes, self.tile_m // codes_of_one + self.tile_n
        return min(left // (rows * ROW_BYTES + BARRIER_BYTES), MAX_STAGES)


# Problems ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """A product as the caller has it: C is (m, n); the kernel may be given it swapped. Sizes are bytes, widths bits.

    Lines of A and B start at multiples of ``line_bytes``, up to 128; those of C are
    ``c_aligned`` if they are multiples of 16. One column of C is made of ``columns_of_one`` of the product.
    """

    m: int
    n: int
    k: int
    batches: int = 1
    size: int = 2
    a_along_k: bool = True
    b_along_k: bool = True
    c_width: int = 16
    c_along_n: bool = True
    line_bytes: int = ROW_BYTES
    columns_of_one: int = 1
    block_scaled: bool = False
    grouped: bool = False
    packed: bool = False
    quantises: bool = False
    gathers: bool = False
    c_aligned: bool = True
    run: int = 0
    """Steps of K after which sums in f32 take what tensor cores added up; 0, if those add up all."""
    integer: bool = False
    """Whether numbers are integers, whose wgmma have columns in sixteens."""
    adds: bool = False
    """Whether D, which may be C, is added: no result may be written twice."""
    words: int = 0
    """Of how many bytes words are that threads copy of lines of A and B; 0, if TMA copies them."""

    @property
    def straddles(self) -> bool:
        """Whether lines of A or B lie across cache lines."""
        return self.line_bytes < ROW_BYTES

    @property
    def plain(self) -> bool:
        """Whether nothing but products depends on where in K, or in which group, a tile is."""
        return not (self.block_scaled or self.packed or self.grouped)

    def can_send(self, config: GemmConfig) -> bool:
        """Return whether results may leave by TMA, in boxes of 128 bytes of each of a warp's rows."""
        line = config.shared_columns // self.columns_of_one * self.c_width
        ordered = not (self.packed or self.quantises) and self.c_along_n and self.c_aligned
        return ordered and config.is_whole and line >= 8 * ROW_BYTES

    def can_send_across(self, config: GemmConfig) -> bool:
        """Return whether results may leave by TMA across C's lines, 64 rows of a warpgroup as lines of 128 bytes, and
        gain by it. 64 x 4032 x 512 in tiles of 64 x 32 took 4.0 us so and 3.6 in pieces, 2560 x 128 x 5312 in two parts
        of 64 x 96 11.1 and 10.9, on an H200, 2026-11-17."""
        lines = self.c_aligned and not self.c_along_n and self.c_width * BLOCK_ROWS == 8 * ROW_BYTES
        large = config.is_whole and config.splits == 1 and not config.is_small
        return lines and self.plain and self.columns_of_one == 1 and large

    def clusters(self, config: GemmConfig) -> int:
        """Tiles of clusters; of groups of unknown size that are larger than a tile, half a tile each is not used."""
        rows, columns = (config.tile_m * config.sharing("m"), config.tile_n * config.sharing("n"))
        along_m = self.batches * ceildiv(self.m, rows)
        if self.grouped and self.m >= 2 * rows:
            along_m = ceil(self.batches * (self.m / rows + 0.5))
        return along_m * ceildiv(self.n, columns)

    @property
    def orders(self) -> tuple[bool, ...]:
        """Whether operands may be given as they are, swapped, or both."""
        if self.packed:
            return (True,)
        return (False, True) if self.columns_of_one == 1 and not (self.block_scaled or self.grouped) else (False,)

    @property
    def moved(self) -> int:
        """Bytes that go through memory at least once."""
        written = self.c_width // 8 * self.m * self.n // self.columns_of_one
        each = self.size * self.k * (self.m / self.codes_of_one + self.n) + written
        return int(self.batches * each)

    @property
    def codes_of_one(self) -> int:
        """Weights in the place of a number of the other matrix; they are the kernel's A."""
        return self.size * 2 if self.packed else 1

    @property
    def swapped(self) -> Problem:
        """The same product with operands exchanged."""
        return replace(self, m=self.n, n=self.m, a_along_k=self.b_along_k, b_along_k=self.a_along_k,
                       c_along_n=not self.c_along_n)  # fmt: skip


def is_long(k: int) -> bool:
    """Return whether K has the steps that are added at once where results of blocks with scales leave later."""
    return ceildiv(k, SCALED) >= LEAST_STEPS


def ceildiv(a: int, b: int) -> int:
    return -(-a // b)
