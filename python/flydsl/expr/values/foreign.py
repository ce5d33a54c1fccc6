"""NumPy's and torch's functions on values of a kernel: refused with the function to call instead.

Both libraries ask an operand's class what to do with it, so no import of theirs is needed to answer. Operators between
a NumPy number and a value of ours stay ours; without that, ``np.float32(2) * x`` would be NumPy's business.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, Self

from flydsl.base.errors import DslTypeError
from flydsl.expr.numbers.math_table import UNARY

_OPERATORS: Mapping[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "true_divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "power": operator.pow,
    "left_shift": operator.lshift,
    "right_shift": operator.rshift,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}
"""What NumPy makes of an operator with a value of ours on its right, by the name of the ufunc."""


_ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(("maximum", "max", "amax", "fmax"), "fx.max"),
    **dict.fromkeys(("minimum", "min", "amin", "fmin"), "fx.min"),
    **dict.fromkeys(("absolute", "abs", "fabs"), "abs"),
    **dict.fromkeys(("power", "float_power", "pow"), "fx.powf"),
    **dict.fromkeys(("rint", "around"), "fx.roundeven"),
    "arctan2": "fx.atan2",
    "arcsin": "fx.asin",
    "arccos": "fx.acos",
    "arctan": "fx.atan",
    "prod": "math.prod",
    "where": "condition.select",
}
"""Functions of NumPy and torch whose name here is another."""

_SAME_NAME = frozenset((*UNARY, "atan2", "copysign", "isnan", "isinf", "isfinite"))


def function_here(name: str) -> str | None:
    """Return what a function of another library is called here, if there is such a function: ``exp`` is ``fx.exp``."""
    return _ELSEWHERE.get(name) or (f"fx.{name}" if name in _SAME_NAME else None)


class NoForeignFunctions:
    """For classes of run-time values: the libraries' functions give our error, and operators work as ever."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        python = _OPERATORS.get(ufunc.__name__) if method == "__call__" and not kwargs else None
        if python is not None and not any(getattr(value, "ndim", 0) for value in inputs):
            return python(*(value.item() if hasattr(value, "item") else value for value in inputs))
        operands = [value._for_numpy() if isinstance(value, NoForeignFunctions) else value for value in inputs]
        if any(value is None or (python is None and hasattr(value, "dtype")) for value in operands):
            refuse("NumPy", "np", ufunc.__name__)
        return getattr(ufunc, method)(*operands, **kwargs)

    def __deepcopy__(self, memo: object) -> Self:
        return self  # a copy of the operation behind a run-time value would be none of the kernel's

    def _for_numpy(self) -> Any:
        """Return the value as NumPy may have it: a Python number, or a run-time number in an array of objects; None if
        not."""
        return None

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> NoReturn:
        refuse("NumPy", "np", function.__name__)

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> NoReturn:
        refuse("torch", "torch", getattr(function, "__name__", str(function)))


def refuse(library: str, prefix: str, name: str) -> NoReturn:
    """The error for a function of a library that computes with arrays of the host, now."""
    here = function_here(name)
    raise DslTypeError(
        f"{prefix}.{name} computes now, with numbers that {library} has; this value is known when the kernel runs",
        hint=f"write {here}(...)" if here else f"use operators and the functions of fx; {library} works on the host",
    )
