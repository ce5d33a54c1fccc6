"""One wrong program, and running it.

Each is a small file. A file that defines ``kernel`` is launched as :data:`CALL` says; a file that defines ``launch`` is
called with the same arguments; any other file only runs. The line that the message has to name carries ``# here``,
which is taken out before it runs.
"""

from __future__ import annotations

import runpy
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError

MARK = "  # here"
FILE = "kernel.py"

CALL = """\
@flyc.jit
def launch(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):
    kernel(out, x, n).launch(grid=(1, 1, 1), block=(4, 1, 1))


launch(np.zeros(8, np.int32), np.ones(64, np.float32), 5)
"""


@dataclass(frozen=True)
class Mistake:
    """One wrong program: what it is about, the error's classes, words that the message must have, the text."""

    section: str
    title: str
    error: type[FlyDSLError]
    built_in: type[Exception]
    words: tuple[str, ...]
    code: str

    @property
    def slug(self) -> str:
        return self.title.replace("`", "").replace(" ", "-").lower()

    @property
    def source(self) -> str:
        """The program as it runs, without the mark."""
        return self.code.replace(MARK, "")

    @property
    def line(self) -> int:
        """The line that the message has to name."""
        return next(number for number, text in enumerate(self.code.splitlines(), 1) if text.endswith(MARK))


def whole_file(
    section: str, title: str, error: type[FlyDSLError], built_in: type[Exception], words: tuple[str, ...], code: str
) -> Mistake:
    """A mistake whose whole program is written."""
    return Mistake(section, title, error, built_in, words, dedent(code).strip() + "\n")


_HEAD = "@flyc.kernel\ndef kernel(out: fx.Tensor, x: fx.Tensor, n: fx.Int32):\n"


def kernel_of(body: str) -> str:
    """The program whose kernel has this body."""
    lines = dedent(body).strip().splitlines()
    return _HEAD + "\n".join(f"    {line}" if line else "" for line in lines) + "\n"


def in_kernel(
    section: str, title: str, error: type[FlyDSLError], built_in: type[Exception], words: tuple[str, ...], body: str
) -> Mistake:
    """A mistake inside a kernel, of which only the body is written."""
    return Mistake(section, title, error, built_in, words, kernel_of(body))


def run(mistake: Mistake, folder: Path) -> FlyDSLError:
    """The error that a mistake gives, its program being ``kernel.py`` in ``folder``."""
    try:
        run_program(mistake.source, folder)
    except FlyDSLError as error:
        return error
    raise AssertionError(f"{mistake.title!r} is accepted")


def run_program(program: str, folder: Path) -> None:
    """Run a program as ``kernel.py`` in ``folder``; one that defines ``kernel`` or ``launch`` as :data:`CALL` says."""
    file = folder / FILE
    defined = {line.split("(")[0].removeprefix("def ") for line in program.splitlines() if line.startswith("def ")}
    if "launch" in defined:
        program += "\n\n" + CALL.splitlines()[-1] + "\n"
    elif "kernel" in defined:
        program += "\n\n" + CALL
    file.write_text(program, encoding="utf-8")
    runpy.run_path(str(file), init_globals={"np": np, "fx": fx, "flyc": flyc})
