"""The same program makes the same bytes in every process, whatever order sets and dictionaries have there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from flydsl.base import knobs

SCRIPT = """
import numpy as np
import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs

NAMES = {"red", "green", "blue", "yellow", "black"}
TABLE = {"scale": 3, "shift": 4}

@flyc.kernel
def several_kernel(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor):
    i = fx.block_idx.x * 64 + fx.thread_idx.x
    total = A[i] * TABLE["scale"] + fx.math.exp2(B[i]) + len(NAMES)
    for step in range(fx.Int32(3)):
        total = total + B[i]
    if i < 100:
        C[i] = total
    else:
        C[i] = total + TABLE["shift"]

@flyc.jit
def several(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, n: fx.Int32):
    several_kernel(A, B, C).launch(grid=(n // 64, 1, 1), block=(64, 1, 1))

arrays = np.zeros((3, 640), np.float32)
only = {knobs.COMPILE_ONLY: True}
for settings in ({}, {knobs.ARCH: "gfx942", **only}, {knobs.ARCH: "sm_90a", **only}):
    with knobs.scope(settings):
        several(*arrays, 640)
"""


def artifacts(script: Path, cache: Path, seed: int) -> dict[str, bytes]:
    environment = {
        **os.environ, "PYTHONHASHSEED": str(seed), knobs.RUNTIME_CACHE_DIR.name: str(cache),
        knobs.RUNTIME_ENABLE_CACHE.name: "1",
    }  # fmt: skip
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return {str(path.relative_to(cache)): path.read_bytes() for path in cache.rglob("*.flydsl")}


def test_two_processes_write_the_same_files(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(SCRIPT)
    first, second = (artifacts(script, tmp_path / f"cache{seed}", seed) for seed in (1, 20))
    assert len(first) == 4, "three targets and the thread pool"
    assert first.keys() == second.keys()
    assert first == second
