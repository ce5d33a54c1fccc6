"""Taking modes apart and putting them together: tuples, layouts and tensors alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flydsl.base.errors import DslIndexError, LayoutError
from flydsl.layout import indexing
from flydsl.layout import int_tuple as it
from flydsl.layout.int_tuple import IntTuple
from flydsl.layout.layout import Layout
from flydsl.layout.swizzle import ComposedLayout, linear_part, with_linear_part
from flydsl.layout.tensor import Tensor


def on_layout(value: Any, transform: Callable[[Layout], Layout]) -> Any:
    """Apply ``transform`` to the plain layout inside a tensor or composed layout and wrap it again."""
    if isinstance(value, Tensor):
        return Tensor(value.iter, on_layout(value.layout, transform))
    if isinstance(value, ComposedLayout):
        return with_linear_part(value, transform(linear_part(value)))
    return transform(value)


def _is_tuple(value: Any) -> bool:
    return not isinstance(value, (Layout, ComposedLayout, Tensor))


def _rebuild(value: Any, pick: Callable[[tuple[Any, ...]], Any]) -> Any:
    """Apply a choice of modes to a tuple, or to the shape and stride of a layout alike."""
    if _is_tuple(value):
        return pick(it.modes(value))
    return on_layout(value, lambda lay: Layout(pick(it.modes(lay.shape)), pick(it.modes(lay.stride))))


def _rank(value: Any) -> int:
    return it.rank(
        value if _is_tuple(value) else linear_part(value.layout if isinstance(value, Tensor) else value).shape
    )


def _check_mode(value: Any, index: int) -> None:
    if not 0 <= index < _rank(value):
        raise DslIndexError(f"mode {index} of {_text(value)}, which has {_rank(value)}", hint="modes count from 0")


def _check_range(value: Any, begin: int, end: int) -> None:
    if not 0 <= begin < end <= _rank(value):
        raise DslIndexError(
            f"modes [{begin}, {end}) of {_text(value)}, which has {_rank(value)}",
            hint="the range is not empty and half open",
        )


def _text(value: Any) -> str:
    return it.to_text(value) if _is_tuple(value) else str(value)


def get(value: Any, index: int) -> Any:
    """Return one mode of a tuple, layout or tensor, by its number."""
    _check_mode(value, index)
    return _rebuild(value, lambda modes: modes[index])


def take(value: Any, begin: int, end: int) -> Any:
    """Modes [begin, end); a single one is unwrapped."""
    _check_range(value, begin, end)
    return _rebuild(value, lambda modes: it.unwrap(modes[begin:end]))


def select(value: Any, indices: Sequence[int]) -> Any:
    """Return the modes named, in that order; a single one is unwrapped."""
    if not indices:
        raise LayoutError(f"nothing is selected of {_text(value)}", hint="name at least one mode")
    for index in indices:
        _check_mode(value, index)
    return _rebuild(value, lambda modes: it.unwrap([modes[i] for i in indices]))


def group(value: Any, begin: int, end: int) -> Any:
    """Modes [begin, end) become one nested mode."""
    _check_range(value, begin, end)
    return _rebuild(value, lambda modes: (*modes[:begin], tuple(modes[begin:end]), *modes[end:]))


def _extended(base: Any, elem: Any, join: Callable[[tuple[Any, ...], Any], tuple[Any, ...]]) -> Any:
    if isinstance(base, Tensor):
        raise LayoutError(
            f"cannot extend the tensor {base}",
            hint="append and prepend take tuples and layouts; extend the tensor's layout",
        )
    if _is_tuple(base) != _is_tuple(elem):
        raise LayoutError(
            f"{_text(elem)} cannot be a mode of {_text(base)}: one is a tuple, the other a layout",
            hint="extend a tuple by a tuple and a layout by a layout",
        )
    if _is_tuple(base):
        return join(it.modes(base), elem)
    return on_layout(
        base, lambda lay: Layout(join(it.modes(lay.shape), elem.shape), join(it.modes(lay.stride), elem.stride))
    )


_HIGHEST_RANK = 4096


def _times(base: Any, n: int | None) -> int:
    """Return how many modes are missing to a rank, or one where none is named."""
    if n is not None and n > _HIGHEST_RANK:
        raise LayoutError(f"{_text(base)} cannot get {n} modes", hint=f"the highest rank is {_HIGHEST_RANK}")
    return 1 if n is None else max(n - _rank(base), 0)


def append(base: Any, elem: Any, n: int | None = None) -> Any:
    """``elem`` as a last mode; with ``n``, as often as it takes to reach that rank."""
    times = _times(base, n)
    return _extended(base, elem, lambda modes, item: (*modes, *(item,) * times)) if times else base


def prepend(base: Any, elem: Any, n: int | None = None) -> Any:
    """``elem`` as a first mode; with ``n``, as often as it takes to reach that rank."""
    times = _times(base, n)
    return _extended(base, elem, lambda modes, item: (*(item,) * times, *modes)) if times else base


def zip_(a: Any, b: Any) -> Any:
    """Pair the modes of two tuples or two layouts."""
    if _rank(a) != _rank(b):
        raise LayoutError(
            f"cannot zip {_text(a)} with {_text(b)}: they have {_rank(a)} and {_rank(b)} modes",
            hint="append 1:0 modes to the shorter one",
        )
    if isinstance(a, Layout):
        return Layout(zip_(a.shape, b.shape), zip_(a.stride, b.stride))
    return tuple(zip(it.modes(a), it.modes(b), strict=True))


# Slicing ---------------------------------------------------------------------------------------


def slice_(value: Any, coord: IntTuple) -> Any:
    """Keep the modes whose coordinate is None. What is fixed moves the iterator or the offset."""
    if coord is None:
        return value
    if not _is_tuple(value):
        return value.sliced(coord)
    indexing.check_slice(coord, value, value)
    return indexing.left_open(coord, value, value)


def dice(value: Any, coord: IntTuple) -> Any:
    """Keep the modes whose coordinate is given."""
    shape = value.shape if isinstance(value, Layout) else value
    indexing.check_slice(coord, shape, value)
    if isinstance(value, Layout):
        return Layout(*(it.unwrap(indexing.kept(coord, part, False)) for part in (value.shape, value.stride)))
    return it.unwrap(indexing.kept(coord, value, False))
