"""fly-rewrite-func-signature with the original's packed structs.

The run-time leaves of a tuple are one packed struct, and what is made of several tuples is a packed struct of those
that have any; the compiler's own form has one flat struct.

    !fly.layout<(4,?):(1,?)>  ->  !llvm.struct<packed (struct<packed (i32)>, struct<packed (i32)>)>
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Attribute, Operation, SSAValue

from flydsl.dialects.fly import payload as pl
from flydsl.dialects.fly.ops import OP_CLASSES, FlyOp, to_attr
from flydsl.dialects.fly.types import FlyType, element_type, type_of
from flydsl.dialects.upstream import integers, op_class
from flydsl.dialects.upstream_syntax import PackedStructType, packed
from flydsl.layout.layout import Layout
from flydsl.layout.swizzle import ComposedLayout
from flydsl.layout.tensor import Tensor
from flydsl.passes.fly_canonicalize import leaves_of, undone
from flydsl.passes.rewrite_func_signature import Edit, SignatureRewriter, run_time_leaves, stays
from flydsl.passes.shared.walk import take_out

_MAKERS: dict[type, tuple[str, tuple[str, ...]]] = {
    Tensor: ("make_view", ("iter", "layout")),
    Layout: ("make_layout", ("shape", "stride")),
    ComposedLayout: ("make_composed_layout", ("inner", "offset", "outer")),
}
"""Payload to the operation that makes it, and its parts in the order of the operands."""


def _projection(payload: object, part: str) -> str:
    return f"composed_get_{part}" if isinstance(payload, ComposedLayout) else f"get_{part}"


def _parts(payload: object) -> list[str] | None:
    """Return the parts with run-time leaves in the order of the struct; None for a tuple, whose leaves are the
    fields."""
    if type(payload) not in _MAKERS:
        return None
    order = _MAKERS[type(payload)][1]
    if isinstance(payload, ComposedLayout):
        order = order[::-1]
    return [part for part in order if run_time_leaves(getattr(payload, part))]


def struct_of(payload: object) -> PackedStructType:
    """Return the struct that holds the run-time leaves of a payload."""
    parts = _parts(payload)
    if parts is None:
        return packed([element_type(f"i{leaf.width}") for leaf in run_time_leaves(payload)])
    return packed([struct_of(getattr(payload, part)) for part in parts])


def _carried(payload: object) -> tuple[bool, Any]:
    """Return whether a payload has a pointer of its own, and what else there is to carry."""
    if isinstance(payload, Tensor) and isinstance(payload.iter, pl.Pointer):
        return True, payload.layout
    return False, payload


def _position(index: int) -> dict[str, Attribute]:
    return {"position": integers(64, index)}


class _Packed(SignatureRewriter):
    def boundary_types(self, type_: Attribute) -> list[Attribute]:
        if stays(type_):
            return [type_]
        assert isinstance(type_, FlyType)
        has_pointer, rest = _carried(type_.data)
        parts: list[Attribute] = [type_of(type_.data.iter)] if has_pointer else []
        return [*parts, struct_of(rest)] if run_time_leaves(rest) else parts

    # Taking apart ------------------------------------------------------------------------------

    def take_apart(self, edit: Edit, value: SSAValue) -> list[SSAValue]:
        if stays(value.type):
            return [value]
        assert isinstance(value.type, FlyType)
        payload = value.type.data
        has_pointer, rest = _carried(payload)
        parts = [edit.fly("get_iter", [value], payload.iter)] if has_pointer else []
        if run_time_leaves(rest):
            parts.append(self._pack(edit, edit.fly("get_layout", [value], rest) if has_pointer else value, rest))
        return parts

    def _pack(self, edit: Edit, value: SSAValue, payload: object) -> SSAValue:
        parts = _parts(payload)
        if parts is None:
            kinds = [element_type(f"i{leaf.width}") for leaf in run_time_leaves(payload)]
            attributes = {"dynamicOnly": to_attr("bool", True)}
            op = OP_CLASSES["get_leaves"].create(operands=[value], result_types=kinds, attributes=attributes)
            edit.add(op)
            fields = list(op.results)
        else:
            fields = []
            for part in parts:
                inner = getattr(payload, part)
                fields.append(self._pack(edit, edit.fly(_projection(payload, part), [value], inner), inner))
        struct = struct_of(payload)
        whole = edit.add(op_class("llvm.mlir.undef").create(result_types=[struct]))
        insert = op_class("llvm.insertvalue")
        for index, field in enumerate(fields):
            whole = edit.add(insert.create(operands=[whole, field], result_types=[struct], properties=_position(index)))
        return whole

    # Putting together --------------------------------------------------------------------------

    def put_together(self, edit: Edit, parts: Sequence[SSAValue], type_: Attribute) -> SSAValue:
        if stays(type_):
            return parts[0]
        assert isinstance(type_, FlyType)
        has_pointer, rest = _carried(type_.data)
        made = self._unpack(edit, parts[-1] if run_time_leaves(rest) else None, rest)
        return edit.fly("make_view", [parts[0], made], type_.data) if has_pointer else made

    def _unpack(self, edit: Edit, struct: SSAValue | None, payload: object) -> SSAValue:
        if struct is None:
            return edit.add(OP_CLASSES["static"].create(result_types=[type_of(payload)]))
        extract = op_class("llvm.extractvalue")
        kind = struct.type
        assert isinstance(kind, PackedStructType)
        fields = [
            edit.add(extract.create(operands=[struct], result_types=[field], properties=_position(index)))
            for index, field in enumerate(kind.types.data)
        ]
        parts = _parts(payload)
        if parts is None:
            return edit.fly("make_int_tuple", fields, payload)
        given = dict(zip(parts, fields, strict=True))
        name, order = _MAKERS[type(payload)]
        operands = [self._unpack(edit, given.get(part), getattr(payload, part)) for part in order]
        return edit.fly(name, operands, payload)


# What was put together and is taken apart again, as where a loop hands on what it was given ---


def _whole(op: Operation) -> SSAValue | None:
    """Return the struct whose fields, in order, are what ``op`` inserts last of."""
    last = op.results[0]
    if not isinstance(last.type, PackedStructType):
        return None
    source: SSAValue | None = None
    for index in reversed(range(len(last.type.types.data))):
        made = last.owner
        if not isinstance(made, Operation) or made.name != "llvm.insertvalue":
            return None
        taken = made.operands[1].owner
        if not isinstance(taken, Operation) or taken.name != "llvm.extractvalue":
            return None
        if not made.properties == taken.properties == _position(index):
            return None
        if source is not None and taken.operands[0] is not source:
            return None
        source, last = taken.operands[0], made.operands[0]
    return source if source is not None and source.type == op.results[0].type else None


_TAKEN_APART = (
    "llvm.insertvalue", "llvm.mlir.undef", "fly.get_leaves", "fly.get_iter", "fly.get_layout", "fly.get_shape",
    "fly.get_stride", "fly.composed_get_inner", "fly.composed_get_offset", "fly.composed_get_outer",
)  # fmt: skip
"""Operations that take a value apart; of those that put one together none is dropped."""


def _shorten(made: list[Operation]) -> None:
    """See through pairs of operations that this pass made."""
    for op in made:
        if isinstance(op, FlyOp):
            leaves = leaves_of(op)
            same = undone(op)
            found = leaves if leaves is not None else None if same is None else [same]
        else:
            whole = _whole(op) if op.name == "llvm.insertvalue" else None
            found = None if whole is None else [whole]
        if found is not None:
            for result, value in zip(op.results, found, strict=True):
                result.replace_all_uses_with(value)
    for op in reversed(made):
        if op.name in _TAKEN_APART and all(result.first_use is None for result in op.results):
            take_out(op)


def rewrite_func_signature(module: Operation) -> None:
    """Run the pass on a module."""
    before = set(module.walk())
    _Packed().run(module)
    _shorten([op for op in module.walk() if op not in before and not op.regions and op.results])
