"""Memory that every rank has: symmetric tensors, and barriers of all blocks of a grid and of all ranks.

A rank is one device of several that work together. A symmetric tensor exists on each with the same layout; a table says
where. Barriers wait for blocks, so all blocks of the grid must run at the same time: launches that are too large for
that are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr import arith
from flydsl.expr.atoms.atomics import Scope, atomic
from flydsl.expr.atoms.signals import signal, wait
from flydsl.expr.memory.struct import struct
from flydsl.expr.numeric import Boolean, Int32
from flydsl.expr.tensors.ops_memory import inttoptr
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.trace.constexpr import Constexpr
from flydsl.expr.trace.context import current
from flydsl.expr.values.handle import apply


@struct
class Symmetric:
    """A tensor of this rank (``local``) and where that of every rank is: ``table[r]`` is the address on rank r.

    ``table[world]`` is an address that stands for all ranks at once, where the memory has one, else 0.
    """

    local: Tensor
    table: Tensor
    rank: Int32
    world: Constexpr[int]

    memory_is_fixed = True
    """Other ranks have the addresses, so nothing of it changes between calls, which need not look again."""

    def at(self, rank: Any) -> Any:
        """Return the tensor of a rank, this one's or another's; the rank may be known at run time only."""
        if isinstance(rank, int) and not 0 <= rank < self.world:
            raise DslValueError(f"there is no rank {rank}", hint=f"ranks are numbered 0 to {self.world - 1}")
        pointer = inttoptr(apply("get_iter", self.local).payload, self.table[rank])
        return apply("make_view", pointer, apply("get_layout", self.local))


def _index(op: str, dim: str) -> Int32:
    return Int32(current().op("arith.index_cast", [current().op(op, [], "index", {"dimension": dim})], "i32"))


def _only_if(condition: Boolean, build: Callable[[], None]) -> None:
    current().if_(condition.ir_value(), build, lambda: None, lambda: ([], []))


def _thread_number() -> Int32:
    size = getattr(current(), "known_block_size", None)
    x, (y, z) = _index("gpu.thread_id", "x"), (_index("gpu.thread_id", axis) for axis in "yz")
    if size is not None and size[1:] == (1, 1):
        return x
    columns, rows = _index("gpu.block_dim", "x"), _index("gpu.block_dim", "y")
    return x + columns * (y + rows * z)


def _block_number() -> Int32:
    x, y, z = (_index("gpu.block_id", axis) for axis in "xyz")
    columns, rows = _index("gpu.grid_dim", "x"), _index("gpu.grid_dim", "y")
    return x + columns * (y + rows * z)


def grid_barrier(counter: Any, *, scope: Scope = "device") -> None:
    """Wait for every block of the grid, and see what each wrote before.

    ``counter`` is a tensor in global memory whose first element, an integer, is zero before the first launch and counts
    arrivals from then on; no other launch may use it at the same time.
    """
    current().require_kernel("a grid barrier")
    current().require_residence()
    blocks = _index("gpu.grid_dim", "x") * _index("gpu.grid_dim", "y") * _index("gpu.grid_dim", "z")
    current().op("gpu.barrier", [])

    def meet() -> None:
        before = atomic("add", counter, 1, at=0, order="acq_rel", scope=scope)
        count = type(before)(blocks)
        wait(counter, (before // count + 1) * count, at=0, scope=scope)

    _only_if(_thread_number() == 0, meet)
    current().op("gpu.barrier", [])


def rank_barrier(signals: Symmetric, *, block: Any = None) -> None:
    """Wait for the same block of every rank, and see what each wrote before.

    ``signals`` is a symmetric tensor of 32-bit integers, of shape (blocks, ranks + 1), zero at first: in a block's row
    the first number counts its barriers, and the one at r + 1 is rank r's signal. Blocks are numbered over the grid, or
    by ``block``. Every rank launches as many blocks.
    """
    if not isinstance(signals, Symmetric):
        raise DslTypeError("a barrier of ranks needs symmetric signals", hint="pass an fx.Symmetric of 32-bit integers")
    current().require_kernel("a barrier of ranks")
    current().require_residence()
    size = getattr(current(), "known_block_size", None)
    if size is not None and size[0] * size[1] * size[2] < signals.world:
        raise DslValueError(
            f"a block of {size[0] * size[1] * size[2]} threads cannot signal {signals.world} ranks",
            hint="launch blocks of at least one thread for every rank",
        )
    row = _block_number() if block is None else block
    thread = _thread_number()
    there = signals.at(arith.min(thread, Int32(signals.world - 1)))  # looked up while others still come to the barrier
    current().op("gpu.barrier", [])
    count = signals.local[row, 0] + 1

    def meet() -> None:
        signal(there, count, at=(row, signals.rank + 1))
        wait(signals.local, count, at=(row, thread + 1))

    def note() -> None:
        signals.local[row, 0] = count

    _only_if(thread < signals.world, meet)
    current().op("gpu.barrier", [])
    _only_if(thread == 0, note)


__all__ = ["Symmetric", "grid_barrier", "rank_barrier"]
