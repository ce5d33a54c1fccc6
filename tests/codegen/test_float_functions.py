"""Our own arithmetic for math functions, run on this machine: error bounds over the whole range of f32, f16 and bf16.

The formulas use no instruction whose result differs between machines, so what holds here holds on a GPU.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from flydsl.backends.lowering.rule_conversion import convert_dialect
from flydsl.backends.pipeline import PASSES
from flydsl.codegen.floats.float_functions import FORMULAS, RULES
from flydsl.codegen.llvm_build import optimised_text
from flydsl.codegen.module_emitter import emit_module_text
from flydsl.tools.ir_reader import read_module
from tests.codegen.llvm_normal_form import normalised
from tests.codegen.math_samples import FUNCTIONS, arguments, random_bits, ulps_between
from tests.codegen.mlir_run import DTYPES, Elementwise, Suite, equal_bits
from tests.support import random_data

COUNT = 1 << 15
LANES = 4


def elementwise(name: str, element: str, lanes: int) -> Elementwise:
    count = FUNCTIONS[name].arity
    operands, types = ", ".join(f"%{value}" for value in "ab"[:count]), ", ".join(["{T}"] * count)
    body = f'%r = "math.{name}"({operands}) : ({types}) -> {{R}}'
    return Elementwise(f"{name}_{element}", [element] * count, [element], body, lanes)


@cache
def suite(element: str, lanes: int) -> Suite:
    functions = [elementwise(name, element, lanes) for name in FUNCTIONS]
    sincos = '%r, %s = "math.sincos"(%a) : ({T}) -> ({T}, {T})'
    functions.append(Elementwise(f"sincos_{element}", [element], [element] * 2, sincos, lanes))
    return Suite(functions, rules=RULES)


def whole_vectors(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """The same arguments, of a length that vectors divide."""
    size = -(-arrays[0].size // LANES) * LANES
    return [np.resize(array, size) for array in arrays]


def test_every_formula_is_tested() -> None:
    assert {f"math.{name}" for name in FUNCTIONS} == set(FORMULAS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_error(name: str) -> None:
    function, arrays = FUNCTIONS[name], whole_vectors(arguments(name, COUNT))
    got = suite("f32", LANES).run(f"{name}_f32", *arrays)
    error = ulps_between(got, function.reference(*(array.astype(np.float64) for array in arrays)))
    worst = int(error.argmax())
    at = [float(array[worst]) for array in arrays]
    assert error[worst] <= function.ulps, f"{name}{tuple(at)} = {got[worst]} is {error[worst]} units off"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_scalars_and_vectors_agree(name: str) -> None:
    arrays = whole_vectors(arguments(name, 1 << 10))
    vectors = suite("f32", LANES).run(f"{name}_f32", *arrays)
    assert equal_bits(vectors, suite("f32", 0).run(f"{name}_f32", *arrays))


@pytest.mark.parametrize("element", ["f16", "bf16"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_short_floats(name: str, element: str) -> None:
    """Every number of the type; the error of f32 is invisible but where a result lies between two of them."""
    function, every = FUNCTIONS[name], np.arange(1 << 16, dtype=np.uint16).view(DTYPES[element])
    arrays = [every]
    if function.arity == 2:
        arrays = [every, random_bits(random_data.generator(), every.size, np.uint16).view(DTYPES[element])]
    got = suite(element, LANES).run(f"{name}_{element}", *arrays)
    error = ulps_between(got, function.reference(*(array.astype(np.float64) for array in arrays)))
    assert error.max() <= 0.502, (name, [float(array[error.argmax()]) for array in arrays])


def test_sine_and_cosine_together() -> None:
    (values,) = whole_vectors(arguments("sin", 1 << 10))
    sine, cosine = suite("f32", LANES).run_all("sincos_f32", values)
    assert equal_bits(sine, suite("f32", LANES).run("sin_f32", values))
    assert equal_bits(cosine, suite("f32", LANES).run("cos_f32", values))


def test_negative_bases() -> None:
    """Whole exponents of negative whole numbers, exact where f32 holds the result."""
    base, power = (grid.ravel().astype(np.float32) for grid in np.meshgrid(np.arange(-12, 0), np.arange(-40, 44)))
    got = suite("f32", 0).run("powf_f32", base, power)
    want = np.power(base.astype(np.float64), power.astype(np.float64))
    assert (ulps_between(got, want) <= 0.51).all()
    exact = np.abs(want) < 2**24
    assert (got[exact & (power >= 0)] == want[exact & (power >= 0)]).all()


@pytest.mark.parametrize("form", ["f32", "vector<4xf32>", "f16", "vector<2xbf16>", "vector<2x2xf32>"])
def test_both_ways(form: str) -> None:
    """The passes read every line that a formula writes, and end in the same code as the text."""
    lines = [
        f"func.func @{name}({', '.join(f'%a{i}: {form}' for i in range(function.arity))}) -> {form} {{\n"
        f'  %r = "math.{name}"({", ".join(f"%a{i}" for i in range(function.arity))}) : '
        f"({', '.join([form] * function.arity)}) -> {form}\n  func.return %r : {form}\n}}"
        for name, function in FUNCTIONS.items()
    ]
    text = "\n".join(lines)
    short = emit_module_text(read_module(text, "functions", allow_unregistered=True), extra_rules=RULES)
    module = read_module(text, "functions", allow_unregistered=True)
    convert_dialect(module, RULES, lambda _: True)
    for step in ("convert-func-to-llvm", "reconcile-unrealized-casts"):
        PASSES[step].run(module)
    assert {op.name.split(".")[0] for op in module.walk()} == {"builtin", "llvm"}
    assert normalised(optimised_text(emit_module_text(module), level=1)) == normalised(optimised_text(short, level=1))
