"""Which elements of a tensor one access can move: those that certainly lie side by side.

An element's *spot* is a static distance from a place that may be known at run time only. Elements with the same place
lie at known distances from each other; those of different places lie anywhere. A swizzle with run-time bits keeps
pieces of ``2**base`` elements together, so each piece is a place of its own there.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import gcd
from typing import Any

from flydsl.base.records import dataclass
from flydsl.layout import int_tuple as it
from flydsl.layout.coords import crd2idx
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import divisor
from flydsl.layout.swizzle import ComposedLayout, Swizzle, linear_part


@dataclass(frozen=True, slots=True)
class Spot:
    """``offset`` elements from ``place``, which is a multiple of ``div`` elements (0: it is the tensor's start)."""

    place: tuple[Hashable, ...]
    offset: int
    div: int = 0


@dataclass(frozen=True, slots=True)
class Access:
    """Elements that one access moves, by their position in the tensor, and the alignment of its address in bytes."""

    positions: tuple[int, ...]
    align: int


@lru_cache(maxsize=512)
def offsets(layout: Any) -> tuple[int, ...]:
    """Return where each element of a static layout lies, in column-major order of the coordinates."""
    if isinstance(layout, Layout) and all(isinstance(stride, int) for stride in it.leaves(layout.stride)):
        found = [0]
        for extent, stride in layout.flat():
            found = [offset + i * stride for i in range(extent) for offset in found]
        return tuple(found)
    return tuple(it.leaves(crd2idx(i, layout))[0] for i in range(it.product(linear_part(layout).shape)))


def spots(layout: Any) -> list[Spot]:
    """Return where each element lies, in column-major order of the coordinates. The shape is static."""
    if layout.is_static:
        return [Spot((), offset) for offset in offsets(layout)]
    count = it.product(linear_part(layout).shape)
    if isinstance(layout, Layout):
        return _of_modes(layout, count)
    if isinstance(layout, ComposedLayout) and isinstance(layout.inner, Swizzle):
        return [_swizzled(layout.inner, _moved(spot, layout.offset)) for spot in spots(layout.outer)]
    return [Spot((i,), 0, 1) for i in range(count)]


def _of_modes(layout: Layout, count: int) -> list[Spot]:
    found: list[Spot] = []
    modes = layout.flat()
    for index in range(count):
        place: list[tuple[int, int]] = []
        offset = div = 0
        for number, (extent, stride) in enumerate(modes):
            index, coordinate = divmod(index, extent)
            if isinstance(stride, int):
                offset += coordinate * stride
            elif coordinate:
                place.append((number, coordinate))
                div = gcd(div, coordinate * divisor(stride))
        found.append(Spot(tuple(place), offset, div))
    return found


def _moved(spot: Spot, by: Any) -> Spot:
    if isinstance(by, int):
        return Spot(spot.place, spot.offset + by, spot.div)
    return Spot((*spot.place, "offset"), spot.offset, gcd(spot.div, divisor(by)))


def _swizzled(swizzle: Swizzle, spot: Spot) -> Spot:
    if spot.div % swizzle.period == 0:  # the run-time part leaves the permuted bits alone
        return Spot(spot.place, swizzle(spot.offset), spot.div)
    piece = gcd(spot.div, swizzle.together)
    number, inside = divmod(spot.offset, piece)
    return Spot((*spot.place, number), inside, piece)


def distinct(found: Sequence[Spot], keep_last: bool) -> dict[Spot, int]:
    """Return each spot once, with the first (or last) element that lies there."""
    chosen: dict[Spot, int] = {}
    for position, spot in enumerate(found):
        if keep_last or spot not in chosen:
            chosen[spot] = position
    return chosen


def accesses(found: Sequence[Spot], size: int, align: int, widest: int, keys: Sequence[Hashable] | None = None,
             keep_last: bool = False, within_align: bool = False) -> list[Access]:  # fmt: skip
    """Return the accesses of at most ``widest`` bytes that cover all spots, from a start aligned to ``align`` bytes.

    Elements of different ``keys`` never share an access. Where a run of several accesses crosses an address that is
    better aligned than its start it is cut there, so that those behind it have the alignment of their width; one that
    is not so aligned is the target's to split, and some need not. ``within_align`` keeps every access inside a piece of
    memory of its alignment, which a pointer's swizzle needs.
    """
    groups: dict[tuple[Hashable, ...], list[tuple[int, int, int]]] = {}
    for spot, position in distinct(found, keep_last).items():
        key = (spot.place, None if keys is None else keys[position])
        groups.setdefault(key, []).append((spot.offset, position, spot.div))
    made: list[Access] = []
    for members in groups.values():
        members.sort()
        known = gcd(align, members[0][2] * size)
        for first, last in _stretches([offset for offset, _, _ in members]):
            at = first
            while at < last:
                start = gcd(known, members[at][0] * size)
                count = _length(members[at][0], last - at, size, start, known, widest, within_align)
                made.append(Access(tuple(position for _, position, _ in members[at : at + count]), start))
                at += count
    return sorted(made, key=lambda access: min(access.positions))


def _stretches(offsets: list[int]) -> list[tuple[int, int]]:
    """Return (first, behind the last) of each stretch of consecutive offsets."""
    cuts = [0, *(i for i in range(1, len(offsets)) if offsets[i] != offsets[i - 1] + 1), len(offsets)]
    return list(pairwise(cuts))


def _length(offset: int, left: int, size: int, start: int, known: int, widest: int, within_align: bool) -> int:
    """Return how many elements the access at an offset takes: a power of two, or the three words that some targets
    move."""
    most = min(max(widest // size, 1), left)
    if within_align:
        most = min(most, max(start // size, 1))
    if left * size > widest and start < widest and known > start:
        boundary = min(known, widest)
        to_boundary = (-offset * size) % boundary // size
        if 0 < to_boundary < left:
            most = min(most, to_boundary)
    if most * size == _THREE_WORDS and size >= _WORD and start >= _WORD:
        return most
    return 1 << (most.bit_length() - 1)


_WORD, _THREE_WORDS = 4, 12
