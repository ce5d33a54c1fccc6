"""What follows stage A: the binary of an Abacus is the text of its kernels, which the virtual GPU runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from xdsl.ir import Operation

from flydsl.compiler.backends.families import DeviceFamily
from flydsl.passes.shared.walk import gpu_modules
from flydsl.target.target import Target
from tests.backends.made_up.target import ABACUS

HEADER = "beads 1\n"


class AbacusFamily(DeviceFamily):
    """Kernels as MLIR's text."""

    facts = ABACUS

    def device_text(self, module: Operation, target: Target, line_tables: bool) -> str:
        return "\n".join(map(str, gpu_modules(module)))

    def assembly(self, text: str, target: Target, level: int, llvm_dir: Path | None) -> str:
        return text

    def begin_binary(self, text: str, target: Target, level: int, llvm_dir: Path | None) -> Callable[[], bytes]:
        return lambda: (HEADER + text).encode()
