"""A layout of elements of one width seen as elements of another."""

from __future__ import annotations

from math import gcd
from typing import Any

from flydsl.base.errors import LayoutError
from flydsl.layout import int_tuple as it
from flydsl.layout import leaf as lf
from flydsl.layout.int_tuple import IntTuple
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import Basis, DynInt
from flydsl.layout.swizzle import ComposedLayout, Swizzle


def recast_layout(layout: Any, old_type_bits: int, new_type_bits: int) -> Any:
    """Count in units of ``new_type_bits`` what is counted in units of ``old_type_bits``."""
    if old_type_bits < 1 or new_type_bits < 1:
        raise LayoutError(
            f"cannot recast {layout} from {old_type_bits} to {new_type_bits} bits", hint="element widths are positive"
        )
    common = gcd(old_type_bits, new_type_bits)
    up, down = new_type_bits // common, old_type_bits // common
    return downcast(upcast(layout, up), down)


def upcast(layout: Any, factor: int) -> Any:
    """``factor`` old elements make one new element."""
    if factor == 1:
        return layout
    if isinstance(layout, ComposedLayout):
        offset = it.map_leaves(lambda leaf: _upcast_offset(leaf, factor, layout), layout.offset)
        return ComposedLayout(_shifted(layout.inner, factor, -1), offset, upcast(layout.outer, factor))
    pairs = it.map_leaves(lambda s, d: Layout(*_upcast_leaf(s, d, factor, layout)), layout.shape, layout.stride)
    return _unzip(pairs)


def _upcast_leaf(extent: Any, stride: IntTuple, factor: int, layout: Layout) -> tuple[Any, Any]:
    if lf.equals(stride, 0):
        return extent, stride
    if not isinstance(stride, int):
        lf.require(
            lf.divides(factor, stride.value if isinstance(stride, Basis) else stride),
            "{} cannot be seen in units of {} elements: the stride {} is no multiple of it",
            (layout, factor, stride),
            "make the strides known while compiling, or use a narrower element",
        )
        return extent, lf.floordiv(stride, factor)
    step = abs(stride)
    if factor % step and step % factor:
        raise LayoutError(
            f"{layout} cannot be seen in units of {factor} elements: the stride {stride} neither divides {factor} nor "
            "is a multiple of it",
            hint="use strides that are multiples of the vector, or a narrower element",
        )
    sign = 1 if stride > 0 else -1
    return lf.ceil_div(extent, -(-factor // step)), sign * -(-step // factor)


def _upcast_offset(offset: Any, factor: int, layout: ComposedLayout) -> Any:
    lf.require(
        lf.divides(factor, offset),
        "{} cannot be seen in units of {} elements: it starts {} elements in",
        (layout, factor, offset),
        "slice at a multiple of the vector",
    )
    return lf.floordiv(offset, factor)


def downcast(layout: Any, factor: int) -> Any:
    """One old element makes ``factor`` new ones."""
    if factor == 1:
        return layout
    if isinstance(layout, ComposedLayout):
        offset = it.map_leaves(lambda leaf: lf.mul(leaf, factor), layout.offset)
        return ComposedLayout(_shifted(layout.inner, factor, 1), offset, downcast(layout.outer, factor))

    def leaf(extent: Any, stride: IntTuple) -> Layout:
        if isinstance(stride, int) and abs(stride) == 1:
            return Layout(lf.mul(extent, factor), stride)
        if isinstance(stride, DynInt) and stride.div == 1:
            lf.require(
                lf.either(lf.less(1, lf.mul(stride, stride)), lf.same(stride, 0)),
                "{} cannot be seen in parts of its elements here: its stride {} is 1 or -1",
                (layout, stride),
                "make the stride of 1 known while compiling",
            )
        return Layout(extent, lf.mul(stride, factor))

    return _unzip(it.map_leaves(leaf, layout.shape, layout.stride))


def _unzip(pairs: Any) -> Layout:
    return Layout(it.map_leaves(lambda p: p.shape, pairs), it.map_leaves(lambda p: p.stride, pairs))


def _shifted(inner: Any, factor: int, direction: int) -> Any:
    """A swizzle acts on other bits when the unit changes by a power of two."""
    if not isinstance(inner, Swizzle):
        return upcast(inner, factor) if direction < 0 else downcast(inner, factor)
    return _shifted_swizzle(inner, factor, direction)


def in_parts(swizzle: Swizzle, factor: int) -> Swizzle:
    """Return a swizzle of elements as one of the ``factor`` parts that each has, such as bytes."""
    return swizzle if factor == 1 else _shifted_swizzle(swizzle, factor, 1)


def _shifted_swizzle(inner: Swizzle, factor: int, direction: int) -> Swizzle:
    bits = factor.bit_length() - 1
    if 1 << bits != factor or inner.base + direction * bits < 0:
        raise LayoutError(
            f"the swizzle {inner} cannot be seen in units changed by {factor}",
            hint="change the unit by a power of two, within the bits below the swizzle's base",
        )
    return Swizzle(inner.mask, inner.base + direction * bits, inner.shift)
