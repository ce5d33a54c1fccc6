"""The GEMMs of RDNA on virtual gfx11 and gfx12, against float64; memory around the matrices is poisoned or watched."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.kernels.gemm.rdna_f16_gemm import create_wmma_gemm_module, pick_tile, rdna3_gemm_autotuned
from flydsl.kernels.gemm.rdna_fp8_preshuffle_gemm import (
    compile_fp8_gemm,
    fp8_quantize_per_channel,
    fp8_quantize_per_token,
    preshuffle_b_fp8,
)
from flydsl.kernels.gemm.wmma.rdna_plan import CHIPS, TILES, RdnaPlan, estimated_clocks
from tests.support import random_data
from tests.support.turns import in_turns

TYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}
ROUNDING = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24}
SMALL: dict[str, Any] = {"reg_m": 1, "reg_n": 2, "reg_k": 2, "waves_m": 2, "waves_n": 2}
ARCHS = ("gfx1100", "gfx1201")


def poisoned(rows: int, columns: int, stride: int, dtype: Any) -> np.ndarray[Any, Any]:
    """Random numbers with NaN behind every row and behind the last one; rows lie ``stride`` apart."""
    whole = np.full((rows + 3, stride), np.nan, dtype)
    whole[:rows, :columns] = random_data.generator().standard_normal((rows, columns)).astype(dtype)
    return whole[:rows, :columns]


def error_bound(a: Any, b: Any, expected: Any, out: str) -> Any:
    """Rounding of the result, and of a sum of K products in f32."""
    terms = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)).T
    return ROUNDING[out] * np.abs(expected) + a.shape[1] * 2.0**-24 * terms + 1e-30


def check(m: int, n: int, k: int, in_dtype: str = "f16", out_dtype: str = "f32", pad: int = 0, **options: Any) -> Any:
    """Run one product and compare every element; ``pad`` is by how much rows lie further apart than they are long."""
    a, b = (poisoned(rows, k, k + pad, TYPES[in_dtype]) for rows in (m, n))
    canvas = np.full((m + 4, n + pad), 77, TYPES[out_dtype])
    c = canvas[2 : 2 + m, :n]
    strides = {"lda": k + pad, "ldb": k + pad, "ldc": n + pad} if pad else {}
    gemm, *_ = create_wmma_gemm_module(m, n, k, in_dtype, out_dtype, **strides, **options)
    gemm(c, a, b)
    expected = a.astype(np.float64) @ b.astype(np.float64).T
    assert (np.abs(c.astype(np.float64) - expected) <= error_bound(a, b, expected, out_dtype)).all()
    canvas[2 : 2 + m, :n] = 77
    assert (canvas.astype(np.float32) == 77).all(), "wrote outside C"


@pytest.mark.parametrize(("arch", "in_dtype", "out_dtype"), [
    ("gfx1100", "bf16", "bf16"), ("gfx1100", "f16", "f32"), ("gfx1201", "f16", "f16"), ("gfx1201", "bf16", "f32"),
])  # fmt: skip
def test_any_shape(
    arch: str, in_dtype: str, out_dtype: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", arch)
    m, n, k = rng.integers(1, 80), rng.integers(1, 150), 8 * rng.integers(1, 30)
    check(int(m), int(n), int(k), in_dtype, out_dtype, pad=8 * int(rng.integers(0, 3)), **SMALL)


@pytest.mark.parametrize("arch", ARCHS)
def test_tiles_of_the_default_size(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    _, *tile = create_wmma_gemm_module(256, 256, 512)
    assert tile == [128, 128, 32]
    for shape, dtype, options in in_turns(
        (((256, 256, 512), "bf16", {}), ((129, 128, 96), "f16", {"persistent_wgs": 1}))
    ):
        check(*shape, dtype, dtype, **options)


@pytest.mark.parametrize("turns", [1, 2, 3, 4])
def test_any_number_of_tiles_along_k(turns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", ARCHS[turns % 2])
    check(32, 64, 32 * turns, **SMALL)


@pytest.mark.parametrize(
    "options",
    [
        {"reg_k": 4},
        {"reg_k": 1, "reg_m": 2},
        {"persistent_wgs": 3},
        {"group_m": 2},
        {"lds_layout": "pad"},
        {"a_k_pad": 16, "persistent_wgs": 2},
        {"lds_layout": "kblock", "sched_hint": False},
    ],
    ids=str,
)
def test_options(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx1201")
    check(100, 130, 136, **{**SMALL, **options})


@pytest.mark.parametrize("arch", ARCHS)
def test_under_the_sanitizers(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    with flyc.sanitize():
        check(40, 72, 168, "bf16", "bf16", persistent_wgs=2, **SMALL)


@pytest.mark.parametrize("arch", ARCHS)
def test_no_bank_conflicts(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    a, c = np.zeros((128, 256), np.float16), np.zeros((128, 128), np.float16)
    for reg_k in in_turns((1, 2, 4) if arch == "gfx1201" else (2,)):
        gemm, *_ = create_wmma_gemm_module(128, 128, 256, "f16", "f16", reg_m=2, reg_n=2, reg_k=reg_k)
        report = flyc.lds_report(gemm, c, a, a)
        assert {(row.kind, row.bits) for row in report.rows} == {("write", 128), ("read", 128)}
        assert report.extra_cycles == 0, str(report)


# Rounding at random ----------------------------------------------------------------------------


def test_rounding_at_random_is_fair_and_repeatable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum 1 + 2**-7 * f lies a fraction f on the way between two bf16: it goes up that often."""
    monkeypatch.setenv("ARCH", "gfx1201")
    fraction = 0.3125
    a, b = np.zeros((96, 16), ml_dtypes.bfloat16), np.zeros((128, 16), ml_dtypes.bfloat16)
    a[:, 0], a[:, 1], b[:, :2] = 1, 2.0**-7 * fraction, 1
    a[5, 0], a[6, 0] = np.nan, np.inf
    gemm, *_ = create_wmma_gemm_module(96, 128, 16, rounding="rs", **SMALL)
    first, again, other = (np.zeros((96, 128), ml_dtypes.bfloat16) for _ in range(3))
    gemm(first, a, b)
    gemm(again, a, b, sr_seed=0)
    gemm(other, a, b, None, 1)
    assert first.tobytes() == again.tobytes()
    assert np.isnan(first[5].astype(np.float32)).all() and np.isinf(first[6].astype(np.float32)).all()
    ups = []
    for result in (first, other):
        rest = np.delete(result, [5, 6], axis=0).astype(np.float64)
        assert set(np.unique(rest)) == {1, 1 + 2.0**-7}
        ups.append(rest > 1)
        assert abs(ups[-1].mean() - fraction) < 5 * np.sqrt(fraction * (1 - fraction) / rest.size)
    agree = (ups[0] == ups[1]).mean()
    expected = fraction**2 + (1 - fraction) ** 2
    assert abs(agree - expected) < 5 * np.sqrt(expected * (1 - expected) / ups[0].size), "seeds are not independent"
    wide, *_ = create_wmma_gemm_module(96, 128, 16, rounding="rs", reg_m=2, reg_n=2, reg_k=1, waves_m=1, waves_n=2)
    wide(again, a, b)
    assert first.tobytes() == again.tobytes(), "the tile decides"


# The choice of a tile --------------------------------------------------------------------------


def test_the_model_chooses_by_the_shape() -> None:
    for arch in CHIPS:
        large = pick_tile(8192, 8192, 4096, arch)
        assert large["reg_m"] * large["reg_n"] == 16, "products bound it: the most for each byte"
        few = pick_tile(16, 8192, 4096, arch)
        assert few["reg_m"] * few["waves_m"] == 1, "no more rows than there are"
        small = RdnaPlan(512, 512, 4096, **pick_tile(512, 512, 4096, arch))
        assert small.grid[0] * small.grid[1] >= 16, "all of the GPU works"
    names = ("reg_m", "reg_n", "reg_k", "waves_m", "waves_n")
    plans = [RdnaPlan(777, 1234, 512, **dict(zip(names, tile, strict=True))) for tile in TILES]
    best = RdnaPlan(777, 1234, 512, **pick_tile(777, 1234, 512, "gfx1201"))
    assert estimated_clocks(best, CHIPS["gfx1201"]) == min(estimated_clocks(plan, CHIPS["gfx1201"]) for plan in plans)


def test_tuned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx1100")
    a, b = (poisoned(rows, 64, 64, np.float16) for rows in (30, 40))
    c = np.zeros((30, 40), np.float32)
    rdna3_gemm_autotuned(c, a, b, in_dtype="f16", out_dtype="f32")
    expected = a.astype(np.float64) @ b.astype(np.float64).T
    assert (np.abs(c - expected) <= error_bound(a, b, expected, "f32")).all()


# Eight bits ------------------------------------------------------------------------------------


def check_fp8(m: int, n: int, k: int, **options: Any) -> None:
    rng = random_data.generator()
    a, scale_a = fp8_quantize_per_token(rng.standard_normal((m, k)))
    b, scale_b = fp8_quantize_per_channel(rng.standard_normal((k, n)))
    around = np.full((m + 2, k), np.nan, ml_dtypes.float8_e4m3fn)
    around[:m] = a
    canvas = np.full((m + 4, n), 77, ml_dtypes.bfloat16)
    c = canvas[2 : 2 + m]
    gemm = compile_fp8_gemm(M=m, N=n, K=k, **options)
    gemm(c, around[:m].view(np.float32), preshuffle_b_fp8(b).view(np.float32), scale_a, scale_b)
    wide_a, wide_b = a.astype(np.float64) * scale_a[:, None], b.astype(np.float64) * scale_b
    expected = wide_a @ wide_b
    bound = (2.0**-8 + 2.0**-22) * np.abs(expected) + k * 2.0**-24 * (np.abs(wide_a) @ np.abs(wide_b))
    assert (np.abs(c.astype(np.float64) - expected) <= bound).all()
    canvas[2 : 2 + m] = 77
    assert (canvas.astype(np.float32) == 77).all(), "wrote outside C"


@pytest.mark.parametrize(("m", "n", "k"), [(32, 128, 128), (32, 128, 256), (32, 256, 256)])
def test_fp8(m: int, n: int, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx1201")
    check_fp8(m, n, k)


@pytest.mark.parametrize(("tile_m", "unroll"), [(16, 0), (64, 2), (32, 3), (48, 0), (128, 1)])
def test_fp8_of_any_shape(tile_m: int, unroll: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx1201")
    m, n, k = rng.integers(1, 100), 16 * rng.integers(1, 20), 32 * rng.integers(1, 12)
    check_fp8(int(m), int(n), int(k), tile_m=tile_m, k_unroll=unroll or None)


def test_fp8_of_other_tiles(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx1201")
    for tile_n in in_turns((64, 256)):  # one column of a lane at a time, and pairs of pairs
        check_fp8(40, 16 * int(rng.integers(1, 20)), 128, tile_n=tile_n)
    for tiles in (2, 9):  # of 64 elements: fewer than are on their way, and the loop with a part of a slab behind it
        check_fp8(20, 64, 64 * tiles, tile_m=16, tile_k=64)
    with flyc.sanitize():
        check_fp8(37, 144, 160)


@pytest.mark.parametrize("tile_m", [16, 32, 48, 128])
def test_no_bank_conflicts_of_fp8(tile_m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx1201")
    x, c, scales = np.zeros((128, 64), np.float32), np.zeros((128, 128), ml_dtypes.bfloat16), np.ones(128, np.float32)
    report = flyc.lds_report(compile_fp8_gemm(M=128, N=128, K=256, tile_m=tile_m), c, x, x, scales, scales)
    assert {(row.kind, row.bits) for row in report.rows} == {("write", 128), ("read", 128)}
    assert report.extra_cycles == 0, str(report)


# Refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"K": 100}, "K must be a positive multiple of 8, got 100"),
        ({"M": 0}, "M must be a positive multiple of 1, got 0"),
        ({"in_dtype": "f32"}, "in_dtype must be one of bf16, f16, fp16, got 'f32'"),
        ({"out_dtype": "i8"}, "out_dtype must be one of"),
        ({"reg_k": 3}, "reg_k must be one of 1, 2, 4, 8, got 3"),
        ({"reg_m": 1, "reg_k": 1}, "reg_m * reg_k must be a multiple of waves_n"),
        ({"waves_m": 8, "waves_n": 8}, "waves_m * waves_n must be at most 32"),
        ({"reg_k": 8, "waves_m": 4}, "bytes of LDS, and 65536 are there"),
        ({"reg_m": 8}, "registers of a lane, and 256 are there"),
        ({"waves_m": 8, "waves_n": 4, "reg_m": 4, "reg_n": 8, "reg_k": 1}, "and 192 are there"),
        ({"rounding": "rz"}, "rounding must be one of rn, rs"),
        ({"rounding": "rs", "out_dtype": "f16"}, "rounding='rs' is for out_dtype='bf16'"),
        ({"lda": 100}, "lda is at least 256 and a multiple of 8, got 100"),
        ({"ldc": 100}, "ldc is at least 256, got 100"),
        ({"lds_layout": "rows"}, "lds_layout must be one of exchange, pad, kblock, got 'rows'"),
        ({"a_k_pad": 4}, "a_k_pad is a multiple of 8 elements, which an access takes; got 4"),
        ({"b_k_pad": 8, "lds_layout": "kblock"}, "a_k_pad and b_k_pad are of lds_layout='pad', and it is 'kblock'"),
        ({"stagger": 2}, "stagger = 2 is not offered"),
        ({"waves_per_eu": -1}, "waves_per_eu must be a number from 1 to 16, or None; got -1"),
    ],
)
def test_bad_choices_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as error:
        create_wmma_gemm_module(**{"M": 256, "N": 256, "K": 256, **change})
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"N": 100}, "N must be a positive multiple of 16, got 100"),
        ({"K": 48}, "K must be a positive multiple of 32, got 48"),
        ({"tile_n": 96}, "tile_n must be a positive multiple of 64, got 96"),
        ({"tile_m": 128, "k_unroll": 8}, "k_unroll can be 5 at most, got 8"),
        ({"tile_m": 256}, "take a smaller tile"),
        ({"tile_m": 64, "tile_n": 64, "tile_k": 544, "K": 544}, "take 69632 bytes of LDS, and 65536 are there"),
    ],
)
def test_bad_choices_of_fp8_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as error:
        compile_fp8_gemm(**{"M": 256, "N": 256, "K": 256, **change})
    assert message in str(error.value)


def test_other_targets_and_types_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    x, c = np.zeros((32, 64), np.float16), np.zeros((32, 32), np.float32)
    gemm, *_ = create_wmma_gemm_module(32, 32, 64, "f16", "f32", **SMALL)
    monkeypatch.setenv("ARCH", "gfx942")
    with pytest.raises(RuntimeError, match="for gfx11 and gfx120x"):
        gemm(c, x, x)
    monkeypatch.setenv("ARCH", "gfx1201")
    with pytest.raises(ValueError, match="A must hold Float16 for in_dtype='f16', not Float32"):
        gemm(c, x.astype(np.float32), x)
    with pytest.raises(ValueError, match="C must hold Float32 for out_dtype='f32', not Float16"):
        gemm(c.astype(np.float16), x, x)
    for short in ((c[:16], x, x), (c, x[:16], x), (c, x, x[:16])):
        with pytest.raises(RuntimeError, match=r"(C|A|B_T) has \d+ elements, and the kernel uses"):
            gemm(*short)
    given = [np.zeros((32, 128), ml_dtypes.bfloat16), np.zeros((32, 32), np.uint8), np.zeros((128, 32), np.uint8),
             np.ones(32, np.float32), np.ones(128, np.float32)]  # fmt: skip
    narrow = compile_fp8_gemm(M=32, N=128, K=32)
    for place, array in enumerate(given):
        short = [array[:16] if index == place else other for index, other in enumerate(given)]
        with pytest.raises(RuntimeError, match=r"(C|A|B_shuffled|scale_a|scale_b) has \d+ elements, and the kernel"):
            narrow(*short)
        if array.dtype != np.uint8:  # matrices are bytes in any type
            other = [array.astype(np.float16) if index == place else one for index, one in enumerate(given)]
            with pytest.raises(TypeError, match="an array holds Float16, and the kernel was built for"):
                narrow(*other)
    monkeypatch.setenv("ARCH", "gfx1100")
    with pytest.raises(RuntimeError, match="gfx12"):
        gemm = compile_fp8_gemm(M=32, N=128, K=32)
        gemm(c.astype(ml_dtypes.bfloat16), x, x, c[0], c[0])
