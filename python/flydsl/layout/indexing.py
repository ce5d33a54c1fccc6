"""What shapes and strides alone say: the index of a coordinate, the codomain, the modes that a slice keeps.

Layouts evaluate and slice themselves with these functions, which know nothing of layouts. ``shown`` is the value at
hand, for a message.
"""

from __future__ import annotations

from typing import Any

from flydsl.base.errors import LayoutError
from flydsl.layout import int_tuple as it
from flydsl.layout import leaf as lf
from flydsl.layout.int_tuple import IntTuple
from flydsl.layout.leaf import Basis, is_tuple

# Coordinates to indices ------------------------------------------------------------------------


def index_of(crd: IntTuple, shape: IntTuple, stride: IntTuple) -> Any:
    """Return the index of a coordinate: a leaf, or a coordinate again when the strides are basis vectors.

    A leaf over a tuple mode counts through it, first mode fastest; the last mode takes what is
    left, so coordinates past the end extrapolate.
    """
    if not is_tuple(shape) and isinstance(crd, int) and isinstance(stride, int):
        return crd * stride
    terms: list[Any] = []
    if not _collect(crd, shape, stride, _fits32(shape, stride), terms):
        raise LayoutError(
            f"profile mismatch: coordinate {it.to_text(crd)} does not fit the layout {_shown(shape, stride)}",
            hint=f"give {it.rank(shape)} coordinates, nested no deeper than {it.to_text(shape)}",
        )
    if any(isinstance(d, Basis) for d in it.leaves(stride)):
        return _sum_along_modes(terms, shape, stride)
    return _sum(terms)


def _shown(shape: IntTuple, stride: IntTuple) -> str:
    return f"{it.to_text(shape)}:{it.to_text(stride)}"


def _fits32(shape: IntTuple, stride: IntTuple) -> bool:
    """Return whether every index of a static layout certainly fits a 32-bit integer."""
    total = 0
    for extent, step in zip(it.leaves(shape), it.leaves(stride), strict=True):
        step = step.value if isinstance(step, Basis) else step
        if not (isinstance(extent, int) and isinstance(step, int)):
            return False
        total += max(extent - 1, 0) * abs(step)
    return total < lf.INT32_LIMIT


def _collect(crd: IntTuple, shape: IntTuple, stride: IntTuple, fits32: bool, terms: list[Any]) -> bool:
    """Append coordinate-times-stride terms; False when the coordinate does not fit the shape."""
    if is_tuple(shape):
        if is_tuple(crd):
            if len(crd) != len(shape):
                return False
            return all(_collect(c, s, d, fits32, terms) for c, s, d in zip(crd, shape, stride, strict=True))
        return _split(crd, shape, stride, fits32, terms)
    if is_tuple(crd) or crd is None:
        return False
    unit = isinstance(stride, int) and stride == -1
    terms.append(lf.mul(crd, stride, fits32=fits32 or unit))
    return True


def _split(crd: IntTuple, shape: tuple[Any, ...], stride: tuple[Any, ...], fits32: bool, terms: list[Any]) -> bool:
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


def _sum_along_modes(terms: list[Any], shape: IntTuple, stride: IntTuple) -> Any:
    origin = profile_of(stride)
    for term in terms:
        if isinstance(term, Basis):
            origin = _add_at(origin, term.modes, term.value)
        elif not lf.equals(term, 0):
            raise LayoutError(
                f"{_shown(shape, stride)} mixes plain and basis strides: a plain one adds {term} to a coordinate",
                hint="use basis strides in every mode",
            )
    return origin


def _add_at(value: Any, path: tuple[int, ...], amount: Any) -> Any:
    if not path:
        return lf.add(value, amount)
    return tuple(_add_at(item, path[1:], amount) if i == path[0] else item for i, item in enumerate(value))


# The codomain ----------------------------------------------------------------------------------


def profile_of(stride: IntTuple) -> Any:
    """Return the structure of what the strides map to, filled with zeros: 0 unless they are basis vectors."""
    profile: Any = 0
    for step in it.leaves(stride):
        if isinstance(step, Basis):
            profile = _with_path(profile, step.modes)
    return profile


def _with_path(profile: IntTuple, path: tuple[int, ...]) -> Any:
    if not path:
        return profile
    items = list(profile) if is_tuple(profile) else []
    items += [0] * (path[0] + 1 - len(items))
    items[path[0]] = _with_path(items[path[0]], path[1:])
    return tuple(items)


def coshape_of(shape: IntTuple, stride: IntTuple) -> Any:
    """Return one more than the largest index, along each mode of the codomain."""
    extents, strides = it.leaves(shape), it.leaves(stride)
    if any(lf.equals(extent, 0) for extent in extents):
        return profile_of(stride)
    last = [lf.mul(lf.sub(extent, 1), step) for extent, step in zip(extents, strides, strict=True)]
    if any(isinstance(step, Basis) for step in strides):
        top = _sum_along_modes(last, shape, stride)
    else:
        top = _sum(last)
    present: Any = 1  # 0 if an extent known only at run time is, so that the codomain of an empty layout is empty
    for extent in (extent for extent in extents if not isinstance(extent, int)):
        present = lf.minimum(present, extent)
    return it.map_leaves(lambda leaf: lf.mul(lf.add(leaf, 1), present, fits32=True), top)


# Slicing ---------------------------------------------------------------------------------------


def kept(coord: IntTuple, modes: Any, want_none: bool) -> list[Any]:
    """Return the parts of ``modes`` whose coordinate is None (or is not), in order, without wrappers."""
    if is_tuple(coord) and is_tuple(modes):
        found: list[Any] = []
        for c, m in zip(coord, modes, strict=True):
            if is_tuple(c) and it.has_none(c):
                found.extend(kept(c, m, want_none))
            elif (c is None) == want_none:
                found.append(m)
        return found
    return [modes] if (coord is None) == want_none else []


def check_slice(coord: IntTuple, shape: IntTuple, shown: object) -> None:
    """Refuse a coordinate that is not nested as the shape is."""
    if not it.weakly_congruent(coord, shape):
        raise LayoutError(
            f"profile mismatch: coordinate {it.to_text(coord)} does not fit {it.to_text(shown)}",
            hint=f"give {it.rank(shape)} coordinates, with None for the modes to keep",
        )


def fixed_part(coord: IntTuple) -> Any:
    """Return the coordinate with every None at the origin."""
    if is_tuple(coord):
        return tuple(fixed_part(c) for c in coord)
    return 0 if coord is None else coord


def left_open(coord: IntTuple, modes: Any, shown: object) -> Any:
    """Return the modes whose coordinate is None, of which there must be some; a single one is unwrapped."""
    found = kept(coord, modes, True)
    if not found:
        raise LayoutError(
            f"slicing {it.to_text(shown)} with {it.to_text(coord)} keeps nothing",
            hint="put None where a mode is to stay",
        )
    return it.unwrap(found)
