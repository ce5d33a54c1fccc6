"""The HIP device against a library that records calls: which calls are made, in which order, with which values.

No AMD GPU takes part. Memory of the stand-in is the host's, so copies can be checked; kernels are compiled for gfx942
and handed over, and what the launch is given is compared with what the code object says it takes.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import DriverError, DslRuntimeError, DslValueError
from flydsl.runtime import hip
from tests.conftest import missing
from tests.kernels.examples import load
from tests.support import random_data
from tests.support.hip_recording import Recording, forget_devices
from tests.support.mma_code import artifact_of


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recording]:
    yield Recording(tmp_path, monkeypatch)
    forget_devices()


def vector_add() -> Any:
    return load("01-vectorAdd").vector_add


def random_vectors(count: int = 3, n: int = 4096) -> list[np.ndarray]:
    rng = random_data.generator()
    return [rng.standard_normal(n).astype(np.float32) for _ in range(count)]


# One launch ------------------------------------------------------------------------------------


def test_the_calls_of_a_launch(recording: Recording) -> None:
    a, b, c = random_vectors()
    kept = c.copy()
    device = flyc.current_device()
    assert (device.kind, device.target.arch, str(device)) == ("rocm", "gfx942", "rocm:0 (AMD Instinct 0)")
    with device.arrays(a, b, c) as (x, y, z):
        vector_add()(x, y, z, 4096)
    names = [call.split()[0] for call in recording.calls()]
    order = ["hipInit", "hipGetDeviceCount", "hipGetDeviceProperties", "hipSetDevice", "hipMalloc", "hipMemcpy",
             "hipModuleLoadData", "hipModuleGetFunction", "hipModuleLaunchKernel", "hipDeviceSynchronize",
             "hipFree"]  # fmt: skip
    assert [names.index(name) for name in order] == sorted(names.index(name) for name in order)
    assert recording.named("hipMalloc") == ["hipMalloc 16384 device 0"] * 3
    assert recording.named("hipMemcpy") == ["hipMemcpy 16384 kind 1"] * 3 + ["hipMemcpy 16384 kind 2"] * 3
    assert recording.named("hipModuleLoadData") == ["hipModuleLoadData ELF"]
    assert recording.named("hipModuleGetFunction")[0].endswith("add_tiles_0")
    assert names.count("hipFree") == 3
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
    assert len(recording.named("hipModuleLoadData")) == 1, "the code is loaded once"


def test_dynamic_shared_bytes(recording: Recording) -> None:
    @flyc.kernel
    def kernel(out: fx.Tensor):
        out[fx.thread_idx.x] = 1.0

    @flyc.jit
    def run(out: fx.Tensor):
        kernel(out).launch(grid=(2, 3, 4), block=(8, 2, 1), smem=1536)

    with flyc.current_device().arrays(np.zeros(16, np.float32)) as (out,):
        run(out)
    [launch] = recording.launches()
    assert (launch["grid"], launch["block"], launch["shared"]) == ([2, 3, 4], [8, 2, 1], [1536])


def argument_sizes(binary: bytes, folder: Path) -> list[int]:
    """The sizes of a kernel's parameters, as the code object states them."""
    readobj = shutil.which("llvm-readobj-22") or shutil.which("llvm-readobj")
    if readobj is None:
        missing("llvm-readobj", "install llvm-22")
    path = folder / "kernel.hsaco"
    path.write_bytes(binary)
    text = subprocess.run([str(readobj), "--notes", str(path)], capture_output=True, text=True, check=True).stdout
    arguments = text.split(".args:")[1].split(".group_segment_fixed_size")[0]
    kinds = re.findall(r"\.size: +(\d+)\s+\.value_kind: +(\w+)", arguments)
    return [int(size) for size, kind in kinds if not kind.startswith("hidden")]


def test_kernel_parameters(recording: Recording, tmp_path: Path) -> None:
    """Each parameter has the size the code object states, pointers first; a strided tensor adds its layout."""
    a, b, c = random_vectors(n=6144)
    views = [a[:4096], b[:4096], c[:4096]]
    add = vector_add()
    sizes = argument_sizes(artifact_of(add, (*views, 4096), "gfx942").device_binary, tmp_path)
    recording.parameters(*sizes)
    with flyc.current_device().arrays(*views) as arrays:
        add(*arrays, 4096)
        pointers = [array.pointer for array in arrays]
    contents = recording.parameter_bytes()
    assert [len(content) for content in contents] == sizes
    found = [struct.unpack("P", content)[0] for content, size in zip(contents, sizes, strict=True) if size == 8]
    assert [pointer for pointer in found if pointer in pointers] == pointers


# Errors ----------------------------------------------------------------------------------------


def test_no_device_is_the_virtual_gpu(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    recording.devices()
    with pytest.raises(RuntimeError, match="FLYDSL_RUNTIME_KIND=rocm asks for an AMD GPU, and there is none"):
        flyc.current_device()
    monkeypatch.setenv("FLYDSL_RUNTIME_KIND", "auto")
    assert flyc.current_device().kind == "host"
    with pytest.raises(DriverError, match="no AMD device is available"):
        hip.hip_device()


def test_a_missing_library_is_no_device(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_HIP_LIBRARY", "/nowhere/libamdhip64.so")
    forget_devices()
    assert not hip.is_available()


def test_a_device_number_that_is_not_there(recording: Recording) -> None:
    with pytest.raises(DriverError, match="there is no AMD device 3: the driver shows 1"):
        hip.hip_device(3)


FAILURES = [
    ("hipMalloc", 2, "hipMalloc failed: hipErrorOutOfMemory: out of memory"),
    ("hipMemcpy", 1, "hipMemcpy failed: hipErrorInvalidValue: invalid argument"),
    ("hipModuleLoadData", 209, "hipModuleLoadData failed: hipErrorNoBinaryForGpu"),
    ("hipModuleGetFunction", 500, "hipModuleGetFunction failed: hipErrorNotFound: named symbol not found"),
    ("hipModuleLaunchKernel", 719, "the launch failed: hipErrorLaunchFailure: unspecified launch failure"),
    ("hipDeviceSynchronize", 700, "hipDeviceSynchronize failed: hipErrorIllegalAddress"),
    ("hipSetDevice", 101, "hipSetDevice failed: hipErrorInvalidDevice"),
    ("hipFree", 1, "hipFree failed: hipErrorInvalidValue"),
]


@pytest.mark.parametrize(("function", "status", "said"), FAILURES, ids=[name for name, _, _ in FAILURES])
def test_a_failing_call_is_named(function: str, status: int, said: str, recording: Recording) -> None:
    """HIP's own name for the error, and the user's line: of the launch for a launch, else of the call."""
    a, b, c = random_vectors()
    add = vector_add()
    device = flyc.current_device()
    recording.fail(function, status)
    with pytest.raises(DriverError) as caught, device.arrays(a, b, c) as arrays:
        add(*arrays, 4096)
    assert said in str(caught.value)
    where = "01-vectorAdd.py" if function == "hipModuleLaunchKernel" else Path(__file__).name
    assert where in str(caught.value), str(caught.value)


@pytest.mark.parametrize("function", ["hipGetDeviceProperties", "hipDeviceGetName"])
def test_a_device_that_does_not_answer(function: str, recording: Recording) -> None:
    recording.fail(function, 101)
    with pytest.raises(DriverError, match="hipErrorInvalidDevice"):
        str(hip.hip_device())


@pytest.mark.parametrize("function", ["hipInit", "hipGetDeviceCount"])
def test_a_runtime_that_does_not_start_is_no_device(function: str, recording: Recording) -> None:
    recording.fail(function, 3)
    forget_devices()
    assert not hip.is_available()


def test_an_unknown_architecture_is_refused(recording: Recording) -> None:
    recording.devices("gfx803")
    with pytest.raises(ValueError, match="unknown target 'gfx803'"):
        hip.hip_device()


def test_memory_is_freed_when_the_body_fails(recording: Recording) -> None:
    with pytest.raises(ZeroDivisionError), flyc.current_device().arrays(*random_vectors()):
        raise ZeroDivisionError
    assert len(recording.named("hipFree")) == 3


def test_graph_capture_is_asked_for(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading code breaks a capture, so a call that must compile is refused during one."""
    monkeypatch.setenv("RECORDING_HIP_CAPTURING", "1")
    with flyc.current_device().arrays(*random_vectors()) as arrays:
        with pytest.raises(DslRuntimeError, match="a graph is being captured"):
            vector_add()(*arrays, 4096)
    assert not recording.launches()


# Several devices -------------------------------------------------------------------------------


def test_arrays_decide_the_device(recording: Recording) -> None:
    """Each call runs on the device of its arrays, compiled for it, and the thread's current device is put back."""
    recording.devices("gfx942", "gfx950")
    add = vector_add()
    for index, arch in ((1, "gfx950"), (0, "gfx942")):
        device = hip.hip_device(index)
        assert device.target.arch == arch
        with device.arrays(*random_vectors()) as arrays:
            add(*arrays, 4096)
    assert [launch["device"] for launch in recording.launches()] == [[1], [0]]
    assert len(recording.named("hipModuleLoadData")) == 2
    assert recording.named("hipMalloc") == ["hipMalloc 16384 device 1"] * 3 + ["hipMalloc 16384 device 0"] * 3
    recording.forget()
    hip.hip_device(1).synchronize()
    there, back = "hipSetDevice 1", "hipSetDevice 0"
    assert recording.calls() == ["hipGetDevice -> 0", there, "hipDeviceSynchronize device 1", back]
    get, set_, own = hip.hip_device(1).selection()  # as native code does it
    current = ctypes.c_int64()
    assert ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(get)(ctypes.addressof(current)) == 0
    assert (current.value, own) == (0, 1)
    assert ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(set_)(own) == 0
    assert hip.hip_device(1).select() is None


def test_arrays_of_two_devices_are_refused(recording: Recording) -> None:
    recording.devices("gfx942", "gfx942")
    a, b, c = random_vectors()
    with hip.hip_device(0).arrays(a, b) as (x, y), hip.hip_device(1).arrays(c) as (z,):
        with pytest.raises(DslValueError, match="different devices: rocm:0, rocm:1"):
            vector_add()(x, y, z, 4096)


def test_every_thread_selects_the_device(recording: Recording) -> None:
    """HIP's current device belongs to a thread; one that has not called yet stands at device 0."""
    recording.devices("gfx942", "gfx942")
    add = vector_add()
    with hip.hip_device(1).arrays(*random_vectors()) as arrays:
        threads = [threading.Thread(target=add, args=(*arrays, 4096)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [launch["device"] for launch in recording.launches()] == [[1]] * 4


def test_one_object_a_device(recording: Recording) -> None:
    assert hip.hip_device(0) is hip.hip_device(0)


# Arrays of others ------------------------------------------------------------------------------


class RocmTensor:
    """What torch built for ROCm hands out, as far as a launch looks at it."""

    dtype = "torch.float32"
    itemsize = 4

    def __init__(self, pointer: int, shape: tuple[int, ...], index: int) -> None:
        self.device = SimpleNamespace(type="cuda", index=index)
        self._pointer, self.shape = pointer, shape

    def data_ptr(self) -> int:
        return self._pointer

    def storage_offset(self) -> int:
        return 0

    def untyped_storage(self) -> SimpleNamespace:
        size = int(np.prod(self.shape)) * self.itemsize
        return SimpleNamespace(nbytes=lambda: size, data_ptr=self.data_ptr)

    def stride(self) -> tuple[int, ...]:
        return tuple(int(np.prod(self.shape[i + 1 :])) for i in range(len(self.shape)))


def test_torch_for_rocm_calls_its_devices_cuda(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    recording.devices("gfx942", "gfx950")
    rocm_torch = SimpleNamespace(
        version=SimpleNamespace(hip="6.4.1", cuda=None),
        Tensor=RocmTensor,
        nn=SimpleNamespace(Parameter=RocmTensor),
        cuda=SimpleNamespace(is_initialized=lambda: False),
    )
    monkeypatch.setitem(sys.modules, "torch", rocm_torch)
    tensors = [RocmTensor(0x7000_0000 + i * 0x1_0000, (4096,), 1) for i in range(3)]
    stream = SimpleNamespace(cuda_stream=0x9000, device_index=1)
    vector_add()(*tensors, 4096, stream)
    [launch] = recording.launches()
    assert (launch["device"], launch["stream"]) == ([1], [0x9000])


def test_cuda_array_interface_on_rocm(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flydsl.runtime.cuda.is_available", lambda: False)
    recording.devices("gfx942", "gfx942")

    class CupyArray:
        def __init__(self, pointer: int) -> None:
            self.__cuda_array_interface__ = {"typestr": "<f4", "shape": (4096,), "data": (pointer, False)}

    arrays = [CupyArray((1 << 40) + i * 0x1_0000) for i in range(3)]
    vector_add()(*arrays, 4096)
    assert recording.launches()[0]["device"] == [1], "the device that the runtime says the memory is on"
