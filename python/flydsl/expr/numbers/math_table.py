"""Unary `math` operations: one row each, with how a static operand folds.

Folding computes in double precision and rounds to the operand's format. Outside its domain a function
gives NaN or an infinity, as the device does, where Python's `math` raises.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from flydsl.expr.numbers import fold
from flydsl.expr.numbers.fold import Number
from flydsl.expr.numbers.numeric_types import NumberFormat
from flydsl.expr.numbers.plan import UnaryFold, UnaryOperation


def roundeven(value: float) -> float:
    """To the nearest whole number, ties to even; infinities and NaN stay."""
    return math.copysign(float(round(value)), value) if math.isfinite(value) else value


def _round_half_away(value: float) -> float:
    if not math.isfinite(value):
        return value
    whole = math.floor(abs(value))
    return math.copysign(float(whole + (abs(value) - whole >= 0.5)), value)


def _whole(function: Callable[[float], int]) -> Callable[[float], float]:
    """Return a rounding function of Python's `math`, made to keep infinities, NaN and the sign of zero."""
    return lambda value: math.copysign(float(function(value)), value) if math.isfinite(value) else value


def _exp2(value: float) -> float:
    return math.inf if value == math.inf else math.exp2(value)


def _log_with_pole(function: Callable[[float], float], pole: float) -> Callable[[float], float]:
    return lambda value: -math.inf if value == pole else function(value)


def _rsqrt(value: float) -> float:
    return math.copysign(math.inf, value) if value == 0 else 1.0 / math.sqrt(value)


def _atanh(value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) == 1 else math.atanh(value)


def _sqrt(value: float) -> float:
    return math.sqrt(value)


# Which infinity a function that overflows in double precision heads for.
_OVERFLOW_KEEPS_SIGN = {"sinh"}


def _fold_float(name: str, function: Callable[[float], float]) -> UnaryFold:
    def folded(fmt: NumberFormat, value: Number) -> Number:
        try:
            return function(float(value))
        except OverflowError:
            return math.copysign(math.inf, value) if name in _OVERFLOW_KEEPS_SIGN else math.inf
        except ValueError:
            return math.nan

    return folded


FLOAT_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "absf": math.fabs,
    "ceil": _whole(math.ceil),
    "floor": _whole(math.floor),
    "trunc": _whole(math.trunc),
    "round": _round_half_away,
    "roundeven": roundeven,
    "exp": math.exp,
    "exp2": _exp2,
    "expm1": math.expm1,
    "log": _log_with_pole(math.log, 0.0),
    "log2": _log_with_pole(math.log2, 0.0),
    "log10": _log_with_pole(math.log10, 0.0),
    "log1p": _log_with_pole(math.log1p, -1.0),
    "sqrt": _sqrt,
    "rsqrt": _rsqrt,
    "cbrt": math.cbrt,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": _atanh,
    "erf": math.erf,
    "erfc": math.erfc,
}


def _ctlz(fmt: NumberFormat, value: Number) -> Number:
    return fmt.width - fold.unsigned(fmt, value).bit_length()


def _cttz(fmt: NumberFormat, value: Number) -> Number:
    bits = fold.unsigned(fmt, value)
    return (bits & -bits).bit_length() - 1 if bits else fmt.width


def _ctpop(fmt: NumberFormat, value: Number) -> Number:
    return fold.unsigned(fmt, value).bit_count()


def _absi(fmt: NumberFormat, value: Number) -> Number:
    return abs(fold.signed(fmt, value))


INTEGER_FUNCTIONS: dict[str, UnaryFold] = {"absi": _absi, "ctlz": _ctlz, "cttz": _cttz, "ctpop": _ctpop}

UNARY: dict[str, UnaryOperation] = {
    **{n: UnaryOperation(n, floating=(f"math.{n}", _fold_float(n, f))) for n, f in FLOAT_FUNCTIONS.items()},
    **{n: UnaryOperation(n, integer=(f"math.{n}", f)) for n, f in INTEGER_FUNCTIONS.items()},
}


def _negate(fmt: NumberFormat, value: Number) -> Number:
    return -value


ABS = UnaryOperation("abs", integer=UNARY["absi"].integer, floating=UNARY["absf"].floating)
NEGF = UnaryOperation("-", floating=("arith.negf", _negate))
EXP2 = UNARY["exp2"]
FLOOR, ROUNDEVEN = UNARY["floor"], UNARY["roundeven"]
