"""Conversions between number formats: the steps, and the same steps folded or emitted.

A conversion is a route of single steps, each one `arith` operation, of which at most one rounds. Folding and
emission walk the same route, so a value converted while tracing and one converted on the device agree. Routes
pass through

- float32, between floats of which neither holds the other, and from formats under 16 bits to integers: the number
  is exact there;
- Uint64, between Index and floats, which `arith` cannot convert directly.
"""

from __future__ import annotations

from functools import cache

from flydsl.expr.enum import RoundingMode
from flydsl.expr.numbers import fold
from flydsl.expr.numbers import numeric_types as nt
from flydsl.expr.numbers.numeric_types import NumberFormat
from flydsl.expr.trace.context import Value, current
from flydsl.expr.values.ir_types import IrType, vector_type


@cache
def route(src: NumberFormat, dst: NumberFormat) -> tuple[NumberFormat, ...]:
    """Return the formats a conversion passes through, ending with `dst`; empty when nothing changes."""
    if src is dst:
        return ()
    middle = _middle(src, dst)
    if middle is None or middle is src or middle is dst:
        return (dst,)
    return (*route(src, middle), *route(middle, dst))


def _middle(src: NumberFormat, dst: NumberFormat) -> NumberFormat | None:
    if src.is_float and dst.is_float:
        return None if _is_one_step(src, dst) else nt.FLOAT32
    if src.is_narrow_float:
        return nt.FLOAT32
    mixed = src.is_float is not dst.is_float
    return nt.UINT64 if mixed and (src.is_index or dst.is_index) else None


def _is_one_step(src: NumberFormat, dst: NumberFormat) -> bool:
    assert src.layout is not None and dst.layout is not None
    if src.is_narrow_float and dst.is_narrow_float:
        return False
    if dst.width > src.width:
        return dst.layout.holds(src.layout)
    return dst.width < src.width


class Literal(float):
    """A float that a kernel has written down: a Float32 by itself, and what was written beside a Float64."""

    written: float

    def __new__(cls, written: float) -> Literal:
        made = super().__new__(cls, convert_static(nt.FLOAT64, nt.FLOAT32, written))
        made.written = written
        return made


def convert_static(src: NumberFormat, dst: NumberFormat, value: fold.Number) -> fold.Number:
    """Convert a value known while tracing."""
    if type(value) is Literal and dst is nt.FLOAT64:
        return value.written
    for step in route(src, dst):
        value = fold.convert_step(src, step, value)
        src = step
    return value


def from_python(dst: NumberFormat, value: bool | int | float) -> fold.Number:
    """Return a Python number in the format `dst`: integers are exact however large, floats are doubles."""
    if isinstance(value, float):
        return convert_static(nt.FLOAT64, dst, value) if dst is not nt.FLOAT64 else value
    if dst.is_boolean:
        return int(value != 0)
    if dst.is_integer:
        return fold.wrap(dst, int(value))
    return convert_static(nt.INT128, dst, int(value))


def type_text(fmt: NumberFormat, lanes: int | None) -> IrType:
    """Return the IR type of a scalar (`lanes` is None) or of a vector of a format."""
    return fmt.ir_type if lanes is None else vector_type(lanes, fmt.ir_type)


def emit_constant(fmt: NumberFormat, value: fold.Number, lanes: int | None = None) -> Value:
    """Return a constant, or a vector with it in every lane."""
    text = fmt.ir_type if lanes is None else vector_type(lanes, fmt.ir_type)
    return current().constant(text, value if fmt.is_float else fold.signed(fmt, value))


@cache
def _step_operation(src: NumberFormat, dst: NumberFormat) -> str | None:
    """Return the operation of one step; None when the bits stay as they are."""
    if src.is_float:
        if dst.is_float:
            return "arith.extf" if dst.width > src.width else "arith.truncf"
        return "arith.fptosi" if dst.signed else "arith.fptoui"
    if dst.is_float:
        return "arith.sitofp" if src.signed else "arith.uitofp"
    if dst.is_index:
        return "arith.index_cast" if src.signed else "arith.index_castui"
    if src.is_index:
        return "arith.index_castui" if dst.width > src.width else "arith.index_cast"
    if dst.width == src.width:
        return None
    if dst.width < src.width:
        return "arith.trunci"
    return "arith.extsi" if src.signed else "arith.extui"


def emit_convert(
    value: Value,
    src: NumberFormat,
    dst: NumberFormat,
    lanes: int | None = None,
    rounding: RoundingMode | None = None,
) -> Value:
    """Emit the steps from `src` to `dst`. A rounding mode applies to each step that narrows a float."""
    for step in route(src, dst):
        if step.is_boolean:
            value = _emit_nonzero(value, src, lanes)
        elif (operation := _step_operation(src, step)) is not None:
            narrows = rounding is not None and operation == "arith.truncf"
            attrs = {"roundingmode": str(rounding)} if narrows else None
            value = current().op(operation, (value,), type_text(step, lanes), attrs)
        src = step
    return value


def _emit_nonzero(value: Value, src: NumberFormat, lanes: int | None) -> Value:
    name, predicate = ("arith.cmpf", "une") if src.is_float else ("arith.cmpi", "ne")
    zero = emit_constant(src, 0.0 if src.is_float else 0, lanes)
    return current().op(name, (value, zero), type_text(nt.BOOLEAN, lanes), {"predicate": predicate})
