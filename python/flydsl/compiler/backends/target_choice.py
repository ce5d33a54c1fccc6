"""Which device a call runs on and which target it is compiled for.

Arrays decide the device: those in a GPU's memory run there, those of the host on the virtual GPU.
With no arrays, and for `current_device`, a GPU is taken if there is one. FLYDSL_RUNTIME_KIND asks for
a kind of device, and a call that cannot run there is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any

from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, DslValueError
from flydsl.runtime import cuda, hip
from flydsl.runtime.compile_only import CompileOnlyDevice
from flydsl.runtime.host import HostDevice
from flydsl.runtime.rocm_override import environment_arch
from flydsl.target.target import Target, parse_target

_GPU_DRIVERS = {"cuda": cuda, "rocm": hip}
_MAKERS = {"cuda": "NVIDIA", "rocm": "AMD"}
_KIND = knobs.RUNTIME_KIND.name


def environment_target() -> Target:
    """The target that the variables name: ARCH, FLYDSL_GPU_ARCH, HSA_OVERRIDE_GFX_VERSION, then gfx942."""
    return _parsed(environment_arch())


def chosen_target() -> Target:
    """The target of the virtual GPU: the environment's, or that of the backend or kind of device which it names."""
    name = knobs.COMPILE_BACKEND.get()
    if name is None and knobs.ARCH.get() is None and knobs.RUNTIME_KIND.get() in _GPU_DRIVERS:
        name = knobs.RUNTIME_KIND.get()
    if name is None:
        return environment_target()
    # Here, because backends ask this module for the environment's target.
    registry = import_module("flydsl.compiler.backends.registry")
    return _parsed(registry.get_backend(name, arch=knobs.ARCH.get() or "").target.arch)


@cache
def _parsed(arch: str) -> Target:
    return parse_target(arch)


@cache
def _host(target: Target) -> HostDevice:
    return HostDevice(target)


def current_device() -> Any:
    """The device that new work goes to: a GPU if there is one, else the virtual GPU."""
    kind, target = asked_kind(), chosen_target()
    named = _target_is_named()
    for backend, driver in _GPU_DRIVERS.items():
        wanted = kind == backend or (kind == "auto" and not (named and target.backend != backend))
        if wanted and driver.is_available():
            return _gpu(backend, 0)
    if kind in _GPU_DRIVERS:
        raise DslRuntimeError(
            f"{_KIND}={kind} asks for an {_MAKERS[kind]} GPU, and there is none here",
            hint=f"unset it, or set {_KIND}=host, to run on the virtual GPU",
        )
    return _host(target)


def _target_is_named() -> bool:
    return knobs.ARCH.get() is not None or knobs.COMPILE_BACKEND.get() is not None


def asked_kind() -> str:
    """FLYDSL_RUNTIME_KIND, which must fit a target that is named."""
    kind = knobs.RUNTIME_KIND.get()
    if kind in _GPU_DRIVERS and _target_is_named() and (target := chosen_target()).backend != kind:
        raise DslValueError(
            f"{_KIND}={kind} does not fit the target {target.arch}, which is an {_MAKERS[target.backend]} GPU",
            hint=f"set {_KIND} to {target.backend}, to host (the virtual GPU) or to auto, or choose another target",
        )
    return kind


def _gpu(kind: str, index: int) -> Any:
    """The GPU of a family and number; None where the family is none of ours."""
    if kind == "cuda":
        return cuda.cuda_device(index)
    return hip.hip_device(index) if kind == "rocm" else None


@cache
def _absent(target: Target, kind: str) -> CompileOnlyDevice:
    return CompileOnlyDevice(target, kind)


def device_for(place: tuple[str, int], arch: str) -> Any:
    """The device at a place, to run code compiled for an architecture."""
    kind, index = place
    return _gpu(kind, index) or _host(_parsed(arch))


def device_of(places: Iterable[tuple[str, int] | None]) -> Any:
    """The device that holds these arrays; with COMPILE_ONLY, the one code is made for."""
    kind = asked_kind()
    if knobs.COMPILE_ONLY.get():
        target = chosen_target()
        return _absent(target, target.backend if kind == "auto" else kind)
    found = {place for place in places if place is not None}
    if not found:
        return current_device()
    if len(found) > 1:
        shown = ", ".join(sorted(f"{kind}:{index}" if kind != "host" else "host" for kind, index in found))
        raise DslValueError(
            f"the arrays of one call lie on different devices: {shown}",
            hint="move them all to the device the kernel runs on",
        )
    place, index = next(iter(found))
    if kind not in ("auto", place):
        raise _elsewhere(kind, place)
    if place == "host":
        return _host(chosen_target())
    device = _gpu(place, index)
    if device is None:
        raise DslValueError(f"arrays on '{place}' cannot be reached", hint="pass arrays of the host, or of a GPU")
    return device


def _elsewhere(kind: str, place: str) -> DslValueError:
    """Arrays that the device which FLYDSL_RUNTIME_KIND asks for cannot reach."""
    lie = "in the host's memory" if place == "host" else f"on a GPU ('{place}')"
    asked = "the virtual GPU" if kind == "host" else f"an {_MAKERS[kind]} GPU"
    where = "NumPy arrays, for one" if kind == "host" else "those of flyc.current_device().arrays(...) or of torch"
    return DslValueError(
        f"the arrays of this call lie {lie}, and {_KIND}={kind} asks for {asked}",
        hint=f"pass arrays that lie there ({where}), or unset {_KIND}: the arrays then decide",
    )
