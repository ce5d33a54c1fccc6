"""Conversions: arith's casts between integers, floats and index, and casts that change nothing in LLVM."""

from __future__ import annotations

from xdsl.ir import Operation

from flydsl.codegen.elementwise_float import float_operands, must_widen
from flydsl.codegen.float_casts import convert_float
from flydsl.codegen.float_formats import ROUNDING_MODES
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import F32, F64, type_text
from flydsl.codegen.op_flags import exact_text, fastmath_text, overflow_text
from flydsl.codegen.op_view import fail, keyword_prop


def emit_plain_cast(emitter: FunctionEmitter, op: Operation, opcode: str) -> None:
    """One LLVM conversion instruction; a float side LLVM cannot convert goes through a type it can."""
    if opcode in ("sitofp", "uitofp"):
        emit_int_to_float(emitter, op, opcode)
    elif opcode in ("fptosi", "fptoui"):
        type_, (text,) = float_operands(emitter, op)
        emitter.define(op, f"{opcode} {type_} {text} to {type_text(op.results[0].type)}")
    else:
        flags = exact_text(op) or overflow_text(op) if op.properties or op.attributes else ""
        emitter.define(op, f"{opcode} {flags}{emitter.typed(op.operands[0])} to {type_text(op.results[0].type)}")


def emit_int_to_float(emitter: FunctionEmitter, op: Operation, opcode: str) -> None:
    dest = emitter.scalar(op.results[0])
    flags = exact_text(op)
    source = emitter.typed(op.operands[0])
    if not must_widen(emitter, dest):
        emitter.define(op, f"{opcode} {flags}{source} to {type_text(op.results[0].type)}")
        return
    # f64 holds every integer up to 2^53, and each type handled here overflows (or, for bf16 and
    # f8E8M0FNU, is too coarse to notice) beyond it; f32 would round twice.
    exact_in_f32 = emitter.scalar(op.operands[0]).bits <= 24
    middle = (F32 if exact_in_f32 else F64).with_lanes(dest.lanes)
    wide = emitter.assign(f"{opcode} {flags}{source} to {middle.vector_of(middle.text)}")
    emitter.bind(op.results[0], convert_float(emitter, wide, middle, dest))


def emit_extf(emitter: FunctionEmitter, op: Operation) -> None:
    source, dest = emitter.scalar(op.operands[0]), emitter.scalar(op.results[0])
    text = convert_float(emitter, emitter.operand(op.operands[0]), source, dest, flags=fastmath_text(op))
    emitter.bind(op.results[0], text)


def emit_truncf(emitter: FunctionEmitter, op: Operation) -> None:
    """arith.truncf and llvm.fptrunc. LLVM's own instruction rounds to nearest even only."""
    source, dest = emitter.scalar(op.operands[0]), emitter.scalar(op.results[0])
    rounding = keyword_prop(op, "roundingmode", ROUNDING_MODES, default="to_nearest_even")
    if rounding not in ROUNDING_MODES:
        fail(op, f"unknown rounding mode '{rounding}'")
    text = convert_float(emitter, emitter.operand(op.operands[0]), source, dest, rounding, fastmath_text(op))
    emitter.bind(op.results[0], text)


def emit_index_cast(emitter: FunctionEmitter, op: Operation) -> None:
    _emit_resize(emitter, op, "sext")


def emit_index_castui(emitter: FunctionEmitter, op: Operation) -> None:
    _emit_resize(emitter, op, "zext")


def _emit_resize(emitter: FunctionEmitter, op: Operation, extend: str) -> None:
    source, dest = emitter.scalar(op.operands[0]), emitter.scalar(op.results[0])
    if source.bits == dest.bits:
        emitter.bind(op.results[0], emitter.operand(op.operands[0]))
        return
    opcode = extend if dest.bits > source.bits else "trunc"
    emitter.define(op, f"{opcode} {emitter.typed(op.operands[0])} to {type_text(op.results[0].type)}")


def emit_bitcast(emitter: FunctionEmitter, op: Operation) -> None:
    """Same bits, other type; nothing at all where the two types are one in LLVM (f8E5M2 and i8)."""
    source, dest = type_text(op.operands[0].type), type_text(op.results[0].type)
    if source == dest:
        emitter.bind(op.results[0], emitter.operand(op.operands[0]))
    else:
        emitter.define(op, f"bitcast {emitter.typed(op.operands[0])} to {dest}")


def emit_unrealized_cast(emitter: FunctionEmitter, op: Operation) -> None:
    """A cast left over between dialects whose types are one in LLVM (index and i64)."""
    pairs = list(zip(op.operands, op.results))
    same = len(op.operands) == len(op.results) and all(type_text(a.type) == type_text(b.type) for a, b in pairs)
    if not same:
        fail(op, "the types differ in LLVM", hint="a pass has to turn this cast into a real conversion first")
    for operand, result in pairs:
        emitter.bind(result, emitter.operand(operand))


def _cast(opcode: str) -> Rule:
    return lambda emitter, op: emit_plain_cast(emitter, op, opcode)


_PLAIN_CASTS: dict[str, str] = {
    "arith.trunci": "trunc",
    "arith.extsi": "sext",
    "arith.extui": "zext",
    "arith.fptosi": "fptosi",
    "arith.fptoui": "fptoui",
    "arith.sitofp": "sitofp",
    "arith.uitofp": "uitofp",
}

RULES: dict[str, Rule] = {
    **{name: _cast(opcode) for name, opcode in _PLAIN_CASTS.items()},
    "arith.extf": emit_extf,
    "arith.truncf": emit_truncf,
    "arith.convertf": emit_truncf,
    "arith.index_cast": emit_index_cast,
    "arith.index_castui": emit_index_castui,
    "arith.bitcast": emit_bitcast,
    "builtin.unrealized_conversion_cast": emit_unrealized_cast,
}
