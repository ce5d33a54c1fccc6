"""Exports and torch operators on a real NVIDIA GPU."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DslRuntimeError
from flydsl.kernels.norm.softmax import build_softmax_module
from flydsl.runtime import cuda

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning:torch.*"),
]


@pytest.fixture(autouse=True)
def _needs_cuda() -> None:
    if not cuda.is_available():
        pytest.skip("no CUDA device")


class Tensor2(ctypes.Structure):
    """`fly_tensor_2d_f32` of an exported header."""

    _fields_ = (("data", ctypes.c_void_p), ("shape", ctypes.c_int64 * 2), ("strides", ctypes.c_int64 * 2))

    @classmethod
    def of(cls, tensor: Any) -> Tensor2:
        return cls(tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride()))


def library(folder: Path, name: str) -> ctypes.CDLL:
    """The export as a shared library: its C source and its object, built with whatever compiler there is."""
    compiler = next(filter(None, map(shutil.which, ("clang-22", "cc", "gcc"))), None)
    if compiler is None:
        pytest.skip("no C compiler")
    path = folder / f"lib{name}.so"
    parts = [folder / f"{name}.c", folder / f"{name}.o"]
    flags = ["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-lpthread", "-ldl"]
    subprocess.run([compiler, *map(str, parts), "-o", str(path), *flags], check=True)
    found = ctypes.CDLL(str(path))
    getattr(found, f"{name}_error").restype = ctypes.c_char_p
    return found


def test_an_exported_softmax_runs_from_c(torch: ModuleType, tmp_path: Path) -> None:
    columns = 257
    fn = build_softmax_module(2, columns, "f32")
    example = torch.zeros(2, columns, device="cuda")
    made = flyc.export(fn, example, example.clone(), 2, dir=tmp_path, name="softmax")
    assert made.device_binary is not None
    exported = library(tmp_path, "softmax")
    launch = exported.softmax_launch
    launch.argtypes = (Tensor2, Tensor2, ctypes.c_int32, ctypes.c_void_p)
    x = torch.randn(33, columns, device="cuda") * 5
    y = torch.full_like(x, float("nan"))
    assert launch(Tensor2.of(x), Tensor2.of(y), 33, None) == 4, "it ran before it was loaded"
    assert exported.softmax_load(0) == 0, exported.softmax_error(0)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        status = launch(Tensor2.of(x), Tensor2.of(y), 33, stream.cuda_stream)
    assert status == 0, exported.softmax_error(status)
    stream.synchronize()
    exact = torch.softmax(x.double(), 1).cpu().numpy()
    np.testing.assert_allclose(y.cpu().numpy(), exact, rtol=2e-5, atol=1e-7)
    assert launch(Tensor2.of(x), Tensor2.of(y), -512, None) == 2
    assert b"grid extents (-" in exported.softmax_error(2)
    exported.softmax_unload()


@flyc.kernel
def scale_kernel(x: fx.Tensor, y: fx.Tensor, n: fx.Int32, by: fx.Float32):
    i = fx.block_idx.x * 128 + fx.thread_idx.x
    if i < n:
        y[i] = x[i] * by


@flyc.jit
def scale(x: fx.Tensor, y: fx.Tensor, n: fx.Int32, by: fx.Float32, stream: fx.Stream = fx.Stream(None)):
    scale_kernel(x, y, n, by).launch(grid=(fx.ceildiv(n, 128), 1, 1), block=(128, 1, 1), stream=stream)


@flyc.jit
def scale_on_the_default_stream(x: fx.Tensor, y: fx.Tensor, n: fx.Int32, by: fx.Float32):
    scale_kernel(x, y, n, by).launch(grid=(fx.ceildiv(n, 128), 1, 1), block=(128, 1, 1))


def like(x: Any) -> Any:
    return x.new_empty(x.shape)


def test_an_operator_in_a_compiled_graph(torch: ModuleType) -> None:
    op = flyc.torch_op(scale, name="fly_gpu_tests::scale", returns={"y": like})

    def step(x: Any) -> Any:
        return torch.relu(op(x + 1, x.shape[0], 3.0)) * 0.5

    run = torch.compile(step, fullgraph=True)
    for n in (100, 70_001):
        x = torch.randn(n, device="cuda")
        exact = np.maximum((x.double().cpu().numpy() + 1) * 3, 0) * 0.5
        for call in (step, run):
            np.testing.assert_allclose(call(x).cpu().numpy(), exact, rtol=1e-5, atol=1e-6)
    torch.library.opcheck(op, (torch.randn(64, device="cuda"), 64, 2.0))


def test_an_operator_runs_on_the_current_stream(torch: ModuleType) -> None:
    """Work queued before it on a side stream is slow; an operator on any other stream would read old data."""
    op = flyc.torch_op(scale, name="fly_gpu_tests::scale_on_stream", mutates=("y",))
    n = 1 << 20
    stream = torch.cuda.Stream()
    x, y = torch.zeros(n, device="cuda"), torch.zeros(n, device="cuda")
    op(x, y, n, 1.0)  # compiled now, so that the launch below does not wait for that
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)
        x.fill_(2.0)
        op(x, y, n, 4.0)
    stream.synchronize()
    assert bool((y == 8.0).all())


def test_a_function_without_a_stream_is_refused_beside_a_side_stream(torch: ModuleType) -> None:
    op = flyc.torch_op(scale_on_the_default_stream, name="fly_gpu_tests::scale_default", mutates=("y",))
    x = torch.ones(64, device="cuda")
    y = torch.zeros(64, device="cuda")
    op(x, y, 64, 2.0)
    torch.cuda.synchronize()
    assert bool((y == 2.0).all())
    with torch.cuda.stream(torch.cuda.Stream()), pytest.raises(DslRuntimeError, match="takes no stream"):
        op(x, y, 64, 2.0)


def test_an_operator_in_a_cuda_graph(torch: ModuleType) -> None:
    op = flyc.torch_op(scale, name="fly_gpu_tests::scale_in_graph", mutates=("y",))
    x, y = torch.ones(64, device="cuda"), torch.zeros(64, device="cuda")
    op(x, y, 64, 2.0)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        op(x, y, 64, 5.0)
    x.fill_(3.0)
    graph.replay()
    torch.cuda.synchronize()
    assert bool((y == 15.0).all())
