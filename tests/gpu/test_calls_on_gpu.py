"""Calls on a real GPU: bound calls, streams, graph capture, and the current device."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compiler.options.hints import kernel_attributes
from flydsl.runtime import cuda
from tests.unit.jit.kernels import copying, scaling

pytestmark = [pytest.mark.gpu, pytest.mark.torch]


@pytest.fixture(scope="module")
def cuda_torch(torch: ModuleType) -> ModuleType:
    if not torch.cuda.is_available():
        pytest.skip("this torch has no CUDA")
    return torch


def vectors(torch: ModuleType, count: int = 64, device: str = "cuda") -> tuple[Any, Any]:
    return torch.randn(count, device=device), torch.full((count,), float("nan"), device=device)


def test_bound_calls(cuda_torch: ModuleType) -> None:
    scale = scaling()
    x, y = vectors(cuda_torch)
    compiled = flyc.compile(scale, x, y, 2.0)
    cuda_torch.cuda.synchronize()
    assert cuda_torch.equal(y, x * 2)
    for factor in (2.0, -1.5):
        compiled(x, y, factor)
        cuda_torch.cuda.synchronize()
        assert cuda_torch.equal(y, x * factor)
    for wrong, words in (
        (x.double(), "f32"), (x.cpu(), "the array is on the host"), (x.reshape(8, 8), "rank"), (x[::2], "stride 1"),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError, RuntimeError), match=words):
            compiled(wrong, y, 1.0)


def test_tensors_without_memory(cuda_torch: ModuleType) -> None:
    """A freed storage is refused, whatever the offset into it; memory of the GPU lies above what counts as none."""
    scale = scaling()
    x, y = vectors(cuda_torch)
    for wrap in (lambda t: t, flyc.from_torch_tensor):
        compiled = flyc.compile(scale, wrap(x), y, 2.0)
        assert compiled._launch((wrap(x), y, 2.0, 0, 0, None)), "the cached path serves the GPU's addresses"
        for offset in (0, 16, 1 << 22):
            tensor = cuda_torch.ones(64 + offset, device="cuda")[offset:]
            adaptor = wrap(tensor)
            tensor.untyped_storage().resize_(0)
            for call in (scale, compiled):
                with pytest.raises(ValueError, match=r"argument 'x'.*has no storage"):
                    call(adaptor, y, 2.0)
    x.data = cuda_torch.randn(64, device="cuda")
    compiled(wrap(x), y, 3.0)
    cuda_torch.cuda.synchronize()
    assert cuda_torch.equal(y, x * 3)


def test_host_and_device_arrays_do_not_mix(cuda_torch: ModuleType) -> None:
    scale = scaling()
    x, y = vectors(cuda_torch)
    scale(x, y, 2.0)
    with pytest.raises(ValueError, match="different devices: cuda:0, host"):
        scale(x.cpu(), y, 2.0)
    host = np.zeros(64, np.float32)
    scale(x.cpu().numpy(), host, 2.0)
    np.testing.assert_array_equal(host, x.cpu().numpy() * np.float32(2))
    assert [s.device for s in scale.specialisations] == ["cuda:0", "host"]


class Interface:
    """A tensor of which only `__cuda_array_interface__` is known."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor
        self.__cuda_array_interface__ = tensor.__cuda_array_interface__


class Dlpack:
    """A tensor of which only DLPack is known."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def __dlpack__(self, **options: Any) -> Any:
        return self._tensor.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._tensor.__dlpack_device__()


@pytest.mark.parametrize("wrap", [Interface, Dlpack, flyc.from_dlpack, flyc.from_torch_tensor])
def test_other_forms_of_arrays(cuda_torch: ModuleType, wrap: Any) -> None:
    scale = scaling()
    x, y = vectors(cuda_torch)
    for _ in range(3):
        y.fill_(float("nan"))
        scale(wrap(x), wrap(y), 3.0)
        cuda_torch.cuda.synchronize()
        assert cuda_torch.equal(y, x * 3)


def test_narrow_elements(cuda_torch: ModuleType) -> None:
    copy = copying()
    for dtype in (cuda_torch.bfloat16, cuda_torch.float8_e4m3fn):
        x = cuda_torch.randn(4, 32, device="cuda").to(dtype)
        y = cuda_torch.zeros(4, 32, device="cuda").to(dtype)
        for _ in range(2):
            copy(x, y, 4, 32)
            cuda_torch.cuda.synchronize()
            assert cuda_torch.equal(y.view(cuda_torch.uint8), x.view(cuda_torch.uint8))


# Streams and graphs --------------------------------------------------------------------------------------------------


@flyc.kernel
def slow_fill_kernel(x: fx.Tensor, rounds: fx.Int32):
    i = fx.thread_idx.x
    value = x[i]
    for _ in range(rounds):
        value = value * 0.5 + 1.0
    x[i] = value


@flyc.jit
def slow_fill(x: fx.Tensor, rounds: fx.Int32, stream: fx.Stream):
    slow_fill_kernel(x, rounds).launch(block=(32, 1, 1), stream=stream)


def test_the_stream_orders_launches(cuda_torch: ModuleType) -> None:
    """The second launch reads what the first, slow one writes; both on a stream that waits for no other."""
    scale = scaling()
    x = cuda_torch.zeros(32, device="cuda")
    y = cuda_torch.full((32,), float("nan"), device="cuda")
    stream = cuda_torch.cuda.Stream()
    for given in (stream, fx.Stream(stream), stream.cuda_stream, fx.Stream(stream.cuda_stream)):
        for _ in range(2):
            cuda_torch.cuda.synchronize()
            x.zero_()
            y.fill_(float("nan"))
            stream.wait_stream(cuda_torch.cuda.current_stream())
            slow_fill(x, 200_000, given)
            scale(x, y, 1.0, stream=given)
            stream.synchronize()
            assert cuda_torch.equal(y, cuda_torch.full_like(y, 2.0))


def test_launching_during_capture_works(cuda_torch: ModuleType) -> None:
    scale = scaling()
    x, y = vectors(cuda_torch)
    side = cuda_torch.cuda.Stream()
    scale.warmup(x, y, 2.0, stream=side)
    compiled = flyc.compile(scale, x, y, 2.0, stream=side)
    cuda_torch.cuda.synchronize()
    y.fill_(float("nan"))
    graph = cuda_torch.cuda.CUDAGraph()
    with cuda_torch.cuda.graph(graph, stream=side):
        scale(x, y, 2.0, stream=side)
        compiled(y, y, 3.0, 0, 0, side)
    cuda_torch.cuda.synchronize()
    assert cuda_torch.isnan(y).all()
    x.copy_(cuda_torch.randn_like(x))
    graph.replay()
    cuda_torch.cuda.synchronize()
    assert cuda_torch.equal(y, x * 2 * 3)


@pytest.mark.parametrize("given", ["the captured stream", "no stream"])
def test_compiling_during_capture_is_refused(cuda_torch: ModuleType, given: str) -> None:
    scale = scaling()
    x, y = vectors(cuda_torch)
    side = cuda_torch.cuda.Stream()
    ready = scaling()
    ready(x, y, 5.0, stream=side)
    cuda_torch.cuda.synchronize()
    graph = cuda_torch.cuda.CUDAGraph()
    with cuda_torch.cuda.graph(graph, stream=side):
        with pytest.raises(RuntimeError, match="graph is being captured") as caught:
            scale(x, y, 2.0, stream=side if given == "the captured stream" else None)
        assert "scale.warmup(...)" in str(caught.value)
        ready(x, y, 5.0, stream=side)  # the capture is still good
    graph.replay()
    cuda_torch.cuda.synchronize()
    assert cuda_torch.equal(y, x * 5)


def test_the_hint_reaches_the_gpu(cuda_torch: ModuleType) -> None:
    assert kernel_attributes((("maxnreg", 32),)) == {"fly.maxnreg": 32}
    x, y = vectors(cuda_torch)
    compiled = flyc.compile[{"maxnreg": 32, "fast_fp_math": True}](scaling(), x, y, 2.0)
    compiled(x, y, 2.0)
    cuda_torch.cuda.synchronize()
    assert cuda_torch.equal(y, x * 2)
    assert b".maxnreg 32" in compiled.artifact.device_binary


# Threads and devices -------------------------------------------------------------------------------------------------


def test_a_thread_that_never_touched_the_gpu(cuda_torch: ModuleType) -> None:
    from threading import Thread

    scale = scaling()
    x, y = vectors(cuda_torch)
    scale(x, y, 2.0)
    compiled = flyc.compile(scale, x, y, 2.0)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            scale(x, y, 4.0)
            compiled(x, y, 4.0)
        except BaseException as error:
            failures.append(error)

    thread = Thread(target=work)
    thread.start()
    thread.join()
    cuda_torch.cuda.synchronize()
    assert not failures and cuda_torch.equal(y, x * 4)


def test_several_devices(cuda_torch: ModuleType) -> None:
    if cuda.device_count() < 2:
        pytest.skip("one CUDA device")
    scale = scaling()
    for current in (0, 1):
        cuda_torch.cuda.set_device(current)
        for device in ("cuda:1", "cuda:0"):
            x, y = vectors(cuda_torch, device=device)
            for _ in range(3):
                scale(x, y, 2.0)
            cuda_torch.cuda.synchronize(device)
            assert cuda_torch.equal(y, x * 2)
            assert cuda_torch.cuda.current_device() == current
    cuda_torch.cuda.set_device(0)
    with pytest.raises(ValueError, match="the stream belongs to cuda:1"):
        scale(*vectors(cuda_torch), 2.0, stream=cuda_torch.cuda.Stream(device=1))


def test_a_device_that_is_not_there() -> None:
    with pytest.raises(RuntimeError, match="no CUDA device 99"):
        cuda.cuda_device(99)
