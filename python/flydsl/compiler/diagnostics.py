"""Errors with the user's lines, by the names of the original; `flydsl.compiler.messages` is where they are made."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from flydsl.base.errors import DSLCompileError, FlyDSLError, SourceLocation


@dataclass(frozen=True)
class SourceFrame:
    """A line of the user's source that an error is about."""

    file: str
    line: int
    column: int = 0
    function: str = ""

    @staticmethod
    def of(location: SourceLocation) -> SourceFrame:
        """Return the line at a place."""
        return SourceFrame(location.file, location.line, location.column, location.function)


@dataclass(frozen=True)
class DiagRecord:
    """An error as data: how bad, what is wrong, what helps, and where."""

    severity: str
    message: str
    hint: str = ""
    frames: tuple[SourceFrame, ...] = field(default=())

    @staticmethod
    def of(error: FlyDSLError) -> DiagRecord:
        """Return the record of an error of this package."""
        places = () if error.location is None else (SourceFrame.of(error.location),)
        return DiagRecord("error", error.message, error.hint or "", places)


_previous: list[Any] = []


def install_excepthook() -> None:
    """Print errors of this package that nobody caught without a traceback: the message has the user's line."""
    if not _previous:
        _previous.append(sys.excepthook)
        sys.excepthook = _hook


def _hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if isinstance(error, FlyDSLError):
        print(f"{kind.__name__}: {error}", file=sys.stderr)
    else:
        _previous[0](kind, error, trace)


__all__ = ["DSLCompileError", "DiagRecord", "SourceFrame", "install_excepthook"]
