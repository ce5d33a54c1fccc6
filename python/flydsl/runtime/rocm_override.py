"""The architecture of AMD GPUs as the environment states it."""

from __future__ import annotations

import re

from flydsl.base import knobs
from flydsl.base.errors import DslValueError
from flydsl.target.target import DEFAULT_ARCH


def overridden_arch() -> str | None:
    """FLYDSL_GPU_ARCH, then HSA_OVERRIDE_GFX_VERSION, as an architecture's name; None where neither names one."""
    named = knobs.GPU_ARCH.get()
    if named and (named.startswith("gfx") or named[0].isdigit()):
        return arch_of_version(named)
    version = knobs.HSA_OVERRIDE_GFX_VERSION.get()
    return arch_of_version(version) if version else None


def arch_of_version(text: str) -> str:
    """``9.4.2`` is gfx942; minor and stepping are hexadecimal digits in a name, so ``9.0.10`` is gfx90a."""
    if text.startswith("gfx"):
        return text.split(":")[0]
    found = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", text)
    if found is None or int(found[2]) > 15 or int(found[3]) > 15:
        raise DslValueError(
            f"{text!r} is no version of an AMD GPU, as HSA_OVERRIDE_GFX_VERSION takes one",
            hint="write three numbers, such as 9.4.2 for gfx942",
        )
    return f"gfx{found[1]}{int(found[2]):x}{int(found[3]):x}"


def environment_arch() -> str:
    """The architecture that the variables name: ARCH, FLYDSL_GPU_ARCH, HSA_OVERRIDE_GFX_VERSION, then gfx942."""
    return knobs.ARCH.get() or knobs.GPU_ARCH.get() or overridden_arch() or DEFAULT_ARCH
