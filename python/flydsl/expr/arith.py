"""The `arith` functions: builders by IR name, and a few that choose the operation by type.

A builder takes DSL values, raw values and Python numbers, brings both operands to their common type, folds when
both are static, and returns a DSL value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.base.lazy import offered
from flydsl.base.records import replace
from flydsl.expr.enum import CmpFPredicate as CmpFPredicate
from flydsl.expr.enum import CmpIPredicate as CmpIPredicate
from flydsl.expr.enum import FastMathFlags, RoundingMode
from flydsl.expr.numbers import fold, operators
from flydsl.expr.numbers.fastmath import Flags, fastmath
from flydsl.expr.numbers.fold import DslOverflowError, Fold
from flydsl.expr.numbers.math_table import NEGF
from flydsl.expr.numbers.numeric_types import NumberFormat
from flydsl.expr.numbers.plan import Operation, Plan, plan_in_place
from flydsl.expr.numeric import Boolean, Index, Numeric, is_raw_value
from flydsl.expr.trace.context import Value, as_seen_outside, current
from flydsl.expr.values.casts import bitcast as bitcast
from flydsl.expr.values.casts import element_class, is_type
from flydsl.expr.values.casts import ext_f as ext_f
from flydsl.expr.values.casts import extf as extf
from flydsl.expr.values.casts import extsi as extsi
from flydsl.expr.values.casts import extui as extui
from flydsl.expr.values.casts import fptosi as fptosi
from flydsl.expr.values.casts import fptoui as fptoui
from flydsl.expr.values.casts import index_cast as index_cast
from flydsl.expr.values.casts import index_castui as index_castui
from flydsl.expr.values.casts import sitofp as sitofp
from flydsl.expr.values.casts import trunc_f as trunc_f
from flydsl.expr.values.casts import truncf as truncf
from flydsl.expr.values.casts import trunci as trunci
from flydsl.expr.values.casts import uitofp as uitofp
from flydsl.expr.values.comparison import cmpf, cmpi
from flydsl.expr.values.ir_types import split_vector_type
from flydsl.expr.values.vector_value import Vector, combine, required_operand, vector_operand

Builder: TypeAlias = Callable[[Any, Any], Any]
FloatBuilder: TypeAlias = Callable[..., Any]


def _integer_builder(name: str, folding: Fold) -> Builder:
    """Return a builder whose name decides the operation, whatever sign the operands' classes have."""
    facts = (f"arith.{name}", folding)
    op = Operation(name, signed=facts, unsigned=facts, planner=plan_in_place)

    def build(lhs: Any, rhs: Any) -> Any:
        return combine(op, lhs, rhs)

    build.__name__ = build.__qualname__ = name
    return build


def _float_builder(op: Operation) -> FloatBuilder:
    def build(lhs: Any, rhs: Any, *, fastmath: Flags = None) -> Any:
        return combine(op, lhs, rhs, fastmath)

    build.__name__ = build.__qualname__ = op.symbol
    build.__doc__ = f"`arith.{op.symbol}` of numbers or vectors, element by element."
    return build


addi = _integer_builder("addi", fold.add)
subi = _integer_builder("subi", fold.sub)
muli = _integer_builder("muli", fold.mul)
divsi = _integer_builder("divsi", fold.divsi)
divui = _integer_builder("divui", fold.divui)
remsi = _integer_builder("remsi", fold.remsi)
remui = _integer_builder("remui", fold.remui)
floordivsi = _integer_builder("floordivsi", fold.floordivsi)
ceildivsi = _integer_builder("ceildivsi", fold.ceildivsi)
ceildivui = _integer_builder("ceildivui", fold.ceildivui)
andi = _integer_builder("andi", fold.and_)
ori = _integer_builder("ori", fold.or_)
xori = _integer_builder("xori", fold.xor)
shli = _integer_builder("shli", fold.shl)
shrsi = _integer_builder("shrsi", fold.shrsi)
maxsi = _integer_builder("maxsi", fold.maxsi)
maxui = _integer_builder("maxui", fold.maxui)
minsi = _integer_builder("minsi", fold.minsi)
minui = _integer_builder("minui", fold.minui)

addf = _float_builder(operators.ADDF)
subf = _float_builder(operators.SUBF)
mulf = _float_builder(operators.MULF)
divf = _float_builder(operators.DIVF)
remf = _float_builder(operators.REMF)
maximumf = _float_builder(operators.MAXIMUMF)
minimumf = _float_builder(operators.MINIMUMF)
maxnumf = _float_builder(operators.MAXNUMF)
minnumf = _float_builder(operators.MINNUMF)


def negf(value: Any, *, fastmath: Flags = None) -> Any:
    return required_operand(value)._unary(NEGF, fastmath)


def shrui(value: Any, amount: Any, *, is_exact: bool = False) -> Any:
    """Shift right, filling with zeros. `is_exact` promises that no set bit is shifted out."""
    return combine(_SHRU_EXACT if is_exact else operators.SHRU, value, amount)


def _plan_exact_shift(op: Operation, lhs: NumberFormat, rhs: NumberFormat) -> Plan:
    return replace(operators.SHRU.plan(lhs, rhs), attrs={"isExact": True})


_SHRU_EXACT = Operation("shrui", planner=_plan_exact_shift)


def _flatten(values: Sequence[Any]) -> list[Any]:
    flat: list[Any] = []
    for value in values:
        flat.extend(_flatten(value) if isinstance(value, (list, tuple)) else [value])
    return flat


def _fold_many(op: Operation, values: Sequence[Any], flags: Flags) -> Any:
    flat = _flatten(values)
    if not flat:
        raise DslValueError(f"{op.symbol} needs at least one operand")
    result: Any = required_operand(flat[0])
    for value in flat:
        fmt = required_operand(value).dtype.format
        if fmt.is_index:
            raise DslTypeError(f"{op.symbol} does not support Index", hint="convert with .to(fx.Int64)")
        if fmt.is_float and fmt.width < 16:
            raise DslTypeError(
                f"{op.symbol} does not support {fmt}, a narrow storage float", hint="convert with .to(fx.Float32)"
            )
    for value in flat[1:]:
        result = combine(op, result, value, flags)
    return result


def max(*operands: Any, fastmath: Flags = None) -> Any:
    """Return the largest operand; NaN if any is NaN. Lists count as their elements."""
    return _fold_many(operators.MAXIMUM, operands, fastmath)


def min(*operands: Any, fastmath: Flags = None) -> Any:
    """Return the smallest operand; NaN if any is NaN. Lists count as their elements."""
    return _fold_many(operators.MINIMUM, operands, fastmath)


_CEILDIV = Operation(
    "ceildiv", signed=("arith.ceildivsi", fold.ceildivsi), unsigned=("arith.ceildivui", fold.ceildivui)
)


def ceildiv(lhs: Any, rhs: Any) -> Any:
    """Return the quotient of two integers, rounded up."""
    a, b = required_operand(lhs), required_operand(rhs)
    for value in (a, b):
        fmt = value.dtype.format
        if fmt.is_boolean or fmt.is_index or fmt.is_float:
            why = "does not support Boolean" if fmt.is_boolean else "requires integer operands"
            raise DslTypeError(f"ceildiv {why}, got {fmt}", hint="convert with .to(fx.Int32)")
    if isinstance(b, Numeric) and b.is_static():
        if b.value == 0:
            raise fold.DslZeroDivisionError("ceildiv by zero")
        if isinstance(a, Numeric) and a.is_static() and b.value == -1:
            _check_negation(a, _CEILDIV.plan(a.dtype.format, b.dtype.format).result.width)
    return a.combine(_CEILDIV, b)


def _check_negation(value: Numeric, width: int) -> None:
    if value.value == -(1 << (width - 1)):
        raise DslOverflowError(f"ceildiv({value.value}, -1) does not fit {width} bits")


def constant(value: Any, type: Any = None, *, index: bool = False) -> Any:
    """Return a constant of an IR type or number class; static, so it still folds. A vector type gives a splat."""
    if is_type(value):
        value, type = type, value
    if index:
        return Index(value)
    if type is None:
        return required_operand(value)
    lanes = split_vector_type(str(type))[0] if isinstance(type, str) else getattr(type, "lanes", None)
    dtype = element_class(type)
    return dtype(value) if lanes is None else Vector.filled(lanes, value, dtype)


def constant_vector(value: Any, type: Any) -> Vector:
    """Return a vector of a vector type with `value` in every lane."""
    result = constant(value, type)
    if not isinstance(result, Vector):
        raise DslTypeError(f"{type} is not a vector type", hint="build one with T.vec(lanes, element)")
    return result


def index(value: Any) -> Index:
    """Return an Index, converted from an integer."""
    return Index(value)


def select(condition: Any, true_value: Any, false_value: Any) -> Any:
    """`true_value` where the condition holds, else `false_value`. Raw values of one type pass through raw."""
    mask: Any = required_operand(condition)
    if is_raw_value(true_value) and vector_operand(true_value) is None:
        operands = [Boolean(mask).ir_value(), *(getattr(x, "__dsl_ssa__", x) for x in (true_value, false_value))]
        return as_seen_outside(current().op("arith.select", operands, current().type_name(true_value)))
    return (mask if mask.dtype is Boolean else mask != 0).select(true_value, false_value)


def unwrap(value: Any, *, type: Any = None, index: bool = False) -> Value:
    """Return the raw IR value of a DSL value or Python number; `type` or `index` says what a number becomes."""
    if isinstance(value, (bool, int, float)):
        value = constant(value, type, index=index)
    found = value.ir_value() if hasattr(value, "ir_value") else value
    return as_seen_outside(found, getattr(value, "signed", None))


def __getattr__(name: str) -> Any:
    """Names that few kernels ask for: those of raw values, `AddFOp` and the other classes of the dialect, casts."""
    if name in ("ArithValue", "_to_raw") or name.endswith("Op"):
        return offered("the raw layer", name)
    found = None if name.startswith("_") else offered("arithmetic by type", name)
    if found is None:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'", name=name)
    return found


__all__ = [
    "FastMathFlags",
    "RoundingMode",
    "ceildiv",
    "cmpf",
    "cmpi",
    "fastmath",
    "max",
    "maximumf",
    "maxnumf",
    "min",
    "minimumf",
    "shrui",
]
"""What `import *` gives: the rest is reached as `arith.addi`, since short names mean other things elsewhere."""
