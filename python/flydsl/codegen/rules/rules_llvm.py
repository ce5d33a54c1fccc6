"""The llvm dialect's values: constants, aggregates, address arithmetic, asm, intrinsics and plain arithmetic.

Memory access is in ``rules_llvm_memory``; branches and calls, which func and cf share, in ``rules_cf``.
"""

from __future__ import annotations

from xdsl.dialects.llvm import GEP_USE_SSA_VAL
from xdsl.ir import Operation

from flydsl.base.device_libraries import PREFIX
from flydsl.codegen.floats.elementwise_float import emit_fma
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import results_text, type_text
from flydsl.codegen.module_scope import symbol_text
from flydsl.codegen.reading.literals import quoted
from flydsl.codegen.reading.op_flags import fastmath_text
from flydsl.codegen.reading.op_view import fail, flag_prop, int_prop, ints_prop, prop, symbol_prop, text_prop
from flydsl.codegen.rules.rules_arith import (
    emit_cmpf,
    emit_cmpi,
    emit_constant,
    emit_negf,
    emit_select,
    float_binary,
    int_binary,
)
from flydsl.codegen.rules.rules_cast import emit_bitcast, emit_extf, emit_plain_cast, emit_truncf
from flydsl.codegen.rules.rules_cf import bind_call_results
from flydsl.codegen.rules.rules_math import float_intrinsic

_INT_OPCODES = ("add", "sub", "mul", "shl", "udiv", "sdiv", "urem", "srem", "and", "or", "xor", "lshr", "ashr")
_FLOAT_OPCODES = ("fadd", "fsub", "fmul", "fdiv", "frem")
_CAST_OPCODES = (
    *("trunc", "zext", "sext", "sitofp", "uitofp", "fptosi", "fptoui"),
    *("inttoptr", "ptrtoint", "addrspacecast"),
)

# Bits of MLIR's GEPNoWrapFlags; "inbounds" implies nusw.
_GEP_FLAGS = {1: "inbounds", 2: "nusw", 4: "nuw"}

_FLOAT_INTRINSICS = (
    *("fabs", "ceil", "floor", "trunc", "rint", "nearbyint", "round", "roundeven", "canonicalize"),
    *("sqrt", "exp", "exp2", "exp10", "log", "log2", "log10", "pow", "copysign", "fmuladd"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh"),
    *("minnum", "maxnum", "minimum", "maximum", "minimumnum", "maximumnum"),
)

# Intrinsic ops with a trailing immediate flag that MLIR keeps as a property.
_FLAGGED_INTRINSICS = {"ctlz": "is_zero_poison", "cttz": "is_zero_poison", "abs": "is_int_min_poison"}

# Intrinsic ops written as a plain call of the same name with the operands as they are.
_PLAIN_INTRINSICS = (
    *("smax", "smin", "umax", "umin", "ctpop", "bitreverse", "bswap", "fshl", "fshr", "expect"),
    *("sadd.sat", "uadd.sat", "ssub.sat", "usub.sat", "sshl.sat", "ushl.sat"),
    *("sadd.with.overflow", "uadd.with.overflow", "ssub.with.overflow", "usub.with.overflow"),
    *("smul.with.overflow", "umul.with.overflow", "fptosi.sat", "fptoui.sat", "lrint", "llrint", "lround", "llround"),
    *("stacksave", "stackrestore", "trap", "debugtrap", "ubsantrap", "assume", "vscale", "threadlocal.address"),
    *(f"vector.reduce.{kind}" for kind in ("add", "mul", "and", "or", "xor", "smax", "smin", "umax", "umin")),
    *(f"vector.reduce.{kind}" for kind in ("fadd", "fmul", "fmax", "fmin", "fmaximum", "fminimum")),
)


def emit_undef(emitter: FunctionEmitter, op: Operation) -> None:
    emitter.names[op.results[0]] = "undef"


def emit_poison(emitter: FunctionEmitter, op: Operation) -> None:
    emitter.names[op.results[0]] = "poison"


def emit_zero(emitter: FunctionEmitter, op: Operation) -> None:
    emitter.names[op.results[0]] = "null" if type_text(op.results[0].type).startswith("ptr") else "zeroinitializer"


def emit_addressof(emitter: FunctionEmitter, op: Operation) -> None:
    name = symbol_prop(op, "global_name")
    if name is None:
        fail(op, "no global is named")
    emitter.names[op.results[0]] = symbol_text(name)


def emit_getelementptr(emitter: FunctionEmitter, op: Operation) -> None:
    element = prop(op, "elem_type")
    if element is None:
        fail(op, "the element type is missing")
    bits = int_prop(op, "noWrapFlags") | flag_prop(op, "inbounds")
    flags = "".join(f"{word} " for bit, word in _GEP_FLAGS.items() if bits & bit and not (bit == 2 and bits & 1))
    dynamic = iter(op.operands[1:])
    indices = [
        emitter.typed(next(dynamic)) if index == GEP_USE_SSA_VAL else f"i32 {index}"
        for index in ints_prop(op, "rawConstantIndices")
    ]
    text = f"getelementptr {flags}{type_text(element)}, {emitter.typed(op.operands[0])}, {', '.join(indices)}"
    emitter.define(op, text)


def emit_extractvalue(emitter: FunctionEmitter, op: Operation) -> None:
    position = ", ".join(map(str, ints_prop(op, "position")))
    emitter.define(op, f"extractvalue {emitter.typed(op.operands[0])}, {position}")


def emit_insertvalue(emitter: FunctionEmitter, op: Operation) -> None:
    container, value = op.operands
    position = ", ".join(map(str, ints_prop(op, "position")))
    emitter.define(op, f"insertvalue {emitter.typed(container)}, {emitter.typed(value)}, {position}")


def emit_extractelement(emitter: FunctionEmitter, op: Operation) -> None:
    vector, position = op.operands
    emitter.define(op, f"extractelement {emitter.typed(vector)}, {emitter.typed(position)}")


def emit_insertelement(emitter: FunctionEmitter, op: Operation) -> None:
    vector, value, position = op.operands
    emitter.define(op, f"insertelement {emitter.typed(vector)}, {emitter.typed(value)}, {emitter.typed(position)}")


def emit_shufflevector(emitter: FunctionEmitter, op: Operation) -> None:
    first, second = op.operands
    emitter.define(op, shuffle_text(emitter.typed(first), emitter.typed(second), ints_prop(op, "mask")))


def shuffle_text(first: str, second: str, mask: tuple[int, ...]) -> str:
    """Return a shuffle of two typed vectors; a negative position leaves the lane open."""
    picks = ", ".join("i32 poison" if position < 0 else f"i32 {position}" for position in mask)
    return f"shufflevector {first}, {second}, <{len(mask)} x i32> <{picks}>"


def emit_freeze(emitter: FunctionEmitter, op: Operation) -> None:
    emitter.define(op, f"freeze {emitter.typed(op.operands[0])}")


def emit_inline_asm(emitter: FunctionEmitter, op: Operation) -> None:
    """Assembly that LLVM may not make depend on more conditions: it may be for all threads of a warp at once."""
    words = ["asm"]
    if flag_prop(op, "has_side_effects"):
        words.append("sideeffect")
    if flag_prop(op, "is_align_stack"):
        words.append("alignstack")
    if int_prop(op, "asm_dialect") == 1:
        words.append("inteldialect")
    code, constraints = (quoted(text_prop(op, name).encode()) for name in ("asm_string", "constraints"))
    result = results_text(tuple(value.type for value in op.results))
    arguments = ", ".join(emitter.typed(value) for value in op.operands)
    text = f'call {result} {" ".join(words)} "{code}", "{constraints}"({arguments}) convergent'
    bind_call_results(emitter, op, result, text)


def emit_call_intrinsic(emitter: FunctionEmitter, op: Operation) -> None:
    """LLVM's reader completes an overloaded name without its type suffix. A library's function has its own name."""
    call_intrinsic(emitter, op, text_prop(op, "intrin").removeprefix(PREFIX))


def call_intrinsic(emitter: FunctionEmitter, op: Operation, name: str, extra: str = "") -> None:
    """Call an intrinsic with the op's operands as they are; ``extra`` holds immediate arguments."""
    result = results_text(tuple(value.type for value in op.results))
    arguments = ", ".join(emitter.typed(value) for value in op.operands) + extra
    bind_call_results(emitter, op, result, f"call {fastmath_text(op)}{result} {symbol_text(name)}({arguments})")


def _plain_intrinsic(name: str) -> Rule:
    return lambda emitter, op: call_intrinsic(emitter, op, name)


def _flagged_intrinsic(name: str, flag: str) -> Rule:
    def emit(emitter: FunctionEmitter, op: Operation) -> None:
        call_intrinsic(emitter, op, name, f", i1 {'true' if flag_prop(op, flag) else 'false'}")

    return emit


def _cast(opcode: str) -> Rule:
    return lambda emitter, op: emit_plain_cast(emitter, op, opcode)


RULES: dict[str, Rule] = {
    **{f"llvm.{opcode}": int_binary(opcode) for opcode in _INT_OPCODES},
    **{f"llvm.{opcode}": float_binary(opcode) for opcode in _FLOAT_OPCODES},
    **{f"llvm.{opcode}": _cast(opcode) for opcode in _CAST_OPCODES},
    **{f"llvm.intr.{name}": float_intrinsic(f"llvm.{name}") for name in _FLOAT_INTRINSICS},
    **{f"llvm.intr.{name}": _plain_intrinsic(f"llvm.{name}") for name in _PLAIN_INTRINSICS},
    **{f"llvm.intr.{name}": _flagged_intrinsic(f"llvm.{name}", flag) for name, flag in _FLAGGED_INTRINSICS.items()},
    "llvm.mlir.constant": emit_constant,
    "llvm.mlir.undef": emit_undef,
    "llvm.mlir.poison": emit_poison,
    "llvm.mlir.zero": emit_zero,
    "llvm.mlir.addressof": emit_addressof,
    "llvm.getelementptr": emit_getelementptr,
    "llvm.extractvalue": emit_extractvalue,
    "llvm.insertvalue": emit_insertvalue,
    "llvm.extractelement": emit_extractelement,
    "llvm.insertelement": emit_insertelement,
    "llvm.shufflevector": emit_shufflevector,
    "llvm.freeze": emit_freeze,
    "llvm.inline_asm": emit_inline_asm,
    "llvm.call_intrinsic": emit_call_intrinsic,
    "llvm.intr.fma": emit_fma,
    "llvm.bitcast": emit_bitcast,
    "llvm.fpext": emit_extf,
    "llvm.fptrunc": emit_truncf,
    "llvm.fneg": emit_negf,
    "llvm.icmp": emit_cmpi,
    "llvm.fcmp": emit_cmpf,
    "llvm.select": emit_select,
}
