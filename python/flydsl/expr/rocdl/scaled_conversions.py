"""Conversions to and from 8-, 6- and 4-bit floats with a scale: one function per row of the fact table.

Operands come in the order of LLVM's intrinsic: what the register held before (where only part of it is written), the
source, random bits (``sr``), the scale, and which part of the register is meant. The older form with the result type
first is accepted too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.expr.context import Value
from flydsl.expr.intrinsic import call, constant, flag, require, wrapped
from flydsl.expr.ir_types import IrType, split_vector_type
from flydsl.expr.numeric import Numeric, as_numeric
from flydsl.expr.vector import Vector
from flydsl.target.scaled_conversions import SCALED_CONVERSIONS, ScaledConversion


def operand_as(value: Any, type_: str, what: str) -> Value:
    """A number converted to a scalar type, or any value of the same size as a vector type."""
    lanes, element = split_vector_type(type_)
    kind = Numeric.from_ir_type(element)
    number = (
        value
        if hasattr(value, "ir_value")
        else as_numeric(value)
        if isinstance(value, (int, float))
        else wrapped(value)
    )
    if lanes is None:
        if isinstance(number, Vector):
            number = number.bitcast(kind)
            if number.numel != 1:
                raise DslTypeError(f"{what} takes {type_} here, got {value}")
            number = number[0]
        return kind(number).ir_value()
    wanted = lanes * kind.width
    if not isinstance(number, Vector):
        plain = isinstance(value, int) and not value
        number = Vector.filled(lanes, 0, kind) if plain else Vector.from_elements([number], number.dtype)
    if number.numel * number.dtype.width != wanted:
        raise DslTypeError(f"{what} takes {type_} here, {wanted} bits, got {value}")
    return (number if number.dtype is kind else number.bitcast(kind)).ir_value()


def _operand(facts: ScaledConversion, type_: str, value: Any) -> Value:
    if type_ == "flag":
        return flag(bool(value))
    if type_.startswith("sel"):
        return constant("i32", value, "the part of the register", 0, int(type_[3:]) - 1)
    return operand_as(value, type_, facts.name)


def _function(facts: ScaledConversion) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        given = args[1:] if len(args) == len(facts.operands) + 1 and isinstance(args[0], IrType) else args
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
