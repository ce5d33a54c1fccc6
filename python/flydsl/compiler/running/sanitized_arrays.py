"""Array arguments as the sanitizers know them: facts beside the compiled code, intervals of memory at each launch.

A fact says where in the argument block the array's numbers are, so that a launch needs nothing but the block. Arrays
that overlap share one region, whose cells remember who touched which bytes (`native/src/sanitizer.c`).
"""

from __future__ import annotations

import ctypes
import json
import mmap
from collections.abc import Iterator, Sequence
from typing import Any

from flydsl.base import knobs
from flydsl.base.records import dataclass
from flydsl.compiler.arguments.kinds import StructArgument, TensorArgument
from flydsl.native.constants import CELL_BYTES
from flydsl.target.dtype import storage_bytes

_LARGEST_GRANULE = 8


# While compiling -------------------------------------------------------------------------------


def settings_text(names: Sequence[str], arguments: Sequence[Any]) -> str:
    """Return the active checks and the array arguments as JSON.

    ``arguments`` are adapted ones; a compile-time value is None.
    """
    arrays: list[dict[str, Any]] = []
    at = 0
    for name, argument in zip(names, arguments, strict=True):
        if argument is not None:
            arrays += _facts(name, argument, at)
            at += len(argument.abi())
    return json.dumps({"checks": sorted(knobs.SANITIZE.get()), "arrays": arrays})


def _facts(name: str, argument: Any, at: int) -> Iterator[dict[str, Any]]:
    """Facts of the arrays in an argument whose numbers start at ``at``; run-time leaves are places in the block."""
    if isinstance(argument, StructArgument):
        for field, part in argument.parts.items():
            yield from _facts(f"{name}.{field}", part, at)
            at += len(part.abi())
    elif isinstance(argument, TensorArgument):
        place = iter(range(at + 1, at + len(argument.abi())))
        shape, stride = (
            [code if isinstance(code, int) else [next(place)] for code in codes]
            for codes in (argument.shape_code, argument.stride_code)
        )
        elem = argument.view.elem
        yield {"name": name, "leaf": at, "elem": elem, "bytes": storage_bytes(elem), "shape": shape, "stride": stride}


# At a launch -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ArrayInterval:
    """An array argument of one call: where it lies and how its coordinates map to memory."""

    name: str
    elem: str
    bytes: int
    pointer: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]

    @property
    def low(self) -> int:
        return self.pointer + self.bytes * sum(
            min(0, (n - 1) * d) for n, d in zip(self.shape, self.stride, strict=True) if n > 0
        )

    @property
    def end(self) -> int:
        """The address behind the last byte that a coordinate reaches."""
        if any(n <= 0 for n in self.shape):
            return self.low
        reach = sum(max(0, (n - 1) * d) for n, d in zip(self.shape, self.stride, strict=True))
        return self.pointer + self.bytes * (reach + 1)


def intervals(arrays: Sequence[dict[str, Any]], numbers: Sequence[Any]) -> list[ArrayInterval]:
    """Return the array arguments of a call, from the numbers of its argument block."""

    def resolved(codes: Sequence[Any]) -> tuple[int, ...]:
        return tuple(numbers[code[0]] if isinstance(code, list) else code for code in codes)

    return [
        ArrayInterval(a["name"], a["elem"], a["bytes"], numbers[a["leaf"]], resolved(a["shape"]), resolved(a["stride"]))
        for a in arrays
    ]


@dataclass
class _Region:
    """Memory that one array covers, or several that overlap; granules of ``1 << shift`` bytes."""

    low: int
    end: int
    shift: int


class WatchedMemory:
    """The tables that the checker reads during one call."""

    def __init__(self, arrays: Sequence[ArrayInterval], cells: bool) -> None:
        self.arrays = arrays
        self._maps: list[mmap.mmap] = []
        regions, numbers = _regions(arrays)
        rows = [word for a, number in zip(arrays, numbers, strict=True) for word in (a.low, a.end, number)]
        facts = [word for r in regions for word in (r.low, r.end, r.shift, self._cells(r) if cells else 0)]
        self.ranges = (ctypes.c_uint64 * max(len(rows), 1))(*[word % 2**64 for word in rows])
        self.regions = (ctypes.c_uint64 * max(len(facts), 1))(*[word % 2**64 for word in facts])
        self.region_count = len(regions)

    def _cells(self, region: _Region) -> int:
        """Zeroed memory for a region's cells; pages that nothing touches cost nothing."""
        memory = mmap.mmap(-1, (((region.end - region.low) >> region.shift) + 1) * CELL_BYTES)
        self._maps.append(memory)
        return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def _regions(arrays: Sequence[ArrayInterval]) -> tuple[list[_Region], list[int]]:
    """Return the regions of some arrays, and the number of each array's."""
    regions: list[_Region] = []
    numbers = [0] * len(arrays)
    for index in sorted(range(len(arrays)), key=lambda i: arrays[i].low):
        array = arrays[index]
        shift = min(array.bytes, _LARGEST_GRANULE).bit_length() - 1
        if regions and array.low < regions[-1].end:
            last = regions[-1]
            last.end, last.shift = max(last.end, array.end), min(last.shift, shift)
        else:
            regions.append(_Region(array.low, array.end, shift))
        numbers[index] = len(regions) - 1
    return regions, numbers
