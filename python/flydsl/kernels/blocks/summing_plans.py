"""Plans of blocks that sum columns of all their rows, as gradients of weights are; and rings, as large as can be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product

from flydsl.kernels.blocks.cache_hints import ONCE
from flydsl.kernels.blocks.row_machine import Machine
from flydsl.kernels.blocks.row_plan import ACCESS_BYTES, DTYPES, LEAST_PIECES, MAX_KEPT, QUARTERS, RowPlan, RowTask
from flydsl.kernels.blocks.row_resources import (
    BARRIERS,
    register_limit,
    registers,
    resident,
    ring_bytes,
    shared_bytes,
    taking_limit,
)

MAX_THREADS = 1024
SUMMING = 512
"""Threads of a block that sums on Hopper, so that each has 128 registers."""
STAGES = (2, 3)
TURNS = 1, 2, 4
"""Rows of a tile that a thread takes one after the other."""
RING_CLUSTERS, RING_CHUNKS = (1, 2, 4, 8), (2, 4, 8)
"""Blocks that share a row of a ring, and into how many chunks a block's part of a row is cut: the fewest with which the
ring has place for two rows."""
FEW_SUMS, MAX_SUMS = 32, 64
"""Sums that a thread keeps, and that it keeps at most where rows are too long otherwise."""
SHORTEST_SUMMED, ROW_OF_A_WAVE, WAVE_ROWS = {1: 400, 2: 700}, 1100, 8
"""By the number of sums, elements of a row from which on a ring is faster for them than to reach elements one by one;
those of 16 bits up to which a row has a wave; and how many such rows a block has."""
SHORTEST_AT_PIECES = {(1, 2): 5000, (2, 2): ROW_OF_A_WAVE, (1, 4): 3000, (2, 4): 3000}
"""By the number of sums and the bytes of an element, elements of a row that begins at a piece from which on a ring is
faster for them, on an H200 (2026-11-17): LayerNorm of 1,432, 1,600, 2,640 and 2,432 16-bit elements has 0.89, 0.93,
0.98 and 0.99 of a copy's speed, and 0.83, 0.84, 0.89 and 0.99 without, of 4,096 and 8,192 f32 0.98 and 0.99, and 0.94
and 0.93, of 2,560 0.93 and 1.00; RMSNorm of 8,776 and 18,944 bf16 0.95 and 0.96, and 0.89 and 0.92."""
LONGEST_WIDE = 16_384
"""Elements of such rows of f32 at most: longer ones were not measured, but early, where lanes are full (0.99)."""
ON_WAY, LONG_ON_WAY = 29_000, 36_000
"""Bytes of rows that begin anywhere and come early that a multiprocessor has on their way, from which on that is faster
than rings, and those of rows of 5,000 elements and more: RMSNorm of 1,505, 3,257, 3,619 and 4,601 16-bit elements, with
24, 26, 29 and 37 KB, has 0.86, 0.88, 0.92 and 0.96 of a copy's speed so, and 0.93, 0.935, 0.92 and 0.86 through rings,
on an H200; of 5,109, 9,045 and 9,635, with 36 to 41 KB, 1.02, 0.97 and 0.99, and 0.96, 0.93 and 0.92 (2026-11-18), of
6,301 and 7,533, with 25 and 30, 0.85 and 0.90, and 0.98 and 0.95."""
LONGEST_FULL, FULL_LANES = 3000, 0.95
"""Elements of such rows of 16 bits up to which other plans are as fast as rings where so many lanes have a vector of
them: LayerNorm of 2,048 and 2,432 has 0.98 and 0.99 either way."""
SHORTEST_UNFILLED, FILLED = 500, 0.9
"""Of short ones with two sums, elements from which on such rows have a wave each where other lanes would not be filled
to that part: LayerNorm of 616, 824 and 1,048 bf16 has 0.87, 0.905 and 0.90 of a copy's speed so, and 0.80, 0.855 and
0.80 early, on an H200 (2026-11-17)."""
SHORTEST_TILED, TILE_THREADS, TILE_LANES, TILE_CROWDS, MOST_TILED = 64, 128, (4, 8, 16), (2, 3), 6
"""Of tiles of short rows that begin anywhere and are summed: elements of a row at least, threads of a block and of a
row, blocks, and vectors of a row that a thread has at most. Shorter rows were not measured."""
MOST_KEPT_TILED, MOST_OF_A_WAVE = 4, 5
"""Those vectors where a thread keeps what it computed of a row from its first pass to its second; and where a wave
reads two rows of a tile again: LayerNorm of 1,143 and 1,251 bf16 has 0.97 and 0.96 of a copy's speed so, and 0.85 and
0.89 through rings, on an H200 (2026-11-18), of 1,399, whose sixth vectors registers have no place for, 0.88 and
0.935."""
MOST_EARLY, MOST_FILLED = 5, 0.8
"""Vectors of a row that comes early and is summed that a thread has at most, and the part of them that is of the row at
least."""
TIGHT = {1: 16, 2: 32}
"""By the number of sums, registers that a thread has to have beside those that it needs: LayerNorm's gradient of 31,001
bf16 has 0.85 of a copy's speed with 232, and 0.79 with 168, of 15,617 0.897 and 0.889."""
SUMMING_RINGS = {
    (1, 1): 11, (1, 2): 16, (1, 3): 16, (1, 4): 16, (2, 1): 11, (2, 2): 10, (2, 3): 12, (4, 1): 11, (8, 1): 11,
    (16, 1): 11,
}  # fmt: skip
"""Rings with sums that were measured: blocks that share a row, how many of them a multiprocessor has, and how many of
its waves take rows at most."""
LARGE_CLUSTER = 16
"""Blocks that share a row of a ring where lines go with it, or it is summed or a softmax's of f32, and it is too long
for eight of them to have it, its lines and the row to come. Nothing else was measured with so many."""
MOVING, LEAST_MOVING = 36, 24
"""Registers that a thread has to have beside those that it needs where two sums move on from place to place, and where
rows are shared by `LARGE_CLUSTER` blocks: LayerNorm of 110,428 bf16 by eight blocks, with seven vectors and 232
registers, has 0.86 of a copy's speed on an H200 (2026-11-19), and by 16, with four, 0.91; of 225,001 by 16, with seven,
0.81. Threads of 16 blocks that have fewer read lines from shared memory: of 250,001, with eight, 0.75, and 0.58 with
lines in registers, for which others have no place then."""
FINEST = {True: 4, False: 8}
"""By whether rows begin anywhere, chunks of a row where rings of those blocks have place for three rows at most: with
four slots or eight a row the memory waits less for one that has been read. LayerNorm of 225,001 and 255,393 bf16 has
0.865 and 0.755 of a copy's speed with two chunks on an H200 (2026-11-19), 0.90 and 0.785 with four, 0.765 of 255,393
with eight; of 262,144 0.795, 0.834 and 0.883."""
LEAST_OF_TWO = 224
"""Lanes of two blocks whose threads have two vectors: LayerNorm of 2,640 and 2,840 bf16 has 0.85 and 0.87 by 192, and
0.98 and 0.905 by 128 that have three."""
MOST_OF_TWO = 125_000
"""Bytes of rings of two blocks at most where rows begin anywhere and have two sums of 16 bits: LayerNorm of 4,139,
4,215, 4,301 and 4,401 bf16 has 0.88, 0.94, 0.88 and 0.89 of a copy's speed so, and 0.92, 0.93, 0.94 and 0.95 by three
clusters of two; of 8,201 and 8,763 0.91 and 0.87, and 0.93 and 0.92 by a block, on an H200 (2026-11-18)."""
LEAST_SUMMING, MOST_LONE, MOST_SUMMED = 6, 8, 8
"""Those waves at least, and at most of one block with two sums of 16 bits (of 12,501 bf16 0.95 by 7, 0.91 by 13) or of
several with long rows that begin at pieces; and vectors of a row that a thread has at most."""
FULLEST = 200_000
"""Bytes of rings that are not too full for clusters of two: LayerNorm of 26,584 f16 has 0.83 with 213,000, 0.90 by four
blocks, RMSNorm of 27,296 bf16 0.92 and 0.96."""
SPARED, LEAST_SPARED, MOST_SPARED = 3, 132_000, 165_000
"""Rows that a ring has place for where four would be too full, bytes of four from which on no rings of 16 bits with two
sums have place for them (LayerNorm of 16,327, 16,791 and 17,001 bf16 has 0.94, 0.92 and 0.93 with three, 0.95, 0.87 and
0.90 with four, on an H200, 2026-11-18), and bytes of four up to which that gains: LayerNorm of
16,792 f16 has 0.87 with three, 0.82 with four, of 12,501 bf16 0.81 and 0.895, RMSNorm of 9,045 f16 0.89 and 0.83."""
MOST_OF_PAIR = 226_000
"""Those of clusters of two with two sums of rows of 16 bits that begin anywhere: LayerNorm of 22,001, 23,001, 24,001
and 26,001 bf16 has 0.91, 0.90, 0.92 and 0.88 with three rows in two chunks each on an H200 (2026-11-18), and 0.85,
0.89, 0.925 and 0.86 with four; of 28,001 0.89, and 0.88 by four blocks."""
RING_ITERATIONS = 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40
"""Vectors of a row that a thread takes from a ring: many spare instructions that each wave has for a row."""
CROWDS = 1, 2, 3, 4
MOST_AHEAD = 3
"""Rows that a ring has place for at most."""


def summing_rings(length: int, dtype: str, machine: Machine, task: RowTask, lines: int) -> Iterator[RowPlan]:
    """Yield the plans that sum columns of rows which come through a ring: those that begin anywhere, and of the others
    long ones of 16 bits, by few waves."""
    width = ACCESS_BYTES // (DTYPES[dtype].width // 8)
    start = RowPlan(length, dtype, width, machine.wave, keep=False, hints=ONCE, slots=1, **task.fields)
    if not start.shifted and start.size == 2 and task.sums > 1 and SHORTEST_UNFILLED <= length <= ROW_OF_A_WAVE:
        yield from _rows_of_waves(start, machine, lines)
    if length < (SHORTEST_SUMMED[task.sums] if start.shifted else SHORTEST_AT_PIECES[task.sums, start.size]):
        return
    if not start.shifted and start.size > 2 and length > LONGEST_WIDE:
        return
    if length <= ROW_OF_A_WAVE and start.size == 2:
        yield from _rows_of_waves(start, machine, lines)
        return
    for ((cluster, crowd), most), iterations in product(SUMMING_RINGS.items(), range(2, MOST_SUMMED + 1)):
        plan = replace(start, cluster=cluster, crowd=crowd, one_place=start.shifted and cluster > 2)
        plan = replace(plan, lanes=-(-plan.share // iterations // machine.wave) * machine.wave)
        if task.sums > 1 and plan.size == 2 and (crowd == 1 or (length >= LONGEST_FULL and not start.shifted)):
            most = MOST_LONE
        if plan.iterations != iterations or not LEAST_SUMMING <= plan.lanes * crowd // machine.wave <= most:
            continue
        if (cluster, crowd, iterations) == (1, 2, 2) and plan.lanes < LEAST_OF_TWO:
            continue
        rings = 4 * plan.share * ACCESS_BYTES * task.sources
        measured = (task.sources, task.sums, plan.size) == (2, 2, 2) and start.shifted
        if measured and crowd == 2 and crowd * rings > MOST_OF_TWO:
            continue
        most_spared = MOST_OF_PAIR if measured and cluster == 2 else MOST_SPARED
        spared = crowd == 1 and cluster <= 2 and rings <= most_spared  # four blocks had 0.01 to 0.06 less
        if not (measured and spared and rings > LEAST_SPARED):
            yield from _rings_of(_with_registers(plan, machine, lines), machine, lines)
        if spared:
            yield from _rings_of(_lending(plan, machine), machine, lines, SPARED)


def _rings_of(plan: RowPlan, machine: Machine, lines: int, most: int = 0) -> Iterator[RowPlan]:
    """Yield the plan with a ring for as many rows as have place, in the fewest chunks; or for ``most``, in two.

    A part of a row as large as a third of the ring comes in two as well: RMSNorm of 116,385 and 262,144 bf16 has 0.84
    and 0.87 of a copy's speed so on an H200 (2026-11-18), and 0.82 and 0.84 as a whole.
    """
    largest, moves = plan.cluster == LARGE_CLUSTER, plan.one_place and plan.sums > 1
    spare = (LEAST_MOVING if largest else MOVING) if moves else 0
    limit = taking_limit(plan, machine, lines) - spare
    if largest and plan.sums > 1 and registers(plan, lines) > limit:
        plan = replace(plan, near_lines=True)
    if registers(plan, lines) > limit:
        return
    kinds = (ring_of(replace(plan, chunks=chunks), machine, lines) for chunks in ((2,) if most else (1, *RING_CHUNKS)))
    found = [ring for ring in kinds if ring]
    whole = [ring for ring in found if plan.cluster <= 2 or ring.parts > 1 or ring.slots > SPARED]
    ring = next(iter(whole or found), None)
    if largest and ring is not None and ring.slots <= SPARED * ring.parts:
        ring = [finer for finer in found if finer.chunks <= FINEST[plan.shifted]][-1]
    if ring is not None and ring.slots >= most * ring.parts:
        yield replace(ring, slots=most * ring.parts) if most else ring


def _with_registers(plan: RowPlan, machine: Machine, lines: int) -> RowPlan:
    """Return the plan with more registers for those that take rows, where a block of a multiprocessor by itself has too
    few with a wave that only sends: by a warpgroup that lends its own."""
    spare = registers(plan, lines) + TIGHT[plan.sums] <= register_limit(plan, machine, lines)
    return plan if plan.crowd > 1 or spare else _lending(plan, machine)


def _lending(plan: RowPlan, machine: Machine) -> RowPlan:
    """Return the plan with a warpgroup that sends, and so with whole warpgroups that take rows."""
    group = QUARTERS * machine.wave
    return replace(plan, lanes=-(-plan.lanes // group) * group, lends=True)


def summed_tiles(length: int, dtype: str, machine: Machine, task: RowTask, lines: int) -> Iterator[RowPlan]:
    """Yield the plans that sum columns of short rows which begin anywhere, tile after tile of rows that lie one behind
    the other: so many that all tiles begin at the same place in a piece."""
    width = ACCESS_BYTES // (DTYPES[dtype].width // 8)
    start = RowPlan(
        length, dtype, width, TILE_LANES[0], staged=True, bulk=True, keep=False, pieces=True, hints=ONCE, **task.fields
    )
    short = length < SHORTEST_SUMMED[task.sums]
    if not start.shifted or start.size > 2 or length < SHORTEST_TILED or not (short or task.sums > 1):
        return
    plans = [replace(start, lanes=lanes) for lanes in (TILE_LANES if short else (machine.wave,))]
    kept = [replace(start, lanes=lanes, keep=True) for lanes in (16, machine.wave) if task.sums > 1]
    for plan, crowd, turns in product([*plans, *kept], (1, *TILE_CROWDS), TURNS[:2]):
        plan = replace(plan, rows=max(TILE_THREADS // plan.lanes, width), crowd=crowd, turns=turns)
        most = MOST_KEPT_TILED if plan.keep else MOST_TILED + 1 - turns if short else MOST_OF_A_WAVE
        fits = plan.iterations <= most
        if plan.lanes >= 16 and turns == 1 and plan.iterations < MOST_TILED:
            continue  # a tile of eight rows takes too long beside them: 0.87 of a copy's speed to 0.98 with 16
        found = (replace(plan, stages=stages) for stages in STAGES[::-1] if fits)
        yield from islice((plan for plan in found if resident(plan, machine, lines)), 1)


def early_sums(length: int, dtype: str, machine: Machine, task: RowTask, lines: int) -> Iterator[RowPlan]:
    """Yield the plans that sum columns of rows which begin anywhere, and come to registers early: as many blocks as
    registers allow, of whose threads' vectors few are beyond the row and only the first and the last are masked."""
    width = ACCESS_BYTES // (DTYPES[dtype].width // 8)
    start = RowPlan(length, dtype, width, machine.wave, pieces=True, early=True, hints=ONCE, **task.fields)
    if not start.shifted or start.size > 2 or length < LEAST_PIECES * width:
        return  # f32 is faster through rings
    for lanes in (*range(SUMMING, 0, -machine.wave), 16, 8):
        plan = replace(start, lanes=lanes, rows=max(128 // lanes, 4) if lanes <= 2 * machine.wave else 1)
        filled = plan.share >= MOST_FILLED * plan.iterations * lanes
        if not filled or plan.iterations > MOST_EARLY or (plan.iterations - 1) * lanes * width > length:
            continue
        crowds = (replace(plan, crowd=crowd) for crowd in reversed(CROWDS))
        yield from islice((plan for plan in crowds if resident(plan, machine, lines)), 1)


def _rows_of_waves(plan: RowPlan, machine: Machine, lines: int) -> Iterator[RowPlan]:
    """Yield the plans whose waves have a row each and send for those to come."""
    for crowd in (2, 1):
        ring = ring_of(replace(plan, rows=WAVE_ROWS, crowd=crowd), machine, lines)
        if ring and registers(ring, lines) <= register_limit(ring, machine, lines):
            yield ring
            return


def summing_plans(found: list[RowPlan]) -> list[RowPlan]:
    """Return the plans of those that sum which come into question.

    Many sums a thread mean few threads a row, which have less to tell each other; and so have few blocks. But a row
    that a cluster's threads keep is faster than one that a block's threads read again. Rows that begin anywhere come
    through rings where there are some.
    """
    early = [plan for plan in found if plan.early and plan.shifted]
    rings = [plan for plan in found if plan.slots]
    tiles = [plan for plan in found if plan.staged and plan.shifted]
    if (early or tiles) and not rings:
        return early or tiles
    if rings and not rings[0].shifted and rings[0].size == 2 and rings[0].length < LONGEST_FULL:
        others, part = [plan for plan in found if not plan.slots], FILLED if rings[0].rows > 1 else FULL_LANES
        filled = any(plan.share >= part * plan.iterations * plan.lanes for plan in others)
        return summing_plans(others) if filled else rings
    if rings:
        # A cluster of two where four rows do not fill its rings: of 23,968 f16 0.93 by two, 0.89 by four; or where
        # three do not that come in chunks: of 28,001 bf16 0.89 by two, 0.86 by four.
        two = any(plan.cluster <= 2 and _is_spacious(plan) and ring_bytes(plan) < FULLEST for plan in rings)
        near = [plan for plan in rings if plan.cluster <= 2] if two else rings
        if not two and near[0].sums == 1 and near[0].size == 2:
            near = [plan for plan in near if plan.held <= FEW_SUMS] or near  # of 37,491 bf16 0.88, and 0.835 with more
        least = ON_WAY if rings[0].length < SHORTEST_AT_PIECES[1, 2] else LONG_ON_WAY
        many = [plan for plan in early if plan.crowd * plan.rows * plan.sources * plan.length * plan.size >= least]
        return near + tiles + many
    # Rows that come early need several vectors of each lane, and lanes that are full: RMSNorm of 1,256 and 1,744 bf16
    # has 0.83 and 0.93 of a copy's speed early, and 1.00 and 1.03 ahead.
    filled = any(p.early and p.iterations > 1 and p.share >= 0.95 * p.iterations * p.lanes for p in found)
    many = [
        [p for p in found if most / 2 < p.sums * p.held + (p.rows > 1 and not filled) <= most or p.early]
        for most in (FEW_SUMS, MAX_SUMS)
    ]
    fit = with_fewest_blocks(next((plans for plans in many if plans), found))
    if not any(plan.keep for plan in fit):
        kept = [p for p in found if p.keep and p.rows == 1 and MAX_KEPT / 2 < p.held <= MAX_KEPT and not p.early]
        fit = with_fewest_blocks(kept) or fit
    return fit


def _is_spacious(plan: RowPlan) -> bool:
    """Return whether a ring has place for four rows, or for three in chunks."""
    return plan.slots >= (SPARED if plan.parts > 1 else 4) * plan.parts


def with_fewest_blocks(plans: list[RowPlan]) -> list[RowPlan]:
    return [plan for plan in plans if plan.cluster == min(other.cluster for other in plans)]


def ring_of(plan: RowPlan, machine: Machine, lines: int) -> RowPlan | None:
    """Return the plan with as many slots as shared memory allows; None if those are too few, or rows too short for
    chunks."""
    if plan.parts < plan.chunks:
        return None
    room = machine.shared // plan.crowd - (shared_bytes(plan, machine, lines) - ring_bytes(plan))
    slots = min(
        (room + BARRIERS) // (ring_bytes(plan) + plan.rows * BARRIERS), (MOST_AHEAD + (plan.sums > 0)) * plan.chunks
    )
    # Blocks that sum have two rows there at a time.
    least = 2 if plan.once or plan.rows > 1 else 2 * plan.parts + 1 if plan.sums else plan.chunks + 1
    return replace(plan, slots=slots) if slots >= least else None
