"""Launchers that builders keep.

    @kept
    def build_something(N: int, dtype: str, wide: bool = False) -> Any: ...

A launcher is kept for the arguments that it was built for, and equal numbers are one key to Python: 32.0 would find
what was built for 32, or leave a launcher that 32 finds. So arguments are first made what their annotations say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from inspect import Signature, signature
from operator import index, is_
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Function = TypeVar("Function", bound=Callable[..., Any])
ONE_NAME = ("dtype", "dtype_str")
"""What builders call the type of elements, either way; a builder has one of them, and takes both."""


def kept(build: Function) -> Function:
    """Have a builder make each launcher once: integers are integers, truth values are such, and numbers floats, in the
    fields of plans too. What is no integer where one is asked for is refused."""
    given = signature(build)

    def made(*arguments: Any, **options: Any) -> Any:
        own = _own_names(options, given)
        bound, fits, kinds = given.bind(*arguments, **own), own.keys() == options.keys(), get_type_hints(build)
        for name, value in bound.arguments.items():
            right = converted(value, kinds.get(name, Any), f"{name} of {build.__name__}")
            bound.arguments[name], fits = right, fits and right is value
        return build(*arguments, **options) if fits else find(*bound.args, **bound.kwargs)

    find: Any = lru_cache(maxsize=None, typed=True)(made)
    for name in ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__"):
        setattr(find, name, getattr(build, name))
    find.__wrapped__ = build
    return find


def _own_names(options: dict[str, Any], given: Signature) -> dict[str, Any]:
    """Return the options by the names that a builder's parameters have."""
    own = next((name for name in ONE_NAME if name in given.parameters), None)
    if own is None or own in options or not options.keys() & set(ONE_NAME):
        return options
    return {own if name in ONE_NAME else name: value for name, value in options.items()}


def converted(value: Any, kind: Any, name: str) -> Any:
    """Return a value as one of the type that it is annotated with: itself where it is one, or the type is no
    number's."""
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    if is_dataclass(value) and not isinstance(value, type):
        return converted_plan(value, name)
    if value is None or type(value) in kinds:
        return value
    if isinstance(value, tuple) and any(get_origin(one) is tuple and {*get_args(one)} <= {int, ...} for one in kinds):
        found = tuple(converted(part, int, f"each number in {name}") for part in value)
        return value if all(map(is_, found, value)) else found
    if int in kinds:
        return _integer(value, name)
    if bool in kinds:
        return _truth(value, name)
    return float(value) if float in kinds and not isinstance(value, str) else value


def converted_plan(plan: Any, name: str) -> Any:
    """Return a plan whose fields are of the types that they are annotated with."""
    changed, kinds = {}, get_type_hints(type(plan))
    for field in fields(plan):
        if field.init:
            value = getattr(plan, field.name)
            right = converted(value, kinds[field.name], f"{field.name} in {name}")
            if right is not value:
                changed[field.name] = right
    return replace(plan, **changed) if changed else plan


def _integer(value: Any, name: str) -> int:
    try:
        return int(index(value))
    except TypeError:
        raise TypeError(f"{name} is an integer, got {value!r}") from None


def _truth(value: Any, name: str) -> bool:
    if isinstance(value, float) or value not in (0, 1):
        raise TypeError(f"{name} is True or False, got {value!r}")
    return bool(value)
