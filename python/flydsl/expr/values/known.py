"""Numbers known while tracing, whatever holds them: Python's own, a static number or extent, a constant's raw value.

Older kernels hand raw values to everything (``arith.unwrap(x)``), also where an instruction wants a number of its own
encoding. A raw value that is a constant of the IR is that number; any other is as unknown as the value it came from.
"""

from __future__ import annotations

from typing import Any

from flydsl.expr.numeric import Numeric, is_raw_value, operand
from flydsl.expr.trace.context import current
from flydsl.expr.values.numpy_scalar import python_value


def plain(value: Any) -> Any:
    """Return a number known while tracing as Python's own; anything else as it is."""
    held = is_raw_value(value) or hasattr(value, "__dsl_is_number__")
    number = value if isinstance(value, Numeric) else operand(value) if held else None
    if number is None:
        return python_value(value)
    if number.is_static():
        return number.value
    known = current().known_number(number.value)
    return value if known is None else type(number)(known).value


def shown(value: Any) -> str:
    """Return how an error message names an operand: a raw value by its type alone."""
    if is_raw_value(value):
        return f"a run-time {current().type_name(value)}"
    if hasattr(value, "__dsl_is_number__") and not value.is_static:
        return "a run-time extent" if value.__dsl_is_number__() else f"{value!r}, which is known at run time"
    return repr(value)
