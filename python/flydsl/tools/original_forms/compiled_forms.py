"""From the original's forms to those that the passes behind stage A take.

Packed structs become plain ones, in kernels and launches alike, and immediates of matrix instructions operands, as LLVM
22 has them; the rest of what the original's forms hold are operations that those passes know.
"""

from __future__ import annotations

from functools import cache

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DenseArrayBase, FunctionType, IntegerAttr, StringAttr
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, Operation

from flydsl.base.errors import LoweringError
from flydsl.dialects.upstream_syntax import PackedStructType, row_of
from flydsl.passes.shared.matrix_atoms import INSTRUCTION
from flydsl.passes.shared.walk import located
from flydsl.target.mma_cdna import MFMA_ROWS, Mfma

LATER = (
    "convert-gpu-to-rocdl", "convert-gpu-to-nvvm", "gpu-to-llvm", "convert-cf-to-llvm", "convert-func-to-llvm",
    "gpu-module-to-binary",
)  # fmt: skip
"""The passes that need these forms."""


def _plain(type_: Attribute) -> Attribute:
    if isinstance(type_, (PackedStructType, LLVMStructType)):
        return LLVMStructType(type_.struct_name, type(type_.types)([_plain(part) for part in type_.types.data]))
    if isinstance(type_, FunctionType):
        return FunctionType.from_lists([_plain(t) for t in type_.inputs.data], [_plain(t) for t in type_.outputs.data])
    return type_


def _spell_out(op: Operation) -> None:
    """Immediates of a matrix instruction as constants among its operands, in their places."""
    row = row_of(op.name)
    assert row is not None and op.parent is not None
    given = iter(op.operands)
    operands = []
    for slot in row.slots:
        if slot == "%":
            operands.append(next(given))
            continue
        number = op.properties.pop(slot.split(":")[0])
        assert isinstance(number, IntegerAttr)
        constant = ConstantOp.create(result_types=[number.type], properties={"value": number})
        op.parent.insert_op_before(constant, op)
        operands.append(constant.results[0])
    op.operands = operands
    instruction = _instructions().get(op.name)
    if instruction is not None:
        op.attributes[INSTRUCTION] = StringAttr(instruction)


@cache
def _instructions() -> dict[str, str]:
    """Matrix operation to the instruction that back ends look up in the table."""
    return {f"rocdl.{row.suffix}": str(Mfma(*row.shape, *row.elems)) for row in MFMA_ROWS}


def as_compiled(module: Operation) -> None:
    """Bring a module into the compiler's forms."""
    for op in list(module.walk()):
        for result in op.results:
            result._type = _plain(result.type)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    argument._type = _plain(argument.type)
        if "function_type" in op.properties:
            op.properties["function_type"] = _plain(op.properties["function_type"])
        if op.name.startswith("rocdl.mfma") and "cbsz" in op.properties:
            _spell_out(op)


def check_copies(module: Operation) -> None:
    """Refuse a predicated load that says not what stays where its predicate is false: the compiler's form has it."""
    for op in module.walk():
        sizes = op.attributes.get("operandSegmentSizes") if op.name == "fly.copy_atom_call_ssa" else None
        if isinstance(sizes, DenseArrayBase) and tuple(sizes.get_values()) == (1, 1, 0, 1):
            error = LoweringError(
                "a predicated copy without a destination is a form of the original's", hint="run without --as-compiled"
            )
            raise located(error, op)
