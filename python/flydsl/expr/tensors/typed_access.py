"""Reading and writing at a pointer as a type of one's own, whatever the pointer's elements are.

A pointer's alignment is all that is known of an address, and a wider type does not raise it. Where it is too little for
an element of the type, the bytes move as a vector of words that it is enough for.
"""

from __future__ import annotations

from math import gcd
from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.base.records import replace
from flydsl.expr.numeric import Index, Int64, Numeric, is_raw_value
from flydsl.expr.tensors.element import element_name, lanes_of
from flydsl.expr.trace.context import Value, current
from flydsl.expr.values.ir_types import vector_type
from flydsl.expr.values.known import shown
from flydsl.expr.values.vector_value import Vector, vector_operand
from flydsl.target.dtype import storage_bytes


def load_as(pointer: Any, type_: Any) -> Any:
    """Return a number or vector of ``type_``, a number class, a vector alias or an IR type, at the address."""
    lanes, kind = lanes_of(type_)
    if kind is Index:
        return load_as(pointer, Int64).to(Index)
    word, count = _word(pointer, kind, lanes or 1)
    if word is not kind:
        words = Vector(_read(_retyped(pointer, word), count, word), dtype=word).bitcast(kind)
        return words if lanes is not None else words[0]
    value = _read(_retyped(pointer, kind), lanes, kind)
    return kind(value) if lanes is None else Vector(value, dtype=kind)


def store_bits(pointer: Any, value: Vector | Numeric) -> None:
    """Write a number or vector at the address as it is."""
    kind = value.dtype
    word, count = _word(pointer, kind, value.numel if isinstance(value, Vector) else 1)
    if word is not kind:
        whole = value if isinstance(value, Vector) else Vector.from_elements([value], kind)
        value = whole.bitcast(word)
        assert value.numel == count
    current().fly("ptr.store", [value.ir_value(), _retyped(pointer, word).ir_value()])


def as_elements(pointer: Any, value: Any) -> Vector | Numeric:
    """Return a number or vector converted to the pointer's elements."""
    found = vector_operand(value)
    if found is None and (is_raw_value(value) or isinstance(value, str)):
        raise DslTypeError(
            f"a number or a vector is stored through a pointer, got {shown(value)}", hint="give one of the fx types"
        )
    return found.to(pointer.dtype) if isinstance(found, Vector) else pointer.dtype(value)


def stored_form(pointer: Any, value: Any) -> Vector | Numeric:
    """Return what ``pointer.store(value)`` writes: the value as the pointer's elements.

    Through a pointer to bytes, numbers and vectors of other types are written as they are.
    """
    found = None if isinstance(value, (bool, int, float)) else vector_operand(value)
    bytewise = pointer.dtype.is_integer and pointer.dtype.width == 8
    if found is None or not bytewise or not (found.dtype.is_float or found.dtype.width > 8):
        return as_elements(pointer, value)
    return found.to(Int64) if found.dtype is Index else found


def _word(pointer: Any, kind: type[Numeric], count: int) -> tuple[type[Numeric], int]:
    """Return (type, how many) that move ``count`` elements of ``kind``: the elements, or words that are aligned."""
    size = storage_bytes(element_name(kind))
    aligned = gcd(pointer.payload.align, size)
    if aligned == size or str(pointer.dtype.ir_type) == str(kind.ir_type):
        return kind, count
    return Numeric.from_ir_type(f"i{8 * aligned}"), count * size // aligned


def _retyped(pointer: Any, kind: type[Numeric]) -> Any:
    """Return the pointer, to elements of ``kind`` and no more aligned than it was."""
    if str(pointer.dtype.ir_type) == str(kind.ir_type):
        return pointer
    return pointer.recast(replace(pointer.payload, elem=element_name(kind)))


def _read(pointer: Any, lanes: int | None, kind: type[Numeric]) -> Value:
    text = str(kind.ir_type) if lanes is None else vector_type(lanes, str(kind.ir_type))
    return current().fly("ptr.load", [pointer.ir_value()], None, str(text))
