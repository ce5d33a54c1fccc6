"""Element types of memory: number classes on one side, names in pointer types on the other.

Registers hold integers without a sign, but memory remembers it: an unsigned element is named
``ui32``, so that 2^31 read back from a uint32 tensor is positive. Arrays of bytes are `Int8`, as in FlyDSL.
"""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.expr.numeric import Numeric, Uint8, Uint16, Uint32, Uint64, Uint128
from flydsl.expr.values.ir_types import split_vector_type

_UNSIGNED: dict[str, type[Numeric]] = {f"ui{cls.width}": cls for cls in (Uint8, Uint16, Uint32, Uint64, Uint128)}


def element_class(name: str) -> type[Numeric]:
    """Return the number class of an element name: ``f32`` is Float32, ``ui8`` is Uint8."""
    return _UNSIGNED.get(name) or Numeric.from_ir_type(name)


def lanes_of(type_: Any) -> tuple[int | None, type[Numeric]]:
    """Return (elements, element class) of a type: a number class, a vector type, its text, or any class with an
    ``ir_type``.

    None elements for a number.
    """
    if hasattr(type_, "lanes"):
        return type_.lanes, type_.dtype
    if isinstance(type_, type) and issubclass(type_, Numeric):
        return None, type_
    lanes, element = split_vector_type(str(getattr(type_, "ir_type", type_)))
    return lanes, element_class(element)


def element_name(dtype: Any) -> str:
    """Return the element name of a number class or of an IR type given as text."""
    if isinstance(dtype, str):
        return str(dtype)
    if isinstance(dtype, type) and issubclass(dtype, Numeric):
        name = str(dtype.ir_type)
        unsigned = f"u{name}"
        return unsigned if _UNSIGNED.get(unsigned) is dtype else name
    raise DslTypeError(
        f"expected an element type, got {dtype!r}", hint="use fx.Float32, fx.BFloat16, fx.Int8 and the like"
    )
