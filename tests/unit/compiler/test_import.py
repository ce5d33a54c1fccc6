"""Importing the package loads neither IR libraries nor arrays nor a GPU's driver."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("torch", "triton", "xdsl", "llvmlite", "numpy", "ml_dtypes")


def test_import_is_light() -> None:
    code = (
        "import sys, flydsl.compiler, flydsl.expr\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])\n"
        "maps = open('/proc/self/maps').read()\n"
        "print([name for name in ('libcuda', 'libamdhip64', 'libLLVM') if name in maps])\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["[]", "[]"]
