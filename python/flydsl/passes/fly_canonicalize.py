"""fly-canonicalize: folds static algebra to `fly.static`, sees through projections, drops dead values.

    %l = fly.make_layout(%s, %d) -> !fly.layout<(4,8):(1,4)>    ->  %l = fly.static : !fly.layout<…>
    %p = fly.get_iter(fly.make_view(%q, %l))                    ->  %q
    %i = fly.get_scalar(fly.make_int_tuple(%j))                 ->  %j

Best after fly-rewrite-func-signature, whose makes and projections mostly cancel. Every static value
is left with one `fly.static`, at the top of its function.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import Block, Operation, Region, SSAValue

from flydsl.dialects.fly.ops import OP_CLASSES, FlyOp
from flydsl.dialects.fly.payload import is_static_payload
from flydsl.dialects.fly.types import FlyType
from flydsl.dialects.upstream import ops_of, replace_uses
from flydsl.passes.shared.walk import functions, take_out

# Projection -> (the operation it undoes, which operand it gives back).
_UNDONE: dict[str, tuple[str, int]] = {
    "get_iter": ("make_view", 0),
    "get_layout": ("make_view", 1),
    "get_shape": ("make_layout", 0),
    "get_stride": ("make_layout", 1),
    "composed_get_inner": ("make_composed_layout", 0),
    "composed_get_offset": ("make_composed_layout", 1),
    "composed_get_outer": ("make_composed_layout", 2),
}
_TUPLES = ("make_int_tuple", "make_shape", "make_stride", "make_coord")


def _made_by(value: SSAValue, *names: str) -> FlyOp | None:
    """Return the operation that made a value, if it is one of ``names``."""
    owner = value.owner
    return owner if isinstance(owner, FlyOp) and owner.spec.name in names else None


def undone(op: FlyOp) -> SSAValue | None:
    """Return what a projection gives back when its operand was just put together."""
    name = op.spec.name
    if name not in _UNDONE:
        return None
    maker, index = _UNDONE[name]
    source = op.operands[0]
    if name in ("get_shape", "get_stride") and (view := _made_by(source, "make_view")) is not None:
        source = view.operands[1]
    made = _made_by(source, maker)
    return None if made is None else made.operands[index]


def leaves_of(op: FlyOp) -> list[SSAValue] | None:
    """Return the integers a tuple was made of, where a projection asks for exactly those."""
    if op.spec.name not in ("get_scalar", "get_leaves"):
        return None
    made = _made_by(op.operands[0], *_TUPLES)
    if made is None or [o.type for o in made.operands] != list(op.result_types):
        return None
    return list(made.operands)


def _is_checked(op: FlyOp) -> bool:
    """Return whether lowering must see an operation for what it requires, even where its result is known."""
    return any(u.operation.name == "fly.checked" for result in op.results for u in result.uses)


class Folder:
    """One forward walk; what stands for a static value is for a subclass to say otherwise."""

    def __init__(self, entry: Block) -> None:
        self.entry = entry
        self.statics: dict[object, SSAValue] = {}

    def static(self, type_: FlyType[Any]) -> SSAValue:
        """Return one `fly.static` per type, at the top of the function."""
        found = self.statics.get(type_)
        if found is None:
            op = OP_CLASSES["static"].create(result_types=[type_])
            first = self.entry.first_op
            assert first is not None
            self.entry.insert_op_before(op, first)
            found = self.statics[type_] = op.results[0]
        return found

    def region(self, region: Region) -> None:
        for block in region.blocks:
            for op in ops_of(block):
                for inner in op.regions:
                    self.region(inner)
                if isinstance(op, FlyOp):
                    self.op(op)

    def op(self, op: FlyOp) -> None:
        replacements = self.replacements(op)
        if replacements is None or replacements == list(op.results):
            return
        for result, replacement in zip(op.results, replacements, strict=True):
            replace_uses(result, replacement)
        take_out(op)

    def replacements(self, op: FlyOp) -> list[SSAValue] | None:
        if op.spec.effect or not op.results or op.spec.name == "atom.set_value" or _is_checked(op):
            return None
        leaves = leaves_of(op)
        if leaves is not None or len(op.results) != 1:
            return leaves
        same = undone(op)
        if same is not None:
            return [same]
        type_ = op.results[0].type
        if not (isinstance(type_, FlyType) and is_static_payload(type_.data)):
            return None
        return [self.folded(op, type_)]

    def folded(self, op: FlyOp, type_: FlyType[Any]) -> SSAValue:
        """Return what stands for an operation whose result is static."""
        if op.spec.name == "static" and op.parent is self.entry:
            return self.statics.setdefault(type_, op.results[0])
        return self.static(type_)


def drop_dead(region: Region) -> None:
    """Remove fly values nobody uses, last first so that whole chains go."""
    for block in region.blocks:
        for op in reversed(ops_of(block)):
            for inner in op.regions:
                drop_dead(inner)
            if (
                isinstance(op, FlyOp)
                and not op.spec.effect
                and op.results
                and all(r.first_use is None for r in op.results)
            ):
                take_out(op)


def fly_canonicalize(module: Operation, folder: type[Folder] = Folder) -> None:
    """Run the pass on a module."""
    for function in functions(module):
        body = function.regions[0]
        folder(body.blocks[0]).region(body)
        drop_dead(body)
