"""A kernel of the library as something to compile: its targets, its jit function, and what it is called with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

import flydsl.compiler as flyc

CDNA = ("gfx942", "gfx950")
NEW = ("gfx950",)
RDNA = ("gfx1100", "gfx1201")
EVERY = (*CDNA, *RDNA)
FP8 = {"gfx942": "float8_e4m3fnuz", "gfx950": "float8_e4m3fn", "gfx1201": "float8_e4m3fn"}


class Array(NamedTuple):
    """Shape and element type of an argument, and what it is filled with where the kernel runs."""

    shape: tuple[int, ...]
    dtype: str
    value: int = 0

    def described(self) -> Any:
        return flyc.TensorSpec(self.shape, self.dtype)

    def filled(self) -> Any:
        kind = getattr(ml_dtypes, self.dtype, self.dtype)
        return np.full(self.shape, self.value, kind) if self.value else np.zeros(self.shape, kind)


class Size(NamedTuple):
    """Extents of a product, or of what is most like one: rows, columns and the depth of the sum."""

    m: int
    n: int
    k: int


LARGE = Size(1024, 1024, 4096)
SMALL = Size(256, 256, 1024)
"""What machine code is shown of, and what runs on the virtual GPU to find bank conflicts."""


@dataclass(frozen=True)
class Case:
    """A kernel: its name, its targets, and its jit function with arguments for a target and a size."""

    name: str
    archs: tuple[str, ...]
    make: Callable[[str, Size], tuple[Any, tuple[Any, ...]]]
    large: bool = False
    """Whether it has a tile with which the matrix core of gfx950 has to be busy most of the time."""
    peer: str = ""
    """The kernel of the same tile in `peers/triton_tiles.py`, or none."""

    def described(self, arch: str, size: Size = LARGE) -> tuple[Any, list[Any]]:
        """The function, and its arguments as descriptions."""
        function, given = self.make(arch, size)
        return function, [one.described() if isinstance(one, Array) else one for one in given]

    def filled(self, arch: str, size: Size = LARGE) -> tuple[Any, tuple[Any, ...]]:
        """The function, and its arguments as arrays, most of them of zeros."""
        function, given = self.make(arch, size)
        return function, tuple(one.filled() if isinstance(one, Array) else one for one in given)
