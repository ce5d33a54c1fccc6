"""Making layouts: ordered, like another, identity, composed; tiles."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import LayoutError
from flydsl.layout import int_tuple as it
from flydsl.layout import leaf as lf
from flydsl.layout.int_tuple import IntTuple
from flydsl.layout.layout import Layout, join
from flydsl.layout.leaf import Basis, is_tuple
from flydsl.layout.swizzle import ComposedLayout
from flydsl.layout.tile import Tile


def make_tile(*modes: Any) -> Tile:
    """Return a tile of these modes; a single one divides a whole layout."""
    if len(modes) == 1 and isinstance(modes[0], Tile):
        return modes[0]
    return Tile(tuple(modes), is_leaf=len(modes) == 1)


def make_composed_layout(inner: Any, offset: Any, outer: Any) -> ComposedLayout:
    return ComposedLayout(inner, offset, outer)


def make_identity_layout(shape: IntTuple) -> Layout:
    """Return the layout that maps every coordinate to itself."""

    def strides(part: Any, path: tuple[int, ...]) -> Any:
        if is_tuple(part):
            return tuple(strides(item, (*path, i)) for i, item in enumerate(part))
        return Basis(1, path) if path else 1

    return Layout(shape, strides(shape, ()))


# Ordered layouts -------------------------------------------------------------------------------


def _by_order(shape: IntTuple, order: IntTuple, found: list[tuple[Any, Any]]) -> None:
    """Pairs (order, part of the shape it ranks), left to right."""
    if is_tuple(order):
        if not is_tuple(shape) or len(shape) != len(order):
            raise LayoutError(
                f"the order {it.to_text(order)} does not fit the shape {it.to_text(shape)}",
                hint="give one rank for every mode, or for every leaf of a mode",
            )
        for part, rank in zip(shape, order, strict=True):
            _by_order(part, rank, found)
    else:
        found.append((order, shape))


def _sort_key(order: IntTuple, position: int) -> tuple[int, int]:
    """Static ranks first by value, the others by where they stand."""
    return (0, order) if isinstance(order, int) else (1, position)


def _starts(ranked: list[tuple[Any, Any]], *, distinct: bool) -> list[Any]:
    """Return the first stride of each part: the product of the extents ranked before it."""
    keys = [(*_sort_key(order, i), i if distinct else 0) for i, (order, _) in enumerate(ranked)]
    starts: list[Any] = []
    for key in keys:
        before = [it.product(part) for other, (_, part) in zip(keys, ranked, strict=True) if other < key]
        starts.append(it.product(tuple(before)))
    return starts


def make_ordered_layout(shape: IntTuple, order: IntTuple, *, distinct: bool = False) -> Layout:
    """Compact strides, the mode of order 0 fastest. Equal orders start at the same stride unless ``distinct``."""
    if not is_tuple(order):
        return Layout(shape, it.compact_strides(shape))
    ranked: list[tuple[Any, Any]] = []
    _by_order(shape, order, ranked)
    starts = iter(_starts(ranked, distinct=distinct))

    def place(part: Any, rank: Any) -> Any:
        if is_tuple(rank):
            return tuple(place(p, r) for p, r in zip(part, rank, strict=True))
        return it.compact_strides(part, next(starts))

    return Layout(shape, place(shape, order))


def make_layout_like(layout: Layout) -> Layout:
    """Return the same shape with compact strides in the order of the layout's own; stride 0 stays."""
    if not it.is_static(layout.stride):
        raise LayoutError(
            f"the order of the strides of {layout} is known only at run time",
            hint="state it: make_ordered_layout(shape, order), or pass flyc.from_dlpack(x), whose strides are known",
        )
    counted = it.map_leaves(lambda s, d: 1 if lf.equals(d, 0) else s, layout.shape, layout.stride)
    compact = make_ordered_layout(counted, layout.stride, distinct=True)
    stride = it.map_leaves(lambda d, c: 0 if lf.equals(d, 0) else c, layout.stride, compact.stride)
    return Layout(layout.shape, stride)


def make_fragment_layout_like(layout: Layout) -> Layout:
    """Return the registers of a fragment: mode 0 compact, the others after it in the order of their strides."""
    if layout.rank == 1:
        return _unit_strides_dropped(Layout(layout.shape, it.compact_strides(layout.shape)))
    first, rest = layout[0], layout.modes()[1:]
    counted = it.map_leaves(lambda s, d: 1 if lf.equals(d, 0) else s, first.shape, first.stride)
    values = Layout(first.shape, it.map_leaves(
        lambda d, c: 0 if lf.equals(d, 0) else c, first.stride, it.compact_strides(counted)))  # fmt: skip
    held = it.product(counted)
    others = join(rest)
    ordered = make_ordered_layout(others.shape, others.stride, distinct=True)
    scaled = it.map_leaves(lambda d: lf.mul(d, held), ordered.stride)
    return _unit_strides_dropped(Layout((values.shape, *others.shape), (values.stride, *scaled)))


def _unit_strides_dropped(layout: Layout) -> Layout:
    """A mode of extent 1 has stride 0."""
    stride = it.map_leaves(lambda s, d: 0 if lf.equals(s, 1) else d, layout.shape, layout.stride)
    return Layout(layout.shape, stride)
