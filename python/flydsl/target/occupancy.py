"""How many waves fit beside each other: register files and shared memory of each generation, divided by what a kernel
takes.

AMD: "Instruction Set Architecture" of CDNA2, CDNA3 and CDNA4, sections on vector registers (one file of 512 for both
kinds), RDNA3 and RDNA4 (1536 registers of waves of 32). NVIDIA: CUDA programming guide, technical specifications.
"""

from __future__ import annotations

from math import ceil

from flydsl.base.records import dataclass
from flydsl.target.target import KIB, Target


@dataclass(frozen=True)
class WaveRoom:
    """What waves share: registers of a lane in one file, given out by granules; files and shared memory of a unit."""

    registers: int
    granule: int
    most_waves: int
    files: int
    shared_bytes: int
    most_blocks: int


_ROOMS: dict[str, WaveRoom] = {
    "cdna2": WaveRoom(512, 8, 8, 4, 64 * KIB, 16),
    "cdna3": WaveRoom(512, 8, 8, 4, 64 * KIB, 16),
    "cdna4": WaveRoom(512, 8, 8, 4, 160 * KIB, 16),
    "rdna3": WaveRoom(1536, 24, 16, 4, 128 * KIB, 32),
    "rdna4": WaveRoom(1536, 24, 16, 4, 128 * KIB, 32),
    "cdna5": WaveRoom(1024, 16, 16, 4, 320 * KIB, 16),
    "ampere": WaveRoom(512, 8, 16, 4, 164 * KIB, 32),
    "hopper": WaveRoom(512, 8, 16, 4, 228 * KIB, 32),
}


def waves_per_file(target: Target, registers: int, shared_bytes: int, threads: int) -> int:
    """Waves that run at the same time on one register file, as far as registers, shared memory and blocks allow."""
    room = _ROOMS[target.generation]
    taken = max(ceil(registers / room.granule), 1) * room.granule
    by_registers = min(room.registers // taken, room.most_waves)
    waves = ceil(threads / target.wave_size)
    blocks = room.most_blocks if waves > 1 else room.most_waves * room.files
    if shared_bytes:
        blocks = min(blocks, room.shared_bytes // shared_bytes)
    blocks = min(blocks, by_registers * room.files // waves) if waves > by_registers * room.files else blocks
    return max(min(by_registers, ceil(blocks * waves / room.files)), 0)
