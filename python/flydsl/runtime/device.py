"""Where kernels run: the contract every device fulfils."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from flydsl.base import knobs
from flydsl.base.lazy import lazy_module
from flydsl.base.records import dataclass
from flydsl.runtime import hip
from flydsl.runtime.hip import overridden_arch
from flydsl.target.copy_rocdl import atomic_generations
from flydsl.target.target import DEFAULT_ARCH, Target, is_rdna, parse_target

if TYPE_CHECKING:
    from flydsl.base import log
else:
    log = lazy_module("flydsl.base.log")

__all__ = [
    "Device", "get_rocm_arch", "get_rocm_device_count", "get_warp_size", "is_rdna_arch", "supports_bf16_global_atomics",
]  # fmt: skip


def get_warp_size(arch: str | None = None) -> int:
    """Return the threads of a wave of an architecture, by default this machine's: 32 on gfx10 and later, else 64."""
    return parse_target(get_rocm_arch() if arch is None else arch).wave_size


def get_rocm_device_count() -> int:
    """Return how many AMD GPUs the HIP runtime shows; none where there is no such runtime."""
    return hip.device_count() if hip.is_available() else 0


def supports_bf16_global_atomics(arch: str | None = None) -> bool:
    """Return whether pairs of bf16 can be added to memory in one step."""
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
        """Return the arrays where kernels of this device can reach them; results are back when the block ends."""
        ...

    def synchronize(self) -> None:
        """Wait until everything launched so far has finished."""
        ...


# Which AMD GPU this machine has: asked in a fixed order, each source only when those before it do not know


_ENUMERATOR = "rocm_agent_enumerator"
_NO_GPU = "gfx000"
"""What the enumerator says of the CPU."""


def get_rocm_arch() -> str:
    """Return the architecture of this machine's AMD GPU, such as ``gfx942``.

    FLYDSL_GPU_ARCH, HSA_OVERRIDE_GFX_VERSION, ``rocm_agent_enumerator``, the HIP runtime, and gfx942 where none knows.
    """
    return overridden_arch() or _detected(knobs.ROCM_AGENT_TIMEOUT.get(), str(knobs.ROCM_PATH.get())) or DEFAULT_ARCH


@cache
def _detected(timeout: int, root: str) -> str | None:
    return _enumerated(timeout, root) or hip.device_arch(0)


def _enumerated(timeout: int, root: str) -> str | None:
    """Return the first GPU that ROCm's own tool lists, from the ROCm installation or from the search path."""
    subprocess = import_module("subprocess")  # slow to import, and seldom needed
    for command in (os.path.join(root, "bin", _ENUMERATOR), _ENUMERATOR):
        try:
            done = subprocess.run([command], capture_output=True, text=True, timeout=timeout, check=True)
        except FileNotFoundError:
            continue
        except (OSError, subprocess.SubprocessError) as error:
            log.get_logger(__name__).warning("%s did not answer: %s", command, error)
            return None
        found = [name for name in re.findall(r"gfx[0-9a-f]{3,}", done.stdout) if name != _NO_GPU]
        return found[0] if found else None
    return None


def is_rdna_arch(arch: str | None = None) -> bool:
    """Return whether an architecture, by default this machine's, is of the RDNA family."""
    return is_rdna(get_rocm_arch() if arch is None else arch)


# The host device: a virtual GPU of any target, on this machine's cores ------------------------


@dataclass(frozen=True)
class HostDevice:
    """Runs kernels compiled for ``target`` on the CPU. Memory is the process's own, and launches are done on return."""

    target: Target
    kind: str = "host"

    @contextmanager
    def arrays(self, *arrays: Any) -> Iterator[Sequence[Any]]:
        yield arrays

    def synchronize(self) -> None:
        return

    def __str__(self) -> str:
        return f"host (virtual {self.target.arch})"


# A device that is not here: code can be made for it, but not run ------------------------------


@dataclass(frozen=True)
class CompileOnlyDevice:
    """What COMPILE_ONLY compiles for: the real device of a target."""

    target: Target
    kind: str
