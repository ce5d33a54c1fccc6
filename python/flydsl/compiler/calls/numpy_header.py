"""Reading a NumPy array's data pointer and flags where the array object keeps them.

Both are fields of the public C struct behind every array. Reading them there takes a tenth of the time that
`__array_interface__` takes, and the flags beside the pointer cost nothing.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

from flydsl.base.records import dataclass

# Where Python's own C functions lie, for native code that calls them --------------------------


@cache
def function_address(name: str) -> int:
    """The address of a function of Python's C API."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


# Fields of an array ----------------------------------------------------------------------------

WRITEABLE = 0x400
"""The bit of the flags that says that the array may be written."""
_BEFORE_FLAGS = "@PiPPPP"
"""The struct up to the flags: data, number of dimensions, dimensions, strides, base, type."""


@dataclass(frozen=True)
class NumpyHeader:
    """How to read: ``pointer(memory, id(array) + offset)`` gives a tuple, and so does ``pointer_and_flags``."""

    offset: int
    memory: memoryview
    """The whole address space, of which nothing but array objects is looked at."""
    pointer: Any
    pointer_and_flags: Any

    def read(self, array: Any) -> tuple[int, bool]:
        """The pointer, and whether the array may be written."""
        pointer, flags = self.pointer_and_flags(self.memory, id(array) + self.offset)
        return pointer, bool(flags & WRITEABLE)


def _agree(header: NumpyHeader, samples: Sequence[Any]) -> bool:
    for sample in samples:
        pointer, read_only = sample.__array_interface__["data"]
        if header.read(sample) != (pointer, not read_only):
            return False
        if header.pointer(header.memory, id(sample) + header.offset) != (pointer,):
            return False
    return True


@cache
def numpy_header() -> NumpyHeader | None:
    """The fields of NumPy's array objects, or None where they are not as we know them; arrays are asked both ways."""
    if sys.implementation.name != "cpython":
        return None
    numpy = sys.modules["numpy"]
    between = struct.calcsize(_BEFORE_FLAGS) - struct.calcsize("@P")
    everything = (ctypes.c_char * (sys.maxsize // 2)).from_address(0)
    header = NumpyHeader(
        offset=object.__basicsize__,
        memory=memoryview(everything),
        pointer=struct.Struct("@P").unpack_from,
        pointer_and_flags=struct.Struct(f"@P{between}xi").unpack_from,
    )
    samples = [numpy.zeros(3), numpy.zeros((4, 5), numpy.int8)[1:, 2:], numpy.empty(0), numpy.zeros(3)]
    samples[-1].flags.writeable = False
    return header if _agree(header, samples) else None
