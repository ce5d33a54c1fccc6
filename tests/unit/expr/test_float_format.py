"""Rounding to every float format and its bit codes, against NumPy and ml_dtypes."""

from __future__ import annotations

import math
import random
import struct
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from flydsl.expr import numeric as n
from flydsl.expr.numbers import float_format
from tests.unit.expr import operator_table as table

BYTE_FORMATS = table.NARROW_FLOATS
WIDE_FORMATS = table.STANDARD_FLOATS


def codes(dtype: Any) -> range:
    return range(1 << dtype.width)


def by_ml_dtypes(dtype: Any, code: int) -> float:
    return float(np.array([code], dtype=np.uint8).view(table.numpy_type(dtype))[0])


@pytest.mark.parametrize("dtype", BYTE_FORMATS, ids=str)
def test_every_code_decodes_and_encodes_back(dtype: Any) -> None:
    for code in codes(dtype):
        value = float_format.decode(dtype.format, code)
        wanted = by_ml_dtypes(dtype, code)
        assert value == wanted or (math.isnan(value) and math.isnan(wanted)), hex(code)
        assert math.copysign(1, value) == math.copysign(1, wanted) or math.isnan(value)
        if not math.isnan(value):
            assert float_format.encode(dtype.format, value) == code


@pytest.mark.parametrize("source", BYTE_FORMATS, ids=str)
@pytest.mark.parametrize("target", table.FLOATS, ids=str)
def test_every_code_converts_to_every_float(source: Any, target: Any) -> None:
    for code in codes(source):
        value = by_ml_dtypes(source, code)
        got = source(value).to(target).value if not math.isnan(value) else source(math.nan).to(target).value
        wanted = table.in_float(target, table.in_float(source, value))
        assert table.same(got, wanted), f"{source} {value} to {target}"


@pytest.mark.parametrize("source", BYTE_FORMATS, ids=str)
def test_every_code_converts_to_integers(source: Any) -> None:
    for code in codes(source):
        value = by_ml_dtypes(source, code)
        if math.isnan(value):
            assert source(value).to(n.Int32).value == 0
        elif math.isinf(value):
            assert source(value).to(n.Int32).value == (2**31 - 1 if value > 0 else -(2**31))
        else:
            assert source(value).to(n.Int128).value == table.nearest_integer(n.Int128, int(value))


@pytest.mark.parametrize("dtype", table.FLOATS, ids=str)
def test_rounding_of_float32_values(dtype: Any) -> None:
    """Random bit patterns, and both neighbours of every tie between two adjacent small codes."""
    chooser = random.Random(7)
    values = [struct.unpack("<f", struct.pack("<I", chooser.getrandbits(32)))[0] for _ in range(2000)]
    values += [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-45, 3.4028234663852886e38]
    values += list(tie_neighbours(dtype)) if dtype in BYTE_FORMATS else []
    values += [scale * 2.0**-127 for scale in (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)]
    for value in values:
        got, wanted = dtype(value).value, table.in_float(dtype, value)
        assert table.same(got, wanted), f"{dtype}({value!r})"
        if not math.isnan(value) and not math.isnan(wanted):
            assert math.copysign(1, got) == math.copysign(1, wanted), f"sign of {dtype}({value!r})"


def tie_neighbours(dtype: Any) -> Any:
    numbers = sorted({v for v in (by_ml_dtypes(dtype, c) for c in codes(dtype)) if math.isfinite(v)})
    for low, high in pairwise(numbers):
        middle = np.float32((low + high) / 2)
        for value in (np.nextafter(middle, np.float32(low)), middle, np.nextafter(middle, np.float32(high))):
            yield float(value)
    top = np.float32(numbers[-1] * (1 + 2.0 ** -(dtype.format.layout.mantissa + 2)))
    yield from (float(top), float(np.nextafter(top, np.float32(np.inf))))


@pytest.mark.parametrize("dtype", [n.BFloat16, n.Float16], ids=str)
def test_every_16_bit_code_survives(dtype: Any) -> None:
    with np.errstate(invalid="ignore"):
        array = np.arange(1 << 16, dtype=np.uint16).view(table.numpy_type(dtype)).astype(np.float64)
    for code, value in enumerate(array.tolist()):
        got = float_format.decode(dtype.format, code)
        assert got == value or (math.isnan(got) and math.isnan(value))
        if not math.isnan(value):
            assert float_format.encode(dtype.format, value) == code


def test_double_rounds_once_to_bfloat16_and_float16() -> None:
    just_above_tie = 1 + 2**-8 + 2**-40
    assert n.BFloat16(just_above_tie).value == 1 + 2**-7
    assert n.Float16(1 + 2**-11 + 2**-40).value == 1 + 2**-10


def test_large_integers_round_once() -> None:
    just_above_tie = (1 << 60) + (1 << 36) + 1
    assert n.Float32(just_above_tie).value == float((1 << 60) + (1 << 37))
    assert n.Float32(n.Int64(just_above_tie)).value == float((1 << 60) + (1 << 37))
    assert n.Float64(10**400).value == math.inf


SAME_WIDTH_INTEGER = {4: n.Int4, 8: n.Uint8, 16: n.Uint16, 32: n.Uint32, 64: n.Uint64}


@pytest.mark.parametrize("dtype", [t for t in table.FLOATS if t.width in SAME_WIDTH_INTEGER], ids=str)
def test_bitcast_there_and_back(dtype: Any) -> None:
    integer = SAME_WIDTH_INTEGER[dtype.width]
    for value in table.samples_of(dtype):
        if not math.isnan(value):
            assert dtype(value).bitcast(integer).bitcast(dtype).value == value


def test_bitcast_values() -> None:
    assert n.Float32(1.0).bitcast(n.Int32).value == 0x3F800000
    assert n.Int32(-1).bitcast(n.Uint32).value == 0xFFFFFFFF
    assert n.Float32(-0.0).bitcast(n.Uint32).value == 0x80000000
    assert n.Uint16(0x3F80).bitcast(n.BFloat16).value == 1.0
    with pytest.raises(ValueError, match="widths"):
        n.Float32(1.0).bitcast(n.Int64)
    with pytest.raises(ValueError, match="Index"):
        n.Int64(1).bitcast(n.Index)


def test_an_integer_of_any_float_is_the_nearest() -> None:
    assert n.Int32(math.nan).value == 0
    assert n.Int32(math.inf).value == 2**31 - 1 and n.Int32(-math.inf).value == -(2**31)
    assert n.Int8(300.7).value == 127
    assert n.Uint8(-1.5).value == 0
