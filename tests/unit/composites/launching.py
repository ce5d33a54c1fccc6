"""Kernels of one workgroup on the host device, with their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx


def run(body: Callable[..., None], *arguments: Any, threads: int = 64, **launch: Any) -> None:
    """Run ``body(a, out)`` or ``body(out)`` as a kernel of one workgroup."""
    kernel = flyc.kernel(body)
    if len(arguments) == 1:

        @flyc.jit
        def one(a: fx.Tensor) -> None:
            kernel(a).launch(grid=1, block=(threads, 1, 1), **launch)

        one(*arguments)
        return

    @flyc.jit
    def two(a: fx.Tensor, out: fx.Tensor) -> None:
        kernel(a, out).launch(grid=1, block=(threads, 1, 1), **launch)

    two(*arguments)


def numbers(count: int, dtype: Any = np.float32, seed: int = 0) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(0, 100, count).astype(dtype)
    return rng.random(count).astype(dtype)
