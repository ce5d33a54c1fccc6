"""The toolchain (this package, Python, the libraries, the processor) as text of a key, made once and without loading an
IR library."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import time
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from flydsl.base import files, knobs
from flydsl.base.errors import DslRuntimeError
from flydsl.base.own_code import VERSION, own_file

LIBRARIES = ("xdsl", "llvmlite")
_SOURCES = (".py", ".ll")
_CPU_LINES = (
    "vendor_id", "cpu family", "model", "model name", "stepping", "flags",
    "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision", "Features",
)  # fmt: skip
_AT_HWCAP, _AT_HWCAP2 = 16, 26
_DIGITS = 32
_SETTLED_SECONDS = 2.0
"""Age from which on a file that is written again has another time, whatever the file system counts in."""


def toolchain_text() -> str:
    """Return this package, Python and the libraries, as lines of a key."""
    version = f"flydsl {VERSION} {package_digest()}"
    lines = [version, f"python {sys.implementation.cache_tag} {sys.version.split()[0]}"]
    lines += [f"{name} {library_version(name)}" for name in LIBRARIES]
    lines += [f"extra {digest_of(path)}" for path in knobs.EXTRA_SOURCE_DIRS.get()]
    return "\n".join(lines)


@cache
def package_digest() -> str:
    """Return a digest of all sources of this package."""
    return noted_digest(str(own_file()))


def noted_digest(folder: str) -> str:
    """Return a digest of the sources in a folder: the one that a process noted before, while no file was touched since.

    A file that is written has another time of its inode's change, which nobody can set. A note is left only when all
    files are older than a clock's tick, as one that is written twice within it looks the same.
    """
    stamp, newest = _stamp(folder)
    digest = _noted(note := _note(folder), stamp)
    if digest is None:
        digest = digest_of(folder)
        if note is not None and newest < time.time() - _SETTLED_SECONDS:
            with contextlib.suppress(OSError):
                files.atomic_write(note, f"{stamp} {digest}".encode(), durable=False)
    return digest


def _stamp(folder: str) -> tuple[str, float]:
    """Return what tells the state of a folder's sources without reading them, and when the last one changed."""
    found = _sources(folder)
    states = [(of.st_ctime_ns, of.st_size, of.st_ino) for of in [os.stat(path) for _, path in found]]
    text = repr((folder, [name for name, _ in found], states))
    return _sha256(text.encode("utf-8", "surrogateescape")).hexdigest(), max(states, default=(0,))[0] / 1e9


def _note(folder: str) -> Path | None:
    """Return the file of the cache in which the digest of a folder is noted."""
    try:
        root = files.cache_directory()
    except DslRuntimeError:  # the cache itself says so when it is used
        return None
    name = _sha256(folder.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return root and root / f"{files.NOTES}{name}"


def _noted(note: Path | None, stamp: str) -> str | None:
    """Return the digest in a note that nobody else could have written, if it is of this state."""
    try:
        if note is None or not files.is_own(os.stat(note.parent)) or not files.is_own(os.lstat(note)):
            return None
        found, _, digest = note.read_bytes().decode("ascii", "replace").partition(" ")
    except OSError:
        return None
    return digest if found == stamp and len(digest) == _DIGITS else None


def digest_of(folder: str | os.PathLike[str]) -> str:
    """Return a digest of the sources in a folder, by their paths within it."""
    digest = _sha256()
    for name, path in _sources(str(folder)):
        with open(path, "rb") as file:
            content = file.read()
        digest.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        digest.update(content)
    return digest.hexdigest()[:_DIGITS]


def _sha256(data: bytes = b"") -> Any:
    return import_module("hashlib").sha256(data)  # slow to import


def _sources(folder: str) -> list[tuple[str, str]]:
    """Return the sources in a folder, sorted: each path within it, and the whole one."""
    found, folders = list[tuple[str, str]](), [(folder, "")]
    for place, prefix in folders:
        with contextlib.suppress(OSError):  # not there: as good as empty
            for entry in os.scandir(place):
                if entry.name.endswith(_SOURCES):
                    found.append((prefix + entry.name, entry.path))
                elif entry.is_dir() and entry.name != "__pycache__":
                    folders.append((entry.path, f"{prefix}{entry.name}/"))
    return sorted(found)


@cache
def _names_in(folder: str) -> list[str]:
    with contextlib.suppress(OSError):
        return os.listdir(folder)
    return []


@cache
def library_version(name: str) -> str:
    """Return the version of an installed package, from the name of its metadata folder."""
    for folder in sys.path:
        names = _names_in(folder or ".")
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
    """Return the processor, as exactly as LLVM looks at it when it compiles for this machine."""
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
