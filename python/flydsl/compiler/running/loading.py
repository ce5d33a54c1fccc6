"""Artifacts brought into the process: no IR library is needed to run what was compiled before.

Object code of the package itself is kept as artifacts are, once per machine and version. What calls go through is
loaded once and stays: threads that ask at the same time get the same code.
"""

from __future__ import annotations

import ctypes
import threading
import time
from typing import TYPE_CHECKING, Any

from flydsl.base import knobs
from flydsl.base.lazy import lazy_module
from flydsl.base.log import get_logger
from flydsl.base.native_names import DRIVER_ATTRIBUTES_ENTRY, DRIVER_ENTRY, TENSOR_MAP_ENTRY, handle_symbol
from flydsl.base.toolchain import toolchain_text
from flydsl.compiler.artifacts.artifact import Artifact, Executable
from flydsl.compiler.cache.cache_store import CacheKey, settings_text
from flydsl.compiler.cache.disk_cache import fetch_own
from flydsl.runtime import host_pool
from flydsl.runtime.object_code import load_object
from flydsl.target.family import family

if TYPE_CHECKING:
    from flydsl.codegen import exported_object
    from flydsl.compiler.running import sanitized_executable
else:
    exported_object = lazy_module("flydsl.codegen.exported_object")
    sanitized_executable = lazy_module("flydsl.compiler.running.sanitized_executable")


_log = get_logger(__name__)


def load(artifact: Artifact, device: Any) -> Executable:
    """Bring an artifact's code into the process and onto its device."""
    began = time.perf_counter()
    loaded = _loaded(artifact, device)
    _log.debug("%s: loaded onto %s in %.1f ms", artifact.name, device, (time.perf_counter() - began) * 1e3)
    return loaded


def prepare(artifact: Artifact) -> None:
    """Have on disk what a later start needs beside an artifact."""
    if family(artifact.device).virtual:
        pool_object()


def _loaded(artifact: Artifact, device: Any) -> Executable:
    if artifact.sanitizer:
        return sanitized(artifact, device)
    if family(artifact.device).virtual:
        host_pool.start(pool_object)
        return Executable(artifact, load_object(artifact.host_object), device)
    loaded = load_object(artifact.host_object)
    module = device.load_module(*artifact.images, name=", ".join(artifact.kernels) or artifact.name)
    _set_pointer(loaded.address(DRIVER_ENTRY), device.launch_entry())
    if DRIVER_ATTRIBUTES_ENTRY in loaded.names:
        _set_pointer(loaded.address(DRIVER_ATTRIBUTES_ENTRY), device.attributes_entry())
    if TENSOR_MAP_ENTRY in loaded.names:
        _set_pointer(loaded.address(TENSOR_MAP_ENTRY), device.driver.address("cuTensorMapEncodeTiled"))
    for kernel in artifact.kernels:
        _set_pointer(loaded.address(handle_symbol(kernel)), device.function(module, kernel))
    return Executable(artifact, loaded, device)


def sanitized(artifact: Artifact, device: Any) -> Executable:
    """Code with checks in it, beside the checker that it calls."""
    host_pool.start(pool_object)
    sanitized_executable.load_checker()
    return sanitized_executable.SanitizedExecutable(artifact, load_object(artifact.host_object), device)


def _set_pointer(place: int, value: int) -> None:
    ctypes.c_void_p.from_address(place).value = value


# Object code of the package -------------------------------------------------------------------------------------------

_loading = threading.RLock()
_in_process: dict[str, Any] = {}


def pool_object() -> bytes:
    """Return the thread pool's object code for this machine."""
    return _own("host_pool")


def native_code(name: str) -> Any:
    """Return one of the native parts that calls of GPU code go through, in this process."""
    with _loading:
        if name not in _in_process:
            _in_process[name] = load_object(_own(name))
        return _in_process[name]


def _own(name: str) -> bytes:
    """Return the object code of a native part, from disk where it is there."""

    def compile_() -> Artifact:
        code = exported_object.native_object(name, knobs.COMPILE_OPT_LEVEL.get())
        return Artifact(name=name, target="", device=name, argument_format="", host_object=code)

    return fetch_own(CacheKey(name, toolchain_text(), settings_text(name)), compile_).host_object
