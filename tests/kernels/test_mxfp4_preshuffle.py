"""The preshuffle GEMM of floats with block scales on the virtual GPU, against float64 of the dequantised operands."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.kernels.gemm.mxfp4_preshuffle import (
    compile_fp4_gemm_4w,
    compile_preshuffle_gemm_a6w4,
    compile_preshuffle_gemm_w4,
    e8m0_shuffle,
    launch_gemm,
)
from flydsl.kernels.gemm.preshuffle_gemm import shuffle_weight
from flydsl.kernels.quant.formats import pack_codes

NAMES = {"fp4": ("mxfp4", ml_dtypes.float4_e2m1fn), "fp6": ("mxfp6", ml_dtypes.float6_e2m3fn),
         "fp8": ("mxfp8", ml_dtypes.float8_e4m3fn)}  # fmt: skip


def operand(rows: int, k: int, dtype: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random codes as bytes, scales, and the numbers that the two stand for."""
    name, kind = NAMES[dtype]
    bits = {"fp4": 16, "fp6": 64, "fp8": 256}[dtype]
    codes = rng.integers(0, bits, (rows, k // 32, 32), dtype=np.uint8)
    if dtype == "fp8":
        codes[codes & 127 == 127] = 3  # those are not numbers
    scales = rng.integers(120, 134, (rows, k // 32), dtype=np.uint8)
    wide = codes.view(kind).astype(np.float64) * 2.0 ** (scales.astype(np.float64)[..., None] - 127)
    return pack_codes(codes, name).reshape(rows, -1), scales, wide.reshape(rows, k)


def require_close(c: np.ndarray, wide_a: np.ndarray, wide_b: np.ndarray) -> None:
    expected = wide_a @ wide_b.T
    bound = 2.0**-8 * np.abs(expected) + 1e-6 * (np.abs(wide_a) @ np.abs(wide_b).T)
    assert (np.abs(c.astype(np.float64) - expected) <= bound).all()


def check(
    formats: tuple[str, str], tiles: tuple[int, int, int], shape: tuple[int, int, int], rng: np.random.Generator,
    **options: Any,
) -> None:  # fmt: skip
    """Run one product and compare every element; rows around C are watched."""
    (m, n, k), (tile_m, tile_n, tile_k) = shape, tiles
    (a, scale_a, wide_a), (b, scale_b, wide_b) = (operand(rows, k, dtype, rng) for rows, dtype in zip((m, n), formats))
    padded = np.full((m + 8, n), np.nan, ml_dtypes.bfloat16)
    c = padded[4 : 4 + m]
    gemm = compile_preshuffle_gemm_w4(
        N=n, K=k, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, a_dtype=formats[0], b_dtype=formats[1], **options
    )
    unused = np.zeros(1, np.float32)
    gemm(c, a, shuffle_weight(b), e8m0_shuffle(scale_a), e8m0_shuffle(scale_b), unused, m, n)
    require_close(c, wide_a, wide_b)
    outside = np.concatenate([padded[:4], padded[4 + m :]]).astype(np.float32)
    assert np.isnan(outside).all(), "wrote outside C"


@pytest.mark.parametrize(
    ("formats", "tiles", "shapes"),
    [
        (("fp4", "fp4"), (32, 64, 256), [(1, 128, 256), (45, 192, 768)]),
        (("fp4", "fp4"), (64, 256, 512), [(100, 256, 1024)]),
        (("fp4", "fp4"), (64, 128, 128), [(64, 128, 640), (7, 128, 384)]),
        (("fp6", "fp4"), (32, 64, 256), [(33, 128, 768)]),
        (("fp6", "fp4"), (32, 64, 128), [(40, 64, 384)]),
        (("fp8", "fp4"), (32, 64, 256), [(33, 128, 768)]),
        (("fp8", "fp8"), (32, 64, 256), [(33, 128, 768)]),
    ],
)
def test_products(
    formats: tuple[str, str], tiles: tuple[int, int, int], shapes: list[tuple[int, int, int]],
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("ARCH", "gfx950")
    for shape in shapes:
        check(formats, tiles, shape, rng)


@pytest.mark.parametrize(
    ("formats", "tiles"),
    [
        (("fp4", "fp4"), (64, 256, 512)),
        (("fp4", "fp4"), (160, 320, 256)),
        (("fp6", "fp4"), (32, 64, 256)),
        (("fp8", "fp4"), (96, 64, 128)),
        (("fp8", "fp8"), (64, 128, 256)),
    ],
)
def test_scales_copied_with_tiles(
    formats: tuple[str, str], tiles: tuple[int, int, int], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows and columns of a tile may fill copies of a wave, or parts of them, and a wave may have several."""
    monkeypatch.setenv("ARCH", "gfx950")
    tile_m, tile_n, tile_k = tiles
    shape = (int(rng.integers(1, 2 * tile_m)), tile_n * int(rng.integers(1, 3)), tile_k * int(rng.integers(1, 5)))
    check(formats, tiles, shape, rng, use_async_copy=True)


def test_large_tiles_of_four_waves(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    (a, scale_a, wide_a), (b, scale_b, wide_b) = (operand(256, 512, "fp4", rng) for _ in range(2))
    c = np.full((256, 256), np.nan, ml_dtypes.bfloat16)
    gemm = compile_fp4_gemm_4w(K=512, MN=(256, 256))
    gemm(a, shuffle_weight(b), c, e8m0_shuffle(scale_a), e8m0_shuffle(scale_b), 256, 256)
    require_close(c, wide_a, wide_b)
    with pytest.raises(ValueError, match="K must be a positive multiple of 256, got 300"):
        compile_fp4_gemm_4w(K=300)
    with pytest.raises(
        ValueError, match="N must be a multiple of 256, got 100; compile_preshuffle_gemm_w4 takes any M"
    ):
        compile_fp4_gemm_4w(K=512, MN=(256, 100))


def test_six_bits_by_their_own_name() -> None:
    options: dict[str, Any] = {"N": 64, "K": 512, "tile_m": 32, "tile_n": 64, "tile_k": 256}
    assert compile_preshuffle_gemm_a6w4(**options) is compile_preshuffle_gemm_w4(**options, a_dtype="fp6")


def test_a_batch_of_one_weight(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    m, n, k, batch = 5, 64, 256, 2
    sides = [operand(m, k, "fp4", rng) for _ in range(batch)]
    b, scale_b, wide_b = operand(n, k, "fp4", rng)
    a = np.stack([side[0] for side in sides])
    scales = np.stack([e8m0_shuffle(side[1]) for side in sides])
    c = np.full((batch, m, n), np.nan, ml_dtypes.bfloat16)
    where = (m, n, None, n, k, 32, 64, 256, "fp4", "bf16", "fp4", batch)
    launch_gemm(c, a, shuffle_weight(b), scales, e8m0_shuffle(scale_b), *where)
    for number in range(batch):
        require_close(c[number], sides[number][2], wide_b)
    with pytest.raises(ValueError, match="c_row_stride must be 64, as of contiguous arrays"):
        launch_gemm(c, a, b, scales, scale_b, *where, c_row_stride=100)


@pytest.mark.parametrize("copied", [False, True])
def test_it_is_clean_under_the_sanitizers(
    copied: bool, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    (a, scale_a, wide_a), (b, scale_b, wide_b) = operand(20, 512, "fp8", rng), operand(64, 512, "fp8", rng)
    c = np.zeros((20, 64), ml_dtypes.bfloat16)
    options: dict[str, Any] = {"tile_m": 32, "tile_n": 64, "tile_k": 256, "a_dtype": "fp8", "b_dtype": "fp8"}
    gemm = compile_preshuffle_gemm_w4(N=64, K=512, use_async_copy=copied, **options)
    with flyc.sanitize("bounds", "race", "uninit", "barrier", "async"):
        gemm(c, a, shuffle_weight(b), e8m0_shuffle(scale_a), e8m0_shuffle(scale_b), scale_b, 20, 64)
    require_close(c, wide_a, wide_b)


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
        ({"tile_k": 192}, ValueError, "tile_k must be a positive multiple of 256, got 192"),
        ({"tile_k": 128, "lds_stage": 1}, NotImplementedError, "tile_k = 128 takes lds_stage = 2, got 1"),
        ({"tile_n": 96}, ValueError, "tile_n must be a positive multiple of 64, got 96"),
        ({"tile_m": 16}, ValueError, "tile_m must be a positive multiple of 32, got 16"),
        ({"b_dtype": "fp8"}, NotImplementedError, "got fp4 and fp8"),
        ({"epilogue": "bias"}, ValueError, "no epilogue"),
    ],
)
def test_bad_choices_are_refused(change: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        compile_preshuffle_gemm_w4(**{"N": 256, "K": 512, "tile_m": 32, "tile_n": 128, "tile_k": 256, **change})
