"""NVIDIA code for a module: LLVM text of its kernels and PTX."""

from __future__ import annotations

from pathlib import Path

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from flydsl.backends.cuda.atomics import atomic_rule
from flydsl.backends.cuda.rules import CUDA_RULES
from flydsl.backends.device_code import (
    DeviceCode,
    block_size,
    emit_kernels,
    emit_llvm_kernels,
    float_modes,
    int_attribute,
)
from flydsl.base.records import dataclass
from flydsl.codegen.device_build import DeviceBuild
from flydsl.codegen.llvm_build import data_layout
from flydsl.dialects.fly.payload import CLUSTER
from flydsl.target.target import Target

# Intrinsics of NVIDIA GPUs that upstream's nvvm dialect has an operation for, without attributes of its own


NVVM_OPS: dict[str, str] = {
    **{
        f"llvm.nvvm.read.ptx.sreg.{register}.{axis}": f"nvvm.read.ptx.sreg.{register}.{axis}"
        for register in ("tid", "ntid", "ctaid", "nctaid")
        for axis in "xyz"
    },
    "llvm.nvvm.read.ptx.sreg.laneid": "nvvm.read.ptx.sreg.laneid",
}
"""LLVM's name to the operation's."""


TRIPLE = "nvptx64-nvidia-cuda"
FEATURES = {"sm_80": "+ptx88", "sm_90a": "+ptx88"}
_ADDS_BF16 = ("hopper",)
"""Generations with an atomic addition of bf16."""


@dataclass(frozen=True)
class CudaCode(DeviceCode):
    """Kernels in the ptx calling convention."""

    kernel_mark = "nvvm.kernel"
    block_size_mark = "nvvm.reqntid"
    dialect_ops = NVVM_OPS

    def attributes(self, op: Operation) -> str:
        sizes = block_size(op)
        words = ["nounwind"]
        if sizes is not None:
            words.append(f'"nvvm.reqntid"="{",".join(map(str, sizes))}"')
        registers = int_attribute(op, "nvvm.maxnreg", "fly.maxnreg")
        if registers:
            words.append(f'"nvvm.maxnreg"="{registers}"')
        cluster = op.attributes.get(CLUSTER)
        if isinstance(cluster, StringAttr):
            words.append(f'"nvvm.cluster_dim"="{cluster.data}"')
        words += float_modes(op)
        return " ".join(words)


def cuda_code(target: Target, line_tables: bool = False) -> CudaCode:
    """Return how kernels of a target are written."""
    layout = data_layout(TRIPLE, target.arch, FEATURES[target.arch])
    rules = {**CUDA_RULES, "llvm.atomicrmw": atomic_rule(has_bf16=target.generation in _ADDS_BF16)}
    return CudaCode(TRIPLE, layout, "ptx_kernel", rules, line_tables, target.generation)


def device_text(module: Operation, target: Target, line_tables: bool = False) -> str:
    """LLVM text of the kernels of a module after stage A."""
    return emit_kernels(module, cuda_code(target, line_tables))


def converted_text(module: Operation, target: Target, line_tables: bool = False) -> str:
    """LLVM text of a gpu module after stage B."""
    return emit_llvm_kernels(module, cuda_code(target, line_tables))


def ptx_of(text: str, target: Target, level: int, llvm_dir: Path | None = None) -> str:
    """PTX of LLVM text."""
    return DeviceBuild(TRIPLE, target.arch, FEATURES[target.arch], level, llvm_dir).assembly(text)
