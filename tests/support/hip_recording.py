"""The stand-in for HIP's library, `recording_hip.c`."""

from __future__ import annotations

from pathlib import Path

import pytest

from flydsl.runtime import device, hip
from tests.support.driver_recording import DriverRecording


def forget_devices() -> None:
    """As if no device had been asked for: the library and its devices are looked for again."""
    hip._driver.cache_clear()
    hip._devices.clear()
    device._detected.cache_clear()


class Recording(DriverRecording):
    """One gfx942, until told otherwise."""

    prefix = "RECORDING_HIP"
    launch_functions = ("hipModuleLaunchKernel",)

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(folder, monkeypatch, "FLYDSL_HIP_LIBRARY", "rocm", forget_devices)
        self.devices("gfx942")
