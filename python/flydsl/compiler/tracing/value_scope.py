"""Every value is used where it exists: inside the region, and the function, that made it.

The names of a traced function follow this rule by themselves. A value can still escape: kept in an object
while a branch is traced, or captured from a jit function by a kernel. One walk over the finished body finds it.
"""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue

from flydsl.base.errors import DslNameError
from flydsl.passes.shared.walk import location_of

_WORDS = {"scf.if": "`if`", "scf.for": "`for`", "scf.while": "`while`"}


def check_uses(entry: Block) -> None:
    """Raise for the first operation that uses a value from outside its scope."""
    _check_block(entry, set())


def _check_block(block: Block, visible: set[Block]) -> None:
    visible.add(block)
    for op in block.ops:
        for operand in op.operands:
            owner = operand.owner
            if (owner if isinstance(owner, Block) else owner.parent) not in visible:
                raise _escaped(op, operand)
        for region in op.regions:
            for inner in region.blocks:
                _check_block(inner, visible)
    visible.discard(block)


def _escaped(op: Operation, value: SSAValue) -> DslNameError:
    region = _region_of(value)
    if region is None or _function_of(op) is not _function_of(region):
        return DslNameError(
            "a run-time value of another function is used here",
            hint="pass it to the kernel as an argument; a kernel sees only its own values and Python constants",
            location=location_of(op),
        )
    word = _WORDS.get(region.name, "region")
    place = location_of(region)
    where = f"the run-time {word} of line {place.line}" if place else f"a run-time {word}"
    return DslNameError(
        f"a value made inside {where} is used outside of it, through an object that kept it",
        hint="hand it out through a variable that is bound before and assigned inside",
        location=location_of(op),
    )


def _region_of(value: SSAValue) -> Operation | None:
    """The operation whose region a value belongs to."""
    owner = value.owner
    return owner.parent_op()


def _function_of(op: Operation) -> Operation | None:
    while op is not None and not op.name.endswith(".func"):
        op = op.parent_op()  # type: ignore[assignment]
    return op
