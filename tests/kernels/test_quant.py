"""Quantisers on the virtual GPU of every target against their NumPy references, and orders of weights and scales."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.kernels.blocks import wide_pieces
from flydsl.kernels.norm import layernorm, rmsnorm
from flydsl.kernels.norm.cross_entropy import build_cross_entropy_module
from flydsl.kernels.quant import device_quant, formats, shuffles
from flydsl.kernels.quant.device_quant import (
    build_block_quant_module,
    build_mx_quant_module,
    build_quant_module,
    build_row_quant_module,
    build_tensor_quant_module,
)
from flydsl.kernels.quant.short_rows import short_rows
from tests.support import random_data
from tests.support.turns import in_turns

TARGETS = ("gfx942", "gfx950", "gfx1201", "gfx1250", "sm_90a")
FP8 = formats.TYPES["fp8"]
DTYPES: dict[str, Any] = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


def drawn(shape: tuple[int, int], dtype: str) -> np.ndarray:
    x = (random_data.generator().standard_normal(shape) * 3).astype(DTYPES[dtype])
    x[-1, :32] = 0
    return x


def steps(a: np.ndarray, b: np.ndarray) -> int:
    """How many codes of 8 bits two arrays are apart at most; division and multiplication round differently."""
    return int(np.abs(a.view(np.int8).astype(int) - b.view(np.int8).astype(int)).max(initial=0))


@pytest.mark.parametrize("arch", TARGETS)
def test_quantisers(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    x = drawn((5, 200), "bf16")
    for quant in in_turns(("i8", "fp8")):
        q, scales = np.zeros(x.shape, formats.TYPES[quant]), np.full(5, np.nan, np.float32)
        build_row_quant_module(200, "bf16", quant)(x, q, scales, 5)
        want, scale = formats.quantize_per_token(x, quant)
        np.testing.assert_allclose(scales, scale[:, 0], rtol=1e-6)
        assert steps(q, want) <= 1
    x = drawn((3, 256), "f16")
    for quant in in_turns(formats.MX):
        want, scale = formats.quantize_mx(x, quant)
        out, scales = np.full(want.shape, 99, np.uint8), np.full(scale.shape, 99, np.uint8)
        build_mx_quant_module(256, "f16", quant)(x, out, scales, 3)
        np.testing.assert_array_equal(scales, scale)
        np.testing.assert_array_equal(out, want)
    x = drawn((128, 256), "f32")
    for rows in in_turns((1, 128)):
        want, scale = formats.quantize_blocks(x, rows)
        q, scales = np.zeros(x.shape, formats.TYPES["fp8"]), np.full(scale.shape, np.nan, np.float32)
        build_block_quant_module(256, "f32", rows)(x, q, scales, 128)
        np.testing.assert_allclose(scales, scale, rtol=1e-6)
        assert steps(q, want) <= 1


@pytest.mark.parametrize("offset", [0, 1])
def test_groups_of_many_rows_in_slabs(offset: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """More rows than a block and a slab have, with a tail, and such as begin between multiples of 16 bytes."""
    monkeypatch.setenv("ARCH", "sm_90a")
    n, m = 128 + 128 * offset, 137
    monkeypatch.setattr(wide_pieces, "SLAB", 60 * n // 8)
    x = drawn((m, n + offset), "bf16")[:, offset:]
    codes, scale = (np.full(shape, np.nan, kind) for shape, kind in (((m, n), FP8), ((m, n // 128), np.float32)))
    device_quant.build_block_quant_module.__wrapped__(n, "bf16")(x, codes, scale, m)
    want, expected = formats.quantize_blocks(x, 1)
    np.testing.assert_allclose(scale, expected, rtol=1e-6)
    assert steps(codes, want) <= 1
    want, expected = formats.quantize_mx(x, "mxfp4")
    codes, scale = np.full(want.shape, 99, np.uint8), np.full(expected.shape, 99, np.uint8)
    device_quant.build_mx_quant_module.__wrapped__(n, "bf16")(x, codes, scale, m)
    np.testing.assert_array_equal(scale, expected)
    np.testing.assert_array_equal(codes, want)


@pytest.mark.parametrize("m", [1, 31, 200])
def test_one_scale_for_many_rows(m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setattr(device_quant, "FOLDED", 128)
    x = drawn((m, 8), "f32")
    x[0 if m < 200 else 170] = -50  # the largest is in the last, partly filled fold, below zero
    codes, tops, scale = np.zeros(x.shape, FP8), np.full(m, np.nan, np.float32), np.full(1, np.nan, np.float32)
    device_quant.build_tensor_quant_module.__wrapped__(8, "f32")(x, codes, tops, scale, m)
    np.testing.assert_allclose(scale, 50 / 448, rtol=1e-6)
    assert steps(codes, (x / scale).astype(FP8)) <= 1


@pytest.mark.parametrize("n", [8, 9])
def test_one_scale_for_rows_that_lie_apart(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are gone over row by row, where others are a line; results are the same."""
    monkeypatch.setenv("ARCH", "sm_90a")
    monkeypatch.setattr(device_quant, "FOLDED", 128)
    m, found = 150, []
    x = drawn((m, n), "f16")
    x[140, -1] = 50
    apart = np.zeros((m, n + 8), np.float16)[:, :n]
    apart[:] = x
    for given in (x, apart):
        codes, tops, scale = np.zeros(x.shape, FP8), np.full(m, np.nan, np.float32), np.full(1, np.nan, np.float32)
        device_quant.build_tensor_quant_module.__wrapped__(n, "f16")(given, codes, tops, scale, m)
        found.append((codes.tobytes(), scale[0]))
    assert found[0] == found[1]
    np.testing.assert_allclose(found[0][1], 50 / 448, rtol=1e-6)


@pytest.mark.parametrize(
    ("n", "dtype", "quant"), [(9, "f32", "fp8"), (37, "f16", "i8"), (419, "bf16", "fp8"), (619, "bf16", "i8")]
)
def test_short_rows_that_begin_anywhere(n: int, dtype: str, quant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing behind a row is changed, and rows that lie apart, which have another kernel, have the same codes."""
    monkeypatch.setenv("ARCH", "sm_90a")
    assert short_rows(n, np.dtype(DTYPES[dtype]).itemsize, quant) is not None
    run = build_row_quant_module(n, dtype, quant)
    for m in (2, 21):
        x, beside = drawn((m + 1, n), dtype), np.zeros((m, n + 16), DTYPES[dtype])[:, :n]
        beside[:] = x[:m]
        codes, scales = np.zeros(x.shape, formats.TYPES[quant]), np.full(m, np.nan, np.float32)
        other, apart = np.zeros((m, n), formats.TYPES[quant]), np.full(m, np.nan, np.float32)
        run(x, codes, scales, m)
        run(beside, other, apart, m)
        np.testing.assert_array_equal(codes[:m].view(np.uint8), other.view(np.uint8))
        np.testing.assert_array_equal(scales, apart)
        assert not codes[m].view(np.uint8).any()
        assert steps(codes[:m], formats.quantize_per_token(x[:m], quant)[0]) <= 1


@pytest.mark.parametrize("quant", ["mxfp4", "mxfp6", "mxfp8"])
def test_groups_of_no_rows(quant: str) -> None:
    codes, scale = formats.quantize_mx(np.zeros((2, 0, 64), np.float32), quant)
    assert codes.shape == (2, 0, 32 if quant == "mxfp4" else 64) and scale.shape == (2, 0, 2)
    if quant != "mxfp6":
        assert formats.dequantize_mx(codes, scale, quant).shape == (2, 0, 64)


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "sm_90a"])
def test_every_rounding_of_four_bits(arch: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Halves between two codes and their neighbours, zeros, what is too small, too large, and no number."""
    monkeypatch.setenv("ARCH", arch)
    halves = np.array([0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5], DTYPES[dtype])
    values = np.concatenate([halves, *(np.nextafter(halves, halves.dtype.type(end)) for end in (0, 9))])
    x = np.full((5, 128), 5, DTYPES[dtype])
    x[0, : len(values)], x[1, : len(values)] = values, -values
    small, large = (2.0**-20, 2.0**12) if dtype == "f16" else (2.0**-130, 2.0**120)
    x[2], x[4] = x[0].astype(np.float32) * small, x[0].astype(np.float32) * large
    x[3, ::32] = np.inf, np.nan, 0, -large
    want, scale = formats.quantize_mx(x, "mxfp4")
    out, scales = np.full(want.shape, 99, np.uint8), np.full(scale.shape, 99, np.uint8)
    build_mx_quant_module(128, dtype, "mxfp4")(x, out, scales, 5)
    np.testing.assert_array_equal(scales, scale)
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("arch", ["gfx942", "sm_90a"])
def test_quantised_norms(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    rng, (m, n) = random_data.generator(), (5, 264)
    x, r = (rng.standard_normal((m, n)).astype(np.float16) for _ in range(2))
    gamma, beta, smooth = (rng.uniform(0.5, 2, n).astype(np.float16) for _ in range(3))
    for centred, residual, smoothed in in_turns(product((True, False), repeat=3), 3):
        module = layernorm if centred else rmsnorm
        name = f"build_{'fused_add_' if residual else ''}{'layernorm' if centred else 'rmsnorm'}"
        build = getattr(module, f"{name}_{'smooth' if smoothed else 'dynamic'}quant_module")
        q, scale, added = np.zeros((m, n), np.int8), np.zeros(m, np.float32), np.zeros_like(x)
        pairs = ((r, residual), (gamma, True), (beta, centred), (smooth, smoothed))
        inputs = [x, *(array for array, there in pairs if there)]
        build(m, n, "f16")(*inputs, q, *([added] if residual else []), scale, m)
        a = (x + r if residual else x).astype(np.float64)
        a = a - a.mean(1, keepdims=True) if centred else a
        y = a / np.sqrt((a**2).mean(1, keepdims=True) + 1e-5) * gamma + (beta if centred else 0)
        y = y * smooth if smoothed else y
        want = np.abs(y).max(1) / 127
        np.testing.assert_allclose(scale, want, rtol=1e-3)
        assert np.abs(q - np.trunc(y / want[:, None])).max() <= 1
        assert not residual or (added == x + r).all()
    with pytest.raises(ValueError, match="quant_dtype_str must be one of i8, fp8"):
        rmsnorm.build_rmsnorm_dynamicquant_module(64, "f16", quant_dtype_str="i4")


def test_integers_are_cut_off_toward_zero() -> None:
    x = np.array([[127.0, 1.9, -1.9, 0.5, -0.5, 2.0, 64.7, -126.5]], np.float16)
    fn, config = build_quant_module(8)
    q, scales = np.zeros(x.shape, np.int8), np.zeros(1, np.float32)
    fn(x, q, scales, 1)
    assert config["N"] == 8 and scales[0] == 1.0
    assert q.tolist() == [[127, 1, -1, 0, 0, 2, 64, -126]]


def test_rows_of_zeros_have_a_scale_of_one() -> None:
    q, scale = formats.quantize_per_token(np.zeros((2, 8), np.float32))
    assert (q == 0).all() and (scale == 1).all()


@pytest.mark.parametrize("arch", ("gfx942", "sm_90a"))
def test_rows_that_are_no_numbers_stay_so(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", arch)
    x = drawn((4, 64), "f32")
    x[0, 3], x[1, 5], x[2, :2] = np.nan, np.inf, (-np.inf, np.nan)
    for quant in ("i8", "fp8"):
        q, scales = np.zeros(x.shape, formats.TYPES[quant]), np.zeros(4, np.float32)
        build_row_quant_module(64, "f32", quant)(x, q, scales, 4)
        want, scale = formats.quantize_per_token(x, quant)
        assert np.isnan(scale[[0, 2]]).all() and np.isinf(scale[1])
        np.testing.assert_allclose(scales, scale[:, 0], rtol=1e-6)
        np.testing.assert_array_equal(q[:3].astype(np.float32), want[:3].astype(np.float32))
    assert np.isnan(formats.quantize_per_tensor(x)[1]).all()


def test_exponents() -> None:
    values = np.array([1.0, 1.49, 1.5, 2.0, 2.0**-126, 2.0**-127, np.inf, 3e38], np.float32)
    assert formats.f32_to_e8m0(values).tolist() == [127, 127, 128, 128, 1, 0, 255, 255]
    assert formats.e8m0_to_f32(np.array([127, 128, 0, 254], np.uint8)).tolist() == [1, 2, 2.0**-127, 2.0**127]


@pytest.mark.parametrize("build", [build_mx_quant_module, build_block_quant_module])
def test_lengths_that_are_no_groups_are_refused(build: Any) -> None:
    with pytest.raises(ValueError, match="rows of 33 elements are no groups of"):
        build(33, "f32")


def test_numbers_of_rows_that_are_too_few() -> None:
    """Scales and statistics behind the end of an array were written wherever that was."""
    x, codes, few = np.zeros((4, 128), np.float32), np.zeros((4, 128), np.int8), np.zeros((1, 1), np.float32)
    line, eights = few.reshape(-1), np.zeros((4, 128), ml_dtypes.float8_e4m3fn)
    weight, y = np.ones(128, np.float32), np.zeros_like(x)
    for call in (
        lambda: build_row_quant_module(128, "f32", "i8")(x, codes, line, 4),
        lambda: build_tensor_quant_module(128, "f32", "fp8")(x, eights, line, line, 4),
        lambda: rmsnorm.build_rmsnorm_dynamicquant_module(128, "f32")(x, weight, codes, line, 4),
        lambda: build_cross_entropy_module(128, "f32")(x, np.zeros(4, np.int64), line, np.zeros((2, 4), np.float32), 4,
                                                       -100, 0.0),
        lambda: rmsnorm.build_rmsnorm_bwd_module(128, "f32")(x, x, weight, line, y, y, weight, 4),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="4 numbers are asked for, and an array has 1"):
            call()
    for call in (
        lambda: build_mx_quant_module(128, "f32", "mxfp8")(x, eights.view(np.uint8), few.astype(np.uint8), 4),
        lambda: build_block_quant_module(128, "f32")(x, eights, few, 4),
    ):
        with pytest.raises(RuntimeError, match="elements are asked for, and a matrix has 1 of 1"):
            call()


# Orders --------------------------------------------------------------------------------------------------------------


def numbered(*shape: int, dtype: Any = np.int32) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=dtype).reshape(shape)


def test_weights_of_four_bits() -> None:
    w = numbered(32, 128)
    got = shuffles.shuffle_weight_w4(w).reshape(-1)
    gate = shuffles.shuffle_weight_w4(w, gate_up=True).reshape(-1)
    for n in (0, 5, 17, 31):
        for kb in (0, 16, 70, 127):
            n0, k0, kl = n // 16, kb // 64, kb // 16 % 4
            assert got[(((n0 * 2 + k0) * 4 + kl) * 16 + n % 16) * 16 + kb % 16] == w[n, kb]
            g, block = divmod(n, 16)
            place = (((((0 * 2 + g) * 2 + k0) * 4) + kl) * 16 + block) * 16 + kb % 16
            assert gate[place] == w[n, kb]
    packed = shuffles.pack_int4(np.array([[1, 2, 3, 4, 5, 6, 7, -8]], np.int8)).view(np.uint8)
    assert packed.tolist() == [[0x51, 0x62, 0x73, 0x84]]


def test_scales() -> None:
    s = numbered(64, 16)
    got = shuffles.shuffle_scale_w4(s).reshape(-1)
    gate = shuffles.shuffle_scale_w4(s, 1, gate_up=True).reshape(-1)
    small = shuffles.scale_32x4(s).reshape(-1)
    for n in (0, 7, 20, 33, 63):
        for j in (0, 3, 6, 9, 15):
            place = ((((n // 32 * 2 + j // 8) * 4 + j % 4) * 16 + n % 16) * 2 + j // 4 % 2) * 2 + n // 16 % 2
            assert got[place] == s[n, j]
            g, rest = divmod(n, 32)
            assert (
                gate[((((rest // 16 * 2 + j // 8) * 4 + j % 4) * 16 + rest % 16) * 2 + j // 4 % 2) * 2 + g] == s[n, j]
            )
            assert small[((n // 32 * 4 + j // 4) * 32 + n % 32) * 4 + j % 4] == s[n, j]
    padded = shuffles.e8m0_shuffle(np.zeros((3, 5), np.uint8))
    assert padded.shape == (256, 8) and (padded == 127).sum() == 256 * 8 - 15
    pairs = shuffles.shuffle_scale_for_int4(numbered(2, 4, 3, dtype=np.float16))
    assert pairs.shape == (2, 2, 3, 2) and pairs[1, 0, 2, 1] == numbered(2, 4, 3)[1, 1, 2]
    with pytest.raises(ValueError, match="groups have 32 elements, got 64"):
        shuffles.shuffle_scale_for_int4(pairs, 64)


def test_experts_by_either_name() -> None:
    s = numbered(128, 8)
    for gate_up in (False, True):
        found = shuffles.shuffle_scale_w4(s, experts=2, gate_up=gate_up)
        np.testing.assert_array_equal(found, shuffles.shuffle_scale_w4(s, 2, gate_up))
        np.testing.assert_array_equal(found, shuffles.shuffle_scale_w4(s, experts_cnt=2, gate_up=gate_up))
        each = [shuffles.shuffle_scale_w4(part, experts=1, gate_up=gate_up) for part in (s[:64], s[64:])]
        np.testing.assert_array_equal(found, np.concatenate(each))


def test_weights_for_rdna_and_gfx1250() -> None:
    b = numbered(32, 48)
    got = shuffles.preshuffle_b_fp8(b)
    blocks = shuffles.preshuffle_b_16x16(b, 32, 48).reshape(-1)
    for k in (0, 9, 17, 31):
        for n in (0, 15, 16, 47):
            assert got[((((n // 16 * 2 + k // 16) * 2 + k // 8 % 2) * 16) + n % 16) * 8 + k % 8] == b[k, n]
            assert blocks[((k // 16 * 3 + n // 16) * 16 + k % 16) * 16 + n % 16] == b[k, n]
    with pytest.raises(AssertionError, match="come by 16"):
        shuffles.preshuffle_b_fp8(numbered(8, 16))


@pytest.mark.torch
def test_orders_of_tensors(torch: Any) -> None:
    w = numbered(64, 128)
    for order in (shuffles.shuffle_weight_w4, shuffles.shuffle_scale_w4, shuffles.e8m0_shuffle, shuffles.scale_32x4):
        np.testing.assert_array_equal(order(torch.from_numpy(w)).numpy(), order(w))


@pytest.mark.parametrize("arch", ["gfx950", "sm_90a"])
@pytest.mark.parametrize("held", [np.uint8, np.int8])
def test_codes_in_arrays_of_bytes(arch: str, held: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes of 8-bit floats are bytes there; their numbers, cut off at 127, were written instead."""
    monkeypatch.setenv("ARCH", arch)
    x, weight, scale = drawn((128, 128), "f32"), np.ones(128, np.float32), np.zeros(128, np.float32)

    def codes_of(dtype: Any) -> list[np.ndarray]:
        found = [np.zeros((128, 128), dtype) for _ in range(5)]
        build_row_quant_module(128, "f32", "fp8")(x, found[0], scale, 128)
        build_tensor_quant_module(128, "f32", "fp8")(x, found[1], scale, scale[:1].copy(), 128)
        build_block_quant_module(128, "f32", 1, "fp8")(x, found[2], scale.reshape(128, 1), 128)
        build_block_quant_module(128, "f32", 128, "fp8")(x, found[3], scale[:1].reshape(1, 1), 128)
        rmsnorm.build_rmsnorm_dynamicquant_module(128, "f32", quant_dtype_str="fp8")(x, weight, found[4], scale, 128)
        return [codes.view(np.uint8) for codes in found]

    for got, want in zip(codes_of(held), codes_of(FP8), strict=True):
        np.testing.assert_array_equal(got, want)
        assert want.any()
    codes, exponents = np.zeros((128, 128), FP8), np.zeros((128, 4), ml_dtypes.float8_e8m0fnu)
    build_mx_quant_module(128, "f32", "mxfp8")(x, codes, exponents, 128)
    want, scales = formats.quantize_mx(x, "mxfp8")
    np.testing.assert_array_equal(codes.view(np.uint8), want)
    np.testing.assert_array_equal(exponents.view(np.uint8), scales)


def test_codes_in_arrays_of_other_formats_are_refused() -> None:
    x, scale = np.ones((4, 128), np.float32), np.zeros(4, np.float32)
    for quant, held in (("i8", FP8), ("fp8", ml_dtypes.float8_e5m2)):
        with pytest.raises(TypeError, match=r"results are (Int8|Float8E4M3FN), and the array .* holds Float8"):
            build_row_quant_module(128, "f32", quant)(x, np.zeros((4, 128), held), scale, 4)


def test_rows_beside_whole_blocks_are_refused() -> None:
    """They were left as they were."""
    x, codes, scales = np.ones((200, 128), np.float32), np.zeros((200, 128), FP8), np.ones((2, 1), np.float32)
    with pytest.raises(RuntimeError, match="blocks have 128 rows, and there are 200"):
        build_block_quant_module(128, "f32", 128)(x, codes, scales, 200)
