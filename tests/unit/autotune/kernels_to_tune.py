"""Small kernels with something to tune, in a module that worker processes can import."""

from __future__ import annotations

from typing import Any

import numpy as np

import flydsl
import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.autotune import Config
from tests.support import random_data

SIZE = 137
"""Elements: no block size divides it."""


class Clock:
    """A do_bench whose times are scripted by block size; remembers what it measured."""

    def __init__(self, **times: float) -> None:
        self.times = times
        self.measured: list[int] = []

    def __call__(self, fn: Any, warmup: int, rep: int) -> float:
        fn()
        block = fn.config.kwargs["BLOCK"]
        self.measured.append(block)
        return self.times.get(f"b{block}", float(block))


@flyc.kernel
def axpy_kernel(A: fx.Tensor, B: fx.Tensor, n: fx.Int32, BLOCK: fx.Constexpr[int], FACTOR: fx.Constexpr[float]):
    i = fx.block_idx.x * BLOCK + fx.thread_idx.x
    if i < n:
        B[i] = B[i] + A[i] * FACTOR


@flyc.jit
def axpy(
    A: fx.Tensor,
    B: fx.Tensor,
    n: fx.Int32,
    BLOCK: fx.Constexpr[int],
    FACTOR: fx.Constexpr[float] = 2.0,
    stream: fx.Stream = fx.Stream(None),
):
    """B += 2 * A, in place: a run more or less shows."""
    if fx.const_expr(BLOCK > 1024):
        raise ValueError(f"BLOCK={BLOCK} is too much")
    axpy_kernel(A, B, n, BLOCK, FACTOR).launch(
        grid=((n + BLOCK - 1) // BLOCK, 1, 1), block=(BLOCK, 1, 1), stream=stream
    )


def blocks(*sizes: int) -> list[Config]:
    return [Config(BLOCK=size) for size in sizes]


def arrays(n: int = SIZE) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, B and what B holds after one run."""
    rng = random_data.generator()
    a, b = rng.standard_normal(n).astype(np.float32), rng.standard_normal(n).astype(np.float32)
    return a, b, (b.astype(np.float64) + 2 * a.astype(np.float64)).astype(np.float32)


def fresh(function: Any) -> Any:
    """The same jit function without what earlier tests compiled and tuned."""
    return flyc.jit(function.func)


@flydsl.autotune(configs=blocks(32, 64), key=["n"], rep=2, warmup=1)
@flyc.jit
def tuned_axpy(A: fx.Tensor, B: fx.Tensor, n: fx.Int32, BLOCK: fx.Constexpr[int]):
    """As a user writes it, found by workers under this name."""
    axpy_kernel(A, B, n, BLOCK, 2.0).launch(grid=((n + BLOCK - 1) // BLOCK, 1, 1), block=(BLOCK, 1, 1))
