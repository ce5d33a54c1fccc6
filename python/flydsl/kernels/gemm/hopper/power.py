"""How much slower the chip's power makes the tiles of the Hopper GEMM, for the model of their time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flydsl.kernels.gemm.hopper.plan import GemmConfig, Problem

SUSTAINED = {1: 1270.0, 2: 1314.0}
"""Cycles of products in a microsecond, by bytes of a number. Tiles of 128 x 128 to 128 x 192 in turns took the same time
for the same products, whatever else they read: where wgmma idles, the clock is higher. Eight products in fp8 with scales
of rows, from 4096 x 4096 x 4096 on, and two of groups in bf16, on an H200, 2026-11-16."""
SHARED_BYTES = 198e3
"""Bytes in a microsecond into a multiprocessor's shared memory and out of it: 128 a cycle at the clock of that time."""
ALONE = 1.07
"""How much longer products take in turns of one block of rows, where each waits for the one before it: 64 x 256 took 4
to 8 % longer than 128 x 128, on an H200, 2026-11-16."""


def slower_by_power(problem: Problem, config: GemmConfig, step: float, products: float, moved: float) -> float:
    """Return how many times as long a block takes as at the full clock.

    ``step`` are microseconds of a step of K at that clock, ``products`` cycles of its products, ``moved`` its bytes
    into shared memory and out of it. Of 16 bits, groups alone were measured; of weights of four bits, none.
    """
    if problem.packed or (problem.size > 1 and not problem.grouped):
        return 1.0
    one_block = config.accumulators == config.tile_n // 2
    products *= ALONE if config.taking_turns and one_block else 1.0
    return max(step, products / SUSTAINED[problem.size], moved / SHARED_BYTES if config.is_large else 0.0) / step
