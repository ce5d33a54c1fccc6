"""A second start with a warm cache: no IR library is loaded, nor what is slow to load, and the result is the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from flydsl.base import knobs

SCRIPT = """
import sys
import numpy as np
import flydsl.compiler as flyc
import flydsl.expr as fx

@flyc.kernel
def add_kernel(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor):
    i = fx.block_idx.x * 64 + fx.thread_idx.x
    C[i] = A[i] + B[i]

@flyc.jit
def add(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, n: fx.Int32):
    add_kernel(A, B, C).launch(grid=(n // 64, 1, 1), block=(64, 1, 1))

rng = np.random.default_rng(7)
a, b = rng.random((2, 640), dtype=np.float32)
c = np.full_like(a, np.nan)
add(a, b, c, 640)
assert (c == a + b).all()
heavy = ("xdsl", "llvmlite", "flydsl.compiler.lowering.driver", "flydsl.compiler.tracing.trace")
heavy += ("flydsl.passes", "flydsl.codegen", "logging", "difflib")
print(add.cache_info().hits, add.cache_info().misses, [name for name in heavy if name in sys.modules])
"""


def start(script: Path, **more: str) -> str:
    environment = {**os.environ, **more}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_second_start_loads_no_ir_library(fresh_cache: Path, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(SCRIPT)
    assert start(script).startswith("0 1 ['xdsl', 'llvmlite'")
    assert start(script) == "1 0 []"
    assert start(script, **{knobs.RUNTIME_RUN_ONLY.name: "1"}) == "1 0 []"
    moved = tmp_path / "elsewhere" / "program.py"
    moved.parent.mkdir()
    moved.write_text("# a line more\n" + SCRIPT)
    assert start(moved) == "1 0 []"
