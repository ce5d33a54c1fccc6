"""Worker of `virtual_gpu.py` on our side: kernels on the virtual gfx942, warm, their results checked."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(1, str(Path(__file__).resolve().parent.parent))

import numpy as np
from kernels_under_test import add
from timing import Stopwatch

from flydsl.kernels.gemm.tiled import build_tiled_gemm_module
from flydsl.kernels.norm.softmax import build_softmax_module

QUICK = sys.argv[1:] == ["quick"]
ROWS, COLUMNS = (16, 256) if QUICK else (1024, 4096)
LENGTH = 1 << (14 if QUICK else 24)
SIDE, TILE = (64, 64) if QUICK else (512, 128)
ROUNDS = 1 if QUICK else 7


def measure(watch: Stopwatch, name: str, run: Callable[[], Any]) -> None:
    """The first call compiles and is not counted."""
    run()
    for _ in range(ROUNDS):
        with watch(name):
            run()


def run_softmax(watch: Stopwatch, rng: np.random.Generator) -> None:
    x = rng.standard_normal((ROWS, COLUMNS), dtype=np.float32)
    y = np.full_like(x, np.nan)
    softmax = build_softmax_module(ROWS, COLUMNS, "f32")
    measure(watch, "softmax", lambda: softmax(x, y, ROWS))
    powers = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, powers / powers.sum(1, keepdims=True), rtol=1e-4, atol=1e-7)


def run_add(watch: Stopwatch, rng: np.random.Generator) -> None:
    x, y = (rng.standard_normal(LENGTH, dtype=np.float32) for _ in range(2))
    z = np.full_like(x, np.nan)
    measure(watch, "add", lambda: add(x, y, z, LENGTH))
    np.testing.assert_array_equal(z, x + y)


def run_gemm(watch: Stopwatch, rng: np.random.Generator) -> None:
    a, b = (rng.standard_normal((SIDE, SIDE)).astype(np.float16) for _ in range(2))
    c = np.full((SIDE, SIDE), np.nan, np.float32)
    gemm = build_tiled_gemm_module(SIDE, SIDE, "f16", TILE, TILE)
    measure(watch, "gemm", lambda: gemm(a, b, c, SIDE))
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64).T, rtol=1e-3, atol=1e-3)


def main() -> None:
    import flydsl

    watch, rng = Stopwatch(), np.random.default_rng()
    for run in (run_softmax, run_add, run_gemm):
        run(watch, rng)
    watch.report(version=flydsl.__version__, python=sys.version.split()[0])


if __name__ == "__main__":
    main()
