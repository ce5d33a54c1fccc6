"""Nested tuples of leaves: shapes, strides and coordinates, with no meaning attached.

A value is a leaf (see `leaf`) or a tuple of values; ``None`` is the wildcard of a coordinate.
``(4,)`` and ``4`` are different values: a rank-1 tuple and a leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, overload

from flydsl.base.errors import LayoutError
from flydsl.layout import leaf as lf
from flydsl.layout.leaf import Basis, DynInt, is_tuple

IntTuple: TypeAlias = "Any"
"""A leaf, None, or a (nested) tuple of them. Python's type system has no recursive arithmetic."""


def freeze(value: Any) -> IntTuple:
    """Lists become tuples, all the way down."""
    items: Any = value
    return tuple(freeze(item) for item in items) if isinstance(value, (tuple, list)) else value


def to_text(value: IntTuple) -> str:
    """``(4,(8,?),*)``: no spaces, ``*`` for None."""
    if is_tuple(value):
        return "(" + ",".join(to_text(item) for item in value) + ")"
    return "*" if value is None else str(value)


def rank(value: IntTuple) -> int:
    """Number of top-level modes; a leaf has one."""
    return len(value) if is_tuple(value) else 1


def depth(value: IntTuple) -> int:
    """Levels of nesting; a leaf has none."""
    return 1 + max((depth(item) for item in value), default=0) if is_tuple(value) else 0


def modes(value: IntTuple) -> tuple[Any, ...]:
    """Return the top-level modes; a leaf is its own only mode."""
    return value if is_tuple(value) else (value,)


def unwrap(items: Sequence[Any]) -> IntTuple:
    """Return a tuple, or its only item when there is just one."""
    return items[0] if len(items) == 1 else tuple(items)


def leaves(value: IntTuple) -> list[Any]:
    """All leaves, left to right."""
    if not is_tuple(value):
        return [value]
    found: list[Any] = []
    for item in value:
        if is_tuple(item):
            found.extend(leaves(item))
        else:
            found.append(item)
    return found


@overload
def map_leaves(fn: Callable[[Any], Any], value: IntTuple) -> IntTuple: ...
@overload
def map_leaves(fn: Callable[[Any, Any], Any], value: IntTuple, other: IntTuple, /) -> IntTuple: ...
def map_leaves(fn: Callable[..., Any], value: IntTuple, *others: IntTuple) -> IntTuple:
    """Apply ``fn`` leaf by leaf over congruent tuples."""
    if is_tuple(value):
        return tuple(map_leaves(fn, *items) for items in zip(value, *others, strict=True))
    return fn(value, *others)


def is_static(value: IntTuple) -> bool:
    """Return whether no leaf is known only at run time."""
    if is_tuple(value):
        return all(is_static(item) for item in value)
    return value is None or lf.is_static(value)


def has_none(value: IntTuple) -> bool:
    return any(has_none(item) for item in value) if is_tuple(value) else value is None


def congruent(a: IntTuple, b: IntTuple) -> bool:
    """Return whether two tuples are nested alike, whatever their leaves are."""
    if is_tuple(a) and is_tuple(b):
        return len(a) == len(b) and all(map(congruent, a, b))
    return not is_tuple(a) and not is_tuple(b)


def weakly_congruent(a: IntTuple, b: IntTuple) -> bool:
    """Return the nesting of ``a`` is that of ``b`` cut short: a leaf of ``a`` may stand for any part of ``b``."""
    if not is_tuple(a):
        return True
    return is_tuple(b) and len(a) == len(b) and all(weakly_congruent(x, y) for x, y in zip(a, b, strict=True))


# Products --------------------------------------------------------------------------------------


def product(value: IntTuple) -> Any:
    """Return the product of all leaves."""
    if not is_tuple(value):
        return value
    total: Any = 1
    for item in value:
        total = lf.mul(total, product(item))
    return total


def product_each(value: IntTuple) -> IntTuple:
    """Return the product of each top-level mode."""
    return tuple(product(item) for item in value) if is_tuple(value) else value


def product_like(value: IntTuple, guide: IntTuple) -> IntTuple:
    """Products shaped like ``guide``: each leaf of the guide gets the product of its part."""
    if is_tuple(guide):
        if not is_tuple(value) or len(value) != len(guide):
            raise LayoutError(
                f"{to_text(value)} does not have the nesting of {to_text(guide)}",
                hint="give a guide that is nested no deeper",
            )
        return tuple(product_like(v, g) for v, g in zip(value, guide, strict=True))
    return product(value)


def compact_strides(shape: IntTuple, start: Any = 1) -> IntTuple:
    """Strides that count a shape from ``start`` on, first mode fastest."""
    if not is_tuple(shape):
        return start
    strides: list[Any] = []
    for item in shape:
        strides.append(compact_strides(item, start))
        start = lf.mul(start, product(item))
    return tuple(strides)


# Arithmetic by mode ----------------------------------------------------------------------------


def _elementwise(name: str, fn: Callable[[Any, Any], Any]) -> Callable[[IntTuple, IntTuple], IntTuple]:
    def combine(a: IntTuple, b: IntTuple) -> IntTuple:
        if is_tuple(a) and is_tuple(b):
            shared = [combine(x, y) for x, y in zip(a, b, strict=False)]
            return tuple(shared) + (a[len(b) :] or b[len(a) :])
        if is_tuple(a) or is_tuple(b):
            if name in ("add", "sub") and lf.equals(b, 0):
                return a
            if name == "add" and lf.equals(a, 0):
                return b
            raise LayoutError(
                f"cannot {name} {to_text(a)} and {to_text(b)}: one is a leaf where the other is a tuple",
                hint="give both the same nesting",
            )
        return fn(a, b)

    combine.__name__ = name
    combine.__doc__ = f"Mode by mode {name}; surplus modes of the longer operand are copied."
    return combine


add = _elementwise("add", lf.add)
sub = _elementwise("sub", lf.sub)
mul = _elementwise("mul", lf.mul)
div = _elementwise("div", lf.floordiv)
mod = _elementwise("mod", lf.mod)


def _divide_modes(a: IntTuple, b: IntTuple, divide: Callable[[Any, Any], Any]) -> IntTuple:
    """Leaf by leaf; a tuple over a leaf hands what the leaf has left from mode to mode."""
    if is_tuple(a) and is_tuple(b):
        if len(a) != len(b):
            raise LayoutError(
                f"cannot divide {to_text(a)} by {to_text(b)}: they have {len(a)} and {len(b)} modes",
                hint="give one divisor for every mode, or one for all",
            )
        return tuple(_divide_modes(x, y, divide) for x, y in zip(a, b, strict=True))
    if is_tuple(a):
        quotients: list[Any] = []
        for item in a:
            quotients.append(_divide_modes(item, b, divide))
            b = lf.ceil_div(b, product(item))
        return tuple(quotients)
    return divide(a, product(b))


def ceil_div(a: IntTuple, b: IntTuple) -> IntTuple:
    """Return how many ``b`` cover ``a``."""
    return _divide_modes(a, b, lf.ceil_div)


def _exact_div(a: Any, b: Any) -> Any:
    text, hint = "shape_div: neither of {} and {} divides the other", "use ceil_div to round up"
    for extent in (a, b):
        if isinstance(extent, DynInt):
            lf.require(lf.less(0, extent), text, (a, b), hint)
    lf.require(not lf.equals(b, 0), text, (a, b), hint)
    if not lf.equals(a, 0):
        lf.require(lf.either(lf.divides(b, a), lf.divides(a, b)), text, (a, b), hint)
    return lf.ceil_div(a, b)


def shape_div(a: IntTuple, b: IntTuple) -> IntTuple:
    """Like :func:`ceil_div`, but one of two leaves must divide the other."""
    return _divide_modes(a, b, _exact_div)


def elem_less(a: IntTuple, b: IntTuple) -> Any:
    """Return whether every leaf of ``a`` is below its partner; more modes than ``b`` has is false."""
    if is_tuple(a) and is_tuple(b):
        if len(a) > len(b):
            return False
        result: Any = True
        for x, y in zip(a, b, strict=False):
            result = lf.both(result, elem_less(x, y))
        return result
    if is_tuple(a) or is_tuple(b):
        raise LayoutError(
            f"cannot compare {to_text(a)} with {to_text(b)}: different nesting", hint="give both the same nesting"
        )
    return lf.less(a, b)


def equal(a: IntTuple, b: IntTuple) -> Any:
    """Return whether two tuples have the same structure and the same leaves."""
    if is_tuple(a) and is_tuple(b):
        if len(a) != len(b):
            return False
        result: Any = True
        for x, y in zip(a, b, strict=True):
            result = lf.both(result, equal(x, y))
        return result
    if is_tuple(a) or is_tuple(b) or a is None or b is None:
        return a is b
    if isinstance(a, Basis) or isinstance(b, Basis):
        return isinstance(a, Basis) and isinstance(b, Basis) and a.modes == b.modes and lf.same(a.value, b.value)
    return lf.same(a, b)
