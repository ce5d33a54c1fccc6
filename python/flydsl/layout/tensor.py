"""Tensor: an iterator walked by a layout.

The iterator of a coordinate tensor is an int tuple; that of a memory tensor is any pointer object
with an ``add_offset(leaf)`` method. The layout may be composed.
"""

from __future__ import annotations

from typing import Any

from flydsl.base.records import dataclass
from flydsl.layout import indexing
from flydsl.layout import int_tuple as it
from flydsl.layout.int_tuple import IntTuple
from flydsl.layout.leaf import Basis, DynInt
from flydsl.layout.swizzle import ComposedLayout


@dataclass(frozen=True, slots=True)
class Tensor:
    """``iter`` advanced by what ``layout`` gives for a coordinate."""

    iter: Any
    layout: Any

    @property
    def is_coord(self) -> bool:
        return isinstance(self.iter, (int, tuple, DynInt, Basis))

    def shifted(self, offset: Any, layout: Any) -> Tensor:
        """Return the tensor that starts ``offset`` further on, seen through ``layout``."""
        if self.is_coord:
            return Tensor(it.add(self.iter, offset), layout)
        return Tensor(self.iter.add_offset(it.leaves(offset)[0]), layout)

    def sliced(self, coord: IntTuple) -> Tensor:
        """Return the modes whose coordinate is None; what is fixed moves the iterator."""
        if isinstance(self.layout, ComposedLayout):
            return Tensor(self.iter, self.layout.sliced(coord))
        indexing.check_slice(coord, self.layout.shape, self)
        return self.shifted(self.layout.index(indexing.fixed_part(coord)), self.layout.sliced(coord))

    def __str__(self) -> str:
        origin = it.to_text(self.iter) if self.is_coord else str(self.iter)
        return f"{origin} -> {self.layout}"
