"""rocdl-attach-target: says for which AMD GPU a gpu module is compiled.

    gpu.module @kernels { … }    ->    gpu.module @kernels [#rocdl.target<chip = "gfx942">] { … }

Options: ``chip``, ``triple``, ``features``, ``O`` (optimisation level), ``abi`` (code object version), and flags that
the attribute names when they are on: ``fast``, ``daz``, ``finite-only``, ``unsafe-math``, ``correct-sqrt``, ``wave64``.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, UnitAttr
from xdsl.ir import Operation

from flydsl.base.errors import DslValueError
from flydsl.dialects.gpu_syntax import TARGETS
from flydsl.dialects.gpu_targets import RocdlTargetAttr, optimisation_level
from flydsl.passes.shared.walk import gpu_modules
from flydsl.target.target import DEFAULT_ARCH

CODE_OBJECT_ABI = "500"
"""The code object version that the loader of every supported ROCm accepts."""


CODE_FLAGS = {
    "fast": "fast", "daz": "daz", "finite-only": "finite_only", "unsafe-math": "unsafe_math",
    "correct-sqrt": "unsafe_sqrt", "wave64": "no_wave64",
}  # fmt: skip
"""Options to the flag of the attribute. The last two are on by default, and the flag says that they are off."""
_ON_BY_DEFAULT = ("correct-sqrt", "wave64")
_TRIPLE = "amdgcn-amd-amdhsa"


def rocdl_attach_target(
    module: Operation,
    chip: str = DEFAULT_ARCH,
    features: str = "",
    O: str = "2",  # noqa: E741
    abi: str = CODE_OBJECT_ABI,
    triple: str = _TRIPLE,
    **flags: str,
) -> None:
    """Run the pass on a module."""
    if triple != _TRIPLE:
        raise DslValueError(f"code for AMD's GPUs has the triple {_TRIPLE}, not '{triple}'")
    named = [CODE_FLAGS[name] for name, text in flags.items() if _is_on(name, text) != (name in _ON_BY_DEFAULT)]
    target = RocdlTargetAttr.of(O=optimisation_level(O), chip=chip, features=features, abi=abi)
    if named:
        entries = {**target.entries.data, "flags": DictionaryAttr({flag: UnitAttr() for flag in sorted(named)})}
        target = RocdlTargetAttr(DictionaryAttr(entries))  # pyright: ignore[reportCallIssue]
    for op in gpu_modules(module):
        op.attributes[TARGETS] = ArrayAttr([target])


def _is_on(name: str, text: str) -> bool:
    if text not in ("true", "false", "1", "0"):
        raise DslValueError(f"the option {name} is true or false, not '{text}'")
    return text in ("true", "1")
