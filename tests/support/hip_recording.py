"""The stand-in for HIP's library: built from `recording_hip.c`, switched on by the environment, its log read back."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

from flydsl.runtime import hip, rocm_arch
from tests.conftest import missing

_SOURCE = Path(__file__).with_name("recording_hip.c")


@cache
def library() -> Path:
    """The shared library, built once a process."""
    clang = shutil.which("clang-22") or shutil.which("clang") or shutil.which("cc")
    if clang is None:
        missing("clang", "install clang-22, which builds the stand-in for libamdhip64")
    path = Path(mkdtemp(prefix="flydsl_hip_")) / "librecording_hip.so"
    command = [str(clang), "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", str(path), str(_SOURCE)]
    subprocess.run(command, check=True)
    return path


def forget_devices() -> None:
    """As if no device had been asked for: the library and its devices are looked for again."""
    hip._driver.cache_clear()
    hip._devices.clear()
    rocm_arch._detected.cache_clear()


class Recording:
    """The calls made so far, and what the library is told to do."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log = folder / "hip.log"
        self._patch = monkeypatch
        monkeypatch.setenv("FLYDSL_HIP_LIBRARY", str(library()))
        monkeypatch.setenv("FLYDSL_RUNTIME_KIND", "rocm")
        monkeypatch.setenv("RECORDING_HIP_LOG", str(self.log))
        monkeypatch.delenv("ARCH", raising=False)
        self.devices("gfx942")

    def devices(self, *archs: str) -> None:
        self._patch.setenv("RECORDING_HIP_DEVICES", ",".join(archs))
        forget_devices()

    def parameters(self, *sizes: int) -> None:
        self._patch.setenv("RECORDING_HIP_PARAMS", ",".join(map(str, sizes)))

    def fail(self, function: str, status: int) -> None:
        self._patch.setenv("RECORDING_HIP_FAIL", f"{function}={status}")

    def calls(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def named(self, name: str) -> list[str]:
        return [call for call in self.calls() if call.split()[0] == name]

    def forget(self) -> None:
        self.log.unlink(missing_ok=True)

    def launches(self) -> list[dict[str, list[int]]]:
        """Grid, block, shared bytes, stream and device of every launch."""
        found = []
        for call in self.named("hipModuleLaunchKernel"):
            fields = re.split(r" (?=[a-z]+ (?:0x)?[0-9])", call.replace("(nil)", "0x0"))[1:]
            parts = [field.split() for field in fields]
            found.append({name: [int(number, 0) for number in numbers] for name, *numbers in parts})
        return found

    def parameter_bytes(self) -> list[bytes]:
        return [bytes.fromhex(call.split()[2]) for call in self.named("parameter")]
