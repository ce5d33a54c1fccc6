"""Sine, cosine, tangent and their inverses of f32 as formulas.

The angle is reduced in f64 for every finite argument, however large: only the bits of 2/pi that matter for a number
of its size take part. Polynomials are fits of their own; the figure beside each is its largest absolute error.
"""

from __future__ import annotations

import math
from importlib import import_module

from flydsl.codegen.floats.formula import Value, polynomial

_TWO_OVER_PI = (0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDE, 2**232)
_STARTS = (44, 65, 86, 107)
"""Powers of two from which on fewer leading bits of 2/pi are used."""

_HALF_PI = (1.5707963705062866, -4.371138828673793e-08)
_PI = (3.1415927410125732, -8.742277657347586e-08)
_ROUND_F64 = 1.5 * 2.0**52
_SIGN = -(1 << 31)

# By x^2, x up to 1.04 pi / 4. (sin x - x) / x^3, 4e-11, and (cos x - 1 + x^2 / 2) / x^4, 3e-12:
_SIN_TAIL = (-0.1666666716337204, 0.008333331905305386, -0.00019839886226691306, 2.7224989480600925e-06)
_COS_TAIL = (0.0416666679084301, -0.0013888886896893382, 2.4800432584015653e-05, -2.7280145786789944e-07)
# (sin x - x) / x^3, 4e-14, and (cos x - 1) / x^2, 5e-13:
_SIN_WIDE = (
    *(-0.16666666666662552, 0.008333333330250261, -0.00019841266143223187, 2.7555766104885487e-06),
    -2.478562778440077e-08,
)
_COS_WIDE = (
    *(-0.49999999999946587, 0.041666666626635304, -0.0013888884087007844, 2.479957036032085e-05),
    -2.721116919997963e-07,
)
# (atan x - x) / x^3 by x^2, x up to 1, 2.5e-9:
_ATAN_TAIL = (
    *(-0.3333333432674408, 0.19999949634075165, -0.14284004271030426, 0.11088261753320694, -0.08931826800107956),
    *(0.07031914591789246, -0.04896051436662674, 0.026305001229047775, -0.00914462935179472, 0.001488691894337535),
)
# (asin x - x) / x^3 by x^2, x up to 1/2, 4e-9:
_ASIN_TAIL = (
    *(0.1666666567325592, 0.07500094175338745, 0.04459940269589424, 0.031100662425160408),
    *(0.017149237915873528, 0.03369084745645523),
)


def sin(x: Value) -> Value:
    quarter, angle = _reduced(x)
    sine, cosine = _sin_cos(angle)
    chosen = (quarter & 1).equals(0).select(sine, cosine)
    sign = ((quarter & 2) << 30) ^ (x.bits() & _SIGN)
    return (chosen.bits() ^ sign).viewed()


def cos(x: Value) -> Value:
    quarter, angle = _reduced(x)
    sine, cosine = _sin_cos(angle)
    chosen = (quarter & 1).equals(0).select(cosine, sine)
    return (chosen.bits() ^ (((quarter + 1) & 2) << 30)).viewed()


def tan(x: Value) -> Value:
    """sin / cos in f64, where even a quotient near a pole keeps all digits of f32."""
    quarter, angle = _reduced(x)
    square = angle * angle
    sine = (angle * square).fma(polynomial(square, _SIN_WIDE), angle)
    cosine = square.fma(polynomial(square, _COS_WIDE), 1.0)
    even = (quarter & 1).equals(0)
    quotient = (even.select(sine, -cosine) / even.select(cosine, sine)).narrow()
    return (quotient.bits() ^ (x.bits() & _SIGN)).viewed()


def _reduced(x: Value) -> tuple[Value, Value]:
    """|x| as quarters of a turn, of which the last two bits count, and an f64 rest of up to 1.04 pi / 4.

    No float but zero comes nearer to a multiple of pi / 2 than about 2^-30; the rest is good to 2^-58.
    """
    size = x.magnitude()
    wide = size.wide()
    first, second = (wide.constant(part) for part in _leading_parts(None))
    for start in _STARTS:
        parts = _leading_parts(start)
        near = size.below(2.0**start)
        first, second = near.select(first, parts[0]), near.select(second, parts[1])
    product = wide * first
    lost = wide.fma(first, -product)
    shifted = product + _ROUND_F64  # the whole number is in the low bits, also where there is none
    rest = (product - (shifted - _ROUND_F64)) + wide.fma(second, lost)
    return shifted.bits().low_word(), rest * (math.pi / 2)


def _leading_parts(start: int | None) -> tuple[float, float]:
    """2/pi as two floats, less what makes whole turns of every f32 from 2^start on: they are multiples of
    2^(start - 23), so bits of 2/pi from 2^(25 - start) up add multiples of four quarters."""
    Fraction = import_module("fractions").Fraction  # few kernels need it, and with it comes all of `decimal`
    whole = Fraction(*_TWO_OVER_PI)
    value = whole if start is None else whole % Fraction(2) ** (25 - start)
    first = float(value)
    return first, float(value - Fraction(first))


def _sin_cos(angle: Value) -> tuple[Value, Value]:
    """Sine and cosine in f32; the part of the angle that f32 drops enters to first order."""
    main = angle.narrow()
    rest = (angle - main.wide()).narrow()
    square = main * main
    sine = main + (main * square).fma(polynomial(square, _SIN_TAIL), rest)
    half = square * 0.5
    most = 1.0 - half
    tail = (square * square).fma(polynomial(square, _COS_TAIL), -(main * rest))
    return sine, most + (((1.0 - most) - half) + tail)


def atan(x: Value) -> Value:
    size = x.magnitude()
    return _atan_of_ratio(size, size.constant(1.0)).with_sign_of(x)


def atan2(y: Value, x: Value) -> Value:
    angle = _atan_of_ratio(y.magnitude(), x.magnitude())
    return x.bits().below(0).select(_less(_PI, angle), angle).with_sign_of(y)


def _atan_of_ratio(y: Value, x: Value) -> Value:
    """Return the angle of a point in the first quarter, through the ratio that is at most one."""
    steep = y.above(x)
    larger, smaller = steep.select(y, x), steep.select(x, y)
    diagonal = larger.equals(0.0).select(larger, 1.0)  # also where both are infinite
    ratio = larger.equals(smaller).select(diagonal, smaller / larger)
    square = ratio * ratio
    angle = (ratio * square).fma(polynomial(square, _ATAN_TAIL), ratio)
    return steep.select(_less(_HALF_PI, angle), angle)


def _less(limit: tuple[float, float], angle: Value) -> Value:
    """limit - angle, the limit being the sum of two floats."""
    return limit[0] - (angle - limit[1])


def asin(x: Value) -> Value:
    inner, root, tail = _asin_parts(x.magnitude())
    # Taken off part by part, with what the first difference loses: the sum, doubled, would carry twice the rounding.
    twice = root * 2.0
    most = _HALF_PI[0] - twice
    lost = (_HALF_PI[0] - most) - twice
    outer = most + (lost - (tail * 2.0 - _HALF_PI[1]))
    return inner.select(root + tail, outer).with_sign_of(x)


def acos(x: Value) -> Value:
    inner, root, tail = _asin_parts(x.magnitude())
    angle = root + tail
    twice = angle * 2.0
    outer = x.below(0.0).select(_less(_PI, twice), twice)
    return inner.select(_less(_HALF_PI, angle.with_sign_of(x)), outer)


def _asin_parts(size: Value) -> tuple[Value, Value, Value]:
    """Return whether |x| is below 1/2, and two parts of asin |x|; further out of asin of the square root of (1 - |x|) /
    2, which is half of acos |x|."""
    inner = size.below(0.5)
    square = inner.select(size * size, (1.0 - size) * 0.5)
    root = inner.select(size, square.sqrt())
    return inner, root, root * square * polynomial(square, _ASIN_TAIL)
