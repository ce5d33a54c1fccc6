"""What an extent does as a number: the operators and conversions that only numbers have.

``x.shape[0]`` and ``fx.size(x)`` are int tuples of one leaf, so that layouts keep what is known of their divisibility.
Sums, products and quotients of int tuples are int tuples again; everything here is done by the number the leaf is.
"""

from __future__ import annotations

import operator
from typing import Any

from flydsl.expr.enum import RoundingMode, RoundingName
from flydsl.expr.numeric import Numeric


def leaf_number(value: Any) -> Any:
    """Return the number of an extent; anything else as it is."""
    hook = getattr(value, "__dsl_number__", None)
    return value if hook is None else hook()


class NumberOperators:
    """Operators of the number that a one-leaf tuple is; a tuple of several leaves refuses them."""

    __slots__ = ()

    def __dsl_number__(self) -> Numeric:
        """Return the number."""
        raise NotImplementedError

    def __truediv__(self, other: Any) -> Any:
        return operator.truediv(self.__dsl_number__(), leaf_number(other))

    def __rtruediv__(self, other: Any) -> Any:
        return operator.truediv(other, self.__dsl_number__())

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        return operator.pow(self.__dsl_number__(), leaf_number(other)) if modulus is None else NotImplemented

    def __rpow__(self, other: Any) -> Any:
        return operator.pow(other, self.__dsl_number__())

    def __lshift__(self, other: Any) -> Any:
        return operator.lshift(self.__dsl_number__(), leaf_number(other))

    def __rlshift__(self, other: Any) -> Any:
        return operator.lshift(other, self.__dsl_number__())

    def __rshift__(self, other: Any) -> Any:
        return operator.rshift(self.__dsl_number__(), leaf_number(other))

    def __rrshift__(self, other: Any) -> Any:
        return operator.rshift(other, self.__dsl_number__())

    def __and__(self, other: Any) -> Any:
        return operator.and_(self.__dsl_number__(), leaf_number(other))

    def __rand__(self, other: Any) -> Any:
        return operator.and_(other, self.__dsl_number__())

    def __or__(self, other: Any) -> Any:
        return operator.or_(self.__dsl_number__(), leaf_number(other))

    def __ror__(self, other: Any) -> Any:
        return operator.or_(other, self.__dsl_number__())

    def __xor__(self, other: Any) -> Any:
        return operator.xor(self.__dsl_number__(), leaf_number(other))

    def __rxor__(self, other: Any) -> Any:
        return operator.xor(other, self.__dsl_number__())

    def __divmod__(self, other: Any) -> Any:
        return operator.floordiv(self, other), operator.mod(self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return operator.floordiv(other, self), operator.mod(other, self)

    def __abs__(self) -> Any:
        return abs(self.__dsl_number__())

    def __invert__(self) -> Any:
        return ~self.__dsl_number__()

    def __pos__(self) -> Any:
        return self

    def __float__(self) -> float:
        return float(self.__dsl_number__())

    def __format__(self, spec: str) -> str:
        return format(self.__dsl_number__(), spec) if spec else str(self)

    def to(self, dtype: Any, *, rounding_mode: RoundingMode | RoundingName | None = None) -> Any:
        """Return the extent as a number of another type."""
        return self.__dsl_number__().to(dtype, rounding_mode=rounding_mode)

    def bitcast(self, dtype: Any) -> Any:
        """Return the bits of the extent as another type of equal width."""
        return self.__dsl_number__().bitcast(dtype)
