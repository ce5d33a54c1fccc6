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
from flydsl.codegen.rules.rules_math import in_f32_or_f64

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
    """The text of a function's value at the op's operands."""

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
