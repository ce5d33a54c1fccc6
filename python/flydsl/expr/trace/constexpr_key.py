"""Keys of compile-time values: a value's content, so that whatever changes in it is another key.

Equality as a class defines it is not asked: `1 == 1.0 == True`, a field may be left out of a comparison, and what can
change in place is equal to itself whatever it holds. Objects whose content cannot be seen, or that a program could
change between two calls without any sign of it, are refused.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache, partial
from types import BuiltinFunctionType, EllipsisType, FunctionType, MethodType, ModuleType
from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.base.libraries import known_module
from flydsl.base.own_code import is_own_module
from flydsl.expr.numeric import Numeric
from flydsl.expr.values.numpy_scalar import python_value

_PLAIN = (int, bool, str, float, type(None))
"""Types of most compile-time values, which are what they are."""
_SELF = (complex, bytes, range, EllipsisType)
"""Others whose text tells them apart."""
_BY_TEXT = frozenset({"fractions", "decimal", "_decimal", "datetime", "pathlib", "uuid"})
"""Modules of the standard library whose values never change; some are equal without being the same."""
_BY_EQUALITY = frozenset({"typing", "types", "numpy", "ml_dtypes", "torch", "flydsl", "weakref"})
"""Packages whose hashable values never change, and are equal if they are the same."""

_DEEPEST = 50
"""Levels of values in values; further ones would meet Python's limit of nested calls at some later step."""


class Same:
    """A key that only one object has; it keeps the object alive."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def constexpr_key(value: Any) -> Any:
    """Return a hashable stand-in that tells values of different types apart (True, 1 and 1.0 are three)."""
    kind = type(value)
    if kind in _PLAIN:
        return (kind, repr(value) if kind is float else value)
    try:
        key = _key(value)
    except RecursionError:
        raise _too_deep(kind) from None
    level = [(key,)]
    for _ in range(_DEEPEST + 1):
        level = [part for parts in level for part in parts if type(part) is tuple]
        if not level:
            return key
    raise _too_deep(kind)


def _too_deep(kind: type) -> DslTypeError:
    return DslTypeError(
        f"a Constexpr of type {kind.__name__} has values in values, more than {_DEEPEST} deep",
        hint="pass a flat tuple of its parts, or make it while tracing, in a function that the kernel calls",
    )


def _key(value: Any) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return (kind, repr(value) if kind is float else value)
    value = python_value(value)
    kind = type(value)
    known = _KEYS.get(kind)
    if known is not None:
        return known(value)
    if isinstance(value, type):
        return (type, Same(value))  # np.float32 calls itself equal to fx.Float32
    if isinstance(value, enum.Enum):
        return (kind, value.name, value.value if type(value.value) in _PLAIN else None)
    if isinstance(value, Numeric) and value.is_static():
        return (kind, _key(value.value))  # 0.0 equals -0.0
    frozen = _is_frozen_dataclass(kind)
    plain = tuple(key(value) for base, key in _DERIVED.items() if isinstance(value, base))
    if frozen or plain:
        held = _held(value, kind) if frozen else _attributes(value)
        return (kind, *plain, *(part for name, item in held for part in (name, _key(item))))
    return _library_key(value)


def never_changes(value: Any) -> bool:
    """Return whether a value is the same for good, all that is in it included: then the same object needs no second
    look."""
    kind = type(value)
    if kind in _PLAIN or kind in _SELF or isinstance(value, (type, enum.Enum)):
        return True
    if kind is tuple or kind is frozenset:
        return all(map(never_changes, value))
    return _is_frozen_dataclass(kind) and all(never_changes(item) for _, item in _held(value, kind))


def _function_key(value: FunctionType) -> Any:
    if value.__closure__:
        raise DslTypeError("a Constexpr function must not capture variables", hint="pass what it needs as arguments")
    defaults = (value.__defaults__ or (), tuple((value.__kwdefaults__ or {}).items()))
    return ("function", value.__module__, Same(value.__globals__), value.__code__, _key(defaults))


def _items_key(value: Any) -> Any:
    return (type(value), *map(_key, value))


_KEYS: Mapping[type, Callable[[Any], Any]] = {
    tuple: _items_key,
    list: _items_key,
    frozenset: lambda value: (frozenset, frozenset(map(_key, value))),
    FunctionType: _function_key,
    MethodType: lambda value: (MethodType, _key(value.__func__), _key(value.__self__)),
    partial: lambda value: (
        partial, _key(value.func), *map(_key, value.args),
        *((name, _key(item)) for name, item in value.keywords.items()),
    ),
    **{kind: lambda value: (type(value), repr(value)) for kind in _SELF},
}  # fmt: skip

_DERIVED: Mapping[type, Callable[[Any], Any]] = {
    tuple: lambda value: tuple(map(_key, tuple.__iter__(value))),
    int: int.__int__,
    str: lambda value: str.__getitem__(value, slice(None)),
    float: lambda value: float.__repr__(value),
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
}
"""What a value of a class derived from a plain one holds, past what the class overrides."""


@lru_cache(maxsize=1024)
def _is_frozen_dataclass(kind: type) -> bool:
    parameters = getattr(kind, "__dataclass_params__", None)
    return bool(parameters and parameters.frozen)


@lru_cache(maxsize=1024)
def _names(kind: type) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return (the fields of a dataclass, what cached properties of it keep, which follows from the rest)."""
    entries = [entry for base in kind.__mro__ for entry in vars(base).items()]
    kept = frozenset(name for name, entry in entries if isinstance(entry, cached_property))
    return tuple(field.name for field in dataclasses.fields(kind)), kept


def _held(value: Any, kind: type) -> Iterator[tuple[str, Any]]:
    """Yield what a frozen dataclass holds: its fields, and what a constructor of its own or a derived class adds."""
    fields, kept = _names(kind)
    yield from ((name, getattr(value, name)) for name in fields)
    yield from ((name, item) for name, item in _attributes(value) if name not in kept and name not in fields)


def _attributes(value: Any) -> Iterable[tuple[str, Any]]:
    try:
        return object.__getattribute__(value, "__dict__").items()
    except AttributeError:
        return ()


def _library_key(value: Any) -> Any:
    """Return the key of a value of a library that never changes."""
    kind = type(value)
    module, _, _ = kind.__module__.partition(".")
    if module in _BY_TEXT:
        return (kind, repr(value))
    if kind is ModuleType and known_module(value) is not None:
        return Same(value)
    owner = value.__self__ if kind is BuiltinFunctionType else None
    if kind is BuiltinFunctionType and isinstance(owner, (type, ModuleType, type(None))):
        return Same(value)
    if module in _BY_EQUALITY and kind.__hash__ is not None:
        try:
            return (kind, value) if hash(value) is not None else None
        except TypeError:
            pass
    if any(is_own_module(base.__module__) for base in kind.__mro__):  # a class of the user's in our terms
        parts = ((name, _key(item)) for name, item in _attributes(value))
        return (kind, *parts) if kind.__hash__ in (None, object.__hash__) else (kind, value)
    if module == "builtins" and kind.__name__ in ("method_descriptor", "wrapper_descriptor"):
        return Same(value)
    raise _refused(value)


def _refused(value: Any) -> DslTypeError:
    kind = type(value)
    what = f"a Constexpr must be a number, text, type, function, enum, frozen dataclass or tuple, got {kind.__name__}"
    if dataclasses.is_dataclass(kind):
        return DslTypeError(f"{what}, a dataclass that can change", hint="make it @dataclass(frozen=True)")
    if kind.__module__ not in ("builtins", "numpy", "torch") and not hasattr(kind, "__dlpack__"):
        return DslTypeError(f"{what}, whose objects can change", hint="make it a @dataclass(frozen=True) or a tuple")
    if kind in (dict, set, bytearray, ModuleType):
        return DslTypeError(f"{what}, which can change", hint="pass a tuple, or a @dataclass(frozen=True)")
    return DslTypeError(
        what, hint="annotate a run-time argument with the type of its values, such as fx.Tensor or fx.Int32"
    )
