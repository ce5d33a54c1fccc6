"""Choices between a number and zero that depend on its sign, such that LLVM keeps the sign of the zero.

LLVM takes `x if x < 0.0 else 0.0` for a minimum, and what GPUs have for that gives -0.0 for -0.0. A number is below
zero where it is not above the largest negative one: with that in the comparison it is no minimum to LLVM, and the same
choice. Where subnormal numbers are flushed it may give the other zero, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from flydsl.codegen.floats.elementwise_float import float_operands
from flydsl.codegen.function_emitter import FunctionEmitter
from flydsl.codegen.reading.literals import splat_literal

_ZERO = re.compile(r"(?:splat \(\w+ )?0x[HR]?([08])0*\)?")
_TURNED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
_OPPOSITE = {"olt": "uge", "ogt": "ule", "ult": "oge", "ugt": "ole"}
_OPPOSITE |= {value: key for key, value in _OPPOSITE.items()}
_WITH_NEIGHBOUR = {"lt": "le", "gt": "ge"}
_NEIGHBOURS = {
    "float": ("0x36A0000000000000", "0xB6A0000000000000"),
    "double": ("0x0000000000000001", "0x8000000000000001"),
    "half": ("0xH0001", "0xH8001"),
    "bfloat": ("0xR0001", "0xR8001"),
}
"""The numbers next to zero, above and below, as LLVM writes them: a float as the double that it is."""


def exact_condition(
    emitter: FunctionEmitter, comparison: Operation, predicate: str, arms: Sequence[SSAValue]
) -> str | None:
    """Return another condition to choose between ``arms`` by than a comparison; None where that will do."""
    sides, choice = (_beside_zero(emitter, pair) for pair in (comparison.operands, arms))
    if predicate not in _OPPOSITE or sides is None or choice is None:
        return None
    (place, compared, _), (which, number, zero) = sides, choice
    if number is not compared and number is not _narrow(compared):
        return None
    if place == 1:
        predicate = predicate[0] + _TURNED[predicate[1:]]
    chosen = predicate if which == 0 else _OPPOSITE[predicate]
    below = chosen[1:] == "lt"
    if chosen[1:] not in _WITH_NEIGHBOUR or zero != ("0" if below else "8"):
        return None  # the zero that a minimum or a maximum gives is the right one
    chosen = chosen[0] + _WITH_NEIGHBOUR[chosen[1:]]
    how = chosen if which == 0 else _OPPOSITE[chosen]
    type_, texts = float_operands(emitter, comparison)
    element = type_.removesuffix(">").split()[-1]
    neighbour = splat_literal(_NEIGHBOURS[element][below], replace(emitter.scalar(number), text=element))
    return emitter.assign(f"fcmp {how} {type_} {texts[place]}, {neighbour}")


def _beside_zero(emitter: FunctionEmitter, pair: Sequence[SSAValue]) -> tuple[int, SSAValue, str] | None:
    """Return which of two values is a number beside a zero, that number, and the sign of the zero."""
    signs = [_sign_of_zero(emitter, value) for value in pair]
    if (signs[0] is None) == (signs[1] is None):
        return None
    place = signs.index(None)
    return place, pair[place], signs[1 - place] or ""


def _narrow(value: SSAValue) -> SSAValue:
    """Return what a number was made of, if it was only widened to be compared."""
    owner = value.owner
    return owner.operands[0] if isinstance(owner, Operation) and owner.name in ("arith.extf", "llvm.fpext") else value


def _sign_of_zero(emitter: FunctionEmitter, value: SSAValue) -> str | None:
    """Return the first digit of a constant that is zero, "0" or "8"; None for others."""
    text = emitter.operand(value)
    found = _ZERO.fullmatch(text)
    return "0" if text == "zeroinitializer" else found[1] if found else None
