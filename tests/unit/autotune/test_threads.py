"""Tuned functions in threads, as methods and with COMPILE_ONLY."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.autotune import Autotuner, Config, autotune
from flydsl.base import knobs
from tests.unit.autotune.kernels_to_tune import SIZE, Clock, arrays, axpy, axpy_kernel, blocks, fresh, tuned_axpy


def test_threads_search_a_problem_once() -> None:
    clock = Clock(b64=1.0)
    function = autotune(blocks(32, 64), key=["n"], do_bench=clock)(fresh(axpy))
    start = Barrier(8)

    def work(number: int) -> float:
        a, b, expected = arrays()
        start.wait()
        function(a, b, SIZE)
        return float(np.abs(b - expected).max())

    with ThreadPoolExecutor(8) as pool:
        errors = list(pool.map(work, range(8)))
    assert max(errors) < 1e-5
    assert clock.measured == [32, 64]


def test_a_hook_may_call_another_tuned_function() -> None:
    inner = autotune(blocks(32, 64), key=["n"], do_bench=Clock())(fresh(axpy))
    side = arrays()

    def prepare(arguments: dict[str, Any]) -> None:
        inner(side[0], side[1], SIZE)

    outer = autotune(blocks(32, 64), key=["n"], do_bench=Clock(), pre_hook=prepare)(fresh(axpy))
    a, b, expected = arrays()
    outer(a, b, SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-5, atol=1e-6)


class Scaler:
    """A class whose method is tuned."""

    @autotune(blocks(32, 64), key=["n"], do_bench=Clock())
    @flyc.jit
    def apply(self, A: fx.Tensor, B: fx.Tensor, n: fx.Int32, BLOCK: fx.Constexpr[int]):
        axpy_kernel(A, B, n, BLOCK, 2.0).launch(grid=((n + BLOCK - 1) // BLOCK, 1, 1), block=(BLOCK, 1, 1))


def test_methods() -> None:
    assert isinstance(Scaler.apply, Autotuner)
    a, b, expected = arrays()
    Scaler().apply(a, b, n=SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-5, atol=1e-6)


def test_compile_only_compiles_and_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.COMPILE_ONLY.name, "1")
    monkeypatch.setenv(knobs.RUNTIME_KIND.name, "host")  # linking for an AMD GPU needs a tool that may be missing
    traced: list[int] = []
    clock = Clock()

    @autotune(lambda args: blocks(32, 64), do_bench=clock)
    @flyc.jit
    def function(A: fx.Tensor, B: fx.Tensor, n: fx.Int32, BLOCK: fx.Constexpr[int]):
        traced.append(BLOCK)
        axpy_kernel(A, B, n, BLOCK, 2.0).launch(grid=((n + BLOCK - 1) // BLOCK, 1, 1), block=(BLOCK, 1, 1))

    a, b, _ = arrays()
    before = b.copy()
    function(a, b, SIZE)
    np.testing.assert_array_equal(b, before)
    assert sorted(set(traced)) == [32, 64] and clock.measured == [] and function.winners == {}


def test_compile_only_says_when_nothing_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.COMPILE_ONLY.name, "1")
    monkeypatch.setenv(knobs.RUNTIME_KIND.name, "host")
    a, b, _ = arrays()
    with pytest.raises(RuntimeError, match=r"(?s)compiles:.*BLOCK=2048.*BLOCK=4096"):
        autotune(blocks(2048, 4096))(fresh(axpy))(a, b, SIZE)
    autotune(blocks(2048, 32))(fresh(axpy))(a, b, SIZE)


def test_strict_mode_compiles_in_the_search_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.JIT.name, "strict")
    a, b, expected = arrays()
    function = autotune(blocks(32, 64), key=["n"], do_bench=Clock())(fresh(axpy))
    function.warmup(a, b, SIZE)
    function(a, b, SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-5, atol=1e-6)


def test_a_tuned_function_used_through_fn_inside_another() -> None:
    inner = autotune(blocks(32, 64), key=["n"], do_bench=Clock())(fresh(axpy))

    @flyc.jit
    def twice(A: fx.Tensor, B: fx.Tensor, n: fx.Int32):
        inner.fn(A, B, n, 32)
        inner.fn(A, B, n, 64)

    a, b, _ = arrays()
    expected = b + 4 * a
    twice(a, b, SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-4, atol=1e-5)
    inner(a, b, SIZE)  # its winners are no part of the code of `twice`
    twice(a, b, SIZE)
    assert len(twice.specialisations) == 1


def test_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(tuned_axpy)) is tuned_axpy
    with pytest.raises(TypeError, match="a tuned function is pickled by its name"):
        pickle.dumps(autotune(blocks(32))(axpy))


def test_repr_and_names() -> None:
    function = autotune([Config(BLOCK=32)])(axpy)
    assert repr(function) == "<autotune axpy>" and function.__name__ == "axpy" and function.fn is axpy
    assert function.__doc__ == axpy.__doc__
