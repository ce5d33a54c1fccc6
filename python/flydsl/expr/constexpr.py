"""Constexpr: parameters whose value is part of the compiled code."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

from flydsl.base.errors import DslRuntimeError, DslTypeError
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


def constexpr_key(value: Any) -> Any:
    """A hashable stand-in that tells values of different types apart (True, 1 and 1.0 are three)."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return (type(value).__name__, repr(value) if isinstance(value, float) else value)
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, tuple(constexpr_key(item) for item in value))
    if isinstance(value, FunctionType):
        if value.__closure__:
            raise DslTypeError(
                "a Constexpr function must not capture variables", hint="pass what it needs as arguments"
            )
        defaults = (value.__defaults__ or (), tuple((value.__kwdefaults__ or {}).items()))
        return ("function", value.__module__, value.__code__, constexpr_key(defaults))
    if isinstance(value, type):
        return ("type", value)
    try:
        hash(value)
    except TypeError:
        raise DslTypeError(
            f"a Constexpr must be an int, bool, float, str, type or tuple of these, got {type(value).__name__}",
            hint="annotate a run-time argument with the type of its values, such as fx.Tensor or fx.Int32",
        ) from None
    return (type(value).__name__, value)


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
