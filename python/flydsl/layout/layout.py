"""Layout: a function from coordinates to indices, given by a shape and congruent strides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flydsl.base.errors import DslIndexError, LayoutError
from flydsl.base.records import dataclass
from flydsl.layout import indexing, show
from flydsl.layout import int_tuple as it
from flydsl.layout.int_tuple import IntTuple
from flydsl.layout.leaf import is_tuple


@dataclass(frozen=True, slots=True)
class Layout:
    """``shape:stride``. Callable: ``Layout((4, 8), (1, 4))(3, 5)`` is 23."""

    shape: Any
    stride: Any

    def __post_init__(self) -> None:
        given: Any = (self.shape, self.stride)
        if isinstance(given[0], list) or isinstance(given[1], list):
            object.__setattr__(self, "shape", it.freeze(self.shape))
            object.__setattr__(self, "stride", it.freeze(self.stride))
        if not it.congruent(self.shape, self.stride):
            raise LayoutError(
                f"shape {it.to_text(self.shape)} and stride {it.to_text(self.stride)} have different nesting",
                hint="give every extent its own stride, nested the same way",
            )

    @property
    def rank(self) -> int:
        return it.rank(self.shape)

    @property
    def depth(self) -> int:
        return it.depth(self.shape)

    @property
    def is_static(self) -> bool:
        return it.is_static(self.shape) and it.is_static(self.stride)

    def size(self) -> Any:
        """Return how many coordinates there are."""
        return it.product(self.shape)

    def cosize(self) -> Any:
        """Return one more than the largest index."""
        return it.product(indexing.coshape_of(self.shape, self.stride))

    def __getitem__(self, index: int) -> Layout:
        rank = self.rank
        if not -rank <= index < rank:
            raise DslIndexError(f"mode {index} of {self}, which has {rank}", hint=f"use 0 to {rank - 1}")
        if not is_tuple(self.shape):
            return self
        return Layout(self.shape[index], self.stride[index])

    def __len__(self) -> int:
        return self.rank

    def __iter__(self) -> Iterator[Layout]:
        return iter(self.modes())

    def modes(self) -> list[Layout]:
        """Return the top-level modes as layouts."""
        if not is_tuple(self.shape):
            return [self]
        return [Layout(s, d) for s, d in zip(self.shape, self.stride, strict=True)]

    def flat(self) -> list[tuple[Any, Any]]:
        """Return all (extent, stride) leaf pairs, left to right."""
        return list(zip(it.leaves(self.shape), it.leaves(self.stride), strict=True))

    def __call__(self, *coord: Any) -> Any:
        """Return the index of a coordinate; with None in it, the sub-layout it leaves open."""
        crd = coord[0] if len(coord) == 1 else coord
        return self.sliced(crd) if it.has_none(crd) else self.index(crd)

    def index(self, crd: IntTuple) -> Any:
        """Return the index of a coordinate without None."""
        return indexing.index_of(crd, self.shape, self.stride)

    def sliced(self, coord: IntTuple) -> Layout:
        """Return the modes whose coordinate is None."""
        if coord is None:
            return self
        indexing.check_slice(coord, self.shape, self)
        return Layout(*(indexing.left_open(coord, part, self) for part in (self.shape, self.stride)))

    def __str__(self) -> str:
        return f"{it.to_text(self.shape)}:{it.to_text(self.stride)}"

    __repr__ = __str__

    def _repr_svg_(self) -> str | None:
        return show.svg(self) if self.is_static else None


def join(layouts: list[Layout]) -> Layout:
    """Return the layout whose modes are these layouts."""
    return Layout(tuple(layout.shape for layout in layouts), tuple(layout.stride for layout in layouts))


def from_flat(pairs: list[tuple[Any, Any]]) -> Layout:
    """Return the layout of leaf pairs: ``1:0`` for none, a leaf for one, a flat tuple otherwise."""
    if not pairs:
        return Layout(1, 0)
    if len(pairs) == 1:
        return Layout(*pairs[0])
    return Layout(tuple(s for s, _ in pairs), tuple(d for _, d in pairs))
