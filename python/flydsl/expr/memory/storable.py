"""Storable types: those with a size, an alignment and a way into and out of memory.

A type says so with the class-level hooks of :class:`Storable`; numbers of whole bytes are storable by themselves.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from flydsl.base.errors import DslTypeError
from flydsl.expr.numeric import Boolean, Numeric
from flydsl.expr.tensors.element import element_name
from flydsl.expr.tensors.pointer import Pointer


@runtime_checkable
class Storable(Protocol):
    """Class-level hooks of a type whose values can lie in memory."""

    @classmethod
    def __dsl_size_of__(cls) -> int: ...

    @classmethod
    def __dsl_align_of__(cls) -> int: ...

    @classmethod
    def __peek_from_ptr__(cls, ptr: Pointer) -> Any: ...

    @classmethod
    def __poke_into_ptr__(cls, ptr: Pointer, value: Any) -> None: ...


def is_number_type(dsl_type: Any) -> bool:
    """Return whether this is one number class, as opposed to a family such as ``fx.Integer``."""
    return isinstance(dsl_type, type) and issubclass(dsl_type, Numeric) and hasattr(dsl_type, "format")


def type_name(dsl_type: Any) -> str:
    """Return a type as messages name it."""
    return getattr(dsl_type, "__name__", None) or str(dsl_type)


def not_storable(dsl_type: Any) -> str | None:
    """Return why values of a type cannot lie in memory; None if they can."""
    if is_number_type(dsl_type):
        if dsl_type.width < 8 and dsl_type is not Boolean:
            return f"{type_name(dsl_type)} is narrower than a byte"
        return None
    if isinstance(dsl_type, type) and hasattr(dsl_type, "__dsl_size_of__"):
        return None
    return f"{type_name(dsl_type)} has no layout in memory"


def check_storable(dsl_type: Any, where: str = "") -> None:
    """Refuse a type without a place in memory; ``where`` names the field that has it."""
    reason = not_storable(dsl_type)
    if reason is not None:
        prefix = f"{where}: " if where else ""
        raise DslTypeError(
            f"{prefix}{reason}, so it cannot be stored",
            hint="Storable are numbers of whole bytes, fx.Array, and structs or unions of these",
        )


def dsl_size_of(dsl_type: Any) -> int:
    """Bytes that a value of the type occupies."""
    check_storable(dsl_type)
    if is_number_type(dsl_type):
        return max(dsl_type.width // 8, 1)
    return dsl_type.__dsl_size_of__()


def dsl_align_of(dsl_type: Any) -> int:
    """Return the power of two that a value's address is a multiple of."""
    check_storable(dsl_type)
    return dsl_size_of(dsl_type) if is_number_type(dsl_type) else dsl_type.__dsl_align_of__()


def peek_from_ptr(dsl_type: Any, ptr: Pointer) -> Any:
    """Return the value of a type that lies at an address."""
    check_storable(dsl_type)
    if is_number_type(dsl_type):
        return typed_pointer(ptr, dsl_type).load()
    return dsl_type.__peek_from_ptr__(ptr)


def poke_into_ptr(dsl_type: Any, ptr: Pointer, value: Any) -> None:
    """Write a value of a type to an address."""
    check_storable(dsl_type)
    if is_number_type(dsl_type):
        typed_pointer(ptr, dsl_type).store(dsl_type(value))
    else:
        dsl_type.__poke_into_ptr__(ptr, value)


def typed_pointer(ptr: Pointer, dtype: Any) -> Pointer:
    """Return the same address as a pointer to numbers of a type."""
    name = element_name(dtype)
    return ptr if ptr.payload.elem == name else ptr.recast(ptr.payload.recast(name))


def byte_offset(ptr: Pointer, offset: int) -> Pointer:
    """Return the byte pointer ``offset`` bytes on."""
    at = typed_pointer(ptr, "i8")
    return at + offset if offset else at


def round_up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


__all__ = ["Storable", "dsl_align_of", "dsl_size_of", "peek_from_ptr", "poke_into_ptr"]
