"""Constexpr: parameters whose value is part of the compiled code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from flydsl.base.errors import DslRuntimeError
from flydsl.expr.numeric import Numeric, is_raw_value, operand
from flydsl.expr.values.known import plain, shown

T = TypeVar("T")


if TYPE_CHECKING:
    Constexpr = Annotated[T, "known while tracing"]  # inside the function it is the Python value itself
else:

    class Constexpr(Generic[T]):
        """Annotation of a compile-time parameter: ``block: fx.Constexpr[int]``."""


def is_constexpr(annotation: Any) -> bool:
    """Return whether an annotation makes its parameter compile-time."""
    origin = getattr(annotation, "__origin__", annotation)
    return origin is Constexpr or origin is type or annotation is type


def const_expr(value: T) -> T:
    """Mark a condition as known while tracing. A run-time value is refused."""
    if _is_raw(value):
        value = plain(value)
    if _is_unknown(value):
        raise DslRuntimeError(
            f"const_expr() is for values known while tracing, got {_named(value)}",
            hint="drop const_expr for a run-time branch or loop, or pass the value as fx.Constexpr to compile for it",
        )
    return value


def range_constexpr(*args: Any) -> range:
    """Return a Python range: the loop is unrolled while tracing."""
    bounds = [plain(value) if _is_raw(value) else value for value in args]
    for value in bounds:
        if _is_unknown(value):
            raise DslRuntimeError(
                f"range_constexpr() is unrolled while tracing, so its bounds cannot be {_named(value)}",
                hint="write range(...) for a run-time loop, or pass the bound as fx.Constexpr to compile per value",
            )
    return range(*[int(bound) for bound in bounds])


def _is_raw(value: Any) -> bool:
    """Return whether this is the raw value of a number: Python would count it as true whatever it holds."""
    return is_raw_value(value) and operand(value) is not None


def _is_unknown(value: Any) -> bool:
    number = operand(value) if hasattr(value, "__dsl_is_number__") else value
    return not number.is_static() if isinstance(number, Numeric) else _is_raw(value)


def _named(value: Any) -> str:
    return f"a run-time {type(value)}" if isinstance(value, Numeric) else shown(value)
