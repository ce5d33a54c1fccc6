"""Coordinates to indices and back, and the space a layout maps into."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import LayoutError
from flydsl.layout import indexing
from flydsl.layout import int_tuple as it
from flydsl.layout import leaf as lf
from flydsl.layout.int_tuple import IntTuple
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import Basis, is_tuple
from flydsl.layout.swizzle import ComposedLayout, CoordSwizzle, Swizzle, linear_part


def crd2idx(crd: IntTuple, layout: Any) -> Any:
    """Return the index of a coordinate: a leaf, or a coordinate again when the strides are basis vectors."""
    return layout.index(crd)


def coprofile(layout: Any) -> Any:
    """Return the structure of what a layout maps to, filled with zeros: 0 unless it has basis strides."""
    if isinstance(layout, CoordSwizzle):
        raise LayoutError(f"{layout} maps any coordinate, so its codomain is unknown", hint="give the offset")
    if isinstance(layout, Swizzle):
        return 0
    if isinstance(layout, ComposedLayout):
        return coprofile(layout.outer) if isinstance(layout.inner, (Swizzle, CoordSwizzle)) else coprofile(layout.inner)
    return indexing.profile_of(layout.stride)


def coshape(layout: Any) -> Any:
    """Return one more than the largest index, along each mode of the codomain."""
    layout = linear_part(layout)
    return indexing.coshape_of(layout.shape, layout.stride)


def cosize(layout: Any) -> Any:
    """Return one more than the largest index; for basis strides, the product over the codomain's modes."""
    return it.product(coshape(layout))


# Indices to coordinates ------------------------------------------------------------------------


def idx2crd(idx: Any, layout: Layout) -> Any:
    """Undo the strides: each leaf is (idx // stride) % extent."""

    def one(extent: Any, stride: IntTuple) -> Any:
        if lf.equals(extent, 1):
            return 0
        if lf.equals(stride, 0):
            raise LayoutError(
                f"no coordinate of {layout} can be told from index {it.to_text(idx)}: a mode has stride 0",
                hint="slice the modes of stride 0 away first",
            )
        if not isinstance(stride, (int, Basis)):
            lf.require(
                lf.either(lf.less(0, stride), lf.less(stride, 0)),
                "no coordinate of {} can be told from an index: a mode has stride {}",
                (layout, stride),
                "slice the modes of stride 0 away first",
            )
        return lf.mod(lf.floordiv(idx, stride), extent)

    return it.map_leaves(one, layout.shape, layout.stride)


def get_1d_coord(idx: Any, layout: Layout) -> Any:
    """Return the column-major number of the coordinate that an index has."""
    crd = idx2crd(idx, layout)
    return crd2idx(crd, Layout(layout.shape, it.compact_strides(layout.shape)))


def get_flat_coord(idx: Any, layout: Layout) -> Any:
    """Return one column-major number per top-level mode."""
    crd = idx2crd(idx, layout)
    if not is_tuple(layout.shape):
        return crd
    return tuple(crd2idx(c, Layout(s, it.compact_strides(s))) for c, s in zip(crd, layout.shape, strict=True))
