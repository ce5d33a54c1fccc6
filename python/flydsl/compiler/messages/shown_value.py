"""A value in a sentence to the user: short, on one line, whatever the value's own text does."""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any

_LONGEST = 60


def shown(value: Any) -> str:
    """The text of a value, shortened."""
    if isinstance(value, FunctionType):
        return f"{value.__name__}() of {value.__code__.co_filename}:{value.__code__.co_firstlineno}"
    if isinstance(value, (type, ModuleType)):
        return value.__name__
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # the user's own text may fail
        text = f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
