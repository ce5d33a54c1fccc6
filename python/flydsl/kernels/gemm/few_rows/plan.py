"""How `few_rows.kernel` is built for a product, and the time that it is expected to take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from flydsl.kernels.gemm.hopper.model import HOPPER, Machine, longest
from flydsl.kernels.gemm.hopper.plan import BLOCK_ROWS, SHARED_BYTES, WARP_ROWS, Problem, ceildiv

RUN = 4
"""Pieces of 64 along K that a warp multiplies between loads of scales."""
RUN_K = RUN * BLOCK_ROWS
TILE = 8
"""Rows of x of one mma.sync."""
PAD = 8
"""Elements between lines of x in shared memory, so that eight of them lie in different banks."""
MOST_ROWS = 8
"""Of more, teams of warpgroups were faster: 17.2 us instead of 19.1 of 16 by 8192 x 8192, on an H200, 2026-11-16."""
RESIDENT_WARPS = 16
"""Of a multiprocessor: a thread has up to 128 registers."""
HELD_BYTES = 65536
"""Of x that a block waits for before it multiplies. In clusters 8 rows took 14.8 us with all of it, 64 KiB, at once, on
an H200, 2026-11-16."""
DIVISIONS = (16, 4, 1), (16, 2, 1), (16, 1, 1), (8, 4, 1), (8, 2, 1), (8, 1, 1), (16, 8, 2)
"""Warps of a block, strips of its cluster and blocks of that, which the model compares."""
SLOTS = 2
"""Runs on their way. One row by 8192 x 8192 took 12.9 us with two, 13.8 with three and 16.1 with five, on an H200,
2026-11-16: each more adds the time that memory takes for it, as if nothing were multiplied before all are there."""
MARGIN = 2048
"""Shared memory that the system and alignment take of a block."""


@dataclass(frozen=True)
class FewRows:
    """How a block is made: warps, strips of 16 rows of weights among them, rows of x, and runs of each part that x is
    held of, an even number: all of them in one place, or some while the next are on their way to the other of two."""

    warps: int
    strips: int
    rows: int
    held: int
    places: int = 2
    slots: int = 2
    """Runs that a warp has on their way."""
    cluster: int = 1
    """Blocks that have the same strips, each with a part of K."""

    @property
    def parts(self) -> int:
        """Warps of a strip, each with a part of K."""
        return self.warps // self.strips

    @property
    def line(self) -> int:
        """Elements of a line of x in shared memory."""
        return self.parts * self.held * RUN_K + PAD

    def place(self, run: Any) -> Any:
        """Return where x of a run begins in shared memory."""
        return run // self.held % self.places * (self.rows * self.line)

    @property
    def tiles(self) -> int:
        return ceildiv(self.rows, TILE)

    @property
    def sums_of_x(self) -> int:
        """Of what is held of x, in segments of 32 or more columns."""
        return self.parts * self.held * RUN_K // 32 * self.tiles * TILE

    @property
    def shared_bytes(self) -> int:
        """x, its sums, and pieces of weights, whose place sums get at the end."""
        of_x = self.places * self.rows * self.line * 2 + self.sums_of_x * 4
        return of_x + self.warps * self.slots * RUN * 512

    @property
    def spare_bytes(self) -> int:
        """What a block takes more, so that no more than `resident` of them fit. Those of the next launch would come
        beside them, two on one multiprocessor and none on another: one row took 21.4 us instead of 13.8."""
        return max(SHARED_BYTES // (self.resident + 1) + 1 - self.shared_bytes, 0)

    def can_hold(self, k: int) -> bool:
        """Return whether x of so many columns goes through the places."""
        return self.places > 1 or self.held >= ceildiv(ceildiv(k, RUN_K), self.parts * self.cluster)

    @property
    def resident(self) -> int:
        """Blocks that run on a multiprocessor at a time."""
        return RESIDENT_WARPS // self.warps


def few_rows_configs(m: int, k: int) -> list[FewRows]:
    """Return every configuration that the model compares: x as a whole where it is small, so that warps meet only
    once."""
    rows, found = 1 << (m - 1).bit_length() if m < TILE else ceildiv(m, TILE) * TILE, []
    for warps, strips, cluster in DIVISIONS:
        parts = warps // strips
        runs = ceildiv(ceildiv(k, RUN_K), parts * cluster)
        held = max(HELD_BYTES // (2 * rows * parts * RUN_K) // 2 * 2, 2)
        of_x = (runs + runs % 2, 1) if held >= runs else (held, 2)
        config = FewRows(warps, strips, rows, *of_x, SLOTS, cluster)
        if config.shared_bytes + MARGIN <= SHARED_BYTES // config.resident:
            found.append(config)
    return found


def few_rows_time(problem: Problem, config: FewRows, machine: Machine = HOPPER, sms: int = 132) -> float:
    """Microseconds of a launch; ``problem`` as the caller has it."""
    blocks = ceildiv(problem.n, WARP_ROWS * config.strips) * config.cluster
    # A last round of few blocks takes as long as others. With a third of one, 6 rows by 2816 x 2304 and one by
    # 5760 x 7424 took 9.7 and 14.2 us of an H200 (2026-11-18): by parts of rounds it would be 7.2 and 11.6, by whole
    # ones 9.8 and 15.9.
    rounds = ceildiv(blocks, sms * config.resident)
    runs = ceildiv(ceildiv(problem.k, RUN_K), config.parts * config.cluster)
    # A run takes the time from its loads to what they bring, however many warps there are.
    taken = config.rows * config.parts * RUN_K * 2 * config.resident / machine.few_rows_port
    each = machine.few_rows_run * (1 + machine.more_tiles * (config.tiles - 1)) + taken
    working, adding = (
        machine.few_rows + runs * each / machine.cycles,
        machine.few_rows_adding if config.cluster > 1 else 0.0,
    )
    return machine.launch + adding + longest(machine, rounds * working, problem.swapped.moved / machine.memory)


@lru_cache(maxsize=4096)
def choose_few_rows(problem: Problem, sms: int = 132) -> FewRows:
    """Return the configuration that the model finds fastest."""
    return min(few_rows_configs(problem.m, problem.k), key=lambda config: few_rows_time(problem, config, HOPPER, sms))
