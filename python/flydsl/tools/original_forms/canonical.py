"""fly-canonicalize with static tuples and layouts written as the original does.

    fly.static : !fly.int_tuple<(3,5)>   ->   fly.make_int_tuple() : () -> !fly.int_tuple<(3,5)>
    fly.static : !fly.layout<4:1>        ->   fly.make_layout of two such tuples

Swizzles, tiles, atoms and the rest stay `fly.static`.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import Attribute, Operation, SSAValue

from flydsl.dialects.fly.ops import OP_CLASSES, FlyOp
from flydsl.dialects.fly.types import FlyType, IntTupleType, LayoutType, type_of
from flydsl.passes import fly_canonicalize as compiled


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


def fly_canonicalize(module: Operation) -> None:
    """Run the pass on a module."""
    compiled.fly_canonicalize(module, _Folder)
