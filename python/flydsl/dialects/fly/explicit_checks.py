"""Checks of the operations that no rule covers: what they state must fit what they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DictionaryAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    i1,
)
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly import rules
from flydsl.dialects.fly import types as ft
from flydsl.dialects.fly.op_attributes import TableOp
from flydsl.layout import int_tuple
from flydsl.layout.leaf import Basis, DynInt
from flydsl.layout.swizzle import linear_part
from flydsl.target.dtype import register_type

Check = Callable[[TableOp], None]

_ORDERS = ("MNK", "MKN", "NMK", "NKM", "KMN", "KNM")
_BUFFER_SPACE = 8
"""LLVM's address space of buffer descriptors on AMD GPUs."""

TRAVERSAL_ORDERS = tuple(f"{order}{tail}" for order in _ORDERS for tail in ("", "_Serpentine"))


def _fail(op: TableOp, message: str) -> VerifyException:
    return VerifyException(f"{op.name}: {message}")


def _result(op: TableOp, *kinds: type[Attribute]) -> Any:
    """Return the only result type, which must be one of ``kinds``."""
    if len(op.results) != 1:
        raise _fail(op, f"states one result type, got {len(op.results)}")
    found = op.results[0].type
    if kinds and not isinstance(found, kinds):
        names = " or ".join(str(getattr(kind, "name", kind.__name__)) for kind in kinds)
        raise _fail(op, f"the result is of type {names}, not {found}")
    return found


# Construction ----------------------------------------------------------------------------------


def _static(op: TableOp) -> None:
    type_ = _result(op)
    if not isinstance(type_, ft.FlyType):
        raise _fail(op, f"states a value of a fly type, not of {type_}")
    if not pl.is_static_payload(type_.data):
        raise _fail(op, f"{type_} has parts known only at run time")


def _tuple(op: TableOp) -> None:
    """The run-time leaves, in order, are the operands."""
    type_ = _result(op, ft.IntTupleType)
    wanted = [f"i{leaf.width}" for leaf in _run_time_leaves(type_.data)]
    given = [str(o.type) for o in op.operands]
    if wanted != given:
        raise _fail(
            op, f"the run-time leaves of {type_} take ({', '.join(wanted)}), but the operands are ({', '.join(given)})"
        )


def _run_time_leaves(value: Any) -> list[DynInt]:
    bare = [leaf.value if isinstance(leaf, Basis) else leaf for leaf in int_tuple.leaves(value)]
    return [leaf for leaf in bare if isinstance(leaf, DynInt)]


def _copy_atom(op: TableOp) -> None:
    atom = _result(op, ft.CopyAtomType).data
    bits = op.attrs.get("valBits", atom.val_bits)
    if bits != atom.val_bits:
        raise _fail(op, f"valBits is {bits}, but the atom {op.results[0].type} moves values of {atom.val_bits} bits")
    atom.op.tv_layouts(bits)  # refuses a width that the values do not divide


def _set_value(op: TableOp) -> None:
    # Which fields there are is the instruction's business, checked where the target is known.
    if _result(op) != op.operands[0].type:
        raise _fail(op, f"an atom keeps its type: {op.operands[0].type} became {op.results[0].type}")


# Copies and products ---------------------------------------------------------------------------


def _rank(type_: Any) -> int:
    return linear_part(type_.data.layout).rank


def _layouts(op: TableOp, names: str) -> str:
    tensors = [o.type.data.layout for o in op.operands[1 : 1 + len(names.split())]]  # type: ignore[union-attr]
    return ", ".join(f"{name} {layout}" for name, layout in zip(names.split(), tensors, strict=True))


def _copy(op: TableOp) -> None:
    source, target, *pred = (o.type for o in op.operands[1:])
    if _rank(source) != _rank(target):
        raise _fail(op, f"the ranks differ: {_layouts(op, 'source destination')}")
    _copy_values(op)
    if pred and _rank(pred[0]) not in (_rank(source), _rank(source) - 1):
        raise _fail(
            op,
            f"the predicate has neither the source's rank nor one less: {_layouts(op, 'source destination predicate')}",
        )


def _copy_values(op: TableOp) -> None:
    source, target, *pred = (o.type.data for o in op.operands[1:])  # type: ignore[union-attr]
    elems = [register_type(t.iter.elem) for t in (source, target)]
    if elems[0] != elems[1] and "register" not in (source.iter.space, target.iter.space):
        raise _fail(op, f"a copy does not convert: the source holds {elems[0]}, the destination {elems[1]}")
    if pred and pred[0].iter.elem != "i1":
        raise _fail(op, f"the predicate holds i1, not {pred[0].iter.elem}")


def _held(op: TableOp) -> tuple[int, int]:
    """Return a thread's values of one call of the atom: in the source, in the destination."""
    payload = op.operands[0].type.data  # type: ignore[union-attr]
    return payload.atom.counts if isinstance(payload, pl.TiledCopy) else payload.counts


def _copy_ssa(op: TableOp) -> None:
    """``(atom, memref[, vector, i1]) -> vector`` loads, ``(atom, vector, memref[, i1])`` stores.

    An instruction that moves memory to memory takes ``(atom, memref, memref[, i1])``. One that says by
    ``operandSegmentSizes`` which operands it has is the original's form, whose sides need not agree in size.
    """
    if isinstance(sizes := op.attributes.get("operandSegmentSizes"), DenseArrayBase):
        _check_segments(op, sizes)
        return
    kinds = [_short(o.type) for o in op.operands[1:]]
    if getattr(op.operands[0].type.data.op, "direct", False):  # type: ignore[union-attr]
        if op.results or kinds not in (["memref", "memref"], ["memref", "memref", "i1"]):
            raise _fail(op, f"this instruction takes (memref, memref) -> (), got ({', '.join(kinds)})")
        return
    loads = len(op.results) == 1 and kinds in (["memref"], ["memref", "vector", "i1"])
    stores = not op.results and kinds in (["vector", "memref"], ["vector", "memref", "i1"])
    if not (loads or stores):
        raise _fail(op, f"either (memref) -> vector or (vector, memref) -> (), got ({', '.join(kinds)})")
    memory = op.operands[1 if loads else 2].type.data  # type: ignore[union-attr]
    values = [op.results[0].type if loads else op.operands[1].type, *(o.type for o in op.operands[2:3] if loads)]
    held = _held(op)
    if held[0] != held[1]:  # the side in memory has more values than a thread gets
        wanted = ft.vector_type(held[1 if loads else 0], memory.iter.elem)
        if any(value != wanted for value in values):
            raise _fail(op, f"a thread holds {wanted}, the value is {values[0]}")
        return
    for value in values:
        _check_vector(op, value, memory)


def _check_segments(op: TableOp, sizes: DenseArrayBase[Any]) -> None:
    """Atom, source, destination and predicate, the last two at most once."""
    found = tuple(sizes.get_values())
    kinds = [_short(o.type) for o in op.operands[1:]]
    allowed = found in ((1, 1, 0, 0), (1, 1, 1, 0), (1, 1, 0, 1), (1, 1, 1, 1)) and len(op.operands) == sum(found)
    sides = kinds[: 1 + found[2]] if allowed else []
    predicate = kinds[len(sides) :]
    vector = [_short(result.type) for result in op.results]
    if not allowed or any(k not in ("memref", "vector") for k in sides) or predicate not in ([], ["i1"]):
        raise _fail(op, f"operandSegmentSizes is 1, 1, 0 or 1, 0 or 1 for ({', '.join(kinds)}), not {found}")
    if vector not in ([], ["vector"]) or (not vector and len(sides) != 2) or (vector and sides[1:] == ["memref"]):
        raise _fail(op, "a copy gives a vector, or has a tensor as its destination")
    if (vector and len(sides) == 2 and not predicate) or (not vector and sides[1] != "memref"):
        raise _fail(op, "a copy gives a vector, or has a tensor as its destination")


def _short(type_: Attribute) -> str:
    if isinstance(type_, ft.MemRefType):
        return "memref"
    return "vector" if isinstance(type_, VectorType) else str(type_)


def _gemm(op: TableOp) -> None:
    ranks = tuple(_rank(o.type) for o in op.operands[1:5])
    if ranks not in ((1, 1, 1, 1), (3, 2, 2, 3), (3, 3, 3, 3)):
        raise _fail(op, f"fragments are d, c (V,M,N), a (V,M,K) and b (V,N,K), got {_layouts(op, 'd a b c')}")
    order = op.attrs.get("traversalOrder")
    if order is not None and order not in TRAVERSAL_ORDERS:
        raise _fail(op, f"no traversal order '{order}'; there are {', '.join(TRAVERSAL_ORDERS)}")
    if order is not None and len(op.operands) == 6:
        raise _fail(op, "a traversal order or a traversal layout, not both")


def _mma_ssa(op: TableOp) -> None:
    if _result(op, VectorType) != op.operands[3].type:
        raise _fail(op, f"the result has the accumulator's type {op.operands[3].type}, not {op.results[0].type}")


# Memory ----------------------------------------------------------------------------------------


def _make_ptr(op: TableOp) -> None:
    _result(op, ft.PtrType)
    settings = op.attributes.get("dictAttrs")
    size = settings.data.get("allocSize") if isinstance(settings, DictionaryAttr) else None
    if size is not None and not (isinstance(size, IntegerAttr) and size.value.data >= 0):
        raise _fail(op, f"allocSize is a number of elements, not {size}")


def _dyn_shared(op: TableOp) -> None:
    if _result(op, ft.PtrType).data.space != "shared":
        raise _fail(op, f"dynamic shared memory is in the shared space, not {op.results[0].type}")


def _inttoptr(op: TableOp) -> None:
    if _result(op, ft.PtrType).data.space == "register":
        raise _fail(op, "a register has no address")


def _recast(op: TableOp) -> None:
    before, after = op.operands[0].type.data, _result(op, ft.PtrType).data  # type: ignore[union-attr]
    if before.space != after.space:
        raise _fail(op, f"the address space stays: {before.space} became {after.space}")


def _to_llvm_ptr(op: TableOp) -> None:
    _result(op, LLVMPointerType)


def _buffer_rsrc(op: TableOp) -> None:
    space = op.operands[0].type.data.space  # type: ignore[union-attr]
    if space != pl.BUFFER_DESC:
        raise _fail(op, f"a buffer descriptor is in the space {pl.BUFFER_DESC}, not {space}")
    if _result(op, LLVMPointerType) != LLVMPointerType(IntAttr(_BUFFER_SPACE)):
        raise _fail(op, f"the result is of type !llvm.ptr<{_BUFFER_SPACE}>, not {op.results[0].type}")


def _register_value(op: TableOp, value: Attribute, elem: str) -> None:
    single = value.element_type if isinstance(value, VectorType) else value
    if single != ft.element_type(elem):
        raise _fail(op, f"a pointer to {elem} gives and takes {ft.element_type(elem)} or vectors of it, not {value}")


def _ptr_load(op: TableOp) -> None:
    _register_value(op, _result(op), op.operands[0].type.data.elem)  # type: ignore[union-attr]


def _ptr_store(op: TableOp) -> None:
    _register_value(op, op.operands[0].type, op.operands[1].type.data.elem)  # type: ignore[union-attr]


def _alloca(op: TableOp) -> None:
    tensor = _result(op, ft.MemRefType).data
    if not pl.is_static_payload(tensor.layout):
        raise _fail(op, f"registers are allocated for a static layout, not {tensor.layout}")
    if op.operands and op.operands[0].type.data != tensor.layout:  # type: ignore[union-attr]
        raise _fail(op, f"the layout given is {op.operands[0].type}, the one of the result {tensor.layout}")


def _memref_store(op: TableOp) -> None:
    tensor = op.operands[1].type.data  # type: ignore[union-attr]
    rules.memref_load(tensor, op.operands[2].type.data)  # type: ignore[union-attr]
    if op.operands[0].type != ft.element_type(tensor.iter.elem):
        raise _fail(op, f"the tensor holds {tensor.iter.elem}, the value is {op.operands[0].type}")


def _store_vec(op: TableOp) -> None:
    _check_vector(op, op.operands[0].type, op.operands[1].type.data)  # type: ignore[union-attr]


def _masked_load(op: TableOp) -> None:
    tensor = op.operands[0].type.data  # type: ignore[union-attr]
    _check_vector(op, op.operands[2].type, tensor)
    _check_vector(op, op.results[0].type, tensor)
    _check_mask(op, op.operands[1].type, tensor)


def _masked_store(op: TableOp) -> None:
    tensor = op.operands[1].type.data  # type: ignore[union-attr]
    _check_vector(op, op.operands[0].type, tensor)
    _check_mask(op, op.operands[2].type, tensor)


def _check_mask(op: TableOp, flags: Attribute, tensor: Any) -> None:
    """One predicate of the vector decides about each element."""
    mask, count = op.attrs["mask"], rules.size(tensor)
    if not (isinstance(flags, VectorType) and flags.element_type == i1 and len(mask) == count):
        raise _fail(op, f"{count} elements are masked by {len(mask)} of {flags}; a vector of i1 and one number each")
    if not all(0 <= number < flags.get_shape()[0] for number in mask):
        raise _fail(op, f"the mask {list(mask)} names predicates that {flags} does not have")


def _check_vector(op: TableOp, value: Attribute, tensor: Any) -> None:
    """The vector holds exactly what the tensor does."""
    wanted = ft.type_of(rules.memref_load_vec(tensor))
    if value != wanted:
        raise _fail(op, f"the tensor {tensor.layout} of {tensor.iter.elem} holds {wanted}, the value is {value}")


def _pointer_as_index(op: TableOp) -> None:
    _result(op, IndexType, IntegerType, LLVMPointerType, ft.PtrType)


EXPLICIT_CHECKS: dict[str, Check] = {
    "static": _static,
    **dict.fromkeys(("make_int_tuple", "make_shape", "make_stride", "make_coord"), _tuple),
    "make_copy_atom": _copy_atom,
    "make_mma_atom": lambda op: _result(op, ft.MmaAtomType),
    "atom.set_value": _set_value,
    "copy": _copy,
    "copy_atom_call": _copy_values,
    "copy_atom_call_ssa": _copy_ssa,
    "gemm": _gemm,
    "mma_atom_call_ssa": _mma_ssa,
    "make_ptr": _make_ptr,
    "get_dyn_shared": _dyn_shared,
    "inttoptr": _inttoptr,
    "to_llvm_ptr": _to_llvm_ptr,
    "recast_iter": _recast,
    "ptr.load": _ptr_load,
    "ptr.store": _ptr_store,
    "memref.alloca": _alloca,
    "memref.store": _memref_store,
    "memref.store_vec": _store_vec,
    "memref.masked_load_vec": _masked_load,
    "memref.masked_store_vec": _masked_store,
    "extract_aligned_pointer_as_index": _pointer_as_index,
    "get_buffer_rsrc": _buffer_rsrc,
}
"""Operation to what is checked beyond operand kinds; most have a rule instead."""
