"""Float arith ops in every type: bit-exact against NumPy and ml_dtypes, which round each op once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from tests.codegen.mlir_run import DTYPES, FORMS, Elementwise, Form, Suite, all_predicates, equal_bits, llvm_text

COUNT = 1024
NATIVE = ("f16", "bf16", "f32", "f64")
NARROW = ("f8E4M3FN", "f8E5M2FNUZ")
CASES = [(form, element) for form in FORMS for element in (*NATIVE, *NARROW) if form.covers(element)]

Reference = Callable[[np.ndarray, np.ndarray], np.ndarray]


def minimum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """NaN if either is NaN, minus zero below plus zero."""
    lower = np.where((a < b) | ((a == b) & np.signbit(a)), a, b)
    return np.where(np.isnan(a) | np.isnan(b), np.nan, lower)


def minnum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, minimum(a, b)))


BINARY: dict[str, Reference] = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "remf": np.fmod,
    "minimumf": minimum,
    "maximumf": lambda a, b: -minimum(-a, -b),
    "minnumf": minnum,
    "maxnumf": lambda a, b: -minnum(-a, -b),
}
PREDICATES: dict[str, Reference] = {
    "false": lambda a, b: np.zeros(a.shape, bool),
    "oeq": lambda a, b: a == b,
    "ogt": lambda a, b: a > b,
    "oge": lambda a, b: a >= b,
    "olt": lambda a, b: a < b,
    "ole": lambda a, b: a <= b,
    "one": lambda a, b: (a < b) | (a > b),
    "ord": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "ueq": lambda a, b: ~((a < b) | (a > b)),
    "ugt": lambda a, b: ~(a <= b),
    "uge": lambda a, b: ~(a < b),
    "ult": lambda a, b: ~(a >= b),
    "ule": lambda a, b: ~(a > b),
    "une": lambda a, b: ~(a == b),
    "uno": lambda a, b: np.isnan(a) | np.isnan(b),
    "true": lambda a, b: np.ones(a.shape, bool),
}


def samples(element: str, seed: int) -> np.ndarray:
    """Values around 1, random bit patterns, and the special values of the type.

    NaNs are quiet: what a signalling one does to minnum is the processor's choice.
    """
    dtype = DTYPES[element]
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 2, COUNT).astype(dtype)
    patterns = rng.integers(0, 256, COUNT // 2 * dtype.itemsize).astype(np.uint8).view(dtype)
    values[: COUNT // 2] = np.where(np.isnan(patterns), np.array(np.nan).astype(dtype), patterns)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0], np.float64).astype(dtype)
    pairs = special.size**2
    values[:pairs] = np.tile(special, special.size) if seed % 2 else np.repeat(special, special.size)
    return values


@cache
def suite(form: Form) -> Suite:
    lanes, functions = form.lanes, []
    for element in filter(form.covers, (*NATIVE, *NARROW)):
        for op in BINARY:
            body = f'%r = "arith.{op}"(%a, %b) : ({{T}}, {{T}}) -> {{T}}'
            functions.append(Elementwise(f"{op}_{element}", [element] * 2, [element], body, lanes))
        negate = '%r = "arith.negf"(%a) : ({T}) -> {T}'
        functions.append(Elementwise(f"negf_{element}", [element], [element], negate, lanes))
        compare = all_predicates("cmpf", len(PREDICATES), lanes)
        functions.append(Elementwise(f"cmpf_{element}", [element] * 2, ["i16"], compare, lanes))
        condition = "vector<4xi1>" if lanes else "i1"
        body = f'%k = "arith.cmpf"(%a, %b) <{{predicate = 2 : i64}}> : ({{T}}, {{T}}) -> {condition}\n'
        body += f'%r = "arith.select"(%k, %a, %b) : ({condition}, {{T}}, {{T}}) -> {{T}}'
        functions.append(Elementwise(f"select_{element}", [element] * 2, [element], body, lanes))
    return Suite(functions, triple=form.triple)


@pytest.mark.parametrize(("form", "element"), CASES, ids=str)
@pytest.mark.parametrize("op", BINARY)
def test_binary_ops_round_once(form: Form, op: str, element: str) -> None:
    a, b = samples(element, 1), samples(element, 2)
    wide = np.float64 if element == "f64" else np.float32
    want = BINARY[op](a.astype(wide), b.astype(wide)).astype(a.dtype)
    got = suite(form).run(f"{op}_{element}", a, b)
    if "num" in op:
        # Which zero of a pair wins is left open by minnum and maxnum.
        got, want = got + got.dtype.type(0), want + want.dtype.type(0)
    assert equal_bits(got, want)


@pytest.mark.parametrize(("form", "element"), CASES, ids=str)
@pytest.mark.parametrize("predicate", PREDICATES)
def test_comparisons(form: Form, predicate: str, element: str) -> None:
    a, b = samples(element, 1), samples(element, 2)
    want = PREDICATES[predicate](a.astype(np.float64), b.astype(np.float64))
    got = suite(form).run(f"cmpf_{element}", a, b) >> list(PREDICATES).index(predicate) & 1
    np.testing.assert_array_equal(got.astype(bool), want)


@pytest.mark.parametrize(("form", "element"), CASES, ids=str)
def test_negation_and_selection(form: Form, element: str) -> None:
    a, b = samples(element, 1), samples(element, 2)
    want = np.where(a.astype(np.float64) > b.astype(np.float64), a, b)
    assert equal_bits(suite(form).run(f"select_{element}", a, b), want)
    got = suite(form).run(f"negf_{element}", a)
    assert equal_bits(got, (-a.astype(np.float64)).astype(a.dtype))


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        ("fast", "fadd fast float"),
        ("reassoc,nsz", "fadd reassoc nsz float"),
        ("nnan,ninf,arcp,contract,afn", "fadd nnan ninf arcp contract afn float"),
        ("none", "fadd float"),
    ],
)
def test_fast_math_flags_reach_the_instruction(flags: str, text: str) -> None:
    source = f"func.func @f(%a: f32) -> f32 {{ %0 = arith.addf %a, %a fastmath<{flags}> : f32\n func.return %0 : f32 }}"
    assert text in llvm_text(source)
