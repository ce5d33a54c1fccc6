"""Memory by pointer in the older spelling: loads, stores and atomic additions at an address."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.base.records import replace
from flydsl.expr.atoms.atomics import llvm_address
from flydsl.expr.atoms.hardware_enums import SyncScope
from flydsl.expr.buffer_ops import as_integer, get_element_ptr
from flydsl.expr.numeric import Int32, Numeric
from flydsl.expr.rocdl.memory.addresses import descriptor_of, from_llvm, pointer_in
from flydsl.expr.rocdl.memory.raw_buffers import raw_ptr_buffer_atomic_fadd
from flydsl.expr.tensors.element import lanes_of
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.tensors.tensor import pointer_of
from flydsl.expr.trace.context import Value, current
from flydsl.expr.trace.intrinsic import call, constant, number_of, require
from flydsl.expr.vector import Vector
from flydsl.target.sync_scopes import scope_name

_LLVM_SPACES = {"generic": "!llvm.ptr", "global": "!llvm.ptr<1>", "shared": "!llvm.ptr<3>"}
_ADD, _FADD = 1, 11
"""LLVM's numbers of the additions of an atomicrmw."""
_MONOTONIC = 2


def _pointer(memory: Any, plain: str = "") -> Pointer:
    found = from_llvm(pointer_of(memory, plain=plain))
    if not isinstance(found, Pointer):
        found = pointer_in(found, "global", "the address")
    if found.payload.space not in _LLVM_SPACES:
        raise DslTypeError(
            f"a pointer to {found.payload.space} memory has no address of its own", hint="use fx.buffer_ops for buffers"
        )
    return found


def get_llvm_ptr(memory: Any, byte_offset: Any = 0) -> Value:
    """LLVM's pointer value of a tensor, pointer or 64-bit global address, some bytes on."""
    pointer = _pointer(memory, plain="LLVM's pointer")
    if not (isinstance(byte_offset, int) and byte_offset == 0):
        pointer = get_element_ptr(pointer, byte_offset)
    return current().fly("to_llvm_ptr", [pointer.ir_value()], None, _LLVM_SPACES[pointer.payload.space])


def extract_global_ptr(tensor: Any) -> Pointer:
    """Return the pointer to a tensor's first element in global memory."""
    return pointer_in(tensor, "global", "the tensor")


def _element_pointer(memory: Any, offset: Any, kind: type[Numeric]) -> Pointer:
    pointer = _pointer(memory)
    size = max(kind.width // 8, 1)
    align = pointer.payload.align if pointer.payload.elem == str(kind.ir_type) else size
    typed = pointer.recast(replace(pointer.payload, elem=str(kind.ir_type), align=align))
    return typed + (offset if isinstance(offset, int) else as_integer(offset))


def global_load(pointer: Any, offset: Any = 0, dtype: Any = None, vec_width: int = 1) -> Any:
    """``vec_width`` elements at an offset counted in elements; one comes as a number."""
    found = _pointer(pointer)
    kind = found.dtype if dtype is None else lanes_of(dtype)[1]
    place = _element_pointer(found, offset, kind)
    if vec_width == 1:
        return place.load()
    text = f"vector<{vec_width}x{kind.ir_type}>"
    return Vector(current().fly("ptr.load", [place.ir_value()], None, text), dtype=kind)


def global_store(value: Any, pointer: Any, offset: Any = 0) -> None:
    """Store a number or vector at an offset counted in its elements."""
    found = _pointer(pointer)
    data = value if hasattr(value, "dtype") else found.dtype(value)
    _element_pointer(found, offset, data.dtype).store(data)


def atomic_add(pointer: Any, value: Any, offset: Any = 0, *, scope: SyncScope = SyncScope.System) -> Any:
    """Add a number into memory, global or shared, and give what was there before."""
    found = _pointer(pointer)
    data = value if hasattr(value, "dtype") else found.dtype(value)
    place = _element_pointer(found, offset, data.dtype)
    attributes: dict[str, Any] = {
        "bin_op": _FADD if data.dtype.is_float else _ADD, "ordering": _MONOTONIC, "alignment": data.dtype.width // 8,
    }  # fmt: skip
    if name := scope_name(current().target.backend, scope.value):
        attributes["syncscope"] = name
    before = current().op("llvm.atomicrmw", [llvm_address(place), data.ir_value()], str(data.dtype.ir_type), attributes)
    return data.dtype(before)


def buffer_atomic_add(
    value: Any, rsrc: Any, offset: Any, *, soffset_bytes: Any = 0, offset_is_bytes: bool = False
) -> Any:
    """Add a number, or a pair of 16-bit floats, into a buffer at an element offset; gives what was there before."""
    require("a buffer atomic", "rocm")
    data = number_of(value)
    place = Int32(offset) if offset_is_bytes else Int32(offset) * (data.dtype.width // 8)
    if data.dtype.is_float:
        return raw_ptr_buffer_atomic_fadd(data, rsrc, place, soffset_bytes)
    if isinstance(data, Vector) or data.dtype.width not in (32, 64):
        raise DslTypeError(f"a buffer atomic adds 32- and 64-bit integers and floats, got {data}")
    operands = [data.ir_value(), descriptor_of(rsrc), place.ir_value(), Int32(soffset_bytes).ir_value(),
                constant("i32", 0, "the cache bits", 0, 0)]  # fmt: skip
    return data.dtype(call("llvm.amdgcn.raw.ptr.buffer.atomic.add", operands, str(data.dtype.ir_type)))


__all__ = [
    "atomic_add", "buffer_atomic_add", "extract_global_ptr", "get_llvm_ptr", "global_load", "global_store",
]  # fmt: skip
