"""Float ops in a type LLVM cannot compute in: widened to f32 for the one operation and rounded back.

That is fp8 and narrower everywhere, and bf16 on x86. f32 has more than twice the digits of each of
them, so the second rounding never changes a sum, product, quotient or square root.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from flydsl.codegen.floats.float_casts import convert_float, narrow_from_f32, widen_to_f32
from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.llvm_types import F64, Scalar, type_text
from flydsl.codegen.reading.op_flags import fastmath_text

# From the LLVM type and the operand texts to an instruction.
ExpressionOf = Callable[[str, list[str]], str]


def must_widen(emitter: FunctionEmitter, scalar: Scalar) -> bool:
    """Return whether arithmetic in this float type has to be done in f32."""
    return scalar.is_narrow or scalar.name in emitter.scope.soft_floats


def emit_elementwise_float(emitter: FunctionEmitter, op: Operation, expression: ExpressionOf) -> None:
    """An op whose operands and result share one float type."""
    result = op.results[0]
    scalar = emitter.scalar(result)
    texts = [emitter.operand(value) for value in op.operands]
    if not must_widen(emitter, scalar):
        emitter.define(op, expression(type_text(result.type), texts))
        return
    wide = [widen_to_f32(emitter, text, scalar) for text in texts]
    computed = emitter.assign(expression(scalar.vector_of("float"), wide))
    emitter.bind(result, narrow_from_f32(emitter, computed, scalar))


def emit_fma(emitter: FunctionEmitter, op: Operation) -> None:
    """a * b + c rounded once."""
    scalar, flags = emitter.scalar(op.results[0]), fastmath_text(op)
    if scalar.name not in emitter.scope.soft_fma:
        emit_elementwise_float(emitter, op, intrinsic_expression("llvm.fma", flags))
        return
    # A product of two 16-bit floats is exact in f64, and the sum there keeps enough digits to round from.
    wide = F64.with_lanes(scalar.lanes)
    type_ = wide.vector_of(wide.text)
    a, b, c = (convert_float(emitter, emitter.operand(value), scalar, wide) for value in op.operands)
    product = emitter.assign(f"fmul {flags}{type_} {a}, {b}")
    total = emitter.assign(f"fadd {flags}{type_} {product}, {c}")
    emitter.bind(op.results[0], convert_float(emitter, total, wide, scalar))


def float_operands(emitter: FunctionEmitter, op: Operation) -> tuple[str, list[str]]:
    """Return the LLVM type and texts of float operands in a type LLVM computes in, for an op with another result
    type."""
    scalar = emitter.scalar(op.operands[0])
    texts = [emitter.operand(value) for value in op.operands]
    if not must_widen(emitter, scalar):
        return type_text(op.operands[0].type), texts
    return scalar.vector_of("float"), [widen_to_f32(emitter, text, scalar) for text in texts]


def intrinsic_expression(callee: str, flags: str) -> ExpressionOf:
    """Return a call of an intrinsic whose arguments and result share one type."""

    def expression(type_: str, texts: list[str]) -> str:
        return f"call {flags}{type_} @{callee}({', '.join(f'{type_} {text}' for text in texts)})"

    return expression
