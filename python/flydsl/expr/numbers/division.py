"""Division and remainder that follow Python: `a == (a // b) * b + a % b`, with `a % b` of b's sign.

Each recipe is written with the operators themselves, so it serves scalars and vectors, and a call whose
operands are static folds step by step with the same roundings as the device. A zero result may carry the
other sign of zero than Python's.
"""

from __future__ import annotations

from typing import Any

from flydsl.expr.numbers import fold
from flydsl.expr.numbers.math_table import ROUNDEVEN
from flydsl.expr.numbers.plan import Operation, plan_in_place

REM = Operation(
    "remainder",
    signed=("arith.remsi", fold.remsi),
    unsigned=("arith.remui", fold.remui),
    floating=("arith.remf", fold.remf),
    planner=plan_in_place,
)


def _divisor(rhs: Any) -> int | None:
    """The divisor where it is known; a known zero is an error now rather than undefined later."""
    if not rhs.is_static():
        return None
    if rhs.value == 0:
        raise fold.DslZeroDivisionError("integer division by zero")
    return rhs.value


def _is_power_of_two(value: int | None) -> bool:
    return value is not None and value > 0 and value & (value - 1) == 0


def divide_integers(lhs: Any, rhs: Any) -> Any | None:
    """A shift for a power of two: an arithmetic shift floors, which is what `//` means."""
    divisor = _divisor(rhs)
    if divisor is None or not _is_power_of_two(divisor):
        return None
    return lhs if divisor == 1 else lhs >> lhs.dtype(divisor.bit_length() - 1)


def floor_mod_integers(lhs: Any, rhs: Any) -> Any | None:
    """A mask for a power of two; otherwise the truncating remainder, corrected where it is negative."""
    divisor = _divisor(rhs)
    if divisor is not None and _is_power_of_two(divisor):
        return lhs & rhs.dtype(divisor - 1)
    if not lhs.dtype.signed:
        return None
    remainder = lhs.combine(REM, rhs)
    if divisor is not None and divisor > 0:
        return (remainder < rhs.dtype(0)).select(remainder + rhs, remainder)
    wrong = ((remainder ^ rhs) < rhs.dtype(0)) & (remainder != rhs.dtype(0))
    return wrong.select(remainder + rhs, remainder)


def _float_remainder(lhs: Any, rhs: Any) -> tuple[Any, Any]:
    """The truncating remainder, and whether it has the wrong sign."""
    zero = rhs.dtype(0.0)
    remainder = lhs.combine(REM, rhs)
    return remainder, (remainder != zero) & ((remainder < zero) != (rhs < zero))


def floor_mod_floats(lhs: Any, rhs: Any) -> Any:
    remainder, wrong = _float_remainder(lhs, rhs)
    return wrong.select(remainder + rhs, remainder)


def floor_divide_floats(lhs: Any, rhs: Any) -> Any:
    """Not floor(a / b): that gives 10 for 1.0 // 0.1, while 1.0 % 0.1 is almost 0.1.

    `lhs - remainder` is a multiple of `rhs` up to rounding, so the quotient is rounded, not floored.
    """
    remainder, wrong = _float_remainder(lhs, rhs)
    quotient = (lhs - remainder) / rhs
    return wrong.select(quotient - rhs.dtype(1.0), quotient)._unary(ROUNDEVEN)
