"""The products: a layout repeated as another layout says."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import LayoutError
from flydsl.layout import int_tuple as it
from flydsl.layout import leaf as lf
from flydsl.layout.algebra import complement, composition
from flydsl.layout.build import make_ordered_layout
from flydsl.layout.coords import cosize
from flydsl.layout.int_tuple import IntTuple
from flydsl.layout.layout import Layout, join
from flydsl.layout.structure import append, on_layout, zip_


def logical_product(value: Any, b: Layout) -> Any:
    """Repeat ``a`` as ``b`` says. The result is (a, copies): its second mode gives where each copy of ``a`` starts."""
    return on_layout(value, lambda a: join([a, _copies(a, b)]))


def _copies(a: Layout, b: Layout) -> Layout:
    try:
        return composition(complement(a, lf.mul(a.size(), cosize(b))), b)
    except LayoutError as error:
        raise LayoutError(f"cannot repeat {a} as {b} says: {error.message}", hint=error.hint) from error


def zipped_product(value: Any, b: Layout) -> Any:
    """Return the logical product with modes ((modes of a), (modes of the copies))."""
    return logical_product(value, b)


def tiled_product(value: Any, b: Layout) -> Any:
    """Return the logical product with modes (a, first mode of the copies, second mode of the copies, …)."""
    return on_layout(value, lambda a: join([a, *_copies(a, b).modes()]))


def flat_product(value: Any, b: Layout) -> Any:
    """Return the logical product with modes (first mode of a, …, first mode of the copies, …)."""
    return on_layout(value, lambda a: join([*a.modes(), *_copies(a, b).modes()]))


def _by_mode(a: Layout, b: Layout) -> tuple[Layout, Layout]:
    one, rank = Layout(1, 0), max(a.rank, b.rank)
    a, b = (append(join(layout.modes()), one, rank) for layout in (a, b))
    return a, _copies(a, b)


def blocked_product(value: Any, b: Layout) -> Any:
    """Place whole copies of ``a`` side by side: mode i of the result is (mode i of a, mode i of the copies)."""
    return on_layout(value, lambda a: zip_(*_by_mode(a, b)))


def raked_product(value: Any, b: Layout) -> Any:
    """Interleave the copies of ``a``: mode i of the result is (mode i of the copies, mode i of a)."""
    return on_layout(value, lambda a: zip_(*reversed(_by_mode(a, b))))


def tile_to_shape(block: Any, target_shape: IntTuple, order: IntTuple) -> Any:
    """Repeat a block until it covers a shape, blocks placed in the given order."""

    def cover(layout: Layout) -> Layout:
        counts = it.ceil_div(it.product_each(target_shape), it.product_each(layout.shape))
        return blocked_product(layout, make_ordered_layout(counts, order))

    return on_layout(block, cover)
