"""Which target to compile for and which device to run on."""

from __future__ import annotations

from functools import cache

from flydsl.base import knobs
from flydsl.runtime.device import Device
from flydsl.runtime.host import HostDevice
from flydsl.target.target import DEFAULT_ARCH, Target, parse_target


def chosen_target() -> Target:
    """The target of compilations started now: ARCH, then FLYDSL_GPU_ARCH, then gfx942."""
    return _parsed(knobs.ARCH.get() or knobs.GPU_ARCH.get() or DEFAULT_ARCH)


@cache
def _parsed(arch: str) -> Target:
    return parse_target(arch)


def current_device() -> Device:
    """The device that jit calls run on."""
    return HostDevice(chosen_target())
