"""Literals of LLVM text as constant attributes: the other direction of `literals`.

A vector is read as the bytes of its elements, so every float keeps its exact bits.
"""

from __future__ import annotations

import struct
from typing import Any

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, IntegerType, VectorType
from xdsl.ir import Attribute

from flydsl.codegen.reading.text_cursor import TextCursor

WORDS = {"undef": "llvm.mlir.undef", "poison": "llvm.mlir.poison", "null": "llvm.mlir.zero"}
"""Literals that are operations of their own in the llvm dialect."""


def read_constant(cursor: TextCursor, type_: Attribute) -> Attribute:
    """Return the attribute of the literal that comes next, for a scalar or vector type."""
    if not isinstance(type_, VectorType):
        return _scalar_attr(type_, _scalar_bits(cursor, type_))
    size, count = type_.element_type.compile_time_size, type_.get_shape()[0]
    return DenseIntOrFPElementsAttr(type_, BytesAttr(_vector_bytes(cursor, type_.element_type, size, count)))


def _vector_bytes(cursor: TextCursor, element: Attribute, size: int, count: int) -> bytes:
    if cursor.accept("zeroinitializer"):
        return bytes(size * count)
    if cursor.accept("splat"):
        cursor.expect("(")
        cursor.type()
        bits = _scalar_bits(cursor, element)
        cursor.expect(")")
        return _packed(bits, element, size) * count
    cursor.expect("<")
    parts = []
    while not cursor.accept(">"):
        cursor.type()
        parts.append(_packed(_scalar_bits(cursor, element), element, size))
        cursor.accept(",")
    return b"".join(parts)


def _packed(bits: int, element: Any, size: int) -> bytes:
    """Return an element's bits as xDSL keeps them: an integer is stretched with its sign."""
    if isinstance(element, IntegerType):
        width = element.width.data
        # A bool is stored as 0 or 1, every other integer as a signed number.
        signed = bits - (1 << width) if width > 1 and bits >> (width - 1) else bits
        return signed.to_bytes(size, "little", signed=signed < 0)
    return bits.to_bytes(size, "little")


def _scalar_attr(type_: Attribute, bits: int) -> Attribute:
    if isinstance(type_, IntegerType):
        width = type_.width.data
        return IntegerAttr(bits - (1 << width) if width > 1 and bits >> (width - 1) else bits, type_)
    kind: Any = type_
    return FloatAttr(kind.unpack(bits.to_bytes(kind.compile_time_size, "little"), 1)[0], kind)


def _scalar_bits(cursor: TextCursor, type_: Any) -> int:
    """Return the bit pattern of a scalar literal. An open lane among others may be anything, so it is zero."""
    word = cursor.take()
    if word in ("zeroinitializer", "undef", "poison"):
        return 0
    if word == "bitcast":  # how bf16 is written: bitcast (i16 N to %bf16)
        cursor.expect("(")
        bits = _scalar_bits(cursor, cursor.type())
        cursor.expect("to")
        cursor.type()
        cursor.expect(")")
        return bits
    if isinstance(type_, IntegerType):
        number = {"true": 1, "false": 0}.get(word)
        return (int(word) if number is None else number) & ((1 << type_.width.data) - 1)
    size = type_.compile_time_size
    if not word.startswith("0x"):
        return int.from_bytes(type_.pack((float(word),)), "little")
    if word[2] in "HR" or size == 8:
        return int(word[2:].lstrip("HR"), 16)
    return _single_of_double(int(word, 16))


def _single_of_double(bits: int) -> int:
    """Return the bits of the single that a double equals; NaN payloads keep their place."""
    sign, exponent, fraction = bits >> 63, bits >> 52 & 0x7FF, bits & ((1 << 52) - 1)
    if exponent == 0x7FF:
        return sign << 31 | 0xFF << 23 | fraction >> 29
    value = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
    return int.from_bytes(struct.pack("<f", value), "little")
