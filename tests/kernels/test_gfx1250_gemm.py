"""The GEMMs of gfx1250 on the virtual GPU, against float64 of the dequantised operands."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.kernels.gemm.gemm_fp8fp4_gfx1250 import (
    DATA_FORMATS,
    compile_a8w4_gemm,
    compile_fp8fp4_gemm,
    compile_mxfp4_gemm,
    compile_mxfp8_gemm,
    compile_ptpc_gemm,
    launch_gemm_a8w4_mxscale,
    launch_gemm_a8w8,
    preshuffle_b_16x16,
    preshuffle_e8m0_scale,
    scale_32x4,
)
from flydsl.kernels.gemm.wmma_gemm_gfx1250 import compile_wmma_gemm_tdm
from tests.support import random_data

OUT: dict[str, Any] = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16, "fp16": np.float16}
ROUNDING = {"f32": 2.0**-24, "bf16": 2.0**-8, "f16": 2.0**-11, "fp16": 2.0**-11}
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
SMALL: dict[str, Any] = {"tile_m": 32, "tile_n": 64, "tile_k": 128, "m_warp": 2, "n_warp": 2}


@pytest.fixture(autouse=True)
def on_gfx1250(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx1250")


def narrow(kind: str, rows: int, k: int, gap: int = 0) -> tuple[Any, Any]:
    """(bytes, what they stand for); ``gap`` bytes of NaN lie behind each row, rows of NaN behind the last one."""
    rng = random_data.generator()
    poison = 0x7F if kind == "fp8" else 0x77
    width = k if kind == "fp8" else k // 2
    whole = np.full((rows + 2, width + gap), poison, np.uint8)
    if kind == "fp8":
        numbers = rng.standard_normal((rows, k)).astype(ml_dtypes.float8_e4m3fn)
        whole[:rows, :width] = numbers.view(np.uint8)
        return whole[:rows, :width], numbers.astype(np.float64)
    packed = rng.integers(0, 256, (rows, width), dtype=np.uint8)
    whole[:rows, :width] = packed
    codes = np.stack([packed & 15, packed >> 4], axis=-1).reshape(rows, k)
    return whole[:rows, :width], np.where(codes & 8, -1.0, 1.0) * E2M1[codes & 7]


def group_scales(rows: int, k: int) -> tuple[Any, Any]:
    """(E8M0 bytes, the factor of every element)."""
    scales = random_data.generator().integers(122, 130, (rows, k // 32), dtype=np.uint8)
    return scales, np.repeat(2.0 ** (scales.astype(np.float64) - 127), 32, axis=1)


def canvas(m: int, n: int, ldc: int, out: str) -> tuple[Any, Any]:
    whole = np.full((m + 4, ldc), 77, OUT[out])
    return whole, whole[2 : 2 + m, :n]


def compare(whole: Any, c: Any, a: Any, b: Any, out: str, rounds: int = 1) -> None:
    """Every element within its rounding, and that of a sum of K products in f32; nothing written outside."""
    expected = a @ b.T
    terms = np.abs(a) @ np.abs(b).T
    bound = rounds * ROUNDING[out] * np.abs(expected) + (a.shape[1] + 4) * 2.0**-24 * terms
    bound += (rounds > 1) * rounds * ROUNDING[out] * terms
    assert (np.abs(c.astype(np.float64) - expected) <= bound).all()
    c[:] = 77
    assert (whole.astype(np.float32) == 77).all(), "wrote outside C"


def check(
    data_format: str, scale_mode: str, m: int, n: int, k: int, out: str = "f32", gap: int = 0, **options: Any
) -> None:
    options = {**SMALL, **options}
    a_kind, b_kind = DATA_FORMATS[data_format]
    (a, a_wide), (b, b_wide) = narrow(a_kind, m, k, gap), narrow(b_kind, n, k)
    if scale_mode == "mxscale":
        (sa, a_factor), (sb, b_factor) = group_scales(m, k), group_scales(n, k)
        per_tile = options["tile_k"] // 32
        sa = preshuffle_e8m0_scale(sa, options["tile_m"] // options["m_warp"], per_tile)
        sb = preshuffle_e8m0_scale(sb, options["tile_n"] // options["n_warp"], per_tile)
    else:
        sa, sb = (random_data.generator().uniform(0.5, 2, rows).astype(np.float32) for rows in (m, n))
        a_factor, b_factor = sa.astype(np.float64)[:, None], sb.astype(np.float64)[:, None]
    whole, c = canvas(m, n, n + gap, out)
    split = options.get("split_k", 1)
    if split > 1:
        c[:] = 0
    gemm = compile_fp8fp4_gemm(data_format=data_format, scale_mode=scale_mode, K=k, out_dtype=out, **options)
    gemm(c, a, preshuffle_b_16x16(b, *b.shape), sa, sb, m, n, a.shape[1] + gap, n + gap)
    compare(whole, c, a_wide * a_factor, b_wide * b_factor, out, split)


@pytest.mark.parametrize(
    ("data_format", "scale_mode", "out", "options"),
    [
        ("fp4", "mxscale", "f32", {}),
        ("fp4", "mxscale", "f32", {"tile_n": 32, "use_tdm_store": False}),
        ("fp4", "mxscale", "bf16", {"tile_k": 256, "num_buffers": 3, "gap": 16}),
        ("fp4", "mxscale", "bf16", {"tile_m": 128, "tile_n": 128, "tile_k": 256, "use_scale_opsel": False}),
        ("fp4", "mxscale", "f32", {"tile_m": 128, "tile_n": 128, "tile_k": 256, "use_tdm_store": False}),
        ("fp8", "mxscale", "f16", {"use_tdm_store": False, "gap": 16}),
        ("fp8", "mxscale", "bf16", {"wave_specialized_tdm": True, "tile_m": 64}),
        ("a8w4", "mxscale", "bf16", {"cluster_m": 2, "cluster_n": 2, "wave_specialized_tdm": True}),
        ("a8w4", "mxscale", "f32", {"tile_n": 128, "m_warp": 1, "n_warp": 4}),
        ("fp8", "ptpc", "bf16", {"num_buffers": 4, "cluster_m": 4}),
        ("a8w4", "ptpc", "f32", {"num_buffers": 3, "use_tdm_store": False}),
        ("fp8", "mxscale", "bf16", {"tile_m": 64, "use_scale_opsel": True, "l2_prefetch_distance": 2}),
        ("a8w4", "mxscale", "f32", {"tile_m": 64, "use_scale_opsel": True, "expert_sched_mode": False}),
        ("fp4", "mxscale", "bf16", {"scale_load_path": "vgpr", "tile_k": 256}),
        ("a8w4", "mxscale", "f32", {"scale_load_path": "vgpr", "num_buffers": 3, "wave_specialized_tdm": True}),
    ],
)
def test_any_shape(
    data_format: str, scale_mode: str, out: str, options: dict[str, Any], rng: np.random.Generator
) -> None:
    tiles = max(options.get("num_buffers", 2), int(rng.integers(2, 7)))
    m, n, k = int(rng.integers(1, 100)), 16 * int(rng.integers(1, 12)), options.get("tile_k", 128) * tiles
    check(data_format, scale_mode, m, n, k, out, **options)


@pytest.mark.parametrize(("out", "split"), [("f32", 2), ("bf16", 4)])
def test_parts_of_k_are_added(out: str, split: int) -> None:
    check("fp8", "ptpc", 33, 80, 1024, out, use_tdm_store=False, split_k=split)


def test_specified_tiles() -> None:
    """The tile of 128 x 128 for few rows, by a name of its own; the others are options of the same kernel."""
    m, n, k = 13, 256, 256
    (a, a_wide), (b, b_wide) = narrow("fp8", m, k), narrow("fp4", n, k)
    (sa, a_factor), (sb, b_factor) = group_scales(m, k), group_scales(n, k)
    sa, sb = (preshuffle_e8m0_scale(scales, 64, 4) for scales in (sa, sb))
    whole, c = canvas(m, n, n, "bf16")
    gemm = compile_a8w4_gemm(K=k, out_dtype="bf16")
    gemm(c, a, preshuffle_b_16x16(b, n, k // 2), sa, sb, m, n, k, n)
    compare(whole, c, a_wide * a_factor, b_wide * b_factor, "bf16")
    assert compile_mxfp4_gemm(K=512) is compile_fp8fp4_gemm(K=512)
    assert compile_mxfp8_gemm(K=512) is compile_fp8fp4_gemm(data_format="fp8", K=512)
    ptpc = compile_fp8fp4_gemm(data_format="fp8", scale_mode="ptpc", K=512, num_buffers=4, out_dtype="bf16")
    assert compile_ptpc_gemm(K=512) is ptpc


@pytest.mark.parametrize("tile", [(32, 64, 128, 2, 2), (64, 128, 256, 1, 4)])
def test_a8w4_with_scales_in_blocks_of_32_rows(tile: tuple[int, ...], rng: np.random.Generator) -> None:
    m, n, k = int(rng.integers(1, 100)), 16 * int(rng.integers(1, 12)), 1024
    (a, a_wide), (b, b_wide) = narrow("fp8", m, k), narrow("fp4", n, k)
    (sa, a_factor), (sb, b_factor) = group_scales(m, k), group_scales(n, k)
    whole, c = canvas(m, n, n, "bf16")
    launch_gemm_a8w4_mxscale(
        c,
        a,
        preshuffle_b_16x16(b, n, k // 2),
        scale_32x4(sa),
        scale_32x4(sb),
        m,
        None,
        n,
        k,
        k,
        n,
        *tile,
        False,
        2,
        1,
        1,
    )
    compare(whole, c, a_wide * a_factor, b_wide * b_factor, "bf16")


@pytest.mark.parametrize("is_bsc", [False, True])
def test_a8w8(is_bsc: bool, rng: np.random.Generator) -> None:
    m, n, k = int(rng.integers(1, 100)), 272, 768
    (a, a_wide), (b, b_wide) = narrow("fp8", m, k), narrow("fp8", n, k)
    if is_bsc:
        sa, sb = (rng.integers(122, 130, shape, dtype=np.uint8) for shape in ((k // 128, m + 8), (3, k // 128)))
        wide = [2.0 ** (scales.astype(np.float64) - 127) for scales in (sa[:, :m].T, np.repeat(sb, 128, axis=0)[:n])]
        a_factor, b_factor = (np.repeat(scales, 128, axis=1) for scales in wide)
    else:
        sa, sb = (rng.uniform(0.5, 2, rows).astype(np.float32) for rows in (m, n))
        a_factor, b_factor = sa.astype(np.float64)[:, None], sb.astype(np.float64)[:, None]
    whole, c = canvas(m, n, n, "f16")
    shuffled = preshuffle_b_16x16(b, n, k)
    launch_gemm_a8w8(c, a, shuffled, sa, sb, m, None, n, k, m + 8, k, n, 32, 64, 128, 2, 2, True, 3, 1, 2, is_bsc)
    compare(whole, c, a_wide * a_factor, b_wide * b_factor, "f16")


# 16 bits ---------------------------------------------------------------------------------------


def check_half(m: int, n: int, k: int, in_dtype: str, out: str, **options: Any) -> None:
    rng = random_data.generator()
    around = np.full((m + 2, k), np.nan, OUT[in_dtype])
    around[:m] = rng.standard_normal((m, k)).astype(OUT[in_dtype])
    a, b = around[:m], rng.standard_normal((k, n)).astype(OUT[in_dtype])
    whole, c = canvas(m, n, n, out)
    gemm = compile_wmma_gemm_tdm(K=k, in_dtype=in_dtype, out_dtype=out, **options)
    gemm(c, a, b, m, n)
    compare(whole, c, a.astype(np.float64), b.astype(np.float64).T, out)


@pytest.mark.parametrize(
    ("in_dtype", "out", "options"),
    [
        ("fp16", "f32", {}),
        ("bf16", "bf16", {"num_buffers": 3, "use_tdm_store": False}),
        ("fp16", "fp16", {"cluster_m": 2, "cluster_n": 2, "wave_specialized_tdm": True, "tile_k": 64}),
        ("bf16", "f32", {"num_buffers": 4, "tile_n": 128, "tile_m": 64, "l2_prefetch_distance": 3}),
        ("fp16", "fp16", {"tile_n": 128, "tile_k": 64}),
        ("bf16", "bf16", {"tile_n": 128, "tile_k": 64, "wave_specialized_tdm": True}),
    ],
)
def test_half_of_any_shape(in_dtype: str, out: str, options: dict[str, Any], rng: np.random.Generator) -> None:
    options = {**SMALL, "tile_k": 32, **options}
    tiles = max(options.get("num_buffers", 2), int(rng.integers(2, 9)))
    m, n, k = int(rng.integers(1, 130)), 8 * int(rng.integers(1, 30)), options["tile_k"] * tiles
    check_half(m, n, k, in_dtype, out, **options)


def test_half_of_the_specified_shape() -> None:
    check_half(128, 128, 64, "fp16", "fp16", tile_m=64, tile_n=128, tile_k=32)


# Memory ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"wave_specialized_tdm": True, "num_buffers": 3}, {"cluster_n": 2}], ids=str)
def test_narrow_under_the_sanitizers(options: dict[str, Any]) -> None:
    with flyc.sanitize():
        check("a8w4", "mxscale", 37, 80, 512, "bf16", **options)


def test_half_under_the_sanitizers() -> None:
    with flyc.sanitize():
        check_half(45, 72, 192, "bf16", "bf16", **{**SMALL, "tile_k": 32}, num_buffers=3)


def test_tiles_may_land_early(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_ASYNC_SEED", str(rng.integers(1, 1000)))
    check("fp4", "mxscale", 40, 64, 768, "bf16", num_buffers=3)


def test_no_bank_conflicts() -> None:
    """Reads of operands and scales, transposing ones too, and writes of C."""
    a, b, scales = (np.zeros(shape, np.uint8) for shape in ((64, 512), (128, 512), (128, 16)))
    gemm = compile_fp8fp4_gemm(data_format="fp8", K=512, tile_m=64, tile_n=128, tile_k=256)
    found = [flyc.lds_report(gemm, np.zeros((64, 128), np.float32), a, b, scales, scales, 64, 128, 512, 128)]
    a, b = (np.zeros(shape, np.float16) for shape in ((64, 128), (128, 128)))
    half = compile_wmma_gemm_tdm(K=128, tile_m=64, tile_n=128, tile_k=64, n_warp=2)
    found.append(flyc.lds_report(half, np.zeros((64, 128), np.float16), a, b, 64, 128))
    for report in found:
        assert {row.kind for row in report.rows} == {"read", "write"}
        assert report.extra_cycles == 0, str(report)


def test_scales_are_shuffled_as_documented(rng: np.random.Generator) -> None:
    scales = rng.integers(0, 255, (70, 24), dtype=np.uint8)
    found = preshuffle_e8m0_scale(scales, 32, 8, row_align=64)
    assert found.shape == (64, 48)
    row, j = np.divmod(np.arange(scales.size), 24)
    tile, step, s = j // 8, j % 8 // 4, j % 4
    block, rep, lane = row // 32, row % 32 // 16, row % 16
    place = ((((block * 16 + lane) * 3 + tile) * 2 + step) * 2 + rep) * 4 + s
    np.testing.assert_array_equal(found.ravel()[place], scales.ravel())
    with pytest.raises(AssertionError, match="rows by 16"):
        preshuffle_e8m0_scale(scales, 24, 8)


# Refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data_format": "fp6"}, "data_format must be one of fp4, fp8, a8w4, got 'fp6'"),
        ({"scale_mode": "ptpc"}, "scale_mode='ptpc' is for data_format 'fp8' and 'a8w4'"),
        ({"out_dtype": "i32"}, "out_dtype must be one of f32, bf16, f16"),
        ({"num_buffers": 5}, "num_buffers must be one of 2, 3, 4, got 5"),
        ({"cluster_m": 8, "cluster_n": 4}, "at most 16 workgroups, got 8 x 4"),
        ({"m_warp": 8, "n_warp": 8, "tile_n": 1024, "tile_m": 1024}, "at most 32 waves, got 8 x 8"),
        ({"K": 640, "tile_k": 256}, "K must be a positive multiple of 256, got 640"),
        ({"K": 768, "split_k": 4}, "K must be a positive multiple of 512, got 768"),
        ({"tile_k": 96}, "tile_k must be a positive multiple of 128, got 96"),
        ({"tile_m": 40}, "tile_m must be a positive multiple of 32, got 40"),
        ({"tile_k": 384, "K": 768}, "take a power of two"),
        ({"split_k": 2}, "give use_tdm_store=False"),
        ({"K": 256, "num_buffers": 4}, "has 2 tiles of 128, and num_buffers = 4 want as many"),
        (
            {"tile_m": 256, "tile_n": 256, "tile_k": 512, "K": 2048, "num_buffers": 4},
            "bytes of LDS, and 327680 are there",
        ),
        ({"n_warp": 3, "tile_n": 96}, "give wave_specialized_tdm=True"),
        ({"wave_specialized_tdm": True, "n_warp": 1}, "a wave for each of 4 matrices, got 2"),
        ({"fp8_schedule": "deep-pipeline"}, "fp8_schedule='deep-pipeline' is for"),
        ({"fp8_schedule": "quadrant"}, "fp8_schedule must be one of auto, deep-pipeline, got 'quadrant'"),
        ({"inst_prefetch": True}, "inst_prefetch = True is not offered: the loop is straight code"),
        ({"atomic_barrier_enable": True}, "atomic_barrier_enable = True is not offered: waves meet at split barriers"),
        ({"b_streaming": True}, "b_streaming = True is not offered: tiles of B pass through the ring in LDS"),
        ({"scale_load_path": "vgpr_ab_split"}, "scale_load_path must be one of tdm, vgpr, got 'vgpr_ab_split'"),
        ({"use_scale_opsel": True}, "waves of multiples of 32 rows and columns, got 16 x 32"),
        ({"l2_prefetch_distance": -1}, "l2_prefetch_distance is a number of tiles, or 0; got -1"),
    ],
)
def test_bad_choices_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as error:
        compile_fp8fp4_gemm(**{"K": 1024, **SMALL, **change})
    assert message in str(error.value)


def test_bad_calls_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    gemm = compile_fp8fp4_gemm(K=256, N=64, **SMALL)
    a, c, scales = np.zeros((64, 128), np.uint8), np.zeros((64, 64), np.float32), np.zeros((64, 8), np.uint8)
    for sizes, message in (
        ((64, 128, 128, 128), "compiled for N = 64, and is called with N = 128"),
        ((64, 64, 100, 64), "lda is at least 128 and a multiple of 4, got 100"),
        ((64, 64, 128, 32), "ldc is at least 64, got 32"),
    ):
        with pytest.raises(ValueError, match=message):
            gemm(c, a, a, scales, scales, *sizes)
    with pytest.raises(ValueError, match="N must be a positive multiple of 16, got 72"):
        compile_fp8fp4_gemm(K=256, **SMALL)(c, a, a, scales, scales, 64, 72, 128, 72)
    with pytest.raises(ValueError, match="C must hold Float32 for out_dtype='f32', not Float16"):
        gemm(c.astype(np.float16), a, a, scales, scales, 64, 64, 128, 64)
    half = compile_wmma_gemm_tdm(K=64, **{**SMALL, "tile_k": 32})
    with pytest.raises(ValueError, match="A must hold Float16 for in_dtype='f16', not Float32"):
        half(c, c, c, 64, 64)
    for place in range(3):  # what lies behind them was read and written
        arrays = [np.zeros((32 if index == place else 64, 64), np.float16) for index in range(3)]
        with pytest.raises(RuntimeError, match=r"(A|B|C) has 2048 elements, and the kernel uses 4096"):
            half(*arrays, 64, 64)
        arrays = [array[:32] if index == place else array for index, array in enumerate((c, a, a))]
        with pytest.raises(RuntimeError, match=r"(A|B_shuffled|C) has \d+ elements, and the kernel uses"):
            gemm(*arrays, scales, scales, 64, 64, 128, 64)
    for place, path in ((0, "tdm"), (1, "tdm"), (0, "vgpr"), (1, "vgpr")):
        given = [scales[:63] if index == place else scales for index in range(2)]
        with pytest.raises(RuntimeError, match=f"scale_{'ab'[place]} has 504 elements, and the kernel uses 512"):
            compile_fp8fp4_gemm(K=256, **SMALL, scale_load_path=path)(c, a, a, *given, 64, 64, 128, 64)
    wide, half_c = np.zeros((64, 256), np.uint8), c.astype(np.float16)
    for sizes, message in (((127, 2), "scale_a has 127 bytes, and the kernel uses 128"),
                           ((128, 1), "scale_b has 1 elements, and the kernel uses 2")):  # fmt: skip
        of_blocks = [np.zeros(size, np.uint8) for size in sizes]
        with pytest.raises(RuntimeError, match=message):
            launch_gemm_a8w8(half_c, wide, wide, *of_blocks, 64, None, 64, 256, 64, 256, 64, 64, 64, 128, 2, 2, True,
                             2, 1, 1, True)  # fmt: skip
    with pytest.raises(ValueError, match="tile_n must be a power of two of at most 512, got 96"):
        compile_wmma_gemm_tdm(K=64, tile_n=96)
    monkeypatch.setenv("ARCH", "gfx942")
    with pytest.raises(RuntimeError, match="is for gfx1250, not for gfx942; gfx11 and gfx120x have create_wmma_gemm"):
        half(c.astype(np.float16), c.astype(np.float16), c.astype(np.float16), 64, 64)
