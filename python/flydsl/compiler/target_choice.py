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
from flydsl.runtime import cuda
from flydsl.runtime.compile_only import CompileOnlyDevice
from flydsl.runtime.host import HostDevice
from flydsl.target.target import DEFAULT_ARCH, Target, parse_target


def chosen_target() -> Target:
    """The target of the virtual GPU: ARCH, then FLYDSL_GPU_ARCH, then gfx942."""
    return _parsed(knobs.ARCH.get() or knobs.GPU_ARCH.get() or DEFAULT_ARCH)


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
    wants_cuda = kind == "cuda" or (kind == "auto" and not (named and target.backend != "cuda"))
    if wants_cuda and cuda.is_available():
        return cuda.cuda_device()
    return _host(target)


@cache
def _absent(target: Target, kind: str) -> CompileOnlyDevice:
    return CompileOnlyDevice(target, kind)


def device_of(places: Iterable[tuple[str, int]]) -> Any:
    """The device that holds these arrays; with COMPILE_ONLY, the one code is made for."""
    if knobs.COMPILE_ONLY.get():
        kind, target = knobs.RUNTIME_KIND.get(), chosen_target()
        return _absent(target, target.backend if kind == "auto" else kind)
    found = set(places)
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
    if kind == "cuda":
        return cuda.cuda_device(index)
    raise DslValueError(f"arrays on '{kind}' cannot be reached", hint="pass host arrays or CUDA arrays")
