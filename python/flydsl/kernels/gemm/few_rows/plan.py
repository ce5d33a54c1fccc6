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
HELD = 2
"""Runs of x of each part that lie in shared memory, while as much is on its way."""
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
    """How a block is made: warps, strips of 16 rows of weights among them, and rows of x."""

    warps: int
    strips: int
    rows: int

    @property
    def parts(self) -> int:
        """Warps of a strip, each with a part of K."""
        return self.warps // self.strips

    @property
    def line(self) -> int:
        """Elements of a line of x in shared memory."""
        return self.parts * HELD * RUN_K + PAD

    @property
    def tiles(self) -> int:
        return ceildiv(self.rows, TILE)

    @property
    def shared_bytes(self) -> int:
        """x twice, that of these runs and of the next, and sums."""
        return 2 * self.rows * self.line * 2 + self.warps * self.tiles * 512

    @property
    def resident(self) -> int:
        """Blocks of a multiprocessor."""
        return RESIDENT_WARPS // self.warps


def few_rows_configs(m: int) -> list[FewRows]:
    """Every configuration that the model compares for so many rows of x."""
    found = [FewRows(warps, strips, 1 << (m - 1).bit_length()) for warps in (16, 8) for strips in (4, 2, 1)]
    return [config for config in found if config.shared_bytes + MARGIN <= SHARED_BYTES // config.resident]


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
def choose_few_rows(problem: Problem, sms: int = 132) -> FewRows:
    """The configuration that the model finds fastest."""
    return min(few_rows_configs(problem.m), key=lambda config: few_rows_time(problem, config, HOPPER, sms))
