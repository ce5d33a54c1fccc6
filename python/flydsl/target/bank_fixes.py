"""Search for the swizzle, or else the padding, that takes all bank conflicts out of the accesses to one array.

Both move whole pieces as wide as the widest access, so that what was one access stays one. A swizzle is stated on
element offsets from the start of the array, as a composed layout applies it; padding as elements put after every so
many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise

from flydsl.base.records import dataclass
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
    """``pad`` elements after every ``row`` elements.

    ``widest`` is the size in bytes of the widest access that such rows leave aligned, where that is less than now.
    """

    row: int
    pad: int
    widest: int | None = None

    def __str__(self) -> str:
        narrower = f", with accesses of {self.widest} bytes" if self.widest else ""
        return f"{self.pad} elements of padding after every {self.row}{narrower}"

    def __call__(self, index: int) -> int:
        return index + index // self.row * self.pad


@dataclass(frozen=True)
class Fix:
    """What to change, and the extra cycles that are left then."""

    change: Swizzle | Padding | None
    left: int


Move = Callable[[int], int]
_MOST_UNITS, _MOST_STEPS = 4, 4


def wave_cycles(target: Target, array: ArrayPlace, access: WaveAccess, move: Move | None = None) -> int:
    """Extra cycles of one access of a wave, with the array's elements moved if asked.

    An access wider than padding allows is counted as the narrower ones it becomes.
    """
    size = min(access.size, getattr(move, "widest", None) or access.size)
    if size == access.size:
        return extra_cycles(target, access.kind, size, _addresses(array, access, move))
    parts = (
        WaveAccess(access.kind, size, tuple((lane, offset + start) for lane, offset in access.lanes))
        for start in range(0, access.size, size)
    )
    return sum(extra_cycles(target, part.kind, size, _addresses(array, part, move)) for part in parts)


def find_fix(target: Target, array: ArrayPlace, accesses: Sequence[WaveAccess]) -> Fix:
    """Return the smallest swizzle that leaves none of the accesses with a conflict, or padding where no swizzle does.

    Where neither does while accesses stay as wide as they are, padding that makes them narrower; and else the swizzle
    or padding that leaves least, if any leaves less than there is.
    """
    patterns = Counter(accesses)
    # The accesses that conflict now rule out most candidates, so they are tried first.
    order = sorted(patterns, key=lambda access: -wave_cycles(target, array, access))
    best = Fix(None, sum(wave_cycles(target, array, access) * patterns[access] for access in order))
    for candidate in chain(_swizzles(target, array, order), _paddings(target, array, order), _narrow(array, order)):
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


def _narrow(array: ArrayPlace, accesses: Sequence[WaveAccess]) -> Iterator[Padding]:
    """Padding by less than the widest access, which then becomes several: by half of it first, by a word at last."""
    unit = _piece(array, accesses) * array.element // 2
    while unit >= max(BANK_BYTES, array.element):
        for units in range(1, 2 * _MOST_UNITS, 2):  # an even number is a wider unit, tried before
            for row in _rows(array, accesses, unit // array.element):
                yield Padding(row, unit * units // array.element, unit)
        unit //= 2


def _rows(array: ArrayPlace, accesses: Sequence[WaveAccess], piece: int) -> Iterator[int]:
    """Rows that padding may follow: those that the lanes step by, and every power of two that the array has."""
    places = [[offset for _, offset in access.lanes] for access in accesses]
    steps = Counter(b - a for offsets in places for a, b in pairwise(offsets))
    found = [step // array.element for step, _ in steps.most_common(_MOST_STEPS) if step % (piece * array.element) == 0]
    elements = array.size // array.element
    powers = (piece << shift for shift in range(max(elements // piece, 1).bit_length()))
    yield from (row for row in dict.fromkeys((*found, *powers)) if piece <= row < elements)


def _paddings(target: Target, array: ArrayPlace, accesses: Sequence[WaveAccess]) -> Iterator[Padding]:
    """Padding by whole pieces after rows of every power of two that the array has."""
    piece = _piece(array, accesses)
    banks = max(banks_of(target).reads.banks, banks_of(target).writes.banks)
    for pieces in range(1, banks * BANK_BYTES // (piece * array.element) + 1):
        yield from (Padding(row, piece * pieces) for row in _rows(array, accesses, piece))
