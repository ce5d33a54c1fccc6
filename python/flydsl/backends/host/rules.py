"""How operations that are the same in every thread, but special on the host, are written."""

from __future__ import annotations

import re

from xdsl.ir import Operation, SSAValue

from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.reading.literals import quoted

_CONVERSION = re.compile(r"%[^%a-zA-Z]*l?[a-zA-Z%]")
_SHORTEST = re.compile(r"%-\.(\d+)g")
_TEXT_BYTES = 32
_DROPPED_BITS = {17: 0, 9: 29, 5: 42, 4: 45, 3: 49, 2: 50}
"""By the digits a type of float needs: the bits of a double that it does not have."""


def _shortest(symbol: str) -> str:
    """Writes a double that came from a narrower float with the fewest digits that read back as the same number.

    A number from 1 to ``limit`` is written without an exponent, with digits up to the point.
    """
    return f"""define internal void {symbol}(double %x, i32 %most, double %limit, i64 %dropped, ptr %text) {{
entry:
  %bits = bitcast double %x to i64
  %unit = shl i64 1, %dropped
  %half = lshr i64 %unit, 1
  %kept = sub i64 0, %unit
  %exact = icmp eq i64 %dropped, 0
  br label %write
write:
  %digits = phi i32 [ 1, %entry ], [ %more, %next ]
  %more = add i32 %digits, 1
  %length = call i32 (ptr, i64, ptr, ...) @snprintf(ptr %text, i64 {_TEXT_BYTES}, ptr @fly.digits,
      i32 %digits, double %x)
  %last = icmp sge i32 %digits, %most
  br i1 %last, label %done, label %read
read:
  %number = call double @strtod(ptr %text, ptr null)
  %found = bitcast double %number to i64
  %above = lshr i64 %found, %dropped
  %odd = and i64 %above, 1
  %below = sub i64 %half, 1
  %to.even = add i64 %below, %odd
  %carry = select i1 %exact, i64 0, i64 %to.even
  %sum = add i64 %found, %carry
  %rounded = and i64 %sum, %kept
  %same = icmp eq i64 %rounded, %bits
  br i1 %same, label %plain, label %next
plain:
  %exponent = call ptr @strchr(ptr %text, i32 {ord("e")})
  %scientific = icmp ne ptr %exponent, null
  %size = call double @llvm.fabs.f64(double %x)
  %large = fcmp oge double %size, 1.0
  %small = fcmp olt double %size, %limit
  %middle = and i1 %large, %small
  %again = and i1 %middle, %scientific
  br i1 %again, label %next, label %done
next:
  br label %write
done:
  ret void
}}"""


def _shortest_text(emitter: FunctionEmitter, value: SSAValue, digits: int) -> str:
    """Return a pointer to the text of a float."""
    scope = emitter.scope
    scope.add_declaration("snprintf", "declare i32 @snprintf(ptr, i64, ptr, ...)")
    scope.add_declaration("strchr", "declare ptr @strchr(ptr, i32)")
    scope.add_declaration("llvm.fabs.f64", "declare double @llvm.fabs.f64(double)")
    scope.add_declaration("strtod", "declare double @strtod(ptr, ptr)")
    scope.add_global("fly.digits", 'private unnamed_addr constant [5 x i8] c"%.*g\\00"')
    symbol = scope.helper("fly.shortest", _shortest)
    text = emitter.fresh("text")
    emitter.entry_line(f"{text} = alloca [{_TEXT_BYTES} x i8]")
    limits = f"i32 {digits}, double 1.0e+{digits}, i64 {_DROPPED_BITS[digits]}"
    emitter.line(f"call void {symbol}({emitter.typed(value)}, {limits}, ptr {text})")
    return f"ptr {text}"


def _printf(emitter: FunctionEmitter, op: Operation) -> None:
    """Through the C library, whose calls are whole even from many threads."""
    given = iter(op.operands)
    arguments: list[str] = []

    def convert(match: re.Match[str]) -> str:
        if match[0] == "%%":
            return match[0]
        value, shortest = next(given), _SHORTEST.fullmatch(match[0])
        arguments.append(_shortest_text(emitter, value, int(shortest[1])) if shortest else emitter.typed(value))
        return "%s" if shortest else match[0]

    text = _CONVERSION.sub(convert, op.properties["format"].data).encode() + b"\0"  # type: ignore[union-attr]
    name = f"fly.text.{emitter.scope.text_number(text)}"
    emitter.scope.add_global(name, f'private unnamed_addr constant [{len(text)} x i8] c"{quoted(text)}"')
    emitter.scope.add_declaration("printf", "declare i32 @printf(ptr, ...)")
    emitter.line(f"call i32 (ptr, ...) @printf({', '.join([f'ptr @{name}', *arguments])})")


HOST_RULES: dict[str, Rule] = {"gpu.printf": _printf}
