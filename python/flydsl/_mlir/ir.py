"""Insertion points and type getters, as kernels written against MLIR's Python bindings use them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.scf import YieldOp
from xdsl.ir import Block, SSAValue

from flydsl.expr.trace.context import current
from flydsl.expr.values.ir_types import IrType, vector_type

Value = SSAValue


class InsertionPoint:
    """``with InsertionPoint(block):`` builds into a block of the kernel being traced.

    The body of the gpu module is accepted too and changes nothing: kernels and shared memory find their own place.
    """

    def __init__(self, block: Any) -> None:
        self.block: Block = block
        self._outer: Block | None = None

    @property
    def _is_module_body(self) -> bool:
        emitter: Any = current()
        return self.block is emitter.builder.gpu_module_body

    def __enter__(self) -> InsertionPoint:
        if self._is_module_body:
            return self
        emitter: Any = current()
        last = self.block.last_op
        if isinstance(last, YieldOp) and not last.operands:
            last.detach()  # the terminator follows what is about to be built
            last.erase()
        self._outer, emitter.block = emitter.block, self.block
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_module_body:
            return
        emitter: Any = current()
        if not isinstance(self.block.last_op, YieldOp):
            emitter.add(YieldOp.create())
        emitter.block = self._outer


class IndexType:
    @staticmethod
    def get() -> IrType:
        return IrType("index")


class IntegerType:
    @staticmethod
    def get_signless(width: int) -> IrType:
        return IrType(f"i{width}")


class F16Type:
    @staticmethod
    def get() -> IrType:
        return IrType("f16")


class BF16Type:
    @staticmethod
    def get() -> IrType:
        return IrType("bf16")


class F32Type:
    @staticmethod
    def get() -> IrType:
        return IrType("f32")


class F64Type:
    @staticmethod
    def get() -> IrType:
        return IrType("f64")


class VectorType:
    @staticmethod
    def get(shape: Sequence[int], element: str) -> IrType:
        count = 1
        for extent in shape:
            count *= extent
        return vector_type(count, element)


__all__ = [
    "BF16Type", "F16Type", "F32Type", "F64Type", "IndexType", "InsertionPoint", "IntegerType", "Value", "VectorType",
]  # fmt: skip
