"""AMD's fast functions and conversions on the virtual GPU against references."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import flydsl.expr as fx
from flydsl.base.errors import DslTypeError, DslValueError, LoweringError
from flydsl.target.scaled_conversions import BITS, SCALED_CONVERSIONS
from tests.support import random_data
from tests.unit.rocdl.running import per_thread

r = fx.rocdl
THREADS = 256
CLASSES = {
    "gfx942": {"fp8": ml_dtypes.float8_e4m3fnuz, "bf8": ml_dtypes.float8_e5m2fnuz},
    "gfx950": {"fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2},
    "gfx1201": {"fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2},
}
NARROW = {"fp8": ml_dtypes.float8_e4m3fn, "bf8": ml_dtypes.float8_e5m2, "fp4": ml_dtypes.float4_e2m1fn,
          "fp6": ml_dtypes.float6_e2m3fn, "bf6": ml_dtypes.float6_e3m2fn}  # fmt: skip
WIDE = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


def floats(scale: float = 1.0, count: int = THREADS) -> np.ndarray:
    rng = random_data.generator()
    return (rng.standard_normal(count) * scale * 2.0 ** rng.integers(-4, 5, count)).astype(np.float32)


def f32(x: Any) -> Any:
    return x.bitcast(fx.Float32)


def bits_of(value: Any) -> Any:
    return value.bitcast(fx.Int32)


def test_powers_of_two_are_good_to_a_unit_in_the_last_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    x = np.concatenate([random_data.generator().uniform(-126, 128, THREADS - 8), np.zeros(8)]).astype(np.float32)
    x[-8:] = [-126, np.nextafter(np.float32(-126), np.float32(-127)), -np.inf, 128, np.inf, np.nan, 1e-40, 127]
    found = per_thread(lambda v, t: [bits_of(r.exp2(f32(v)))], x.view(np.int32), 1).view(np.float32)[:, 0]
    with np.errstate(over="ignore"):
        wanted = np.exp2(x.astype(np.float64))
        unit = np.spacing(wanted[:-8].astype(np.float32)).astype(np.float64)
    assert (np.abs(found[:-8] - wanted[:-8]) <= 0.82 * unit).all()
    np.testing.assert_array_equal(found[-8:], [2.0**-126, 0, 0, np.inf, np.inf, np.nan, 1, 2.0**127])


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("exp2", np.exp2),
        ("log2", np.log2),
        ("rcp", lambda x: 1 / x),
        ("rsq", lambda x: 1 / np.sqrt(x)),
        ("sqrt", np.sqrt),
    ],
)
def test_fast_functions(name: str, reference: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    x = np.abs(floats()) + np.float32(0.01)
    function = getattr(r, name)

    def make(v: Any, t: Any) -> list[Any]:
        half = function(f32(v).to(fx.Float16)).to(fx.Float32)
        pair = function(fx.Vector.from_elements([f32(v), f32(v) + 1.0], fx.Float32))
        return [bits_of(function(f32(v))), bits_of(half), bits_of(pair[1])]

    found = per_thread(make, x.view(np.int32), 3).view(np.float32)
    np.testing.assert_allclose(found[:, 0], reference(x.astype(np.float64)), rtol=3e-7, atol=1e-7)
    with np.errstate(over="ignore"):
        wanted = reference(x.astype(np.float16).astype(np.float64)).astype(np.float16)
    np.testing.assert_allclose(found[:, 1], wanted.astype(np.float32), rtol=2e-3, atol=1e-3)
    np.testing.assert_allclose(found[:, 2], reference((x + np.float32(1)).astype(np.float64)), rtol=3e-7, atol=1e-7)


def test_fast_functions_of_bf16(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx1250")
    x = (np.abs(floats()) + np.float32(0.01)).astype(ml_dtypes.bfloat16).astype(np.float32)
    functions = {
        r.exp2: np.exp2,
        r.log2: np.log2,
        r.rcp: np.reciprocal,
        r.rsq: lambda v: 1 / np.sqrt(v),
        r.sqrt: np.sqrt,
    }

    def make(v: Any, t: Any) -> list[Any]:
        return [bits_of(function(f32(v).to(fx.BFloat16)).to(fx.Float32)) for function in functions]

    found = per_thread(make, x.view(np.int32), len(functions)).view(np.float32)
    wanted = np.stack([reference(x.astype(np.float64)) for reference in functions.values()], 1)
    np.testing.assert_allclose(found, wanted, rtol=2.0**-8, atol=1e-7)


def test_median(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    x = floats()
    found = per_thread(lambda v, t: [bits_of(r.fmed3(f32(v), -0.5, 0.75))], x.view(np.int32), 1).view(np.float32)
    np.testing.assert_array_equal(
        found[:, 0], np.median(np.stack([x, np.full_like(x, -0.5), np.full_like(x, 0.75)]), axis=0)
    )


def test_the_median_beside_a_nan_is_the_least(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that `fmed3(x, top, -top)` of NaN is `-top`, in whatever order the three stand."""
    monkeypatch.setenv("ARCH", "gfx942")
    x = np.array([np.nan, 5.0, -3.0], np.float32)[list(itertools.permutations(range(3)))]

    def make(v: Any, t: Any) -> list[Any]:
        return [bits_of(r.fmed3(*(fx.Float32(float(value)) + f32(v) * 0.0 for value in row))) for row in x]

    found = per_thread(make, np.ones(1, np.float32).view(np.int32), len(x)).view(np.float32)
    assert (found == -3.0).all()


def test_fast_functions_take_subnormals_for_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of f32, as the instructions do; those of f16 have them."""
    monkeypatch.setenv("ARCH", "gfx942")
    x = np.array([2.0**-127, -(2.0**-130)], np.float32)

    def make(v: Any, t: Any) -> list[Any]:
        fast = [function(f32(v)) for function in (r.rcp, r.rsq, r.sqrt, r.log2)]
        half = r.rcp(fx.Float16(2.0**-15) + fx.Float16(f32(v)))
        return [bits_of(number) for number in (*fast, r.exp2(f32(v) * 0.0 - 127.0), half.to(fx.Float32))]

    found = per_thread(make, x.view(np.int32), 6).view(np.float32)
    inf = np.inf
    assert found.tolist() == [[inf, inf, 0.0, -inf, 0.0, 2.0**15], [-inf, -inf, -0.0, -inf, 0.0, 2.0**15]]


@pytest.mark.parametrize("arch", CLASSES)
@pytest.mark.parametrize("name", ["fp8", "bf8"])
def test_packs_of_eight_bits(arch: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounded to nearest, ties to even, in the encoding of the target; the other half of the register stays."""
    monkeypatch.setenv("ARCH", arch)
    kind = CLASSES[arch][name]
    x = np.concatenate([floats(2.0, 250), [0.0, -0.0, 3.25, 1e-9, 1e9, -1e9]]).astype(np.float32)
    pack, unpack, one = (getattr(r, f) for f in (f"cvt_pk_{name}_f32", f"cvt_pk_f32_{name}", f"cvt_f32_{name}"))

    def make(v: Any, t: Any) -> list[Any]:
        low, high = pack(f32(v), 1.5), pack(f32(v), -2.0, 0x1234ABCD, True)
        back, upper = unpack(low), unpack(high, True)
        return [low, high, bits_of(back[0]), bits_of(upper[1]), bits_of(one(high, 2))]

    found = per_thread(make, x.view(np.int32), 5)
    with np.errstate(over="ignore"):
        code = x.astype(kind)

    def byte(v: float) -> int:
        return int(np.array(v, np.float32).astype(kind).view(np.uint8))

    low = code.view(np.uint8).astype(np.uint32) | byte(1.5) << 8
    high = code.view(np.uint8).astype(np.uint32) << 16 | byte(-2.0) << 24 | 0xABCD
    np.testing.assert_array_equal(found[:, 0].view(np.uint32), low)
    np.testing.assert_array_equal(found[:, 1].view(np.uint32), high)
    values = found.view(np.float32)
    np.testing.assert_array_equal(values[:, 2], code.astype(np.float32))
    assert set(values[:, 3].tolist()) == {-2.0}
    np.testing.assert_array_equal(values[:, 4], code.astype(np.float32))


def test_halves_rounded_toward_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    x = np.concatenate([floats(100.0, 254), [65519.0, 70000.0]]).astype(np.float32)
    found = per_thread(lambda v, t: [r.cvt_pkrtz(f32(v), -f32(v)).bitcast(fx.Int32)[0]], x.view(np.int32), 1)
    halves = found.view(np.float16)
    assert np.all(np.abs(halves[:, 0].astype(np.float64)) <= np.abs(x.astype(np.float64)))
    with np.errstate(over="ignore"):
        nearest = x.astype(np.float16)
    lower = np.where(
        np.abs(nearest.astype(np.float64)) > np.abs(x.astype(np.float64)), np.nextafter(nearest, np.float16(0)), nearest
    )
    np.testing.assert_array_equal(halves[:, 0], lower)
    np.testing.assert_array_equal(halves[:, 1], -halves[:, 0])


def test_nibbles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx942")
    x = random_data.generator().integers(0, 2**31, THREADS).astype(np.int32)
    found = per_thread(lambda v, t: [bits_of(r.cvt_off_f32_i4(v, b)) for b in range(4)], x, 4).view(np.float32)
    for byte in range(4):
        nibble = (x >> 8 * byte) & 15
        np.testing.assert_array_equal(found[:, byte], np.where(nibble > 7, nibble - 16, nibble) / np.float32(16))


def test_bf16_pairs_and_random_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    x = floats()
    seeds = random_data.generator().integers(0, 2**31, 3)

    def make(v: Any, t: Any) -> list[Any]:
        pair = r.cvt_pk_bf16_f32(f32(v), f32(v) * 3.0)
        rounded = [r.cdna4.cvt_sr_f32_to_bf16(f32(v), int(s)).to(fx.Float32) for s in (0, 0xFFFF, int(seeds[0]))]
        assert pair.dtype is fx.Int32
        return [pair, *map(bits_of, rounded)]

    found = per_thread(make, x.view(np.int32), 4)
    np.testing.assert_array_equal(found[:, :1].copy().view(ml_dtypes.bfloat16)[:, 0], x.astype(ml_dtypes.bfloat16))
    values = found.view(np.float32)[:, 1:].astype(np.float64)
    cut = (x.view(np.uint32) & 0xFFFF0000).view(np.float32)
    up = ((x.view(np.uint32) & 0xFFFF0000) + 0x10000).view(np.float32)
    np.testing.assert_array_equal(values[:, 0], cut)
    inexact = cut != x
    np.testing.assert_array_equal(values[inexact, 1], up[inexact])
    assert np.all((values[:, 2] == cut) | (values[:, 2] == up))


# Scaled conversions ----------------------------------------------------------------------------


def reference(values: np.ndarray, to: str, scale: float) -> np.ndarray:
    """Values over a power of two, rounded once; 6- and 4-bit formats saturate."""
    wide = values.astype(np.float64) / scale
    if to in ("fp6", "bf6", "fp4"):
        most = float(ml_dtypes.finfo(NARROW[to]).max)
        wide = np.clip(wide, -most, most)
    return wide.astype(np.float32).astype(NARROW[to]).astype(np.float64) * scale


CONVERTING = [f for f in SCALED_CONVERSIONS.values() if f.to in BITS and not f.random and "2xpk16" not in f.name]


@pytest.mark.parametrize("facts", CONVERTING, ids=lambda f: f.name)
def test_scaled_conversion_there_and_back(facts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Into a narrow format over a scale and, on gfx950, back out times it; gfx1250 goes back by hand."""
    monkeypatch.setenv("ARCH", {"cdna4": "gfx950", "cdna5": "gfx1250"}[facts.generation])
    narrow, wide, scale = facts.to, facts.source, float(random_data.generator().choice([0.25, 1.0, 8.0]))
    wide_count = next((int(o[7:].split("x")[0]) for o in facts.operands if o.startswith("vector") and "f" in o), 2)
    wide_class, kind = fx.Numeric.from_ir_type(wide), WIDE[wide]
    x = floats(1.0, 64)
    steps = (np.arange(wide_count) * 0.375 - 0.5).astype(np.float32)
    words = wide_count * BITS[narrow] // 32

    def make(v: Any, t: Any) -> list[Any]:
        source = [(f32(v) + float(s)).to(wide_class) for s in steps]
        vector = fx.Vector.from_elements(source, wide_class)
        if facts.operands[-1] == "flag" or facts.operands[-1].startswith("sel"):
            given = source if facts.operands[1] == wide else [vector]
            packed = getattr(r, facts.name)(0, *given, scale, 0)
        else:
            packed = getattr(r, facts.name)(vector, scale)
        packed = packed if isinstance(packed, fx.Vector) else fx.Vector.from_elements([packed], packed.dtype)
        return [packed.bitcast(fx.Int32)[i] for i in range(max(words, 1))]

    found = per_thread(make, x.view(np.int32), max(words, 1))
    codes = np.zeros((64, wide_count), np.uint8)
    wholes = [sum((int(word) & 0xFFFFFFFF) << 32 * i for i, word in enumerate(row)) for row in found]
    for index in range(wide_count):
        start = index * BITS[narrow]
        codes[:, index] = [n >> start & ((1 << BITS[narrow]) - 1) for n in wholes]
    got = codes.view(NARROW[narrow]).astype(np.float64) * scale
    rounded = (x[:, None] + steps[None, :]).astype(kind)
    np.testing.assert_array_equal(got, reference(rounded, narrow, scale))


@pytest.mark.parametrize("name", [f.name for f in SCALED_CONVERSIONS.values()
                                  if f.source in BITS and f.name.startswith("cvt_scalef32_")])  # fmt: skip
def test_scaled_conversion_to_wide(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    facts = SCALED_CONVERSIONS[name]
    count = 32 if "pk32" in name else 2 if "_pk_" in name else 1
    words = max(count * BITS[facts.source] // 32, 1)
    part = 1 if words == 1 else 0
    x = random_data.generator().integers(-(2**31), 2**31, (64, words)).astype(np.int32)
    scale, kind = 4.0, fx.Numeric.from_ir_type(facts.to)

    def make(v: Any, t: Any) -> list[Any]:
        source = [v] if words == 1 else [v ^ int(m) for m in x[0]]
        if words > 1:
            found = getattr(r, name)(fx.Vector.from_elements(source, fx.Int32), scale)
        elif facts.operands[0] == "vector<2xf16>":
            found = getattr(r, name)(fx.Vector.filled(2, 0.0, fx.Float16), v, scale, part, True)
            found = fx.Vector.from_elements([found[1]], kind)
        else:
            found = getattr(r, name)(v, scale, part)
        found = found if isinstance(found, fx.Vector) else fx.Vector.from_elements([found], kind)
        return [bits_of(found[i].to(fx.Float32)) for i in range(count)]

    base = x[:, 0].copy()
    values = per_thread(make, base, count).view(np.float32)
    start = part * (16 if facts.operands[-1] == "flag" and count == 2 else 8) if words == 1 else 0
    for index in range(count):
        place = start + index * BITS[facts.source]
        masks = x[0] if words > 1 else [0]
        whole = [sum((int(w ^ m) & 0xFFFFFFFF) << 32 * i for i, m in enumerate(masks)) for w in base]
        code = np.array([(n >> place) & ((1 << BITS[facts.source]) - 1) for n in whole], np.uint8)
        with np.errstate(over="ignore"):
            wanted = (
                (code.view(NARROW[facts.source]).astype(np.float64) * scale).astype(WIDE[facts.to]).astype(np.float32)
            )
        np.testing.assert_array_equal(values[:, index], wanted, err_msg=f"element {index}")


def test_only_the_exponent_of_a_scale_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    x = floats(1.0, 64)

    def make(v: Any, t: Any) -> list[Any]:
        packed = [r.cvt_scalef32_pk_fp8_f32(0, f32(v), 0.0, s, False) for s in (4.0, 7.9)]
        return [p.bitcast(fx.Int32)[0] for p in packed]

    found = per_thread(make, x.view(np.int32), 2)
    np.testing.assert_array_equal(found[:, 0], found[:, 1])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda v, t: [r.exp2(fx.Float64(1.0) * fx.Float64(t))], DslTypeError, "exp2 of f64 does not exist on gfx950"),
        (lambda v, t: [r.rcp()], DslTypeError, r"expected rcp\(x\)"),
        (lambda v, t: [r.cvt_pk_fp8_f32(1.0)], DslTypeError, "expected cvt_pk_fp8_f32"),
        (lambda v, t: [r.cvt_f32_fp8(v, 4)], DslValueError, "between 0 and 3"),
        (lambda v, t: [r.cvt_scalef32_f32_fp8(v, 1.0)], DslTypeError, "takes .* got 2 arguments"),
        (lambda v, t: [r.cvt_scalef32_f32_fp8(v, 1.0, 4)], DslValueError, "between 0 and 3"),
    ],
)
def test_refused(make: Any, error: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    with pytest.raises(error, match=message):
        per_thread(make, np.zeros(32, np.int32), 1)


@pytest.mark.parametrize(
    ("arch", "make"),
    [
        ("gfx950", lambda v, t: [r.cvt_scalef32_sr_fp8_f32(0, f32(v), v, 1.0, 0)]),
        ("gfx1250", lambda v, t: [r.cvt_scale_pk8_f32_fp4(v, v, 0)[0].bitcast(fx.Int32)]),
    ],
)
def test_what_the_virtual_gpu_does_not_run_is_said(arch: str, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Instructions whose result is not documented to the bit compile for their targets and are refused here."""
    monkeypatch.setenv("ARCH", arch)
    with pytest.raises(LoweringError, match="has no form on the virtual GPU"):
        per_thread(make, np.zeros(32, np.int32), 1)
