"""The preshuffle GEMM of four-bit floats on the virtual GPU, against float64 of the dequantised operands."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.kernels.gemm.mxfp4_preshuffle import compile_preshuffle_gemm_w4, e8m0_shuffle
from flydsl.kernels.gemm.preshuffle_gemm import shuffle_weight

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def values(packed: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """What bytes of two E2M1 values and E8M0 scales stand for."""
    codes = np.stack([packed & 15, packed >> 4], axis=-1).reshape(len(packed), -1)
    numbers = np.where(codes & 8, -1.0, 1.0) * E2M1[codes & 7]
    return numbers * np.repeat(2.0 ** (scales.astype(np.float64) - 127), 32, axis=1)


@pytest.mark.parametrize(
    ("tiles", "shapes"),
    [((32, 64, 256), [(1, 128, 256), (45, 192, 768)]), ((64, 256, 512), [(100, 256, 1024)])],
)
def test_products(
    tiles: tuple[int, int, int], shapes: list[tuple[int, int, int]], rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("ARCH", "gfx950")
    tile_m, tile_n, tile_k = tiles
    for m, n, k in shapes:
        a, b = (rng.integers(0, 256, (rows, k // 2), dtype=np.uint8) for rows in (m, n))
        scale_a, scale_b = (rng.integers(120, 134, (rows, k // 32), dtype=np.uint8) for rows in (m, n))
        padded = np.full((m + 8, n), np.nan, ml_dtypes.bfloat16)
        c = padded[4 : 4 + m]
        gemm = compile_preshuffle_gemm_w4(N=n, K=k, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k)
        unused = np.zeros(1, np.float32)
        gemm(c, a, shuffle_weight(b), e8m0_shuffle(scale_a), e8m0_shuffle(scale_b), unused, m, n)

        wide_a, wide_b = values(a, scale_a), values(b, scale_b)
        expected = wide_a @ wide_b.T
        bound = 2.0**-8 * np.abs(expected) + 1e-6 * (np.abs(wide_a) @ np.abs(wide_b).T)
        assert (np.abs(c.astype(np.float64) - expected) <= bound).all()
        outside = np.concatenate([padded[:4], padded[4 + m :]]).astype(np.float32)
        assert np.isnan(outside).all(), "wrote outside C"


def test_scales_are_shuffled_as_documented(rng: np.random.Generator) -> None:
    scales = rng.integers(0, 255, (300, 12), dtype=np.uint8)
    shuffled = e8m0_shuffle(scales)
    assert shuffled.shape == (512, 16)
    row, j = np.divmod(np.arange(scales.size), 12)
    place = ((((row // 32 * 2 + j // 8) * 4 + j % 4) * 16 + row % 16) * 2 + j // 4 % 2) * 2 + row // 16 % 2
    np.testing.assert_array_equal(shuffled.ravel()[place], scales.ravel())


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"tile_k": 128}, ValueError, "tile_k must be a positive multiple of 256, got 128"),
        ({"tile_n": 96}, ValueError, "tile_n must be a positive multiple of 64, got 96"),
        ({"tile_m": 16}, ValueError, "tile_m must be a positive multiple of 32, got 16"),
        ({"a_dtype": "fp8"}, NotImplementedError, "got fp8 and fp4"),
        ({"epilogue": "bias"}, ValueError, "no epilogue"),
    ],
)
def test_bad_choices_are_refused(change: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        compile_preshuffle_gemm_w4(**{"N": 256, "K": 512, "tile_m": 32, "tile_n": 128, "tile_k": 256, **change})
