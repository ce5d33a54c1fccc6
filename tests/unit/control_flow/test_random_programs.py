"""Random nests of control flow give as a kernel what they give as plain Python."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base import knobs
from tests.unit.control_flow.random_programs import PLAIN, Wrapped, float32, program

PROGRAMS = int(os.environ.get("FLYDSL_RANDOM_PROGRAMS", "520"))
"""2,000, all of them, take two minutes: FLYDSL_TEST_ALL=1 FLYDSL_RANDOM_PROGRAMS=2000 python -m pytest this file."""
BATCH = 26
THREADS = 5
SIZES = (0, 3, 6)
RESULTS = 8

HEADER = "import flydsl.compiler as flyc\nfrom flydsl.expr import Int32 as I, Float32 as F, range_constexpr\n\n\n"
HEADER += f"{PLAIN}\n\n"


def _module(path: Path, text: str) -> ModuleType:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _expected(text: str, names: list[str], n: int) -> np.ndarray:
    """Every program for every thread, as plain Python."""
    stubs: dict[str, Any] = {
        "flyc": SimpleNamespace(jit=lambda function: function),
        "I": Wrapped,
        "F": float32,
        "range": lambda *bounds: map(Wrapped, range(*bounds)),
        "range_constexpr": range,
    }
    exec(compile(f"{PLAIN}\n\n{text}", "<reference>", "exec"), stubs)
    with np.errstate(all="ignore"):
        rows = [[stubs[name](Wrapped(t), Wrapped(n)) for t in range(THREADS)] for name in names]
    return np.array([[[float(value) for value in row] for row in rows_of] for rows_of in rows])


def _as_kernel(functions: list[Any]) -> Any:
    @flyc.kernel
    def programs(out: fx.Tensor, n: fx.Int32):
        thread = fx.thread_idx.x
        for number, function in enumerate(functions):
            for place, value in enumerate(function(thread, n)):
                out[(number * THREADS + thread) * RESULTS + place] = fx.Float64(value)

    @flyc.jit
    def host(out: fx.Tensor, n: fx.Int32):
        programs(out, n).launch(grid=(1, 1, 1), block=(THREADS, 1, 1))

    return host


@pytest.mark.parametrize("batch", range(-(-PROGRAMS // BATCH)))
def test_kernels_do_what_python_does(batch: int, tmp_path: Path) -> None:
    names = [f"program_{batch * BATCH + i}" for i in range(BATCH)]
    texts = [program(name, batch * BATCH + i)[0] for i, name in enumerate(names)]
    module = _module(tmp_path / f"programs_{batch}.py", HEADER + "\n\n".join(texts))
    host = _as_kernel([getattr(module, name) for name in names])
    for n in SIZES:
        out = np.full(BATCH * THREADS * RESULTS, np.nan)
        with knobs.scope({knobs.COMPILE_OPT_LEVEL: 0}):  # the programs test the tracing, and are many
            host(out, n)
        expected = _expected("\n\n".join(texts), names, n)
        found = out.reshape(BATCH, THREADS, RESULTS)
        for name, text, one, other in zip(names, texts, found, expected, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=f"{name} with n={n}:\n{text}")


def test_the_programs_nest() -> None:
    made = [program("f", seed) for seed in range(PROGRAMS)]
    assert sum(constructs for _, constructs, _ in made) > 3 * PROGRAMS
    assert sum(jumps for _, _, jumps in made) > PROGRAMS
    assert sum("\n" + " " * 16 in text for text, _, _ in made) > PROGRAMS // 5, "four levels deep"
