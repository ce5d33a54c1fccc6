"""Buffer instructions one by one: a descriptor, a byte offset per lane, a scalar offset, cache bits.

For tensors the copy atoms (`BufferCopy`, `BufferCopyLDS`, `BufferAtomic`) do the same with layouts.
"""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError, TargetError
from flydsl.expr.numeric import Boolean, Int32, Numeric
from flydsl.expr.rocdl.memory.addresses import descriptor_of, shared_pointer
from flydsl.expr.tensors.element import lanes_of
from flydsl.expr.trace.context import Value, current
from flydsl.expr.trace.intrinsic import call, constant, number_of, require, wrapped
from flydsl.expr.values.known import plain
from flydsl.expr.vector import Vector
from flydsl.target.copy_rocdl import BUFFER_ATOMICS, LDS_WIDTHS, atomic_generations
from flydsl.target.dtype import is_float

_CACHE_BITS = 0x1FF
_WORDS = {8: "i8", 16: "i16", 32: "i32", 64: "vector<2xi32>", 96: "vector<3xi32>", 128: "vector<4xi32>"}
"""Bits of an access to the type the instruction moves."""


def _word_type(bits: int) -> str:
    if bits not in _WORDS:
        raise DslTypeError(f"a buffer instruction moves {', '.join(map(str, _WORDS))} bits, not {bits}")
    return _WORDS[bits]


def _narrow(bits: int) -> type[Numeric]:
    return Numeric.from_ir_type(f"i{min(bits, 32)}")


def _offsets(offset: Any, soffset: Any, aux: int) -> list[Value]:
    return [Int32(offset).ir_value(), Int32(soffset).ir_value(), constant("i32", aux, "the cache bits", 0, _CACHE_BITS)]


def raw_ptr_buffer_load(result_type: Any, rsrc: Any, offset: Any, soffset: Any = 0, aux: int = 0) -> Any:
    """Return a number or vector at a byte offset; zero beyond the descriptor's records."""
    require("a buffer load", "rocm")
    lanes, dtype = lanes_of(result_type)
    type_ = _word_type((lanes or 1) * dtype.width)
    operands = [descriptor_of(rsrc), *_offsets(offset, soffset, aux)]
    return from_words(call("llvm.amdgcn.raw.ptr.buffer.load", operands, type_), result_type)


def from_words(raw: Value, result_type: Any) -> Any:
    """Return the number or vector whose bits an instruction gave as words."""
    lanes, dtype = lanes_of(result_type)
    bits = (lanes or 1) * dtype.width
    count, kind = max(bits // 32, 1), _narrow(bits)
    words = Vector(raw, (count,), kind) if count > 1 else Vector.from_elements([kind(raw)], kind)
    found = words.bitcast(dtype)
    return found if lanes is not None else found[0]


def masked_load(mask: Any, result_type: Any, rsrc: Any, offset: Any, soffset: Any, aux: int) -> Any:
    """Return a load for the lanes whose mask holds; the others read the start of the buffer and get zero."""
    lanes, dtype = lanes_of(result_type)
    type_ = _word_type((lanes or 1) * dtype.width)
    holds = Boolean(mask)
    place = holds.select(Int32(offset), Int32(0))
    raw = call("llvm.amdgcn.raw.ptr.buffer.load", [descriptor_of(rsrc), *_offsets(place, soffset, aux)], type_)
    kept = current().op("arith.select", [holds.ir_value(), raw, current().constant(type_, 0)], type_)
    return from_words(kept, result_type)


def raw_ptr_buffer_store(value: Any, rsrc: Any, offset: Any, soffset: Any = 0, aux: int = 0) -> None:
    """Store a number or vector at a byte offset; dropped beyond the descriptor's records."""
    require("a buffer store", "rocm")
    number = number_of(value)
    vector = number if isinstance(number, Vector) else Vector.from_elements([number], number.dtype)
    bits = vector.numel * vector.dtype.width
    _word_type(bits)
    words = vector.bitcast(_narrow(bits))
    data = words if words.numel > 1 else words[0]
    operands = [data.ir_value(), descriptor_of(rsrc), *_offsets(offset, soffset, aux)]
    call("llvm.amdgcn.raw.ptr.buffer.store", operands)


def raw_ptr_buffer_load_lds(
    rsrc: Any, lds_ptr: Any, size: int, voffset: Any, soffset: Any = 0, offset: int = 0, aux: int = 0
) -> None:
    """``size`` bytes a lane straight into LDS: lane i of a wave writes ``lds_ptr`` + ``offset`` + i * ``size``.

    ``lds_ptr`` is the same for the whole wave. ``offset`` is added to both sides.
    """
    target = require("a load from a buffer into LDS", "rocm", tuple(LDS_WIDTHS))
    size = plain(size)
    if isinstance(size, int) and size * 8 not in (8, 16, *LDS_WIDTHS[target.generation]):
        widths = ", ".join(str(bits // 8) for bits in (8, 16, *LDS_WIDTHS[target.generation]))
        raise TargetError(f"{target} loads {widths} bytes a lane into LDS, not {size}")
    operands = [
        descriptor_of(rsrc), shared_pointer(lds_ptr), constant("i32", size, "the size", 1, 16),
        Int32(voffset).ir_value(), Int32(soffset).ir_value(), constant("i32", offset, "the offset", 0, 4095),
        constant("i32", aux, "the cache bits", 0, _CACHE_BITS),
    ]  # fmt: skip
    call("llvm.amdgcn.raw.ptr.buffer.load.lds", operands)


def buffer_load_to_lds(
    source: Any, lds: Any, size: int, voffset: Any = 0, *, soffset: Any = 0, offset: int = 0, cache_modifier: int = 0
) -> None:
    """A buffer's bytes into LDS without registers; see `raw_ptr_buffer_load_lds`."""
    raw_ptr_buffer_load_lds(source, lds, size, voffset, soffset, offset, cache_modifier)


def _atomic(name: str, op: str, value: Any, rsrc: Any, operands: list[Value]) -> Any:
    number = number_of(float(value) if isinstance(value, int) else value)
    pair, elem = isinstance(number, Vector), str(number.dtype.ir_type)
    kind = "pk_add" if pair and op == "add" else op
    if (pair and (op != "add" or number.numel != 2)) or not is_float(elem) or elem not in BUFFER_ATOMICS[kind]:
        forms = "f32, f64" if op == "max" else "f32, f64 or a pair of f16 or bf16"
        raise DslTypeError(f"{name} combines {forms}, got {number}")
    require(f"{name} of {'pairs of ' if pair else ''}{elem}", "rocm", atomic_generations(kind, elem))
    intrinsic = f"llvm.amdgcn.raw.ptr.buffer.atomic.f{op}"
    result = f"vector<2x{elem}>" if pair else elem
    return wrapped(call(intrinsic, [number.ir_value(), descriptor_of(rsrc), *operands], result), number)


def raw_ptr_buffer_atomic_fadd(value: Any, rsrc: Any, offset: Any, soffset: Any = 0, aux: int = 0) -> Any:
    """Add a float, or a pair of f16 or bf16, into a buffer; gives what was there before."""
    require("a buffer atomic", "rocm")
    return _atomic("raw_ptr_buffer_atomic_fadd", "add", value, rsrc, _offsets(offset, soffset, aux))


def raw_ptr_buffer_atomic_fmax(value: Any, rsrc: Any, offset: Any, soffset: Any = 0, aux: int = 0) -> Any:
    """Leave the larger float in a buffer; gives what was there before. f64 on gfx9, f32 on gfx11 and gfx12."""
    require("a buffer atomic", "rocm")
    return _atomic("raw_ptr_buffer_atomic_fmax", "max", value, rsrc, _offsets(offset, soffset, aux))


__all__ = [
    "buffer_load_to_lds", "raw_ptr_buffer_atomic_fadd", "raw_ptr_buffer_atomic_fmax", "raw_ptr_buffer_load",
    "raw_ptr_buffer_load_lds", "raw_ptr_buffer_store",
]  # fmt: skip
