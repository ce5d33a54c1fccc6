"""fly-layout-lowering: removes the layout algebra; what is left is arithmetic on plain pointers.

Input: fly operations over layouts, tuples, tensors and tiled operations; run-time parts cross no
region or function boundary (fly-rewrite-func-signature). Output: `arith` for every run-time leaf,
register allocations (`make_ptr`), pointers moved by `add_offset`, `ptr.load`/`ptr.store`, and one
`copy_atom_call`/`mma_atom_call` per instruction over views of static layout.

    %t = fly.slice(%tensor, %c)            %o = arith.muli %i, %c128
    %v = fly.memref.load_vec(%t)     ->    %p = fly.add_offset(%base, %o)
                                           %v = fly.ptr.load(%p) -> vector<4xf32>

A pointer moves by one run-time offset and then by one constant, however many views led there.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Operation

from flydsl.base.errors import LoweringError
from flydsl.dialects.fly import rules
from flydsl.dialects.fly.ops import FlyOp, to_attr
from flydsl.dialects.fly.payload import BUFFER_DESC, CopyAtom, MmaAtom, Pointer
from flydsl.dialects.fly.types import FlyType, MemRefType, PtrType, element_type, payload_of, type_of
from flydsl.dialects.upstream import replace_uses
from flydsl.layout import coords
from flydsl.layout import int_tuple as it
from flydsl.layout.leaf import Basis, DynInt
from flydsl.layout.tensor import Tensor
from flydsl.passes.canonicalize import drop_dead
from flydsl.passes.shared.buffer_span import require_span
from flydsl.passes.shared.expand_atoms import expand_copy, expand_gemm, plain
from flydsl.passes.shared.launch_conditions import check_at_launch
from flydsl.passes.shared.layout_walk import Handler, LayoutLowering
from flydsl.passes.shared.ssa_leaf import SsaInt, SsaPointer, register
from flydsl.passes.shared.vector_access import load_elements, load_masked, store_elements, store_masked
from flydsl.passes.shared.walk import MARK, function_bodies


def by_rule(low: LayoutLowering, op: FlyOp) -> None:
    """Algebra: the rule over SSA leaves is the lowering."""
    assert op.spec.rule is not None, op.name
    low.set(op, op.spec.rule(*low.operands(op), **op.attrs))


def _leaf(low: LayoutLowering, op: FlyOp) -> None:
    answer = op.spec.rule(*low.operands(op), **op.attrs)  # type: ignore[misc]
    leaves = answer if isinstance(answer, tuple) else (answer,)
    for result, leaf in zip(op.results, leaves, strict=True):
        width = result.type.width.data  # type: ignore[union-attr]
        replace_uses(result, register(low.at, leaf, width))
    low.done.append(op)


def _truth(low: LayoutLowering, op: FlyOp) -> None:
    answer = op.spec.rule(*low.operands(op))  # type: ignore[misc]
    low.replace(op, answer.value if isinstance(answer, SsaInt) else low.at.constant("i1", int(answer)))


def _static(low: LayoutLowering, op: FlyOp) -> None:
    payload = payload_of(op.results[0].type)
    if isinstance(payload, (CopyAtom, MmaAtom)):
        _atom(low, op)
    else:
        low.set(op, payload)


def _atom(low: LayoutLowering, op: FlyOp) -> None:
    """Atoms stay values: the conversion to the target reads them."""
    low.known[op.results[0]] = payload_of(op.results[0].type)


def _make_view(low: LayoutLowering, op: FlyOp) -> None:
    by_rule(low, op)
    made = payload_of(op.results[0].type)
    if isinstance(made.iter, Pointer) and made.iter.space == BUFFER_DESC:
        require_span(low, op, low.known[op.results[0]])


def _make_tuple(low: LayoutLowering, op: FlyOp) -> None:
    given = iter(op.operands)

    def fill(leaf: Any) -> Any:
        if isinstance(leaf, Basis):
            return Basis(fill(leaf.value), leaf.modes)
        if not isinstance(leaf, DynInt):
            return leaf
        return SsaInt(low.at, next(given), leaf.width, leaf.div)

    low.set(op, it.map_leaves(fill, payload_of(op.results[0].type)))


def allocate(low: LayoutLowering, info: Tensor) -> Tensor:
    """Registers for a tensor of static layout."""
    size = coords.cosize(info.layout)
    type_ = type_of(info.iter)
    value = low.at.fly("make_ptr", [], [type_], {"dictAttrs": to_attr("dict", {"allocSize": max(size, 1)})})
    return Tensor(SsaPointer(low.at, value, info.iter), info.layout)


def _alloca(low: LayoutLowering, op: FlyOp) -> None:
    made = allocate(low, payload_of(op.results[0].type))
    if (mark := op.attributes.get(MARK)) is not None:
        made.iter.base.owner.attributes[MARK] = mark
    low.set(op, made)


def _pointer_value(low: LayoutLowering, op: FlyOp) -> None:
    """Operations that make a pointer from other things: operands are materialised, the result stays."""
    for index, operand in enumerate(op.operands):
        payload = low.known.get(operand)
        if isinstance(payload, SsaPointer):
            op.operands[index] = payload.value()


def _memref_load(low: LayoutLowering, op: FlyOp) -> None:
    tensor, index = low.operands(op)
    pointer = element_pointer(tensor, index)
    low.replace(op, low.at.fly("ptr.load", [pointer.value()], [op.results[0].type]))


def element_pointer(tensor: Tensor, index: Any) -> SsaPointer:
    offset = coords.crd2idx(index, tensor.layout)
    return tensor.iter.add_offset(it.leaves(offset)[0])


def _memref_store(low: LayoutLowering, op: FlyOp) -> None:
    value = op.operands[0]
    tensor, index = low.payload(op.operands[1]), low.payload(op.operands[2])
    low.at.fly("ptr.store", [value, element_pointer(tensor, index).value()])
    low.replace(op)


def _load_vec(low: LayoutLowering, op: FlyOp) -> None:
    tensor = low.payload(op.operands[0])
    if isinstance(tensor.iter, SsaPointer):
        low.replace(op, load_elements(low.at, tensor))
        return
    elem = op.results[0].type.element_type  # type: ignore[union-attr]
    leaves = rules.coordinate_leaves(tensor, rules.size(tensor))
    values = [register(low.at, leaf, elem.width.data) for leaf in leaves]
    low.replace(op, low.at.op("vector.from_elements", values, [op.results[0].type]))


def _store_vec(low: LayoutLowering, op: FlyOp) -> None:
    store_elements(low.at, op.operands[0], low.payload(op.operands[1]))
    low.replace(op)


def _masked_load_vec(low: LayoutLowering, op: FlyOp) -> None:
    view, flags, other = op.operands
    low.replace(op, load_masked(low.at, low.payload(view), flags, op.attrs["mask"], other))


def _masked_store_vec(low: LayoutLowering, op: FlyOp) -> None:
    vector, view, flags = op.operands
    store_masked(low.at, vector, low.payload(view), flags, op.attrs["mask"])
    low.replace(op)


def _copy(low: LayoutLowering, op: FlyOp) -> None:
    value, atom = low.atom(op)
    expand_copy(low, value, atom, *low.operands(op)[1:])
    low.replace(op)


def _gemm(low: LayoutLowering, op: FlyOp) -> None:
    value, _ = low.atom(op)
    expand_gemm(low, value, low.operands(op)[1:], op.attrs.get("traversalOrder"))
    low.replace(op)


def _atom_call(low: LayoutLowering, op: FlyOp) -> None:
    """Tensors become views of plain layout; vectors and predicates of the SSA form stay."""
    operands = [low.view(plain(low.payload(o))) if isinstance(o.type, MemRefType) else o for o in op.operands[1:]]
    low.replace(op, low.at.fly(op.spec.name, [op.operands[0], *operands], op.result_types))


def _print(low: LayoutLowering, op: FlyOp) -> None:
    for operand in op.operands:
        if isinstance(operand.type, FlyType):
            raise LoweringError(f"{operand.type} cannot be printed whole", hint="print its leaves: get_leaves(x)")


def _checked(low: LayoutLowering, op: FlyOp) -> None:
    """Lowering the operand has left what it requires; its result may be of no use."""
    low.replace(op)


def _assume(low: LayoutLowering, op: FlyOp) -> None:
    raise LoweringError("assume has no meaning yet", hint="state divisibility in the type of a tensor argument")


def _pointer_as_index(low: LayoutLowering, op: FlyOp) -> None:
    """The address of a tensor's first element."""
    pointer, wanted = rules.decomposition(low.payload(op.operands[0])).iter, op.results[0].type
    if isinstance(wanted, PtrType):
        low.replace(op, pointer.value())
        return
    if isinstance(wanted, LLVMPointerType):
        low.replace(op, low.at.fly("to_llvm_ptr", [pointer.value()], [wanted]))
        return
    width = rules.ptrtoint(pointer.info).width
    address = SsaInt(low.at, low.at.fly("ptrtoint", [pointer.value()], [element_type(f"i{width}")]), width)
    if isinstance(wanted, IndexType):
        low.replace(op, low.at.op("arith.index_cast", [address.as_width(64)], [wanted]))
    else:
        assert isinstance(wanted, IntegerType)
        low.replace(op, address.as_width(wanted.width.data))


def _requirement(lowering: LayoutLowering, op: FlyOp) -> None:
    """A condition that stands in the input stays; `check_at_launch` takes it from here as it does our own."""


HANDLERS: dict[str, Handler] = {
    "static": _static,
    "make_view": _make_view,
    "make_copy_atom": _atom,
    "make_mma_atom": _atom,
    "atom.set_value": _atom,
    **dict.fromkeys(("make_int_tuple", "make_shape", "make_stride", "make_coord"), _make_tuple),
    **dict.fromkeys(("get_scalar", "get_leaves"), _leaf),
    **dict.fromkeys(("elem_less", "equal"), _truth),
    **dict.fromkeys(("make_fragment_like", "mma.make_fragment", "memref.alloca"), _alloca),
    **dict.fromkeys(("recast_iter", "inttoptr", "to_llvm_ptr", "make_ptr", "get_dyn_shared"), _pointer_value),
    "get_buffer_rsrc": _pointer_value,
    "memref.load": _memref_load,
    "memref.store": _memref_store,
    "memref.load_vec": _load_vec,
    "memref.store_vec": _store_vec,
    "memref.masked_load_vec": _masked_load_vec,
    "memref.masked_store_vec": _masked_store_vec,
    "copy": _copy,
    "gemm": _gemm,
    **dict.fromkeys(("copy_atom_call", "mma_atom_call", "copy_atom_call_ssa", "mma_atom_call_ssa"), _atom_call),
    **dict.fromkeys(("ptr.load", "ptr.store", "ptrtoint"), _pointer_value),
    "print": _print,
    "assume": _assume,
    "checked": _checked,
    "require": _requirement,
    "extract_aligned_pointer_as_index": _pointer_as_index,
}


def lower_layouts(module: Operation) -> None:
    """Run the lowering on every function of a module."""
    for body in function_bodies(module):
        LayoutLowering(body.blocks[0], HANDLERS, by_rule).run(body)
    check_at_launch(module)
    for body in function_bodies(module):
        drop_dead(body)
