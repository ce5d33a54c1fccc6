"""Bank conflicts counted the slow way: phases written out, words served one per bank and cycle until none is left.

Nothing of `flydsl.target.banks` is used, so that the two can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def _in_order(wave: int, lanes: int) -> list[list[int]]:
    return [list(range(first, first + lanes)) for first in range(0, wave, lanes)]


_CDNA3_WIDE = [
    [0, 1, 2, 3, 20, 21, 22, 23], [4, 5, 6, 7, 16, 17, 18, 19],
    [8, 9, 10, 11, 28, 29, 30, 31], [12, 13, 14, 15, 24, 25, 26, 27],
    [32, 33, 34, 35, 52, 53, 54, 55], [36, 37, 38, 39, 48, 49, 50, 51],
    [40, 41, 42, 43, 60, 61, 62, 63], [44, 45, 46, 47, 56, 57, 58, 59],
]  # fmt: skip
_CDNA4_WIDE = [
    [0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27],
    [4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 28, 29, 30, 31],
    [32, 33, 34, 35, 44, 45, 46, 47, 52, 53, 54, 55, 56, 57, 58, 59],
    [36, 37, 38, 39, 40, 41, 42, 43, 48, 49, 50, 51, 60, 61, 62, 63],
]

# (target, kind, bytes of an access) -> (banks, phases)
PHASES: dict[tuple[str, str, int], tuple[int, list[list[int]]]] = {
    **{("gfx942", kind, size): (32, _in_order(64, 128 // size)) for kind in ("read", "write") for size in (4, 8)},
    ("gfx942", "read", 16): (32, _CDNA3_WIDE),
    ("gfx942", "write", 16): (32, _in_order(64, 8)),
    **{("gfx950", "read", size): (64, _in_order(64, 256 // size)) for size in (4, 8)},
    ("gfx950", "read", 16): (64, _CDNA4_WIDE),
    ("gfx950", "read", 12): (32, _CDNA3_WIDE),
    **{("gfx950", "write", size): (32, _in_order(64, 128 // size)) for size in (4, 8, 16)},
    **{
        (arch, kind, size): (32, _in_order(32, 128 // size))
        for arch in ("gfx1201", "sm_90a")
        for kind in ("read", "write")
        for size in (4, 8, 16)
    },
    **{("gfx1250", kind, 16): (64, _in_order(32, 16)) for kind in ("read", "write")},
    **{("gfx1250", kind, size): (64, _in_order(32, 32)) for kind in ("read", "write") for size in (4, 8)},
}


def brute_force_cycles(arch: str, kind: str, size: int, addresses: Mapping[int, int]) -> int:
    """Extra cycles of one access of a wave; narrow elements take their whole word."""
    banks, phases = PHASES[arch, kind, max(size, 4)]
    extra = 0
    for phase in phases:
        left = {
            word for lane in phase if lane in addresses
            for word in range(addresses[lane] // 4, (addresses[lane] + size - 1) // 4 + 1)
        }  # fmt: skip
        cycles = 0
        while left:
            served: dict[int, int] = {}
            for word in sorted(left):
                served.setdefault(word % banks, word)
            left -= set(served.values())
            cycles += 1
        extra += max(cycles - 1, 0)
    return extra


def of_waves(arch: str, kind: str, size: int, addresses: Sequence[int], wave: int) -> list[int]:
    """Extra cycles of each wave of a block whose threads access these addresses."""
    return [
        brute_force_cycles(arch, kind, size, dict(enumerate(addresses[first : first + wave])))
        for first in range(0, len(addresses), wave)
    ]
