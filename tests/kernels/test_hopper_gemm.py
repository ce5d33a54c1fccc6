"""The Hopper GEMM on the virtual sm_90a against float64: types, orders of B, epilogues, splits, clusters, edges."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.kernels.gemm import hopper_matmul
from flydsl.kernels.gemm.hopper_gemm import GemmConfig, build_hopper_gemm
from flydsl.kernels.gemm.hopper_matmul import choose_config, hopper_gemm
from tests.support import random_data

TYPES: dict[str, Any] = {
    "bf16": ml_dtypes.bfloat16, "f16": np.float16, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip
SMALL = GemmConfig(tile_n=128, stages=2, cluster=1)
"""Small tiles: quick to compile for the host."""
ROUNDING = {"bf16": 2**-8, "f16": 2**-11}


@pytest.fixture(autouse=True)
def hopper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")


def activate(x: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """The activations in float64, written independently of the kernels'."""
    if name == "relu":
        return np.where(x > 0, x, 0.0)
    if name == "silu":
        return x / (1 + np.exp(-x))
    if name == "gelu":
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x


def check(
    m: int, n: int, k: int, config: GemmConfig, dtype: str = "bf16", out: str = "bf16", bias: bool = False,
    alpha: float = 1.0,
) -> None:  # fmt: skip
    rng = random_data.generator()
    a = rng.standard_normal((m, k)).astype(TYPES[dtype])
    stored = rng.standard_normal((k, n) if config.b_rows_are_k else (n, k)).astype(TYPES[dtype])
    b = stored if config.b_rows_are_k else stored.T
    vector = rng.standard_normal(n).astype(TYPES[out]) if bias else None
    # Rows before and behind C, and columns beside it, must stay as they are; so must what lies between its rows.
    guarded = np.full((m + 2, n + 16), np.nan, TYPES[out])
    c = guarded[1:-1, 8:-8]
    hopper_gemm(a, b, c, vector, alpha=alpha, activation=config.activation, config=config)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    expected = alpha * (wide_a @ wide_b) + (0 if vector is None else vector.astype(np.float64))
    magnitude = abs(alpha) * (np.abs(wide_a) @ np.abs(wide_b)) + 1
    error = np.abs(c.astype(np.float64) - activate(expected, config.activation))
    # Half a unit of the result's rounding, and what sums in f32 and the activation's slope may add.
    bound = ROUNDING[out] * np.abs(activate(expected, config.activation)) + 4e-6 * magnitude
    assert (error <= bound).all(), (m, n, k, config, float((error / bound).max()))
    assert np.isnan(guarded.astype(np.float32)).sum() == guarded.size - c.size


@pytest.mark.parametrize("shape", [(1, 8, 8), (7, 136, 72), (200, 264, 328)])
def test_awkward_extents(shape: tuple[int, int, int]) -> None:
    """One kernel for all of them: extents are known at the launch."""
    check(*shape, SMALL)


def test_many_tiles_a_block() -> None:
    """More tiles than persistent blocks, and K of many rounds of the ring."""
    check(1000, 392, 400, SMALL)


@pytest.mark.parametrize("dtype", ["f16", "e4m3", "e5m2"])
def test_other_types(dtype: str) -> None:
    check(130, 144, 272, SMALL, dtype, "f16")


def test_b_with_n_contiguous() -> None:
    config = replace(SMALL, b_rows_are_k=True)
    check(7, 136, 72, config)
    check(150, 200, 136, config)


@pytest.mark.parametrize("activation", ["relu", "silu", "gelu"])
def test_epilogues(activation: str) -> None:
    check(130, 136, 72, replace(SMALL, activation=activation), bias=True, alpha=0.37)


def test_clusters_share_tiles_by_multicast() -> None:
    config = replace(SMALL, cluster=2)
    check(1, 8, 8, config)
    check(300, 264, 200, config)
    check(300, 264, 200, replace(config, b_rows_are_k=True))


def test_k_in_parts() -> None:
    """Splits with and without work of their own: 9 steps in 4 parts, and one step in 4."""
    config = replace(SMALL, splits=4, activation="relu")
    check(130, 136, 9 * 64 - 8, config, bias=True, alpha=-1.5)
    check(7, 136, 40, config, bias=True, alpha=-1.5)


def test_the_configuration_is_chosen_by_the_shape() -> None:
    """A small product takes small tiles, and parts of K if there are blocks to spare."""
    bf16 = fx.BFloat16
    assert choose_config(8192, 8192, 8192, bf16, 132, False, "none") == GemmConfig()
    small = choose_config(64, 512, 4096, bf16, 132, False, "none")
    assert (small.tile_n, small.cluster, small.splits) == (128, 1, 8)
    check_chosen = choose_config(7, 136, 72, bf16, 4, False, "none")
    assert (check_chosen.tile_n, check_chosen.splits) == (128, 1)
    check(7, 136, 72, check_chosen)


@pytest.mark.parametrize(("m", "n", "k"), [(0, 8, 16), (8, 0, 16), (0, 0, 16), (0, 8, 0), (8, 0, 0), (0, 0, 0)])
def test_nothing_to_write(m: int, n: int, k: int) -> None:
    """Empty arrays have strides of 0 or whatever they were cut with: nobody looks at them."""
    for b in (zeros(k, n), zeros(n, k).T, zeros(k + 1, 2 * n + 2)[:k, : 2 * n : 2]):
        hopper_gemm(zeros(m, k), b, zeros(m, n), zeros(n))


@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("activation", ["none", "silu"])
def test_no_products_to_add_up(activation: str, has_bias: bool, rng: np.random.Generator) -> None:
    """K is 0: C = act(bias), or zeros, in every element and beside none."""
    m, n = 7, 300
    guarded = np.full((m + 2, n + 16), np.nan, np.float32).astype(TYPES["bf16"])
    bias = rng.standard_normal(n).astype(TYPES["bf16"])
    hopper_gemm(zeros(m, 0), zeros(0, n), guarded[1:-1, 8:-8], bias if has_bias else None, activation=activation)
    expected = activate(bias.astype(np.float64) if has_bias else np.zeros(n), activation)
    error = np.abs(guarded[1:-1, 8:-8].astype(np.float64) - expected)
    assert (error <= 2**-8 * np.abs(expected) + 1e-6).all()
    assert np.isnan(guarded.astype(np.float32)).sum() == guarded.size - m * n


def test_a_stream_of_number_0_is_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is CUDA's default stream, and no word for "choose one"."""
    seen: list[Any] = []
    monkeypatch.setattr(hopper_matmul, "build_hopper_gemm", lambda *_, **__: lambda *given: seen.append(given[4:]))
    monkeypatch.setattr(hopper_matmul, "_current_stream", lambda _: 77)
    for stream in (0, 5, None):
        hopper_gemm(zeros(8, 16), zeros(16, 8), zeros(8, 8), stream=stream)
    assert seen == [(0,), (5,), (77,)]


# What is refused -------------------------------------------------------------------------------------


def zeros(*shape: int, dtype: Any = ml_dtypes.bfloat16) -> np.ndarray[Any, Any]:
    return np.zeros(shape, dtype)


@pytest.mark.parametrize(
    ("a", "b", "c", "says"),
    [
        (zeros(8, 16), zeros(24, 8), zeros(8, 8), "shapes do not fit"),
        (zeros(8, 16), zeros(16, 8), zeros(8, 16), "shapes do not fit"),
        (zeros(8), zeros(8, 8), zeros(8, 8), "are matrices"),
        (zeros(8, 0), zeros(0, 8), zeros(16, 8)[::2].T, "C must have contiguous rows"),
        (zeros(0, 16, dtype=np.float32), zeros(16, 8, dtype=np.float32), zeros(0, 8), "A is float32"),
        (zeros(16, 8).T, zeros(16, 8), zeros(8, 8), "A must have contiguous rows"),
        (zeros(8, 16), zeros(16, 16)[:, ::2], zeros(8, 8), "B must have a contiguous mode"),
        (zeros(8, 16), zeros(16, 8), zeros(8, 8).T, "C must have contiguous rows"),
        (zeros(8, 16), zeros(16, 8, dtype=np.float16), zeros(8, 8), "give both the same type"),
        (zeros(8, 16, dtype=np.float32), zeros(16, 8, dtype=np.float32), zeros(8, 8), "A is float32"),
        (zeros(8, 16), zeros(16, 8), zeros(8, 8, dtype=np.float32), "C is float32"),
        (zeros(8, 16, dtype=TYPES["e4m3"]), zeros(16, 16, dtype=TYPES["e4m3"]), zeros(8, 16), "with K contiguous"),
    ],
)
def test_operands_that_do_not_fit(a: Any, b: Any, c: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        hopper_gemm(a, b, c)


def test_epilogues_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="bias has shape"):
        hopper_gemm(zeros(8, 16), zeros(8, 16).T, zeros(8, 8), zeros(16))
    with pytest.raises(ValueError, match="activation must be one of"):
        hopper_gemm(zeros(8, 16), zeros(8, 16).T, zeros(8, 8), activation="swish")


@pytest.mark.parametrize("change", [{"tile_n": 192}, {"cluster": 4}, {"splits": 0}, {"stages": 1}])
def test_configurations_that_cannot_be(change: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"got GemmConfig\("):
        build_hopper_gemm(fx.BFloat16, None, replace(SMALL, **change))


def test_rows_that_tma_cannot_reach() -> None:
    """K of 12: rows of 24 bytes."""
    with pytest.raises(RuntimeError, match="mode 0 of argument 'A' has one of 24 bytes"):
        hopper_gemm(zeros(8, 12), zeros(8, 12).T, zeros(8, 8), config=SMALL)


def test_too_many_stages_for_shared_memory() -> None:
    with pytest.raises(RuntimeError, match="bytes of shared memory, and sm_90a has 232448"):
        hopper_gemm(zeros(8, 16), zeros(8, 16).T, zeros(8, 8), config=replace(SMALL, stages=8))
