"""Timing by a GPU's events, against the library that records calls: what is asked of the driver, and in which order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.autotune import do_bench
from flydsl.autotune.buffers import Snapshot
from flydsl.base.errors import DriverError
from flydsl.runtime import array_view, hip
from flydsl.runtime.device_events import FLUSH_BYTES
from tests.support import random_data
from tests.support.hip_recording import Recording, forget_devices


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recording]:
    yield Recording(tmp_path, monkeypatch)
    forget_devices()


def test_each_run_stands_between_two_events(recording: Recording) -> None:
    device = hip.hip_device()
    recording.forget()

    def run() -> None:
        with recording.log.open("a") as log:
            log.write("run\n")

    # The stand-in's events are a millisecond apart.
    assert do_bench(run, warmup=1, rep=3, device=device, stream=0x40, quantiles=[0.0, 1.0]) == [1.0, 1.0]
    calls = [
        call for call in recording.calls() if not call.startswith(("hipEventCreate", "hipGetDevice", "hipSetDevice"))
    ]
    fill = f"hipMemsetAsync {FLUSH_BYTES} value 0 stream 0x40"
    timed = [fill, "hipEventRecord stream 0x40", "run", "hipEventRecord stream 0x40"]
    synchronised = "hipDeviceSynchronize device 0"
    assert calls == [
        *("run", synchronised, f"hipMalloc {FLUSH_BYTES} device 0"),
        *(timed * 3),
        *(synchronised, *["hipEventElapsedTime"] * 3, *["hipEventDestroy"] * 6, "hipFree"),
    ]


def test_current_device_is_measured_by_default(recording: Recording) -> None:
    assert flyc.current_device().kind == "rocm"
    assert do_bench(lambda: None, warmup=0, rep=2) == 1.0


@pytest.mark.parametrize("function", ["hipMalloc", "hipEventCreateWithFlags", "hipMemsetAsync", "hipEventRecord"])
def test_a_failing_driver_is_an_error_and_leaks_nothing(recording: Recording, function: str) -> None:
    device = hip.hip_device()
    recording.forget()
    recording.fail(function, 2)
    with pytest.raises(DriverError, match=f"{function} failed: hipErrorOutOfMemory"):
        do_bench(lambda: None, warmup=0, rep=2, device=device)
    assert len(recording.named("hipFree")) == (0 if function == "hipMalloc" else 1)


def test_device_arrays_are_put_back(recording: Recording) -> None:
    device = hip.hip_device()
    host = random_data.generator().standard_normal((5, 8)).astype(np.float32)
    part = host[1:4, ::2]
    with device.arrays(part) as (array,):
        view = array_view.of(array)
        assert view is not None and view.device == ("rocm", 0)
        saved = Snapshot({"X": view}, device)
        np.testing.assert_array_equal(saved.before["X"], part)
        saved.buffers["X"].zero(0)
        assert not saved.now()["X"].any()
        saved.restore()
        np.testing.assert_array_equal(saved.now()["X"], part)
