"""How much slower the chip's power makes the tiles of the Hopper GEMM, for the model of their time."""

from __future__ import annotations

SUSTAINED = {1: 1270.0, 2: 1335.0}
"""Cycles of products in a microsecond of steady work, by bytes of a number: where wgmma idles, the clock is higher, so
tiles of any width take the same time for the same products. In 16 bits, of 14 products in 6 to 9 tiles in turns each,
from 1024 x 3648 x 13952 to 16384 x 8192 x 3584; in fp8, of eight from 4096 x 4096 x 4096 on, with scales of rows, in
tiles of 128 x 128 to 128 x 192. On H200s, 2026-11-16 and 17."""
SUSTAINED_GROUPS = 1314.0
"""Those of groups of 16 bits, by two products."""
BURST = 1592.0
"""Those of bursts, of products of 16 bits without groups, on average over a launch: a short one, whose start and end
leave tensor cores idle, has the full clock."""
STEADY = 0.3
"""How much steady work counts beside bursts: nobody knows what a product follows. Of fp8 and of groups steady work is
all that was measured."""
SHARED_BYTES = 198e3
"""Bytes in a microsecond into a multiprocessor's shared memory and out of it: 128 a cycle at the clock of that time."""
PLAIN = 0.867
"""How much less products of fp8 take without groups and scales of blocks, by the times of several sessions since: 93.5
us at 4096 x 4096 x 4096, 707 to 718 at 8192 x 8192 x 8192 and 138 at 3456 x 6720 x 4160, on H200s, 2026-11-17."""
SHARED_POWER = 0.35
"""How much of their power multiprocessors that are idle leave to the others, as an exponent of the share that is busy:
without scales of blocks, in a launch of one round, and with them. With none, 7416 x 256 x 5440 in fp8 got tiles that
took 20.9 us, and 17.9 with those that 0.35 to 1 choose; with 0.7, 832 x 2560 x 14976 some that took 54.6, not 49.9.
In several rounds 4096 x 4096 x 4096 took 106.5 us on 120 multiprocessors and 95.5 on all. On an H200, 2026-11-17."""


def slower_by_power(
    step: float, size: int, blocks: int, rows: int, columns: int, is_large: bool, shared: float
) -> float:
    """Return how many times as long a tile takes as at the full clock, at which a step of K takes so many microseconds.

    Numbers have ``size`` bytes and lines of a step 128; wgmma multiplies ``blocks`` of 64 rows, each of which reads its
    own of A, and all columns of B, from shared memory. Those bytes were measured with large tiles. ``shared`` is how
    much less all takes where others are idle.
    """
    products = blocks * 4 * max(columns / 2, 16 + columns / 4)
    moved = 128 * (rows + columns + blocks * (64 + columns)) if is_large else 0.0
    sustained = SUSTAINED_GROUPS if size > 1 else SUSTAINED[size]
    return max(step, max(products / sustained, moved / SHARED_BYTES) * shared) / step
