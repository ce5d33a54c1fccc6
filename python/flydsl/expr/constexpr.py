"""Constexpr: parameters whose value is part of the compiled code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from flydsl.base.errors import DslRuntimeError
from flydsl.expr.numeric import Numeric

T = TypeVar("T")


if TYPE_CHECKING:
    Constexpr = Annotated[T, "known while tracing"]  # inside the function it is the Python value itself
else:

    class Constexpr(Generic[T]):
        """Annotation of a compile-time parameter: ``block: fx.Constexpr[int]``."""


def is_constexpr(annotation: Any) -> bool:
    """Whether an annotation makes its parameter compile-time."""
    origin = getattr(annotation, "__origin__", annotation)
    return origin is Constexpr or origin is type or annotation is type


def const_expr(value: T) -> T:
    """Mark a condition as known while tracing. A run-time value is refused."""
    if isinstance(value, Numeric) and not value.is_static():
        raise DslRuntimeError(
            f"const_expr() is for values known while tracing, got a run-time {type(value)}",
            hint="drop const_expr for a run-time branch or loop, or pass the value as fx.Constexpr to compile for it",
        )
    return value


def range_constexpr(*args: Any) -> range:
    """A Python range: the loop is unrolled while tracing."""
    for value in args:
        if isinstance(value, Numeric) and not value.is_static():
            raise DslRuntimeError(
                f"range_constexpr() is unrolled while tracing, so its bounds cannot be a run-time {type(value)}",
                hint="write range(...) for a run-time loop, or pass the bound as fx.Constexpr to compile per value",
            )
    return range(*[int(a) for a in args])
