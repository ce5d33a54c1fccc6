"""The object a jit method belongs to, as part of the key: its type, and the plain values it holds."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.expr.constexpr import constexpr_key

_PLAIN = (bool, int, float, str, bytes, type(None), type, tuple)


def instance_key(instance: Any) -> Any:
    """What compiled code may have taken from ``self``: methods read its attributes while they are traced.

    Numbers, texts, types and tuples of them are compared by value, and so are hashable objects such as frozen
    configurations; other objects by identity of their type alone, as the surface of the original has it.
    """
    held = getattr(instance, "__dict__", {})
    return ("self", type(instance), tuple((name, _value_key(held[name])) for name in sorted(held)))


def _value_key(value: Any) -> Any:
    if isinstance(value, _PLAIN):
        try:
            return constexpr_key(value)
        except DslTypeError:  # a tuple that holds something else
            return type(value)
    if type(value).__hash__ not in (None, object.__hash__) and not hasattr(value, "__array_interface__"):
        try:
            return (type(value), value, hash(value))
        except TypeError:
            return type(value)
    return type(value)
