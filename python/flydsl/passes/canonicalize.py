"""canonicalize: drops dead and repeated pure operations, and branches that only choose between numbers.

One backward walk for what nobody uses and one forward walk for what is computed twice in a block.
LLVM does the rest better; this keeps the IR between passes small and readable.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from flydsl.dialects.upstream import created, op_class, put_before, replace_uses
from flydsl.passes.shared.walk import function_bodies, is_pure, take_out


def drop_dead(region: Region) -> None:
    """Remove pure operations nobody uses, last first so that whole chains go."""
    for block in region.blocks:
        op: Any = block.last_op
        while op is not None:
            before = op._prev_op
            for inner in op.regions:
                drop_dead(inner)
            unused = op.results and op.results[0].first_use is None  # of most there is one result, and it is used
            if unused and is_pure(op) and all(r.first_use is None for r in op.results):
                take_out(op)
            op = before


class _Keys:
    """Keys that equal operations share. Equal attributes get one number; most are one object, and hashed but once."""

    def __init__(self) -> None:
        self._numbers: dict[Attribute, int] = {}
        self._known: dict[int, tuple[int, Attribute]] = {}
        """By identity, which an attribute keeps as long as it is held here."""

    def of(self, op: Operation) -> Any:
        key: list[Any] = [op.name, *map(id, cast("Any", op)._operands)]
        for result in op.results:
            key += (None, self._number(result.type))
        for named in (op.properties, op.attributes):
            key.append(None)
            for name, value in named.items():
                key += (name, self._number(value))
        return tuple(key)

    def _number(self, attribute: Attribute) -> int:
        found = self._known.get(id(attribute))
        if found is None:
            number = self._numbers.setdefault(attribute, len(self._numbers))
            found = self._known[id(attribute)] = (number, attribute)
        return found[0]


def share_repeated(region: Region, known: dict[Any, Operation] | None = None, keys: _Keys | None = None) -> None:
    """Compute what a block, or a block around it, or the region's first one computes again only once."""
    known, keys = {} if known is None else known, keys or _Keys()
    ends = [len(known)]
    for block in region.blocks:
        op: Any = block.first_op
        while op is not None:
            following = op._next_op
            if op.results and is_pure(op):
                found = known.setdefault(keys.of(op), op)
                if found is not op:
                    for old, new in zip(op.results, found.results, strict=True):
                        replace_uses(old, new)
                    take_out(op)
            else:
                for inner in op.regions:
                    share_repeated(inner, known, keys)
            op = following
        ends.append(len(known))  # what later blocks computed ends with them, what the first one did with the region
        while len(known) > ends[1]:
            known.popitem()
    while len(known) > ends[0]:
        known.popitem()


def select_by_comparison(region: Region) -> None:
    """Make selections of results of branches by a comparison of floats that are values from outside or constants.

    LLVM makes selections of them too, but takes some for a minimum, whose zero has another sign: a selection by us does
    not let it (`codegen/floats/signs_of_zeros.py`).
    """
    for block in region.blocks:
        op: Any = block.first_op
        while op is not None:
            following = op._next_op
            for inner in op.regions:
                select_by_comparison(inner)
            if op.name == "scf.if" and op.results and _is_by_comparison(op):
                _select(op)
            op = following


def _is_by_comparison(op: Operation) -> bool:
    comparison, ends = op.operands[0].owner, [block.last_op for region in op.regions for block in region.blocks]
    return (
        isinstance(comparison, Operation)
        and comparison.name == "arith.cmpf"
        and len(ends) == 2
        and all(end is not None and len(end.operands) == len(op.results) for end in ends)
    )


def _select(op: Operation) -> None:
    blocks = [region.block for region in op.regions]
    yielded = [cast(Operation, block.last_op).operands for block in blocks]
    for result, *values in zip(op.results, *yielded, strict=True):
        if not all(_is_outside(value, block) for value, block in zip(values, blocks, strict=True)):
            continue
        for constant in {value.owner for value in values if value.owner.parent in blocks}:
            constant.detach()
            put_before(constant, op)
        chosen = created(op_class("arith.select"), [op.operands[0], *values], [result.type])
        chosen.location = op.location
        put_before(chosen, op)
        chosen.results[0].name_hint = result.name_hint
        replace_uses(result, chosen.results[0])
    if all(block.first_op is block.last_op for block in blocks):
        take_out(op)


def _is_outside(value: SSAValue, block: Block) -> bool:
    """Return whether a value comes from outside of a block, or can: a constant."""
    owner = value.owner
    return not isinstance(owner, Operation) or owner.parent is not block or owner.name == "arith.constant"


def canonicalize(module: Operation) -> None:
    """Run the pass on a module."""
    for body in function_bodies(module):
        share_repeated(body)
        select_by_comparison(body)
        drop_dead(body)
