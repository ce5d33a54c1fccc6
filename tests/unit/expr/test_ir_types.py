"""IR types as text."""

from __future__ import annotations

import pytest

from flydsl.expr import numeric as n
from flydsl.expr.values.ir_types import IrType, T, Types, split_vector_type


def test_types_are_their_text() -> None:
    assert T.f32 == "f32" and isinstance(T.f32, IrType) and T is Types
    assert {T.f32: 1}["f32"] == 1 and f"{T.bf16}" == "bf16" and T.f32() == "f32"
    assert T.f16x8 == "vector<8xf16>" and T.i8x16 == "vector<16xi8>" and T.i64x2 == "vector<2xi64>"
    assert T.vec(4, T.f32) == T.vec(4, n.Float32) == "vector<4xf32>"
    assert repr(T.i32) == "IrType('i32')"


@pytest.mark.parametrize("name", [name for name in vars(Types) if not name.startswith("_") and name != "vec"])
def test_every_type_names_a_number(name: str) -> None:
    lanes, element = split_vector_type(getattr(T, name))
    assert n.Numeric.from_ir_type(element).ir_type == element
    assert name == (f"{element}x{lanes}" if lanes else element)


def test_errors() -> None:
    with pytest.raises(ValueError, match="lane"):
        T.vec(0, T.f32)
    with pytest.raises(ValueError, match="more than one dimension"):
        split_vector_type("vector<4x2xf32>")
    with pytest.raises(ValueError, match="fixed length"):
        split_vector_type("vector<[4]xf32>")
    with pytest.raises(TypeError, match="not the type of a number"):
        n.Numeric.from_ir_type("memref<4xf32>")
