"""fly-canonicalize with static tuples and layouts written as the original does.

    fly.static : !fly.int_tuple<(3,5)>   ->   fly.make_int_tuple() : () -> !fly.int_tuple<(3,5)>
    fly.static : !fly.layout<4:1>        ->   fly.make_layout of two such tuples

Swizzles, tiles, atoms and the rest stay `fly.static`.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute, Operation, SSAValue

from flydsl.dialects.fly.ops import OP_CLASSES, FlyOp
from flydsl.dialects.fly.types import FlyType, IntTupleType, LayoutType, type_of
from flydsl.passes import canonicalize as canonical
from flydsl.passes import fly_canonicalize as compiled
from flydsl.passes.shared.walk import functions, take_out


class _Folder(compiled.Folder):
    """Writes each static value where it was computed."""

    def folded(self, op: FlyOp, type_: FlyType[Any]) -> SSAValue:
        if isinstance(type_, IntTupleType):
            return op.results[0] if op.spec.name == "make_int_tuple" else _before(op, "make_int_tuple", [], type_)
        if isinstance(type_, LayoutType):
            if op.spec.name == "make_layout":  # its operands were written already
                return op.results[0]
            parts = (type_of(type_.data.shape), type_of(type_.data.stride))
            return _before(op, "make_layout", [_before(op, "make_int_tuple", [], part) for part in parts], type_)
        return op.results[0] if op.spec.name == "static" else _before(op, "static", [], type_)


def _before(op: FlyOp, name: str, operands: list[SSAValue], type_: Attribute) -> SSAValue:
    made = OP_CLASSES[name].create(operands=operands, result_types=[type_])
    made.location = op.location
    assert op.parent is not None
    op.parent.insert_op_before(made, op)
    return made.results[0]


# Structs ---------------------------------------------------------------------------------------


def _field(op: Operation) -> SSAValue | None:
    """Return what an `llvm.extractvalue` takes out of a struct that was put together before it."""
    position = op.properties.get("position")
    made = op.operands[0].owner
    while isinstance(made, Operation) and made.name == "llvm.insertvalue":
        inserted = made.properties.get("position")
        if inserted == position:
            return made.operands[1]
        if not isinstance(inserted, DenseArrayBase) or not isinstance(position, DenseArrayBase):
            return None
        pairs = zip(inserted.get_values(), position.get_values(), strict=False)
        if all(one == other for one, other in pairs):  # a part of the field, or a field around it
            return None
        made = made.operands[0].owner
    return None


def canonicalize(module: Operation) -> None:
    """upstream's pass as far as the original's tests look: the compiler's own, and fields read where they were set."""
    for function in functions(module):
        for op in list(function.walk()):
            if op.name == "llvm.extractvalue" and (found := _field(op)) is not None:
                op.results[0].replace_all_uses_with(found)
                take_out(op)
    canonical.canonicalize(module)


def fly_canonicalize(module: Operation) -> None:
    """Run the pass on a module."""
    compiled.fly_canonicalize(module, _Folder)
