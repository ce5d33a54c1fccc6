"""Values of other lanes that a loop carries: every lane reads the value of the iteration before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs

LANES = np.arange(64)


def _run(body: Callable[..., Any], arch: str, n: int = 3) -> np.ndarray:
    kernel = flyc.kernel(body)

    @flyc.jit
    def host(out: fx.Tensor, n: fx.Int32):
        kernel(out, n).launch(block=(64, 1, 1))

    out = np.zeros(64, np.int32)
    with knobs.scope({knobs.ARCH: arch}):
        host(out, n)
    return out


def _up(v: np.ndarray) -> np.ndarray:
    return np.where(LANES % 32 >= 5, np.roll(v, 5), v)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1201", "sm_90a"])
def test_a_shuffle_of_a_carried_value(arch: str) -> None:
    def with_known_turns(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        v = n * 10 + t
        for _ in range(n):
            v = fx.shuffle_up(v, 5, 32)
        out[t] = v

    def two_in_turn(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        v, w = t, t * 100
        for _ in range(n):
            v, w = fx.shuffle_up(w, 5, 32), fx.shuffle_up(v, 5, 32)
        out[t] = v + w * 7

    def after_the_read(out: fx.Tensor, n: fx.Int32):
        t = fx.thread_idx.x
        v, kept, i = t, t, 0
        while i < n:
            i += 1
            kept = fx.shuffle_xor(v, 1, 32)
            v = v * 3 + kept
        out[t] = v * 1000 + kept

    v = 30 + LANES
    for _ in range(3):
        v = _up(v)
    np.testing.assert_array_equal(_run(with_known_turns, arch), v)
    v, w = LANES, LANES * 100
    for _ in range(3):
        v, w = _up(w), _up(v)
    np.testing.assert_array_equal(_run(two_in_turn, arch), v + w * 7)
    v = LANES
    for _ in range(3):
        kept = v[LANES ^ 1]
        v = v * 3 + kept
    np.testing.assert_array_equal(_run(after_the_read, arch), (v * 1000 + kept).astype(np.int32))
