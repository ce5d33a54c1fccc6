"""Linking AMD objects into code objects, with the first linker found.

An `ld.lld` on the path (Debian names it with a version), then ROCm's, then the `ziglang` wheel's
(``pip install 'flydsl[rocm]'``).
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

_NAMES = ("ld.lld", "ld.lld-22", "ld.lld-21", "ld.lld-20", "ld.lld-19", "ld.lld-18")


@cache
def linker_command() -> tuple[str, ...]:
    """The command that links ELF objects."""
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


def link_code_object(data: bytes) -> bytes:
    """A shared object the HIP loader accepts."""
    with tempfile.TemporaryDirectory(prefix="flydsl-link-") as folder:
        source, target = Path(folder) / "kernels.o", Path(folder) / "kernels.hsaco"
        source.write_bytes(data)
        command = [*linker_command(), "-shared", "--no-undefined", "-o", str(target), str(source)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            raise LoweringError(f"linking the code object failed: {run.stderr.strip()}")
        return target.read_bytes()
