"""Builders that a row of the table cannot say: constants, inline assembly, intrinsics by name, memory of the language.

Each is a function of a dialect; `FUNCTIONS` has the names they go by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

from flydsl._mlir.attribute_kinds import KINDS
from flydsl._mlir.attributes import Attribute, python_value
from flydsl._mlir.op_view import OpView, function_of, given_back, require_intrinsic, require_tracing, rows, vector_of
from flydsl._mlir.types import type_text
from flydsl._mlir.values import Value, constant, show, ssa_of
from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly.op_table import OP_TABLE
from flydsl.dialects.parts import ir_type
from flydsl.dialects.upstream import op_class
from flydsl.expr.memory.storable import byte_offset
from flydsl.expr.numeric import Index
from flydsl.expr.tensors.layout import Layout
from flydsl.expr.tensors.ops_memory import ptrtoint, recast_iter
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.tensors.tensor import Tensor, pointer_of
from flydsl.expr.trace.intrinsic import require
from flydsl.expr.values.handle import Handle, as_handle
from flydsl.expr.values.ir_types import IrType
from flydsl.expr.values.vector_value import DYNAMIC_POSITION
from flydsl.expr.vector import Vector
from flydsl.layout.layout import Layout as LayoutPayload
from flydsl.passes.shared.intrinsic_call import asm_properties

# Constants -------------------------------------------------------------------------------------


def arith_constant(result: Any, value: Any = None, *, loc: Any = None, ip: Any = None) -> Any:
    """Return a constant: ``constant(T.i32, 3)``, with a number or an attribute; a vector type gets it in every lane."""
    require_tracing("arith.constant")
    if isinstance(result, (bool, int, float)):
        result, value = value, result
    text = type_text(result)
    if isinstance(value, Attribute) and isinstance(value.ir, DenseIntOrFPElementsAttr):
        values = list(value.ir.get_values())
        if len(set(values)) > 1:
            raise DslValueError("a constant vector has one number in every lane", hint="use vector.from_elements")
        value = values[0]
    number = python_value(value)
    if not isinstance(number, (bool, int, float)):
        raise DslTypeError(f"a constant is made of a number or its attribute, got {value!r}")
    return show(constant(number, text))


# The llvm dialect ------------------------------------------------------------------------------


def inline_asm(
    res: Any,
    operands_: Sequence[Any],
    asm_string: str,
    constraints: str,
    *,
    has_side_effects: Any = False,
    is_align_stack: Any = False,
    asm_dialect: Any = None,
    tail_call_kind: Any = None,
    operand_attrs: Any = None,
    loc: Any = None,
    ip: Any = None,
) -> Any:
    """Inline assembly; ``res`` is None or ``!llvm.void`` without a result, a struct for several."""
    emitter = require_tracing("llvm.inline_asm")
    emitter.require_kernel("inline assembly")
    text, codes = str(python_value(asm_string)), str(python_value(constraints))
    properties = asm_properties(text, codes)
    if not has_side_effects:
        del properties["has_side_effects"]
    if is_align_stack:
        properties["is_align_stack"] = KINDS["unit"](True)
    dialect = KINDS["asm_dialect"](asm_dialect)
    if dialect is not None:
        properties["asm_dialect"] = dialect
    types = [] if res is None or str(res) == "!llvm.void" else [ir_type(type_text(res))]
    op = op_class("llvm.inline_asm").create(
        operands=[ssa_of(value) for value in operands_], result_types=types, properties=properties
    )
    return given_back(OpView(emitter.add(op), ["res"]))


def call_intrinsic(
    results: Any,
    intrin: str,
    args: Sequence[Any],
    op_bundle_operands: Sequence[Any] = (),
    op_bundle_sizes: Sequence[Any] = (),
    **accepted: Any,
) -> Any:
    """Return a call of an intrinsic of LLVM by its name."""
    emitter = require_tracing("llvm.call_intrinsic")
    name = str(python_value(intrin))
    if op_bundle_operands or op_bundle_sizes:
        raise DslValueError(f"{name}: operand bundles are not offered", hint="pass empty lists")
    if isinstance(results, (list, tuple)):
        results = results[0] if results else None
    if name.startswith("llvm.amdgcn."):
        require_intrinsic(name)
    elif name.startswith("llvm.nvvm."):
        require(name.removeprefix("llvm.nvvm."), "cuda")
    operands = [ssa_of(value) for value in args]
    emitter.intrinsic(name, operands, None if results is None else str(type_text(results)))
    return given_back(OpView(emitter.block.last_op, ["res"]))


# The vector dialect ----------------------------------------------------------------------------


def vector_extract(
    source: Any, dynamic_position: Sequence[Any] = (), static_position: Sequence[int] = (), **accepted: Any
) -> Any:
    """Return one element, or a part of a vector of several dimensions, at static or run-time positions."""
    dynamic, static = list(dynamic_position), list(static_position)
    if dynamic and isinstance(dynamic[0], int) and not static:
        dynamic, static = [], dynamic
    static = static or [DYNAMIC_POSITION] * len(dynamic)
    places = [ssa_of(Index(place)) for place in dynamic]
    return function_of(rows("vector")["extract"])(source, places, static)


def vector_insert(
    value_to_store: Any, dest: Any, dynamic_position: Sequence[Any] = (), static_position: Sequence[int] = (),
    **accepted: Any,
) -> Any:  # fmt: skip
    """Return a vector with one element replaced."""
    static = list(static_position) or [DYNAMIC_POSITION] * len(list(dynamic_position))
    places = [ssa_of(Index(place)) for place in dynamic_position]
    return function_of(rows("vector")["insert"])(value_to_store, dest, places, static)


def vector_load(result: Any, base: Any, indices: Sequence[Any], *, nontemporal: Any = None, alignment: Any = None,
                **accepted: Any) -> Any:  # fmt: skip
    """Return the elements of a tensor, or behind a pointer, from ``indices`` on along the last mode."""
    require_tracing("vector.load")
    return Vector.load(type_text(result), _memory(base), list(indices), alignment=alignment)


def vector_store(value: Any, base: Any, indices: Sequence[Any], *, nontemporal: Any = None, alignment: Any = None,
                 **accepted: Any) -> None:  # fmt: skip
    """Write a vector into a tensor from ``indices`` on along the last mode."""
    require_tracing("vector.store")
    vector_of(value).store(_memory(base), list(indices), alignment=alignment)


def _memory(base: Any) -> Any:
    """Return the tensor or pointer of memory given in any form."""
    return show(base.__dsl_ssa__) if hasattr(base, "__dsl_ssa__") else base


# Memory of the language ------------------------------------------------------------------------


def memref_load(memref: Any, indices: Sequence[Any], **accepted: Any) -> Any:
    """Return one element of a tensor as a raw value."""
    require_tracing("memref.load")
    found = _memory(memref)[_coordinate(indices)]
    return show(ssa_of(found), found.signed)


def memref_store(value: Any, memref: Any, indices: Sequence[Any], **accepted: Any) -> None:
    """Store one element of a tensor."""
    require_tracing("memref.store")
    place = _memory(memref)
    place[_coordinate(indices)] = place.dtype(show(ssa_of(value)))


def _coordinate(indices: Sequence[Any]) -> Any:
    return indices[0] if len(indices) == 1 else tuple(indices)


def memref_address(source: Any, **accepted: Any) -> Any:
    """Return the address of a tensor's first element as an index."""
    require_tracing("memref.extract_aligned_pointer_as_index")
    return show(ssa_of(Index(ptrtoint(pointer_of(_memory(source))))))


def memref_dim(source: Any, index: Any, **accepted: Any) -> Any:
    """Return the extent of a mode of a tensor as an index."""
    require_tracing("memref.dim")
    return show(ssa_of(Index(_memory(source).shape[KINDS["number"](index)].__dsl_number__())))


def memref_view(result: Any, source: Any, byte_shift: Any, sizes: Sequence[Any] = (), **accepted: Any) -> Tensor:
    """Part of a tensor of bytes, from ``byte_shift`` on, as a tensor of a memref type."""
    require_tracing("memref.view")
    wanted = type_text(result)
    start = recast_iter("i8", pointer_of(_memory(source)))
    moved = byte_offset(start, KINDS["number"](byte_shift)) if _is_known(byte_shift) else start + byte_shift
    strides, reach = [], 1
    for extent in reversed(wanted.shape):
        strides.insert(0, reach)
        reach *= extent
    shape, order = (wanted.shape[0], 1) if wanted.rank == 1 else (tuple(wanted.shape), tuple(strides))
    return recast_iter(str(wanted.element_type), moved).view(Layout(LayoutPayload(shape, order)))


def _is_known(value: Any) -> bool:
    return isinstance(value, (int, Attribute))


# The fly dialects ------------------------------------------------------------------------------

_SPACES = {"global": 1, "shared": 3, "generic": 0}


def fly_pointer(result: Any, source: Any, **accepted: Any) -> Any:
    """Return the start of a tensor as LLVM's pointer of a type, cast to its address space if need be."""
    emitter = require_tracing("fly.extract_aligned_pointer_as_index")
    wanted = type_text(result)
    pointer = pointer_of(_memory(source))
    if not isinstance(pointer, Pointer):
        found = ssa_of(pointer)
    elif pointer.payload.space == pl.BUFFER_DESC:
        found = emitter.fly("get_buffer_rsrc", [pointer.ir_value()], None, "!llvm.ptr<8>")
    else:
        found = pointer._as_llvm(pointer.payload.space)
    if str(found.type) == wanted:
        return Value(found)
    return Value(emitter.op("llvm.addrspacecast", [found], str(wanted)))


def fly_operation(name: str) -> Callable[..., Any]:
    """Return a fly operation on values of the language: its result type is inferred, or the first argument."""
    spec = OP_TABLE[name]

    def run(*args: Any, **attrs: Any) -> Any:
        emitter = require_tracing(f"fly.{name}")
        result: Any = None
        if spec.result == "explicit":
            result, *args = args  # type: ignore[assignment]
            result = str(result) if isinstance(result, IrType) else getattr(result, "payload", result)
        for extra in ("loc", "ip", "results"):
            attrs.pop(extra, None)
        known = {key: value for key, value in attrs.items() if key in (spec.attrs or {})}
        operands = [*args, *(value for key, value in attrs.items() if key not in known)]
        values = [ssa_of(value) if isinstance(value, Handle) or hasattr(value, "ir_value") else
                  as_handle(value).ir_value() for value in operands if value is not None]  # fmt: skip
        made = emitter.fly(name, values, known, result)
        return None if made is None else tuple(map(show, made)) if isinstance(made, tuple) else show(made)

    run.__name__ = run.__qualname__ = name.replace(".", "_")
    run.__doc__ = f"`fly.{name}`."
    return run


def copy_atom_call_ssa(results: Sequence[Any], copy_atom: Any, src: Any, dst: Any = None, pred: Any = None,
                       **accepted: Any) -> Any:  # fmt: skip
    """Return one copy atom: with a result type it loads ``src`` into a vector, with ``dst`` it stores."""
    emitter = require_tracing("fly.copy_atom_call_ssa")
    operands = [ssa_of(value) for value in (copy_atom, src, dst, pred) if value is not None]
    if not results:
        emitter.fly("copy_atom_call_ssa", operands)
        return None
    wanted = type_text(results[0])
    elem = _elements(src)
    bits = _bits(wanted)
    if elem is None or wanted.element_type == elem:
        return show(emitter.fly("copy_atom_call_ssa", operands, None, str(wanted)))
    stored = f"vector<{bits // _bits(elem)}x{elem}>"
    found = emitter.fly("copy_atom_call_ssa", operands, None, stored)
    return show(emitter.op("vector.bitcast", [found], str(wanted)))


def _elements(source: Any) -> str | None:
    return str(source.dtype.ir_type) if isinstance(source, Tensor) else None


def _bits(text: str) -> int:
    lanes = IrType(text).shape[0] if text.startswith("vector<") else 1
    element = IrType(text).element_type if text.startswith("vector<") else IrType(text)
    return lanes * element.width


def mma_atom_call_ssa(results: Sequence[Any], mma_atom: Any, a: Any, b: Any, c: Any, **accepted: Any) -> Any:
    """Return one matrix atom on registers as vectors, whose bits are those the instruction takes."""
    emitter = require_tracing("fly.mma_atom_call_ssa")
    operands = [ssa_of(value) for value in (mma_atom, a, b, c)]
    return show(emitter.fly("mma_atom_call_ssa", operands, None, str(type_text(results[0]))))


FUNCTIONS: dict[str, dict[str, Callable[..., Any]]] = {
    "arith": {"constant": arith_constant, "ConstantOp": arith_constant},
    "llvm": {
        "inline_asm": inline_asm, "InlineAsmOp": inline_asm, "call_intrinsic": call_intrinsic,
        "CallIntrinsicOp": call_intrinsic, "mlir_constant": arith_constant, "ConstantOp": arith_constant,
    },
    "vector": {
        "extract": vector_extract, "insert": vector_insert, "load": vector_load, "store": vector_store,
        "ExtractOp": vector_extract, "InsertOp": vector_insert, "LoadOp": vector_load, "StoreOp": vector_store,
    },
    "memref": {
        "load": memref_load, "store": memref_store, "extract_aligned_pointer_as_index": memref_address,
        "dim": memref_dim, "view": memref_view,
        "LoadOp": memref_load, "StoreOp": memref_store, "ViewOp": memref_view, "DimOp": memref_dim,
        "ExtractAlignedPointerAsIndexOp": memref_address,
    },
    "fly": {
        "extract_aligned_pointer_as_index": fly_pointer, "copy_atom_call_ssa": copy_atom_call_ssa,
        "mma_atom_call_ssa": mma_atom_call_ssa,
    },
}  # fmt: skip
"""Dialect to the builders written here. A class gives the value too, which has ``.result``."""

__all__ = ["FUNCTIONS", "fly_operation"]
