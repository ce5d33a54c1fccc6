"""What made a piece of code besides its source: this package, Python, the libraries, the processor.

Nothing here loads an IR library: the versions come from the names of the installed packages, the processor from the
kernel. All of it is computed once, when a key is first needed.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

from flydsl.base import knobs
from flydsl.base.own_code import VERSION, own_file

LIBRARIES = ("xdsl", "llvmlite")
_SOURCES = (".py", ".ll")
_CPU_LINES = (
    "vendor_id", "cpu family", "model", "model name", "stepping", "flags",
    "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision", "Features",
)  # fmt: skip
_AT_HWCAP, _AT_HWCAP2 = 16, 26


def toolchain_text() -> str:
    """This package, Python and the libraries, as lines of a key."""
    version = f"flydsl {VERSION} {package_digest()}"
    lines = [version, f"python {sys.implementation.cache_tag} {sys.version.split()[0]}"]
    lines += [f"{name} {library_version(name)}" for name in LIBRARIES]
    lines += [f"extra {digest_of(path)}" for path in knobs.EXTRA_SOURCE_DIRS.get()]
    return "\n".join(lines)


@cache
def package_digest() -> str:
    """A digest of all sources of this package."""
    return digest_of(Path(own_file()))


def digest_of(folder: Path) -> str:
    """A digest of the sources in a folder, by their paths within it."""
    digest = import_module("hashlib").sha256()  # slow to import
    for name, path in sorted(_sources(str(folder), "")):
        with open(path, "rb") as file:
            content = file.read()
        digest.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        digest.update(content)
    return digest.hexdigest()[:32]


def _sources(folder: str, prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    try:
        entries = list(os.scandir(folder))
    except OSError:  # not there: as good as empty
        return found
    for entry in entries:
        if entry.is_dir():
            if entry.name != "__pycache__":
                found += _sources(entry.path, f"{prefix}{entry.name}/")
        elif entry.name.endswith(_SOURCES):
            found.append((prefix + entry.name, entry.path))
    return found


@cache
def library_version(name: str) -> str:
    """The version of an installed package, from the name of its metadata folder."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for entry in names:
            if entry.startswith(f"{name}-") and entry.endswith((".dist-info", ".egg-info")):
                return entry[len(name) + 1 :].rsplit(".", 1)[0]
        if name in names:
            break
    from importlib import metadata  # slow to load, and needed only where a package is installed in an unusual way

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"


@cache
def processor_text() -> str:
    """The processor, as exactly as LLVM looks at it when it compiles for this machine."""
    lines = [os.uname().machine]
    try:
        with open("/proc/cpuinfo", "rb") as file:
            block = file.read(1 << 14).split(b"\n\n")[0].decode("utf-8", "replace")
        lines += [line for line in block.splitlines() if line.split(":")[0].strip() in _CPU_LINES]
    except OSError:
        lines.append(os.uname().nodename)  # no telling what it is: good for this machine only
    ask = getattr(ctypes.CDLL(None), "getauxval", None)
    if ask is not None:
        ask.restype, ask.argtypes = ctypes.c_ulong, (ctypes.c_ulong,)
        lines.append(f"hwcap {ask(_AT_HWCAP):x} {ask(_AT_HWCAP2):x}")
    return "; ".join(" ".join(line.split()) for line in lines)
