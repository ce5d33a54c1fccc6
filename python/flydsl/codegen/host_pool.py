"""Starting the host device's thread pool (`host_pool.ll`) and making it known to kernels."""

from __future__ import annotations

import ctypes
import os
import threading
from importlib import resources

from flydsl.codegen.jit_engine import LoadedObject, add_symbol, load_object
from flydsl.codegen.llvm_build import emit_object

LAUNCH_SYMBOL = "fly_host_launch"

_lock = threading.Lock()
_loaded: LoadedObject | None = None
_started_in: int | None = None


def available_cores() -> int:
    """Cores this process may run on."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def start(workers: int | None = None) -> int:
    """Start the pool once per process (a forked child starts its own); the launch entry's address."""
    global _loaded, _started_in
    with _lock:
        if _loaded is None:
            text = resources.files("flydsl.codegen").joinpath("host_pool.ll").read_text()
            _loaded = load_object(emit_object(text))
            add_symbol(LAUNCH_SYMBOL, _loaded.address(LAUNCH_SYMBOL))
        if _started_in != os.getpid():
            begin = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32)(_loaded.address("fly_pool_start"))
            begin(max(available_cores() - 1, 0) if workers is None else workers)
            _started_in = os.getpid()
        return _loaded.address(LAUNCH_SYMBOL)


def restart(workers: int) -> None:
    """Start over with another number of workers, for tests; the old threads stay asleep."""
    global _started_in
    _started_in = None
    start(workers)


def _after_fork() -> None:
    """A forked child has the pool's memory but none of its threads."""
    if _loaded is not None:
        start()


os.register_at_fork(after_in_child=_after_fork)
