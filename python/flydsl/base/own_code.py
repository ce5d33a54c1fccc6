"""Which code is the compiler's own, and which is written in its language.

The kernel library and the functions on arrays live in this package, but they are programs for the compiler like any
user's: errors point at their lines, and the cache follows their sources.
"""

from __future__ import annotations

import os
from functools import lru_cache

VERSION = "0.1.0"
PACKAGE = __name__.partition(".")[0]
LIBRARY = ("kernels", "ops")
"""Subpackages that are written in the language."""

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARY_ROOTS = tuple(os.path.join(_ROOT, name) + os.sep for name in LIBRARY)
_LIBRARY_STARTS = tuple(f"{PACKAGE}.{name}" for name in LIBRARY)
_LIBRARY_NAMES = tuple(f"{start}." for start in _LIBRARY_STARTS)


def is_own_module(name: str) -> bool:
    """Return whether a module, by its dotted name, belongs to the compiler."""
    return f"{name}.".startswith(f"{PACKAGE}.") and not is_library_module(name)


def is_library_module(name: str) -> bool:
    """Return whether a module belongs to the part of this package that is written in the language."""
    return name.startswith(_LIBRARY_STARTS) and f"{name}.".startswith(_LIBRARY_NAMES)


@lru_cache(maxsize=1024)
def is_own_file(path: str) -> bool:
    """Return whether a source file belongs to the compiler."""
    return path.startswith(_ROOT) and not path.startswith(_LIBRARY_ROOTS)


def own_file(*parts: str) -> str:
    """Return the path of a file of this package."""
    return os.path.join(_ROOT, *parts)
