"""Conversions: arith's casts between integers, floats and index, and casts that change nothing in LLVM."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from flydsl.codegen.floats.elementwise_float import float_operands, must_widen
from flydsl.codegen.floats.float_casts import convert_float, narrow_by_helper
from flydsl.codegen.floats.float_formats import ROUNDING_MODES
from flydsl.codegen.floats.four_bit_lanes import cut_four_bits, in_pairs, pack_four_bits
from flydsl.codegen.floats.six_bit_lanes import SIX, pack_six_bits, straddles_bytes, unpack_six_bits
from flydsl.codegen.floats.wide_integers import WORD, from_wide_integer, to_wide_integer
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import F32, F64, Scalar, type_text
from flydsl.codegen.reading.literals import int_literal, splat_literal
from flydsl.codegen.reading.op_flags import exact_text, fastmath_text, overflow_text
from flydsl.codegen.reading.op_view import fail, keyword_prop

# Binary digits these types hold: an integer of no more is exact in them.
_F32_DIGITS = 24
_F64_DIGITS = 53
# An integer of fewer bits is within f16's range.
_F16_RANGE_BITS = 16


def emit_plain_cast(emitter: FunctionEmitter, op: Operation, opcode: str) -> None:
    """One LLVM conversion instruction; a float side LLVM cannot convert goes through a type it can."""
    if opcode in ("sitofp", "uitofp"):
        emit_int_to_float(emitter, op, opcode)
    elif opcode in ("fptosi", "fptoui"):
        emit_float_to_int(emitter, op, opcode)
    elif opcode == "trunc" and _of_four_bits(emitter, op, op.results[0]):
        source = emitter.scalar(op.operands[0])
        emitter.bind(op.results[0], pack_four_bits(emitter, emitter.operand(op.operands[0]), source.bits, source.lanes))
    else:
        flags = exact_text(op) or overflow_text(op) if op.properties or op.attributes else ""
        source, result = (type_text(value.type) for value in (op.operands[0], op.results[0]))
        emitter.define(op, f"{opcode} {flags}{source} {_integers(emitter, op)} to {result}")


def _of_four_bits(emitter: FunctionEmitter, op: Operation, value: SSAValue) -> bool:
    """Return whether a value has lanes of four bits that are cut and packed here: LLVM's own operations mean
    themselves."""
    return op.name.startswith("arith.") and in_pairs(emitter.scalar(value))


def _integers(emitter: FunctionEmitter, op: Operation) -> str:
    """Return the integers that are converted; those of four bits cut out of their words."""
    text = emitter.operand(op.operands[0])
    if not _of_four_bits(emitter, op, op.operands[0]):
        return text
    return cut_four_bits(emitter, text, emitter.scalar(op.operands[0]).lanes)


def emit_float_to_int(emitter: FunctionEmitter, op: Operation, opcode: str) -> None:
    """To the nearest number of the type, NaN to zero, as GPUs do; LLVM's instruction has no value there."""
    source, dest, result = emitter.scalar(op.operands[0]), emitter.scalar(op.results[0]), type_text(op.results[0].type)
    if dest.bits <= WORD:
        type_, (text,) = float_operands(emitter, op)
        emitter.define(op, f"call {result} @llvm.{opcode}.sat({type_} {text})")
        return
    middle = F64 if source.name == "f64" else F32
    text = convert_float(emitter, emitter.operand(op.operands[0]), source, middle.with_lanes(source.lanes))
    callee = to_wide_integer(emitter.scope, middle.name, dest, signed=opcode == "fptosi")
    emitter.define(op, f"call {result} {callee}({dest.vector_of(middle.text)} {text})")


def _emit_wide_int_to_float(emitter: FunctionEmitter, op: Operation, signed: bool) -> None:
    """From an integer that LLVM converts by library calls. No integer that f16 holds is inexact in f32."""
    source, dest = emitter.scalar(op.operands[0]), emitter.scalar(op.results[0])
    rounds_there = dest.name in ("f64", "f32", "f16")
    middle = (F32 if dest.name in ("f32", "f16") else F64).with_lanes(dest.lanes)
    callee = from_wide_integer(emitter.scope, source, signed, middle.name, exact=not rounds_there)
    wide = emitter.call(middle.vector_of(middle.text), callee, [emitter.typed(op.operands[0])])
    if rounds_there:
        emitter.bind(op.results[0], convert_float(emitter, wide, middle, dest))
    else:
        emitter.bind(op.results[0], narrow_by_helper(emitter, wide, middle.name, dest))


def emit_int_to_float(emitter: FunctionEmitter, op: Operation, opcode: str) -> None:
    source, dest = emitter.scalar(op.operands[0]), emitter.scalar(op.results[0])
    if source.bits > WORD:
        _emit_wide_int_to_float(emitter, op, signed=opcode == "sitofp")
        return
    if not _converts_by_helper(emitter, source, dest):
        types = [type_text(value.type) for value in (op.operands[0], op.results[0])]
        emitter.define(op, f"{opcode} {exact_text(op)}{types[0]} {_integers(emitter, op)} to {types[1]}")
        return
    text = _integers(emitter, op)
    if source.bits > _F64_DIGITS:
        text = _keep_f64_digits(emitter, text, source, signed=opcode == "sitofp")
    middle = (F32 if source.bits <= _F32_DIGITS else F64).with_lanes(dest.lanes)
    wide = emitter.assign(f"{opcode} {source.vector_of(source.text)} {text} to {middle.vector_of(middle.text)}")
    # A helper, since LLVM would merge an fptrunc with the conversion before it, and round twice after all.
    emitter.bind(op.results[0], narrow_by_helper(emitter, wide, middle.name, dest))


def _converts_by_helper(emitter: FunctionEmitter, source: Scalar, dest: Scalar) -> bool:
    """Return whether LLVM's own conversion of an integer is missing or wrong."""
    # LLVM 22 turns an integer vector into bf16 by way of f32, rounding twice (seen on AArch64).
    rounds_twice = dest.name == "bf16" and source.bits > _F32_DIGITS
    overflows = dest.name in emitter.scope.merged_scaling and source.bits >= _F16_RANGE_BITS
    return rounds_twice or overflows or must_widen(emitter, dest)


def _keep_f64_digits(emitter: FunctionEmitter, text: str, source: Scalar, signed: bool) -> str:
    """Return an integer f64 holds exactly, which rounds to any shorter type as the given one does.

    Bits past the 53rd significant one are folded into the lowest one kept (rounding to odd), so that the
    later, coarser rounding still sees which side of a tie the number was on.
    """
    type_ = source.vector_of(source.text)

    def constant(value: int) -> str:
        return splat_literal(int_literal(value, source), source)

    def step(opcode: str, left: str, right: str) -> str:
        return emitter.assign(f"{opcode} {type_} {left}, {right}")

    def call(name: str, *arguments: str) -> str:
        return emitter.call(type_, f"@llvm.{name}", [f"{type_} {arguments[0]}", *arguments[1:]])

    magnitude = step("xor", text, step("ashr", text, constant(source.bits - 1))) if signed else text
    zeros = call("ctlz", magnitude, "i1 false")
    spare = call("usub.sat", constant(source.bits - _F64_DIGITS), f"{type_} {zeros}")
    mask = step("sub", step("shl", constant(1), spare), constant(1))
    low = step("and", text, mask)
    lost = emitter.assign(f"zext {source.vector_of('i1')} {step('icmp ne', low, constant(0))} to {type_}")
    return step("or", step("xor", text, low), step("shl", lost, spare))


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
    elif straddles_bytes(emitter.scalar(op.operands[0]), emitter.scalar(op.results[0])):
        emitter.bind(op.results[0], _recast_six_bits(emitter, op, dest))
    else:
        emitter.define(op, f"bitcast {emitter.typed(op.operands[0])} to {dest}")


def _recast_six_bits(emitter: FunctionEmitter, op: Operation, dest: str) -> str:
    typed, lanes = emitter.typed(op.operands[0]), emitter.scalar(op.results[0]).lanes
    if emitter.scalar(op.results[0]).bits == SIX:
        return unpack_six_bits(emitter, typed, lanes)
    return pack_six_bits(emitter, typed, emitter.scalar(op.operands[0]).lanes, dest)


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
