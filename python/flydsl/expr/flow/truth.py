"""Conditions: which are known while tracing, and `and`, `or`, `not` and chained comparisons of both kinds.

A condition known while tracing behaves as in Python, short circuit included. With a run-time value on the left
both sides are evaluated, and the result is a Boolean.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from flydsl.base.errors import DslRuntimeError
from flydsl.expr.flow.watched_state import Watch
from flydsl.expr.numeric import Boolean, Numeric, as_numeric, is_raw_value, operand
from flydsl.expr.trace.context import current, is_tracing
from flydsl.expr.values.handle import Handle

Thunk = Callable[[], Any]
_MISSING = object()

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda item, container: is_in(item, container),
    "not in": lambda item, container: opposite(is_in(item, container)),
}


def is_run_time(value: Any) -> bool:
    """Return whether only the running kernel knows if this condition holds."""
    if isinstance(value, Numeric):
        return not value.is_static()
    if isinstance(value, Handle):
        return not value.is_static and getattr(value, "is_leaf", False)
    return is_raw_value(value) and operand(value) is not None


def as_condition(value: Any) -> Boolean:
    """Return a value as a Boolean."""
    if isinstance(value, Handle):
        value = value.unpack()  # type: ignore[attr-defined]
    return as_numeric(value).__dsl_bool__()


def run_time_condition(value: Any) -> Boolean | None:
    """Return the value as a run-time Boolean; None if Python knows whether it holds."""
    return as_condition(value) if is_run_time(value) else None


def all_of(first: Any, *rest: Thunk) -> Any:
    """Return ``a and b and c``."""
    return _connected(first, rest, stop_on=False)


def any_of(first: Any, *rest: Thunk) -> Any:
    """Return ``a or b or c``."""
    return _connected(first, rest, stop_on=True)


def _connected(left: Any, rest: tuple[Thunk, ...], *, stop_on: bool) -> Any:
    for thunk in rest:
        condition = run_time_condition(left)
        if condition is None:
            if bool(left) is stop_on:
                return left
            left = thunk()
        else:
            watch = Watch([thunk])
            right = thunk()
            watch.refuse("`or`" if stop_on else "`and`", lambda _: None)
            left = condition.__dsl_or__(right) if stop_on else condition.__dsl_and__(right)
    return left


def opposite(value: Any) -> Any:
    """``not a``."""
    condition = run_time_condition(value)
    return not value if condition is None else condition.__dsl_not__()


def is_in(item: Any, container: Any) -> Any:
    """Return ``a in b``: what only the running kernel knows is compared with one element after the other."""
    if isinstance(container, range) and is_run_time(item):
        return _is_in_range(item, container if container.step > 0 else container[::-1])
    plain = isinstance(container, (tuple, list, set, frozenset, dict))
    if not plain or not any(is_run_time(value) for value in (item, *container)):
        return item in container
    return any_of(False, *(lambda element=element: item == element for element in container))


def _is_in_range(item: Any, rising: range) -> Any:
    if isinstance(item, Numeric) and not item.dtype.signed and item.dtype.is_integer:
        rising = rising[max(0, -(rising.start // rising.step)) :]  # beside an unsigned number -1 would be a large one
    if not rising:
        return False
    inside = all_of(item >= rising[0], lambda: item <= rising[-1])
    return inside if rising.step == 1 else all_of(inside, lambda: (item - rising[0]) % rising.step == 0)


def _extreme(plain: Callable[..., Any], better: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def chosen(*values: Any, **options: Any) -> Any:
        given = list(values[0]) if len(values) == 1 else values
        if options or not any(map(_is_number, given)):
            return plain(given, **options) if len(values) == 1 else plain(*values, **options)
        best = given[0]
        for value in given[1:]:
            left, right = as_numeric(value), as_numeric(best)
            best = as_numeric(better(left, right)).select(left, right)
        return best

    return chosen


def _is_number(value: Any) -> bool:
    return isinstance(value, Numeric) or is_run_time(value)


def _over(plain: Callable[..., Any], connect: Callable[..., Any], empty: bool) -> Callable[[Any], Any]:
    def connected(values: Any) -> Any:
        given = list(values)
        if not any(map(is_run_time, given)):
            return plain(given)
        return connect(empty, *(lambda value=value: value for value in given))

    return connected


BUILTINS: dict[Any, Callable[..., Any]] = {
    min: _extreme(min, operator.lt),
    max: _extreme(max, operator.gt),
    any: _over(any, any_of, False),
    all: _over(all, all_of, True),
}
"""Python's functions that ask for truth values, and what they are where a value may be a run-time one."""


def looked_up(get: Callable[..., Any], key: object, default: object = None) -> object:
    """``d.get(key, default)``: Python would find no run-time number among keys that it may equal."""
    found = get(key, _MISSING)
    if found is _MISSING and is_run_time(key) and get.__self__:  # type: ignore[attr-defined]
        raise KeyError(key)
    return default if found is _MISSING else found


def asserted(value: Any) -> Any:
    """Return the condition of an `assert`, which Python can check only now."""
    if is_run_time(value):
        raise _no_assert()
    return value


def _no_assert() -> DslRuntimeError:
    if is_tracing() and getattr(current(), "kernel_symbol", None) is None:
        return DslRuntimeError(
            "`assert` of a condition that is known only when the compiled jit function runs, which cannot raise",
            hint="check the arrays in Python, before the call: `assert a.shape == b.shape`; or have it compiled per "
            "value: extents of flyc.from_dlpack(a) and fx.Constexpr numbers are known while tracing",
        )
    return DslRuntimeError(
        "`assert` of a condition that only the running kernel knows: a kernel cannot raise",
        hint="check it in Python, before the jit function is called; in the kernel, `if not (...): fx.printf(...)` "
        "tells of it",
    )


def compare(left: Any, *steps: tuple[str, Thunk]) -> Any:
    """Return ``a < b <= c``: every operand is evaluated once, and none after a comparison known to fail."""
    result: Any = True
    for symbol, thunk in steps:
        right = thunk()
        holds = _COMPARISONS[symbol](left, right)
        condition = run_time_condition(result)
        result = holds if condition is None else condition.__dsl_and__(holds)
        if not is_run_time(result) and not result:
            return result
        left = right
    return result
