"""16-bit floats with weights of four bits, scaled by groups or columns, on virtual GPUs against float64."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.kernels.gemm.preshuffle_gemm import pack_int4, shuffle_weight
from flydsl.kernels.gemm.preshuffle_w4a16 import compile_preshuffle_gemm_w4a16
from tests.support import random_data

TYPES = {"bf16": ml_dtypes.bfloat16, "fp16": np.float16}


def check(m: int, n: int, k: int, a_dtype: str, group_size: int, **options: Any) -> None:
    """Weights are rounded to the type of A with their scale; beyond that f32 sums and one rounding."""
    rng, kind = random_data.generator(), TYPES[a_dtype]
    a = rng.uniform(-1, 1, (m, k)).astype(kind)
    b = rng.integers(-8, 8, (n, k), dtype=np.int8)
    scales = rng.uniform(0.01, 0.02, (k // 32, n) if group_size else n).astype(np.float32)
    padded = np.full((m + 8, n), np.nan, kind)
    c, unused = padded[4 : 4 + m], np.zeros(1, np.float32)
    gemm = compile_preshuffle_gemm_w4a16(
        N=n, K=k, tile_m=32, tile_n=64, a_dtype=a_dtype, out_dtype=a_dtype, group_size=group_size, **options
    )
    gemm(c, a, pack_int4(shuffle_weight(b)), unused, scales, unused, m, n)
    spread = np.repeat(scales, 32, axis=0).T if group_size else scales[:, None]
    weights = (b.astype(np.float32) * spread).astype(kind).astype(np.float64)
    wide = a.astype(np.float64)
    expected, most = wide @ weights.T, np.abs(wide) @ np.abs(weights).T
    half_ulp = 2.0**-8 if a_dtype == "bf16" else 2.0**-11
    assert (np.abs(c.astype(np.float64) - expected) <= half_ulp * np.abs(expected) + 2.0**-18 * most).all()
    assert np.isnan(np.concatenate([padded[:4], padded[4 + m :]]).astype(np.float32)).all(), "wrote outside C"


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize(("a_dtype", "group_size"), [("bf16", 32), ("fp16", 32), ("bf16", 0)])
def test_products(arch: str, a_dtype: str, group_size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    check(33, 128, 384, a_dtype, group_size, tile_k=128)
    check(5, 64, 192, a_dtype, group_size, tile_k=64, use_async_copy=True)


def test_it_is_clean_under_the_sanitizers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    with flyc.sanitize("bounds", "race", "uninit", "barrier", "async"):
        check(7, 64, 256, "bf16", 32, tile_k=128)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a_dtype": "fp8"}, "a_dtype must be one of bf16, fp16, got 'fp8'"),
        ({"group_size": 64}, "group_size must be 32, or 0 for one scale a column; got 64"),
        ({"tile_k": 32, "tile_m": 64}, "tile_k must be a positive multiple of 64, two groups; got 32"),
        ({"tile_n": 96}, "tile_n must be a positive multiple of 64, got 96"),
    ],
)
def test_limits_say_what_would_do(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compile_preshuffle_gemm_w4a16(**{"N": 128, "K": 256, "tile_m": 32, "tile_n": 64, "tile_k": 128, **change})
