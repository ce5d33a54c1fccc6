"""A run gives the same bits with one worker or many, and again; only floats added by atomics may differ.

The order in which workgroups run is the pool's; what a workgroup computes is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.gemm.naive import build_naive_gemm_module
from flydsl.kernels.gemm.tiled import build_tiled_gemm_module
from flydsl.kernels.norm.layernorm import build_layernorm_module
from flydsl.kernels.norm.rmsnorm import build_rmsnorm_module
from flydsl.kernels.norm.softmax import build_softmax_module
from flydsl.runtime import host_pool
from tests.support import random_data

WORKERS = (0, 1, 3, 8)
"""Beside the calling thread."""


@pytest.fixture(autouse=True)
def usual_workers() -> Iterator[None]:
    yield
    host_pool.restart(max(host_pool.available_cores() - 1, 0))


def numbers(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return random_data.generator().standard_normal(shape).astype(dtype)


def softmax() -> np.ndarray:
    x, out = numbers(61, 1000), np.full((61, 1000), np.nan, np.float32)
    return both(lambda: build_softmax_module(61, 1000, "f32")(x, out, 61), out)


def rmsnorm() -> np.ndarray:
    x, gamma, out = numbers(61, 777), numbers(777), np.full((61, 777), np.nan, np.float32)
    return both(lambda: build_rmsnorm_module(777, "f32")(x, gamma, out, 61), out)


def layernorm() -> np.ndarray:
    x, gamma, beta, out = numbers(61, 777), numbers(777), numbers(777), np.full((61, 777), np.nan, np.float32)
    return both(lambda: build_layernorm_module(777, "f32")(x, gamma, beta, out, 61), out)


def naive_gemm() -> np.ndarray:
    a, b, out = numbers(70, 99), numbers(65, 99), np.full((70, 65), np.nan, np.float32)
    return both(lambda: build_naive_gemm_module()(a, b, out, 70, 65, 99), out)


def tiled_gemm() -> np.ndarray:
    a, b = numbers(300, 136, dtype=np.float16), numbers(200, 136, dtype=np.float16)
    out = np.full((300, 200), np.nan, np.float32)
    return both(lambda: build_tiled_gemm_module(200, 136, "f16", 64, 64)(a, b, out, 300), out)


def both(run: Callable[[], Any], out: np.ndarray) -> np.ndarray:
    """Run with every number of workers, several times each, and see that the first bits come out always."""
    run()
    first = out.copy()
    assert not np.isnan(first).any()
    for workers in WORKERS:
        host_pool.restart(workers)
        for _ in range(3):
            out.fill(np.nan)
            run()
            np.testing.assert_array_equal(out.view(np.uint32), first.view(np.uint32))
    return first


@pytest.mark.parametrize("kernel", [softmax, rmsnorm, layernorm, naive_gemm, tiled_gemm])
@pytest.mark.parametrize("arch", ["gfx942", "gfx1201", "sm_90a"])
def test_the_bits_do_not_depend_on_the_workers(
    kernel: Callable[[], np.ndarray], arch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", arch)
    kernel()


@flyc.kernel
def count_kernel(values: fx.Tensor, total: fx.Tensor):
    one = fx.make_rmem_tensor(1, fx.Int32)
    one[0] = values[fx.block_idx.x * 64 + fx.thread_idx.x]
    place = fx.make_view(fx.get_iter(total), fx.make_layout(1, 1))
    fx.copy_atom_call(fx.make_copy_atom(fx.UniversalAtomicAdd(fx.Int32), fx.Int32), one, place)


@flyc.jit
def count(values: fx.Tensor, total: fx.Tensor, blocks: fx.Int32):
    count_kernel(values, total).launch(grid=(blocks, 1, 1), block=(64, 1, 1))


def test_atomics_on_integers_are_exact_in_any_order() -> None:
    values = random_data.generator().integers(-1000, 1000, 64 * 300, dtype=np.int32)
    total = np.zeros(1, np.int32)
    count(values, total, 300)
    for workers in WORKERS:
        host_pool.restart(workers)
        total[:] = 0
        count(values, total, 300)
        assert total[0] == values.sum()
