"""IR types as MLIR text, and `T`, the attribute-style way to name them.

An IR type crosses the trace boundary as text, so the whole of "a type" here is a string with a class
of its own: `T.f32 == "f32"`, and error messages print what the dumps print.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from flydsl.base.errors import DslValueError
from flydsl.base.lazy import offered
from flydsl.target.dtype import FLOAT_WIDTHS

_SHAPED = r"(vector|memref)<((?:\d+x)*)(.*)>"
_POINTER = r"!llvm\.ptr(?:<(\d+)>)?"


class IrType(str):
    """The MLIR spelling of a type. Equal to, hashed like and usable as the plain string.

    It has the facts of its kind and no others: `width` of a number (`index` has none), `shape` and `element_type` of
    a vector or memref, `address_space` of a pointer.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"IrType({str(self)!r})"

    def __call__(self) -> IrType:
        """Return the type itself: older kernels write `T.f32()` where newer ones write `T.f32`."""
        return self

    def __getattr__(self, name: str) -> Any:
        facts = type_facts(self)
        if name in facts:
            return facts[name]
        raise AttributeError(f"the type {self!s} has no '{name}'", name=name, obj=self)


@cache
def type_facts(text: str) -> Mapping[str, Any]:
    """Return what a type's text says about its values, by the name of the attribute."""
    if text in FLOAT_WIDTHS:
        return {"width": FLOAT_WIDTHS[text]}
    if text[:1] == "i" and text[1:].isdigit():
        return {"width": int(text[1:])}
    if pointer := re.fullmatch(_POINTER, text):
        return {"address_space": int(pointer[1] or 0)}
    shaped = re.fullmatch(_SHAPED, text)
    if shaped is None:
        return {}
    shape = [int(extent) for extent in shaped[2].split("x")[:-1]]
    element, _, space = shaped[3].partition(", ")
    facts: dict[str, Any] = {"shape": shape, "rank": len(shape), "element_type": IrType(element)}
    return facts | ({"memory_space": space or None} if shaped[1] == "memref" else {})


@cache
def vector_type(lanes: int, element: str) -> IrType:
    """`vector<lanes x element>`, built once per pair: every vector op of a trace asks for it."""
    if lanes < 1:
        raise DslValueError(f"a vector needs at least one lane, not {lanes}")
    return IrType(f"vector<{lanes}x{element}>")


@cache
def split_vector_type(text: str) -> tuple[int | None, str]:
    """Return the lane count and element text of a 1-D vector type; `(None, text)` for any other type."""
    if not text.startswith("vector<"):
        return None, text
    lanes, _, element = text[len("vector<") : -1].partition("x")
    if not lanes.isdigit():
        raise DslValueError(f"{text} is not a vector of fixed length", hint="lane counts are plain integers")
    if element[:1].isdigit():
        raise DslValueError(f"{text} has more than one dimension", hint="vectors are 1-D in IR; flatten it first")
    return int(lanes), element


class NarrowingMeta(type):
    """A class of types, such as `ir.VectorType`: it says which types it admits, and a call narrows one to it."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return cls.admits(instance)  # type: ignore[attr-defined]

    def __call__(cls, type_: Any) -> Any:
        if isinstance(type_, cls):
            return type_
        raise DslValueError(f"{type_!s} is no {cls.__name__}")


class _TypesMeta(type):
    @property
    def VectorType(cls) -> Any:
        """`T.VectorType.get([4], T.f32)`: vector types as the raw layer makes them."""
        return offered("the raw layer", "VectorType")


class Types(metaclass=_TypesMeta):
    """Attribute access gives IR types: `T.i32`, `T.bf16x8`, `T.vec(4, T.f32)`."""

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
