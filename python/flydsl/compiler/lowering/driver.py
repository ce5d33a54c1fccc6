"""From a traced module to an artifact: runs the stages, verifies and dumps between passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from flydsl.backends.device_code import kernel_functions
from flydsl.backends.host.lds_record import LdsRecorder
from flydsl.backends.launcher import site_of
from flydsl.base import knobs
from flydsl.base.errors import FlyDSLError, VerifyError
from flydsl.base.lazy import lazy_module
from flydsl.codegen.llvm_build import emit_object
from flydsl.compiler.artifacts.artifact import Artifact, Assemble
from flydsl.compiler.backends.backend_passes import passes_for
from flydsl.compiler.backends.families import AfterStageA, Lowered, device_family
from flydsl.compiler.lowering.dumps import Dumps, module_text
from flydsl.compiler.messages.progress import stage
from flydsl.compiler.options.hints import Hints
from flydsl.compiler.options.sanitize import check_device
from flydsl.passes.pipeline import Pass
from flydsl.passes.shared.walk import sanitizer_settings, sanitizer_text
from flydsl.passes.written_arguments import written_arguments
from flydsl.target.target import Target

if TYPE_CHECKING:
    from flydsl.compiler.lowering import target_dumps
else:
    target_dumps = lazy_module("flydsl.compiler.lowering.target_dumps")


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
        dump = target_dumps.dump_assembly if dumps.assembly_only else target_dumps.dump_later_stages
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
