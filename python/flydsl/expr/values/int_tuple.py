"""IntTuple: nested tuples of integers, some of them known only at run time."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from flydsl.base.errors import DslIndexError, DslRuntimeError, DslTypeError, DslValueError
from flydsl.expr.numeric import Boolean, Int32, Int64, Integer, Numeric, Uint32, as_numeric, is_raw_value
from flydsl.expr.trace.context import Value, current
from flydsl.expr.values.extent import NumberOperators
from flydsl.expr.values.handle import Handle, apply, handle_for
from flydsl.expr.values.vector_shape import as_written, keeps_mode
from flydsl.expr.values.vector_value import Vector
from flydsl.layout import int_tuple as it
from flydsl.layout.leaf import Basis, DynInt, Unknown


@handle_for(tuple, int, DynInt, Unknown, Basis, type(None))
class IntTuple(NumberOperators, Handle):
    """A nested tuple of integers: a shape, a stride, a coordinate or a single leaf, which is a number too."""

    __slots__ = ()
    kind: ClassVar[str] = "int tuple"

    @classmethod
    def from_python(cls, value: Any, make: str = "make_int_tuple") -> IntTuple:
        """From ints, run-time integers, None, basis elements and (nested) tuples of those."""
        if isinstance(value, IntTuple):
            return value
        leaves: list[Value] = []
        payload = _flatten(value, leaves)
        if not leaves:
            return cls(payload)
        return cls(payload, current().fly(make, leaves, None, payload))

    @property
    def rank(self) -> int:
        """The number of modes at the top."""
        return it.rank(self.payload)

    @property
    def depth(self) -> int:
        """The nesting: 0 for a leaf."""
        return it.depth(self.payload)

    @property
    def is_leaf(self) -> bool:
        """Whether this is one integer."""
        return not isinstance(self.payload, tuple)

    @property
    def get_static_leaf_int(self) -> int:
        """The Python int of a static leaf."""
        if not isinstance(self.payload, int):
            raise DslTypeError(f"{self} is no static leaf", hint="use get_scalar() for a run-time leaf")
        return self.payload

    def unpack(self) -> Any:
        """As Python: ints for static leaves, run-time numbers for the others, nested as the tuple is."""
        if self._value is None:
            return self.payload
        if self.is_leaf:
            return apply("get_scalar", self)
        return tuple(self[i].unpack() for i in range(self.rank))

    to_py_value = unpack

    def __getitem__(self, index: int) -> IntTuple:
        return apply("get", self, mode=(mode_number(self, index),))

    def __len__(self) -> int:
        return self.rank

    def __iter__(self) -> Iterator[IntTuple]:
        return iter([self[i] for i in range(self.rank)])

    def __str__(self) -> str:
        return it.to_text(self.payload)

    def __eq__(self, other: object) -> Any:
        if self.__dsl_is_number__() and _goes_with_numbers(other):
            return self.__dsl_number__() == other
        if isinstance(other, (int, tuple, list, Numeric, IntTuple, Basis)):
            return apply("equal", self, other)
        return NotImplemented

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)  # Python would ask a run-time answer for its truth to turn it round
        return same.__dsl_not__() if isinstance(same, Numeric) else same if same is NotImplemented else not same

    __hash__ = Handle.__hash__

    def __index__(self) -> int:
        if isinstance(self.payload, int):
            return self.payload
        raise DslRuntimeError(
            f"Python needs a constant here, but {self} is {'known only at run time' if self.is_leaf else 'a tuple'}",
            hint="in a @flyc.kernel or @flyc.jit function the statement `for i in range(n):` counts at run time; to "
            "have it known while tracing, pass the array as flyc.from_dlpack(x), or the size as fx.Constexpr",
        )

    __int__ = __index__

    def __bool__(self) -> bool:
        return bool(self.__index__()) if self.is_leaf else True

    def __add__(self, other: Any) -> Any:
        return self._arithmetic("int_tuple_add", operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return self._arithmetic("int_tuple_add", operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return self._arithmetic("int_tuple_sub", operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._arithmetic("int_tuple_sub", operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return self._arithmetic("int_tuple_mul", operator.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._arithmetic("int_tuple_mul", operator.mul, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return self._arithmetic("int_tuple_div", operator.floordiv, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return other // self.__dsl_number__()

    def __mod__(self, other: Any) -> Any:
        return self._arithmetic("int_tuple_mod", operator.mod, self, other)

    def __rmod__(self, other: Any) -> Any:
        return other % self.__dsl_number__()

    def _arithmetic(self, name: str, python: Callable[[Any, Any], Any], lhs: Any, rhs: Any) -> Any:
        """Return a tuple beside integers of Python's and tuples, which keeps what is known of divisibility; else a
        number."""
        other = rhs if lhs is self else lhs
        if _goes_with_numbers(other) and (self.__dsl_is_number__() or not isinstance(other, Integer)):
            wanted = f"arithmetic with {'floats' if isinstance(other, (float, Numeric)) else 'numbers'}"
            return python(_number(lhs, wanted), _number(rhs, wanted))
        return apply(name, lhs, rhs)

    def __neg__(self) -> IntTuple:
        return apply("int_tuple_sub", 0, self)

    def __lt__(self, other: Any) -> Any:
        return _number(self, "<") < _number(other, "<")

    def __le__(self, other: Any) -> Any:
        return _number(self, "<=") <= _number(other, "<=")

    def __gt__(self, other: Any) -> Any:
        return _number(self, ">") > _number(other, ">")

    def __ge__(self, other: Any) -> Any:
        return _number(self, ">=") >= _number(other, ">=")

    def __dsl_number__(self) -> Numeric:
        """Return the number of a one-leaf tuple, so that an extent can stand wherever a number can."""
        return as_numeric(_number(self, "a number"))

    def __dsl_is_number__(self) -> bool:
        """Return whether this is one integer, which goes wherever a number does."""
        return isinstance(self.payload, (int, DynInt))


def _goes_with_numbers(other: Any) -> bool:
    """Return whether an operation with this is one of numbers or vectors: it has a type of its own, or is no
    integer."""
    if isinstance(other, (bool, Numeric, Vector)) or is_raw_value(other):
        return True
    return isinstance(other, numbers.Real) and not isinstance(other, numbers.Integral)


def checked_shape(shape: Any, smallest: int = 0) -> IntTuple:
    """Return a shape whose extents, where they are known, are possible ones."""
    given = IntTuple.from_python(shape)
    for leaf in it.leaves(given.payload):
        if isinstance(leaf, int) and leaf < smallest:
            raise DslValueError(
                f"a shape cannot have the extent {leaf}: {given}",
                hint=f"an extent counts elements: use {smallest} or more",
            )
    return given


def mode_number(value: Any, index: Any) -> int:
    """Return which mode of a tuple or layout ``value[index]`` is."""
    rank = value.rank
    if isinstance(index, slice):
        raise DslTypeError(f"{as_written(index)} takes several modes of {value}", hint="write fx.take(x, begin, end)")
    index = operator.index(index)
    if not -rank <= index < rank:
        raise DslIndexError(f"mode {index} of {value}, which has {rank}", hint=f"use 0 to {rank - 1}")
    return index % rank


def _number(value: Any, wanted: str) -> Any:
    """Return an operand beside a leaf: the number of a leaf, anything else as it is."""
    if not isinstance(value, IntTuple):
        return value
    if not value.__dsl_is_number__():
        raise DslTypeError(
            f"{wanted} needs one integer, and {value} is not one",
            hint="take a mode of it, x[0]; whether a coordinate lies inside a shape is fx.elem_less(coordinate, shape)",
        )
    return apply("get_scalar", value)


def _flatten(value: Any, leaves: list[Value]) -> Any:
    """Return the payload of a Python structure; run-time leaves are appended to ``leaves`` in order."""
    if keeps_mode(value):
        return None
    if isinstance(value, Basis):
        return value
    if isinstance(value, bool):
        raise DslTypeError("a bool is no coordinate", hint="write 0 or 1")
    if isinstance(value, int):
        return value
    if isinstance(value, (tuple, list)):
        return tuple(_flatten(item, leaves) for item in value)
    if isinstance(value, IntTuple):
        leaves.extend(leaf.ir_value() for leaf in _dynamic_leaves(value))
        return value.payload
    if isinstance(value, Integer):
        return _integer_leaf(value, leaves)
    if hasattr(value, "__dsl_ssa__") or (hasattr(value, "type") and hasattr(value, "name_hint")):  # a raw SSA value
        return _flatten(Integer.from_ir_value(value), leaves)
    if hasattr(value, "__index__") and not isinstance(value, Numeric) and not getattr(value, "ndim", 0):
        return int(value)
    raise DslTypeError(f"{as_written(value)} is no coordinate and no extent", hint=_instead(value))


def _instead(value: Any) -> str:
    """Return what to write for a wrong coordinate."""
    if isinstance(value, slice):
        return (
            "None (or `:`) keeps a whole mode; a part of one is a tile: "
            "fx.zipped_divide(t, fx.make_layout(4, 1))[None, i]"
        )
    if value is ...:
        return "write None for every mode that is kept: t[None, 0]"
    if isinstance(value, (float, Numeric)):
        return "make it an integer: x.to(fx.Int32)"
    if isinstance(value, Vector) or getattr(value, "ndim", 0):
        return "a coordinate names one place; read several with a loop, or copy them with fx.copy"
    return "use ints, run-time integers (fx.Int32 and wider), None, or nested tuples of these"


def _dynamic_leaves(value: IntTuple) -> list[Any]:
    if value.is_static:
        return []
    found = apply("get_leaves", value, dynamicOnly=True)
    return list(found)


def _integer_leaf(value: Any, leaves: list[Value]) -> Any:
    if value.is_static():
        return int(value.value)
    from_index = type(value).__name__ == "Index"
    width = 64 if from_index or value.width > 32 or type(value) is Uint32 else 32  # which has numbers that no Int32 has
    wide = value.to(Int64 if width == 64 else Int32) if value.width != width or from_index else value
    leaves.append(wide.ir_value())
    return Unknown(width, current().known_divisor(leaves[-1]))


# Tuple arithmetic ------------------------------------------------------------------------------


def int_tuple_add(lhs: Any, rhs: Any) -> IntTuple:
    """Return the sum, mode by mode; surplus modes are copied."""
    return apply("int_tuple_add", lhs, rhs)


def int_tuple_sub(lhs: Any, rhs: Any) -> IntTuple:
    """Return the difference, mode by mode; surplus modes are copied."""
    return apply("int_tuple_sub", lhs, rhs)


def int_tuple_mul(lhs: Any, rhs: Any) -> IntTuple:
    """Return the product, mode by mode; surplus modes are copied."""
    return apply("int_tuple_mul", lhs, rhs)


def int_tuple_div(lhs: Any, rhs: Any) -> IntTuple:
    """Return the quotient, mode by mode; surplus modes are copied."""
    return apply("int_tuple_div", lhs, rhs)


def int_tuple_mod(lhs: Any, rhs: Any) -> IntTuple:
    """Return the remainder, mode by mode; surplus modes are copied."""
    return apply("int_tuple_mod", lhs, rhs)


def int_tuple_product(x: Any) -> IntTuple:
    """Return the product of all leaves."""
    return apply("int_tuple_product", x)


def int_tuple_product_each(x: Any) -> IntTuple:
    """Return the product of the leaves of each top-level mode."""
    return apply("int_tuple_product_each", x)


def int_tuple_product_like(x: Any, guide: Any) -> IntTuple:
    """Return the products of the leaves, structured like a guide."""
    return apply("int_tuple_product_like", x, guide)


def shape_div(lhs: Any, rhs: Any) -> IntTuple:
    """Division of shapes that rounds up, where one of each pair divides the other."""
    return apply("shape_div", lhs, rhs)


def ceil_div(lhs: Any, rhs: Any) -> Any:
    """Return how many ``rhs`` cover ``lhs``, mode by mode."""
    return apply("ceil_div", lhs, rhs)


def elem_less(lhs: Any, rhs: Any) -> Boolean:
    """Return whether every leaf of ``lhs`` is below its partner in ``rhs``: the in-bounds test."""
    return apply("elem_less", lhs, rhs)


def equal(lhs: Any, rhs: Any) -> Boolean:
    """Return whether two tuples have the same structure and equal leaves."""
    return apply("equal", lhs, rhs)
