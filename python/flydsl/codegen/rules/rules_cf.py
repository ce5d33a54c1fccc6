"""The cf and func dialects: branches between blocks, calls and returns."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue

from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import results_text, type_text
from flydsl.codegen.reading.op_flags import fastmath_text
from flydsl.codegen.reading.op_view import fail, ints_prop, prop, symbol_prop


def emit_br(emitter: FunctionEmitter, op: Operation) -> None:
    emitter.branch(emitter.edge(op.successors[0], op.operands))


def emit_cond_br(emitter: FunctionEmitter, op: Operation) -> None:
    condition, then_args, else_args = _cond_operands(op)
    then_block, else_block = op.successors
    if then_block is not else_block:
        labels = emitter.edge(then_block, then_args), emitter.edge(else_block, else_args)
        emitter.branch_if(emitter.operand(condition), *labels)
        return
    # A phi cannot tell two edges from one block apart, so each edge to a shared target gets its own.
    names = [emitter.fresh_label("edge"), emitter.fresh_label("edge")]
    emitter.branch_if(emitter.operand(condition), names[0], names[1])
    for name, arguments in zip(names, (then_args, else_args)):
        _emit_edge_block(emitter, name, then_block, arguments)


def emit_switch(emitter: FunctionEmitter, op: Operation) -> None:
    """Each target gets a block of its own, since several cases may share a target."""
    values = ints_prop(op, "case_values")
    groups = _switch_operands(op)
    labels = [emitter.fresh_label("case") for _ in op.successors]
    flag = op.operands[0]
    type_ = type_text(flag.type)
    cases = " ".join(f"{type_} {value}, label %{label}" for value, label in zip(values, labels[1:], strict=True))
    emitter.line(f"switch {type_} {emitter.operand(flag)}, label %{labels[0]} [ {cases} ]")
    for label, block, arguments in zip(labels, op.successors, groups, strict=True):
        _emit_edge_block(emitter, label, block, arguments)


def emit_assert(emitter: FunctionEmitter, op: Operation) -> None:
    """Stops the program where the condition is false. Printing the message is a backend's own rule."""
    good, bad = emitter.fresh_label("assert.ok"), emitter.fresh_label("assert.fail")
    emitter.branch_if(emitter.operand(op.operands[0]), good, bad)
    emitter.start_block(bad)
    emitter.line("call void @llvm.trap()")
    emitter.line("unreachable")
    emitter.start_block(good)


def emit_return(emitter: FunctionEmitter, op: Operation) -> None:
    if not op.operands:
        emitter.line("ret void")
    elif len(op.operands) == 1:
        emitter.line(f"ret {emitter.typed(op.operands[0])}")
    else:
        type_ = results_text(tuple(value.type for value in op.operands))
        packed = "poison"
        for position, value in enumerate(op.operands):
            packed = emitter.assign(f"insertvalue {type_} {packed}, {emitter.typed(value)}, {position}")
        emitter.line(f"ret {type_} {packed}")


def emit_call(emitter: FunctionEmitter, op: Operation) -> None:
    """func.call and llvm.call: to a symbol, or through a pointer in the first operand."""
    name = symbol_prop(op, "callee")
    arguments = list(op.operands)
    result = results_text(tuple(value.type for value in op.results))
    variadic = prop(op, "var_callee_type")
    if name is not None:
        callee = emitter.scope.declare(name, result, [type_text(value.type) for value in arguments])
    elif arguments:
        callee = emitter.operand(arguments.pop(0))
    else:
        fail(op, "the call names no function")
    signature = type_text(variadic) if variadic is not None else result
    listed = ", ".join(emitter.typed(value) for value in arguments)
    text = f"call {fastmath_text(op)}{signature} {callee}({listed})"
    bind_call_results(emitter, op, result, text)


def bind_call_results(emitter: FunctionEmitter, op: Operation, result: str, text: str) -> None:
    """Write a call and name its results: none, the value itself, or the members of a struct."""
    if not op.results:
        emitter.line(text)
    elif len(op.results) == 1:
        emitter.define(op, text)
    else:
        packed = emitter.assign(text)
        for position in range(len(op.results)):
            emitter.define(op, f"extractvalue {result} {packed}, {position}", position)


def emit_unreachable(emitter: FunctionEmitter, op: Operation) -> None:
    emitter.line("unreachable")


def _emit_edge_block(emitter: FunctionEmitter, label: str, target: Block, arguments: list[SSAValue]) -> None:
    emitter.start_block(label)
    emitter.branch(emitter.edge(target, arguments))


def _cond_operands(op: Operation) -> tuple[SSAValue, list[SSAValue], list[SSAValue]]:
    """Condition, arguments of the true edge, arguments of the false edge."""
    sizes = ints_prop(op, "operandSegmentSizes")
    count = sizes[1] if len(sizes) == 3 else len(op.successors[0].args)
    rest = list(op.operands[1:])
    return op.operands[0], rest[:count], rest[count:]


def _switch_operands(op: Operation) -> list[list[SSAValue]]:
    """Arguments of each edge, default first. The targets' own arities say how the list is cut."""
    rest = list(op.operands[1:])
    groups: list[list[SSAValue]] = []
    for block in op.successors:
        count = len(block.args)
        groups.append(rest[:count])
        rest = rest[count:]
    return groups


RULES: dict[str, Rule] = {
    "cf.br": emit_br,
    "cf.cond_br": emit_cond_br,
    "cf.switch": emit_switch,
    "cf.assert": emit_assert,
    "llvm.br": emit_br,
    "llvm.cond_br": emit_cond_br,
    "llvm.switch": emit_switch,
    "llvm.return": emit_return,
    "llvm.call": emit_call,
    "llvm.unreachable": emit_unreachable,
    "func.return": emit_return,
    "func.call": emit_call,
    "gpu.return": emit_return,
}
