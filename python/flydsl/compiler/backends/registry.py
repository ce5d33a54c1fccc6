"""The table of backends: two of our own, those registered here, and those of installed packages."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from flydsl.base import knobs
from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.compiler.backends.base import BaseBackend
from flydsl.compiler.backends.cuda import CudaBackend
from flydsl.compiler.backends.rocm import RocmBackend
from flydsl.compiler.target_choice import current_device

GROUP = "flydsl.backends"
"""Entry points of this group are backends: ``name = "package.module:Class"``."""

_backends: dict[str, type[BaseBackend]] = {"rocm": RocmBackend, "cuda": CudaBackend}


def compile_backend_name() -> str:
    """The backend that compiles: FLYDSL_COMPILE_BACKEND, else that of the target new work is compiled for."""
    return knobs.COMPILE_BACKEND.get() or current_device().target.backend


def register_backend(name: str, cls: type[BaseBackend], *, force: bool = False) -> None:
    """Make a backend known; ``force`` replaces one of the same name."""
    if not (isinstance(cls, type) and issubclass(cls, BaseBackend)):
        raise DslTypeError(f"a backend is a subclass of flyc.BaseBackend, got {cls!r}")
    if name in _backends and not force:
        raise DslValueError(f"there is a backend '{name}' already", hint="pass force=True to replace it")
    _backends[name] = cls


def get_backend(name: str | None = None, *, arch: str = "") -> BaseBackend:
    """A backend by name, for an architecture or the one it detects."""
    name = name or compile_backend_name()
    found = _backends.get(name) or _installed(name)
    if found is None:
        known = ", ".join(sorted({*_backends, *(entry.name for entry in _entry_points())}))
        raise DslValueError(f"there is no backend '{name}'", hint=f"the backends are: {known}")
    return found(found.make_target(arch) if arch else found.detect_target())


def _installed(name: str) -> type[BaseBackend] | None:
    for entry in _entry_points():
        if entry.name == name:
            register_backend(name, entry.load())
            return _backends[name]
    return None


def _entry_points() -> Any:
    return import_module("importlib.metadata").entry_points(group=GROUP)  # slow to import, and seldom needed
