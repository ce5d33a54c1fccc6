"""Reductions by name: which `vector.reduction` kind each means for a number format."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.enum import ReductionOp
from flydsl.expr.numbers.numeric_types import NumberFormat


class CombiningKind(StrEnum):
    """The kinds of `vector.reduction`; `Vector.reduce` takes them beside a `ReductionOp`."""

    ADD = "add"
    MUL = "mul"
    MINUI = "minui"
    MINSI = "minsi"
    MINNUMF = "minnumf"
    MAXUI = "maxui"
    MAXSI = "maxsi"
    MAXNUMF = "maxnumf"
    AND = "and"
    OR = "or"
    XOR = "xor"
    MINIMUMF = "minimumf"
    MAXIMUMF = "maximumf"


# For floats, signed integers and unsigned integers; None where the reduction has no meaning. A maximum skips NaN and a
# minimum keeps it: kernels of the original rely on that.
_KINDS: dict[ReductionOp, tuple[str | None, str, str]] = {
    ReductionOp.ADD: ("add", "add", "add"),
    ReductionOp.MUL: ("mul", "mul", "mul"),
    ReductionOp.MAX: ("maxnumf", "maxsi", "maxui"),
    ReductionOp.MIN: ("minimumf", "minsi", "minui"),
    ReductionOp.MAXNUM: ("maxnumf", "maxsi", "maxui"),
    ReductionOp.MINNUM: ("minnumf", "minsi", "minui"),
    ReductionOp.AND: (None, "and", "and"),
    ReductionOp.OR: (None, "or", "or"),
    ReductionOp.XOR: (None, "xor", "xor"),
}
_BY_NAME = {op.value: op for op in ReductionOp}
_FLOAT_KINDS = frozenset(row[0] for row in _KINDS.values() if row[0]) | {"maximumf"}
_INTEGER_KINDS = frozenset(kind for row in _KINDS.values() for kind in row[1:])


def reduction_kind(op: ReductionOp | str | Any, fmt: NumberFormat) -> str:
    """Return the kind for an operation given as ReductionOp, its name, or the name of a kind itself."""
    name = op.value if isinstance(op, ReductionOp) else str(getattr(op, "name", op)).lower()
    if name in _BY_NAME:
        row = _KINDS[_BY_NAME[name]]
        kind = row[0] if fmt.is_float else row[1] if fmt.signed else row[2]
    else:
        kind = name if name in (_FLOAT_KINDS if fmt.is_float else _INTEGER_KINDS) else None
    if kind is not None:
        return kind
    if name in _BY_NAME or name in _FLOAT_KINDS | _INTEGER_KINDS:
        raise DslTypeError(f'a vector of {fmt} has no "{name}" reduction')
    raise DslValueError(f"unknown reduction {op!r}", hint=f"the reductions are: {' '.join(ReductionOp)}")
