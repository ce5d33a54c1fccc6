"""Values that cross the edge of a run-time region: what they are made of, and whether two of them agree.

A value is a tree: lists, tuples, dicts and namespaces hold others; numbers, vectors, handles and objects of the
DslType protocol are leaves with SSA values; everything else is a constant of the trace and must not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import FunctionType, SimpleNamespace
from typing import Any, NamedTuple

from flydsl.base.errors import DslTypeError
from flydsl.base.own_code import is_own_module
from flydsl.expr.numeric import Numeric, as_numeric, is_raw_value, operand
from flydsl.expr.trace.constexpr_key import constexpr_key
from flydsl.expr.trace.context import Value, bare_values, current, raw_face
from flydsl.expr.trace.protocol import CONTAINERS, constructed, items_of, mapped
from flydsl.expr.values.handle import Handle, describe, from_value
from flydsl.expr.vector import Vector

_ordered = partial(sorted, key=repr)
_PLAIN = (bool, int, float, complex, str, bytes, type(None), range)


class _Unset:
    """What a function gives that has not returned yet: it takes the type of the first value that is returned."""

    def __repr__(self) -> str:
        return "nothing yet"


UNSET = _Unset()


def stand_in(value: Any) -> Any:
    """Return a value of the same type and structure for a path on which it is never looked at: its numbers are
    zeros."""
    if isinstance(value, Numeric):
        return type(value)(0)
    if isinstance(value, Vector):
        return Vector.filled(value.shape, 0, value.dtype)
    if isinstance(value, CONTAINERS):
        return mapped(stand_in, value)
    if leaves(value):
        raise DslTypeError(
            f"{describe(value)} is returned on some paths only, decided at run time",
            hint="return numbers or vectors there, and make the rest of them after the call; or return it once, at "
            "the end of the function",
        )
    return value


class Difference(NamedTuple):
    """The first place where two values disagree: its path below the variable, and what each has there."""

    path: str
    first: Any
    second: Any


def promoted(value: Any) -> Any:
    """Return the value as it is inside a region: Python numbers and extents become fx numbers, raw values are
    wrapped."""
    if isinstance(value, (Numeric, Vector)) or value is None or isinstance(value, str):
        return value
    if isinstance(value, CONTAINERS):
        return mapped(promoted, value)
    if hasattr(value, "__dsl_raw_number__"):
        return value  # carried by its IR type, with the operators it has
    number = operand(value)
    if number is not None:
        return number
    if isinstance(value, Handle) or not is_raw_value(value) or not hasattr(value, "owner"):
        return value
    return Vector(value) if str(value.type).startswith("vector<") else from_value(value)


def leaves(value: Any) -> list[Any]:
    """Return the SSA values of a promoted value, left to right; numbers known while tracing become constants."""
    if isinstance(value, (Numeric, Vector)):
        return [value.ir_value()]
    if isinstance(value, CONTAINERS):
        items = items_of(value)
        keys = items if isinstance(value, (list, tuple)) else _ordered(items)
        return [ssa for key in keys for ssa in leaves(items[key])]
    made_of_values = hasattr(value, "__extract_to_ir_values__") and not isinstance(value, type)
    return bare_values(value) if made_of_values else []


def rebuilt(exemplar: Any, values: Iterator[Any]) -> Any:
    """Return a value like the exemplar, made of the next SSA values."""
    if isinstance(exemplar, (Numeric, Vector)):
        return constructed(type(exemplar), [next(values)], exemplar)
    if isinstance(exemplar, CONTAINERS):
        return mapped(lambda item: rebuilt(item, values), exemplar, _ordered)
    taken = [next(values) for _ in leaves(exemplar)]
    return constructed(type(exemplar), taken, exemplar) if taken else exemplar


def unchanged(first: Any, second: Any) -> bool:
    """Return whether two values are one and the same thing, so that nothing has to be chosen at run time."""
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, Numeric):
        return first.is_static() and second.is_static() and repr(first.value) == repr(second.value)
    if type(first) in _PLAIN:
        return repr(first) == repr(second)  # tells 0.0 from -0.0 and lets NaN equal itself
    if isinstance(first, Handle):
        return first.is_static and second.is_static and first.payload == second.payload
    if hasattr(first, "__dsl_ssa__"):
        return first.__dsl_ssa__ is second.__dsl_ssa__  # a raw number's == builds a comparison
    if isinstance(first, (list, dict, SimpleNamespace, Vector)):
        return False
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(unchanged, first, second)) and _same_attributes(first, second)
    return _equal(first, second)


def _equal(first: Any, second: Any) -> bool:
    """Return whether two objects of one class hold the same for good: it may call equal what does not."""
    if getattr(first, "__hash__", None) is None:  # a set, an open dataclass: either may change by itself
        return False
    try:
        with suppress(DslTypeError):  # their content can change, or is not seen
            return constexpr_key(first) == constexpr_key(second) and first.__class__ is not FunctionType
        return (first == second) is True and _same_attributes(first, second)
    except Exception:  # an arbitrary object's comparison; if it cannot be compared, it is not the same
        return False


def _same_attributes(first: Any, second: Any) -> bool:
    left, right = (getattr(value, "__dict__", {}) for value in (first, second))
    return left.keys() == right.keys() and all(unchanged(left[name], right[name]) for name in left)


def difference(first: Any, second: Any, path: str = "") -> Difference | None:
    """Return where two promoted values differ in type or structure; None if one region result can stand for both."""
    if isinstance(first, Numeric) and isinstance(second, Numeric):
        return None if type(first) is type(second) else Difference(path, first, second)
    if isinstance(first, Vector) and isinstance(second, Vector):
        same = first.dtype is second.dtype and first.shape == second.shape
        return None if same else Difference(path, first, second)
    if isinstance(first, Handle) and isinstance(second, Handle):
        return None if _same_handle(first, second) else Difference(path, first, second)
    if type(first) is not type(second):
        return Difference(path, first, second)
    if isinstance(first, (list, tuple, dict)) and not _same_attributes(first, second):
        return Difference(f"{path}.__dict__", *(SimpleNamespace(**vars(value)) for value in (first, second)))
    if isinstance(first, CONTAINERS):
        form = "{}.{}" if isinstance(first, SimpleNamespace) else "{}[{!r}]"
        left, right = items_of(first), items_of(second)
        if not same_keys(first, left, right):
            return Difference(path, first, second)
        return _first_difference([(form.format(path, key), left[key], right[key]) for key in left])
    if hasattr(first, "__extract_to_ir_values__") and not isinstance(first, type):
        same = [v.type for v in leaves(first)] == [v.type for v in leaves(second)] and _same_beside(first, second)
        return None if same else Difference(path, first, second)
    return None if unchanged(first, second) else Difference(path, first, second)


def _same_beside(first: Any, second: Any) -> bool:
    """Return whether two objects of a class of the user's differ in SSA values alone: put together of the same ones,
    they hold the same."""

    def alike() -> bool:
        values = leaves(second)
        left, right = (getattr(rebuilt(like, iter(values)), "__dict__", {}) for like in (first, second))
        known = [name for name in left if _is_known(left[name])]
        return difference(left, right) is None and all(unchanged(left[name], right[name]) for name in known)

    return is_own_module(type(first).__module__) or current().speculate(alike, lambda _: False)


def same_keys(container: Any, first: Mapping[Any, Any], second: Mapping[Any, Any]) -> bool:
    """Return whether two states of a container have the same keys; those of a dict have types and an order."""
    ordered = isinstance(container, dict)
    return first.keys() == second.keys() and (not ordered or all(map(unchanged, first, second)))


def _first_difference(pairs: list[tuple[str, Any, Any]]) -> Difference | None:
    found = (difference(first, second, path) for path, first, second in pairs)
    return next((one for one in found if one is not None), None)


def _same_handle(first: Handle, second: Handle) -> bool:
    if first.is_static or second.is_static:
        return unchanged(first, second)
    return type(first) is type(second) and first.ir_value().type == second.ir_value().type


def structure_advice(found: Difference) -> str | None:
    """Return what to do about values that differ in more than a number type; None for numbers."""
    pair = (found.first, found.second)
    if all(isinstance(value, Handle) for value in pair):
        return (
            f"what is known of a {found.first.kind} while tracing is part of its type: choose the numbers at run time "
            "(x = 0 before, x = ... inside), and make it from them where it is used"
        )
    if not any(isinstance(value, (Numeric, Vector)) for value in pair):
        return (
            "only numbers and what is made of them can be chosen at run time: tuples, SimpleNamespace, @fx.struct; "
            "have an fx.Constexpr argument decide the rest, or write what depends on it into each branch"
        )
    return None


def example(value: Any) -> str:
    """Source of a value of the same type, for advice; nothing where no short one exists."""
    number = operand(value) if not isinstance(value, Vector) else None
    if number is not None:
        return f"fx.{type(number)}({0.0 if type(number).is_float else 0})"
    flat = isinstance(value, Vector) and len(value.shape) == 1
    return f"fx.full({value.shape[0]}, 0, fx.{value.dtype})" if flat else ""


def type_words(value: Any) -> str:
    """Return the type of a value as a message names it."""
    if isinstance(value, Numeric):
        return str(type(value))
    if value is None or isinstance(value, Vector):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, (dict, SimpleNamespace)):
        keys = value if isinstance(value, dict) else vars(value)
        return f"a {'dict' if isinstance(value, dict) else 'namespace'} with {', '.join(map(str, keys)) or 'nothing'}"
    return describe(value)


# Between DSL values and raw SSA values, for code that mixes the two ---------------------------


def as_ir_value(value: Any, *, keep_static: bool = False) -> Value:
    """Return the SSA value of a DSL value or Python number; with ``keep_static``, known ones stay as they are."""
    if isinstance(value, (list, tuple)):
        return mapped(lambda item: as_ir_value(item, keep_static=keep_static), value)
    if isinstance(value, (bool, int, float)):
        return value if keep_static else _seen(as_numeric(value))
    if keep_static and _is_known(value):
        return value
    return _seen(value) if hasattr(value, "ir_value") else value


def _seen(value: Any) -> Value:
    """Return the SSA value of a DSL value as the raw layer has it, where that is loaded."""
    if raw_face.show is None or hasattr(value, "__dsl_ssa__"):
        return value if hasattr(value, "__dsl_ssa__") else value.ir_value()
    return value if isinstance(value, Handle) else raw_face.show(value.ir_value(), getattr(value, "signed", None))


def _is_known(value: Any) -> bool:
    return value.is_static() if isinstance(value, Numeric) else isinstance(value, Handle) and value.is_static


def as_dsl_value(value: Any, exemplar: Any = None) -> Any:
    """Return a raw SSA value or Python number as a DSL value: of the class or like the value given, else by its
    type."""
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
