"""The choice of plans for rows: every plan that comes into question, and those that the model finds fastest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from math import gcd
from operator import index
from typing import Any

from flydsl.kernels.blocks.cache_hints import ONCE, PLAIN, TWICE
from flydsl.kernels.blocks.ring_plans import IN_REGISTERS, MAX_ONCE, by_words, not_too_full, ordered_rings, rings
from flydsl.kernels.blocks.row_machine import HOPPER, HOPPER_LONG, LONG, Machine, bank_passes, machine_of_target
from flydsl.kernels.blocks.row_plan import (
    ACCESS_BYTES,
    DTYPES,
    LEAST_ACCESS,
    LEAST_PIECES,
    MAP,
    MAX_KEPT,
    RowPlan,
    RowTask,
)
from flydsl.kernels.blocks.row_resources import resident
from flydsl.kernels.blocks.row_time import few_time, is_brief, launch_time
from flydsl.kernels.blocks.summing_plans import (
    MAX_SUMS,
    MAX_THREADS,
    STAGES,
    SUMMING,
    TURNS,
    early_sums,
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
MAX_READ = 80
"""Vectors of a row that is only read that a thread takes, so that a block need not have many threads."""
BETWEEN = 6, 12
"""Waves that long rows which begin at pieces may have beside powers of two: LayerNorm of 7,244 f32 has 1.01 of a copy's
speed by 12 on an H200 (2026-11-17), 0.92 by four, RMSNorm 1.02 and 0.97; LayerNorm of 13,000 bf16 1.01 by six, and 0.98
by eight that load it again."""
MAX_STAYING = 2
"""Blocks of a cluster that stays: with more, waiting for each other costs more than loading ahead gains."""
FEW_ROUNDS = 72_000
"""Bytes of a row of f32 from which on a multiprocessor keeps one, so that 64 MB are two or three rounds: LayerNorm of
18,432 and RMSNorm of 24,576 have 0.83 and 0.84 of a copy's speed then, and 0.91 and 0.95 by rings, on an H200
(2026-11-18)."""
SPARING = 2
"""Accesses of a thread to a row on GPUs that nothing was measured on, if the row allows it."""
FEW, SOME, MANY = 16, 128, 128 << 20
"""Launches that plans are compared for: of few rows so many and so many together, and rows of so many bytes. What is
fastest for 16 alone is slow for some more: 64 rows of 6,480 f32 take 6.8 us of an H200 by clusters of eight and 5.5 by
those of four, LayerNorm; 296 of 3,245 f16 5.7 us element by element and 5.3 by pieces, softmax (2026-11-17)."""
BRIEFLY = (4, 16, 64, 256)
"""The few rows that are compared for together where `few_time` is known for each number of them."""
FEW_CHUNKED = 4, FEW
"""Numbers of long rows with lines for which rings are compared with the fastest plan whose blocks do not stay."""
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
AMD_REGISTERS = 1 << 17
"""Vector registers of a compute unit, counted by lanes."""
SMALL_BLOCK, LEAST_SMALL = 64, 1500
"""Threads of `_in_small_blocks`, and bytes of their rows at least, since a multiprocessor begins a block in some 145
cycles: RMSNorm of 64 f16 has 0.82 of a copy's speed by blocks of 1,024 bytes on an H200 (2026-11-19) and 1.01 by those
of 2,048 and 4,096, of 96 1.04 by those of 1,536."""
LATE_LINES = 1400
"""Cycles that a launch over rows takes longer where threads load lines when the row is summed: with 90 and 300 MB,
RMSNorm of 4,876 f32 takes 27.9 and 79.4 us by 160 threads on an H200 (2026-11-19), 26.6 and 78.2 by 128, which load
its line before; LayerNorm of 1,504 bf16 21.9 by a wave a row, 20.7 by two, of 1,305 f32 29.6 by 128, 27.0 by 192."""
LEAST_IDLE, LESS_IDLE = 0.18, 0.14
"""`RowPlan.idle` from which on half as wide accesses are looked at, and how much less it is by those that are chosen
(`_halved`)."""
CLUSTERED = 512
"""Blocks of clusters from which on their launch takes longer than few rows gain by it."""


@dataclass(frozen=True)
class RowChoice:
    """The plan for launches of more than ``limit`` rows, and the one for those of fewer.

    ``apart`` is the one for matrices whose rows do not all begin at the same place in a piece of 16 bytes, where the
    others need that.
    """

    many: RowPlan
    few: RowPlan | None = None
    limit: int = 0
    apart: RowPlan | None = None


def only(plan: RowPlan) -> RowChoice:
    """Return one plan for any number of rows."""
    return RowChoice(plan, apart=plan.apart)


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
        # The most threads a block may have leave each 128 registers: rows are then loaded again, not kept.
        held = replace(plan, keep=plan.held < MAX_KEPT or plan.threads < MAX_THREADS)
        if not machine.bulk and _sums_fit(held):
            yield held
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


def _sums_fit(plan: RowPlan) -> bool:
    """Return whether a thread of AMD's GPUs has registers for the sums of its columns and for what it has of a row.

    By what LLVM takes, and spills nothing of, for 110 plans for gfx942, gfx950, gfx1201 and gfx1250: for each element
    its sums, what is loaded of it, of 16 bits two in a register if they come so, and if a row is kept, that as f32.
    """
    loaded = 2 if plan.size == 2 and plan.width > 1 else 3
    each = plan.sums + (4 if plan.keep else loaded) + plan.sources - 2
    return 40 + plan.held * each <= min(AMD_REGISTERS // plan.threads, 256)


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


class TooLong(ValueError):
    """Rows have no plan: sums of all their columns have no place in registers."""


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


def _in_small_blocks(plan: RowPlan, lines: int) -> RowPlan:
    """Return a plan of short rows that come straight from memory, and whose lines do so at once, with blocks of two
    waves: LayerNorm of 112, 136, 168 and 216 bf16 has 1.017, 0.99, 1.03 and 1.02 of a copy's speed so on an H200
    (2026-11-18), and 1.007, 0.98, 1.03 and 1.005 with blocks of four."""
    wide = plan.direct and plan.maps and plan.turns == 1 and plan.width * plan.size == ACCESS_BYTES
    rows = SMALL_BLOCK // plan.lanes
    short = plan.lanes < HOPPER.wave and rows < plan.rows and rows * plan.length * plan.size >= LEAST_SMALL
    return replace(plan, rows=rows) if lines and wide and short and plan.lines_early(lines) else plan


def _with_early_lines(
    plan: RowPlan, found: Sequence[RowPlan], lines: int, time_of: Callable[[RowPlan], float]
) -> RowPlan:
    """Return the plan, or in its place the fastest that loads lines before it waits for a row, if the model finds that
    one `LATE_LINES` slower at most. Threads of both load rows straight from memory, or could do so."""
    alone = plan.maps and plan.cluster == 1 and not plan.stays
    could = plan.direct or (plan.staged and plan.width * plan.size == ACCESS_BYTES)
    if not (lines and alone and could) or (plan.direct and plan.lines_early(lines)):
        return plan
    early = [other for other in found if other.direct and other.cluster == 1 and other.lines_early(lines)]
    other = min(early, key=time_of, default=plan)
    return other if time_of(other) <= time_of(plan) + LATE_LINES else plan


def _halved(plan: RowPlan, lines: int) -> RowPlan:
    """Return a plan of short rows of 16 bits with two lines by accesses of 8 bytes, where far fewer lanes have none to
    the end of a row: those that have compute for nothing, and take registers for it. LayerNorm of 408, 424 and 824 f16
    has 1.04, 1.04 and 1.035 of a copy's speed so on an H200 (2026-11-19), and 1.00, 1.015 and 0.985 by 16 bytes; of
    536, with 0.19 idle and 0.12 less, 1.01 either way. Eight lanes do not fill a line of the cache so: of 264 0.97 and
    0.995."""
    wide = plan.direct and plan.maps and plan.size == 2 and plan.width * plan.size == ACCESS_BYTES
    if not (wide and lines > 1 and plan.turns == 1 and plan.lanes <= HOPPER.wave <= 2 * plan.lanes):
        return plan
    halves = replace(plan, width=plan.width // 2)
    spared = plan.idle >= LEAST_IDLE and halves.idle + LESS_IDLE <= plan.idle
    return halves if spared and halves.lines_early(lines) else plan


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
        raise TooLong(f"rows of {length} {dtype} are too long for sums of their columns in registers")
    launch = max(MANY // (length * found[0].size), 1)
    if not machine.bulk and not task.sums:
        # Nothing was measured there: one plan for any number of rows, whose threads need few registers.
        sparing = [plan for plan in found if plan.held * plan.size <= SPARING * ACCESS_BYTES] or found
        return only(min(sparing, key=lambda plan: launch_time(plan, machine, lines, launch)))
    # Few rows have nothing that could come while others are computed on.
    alone = [plan for plan in found if not (plan.stays or plan.words)] or found
    widest = gcd(length, ACCESS_BYTES // found[0].size)
    found = [plan for plan in found if plan.width >= widest or plan.slots]  # others are for few
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

    def time_of_many(plan: RowPlan) -> float:
        return sum(launch_time(plan, machine, lines, rows) for rows in launches) / len(launches)

    many = _with_early_lines(min(found, key=time_of_many), found, lines, time_of_many)

    def time_of_few(plan: RowPlan, numbers: Sequence[int]) -> float:
        return sum(few_time(plan, machine, lines, rows) for rows in numbers)

    brief = [plan for plan in alone if is_brief(plan, machine)]
    few = min(brief or alone, key=partial(time_of_few, numbers=BRIEFLY if brief else (FEW, SOME)))
    if machine is HOPPER_LONG and task == MAP and many.slots and lines:
        chunked = [plan for plan in found if plan.slots and not plan.in_order]
        few = min((few, *chunked), key=partial(time_of_few, numbers=FEW_CHUNKED))
    many = _halved(_in_small_blocks(not_too_full(many, lines), lines), lines)
    limit = 1
    while limit < launch and launch_time(few, machine, lines, limit) < launch_time(many, machine, lines, limit):
        limit *= 2
    limit = max(limit // 2, CLUSTERED // few.cluster if short_rings else FEW if many.stays else 0)
    if brief or (few.rows == 1 and not few.staged):
        limit = max(limit, min(SIDE_BY_SIDE, LEAST_FEW // (length * few.size)))
    if few.cluster > 1:
        limit = min(limit, CLUSTERED // few.cluster)
    if many.stays:
        limit = min(limit, FEW if few.slots and task == MAP else max(MOST_FEW // (length * many.size), FEW))
    plain = few.keep and not few.staged and not few.stays and machine.bulk
    if few == many and plain:
        limit = max(limit, machine.processors)  # the same plan, but for what few rows gain by
    if (few == many and not plain) or limit == 0:
        return only(many)
    if plain:
        # Few rows do not fill a cache, and priorities take instructions.
        few = replace(few, hints=PLAIN, few=lines * few.held * few.size <= MOST_FEW_LINES)
    return RowChoice(many, few, limit, many.apart or few.apart)


def check_row(length: int, dtype: str) -> None:
    """Refuse rows that no plan has. A launcher for 8.0 elements would be the one that is kept for 8."""
    try:
        index(length)
    except TypeError:
        raise TypeError(f"the length of a row is an integer, got {length}") from None
    if length < 1:
        raise ValueError(f"a row needs at least one element, got {length}")
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}")


def plan_row(length: int, dtype: str, threads: int | None = None, *, lines: int = 0, task: RowTask = MAP) -> RowChoice:
    """Return the plans of a row on the target being traced; the only place that decides them.

    ``lines`` is how many vectors as long as a row (scale, shift) are loaded beside it.
    """
    check_row(length, dtype)
    return choose(length, dtype, machine_of_target(), lines, threads, task)


def lines_beside(vectors: Sequence[Any], dtype: str) -> int:
    """Return how many lines `plan_row` is to count: wider elements take the place of several; None is no vector."""
    own = DTYPES[dtype].width
    return sum(max(vector.dtype.width // own, 1) for vector in vectors if vector is not None)


def plan_of_sums(length: int, dtype: str, task: RowTask, lines: int) -> RowPlan | None:
    """Return the plan of many rows whose columns are summed, or None where the sums have no place in registers."""
    try:
        return plan_row(length, dtype, lines=lines, task=task).many
    except TooLong:
        return None
