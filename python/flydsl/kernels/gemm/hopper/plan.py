"""How the Hopper GEMM is built for a product: kinds, configurations, and a model of the time that they take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, gcd
from typing import Any

import flydsl.expr as fx
from flydsl.kernels.blocks.activation import ACTIVATIONS, GATES
from flydsl.kernels.gemm.hopper.power import slower_by_power

WARPGROUP = 128
WARP_ROWS = 16
"""Rows of a block of 64 that a warp has accumulators of."""
BLOCK_ROWS = 64
"""Rows of one wgmma."""
ROW_BYTES = 128
"""Bytes of a swizzled line of A and B: K of a stage, where K is contiguous."""
STORE_BYTES = 2048
"""Bytes of a box of C that a warp sends off: 16 rows of 128 bytes."""
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
LINE_BYTES = 16
"""What addresses and lines are multiples of where TMA reads them, and where results leave in whole pieces."""
FITTING_SUMS = {1: 256, 2: 96, 3: 64}
"""Warpgroups that multiply to the sums a thread has room for in its equal share of the registers."""


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

    @property
    def is_plain(self) -> bool:
        """Whether a tile may begin anywhere: nothing but products depends on where it is."""
        return not (self.block_scaled or self.groups or self.packed or self.quantises or self.columns_of_one > 1)

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
    def maps_a(self) -> bool:
        """Whether TMA copies boxes of A."""
        return not self.gathers and self.packed is None

    @property
    def acc(self) -> Any:
        return fx.Int32 if self.a.is_integer else fx.Float32


@dataclass(frozen=True)
class GemmConfig:
    """Extents of a block's tile, warpgroups that multiply, stages of the ring, and what a cluster's blocks share.

    ``along`` says how they lie: below each other ("m", sharing B), beside each other ("n", sharing A), or one behind
    the other ("k", each with a part of K of the same tile). ``band`` is how many rows of clusters share an L2 window.
    ``swapped`` gives the kernel the caller's B as its A and C transposed, so that few rows become few columns.
    ``taking_turns`` gives each warpgroup a tile of its own: one multiplies while the other stores. Of ``staggered``
    blocks each begins at another place of K, so that they do not all ask memory for the same columns at once.
    ``sends`` lets boxes of results leave by TMA. ``teams`` of warpgroups have all rows of a tile each and take steps of
    K by turns, so that one unpacks weights while another waits.
    A tile may have fewer rows than its warpgroups multiply: then memory decides, and rows divide among the blocks.
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
    teams: int = 1

    def sharing(self, mode: str) -> int:
        """Return how many blocks of a cluster lie along a mode."""
        return self.cluster if self.along == mode else 1

    @cached_property
    def splits(self) -> int:
        """In how many parts K is."""
        return self.sharing("k")

    @cached_property
    def sharing_blocks(self) -> int:
        """Blocks with a part of K that have a share of the columns of sums: of narrow tiles not all of them."""
        return gcd(self.tile_n // LEAST_SHARE, self.splits)

    @cached_property
    def shared_columns(self) -> int:
        """Columns whose sums a block stores."""
        return self.tile_n // self.sharing_blocks

    def store_boxes(self, kind: GemmKind) -> list[tuple[int, int]]:
        """Return the first column and the columns of C of each box of 16 rows that a warp sends off at once: lines of
        up to 128 bytes, of the rest of a tile shorter ones; where lines are C's columns, boxes of the same size."""
        columns, widest = self.shared_columns // kind.columns_of_one, ROW_BYTES * 8 // kind.c.width
        each = widest if kind.c_along_n else gcd(columns, widest)
        return [(first, min(each, columns - first)) for first in range(0, columns, each)]

    def parts(self, kind: GemmKind) -> int:
        """Tiles beside each other that a block computes one after the other, and whose results leave together."""
        return SCALED * kind.columns_of_one // self.tile_n if kind.quantises else 1

    @property
    def boxes(self) -> int:
        """Places of a warp for results that leave."""
        return 2 if self.sends else 1

    @property
    def warps(self) -> int:
        """Warps that store."""
        return self.consumers // self.teams * WARPGROUP // 32

    @cached_property
    def of_tile(self) -> int:
        """Warpgroups that multiply a tile together."""
        return 1 if self.taking_turns else self.consumers // self.teams

    @cached_property
    def multiplied_rows(self) -> int:
        """Rows that the warpgroups of a tile multiply: those of the tile, and others that nobody stores."""
        whole = BLOCK_ROWS * self.of_tile
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

    @cached_property
    def accumulators(self) -> int:
        """Registers of a thread that sums are in."""
        return self.multiplied_rows * self.tile_n // (self.of_tile * WARPGROUP)

    def sums(self, block_scaled: bool) -> int:
        """Registers of a thread for sums: of a tile and, before they are scaled, of two steps' products."""
        return self.accumulators * (3 if block_scaled else 1)

    @property
    def can_scale(self) -> bool:
        """Whether blocks of 128 columns of B may have scales: a warpgroup has one block of rows, and registers."""
        return self.tile_m == BLOCK_ROWS * self.consumers and SCALED % self.tile_n == 0 and self.consumers < 3

    def moves_registers(self, kind: GemmKind) -> bool:
        """Return whether sums leave too little of an equal share of the registers, so that loading threads give up
        theirs."""
        weights = 0 if kind.packed is None else 2 * 16  # two fragments
        shares = self.accumulators // self.sharing_blocks if self.splits > 1 else 0
        return self.sums(kind.block_scaled) + weights + shares > FITTING_SUMS[self.consumers]

    @property
    def stage_bytes(self) -> int:
        return (self.tile_m + self.tile_n) * ROW_BYTES

    @property
    def other_bytes(self) -> int:
        """Shared memory beside the stages: boxes of C, sums of parts of K, rows that are not the tile's, alignment."""
        sums = self.multiplied_rows * self.shared_columns * (self.splits - 1) * 4
        sums += self.multiplied_rows * self.tile_n * (self.teams - 1) * 4
        return self.warps * self.boxes * STORE_BYTES + 1024 + sums + (self.multiplied_rows - self.tile_m) * ROW_BYTES

    def fitting_stages(self, more_bytes: int = 0, codes_of_one: int = 1) -> int:
        """As many as fit into shared memory, beside so many bytes more; A may be codes, some in the place of a number
        of B."""
        left, rows = SHARED_BYTES - self.other_bytes - more_bytes, self.tile_m // codes_of_one + self.tile_n
        return min(left // (rows * ROW_BYTES + BARRIER_BYTES), MAX_STAGES)


def check_config(kind: GemmKind, config: GemmConfig) -> None:
    """The only statement of what the kernel can be built for."""
    rows, columns = config.tile_m, config.tile_n
    if kind.a.width != kind.b.width or kind.a.width not in (8, 16) or kind.c.width not in (8, 16, 32):
        types = ", ".join(elem.__name__ for elem in (kind.a, kind.b, kind.c))
        raise ValueError(f"A and B have 8 or 16 bits and C 8, 16 or 32, got {types}")
    if kind.activation not in {**ACTIVATIONS, **GATES}:
        raise ValueError(f"activation must be one of {', '.join([*ACTIVATIONS, *GATES])}, got {kind.activation!r}")
    reasons = {
        "one to three warpgroups multiply blocks of 64 rows each": config.consumers not in (1, 2, 3)
        or not BLOCK_ROWS * (config.of_tile - 1) < rows <= MAX_BOX,
        "tiles have a multiple of 8 rows, of 64 a warpgroup if they are gathered, scaled or packed, or where lines are "
        "not along K": rows % 8
        or not (
            config.is_whole or (kind.a_along_k and kind.packed is None and not (kind.gathers or kind.block_scaled))
        ),
        "pieces of 16 bytes of C belong to one tile": not kind.c_along_n
        and rows * kind.c.width % (8 * kind.piece_bytes),
        "boxes leave by TMA where C's lines are multiples of 16 bytes and its rows those of a whole tile": config.sends
        and (
            kind.scatter != ""
            or kind.quantises
            or not (config.is_whole and kind.c_along_n)
            or kind.piece_bytes < LINE_BYTES
        ),
        "blocks begin anywhere in K where nothing but products depends on it": config.staggered
        and (kind.block_scaled or kind.packed is not None or kind.gathers),
        "two warpgroups take turns, with all of K and without scales or weights of four bits": config.taking_turns
        and (config.consumers != 2 or config.splits > 1 or kind.block_scaled or kind.packed is not None),
        "tiles have 8 to 256 columns, in eights": columns % 8 or not 8 <= columns <= MAX_BOX,
        "a thread has room for 192 sums": config.sums(kind.block_scaled) > 192,
        "8-bit blocks with scales have 64 rows a warpgroup, a part of 128 columns, and no swap": kind.block_scaled
        and (kind.size > 1 or not config.can_scale or config.swapped),
        "weights of four bits are swapped and have 64 rows a warpgroup": kind.packed is not None
        and (rows != BLOCK_ROWS * config.of_tile or not config.swapped or config.sharing("n") > 1),
        "weights of four bits may have teams of as many warpgroups each": config.teams > 1
        and (kind.packed is None or config.consumers % config.teams > 0),
        "groups are not swapped, and gathered rows are not shared": (kind.groups and config.swapped)
        or (kind.gathers and (config.sharing("n") > 1 or not kind.a_along_k)),
        "a cluster has 1, 2, 4 or 8 blocks along m or n, or 3 along k": config.along not in ("m", "n", "k")
        or config.cluster not in ((1, 2, 4, 8) if config.along != "k" else (1, 2, 3, 4, 8)),
        "results that get scales have 64 rows a warpgroup and parts of 128 columns, without clusters": kind.quantises
        and (config.cluster > 1 or rows != BLOCK_ROWS * config.consumers or SCALED * kind.columns_of_one % columns),
        "a stage more than teams and a band of one row are needed": config.stages <= config.teams or config.band < 1,
        "a gate and what it is for are neighbours where operands are not swapped": config.swapped
        and kind.columns_of_one > 1,
        "8-bit matrices are multiplied with K contiguous": kind.size == 1 and not (kind.a_along_k and kind.b_along_k),
        "tiles that are not contiguous along K have a multiple of 64 columns": not kind.b_along_k and columns % 64,
        "blocks share a tile in parts of eight rows": (kind.a_along_k and rows // config.sharing("n") % 8)
        or (kind.b_along_k and columns // config.sharing("m") % 8),
        "lines of a box of C are multiples of 16 bytes": kind.c_along_n
        and config.shared_columns // kind.columns_of_one * kind.c.width % 128,
    }
    for reason, applies in reasons.items():
        if applies:
            raise ValueError(f"{reason}, got {config}")


# The model -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """A product as the caller has it: C is (m, n); the kernel may be given it swapped. Sizes are bytes, widths bits.

    Lines of A or B ``straddle`` cache lines if they do not start at multiples of 128 bytes; those of C are
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
    straddles: bool = False
    columns_of_one: int = 1
    block_scaled: bool = False
    grouped: bool = False
    packed: bool = False
    quantises: bool = False
    gathers: bool = False
    c_aligned: bool = True

    @property
    def plain(self) -> bool:
        """Whether nothing but products depends on where in K, or in which group, a tile is."""
        return not (self.block_scaled or self.packed or self.grouped)

    def can_send(self, config: GemmConfig) -> bool:
        """Return whether results may leave by TMA, in boxes of 128 bytes of each of a warp's rows."""
        line = config.shared_columns // self.columns_of_one * self.c_width
        ordered = not (self.packed or self.quantises) and self.c_along_n and self.c_aligned
        return ordered and config.is_whole and line >= 8 * ROW_BYTES

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


@dataclass(frozen=True)
class Machine:
    """What a Hopper GPU takes for things, fitted to launches on an H200, 2026-11-15 and 16: docs/hopper_gemm.md.

    Microseconds: of a launch until the first stage is there; of writing 32,768 results; of a round of a cluster that
    shares; of adding up parts of K, and more for each 32,768 sums of each part.
    Cycles: in a microsecond, of a step of K beside what it multiplies and loads, more until a step's loads are there
    where blocks share them, of unpacking weights of a step, and more for each warpgroup that does.
    Bytes: a cycle that arrive at a multiprocessor; a microsecond from L2 and from memory; and those of a ring that are
    not under way while the others are.
    Factors: of results that leave by TMA; of memory, for the share of multiprocessors that are idle in a round, where
    blocks share the smaller matrix, and load lines of the larger one apart, and where they share the larger one; of
    steps where warpgroups take turns; of lines of A or B that do not start at multiples of 128 bytes; of results across
    C's lines; and in parts of cache lines.
    ``sharpness`` is how little what takes nearly as long as the longest adds to it.
    ``few_rows`` are those of `few_rows.plan`: microseconds of a block's start, cycles of a warp's run, bytes of x a
    cycle, and, in ``more_tiles``, how much longer a run takes for eight rows of x more.
    """

    launch: float = 2.2
    results: float = 2.39
    meeting: float = 0.07
    sending: float = 0.85
    adding: float = 1.3
    adding_sums: float = 1.7
    cycles: float = 1739.0
    step: float = 80.0
    sharing: float = 60.0
    port: float = 109.0
    cache: float = 15.1e6
    memory: float = 4.2e6
    opening: float = 3.7e3
    uneven: float = 0.5
    apart: float = 1.1
    together: float = 0.97
    turning: float = 1.07
    straddling: float = 2.6
    across: float = 1.3
    partial: float = 1.25
    unpacking: float = 300.0
    unpacking_more: float = 70.0
    few_rows: float = 1.0
    few_rows_run: float = 2400.0
    few_rows_port: float = 25.0
    more_tiles: float = 0.2
    sharpness: float = 4.25
    resident: tuple[tuple[int, int], ...] = ((1, 132), (2, 132), (3, 108), (4, 108), (8, 104))
    """Blocks of clusters of a size that run at once: clusters lie inside a part of the chip."""


HOPPER, UNIT = Machine(), 32768


def resident_clusters(config: GemmConfig, sms: int, machine: Machine = HOPPER) -> int:
    """Clusters that run at once, one block on a multiprocessor."""
    return max(min(dict(machine.resident)[config.cluster], sms) // config.cluster, 1)


def launch_time(problem: Problem, config: GemmConfig, machine: Machine = HOPPER, sms: int = 132) -> float:
    """Microseconds of a launch; ``problem`` as the kernel sees it. Of groups half of the last round counts."""
    steps = ceildiv(ceildiv(problem.k * problem.size, ROW_BYTES), config.splits)
    clusters, slots = problem.clusters(config), resident_clusters(config, sms, machine)
    rounds = ceildiv(clusters, slots)
    together = ceildiv(clusters, rounds) if config.is_large else min(clusters, slots)
    straddling = machine.straddling if problem.straddles else 1.0
    # A wgmma of N columns takes N/2 cycles, or what reading its operands from shared memory does.
    products = config.multiplied_rows // BLOCK_ROWS * 4 * max(config.tile_n / 2, 16 + config.tile_n / 4)
    rows = config.tile_m / problem.codes_of_one
    taken = (rows + config.tile_n) * ROW_BYTES
    sent = (rows / config.sharing("n") + config.tile_n / config.sharing("m")) * ROW_BYTES * straddling
    unpacked = machine.unpacking + machine.unpacking_more * config.consumers if problem.packed else 0.0
    # Lines that straddle cost the block that sends for them; blocks that share wait for each other.
    arriving = max(taken / machine.port, sent / machine.port, unpacked / config.teams)
    arriving += machine.sharing if config.cluster > config.splits and config.is_large else 0.0
    working = (longest(machine, products, arriving) + machine.step / config.teams) * steps / machine.cycles
    # Power decides large products of fp8, and it is spent best where nothing idles while results leave.
    working *= machine.turning if config.taking_turns and problem.size > 1 else 1.0
    cached = together * config.cluster * sent * steps / machine.cache
    tile = config.tile_m * config.tile_n / UNIT
    extents = config.multiplied_rows // BLOCK_ROWS, config.tile_m, config.tile_n
    slower = slower_by_power(working / steps, problem.size, problem.grouped, *extents, config.is_large)
    stored = machine.results * tile / config.sharing_blocks * _leaving(problem, config, machine) * slower
    each = longest(machine, working * slower, cached)
    each *= (clusters / slots + 0.5) / rounds if problem.grouped and rounds > 1 else 1.0
    # Where warpgroups take turns, one's results leave while the other multiplies; those of the last tile do not.
    each, last = (max(each, (each + stored) / 2), stored) if config.taking_turns else (each + stored, 0.0)
    each += machine.meeting if config.cluster > config.splits else 0.0
    added = machine.adding + machine.adding_sums * tile * config.splits if config.splits > 1 else 0.0
    waiting = problem.moved / machine.memory * (1 + machine.opening / (config.stages * config.stage_bytes))
    waiting *= 1 + machine.uneven * (rounds * sms / (clusters * config.cluster) - 1)
    waiting *= _sharing(problem, config, machine)
    return machine.launch + longest(machine, rounds * each + (rounds - 1) * added, waiting) + last + added


def _sharing(problem: Problem, config: GemmConfig, machine: Machine) -> float:
    """Return how much longer memory takes where blocks share tiles of the smaller matrix, and load lines of the larger
    one apart, or how much less where they share those; lines that straddle gain either way."""
    if config.cluster == config.splits or problem.straddles or problem.m == problem.n:
        return 1.0
    return machine.apart if (config.along == "m") == (problem.n < problem.m) else machine.together


def _leaving(problem: Problem, config: GemmConfig, machine: Machine) -> float:
    """Return how much longer results take across C's lines, or in parts of cache lines, whose rest other tiles
    write."""
    if not problem.c_along_n:
        return machine.across
    partial = machine.partial if config.tile_n * problem.c_width // 8 % ROW_BYTES else 1.0
    return partial * (machine.sending if config.sends else 1.0)


def longest(machine: Machine, *times: float) -> float:
    """Return what takes longest decides; what takes nearly as long adds to it."""
    return sum(time**machine.sharpness for time in times) ** (1 / machine.sharpness)


def ceildiv(a: int, b: int) -> int:
    return -(-a // b)
