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
from flydsl.kernels.gemm.fp8_gemm import compile_fp8_gemm_4w, scaled_launcher
from flydsl.kernels.gemm.gemm_fp8fp4_gfx1250 import compile_fp8fp4_gemm
from flydsl.kernels.gemm.hgemm_splitk import compile_hgemm_kernel, compile_small_m_hgemm_kernel
from flydsl.kernels.gemm.lds_plan import LdsPlan
from flydsl.kernels.gemm.mxfp4_preshuffle import compile_preshuffle_gemm_w4, launch_gemm
from flydsl.kernels.gemm.preshuffle_entries import compile_preshuffle_gemm_a8, compile_preshuffle_gemm_v2
from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm, shuffle_weight
from flydsl.kernels.gemm.rdna_f16_gemm import biased_launcher as rdna_linear
from flydsl.kernels.gemm.rdna_f16_gemm import create_wmma_gemm_module, rdna3_gemm_autotuned
from flydsl.kernels.gemm.rdna_fp8_preshuffle_gemm import biased_launcher as rdna_fp8_linear
from flydsl.kernels.gemm.rdna_fp8_preshuffle_gemm import compile_fp8_gemm
from flydsl.kernels.gemm.wmma.rdna_fp8_plan import Fp8Plan
from flydsl.kernels.gemm.wmma.rdna_plan import RdnaPlan
from flydsl.kernels.gemm.wmma_gemm_gfx1250 import compile_wmma_gemm_tdm
from tests.support.amd_products import FAMILIES
from tests.support.turns import in_turns

SMALL: dict[str, Any] = {"tile_m": 32, "tile_n": 64, "tile_k": 128}
HALF_TILES: dict[str, Any] = {"tile_m": 32, "tile_n": 64, "tile_k": 64, "m_warp": 2, "n_warp": 2}
NARROW_TILES: dict[str, Any] = {**HALF_TILES, "tile_k": 128}

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


# Arrays that do not lie as a kernel reads them -------------------------------------------------


def _preshuffled(c: Any, a: Any, b: Any, rows: int = 32) -> None:
    gemm = compile_preshuffle_gemm(N=64, K=256, **SMALL, in_dtype="fp16", out_dtype="fp16")
    gemm(c, a, b, *(np.ones(64, np.float32),) * 3, rows, 64)


def _rdna(c: Any, a: Any, b: Any, **options: Any) -> None:
    gemm, *_ = create_wmma_gemm_module(32, 64, 256, "f16", "f16", reg_m=1, reg_n=2, **options)
    gemm(c, a, b)


def _rdna_tuned(c: Any, a: Any, b: Any) -> None:
    rdna3_gemm_autotuned(c, a, b, in_dtype="f16", out_dtype="f16")


def _rdna_linear(c: Any, a: Any, b: Any, bias: Any) -> None:
    rdna_linear(RdnaPlan(0, 64, 256, "f16", "f16", reg_m=1, reg_n=2))(c, a, b, bias, 32)


def _rdna_fp8(c: Any, a: Any, b: Any, sa: Any, sb: Any) -> None:
    compile_fp8_gemm(M=32, N=64, K=256)(c, a, b, sa, sb)


def _rdna_fp8_linear(c: Any, a: Any, b: Any, sa: Any, sb: Any, bias: Any) -> None:
    rdna_fp8_linear(Fp8Plan(0, 64, 256))(c, a, b, sa, sb, bias, 32)


def _wmma_tdm(c: Any, a: Any, b: Any) -> None:
    compile_wmma_gemm_tdm(K=256, **HALF_TILES)(c, a, b.reshape(256, 64) if b.flags.c_contiguous else b, 32, 64)


def _narrow(c: Any, a: Any, b: Any, sa: Any, sb: Any, lda: int = 256) -> None:
    gemm = compile_fp8fp4_gemm(data_format="fp8", scale_mode="ptpc", K=256, out_dtype="bf16", **NARROW_TILES)
    gemm(c, a, b, sa, sb, 32, 64, lda, 64)


def _scaled(c: Any, a: Any, b: Any, sa: Any, sb: Any, bias: Any, lda: int = 0) -> None:
    plan = LdsPlan(64, 256, **SMALL, dtype="fp8", out="bf16", m_waves=2, n_waves=2, scaled=True, biased=True, lda=lda)
    scaled_launcher(plan)(a, b, c, sa, sb, bias, 32)


def _scaled_rows(c: Any, a: Any, b: Any, sa: Any, sb: Any) -> None:
    compile_fp8_gemm_4w(K=256, BLOCK_M=64, BLOCK_N=64)(a, b, c, sa, sb, 32, 64)


HALVES: tuple[Any, ...] = ((32, 64, np.float16), (32, 256, np.float16), (64, 256, np.float16))
BYTES: tuple[Any, ...] = ((32, 64, ml_dtypes.bfloat16), (32, 256, np.uint8), (64, 256, np.uint8))
CHANNELS: tuple[Any, ...] = ((32, np.float32), (64, np.float32))
FLOATS = (BYTES[0], *((rows, k, ml_dtypes.float8_e4m3fn) for rows, k, _ in BYTES[1:]))
PRODUCTS: list[tuple[Any, str, tuple[Any, ...]]] = [
    (_preshuffled, "gfx942", HALVES), (_rdna, "gfx1100", HALVES), (_rdna_tuned, "gfx1201", HALVES),
    (_rdna_linear, "gfx1201", (*HALVES, (64, np.float32))), (_rdna_fp8, "gfx1201", (*BYTES, *CHANNELS)),
    (_rdna_fp8_linear, "gfx1201", (*BYTES, *CHANNELS, CHANNELS[1])), (_wmma_tdm, "gfx1250", HALVES),
    (_narrow, "gfx1250", (*BYTES, *CHANNELS)), (_scaled, "gfx950", (*FLOATS, *CHANNELS, CHANNELS[1])),
]  # fmt: skip
"""Products, their targets, and their arrays: C, A, B, and numbers of rows and columns."""


@pytest.mark.parametrize(("multiply", "arch", "arrays"), PRODUCTS, ids=lambda x: getattr(x, "__name__", str(x)[:8]))
def test_arrays_that_lie_apart(multiply: Any, arch: str, arrays: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels that know no stride of an array read what lies between its rows or elements as if it were of them.

    All arrays are asked for the same, so one of them goes down its columns for all.
    """
    monkeypatch.setenv("ARCH", arch)
    whole = [np.zeros(shape, dtype) for *shape, dtype in arrays]
    multiply(*whole)
    for place, x in in_turns(enumerate(whole)):
        matrix = x.reshape(len(x), -1)
        apart = [np.tile(matrix, 2)[:, : matrix.shape[1]]]
        apart += [np.asfortranarray(x)] if place == 0 else []
        for given in in_turns(apart):
            with pytest.raises(RuntimeError, match=f"an array of {x.size} elements is taken as it lies"):
                multiply(*whole[:place], given, *whole[place + 1 :])


PITCHED = [(_rdna, "gfx1100", HALVES), (_narrow, "gfx1250", (*BYTES, *CHANNELS)),
           (_scaled, "gfx950", (*FLOATS, *CHANNELS, CHANNELS[1]))]  # fmt: skip


@pytest.mark.parametrize(("multiply", "arch", "arrays"), PITCHED, ids=lambda x: getattr(x, "__name__", str(x)[:8]))
def test_another_pitch(multiply: Any, arch: str, arrays: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A matrix whose rows are as far apart as was said is taken, a view of it or all of it, and no other."""
    monkeypatch.setenv("ARCH", arch)
    c, a, *others = (np.zeros(shape, dtype) for *shape, dtype in arrays)
    wide = np.zeros((32, 272), a.dtype)
    for given in (wide, wide[:, :256]):
        multiply(c, given, *others, lda=272)
    for given, down, across in ((a, 256, 1), (np.asfortranarray(wide), 1, 32)):
        message = f"taken to be 272 elements apart, and are {down} apart with {across} between elements"
        with pytest.raises(RuntimeError, match=message):
            multiply(c, given, *others, lda=272)


SHORT = [(_preshuffled, "gfx942", HALVES, "CAB"), (_scaled_rows, "gfx950", (*FLOATS, *CHANNELS), "CABab")]


@pytest.mark.parametrize(("multiply", "arch", "arrays", "named"), SHORT, ids=lambda x: getattr(x, "__name__", ""))
def test_arrays_that_end_too_early(
    multiply: Any, arch: str, arrays: Any, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel would read or write beyond them."""
    monkeypatch.setenv("ARCH", arch)
    whole = [np.zeros(shape, dtype) for *shape, dtype in arrays]
    names = {"C": "C", "A": "A", "B": "B(_T)?", "a": "scale_a", "b": "scale_b"}
    for place, (x, name) in enumerate(zip(whole, named, strict=True)):
        with pytest.raises(
            RuntimeError, match=f"{names[name]} has {x.size // 2} elements, and the kernel uses {x.size}"
        ):
            multiply(*whole[:place], x[: len(x) // 2].copy(), *whole[place + 1 :])


def test_rows_below_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    c, a, b = (np.zeros(shape, dtype) for *shape, dtype in HALVES)
    with pytest.raises(RuntimeError, match="C has 2048 elements, and the kernel uses -64"):
        _preshuffled(c, a, b, rows=-1)
