"""Arithmetic on values known while tracing, with the results the machine would give.

Integers wrap at their width; floats round to their format after every operation. `math` functions are
rounded from a double-precision result, so they can differ from a device's approximation in the last place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from flydsl.base.errors import DslValueError, FlyDSLError
from flydsl.expr.numbers.float_format import decode, encode, round_to
from flydsl.expr.numbers.numeric_types import NumberFormat

Number: TypeAlias = "int | float"
Fold: TypeAlias = Callable[[NumberFormat, Number, Number], Number]
"""Folds two operands of one format; the caller brings the result back into range."""


class DslOverflowError(FlyDSLError, OverflowError):
    """A static value too large for what it is converted to."""


class DslZeroDivisionError(FlyDSLError, ZeroDivisionError):
    """An integer division whose divisor is known to be zero."""


def wrap(fmt: NumberFormat, value: int) -> int:
    """`value` modulo 2^width, in the range of the format."""
    value &= (1 << fmt.width) - 1
    return value - (1 << fmt.width) if fmt.signed and value >> (fmt.width - 1) else value


def unsigned(fmt: NumberFormat, value: Number) -> int:
    """Return the bits of an integer read as unsigned."""
    return int(value) & ((1 << fmt.width) - 1)


def signed(fmt: NumberFormat, value: Number) -> int:
    """Return the bits of an integer read as signed: also how constants are written in IR."""
    bits = unsigned(fmt, value)
    return bits - (1 << fmt.width) if fmt.width > 1 and bits >> (fmt.width - 1) else bits


def normalise(fmt: NumberFormat, value: Number) -> Number:
    """Bring an operation's exact result into its format."""
    if fmt.is_float:
        return round_to(fmt, value)
    return wrap(fmt, int(value))


def convert_step(src: NumberFormat, dst: NumberFormat, value: Number) -> Number:
    """Return one conversion between adjacent formats of a route (see convert.route)."""
    if dst.is_boolean:
        return int(value != 0)
    if dst.is_float:
        return round_to(dst, value)
    if src.is_float:
        return _to_integer(dst, float(value))
    return wrap(dst, int(value))


def _to_integer(dst: NumberFormat, value: float) -> int:
    """Return the nearest number towards zero that the type has, and zero for NaN, as at run time."""
    if math.isnan(value):
        return 0
    low, high = (-(1 << (dst.width - 1)), (1 << (dst.width - 1)) - 1) if dst.signed else (0, (1 << dst.width) - 1)
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(int(value), low), high)


def bitcast(src: NumberFormat, dst: NumberFormat, value: Number) -> Number:
    """Reinterpret the bits of a static value in a format of equal width."""
    bits = encode(src, value) if src.is_float else unsigned(src, value)
    return decode(dst, bits) if dst.is_float else wrap(dst, bits)


def _nonzero(value: Number) -> int:
    if value == 0:
        raise DslZeroDivisionError("integer division by zero")
    return int(value)


def add(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return a + b


def sub(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return a - b


def mul(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return a * b


def divf(fmt: NumberFormat, a: Number, b: Number) -> Number:
    if b == 0:
        if a == 0 or math.isnan(a):
            return math.nan
        return math.copysign(math.inf, math.copysign(1.0, a) * math.copysign(1.0, b))
    return a / b


def remf(fmt: NumberFormat, a: Number, b: Number) -> Number:
    """Return the remainder that keeps the sign of the dividend (C's fmod)."""
    if b == 0 or math.isinf(a) or math.isnan(a) or math.isnan(b):
        return math.nan
    return math.fmod(a, b)


def floordiv(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return int(a) // _nonzero(b)


def floormod(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return int(a) % _nonzero(b)


def _divide_truncating(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return -quotient if (a < 0) != (b < 0) else quotient


def divsi(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return _divide_truncating(signed(fmt, a), signed(fmt, _nonzero(b)))


def remsi(fmt: NumberFormat, a: Number, b: Number) -> Number:
    x, y = signed(fmt, a), signed(fmt, _nonzero(b))
    return x - y * _divide_truncating(x, y)


def divui(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return unsigned(fmt, a) // unsigned(fmt, _nonzero(b))


def remui(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return unsigned(fmt, a) % unsigned(fmt, _nonzero(b))


def floordivsi(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return signed(fmt, a) // signed(fmt, _nonzero(b))


def ceildivsi(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return -(-signed(fmt, a) // signed(fmt, _nonzero(b)))


def ceildivui(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return -(-unsigned(fmt, a) // unsigned(fmt, _nonzero(b)))


def and_(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return int(a) & int(b)


def or_(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return int(a) | int(b)


def xor(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return int(a) ^ int(b)


def _amount(fmt: NumberFormat, b: Number) -> int:
    if b < 0:
        raise DslValueError(f"a shift amount is not negative, and this one is {b}")
    return min(int(b), fmt.width)


def shl(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return int(a) << _amount(fmt, b)


def shrsi(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return signed(fmt, a) >> _amount(fmt, b)


def shrui(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return unsigned(fmt, a) >> _amount(fmt, b)


def powf(fmt: NumberFormat, a: Number, b: Number) -> Number:
    try:
        return math.pow(a, b)
    except OverflowError:
        odd = float(b).is_integer() and int(b) % 2 == 1
        return -math.inf if a < 0 and odd else math.inf
    except ValueError:  # zero to a negative power, or a negative base with a fractional power
        if a != 0:
            return math.nan
        odd = float(b).is_integer() and int(b) % 2 == 1
        return math.copysign(math.inf, a) if odd else math.inf


def ipowi(fmt: NumberFormat, a: Number, b: Number) -> Number:
    """Integer power; a negative exponent gives the truncated reciprocal, as math.ipowi does."""
    base, exponent = int(a), int(b)
    if exponent >= 0:
        return pow(base, exponent, 1 << fmt.width)
    if base in (1, -1):
        return base if exponent % 2 else 1
    return _divide_truncating(1, _nonzero(base))


def _larger(a: Number, b: Number) -> Number:
    """Return the larger number; +0 counts as larger than -0, as IEEE 754-2019 maximum does."""
    if a == b:
        return a if math.copysign(1.0, a) > 0 else b
    return a if a > b else b


def _smaller(a: Number, b: Number) -> Number:
    if a == b:
        return a if math.copysign(1.0, a) < 0 else b
    return a if a < b else b


def maximumf(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return math.nan if math.isnan(a) or math.isnan(b) else _larger(a, b)


def minimumf(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return math.nan if math.isnan(a) or math.isnan(b) else _smaller(a, b)


def maxnumf(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return b if math.isnan(a) else a if math.isnan(b) else _larger(a, b)


def minnumf(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return b if math.isnan(a) else a if math.isnan(b) else _smaller(a, b)


def maxsi(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return max(signed(fmt, a), signed(fmt, b))


def minsi(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return min(signed(fmt, a), signed(fmt, b))


def maxui(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return max(unsigned(fmt, a), unsigned(fmt, b))


def minui(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return min(unsigned(fmt, a), unsigned(fmt, b))


def copysign(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return math.copysign(a, b)


def atan2(fmt: NumberFormat, a: Number, b: Number) -> Number:
    return math.atan2(a, b)
