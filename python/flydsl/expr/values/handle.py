"""Handles: the values a kernel author holds that are not plain numbers.

A handle is a payload (a layout, a tuple, a tensor, an atom, …) and, only when some part of it is
known at run time, the SSA value that carries that part. Operations on static handles are
evaluated at once and emit nothing; otherwise one fly operation is emitted. Either way the same
rule of the dialect gives the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar, Self, TypeVar

from flydsl.base.errors import DslTypeError
from flydsl.dialects.fly.op_table import OP_TABLE
from flydsl.dialects.fly.payload import is_static_payload
from flydsl.expr.numeric import Boolean, Int32, Int64, is_raw_value
from flydsl.expr.trace.context import Value, current
from flydsl.expr.values.foreign import NoForeignFunctions
from flydsl.expr.values.known import plain
from flydsl.layout.leaf import DynInt, with_notes

_HANDLE_OF: dict[type, type[Handle]] = {}
C = TypeVar("C", bound="type[Handle]")


def handle_for(*payload_types: type) -> Callable[[C], C]:
    """Class decorator: values whose payload has one of these types get this handle class."""

    def register(cls: C) -> C:
        for payload_type in payload_types:
            _HANDLE_OF[payload_type] = cls
        return cls

    return register


class Handle(NoForeignFunctions):
    """A payload and the SSA value of its run-time part, if it has one."""

    __slots__ = ("_value", "payload")
    kind: ClassVar[str] = "value"

    def __init__(self, payload: Any, value: Value = None) -> None:
        if value is None and (isinstance(payload, Handle) or is_raw_value(payload)):
            payload, value = self._parts_of(payload)
        self.payload = payload
        self._value = value

    def _parts_of(self, given: Any) -> tuple[Any, Value]:
        """Return what ``fx.Tensor(t)`` is made of: a value of this kind as it is, or the raw value of one."""
        data = None if isinstance(given, Handle) else getattr(given.type, "data", None)
        handle = given if data is None else from_value(given)
        if not isinstance(handle, type(self)):
            raise DslTypeError(
                f"{type(self).__name__}(...) takes a {self.kind}, got {describe(given)}",
                hint="make one of its parts with fx.make_view, fx.make_layout and their like",
            )
        return handle.payload, handle._value

    @property
    def is_static(self) -> bool:
        """Whether everything about this value is known while tracing."""
        return self._value is None

    @property
    def type(self) -> Any:
        """The type: the payload, which says all that is known while tracing."""
        return self.payload

    def ir_value(self) -> Value:
        """Return the SSA value; a static one is materialised."""
        return current().static(self.payload) if self._value is None else self._value

    def __extract_to_ir_values__(self) -> list[Value]:
        return [] if self._value is None else [self._value]

    @classmethod
    def __construct_from_ir_values__(cls, values: list[Value], exemplar: Self | None = None) -> Any:
        if not values:
            return exemplar
        return from_value(values[0])

    def __str__(self) -> str:
        return str(self.payload)

    def __repr__(self) -> str:
        return str(self)

    def __hash__(self) -> int:
        return hash(self.payload) if self._value is None else id(self._value)

    def __eq__(self, other: object) -> Any:
        if self._value is None and not (isinstance(other, Handle) and other._value is not None):
            return self.payload == (other.payload if isinstance(other, Handle) else other)
        if not isinstance(other, Handle):
            return False
        return self._value is other._value or self._equals(other)

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        if same is NotImplemented:
            return NotImplemented
        return not same if isinstance(same, bool) else ~same

    def _equals(self, other: Handle) -> Any:
        """Return whether two values that are partly known at run time are equal; a place in memory is equal to itself
        only."""
        return False


def wrap(payload: Any, value: Value = None) -> Any:
    """Return the handle of a payload; tuples and leaves become int tuples."""
    cls = _HANDLE_OF.get(type(payload))
    if cls is None:
        cls = next((c for t, c in _HANDLE_OF.items() if isinstance(payload, t)), _HANDLE_OF[tuple])
    return cls(payload, value)


def from_value(value: Value) -> Any:
    """Return the handle of an SSA value of a fly type."""
    payload = value.type.data
    # An atom's type is static, but values may have been set on it at run time.
    has_state = bool(getattr(getattr(payload, "op", None), "state", ()))
    return wrap(payload, None if is_static_payload(payload) and not has_state else value)


def as_handle(value: Any) -> Handle:
    """Return a handle as it is; anything else must be convertible to an int tuple."""
    if isinstance(value, Handle):
        return value
    return _HANDLE_OF[tuple].from_python(value)  # type: ignore[attr-defined]


@lru_cache(maxsize=1 << 12)
def _evaluated(rule: Callable[..., Any], *payloads: Any, **attrs: Any) -> tuple[Any, list[str]]:
    """Return what a rule says of payloads, and what it leaves undecided: kernels ask for the same again and again."""
    return with_notes(lambda: rule(*payloads, **attrs))


def apply(name: str, *args: Any, **attrs: Any) -> Any:
    """Evaluate or emit the fly operation ``name``; see the module text."""
    handles = [as_handle(arg) for arg in args]
    spec = OP_TABLE[name]
    rule = spec.rule
    assert rule is not None
    given = {key: plain(value) for key, value in attrs.items() if value is not None}
    evaluate = _evaluated if all(isinstance(value, str) for value in given.values()) else _evaluated.__wrapped__
    answer, undecided = evaluate(rule, *[h.payload for h in handles], **given)
    if spec.result == "bool" and isinstance(answer, bool):
        return Boolean(answer)
    is_known = is_static_payload(answer) and not spec.effect
    if not is_known or undecided:
        known = answer if spec.result == "payload" else None  # the type need not be inferred again
        result = current().fly(name, [h.ir_value() for h in handles], given, known)
        if undecided and spec.result == "payload":
            current().fly("checked", [result])
        if not is_known:
            return _RESULTS[spec.result](answer, result)
    return answer if spec.result in ("leaf", "leaves") else wrap(answer)


def scalar_of(leaf: Any, value: Value) -> Any:
    """Return the number a leaf stands for: a Python int, or a run-time Int32 or Int64."""
    if not isinstance(leaf, DynInt):
        return leaf
    return (Int64 if leaf.width == 64 else Int32)(value)


def _leaves_of(answer: tuple[Any, ...], result: Any) -> tuple[Any, ...]:
    values = result if isinstance(result, tuple) else (result,)
    return tuple(scalar_of(leaf, value) for leaf, value in zip(answer, values, strict=True))


_RESULTS: dict[str, Callable[[Any, Any], Any]] = {
    "payload": lambda answer, result: from_value(result),
    "leaf": scalar_of,
    "leaves": _leaves_of,
    "bool": lambda answer, result: Boolean(result),
}


def expect(value: Any, cls: type[Handle], what: str, hint: str) -> Any:
    """``value`` if it is a ``cls``; otherwise an error in the user's words."""
    if not isinstance(value, cls):
        raise DslTypeError(f"{what} must be a {cls.kind}, got {describe(value)}", hint=hint)
    return value


def describe(value: Any) -> str:
    """Return how an error message names a value: its kind and text when it is ours, its class otherwise."""
    if isinstance(value, Handle):
        return f"the {value.kind} {value}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return f"{type(value).__name__} {value!r}" if isinstance(value, (int, float, str, tuple)) else type(value).__name__
