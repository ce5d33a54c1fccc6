"""The remainder of a float division, exact however large the quotient, as a private function.

NVPTX turns `frem` into x - trunc(x / y) * y, which is wrong as soon as the quotient has more digits than the type.
Here the divisor is doubled until it reaches the dividend, and subtracted on the way back; every step is exact.
"""

from __future__ import annotations

from flydsl.codegen.module_scope import ModuleScope

_TEXT = """define private {type} {symbol}({type} %x, {type} %y) nounwind willreturn memory(none) {{
entry:
%whole = call {type} @llvm.fabs({type} %x)
%divisor = call {type} @llvm.fabs({type} %y)
%divides = fcmp ogt {type} %divisor, 0.0
%finite = fcmp olt {type} %whole, 0x7FF0000000000000
%good = and i1 %divides, %finite
br i1 %good, label %known, label %nan
nan:
%product = fmul {type} %x, %y
%none = fdiv {type} %product, %product
ret {type} %none
known:
%bounded = fcmp olt {type} %divisor, 0x7FF0000000000000
br i1 %bounded, label %start, label %small
small:
ret {type} %x
start:
%half = fmul {type} %whole, 0.5
br label %up
up:
%step = phi {type} [ %divisor, %start ], [ %doubled, %double ]
%more = fcmp ole {type} %step, %half
br i1 %more, label %double, label %down
double:
%doubled = fadd {type} %step, %step
br label %up
down:
%left = phi {type} [ %whole, %up ], [ %next, %take ]
%size = phi {type} [ %step, %up ], [ %halved, %take ]
%again = fcmp oge {type} %size, %divisor
br i1 %again, label %take, label %done
take:
%fits = fcmp oge {type} %left, %size
%less = fsub {type} %left, %size
%next = select i1 %fits, {type} %less, {type} %left
%halved = fmul {type} %size, 0.5
br label %down
done:
%result = call {type} @llvm.copysign({type} %left, {type} %x)
ret {type} %result
}}"""


def remainder_function(scope: ModuleScope, type_: str) -> str:
    """The symbol of the remainder for ``float`` or ``double``."""
    return scope.helper(f"fly.remainder.{type_}", lambda symbol: _TEXT.format(type=type_, symbol=symbol))
