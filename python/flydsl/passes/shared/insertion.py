"""Emitting operations in front of the one being rewritten, with shared constants.

Constants go to the top of the enclosing function, once each. Pure arithmetic is remembered per
region, so that an expression asked for twice is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from xdsl.dialects.arith import ConstantOp, IntegerOverflowAttr
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.dialects.scf import YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from flydsl.dialects.fly.ops import OP_CLASSES
from flydsl.dialects.fly.types import element_type, type_of, vector_type
from flydsl.dialects.upstream import created, op_class, put_before


class Inserter:
    """Inserts before an anchor inside one function."""

    wrapping: ClassVar[dict[str, Attribute]] = {"overflowFlags": IntegerOverflowAttr("none")}
    """Properties of integer arithmetic that may wrap."""

    def __init__(self, entry: Block) -> None:
        self.entry = entry
        self.anchor: Operation | None = None
        self._constants: dict[Any, SSAValue] = {}
        self._last_constant: Operation | None = None
        self._memo: list[dict[Any, Any]] = [{}]

    # Scopes ------------------------------------------------------------------------------------

    def enter(self) -> None:
        self._memo.append({})

    def leave(self) -> None:
        self._memo.pop()

    def remembered(self, key: Any) -> Any:
        """Return what was computed for ``key`` in this region or one around it."""
        for scope in reversed(self._memo):
            found = scope.get(key)
            if found is not None:
                return found
        return None

    def remember(self, key: Any, value: Any) -> Any:
        self._memo[-1][key] = value
        return value

    # Emission ----------------------------------------------------------------------------------

    def add(self, op: Operation) -> Operation:
        assert self.anchor is not None
        op.location = self.anchor.location
        put_before(op, self.anchor)
        return op

    def op(
        self, name: str, operands: Sequence[SSAValue], results: Sequence[Attribute] = (), properties: Any = None
    ) -> Any:
        """Return an upstream operation; its only result, or None."""
        op = self.add(created(op_class(name), operands, results, properties))
        return next(iter(op.results), None)

    def fly(
        self, name: str, operands: Sequence[SSAValue], results: Sequence[Attribute] = (), attributes: Any = None
    ) -> Any:
        """Return a fly operation; its only result, or None."""
        op = self.add(created(OP_CLASSES[name], operands, results, attributes=attributes))
        return next(iter(op.results), None)

    def at_entry(self, op: Operation) -> SSAValue:
        """Put an operation among the constants at the top of the function."""
        if self._last_constant is not None:
            self.entry.insert_op_after(op, self._last_constant)
        else:
            first = self.entry.first_op
            assert first is not None
            self.entry.insert_op_before(op, first)
        self._last_constant = op
        return op.results[0]

    def constant(self, elem: str, value: int | float) -> SSAValue:
        key = (elem, repr(value))
        found = self._constants.get(key)
        if found is None:
            type_ = element_type(elem)
            is_int = isinstance(type_, (IntegerType, IndexType))
            attr: Attribute = IntegerAttr(int(value), type_) if is_int else FloatAttr(value, type_)  # type: ignore[arg-type]
            found = self._constants[key] = self.at_entry(created(ConstantOp, (), [type_], {"value": attr}))
        return found

    def zeros(self, count: int, elem: str) -> SSAValue:
        """Return a vector of zeros."""
        key = ("zeros", count, elem)
        found = self._constants.get(key)
        if found is None:
            type_ = vector_type(count, elem)
            attr = DenseIntOrFPElementsAttr.from_list(type_, [0])  # type: ignore[arg-type]
            found = self._constants[key] = self.at_entry(
                ConstantOp.create(result_types=[type_], properties={"value": attr})
            )
        return found

    def undefined(self, type_: Attribute) -> SSAValue:
        """Return a value nobody set."""
        found = self._constants.get(("undefined", type_))
        if found is None:
            op = op_class("llvm.mlir.undef").create(result_types=[type_])
            found = self._constants["undefined", type_] = self.at_entry(op)
        return found

    def static(self, payload: Any) -> SSAValue:
        type_ = type_of(payload)
        found = self._constants.get(type_)
        if found is None:
            found = self._constants[type_] = self.at_entry(created(OP_CLASSES["static"], (), [type_]))
        return found

    def when(self, flag: SSAValue, then: Callable[[], SSAValue | None], otherwise: SSAValue | None) -> SSAValue | None:
        """Emit ``then`` under a predicate; its value, or ``otherwise`` where the predicate is false."""
        anchor = self.anchor
        block = Block([end := YieldOp.create()])
        if anchor is not None:
            end.location = anchor.location
        self.anchor = end
        self.enter()
        result = then()
        self.leave()
        self.anchor = anchor
        end.operands = [] if result is None else [result]
        orelse = Region() if otherwise is None else Region(Block([YieldOp.create(operands=[otherwise])]))
        types = [] if result is None else [result.type]
        op = op_class("scf.if").create(operands=[flag], result_types=types, regions=[Region(block), orelse])
        self.add(op)
        return op.results[0] if types else None
