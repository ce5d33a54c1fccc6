"""ldmatrix and stmatrix: a warp moves 8x8 blocks of 16-bit elements between shared memory and fragments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.expr.numeric import Int32
from flydsl.expr.tensors.pointer import Pointer
from flydsl.expr.tensors.tensor import pointer_of
from flydsl.expr.trace.context import Value, current
from flydsl.expr.trace.intrinsic import call, require
from flydsl.expr.vector import Vector
from flydsl.target.copy_nvvm import ROW_BYTES, LdMatrix, StMatrix


def _row(place: Any) -> Value:
    """Return the shared-memory address of the row that this lane names."""
    pointer = pointer_of(place, ROW_BYTES, plain="a matrix move")
    if not isinstance(pointer, Pointer) or pointer.payload.space != "shared":
        raise DslTypeError(f"a matrix move takes a pointer to shared memory, got {place!r}")
    return current().fly("to_llvm_ptr", [pointer.ir_value()], None, "!llvm.ptr<3>")


def ldmatrix(row: Any, count: int = 4, *, transposed: bool = False) -> Vector:
    """``count`` 8x8 matrices of 16-bit elements; lane 8*i + r names row r of matrix i. One 32-bit word of each."""
    require("ldmatrix", "cuda")
    name = LdMatrix(count, transposed).intrinsic_name()
    if count == 1:
        return Vector.from_elements([Int32(call(name, [_row(row)], "i32"))], Int32)
    struct = call(name, [_row(row)], f"!llvm.struct<({', '.join(['i32'] * count)})>")
    words = [current().op("llvm.extractvalue", [struct], "i32", {"position": [i]}) for i in range(count)]
    return Vector.from_elements([Int32(word) for word in words], Int32)


def stmatrix(row: Any, words: Sequence[Any] | Vector, *, transposed: bool = False) -> None:
    """Write 8x8 matrices of 16-bit elements, a 32-bit word of each per lane; lane 8*i + r names row r of matrix i."""
    require("stmatrix", "cuda", ("hopper",))
    values = list(words.bitcast(Int32)) if isinstance(words, Vector) else list(words)
    operands = [Int32(value).ir_value() for value in values]
    call(StMatrix(len(operands), transposed).intrinsic_name(), [_row(row), *operands])


__all__ = ["ldmatrix", "stmatrix"]
