"""Every operator on every pair of number types, with sample operands and the results a machine gives.

The table knows nothing of how the results are computed by the package: promotion is spelled out again from the
published rules, and the arithmetic is NumPy's and ml_dtypes' (Python integers for widths NumPy lacks). A test
executes a :class:`Case` as it likes: folded while tracing, or on a device.

    for case in cases():
        got = [case.function(case.lhs(a), case.rhs(b)) for a, b in case.samples]
        # compare with case.expected, values of type case.result
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np

from flydsl.expr import numeric as n

Number = int | float

# Tables that are asked by hash: a type that is compared with others looks at what NumPy calls them.
SIGNED = dict.fromkeys((n.Int4, n.Int8, n.Int16, n.Int32, n.Int64, n.Int128))
UNSIGNED = dict.fromkeys((n.Uint8, n.Uint16, n.Uint32, n.Uint64, n.Uint128))
INTEGERS = dict.fromkeys((n.Boolean, *SIGNED, *UNSIGNED, n.Index))
STANDARD_FLOATS = dict.fromkeys((n.Float16, n.BFloat16, n.Float32, n.Float64))
EIGHT_BIT_FLOATS = (
    *(n.Float8E5M2, n.Float8E4M3, n.Float8E4M3FN, n.Float8E4M3FNUZ, n.Float8E5M2FNUZ),
    *(n.Float8E4M3B11FNUZ, n.Float8E8M0FNU),
)
NARROW_FLOATS = dict.fromkeys((*EIGHT_BIT_FLOATS, n.Float6E2M3FN, n.Float6E3M2FN, n.Float4E2M1FN))
FLOATS = dict.fromkeys((*STANDARD_FLOATS, *NARROW_FLOATS))
TYPES = (*INTEGERS, *FLOATS)

NUMPY_NAMES: dict[Any, str] = {
    n.Float16: "float16",
    n.BFloat16: "bfloat16",
    n.Float32: "float32",
    n.Float64: "float64",
    n.Float8E5M2: "float8_e5m2",
    n.Float8E4M3: "float8_e4m3",
    n.Float8E4M3FN: "float8_e4m3fn",
    n.Float8E4M3FNUZ: "float8_e4m3fnuz",
    n.Float8E5M2FNUZ: "float8_e5m2fnuz",
    n.Float8E4M3B11FNUZ: "float8_e4m3b11fnuz",
    n.Float8E8M0FNU: "float8_e8m0fnu",
    n.Float6E2M3FN: "float6_e2m3fn",
    n.Float6E3M2FN: "float6_e3m2fn",
    n.Float4E2M1FN: "float4_e2m1fn",
}

ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}
SHIFTS: dict[str, Callable[[Any, Any], Any]] = {"<<": operator.lshift, ">>": operator.rshift}
BITWISE: dict[str, Callable[[Any, Any], Any]] = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OPERATORS = ARITHMETIC | SHIFTS | BITWISE | COMPARISONS
UNARY: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "abs": abs, "~": operator.invert, "+": operator.pos}


@dataclass(frozen=True)
class Case:
    """One operator on one pair of types. `error` is what it must raise instead of giving results."""

    symbol: str
    function: Callable[[Any, Any], Any]
    lhs: Any
    rhs: Any
    result: Any = None
    samples: tuple[tuple[Number, Number], ...] = ()
    expected: tuple[Number, ...] = ()
    error: type[Exception] | None = None

    @property
    def name(self) -> str:
        return f"{self.lhs} {self.symbol} {self.rhs}"


# The published promotion rules, written out independently of flydsl.expr.numbers.promotion


def common_type(a: Any, b: Any) -> Any:
    """The type both operands become; None when there is none."""
    if a is b:
        return a
    if a in FLOATS and b in FLOATS:
        return _common_float(a, b)
    if a in FLOATS or b in FLOATS:
        number, integer = (a, b) if a in FLOATS else (b, a)
        wide_enough = [f for f in (number, n.Float16, n.Float32, n.Float64) if f.width >= integer.width]
        return number if number in wide_enough else [*wide_enough, n.Float64][0]
    return _common_integer(a, b)


def _common_float(a: Any, b: Any) -> Any:
    if a in NARROW_FLOATS and b in NARROW_FLOATS:
        return None
    if {a, b} == {n.Float16, n.BFloat16}:
        return n.Float32
    return max(a, b, key=lambda t: t.width)


def _common_integer(a: Any, b: Any) -> Any:
    if (a in SIGNED) == (b in SIGNED):
        if a.width == b.width:
            return n.Index
        return max(a, b, key=lambda t: t.width)
    signed, unsigned = (a, b) if a in SIGNED else (b, a)
    return unsigned if unsigned.width >= signed.width else signed


def quotient_type(common: Any) -> Any:
    if common in FLOATS:
        return common
    return n.Float32 if common.width <= 32 else n.Float64


# Numbers of each type, and conversion by NumPy


@cache
def numpy_type(dtype: Any) -> Any:
    name = NUMPY_NAMES[dtype]
    return np.dtype(name) if hasattr(np, name) else np.dtype(getattr(ml_dtypes, name))


def in_float(dtype: Any, value: Number) -> float:
    """A number rounded to a float type. Narrow types round from float32, which is what hardware does."""
    return _rounded(dtype, value, math.copysign(1.0, value))


@cache
def _rounded(dtype: Any, value: Number, sign: float) -> float:
    """Cached by sign too: 0.0 and -0.0 are one dictionary key, but two numbers."""
    with np.errstate(all="ignore"):
        if dtype in (n.Float64, n.Float32, n.Float16):
            return float(np.array(value, dtype=np.float64).astype(numpy_type(dtype)))
        return float(np.array(value, dtype=np.float64).astype(np.float32).astype(numpy_type(dtype)))


def in_integer(dtype: Any, value: int) -> int:
    """An integer wrapped to a type's width."""
    bits = int(value) & ((1 << dtype.width) - 1)
    return bits - (1 << dtype.width) if dtype in SIGNED and bits >> (dtype.width - 1) else bits


def nearest_integer(dtype: Any, value: int) -> int:
    """The number of a type that is nearest to an integer."""
    half = 1 << (dtype.width - 1)
    low, high = (-half, half - 1) if dtype in SIGNED else (0, 2 * half - 1)
    return min(max(value, low), high)


def convert(value: Number, target: Any) -> Number:
    """A sample converted to the common type (never from float to integer)."""
    if target in FLOATS:
        return in_float(target, value)
    return in_integer(target, int(value))


def compute_type(dtype: Any) -> Any:
    """Narrow floats are computed in float32."""
    return n.Float32 if dtype in NARROW_FLOATS else dtype


def samples_of(dtype: Any) -> tuple[Number, ...]:
    """Values of a type: small, negative where there is a sign, and both ends of its range."""
    if dtype is n.Boolean:
        return (0, 1)
    if dtype in SIGNED:
        top = (1 << (dtype.width - 1)) - 1
        return (0, 1, -1, 3, -5, 7, top, -top - 1)
    if dtype in INTEGERS:
        top = (1 << dtype.width) - 1
        return (0, 1, 3, 7, 100, top, top >> 1)
    if dtype is n.Float8E8M0FNU:
        return (0.5, 1.0, 4.0)
    if dtype is n.Float4E2M1FN:
        return (0.0, 0.5, -1.5, 3.0, 6.0, -6.0)
    if dtype in (n.Float6E2M3FN, n.Float6E3M2FN):
        return (0.0, 0.25, -1.5, 3.0, 7.0, -5.0)
    specials = (math.inf, -math.inf, math.nan) if dtype in STANDARD_FLOATS else ()
    values = (0.0, 0.3, 1.0, -1.5, 2.75, -7.3, 100.0, *specials)
    return tuple(in_float(dtype, value) for value in values)


# What each operator gives


def _integer_result(symbol: str, result: Any, a: int, b: int, at_run_time: bool) -> Number | None:
    """None where the operation has no defined result: division by zero, a shift beyond the width."""
    if symbol in ("//", "%"):
        if b == 0:
            return None
        if symbol == "%" and at_run_time:
            return in_integer(result, int(math.copysign(1, a)) * (abs(a) % abs(b)))
        return in_integer(result, a // b if symbol == "//" else a % b)
    if symbol in SHIFTS:
        if not 0 <= b < result.width:
            return None
        return in_integer(result, a << b if symbol == "<<" else a >> b)
    if symbol == "**":
        if not 0 <= b < 64:
            return None
        return in_integer(result, a**b)
    return in_integer(result, OPERATORS[symbol](a, b))


@cache
def _scalar(dtype: Any, value: float, sign: float) -> Any:
    return np.array(value).astype(numpy_type(dtype))[()]


def _power(a: float, b: float) -> float | None:
    """C's pow, which numpy.power is not for infinities; None where Python raises."""
    try:
        return math.pow(a, b)
    except (OverflowError, ValueError):
        return None


def _float_result(symbol: str, compute: Any, result: Any, a: float, b: float, at_run_time: bool) -> Number | None:
    with np.errstate(all="ignore"):
        x, y = (_scalar(compute, v, math.copysign(1.0, v)) for v in (a, b))
        if symbol in ("//", "%"):
            if b == 0 or not math.isfinite(a) or not math.isfinite(b):
                return None  # Python raises, NumPy and the formula differ in which NaN or infinity they give
            if at_run_time:
                compute = n.Float64 if compute is n.Float64 else n.Float32
                x, y = (_scalar(compute, v, math.copysign(1.0, v)) for v in (a, b))
                computed = np.floor(x / y) if symbol == "//" else np.fmod(x, y)
            else:
                computed = np.floor_divide(x, y) if symbol == "//" else np.mod(x, y)
        elif symbol == "**":
            computed = _power(a, b)
            if computed is None:
                return None
        else:
            computed = OPERATORS[symbol](x, y)
    return in_float(result, float(computed))


def _compared(symbol: str, a: Number, b: Number) -> int:
    return int(OPERATORS[symbol](a, b))


def _evaluate(
    symbol: str, operand_types: tuple[Any, Any], result: Any, pair: tuple[Number, Number], at_run_time: bool
) -> Number | None:
    left, right = operand_types
    a, b = convert(pair[0], left), convert(pair[1], right)
    if symbol in COMPARISONS:
        return _compared(symbol, a, b)
    if result in FLOATS:
        return _float_result(symbol, compute_type(left), result, float(a), float(b), at_run_time)
    return _integer_result(symbol, result, int(a), int(b), at_run_time)


def _types_of(symbol: str, lhs: Any, rhs: Any) -> tuple[tuple[Any, Any], Any] | type[Exception]:
    """The types of the operands and of the result, or the error."""
    if symbol not in {*SHIFTS, *BITWISE, *COMPARISONS}:
        lhs, rhs = (n.Int32 if kind is n.Boolean else kind for kind in (lhs, rhs))  # a Boolean is counted in Int32
    common = common_type(lhs, rhs)
    if symbol == "**" and lhs in FLOATS and rhs in INTEGERS and (rhs.width < 32 or rhs is n.Int32):
        return (lhs, n.Int32), lhs  # a float to a small integer power keeps its type
    if common is None:
        return ValueError
    if symbol in SHIFTS | BITWISE and common in FLOATS:
        return TypeError
    if symbol in COMPARISONS:
        return (common, common), n.Boolean
    if symbol == "/":
        common = quotient_type(common)
    elif common is n.Boolean and symbol not in BITWISE:
        common = n.Int32
    return (common, common), common


def case(symbol: str, lhs: Any, rhs: Any, *, at_run_time: bool = False) -> Case:
    """One cell of the table. `%`, and `//` of floats, follow Python only where both numbers are known while tracing."""
    types = _types_of(symbol, lhs, rhs)
    function = OPERATORS[symbol]
    if isinstance(types, type):
        return Case(symbol, function, lhs, rhs, error=types)
    operand_types, result = types
    samples: list[tuple[Number, Number]] = []
    expected: list[Number] = []
    for pair in product(samples_of(lhs), samples_of(rhs)):
        value = _evaluate(symbol, operand_types, result, pair, at_run_time)
        if value is not None:
            samples.append(pair)
            expected.append(value)
    return Case(symbol, function, lhs, rhs, result, tuple(samples), tuple(expected))


def cases() -> Iterator[Case]:
    """Every operator on every pair of types: no cell is left out."""
    for symbol, lhs, rhs in product(OPERATORS, TYPES, TYPES):
        yield case(symbol, lhs, rhs)


def same(got: Number, wanted: Number, *, tolerance: float = 0.0) -> bool:
    """Equal, both NaN, or within a relative tolerance; the sign of zero does not count."""
    if isinstance(wanted, float) and math.isnan(wanted):
        return math.isnan(got)
    return got == wanted or (tolerance > 0 and math.isclose(got, wanted, rel_tol=tolerance))
