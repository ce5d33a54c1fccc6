"""From a traced module to an artifact: runs the stages, verifies and dumps between passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from flydsl.backends.host.compile import host_module
from flydsl.base import knobs
from flydsl.base.errors import FlyDSLError, VerifyError
from flydsl.codegen import host_pool
from flydsl.codegen.jit_engine import load_object
from flydsl.codegen.llvm_build import emit_object
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
        raise VerifyError(f"the IR after {after} is invalid: {error}", hint="this is a bug in the compiler; please report it") from error


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


def compile_module(module: ModuleOp, name: str, target: Target, argument_format: str) -> Artifact:
    """Lower a traced module for the host device."""
    dumps = _Dumps(name)
    if knobs.DEBUG_ENABLE_VERIFIER.get():
        _verify(module, "tracing")
    if knobs.DEBUG_PRINT_ORIGIN_IR.get():
        print(module)
    dumps.write("origin", module)
    run_passes(module, stage_a(target.backend), dumps)
    host = host_module(module, target, argument_format)
    dumps.write("llvm_ir.ll", host.text)
    data = emit_object(host.text, level=knobs.COMPILE_OPT_LEVEL.get())
    return Artifact(
        name=name,
        target=target.arch,
        device="host",
        argument_format=argument_format,
        host_object=data,
        sites=host.sites,
        prints=host.prints,
        llvm_ir=host.text,
    )


def load(artifact: Artifact) -> Executable:
    """Bring an artifact's code into the process."""
    host_pool.start()
    return Executable(artifact, load_object(artifact.host_object))
