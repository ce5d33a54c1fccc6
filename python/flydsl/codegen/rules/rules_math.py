"""The math dialect: LLVM intrinsics where they exist, the C library's functions otherwise.

A GPU target without such a library (or with faster instructions) replaces the rules it needs to.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from xdsl.ir import Operation

from flydsl.codegen.floats.elementwise_float import (
    ExpressionOf,
    emit_elementwise_float,
    emit_fma,
    float_operands,
    intrinsic_expression,
)
from flydsl.codegen.floats.float_casts import convert_float, narrow_from_f32, widen_to_f32
from flydsl.codegen.floats.power_functions import float_power_function, int_power_function
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import F32, F64, type_text
from flydsl.codegen.reading.op_flags import fastmath_text
from flydsl.codegen.reading.op_view import fail

# Exact or simple functions, which LLVM computes in every native float type.
_BASIC: dict[str, str] = {
    "math.absf": "llvm.fabs",
    "math.ceil": "llvm.ceil",
    "math.floor": "llvm.floor",
    "math.trunc": "llvm.trunc",
    "math.round": "llvm.round",
    "math.roundeven": "llvm.roundeven",
    "math.sqrt": "llvm.sqrt",
    "math.copysign": "llvm.copysign",
}

# Transcendental functions with an intrinsic. 16-bit types are computed in f32: no library has them narrower.
_INTRINSICS: dict[str, str] = {
    "math.exp": "llvm.exp",
    "math.exp2": "llvm.exp2",
    "math.log": "llvm.log",
    "math.log2": "llvm.log2",
    "math.log10": "llvm.log10",
    "math.powf": "llvm.pow",
    "math.sin": "llvm.sin",
    "math.cos": "llvm.cos",
    "math.tan": "llvm.tan",
    "math.asin": "llvm.asin",
    "math.acos": "llvm.acos",
    "math.atan": "llvm.atan",
    "math.atan2": "llvm.atan2",
    "math.sinh": "llvm.sinh",
    "math.cosh": "llvm.cosh",
    "math.tanh": "llvm.tanh",
}

# Functions only the C library has; the f32 form carries an ``f``.
_LIBRARY: dict[str, str] = {
    "math.acosh": "acosh",
    "math.asinh": "asinh",
    "math.atanh": "atanh",
    "math.cbrt": "cbrt",
    "math.erf": "erf",
    "math.erfc": "erfc",
    "math.expm1": "expm1",
    "math.log1p": "log1p",
}
# errno is never read, so a call may be moved, merged and dropped like an instruction.
_LIBRARY_ATTRIBUTES = "nounwind willreturn memory(none)"

# Class masks of llvm.is.fpclass.
_CLASSES: dict[str, int] = {"math.isnan": 0x003, "math.isinf": 0x204, "math.isfinite": 0x1F8, "math.isnormal": 0x108}


def float_intrinsic(callee: str) -> Rule:
    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        emit_elementwise_float(emitter, op, intrinsic_expression(callee, fastmath_text(op)))

    return emit


def intrinsic(callee: str) -> Rule:
    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        expression = intrinsic_expression(callee, fastmath_text(op))
        emitter.bind(op.results[0], in_f32_or_f64(emitter, op, expression))

    return emit


def library(function: str) -> Rule:
    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        flags = fastmath_text(op)

        def compute(type_: str, texts: list[str]) -> str:
            return call_per_lane(emitter, function, type_, texts, flags)

        emitter.bind(op.results[0], _through_f32(emitter, op, compute))

    return emit


def in_f32_or_f64(emitter: FunctionEmitter, op: Operation, expression: ExpressionOf) -> str:
    """Return an elementwise op computed in f32, or in f64 when that is its type; the text of its result."""
    return _through_f32(emitter, op, lambda type_, texts: emitter.assign(expression(type_, texts)))


def _through_f32(emitter: FunctionEmitter, op: Operation, compute: Callable[[str, list[str]], str]) -> str:
    scalar = emitter.scalar(op.results[0])
    texts = [emitter.operand(value) for value in op.operands]
    if scalar.bits >= 32:
        return compute(type_text(op.results[0].type), texts)
    wide = [widen_to_f32(emitter, text, scalar) for text in texts]
    return narrow_from_f32(emitter, compute(scalar.vector_of("float"), wide), scalar)


def call_per_lane(emitter: FunctionEmitter, function: str, type_: str, texts: list[str], flags: str = "") -> str:
    """Return a C library function on a scalar, or on each lane of a vector."""
    element = "double" if "double" in type_ else "float"
    name = function if element == "double" else f"{function}f"
    callee = emitter.scope.declare(name, element, [element] * len(texts), _LIBRARY_ATTRIBUTES)
    return _per_lane(emitter, type_, [(type_, element)] * len(texts), texts, element, callee, flags)


def _per_lane(
    emitter: FunctionEmitter,
    type_: str,
    operands: list[tuple[str, str]],
    texts: list[str],
    element: str,
    callee: str,
    flags: str,
) -> str:
    """Call ``callee`` on scalars or lane by lane; ``operands`` pairs each operand's type with its element type."""
    if not type_.startswith("<"):
        return emitter.call(element, callee, [f"{kind} {text}" for (_, kind), text in zip(operands, texts)], flags)
    lanes = int(type_[1:].split(" ", 1)[0])
    packed = "poison"
    for lane in range(lanes):
        arguments = [
            f"{kind} " + emitter.assign(f"extractelement {whole} {text}, i64 {lane}")
            for (whole, kind), text in zip(operands, texts)
        ]
        result = emitter.call(element, callee, arguments, flags)
        packed = emitter.assign(f"insertelement {type_} {packed}, {element} {result}, i64 {lane}")
    return packed


def emit_rsqrt(emitter: FunctionEmitter, op: Operation) -> None:
    flags = fastmath_text(op)

    def compute(type_: str, texts: list[str]) -> str:
        root = emitter.call(type_, "@llvm.sqrt", [f"{type_} {texts[0]}"], flags)
        one = "splat ({} 1.0)".format("double" if "double" in type_ else "float") if type_[0] == "<" else "1.0"
        return emitter.assign(f"fdiv {flags}{type_} {one}, {root}")

    emitter.bind(op.results[0], _through_f32(emitter, op, compute))


def emit_sincos(emitter: FunctionEmitter, op: Operation) -> None:
    """Sine and cosine as two intrinsics; LLVM joins them where the target has both in one."""
    for position, name in enumerate(("llvm.sin", "llvm.cos")):
        expression = intrinsic_expression(name, fastmath_text(op))
        emitter.bind(op.results[position], in_f32_or_f64(emitter, op, expression))


def emit_clampf(emitter: FunctionEmitter, op: Operation) -> None:
    """min(max(value, low), high), NaN if any is NaN."""
    flags = fastmath_text(op)

    def compute(type_: str, texts: list[str]) -> str:
        raised = emitter.assign(intrinsic_expression("llvm.maximum", flags)(type_, texts[:2]))
        return emitter.assign(intrinsic_expression("llvm.minimum", flags)(type_, [raised, texts[2]]))

    emitter.bind(op.results[0], _through_f32(emitter, op, compute))


def float_class(mask: int) -> Rule:
    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        if mask == _CLASSES["math.isnormal"] and emitter.scalar(op.operands[0]).is_narrow:
            fail(op, "a subnormal of this type is a normal f32, where it would be tested")
        type_, (text,) = float_operands(emitter, op)
        flag = emitter.scalar(op.operands[0]).vector_of("i1")
        emitter.define(op, f"call {flag} @llvm.is.fpclass({type_} {text}, i32 {mask})")

    return emit


def int_intrinsic(callee: str, immediate: str = "") -> Rule:
    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        result = type_text(op.results[0].type)
        emitter.define(op, f"call {result} @{callee}({emitter.typed(op.operands[0])}{immediate})")

    return emit


def emit_ipowi(emitter: FunctionEmitter, op: Operation) -> None:
    scalar, type_ = emitter.scalar(op.results[0]), type_text(op.results[0].type)
    callee = int_power_function(emitter.scope, scalar.text)
    texts = [emitter.operand(value) for value in op.operands]
    text = _per_lane(emitter, type_, [(type_, scalar.text)] * 2, texts, scalar.text, callee, "")
    emitter.bind(op.results[0], text)


def emit_fpowi(emitter: FunctionEmitter, op: Operation) -> None:
    """Each product rounds, and the next one doubles what was lost: more than a few of f32 are multiplied in f64."""
    scalar, exponent = (emitter.scalar(value) for value in op.operands)
    base, power = (emitter.operand(value) for value in op.operands)
    known = _CONSTANTS.findall(power)
    few = scalar.bits < 32 or (scalar.bits == 32 and known and all(-3 < int(number) < 4 for number in known))
    wide = (F32 if few else F64).with_lanes(scalar.lanes)
    callee, type_ = float_power_function(emitter.scope, wide.text, exponent.text), wide.vector_of(wide.text)
    operands = [(type_, wide.text), (type_text(op.operands[1].type), exponent.text)]
    texts = [convert_float(emitter, base, scalar, wide), power]
    result = _per_lane(emitter, type_, operands, texts, wide.text, callee, fastmath_text(op))
    emitter.bind(op.results[0], convert_float(emitter, result, wide, scalar))


_CONSTANTS = re.compile(r"(?<![\w%.-])-?\d+\b")  # integers of a literal, of a vector too

RULES: dict[str, Rule] = {
    **{name: float_intrinsic(callee) for name, callee in _BASIC.items()},
    **{name: intrinsic(callee) for name, callee in _INTRINSICS.items()},
    **{name: library(function) for name, function in _LIBRARY.items()},
    **{name: float_class(mask) for name, mask in _CLASSES.items()},
    "math.fma": emit_fma,
    "math.rsqrt": emit_rsqrt,
    "math.sincos": emit_sincos,
    "math.clampf": emit_clampf,
    "math.absi": int_intrinsic("llvm.abs", ", i1 false"),
    "math.ctlz": int_intrinsic("llvm.ctlz", ", i1 false"),
    "math.cttz": int_intrinsic("llvm.cttz", ", i1 false"),
    "math.ctpop": int_intrinsic("llvm.ctpop"),
    "math.ipowi": emit_ipowi,
    "math.fpowi": emit_fpowi,
}
