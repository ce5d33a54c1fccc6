"""Verbs on memory: views, fragments, pointers, loads and stores."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.dialects.fly import payload as pl
from flydsl.expr.numeric import Integer, Numeric, as_numeric
from flydsl.expr.tensors.element import element_name
from flydsl.expr.tensors.layout import Layout, Swizzle
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.trace.context import current
from flydsl.expr.values.handle import apply, describe, expect, from_value
from flydsl.expr.values.int_tuple import IntTuple, checked_shape
from flydsl.expr.vector import Vector
from flydsl.layout import build
from flydsl.layout.layout import Layout as LayoutPayload
from flydsl.layout.tensor import Tensor as TensorPayload


def make_view(iterator: Any, layout: Any) -> Tensor:
    """Return a tensor over memory (from a pointer) or over coordinates (from a tuple)."""
    if isinstance(iterator, Tensor):
        raise DslTypeError(
            "make_view takes a pointer or a coordinate, got a tensor", hint="write make_view(get_iter(t), layout)"
        )
    return apply("make_view", iterator, layout)


def make_identity_tensor(shape: Any) -> Tensor:
    """Return the coordinate tensor of a shape: every coordinate maps to itself."""
    layout = apply("make_identity_layout", checked_shape(shape))
    return apply("make_view", apply("coprofile", layout), layout)


def make_rmem_tensor(shape_or_layout: Any, dtype: Any) -> Tensor:
    """Return a register tensor; a shape is laid out compactly, first mode fastest."""
    if isinstance(dtype, str) or not (isinstance(dtype, type) and issubclass(dtype, Numeric)):
        raise DslTypeError(f"make_rmem_tensor needs an fx number type, got {describe(dtype)}", hint="write fx.Float32")
    is_layout = isinstance(shape_or_layout, Layout)
    given = shape_or_layout if is_layout else IntTuple.from_python(shape_or_layout)
    if not given.is_static:
        raise DslTypeError(
            f"a register tensor needs a static {given.kind if is_layout else 'shape'}, got {given}",
            hint="registers are given out while compiling: use Constexpr sizes, or a size that is large enough always; "
            "how much the launch decides lies in shared memory, fx.SharedAllocator(static=False)",
        )
    checked_shape(given.shape if isinstance(given, Layout) else given, 1)
    layout = given.payload if is_layout else build.make_ordered_layout(given.payload, 0)
    return _alloca(layout, element_name(dtype))


def _alloca(layout: LayoutPayload, elem: str) -> Tensor:
    payload = TensorPayload(pl.Pointer(elem, "register"), layout)
    return from_value(current().fly("memref.alloca", [], None, payload))


def memref_alloca(type_: Any, layout: Any = None) -> Tensor:
    """Return a register tensor of a memref type (from ``MemRefType.get``)."""
    payload = type_ if isinstance(type_, TensorPayload) else getattr(type_, "payload", type_)
    return from_value(current().fly("memref.alloca", [], None, payload))


def make_fragment_like(source: Any, dtype: Any = None) -> Tensor:
    """Registers shaped like a tensor or layout, compact, in the order of its strides."""
    return apply("make_fragment_like", source, dtype=None if dtype is None else element_name(dtype))


def make_fragment_layout_like(source: Any) -> Layout:
    """Return the compact register layout of a tensor or layout."""
    return apply("make_fragment_layout_like", source)


# Pointers --------------------------------------------------------------------------------------


def add_offset(pointer: Any, offset: Any) -> Pointer:
    """Return the pointer ``offset`` elements further on."""
    return apply("add_offset", pointer, offset)


def apply_swizzle(pointer: Any, swizzle: Any) -> Pointer:
    """Return a pointer whose every access permutes the byte address."""
    expect(swizzle, Swizzle, "the second argument", "make one with make_swizzle(mask, base, shift)")
    return apply("apply_swizzle", pointer, swizzle)


def recast_iter(dtype: Any, pointer: Any) -> Pointer:
    """Return the same address read as another element type."""
    expect(pointer, Pointer, "the second argument", "take it with get_iter(tensor)")
    payload = dtype if isinstance(dtype, pl.Pointer) else pointer.payload.recast(element_name(dtype))
    return pointer.recast(payload)


def inttoptr(pointer_type: pl.Pointer, address: Any) -> Pointer:
    """Return the pointer of an integer address."""
    if pointer_type.space == "register":
        raise DslValueError("a register has no address", hint="inttoptr makes global or shared pointers")
    return from_value(current().fly("inttoptr", [as_numeric(address).ir_value()], None, pointer_type))


def ptrtoint(pointer: Any) -> Integer:
    """Return the address as an integer: 32 bits for shared memory, 64 otherwise."""
    return apply("ptrtoint", pointer)


def to_llvm_ptr(pointer: Any) -> Any:
    """Return the pointer as a value of LLVM, for raw intrinsics."""
    return pointer.llvm_ptr


def make_ptr(type_: Any, args: Any, *, dict_attrs: Any = None) -> Pointer:
    """Return a pointer of a given type from its parts; registers carry their size in ``allocSize``."""
    values = [as_numeric(a).ir_value() if not hasattr(a, "ir_value") else a.ir_value() for a in args]
    return from_value(current().fly("make_ptr", values, {"dictAttrs": dict_attrs}, type_))


def get_dyn_shared(dtype: Any = None) -> Pointer:
    """Return the start of the dynamic shared memory of this launch."""
    current().declare_dynamic_shared()
    pointer = from_value(current().fly("get_dyn_shared", [], None, pl.Pointer("i8", "shared", 1024)))
    return pointer if dtype is None else recast_iter(dtype, pointer)


def ptr_load(pointer: Any, result_type: Any = None) -> Any:
    """Return the number behind a pointer, or a vector of them."""
    return pointer.load(result_type)


def ptr_store(value: Any, pointer: Any) -> None:
    """Store a number or vector behind a pointer."""
    pointer.store(value)


# Loads and stores ------------------------------------------------------------------------------


def memref_load(tensor: Any, index: Any) -> Any:
    """Return one element of a tensor."""
    return tensor[index]


def memref_store(value: Any, tensor: Any, index: Any) -> None:
    """Store one element of a tensor."""
    tensor[index] = value


def memref_load_vec(tensor: Any) -> Vector:
    """Return every element as a vector, in column-major order of the coordinates."""
    return expect(tensor, Tensor, "memref_load_vec's argument", "pass a tensor").load()


def memref_store_vec(vector: Any, tensor: Any) -> None:
    """Store a vector into a tensor of the same shape."""
    expect(tensor, Tensor, "memref_store_vec's second argument", "pass the vector first, then the tensor").store(vector)


__all__ = [
    "add_offset", "apply_swizzle", "get_dyn_shared", "inttoptr", "make_fragment_layout_like", "make_fragment_like",
    "make_identity_tensor", "make_ptr", "make_rmem_tensor", "make_view", "memref_alloca", "memref_load",
    "memref_load_vec", "memref_store", "memref_store_vec", "ptr_load", "ptr_store", "ptrtoint", "recast_iter",
    "to_llvm_ptr",
]  # fmt: skip
