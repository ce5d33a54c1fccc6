"""Math ops in every float type, within a few units in the last place of a float64 reference."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import ml_dtypes
import numpy as np
import pytest

from tests.codegen.mlir_run import DTYPES, FORMS, Elementwise, Form, Suite, equal_bits

COUNT = 512
FLOATS = ("f16", "bf16", "f32", "f64")
INTS = ("i8", "i16", "i32", "i64")
FLOAT_CASES = [(form, element) for form in FORMS for element in FLOATS if form.covers(element)]
INT_CASES = [(form, element) for form in FORMS for element in INTS if form.covers(element)]

Reference = Callable[..., np.ndarray]


@dataclass(frozen=True)
class Function:
    """A reference and the interval its arguments come from; ``ulps`` is the accepted error."""

    reference: Reference
    low: float = -4.0
    high: float = 4.0
    ulps: int = 4


def each(function: Callable[[float], float]) -> Reference:
    return np.vectorize(function, otypes=[np.float64])


def half_away(x: np.ndarray) -> np.ndarray:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


UNARY: dict[str, Function] = {
    "absf": Function(np.abs, ulps=0),
    "ceil": Function(np.ceil, ulps=0),
    "floor": Function(np.floor, ulps=0),
    "trunc": Function(np.trunc, ulps=0),
    "round": Function(half_away, ulps=0),
    "roundeven": Function(np.rint, ulps=0),
    "sqrt": Function(np.sqrt, 0.0, 100.0, ulps=0),
    "rsqrt": Function(lambda x: 1 / np.sqrt(x), 0.1, 100.0, ulps=2),
    "exp": Function(np.exp),
    "exp2": Function(np.exp2),
    "expm1": Function(np.expm1),
    "log": Function(np.log, 0.01, 100.0),
    "log2": Function(np.log2, 0.01, 100.0),
    "log10": Function(np.log10, 0.01, 100.0),
    "log1p": Function(np.log1p, -0.9, 100.0),
    "sin": Function(np.sin),
    "cos": Function(np.cos),
    "tan": Function(np.tan, -1.5, 1.5),
    "asin": Function(np.arcsin, -1.0, 1.0),
    "acos": Function(np.arccos, -1.0, 1.0),
    "atan": Function(np.arctan),
    "sinh": Function(np.sinh),
    "cosh": Function(np.cosh),
    "tanh": Function(np.tanh),
    "asinh": Function(np.arcsinh),
    "acosh": Function(np.arccosh, 1.0, 100.0),
    "atanh": Function(np.arctanh, -0.99, 0.99),
    "cbrt": Function(np.cbrt),
    "erf": Function(each(math.erf)),
    "erfc": Function(each(math.erfc)),
}
BINARY: dict[str, Function] = {
    "powf": Function(np.power, 0.1, 4.0),
    "atan2": Function(np.arctan2),
    "copysign": Function(np.copysign, ulps=0),
}
TERNARY: dict[str, Function] = {
    "clampf": Function(lambda x, low, high: np.minimum(np.maximum(x, low), high), ulps=0),
}
CLASSES: dict[str, Reference] = {
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
}


def call_text(op: str, count: int) -> str:
    operands, types = ", ".join(f"%{name}" for name in "abc"[:count]), ", ".join(["{T}"] * count)
    return f'%r = "math.{op}"({operands}) : ({types}) -> {{R}}'


@cache
def suite(form: Form) -> Suite:
    lanes, functions = form.lanes, []
    for element in filter(form.covers, FLOATS):
        for count, table in ((1, UNARY), (2, BINARY), (3, TERNARY)):
            for op in table:
                body = call_text(op, count)
                functions.append(Elementwise(f"{op}_{element}", [element] * count, [element], body, lanes))
        functions.append(Elementwise(f"fma_{element}", [element] * 3, [element], call_text("fma", 3), lanes))
        for op in (*CLASSES, "isnormal"):
            functions.append(Elementwise(f"{op}_{element}", [element], ["i1"], call_text(op, 1), lanes))
        sincos = '%r, %s = "math.sincos"(%a) : ({T}) -> ({T}, {T})'
        functions.append(Elementwise(f"sincos_{element}", [element], [element] * 2, sincos, lanes))
        exponent = "vector<4xi32>" if lanes else "i32"
        power = f'%r = "math.fpowi"(%a, %b) : ({{T}}, {exponent}) -> {{T}}'
        functions.append(Elementwise(f"fpowi_{element}", [element, "i32"], [element], power, lanes))
    for element in filter(form.covers, INTS):
        for op in ("absi", "ctlz", "cttz", "ctpop"):
            functions.append(Elementwise(f"{op}_{element}", [element], [element], call_text(op, 1), lanes))
        functions.append(Elementwise(f"ipowi_{element}", [element] * 2, [element], call_text("ipowi", 2), lanes))
    return Suite(functions, triple=form.triple)


def samples(element: str, function: Function, seed: int) -> np.ndarray:
    values = np.random.default_rng(seed).uniform(function.low, function.high, COUNT).astype(DTYPES[element])
    return np.clip(values.astype(np.float64), function.low, function.high).astype(DTYPES[element])


def ulp(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The distance between neighbours of ``dtype`` at each value."""
    info = ml_dtypes.finfo(dtype)
    exponent = np.floor(np.log2(np.maximum(np.abs(values), float(info.smallest_normal))))
    return 2.0 ** (exponent - info.nmant)


def check(got: np.ndarray, want: np.ndarray, ulps: int) -> None:
    if ulps == 0:
        assert equal_bits(got, want.astype(got.dtype))
        return
    error = np.abs(got.astype(np.float64) - want) / ulp(want, got.dtype)
    assert np.nanmax(error) <= ulps, f"{np.nanmax(error)} units in the last place"
    np.testing.assert_array_equal(np.isnan(got.astype(np.float64)), np.isnan(want))


@pytest.mark.parametrize(("form", "element"), FLOAT_CASES, ids=str)
@pytest.mark.parametrize("op", [*UNARY, *BINARY, *TERNARY])
def test_functions(form: Form, op: str, element: str) -> None:
    table = next(table for table in (UNARY, BINARY, TERNARY) if op in table)
    count, function = [UNARY, BINARY, TERNARY].index(table) + 1, table[op]
    arrays = [samples(element, function, seed) for seed in range(count)]
    want = function.reference(*(array.astype(np.float64) for array in arrays))
    check(suite(form).run(f"{op}_{element}", *arrays), want, function.ulps)


@pytest.mark.parametrize(("form", "element"), FLOAT_CASES, ids=str)
def test_fma_rounds_once(form: Form, element: str) -> None:
    """a*b is one plus a tail that only an unrounded product keeps; c takes the one away."""
    digits = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}[element]
    tail = 2.0 ** -(digits // 2 + 1)
    a = np.array([1 + tail, 1 - tail, 3.0, 0.1]).astype(DTYPES[element])
    b = np.array([1 - tail, 1 - tail, 5.0, 10.0]).astype(DTYPES[element])
    c = np.array([-1.0, -1.0, -15.0, -1.0]).astype(DTYPES[element])
    exact = a.astype(np.longdouble) * b.astype(np.longdouble) + c.astype(np.longdouble)
    assert equal_bits(suite(form).run(f"fma_{element}", a, b, c), exact.astype(np.float64).astype(DTYPES[element]))


@pytest.mark.parametrize(("form", "element"), FLOAT_CASES, ids=str)
def test_classification(form: Form, element: str) -> None:
    dtype = DTYPES[element]
    patterns = np.random.default_rng(4).integers(0, 256, COUNT * dtype.itemsize).astype(np.uint8).view(dtype)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0]).astype(dtype)
    tiny = (np.array([0.5, -0.5, 1.0, 2.0]) * float(ml_dtypes.finfo(dtype).smallest_normal)).astype(dtype)
    values = np.resize(np.concatenate([special, tiny, patterns]), COUNT)
    for op, reference in CLASSES.items():
        np.testing.assert_array_equal(suite(form).run(f"{op}_{element}", values).astype(bool), reference(values))
    wide = np.abs(values.astype(np.float64))
    normal = np.isfinite(wide) & (wide >= float(ml_dtypes.finfo(dtype).smallest_normal))
    np.testing.assert_array_equal(suite(form).run(f"isnormal_{element}", values).astype(bool), normal)


@pytest.mark.parametrize(("form", "element"), FLOAT_CASES, ids=str)
def test_sincos(form: Form, element: str) -> None:
    values = samples(element, UNARY["sin"], 0)
    sine, cosine = suite(form).run_all(f"sincos_{element}", values)
    check(sine, np.sin(values.astype(np.float64)), 4)
    check(cosine, np.cos(values.astype(np.float64)), 4)


@pytest.mark.parametrize(("form", "element"), FLOAT_CASES, ids=str)
def test_float_to_an_integer_power(form: Form, element: str) -> None:
    values = np.random.default_rng(1).uniform(0.5, 1.5, COUNT).astype(DTYPES[element])
    powers = np.random.default_rng(2).integers(-7, 8, COUNT).astype(np.int32)
    check(suite(form).run(f"fpowi_{element}", values, powers), values.astype(np.float64) ** powers, 8)
    if element != "f64":  # in which nothing wider is at hand
        powers *= 1000
        values = (1 + values.astype(np.float64) / 3000).astype(values.dtype)
        check(suite(form).run(f"fpowi_{element}", values, powers), values.astype(np.float64) ** powers, 2)


@pytest.mark.parametrize(("form", "element"), INT_CASES, ids=str)
def test_bit_counts_and_magnitude(form: Form, element: str) -> None:
    dtype = DTYPES[element]
    bits = dtype.itemsize * 8
    values = np.random.default_rng(1).integers(0, 256, COUNT * dtype.itemsize).astype(np.uint8).view(dtype)
    values[:4] = [0, 1, -1, np.iinfo(dtype).min]
    words = [format(int(value) & ((1 << bits) - 1), f"0{bits}b") for value in values]
    want = {
        "ctpop": [word.count("1") for word in words],
        "ctlz": [len(word) - len(word.lstrip("0")) for word in words],
        "cttz": [len(word) - len(word.rstrip("0")) for word in words],
    }
    for op, numbers in want.items():
        np.testing.assert_array_equal(suite(form).run(f"{op}_{element}", values), np.array(numbers).astype(dtype))
    np.testing.assert_array_equal(suite(form).run(f"absi_{element}", values), np.abs(values))


@pytest.mark.parametrize(("form", "element"), INT_CASES, ids=str)
def test_integer_power(form: Form, element: str) -> None:
    dtype = DTYPES[element]
    bits = dtype.itemsize * 8
    bases = np.array([2, 3, -2, 1, -1, -1, 2, 5, 0, 7, 1, -3], dtype)
    powers = np.array([3, 4, 5, -3, -3, -4, -1, 0, 3, 1, 100, 2], dtype)
    inverse = {1: 1, -1: -1}
    want = []
    for base, power in zip(bases.tolist(), powers.tolist()):
        value = base**power if power >= 0 else inverse.get(base, 0) ** -power
        want.append(((value + (1 << (bits - 1))) & ((1 << bits) - 1)) - (1 << (bits - 1)))
    np.testing.assert_array_equal(suite(form).run(f"ipowi_{element}", bases, powers), np.array(want, dtype))
