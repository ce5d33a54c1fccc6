"""The device code of a wave of matrix instructions, and of any jit function: what a GPU would get."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import flydsl.expr as fx
from flydsl.compiler.arguments.adapting import Adapted
from flydsl.compiler.arguments.kinds import NoneArgument
from flydsl.compiler.artifacts.artifact import Artifact
from flydsl.compiler.jit_argument import adapt
from flydsl.compiler.lowering.driver import compile_module
from flydsl.compiler.tracing.trace import trace
from flydsl.target.target import parse_target
from tests.conftest import missing
from tests.support.mma_waves import Issue, by_atom, launcher, plan


def artifact_of(function: Any, args: Sequence[Any], arch: str) -> Artifact:
    """A jit function compiled for the real device of a target."""
    target = parse_target(arch)
    module, formats = trace(function.func, adapted_arguments(function, args), target)
    return compile_module(module, function.__name__, target, target.backend, formats)


def adapted_arguments(function: Any, args: Sequence[Any]) -> list[Any]:
    """What tracing takes for the arguments of a call: those known while compiling as they are, the others adapted."""
    values, signature = function.signature.bind(tuple(args), {}), function.signature
    return [
        value if known else Adapted(NoneArgument() if _left_out(value, annotation) else adapt(value, annotation))
        for value, known, annotation in zip(values, signature.constexpr, signature.annotations, strict=True)
    ]


def _left_out(value: Any, annotation: Any) -> bool:
    """Whether a tensor that may be None is."""
    return value is None and annotation is fx.Tensor


def code_of(arch: str, ops: Sequence[Any], folder: Path, issue: Issue = by_atom) -> str:
    """Disassembly or PTX of one kernel that issues the instructions."""
    words = np.zeros((ops[0].thr_layout().size(), plan(ops)[1]), np.int32)
    binary = artifact_of(launcher(ops, issue), (words, words), arch).device_binary
    if arch.startswith("sm_"):
        return binary.decode()
    path = folder / "wave.hsaco"
    path.write_bytes(binary)
    objdump = shutil.which("llvm-objdump-22") or shutil.which("llvm-objdump")
    if objdump is None:
        missing("llvm-objdump", "install llvm-22")
    command = [str(objdump), "-d", f"--mcpu={arch}", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
