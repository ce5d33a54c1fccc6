"""What raw intrinsics address memory with: descriptors and LLVM pointers, from whatever a kernel has at hand."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.dialects.fly import payload as pl
from flydsl.expr.context import Value, current
from flydsl.expr.numeric import Int32, Integer
from flydsl.expr.ops_memory import inttoptr
from flydsl.expr.pointer import Pointer
from flydsl.expr.rocdl.buffer import get_buffer_rsrc, make_buffer_ptr
from flydsl.expr.tensor import pointer_of

DESCRIPTOR_TYPE = "!llvm.ptr<8>"


def descriptor_of(source: Any) -> Value:
    """The buffer descriptor of a buffer tensor or pointer, of global memory, or the descriptor itself."""
    pointer = pointer_of(source)
    if isinstance(pointer, Pointer):
        buffered = pointer.payload.space == pl.BUFFER_DESC
        return get_buffer_rsrc(pointer if buffered else make_buffer_ptr(pointer))
    if not hasattr(pointer, "type") or current().type_name(pointer) != DESCRIPTOR_TYPE:
        raise DslTypeError(
            f"expected a buffer descriptor, got {type(source).__name__}",
            hint="make one with fx.buffer_ops.create_buffer_resource(tensor)",
        )
    return pointer


def pointer_in(source: Any, space: str, what: str) -> Pointer:
    """The pointer of a tensor, pointer or array in one memory; integers are addresses in it."""
    source = pointer_of(source)
    if isinstance(source, (Integer, int)) and not isinstance(source, bool):
        number = Int32(source) if space == "shared" and getattr(source, "width", 32) == 32 else source
        return inttoptr(pl.Pointer("i8", space, 1), number)
    if not isinstance(source, Pointer):
        raise DslTypeError(f"{what} must be a pointer, tensor or address, got {type(source).__name__}")
    found = source.payload.space
    if found != space and not (space == "global" and found == "generic"):
        raise DslTypeError(f"{what} must lie in {space} memory, and this one lies in {found} memory")
    return source


def shared_pointer(source: Any, what: str = "the LDS address") -> Value:
    """An address in LDS as LLVM's pointer."""
    return current().fly("to_llvm_ptr", [pointer_in(source, "shared", what).ir_value()], None, "!llvm.ptr<3>")


def global_pointer(source: Any, what: str = "the global address") -> Value:
    """An address in global memory as LLVM's pointer."""
    return current().fly("to_llvm_ptr", [pointer_in(source, "global", what).ir_value()], None, "!llvm.ptr<1>")
