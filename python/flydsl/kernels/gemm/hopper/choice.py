"""Which configuration of the Hopper GEMM a product gets: those that fit, and the fastest of them by the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, lru_cache
from itertools import product
from math import gcd, isqrt

from flydsl.kernels.gemm.hopper.checks import can_hold, held_boxes
from flydsl.kernels.gemm.hopper.model import FEW, launch_time, packing_time, resident_clusters
from flydsl.kernels.gemm.hopper.plan import (
    ACROSS_COLUMNS,
    BLOCK_ROWS,
    LINE_BYTES,
    MAX_BOX,
    MIN_STAGES,
    ROW_BYTES,
    SCALED,
    GemmConfig,
    Problem,
    ceildiv,
)

WIDTHS: dict[tuple[int, int, bool], tuple[int, ...]] = {
    (64, 1, False): (8, 16, 24, 32, 48, 64, 96, 128, 192, 256),
    (128, 2, False): (8, 16, 32, 64, 72, 80, 88, 96, 104, 112, 120, 128, 144, 160, 168, 176, 192, 208, 224, 256),
    (192, 3, False): (112, 128, 160, 192, 256),
    (256, 2, False): (8, 16, 32, 64, 96, 128, 160, 192),
    (64, 2, True): (128, 192, 256),
    (128, 2, True): (64, 96, 112, 128, 144, 160, 176, 192),
}
"""Rows of a tile, warpgroups, whether they take turns, to the columns that the model compares; of equals, the first."""
PACKED_WIDTHS = {
    **WIDTHS,
    (64, 1, False): (*WIDTHS[64, 1, False], 160, 224),
    (192, 3, False): (64, 80, 96, 112, 128),
}
"""Those of weights of four bits: more warpgroups unpack more."""
MOST_GATHERING = 128
"""Sums that a thread has registers for beside threads that gather rows."""
MOST_OF_PARTS = 80
"""Sums that a thread has registers for where blocks with scales have parts of K."""
MOST_IN_TURNS = 128 * 192
"""Results of a tile that a warpgroup which takes turns has registers for."""
MOST_FILLED = 4
"""Rounds whose tiles have columns that follow from the product: of more, idle blocks of the last one count little."""
SECTOR_BYTES = 32
"""Of a cache line, what memory and L2 move at once."""
LEAST_ROWS = 32
"""Tiles of 16 and 24 rows were never the fastest: a step costs what it does whatever it loads."""
STAGGERED = 16
"""Columns up to which it gained up to 3 % that blocks are staggered; with 64 it lost 2 %, on an H200, 2026-11-16."""
SCALED_STAGES = 5
"""Of tiles of 128 x 128 with scales of blocks: six took longer in 20 of 23 measurements of three runs, by 1.1 % in the
geometric mean, on an H200, 2026-11-16."""
PACKED_STAGES = 8
"""Of weights of four bits without teams. 64 rows by 8192 x 8192 took 24.6 us with 8 and 25.4 with 16, by 10240 x 8192
30.1 with 6 and 31.4 with 12, 128 rows 29.8 with 8 and 30.5 with 5, on an H200, 2026-11-17."""
MOST_BOXES = 8
"""Of results of parts of K, whose lines are C's columns: shares of 104 columns, in 13 boxes, took 50.3 us and of 112,
in 7, 47.9 of 200 rows by 8192 x 8192, the same day."""
MOST_MISSING = 32
"""Lines of x that a tile may have too many, since TMA takes longer for them: 64 rows by 8192 x 8192 took 26.1 us in
tiles of 128 x 80 and 33.1 of 128 x 96, the same day."""
MIN_STAGES_OF_PARTS = 4
"""Two stages are being multiplied, and with one of three left each step of a part waited for memory: 3072 x 448 x 6656
took 52 us in two parts of 128 x 224 and 33 in those of 192 x 112, with four stages, on an H200, 2026-11-16. Three
warpgroups want one more: 200 x 5120 x 13824 took 61 to 67 us in parts of 192 x 112, and 56 in 128 x 80, 2026-11-18."""
LEAST_SENDING = 4
"""Stages that results may not cost by leaving through TMA. Of 256 x 160 four stages took 26.7 us and three that send
28.7 at 6568 x 1520 x 712, of 192 x 176 211.6 and 225.7 at 9464 x 848 x 9488, on an H200, 2026-11-16 and 17."""
STREAMED = 16
"""How much larger a matrix is that L2 lets go first. 4 x 4608 x 3584 took 10.8 us instead of 11.1, 128 x 7168 x 2048
10.6 instead of 10.8 and 3840 x 192 x 16192 in two parts of K 49.1 instead of 50.3, on an H200, 2026-11-16. A matrix
whose lines several blocks read lost by it: 15104 x 768 x 1216 in tiles of 128 x 192 took 42.9 us so and 41.5 without,
672 x 10832 x 288 in tiles of 128 x 128 12.9 and 12.0, 2026-11-17. With scales of blocks 64 x 7168 x 16384 took 32.0 us
instead of 32.9, 8 x 12544 x 2304 10.4 instead of 11.4 and 208 x 8064 x 2560 in two tiles 12.0 instead of 12.3; of four
large products none gained. 2026-11-18."""
MOST_ROUNDS = 3
"""Tiles, one after the other, in which a block may take its share of the rows."""
FEW_CLUSTERS: tuple[tuple[int, str], ...] = ((1, "m"), (2, "m"), (4, "m"), (2, "k"), (3, "k"), (4, "k"), (8, "k"))
"""Blocks that divide few columns among them. Where lines straddle cache lines, sharing the other operand took 7.6 us
instead of 11.2 at 64 x 5664 x 1320, and otherwise 6.8 instead of 6.6 at 64 x 5664 x 1344, on an H200, 2026-11-16."""
TEAMS = 3
"""Of weights of four bits. 16 rows by 8192 x 8192 took 17.2 us with three teams of a warpgroup, 18.2 with four, whose
threads have too few registers, 19.0 with two of two, and 23 without, on an H200, 2026-11-16."""
MOST_OF_TEAMS = 64
"""Columns up to which teams gain: each block reads all of the other matrix. 32 took 18.6 us, and 21.0 without; 64 took
21.7 and 24.6; 96 by 5120 x 5120 17.2 and 14.9, 128 by 8192 x 8192 32.7 and 29.8, on an H200, 2026-11-17."""
CLUSTERS: tuple[tuple[int, str, int], ...] = (
    (1, "m", 1), (2, "m", 1), (2, "n", 1), (4, "m", 1), (4, "n", 1),
    (4, "mn", 1), (8, "mn", 1), (8, "nm", 1),
    (2, "k", 1), (3, "k", 1), (4, "k", 1), (8, "k", 1),
    (4, "m", 2), (4, "n", 2), (6, "m", 3), (6, "n", 3), (8, "m", 4), (8, "n", 4), (8, "m", 2), (8, "n", 2),
)  # fmt: skip
"""Blocks of a cluster, how they lie, and in how many parts K is where they share tiles."""


def configurations(problem: Problem, sms: int = 132) -> tuple[GemmConfig, ...]:
    """Return every configuration that the model compares, with as many stages as fit; ``problem`` as the kernel sees
    it."""
    every = *_table(problem.codes_of_one), *_filling(problem, sms), *_dividing(problem, sms), *_in_teams(problem)
    every = *every, *_by_three(problem), *_beside(problem, sms)
    found = [config for config in map(_of_few_rows(problem), every) if fits(problem, config)]
    # Where each block has one tile, a ring may rather be as long as it can.
    found = [
        x for config in found for x in (_sendings(problem, config, sms) if problem.can_send(config) else (config,))
    ]
    found = [_sending_across(config) if problem.can_send_across(config) else config for config in found]
    if problem.block_scaled:
        large = [config.consumers > 1 and config.is_large for config in found]
        found = [replace(x, stages=min(x.stages, SCALED_STAGES)) if of else x for x, of in zip(found, large)]
    if problem.packed:
        found = [x if x.teams > 1 else replace(x, stages=min(x.stages, PACKED_STAGES)) for x in found]
    found += [replace(x, band=1) for x in found if _is_row_by_row(problem, x, sms)]
    # Turns, and results that leave later, are for blocks that have several tiles.
    several = [problem.clusters(x) > resident_clusters(x, sms) for x in found]
    kept = [(x, of) for x, of in zip(found, several) if of or not x.taking_turns]
    kept = [replace(x, defers=True) if of and (x.can_defer(problem) or _holds(problem, x)) else x for x, of in kept]
    # Groups of one round took 70.6 us in halves and 69.5 in 128 x 128, skewed ones 100.7 and 91.1: 8 of 100 rows by
    # 4096 x 7168, on an H200, 2026-11-17.
    scaled_groups = problem.grouped and problem.block_scaled
    found = [x for x in kept if x.defers or (x.halves == 1 and x.consumers < 3) or not scaled_groups]
    return *found, *_drawing(problem, sms, found)


def _holds(problem: Problem, config: GemmConfig) -> bool:
    """Return whether threads hold results of a tile until the next one's first steps, of which there are enough. In
    groups narrower tiles have turns, unless rows are gathered, and all boxes are whole, so that they leave by TMA: 18
    groups of 12,592 rows by 896 x 2688 took 101 us held in 128 x 224, and 96 in turns of 128 x 128, on an H200,
    2026-11-18."""
    steps = ceildiv(problem.k * problem.size, ROW_BYTES)
    whole = config.tile_n * problem.c_width // problem.columns_of_one % (8 * ROW_BYTES) == 0
    gains = not problem.grouped or (whole and (problem.gathers or config.tile_m * config.tile_n > MOST_IN_TURNS))
    gains = gains and not config.is_small
    return gains and can_hold(problem, config) and steps >= held_boxes(problem, config)


def _drawing(problem: Problem, sms: int, found: list[GemmConfig]) -> list[GemmConfig]:
    """Return the same, with tiles that are drawn: of groups, where blocks have several and would drift apart, or, with
    scales, where results leave later. Those in turns took longer drawn: of 256 groups of 65,536 rows by 4096 x 7168
    128 x 192 7.48 ms instead of 7.09, on an H200, 2026-11-17."""
    groups = problem.grouped and problem.block_scaled and not problem.gathers
    alone = [x for x in found if (x.drifts(problem) or (x.defers and groups)) and x.cluster == 1]
    return [replace(x, draws=True) for x in alone if problem.clusters(x) > resident_clusters(x, sms)]


def _of_few_rows(problem: Problem) -> Callable[[GemmConfig], GemmConfig]:
    """Of blocks with scales: tiles have no more rows than there are, since TMA takes longer for lines that are not
    there."""
    rows = ceildiv(problem.m, 8) * 8
    if not problem.block_scaled or problem.grouped or rows >= 2 * BLOCK_ROWS:
        return lambda config: config
    many = ceildiv(rows, BLOCK_ROWS)
    return lambda config: replace(config, tile_m=rows) if config.consumers == many and not config.beside else config


def _dividing(problem: Problem, sms: int) -> list[GemmConfig]:
    """Of few columns: tiles of as many rows, in eights, as divide all of them evenly among the blocks that run."""
    unit, found = max(8, 8 * LINE_BYTES // problem.c_width), []
    for cluster, along in FEW_CLUSTERS if problem.n <= FEW and problem.plain and problem.a_along_k else ():
        one = GemmConfig(BLOCK_ROWS, 8, 1, 2, cluster, along)
        if one.cluster > one.splits and not problem.straddles:
            continue
        columns = ceildiv(problem.n, 8 * one.sharing("m")) * 8 * one.sharing("m")
        one = replace(one, tile_n=columns, staggered=columns <= STAGGERED and cluster == 1)
        for rounds in range(1, MOST_ROUNDS + 1):
            blocks = resident_clusters(one, sms) * one.sharing("m")
            share = ceildiv(problem.m * problem.batches, blocks * rounds)
            rows = max(ceildiv(share, unit) * unit, LEAST_ROWS)
            if rows <= MAX_BOX:
                config = replace(one, tile_m=rows, consumers=1 if rows <= BLOCK_ROWS else 2)
                if (stages := config.fitting_stages()) >= MIN_STAGES:
                    found.append(replace(config, stages=stages))
    return found


def _in_teams(problem: Problem) -> list[GemmConfig]:
    """Of weights of four bits and few columns: teams of a warpgroup that take steps of K by turns."""
    columns = ceildiv(problem.n, 8) * 8
    if not problem.packed or columns > MOST_OF_TEAMS:
        return []
    config = GemmConfig(BLOCK_ROWS, columns, TEAMS, 2, teams=TEAMS)
    return [replace(config, stages=config.fitting_stages(codes_of_one=problem.codes_of_one))]


def _by_three(problem: Problem) -> list[GemmConfig]:
    """Of blocks with scales: two parts of K of tiles that three warpgroups have. With shorter lines of boxes the ring
    has four stages: 1440 x 1024 x 13440 took 37.4 us so, 38.1 with three and 38.7 in 128 x 96, on an H200,
    2026-11-18."""
    if not problem.block_scaled or problem.grouped:
        return []
    config = GemmConfig(3 * BLOCK_ROWS, SCALED, 3, 2, 2, "k", box_line=ROW_BYTES // 2)
    return [replace(config, stages=config.fitting_stages())]


def _beside(problem: Problem, sms: int) -> list[GemmConfig]:
    """Of blocks with scales: tiles of 64 rows whose columns two warpgroups divide, the fewest, in sixteens each, with
    which all of it takes so many rounds."""
    found = {}
    suits = problem.block_scaled and not problem.grouped and problem.m > BLOCK_ROWS
    for rounds in range(1, MOST_FILLED + 1) if suits else ():
        along_n = rounds * sms // (problem.batches * ceildiv(problem.m, BLOCK_ROWS))
        columns = ceildiv(problem.n, 32 * max(along_n, 1)) * 32
        if SCALED < columns <= MAX_BOX:
            config = GemmConfig(BLOCK_ROWS, columns, 2, 2, band=isqrt(sms * columns // BLOCK_ROWS), beside=True)
            found[replace(config, stages=config.fitting_stages())] = None
    return list(found)


def _is_row_by_row(problem: Problem, config: GemmConfig, sms: int) -> bool:
    """Return whether tiles may rather follow each other in a row: of neighbouring blocks without a cluster, which get
    the lines that they have in common once, where all run at once and those are of the larger matrix."""
    alone = problem.plain and problem.size > 1 and not problem.straddles and config.cluster == 1 < config.band
    one_round = problem.clusters(config) <= resident_clusters(config, sms)
    return alone and one_round and min(problem.m, problem.n) > FEW and problem.m > problem.n > config.tile_n


def _sendings(problem: Problem, config: GemmConfig, sms: int) -> tuple[GemmConfig, ...]:
    """Return the same with results that leave by TMA and, if that costs a stage of a block's only tile, without: in 16
    bits, or where a block has a share of the results. 192 x 7744 x 4032 in fp8 took 16.0 us in 192 x 64 with a stage
    more, and 13.2 in 128 x 96, on an H200, 2026-11-18."""
    sending = _sending(config)
    one_round = problem.clusters(config) <= resident_clusters(config, sms)
    alone = problem.plain and (problem.size > 1 or config.splits > 1) and one_round
    return (sending, config) if alone and sending.stages < config.stages else (sending,)


@cache
def _sending(config: GemmConfig) -> GemmConfig:
    """Return the same, with results that leave by TMA, if that leaves room for a ring."""
    sending = replace(config, sends=True)
    stages = min(sending.fitting_stages(), config.stages)
    return replace(sending, stages=stages) if stages >= min(config.stages, LEAST_SENDING) else config


@cache
def _sending_across(config: GemmConfig) -> GemmConfig:
    """Return the same, with results that leave by TMA across C's lines, in the largest boxes that cost no stage."""
    every = [replace(config, sends_across=columns) for columns in ACROSS_COLUMNS]
    return next(sending for sending in every if sending.fitting_stages() >= config.stages)


@cache
def _table(codes_of_one: int) -> tuple[GemmConfig, ...]:
    """Return the configurations of `WIDTHS` and `CLUSTERS`; A may be codes, some in the place of a number of B."""
    widths = (WIDTHS if codes_of_one == 1 else PACKED_WIDTHS).items()
    every = [_tile(*key, x, *cluster, codes_of_one) for key, of in widths for x in of for cluster in CLUSTERS]
    return tuple(config for config in every if config is not None)


@cache
def _tile(
    rows: int, consumers: int, turns: bool, columns: int, cluster: int, along: str, behind: int, codes_of_one: int = 1
) -> GemmConfig | None:
    """Return a configuration with as many stages as fit, if those are enough and blocks can share its tiles."""
    config = GemmConfig(rows, columns, consumers, 2, cluster, along, taking_turns=turns, behind=behind)
    if columns // config.sharing("m") % 8 or (turns and config.splits > 1) or (config.is_wide and columns % 16):
        return None
    stages = config.fitting_stages(codes_of_one=codes_of_one)
    if stages < (MIN_STAGES if config.splits == 1 else MIN_STAGES_OF_PARTS + (consumers == 3)):
        return None
    band = isqrt(132 * columns // rows) // config.sharing("m")
    return replace(config, stages=stages, band=max(band, 1))


def _filling(problem: Problem, sms: int) -> list[GemmConfig]:
    """Tiles whose columns follow from the product, the fewest, in eights, with which all of it takes so many rounds.
    They have no more rows than there are: TMA takes longer for lines that are not there."""
    found: dict[GemmConfig | None, None] = {}
    scaled = problem.block_scaled and not problem.grouped
    suits = problem.b_along_k and (scaled or (problem.plain and min(problem.m, problem.n) > FEW))
    for (rows, consumers, turns), cluster in product(WIDTHS, CLUSTERS) if suits else ():
        one = GemmConfig(rows, 8, consumers, 2, *cluster[:2], behind=cluster[2])
        along_m = problem.batches * ceildiv(problem.m, rows * one.sharing("m"))
        there = ceildiv(problem.m, 8 * one.sharing("n")) * 8 * one.sharing("n")
        is_less = rows - BLOCK_ROWS < there < rows and problem.a_along_k and not turns
        for rounds in range(1, MOST_FILLED + 1):
            along_n = rounds * resident_clusters(one, sms) // along_m * one.sharing("n")
            least = ceildiv(problem.n, max(along_n, 1))
            parts = max(one.sharing("m"), 2 if replace(one, tile_n=least).is_wide else 1)
            unit = parts * (16 if problem.integer or (scaled and least > BLOCK_ROWS) else 8)
            columns = ceildiv(least, unit) * unit
            if columns <= WIDTHS[rows, consumers, turns][-1]:
                found[_tile(there if is_less else rows, consumers, turns, columns, *cluster)] = None
    return [config for config in found if config is not None]


def fits(problem: Problem, config: GemmConfig) -> bool:
    """Return whether the kernel can be built so; ``problem`` as the kernel sees it."""
    if problem.integer and not config.suits_integers:
        return False
    if problem.words and (config.sharers > 1 or config.staggered or config.taking_turns):
        return False
    if config.shares_overlap and (problem.adds or problem.grouped):
        return False
    if not problem.b_along_k and config.tile_n % 64:
        return False
    if problem.c_along_n and gcd(config.shared_columns // problem.columns_of_one, ROW_BYTES) * problem.c_width < 128:
        return False
    # Blocks with scales that share tiles of A took 3 to 5 % longer with K of 2,048 to 16,384, on an H200, 2026-11-16.
    if problem.block_scaled and (not config.can_scale or config.cluster > config.splits):
        return False
    # Parts of K of 128 x 192 spill: 304 x 3712 x 8832 took 29.7 us so and 26.1 in 128 x 96, on an H200, 2026-11-18.
    if problem.block_scaled and not problem.grouped and config.splits > 1 and config.accumulators > MOST_OF_PARTS:
        return False
    # Gates and scales of results would spill where products of groups are made by halves.
    gates = problem.columns_of_one > 1 or problem.quantises
    if problem.block_scaled and problem.grouped and config.halves > 1 and gates:
        return False
    # Factors by eights of columns took longer: 128 x 88 28.8 us and 128 x 96 26.5 at 304 x 3712 x 8832, on an H200,
    # 2026-11-17.
    if problem.block_scaled and config.tile_n > 64 and config.tile_n % 16:
        return False
    if not problem.c_along_n and config.tile_m * problem.c_width % (8 * LINE_BYTES):
        return False
    if not (config.is_whole or (problem.a_along_k and not (problem.packed or problem.grouped))):
        return False
    # Turns gained where results leave along C's lines, and lost with gathered rows, on an H200, 2026-11-16.
    if config.taking_turns and (problem.block_scaled or problem.packed or problem.gathers or not problem.c_along_n):
        return False
    # In turns of one block of rows each product waits for the one before it: of fp8 64 x 256 took 4 to 8 % longer than
    # 128 x 128, on an H200, 2026-11-16.
    if config.taking_turns and problem.size == 1 and config.tile_m == BLOCK_ROWS:
        return False
    # Two warpgroups beside one that gathers have too few registers: 27.5 ms instead of 7.2 on an H200, 2026-11-16.
    if problem.block_scaled and problem.gathers and config.consumers > 1:
        return False
    # Of 256 x 192 and 256 x 160 beside threads that gather ptxas spills, and of the first it serialises products.
    if problem.gathers and config.accumulators > MOST_GATHERING:
        return False
    if problem.quantises and (config.cluster > 1 or SCALED * problem.columns_of_one % config.tile_n):
        return False
    if problem.quantises and (config.taking_turns or config.tile_m != BLOCK_ROWS * config.consumers):
        return False
    if config.adds_runs(problem) and not config.can_add_runs(problem.gathers):
        return False
    if problem.packed and not _suits_weights(problem, config):
        return False
    if problem.grouped and not _suits_groups(problem, config):
        return False
    # Small tiles gained where two blocks share the larger matrix: 12.5 us instead of 14.6 at 128 x 4096 x 4096 in tiles
    # of 64 x 64, and 15.4 sharing the smaller one, on an H200, 2026-11-16.
    larger = ("m" if problem.n > problem.m else "n") in config.along
    small = config.cluster > config.splits and not config.is_large
    if small and not (problem.plain and (larger or problem.straddles)):
        return False
    # Sharing along both modes gained in 16 bits without turns, or where lines begin inside a sector, and not with
    # few columns: 3472 x 64 x 3888 in fp8 took 7.5 us so and 7.1 where four blocks share one matrix, 14720 x 5824 x
    # 128 in turns of 128 x 128 66.0 and 63.6 where nobody shares, on an H200, 2026-11-18.
    gains = problem.line_bytes < SECTOR_BYTES or (problem.size > 1 and not config.taking_turns)
    if len(config.along) > 1 and not (gains and min(problem.m, problem.n) > FEW):
        return False
    # Results of tiles of 256 x 160 were measured along C's lines only.
    if config.tile_m == MAX_BOX and config.tile_n > 128 and not problem.c_along_n:
        return False
    shared = config.tile_n // config.sharing("m") % 8 == 0
    steps = ceildiv(problem.k * problem.size, ROW_BYTES)
    return shared and steps >= config.splits


def _suits_weights(problem: Problem, config: GemmConfig) -> bool:
    """Return what weights of four bits can be multiplied in, and were fast in."""
    boxes = config.shared_columns // gcd(config.shared_columns, BLOCK_ROWS)
    # Sums of 128 x 256 in two parts took 55.8 us, and 64 x 256 in clusters of two 50.0 of 256 rows by 8192 x 8192.
    few = config.splits == 1 or (boxes <= MOST_BOXES and config.tile_n < MAX_BOX)
    few = few and config.tile_n < problem.n + MOST_MISSING
    return few and config.tile_m == BLOCK_ROWS * config.of_tile and config.sharing("n") == 1


def _suits_groups(problem: Problem, config: GemmConfig) -> bool:
    """Return what was measured with groups, on an H200, 2026-11-16 and 17: turns gained, clusters that share never."""
    # Narrow tiles read the same rows too often: 64 x 64 took 92 us where 64 x 128 took 66.
    if config.tile_n < min(96, problem.n) or config.cluster > config.splits:
        return False
    if config.taking_turns:
        return problem.m >= BLOCK_ROWS and not problem.block_scaled and config.tile_m == 128
    # Three warpgroups gained with scales of blocks, where results leave later: 9 groups of 19,904 rows by 896 x 512
    # took 26.8 us in tiles of 192 x 128 and 30.2 in 128 x 128, 4 of 18,192 by 1408 x 2944 134.9 and 138.2.
    if config.consumers == 3 and not (problem.block_scaled and problem.columns_of_one == 1 and not problem.quantises):
        return False
    large = problem.m >= 2 * config.tile_m
    return large or max(config.tile_m, config.tile_n) <= 128 or config.tile_m == 128


@lru_cache(maxsize=4096)
def choose_config(problem: Problem, sms: int = 132) -> GemmConfig:
    """Return the configuration that the model finds fastest, for the product as it is or swapped."""
    best, shortest = GemmConfig(), float("inf")
    for swapped in problem.orders:
        seen = problem.swapped if swapped else problem
        for config in configurations(seen, sms):
            if (time := launch_time(seen, config, sms=sms)) < shortest:
                best, shortest = replace(config, swapped=swapped, streams=_streamed(seen, config)), time
    return best


def copies_words(problem: Problem, sms: int = 132) -> bool:
    """Return whether threads copy lines of words sooner than a launch before makes others that TMA can read."""
    if not problem.plain or problem.integer:
        return False
    times = []
    for each in (problem, replace(problem, words=0)):
        config = choose_config(each, sms)
        times.append(launch_time(each.swapped if config.swapped else each, config, sms=sms))
    return times[0] < times[1] + packing_time(problem)


def _streamed(problem: Problem, config: GemmConfig) -> str:
    """Return which matrix passes through L2 while the other one, of which every block reads a part, stays there: one
    that is read once, by tiles that have all of the other; of groups of few rows, that of each which has one tile."""
    if problem.grouped:
        return "once" if problem.m <= min(config.tile_m, BLOCK_ROWS) and not problem.gathers else ""
    covered = (config.tile_m * config.sharing("m"), config.tile_n * config.sharing("n"))
    smaller, side = min((problem.m, covered[0]), (problem.n, covered[1]))
    if problem.block_scaled:  # two rows of tiles, whose blocks run at the same time, gained too
        return "b" if problem.n >= STREAMED * problem.m and problem.m <= 2 * covered[0] else ""
    if not problem.plain or max(problem.m, problem.n) < STREAMED * smaller or smaller > side or len(config.along) > 1:
        return ""
    return "a" if problem.m > problem.n else "b"
