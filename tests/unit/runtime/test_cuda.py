"""The CUDA device against a library that records calls: which calls are made, in which order, with which values.

Memory of the stand-in is the host's, so copies can be checked; nothing is run. What hardware makes of the same calls is
tested in tests/gpu.
"""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DriverError, DslRuntimeError, DslTypeError, DslValueError, TargetError
from flydsl.runtime import cuda
from tests.kernels.examples import load
from tests.support import random_data
from tests.support.cuda_recording import Recording, forget_devices


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recording]:
    yield Recording(tmp_path, monkeypatch)
    forget_devices()


def vector_add() -> Any:
    return load("01-vectorAdd").vector_add


def random_vectors(count: int = 3, n: int = 4096) -> list[np.ndarray]:
    rng = random_data.generator()
    return [rng.standard_normal(n).astype(np.float32) for _ in range(count)]


def test_shared_memory_of_its_own_counts(recording: Recording) -> None:
    """The driver refuses a limit that leaves no room for it, and would stay at 48 KB."""
    recording.tell("OWN_SHARED", "4096")
    a, b, c = random_vectors()
    with flyc.current_device().arrays(a, b, c) as (x, y, z):
        vector_add()(x, y, z, 4096)
    wanted = [call.split()[2:] for call in recording.named("cuFuncSetAttribute")]
    assert wanted == [["8", str(227 * 1024)], ["8", str(227 * 1024 - 4096)], ["14", "1"]]


# One launch ------------------------------------------------------------------------------------


def test_the_calls_of_a_launch(recording: Recording) -> None:
    a, b, c = random_vectors()
    kept = c.copy()
    device = flyc.current_device()
    assert (device.kind, device.target.arch, str(device)) == ("cuda", "sm_90a", "cuda:0 (NVIDIA H200 0)")
    with device.arrays(a, b, c) as (x, y, z):
        vector_add()(x, y, z, 4096)
    names = [call.split()[0] for call in recording.calls()]
    order = ["cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuMemAlloc", "cuMemcpyHtoD",
             "cuLinkCreate", "cuLinkAddData", "cuLinkComplete", "cuLinkDestroy", "cuModuleLoadDataEx",
             "cuModuleGetFunction", "cuFuncSetAttribute", "cuLaunchKernel", "cuCtxSynchronize", "cuMemcpyDtoH",
             "cuMemFree"]  # fmt: skip
    assert [names.index(name) for name in order] == sorted(names.index(name) for name in order)
    assert recording.named("cuMemAlloc") == ["cuMemAlloc 16384 device 0"] * 3
    assert recording.named("cuModuleGetFunction")[0].endswith("add_tiles_0")
    assert recording.named("cuFuncSetAttribute")[0].endswith(f" 8 {227 * 1024}")
    assert names.count("cuMemFree") == 3
    assert np.array_equal(c, kept), "the stand-in runs nothing, so the array comes back as it went"


def test_grid_block_and_stream(recording: Recording) -> None:
    a, b, c = random_vectors()
    add = vector_add()
    with flyc.current_device().arrays(a, b, c) as arrays:
        add(*arrays, 4096, 0x5000)
        add(*arrays, 2048, 0x5000)
        add(*arrays, 1000)
    first, second = recording.launches()
    assert first == {
        "grid": [4, 1, 1], "block": [256, 1, 1], "shared": [0], "stream": [0x5000], "extra": [0], "device": [0],
    }  # fmt: skip
    assert second["grid"] == [2, 1, 1], "an empty grid launches nothing"
    assert len(recording.named("cuModuleLoadDataEx")) == 1, "the code is loaded once"


# Launch attributes -----------------------------------------------------------------------------


@flyc.kernel
def fill(out: fx.Tensor, value: fx.Float32):
    out[fx.thread_idx.x] = value


def filling() -> Any:
    """A function of its own for each test, so that none is served what another compiled."""

    @flyc.jit
    def fill_twice(out: fx.Tensor, value: fx.Float32, blocks: fx.Int32, pdl: fx.Constexpr[bool], stream: fx.Stream):
        fill(out, value).launch(grid=(blocks, 3, 4), block=(8, 2, 1), smem=1536, stream=stream)
        fill(out, value).launch(grid=(blocks, 3, 4), block=(8, 2, 1), smem=1536, stream=stream, pdl=pdl)

    return fill_twice


@pytest.mark.parametrize("pdl", [False, True])
def test_a_dependent_launch_has_the_attribute(recording: Recording, pdl: bool) -> None:
    """The same extents, stream and arguments either way; the block of attributes only where there are any."""
    recording.parameters(8)
    with flyc.current_device().arrays(np.zeros(16, np.float32)) as (out,):
        filling()(out, 2.5, 5, pdl, 0x7700)
        pointer = out.pointer
    first, second = recording.launches()
    assert first == second
    assert second == {
        "grid": [5, 3, 4], "block": [8, 2, 1], "shared": [1536], "stream": [0x7700], "extra": [0], "device": [0],
    }  # fmt: skip
    assert len(recording.named("cuLaunchKernel")) == (1 if pdl else 2)
    assert len(recording.named("cuLaunchKernelEx")) == (1 if pdl else 0)
    assert recording.named("attribute") == (["attribute 6 value 1 rest 0"] if pdl else [])
    assert recording.parameter_bytes() == [struct.pack("P", pointer)] * 2


@pytest.mark.parametrize("pdl", [False, True])
def test_a_cooperative_launch_has_the_attribute(recording: Recording, pdl: bool) -> None:
    @flyc.jit
    def fill_together(out: fx.Tensor, value: fx.Float32, blocks: fx.Int32):
        fill(out, value).launch(grid=blocks, block=16, pdl=pdl, cooperative=True)

    with flyc.current_device().arrays(np.zeros(16, np.float32)) as (out,):
        fill_together(out, 2.5, 132)
        with pytest.raises(DslRuntimeError, match=r"133 blocks wait for each other, .* hold only 132"):
            fill_together(out, 2.5, 133)
    assert [launch["grid"] for launch in recording.launches()] == [[132, 1, 1]]
    together = ["attribute 2 value 1 rest 0"]
    assert recording.named("attribute") == (["attribute 6 value 1 rest 0", *together] if pdl else together)


@pytest.mark.parametrize("arch", ["gfx942", "gfx1250"])
def test_targets_without_cooperative_launches_refuse_them(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    monkeypatch.setenv("FLYDSL_RUNTIME_KIND", "host")

    @flyc.jit
    def fill_together(out: fx.Tensor, n: fx.Int32, always: fx.Constexpr[bool]):
        fill(out, 1.0).launch(block=16, cooperative=True if always else n > 1)

    with pytest.raises(TargetError, match=f"launched with cooperative=True, and {arch} has no cooperative") as caught:
        fill_together(np.zeros(16, np.float32), 1, True)
    assert "drop cooperative=" in str(caught.value)
    with pytest.raises(DslTypeError, match="it is known when compiling"):
        fill_together(np.zeros(16, np.float32), 1, False)


def test_an_empty_grid_launches_nothing_with_attributes(recording: Recording) -> None:
    fill_twice = filling()
    with flyc.current_device().arrays(np.zeros(16, np.float32)) as (out,):
        fill_twice(out, 2.5, 0, True, None)
        assert not recording.launches()
        fill_twice(out, 2.5, 1, True, None)
        assert len(recording.launches()) == 2


def test_a_failing_dependent_launch_names_its_line(recording: Recording) -> None:
    fill_twice = filling()
    recording.fail("cuLaunchKernelEx", 719)
    with flyc.current_device().arrays(np.zeros(16, np.float32)) as (out,):
        with pytest.raises(DriverError, match="the launch failed: CUDA_ERROR_LAUNCH_FAILED") as caught:
            fill_twice(out, 2.5, 1, True, None)
    line = fill_twice.func.__code__.co_firstlineno + 3
    assert f"{Path(__file__).name}:{line}" in str(caught.value)


@flyc.kernel
def scale(x: fx.Tensor, y: fx.Tensor):
    fx.nvvm.griddepcontrol_wait()
    y[fx.thread_idx.x] = x[fx.thread_idx.x] * 2.0
    fx.nvvm.griddepcontrol_launch_dependents()


@flyc.jit
def scale_thrice(x: fx.Tensor, y: fx.Tensor, z: fx.Tensor):
    scale(x, y).launch(block=(64, 1, 1), pdl=True)
    scale(y, z).launch(block=(64, 1, 1), pdl=True)
    scale(z, x).launch(block=(64, 1, 1), pdl=True)


def test_dependent_launches_stay_in_order_on_the_virtual_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setenv("FLYDSL_RUNTIME_KIND", "host")
    (x,) = random_vectors(1, 64)
    given, y, z = x.copy(), np.full(64, np.nan, np.float32), np.full(64, np.nan, np.float32)
    scale_thrice(x, y, z)
    for result, factor in ((y, 2), (z, 4), (x, 8)):
        assert np.array_equal(result, given * np.float32(factor))


@pytest.mark.parametrize("arch", ["gfx942", "gfx1250", "sm_80"])
def test_targets_without_dependent_launches_refuse_them(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    monkeypatch.setenv("FLYDSL_RUNTIME_KIND", "host")
    words = f"kernel 'fill' is launched with pdl=True, and {arch} has no dependent launches"
    with pytest.raises(TargetError, match=words) as caught:
        filling()(np.zeros(16, np.float32), 1.0, 1, True, None)
    assert "drop pdl=" in str(caught.value)
    filling()(np.zeros(16, np.float32), 1.0, 1, False, None)


def test_pdl_is_a_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setenv("FLYDSL_RUNTIME_KIND", "host")

    @flyc.jit
    def run(out: fx.Tensor, n: fx.Int32):
        fill(out, 1.0).launch(block=(16, 1, 1), pdl=n > 1)

    with pytest.raises(DslTypeError, match="it is known when compiling"):
        run(np.zeros(16, np.float32), 3)


def test_a_driver_without_attributes(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    device = cuda.cuda_device()
    has = device.driver.has
    monkeypatch.setattr(device.driver, "has", lambda name: name != "cuLaunchKernelEx" and has(name))
    with device.arrays(np.zeros(16, np.float32)) as (out,):
        with pytest.raises(DriverError, match="the driver has no cuLaunchKernelEx, which this launch needs"):
            filling()(out, 2.5, 1, True, None)
        filling()(out, 2.5, 1, False, None)


@flyc.kernel
def read_box(box: Any, out: fx.Tensor):
    out[fx.thread_idx.x] = 1.0


def test_a_tensor_map_is_made_by_the_driver(recording: Recording) -> None:
    @flyc.jit
    def run(x: fx.Tensor, out: fx.Tensor):
        maps = fx.nvvm.make_tensor_map(x, (8, 64)), fx.nvvm.make_tensor_map(x, (4, 32), "64B", l2_promotion="128B")
        read_box(maps, out).launch(block=(4, 1, 1), pdl=True)

    x = np.zeros((24, 192), np.float16)
    with flyc.current_device().arrays(x, np.zeros(4, np.float32)) as (there, out):
        run(there, out)
        pointer = there.pointer
    # The fastest mode first: its extent, the stride of the next in bytes, and the box; swizzle and promotion.
    words = f"cuTensorMapEncodeTiled rank 2 at {pointer:#x} dims 192 24 strides 384 box"
    boxes = ["64 8 steps 1 1 swizzle 3 promotion 3", "32 4 steps 1 1 swizzle 2 promotion 2"]
    assert recording.named("cuTensorMapEncodeTiled") == [f"{words} {box}" for box in boxes]
    assert len(recording.named("cuLaunchKernelEx")) == 1


# Errors ----------------------------------------------------------------------------------------


def test_no_device_is_the_virtual_gpu(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    recording.devices()
    with pytest.raises(RuntimeError, match="FLYDSL_RUNTIME_KIND=cuda asks for an NVIDIA GPU, and there is none"):
        flyc.current_device()
    monkeypatch.setenv("FLYDSL_RUNTIME_KIND", "auto")
    assert flyc.current_device().kind == "host"
    with pytest.raises(DriverError, match="no CUDA device is available"):
        cuda.cuda_device()


def test_a_missing_library_is_no_device(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_CUDA_LIBRARY", "/nowhere/libcuda.so")
    forget_devices()
    assert not cuda.is_available()


def test_a_device_number_that_is_not_there(recording: Recording) -> None:
    with pytest.raises(DriverError, match="there is no CUDA device 3: the driver shows 1"):
        cuda.cuda_device(3)


FAILURES = [
    ("cuMemAlloc", 2, "cuMemAlloc_v2 failed: CUDA_ERROR_OUT_OF_MEMORY: out of memory"),
    ("cuMemcpyHtoD", 1, "cuMemcpyHtoD_v2 failed: CUDA_ERROR_INVALID_VALUE: invalid argument"),
    ("cuModuleLoadDataEx", 2, "loading 'add_tiles_0' failed: CUDA_ERROR_OUT_OF_MEMORY"),
    ("cuModuleGetFunction", 500, "cuModuleGetFunction failed: CUDA_ERROR_NOT_FOUND: named symbol not found"),
    ("cuLaunchKernel", 719, "the launch failed: CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure"),
    ("cuCtxSynchronize", 700, "cuCtxSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS"),
    ("cuMemcpyDtoH", 700, "cuMemcpyDtoH_v2 failed: CUDA_ERROR_ILLEGAL_ADDRESS"),
    ("cuMemFree", 1, "cuMemFree_v2 failed: CUDA_ERROR_INVALID_VALUE"),
    ("cuLaunchKernel", 12345, "the launch failed: status 12345"),
]


@pytest.mark.parametrize(("function", "status", "said"), FAILURES, ids=[f"{name}-{n}" for name, n, _ in FAILURES])
def test_a_failing_call_is_named(function: str, status: int, said: str, recording: Recording) -> None:
    """The driver's own name for the error, and the user's line: of the launch for a launch, else of the call."""
    a, b, c = random_vectors()
    add = vector_add()
    device = flyc.current_device()
    recording.fail(function, status)
    with pytest.raises(DriverError) as caught, device.arrays(a, b, c) as arrays:
        add(*arrays, 4096)
    assert said in str(caught.value)
    where = "01-vectorAdd.py" if function == "cuLaunchKernel" else Path(__file__).name
    assert where in str(caught.value), str(caught.value)


@pytest.mark.parametrize("function", ["cuInit", "cuDeviceGetCount"])
def test_a_driver_that_does_not_start_is_no_device(function: str, recording: Recording) -> None:
    recording.fail(function, 3)
    forget_devices()
    assert not cuda.is_available()


def test_graph_capture_is_asked_for(recording: Recording) -> None:
    """Loading code breaks a capture, so a call that must compile is refused during one."""
    recording.tell("CAPTURING", "1")
    with flyc.current_device().arrays(*random_vectors()) as arrays:
        with pytest.raises(DslRuntimeError, match="a graph is being captured"):
            vector_add()(*arrays, 4096)
    assert not recording.launches() and not recording.named("cuLinkCreate")


# Several devices -------------------------------------------------------------------------------


def test_arrays_decide_the_device(recording: Recording) -> None:
    """Each call runs on the device of its arrays, compiled for it, and the thread's context is put back."""
    recording.devices("9.0", "8.6")
    add = vector_add()
    for index, arch, machine in ((1, "sm_80", "sm_86"), (0, "sm_90a", "sm_90a")):
        device = cuda.cuda_device(index)
        assert (device.target.arch, device.machine) == (arch, machine)
        with device.arrays(*random_vectors()) as arrays:
            add(*arrays, 4096)
    assert [launch["device"] for launch in recording.launches()] == [[1], [0]]
    assert [call.split()[-1] for call in recording.named("cuLinkCreate")] == ["1", "0"]
    assert [call.split()[-1] for call in recording.named("cuModuleLoadDataEx")] == ["1", "0"]
    cuda.cuda_device(0).make_current()
    recording.forget()
    cuda.cuda_device(1).synchronize()
    assert recording.calls() == ["cuCtxSetCurrent 0x101", "cuCtxSynchronize device 1", "cuCtxSetCurrent 0x100"]
    get, set_, own = cuda.cuda_device(1).selection()  # as native code does it
    current = ctypes.c_int64()
    assert ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(get)(ctypes.addressof(current)) == 0
    assert (current.value, own) == (0x100, 0x101)
    assert ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(set_)(own) == 0
    assert cuda.cuda_device(1).select() is None


def test_arrays_of_two_devices_are_refused(recording: Recording) -> None:
    recording.devices("9.0", "9.0")
    a, b, c = random_vectors()
    with cuda.cuda_device(0).arrays(a, b) as (x, y), cuda.cuda_device(1).arrays(c) as (z,):
        with pytest.raises(DslValueError, match="different devices: cuda:0, cuda:1"):
            vector_add()(x, y, z, 4096)


def test_every_thread_has_the_context(recording: Recording) -> None:
    recording.devices("9.0", "9.0")
    add = vector_add()
    with cuda.cuda_device(1).arrays(*random_vectors()) as arrays:
        threads = [threading.Thread(target=add, args=(*arrays, 4096)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [launch["device"] for launch in recording.launches()] == [[1]] * 4
