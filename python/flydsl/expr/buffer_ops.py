"""Buffer memory in the older spelling: a descriptor made once, then loads and stores at element offsets.

`fx.rocdl.make_buffer_tensor` and the copy atoms do the same with layouts.
"""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.base.records import dataclass
from flydsl.dialects.fly import payload as pl
from flydsl.expr.numeric import Float32, Index, Int32, Int64, Numeric
from flydsl.expr.rocdl.lanes import readfirstlane
from flydsl.expr.rocdl.memory.addresses import descriptor_of
from flydsl.expr.rocdl.memory.buffer import get_buffer_rsrc, make_buffer_ptr
from flydsl.expr.rocdl.memory.raw_buffers import (
    from_words,
    masked_load,
    raw_ptr_buffer_load,
    raw_ptr_buffer_store,
)
from flydsl.expr.tensors.element import lanes_of
from flydsl.expr.tensors.ops_layout import cosize, get_scalar
from flydsl.expr.tensors.ops_memory import inttoptr, ptrtoint, recast_iter
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.tensors.tensor import Tensor, pointer_of
from flydsl.expr.trace.context import Value, current
from flydsl.expr.trace.intrinsic import call, constant, number_of, require, when
from flydsl.expr.values.ir_types import vector_type

_SPACES = {0: "generic", 1: "global", 3: "shared"}


def _pointer(memory: Any) -> Pointer:
    found = pointer_of(memory, plain="fx.buffer_ops")
    if not isinstance(found, Pointer):
        raise DslTypeError(f"expected a tensor or pointer of global memory, got {type(memory).__name__}")
    return found


def create_buffer_resource(
    memref: Any, stride: int = 0, max_size: bool = True, *, num_records_bytes: Any = None, base_byte_offset: Any = None
) -> Value:
    """Return the descriptor of a tensor or pointer; ``max_size=False`` ends it where the tensor's layout ends."""
    if stride != 0:
        raise DslValueError(f"only raw buffers are made here, whose stride is 0, got {stride}")
    pointer = _pointer(memref)
    records = num_records_bytes
    if records is None and not max_size:
        if not isinstance(memref, Tensor):
            raise DslValueError("a pointer does not say where its memory ends", hint="pass num_records_bytes=")
        covered = get_scalar(cosize(memref.layout))
        records = Int64(covered) * (memref.dtype.width // 8)
        if base_byte_offset is not None:
            records = records - Int64(base_byte_offset)
    if base_byte_offset is not None:
        pointer = recast_iter(pl.Pointer("i8", pointer.payload.space, 1), pointer) + Int64(base_byte_offset)
    return get_buffer_rsrc(make_buffer_ptr(pointer, records))


def create_buffer_resource_from_addr(addr_i64: Any, *, num_records_bytes: Any = None) -> Value:
    """Return the descriptor of an address given as a 64-bit integer."""
    return create_buffer_resource(
        inttoptr(pl.Pointer("i8", "global", 1), Int64(addr_i64)), num_records_bytes=num_records_bytes
    )


@dataclass(frozen=True)
class BufferResourceDescriptor:
    """A descriptor as an object; ``rsrc`` is the 128-bit value."""

    rsrc: Value

    @classmethod
    def from_memref(
        cls, memref: Any, stride: int = 0, max_size: bool = True, **options: Any
    ) -> BufferResourceDescriptor:
        """Return the descriptor of a tensor or pointer, with the options of `create_buffer_resource`."""
        return cls(create_buffer_resource(memref, stride, max_size, **options))


def _descriptor(rsrc: Any) -> Value:
    return descriptor_of(rsrc.rsrc if isinstance(rsrc, BufferResourceDescriptor) else rsrc)


def _element(dtype: Any) -> type[Numeric]:
    lanes, kind = lanes_of(dtype)
    if lanes is not None:
        raise DslTypeError(f"dtype is the type of one element, got {dtype}", hint="say how many with vec_width=")
    return kind


def buffer_load(
    rsrc: Any, offset: Any, vec_width: int = 4, dtype: Any = None, mask: Any = None, cache_modifier: int = 0,
    soffset_bytes: Any = None, is_scalar: bool = False,
) -> Any:  # fmt: skip
    """``vec_width`` elements at an offset counted in elements of ``dtype`` (f32); one element comes as a number.

    A lane whose ``mask`` is false gets zeros. ``is_scalar`` reads through the scalar cache: the offset is the same
    in the whole wave, one or four 32-bit elements.
    """
    kind = Float32 if dtype is None else _element(dtype)
    place = Int32(offset) * (kind.width // 8)
    if is_scalar:
        if mask is not None or soffset_bytes is not None or cache_modifier:
            raise DslValueError("a scalar load takes an offset and nothing else")
        return _scalar_load(rsrc, place, vec_width, kind)
    wanted = str(kind.ir_type) if vec_width == 1 else vector_type(vec_width, str(kind.ir_type))
    descriptor, soffset = _descriptor(rsrc), 0 if soffset_bytes is None else soffset_bytes
    if mask is not None:
        return masked_load(mask, wanted, descriptor, place, soffset, cache_modifier)
    return raw_ptr_buffer_load(wanted, descriptor, place, soffset, cache_modifier)


def _scalar_load(rsrc: Any, place: Int32, vec_width: int, kind: type[Numeric]) -> Any:
    require("a scalar buffer load", "rocm")
    if vec_width not in (1, 4) or kind.width != 32:
        raise DslValueError(
            f"a scalar buffer load reads one or four 32-bit elements, not {vec_width} of {kind.width} bits"
        )
    wanted = str(kind.ir_type) if vec_width == 1 else vector_type(vec_width, str(kind.ir_type))
    bits = current().op("llvm.ptrtoint", [_descriptor(rsrc)], "i128")
    words = current().op("llvm.bitcast", [bits], "vector<4xi32>")
    type_ = "i32" if vec_width == 1 else f"vector<{vec_width}xi32>"
    operands = [words, readfirstlane(place).ir_value(), constant("i32", 0, "the cache bits", 0, 0)]
    return from_words(call("llvm.amdgcn.s.buffer.load", operands, type_), wanted)


def buffer_store(
    data: Any, rsrc: Any, offset: Any, mask: Any = None, cache_modifier: int = 0, *, soffset_bytes: Any = None,
    offset_is_bytes: bool = False,
) -> None:  # fmt: skip
    """Store a number or vector at an offset counted in elements of its type; lanes whose mask is false do nothing."""
    value = number_of(data)
    place = Int32(offset) if offset_is_bytes else Int32(offset) * (value.dtype.width // 8)
    descriptor, soffset = _descriptor(rsrc), 0 if soffset_bytes is None else soffset_bytes

    def write() -> None:
        raw_ptr_buffer_store(value, descriptor, place, soffset, cache_modifier)

    if mask is None:
        write()
    else:
        when(mask, write)


# Pointers --------------------------------------------------------------------------------------


def _space(number: int) -> str:
    if number not in _SPACES:
        raise DslValueError(f"no address space {number}", hint="1 is global memory, 3 is LDS, 0 is either")
    return _SPACES[number]


def create_llvm_ptr(value: Any, address_space: int = 1) -> Pointer:
    """Return the pointer of an integer address: to bytes of global memory (1) or LDS (3). ``.llvm_ptr`` is LLVM's
    value."""
    space = _space(address_space)
    number = Int32(value) if space == "shared" else Int64(value)
    return inttoptr(pl.Pointer("i8", space, 1), number)


def get_element_ptr(
    base_ptr: Any, byte_offset: Any = None, static_byte_offset: int = 0, elem_type: Any = None
) -> Pointer:
    """Return the pointer some way on: in bytes, or in elements of ``elem_type`` if one is given."""
    pointer = _pointer(base_ptr)
    elem = "i8" if elem_type is None else str(_element(elem_type).ir_type)
    offset = 0 if byte_offset is None else byte_offset
    size = 1 if elem_type is None else _element(elem_type).width // 8
    if static_byte_offset % size:
        raise DslValueError(f"{static_byte_offset} bytes are no whole number of {elem}")
    moved = recast_iter(pl.Pointer(elem, pointer.payload.space, size), pointer)
    return moved + (offset if isinstance(offset, int) else as_integer(offset)) + static_byte_offset // size


def as_integer(offset: Any) -> Any:
    """Return an offset as a 32- or 64-bit integer: index-typed ones become 64-bit."""
    return Int64(offset) if isinstance(offset, Index) else offset


def extract_base_index(tensor: Any, address_space: int = 0) -> Index:
    """Return the address of a tensor's first element, index-typed."""
    pointer = _pointer(tensor)
    if address_space and _space(address_space) != pointer.payload.space:
        raise DslTypeError(f"this tensor lies in {pointer.payload.space} memory, not in {_space(address_space)} memory")
    return Index(ptrtoint(pointer))


__all__ = [
    "BufferResourceDescriptor", "buffer_load", "buffer_store", "create_buffer_resource",
    "create_buffer_resource_from_addr", "create_llvm_ptr", "extract_base_index", "get_element_ptr",
]  # fmt: skip
