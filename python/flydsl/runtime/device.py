"""Where kernels run: the contract every device fulfils."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from flydsl.runtime import hip
from flydsl.runtime.rocm_arch import get_rocm_arch, is_rdna_arch
from flydsl.target.copy_rocdl import atomic_generations
from flydsl.target.target import Target, parse_target

__all__ = [
    "Device", "get_rocm_arch", "get_rocm_device_count", "get_warp_size", "is_rdna_arch", "supports_bf16_global_atomics",
]  # fmt: skip


def get_warp_size(arch: str | None = None) -> int:
    """The threads of a wave of an architecture, by default this machine's: 32 on gfx10 and later, else 64."""
    return parse_target(get_rocm_arch() if arch is None else arch).wave_size


def get_rocm_device_count() -> int:
    """How many AMD GPUs the HIP runtime shows; none where there is no such runtime."""
    return hip.device_count() if hip.is_available() else 0


def supports_bf16_global_atomics(arch: str | None = None) -> bool:
    """Whether pairs of bf16 can be added to memory in one step."""
    return parse_target(get_rocm_arch() if arch is None else arch).generation in atomic_generations("pk_add", "bf16")


class Device(Protocol):
    """A place that runs kernels compiled for one target."""

    @property
    def kind(self) -> str:
        """``host``, ``cuda`` or ``rocm``."""
        ...

    @property
    def target(self) -> Target:
        """What kernels are compiled for to run here."""
        ...

    def arrays(self, *arrays: Any) -> AbstractContextManager[Sequence[Any]]:
        """The arrays where kernels of this device can reach them; results are back when the block ends."""
        ...

    def synchronize(self) -> None:
        """Wait until everything launched so far has finished."""
        ...
