"""convert-cf-to-llvm: branches between blocks become the llvm dialect's, and block arguments get LLVM types.

cf.cond_br %c, ^a(%i : index), ^b    ->    llvm.cond_br %c, ^a(%j : i64), ^b
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import DenseArrayBase, i1, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from flydsl.dialects.upstream import op_class
from flydsl.passes.shared.llvm_conversion import cast_before, convert_block_arguments, llvm_type, remove
from flydsl.passes.shared.walk import functions


def convert_cf_to_llvm(module: Operation) -> None:
    """Run the pass on a module."""
    for function in functions(module):
        convert_branches(function)


def convert_branches(function: Operation) -> None:
    """Convert the branches of one function, whose own arguments are left to whoever converts the function."""
    region = function.regions[0]
    ends = [block.last_op for block in region.blocks]
    for op in ends:
        if op is not None and op.name in _CONVERSIONS:
            _CONVERSIONS[op.name](op)
    asserts = [op for block in region.blocks for op in block.ops if op.name == "cf.assert"]
    for op in asserts:
        _convert_assert(op)
    convert_block_arguments(region, skip_entry=True)


def _replaced(op: Operation, name: str, operands: list[SSAValue], properties: dict[str, Attribute]) -> None:
    values = [cast_before(value, llvm_type(value.type), op) for value in operands]
    new = op_class(name).create(operands=values, properties=properties, successors=list(op.successors))
    new.location = op.location
    assert op.parent is not None
    op.parent.insert_op_before(new, op)
    remove(op)


def _convert_br(op: Operation) -> None:
    _replaced(op, "llvm.br", list(op.operands), {})


def _convert_cond_br(op: Operation) -> None:
    _replaced(op, "llvm.cond_br", list(op.operands), {"operandSegmentSizes": op.properties["operandSegmentSizes"]})


def _convert_switch(op: Operation) -> None:
    properties = {name: op.properties[name] for name in _SWITCH_PROPERTIES if name in op.properties}
    _replaced(op, "llvm.switch", list(op.operands), properties)


_SWITCH_PROPERTIES = ("case_values", "case_operand_segments", "operandSegmentSizes")


def _convert_assert(op: Operation) -> None:
    """Stop the program where the condition is false."""
    before = op.parent
    assert before is not None and op.next_op is not None and before.parent is not None
    good = before.split_before(op.next_op)
    bad = Block()
    before.parent.insert_block_after(bad, before)
    for name in ("llvm.intr.trap", "llvm.unreachable"):
        made = op_class(name).create()
        made.location = op.location
        bad.add_op(made)
    test = op_class("llvm.cond_br").create(
        operands=[cast_before(op.operands[0], i1, op)],
        properties={"operandSegmentSizes": DenseArrayBase.from_list(i32, [1, 0, 0])},
        successors=[good, bad],
    )
    test.location = op.location
    remove(op)
    before.add_op(test)


_CONVERSIONS: dict[str, Callable[[Operation], None]] = {
    "cf.br": _convert_br,
    "cf.cond_br": _convert_cond_br,
    "cf.switch": _convert_switch,
}
