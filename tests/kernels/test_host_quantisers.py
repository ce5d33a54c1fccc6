"""FlyDSL's host quantisers against their formulas, element by element, for arrays and for tensors."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from flydsl.kernels.quant import formats, host_quantisers, shuffles
from flydsl.kernels.quant.host_quantisers import (
    dynamic_mxfp4_quant,
    fp6_e2m3_to_f32,
    fp8_e4m3_to_f32,
    get_dtype_max,
    mxfp4_to_f32,
    pack_uint4,
    per_1x32_f4_quant,
    per_1x32_f6_quant,
    per_1x32_f8_quant,
    pertoken_quant,
    random_e8m0,
    random_fp4_packed,
)

E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
LARGEST_F32 = float(np.finfo(np.float32).max)


def drawn(rng: np.random.Generator, rows: int = 6, columns: int = 96) -> np.ndarray:
    """Rows of all magnitudes, some zeros, and numbers halfway between two codes."""
    x = rng.standard_normal((rows, columns)) * 2.0 ** rng.integers(-20, 20, (rows, columns // 32)).repeat(32, 1)
    x[0, :32], x[1, 32] = 0, 0
    x[2, :32] = rng.choice([0.25, 0.75, 1.25, -1.75, 2.5, -3.5, 5, 6, -0.25], 32)
    x[2, 0] = 6
    return x.astype(np.float32)


# A scale for each row --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "i4", np.int8, ml_dtypes.float8_e4m3fn, "fp8_fnuz", "float8_e5m2"])
def test_rows(dtype: Any, rng: np.random.Generator) -> None:
    x = drawn(rng)
    x[4] = 0
    q, scale = pertoken_quant(x, quant_dtype=dtype)
    most = {"int8": 127, "i4": 7, np.int8: 127, ml_dtypes.float8_e4m3fn: 448, "fp8_fnuz": 240}.get(dtype, 57344)
    wanted = np.abs(x).max(1, keepdims=True) / np.float32(most)
    wanted[4] = 1
    assert scale.shape == (6, 1) and scale.dtype == np.float32
    np.testing.assert_array_equal(scale, wanted)
    exact = x / wanted
    if most < 200:
        assert q.dtype == np.int8
        np.testing.assert_array_equal(q, np.trunc(exact))
    else:
        np.testing.assert_array_equal(q.astype(np.float32), exact.astype(q.dtype).astype(np.float32))


def test_what_is_no_number_is_none_of_a_row() -> None:
    """As the specification has it; the kernels, and `formats`, have scales that say what the row holds."""
    x = np.array([[1, np.nan, -2, 4], [1, np.inf, -np.inf, 3], [np.nan] * 4], np.float32)
    q, scale = pertoken_quant(x)
    assert q.tolist() == [[31, 0, -63, 127], [0, 126, -126, 0], [0] * 4], "the largest over its scale is 126.99999"
    np.testing.assert_array_equal(scale[:, 0], np.array([4 / 127, LARGEST_F32 / 127, 1], np.float32))
    codes, steps = pertoken_quant(x, quant_dtype="fp8")
    assert np.isfinite(codes.astype(np.float32)).all() and codes[1].astype(float).tolist() == [0, 448, -448, 0]
    assert np.isfinite(steps).all()
    assert np.isnan(formats.quantize_per_token(x)[1][[0, 2]]).all()
    assert np.isinf(formats.quantize_per_token(x)[1][1])


def test_options_of_rows(rng: np.random.Generator) -> None:
    x, smooth = drawn(rng), rng.uniform(0.5, 2, 96).astype(np.float32)
    q, scale = pertoken_quant(x, x_scale=smooth, dtypeMax=7, scale_dtype="bf16")
    assert scale.dtype == ml_dtypes.bfloat16 and np.abs(q).max() == 7 and q.dtype == np.int8
    exact = np.abs(x * smooth).max(1, keepdims=True) / 7
    np.testing.assert_array_equal(scale, exact.astype(ml_dtypes.bfloat16))
    q, scale = pertoken_quant(x, scale=np.full((6, 1), 0.25))
    assert (scale == 0.25).all()
    np.testing.assert_array_equal(q, np.trunc(np.clip(x * 4.0, -127, 127)))
    np.testing.assert_array_equal(pertoken_quant(x.reshape(2, 3, 96))[0].reshape(6, 96), pertoken_quant(x)[0])


def test_rows_of_the_formats_by_name() -> None:
    q, scale = formats.quantize_per_token(np.array([[7.0, -3.9, 0.5]]), "i4")
    assert q.dtype == np.int8 and q.tolist() == [[7, -3, 0]] and scale.tolist() == [[1]]
    for call in (formats.quantize_per_token, formats.quantize_per_tensor):
        with pytest.raises(ValueError, match="dtype must be one of i8, fp8, fp8_fnuz, bf8, i4, got 'int3'"):
            call(np.ones((1, 4)), "int3")


# Groups of 32 ----------------------------------------------------------------------------------


def exponent_of(value: float) -> int:
    """The biased exponent of a normal number, one more from a significand of 1.5 on."""
    significand, power = math.frexp(value)
    return power - 1 + 127 + (significand * 2 >= 1.5)


def nearest(value: float, steps: list[float], away: bool) -> float:
    """The nearest of steps, and of two the one with the even code, or the larger one."""
    size = min(abs(value), steps[-1])
    least = min(abs(step - size) for step in steps)
    found = [code for code, step in enumerate(steps) if abs(step - size) == least]
    code = found[-1] if away or found[-1] % 2 == 0 else found[0]
    return math.copysign(steps[code], value)


def check_groups(x: np.ndarray, numbers: np.ndarray, scale: np.ndarray, how: dict[str, Any]) -> None:
    assert scale.dtype == np.uint8 and scale.shape == (x.shape[0], x.shape[1] // 32)
    for row, group in np.ndindex(scale.shape):
        part = x[row, 32 * group : 32 * group + 32].astype(float)
        byte = how["byte"](float(np.abs(part).max()))
        assert scale[row, group] == byte
        wanted = [nearest(value / 2.0 ** (byte - 127), how["steps"], how.get("away", False)) for value in part]
        np.testing.assert_array_equal(numbers[row, 32 * group : 32 * group + 32], wanted)


def test_four_bits(rng: np.random.Generator) -> None:
    x = drawn(rng)
    codes, scale, scaled = per_1x32_f4_quant(x)
    assert codes.shape == (6, 48) and codes.dtype == np.uint8 and scaled.dtype == np.float32
    of_zeros = formats.f32_to_e8m0(np.float32(0)).item()
    check_groups(x, mxfp4_to_f32(codes), scale, {
        "byte": lambda top: exponent_of(top / 4) if top else of_zeros, "steps": E2M1,
    })  # fmt: skip
    np.testing.assert_array_equal(scaled, x / 2.0 ** (np.repeat(scale.astype(float), 32, 1) - 127))
    np.testing.assert_array_equal(per_1x32_f4_quant(x, shuffle=True)[1], shuffles.e8m0_shuffle(scale))


def test_four_bits_the_other_way(rng: np.random.Generator) -> None:
    """The scale is rounded up from 1.75 on, a code halfway away from zero."""
    x = drawn(rng)
    x[3, :32], x[4, :32], x[5, :32] = 0.01, -0.02, 1.75 * 2.0**100
    x[3, 0], x[4, 0], x[5, 0] = 1.75, -np.nextafter(np.float32(1.75), np.float32(0)), 2.0**100

    def byte(top: float) -> int:
        if not top:
            return 0
        significand, power = math.frexp(top)
        return power - 1 + 127 - 2 + (significand * 2 >= 1.75)

    codes, scale = dynamic_mxfp4_quant(x)
    assert codes.shape == (6, 48)
    assert scale[3:, 0].tolist() == [126, 125, 127 + 99]
    check_groups(x, mxfp4_to_f32(codes), scale, {"byte": byte, "steps": E2M1, "away": True})
    halves = np.array([[6, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, -0.25, -5, 6.9, *[0] * 21]], np.float32)
    assert mxfp4_to_f32(dynamic_mxfp4_quant(halves)[0])[0, :11].tolist() == [6, 0.5, 1, 1.5, 2, 3, 4, 6, -0.5, -6, 6]
    order = dynamic_mxfp4_quant(x, shuffle=True)[1]
    assert order.shape == (256, 8) and (order == 127).sum() >= 256 * 8 - scale.size
    np.testing.assert_array_equal(order, shuffles.e8m0_shuffle(scale))
    # what is no number, and exponents at the ends
    x[:5, :32] = 0
    x[:5, 3] = np.nan, np.inf, LARGEST_F32, 2.0**-126, 2.0**-149
    assert dynamic_mxfp4_quant(x)[1][:5, 0].tolist() == [254, 254, 254, 0, 0]


def test_eight_and_six_bits(rng: np.random.Generator) -> None:
    x = drawn(rng)
    codes, scale = per_1x32_f8_quant(x)
    assert codes.dtype == ml_dtypes.float8_e4m3fn
    numbers = fp8_e4m3_to_f32(np.arange(127, dtype=np.uint8))
    np.testing.assert_array_equal(
        numbers, [(b & 7 | (8 if b >> 3 else 0)) * 2.0 ** (max(b >> 3, 1) - 10) for b in range(127)]
    )
    check_groups(x, fp8_e4m3_to_f32(codes), scale, {
        "byte": lambda top: exponent_of(max(top, 1e-30) / 448), "steps": numbers.tolist(),
    })  # fmt: skip
    packed, scale, codes = per_1x32_f6_quant(x)
    assert packed.shape == codes.shape == x.shape and packed.dtype == codes.dtype == np.uint8
    steps = [(c & 7 | (8 if c >> 3 else 0)) * 2.0 ** (max(c >> 3, 1) - 4) for c in range(32)]
    np.testing.assert_array_equal(fp6_e2m3_to_f32(np.arange(64, dtype=np.uint8)), steps + [-step for step in steps])
    of_zeros = formats.f32_to_e8m0(np.float32(0)).item()
    check_groups(x, fp6_e2m3_to_f32(codes), scale, {
        "byte": lambda top: exponent_of(top / 4) if top else of_zeros, "steps": steps,
    })  # fmt: skip
    groups = packed.reshape(6, 3, 32)
    assert not groups[..., 24:].any()
    bits = np.unpackbits(groups[..., :24], axis=-1, bitorder="little").reshape(6, 96, 6)
    np.testing.assert_array_equal(bits @ (1 << np.arange(6)), codes)
    with pytest.raises(ValueError, match="rows of 40 elements are no groups of 32"):
        per_1x32_f6_quant(np.zeros((2, 40)))


def test_groups_that_are_no_numbers() -> None:
    x = np.zeros((2, 64), np.float32)
    x[0, 3], x[1, 40] = np.nan, np.inf
    for quantise in (per_1x32_f4_quant, per_1x32_f8_quant, per_1x32_f6_quant):
        assert (quantise(x)[1] == 255).tolist() == [[True, False], [False, True]]


# Types, codes, drawn data ----------------------------------------------------------------------


def test_largest_numbers() -> None:
    for dtype, most in (
        (np.int8, 127), ("i4", 7), ("int4", 7), (ml_dtypes.int4, 7), (np.uint8, 255), ("fp8", 448), ("fp8_fnuz", 240),
        (ml_dtypes.float8_e5m2, 57344), (np.float16, 65504), ("f32", LARGEST_F32), (ml_dtypes.float4_e2m1fn, 6),
        (np.dtype("int32"), 2**31 - 1),
    ):  # fmt: skip
        assert get_dtype_max(dtype) == most


def test_codes_of_two_in_a_byte() -> None:
    codes = np.arange(16, dtype=np.uint8).reshape(2, 8)
    assert pack_uint4(codes).tolist() == [[0x10, 0x32, 0x54, 0x76], [0x98, 0xBA, 0xDC, 0xFE]]
    numbers = mxfp4_to_f32(pack_uint4(codes))
    assert numbers.tolist() == [E2M1, [-value for value in E2M1]]
    with pytest.raises(ValueError, match="two codes share a byte, got 3 in a row"):
        pack_uint4(codes[:, :3])
    assert np.isnan(fp8_e4m3_to_f32(np.array([0x7F, 0xFF], np.uint8))).all()
    assert fp8_e4m3_to_f32(np.array([240], ml_dtypes.float8_e4m3fnuz)).tolist() == [240]


def test_drawn_scales_and_codes(rng: np.random.Generator) -> None:
    scale, codes = random_e8m0(40, 50, rng=rng), random_fp4_packed(40, 50, rng=rng)
    assert scale.dtype == codes.dtype == np.uint8
    assert scale.shape == (40, 50) and set(scale.ravel().tolist()) == set(range(127, 132))
    assert codes.shape == (40, 25) and len(np.unique(codes & 15)) == len(np.unique(codes >> 4)) == 16
    assert set(random_e8m0(9, 9, 3, 4).ravel().tolist()) == {3}
    with pytest.raises(ValueError, match="two codes share a byte, got 3 in a row"):
        random_fp4_packed(2, 3)


def test_every_scale() -> None:
    """That of 255, no number, warned of an overflow."""
    found = formats.e8m0_to_f32(np.arange(256, dtype=np.uint8))
    assert found.dtype == np.float32 and np.isnan(found[255]) and math.isnan(formats.e8m0_to_f32(255))
    np.testing.assert_array_equal(found[:255], 2.0 ** (np.arange(255.0) - 127))
    np.testing.assert_array_equal(formats.f32_to_e8m0(found[1:]), np.arange(1, 256))


@pytest.mark.torch
def test_tensors(torch: Any, rng: np.random.Generator) -> None:
    """Results are tensors of the types of the arrays; what has gradients, and views, is taken too."""
    x = drawn(rng)
    tensor = torch.from_numpy(np.ascontiguousarray(x.T)).T.bfloat16().requires_grad_()
    x = x.astype(ml_dtypes.bfloat16)
    names = {"int8": torch.int8, "uint8": torch.uint8, "float32": torch.float32, "bfloat16": torch.bfloat16,
             "float8_e4m3fn": torch.float8_e4m3fn, "float8_e4m3fnuz": torch.float8_e4m3fnuz}  # fmt: skip

    def same(found: Any, wanted: Any) -> None:
        assert isinstance(found, torch.Tensor) and found.dtype == names[wanted.dtype.name]
        assert tuple(found.shape) == wanted.shape
        np.testing.assert_array_equal(found.reshape(-1).view(torch.uint8).numpy(), wanted.reshape(-1).view(np.uint8))

    for kind in (torch.int8, torch.float8_e4m3fn, torch.float8_e4m3fnuz):
        assert get_dtype_max(kind) == get_dtype_max(str(kind).removeprefix("torch."))
        options = {"quant_dtype": kind, "scale_dtype": torch.bfloat16, "x_scale": torch.ones(96)}
        named = {**options, "quant_dtype": str(kind)[6:], "scale_dtype": "bf16", "x_scale": np.ones(96)}
        for found, wanted in zip(pertoken_quant(tensor, **options), pertoken_quant(x, **named), strict=True):
            same(found, wanted)
    for quantise in (per_1x32_f4_quant, per_1x32_f8_quant, per_1x32_f6_quant, dynamic_mxfp4_quant):
        for shuffle in (False, True):
            for found, wanted in zip(quantise(tensor, shuffle), quantise(x, shuffle), strict=True):
                same(found, wanted)
    codes, wide = random_fp4_packed(4, 64, rng=rng), x.astype(np.float32)
    for call, given in ((mxfp4_to_f32, codes), (fp6_e2m3_to_f32, codes), (fp8_e4m3_to_f32, codes), (pack_uint4, codes),
                        (formats.e8m0_to_f32, codes), (formats.f32_to_e8m0, wide)):  # fmt: skip
        same(call(torch.from_numpy(given)), call(given))
    for drawing in (random_e8m0, random_fp4_packed):
        same(drawing(3, 4, rng=np.random.default_rng(1), like=tensor), drawing(3, 4, rng=np.random.default_rng(1)))
    if hasattr(torch, "float4_e2m1fn_x2"):
        assert get_dtype_max(torch.float4_e2m1fn_x2) == 6
        same(mxfp4_to_f32(torch.from_numpy(codes).view(torch.float4_e2m1fn_x2)), mxfp4_to_f32(codes))


def test_all_names_are_there() -> None:
    assert all(callable(getattr(host_quantisers, name)) for name in host_quantisers.__all__)
