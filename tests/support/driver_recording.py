"""Stand-ins for drivers' libraries: built from C, switched on by the environment, their logs read back."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import ClassVar

import pytest

from tests.conftest import missing


@cache
def library(name: str, folder: Path = Path(__file__).parent) -> Path:
    """The shared library of a source, of this folder if no other is named, built once a process."""
    clang = shutil.which("clang-22") or shutil.which("clang") or shutil.which("cc")
    if clang is None:
        missing("clang", f"install clang-22, which builds {name}")
    source = folder / f"{name}.c"
    path = Path(mkdtemp(prefix="flydsl_driver_")) / f"lib{name}.so"
    command = [str(clang), "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", str(path), str(source)]
    subprocess.run(command, check=True)
    return path


class DriverRecording:
    """The calls made so far, and what the library is told to do."""

    prefix: ClassVar[str]
    """The environment variables of the stand-in begin with it."""
    launch_functions: ClassVar[tuple[str, ...]]

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, library_knob: str, kind: str, forget: Callable[[], None]
    ) -> None:
        self.log = folder / f"{kind}.log"
        self._patch = monkeypatch
        self._forget_devices = forget
        monkeypatch.setenv(library_knob, str(library(self.prefix.lower())))
        monkeypatch.setenv("FLYDSL_RUNTIME_KIND", kind)
        monkeypatch.setenv(f"{self.prefix}_LOG", str(self.log))
        monkeypatch.delenv("ARCH", raising=False)

    def devices(self, *archs: str) -> None:
        self.tell("DEVICES", ",".join(archs))
        self._forget_devices()

    def parameters(self, *sizes: int) -> None:
        self.tell("PARAMS", ",".join(map(str, sizes)))

    def fail(self, function: str, status: int) -> None:
        self.tell("FAIL", f"{function}={status}")

    def tell(self, name: str, value: str) -> None:
        """Set a variable of the stand-in."""
        self._patch.setenv(f"{self.prefix}_{name}", value)

    def calls(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def named(self, name: str) -> list[str]:
        return [call for call in self.calls() if call.split()[0] == name]

    def forget(self) -> None:
        self.log.unlink(missing_ok=True)

    def launches(self) -> list[dict[str, list[int]]]:
        """Grid, block, shared bytes, stream and device of every launch."""
        found = []
        for call in self.calls():
            if call.split()[0] not in self.launch_functions:
                continue
            fields = re.split(r" (?=[a-z]+ (?:0x)?[0-9])", call.replace("(nil)", "0x0"))[1:]
            parts = [field.split() for field in fields]
            found.append({name: [int(number, 0) for number in numbers] for name, *numbers in parts})
        return found

    def parameter_bytes(self) -> list[bytes]:
        return [bytes.fromhex(call.split()[2]) for call in self.named("parameter")]
