"""Layout handles: plain, composed and swizzled layouts, and tiles."""

from __future__ import annotations

import functools
import operator
from typing import Any, ClassVar

from flydsl.base.errors import DslTypeError
from flydsl.dialects.fly import rules
from flydsl.expr.values.handle import Handle, apply, handle_for
from flydsl.expr.values.int_tuple import IntTuple, mode_number
from flydsl.layout import int_tuple as it
from flydsl.layout import show
from flydsl.layout.layout import Layout as LayoutPayload
from flydsl.layout.swizzle import ComposedLayout as ComposedPayload
from flydsl.layout.swizzle import CoordSwizzle as CoordSwizzlePayload
from flydsl.layout.swizzle import Swizzle as SwizzlePayload
from flydsl.layout.tile import Tile as TilePayload


class _Mapping(Handle):
    """What plain and composed layouts share: a shape, a call and a picture."""

    __slots__ = ()

    @property
    def rank(self) -> int:
        return it.rank(rules.shape_of(self.payload))

    @property
    def depth(self) -> int:
        return it.depth(rules.shape_of(self.payload))

    @property
    def is_leaf(self) -> bool:
        return not isinstance(rules.shape_of(self.payload), tuple)

    @property
    def is_static_shape(self) -> bool:
        return it.is_static(rules.shape_of(self.payload))

    @property
    def shape(self) -> IntTuple:
        return apply("get_shape", self)

    def _parts(self) -> tuple[Handle, ...]:
        """Return what two layouts of this kind have to agree in to be equal."""
        raise NotImplementedError

    def _equals(self, other: Handle) -> Any:
        """Leaf by leaf: a Python bool if what is known while tracing decides, else a run-time Boolean."""
        if type(self) is not type(other):
            return False
        return _all_equal(self._parts(), other._parts())  # type: ignore[attr-defined]

    def __call__(self, *coord: Any) -> Any:
        """Return the index of a coordinate; with None in it, the sub-layout that None leaves open."""
        crd = IntTuple.from_python(coord[0] if len(coord) == 1 else coord, "make_coord")
        return apply(
            "slice" if it.has_none(crd.payload) else "crd2idx",
            *((self, crd) if it.has_none(crd.payload) else (crd, self)),
        )

    def __getitem__(self, index: int) -> Any:
        return apply("get", self, mode=(mode_number(self, index),))

    def __len__(self) -> int:
        return self.rank

    def grid(self) -> str:
        """Return the layout as a table of text: rows are mode 0, columns the other modes, cells the indices."""
        return show.grid(self.payload)

    def show(self) -> None:
        """Print the table."""
        print(self.grid())

    def _repr_svg_(self) -> str | None:
        return show.svg(self.payload) if self.is_static else None


def _all_equal(first: tuple[Handle, ...], second: tuple[Handle, ...]) -> Any:
    """Return whether all pairs are equal; one that certainly differs decides, whatever the others are."""
    undecided = []
    for left, right in zip(first, second, strict=True):
        same = left == right
        if not isinstance(same, bool) and not same.is_static():
            undecided.append(same)
        elif not same:
            return False
    return functools.reduce(operator.and_, undecided) if undecided else True


@handle_for(LayoutPayload)
class Layout(_Mapping):
    """A function from coordinates to indices, written shape:stride."""

    __slots__ = ()
    kind: ClassVar[str] = "layout"

    def _parts(self) -> tuple[Handle, ...]:
        return self.shape, self.stride

    @property
    def is_static_stride(self) -> bool:
        """Whether all strides are static."""
        return it.is_static(self.payload.stride)

    @property
    def stride(self) -> IntTuple:
        """The strides."""
        return apply("get_stride", self)

    def get_hier_coord(self, index: Any) -> IntTuple:
        """Return the coordinate of a position, nested like the shape."""
        return apply("idx2crd", index, self)

    def get_flat_coord(self, index: Any) -> IntTuple:
        """Return the coordinate of a position, one number a mode."""
        return apply("get_flat_coord", index, self)

    def get_1d_coord(self, index: Any) -> IntTuple:
        """Return the column-major coordinate of a position."""
        return apply("get_1d_coord", index, self)


@handle_for(ComposedPayload)
class ComposedLayout(_Mapping):
    """coordinate -> inner(offset + outer(coordinate))"""

    __slots__ = ()
    kind: ClassVar[str] = "composed layout"

    def _parts(self) -> tuple[Handle, ...]:
        return self.inner, self.offset, self.outer

    @property
    def inner(self) -> Any:
        """The map applied last."""
        return apply("composed_get_inner", self)

    @property
    def offset(self) -> IntTuple:
        """What is added before the inner map."""
        return apply("composed_get_offset", self)

    @property
    def outer(self) -> Any:
        """The layout that takes the coordinates."""
        return apply("composed_get_outer", self)

    @property
    def is_static_stride(self) -> bool:
        """Whether the strides of the outer layout are static."""
        return self.is_static

    @property
    def stride(self) -> Any:
        """Refused: a composed layout has no strides."""
        raise DslTypeError(f"a composed layout has no strides: {self}", hint="use .inner, .offset and .outer")


@handle_for(SwizzlePayload)
class Swizzle(Handle):
    """An exclusive-or of higher address bits into lower ones."""

    __slots__ = ()
    kind: ClassVar[str] = "swizzle"

    @property
    def mask(self) -> int:
        """The number of bits that change."""
        return self.payload.mask

    @property
    def base(self) -> int:
        """The lowest bit that changes."""
        return self.payload.base

    @property
    def shift(self) -> int:
        """How far up the other operand is."""
        return self.payload.shift


@handle_for(CoordSwizzlePayload)
class CoordSwizzle(Handle):
    """A swizzle of one coordinate by another."""

    __slots__ = ()
    kind: ClassVar[str] = "coordinate swizzle"

    @property
    def mask(self) -> int:
        """The number of bits that change."""
        return self.payload.mask


@handle_for(TilePayload)
class Tile(Handle):
    """One divisor per mode: an extent, a layout, None for an untouched mode, or a nested tile."""

    __slots__ = ()
    kind: ClassVar[str] = "tile"

    @property
    def rank(self) -> int:
        """The number of modes."""
        return len(self.payload.modes)

    def unpack(self) -> tuple[Any, ...]:
        """Return the modes as Python values."""
        return self.payload.modes
