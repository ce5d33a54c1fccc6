"""IR types as MLIR text, and `T`, the attribute-style way to name them.

An IR type crosses the trace boundary as text, so the whole of "a type" here is a string with a class
of its own: `T.f32 == "f32"`, and error messages print what the dumps print.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from flydsl.base.errors import DslValueError


class IrType(str):
    """The MLIR spelling of a type. Equal to, hashed like and usable as the plain string."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"IrType({str(self)!r})"

    def __call__(self) -> IrType:
        """The type itself: older kernels write `T.f32()` where newer ones write `T.f32`."""
        return self


@cache
def vector_type(lanes: int, element: str) -> IrType:
    """`vector<lanes x element>`, built once per pair: every vector op of a trace asks for it."""
    if lanes < 1:
        raise DslValueError(f"a vector needs at least one lane, not {lanes}")
    return IrType(f"vector<{lanes}x{element}>")


@cache
def split_vector_type(text: str) -> tuple[int | None, str]:
    """The lane count and element text of a 1-D vector type; `(None, text)` for any other type."""
    if not text.startswith("vector<"):
        return None, text
    lanes, _, element = text[len("vector<") : -1].partition("x")
    if not lanes.isdigit():
        raise DslValueError(f"{text} is not a vector of fixed length", hint="lane counts are plain integers")
    if element[:1].isdigit():
        raise DslValueError(f"{text} has more than one dimension", hint="vectors are 1-D in IR; flatten it first")
    return int(lanes), element


class VectorTypes:
    """`T.VectorType.get([4], T.f32)`: vector types as MLIR's own builder makes them."""

    @staticmethod
    def get(shape: Sequence[int], element: object) -> IrType:
        """A vector of one dimension."""
        (lanes,) = shape
        return vector_type(lanes, str(getattr(element, "ir_type", element)))


class Types:
    """Attribute access gives IR types: `T.i32`, `T.bf16x8`, `T.vec(4, T.f32)`."""

    VectorType = VectorTypes
    i1 = IrType("i1")
    index = IrType("index")
    i4 = IrType("i4")
    i8 = IrType("i8")
    i16 = IrType("i16")
    i32 = IrType("i32")
    i64 = IrType("i64")
    i128 = IrType("i128")
    f16 = IrType("f16")
    bf16 = IrType("bf16")
    f32 = IrType("f32")
    f64 = IrType("f64")
    f8E5M2 = IrType("f8E5M2")
    f8E4M3 = IrType("f8E4M3")
    f8E4M3FN = IrType("f8E4M3FN")
    f8E4M3FNUZ = IrType("f8E4M3FNUZ")
    f8E5M2FNUZ = IrType("f8E5M2FNUZ")
    f8E4M3B11FNUZ = IrType("f8E4M3B11FNUZ")
    f8E8M0FNU = IrType("f8E8M0FNU")
    f6E2M3FN = IrType("f6E2M3FN")
    f6E3M2FN = IrType("f6E3M2FN")
    f4E2M1FN = IrType("f4E2M1FN")

    i8x2, i8x4, i8x8, i8x16 = (vector_type(n, "i8") for n in (2, 4, 8, 16))
    i16x2, i16x4, i16x8 = (vector_type(n, "i16") for n in (2, 4, 8))
    i32x2, i32x4 = (vector_type(n, "i32") for n in (2, 4))
    i64x2 = vector_type(2, "i64")
    f16x2, f16x4, f16x8 = (vector_type(n, "f16") for n in (2, 4, 8))
    bf16x2, bf16x4, bf16x8 = (vector_type(n, "bf16") for n in (2, 4, 8))
    f32x2, f32x4 = (vector_type(n, "f32") for n in (2, 4))

    @staticmethod
    def vec(lanes: int, element: object) -> IrType:
        """`vector<lanes x element>`; the element is a type text or a number class."""
        return vector_type(lanes, str(getattr(element, "ir_type", element)))


T = Types
