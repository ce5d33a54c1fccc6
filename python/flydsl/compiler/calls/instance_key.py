"""The object a jit method belongs to, as part of the key in memory: its type, and what it holds that functions read.

Made at every call, so it is a tuple and no text. Numbers, texts, types, containers of them and frozen configurations
are compared by value, other objects by their attributes, whatever their class calls equal. An array, or an object of a
library, counts only if a function names the attribute it is under, as it does in a walk (`compiler/capture/walk.py`).
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from functools import lru_cache
from types import FunctionType, MappingProxyType, ModuleType, SimpleNamespace
from typing import Any

from flydsl.base.attributes import is_numpy_scalar
from flydsl.base.errors import DslTypeError
from flydsl.base.libraries import is_known
from flydsl.compiler.capture import values
from flydsl.compiler.capture.walk import Names, ValueWalk
from flydsl.expr.trace.constexpr_key import Same, constexpr_key

_PLAIN = frozenset({bool, int, str, type(None)})

WalkOf = Callable[[frozenset[Any]], list[ValueWalk]]
"""What functions read, given the classes and functions that an object brings along."""


class InstanceKey:
    """Makes the key of one object. Objects in it are numbered, so that cycles and long chains end."""

    def __init__(self, walks_of: WalkOf) -> None:
        self._walks_of = walks_of
        self._code: set[Any] = set()
        self._numbers: dict[int, int] = {}
        self._queue: list[tuple[Any, Names]] = []
        """Objects in the order of their numbers; they stay here, so that none gets the address of another."""
        self._late: list[tuple[int, Any, Names]] = []

    def of(self, instance: Any) -> tuple[Any, ...]:
        """Return what compiled code may have taken from ``self``: methods read its attributes while they are traced."""
        self._code.add(type(instance))
        parts: list[Any] = [("self", type(instance), *self._attributes(instance))]
        for value, names in self._queue:  # which grows meanwhile
            parts.append(self._object(value, names, len(parts)))
        if self._late:
            walks = self._walks_of(frozenset(self._code))
            for place, value, names in self._late:
                parts[place] = _late_key(value, names, walks)
        return tuple(parts)

    def _value(self, value: Any, names: Names) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return (kind, value)
        if kind is float:
            return (kind, repr(value))
        if is_numpy_scalar(value):  # it only looks like an array
            return (kind, value.tobytes())
        if kind is tuple:
            return (kind, *[self._value(item, names) for item in value])
        if isinstance(value, FunctionType):
            self._code.add(value)
            return Same(value)  # what it reads and holds is guarded as what the function itself does
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._numbers)
            self._queue.append((value, names))
        return number

    def _object(self, value: Any, names: Names, place: int) -> Any:
        kind = type(value)
        route = _route(kind)
        if route == "items":
            base = tuple if issubclass(kind, tuple) else values.container_of(kind)
            items = self._items(value, base, names)
            return (kind, *items) if kind is base else (kind, *items, *self._attributes(value))
        if route == "parts":
            parts = values.parts_of(kind) or ()
            return (kind, *[self._value(getattr(value, name, None), names) for name in parts])
        if route == "bound" and not isinstance(value.__self__, (ModuleType, type(None))):
            return (kind, value.__name__, self._value(value.__self__, names))
        if route == "array" and values.is_object_array(value):
            return (kind, value.shape, *[self._value(item, names) for item in value.ravel().tolist()])
        if route in ("constant", "bound"):
            try:
                return constexpr_key(value)
            except DslTypeError:  # it can change, or has no content that could be seen
                route = "late" if is_known(kind.__module__) else "object"
        if route == "object":
            self._code.add(kind)
            return (kind, *self._attributes(value))
        self._late.append((place, value, names))
        return None

    def _items(self, value: Any, base: Any, names: Names) -> list[Any]:
        """Return the items of a container, past what its class overrides."""
        if issubclass(base, (dict, MappingProxyType)):
            pairs = zip(base.keys(value), base.values(value))
            return [(self._value(key, names), self._value(item, _with(names, key))) for key, item in pairs]
        keys = [self._value(item, names) for item in base.__iter__(value)]
        return [frozenset(keys)] if base in (set, frozenset) else keys

    def _attributes(self, value: Any) -> list[Any]:
        held = values.attributes_of(value) or {}
        slots = {name: slot.__get__(value) for name, slot in values.slots_of(value).items()}
        return [(name, self._value(item, frozenset({name}))) for name, item in sorted({**held, **slots}.items())]


@lru_cache(maxsize=1024)
def _route(kind: type) -> str:
    """Return how the values of a type are taken. To ask whether one is a constant takes long, so that is asked last."""
    bases: tuple[type, ...] = kind.__mro__[:-1]
    if issubclass(kind, tuple) or values.container_of(kind) is not None:
        return "items"
    if values.parts_of(kind) is not None:
        return "parts"
    if kind.__name__ in values.BOUND:
        return "bound"
    if values.is_array_type(kind):
        return "array"
    if kind is SimpleNamespace:
        return "object"
    frozen = getattr(getattr(kind, "__dataclass_params__", None), "frozen", False)
    constant = frozen or issubclass(kind, (type, enum.Enum, int, float, complex, str, bytes))
    return "constant" if constant or any(is_known(base.__module__) for base in bases) else "object"


def _with(names: Names, key: Any) -> Names:
    return names | {key} if names is not None and type(key) is str else names


def _late_key(value: Any, names: Names, walks: list[ValueWalk]) -> Any:
    kind = type(value)
    if not any(walk.takes(names) for walk in walks):
        return kind
    content = values.content_of(value)
    if content is None:
        return Same(value)
    if not any(walk.takes_content(names) for walk in walks):
        return (kind, values.form_of(value))
    if content.data is not None:
        return (kind, content.form, content.data(value))
    if content.read is not None:
        return (Same(value), content.read(value))
    if content.is_seen:
        return Same(value)
    name = ".".join(("self", *sorted(names or ())))
    raise DslTypeError(
        f"traced code reads elements of '{name}', an array of {content.size} bytes that can be written; a later change"
        " of it could not be noticed",
        hint="make it read-only (array.flags.writeable = False) or pass it as an argument",
    )
