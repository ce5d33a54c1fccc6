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

AbiSlot = tuple[str, "int | float"]

_FORMATS = {"i1": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "index": "q", "f16": "e", "f32": "f", "f64": "d"}
_POINTER = "P"
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
        pointers = self.__get_c_pointers__()
        return [_number_behind(kind, at) for kind, at in zip(self.__get_ir_types__(), pointers, strict=True)]

    def __get_c_pointers__(self) -> Sequence[Any]:
        raise DslTypeError(f"{type(self).__name__} has neither __c_abi_spec__ nor __get_c_pointers__")


def _walked(value: Any) -> list[Any] | None:
    """The items of a container that is passed item by item."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, SimpleNamespace):
        value = vars(value)
    return list(value.values()) if isinstance(value, dict) else None


def get_ir_types(value: Any) -> list[Any]:
    """The IR types that a host value becomes, left to right."""
    items = _walked(value)
    if items is not None:
        return [kind for item in items for kind in get_ir_types(item)]
    if isinstance(value, Numeric):
        return [str(type(value).ir_type)]
    return list(_hook(value, "__get_ir_types__")())


def cache_signature(value: Any) -> Any:
    """A hashable value that differs wherever compiled code would."""
    items = _walked(value)
    if items is not None:
        keys = tuple(value) if isinstance(value, dict) else ()
        return (type(value).__name__, keys, tuple(cache_signature(item) for item in items))
    if isinstance(value, Numeric):
        return ("number", type(value))
    if not hasattr(value, "__cache_signature__"):
        return (type(value), tuple(str(kind) for kind in get_ir_types(value)))
    return value.__cache_signature__()


def c_abi_spec(value: Any) -> list[AbiSlot]:
    """What is handed to compiled code for a value."""
    if _walked(value) is not None:
        raise DslTypeError(
            f"a {type(value).__name__} cannot be passed from the host",
            hint="pass its items as separate arguments, or declare a @fx.struct",
        )
    if isinstance(value, Numeric):
        return [(_number_format(type(value)), value.value)]
    if hasattr(value, "__c_abi_spec__"):
        return list(value.__c_abi_spec__())
    pointers = _hook(value, "__get_c_pointers__")()
    return [_number_behind(kind, pointer) for kind, pointer in zip(get_ir_types(value), pointers, strict=True)]


def _number_format(dtype: type[Numeric]) -> str:
    form = _FORMATS.get(str(dtype.ir_type))
    if form is None:
        raise DslTypeError(f"{dtype} cannot be passed from the host", hint="pass an Int32, Int64 or Float32")
    return form if dtype.is_float or dtype.signed or form == "?" else form.upper()


def _number_behind(kind: Any, pointer: Any) -> AbiSlot:
    """The number that a ``void*`` slot points at, read by its IR type; every other type is an address."""
    form = _FORMATS.get(str(kind), _POINTER)
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
