"""A call of a target's intrinsic, in the one form upstream MLIR has for any of them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, UnitAttr, i32
from xdsl.ir import Attribute, SSAValue

from flydsl.passes.insertion import Inserter

PTX_NAME = "fly.ptx"
"""Attribute of inline assembly: the instruction's name in `target.ptx`, or of another table that says so."""


def call_properties(name: str, operands: int) -> dict[str, Attribute]:
    """The properties of an `llvm.call_intrinsic` with plain operands."""
    return {
        "intrin": StringAttr(name),
        "op_bundle_sizes": DenseArrayBase.from_list(i32, []),
        "operandSegmentSizes": DenseArrayBase.from_list(i32, [operands, 0]),
    }


def asm_properties(text: str, constraints: str) -> dict[str, Attribute]:
    """The properties of an `llvm.inline_asm` that may not be moved or dropped."""
    return {
        "asm_string": StringAttr(text),
        "constraints": StringAttr(constraints),
        "has_side_effects": UnitAttr(),
    }


def call_intrinsic(
    at: Inserter, name: str, operands: Sequence[SSAValue], results: Sequence[Attribute] = ()
) -> SSAValue:
    """Emit a call; its result, or None for a call that has none."""
    return at.op("llvm.call_intrinsic", operands, results, call_properties(name, len(operands)))
