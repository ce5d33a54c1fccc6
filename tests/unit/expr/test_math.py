"""The math functions: folded against NumPy and Python, emitted by name."""

from __future__ import annotations

import math as python_math
from typing import Any

import numpy as np
import pytest

from flydsl.expr import math
from flydsl.expr import numeric as n
from flydsl.expr.numbers.fastmath import fastmath
from flydsl.expr.numbers.math_table import FLOAT_FUNCTIONS
from flydsl.expr.vector import Vector
from tests.unit.expr import operator_table as table
from tests.unit.expr.recording import recording

INF, NAN = python_math.inf, python_math.nan
NUMPY_FUNCTIONS: dict[str, Any] = {
    **{name: getattr(np, name) for name in ("ceil", "floor", "trunc", "exp", "exp2", "expm1", "log", "log2", "log10")},
    **{name: getattr(np, name) for name in ("log1p", "sqrt", "cbrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "absf": np.fabs,
    "roundeven": np.rint,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "round": lambda x: np.copysign(np.floor(np.fabs(x) + 0.5), x),
    "erf": np.vectorize(python_math.erf),
    "erfc": np.vectorize(python_math.erfc),
}
SAMPLES = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 0.3, 10.0, -3.7, 200.0, 1e4, INF, -INF, NAN]


def test_every_function_has_a_reference() -> None:
    assert set(NUMPY_FUNCTIONS) == set(FLOAT_FUNCTIONS)


@pytest.mark.parametrize("name", FLOAT_FUNCTIONS)
@pytest.mark.parametrize("dtype", table.STANDARD_FLOATS, ids=str)
def test_folded(name: str, dtype: Any) -> None:
    for sample in SAMPLES:
        value = table.in_float(dtype, sample)
        with np.errstate(all="ignore"):
            exact = float(NUMPY_FUNCTIONS[name](np.float64(value)))
        wanted = table.in_float(dtype, exact)
        got = getattr(math, name)(dtype(value))
        assert type(got) is dtype
        ulp = 2.0**-50 if dtype is n.Float64 else 2.0**-(dtype.format.layout.mantissa)
        assert table.same(got.value, wanted, tolerance=ulp), f"{name}({dtype}({value}))"


@pytest.mark.parametrize("name", [*FLOAT_FUNCTIONS])
def test_emitted(name: str) -> None:
    function = getattr(math, name)
    with recording() as trace:
        function(n.Float32(trace.argument("a", "f32")))
        function(Vector(trace.argument("v", "vector<4xf16>")), fastmath="afn")
        result = function(n.Float8E5M2(trace.argument("q", "f8E5M2")))
    assert trace.lines == [
        f"%0 = math.{name} %a : f32",
        f"%1 = math.{name} %v {{fastmath=afn}} : vector<4xf16>",
        "%2 = arith.extf %q : f32",
        f"%3 = math.{name} %2 : f32",
        "%4 = arith.truncf %3 : f8E5M2",
    ]
    assert type(result) is n.Float8E5M2
    with pytest.raises(TypeError, match="works on floats"):
        function(n.Int32(3))


def test_python_numbers() -> None:
    assert type(math.sqrt(4)) is n.Float32 and math.sqrt(4).value == 2.0 and math.exp2(3.0).value == 8.0
    assert math.round(2.5).value == 3.0 and math.round(-2.5).value == -3.0 and math.roundeven(2.5).value == 2.0
    assert math.log(0.0).value == -INF and python_math.isnan(math.sqrt(-1.0).value) and math.exp(1e4).value == INF
    assert python_math.copysign(1, math.ceil(-0.5).value) == -1.0


@pytest.mark.parametrize("dtype", [n.Int8, n.Uint8, n.Int32, n.Int64, n.Index], ids=str)
def test_integer_functions(dtype: Any) -> None:
    for value in table.samples_of(dtype):
        bits = format(int(value) % (1 << dtype.width), f"0{dtype.width}b")
        assert math.ctpop(dtype(value)).value == bits.count("1")
        assert math.ctlz(dtype(value)).value == len(bits) - len(bits.lstrip("0"))
        assert math.cttz(dtype(value)).value == len(bits) - len(bits.rstrip("0"))
    assert math.absi(n.Int8(-3)).value == 3 and math.absi(n.Int8(-128)).value == -128
    with recording() as trace:
        math.ctlz(dtype(trace.argument("a", dtype.ir_type)))
        assert trace.lines == [f"%0 = math.ctlz %a : {dtype.ir_type}"]
    with pytest.raises(TypeError, match="integers"):
        math.ctpop(1.0)


def test_binary() -> None:
    assert math.powf(2.0, 0.5).value == np.float32(2**0.5) and type(math.powf(n.Float16(2), 3.0)) is n.Float16
    assert math.atan2(1.0, -1.0).value == np.float32(python_math.atan2(1, -1))
    assert math.copysign(2.0, -0.0).value == -2.0
    assert math.fpowi(n.Float16(2), 3).value == 8.0 and math.ipowi(3, 4).value == 81
    assert math.ipowi(2, -1).value == 0 and math.ipowi(-1, -3).value == -1
    with recording() as trace:
        half = n.Float16(trace.argument("a", "f16"))
        math.powf(half, 2.0)
        math.atan2(half, half)
        math.copysign(half, 1)
        math.fpowi(half, 2)
        math.ipowi(n.Int32(trace.argument("i", "i32")), 2)
    assert [line.split(" = ")[1] for line in trace.lines] == [
        "math.powf %a 2.0 : f16",
        "math.atan2 %a %a : f16",
        "math.copysign %a 1.0 : f16",
        "math.fpowi %a 2 : f16",
        "math.ipowi %i 2 : i32",
    ]
    with pytest.raises(TypeError):
        math.fpowi(2.0, 3.0)
    with pytest.raises(TypeError):
        math.ipowi(2.0, 3)


def test_power_corner_cases() -> None:
    assert math.powf(0.0, -1.0).value == INF and math.powf(-0.0, -1.0).value == -INF
    assert python_math.isnan(math.powf(-1.0, 0.5).value) and math.powf(-1e30, 3.0).value == -INF
    with pytest.raises(ZeroDivisionError):
        math.ipowi(0, -1)


def test_fma_rounds_once() -> None:
    a = 1 + 2**-23
    b = 1 + 2**-22
    assert math.fma(a, a, -b).value == 2**-46 and (n.Float32(a) * a - b).value == 0.0
    assert math.fma(INF, 1.0, 0.0).value == INF and python_math.isnan(math.fma(INF, 0.0, 1.0).value)
    assert math.fma(n.Float16(2), 3, 1).value == 7.0
    with recording() as trace:
        x = n.Float32(trace.argument("a", "f32"))
        math.fma(x, 2.0, 1)
        wide = math.fma(Vector(trace.argument("v", "vector<4xf32>")), x, 0.0)
    assert wide.shape == (4,)
    assert trace.lines == [
        "%0 = math.fma %a 2.0 1.0 : f32",
        "%1 = vector.broadcast %a : vector<4xf32>",
        "%2 = math.fma %v %1 0.0 : vector<4xf32>",
    ]


def test_clampf() -> None:
    assert [math.clampf(x, -1.0, 1.0).value for x in (-3.0, 0.5, 9.0)] == [-1.0, 0.5, 1.0]
    assert python_math.isnan(math.clampf(NAN, -1.0, 1.0).value)


def test_sincos() -> None:
    sine, cosine = math.sincos(0.0)
    assert (sine.value, cosine.value) == (0.0, 1.0)


CLASSES = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}


@pytest.mark.parametrize("dtype", table.STANDARD_FLOATS, ids=str)
def test_classification(dtype: Any) -> None:
    tiny = python_math.ldexp(1.0, dtype.format.layout.min_exponent)
    for value in (0.0, 1.0, -2.0, INF, -INF, NAN, tiny, tiny / 2):
        for name, reference in CLASSES.items():
            result = getattr(math, name)(dtype(value))
            assert type(result) is n.Boolean and bool(result) is bool(reference(value)), f"{name}({value})"
        assert bool(math.isnormal(dtype(value))) is bool(np.isfinite(value) and abs(value) >= tiny)


def test_classification_ignores_fast_math() -> None:
    with recording() as trace, fastmath("fast"):
        x = n.Float32(trace.argument("a", "f32"))
        for function in (math.isnan, math.isinf, math.isfinite, math.isnormal):
            function(x)
    assert trace.lines and not any("fastmath" in line for line in trace.lines)
    assert trace.lines[0] == "%0 = arith.cmpf %a %a {predicate=uno} : i1"
