"""Small kernels on the virtual GPU: one number in and several out per thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx

POISON = -559038737
"""What outputs hold before a kernel writes them."""


def per_thread(
    make: Callable[[Any, Any], Sequence[Any]], words: np.ndarray, outputs: int, active: Callable[[Any], Any] | None = None
) -> np.ndarray:
    """Run ``make(x, t)``, whose results are 32-bit integers, in a block of as many threads as words.

    ``active`` says which threads take part; what the others would have written stays poison.
    """
    threads = len(words)

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        t = fx.thread_idx.x
        held = x[t]
        if fx.const_expr(active is None):
            store(make(held, t), y, t)
        else:
            if active(t):
                store(make(held, t), y, t)

    @flyc.jit
    def run(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(grid=1, block=threads)

    result = np.full((threads, outputs), POISON, np.int32)
    run(words, result)
    return result


def store(found: Sequence[Any], y: Any, t: Any) -> None:
    for index, value in enumerate(found):
        y[t, index] = value
