"""The preshuffle GEMM with block scales on the virtual GPU, against float64 of the dequantised operands."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.kernels.gemm.blockscale_preshuffle_gemm import compile_blockscale_preshuffle_gemm
from flydsl.kernels.gemm.preshuffle_gemm import shuffle_weight
from tests.support.turns import in_turns

FP8 = {"gfx942": ml_dtypes.float8_e4m3fnuz, "gfx950": ml_dtypes.float8_e4m3fn}


@pytest.mark.parametrize(
    ("arch", "tiles", "copied", "shapes"),
    [
        ("gfx942", (32, 64, 128), False, [(1, 128, 256), (33, 192, 384)]),
        ("gfx942", (64, 256, 128), False, [(70, 256, 256)]),
        ("gfx942", (64, 128, 128), False, [(100, 384, 640), (1, 128, 128), (65, 256, 512)]),
        ("gfx950", (16, 128, 256), False, [(7, 256, 512)]),
        ("gfx950", (16, 128, 256), True, [(7, 256, 768)]),
        ("gfx950", (64, 128, 128), False, [(100, 384, 640)]),
        ("gfx950", (64, 128, 128), True, [(100, 384, 640), (1, 128, 128), (65, 256, 256)]),
        ("gfx950", (32, 64, 128), True, [(33, 192, 384)]),
    ],
)
def test_scales_of_blocks(
    arch: str, tiles: tuple[int, int, int], copied: bool, shapes: list[tuple[int, int, int]],
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("ARCH", arch)
    tile_m, tile_n, tile_k = tiles
    for m, n, k in in_turns(shapes):
        a, b = (rng.standard_normal((rows, k)).astype(FP8[arch]) for rows in (m, n))
        scale_a, scale_b = (
            rng.uniform(0.1, 2, shape).astype(np.float32) for shape in ((k // 128, m), (-(-n // 128), k // 128))
        )
        padded = np.full((m + 8, n), np.nan, ml_dtypes.bfloat16)
        c = padded[4 : 4 + m]
        gemm = compile_blockscale_preshuffle_gemm(
            N=n, K=k, tile_m=tile_m, tile_n=tile_n, tile_k=tile_k, use_async_copy=copied
        )
        gemm(c, a, shuffle_weight(b), scale_a, scale_b, m, n)

        wide_a = a.astype(np.float64) * np.repeat(scale_a, 128, axis=0).T
        wide_b = b.astype(np.float64) * np.repeat(np.repeat(scale_b, 128, axis=0)[:n], 128, axis=1)
        expected = wide_a @ wide_b.T
        bound = 2.0**-8 * np.abs(expected) + 1e-6 * (np.abs(wide_a) @ np.abs(wide_b).T)
        assert (np.abs(c.astype(np.float64) - expected) <= bound).all()
        outside = np.concatenate([padded[:4], padded[4 + m :]]).astype(np.float32)
        assert np.isnan(outside).all(), "wrote outside C"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tile_k": 64}, "tile_k must be a positive multiple of 128, a block of scales; got 64"),
        ({"K": 192}, "K must be a positive multiple of 128"),
        ({"K": 384, "tile_k": 256}, "K must be a positive multiple of 256, got 384"),
        ({"scale_block_k": 64}, "scale_block_k must be 128, got 64"),
        ({"out_dtype": "f32"}, "out_dtype must be one of fp16, bf16"),
    ],
)
def test_bad_choices_are_refused(change: dict[str, Any], message: str) -> None:
    choice = {"N": 128, "K": 256, "tile_m": 64, "tile_n": 64, "tile_k": 128, **change}
    with pytest.raises(ValueError) as error:
        compile_blockscale_preshuffle_gemm(**choice)
    assert message in str(error.value)
