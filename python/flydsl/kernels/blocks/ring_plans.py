"""Plans that have rows come through a ring of chunks in shared memory: which come into question, and how full. At the
end, what rows that begin anywhere have beside those where lines go with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from flydsl.kernels.blocks.cache_hints import ONCE
from flydsl.kernels.blocks.row_machine import FULL, HOPPER, LONG, Machine
from flydsl.kernels.blocks.row_plan import ACCESS_BYTES, DTYPES, MAP, MOST_NARROW, RowPlan, RowTask
from flydsl.kernels.blocks.row_resources import near_line_bytes, register_limit, ring_bytes
from flydsl.kernels.blocks.summing_plans import (
    CROWDS,
    LARGE_CLUSTER,
    MAX_THREADS,
    MOST_AHEAD,
    RING_CHUNKS,
    RING_CLUSTERS,
    RING_ITERATIONS,
    ring_of,
)

MAX_RING, MAX_ONCE = 160, 256
"""Elements that a thread takes from a ring, which are not all there at a time, and where each is needed once only."""
IN_REGISTERS = 65536
"""Bytes of a row that a block's registers hold. Up to there, rows that begin at pieces gain nothing by a ring."""
RING_LANES, MIN_RING_LANES = 512, 128
"""Threads that take rows from a ring."""
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
POWERS_LANES, MOST_POWERS = 256, 128
"""Threads that keep the powers of a softmax's row of 16 bits from the first pass to the second, which only multiplies
them then, and how many of them each. Slots are given back by the first pass, so that place for two rows is enough, and
more is in the way of results. On an H200 (2026-11-20), 150,001, 185,001, 199,075, 225,001 and 240,832 elements have
1.00, 0.965, 0.965, 0.96 and 0.95 of a copy's speed so, and 0.97, 0.955, 0.95, 0.95 and 0.93 with place for three; of
64 MB moved 0.93, 0.95, 0.90, 0.93 and 0.89, and 0.88, 0.90, 0.85, 0.85 and 0.82. Where both passes take powers they
have 0.90, 0.89, 0.89, 0.94 and 0.93, of 64 MB 0.85, 0.88, 0.84, 0.885 and 0.84; by 320 to 480 threads that keep them
0.01 to 0.05 less. Of 262,144, which fills the registers, 0.915 and 0.93, of 64 MB 0.77 and 0.73."""
MIN_POWER_LANES = 256
"""Of each of two blocks that take powers: fewer waves do not hide what those take (0.86 of a copy's speed to 0.92)."""
POWER_LANES = 256, 384, 512
"""Of a multiprocessor that takes powers from rings of one source: as many waves in each of its quarters, and few. On an
H200 (2026-11-17), softmax of 70,456, 61,001 and 112,345 elements of 16 bits has 0.92 to 0.94 of a copy's speed by 8, 12
or 16 waves mostly, 0.87 to 0.90 by 20 or 24, 0.89 by 7 and 0.86 by 15."""
NEAR_WITH_LINES = {lines: 6 * HOPPER.near // (5 * (4 + lines)) for lines in (1, 2)}
"""Bytes up to which rows of 16 bits with one line, and with two, gain nothing: from there on four blocks' rows and the
lines are a fifth more than L1 keeps. LayerNorm of 20,000 to 29,136 f16 has 0.92 to 0.98 of a copy's speed by rings, and
0.84 to 0.89 without, RMSNorm of 24,576 to 32,760 0.93 to 0.99, and 0.83 to 0.95 (H200, 2026-11-18)."""
SHORT_RINGS = {1: ((8, 3),), 2: ((2, 1), (4, 2))}
"""Blocks that share such a row, and how many of them a multiprocessor has."""
KEPT_BY_TWO, SHORTER_RINGS = 384 * 48 * 2, ((2, 2),)
"""Bytes of such a row with two lines that each of two blocks keeps in registers, 48 elements a thread, and rings for
longer ones that L1 would keep: LayerNorm of 18,440 and 19,176 bf16 has 0.97 and 0.98 of a copy's speed by rings (of 64
MB 1.01 and 1.00) and 0.87 and 0.88 without (0.85), of 17,608 0.97 and 0.98 (H200, 2026-11-18)."""
SHORTEST_RING = 8192
"""Bytes of a row that begins anywhere and that lines go with from which on a ring comes into question."""
LINES_AHEAD = 4
"""Iterations of lines that are on their way from L2 where they come for every row."""


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
        whole = (replace(ring, slots=min(ring.slots, 2 * ring.parts)) for ring in found[:1])
        yield from whole if taken.held <= MOST_POWERS else ()
        return
    crowded = not any(ring.slots >= 2 * ring.chunks for ring in found)
    if crowded and taken.held + TAKING <= register_limit(taken, machine, lines):
        yield from found


def not_too_full(plan: RowPlan, lines: int) -> RowPlan:
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


# Longer rows that begin anywhere and that lines go with ---------------------------------------------------------------

IN_ORDER = {(1, 2): (7600, 40_000), (1, 4): (8193, 40_000), (2, 2): (8400, 21_000), (2, 4): (8193, 44_100)}
"""By the number of lines and the bytes of an element, those of a row for which rings in order are faster than tiles
whose lines stay, and than tables of lines: on an H200 (2026-11-18), LayerNorm of 3,701 and 5,191 elements of 16 bits
has 0.94 of a copy's speed, and 0.97 and 0.89 by tiles, of 10,001 and 11,777 0.95 and 0.93, and 0.95 and 0.94 by tables,
of 11,001 and 14,290 f32 0.95 and 0.89, and 0.94 and 0.94; RMSNorm of 3,301 and 3,873 elements of 16 bits has 0.94 and
0.975, and 0.98 and 0.95, of 18,001 and 22,001 0.96 and 0.92, and 0.95 and 0.96."""
ORDERED_CROWDS = {2: (2,), 4: (1, 2)}
"""Blocks of a multiprocessor, by the bytes of an element: one of 16 bits, four, and clusters were slower."""
MOST_BY_WORDS = {(1, 2): 20_000, (1, 4): 33_000, (2, 2): 8600, (2, 4): 21_000}
"""By the number of lines and the bytes of an element, those of a row that is reached 8 bytes at once, at most: RMSNorm
of 2,614, 5,002 and 8,002 f32 has 1.02 to 1.04 of a copy's speed so on an H200 (2026-11-18), of 5,196 and 9,004 bf16
1.03 and 1.02, LayerNorm of 2,610 to 5,002 f32 1.00, of 4,204 f16 0.99 and of 5,196 bf16 0.93; through rings or tiles
all had 0.88 to 0.98."""
MOST_HELD_BY_WORDS = 32
"""Elements of such a row that a thread has at most."""
ORDERED_LANES = 128, 384
"""Threads that take rows, at least and at most."""
ORDERED_SPARE = 72
"""Registers that a thread needs beside all that it has of lines: with 56, LayerNorm of 12,345 bf16 has 0.89 of a copy's
speed on an H200 (2026-11-18), with 112 0.91 and 0.96 (of 256 MB and of 64 MB)."""


def ordered_rings(length: int, dtype: str, machine: Machine, task: RowTask, lines: int) -> Iterator[RowPlan]:
    """Yield the rings with so many blocks, a multiple of a piece's elements, that every block's rows begin at one place
    in a piece: registers then have lines for all of them, as they go with that place."""
    width = ACCESS_BYTES // (DTYPES[dtype].width // 8)
    element = ACCESS_BYTES // width
    least, most = IN_ORDER.get((lines, element), (1, 0))
    if task != MAP or length % width == 0 or not least <= length * element <= most:
        return
    start = RowPlan(length, dtype, width, machine.wave, keep=False, hints=ONCE, slots=1, one_place=True, in_order=True)
    for crowd in ORDERED_CROWDS[element]:
        plan = replace(start, crowd=crowd)
        counts = {-(-plan.share // each // machine.wave) * machine.wave for each in RING_ITERATIONS}
        for lanes in sorted(count for count in counts if ORDERED_LANES[0] <= count <= ORDERED_LANES[1]):
            ring = replace(plan, lanes=lanes)
            words = lines * ACCESS_BYTES // 4 * ring.iterations
            if near_line_bytes(ring, lines) > 0 or words + ORDERED_SPARE > register_limit(ring, machine, lines):
                continue
            found = [ring_of(replace(ring, chunks=chunks), machine, lines) for chunks in RING_CHUNKS]
            yield from [way for way in found if way and way.slots >= 2 * way.parts][:1]


def by_words(plan: RowPlan, lines: int) -> Iterator[RowPlan]:
    """Yield the plan whose waves reach longer rows by 8 bytes at once."""
    known = range(MOST_NARROW + 1, MOST_BY_WORDS.get((lines, plan.size), 0) + 1)
    alone = plan == replace(plan, rows=1, cluster=1, **MAP.fields) and plan.held <= MOST_HELD_BY_WORDS
    if alone and 2 * plan.width * plan.size == ACCESS_BYTES and plan.length * plan.size in known:
        yield replace(plan, words=True, hints=ONCE)
