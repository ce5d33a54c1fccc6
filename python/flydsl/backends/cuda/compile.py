"""NVIDIA code for a module after stage A: PTX for its kernels, and a launcher that calls the driver."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation

from flydsl.backends.cuda.rules import CUDA_RULES
from flydsl.backends.device_code import DeviceCode, block_size, emit_kernels
from flydsl.codegen.llvm_build import data_layout, emit_assembly
from flydsl.target.target import Target

TRIPLE = "nvptx64-nvidia-cuda"
FEATURES = {"sm_80": "+ptx88", "sm_90a": "+ptx88"}


@dataclass(frozen=True)
class CudaCode(DeviceCode):
    """Kernels in the ptx calling convention."""

    def attributes(self, op: Operation) -> str:
        sizes = block_size(op)
        words = ["nounwind"]
        if sizes is not None:
            words.append(f'"nvvm.reqntid"="{",".join(map(str, sizes))}"')
        return " ".join(words)


def device_text(module: Operation, target: Target) -> str:
    """LLVM text of the module's kernels."""
    layout = data_layout(TRIPLE, target.arch, FEATURES[target.arch])
    return emit_kernels(module, CudaCode(TRIPLE, layout, "ptx_kernel", CUDA_RULES))


def ptx_of(text: str, target: Target, level: int) -> str:
    """PTX of LLVM text."""
    return emit_assembly(text, TRIPLE, target.arch, FEATURES[target.arch], level)
