"""Stages B and C pass by pass, for dumps: what becomes of a module on its target, also when the host runs it.

They work on a copy. What runs is compiled the short way, and a test holds both ways to the same code.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from flydsl.backends.pipeline import STAGE_C, Step, stage_b
from flydsl.base import knobs
from flydsl.base.errors import FlyDSLError
from flydsl.base.log import get_logger
from flydsl.compiler.artifacts.artifact import Assemble
from flydsl.compiler.backends.families import device_family
from flydsl.compiler.lowering.dumps import Dumps, module_text
from flydsl.passes.shared.walk import gpu_modules
from flydsl.target.target import Target

_LOG = get_logger(__name__)

FINAL_ASSEMBLY = "21_final_isa.s"
"""The file's name when it is the only one; among all dumps it is numbered as they are."""
ASSEMBLY_SUFFIX = ".s"


def dump_later_stages(
    module: ModuleOp, target: Target, level: int, debug_info: bool, dumps: Dumps, assemble: Assemble | None = None
) -> None:
    """Write the dumps after stage A; a module the target has no code for is dumped as far as it gets."""
    copy = module.clone()
    try:
        for step in stage_b(target, level, debug_info):
            _run(step, copy, dumps, locations=debug_info and step.passes[0].startswith("ensure-debug-info"))
        text = _llvm_text(copy, target, debug_info)
        assembly = _assembly(text, target, level)
        _run(STAGE_C, copy, dumps)
    except FlyDSLError as error:
        _LOG.warning("the dumps for %s end here: %s", target.arch, error)
        return
    dumps.text("llvm_ir.ll", text)
    _dump_sass(dumps, dumps.text("final_isa.s", assembly), assembly, target, assemble)


def dump_assembly(
    module: ModuleOp, target: Target, level: int, debug_info: bool, dumps: Dumps, assemble: Assemble | None = None
) -> None:
    """Write the assembly alone, made the short way."""
    family = device_family(target.backend)
    try:
        text = _assembly(family.device_text(module, target, debug_info), target, level)
    except FlyDSLError as error:
        _LOG.warning("there is no assembly for %s: %s", target.arch, error)
        return
    dumps.extra(FINAL_ASSEMBLY, text)
    _dump_sass(dumps, FINAL_ASSEMBLY, text, target, assemble)


def _run(step: Step, module: ModuleOp, dumps: Dumps, locations: bool = False) -> None:
    step.run(module)
    module.verify()
    if knobs.DEBUG_PRINT_AFTER_ALL.get():
        print(f"// ----- after {step.title}\n{module_text(module, locations)}")
    dumps.module(step.title, module, locations)


def _llvm_text(module: ModuleOp, target: Target, debug_info: bool) -> str:
    family = device_family(target.backend)
    return "\n".join(family.converted_text(op, target, debug_info) for op in gpu_modules(module))


def _assembly(text: str, target: Target, level: int) -> str:
    return device_family(target.backend).assembly(text, target, level, knobs.COMPILE_LLVM_DIR.get())


def _dump_sass(dumps: Dumps, name: str, assembly: str, target: Target, assemble: Assemble | None) -> None:
    """Beside assembly that is not what the machine runs, what it runs."""
    suffix, text = device_family(target.backend).disassembly(assembly, name, target, assemble)
    if text:
        dumps.extra(name.removesuffix(ASSEMBLY_SUFFIX) + suffix, text)
