"""What `flyc.compile`, `flyc.export` and their like are given: a function and the arguments of a call of it.

The function is a jit function, a method that is one, or something that chooses a jit function's remaining arguments
itself, as a tuned function does. All come down to a `JitCall`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from flydsl.base.errors import DslTypeError
from flydsl.base.records import dataclass, field
from flydsl.compiler.jit_function import BoundJit, JitFunction
from flydsl.compiler.messages.diagnostics import calling_location


@dataclass(frozen=True)
class JitCall:
    """A jit function and the arguments of a call of it."""

    function: JitFunction
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    hints: Mapping[str, Any] = field(default_factory=dict)
    """Compile hints that were chosen with the arguments."""
    chosen: tuple[str, ...] = ()
    """Parameters whose values were chosen: the caller gave none."""


@runtime_checkable
class Choosing(Protocol):
    """A callable that stands before a jit function and chooses some of its arguments."""

    @property
    def fn(self) -> JitFunction: ...

    def jit_call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> JitCall:
        """Return the call that the jit function would make with these arguments."""
        ...

    def chosen_names(self) -> tuple[str, ...]:
        """Parameters that it chooses, in any call."""
        ...

    def warmup(self, *args: Any, **kwargs: Any) -> None: ...


def jit_call(what: str, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> JitCall:
    """Return the call of a jit function that a user means; ``what`` names the function of ours they gave it to."""
    if isinstance(function, BoundJit):
        return JitCall(function.function, (function.instance, *args), kwargs)
    if isinstance(function, Choosing) and not isinstance(function, type):
        return function.jit_call(args, kwargs)
    return JitCall(jit_function(what, function), tuple(args), kwargs)


def chosen_names(function: Any) -> tuple[str, ...]:
    """Parameters of the jit function behind what was given that a caller leaves out."""
    if isinstance(function, BoundJit):
        return tuple(function.function.signature.names[:1])
    return function.chosen_names() if isinstance(function, Choosing) else ()


def jit_function(what: str, function: Any) -> JitFunction:
    """Return the jit function behind what was given."""
    if isinstance(function, BoundJit):
        return function.function
    if isinstance(function, Choosing) and not isinstance(function, type):
        return function.fn
    if not isinstance(function, JitFunction):
        raise DslTypeError(
            f"{what} takes a jit function, got {type(function).__name__}",
            hint="decorate it with @flyc.jit",
            location=calling_location(),
        )
    return function
