"""Vectors: shapes, element order, broadcasting, conversion, reduction, and what each emits."""

from __future__ import annotations

import operator
from itertools import product
from typing import Any

import numpy as np
import pytest

from flydsl.base.errors import DslIndexError, DslRuntimeError
from flydsl.expr import numeric as n
from flydsl.expr import vector as v
from flydsl.expr.enum import ReductionOp
from flydsl.expr.values import vector_shape
from flydsl.expr.values.int_tuple import IntTuple
from flydsl.expr.vector import Vector
from tests.unit.expr import operator_table as table
from tests.unit.expr.recording import Recorder, recording


def vector(trace: Recorder, dtype: Any = n.Float32, shape: Any = 4, name: str = "v") -> Vector:
    lanes = vector_shape.size(vector_shape.canonical(shape))
    return Vector(trace.argument(name, f"vector<{lanes}x{dtype.ir_type}>"), shape, dtype)


def last(trace: Recorder) -> str:
    return trace.lines[-1].split(" = ", 1)[1]


def test_facts() -> None:
    with recording() as trace:
        x = vector(trace, n.Float16, ((2, 4), 3))
        assert x.shape == ((2, 4), 3) and x.numel == len(x) == 24
        assert x.dtype is x.element_type is n.Float16
        assert x.ir_type == x.type == "vector<24xf16>" and x.ir_value() is x.value
        assert repr(x) == "Vector(Float16, ((2, 4), 3))" and not x.is_static()
        plain = Vector(trace.argument("p", "vector<4xi8>"))
        assert plain.dtype is n.Int8 and plain.shape == (4,)
        assert Vector(plain.value, dtype=n.Uint8).dtype is n.Uint8
    assert trace.lines == []


def test_construction_errors() -> None:
    with recording() as trace:
        raw = trace.argument("v", "vector<4xf32>")
        with pytest.raises(ValueError, match="shape"):
            Vector(raw, (2, 3))
        with pytest.raises(TypeError, match="does not hold"):
            Vector(raw, dtype=n.Int32)
        with pytest.raises(TypeError, match="not a vector"):
            Vector(trace.argument("s", "f32"))
        with pytest.raises(ValueError, match="at least one"):
            Vector.from_elements([])
        with pytest.raises(ValueError, match="extent"):
            Vector.filled((2, 0), 1)


def test_filled() -> None:
    with recording() as trace:
        assert Vector.filled((2, 2), 0, n.Float16).ir_type == "vector<4xf16>"
        assert trace.constants == [("vector<4xf16>", 0.0)] and trace.lines == []
        scalar = n.Float32(trace.argument("s", "f32"))
        Vector.filled(8, scalar)
        assert last(trace) == "vector.broadcast %s : vector<8xf32>"
        Vector.filled(8, scalar, n.Float16)
        assert trace.lines[-2:] == ["%1 = arith.truncf %s : f16", "%2 = vector.broadcast %1 : vector<8xf16>"]
        like = vector(trace, n.Int8, (2, 2))
        for made, value in ((v.zeros_like(like), 0), (v.ones_like(like), 1), (v.empty_like(like), 0)):
            assert made.shape == (2, 2) and made.dtype is n.Int8
            assert trace.constants.pop() == ("vector<4xi8>", value) or value
        assert v.full_like(like, 3, n.Int32).dtype is n.Int32 and v.full(3, 1.5).dtype is n.Float32


def test_from_elements() -> None:
    with recording() as trace:
        a = n.Int32(trace.argument("a", "i32"))
        mixed = Vector.from_elements([a, 2, 3.0])
        assert mixed.dtype is n.Float32
        assert trace.lines == ["%0 = arith.sitofp %a : f32", "%1 = vector.from_elements %0 2.0 3.0 : vector<3xf32>"]
        Vector.from_elements([0.0, -0.0])
        assert last(trace) == "vector.from_elements 0.0 -0.0 : vector<2xf32>"
        assert Vector.from_elements([1, 1, 1]).dtype is n.Int32
        assert trace.constants[-1] == ("vector<3xi32>", 1)
        assert Vector([1, 2], dtype=n.Int8).ir_type == "vector<2xi8>"


@pytest.mark.parametrize("shape", [(6,), (2, 3), (3, 2, 2), ((2, 2), 3), (2, (3, 2))], ids=str)
def test_coordinates_are_row_major(shape: Any) -> None:
    """`v[i, j]` counts over the flattened shape, the last mode fastest."""
    flat = vector_shape.leaves(shape)
    positions = np.arange(vector_shape.size(shape)).reshape(flat)
    with recording() as trace:
        x = vector(trace, shape=shape)
        for coord in product(*(range(extent) for extent in flat)):
            x[coord if len(coord) > 1 else coord[0]]
            assert last(trace) == f"vector.extract %v {{static_position=[{positions[coord]}]}} : f32"


def test_nested_modes() -> None:
    with recording() as trace:
        x = vector(trace, shape=((2, 4), 3))
        for coord, position in (((5, 2), 17), (((1, 2), 2), 20), ((1, 2, 2), 20), ((-1, -1), 23)):
            x[coord]
            assert f"[{position}]" in last(trace)
        with pytest.raises(ValueError, match="does not fit"):
            x[((1, 2, 3), 0)]
        with pytest.raises(DslIndexError):
            x[8, 0]


def test_single_index() -> None:
    with recording() as trace:
        x = vector(trace)
        assert x[None] is x
        assert type(x[-1]) is n.Float32 and "[3]" in last(trace)
        x[n.Int32(2)]
        assert "[2]" in last(trace)
        for bad in (4, -5):
            with pytest.raises(IndexError):
                x[bad]
        with pytest.raises(TypeError):
            x["a"]
        assert len(list(x)) == 4


def test_run_time_index() -> None:
    with recording() as trace:
        x = vector(trace, shape=(4, 2))
        i = n.Int32(trace.argument("i", "i32"))
        x[i]
        assert trace.lines == [
            "%0 = arith.index_cast %i : index",
            "%1 = vector.extract %v %0 {static_position=[-9223372036854775808]} : f32",
        ]
        trace.lines.clear()
        x[i, 1]
        assert [line.split()[2] for line in trace.lines] == [
            *("arith.index_cast", "arith.muli", "arith.addi", "vector.extract")
        ]
        with pytest.raises(TypeError, match="known while tracing"):
            x[i, None]


def test_slices() -> None:
    with recording() as trace:
        x = vector(trace, shape=(2, 3))
        row = x[1, None]
        assert row.shape == (3,) and "{mask=[3, 4, 5]}" in last(trace)
        column = x[None, 2]
        assert column.shape == (2,) and "{mask=[2, 5]}" in last(trace)
        nested = vector(trace, shape=((2, 2), 3))[None, 1]
        assert nested.shape == ((2, 2),) and "{mask=[1, 4, 7, 10]}" in last(trace)


def test_insert() -> None:
    with recording() as trace:
        x = vector(trace, shape=(2, 2))
        assert x.insert(1, (1, 1)).shape == (2, 2)
        assert last(trace) == "vector.insert 1.0 %v {static_position=[3]} : vector<4xf32>"
        x.insert(0.5, n.Index(trace.argument("i", "index")))
        assert last(trace).startswith("vector.insert 0.5 %v %i {static_position=[-")
        with pytest.raises(TypeError, match="one element"):
            x.insert(1, (None, 0))


BROADCASTS = [((4,), (1,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((2, 3, 2), (3, 1)), ((2, 3), (2, 1))]


@pytest.mark.parametrize(("left", "right"), BROADCASTS)
def test_broadcasting_matches_numpy_by_coordinate(left: Any, right: Any) -> None:
    a = np.arange(np.prod(left)).reshape(left, order="F")
    b = np.arange(np.prod(right)).reshape(right, order="F")
    shape = vector_shape.broadcast(left, right)
    assert shape == np.broadcast_shapes(left, right)
    for source, array in ((left, a), (right, b)):
        positions = vector_shape.broadcast_positions(source, shape)
        wanted = np.broadcast_to(array, shape).flatten(order="F").tolist()
        assert positions == wanted or (positions is None and source == shape)


def test_broadcast_errors() -> None:
    with recording() as trace:
        with pytest.raises(ValueError, match="do not broadcast"):
            vector(trace, shape=4) + vector(trace, shape=3, name="w")
        with pytest.raises(ValueError, match="does not broadcast"):
            vector(trace, shape=4).broadcast_to(2)
        assert vector(trace, shape=1).broadcast_to(2, 2).shape == (2, 2)


def test_broadcast_emits_one_shuffle() -> None:
    with recording() as trace:
        total = vector(trace, shape=(2, 2)) + vector(trace, shape=(2, 1), name="w")
    assert total.shape == (2, 2)
    assert trace.lines == [
        "%0 = vector.shuffle %w %w {mask=[0, 1, 0, 1]} : vector<4xf32>",
        "%1 = arith.addf %v %0 : vector<4xf32>",
    ]


def test_scalar_operands() -> None:
    with recording() as trace:
        x = vector(trace, n.Float16)
        doubled = 2.0 * x
        assert doubled.dtype is n.Float32
        assert trace.lines == ["%0 = arith.extf %v : vector<4xf32>", "%1 = arith.mulf 2.0 %0 : vector<4xf32>"]
        assert trace.constants == [("vector<4xf32>", 2.0)]
        scaled = x * n.Float16(trace.argument("s", "f16"))
        assert scaled.dtype is n.Float16 and trace.lines[-2].endswith("vector.broadcast %s : vector<4xf16>")
        assert (n.Float16(0.5) - x).dtype is n.Float16 and last(trace) == "arith.subf 0.5 %v : vector<4xf16>"


@pytest.mark.parametrize("symbol", table.OPERATORS)
@pytest.mark.parametrize("lhs", table.TYPES, ids=str)
def test_every_operator_types_vectors_as_scalars(symbol: str, lhs: Any) -> None:
    for rhs in table.TYPES:
        case = table.case(symbol, lhs, rhs)
        with recording() as trace:
            a, b = vector(trace, lhs, (2, 2)), vector(trace, rhs, (2, 2), "w")
            if case.error is not None:
                with pytest.raises(case.error):
                    case.function(a, b)
                continue
            result = case.function(a, b)
            assert (result.dtype, result.shape) == (case.result, (2, 2)), case.name
            assert trace.type_name(result.value) == f"vector<4x{case.result.ir_type}>"


def test_division_by_powers_of_two() -> None:
    with recording() as trace:
        x = vector(trace, n.Int32)
        x // 8
        assert last(trace) == "arith.shrsi %v 3 : vector<4xi32>"
        x % 8
        assert last(trace) == "arith.remsi %v 8 : vector<4xi32>"
        assert (x // 1) is x


def test_unary() -> None:
    with recording() as trace:
        x = vector(trace)
        assert (-x).shape == (4,) and last(trace) == "arith.negf %v : vector<4xf32>"
        abs(x)
        assert last(trace) == "math.absf %v : vector<4xf32>"
        i = vector(trace, n.Int32, name="i")
        abs(i)
        assert last(trace) == "math.absi %i : vector<4xi32>"
        operator.invert(i)
        assert last(trace) == "arith.xori %i -1 : vector<4xi32>"
        operator.neg(i)
        assert last(trace) == "arith.subi 0 %i : vector<4xi32>"
        with pytest.raises(TypeError, match="Boolean"):
            operator.neg(x < 1)


def test_comparison_and_select() -> None:
    with recording() as trace:
        x = vector(trace)
        mask = x > 0
        assert mask.dtype is n.Boolean and last(trace) == "arith.cmpf %v 0.0 {predicate=ogt} : vector<4xi1>"
        assert mask.select(x, 0).dtype is n.Float32
        assert last(trace) == "arith.select %0 %v 0.0 : vector<4xf32>"
        assert (mask & (x < 1)).dtype is n.Boolean
        flag = n.Boolean(trace.argument("c", "i1"))
        assert flag.select(x, 0.0).shape == (4,) and last(trace) == "arith.select %c %v 0.0 : vector<4xf32>"
        assert n.Boolean(True).select(x, 1.0).value is x.value
        with pytest.raises(TypeError, match="Boolean vector"):
            x.select(1, 2)
        with pytest.raises(DslRuntimeError, match="truth"):
            bool(mask)


def test_conversion_and_bitcast() -> None:
    with recording() as trace:
        x = vector(trace, n.Float32, (2, 2))
        assert x.to(n.Float32) is x
        assert x.to(n.BFloat16).shape == (2, 2) and last(trace) == "arith.truncf %v : vector<4xbf16>"
        x.to(n.Float16, rounding_mode="upward")
        assert last(trace) == "arith.truncf %v {roundingmode=upward} : vector<4xf16>"
        wide = x.bitcast(n.Float16)
        assert wide.shape == (8,) and last(trace) == "vector.bitcast %v : vector<8xf16>"
        assert x.bitcast(n.Int128).shape == (1,)
        i = vector(trace, n.Int32, name="i")
        assert i.bitcast(n.Uint32).value is i.value
        with pytest.raises(ValueError, match="cannot be read"):
            vector(trace, n.Float32, 3).bitcast(n.Int64)
        with pytest.raises(ValueError, match="Index"):
            x.bitcast(n.Index)
        assert x.reshape(IntTuple.from_python((2, (2, 1)))).shape == (2, (2, 1))  # as the shape of a tensor is
        with pytest.raises(DslRuntimeError, match=r"needs a constant here, but \(2,2\) is a tuple"):
            int(IntTuple.from_python((2, 2)))
        assert x.reshape(4).shape == (4,) and x.reshape(1, 4).shape == (1, 4) and x.reshape((4, 1)).shape == (4, 1)
        with pytest.raises(ValueError):
            x.reshape(3)


def test_shuffle() -> None:
    with recording() as trace:
        x, y = vector(trace), vector(trace, name="w")
        assert x.shuffle(y, [0, 4, 1, 5, 7]).shape == (5,)
        assert last(trace) == "vector.shuffle %v %w {mask=[0, 4, 1, 5, 7]} : vector<5xf32>"
        with pytest.raises(IndexError):
            x.shuffle(y, [8])


REDUCTIONS = [
    (n.Float32, "add", "add"),
    (n.Float32, "mul", "mul"),
    (n.Float32, "max", "maxnumf"),
    (n.Float32, "min", "minimumf"),
    (n.Float32, "maxnum", "maxnumf"),
    (n.Float32, "minnum", "minnumf"),
    (n.Float32, ReductionOp.MAX, "maxnumf"),
    (n.Float32, "maximumf", "maximumf"),
    (n.Float32, "maxnumf", "maxnumf"),
    (n.Int32, "max", "maxsi"),
    (n.Uint32, "max", "maxui"),
    (n.Int32, ReductionOp.MIN, "minsi"),
    (n.Uint32, "min", "minui"),
    (n.Int32, "xor", "xor"),
    (n.Boolean, "or", "or"),
]


@pytest.mark.parametrize(("dtype", "op", "kind"), REDUCTIONS)
def test_reduce(dtype: Any, op: Any, kind: str) -> None:
    with recording() as trace:
        result = vector(trace, dtype).reduce(op)
    assert type(result) is dtype
    assert trace.lines == [f"%0 = vector.reduction %v {{kind={kind}}} : {dtype.ir_type}"]


@pytest.mark.parametrize("kind", list(v.CombiningKind))
def test_reduce_by_kind(kind: v.CombiningKind) -> None:
    """A kind of the dialect is taken as it is, whatever the type's own reduction would be."""
    dtype = n.Float32 if kind.value.endswith("f") else n.Int32
    with recording() as trace:
        vector(trace, dtype).reduce(kind)
    assert trace.lines == [f"%0 = vector.reduction %v {{kind={kind.value}}} : {dtype.ir_type}"]


def test_reduce_details() -> None:
    with recording() as trace:
        x = vector(trace)
        x.reduce("add", 0.0, fastmath="fast")
        assert last(trace) == "vector.reduction %v 0.0 {kind=add, fastmath=fast} : f32"
        assert type(vector(trace, n.Float8E4M3FN).reduce("max")) is n.Float8E4M3FN
        assert trace.lines[-3].endswith("arith.extf %v : vector<4xf32>")
        assert type((x > 0).reduce("add")) is n.Int32
        with pytest.raises(TypeError, match='no "and" reduction'):
            x.reduce("and")
        with pytest.raises(TypeError):
            x.reduce("maxsi")
        with pytest.raises(ValueError, match="unknown reduction"):
            x.reduce("average")


def test_aliases() -> None:
    assert len([name for name in v.__all__ if "x" in name and name in vars(v)]) >= 90
    alias = vars(v)["Float32x4"]
    assert (alias.dtype, alias.lanes, alias.width, alias.ir_type) == (n.Float32, 4, 128, "vector<4xf32>")
    assert str(vars(v)["Float4E2M1FNx32"]) == "Float4E2M1FNx32" and "Int128x1" in vars(v)
    assert alias == v.VectorAlias(n.Float32, 4) and "Float32x16" not in vars(v)
    with recording() as trace:
        assert alias(1).ir_type == "vector<4xf32>" and trace.constants == [("vector<4xf32>", 1.0)]
        assert alias([1, 2, 3, 4]).shape == (4,)
        assert alias(vector(trace, n.Int32)).dtype is n.Float32
        with pytest.raises(ValueError, match="holds 4"):
            alias([1, 2])


def test_raw_builders() -> None:
    with recording() as trace:
        raw = trace.argument("v", "vector<4xf32>")
        assert type(v.extract(raw, static_position=[1], dynamic_position=[])) is n.Float32
        index = n.Index(trace.argument("i", "index"))
        v.extract(raw, [v.DYNAMIC_POSITION], [index])
        assert last(trace).startswith("vector.extract %v %i")
        assert v.bitcast("vector<8xf16>", raw).numel == 8
        assert v.broadcast("vector<2xf32>", n.Float32(trace.argument("s", "f32"))).numel == 2
        assert v.from_elements("vector<2xi32>", [1, 2]).dtype is n.Int32
        assert v.shuffle(raw, raw, [0, 1]).numel == 2
        assert type(v.reduction("f32", "add", raw)) is n.Float32
        assert v.insert(1.0, raw, [0]).numel == 4
        assert v.fma(raw, raw, raw).numel == 4 and last(trace) == "math.fma %v %v %v : vector<4xf32>"
        for bad in (lambda: v.bitcast("vector<4xf16>", raw), lambda: v.extract(raw, [0, 1]), lambda: v.extract(3)):
            with pytest.raises(TypeError):
                bad()


def test_what_is_no_memory() -> None:
    """Tensors and pointers are: test_typed_access.py runs them."""
    with recording() as trace:
        for memory, named in ((trace.argument("m", "memref<16xf32>"), "a run-time memref<16xf32>"), ([1.0], "list")):
            with pytest.raises(TypeError, match=f"tensor or pointer, got {named}"):
                v.load("vector<4xf32>", memory, [4])
            with pytest.raises(TypeError, match=f"tensor or pointer, got {named}"):
                vector(trace).store(memory, [0], alignment=16)


def test_control_flow_protocol() -> None:
    with recording() as trace:
        x = vector(trace, n.Uint8, (2, 2))
        (raw,) = x.__extract_to_ir_values__()
        again = Vector.__construct_from_ir_values__([raw], x)
        assert (again.shape, again.dtype) == ((2, 2), n.Uint8)
        assert Vector.__construct_from_ir_values__([raw]).dtype is n.Int8
        assert len({x, x}) == 1


def test_apply_op() -> None:
    with recording() as trace:
        x = vector(trace)
        x.apply_op(operator.sub, 1.0)
        assert last(trace) == "arith.subf %v 1.0 : vector<4xf32>"
        x.apply_op(operator.sub, 1.0, flip=True)
        assert last(trace) == "arith.subf 1.0 %v : vector<4xf32>"
