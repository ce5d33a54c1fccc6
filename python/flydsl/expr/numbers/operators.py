"""The operators: one table of operations, and the mixin that gives them Python's spelling.

Scalars and vectors both inherit :class:`Operators` and supply `_apply` and `_unary`; neither repeats an
operator. `division.py` says how quotients and remainders of negative numbers are rounded.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar, TypedDict

from flydsl.base.errors import DslTypeError
from flydsl.base.records import replace
from flydsl.expr.numbers import division, fold
from flydsl.expr.numbers import numeric_types as nt
from flydsl.expr.numbers.fastmath import Flags
from flydsl.expr.numbers.fold import Fold, Number
from flydsl.expr.numbers.math_table import ABS, EXP2, NEGF
from flydsl.expr.numbers.numeric_types import NumberFormat
from flydsl.expr.numbers.plan import (
    IR,
    Operation,
    Plan,
    UnaryOperation,
    compute_format,
    plan_arithmetic,
    plan_bitwise,
    plan_common,
    plan_comparison,
)
from flydsl.expr.numbers.promotion import promote, quotient_format, require_integer
from flydsl.expr.values.foreign import NoForeignFunctions


def _plan_quotient(op: Operation, lhs: NumberFormat, rhs: NumberFormat) -> Plan:
    return plan_common(op, quotient_format(lhs, rhs))


def _plan_floor(op: Operation, lhs: NumberFormat, rhs: NumberFormat) -> Plan:
    """Floats under 32 bits divide in float32: a quotient near the end of their precision has no exact neighbour."""
    plan = plan_arithmetic(op, lhs, rhs)
    if not plan.result.is_float or plan.result.width >= 32:
        return plan
    return replace(plan, lhs=nt.FLOAT32, rhs=nt.FLOAT32, produced=nt.FLOAT32, common=plan.result)


def _plan_power(op: Operation, lhs: NumberFormat, rhs: NumberFormat) -> Plan:
    """float ** small integer keeps the float's type; otherwise the common type decides."""
    if lhs.is_float and rhs.is_integer and rhs.width <= 32 and (rhs.signed or rhs.width < 32):
        compute = compute_format(lhs)
        return Plan(compute, nt.INT32, compute, lhs, "math.fpowi", fold.powf, True)
    return plan_arithmetic(op, lhs, rhs)


class _SignBlind(TypedDict):
    signed: IR
    unsigned: IR


def _sign_blind(name: str, folding: Fold) -> _SignBlind:
    return {"signed": (name, folding), "unsigned": (name, folding)}


ADD = Operation("+", **_sign_blind("arith.addi", fold.add), floating=("arith.addf", fold.add))
SUB = Operation("-", **_sign_blind("arith.subi", fold.sub), floating=("arith.subf", fold.sub))
MUL = Operation("*", **_sign_blind("arith.muli", fold.mul), floating=("arith.mulf", fold.mul))
TRUEDIV = Operation("/", floating=("arith.divf", fold.divf), planner=_plan_quotient)
REM = division.REM
FLOORDIV = Operation(
    "//",
    signed=("arith.floordivsi", fold.floordiv),
    unsigned=("arith.divui", fold.floordiv),
    floating=("arith.divf", fold.divf),
    int_recipe=division.divide_integers,
    float_recipe=division.floor_divide_floats,
    planner=_plan_floor,
)
MOD = Operation(
    "%",
    signed=("arith.remsi", fold.floormod),
    unsigned=("arith.remui", fold.floormod),
    floating=("arith.remf", fold.remf),
    int_recipe=division.remainder_of_integers,
    float_recipe=division.remainder_of_floats,
    planner=_plan_floor,
)
QUOTIENT = replace(FLOORDIV, float_recipe=division.quotient_of_floats, plans={})
LEFT_OVER = replace(MOD, int_recipe=division.left_over_of_integers, float_recipe=division.left_over_of_floats, plans={})
"""What `divmod` gives."""
IPOWI = Operation("power", **_sign_blind("math.ipowi", fold.ipowi))


def _power_of_unsigned(lhs: Any, rhs: Any) -> Any | None:
    """Return the square of the power by half the exponent: `math.ipowi` takes an exponent's highest bit for a sign."""
    dtype = rhs.dtype
    if dtype.signed or (rhs.is_static() and fold.signed(dtype.format, rhs.value) >= 0):
        return None
    one = dtype(1)
    half = lhs.combine(IPOWI, rhs >> one)
    odd = (rhs & one).combine(EQ, one)
    return half * half * odd.select(lhs, one)


POW = Operation(
    "**",
    **_sign_blind("math.ipowi", fold.ipowi),
    floating=("math.powf", fold.powf),
    int_recipe=_power_of_unsigned,
    planner=_plan_power,
)


def _plan_shift(op: Operation, lhs: NumberFormat, rhs: NumberFormat) -> Plan:
    common = promote(lhs, rhs)
    return plan_bitwise(op, nt.INT32, nt.INT32) if common.is_boolean else plan_bitwise(op, lhs, rhs)


SHL = Operation("<<", **_sign_blind("arith.shli", fold.shl), planner=_plan_shift)
SHR = Operation(">>", signed=("arith.shrsi", fold.shrsi), unsigned=("arith.shrui", fold.shrui), planner=_plan_shift)
SHRU = Operation("shrui", **_sign_blind("arith.shrui", fold.shrui), planner=_plan_shift)
AND = Operation("&", **_sign_blind("arith.andi", fold.and_), planner=plan_bitwise)
OR = Operation("|", **_sign_blind("arith.ori", fold.or_), planner=plan_bitwise)
XOR = Operation("^", **_sign_blind("arith.xori", fold.xor), planner=plan_bitwise)

MAXIMUM = Operation(
    "max",
    signed=("arith.maxsi", fold.maxsi),
    unsigned=("arith.maxui", fold.maxui),
    floating=("arith.maximumf", fold.maximumf),
    planner=plan_arithmetic,
)
MINIMUM = Operation(
    "min",
    signed=("arith.minsi", fold.minsi),
    unsigned=("arith.minui", fold.minui),
    floating=("arith.minimumf", fold.minimumf),
    planner=plan_arithmetic,
)


def _comparison(symbol: str, suffix: str, ordered: str, compare: Callable[[Any, Any], bool]) -> Operation:
    def folded(fmt: NumberFormat, a: Number, b: Number) -> Number:
        return int(compare(a, b))

    signless = suffix in ("eq", "ne")
    return Operation(
        symbol,
        signed=(suffix if signless else f"s{suffix}", folded),
        unsigned=(suffix if signless else f"u{suffix}", folded),
        floating=(ordered, folded),
        planner=plan_comparison,
    )


EQ = _comparison("==", "eq", "oeq", operator.eq)
# NaN differs from everything, itself included: the one unordered predicate, as in Python.
NE = _comparison("!=", "ne", "une", operator.ne)
LT = _comparison("<", "lt", "olt", operator.lt)
LE = _comparison("<=", "le", "ole", operator.le)
GT = _comparison(">", "gt", "ogt", operator.gt)
GE = _comparison(">=", "ge", "oge", operator.ge)


def _float_only(symbol: str, name: str, folding: Fold) -> Operation:
    return Operation(symbol, floating=(name, folding))


ADDF = _float_only("addf", "arith.addf", fold.add)
SUBF = _float_only("subf", "arith.subf", fold.sub)
MULF = _float_only("mulf", "arith.mulf", fold.mul)
DIVF = _float_only("divf", "arith.divf", fold.divf)
REMF = _float_only("remf", "arith.remf", fold.remf)
MAXIMUMF = _float_only("maximumf", "arith.maximumf", fold.maximumf)
MINIMUMF = _float_only("minimumf", "arith.minimumf", fold.minimumf)
MAXNUMF = _float_only("maxnumf", "arith.maxnumf", fold.maxnumf)
MINNUMF = _float_only("minnumf", "arith.minnumf", fold.minnumf)


class Operators(NoForeignFunctions):
    """Python's operators over three primitives that scalars and vectors each define."""

    __slots__ = ()

    shuffled: ClassVar[Callable[[Any, Any, Any], Any]]
    """`fx.gpu.shuffle_xor`, which is made of numbers and puts itself here."""

    @property
    def dtype(self) -> Any:
        """The number class of the value or of its elements."""
        raise NotImplementedError

    @property
    def type(self) -> Any:
        """The IR type, under the name raw values have it."""
        return self.ir_type  # type: ignore[attr-defined]

    def _apply(self, op: Operation, other: Any, flags: Flags = None) -> Any:
        """`self op other`; NotImplemented when `other` is no operand."""
        raise NotImplementedError

    def _reflect(self, op: Operation, other: Any, flags: Flags = None) -> Any:
        """`other op self`; NotImplemented when `other` is no operand."""
        raise NotImplementedError

    def _unary(self, op: UnaryOperation, flags: Flags = None) -> Any:
        raise NotImplementedError

    def combine(self, op: Operation, other: Any, flags: Flags = None) -> Any:
        """`self op other`, for calls by name: an operand of the wrong type is an error here."""
        result = self._apply(op, other, flags)
        if result is NotImplemented and isinstance(other, Operators):
            result = other._reflect(op, self, flags)
        if result is NotImplemented:
            raise DslTypeError(f"`{op.symbol}` cannot take {other!r} as an operand")
        return result

    def __add__(self, other: Any) -> Any:
        return self._apply(ADD, other)

    def __radd__(self, other: Any) -> Any:
        return self._reflect(ADD, other)

    def __sub__(self, other: Any) -> Any:
        return self._apply(SUB, other)

    def __rsub__(self, other: Any) -> Any:
        return self._reflect(SUB, other)

    def __mul__(self, other: Any) -> Any:
        return self._apply(MUL, other)

    def __rmul__(self, other: Any) -> Any:
        return self._reflect(MUL, other)

    def __truediv__(self, other: Any) -> Any:
        return self._apply(TRUEDIV, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._reflect(TRUEDIV, other)

    def __floordiv__(self, other: Any) -> Any:
        return self._apply(FLOORDIV, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._reflect(FLOORDIV, other)

    def __mod__(self, other: Any) -> Any:
        return self._apply(MOD, other)

    def __rmod__(self, other: Any) -> Any:
        return self._reflect(MOD, other)

    def __divmod__(self, other: Any) -> Any:
        quotient = self._apply(QUOTIENT, other)
        return quotient if quotient is NotImplemented else (quotient, self._apply(LEFT_OVER, other))

    def __rdivmod__(self, other: Any) -> Any:
        quotient = self._reflect(QUOTIENT, other)
        return quotient if quotient is NotImplemented else (quotient, self._reflect(LEFT_OVER, other))

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        return self._apply(POW, other) if modulus is None else NotImplemented

    def __rpow__(self, other: Any) -> Any:
        return self._reflect(POW, other)

    def __lshift__(self, other: Any) -> Any:
        return self._apply(SHL, other)

    def __rlshift__(self, other: Any) -> Any:
        return self._reflect(SHL, other)

    def __rshift__(self, other: Any) -> Any:
        return self._apply(SHR, other)

    def __rrshift__(self, other: Any) -> Any:
        return self._reflect(SHR, other)

    def __and__(self, other: Any) -> Any:
        return self._apply(AND, other)

    def __rand__(self, other: Any) -> Any:
        return self._reflect(AND, other)

    def __or__(self, other: Any) -> Any:
        return self._apply(OR, other)

    def __ror__(self, other: Any) -> Any:
        return self._reflect(OR, other)

    def __xor__(self, other: Any) -> Any:
        return self._apply(XOR, other)

    def __rxor__(self, other: Any) -> Any:
        return self._reflect(XOR, other)

    def __eq__(self, other: object) -> Any:
        return self._apply(EQ, other)

    def __ne__(self, other: object) -> Any:
        return self._apply(NE, other)

    def __lt__(self, other: Any) -> Any:
        return self._apply(LT, other)

    def __le__(self, other: Any) -> Any:
        return self._apply(LE, other)

    def __gt__(self, other: Any) -> Any:
        return self._apply(GT, other)

    def __ge__(self, other: Any) -> Any:
        return self._apply(GE, other)

    def __pos__(self) -> Any:
        return self

    def __neg__(self) -> Any:
        dtype = self._arithmetic_dtype("-")
        return self._unary(NEGF) if dtype.is_float else self._reflect(SUB, dtype(0))

    def __abs__(self) -> Any:
        dtype = self._arithmetic_dtype("abs")
        return self._unary(ABS) if dtype.signed else self

    def __invert__(self) -> Any:
        require_integer("~", self.dtype.format)
        return self._apply(XOR, self.dtype(-1))

    def _arithmetic_dtype(self, symbol: str) -> Any:
        if self.dtype.format.is_boolean:
            raise DslTypeError(f"`{symbol}` has no meaning for a Boolean", hint="negate a condition with `~` or `not`")
        return self.dtype

    # Redefining __eq__ drops the inherited __hash__; each subclass says what it hashes by.
    __hash__ = None  # type: ignore[assignment]

    def addf(self, other: Any, *, fastmath: Flags = None) -> Any:
        return self.combine(ADDF, other, fastmath)

    def subf(self, other: Any, *, fastmath: Flags = None) -> Any:
        return self.combine(SUBF, other, fastmath)

    def mulf(self, other: Any, *, fastmath: Flags = None) -> Any:
        return self.combine(MULF, other, fastmath)

    def divf(self, other: Any, *, fastmath: Flags = None) -> Any:
        return self.combine(DIVF, other, fastmath)

    def maximumf(self, other: Any, *, fastmath: Flags = None) -> Any:
        """Return the larger; NaN if either is NaN."""
        return self.combine(MAXIMUMF, other, fastmath)

    def minimumf(self, other: Any, *, fastmath: Flags = None) -> Any:
        """Return the smaller; NaN if either is NaN."""
        return self.combine(MINIMUMF, other, fastmath)

    def maxnumf(self, other: Any, *, fastmath: Flags = None) -> Any:
        """Return the larger; a NaN operand loses to a number."""
        return self.combine(MAXNUMF, other, fastmath)

    def minnumf(self, other: Any, *, fastmath: Flags = None) -> Any:
        """Return the smaller; a NaN operand loses to a number."""
        return self.combine(MINNUMF, other, fastmath)

    def shrui(self, amount: Any) -> Any:
        """Shift right, filling with zeros whatever the sign of the type."""
        return self.combine(SHRU, amount)

    def exp2(self, *, fastmath: Flags = None) -> Any:
        return self._unary(EXP2, fastmath)

    def shuffle_xor(self, offset: Any, width: Any) -> Any:
        """Return the value of lane k ^ offset: `fx.gpu.shuffle_xor` of this."""
        return type(self).shuffled(self, offset, width)
