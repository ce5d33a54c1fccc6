"""canonicalize: drops dead and repeated pure operations.

One backward walk for what nobody uses and one forward walk for what is computed twice in a block.
LLVM does the rest better; this keeps the IR between passes small and readable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Operation, Region

from flydsl.passes.shared.walk import function_bodies, is_pure


def drop_dead(region: Region) -> None:
    """Remove pure operations nobody uses, last first so that whole chains go."""
    for block in region.blocks:
        op = block.last_op
        while op is not None:
            before = op.prev_op
            for inner in op.regions:
                drop_dead(inner)
            if op.results and is_pure(op) and not any(r.uses for r in op.results):
                op.detach()
                op.erase(safe_erase=False)
            op = before


def _key(op: Operation) -> Any:
    return (
        op.name,
        tuple(map(id, op.operands)),
        tuple(op.result_types),
        tuple(op.properties.items()),
        tuple(op.attributes.items()),
    )


def share_repeated(region: Region, outer: Sequence[dict[Any, Operation]] = ()) -> None:
    """Compute what a block, or a block around it, or the region's first one computes again only once."""
    first: dict[Any, Operation] = {}
    for block in region.blocks:
        scopes = [*outer, first] if block is region.first_block else [*outer, first, {}]
        op = block.first_op
        while op is not None:
            following = op.next_op
            if op.results and is_pure(op):
                key = _key(op)
                found = next((scope[key] for scope in reversed(scopes) if key in scope), None)
                if found is None:
                    scopes[-1][key] = op
                else:
                    for old, new in zip(op.results, found.results, strict=True):
                        old.replace_all_uses_with(new)
                    op.detach()
                    op.erase(safe_erase=False)
            else:
                for inner in op.regions:
                    share_repeated(inner, scopes)
            op = following


def canonicalize(module: Operation) -> None:
    """Run the pass on a module."""
    for body in function_bodies(module):
        share_repeated(body)
        drop_dead(body)
