"""The walk that lowers the layout algebra: which fly value stands for which payload of run-time leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from flydsl.base.errors import FlyDSLError, LoweringError
from flydsl.dialects.fly.ops import FlyOp
from flydsl.dialects.fly.payload import TiledCopy, TiledMma, is_static_payload
from flydsl.dialects.fly.types import FlyType, IntTupleType, LayoutType, PtrType, payload_of, type_of
from flydsl.dialects.upstream import ops_of, replace_uses
from flydsl.layout import int_tuple as it
from flydsl.layout.leaf import DynInt
from flydsl.layout.tensor import Tensor
from flydsl.passes.shared.insertion import Inserter
from flydsl.passes.shared.ssa_leaf import SsaInt, SsaPointer, register
from flydsl.passes.shared.walk import located, take_out

Handler = Callable[["LayoutLowering", FlyOp], None]


class LayoutLowering:
    """One forward walk over a function; ``known`` maps each fly value to its lowered payload."""

    def __init__(self, entry: Block, handlers: Mapping[str, Handler], otherwise: Handler) -> None:
        self.handlers = handlers
        self.otherwise = otherwise
        self.at = Inserter(entry)
        self.known: dict[SSAValue, Any] = {}
        self.done: list[Operation] = []

    def run(self, region: Region) -> None:
        self._region(region)
        gone = set(self.done)
        for op in self.done:
            for use in (use for result in op.results for use in result.uses if use.operation not in gone):
                raise located(_left_over(use.operation, op.results[0].type), use.operation)
        for op in reversed(self.done):
            take_out(op)

    def _region(self, region: Region) -> None:
        for block in region.blocks:
            self.at.enter()
            for op in ops_of(block):
                if isinstance(op, FlyOp):
                    self._op(op)
                else:
                    self._hand_on_pointers(op)
                for inner in op.regions:
                    self._region(inner)
            self.at.leave()

    def _hand_on_pointers(self, op: Operation) -> None:
        """A pointer carried by other operations (a loop, a branch) is handed on with its offsets applied."""
        for index, operand in enumerate(op.operands):
            moved = self.known.get(operand)
            if isinstance(moved, SsaPointer):
                self.at.anchor = op
                value = moved.value()
                if value.type != operand.type:
                    value = self.at.fly("recast_iter", [value], [operand.type])
                op.operands[index] = value
            elif op.name == "func.return" and isinstance(operand.type, (IntTupleType, LayoutType)):
                self.at.anchor = op
                op.operands[index] = self._rebuilt(self.payload(operand), operand.type)

    def _rebuilt(self, payload: Any, type_: Any) -> SSAValue:
        """Return a tuple or layout that a function returns, made anew of its leaves: its caller takes it as it is."""
        if isinstance(type_, LayoutType):
            parts = ((payload.shape, type_.data.shape), (payload.stride, type_.data.stride))
            return self.at.fly("make_layout", [self._rebuilt(part, type_of(known)) for part, known in parts], [type_])
        leaves = zip(it.leaves(payload), it.leaves(type_.data), strict=True)
        values = [register(self.at, leaf, known.width) for leaf, known in leaves if isinstance(known, DynInt)]
        return self.at.fly("make_int_tuple", values, [type_])

    def _op(self, op: FlyOp) -> None:
        handler = self.handlers.get(op.spec.name, self.otherwise)
        self.at.anchor = op
        try:
            handler(self, op)
        except FlyDSLError as error:
            raise located(error, op) from error

    # Values ------------------------------------------------------------------------------------

    def payload(self, value: SSAValue) -> Any:
        """Return the lowered payload of an operand."""
        found = self.known.get(value)
        if found is not None:
            return found
        type_ = value.type
        if isinstance(type_, PtrType):
            found = SsaPointer(self.at, value, type_.data)
        elif isinstance(type_, IntegerType):
            found = SsaInt(self.at, value, type_.width.data)
        elif isinstance(type_, FlyType) and not is_static_payload(type_.data):
            raise LoweringError(
                f"a value of type {type_} comes from outside", hint="run fly-rewrite-func-signature first"
            )
        else:
            found = payload_of(type_)
        self.known[value] = found
        return found

    def operands(self, op: Operation) -> list[Any]:
        return [self.payload(o) for o in op.operands]

    def set(self, op: Operation, payload: Any) -> None:
        """``op`` stands for ``payload`` from here on and goes away."""
        self.known[op.results[0]] = payload
        self.done.append(op)

    def replace(self, op: Operation, value: SSAValue | None = None) -> None:
        """``op`` goes away; its result is ``value``."""
        if value is not None:
            replace_uses(op.results[0], value)
        self.done.append(op)

    def view(self, tensor: Tensor) -> SSAValue:
        """Return a tensor of static layout as a value."""
        if not is_static_payload(tensor.layout):
            raise LoweringError(
                f"an instruction works on elements whose places are known, got {tensor.layout}",
                hint="use an instruction that moves one element, or a tensor with static strides",
            )
        pointer = tensor.iter.value()
        info = Tensor(pointer.type.data, tensor.layout)
        return self.at.fly("make_view", [pointer, self.at.static(tensor.layout)], [type_of(info)])

    def atom(self, op: FlyOp) -> tuple[SSAValue, Any]:
        """Return the atom an operation works with, as a value and as a payload; a tiled one repeats its atom."""
        value, payload = op.operands[0], self.payload(op.operands[0])
        if isinstance(payload, (TiledCopy, TiledMma)):
            return self.at.static(payload.atom), payload.atom
        return value, payload


def _left_over(user: Operation, type_: Attribute) -> LoweringError:
    return LoweringError(
        f"{user.name} hands on a value of type {type_}, which has no run-time form",
        hint="run fly-rewrite-func-signature first",
    )
