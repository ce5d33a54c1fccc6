"""Products of 8-bit floats with scales of rows, four and eight waves, on virtual GPUs against float64."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.kernels.gemm.fp8_gemm import compile_fp8_gemm_4w, compile_fp8_gemm_8w, preshuffle_b
from tests.support import random_data

FP8 = {"gfx942": ml_dtypes.float8_e4m3fnuz, "gfx950": ml_dtypes.float8_e4m3fn}


def check(gemm: Any, m: int, n: int, k: int, arch: str, shuffled: bool = False) -> None:
    """Every element against the exact product: one rounding to bf16, and f32 sums. Rows beyond M are poisoned."""
    rng = random_data.generator()
    poisoned = np.full((m + 4, k), np.nan, FP8[arch])
    poisoned[:m] = rng.standard_normal((m, k)).astype(FP8[arch])
    a, b = poisoned[:m], rng.standard_normal((n, k)).astype(FP8[arch])
    scales = [np.full(count + 4, np.nan, np.float32) for count in (m, n)]
    for found, count in zip(scales, (m, n)):
        found[:count] = rng.uniform(0.5, 1.5, count)
    padded = np.full((m + 8, n), np.nan, ml_dtypes.bfloat16)
    c = padded[4 : 4 + m]
    gemm(a, preshuffle_b(b) if shuffled else b, c, scales[0][:m], scales[1][:n], m, n)
    outer = np.outer(scales[0][:m].astype(np.float64), scales[1][:n])
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    expected, most = (wide_a @ wide_b.T) * outer, (np.abs(wide_a) @ np.abs(wide_b).T) * outer
    assert (np.abs(c.astype(np.float64) - expected) <= 2.0**-8 * np.abs(expected) + 2.0**-20 * most).all()
    assert np.isnan(np.concatenate([padded[:4], padded[4 + m :]]).astype(np.float32)).all(), "wrote outside C"


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize("shuffled", [False, True])
def test_four_waves(arch: str, shuffled: bool, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    gemm = compile_fp8_gemm_4w(K=640, BLOCK_M=64, BLOCK_N=64, b_preshuffled=shuffled, use_xcd_remap=shuffled)
    n = 16 * int(rng.integers(4, 12)) if shuffled else int(rng.integers(65, 200))
    for m in (1, int(rng.integers(2, 200))):
        check(gemm, m, n, 640, arch, shuffled)


def test_eight_waves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    check(compile_fp8_gemm_8w(K=384, BLOCK_M=128), 133, 256, 384, "gfx950")


def test_large_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    check(compile_fp8_gemm_4w(K=640), 200, 256, 640, "gfx950")


def test_it_is_clean_under_the_sanitizers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    with flyc.sanitize("bounds", "race", "uninit", "barrier", "async"):
        check(compile_fp8_gemm_4w(K=384, BLOCK_M=64, BLOCK_N=64, use_xcd_remap=False), 20, 64, 384, "gfx950")


@pytest.mark.parametrize(
    ("build", "options", "message"),
    [
        (compile_fp8_gemm_4w, {"K": 200}, "K must be a positive multiple of 128, got 200"),
        (compile_fp8_gemm_4w, {"K": 256, "BLOCK_M": 96}, "BLOCK_M must be a positive multiple of 64, got 96"),
        (compile_fp8_gemm_8w, {"K": 256, "BLOCK_N": 128}, "BLOCK_N must be a positive multiple of 256, got 128"),
        (
            compile_fp8_gemm_4w,
            {"K": 256, "BLOCK_N": 320},
            "has 512 registers, and a tile of 256 x 320 takes 320 for sums, "
            "160 for columns of B and 48 or more for the rest",
        ),
        (compile_fp8_gemm_8w, {"K": 256, "BLOCK_M": 384}, "has 256 registers, and a tile of 384 x 256 takes 192"),
    ],
)
def test_limits_say_what_would_do(build: Any, options: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build(**options)


def test_shuffled_weights_come_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    gemm = compile_fp8_gemm_4w(K=128, BLOCK_M=64, BLOCK_N=64, b_preshuffled=True)
    a, c, scale = np.zeros((24, 128), FP8["gfx950"]), np.zeros((24, 24), ml_dtypes.bfloat16), np.ones(24, np.float32)
    with pytest.raises(ValueError, match="N must be a multiple of 16, got 24"):
        gemm(a, a, c, scale, scale, 24, 24)
