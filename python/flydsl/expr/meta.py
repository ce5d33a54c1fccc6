"""Tracing itself, for code that writes functions of the language: options of a stretch of tracing, lines, wrappers."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from flydsl.base.errors import SourceLocation
from flydsl.expr.flow.carried import as_dsl_value
from flydsl.expr.numbers.fastmath import fastmath
from flydsl.expr.trace.context import current, is_tracing

KNOWN_BLOCK_SIZE = "known_block_size"


class _Options(threading.local):
    stack: tuple[dict[str, Any], ...] = ()


_options = _Options()


@contextmanager
def tracing_context(func: Callable[..., Any] | None = None, **options: Any) -> Iterator[None]:
    """Give options to what is traced inside. The innermost wins, also where it says None.

    ``fastmath`` is what `fx.fastmath` takes. ``func`` is the function that is traced; it changes nothing.
    """
    before = _options.stack
    _options.stack = (*before, options)
    flags = options.get("fastmath")
    try:
        with fastmath(flags) if "fastmath" in options else nullcontext():
            yield
    finally:
        _options.stack = before


def tracing_option(key: str, default: Any = None) -> Any:
    """Return an option of the innermost `tracing_context` that has it. The block size of a kernel is known without
    one."""
    for options in reversed(_options.stack):
        if key in options:
            return options[key]
    known = getattr(current(), key, None) if key == KNOWN_BLOCK_SIZE and is_tracing() else None
    return default if known is None else known


def dsl_loc_tracing(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function as it is: every operation has the line of the user's code that made it."""
    return func


def dsl_wrap_result(target: Any = None) -> Any:
    """Make a function give values of the language: those of a class that is named, else by the type of the result."""
    if callable(target) and not isinstance(target, type):
        return _wrapping(target, None)
    return lambda func: _wrapping(func, target)


def _wrapping(func: Callable[..., Any], target: type | None) -> Callable[..., Any]:
    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = func(*args, **kwargs)
        if result is None:
            return None
        return as_dsl_value(result) if target is None else target(result)

    return call


def capture_user_location() -> SourceLocation | None:
    """Return the line of the user's code that is being traced; None outside of tracing."""
    return current().here() if is_tracing() else None


__all__ = ["capture_user_location", "dsl_loc_tracing", "dsl_wrap_result", "tracing_context", "tracing_option"]
