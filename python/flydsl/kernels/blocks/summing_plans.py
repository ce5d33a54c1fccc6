"""Plans of blocks that sum columns of all their rows, as gradients of weights are; and rings, as large as can be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, product

from flydsl.kernels.blocks.cache_hints import ONCE
from flydsl.kernels.blocks.row_machine import HOPPER, Machine
from flydsl.kernels.blocks.row_plan import (
    ACCESS_BYTES,
    BARRIERS,
    DTYPES,
    LEAST_PIECES,
    MAX_KEPT,
    QUARTERS,
    RowPlan,
    RowTask,
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
SHORTEST_AT_PIECES = {1: 5000, 2: 3000}
"""By the number of sums, elements of a row that begins at a piece from which on a ring is faster for them: LayerNorm of
3,112 bf16 has 0.98 of a copy's speed and 0.94 through tiles, of 2,432 0.94 and 1.02; RMSNorm of 8,776,
10,240, 18,944 and 27,296 0.95, 0.98, 0.96 and 0.96, and 0.89, 0.91, 0.92 and 0.89 through tiles."""
SHORTEST_UNFILLED, FILLED = 500, 0.9
"""Of short ones with two sums, elements from which on such rows have a wave each where other lanes would not be filled
to that part: LayerNorm of 616, 824 and 1,048 bf16 has 0.87, 0.905 and 0.90 of a copy's speed so, and 0.80, 0.855 and
0.80 early, on an H200 (2026-11-17)."""
FEW_SUMMING = {1: 10, 2: 8}
"""By the number of sums, waves of a multiprocessor that take rows of 16 bits from rings, where those are enough:
RMSNorm of 10,611 bf16 has 0.945 of a copy's speed by eight of clusters of four, and 0.88 by 11 to 14 of a block or
two. One block of a multiprocessor and one sum may have two more: of 21,151 to 23,201 0.94, and 0.85 to 0.90 by
clusters of four."""
SHORTEST_TILED, TILE_THREADS, TILE_LANES, TILE_CROWDS, MOST_TILED = 64, 128, (4, 8, 16), (2, 3), 6
"""Of tiles of short rows that begin anywhere and are summed: elements of a row at least, threads of a block and of a
row, blocks, and vectors of a row that a thread has at most. Shorter rows were not measured."""
MOST_KEPT_TILED = 4
"""Those vectors where a thread keeps what it computed of a row from its first pass to its second."""
MOST_EARLY, MOST_FILLED = 5, 0.8
"""Vectors of a row that comes early and is summed that a thread has at most, and the part of them that is of the row at
least."""
TIGHT = 16
"""Registers that a thread has to have beside those that it is expected to need: LayerNorm's gradient of 31,001 bf16 has
0.85 of a copy's speed with 232, and 0.79 with 168, which are 8 more than expected and 2 too few."""
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
    if length < (SHORTEST_SUMMED if start.shifted else SHORTEST_AT_PIECES)[task.sums]:
        return
    if not start.shifted and start.size > 2:
        return
    if length <= ROW_OF_A_WAVE and start.size == 2:
        yield from _rows_of_waves(start, machine, lines)
        return
    for cluster, crowd, iterations in product(RING_CLUSTERS, CROWDS, RING_ITERATIONS):
        plan = replace(start, cluster=cluster, crowd=crowd)
        lanes = -(-plan.share // iterations // machine.wave) * machine.wave
        plan = replace(plan, lanes=lanes)
        plan = _with_registers(plan, machine, lines)
        fits = plan.threads <= min(MAX_THREADS, machine.threads // crowd)
        if not start.shifted:
            fits = _has_few_waves(plan)
        if not fits or (plan.iterations != iterations and not plan.lends):
            continue
        if plan.all_send and (crowd > 2 or plan.two_narrow_sums):
            continue  # they wait for each other: 0.36 to 0.61 of a copy's speed at four of seven lengths
        if registers(plan, lines) > taking_limit(plan, machine, lines):
            continue
        found = (ring_of(replace(plan, chunks=chunks), machine, lines) for chunks in (1, *RING_CHUNKS))
        yield from list(filter(None, found))[:1]


def _with_registers(plan: RowPlan, machine: Machine, lines: int) -> RowPlan:
    """Return the plan with more registers for those that take rows, where a wave that only sends leaves too few: by a
    warpgroup that lends its own, or, where a multiprocessor has several blocks, by no such wave."""
    if registers(plan, lines) + (TIGHT if plan.crowd == 1 else 0) <= register_limit(plan, machine, lines):
        return plan
    group = QUARTERS * machine.wave
    if plan.crowd > 1:
        return replace(plan, all_send=True)
    return replace(plan, lanes=-(-plan.lanes // group) * group, lends=True)


def _has_few_waves(plan: RowPlan) -> bool:
    """Return whether blocks that sum are several, of a multiprocessor or a cluster, and have few waves together."""
    most = FEW_SUMMING[plan.sums] + (2 if plan.sums == 1 and plan.crowd == 1 else 0)
    return plan.cluster * plan.crowd > 1 and plan.lanes * plan.crowd <= most * HOPPER.wave


def summed_tiles(length: int, dtype: str, machine: Machine, task: RowTask, lines: int) -> Iterator[RowPlan]:
    """Yield the plans that sum columns of short rows which begin anywhere, tile after tile of rows that lie one behind
    the other: so many that all tiles begin at the same place in a piece."""
    width = ACCESS_BYTES // (DTYPES[dtype].width // 8)
    start = RowPlan(
        length, dtype, width, TILE_LANES[0], staged=True, bulk=True, keep=False, pieces=True, hints=ONCE, **task.fields
    )
    longest = ROW_OF_A_WAVE if task.sums > 1 else SHORTEST_SUMMED[task.sums]
    if not start.shifted or start.size > 2 or not SHORTEST_TILED <= length < longest:
        return
    kept = [replace(start, lanes=lanes, keep=True) for lanes in (16, machine.wave) if task.sums > 1]
    plans = [replace(start, lanes=lanes) for lanes in TILE_LANES if length < SHORTEST_SUMMED[task.sums]]
    for plan, crowd, turns in product([*plans, *kept], (1, *TILE_CROWDS), TURNS[:2]):
        plan = replace(plan, rows=max(TILE_THREADS // plan.lanes, width), crowd=crowd, turns=turns)
        fits = plan.iterations <= (MOST_TILED + 1 - turns if not plan.keep else MOST_KEPT_TILED)
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
    if rings and rings[0].two_narrow_sums and rings[0].rows == 1:
        # Two rows on their way: of 30,001 to 32,003 elements 0.84 of a copy's speed by two blocks with one, and 0.86 by
        # four with two. Longer ones have no place for that: of 60,001 0.78 by four, and 0.56 by eight.
        roomy = [plan for plan in rings if plan.slots >= 4 * plan.parts]
        kinds = ((plans, most) for plans, most in ((roomy, 2), (roomy, 4), (rings, 4), (rings, 8)))
        return next(filter(None, ([plan for plan in plans if plan.cluster <= most] for plans, most in kinds)))
    if rings and rings[0].rows > 1 and not rings[0].shifted:
        others = [plan for plan in found if not plan.slots]
        filled = any(plan.share >= FILLED * plan.iterations * plan.lanes for plan in others)
        return summing_plans(others) if filled else rings
    if rings:
        few = [plan for plan in rings if plan.held <= FEW_SUMS] or rings
        sparing = [plan for plan in few if _has_few_waves(plan) and plan.size == 2]
        if rings[0].sums == 1 and sparing and rings[0].length >= SHORTEST_AT_PIECES[1]:
            # Of 50,001 bf16 0.81 of a copy's speed by clusters of four, and 0.61 by those of eight.
            others = [plan for plan in rings if plan.shifted and _has_few_waves(plan)]
            shared = ([plan for plan in plans if plan.cluster <= 4] for plans in (sparing, others))
            return next(filter(None, shared), sparing)
        if rings[0].sums > 1 and all(plan.cluster > 2 for plan in few):
            few = [plan for plan in rings if plan.cluster <= 2] or few  # 0.87 of a copy's speed by two, 0.77 by four
        # Two blocks of a multiprocessor hide each other's waiting where elements are many for their bytes.
        two = [plan for plan in few if plan.size == 2 and plan.crowd > 1 and plan.cluster <= 2]
        found = with_fewest_blocks(two or few)
        if all(plan.crowd == 1 for plan in found):
            found = [plan for plan in found if plan in sparing] or found  # of 12,501 bf16 0.95 by 7 waves, 0.91 by 13
        # A row of a block by itself is as good where those share it with another.
        whole = [plan for plan in few if plan.cluster == 1 and plan.sums > 1 and plan.size == 2 and plan.shifted]
        return found + (whole if found[0].cluster == 2 else []) + early + tiles
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
    # Where no other block hides that one waits, two more are on their way: 0.85 of a copy's speed to 0.80.
    ahead = 2 * plan.parts if plan.crowd == 1 and plan.size == 2 and not (plan.lends and plan.shifted) else 1
    # One row more at least: where waves send, it is sent for when the one behind it has begun.
    ahead = max(ahead, plan.parts) if plan.all_send or plan.lends else ahead
    least = 2 if plan.once or plan.rows > 1 else 2 * plan.parts + ahead if plan.sums else plan.chunks + 1
    return replace(plan, slots=slots) if slots >= least else None
