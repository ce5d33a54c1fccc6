"""Arrays as they may lie in memory: either mode contiguous, lines apart, late beginnings, batches in common; with
canaries around."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

Array = Any
WAYS = ("whole", "pitched", "odd", "late", "across", "across odd")
"""Lines follow each other; have 16 elements between them, or 3; begin an element late; are columns; are columns with 3
between them."""


@dataclass(frozen=True)
class Placed:
    """Elements in memory: all of it, of which those that are not the array's are not numbers (or are all ones), and
    where the array lies."""

    memory: Array
    shape: tuple[int, ...]
    steps: tuple[int, ...]
    first: int = 0

    @property
    def array(self) -> Array:
        """The array, as a view of memory."""
        size = self.memory.itemsize
        steps = tuple(step * size for step in self.steps)
        return np.ndarray(self.shape, self.memory.dtype, self.memory, self.first * size, steps)

    def lay(self, there: Callable[[Array], Any]) -> tuple[Any, Any]:
        """Return memory on a device, and the array there."""
        memory = there(self.memory)
        if isinstance(memory, np.ndarray):
            return memory, Placed(memory, self.shape, self.steps, self.first).array
        return memory, memory.as_strided(self.shape, self.steps, self.first)

    def put(self, there: Callable[[Array], Any]) -> Any:
        """Return the array on a device."""
        return self.lay(there)[1]

    @cached_property
    def is_own(self) -> Array:
        """Which elements of memory are the array's."""
        own = Placed(np.zeros(self.memory.size, bool), self.shape, self.steps, self.first)
        own.array[...] = True
        return own.memory


def placed(values: Array, way: str, shared: bool = False) -> Placed:
    """Return an array that lies in a way; where matrices of a batch are ``shared``, the first is all of them."""
    *batch, rows, columns = values.shape
    across, gap = way.startswith("across"), {"whole": 0, "pitched": 16, "odd": 3, "late": 16, "across": 0}.get(way, 3)
    lines, length = (columns, rows) if across else (rows, columns)
    pitch, first = length + gap, {"late": 1, "odd": 3}.get(way, 16)
    each = 0 if shared else lines * pitch + 16
    leading = [each * prod(batch[mode + 1 :]) for mode in range(len(batch))]
    steps = (*leading, *((1, pitch) if across else (pitch, 1)))
    many = first + max(each, lines * pitch) * max(prod(batch), 1) + 64
    made = Placed(blank(many, values.dtype), tuple(values.shape), steps, first)
    made.array[...] = values[:1] if shared else values
    return made


def blank(many: int, dtype: Any) -> Array:
    """Memory in which nothing is a number, or all bits but the sign's are ones."""
    if np.dtype(dtype).kind in "iu":
        return np.full(many, np.iinfo(dtype).max, dtype)
    return np.full(many, np.nan, np.float32).astype(dtype)


def vector(values: Array, first: int = 3) -> Placed:
    """Return a line that begins late."""
    memory = blank(first + len(values) + 16, values.dtype)
    memory[first : first + len(values)] = values
    return Placed(memory, values.shape, (1,), first)
