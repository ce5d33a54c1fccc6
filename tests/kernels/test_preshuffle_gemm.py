"""The preshuffle GEMM on the virtual GPU, against float64."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.base.errors import ScheduleWarning
from flydsl.kernels.by_hand.preshuffle_addresses import make_preshuffle_b_layout
from flydsl.kernels.gemm.fp8_gemm import preshuffle_b
from flydsl.kernels.gemm.preshuffle_gemm import compile_preshuffle_gemm, pack_int4, shuffle_weight
from tests.support import random_data
from tests.support.turns import in_turns

FP8 = {"gfx942": ml_dtypes.float8_e4m3fnuz, "gfx950": ml_dtypes.float8_e4m3fn}
OUT = {"fp16": np.float16, "bf16": ml_dtypes.bfloat16}
ROUNDING = {"fp16": 2.0**-10, "bf16": 2.0**-7}
SMALL: dict[str, Any] = {"tile_m": 32, "tile_n": 64, "tile_k": 64}

ACTIVATIONS: dict[str, Any] = {
    "none": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "gelu": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
}


def element(in_dtype: str, arch: str) -> Any:
    if in_dtype == "fp8":
        return FP8[arch]
    return {"fp16": np.float16, "bf16": ml_dtypes.bfloat16}.get(in_dtype, np.int8)


def check(
    m: int, n: int, k: int, in_dtype: str = "fp16", out_dtype: str = "fp16", arch: str = "gfx942", **options: Any
):
    """Run one product on random data and compare every element; rows beside C must stay as they were."""
    rng, dtype = random_data.generator(), element(in_dtype, arch)
    scale = 8 if in_dtype in ("int8", "int4") else 1
    a, b = ((rng.standard_normal((rows, k)) * scale).astype(dtype) for rows in (m, n))
    if in_dtype == "int4":
        b = rng.integers(-8, 8, (n, k), dtype=np.int8)
    sa, sb, bias = (rng.uniform(0.5, 1.5, count).astype(np.float32) / scale for count in (m, n, n))
    padded = np.full((m + 8, n), np.nan, OUT[out_dtype])
    c = padded[4 : 4 + m]
    gemm = compile_preshuffle_gemm(N=n, K=k, in_dtype=in_dtype, out_dtype=out_dtype, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScheduleWarning)  # the hints fit every tile
        gemm(c, a, pack_int4(shuffle_weight(b)) if in_dtype == "int4" else shuffle_weight(b), sa, sb, bias, m, n)

    expected = a.astype(np.float64) @ b.astype(np.float64).T
    if in_dtype in ("fp8", "int8", "int4"):
        expected *= np.outer(sa.astype(np.float64), sb)
    epilogue = options.get("epilogue", "none")
    if epilogue.startswith("bias"):
        expected += bias
    expected = ACTIVATIONS[epilogue.removeprefix("bias").removeprefix("_") or "none"](expected)
    bound = ROUNDING[out_dtype] * np.abs(expected) + 1e-5 * np.abs(expected).max() + 1e-6
    assert (np.abs(c.astype(np.float64) - expected) <= bound).all()
    outside = np.concatenate([padded[:4], padded[4 + m :]]).astype(np.float32)
    assert np.isnan(outside).all(), "wrote outside C"


def test_example_size() -> None:
    check(512, 512, 512)


@pytest.mark.parametrize("m", [1, 7, 31, 33, 1000])
def test_any_number_of_rows(m: int) -> None:
    check(m, 128, 256, **SMALL)


def test_stores_in_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """C by way of LDS, in rows, where the tiles of A were: of each builder that has the option."""
    monkeypatch.setenv("ARCH", "gfx950")
    rows = {"tile_m": 32, "tile_n": 128, "tile_k": 64, "use_cshuffle_epilog": True}
    check(45, 256, 192, **rows)
    check(45, 128, 192, in_dtype="bf16", out_dtype="bf16", **rows, use_async_copy=True)
    with flyc.sanitize("bounds", "race", "uninit", "barrier", "async"):
        check(20, 128, 128, **rows)


def test_older_names(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """The builders of 0.2.2, found under the paths that they had there, and their orders of arguments."""
    older = importlib.import_module("kernels.preshuffle_gemm")
    compile_preshuffle_gemm_a8, compile_preshuffle_gemm_v2 = (
        older.compile_preshuffle_gemm_a8,
        older.compile_preshuffle_gemm_v2,
    )
    monkeypatch.setenv("ARCH", "gfx950")
    tiles = {"tile_m": 32, "tile_n": 64, "tile_k": 128}
    a, b = (rng.standard_normal((count, 256)).astype(FP8["gfx950"]) for count in (20, 64))
    scales = [rng.uniform(0.5, 1.5, count).astype(np.float32) for count in (20, 64)]
    expected = (a.astype(np.float64) @ b.astype(np.float64).T) * np.outer(*scales)
    found = np.empty((2, 20, 64), np.float16)
    compile_preshuffle_gemm_a8(N=64, K=256, **tiles)(found[0], a, shuffle_weight(b), *scales, scales[1], 20, 64)
    gemm = compile_preshuffle_gemm_v2(N=64, K=256, out_dtype="fp16", **tiles)
    gemm(found[1], a, shuffle_weight(b), *scales, 20, 64)
    for c in found:
        assert (np.abs(c - expected) <= 2.0**-10 * np.abs(expected) + 1e-4).all()
    assert compile_preshuffle_gemm_a8(N=64, K=256, tile_m=32, tile_n=64, tile_k=256, in_dtype="fp6", out_dtype="bf16")
    with pytest.raises(ValueError, match="use_cshuffle_epilog goes without an epilogue, and 'bias' is asked for"):
        compile_preshuffle_gemm_a8(N=64, K=256, **tiles, use_cshuffle_epilog=True, epilogue="bias")


@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize("in_dtype", ["bf16", "fp8"])
def test_copies_without_registers(arch: str, in_dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of one chunk and of several, an even and an odd number of them; reads wait for what was copied."""
    monkeypatch.setenv("ARCH", arch)
    deep = {"tile_m": 32, "tile_n": 64, "tile_k": 256, "use_async_copy": True, "in_dtype": in_dtype, "arch": arch}
    for shape, tile_k in in_turns((((40, 128, 768), 256), ((7, 64, 256), 64 if in_dtype == "bf16" else 128))):
        check(*shape, **{**deep, "tile_k": tile_k})
    with flyc.sanitize("race", "barrier", "async"):
        check(20, 64, 512, **deep)


@pytest.mark.parametrize("tile_m", [32, 128])
@pytest.mark.parametrize("turns", [1, 2, 3, 4])
def test_blocks_of_rows_where_an_instruction_covers_a_tile(
    tile_m: int, turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fewer blocks than a wave holds and more; the next tile has landed before its first block is read."""
    monkeypatch.setenv("ARCH", "gfx950")
    one = {"tile_m": tile_m, "tile_n": 64, "tile_k": 128, "use_async_copy": True, "in_dtype": "fp8", "arch": "gfx950"}
    with flyc.sanitize("race", "barrier", "async"):
        check(tile_m + 3, 64, 128 * turns, **one)


@pytest.mark.parametrize("turns", [1, 2, 3, 4, 5])
def test_any_number_of_tiles_along_k(turns: int) -> None:
    check(40, 64, 64 * turns, **SMALL)


@pytest.mark.parametrize(
    ("in_dtype", "arch"),
    [(dtype, arch) for dtype in ("bf16", "int8") for arch in ("gfx90a", "gfx942", "gfx950")]
    + [(dtype, arch) for dtype in ("fp8", "int4") for arch in ("gfx942", "gfx950")],
)
def test_elements(in_dtype: str, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    check(37, 128, 384, in_dtype, "bf16", arch, tile_m=32, tile_n=64, tile_k=128)


@pytest.mark.parametrize(
    "options",
    [
        {"lds_stage": 1},
        {"lds_stage": 1, "tile_k": 32, "tile_m": 64},
        {"tile_k": 32, "tile_m": 64},
        {"tile_k": 128},
        {"tile_n": 128},
        {"preload": False},
        {"enable_scheduler": False},
        {"xcd_swizzle": 3},
        {"waves_per_eu": 2},
        {"preload": (2, 3)},
    ],
    ids=str,
)
def test_options(options: dict[str, Any]) -> None:
    check(100, 128, 384, **{**SMALL, **options})


@pytest.mark.parametrize("options", [{}, {"lds_stage": 1}, {"tile_k": 32, "tile_m": 64}, {"preload": False}], ids=str)
def test_stages_of_lds_do_not_race(options: dict[str, Any]) -> None:
    with flyc.sanitize("race", "barrier"):
        check(40, 64, 320, **{**SMALL, **options})


@pytest.mark.parametrize("tile_k", [32, 64, 128])
def test_the_swizzle_leaves_no_bank_conflicts(tile_k: int) -> None:
    gemm = compile_preshuffle_gemm(N=128, K=256, tile_k=tile_k, out_dtype="fp16")
    a, c, numbers = np.zeros((128, 256), np.float16), np.zeros((128, 128), np.float16), np.zeros(128, np.float32)
    report = flyc.lds_report(gemm, c, a, a, numbers, numbers, numbers, 128, 128)
    assert {(row.kind, row.bits) for row in report.rows} == {("write", 128), ("read", 128)}
    assert report.extra_cycles == 0, str(report)


def test_rows_of_c_have_no_bank_conflicts() -> None:
    gemm = compile_preshuffle_gemm(N=128, K=64, tile_m=32, out_dtype="fp16", use_cshuffle_epilog=True)
    a, b, c = (np.zeros(shape, np.float16) for shape in ((32, 64), (128, 64), (32, 128)))
    numbers = np.zeros(128, np.float32)
    report = flyc.lds_report(gemm, c, a, b, numbers, numbers, numbers, 32, 128)
    assert ("write", 64) in {(row.kind, row.bits) for row in report.rows}
    assert report.extra_cycles == 0, str(report)


@pytest.mark.parametrize("epilogue", ["relu", "bias", "bias_silu", "bias_gelu"])
def test_epilogues(epilogue: str) -> None:
    check(50, 64, 128, epilogue=epilogue, **SMALL)


def test_a_target_without_the_instruction_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx90a")
    with pytest.raises(ValueError, match="no matrix instruction of 16 rows for fp8"):
        check(32, 64, 64, "fp8", tile_m=64, tile_n=64, tile_k=64, arch="gfx942")


def test_shuffled_weight_is_the_documented_permutation() -> None:
    for dtype, piece in ((np.float16, 8), (np.int8, 16)):
        n, k = 48, 96
        b = np.arange(n * k).reshape(n, k).astype(dtype)
        row, column = np.divmod(np.arange(n * k), k)
        place = ((row // 16) * (k // piece) + column // piece) * 16 * piece + (row % 16) * piece + column % piece
        expected = np.empty(n * k, dtype)
        expected[place] = b.ravel()
        np.testing.assert_array_equal(shuffle_weight(b).ravel(), expected)
        batch = np.stack([b, b[::-1]]).reshape(1, 2, n, k)
        np.testing.assert_array_equal(shuffle_weight(batch)[0, 1], shuffle_weight(b[::-1]))


@pytest.mark.parametrize(("dtype", "piece"), [(np.float16, 8), (np.int8, 16), (np.float32, 4)])
def test_shuffled_weight_by_columns_of_blocks(dtype: Any, piece: int) -> None:
    """Blocks of 16 rows and 64 bytes are what they are by rows, and follow each other along N first."""
    n, k = 48, 128
    b = (np.arange(n * k) % 2039).reshape(n, k).astype(dtype)
    row, column = np.divmod(np.arange(n * k), k)
    block = column // (4 * piece) * (n // 16) + row // 16
    place = ((block * 4 + column // piece % 4) * 16 + row % 16) * piece + column % piece
    expected = np.empty(n * k, dtype)
    expected[place] = b.ravel()
    found = shuffle_weight(b, k_major=True)
    assert found.shape == b.shape
    np.testing.assert_array_equal(found.ravel(), expected)
    blocks = [weight.reshape(*grid, 64 * piece) for weight, grid in (
        (found, (k // (4 * piece), 3)), (shuffle_weight(b), (3, k // (4 * piece))),
    )]  # fmt: skip
    np.testing.assert_array_equal(blocks[0], blocks[1].swapaxes(0, 1))
    layout = make_preshuffle_b_layout(n, k, 16 // piece, k_major=True)
    assert [fx.get_scalar(layout((i, j))) for i in (0, 17, 47) for j in (0, 9, 70, 127)] == [
        int(place[i * k + j]) for i in (0, 17, 47) for j in (0, 9, 70, 127)
    ]
    batch = np.stack([b, b[::-1]])
    np.testing.assert_array_equal(shuffle_weight(batch, k_major=True)[1], shuffle_weight(b[::-1], k_major=True))


def test_weights_that_are_no_blocks() -> None:
    """FlyDSL asserts that they are; those who looked for a ValueError have it too."""
    for error in (AssertionError, ValueError):
        for shape in ((8, 32), (16, 48), (32,)):
            with pytest.raises(error, match="rows in blocks of 16 and columns in blocks of 32; its shape is"):
                shuffle_weight(np.zeros(shape, np.int8))
        with pytest.raises(error, match=r"blocks of 64 of them; its shape is \(16, 96\)"):
            shuffle_weight(np.zeros((16, 96), np.int8), k_major=True)
        with pytest.raises(error, match=r"a weight of bytes has columns in blocks of 64; its shape is \(16, 96\)"):
            preshuffle_b(np.zeros((16, 96), np.int8))
    b = np.arange(32 * 64, dtype=np.uint8).reshape(32, 64)
    np.testing.assert_array_equal(preshuffle_b(b), shuffle_weight(b))


@pytest.mark.torch
def test_shuffled_tensors(torch: Any) -> None:
    b = np.arange(32 * 128).reshape(32, 128).astype(np.int8)
    for columns in (False, True):
        found = shuffle_weight(torch.from_numpy(b), k_major=columns)
        assert found.is_shuffled
        np.testing.assert_array_equal(found.numpy(), shuffle_weight(b, k_major=columns))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"N": 100}, "N must be a positive multiple of 64, got 100"),
        ({"K": 96}, "K must be a positive multiple of 64, got 96"),
        ({"tile_n": 96}, "tile_n must be a positive multiple of 64, got 96"),
        ({"tile_m": 16}, "tile_m * tile_k * bytes of an element must be a positive multiple of 4096, got 2048"),
        ({"tile_k": 16}, "tile_k * bytes of an element must be a positive multiple of 64, got 32"),
        ({"tile_k": 96, "K": 192, "tile_m": 64}, "must be a power of two"),
        ({"in_dtype": "int4_bf16"}, "have compile_preshuffle_gemm_w4a16"),
        ({"preload": (1, -1)}, "a pair of counts that are not negative"),
        ({"use_cshuffle_epilog": True, "tile_m": 16, "tile_k": 128}, "a tile_m that is a multiple of 32, got 16 x 64"),
        ({"in_dtype": "f16"}, "in_dtype must be one of fp16, bf16, fp8, int8, int4"),
        ({"out_dtype": "f32"}, "out_dtype must be one of fp16, bf16"),
        ({"epilogue": "tanh"}, "epilogue must be one of none, relu, silu, gelu"),
        ({"lds_stage": 3}, "lds_stage must be one of 1, 2, got 3"),
        ({"xcd_swizzle": -1}, "xcd_swizzle is a number of rows of tiles that a chiplet works through together"),
        ({"use_async_copy": True, "lds_stage": 1}, "give lds_stage=2 and preload=True, or leave it out"),
        ({"preload": (2, 2), "enable_scheduler": False}, "need enable_scheduler=True; got (2, 2)"),
        ({"waves_per_eu": 99}, "waves_per_eu must be a number from 1 to 16, or None; got 99"),
    ],
)
def test_bad_choices_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as error:
        compile_preshuffle_gemm(**{"N": 128, "K": 128, **SMALL, **change})
    assert message in str(error.value)


def test_bad_calls_are_refused() -> None:
    gemm = compile_preshuffle_gemm(N=128, K=128, **SMALL)
    x, ones = np.zeros((128, 128), np.float16), np.ones(128, np.float32)
    with pytest.raises(ValueError, match="compiled for N = 128, and is called with N = 256"):
        gemm(x, x, x, ones, ones, ones, 128, 256)
    with pytest.raises(ValueError, match="A must hold Float16 for this target and in_dtype, not Float32"):
        gemm(x, x.astype(np.float32), x, ones, ones, ones, 128, 128)
    with pytest.raises(ValueError, match="shape is"):
        shuffle_weight(np.zeros((8, 32), np.float16))
