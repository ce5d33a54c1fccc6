"""The table of backends: two of our own, those registered here, and those of installed packages.

Compiling asks `backend_for` for the backend of a target: the one FLYDSL_COMPILE_BACKEND names, else the one registered
under the name of the target's family.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from flydsl.base import knobs
from flydsl.base.errors import DslTypeError, DslValueError, TargetError
from flydsl.compiler.backends.base import BaseBackend, GPUTarget
from flydsl.compiler.backends.cuda import CudaBackend
from flydsl.compiler.backends.environment import outdate
from flydsl.compiler.backends.families import register_device_family
from flydsl.compiler.backends.rocm import RocmBackend
from flydsl.target.family import register_family
from flydsl.target.target import Target, register_target

GROUP = "flydsl.backends"
"""Entry points of this group are backends: ``name = "package.module:Class"``."""

OWN: dict[str, type[BaseBackend]] = {"rocm": RocmBackend, "cuda": CudaBackend}
_backends: dict[str, type[BaseBackend]] = dict(OWN)


def register_backend(name: str, cls: type[BaseBackend], *, force: bool = False) -> None:
    """Make a backend known; ``force`` replaces one of the same name."""
    if not isinstance(name, str) or not name:
        raise DslTypeError(f"a backend has a name, got {name!r}", hint='write register_backend("mine", MyBackend)')
    if not (isinstance(cls, type) and issubclass(cls, BaseBackend)):
        raise DslTypeError(f"a backend is a subclass of flyc.BaseBackend, got {cls!r}")
    if name in _backends and not force:
        raise DslValueError(f"there is a backend '{name}' already", hint="pass force=True to replace it")
    for target in cls.targets:
        register_target(target)
    if cls.family is not None:
        register_family(cls.family.facts)
        register_device_family(cls.family)
    replaced = _backends.get(name) not in (None, cls)
    _backends[name] = cls
    if replaced:  # code in memory may be what the other one made
        outdate()


def backend_named(name: str, arch: str = "") -> BaseBackend:
    """A backend by name, for an architecture or the one it detects."""
    cls = _class_of(name)
    return _made(name, cls, cls.make_target(arch) if arch else cls.detect_target())


def backend_for(target: Target) -> BaseBackend:
    """The backend that compiles for a target: the named one, which must fit it, or the target's own."""
    return backend_named(knobs.COMPILE_BACKEND.get() or target.backend, target.arch)


def is_own(backend: BaseBackend) -> bool:
    """Whether a backend is this package's, which every key covers already."""
    return type(backend) in OWN.values()


def _made(name: str, cls: type[BaseBackend], target: GPUTarget) -> BaseBackend:
    if not cls.supports_target(target):
        raise TargetError(
            f"the backend '{name}' does not compile for {target.arch} of '{target.backend}'",
            hint=f"choose another target, or another {knobs.COMPILE_BACKEND.name}: '{target.backend}' is its own",
        )
    return cls(target)


def _class_of(name: str) -> type[BaseBackend]:
    found = _backends.get(name) or _installed(name)
    if found is None:
        known = ", ".join(sorted({*_backends, *(entry.name for entry in _entry_points())}))
        raise DslValueError(
            f"there is no backend '{name}'",
            hint=f"the backends are: {known}; flyc.register_backend(...) adds one",
        )
    return found


def _installed(name: str) -> type[BaseBackend] | None:
    for entry in _entry_points():
        if entry.name == name:
            register_backend(name, entry.load())
            return _backends[name]
    return None


def _entry_points() -> Any:
    return import_module("importlib.metadata").entry_points(group=GROUP)  # slow to import, and seldom needed
