"""Arithmetic on raw values and IR types, by the names of the original. `flydsl.expr.arith` has them too.

Types are number classes, IR types (`T.f32`, `T.vec(4, T.f32)`) or those of raw values.
"""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.expr import numeric
from flydsl.expr.arith import ArithValue as ArithValue
from flydsl.expr.arith import _to_raw as _to_raw
from flydsl.expr.arith import (
    andi,
    constant,
    constant_vector,
    fastmath,
    index,
    index_cast,
    select,
    shli,
    sitofp,
    trunc_f,
    unwrap,
    xori,
)
from flydsl.expr.numbers.fastmath import Flags, flag_attrs, scoped_attrs
from flydsl.expr.numeric import Index, Numeric
from flydsl.expr.values.casts import element_class
from flydsl.expr.values.ir_types import IrType, split_vector_type, vector_type
from flydsl.expr.values.vector_value import required_operand


def arith_const(value: Any, type: Any = None) -> Any:
    """Return a constant: of a type, or Float32, Boolean or Int32 by what it is."""
    return constant(value, type)


def element_type(type: Any) -> Any:
    """Return the element of a vector type; any other type as it is."""
    lanes, element = _split(type)
    return type if lanes is None else IrType(element)


def is_float_type(type: Any) -> bool:
    """Return whether a type, or the element of a vector type, is a float."""
    return element_class(type).is_float


def is_integer_like_type(type: Any) -> bool:
    """Return whether a type, or the element of a vector type, is an integer or an index."""
    kind = element_class(type)
    return kind is Index or kind.is_integer


def recast_type(type: Any, element: Any) -> Any:
    """Return the type with another element: as many lanes of it, or one."""
    lanes, name = _split(type)[0], str(element_class(element).ir_type)
    return IrType(name) if lanes is None else vector_type(lanes, name)


def _split(type: Any) -> tuple[int | None, str]:
    return split_vector_type(str(getattr(type, "ir_type", type)))


def _converted(value: Any, source: str, type: Any, what: str) -> Any:
    """Return a number or vector of one kind, integer or float, as another type, its own sign deciding how it is
    widened."""
    number, kind = required_operand(value), element_class(type)
    if number.dtype.is_float != (source == "float") or kind.is_float != (what == "float"):
        raise DslTypeError(f"{source} to {what}: got {number.dtype} and {kind}")
    return number.to(kind)


def int_to_fp(value: Any, signed: bool, type: Any) -> Any:
    """Return an integer as a float, by the sign that is stated."""
    number = required_operand(value)
    if isinstance(number, Numeric) and number.dtype.is_integer and bool(number.dtype.signed) != bool(signed):
        twin = Numeric.from_ir_type(str(number.dtype.ir_type)) if signed else _unsigned(number.dtype)
        number = number.bitcast(twin) if twin is not number.dtype else number
    return _converted(number, "integer", type, "float")


def _unsigned(kind: Any) -> Any:
    return getattr(numeric, f"Uint{kind.width}", kind)


def int_to_int(value: Any, type: Any, *, signed: bool | None = None) -> Any:
    """Return an integer as one of another width."""
    number = required_operand(value)
    if signed is False and isinstance(number, Numeric):
        number = number.bitcast(_unsigned(number.dtype)) if number.dtype.signed else number
    return _converted(number, "integer", type, "integer")


def fp_to_fp(value: Any, type: Any) -> Any:
    """Return a float as one of another format."""
    return _converted(value, "float", type, "float")


def fp_to_int(value: Any, signed: bool, type: Any) -> Any:
    """Return a float as an integer, rounded toward zero."""
    kind = element_class(type)
    return _converted(value, "float", kind if signed else _unsigned(kind), "integer")


def current_fastmath() -> str | None:
    """Return the flags of the `fastmath()` block around here, as MLIR writes them; None where there is none."""
    found = scoped_attrs()
    return None if found is None else found["fastmath"]


def resolve_fastmath(flags: Flags = None) -> str | None:
    """Flags that are given, or those of the block around here."""
    found = flag_attrs(flags)
    return None if found is None else found["fastmath"]


__all__ = [
    "ArithValue", "andi", "arith_const", "constant", "constant_vector",
    "current_fastmath", "element_type", "fastmath", "fp_to_fp", "fp_to_int", "index", "index_cast", "int_to_fp",
    "int_to_int", "is_float_type", "is_integer_like_type", "recast_type", "resolve_fastmath", "select", "shli",
    "sitofp", "trunc_f", "unwrap", "xori",
]  # fmt: skip
