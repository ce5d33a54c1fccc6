"""Which runtime runs compiled code, by the names of the original: that of a GPU's vendor, or the virtual GPU."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, DslValueError
from flydsl.runtime import cuda, hip
from flydsl.target.family import CUDA, HOST, ROCM, family

_DRIVERS = {ROCM.name: hip, CUDA.name: cuda}
KINDS = (*_DRIVERS, HOST.name)


@dataclass(frozen=True)
class DeviceRuntime:
    """A runtime and whether this machine has a device of its kind."""

    kind: str

    def is_available(self) -> bool:
        """Return whether kernels can run on it here; the virtual GPU is everywhere."""
        return family(self.kind).virtual or _DRIVERS[self.kind].is_available()

    def device_count(self) -> int:
        """Return how many devices it shows."""
        return 1 if family(self.kind).virtual else _DRIVERS[self.kind].device_count()


def get_device_runtime(kind: str | None = None) -> DeviceRuntime:
    """Return the runtime of a kind: by default the one FLYDSL_RUNTIME_KIND names, or the first that has a device."""
    named = kind or knobs.RUNTIME_KIND.get()
    if named not in (*KINDS, "auto"):
        raise DslValueError(f"Unknown FLYDSL_RUNTIME_KIND {named!r}", hint=f"use one of auto, {', '.join(KINDS)}")
    return _runtime(named if named != "auto" else next(kind for kind in KINDS if _runtime(kind).is_available()))


@cache
def _runtime(kind: str) -> DeviceRuntime:
    return DeviceRuntime(kind)


def ensure_compile_runtime_compatible(backend: str, runtime: DeviceRuntime | None = None) -> None:
    """Refuse to run code of a backend on the runtime of another vendor; the virtual GPU runs any."""
    found = runtime or get_device_runtime()
    if not family(found.kind).runs(backend):
        raise DslRuntimeError(
            f"code of the backend '{backend}' requires device runtime kind '{backend}', and this is '{found.kind}'",
            hint="set FLYDSL_RUNTIME_KIND, or ARCH to a target of that vendor",
        )


__all__ = ["DeviceRuntime", "ensure_compile_runtime_compatible", "get_device_runtime"]
