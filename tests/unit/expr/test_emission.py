"""What run-time operations emit, line by line."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from flydsl.expr import numeric as n
from flydsl.expr.enum import FastMathFlags
from flydsl.expr.numbers.fastmath import fastmath
from tests.unit.expr import operator_table as table
from tests.unit.expr.recording import Recorder, recording


def value(trace: Recorder, dtype: Any, name: str = "a") -> Any:
    return dtype.__construct_from_ir_values__([trace.argument(name, dtype.ir_type)])


def emitted(dtype: Any, function: Callable[[Any], Any]) -> list[str]:
    """What a function of one run-time value emits."""
    with recording() as trace:
        function(value(trace, dtype))
    return trace.lines


def one(dtype: Any, function: Callable[[Any], Any]) -> str:
    (line,) = emitted(dtype, function)
    return line.removeprefix("%0 = ")


ARITHMETIC = [
    (n.Int32, lambda a: a + 1, "arith.addi %a 1 : i32"),
    (n.Int32, lambda a: 1 - a, "arith.subi 1 %a : i32"),
    (n.Int64, lambda a: a * 3, "arith.muli %a 3 : i64"),
    (n.Float32, lambda a: a + 1.5, "arith.addf %a 1.5 : f32"),
    (n.Float32, lambda a: 2 * a, "arith.mulf 2.0 %a : f32"),
    (n.Float32, lambda a: a / 2, "arith.divf %a 2.0 : f32"),
    (n.Uint32, lambda a: a // 3, "arith.divui %a 3 : i32"),
    (n.Uint32, lambda a: a % 3, "arith.remui %a 3 : i32"),
    (n.Int32, lambda a: a // 3, "arith.floordivsi %a 3 : i32"),
    (n.Int32, lambda a: a // 8, "arith.shrsi %a 3 : i32"),
    (n.Int32, lambda a: a % 8, "arith.remsi %a 8 : i32"),
    (n.Uint32, lambda a: a % 8, "arith.andi %a 7 : i32"),
    (n.Int32, lambda a: a % 3, "arith.remsi %a 3 : i32"),
    (n.Int32, lambda a: 3 % a, "arith.remsi 3 %a : i32"),
    (n.Float32, lambda a: a % 3.0, "arith.remf %a 3.0 : f32"),
    (n.Uint32, lambda a: a // 8, "arith.shrui %a 3 : i32"),
    (n.Index, lambda a: a % 64, "arith.andi %a 63 : index"),
    (n.Index, lambda a: a // 64, "arith.shrui %a 6 : index"),
    (n.Index, lambda a: a // 6, "arith.divui %a 6 : index"),
    (n.Int32, lambda a: a << 2, "arith.shli %a 2 : i32"),
    (n.Int32, lambda a: a >> 2, "arith.shrsi %a 2 : i32"),
    (n.Uint32, lambda a: a >> 2, "arith.shrui %a 2 : i32"),
    (n.Int32, lambda a: a.shrui(2), "arith.shrui %a 2 : i32"),
    (n.Int32, lambda a: a & 1, "arith.andi %a 1 : i32"),
    (n.Int32, lambda a: ~a, "arith.xori %a -1 : i32"),
    (n.Boolean, lambda a: ~a, "arith.xori %a 1 : i1"),
    (n.Boolean, lambda a: a | True, "arith.ori %a 1 : i1"),
    (n.Int32, lambda a: -a, "arith.subi 0 %a : i32"),
    (n.Float32, lambda a: -a, "arith.negf %a : f32"),
    (n.Int32, abs, "math.absi %a : i32"),
    (n.Float16, abs, "math.absf %a : f16"),
    (n.Float32, lambda a: a**2.0, "math.powf %a 2.0 : f32"),
    (n.Float32, lambda a: a**2, "math.fpowi %a 2 : f32"),
    (n.Int32, lambda a: a**3, "math.ipowi %a 3 : i32"),
    (n.Float32, lambda a: a.maximumf(0.0), "arith.maximumf %a 0.0 : f32"),
    (n.Float32, lambda a: a.minnumf(0.0), "arith.minnumf %a 0.0 : f32"),
    (n.Float32, lambda a: a.exp2(), "math.exp2 %a : f32"),
    (n.Float32, lambda a: a.addf(1), "arith.addf %a 1.0 : f32"),
    (n.Uint32, lambda a: a + 0xFFFFFFFF, None),
]


@pytest.mark.parametrize(("dtype", "function", "line"), ARITHMETIC, ids=[f"{t}-{x}" for t, _, x in ARITHMETIC])
def test_one_operation(dtype: Any, function: Any, line: str | None) -> None:
    if line is None:
        assert emitted(dtype, function)
    else:
        assert one(dtype, function) == line


COMPARISONS = [
    (n.Int32, "<", "arith.cmpi %a 3 {predicate=slt} : i1"),
    (n.Uint32, "<", "arith.cmpi %a 3 {predicate=ult} : i1"),
    (n.Index, ">=", "arith.cmpi %a 3 {predicate=uge} : i1"),
    (n.Int32, "==", "arith.cmpi %a 3 {predicate=eq} : i1"),
    (n.Int32, "!=", "arith.cmpi %a 3 {predicate=ne} : i1"),
    (n.Float32, "<", "arith.cmpf %a 3.0 {predicate=olt} : i1"),
    (n.Float32, "<=", "arith.cmpf %a 3.0 {predicate=ole} : i1"),
    (n.Float32, ">", "arith.cmpf %a 3.0 {predicate=ogt} : i1"),
    (n.Float32, "==", "arith.cmpf %a 3.0 {predicate=oeq} : i1"),
    (n.Float32, "!=", "arith.cmpf %a 3.0 {predicate=une} : i1"),
]


@pytest.mark.parametrize(("dtype", "symbol", "line"), COMPARISONS)
def test_comparison(dtype: Any, symbol: str, line: str) -> None:
    assert one(dtype, lambda a: table.COMPARISONS[symbol](a, 3)) == line


CASTS = [
    (n.Int8, n.Int32, ["arith.extsi %a : i32"]),
    (n.Uint8, n.Int32, ["arith.extui %a : i32"]),
    (n.Boolean, n.Int32, ["arith.extui %a : i32"]),
    (n.Int64, n.Int32, ["arith.trunci %a : i32"]),
    (n.Int32, n.Uint32, []),
    (n.Int32, n.Index, ["arith.index_cast %a : index"]),
    (n.Uint32, n.Index, ["arith.index_castui %a : index"]),
    (n.Index, n.Int32, ["arith.index_cast %a : i32"]),
    (n.Index, n.Int128, ["arith.index_castui %a : i128"]),
    (n.Int32, n.Float32, ["arith.sitofp %a : f32"]),
    (n.Uint32, n.Float32, ["arith.uitofp %a : f32"]),
    (n.Index, n.Float32, ["arith.index_cast %a : i64", "arith.uitofp %0 : f32"]),
    (n.Float32, n.Int32, ["arith.fptosi %a : i32"]),
    (n.Float32, n.Uint8, ["arith.fptoui %a : i8"]),
    (n.Float32, n.Index, ["arith.fptoui %a : i64", "arith.index_castui %0 : index"]),
    (n.Float16, n.Float32, ["arith.extf %a : f32"]),
    (n.Float32, n.BFloat16, ["arith.truncf %a : bf16"]),
    (n.Float16, n.BFloat16, ["arith.extf %a : f32", "arith.truncf %0 : bf16"]),
    (n.Float8E4M3FN, n.Float8E5M2, ["arith.extf %a : f32", "arith.truncf %0 : f8E5M2"]),
    (n.Float8E4M3FN, n.Float16, ["arith.extf %a : f16"]),
    (n.Float8E8M0FNU, n.Float16, ["arith.extf %a : f32", "arith.truncf %0 : f16"]),
    (n.Float64, n.Float8E4M3FN, ["arith.truncf %a : f8E4M3FN"]),
    (n.Int32, n.Float8E4M3FN, ["arith.sitofp %a : f8E4M3FN"]),
    (n.Int32, n.BFloat16, ["arith.sitofp %a : bf16"]),
    (n.Float8E4M3FN, n.Int32, ["arith.extf %a : f32", "arith.fptosi %0 : i32"]),
    (n.Int32, n.Boolean, ["arith.cmpi %a 0 {predicate=ne} : i1"]),
    (n.Float32, n.Boolean, ["arith.cmpf %a 0.0 {predicate=une} : i1"]),
]


@pytest.mark.parametrize(("source", "target", "lines"), CASTS)
def test_conversion(source: Any, target: Any, lines: list[str]) -> None:
    assert [line.split(" = ", 1)[1] for line in emitted(source, lambda a: a.to(target))] == lines
    assert [line.split(" = ", 1)[1] for line in emitted(source, lambda a: target(a))] == lines


@pytest.mark.parametrize("source", table.TYPES, ids=str)
def test_every_conversion_emits_well_formed_steps(source: Any) -> None:
    """Each step changes the width in the direction its name says, and the last one lands on the target."""
    for target in table.TYPES:
        with recording() as trace:
            result = value(trace, source).to(target)
            assert type(result) is target and trace.type_name(result.ir_value()) == target.ir_type
        known = {"%a": source.ir_type}
        for line in trace.lines:
            name, rest = line.split(" = ", 1)
            operation, operand = rest.split()[:2]
            kind = rest.rsplit(" : ", 1)[1]
            check_step(operation, known[operand], kind)
            known[name] = kind


def check_step(operation: str, source: str, target: str) -> None:
    before, after = (n.Numeric.from_ir_type(text) for text in (source, target))
    if operation in ("arith.extsi", "arith.extui", "arith.extf"):
        assert after.width > before.width
    if operation in ("arith.trunci", "arith.truncf"):
        assert after.width < before.width
    if operation in ("arith.extf", "arith.truncf"):
        assert before.is_float and after.is_float
    if operation.startswith("arith.index_cast"):
        assert (source == "index") != (target == "index")
    if operation in ("arith.sitofp", "arith.uitofp"):
        assert before.is_integer and after.is_float and source != "index"
    if operation in ("arith.fptosi", "arith.fptoui"):
        assert before.is_float and after.is_integer and target != "index"


@pytest.mark.parametrize("symbol", table.OPERATORS)
@pytest.mark.parametrize("lhs", table.TYPES, ids=str)
def test_run_time_and_folded_results_have_one_type(symbol: str, lhs: Any) -> None:
    """Every cell of the operator table, emitted: the result's class, and the IR type of its value."""
    for rhs in table.TYPES:
        case = table.case(symbol, lhs, rhs)
        with recording() as trace:
            a, b = value(trace, lhs), value(trace, rhs, "b")
            if case.error is not None:
                with pytest.raises(case.error):
                    case.function(a, b)
                continue
            result = case.function(a, b)
            assert type(result) is case.result, case.name
            assert trace.type_name(result.value) == case.result.ir_type, case.name
            assert trace.lines, case.name


def test_float_quotient() -> None:
    names = [line.split()[2] for line in emitted(n.Float32, lambda a: a // 3.0)]
    assert names == ["arith.divf", "math.floor"]


def test_division_by_one_emits_nothing() -> None:
    assert emitted(n.Int32, lambda a: a // 1) == []


def test_run_time_division_by_static_zero() -> None:
    with pytest.raises(ZeroDivisionError):
        emitted(n.Int32, lambda a: a // 0)
    with pytest.raises(ZeroDivisionError):
        emitted(n.Uint32, lambda a: a % 0)


def test_narrow_floats_compute_in_f32() -> None:
    with recording() as trace:
        total = value(trace, n.Float8E4M3FN) + value(trace, n.Float8E4M3FN, "b")
    assert type(total) is n.Float8E4M3FN
    assert trace.lines == [
        "%0 = arith.extf %a : f32",
        "%1 = arith.extf %b : f32",
        "%2 = arith.addf %0 %1 : f32",
        "%3 = arith.truncf %2 : f8E4M3FN",
    ]


def test_static_operations_emit_nothing() -> None:
    with recording() as trace:
        assert (n.Int32(3) * 4 + n.Float16(0.5) > 1).value == 1
        assert abs(n.Int32(-3)).value == 3
    assert trace.lines == [] and trace.constants == []


def test_constants_are_written_signed() -> None:
    with recording() as trace:
        n.Uint32(0xFFFFFFFF).ir_value()
        n.Index(-1).ir_value()
        n.Boolean(True).ir_value()
        n.Float32(math.inf).ir_value()
    assert trace.constants == [("i32", -1), ("index", -1), ("i1", 1), ("f32", math.inf)]


def test_select() -> None:
    with recording() as trace:
        mask = value(trace, n.Boolean, "m")
        chosen = mask.select(value(trace, n.Int32), 1.5)
    assert type(chosen) is n.Float32
    assert trace.lines == ["%0 = arith.sitofp %a : f32", "%1 = arith.select %m %0 1.5 : f32"]


def test_conditions() -> None:
    with recording() as trace:
        a = value(trace, n.Int32)
        assert a.__dsl_and__(False).value == 0 and a.__dsl_or__(True).value == 1
        trace.lines.clear()
        (a < 3).__dsl_and__(True)
        assert len(trace.lines) == 1, "a static True drops out"
        (a < 3).__dsl_and__(a > 1)
        assert trace.lines[-1].split(" = ")[1].startswith("arith.andi")
        (a < 3).__dsl_not__()
        assert trace.lines[-1].split(" = ")[1].startswith("arith.xori")


def test_bitcast() -> None:
    assert one(n.Float32, lambda a: a.bitcast(n.Int32)) == "arith.bitcast %a : i32"
    assert emitted(n.Int32, lambda a: a.bitcast(n.Uint32)) == []
    assert emitted(n.Int32, lambda a: n.Int32(0x7FC00000).bitcast(n.Float32)) == []
    assert one(n.Int32, lambda a: n.Int32(-1).bitcast(n.Float32)) == "arith.bitcast -1 : f32", "a NaN keeps its bits"


def test_rounding_mode() -> None:
    line = one(n.Float32, lambda a: a.to(n.BFloat16, rounding_mode="toward_zero"))
    assert line == "arith.truncf %a {roundingmode=toward_zero} : bf16"
    for bad in (n.Float64, n.Int32):
        with pytest.raises(ValueError, match="rounding_mode"):
            emitted(n.Float32, lambda a, bad=bad: a.to(bad, rounding_mode="upward"))
    with pytest.raises(ValueError, match="unknown rounding mode"):
        emitted(n.Float32, lambda a: a.to(n.Float16, rounding_mode="sideways"))


def test_fastmath_scopes() -> None:
    with recording() as trace:
        a = value(trace, n.Float32)
        with fastmath("nnan,ninf"):
            a + 1.0
            with fastmath([FastMathFlags.contract]):
                a * 2.0
            a.addf(1.0, fastmath=FastMathFlags.fast)
            a.addf(1.0, fastmath=FastMathFlags.none)
            n.Int32(trace.argument("i", "i32")) + 1
        a + 1.0
    assert [line.partition("{")[2].partition("}")[0] for line in trace.lines] == [
        "fastmath=nnan,ninf",
        "fastmath=contract",
        "fastmath=fast",
        "",
        "",
        "",
    ]
    with pytest.raises(ValueError, match="unknown fast-math flag"), fastmath("speedy"):
        pass


def test_raw_values() -> None:
    with recording() as trace:
        raw = trace.argument("r", "i32")
        assert type(n.as_numeric(raw)) is n.Int32
        assert type(n.Int32(1) + raw) is n.Int32
        assert type(n.Uint32(raw)) is n.Uint32 and n.Uint32(raw).value is raw
        with pytest.raises(ValueError, match="signed"):
            n.Float32(raw)
        assert n.Float32(n.Int32(raw)).is_static() is False
        with pytest.raises(TypeError):
            n.as_numeric(trace.argument("p", "!llvm.ptr"))


def test_control_flow_protocol() -> None:
    with recording() as trace:
        a = value(trace, n.Uint8)
        assert a.__extract_to_ir_values__() == [a.value]
        again = n.Numeric.__construct_from_ir_values__([a.value], a)
        assert type(again) is n.Uint8
        assert type(n.Int32.__construct_from_ir_values__([a.value])) is n.Int32
        with pytest.raises(TypeError):
            n.Int32.__construct_from_ir_values__([a.value, a.value])


def test_run_time_hash_and_identity() -> None:
    with recording() as trace:
        a, b = value(trace, n.Int32), value(trace, n.Int32, "b")
        assert len({a, b, a}) == 2
    assert trace.lines == []
