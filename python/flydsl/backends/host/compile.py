"""Host code for a module after stage A: kernels that run a workgroup, and the launcher."""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.backends.host import sanitizer
from flydsl.backends.host.analysis.shared_accesses import SHARED_SPACE
from flydsl.backends.host.assembly import expand_assembly
from flydsl.backends.host.launching import HostLaunching, SanitizedLaunching
from flydsl.backends.host.lds_record import LdsRecorder
from flydsl.backends.host.multicast import expand_multicast
from flydsl.backends.host.promises import hold_to_promises, relax_alignment
from flydsl.backends.host.rules import HOST_RULES
from flydsl.backends.host.shared_memory import SharedMemory
from flydsl.backends.host.slots import BUFFER_DESCRIPTOR
from flydsl.backends.host.whole_vectors import rejoin_vectors
from flydsl.backends.host.workgroup import KernelInfo, WorkgroupEmitter
from flydsl.backends.launcher import HostModule, LauncherEmitter, Site, field_offsets
from flydsl.codegen.llvm_build import host_triple
from flydsl.codegen.module_emitter import ModuleEmitter
from flydsl.passes.shared.walk import functions, members, sanitizer_settings
from flydsl.target.target import Target


def shared_globals(module: Operation) -> dict[str, int]:
    """Shared globals of the gpu modules and their bytes."""
    found: dict[str, int] = {}
    for op in members(module):
        if op.name == "llvm.mlir.global" and op.properties["addr_space"].value.data == SHARED_SPACE:  # type: ignore[union-attr]
            type_ = op.properties["global_type"]
            found[op.properties["sym_name"].data] = type_.size.data  # type: ignore[union-attr]
    return found


def host_module(
    module: Operation, target: Target, argument_format: str, recorder: LdsRecorder | None = None, patient: bool = False
) -> HostModule:
    """Return the launcher and its kernels as LLVM text; a recorder has the accesses to shared memory written down.

    Whoever is ``patient`` has LLVM optimise long kernels too.
    """
    relax_alignment(module)
    emitter = ModuleEmitter(triple=host_triple(), extra_rules=HOST_RULES)
    shared = shared_globals(module)
    sanitize = sanitizer_settings(module)
    sites: list[Site] = []
    kernels: dict[str, KernelInfo] = {}
    for function in functions(module):
        if function.name == "gpu.func":
            expand_assembly(function, target)
            expand_multicast(function)
            rejoin_vectors(function)
            workgroup = WorkgroupEmitter(emitter, function, target, SharedMemory(shared), sites, patient)
            if recorder is not None:
                recorder.attach(workgroup)
            if target.family.whole_warps:
                hold_to_promises(workgroup)
            if sanitize is not None:
                sanitizer.watch(workgroup, sanitize)
            info = workgroup.emit()
            kernels[info.symbol] = info
    sanitized = None if sanitize is None else SanitizedLaunching(sanitize["arrays"], target.wave_size)
    launching = HostLaunching(kernels, sanitized)
    for function in functions(module):
        if function.name != "gpu.func":
            offsets = field_offsets(argument_format)
            LauncherEmitter(emitter, function, offsets, target, launching, sites).emit()
    # No host has 128-bit pointers: a buffer descriptor is an integer of that size.
    text = emitter.text().replace(BUFFER_DESCRIPTOR, "i128")
    return HostModule(text, tuple(sites), "@printf(" in text)
