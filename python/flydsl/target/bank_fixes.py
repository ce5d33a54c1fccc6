"""Search for the swizzle, or else the padding, that takes all bank conflicts out of the accesses to one array.

Both move whole pieces as wide as the widest access, so that what was one access stays one. A swizzle is stated on
element offsets from the start of the array, as a composed layout applies it; padding as elements put after every so
many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from flydsl.layout.swizzle import Swizzle
from flydsl.target.banks import BANK_BYTES, banks_of, extra_cycles
from flydsl.target.target import Target


@dataclass(frozen=True)
class WaveAccess:
    """One access of a wave to an array: (lane, byte offset in the array) of the lanes that take part."""

    kind: str
    size: int
    lanes: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class ArrayPlace:
    """An array of shared memory: where it starts, its bytes and those of one element."""

    start: int
    size: int
    element: int


@dataclass(frozen=True)
class Padding:
    """``pad`` elements after every ``row`` elements."""

    row: int
    pad: int

    def __str__(self) -> str:
        return f"{self.pad} elements of padding after every {self.row}"

    def __call__(self, index: int) -> int:
        return index + index // self.row * self.pad


@dataclass(frozen=True)
class Fix:
    """What to change, and the extra cycles that are left then."""

    change: Swizzle | Padding | None
    left: int


Move = Callable[[int], int]


def wave_cycles(target: Target, array: ArrayPlace, access: WaveAccess, move: Move | None = None) -> int:
    """Extra cycles of one access of a wave, with the array's elements moved if asked."""
    return extra_cycles(target, access.kind, access.size, _addresses(array, access, move))


def find_fix(target: Target, array: ArrayPlace, accesses: Sequence[WaveAccess]) -> Fix:
    """The smallest swizzle that leaves none of the accesses with a conflict, or padding where no swizzle does.

    Where neither does, the swizzle or padding that leaves least, if any leaves less than there is.
    """
    patterns = Counter(accesses)
    # The accesses that conflict now rule out most candidates, so they are tried first.
    order = sorted(patterns, key=lambda access: -wave_cycles(target, array, access))
    best = Fix(None, sum(wave_cycles(target, array, access) * patterns[access] for access in order))
    for candidate in (*_swizzles(target, array, order), *_paddings(target, array, order)):
        left = 0
        for access in order:
            left += wave_cycles(target, array, access, candidate) * patterns[access]
            if left >= best.left:
                break
        else:
            best = Fix(candidate, left)
            if not left:
                break
    return best


def _addresses(array: ArrayPlace, access: WaveAccess, move: Move | None) -> dict[int, int]:
    if move is None:
        return {lane: array.start + offset for lane, offset in access.lanes}
    element = array.element
    return {lane: array.start + move(offset // element) * element + offset % element for lane, offset in access.lanes}


def _piece(array: ArrayPlace, accesses: Sequence[WaveAccess]) -> int:
    """Elements of the widest access, as a power of two: what must stay together."""
    widest = max(access.size for access in accesses)
    return 1 << (max(widest // array.element, 1) - 1).bit_length()


def _swizzles(target: Target, array: ArrayPlace, accesses: Sequence[WaveAccess]) -> Iterator[Swizzle]:
    """Swizzles that permute the array, those that move least first."""
    elements = array.size // array.element
    banks = max(banks_of(target).reads.banks, banks_of(target).writes.banks)
    base = _piece(array, accesses).bit_length() - 1
    row = max(banks * BANK_BYTES // array.element, 1).bit_length() - 1  # elements that pass all banks once
    for mask in range(1, max(row - base, 0) + 1):
        for low in range(base, row - mask + 1):
            for shift in range(mask, max(elements.bit_length() - low - mask, mask) + 1):
                if elements % (1 << (low + mask)) == 0 and 1 << (low + shift) < elements:
                    yield Swizzle(mask, low, shift)


def _paddings(target: Target, array: ArrayPlace, accesses: Sequence[WaveAccess]) -> Iterator[Padding]:
    """Padding by whole pieces after rows of every power of two that the array has."""
    elements = array.size // array.element
    piece = max(_piece(array, accesses), BANK_BYTES // array.element, 1)
    banks = max(banks_of(target).reads.banks, banks_of(target).writes.banks)
    for pieces in range(1, banks * BANK_BYTES // (piece * array.element) + 1):
        row = piece
        while row < elements:
            yield Padding(row, piece * pieces)
            row *= 2
