"""Between DSL values and raw SSA values, for code that mixes the two."""

from __future__ import annotations

from typing import Any

from flydsl.expr.flow.carried import promoted
from flydsl.expr.numeric import Numeric, as_numeric
from flydsl.expr.trace.context import Value
from flydsl.expr.values.handle import Handle


def as_ir_value(value: Any, *, keep_static: bool = False) -> Value:
    """The SSA value of a DSL value or Python number; with ``keep_static``, one known while tracing stays as it is."""
    if isinstance(value, (bool, int, float)):
        return value if keep_static else as_numeric(value).ir_value()
    if keep_static and _is_known(value):
        return value
    return value.ir_value() if hasattr(value, "ir_value") else value


def _is_known(value: Any) -> bool:
    return value.is_static() if isinstance(value, Numeric) else isinstance(value, Handle) and value.is_static


def as_dsl_value(value: Any, exemplar: Any = None) -> Any:
    """A raw SSA value or Python number as a DSL value: like ``exemplar`` if given, else by its type."""
    if exemplar is not None and not hasattr(value, "__extract_to_ir_values__"):
        kind = type(exemplar)
        return kind(value) if isinstance(exemplar, Numeric) else kind.__construct_from_ir_values__([value], exemplar)
    return promoted(value)


__all__ = ["as_dsl_value", "as_ir_value"]
