"""Calls of a target's intrinsics from traced code, with the target checked first.

LLVM ends the process on an intrinsic that the target does not have, so nothing is emitted before a check.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError, TargetError
from flydsl.expr.numeric import Boolean, Int32, Numeric, as_numeric
from flydsl.expr.trace.context import Value, current
from flydsl.expr.values.ir_types import IrType, split_vector_type
from flydsl.expr.values.known import plain, shown
from flydsl.expr.values.vector_value import required_operand
from flydsl.expr.vector import Vector
from flydsl.target.family import family


def require(what: str, backend: str, generations: Sequence[str] = ()) -> Any:
    """Return the target being traced, if it has ``what``; an error that says who has it otherwise."""
    target = current().target
    if target.backend != backend:
        raise TargetError(f"{what} is an instruction of {family(backend).maker} GPUs, and the target is {target}")
    if generations and target.generation not in generations:
        raise TargetError(f"{target} does not have {what}", hint="it belongs to " + ", ".join(generations))
    return target


def call(name: str, operands: Sequence[Value], result: str | None = None) -> Value:
    """Emit a call of the intrinsic ``name`` on raw values."""
    return current().intrinsic(name, operands, result)


def raw(value: Any) -> Value:
    """Return the SSA value of a number, vector or raw value."""
    if hasattr(value, "ir_value"):
        return value.ir_value()
    if isinstance(value, (bool, int, float)):
        return as_numeric(value).ir_value()
    return value


def without_result_type(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Positional arguments without the result type that older kernels write first."""
    return args[1:] if args and isinstance(args[0], IrType) else args


def operands_of(name: str, order: Sequence[str], args: tuple[Any, ...], named: Mapping[str, Any]) -> list[Any]:
    """Operands in order, given one by one or by name, without the result type (``res``) of older kernels."""
    given = without_result_type(args)
    found = dict(zip(order, given, strict=False))
    form = f"{name}({', '.join(order)})"
    for key, value in named.items():
        if key not in order and key != "res":
            raise DslTypeError(f"{name} has no operand '{key}'", hint=f"call {form}")
        if key in found:
            raise DslTypeError(f"{name} got '{key}' twice", hint=f"call {form}")
        found[key] = value
    found.pop("res", None)
    if len(found) != len(order) or len(given) > len(order):
        raise DslTypeError(f"expected {form}, got {len(given) + len(named.keys() - {'res'})} arguments")
    return [found[key] for key in order]


def constant(type_: str, value: Any, what: str, low: int, high: int) -> Value:
    """Return a number that the instruction encodes: a Python int in a range."""
    found = plain(value)
    if isinstance(found, bool) or not isinstance(found, int):
        raise DslTypeError(
            f"{what} is part of the instruction and must be known while tracing, got {shown(value)}",
            hint="pass a Python int or a Constexpr",
        )
    if not low <= found <= high:
        raise DslValueError(f"{what} must be between {low} and {high}, got {found}")
    return current().constant(type_, found)


def known_flag(value: Any, what: str = "the flag") -> bool:
    """Return a choice that the instruction encodes: True, False or an int."""
    found = plain(value)
    if not isinstance(found, int):
        raise DslTypeError(
            f"{what} is part of the instruction and must be known while tracing, got {shown(value)}",
            hint="pass True, False or a Constexpr",
        )
    return bool(found)


def flag(value: Any, what: str = "the flag") -> Value:
    """Return a choice of the instruction's encoding as an operand."""
    return current().constant("i1", int(known_flag(value, what)))


def wrapped(value: Value, like: Any = None) -> Any:
    """Return a raw result as a number or vector of its type; ``like`` decides the sign."""
    text = current().type_name(value)
    lanes, element = split_vector_type(text)
    kind = Numeric.from_ir_type(element)
    if like is not None and getattr(like, "dtype", None) is not None and str(like.dtype.ir_type) == element:
        kind = like.dtype
    return Vector(value, (lanes,), kind) if lanes is not None else kind(value)


def number_of(value: Any) -> Any:
    """Return a number or vector of the language from one, a Python number or a raw value."""
    return required_operand(value)


def operand_as(value: Any, type_: str, what: str) -> Value:
    """Return a number converted to a scalar type, or any value of the same size as a vector type."""
    lanes, element = split_vector_type(type_)
    kind = Numeric.from_ir_type(element)
    number = number_of(value)
    if lanes is None:
        if isinstance(number, Vector):
            number = number.bitcast(kind)
            if number.numel != 1:
                raise DslTypeError(f"{what} takes {type_} here, got {shown(value)}")
            number = number[0]
        return kind(number).ir_value()
    wanted = lanes * kind.width
    if not isinstance(number, Vector):
        plain = isinstance(value, int) and not value
        number = Vector.filled(lanes, 0, kind) if plain else Vector.from_elements([number], number.dtype)
    if number.numel * number.dtype.width != wanted:
        raise DslTypeError(f"{what} takes {type_} here, {wanted} bits, got {shown(value)}")
    return (number if number.dtype is kind else number.bitcast(kind)).ir_value()


def when(condition: Any, then: Callable[[], None]) -> None:
    """Emit something for the lanes whose condition holds."""
    holds = Boolean(condition)
    if holds.is_static():
        if holds.value:
            then()
        return
    current().if_(holds.ir_value(), then, lambda: None, lambda: ((), ()))


def words_of(value: Any) -> tuple[list[Value], Any]:
    """Return a number or vector as 32-bit words, and a function that puts such words back together."""
    number = number_of(value)
    if not isinstance(number, Vector) and type(number).width == 32:
        return [number.bitcast(Int32).ir_value()], lambda moved: Int32(moved[0]).bitcast(type(number))
    vector = number if isinstance(number, Vector) else Vector.from_elements([number], type(number))
    bits = vector.numel * vector.dtype.width
    if bits % 32 and bits not in (8, 16):
        raise DslTypeError(f"lanes exchange 32-bit words, and {shown(value)} has {bits} bits")
    if bits < 32:
        narrow = vector.bitcast(Numeric.from_ir_type(f"i{bits}"))
        words = [Int32(narrow[0]).ir_value()]
    else:
        words = [w.ir_value() for w in vector.bitcast(Int32)]

    def rebuild(moved: Sequence[Value]) -> Any:
        if bits < 32:
            short = Numeric.from_ir_type(f"i{bits}")
            whole = Vector.from_elements([short(Int32(moved[0]))], short)
        else:
            whole = Vector.from_elements([Int32(word) for word in moved], Int32)
        back = whole.bitcast(vector.dtype)
        return back if isinstance(number, Vector) else back[0]

    return words, rebuild
