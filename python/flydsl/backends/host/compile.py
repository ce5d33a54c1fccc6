"""Host code for a module after stage A: kernels that run a workgroup, and the launcher."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, VectorType, i64
from xdsl.ir import Operation

from flydsl.backends.host.launching import HostLaunching
from flydsl.backends.host.rules import HOST_RULES
from flydsl.backends.host.shared_memory import SHARED_SPACE, SharedMemory
from flydsl.backends.host.workgroup import KernelInfo, WorkgroupEmitter
from flydsl.backends.launcher import HostModule, LauncherEmitter, field_offsets, site_of
from flydsl.codegen.llvm_build import host_triple
from flydsl.codegen.module_emitter import ModuleEmitter
from flydsl.passes.walk import functions
from flydsl.target.target import Target


def _shared_globals(module: Operation) -> dict[str, int]:
    """Shared globals of the gpu modules and their bytes."""
    found: dict[str, int] = {}
    for op in module.walk():
        if op.name == "llvm.mlir.global" and op.properties["addr_space"].value.data == SHARED_SPACE:  # type: ignore[union-attr]
            type_ = op.properties["global_type"]
            found[op.properties["sym_name"].data] = type_.size.data  # type: ignore[union-attr]
    return found


def _relax_alignment(module: Operation) -> None:
    """Accesses are only as aligned as their elements: a promise broken by the user must not crash the host."""
    for op in module.walk():
        if op.name in ("llvm.load", "llvm.store"):
            type_ = op.results[0].type if op.results else op.operands[0].type
            elem = type_.element_type if isinstance(type_, VectorType) else type_
            size = getattr(elem, "size", 8)
            given = op.properties.get("alignment")
            if isinstance(given, IntegerAttr):
                op.properties["alignment"] = IntegerAttr(min(given.value.data, size), i64)


def host_module(module: Operation, target: Target, argument_format: str) -> HostModule:
    """The launcher and its kernels as LLVM text."""
    _relax_alignment(module)
    emitter = ModuleEmitter(triple=host_triple(), extra_rules=HOST_RULES)
    shared = _shared_globals(module)
    sites: list[Operation] = []
    kernels: dict[str, KernelInfo] = {}
    for function in functions(module):
        if function.name == "gpu.func":
            info = WorkgroupEmitter(emitter, function, target, SharedMemory(shared), sites).emit()
            kernels[info.symbol] = info
    for function in functions(module):
        if function.name != "gpu.func":
            offsets = field_offsets(argument_format)
            LauncherEmitter(emitter, function, offsets, target, HostLaunching(kernels), sites).emit()
    text = emitter.text()
    return HostModule(text, tuple(site_of(op) for op in sites), "@printf(" in text)
