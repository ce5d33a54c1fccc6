"""How operations that differ on the host are written as LLVM text."""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import type_text


def _alloca(emitter: FunctionEmitter, op: Operation) -> None:
    """Registers live on the stack; the host's stack is in address space 0."""
    elem = type_text(op.properties["elem_type"])
    align = op.properties["alignment"].value.data  # type: ignore[union-attr]
    slot = emitter.fresh("reg")
    emitter.entry_line(f"{slot} = alloca {elem}, i64 {emitter.operand(op.operands[0])}, align {align}")
    wanted = type_text(op.results[0].type)
    if wanted == "ptr":
        emitter.bind(op.results[0], slot)
    else:
        emitter.define(op, f"addrspacecast ptr {slot} to {wanted}")


HOST_RULES: dict[str, Rule] = {"llvm.alloca": _alloca}
