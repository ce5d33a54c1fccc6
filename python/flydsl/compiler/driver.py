"""From a traced module to an artifact: runs the stages, verifies and dumps between passes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from flydsl.backends.cuda import compile as cuda_compile
from flydsl.backends.device_code import kernel_functions
from flydsl.backends.driver_launching import DRIVER_ENTRY, DriverLaunching, handle_symbol
from flydsl.backends.host.compile import host_module
from flydsl.backends.launcher import launcher_module
from flydsl.backends.rocm import compile as rocm_compile
from flydsl.base import knobs
from flydsl.base.errors import FlyDSLError, VerifyError
from flydsl.codegen import host_pool
from flydsl.codegen.jit_engine import load_object
from flydsl.codegen.llvm_build import emit_object, host_triple
from flydsl.compiler.artifact import Artifact, Executable
from flydsl.passes.pipeline import Pass, stage_a
from flydsl.target.target import Target


class _Dumps:
    """Numbered files, one per pass, when dumps are asked for."""

    def __init__(self, name: str) -> None:
        self.folder: Path | None = None
        self.count = 0
        if knobs.DUMP_IR.get():
            self.folder = Path(knobs.DUMP_DIR.get()).expanduser() / name
            self.folder.mkdir(parents=True, exist_ok=True)

    def write(self, name: str, text: Any) -> None:
        if self.folder is not None:
            suffix = "mlir" if not name.endswith((".ll", ".s")) else ""
            file = f"{self.count:02d}_{name.replace('-', '_')}" + (f".{suffix}" if suffix else "")
            (self.folder / file).write_text(str(text))
        self.count += 1


def _verify(module: ModuleOp, after: str) -> None:
    try:
        module.verify()
    except FlyDSLError:
        raise
    except Exception as error:  # xDSL raises several kinds
        raise VerifyError(
            f"the IR after {after} is invalid: {error}", hint="this is a bug in the compiler; please report it"
        ) from error


def run_passes(module: ModuleOp, passes: tuple[Pass, ...], dumps: _Dumps) -> None:
    verify = knobs.DEBUG_ENABLE_VERIFIER.get()
    show = knobs.DEBUG_PRINT_AFTER_ALL.get()
    for step in passes:
        step.run(module)
        if verify:
            _verify(module, step.name)
        if show:
            print(f"// ----- after {step.name}\n{module}")
        dumps.write(step.name, module)


def compile_module(module: ModuleOp, name: str, target: Target, device: str, argument_format: str) -> Artifact:
    """Lower a traced module for a device: the host, or a GPU of the target's family."""
    dumps = _Dumps(name)
    if knobs.DEBUG_ENABLE_VERIFIER.get():
        _verify(module, "tracing")
    if knobs.DEBUG_PRINT_ORIGIN_IR.get():
        print(module)
    dumps.write("origin", module)
    run_passes(module, stage_a(target.backend), dumps)
    level = knobs.COMPILE_OPT_LEVEL.get()
    kernels: tuple[str, ...] = ()
    binary: Callable[[], bytes] = bytes
    if device == "host":
        host = host_module(module, target, argument_format)
        dumps.write("llvm_ir.ll", host.text)
    else:
        kernels = tuple(op.attributes["sym_name"].data for op in kernel_functions(module))  # type: ignore[union-attr]
        binary = _device_binary(module, target, device, level, dumps)
        host = launcher_module(module, target, argument_format, DriverLaunching(list(kernels)), host_triple())
    host_object = emit_object(host.text, level=level if device == "host" else LAUNCHER_LEVEL)
    return Artifact(
        name=name,
        target=target.arch,
        device=device,
        argument_format=argument_format,
        host_object=host_object,
        device_binary=binary(),
        kernels=kernels,
        sites=host.sites,
        prints=host.prints,
    )


LAUNCHER_LEVEL = 1
"""A launcher beside a GPU's kernels is a page of straight code; more effort buys nothing."""


def _device_binary(module: ModuleOp, target: Target, device: str, level: int, dumps: _Dumps) -> Callable[[], bytes]:
    """Start making PTX or a code object of the module's kernels; the call gives the bytes."""
    if device == "cuda":
        text = cuda_compile.device_text(module, target)
        dumps.write("llvm_ir.ll", text)
        ptx = cuda_compile.ptx_of(text, target, level)
        dumps.write("final_isa.s", ptx)
        return lambda: ptx.encode()
    text = rocm_compile.device_text(module, target)
    dumps.write("llvm_ir.ll", text)
    if dumps.folder is not None:
        dumps.write("final_isa.s", rocm_compile.isa_of(text, target, level))
    return rocm_compile.begin_code_object(text, target, level).result


def load(artifact: Artifact, device: Any) -> Executable:
    """Bring an artifact's code into the process and onto its device."""
    if artifact.device == "host":
        host_pool.start()
        return Executable(artifact, load_object(artifact.host_object), device)
    loaded = load_object(artifact.host_object)
    module = device.load_module(artifact.device_binary)
    _set_pointer(loaded.address(DRIVER_ENTRY), device.launch_entry())
    for kernel in artifact.kernels:
        _set_pointer(loaded.address(handle_symbol(kernel)), device.function(module, kernel))
    return Executable(artifact, loaded, device)


def _set_pointer(place: int, value: int) -> None:
    ctypes.c_void_p.from_address(place).value = value
