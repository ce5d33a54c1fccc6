"""The stand-in for CUDA's driver, `recording_cuda.c`."""

from __future__ import annotations

from pathlib import Path

import pytest

from flydsl.runtime import cuda, nvidia_tools
from tests.support.driver_recording import DriverRecording


def forget_devices() -> None:
    """As if no device had been asked for: the library and its devices are looked for again."""
    cuda._driver.cache_clear()
    cuda._devices.clear()


class Recording(DriverRecording):
    """One Hopper GPU, until told otherwise, and no tools of NVIDIA's."""

    prefix = "RECORDING_CUDA"
    launch_functions = ("cuLaunchKernel", "cuLaunchKernelEx")

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(folder, monkeypatch, "FLYDSL_CUDA_LIBRARY", "cuda", forget_devices)
        self.bin = folder / "nvidia" / "bin"
        self.bin.mkdir(parents=True)
        monkeypatch.setenv("PATH", str(self.bin))
        monkeypatch.setenv("CUDA_HOME", str(folder / "nvidia"))
        monkeypatch.delenv("CUDA_PATH", raising=False)
        monkeypatch.setattr(nvidia_tools, "_folders_of_triton", list)
        self.devices("9.0")

    def tool(self, name: str, script: str) -> None:
        """Install a tool: a shell script, which finds the programs of the system where they always are."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")
        path.chmod(0o755)

    def refuse_cubins(self, status: int) -> None:
        """As a driver does that the machine code was not made for."""
        self.tell("REFUSE_CUBIN", str(status))
