"""The `math` functions, on scalars and vectors. The result has the type of the first argument.

Static arguments fold (see math_table). `round` goes half away from zero, `roundeven` half to even.
"""

from __future__ import annotations

import math as python_math
from collections.abc import Callable
from typing import Any, TypeAlias

from flydsl.expr.enum import FastMathFlags
from flydsl.expr.numbers import fold, operators
from flydsl.expr.numbers.fastmath import Flags, flag_attrs
from flydsl.expr.numbers.float_format import round_ratio
from flydsl.expr.numbers.fold import Fold
from flydsl.expr.numbers.math_table import UNARY
from flydsl.expr.numbers.numeric_types import NumberFormat
from flydsl.expr.numbers.plan import Operation, compute_format
from flydsl.expr.numbers.promotion import require_integer
from flydsl.expr.numeric import Float32
from flydsl.expr.values.comparison import FLOAT_COMPARISONS
from flydsl.expr.values.vector_value import emit_elementwise, required_operand

Function: TypeAlias = Callable[..., Any]


def _float_argument(value: Any) -> Any:
    """Return an argument of a float function; a Python int is meant as a float there."""
    return Float32(value) if type(value) is int else required_operand(value)


def _unary(name: str) -> Function:
    op = UNARY[name]

    def function(x: Any, *, fastmath: Flags = None) -> Any:
        return (_float_argument(x) if op.floating else required_operand(x))._unary(op, fastmath)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`math.{name}` of each element."
    return function


absf, ceil, floor, trunc = _unary("absf"), _unary("ceil"), _unary("floor"), _unary("trunc")
round, roundeven = _unary("round"), _unary("roundeven")
exp, exp2, expm1 = _unary("exp"), _unary("exp2"), _unary("expm1")
log, log2, log10, log1p = _unary("log"), _unary("log2"), _unary("log10"), _unary("log1p")
sqrt, rsqrt, cbrt = _unary("sqrt"), _unary("rsqrt"), _unary("cbrt")
sin, cos, tan = _unary("sin"), _unary("cos"), _unary("tan")
asin, acos, atan = _unary("asin"), _unary("acos"), _unary("atan")
sinh, cosh, tanh = _unary("sinh"), _unary("cosh"), _unary("tanh")
asinh, acosh, atanh = _unary("asinh"), _unary("acosh"), _unary("atanh")
erf, erfc = _unary("erf"), _unary("erfc")
absi, ctlz, cttz, ctpop = _unary("absi"), _unary("ctlz"), _unary("cttz"), _unary("ctpop")


def sincos(x: Any, *, fastmath: Flags = None) -> tuple[Any, Any]:
    """Return the pair (sin x, cos x)."""
    return sin(x, fastmath=fastmath), cos(x, fastmath=fastmath)


def _binary(name: str, folding: Fold) -> Function:
    op = Operation(name, floating=(f"math.{name}", folding))

    def function(x: Any, y: Any, *, fastmath: Flags = None) -> Any:
        first = _float_argument(x)
        return first.combine(op, required_operand(y).to(first.dtype), fastmath)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`math.{name}` of each pair of elements, in the type of the first."
    return function


powf, atan2, copysign = _binary("powf", fold.powf), _binary("atan2", fold.atan2), _binary("copysign", fold.copysign)


def fpowi(x: Any, n: Any, *, fastmath: Flags = None) -> Any:
    """Return a float to an integer power."""
    exponent = required_operand(n)
    require_integer("fpowi", exponent.dtype.format)
    return _float_argument(x).combine(operators.POW, exponent, fastmath)


def ipowi(base: Any, exponent: Any) -> Any:
    """Return an integer to an integer power; a negative exponent gives the truncated reciprocal."""
    first, power = required_operand(base), required_operand(exponent)
    require_integer("ipowi", first.dtype.format)
    require_integer("ipowi", power.dtype.format)
    return first.combine(operators.POW, power).to(first.dtype)


def _fold_fma(fmt: NumberFormat, a: float, b: float, c: float) -> float:
    """Return a * b + c rounded once, from the exact fraction."""
    if not all(python_math.isfinite(v) for v in (a, b, c)):
        return a * b + c
    (an, ad), (bn, bd), (cn, cd) = (v.as_integer_ratio() for v in (a, b, c))
    numerator = an * bn * cd + cn * ad * bd
    return a * b + c if numerator == 0 else round_ratio(fmt, numerator, ad * bd * cd)


def fma(a: Any, b: Any, c: Any, *, fastmath: Flags = None) -> Any:
    """Return a * b + c with a single rounding, in the type of `a`."""
    first = _float_argument(a)
    fmt = first.dtype.format
    compute = compute_format(fmt)
    values = [v._as(fmt)._as(compute) for v in (first, _float_argument(b), _float_argument(c))]
    if all(v.is_static() for v in values):
        return first.dtype(_fold_fma(compute, *(v.value for v in values)))
    return emit_elementwise("math.fma", values, compute, flag_attrs(fastmath))._as(fmt)


def clampf(x: Any, lo: Any, hi: Any, *, fastmath: Flags = None) -> Any:
    """x limited to [lo, hi]; NaN stays NaN."""
    first = _float_argument(x)
    low, high = (_float_argument(bound).to(first.dtype) for bound in (lo, hi))
    return first.maximumf(low, fastmath=fastmath).minimumf(high, fastmath=fastmath)


# Classification ignores fast-math blocks: under `nnan` the question "is this NaN?" would always be answered no.


def _magnitude(x: Any) -> Any:
    value = _float_argument(x)
    wide = value.to(Float32) if value.dtype.format.is_narrow_float else value
    return wide._unary(UNARY["absf"], FastMathFlags.none)


def _compare(value: Any, predicate: str, other: Any) -> Any:
    return value.combine(FLOAT_COMPARISONS[predicate], other, FastMathFlags.none)


def isnan(x: Any, *, fastmath: Flags = None) -> Any:
    """Return whether each element is NaN."""
    value = _float_argument(x)
    return _compare(value, "uno", value)


def isinf(x: Any, *, fastmath: Flags = None) -> Any:
    """Return whether each element is an infinity."""
    size = _magnitude(x)
    return _compare(size, "oeq", size.dtype(python_math.inf))


def isfinite(x: Any, *, fastmath: Flags = None) -> Any:
    """Return whether each element is neither an infinity nor NaN."""
    size = _magnitude(x)
    return _compare(size, "one", size.dtype(python_math.inf))


def isnormal(x: Any, *, fastmath: Flags = None) -> Any:
    """Return whether each element is finite and neither zero nor subnormal in its own format."""
    layout = _float_argument(x).dtype.format.layout
    size = _magnitude(x)  # an integer argument has failed by here
    assert layout is not None
    smallest = size.dtype(python_math.ldexp(1.0, layout.min_exponent))
    return _compare(size, "oge", smallest) & _compare(size, "olt", size.dtype(python_math.inf))


# fmt: off
__all__ = [
    "absf", "ceil", "floor", "trunc", "round", "roundeven", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p",
    "sqrt", "rsqrt", "cbrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh",
    "atanh", "erf", "erfc", "sincos", "absi", "ctlz", "cttz", "ctpop", "powf", "fpowi", "ipowi", "atan2",
    "copysign", "fma", "clampf", "isnan", "isinf", "isfinite", "isnormal",
]
# fmt: on
