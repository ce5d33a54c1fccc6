"""The key of compiled code on disk, and the directory it is kept in.

A key is everything that decides what a specialisation compiles to, as text: first this package and its libraries, the
function and all it reaches; then target, processor, settings, hints, types of arguments, compile-time values.

    {cache}/{function}_{32 hex}/{16 hex}.flydsl     an artifact, with the whole text in it; digests of it name the file
                                {16 hex}.lock       held while it is compiled

Code is read only from files that this user or root owns and nobody else can write, in directories of which the same
is true. Trouble with the directory (a full disk, no permission) is said once and is never a reason to stop computing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

from flydsl.base import files, knobs
from flydsl.base.errors import DslRuntimeError
from flydsl.base.log import get_logger
from flydsl.base.own_code import own_file
from flydsl.base.records import dataclass
from flydsl.base.toolchain import NOTES, processor_text, toolchain_text
from flydsl.compiler.arguments.adapting import Adapted
from flydsl.compiler.artifacts import artifact as artifact_file
from flydsl.compiler.artifacts.artifact import Artifact
from flydsl.compiler.backends.registry import backend_for, is_own
from flydsl.compiler.capture.inputs import Inputs, Walk, code_behind
from flydsl.target.target import Target

# Keys -----------------------------------------------------------------------------------------------------------------

SUFFIX = ".flydsl"
_SEPARATOR = "\n\n"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class CacheKey:
    """The key of one artifact on disk."""

    name: str
    function: str
    specialisation: str
    functions: tuple[FunctionType, ...] = ()
    """The user's functions in it, whose places in source files an artifact may name."""
    target: str = ""
    device: str = ""
    """What the code is for; the text says so too."""

    @property
    def text(self) -> str:
        return self.function + _SEPARATOR + self.specialisation

    @cached_property
    def directory(self) -> str:
        safe = re.sub(r"\W", "_", self.name, flags=re.ASCII)[:64]
        return f"{safe}_{_digest(self.function)[:32]}"

    @cached_property
    def file(self) -> str:
        return _digest(self.text)[:16] + SUFFIX


def place_of(text: str) -> tuple[str, str]:
    """Return (end of the directory's name, file name) under which a key of this text is kept."""
    function = text.partition(_SEPARATOR)[0]
    return f"_{_digest(function)[:32]}", _digest(text)[:16] + SUFFIX


def settings_text(device: str) -> str:
    """Kind of device, processor and the environment's settings, as lines of a key."""
    lines = [f"device {device}", f"processor {processor_text()}"]
    lines += [f"{name}={value!r}" for name, value in knobs.code_settings()]
    return "\n".join(lines)


def _parts(argument: Any) -> tuple[Any, ...]:
    """Return what code depends on of an argument: a compile-time value, or what is known of a run-time one."""
    if not isinstance(argument, Adapted):
        return ("constant", argument)
    constants = getattr(argument.argument, "constants", None)  # of a struct
    return ("argument", argument.argument.signature(), *code_behind(argument), constants)


def backend_texts(target: Target, walk: Walk) -> list[str]:
    """Return a backend that is not this package's: its class by content, and what it says of itself."""
    backend = backend_for(target)
    return [] if is_own(backend) else [f"backend {walk.text(type(backend))} {backend.hash()}"]


def key_of(
    name: str, inputs: Inputs, arguments: Iterable[Any], hints: Mapping[str, Any], device: Any
) -> tuple[CacheKey | None, tuple[str, ...]]:
    """Return the key of a specialisation; or None and the reasons why it can only be known within this process."""
    walk = inputs.argument_walk()
    texts = [walk.text(_parts(argument)) for argument in arguments]
    target, hint_text = walk.text(device.target), walk.text(dict(hints))
    texts += backend_texts(device.target, walk)
    reasons = (*inputs.opaque, *walk.opaque)
    if reasons:
        return None, reasons
    function = f"{toolchain_text()}\n{inputs.text}"
    if knobs.DEBUG_ENABLE_DEBUG_INFO.get() or knobs.SANITIZE.get():  # then paths and lines are in the code itself
        places = (f"{f.__code__.co_filename}:{f.__code__.co_firstlineno}" for f in inputs.functions)
        function += "\n" + "\n".join([own_file(""), *places])
    lines = [settings_text(device.kind), f"target {target}", f"hints {hint_text}", *texts, *walk.lines]
    functions = (*inputs.functions, *walk.functions)
    text = function.replace(_SEPARATOR, "\n")
    return CacheKey(name, text, "\n".join(lines), functions, device.target.arch, device.kind), ()


# The directory --------------------------------------------------------------------------------------------------------

_log = get_logger(__name__)
_warned: set[str] = set()

LOCK_SUFFIX = ".lock"
_LEFTOVER_SECONDS = 3600
"""Age at which a temporary file has no writer any more."""
_KEPT_SHARE = 0.9
"""Part of the limit that eviction leaves, so that the next write does not evict again."""


def warn_once(topic: str, message: str) -> None:
    """Say something that would otherwise be said at every call."""
    if topic not in _warned:
        _warned.add(topic)
        _log.warning(message)


class Entry(NamedTuple):
    """One artifact in the cache."""

    path: Path
    size: int
    used: float
    """When it was last written or read, in seconds since the epoch."""


class Store:
    """One cache directory."""

    def __init__(self, root: Path) -> None:
        self.root = root

    # Reading and writing --------------------------------------------------------------------------

    def read(self, key: CacheKey) -> Artifact | None:
        """Return the artifact of a key, or None: not there, damaged, another's, or not to be trusted."""
        folder = self.root / key.directory
        data = self._trusted_bytes(folder, key.file)
        if data is None:
            return None
        artifact = artifact_file.from_bytes(data, key.text)
        if artifact is None:
            _log.info("%s is damaged or belongs to another key; it is made anew", folder / key.file)
        return artifact

    def _trusted_bytes(self, folder: Path, name: str) -> bytes | None:
        try:
            status = os.lstat(folder)
            if not stat.S_ISDIR(status.st_mode) or not files.is_own(status):
                warn_once(str(folder), f"{folder} could be written by others; what it holds is ignored")
                return None
            return read_trusted(folder / name)
        except OSError:
            return None

    def write(self, key: CacheKey, artifact: Artifact) -> int:
        """Keep an artifact; how many bytes that took, 0 if it could not be kept."""
        folder = self.root / key.directory
        data = artifact_file.to_bytes(artifact, key.text)
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            if not files.is_own(os.lstat(folder)):
                return 0
            files.atomic_write(folder / key.file, data, durable=False)  # its digest tells a part from the whole
        except OSError as error:
            warn_once(
                f"write {self.root}", f"compiled code cannot be kept in {self.root}: {error.strerror}; work goes on"
            )
            return 0
        return len(data)

    @contextlib.contextmanager
    def lock(self, key: CacheKey, patience: float) -> Iterator[None]:
        """Be the one that compiles a key. Without a lock to be had, or patience with its holder, go on all the same."""
        with contextlib.ExitStack() as held:
            path = self.root / key.directory / (key.file.removesuffix(SUFFIX) + LOCK_SUFFIX)
            try:
                path.parent.mkdir(mode=0o700, exist_ok=True)
                held.enter_context(files.file_lock(path, timeout=patience))
            except TimeoutError:
                _log.info("%s was not free within %s s; compiling without it", path, patience)
            except OSError as error:
                _log.info("no lock in %s: %s", self.root, error.strerror)
            yield

    # The whole directory --------------------------------------------------------------------------

    def entries(self) -> list[Entry]:
        """Return all artifacts, whole or not."""
        found: list[Entry] = []
        for path in self._files():
            if path.name.endswith(SUFFIX) and not path.name.startswith("."):
                with contextlib.suppress(OSError):
                    status = os.lstat(path)
                    found.append(Entry(path, status.st_size, status.st_mtime))
        return found

    def artifacts(self, key: CacheKey) -> list[Artifact]:
        """Return what there is of the key's function, whatever it was compiled for."""
        folder = self.root / key.directory
        names = [path.name for path in _listed(folder) if path.name.endswith(SUFFIX)]
        read = (artifact_file.read(self._trusted_bytes(folder, name) or b"") for name in names)
        return [found[0] for found in read if found is not None]

    def count(self, key: CacheKey) -> int:
        """Return how many artifacts the store has of the key's function."""
        try:
            return sum(name.endswith(SUFFIX) for name in os.listdir(self.root / key.directory))
        except OSError:
            return 0

    def _files(self) -> Iterator[Path]:
        for folder in _listed(self.root):
            if folder.is_dir() and not folder.is_symlink():
                yield from _listed(folder)

    def clear(self) -> int:
        """Remove everything this cache wrote; how many artifacts that were."""
        count = 0
        for path in list(self._files()):
            if path.name.endswith((SUFFIX, LOCK_SUFFIX, ".tmp")):
                count += path.name.endswith(SUFFIX)
                _remove(path)
        for path in _listed(self.root):
            if path.name.startswith(NOTES):
                _remove(path)
            with contextlib.suppress(OSError):
                path.rmdir()
        return count

    def evict(self, limit: int) -> int:
        """Remove the least recently used artifacts until the rest is well within the limit; the bytes that are left."""
        entries = sorted(self.entries(), key=lambda entry: entry.used)
        total = sum(entry.size for entry in entries)
        for path in list(self._files()):
            with contextlib.suppress(OSError):
                if path.name.endswith(".tmp") and time.time() - os.lstat(path).st_mtime > _LEFTOVER_SECONDS:
                    _remove(path)
        if total <= limit:
            return total
        before = total
        for entry in entries:
            if total <= limit * _KEPT_SHARE:
                break
            _log.debug("evicting %s, %d bytes", entry.path, entry.size)
            _remove(entry.path)
            _remove(entry.path.with_suffix(LOCK_SUFFIX))
            with contextlib.suppress(OSError):  # others are still in it
                entry.path.parent.rmdir()
            total -= entry.size
        _log.info("evicted %d of %d bytes from the cache, whose limit is %d", before - total, before, limit)
        return total


def _listed(folder: Path) -> list[Path]:
    try:
        return [folder / name for name in sorted(os.listdir(folder))]
    except OSError:
        return []


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def read_trusted(path: Path, *, touch: bool = True) -> bytes | None:
    """Return the bytes of a plain file that nobody else could have written, marked as used now; OSError is the
    caller's."""
    # Not blocking matters for a pipe that somebody put there, not following for a link to one.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or not files.is_own(status) or status.st_size > artifact_file.LARGEST:
            warn_once(str(path), f"{path} could be written by others; it is ignored")
            return None
        if touch:
            with contextlib.suppress(OSError):  # a cache that may only be read
                os.utime(descriptor)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(status.st_size + 1)
    finally:
        os.close(descriptor)


def open_store() -> Store | None:
    """Return the cache directory the environment names; None where it is off or cannot be used."""
    try:
        root = files.cache_directory()
        if root is None:
            return None
        if not files.is_own(os.stat(root)):
            warn_once(
                str(root), f"the cache directory {root} could be written by others, so it is not used; "
                f"set {knobs.RUNTIME_CACHE_DIR.name} to one of your own, or run chmod go-w on it",
            )  # fmt: skip
            return None
    except (DslRuntimeError, OSError) as error:
        warn_once("directory", f"compiled code is not kept: {error}")
        return None
    return Store(root)
