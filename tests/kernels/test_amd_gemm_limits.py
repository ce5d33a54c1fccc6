"""What AMD's GEMMs refuse for a target, before anything is compiled, and what they then say would do.

Limits of a builder's own arguments are tables beside the tests of each kernel; here are those that need a call, and
those that the specification lists number by number.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.kernels.gemm.hgemm_splitk import compile_hgemm_kernel, compile_small_m_hgemm_kernel
from flydsl.kernels.gemm.mxfp4_preshuffle import compile_preshuffle_gemm_w4, launch_gemm
from flydsl.kernels.gemm.preshuffle_entries import compile_preshuffle_gemm_a8, compile_preshuffle_gemm_v2
from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm, shuffle_weight
from flydsl.kernels.gemm.wmma_gemm_gfx1250 import compile_wmma_gemm_tdm
from tests.support.amd_products import FAMILIES

SMALL: dict[str, Any] = {"tile_m": 32, "tile_n": 64, "tile_k": 128}
HALF_TILES: dict[str, Any] = {"tile_m": 32, "tile_n": 64, "tile_k": 64, "m_warp": 2, "n_warp": 2}

CALLS: list[tuple[str, str, dict[str, Any], type[Exception], str]] = [
    ("preshuffle", "gfx1100", {"dtype": "bf16", **SMALL}, RuntimeError,
     "for gfx90a, gfx942, gfx950, not for gfx1100; gfx11 and gfx12 have flydsl.kernels.gemm.rdna_f16_gemm"),
    ("preshuffle", "gfx90a", {"dtype": "fp8", **SMALL}, ValueError, "no matrix instruction of 16 rows for fp8"),
    ("preshuffle", "gfx942", {"dtype": "bf16", **SMALL, "tile_m": 256}, ValueError,
     "the tiles take 131072 bytes of LDS, and 65536 are there on gfx942: take a smaller tile_m or tile_k"),
    ("w4a16", "gfx90a", SMALL, RuntimeError, "for gfx942, gfx950, not for gfx90a"),
    ("mx", "gfx942", {"a": "fp4", **SMALL, "tile_k": 256}, RuntimeError,
     "for gfx950, not for gfx942; gfx942 has compile_preshuffle_gemm, gfx1250 compile_fp8fp4_gemm"),
    ("blockscale", "gfx90a", {"tiles": (32, 64, 128)}, RuntimeError, "for gfx942, gfx950, not for gfx90a"),
    ("hgemm", "gfx1201", {}, RuntimeError, "for gfx90a, gfx942, gfx950, not for gfx1201"),
    ("hgemm", "gfx942", {"STAGES": 3}, ValueError, "98304 bytes of LDS, and 65536 are there on gfx942"),
    ("fp8_waves", "gfx942", {"waves": 4}, ValueError, "131072 bytes of LDS, and 65536 are there on gfx942"),
    ("fp8_waves", "gfx90a", {"waves": 8}, RuntimeError, "for gfx942, gfx950, not for gfx90a"),
    ("rdna", "gfx950", {"dtype": "bf16", "out": "bf16"}, RuntimeError,
     "for gfx11 and gfx120x; gfx1250 has compile_wmma_gemm_tdm, gfx9 the preshuffle GEMM"),
    ("rdna_fp8", "gfx1100", {}, RuntimeError, "for gfx1200, gfx1201, not for gfx1100; gfx11 has no instruction"),
    ("narrow", "gfx950", {"data": "fp8"}, RuntimeError, "for gfx1250, not for gfx950; gfx950 has compile_pre"),
    ("wmma_tdm", "gfx1201", HALF_TILES, RuntimeError, "for gfx1250, not for gfx1201; gfx11 and gfx120x have create"),
]  # fmt: skip


@pytest.mark.parametrize(("family", "arch", "options", "error", "message"), CALLS, ids=lambda x: str(x)[:24])
def test_targets(
    family: str, arch: str, options: dict[str, Any], error: type[Exception], message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("ARCH", arch)
    with pytest.raises(error) as refused:
        FAMILIES[family](arch, 32, 128, 512, **options)
    assert message in str(refused.value)


BUILDERS: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    *((compile_preshuffle_gemm, {"N": 128, "K": 128, "tile_m": rows, "tile_n": 64, "tile_k": 64, "in_dtype": "bf16"},
       ValueError, f"must be a positive multiple of 4096, got {128 * rows}") for rows in (48, 80, 112, 144)),
    (compile_preshuffle_gemm_v2, {"N": 128, "K": 128, **SMALL, "in_dtype": "int8"}, ValueError,
     "in_dtype must be one of fp8, fp16, bf16, got 'int8'"),
    (compile_preshuffle_gemm_w4, {"N": 128, "K": 512, **SMALL, "tile_k": 256, "dsrd_preload": 4}, ValueError,
     "dsrd_preload = 4 is not offered: all accesses of a chunk come before its first product here; leave it 2"),
    (compile_preshuffle_gemm_a8, {"N": 128, "K": 512, **SMALL, "in_dtype": "fp5"}, ValueError, "in_dtype must be"),
    (compile_wmma_gemm_tdm, {"K": 128, **HALF_TILES, "in_dtype": "f32"}, ValueError, "in_dtype must be one of fp16"),
    (compile_wmma_gemm_tdm, {"K": 128, **HALF_TILES, "tile_k": 48}, ValueError, "tile_k must be a positive mu"),
    (compile_wmma_gemm_tdm, {"K": 96, **HALF_TILES}, ValueError, "K must be a positive multiple of 64, got 96"),
    (compile_wmma_gemm_tdm, {"K": 64, **HALF_TILES}, ValueError, "has 1 tiles of 64, and num_buffers = 2 want as many"),
    (compile_wmma_gemm_tdm, {"K": 128, **HALF_TILES, "inst_prefetch": True}, ValueError, "inst_prefetch = True is not"),
    (compile_wmma_gemm_tdm, {"K": 128, **HALF_TILES, "tile_m": 512, "tile_n": 256, "tile_k": 32}, ValueError,
     "takes 1024 registers of a lane for its sums, and 512 leave room for the rest: take more waves"),
    (compile_hgemm_kernel, {"dtype": "f16", "n": 512, "k": 512, "TILE_M": 256, "TILE_N": 512, "TILE_K": 32,
                            "BLOCK_N_WARPS": 4}, ValueError, "has 256 registers, and a tile of 256 x 512 takes 256"),
    (compile_small_m_hgemm_kernel, {"dtype": "bf16", "n": 128, "k": 512, "B_TO_LDS_UNROLL": 2}, ValueError,
     "B_TO_LDS_UNROLL = 2 is not offered: the loop goes once around the ring"),
    (shuffle_weight, {"weight": np.zeros((16, 48), np.float16)}, ValueError, "columns in blocks of 32"),
]  # fmt: skip


@pytest.mark.parametrize(("build", "options", "error", "message"), BUILDERS, ids=lambda x: str(x)[:24])
def test_arguments(build: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as refused:
        build(**options)
    assert message in str(refused.value)


@pytest.mark.parametrize("rows", [64, 96, 128, 160])
def test_tiles_that_threads_fetch_evenly_are_taken(rows: int) -> None:
    assert compile_preshuffle_gemm(N=128, K=128, tile_m=rows, tile_n=64, tile_k=64, in_dtype="bf16")


def test_batches_are_contiguous() -> None:
    a, c, scales = (
        np.zeros((2, 8, 128), np.uint8),
        np.zeros((2, 8, 64), ml_dtypes.bfloat16),
        np.zeros((2, 256, 8), np.uint8),
    )
    where = (8, 64, None, 64, 256, 32, 64, 256, "fp4", "bf16", "fp4")
    for options, message in (
        ({"batch": 0}, "batch must be at least 1"),
        ({"batch": 2, "a_row_stride": 130}, "a_row_stride must be 128, as of contiguous arrays, or -1; got 130"),
        ({"batch": 2, "sca_batch_stride": 3}, "sca_batch_stride must be 2048, as of contiguous arrays"),
    ):
        with pytest.raises(ValueError, match=message):
            launch_gemm(c, a, a, scales, scales, *where, **options)


def test_blocks_of_a_chiplet_visit_every_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order is a bijection where the tiles are no multiple of the chiplets."""
    monkeypatch.setenv("ARCH", "gfx942")
    for rows, band in ((70, 1), (130, 2), (200, 3)):
        FAMILIES["preshuffle"]("gfx942", rows, 192, 128, dtype="fp8", **SMALL, xcd_swizzle=band)
    with flyc.sanitize("race"):
        FAMILIES["preshuffle"]("gfx942", 130, 192, 128, dtype="bf16", **SMALL, xcd_swizzle=2)


def _halves(c: Any, a: Any, b: Any) -> None:
    gemm = compile_preshuffle_gemm(N=64, K=128, **SMALL, in_dtype="fp16", out_dtype="fp16")
    gemm(c, a, b, *(np.ones(64, np.float32),) * 3, 32, 64)


@pytest.mark.parametrize("place", range(3))
def test_matrices_whose_rows_lie_apart(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels that know no stride of their matrices read what lies between rows as rows."""
    monkeypatch.setenv("ARCH", "gfx942")
    whole = [np.zeros(shape, np.float16) for shape in ((32, 64), (32, 128), (64, 128))]
    _halves(*whole)
    given = [np.tile(x, 2)[:, : x.shape[1]] if index == place else x for index, x in enumerate(whole)]
    with pytest.raises(RuntimeError, match=f"an array of {whole[place].size} elements is taken as it lies"):
        _halves(*given)
