"""Structs, unions, arrays and the places they lie in, in one import."""

from __future__ import annotations

from flydsl.expr.memory.arena import Arena
from flydsl.expr.memory.array import Align, Array
from flydsl.expr.memory.storage import Storage
from flydsl.expr.memory.struct import (
    Struct,
    Union,
    is_composite_type,
    is_specializable_struct_type,
    is_struct_type,
    struct,
    union,
)

__all__ = [
    "Align", "Arena", "Array", "Storage", "Struct", "Union", "is_composite_type", "is_specializable_struct_type",
    "is_struct_type", "struct", "union",
]  # fmt: skip
