"""Artifacts brought into the process: no IR library is needed to run what was compiled before."""

from __future__ import annotations

import ctypes
import time
from typing import TYPE_CHECKING, Any

from flydsl.base.lazy import lazy_module
from flydsl.base.log import get_logger
from flydsl.base.native_names import DRIVER_ATTRIBUTES_ENTRY, DRIVER_ENTRY, TENSOR_MAP_ENTRY, handle_symbol
from flydsl.compiler.artifacts.artifact import Artifact, Executable
from flydsl.compiler.cache.own_objects import pool_object
from flydsl.runtime import host_pool
from flydsl.runtime.object_code import load_object
from flydsl.target.family import family

if TYPE_CHECKING:
    from flydsl.compiler.running import sanitized_executable
else:
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
    sanitized_executable.load_checker()
    return sanitized_executable.SanitizedExecutable(artifact, load_object(artifact.host_object), device)


def _set_pointer(place: int, value: int) -> None:
    ctypes.c_void_p.from_address(place).value = value
