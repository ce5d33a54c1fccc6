"""Half-precision products through LDS on virtual GPUs, against float64: shares of K, layouts, tails, limits."""

from __future__ import annotations

import importlib
import threading
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.compiler as flyc
from flydsl.kernels.blocks import counters
from flydsl.kernels.gemm import hgemm_splitk
from flydsl.kernels.gemm.hgemm_splitk import (
    compile_hgemm_kernel,
    compile_small_m_hgemm_kernel,
    gemm_a16w16,
    hgemm_splitk_,
    iter_small_m_registry_configs,
    small_m_kernel_name,
)
from flydsl.kernels.gemm.lds_plan import COUNTED_TILES, LdsPlan, choose_tiles
from tests.support import random_data

TYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}
HALF_ULP = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24}
ARCHS = ("gfx942", "gfx950")


def matrix(rows: int, columns: int, dtype: Any, padding: int = 0) -> Any:
    """Random numbers in lines that begin at multiples of 16 bytes; what lies between the lines is not a number."""
    line = -(-columns // 8) * 8 + padding
    raw = np.full(rows * line * 2 + 16, 0xFF, np.uint8)
    start = -raw.ctypes.data % 16
    found = raw[start : start + rows * line * 2].view(dtype).reshape(rows, line)[:, :columns]
    found[...] = random_data.generator().uniform(-1, 1, (rows, columns)).astype(dtype)
    return found


def require_close(c: Any, a: Any, b: Any, bias: Any, dtype: str, shares: int = 1) -> None:
    """f32 sums of exact products, each share rounded once and added with a rounding: what the types allow, no more."""
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    expected, most = wide_a @ wide_b, np.abs(wide_a) @ np.abs(wide_b)
    if bias is not None:
        expected, most = expected + bias.astype(np.float64), most + np.abs(bias.astype(np.float64))
    sums = 1.01 * np.sqrt(a.shape[1]) * 2.0**-23 * most
    roundings = HALF_ULP[dtype] * (np.abs(expected) if shares == 1 else 2 * shares * most / np.sqrt(shares))
    assert (np.abs(c.astype(np.float64) - expected) <= roundings + sums + 1e-6).all()


def run_built(
    kernel: Any, m: int, n: int, k: int, dtype: str, shares: int = 1, biased: bool = False, launches: int = 2
) -> None:
    """Launches of a built kernel in a row; rows beside C stay as they were, and so do the counters."""
    kind, rng = TYPES[dtype], random_data.generator()
    a, b, bias = matrix(m, k, kind), matrix(n, k, kind), rng.uniform(-1, 1, n).astype(kind)
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    padded = np.full((m + 8, n), np.nan, kind)
    c, counters = padded[4 : 4 + m], np.zeros((2, 256), np.int32)
    for _ in range(launches):
        kernel(c, a, b, bias, m, *counters)
        require_close(c, a, b.T, bias if biased else None, dtype, shares)
    assert not counters.any(), "the counters are zero for the next launch"
    assert np.isnan(np.concatenate([padded[:4], padded[4 + m :]]).astype(np.float32)).all(), "wrote outside C"


@pytest.mark.parametrize(
    ("arch", "dtype", "shape", "options"),
    [
        ("gfx950", "f16", (65, 256, 2048), {"TILE_M": 64, "SPLIT_K": 8}),
        ("gfx950", "bf16", (8, 640, 2880), {"TILE_M": 16, "TILE_N": 64, "STAGES": 5, "SPLIT_K": 3,
                                             "BLOCK_M_WARPS": 1, "HAS_BIAS": True}),
        ("gfx942", "bf16", (32, 128, 7168), {"TILE_M": 16, "TILE_N": 64, "TILE_K": 128, "SPLIT_K": 14,
                                             "BLOCK_M_WARPS": 1}),
        ("gfx950", "bf16", (32, 384, 1024), {"TILE_M": 32, "TILE_N": 64, "TILE_K": 256, "STAGES": 3, "SPLIT_K": 4,
                                             "BLOCK_M_WARPS": 1, "BLOCK_N_WARPS": 4}),
        ("gfx942", "f16", (40, 128, 200), {"TILE_M": 32, "TILE_N": 64, "STAGES": 3, "HAS_BIAS": True}),
        ("gfx942", "f16", (40, 128, 1000), {"TILE_M": 32, "TILE_N": 64, "STAGES": 4}),
        ("gfx942", "bf16", (33, 64, 968), {"TILE_M": 32, "TILE_N": 64, "STAGES": 3, "SPLIT_K": 3}),
        ("gfx950", "f16", (33, 64, 328), {"TILE_M": 32, "TILE_N": 64, "STAGES": 3, "SPLIT_K": 4}),
    ],
)  # fmt: skip
def test_shares_of_k(
    arch: str, dtype: str, shape: tuple[int, int, int], options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARCH", arch)
    m, n, k = shape
    kernel = compile_hgemm_kernel(dtype, n, k, **options)
    launches = 1 if m * n * k > 1 << 26 else 2
    run_built(kernel, m, n, k, dtype, options.get("SPLIT_K", 1), options.get("HAS_BIAS", False), launches)


def test_shares_of_k_in_two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which run side by side: with counters that they shared, blocks waited for others for ever."""
    monkeypatch.setenv("ARCH", "gfx942")
    a, weights, found = matrix(16, 1024, np.float16), [matrix(64, 1024, np.float16) for _ in range(2)], {}

    def multiply(number: int) -> None:
        found[number] = [gemm_a16w16(a, weights[number].T, user_kwargs={"split_k": 8}) for _ in range(20)]

    gemm_a16w16(a, weights[0].T, user_kwargs={"split_k": 8})
    threads = [threading.Thread(target=multiply, args=(number,), daemon=True) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    for number, results in found.items():
        for c in results:
            require_close(c, a, weights[number].T, None, "f16", 8)


def test_shares_of_k_in_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches of a stream share both counters of a tile; those that are captured may run side by side, and have their
    own. Where no blocks share K none are made."""
    torch: Any = pytest.importorskip("torch")
    device, capturing, given = 97, [False], []
    monkeypatch.setattr(torch._C, "_cuda_getCurrentRawStream", lambda _: 5, raising=False)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _: SimpleNamespace(synchronize=lambda: None))
    monkeypatch.setattr(counters, "is_capturing", lambda _: capturing[0])
    monkeypatch.setattr(hgemm_splitk, "launcher", lambda _: lambda *arguments: given.append(arguments[5:7]))
    a = SimpleNamespace(is_cuda=True, device=SimpleNamespace(index=device), new_zeros=torch.zeros)
    for split, capturing[0] in ((2, False), (2, False), (2, True), (2, True), (1, False)):
        hgemm_splitk.run(LdsPlan(64, 1024, 32, 64, 64, "fp16", "fp16", 2, split), a, a, a, None, 16, 5)
    assert given.pop() == (a, a)
    assert all(counter.shape == (COUNTED_TILES,) and not counter.any() for pair in given for counter in pair)
    places = [tuple(counter.data_ptr() for counter in pair) for pair in given]
    assert places[0] == places[1] and len({place for pair in places for place in pair}) == 6


@pytest.mark.parametrize("arch", ARCHS)
def test_waves_that_share_a_tile_along_k(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    options: dict[str, Any] = {
        "TILE_M": 16,
        "TILE_N": 64,
        "TILE_K": 128,
        "STAGES": 3,
        "BLOCK_M_WARPS": 1,
        "BLOCK_N_WARPS": 1,
    }
    kernel = compile_hgemm_kernel("bf16", 128, 512, **options, BLOCK_K_WARPS=2)
    for m in (7, 32):
        run_built(kernel, m, 128, 512, "bf16")


def test_the_large_tile_of_gfx950(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    kernel = compile_hgemm_kernel("f16", 256, 320, 256, 256, 64, BLOCK_N_WARPS=4, B_TO_LDS=True)
    run_built(kernel, 300, 256, 320, "f16")


def test_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    kernel = compile_small_m_hgemm_kernel("bf16", 320, 256, TILE_N=64, N_TILE_REPEAT=2, SPLIT_K=2, HAS_BIAS=True)
    run_built(kernel, 9, 320, 256, "bf16", 2, True)
    configs = list(iter_small_m_registry_configs(320, 256))
    assert {"TILE_N": 64, "TILE_K": 128, "SPLIT_K": 2, "BLOCK_N_WARPS": 2} in configs
    assert len({small_m_kernel_name("bf16", 320, 256, **config) for config in configs}) == len(configs)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("layout", ["nn", "nt", "tn", "tt"])
def test_any_layout_and_extent(layout: str, arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Extents are drawn at random, none a multiple of anything; paddings of lines are not numbers."""
    monkeypatch.setenv("ARCH", arch)
    rng = random_data.generator()
    tiles = {"block_m": 64, "block_n": 64, "block_k": 32, "m_waves": 2, "n_waves": 2}
    m, n, k = (int(rng.integers(low, 150)) for low in (1, 2, 33))
    dtype, out = ("bf16", "f32") if layout[0] == "n" else ("f16", "f16")
    a = matrix(m, k, TYPES[dtype], 8) if layout[0] == "n" else matrix(k, m, TYPES[dtype], 8).T
    b = matrix(k, n, TYPES[dtype]) if layout[1] == "n" else matrix(n, k, TYPES[dtype]).T
    bias = rng.uniform(-1, 1, n).astype(TYPES[dtype])
    shares = 2 if out == "f32" else 1
    found = gemm_a16w16(a, b, bias=bias, layout=layout, out_dtype=out,
                        user_kwargs={**tiles, "stages": 2 + shares, "split_k": shares})  # fmt: skip
    assert found.dtype == TYPES[out]
    require_close(found, a, b, bias, out, shares)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("kernels.hgemm_splitk", "hgemm_splitk_"), ("kernels.splitk_hgemm", "compile_hgemm_kernel"),
        ("kernels.small_m_hgemm", "compile_small_m_hgemm_kernel"),
        ("kernels.gemm.gemm_a16w16_gfx950", "gemm_a16w16"), ("kernels.gemm.fp8_gemm_4wave", "compile_fp8_gemm_4w"),
        ("kernels.gemm.fp8_gemm_8wave", "compile_fp8_gemm_8w"), ("kernels.gemm.fp4_gemm_4wave", "compile_fp4_gemm_4w"),
        ("kernels.gemm.mxfp4_preshuffle", "launch_gemm"), ("kernels.preshuffle_gemm", "compile_preshuffle_gemm_a6w4"),
        ("kernels.preshuffle_gemm_v2", "compile_preshuffle_gemm_v2"),
    ],
)  # fmt: skip
def test_paths_of_both_releases(path: str, name: str) -> None:
    assert callable(getattr(importlib.import_module(path), name))


def test_tiles_are_chosen_for_the_shape(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    assert choose_tiles(8192, 8192, 8192, 160 << 10)["tile_m"] == 256
    assert choose_tiles(8192, 8192, 8192, 64 << 10)["tile_m"] == 128, "the larger tile does not fit"
    few = choose_tiles(8, 1024, 8192, 64 << 10)
    assert few["tile_m"] == 16
    assert few["split_k"] > 1
    a, b = (rng.uniform(-1, 1, shape).astype(np.float16) for shape in ((2, 5, 96), (64, 96)))
    c = np.empty((2, 5, 64), np.float16)
    hgemm_splitk_(c, a, b, None, {"SPLIT_K": 2})
    require_close(c.reshape(10, 64), a.reshape(10, 96), b.T, None, "f16", 2)


@pytest.mark.parametrize("tile_m", [32, 64, 128])
@pytest.mark.parametrize(("k", "shares"), [(64, 1), (100, 1), (128, 1), (328, 1), (328, 4)])
def test_a_tile_in_lds_and_one_in_registers(tile_m: int, k: int, shares: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where copies into LDS are narrow: one tile along K, two, more, a short last one, and shares that begin empty."""
    monkeypatch.setenv("ARCH", "gfx942")
    kernel = compile_hgemm_kernel("f16", 64, k, tile_m, 64, 64, SPLIT_K=shares)
    with flyc.sanitize("race", "uninit", "barrier"):
        run_built(kernel, 40, 64, k, "f16", shares)


def test_it_is_clean_under_the_sanitizers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every read of LDS waits for its copy, nothing is overwritten before it is read, and nobody races for C."""
    for arch in ARCHS:
        monkeypatch.setenv("ARCH", arch)
        kernel = compile_hgemm_kernel("f16", 64, 184, 32, 64, 32, STAGES=3, SPLIT_K=2, HAS_BIAS=True)
        with flyc.sanitize("bounds", "race", "uninit", "barrier", "async"):
            run_built(kernel, 20, 64, 184, "f16", 2, True)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(("m", "n", "k"), [(5, 12, 16), (33, 20, 40), (64, 68, 64), (1, 66, 100), (40, 9, 130)])
def test_nothing_behind_the_matrices_is_read(
    m: int, n: int, k: int, arch: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fewer rows than a tile is deep, and last lines that end in the middle of an access of 16 bytes."""
    monkeypatch.setenv("ARCH", arch)
    a, b = np.zeros((m, -(-k // 8) * 8), np.float16), np.zeros((k, -(-n // 8) * 8), np.float16)
    a[:, :k], b[:, :n] = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    turned = np.zeros((n, a.shape[1]), np.float16)
    turned[:, :k] = b[:, :n].T
    want = a[:, :k].astype(float) @ b[:, :n].astype(float)
    for given, layout in ((b[:, :n], "nn"), (turned[:, :k].T, "nt")):
        with flyc.sanitize("bounds"):
            found = gemm_a16w16(a[:, :k], given, layout=layout)
        assert np.abs(found.astype(float) - want).max() <= 2e-3 * np.abs(want).max()


@pytest.mark.parametrize("arch", ARCHS)
def test_banks_do_not_collide(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    a, b, c, z = (np.zeros(shape, np.float16) for shape in ((64, 128), (64, 128), (64, 64), 256))
    for tile_k in (32, 64, 128):
        kernel = compile_hgemm_kernel("f16", 64, 128, 64, 64, tile_k)
        report = flyc.lds_report(kernel, c, a, b, c[0], 64, z.astype(np.int32), z.astype(np.int32))
        assert [row.worst for row in report.rows] == [0] * len(report.rows), f"{tile_k}\n{report}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"TILE_M": 24}, "tile_m must be a positive multiple of 32, got 24"),
        ({"TILE_K": 96}, "tile_k must be a power of two, got 96"),
        ({"STAGES": 1}, "a ring has at least 2 stages"),
        ({"BLOCK_M_WARPS": 8, "BLOCK_N_WARPS": 4}, "at most 16 waves; 8 x 4 x 1 are 32"),
        ({"SPLIT_K": 9}, "K has 8 tiles of 64; use split_k of at most that"),
        ({"TILE_N": 96}, "n must be a multiple of TILE_N = 96, got 128; gemm_a16w16 takes any n"),
        ({"TILE_M": 16, "TILE_N": 64, "TILE_K": 32, "BLOCK_M_WARPS": 1, "BLOCK_N_WARPS": 2, "BLOCK_K_WARPS": 2},
         "tile_k must be a positive multiple of 64, got 32"),
        ({"TILE_M": 64, "TILE_N": 64, "TILE_K": 32, "BLOCK_M_WARPS": 4, "BLOCK_N_WARPS": 4},
         None),
        ({"B_TO_LDS": False}, "B_TO_LDS = False is not offered: both operands pass through LDS"),
    ],
)  # fmt: skip
def test_limits_say_what_would_do(options: dict[str, Any], message: str | None) -> None:
    if message is None:
        assert compile_hgemm_kernel("f16", 128, 512, **options)
        return
    with pytest.raises(ValueError, match=message):
        compile_hgemm_kernel("f16", 128, 512, **options)


def test_arrays_that_do_not_fit_are_refused(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    a, b = np.zeros((8, 64), np.float16), np.zeros((64, 32), np.float16)
    for change, message in (
        ({"layout": "nx"}, "layout must be nn, nt, tn or tt"),
        ({"layout": "nt"}, "b must be column-major for this layout"),
        ({"b": b[:32]}, "they must share K"),
        ({"a": np.zeros((8, 65), np.float16)[:, 1:]}, "must begin at a multiple of 16 bytes"),
        ({"out": np.zeros((8, 33), np.float16)}, r"out must be \(8, 32\)"),
        ({"out_dtype": "f64"}, "out_dtype must be f16, bf16 or f32, got f64"),
        ({"user_kwargs": {"tile": 3}}, "user_kwargs may name block_m"),
        ({"user_kwargs": {"use_half_tile_interleaved": True}}, "use_half_tile_interleaved = True is not offered"),
        ({"bias": np.zeros(3, np.float16)}, r"bias must be \(32,\)"),
        ({"bias": np.zeros(64, np.float16)[::2]}, r"bias must be \(32,\) of float16, contiguous"),
        ({"a": a[::-1]}, "a leading stride of 8 elements or a multiple.*its stride -64"),
        ({"out": np.zeros((8, 32), np.float16)[::-1]}, r"with contiguous rows, got \(8, 32\), strides \(-32, 1\)"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            gemm_a16w16(**{"a": a, "b": b, "layout": "nn", **change})
    assert gemm_a16w16(a[:0], b, layout="nn").shape == (0, 32)
    with pytest.raises(ValueError, match=r"c must have rows \(8, 64\) of float16, got \(5, 64\)"):
        hgemm_splitk_(np.zeros((5, 64), np.float16), a, np.zeros((64, 64), np.float16))
    with pytest.raises(ValueError, match=r"bias must be \(64,\)"):
        hgemm_splitk_(np.zeros((8, 64), np.float16), a, np.zeros((64, 64), np.float16), np.zeros(3, np.float16))
    with pytest.raises(NotImplementedError, match="must be f16 or bf16, got float32"):
        gemm_a16w16(a.astype(np.float32), b.astype(np.float32))
    with pytest.raises(ValueError, match=r"hgemm_kwargs may name TILE_M, .*, not TILE"):
        hgemm_splitk_(np.zeros((8, 64), np.float16), a, np.zeros((64, 64), np.float16), None, {"TILE": 3})
    with pytest.raises(ValueError, match="131072 bytes of LDS, and 65536 are there on gfx942: take a smaller tile"):
        monkeypatch.setenv("ARCH", "gfx942")
        run_built(compile_hgemm_kernel("f16", 128, 512, STAGES=4), 20, 128, 512, "f16")
    monkeypatch.setenv("ARCH", "gfx950")
    many = np.zeros((16 * 257, 64), np.float16)
    with pytest.raises(ValueError, match="count 256 tiles of C at most, and 4112 rows have 257"):
        hgemm_splitk_(np.zeros((len(many), 64), np.float16), many, np.zeros((64, 64), np.float16), None,
                      {"TILE_M": 16, "TILE_N": 64, "TILE_K": 32, "SPLIT_K": 2, "BLOCK_M_WARPS": 1})  # fmt: skip


@pytest.mark.parametrize("place", ["a", "b", "c"])
def test_rows_that_lie_apart_are_refused(place: str) -> None:
    arrays = {
        name: np.zeros(shape, np.float16) for name, shape in (("c", (64, 128)), ("a", (64, 64)), ("b", (128, 64)))
    }
    arrays[place] = np.tile(arrays[place], 2)[:, : arrays[place].shape[1]]
    with pytest.raises(
        ValueError, match=f"{place} must be contiguous; gemm_a16w16 takes matrices whose rows lie apart"
    ):
        hgemm_splitk_(*arrays.values())
    counters = np.zeros(128, np.int32), np.zeros(128, np.int32)
    with pytest.raises(RuntimeError, match=f"an array of {arrays[place].size} elements is taken as it lies"):
        compile_hgemm_kernel("f16", 128, 64)(*arrays.values(), arrays["a"], 64, *counters)
