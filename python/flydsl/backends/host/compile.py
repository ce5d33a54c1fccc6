"""Host code for a module after stage A: kernels that run a workgroup, and the launcher."""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.backends.host.lower_kernel import KernelEmitter
from flydsl.backends.host.lower_launcher import LauncherEmitter, field_offsets
from flydsl.backends.host.rules import HOST_RULES
from flydsl.codegen.llvm_build import host_triple
from flydsl.codegen.module_emitter import ModuleEmitter
from flydsl.passes.walk import functions
from flydsl.target.target import Target


def host_module_text(module: Operation, target: Target, argument_format: str) -> str:
    """LLVM text of the launcher and its kernels."""
    emitter = ModuleEmitter(triple=host_triple(), extra_rules=HOST_RULES)
    for function in functions(module):
        if function.name == "gpu.func":
            KernelEmitter(emitter, function).emit()
        else:
            LauncherEmitter(emitter, function, field_offsets(argument_format), target.max_block_threads).emit()
    return emitter.text()
