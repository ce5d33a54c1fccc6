"""Values for the fields of an atom's state, in the type each field has."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.numeric import as_numeric
from flydsl.expr.tensors.element import element_class
from flydsl.expr.trace.context import Value
from flydsl.expr.vector import Vector
from flydsl.target.dtype import width_bits


def state_value(op: Any, field: str, value: Any) -> Value:
    """Return the SSA value for a field of an instruction's state.

    A field of stated type takes an integer of that width, signed or not, or a vector of narrower elements that fill
    it: ``scale_a`` of a scaled product is four E8M0 bytes, given as an Int32 or as a vector of four bytes.
    """
    wanted = getattr(op, "state_types", {}).get(field)
    if wanted is None:
        return as_numeric(value).ir_value()
    cls, bits = element_class(wanted), width_bits(wanted)
    if isinstance(value, Vector):
        if value.numel * value.dtype.width != bits:
            raise DslTypeError(f"'{field}' of {op} has {bits} bits, got {value}", hint=f"give an fx.{cls.__name__}")
        return value.bitcast(cls)[0].ir_value()
    if isinstance(value, int) and not isinstance(value, bool):
        return cls(_wrapped(field, value, bits)).ir_value()
    number = as_numeric(value)
    if not number.dtype.is_integer or number.dtype.width != bits:
        raise DslTypeError(
            f"'{field}' of {op} is an {wanted}, got {type(number).__name__}", hint=f"convert it: fx.{cls.__name__}(x)"
        )
    return number.ir_value()


def _wrapped(field: str, value: int, bits: int) -> int:
    """Return a Python int as a signed number of that width; 0xFFFFFFFF is as good as -1."""
    if not -(1 << (bits - 1)) <= value < 1 << bits:
        raise DslValueError(f"'{field}' is {value}, which has more than {bits} bits")
    return value - (1 << bits) if value >= 1 << (bits - 1) else value


__all__ = ["state_value"]
