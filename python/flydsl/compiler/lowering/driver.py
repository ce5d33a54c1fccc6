"""From a traced module to an artifact: runs the stages, verifies and dumps between passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

from xdsl.dialects.builtin import ModuleOp

from flydsl.backends.cuda import compile as cuda_compile
from flydsl.backends.device_code import kernel_functions
from flydsl.backends.driver_launching import DriverLaunching
from flydsl.backends.host.compile import host_module
from flydsl.backends.host.lds_record import LdsRecorder
from flydsl.backends.host.sanitizer import settings as sanitizer_settings
from flydsl.backends.host.sanitizer import settings_text as sanitizer_text
from flydsl.backends.launcher import HostModule, Site, launcher_module, site_of
from flydsl.backends.rocm import compile as rocm_compile
from flydsl.base import knobs
from flydsl.base.errors import FlyDSLError, VerifyError
from flydsl.codegen.llvm_build import emit_object, host_triple
from flydsl.compiler.artifacts.artifact import Artifact, Assemble
from flydsl.compiler.backends.backend_passes import passes_for
from flydsl.compiler.lowering.dumps import Dumps, module_text
from flydsl.compiler.messages.progress import stage
from flydsl.compiler.messages.schedule_warnings import warn_about_schedules
from flydsl.compiler.options.hints import Hints
from flydsl.compiler.options.sanitize import check_device
from flydsl.passes.pipeline import Pass
from flydsl.passes.written_arguments import written_arguments
from flydsl.target.target import Target


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


@dataclass(frozen=True)
class Lowered:
    """A module as LLVM text of the host's part and, for a GPU, the promise of its binary."""

    host: HostModule
    kernels: tuple[str, ...]
    level: int
    """Optimisation level of the host's part."""
    binary: Callable[[], bytes] = bytes
    writes: tuple[tuple[int, bool, Site], ...] = ()
    """Arguments that the code may write: `Artifact.writes` with the sites themselves."""


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
    if target.backend == "rocm" and not checks:
        warn_about_schedules(module)
    level, line_tables = knobs.COMPILE_OPT_LEVEL.get(), knobs.DEBUG_ENABLE_DEBUG_INFO.get()
    if dumps.folder is not None or knobs.DEBUG_PRINT_AFTER_ALL.get():
        write = import_module("flydsl.compiler.lowering.target_dumps")
        dump = write.dump_assembly if dumps.assembly_only else write.dump_later_stages
        dump(module, target, level, line_tables, dumps, assemble)
    if device == "host":
        with stage("LLVM text"):
            host = host_module(module, target, argument_format, recorder)
        if dumps.stages:
            dumps.extra("host.ll", host.text)
        return Lowered(host, kernels, level, writes=writes)
    # The launcher first: what it refuses must not leave a linker running.
    with stage("LLVM text"):
        host = launcher_module(module, target, argument_format, DriverLaunching(list(kernels)), host_triple())
    with stage("device code"):
        binary = _device_binary(module, target, device, level, line_tables)
    return Lowered(host, kernels, LAUNCHER_LEVEL, binary, writes)


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


LAUNCHER_LEVEL = 1
"""A launcher beside a GPU's kernels is a page of straight code; more effort buys nothing."""


def _device_binary(module: ModuleOp, target: Target, device: str, level: int, line_tables: bool) -> Callable[[], bytes]:
    """Start making PTX or a code object of the module's kernels; the call gives the bytes."""
    llvm_dir = knobs.COMPILE_LLVM_DIR.get()
    if device == "cuda":
        ptx = cuda_compile.ptx_of(cuda_compile.device_text(module, target, line_tables), target, level, llvm_dir)
        return lambda: ptx.encode()
    text = rocm_compile.device_text(module, target, line_tables)
    return rocm_compile.begin_code_object(text, target, level, llvm_dir).result
