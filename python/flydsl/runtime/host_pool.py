"""The host device's thread pool in this process: loaded once, started once, and again in a forked child."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError
from flydsl.base.lazy import lazy_module
from flydsl.base.native_names import POOL_CALLED, POOL_LAUNCH, POOL_LIMIT, POOL_START, POOL_WATCH_SIGNALS

if TYPE_CHECKING:
    from flydsl.runtime import object_code as loading
else:
    loading = lazy_module("flydsl.runtime.object_code")  # importing the package loads no code

_lock = threading.Lock()
_loaded: loading.LoadedObject | None = None
_started_in: int | None = None
_raised: int | None = None
"""Where native code keeps what a signal's handler raised while a launch ran."""
_SIGNALS = ("PyGILState_Ensure", "PyGILState_Release", "PyErr_CheckSignals", "PyErr_Fetch")


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
            _loaded = pool = loading.load_object(object_code())
            for name in POOL_CALLED:
                loading.add_symbol(name, pool.address(name))
        _begin(_loaded)
        _set_limit(_loaded)
        return _loaded.address(POOL_LAUNCH)


def address(name: str) -> int:
    """Return the address of one of the pool's functions."""
    if _loaded is None:
        raise DslRuntimeError("the pool has not been started", hint="run a kernel on the host first")
    return _loaded.address(name)


@contextmanager
def time_limit(seconds: float) -> Generator[None, None, None]:
    """Stop launches on the virtual GPU that take longer than this, with a `TimeoutError` that names the line.

    It holds for the whole process, like the variable ``FLYDSL_RUNTIME_TIME_LIMIT`` that it sets; 0 is no limit.
    """
    try:
        with knobs.scope({knobs.RUNTIME_TIME_LIMIT: seconds}):
            _set_limit(_loaded)
            yield
    finally:
        _set_limit(_loaded)


def _set_limit(pool: loading.LoadedObject | None) -> None:
    if pool is not None:
        limit = ctypes.CFUNCTYPE(None, ctypes.c_uint64)(pool.address(POOL_LIMIT))
        limit(int(knobs.RUNTIME_TIME_LIMIT.get() * 1e9))


def restart(workers: int) -> None:
    """Go on with another number of workers beside the calling thread, for tests; the old ones stay asleep."""
    global _started_in
    with _lock:
        if _loaded is None:
            raise DslRuntimeError("the pool has not been started", hint="run a kernel on the host first")
        _started_in = None
        _begin(_loaded, workers)


def _begin(pool: loading.LoadedObject, workers: int | None = None) -> None:
    global _started_in
    if _started_in != os.getpid():
        begin = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(pool.address(POOL_START))
        begin(max(available_cores() - 1, 0) if workers is None else workers)
        _started_in = os.getpid()
        _watch_signals(pool)


def _watch_signals(pool: loading.LoadedObject) -> None:
    """Let launches of Python's main thread handle its signals, which Python could only do after them."""
    global _raised
    functions = [ctypes.cast(ctypes.pythonapi[name], ctypes.c_void_p).value for name in _SIGNALS]
    table = (ctypes.c_void_p * len(functions))(*functions)
    watch = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64)(pool.address(POOL_WATCH_SIGNALS))
    _raised = watch(ctypes.addressof(table), threading.main_thread().ident or 0)


def raise_stopped() -> None:
    """Raise what the handler of a signal raised and a launch was stopped for."""
    assert _raised is not None, "no launch was stopped"
    kept = (ctypes.c_void_p * 3).from_address(_raised)
    restore = ctypes.pythonapi.PyErr_Restore
    restore.restype, restore.argtypes = None, [ctypes.c_void_p] * 3
    restore(*kept)


def _after_fork() -> None:
    """A forked child has the pool's memory but none of its threads, and perhaps a lock that nobody will release."""
    global _lock
    _lock = threading.Lock()
    if _loaded is not None:
        _begin(_loaded)


os.register_at_fork(after_in_child=_after_fork)
