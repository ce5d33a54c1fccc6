"""The arith dialect: constants, integer and float arithmetic, comparison, selection.

Conversions between types are in ``rules_cast``; what happens to narrow floats in ``elementwise_float``.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from flydsl.codegen.floats.elementwise_float import (
    emit_elementwise_float,
    float_operands,
    must_widen,
)
from flydsl.codegen.floats.float_functions import remainder_function
from flydsl.codegen.floats.signs_of_zeros import exact_condition
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import Scalar, int_scalar, type_text
from flydsl.codegen.reading.literals import int_literal, literal, splat_literal
from flydsl.codegen.reading.op_flags import exact_text, fastmath_text, has_fastmath, overflow_text
from flydsl.codegen.reading.op_view import fail, keyword_prop, prop
from flydsl.codegen.rules.rules_math import float_intrinsic

INT_BINARY: dict[str, str] = {
    "arith.addi": "add",
    "arith.subi": "sub",
    "arith.muli": "mul",
    "arith.andi": "and",
    "arith.ori": "or",
    "arith.xori": "xor",
}

SHIFTS: dict[str, str] = {"arith.shli": "shl", "arith.shrui": "lshr", "arith.shrsi": "ashr"}

INT_DIVISION: dict[str, str] = {
    "arith.divui": "udiv",
    "arith.divsi": "sdiv",
    "arith.remui": "urem",
    "arith.remsi": "srem",
}

INT_INTRINSIC: dict[str, str] = {
    "arith.minsi": "llvm.smin",
    "arith.maxsi": "llvm.smax",
    "arith.minui": "llvm.umin",
    "arith.maxui": "llvm.umax",
}

FLOAT_BINARY: dict[str, str] = {"arith.addf": "fadd", "arith.subf": "fsub", "arith.mulf": "fmul", "arith.divf": "fdiv"}

# minimum/maximum return NaN when either side is NaN; minnum/maxnum return the other side.
FLOAT_INTRINSIC: dict[str, str] = {
    "arith.minimumf": "llvm.minimum",
    "arith.maximumf": "llvm.maximum",
    "arith.minnumf": "llvm.minnum",
    "arith.maxnumf": "llvm.maxnum",
}

CMPI_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")

CMPF_PREDICATES = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)


def emit_constant(emitter: FunctionEmitter, op: Operation) -> None:
    value = prop(op, "value")
    if value is None:
        fail(op, "the constant has no value")
    emitter.names[op.results[0]] = literal(value, op.results[0].type)


def int_binary(opcode: str) -> Rule:
    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        flags = exact_text(op) or overflow_text(op) if op.properties or op.attributes else ""
        left, right = op.operands
        emitter.define(op, f"{opcode} {flags}{emitter.typed(left)}, {emitter.operand(right)}")

    return emit


def shift(opcode: str) -> Rule:
    """A shift by the width or more leaves nothing, or the sign: LLVM has no value for it, and each GPU another."""
    plain = int_binary(opcode)

    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        left, amount = (emitter.operand(value) for value in op.operands)
        scalar = emitter.scalar(op.results[0])
        if amount.isdigit() and int(amount) < scalar.bits:
            plain(emitter, op)
            return
        flags = exact_text(op) or overflow_text(op) if op.properties or op.attributes else ""
        type_, flag = scalar.vector_of(scalar.text), scalar.vector_of("i1")
        if opcode == "ashr":
            most = f"{type_} {_splat(scalar.bits - 1, scalar)}"
            amount = emitter.call(type_, "@llvm.umin", [f"{type_} {amount}", most])
            emitter.define(op, f"ashr {flags}{type_} {left}, {amount}")
            return
        inside = emitter.assign(f"icmp ult {type_} {amount}, {_splat(scalar.bits, scalar)}")
        moved = emitter.assign(f"{opcode} {flags}{type_} {left}, {amount}")
        emitter.define(op, f"select {flag} {inside}, {type_} {moved}, {type_} {_splat(0, scalar)}")

    return emit


def int_division(opcode: str) -> Rule:
    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        flags = exact_text(op) if op.properties or op.attributes else ""
        left, right = (emitter.operand(value) for value in op.operands)
        emitter.bind(op.results[0], _divide(emitter, f"{opcode} {flags}", emitter.scalar(op.results[0]), left, right))

    return emit


def int_intrinsic(callee: str) -> Rule:
    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        arguments = ", ".join(emitter.typed(value) for value in op.operands)
        emitter.define(op, f"call {type_text(op.results[0].type)} @{callee}({arguments})")

    return emit


def float_binary(opcode: str) -> Rule:
    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        flags = fastmath_text(op)
        emit_elementwise_float(emitter, op, lambda type_, texts: f"{opcode} {flags}{type_} {texts[0]}, {texts[1]}")

    return emit


def emit_remf(emitter: FunctionEmitter, op: Operation) -> None:
    if emitter.scope.soft_remainder:
        emit_elementwise_float(emitter, op, lambda type_, texts: _remainder(emitter, type_, texts))
    else:
        _plain_remf(emitter, op)


_plain_remf = float_binary("frem")


def _remainder(emitter: FunctionEmitter, type_: str, texts: Sequence[str]) -> str:
    """Return the expression of a remainder, lane by lane; 16-bit types by way of f32, where it is exact as well."""
    if not type_.startswith("<"):
        return _lane_remainder(emitter, type_, texts)
    lanes, elem = int(type_[1:].split()[0]), type_[:-1].split()[-1]
    result = "poison"
    for lane in range(lanes):
        parts = [emitter.assign(f"extractelement {type_} {text}, i32 {lane}") for text in texts]
        found = emitter.assign(_lane_remainder(emitter, elem, parts))
        place = f"insertelement {type_} {result}, {elem} {found}, i32 {lane}"
        result = emitter.assign(place) if lane < lanes - 1 else place
    return result


def _lane_remainder(emitter: FunctionEmitter, type_: str, texts: Sequence[str]) -> str:
    if type_ in ("float", "double"):
        left, right = texts
        return f"call {type_} {remainder_function(emitter.scope, type_)}({type_} {left}, {type_} {right})"
    wide = [emitter.assign(f"fpext {type_} {text} to float") for text in texts]
    return f"fptrunc float {emitter.assign(_lane_remainder(emitter, 'float', wide))} to {type_}"


def emit_negf(emitter: FunctionEmitter, op: Operation) -> None:
    flags = fastmath_text(op)
    emit_elementwise_float(emitter, op, lambda type_, texts: f"fneg {flags}{type_} {texts[0]}")


def emit_cmpi(emitter: FunctionEmitter, op: Operation) -> None:
    predicate = keyword_prop(op, "predicate", CMPI_PREDICATES)
    left, right = op.operands
    emitter.define(op, f"icmp {predicate} {emitter.typed(left)}, {emitter.operand(right)}")


def emit_cmpf(emitter: FunctionEmitter, op: Operation) -> None:
    predicate, flags = keyword_prop(op, "predicate", CMPF_PREDICATES), fastmath_text(op)
    type_, (left, right) = float_operands(emitter, op)
    emitter.define(op, f"fcmp {flags}{predicate} {type_} {left}, {right}")


def emit_select(emitter: FunctionEmitter, op: Operation) -> None:
    condition, when_true, when_false = op.operands
    flags, scalar = fastmath_text(op), emitter.scalar(when_true)
    if must_widen(emitter, scalar):
        flags = ""  # the arms are integers
    exact = _exact_condition(emitter, op) if scalar.is_float else None
    arms = f"{emitter.typed(when_true)}, {emitter.typed(when_false)}"
    chosen = emitter.typed(condition) if exact is None else f"{type_text(condition.type)} {exact}"
    emitter.define(op, f"select {flags}{chosen}, {arms}")


def _exact_condition(emitter: FunctionEmitter, op: Operation) -> str | None:
    """Return the condition of a choice between a number and zero, where the sign of the zero depends on it."""
    condition, *arms = op.operands
    comparison = condition.owner
    if not isinstance(comparison, Operation) or comparison.name not in ("arith.cmpf", "llvm.fcmp"):
        return None
    if has_fastmath(op, "nsz") or has_fastmath(comparison, "nsz"):
        return None
    return exact_condition(emitter, comparison, keyword_prop(comparison, "predicate", CMPF_PREDICATES), arms)


def emit_addui_extended(emitter: FunctionEmitter, op: Operation) -> None:
    _emit_with_overflow(emitter, op, "llvm.uadd.with.overflow")


def emit_subui_extended(emitter: FunctionEmitter, op: Operation) -> None:
    _emit_with_overflow(emitter, op, "llvm.usub.with.overflow")


def _emit_with_overflow(emitter: FunctionEmitter, op: Operation, callee: str) -> None:
    pair = f"{{ {type_text(op.results[0].type)}, {type_text(op.results[1].type)} }}"
    both = emitter.call(pair, f"@{callee}", [emitter.typed(value) for value in op.operands])
    emitter.define(op, f"extractvalue {pair} {both}, 0", 0)
    emitter.define(op, f"extractvalue {pair} {both}, 1", 1)


def emit_mului_extended(emitter: FunctionEmitter, op: Operation) -> None:
    _emit_wide_multiply(emitter, op, "zext")


def emit_mulsi_extended(emitter: FunctionEmitter, op: Operation) -> None:
    _emit_wide_multiply(emitter, op, "sext")


def _emit_wide_multiply(emitter: FunctionEmitter, op: Operation, extend: str) -> None:
    """Low and high half of a product, from one multiplication at twice the width."""
    scalar = emitter.scalar(op.operands[0])
    narrow, wide = type_text(op.operands[0].type), scalar.vector_of(f"i{2 * scalar.bits}")
    left, right = (emitter.assign(f"{extend} {emitter.typed(value)} to {wide}") for value in op.operands)
    product = emitter.assign(f"mul {wide} {left}, {right}")
    shift = _splat(scalar.bits, int_scalar(2 * scalar.bits, scalar.lanes))
    upper = emitter.assign(f"lshr {wide} {product}, {shift}")
    emitter.define(op, f"trunc {wide} {product} to {narrow}", 0)
    emitter.define(op, f"trunc {wide} {upper} to {narrow}", 1)


def emit_floordivsi(emitter: FunctionEmitter, op: Operation) -> None:
    shift = _power_of_two(emitter.operand(op.operands[1]))
    if shift is not None and not emitter.scalar(op.operands[0]).lanes:
        # LLVM does not find this form by itself, and divisions by a tile size are everywhere.
        emitter.define(op, f"ashr {type_text(op.operands[0].type)} {emitter.operand(op.operands[0])}, {shift}")
        return
    _rounded_division(emitter, op, "slt", "sext")


def emit_ceildivsi(emitter: FunctionEmitter, op: Operation) -> None:
    _rounded_division(emitter, op, "sge", "zext")


def _rounded_division(emitter: FunctionEmitter, op: Operation, signs: str, step: str) -> None:
    """A truncated quotient, and one less or more where it is inexact and the signs are such."""
    scalar, type_ = emitter.scalar(op.operands[0]), type_text(op.operands[0].type)
    left, right = (emitter.operand(value) for value in op.operands)
    quotient, inexact = _truncated_division(emitter, scalar, left, right)
    flag, such = scalar.vector_of("i1"), _sign_test(emitter, signs, type_, left, right, scalar)
    moved = emitter.assign(f"and {flag} {inexact}, {such}")
    emitter.define(op, f"add {type_} {quotient}, {emitter.assign(f'{step} {flag} {moved} to {type_}')}")


def emit_ceildivui(emitter: FunctionEmitter, op: Operation) -> None:
    """(a - 1) / b + 1, except that 0 stays 0; a + b - 1 could wrap."""
    scalar, type_ = emitter.scalar(op.operands[0]), type_text(op.operands[0].type)
    left, right = (emitter.operand(value) for value in op.operands)
    less = emitter.assign(f"sub {type_} {left}, {_splat(1, scalar)}")
    quotient = _divide(emitter, "udiv ", scalar, less, right)
    rounded = emitter.assign(f"add {type_} {quotient}, {_splat(1, scalar)}")
    empty = emitter.assign(f"icmp eq {type_} {left}, {_splat(0, scalar)}")
    flag = scalar.vector_of("i1")
    emitter.define(op, f"select {flag} {empty}, {type_} {_splat(0, scalar)}, {type_} {rounded}")


def _truncated_division(emitter: FunctionEmitter, scalar: Scalar, left: str, right: str) -> tuple[str, str]:
    """Return the quotient rounded to zero, and whether something was cut off."""
    type_ = scalar.vector_of(scalar.text)
    quotient = _divide(emitter, "sdiv ", scalar, left, right)
    product = emitter.assign(f"mul {type_} {quotient}, {right}")
    return quotient, emitter.assign(f"icmp ne {type_} {product}, {left}")


def _divide(emitter: FunctionEmitter, opcode: str, scalar: Scalar, left: str, right: str) -> str:
    """Return one division instruction that neither stops the program nor lets LLVM conclude anything from it.

    The most negative number divided by -1 is itself, as everywhere integers wrap. A division by zero gives some
    number: LLVM would take it for proof that the divisor is not zero, and drop the guard that asks.
    """
    type_, flag = scalar.vector_of(scalar.text), scalar.vector_of("i1")
    if right.isdigit() and right != "0":
        return emitter.assign(f"{opcode}{type_} {left}, {right}")
    if opcode[0] == "u":
        safe = emitter.call(type_, "@llvm.umax", [f"{type_} {right}", f"{type_} {_splat(1, scalar)}"])
        return emitter.assign(f"{opcode}{type_} {left}, {safe}")
    # Only 0 and -1 lie below 2 once 1 is added.
    moved = emitter.assign(f"add {type_} {right}, {_splat(1, scalar)}")
    unsafe = emitter.assign(f"icmp ult {type_} {moved}, {_splat(2, scalar)}")
    safe = emitter.assign(f"select {flag} {unsafe}, {type_} {_splat(1, scalar)}, {type_} {right}")
    result = emitter.assign(f"{opcode}{type_} {left}, {safe}")
    if opcode.startswith("srem"):
        return result
    negated = emitter.assign(f"sub {type_} {_splat(0, scalar)}, {left}")
    return emitter.assign(f"select {flag} {unsafe}, {type_} {negated}, {type_} {result}")


def _sign_test(emitter: FunctionEmitter, predicate: str, type_: str, left: str, right: str, scalar: Scalar) -> str:
    """Compares the sign of the exact quotient with zero, through the sign of ``left ^ right``."""
    mixed = emitter.assign(f"xor {type_} {left}, {right}")
    return emitter.assign(f"icmp {predicate} {type_} {mixed}, {_splat(0, scalar)}")


def _splat(value: int, scalar: Scalar) -> str:
    return splat_literal(int_literal(value, scalar), scalar)


def _power_of_two(text: str) -> int | None:
    """Return the exponent when a literal is a power of two."""
    if not text.isdigit():
        return None
    value = int(text)
    return value.bit_length() - 1 if value and value & (value - 1) == 0 else None


RULES: dict[str, Rule] = {
    **{name: int_binary(opcode) for name, opcode in INT_BINARY.items()},
    **{name: int_division(opcode) for name, opcode in INT_DIVISION.items()},
    **{name: shift(opcode) for name, opcode in SHIFTS.items()},
    **{name: int_intrinsic(opcode) for name, opcode in INT_INTRINSIC.items()},
    **{name: float_binary(opcode) for name, opcode in FLOAT_BINARY.items()},
    **{name: float_intrinsic(opcode) for name, opcode in FLOAT_INTRINSIC.items()},
    "arith.constant": emit_constant,
    "arith.negf": emit_negf,
    "arith.remf": emit_remf,
    "arith.cmpi": emit_cmpi,
    "arith.cmpf": emit_cmpf,
    "arith.select": emit_select,
    "arith.addui_extended": emit_addui_extended,
    "arith.subui_extended": emit_subui_extended,
    "arith.mului_extended": emit_mului_extended,
    "arith.mulsi_extended": emit_mulsi_extended,
    "arith.floordivsi": emit_floordivsi,
    "arith.ceildivsi": emit_ceildivsi,
    "arith.ceildivui": emit_ceildivui,
}
