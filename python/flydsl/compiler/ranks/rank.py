"""What a program knows of the rank that it is: its number, the others, and memory that all of them reach."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

from numpy.typing import DTypeLike

from flydsl.base.errors import DslValueError
from flydsl.expr.memory.symmetric import Symmetric
from flydsl.runtime.symmetric_memory import address_table

T = TypeVar("T")


class Rank(ABC):
    """One of several devices that work together. ``number`` counts from 0, ``world`` is how many there are."""

    def __init__(self, number: int, world: int) -> None:
        self.number, self.world = number, world
        self.multicast = True
        """Whether symmetric tensors have an address that stands for all ranks (`fx.nvvm.multimem_store`)."""

    @abstractmethod
    def barrier(self) -> None:
        """Wait for every rank on the host."""

    @abstractmethod
    def exchange(self, value: T) -> list[T]:
        """Return what every rank gave, in the order of ranks."""

    @abstractmethod
    def _allocate(self, shape: Sequence[int], dtype: DTypeLike) -> tuple[Any, list[int], int]:
        """Zeroed memory of this rank, the addresses of that of every rank, and the one of all at once, or 0."""

    def agree(self, what: str, value: object) -> None:
        """Refuse to go on where ranks disagree on something that must be the same for all."""
        found = self.exchange(value)
        if any(other != found[0] for other in found):
            odd = next(number for number, other in enumerate(found) if other != found[0])
            raise DslValueError(
                f"ranks disagree on the {what}: rank 0 has {found[0]}, rank {odd} has {found[odd]}",
                hint="make the same call on every rank",
            )

    def symmetric(self, shape: int | Sequence[int], dtype: DTypeLike) -> Any:
        """Return a tensor of zeros that exists on every rank, as kernels take it: ``fx.Symmetric``. All ranks call
        it."""
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        self.agree("shape and type of a symmetric tensor", (sizes, str(dtype)))
        local, addresses, multicast = self._allocate(sizes, dtype)
        self.barrier()
        table = address_table(local, addresses, multicast)
        return Symmetric(local=local, table=table, rank=self.number, world=self.world)


class ThreadRank(Rank):
    """A rank that is a thread of this process; ``board`` is where ranks tell each other what they exchange."""

    def __init__(self, number: int, board: list[Any]) -> None:
        super().__init__(number, len(board))
        self._board = board

    def exchange(self, value: T) -> list[T]:
        """Return what every rank gave, in the order of ranks."""
        self._board[self.number] = value
        self.barrier()
        found = list(self._board)
        self.barrier()
        return found
