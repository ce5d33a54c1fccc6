"""fly-canonicalize: folds static algebra to `fly.static`, sees through projections, drops dead values.

    %l = fly.make_layout(%s, %d) -> !fly.layout<(4,8):(1,4)>    ->  %l = fly.static : !fly.layout<…>
    %p = fly.get_iter(fly.make_view(%q, %l))                    ->  %q
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, Region, SSAValue

from flydsl.dialects.fly.ops import OP_CLASSES, FlyOp
from flydsl.dialects.fly.payload import is_static_payload
from flydsl.dialects.fly.types import FlyType
from flydsl.passes.walk import functions

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


class _Folder:
    def __init__(self, entry: Block) -> None:
        self.entry = entry
        self.statics: dict[object, SSAValue] = {}

    def static(self, type_: FlyType) -> SSAValue:
        """One `fly.static` per type, at the top of the function."""
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
            for op in list(block.ops):
                for inner in op.regions:
                    self.region(inner)
                if isinstance(op, FlyOp):
                    self.op(op)

    def op(self, op: FlyOp) -> None:
        replacement = self.replacement(op)
        if replacement is not None and replacement is not op.results[0]:
            op.results[0].replace_all_uses_with(replacement)
            _drop(op)

    def replacement(self, op: FlyOp) -> SSAValue | None:
        if op.spec.effect or len(op.results) != 1:
            return None
        undone = _UNDONE.get(op.spec.name)
        source = op.operands[0].owner if undone else None
        if undone and isinstance(source, FlyOp) and source.spec.name == undone[0]:
            return source.operands[undone[1]]
        type_ = op.results[0].type
        if isinstance(type_, FlyType) and is_static_payload(type_.data):
            if op.spec.name == "static":
                return self.statics.setdefault(type_, op.results[0]) if op.parent is self.entry else self.static(type_)
            return self.static(type_)
        return None


def _drop(op: Operation) -> None:
    op.detach()
    op.erase(safe_erase=False)


def drop_dead(region: Region) -> None:
    """Remove fly values nobody uses, last first so that whole chains go."""
    for block in region.blocks:
        for op in reversed(list(block.ops)):
            for inner in op.regions:
                drop_dead(inner)
            if isinstance(op, FlyOp) and not op.spec.effect and op.results and not any(r.uses for r in op.results):
                _drop(op)


def fly_canonicalize(module: Operation) -> None:
    """Run the pass on a module."""
    for function in functions(module):
        body = function.regions[0]
        _Folder(body.blocks[0]).region(body)
        drop_dead(body)
