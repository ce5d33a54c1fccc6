"""Exact rounding of numbers to any float format, and their bit codes, with no NumPy.

Rounding is to nearest, ties to even, from the exact value in one step. Overflow follows the format: to
infinity, to NaN where there is no infinity, to the largest number where there is neither.
"""

from __future__ import annotations

import math
import struct
from functools import cache

from flydsl.expr.numbers.numeric_types import FLOAT32, FLOAT64, FloatFormat, NumberFormat, Specials

_EXACT_IN_DOUBLE = 1 << 53
_SINGLE = struct.Struct("<f")


def round_to(fmt: NumberFormat, value: int | float) -> float:
    """Return the number of format `fmt` nearest to `value`."""
    if fmt is FLOAT64:
        return _to_double(value)
    if fmt is FLOAT32 and (type(value) is float or -_EXACT_IN_DOUBLE <= value <= _EXACT_IN_DOUBLE):
        try:
            return _SINGLE.unpack(_SINGLE.pack(value))[0]
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return decode(fmt, encode(fmt, value))


def round_ratio(fmt: NumberFormat, numerator: int, denominator: int) -> float:
    """Return the number of an IEEE format nearest to a fraction whose denominator is a power of two."""
    if fmt is FLOAT64:
        try:
            return numerator / denominator
        except OverflowError:
            return math.inf if numerator > 0 else -math.inf
    magnitude = decode(fmt, _round_magnitude(_layout(fmt), abs(numerator), denominator))
    return -magnitude if numerator < 0 else magnitude


def _to_double(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def encode(fmt: NumberFormat, value: int | float) -> int:
    """Return the bit code of `value` rounded to `fmt`."""
    if fmt is FLOAT64:
        return struct.unpack("<Q", struct.pack("<d", _to_double(value)))[0]
    layout = _layout(fmt)
    sign = 1 << (layout.exponent + layout.mantissa)
    if isinstance(value, float) and not math.isfinite(value):
        return _encode_special(layout, value, sign)
    negative = math.copysign(1.0, value) < 0 if isinstance(value, float) else value < 0
    if layout.specials is Specials.SCALE:
        return _nan_code(layout) if negative or value == 0 else _round_magnitude(layout, *value.as_integer_ratio())
    code = _round_magnitude(layout, *abs(value).as_integer_ratio())
    if layout.specials is Specials.FNUZ and (code == 0 or code == sign):
        return code
    return code | sign if negative else code


def _layout(fmt: NumberFormat) -> FloatFormat:
    assert fmt.layout is not None, f"{fmt} is not a float format"
    return fmt.layout


def _round_magnitude(layout: FloatFormat, numerator: int, denominator: int) -> int:
    """Return the code of a non-negative fraction, without its sign. The denominator is a power of two."""
    if numerator == 0:
        return 0
    scale = 1 - denominator.bit_length()
    exponent = max(numerator.bit_length() - 1 + scale, layout.min_exponent)
    shift = exponent - layout.mantissa - scale
    mantissa = _shift_half_even(numerator, shift)
    # A mantissa that rounds up to the next power of two carries into the exponent by plain addition.
    if layout.specials is Specials.SCALE:
        # As in ml_dtypes, and so on the device: a number between the two lowest powers goes to the upper one.
        is_lowest = numerator.bit_length() - 1 + scale == layout.min_exponent
        mantissa = 2 if is_lowest and numerator & (numerator - 1) else mantissa
        code = max(exponent + layout.bias + mantissa - 1, 0)
    else:
        code = ((exponent + layout.bias - 1) << layout.mantissa) + mantissa
    return code if code <= layout.max_code else _overflow_code(layout)


def _shift_half_even(value: int, shift: int) -> int:
    if shift <= 0:
        return value << -shift
    quotient, half = value >> shift, 1 << (shift - 1)
    rest = value - (quotient << shift)
    return quotient + (rest > half or (rest == half and quotient & 1))


def _nan_code(layout: FloatFormat) -> int:
    top = 1 << (layout.exponent + layout.mantissa)
    match layout.specials:
        case Specials.IEEE:
            return layout.max_code + 1 + (1 << (layout.mantissa - 1))
        case Specials.FN | Specials.SCALE:
            return top - 1
        case Specials.FNUZ | Specials.FINITE:
            # A finite format has no NaN at all; the negative-zero code is what ml_dtypes gives.
            return top


def _overflow_code(layout: FloatFormat) -> int:
    match layout.specials:
        case Specials.IEEE:
            return layout.max_code + 1
        case Specials.FINITE:
            return layout.max_code
        case Specials.FN | Specials.FNUZ | Specials.SCALE:
            return _nan_code(layout)


def _encode_special(layout: FloatFormat, value: float, sign: int) -> int:
    if math.isnan(value):
        return _nan_code(layout)
    if layout.specials is Specials.SCALE:
        return _nan_code(layout)
    code = _overflow_code(layout)
    return code | sign if value < 0 else code


@cache
def _decode_small(fmt: NumberFormat) -> tuple[float, ...]:
    return tuple(_decode(_layout(fmt), code) for code in range(1 << fmt.width))


def decode(fmt: NumberFormat, code: int) -> float:
    """Return the value a bit code stands for."""
    if fmt is FLOAT64:
        return struct.unpack("<d", struct.pack("<Q", code))[0]
    if fmt is FLOAT32:
        return struct.unpack("<f", struct.pack("<I", code))[0]
    return _decode_small(fmt)[code] if fmt.width <= 8 else _decode(_layout(fmt), code)


def _decode(layout: FloatFormat, code: int) -> float:
    sign_bit = 1 << (layout.exponent + layout.mantissa)
    if layout.specials is Specials.SCALE:
        return math.nan if code > layout.max_code else math.ldexp(1.0, code - layout.bias)
    magnitude = code & (sign_bit - 1)
    sign = -1.0 if code & sign_bit else 1.0
    if layout.specials is Specials.FNUZ and code == sign_bit:
        return math.nan
    if magnitude > layout.max_code:
        is_infinite = layout.specials is Specials.IEEE and magnitude == layout.max_code + 1
        return sign * math.inf if is_infinite else math.nan
    exponent, mantissa = magnitude >> layout.mantissa, magnitude & ((1 << layout.mantissa) - 1)
    if exponent == 0:
        return sign * math.ldexp(mantissa, 1 - layout.bias - layout.mantissa)
    return sign * math.ldexp(mantissa | (1 << layout.mantissa), exponent - layout.bias - layout.mantissa)
