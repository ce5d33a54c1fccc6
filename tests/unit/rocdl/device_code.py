"""Assembly of small kernels for any AMD target, without a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.backends.rocm import compile as rocm_compile
from flydsl.compiler.tracing.trace import trace
from flydsl.passes.pipeline import stage_a
from flydsl.target.target import parse_target
from tests.support.mma_code import adapted_arguments

AMD = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250")
WORDS = 256


def llvm_text(function: Any, args: Sequence[Any], arch: str) -> str:
    """LLVM text of a jit function's kernels for a target."""
    target = parse_target(arch)
    module, _ = trace(function.func, adapted_arguments(function, args), target)
    for step in stage_a(target.backend, ()):
        step.run(module)
    module.verify()
    return rocm_compile.device_text(module, target)


def assembly(function: Any, args: Sequence[Any], arch: str) -> str:
    """Assembly of a jit function's kernels for a target."""
    return rocm_compile.isa_of(llvm_text(function, args, arch), parse_target(arch), 2)


def launcher(body: Callable[[Any, Any, Any], None], threads: int = 64, **launch: Any) -> Any:
    """A jit function of (input words, output words) whose one kernel runs ``body(x, y, thread)``."""

    @flyc.kernel
    def kernel(x: fx.Tensor, y: fx.Tensor):
        body(x, y, fx.thread_idx.x)

    @flyc.jit
    def run(x: fx.Tensor, y: fx.Tensor):
        kernel(x, y).launch(**{"grid": 1, "block": threads, **launch})

    return run


def words() -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(WORDS, np.int32), np.zeros(WORDS, np.int32)


def instructions(body: Callable[[Any, Any, Any], None], arch: str, **launch: Any) -> list[str]:
    """The instructions of a kernel with that body, one per line, comments and directives left out."""
    text = assembly(launcher(body, **launch), words(), arch)
    code = text[text.index("kernel_0:") : text.index("s_endpgm")].partition("\n")[2]
    lines = (line.split(";")[0].strip() for line in code.splitlines())
    return [" ".join(line.split()) for line in lines if line and not line.startswith(".")]
