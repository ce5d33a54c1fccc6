"""Number classes: facts, literals, promotion, conversion, what Python may ask of a static value."""

from __future__ import annotations

import math
import operator
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from flydsl.base.errors import DslRuntimeError, FlyDSLError
from flydsl.expr import numeric as n
from flydsl.expr.numbers.promotion import promote
from tests.unit.expr import operator_table as table
from tests.unit.expr.recording import recording


@pytest.mark.parametrize("lhs", table.TYPES, ids=str)
def test_promotion(lhs: Any) -> None:
    for rhs in table.TYPES:
        wanted = table.common_type(lhs, rhs)
        if wanted is None:
            with pytest.raises(ValueError, match="no common type"):
                promote(lhs.format, rhs.format)
        else:
            assert promote(lhs.format, rhs.format) is wanted.format, f"{lhs} with {rhs}"


PROMOTION_EXAMPLES = [
    (n.Float16, n.Int8, n.Float16),
    (n.Float16, n.Int32, n.Float32),
    (n.Float32, n.Int64, n.Float64),
    (n.Float16, n.BFloat16, n.Float32),
    (n.Uint8, n.Int32, n.Int32),
    (n.Uint32, n.Int32, n.Uint32),
    (n.Index, n.Int32, n.Index),
    (n.Index, n.Uint64, n.Index),
    (n.Index, n.Int64, n.Index),
    (n.Boolean, n.Int8, n.Int32),
    (n.Float8E4M3FN, n.BFloat16, n.BFloat16),
    (n.Float8E4M3FN, n.Float32, n.Float32),
]


@pytest.mark.parametrize(("lhs", "rhs", "wanted"), PROMOTION_EXAMPLES, ids=lambda t: str(t))
def test_promotion_examples(lhs: Any, rhs: Any, wanted: Any) -> None:
    assert type(lhs(1) + rhs(1)) is wanted
    assert type(rhs(1) + lhs(1)) is wanted


LITERALS = [
    (3, n.Int32),
    (-(2**31), n.Int32),
    (2**31, n.Int64),
    (2**63, n.Uint64),
    (2**64, n.Int128),
    (2**127, n.Uint128),
    (2.5, n.Float32),
    (True, n.Boolean),
    (np.int64(4), n.Int32),
    (np.float64(1.5), n.Float32),
    (np.float32(1.5), n.Float32),
]


@pytest.mark.parametrize(("value", "wanted"), LITERALS, ids=repr)
def test_literals(value: Any, wanted: Any) -> None:
    number = n.as_numeric(value)
    assert type(number) is wanted
    assert number.value == value


def test_literal_errors() -> None:
    with pytest.raises(ValueError, match="128 bits"):
        n.as_numeric(2**128)
    with pytest.raises(TypeError, match="not a number"):
        n.as_numeric("3")
    with pytest.raises(TypeError, match="family"):
        n.Integer(3)
    with pytest.raises(TypeError):
        n.Int32("3")


def test_class_facts() -> None:
    assert (n.Int32.width, n.Int32.log_width, n.Int32.signed) == (32, 5, True)
    assert n.Int32.ir_type == "i32" and n.Boolean.ir_type == "i1" and n.Index.ir_type == "index"
    assert n.Uint16.ir_type == "i16" and not n.Uint16.signed
    assert n.Float8E4M3FNUZ.ir_type == "f8E4M3FNUZ" and n.Float4E2M1FN.width == 4
    assert n.Int32.is_integer and not n.Int32.is_float and n.Float16.is_float
    assert n.Int32.zero.value == 0 and type(n.Float16.zero) is n.Float16
    assert issubclass(n.Boolean, n.Integer) and issubclass(n.Float32, n.Float)
    assert str(n.Int32) == "Int32"


@pytest.mark.parametrize("dtype", table.TYPES, ids=str)
def test_numpy_dtype(dtype: Any) -> None:
    if dtype in (n.Int128, n.Uint128):
        assert dtype.numpy_dtype is None
    elif dtype in table.FLOATS:
        assert dtype.numpy_dtype == table.numpy_type(dtype)
    elif dtype is n.Index:
        assert dtype.numpy_dtype == np.uint64
    else:
        assert dtype.numpy_dtype.name == dtype.__name__.lower().replace("boolean", "bool")


def test_a_type_equals_the_dtype_of_other_libraries() -> None:
    import ml_dtypes

    assert n.Float32 == np.float32 and np.float32 == n.Float32 and n.Float32 == np.dtype("float32")
    assert n.Float32 != np.float64 and n.Int32 != np.dtype("uint32") and (n.Float32 != np.float32) is False
    assert n.Boolean == np.bool_ and n.BFloat16 == ml_dtypes.bfloat16 and n.Int4 == ml_dtypes.int4
    assert n.Float32 != np.floating and n.Float32 != np.generic and n.Numeric != np.float32
    assert n.Float32 == n.Float32 and n.Float32 != n.Float64 and n.Float32 != "float32" and n.Float32 is not None
    assert {n.Float32: 1, n.Int32: 2}[n.Int32] == 2 and n.Index != np.uint64 == n.Uint64


def test_a_type_equals_a_dtype_of_torch() -> None:
    torch = pytest.importorskip("torch", reason="its dtypes are compared")
    assert n.Float32 == torch.float32 and torch.bfloat16 == n.BFloat16 and n.Boolean == torch.bool
    assert n.Float32 != torch.float64 and n.Uint8 != torch.int8 and n.Float8E4M3FN == torch.float8_e4m3fn


@pytest.mark.parametrize("dtype", table.TYPES, ids=str)
def test_ir_type_round_trip(dtype: Any) -> None:
    found = n.Numeric.from_ir_type(dtype.ir_type)
    assert found.ir_type == dtype.ir_type and found.width == dtype.width
    assert found is dtype or dtype in table.UNSIGNED, "only the sign of an integer is lost"
    if dtype in table.UNSIGNED:
        assert found.signed


def test_wrapping() -> None:
    assert n.Int8(200).value == -56
    assert (n.Uint32(0xFFFFFFFF) + 2).value == 1
    assert n.Index(-1).value == 2**64 - 1
    assert n.Boolean(7).value == 1 and n.Boolean(0.0).value == 0


@pytest.mark.parametrize("source", table.INTEGERS, ids=str)
@pytest.mark.parametrize("target", table.INTEGERS, ids=str)
def test_integer_conversions(source: Any, target: Any) -> None:
    for value in table.samples_of(source):
        wanted = int(value != 0) if target is n.Boolean else table.in_integer(target, int(value))
        assert target(source(value)).value == wanted


@pytest.mark.parametrize("source", table.INTEGERS, ids=str)
@pytest.mark.parametrize("target", table.FLOATS, ids=str)
def test_integer_to_float(source: Any, target: Any) -> None:
    for value in table.samples_of(source):
        assert table.same(source(value).to(target).value, table.in_float(target, value)), f"{source}({value})"


@pytest.mark.parametrize("source", table.STANDARD_FLOATS, ids=str)
@pytest.mark.parametrize("target", table.FLOATS, ids=str)
def test_float_to_float(source: Any, target: Any) -> None:
    for value in table.samples_of(source):
        assert table.same(source(value).to(target).value, table.in_float(target, value)), f"{source}({value})"


@pytest.mark.parametrize("source", table.STANDARD_FLOATS, ids=str)
@pytest.mark.parametrize("target", table.INTEGERS, ids=str)
def test_float_to_integer(source: Any, target: Any) -> None:
    for value in table.samples_of(source):
        if not np.isfinite(value):
            continue
        wanted = int(value != 0) if target is n.Boolean else table.nearest_integer(target, int(value))
        assert source(value).to(target).value == wanted, f"{source}({value})"


def test_python_may_use_a_static_value() -> None:
    assert bool(n.Int32(3) == 3) is True and bool(n.Int32(3) == 4) is False
    assert int(n.Int32(3)) == 3 and float(n.Float32(0.5)) == 0.5 and [7, 8, 9][n.Int32(1)] == 8
    assert list(range(n.Int32(3))) == [0, 1, 2]
    assert {n.Int32(3): "a"}[3] == "a" and hash(n.Float32(2.0)) == hash(2)
    assert repr(n.Int32(3)) == "Int32(3)" and repr(n.Boolean(1)) == "Boolean(True)"
    assert n.Int32(np.array(3)).value == 3, "anything with __index__ can be converted"
    assert (n.Int32(3) == None) is False and n.Int32(3) != "3"  # noqa: E711
    with pytest.raises(TypeError, match="index"):
        operator.index(n.Float32(1.0))


def test_a_float_beside_a_double_is_what_was_written() -> None:
    double = n.Float64(1)
    chosen = n.Boolean(True).select(0.1, double)
    written = [double * 0.1, 0.1 * double, double * np.float64(0.1), n.Int64(1) * 0.1, chosen]
    assert [(type(x), x.value) for x in written] == [(n.Float64, 0.1)] * 5
    assert double + 1e300 == 1e300 and n.Float64(0.1) == 0.1
    single = [n.as_numeric(0.1), n.Float32(1) * 0.1, n.Float64(n.Float32(0.1)), n.Float64(1) * n.Float32(0.1)]
    assert [x.value for x in single] == [float(np.float32(0.1))] * 4
    assert {type(x.value) for x in [*written, *single]} == {float}
    assert repr(n.as_numeric(0.1)) == "Float32(0.10000000149011612)" and (n.Float32(1) * 1e300).value == math.inf


def test_divmod_and_reflected() -> None:
    assert [x.value for x in divmod(n.Int32(-7), 3)] == [-3, 2]
    assert [x.value for x in divmod(-7, n.Int32(3))] == [-3, 2]
    assert (10 - n.Int32(3)).value == 7 and (2 ** n.Int32(5)).value == 32 and (1 / n.Float32(4)).value == 0.25
    assert bool(operator.lt(3, n.Int32(4))) and (1 << n.Int32(4)).value == 16


@pytest.mark.parametrize("op", [operator.floordiv, operator.mod])
def test_static_division_by_zero(op: Any) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        op(n.Int32(3), 0)
    assert isinstance(caught.value, FlyDSLError)


def test_float_division_by_zero_is_ieee() -> None:
    assert (n.Float32(1) / 0.0).value == float("inf") and (n.Float32(-1) / 0.0).value == float("-inf")
    assert (n.Float32(1) / -0.0).value == float("-inf")
    assert np.isnan((n.Float32(0) / 0.0).value) and np.isnan((n.Float32(1) % 0.0).value)


def test_float_division_follows_python() -> None:
    assert (n.Float64(1.0) // 0.1).value == 1.0 // float(np.float32(0.1))
    assert (n.Float64(1.0) // n.Float64(0.1)).value == 1.0 // 0.1 == 9.0
    assert (n.Float64(-1.0) % n.Float64(0.3)).value == -1.0 % 0.3
    assert (n.Float32(-1) // float("inf")).value == -1.0 // float("inf")


def test_negative_shift_is_an_error() -> None:
    with pytest.raises(ValueError, match="shift"):
        n.Int32(1) << -1


def test_rewriter_hooks_fold() -> None:
    yes, no = n.Int32(2), n.Float32(0.0)
    assert yes.__dsl_bool__().value == 1 and type(yes.__dsl_bool__()) is n.Boolean
    assert bool(yes.__dsl_and__(no)) is False and bool(yes.__dsl_or__(False)) is True
    assert bool(no.__dsl_not__()) is True


def test_select_folds() -> None:
    chosen = n.Boolean(True).select(1, 2.5)
    assert type(chosen) is n.Float32 and chosen.value == 1.0
    with pytest.raises(TypeError, match="Boolean"):
        n.Int32(1).select(1, 2)


def test_static_rounding_mode_is_an_error() -> None:
    with pytest.raises(ValueError, match="nearest even"):
        n.Float32(1).to(n.Float16, rounding_mode="upward")


@pytest.mark.parametrize("ask", [bool, int, float, operator.index], ids=["bool", "int", "float", "index"])
def test_python_may_not_use_a_run_time_value(ask: Any) -> None:
    with recording() as trace:
        value = n.Int32(trace.argument("a", "i32"))
        with pytest.raises(DslRuntimeError) as caught:
            ask(value)
        assert "run-time Int32" in str(caught.value) and caught.value.hint
        assert isinstance(caught.value, RuntimeError)


def test_run_time_value_outside_a_trace() -> None:
    with pytest.raises(DslRuntimeError, match="traced"):
        n.Int32(3).ir_value()


def test_classes_pickle_by_name() -> None:
    assert pickle.loads(pickle.dumps(n.Int32)) is n.Int32


def test_importing_the_language_is_light() -> None:
    program = (
        "import sys, flydsl.expr.arith, flydsl.expr.math, flydsl.expr.vector\n"
        "heavy = {'xdsl', 'llvmlite', 'numpy', 'ml_dtypes'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env={"PYTHONPATH": "python"})
