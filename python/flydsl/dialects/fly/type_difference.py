"""Where two fly types differ, in words: which leaf of which part."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Attribute

from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly.types import payload_of
from flydsl.layout import int_tuple
from flydsl.layout.layout import Layout
from flydsl.layout.swizzle import ComposedLayout
from flydsl.layout.tensor import Tensor


def difference(want: Attribute, have: Attribute) -> str:
    """Return the first part that differs, such as ``leaf 1 of the stride is 3, written 4``; may be empty."""
    return _difference(payload_of(want), payload_of(have), "") if type(want) is type(have) else ""


def _parts(value: Any) -> list[tuple[str, Any]]:
    """Return what a payload is made of; empty for a payload that is one thing."""
    if isinstance(value, Layout):
        return [("the shape", value.shape), ("the stride", value.stride)]
    if isinstance(value, ComposedLayout):
        return [("the inner map", value.inner), ("the offset", value.offset), ("the outer layout", value.outer)]
    if isinstance(value, Tensor):
        return [("the base", value.iter), ("the layout", value.layout)]
    if isinstance(value, pl.Pointer):
        return [("the element type", value.elem), ("the address space", value.space), ("the alignment", value.align),
                ("the swizzle", value.swizzle)]  # fmt: skip
    if isinstance(value, pl.TiledCopy):
        return [("the atom", value.atom), ("the layout", value.layout_tv), ("the tile", value.tile)]
    if isinstance(value, pl.TiledMma):
        return [("the atom", value.atom), ("the layout", value.atom_layout), ("the tile", value.permutation)]
    return []


def _difference(want: Any, have: Any, of: str) -> str:
    if want == have:
        return ""
    left, right = _parts(want), _parts(have)
    if left and [name for name, _ in left] == [name for name, _ in right]:
        found = (_difference(a, b, name) for (name, a), (_, b) in zip(left, right, strict=True))
        return next(text for text in found if text)
    if _is_tuple(want) and _is_tuple(have) and (isinstance(want, tuple) or isinstance(have, tuple)):
        return _tuple_difference(want, have, of)
    return f"{of or 'it'} is {_text(want)}, written {_text(have)}"


def _is_tuple(value: Any) -> bool:
    return not _parts(value) and not isinstance(value, str)


def _tuple_difference(want: Any, have: Any, of: str) -> str:
    name = of.removeprefix("the ") or "tuple"
    if not int_tuple.congruent(want, have):
        return f"the {name} is nested as {_text(want)}, written {_text(have)}"
    pairs = zip(int_tuple.leaves(want), int_tuple.leaves(have), strict=True)
    index, (a, b) = next((i, pair) for i, pair in enumerate(pairs) if pair[0] != pair[1])
    return f"leaf {index} of the {name} is {_text(a)}, written {_text(b)}"


def _text(value: Any) -> str:
    return int_tuple.to_text(value)
