"""The files that `FLYDSL_DUMP_IR=1` writes: one per pass, numbered in the order they ran.

`FLYDSL_DEBUG_DUMP_ASM=1` alone writes the final assembly into the same folder.
"""

from __future__ import annotations

import io
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from flydsl.base import knobs


class Dumps:
    """A folder of numbered files, or nothing when no dumps are asked for."""

    def __init__(self, name: str) -> None:
        self.folder: Path | None = None
        self.count = 0
        self.stages = knobs.DUMP_IR.get()
        self.assembly_only = not self.stages and knobs.DEBUG_DUMP_ASM.get()
        if self.stages or self.assembly_only:
            self.folder = Path(knobs.DUMP_DIR.get()).expanduser() / name
            self.folder.mkdir(parents=True, exist_ok=True)

    def module(self, title: str, module: ModuleOp, locations: bool = False) -> None:
        """The module after the pass ``title``."""
        if not self.stages:
            return
        text = io.StringIO()
        Printer(text, print_debuginfo=locations).print_op(module)
        self.text(f"{title.replace('-', '_')}.mlir", text.getvalue())

    def text(self, name: str, text: str) -> None:
        """A numbered file of any kind."""
        self.extra(f"{self.count:02d}_{name}", text)
        self.count += 1

    def extra(self, name: str, text: str) -> None:
        """A file beside the numbered ones."""
        if self.folder is not None:
            (self.folder / name).write_text(text, encoding="utf-8")
