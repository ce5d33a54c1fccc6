"""Machine code for AMD GPUs of kernels of rows whose lengths nobody named."""

from __future__ import annotations

import numpy as np
import pytest

from flydsl.base import knobs
from tests.support.described_calls import describe_calls
from tests.support.row_launches import DTYPES, launch
from tests.support.turns import in_turns

KERNELS = (
    "softmax", "softmax_bwd", "layernorm", "add_rmsnorm", "norm_bwd", "glu", "glu_bwd", "cross_entropy",
    "cross_entropy_bwd", "row_quant",
)  # fmt: skip


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1201", "gfx1250"])
def test_long_rows_spill_nothing(arch: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """Where a thread has hundreds of elements, neither what is loaded of them nor their addresses may stay."""
    describe_calls(monkeypatch, arch)
    for name in in_turns(KERNELS, 2):
        n, dtype = int(np.exp(rng.uniform(*np.log((6000, 130_000))))), str(rng.choice(list(DTYPES)))
        run = launch(name, n | 1 if rng.random() < 0.5 else n // 8 * 8, dtype)
        with knobs.scope({knobs.COMPILE_OPT_LEVEL: 2}):
            for kernel in run.specialisations[-1].kernels:
                assert not kernel.spills and not kernel.scratch_bytes, (name, run.specialisations[-1], kernel.rows())


@pytest.mark.parametrize(
    ("arch", "name", "n", "dtype"),
    [
        ("gfx950", "add_rmsnorm", 77_231, "bf16"), ("gfx942", "row_quant", 109_009, "f32"),
        ("gfx942", "norm_bwd", 17_153, "f16"), ("gfx1250", "norm_bwd", 43_593, "f32"),
    ],
)  # fmt: skip
def test_rows_that_spilled(arch: str, name: str, n: int, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 348 registers: addresses of the first pass kept for the second, and sums beside a row's elements."""
    describe_calls(monkeypatch, arch)
    with knobs.scope({knobs.COMPILE_OPT_LEVEL: 2}):
        assert not any(kernel.spills for kernel in launch(name, n, dtype).specialisations[-1].kernels)
