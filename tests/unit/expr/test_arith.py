"""The arith functions: builders by name, predicates, constants, and functions that choose by type."""

from __future__ import annotations

import math
from typing import Any

import pytest

from flydsl.expr import arith
from flydsl.expr import numeric as n
from flydsl.expr.enum import CmpFPredicate, CmpIPredicate
from flydsl.expr.values.ir_types import T
from flydsl.expr.vector import Vector
from tests.unit.expr.recording import Recorder, recording


def last(trace: Recorder) -> str:
    return trace.lines[-1].split(" = ", 1)[1]


INTEGER_BUILDERS = [
    *("addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"),
    *("andi", "ori", "xori", "shli", "shrsi", "shrui", "maxsi", "maxui", "minsi", "minui"),
]
FLOAT_BUILDERS = ["addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf"]


@pytest.mark.parametrize("name", INTEGER_BUILDERS)
@pytest.mark.parametrize("dtype", [n.Int32, n.Uint32, n.Index], ids=str)
def test_integer_builder(name: str, dtype: Any) -> None:
    with recording() as trace:
        a = dtype(trace.argument("a", dtype.ir_type))
        result = getattr(arith, name)(a, trace.argument("b", dtype.ir_type))
        assert last(trace) == f"arith.{name} %a %b : {dtype.ir_type}"
        assert result.ir_type == dtype.ir_type
        with pytest.raises(TypeError):
            getattr(arith, name)(n.Float32(1.0), 2.0)


@pytest.mark.parametrize("name", FLOAT_BUILDERS)
def test_float_builder(name: str) -> None:
    with recording() as trace:
        a = n.Float32(trace.argument("a", "f32"))
        getattr(arith, name)(a, 2.0)
        assert last(trace) == f"arith.{name} %a 2.0 : f32"
        getattr(arith, name)(a, a, fastmath="contract")
        assert last(trace) == f"arith.{name} %a %a {{fastmath=contract}} : f32"
        getattr(arith, name)(a, trace.argument("v", "vector<2xf32>"))
        assert last(trace).endswith(" : vector<2xf32>")
        with pytest.raises(TypeError):
            getattr(arith, name)(n.Int32(1), 2)


SIGN_BLIND_FOLDS = [
    ("divsi", -7, 2, -3),
    ("divui", -7, 2, 2147483644),
    ("remsi", -7, 2, -1),
    ("remui", -7, 2, 1),
    ("floordivsi", -7, 2, -4),
    ("ceildivsi", -7, 2, -3),
    ("ceildivui", 7, 2, 4),
    ("shrsi", -8, 1, -4),
    ("shrui", -8, 1, 2147483644),
    ("maxsi", -1, 1, 1),
    ("maxui", -1, 1, -1),
    ("minsi", -1, 1, -1),
    ("minui", -1, 1, 1),
]


@pytest.mark.parametrize(("name", "a", "b", "wanted"), SIGN_BLIND_FOLDS)
def test_builders_fold_by_their_own_sign(name: str, a: int, b: int, wanted: int) -> None:
    assert getattr(arith, name)(n.Int32(a), n.Int32(b)).value == wanted


def test_nan_wins_or_loses() -> None:
    nan, one = n.Float32(math.nan), n.Float32(1.0)
    assert math.isnan(arith.maximumf(nan, one).value) and math.isnan(arith.minimumf(one, nan).value)
    assert arith.maxnumf(nan, one).value == 1.0 and arith.minnumf(one, nan).value == 1.0
    assert math.isnan(arith.max(one, nan, 3.0).value) and math.isnan(arith.min([one, [nan]]).value)
    assert math.copysign(1, arith.maximumf(-0.0, 0.0).value) == 1.0
    assert math.copysign(1, arith.minimumf(0.0, -0.0).value) == -1.0


def test_max_min() -> None:
    assert arith.max(1, [5, (2, 3)]).value == 5 and arith.min(4).value == 4
    with recording() as trace:
        a = n.Int32(trace.argument("a", "i32"))
        arith.max(a, 3)
        assert last(trace) == "arith.maxsi %a 3 : i32"
        arith.min(n.Uint32(a), n.Uint32(3))
        assert last(trace) == "arith.minui %a 3 : i32"
        arith.max(n.Float32(trace.argument("f", "f32")), 0.0, fastmath="nnan")
        assert last(trace) == "arith.maximumf %f 0.0 {fastmath=nnan} : f32"
    with pytest.raises(ValueError, match="at least one operand"):
        arith.max()
    for bad, message in ((n.Index(3), "does not support Index"), (n.Float8E4M3FN(1.0), "narrow storage float")):
        for function in (arith.max, arith.min):
            with pytest.raises(TypeError, match=message):
                function(bad, bad)
            with pytest.raises(TypeError, match=message):
                function(bad)


def test_ceildiv() -> None:
    assert arith.ceildiv(7, 2).value == 4 and arith.ceildiv(-7, 2).value == -3
    with recording() as trace:
        arith.ceildiv(n.Int32(trace.argument("a", "i32")), 64)
        assert last(trace) == "arith.ceildivsi %a 64 : i32"
        arith.ceildiv(n.Uint32(trace.argument("a", "i32")), n.Uint32(64))
        assert last(trace) == "arith.ceildivui %a 64 : i32"
    with pytest.raises(ZeroDivisionError):
        arith.ceildiv(7, 0)
    with pytest.raises(OverflowError):
        arith.ceildiv(n.Int32(-(2**31)), -1)
    for bad in (n.Index(3), n.Float32(1.0)):
        with pytest.raises(TypeError, match="ceildiv requires integer operands"):
            arith.ceildiv(bad, 2)
    with pytest.raises(TypeError, match="ceildiv does not support Boolean"):
        arith.ceildiv(n.Boolean(True), 2)


def test_shrui_exact() -> None:
    with recording() as trace:
        arith.shrui(n.Int32(trace.argument("a", "i32")), 2, is_exact=True)
        assert last(trace) == "arith.shrui %a 2 {isExact=True} : i32"


@pytest.mark.parametrize("predicate", list(CmpIPredicate))
def test_cmpi(predicate: CmpIPredicate) -> None:
    with recording() as trace:
        a = n.Int32(trace.argument("a", "i32"))
        for result in (arith.cmpi(predicate, a, 3), arith.cmpi(a, 3, predicate), arith.cmpi(str(predicate), a, 3)):
            assert type(result) is n.Boolean
            assert last(trace) == f"arith.cmpi %a 3 {{predicate={predicate}}} : i1"
    a, b = n.Int32(-1), n.Int32(1)
    unsigned = predicate.startswith("u")
    left, right = (0xFFFFFFFF, 1) if unsigned else (-1, 1)
    wanted = {"eq": left == right, "ne": left != right, "lt": left < right, "le": left <= right}
    wanted |= {"gt": left > right, "ge": left >= right}
    name = predicate if predicate in ("eq", "ne") else predicate[1:]
    assert bool(arith.cmpi(predicate, a, b)) is wanted[name]


@pytest.mark.parametrize("kind", [CmpIPredicate, CmpFPredicate])
def test_predicates_in_upper_case(kind: Any) -> None:
    compare, one, two = (arith.cmpi, 1, 2) if kind is CmpIPredicate else (arith.cmpf, 1.0, 2.0)
    for member in kind:
        assert kind[member.value.upper()] is member
        assert bool(compare(member.value.upper(), one, two)) is bool(compare(member, one, two))
    assert CmpFPredicate.AlwaysTrue is CmpFPredicate.true and CmpFPredicate.AlwaysFalse is CmpFPredicate.false


@pytest.mark.parametrize("predicate", list(CmpFPredicate))
def test_cmpf(predicate: CmpFPredicate) -> None:
    with recording() as trace:
        a = n.Float32(trace.argument("a", "f32"))
        arith.cmpf(a, 3.0, predicate)
        assert last(trace) == f"arith.cmpf %a 3.0 {{predicate={predicate}}} : i1"
        mask = arith.cmpf(predicate, trace.argument("v", "vector<4xf32>"), 0.0)
        assert mask.dtype is n.Boolean and mask.numel == 4
    with_nan = bool(arith.cmpf(predicate, math.nan, 1.0))
    assert with_nan is (predicate.startswith("u") or predicate == "true")
    relations = {"eq": False, "gt": False, "ge": False, "lt": True, "le": True, "ne": True}
    plain = {"false": False, "true": True, "ord": True, "uno": False}
    wanted = plain.get(predicate, relations.get(predicate[1:]))
    assert bool(arith.cmpf(predicate, 1.0, 2.0)) is wanted


def test_predicate_errors() -> None:
    with pytest.raises(TypeError, match=r"needs a predicate\s.*cmpi\(CmpIPredicate.slt, a, b\)"):
        arith.cmpi(1, 2, 3)
    with pytest.raises(TypeError, match=r'needs a predicate\s.*CmpFPredicate.olt, a, b\) or cmpf\("olt", a, b\)'):
        arith.cmpf(1.0, 2.0, 3.0)
    with pytest.raises(ValueError, match="no predicate 'olt'"):
        arith.cmpi("olt", 1, 2)
    with pytest.raises(TypeError):
        arith.cmpf("olt", n.Int32(1), n.Int32(2))


CASTS = [
    ("extsi", "i8", T.i32, "i32"),
    ("extui", "i8", T.i32, "i32"),
    ("trunci", "i32", T.i8, "i8"),
    ("index_cast", "index", T.i32, "i32"),
    ("index_cast", "i32", T.index, "index"),
    ("index_castui", "i32", n.Index, "index"),
    ("sitofp", "i32", T.f32, "f32"),
    ("uitofp", "i32", T.f32, "f32"),
    ("fptosi", "f32", T.i32, "i32"),
    ("fptoui", "f32", T.i32, "i32"),
    ("extf", "f16", T.f32, "f32"),
    ("truncf", "f32", T.f16, "f16"),
    ("truncf", "f32", n.BFloat16, "bf16"),
]


@pytest.mark.parametrize(("name", "source", "target", "text"), CASTS)
def test_casts(name: str, source: str, target: Any, text: str) -> None:
    build = getattr(arith, name)
    with recording() as trace:
        raw = trace.argument("a", source)
        assert build(target, raw).ir_type == text
        assert last(trace) == f"arith.{name} %a : {text}"
        assert build(raw, target).ir_type == text
        vector = build(T.vec(4, target), trace.argument("v", f"vector<4x{source}>"))
        assert isinstance(vector, Vector) and last(trace) == f"arith.{name} %v : vector<4x{text}>"


def test_casts_fold_and_reject() -> None:
    assert arith.extui(T.i32, n.Int8(-1)).value == 255 and arith.extsi(T.i32, n.Uint8(255)).value == -1
    assert arith.extsi(T.i32, n.Boolean(True)).value == -1
    assert arith.uitofp(T.f32, n.Int8(-1)).value == 255.0 and arith.trunc_f(T.f16, 1.0 + 2**-12).value == 1.0
    assert arith.fptosi(T.i32, -1.5).value == -1 and arith.trunci(T.i8, n.Int32(300)).value == 44
    assert arith.index_cast(T.i32, n.Index(7)).value == 7
    same = n.Float32(1.0)
    assert arith.truncf(T.f32, same) is same
    with pytest.raises(TypeError, match="does not convert"):
        arith.sitofp(T.f32, 1.5)
    assert arith.bitcast(T.i32, 1.0).value == 0x3F800000


def test_constant() -> None:
    assert type(arith.constant(3)) is n.Int32 and type(arith.constant(3.0)) is n.Float32
    assert type(arith.constant(3, type=T.f16)) is n.Float16 and type(arith.constant(3, index=True)) is n.Index
    assert type(arith.constant(T.i64, 3)) is n.Int64 and type(arith.index(3)) is n.Index
    with recording() as trace:
        assert arith.constant(0.0, type=T.vec(4, T.f32)).ir_type == "vector<4xf32>"
        assert arith.constant_vector(1, T.f32x4).ir_type == "vector<4xf32>"
        assert trace.constants == [("vector<4xf32>", 0.0), ("vector<4xf32>", 1.0)]
    with pytest.raises(TypeError, match="not a vector type"):
        arith.constant_vector(1, T.f32)


def test_select() -> None:
    assert arith.select(True, 1, 2).value == 1 and arith.select(n.Int32(0), 1, 2).value == 2
    with recording() as trace:
        condition = trace.argument("c", "i1")
        assert type(arith.select(condition, 1.0, 2.0)) is n.Float32
        assert last(trace) == "arith.select %c 1.0 2.0 : f32"
        pointers = trace.argument("p", "!llvm.ptr"), trace.argument("q", "!llvm.ptr")
        assert arith.select(condition, *pointers).type == "!llvm.ptr"
        assert last(trace) == "arith.select %c %p %q : !llvm.ptr"
        mask = trace.argument("m", "vector<2xi1>")
        assert arith.select(mask, 1.0, 0.0).ir_type == "vector<2xf32>"


def test_unwrap() -> None:
    with recording() as trace:
        raw = trace.argument("a", "i32")
        assert arith.unwrap(raw) is raw and arith.unwrap(n.Int32(raw)) is raw
        arith.unwrap(3)
        arith.unwrap(3, index=True)
        arith.unwrap(3, type=T.f32)
        assert trace.constants == [("i32", 3), ("index", 3), ("f32", 3.0)]


def test_arith_value() -> None:
    with recording() as trace:
        raw = trace.argument("a", "index")
        total = arith.ArithValue(raw) + trace.argument("b", "index")
        assert total.type == "index" and last(trace) == "arith.addi %a %b : index"
        assert isinstance(total, arith.ArithValue) and not isinstance(3, arith.ArithValue)
        assert n.Index(total).value is total.ir_value().__dsl_ssa__
        assert isinstance(arith.ArithValue(trace.argument("v", "vector<2xf32>")), Vector)
        with pytest.raises(TypeError):
            arith.ArithValue(trace.argument("p", "!llvm.ptr"))
