"""What an object holds: its attributes, slots and built-in value, if that is all there is to it.

Nothing here runs the user's code: attributes are read from where Python keeps them.
"""

from __future__ import annotations

import dataclasses
import reprlib
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import FunctionType, MappingProxyType, MemberDescriptorType, SimpleNamespace
from typing import Any

from flydsl.base.own_code import is_own_module


def is_immutable(cls: type) -> bool:
    """Whether instances never change: values of this package and of `dataclasses`, and frozen dataclasses."""
    parameters = getattr(cls, "__dataclass_params__", None)
    ours = is_own_module(cls.__module__) or cls.__module__ == "dataclasses"
    return ours or bool(parameters and parameters.frozen)


_GENERATED = frozenset({
    "__init__", "__repr__", "__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__setattr__", "__delattr__",
    "__getstate__", "__setstate__", "__replace__",
})  # fmt: skip


def is_generated(name: str, value: Any) -> bool:
    """Whether an entry of a dataclass is a method that `dataclasses` wrote."""
    if name not in _GENERATED or not isinstance(value, FunctionType):
        return False
    if value.__code__.co_filename == reprlib.__file__:  # from Python 3.13 on, what it wrote is inside
        value = getattr(value, "__wrapped__", value)
    return value.__code__.co_filename in ("<string>", dataclasses.__file__)


_BASES: Mapping[type, Callable[[Any], Any]] = {
    tuple: lambda value: tuple.__getitem__(value, slice(None)),
    str: lambda value: str.__getitem__(value, slice(None)),
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    int: int.__pos__,
    float: float.__pos__,
}
"""How to get at the value of a built-in type within a subclass, past whatever the subclass overrides."""


_CONTAINERS: tuple[type, ...] = (OrderedDict, defaultdict, dict, list, set, frozenset, deque, MappingProxyType)


def container_base(value: Any) -> Any:
    """The built-in container that a value is, or that its class is derived from; None if it is none."""
    return container_of(type(value))


@lru_cache(maxsize=1024)
def container_of(kind: type) -> Any:
    """The built-in container that a class is or is derived from; None if it is none."""
    return next((base for base in _CONTAINERS if issubclass(kind, base)), None)


def slots_of(value: Any) -> dict[str, Any]:
    """The descriptors of an object's slots that hold something, by name."""
    slots = _slots_of_class(type(value))
    return {name: slot for name, slot in slots if _holds(slot, value)} if slots else {}


@lru_cache(maxsize=1024)
def _slots_of_class(kind: type) -> tuple[tuple[str, Any], ...]:
    found: dict[str, Any] = {}
    for part in kind.__mro__:
        names = vars(part).get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            name = f"_{part.__name__.lstrip('_')}{name}" if name.startswith("__") and name[-2:] != "__" else name
            slot = vars(part).get(name)
            if type(slot) is MemberDescriptorType:
                found.setdefault(name, slot)
    return tuple(found.items())


def _holds(slot: Any, value: Any) -> bool:
    try:
        slot.__get__(value)
    except AttributeError:
        return False
    return True


def state_of(value: Any) -> tuple[dict[str, Any] | None, dict[str, Any], Any] | None:
    """(attributes, slots, value as a built-in type) of an instance, or None if it may hold more than these.

    The items of a container are not among them.
    """
    cls = type(value)
    base = next((value_of(value) for plain, value_of in _BASES.items() if isinstance(value, plain)), None)
    plain = (*_BASES, *_CONTAINERS)
    if base is None and cls is not SimpleNamespace and container_base(value) is None:
        if _copies_its_own_way(cls) or not _is_python_class(value):
            return None
    elif cls is not SimpleNamespace and not all(p in (object, *plain) or p.__flags__ & _HEAP_TYPE for p in cls.__mro__):
        return None
    slots = {name: slot.__get__(value) for name, slot in slots_of(value).items()}
    return attributes_of(value), slots, base


def attributes_of(value: Any) -> dict[str, Any] | None:
    """The dictionary of an object's attributes, past whatever its class answers when it is asked for one."""
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None


_HEAP_TYPE = 1 << 9


def _copies_its_own_way(cls: type) -> bool:
    """Whether a class says itself what an instance consists of: there may be more to it than attributes."""
    state = cls.__getstate__
    own_state = state is not object.__getstate__ and getattr(state, "__module__", "") != "dataclasses"
    own = cls.__reduce__ is not object.__reduce__ or cls.__reduce_ex__ is not object.__reduce_ex__
    return own or own_state or hasattr(cls, "__getnewargs__") or hasattr(cls, "__getnewargs_ex__")


def _is_python_class(value: Any) -> bool:
    """Whether all an instance holds is in its attributes and slots: classes written in C may hold more."""
    try:
        object.__reduce_ex__(value, 2)
    except TypeError:  # what Python says of a class with hidden state
        return False
    except Exception:  # a class with its own idea of copying
        return False
    return all(part is object or part.__flags__ & _HEAP_TYPE for part in type(value).__mro__)


def library_value(value: Any) -> str | None:
    """Values of numpy, ml_dtypes and torch that are settings rather than data."""
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    if package == "numpy" and isinstance(value, sys.modules["numpy"].dtype):
        return f"dtype {value.str} {value.name} {value.descr if value.fields else ''}"
    if package in ("numpy", "ml_dtypes") and isinstance(value, sys.modules["numpy"].generic):
        return f"scalar {value.dtype.str} {value.dtype.name} {value.tobytes().hex()}"
    if package == "numpy" and getattr(sys.modules["numpy"], getattr(value, "__name__", ""), None) is value:
        return f"numpy.{value.__name__}@{sys.modules['numpy'].__version__}"
    if package == "torch" and kind.__name__ in ("dtype", "device", "memory_format", "layout"):
        return f"{kind.__name__} {value}"
    return None
