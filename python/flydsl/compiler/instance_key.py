"""The object a jit method belongs to, as part of the key: its type, and the plain values it holds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from flydsl.compiler.known_code import is_known
from flydsl.expr.constexpr import constexpr_key

_PLAIN = (bool, int, float, str, bytes, type(None), type)
_ARRAY_MARKS = ("__array_interface__", "__dlpack__", "data_ptr")
_DEPTH = 4
"""How far attributes of attributes are followed: compared at every call, so not without end."""


def instance_key(instance: Any) -> Any:
    """What compiled code may have taken from ``self``: methods read its attributes while they are traced.

    Numbers, texts, types, containers of them and hashable objects such as frozen configurations are compared by value,
    other objects by their attributes. Arrays, and objects of libraries, count with their type alone, as the surface of
    the original has it for all of ``self``.
    """
    held = getattr(instance, "__dict__", {})
    return ("self", type(instance), tuple((name, _value_key(held[name], 0)) for name in sorted(held)))


def _value_key(value: Any, depth: int) -> Any:
    kind = type(value)
    if isinstance(value, _PLAIN):
        return constexpr_key(value)
    if depth > _DEPTH or any(hasattr(value, name) for name in _ARRAY_MARKS):
        return kind
    if isinstance(value, (list, tuple)):
        return (kind, *(_value_key(item, depth + 1) for item in value))
    if kind is dict:
        return (kind, *((_value_key(k, depth + 1), _value_key(v, depth + 1)) for k, v in value.items()))
    if kind.__hash__ not in (None, object.__hash__):
        try:
            return (kind, value, hash(value))
        except TypeError:
            return kind
    held = getattr(value, "__dict__", None)
    if held is None or (is_known(kind.__module__) and kind is not SimpleNamespace):
        return kind
    return (kind, *((name, _value_key(held[name], depth + 1)) for name in sorted(held)))
