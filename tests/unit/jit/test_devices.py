"""The current device around a launch, and graph capture, with a driver that only keeps a record."""

from __future__ import annotations

import ctypes
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compiler.artifacts.artifact import Executable
from flydsl.compiler.backends import base as target_choice
from flydsl.compiler.calls.call import refuse_during_capture
from flydsl.compiler.calls.launch_code import Parameter, launch_function
from flydsl.runtime import cuda
from flydsl.runtime.cuda import CudaDevice
from tests.unit.jit.kernels import scaling


class RecordingDriver:
    """Contexts per thread, as the CUDA driver keeps them."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self._local = threading.local()
        self.capturing: dict[int, int] = {}

    @property
    def current(self) -> int:
        return getattr(self._local, "context", 0)

    @current.setter
    def current(self, context: int) -> None:
        self._local.context = context

    def call(self, name: str, *args: Any) -> None:
        assert self.try_call(name, *args) == 0

    def try_call(self, name: str, *args: Any) -> int:
        self.calls.append(name)
        if name == "cuCtxGetCurrent":
            args[0]._obj.value = self.current or None
        elif name == "cuCtxSetCurrent":
            self.current = args[0].value or 0
        elif name == "cuStreamIsCapturing":
            status = self.capturing.get(args[0].value or 0, 0)
            if status > 1:
                return status
            args[1]._obj.value = status
        return 0


def device_of(driver: RecordingDriver, context: int, *, only_one: bool) -> Any:
    device = object.__new__(CudaDevice)
    device.driver = driver  # type: ignore[assignment]
    device.index = context % 16
    device.is_only_one = only_one
    device._context = ctypes.c_void_p(context)
    device._current = threading.local()
    return device


def test_several_devices_give_the_context_back() -> None:
    driver = RecordingDriver()
    first, second = device_of(driver, 0x100, only_one=False), device_of(driver, 0x201, only_one=False)
    for before in (0, 0x100, 0x201, 0x999):
        driver.current = before
        for device in (first, second):
            with device.selected():
                assert driver.current == device._context.value
            assert driver.current == before
    with pytest.raises(RuntimeError, match="inside"), second.selected():
        raise RuntimeError("inside")
    assert driver.current == 0x999


def test_one_device_is_bound_once_per_thread() -> None:
    driver = RecordingDriver()
    device = device_of(driver, 0x100, only_one=True)
    for _ in range(3):
        with device.selected():
            assert driver.current == 0x100
    assert driver.calls == ["cuCtxSetCurrent"]
    seen: list[int] = []

    def work() -> None:
        with device.selected():
            seen.append(driver.current)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [0x100] and driver.calls == ["cuCtxSetCurrent"] * 2


class Relay:
    """A device whose code is the virtual GPU's, but whose context has to be selected."""

    kind = "host"

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.is_only_one = False

    def select(self) -> int | None:
        return self.inner.select()

    def restore(self, previous: int | None) -> None:
        self.inner.restore(previous)


def test_a_launch_selects_its_device_and_restores() -> None:
    @flyc.kernel
    def fill_kernel(x: fx.Tensor, n: fx.Int32):
        x[fx.thread_idx.x] = 1.0

    @flyc.jit
    def fill(x: fx.Tensor, n: fx.Int32):
        fill_kernel(x, n).launch(grid=(1, 1, 1), block=(n, 1, 1))

    x = np.zeros(8, np.float32)
    compiled = flyc.compile(fill, x, 8)
    driver = RecordingDriver()
    relay = Relay(device_of(driver, 0x201, only_one=False))
    old = compiled._executable
    executable = Executable(old.artifact, old._loaded, relay)
    parameters = [Parameter(name, form, value) for (name, form), value in zip(compiled._forms, (x, 8), strict=True)]
    launch = launch_function(parameters, executable, exact=False, hidden_stream=True)
    driver.current = 0x100
    driver.calls.clear()
    assert launch((x, 8)) and (x == 1).all()
    assert driver.current == 0x100
    assert driver.calls == ["cuCtxGetCurrent", "cuCtxSetCurrent", "cuCtxSetCurrent"]
    with pytest.raises(RuntimeError, match="block extents"):
        launch((x, 0))
    assert driver.current == 0x100
    driver.current, driver.calls = 0x201, []
    assert launch((x, 8)) and driver.calls == ["cuCtxGetCurrent"]
    with pytest.raises(RuntimeError, match="block extents"):
        executable.launch([x.ctypes.data, 8, 0, 0])
    assert driver.current == 0x201


def test_capture_is_asked_of_the_stream_and_of_the_default_stream() -> None:
    driver = RecordingDriver()
    device = device_of(driver, 0x100, only_one=True)
    fn = scaling()
    x = np.zeros(4, np.float32)
    driver.capturing = {0x77: 1}
    for stream, captured in ((None, False), (0x66, False), (0x77, True)):
        call = replace(fn.adapted_call((x, x, 1.0), {"stream": stream}), device=device)
        if not captured:
            refuse_during_capture(call, "scale")
            continue
        with pytest.raises(RuntimeError, match="graph is being captured") as caught:
            refuse_during_capture(call, "scale")
        assert "scale.warmup(...)" in str(caught.value)
    driver.capturing = {0: 906}  # what the driver answers for the default stream while another one is captured
    with pytest.raises(RuntimeError, match="graph is being captured"):
        refuse_during_capture(replace(fn.adapted_call((x, x, 1.0), {}), device=device), "scale")


def test_devices_without_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda, "_driver", lambda: None)
    assert cuda.device_count() == 0 and cuda.device_of_pointer(4096) == 0
    with pytest.raises(RuntimeError, match="no CUDA device is available"):
        cuda.cuda_device(77)
    assert target_choice.device_for(("host", 0), "gfx942").target.arch == "gfx942"
