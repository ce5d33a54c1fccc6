"""Errors as the user sees them: pointing at the kernel's line, without our frames."""

from __future__ import annotations

import ast
import linecache
import re
import sys
from collections.abc import Callable
from functools import wraps
from types import FrameType, FunctionType, TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from flydsl.base import knobs
from flydsl.base.errors import DSLCompileError as DSLCompileError
from flydsl.base.errors import DslRuntimeError, FlyDSLError, SourceLocation
from flydsl.base.lazy import lazy_module
from flydsl.base.libraries import INSTALLED, STANDARD
from flydsl.base.own_code import is_own_file, is_own_module, own_file
from flydsl.compiler.rewrite.syntax import HIDDEN, own_nodes
from flydsl.expr.trace.context import is_tracing

if TYPE_CHECKING:
    from flydsl.compiler.messages import python_errors
    from flydsl.compiler.rewrite import rewriter
else:
    python_errors = lazy_module("flydsl.compiler.messages.python_errors")
    rewriter = lazy_module("flydsl.compiler.rewrite.rewriter")

P = ParamSpec("P")
R = TypeVar("R")

_PASSING_ON = frozenset(
    own_file(*path)
    for path in (
        ("base", "lazy.py"),
        ("expr", "__init__.py"),
        ("expr", "values", "foreign.py"),
        ("expr", "flow", "truth.py"),
    )
)
"""Files that do with the user's values what the user wrote, so that Python's complaint there is about the user."""


def _is_ours(frame: FrameType) -> bool:
    """Return whether a frame runs code of this package; what `dataclass` generates for us has no file of its own."""
    generated = frame.f_code.co_filename == "<string>" and is_own_module(frame.f_globals.get("__name__", ""))
    return generated or is_own_file(frame.f_code.co_filename)


_OUR_LIBRARIES = ("xdsl", "llvmlite")


def _is_library(frame: FrameType) -> bool:
    """Return whether a frame is of the standard library, xDSL or LLVM: no place where a user wrote something."""
    file = frame.f_code.co_filename
    standard = file.startswith(STANDARD) and not any(part in file for part in INSTALLED)
    return standard or frame.f_globals.get("__name__", "").partition(".")[0] in _OUR_LIBRARIES


def _is_internal(frame: FrameType) -> bool:
    """Return whether a frame tells the user nothing: this package's, or of a library that this package called."""
    caller = frame.f_back
    return _is_ours(frame) or (_is_library(frame) and caller is not None and _is_internal(caller))


def innermost_user_location(traceback: TracebackType | None) -> SourceLocation | None:
    """Return the last of the user's lines that a traceback passes through."""
    found: SourceLocation | None = None
    while traceback is not None:
        if not _is_ours(traceback.tb_frame) and not _is_library(traceback.tb_frame):
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


def explain(error: Exception, func: Callable[..., Any]) -> None:
    """Give an error raised while tracing ``func`` the line it comes from, or raise it anew in the user's words."""
    if isinstance(error, FlyDSLError):
        error.location = error.location or innermost_user_location(error.__traceback__) or definition_of(func)
        _note_missing_source(error, func)
    elif isinstance(error, (NameError, AttributeError, TypeError, LookupError)):
        explanation = _unbound(error) if isinstance(error, NameError) else _about_our_values(error)
        if explanation is not None:
            explanation.location = innermost_user_location(error.__traceback__)
            raise explanation from None


def _about_our_values(error: Exception) -> FlyDSLError | None:
    """Return what Python's own error means for the values of a kernel; None where it was raised by a mistake of
    ours."""
    return python_errors.explained(error) if _raised_by_the_user(error.__traceback__) else None


def _unbound(error: NameError) -> FlyDSLError | None:
    """Return the reason why a variable has no value, if run-time control flow took it."""
    named = error.name or next(iter(re.findall(r"variable '(\w+)'", str(error))), None)
    traceback, found = error.__traceback__, None
    while traceback is not None and named is not None:
        flow = traceback.tb_frame.f_locals.get(HIDDEN)
        if flow is not None:
            found = flow.explanation(named) or found
        traceback = traceback.tb_next
    return found


def _note_missing_source(error: FlyDSLError, func: Callable[..., Any]) -> None:
    """A run-time `if` in a function that was not rewritten fails as a misuse of the value; say what is behind it."""
    if isinstance(error, DslRuntimeError) and isinstance(func, FunctionType) and rewriter.find_source(func) is None:
        why = f"the source of {func.__name__}() cannot be read, so its control flow was not rewritten: put it in a file"
        error.hint = f"{error.hint}; {why}" if error.hint else why


def calling_location() -> SourceLocation | None:
    """Return the innermost of the user's lines that led here."""
    frame = sys._getframe(1)
    while frame is not None and (_is_ours(frame) or _is_library(frame)):
        frame = frame.f_back
    if frame is None:
        return None
    return SourceLocation(frame.f_code.co_filename, frame.f_lineno, function=frame.f_code.co_name)


def located(call: Callable[P, R]) -> Callable[P, R]:
    """Return a function that users call outside any kernel: its errors name the line of the call, without our frames.

    While tracing, errors get their line like all others there.
    """

    @wraps(call)
    def with_location(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return call(*args, **kwargs)
        except FlyDSLError as error:
            if not is_tracing():
                error.location = error.location or calling_location()
                present(error)
            raise

    return with_location


def definition_of(func: Callable[..., Any]) -> SourceLocation:
    """Return the line of a function's ``def``, below its decorators."""
    code = func.__code__
    line = code.co_firstlineno
    if code.co_name == "<lambda>":
        return SourceLocation(code.co_filename, line, function=code.co_name)
    while line < code.co_firstlineno + 20 and "def " not in linecache.getline(code.co_filename, line):
        line += 1
    found = line if "def " in linecache.getline(code.co_filename, line) else code.co_firstlineno
    return SourceLocation(code.co_filename, found, function=code.co_name)


def returning_line(func: Callable[..., Any]) -> SourceLocation | None:
    """Return the line on which a function returns a value, if it does."""
    source = rewriter.find_source(func) if isinstance(func, FunctionType) else None
    returns = [node for node in own_nodes(source.node) if isinstance(node, ast.Return)] if source is not None else []
    for node in returns:
        if node.value is not None:
            end = (node.end_col_offset or 0) + 1 if node.end_lineno == node.lineno else 0
            return SourceLocation(func.__code__.co_filename, node.lineno, node.col_offset + 1, end, func.__name__)
    return None


def about_argument(error: FlyDSLError, func: Callable[..., Any], parameter: str) -> FlyDSLError:
    """Return the error, saying which argument of which function it is about and where that function is."""
    if error.location is None:
        error.location = definition_of(func)
        error.message = f"argument '{parameter}': {error.message}"
    return error


def present(error: Exception) -> None:
    """Make an error ready to leave this package: its place is named, and our frames are gone from the traceback.

    A function that handles an error with this and a bare ``raise`` does not show up in the traceback either. An error
    in the user's Python code keeps the frames of that code. One of our own making keeps all, for the report.
    """
    ours = isinstance(error, FlyDSLError)
    if ours and error.location is None:
        error.location = innermost_user_location(error.__traceback__) or calling_location()
    if knobs.DEBUG_TRACEBACK.get():
        return
    if ours:
        error.__traceback__, error.__cause__, error.__suppress_context__ = None, None, True
    elif _raised_by_the_user(error.__traceback__):
        error.__traceback__ = _users_frames(error.__traceback__)


def _raised_by_the_user(traceback: TracebackType | None) -> bool:
    """Return whether an error comes from the user's code, or from a library that it called."""
    last = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename not in _PASSING_ON:
            last = traceback.tb_frame
        traceback = traceback.tb_next
    return last is not None and not _is_internal(last)


def _users_frames(traceback: TracebackType | None) -> TracebackType | None:
    """Return a traceback without our frames."""
    kept: list[TracebackType] = []
    while traceback is not None:
        if not _is_internal(traceback.tb_frame):
            kept.append(traceback)
        traceback = traceback.tb_next
    found: TracebackType | None = None
    for entry in reversed(kept):
        found = TracebackType(found, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return found
