"""From a traced module to an artifact: runs the stages, verifies and dumps between passes.

The backend names the passes until a module becomes LLVM text; from there on every backend of a family is the same, and
one that names other steps there is refused.

`FLYDSL_DUMP_IR=1` writes one file per pass, numbered in the order they ran; `FLYDSL_DEBUG_DUMP_ASM=1` alone the final
assembly, into the same folder. For dumps stages B and C run pass by pass, on a copy, and for the target also when the
host runs the code. What runs is compiled the short way, and a test holds both ways to the same code.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from flydsl.backends.device_code import kernel_functions
from flydsl.backends.host.lds_record import LdsRecorder
from flydsl.backends.launcher import site_of
from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError, DslTypeError, DslValueError, FlyDSLError, VerifyError
from flydsl.base.lazy import lazy_module
from flydsl.base.log import get_logger
from flydsl.base.progress import stage
from flydsl.base.records import replace
from flydsl.codegen.llvm_build import emit_object
from flydsl.compiler.artifacts.artifact import Artifact
from flydsl.compiler.backends.base import TO_LLVM, BaseBackend, backend_for
from flydsl.compiler.backends.families import AfterStageA, Assemble, Lowered, device_family
from flydsl.compiler.options.hints import Hints, as_mapping, check_device
from flydsl.passes.pipeline import PASSES, Pass, with_checks
from flydsl.passes.shared.walk import gpu_modules, sanitizer_settings, sanitizer_text
from flydsl.passes.written_arguments import written_arguments
from flydsl.target.target import Target

if TYPE_CHECKING:
    from flydsl.backends import pipeline
else:
    pipeline = lazy_module("flydsl.backends.pipeline")


# Files ----------------------------------------------------------------------------------------------------------------


def module_text(module: ModuleOp, locations: bool = False) -> str:
    """Return a module as MLIR has it, as `fly-opt` and `mlir-opt` read it."""
    text = io.StringIO()
    Printer(text, print_debuginfo=locations).print_op(module)
    return text.getvalue()


@contextmanager
def _worded(folder: Path) -> Iterator[None]:
    """A folder that cannot be written is a setting to correct."""
    try:
        yield
    except OSError as error:
        raise DslRuntimeError(
            f"dumps cannot be written to {folder}: {error.strerror}",
            hint=f"set {knobs.DUMP_DIR.name} to a folder that you can write",
        ) from error


class Dumps:
    """A folder of numbered files, or nothing when no dumps are asked for."""

    def __init__(self, name: str) -> None:
        self.folder: Path | None = None
        self.count = 0
        self.stages = knobs.DUMP_IR.get()
        self.assembly_only = not self.stages and knobs.DEBUG_DUMP_ASM.get()
        if self.stages or self.assembly_only:
            self.folder = knobs.DUMP_DIR.get() / name
            with _worded(self.folder):
                self.folder.mkdir(parents=True, exist_ok=True)

    def module(self, title: str, module: ModuleOp, locations: bool = False) -> None:
        """The module after the pass ``title``."""
        if not self.stages:
            return
        self.text(f"{title.replace('-', '_')}.mlir", module_text(module, locations))

    def text(self, name: str, text: str) -> str:
        """Return a numbered file of any kind; its full name."""
        numbered = f"{self.count:02d}_{name}"
        self.extra(numbered, text)
        self.count += 1
        return numbered

    def extra(self, name: str, text: str) -> None:
        """A file beside the numbered ones."""
        if self.folder is not None:
            with _worded(self.folder):
                (self.folder / name).write_text(text, encoding="utf-8")


# Later stages, for dumps ----------------------------------------------------------------------------------------------

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
        for step in pipeline.stage_b(target, level, debug_info):
            _run(step, copy, dumps, locations=debug_info and step.passes[0].startswith("ensure-debug-info"))
        text = _llvm_text(copy, target, debug_info)
        assembly = _assembly(text, target, level)
        _run(pipeline.STAGE_C, copy, dumps)
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


def _run(step: pipeline.Step, module: ModuleOp, dumps: Dumps, locations: bool = False) -> None:
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


# Passes ---------------------------------------------------------------------------------------------------------------


def passes_for(target: Target, hints: Hints = (), checks: Collection[str] = ()) -> tuple[Pass, ...]:
    """From traced fly operations to upstream dialects, as the backend for a target has it; ``checks``: sanitizers."""
    backend = backend_for(target)
    outside = knobs.COMPILE_LLVM_DIR.get() is not None
    ask = backend.external_binary_pipeline_fragments if outside else backend.pipeline_fragments
    steps = ask(compile_hints=as_mapping(hints))
    tail = [TO_LLVM] if outside else [TO_LLVM, "llvm-optimise", target.family.binary_step]
    if not isinstance(steps, (list, tuple)) or not all(isinstance(step, str) for step in steps):
        raise DslTypeError(f"{_name(backend)}.{ask.__name__}() gives a list of names, got {steps!r}")
    if list(steps[-len(tail) :]) != tail:
        raise DslValueError(
            f"the steps of {_name(backend)} end in {', '.join(steps[-3:]) or 'nothing'}",
            hint=f"{ask.__name__}() ends in {', '.join(tail)}; put passes before {TO_LLVM}",
        )
    return with_checks(tuple(_pass(backend, step) for step in steps[: -len(tail)]), checks)


def _pass(backend: BaseBackend, name: str) -> Pass:
    own = backend.passes.get(name)
    if own is not None:
        return Pass(name, f"A pass of {_name(backend)}.", own)
    if name not in PASSES:
        near = get_close_matches(name, [*backend.passes, *PASSES], n=1)
        raise DslValueError(
            f"{_name(backend)} names the pass '{name}', which there is not",
            hint=f"did you mean {near[0]}?" if near else "name one of `fly-opt --help`, or put it into `passes`",
        )
    return PASSES[name]


def _name(backend: BaseBackend) -> str:
    return type(backend).__qualname__


# Stages ---------------------------------------------------------------------------------------------------------------


def _verify(module: ModuleOp, after: str) -> None:
    try:
        module.verify()
    except FlyDSLError:
        raise
    except Exception as error:  # xDSL raises several kinds
        raise VerifyError(
            f"the IR after {after} is invalid: {error}", hint="this is a bug in the compiler; please report it"
        ) from error


def run_passes(module: ModuleOp, passes: tuple[Pass, ...], dumps: Dumps) -> None:
    verify = knobs.DEBUG_ENABLE_VERIFIER.get()
    show = knobs.DEBUG_PRINT_AFTER_ALL.get()
    for step in passes:
        step.run(module)
        if verify:
            _verify(module, step.name)
        if show:
            print(f"// ----- after {step.name}\n{module_text(module)}")
        dumps.module(step.name, module)


def lower_module(
    module: ModuleOp, name: str, target: Target, device: str, argument_format: str,
    recorder: LdsRecorder | None = None, assemble: Assemble | None = None, hints: Hints = (),
) -> Lowered:  # fmt: skip
    """Run the stages for a device: the host, or a GPU of the target's family; recording is for the host.

    The module was traced with the ``hints``, which the backend may heed in its choice of passes.
    """
    kernels = tuple(op.attributes["sym_name"].data for op in kernel_functions(module))  # type: ignore[union-attr]
    dumps = Dumps(kernels[0].removesuffix("_0") if len(kernels) == 1 else name)  # the kernel's name, without a number
    if knobs.DEBUG_ENABLE_VERIFIER.get():
        _verify(module, "tracing")
    if knobs.DEBUG_PRINT_ORIGIN_IR.get():
        print(f"// ----- as traced\n{module_text(module)}")
    dumps.module("origin", module)
    checks = sanitizer_settings(module)
    if checks:
        check_device(device)
    with stage("passes"):
        run_passes(module, passes_for(target, hints, checks["checks"] if checks else ()), dumps)
    writes = tuple((write.leaf, write.known, site_of(write.by)) for write in written_arguments(module))
    if not checks:
        device_family(target.backend).look_over(module)
    level, line_tables = knobs.COMPILE_OPT_LEVEL.get(), knobs.DEBUG_ENABLE_DEBUG_INFO.get()
    if dumps.folder is not None or knobs.DEBUG_PRINT_AFTER_ALL.get():
        dump = dump_assembly if dumps.assembly_only else dump_later_stages
        dump(module, target, level, line_tables, dumps, assemble)
    llvm_dir = knobs.COMPILE_LLVM_DIR.get()
    asked = AfterStageA(module, target, argument_format, kernels, level, line_tables, llvm_dir, recorder)
    lowered = device_family(device).lowered(asked)
    if dumps.stages:
        for file, text in lowered.dumps.items():
            dumps.extra(file, text)
    return replace(lowered, writes=writes)


def cubin_of(binary: bytes, kernels: Sequence[str], assemble: Assemble | None) -> bytes:
    """Machine code of the PTX of some kernels, where the device at hand makes any."""
    return assemble(binary, ", ".join(kernels)) if assemble is not None and kernels else b""


def compile_module(
    module: ModuleOp, name: str, target: Target, device: str, argument_format: str,
    recorder: LdsRecorder | None = None, assemble: Assemble | None = None, hints: Hints = (),
) -> Artifact:  # fmt: skip
    """Lower a traced module and compile what comes out."""
    lowered = lower_module(module, name, target, device, argument_format, recorder, assemble, hints)
    sites = lowered.host.sites
    try:
        with stage("host code"):
            host_object = emit_object(lowered.host.text, level=lowered.level)
    finally:
        with stage("device code"):
            binary = lowered.binary()  # a linker is a process: it is waited for whatever came of the launcher
    return Artifact(
        name=name,
        target=target.arch,
        device=device,
        argument_format=argument_format,
        host_object=host_object,
        device_binary=binary,
        cubin=cubin_of(binary, lowered.kernels, assemble),
        kernels=lowered.kernels,
        sites=(*sites, *(site for _, _, site in lowered.writes)),
        prints=lowered.host.prints,
        sanitizer=sanitizer_text(module),
        writes=tuple((leaf, known, len(sites) + index) for index, (leaf, known, _) in enumerate(lowered.writes)),
    )
