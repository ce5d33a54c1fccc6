"""LLVM text to optimised modules, object code and assembly, through llvmlite.

llvmlite guards every call with one lock of its own, so these functions may be called from any thread.
Each compilation has its own LLVM context, which frees all its types and constants at the end.
"""

from __future__ import annotations

import re
import sys
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from flydsl.base import device_libraries
from flydsl.base.errors import LoweringError
from flydsl.base.records import dataclass, replace
from flydsl.codegen import llvm_options
from flydsl.codegen.llvm_options import Request, compile_apart

AMDGPU_TRIPLE = "amdgcn-amd-amdhsa"
NVPTX_TRIPLE = "nvptx64-nvidia-cuda"

_ERROR_PLACE = re.compile(r"<string>:(\d+):(\d+): error: (.*)")

# LLVM 22 negates a fused sum on AArch64 with one instruction (`fnmadd`) that negates the terms instead: a sum that is
# zero keeps the sign it had. The sums it fuses are calls of `fma`, and additions that may be contracted.
_MAY_FUSE = ("@llvm.fma.", "contract", "fast")
_FUSED_SUM = re.compile(r"(%\S+) = (?:(?:tail )?call [^@]*@llvm\.fma\.|f(?:add|sub) [^%]*\b(?:contract|fast)\b)")
_NEGATION = re.compile(r"^( *)(%\S+ = fneg (?:\w+ )*?)(half|float|double) (%[^\s,]+)", re.MULTILINE)
_FLOAT_SUFFIX = {"half": "f16", "float": "f32", "double": "f64"}

_WRONG_FEATURES = ("avx512", "avx10")
"""What these begin with is not used. LLVM 22.1 stores four bytes of `<2 x i32>` truncated to `<2 x i8>` and widened to
i32, of which two are whatever lies beside, and makes -32768 of a NaN of f16 that saturates to i16."""
_OF_A_TARGET = re.compile(r'^target (?:triple|datalayout) = .*$|"target-(?:cpu|features)"="[^"]*"', re.MULTILINE)
"""What ties a library to the target it was made for; a group of attributes must not be left empty."""

_init_lock = threading.Lock()
_initialised: set[str] = set()
_machine_lock = threading.Lock()
_machines: dict[MachineKey, Any] = {}


@dataclass(frozen=True)
class MachineKey:
    """What distinguishes one LLVM target machine from another."""

    triple: str
    cpu: str
    features: str
    level: int


@lru_cache(maxsize=1)
def host_triple() -> str:
    """Return the triple of this process."""
    return llvm.get_process_triple()


@lru_cache(maxsize=1)
def host_cpu() -> tuple[str, str]:
    """Name and feature list of this machine's processor, less those that LLVM writes wrong code for."""
    try:
        found = llvm.get_host_cpu_features()
    except RuntimeError:  # LLVM cannot list the features of every processor
        return llvm.get_host_cpu_name(), ""
    for name in found:
        found[name] = found[name] and not name.startswith(_WRONG_FEATURES)
    return llvm.get_host_cpu_name(), found.flatten()


def target_machine(triple: str, cpu: str = "", features: str = "", level: int = 2) -> Any:
    """Return the LLVM target machine for a triple; made once and kept."""
    key = MachineKey(triple, cpu, features, level)
    found = _machines.get(key)
    if found is None:
        with _machine_lock:
            found = _machines.get(key) or new_target_machine(key)
            _machines[key] = found
    return found


def host_machine(level: int = 2) -> Any:
    """Return the target machine of this process."""
    cpu, features = host_cpu()
    return target_machine(host_triple(), cpu, features, level)


def new_target_machine(key: MachineKey) -> Any:
    """Return a target machine of one's own, for an owner that disposes of it."""
    initialise(key.triple)
    try:
        target = llvm.Target.from_triple(key.triple)
        return target.create_target_machine(
            cpu=key.cpu, features=key.features, opt=key.level, reloc="pic", codemodel="default"
        )
    except RuntimeError as error:
        raise LoweringError(f"LLVM has no target '{key.triple}' ({key.cpu}): {error}") from error


def initialise(triple: str) -> None:
    """Register LLVM's targets once: this process's own, or all of them when another is first asked for."""
    kind = "native" if triple == host_triple() else "all"
    if kind in _initialised:
        return
    with _init_lock:
        if kind in _initialised:
            return
        if kind == "native":
            llvm.initialize_native_target()
            llvm.initialize_native_asmprinter()
            llvm.initialize_native_asmparser()
        else:
            llvm.initialize_all_targets()
            llvm.initialize_all_asmprinters()
        _initialised.add(kind)


def parse_and_verify(text: str) -> Any:
    """Read LLVM text into a module of its own context and check it."""
    context = llvm.create_context()
    try:
        module = llvm.parse_assembly(text, context)
    except RuntimeError as error:
        raise LoweringError(_parse_message(text, str(error))) from None
    try:
        module.verify()
    except RuntimeError as error:
        raise LoweringError(f"LLVM refuses the generated module: {str(error).strip()}") from None
    return module


def optimise(module: Any, machine: Any, level: int = 2) -> None:
    """Run LLVM's standard pipeline of a level (0 to 3) over a module, in place."""
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = options.loop_interleaving = level >= 2
    options.loop_unrolling = level >= 1
    builder = llvm.create_pass_builder(machine, options)
    # The pipeline of level 0 only inlines, which no GPU goes without, and the host has a fourth more to compile for.
    called = level == 0 and machine.triple == host_triple()
    passes = llvm.create_new_module_pass_manager() if called else builder.getModulePassManager()
    if level == 0:  # where nothing else drops what this kernel does not call of what there is for all
        passes.add_global_dead_code_eliminate_pass()
    passes.run(module, builder)


def stamped_module(text: str, machine: Any) -> Any:
    """Return a checked module with the machine's triple and data layout."""
    layout = str(machine.target_data)
    if "target datalayout" not in text:
        # The reader takes the alignment of plain loads and stores from the layout, so it has to come first.
        text = f'target datalayout = "{layout}"\n{text}'
    wanted = _device_functions(text)
    module = parse_and_verify("\n".join((text, *(function.declaration for function in wanted))))
    module.triple = machine.triple
    module.data_layout = layout
    for path in dict.fromkeys(function.bitcode for function in wanted):
        _link_library(module, path)
    return module


def _device_functions(text: str) -> list[device_libraries.DeviceFunction]:
    """Return the functions of device libraries that text calls and neither has nor declares."""
    known = device_libraries.called.items()
    return [
        function
        for name, function in known
        if f"@{name}(" in text and not re.search(rf"^(?:declare|define)\b.*@{re.escape(name)}\(", text, re.MULTILINE)
    ]


def _link_library(module: Any, path: Path) -> None:
    """A library's code into a module, whatever target it was made for; what nobody calls is dropped later."""
    try:
        text = str(llvm.parse_bitcode(path.read_bytes(), llvm.create_context()))
    except (OSError, RuntimeError) as error:
        raise LoweringError(f"LLVM cannot read the bitcode of {path}: {str(error).strip()}") from None
    text = _OF_A_TARGET.sub(lambda found: "" if found[0].startswith("target") else '"fly-linked"', text)
    library = llvm.parse_assembly(f'target datalayout = "{module.data_layout}"\n{text}', module._context)
    library.triple = module.triple
    defined = [function.name for function in library.functions if not function.is_declaration]
    try:
        module.link_in(library)
    except RuntimeError as error:
        raise LoweringError(f"the bitcode of {path} does not fit the kernel: {str(error).strip()}") from None
    for name in defined:
        module.get_function(name).linkage = "internal"


def prepare(text: str, machine: Any, level: int) -> Any:
    """Return the same, optimised."""
    module = stamped_module(text, machine)
    optimise(module, machine, level)
    may_fuse = machine.triple.startswith("aarch64") and any(word in text for word in _MAY_FUSE)
    return _fence_negated_sums(module) if may_fuse else module


def _fence_negated_sums(module: Any) -> Any:
    """Return the module with a fence between every fused sum and its negation, so that each is an instruction of its
    own."""
    text = str(module)
    if " fneg " not in text:
        return module
    sums = set(_FUSED_SUM.findall(text))
    if not any(match[4] in sums for match in _NEGATION.finditer(text)):
        return module

    def fenced(match: re.Match[str]) -> str:
        indent, head, type_, name = match.groups()
        if name not in sums:
            return match[0]
        kept = f"%fly.fenced.{match.start()}"
        call = f"{kept} = call {type_} @llvm.arithmetic.fence.{_FLOAT_SUFFIX[type_]}({type_} {name})"
        return f"{indent}{call}\n{indent}{head}{type_} {kept}"

    return parse_and_verify(_NEGATION.sub(fenced, text))


def emit_object(text: str, triple: str = "", cpu: str = "", features: str = "", level: int = 2) -> bytes:
    """Object code of LLVM text; without a triple for this process."""
    return _code(Request(text, triple, cpu, features, level, assembly=False))


def emit_assembly(text: str, triple: str = "", cpu: str = "", features: str = "", level: int = 2) -> str:
    """Assembly (PTX for NVIDIA) of LLVM text; without a triple for this process."""
    return _code(Request(text, triple, cpu, features, level, assembly=True)).decode()


def _code(request: Request) -> bytes:
    """Return what a request asks for; from a process of its own where there are options."""
    machine, text = _machine(request), request.text
    if options := llvm_options.active():
        whole = str(stamped_module(text, machine)) if _device_functions(text) else text  # it knows no libraries
        return compile_apart(replace(request, text=whole), options, __name__)
    module = prepare(text, machine, request.level)
    if "optnone" in text and machine.triple.startswith("x86"):
        # LLVM 22 would abort the process: where a function is not optimised, no pass makes the masks of its blends
        # unsigned, and a later one reads them as if one had. At level 0 there is neither.
        machine = _machine(replace(request, level=0))
    return machine.emit_assembly(module).encode() if request.assembly else machine.emit_object(module)


def _machine(request: Request) -> Any:
    key = (request.triple, request.cpu, request.features, request.level)
    return target_machine(*key) if request.triple else host_machine(request.level)


def serve() -> None:
    """The process that compiles one request under options of its own."""
    sys.stdout.buffer.write(_code(llvm_options.asked()))


def optimised_text(text: str, triple: str = "", cpu: str = "", features: str = "", level: int = 2) -> str:
    """LLVM text after optimisation, for dumps."""
    return str(prepare(text, _machine(Request(text, triple, cpu, features, level, assembly=True)), level))


def data_layout(triple: str, cpu: str = "", features: str = "") -> str:
    """Return the data layout string of a target."""
    return str(target_machine(triple, cpu, features).target_data)


def _parse_message(text: str, error: str) -> str:
    """LLVM's complaint with the line it complains about."""
    place = _ERROR_PLACE.search(error)
    if place is None:
        return f"LLVM cannot read the generated text: {error.strip()}"
    number, reason = int(place[1]), place[3]
    lines = text.splitlines()
    line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    return f"LLVM cannot read the generated text, line {number}: {reason}\n    {line}"
