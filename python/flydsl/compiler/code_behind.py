"""Functions and classes whose code an argument of a traced function brings along, to be watched like its own."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from flydsl.compiler.adapted import Adapted
from flydsl.compiler.known_code import is_known

_DEPTH = 4
"""How far values within values are followed."""


def code_behind(value: Any) -> list[Any]:
    """Functions and classes that an argument, adapted or known at compile time, brings along."""
    if not isinstance(value, Adapted):
        return list(dict.fromkeys(_code_in(value, 0)))
    argument = value.argument
    parts = [getattr(argument, name, None) for name in ("kind", "dsl_type", "adaptor")]
    return [part if isinstance(part, type) else type(part) for part in parts if part is not None]


def _code_in(value: Any, depth: int) -> Iterator[Any]:
    if isinstance(value, (FunctionType, type)):
        yield value
        return
    yield type(value)
    if depth > _DEPTH or isinstance(value, enum.Enum):
        return
    for part in _parts_of(value):
        yield from _code_in(part, depth + 1)


def _parts_of(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return list(value)
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if type(value) is dict:
        return list(value.values())
    if type(value).__module__.startswith("flydsl.compiler."):  # a kernel or a jit function
        return [part for part in (vars(value).get("func"), vars(value).get("instance")) if part is not None]
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    if is_known(type(value).__module__):
        return []
    try:
        return list(object.__getattribute__(value, "__dict__").values())
    except AttributeError:
        return []
