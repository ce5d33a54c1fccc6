"""How operations that are the same in every thread, but special on the host, are written."""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.literals import quoted


def _printf(emitter: FunctionEmitter, op: Operation) -> None:
    """Through the C library, whose calls are whole even from many threads."""
    text = op.properties["format"].data.encode() + b"\0"  # type: ignore[union-attr]
    name = f"fly.text.{emitter.scope.text_number(text)}"
    emitter.scope.add_global(name, f'private unnamed_addr constant [{len(text)} x i8] c"{quoted(text)}"')
    emitter.scope.add_declaration("printf", "declare i32 @printf(ptr, ...)")
    arguments = "".join(f", {emitter.typed(value)}" for value in op.operands)
    emitter.line(f"call i32 (ptr, ...) @printf(ptr @{name}{arguments})")


HOST_RULES: dict[str, Rule] = {"gpu.printf": _printf}
