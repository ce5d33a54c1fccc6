"""A plan of a row kernel: how rows are spread over a device, and what a launch is expected to take with it.

Every plan is one of a few kinds, and the kinds differ in numbers only: how many lanes hold a row, how many rows a
block has, how many blocks of a cluster share a row, and whether rows pass through shared memory. `launch_time` is the
model, with the facts of a machine (`row_machine.py`); `row_choice.py` takes the fastest plan. docs/rows.md states it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd
from typing import Any

import flydsl.expr as fx
from flydsl.kernels.blocks.cache_hints import PLAIN, RowHints
from flydsl.kernels.blocks.row_machine import HOPPER, Machine, Reach, bank_passes

ACCESS_BYTES = 16
"""The widest access, and what rows must begin at a multiple of to be reached by it."""
LEAST_PIECES = 3
"""Of a row that is loaded by pieces, so that one in its middle is in its memory as a whole."""
DTYPES: dict[str, Any] = {"f32": fx.Float32, "f16": fx.Float16, "bf16": fx.BFloat16}
BARRIERS = 16
"""Bytes of the two barriers of a ring's slot."""
QUARTERS = 4
"""Of a multiprocessor, each with registers of its own for the waves that it has."""
MAX_KEPT = 16
"""Elements of a row, or of a line, that a thread keeps beside sums of as many columns."""
LINE_REGISTERS = 32 * 1024
"""Registers of a multiprocessor that lines may take which go with every row of a ring: half of them."""
THREAD_LINE_REGISTERS, RING_REGISTERS = 88, 80
"""Those of a thread: with 112, one of 168 had to spill; and what it needs beside them where it may have more."""


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
    turns: int = 1
    """Rows of such a tile that a thread takes one after the other, so that what a tile takes by itself counts less."""
    slots: int = 0
    """Chunks of a row that shared memory has place for (`row_ring.py`): blocks stay, and chunks come all the time."""
    chunks: int = 1
    """Into how many chunks a block's part of a row is cut at most."""
    crowd: int = 1
    """How many blocks with such rings, or with rows that come early and no sums, a multiprocessor has."""
    pieces: bool = False
    """Whether threads load and store the pieces of 16 bytes that a row lies in, wherever it begins in the first."""
    one_place: bool = False
    """Whether all rows of a block with a ring begin at one place in a piece, so that lines stay in registers."""
    near_lines: bool = False
    """Whether what registers do not hold of lines is in shared memory beside a ring; else L2 gives it every row."""
    early: bool = False
    """Whether blocks that stay load their next rows into registers while they compute on those before."""

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return DTYPES[self.dtype].width // 8

    @property
    def threads(self) -> int:
        """Of a block; a ring has a wave more, which sends for chunks, but where each wave does so for a row."""
        return self.lanes * self.rows + (HOPPER.wave if self.slots and self.rows == 1 else 0)

    @property
    def shifted(self) -> bool:
        """Whether vectors are the pieces of 16 bytes that a row lies in, wherever it begins in the first of them."""
        return (self.slots > 0 or self.pieces) and self.length % self.width > 0

    @property
    def vectors(self) -> int:
        return -(-(self.length + self.width - 1) // self.width) if self.shifted else self.length // self.width

    @property
    def share(self) -> int:
        """Vectors of a row that a block has at most."""
        return -(-self.vectors // self.cluster)

    @property
    def accesses(self) -> int:
        """Accesses whose elements are computed on together, as one vector."""
        return min(ACCESS_BYTES // self.size // self.width, -(-self.share // self.lanes))

    @property
    def iterations(self) -> int:
        return -(-self.share // (self.lanes * self.accesses))

    @property
    def held(self) -> int:
        """Elements of a row that a thread has."""
        return self.iterations * self.accesses * self.width

    @property
    def taken(self) -> int:
        """Elements of a row that a thread computes on: none of those that are beyond it for all lanes."""
        return min(-(-self.share // self.lanes) * self.width, self.held)

    @property
    def tile_rows(self) -> int:
        """Rows that a block has at once."""
        return self.rows * self.turns

    @property
    def tile(self) -> int:
        """Elements of a source that a block has."""
        return self.tile_rows * self.share * self.width

    @property
    def chunk_iterations(self) -> int:
        return -(-self.iterations // self.chunks)

    @property
    def parts(self) -> int:
        """Into how many chunks a block's part of a row is really cut."""
        return -(-self.iterations // self.chunk_iterations)

    @property
    def chunk(self) -> int:
        """Elements of a source that a slot has place for."""
        return self.chunk_iterations * self.lanes * self.width

    @property
    def apart(self) -> RowPlan | None:
        """A plan that spreads rows over as many blocks, for matrices whose rows begin at different places in a piece;
        None where this plan takes them."""
        if not self.shifted:
            return None
        width, keep = gcd(self.length, self.width), self.keep and not self.stays
        return replace(
            self, width=width, keep=keep, slots=0, chunks=1, crowd=1, one_place=False, pieces=False, near_lines=False,
            early=False, staged=True, bulk=True, stages=2 if self.sums else self.stages,
        )  # fmt: skip

    @property
    def keeps_lines(self) -> bool:
        """Whether blocks that sum load their lines once: with their rows, or where elements are loaded one by one."""
        narrow = self.width * self.size < ACCESS_BYTES
        return self.sums > 0 and (self.keep or (narrow and self.held <= MAX_KEPT))

    @property
    def keeps_wide(self) -> bool:
        """Whether threads keep elements as the f32 that they compute on, and not as they lie in memory."""
        return self.keep and not (self.shifted and self.sums * self.held > MAX_KEPT)

    @property
    def one_pivot(self) -> bool:
        """Whether lanes know a row's first elements before they tell each other anything, and sums of squares about
        those lose no digits that matter: none that elements of 16 bits have."""
        return self.cluster == 1 and not self.shifted and self.size == 2

    @property
    def direct(self) -> bool:
        """Whether threads load and store the vectors of rows that begin at pieces themselves, 16 bytes at once, and
        keep them."""
        return self.keep and not (self.staged or self.shifted) and self.width * self.size == ACCESS_BYTES

    @property
    def stays(self) -> bool:
        """Whether blocks take rows one after the other."""
        return bool(self.stages or self.sums or self.slots or self.early)

    @property
    def counted(self) -> bool:
        """Whether ``crowd`` says how many blocks a multiprocessor has."""
        early = self.early and (self.pieces or not self.sums)
        return self.slots > 0 or early or (self.lines_stay and not self.sums)

    @property
    def lines_stay(self) -> bool:
        """Whether blocks that stay take rows from shared memory, and keep lines in registers."""
        return self.stages > 0 and self.keep and not self.sums


def check_row(length: int, dtype: str) -> None:
    """Refuse rows that no plan has."""
    if length < 1:
        raise ValueError(f"a row needs at least one element, got {length}")
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, got {dtype!r}")


# The model -----------------------------------------------------------------------------------------------------------


def registers(plan: RowPlan, lines: int) -> int:
    """About how many registers a thread needs; a softmax keeps its powers as f32."""
    if plan.early and not plan.sums:
        # Beside the row and its lines, which are kept as they lie: the next row, and some vectors as f32.
        return -(-(48 + (2 + lines) * plan.held * plan.size // 4) // 8) * 8
    if plan.lines_stay:
        return -(-(32 + (1 + lines) * plan.taken) // 8) * 8
    if plan.sums and (plan.bulk or plan.early or plan.slots):
        return -(-_summing_registers(plan, lines) // 8) * 8
    if plan.stays:
        # A bound, no guess: blocks that stay must all be there at once.
        return min(64 if plan.sums * plan.held <= 8 and plan.held <= 32 else 128, 65536 // plan.threads)
    if not plan.keep:
        return 32
    held = plan.held * plan.sources
    if held <= 32:
        return 32 + held
    if plan.staged or plan.sources > 1:
        return int((1.5 if lines == 1 else 2) * held) + (16 if lines else 0)
    return int(1.15 * held) + (24 if lines > 1 else 18)


def _summing_registers(plan: RowPlan, lines: int) -> int:
    """Of a thread on Hopper that keeps sums of its columns: those, the next rows' vectors, the row's own as f32 and the
    lines. The compiler is told to take no more (`register_limit`)."""
    if plan.slots:
        # Lines as they lie; and masks of the row's ends.
        return (64 if plan.sums == 1 else 76) + (plan.sums * 4 + lines * plan.size) * plan.held // 4
    ahead = plan.sources * plan.held * plan.size // 4 if plan.early else 0
    if plan.shifted:
        own = plan.sources * plan.held if plan.keeps_wide else ahead
        base = 48 if plan.keeps_wide else 68 - 8 * plan.sums
        return base + plan.sums * plan.held + ahead + own + lines * plan.held * plan.size // 4
    own = (plan.sources + lines) * plan.held if plan.keep else 48 + (lines * plan.held if plan.keeps_lines else 0)
    return 30 + plan.sums * plan.held + ahead + own


def register_limit(plan: RowPlan, machine: Machine, lines: int) -> int:
    """Return what a thread may have so that as many blocks are there at once as `resident` says."""
    blocks = plan.crowd if plan.counted else max(resident(plan, machine, lines), 1)
    waves = -(-blocks * plan.threads // machine.wave // QUARTERS)  # of the fullest quarter
    return min(machine.registers // QUARTERS // (waves * machine.wave) // 8 * 8, 255)


def shared_bytes(plan: RowPlan, machine: Machine, lines: int = 0) -> int:
    """Shared memory of a block, with what the system takes."""
    slots = 3 * 4 * plan.cluster * plan.rows * max(plan.lanes // machine.wave, 1) * (2 if plan.slots else 1)
    tiles = plan.sources * max(plan.stages, 1) * (plan.tile * plan.size + 256) if plan.staged else 0
    summed = 4 * plan.tile if plan.sums and plan.rows > 1 else 0  # where the sums of a block's rows meet
    tables = lines if plan.shifted and plan.slots and not plan.one_place else 0
    table = tables * (ACCESS_BYTES * (plan.share + 1) + plan.size * plan.lanes + 128)
    near = lines * (near_line_bytes(plan, lines) + 128) if plan.near_lines else 0
    ring = ring_bytes(plan) + BARRIERS * plan.rows * plan.slots + 256 if plan.slots else 0
    return 1024 + slots + tiles + summed + table + near + ring


def kept_line_iterations(plan: RowPlan, words: int) -> int:
    """Return of how many iterations of a ring's rows registers hold the lines, which have so many words a vector."""
    most = min(LINE_REGISTERS // (plan.crowd * plan.lanes), THREAD_LINE_REGISTERS)
    most = max(most, register_limit(plan, HOPPER, 0) - RING_REGISTERS)
    return min(most // words, plan.iterations) if words else 0


def near_line_bytes(plan: RowPlan, lines: int) -> int:
    """Return what a block has of each line in shared memory where registers do not hold all."""
    rest = plan.iterations - kept_line_iterations(plan, lines * ACCESS_BYTES // 4)
    return rest * plan.lanes * ACCESS_BYTES


def resident(plan: RowPlan, machine: Machine, lines: int) -> int:
    """Blocks that a multiprocessor has at once."""
    if plan.slots:
        return plan.crowd if shared_bytes(plan, machine, lines) * plan.crowd <= machine.shared else 0
    if plan.counted:
        fits = register_limit(plan, machine, lines) >= registers(plan, lines)
        return plan.crowd if fits and shared_bytes(plan, machine, lines) * plan.crowd <= machine.shared else 0
    waves = -(-plan.threads // machine.wave)
    each = -(-registers(plan, lines) // 8) * 8
    by_registers = machine.registers // (waves * machine.wave * each)
    if plan.sums:
        # Exactly, since blocks that stay must all be there: each quarter has registers for a whole number of waves.
        by_registers = QUARTERS * (machine.registers // QUARTERS // (machine.wave * each)) // waves
    return min(
        machine.blocks,
        machine.threads // (waves * machine.wave),
        by_registers,
        machine.shared // shared_bytes(plan, machine, lines),
    )


def instructions(plan: RowPlan, machine: Machine, lines: int) -> float:
    """Of a wave, for its part of a block's rows; an access that is served in parts counts as many times."""
    accesses = plan.taken // plan.width
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
        narrow = plan.sources == 1 and plan.width * plan.size < ACCESS_BYTES
        each += machine.read_again * plan.sources + (machine.narrow_again if narrow else 0)
    if plan.sums and not plan.keep:
        # A row is normalised in both passes, and lines are loaded in both.
        each += machine.line * (1 if plan.keeps_lines else 1 + lines)
    if plan.early and registers(plan, lines) > machine.spare:
        each += machine.tight
    if plan.width * plan.size < ACCESS_BYTES:
        each += machine.narrow_line * lines / plan.width
    return 20 + plan.taken * each + machine.access * moves + machine.mask * masks + machine.step * steps


def block_times(plan: RowPlan, machine: Machine, lines: int) -> dict[str, float]:
    """Cycles that a block takes of a multiprocessor: of the memory, of L2, of the instructions that
    begin, and, alone, from its beginning to its end."""
    count, waves = resident(plan, machine, lines), -(-plan.threads // machine.wave)
    size = plan.rows * plan.length * plan.size / plan.cluster
    loads, again = 1.0, not (plan.keep or plan.staged or plan.once)
    if again:
        # What does not stay in the first-level cache is loaded again, and lines take place there too.
        near = count * size * plan.sources + lines * plan.length * plan.size
        missed = max(1 - machine.near / near, 0)
        loads += machine.again_in_cluster if plan.cluster > 1 else min(machine.loaded_again * missed, 1.0)
    memory = (plan.sources * loads + plan.targets) * size / machine.bytes_per_cycle * _waste(plan, machine)
    work = instructions(plan, machine, lines) * waves
    most = machine.direct_issue if plan.direct else machine.issue
    chain = work / min(machine.issue, machine.lone_issue * waves)
    chain += machine.cluster_meeting if plan.cluster > 1 else machine.meeting if plan.lanes > machine.wave else 0
    alone = machine.start + machine.latency * (1.5 if again else 1)
    alone += machine.own_bytes * plan.sources * size / machine.bytes_per_cycle
    alone += chain + (machine.through_shared if plan.staged else 0)
    fetched = lines * (machine.cluster_lines if plan.cluster > 1 else 1)
    return {
        "memory": memory,
        "second level": (plan.sources * (2 if again else 1) + fetched) * size / machine.second_level,
        "issue": work / min(most, machine.wave_issue * waves * max(count, 1)),
        "chain": chain + machine.between_tiles + (machine.staying_cluster if plan.cluster > 1 else 0),
        "alone": alone,
    }


def _waste(plan: RowPlan, machine: Machine) -> float:
    """Return how much longer the memory takes for accesses that are not 16 bytes wide, or that not all lanes make."""
    if plan.staged:
        if plan.sums:
            return 1.0
        slower = machine.ahead_bytes if plan.stages else machine.staged_bytes
        return slower * (machine.staged_in_cluster if plan.cluster > 1 and not plan.once else 1.0)
    wide = plan.width * plan.size
    waste = ACCESS_BYTES / wide * (machine.early_bytes if plan.early and not plan.sums else 1.0)
    reach = machine.direct_reach if plan.direct else Reach()
    if plan.lanes < machine.wave and plan.lanes != plan.vectors:
        waste *= 1 + (reach.narrow / (plan.lanes * wide)) ** reach.sharpness  # sectors that are written in parts
    if plan.length * plan.size % 32 and plan.targets:
        waste *= 1 + reach.part  # so are those at the ends of what a wave writes
    if plan.share % plan.lanes and reach.idle:
        idle = plan.iterations * plan.accesses * plan.lanes / plan.share - 1
        waste *= 1.02 + reach.idle * idle + (machine.cluster_mask if plan.cluster > 1 else 0)
    return waste


def launch_time(plan: RowPlan, machine: Machine, lines: int, rows: int) -> float:
    """Cycles of a launch of ``rows`` rows. What takes longest decides; what takes nearly as long adds to it."""
    count = resident(plan, machine, lines)
    if not count:
        return float("inf")
    if plan.slots:
        return _ring_time(plan, machine, lines, rows)
    if plan.lines_stay:
        return _kept_lines_time(plan, machine, lines, rows)
    if plan.early and plan.sums and plan.shifted:
        return _early_sums_time(plan, machine, rows)
    times = block_times(plan, machine, lines)
    blocks = -(-rows // plan.rows) * plan.cluster / machine.processors
    rounds = max(blocks / count, 1)
    if plan.stays:
        # Tiles come while others are computed on: a round takes what is slowest, the memory or a block's own work.
        shares = [times[name] * min(count, blocks) for name in ("memory", "second level", "issue")]
        return rounds * _together([*shares, times["chain"]], machine.power) + times["alone"]
    between = machine.cluster_start if plan.cluster > 1 else 0
    waiting = times["alone"] * rounds + between * (rounds - 1)
    if plan.cluster > 1:
        waiting = max(waiting, times["alone"] + rows * machine.cluster_launch * plan.cluster**2)
    lost = 1 + machine.part_round / rounds if plan.once else 1
    shares = [times[name] * blocks * lost for name in ("memory", "second level", "issue")]
    return _together([*shares, waiting], machine.power) + machine.tail * times["alone"]


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
    memory = machine.kept_bytes * plan.crowd * tile / machine.bytes_per_cycle
    issue = plan.crowd * plan.threads / machine.wave * work / machine.kept_issue
    rounds = max(-(-rows // plan.tile_rows) / (machine.processors * plan.crowd), 1)
    return rounds * _together([memory, issue, 2 * work + 300], machine.kept_power) + machine.kept_ends


def _early_sums_time(plan: RowPlan, machine: Machine, rows: int) -> float:
    """Return the cycles of a launch whose blocks have their next rows on their way while they compute on these: a round
    takes what those take, and what memory takes to answer, more of which shows where all waves wait for one row."""
    together = plan.crowd * plan.rows
    memory = together * (plan.sources + plan.targets) * plan.length * plan.size / machine.bytes_per_cycle
    round_ = (machine.early_answer + machine.early_summed * memory) * (1.06 if together == 1 else 1)
    return rows / (machine.processors * together) * round_ + machine.ring_ends


RING_WORK = {0: (266, 70, 40), 1: (120, 49, 14), 2: (242, 69, 26)}
"""By the number of lines, instructions of a wave for a row that comes through a ring, for a vector of 16-bit elements
of it, and for one of f32, counted in machine code: without lines that is a softmax."""
CHUNK_WORK = 20
"""Those for each chunk, beside two."""
SHIFTED_WORK = 100, 6, 4
"""Those that rows take beside them which begin anywhere."""


SUMMING_WORK = {1: (90, 122, 40), 2: (115, 146, 52)}
"""The same of a gradient of a norm, by the number of sums over rows, of rows that begin anywhere."""


def ring_work(plan: RowPlan, lines: int) -> float:
    """Return the instructions of a wave for its part of a row in a ring."""
    if plan.sums:
        row, narrow, wide = SUMMING_WORK[plan.sums]
        return row + plan.iterations * (wide if plan.size == 4 else narrow)
    row, narrow, wide = RING_WORK[min(lines, 2)]
    if plan.shifted:
        row, narrow, wide = row + SHIFTED_WORK[0], narrow + SHIFTED_WORK[1], wide + SHIFTED_WORK[2]
    vector = (wide if plan.size == 4 else narrow) * (plan.sources + plan.targets) / 2
    return row + plan.iterations * vector + CHUNK_WORK * (plan.parts - 2)


def _ring_time(plan: RowPlan, machine: Machine, lines: int, rows: int) -> float:
    """Rows come all the time; a round takes what is slowest: the memory, the instructions of all blocks, or a block's
    own way through a row, which nothing of the same block hides. The last round may be a part of one."""
    waves = plan.lanes / machine.wave
    work = ring_work(plan, lines) * waves
    chain = work / min(machine.ring_issue, machine.ring_wave_issue * waves) + machine.ring_chunk * plan.chunks
    chain += machine.ring_meeting + (machine.ring_cluster if plan.cluster > 1 else 0)
    if lines and (plan.one_place or not plan.shifted) and not plan.near_lines and near_line_bytes(plan, lines):
        # Lines that do not fit registers come from L2 again for every row.
        reloaded = lines * near_line_bytes(plan, lines)
        chain += machine.ring_reloaded * reloaded * plan.crowd / machine.second_level + machine.latency
    # What has no slot yet when a row is there has to come while its results are computed.
    size = plan.share * ACCESS_BYTES
    behind = max(2 - (plan.slots - 0.5) / plan.parts, 0) * size  # a slot is free when all of it is read
    stall = machine.ring_behind * behind * plan.sources / machine.bytes_per_cycle
    places = ring_places(plan, machine) * plan.rows
    # The memory is as fast with some multiprocessors fewer.
    busy = places * plan.cluster / machine.processors
    memory = machine.ring_bytes * busy * (plan.sources + plan.targets) * size / machine.bytes_per_cycle
    together = _together([memory, work * plan.crowd * plan.rows / machine.ring_issue, chain], machine.ring_power)
    together = (together + stall) * (1 + machine.ring_one_place * lines if plan.one_place else 1)
    # The last round is a part of one, be it by the number of rows at hand or by that of another launch.
    rounds = (-(-rows // places) + rows / places + 0.5) / 2
    other = machine.ring_other if plan.sources > 1 or plan.once else 1.0
    return other * rounds * together + machine.ring_ends


def ring_places(plan: RowPlan, machine: Machine) -> int:
    """Return how many blocks with rings, or clusters of them, the machine has at once."""
    # Clusters of four and more leave some multiprocessors of their group unused.
    processors = machine.processors - (12 if plan.cluster > 2 else 0)
    return max(processors * plan.crowd // plan.cluster, 1)


def _together(times: list[float], power: float) -> float:
    """Return how long several things take that go on at once: the longest decides, and what is nearly as long adds to
    it."""
    return sum(time**power for time in times) ** (1 / power)


def ring_bytes(plan: RowPlan) -> int:
    """Shared memory of the slots of all sources."""
    return plan.rows * plan.slots * plan.sources * plan.chunk * plan.size
