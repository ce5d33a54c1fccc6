"""Struct, union, array and align types: layout by the rules of C, and what is refused when they are declared."""

from __future__ import annotations

import ctypes
import dataclasses
from typing import Any

import pytest

import flydsl.expr as fx
from flydsl.base.errors import FlyDSLError
from flydsl.compiler import protocol
from flydsl.compiler.protocol import dsl_align_of, dsl_size_of

NUMBERS: list[tuple[Any, Any]] = [
    (fx.Int8, ctypes.c_int8),
    (fx.Uint16, ctypes.c_uint16),
    (fx.Int32, ctypes.c_int32),
    (fx.Float32, ctypes.c_float),
    (fx.Int64, ctypes.c_int64),
    (fx.Float64, ctypes.c_double),
    (fx.Boolean, ctypes.c_bool),
]


def c_struct(kinds: list[Any], base: Any = ctypes.Structure) -> Any:
    return type("C", (base,), {"_fields_": [(f"f{i}", kind) for i, kind in enumerate(kinds)]})


@pytest.mark.parametrize("picks", [(0, 2), (2, 0), (0, 4, 1), (1, 0, 0, 5), (6, 3, 6), (0,), (4, 0), (5, 1, 2, 0)])
def test_layout_is_that_of_c(picks: tuple[int, ...]) -> None:
    ours = fx.Struct[tuple(slice(f"f{i}", NUMBERS[p][0]) for i, p in enumerate(picks))]
    theirs = c_struct([NUMBERS[p][1] for p in picks])
    assert dsl_size_of(ours) == ctypes.sizeof(theirs)
    assert dsl_align_of(ours) == ctypes.alignment(theirs)
    assert ours._offsets() == {f"f{i}": getattr(theirs, f"f{i}").offset for i in range(len(picks))}


def test_nested_structs_arrays_and_unions_lie_as_in_c() -> None:
    inner = fx.Struct["a" : fx.Int8, "b" : fx.Float64]
    both = fx.Union["x" : fx.Array[fx.Int16, 5], "y" : fx.Float32]
    outer = fx.Struct["h" : fx.Int8, "i":inner, "u":both, "t" : fx.Array[fx.Int32, 3]]
    c_inner = c_struct([ctypes.c_int8, ctypes.c_double])
    c_both = c_struct([ctypes.c_int16 * 5, ctypes.c_float], ctypes.Union)
    c_outer = c_struct([ctypes.c_int8, c_inner, c_both, ctypes.c_int32 * 3])
    assert dsl_size_of(both) == ctypes.sizeof(c_both) == 12
    assert dsl_size_of(outer) == ctypes.sizeof(c_outer)
    assert list(outer._offsets().values()) == [getattr(c_outer, f"f{i}").offset for i in range(4)]


def test_align_moves_a_field_and_keeps_its_size() -> None:
    kind = fx.Struct["a" : fx.Int8, "b" : fx.Align[fx.Float32, 16], "c" : fx.Int8]
    assert kind._offsets() == {"a": 0, "b": 16, "c": 20}
    assert (dsl_size_of(kind), dsl_align_of(kind)) == (32, 16)
    assert dsl_align_of(fx.Array[fx.Float16, 3, 64]) == 64
    assert dsl_size_of(fx.Array[fx.Float16, 3, 64]) == 6


def test_inline_forms_are_one_type_and_name_their_fields() -> None:
    assert fx.Struct["a" : fx.Int32] is fx.Struct["a" : fx.Int32]
    pair = fx.Struct[fx.Int32, fx.Float32]
    value = pair(1, 2.5)
    assert (int(value._0), float(value._1)) == (1, 2.5)
    assert fx.Array[fx.Int32, 4] is fx.Array[fx.Int32, 4]


@fx.struct
class Point:
    """A point."""

    x: fx.Float32
    y: fx.Float32 = 0.5

    def scaled(self, by: float) -> Point:
        return self.replace(x=self.x * by, y=self.y * by)


def test_values_are_frozen_and_replaced() -> None:
    point = Point(1.0)
    assert repr(point) == "Point(x=Float32(1.0), y=Float32(0.5))"
    assert float(point.scaled(4.0).y) == 2.0
    assert float(point.replace(y=3).y) == 3.0 and float(point.y) == 0.5
    assert [float(part) for part in point] == [1.0, 0.5]
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x' of Point") as caught:
        point.x = 2.0
    assert isinstance(caught.value, FlyDSLError)
    assert "s = s.replace(x=...)" in str(caught.value)
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x


def test_docstring_and_name_stay() -> None:
    assert Point.__name__ == "Point" and Point.__doc__ == "A point."


def test_structs_inherit_fields() -> None:
    @fx.struct
    class Point3(Point):
        z: fx.Int32

    assert [field.name for field in Point3._fields] == ["x", "y", "z"]
    assert isinstance(Point3(1, 2, 3), Point)


def test_constexpr_fields_specialise_the_type() -> None:
    @fx.struct
    class Tile:
        rows: fx.Constexpr[int]
        base: fx.Int32

    four = Tile(4, 0)
    assert type(four) is type(Tile(4, 9)) is Tile["rows":4]
    assert type(four) is not type(Tile(8, 0)) and isinstance(four, Tile)
    assert type(four).__name__ == "Tile[rows=4]"
    assert type(four.replace(rows=8)) is type(Tile(8, 0))
    assert four.rows == 4 and type(four.rows) is int
    assert dsl_size_of(Tile) == 4
    assert fx.is_specializable_struct_type(Tile) and not fx.is_specializable_struct_type(Point)


def test_values_are_compared_by_their_fields() -> None:
    @fx.struct
    class Pair:
        at: fx.Constexpr[int]
        point: Point

    one = Pair(1, Point(1, 2))
    assert one == Pair(1, Point(1, 2)) and hash(one) == hash(Pair(1, Point(1, 2)))
    assert one != Pair(2, Point(1, 2)) and one != Pair(1, Point(1, 3)) and one != (1, 2)
    assert len({Point(1, 2), Point(1, 2), Point(2, 1)}) == 2


def test_names_of_the_struct_protocol() -> None:
    @fx.struct
    class Tile:
        rows: fx.Constexpr[int]
        base: fx.Int32

    four = Tile.__specialize_for_value__((4, 0))
    assert four is Tile["rows":4] is type(Tile.__coerce__({"rows": 4, "base": 0}))
    assert Tile.__coerce__(value := Tile(4, 0)) is value
    assert four.__dsl_base_type__ is Tile.__dsl_base_type__ is Tile and four.__dsl_display_name__ == "Tile[rows=4]"
    assert [field.name for field in four.__dsl_field_defs__] == ["rows", "base"] and Tile._schema_frozen
    assert (four.__dsl_size_of__(), four.__dsl_align_of__(), Tile(4, 7).__c_abi_spec__()) == (4, 4, [("i", 7)])
    assert four.__peek_from_ptr__ and four.__poke_into_ptr__ and four.__extract_to_ir_values__
    mixed = fx.Struct["a" : fx.Int32, fx.Float32]
    assert [field.name for field in mixed.__dsl_field_defs__] == ["a", "_1"] and mixed(1, 2.5)._1.value == 2.5


def test_a_storage_that_lies_nowhere_tells_of_its_fields() -> None:
    @fx.struct
    class Tile:
        rows: fx.Constexpr[int]
        base: fx.Int32

    nowhere = fx.Storage[Tile](None)
    assert nowhere._target_type is Tile and nowhere.base._target_type is fx.Int32 and nowhere._prebuilt == {}
    with pytest.raises(AttributeError, match="has no field 'x'"):
        _ = nowhere.x
    with pytest.raises(AttributeError, match="compile-time only"):
        _ = nowhere.rows
    with pytest.raises(TypeError, match="lies nowhere"):
        nowhere.base.peek()


def test_protocol_names_what_a_value_lacks() -> None:
    with pytest.raises(TypeError, match="no cache signature"):
        protocol.cache_signature(object())
    with pytest.raises(TypeError, match="C-ABI"):
        protocol.c_abi_spec(object())
    with pytest.raises(TypeError, match="Storable"):
        protocol.dsl_align_of(object)


def test_questions() -> None:
    union = fx.Union["a" : fx.Int32, "b" : fx.Float32]
    assert fx.is_struct_type(Point) and fx.is_composite_type(Point)
    assert fx.is_composite_type(union) and not fx.is_struct_type(union)
    assert not any(map(fx.is_composite_type, (fx.Int32, fx.Struct, fx.Array[fx.Int32, 2], 3)))


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda: fx.Struct["replace" : fx.Int32], ValueError, "'replace' cannot be a field"),
    (lambda: fx.Struct["peek" : fx.Int32], ValueError, "'peek' cannot be a field"),
    (lambda: fx.Struct["poke" : fx.Int32], ValueError, "'poke' cannot be a field"),
    (lambda: fx.Struct["_x" : fx.Int32], ValueError, "must not start with underscore"),
    (lambda: fx.Struct["a" : fx.Int32, "a" : fx.Int32], ValueError, "duplicate field: two are named 'a'"),
    (lambda: fx.Struct["a":int], TypeError, "has the type int, which is no fx type"),
    (lambda: fx.Struct["a" : fx.Integer], TypeError, "which is no fx type"),
    (lambda: fx.Union["a" : fx.Int32](1), TypeError, "has no value form"),
    (lambda: fx.Union["a" : fx.Constexpr[int]], TypeError, "is Constexpr"),
    (lambda: fx.Array[fx.Float32], TypeError, r"Array\[dtype, size\]"),
    (lambda: fx.Array[int, 4], TypeError, "must be a Numeric subclass"),
    (lambda: fx.Array[fx.Float32, 0], TypeError, "must be a positive integer"),
    (lambda: fx.Array[fx.Float32, 2.0], TypeError, "must be a positive integer"),
    (lambda: fx.Array[fx.Int4, 4], TypeError, "narrower than a byte"),
    (lambda: fx.Array[fx.Float32, 4, 2], ValueError, "aligned to 4 bytes by itself"),
    (lambda: fx.Array[fx.Float32, 4, 12], ValueError, "power of two"),
    (lambda: fx.Align[fx.Int32, 2], ValueError, "aligned to 4 bytes by itself"),
    (lambda: fx.Align[fx.Int32, 24], ValueError, "power of two"),
    (lambda: fx.Align[fx.Int32], TypeError, r"Align\[Type, N\]"),
    (lambda: dsl_size_of(fx.Struct["a" : fx.Tensor]), TypeError, "field 'a' of .* Tensor has no layout in memory"),
    (lambda: dsl_size_of(fx.Struct["a" : fx.Pointer]), TypeError, "Pointer has no layout in memory"),
    (lambda: dsl_size_of(fx.Struct["a" : fx.Vector]), TypeError, "Vector has no layout in memory"),
    (lambda: dsl_size_of(fx.Struct["a" : fx.Float4E2M1FN]), TypeError, "narrower than a byte"),
    (lambda: fx.Storage[fx.Tensor], TypeError, "cannot be stored(.|\n)*Storable"),
    (lambda: fx.struct(type("Empty", (), {})), ValueError, "at least one field"),
    (lambda: fx.Struct["n" : fx.Constexpr[int]]("four"), TypeError, "field 'n' of .* expects int, got 'four'"),
    (lambda: Point.__coerce__(3), TypeError, "expects Point, got int 3"),
    (lambda: fx.Struct["v" : fx.Float32x4]("one"), TypeError, "field 'v' of .* expects Float32x4, got str 'one'"),
    (lambda: fx.coop.BlockReduce(1.5, "add", storage=None), TypeError, "specialize first"),
    (lambda: Point(), TypeError, "missing required field 'x'"),
    (lambda: Point(1, 2, 3), TypeError, r"expected 2 field\(s\), got 3 values"),
    (lambda: Point(1, z=2), TypeError, "unexpected field 'z'"),
    (lambda: Point(1, x=2), TypeError, "multiple values for field 'x'"),
    (lambda: Point("one"), TypeError, "field 'x' of Point expects Float32, got str 'one'"),
    (lambda: Point["x":1], TypeError, "takes nothing in its subscript"),
]


@pytest.mark.parametrize(("make", "error", "message"), REFUSED, ids=[row[2][:40] for row in REFUSED])
def test_what_is_refused(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        make()
    assert isinstance(caught.value, FlyDSLError)


def test_a_class_with_its_own_init_is_refused() -> None:
    with pytest.raises(TypeError, match="defines __init__"):

        @fx.struct
        class Bad:
            a: fx.Int32

            def __init__(self) -> None: ...


def test_an_unknown_annotation_is_named() -> None:
    with pytest.raises(TypeError, match="field 'a' of Bad: the type 'Unknown' cannot be resolved"):

        @fx.struct
        class Bad:
            a: Unknown  # noqa: F821
