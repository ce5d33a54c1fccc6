"""The scf dialect: structured loops and branches as basic blocks with phis.

Every rule starts in whatever block the emitter is in and leaves it in a fresh one, so nesting needs no
further care. Predecessor labels are read when the branch is written: the body may have moved on by then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Block, Operation, Region, SSAValue

from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import type_text
from flydsl.codegen.reading.op_view import fail, flag_prop, ints_prop, op_name


def emit_for(emitter: FunctionEmitter, op: Operation) -> None:
    lower, upper, step = (emitter.operand(value) for value in op.operands[:3])
    emit_stretch(emitter, op, (lower, upper, step), [emitter.operand(value) for value in op.operands[3:]])


def emit_stretch(emitter: FunctionEmitter, op: Operation, bounds: tuple[str, str, str], initial: Sequence[str]) -> None:
    """A loop, or part of one: from some number to another, with what it carries into the first iteration."""
    lower, upper, step = bounds
    body = op.regions[0].block
    counter, carried = body.args[0], body.args[1:]
    type_ = type_text(counter.type)
    head, inside, done = (emitter.fresh_label(f"for.{part}") for part in ("head", "body", "done"))
    before = emitter.current_label

    emitter.branch(head)
    emitter.start_block(head)
    slots = _open_phis(emitter, body.args)
    unsigned = flag_prop(op, "unsignedCmp")
    more = emitter.assign(f"icmp {'ult' if unsigned else 'slt'} {type_} {emitter.operand(counter)}, {upper}")
    emitter.branch_if(more, inside, done)

    emitter.start_block(inside)
    results = _yielded(emitter, body, "scf.yield")
    wrap = "nuw" if unsigned else "nsw"
    following = emitter.assign(f"add {wrap} {type_} {emitter.operand(counter)}, {step}")
    latch = emitter.current_label
    emitter.branch(head)

    incoming = [[(start, before), (again, latch)] for start, again in zip([lower, *initial], [following, *results])]
    _close_phis(emitter, body.args, slots, incoming)
    emitter.start_block(done)
    for result, argument in zip(op.results, carried, strict=True):
        emitter.bind(result, emitter.operand(argument))


def emit_if(emitter: FunctionEmitter, op: Operation) -> None:
    condition = emitter.operand(op.operands[0])
    then_region, else_region = op.regions[0], op.regions[1] if len(op.regions) > 1 else None
    has_else = else_region is not None and bool(else_region.blocks)
    then_label, done = emitter.fresh_label("if.then"), emitter.fresh_label("if.done")
    else_label = emitter.fresh_label("if.else") if has_else else done
    emitter.branch_if(condition, then_label, else_label)

    arms = [_emit_arm(emitter, then_region, then_label, done)]
    if else_region is not None and has_else:
        arms.append(_emit_arm(emitter, else_region, else_label, done))
    emitter.start_block(done)
    _merge(emitter, op.results, arms)


def emit_index_switch(emitter: FunctionEmitter, op: Operation) -> None:
    """Regions: the default first, then one for each case value."""
    done = emitter.fresh_label("switch.done")
    labels = [emitter.fresh_label("switch.case") for _ in op.regions]
    selector = op.operands[0]
    type_ = type_text(selector.type)
    cases = " ".join(
        f"{type_} {value}, label %{label}" for value, label in zip(ints_prop(op, "cases"), labels[1:], strict=True)
    )
    emitter.line(f"switch {type_} {emitter.operand(selector)}, label %{labels[0]} [ {cases} ]")
    arms = [_emit_arm(emitter, region, label, done) for region, label in zip(op.regions, labels)]
    emitter.start_block(done)
    _merge(emitter, op.results, arms)


def emit_while(emitter: FunctionEmitter, op: Operation, begin_iteration: Callable[[], None] = lambda: None) -> None:
    """``begin_iteration`` writes what comes in front of each iteration."""
    before_block, after_block = (region.block for region in op.regions)
    initial = [emitter.operand(value) for value in op.operands]
    head, inside, done = (emitter.fresh_label(f"while.{part}") for part in ("head", "body", "done"))
    entry = emitter.current_label

    emitter.branch(head)
    emitter.start_block(head)
    slots = _open_phis(emitter, before_block.args)
    condition = emitter.emit_block_body(before_block)
    if op_name(condition) != "scf.condition":
        fail(condition, "the first region of a while loop must end in scf.condition")
    passed = [emitter.operand(value) for value in condition.operands[1:]]
    emitter.branch_if(emitter.operand(condition.operands[0]), inside, done)

    emitter.start_block(inside)
    begin_iteration()
    for argument, text in zip(after_block.args, passed, strict=True):
        emitter.bind(argument, text)
    results = _yielded(emitter, after_block, "scf.yield")
    latch = emitter.current_label
    emitter.branch(head)

    incoming = [[(start, entry), (again, latch)] for start, again in zip(initial, results, strict=True)]
    _close_phis(emitter, before_block.args, slots, incoming)
    emitter.start_block(done)
    for result, text in zip(op.results, passed, strict=True):
        emitter.bind(result, text)


def emit_execute_region(emitter: FunctionEmitter, op: Operation) -> None:
    if len(op.regions[0].blocks) != 1:
        fail(op, "a region of several blocks is not supported here", hint="run convert-scf-to-cf first")
    for result, text in zip(op.results, _yielded(emitter, op.regions[0].block, "scf.yield"), strict=True):
        emitter.bind(result, text)


def _emit_arm(emitter: FunctionEmitter, region: Region, label: str, done: str) -> tuple[str, list[str]]:
    """Return one branch of an if or switch; returns the label it leaves from and what it yields."""
    emitter.start_block(label)
    results = _yielded(emitter, region.block, "scf.yield")
    last = emitter.current_label
    emitter.branch(done)
    return last, results


def _merge(emitter: FunctionEmitter, results: Sequence[SSAValue], arms: list[tuple[str, list[str]]]) -> None:
    for position, result in enumerate(results):
        emitter.phi(result, [(texts[position], label) for label, texts in arms])


def _yielded(emitter: FunctionEmitter, block: Block, terminator: str) -> list[str]:
    last = emitter.emit_block_body(block)
    if op_name(last) != terminator:
        fail(last, f"expected {terminator} at the end of this region")
    return [emitter.operand(value) for value in last.operands]


def _open_phis(emitter: FunctionEmitter, arguments: Sequence[SSAValue]) -> list[int]:
    slots = [emitter.reserve_line() for _ in arguments]
    for argument in arguments:
        emitter.bind(argument, emitter.fresh(argument.name_hint or "v"))
    return slots


def _close_phis(
    emitter: FunctionEmitter, arguments: Sequence[SSAValue], slots: list[int], incoming: list[list[tuple[str, str]]]
) -> None:
    for argument, slot, pairs in zip(arguments, slots, incoming, strict=True):
        emitter.fill_phi(slot, emitter.operand(argument), type_text(argument.type), pairs)


RULES: dict[str, Rule] = {
    "scf.for": emit_for,
    "scf.if": emit_if,
    "scf.while": emit_while,
    "scf.index_switch": emit_index_switch,
    "scf.execute_region": emit_execute_region,
}
