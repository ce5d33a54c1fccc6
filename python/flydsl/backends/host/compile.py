"""Host code for a module after stage A: kernels that run a workgroup, and the launcher."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation

from flydsl.backends.host.lower_launcher import LauncherEmitter, field_offsets
from flydsl.backends.host.rules import HOST_RULES
from flydsl.backends.host.shared_memory import SHARED_SPACE, SharedMemory
from flydsl.backends.host.workgroup import KernelInfo, WorkgroupEmitter
from flydsl.codegen.llvm_build import host_triple
from flydsl.codegen.module_emitter import ModuleEmitter
from flydsl.passes.source_location import location_of
from flydsl.passes.walk import functions
from flydsl.target.target import Target


@dataclass(frozen=True)
class HostModule:
    """LLVM text, and the places that a failing launch or kernel can name."""

    text: str
    sites: tuple[tuple[str, int, str], ...]
    prints: bool


def _shared_globals(module: Operation) -> dict[str, int]:
    """Shared globals of the gpu modules and their bytes."""
    found: dict[str, int] = {}
    for op in module.walk():
        if op.name == "llvm.mlir.global" and op.properties["addr_space"].value.data == SHARED_SPACE:  # type: ignore[union-attr]
            type_ = op.properties["global_type"]
            found[op.properties["sym_name"].data] = type_.size.data  # type: ignore[union-attr]
    return found


def _site(op: Operation) -> tuple[str, int, str]:
    place = location_of(op)
    message = op.attributes.get("fly.message", "")
    return (place.file if place else "", place.line if place else 0, str(message))


def host_module(module: Operation, target: Target, argument_format: str) -> HostModule:
    """The launcher and its kernels as LLVM text."""
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
            LauncherEmitter(emitter, function, offsets, target, kernels, sites).emit()
    text = emitter.text()
    return HostModule(text, tuple(_site(op) for op in sites), "@printf(" in text)
