"""Math operations by our own arithmetic, for targets that have neither an instruction nor a library for them.

f32 is computed by the formulas of `exponential_functions` and `trigonometric_functions`, shorter floats by way of f32.
Results are within 2 units in the last place (``powf`` too) for every argument, zeros, infinities, NaN and subnormals
as C99 has them. Fast-math flags are not needed and not used: a formula gives the same bits on every machine.
"""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.codegen.floats import exponential_functions as exponential
from flydsl.codegen.floats import trigonometric_functions as trigonometric
from flydsl.codegen.floats.formula import Body, formula_function
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.module_scope import ModuleScope
from flydsl.codegen.rules.rules_math import in_f32_or_f64

# The remainder of a float division, exact however large the quotient, as a private function ----
#
# NVPTX turns `frem` into x - trunc(x / y) * y, which is wrong as soon as the quotient has more digits than the
# type. Here the divisor is doubled until it reaches the dividend, and subtracted on the way back; every step is
# exact.


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
    """Return the symbol of the remainder for ``float`` or ``double``."""
    return scope.helper(f"fly.remainder.{type_}", lambda symbol: _TEXT.format(type=type_, symbol=symbol))


FORMULAS: dict[str, Body] = {
    "math.log2": exponential.log2,
    "math.log": exponential.log,
    "math.log10": exponential.log10,
    "math.log1p": exponential.log1p,
    "math.expm1": exponential.expm1,
    "math.powf": exponential.powf,
    "math.tanh": exponential.tanh,
    "math.sinh": exponential.sinh,
    "math.cosh": exponential.cosh,
    "math.asinh": exponential.asinh,
    "math.acosh": exponential.acosh,
    "math.atanh": exponential.atanh,
    "math.erf": exponential.erf,
    "math.erfc": exponential.erfc,
    "math.cbrt": exponential.cbrt,
    "math.sin": trigonometric.sin,
    "math.cos": trigonometric.cos,
    "math.tan": trigonometric.tan,
    "math.atan": trigonometric.atan,
    "math.atan2": trigonometric.atan2,
    "math.asin": trigonometric.asin,
    "math.acos": trigonometric.acos,
}


def _apply(emitter: FunctionEmitter, op: Operation, name: str) -> str:
    """Return the text of a function's value at the op's operands."""

    def call(type_: str, texts: list[str]) -> str:
        lanes = int(type_[1:].split(" ", 1)[0]) if type_.startswith("<") else 0
        callee = formula_function(emitter.scope, name, lanes, len(texts), FORMULAS[name])
        return f"call {type_} {callee}({', '.join(f'{type_} {text}' for text in texts)})"

    return in_f32_or_f64(emitter, op, call)


def _rule(name: str) -> Rule:
    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        emitter.bind(op.results[0], _apply(emitter, op, name))

    return emit


def _sincos(emitter: FunctionEmitter, op: Operation) -> None:
    """Two formulas; LLVM computes what they share once."""
    for position, name in enumerate(("math.sin", "math.cos")):
        emitter.bind(op.results[position], _apply(emitter, op, name))


RULES: dict[str, Rule] = {**{name: _rule(name) for name in FORMULAS}, "math.sincos": _sincos}
"""Rules for f32, f16 and bf16."""
