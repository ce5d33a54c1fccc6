"""The short form of a kernel is right, has no more instructions than the one by hand, and half its lines or fewer."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compiler.lowering.kernel_cost import KernelCost
from tests.unit.copies import written_twice as kernels

TARGETS = ("gfx942", "gfx950", "sm_90a")


def lines(kernel: Any) -> int:
    """Lines of a kernel's body that say something."""
    text = inspect.getsource(kernel.func).split(":\n", 1)[1]
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in text.splitlines())


def launched(kernel: Any, args: list[Any], grid: Any, block: int, *more: Any) -> KernelCost:
    """Run a kernel of two or three tensors, and say what it costs."""
    if len(args) == 2:

        @flyc.jit
        def launch(x: fx.Tensor, y: fx.Tensor):
            kernel(x, y, *more).launch(grid=grid, block=block)
    else:

        @flyc.jit
        def launch(x: fx.Tensor, y: fx.Tensor, z: fx.Tensor):
            kernel(x, y, z, *more).launch(grid=grid, block=block)

    launch(*args)
    return launch.specialisations[0].kernels[0]


def memory(cost: KernelCost) -> int:
    return sum(count for name, count in cost.instructions.items() if name.startswith(("shared", "global")))


def compare(short: KernelCost, by_hand: KernelCost, short_kernel: Any, hand_kernel: Any) -> None:
    assert memory(short) <= memory(by_hand)
    assert sum(short.instructions.values()) <= 1.1 * sum(by_hand.instructions.values())
    assert (short.registers or 0) <= 1.25 * (by_hand.registers or 0)
    assert 2 * lines(short_kernel) <= lines(hand_kernel)


def tensor(array: Any) -> Any:
    return flyc.from_dlpack(array, assumed_align=16)


@pytest.mark.parametrize("arch", TARGETS)
def test_transpose(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    x = np.random.default_rng(0).integers(-999, 999, (128, 192)).astype(np.int16)
    costs = []
    for kernel in (kernels.transpose_short, kernels.transpose_by_hand):
        out = np.zeros((192, 128), np.int16)
        costs.append(launched(kernel, [tensor(x), tensor(out)], (2, 3, 1), 64))
        np.testing.assert_array_equal(out, x.T)
    compare(*costs, kernels.transpose_short, kernels.transpose_by_hand)
    assert memory(costs[0]) == 16


@pytest.mark.parametrize("arch", TARGETS)
def test_softmax(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    wave = 32 if arch == "sm_90a" else 64
    n = 1000
    x = np.random.default_rng(0).standard_normal((6, n)).astype(np.float16)
    want = np.exp(x.astype(np.float64))
    want /= want.sum(1, keepdims=True)
    costs = []
    for kernel in (kernels.softmax_short, kernels.softmax_by_hand):
        out = np.zeros((6, n), np.float16)
        costs.append(launched(kernel, [tensor(x), tensor(out)], 6, wave, n, wave))
        np.testing.assert_allclose(out, want, rtol=2e-3, atol=1e-6)
    compare(*costs, kernels.softmax_short, kernels.softmax_by_hand)


def test_gemm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    a, b = (np.random.default_rng(i).integers(-3, 4, (64, 32)).astype(np.float16) for i in (1, 2))
    costs = []
    for kernel in (kernels.gemm_short, kernels.gemm_by_hand):
        out = np.zeros((64, 64), np.float32)
        costs.append(launched(kernel, [tensor(a), tensor(b), tensor(out)], 1, 128))
        np.testing.assert_array_equal(out, a.astype(np.float32) @ b.astype(np.float32).T)
    compare(*costs, kernels.gemm_short, kernels.gemm_by_hand)
