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
    make: Callable[[Any, Any], Sequence[Any]],
    words: np.ndarray,
    outputs: int,
    active: Callable[[Any], Any] | None = None,
) -> np.ndarray:
    """Run ``make(x, t)``, whose results are 32-bit integers, in a block of as many threads as words.

    ``active`` says which threads take part; what the others would have written stays poison.
    """
    threads = len(words)
    takes_part = active or (lambda t: t >= 0)

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        t = fx.thread_idx.x
        held = x[t]
        if fx.const_expr(active is None):
            store(make(held, t), y, t)
        else:
            if takes_part(t):
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


MOST_ARGUMENTS = 5


def launch(body: Callable[..., None], *arguments: Any, threads: int = 64, grid: Any = 1, cluster: Any = None) -> None:
    """Run ``body(thread, *arguments)``, which may branch on run-time values, over arrays and integers."""
    count = len(arguments)
    inline = flyc.jit(body)

    @flyc.kernel
    def kernel(a: Any, b: Any, c: Any, d: Any, e: Any):
        inline(fx.thread_idx.x, *(a, b, c, d, e)[:count])

    @flyc.jit
    def run(a: Any, b: Any, c: Any, d: Any, e: Any):
        kernel(a, b, c, d, e).launch(grid=grid, block=threads, cluster=cluster)

    run(*arguments, *[0] * (MOST_ARGUMENTS - count))
