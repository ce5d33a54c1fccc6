"""How much slower the chip's power makes the tiles of the Hopper GEMM, for the model of their time."""

from __future__ import annotations

SUSTAINED = {1: 1270.0, 2: 1314.0}
"""Cycles of products in a microsecond, by bytes of a number. Tiles of 128 x 128 to 128 x 192 in turns took the same
time for the same products: where wgmma idles, the clock is higher. Eight products in fp8 with scales of rows, from
4096 x 4096 x 4096 on, and two of groups in bf16, on an H200, 2026-11-16."""
SHARED_BYTES = 198e3
"""Bytes in a microsecond into a multiprocessor's shared memory and out of it: 128 a cycle at the clock of that time."""


def slower_by_power(size: int, grouped: bool, step: float, products: float, moved: float) -> float:
    """Return how many times as long a block takes as at the full clock, for numbers of so many bytes.

    ``step`` are microseconds of a step of K at that clock, ``products`` cycles of its products, ``moved`` its bytes
    into shared memory and out of it. Of 16 bits groups alone were measured.
    """
    if size > 1 and not grouped:
        return 1.0
    return max(step, products / SUSTAINED[size], moved / SHARED_BYTES) / step
