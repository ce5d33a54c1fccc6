"""How `few_rows.kernel` is built for a product, and the time that it is expected to take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from flydsl.kernels.gemm.hopper_plan import (
    BLOCK_ROWS,
    HOPPER,
    SHARED_BYTES,
    WARP_ROWS,
    Machine,
    Problem,
    ceildiv,
    longest,
)  # fmt: skip

RUN = 4
"""Pieces of 64 along K that a warp loads at once."""
RUN_K = RUN * BLOCK_ROWS
TILE = 8
"""Rows of x of one mma.sync."""
PAD = 8
"""Elements between lines of x in shared memory, so that eight of them lie in different banks."""
MOST_ROWS = 16
RESIDENT_WARPS = 16
"""Of a multiprocessor: a thread has up to 128 registers."""
MARGIN = 2048
"""Shared memory that the system and alignment take of a block."""


@dataclass(frozen=True)
class FewRows:
    """How a block is made: warps, strips of 16 rows of weights among them, rows of x, and runs of x it holds."""

    warps: int
    strips: int
    rows: int
    held: int

    @property
    def parts(self) -> int:
        """Warps of a strip, each with a part of K."""
        return self.warps // self.strips

    @property
    def line(self) -> int:
        """Elements of a line of x in shared memory: the runs that each part holds."""
        return self.parts * self.held * RUN_K + PAD

    @property
    def tiles(self) -> int:
        return ceildiv(self.rows, TILE)

    @property
    def shared_bytes(self) -> int:
        return self.rows * self.line * 2 + self.warps * self.tiles * 512

    @property
    def resident(self) -> int:
        """Blocks of a multiprocessor."""
        return RESIDENT_WARPS // self.warps


def few_rows_config(m: int, k: int, warps: int, strips: int) -> FewRows:
    """A configuration with as many runs of x, an even number, as fit and as there are."""
    rows, parts = 1 << (m - 1).bit_length(), warps // strips
    runs = ceildiv(ceildiv(k, RUN_K), parts)
    whole = SHARED_BYTES * warps // RESIDENT_WARPS - MARGIN
    fitting = (whole - warps * ceildiv(rows, TILE) * 512) // rows // 2 - PAD
    return FewRows(warps, strips, rows, max(min(fitting // (parts * RUN_K), runs + 1) // 2 * 2, 2))


def few_rows_time(problem: Problem, config: FewRows, machine: Machine = HOPPER, sms: int = 132) -> float:
    """Microseconds of a launch; ``problem`` as the caller has it."""
    blocks = ceildiv(problem.n, WARP_ROWS * config.strips)
    rounds = ceildiv(blocks, sms * config.resident)
    runs = ceildiv(ceildiv(problem.k, RUN_K), config.parts)
    holding = config.rows * config.parts * runs * RUN_K * 2 / machine.port * config.resident
    working = runs * machine.unpacking_run * RESIDENT_WARPS / 4 * (1 + machine.more_tiles * (config.tiles - 1))
    each = machine.few_rows + (holding + working) / machine.cycles
    return machine.launch + longest(machine, rounds * each, problem.swapped.moved / machine.memory)


@lru_cache(maxsize=4096)
def choose_few_rows(problem: Problem, sms: int = 132) -> tuple[FewRows, float]:
    """The configuration that the model finds fastest, and the time that it expects."""
    shapes = [(16, 4), (16, 2), (16, 1), (8, 4), (8, 2), (8, 1)]
    found = [few_rows_config(problem.m, problem.k, *shape) for shape in shapes]
    times = {config: few_rows_time(problem, config, HOPPER, sms) for config in found}
    best = min(times, key=lambda config: times[config])
    return best, times[best]
