"""Files that several processes share: atomic writes, locks between processes, directories named by a knob, and stores.

What lies in a store may be run, so it is read only from files that this user or root owns and nobody else can write, in
directories of which the same is true. Trouble with the directory (a full disk, no permission) is said once and is never
a reason to stop computing.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError
from flydsl.base.lazy import lazy_module

if TYPE_CHECKING:
    from flydsl.base import log
else:
    log = lazy_module("flydsl.base.log")  # and logging with it

_POLL_SECONDS = 0.02


def atomic_write(path: Path, data: bytes, *, mode: int = 0o600, durable: bool = True) -> None:
    """Write ``data`` so that a reader, now or after a crash, finds the old file or the new one, never a part of either.

    A file made for others has the ``mode`` 0o666, of which the process's umask takes its part away. The parent
    directory must exist. OSError is the caller's: a full disk is no reason to stop a computation. What is not
    ``durable`` does not wait for the disk: a crash of the machine may leave a part, which its reader must recognise.
    """
    # Not from `tempfile`, which takes longer to load than a cached kernel takes to start.
    name = path.parent / f".{path.name}.{os.getpid()}.{threading.get_ident()}.{time.monotonic_ns()}.tmp"
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
    if durable:
        _sync_directory(path.parent)


def _sync_directory(path: Path) -> None:
    """Make a rename durable. Some network file systems cannot sync a directory; there the rename has to do."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def file_lock(path: Path, *, timeout: float | None = None, shared: bool = False) -> Generator[None, None, None]:
    """Hold the lock file ``path`` against other threads and processes; TimeoutError after ``timeout`` seconds.

    The kernel releases the lock of a process that dies. The file itself stays: deleting it would let two processes
    hold "the" lock on two different files.
    """
    mode = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    # Every open() has a lock of its own, which is what makes threads of one process exclude each other too.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if timeout is None:
            fcntl.flock(descriptor, mode)
        else:
            _lock_within(descriptor, mode, path, timeout)
        yield
    finally:
        # Said explicitly, because a child forked meanwhile has the same open file and would go on holding the lock.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _lock_within(descriptor: int, mode: int, path: Path, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    while True:
        try:
            fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise TimeoutError(f"{path} was not free within {timeout} s") from None
            time.sleep(_POLL_SECONDS)


def is_own(status: os.stat_result) -> bool:
    """Return whether only this user or root could have written a file or a directory."""
    return status.st_uid in (os.geteuid(), 0) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def directory_of(knob: knobs.Knob[Path]) -> Path:
    """Return the directory a knob names, made if it is missing; readable by its owner only, since it decides what is
    run."""
    path = knob.get()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise DslRuntimeError(
            f"cannot make the directory {path}: {error.strerror}", hint=f"set {knob.name} to a directory you can write"
        ) from error
    return path.absolute()


def cache_directory() -> Path | None:
    """Return the directory of the disk cache, or None where ``FLYDSL_RUNTIME_ENABLE_CACHE`` turns it off."""
    return directory_of(knobs.RUNTIME_CACHE_DIR) if knobs.RUNTIME_ENABLE_CACHE.get() else None


# Stores ---------------------------------------------------------------------------------------------------------------

_warned: set[str] = set()

SUFFIX, LOCK_SUFFIX, NOTES = ".flydsl", ".lock", "package-"
"""How names of files end, and how those of notes begin, which say what a folder's sources are."""
LARGEST = 1 << 28
"""Bytes of the largest file that is read."""
_LEFTOVER_SECONDS = 3600
"""Age at which a temporary file has no writer any more."""
_KEPT_SHARE = 0.9
"""Part of the limit that eviction leaves, so that the next write does not evict again."""


def warn_once(topic: str, message: str) -> None:
    """Say something that would otherwise be said at every call."""
    if topic not in _warned:
        _warned.add(topic)
        log.get_logger(__name__).warning(message)


class Entry(NamedTuple):
    """One file of the store."""

    path: Path
    size: int
    used: float
    """When it was last written or read, in seconds since the epoch."""


Place = tuple[str, str]
"""Folder and name of a file."""


class Store:
    """One directory."""

    def __init__(self, root: Path) -> None:
        self.root = root

    # Reading and writing --------------------------------------------------------------------------

    def read(self, place: Place) -> bytes | None:
        """Return the content of a file, or None: not there, or not to be trusted."""
        folder = self.root / place[0]
        try:
            status = os.lstat(folder)
            if not stat.S_ISDIR(status.st_mode) or not is_own(status):
                warn_once(str(folder), f"{folder} could be written by others; what it holds is ignored")
                return None
            return read_trusted(folder / place[1])
        except OSError:
            return None

    def write(self, place: Place, data: bytes) -> int:
        """Keep a file; how many bytes that took, 0 if it could not be kept."""
        folder = self.root / place[0]
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            if not is_own(os.lstat(folder)):
                return 0
            atomic_write(folder / place[1], data, durable=False)  # its digest tells a part from the whole
        except OSError as error:
            warn_once(
                f"write {self.root}", f"compiled code cannot be kept in {self.root}: {error.strerror}; work goes on"
            )
            return 0
        return len(data)

    @contextmanager
    def lock(self, place: Place, patience: float) -> Generator[None, None, None]:
        """Be the one that makes a file. Without a lock to be had, or patience with its holder, go on all the same."""
        with contextlib.ExitStack() as held:
            path = self.root / place[0] / (place[1].removesuffix(SUFFIX) + LOCK_SUFFIX)
            try:
                path.parent.mkdir(mode=0o700, exist_ok=True)
                held.enter_context(file_lock(path, timeout=patience))
            except TimeoutError:
                log.get_logger(__name__).info("%s was not free within %s s; compiling without it", path, patience)
            except OSError as error:
                log.get_logger(__name__).info("no lock in %s: %s", self.root, error.strerror)
            yield

    # The whole directory --------------------------------------------------------------------------

    def entries(self) -> list[Entry]:
        """Return all files, whole or not."""
        found: list[Entry] = []
        for path in self._files():
            if path.name.endswith(SUFFIX) and not path.name.startswith("."):
                with contextlib.suppress(OSError):
                    status = os.lstat(path)
                    found.append(Entry(path, status.st_size, status.st_mtime))
        return found

    def contents(self, folder: str) -> list[bytes]:
        """Return what the files of a folder hold."""
        names = [path.name for path in _listed(self.root / folder) if path.name.endswith(SUFFIX)]
        return [data for name in names if (data := self.read((folder, name))) is not None]

    def count(self, folder: str) -> int:
        """Return how many files a folder has."""
        try:
            return sum(name.endswith(SUFFIX) for name in os.listdir(self.root / folder))
        except OSError:
            return 0

    def _files(self) -> Iterator[Path]:
        for folder in _listed(self.root):
            if folder.is_dir() and not folder.is_symlink():
                yield from _listed(folder)

    def clear(self) -> int:
        """Remove everything that was written here; how many files that were."""
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
        """Remove the least recently used files until the rest is well within the limit; the bytes that are left."""
        entries = sorted(self.entries(), key=lambda entry: entry.used)
        total = sum(entry.size for entry in entries)
        for path in list(self._files()):
            with contextlib.suppress(OSError):
                if path.name.endswith(".tmp") and time.time() - os.lstat(path).st_mtime > _LEFTOVER_SECONDS:
                    _remove(path)
        if total <= limit:
            return total
        before, logger = total, log.get_logger(__name__)
        for entry in entries:
            if total <= limit * _KEPT_SHARE:
                break
            logger.debug("evicting %s, %d bytes", entry.path, entry.size)
            _remove(entry.path)
            _remove(entry.path.with_suffix(LOCK_SUFFIX))
            with contextlib.suppress(OSError):  # others are still in it
                entry.path.parent.rmdir()
            total -= entry.size
        log.get_logger(__name__).info(
            "evicted %d of %d bytes from the cache, whose limit is %d", before - total, before, limit
        )
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
        if not stat.S_ISREG(status.st_mode) or not is_own(status) or status.st_size > LARGEST:
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
        root = cache_directory()
        if root is None:
            return None
        if not is_own(os.stat(root)):
            warn_once(
                str(root), f"the cache directory {root} could be written by others, so it is not used; "
                f"set {knobs.RUNTIME_CACHE_DIR.name} to one of your own, or run chmod go-w on it",
            )  # fmt: skip
            return None
    except (DslRuntimeError, OSError) as error:
        warn_once("directory", f"compiled code is not kept: {error}")
        return None
    return Store(root)
