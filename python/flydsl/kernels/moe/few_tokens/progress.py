"""How blocks of the second launch learn which rows are there, while blocks of the first are still at work.

A row says so itself, by words that are awaited (`blocks/exchange.py`). A block of the first launch says that none
is there where its own rows will be before it lets the second launch begin; that begins when all blocks of the first
have let it, so who looks at a place finds what this call left there, and the blocks it waits for are running or done.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.exchange import MISSING, forget, look, tell, word_at
from flydsl.kernels.moe.few_tokens.plan import STRIP, THREADS, Stage

NUMBERS = 4
"""Of a word, of 16 bits each."""


class AwaitedRows:
    """Gated rows of each chosen expert and token, which blocks of the first launch write and those of the second await.

    ``inner`` is (expert's number * T + token, column) of 16 bits.
    """

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def place(self, row: Any, column: Any) -> Any:
        return word_at(fx.get_iter(self.inner[row, None]) + column)

    @flyc.jit
    def begin(self, stage: Stage, blocks: int, T: Any, most: Any) -> None:
        """Nothing is there of the rows that this block, one of so many, will write, of so many experts at most, and the
        second launch may begin. The last warp says so: the first ones find the experts meanwhile."""
        if fx.thread_idx.x >= THREADS - 32:
            units, block = stage.units, fx.Int32(fx.block_idx.x)
            of_token = stage.side_by_side * (STRIP // 2 // NUMBERS)
            of_unit, turns = T * of_token, fx.max(fx.ceildiv(most * units - block, blocks), fx.Int32(0))
            for i in range(fx.lane_id(), turns * of_unit, 32):
                unit, token, word = block + i // of_unit * blocks, i % of_unit // of_token, i % of_token
                place = self.place(unit // units * T + token, (unit % units * of_token + word) * NUMBERS)
                forget(place)
            fx.fence("device")
            fx.nvvm.barrier_sync(THREADS // 32, 32)
            fx.nvvm.griddepcontrol_launch_dependents()

    def write(self, row: Any, column: Any, numbers: Any) -> None:
        """Write four numbers of a row, so that others see all of them or none."""
        tell(self.place(row, column), numbers.to(self.inner.dtype))

    @flyc.jit
    def wait_for(self, row: Any) -> None:
        """The block waits until the end of a row is there. One thread looks: if many looked again and again, weights
        would come later."""
        if fx.thread_idx.x == 0:
            last = self.place(row, self.inner.shape[1] - NUMBERS)
            fx.wait(last, MISSING, until="differs", order="relaxed", scope="device")
        fx.barrier()

    @flyc.jit
    def load(self, pointers: list[Any]) -> list[Any]:
        """Return pieces of 16 bytes as four words each, once all of them are there."""
        halves = [word_at(pointer + half * NUMBERS) for pointer in pointers for half in range(2)]
        found = fx.make_rmem_tensor(len(halves), fx.Int64)
        while look(halves, found):
            pass
        words = found.load().bitcast(fx.Int32)
        return [fx.Vector.from_elements([words[4 * i + j] for j in range(4)], fx.Int32) for i in range(len(pointers))]
