"""The host device's thread pool in this process: loaded once, started once, and again in a forked child."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable

from flydsl.base.errors import DslRuntimeError
from flydsl.base.native_names import POOL_LAUNCH, POOL_START
from flydsl.runtime.object_code import LoadedObject, add_symbol, load_object

_lock = threading.Lock()
_loaded: LoadedObject | None = None
_started_in: int | None = None


def available_cores() -> int:
    """Cores this process may run on."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def start(object_code: Callable[[], bytes]) -> int:
    """Start the pool once per process; the launch entry's address. The code is asked for only if it is needed."""
    global _loaded
    with _lock:
        if _loaded is None:
            _loaded = load_object(object_code())
            add_symbol(POOL_LAUNCH, _loaded.address(POOL_LAUNCH))
        _begin(_loaded)
        return _loaded.address(POOL_LAUNCH)


def restart(workers: int) -> None:
    """Go on with another number of workers beside the calling thread, for tests; the old ones stay asleep."""
    global _started_in
    with _lock:
        if _loaded is None:
            raise DslRuntimeError("the pool has not been started", hint="run a kernel on the host first")
        _started_in = None
        _begin(_loaded, workers)


def _begin(pool: LoadedObject, workers: int | None = None) -> None:
    global _started_in
    if _started_in != os.getpid():
        begin = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(pool.address(POOL_START))
        begin(max(available_cores() - 1, 0) if workers is None else workers)
        _started_in = os.getpid()


def _after_fork() -> None:
    """A forked child has the pool's memory but none of its threads, and perhaps a lock that nobody will release."""
    global _lock
    _lock = threading.Lock()
    if _loaded is not None:
        _begin(_loaded)


os.register_at_fork(after_in_child=_after_fork)
