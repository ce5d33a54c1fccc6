"""printf from a kernel on a real GPU."""

from __future__ import annotations

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx

pytestmark = pytest.mark.gpu


@flyc.kernel
def print_numbers(x: fx.Tensor):
    i = fx.thread_idx.x
    fx.printf("thread {} holds {:.3f} of {}, 100%", i, x[i], x.layout)


@flyc.jit
def print_all(x: fx.Tensor):
    print_numbers(x).launch(grid=(1, 1, 1), block=(4, 1, 1))


def test_every_thread_prints(capfd: pytest.CaptureFixture[str]) -> None:
    device = flyc.current_device()
    x = np.array([0.5, 1.25, -2.0, 8.0], np.float32)
    with device.arrays(x) as (dX,):
        print_all(dX)
    lines = sorted(capfd.readouterr().out.splitlines())
    assert lines == [f"thread {i} holds {v:.3f} of 4:1, 100%" for i, v in enumerate(x)]
