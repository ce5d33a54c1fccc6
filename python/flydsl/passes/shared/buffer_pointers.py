"""AMD buffer descriptors: a fly pointer in their space is a descriptor and a byte offset of the lane.

The descriptor is the same for a whole wave and sits in scalar registers; lanes differ in the 32-bit offset
alone. Where such a pointer crosses a region boundary it is a struct of both.
"""

from __future__ import annotations

from typing import Protocol

from xdsl.dialects.builtin import IntAttr, VectorType, i32
from xdsl.dialects.llvm import LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, SSAValue

from flydsl.base.errors import LoweringError
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly.ops import FlyOp
from flydsl.dialects.fly.types import element_type, payload_of, vector_type
from flydsl.dialects.upstream import integers
from flydsl.passes.shared.insertion import Inserter
from flydsl.passes.shared.intrinsic_call import call_intrinsic
from flydsl.passes.shared.ssa_leaf import SsaInt, register
from flydsl.passes.shared.vector_access import cast_bits
from flydsl.target.dtype import storage_bytes

DESCRIPTOR = LLVMPointerType(IntAttr(8))
BUFFER_POINTER = LLVMStructType.from_type_list([DESCRIPTOR, i32])

_WORDS = {8: "i8", 16: "i16", 32: "i32", 64: "vector<2xi32>", 96: "vector<3xi32>", 128: "vector<4xi32>"}
"""Bits of an access to the type the instruction moves."""


class Conversion(Protocol):
    """What these functions ask of the walk that calls them."""

    at: Inserter
    buffers: dict[SSAValue, tuple[SSAValue, SSAValue]]
    """Descriptor and offset of each pointer that was taken apart or put together."""

    def replace(self, op: FlyOp, value: SSAValue, info: pl.Pointer | None = None) -> None:
        """Put a value in the place of an operation."""
        ...


def parts(conv: Conversion, pointer: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Return the descriptor and the byte offset of a buffer pointer."""
    known = conv.buffers.get(pointer)
    if known is not None:
        return known
    # Taken out again at each use: what is taken out in one branch does not exist in another.
    return _field(conv, pointer, 0, DESCRIPTOR), _field(conv, pointer, 1, i32)


def _field(conv: Conversion, pointer: SSAValue, index: int, type_: Attribute) -> SSAValue:
    position = {"position": integers(64, index)}
    return conv.at.op("llvm.extractvalue", [pointer], [type_], position)


def joined(conv: Conversion, descriptor: SSAValue, offset: SSAValue) -> SSAValue:
    """Return a buffer pointer of its parts; the struct is dropped later unless a region boundary needs it."""
    value = conv.at.undefined(BUFFER_POINTER)
    for index, part in enumerate((descriptor, offset)):
        position = {"position": integers(64, index)}
        value = conv.at.op("llvm.insertvalue", [value, part], [BUFFER_POINTER], position)
    conv.buffers[value] = (descriptor, offset)
    return value


def make_buffer_pointer(conv: Conversion, op: FlyOp) -> None:
    """make_ptr of (pointer, stride, records, flags): a descriptor, and offset zero."""
    info = payload_of(op.results[0].type)
    descriptor = call_intrinsic(conv.at, "llvm.amdgcn.make.buffer.rsrc", list(op.operands), [DESCRIPTOR])
    conv.replace(op, joined(conv, descriptor, conv.at.constant("i32", 0)), info)


def buffer_rsrc(conv: Conversion, op: FlyOp) -> None:
    """fly_rocdl.get_buffer_rsrc: the bare descriptor."""
    conv.replace(op, parts(conv, op.operands[0])[0])


def moved(conv: Conversion, pointer: SSAValue, info: pl.Pointer, by: list[SSAValue], constant: int) -> SSAValue:
    """Return the pointer some elements on. Offsets are 32-bit: a buffer spans at most 4 GiB."""
    descriptor, offset = parts(conv, pointer)
    size = storage_bytes(info.elem)
    if by:
        width = by[0].type.width.data  # type: ignore[union-attr]
        step = register(conv.at, SsaInt(conv.at, by[0], width) * size, 32)
    else:
        step = conv.at.constant("i32", _as_signed(constant * size))
    total = conv.at.op("arith.addi", [offset, step], [i32], conv.at.wrapping)
    return joined(conv, descriptor, total)


def _as_signed(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


# Accesses --------------------------------------------------------------------------------------


def _bits(type_: Attribute, elem: str) -> int:
    count = type_.get_shape()[0] if isinstance(type_, VectorType) else 1
    return count * storage_bytes(elem) * 8


def words_type(bits: int) -> Attribute:
    """Return the register type of an access of that many bits."""
    text = _WORDS.get(bits)
    if text is None:
        raise LoweringError(
            f"a buffer access moves {', '.join(map(str, _WORDS))} bits, not {bits}",
            hint="load fewer elements at once, or copy with a BufferCopy atom",
        )
    if text.startswith("vector"):
        return vector_type(int(text[7]), "i32")
    return element_type(text)


def load(
    conv: Conversion, pointer: SSAValue, stored: Attribute, elem: str, soffset: SSAValue | None = None,
    cache: int = 0,
) -> SSAValue:  # fmt: skip
    """Read through a descriptor as the type elements have in memory."""
    words = words_type(_bits(stored, elem))
    descriptor, offset = parts(conv, pointer)
    at = conv.at
    operands = [descriptor, offset, soffset or at.constant("i32", 0), at.constant("i32", cache)]
    return cast_bits(conv.at, call_intrinsic(at, "llvm.amdgcn.raw.ptr.buffer.load", operands, [words]), stored)


def store(
    conv: Conversion, value: SSAValue, pointer: SSAValue, elem: str, soffset: SSAValue | None = None,
    cache: int = 0,
) -> None:  # fmt: skip
    """Write through a descriptor."""
    words = cast_bits(conv.at, value, words_type(_bits(value.type, elem)))
    descriptor, offset = parts(conv, pointer)
    at = conv.at
    operands = [words, descriptor, offset, soffset or at.constant("i32", 0), at.constant("i32", cache)]
    call_intrinsic(at, "llvm.amdgcn.raw.ptr.buffer.store", operands)
