"""Matrix operations as calls of LLVM intrinsics, whatever dialect operation carries them."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.rules.rules_llvm import emit_call_intrinsic
from flydsl.dialects.fly.payload_text import parse_instruction
from flydsl.passes.shared.matrix_atoms import INSTRUCTION
from flydsl.target.mma_facts import Intrinsic


def instruction_of(op: Operation) -> object | None:
    """The matrix instruction an operation is, if it is one."""
    text = op.attributes.get(INSTRUCTION)
    return parse_instruction(text.data) if isinstance(text, StringAttr) else None


def _call(emitter: FunctionEmitter, op: Operation) -> None:
    call: Intrinsic = instruction_of(op).intrinsic()  # type: ignore[union-attr]
    values = iter(op.operands)
    arguments = []
    for slot in call.slots:
        if slot.attr:
            arguments.append(f"{slot.type.llvm} {slot.value}")
        elif slot.value is not None:
            next(values)
            arguments.append(f"{slot.type.llvm} {slot.value}")
        else:
            arguments.append(emitter.typed(next(values)))
    emitter.define(op, f"call {call.result_type} @{call.name}({', '.join(arguments)})")


def _call_or(default: Rule) -> Rule:
    return lambda emitter, op: (_call if INSTRUCTION in op.attributes else default)(emitter, op)


def matrix_rules(module: Operation) -> dict[str, Rule]:
    """A rule for every operation of the module that is a matrix instruction; inline assembly says all by itself."""
    names = {op.name for op in module.walk() if INSTRUCTION in op.attributes} - {"llvm.inline_asm"}
    return {name: _call_or(emit_call_intrinsic) if name == "llvm.call_intrinsic" else _call for name in names}
