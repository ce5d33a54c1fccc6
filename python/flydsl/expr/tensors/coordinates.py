"""Coordinates of tiles, and a tensor read and written where they say: what a thread meets at the edges of a matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.base.errors import DslTypeError, LayoutError
from flydsl.base.records import dataclass
from flydsl.dialects.fly import rules
from flydsl.expr.tensors.ops_layout import zipped_divide
from flydsl.expr.tensors.ops_memory import make_identity_tensor
from flydsl.expr.tensors.predicate import Predicate, group_key, inside, predicate_over, step_along
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.values.handle import apply, describe
from flydsl.expr.values.int_tuple import IntTuple
from flydsl.expr.values.known import plain
from flydsl.expr.vector import Vector
from flydsl.layout import int_tuple as it
from flydsl.layout.layout import Layout
from flydsl.layout.leaf import Basis

FAR = 1 << 30
"""More than any tensor has along a mode: an identity tensor's steps do not depend on its extents."""


@dataclass(frozen=True)
class TilePart:
    """A thread's part of a tile of a tensor: the view, its coordinates, and which of them the tensor has."""

    view: Tensor
    coords: Tensor
    inside: Predicate

    def load(self, other: Any = 0) -> Vector:
        """Return the elements, ``other`` where the tile leaves the tensor."""
        return self.view.load(mask=self.inside, other=other)

    def store(self, values: Any) -> None:
        """Write the elements, but for those beyond the tensor's end."""
        self.view.store(values, mask=self.inside)


def tile_coordinates(tile: Any, at: Any) -> Tensor:
    """Return the coordinates of tile number ``at`` of any tensor that is divided into tiles of a shape."""
    every = make_identity_tensor((FAR,) * len(tile) if isinstance(tile, (tuple, list)) else FAR)
    return zipped_divide(every, tile)[None, at]


def tile_part(partition: Callable[[Any], Any], tensor: Tensor, tile: Any, at: Any) -> TilePart:
    """Return a thread's part of tile number ``at`` of a tensor, whose last tiles may be cut off by its edges.

    ``partition`` is what takes it: ``mover.partition_S``, ``mine.partition_A``. The part is loaded and stored inside
    of the tensor only; ``fx.copy(atom, part.view, to, pred=part.inside)`` copies so.
    """
    if not isinstance(tensor, Tensor) or not tensor.is_memory:
        raise DslTypeError(f"tile_part takes a tensor over memory second, got {describe(tensor)}")
    view, coords = (partition(tiles) for tiles in (zipped_divide(tensor, tile)[None, at], tile_coordinates(tile, at)))
    return TilePart(view, coords, inside(coords, apply("get_shape", tensor)))


def elements_at(tensor: Any, coords: Any) -> Any:
    """Return a tensor's elements at the coordinates of a coordinate tensor, as a view of its shape.

    A mode of stride 0 makes a row or a column of a matrix: its elements are read once for all coordinates that differ
    along it. Where a mode is nested, so that its coordinate is divided at run time, the view can be loaded only, number
    by number.
    """
    if not hasattr(coords, "is_memory") or coords.is_memory:
        raise DslTypeError(f"elements_at takes a coordinate tensor second, got {describe(coords)}")
    paths = _paths(coords)
    if len(paths) != tensor.rank:
        raise LayoutError(f"coordinates of {len(paths)} modes do not fit a tensor of {tensor.rank}",
                          hint="make the coordinates of a shape with as many modes as the tensor has")  # fmt: skip
    strides = apply("get_stride", tensor)
    flat = all(not isinstance(mode, tuple) for mode in it.modes(rules.stride_of(tensor.payload)))
    if not flat or not isinstance(coords.payload.layout, Layout):
        return _Gathered(tensor, coords)
    parts = [strides[i] for i in range(tensor.rank)] if tensor.rank > 1 else [strides]

    def step(leaf: Any) -> Any:
        path = leaf.modes if isinstance(leaf, Basis) else ()
        value = step_along(leaf, path) if path or paths == [()] else 0
        if len(path) > 1 or not isinstance(value, int):
            raise LayoutError(f"elements_at takes coordinates with static steps, got {coords.payload.layout}")
        return plain(parts[path[0] if path else 0]) * value

    layout = coords.payload.layout
    stride = _mapped(step, layout.stride)
    start = apply("get_iter", tensor) + apply("crd2idx", apply("get_iter", coords), apply("get_layout", tensor))
    shape, strides = (IntTuple.from_python(part, op) for part, op in ((layout.shape, "make_shape"),
                                                                      (stride, "make_stride")))  # fmt: skip
    return apply("make_view", start, apply("make_layout", shape, strides))


def _paths(coords: Tensor) -> list[tuple[int, ...]]:
    """Return where the coordinates of each mode are; those of a tensor of one mode are plain numbers."""
    first = coords.payload.iter
    return [(mode,) for mode in range(len(first))] if isinstance(first, tuple) else [()]


def _mapped(change: Any, value: Any) -> Any:
    return tuple(_mapped(change, item) for item in value) if isinstance(value, tuple) else change(value)


class _Gathered:
    """Elements read one by one, each place that is certainly the same once."""

    def __init__(self, tensor: Any, coords: Any) -> None:
        self.tensor, self.coords = tensor, coords

    def load(self, mask: Any = None, other: Any = 0) -> Vector:
        payload = self.coords.payload
        count = rules.size(payload)
        predicate = predicate_over(True if mask is None else mask, payload)
        blocks = _block_extents(self.tensor.payload.layout)
        keys = [(predicate.picks[i], *(group_key(payload, payload.layout.flat(), i, path, block)
                                       for path, block in zip(_paths(self.coords), blocks, strict=True)))
                for i in range(count)]  # fmt: skip
        found: dict[Any, Any] = {}
        for index, key in enumerate(keys):
            if key not in found:
                place = apply("get_iter", self.tensor) + apply(
                    "crd2idx", self.coords[index], apply("get_layout", self.tensor)
                )
                one = place.view(apply("make_layout", 1, 1))
                found[key] = one.load(mask=predicate.flags[predicate.picks[index]], other=other)[0]
        return Vector(Vector.from_elements([found[key] for key in keys], self.tensor.dtype), rules.shape_of(payload))


def _block_extents(layout: Layout) -> list[int]:
    """Return how many neighbours of each mode certainly lie in one place: the leading modes of stride 0."""
    found = []
    for shape, stride in zip(it.modes(layout.shape), it.modes(layout.stride), strict=True):
        extent = 1
        for size, step in zip(it.leaves(shape), it.leaves(stride), strict=True):
            if step != 0 or not isinstance(size, int):
                break
            extent *= size
        found.append(extent)
    return found


__all__ = ["TilePart", "elements_at", "tile_coordinates", "tile_part"]
