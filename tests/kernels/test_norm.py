"""Softmax, RMSNorm and LayerNorm on the virtual GPU of every target, against float64 NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.kernels.norm.layernorm import build_layernorm_module
from flydsl.kernels.norm.rmsnorm import build_rmsnorm_module
from flydsl.kernels.norm.softmax import build_softmax_module
from tests.support import random_data
from tests.support.turns import in_turns

TARGETS = ("gfx942", "gfx950", "gfx1201", "gfx1250", "sm_90a")
DTYPES: dict[str, Any] = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
TOLERANCE = {"f32": 2e-6, "f16": 1e-3, "bf16": 8e-3}
GUARDS = 9
SHAPES = [(1, 1), (3, 7), (2, 1000), (1, 4097), (2, 4096)]


def poisoned(x: np.ndarray) -> np.ndarray:
    """An output for ``x``, with rows behind it that must stay as they are."""
    return np.full((x.shape[0] + GUARDS, x.shape[1]), np.nan, x.dtype)[: x.shape[0]]


def softmax(x: np.ndarray, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    out = poisoned(x)
    build_softmax_module(*x.shape, dtype)(x, out, x.shape[0])
    wide = x.astype(np.float64)
    powers = np.exp(wide - wide.max(1, keepdims=True))
    return out, powers / powers.sum(1, keepdims=True)


def rmsnorm(x: np.ndarray, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    gamma = random_data.generator().standard_normal(x.shape[1]).astype(x.dtype)
    out = poisoned(x)
    build_rmsnorm_module(x.shape[1], dtype)(x, gamma, out, x.shape[0])
    wide = x.astype(np.float64)
    return out, wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-5) * gamma.astype(np.float64)


def layernorm(x: np.ndarray, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    rng = random_data.generator()
    gamma, beta = (rng.standard_normal(x.shape[1]).astype(x.dtype) for _ in range(2))
    out = poisoned(x)
    build_layernorm_module(x.shape[1], dtype)(x, gamma, beta, out, x.shape[0])
    wide = x.astype(np.float64)
    centred = wide - wide.mean(1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
    return out, scaled * gamma.astype(np.float64) + beta.astype(np.float64)


KERNELS: dict[str, Callable[[np.ndarray, str], tuple[np.ndarray, np.ndarray]]] = {
    "softmax": softmax,
    "rmsnorm": rmsnorm,
    "layernorm": layernorm,
}


@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize("name", KERNELS)
def test_row_kernel(name: str, arch: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setenv("ARCH", arch)
    for index, (rows, columns) in in_turns(enumerate(SHAPES), 3):
        dtype = list(DTYPES)[index % 3]
        x = (rng.standard_normal((rows, columns)) * 3 + 1).astype(DTYPES[dtype])
        out, expected = KERNELS[name](x, dtype)
        error = np.abs(out.astype(np.float64) - expected).max() / max(np.abs(expected).max(), 1e-30)
        assert error < TOLERANCE[dtype], (rows, columns, dtype, error)


LONG = [("f32", 16387), ("bf16", 40008), ("f16", 70001), ("f32", 140000)]
"""Rows that one block's registers cannot hold: clusters of 2 to 8 blocks where the target has them."""


@pytest.mark.parametrize("arch", ["sm_90a", "gfx942"])
@pytest.mark.parametrize("name", KERNELS)
def test_long_rows(name: str, arch: str, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    monkeypatch.setenv("ARCH", arch)
    for dtype, columns in in_turns(LONG):
        x = (rng.standard_normal((2, columns)) * 3 + 1).astype(DTYPES[dtype])
        out, expected = KERNELS[name](x, dtype)
        error = np.abs(out.astype(np.float64) - expected).max() / max(np.abs(expected).max(), 1e-30)
        assert error < TOLERANCE[dtype], (columns, dtype, error)


def test_rows_of_infinities() -> None:
    """A wave of nothing but -inf has no say; a row of nothing else is undefined, as in other libraries."""
    x = np.full((3, 4096), -np.inf, np.float32)
    x[0, 17], x[1, 4000:] = 2.0, 1.0
    out = np.full_like(x, np.nan)
    build_softmax_module(3, 4096, "f32")(x, out, 3)
    assert out[0, 17] == 1.0 and (np.delete(out[0], 17) == 0).all()
    np.testing.assert_allclose(out[1, 4000:], 1 / 96, rtol=1e-6)
    assert (out[1, :4000] == 0).all() and np.isnan(out[2]).all()


def test_large_values_far_from_zero_keep_their_variance(rng: np.random.Generator) -> None:
    x = (rng.standard_normal((2, 5000)) + 1e4).astype(np.float32)
    out, expected = layernorm(x, "f32")
    assert np.abs(out - expected).max() / np.abs(expected).max() < 3e-3


def test_an_outlier_that_squares_are_taken_about(rng: np.random.Generator) -> None:
    """The first vector of a row, of a thread or of a wave is no typical one."""
    for place in (0, 9, 4999):
        x = rng.standard_normal((2, 5000)).astype(np.float32)
        x[:, place] = 1e5
        out, expected = layernorm(x, "f32")
        assert np.abs(out - expected).max() / np.abs(expected).max() < 1e-5


@pytest.mark.parametrize("arch", ["sm_90a", "gfx942"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_row_of_equal_elements_gives_the_shift(dtype: str, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """1 / standard deviation is 316 there and would show any rounding of the mean."""
    monkeypatch.setenv("ARCH", arch)
    for columns in in_turns((1, 7, 49, 1000, 4097), 2):
        x = np.repeat(np.array([[1.0], [-3.5], [1000.0]]), columns, 1).astype(DTYPES[dtype])
        gamma = np.full(columns, 2.0, x.dtype)
        beta = np.linspace(-1e-3, 1e-3, columns).astype(x.dtype)
        out = poisoned(x)
        build_layernorm_module(columns, dtype)(x, gamma, beta, out, len(x))
        np.testing.assert_array_equal(out, np.broadcast_to(beta, out.shape), str(columns))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", KERNELS)
def test_every_shape_in_every_type(name: str, dtype: str, rng: np.random.Generator) -> None:
    for rows, columns in in_turns(SHAPES, 2):
        x = (rng.standard_normal((rows, columns)) * 3 + 1).astype(DTYPES[dtype])
        out, expected = KERNELS[name](x, dtype)
        error = np.abs(out.astype(np.float64) - expected).max() / max(np.abs(expected).max(), 1e-30)
        assert error < TOLERANCE[dtype], (rows, columns, error)


@pytest.mark.parametrize("build", [build_layernorm_module, build_rmsnorm_module])
def test_a_flag_is_no_epsilon(build: Any) -> None:
    """Behind the type comes the flag for statistics, then eps; a number in the flag's place is an eps."""
    build(64, "f32", 0.0)
    assert build(64, "f32", False).__name__ == build(64, "f32").__name__ == build(9, 64, "f32").__name__
    assert build(64, "f32", True).__name__ != build(64, "f32").__name__
    for flag in (False, True):
        with pytest.raises(TypeError, match=f"eps is a number .* got {flag}"):
            build(64, "f32", eps=flag)
    with pytest.raises(TypeError, match="storing statistics is a flag, got 1"):
        build(64, "f32", store_stats=1)
    with pytest.raises(TypeError, match="a norm needs its dtype"):
        build(64)
    with pytest.raises(TypeError, match="a norm has no option colour"):
        build(64, "f32", colour=3)
    with pytest.raises(ValueError, match="0 or more, got -1e-05"):
        build(64, "f32", -1e-5)
    for threads in (1e-5, True, "256"):
        with pytest.raises(TypeError, match="threads is an int"):
            build(64, "f32", 1e-5, threads)
