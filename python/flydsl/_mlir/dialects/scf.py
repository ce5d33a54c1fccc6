"""`scf` operations built by hand: an `if` whose blocks are filled through insertion points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Block, Region

from flydsl.dialects.fly.types import element_type
from flydsl.expr.arith import unwrap
from flydsl.expr.numeric import Boolean
from flydsl.expr.trace.context import current
from flydsl.expr.values.ir_types import split_vector_type


class IfOp:
    """``if_op = IfOp(cond)``, then ``with ir.InsertionPoint(if_op.then_block): ...``.

    Without results a block may be left without a yield. In a kernel, a plain ``if`` says the same.
    """

    def __init__(self, cond: Any, results_: Sequence[Any] | None = None, *, has_else: bool = False) -> None:
        emitter: Any = current()
        types = [_ir_type(str(text)) for text in results_ or ()]
        self.then_block = Block()
        self.else_block = Block() if has_else or types else None
        blocks = [block for block in (self.then_block, self.else_block) if block is not None]
        if not types:
            for block in blocks:
                block.add_op(scf.YieldOp.create())
        regions = [Region(self.then_block), Region() if self.else_block is None else Region(self.else_block)]
        self.operation = scf.IfOp.create(operands=[unwrap(Boolean(cond))], result_types=types, regions=regions)
        emitter.add(self.operation)

    @property
    def results(self) -> Sequence[Any]:
        return self.operation.results

    @property
    def result(self) -> Any:
        return self.operation.results[0]


class YieldOp:
    """The values a block gives back."""

    def __init__(self, operands: Sequence[Any] = ()) -> None:
        emitter: Any = current()
        emitter.add(scf.YieldOp.create(operands=[unwrap(value) for value in operands]))


def _ir_type(text: str) -> Attribute:
    lanes, element = split_vector_type(text)
    return element_type(element) if lanes is None else VectorType(element_type(element), [lanes])


__all__ = ["IfOp", "YieldOp"]
