"""NVIDIA's command-line tools: where they are, machine code of PTX by `ptxas`, and machine code as text.

None of them is needed: they come with the CUDA toolkit, and a copy of each with Triton.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from flydsl.base import knobs
from flydsl.base.records import dataclass

_SECONDS = 600
"""How long a tool may take; the largest kernels need some seconds."""


@dataclass(frozen=True)
class Assembled:
    """Machine code, empty where it could not be made, and what its maker said."""

    cubin: bytes
    said: str = ""


def tools(name: str) -> list[str]:
    """Return every copy of a tool: on the search path, of the CUDA installation, and the one that comes with Triton."""
    folders = [knobs.CUDA_HOME.get() / "bin", *_folders_of_triton()]
    found = map(shutil.which, [name, *(str(folder / name) for folder in folders)])
    return list(dict.fromkeys(filter(None, found)))


def _folders_of_triton() -> list[Path]:
    found = importlib.util.find_spec("triton")
    places = found.submodule_search_locations if found is not None else None
    return [Path(place) / "backends" / "nvidia" / "bin" for place in places or ()]


def assembled_by_ptxas(ptx: bytes, arch: str) -> Assembled:
    """Machine code of PTX for an architecture, by the first `ptxas` that takes it: an old one refuses new PTX."""
    said = []
    with tempfile.TemporaryDirectory(prefix="flydsl-ptxas-") as folder:
        source, binary = Path(folder) / "kernels.ptx", Path(folder) / "kernels.cubin"
        source.write_bytes(ptx)
        for tool in tools("ptxas"):
            done = _run([tool, f"-arch={arch}", "-o", str(binary), str(source)])
            if done is not None and done.returncode == 0 and binary.exists():
                return Assembled(binary.read_bytes(), _text(done.stderr))
            said.append(f"{tool}: {'it could not be run' if done is None else _text(done.stderr)}")
    return Assembled(b"", "\n".join(said) or "there is no ptxas")


def usage_by_ptxas(ptx: bytes, arch: str) -> dict[str, dict[str, int]]:
    """Registers, spilled bytes and stack bytes of each kernel, as `ptxas` says them; empty where there is none."""
    with tempfile.TemporaryDirectory(prefix="flydsl-ptxas-") as folder:
        source = Path(folder) / "kernels.ptx"
        source.write_bytes(ptx)
        for tool in tools("ptxas"):
            done = _run([tool, f"-arch={arch}", "-v", "-o", str(Path(folder) / "kernels.cubin"), str(source)])
            if done is not None and done.returncode == 0:
                return _usage(_text(done.stderr))
    return {}


def _usage(said: str) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for part in re.split(r"Compiling entry function '", said)[1:]:
        name = part[: part.index("'")]
        numbers = {"registers": r"Used (\d+) registers", "spills": r"(\d+) bytes spill stores",
                   "stack": r"(\d+) bytes stack frame"}  # fmt: skip
        read = {what: re.search(pattern, part) for what, pattern in numbers.items()}
        found[name] = {what: int(match[1]) for what, match in read.items() if match}
    return found


def sass_of(cubin: bytes) -> str:
    """Machine code as text, by `cuobjdump` or else `nvdisasm`; empty where neither is installed."""
    with tempfile.TemporaryDirectory(prefix="flydsl-sass-") as folder:
        binary = Path(folder) / "kernels.cubin"
        binary.write_bytes(cubin)
        commands = [[tool, "-sass", str(binary)] for tool in tools("cuobjdump")]
        commands += [[tool, str(binary)] for tool in tools("nvdisasm")]
        for command in commands:
            done = _run(command)
            if done is not None and done.returncode == 0 and done.stdout:
                return _text(done.stdout)
    return ""


def _run(command: list[str]) -> subprocess.CompletedProcess[bytes] | None:
    """Return the finished command; None where it cannot be run or does not end."""
    try:
        return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None


def _text(output: bytes) -> str:
    return output.decode(errors="replace")
