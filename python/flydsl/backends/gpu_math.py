"""Which math operations a GPU has, and what becomes of the others.

LLVM ends the process when a back end has no instruction for an intrinsic, so the ones a family lacks never reach it:
NVIDIA's `exp` is rewritten by way of `exp2`, the rest are computed by our own arithmetic in f32 and refused in f64.
AMD's back end computes `sin`, `cos` and `powf` with its fast instructions alone, which are wrong for large angles and
negative bases, so those take our arithmetic too; its exponentials and logarithms are accurate.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Operation

from flydsl.codegen.floats import float_functions
from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.llvm_types import type_text
from flydsl.codegen.reading.literals import float_literal
from flydsl.codegen.reading.op_view import fail
from flydsl.codegen.rules.rules_math import RULES

_EVERYWHERE = frozenset(
    f"math.{name}"
    for name in [
        "absf",
        "absi",
        "ceil",
        "floor",
        "trunc",
        "round",
        "roundeven",
        "copysign",
        "fma",
        "sqrt",
        "rsqrt",
        "ctlz",
        "cttz",
        "ctpop",
        "ipowi",
        "fpowi",
        "clampf",
        "isnan",
        "isinf",
        "isfinite",
        "isnormal",
    ]
)
_NVIDIA = frozenset({"math.exp2"})
_AMD = frozenset(f"math.{name}" for name in ["exp", "exp2", "log", "log2", "log10"])

_SHORT = ("f32", "f16", "bf16")
"""Types computed in f32; f64 has only what is everywhere."""

_LOG2_E = float_literal(1.4426950408889634, Float32Type())


def _refused(name: str, family: str) -> Rule:
    def rule(emitter: FunctionEmitter, op: Operation) -> None:
        fail(
            op,
            f"{name} of {emitter.scalar(op.operands[0]).name} is not there on {family} GPUs",
            hint="convert to f32, in which they compute it (f16 and bf16 too), or run the kernel on the host device",
        )

    return rule


def _exp_by_exp2(emitter: FunctionEmitter, op: Operation) -> None:
    """exp(x) = exp2(x * log2 e), in f32 whatever the type."""
    value = op.operands[0]
    scalar, type_ = emitter.scalar(value), emitter.type(value)
    wide = f"<{scalar.lanes} x float>" if scalar.lanes else "float"
    x = emitter.operand(value)
    if type_ != wide:
        x = emitter.assign(f"fpext {type_} {x} to {wide}")
    factor = f"splat (float {_LOG2_E})" if scalar.lanes else _LOG2_E
    power = emitter.assign(f"call {wide} @llvm.exp2({wide} {emitter.assign(f'fmul {wide} {x}, {factor}')})")
    emitter.bind(op.results[0], power if type_ == wide else emitter.assign(f"fptrunc {wide} {power} to {type_}"))


_COMPUTED: dict[str, Rule] = {**float_functions.RULES, "math.exp": _exp_by_exp2}


def _by_type(name: str, short: Rule, otherwise: Rule) -> Rule:
    def rule(emitter: FunctionEmitter, op: Operation) -> None:
        chosen = short if emitter.scalar(op.operands[0]).name in _SHORT else otherwise
        chosen(emitter, op)

    rule.__name__ = name
    return rule


def math_rules(family: str) -> Mapping[str, Rule]:
    """Rules of all math operations for ``NVIDIA`` or ``AMD``."""
    special = _NVIDIA if family == "NVIDIA" else _AMD
    found: dict[str, Rule] = {}
    for name, rule in RULES.items():
        if name not in _EVERYWHERE:
            refused = _refused(name, family)
            found[name] = _by_type(name, rule if name in special else _COMPUTED.get(name, refused), refused)
    return found


# Values of any width as the 32-bit words that lanes exchange ----------------------------------


_FLOATS = {"half": 16, "bfloat": 16, "%bf16": 16, "float": 32, "double": 64}


def _bits(type_: str, op: Operation) -> int:
    if type_.startswith("<"):
        count, _, elem = type_[1:-1].partition(" x ")
        return int(count) * _bits(elem, op)
    if type_ in _FLOATS:
        return _FLOATS[type_]
    if type_.startswith("i"):
        return int(type_[1:])
    fail(op, f"a value of type {type_} cannot be exchanged between lanes")


def to_words(emitter: FunctionEmitter, op: Operation) -> list[str]:
    """Return the first operand as 32-bit words, the last one padded."""
    type_ = type_text(op.operands[0].type)
    bits = _bits(type_, op)
    padded = -(-bits // 32) * 32
    text = emitter.operand(op.operands[0])
    whole = text if type_ == f"i{bits}" else emitter.assign(f"bitcast {type_} {text} to i{bits}")
    if padded != bits:
        whole = emitter.assign(f"zext i{bits} {whole} to i{padded}")
    if padded == 32:
        return [whole]
    count = padded // 32
    vector = emitter.assign(f"bitcast i{padded} {whole} to <{count} x i32>")
    return [emitter.assign(f"extractelement <{count} x i32> {vector}, i32 {i}") for i in range(count)]


def from_words(emitter: FunctionEmitter, words: list[str], op: Operation) -> str:
    """Return a value of the first result's type from its words."""
    type_ = type_text(op.results[0].type)
    bits, count = _bits(type_, op), len(words)
    whole = words[0]
    if count > 1:
        vector = "poison"
        for index, word in enumerate(words):
            vector = emitter.assign(f"insertelement <{count} x i32> {vector}, i32 {word}, i32 {index}")
        whole = emitter.assign(f"bitcast <{count} x i32> {vector} to i{count * 32}")
    if count * 32 != bits:
        whole = emitter.assign(f"trunc i{count * 32} {whole} to i{bits}")
    return whole if type_ == f"i{bits}" else emitter.assign(f"bitcast i{bits} {whole} to {type_}")
