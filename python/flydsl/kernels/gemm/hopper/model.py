"""A model of the time that configurations of the Hopper GEMM take."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from statistics import fmean

from flydsl.kernels.gemm.hopper.plan import BLOCK_ROWS, ROW_BYTES, SCALED, GemmConfig, Problem, ceildiv
from flydsl.kernels.gemm.hopper.power import BURST, PLAIN, SHARED_POWER, STEADY, SUSTAINED, slower_by_power


@dataclass(frozen=True)
class Machine:
    """What a Hopper GPU takes for things, fitted to launches on an H200, 2026-11-15 and 16: docs/hopper_gemm.md.

    Microseconds: of a launch until the first stage is there; of writing 32,768 results; of a launch, and of a round, of
    clusters that share; of adding up parts of K, and more for each 32,768 sums that a block is sent; until a load is
    there; and more of a launch that draws tiles without scales of blocks.
    Cycles: in a microsecond, of a step of K beside what it multiplies and loads, more until a step's loads are there
    where blocks share them, of large tiles and of small ones, of unpacking weights of a step, more for each warpgroup
    that does, and of a line of a step whose pieces threads gather. Columns: whose products take as long as a choice
    between two scales. Stages: those whose loads nobody waits for, since they are being multiplied.
    Bytes: a cycle that arrive at a multiprocessor, that it sends for, and, where that is counted, into shared memory
    and out of it (``shared``); a microsecond from L2 and from memory; and those of a ring that are not under way while
    the others are; and that L2 keeps.
    Factors: of results that leave by TMA; of memory, for the share of multiprocessors that are idle in a round, for
    bytes that blocks ask L2 for once more, where blocks share the smaller matrix, and load lines of the larger one
    apart, and where small tiles share the larger one; of steps where warpgroups take turns, and of fp8 where one has a
    large tile alone, so that nobody multiplies while it waits, or adds runs, and of 16 bits of gathered rows; of
    results that leave while the next tile begins, of those of blocks with scales,
    and of those that threads hold; of lines of A or B by the multiples of bytes at which they start, for the block that
    sends for them and for L2; of results across C's lines, and where those leave by TMA; in parts of cache lines; and
    of lines of A that memory is asked for again where blocks are no longer at neighbouring tiles at the same time.
    Rounds: that blocks which draw halves last are idle for, on average. ``idling`` is how much of its share of a tile's
    time a warpgroup saves that has no rows of it.
    ``merged`` is which share of the lines that two neighbouring blocks without a cluster have in common they get once,
    in one round and in several; ``waited`` are stages that wait for each warpgroup of a tile beside the first;
    ``words`` are cycles of a line of a step over the bytes of words that threads copy, and ``packing`` the microseconds
    of a launch that copies lines, beside their bytes.
    ``sharpness`` is how little what takes nearly as long as the longest adds to it.
    ``few_rows`` are those of `few_rows.plan`: microseconds of a block's start, cycles of a warp's run, bytes of x a
    cycle, microseconds of adding up in a cluster, and, in ``more_tiles``, how much longer a run takes for eight rows of
    x more.
    """

    launch: float = 2.05
    results: float = 2.33
    joining: float = 0.15
    meeting: float = 0.07
    sending: float = 0.89
    adding: float = 0.55
    adding_sums: float = 5.5
    latency: float = 0.59
    cycles: float = 1739.0
    step: float = 74.0
    sharing: float = 60.0
    sharing_few: float = 30.0
    multiplied: float = 1.13
    port: float = 130.0
    lines: float = 115.0
    cache: float = 15.15e6
    memory: float = 4.27e6
    opening: float = 3.7e3
    kept: float = 10e6
    uneven: float = 0.38
    again: float = 0.06
    apart: float = 1.1
    together: float = 0.96
    turning: float = 1.02
    choosing: float = 1.6
    alone: float = 1.01
    alone_adding: float = 1.24
    alone_gathering: float = 1.1
    deferring: float = 0.6
    deferring_scaled: float = 0.8
    holding: float = 0.05
    gathering: float = 7.0
    straddling: tuple[tuple[int, float], ...] = ((16, 2.5), (32, 2.2), (64, 2.0), (128, 1.0))
    sectors: tuple[tuple[int, float], ...] = ((16, 2.25), (32, 1.1), (64, 1.1), (128, 1.0))
    across: float = 1.5
    sending_across: float = 1.25
    partial: float = 1.25
    drawing: float = 2.5
    idling: float = 0.6
    ending: float = 0.3
    drifting: float = 0.45
    unpacking: float = 300.0
    unpacking_more: float = 70.0
    few_rows: float = 1.0
    few_rows_run: float = 2400.0
    few_rows_port: float = 25.0
    few_rows_adding: float = 0.65
    more_tiles: float = 0.2
    words: float = 48.0
    packing: float = 1.4
    sharpness: float = 4.55
    merged: tuple[float, float] = (0.0, 0.0)
    waited: float = 0.0
    shared: float = float("inf")
    resident: tuple[tuple[int, int], ...] = ((1, 132), (2, 132), (3, 117), (4, 120), (6, 102), (8, 120))
    """Blocks of clusters of a size that run at once: clusters lie inside a part of the chip. One more than these took a
    second round on an H200, 2026-11-16."""


HOPPER, UNIT = Machine(), 32768
# Products of 16 bits with more than `FEW` rows and columns, fitted on an H200, 2026-11-18.
SIXTEEN = Machine(
    joining=0.12, meeting=0.08, adding=0.7, adding_sums=4.9, latency=0.57, cycles=1980.0, step=60.0,
    sharing=5.0, sharing_few=10.0, multiplied=1.27, waited=0.31, port=92.0, lines=140.0, cache=12.2e6, memory=4.4e6,
    uneven=0.66, again=0.06, alone=1.1, straddling=((16, 2.33), (32, 1.67), (64, 1.8), (128, 1.0)),
    sectors=((16, 1.97), (32, 1.1), (64, 1.1), (128, 1.0)), merged=(1.0, 0.5),
)  # fmt: skip
# Blocks with scales, without groups, fitted to some 200 launches of 23 products on an H200, 2026-11-18.
BLOCKS = Machine(
    launch=2.5, adding_sums=7.4, latency=0.61, step=63.0, multiplied=1.45, uneven=0.4, choosing=0.94,
    deferring_scaled=0.39, shared=159.0,
)  # fmt: skip
FEW = 64
"""Columns of a product whose rows are divided among all blocks."""
QUANTILES = (-1.28, -0.52, 0.0, 0.52, 1.28)
"""Of a normal distribution: the middles of five parts that are equally likely."""
DRAWN_SPREAD = 3
"""How many times as far drawn tiles with scales of blocks, which take different times, are from the expected number: by
26 shapes, even and skewed, of which with 1 one took 1.14 of the time of the best, and with 3 all 1.013 at most, on an
H200, 2026-11-18."""
READING_TWO = 28
"""Cycles that a wgmma reads A for where a warpgroup has two whole blocks of rows, by tiles of 256 rows and up to 112
columns: with 16, 168 x 16384 x 3072 got 256 x 88, which took 34.3 us, and 128 x 168 29.7. Tiles of fewer rows than they
multiply (200 x 80, 224 x 88) took what 16 says. On an H200, 2026-11-18."""


def resident_clusters(config: GemmConfig, sms: int, machine: Machine = HOPPER) -> int:
    """Clusters that run at once, one block on a multiprocessor."""
    return max(min(dict(machine.resident)[config.cluster], sms) // config.cluster, 1)


def machine_of(problem: Problem) -> Machine:
    """Return the numbers that were fitted to products of a kind; of few rows or columns memory decides."""
    if problem.block_scaled and not problem.grouped:
        return BLOCKS
    return SIXTEEN if problem.plain and problem.size > 1 and min(problem.m, problem.n) > FEW else HOPPER


def launch_time(problem: Problem, config: GemmConfig, machine: Machine | None = None, sms: int = 132) -> float:
    """Microseconds of a launch; ``problem`` as the kernel sees it."""
    machine = machine or machine_of(problem)
    steps = ceildiv(ceildiv(problem.k * problem.size, ROW_BYTES), config.splits)
    clusters, slots = problem.clusters(config), resident_clusters(config, sms, machine)
    rounds = ceildiv(clusters, slots)
    together = ceildiv(clusters, rounds) if config.is_large else min(clusters, slots)
    rows = config.tile_m / problem.codes_of_one
    taken = (rows + config.tile_n) * ROW_BYTES
    beside, below = _sharing(problem, config, 0.0 if problem.straddles else machine.merged[rounds > 1])
    asked = (rows / beside + config.tile_n / below) * ROW_BYTES
    sent, given = (asked * dict(of)[problem.line_bytes] for of in (machine.straddling, machine.sectors))
    # A wgmma of N columns takes N/2 cycles, or what reading its operands from shared memory does: of A 16, and more
    # where a warpgroup has two whole blocks of rows.
    blocks = config.multiplied_rows // BLOCK_ROWS
    reading = READING_TWO if blocks > config.of_tile and config.is_whole else 16
    columns = config.own_columns
    products = blocks * 4 * config.tile_n / columns * max(columns / 2, reading + columns / 4)
    working = _step_cycles(problem, config, machine, (products, taken, sent)) * steps / machine.cycles
    working *= machine.turning if config.taking_turns and problem.size > 1 else 1.0
    cached = together * config.cluster * given * steps / machine.cache
    tile = config.tile_m * config.tile_n / UNIT
    extents = config.multiplied_rows // BLOCK_ROWS, config.tile_m, config.tile_n
    alone = problem.block_scaled or (rounds == 1 and not problem.grouped)
    shared = (clusters * config.cluster / (rounds * sms)) ** SHARED_POWER if alone else 1.0
    shared *= PLAIN if problem.plain and problem.size == 1 else 1.0
    is_limited = problem.plain and problem.size > 1
    slower = 1.0
    if not (is_limited or problem.packed):
        slower = slower_by_power(working / steps, problem.size, *extents, config.is_large, shared)
    share = config.shared_columns / columns
    stored = machine.results * tile * share * _leaving(problem, config, machine) * slower
    if problem.block_scaled and SCALED % columns:
        working *= 1 + machine.choosing / config.scaled_alike
    if config.is_large and config.consumers == 1:
        working *= _alone(problem, config, machine)
    each = longest(machine, working * slower, cached)
    each *= _rounds_of_groups(problem, config, machine, slots) / rounds if problem.grouped and rounds > 1 else 1.0
    # Where warpgroups take turns, one's results leave while the other multiplies; those of the last tile do not.
    each, last = (max(each, (each + stored) / 2), stored) if config.taking_turns else (each + stored, 0.0)
    if config.defers:
        hidden = stored * (1 - _deferring(problem, config, machine))
        each, last = each - hidden, hidden
    each += machine.meeting if config.sharers > 1 else 0.0
    received = tile * (config.splits - 1) * share
    added = machine.adding + machine.adding_sums * received if config.splits > 1 else 0.0
    waiting = _waiting(problem, config, machine, rounds)
    waiting *= 1 + machine.uneven * (rounds * sms / (clusters * config.cluster) - 1)
    launched = machine.launch + (machine.joining * len(config.along) if config.sharers > 1 else 0.0)
    if config.draws and not (problem.block_scaled and config.defers):
        launched += machine.drawing
    total = launched + longest(machine, rounds * each + (rounds - 1) * added, waiting) + last + added
    shown = last + (0.0 if config.taking_turns else rounds * stored)
    return _limited(problem, machine, total, rounds * steps * products, shown) if is_limited else total


def _limited(problem: Problem, machine: Machine, total: float, products: float, shown: float) -> float:
    """Return the time of a launch of 16 bits that takes ``total`` at the full clock: bursts and steady work take what
    cycles of products do at the limit of power, and results that nobody multiplies beside. Of lines that straddle
    bursts count alone."""
    steady = 0.0 if problem.straddles else STEADY
    burst = longest(machine, total, products / BURST + shown)
    return (1 - steady) * burst + steady * max(total, products / SUSTAINED[2] + shown)


def _sharing(problem: Problem, config: GemmConfig, merged: float) -> tuple[float, float]:
    """Return how many blocks have lines of A, and of B, for one that sends for them. Two neighbouring blocks without a
    cluster get lines that they ask for at the same time together, as far as they are ``merged``: those of B, or of A
    where tiles follow each other in a row."""
    along = config.sharing("n"), config.sharing("m")
    if config.cluster > 1 or not merged:
        return along
    rows = ceildiv(problem.m, config.tile_m)
    if min(rows, config.band) == 1:
        return 1 / (1 - merged / 2) if problem.n > config.tile_n else 1, 1
    alone = 1 / rows if rows % 2 and rows <= config.band else 0.0
    return 1, 1 / (1 - merged * (1 - alone) / 2)


def packing_time(problem: Problem, machine: Machine = HOPPER) -> float:
    """Return the microseconds of a launch that copies lines of A and B to where TMA can read them."""
    moved = 2 * problem.batches * problem.size * problem.k * (problem.m + problem.n)
    return machine.packing + moved / machine.memory


def _rounds_of_groups(problem: Problem, config: GemmConfig, machine: Machine, slots: int) -> float:
    """Return how many rounds tiles of groups take on average: each group's last tile is filled in part, so their number
    is known but for a spread. 4 groups of 24,224 rows by 640 x 896 with scales of blocks took 30.9 us in tiles of 192 x
    128, five rounds, and 34.6 in eight of 128 x 128, on an H200, 2026-11-18. Or all groups have as many rows, and what
    their last tiles are filled by is known: both count half. Without scales half a round more than the tiles fill was
    fitted."""
    clusters, columns = problem.clusters(config), ceildiv(problem.n, config.tile_n)
    drawn = problem.block_scaled and config.defers and config.draws
    if not drawn and (config.halves_last or not problem.block_scaled):
        return clusters / slots + (machine.ending if config.halves_last else 0.5)
    ends, rest = problem.batches * columns, config.of_tile - 1
    spread = sqrt(problem.batches / 12) * columns * (DRAWN_SPREAD if drawn else 1)
    expected = _rounds(clusters, ends * rest / 2, spread, drawn, config, machine, slots)
    idle = rest - (problem.m - 1) % config.tile_m // BLOCK_ROWS
    alike = _rounds(ends * ceildiv(problem.m, config.tile_m), ends * idle, 0.0, drawn, config, machine, slots)
    return (expected + alike) / 2


def _rounds(
    tiles: float, idle: float, spread: float, drawn: bool, config: GemmConfig, machine: Machine, slots: int
) -> float:
    """Return the rounds of so many tiles, whose warpgroups without rows are ``idle`` in all: drawn ones take less then,
    and end half way between whole rounds and ``ending`` behind what fills them."""
    tiles -= machine.idling * idle / config.of_tile if drawn else 0.0
    whole = fmean(ceil((tiles + spread * deviation) / slots) for deviation in QUANTILES)
    return (whole + tiles / slots + machine.ending) / 2 if drawn else whole


def _step_cycles(problem: Problem, config: GemmConfig, machine: Machine, step: tuple[float, float, float]) -> float:
    """Return the cycles of a step of K, by those of its products and the bytes that a block takes and sends for."""
    products, taken, sent = step
    unpacked = machine.unpacking + machine.unpacking_more * config.consumers if problem.packed else 0.0
    if problem.words:
        taken, sent = (config.tile_m + config.tile_n) * machine.words / problem.words * machine.port, 0.0
    # Lines that straddle cost the block that sends for them; blocks that share wait for each other.
    gathered = config.tile_m * machine.gathering if problem.gathers else 0.0
    arriving = max(taken / machine.port, sent / machine.lines, unpacked / config.teams, gathered)
    if config.sharers > 1:
        arriving += machine.sharing if config.is_large else machine.sharing_few
    # Loads of the stages that are not being multiplied are under way at once.
    waited = machine.multiplied + machine.waited * (config.of_tile - 1)
    late = (machine.latency * machine.cycles + arriving) / max(config.stages - waited, 0.5)
    moved = _shared_bytes(config) / machine.shared
    return longest(machine, products, arriving, late, moved) + machine.step / config.teams


def _shared_bytes(config: GemmConfig) -> int:
    """Return the bytes of a step into shared memory and out of it: each block of 64 rows reads its own of A, for every
    part of the columns, and all of B."""
    parts = config.halves * config.tile_n // config.own_columns
    read = config.multiplied_rows // BLOCK_ROWS * (BLOCK_ROWS * parts + config.tile_n)
    return ROW_BYTES * (config.tile_m + config.tile_n + read)


def _waiting(problem: Problem, config: GemmConfig, machine: Machine, rounds: int) -> float:
    """Return the time that memory takes if every multiprocessor reads: longer for what L2 is asked for once more, and
    where blocks share tiles of the smaller matrix and load lines of the larger one apart; less where small tiles share
    those. Lines that straddle gain either way."""
    rows, columns = problem.m / problem.codes_of_one, problem.n
    again = rows * (ceildiv(problem.n, config.tile_n * config.sharing("n")) - 1)
    again += columns * (ceildiv(problem.m, config.tile_m * config.sharing("m")) - 1)
    moved = problem.moved + machine.again * again * problem.batches * problem.k * problem.size
    if config.drifts(problem) and not config.draws:
        moved += _drifted(problem, config, machine, rounds)
    waiting = moved / machine.memory * (1 + machine.opening / (config.stages * config.stage_bytes))
    if config.sharers == 1 or problem.straddles or problem.m == problem.n:
        return waiting
    if (config.along == "m") == (problem.n < problem.m):
        return waiting * machine.apart
    return waiting * machine.together if config.is_small else waiting


def _drifted(problem: Problem, config: GemmConfig, machine: Machine, rounds: int) -> float:
    """Return the bytes of groups that memory is asked for again, since blocks drift apart: one of twice ``along_m``
    tiles, where a group ends, takes half the time. Of two neighbouring blocks ``apart`` have had another number of
    those, which differ by the root of how many there are. What passed through L2 meanwhile, less than it keeps, is
    lost: their tiles read all of B each then."""
    along_n = ceildiv(problem.n, config.tile_n * config.sharing("n"))
    along_m = problem.clusters(config) / (along_n * problem.batches)
    apart = (rounds - 1) / (rounds - 1 + along_m)
    of_round = problem.clusters(config) / rounds / along_m * config.tile_n * problem.k * problem.size
    passed = (rounds / along_m) ** 0.5 / 2 * of_round
    again = (problem.n + machine.drifting * problem.m / along_m * (along_n - 1)) * (along_m - 1)
    lost = max(1 - machine.kept / passed, 0.0)
    return apart * lost * again * problem.batches * problem.k * problem.size


def _leaving(problem: Problem, config: GemmConfig, machine: Machine) -> float:
    """Return how much longer results take across C's lines, or in parts of cache lines, whose rest other tiles
    write."""
    if not problem.c_along_n:
        return machine.sending_across if config.sends_across else machine.across
    partial = machine.partial if config.tile_n * problem.c_width // 8 % ROW_BYTES else 1.0
    return partial * (machine.sending if config.sends else 1.0)


def _alone(problem: Problem, config: GemmConfig, machine: Machine) -> float:
    """Return how much longer steps of a large tile take where one warpgroup has it alone. Groups of 16 bits, whose
    numbers were fitted without, have it where rows are gathered."""
    if problem.size == 1:
        return machine.alone_adding if config.adds_runs(problem) else machine.alone
    return machine.alone if problem.plain else machine.alone_gathering if problem.gathers else 1.0


def _deferring(problem: Problem, config: GemmConfig, machine: Machine) -> float:
    """Return which share of the time of results is left where they leave while the next tile begins. Of products of one
    matrix, whose numbers were fitted without, those that a thread holds count whole."""
    if problem.block_scaled:
        return machine.deferring_scaled
    if config.adds_runs(problem):
        return machine.deferring
    return machine.holding if problem.grouped else 1.0


def longest(machine: Machine, *times: float) -> float:
    """Return what takes longest decides; what takes nearly as long adds to it."""
    return sum(time**machine.sharpness for time in times) ** (1 / machine.sharpness)
