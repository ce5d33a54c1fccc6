"""The common format of two operands, and the format of a Python literal.

    equal                       the same
    integers, same sign         the wider
    integers, mixed signs       the unsigned one if it is at least as wide, else the signed one
    integer with float          the float if it is at least as wide, else the next standard float that is
    float16 with bfloat16       float32
    other floats                the wider; two different floats under 16 bits have no common format

A Boolean counts as an unsigned integer of one bit.
"""

from __future__ import annotations

from functools import cache

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.numbers import numeric_types as nt
from flydsl.expr.numbers.numeric_types import NumberFormat

_STANDARD_FLOATS = (nt.FLOAT16, nt.FLOAT32, nt.FLOAT64)
_LITERAL_INTEGERS = (nt.INT32, nt.INT64, nt.UINT64, nt.INT128, nt.UINT128)


@cache
def promote(lhs: NumberFormat, rhs: NumberFormat) -> NumberFormat:
    """Return the format both operands are converted to before an operation."""
    if lhs is rhs:
        return lhs
    if lhs.is_float and rhs.is_float:
        return _promote_floats(lhs, rhs)
    if lhs.is_float:
        return _float_for_integer(lhs, rhs)
    if rhs.is_float:
        return _float_for_integer(rhs, lhs)
    return _promote_integers(lhs, rhs)


def counted(fmt: NumberFormat) -> NumberFormat:
    """Return the format as arithmetic takes it: a Boolean is counted in Int32."""
    return nt.INT32 if fmt.is_boolean else fmt


def _promote_integers(lhs: NumberFormat, rhs: NumberFormat) -> NumberFormat:
    if lhs.signed == rhs.signed:
        if lhs.width == rhs.width:  # Index with Uint64: stay addressable
            return lhs if lhs.is_index else rhs
        return lhs if lhs.width > rhs.width else rhs
    unsigned, signed = (rhs, lhs) if lhs.signed else (lhs, rhs)
    return unsigned if unsigned.width >= signed.width else signed


def _float_for_integer(number: NumberFormat, integer: NumberFormat) -> NumberFormat:
    if number.width >= integer.width:
        return number
    return next((f for f in _STANDARD_FLOATS if f.width >= integer.width), nt.FLOAT64)


def _promote_floats(lhs: NumberFormat, rhs: NumberFormat) -> NumberFormat:
    if lhs.width < 16 and rhs.width < 16:
        raise DslValueError(
            f"{lhs} and {rhs} have no common type",
            hint="convert one side first, for example x.to(fx.Float32)",
        )
    if lhs.width == rhs.width:  # float16 with bfloat16: neither holds the other
        return nt.FLOAT32
    return lhs if lhs.width > rhs.width else rhs


@cache
def quotient_format(lhs: NumberFormat, rhs: NumberFormat) -> NumberFormat:
    """Return the format of `/`: always a float."""
    common = promote(counted(lhs), counted(rhs))
    if common.is_float:
        return common
    return nt.FLOAT32 if common.width <= 32 else nt.FLOAT64


def literal_format(value: bool | int | float) -> NumberFormat:
    """Return the format of a Python number written in a kernel."""
    if isinstance(value, bool):
        return nt.BOOLEAN
    if isinstance(value, float):
        return nt.FLOAT32
    for fmt in _LITERAL_INTEGERS:
        low = -(1 << (fmt.width - 1)) if fmt.signed else 0
        if low <= value < low + (1 << fmt.width):
            return fmt
    raise DslValueError(f"the integer {value} does not fit 128 bits")


def require_integer(symbol: str, fmt: NumberFormat) -> NumberFormat:
    """`fmt`, or the error for an integer-only operator used on floats."""
    if fmt.is_float:
        raise DslTypeError(
            f"`{symbol}` works on integers, not on {fmt}",
            hint="convert with .to(fx.Int32), or reinterpret the bits with .bitcast(fx.Int32)",
        )
    return fmt
