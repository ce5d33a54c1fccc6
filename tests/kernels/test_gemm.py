"""The naive and the tiled matrix product on the virtual GPU of every target, against float64 NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.kernels.gemm.naive import build_naive_gemm_module
from flydsl.kernels.gemm.tiled import build_tiled_gemm_module, plan_tiles
from tests.support import random_data
from tests.support.turns import in_turns

TARGETS = ("gfx942", "gfx950", "gfx1201", "gfx1250", "sm_90a")
DTYPES: dict[str, Any] = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
TOLERANCE = 2e-6
"""Of products that are exact and sums in f32, relative to the sum of the magnitudes."""

SHAPES = [(1, 1, 1), (1, 1000, 40), (3, 7, 33), (65, 129, 130), (2, 4097, 24)]
"""(M, N, K); the edges of tiles fall everywhere, and K allows accesses of every width."""

Gemm = Callable[[np.ndarray, np.ndarray, np.ndarray, str], None]


def naive(a: np.ndarray, b: np.ndarray, c: np.ndarray, dtype: str) -> None:
    build_naive_gemm_module()(a, b, c, *c.shape, a.shape[1])


def tiled(a: np.ndarray, b: np.ndarray, c: np.ndarray, dtype: str) -> None:
    build_tiled_gemm_module(b.shape[0], b.shape[1], dtype, 64, 64)(a, b, c, a.shape[0])


KERNELS: dict[str, Gemm] = {"naive": naive, "tiled": tiled}


def check(gemm: Gemm, m: int, n: int, k: int, dtype: str) -> None:
    rng = random_data.generator()
    a, b = (rng.standard_normal(shape).astype(DTYPES[dtype]) for shape in ((m, k), (n, k)))
    # Rows before and behind C must stay as they are.
    guarded = np.full((m + 2, n), np.nan, np.float32)
    gemm(a, b, guarded[1:-1], dtype)
    wide = a.astype(np.float64), b.astype(np.float64)
    expected, magnitude = wide[0] @ wide[1].T, np.abs(wide[0]) @ np.abs(wide[1]).T
    error = (np.abs(guarded[1:-1] - expected) / magnitude).max()
    assert error < TOLERANCE, (m, n, k, dtype, error)
    assert np.isnan(guarded[[0, -1]]).all()


@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize("name", KERNELS)
def test_gemm(name: str, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    for index, (m, n, k) in in_turns(enumerate(SHAPES), 3):
        check(KERNELS[name], m, n, k, list(DTYPES)[(index + TARGETS.index(arch)) % 3])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("arch", TARGETS)
def test_every_type_on_every_target(arch: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    check(tiled, 70, 65, 136, dtype)
    check(naive, 9, 17, 30, dtype)


@pytest.mark.parametrize(("dtype", "width"), [("f32", 4), ("f16", 8)])
def test_accesses_are_as_wide_as_rows_allow(dtype: str, width: int) -> None:
    assert [plan_tiles(8, k, dtype).width for k in (64, 66, 67)] == [width, 2, 1]


def test_the_default_tile(rng: np.random.Generator) -> None:
    """Several blocks of 128 x 128 and several turns over K."""
    a, b = rng.standard_normal((200, 200)).astype(np.float16), rng.standard_normal((300, 200)).astype(np.float16)
    c = np.full((200, 300), np.nan, np.float32)
    build_tiled_gemm_module(300, 200, "f16")(a, b, c, 200)
    expected = a.astype(np.float64) @ b.astype(np.float64).T
    assert np.abs(c - expected).max() / np.abs(expected).max() < TOLERANCE


def test_what_cannot_be_multiplied() -> None:
    with pytest.raises(ValueError, match="at least one column and one term"):
        plan_tiles(4, 0, "f16")
    with pytest.raises(ValueError, match="dtype must be one of f32, f16, bf16"):
        plan_tiles(4, 4, "f64")
    with pytest.raises(ValueError, match="sides of a tile are one of"):
        plan_tiles(4, 4, "f16", tile_m=48)


@pytest.mark.parametrize("shift", [0, 1, 3])
@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_strided_matrices(arch: str, shift: int, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """Views into wider matrices, also where their rows are not aligned; what lies beside C stays."""
    monkeypatch.setenv("ARCH", arch)
    m, n, k = 70, 66, 72
    wide_a, wide_b = (rng.standard_normal((rows, k + 8 + shift)).astype(np.float16) for rows in (m, n))
    a, b = wide_a[:, shift : shift + k], wide_b[:, shift : shift + k]
    whole = np.full((m, n + 5), np.nan, np.float32)
    build_tiled_gemm_module(n, k, "f16", 64, 64)(a, b, whole[:, 2:-3], m)
    expected = a.astype(np.float64) @ b.astype(np.float64).T
    assert np.abs(whole[:, 2:-3] - expected).max() < 1e-4
    assert np.isnan(whole).sum() == whole.size - expected.size


def test_transposed_matrices_are_refused() -> None:
    a, b, c = np.zeros((72, 70), np.float16), np.zeros((66, 72), np.float16), np.zeros((70, 66), np.float32)
    with pytest.raises(ValueError, match="A must have contiguous rows"):
        build_tiled_gemm_module(66, 72, "f16", 64, 64)(a.T, b, c, 70)


def test_matrices_that_do_not_fit_are_refused() -> None:
    """What lies behind them was read and written; halves of the other type were read as if they were of this one."""
    given = [np.zeros((70, 72), np.float16), np.zeros((66, 72), np.float16), np.zeros((70, 66), np.float32)]
    tiled, naive = build_tiled_gemm_module(66, 72, "f16", 64, 64), build_naive_gemm_module()
    for place, matrix in enumerate(given):
        for short in (matrix[:35], matrix[:, :33]):
            arrays = [short if index == place else other for index, other in enumerate(given)]
            for call in (lambda arrays=arrays: tiled(*arrays, 70), lambda arrays=arrays: naive(*arrays, 70, 66, 72)):
                with pytest.raises(RuntimeError, match=r"rows of \d+ elements are asked for, and a matrix has"):
                    call()
    with pytest.raises(TypeError, match="an array holds BFloat16, and the kernel was built for Float16"):
        tiled(given[0].astype(ml_dtypes.bfloat16), *given[1:], 70)
    with pytest.raises(RuntimeError, match="66 numbers are asked for, and an array has 60"):
        tiled(*given, 70, bias=np.zeros(60, np.float32))
