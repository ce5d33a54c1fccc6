"""The repository's own kernels run under every sanitizer without a word, and give the right results."""

from __future__ import annotations

import runpy
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from flydsl.kernels.attention.attention import attention
from flydsl.kernels.gemm.hopper_matmul import hopper_gemm
from flydsl.kernels.gemm.naive import build_naive_gemm_module
from flydsl.kernels.gemm.tiled import build_tiled_gemm_module
from flydsl.kernels.norm.layernorm import build_layernorm_module
from flydsl.kernels.norm.rmsnorm import build_rmsnorm_module
from flydsl.kernels.norm.softmax import build_softmax_module
from tests.unit.sanitize.planting import numbers, poisoned

TARGETS = ("gfx942", "gfx1201", "sm_90a")
ROOT = Path(__file__).resolve().parents[3]

on_each_target = pytest.mark.parametrize("target", TARGETS)


@pytest.fixture(autouse=True)
def everything_checked(request: pytest.FixtureRequest) -> Any:
    target = request.node.callspec.params["target"] if hasattr(request.node, "callspec") else None
    with knobs.scope({knobs.ARCH: target, knobs.RUNTIME_KIND: "host"}), flyc.sanitize():
        yield


@on_each_target
@pytest.mark.parametrize("shape", [(1, 7), (3, 1000), (2, 4097)], ids=str)
def test_softmax(target: str, shape: tuple[int, int]) -> None:
    x, y = numbers(*shape), poisoned(*shape)
    build_softmax_module(*shape, "f32")(x, y, shape[0])
    powers = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, powers / powers.sum(1, keepdims=True), rtol=1e-5)


@on_each_target
@pytest.mark.parametrize("shape", [(2, 1), (3, 1000)], ids=str)
def test_norms(target: str, shape: tuple[int, int]) -> None:
    x, gamma, beta = numbers(*shape), numbers(shape[1]), numbers(shape[1])
    wide = x.astype(np.float64)
    y = poisoned(*shape)
    build_rmsnorm_module(shape[1], "f32")(x, gamma, y, shape[0])
    scale = 1 / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(y, wide * scale * gamma, rtol=1e-4)
    y = poisoned(*shape)
    build_layernorm_module(shape[1], "f32")(x, gamma, beta, y, shape[0])
    centred = wide - wide.mean(1, keepdims=True)
    np.testing.assert_allclose(
        y, centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * gamma + beta, rtol=1e-4, atol=1e-5
    )


@on_each_target
def test_attention(target: str, rng: np.random.Generator) -> None:
    """But for threads without a piece of their own, which write that of others again: that is a race of equal bytes."""
    q, k, v = (rng.standard_normal((1, 2, length, 32)).astype(np.float16) for length in (5, 9, 9))
    with flyc.sanitize("bounds", "uninit", "barrier"):
        out = attention(q, k, v)
    scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(2, 3) / np.sqrt(32)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    np.testing.assert_allclose(out, powers / powers.sum(-1, keepdims=True) @ v, atol=2e-3)


@pytest.mark.parametrize("target", ["sm_90a"])
def test_products_of_lines_that_are_packed(target: str, rng: np.random.Generator) -> None:
    """Lines of 9 halves do not start at multiples of 16 bytes: whole pieces of copies are written."""
    a, b, c = rng.standard_normal((5, 9)), rng.standard_normal((9, 7)), np.full((5, 7), np.nan, np.float16)
    hopper_gemm(a.astype(np.float16), b.astype(np.float16), c)
    np.testing.assert_allclose(c, a @ b, atol=2e-2)


@on_each_target
@pytest.mark.parametrize("algorithm", list(fx.coop.BlockReduceAlgorithm), ids=lambda a: a.name)
def test_cooperative_operations(target: str, algorithm: Any) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        t = fx.thread_idx.x
        total = fx.coop.BlockReduce(fx.Float32, algorithm=algorithm).sum(A[t])
        before = fx.coop.BlockScan(fx.Float32).exclusive(A[t], "add", init=0.0)
        B[t] = total + before

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(192, 1, 1))

    a, b = numbers(192), poisoned(192)
    run(a, b)
    wide = a.astype(np.float64)
    np.testing.assert_allclose(b, wide.sum() + wide.cumsum() - wide, rtol=1e-5)


@on_each_target
def test_matrix_products(target: str) -> None:
    m, n, k = 65, 130, 72
    a, b = numbers(m, k).astype(np.float16), numbers(n, k).astype(np.float16)
    expected = a.astype(np.float64) @ b.astype(np.float64).T
    c = poisoned(m, n)
    build_naive_gemm_module()(a, b, c, m, n, k)
    np.testing.assert_allclose(c, expected, rtol=1e-5)
    c.fill(np.nan)
    build_tiled_gemm_module(n, k, "f16", 64, 64)(a, b, c, m)
    np.testing.assert_allclose(c, expected, rtol=1e-5)


@pytest.mark.parametrize("target", TARGETS[:1])
@pytest.mark.parametrize("example", sorted(p.name for p in (ROOT / "examples").glob("*.py")))
def test_example(target: str, example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [example])
    of_ranks = "virtual_ranks" in (ROOT / "examples" / example).read_text()
    with flyc.sanitize("ranks") if of_ranks else nullcontext():
        runpy.run_path(str(ROOT / "examples" / example), run_name="__main__")


@on_each_target
def test_reading_what_another_wave_wrote_before_a_barrier(target: str) -> None:
    """Every thread reads every element, turn after turn, in the one buffer."""

    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor, turns: fx.Int32):
        buffer = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 96])
        t = fx.thread_idx.x
        total = fx.Float32(0.0)
        for turn in range(turns):
            buffer[t] = A[turn, t]
            fx.barrier()
            for i in range(96):
                total = total + buffer[i]
            fx.barrier()
        B[t] = total

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, turns: fx.Int32):
        kernel(A, B, turns).launch(block=(96, 1, 1))

    a, b = numbers(3, 96), poisoned(96)
    run(a, b, 3)
    np.testing.assert_allclose(b, a.astype(np.float64).sum(), rtol=1e-4)


@on_each_target
def test_lanes_of_a_wave_are_ordered_by_a_collective(target: str) -> None:
    @flyc.kernel
    def kernel(A: fx.Tensor, B: fx.Tensor):
        smem = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 32])
        t = fx.thread_idx.x
        smem[t] = A[t]
        moved = fx.shuffle_xor(A[t], 1, fx.num_warp_threads())
        B[t] = smem[31 - t] + moved

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor):
        kernel(A, B).launch(block=(32, 1, 1))

    a, b = numbers(32), poisoned(32)
    run(a, b)
    np.testing.assert_array_equal(b, a[::-1] + a[np.arange(32) ^ 1])


@pytest.mark.parametrize("target", TARGETS[:1])
def test_two_launches_of_one_call_are_ordered(target: str) -> None:
    @flyc.kernel
    def turn_round(A: fx.Tensor, B: fx.Tensor):
        i = fx.block_idx.x * 16 + fx.thread_idx.x
        B[i] = A[63 - i]

    @flyc.jit
    def run(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor):
        turn_round(A, B).launch(grid=(4, 1, 1), block=(16, 1, 1))
        turn_round(B, C).launch(grid=(4, 1, 1), block=(16, 1, 1))

    a, b, c = numbers(64), poisoned(64), poisoned(64)
    run(a, b, c)
    np.testing.assert_array_equal(c, a)
