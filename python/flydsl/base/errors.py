"""The one exception family: what is wrong, where in the user's kernel, and what to write instead.

Every class also derives from the built-in exception a caller would expect for that case, so
``except ValueError`` around a layout call keeps working.

A message has up to three parts: the place and what is wrong, the source line with a caret, and the help. On a terminal
they are coloured; anywhere else, and with ``NO_COLOR`` set, the text is plain.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from types import FrameType

from flydsl.base.own_code import is_own_module
from flydsl.base.records import dataclass

_BOLD, _RED, _GREEN = "\x1b[1m", "\x1b[1;31m", "\x1b[1;32m"
_RESET = "\x1b[0m"


class _Colour:
    """Whether the user's settings refuse colours: so it is until the table of variables says how to ask them."""

    refused: Callable[[], bool] = staticmethod(lambda: True)


_colour = _Colour()


def ask_about_colour(refused: Callable[[], bool]) -> None:
    """Tell errors how to find out whether colours are refused."""
    _colour.refused = refused


def colour_wanted() -> bool:
    """Return whether messages are coloured: stderr, for tracebacks, is a terminal, and ``NO_COLOR`` is unset."""
    return sys.stderr is not None and sys.stderr.isatty() and not _colour.refused()


def _painted(text: str, colour: str, wanted: bool) -> str:
    return f"{colour}{text}{_RESET}" if wanted else text


@dataclass(frozen=True)
class SourceLocation:
    """A place in the user's source. Columns count bytes from 1, as Python's do; 0 means unknown."""

    file: str
    line: int
    column: int = 0
    end_column: int = 0
    function: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def snippet(self) -> str:
        """Return the source line with a caret under the failing expression, or an empty string."""
        text = linecache.getline(self.file, self.line).rstrip("\n")
        if not text.strip():
            return ""
        indent = len(text) - len(text.lstrip())
        lines = [f"    {text.strip()}"]
        if self.column:
            ends = (self.column, self.end_column or self.column)
            first, last = (len(text.encode()[: end - 1].decode(errors="ignore")) for end in ends)
            start, width = max(first - indent, 0), max(last - first, 1)
            lines.append("    " + " " * start + "^" * min(width, max(len(text.strip()) - start, 1)))
        return "\n".join(lines)


@dataclass(frozen=True)
class ThreadPlace:
    """One thread of a launch, and the line it was at."""

    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    location: SourceLocation | None = None

    def __str__(self) -> str:
        return f"thread {self.thread} of block {self.block}"


@dataclass(frozen=True)
class Fault:
    """What a sanitizer found: which check, in which tensor, at which coordinate of it, by whom."""

    check: str
    place: ThreadPlace
    tensor: str = ""
    """The name of the variable or parameter; empty when it is not known."""
    coordinate: tuple[int, ...] = ()
    other: ThreadPlace | None = None
    """The second thread of a race; a thread that a barrier misses."""


class FlyDSLError(Exception):
    """Base of every error this package raises for a user's mistake."""

    def __init__(self, message: str, *, hint: str | None = None, location: SourceLocation | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.location = location

    def __str__(self) -> str:
        return self.rendered(colour=colour_wanted())

    def rendered(self, *, colour: bool = False) -> str:
        """Return the whole message, plain or with the colours of a terminal."""
        parts: list[str] = []
        if self.location is not None:
            where = f" in {self.location.function}" if self.location.function else ""
            parts.append(f"{_painted(f'{self.location}{where}:', _BOLD, colour)} {self.message}")
            if snippet := self.location.snippet():
                line, *caret = snippet.split("\n")
                parts += [line, *(_painted(text, _RED, colour) for text in caret)]
        else:
            parts.append(self.message)
        if self.hint:
            parts.append(f"  {_painted('help:', _GREEN, colour)} {self.hint}")
        return "\n".join(parts)


class LayoutError(FlyDSLError, ValueError):
    """A layout operation that has no answer: shapes that do not match, strides that overlap."""


class DslTypeError(FlyDSLError, TypeError):
    """A value of a type that cannot stand where it was written."""


class DslValueError(FlyDSLError, ValueError):
    """A value of the right type but out of range or inconsistent with its neighbours."""


class DslIndexError(FlyDSLError, IndexError):
    """A mode or element index outside its tuple, layout or vector."""


class DslAttributeError(FlyDSLError, AttributeError):
    """A name that a value of a kernel does not have, such as one of NumPy's."""


class DslFrozenInstanceError(FlyDSLError, FrozenInstanceError):
    """An assignment to a field of a struct, whose values never change."""


class DslRuntimeError(FlyDSLError, RuntimeError):
    """A call made at the wrong time or place, such as a kernel called outside a jit function."""


class DslTimeoutError(DslRuntimeError, TimeoutError):
    """A kernel on the virtual GPU ran longer than it may."""


class SanitizerError(DslRuntimeError):
    """A fault that a sanitizer of the virtual GPU found while a kernel ran; ``fault`` holds its parts."""

    def __init__(
        self, message: str, *, fault: Fault, hint: str | None = None, location: SourceLocation | None = None
    ) -> None:
        super().__init__(message, hint=hint, location=location)
        self.fault = fault


class DslSyntaxError(FlyDSLError, SyntaxError):
    """Python that has no meaning inside a kernel, found before tracing."""

    # SyntaxError's own __str__ drops our layout; FlyDSLError's comes first in the MRO.

    @property
    def msg(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What a traceback prints for a SyntaxError, instead of ``str()``."""
        return str(self)


class DslNameError(FlyDSLError, NameError):
    """A name that exists on only one side of a run-time branch."""


class DSLCompileError(FlyDSLError, RuntimeError):
    """Compilation failed after tracing."""


class DslControlFlowError(DslSyntaxError, DSLCompileError):
    """A `return`, `yield` or loop `else` that a run-time condition does not allow."""


class VerifyError(DSLCompileError):
    """IR that breaks a rule of its dialect."""


class LoweringError(DSLCompileError):
    """An operation that cannot be expressed on the chosen target."""


class TargetError(FlyDSLError, ValueError):
    """An unknown target, or a feature the target does not have."""


class DriverError(FlyDSLError, RuntimeError):
    """A GPU driver call that failed; the message carries the driver's own name for the error."""


class UnsupportedError(FlyDSLError, NotImplementedError):
    """Something the language deliberately does not offer."""


class ScheduleWarning(UserWarning):
    """Scheduling hints that name another number of instructions than the code around them has."""


# Where in the user's code this package was called: the innermost frame outside it -------------


_BETWEEN = ("contextlib", "importlib", "functools", "threading")
"""Modules of Python through which a call of the user's reaches us."""


def caller_location() -> SourceLocation | None:
    """Return the user's line, or None when nothing outside the package is running."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and _passed_over(frame):
        frame = frame.f_back
    return None if frame is None else SourceLocation(frame.f_code.co_filename, frame.f_lineno)


def _passed_over(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__", "")
    return is_own_module(name) or name.split(".")[0] in _BETWEEN
