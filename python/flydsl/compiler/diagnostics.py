"""Errors as the user sees them: pointing at the kernel's line, without our frames."""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import FrameType, FunctionType, TracebackType
from typing import Any, ParamSpec, TypeVar

from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, FlyDSLError, SourceLocation
from flydsl.compiler.rewrite.build import HIDDEN
from flydsl.compiler.rewrite.source import find_source

P = ParamSpec("P")
R = TypeVar("R")

PACKAGE_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def _is_ours(frame: FrameType) -> bool:
    """Whether a frame runs code of this package; what `dataclass` generates for us has no file of its own."""
    generated = frame.f_code.co_filename == "<string>" and frame.f_globals.get("__name__", "").startswith("flydsl.")
    return generated or frame.f_code.co_filename.startswith(PACKAGE_ROOT)


def innermost_user_location(traceback: TracebackType | None) -> SourceLocation | None:
    """The last frame outside this package that a traceback passes through."""
    found: SourceLocation | None = None
    while traceback is not None:
        if not _is_ours(traceback.tb_frame):
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
    # The sides of a rewritten `a if c else b` are lambdas; what the user wrote stands in the function around them.
    function = code.co_qualname.removesuffix(".<locals>.<lambda>").rpartition(".")[2]
    return SourceLocation(code.co_filename, traceback.tb_lineno, column, end, function)


@contextmanager
def user_errors(func: Callable[..., Any]) -> Iterator[None]:
    """Give errors raised while tracing ``func`` the line they come from."""
    try:
        yield
    except FlyDSLError as error:
        if error.location is None:
            error.location = innermost_user_location(error.__traceback__)
        if error.location is None:
            error.location = definition_of(func)
        _note_missing_source(error, func)
        raise
    except NameError as error:
        explanation = _explained(error)
        if explanation is None:
            raise
        raise explanation from None


def _explained(error: NameError) -> FlyDSLError | None:
    """The reason why a variable has no value, if run-time control flow took it."""
    named = error.name or next(iter(re.findall(r"variable '(\w+)'", str(error))), None)
    traceback, found = error.__traceback__, None
    while traceback is not None and named is not None:
        flow = traceback.tb_frame.f_locals.get(HIDDEN)
        if flow is not None:
            found = flow.explanation(named) or found
        traceback = traceback.tb_next
    if found is not None:
        found.location = innermost_user_location(error.__traceback__)
    return found


def _note_missing_source(error: FlyDSLError, func: Callable[..., Any]) -> None:
    """A run-time `if` in a function that was not rewritten fails as a misuse of the value; say what is behind it."""
    if isinstance(error, DslRuntimeError) and isinstance(func, FunctionType) and find_source(func) is None:
        note = (
            f"the source of {func.__name__}() cannot be read, so its control flow was not rewritten: put it in a file"
        )
        error.hint = f"{error.hint}; {note}" if error.hint else note


def calling_location() -> SourceLocation | None:
    """The innermost line outside this package that led here."""
    frame = sys._getframe(1)
    while frame is not None and _is_ours(frame):
        frame = frame.f_back
    return (
        None
        if frame is None
        else SourceLocation(frame.f_code.co_filename, frame.f_lineno, function=frame.f_code.co_name)
    )


def located(call: Callable[P, R]) -> Callable[P, R]:
    """A function that users call outside any kernel: its errors name the line of the call."""

    @wraps(call)
    def with_location(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return call(*args, **kwargs)
        except FlyDSLError as error:
            if error.location is None:
                error.location = calling_location()
            raise

    return with_location


def definition_of(func: Callable[..., Any]) -> SourceLocation:
    """The line of a function's ``def``, below its decorators."""
    code = func.__code__
    line = code.co_firstlineno
    while line < code.co_firstlineno + 20 and "def " not in linecache.getline(code.co_filename, line):
        line += 1
    found = line if "def " in linecache.getline(code.co_filename, line) else code.co_firstlineno
    return SourceLocation(code.co_filename, found, function=code.co_name)


def about_argument(error: FlyDSLError, func: Callable[..., Any], parameter: str) -> FlyDSLError:
    """The error, saying which argument of which function it is about and where that function is."""
    if error.location is None:
        error.location = definition_of(func)
        error.message = f"argument '{parameter}': {error.message}"
    return error


def presented(error: FlyDSLError) -> FlyDSLError:
    """The error as it leaves a jit call: located, and without our frames unless they are asked for."""
    if error.location is None:
        error.location = innermost_user_location(error.__traceback__) or calling_location()
    if knobs.DEBUG_TRACEBACK.get():
        return error
    return error.with_traceback(None)
