"""What the environment says of calls: the target that it names, and whether it still says what it said."""

from __future__ import annotations

from functools import cache
from weakref import WeakSet

from flydsl.base import knobs
from flydsl.runtime.hip import environment_arch
from flydsl.target.target import Target, parse_target


def environment_target() -> Target:
    """The target that the variables name: ARCH, FLYDSL_GPU_ARCH, HSA_OVERRIDE_GFX_VERSION, then gfx942."""
    return parsed(environment_arch())


@cache
def parsed(arch: str) -> Target:
    """A target by its name, found once."""
    return parse_target(arch)


_WATCHED = (
    knobs.ARCH, knobs.GPU_ARCH, knobs.HSA_OVERRIDE_GFX_VERSION, knobs.COMPILE_ONLY, knobs.RUNTIME_KIND, knobs.JIT,
    *(knob for knob in knobs.TABLE.values() if knob.affects_code),
)  # fmt: skip
"""Variables that choose the target and the device of a call, or change the code."""


_given_out: WeakSet[knobs.Watch] = WeakSet()
_age = 0


def environment_now() -> knobs.Watch:
    """Their state: while it is unchanged, a call does what the one before did."""
    watch = knobs.Watch(_WATCHED)
    _given_out.add(watch)
    return watch


def outdate() -> None:
    """Something beside the variables changed what calls compile to: none does any more what the one before did."""
    global _age
    _age += 1
    for watch in list(_given_out):
        watch.unchanged = _changed


def age() -> int:
    """How often that happened."""
    return _age


def _changed() -> bool:
    return False
