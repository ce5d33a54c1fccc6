"""Shapes of vectors: where a coordinate lies, and how two shapes broadcast.

`v[i, j]` counts row-major over the flattened shape, the last mode fastest, as FlyDSL's kernels expect it; an integer
may address a nested mode as one flat mode. `tensor.load()` fills a vector in column-major order of the tensor's shape,
so an element of a loaded tile is `v[position]`, or is asked of the tensor.

Broadcasting aligns the flattened modes from the last one, as NumPy does, and stretches modes of extent 1;
which element goes where follows from the coordinates of a loaded tile, so tiles broadcast as NumPy's arrays do.
"""

from __future__ import annotations

from functools import cache
from itertools import zip_longest
from math import prod
from typing import Any, TypeAlias

from flydsl.base.errors import DslIndexError, DslTypeError, DslValueError
from flydsl.base.records import dataclass, field
from flydsl.expr.numeric import operand
from flydsl.expr.values.known import plain

Shape: TypeAlias = "int | tuple[Shape, ...]"
Modes: TypeAlias = "tuple[Shape, ...]"


def canonical(shape: Any) -> Modes:
    """Return a shape as a tuple of modes; a plain extent becomes one mode."""
    modes = _freeze(shape.unpack() if hasattr(shape, "unpack") else shape)
    return modes if isinstance(modes, tuple) else (modes,)


def _freeze(shape: Any) -> Shape:
    if isinstance(shape, (tuple, list)):
        return tuple(_freeze(mode) for mode in shape)
    if not hasattr(shape, "__index__"):
        raise DslTypeError(
            f"{shape!r} is not an extent", hint="a vector's shape is made of integers known while tracing"
        )
    extent = shape.__index__()
    if extent < 1:
        raise DslValueError(f"an extent of {extent} leaves no elements")
    return extent


def leaves(shape: Shape) -> tuple[int, ...]:
    """Return the extents without their nesting."""
    if isinstance(shape, int):
        return (shape,)
    return tuple(extent for mode in shape for extent in leaves(mode))


@cache
def size(shape: Shape) -> int:
    return prod(leaves(shape))


@dataclass
class Selection:
    """What an index picks: coordinates with their strides, and the modes left open by None."""

    fixed: list[tuple[Any, int]] = field(default_factory=list)
    open: list[tuple[Shape, int]] = field(default_factory=list)

    def open_positions(self) -> list[int]:
        """Offsets of the elements of the open modes, in row-major order."""
        offsets = [0]
        for shape, stride in self.open:
            offsets = [offset + k * stride for offset in offsets for k in range(size(shape))]
        return offsets


def select(coord: tuple[Any, ...], shape: Modes) -> Selection:
    """Match a coordinate with a shape, mode by mode or, failing that, leaf by leaf."""
    flat = leaves(shape)
    if len(coord) != len(shape) and len(coord) == len(flat):
        shape = flat
    selection = Selection()
    _match(coord, shape, 1, selection)
    return selection


def keeps_mode(index: Any) -> bool:
    """Return whether an index stands for a whole mode: None, or `:`."""
    return index is None or (isinstance(index, slice) and index == slice(None))


def as_written(index: Any) -> str:
    """Return a wrong index as the user wrote it."""
    if isinstance(index, slice):
        parts = (index.start, index.stop, index.step) if index.step is not None else (index.start, index.stop)
        return f"`{':'.join('' if part is None else str(part) for part in parts)}`"
    if index is ...:
        return "`...`"
    return f"a {type(index).__name__}"


def _match(coord: Any, shape: Shape, stride: int, out: Selection) -> None:
    if keeps_mode(coord):
        out.open.append((shape, stride))
    elif isinstance(coord, (tuple, list)):
        if isinstance(shape, int) or len(coord) != len(shape):
            raise DslValueError(
                f"the coordinate {tuple(coord)} does not fit the shape {shape}",
                hint="give one entry per mode; an integer may stand for a nested mode",
            )
        inner = stride * size(shape)
        for part, mode in zip(coord, shape):
            inner //= size(mode)
            _match(part, mode, inner, out)
    else:
        out.fixed.append((check_index(coord, size(shape)), stride))


def check_index(index: Any, extent: int) -> Any:
    """Return a static index in range, counted from the end when negative; a run-time index unchanged."""
    index = plain(index)
    number = None if isinstance(index, int) else operand(index)
    if number is not None and not number.is_static():
        return number
    if not hasattr(index, "__index__"):
        raise DslTypeError(
            f"{as_written(index)} cannot index a vector",
            hint="use integers, run-time integers or None; several elements are v.shuffle(v, [0, 1])",
        )
    position = index.__index__()
    if not -extent <= position < extent:
        raise DslIndexError(
            f"index {position} is outside a vector mode of extent {extent}",
            hint=f"indices go from 0 to {extent - 1}, or from -{extent} to -1 counted from the end",
        )
    return position % extent


def broadcast(lhs: Modes, rhs: Modes) -> Modes:
    """Return the shape two operands stretch to."""
    if lhs == rhs:
        return lhs
    left, right = leaves(lhs), leaves(rhs)
    if left == right:
        return lhs
    result: list[int] = []
    for a, b in zip_longest(reversed(left), reversed(right), fillvalue=1):
        if a != b and 1 not in (a, b):
            raise DslValueError(
                f"vectors of shape {lhs} and {rhs} do not broadcast: {a} against {b}",
                hint="modes are matched from the last one; each pair must be equal or hold a 1 (see reshape)",
            )
        result.append(max(a, b))
    return tuple(reversed(result))


def broadcast_positions(source: Modes, target: Modes) -> list[int] | None:
    """For each element of `target`, which element of `source` it repeats; None when nothing moves."""
    have, want = leaves(source), leaves(target)
    if have == want:
        return None
    if len(have) > len(want) or any(a not in (1, b) for a, b in zip(reversed(have), reversed(want))):
        raise DslValueError(f"a vector of shape {source} does not broadcast to {target}")
    have = (1,) * (len(want) - len(have)) + have
    positions, stride = [0], 1
    for extent, wanted in zip(have, want):
        step = stride if extent > 1 else 0
        positions = [offset + k * step for k in range(wanted) for offset in positions]
        stride *= extent
    return positions
