"""The kinds of instructions that AMD's scheduling hints name, as bits of a mask.

LLVM's AMDGPU guide, `llvm.amdgcn.sched.group.barrier`. The bits of plain arithmetic (0x1, 0x2, 0x4, 0x400) are not
here: how many of those a kernel has is decided long after the hints are written.
"""

from __future__ import annotations

MATRIX, LOAD, STORE, LDS_READ, LDS_WRITE = 0x8, 0x20, 0x40, 0x100, 0x200
ANY_MEMORY, ANY_LDS = 0x10, 0x80

MASKS: dict[int, tuple[str, int]] = {
    MATRIX: ("matrix instructions", MATRIX),
    ANY_MEMORY: ("accesses to global memory", LOAD | STORE),
    LOAD: ("loads from global memory", LOAD),
    STORE: ("stores to global memory", STORE),
    ANY_LDS: ("accesses to LDS", LDS_READ | LDS_WRITE),
    LDS_READ: ("reads of LDS", LDS_READ),
    LDS_WRITE: ("writes of LDS", LDS_WRITE),
}
"""A bit of a hint's mask -> what it names, and the counted kinds it stands for."""


def counted_kinds(mask: int) -> int | None:
    """Return the kinds that a hint's mask stands for; None if it names some that are not counted."""
    kinds = 0
    for bit, (_, covered) in MASKS.items():
        if mask & bit:
            kinds, mask = kinds | covered, mask & ~bit
    return kinds if kinds and not mask else None


def kind_names(kinds: int) -> str:
    """Words for a set of kinds, the shortest that say it."""
    names: list[str] = []
    for name, covered in sorted(MASKS.values(), key=lambda entry: -entry[1].bit_count()):
        if covered & kinds == covered:
            names.append(name)
            kinds &= ~covered
    return " and ".join(names)
