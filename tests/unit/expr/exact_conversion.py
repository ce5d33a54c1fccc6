"""Conversions between any two number types from exact values: the nearest number, rounded once.

Integers are Python's, floats are Python floats (every format's numbers are exact in one), and rounding is done on
fractions with the extents that ml_dtypes states of a format. The package's own folding has no part in it.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

import flydsl.expr as fx
from tests.unit.expr import operator_table as table

Number = int | float
LOWEST_SCALE = -127
"""The exponent of the lowest number of Float8E8M0FNU."""


def is_float(dtype: Any) -> bool:
    return dtype in table.FLOATS


@cache
def extents(dtype: Any) -> tuple[int, int, Fraction]:
    """Binary digits, exponent of the smallest normal number, largest number."""
    info: Any = ml_dtypes.finfo(table.numpy_type(dtype))
    return info.nmant + 1, int(info.minexp), Fraction(float(info.max))


def limits(dtype: Any) -> tuple[int, int]:
    """The least and the largest number of an integer type."""
    half = 1 << (dtype.width - 1)
    return (-half, half - 1) if dtype in table.SIGNED else (0, 2 * half - 1)


def floor_log2(value: Fraction) -> int:
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= value else exponent - 1


def converted(source: Any, target: Any, value: Number) -> Number:
    """What a number of one type is in another."""
    if target is fx.Boolean:
        return int(value != 0)
    if not is_float(target):
        return _to_integer(target, value)
    if isinstance(value, float) and math.isnan(value):
        return math.nan
    if target is fx.Float8E8M0FNU:
        return _to_scale(value)
    if isinstance(value, float) and math.isinf(value):
        return math.copysign(overflow(target), value)
    return math.copysign(_rounded(target, abs(Fraction(value))), value)


def _to_integer(target: Any, value: Number) -> int:
    if not isinstance(value, float):
        return table.in_integer(target, value)
    if math.isnan(value):
        return 0
    low, high = limits(target)
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(int(value), low), high)


def overflow(target: Any) -> float:
    """What a number past the largest becomes: infinity or NaN, the largest where a format has neither."""
    if target.width < 8:
        return float(extents(target)[2])
    has_infinity = target in (*table.STANDARD_FLOATS, fx.Float8E5M2, fx.Float8E4M3)
    return math.inf if has_infinity else math.nan


def _rounded(target: Any, size: Fraction) -> float:
    if size == 0:
        return 0.0
    digits, smallest, largest = extents(target)
    unit = Fraction(2) ** (max(floor_log2(size), smallest) - digits + 1)
    found = round(size / unit) * unit  # Python rounds halves of a fraction to even
    return float(found) if found <= largest else overflow(target)


def _to_scale(value: Number) -> float:
    """A power of two: halves go up, and what lies between the two lowest too; there is no zero and no sign."""
    if value <= 0 or (isinstance(value, float) and math.isinf(value)):
        return math.nan
    size = Fraction(value)
    exponent = floor_log2(size)
    if exponent < LOWEST_SCALE:
        return 2.0**LOWEST_SCALE
    goes_up = size >= Fraction(3, 2) * Fraction(2) ** exponent
    if exponent == LOWEST_SCALE:
        goes_up = size > Fraction(2) ** exponent
    exponent += goes_up
    return 2.0**exponent if exponent <= 127 else math.nan


# Hard numbers


def hard_numbers(source: Any, target: Any) -> list[Number]:
    """Numbers of a type that lie at, and just beside, every place where the result of a conversion changes."""
    chooser = random.Random(f"{source} {target}")
    if is_float(source) and source.width <= 8:
        return every_number(source)
    places = float_places(target, source, chooser) if is_float(target) else integer_places(target, chooser)
    if is_float(source):
        found: list[Number] = [near for place in places for near in floats_beside(source, place)]
        return [*found, *(-number for number in found), 0.0, -0.0, math.inf, -math.inf, math.nan]
    low, high = limits(source)
    whole = [math.floor(sign * place) + step for place in places for sign in (1, -1) for step in (-1, 0, 1, 2)]
    return [*(number for number in whole if low <= number <= high), low, high, 0]


def every_number(dtype: Any) -> list[Number]:
    codes = np.arange(1 << dtype.width, dtype=np.uint8).view(table.numpy_type(dtype))
    return [float(code) for code in codes]


def float_places(target: Any, source: Any, chooser: random.Random) -> list[Fraction]:
    """Numbers of a float type, the middles between neighbours, its ends and what lies past them.

    Some are near the end of an integer source, where most digits are to be rounded away.
    """
    digits, smallest, largest = extents(target)
    tiny, top = Fraction(2) ** (smallest - digits + 1), floor_log2(largest)
    exponents = {smallest, smallest + 1, 0, min(7, top), min(63, top), min(127, top), top}
    exponents |= {chooser.randint(smallest, top) for _ in range(6)}
    exponents |= set() if is_float(source) else {max(0, min(source.width - k, top)) for k in (1, 2, 3, 5)}
    found = [tiny * Fraction(count, 4) for count in (1, 2, 3, 4, 6, 10, 14)]
    for exponent in sorted(exponents):
        for mantissa in (1 << (digits - 1), (1 << digits) - 1, chooser.randrange(1 << (digits - 1), 1 << digits)):
            unit = Fraction(2) ** (exponent - digits + 1)
            found += [mantissa * unit, (mantissa + Fraction(1, 2)) * unit]
    unit = Fraction(2) ** (top - digits + 1)
    return [*found, largest, largest + unit / 2, largest + unit, largest * 4]


def integer_places(target: Any, chooser: random.Random) -> list[Fraction]:
    """Whole numbers and halves of every length up to the type's, and its ends."""
    lengths = range(1, target.width + 1, max(1, target.width // 16))
    found = [Fraction(chooser.getrandbits(length)) for length in lengths]
    ends = [Fraction(abs(end) + step) for end in limits(target) for step in (-1, 0, 1)]
    return [*found, *(number + Fraction(1, 2) for number in found[:8]), *ends, Fraction(1, 2)]


def floats_beside(dtype: Any, place: Fraction) -> list[float]:
    """The numbers of a float type around a place, two on each side."""
    near = _rounded(dtype, abs(place))
    if not math.isfinite(near):
        return [float(extents(dtype)[2])]
    kind = table.numpy_type(dtype)
    code = int(np.array(near, kind).view(f"u{kind.itemsize}"))
    top = int(np.array(float(extents(dtype)[2]), kind).view(f"u{kind.itemsize}"))
    codes = [other for other in range(code - 2, code + 3) if 0 <= other <= top]
    return [float(number) for number in np.array(codes, f"u{kind.itemsize}").view(kind)]
