"""The conversion builders of `arith`, each named after one IR operation: `extui(T.i64, x)`.

Unlike `x.to(...)`, the name decides how the bits are read, whatever sign the operand's class has. The type may
stand before or after the value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from flydsl.base.errors import DslTypeError
from flydsl.expr.numbers import fold
from flydsl.expr.numbers.convert import type_text
from flydsl.expr.numbers.float_format import round_to
from flydsl.expr.numbers.fold import Number
from flydsl.expr.numbers.numeric_types import NumberFormat
from flydsl.expr.numeric import Numeric, NumericMeta, resolve_dtype
from flydsl.expr.trace.context import current
from flydsl.expr.values.ir_types import split_vector_type
from flydsl.expr.values.vector_value import Vector, required_operand

CastFold: TypeAlias = Callable[[NumberFormat, NumberFormat, Number], Number]
Cast: TypeAlias = Callable[..., Any]


def _sign_extended(src: NumberFormat, value: Number) -> int:
    bits = fold.unsigned(src, value)
    return bits - (1 << src.width) if bits >> (src.width - 1) else bits


def _fold_signed(src: NumberFormat, dst: NumberFormat, value: Number) -> Number:
    return fold.normalise(dst, _sign_extended(src, value))


def _fold_unsigned(src: NumberFormat, dst: NumberFormat, value: Number) -> Number:
    return fold.normalise(dst, fold.unsigned(src, value))


def _fold_float(src: NumberFormat, dst: NumberFormat, value: Number) -> Number:
    return round_to(dst, value)


def _fold_to_integer(src: NumberFormat, dst: NumberFormat, value: Number) -> Number:
    return fold.convert_step(src, dst, value)


def is_type(value: Any) -> bool:
    return isinstance(value, (str, NumericMeta)) or hasattr(value, "lanes")


def element_class(type: Any) -> type[Numeric]:
    """Return the number class of a type given as a class, an alias, or the text of a scalar or vector type."""
    if hasattr(type, "lanes"):
        return type.dtype
    return resolve_dtype(split_vector_type(str(type))[1] if isinstance(type, str) else type)


def _cast(name: str, folding: CastFold, from_float: bool, to_float: bool) -> Cast:
    def build(type: Any, value: Any, *, roundingmode: Any = None) -> Any:
        if not is_type(type):
            type, value = value, type
        source, target = required_operand(value), element_class(type).format
        fmt = source.dtype.format
        if fmt.is_float is not from_float or target.is_float is not to_float:
            raise DslTypeError(f"{name} does not convert {fmt} to {target}", hint="x.to(dtype) picks the operation")
        if fmt is target:
            return source
        if isinstance(source, Numeric) and source.is_static():
            return element_class(type)(folding(fmt, target, source.value))
        lanes = source.numel if isinstance(source, Vector) else None
        attrs = None if roundingmode is None else {"roundingmode": str(roundingmode)}
        raw = current().op(f"arith.{name}", (source.ir_value(),), type_text(target, lanes), attrs)
        if isinstance(source, Vector):
            return Vector(raw, source.shape, element_class(type))
        return element_class(type).__construct_from_ir_values__([raw])

    build.__name__ = build.__qualname__ = name
    build.__doc__ = f"`arith.{name}`: (type, value)."
    return build


extsi = _cast("extsi", _fold_signed, False, False)
extui = _cast("extui", _fold_unsigned, False, False)
trunci = _cast("trunci", _fold_unsigned, False, False)
index_cast = _cast("index_cast", _fold_signed, False, False)
index_castui = _cast("index_castui", _fold_unsigned, False, False)
sitofp = _cast("sitofp", _fold_signed, False, True)
uitofp = _cast("uitofp", _fold_unsigned, False, True)
fptosi = _cast("fptosi", _fold_to_integer, True, False)
fptoui = _cast("fptoui", _fold_to_integer, True, False)
extf = _cast("extf", _fold_float, True, True)
truncf = _cast("truncf", _fold_float, True, True)
ext_f, trunc_f = extf, truncf


def bitcast(type: Any, value: Any) -> Any:
    """Return the same bits as another type of equal width: (type, value)."""
    if not is_type(type):
        type, value = value, type
    return required_operand(value).bitcast(element_class(type))
