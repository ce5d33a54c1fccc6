"""Conversions between integers, floats and index."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np
import pytest

from flydsl.base.errors import LoweringError
from flydsl.codegen.module_emitter import emit_module_text
from tests.codegen.mlir_run import DTYPES, FORMS, Elementwise, Form, Suite, equal_bits, parse

INTS = ("i8", "i16", "i32", "i64")
FLOATS = ("f16", "bf16", "f32", "f64")
NARROW = ("f8E4M3FN", "f8E5M2", "f8E4M3FNUZ")
# A vector of these is packed in memory, unlike NumPy's one byte each, so they are tested as scalars.
SUB_BYTE = ("f6E2M3FN", "f6E3M2FN", "f4E2M1FN")
BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}

RESIZES = [("trunci", a, b) for a, b in product(INTS, INTS) if BITS[a] > BITS[b]]
RESIZES += [(op, a, b) for op in ("extsi", "extui") for a, b in product(INTS, INTS) if BITS[a] < BITS[b]]
RESIZES += [(op, a, "index") for op in ("index_cast", "index_castui") for a in INTS]
RESIZES += [("index_cast", "index", a) for a in INTS]
TO_INT = [(op, a, b) for op in ("fptosi", "fptoui") for a in (*FLOATS, *NARROW) for b in INTS]
TO_FLOAT = [(op, a, b) for op in ("sitofp", "uitofp") for a in INTS for b in (*FLOATS, *NARROW)]
FLOAT_TO_FLOAT = [("extf", a, b) for a, b in product(FLOATS, FLOATS) if BITS[a] < BITS[b]]
FLOAT_TO_FLOAT += [("truncf", a, b) for a, b in product(FLOATS, FLOATS) if BITS[a] > BITS[b]]
BITCASTS = [
    ("bitcast", a, b) for a, b in product(BITS, BITS) if BITS[a] == BITS[b] and a != b and "index" not in (a, b)
]


def in_forms(casts: Sequence[tuple[str, str, str]]) -> list[tuple[Form, tuple[str, str, str]]]:
    return [(form, cast) for form in FORMS for cast in casts if form.covers(*cast[1:])]


@cache
def suite(form: Form) -> Suite:
    functions = []
    for op, source, dest in (*RESIZES, *TO_INT, *TO_FLOAT, *FLOAT_TO_FLOAT, *BITCASTS):
        if not form.covers(source, dest):
            continue
        body = f'%r = "arith.{op}"(%a) : ({{T}}) -> {{R}}'
        functions.append(Elementwise(f"{op}_{source}_{dest}", [source], [dest], body, form.lanes))
    return Suite(functions, triple=form.triple)


def bit_patterns(element: str, count: int = 1024) -> np.ndarray:
    dtype = DTYPES[element]
    raw = np.random.default_rng(5).integers(0, 256, count * dtype.itemsize).astype(np.uint8)
    if element in SUB_BYTE:
        raw = raw & ((1 << int(element[1])) - 1)
    return raw.view(dtype)


def ids(value: Form | tuple[str, ...]) -> str:
    return "-".join(value) if isinstance(value, tuple) else str(value)


@pytest.mark.parametrize(("form", "case"), in_forms(RESIZES), ids=ids)
def test_integer_resizing(form: Form, case: tuple[str, str, str]) -> None:
    op, source, dest = case
    values = bit_patterns(source)
    unsigned = op in ("extui", "index_castui")
    wide = values.view(f"u{values.dtype.itemsize}") if unsigned else values
    np.testing.assert_array_equal(suite(form).run("_".join(case), values), wide.astype(DTYPES[dest]))


@pytest.mark.parametrize(("form", "case"), in_forms(TO_INT), ids=ids)
def test_float_to_integer_cuts_the_fraction(form: Form, case: tuple[str, str, str]) -> None:
    op, source, dest = case
    bits = BITS[dest]
    low, high = (0, 2.0**bits) if op == "fptoui" else (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1))
    values = np.random.default_rng(6).uniform(max(low, -3e4), min(high, 3e4), 1024)
    values = values.astype(DTYPES[source])
    exact = values.astype(np.float64)
    keep = np.isfinite(exact) & (np.trunc(exact) >= low) & (np.trunc(exact) < high)
    values = np.resize(values[keep], 256)
    want = np.trunc(values.astype(np.float64)).astype(np.int64).astype(DTYPES[dest])
    np.testing.assert_array_equal(suite(form).run("_".join(case), values), want)


@pytest.mark.parametrize(("form", "case"), in_forms(TO_FLOAT), ids=ids)
def test_integer_to_float_rounds_once(form: Form, case: tuple[str, str, str]) -> None:
    op, source, dest = case
    values = np.concatenate([bit_patterns(source), beside_ties(source)])
    wide = values.view(f"u{values.dtype.itemsize}") if op == "uitofp" else values
    dtype = DTYPES[dest]
    if dest in ("f32", "f64"):
        want = wide.astype(dtype)
    elif dest == "bf16":
        # ml_dtypes goes through f32, which rounds twice; the nearest neighbour decides instead.
        want = nearest_bf16(wide)
    else:
        want = wide.astype(np.float64).astype(dtype)
    assert equal_bits(suite(form).run("_".join(case), values), want)


@pytest.mark.parametrize("element", SUB_BYTE)
def test_sub_byte_floats_and_integers(element: str) -> None:
    up = Elementwise("up", [element], ["i32"], '%r = "arith.fptosi"(%a) : ({T}) -> {R}')
    down = Elementwise("down", ["i32"], [element], '%r = "arith.sitofp"(%a) : ({T}) -> {R}')
    scalars = Suite([up, down])
    codes = bit_patterns(element)
    np.testing.assert_array_equal(scalars.run("up", codes), np.trunc(codes.astype(np.float64)).astype(np.int32))
    numbers = np.arange(-40, 40, dtype=np.int32)
    assert equal_bits(scalars.run("down", numbers), numbers.astype(np.float64).astype(DTYPES[element]))


def beside_ties(element: str) -> np.ndarray:
    """Integers at and next to the middle of two bf16 numbers, where a second rounding shows."""
    bits = BITS[element]
    tops = [1 << (bits - 2), (1 << (bits - 2)) + (1 << max(bits - 9, 0))]
    middles = [top + (1 << max(bits - 10, 0)) for top in tops]
    values = [sign * (middle + step) for middle in middles for step in (-1, 0, 1) for sign in (1, -1)]
    return np.array(values, DTYPES[element])


def nearest_bf16(values: np.ndarray) -> np.ndarray:
    """Integers rounded to bf16, ties to even, in exact integer arithmetic."""
    results = []
    for value in values.tolist():
        magnitude = abs(value)
        drop = max(magnitude.bit_length() - 8, 0)
        kept, rest = magnitude >> drop, magnitude & ((1 << drop) - 1)
        half = 1 << drop >> 1
        kept += drop > 0 and (rest > half or (rest == half and kept & 1))
        results.append((-1 if value < 0 else 1) * float(kept << drop))
    return np.array(results, np.float64).astype(DTYPES["bf16"])


@pytest.mark.parametrize(("form", "case"), in_forms(FLOAT_TO_FLOAT), ids=ids)
def test_float_resizing(form: Form, case: tuple[str, str, str]) -> None:
    _, source, dest = case
    rng = np.random.default_rng(8)
    values = np.concatenate([rng.normal(0, 100, 1024).astype(DTYPES[source]), bit_patterns(source)])
    want = values.astype(DTYPES[dest])
    assert equal_bits(suite(form).run("_".join(case), values), want)


@pytest.mark.parametrize(("form", "case"), in_forms(BITCASTS), ids=ids)
def test_bitcast_keeps_bits(form: Form, case: tuple[str, str, str]) -> None:
    values = bit_patterns(case[1])
    got = suite(form).run("_".join(case), values)
    np.testing.assert_array_equal(got.view(np.uint8), values.view(np.uint8))


def test_f64_to_bf16_rounds_once() -> None:
    """Just above a tie of bf16, by less than f32 can hold: going through f32 would round to even."""
    values = np.array([1 + 2**-8 + 2**-40, 1 + 3 * 2**-8 - 2**-40, 1 + 2**-8])
    function = Elementwise("f", ["f64"], ["bf16"], "%r = arith.truncf %a : f64 to bf16")
    got = Suite([function]).run("f", values).astype(np.float64)
    np.testing.assert_array_equal(got, [1 + 2**-7, 1 + 2**-7, 1.0])


def test_leftover_cast_between_equal_types_is_nothing() -> None:
    body = '%x = "builtin.unrealized_conversion_cast"(%a) : (i64) -> index\n'
    body += '%r = "builtin.unrealized_conversion_cast"(%x) : (index) -> i64'
    values = bit_patterns("i64")
    np.testing.assert_array_equal(Suite([Elementwise("f", ["i64"], ["i64"], body)]).run("f", values), values)


def test_leftover_cast_between_different_types_is_refused() -> None:
    text = """
    func.func @f(%a: i32) -> f64 {
      %0 = "builtin.unrealized_conversion_cast"(%a) : (i32) -> f64
      func.return %0 : f64
    }"""
    with pytest.raises(LoweringError, match=r"unrealized_conversion_cast.*\(i32\) -> \(f64\): the types differ"):
        emit_module_text(parse(text))
