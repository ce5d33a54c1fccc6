"""What an operation does for each pair of operand formats: decided once, then looked up.

An :class:`Operation` is a row of facts: the IR operation for signed integers, unsigned integers and
floats, and how to fold each. Its :class:`Plan` for two formats says what to convert the operands to, what
to emit and what comes out. Operators run thousands of times in a trace, so a plan is built on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from flydsl.base.errors import DslTypeError
from flydsl.base.records import dataclass, field
from flydsl.expr.numbers import numeric_types as nt
from flydsl.expr.numbers.convert import convert_static, emit_convert, type_text
from flydsl.expr.numbers.fastmath import Flags, flag_attrs
from flydsl.expr.numbers.fold import Fold, Number, normalise
from flydsl.expr.numbers.numeric_types import NumberFormat
from flydsl.expr.numbers.promotion import counted, promote, require_integer
from flydsl.expr.trace.context import Value, current

Recipe: TypeAlias = "Callable[[Any, Any], Any | None]"
"""Builds the result from other operators on two converted operands; None means emit the plain operation."""

IR: TypeAlias = "tuple[str, Fold]"
"""An operation's IR name and how it folds."""


@dataclass(frozen=True, eq=False, slots=True)
class Plan:
    """An operation on one pair of formats."""

    lhs: NumberFormat
    """What the left operand is converted to; `rhs` likewise."""
    rhs: NumberFormat
    produced: NumberFormat
    """What the IR operation yields, before conversion to `result`."""
    result: NumberFormat
    name: str
    fold: Fold
    takes_fastmath: bool = False
    attrs: Mapping[str, Any] | None = None
    recipe: Recipe | None = None
    common: NumberFormat | None = None
    """The operands' common format, where it differs from the one computed in: they pass through it."""

    @property
    def folds_by_recipe(self) -> bool:
        """A float recipe rounds after each of its steps, so folding must take the same steps."""
        return self.recipe is not None and self.lhs.is_float

    def fold_values(self, lhs: Number, rhs: Number) -> Number:
        """Fold two static values already in the plan's operand formats."""
        value = normalise(self.produced, self.fold(self.lhs, lhs, rhs))
        return value if self.produced is self.result else convert_static(self.produced, self.result, value)

    def emit(self, lhs: Value, rhs: Value, lanes: int | None, flags: Flags = None) -> Value:
        """Emit on operands already in the plan's operand formats."""
        attrs = self.attrs
        if self.takes_fastmath and (extra := flag_attrs(flags)):
            attrs = {**attrs, **extra} if attrs else extra
        value = current().op(self.name, (lhs, rhs), type_text(self.produced, lanes), attrs)
        return value if self.produced is self.result else emit_convert(value, self.produced, self.result, lanes)


def _wrong_domain(symbol: str, fmt: NumberFormat) -> DslTypeError:
    """Return the error for an operation that its table row does not offer for this format."""
    require_integer(symbol, fmt)
    return DslTypeError(f"`{symbol}` works on floats, not on {fmt}", hint="convert with .to(fx.Float32)")


Planner: TypeAlias = "Callable[[Operation, NumberFormat, NumberFormat], Plan]"


@dataclass(eq=False, slots=True)
class Operation:
    """A binary operation: its facts, and its plans by operand formats."""

    symbol: str
    signed: IR | None = None
    unsigned: IR | None = None
    floating: IR | None = None
    int_recipe: Recipe | None = None
    float_recipe: Recipe | None = None
    planner: Planner | None = None
    plans: dict[tuple[NumberFormat, NumberFormat], Plan] = field(default_factory=dict)

    def plan(self, lhs: NumberFormat, rhs: NumberFormat) -> Plan:
        key = (lhs, rhs)
        found = self.plans.get(key)
        if found is None:
            found = self.plans[key] = (self.planner or plan_arithmetic)(self, lhs, rhs)
        return found

    def lookup(self, fmt: NumberFormat) -> IR:
        """Return the IR operation for operands of a format."""
        found = self.floating if fmt.is_float else self.signed if fmt.signed else self.unsigned
        if found is None:
            raise _wrong_domain(self.symbol, fmt)
        return found


UnaryFold: TypeAlias = "Callable[[NumberFormat, Number], Number]"
UnaryIR: TypeAlias = "tuple[str, UnaryFold]"


@dataclass(frozen=True, eq=False, slots=True)
class UnaryPlan:
    """An operation on one value of one format."""

    operand: NumberFormat
    result: NumberFormat
    name: str
    fold: UnaryFold
    takes_fastmath: bool

    def fold_value(self, value: Number) -> Number:
        """Fold a static value already in the operand format."""
        folded = normalise(self.operand, self.fold(self.operand, value))
        return convert_static(self.operand, self.result, folded)

    def emit(self, value: Value, lanes: int | None, flags: Flags = None) -> Value:
        attrs = flag_attrs(flags) if self.takes_fastmath else None
        value = current().op(self.name, (value,), type_text(self.operand, lanes), attrs)
        return value if self.operand is self.result else emit_convert(value, self.operand, self.result, lanes)


@dataclass(eq=False, slots=True)
class UnaryOperation:
    """A unary operation whose result has the operand's type: its facts, and its plans by format."""

    symbol: str
    integer: UnaryIR | None = None
    floating: UnaryIR | None = None
    plans: dict[NumberFormat, UnaryPlan] = field(default_factory=dict)

    def plan(self, fmt: NumberFormat) -> UnaryPlan:
        found = self.plans.get(fmt)
        if found is None:
            found = self.plans[fmt] = self._build(fmt)
        return found

    def _build(self, fmt: NumberFormat) -> UnaryPlan:
        facts = self.floating if fmt.is_float else self.integer
        if facts is None:
            raise _wrong_domain(self.symbol, fmt)
        return UnaryPlan(compute_format(fmt), fmt, facts[0], facts[1], fmt.is_float)


def compute_format(fmt: NumberFormat) -> NumberFormat:
    """Return where arithmetic of a format happens: float32 for floats narrower than any hardware adds."""
    return nt.FLOAT32 if fmt.is_narrow_float else fmt


def plan_common(op: Operation, common: NumberFormat) -> Plan:
    """Both operands and the result in one format."""
    name, fold = op.lookup(common)
    compute = compute_format(common)
    recipe = op.float_recipe if common.is_float else op.int_recipe
    through = None if compute is common else common
    return Plan(compute, compute, compute, common, name, fold, common.is_float, None, recipe, through)


def plan_arithmetic(op: Operation, lhs: NumberFormat, rhs: NumberFormat) -> Plan:
    """Return the common format; a Boolean counts as Int32, which can hold a sum of many."""
    return plan_common(op, promote(counted(lhs), counted(rhs)))


def plan_bitwise(op: Operation, lhs: NumberFormat, rhs: NumberFormat) -> Plan:
    """Integers only; two Booleans stay Boolean."""
    return plan_common(op, require_integer(op.symbol, promote(lhs, rhs)))


def plan_in_place(op: Operation, lhs: NumberFormat, rhs: NumberFormat) -> Plan:
    """Return the common format, Booleans included: for builders named after one IR operation."""
    return plan_common(op, promote(lhs, rhs))


def plan_comparison(op: Operation, lhs: NumberFormat, rhs: NumberFormat) -> Plan:
    """Compared in the common format; the result is Boolean. `lookup` gives a predicate here."""
    common = promote(lhs, rhs)
    predicate, fold = op.lookup(common)
    compute = compute_format(common)
    name = "arith.cmpf" if common.is_float else "arith.cmpi"
    through = None if compute is common else common
    attrs = {"predicate": predicate}
    return Plan(compute, compute, nt.BOOLEAN, nt.BOOLEAN, name, fold, common.is_float, attrs, None, through)
