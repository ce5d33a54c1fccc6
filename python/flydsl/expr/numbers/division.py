"""Division and remainder.

`//` rounds down. `%` of numbers known while tracing is Python's, with the sign of the divisor; at run time it is the
machine's remainder, with the sign of the dividend (`remsi`, `remui`, `remf`). The two agree unless one operand is
negative. That is FlyDSL's rule, and kernels count on it.

Each recipe is written with the operators themselves, so it serves scalars and vectors, and a call whose
operands are static folds step by step with the same roundings as the device. A zero result may carry the
other sign of zero than Python's.
"""

from __future__ import annotations

from typing import Any

from flydsl.expr.numbers import fold
from flydsl.expr.numbers.math_table import FLOOR, ROUNDEVEN
from flydsl.expr.numbers.plan import Operation, plan_in_place

REM = Operation(
    "remainder",
    signed=("arith.remsi", fold.remsi),
    unsigned=("arith.remui", fold.remui),
    floating=("arith.remf", fold.remf),
    planner=plan_in_place,
)


def _divisor(rhs: Any) -> int | None:
    """Return the divisor where it is known; a known zero is an error now rather than undefined later."""
    if not rhs.is_static():
        return None
    if rhs.value == 0:
        raise fold.DslZeroDivisionError("integer division by zero")
    return rhs.value


def _is_power_of_two(value: int | None) -> bool:
    return value is not None and value > 0 and value & (value - 1) == 0


def divide_integers(lhs: Any, rhs: Any) -> Any | None:
    """Return a shift for a power of two: an arithmetic shift floors, which is what `//` means."""
    divisor = _divisor(rhs)
    if divisor is None or not _is_power_of_two(divisor):
        return None
    return lhs if divisor == 1 else lhs >> lhs.dtype(divisor.bit_length() - 1)


def remainder_of_integers(lhs: Any, rhs: Any) -> Any | None:
    """Return a mask for a power of two, where no number is negative."""
    divisor = _divisor(rhs)
    if lhs.dtype.signed or divisor is None or not _is_power_of_two(divisor):
        return None
    return lhs & rhs.dtype(divisor - 1)


def _float_remainder(lhs: Any, rhs: Any) -> tuple[Any, Any]:
    """Return the truncating remainder, and whether it has the wrong sign."""
    zero = rhs.dtype(0.0)
    remainder = lhs.combine(REM, rhs)
    return remainder, (remainder != zero) & ((remainder < zero) != (rhs < zero))


def remainder_of_floats(lhs: Any, rhs: Any) -> Any:
    return left_over_of_floats(lhs, rhs) if _both_known(lhs, rhs) else lhs.combine(REM, rhs)


def left_over_of_floats(lhs: Any, rhs: Any) -> Any:
    """Return the remainder as Python has it: exact, but for a sum where the signs differ."""
    remainder, wrong = _float_remainder(lhs, rhs)
    return wrong.select(remainder + rhs, remainder)


def left_over_of_integers(lhs: Any, rhs: Any) -> Any | None:
    """Return the remainder as Python has it; the machine's where that is the same."""
    return lhs - lhs // rhs * rhs if lhs.dtype.signed else remainder_of_integers(lhs, rhs)


def floor_divide_floats(lhs: Any, rhs: Any) -> Any:
    """floor(a / b) at run time. Of known numbers it is what Python gives: 1.0 // 0.1 is 9, not 10."""
    return quotient_of_floats(lhs, rhs) if _both_known(lhs, rhs) else (lhs / rhs)._unary(FLOOR)


def quotient_of_floats(lhs: Any, rhs: Any) -> Any:
    """Return the quotient as Python has it.

    `lhs - remainder` is a multiple of `rhs` up to rounding, so it is rounded, not floored.
    """
    remainder, wrong = _float_remainder(lhs, rhs)
    quotient = (lhs - remainder) / rhs
    return wrong.select(quotient - rhs.dtype(1.0), quotient)._unary(ROUNDEVEN)


def _both_known(lhs: Any, rhs: Any) -> bool:
    return lhs.is_static() and rhs.is_static()
