"""What raw intrinsics address memory with: descriptors and LLVM pointers, from whatever a kernel has at hand."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.dialects.fly import payload as pl
from flydsl.expr.numeric import Int32, Integer, is_raw_value
from flydsl.expr.rocdl.memory.buffer import get_buffer_rsrc, make_buffer_ptr
from flydsl.expr.tensors.ops_memory import inttoptr
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.tensors.tensor import pointer_of
from flydsl.expr.trace.context import Value, current
from flydsl.expr.values.handle import from_value
from flydsl.expr.values.known import shown

DESCRIPTOR_TYPE = "!llvm.ptr<8>"


def descriptor_of(source: Any) -> Value:
    """Return the buffer descriptor of a buffer tensor or pointer, of global memory, or the descriptor itself."""
    pointer = pointer_of(source)
    if isinstance(pointer, Pointer):
        buffered = pointer.payload.space == pl.BUFFER_DESC
        return get_buffer_rsrc(pointer if buffered else make_buffer_ptr(pointer))
    if not hasattr(pointer, "type") or current().type_name(pointer) != DESCRIPTOR_TYPE:
        raise DslTypeError(
            f"expected a buffer descriptor, got {_named(source)}",
            hint="make one with fx.buffer_ops.create_buffer_resource(tensor)",
        )
    return pointer


_SPACES = {"!llvm.ptr": "generic", "!llvm.ptr<1>": "global", "!llvm.ptr<3>": "shared"}
"""LLVM's pointer types to the memory they point into."""


def from_llvm(source: Any, assumed: str | None = None) -> Any:
    """Return a pointer of LLVM (``p.llvm_ptr``) as one to bytes; anything else as it is.

    ``assumed`` is the memory of one that does not say where it points.
    """
    space = _SPACES.get(current().type_name(source)) if is_raw_value(source) else None
    if space is None:
        return source
    known = assumed if space == "generic" and assumed is not None else space
    return from_value(current().fly("make_ptr", [source], None, pl.Pointer("i8", known, 1)))


def pointer_in(source: Any, space: str, what: str) -> Pointer:
    """Return the pointer of a tensor, pointer or array in one memory; integers are addresses in it."""
    source = from_llvm(pointer_of(source, plain=what), space)
    if isinstance(source, (Integer, int)) and not isinstance(source, bool):
        number = Int32(source) if space == "shared" and getattr(source, "width", 32) == 32 else source
        return inttoptr(pl.Pointer("i8", space, 1), number)
    if not isinstance(source, Pointer):
        raise DslTypeError(f"{what} must be a pointer, tensor or address, got {_named(source)}")
    found = source.payload.space
    if found != space and not (space == "global" and found == "generic"):
        raise DslTypeError(f"{what} must lie in {space} memory, and this one lies in {found} memory")
    return source


def shared_pointer(source: Any, what: str = "the LDS address") -> Value:
    """Return an address in LDS as LLVM's pointer."""
    return current().fly("to_llvm_ptr", [pointer_in(source, "shared", what).ir_value()], None, "!llvm.ptr<3>")


def global_pointer(source: Any, what: str = "the global address") -> Value:
    """Return an address in global memory as LLVM's pointer."""
    return current().fly("to_llvm_ptr", [pointer_in(source, "global", what).ir_value()], None, "!llvm.ptr<1>")


def _named(source: Any) -> str:
    return shown(source) if is_raw_value(source) else type(source).__name__
