"""The vector API: the class, its aliases, constructors by shape, and the raw builders of older kernels.

`from flydsl.expr.vector import *` gives the public names; the raw builders (`extract`, `bitcast`, ...) are
reached as `vector.extract`, since their names mean other things elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.expr.enum import ReductionOp
from flydsl.expr.numbers.fastmath import Flags
from flydsl.expr.numeric import Numeric
from flydsl.expr.values.ir_types import split_vector_type
from flydsl.expr.values.reduction import CombiningKind as CombiningKind
from flydsl.expr.values.vector_alias import ALIASES, VectorAlias
from flydsl.expr.values.vector_value import DYNAMIC_POSITION, Vector, emit_elementwise, vector_operand

globals().update(ALIASES)


def full(shape: Any, value: Any, dtype: Any = None) -> Vector:
    """Return a vector with every element `value`."""
    return Vector.filled(shape, value, dtype)


def full_like(like: Vector, value: Any, dtype: Any = None) -> Vector:
    """Return a vector shaped like another with every element `value`."""
    return Vector.filled_like(like, value, dtype)


def empty_like(like: Vector, dtype: Any = None) -> Vector:
    """Zeros: an SSA value always has contents."""
    return Vector.filled_like(like, 0, dtype)


def ones_like(like: Vector, dtype: Any = None) -> Vector:
    """Ones, shaped like another vector."""
    return Vector.filled_like(like, 1, dtype)


def zeros_like(like: Vector, dtype: Any = None) -> Vector:
    """Zeros, shaped like another vector."""
    return Vector.filled_like(like, 0, dtype)


# Raw builders


def _vector(value: Any) -> Vector:
    found = vector_operand(value)
    if not isinstance(found, Vector):
        raise DslTypeError(f"{value!r} is not a vector")
    return found


def _element(text: str) -> tuple[int, type[Numeric]]:
    lanes, element = split_vector_type(str(text))
    if lanes is None:
        raise DslTypeError(f"{text} is not a vector type", hint="build one with T.vec(lanes, element)")
    return lanes, Numeric.from_ir_type(element)


def _one_position(static: Sequence[int] | None, dynamic: Sequence[Any] | None) -> Any:
    places = [p for p in static or () if p != DYNAMIC_POSITION]
    places.extend(dynamic or ())
    if len(places) != 1:
        raise DslTypeError(f"a 1-D vector takes one position, not {len(places)}")
    return places[0]


def extract(
    vector: Any, static_position: Sequence[int] | None = None, dynamic_position: Sequence[Any] | None = None
) -> Any:
    """Return one element, at a static or a run-time position."""
    return _vector(vector)[_one_position(static_position, dynamic_position)]


def insert(
    value: Any,
    dest: Any,
    static_position: Sequence[int] | None = None,
    dynamic_position: Sequence[Any] | None = None,
) -> Vector:
    """`dest` with one element replaced."""
    return _vector(dest).insert(value, _one_position(static_position, dynamic_position))


def bitcast(result_type: str, vector: Any) -> Vector:
    """Return the same bits as another vector type."""
    lanes, dtype = _element(result_type)
    result = _vector(vector).bitcast(dtype)
    if result.numel != lanes:
        raise DslTypeError(f"{_vector(vector).ir_type} and {result_type} differ in width")
    return result


def broadcast(result_type: str, value: Any) -> Vector:
    """Return a number in every lane of a vector type."""
    lanes, dtype = _element(result_type)
    found = vector_operand(value)
    return found.broadcast_to(lanes) if isinstance(found, Vector) else Vector.filled(lanes, value, dtype)


def from_elements(result_type: str, elements: Sequence[Any]) -> Vector:
    """Return a vector type filled with these numbers, in order."""
    lanes, dtype = _element(result_type)
    if len(elements) != lanes:
        raise DslTypeError(f"{result_type} takes {lanes} elements, not {len(elements)}")
    return Vector.from_elements(elements, dtype)


def shuffle(v1: Any, v2: Any, mask: Sequence[int]) -> Vector:
    """Elements of `v1` and then of `v2`, picked by position."""
    return _vector(v1).shuffle(_vector(v2), mask)


def reduction(dest: Any, kind: Any, vector: Any, acc: Any = None, *, fastmath: Flags = None) -> Any:
    """Return all elements folded into one number by a reduction kind (`"add"`, `"maxnumf"`, ...)."""
    return _vector(vector).reduce(kind, acc, fastmath=fastmath)


def load(result: str, base: Any, indices: Sequence[Any]) -> Vector:
    return Vector.load(result, base, indices)


def store(value: Any, base: Any, indices: Sequence[Any], *, alignment: int | None = None) -> None:
    _vector(value).store(base, indices, alignment=alignment)


def fma(a: Any, b: Any, c: Any) -> Vector:
    """Return a * b + c with one rounding, per lane."""
    first = _vector(a)
    return emit_elementwise("math.fma", [first, _vector(b), _vector(c)], first.dtype.format, None)


__all__ = [  # pyright: ignore[reportUnsupportedDunderAll]
    "ReductionOp",
    "Vector",
    "VectorAlias",
    "empty_like",
    "full",
    "full_like",
    "ones_like",
    "zeros_like",
    *ALIASES,
]
