"""convert-scf-to-cf: structured loops and branches become blocks.

Input: any function. Output: the same without `scf` operations. A loop becomes a head that tests, a body and what
follows; the values it carries are arguments of the head. `codegen/rules/rules_scf.py` writes the same blocks.

    %r = scf.for %i = %a to %b step %c iter_args(%x = %y) -> (f32) { …; scf.yield %z : f32 }
 ->   cf.br ^head(%a, %y : i32, f32)
    ^head(%i: i32, %r: f32):
      %m = arith.cmpi slt, %i, %b : i32
      cf.cond_br %m, ^body, ^done
    ^body:
      …
      cf.br ^head(%n, %z : i32, f32)
    ^done:
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.arith import IntegerOverflowAttr, IntegerOverflowFlag
from xdsl.dialects.builtin import DenseArrayBase, DenseIntElementsAttr, IntegerAttr, VectorType, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from flydsl.dialects.upstream import op_class
from flydsl.passes.shared.llvm_conversion import remove
from flydsl.passes.shared.walk import function_bodies


def convert_scf_to_cf(module: Operation) -> None:
    """Run the pass on a module."""
    for body in function_bodies(module):
        _convert_region(body)


def _convert_region(region: Region) -> None:
    block = region.first_block
    while block is not None:
        op = next((op for op in block.ops if op.name in _LOWERINGS), None)
        if op is None:
            block = block.next_block
        else:
            _LOWERINGS[op.name](op)


# Building --------------------------------------------------------------------------------------


def _add(
    block: Block, name: str, operands: Sequence[SSAValue], results: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] | None = None, successors: Sequence[Block] = (), *, like: Operation,
) -> Operation:  # fmt: skip
    op = op_class(name).create(
        operands=operands, result_types=results, properties=dict(properties or {}), successors=successors
    )
    op.location = like.location
    block.add_op(op)
    return op


def _branch(block: Block, target: Block, operands: Sequence[SSAValue], like: Operation) -> None:
    _add(block, "cf.br", operands, successors=[target], like=like)


def _branch_if(block: Block, condition: SSAValue, first: Block, second: Block, like: Operation) -> None:
    sizes = {"operandSegmentSizes": DenseArrayBase.from_list(i32, [1, 0, 0])}
    _add(block, "cf.cond_br", [condition], [], sizes, [first, second], like=like)


def _split_after(op: Operation) -> tuple[Block, Block]:
    """Return the block of an operation, ending with it, and a block of what follows."""
    before, following = op.parent, op.next_op
    assert before is not None and following is not None
    return before, before.split_before(following)


def _insert_new(after: Block, argument_types: Sequence[Attribute] = ()) -> Block:
    block = Block(arg_types=argument_types)
    assert after.parent is not None
    after.parent.insert_block_after(block, after)
    return block


def _inline(region: Region, before: Block) -> list[Block]:
    """Move the blocks of an operation's region in front of a block."""
    blocks = list(region.blocks)
    region.move_blocks_before(before)
    return blocks


def _take_terminator(block: Block) -> list[SSAValue]:
    """Remove the yield at a block's end; what it yields."""
    last = block.last_op
    assert last is not None
    values = list(last.operands)
    remove(last)
    return values


def _replace_arguments(block: Block, values: Sequence[SSAValue]) -> None:
    for argument, value in zip(list(block.args), values, strict=True):
        argument.replace_all_uses_with(value)
        block.erase_arg(argument)


def _replace_results(op: Operation, values: Sequence[SSAValue]) -> None:
    for result, value in zip(op.results, values, strict=True):
        value.name_hint = value.name_hint or result.name_hint
        result.replace_all_uses_with(value)
    remove(op)


# Operations ------------------------------------------------------------------------------------


def _lower_for(op: Operation) -> None:
    lower, upper, step, *initial = op.operands
    before, done = _split_after(op)
    head = _insert_new(before, [argument.type for argument in op.regions[0].block.args])
    (body, *_) = _inline(op.regions[0], done)
    for old, new in zip(body.args, head.args, strict=True):
        new.name_hint = old.name_hint
    _replace_arguments(body, head.args)
    unsigned = "unsignedCmp" in op.properties or "unsignedCmp" in op.attributes
    counter, *carried = head.args
    predicate = {"predicate": IntegerAttr(6 if unsigned else 2, i64)}
    more = _add(head, "arith.cmpi", [counter, upper], [i1], predicate, like=op)
    _branch_if(head, more.results[0], body, done, op)

    results = _take_terminator(body)
    flag = IntegerOverflowFlag.NUW if unsigned else IntegerOverflowFlag.NSW
    wrap: dict[str, Attribute] = {"overflowFlags": IntegerOverflowAttr([flag])}
    following = _add(body, "arith.addi", [counter, step], [counter.type], wrap, like=op)
    _branch(body, head, [following.results[0], *results], op)
    _replace_results(op, carried)
    _branch(before, head, [lower, *initial], op)


def _lower_while(op: Operation) -> None:
    before, done = _split_after(op)
    initial = list(op.operands)
    (head, *_) = _inline(op.regions[0], done)
    (body, *_) = _inline(op.regions[1], done)
    condition, *passed = _take_terminator(head)
    _branch_if(head, condition, body, done, op)
    _replace_arguments(body, passed)
    _branch(body, head, _take_terminator(body), op)
    _replace_results(op, passed)
    _branch(before, head, initial, op)


def _lower_if(op: Operation) -> None:
    condition = op.operands[0]
    before, done = _split_after(op)
    arms = [_inline(region, done)[0] if region.blocks else done for region in op.regions]
    results = [done.insert_arg(result.type, index) for index, result in enumerate(op.results)]
    for arm in arms:
        if arm is not done:
            _branch(arm, done, _take_terminator(arm), op)
    _replace_results(op, results)
    _branch_if(before, condition, arms[0], arms[1] if len(arms) > 1 else done, op)


def _lower_index_switch(op: Operation) -> None:
    """Regions: the default first, then one for each case value."""
    selector = op.operands[0]
    before, done = _split_after(op)
    arms = [_inline(region, done)[0] for region in op.regions]
    results = [done.insert_arg(result.type, index) for index, result in enumerate(op.results)]
    for arm in arms:
        _branch(arm, done, _take_terminator(arm), op)
    values = list(op.properties["cases"].get_values())  # type: ignore[union-attr]
    _replace_results(op, results)
    flag = _add(before, "arith.index_cast", [selector], [i64], like=arms[0].last_op or op).results[0]
    properties: dict[str, Attribute] = {
        "case_values": DenseIntElementsAttr.from_list(VectorType(i64, [len(values)]), values),
        "case_operand_segments": DenseArrayBase.from_list(i32, [0] * len(values)),
        "operandSegmentSizes": DenseArrayBase.from_list(i32, [1, 0, 0]),
    }
    _add(before, "cf.switch", [flag], [], properties, arms, like=arms[0].last_op or op)


def _lower_execute_region(op: Operation) -> None:
    before, done = _split_after(op)
    blocks = _inline(op.regions[0], done)
    results = [done.insert_arg(result.type, index) for index, result in enumerate(op.results)]
    for block in blocks:
        if block.last_op is not None and block.last_op.name == "scf.yield":
            _branch(block, done, _take_terminator(block), op)
    _replace_results(op, results)
    _branch(before, blocks[0], [], blocks[0].last_op or op)


_LOWERINGS: dict[str, Callable[[Operation], None]] = {
    "scf.for": _lower_for,
    "scf.while": _lower_while,
    "scf.if": _lower_if,
    "scf.index_switch": _lower_index_switch,
    "scf.execute_region": _lower_execute_region,
}
