"""Constant attributes as LLVM literal text, exact to the last bit.

LLVM reads a ``float`` literal as the hexadecimal form of the equal double, and ``half`` as its own bits, so
every literal here is built from the bit pattern and never from decimal digits.
"""

from __future__ import annotations

import math
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    VectorType,
)
from xdsl.dialects.llvm import LLVMArrayType, LLVMStructType
from xdsl.ir import Attribute

from flydsl.base.errors import LoweringError
from flydsl.codegen.llvm_types import BF16, Scalar, int_scalar, scalar_of, type_text

_HEX_PREFIX = {"f16": ("0xH", 4), "f64": ("0x", 16)}


def literal(attr: Attribute, result_type: Attribute) -> str:
    """Return the LLVM literal of a constant attribute for a value of ``result_type``."""
    if isinstance(attr, IntegerAttr):
        return int_literal(attr.value.data, scalar_of(result_type))
    if isinstance(attr, FloatAttr):
        return float_literal(attr.value.data, result_type)
    if isinstance(attr, DenseIntOrFPElementsAttr):
        return dense_literal(cast("DenseIntOrFPElementsAttr[Any]", attr), result_type)
    if isinstance(attr, StringAttr):
        return string_literal(attr.data.encode())
    if isinstance(attr, BytesAttr):
        return string_literal(attr.data)
    if isinstance(attr, UnitAttr):
        return "zeroinitializer"
    if isinstance(attr, ArrayAttr):
        return _aggregate_literal(cast("ArrayAttr[Attribute]", attr), result_type)
    raise LoweringError(f"constant '{attr}' has no LLVM literal")


def int_literal(value: int, scalar: Scalar) -> str:
    """Return a signed literal of the scalar's width; LLVM refuses one that does not fit."""
    if scalar.is_float:
        raise LoweringError(f"integer constant {value} for float type {scalar.name}")
    if scalar.bits == 1:
        return "true" if value & 1 else "false"
    value &= (1 << scalar.bits) - 1
    return str(value - (1 << scalar.bits) if value >> (scalar.bits - 1) else value)


def float_literal(value: float, attr: Attribute) -> str:
    """Return the literal of a Python float rounded to the float type ``attr``."""
    return bits_literal(float_bits(value, attr), scalar_of(attr))


def float_bits(value: float, attr: Attribute) -> int:
    """Return the bit pattern of a Python float in the float type ``attr``; overflow goes to infinity."""
    element: Any = attr.element_type if isinstance(attr, VectorType) else attr
    try:
        packed = element.pack((value,))
    except OverflowError:
        packed = element.pack((math.copysign(math.inf, value),))
    return int.from_bytes(packed, "little")


def bits_literal(bits: int, scalar: Scalar) -> str:
    """Return the literal of a float type from its bit pattern."""
    if scalar.is_narrow:
        return int_literal(bits, int_scalar(scalar.bits))
    if scalar.name == "bf16":
        # Its alias may stand for bfloat or i16; a constant cast fits both.
        return f"bitcast (i16 {int_literal(bits, int_scalar(16))} to {BF16})"
    if scalar.name == "f32":
        return f"0x{_double_of_single(bits):016X}"
    prefix, digits = _HEX_PREFIX[scalar.name]
    return f"{prefix}{bits:0{digits}X}"


def splat_literal(element: str, scalar: Scalar) -> str:
    """Return one element literal spread over the lanes of ``scalar`` (unchanged for a scalar type)."""
    return f"splat ({scalar.text} {element})" if scalar.lanes else element


def dense_literal(attr: DenseIntOrFPElementsAttr[Any], result_type: Attribute) -> str:
    """Return a dense attribute as a flat vector, or as an array nested like its type, straight from its bytes."""
    element, data = attr.type.element_type, attr.data.data
    if not any(data):
        return "zeroinitializer"
    scalar, size = scalar_of(element), element.compile_time_size
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    texts = [_element_literal(part, scalar) for part in parts]
    if not isinstance(result_type, VectorType):
        return _array_literal(texts, result_type)
    if len(set(parts)) == 1:
        return splat_literal(texts[0], scalar_of(result_type))
    return f"<{', '.join(f'{scalar.text} {text}' for text in texts)}>"


def _array_literal(texts: list[str], result_type: Attribute) -> str:
    """Element literals grouped into the rows of a nested array type."""
    if not isinstance(result_type, LLVMArrayType):
        raise LoweringError(f"a dense constant cannot fill '{result_type}'")
    inner, row = type_text(result_type.type), len(texts) // result_type.size.data
    if isinstance(result_type.type, LLVMArrayType):
        rows = [texts[at : at + row] for at in range(0, len(texts), row)]
        texts = [_array_literal(part, result_type.type) for part in rows]
    return f"[{', '.join(f'{inner} {text}' for text in texts)}]"


def string_literal(data: bytes) -> str:
    """Bytes as an LLVM ``c"..."`` literal."""
    return 'c"' + quoted(data) + '"'


def quoted(data: bytes) -> str:
    """Bytes with everything outside plain ASCII escaped, for use between double quotes."""
    return "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}" for byte in data)


def _element_literal(part: bytes, scalar: Scalar) -> str:
    if scalar.is_float:
        return bits_literal(int.from_bytes(part, "little"), scalar)
    return int_literal(int.from_bytes(part, "little", signed=True), scalar)


def _aggregate_literal(attr: ArrayAttr[Attribute], result_type: Attribute) -> str:
    """Return an array attribute for a struct or array type; each element carries its own type."""
    if isinstance(result_type, LLVMStructType):
        types, brackets = list(result_type.types), ("{ ", " }")
    elif isinstance(result_type, LLVMArrayType):
        types, brackets = [result_type.type] * len(attr), ("[", "]")
    else:
        raise LoweringError(f"a list of constants cannot fill '{result_type}'")
    texts = [f"{type_text(type_)} {literal(element, type_)}" for element, type_ in zip(attr, types, strict=True)]
    return brackets[0] + ", ".join(texts) + brackets[1]


def _double_of_single(bits: int) -> int:
    """Return the bits of the double equal to a single; NaN payloads keep their place (no float conversion,
    which would quieten a signalling NaN on some hosts)."""
    sign, exponent, fraction = bits >> 31, bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent == 0 and fraction:
        shift = 24 - fraction.bit_length()
        exponent, fraction = 1 - shift, (fraction << shift) & 0x7FFFFF
    elif exponent == 0:
        return sign << 63
    wide = 0x7FF if exponent == 0xFF else exponent - 127 + 1023
    return sign << 63 | wide << 52 | fraction << 29
