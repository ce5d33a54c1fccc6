"""`cmpi` and `cmpf`: comparisons by predicate name, foldable like everything else."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.enum import CmpFPredicate, CmpIPredicate
from flydsl.expr.numbers import fold
from flydsl.expr.numbers.fastmath import Flags
from flydsl.expr.numbers.fold import Fold, Number
from flydsl.expr.numbers.numeric_types import NumberFormat
from flydsl.expr.numbers.plan import Operation, plan_comparison
from flydsl.expr.values.vector_value import combine

_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def _fold_cmpi(predicate: str) -> Fold:
    read = fold.unsigned if predicate.startswith("u") else fold.signed
    relation = _RELATIONS.get(predicate) or _RELATIONS[predicate[1:]]
    return lambda fmt, a, b: int(relation(read(fmt, a), read(fmt, b)))


def _fold_cmpf(predicate: str) -> Fold:
    if predicate in ("true", "false"):
        return lambda fmt, a, b: int(predicate == "true")
    unordered = predicate.startswith("u")
    relation = _RELATIONS.get(predicate[1:])

    def folded(fmt: NumberFormat, a: Number, b: Number) -> Number:
        if math.isnan(a) or math.isnan(b):
            return int(unordered)
        # "ord" and "uno" ask only whether a NaN is there.
        return int(relation(a, b)) if relation is not None else int(not unordered)

    return folded


def _integer(predicate: str) -> Operation:
    facts = (predicate, _fold_cmpi(predicate))
    return Operation(f"cmpi {predicate}", signed=facts, unsigned=facts, planner=plan_comparison)


def _floating(predicate: str) -> Operation:
    return Operation(f"cmpf {predicate}", floating=(predicate, _fold_cmpf(predicate)), planner=plan_comparison)


INTEGER_COMPARISONS: dict[str, Operation] = {p.value: _integer(p.value) for p in CmpIPredicate}
FLOAT_COMPARISONS: dict[str, Operation] = {p.value: _floating(p.value) for p in CmpFPredicate}


_EXAMPLES = {"cmpi": "CmpIPredicate.slt", "cmpf": "CmpFPredicate.olt"}


def _predicate_first(name: str, args: tuple[Any, Any, Any]) -> tuple[str, Any, Any]:
    """The predicate is the argument that is a string; kernels write it first or last."""
    first, second, third = args
    if isinstance(first, str):
        return str(first), second, third
    if isinstance(third, str):
        return str(third), first, second
    member = _EXAMPLES[name]
    raise DslTypeError(
        f"{name} needs a predicate",
        hint=f'write {name}({member}, a, b) or {name}("{member.partition(".")[2]}", a, b)',
    )


def _compare(name: str, table: dict[str, Operation], args: tuple[Any, Any, Any], flags: Flags) -> Any:
    predicate, lhs, rhs = _predicate_first(name, args)
    op = table.get(predicate.lower())
    if op is None:
        raise DslValueError(f"{name} has no predicate {predicate!r}", hint=f"the predicates are: {' '.join(table)}")
    return combine(op, lhs, rhs, flags)


def cmpi(predicate: Any, lhs: Any, rhs: Any) -> Any:
    """Compare integers by a named predicate, given first or last; the predicate decides the sign."""
    return _compare("cmpi", INTEGER_COMPARISONS, (predicate, lhs, rhs), None)


def cmpf(predicate: Any, lhs: Any, rhs: Any, *, fastmath: Flags = None) -> Any:
    """Compare floats by a named predicate, given first or last."""
    return _compare("cmpf", FLOAT_COMPARISONS, (predicate, lhs, rhs), fastmath)
