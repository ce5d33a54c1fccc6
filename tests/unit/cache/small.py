"""Tiny kernels, made anew at each call: functions that have never run, with the same key every time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx


def new_function(number: int = 5) -> Any:
    """A jit function whose kernel stores ``number * 7``."""

    @flyc.kernel
    def small_kernel(out: fx.Tensor):
        out[fx.thread_idx.x] = number * 7

    @flyc.jit
    def small(out: fx.Tensor):
        small_kernel(out).launch(block=(4, 1, 1))

    return small


def run(function: Any, number: int = 5) -> Any:
    """Run it, check what it stored, and answer with its counts."""
    out = np.full(4, -1, np.int32)
    function(out)
    assert (out == number * 7).all()
    return function.cache_info()


def storing(get: Callable[[], Any]) -> Any:
    """A jit function whose kernel stores what a function gives while it is traced."""

    @flyc.kernel
    def kernel(out: fx.Tensor):
        out[0] = fx.Float32(float(get()))

    @flyc.jit
    def store(out: fx.Tensor):
        kernel(out).launch()

    return store


def stored(fn: Any, dtype: Any = np.float32) -> float:
    """What it stores."""
    out = np.full(1, 99, dtype)
    fn(out)
    return float(out[0])
