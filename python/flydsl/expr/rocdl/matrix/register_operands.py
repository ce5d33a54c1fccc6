"""Operands of raw matrix instructions: any value of the right number of bits, as a vector of the element wanted."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.numeric import Numeric, as_numeric
from flydsl.expr.tensors.element import element_class
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.values.vector_value import vector_operand
from flydsl.expr.vector import Vector
from flydsl.target.dtype import register_type, width_bits
from flydsl.target.mma_facts import fragment_elem


def as_vector(name: str, role: str, value: Any) -> Vector:
    """A vector, register tensor, scalar or raw SSA value as a vector of whatever elements it has."""
    if isinstance(value, Tensor):
        return value.load()
    found = vector_operand(value)
    if isinstance(found, Vector):
        return found
    if found is None:
        raise DslTypeError(f"{name} takes {role} as a vector of registers, got {type(value).__name__}")
    number = found if isinstance(found, Numeric) else as_numeric(found)
    return Vector.from_elements([number], type(number))


def register_vector(name: str, role: str, value: Any, elem: str, count: int, *, shorten: bool = False) -> Vector:
    """``count`` elements from the bits of a value.

    With ``shorten`` a longer vector is cut: a scaled instruction is often given eight registers whatever its format.
    """
    given = as_vector(name, role, value)
    elem = register_type(fragment_elem(elem))
    wanted, held = count * width_bits(elem), given.numel * given.dtype.width
    if shorten and held > wanted and held % 32 == 0:
        words = given.bitcast(element_class("i32"))
        given, held = words.shuffle(words, range(wanted // 32)), wanted
    if held != wanted:
        raise DslValueError(
            f"{name} takes {role} as {count} values of {elem}, {wanted} bits a thread, but got {given.dtype.__name__} "
            f"x {given.numel}, {held} bits",
            hint="a thread's part of each operand fills its registers exactly; see the table of the instruction",
        )
    return given.bitcast(element_class(elem))
