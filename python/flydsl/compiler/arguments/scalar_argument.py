"""A number as an argument: Python's, one of ours, or a scalar of NumPy or ml_dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.compiler.arguments.array_view import ArrayView, element_of
from flydsl.expr.numeric import Boolean, Float32, Int32, Int64, Numeric
from flydsl.expr.tensors.element import element_class
from flydsl.expr.trace.abi_slots import number_format, number_value
from flydsl.expr.values.numpy_scalar import is_numpy_scalar
from flydsl.layout.leaf import INT32_LIMIT


class ScalarArgument:
    """A number."""

    __slots__ = ("dtype", "value")

    def __init__(self, dtype: type[Numeric], value: Any) -> None:
        self.dtype = dtype
        self.value = value

    def signature(self) -> tuple[Any, ...]:
        return ("scalar", self.dtype)

    def ir_types(self) -> list[Any]:
        return [str(self.dtype.ir_type)]

    def construct(self, values: list[Any]) -> Any:
        return self.dtype(values[0])

    def abi(self) -> str:
        return number_format(self.dtype)

    def pack(self) -> Sequence[int | float]:
        value = self.value
        if self.dtype.is_integer and _is_float(value):
            raise DslTypeError(
                f"the parameter is an integer, {self.dtype}, got the float {value}",
                hint="pass int(...) of it, or annotate the parameter as fx.Float32",
            )
        static = self.dtype(value)
        if self.dtype.is_integer and isinstance(value, int) and static.value != value:
            raise DslValueError(
                f"{value} does not fit {self.dtype}",
                hint="annotate the parameter with a wider type, such as fx.Int64",
            )
        return (number_value(static),)

    def views(self) -> list[ArrayView]:
        return []


def _is_float(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, Numeric) and type(value).is_float)


def _python_class(value: bool | int | float) -> type[Numeric]:
    """The type of a Python number that no annotation gives one."""
    if isinstance(value, bool):
        return Boolean
    if isinstance(value, float):
        return Float32
    return Int32 if -INT32_LIMIT <= value < INT32_LIMIT else Int64


def scalar_argument(value: Any, annotation: Any = None) -> ScalarArgument | None:
    """The argument for a number, None for everything else.

    A number class in the annotation decides the type. Without one it is that of a number of ours or of NumPy, an int is
    as wide as it needs, and a float has 32 bits.
    """
    annotated = annotation if isinstance(annotation, type) and issubclass(annotation, Numeric) else None
    if isinstance(value, Numeric):
        wrong = annotated is not None and annotated.is_integer and _is_float(value)
        return ScalarArgument(annotated if wrong and annotated else type(value), value)
    own = None
    if is_numpy_scalar(value):
        own, value = _numpy_class(value), value.item()
    if not isinstance(value, (bool, int, float)):
        return None
    return ScalarArgument(annotated or own or _python_class(value), value)


def _numpy_class(value: Any) -> type[Numeric]:
    """The number class of a NumPy scalar."""
    name = value.dtype.name
    try:
        return element_class(element_of(name))
    except DslTypeError as error:
        error.message = f"a NumPy {name} cannot be passed to a kernel"
        error.hint = "pass a number: " + (error.hint or "")
        raise
