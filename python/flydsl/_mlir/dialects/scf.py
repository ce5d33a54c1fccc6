"""`scf` operations built by hand: their blocks are filled through insertion points.

In a kernel, plain `if`, `for` and `while` say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import scf
from xdsl.ir import Attribute, Block, Operation, Region

from flydsl._mlir.op_view import OpView, require_tracing
from flydsl._mlir.places import BlockView
from flydsl._mlir.types import type_text
from flydsl._mlir.values import show, ssa_of
from flydsl.base.errors import DslTypeError
from flydsl.dialects.parts import ir_type
from flydsl.expr.numeric import Boolean


def _built(op: Operation) -> Operation:
    return require_tracing(op.name).add(op)


class IfOp(OpView):
    """``if_op = IfOp(cond)``, then ``with ir.InsertionPoint(if_op.then_block): ...``.

    Without results a block may be left without a yield.
    """

    def __init__(
        self,
        cond: Any,
        results_: Sequence[Any] | None = None,
        *,
        results: Sequence[Any] | None = None,
        has_else: bool = False,
        hasElse: bool = False,
        loc: Any = None,
        ip: Any = None,
    ) -> None:
        require_tracing("scf.if")
        types = [ir_type(type_text(type_)) for type_ in results_ or results or ()]
        self.then_block = Block()
        self.else_block = Block() if has_else or hasElse or types else None
        blocks = [block for block in (self.then_block, self.else_block) if block is not None]
        if not types:
            for block in blocks:
                block.add_op(scf.YieldOp.create())
        regions = [Region(self.then_block), Region() if self.else_block is None else Region(self.else_block)]
        condition = ssa_of(Boolean(cond))
        super().__init__(_built(scf.IfOp.create(operands=[condition], result_types=types, regions=regions)))


class ForOp(OpView):
    """``for_op = ForOp(start, stop, step, [inits])``, then ``with ir.InsertionPoint(for_op.body): ...``.

    The body ends with ``YieldOp(next values)``; without carried values it may be left out.
    """

    def __init__(
        self,
        lower_bound: Any,
        upper_bound: Any,
        step: Any,
        iter_args: Sequence[Any] | None = None,
        *,
        loc: Any = None,
        ip: Any = None,
    ) -> None:
        require_tracing("scf.for")
        bounds = [lower_bound, upper_bound, step]
        kind = next((str(ssa_of(b).type) for b in bounds if not isinstance(b, int)), "index")
        operands = [ssa_of(bound, kind) for bound in bounds]
        if len({str(bound.type) for bound in operands}) > 1:
            raise DslTypeError(f"a loop's bounds have one type, not {', '.join(str(b.type) for b in operands)}")
        inits = [ssa_of(value) for value in iter_args or ()]
        types: list[Attribute] = [value.type for value in inits]
        self._body = Block(arg_types=[operands[0].type, *types])
        if not inits:
            self._body.add_op(scf.YieldOp.create())
        made = scf.ForOp.create(operands=[*operands, *inits], result_types=types, regions=[Region(self._body)])
        super().__init__(_built(made))

    @property
    def body(self) -> BlockView:
        """The block of the body."""
        return BlockView(self._body)

    @property
    def induction_variable(self) -> Any:
        """The counter."""
        return show(self._body.args[0])

    @property
    def inner_iter_args(self) -> list[Any]:
        """The carried values at the start of an iteration."""
        return [show(argument) for argument in self._body.args[1:]]


class WhileOp(OpView):
    """``while_op = WhileOp(result types, inits)``; ``before`` ends with a `ConditionOp`, ``after`` with a `YieldOp`."""

    def __init__(self, results_: Sequence[Any], inits: Sequence[Any], *, loc: Any = None, ip: Any = None) -> None:
        require_tracing("scf.while")
        types = [ir_type(type_text(type_)) for type_ in results_]
        operands = [ssa_of(value) for value in inits]
        self.before = Block(arg_types=[value.type for value in operands])
        self.after = Block(arg_types=types)
        regions = [Region(self.before), Region(self.after)]
        super().__init__(_built(scf.WhileOp.create(operands=operands, result_types=types, regions=regions)))

    @property
    def before_arguments(self) -> list[Any]:
        """The carried values, for the condition."""
        return [show(argument) for argument in self.before.args]

    @property
    def after_arguments(self) -> list[Any]:
        """What the condition passes on, for the body."""
        return [show(argument) for argument in self.after.args]


class YieldOp(OpView):
    """The values a block gives back."""

    def __init__(self, operands: Sequence[Any] = (), *, loc: Any = None, ip: Any = None) -> None:
        require_tracing("scf.yield")
        super().__init__(_built(scf.YieldOp.create(operands=[ssa_of(value) for value in operands])))


class ConditionOp(OpView):
    """Whether a hand-built `while` goes on, and what its body, or the code behind it, gets."""

    def __init__(self, condition: Any, args: Sequence[Any] = (), *, loc: Any = None, ip: Any = None) -> None:
        require_tracing("scf.condition")
        values = [ssa_of(Boolean(condition)), *(ssa_of(value) for value in args)]
        super().__init__(_built(scf.ConditionOp.create(operands=values)))


def yield_(operands: Sequence[Any] = (), **accepted: Any) -> None:
    """End a block with the values it gives back."""
    YieldOp(operands)


def condition(holds: Any, args: Sequence[Any] = (), **accepted: Any) -> None:
    """End the first block of a `while`."""
    ConditionOp(holds, args)


__all__ = ["ConditionOp", "ForOp", "IfOp", "WhileOp", "YieldOp", "condition", "yield_"]
