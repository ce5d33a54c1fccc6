"""Matrix intrinsics under the names of older kernels; `tests/kernels/test_matrix_atoms.py` has them all."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
from tests.unit.rocdl.running import launch


@pytest.mark.parametrize("kind", ["fp8", "i8"])
def test_16x16x32_of_bytes(kind: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    dtype = ml_dtypes.float8_e4m3fnuz if kind == "fp8" else np.int8
    a, b = (rng.integers(-8, 9, (16, 32)).astype(dtype) for _ in range(2))
    out = np.full((16, 16), -1, np.float32 if kind == "fp8" else np.int32)
    number = fx.Float32 if kind == "fp8" else fx.Int32

    def body(t: Any, a: Any, b: Any, c: Any) -> None:
        # Lane t holds eight bytes of row t mod 16, from column 8 (t / 16) on.
        held = [fx.recast_iter(fx.Int64, fx.get_iter(m))[t % 16 * 4 + t // 16] for m in (a, b)]
        zero = fx.Vector.filled(4, 0, number)
        if fx.const_expr(kind == "fp8"):
            found = fx.rocdl.mfma_f32_16x16x32_fp8(held[0], held[1], zero)
        else:
            found = fx.rocdl.mfma_i32_16x16x32i8(held[0], held[1], zero)
        for i in fx.range_constexpr(4):
            c[t // 16 * 4 + i, t % 16] = found[i]

    launch(body, a.view(np.int8), b.view(np.int8), out)
    np.testing.assert_array_equal(out, a.astype(np.float64) @ b.astype(np.float64).T)
