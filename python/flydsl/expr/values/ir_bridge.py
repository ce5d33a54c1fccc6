"""Between DSL values and raw SSA values, for code that mixes the two."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import DslTypeError
from flydsl.expr.flow.carried import promoted
from flydsl.expr.numeric import Numeric, as_numeric, is_raw_value
from flydsl.expr.trace.context import Value, current, raw_face
from flydsl.expr.values.handle import Handle


def as_ir_value(value: Any, *, keep_static: bool = False) -> Value:
    """The SSA value of a DSL value or Python number; with ``keep_static``, one known while tracing stays as it is."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return type(value)(as_ir_value(item, keep_static=keep_static) for item in value)
    if isinstance(value, (bool, int, float)):
        return value if keep_static else _seen(as_numeric(value))
    if keep_static and _is_known(value):
        return value
    return _seen(value) if hasattr(value, "ir_value") else value


def _seen(value: Any) -> Value:
    """The SSA value of a DSL value as the raw layer has it, where that is loaded."""
    if raw_face.show is None or hasattr(value, "__dsl_ssa__"):
        return value if hasattr(value, "__dsl_ssa__") else value.ir_value()
    return value if isinstance(value, Handle) else raw_face.show(value.ir_value(), getattr(value, "signed", None))


def _is_known(value: Any) -> bool:
    return value.is_static() if isinstance(value, Numeric) else isinstance(value, Handle) and value.is_static


def as_dsl_value(value: Any, exemplar: Any = None) -> Any:
    """A raw SSA value or Python number as a DSL value: of the class or like the value given, else by its type."""
    value = getattr(value, "__dsl_ssa__", value)
    if isinstance(exemplar, type):
        return exemplar(value)
    if is_raw_value(value) and current().type_name(value).startswith("!llvm"):
        raise DslTypeError(f"a value of type {current().type_name(value)} has no class in the language")
    if exemplar is not None and not hasattr(value, "__extract_to_ir_values__"):
        kind = type(exemplar)
        return kind(value) if isinstance(exemplar, Numeric) else kind.__construct_from_ir_values__([value], exemplar)
    return promoted(value)


__all__ = ["as_dsl_value", "as_ir_value"]
