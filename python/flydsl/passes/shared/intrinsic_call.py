"""Calls: of a target's intrinsic, in the one form upstream MLIR has for any, and of the launcher's own functions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, StringAttr, SymbolRefAttr, UnitAttr, i64
from xdsl.dialects.llvm import (
    CallingConventionAttr,
    FastMathAttr,
    LinkageAttr,
    LLVMFunctionType,
    LLVMVoidType,
    TailCallKind,
    TailCallKindAttr,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue

from flydsl.base.errors import LoweringError
from flydsl.dialects.fly.ops import FlyOp
from flydsl.dialects.upstream import integers, op_class
from flydsl.passes.shared.insertion import Inserter

PTX_NAME = "fly.ptx"
"""Attribute of inline assembly: the instruction's name in `target.ptx`, or of another table that says so."""


def call_properties(name: str, operands: int) -> dict[str, Attribute]:
    """Return the properties of an `llvm.call_intrinsic` with plain operands."""
    return {
        "intrin": StringAttr(name),
        "op_bundle_sizes": integers(32),
        "operandSegmentSizes": integers(32, operands, 0),
    }


def asm_properties(text: str, constraints: str) -> dict[str, Attribute]:
    """Return the properties of an `llvm.inline_asm` that may not be moved or dropped."""
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


def native_declaration(symbol: str, arguments: Sequence[Attribute], result: Attribute | None) -> Operation:
    """Return the declaration of a function that the launcher has."""
    return op_class("llvm.func").create(
        properties={
            "sym_name": StringAttr(symbol),
            "function_type": LLVMFunctionType(list(arguments), result or LLVMVoidType()),
            "CConv": CallingConventionAttr("ccc"),
            "linkage": LinkageAttr("external"),
            "visibility_": IntegerAttr(0, i64),
        },
        regions=[Region()],
    )


def native_call(
    symbol: str, operands: Sequence[SSAValue], result: Attribute | None, marks: dict[str, str]
) -> Operation:
    """Return a call of such a function in host code, with text attributes that the launcher reads."""
    return op_class("llvm.call").create(
        operands=operands,
        result_types=[] if result is None else [result],
        properties={
            "callee": SymbolRefAttr(symbol), "fastmathFlags": FastMathAttr("none"),
            "CConv": CallingConventionAttr("ccc"), "op_bundle_sizes": integers(32),
            "TailCallKind": TailCallKindAttr(TailCallKind.NONE),
            "operandSegmentSizes": integers(32, len(operands), 0),
        },
        attributes={name: StringAttr(text) for name, text in marks.items()},
    )  # fmt: skip


# The run-time state of an atom, read back from the chain of `atom.set_value` that made it -----


_MAKERS = ("make_copy_atom", "make_mma_atom", "static")


def atom_state(atom: SSAValue) -> dict[str, SSAValue]:
    """Field to the value set last."""
    found: dict[str, SSAValue] = {}
    made = atom.owner
    while isinstance(made, FlyOp) and made.spec.name == "atom.set_value":
        found.setdefault(made.attrs["field"], made.operands[1])
        made = made.operands[0].owner
    if not (isinstance(made, FlyOp) and made.spec.name in _MAKERS):
        raise LoweringError(
            f"the state of the atom {atom.type} is not known here: it comes through a loop, a branch or an argument",
            hint="make the atom and set its state in the same block as the call, or give the state to the call: "
            "gemm(..., scale_a=..., scale_b=...)",
        )
    return found
