"""The rewriting of control flow, under the names older code imports it by.

The dispatch functions are what rewritten code of the original calls: control flow over functions instead of statements.
Here they are written as plain control flow, which is rewritten as a kernel's is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.compiler.rewrite.rewriter import rewritten
from flydsl.expr.flow.truth import is_run_time
from flydsl.expr.trace.context import is_tracing


class ASTRewriter:
    """Turns the control flow of kernel functions into traced control flow."""

    @staticmethod
    def transform(func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function to trace in the place of ``func``."""
        return rewritten(func)


def _takes_names(func: Callable[..., Any], count: int) -> bool:
    """Return whether a branch is called with the names first: it has ``*args``, or a place more than there are
    values."""
    parameters = inspect.signature(func).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return True
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters) > count


def _called(func: Callable[..., Any], names: tuple[str, ...], values: Sequence[Any], *first: Any) -> list[Any]:
    """Return the values after a branch or body, in the order of the names."""
    given = (names, *values) if _takes_names(func, len(values) + len(first)) else tuple(values)
    result = func(*first, *given)
    if result is None:
        return list(values)
    if isinstance(result, Mapping):
        return [result.get(name, value) for name, value in zip(names, values, strict=True)]
    if isinstance(result, (tuple, list)) and not (len(names) == 1 and isinstance(values[0], (tuple, list))):
        found = list(result)
    else:
        found = [result]
    if len(found) != len(values):
        raise DslTypeError(f"{len(found)} values for {', '.join(names)}: this does not match the region entry")
    return found


def _named(
    result_names: Sequence[str], result_values: Sequence[Any], state: Mapping[str, Any]
) -> tuple[Any, list[Any]]:
    """Names and values, under their own keywords or the older ones."""
    names = tuple(result_names) or tuple(state.get("state_names", ()))
    values = list(result_values) or list(state.get("state_values", ()))
    unknown = state.keys() - {"state_names", "state_values"}
    if unknown or len(names) != len(values):
        raise DslTypeError(f"as many names as values, got {names} and {len(values)}; unknown: {sorted(unknown)}")
    for name, value in zip(names, values, strict=True):
        if value is None:
            raise DslTypeError(f"'{name}' is None before the region", hint="give it a value of the type it gets inside")
    return names, values


def _outcome(values: list[Any]) -> Any:
    return None if not values else values[0] if len(values) == 1 else tuple(values)


def _if(cond: Any, then_fn: Any, else_fn: Any, names: Any, values: Any) -> Any:
    if cond:
        values = _called(then_fn, names, values)
    else:
        values = _called(else_fn, names, values)
    return values


def _for(start: Any, stop: Any, step: Any, body: Any, names: Any, values: Any) -> Any:
    for i in range(start, stop, step):
        values = _called(body, names, values, i)
    return values


def _while(before: Any, after: Any, names: Any, values: Any) -> Any:
    while _holds(before, names, values):
        values = _called(after, names, values)
    return values


def _holds(before: Any, names: Any, values: Any) -> Any:
    return before(names, *values) if _takes_names(before, len(values)) else before(*values)


def _unchanged(names: Any, *values: Any) -> None:
    """Stand in for a branch that a statement does not have."""


class ReplaceIfWithDispatch:
    """`if` and conditional expressions over functions."""

    @staticmethod
    def scf_if_dispatch(cond: Any, then_fn: Callable[..., Any], else_fn: Callable[..., Any] | None = None, *,
                        result_names: Sequence[str] = (), result_values: Sequence[Any] = (), auto_else: bool = False,
                        **state: Any) -> Any:  # fmt: skip
        """Run one branch, which takes and gives the values of the names: a dict of those it changed, or all of them.

        A condition known while tracing runs one branch in Python; another becomes an `scf.if`.
        """
        names, values = _named(result_names, result_values, state)
        run = rewritten(_if) if is_tracing() and is_run_time(cond) else _if
        return _outcome(run(cond, then_fn, else_fn or _unchanged, names, values))

    @staticmethod
    def scf_ifexp_dispatch(cond: Any, then_fn: Callable[[], Any], else_fn: Callable[[], Any]) -> Any:
        """``then_fn() if cond else else_fn()``."""
        return rewritten(_choose)(cond, then_fn, else_fn)


def _choose(cond: Any, then_fn: Any, else_fn: Any) -> Any:
    return then_fn() if cond else else_fn()


class InsertEmptyYieldForSCFFor:
    """`for` over a function."""

    @staticmethod
    def scf_for_dispatch(start: Any, stop: Any, step: Any, body: Callable[..., Any], *,
                         result_names: Sequence[str] = (), result_values: Sequence[Any] = (), **state: Any
                         ) -> Any:  # fmt: skip
        """Call ``body(i, values...)`` for every number of a range; it gives the values for the next."""
        names, values = _named(result_names, result_values, state)
        return _outcome(rewritten(_for)(start, stop, step, body, names, values))


class CanonicalizeWhile:
    """`while` over functions."""

    @staticmethod
    def scf_while_dispatch(before: Callable[..., Any], after: Callable[..., Any], *, result_names: Sequence[str] = (),
                           result_values: Sequence[Any] = (), **state: Any) -> Any:  # fmt: skip
        """Call ``after(values...)`` as long as ``before(values...)`` holds."""
        names, values = _named(result_names, result_values, state)
        return _outcome(rewritten(_while)(before, after, names, values))


__all__ = ["ASTRewriter", "CanonicalizeWhile", "InsertEmptyYieldForSCFFor", "ReplaceIfWithDispatch"]
