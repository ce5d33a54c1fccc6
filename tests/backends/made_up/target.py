"""The facts: an Abacus has waves of 16 threads and 8 KiB of shared memory, and runs at most 128 threads in a block."""

from __future__ import annotations

from flydsl.target.family import Family
from flydsl.target.target import Target

ABACUS = Family(
    "abacus", maker="Abacus", conversion="convert-fly-to-abacus", binary_step="write-beads", binary_suffix="beads",
    binary_is_text=True,
)  # fmt: skip
ABACUS_ONE = Target("abacus", "abacus1", "wooden", wave_size=16, lds_bytes=8 * 1024, max_block_threads=128)
