"""Verbs on int tuples, layouts and tiles. All of them work anywhere; only run-time leaves need a kernel."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError, LayoutError
from flydsl.dialects.fly import rules
from flydsl.expr.tensors.layout import ComposedLayout, Layout, Swizzle, Tile
from flydsl.expr.tensors.tensor import Tensor, pointer_of
from flydsl.expr.values.handle import Handle, apply, as_handle, describe, wrap
from flydsl.expr.values.int_tuple import (
    IntTuple,
    ceil_div,
    checked_shape,
    elem_less,
    equal,
    int_tuple_add,
    int_tuple_div,
    int_tuple_mod,
    int_tuple_mul,
    int_tuple_product,
    int_tuple_product_each,
    int_tuple_product_like,
    int_tuple_sub,
    shape_div,
)
from flydsl.expr.values.known import plain
from flydsl.layout import build, tv
from flydsl.layout import int_tuple as it
from flydsl.layout.leaf import Basis
from flydsl.layout.swizzle import Swizzle as SwizzlePayload
from flydsl.target.dtype import width_bits

# Construction ----------------------------------------------------------------------------------


def make_int_tuple(value: Any) -> IntTuple:
    """Return a nested Python structure as an int tuple; a bare int is a leaf."""
    return IntTuple.from_python(value)


def _tuple_of(values: tuple[Any, ...], make: str) -> IntTuple:
    if len(values) == 1 and isinstance(values[0], IntTuple):
        return values[0]
    return IntTuple.from_python(values, make)


def make_shape(*extents: Any) -> IntTuple:
    """Return the tuple of the arguments: ``make_shape(8)`` is the rank-1 tuple ``(8)``."""
    return _tuple_of(extents, "make_shape")


def make_stride(*strides: Any) -> IntTuple:
    """Strides as an int tuple, one for each argument."""
    return _tuple_of(strides, "make_stride")


def make_coord(*coords: Any) -> IntTuple:
    """Return a coordinate; None leaves a mode open."""
    return _tuple_of(coords, "make_coord")


def make_layout(shape: Any, stride: Any = None) -> Layout:
    """Return the layout shape:stride; both must have the same nesting. Without strides it is compact, first mode
    fastest."""
    shape = checked_shape(shape)
    return apply("make_ordered_layout", shape, 0) if stride is None else apply("make_layout", shape, stride)


def make_layout_like(layout: Any) -> Layout:
    """Return the same shape with compact strides in the same order."""
    return apply("make_layout_like", layout)


def make_ordered_layout(shape: Any, order: Any) -> Layout:
    """Compact strides in the given order, 0 the fastest: ``(1, 0)`` is row-major."""
    return apply("make_ordered_layout", checked_shape(shape), order)


def make_identity_layout(shape: Any) -> Layout:
    """Return the layout that maps a coordinate to itself."""
    return apply("make_identity_layout", checked_shape(shape))


def make_composed_layout(inner: Any, *rest: Any) -> ComposedLayout:
    """``(inner, outer)`` or ``(inner, offset, outer)``: the map c -> inner(offset + outer(c))."""
    if len(rest) not in (1, 2):
        raise DslTypeError("make_composed_layout takes (inner, outer) or (inner, offset, outer)")
    inner = wrap(inner) if isinstance(inner, SwizzlePayload) else as_handle(inner)
    if isinstance(inner, IntTuple):
        hint = "make a swizzle with fx.make_swizzle(mask, base, shift)"
        raise DslTypeError(f"a layout is followed by a swizzle or by another layout, not by {inner}", hint=hint)
    offset, outer = rest if len(rest) == 2 else (rules.coprofile(as_handle(rest[0]).payload), rest[0])
    return apply("make_composed_layout", inner, offset, outer)


def make_tile(*modes: Any) -> Tile:
    """Return a tile with one divisor per mode; a single argument divides the whole layout."""
    return wrap(build.make_tile(*[_tile_mode(mode) for mode in modes]))


def _tile_mode(mode: Any) -> Any:
    mode = plain(mode)
    if mode is None or isinstance(mode, int):
        return mode
    if isinstance(mode, (tuple, list)):
        return build.make_tile(*[_tile_mode(m) for m in mode])
    if isinstance(mode, (Layout, Tile)) and mode.is_static:
        return mode.payload
    raise DslValueError(
        f"a tile mode must be an int, None, a static layout or a tuple of these, got {describe(mode)}",
        hint="tiles are static: use a Constexpr for the size",
    )


def static(payload: Any) -> Any:
    """Return a value of a fully static type, as made by ``SwizzleType.get`` and its neighbours."""
    return payload if isinstance(payload, Handle) else wrap(payload)


def make_swizzle(mask: int, base: int, shift: int) -> Swizzle:
    """Return the swizzle S<mask, base, shift>."""
    return wrap(SwizzlePayload(*[plain(part) for part in (mask, base, shift)]))


def make_layout_tv(thr: Any, val: Any) -> tuple[Any, Layout]:
    """Return the tile and the (thread, value) layout of threads ``thr`` holding values ``val`` each."""
    for part, name in ((thr, "thread"), (val, "value")):
        if not (isinstance(part, Layout) and part.is_static):
            raise DslValueError(f"the {name} layout must be static, got {describe(part)}")
    tile, layout = tv.make_layout_tv(thr.payload, val.payload)
    return wrap(tile) if isinstance(tile, tuple) else tile, wrap(layout)


# Extraction and queries ------------------------------------------------------------------------


def size(x: Any) -> IntTuple:
    """Return how many elements: always an int tuple leaf; ``get_scalar`` makes it a number."""
    return apply("size", x)


def cosize(x: Any) -> IntTuple:
    """Return one more than the largest index."""
    return apply("cosize", x)


def coshape(x: Any) -> IntTuple:
    """Return the extents of what a layout gives, one for each basis mode."""
    return apply("coshape", x)


def coprofile(x: Any) -> IntTuple:
    """Return the structure of what a layout gives, filled with zeros."""
    return apply("coprofile", x)


def get_scalar(x: Any) -> Any:
    """Return the number of a one-leaf tuple: a Python int when static."""
    return apply("get_scalar", x) if isinstance(x, IntTuple) else x


def get_leaves(x: Any, dynamic_only: bool = False) -> tuple[Any, ...]:
    """All leaves as numbers, left to right."""
    handle = IntTuple.from_python(x)
    dynamic = iter(apply("get_leaves", handle, dynamicOnly=True) if not handle.is_static else ())
    leaves = it.leaves(handle.payload)
    numbers = [leaf if isinstance(leaf, (int, Basis, type(None))) else next(dynamic) for leaf in leaves]
    return tuple(
        n for n, leaf in builtins.zip(numbers, leaves, strict=True) if not (dynamic_only and isinstance(leaf, int))
    )


def get_shape(x: Any) -> IntTuple:
    """Return the shape of a layout or tensor."""
    return apply("get_shape", x)


def get_stride(x: Any) -> IntTuple:
    """Return the strides of a layout or tensor."""
    return apply("get_stride", x)


def get_layout(tensor: Any) -> Any:
    """Return the layout of a tensor."""
    return apply("get_layout", tensor)


def get_iter(tensor: Any) -> Any:
    """Return the pointer to a tensor's first element, or the first coordinate of a coordinate tensor.

    A composed layout says by itself where its first element lies, so ``make_view(get_iter(t), t.layout)`` is ``t`` for
    plain layouts, and for composed ones that begin at index 0.
    """
    return pointer_of(tensor) if isinstance(tensor, Tensor) else apply("get_iter", tensor)


def composed_get_inner(layout: Any) -> Any:
    """Return the outermost map of a composed layout, a swizzle or layout."""
    return apply("composed_get_inner", layout)


def composed_get_offset(layout: Any) -> Any:
    """Return what a composed layout adds before its inner map."""
    return apply("composed_get_offset", layout)


def composed_get_outer(layout: Any) -> Any:
    """Return the layout that takes the coordinates of a composed layout."""
    return apply("composed_get_outer", layout)


def rank(x: Any) -> int:
    """Return the number of top-level modes; 1 for a leaf."""
    return it.rank(rules.shape_of(as_handle(x).payload))


def depth(x: Any) -> int:
    """Return how deeply a tuple or layout nests: 0 for a leaf, 1 for a flat tuple."""
    return it.depth(rules.shape_of(as_handle(x).payload))


def has_none(x: Any) -> bool:
    """Return whether a coordinate keeps a mode anywhere."""
    return it.has_none(as_handle(x).payload)


def is_profile_congruent(a: Any, b: Any) -> bool:
    """Return whether two tuples nest in the same way."""
    return it.congruent(as_handle(a).payload, as_handle(b).payload)


def is_profile_weakly_congruent(a: Any, b: Any) -> bool:
    """Return whether ``a`` has the nesting of ``b``, a leaf of ``a`` standing for any part of ``b``."""
    return it.weakly_congruent(as_handle(a).payload, as_handle(b).payload)


# Coordinates -----------------------------------------------------------------------------------


def crd2idx(crd: Any, layout: Any) -> IntTuple:
    """Return the position of a coordinate."""
    return apply("crd2idx", IntTuple.from_python(crd, "make_coord"), layout)


def idx2crd(idx: Any, layout: Any) -> IntTuple:
    """Return the coordinate of a position, found from the strides."""
    if not isinstance(layout, Layout):
        raise LayoutError(f"idx2crd needs a plain layout, got {describe(layout)}")
    return apply("idx2crd", idx, layout)


def get_flat_coord(idx: Any, layout: Any) -> IntTuple:
    """Return the coordinate of a position, one number for each top-level mode."""
    return apply("get_flat_coord", idx, layout)


def get_1d_coord(idx: Any, layout: Any) -> IntTuple:
    """Return the column-major coordinate of a position, as one number."""
    return apply("get_1d_coord", idx, layout)


# Structure -------------------------------------------------------------------------------------


def get(x: Any, index: int) -> Any:
    """Mode ``index``: the Python element of a list or tuple, otherwise the scalar of that mode."""
    if isinstance(x, (list, tuple)):
        return x[index]
    return get_scalar(get_(x, index))


def get_(x: Any, mode: int | Sequence[int]) -> Any:
    """Return the sub-tuple, sub-layout or sub-tensor at a mode or a path of modes."""
    return apply("get", x, mode=tuple(plain(m) for m in mode) if isinstance(mode, (tuple, list)) else (plain(mode),))


def take(x: Any, begin: int, end: int) -> Any:
    """Modes [begin, end); a single one is unwrapped."""
    return apply("take", x, begin=begin, end=end)


def select(x: Any, indices: Sequence[int]) -> Any:
    """Return the modes named, in that order; a single one is unwrapped."""
    return apply("select", x, indices=tuple(indices))


def group(x: Any, begin: int, end: int) -> Any:
    """Modes [begin, end) wrapped into one nested mode."""
    return apply("group", x, begin=begin, end=end)


def append(base: Any, elem: Any, *, n: int | None = None) -> Any:
    """Return the tuple or layout with one more mode at the end; with ``n``, padded to rank n."""
    return apply("append", base, elem, n=n)


def prepend(base: Any, elem: Any, *, n: int | None = None) -> Any:
    """Return the tuple or layout with one more mode in front; with ``n``, padded to rank n."""
    return apply("prepend", base, elem, n=n)


def zip(lhs: Any, rhs: Any) -> Any:
    """Pair the modes of two tuples or layouts of equal rank."""
    left, right = as_handle(lhs), as_handle(rhs)
    if rank(left) != rank(right):
        raise LayoutError(f"zip needs equal ranks: {left} has {rank(left)}, {right} has {rank(right)}")
    if isinstance(left, Layout) and isinstance(right, Layout):
        shape = IntTuple.from_python(tuple((left.shape[i], right.shape[i]) for i in range(rank(left))))
        stride = IntTuple.from_python(tuple((left.stride[i], right.stride[i]) for i in range(rank(left))))
        return make_layout(shape, stride)
    return IntTuple.from_python(tuple((left[i], right[i]) for i in range(rank(left))))  # type: ignore[index]


def slice(src: Any, coord: Any) -> Any:
    """Keep the modes whose coordinate is None; fix the others."""
    crd = IntTuple.from_python(coord, "make_coord")
    return src._slice(crd) if isinstance(src, Tensor) else apply("slice", src, crd)


def dice(src: Any, coord: Any) -> Any:
    """Keep the modes whose coordinate is given."""
    return apply("dice", src, IntTuple.from_python(coord, "make_coord"))


# Algebra ---------------------------------------------------------------------------------------


def coalesce(layout: Any, pattern: Any = None) -> Any:
    """Merge neighbouring modes; with a pattern, inside each of its leaves."""
    return apply("coalesce", layout) if pattern is None else apply("coalesce", layout, pattern)


def _divisor(tiler: Any) -> Any:
    if isinstance(tiler, (tuple, list)):
        return make_tile(*tiler)
    if isinstance(tiler, IntTuple) and isinstance(tiler.payload, tuple):
        return make_tile(*tiler.payload)
    if isinstance(tiler, (Layout, Tile)):
        return tiler
    if isinstance(plain(tiler), int):
        return make_layout(plain(tiler), 1)
    raise LayoutError(
        f"the divisor must be a layout, a tile, a tuple or a number known while tracing, got {describe(tiler)}",
        hint="write (n,) or make_layout(n, 1) with a Constexpr n for a single extent",
    )


def composition(a: Any, b: Any) -> Any:
    """Return the layout c -> a(b(c))."""
    return apply("composition", a, _divisor(b))


def complement(layout: Any, n: Any = None) -> Layout:
    """Return the layout of what ``layout`` does not reach below ``n``."""
    return apply("complement", layout) if n is None else apply("complement", layout, n)


def right_inverse(layout: Any) -> Layout:
    """Return the layout of coordinates whose positions count 0, 1, 2, ... as far as they go."""
    return apply("right_inverse", layout)


def left_inverse(layout: Any) -> Layout:
    """Return the layout that undoes this one, where it can be undone; gaps are covered too."""
    return apply("left_inverse", layout)


def recast_layout(layout: Any, old_bits: Any, new_bits: Any) -> Layout:
    """Return the layout in units of ``new_bits`` instead of ``old_bits``."""
    return apply("recast_layout", layout, old_type_bits=_bits(old_bits), new_type_bits=_bits(new_bits))


def _bits(value: Any) -> int:
    value = plain(value)
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        return width_bits(value)
    raise DslTypeError(f"recast_layout takes bit counts, got {describe(value)}", hint="write fx.Float16.width")


def logical_divide(a: Any, tiler: Any) -> Any:
    """Return (tile, rest); with a tile, mode by mode."""
    return apply("logical_divide", a, _divisor(tiler))


def zipped_divide(a: Any, tiler: Any) -> Any:
    """Return ((tile, …), (rest, …))"""
    return apply("zipped_divide", a, _divisor(tiler))


def tiled_divide(a: Any, tiler: Any) -> Any:
    """Return ((tile, …), rest, …)"""
    return apply("tiled_divide", a, _divisor(tiler))


def flat_divide(a: Any, tiler: Any) -> Any:
    """Return (tile, …, rest, …)"""
    return apply("flat_divide", a, _divisor(tiler))


def logical_product(a: Any, b: Any) -> Any:
    """Return (a, copies of a placed by b)"""
    return apply("logical_product", a, b)


def zipped_product(a: Any, b: Any) -> Any:
    """Return a product ((a0, a1, ...), (b0, b1, ...))."""
    return apply("zipped_product", a, b)


def tiled_product(a: Any, b: Any) -> Any:
    """Return a product (A, b0, b1, ...)."""
    return apply("tiled_product", a, b)


def flat_product(a: Any, b: Any) -> Any:
    """Return a product with all modes side by side: (a0, a1, ..., b0, b1, ...)."""
    return apply("flat_product", a, b)


def blocked_product(a: Any, b: Any) -> Any:
    """Mode by mode (a, b): whole blocks side by side."""
    return apply("blocked_product", a, b)


block_product = blocked_product


def raked_product(a: Any, b: Any) -> Any:
    """Mode by mode (b, a): copies interleaved."""
    return apply("raked_product", a, b)


def tile_to_shape(block: Any, target_shape: Any, order: Any) -> Any:
    """Repeat a block over a shape, blocks in the given order."""
    return apply("tile_to_shape", block, target_shape, order)


__all__ = [
    "append", "block_product", "blocked_product", "ceil_div", "coalesce", "complement", "composed_get_inner",
    "composed_get_offset", "composed_get_outer", "composition", "coprofile", "coshape", "cosize", "crd2idx", "depth",
    "dice", "elem_less", "equal", "flat_divide", "flat_product", "get", "get_", "get_1d_coord", "get_flat_coord",
    "get_iter", "get_layout", "get_leaves", "get_scalar", "get_shape", "get_stride", "group", "has_none", "idx2crd",
    "int_tuple_add", "int_tuple_div", "int_tuple_mod", "int_tuple_mul", "int_tuple_product", "int_tuple_product_each",
    "int_tuple_product_like", "int_tuple_sub", "is_profile_congruent", "is_profile_weakly_congruent", "left_inverse",
    "logical_divide", "logical_product", "make_composed_layout", "make_coord", "make_identity_layout",
    "make_int_tuple", "make_layout", "make_layout_like", "make_layout_tv", "make_ordered_layout", "make_shape",
    "make_stride", "make_swizzle", "make_tile", "prepend", "raked_product", "rank", "recast_layout", "right_inverse",
    "select", "shape_div", "size", "slice", "static", "take", "tile_to_shape", "tiled_divide", "tiled_product", "zip",
    "zipped_divide", "zipped_product",
]  # fmt: skip
