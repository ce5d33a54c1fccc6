"""What an object holds: its attributes, slots and built-in value, if that is all there is to it.

Nothing here runs the user's code: attributes are read from where Python keeps them.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping
from types import FunctionType, SimpleNamespace
from typing import Any


def is_immutable(cls: type) -> bool:
    """Whether instances never change: values of this package and of `dataclasses`, and frozen dataclasses."""
    parameters = getattr(cls, "__dataclass_params__", None)
    ours = cls.__module__.startswith(("flydsl.", "dataclasses"))
    return ours or bool(parameters and parameters.frozen)


_GENERATED = frozenset({
    "__init__", "__repr__", "__eq__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__setattr__", "__delattr__",
    "__getstate__", "__setstate__", "__replace__",
})  # fmt: skip


def is_generated(name: str, value: Any) -> bool:
    """Whether an entry of a dataclass is a method that `dataclasses` wrote."""
    if name not in _GENERATED or not isinstance(value, FunctionType):
        return False
    return value.__code__.co_filename in ("<string>", dataclasses.__file__)


_BASES: Mapping[type, Callable[[Any], Any]] = {
    tuple: lambda value: tuple.__getitem__(value, slice(None)),
    str: lambda value: str.__getitem__(value, slice(None)),
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    int: int.__pos__,
    float: float.__pos__,
}
"""How to get at the value of a built-in type within a subclass, past whatever the subclass overrides."""


def state_of(value: Any) -> tuple[dict[str, Any] | None, dict[str, Any], Any] | None:
    """(attributes, slots, value as a built-in type) of an instance, or None if it may hold more than these."""
    cls = type(value)
    base = next((value_of(value) for plain, value_of in _BASES.items() if isinstance(value, plain)), None)
    if base is None and cls is not SimpleNamespace:
        if _copies_its_own_way(cls):
            return None
        if not _is_python_class(value):
            return None
    elif base is not None and any(
        known not in (object, *_BASES) and not known.__flags__ & _HEAP_TYPE for known in cls.__mro__
    ):
        return None
    slots: dict[str, Any] = {}
    for part in cls.__mro__:
        names = vars(part).get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            name = f"_{part.__name__.lstrip('_')}{name}" if name.startswith("__") and name[-2:] != "__" else name
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                slots[name] = getattr(value, name)
    return getattr(value, "__dict__", None), slots, base


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
