"""What a plan of a row kernel needs of a multiprocessor: registers, shared memory, and so how many blocks are there."""

from __future__ import annotations

from flydsl.kernels.blocks.row_machine import HOPPER, Machine
from flydsl.kernels.blocks.row_plan import ACCESS_BYTES, QUARTERS, RowPlan

BARRIERS = 16
"""Bytes of the two barriers of a ring's slot."""
UNUSED = {4: 12, 8: 12, 16: 20}
"""Multiprocessors of an H200 that have nothing to do, by the blocks of a cluster: the driver says how many fit."""
LINE_REGISTERS = 32 * 1024
"""Registers of a multiprocessor that lines may take which go with every row of a ring: half of them."""
STRAIGHT = 32
"""Registers that a thread needs beside where nothing of a row is masked and it has more than four vectors: LayerNorm of
16,792 f16 with five some 190, of 16,791 160."""
MOST_WIDE, WIDE_LINES = 32, 12
"""Elements of a line that a thread keeps as f32 at most, and registers that it has to have beside: LayerNorm's gradient
of 50,257 and 4,097 bf16, with 32 and 24, has 0.91 and 0.93 of a copy's speed so on an H200 (2026-11-19), and 0.89 and
0.905 with its own 16 bits, of 40,001, with 40, 0.93 and 0.945."""
SENDING, SENDING_MUCH = 40, 56
"""Registers that a thread of a warpgroup which sends for rows keeps, and where it sends for those of `once_in_code`, in
several chunks: with 40, ptxas puts some 30 of its words into memory, which comes from L2 for every row."""
NEAR_KEPT = 1
"""Vectors of lines that registers hold where shared memory has the others: rings have place for three rows so, and the
last chunk of a row is sent for before the first pass over the one ahead. LayerNorm's gradient of 240,001 and 255,393
bf16 has 0.865 and 0.88 of a copy's speed by this and `SENDING_MUCH` on an H200 (2026-11-19), 0.82 and 0.83 by one."""
THREAD_LINE_REGISTERS, RING_REGISTERS = 88, 80
"""Those of a thread: with 112, one of 168 had to spill; and what it needs beside them where it may have more."""
READ_REGISTERS = 48
"""Those of a thread that only reads rows, and does not keep them."""


def registers(plan: RowPlan, lines: int) -> int:
    """About how many registers a thread needs; a softmax keeps its powers as f32."""
    if plan.early and not plan.sums:
        # Beside the row and its lines, which are kept as they lie: the next row, and some vectors as f32.
        return -(-(48 + (2 + lines) * plan.held * plan.size // 4) // 8) * 8
    if plan.passes:
        # As the compiler is told: with fewer it has two vectors on their way, and not `READ_AHEAD` of them.
        return READ_REGISTERS if plan.threads <= 256 else 40 if plan.threads <= 512 else 32
    if plan.lines_stay:
        return -(-(32 + (1 + lines) * plan.taken) // 8) * 8
    if plan.sums and (plan.bulk or plan.early or plan.slots):
        return -(-_summing_registers(plan, lines) // 8) * 8
    if plan.stays:
        # A bound, no guess: blocks that stay must all be there at once.
        return min(64 if plan.sums * plan.held <= 8 and plan.held <= 32 else 128, 65536 // plan.threads)
    if not plan.keep:
        # Of two sources all vectors are on their way at once: 54 with three vectors of each, 72 to 79 with more.
        return (64 if plan.iterations <= 3 else 80) if plan.shifted and plan.sources > 1 else 32
    if plan.shifted and plan.once and not plan.targets:
        return -(-(24 + plan.held * plan.size // 4) // 8) * 8  # as they lie: 39 with five vectors of 16 bits
    held = plan.held * plan.sources * plan.turns
    if plan.narrow and held <= 32:
        return 16 + held
    if held <= 32:
        return 32 + held
    if plan.staged or plan.sources > 1:
        return int((1.5 if lines == 1 else 2) * held) + (16 if lines else 0)
    return int(1.15 * held) + (24 if lines > 1 else 18) if lines else held + 22


def _summing_registers(plan: RowPlan, lines: int) -> int:
    """Of a thread on Hopper that keeps sums of its columns: those, the next rows' vectors, the row's own as f32 and the
    lines. The compiler is told to take no more (`register_limit`)."""
    if plan.slots:
        # Lines as they lie; and masks of the row's ends. By what ptxas spills nothing with. Where no end of a row is in
        # the way, it has more vectors on their way: of rows that begin at pieces, if a thread has many.
        own = 64 if plan.sums == 1 else 60 if plan.size == 2 and plan.rows == 1 else 68 if plan.lends else 76
        own += STRAIGHT if not plan.shifted and plan.iterations > 4 else 0
        return own + (plan.sums * 4 + (0 if plan.near_lines else lines * plan.size)) * plan.held // 4
    ahead = plan.sources * plan.held * plan.size // 4 if plan.early else 0
    if plan.shifted and plan.staged:
        return 60 + (plan.sums + lines + (plan.sources if plan.keep else 0)) * plan.held
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


def told_registers(plan: RowPlan, machine: Machine, lines: int) -> int | None:
    """Return how many registers the compiler is told that a thread may have, or None for as many as it takes.

    Blocks that stay are counted on to be there together, and threads that only read are to have vectors on their way.
    Of short rows of 16 bits where only the first lane has a last vector, threads of a LayerNorm do with eight fewer
    than it takes and spill nothing, which is place for more waves: 136 and 200 f16 take 0.965 and 0.97 of the time so
    on an H200 (2026-11-19). ``lines`` are 0 where a kernel has more to do to a row, as to quantise it.
    """
    if plan.counted:
        return register_limit(plan, machine, 0)
    if plan.passes:
        return registers(plan, 0)
    wide = plan.direct and plan.maps and plan.size == 2 and plan.width * plan.size == ACCESS_BYTES and not plan.few
    lone = plan.lanes == 8 and plan.share % plan.lanes == 1 and plan.held in (24, 32)
    return 2 * plan.held + 8 if wide and lone and lines == 2 and plan.lines_early(lines) else None


def sending_registers(plan: RowPlan) -> int:
    """Return what a thread of a warpgroup that sends for rows keeps."""
    return SENDING_MUCH if plan.once_in_code else SENDING


def taking_limit(plan: RowPlan, machine: Machine, lines: int) -> int:
    """Return what a thread that takes rows may have: those of a warpgroup that sends are divided among others."""
    begin = register_limit(plan, machine, lines)
    if not plan.lends:
        return begin
    waves = -(-plan.crowd * plan.lanes // machine.wave // QUARTERS)
    lent = (begin - sending_registers(plan)) * plan.crowd
    return min((begin * waves + lent) // waves // 8 * 8, 240)


def widens_lines(plan: RowPlan, machine: Machine, lines: int) -> bool:
    """Return whether threads that sum rows of a ring keep lines as f32, since they have registers for that: each
    element of a line is otherwise made f32 twice a row."""
    if plan.near_lines:
        return False
    more = lines * plan.held * (4 - plan.size) // 4
    return plan.held <= MOST_WIDE and registers(plan, lines) + more + WIDE_LINES <= taking_limit(plan, machine, lines)


def meeting_elements(plan: RowPlan) -> int:
    """Return of how many sums shared memory has place beside rows: those of all rows of a block meet there, and where
    rows begin anywhere those of a vector of each lane. A ring that all of a block's rows have come through has place
    itself (`meeting_iterations`)."""
    by_pieces = plan.shifted or plan.slots > 0
    if not plan.sums or (plan.rows == 1 and (plan.slots or not by_pieces)):
        return 0
    if by_pieces:
        return plan.lanes * plan.width * (plan.iterations * plan.rows if plan.rows > 1 else 1)
    return plan.rows * plan.length


def meeting_iterations(plan: RowPlan) -> int:
    """Return of how many vectors of each lane a block's sums meet at a time."""
    if not plan.slots:
        return 1
    return max(min(plan.slots * plan.chunk * plan.size // (4 * plan.lanes * plan.width), plan.iterations), 1)


def shared_bytes(plan: RowPlan, machine: Machine, lines: int = 0) -> int:
    """Shared memory of a block, with what the system takes."""
    sets = 4 if plan.begins_ahead else 2 if plan.slots else 1
    numbers = plan.sums if plan.once_in_code else 3  # that waves tell each other, at most
    slots = numbers * 4 * plan.cluster * plan.rows * max(plan.lanes // machine.wave, 1) * sets
    tiles = plan.sources * max(plan.stages, 1) * (plan.tile * plan.size + 256) if plan.staged else 0
    summed = 4 * meeting_elements(plan)
    tables = lines if plan.shifted and plan.slots and not (plan.one_place or plan.sums) else 0
    table = tables * (ACCESS_BYTES * (plan.share + 1) + plan.size * plan.lanes + 128)
    near = lines * (near_line_bytes(plan, lines) + 128) if plan.near_lines else 0
    near += lines * (coming_elements(plan) * plan.size + 128) if plan.lines_ahead else 0
    ring = ring_bytes(plan) + BARRIERS * plan.rows * plan.slots + 256 if plan.slots else 0
    ring += ACCESS_BYTES * plan.pivots
    ring += edge_bytes(plan, machine) if plan.sums and plan.one_place else 0
    return 1024 + slots + tiles + summed + table + near + ring


def edge_bytes(plan: RowPlan, machine: Machine) -> int:
    """Return what a block has of shared memory for sums that move on (`row_sums.py`)."""
    groups = plan.iterations * plan.lanes // machine.wave
    return 4 * plan.sums * (groups + 1 + plan.width) + BARRIERS // 2 * plan.width


def coming_elements(plan: RowPlan) -> int:
    """Elements of a line that shared memory has place for where lines come for every row: those on their way, and an
    iteration that is being read."""
    return (plan.lines_ahead + 1) * plan.lanes * plan.accesses * plan.width


def kept_line_iterations(plan: RowPlan, words: int) -> int:
    """Return of how many iterations of a ring's rows registers hold the lines, which have so many words a vector."""
    if plan.sums:
        return NEAR_KEPT if plan.near_lines else plan.iterations
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
    if plan.sums or plan.passes:
        # Exactly, since all blocks must be there at once: each quarter has registers for a whole number of waves.
        by_registers = QUARTERS * (machine.registers // QUARTERS // (machine.wave * each)) // waves
    return min(
        machine.blocks,
        machine.threads // (waves * machine.wave),
        by_registers,
        machine.shared // shared_bytes(plan, machine, lines),
    )


def ring_places(plan: RowPlan, machine: Machine) -> int:
    """Return how many blocks with rings, or clusters of them, the machine has at once."""
    places = max((machine.processors - UNUSED.get(plan.cluster, 0)) * plan.crowd // plan.cluster, 1)
    return places // plan.width * plan.width if plan.in_order else places


def ring_bytes(plan: RowPlan) -> int:
    """Shared memory of the slots of all sources."""
    return plan.rows * plan.slots * plan.sources * plan.chunk * plan.size
