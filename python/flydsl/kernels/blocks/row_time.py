"""What a launch of a row kernel is expected to take: `launch_time` is the model by which plans are chosen.

The facts of a machine are in `row_machine.py`; docs/rows.md states the model.
"""

from __future__ import annotations

from math import gcd, sqrt

from flydsl.kernels.blocks.row_machine import (
    LONG,
    SUMMED_RINGS,
    Machine,
    Reach,
    bank_passes,
    with_other_rings,
    with_two_lines,
)
from flydsl.kernels.blocks.row_plan import ACCESS_BYTES, LEAST_ACCESS, QUARTERS, READ_AHEAD, SECTOR, RowPlan
from flydsl.kernels.blocks.row_resources import near_line_bytes, registers, resident, ring_bytes, ring_places

FEW_ACCESSES = 4
"""Of a thread to a row, that take the memory no longer where they are narrow."""
FEW_BYTES, FEW_VECTORS = 32, 7
"""Of a row that passes through shared memory, what a lane has of it without the memory taking longer; and vectors of a
thread whose lines are loaded as soon as the row is there."""
NARROW_MEETINGS = {0: 1.5, 1: 1, 2: 2}
"""By the number of lines, how often waves that reach a row by words wait for each other; a softmax has little to do in
between."""
SHORT_ROW = 1024
"""Bytes of a row below which the two numbers that LayerNorm sums count as two where lanes load pieces: by eight lanes
and by sixteen, 216, 224, 296 and 328 bf16 have 1.01, 1.04, 1.01 and 1.00 of a copy's speed on an H200 (2026-11-18), and
0.95, 0.97, 0.98 and 1.02."""


def instructions(plan: RowPlan, machine: Machine, lines: int) -> float:
    """Of a wave, for its part of a block's rows; an access that is served in parts counts as many times."""
    accesses = plan.taken // plan.width
    parts = max(plan.width * plan.size * machine.wave / 128, 1)
    if plan.staged:
        parts *= _conflicts(plan, machine)
    loads = plan.sources * (1 if plan.keep or plan.once else 2)
    moves = accesses * parts * (loads + plan.targets + lines)
    if plan.staged and not plan.bulk:
        moves += 4 * 2 * (plan.sources + plan.targets) * plan.tile * plan.size / ACCESS_BYTES / plan.threads
    masks = accesses if plan.share % plan.lanes else 0
    steps = min(plan.lanes, machine.wave).bit_length() - 1
    short = plan.length * plan.size < SHORT_ROW
    if short and lines > 1 and plan.maps and plan.direct and plan.size == 2 and plan.width * plan.size == ACCESS_BYTES:
        steps *= 2  # two numbers are summed
    each = machine.element * (plan.sources + plan.targets) + machine.line * lines + machine.summed * plan.sums
    if plan.staged and not (plan.keep or plan.once):
        narrow = plan.sources == 1 and plan.width * plan.size < ACCESS_BYTES
        each += machine.read_again * plan.sources + (machine.narrow_again if narrow else 0)
    if plan.sums and not plan.keep:
        # A row is normalised in both passes, and lines are loaded in both.
        each += machine.line * (1 if plan.keeps_lines else 1 + lines)
    if plan.early and registers(plan, lines) > machine.spare:
        each += machine.tight
    if plan.width * plan.size < ACCESS_BYTES:
        each += machine.narrow_line * lines / plan.width
    work = plan.taken * each + machine.access * moves + machine.mask * masks + machine.step * steps
    if plan.staged or plan.turns == 1:
        return 20 + work
    return 20 + plan.turns * work - (plan.turns - 1) * lines * (machine.access * accesses * parts + plan.taken)


def _conflicts(plan: RowPlan, machine: Machine) -> int:
    """Return how many times longer shared memory takes to serve an access of a wave to its rows of a tile."""
    return bank_passes(plan.length, plan.size, plan.width, plan.lanes, machine.wave, plan.spread)


def block_times(plan: RowPlan, machine: Machine, lines: int) -> dict[str, float]:
    """Cycles that a block takes of a multiprocessor: of the memory, of L2, of the instructions that
    begin, and, alone, from its beginning to its end."""
    count, waves = resident(plan, machine, lines), -(-plan.threads // machine.wave)
    size = plan.tile_rows * plan.length * plan.size / plan.cluster
    loads, again = 1.0, not (plan.keep or plan.staged or plan.once)
    if again:
        # What does not stay in the first-level cache is loaded again, and lines take place there too.
        near = count * size * plan.sources + lines * plan.length * plan.size
        missed = max(1 - machine.near / near, 0)
        loads += machine.again_in_cluster if plan.cluster > 1 else min(machine.loaded_again * missed, 1.0)
    memory = (plan.sources * loads + plan.targets) * size / machine.bytes_per_cycle * _waste(plan, machine, lines)
    if plan.staged and plan.lanes < machine.wave and plan.width * plan.size < LEAST_ACCESS:
        # Shared memory serves an access of a wave in a cycle, or in as many as its conflicts of banks ask for.
        conflicts = _conflicts(plan, machine)
        served = (plan.sources + plan.targets) * (waves * plan.taken * conflicts + size / 128)
        memory = max(memory, served)
    work = instructions(plan, machine, lines) * waves
    most = machine.direct_issue if plan.direct else machine.issue
    if plan.staged and plan.maps and plan.size == 4:
        most = machine.staged_issue
    elif plan.narrow and plan.size == ACCESS_BYTES // 4:
        most = machine.narrow_issue
    chain = work / min(machine.issue, machine.lone_issue * waves)
    chain += machine.cluster_meeting if plan.cluster > 1 else machine.meeting if plan.lanes > machine.wave else 0
    alone = machine.start + machine.latency * (1.5 if again else 1)
    alone += machine.own_bytes * plan.sources * size / machine.bytes_per_cycle
    alone += chain + (machine.through_shared if plan.staged else 0)
    alone *= machine.narrow_alone if plan.narrow else 1
    alike = machine.cluster_line if lines == 1 and plan.maps else machine.cluster_lines
    fetched = lines * (alike if plan.cluster > 1 else 1)
    return {
        "memory": memory,
        "second level": (plan.sources * (2 if again else 1) + fetched) * size / machine.second_level,
        "issue": work / min(most, machine.wave_issue * waves * max(count, 1)),
        "chain": chain + machine.between_tiles + (machine.staying_cluster if plan.cluster > 1 else 0),
        "alone": alone,
    }


def _waste(plan: RowPlan, machine: Machine, lines: int) -> float:
    """Return how much longer the memory takes for accesses that are not 16 bytes wide, or that not all lanes make."""
    if plan.staged:
        if plan.sums:
            return 1.0
        slower = machine.ahead_bytes if plan.stages else machine.staged_bytes
        if plan.width * plan.size == ACCESS_BYTES:
            known = plan.maps or (lines > 1 and plan.size == 4)
            slower *= machine.staged_map if known else machine.staged_pieces
        if plan.maps and plan.size == 4:
            slower *= 1 + machine.staged_share * max(plan.taken * plan.size - FEW_BYTES, 0)
            slower *= machine.staged_wave if plan.lanes >= machine.wave else 1.0
        return slower * (machine.staged_in_cluster if plan.cluster > 1 and not plan.once else 1.0)
    wide = plan.width * plan.size
    waste = machine.early_bytes if plan.early and not plan.sums else 1.0
    if plan.early and plan.maps and lines > 1:
        waste *= machine.early_lines
    if plan.narrow and machine.bulk:
        small = plan.threads <= 4 * machine.wave and plan.lanes == machine.wave
        slower = machine.narrow_block if small and plan.maps and plan.size == 4 and lines > 1 else 1.0
        return slower * (1 + machine.narrow_access * max(plan.taken // plan.width - FEW_ACCESSES, 0))
    waste *= ACCESS_BYTES / wide
    short = plan.length * plan.size * plan.sources < LONG
    known = short or (plan.sources == 1 and not plan.once and (plan.cluster == 1 or lines < 2))  # of others nothing was
    straight = plan.direct or (plan.maps and plan.keep and plan.cluster > 1)  # by pieces, where it is not direct
    reach = machine.direct_reach if straight and wide == ACCESS_BYTES and known and not plan.sums else Reach()
    if plan.lanes < machine.wave and plan.lanes != plan.vectors and (plan.targets or not plan.shifted):
        waste *= 1 + (reach.narrow / (plan.lanes * wide)) ** reach.sharpness  # sectors that are written in parts
    if plan.length * plan.size % SECTOR and plan.targets:
        waste *= 1 + reach.part * min(reach.row / (plan.length * plan.size), 1)  # as at the ends of what a wave writes
    if plan.share % plan.lanes and reach.idle:
        idle = plan.iterations * plan.accesses * plan.lanes / plan.share - 1
        waste *= 1.02 + reach.idle * idle + (machine.cluster_mask if plan.cluster > 1 else 0)
    if plan.direct and plan.maps and (lines == 1 or (lines and plan.cluster == 1)):
        late = machine.late_cluster if plan.cluster > 1 else machine.late_lines
        waste *= 1 + late * max(plan.held // plan.width - FEW_VECTORS, 0)
    return waste


def launch_time(plan: RowPlan, machine: Machine, lines: int, rows: int) -> float:
    """Cycles of a launch of ``rows`` rows. What takes longest decides; what takes nearly as long adds to it."""
    count = resident(plan, machine, lines)
    if not count:
        return float("inf")
    if plan.slots and plan.sums and plan.rows == 1:
        return _summed_ring_time(plan, machine, rows)
    if plan.in_order:
        return _ordered_ring_time(plan, machine, lines, rows)
    if plan.slots:
        return _ring_time(plan, machine, lines, rows)
    if plan.lines_stay:
        return _kept_lines_time(plan, machine, lines, rows)
    if plan.sums and plan.shifted and plan.staged:
        return _summed_tiles_time(plan, machine, rows)
    if plan.early and plan.sums and plan.shifted:
        return _early_sums_time(plan, machine, rows)
    if plan.passes and machine.bulk and plan.width * plan.size == ACCESS_BYTES and plan.length * plan.size >= LONG:
        return _passing_time(plan, machine, count, rows)
    times = block_times(plan, machine, lines)
    blocks = -(-rows // plan.tile_rows) * plan.cluster / machine.processors
    rounds = max(blocks / count, 1)
    if plan.stays:
        # Tiles come while others are computed on: a round takes what is slowest, the memory or a block's own work.
        shares = [times[name] * min(count, blocks) for name in ("memory", "second level", "issue")]
        return rounds * _together([*shares, times["chain"]], machine.power) + times["alone"]
    if plan.shifted and plan.sources > 1 and plan.cluster == 1 and not (plan.keep or plan.staged or plan.once):
        return max(_loaded_again_time(plan, machine, count, rows), times["alone"] * rounds) + times["alone"]
    between = machine.cluster_start if plan.cluster > 1 else 0
    few = 2 if plan.shifted and plan.size == 2 else 1
    if plan.cluster > 1 and (plan.direct or (plan.maps and plan.keep)) and plan.sources == 1 and count <= few:
        between += times["memory"] / (4 if few == 1 else 3)  # little is on its way while this one writes its results
    each = machine.direct_round if plan.direct and plan.sources == 1 and not plan.narrow else 1
    if plan.staged and plan.maps and plan.cluster == 1 and plan.size == 4:
        each = machine.staged_round
    if plan.narrow and plan.maps and plan.lanes > machine.wave and plan.size == 4:
        accesses = plan.threads // machine.wave * plan.taken // plan.width
        between += NARROW_MEETINGS[min(lines, 2)] * (machine.narrow_meeting + machine.narrow_met * accesses)
    waiting = times["alone"] + (times["alone"] * each + between) * (rounds - 1)
    if plan.cluster > 1:
        waiting = max(waiting, times["alone"] + rows * machine.cluster_launch * plan.cluster**2)
    lost = 1 + machine.part_round / rounds if plan.once else 1
    shares = [times[name] * blocks * lost for name in ("memory", "second level", "issue")]
    return _together([*shares, waiting], machine.power) + machine.tail * times["alone"]


FEW_STAGED, FEW_MEETING, FEW_WAVE, FEW_CLUSTER = 6000, 400, 40, 800
"""Cycles that few rows take longer than others: through shared memory, with waves that wait for each other where a
thread has few accesses of words at least, and for each wave of a block; and shorter by clusters. On an H200
(2026-11-18), 22 rows of LayerNorm of 4,069 bf16 take 6.1 us through shared memory, and 4.9 element by element straight
from memory, 136 of RMSNorm of 5,263 6.2 and 5.7; 450 of LayerNorm of 300 4.54 by five waves a row and 4.32 by one."""
FEW_LONG, FEW_RING = 0.33, 500
"""Of what the model says of long rows, which is what many take one after the other, the part that few take beside what
every launch does, and cycles that a ring takes longer. By 447 times of plans of 40 lengths with 1 to 16 rows on an H200
(2026-11-19): LayerNorm of 2 rows of 248,138 bf16 takes 7.7 us by rings of 16 blocks and 8.9 straight from memory."""
BRIEF, BRIEF_ACCESSES = 4096, 8
"""Bytes of a row, and accesses of a thread to it, up to which few rows take what `_brief_time` says."""
BRIEF_MEETING, BRIEF_STEP, BRIEF_ELEMENT, BRIEF_NARROW, BRIEF_WAVE, BRIEF_BLOCK = 42, 12, 4.6, 10, 15, 20.5
"""Cycles that such rows take for each time that waves wait for each other, and each step in which lanes add up; for
each element that a thread loads of a row or a line, and each access beside that is no word; for each wave of a
multiprocessor; and for one block, of which four take twice as long. By 577 times of plans of 27 lengths with 1 to 356
rows on an H200 (2026-11-19), such that what was fastest of five lengths before still is: 40 rows of RMSNorm of 720 bf16
take 4.07 us by four waves each, 4.26 by one."""


def is_brief(plan: RowPlan, machine: Machine) -> bool:
    """Return whether few rows of a plan take what `_brief_time` says."""
    plain = plan.keep and not (plan.staged or plan.shifted or plan.words) and plan.cluster == plan.turns == 1
    together = plan.rows == 1 or plan.lanes <= machine.wave
    short = plan.length * plan.size <= BRIEF and plan.held // plan.width <= BRIEF_ACCESSES
    return machine.bulk and plan.maps and plain and together and short


def few_time(plan: RowPlan, machine: Machine, lines: int, rows: int) -> float:
    """Cycles of a launch of rows that all run at once, which wait for what one block does after the other; of brief
    ones those that not every launch takes."""
    if is_brief(plan, machine):
        return _brief_time(plan, machine, lines, rows)
    time = launch_time(plan, machine, lines, rows)
    if not (machine.bulk and plan.maps):
        return time
    if plan.slots:
        return time + FEW_RING
    waves = plan.threads // machine.wave
    meeting = FEW_MEETING if plan.lanes > machine.wave and plan.direct else 0
    time += FEW_STAGED * plan.staged + meeting + FEW_WAVE * waves - FEW_CLUSTER * (plan.cluster > 1)
    return time * (FEW_LONG if plan.length * plan.size * plan.sources >= LONG else 1)


def _brief_time(plan: RowPlan, machine: Machine, lines: int, rows: int) -> float:
    """Return the cycles that few short rows take beside those of any launch: what a thread does, and what blocks and
    their waves take to begin. A block for each row is fastest with few of them and a wave for each with a hundred."""
    blocks = -(-rows // plan.rows)
    waves = max(blocks / machine.processors, 1) * plan.threads / machine.wave
    meetings = NARROW_MEETINGS[min(lines, 2)] if plan.lanes > machine.wave else 0
    narrow = plan.held // plan.width if plan.width * plan.size < LEAST_ACCESS else 0
    loads = (1 + lines) * (BRIEF_ELEMENT * plan.held + BRIEF_NARROW * narrow)
    steps = BRIEF_STEP * (min(plan.lanes, machine.wave).bit_length() - 1)
    return BRIEF_MEETING * meetings + steps + loads + BRIEF_WAVE * waves + BRIEF_BLOCK * sqrt(blocks)


PASSING_ENDS = 3000
"""Cycles for which a block over a row that is only read has nothing on its way: at its beginning, and when its waves
tell each other their numbers."""


def _passing_time(plan: RowPlan, machine: Machine, count: int, rows: int) -> float:
    """Return the cycles of a launch over long rows that are only read: those of their bytes, those that blocks have
    nothing on their way, less where a multiprocessor has others, and the last rows, which have it for themselves. Of
    these half counts, since the last round is anything from a row to a full one; of rows that all have a block at
    once a twentieth, since another launch may have more. By 55 plans of 12 lengths."""
    size, places = plan.length * plan.size * plan.sources, machine.processors * count / plan.cluster
    alone = size / plan.cluster / (plan.lanes * READ_AHEAD * ACCESS_BYTES) * machine.latency
    moved = rows * size / (machine.processors * machine.bytes_per_cycle)
    behind = (0.5 if rows > places else 0.05) * alone
    return max(moved, alone) + rows / places * PASSING_ENDS / count + behind + machine.latency


AGAIN_ON_WAY, AGAIN_NEAR = 150_000, 230_000
"""Bytes of rows of several sources that a multiprocessor has to have on their way where they are loaded again, and
those of which the first-level cache has all the second time."""


def _loaded_again_time(plan: RowPlan, machine: Machine, count: int, rows: int) -> float:
    """Return the cycles that rows of several sources take of the memory which begin anywhere and are loaded again:
    longer with too few blocks, and longer with so many that the first-level cache does not keep their rows. By 24 plans
    of seven lengths; others of the same lengths are expected to have 0.86 of a copy's speed at best."""
    moved = rows * (plan.sources + plan.targets) * plan.length * plan.size
    on_way = count * plan.sources * plan.length * plan.size
    slower = max(AGAIN_ON_WAY / on_way, 1) ** 0.43 * (1 + 0.9 * max(1 - AGAIN_NEAR / on_way, 0))
    return slower * moved / (0.86 * machine.processors * machine.bytes_per_cycle)


KEPT_WORK = {0: (45, 10, 8), 1: (45, 6.5, 5), 2: (45, 11, 8.5)}
"""By the number of lines, instructions of a wave for its part of rows whose lines stay: for all of it, for each element
of 16 bits of a lane, and for each of f32, counted in machine code."""
TILE_WORK = 140
"""Those for a tile."""


def _kept_lines_time(plan: RowPlan, machine: Machine, lines: int, rows: int) -> float:
    """Tiles come while others are computed on; a round takes what is slowest: the memory, the instructions of all
    blocks, or a block's own way through a tile."""
    row, narrow, wide = KEPT_WORK[min(lines, 2)]
    work = TILE_WORK + plan.turns * (row + plan.taken * (wide if plan.size == 4 else narrow))
    tile = (plan.sources + plan.targets) * plan.tile * plan.size
    known = plan.maps and (lines == 1 or plan.size == 4)
    memory = (machine.kept_map if known else machine.kept_bytes) * plan.crowd * tile / machine.bytes_per_cycle
    issue = plan.crowd * plan.threads / machine.wave * work / machine.kept_issue
    accesses = plan.turns * plan.threads // machine.wave * plan.taken // plan.width
    served = (plan.sources + plan.targets) * plan.crowd * accesses * _conflicts(plan, machine) + plan.crowd * tile / 128
    rounds = max(-(-rows // plan.tile_rows) / (machine.processors * plan.crowd), 1)
    return rounds * _together([memory, issue, 2 * work + 300, served], machine.kept_power) + machine.kept_ends


SUMMED_TILE_WORK = 255, 100, 80, 55
"""Instructions of a wave for a tile of rows that begin anywhere and are summed, for each turn, and for a vector of 16
bytes of it: where it is read again, and where what was computed of it is kept."""


def _summed_tiles_time(plan: RowPlan, machine: Machine, rows: int) -> float:
    """Return the cycles of a launch whose blocks take tile after tile; a round takes what is slowest: the memory, the
    instructions of all blocks, or a block's own way through a tile. With two tiles the memory waits now and then."""
    tile, turn, again, kept = SUMMED_TILE_WORK
    work = tile + plan.turns * (turn + plan.iterations * (kept if plan.keep else again))
    memory = plan.crowd * (plan.sources + plan.targets) * plan.tile * plan.size / machine.bytes_per_cycle
    issue = plan.crowd * plan.threads / machine.wave * work / machine.summed_issue
    round_ = _together([memory, issue, machine.summed_chain * work], machine.kept_power)
    rounds = max(-(-rows // plan.tile_rows) / (machine.processors * plan.crowd), 1)
    return rounds * round_ * (1.03 if plan.stages < 3 else 1.0) + machine.kept_ends


def _early_sums_time(plan: RowPlan, machine: Machine, rows: int) -> float:
    """Return the cycles of a launch whose blocks have their next rows on their way while they compute on these: a round
    takes what those take, and what memory takes to answer, more of which shows where all waves wait for one row."""
    together = plan.crowd * plan.rows
    memory = together * (plan.sources + plan.targets) * plan.length * plan.size / machine.bytes_per_cycle
    round_ = (machine.early_answer + machine.early_summed * memory) * (1.06 if together == 1 else 1)
    return rows / (machine.processors * together) * round_ + machine.ring_ends


RING_WORK = {0: ((266, 70), (266, 40)), 1: ((120, 49), (120, 14)), 2: ((310, 59), (194, 18.7))}
"""By the number of lines, instructions of a wave for a row of 16-bit elements that comes through a ring, and for a
vector of it; and those of f32: counted in machine code, those of two lines fitted. Without lines that is a softmax."""
CHUNK_WORK = 20
"""Those for each chunk, beside two."""
SHIFTED_WORK = 100, 6, 4
"""Those that rows take beside them which begin anywhere: for a row, a vector of 16-bit elements, and one of f32. Two
lines are in a table then, and take twice as many for a row."""
NEAR_LINE = 8
"""Those for a vector of a line that is read from shared memory, and maybe sent for."""
TAKEN = 15
"""Those that a vector of 16-bit elements spares which the first pass has taken into registers as f32."""
POWERS_KEPT = 32
"""Those that a vector of a softmax spares whose powers the first pass keeps, so that the second one takes none."""
TAKEN_PLACE = 0.7
"""Rows that a ring has the more place for then."""
BY_ELEMENTS = 8
"""Those for four elements of f32 that are read twice and written one by one."""
SUMMING_WORK = {1: (90, 122, 40), 2: (115, 146, 52)}
"""The same of a gradient of a norm, by the number of sums over rows, where waves have a row each."""
OVERLAPPED, OVERLAPPED_ELEMENTS = 0.97, 0.93
"""Part of the time of a row of a ring where its first pass comes before the second over the one ahead of it, and where
elements are taken one by one."""
WAVES_TELLING = 8
"""Waves of a block whose telling `ring_large` is about; of rows of f32 that are taken element by element, and whose
first pass comes earlier, fewer were measured: LayerNorm of 260,729 has 0.88 of a copy's speed by four on an H200
(2026-11-18), 0.85 by eight and 0.82 by five."""
SUMMED_ENDS = 4930
"""Cycles before the first row and behind the last where rows are summed."""


def ring_work(plan: RowPlan, lines: int) -> float:
    """Return the instructions of a wave for its part of a row in a ring."""
    if plan.sums:
        row, narrow, wide = SUMMING_WORK[plan.sums]
        return row + plan.iterations * (wide if plan.size == 4 else narrow)
    row, vector = RING_WORK[min(lines, 2)][plan.size // 4]
    if plan.shifted:
        row += SHIFTED_WORK[0] * max(lines, 1)
        vector += SHIFTED_WORK[1 + plan.size // 4]
    vector += BY_ELEMENTS if plan.by_elements else 0
    vector -= (TAKEN if lines else POWERS_KEPT) if plan.into_registers else 0
    if plan.near_lines or plan.lines_ahead:
        row += NEAR_LINE * lines * near_line_bytes(plan, lines) // (plan.lanes * ACCESS_BYTES)
    return row + plan.iterations * vector * (plan.sources + plan.targets) / 2 + CHUNK_WORK * (plan.parts - 2)


def _places(plan: RowPlan, machine: Machine) -> int:
    """Return how many blocks with rings, or clusters of them, take rows."""
    places = ring_places(plan, machine)
    if not (plan.sums and plan.shifted) or plan.one_place:
        return places
    apart = plan.width // gcd(plan.width, plan.length)  # all rows of a block begin at one place in a piece
    return max(places // apart, 1) * apart


def _summed_ring_time(plan: RowPlan, machine: Machine, rows: int) -> float:
    """Rows come all the time; a round takes what is slowest: the memory, the instructions of all blocks, a block's own
    way through a row, or what memory takes to answer, in which all rows come that have a slot beside the two that are
    gone over: half of one of these is free. Then each block's sums are written."""
    numbers = SUMMED_RINGS[plan.sums, plan.size]
    waves, ahead = plan.lanes / machine.wave, plan.slots / plan.parts
    work = numbers.row + (numbers.anywhere if plan.shifted else 0) + plan.iterations * numbers.vector
    alone = QUARTERS * -(-waves // QUARTERS) if plan.crowd == 1 else waves  # the fullest quarter is done last
    chain = work * alone / min(numbers.issue, numbers.wave_issue * alone) + CHUNK_WORK * (plan.parts - 1)
    answer = numbers.answer + (numbers.in_cluster if plan.cluster > 1 else 0)
    doubled = max(plan.cluster.bit_length() - 2, 0)
    answer = (answer + numbers.in_large * doubled) / (ahead - 1.5)
    size, places = plan.share * plan.width * plan.size, _places(plan, machine)
    busy = places * plan.cluster / machine.processors
    memory = numbers.bytes * busy * (plan.sources + plan.targets) * size / machine.bytes_per_cycle
    memory *= numbers.crowded if plan.crowd > 1 and plan.cluster > 1 else 1.0
    memory *= 1 + numbers.full * max(plan.crowd * ahead * size * plan.sources / numbers.most - 1, 0)
    issue = work * QUARTERS * -(-waves * plan.crowd // QUARTERS) / numbers.issue
    rounds = (-(-rows // places) + rows / places + 0.5) / 2
    if plan.one_place:
        rounds += plan.run_rows * plan.width / places
    sums = 4 * plan.length * plan.sums * places / (machine.processors * machine.bytes_per_cycle)
    return rounds * _together([memory, issue, chain, answer], numbers.power) + SUMMED_ENDS + sums


ORDERED_WORK = {1: ((47, 41), (101, 11.7)), 2: ((121, 49), (107, 15.6))}
"""`RING_WORK` of rows that begin anywhere and are taken in their order, with lines in registers."""
ORDERED_BYTES, ORDERED_WAVE, ORDERED_MEETING, ORDERED_POWER = 1.145, 0.6, 293, 3.1
"""How many times longer than by itself the memory takes, instructions of a wave that begin in a cycle, cycles that a
row loses by the exchange of its numbers, and `power`: all by 102 rings of 42 lengths on an H200 (2026-11-18), to
2 %."""


def _ordered_ring_time(plan: RowPlan, machine: Machine, lines: int, rows: int) -> float:
    """`_ring_time` of blocks that take rows which begin anywhere in their order."""
    row, vector = ORDERED_WORK[min(lines, 2)][plan.size // 4]
    waves, places = plan.lanes / machine.wave, _places(plan, machine)
    work = (row + plan.iterations * vector) * waves
    chain = work / min(machine.ring_issue, ORDERED_WAVE * waves) + ORDERED_MEETING
    moved = places * (plan.sources + plan.targets) * plan.share * ACCESS_BYTES
    memory = ORDERED_BYTES * moved / (machine.processors * machine.bytes_per_cycle)
    rounds = (-(-rows // places) + rows / places + 0.5) / 2
    together = _together([memory, work * plan.crowd / machine.ring_issue, chain], ORDERED_POWER)
    return rounds * together + machine.ring_ends


def _ring_time(plan: RowPlan, machine: Machine, lines: int, rows: int) -> float:
    """Rows come all the time; a round takes what is slowest: the memory, the instructions of all blocks, or a block's
    own way through a row, which nothing of the same block hides. The last round may be a part of one."""
    other = plan.sums > 0 or plan.once or plan.sources > 1
    if other or lines > 1:
        machine = with_other_rings(machine) if other else with_two_lines(machine)
    waves = plan.lanes / machine.wave
    work = ring_work(plan, lines) * waves
    uneven = 1.0 if plan.crowd > 1 else QUARTERS * -(-waves // QUARTERS) / waves
    chain = work * uneven / min(machine.ring_issue, machine.ring_wave_issue * waves * uneven)
    chain += machine.ring_chunk * plan.chunks
    told = machine.ring_line_cluster if lines == 1 else machine.ring_cluster
    chain += machine.ring_meeting + (told if plan.cluster > 1 else 0)
    size = plan.share * plan.width * plan.size
    near = size * plan.sources
    if lines and (plan.one_place or not plan.shifted) and not plan.near_lines:
        # Lines that do not fit registers come from L2 again for every row: in time, or, where they are asked for one
        # by one or late, not.
        reloaded = lines * near_line_bytes(plan, lines)
        near += reloaded
        if reloaded and (plan.by_elements or not plan.lines_ahead):
            chain += machine.ring_reloaded * reloaded * plan.crowd / machine.second_level + machine.latency
    # What has no slot yet when a row is there has to come while its results are computed.
    there = (plan.slots - 0.5) / plan.parts  # a slot is free when all of it is read
    there += TAKEN_PLACE if plan.into_registers else 0
    behind = max(2.15 - there, 0) * size
    stall = machine.ring_behind * behind * plan.sources / plan.crowd / machine.bytes_per_cycle
    places = _places(plan, machine) * plan.rows
    # The memory is as fast with some multiprocessors fewer.
    busy = places * plan.cluster / machine.processors
    memory = machine.ring_bytes * busy * (plan.sources + plan.targets) * size / machine.bytes_per_cycle
    second = near * plan.crowd / machine.second_level
    # The quarter of a multiprocessor with the most waves is done last.
    full = QUARTERS * -(-waves * plan.crowd * plan.rows // QUARTERS) / (waves * plan.crowd * plan.rows)
    issue = work * plan.crowd * plan.rows * full / machine.ring_issue
    memory *= machine.ring_elements if plan.by_elements else 1
    if plan.size == 2 and (plan.sums == 1 or not other):
        memory *= 1 + machine.ring_full * max(plan.crowd * ring_bytes(plan) / machine.ring_most - 1, 0)
    together = _together([memory, issue, chain, second], machine.ring_power)
    shared = lines > 1 and plan.size == 4 and plan.cluster > 1
    if plan.crowd == 1 and shared:
        together += machine.ring_lone
    lone = lines == 1 and plan.crowd == 1 and plan.size == 4 and plan.cluster == machine.cluster and not plan.anywhere
    if lone and size < machine.ring_lone_part:
        together += machine.ring_lone_line
    if plan.cluster > machine.cluster:
        told = 2 if not lines else 3 if not plan.one_pivot else 2 if plan.shifted else 4
        told *= waves / WAVES_TELLING if plan.overlaps and plan.by_elements else 1
        together += machine.ring_large * (1 if lines == 1 else told)
    together *= machine.ring_ahead if plan.lines_ahead and plan.size == 2 else 1.0
    if plan.overlaps:
        together *= OVERLAPPED_ELEMENTS if plan.by_elements else OVERLAPPED
    together = (together + stall) * (1 + machine.ring_one_place * lines if plan.one_place else 1)
    # The last round is a part of one, be it by the number of rows at hand or by that of another launch.
    rounds = (-(-rows // places) + rows / places + 0.5) / 2
    slower = machine.ring_other if plan.sources > 1 or plan.once else 1.0
    return slower * rounds * together + machine.ring_ends


def _together(times: list[float], power: float) -> float:
    """Return how long several things take that go on at once: the longest decides, and what is nearly as long adds to
    it."""
    return sum(time**power for time in times) ** (1 / power)
