"""What kernels check on the host before they compile, in words that say what would do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flydsl.compiler.backends.base import current_target
from flydsl.target.target import Target, parse_target


def require(name: str, value: Any, known: Iterable[Any]) -> None:
    """Refuse what is not one of the values there are."""
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(str, known))}, got {value!r}")


def require_multiple(name: str, value: Any, step: int) -> None:
    if not isinstance(value, int) or value <= 0 or value % step:
        raise ValueError(f"{name} must be a positive multiple of {step}, got {value}")


def refuse(name: str, value: Any, usual: Any, why: str) -> None:
    """Refuse an option of the original that is not offered here, unless it asks for what is done anyway."""
    if value != usual:
        raise ValueError(f"{name} = {value!r} is not offered: {why}; leave it {usual!r}")


def target_now() -> Target:
    """Return the target that is compiled for."""
    return parse_target(current_target().arch)


def require_target(kernel: str, archs: tuple[str, ...], instead: str = "") -> None:
    """Refuse other targets than these; what such a target has is named ``instead``."""
    arch = current_target().arch
    if arch not in archs:
        raise RuntimeError(f"{kernel} is for {', '.join(archs)}, not for {arch}" + (f"; {instead}" if instead else ""))


def require_lds(needed: int, advice: str) -> None:
    """Refuse more LDS than a workgroup of the target has."""
    target = target_now()
    if needed > target.lds_bytes:
        raise ValueError(
            f"the tiles take {needed} bytes of LDS, and {target.lds_bytes} are there on {target.arch}: {advice}"
        )


def hint_waves(function: Any, waves_per_eu: int | None) -> Any:
    """Return a jit function that asks for so many waves on a SIMD; None and 0 leave it to the compiler."""
    if waves_per_eu is not None and (type(waves_per_eu) is not int or not 0 <= waves_per_eu <= MOST_WAVES):
        raise ValueError(f"waves_per_eu must be a number from 1 to {MOST_WAVES}, or None; got {waves_per_eu!r}")
    if waves_per_eu:
        function.compile_hints["waves_per_eu"] = waves_per_eu
    return function


MOST_WAVES = 16
"""That a SIMD holds: 8 on CDNA, 16 on RDNA and gfx1250."""
