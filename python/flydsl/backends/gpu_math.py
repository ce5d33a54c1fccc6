"""Which math operations a GPU has, and what becomes of the others.

LLVM ends the process when a back end has no instruction for an intrinsic, so the ones a family lacks
never reach it: `exp` is rewritten by way of `exp2`, the rest are refused with what to write instead.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Operation

from flydsl.codegen.function_emitter import FunctionEmitter, Rule
from flydsl.codegen.literals import float_literal
from flydsl.codegen.op_view import fail
from flydsl.codegen.rules_math import RULES

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
_AMD = frozenset(f"math.{name}" for name in ["exp", "exp2", "log", "log2", "log10", "sin", "cos", "powf"])

_SHORT = ("f32", "f16", "bf16")
"""Types the special-function units know; f64 has only what is everywhere."""

_LOG2_E = float_literal(1.4426950408889634, Float32Type())


def _refused(name: str, family: str) -> Rule:
    def rule(emitter: FunctionEmitter, op: Operation) -> None:
        fail(op, f"{family} GPUs have no instruction for {name} of this type", hint=_ADVICE.get(name, _OTHERWISE))

    return rule


_OTHERWISE = "write it with exp2, sqrt and arithmetic, or run the kernel on the host device"
_ADVICE = {
    "math.exp2": "use f32 instead of f64",
    "math.exp": "use f32 instead of f64",
}


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
        refused = _refused(name, family)
        if name in _EVERYWHERE:
            continue
        found[name] = _by_type(name, rule, refused) if name in special else refused
    if family == "NVIDIA":
        found["math.exp"] = _by_type("math.exp", _exp_by_exp2, found["math.exp"])
    return found
