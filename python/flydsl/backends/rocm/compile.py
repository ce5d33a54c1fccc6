"""AMD code for a module: LLVM text of its kernels, assembly, and a linked code object."""

from __future__ import annotations

import json
from pathlib import Path

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Operation

from flydsl.backends.device_code import (
    DeviceCode,
    block_size,
    emit_kernels,
    emit_llvm_kernels,
    float_modes,
    int_attribute,
)
from flydsl.backends.rocm.lds_copies import order_lds_copies
from flydsl.backends.rocm.rules import ROCM_RULES
from flydsl.base.records import dataclass
from flydsl.codegen.code_object import Linking
from flydsl.codegen.device_build import DeviceBuild
from flydsl.codegen.llvm_build import data_layout
from flydsl.codegen.module_scope import ModuleScope
from flydsl.dialects.fly.payload import CLUSTER
from flydsl.passes.fly_rocdl_cluster_attr import LLVM_CLUSTER
from flydsl.target.target import Target

# Intrinsics of AMD GPUs that upstream's rocdl dialect has an operation for, without attributes of its own


ROCDL_OPS: dict[str, str] = {
    **{
        f"llvm.amdgcn.{kind}.id.{axis}": f"rocdl.{kind}.id.{axis}"
        for kind in ("workitem", "workgroup")
        for axis in "xyz"
    },
    "llvm.amdgcn.s.barrier": "rocdl.s.barrier",
    "llvm.amdgcn.mbcnt.lo": "rocdl.mbcnt.lo",
    "llvm.amdgcn.mbcnt.hi": "rocdl.mbcnt.hi",
    "llvm.amdgcn.ds.bpermute": "rocdl.ds_bpermute",
}
"""LLVM's name to the operation's."""


TRIPLE = "amdgcn-amd-amdhsa"
CODE_OBJECT_VERSION, CLUSTER_VERSION = 500, 600
"""Versions of code objects: the second one's metadata can name a kernel's cluster."""
_ONE_REGISTER_FILE = frozenset({"cdna2", "cdna3", "cdna4"})
"""Generations whose waves divide one file into vector and accumulation registers (CDNA2 ISA, 3.6)."""


@dataclass(frozen=True)
class RocmCode(DeviceCode):
    """Kernels in the amdgpu calling convention, with the code object version the loader expects."""

    one_register_file: bool = False
    version: int = CODE_OBJECT_VERSION
    kernel_mark = "rocdl.kernel"
    block_size_mark = "rocdl.reqd_work_group_size"
    cluster_pass = True
    dialect_ops = ROCDL_OPS

    def attributes(self, op: Operation) -> str:
        sizes = block_size(op)
        threads = sizes[0] * sizes[1] * sizes[2] if sizes is not None else None
        asked = op.attributes.get("rocdl.flat_work_group_size")
        bounds = f"{threads},{threads}" if threads is not None else "1,1024"
        bounds = asked.data if isinstance(asked, StringAttr) else bounds
        words = ["nounwind", f'"amdgpu-flat-work-group-size"="{bounds}"', '"uniform-work-group-size"="true"']
        waves = int_attribute(op, "rocdl.waves_per_eu")
        if waves:
            words.append(f'"amdgpu-waves-per-eu"="{waves}"')
        registers = int_attribute(op, "rocdl.num_vgpr") or self._vector_registers(int_attribute(op, "fly.maxnreg"))
        if registers:
            words.append(f'"amdgpu-num-vgpr"="{registers}"')
        cluster = op.attributes.get(CLUSTER)
        if isinstance(cluster, StringAttr):
            words.append(f'"{LLVM_CLUSTER}"="{cluster.data}"')
        words += float_modes(op)
        return " ".join(words + _passed_through(op))

    def _vector_registers(self, total: int) -> int:
        """LLVM's number for a cap on all registers: where one file holds both kinds, it allows twice the number."""
        return -(-total // 2) if self.one_register_file else total

    def attachments(self, op: Operation, scope: ModuleScope) -> str:
        sizes = block_size(op)
        if sizes is None:
            return ""
        return f" !reqd_work_group_size {scope.metadata('!{' + ', '.join(f'i32 {size}' for size in sizes) + '}')}"

    def finish(self, scope: ModuleScope) -> None:
        flag = scope.metadata(f'!{{i32 1, !"amdhsa_code_object_version", i32 {self.version}}}')
        scope.add_named_metadata("llvm.module.flags", flag)


def _passed_through(op: Operation) -> list[str]:
    """Return what a kernel says to LLVM itself: ``passthrough = ["name", ["name", "value"]]``."""
    entries = op.attributes.get("passthrough")
    words: list[str] = []
    for entry in entries if isinstance(entries, ArrayAttr) else ():
        items = entry if isinstance(entry, ArrayAttr) else (entry,)
        parts = [item.data for item in items if isinstance(item, StringAttr)]
        shown = "=".join(json.dumps(part) for part in parts)
        words += [shown if len(parts) > 1 or "-" in parts[0] else parts[0]] if parts else []
    return words


def features_of(target: Target) -> str:
    """LLVM's features of a target: how many lanes its waves have."""
    return f"+wavefrontsize{target.wave_size}"


def rocm_code(target: Target, line_tables: bool = False) -> RocmCode:
    """Return how kernels of a target are written."""
    layout = data_layout(TRIPLE, target.arch, features_of(target))
    one_file = target.generation in _ONE_REGISTER_FILE
    version = CLUSTER_VERSION if target.max_cluster_blocks > 1 else CODE_OBJECT_VERSION
    return RocmCode(TRIPLE, layout, "amdgpu_kernel", ROCM_RULES, line_tables, target.generation, one_file, version)


def device_text(module: Operation, target: Target, line_tables: bool = False) -> str:
    """LLVM text of the kernels of a module after stage A."""
    return order_lds_copies(emit_kernels(module, rocm_code(target, line_tables)))


def converted_text(module: Operation, target: Target, line_tables: bool = False) -> str:
    """LLVM text of a gpu module after stage B."""
    return order_lds_copies(emit_llvm_kernels(module, rocm_code(target, line_tables)))


def build_for(target: Target, level: int, llvm_dir: Path | None = None) -> DeviceBuild:
    """Return how LLVM text for a target is compiled."""
    return DeviceBuild(TRIPLE, target.arch, features_of(target), level, llvm_dir)


def isa_of(text: str, target: Target, level: int, llvm_dir: Path | None = None) -> str:
    """Assembly of LLVM text."""
    return build_for(target, level, llvm_dir).assembly(text)


def begin_code_object(text: str, target: Target, level: int, llvm_dir: Path | None = None) -> Linking:
    """Compile LLVM text and start linking it; ``result()`` is the code object."""
    build = build_for(target, level, llvm_dir)
    return Linking(build.object_code(text), build.linker())
