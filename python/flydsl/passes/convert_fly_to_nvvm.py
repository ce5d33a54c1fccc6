"""convert-fly-to-nvvm: fly pointers and atoms become LLVM pointers and nvvm operations.

Input: what fly-promote-regmem-to-vectorssa leaves. Output: upstream dialects only.
"""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.passes.convert_fly_memory import convert_fly_memory
from flydsl.passes.shared.memory_conversion import AtomRule
from flydsl.passes.shared.nvvm_copies import NVVM_COPIES
from flydsl.passes.shared.universal_atoms import universal_atomic
from flydsl.passes.shared.warpgroup_atoms import lower_wgmma
from flydsl.target.copy_ops import UniversalAtomic
from flydsl.target.mma_warpgroup import Wgmma
from flydsl.target.sync_scopes import NVIDIA_SCOPES

NVVM_ATOMS: dict[type, AtomRule] = {
    UniversalAtomic: universal_atomic(NVIDIA_SCOPES),
    Wgmma: lower_wgmma,
    **NVVM_COPIES,
}


def convert_fly_to_nvvm(module: Operation) -> None:
    """Run the pass on a module."""
    convert_fly_memory(module, NVVM_ATOMS, {})
