"""The choice of plans for rows: every plan that comes into question, and those that the model finds fastest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import product
from math import gcd

from flydsl.kernels.blocks.cache_hints import ONCE, PLAIN, TWICE
from flydsl.kernels.blocks.odd_rows import by_words, ordered_rings
from flydsl.kernels.blocks.row_machine import FULL, HOPPER, HOPPER_LONG, LONG, Machine, bank_passes, machine_of_target
from flydsl.kernels.blocks.row_plan import (
    ACCESS_BYTES,
    DTYPES,
    LEAST_ACCESS,
    LEAST_PIECES,
    MAP,
    MAX_KEPT,
    RowChoice,
    RowPlan,
    RowTask,
    check_row,
    near_line_bytes,
    only,
    register_limit,
    resident,
    ring_bytes,
)
from flydsl.kernels.blocks.row_time import few_time, launch_time
from flydsl.kernels.blocks.summing_plans import (
    CROWDS,
    MAX_SUMS,
    MAX_THREADS,
    MOST_AHEAD,
    RING_CHUNKS,
    RING_CLUSTERS,
    RING_ITERATIONS,
    STAGES,
    SUMMING,
    TURNS,
    early_sums,
    ring_of,
    summed_tiles,
    summing_plans,
    summing_rings,
    with_fewest_blocks,
)

MAX_HELD = 72
"""Elements that a thread keeps at most; those loaded again may be `MAX_AGAIN`. They are written out one by one."""
MAX_AGAIN = 128
MOST_READ = 192
"""Bytes of a row that is only read that a thread of half a wave keeps as they lie: losses of 1,157 and 1,338 bf16 have
1.04 of a read's speed by half a wave on an H200 (2026-11-17), 0.97 and 1.00 by one or two, of 1,733 1.04 and 1.06."""
MAX_NARROW = 48
"""Those of staged rows whose elements are not reached 16 bytes at once."""
MAX_EARLY, EARLY = 32, 8192
"""Those of rows that come early beside them; and bytes of a row from which on that is faster than through shared memory
where rows begin anywhere and lines go with them."""
LEAST_EARLY = 416
"""Threads of a multiprocessor with such rows: RMSNorm of 3,155 and 4,301 f32 has 0.99 and 0.90 of a copy's speed by 480
and 320 on an H200 (2026-11-18), and 0.98 and 0.99 through rings."""
MAX_NARROWER = 512
"""Threads of a row of few that has narrower accesses than it could."""
MAX_LINES_KEPT, MAX_TAKEN, KEPT_CROWDS = 96, 32, (2, 3, 4, 5, 6, 8)
"""Those of a row and its lines where blocks stay and keep lines, those of the row alone (RMSNorm of 1,201 bf16 has 0.95
of a copy's speed by two waves a row, and 0.90 by one), and how many such blocks a multiprocessor has."""
RELAYS, LEAST_RELAYED = 8, 60_000
"""How many times as many of these blocks there are as have place, on an H200 (2026-11-18): LayerNorm of 255 f16, 1,001
bf16, 2,063, 4,215 f16 and 6,364 bf16, RMSNorm of 5,525 bf16 and 7,163 f16 have 0.995, 0.99, 0.965, 0.93, 0.93, 0.97 and
0.95 of a copy's speed, four times as many 0.01 to 0.03 less, as many 0.94, 0.94, 0.91, 0.91, 0.89 and, of 6,607 f32,
0.87 instead of 0.92. And bytes of tiles of a multiprocessor that hide what blocks take to begin: of 1,743 f16, with 56
KB, 0.94 with as many blocks and 0.92 with more."""
LONGEST_KEPT = 7200
"""Elements of such a row of 16 bits up to which that is faster than a ring: LayerNorm of 4,215, 6,364 and 7,777 has
0.93, 0.93 and 0.90, and 0.89, 0.89 and 0.91, RMSNorm of 5,525 and 7,163 0.97 and 0.95, and 0.96 and 0.91."""
IN_TURNS = 16, 33
"""Those of each of two rows that a thread loads at once: of how many it was measured."""
MAX_RING = 160
"""Those that a thread takes from a ring, which are not all there at a time."""
MAX_ONCE, MAX_READ = 256, 80
"""Where each is needed once only; and vectors where nothing is written, so that a block need not have many threads."""
BETWEEN = 6, 12
"""Waves that long rows which begin at pieces may have beside powers of two: LayerNorm of 7,244 f32 has 1.01 of a copy's
speed by 12 on an H200 (2026-11-17), 0.92 by four, RMSNorm 1.02 and 0.97; LayerNorm of 13,000 bf16 1.01 by six, and 0.98
by eight that load it again."""
MAX_STAYING = 2
"""Blocks of a cluster that stays: with more, waiting for each other costs more than loading ahead gains."""
RING_LANES, MIN_RING_LANES = 512, 128
"""Threads that take rows from a ring."""
LARGE_CLUSTER = 16
"""Blocks that share a row of a ring where lines go with it, or it is a softmax's of f32, and it is too long for eight
of them to have it, its lines and the row to come. Nothing else was measured with so many."""
LARGE_CHUNKS = 4
"""Into how many chunks such a block's part of a softmax's row is cut: of 201,352, 228,681, 245,001 and 262,144 f32
these have 0.91, 0.93, 0.905 and 0.93 of a copy's speed on an H200 (2026-11-18), two 0.90, 0.92, 0.89 and 0.93, and
clusters of eight whose registers keep the row 0.87, 0.89, 0.90 and 0.89."""
OVERLAPPED = 2.75
"""Rows that rings of so many blocks have place for, beside what registers do not hold of two lines, where the first
pass over a row of f32 comes before the second over the one ahead of it: LayerNorm of 236,088, 239,001, 250,001 and
262,144 has 0.88, 0.85, 0.86 and 0.91 of a copy's speed so on an H200 (2026-11-18), and 0.87, 0.83, 0.81 and 0.90 one by
one. With place for three rows, in two chunks each, 180,000 and 225,001 have 0.84 and 0.83, and 0.90 and 0.88; in four,
by four waves, 190,001, 203,001, 210,003, 220,001 and 228,001 have 0.91, 0.90, 0.895, 0.88 and 0.90, and 0.88, 0.88,
0.83, 0.87 and 0.84 one by one."""
TAKING_LANES, TAKING = 224, 56
"""Threads that take rows into registers in the first pass, and registers that each needs beside. On an H200
(2026-11-18), LayerNorm of 210,001, 232,001, 248,995 and 256,383 bf16, 261,001 and 262,143 f16 has 0.91, 0.90, 0.895,
0.885, 0.895 and 0.88 of a copy's speed so, by clusters of eight with rings of two rows or less; by 192, 352 or 480
threads of 232,001, 261,001 and 210,001 0.88, 0.87 and 0.88. Without 232,001 to 262,143 had 0.81 to 0.88."""
POWERS_LANES, MOST_POWERS = 256, 88
"""Threads that keep the powers of a softmax's row of 16 bits from the first pass to the second, which only multiplies
them then, and how many of them each. On an H200 (2026-11-18), 111,001, 134,502 and 168,487 bf16 have 0.915, 0.935 and
0.935 of a copy's speed so, of 64 MB moved 0.88, 0.87 and 0.885; 0.85, 0.90 and 0.885, and 0.83, 0.77 and 0.84 where
both passes take powers. Of 198,373 and 259,203, which registers have hardly place for, 0.87 and 0.84, and 0.885 and
0.89."""
MIN_POWER_LANES = 256
"""Of each of two blocks that take powers: fewer waves do not hide what those take (0.86 of a copy's speed to 0.92)."""
POWER_LANES = 256, 384, 512
"""Of a multiprocessor that takes powers from rings of one source: as many waves in each of its quarters, and few. On an
H200 (2026-11-17), softmax of 70,456, 61,001 and 112,345 elements of 16 bits has 0.92 to 0.94 of a copy's speed by 8, 12
or 16 waves mostly, 0.87 to 0.90 by 20 or 24, 0.89 by 7 and 0.86 by 15."""
IN_REGISTERS = 65536
"""Bytes of a row that a block's registers hold. Up to there, rows that begin at pieces gain nothing by a ring."""
NEAR_WITH_LINES = {lines: 6 * HOPPER.near // (5 * (4 + lines)) for lines in (1, 2)}
"""The same for rows of 16 bits with one line, and with two: from there on four blocks' rows and the lines are a fifth
more than L1 keeps. LayerNorm of 20,000 to 29,136 f16 has 0.92 to 0.98 of a copy's speed by rings, and 0.84 to 0.89
without, RMSNorm of 24,576 to 32,760 0.93 to 0.99, and 0.83 to 0.95 (H200, 2026-11-18)."""
SHORT_RINGS = {1: ((8, 3),), 2: ((2, 1), (4, 2))}
"""Blocks that share such a row, and how many of them a multiprocessor has."""
KEPT_BY_TWO, SHORTER_RINGS = 384 * 48 * 2, ((2, 2),)
"""Bytes of such a row with two lines that each of two blocks keeps in registers, 48 elements a thread, and rings for
longer ones that L1 would keep: LayerNorm of 18,440 and 19,176 bf16 has 0.97 and 0.98 of a copy's speed by rings (of 64
MB 1.01 and 1.00) and 0.87 and 0.88 without (0.85), of 17,608 0.97 and 0.98 (H200, 2026-11-18)."""
FEW_ROUNDS = 72_000
"""Bytes of a row of f32 from which on a multiprocessor keeps one, so that 64 MB are two or three rounds: LayerNorm of
18,432 and RMSNorm of 24,576 have 0.83 and 0.84 of a copy's speed then, and 0.91 and 0.95 by rings, on an H200
(2026-11-18)."""
SHORTEST_RING = 8192
"""Bytes of a row that begins anywhere and that lines go with from which on a ring comes into question."""
LINES_AHEAD = 4
"""Iterations of lines that are on their way from L2 where they come for every row."""
SPARING = 2
"""Accesses of a thread to a row on GPUs that nothing was measured on, if the row allows it."""
FEW, SOME, MANY = 16, 128, 128 << 20
"""Launches that plans are compared for: of few rows so many and so many together, and rows of so many bytes. What is
fastest for 16 alone is slow for some more: 64 rows of 6,480 f32 take 6.8 us of an H200 by clusters of eight and 5.5 by
those of four, LayerNorm; 296 of 3,245 f16 5.7 us element by element and 5.3 by pieces, softmax (2026-11-17)."""
LONGER = 400_000
"""Bytes of a row from which on a quarter of that counts as much, since rounds are few: LayerNorm of 260,240 f16 has
0.92 of a copy's speed by clusters of 16 and 0.895 by those of eight on an H200 (2026-11-18), of 64 MB moved 0.875 and
0.80, of 261,001 0.885 and 0.88, and 0.86 and 0.82, RMSNorm of 262,143 bf16 0.93 and 0.935, and 0.905 and 0.84."""
MOST_FEW_LINES = 384
"""Bytes of lines that a thread of few rows loads before it waits for its row."""
MOST_FEW = 8 << 20
"""Bytes of few rows where blocks stay for many: the model compares those with others well for many rows only."""
SIDE_BY_SIDE, LEAST_FEW = 512, 3 << 20
"""Rows of a block each that all run at once, and bytes of them, up to which they are few whatever the model says, which
counts what blocks do and not how long the first waits: RMSNorm of 442 rows of 1,077 f16 takes 4.8 us of an H200 by six
waves a row and 5.5 by one, LayerNorm of 300 5.1 and 5.7, of 183 of 2,191 bf16 5.4 and 5.6, of 400 of 4,069 bf16 7.3
straight from memory and 7.8 through shared memory, of 100 of 7,001 f32 6.1 by clusters and 8.35 early (2026-11-18)."""
SMALL_BLOCK = 64
"""Threads of `_in_small_blocks`."""
CLUSTERED = 512
"""Blocks of clusters from which on their launch takes longer than few rows gain by it."""


def candidates(
    length: int, dtype: str, machine: Machine, threads: int | None = None, task: RowTask = MAP, lines: int = 0
) -> Iterator[RowPlan]:
    """Yield every plan that the model compares; with ``threads``, those with blocks of so many."""
    return (_spread(plan, machine) for plan in _candidates(length, dtype, machine, threads, task, lines))


def _spread(plan: RowPlan, machine: Machine) -> RowPlan:
    """Return the plan with rows of a wave as near in a tile as they can be without being in the way of each other."""
    if not machine.bulk or not plan.staged or plan.sums or plan.lanes >= machine.wave or plan.threads % machine.wave:
        return plan
    steps = plan.tile_rows * plan.lanes // machine.wave
    spreads = [1 << bit for bit in range(steps.bit_length()) if steps % (1 << bit) == 0]
    passes = partial(bank_passes, plan.length, plan.size, plan.width, plan.lanes, machine.wave)
    return replace(plan, spread=min(spreads, key=passes))


def _candidates(
    length: int, dtype: str, machine: Machine, threads: int | None = None, task: RowTask = MAP, lines: int = 0
) -> Iterator[RowPlan]:
    """Yield the plans of `candidates`, whose rows lie side by side in a tile."""
    widest = ACCESS_BYTES // (DTYPES[dtype].width // 8)
    width = gcd(length, widest)
    lanes = [1 << bit for bit in range(machine.wave.bit_length())]
    waves = (2, 3, 4, 5, 6, 8, *([7, 9, 14] if task.sums else []), 10, 12, 16, 20, 24, 32)
    passing = machine is HOPPER_LONG and task.once and not task.targets
    if machine is HOPPER_LONG and not task.sums:
        waves = (3, 4, 5, 6, 8, 16, 32) if passing else (2, 4, 8, 16, 32)
    between = BETWEEN if machine is HOPPER_LONG and task == MAP and width == widest else ()
    lanes += [count * machine.wave for count in (*waves, *between)]
    clusters = [1 << bit for bit in range(machine.cluster.bit_length())]
    for count in lanes:
        if count > MAX_THREADS or (count > 2 * length // width and count > machine.wave and count != threads):
            continue
        sizes = {max(count, size) for size in (128, 256)} | ({count} if passing and count > 2 * machine.wave else set())
        if task.sums:
            sizes = {max(size // count, 1) * count for size in (256, 512)}
        for block in {threads} if threads else sizes:
            if block % count:
                continue
            rows = block // count
            for cluster in clusters if rows == 1 and count // machine.wave not in between else (1,):
                plan = RowPlan(length, dtype, width, count, rows, cluster, **task.fields)
                yield from _kinds(plan, machine)
                yield from _in_turns(plan, machine, lines)
                if lines and machine.bulk and not task.sums and width < widest:
                    yield from _with_lines_kept(plan, lines)
                    yield from by_words(plan, lines)
                pieces = replace(plan, width=widest, pieces=True)
                many = rows > 1 and (task.targets or not task.once)  # what is only read may lie in pieces of any lane
                if not machine.bulk or width == widest or many or task.sums or length < LEAST_PIECES * widest:
                    continue
                if not lines:
                    yield from _in_pieces(pieces, machine)
                elif lines > 1 and pieces.size == 2 and task.sources == 1:
                    continue  # by three or four rings: 0.94 of a copy's speed and 0.90 (LayerNorm of 4,401 f16, H200)
                elif cluster == 1 and pieces.held <= MAX_EARLY and length * pieces.size >= EARLY:
                    crowds = (crowd for crowd in (1, 2, 3, 4) if crowd * count >= LEAST_EARLY)
                    yield from (replace(pieces, early=True, crowd=crowd, hints=ONCE) for crowd in crowds)
    if machine.bulk and not threads:
        if not task.sums:
            yield from _narrower(RowPlan(length, dtype, width, machine.wave, hints=PLAIN, **task.fields))
        yield from (summing_rings if task.sums else rings)(length, dtype, machine, task, lines)
        yield from ordered_rings(length, dtype, machine, task, lines)
        if task.sums:
            yield from summed_tiles(length, dtype, machine, task, lines)
        if task.sums == 1:
            yield from early_sums(length, dtype, machine, task, lines)


def _kinds(plan: RowPlan, machine: Machine) -> Iterator[RowPlan]:
    """Yield the plans that spread rows over threads as ``plan`` does."""
    once = ONCE if machine.bulk else PLAIN
    longest = plan.cluster == machine.cluster  # takes rows of any length
    wide = plan.width * plan.size == ACCESS_BYTES
    fits = plan.held * plan.sums <= MAX_SUMS if plan.sums else plan.held <= MAX_AGAIN and plan.rows == 1
    if plan.sums and machine.bulk and plan.threads > SUMMING:
        return
    if plan.once and not plan.targets and plan.cluster > 1 and _alone_in_a_block(plan, machine):
        return
    # Rows that begin at pieces are kept by the first-level cache, and those needed once by nobody: no gain ahead.
    ahead_gains = plan.sums or not (wide or plan.once)
    if machine.bulk and fits and ahead_gains and (plan.cluster <= MAX_STAYING or plan.sums):
        kept = bool(plan.sums) and plan.held <= MAX_KEPT and wide
        ahead = replace(plan, staged=True, bulk=True, keep=kept, hints=once)
        yield from (replace(ahead, stages=stages) for stages in (STAGES[::-1] if plan.sums else STAGES))
    if plan.sums:
        if machine.bulk and wide and plan.held <= MAX_KEPT:
            yield replace(plan, early=True, hints=once)
        if plan.held * plan.sums <= MAX_SUMS and not machine.bulk:
            # The most threads a block may have leave each 128 registers: rows are then loaded again, not kept.
            yield replace(plan, keep=plan.held < MAX_KEPT or plan.threads < MAX_THREADS)
        return
    if plan.held * plan.sources <= MAX_HELD:
        yield replace(plan, hints=once)
        if wide or plan.held <= MAX_NARROW or not machine.bulk:
            yield replace(plan, staged=True, bulk=machine.bulk, hints=once)
    if plan.once and wide and plan.cluster > 1 and plan.length <= MAX_ONCE * MAX_THREADS:
        return
    if plan.rows == 1 and (plan.held <= _most_again(plan, machine) or longest):
        if machine.bulk and not (wide and plan.sources == 1):
            yield replace(plan, staged=True, bulk=True, keep=False, hints=once)
        yield replace(plan, keep=False, hints=(ONCE if plan.once else TWICE) if machine.bulk else PLAIN)


def _most_again(plan: RowPlan, machine: Machine) -> int:
    """Return how many elements of a row a thread may have that are loaded when they are needed."""
    if not plan.once:
        return MAX_AGAIN
    return MAX_ONCE if plan.targets or not machine.bulk else max(MAX_ONCE, MAX_READ * plan.width)


def _narrower(plan: RowPlan) -> Iterator[RowPlan]:
    """Yield the plans whose threads have a single access of fewer bytes than 16: few short rows then have more threads,
    each of which has fewer instructions."""
    for width in (plan.width // 2, plan.width // 4):
        lanes = -(-plan.length // max(width, 1) // plan.lanes) * plan.lanes
        if width * plan.size >= LEAST_ACCESS and lanes <= MAX_NARROWER:
            yield replace(plan, width=width, lanes=lanes, rows=max(128 // lanes, 1))


def _in_turns(plan: RowPlan, machine: Machine, lines: int) -> Iterator[RowPlan]:
    """Yield the plan whose half waves load two rows at once, by 8 bytes, and their lines once for both. By 4 bytes, or
    with more rows, that was slower than through shared memory."""
    halves = 2 * plan.lanes == machine.wave and 2 * plan.width * plan.size == ACCESS_BYTES and plan.size == 2
    measured = lines and plan == replace(plan, **MAP.fields) and plan.held in range(*IN_TURNS)
    if machine.bulk and halves and measured:
        yield replace(plan, turns=2, hints=ONCE)


def _with_lines_kept(plan: RowPlan, lines: int) -> Iterator[RowPlan]:
    """Yield the plans whose blocks stay, so that lines whose elements are loaded one by one are loaded once."""
    if plan.taken <= MAX_TAKEN and (1 + lines) * plan.taken <= MAX_LINES_KEPT and plan.cluster == 1:
        kept = replace(plan, staged=True, bulk=True, hints=ONCE, stages=2)
        alone = plan.lanes <= HOPPER.wave  # waves of a row wait for each other: tiles of two rows, measured so
        turns = TURNS if alone else (2 // plan.rows,) if plan.threads <= 128 or plan.rows == 1 else ()
        yield from (_relayed(replace(kept, turns=turn, crowd=crowd)) for turn, crowd in product(turns, KEPT_CROWDS))


def _relayed(plan: RowPlan) -> RowPlan:
    coming = plan.crowd * plan.stages * plan.tile * plan.size
    return replace(plan, relays=RELAYS) if coming >= LEAST_RELAYED else plan


def _in_pieces(plan: RowPlan, machine: Machine) -> Iterator[RowPlan]:
    """Yield the plans whose threads load a row's pieces wherever it begins; lines would not begin alike."""
    half = 2 * plan.lanes == machine.wave and plan.once and not plan.targets
    if plan.held * plan.sources <= MAX_HELD or (half and plan.held * plan.size <= MOST_READ):
        yield replace(plan, hints=ONCE)
    most = _most_again(plan, machine) + plan.width  # a row may lie in a piece more than it fills
    if plan.rows == 1 and (plan.held <= most or plan.cluster == machine.cluster):
        yield replace(plan, keep=False, hints=ONCE if plan.once else TWICE)


def rings(length: int, dtype: str, machine: Machine, task: RowTask, lines: int) -> Iterator[RowPlan]:
    """Yield the plans that have rows come through a ring of chunks, which is as large as shared memory allows."""
    width = ACCESS_BYTES // (DTYPES[dtype].width // 8)
    aligned, size = length % width == 0, length * DTYPES[dtype].width // 8
    if task.once and (aligned or not task.targets):
        return  # threads load such rows straight from memory
    near = aligned and lines and task.sources == 1 and DTYPES[dtype].width == 16 and size < IN_REGISTERS
    least = NEAR_WITH_LINES[min(lines, 2)] if near else IN_REGISTERS if aligned else SHORTEST_RING if lines else LONG
    short_rings = SHORT_RINGS[min(lines, 2)] if near else ()
    if near and lines > 1 and KEPT_BY_TWO < size < least:
        least, short_rings = KEPT_BY_TWO, SHORTER_RINGS
    if size * (task.sources if aligned else 1) < least:
        return
    start = RowPlan(length, dtype, width, machine.wave, keep=False, hints=ONCE, slots=1, **task.fields)
    large = task.sources == 1 and (lines or (task == MAP and start.size == 4))
    clusters = (*RING_CLUSTERS, LARGE_CLUSTER) if large else RING_CLUSTERS
    kinds = [(1, 2, width)] if task.once else product(clusters, CROWDS, (width,))
    if lines > 1 and not aligned and start.size == 4 and task.sources == 1 and not task.once:
        kinds = product(clusters, CROWDS, (width, 1))  # vectors, or elements one by one
    for cluster, crowd, taken in kinds:
        if cluster == LARGE_CLUSTER and crowd > 1:
            continue  # slower than one, or than clusters of eight
        if near and (cluster, crowd) not in short_rings:
            continue  # of two lines, a block has 0.86 to 0.93, three or four of a multiprocessor 0.85 to 0.94
        plan, found = replace(start, cluster=cluster, crowd=crowd, width=taken), set()
        counts = [-(-plan.share * taken // width // each // machine.wave) * machine.wave for each in RING_ITERATIONS]
        if not lines and task == MAP:
            counts = [lanes // crowd for lanes in POWER_LANES if lanes % (crowd * machine.wave) == 0]
        for lanes in counts:
            least = MIN_POWER_LANES if crowd == 2 and not lines else MIN_RING_LANES
            fits = least <= lanes <= RING_LANES and (lanes + machine.wave) * crowd <= MAX_THREADS
            if not fits or lanes in found:
                continue
            found.add(lanes)
            yield from _whole_rings(replace(plan, lanes=lanes), machine, lines)
            if task.once:
                break
        if (cluster, crowd) == (machine.cluster, 1):
            yield from _taken_rings(plan, machine, lines)


def _may_overlap(ring: RowPlan) -> bool:
    """Return whether the first pass over a row may come before the second over the one ahead of it: with place for two
    rows and three quarters, or for more where elements of four chunks are taken one by one."""
    many, least = ring.by_elements and ring.chunks == LARGE_CHUNKS, OVERLAPPED * ring.parts
    return ring.slots >= least if many else ring.near_lines and ring.slots == least


def _whole_rings(plan: RowPlan, machine: Machine, lines: int) -> Iterator[RowPlan]:
    """Yield the plan with the fewest chunks that leave place for two rows, or with all numbers of them.

    What registers do not hold of lines is in shared memory, or comes from L2 for every row. Where rows begin anywhere
    and tables leave too little place, lines are in registers.
    """
    if plan.held > (MAX_ONCE if plan.once else MAX_RING):
        return
    rest = bool(lines) and near_line_bytes(plan, lines) > 0
    kinds, by_elements = [plan], plan.shifted and lines > 1 and plan.size == 4 and plan.sources == 1
    if rest and not plan.shifted:
        kinds = [replace(plan, near_lines=True), replace(plan, lines_ahead=LINES_AHEAD)]
    sizes = (replace(kind, chunks=chunks) for kind in kinds for chunks in RING_CHUNKS)
    found = [ring for size in sizes if (ring := ring_of(size, machine, lines))]
    if plan.cluster == LARGE_CLUSTER and not lines:
        found = [ring for ring in found if ring.chunks == LARGE_CHUNKS and ring.slots >= 2 * LARGE_CHUNKS]
    spacious = [ring for ring in found if ring.slots >= 2 * ring.chunks]
    if plan.size == 2 and lines > 1 and plan.sources == 1 and not plan.once:
        # With place for two rows, where more would be in the way of results.
        found += [replace(ring, slots=2 * ring.parts) for ring in spacious[:1] if ring.slots > 2 * ring.parts]
    if plan.cluster == LARGE_CLUSTER and lines > 1 and plan.size == 4:
        yield from (replace(ring, overlaps=True) for ring in found if _may_overlap(ring))
    yield from found[:1] if plan.once else spacious if by_elements else found
    if lines and plan.shifted and not spacious and not by_elements and plan.lanes < RING_LANES:
        places = [replace(plan, one_place=True, near_lines=near) for near in ((True, False) if rest else (False,))]
        rings = (ring_of(replace(kind, chunks=chunks), machine, lines) for kind in places for chunks in RING_CHUNKS)
        yield from filter(None, rings)


def _taken_rings(plan: RowPlan, machine: Machine, lines: int) -> Iterator[RowPlan]:
    """Yield the plan with rows of 16 bits that the first pass takes into registers, where those have place: of a
    softmax their powers; beside tables of two lines a ring has no place for two rows, and need not have."""
    if not plan.maps or plan.size == 4 or (lines and not (plan.shifted and lines == 2)):
        return
    taken = replace(plan, lanes=TAKING_LANES if lines else POWERS_LANES, into_registers=True)
    found = [ring for chunks in RING_CHUNKS if (ring := ring_of(replace(taken, chunks=chunks), machine, lines))]
    if not lines:
        yield from found[:1] if taken.held <= MOST_POWERS else ()
        return
    crowded = not any(ring.slots >= 2 * ring.chunks for ring in found)
    if crowded and taken.held + TAKING <= register_limit(taken, machine, lines):
        yield from found


def for_rows(machine: Machine, size: int, task: RowTask = MAP) -> Machine:
    """Return the numbers of a machine for rows of ``size`` bytes."""
    return HOPPER_LONG if machine is HOPPER and (size * task.sources >= LONG or task.sums) else machine


def _alone_in_a_block(plan: RowPlan, machine: Machine) -> bool:
    """Return whether a block could have the whole row, in shared memory or, where rows begin at pieces, without."""
    wide = plan.width * plan.size == ACCESS_BYTES and plan.length <= MAX_ONCE * MAX_THREADS
    return wide or plan.length * plan.size * plan.sources + 4096 <= machine.shared


def _stays_near(plan: RowPlan, machine: Machine, lines: int) -> bool:
    """Return whether the first-level cache keeps all rows that are loaded again, and the line that goes with them:
    RMSNorm of 32,768 bf16 has 0.98 of a copy's speed so, and 0.92 by a ring."""
    again = not (plan.keep or plan.staged or plan.slots) and plan.cluster == 1
    return again and lines == 1 and (resident(plan, machine, 1) + 1) * plan.length * plan.size <= machine.near


def _not_too_full(plan: RowPlan, lines: int) -> RowPlan:
    """Return a ring of 16-bit rows with place for two rows where three are more than is good for the memory: softmax of
    26,661 f16 has 0.94 of a copy's speed so and 0.90 with three, LayerNorm of 42,644 and 85,408 0.93 and 0.945, and
    0.92 and 0.93. A block by itself has nothing else to do while it waits: softmax of 70,456 f16 has 0.88 and 0.92 on
    an H200 (2026-11-17), of 31,001 bf16 0.91 and 0.97, RMSNorm of 46,330 bf16 0.965 and 0.973. In a cluster of
    eight it waits: LayerNorm of 138,640 bf16 has 0.89 and 0.94, of 64 MB moved 0.86 and 0.92 (2026-11-18)."""
    if (plan.crowd == 1 and (lines < 2 or plan.cluster == HOPPER.cluster)) or plan.in_order:
        return plan
    two = replace(plan, slots=2 * plan.parts)
    ring = plan.slots == MOST_AHEAD * plan.parts > 0 and plan.size == 2 and plan.sources == 1 and not plan.once
    return two if ring and plan.crowd * ring_bytes(two) <= FULL < plan.crowd * ring_bytes(plan) else plan


def _in_small_blocks(plan: RowPlan, lines: int) -> RowPlan:
    """Return a plan of short rows that come straight from memory, and whose lines do so at once, with blocks of two
    waves: LayerNorm of 112, 136, 168 and 216 bf16 has 1.017, 0.99, 1.03 and 1.02 of a copy's speed so on an H200
    (2026-11-18), and 1.007, 0.98, 1.03 and 1.005 with blocks of four."""
    short = plan.direct and plan.maps and plan.turns == 1 and plan.width * plan.size == ACCESS_BYTES
    if short and plan.lines_early(lines) and plan.lanes < HOPPER.wave and plan.threads > SMALL_BLOCK:
        return replace(plan, rows=SMALL_BLOCK // plan.lanes)
    return plan


@cache
def choose(
    length: int, dtype: str, machine: Machine, lines: int, threads: int | None = None, task: RowTask = MAP
) -> RowChoice:
    """Return the plans that the model finds fastest; with ``threads``, of those with blocks of so many."""
    if threads is not None and (threads not in range(1, MAX_THREADS + 1) or threads % machine.wave):
        raise ValueError(f"blocks have 1 to {MAX_THREADS} threads in waves of {machine.wave}, got {threads}")
    machine = for_rows(machine, length * DTYPES[dtype].width // 8, task)
    found = [
        plan for plan in candidates(length, dtype, machine, threads, task, lines) if resident(plan, machine, lines)
    ]
    if task.sums:
        found = summing_plans(found)
    if not found:
        raise ValueError(f"rows of {length} {dtype} are too long for sums of their columns in registers")
    launch = max(MANY // (length * found[0].size), 1)
    if not machine.bulk and not task.sums:
        # Nothing was measured there: one plan for any number of rows, whose threads need few registers.
        sparing = [plan for plan in found if plan.held * plan.size <= SPARING * ACCESS_BYTES] or found
        return only(min(sparing, key=lambda plan: launch_time(plan, machine, lines, launch)))
    # Few rows have nothing that could come while others are computed on.
    alone = [plan for plan in found if not (plan.stays or plan.words)] or found
    if lines and machine is HOPPER and any(plan.shifted for plan in found):
        # Lines of elements that are loaded one by one take too long, but where blocks keep them.
        kept = found[0].size == 2 and length <= LONGEST_KEPT
        found = [plan for plan in found if plan.shifted or plan.narrow or (kept and plan.lines_stay)]
    if any(plan.in_order for plan in found):
        found = [plan for plan in found if not plan.lines_stay]
    at_pieces = [plan for plan in found if plan.slots and not plan.anywhere and not task.sums]
    short_rings = [plan for plan in at_pieces if length * plan.size < IN_REGISTERS]
    if at_pieces and lines and task == MAP and length * at_pieces[0].size >= FEW_ROUNDS:
        found = [plan for plan in found if plan.slots or plan.size < 4 or plan.cluster > 1]
    found = short_rings + [plan for plan in found if not short_rings or _stays_near(plan, machine, lines)]
    if task.once and not task.targets:
        found = with_fewest_blocks(found)  # nothing stays that a cluster would have place for
    launches = (launch, max(launch // 4, 1)) if task == MAP and length * found[0].size >= LONGER else (launch,)
    many = min(found, key=lambda plan: sum(launch_time(plan, machine, lines, rows) for rows in launches))
    few = min(alone, key=lambda plan: sum(few_time(plan, machine, lines, rows) for rows in (FEW, SOME)))
    many = _in_small_blocks(_not_too_full(many, lines), lines)
    limit = 1
    while limit < launch and launch_time(few, machine, lines, limit) < launch_time(many, machine, lines, limit):
        limit *= 2
    limit = max(limit // 2, CLUSTERED // few.cluster if short_rings else FEW if many.stays else 0)
    if few.rows == 1 and not few.staged:
        limit = max(limit, min(SIDE_BY_SIDE, LEAST_FEW // (length * few.size)))
    if few.cluster > 1:
        limit = min(limit, CLUSTERED // few.cluster)
    if many.stays:
        limit = min(limit, max(MOST_FEW // (length * many.size), FEW))
    plain = few.keep and not few.staged and not few.stays and machine.bulk
    if few == many and plain:
        limit = machine.processors  # the same plan, but for what few rows gain by
    if (few == many and not plain) or limit == 0:
        return only(many)
    if plain:
        # Few rows do not fill a cache, and priorities take instructions.
        few = replace(few, hints=PLAIN, few=lines * few.held * few.size <= MOST_FEW_LINES)
    return RowChoice(many, few, limit, many.apart or few.apart)


def plan_row(length: int, dtype: str, threads: int | None = None, *, lines: int = 0, task: RowTask = MAP) -> RowChoice:
    """Return the plans of a row on the target being traced; the only place that decides them.

    ``lines`` is how many vectors as long as a row (scale, shift) are loaded beside it.
    """
    check_row(length, dtype)
    return choose(length, dtype, machine_of_target(), lines, threads, task)
