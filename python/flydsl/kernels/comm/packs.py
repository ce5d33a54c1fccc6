"""Packs of 16 bytes that ranks exchange: what a block does with its share of them before, between and after barriers.

Every rank has a stage in symmetric memory, (halves, parts, bytes) of it. A call uses the half of its own number modulo
two. When a rank fills a half again, two calls later, it has met all others in between, and so they have long read it;
that is why no barrier stands at the end of a call. Calls are counted in memory, so that replayed graphs go on counting.

Packs are dealt to blocks alike on every rank: a block reads only what the same block of another rank wrote, so blocks
of one number meet each other and no one else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx

PACK_BYTES = 16
INPUT, RESULT = 0, 1
PARTS = 2
"""Parts of a half: what ranks give, and what some make of it."""


class Exchange:
    """What every thread of a collective knows: the stage, the signals, the type, and which packs are its own."""

    def __init__(self, stage: fx.Symmetric, signals: fx.Symmetric, dtype: type[fx.Numeric], threads: int) -> None:
        self.stage, self.signals, self.dtype, self.threads = stage, signals, dtype, threads
        self.width = PACK_BYTES * 8 // dtype.width
        self.world, self.rank = signals.world, signals.rank
        self.block = fx.block_idx.x
        self.first = self.block * threads + fx.thread_idx.x
        self.step = fx.grid_dim.x * threads
        self.calls = signals.local[self.block, self.world + 1]
        self._stages = [stage.at(rank) for rank in range(self.world)]
        """The stages of ranks that are known when compiling: addresses are looked up before anybody waits."""

    def packs(self, count: fx.Int32) -> Any:
        """Packs that hold so many elements."""
        return fx.ceildiv(count, fx.Int32(self.width))

    def part(self, count: fx.Int32) -> Any:
        """Packs that a rank owns where so many elements are dealt to all of them; the last ones may own fewer."""
        return fx.ceildiv(self.packs(count), fx.Int32(self.world))

    def staged(self, rank: int | fx.Int32, pack: fx.Int32, part: int = INPUT) -> Any:
        """Return a pack of a rank's stage, in the half of this call."""
        stage = self._stages[rank] if isinstance(rank, int) else self.stage.at(rank)
        return self.pack(fx.get_iter(stage[self.calls & 1, part, None]), pack)

    def own(self, pack: fx.Int32, part: int = INPUT) -> Any:
        """Return a pack of this rank's stage, which needs no look into the table."""
        return self.pack(fx.get_iter(self.stage.local[self.calls & 1, part, None]), pack)

    def place(self, pack: fx.Int32, part: int = INPUT) -> Any:
        """Return the coordinate of a pack in the stage, in the half of this call."""
        return self.calls & 1, part, pack * PACK_BYTES

    def pack(self, base: fx.Pointer, pack: fx.Int32) -> Any:
        start = fx.recast_iter(self.dtype, base) + pack * self.width
        return fx.make_view(start.aligned(PACK_BYTES), fx.make_layout(self.width, 1))

    def put(self, pack: fx.Int32, vector: fx.Vector, part: int = INPUT) -> None:
        """Write a pack of this rank's stage."""
        self.own(pack, part).store(vector.to(self.dtype))

    def wide(self, rank: int | fx.Int32, pack: fx.Int32, part: int = INPUT) -> Any:
        """Return a pack of a rank's stage in f32."""
        return self.staged(rank, pack, part).load().to(fx.Float32)

    def total(self, read: Callable[[int], Any]) -> Any:
        """Return the sum of what ``read(rank)`` gives in f32, in the order of ranks on every rank, rounded once."""
        result = read(0)
        for rank in range(1, self.world):
            result = result + read(rank)
        return result.to(self.dtype)

    def meet(self) -> None:
        """The same block of every rank has come here, and what each wrote is seen."""
        fx.rank_barrier(self.signals, block=self.block)

    @flyc.jit
    def finish(self) -> None:
        """The call is over: the next one uses the other half."""
        fx.barrier()
        if fx.thread_idx.x == 0:
            self.signals.local[self.block, self.world + 1] = self.calls + 1


def _line(tensor: fx.Tensor, start: fx.Int32, width: int) -> tuple[Any, Any]:
    """Return a pack in a tensor of any alignment: (view of the elements, whether it may be moved as one)."""
    pointer = fx.get_iter(tensor) + start
    wide = fx.make_view(pointer.aligned(PACK_BYTES), fx.make_layout(width, 1))
    return wide, (fx.ptrtoint(pointer) & (PACK_BYTES - 1)) == 0


@flyc.jit
def load_pack(tensor: fx.Tensor, start: fx.Int32, left: fx.Int32, exchange: Exchange) -> Any:
    """Elements of a tensor from ``start`` on, of which ``left`` belong to it; zeros follow."""
    wide, aligned = _line(tensor, start, exchange.width)
    held = fx.make_rmem_tensor(exchange.width, exchange.dtype)
    if aligned & (left >= exchange.width):
        held.store(wide.load())
    else:
        for i in fx.range_constexpr(exchange.width):
            value = exchange.dtype(0.0)
            if left > i:
                value = tensor[start + i]
            held[i] = value
    return held.load()


@flyc.jit
def store_pack(vector: fx.Vector, tensor: fx.Tensor, start: fx.Int32, left: fx.Int32, exchange: Exchange) -> None:
    """Write elements to a tensor from ``start`` on, as many as ``left`` says belong to it."""
    wide, aligned = _line(tensor, start, exchange.width)
    if aligned & (left >= exchange.width):
        wide.store(vector)
    else:
        for i in fx.range_constexpr(exchange.width):
            if left > i:
                tensor[start + i] = vector[i]
