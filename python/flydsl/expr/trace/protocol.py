"""How DSL values are taken apart into SSA values and put together again.

Objects say it themselves with ``__extract_to_ir_values__`` and ``__construct_from_ir_values__``;
lists, tuples, dicts and namespaces are walked; everything else is a constant of the trace.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any, Protocol, runtime_checkable

from flydsl.expr.numeric import Numeric
from flydsl.expr.trace.context import bare_values


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
        elif isinstance(value, (list, tuple)):
            waiting += reversed(value)
        elif isinstance(value, dict):
            waiting += reversed(value.values())
        elif isinstance(value, SimpleNamespace):
            waiting.append(vars(value))
        elif hasattr(value, "__extract_to_ir_values__") and not isinstance(value, type):  # a class is a constant
            found += bare_values(value)
    return found


def construct_from_ir_values(exemplar: Any, values: Iterator[Any]) -> Any:
    """Return the value built like ``exemplar`` from the next SSA values."""
    if isinstance(exemplar, (list, tuple)):
        items = [construct_from_ir_values(item, values) for item in exemplar]
        return type(exemplar)(*items) if hasattr(exemplar, "_fields") else type(exemplar)(items)
    if isinstance(exemplar, dict):
        return {key: construct_from_ir_values(item, values) for key, item in exemplar.items()}
    if isinstance(exemplar, SimpleNamespace):
        return SimpleNamespace(**construct_from_ir_values(vars(exemplar), values))
    count = len(extract_to_ir_values(exemplar))
    if count == 0:
        return exemplar
    taken = [next(values) for _ in range(count)]
    return constructed(type(exemplar), taken, exemplar)


def constructed(kind: Any, values: Sequence[Any], exemplar: Any) -> Any:
    """Return a value of a class from its SSA values. The class may do without an exemplar."""
    if _takes_exemplar(kind):
        return kind.__construct_from_ir_values__(values, exemplar)
    return kind.__construct_from_ir_values__(values)


@cache
def _takes_exemplar(kind: Any) -> bool:
    parameters = list(inspect.signature(kind.__construct_from_ir_values__).parameters.values())
    return len(parameters) > 1 or any(p.kind is p.VAR_POSITIONAL for p in parameters)
