"""fly-rewrite-func-signature: removes fly values from function and region boundaries.

At `func.func`, `gpu.func`, `gpu.launch_func`, `func.call` and the `scf` operations: a static fly
value is dropped and rebuilt inside with `fly.static`; a partly dynamic one becomes an LLVM struct of
its run-time leaves and is rebuilt with the make operations; a memory tensor becomes its pointer and
such a struct. Runs first.

    func.func @f(%t: !fly.memref<f32, global, (?,4):(4,1)>)
 -> func.func @f(%p: !fly.ptr<f32, global>, %s: !llvm.struct<(i32)>)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, FunctionType, i32
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly.ops import OP_CLASSES, to_attr
from flydsl.dialects.fly.types import CopyAtomType, FlyType, MmaAtomType, PtrType, element_type, type_of
from flydsl.dialects.upstream import created, integers, op_class, replace_uses
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import Basis, DynInt
from flydsl.layout.swizzle import ComposedLayout
from flydsl.layout.tensor import Tensor
from flydsl.passes.shared.walk import functions

# What a type is made of ------------------------------------------------------------------------


def run_time_leaves(payload: Any) -> list[Any]:
    """Return the run-time leaves of a payload without its pointer, in order."""
    if isinstance(payload, Tensor):
        own = [] if isinstance(payload.iter, pl.Pointer) else run_time_leaves(payload.iter)
        return own + run_time_leaves(payload.layout)
    if isinstance(payload, Layout):
        return run_time_leaves(payload.shape) + run_time_leaves(payload.stride)
    if isinstance(payload, ComposedLayout):
        return run_time_leaves(payload.inner) + run_time_leaves(payload.offset) + run_time_leaves(payload.outer)
    if isinstance(payload, tuple):
        return [leaf for item in payload for leaf in run_time_leaves(item)]
    if isinstance(payload, Basis):
        return run_time_leaves(payload.value)
    return [payload] if isinstance(payload, DynInt) else []


def stays(type_: Attribute) -> bool:
    """Return whether a type crosses boundaries as it is: pointers, and atoms with run-time state, become LLVM's
    later."""
    if not isinstance(type_, FlyType) or isinstance(type_, PtrType):
        return True
    return isinstance(type_, (CopyAtomType, MmaAtomType)) and bool(type_.data.op.state)


def boundary_types(type_: Attribute) -> list[Attribute]:
    """Return the types that replace a fly type at a boundary."""
    if stays(type_):
        return [type_]
    assert isinstance(type_, FlyType)
    payload = type_.data
    parts: list[Attribute] = []
    if isinstance(payload, Tensor) and isinstance(payload.iter, pl.Pointer):
        parts.append(type_of(payload.iter))
    widths = tuple(leaf.width for leaf in run_time_leaves(payload))
    if widths:
        parts.append(_struct_of(widths))
    return parts


@cache
def _struct_of(widths: tuple[int, ...]) -> Attribute:
    return LLVMStructType.from_type_list([element_type(f"i{width}") for width in widths])


class Edit:
    """Emits before or after a place in a block."""

    def __init__(self, block: Block, before: Operation | None) -> None:
        self.block = block
        self.before = before

    def add(self, op: Operation) -> SSAValue:
        if self.before is not None:
            op.location = self.before.location
            self.block.insert_op_before(op, self.before)
        else:
            self.block.add_op(op)
        return op.results[0]

    def fly(self, name: str, operands: Sequence[SSAValue], payload: Any) -> SSAValue:
        return self.add(created(OP_CLASSES[name], operands, [type_of(payload)]))


# Taking apart ----------------------------------------------------------------------------------


def _take_apart(edit: Edit, value: SSAValue) -> list[SSAValue]:
    type_ = value.type
    if stays(type_):
        return [value]
    assert isinstance(type_, FlyType)
    payload = type_.data
    parts: list[SSAValue] = []
    if isinstance(payload, Tensor) and isinstance(payload.iter, pl.Pointer):
        parts.append(edit.fly("get_iter", [value], payload.iter))
    scalars = _scalars(edit, value, payload)
    if scalars:
        parts.append(_pack(edit, scalars))
    return parts


def _pack(edit: Edit, scalars: list[SSAValue]) -> SSAValue:
    struct = LLVMStructType.from_type_list([s.type for s in scalars])
    packed = edit.add(op_class("llvm.mlir.undef").create(result_types=[struct]))
    for index, scalar in enumerate(scalars):
        position = {"position": integers(64, index)}
        packed = edit.add(
            op_class("llvm.insertvalue").create(operands=[packed, scalar], result_types=[struct], properties=position)
        )
    return packed


def _scalars(edit: Edit, value: SSAValue, payload: Any) -> list[SSAValue]:
    """Return the run-time leaves of a value as integers, in the order of `_leaves`."""
    if isinstance(payload, Tensor):
        own = [] if isinstance(payload.iter, pl.Pointer) else _part(edit, value, "get_iter", payload.iter)
        return own + _part(edit, value, "get_layout", payload.layout)
    if isinstance(payload, Layout):
        return _part(edit, value, "get_shape", payload.shape) + _part(edit, value, "get_stride", payload.stride)
    if isinstance(payload, ComposedLayout):
        return [s for name in ("inner", "offset", "outer")
                for s in _part(edit, value, f"composed_get_{name}", getattr(payload, name))]  # fmt: skip
    widths = [element_type(f"i{leaf.width}") for leaf in run_time_leaves(payload)]
    if not widths:
        return []
    op = OP_CLASSES["get_leaves"].create(
        operands=[value], result_types=widths, attributes={"dynamicOnly": to_attr("bool", True)}
    )
    edit.add(op)
    return list(op.results)


def _part(edit: Edit, value: SSAValue, name: str, payload: Any) -> list[SSAValue]:
    if not run_time_leaves(payload):
        return []
    return _scalars(edit, edit.fly(name, [value], payload), payload)


# Putting together ------------------------------------------------------------------------------


def _put_together(edit: Edit, parts: Sequence[SSAValue], type_: Attribute) -> SSAValue:
    if stays(type_):
        return parts[0]
    assert isinstance(type_, FlyType)
    payload = type_.data
    remaining = list(parts)
    pointer = remaining.pop(0) if isinstance(payload, Tensor) and isinstance(payload.iter, pl.Pointer) else None
    scalars: list[SSAValue] = []
    if remaining:
        for index, leaf in enumerate(run_time_leaves(payload)):
            position = {"position": integers(64, index)}
            kind = element_type(f"i{leaf.width}")
            scalars.append(edit.add(created(op_class("llvm.extractvalue"), [remaining[0]], [kind], position)))
    return _build(edit, payload, iter(scalars), pointer)


def _build(edit: Edit, payload: Any, scalars: Any, pointer: SSAValue | None) -> SSAValue:
    if isinstance(payload, Tensor):
        start = pointer if pointer is not None else _build(edit, payload.iter, scalars, None)
        return edit.fly("make_view", [start, _build(edit, payload.layout, scalars, None)], payload)
    if not run_time_leaves(payload):
        return edit.add(OP_CLASSES["static"].create(result_types=[type_of(payload)]))
    if isinstance(payload, Layout):
        parts = [_build(edit, payload.shape, scalars, None), _build(edit, payload.stride, scalars, None)]
        return edit.fly("make_layout", parts, payload)
    if isinstance(payload, ComposedLayout):
        parts = [_build(edit, part, scalars, None) for part in (payload.inner, payload.offset, payload.outer)]
        return edit.fly("make_composed_layout", parts, payload)
    return edit.fly("make_int_tuple", [next(scalars) for _ in run_time_leaves(payload)], payload)


# Boundaries ------------------------------------------------------------------------------------


class SignatureRewriter:
    """The walk over a module; what values are taken apart into is for a subclass to say otherwise."""

    def boundary_types(self, type_: Attribute) -> list[Attribute]:
        return boundary_types(type_)

    def take_apart(self, edit: Edit, value: SSAValue) -> list[SSAValue]:
        return _take_apart(edit, value)

    def put_together(self, edit: Edit, parts: Sequence[SSAValue], type_: Attribute) -> SSAValue:
        return _put_together(edit, parts, type_)

    def run(self, module: Operation) -> None:
        for op in functions(module, declared=True):
            self.rewrite_region(op.regions[0])
            if op.name != "llvm.func":  # LLVM's own never hold fly values
                self.rewrite_function(op)

    def _changes(self, types: Sequence[Attribute]) -> bool:
        return any(self.boundary_types(t) != [t] for t in types)

    def _rewrite_arguments(self, block: Block) -> None:
        """Replace block arguments by their parts and rebuild them at the top of the block."""
        if not self._changes([a.type for a in block.args]):
            return
        edit = Edit(block, block.first_op)
        for argument in list(block.args):
            kinds = self.boundary_types(argument.type)
            if kinds == [argument.type]:
                continue
            index = argument.index
            parts = [block.insert_arg(kind, index + 1 + i) for i, kind in enumerate(kinds)]
            replace_uses(argument, self.put_together(edit, parts, argument.type))
            block.erase_arg(argument)

    def _flattened(self, types: Sequence[Attribute]) -> list[Attribute]:
        return [kind for type_ in types for kind in self.boundary_types(type_)]

    def rewrite_function(self, op: Operation) -> None:
        before = op.properties["function_type"]
        assert isinstance(before, FunctionType)
        for name, types in (("arg_attrs", before.inputs.data), ("res_attrs", before.outputs.data)):
            if isinstance(notes := op.properties.get(name), ArrayAttr):
                op.properties[name] = self._spread(notes, types)
        if isinstance(names := op.attributes.get(pl.ARGUMENT_NAMES), ArrayAttr):
            spread = zip(names.data, before.inputs.data, strict=True)
            op.attributes[pl.ARGUMENT_NAMES] = ArrayAttr([n for n, type_ in spread for _ in self.boundary_types(type_)])
        if op.regions[0].blocks:
            self._rewrite_arguments(op.regions[0].blocks[0])
        inputs, outputs = self._flattened(before.inputs.data), self._flattened(before.outputs.data)
        op.properties["function_type"] = FunctionType.from_lists(inputs, outputs)

    def _spread(self, notes: ArrayAttr[Attribute], types: Sequence[Attribute]) -> ArrayAttr[Attribute]:
        """Attributes of arguments or results, where one became several: the first part keeps them."""
        nothing = DictionaryAttr({})
        spread: list[Attribute] = []
        for note, type_ in zip(notes.data, types, strict=True):
            spread += [note, *[nothing] * (len(self.boundary_types(type_)) - 1)][: len(self.boundary_types(type_))]
        return ArrayAttr(spread)

    def _apart(self, edit: Edit, values: Sequence[SSAValue]) -> list[SSAValue]:
        return [part for value in values for part in self.take_apart(edit, value)]

    def _rewrite_launch(self, op: Operation) -> None:
        sizes = list(op.properties["operandSegmentSizes"].get_values())  # type: ignore[union-attr]
        first = sum(sizes[:11])
        arguments = list(op.operands[first : first + sizes[11]])
        if not self._changes([a.type for a in arguments]):
            return
        assert op.parent is not None
        parts = self._apart(Edit(op.parent, op), arguments)
        op.operands = [*op.operands[:first], *parts, *op.operands[first + sizes[11] :]]
        sizes[11] = len(parts)
        op.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, sizes)

    def _rewrite_terminator(self, op: Operation) -> None:
        """Terminators that hand values over hand over parts."""
        if self._changes([o.type for o in op.operands]):
            assert op.parent is not None
            op.operands = self._apart(Edit(op.parent, op), list(op.operands))

    def _rewrite_structured(self, op: Operation) -> None:
        """`scf.for`, `scf.if`, `scf.while` and calls: operands, block arguments and results all change."""
        results = [r.type for r in op.results]
        if not self._changes([*results, *(o.type for o in op.operands)]):
            return
        block = op.parent
        assert block is not None
        operands = self._apart(Edit(block, op), list(op.operands))
        regions = [op.detach_region(region) for region in list(op.regions)]
        for region in regions:
            for inner in region.blocks:
                self._rewrite_arguments(inner)
        new = type(op).create(
            operands=operands,
            result_types=self._flattened(results),
            properties=op.properties,
            attributes=op.attributes,
            regions=regions,
        )
        new.location = op.location
        block.insert_op_before(new, op)
        given = iter(new.results)
        edit = Edit(block, op)
        for result in op.results:
            parts = [next(given) for _ in self.boundary_types(result.type)]
            replace_uses(result, self.put_together(edit, parts, result.type))
        op.detach()
        op.erase(safe_erase=False)

    def rewrite_region(self, region: Region) -> None:
        for block in region.blocks:
            for op in list(block.ops):
                for inner in op.regions:
                    self.rewrite_region(inner)
                if op.name == "gpu.launch_func":
                    self._rewrite_launch(op)
                elif op.name in _TERMINATORS:
                    self._rewrite_terminator(op)
                elif op.name in _STRUCTURED:
                    self._rewrite_structured(op)


_TERMINATORS = ("scf.yield", "scf.condition", "func.return", "gpu.return")
_STRUCTURED = ("scf.for", "scf.if", "scf.while", "func.call")


def rewrite_func_signature(module: Operation) -> None:
    """Run the pass on a module."""
    SignatureRewriter().run(module)
