"""Swizzles and composed layouts: index maps that shapes and strides alone cannot say."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import LayoutError
from flydsl.base.records import dataclass
from flydsl.layout import indexing, show
from flydsl.layout import int_tuple as it
from flydsl.layout import leaf as lf
from flydsl.layout.int_tuple import IntTuple
from flydsl.layout.leaf import is_tuple


@dataclass(frozen=True, slots=True)
class Swizzle:
    """``x ^ ((x & (((1 << mask) - 1) << (base + shift))) >> shift)``: its own inverse."""

    mask: int
    base: int
    shift: int

    def __post_init__(self) -> None:
        if self.mask < 0 or self.base < 0 or abs(self.shift) < self.mask:
            raise LayoutError(
                f"no swizzle has mask {self.mask}, base {self.base}, shift {self.shift}",
                hint="mask and base are non-negative, and the shift is at least the mask so that bits do not overlap",
            )

    def __call__(self, index: Any) -> Any:
        if self.mask == 0:
            return index
        source = self.base + max(self.shift, 0)
        bits = lf.bit_and(index, ((1 << self.mask) - 1) << source)
        moved = lf.shift_right(bits, self.shift) if self.shift >= 0 else lf.shift_left(bits, -self.shift)
        return lf.bit_xor(index, moved)

    index = __call__

    @property
    def together(self) -> int:
        """How many neighbours stay neighbours, from each multiple of their number on."""
        return 1 << self.base if self.mask else 1 << 62

    @property
    def period(self) -> int:
        """After how many indices the permutation repeats."""
        return 1 << (self.mask + self.base + abs(self.shift))

    def __str__(self) -> str:
        return f"S<{self.mask},{self.base},{self.shift}>"

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class CoordSwizzle:
    """``col ^= ((row >> base_row) & ((1 << mask) - 1)) << base_col`` on two modes of a coordinate."""

    mask: int
    base_row: int
    mode_row: tuple[int, ...]
    base_col: int
    mode_col: tuple[int, ...]

    def __call__(self, coord: IntTuple) -> Any:
        row = _at(coord, self.mode_row)
        bits = lf.bit_and(lf.shift_right(row, self.base_row), (1 << self.mask) - 1)
        col = lf.bit_xor(_at(coord, self.mode_col), lf.shift_left(bits, self.base_col))
        return _replaced(coord, self.mode_col, col)

    index = __call__

    def __str__(self) -> str:
        row, col = (",".join(map(str, path)) for path in (self.mode_row, self.mode_col))
        return f"CS<{self.mask},{self.base_row},[{row}],{self.base_col},[{col}]>"

    __repr__ = __str__


def _at(coord: IntTuple, path: tuple[int, ...]) -> Any:
    for mode in path:
        if not is_tuple(coord) or mode >= len(coord):
            raise LayoutError(
                f"a coordinate swizzle names mode {list(path)}, which {it.to_text(coord)} does not have",
                hint="compose the swizzle with a layout whose coordinates have that mode",
            )
        coord = coord[mode]
    return coord


def _replaced(coord: IntTuple, path: tuple[int, ...], value: Any) -> Any:
    if not path:
        return value
    head, rest = path[0], path[1:]
    return tuple(_replaced(item, rest, value) if i == head else item for i, item in enumerate(coord))


@dataclass(frozen=True, slots=True)
class ComposedLayout:
    """``coordinate -> inner(offset + outer(coordinate))``."""

    inner: Any
    offset: Any
    outer: Any

    @property
    def shape(self) -> Any:
        return self.outer.shape

    @property
    def rank(self) -> int:
        return self.outer.rank

    @property
    def is_static(self) -> bool:
        parts = (self.inner, self.outer)
        return it.is_static(self.offset) and all(getattr(part, "is_static", True) for part in parts)

    def __call__(self, *coord: Any) -> Any:
        crd = coord[0] if len(coord) == 1 else coord
        return self.sliced(crd) if it.has_none(crd) else self.index(crd)

    def index(self, crd: IntTuple) -> Any:
        """Return the index of a coordinate without None."""
        return self.inner.index(it.add(self.offset, self.outer.index(crd)))

    def sliced(self, coord: IntTuple) -> ComposedLayout:
        """Return the modes whose coordinate is None; what is fixed moves the innermost offset."""
        if coord is None:
            return self
        indexing.check_slice(coord, self.outer.shape, self)
        if isinstance(self.outer, ComposedLayout):
            return ComposedLayout(self.inner, self.offset, self.outer.sliced(coord))
        moved = self.outer.index(indexing.fixed_part(coord))
        return ComposedLayout(self.inner, it.add(self.offset, moved), self.outer.sliced(coord))

    def __str__(self) -> str:
        outer = f"[{self.outer}]" if isinstance(self.outer, ComposedLayout) else str(self.outer)
        return f"{self.inner} o {it.to_text(self.offset)} o {outer}"

    __repr__ = __str__

    def _repr_svg_(self) -> str | None:
        return show.svg(self) if self.is_static else None


def linear_part(layout: Any) -> Any:
    """Return the innermost plain layout of a (possibly composed) layout."""
    while isinstance(layout, ComposedLayout):
        layout = layout.outer
    return layout


def kept_together(layout: Any) -> int:
    """Return how many neighbouring indices, from a multiple of as many on, a composed layout certainly keeps
    together."""
    kept = 1 << 62
    while isinstance(layout, ComposedLayout):
        kept = min(kept, layout.inner.together if isinstance(layout.inner, Swizzle) else 1)
        layout = layout.outer
    return kept


def with_linear_part(layout: Any, linear: Any) -> Any:
    """Return the same composed layout around another plain layout."""
    if isinstance(layout, ComposedLayout):
        return ComposedLayout(layout.inner, layout.offset, with_linear_part(layout.outer, linear))
    return linear
