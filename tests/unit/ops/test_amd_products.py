"""Products on AMD's targets: every kernel that could take them, the one that is taken, and what `explain` says."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.ops as ops
from flydsl.kernels.gemm.preshuffle_w4a16 import shuffle_weights
from flydsl.ops.amd_products import Product, ways

BF16, F16 = ml_dtypes.bfloat16, np.float16
HALF_ULP = {BF16: 2.0**-8, F16: 2.0**-11, np.float32: 2.0**-23}
E4M3 = {"gfx942": ml_dtypes.float8_e4m3fnuz, "gfx950": ml_dtypes.float8_e4m3fn, "gfx1201": ml_dtypes.float8_e4m3fn,
        "gfx1250": ml_dtypes.float8_e4m3fn}  # fmt: skip
ARCHS = [("gfx942", BF16), ("gfx950", F16), ("gfx1100", F16), ("gfx1201", BF16), ("gfx1250", F16)]
LARGE = {"gfx942": "gemm_a16w16", "gfx950": "gemm_a16w16", "gfx1100": "rdna_f16_gemm", "gfx1201": "rdna_f16_gemm",
         "gfx1250": "wmma_gemm_tdm"}  # fmt: skip


def close(got: Any, a: Any, b: Any, extra: Any = 0.0) -> None:
    """Within a rounding of the result's type and what f32's sums may lose."""
    want, terms = a @ b + extra, np.abs(a) @ np.abs(b) + np.abs(extra)
    bound = HALF_ULP[got.dtype.type] * np.abs(want) + (np.sqrt(a.shape[1]) + 6) * 2.0**-23 * terms + 1e-30
    assert got.shape == want.shape
    assert (np.abs(got.astype(np.float64) - want) <= bound).all()


@pytest.mark.parametrize(("arch", "kind"), ARCHS)
def test_every_way(arch: str, kind: Any, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Extents at random, none a multiple of anything; weights as they come, and as rows of K."""
    monkeypatch.setenv("ARCH", arch)
    m, n, k = (int(rng.integers(low, high)) for low, high in ((1, 50), (1, 100), (33, 150)))
    x, w = (rng.standard_normal(shape).astype(kind) for shape in ((m, k), (n, k)))
    bias, wide = rng.standard_normal(n).astype(kind), (x.astype(np.float64), w.astype(np.float64).T)
    found = ways(Product(arch, x, w.T, c := np.full((m, n), np.nan, kind), bias))
    assert {way.kernel for way in found} == {"tiled", LARGE[arch]}
    for way in found:
        c[:] = np.nan
        way.run()
        close(c, *wide, bias.astype(np.float64))
    other = next(way for way in ways(Product(arch, x, np.ascontiguousarray(w.T), c)) if way.kernel != "tiled")
    other.run()
    close(c, *wide)
    close(ops.linear(x, w, bias), *wide, bias.astype(np.float64))


def test_rows_that_lie_apart(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Operands and results that are parts of others, at odd places and turned; what is around the result stays."""
    for arch, kind in ARCHS:
        monkeypatch.setenv("ARCH", arch)
        x, w = (rng.standard_normal(shape).astype(kind) for shape in ((21, 75), (99, 75)))
        whole = np.full((23, 120), 7, kind)
        parts = (x[1:, 3:67], w[5:53, 3:67].T, whole[1:21, 8:56])
        for way in ways(Product(arch, *parts)):
            if way.kernel != "tiled":
                way.run()
                close(parts[2], *(part.astype(np.float64) for part in parts[:2]))
                parts[2][:] = 7
                assert (whole == 7).all(), f"{arch} wrote beside the result"


def test_shares_of_k_are_rounded_once(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows and a deep product: blocks share K, and the result is as good as one block's."""
    monkeypatch.setenv("ARCH", "gfx950")
    x, w = (rng.standard_normal(shape).astype(BF16) for shape in ((3, 4104), (33, 4104)))
    assert "K shared by" in ops.explain(ops.linear, x, w)
    close(ops.linear(x, w, w[0, :33]), x.astype(np.float64), w.astype(np.float64).T, w[0, :33].astype(np.float64))


@pytest.mark.parametrize("arch", E4M3)
def test_scales(arch: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    m, n, k = (int(rng.integers(1, high)) for high in (50, 100, 300))
    a, w = (rng.standard_normal(shape).astype(E4M3[arch]) for shape in ((m, k), (n, k)))
    wide_a, wide_b = a.astype(np.float64), w.astype(np.float64).T
    one, rows, columns = (rng.uniform(0.5, 1.5, shape).astype(np.float32) for shape in ((1,), (m, 1), (1, n)))
    bias = rng.standard_normal(n).astype(BF16)
    close(ops.scaled_mm(a, w.T, one, one), wide_a * float(one[0]), wide_b * float(one[0]))
    scaled = wide_a * rows.astype(np.float64), wide_b * columns.astype(np.float64)
    close(ops.scaled_mm(a, w.T, rows, columns, bias, out_dtype=np.float32), *scaled, bias.astype(np.float64))
    if arch == "gfx950":
        steps = -(-k // 128)
        of_a, of_b = (rng.uniform(0.5, 1.5, shape).astype(np.float32) for shape in ((m, steps), (steps, -(-n // 128))))
        spread = of_a.repeat(128, 1)[:, :k], of_b.repeat(128, 0)[:k].repeat(128, 1)[:, :n]
        close(ops.scaled_mm(a, w.T, of_a, of_b, out_dtype=np.float16), wide_a * spread[0], wide_b * spread[1])


@pytest.mark.parametrize(("arch", "kind", "group"), [("gfx942", F16, 32), ("gfx950", BF16, 192)])
def test_weights_of_four_bits(
    arch: str, kind: Any, group: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups of 32, and one scale a column; what the kernel does not take is said before it runs."""
    monkeypatch.setenv("ARCH", arch)
    codes, x = rng.integers(0, 16, (64, 192)), rng.standard_normal((2, 5, 192)).astype(kind)
    scales = rng.uniform(0.01, 0.02, (64, 192 // group)).astype(kind)
    weights = ((codes - 8) * scales.astype(np.float32).repeat(group, 1)).astype(kind).astype(np.float64)
    got = ops.linear_int4(x, shuffle_weights(codes), scales, group_size=group)
    close(got.reshape(10, 64), x.astype(np.float64).reshape(10, 192), weights.T)
    for options, words in (
        ({"group_size": 64}, "group_size is 32, or K for one scale a column; got 64"),
        ({"zeros": scales}, "without zeros, and there is no bias"),
        ({"scales": scales[:40]}, "N and K are multiples of 64, got 40 and 192"),
    ):
        with pytest.raises(TypeError, match=words):
            ops.linear_int4(**{"input": x, "weight": codes, "scales": scales, "group_size": group, **options})


def test_the_model_chooses_by_the_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large products go to the matrix cores, tiny ones are not worth a copy, and `explain` says what was reckoned."""
    for arch, kind in ARCHS:
        monkeypatch.setenv("ARCH", arch)
        x = np.broadcast_to(np.zeros(1, kind), (1024, 1024))  # nobody looks at the numbers
        text = ops.explain(ops.linear, x, x)
        assert text.startswith(f"linear runs FlyDSL's kernels (linear) on the virtual GPU: {LARGE[arch]}, tiles of "), (
            text
        )
        assert "; not tiled, by the vector units: " in text
        tiny = np.zeros((3, 3), kind)
        assert "on the virtual GPU: tiled, by the vector units" in ops.explain(ops.matmul, tiny, tiny)
        assert "tiled" in ops.explain(ops.linear, *(np.zeros((64, 64), np.float32),) * 2)
    few, many = np.zeros((4, 4096), BF16), np.zeros((4096, 4096), BF16)
    monkeypatch.setenv("ARCH", "gfx950")
    assert "K shared by" in ops.explain(ops.linear, few, many)
    narrow, one = np.zeros((256, 256), E4M3["gfx950"]), np.ones(1, np.float32)
    assert ": fp8_gemm, tiles of " in ops.explain(ops.scaled_mm, narrow, narrow.T, one, one)


def test_what_has_no_kernel_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    one, blocks = np.ones(1, np.float32), (np.ones((4, 2), np.float32), np.ones((2, 1), np.float32))
    for arch, kind, scales, options, words in (
        ("gfx942", "float8_e4m3fn", (one, one), {}, "on gfx942 matrices are float8_e4m3fnuz, got float8_e4m3fn"),
        ("gfx950", "float8_e5m2", (one, one), {}, "on gfx950 matrices are float8_e4m3fn, got float8_e5m2"),
        ("gfx1100", "float8_e4m3fn", (one, one), {}, "gfx1100 has no instruction for 8-bit floats"),
        ("gfx1201", "float8_e4m3fn", blocks, {}, "not for gfx1201; use scales of rows and columns"),
        ("gfx950", "float8_e4m3fn", blocks, {"out_dtype": np.float32}, "gfx950 writes f16 and bf16, without a bias"),
        ("sm_90a", "float8_e4m3fnuz", (one, one), {}, "on Hopper matrices are float8_e4m3fn or float8_e5m2"),
    ):  # fmt: skip
        monkeypatch.setenv("ARCH", arch)
        a, b = (np.zeros(shape, getattr(ml_dtypes, kind)) for shape in ((4, 256), (256, 8)))
        with pytest.raises(TypeError, match=words):
            ops.scaled_mm(a, b, *scales, **options)
