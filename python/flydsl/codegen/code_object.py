"""Linking AMD objects into code objects: by our own linker, or else with the first one found.

`amd_link` links what kernels are made of. For what it refuses: an `ld.lld` on the path (Debian names it with a
version), then ROCm's, then the `ziglang` wheel's (``pip install 'flydsl[rocm]'``).
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from flydsl.base import knobs
from flydsl.base.errors import LoweringError
from flydsl.codegen.amd_link import Unlinkable, linked

_NAMES = ("ld.lld", "ld.lld-22", "ld.lld-21", "ld.lld-20", "ld.lld-19", "ld.lld-18")


@cache
def linker_command() -> tuple[str, ...]:
    """Return the command that links ELF objects."""
    for name in _NAMES:
        found = shutil.which(name)
        if found:
            return (found,)
    in_rocm = Path(knobs.ROCM_PATH.get()) / "llvm" / "bin" / "ld.lld"
    if in_rocm.exists():
        return (str(in_rocm),)
    if importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "ld.lld")
    raise LoweringError(
        "no ld.lld was found to link AMD code objects", hint="pip install 'flydsl[rocm]', or install lld"
    )


class Linking:
    """A link, done or under way: a linker is a process of its own, so other work can go on meanwhile."""

    def __init__(self, data: bytes, linker: tuple[str, ...] = ()) -> None:
        self._linked: bytes | None = None
        command = linker
        if not command:
            try:
                self._linked = linked(data)
                return
            except Unlinkable as refused:
                command = _linker_for(refused)
        self._folder = tempfile.TemporaryDirectory(prefix="flydsl-link-")
        source = Path(self._folder.name) / "kernels.o"
        self._target = Path(self._folder.name) / "kernels.hsaco"
        source.write_bytes(data)
        command = (*command, "-shared", "--no-undefined", "-o", str(self._target), str(source))
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def result(self) -> bytes:
        """Return the code object: a shared object the HIP loader accepts."""
        if self._linked is not None:
            return self._linked
        with self._folder:
            _, errors = self._process.communicate()
            if self._process.returncode:
                raise LoweringError(f"linking the code object failed: {errors.strip()}")
            return self._target.read_bytes()


def _linker_for(refused: Unlinkable) -> tuple[str, ...]:
    try:
        return linker_command()
    except LoweringError as missing:
        raise LoweringError(f"{refused.message}, and {missing.message}", hint=missing.hint) from None
