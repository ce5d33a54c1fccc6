"""Files that several processes share: atomic writes, locks between processes, directories named by a knob."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError

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
