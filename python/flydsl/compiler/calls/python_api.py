"""Where Python's own C functions lie, for native code that calls them."""

from __future__ import annotations

import ctypes
from functools import cache


@cache
def function_address(name: str) -> int:
    """The address of a function of Python's C API."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0
