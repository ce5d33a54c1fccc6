"""Where in the user's code this package was called: the innermost frame outside it."""

from __future__ import annotations

import sys
from types import FrameType

from flydsl.base.errors import SourceLocation
from flydsl.base.own_code import is_own_module

_BETWEEN = ("contextlib", "importlib", "functools", "threading")
"""Modules of Python through which a call of the user's reaches us."""


def caller_location() -> SourceLocation | None:
    """The user's line, or None when nothing outside the package is running."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and _passed_over(frame):
        frame = frame.f_back
    return None if frame is None else SourceLocation(frame.f_code.co_filename, frame.f_lineno)


def _passed_over(frame: FrameType) -> bool:
    name = frame.f_globals.get("__name__", "")
    return is_own_module(name) or name.split(".")[0] in _BETWEEN
