"""How blocks of the second launch learn which rows are there, while blocks of the first are still at work.

A block of the first launch has a word in memory, which says what it has done. It sets the word to zero before it lets
the second launch begin; that begins when all blocks of the first have let it, so who waits for a word finds it of this
call, and the blocks it waits for are running or done.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.moe.few_tokens.plan import THREADS

ALL_BUT_LAST, ALL = 1, 2
"""Turns that a block of the first launch has done."""


class Progress:
    """Words of the first launch's blocks."""

    def __init__(self, words: Any, blocks: int) -> None:
        self.words, self.blocks = words, blocks

    @flyc.jit
    def begin(self) -> None:
        """No turn is done, and the second launch may begin. A thread of the last warp says so: the first ones find the
        experts meanwhile."""
        if fx.thread_idx.x == THREADS - 1:
            self.words[fx.block_idx.x] = 0
            fx.fence("device")
            fx.nvvm.griddepcontrol_launch_dependents()

    @flyc.jit
    def tell(self, done: int) -> None:
        """The block has written the rows of so many of its turns."""
        fx.barrier()
        if fx.thread_idx.x == 0:
            fx.signal(self.words, done, at=fx.block_idx.x, scope="device")

    @flyc.jit
    def wait(self, done: int) -> None:
        """Wait until all blocks have told so; then the whole block sees their rows."""
        for block in range(fx.thread_idx.x, self.blocks, THREADS):
            fx.wait(self.words, done, at=block, scope="device")
        fx.barrier()

    def experts_early(self, count: Any, units: int) -> Any:
        """Return how many of the chosen experts, each so many turns of a block, need no block's last turn."""
        return fx.max(count * units - self.blocks, fx.Int32(0)) // units
