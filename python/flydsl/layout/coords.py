"""Coordinates to indices and back, and the space a layout maps into."""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import LayoutError
from flydsl.layout import int_tuple as it
from flydsl.layout import leaf as lf
from flydsl.layout.leaf import Basis


def crd2idx(crd: Any, layout: Any) -> Any:
    """The index of a coordinate: a leaf, or a coordinate again when the strides are basis vectors.

    A leaf over a tuple mode counts through it, first mode fastest; the last mode takes what is
    left, so coordinates past the end extrapolate.
    """
    if isinstance(layout, (Swizzle, CoordSwizzle)):
        return layout(crd)
    if isinstance(layout, ComposedLayout):
        return crd2idx(it.add(layout.offset, crd2idx(crd, layout.outer)), layout.inner)
    shape, stride = layout.shape, layout.stride
    if not isinstance(shape, tuple) and isinstance(crd, int) and isinstance(stride, int):
        return crd * stride
    terms: list[Any] = []
    if not _collect(crd, shape, stride, _fits32(layout), terms):
        raise LayoutError(
            f"profile mismatch: coordinate {it.to_text(crd)} does not fit the layout {layout}",
            hint=f"give {it.rank(shape)} coordinates, nested no deeper than {it.to_text(shape)}",
        )
    if any(isinstance(d, Basis) for d in it.leaves(stride)):
        return _sum_along_modes(terms, layout)
    return _sum(terms)


def _fits32(layout: Layout) -> bool:
    """Whether every index of a static layout certainly fits a 32-bit integer."""
    total = 0
    for extent, stride in layout.flat():
        step = stride.value if isinstance(stride, Basis) else stride
        if not (isinstance(extent, int) and isinstance(step, int)):
            return False
        total += max(extent - 1, 0) * abs(step)
    return total < lf.INT32_LIMIT


def _collect(crd: Any, shape: Any, stride: Any, fits32: bool, terms: list[Any]) -> bool:
    """Append coordinate-times-stride terms; False when the coordinate does not fit the shape."""
    if isinstance(shape, tuple):
        if isinstance(crd, tuple):
            if len(crd) != len(shape):
                return False
            return all(_collect(c, s, d, fits32, terms) for c, s, d in zip(crd, shape, stride, strict=True))
        return _split(crd, shape, stride, fits32, terms)
    if isinstance(crd, tuple) or crd is None:
        return False
    unit = isinstance(stride, int) and stride == -1
    terms.append(lf.mul(crd, stride, fits32=fits32 or unit))
    return True


def _split(crd: Any, shape: tuple[Any, ...], stride: tuple[Any, ...], fits32: bool, terms: list[Any]) -> bool:
    if crd is None:
        return False
    for index, (extent, step) in enumerate(zip(shape, stride, strict=True)):
        if index == len(shape) - 1:
            return _collect(crd, extent, step, fits32, terms)
        size = it.product(extent)
        if lf.equals(size, 1):
            continue
        if lf.equals(size, 0):
            return True
        _collect(lf.mod(crd, size), extent, step, fits32, terms)
        crd = lf.floordiv(crd, size)
    return True


def _sum(terms: list[Any]) -> Any:
    """Static terms last, so that chained offsets end in one constant."""
    constant, total = 0, 0
    for term in terms:
        if isinstance(term, int):
            constant += term
        else:
            total = lf.add(total, term)
    return lf.add(total, constant)


def _sum_along_modes(terms: list[Any], layout: Layout) -> Any:
    origin = coprofile(layout)
    for term in terms:
        if isinstance(term, Basis):
            origin = _add_at(origin, term.modes, term.value)
        elif not lf.equals(term, 0):
            raise LayoutError(
                f"{layout} mixes plain and basis strides: a plain one adds {term} to a coordinate",
                hint="use basis strides in every mode",
            )
    return origin


def _add_at(value: Any, path: tuple[int, ...], amount: Any) -> Any:
    if not path:
        return lf.add(value, amount)
    return tuple(_add_at(item, path[1:], amount) if i == path[0] else item for i, item in enumerate(value))


# The codomain ----------------------------------------------------------------------------------


def coprofile(layout: Any) -> Any:
    """The structure of what a layout maps to, filled with zeros: 0 unless it has basis strides."""
    if isinstance(layout, CoordSwizzle):
        raise LayoutError(
            f"{layout} maps any coordinate, so its codomain is unknown", hint="give the offset explicitly"
        )
    if isinstance(layout, Swizzle):
        return 0
    if isinstance(layout, ComposedLayout):
        return coprofile(layout.outer) if isinstance(layout.inner, (Swizzle, CoordSwizzle)) else coprofile(layout.inner)
    profile: Any = 0
    for stride in it.leaves(layout.stride):
        if isinstance(stride, Basis):
            profile = _with_path(profile, stride.modes)
    return profile


def _with_path(profile: Any, path: tuple[int, ...]) -> Any:
    if not path:
        return profile
    items = list(profile) if isinstance(profile, tuple) else []
    items += [0] * (path[0] + 1 - len(items))
    items[path[0]] = _with_path(items[path[0]], path[1:])
    return tuple(items)


def coshape(layout: Any) -> Any:
    """One more than the largest index, along each mode of the codomain."""
    layout = linear_part(layout)
    pairs = layout.flat()
    if any(lf.equals(extent, 0) for extent, _ in pairs):
        return coprofile(layout)
    last = [lf.mul(lf.sub(extent, 1), stride) for extent, stride in pairs]
    if any(isinstance(stride, Basis) for _, stride in pairs):
        top = _sum_along_modes(last, layout)
    else:
        top = _sum(last)
    present: Any = 1  # 0 if an extent known only at run time is, so that the codomain of an empty layout is empty
    for extent in (extent for extent, _ in pairs if not isinstance(extent, int)):
        present = lf.minimum(present, extent)
    return it.map_leaves(lambda leaf: lf.mul(lf.add(leaf, 1), present, fits32=True), top)


def cosize(layout: Any) -> Any:
    """One more than the largest index; for basis strides, the product over the codomain's modes."""
    return it.product(coshape(layout))


# Indices to coordinates ------------------------------------------------------------------------


def idx2crd(idx: Any, layout: Layout) -> Any:
    """Undo the strides: each leaf is (idx // stride) % extent."""

    def one(extent: Any, stride: Any) -> Any:
        if lf.equals(extent, 1):
            return 0
        if lf.equals(stride, 0):
            raise LayoutError(
                f"no coordinate of {layout} can be told from index {it.to_text(idx)}: a mode has stride 0",
                hint="slice the modes of stride 0 away first",
            )
        if not isinstance(stride, (int, Basis)):
            lf.require(
                lf.either(lf.less(0, stride), lf.less(stride, 0)),
                "no coordinate of {} can be told from an index: a mode has stride {}",
                (layout, stride),
                "slice the modes of stride 0 away first",
            )
        return lf.mod(lf.floordiv(idx, stride), extent)

    return it.map_leaves(one, layout.shape, layout.stride)


def get_1d_coord(idx: Any, layout: Layout) -> Any:
    """The column-major number of the coordinate that an index has."""
    crd = idx2crd(idx, layout)
    return crd2idx(crd, Layout(layout.shape, it.compact_strides(layout.shape)))


def get_flat_coord(idx: Any, layout: Layout) -> Any:
    """One column-major number per top-level mode."""
    crd = idx2crd(idx, layout)
    if not isinstance(layout.shape, tuple):
        return crd
    return tuple(crd2idx(c, Layout(s, it.compact_strides(s))) for c, s in zip(crd, layout.shape, strict=True))


from flydsl.layout.layout import Layout  # noqa: E402
from flydsl.layout.swizzle import ComposedLayout, CoordSwizzle, Swizzle, linear_part  # noqa: E402
