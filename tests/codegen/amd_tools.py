"""Reading code objects with LLVM's own tools: disassembly, and the kernels' metadata as Python values."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.conftest import missing


def tool(name: str) -> str:
    """A tool of LLVM 22."""
    found = shutil.which(f"{name}-22") or shutil.which(name)
    if found is None:
        missing(name, "install llvm-22")
        raise AssertionError
    return found


def read_with(name: str, flags: list[str], data: bytes, folder: Path) -> str:
    """What a tool says of a code object; it must have nothing to complain about."""
    path = folder / "kernel.hsaco"
    path.write_bytes(data)
    done = subprocess.run([tool(name), *flags, str(path)], capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr
    return done.stdout


def disassembled(data: bytes, folder: Path) -> str:
    return read_with("llvm-objdump", ["-d"], data, folder)


def notes(data: bytes, folder: Path) -> str:
    return read_with("llvm-readobj", ["--notes"], data, folder)


def kernel_metadata(data: bytes, folder: Path) -> dict[str, dict[str, Any]]:
    """The metadata of each kernel by its name; arguments are a list of dictionaries."""
    text = notes(data, folder)
    block = text.split("amdhsa.kernels:\n", 1)[1].split("\namdhsa.target", 1)[0]
    kernels: list[dict[str, Any]] = []
    for line in block.splitlines():
        depth = len(line) - len(line.lstrip(" -"))
        key, _, value = line.strip(" -").partition(":")
        starts = line.lstrip().startswith("- ")
        if depth == 4:
            if starts:
                kernels.append({})
            kernels[-1][key] = _value(value)
        elif depth == 8 and key.startswith("."):
            if starts:
                kernels[-1].setdefault(".args", [])
                kernels[-1][".args"] = [*(kernels[-1][".args"] or []), {}]
            kernels[-1][".args"][-1][key] = _value(value)
        else:  # a plain list, such as the required workgroup size
            name = list(kernels[-1])[-1]
            kernels[-1][name] = [*(kernels[-1][name] or []), _value(key)]
    return {kernel[".name"]: kernel for kernel in kernels}


def _value(text: str) -> Any:
    text = text.strip()
    return int(text) if text.lstrip("-").isdigit() else text or None
