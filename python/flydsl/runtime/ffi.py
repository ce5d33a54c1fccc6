"""Finding a driver library, declaring its functions and checking their status."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from flydsl.base.errors import DriverError


def open_library(names: Sequence[str]) -> ctypes.CDLL | None:
    """The first library of these names that loads, or None."""
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


class Driver:
    """A driver library: calls return a status, and a status other than 0 raises."""

    def __init__(self, library: ctypes.CDLL, fail: Callable[[str, int], Exception]) -> None:
        self.library = library
        self._fail = fail

    def has(self, name: str) -> bool:
        """Whether the library exports a function of that name."""
        return hasattr(self.library, name)

    def call(self, name: str, *args: Any) -> None:
        """Call a function of the library and check its status."""
        status = getattr(self.library, name)(*args)
        if status:
            raise self._fail(name, status)

    def try_call(self, name: str, *args: Any) -> int:
        """Call a function and hand its status back."""
        return getattr(self.library, name)(*args)

    def address(self, name: str) -> int:
        """The address of a function, for native code to call."""
        if not self.has(name):
            raise DriverError(f"the driver has no {name}, which this launch needs", hint="install a newer driver")
        return ctypes.cast(getattr(self.library, name), ctypes.c_void_p).value or 0
