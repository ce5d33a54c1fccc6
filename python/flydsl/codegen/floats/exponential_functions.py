"""Logarithms, powers, hyperbolic and error functions of f32 as formulas.

What is asked for most stays in f32: a logarithm is carried as the sum of two floats, an exponential is split into a
power of two and a short polynomial. Powers and the rarer functions are computed in f64, where a polynomial good to ten
digits leaves nothing but the last rounding. Every polynomial is a fit of its own over the interval its comment names;
the figure beside it is the largest absolute error of the fit.
"""

from __future__ import annotations

import math

from flydsl.codegen.floats.formula import Value, polynomial

_INF, _NAN = math.inf, math.nan

# Numbers as the sum of two floats.
_LOG2_E = (1.4426950216293335, 1.925963033500011e-08)
_LN_2 = (0.6931471824645996, -1.9046542121259336e-09)
_LOG10_2 = (0.3010300099849701, -1.432098883924482e-08)
# ln 2 with a first part short enough for its product with any exponent to be exact.
_LN_2_SHORT = (0.693145751953125, 1.428606765330187e-06)

_LEAST_NORMAL = 2.0**-126
_ROUND_F32, _ROUND_F64 = 1.5 * 2.0**23, 1.5 * 2.0**52
"""Added to a number of small magnitude, leaves it rounded to a whole one in the low bits."""
_ROUND_F32_BITS = 0x4B400000
_ROOT_HALF_F32, _ROOT_HALF_F64 = 0x3F3504F3, 0x3FE6A09E667F3BCD

# Mantissas lie between the roots of 1/2 and 2. (log2(1 + f) - f log2 e) / f^2, 7e-9:
_LOG2_TAIL = (
    *(-0.7213475108146667, 0.4808982014656067, -0.3606739044189453, 0.2885598838329315, -0.24046172201633453),
    *(0.20532894134521484, -0.17919448018074036, 0.17041310667991638, -0.1667364239692688, 0.09765637665987015),
)
# log2(1 + f) / f, 5e-12:
_LOG2_WIDE = (
    *(1.4426950408862034, -0.7213475203430864, 0.4808983490727961, -0.36067378977100695, 0.28853876232996745),
    *(-0.24044662677727305, 0.20610869528306625, -0.18043268521020117, 0.16018226130296026, -0.14252340755410017),
    *(0.13062890256021095, -0.13478928738366042, 0.13113743753686682, -0.06806287590390596),
)
# (e^r - 1 - r) / r^2 for |r| up to half ln 2, 1.5e-9:
_EXP_TAIL = (
    *(0.5, 0.1666666716337204, 0.04166645556688309, 0.00833331048488617, 0.0013934541493654251),
    0.00019891980628017336,
)
# 2^g for |g| up to 1/2, 8e-13:
_EXP2_WIDE = (
    *(1.0, 0.6931471805459335, 0.2402265069581299, 0.05550410941205933, 0.009618129159402558),
    *(0.0013333450568000645, 0.00015403455852453838, 1.5310079402249296e-05, 1.3255224878668817e-06),
)
# 2^r for |r| up to 1/2, 3e-9:
_EXP2 = (
    *(1.0, 0.6931471824645996, 0.24022650718688965, 0.05550359562039375, 0.009618062525987625, 0.0013390984386205673),
    0.000154628767631948,
)
# (tanh x - x) / x^3 by x^2, x up to 0.6, 1e-9:
_TANH_TAIL = (
    *(-0.3333333432674408, 0.13333313167095184, -0.05396155267953873, 0.021788321435451508),
    *(-0.008410071022808552, 0.0023707656655460596),
)
# (sinh x - x) / x^3 by x^2, x up to 1, 2e-10:
_SINH_TAIL = (0.1666666716337204, 0.008333339355885983, 0.00019838102161884308, 2.806280235745362e-06)
# erf x / x - 1 by x^2, x up to 1, 1.2e-9:
_ERF_TAIL = (
    *(0.12837916612625122, -0.3761262595653534, 0.11283594369888306, -0.02685421146452427),
    *(0.005189087241888046, -0.000801686430349946, 7.875874871388078e-05),
)
# erf x / x by x^2, x up to 1, 3.4e-11:
_ERF_WIDE = (
    *(1.1283791670615435, -0.3761263846802871, 0.11283782495236845, -0.026865430727670243),
    *(0.005221031807858023, -0.0008484080405535107, 0.00011265959025606609, -9.667044571486996e-06),
)
# -log(erfc x) for x from 1 to 4, 8e-9:
_ERFC_LOG = (
    *(-0.00041632921784184873, 1.130675196647644, 0.6309530138969421, 0.11105501651763916, -0.027099523693323135),
    *(0.005064947064965963, -0.0006858366541564465, 6.229834980331361e-05, -3.321684516777168e-06),
    7.582681860185403e-08,
)
# e^(x^2) erfc(x) / u by u = 2 / (2 + x), x from 1 to 11, 1.6e-10:
_ERFC_SCALED = (
    *(0.2820936865182872, 0.282125637145868, 0.2464769822982335, 0.17844825329191993, 0.07724822799297432),
    *(-0.0006379901992376026, -0.01450629550678473, -0.20797254784310773, 0.22897251812817798, -0.07244001085216847),
)


def log2(x: Value) -> Value:
    high, low = _log2_parts(x)
    return _in_domain(x, high + low)


def log(x: Value) -> Value:
    return _in_domain(x, _scaled(*_log2_parts(x), _LN_2))


def log10(x: Value) -> Value:
    return _in_domain(x, _scaled(*_log2_parts(x), _LOG10_2))


def log1p(x: Value) -> Value:
    """log(1 + x); what 1 + x loses in rounding is a first-order correction."""
    one_more = x + 1.0
    back = one_more - 1.0
    lost = (1.0 - (one_more - back)) + (x - back)
    high, low = _log2_parts(one_more)
    result = _in_domain(one_more, _scaled(high, low, _LN_2, lost / one_more))
    return x.magnitude().below(2.0**-25).select(x, result)


def _log2_parts(x: Value) -> tuple[Value, Value]:
    """log2 of a positive finite number as a sum of two floats, good to 30 bits."""
    tiny = x.below(_LEAST_NORMAL)
    bits = tiny.select(x * 2.0**24, x).bits()
    exponent = (bits - _ROOT_HALF_F32) >> 23
    f = (bits - (exponent << 23)).viewed() - 1.0
    power = exponent.counted("float") + tiny.select(x.constant(-24.0), 0.0)
    main = f * _LOG2_E[0]
    rest = f.fma(_LOG2_E[0], -main) + (f * f).fma(polynomial(f, _LOG2_TAIL), f * _LOG2_E[1])
    total = power + main
    return total, rest + (main - (total - power))


def _scaled(high: Value, low: Value, factor: tuple[float, float], more: Value | None = None) -> Value:
    """Return (high + low) * factor, and a small number more."""
    product = high * factor[0]
    rest = high.fma(factor[0], -product) + low.fma(factor[0], high * factor[1])
    return product + (rest if more is None else rest + more)


def _log2_wide(x: Value) -> Value:
    """log2 of any f64 that is not subnormal, good to 37 bits."""
    bits = x.bits()
    exponent = (bits - _ROOT_HALF_F64) >> 52
    f = (bits - (exponent << 52)).viewed() - 1.0
    return _in_domain(x, f.fma(polynomial(f, _LOG2_WIDE), exponent.low_word().counted("double")))


def _in_domain(x: Value, result: Value) -> Value:
    """Return a logarithm of x, where ``result`` holds for positive finite x."""
    outside = x.equals(0.0).select(x.constant(-_INF), x.below(0.0).select(_NAN, x))
    return (x.above(0.0) & x.below(_INF)).select(result, outside)


def _power_of_two(exponent: Value) -> Value:
    """2^n in f32 for -126 <= n <= 127."""
    return ((exponent + 127) << 23).viewed()


def _expm1_parts(x: Value) -> tuple[Value, Value]:
    """n and e^r - 1 with x = n ln 2 + r, for |x| up to 100."""
    shifted = x.fma(_LOG2_E[0], _ROUND_F32)
    count = shifted - _ROUND_F32
    r = count.fma(-_LN_2_SHORT[1], count.fma(-_LN_2_SHORT[0], x))
    return shifted.bits() - _ROUND_F32_BITS, (r * r).fma(polynomial(r, _EXP_TAIL), r)


def _exp_inside(x: Value) -> Value:
    """e^x in f32 where neither the result nor its power of two leaves the normal range."""
    exponent, rest = _expm1_parts(x)
    scale = _power_of_two(exponent)
    return scale.fma(rest, scale)


def exp2(x: Value) -> Value:
    """2^x to 0.82 units in the last place, and zero instead of subnormal numbers: 2^n of the nearest whole n is added
    to the exponent of 2^r."""
    shifted = x + _ROUND_F32
    power = polynomial(x - (shifted - _ROUND_F32), _EXP2)
    result = (power.bits() + (shifted.bits() << 23)).viewed()
    return x.below(128.0).select(x.below(-126.0).select(0.0, result), x * _INF)


def _exp2_wide(x: Value) -> Value:
    """2^x in f64 for a result in f32: past 2^200 and 2^-200 it stays there."""
    x = _at_most(x.below(-200.0).select(-200.0, x), 200.0)
    shifted = x + _ROUND_F64
    scale = ((shifted.bits() << 52) + (1023 << 52)).viewed()
    return polynomial(x - (shifted - _ROUND_F64), _EXP2_WIDE) * scale


def _at_most(x: Value, limit: float) -> Value:
    """Return the smaller of the two, NaN for NaN."""
    return x.above(limit).select(limit, x)


def expm1(x: Value) -> Value:
    inside = _at_most(x.below(-25.0).select(-25.0, x), 89.0)
    exponent, rest = _expm1_parts(inside)
    half = _power_of_two(exponent - 1)  # 2^128 would be infinite where the result is not
    result = half.fma(rest, half - 0.5) * 2.0
    return x.magnitude().below(2.0**-25).select(x, exponent.equals(0).select(rest, result))


def powf(x: Value, y: Value) -> Value:
    """x ** y as C has it, also at zeros, infinities, NaN and negative bases."""
    base = x.magnitude()
    result = _exp2_wide(_log2_wide(base.wide()) * y.wide()).narrow()
    half = y * 0.5
    y_whole, y_even = y.whole().equals(y), half.whole().equals(half)
    negative = x.bits().below(0)
    result = (negative & y_whole & ~y_even).select(-result, result)
    result = (x.below(0.0) & base.below(_INF) & y.magnitude().below(_INF) & ~y_whole).select(_NAN, result)
    one = x.equals(1.0) | y.equals(0.0) | (x.equals(-1.0) & y.magnitude().equals(_INF))
    return one.select(1.0, result)


def tanh(x: Value) -> Value:
    size = x.magnitude()
    square = size * size
    small = (size * square).fma(polynomial(square, _TANH_TAIL), size)
    large = 1.0 - 2.0 / (_exp_inside(_at_most(size, 10.0) * 2.0) + 1.0)
    return size.below(0.6).select(small, large).with_sign_of(x)


def sinh(x: Value) -> Value:
    size = x.magnitude()
    square = size * size
    small = (size * square).fma(polynomial(square, _SINH_TAIL), size)
    power, inverse = _exp_pair(size)
    return size.below(1.0).select(small, ((power - inverse) * 0.5).narrow()).with_sign_of(x)


def cosh(x: Value) -> Value:
    power, inverse = _exp_pair(x.magnitude())
    return ((power + inverse) * 0.5).narrow()


def _exp_pair(x: Value) -> tuple[Value, Value]:
    """e^x and e^-x in f64 for x >= 0; the second, which is the smaller, to f32's digits."""
    power = _exp2_wide(x.wide() * math.log2(math.e))
    return power, (1.0 / power.narrow()).wide()


def asinh(x: Value) -> Value:
    wide = x.magnitude().wide()
    return _unless_tiny(x, _log2_wide(wide + wide.fma(wide, 1.0).sqrt()) * math.log(2))


def acosh(x: Value) -> Value:
    wide = x.wide()
    result = _log2_wide(wide + wide.fma(wide, -1.0).sqrt()) * math.log(2)
    return x.below(1.0).select(_NAN, result.narrow())


def atanh(x: Value) -> Value:
    wide = x.magnitude().wide()
    return _unless_tiny(x, _log2_wide((wide + 1.0) / (1.0 - wide)) * (math.log(2) / 2))


def _unless_tiny(x: Value, result: Value) -> Value:
    """Return an odd function with slope one at zero, from its f64 value at ``|x|``."""
    size = x.magnitude()
    return size.below(2.0**-20).select(size, result.narrow()).with_sign_of(x)


def erf(x: Value) -> Value:
    size = x.magnitude()
    small = size.fma(polynomial(size * size, _ERF_TAIL), size)
    large = 1.0 - _exp_inside(-polynomial(_at_most(size, 4.0), _ERFC_LOG))
    return size.below(1.0).select(small, large).with_sign_of(x)


def erfc(x: Value) -> Value:
    wide, size = x.wide(), _at_most(x.magnitude(), 11.0)
    small = (-wide).fma(polynomial(wide * wide, _ERF_WIDE), 1.0)
    a = size.wide()
    rough = (2.0 / (size + 2.0)).wide()
    u = rough * (a + 2.0).fma(rough * -0.5, 2.0)
    power = _exp2_wide(a * a * -math.log2(math.e))
    right = polynomial(u, _ERFC_SCALED) * u * power
    large = x.below(0.0).select(2.0 - right, right)
    return size.below(1.0).select(small, large).narrow()


def cbrt(x: Value) -> Value:
    """x * r^2 with r near x^(-1/3): a guess from the exponent, then Newton's steps, the last in f64."""
    size = x.magnitude()
    tiny = size.below(_LEAST_NORMAL)
    scaled = tiny.select(size * 2.0**24, size)
    r = (0x54A24000 - scaled.bits() // 3).viewed()
    for _ in range(2):
        r = r * ((scaled * r) * (r * r)).fma(-1 / 3, 4 / 3)
    wide, r = scaled.wide(), r.wide()
    r = r * ((wide * r) * (r * r)).fma(-1 / 3, 4 / 3)
    root = (wide * r * r).narrow()
    result = tiny.select(root * 2.0**-8, root)
    return (size.above(0.0) & size.below(_INF)).select(result, size).with_sign_of(x)
