"""Fragments that become memory of the thread, up to sizes that no stack of a worker thread has."""

from __future__ import annotations

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx

THREADS = 3


@pytest.mark.parametrize("count", [100, 1 << 16, (1 << 16) + 1, 1 << 22])
def test_a_fragment_of_any_size_is_indexed_at_run_time(count: int) -> None:
    @flyc.kernel
    def kernel(out: fx.Tensor):
        t = fx.thread_idx.x
        small, large = fx.make_rmem_tensor(7, fx.Int32), fx.make_rmem_tensor(count, fx.Int32)
        for i in range(7):
            small[i] = i * t
        for i in range(count):
            large[i] = i + t
        out[t] = large[(t + 1) * 1000003 % count] + small[t + 3]

    @flyc.jit
    def run(out: fx.Tensor):
        kernel(out).launch(grid=1, block=THREADS)

    out = np.full(THREADS, -1, np.int32)
    run(out)
    assert out.tolist() == [(t + 1) * 1000003 % count + t + (t + 3) * t for t in range(THREADS)]
