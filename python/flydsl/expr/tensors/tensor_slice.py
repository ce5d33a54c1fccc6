"""Python slices in the coordinate of a tensor: ``t[i, 4:8]``, ``t[:, k : k + 8]``, ``t[-1:]``.

A slice keeps its mode and gives a view of part of it; whole modes (``:``) mean what None means. An extent known while
tracing stays known: that of ``t[a:b]`` for numbers of Python's, and of ``t[k : k + 8]`` for a run-time ``k``. Where
the extent of the mode is known too, ends are clamped to it as in Python; a run-time end is taken as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from flydsl.base.errors import DslTypeError, LayoutError
from flydsl.dialects.fly import rules
from flydsl.expr.numeric import as_numeric, operand
from flydsl.expr.trace.context import current
from flydsl.expr.values.handle import apply
from flydsl.expr.values.int_tuple import IntTuple
from flydsl.expr.values.known import plain
from flydsl.layout import int_tuple as it
from flydsl.layout.swizzle import ComposedLayout


class _Span(NamedTuple):
    """Part of a mode: where it begins, and how many elements it has."""

    start: Any
    extent: Any


def has_slice(coord: Any) -> bool:
    """Return whether a coordinate has a Python slice in it."""
    return isinstance(coord, slice) or (isinstance(coord, tuple) and any(isinstance(part, slice) for part in coord))


def sliced(tensor: Any, coord: Any) -> Any:
    """Return the view of a tensor at a coordinate with slices; other parts fix their mode, or keep it if they are
    None."""
    parts = coord if isinstance(coord, tuple) else (coord,)
    if len(parts) != tensor.rank:
        raise LayoutError(
            f"{len(parts)} coordinates do not fit the {tensor.rank} modes of {tensor}",
            hint=f"give {tensor.rank}, `:` for a mode that is kept whole",
        )
    kept = tuple(None if isinstance(part, slice) else part for part in parts)
    view = tensor[_unwrapped(kept)]
    modes = [part for part in parts if part is None or isinstance(part, slice)]
    if all(part is None or part == slice(None) for part in modes):
        return view
    extents = rules.shape_of(tensor.payload)
    for part, extent in zip(parts, extents if tensor.rank > 1 else (extents,), strict=True):
        if isinstance(part, slice) and isinstance(extent, tuple):
            raise LayoutError(
                f"a slice takes part of a plain mode, and this one is nested: {it.to_text(extent)}",
                hint="keep nested modes with None, or flatten the tensor with fx.coalesce first",
            )
    return _narrowed(view, modes)


def _narrowed(view: Any, modes: Sequence[slice | None]) -> Any:
    if isinstance(view.payload.layout, ComposedLayout):
        raise LayoutError(
            f"part of a mode of a swizzled tensor is no view: {view}",
            hint="divide it into tiles, fx.zipped_divide(t, tile)[None, i], or slice before the swizzle",
        )
    shape, stride = ([part[i] for i in range(view.rank)] if view.rank > 1 else [part]
                     for part in (view.shape, view.stride))  # fmt: skip
    spans = [_span(mode, extent) for mode, extent in zip(modes, shape, strict=True)]
    starts = tuple(span.start for span in spans)
    offset = apply("crd2idx", _tuple(starts, "make_coord"), apply("get_layout", view))
    begin = apply("get_iter", view)
    begin = begin + offset if view.is_memory else apply("int_tuple_add", begin, offset)
    extents = _tuple(tuple(span.extent for span in spans), "make_shape")
    return apply("make_view", begin, apply("make_layout", extents, _tuple(tuple(stride), "make_stride")))


def _tuple(parts: tuple[Any, ...], op: str) -> Any:
    return IntTuple.from_python(_unwrapped(parts), op)


def _unwrapped(parts: tuple[Any, ...]) -> Any:
    """Return the only one of some parts, or all of them."""
    return parts if len(parts) != 1 else parts[0]


def _span(part: slice | None, extent: Any) -> _Span:
    if part is None or part == slice(None):
        return _Span(0, extent)
    if part.step not in (None, 1):
        raise DslTypeError(
            f"a slice of a tensor steps by 1, got {part.step!r}", hint="divide the mode: fx.logical_divide(t, (n,))"
        )
    length = plain(extent)
    start = _place(part.start, 0, extent, length)
    stop = _place(part.stop, extent, extent, length)
    return _Span(start, _way(start, stop, length))


def _place(given: Any, missing: Any, extent: Any, length: Any) -> Any:
    """Return one end of a slice, counted from the front of the mode."""
    place = plain(missing if given is None else given)
    if not isinstance(place, int):
        if operand(place) is None:
            raise DslTypeError(f"a slice goes from integer to integer, got {given!r}", hint="write t[a:b]")
        return place
    if not isinstance(length, int):
        return place if place >= 0 else extent + place
    return min(max(place + length if place < 0 else place, 0), length)


def _way(start: Any, stop: Any, length: Any) -> Any:
    if isinstance(start, int) and isinstance(stop, int):
        if stop <= start:
            raise LayoutError(f"the slice {start}:{stop} of a mode of {length} has no elements",
                              hint="a view has at least one element in every mode")  # fmt: skip
        return stop - start
    if isinstance(start, int) and start == 0:
        return stop
    known = current().known_difference(*(as_numeric(end).ir_value() for end in (start, stop)))
    return stop - start if known is None else known
