"""AMD GPUs."""

from __future__ import annotations

from typing import ClassVar

from flydsl.base import knobs
from flydsl.compiler.backends.base import BaseBackend, GPUTarget, environment_target, own_backend
from flydsl.runtime.device import get_rocm_arch
from flydsl.target.target import parse_target


@own_backend
class RocmBackend(BaseBackend):
    """Code objects for AMD's GPUs: 64 threads in a wave of gfx9, 32 elsewhere."""

    name: ClassVar[str] = "rocm"
    address_spaces: ClassVar = {"generic": 0, "global": 1, "shared": 3, "register": 5}
    driver_libraries: ClassVar[tuple[str, ...]] = ("libamdhip64.so",)
    hint_attributes: ClassVar = {"waves_per_eu": "rocdl.waves_per_eu"}

    @classmethod
    def detect_target(cls) -> GPUTarget:
        chosen = environment_target()
        if knobs.ARCH.get() is not None and chosen.backend == cls.name:
            return GPUTarget.of(chosen)
        return GPUTarget.of(parse_target(get_rocm_arch()))

    def gpu_module_targets(self) -> list[str]:
        return [f'#rocdl.target<chip = "{self.target.arch}">']
