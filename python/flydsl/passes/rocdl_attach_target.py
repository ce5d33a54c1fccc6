"""rocdl-attach-target: says for which AMD GPU a gpu module is compiled.

    gpu.module @kernels { … }    ->    gpu.module @kernels [#rocdl.target<chip = "gfx942">] { … }

Options: ``chip``, ``features``, ``O`` (optimisation level), ``abi`` (code object version).
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Operation

from flydsl.dialects.gpu_syntax import TARGETS
from flydsl.dialects.gpu_targets import RocdlTargetAttr, optimisation_level
from flydsl.passes.shared.walk import gpu_modules
from flydsl.target.target import DEFAULT_ARCH

CODE_OBJECT_ABI = "500"
"""The code object version that the loader of every supported ROCm accepts."""


def rocdl_attach_target(
    module: Operation,
    chip: str = DEFAULT_ARCH,
    features: str = "",
    O: str = "2",  # noqa: E741
    abi: str = CODE_OBJECT_ABI,
) -> None:
    """Run the pass on a module."""
    target = RocdlTargetAttr.of(O=optimisation_level(O), chip=chip, features=features, abi=abi)
    for op in gpu_modules(module):
        op.attributes[TARGETS] = ArrayAttr([target])
