"""Banks and phases of shared memory (LDS): facts of each target, and the conflicts they give.

Shared memory is split into banks of four bytes; a bank serves one word per cycle. A wave's access is served in
phases: groups of lanes whose words are fetched together. Lanes of one phase that want different words of one bank
wait for each other; lanes that want the same word share it.

Sources of the facts, which the vendors document only in part:
- gfx942, gfx950, gfx1100, gfx1201 reads: latency measurements published with an optimisation guide (bank counts 32, 64,
  32, 32; groups for 32, 64 and 128 bits); the odd groups of 128-bit reads are in AMD's notes on LDS bank conflicts too.
- gfx942 writes: AMD's documentation, 128-bit writes in groups of 8 neighbours.
- gfx950 96-bit reads: published measurements: 32 banks, the groups of gfx942's 128-bit reads.
- gfx950 writes: published measurements of 64-bit writes: groups of 16 neighbours over 32 banks.
- gfx12 goes through the lanes in order (compiler notes of AMD engineers); gfx1250 has 64 banks, its groups are derived.
- NVIDIA: 32 banks; 64-bit accesses by half-warps and 128-bit accesses by quarter-warps (CUDA documentation).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flydsl.base.records import dataclass
from flydsl.target.target import Target

BANK_BYTES = 4
WIDEST = 16
"""Bytes of the widest access; a wider one is several."""

Phases = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Side:
    """Reads or writes: how many banks take part, and the phases of 128-bit accesses where lanes do not go in order.

    ``triple`` are the banks and phases of 96-bit accesses where those are not served like 128-bit ones.
    """

    banks: int
    widest: Phases = ()
    triple: tuple[int, Phases] | None = None

    def phases(self, size: int, wave: int) -> Phases:
        """Groups of lanes served together: as many neighbours as fill all banks once, or as the facts say."""
        if size == 3 * BANK_BYTES and self.triple is not None:
            return self.triple[1]
        width = _width(size)
        if width == WIDEST and self.widest:
            return self.widest
        lanes = min(self.banks * BANK_BYTES // width, wave)
        return tuple(tuple(range(first, first + lanes)) for first in range(0, wave, lanes))

    def banks_for(self, size: int) -> int:
        """Return the banks that take part in an access of ``size`` bytes a lane."""
        return self.triple[0] if size == 3 * BANK_BYTES and self.triple is not None else self.banks


@dataclass(frozen=True)
class Banks:
    """Shared memory of one target."""

    reads: Side
    writes: Side

    def side(self, kind: str) -> Side:
        return self.reads if kind == "read" else self.writes


def _width(size: int) -> int:
    """Narrow accesses take a whole word; 96 bits are served like 128 where no fact says otherwise."""
    return BANK_BYTES if size <= BANK_BYTES else 2 * BANK_BYTES if size <= 2 * BANK_BYTES else WIDEST


def _lanes(*ranges: tuple[int, int]) -> tuple[int, ...]:
    return tuple(lane for first, last in ranges for lane in range(first, last + 1))


def _repeated(groups: Sequence[tuple[int, ...]], wave: int) -> Phases:
    """Return the groups of 32 lanes, for every 32 lanes of the wave."""
    return tuple(tuple(lane + half for lane in group) for half in range(0, wave, 32) for group in groups)


_PAIRS = (_lanes((0, 3), (20, 23)), _lanes((4, 7), (16, 19)), _lanes((8, 11), (28, 31)), _lanes((12, 15), (24, 27)))
_FOURS = (_lanes((0, 3), (12, 15), (20, 27)), _lanes((4, 11), (16, 19), (28, 31)))

_PLAIN = Banks(Side(32), Side(32))
_BY_GENERATION: dict[str, Banks] = {
    "cdna2": Banks(Side(32, _repeated(_PAIRS, 64)), Side(32)),
    "cdna3": Banks(Side(32, _repeated(_PAIRS, 64)), Side(32)),
    "cdna4": Banks(Side(64, _repeated(_FOURS, 64), (32, _repeated(_PAIRS, 64))), Side(32)),
    "cdna5": Banks(Side(64), Side(64)),
    "rdna3": Banks(Side(32, _repeated(_PAIRS, 32)), Side(32)),
    "rdna4": _PLAIN,
    "ampere": _PLAIN,
    "hopper": _PLAIN,
}


def banks_of(target: Target) -> Banks:
    """Return the banks of a target; those of a generation without a row are taken as 32 in lane order."""
    return _BY_GENERATION.get(target.generation, _PLAIN)


def phases_of(target: Target, kind: str, size: int) -> Phases:
    """Return the groups of lanes that a ``"read"``, ``"write"`` or ``"atomic"`` of ``size`` bytes a lane is served
    in."""
    return banks_of(target).side(kind).phases(size, target.wave_size)


def extra_cycles(target: Target, kind: str, size: int, addresses: Mapping[int, int]) -> int:
    """Cycles that bank conflicts add to one access of a wave; ``addresses`` is lane to byte address.

    In each phase the busiest bank decides. Atomics on one word do not share it. An access wider than 16 bytes a lane
    is counted as the several accesses it becomes.
    """
    side = banks_of(target).side(kind)
    total = 0
    for start in range(0, size, WIDEST):
        part = min(WIDEST, size - start)
        for phase in side.phases(part, target.wave_size):
            wanted = [(lane, addresses[lane] + start) for lane in phase if lane in addresses]
            total += _busiest(side.banks_for(part), wanted, part, kind == "atomic") - 1 if wanted else 0
    return total


def _busiest(banks: int, wanted: Sequence[tuple[int, int]], size: int, alone: bool) -> int:
    """Return how many words the busiest bank must serve in a phase."""
    words: dict[int, set[object]] = {}
    for lane, address in wanted:
        for word in range(address // BANK_BYTES, (address + size - 1) // BANK_BYTES + 1):
            words.setdefault(word % banks, set()).add((word, lane) if alone else word)
    return max(len(found) for found in words.values())
