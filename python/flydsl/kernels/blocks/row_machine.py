"""What the model of row kernels knows of a machine: sizes, and what things take (docs/rows.md)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import flydsl.expr as fx

FULL = 100_000
"""Bytes of rings of a multiprocessor from which on the memory is slower: what comes early is in the way of results."""


@dataclass(frozen=True)
class Reach:
    """How much longer the memory takes by the way that lanes reach rows."""

    narrow: float = 16.0
    """Bytes of a row reached at once for which it takes twice as long, and how sharply that rises with fewer."""
    sharpness: float = 1.0
    part: float = 0.08
    """Where rows end within a sector of 32 bytes; and for lanes without an access, as many as others."""
    idle: float = 0.6
    row: float = float("inf")
    """Bytes of a row that loses ``part``; longer ones lose as many times less."""


@dataclass(frozen=True)
class Machine:
    """What the model knows of a multiprocessor; times are its cycles, sizes bytes.

    The numbers were fitted on an H200 to some 700 plans of 50 shapes (benchmarks/tune_rows.py, 2026-11-15), so that
    what they choose is fast, not so that times are right. Of AMD's GPUs only the sizes are known here.
    """

    wave: int
    cluster: int = 1
    """Blocks of the largest cluster."""
    bulk: bool = False
    """Whether a single thread can send for any number of bytes, and have them written back."""
    shared: int = 65536
    near: int = 16384
    """Bytes of rows that its first-level cache keeps between two loads."""
    threads: int = 2048
    blocks: int = 32
    registers: int = 65536
    processors: int = 132
    bytes_per_cycle: float = 20.2
    """Its share of the memory's bandwidth, reading and writing together."""
    second_level: float = 50.0
    """Bytes of L2 that it gets in a cycle."""
    issue: float = 2.0
    """Instructions of all waves that begin in a cycle; `wave_issue` of each where there are many, `lone_issue` of those
    of a block by itself, which wait for each other."""
    wave_issue: float = 0.16
    lone_issue: float = 0.29
    direct_issue: float = 2.0
    """Those of all waves where threads load and store rows themselves, 16 bytes at once; and how they reach them."""
    direct_reach: Reach = Reach()
    direct_round: float = 1.0
    """Part of such a block's own time that each round beyond the first takes: some begin as others end."""
    narrow_issue: float = 2.0
    """The same of whole waves that reach a row of f32 by accesses of 4 or 8 bytes; and for all types, how much longer
    the memory takes for each of a thread's beyond a few, and how much less time than other blocks one takes alone."""
    narrow_access: float = 0.006
    narrow_alone: float = 1.0
    narrow_meeting: float = 0.0
    """What each of the one or two meetings of waves takes such a block, and beside it for each access of its waves; and
    how much longer the memory takes for blocks of four rows of f32 that two lines go with."""
    narrow_met: float = 0.0
    narrow_block: float = 1.0
    element: float = 1.1
    """Instructions for an element of a source or target; of a line; of a sum over all rows; for reading an element
    again from shared memory; for an access, a mask, and a step of a reduction."""
    line: float = 1.9
    summed: float = 2.0
    read_again: float = 0.0
    narrow_again: float = 0.0
    """The same of a single source whose accesses are narrower than 16 bytes."""
    access: float = 0.5
    mask: float = 0.4
    step: float = 12.0
    loaded_again: float = 2.5
    """What loading costs again of a row that is loaded twice, for each part that the first-level cache lost."""
    again_in_cluster: float = 1.0
    """The same for a cluster, whose barrier empties that cache."""
    start: int = 420
    """Cycles until a block has begun."""
    latency: int = 1400
    """From a load to its result."""
    meeting: int = 80
    """A barrier of a block with what waves lose by it."""
    own_bytes: float = 1.0
    """Part of the time of its bytes that a block waits for by itself."""
    through_shared: int = 1250
    """What rows lose on their way through shared memory."""
    between_tiles: int = 700
    """What a block that stays loses between two tiles: barriers, and sending for another."""
    cluster_meeting: int = 1200
    """A barrier of a cluster."""
    cluster_start: int = 4300
    """How long places stay empty until there are enough for the next cluster."""
    cluster_launch: float = 0.5
    """Cycles from the beginning of a cluster to that of the next, for every pair of its blocks."""
    cluster_lines: float = 1.0
    """How many times lines count in L2 for a cluster: blocks of a multiprocessor have other parts of them in turn."""
    cluster_line: float = 1.0
    """The same where a single line goes with a row."""
    cluster_mask: float = 0.25
    """How much longer the memory takes for a cluster whose blocks have lanes without an access."""
    staying_cluster: int = 0
    """What a cluster that stays loses between two tiles, beside that."""
    narrow_line: float = 0.0
    """Instructions for an access to a line that is narrower than 16 bytes, beside `line`."""
    kept_issue: float = 3.4
    """Of blocks that stay and keep lines of short rows: instructions that begin in a cycle, how many times longer than
    by itself the memory takes, and where a plan `maps`, with one line or f32 (RMSNorm of 87, 147 and 237 elements of 16
    bits has 0.97, 0.96 and 0.93 of a copy's speed so, and 1.03 where blocks do not stay, LayerNorm of 301 0.93 and
    0.88, on an H200, 2026-11-18); cycles before the first tile and behind the last; `power`."""
    kept_bytes: float = 1.06
    kept_map: float = 1.11
    kept_ends: float = 3000.0
    kept_power: float = 6.0
    ring_issue: float = 2.81
    """Of a block whose rows come through a ring (`row_ring.py`): instructions that begin in a cycle, at most and of a
    wave; cycles that a row loses by the exchange of its numbers, by that of a cluster beside it, and for each chunk;
    and those before the first row and behind the last."""
    ring_wave_issue: float = 0.352
    ring_meeting: float = 11.0
    ring_cluster: float = 350.0
    ring_line_cluster: float = 720.0
    """That of a cluster where one line goes with a row: its instructions are counted, those of others were fitted."""
    ring_chunk: float = 4.7
    ring_ends: float = 4420.0
    ring_bytes: float = 1.18
    """How many times longer than by itself the memory takes, since each block's results come in bursts; how many times
    more where they are written element by element; and lines that L2 has to give for every row."""
    ring_elements: float = 1.1
    ring_reloaded: float = 8.0
    ring_large: float = 77.0
    """Cycles that a row of a cluster of 16 takes longer for each number that waves tell each other: by 16 launches."""
    ring_lone: float = 20.0
    """Those that a LayerNorm's row of f32 takes longer in a cluster whose multiprocessors have no other block, at
    least: of 31,568 and 34,260 elements clusters of eight have 0.87 and 0.90 of a copy's speed, and two of them 0.97
    each, of 52,976 1.01 and 0.96."""
    ring_lone_line: float = 60.0
    """The same of a row that one line goes with, in a cluster of eight whose blocks have less than ``ring_lone_part``
    of it: RMSNorm of 27,760, 30,000 and 32,000 f32 has 0.89, 0.91 and 0.95 so, and 0.95, 0.97 and 0.96 with two of them
    (H200, 2026-11-18)."""
    ring_lone_part: float = 16_000.0
    ring_behind: float = 0.59
    """Part of the time of the bytes that a ring has no place for beside a row."""
    ring_full: float = 0.0
    """How many times longer the memory takes where rings of 16-bit elements have twice as many bytes as ``ring_most``:
    what comes early is in the way of results."""
    ring_most: float = FULL
    ring_ahead: float = 1.1
    """How many times longer such rows take where L2 gives lines for every row, a few iterations ahead: LayerNorm of
    235,320 f16 has 0.80 of a copy's speed so, and of 221,496 0.94 with lines in shared memory (H200, 2026-11-18)."""
    ring_one_place: float = 0.2
    """How many times longer rows take that are taken in the order of their places in a piece, more for each line."""
    ring_power: float = 14.0
    """`power` of rings."""
    ring_other: float = 0.92
    """How many times longer than by that rows of several sources take, and those that are gone over once."""
    staged_bytes: float = 1.0
    """How many times longer the memory takes for rows that pass through shared memory, how many times more for those of
    a cluster, and for those that come ahead of their turn."""
    staged_in_cluster: float = 1.0
    ahead_bytes: float = 1.0
    staged_pieces: float = 1.0
    """The same for rows that begin at pieces and pass through shared memory, beside that, and where such a plan `maps`;
    for rows that come early."""
    staged_map: float = 1.0
    early_bytes: float = 1.0
    staged_share: float = 0.0
    """Of rows of f32 that pass through shared memory, where a plan `maps`: how much longer the memory takes for each
    byte of a row that a lane has beyond a few, and where a row has whole waves; instructions that begin in a cycle; and
    part of a block's own time that each round beyond the first takes."""
    staged_wave: float = 1.0
    staged_issue: float = 2.0
    staged_round: float = 1.0
    late_lines: float = 0.0
    """How much longer the memory takes for each vector of a thread beyond a few that lines are loaded for, after the
    row; and in a cluster, whose lines come from L2."""
    late_cluster: float = 0.0
    early_lines: float = 1.0
    """The same for rows of f32 that two lines go with, beside that."""
    early_answer: float = 692.0
    """Of rows that begin anywhere, come early and are summed: cycles of a round beside its bytes, and part of the time
    of those. Fitted to 8 plans of RMSNorm's gradient in bf16, to 3 %."""
    early_summed: float = 0.8
    summed_issue: float = 3.0
    """Of blocks that stay and sum tiles of short rows that begin anywhere: instructions that begin in a cycle, and
    cycles of a block by itself for each of a wave. Fitted to 24 plans of 7 lengths in bf16, to 3 %."""
    summed_chain: float = 3.35
    spare: int = 120
    """Registers of a thread from which on rows that are loaded early leave too few, and how many instructions of each
    element that costs."""
    tight: float = 0.5
    power: float = 4.0
    """How sharply the largest of several times decides."""
    part_round: float = 0.0
    """Part of a round of blocks that a launch over rows that are read once loses on average, since the last round has
    few of them."""
    tail: float = 0.4
    """Part of a block's time for the last blocks of a launch, which have the machine for themselves."""


HOPPER = Machine(
    wave=32, cluster=8, bulk=True, shared=227 * 1024, near=200_000, narrow_again=2.4, direct_issue=3.0,
    direct_reach=Reach(narrow=30.0, sharpness=2.0, part=0.055, idle=0.0, row=272.0), narrow_issue=4.0, narrow_alone=0.6,
    narrow_meeting=400.0, narrow_met=11.0, narrow_block=1.015, direct_round=0.7, staged_pieces=1.015,
    staged_map=1.06, staged_share=0.0005, staged_wave=1.05, staged_issue=3.0, staged_round=0.5, staged_in_cluster=1.25,
    early_lines=1.12,
)  # fmt: skip
"""What direct plans take is by 75 plans of 27 shapes measured when lanes beyond a row no longer branched around their
loads: of those it chooses what is 0.3 % slower than the fastest. `direct_issue` and `direct_round` are by 190 plans of
90 shapes of 2026-11-18, of which it chooses what is 0.2 % slower, and 1.3 % at worst."""
HOPPER_LONG = replace(
    HOPPER, issue=2.4, direct_issue=2.4, direct_round=1.0, wave_issue=0.3, lone_issue=0.21, summed=6.0,
    read_again=2.42, narrow_again=0.0, access=0.23, mask=0.26, step=24.0, loaded_again=0.287, again_in_cluster=0.7,
    start=185, latency=2270, own_bytes=0.79, meeting=90, through_shared=1900, between_tiles=180, cluster_meeting=17,
    cluster_start=1600, cluster_lines=3.5, cluster_line=4.6, cluster_mask=0.06, early_bytes=1.1,
    staying_cluster=3114, power=8.0, tail=1.96, narrow_line=8.5, staged_bytes=1.18, staged_in_cluster=1.25,
    ahead_bytes=1.3, part_round=0.15, staged_pieces=1.0, staged_map=1.0, staged_share=0.0, staged_wave=1.0,
    staged_issue=2.4, staged_round=1.0, late_lines=0.004, late_cluster=0.014,
)  # fmt: skip
"""For rows of `LONG` bytes and more, and for sums: a multiprocessor then has few blocks, whose phases stand alone.
Fitted to 1,200 more plans of 50 launches on the same GPU and day. What clusters take, `staged_bytes` and `ahead_bytes`
are by 90 more plans of the day after, when loads no longer waited for each other. What rings take in both is by 80
rings of 27 launches of 2026-11-17, of which it chooses what is 1.2 % slower than the fastest
(`with_other_rings` has those of others)."""
LONG = 24_000
ELSEWHERE = {wave: Machine(wave=wave) for wave in (32, 64)}
"""By the lanes of a wave."""


@cache
def with_other_rings(machine: Machine) -> Machine:
    """Return the numbers for rings of several sources, of sums over rows, and of rows that are gone over once: those of
    150 rings of 40 launches."""
    return replace(
        machine, ring_issue=2.88, ring_wave_issue=0.296, ring_meeting=12.0, ring_cluster=302.0,
        ring_line_cluster=302.0, ring_chunk=5.0, ring_ends=4930.0, ring_bytes=1.165, ring_behind=0.48,
        ring_one_place=0.06, ring_power=7.3, ring_full=0.08,
    )  # fmt: skip


@cache
def with_two_lines(machine: Machine) -> Machine:
    """Return the numbers for rings of rows that two lines go with, by 230 rings of 90 launches: waves wait less, and
    full rings of 16-bit elements are in the way of results."""
    return replace(machine, ring_wave_issue=0.42, ring_chunk=12.0, ring_full=0.08, ring_most=85_000.0)


@dataclass(frozen=True)
class SummedRing:
    """What rows take that come through a ring and are summed, a row of a block by itself (`_summed_ring_time`)."""

    row: float
    """Instructions of a wave for a row, those beside where it begins anywhere, and those for a vector of it."""
    anywhere: float
    vector: float
    issue: float
    """Instructions that begin in a cycle, and those of a wave."""
    wave_issue: float
    answer: float
    """Cycles from a free slot to the row that was sent for, those beside in a cluster, and those beside for each
    doubling of its blocks beyond two."""
    in_cluster: float
    in_large: float
    bytes: float
    """How many times longer than by itself the memory takes; how many times longer beside with twice as many bytes of
    rings as ``most`` of a multiprocessor, since rows that come early are in the way of results."""
    full: float
    most: float
    power: float
    crowded: float = 1.0
    """How many times longer the memory takes where a multiprocessor has blocks of several clusters."""


_WIDE = SummedRing(110, 50, 46, 3.3, 0.37, 2784, 1504, 158, 1.18, 0.0475, 99_500, 4.7)
SUMMED_RINGS = {
    (1, 2): SummedRing(75, 5, 115, 2.83, 0.403, 2871, 700, 300, 1.233, 0.0456, 84_400, 6.8),
    (2, 2): SummedRing(150, 63, 109, 3.98, 0.374, 2914, 91, 600, 1.24, 0.126, 115_500, 5.05, 1.015),
    (1, 4): _WIDE,
    (2, 4): _WIDE,
}
"""By the number of sums and the bytes of an element: fitted to 54 rings of 20 lengths from 1,635 to 43,596 on an H200
(2026-11-17), those of two sums of 16 bits to 122 rings of 46 lengths from 1,143 to 54,707, to 3.5 %; of them it chooses
what is 0.4 % slower than the fastest on average. What clusters of more than two blocks take is by 160 rings of 38
lengths from 9,001 to 255,551 (2026-11-18), of which it chooses what is 0.5 % slower."""


def machine_of_target() -> Machine:
    """Return the machine of the target being traced."""
    return HOPPER if fx.nvvm.max_cluster_size() >= HOPPER.cluster else ELSEWHERE[fx.num_warp_threads()]


@cache
def bank_passes(length: int, size: int, width: int, lanes: int, wave: int, spread: int = 1) -> int:
    """Return how many times longer than without conflicts the lanes of a wave take to reach their first vectors of a
    tile, of rows that are ``spread`` apart."""
    together = max(min(128 // (width * size), wave), 1)
    worst = 1
    for first in range(0, wave, together):
        banks: dict[int, set[int]] = {}
        for lane in range(first, first + together):
            row, column = divmod(lane, lanes)
            start = (row * spread * length + column * width) * size
            for word in range(start // 4, (start + width * size + 3) // 4):
                banks.setdefault(word % 32, set()).add(word)
        worst = max(worst, *(len(words) for words in banks.values()))
    return worst
