"""Buffer tensors of AMD GPUs: memory seen through a descriptor that knows its size.

Reads beyond the end give zero and writes there are dropped, so that edges need no masks; addresses are a scalar
base and a 32-bit offset per lane.
"""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly.buffer_reach import OUT_OF_REACH, require_reach
from flydsl.expr import arith
from flydsl.expr.numeric import Int16, Int64
from flydsl.expr.tensors.ops_layout import cosize, get_scalar
from flydsl.expr.tensors.ops_memory import make_view
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.tensors.tensor import Tensor, pointer_of
from flydsl.expr.trace.context import current
from flydsl.expr.trace.intrinsic import require
from flydsl.expr.values.handle import apply, from_value
from flydsl.expr.values.known import plain
from flydsl.layout import int_tuple as it
from flydsl.layout.layout import Layout
from flydsl.layout.tensor import Tensor as TensorPayload
from flydsl.target.dtype import storage_bytes

MAX_RECORDS = 0xFFFFFFFF
_FLAGS = (7 << 12) | (4 << 15)
_CHECK_OFFSETS = 3 << 28
"""RDNA's choice of what is out of range: offsets beyond the records. The value 2 would check nothing."""
_RDNA_FLAGS = _FLAGS | (1 << 24) | _CHECK_OFFSETS


def descriptor_flags(generation: str) -> int:
    """Return the last word of a descriptor: a raw buffer of 32-bit words, bounds checked."""
    if generation == "cdna5":
        return 0  # its descriptor has no such fields: 45 bits of records take their place
    return _RDNA_FLAGS if generation.startswith("rdna") else _FLAGS


def make_buffer_ptr(ptr: Any, num_records_bytes: Any = None) -> Pointer:
    """Return a pointer to global memory as one through a buffer descriptor of that many bytes (4 GiB if not given)."""
    if not isinstance(ptr, Pointer):
        raise DslTypeError(f"make_buffer_ptr takes a pointer, got {type(ptr).__name__}", hint="use fx.get_iter(tensor)")
    info = ptr.payload
    if info.space not in ("global", "generic"):
        raise DslValueError(f"a buffer descriptor covers global memory, and this pointer is to {info.space} memory")
    target = require("a buffer descriptor", "rocm")
    current().require_kernel("a buffer descriptor")
    records = MAX_RECORDS if num_records_bytes is None else plain(num_records_bytes)
    if isinstance(records, int) and not 0 <= records <= MAX_RECORDS:
        raise DslValueError(f"a buffer descriptor covers 0 to {MAX_RECORDS} bytes, got {records}")
    operands = [
        ptr.ir_value(), Int16(0).ir_value(), Int64(records).ir_value(),
        current().constant("i32", _signed(descriptor_flags(target.generation))),
    ]  # fmt: skip
    made = pl.Pointer(info.elem, pl.BUFFER_DESC, info.align)
    return from_value(current().fly("make_ptr", operands, None, made))


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def make_buffer_tensor(tensor: Any, max_size: bool = True, *, num_records_bytes: Any = None) -> Tensor:
    """Return the same tensor through a buffer descriptor. ``max_size=False`` sets its end where the layout ends."""
    if not isinstance(tensor, Tensor) or not tensor.is_memory:
        raise DslTypeError(f"make_buffer_tensor takes a tensor over global memory, got {type(tensor).__name__}")
    if current().views_argument(tensor.ir_value()):
        _check_reach(tensor.payload)
    records = num_records_bytes
    if records is None and not max_size:
        size = tensor.dtype.width // 8
        covered = Int64(get_scalar(cosize(tensor.layout)))
        records = arith.min(covered * size, MAX_RECORDS)  # a longer one would wrap around to nearly nothing
    # What the layout counts from: not the first element, where a composed layout has an offset.
    return make_view(make_buffer_ptr(apply("get_iter", tensor), records), tensor.layout)


def _check_reach(tensor: TensorPayload) -> None:
    """Refuse a tensor of a known layout that offsets do not reach; a launch checks those of run-time extents."""

    def require(fits: bool, text: str, number: int) -> None:
        if not fits:
            raise DslValueError(text.format(number), hint=OUT_OF_REACH)

    layout = tensor.layout
    if isinstance(layout, Layout) and pl.is_static_payload(layout):
        require_reach(it.leaves(layout.shape), it.leaves(layout.stride), storage_bytes(tensor.iter.elem), require)


def get_buffer_rsrc(ptr: Any) -> Any:
    """Return the bare 128-bit descriptor behind a buffer pointer or tensor, for raw intrinsics."""
    pointer = pointer_of(ptr)
    if not isinstance(pointer, Pointer) or pointer.payload.space != pl.BUFFER_DESC:
        raise DslTypeError("get_buffer_rsrc takes a buffer pointer", hint="make one with fx.rocdl.make_buffer_ptr")
    return current().fly("get_buffer_rsrc", [pointer.ir_value()], None, "!llvm.ptr<8>")


__all__ = ["get_buffer_rsrc", "make_buffer_ptr", "make_buffer_tensor"]
