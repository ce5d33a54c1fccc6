"""NVIDIA GPUs."""

from __future__ import annotations

from typing import ClassVar

from flydsl.compiler.backends.base import BaseBackend, GPUTarget, environment_target, own_backend
from flydsl.runtime import cuda

_DEFAULT = "sm_90a"


@own_backend
class CudaBackend(BaseBackend):
    """PTX for NVIDIA's GPUs."""

    name: ClassVar[str] = "cuda"
    address_spaces: ClassVar = {"generic": 0, "global": 1, "shared": 3, "register": 5}
    driver_libraries: ClassVar[tuple[str, ...]] = ("libcuda.so.1",)

    @classmethod
    def detect_target(cls) -> GPUTarget:
        chosen = environment_target()
        if chosen.backend == cls.name:
            return GPUTarget.of(chosen)
        return GPUTarget.of(cuda.cuda_device().target) if cuda.is_available() else cls.make_target(_DEFAULT)

    def gpu_module_targets(self) -> list[str]:
        return [f'#nvvm.target<chip = "{self.target.arch}">']
