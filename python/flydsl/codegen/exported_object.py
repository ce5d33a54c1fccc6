"""Object code to be linked into other programs: chosen symbols under names of their own, all others hidden.

Every compiled module calls its entry the same, which is no matter inside one engine each. In a C program two of them
would clash, and so would two kernels of one name.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import llvmlite.binding as llvm

from flydsl.base.errors import DslValueError, LoweringError
from flydsl.base.native_names import POOL_LAUNCH, POOL_START, RESIDENT_LAUNCH, SPIN, STEP
from flydsl.base.records import dataclass
from flydsl.codegen.llvm_build import emit_object, host_cpu, host_machine, host_triple, stamped_module, target_machine
from flydsl.native import native_text

# Object code of the package's own native parts (`flydsl.native`) ------------------------------


def native_object(name: str, level: int = 2) -> bytes:
    """Return one of the sources, which are optimised already, compiled for this machine."""
    machine = host_machine(level)
    return machine.emit_object(stamped_module(native_text(name), machine))


NATIVE, GENERIC = "native", "generic"
_EXPORTED_POOL = (POOL_START, POOL_LAUNCH, RESIDENT_LAUNCH, SPIN, STEP)
_CHOICES = {"x86_64": {GENERIC: "x86-64", **{level: level for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4")}}}
"""Architecture -> processors an export may name -> LLVM's name; elsewhere there is only the generic one."""


@dataclass(frozen=True)
class Processor:
    """What host code is made for."""

    triple: str
    cpu: str
    features: str


def processor(name: str) -> Processor:
    """Return this machine's processor (``native``), or one that more machines have.

    LLVM takes a name it does not know for a generic processor, so only these are let through.
    """
    triple = host_triple()
    choices = _CHOICES.get(triple.partition("-")[0], {GENERIC: GENERIC})
    if name == NATIVE:
        return Processor(triple, *host_cpu())
    if name not in choices:
        raise DslValueError(
            f"cpu={name!r} is no processor to export for", hint=f"one of {', '.join([NATIVE, *choices])}"
        )
    return Processor(triple, choices[name], "")


def exported_object(text: str, names: Mapping[str, str], cpu: Processor, level: int) -> bytes:
    """Object code of LLVM text in which only the symbols of ``names`` can be seen, under their new names."""
    module = stamped_module(text, target_machine(cpu.triple, cpu.cpu, cpu.features, level))
    found = set()
    for value in [*module.functions, *module.global_variables]:
        if value.is_declaration:
            continue
        if value.name in names:
            found.add(value.name)
            value.name = names[value.name]
        else:
            value.linkage = "internal"
    if missing := sorted(set(names) - found):
        raise LoweringError(f"the module defines no {', '.join(missing)}", hint="this is a bug in the compiler")
    return emit_object(str(module), cpu.triple, cpu.cpu, cpu.features, level)


@cache
def exported_pool(cpu: Processor) -> bytes:
    """Return the host device's thread pool, for programs without Python."""
    return exported_object(native_text("host_pool"), {name: name for name in _EXPORTED_POOL}, cpu, 2)


def llvm_version() -> str:
    """Return the version of LLVM that makes the code."""
    return ".".join(map(str, llvm.llvm_version_info))
