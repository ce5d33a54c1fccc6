"""The JitArgument protocol: how a value on the host is passed to compiled code.

``__get_ir_types__`` gives the IR types the value becomes (type text, or the payload of a fly type),
``__cache_signature__`` everything the compiled code relies on, and ``__c_abi_spec__`` the numbers that are handed
over, as pairs of a `struct` format character and a number. The older ``__get_c_pointers__`` gives one pointer per IR
type instead, to the number in memory.
"""

from __future__ import annotations

import ctypes
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.expr.numeric import Numeric
from flydsl.expr.trace.abi_slots import AbiSlot, format_of_type, number_format, number_value

# Stream: where a launch is queued -------------------------------------------------------------


class Stream:
    """A stream argument: None for the default stream, a raw handle, or a torch stream."""

    __slots__ = ("value",)

    def __init__(self, value: Any = None) -> None:
        self.value = value

    def __extract_to_ir_values__(self) -> list[Any]:
        return [self.value]

    @classmethod
    def __construct_from_ir_values__(cls, values: list[Any], exemplar: Any = None) -> Stream:
        return cls(values[0])


_HAND_OVER = ("__c_abi_spec__", "__get_c_pointers__")


class JitArgument(ABC):
    """A host value that compiled code can be called with.

    A class is one by having ``__get_ir_types__`` and either form of handing its numbers over; deriving from this class
    is not needed. Without ``__cache_signature__``, its type and IR types are the signature.
    """

    @classmethod
    def __subclasshook__(cls, other: type) -> bool:
        if cls is not JitArgument:
            return NotImplemented
        return hasattr(other, "__get_ir_types__") and any(hasattr(other, name) for name in _HAND_OVER)

    @abstractmethod
    def __get_ir_types__(self) -> Sequence[Any]: ...

    def __cache_signature__(self) -> Any:
        return (type(self), tuple(str(kind) for kind in self.__get_ir_types__()))

    def __c_abi_spec__(self) -> Sequence[AbiSlot]:
        return _numbers_behind(self)

    def __get_c_pointers__(self) -> Sequence[Any]:
        raise DslTypeError(f"{type(self).__name__} has neither __c_abi_spec__ nor __get_c_pointers__")


def _walked(value: Any) -> list[Any] | None:
    """Return the items of a container that is passed item by item."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, SimpleNamespace):
        value = vars(value)
    return list(value.values()) if isinstance(value, dict) else None


def get_ir_types(value: Any) -> list[Any]:
    """Return the IR types that a host value becomes, left to right."""
    items = _walked(value)
    if items is not None:
        return [kind for item in items for kind in get_ir_types(item)]
    if isinstance(value, Numeric):
        return [str(type(value).ir_type)]
    return list(_hook(value, "__get_ir_types__")())


def cache_signature(value: Any) -> Any:
    """Return a hashable value that differs wherever compiled code would."""
    items = _walked(value)
    if items is not None:
        keys = tuple(value) if isinstance(value, dict) else ()
        return (type(value).__name__, keys, tuple(cache_signature(item) for item in items))
    if isinstance(value, Numeric):
        return ("number", type(value))
    if not hasattr(value, "__cache_signature__"):
        if not hasattr(value, "__get_ir_types__"):
            raise DslTypeError(f"a {type(value).__name__} has no cache signature", hint="give it __cache_signature__")
        return (type(value), tuple(str(kind) for kind in get_ir_types(value)))
    return value.__cache_signature__()


def c_abi_spec(value: Any) -> Sequence[AbiSlot]:
    """Return what is handed to compiled code for a value, as the value itself says it; `abi_slots` checks it."""
    if _walked(value) is not None:
        raise DslTypeError(
            f"a {type(value).__name__} cannot be passed from the host",
            hint="pass its items as separate arguments, or declare a @fx.struct",
        )
    if isinstance(value, Numeric):
        return [(number_format(type(value)), number_value(value))]
    if hasattr(value, "__c_abi_spec__"):
        return value.__c_abi_spec__()
    return _numbers_behind(value)


def _numbers_behind(value: Any) -> list[AbiSlot]:
    """Return the slots of a value that gives a pointer to each of its numbers."""
    if not hasattr(value, "__get_c_pointers__"):
        raise DslTypeError(
            f"{type(value).__name__} has neither __c_abi_spec__ nor __get_c_pointers__",
            hint='its C-ABI slots are missing: give it a __c_abi_spec__ that returns numbers, such as [("f", 2.5)]',
        )
    types, pointers = get_ir_types(value), list(value.__get_c_pointers__())
    if len(types) != len(pointers):
        raise DslTypeError(
            f"the __get_c_pointers__ of {type(value).__name__} gives {len(pointers)}, it has {len(types)} IR types",
            hint="give one pointer per IR type, to the number in memory",
        )
    return [_number_behind(kind, pointer) for kind, pointer in zip(types, pointers, strict=True)]


def _number_behind(kind: Any, pointer: Any) -> AbiSlot:
    """Return the number that a ``void*`` slot points at, read by its IR type; every other type is an address."""
    form = format_of_type(kind)
    address = ctypes.cast(pointer, ctypes.c_void_p).value
    if address is None:
        raise DslTypeError(f"the slot for {kind} is a null pointer")
    data = ctypes.string_at(address, struct.calcsize(form))
    return form, struct.unpack(form, data)[0]


def _hook(value: Any, name: str) -> Callable[[], Any]:
    found = getattr(value, name, None)
    if found is None:
        raise DslTypeError(
            f"a {type(value).__name__} cannot be passed from the host: it has no {name}",
            hint="pass a number, an array or a struct, or register an adaptor with flyc.JitArgumentRegistry",
        )
    return found


__all__ = ["JitArgument", "c_abi_spec", "cache_signature", "get_ir_types"]
