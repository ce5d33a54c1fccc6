"""Errors as the user sees them: pointing at the kernel's line, without our frames."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from flydsl.base import knobs
from flydsl.base.errors import FlyDSLError, SourceLocation

PACKAGE_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def innermost_user_location(traceback: TracebackType | None) -> SourceLocation | None:
    """The last frame outside this package that a traceback passes through."""
    found: SourceLocation | None = None
    while traceback is not None:
        frame = traceback.tb_frame
        if not frame.f_code.co_filename.startswith(PACKAGE_ROOT):
            found = _location(traceback)
        traceback = traceback.tb_next
    return found


def _location(traceback: TracebackType) -> SourceLocation:
    code = traceback.tb_frame.f_code
    column = end = 0
    positions = list(code.co_positions())
    index = traceback.tb_lasti // 2
    if 0 <= index < len(positions):
        line, end_line, start_col, end_col = positions[index]
        if start_col is not None and end_col is not None:
            column = start_col + 1
            end = end_col + 1 if end_line == line else 0
    return SourceLocation(code.co_filename, traceback.tb_lineno, column, end, code.co_name)


@contextmanager
def user_errors(func: Callable[..., Any]) -> Iterator[None]:
    """Give errors raised while tracing ``func`` the line they come from."""
    try:
        yield
    except FlyDSLError as error:
        if error.location is None:
            error.location = innermost_user_location(error.__traceback__)
        if error.location is None:
            code = func.__code__
            error.location = SourceLocation(code.co_filename, code.co_firstlineno, function=code.co_name)
        raise


@contextmanager
def outermost() -> Iterator[None]:
    """At the edge of a jit call: drop our frames from the traceback unless they are asked for."""
    try:
        yield
    except FlyDSLError as error:
        if error.location is None:
            error.location = innermost_user_location(error.__traceback__)
        if knobs.DEBUG_TRACEBACK.get():
            raise
        error.__cause__ = None
        error.__suppress_context__ = True
        raise error.with_traceback(None) from None
