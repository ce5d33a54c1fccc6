"""Which target to compile for: ARCH, then what the machine says, then gfx942."""

from __future__ import annotations

from flydsl.base import knobs
from flydsl.target.target import DEFAULT_ARCH, Target, parse_target


def chosen_target() -> Target:
    """The target of compilations started now."""
    return parse_target(knobs.ARCH.get() or knobs.GPU_ARCH.get() or DEFAULT_ARCH)
