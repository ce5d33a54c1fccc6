"""How DSL values are taken apart into SSA values and put together again.

Objects say it themselves with ``__extract_to_ir_values__`` and ``__construct_from_ir_values__``;
lists, tuples, dicts and namespaces are walked; everything else is a constant of the trace.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cache
from types import SimpleNamespace
from typing import Any, Protocol, runtime_checkable

from flydsl.expr.numeric import Numeric
from flydsl.expr.trace.context import bare_values

CONTAINERS = (list, tuple, dict, SimpleNamespace)
_BASES: tuple[Any, ...] = (list, tuple, OrderedDict, dict, object)


@runtime_checkable
class DslType(Protocol):
    """A value that can cross kernel arguments and region boundaries."""

    def __extract_to_ir_values__(self) -> list[Any]: ...

    @classmethod
    def __construct_from_ir_values__(cls, values: Sequence[Any], exemplar: Any = None) -> Any: ...


def extract_to_ir_values(value: Any) -> list[Any]:
    """Return the SSA values of a DSL value, left to right; a value known while tracing has none."""
    found: list[Any] = []
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Numeric):
            found += () if value.is_static() else (value.ir_value(),)
        elif isinstance(value, CONTAINERS):
            waiting += reversed(items_of(value).values())
        elif hasattr(value, "__extract_to_ir_values__") and not isinstance(value, type):  # a class is a constant
            found += bare_values(value)
    return found


def construct_from_ir_values(exemplar: Any, values: Iterator[Any]) -> Any:
    """Return the value built like ``exemplar`` from the next SSA values."""
    if isinstance(exemplar, CONTAINERS):
        return mapped(lambda item: construct_from_ir_values(item, values), exemplar)
    taken = [next(values) for _ in extract_to_ir_values(exemplar)]
    return constructed(type(exemplar), taken, exemplar) if taken else exemplar


def items_of(container: Any) -> dict[Any, Any]:
    """Return the items of a container by index, key or attribute, past whatever its class overrides."""
    base = next(kind for kind in _BASES if isinstance(container, kind))
    if base in (list, tuple):
        return dict(enumerate(base.__iter__(container)))
    return dict(vars(container) if base is object else base.items(container))


def mapped(function: Callable[[Any], Any], container: Any, order: Callable[[Any], Any] = list) -> Any:
    """Return a container of the same class whose items a function gives, by keys in some order. The class's constructor
    is not called, since it may compute with what it is given."""
    kind, held, items = type(container), getattr(container, "__dict__", {}), items_of(container)
    if isinstance(container, dict):
        made: Any = copy(container)
        dict.update(made, {key: function(items[key]) for key in order(items)})
        return made
    if isinstance(container, SimpleNamespace):
        made, held = SimpleNamespace.__new__(kind), mapped(function, held, order)
    elif isinstance(container, tuple):
        made = tuple.__new__(kind, map(function, items.values()))
    else:
        made = list.__new__(kind)
        list.extend(made, [*map(function, items.values())])
    if held:
        vars(made).update(held)
    return made


def constructed(kind: Any, values: Sequence[Any], exemplar: Any) -> Any:
    """Return a value of a class from its SSA values. The class may do without an exemplar."""
    if _takes_exemplar(kind):
        return kind.__construct_from_ir_values__(values, exemplar)
    return kind.__construct_from_ir_values__(values)


@cache
def _takes_exemplar(kind: Any) -> bool:
    parameters = list(inspect.signature(kind.__construct_from_ir_values__).parameters.values())
    return len(parameters) > 1 or any(p.kind is p.VAR_POSITIONAL for p in parameters)
