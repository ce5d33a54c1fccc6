"""AMD code for a module after stage A: a linked code object with its kernels."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation

from flydsl.backends.device_code import DeviceCode, block_size, emit_kernels
from flydsl.backends.rocm.rules import ROCM_RULES
from flydsl.codegen.code_object import Linking
from flydsl.codegen.llvm_build import data_layout, emit_assembly, emit_object
from flydsl.target.target import Target

TRIPLE = "amdgcn-amd-amdhsa"


@dataclass(frozen=True)
class RocmCode(DeviceCode):
    """Kernels in the amdgpu calling convention, with the code object version the loader expects."""

    def attributes(self, op: Operation) -> str:
        sizes = block_size(op)
        threads = sizes[0] * sizes[1] * sizes[2] if sizes is not None else None
        bounds = f"{threads},{threads}" if threads is not None else "1,1024"
        words = ["nounwind", f'"amdgpu-flat-work-group-size"="{bounds}"', '"uniform-work-group-size"="true"']
        waves = op.attributes.get("rocdl.waves_per_eu")
        if waves is not None:
            words.append(f'"amdgpu-waves-per-eu"="{waves.value.data}"')  # type: ignore[union-attr]
        return " ".join(words)


def device_text(module: Operation, target: Target) -> str:
    """LLVM text of the module's kernels."""
    text = emit_kernels(module, RocmCode(TRIPLE, data_layout(TRIPLE, target.arch), "amdgpu_kernel", ROCM_RULES))
    return text + '\n!llvm.module.flags = !{!1000000}\n!1000000 = !{i32 1, !"amdhsa_code_object_version", i32 500}\n'


def isa_of(text: str, target: Target, level: int) -> str:
    """Assembly of LLVM text."""
    return emit_assembly(text, TRIPLE, target.arch, "", level)


def begin_code_object(text: str, target: Target, level: int) -> Linking:
    """Compile LLVM text and start linking it; ``result()`` is the code object."""
    return Linking(emit_object(text, TRIPLE, target.arch, "", level))
