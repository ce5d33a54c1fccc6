"""What a row kernel reads and writes, and what its code is given of a row (`row_loop.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import flydsl.expr as fx
from flydsl.kernels.blocks.exchange import RowExchange
from flydsl.kernels.blocks.rows import Line, Share


@dataclass(frozen=True)
class RowArrays:
    """What a kernel reads and writes: matrices row by row, and vectors that go with every row, as a scale or a shift.

    Sources have the plan's type. The first targets of that type are written where a tile of sources was.
    """

    sources: Sequence[Any]
    targets: Sequence[Any] = ()
    lines: Sequence[Any] = ()
    fill: float = 0.0
    """What elements beyond the row are."""
    numbers: int = 0
    """How many numbers the waves of a row tell each other."""
    pivot: bool = False
    """Whether the kernel asks for some elements of a row before all others, where a ring can bring them."""
    given: Sequence[Any] = ()
    """Vectors of f32 that have a number for each row; blocks that stay load those of their next row ahead."""


@dataclass(frozen=True)
class RowWork:
    """A row, or the part of it that this thread has."""

    x: list[Line]
    """The vectors of each source."""
    lines: list[Line]
    exchange: RowExchange
    share: Share
    index: Any
    """Which row of the matrices it is; the last one for threads that have none."""
    alive: Any
    """Whether the thread has a row; True where that is known while compiling."""
    stores: list[Callable[[int, Any], None]]
    given: Sequence[Any] = ()
    """The row's numbers of `RowArrays.given`."""
    never: Any = False
    """What is false for every row, which LLVM does not know; nothing where that is of no use (`row_sums.py`)."""
    begun: bool = False
    """Whether the first pass over the row has been, and what waves tell each other is on its way."""
    nothing: Any = None
    """A number that is always zero, which LLVM does not know either; None where that is of no use."""

    def store(self, iteration: int, vector: fx.Vector, target: int = 0) -> None:
        """Write one of this thread's vectors of a result."""
        self.stores[target](iteration, vector)

    def put(self, tensor: fx.Tensor, value: Any) -> None:
        """Write a number of the row, the same in all its threads."""
        first = (self.share.lane == 0) & (fx.Int32(self.share.offset) == 0)
        if first if self.alive is True else first & self.alive:
            tensor[self.index] = value


RowCode = Callable[[RowWork], None]
