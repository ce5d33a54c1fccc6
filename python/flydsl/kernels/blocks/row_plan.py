"""How rows are spread over a device: the plan of a row kernel, and the cost model that chooses it.

Every plan is one of a few kinds, and the kinds differ in numbers only: how many lanes hold a row, how many rows a
block has, how many blocks of a cluster share a row, and whether rows pass through shared memory. `launch_time` says
what a launch is expected to take with a plan, from facts of the machine, and `choose` takes the fastest. docs/rows.md
states the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from math import gcd
from numbers import Real
from typing import Any

import flydsl.expr as fx
from flydsl.kernels.blocks.cache_hints import ONCE, PLAIN, TWICE, RowHints

ACCESS_BYTES = 16
"""The widest access, and what rows must begin at a multiple of to be reached by it."""
DTYPES: dict[str, Any] = {"f32": fx.Float32, "f16": fx.Float16, "bf16": fx.BFloat16}


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
    element: float = 1.1
    """Instructions for an element of a source or target; of a line; of a sum over all rows; for reading an element
    again from shared memory; for an access, a mask, and a step of a reduction."""
    line: float = 1.9
    summed: float = 2.0
    read_again: float = 0.0
    access: float = 0.5
    mask: float = 0.4
    step: float = 12.0
    loaded_again: float = 2.5
    """What loading costs again of a row that is loaded twice, for each part that the first-level cache lost."""
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
    staying_cluster: int = 0
    """What a cluster that stays loses between two tiles, beside that."""
    power: float = 4.0
    """How sharply the largest of several times decides."""
    tail: float = 0.4
    """Part of a block's time for the last blocks of a launch, which have the machine for themselves."""


HOPPER = Machine(wave=32, cluster=8, bulk=True, shared=227 * 1024, near=200_000)
HOPPER_LONG = replace(
    HOPPER, issue=2.4, wave_issue=0.3, lone_issue=0.21, summed=6.0, read_again=5.9, access=0.23, mask=0.26, step=24.0,
    loaded_again=1.84, start=185, latency=2270, own_bytes=0.79, meeting=90, through_shared=1050, between_tiles=180,
    cluster_meeting=730, cluster_start=4230, staying_cluster=3000, power=8.0, tail=1.96,
)  # fmt: skip
"""For rows of `LONG` bytes and more, and for sums: a multiprocessor then has few blocks, whose phases stand alone.
Fitted to 1,200 more plans of 50 launches on the same GPU and day, of which it chooses what is 2 % slower than the
fastest on average."""
LONG = 24_000
ELSEWHERE = {wave: Machine(wave=wave) for wave in (32, 64)}
"""By the lanes of a wave."""
MAX_THREADS = 1024
MAX_HELD = 72
"""Elements that a thread keeps at most; those loaded again may be `MAX_AGAIN`. They are written out one by one."""
MAX_AGAIN = 128
MAX_ONCE = 256
"""Where each is needed once only."""
FEW_SUMS, MAX_SUMS = 32, 64
"""Sums that a thread keeps, and that it keeps at most where rows are too long otherwise."""
SUMMING = 512
"""Threads of a block that sums on Hopper, so that each has 128 registers."""
MAX_KEPT = 16
"""Elements beside their sums."""
STAGES = (2, 3)
MAX_STAYING = 2
"""Blocks of a cluster that stays: with more, waiting for each other costs more than loading ahead gains."""
FEW, MANY = 16, 128 << 20
"""Launches that plans are compared for: so many rows, and rows of so many bytes."""


@dataclass(frozen=True)
class RowPlan:
    """Rows of ``length`` elements: ``rows`` of them in a block, ``lanes`` threads each, or one in a cluster of blocks.

    A thread moves ``width`` elements at once. ``staged`` rows pass through shared memory, so that memory is reached in
    pieces of 16 bytes wherever rows begin. What is not kept (``keep``) in registers is loaded again when it is needed.
    """

    length: int
    dtype: str
    width: int
    lanes: int
    rows: int = 1
    cluster: int = 1
    staged: bool = False
    keep: bool = True
    bulk: bool = False
    """Whether a single thread sends for the tiles of staged rows, and sends them back."""
    hints: RowHints = PLAIN
    sources: int = 1
    """Matrices that are read row by row, and those that are written."""
    targets: int = 1
    sums: int = 0
    """Sums over all rows that a thread keeps of each of its elements, as f32."""
    once: bool = False
    """Whether the kernel goes over a row a single time, so that nothing is loaded again."""
    stages: int = 0
    """Tiles that are in shared memory or on their way there: blocks then stay and take one tile after the other."""

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return DTYPES[self.dtype].width // 8

    @property
    def threads(self) -> int:
        return self.lanes * self.rows

    @property
    def vectors(self) -> int:
        return self.length // self.width

    @property
    def share(self) -> int:
        """Vectors of a row that a block has at most."""
        return -(-self.vectors // self.cluster)

    @property
    def accesses(self) -> int:
        """Accesses whose elements are computed on together, as one vector."""
        return min(ACCESS_BYTES // self.size // self.width, -(-self.share // self.lanes))

    @property
    def turns(self) -> int:
        return -(-self.share // (self.lanes * self.accesses))

    @property
    def held(self) -> int:
        """Elements of a row that a thread has."""
        return self.turns * self.accesses * self.width

    @property
    def tile(self) -> int:
        """Elements of a source that a block has."""
        return self.rows * self.share * self.width

    @property
    def stays(self) -> bool:
        """Whether blocks take rows one after the other."""
        return bool(self.stages or self.sums)


def check_row(length: int, dtype: str) -> None:
    """Refuse rows that no plan has."""
    if length < 1:
        raise ValueError(f"a row needs at least one element, got {length}")
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}")


def check_options(eps: float, threads: int | None) -> None:
    """Refuse what is no epsilon and no number of threads, above all a flag in the place of one."""
    if isinstance(eps, bool) or not isinstance(eps, Real):
        raise TypeError(f"eps is a number added to the variance, got {eps!r}; there is no flag for storing statistics")
    if eps < 0:
        raise ValueError(f"eps must be 0 or more, got {eps}")
    if threads is not None and type(threads) is not int:
        raise TypeError(f"threads is an int, or None for the model's choice, got {threads!r}")


# The model -----------------------------------------------------------------------------------------------------------


def registers(plan: RowPlan, lines: int) -> int:
    """About how many registers a thread needs; a softmax keeps its powers as f32."""
    if plan.stays:
        # A bound, no guess: blocks that stay must all be there at once.
        return min(64 if plan.sums * plan.held <= 8 and plan.held <= 32 else 128, 65536 // plan.threads)
    if not plan.keep:
        return 32
    held = plan.held * plan.sources
    return 32 + held if held <= 32 else int((1.5 if lines else 2) * held) + (16 if lines else 0)


def shared_bytes(plan: RowPlan, machine: Machine) -> int:
    """Shared memory of a block, with what the system takes."""
    slots = 3 * 4 * plan.cluster * plan.rows * max(plan.lanes // machine.wave, 1)
    tiles = plan.sources * max(plan.stages, 1) * (plan.tile * plan.size + 256) if plan.staged else 0
    summed = 4 * plan.tile if plan.sums and plan.rows > 1 else 0  # where the sums of a block's rows meet
    return 1024 + slots + tiles + summed


def resident(plan: RowPlan, machine: Machine, lines: int) -> int:
    """Blocks that a multiprocessor has at once."""
    threads = -(-plan.threads // machine.wave) * machine.wave
    return min(
        machine.blocks,
        machine.threads // threads,
        machine.registers // (threads * -(-registers(plan, lines) // 8) * 8),
        machine.shared // shared_bytes(plan, machine),
    )


@cache
def bank_passes(length: int, size: int, width: int, lanes: int, wave: int) -> int:
    """How many times longer than without conflicts the lanes of a wave take to reach their first vectors of a tile."""
    together = max(min(128 // (width * size), wave), 1)
    worst = 1
    for first in range(0, wave, together):
        banks: dict[int, set[int]] = {}
        for lane in range(first, first + together):
            row, column = divmod(lane, lanes)
            start = (row * length + column * width) * size
            for word in range(start // 4, (start + width * size + 3) // 4):
                banks.setdefault(word % 32, set()).add(word)
        worst = max(worst, *(len(words) for words in banks.values()))
    return worst


def instructions(plan: RowPlan, machine: Machine, lines: int) -> float:
    """Of a wave, for its part of a block's rows; an access that is served in parts counts as many times."""
    accesses = plan.turns * plan.accesses
    parts = max(plan.width * plan.size * machine.wave / 128, 1)
    if plan.staged:
        parts *= bank_passes(plan.length, plan.size, plan.width, plan.lanes, machine.wave)
    loads = plan.sources * (1 if plan.keep or plan.once else 2)
    moves = accesses * parts * (loads + plan.targets + lines)
    if plan.staged and not plan.bulk:
        moves += 4 * 2 * (plan.sources + plan.targets) * plan.tile * plan.size / ACCESS_BYTES / plan.threads
    masks = accesses if plan.share % plan.lanes else 0
    steps = min(plan.lanes, machine.wave).bit_length() - 1
    each = machine.element * (plan.sources + plan.targets) + machine.line * lines + machine.summed * plan.sums
    if plan.staged and not (plan.keep or plan.once):
        each += machine.read_again * plan.sources
    return 20 + plan.held * each + machine.access * moves + machine.mask * masks + machine.step * steps


def block_times(plan: RowPlan, machine: Machine, lines: int) -> dict[str, float]:
    """Cycles that a block takes of a multiprocessor: of the memory, of L2, of the instructions that
    begin, and, alone, from its beginning to its end."""
    count, waves = resident(plan, machine, lines), -(-plan.threads // machine.wave)
    size = plan.rows * plan.length * plan.size / plan.cluster
    loads, again = 1.0, not (plan.keep or plan.staged or plan.once)
    if again:
        # What does not stay in the first-level cache is loaded again; a cluster's barrier empties it.
        kept = machine.near / (count * size * plan.sources) if count else 1.0
        missed = 1.0 if plan.cluster > 1 else max(1 - kept, 0)
        loads += min(machine.loaded_again * missed, 1.0)
    memory = (plan.sources * loads + plan.targets) * size / machine.bytes_per_cycle * _waste(plan, machine)
    work = instructions(plan, machine, lines) * waves
    chain = work / min(machine.issue, machine.lone_issue * waves)
    chain += machine.cluster_meeting if plan.cluster > 1 else machine.meeting if plan.lanes > machine.wave else 0
    alone = machine.start + machine.latency * (1.5 if again else 1)
    alone += machine.own_bytes * plan.sources * size / machine.bytes_per_cycle
    alone += chain + (machine.through_shared if plan.staged else 0)
    return {
        "memory": memory,
        "second level": (plan.sources * (2 if again else 1) + lines) * size / machine.second_level,
        "issue": work / min(machine.issue, machine.wave_issue * waves * max(count, 1)),
        "chain": chain + machine.between_tiles + (machine.staying_cluster if plan.cluster > 1 else 0),
        "alone": alone,
    }


def _waste(plan: RowPlan, machine: Machine) -> float:
    """How much longer the memory takes for accesses that are not 16 bytes wide, or that not all lanes make."""
    if plan.staged:
        return 1.0
    wide = plan.width * plan.size
    waste = ACCESS_BYTES / wide
    if plan.lanes < machine.wave and plan.lanes != plan.vectors:
        waste *= 1 + 16 / (plan.lanes * wide)  # sectors that are written in parts
    if plan.length * plan.size % 32:
        waste *= 1.08  # so are those at the ends of what a wave writes
    if plan.share % plan.lanes:
        idle = plan.turns * plan.accesses * plan.lanes / plan.share - 1
        waste *= 1.02 + 0.6 * idle + (0.25 if plan.cluster > 1 else 0)
    return waste


def launch_time(plan: RowPlan, machine: Machine, lines: int, rows: int) -> float:
    """Cycles of a launch of ``rows`` rows. What takes longest decides; what takes nearly as long adds to it."""
    count = resident(plan, machine, lines)
    if not count:
        return float("inf")
    times = block_times(plan, machine, lines)
    blocks = -(-rows // plan.rows) * plan.cluster / machine.processors
    rounds = max(blocks / count, 1)
    if plan.stays:
        # Tiles come while others are computed on: a round takes what is slowest, the memory or a block's own work.
        shares = [times[name] * min(count, blocks) for name in ("memory", "second level", "issue")]
        return rounds * _together([*shares, times["chain"]], machine) + times["alone"]
    between = machine.cluster_start if plan.cluster > 1 else 0
    waiting = times["alone"] * rounds + between * (rounds - 1)
    shares = [times[name] * blocks for name in ("memory", "second level", "issue")]
    return _together([*shares, waiting], machine) + machine.tail * times["alone"]


def _together(times: list[float], machine: Machine) -> float:
    """How long several things take that go on at once: the longest decides, and what is nearly as long adds to it."""
    return sum(time**machine.power for time in times) ** (1 / machine.power)


# The choice ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowChoice:
    """The plan for launches of more than ``limit`` rows, and the one for those of fewer."""

    many: RowPlan
    few: RowPlan | None = None
    limit: int = 0


@dataclass(frozen=True)
class RowTask:
    """What a kernel does with rows, as far as plans depend on it; `RowPlan` has the same names."""

    sources: int = 1
    targets: int = 1
    sums: int = 0
    once: bool = False

    @property
    def fields(self) -> dict[str, Any]:
        return vars(self)


MAP = RowTask()
"""A matrix in, a matrix out."""


def candidates(
    length: int, dtype: str, machine: Machine, threads: int | None = None, task: RowTask = MAP
) -> Iterator[RowPlan]:
    """Every plan that the model compares; with ``threads``, those with blocks of so many."""
    width = gcd(length, ACCESS_BYTES // (DTYPES[dtype].width // 8))
    lanes = [1 << bit for bit in range(machine.wave.bit_length())]
    waves = (
        (2, 4, 8, 16, 32) if machine is HOPPER_LONG and not task.sums else (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)
    )
    lanes += [count * machine.wave for count in waves]
    clusters = [1 << bit for bit in range(machine.cluster.bit_length())]
    for count in lanes:
        if count > MAX_THREADS or (count > 2 * length // width and count > machine.wave and count != threads):
            continue
        for block in {threads} if threads else {max(count, size) for size in ((256, 512) if task.sums else (128, 256))}:
            if block % count:
                continue
            rows = block // count
            for cluster in clusters if rows == 1 else (1,):
                yield from _kinds(RowPlan(length, dtype, width, count, rows, cluster, **task.fields), machine)


def _kinds(plan: RowPlan, machine: Machine) -> Iterator[RowPlan]:
    """The plans that spread rows over threads as ``plan`` does."""
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
        ahead = replace(plan, staged=True, bulk=True, keep=bool(plan.sums) and plan.held <= MAX_KEPT, hints=once)
        yield from (replace(ahead, stages=stages) for stages in STAGES)
    if plan.sums:
        if plan.held * plan.sums <= MAX_SUMS and not machine.bulk:
            yield plan
        return
    if plan.held * plan.sources <= MAX_HELD:
        yield replace(plan, hints=once)
        yield replace(plan, staged=True, bulk=machine.bulk, hints=once)
    if plan.once and wide and plan.cluster > 1 and plan.length <= MAX_ONCE * MAX_THREADS:
        return
    most = MAX_ONCE if plan.once else MAX_AGAIN
    if plan.rows == 1 and (plan.held <= most or longest):
        if machine.bulk and not (wide and plan.sources == 1):
            yield replace(plan, staged=True, bulk=True, keep=False, hints=once)
        yield replace(plan, keep=False, hints=(ONCE if plan.once else TWICE) if machine.bulk else PLAIN)


def for_rows(machine: Machine, size: int, task: RowTask = MAP) -> Machine:
    """The numbers of a machine for rows of ``size`` bytes."""
    return HOPPER_LONG if machine is HOPPER and (size * task.sources >= LONG or task.sums) else machine


def _alone_in_a_block(plan: RowPlan, machine: Machine) -> bool:
    """Whether a block could have the whole row, in shared memory or, where rows begin at pieces, without."""
    wide = plan.width * plan.size == ACCESS_BYTES
    return wide or plan.length * plan.size * plan.sources + 4096 <= machine.shared


@cache
def choose(
    length: int, dtype: str, machine: Machine, lines: int, threads: int | None = None, task: RowTask = MAP
) -> RowChoice:
    """The plans that the model finds fastest; with ``threads``, of those with blocks of so many."""
    if threads is not None and (threads not in range(1, MAX_THREADS + 1) or threads % machine.wave):
        raise ValueError(f"blocks have 1 to {MAX_THREADS} threads in waves of {machine.wave}, got {threads}")
    machine = for_rows(machine, length * DTYPES[dtype].width // 8, task)
    found = [plan for plan in candidates(length, dtype, machine, threads, task) if resident(plan, machine, lines)]
    for most in (FEW_SUMS, MAX_SUMS) if task.sums else ():
        # Many sums a thread mean few threads a row, which have less to tell each other; and so have few blocks.
        if fit := [plan for plan in found if most / 2 < plan.sums * plan.held <= most]:
            found = [plan for plan in fit if plan.cluster == min(other.cluster for other in fit)]
            break
    if not found:
        raise ValueError(f"rows of {length} {dtype} are too long for sums of their columns in registers")
    launch = max(MANY // (length * found[0].size), 1)
    many, few = (min(found, key=lambda plan: launch_time(plan, machine, lines, rows)) for rows in (launch, FEW))
    limit = 1
    while limit < launch and launch_time(few, machine, lines, limit) < launch_time(many, machine, lines, limit):
        limit *= 2
    return RowChoice(many) if few == many or limit == 1 else RowChoice(many, few, limit // 2)


def machine_of_target() -> Machine:
    """The machine of the target being traced."""
    return HOPPER if fx.nvvm.max_cluster_size() >= HOPPER.cluster else ELSEWHERE[fx.num_warp_threads()]


def plan_row(length: int, dtype: str, threads: int | None = None, *, lines: int = 0, task: RowTask = MAP) -> RowChoice:
    """The plans of a row on the target being traced; the only place that decides them.

    ``lines`` is how many vectors as long as a row (scale, shift) are loaded beside it.
    """
    check_row(length, dtype)
    return choose(length, dtype, machine_of_target(), lines, threads, task)
