"""Which device a call runs on and which target it is compiled for.

Arrays decide the device: those in a GPU's memory run there, those of the host on the virtual GPU.
With no arrays, and for `current_device`, a GPU is taken if there is one. FLYDSL_RUNTIME_KIND asks for
a kind of device, and a call that cannot run there is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, DslValueError
from flydsl.compiler.backends import registry
from flydsl.compiler.backends.base import BaseBackend, GPUTarget
from flydsl.compiler.backends.environment import environment_target, parsed
from flydsl.compiler.backends.families import gpu_families
from flydsl.expr.trace.context import current, is_tracing
from flydsl.runtime.device import CompileOnlyDevice, HostDevice
from flydsl.target.family import HOST, family, family_of_place
from flydsl.target.target import Target

_KIND = knobs.RUNTIME_KIND.name


def chosen_target() -> Target:
    """The target of the virtual GPU: the environment's, or that of the backend or kind of device which it names."""
    name = knobs.COMPILE_BACKEND.get()
    if name is None and knobs.ARCH.get() is None and _is_gpu(knobs.RUNTIME_KIND.get()):
        name = knobs.RUNTIME_KIND.get()
    if name is None:
        return environment_target()
    return parsed(registry.backend_named(name, arch=knobs.ARCH.get() or "").target.arch)


@cache
def _host(target: Target) -> HostDevice:
    return HostDevice(target)


def current_device() -> Any:
    """The device that new work goes to: a GPU if there is one, else the virtual GPU."""
    kind, target = asked_kind(), chosen_target()
    named = _target_is_named()
    for found in gpu_families():
        name = found.facts.name
        wanted = kind == name or (kind == "auto" and not (named and target.backend != name))
        if wanted and found.is_available():
            return found.device(0)
    if _is_gpu(kind):
        raise DslRuntimeError(
            f"{_KIND}={kind} asks for an {family(kind).maker} GPU, and there is none here",
            hint=f"unset it, or set {_KIND}=host, to run on the virtual GPU",
        )
    return _host(target)


def _target_is_named() -> bool:
    return knobs.ARCH.get() is not None or knobs.COMPILE_BACKEND.get() is not None


def asked_kind() -> str:
    """FLYDSL_RUNTIME_KIND, which must fit a target that is named."""
    kind = knobs.RUNTIME_KIND.get()
    if _is_gpu(kind) and _target_is_named() and (target := chosen_target()).backend != kind:
        raise DslValueError(
            f"{_KIND}={kind} does not fit the target {target.arch}, which is an {target.family.maker} GPU",
            hint=f"set {_KIND} to {target.backend}, to host (the virtual GPU) or to auto, or choose another target",
        )
    return kind


def _is_gpu(kind: str) -> bool:
    """Whether a kind is of real devices."""
    return any(found.facts.name == kind for found in gpu_families())


def _gpu(kind: str, index: int) -> Any:
    """The GPU of a family and number; None where the family is none of ours."""
    return next((found.device(index) for found in gpu_families() if found.facts.name == kind), None)


@cache
def _absent(target: Target, kind: str) -> CompileOnlyDevice:
    return CompileOnlyDevice(target, kind)


def device_for(place: tuple[str, int], arch: str) -> Any:
    """The device at a place, to run code compiled for an architecture."""
    kind, index = place
    return _gpu(kind, index) or _host(parsed(arch))


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
        shown = ", ".join(sorted(_place_text(*place) for place in found))
        raise DslValueError(
            f"the arrays of one call lie on different devices: {shown}",
            hint="move them all to the device the kernel runs on",
        )
    place, index = next(iter(found))
    if kind not in ("auto", place):
        raise _elsewhere(kind, place)
    if place == HOST.name:
        return _host(chosen_target())
    device = _gpu(place, index)
    if device is None:
        raise DslValueError(f"arrays on '{place}' cannot be reached", hint="pass arrays of the host, or of a GPU")
    return device


def _place_text(kind: str, index: int) -> str:
    found = family_of_place(kind)
    return found.place(index) if found is not None else f"{kind}:{index}"


def _elsewhere(kind: str, place: str) -> DslValueError:
    """Arrays that the device which FLYDSL_RUNTIME_KIND asks for cannot reach."""
    lie = "in the host's memory" if place == HOST.name else f"on a GPU ('{place}')"
    asked = "the virtual GPU" if kind == HOST.name else f"an {family(kind).maker} GPU"
    where = "NumPy arrays, for one" if kind == HOST.name else "those of flyc.current_device().arrays(...) or of torch"
    return DslValueError(
        f"the arrays of this call lie {lie}, and {_KIND}={kind} asks for {asked}",
        hint=f"pass arrays that lie there ({where}), or unset {_KIND}: the arrays then decide",
    )


def compile_backend_name() -> str:
    """The backend that compiles: FLYDSL_COMPILE_BACKEND, else that of the target new work is compiled for."""
    named = knobs.COMPILE_BACKEND.get()
    if named is None and (kind := knobs.RUNTIME_KIND.get()) in registry.OWN:
        named = kind  # also where there is no such device: code can be made for it
    return named or current_device().target.backend


def get_backend(name: str | None = None, *, arch: str = "") -> BaseBackend:
    """A backend by name, for an architecture or the one it detects."""
    return registry.backend_named(name or compile_backend_name(), arch)


@cache
def _make_backend(name: str, arch: str) -> BaseBackend:
    """A backend for an architecture, made once."""
    return get_backend(name, arch=arch)


def current_target() -> GPUTarget:
    """The target that new work is compiled for; while tracing, that of the trace."""
    return GPUTarget.of(current().target if is_tracing() else current_device().target)
