"""Conversions to and from 8-, 6- and 4-bit floats with a scale: one function per row of the fact table.

Operands come in the order of LLVM's intrinsic: what the register held before (where only part of it is written), the
source, random bits (``sr``), the scale, and which part of the register is meant. The older form with the result type
first is accepted too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.expr.trace.context import Value
from flydsl.expr.trace.intrinsic import call, constant, flag, operand_as, require, without_result_type, wrapped
from flydsl.target.scaled_conversions import SCALED_CONVERSIONS, ScaledConversion


def _operand(facts: ScaledConversion, type_: str, value: Any) -> Value:
    if type_ == "flag":
        return flag(value, "the half")
    if type_.startswith("sel"):
        return constant("i32", value, "the part of the register", 0, int(type_[3:]) - 1)
    return operand_as(value, type_, facts.name)


def _function(facts: ScaledConversion) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        given = without_result_type(args)
        if len(given) != len(facts.operands):
            raise DslTypeError(f"{facts.name} takes ({', '.join(facts.operands)}), got {len(given)} arguments")
        require(facts.name, "rocm", (facts.generation,))
        operands = [_operand(facts, type_, value) for type_, value in zip(facts.operands, given, strict=True)]
        return wrapped(call(facts.intrinsic, operands, facts.result))

    run.__name__ = run.__qualname__ = facts.name
    how = "rounded by random bits" if facts.random else "rounded to nearest"
    run.__doc__ = f"{facts.source} to {facts.to} with a scale, {how}: ({', '.join(facts.operands)}) to {facts.result}."
    return run


globals().update({name: _function(facts) for name, facts in SCALED_CONVERSIONS.items()})

__all__ = list(SCALED_CONVERSIONS)  # pyright: ignore[reportUnsupportedDunderAll]
