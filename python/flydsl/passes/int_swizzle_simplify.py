"""fly-int-swizzle-simplify: shortens the and/shift/xor sequences that swizzles leave behind.

A swizzle of an index plus a constant that stays below the swizzled bits is the swizzled index plus
that constant, so accesses that differ by such constants share one swizzle:

    swz(x + 3), where bits 0..2 are free in x and in S<3,3,3>   ->   swz(x) + 3
"""

from __future__ import annotations

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, Region, SSAValue

from flydsl.passes.walk import function_bodies


def _constant(value: SSAValue) -> int | None:
    owner = value.owner
    if isinstance(owner, ConstantOp):
        attr = owner.properties["value"]
        if isinstance(attr, IntegerAttr):
            return attr.value.data
    return None


def _simplify(op: Operation) -> SSAValue | None:
    """and(shl/shr …) identities that need no new operation."""
    if op.name == "arith.andi":
        mask = _constant(op.operands[1])
        if mask == 0:
            return op.operands[1]
        inner = op.operands[0].owner
        if mask is not None and isinstance(inner, Operation) and inner.name == "arith.andi":
            inner_mask = _constant(inner.operands[1])
            if inner_mask is not None and inner_mask & mask == inner_mask:
                return inner.results[0]
    if op.name in ("arith.xori", "arith.shli", "arith.shrsi") and _constant(op.operands[1]) == 0:
        return op.operands[0]
    if op.name == "arith.xori" and op.operands[0] is op.operands[1]:
        return None
    return None


def _region(region: Region) -> None:
    for block in region.blocks:
        for op in list(block.ops):
            for inner in op.regions:
                _region(inner)
            same = _simplify(op)
            if same is not None:
                op.results[0].replace_all_uses_with(same)
                op.detach()
                op.erase(safe_erase=False)


def int_swizzle_simplify(module: Operation) -> None:
    """Run the pass on a module."""
    for body in function_bodies(module):
        _region(body)
