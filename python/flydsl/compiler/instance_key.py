"""The object a jit method belongs to, as part of the key: its type, and the plain values it holds."""

from __future__ import annotations

from types import FunctionType, MappingProxyType, SimpleNamespace
from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.compiler.known_code import is_known
from flydsl.compiler.object_state import attributes_of, container_of, slots_of
from flydsl.expr.constexpr_key import Same, constexpr_key
from flydsl.expr.numpy_scalar import is_numpy_scalar

_PLAIN = frozenset({bool, int, str, type(None)})
_ARRAY_MARKS = ("__array_interface__", "__dlpack__", "data_ptr")
_DEPTH = 4
"""How far attributes of attributes are followed: compared at every call, so not without end."""


def instance_key(instance: Any) -> Any:
    """What compiled code may have taken from ``self``: methods read its attributes while they are traced.

    Numbers, texts, types, containers of them and frozen configurations are compared by value, other objects by their
    attributes, whatever their class calls equal. Arrays, and objects of libraries, count with their type alone, as the
    surface of the original has it for all of ``self``.
    """
    return ("self", type(instance), *_attributes_key(instance, 0))


def _value_key(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind in _PLAIN:
        return (kind, value)
    if kind is float:
        return (kind, repr(value))
    if depth > _DEPTH:
        return kind
    if is_numpy_scalar(value):  # it only looks like an array
        return (kind, value.tobytes())
    base = tuple if isinstance(value, tuple) else container_of(kind)
    if base is not None:
        items = _items_key(value, base, depth + 1)
        return (kind, *items) if kind is base else (kind, *items, *_attributes_key(value, depth + 1))
    if any(hasattr(kind, name) for name in _ARRAY_MARKS):
        return kind
    if isinstance(value, FunctionType):
        return Same(value)  # what it reads and holds is watched as what the function itself does
    try:
        return constexpr_key(value)
    except DslTypeError:  # it can change, or has no content that could be seen
        pass
    if is_known(kind.__module__) and kind is not SimpleNamespace:
        return kind
    return (kind, *_attributes_key(value, depth + 1))


def _items_key(value: Any, base: Any, depth: int) -> Any:
    """The items of a container, past what its class overrides."""
    if issubclass(base, (dict, MappingProxyType)):
        return [(_value_key(k, depth), _value_key(v, depth)) for k, v in base.items(value)]
    keys = [_value_key(item, depth) for item in base.__iter__(value)]
    return (frozenset(keys),) if base in (set, frozenset) else keys


def _attributes_key(value: Any, depth: int) -> Any:
    slots, held = slots_of(value), attributes_of(value)
    if slots:
        held = {**(held or {}), **{name: slot.__get__(value) for name, slot in slots.items()}}
    return [(name, _value_key(held[name], depth)) for name in sorted(held)] if held else ()
