"""Predicates over the elements of a tensor: which of them a copy, a load or a store moves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError, LayoutError
from flydsl.base.records import dataclass
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly import rules
from flydsl.expr.numeric import Boolean, as_numeric, operand
from flydsl.expr.trace.context import current
from flydsl.expr.values.handle import apply, describe, from_value
from flydsl.expr.values.int_tuple import IntTuple
from flydsl.expr.values.known import plain
from flydsl.expr.vector import Vector
from flydsl.layout import build
from flydsl.layout import int_tuple as it
from flydsl.layout.coords import crd2idx
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import Basis, divisor
from flydsl.layout.tensor import Tensor as TensorPayload


@dataclass(frozen=True)
class Predicate:
    """Truth values over a shape: element ``i`` (column-major) is decided by ``flags[picks[i]]``.

    Elements that share a flag may share an access, so a predicate says which of its truth values are one and the same.
    """

    flags: Vector
    picks: tuple[int, ...]
    shape: Any

    def load(self) -> Vector:
        """Return all truth values as a vector."""
        return Vector(self.flags.shuffle(self.flags, list(self.picks)), self.shape)

    def fragment(self) -> Any:
        """Return all truth values in registers, as a tensor."""
        layout = build.make_ordered_layout(self.shape, 0)
        made = from_value(current().fly("memref.alloca", [], None, TensorPayload(pl.Pointer("i1", "register"), layout)))
        made.store(self.load())
        return made

    def __getitem__(self, coord: Any) -> Any:
        """Return the truth of an element, by its coordinate; None keeps a mode. A vector's own coordinates count
        row-major."""
        turned = Vector(self.load(), _reversed(self.shape))
        found = turned[_reversed(coord)]
        return Vector(found, _reversed(found.shape)) if isinstance(found, Vector) else found

    def __and__(self, other: Any) -> Predicate:
        """Both hold; the other one is a truth value, or a predicate over the same shape."""
        if isinstance(other, Predicate):
            pairs = list(dict.fromkeys(zip(self.picks, other.picks, strict=True)))
            mine, theirs = ([pair[i] for pair in pairs] for i in (0, 1))
            flags = self.flags.shuffle(self.flags, mine) & other.flags.shuffle(other.flags, theirs)
            number = {pair: i for i, pair in enumerate(pairs)}
            picks = tuple(number[pair] for pair in zip(self.picks, other.picks, strict=True))
            return Predicate(flags, picks, self.shape)
        return Predicate(self.flags & Vector.filled(self.flags.numel, Boolean(other)), self.picks, self.shape)

    __rand__ = __and__


def _reversed(modes: Any) -> Any:
    return tuple(map(_reversed, reversed(modes))) if isinstance(modes, (tuple, list)) else modes


def predicate_over(mask: Any, payload: TensorPayload) -> Predicate:
    """Return a mask as a predicate over the elements of a tensor.

    A mask is one truth value for all elements, a predicate of `inside`, or truth values (a vector or a tensor) of the
    tensor's shape; a mode of extent 1, or a first mode that is left out, stands for all of that mode.
    """
    shape = rules.shape_of(payload)
    count = it.product(shape)
    if isinstance(mask, Predicate):
        return Predicate(mask.flags, _spread(mask.picks, mask.shape, shape, count), shape)
    if isinstance(mask, Vector):
        _check_truth(mask.dtype, mask)
        return Predicate(mask, _spread(range(mask.numel), mask.shape, shape, count), shape)
    if hasattr(mask, "is_memory"):
        _check_truth(mask.dtype, mask)
        return Predicate(mask.load(), _spread(_shared(mask.payload), rules.shape_of(mask.payload), shape, count), shape)
    if operand(mask) is None:
        raise DslTypeError(
            f"a mask is one truth value or one per element, got {describe(mask)}",
            hint="compare: i < n, or fx.inside(coordinates, shape) for a whole fragment",
        )
    return Predicate(Vector.from_elements([as_numeric(mask).to(Boolean)], Boolean), (0,) * count, shape)


def _check_truth(dtype: Any, mask: Any) -> None:
    if dtype is not Boolean:
        raise DslTypeError(
            f"a mask holds truth values (fx.Boolean), not {dtype.__name__}: {describe(mask)}",
            hint="compare its elements, mask != 0",
        )


def _shared(payload: TensorPayload) -> list[int]:
    """For each element of a mask in memory the first one that lies in the same place."""
    if not payload.layout.is_static:
        return list(range(rules.size(payload)))
    offsets = [it.leaves(crd2idx(i, payload.layout))[0] for i in range(rules.size(payload))]
    return [offsets.index(offset) for offset in offsets]


def _modes(shape: Any) -> list[int]:
    return [it.product(mode) for mode in (shape if isinstance(shape, tuple) else (shape,))]


def _spread(picks: Iterable[int], given: Any, shape: Any, count: int) -> tuple[int, ...]:
    """Return a mask's choices over its own shape as choices over the tensor's."""
    numbers = list(picks)
    mine, wanted = _modes(given), _modes(shape)
    if mine == [1]:
        return (numbers[0],) * count
    if mine == [count] or (len(wanted) == 1 and len(numbers) == count):
        return tuple(numbers)
    if len(mine) == len(wanted) - 1:
        mine = [1, *mine]
    if len(mine) != len(wanted) or any(m not in (1, w) for m, w in zip(mine, wanted, strict=True)):
        raise LayoutError(
            f"a mask of shape {it.to_text(given)} does not fit a tensor of shape {it.to_text(shape)}",
            hint="give one truth value per element, modes of extent 1 for all of a mode, or a single truth value",
        )
    found = []
    for index in range(count):
        at, step = 0, 1
        for extent, held in zip(wanted, mine, strict=True):
            index, coordinate = divmod(index, extent)
            at += coordinate * step if held > 1 else 0
            step *= held
        found.append(numbers[at])
    return tuple(found)


# Inside a shape --------------------------------------------------------------------------------


def inside(coords: Any, shape: Any) -> Predicate:
    """Return whether the coordinates in a coordinate tensor are inside of ``shape``: less than it in every mode.

    ``coords`` is a thread's part of `make_identity_tensor`, partitioned as the data is. A mode of ``shape`` that is
    None is not checked. Neighbours that are certainly on the same side share a truth value, and so an access: those
    of a run-time bound do if it is known to be a multiple of their number.
    """
    if not hasattr(coords, "is_memory") or coords.is_memory:
        raise DslTypeError(
            f"inside takes a coordinate tensor first, got {describe(coords)}",
            hint="partition fx.make_identity_tensor(shape) the way the data is partitioned",
        )
    payload = coords.payload
    bounds = dict(_bounds(payload.iter, shape, ()))
    keys = _keys(payload, bounds)
    first: dict[Any, int] = {}
    picks = tuple(first.setdefault(key, len(first)) for key in keys)
    flags = [_less(coords[keys.index(key)], bounds) for key in first]
    return Predicate(Vector.from_elements(flags, Boolean), picks, rules.shape_of(payload))


def _bounds(profile: Any, shape: Any, path: tuple[int, ...]) -> Iterable[tuple[tuple[int, ...], Any]]:
    """Yield (path of a coordinate, its bound) for every mode that is checked."""
    if shape is None:
        return
    if isinstance(shape, IntTuple):
        shape = tuple(shape[i] for i in range(shape.rank)) if isinstance(shape.payload, tuple) else shape
    if isinstance(profile, tuple) and isinstance(shape, (tuple, list)) and len(shape) == len(profile):
        for index, (inner, bound) in enumerate(zip(profile, shape, strict=True)):
            yield from _bounds(inner, bound, (*path, index))
        return
    if isinstance(profile, tuple) or isinstance(shape, (tuple, list)):
        raise DslValueError(
            f"the bounds {describe(shape)} do not fit coordinates {it.to_text(profile)}",
            hint="give one bound per mode of the coordinates, None for those that need none",
        )
    yield path, plain(shape)


def _keys(payload: TensorPayload, bounds: dict[tuple[int, ...], Any]) -> list[Any]:
    """Return what decides about each element: equal keys are equal answers."""
    count = rules.size(payload)
    if not isinstance(payload.layout, Layout):
        return list(range(count))
    modes = payload.layout.flat()
    return [
        tuple(group_key(payload, modes, index, path, bound) for path, bound in bounds.items()) for index in range(count)
    ]


def group_key(payload: TensorPayload, modes: Sequence[Any], index: int, path: tuple[int, ...], bound: Any) -> Any:
    start = payload.iter
    for mode in path:
        start = start[mode]
    place: list[Any] = []
    distance, div = (start, 0) if isinstance(start, int) else (0, divisor(start))
    for number, (extent, stride) in enumerate(modes):
        index, coordinate = divmod(index, extent)
        step = step_along(stride, path)
        if isinstance(step, int):
            distance += coordinate * step
        elif coordinate:
            place.append((number, coordinate))
            div = gcd(div, coordinate * divisor(step))
    # b + d < n, where b and n are multiples of g, holds for all of g neighbours or for none of them.
    group = gcd(div, bound if isinstance(bound, int) else _divisor_of(bound))
    return (tuple(place), distance // group if group else distance)


def step_along(stride: Any, path: tuple[int, ...]) -> Any:
    """Return how far a stride of coordinates goes along the mode of a path; coordinates of one mode have plain
    strides."""
    if isinstance(stride, Basis):
        return stride.value if stride.modes == path else 0
    return 0 if path else stride


def _divisor_of(bound: Any) -> int:
    found = IntTuple.from_python(bound).payload
    return 1 if isinstance(found, tuple) else divisor(found)


def _less(coord: Any, bounds: dict[tuple[int, ...], Any]) -> Any:
    found = Boolean(True)
    for path, bound in bounds.items():
        place = coord
        for mode in path:
            place = place[mode]
        found = found & Boolean(apply("elem_less", IntTuple.from_python(place), IntTuple.from_python(bound)))
    return found


__all__ = ["Predicate", "inside"]
