"""Attributes of objects that may be anybody's: an object that fails when it is asked for one does not have it.

Python's own `hasattr` takes only AttributeError for a no, and dictionaries with attributes raise KeyError.
"""

from __future__ import annotations

import sys
from typing import Any

_ABSENT = object()


def attribute(value: Any, name: str, default: Any = None) -> Any:
    """Return an attribute, or the default if asking for it fails in whatever way."""
    try:
        return getattr(value, name)
    except Exception:
        return default


def has_attribute(value: Any, name: str) -> bool:
    """Return whether asking for an attribute gives one."""
    return attribute(value, name, _ABSENT) is not _ABSENT


def is_numpy_scalar(value: object) -> bool:
    """Return whether this is a scalar of NumPy, a number and no array; while nobody has imported NumPy, nothing is."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)
