"""nvvm-attach-target: says for which NVIDIA GPU a gpu module is compiled.

    gpu.module @kernels { … }    ->    gpu.module @kernels [#nvvm.target<chip = "sm_90a">] { … }

Options: ``chip``, ``features``, ``O`` (optimisation level).
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Operation

from flydsl.dialects.gpu_syntax import TARGETS
from flydsl.dialects.gpu_targets import NvvmTargetAttr, optimisation_level
from flydsl.passes.shared.walk import gpu_modules


def nvvm_attach_target(module: Operation, chip: str = "sm_90a", features: str = "+ptx88", O: str = "2") -> None:  # noqa: E741
    """Run the pass on a module."""
    target = NvvmTargetAttr.of(O=optimisation_level(O), chip=chip, features=features)
    for op in gpu_modules(module):
        op.attributes[TARGETS] = ArrayAttr([target])
