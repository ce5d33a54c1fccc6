"""Which device a call runs on and which target it is compiled for.

Arrays decide the device: those in a GPU's memory run there, those of the host on the virtual GPU.
With no arrays, and for `current_device`, a GPU is taken if there is one, unless FLYDSL_RUNTIME_KIND
says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from flydsl.base import knobs
from flydsl.base.errors import DslValueError
from flydsl.runtime import cuda, hip
from flydsl.runtime.compile_only import CompileOnlyDevice
from flydsl.runtime.host import HostDevice
from flydsl.runtime.rocm_override import overridden_arch
from flydsl.target.target import DEFAULT_ARCH, Target, parse_target


def chosen_target() -> Target:
    """The target of the virtual GPU: ARCH, FLYDSL_GPU_ARCH, HSA_OVERRIDE_GFX_VERSION, then gfx942."""
    return _parsed(knobs.ARCH.get() or knobs.GPU_ARCH.get() or overridden_arch() or DEFAULT_ARCH)


@cache
def _parsed(arch: str) -> Target:
    return parse_target(arch)


@cache
def _host(target: Target) -> HostDevice:
    return HostDevice(target)


def current_device() -> Any:
    """The device that new work goes to: a GPU if there is one, else the virtual GPU."""
    kind = knobs.RUNTIME_KIND.get()
    target = chosen_target()
    named = knobs.ARCH.get() is not None
    for backend, driver in (("cuda", cuda), ("rocm", hip)):
        wanted = kind == backend or (kind == "auto" and not (named and target.backend != backend))
        if wanted and driver.is_available():
            return _gpu(backend, 0)
    return _host(target)


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
    if knobs.COMPILE_ONLY.get():
        kind, target = knobs.RUNTIME_KIND.get(), chosen_target()
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
    kind, index = next(iter(found))
    if kind == "host":
        return _host(chosen_target())
    device = _gpu(kind, index)
    if device is None:
        raise DslValueError(f"arrays on '{kind}' cannot be reached", hint="pass arrays of the host, or of a GPU")
    return device
