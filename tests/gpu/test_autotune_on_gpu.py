"""Tuning on a real GPU: device events, arrays in device memory, and what trials leave behind there."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.autotune import Config, autotune, do_bench
from flydsl.base import knobs
from tests.unit.autotune.kernels_to_tune import SIZE, Clock, arrays, axpy, blocks, fresh

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def _timings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.AUTOTUNE_CACHE_DIR.name, str(tmp_path / "autotune"))


def test_device_arrays_with_device_events() -> None:
    function = autotune(blocks(32, 64, 128), key=["n"], warmup=1, rep=3, restore_value=["B"])(fresh(axpy))
    a, b, expected = arrays()
    with flyc.current_device().arrays(a, b) as (dA, dB):
        function(dA, dB, SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-5, atol=1e-6)
    (problem,) = function.winners
    assert dict(problem)["device"].startswith("cuda: ")


def test_a_wrong_configuration_is_dropped() -> None:
    function = autotune([Config(BLOCK=64), Config(BLOCK=32, FACTOR=2.5)], do_bench=Clock())(fresh(axpy))
    a, b, expected = arrays()
    with flyc.current_device().arrays(a, b) as (dA, dB):
        with pytest.warns(RuntimeWarning, match="FACTOR=2.5"):
            function(dA, dB, SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-5, atol=1e-6)


def test_torch_tensors_on_a_stream(torch: Any) -> None:
    function = autotune(blocks(32, 64), key=["n"], warmup=1, rep=3, reset_to_zero=["B"])(fresh(axpy))
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        a = torch.randn(SIZE, 3, device="cuda")[:, 1].contiguous()
        b = torch.full((SIZE,), float("nan"), device="cuda")
        function(a, b, SIZE, stream=stream)
    stream.synchronize()
    torch.testing.assert_close(b, 2 * a)


def test_other_processes_compile_for_the_gpu(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = import_module("flydsl.compiler.lowering.driver")
    compiled: list[Any] = []
    original = driver.compile_module
    monkeypatch.setattr(driver, "compile_module", lambda *a, **k: (compiled.append(a[1]), original(*a, **k))[1])
    a, b, expected = arrays()
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        function = autotune(blocks(32, 64), key=["n"], warmup=1, rep=3, executor=executor)(fresh(axpy))
        with flyc.current_device().arrays(a, b) as (dA, dB):
            function(dA, dB, SIZE)
    np.testing.assert_allclose(b, expected, rtol=1e-5, atol=1e-6)
    assert compiled == [], "the trials found what the workers compiled"


def test_a_search_is_refused_during_graph_capture(torch: Any) -> None:
    function = autotune(blocks(32, 64), key=["n"], warmup=1, rep=3)(fresh(axpy))
    a, b = torch.randn(SIZE, device="cuda"), torch.zeros(SIZE, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        with pytest.raises(RuntimeError, match="a graph is being captured"):
            function(a, b, SIZE, stream=torch.cuda.current_stream())
        a.add_(0)  # an empty graph is not what is tested
    function(a, b, SIZE)
    b.zero_()
    with torch.cuda.graph(graph := torch.cuda.CUDAGraph()):
        function(a, b, SIZE, stream=torch.cuda.current_stream())
    graph.replay()
    torch.cuda.synchronize()
    torch.testing.assert_close(b, 2 * a)


def test_a_tuned_function_in_place_of_a_jit_function(torch: Any) -> None:
    function = autotune(blocks(32, 64), key=["n"], warmup=1, rep=3)(fresh(axpy))
    a, b = torch.randn(SIZE, device="cuda"), torch.randn(SIZE, device="cuda")
    expected = b + 2 * a
    compiled = flyc.compile(function, a, b.clone(), SIZE)
    compiled(a, b, SIZE)
    torch.cuda.synchronize()
    torch.testing.assert_close(b, expected)
    op = flyc.torch_op(function, name="flydsl_tests::tuned_axpy_on_gpu", mutates=("B",))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        op(a, b, SIZE)
    stream.synchronize()
    torch.testing.assert_close(b, expected + 2 * a)


def test_a_longer_kernel_takes_longer() -> None:
    device = flyc.current_device()
    times = []
    for n in (1 << 12, 1 << 26):
        a = np.zeros(n, np.float32)
        with device.arrays(a, a.copy()) as (dA, dB):
            times.append(do_bench(lambda x=dA, y=dB, m=n: axpy(x, y, m, 256), warmup=1, rep=5))
    # 512 MB of traffic beside 32 kB: no launch overhead hides that.
    assert times[1] > 2 * times[0] > 0
