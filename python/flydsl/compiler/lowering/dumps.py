"""The files that `FLYDSL_DUMP_IR=1` writes: one per pass, numbered in the order they ran.

`FLYDSL_DEBUG_DUMP_ASM=1` alone writes the final assembly into the same folder.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from flydsl.base import knobs
from flydsl.base.errors import DslRuntimeError


def module_text(module: ModuleOp, locations: bool = False) -> str:
    """A module as MLIR has it, as `fly-opt` and `mlir-opt` read it."""
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
        """A numbered file of any kind; its full name."""
        numbered = f"{self.count:02d}_{name}"
        self.extra(numbered, text)
        self.count += 1
        return numbered

    def extra(self, name: str, text: str) -> None:
        """A file beside the numbered ones."""
        if self.folder is not None:
            with _worded(self.folder):
                (self.folder / name).write_text(text, encoding="utf-8")
