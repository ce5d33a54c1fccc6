"""``fx.epilogue``: what becomes of accumulators on their way to memory, as steps that compose.

    finish = fx.epilogue.RowScale(a_scale) >> fx.epilogue.ColumnScale(b_scale) >> fx.epilogue.Bias(bias)
    finish = finish >> fx.epilogue.Apply(silu) >> fx.epilogue.Residual(residual) >> fx.epilogue.Store(out)
    finish(acc.load(), coords, (m, n))

A step works on a vector of accumulators and on their coordinates: a thread's part of an identity tensor, partitioned as
C is. So it needs to know of no matrix instruction, reads what it needs by the widest accesses there are, each number
once, and nothing outside of the shape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.base.records import dataclass
from flydsl.expr.atoms.ops_atom import UniversalCopy128b, make_copy_atom, make_tiled_copy_tv
from flydsl.expr.gpu import barrier, thread_idx
from flydsl.expr.numeric import Float32
from flydsl.expr.tensors.coordinates import elements_at, tile_coordinates
from flydsl.expr.tensors.ops_layout import make_layout
from flydsl.expr.tensors.ops_memory import make_view
from flydsl.expr.tensors.predicate import Predicate, inside
from flydsl.expr.tensors.tensor import Tensor
from flydsl.expr.values.handle import apply, describe
from flydsl.expr.vector import Vector


@dataclass(frozen=True)
class Place:
    """Where accumulators lie: their coordinates, which of them are inside of the matrix, and its shape."""

    coords: Tensor
    inside: Predicate
    shape: Any

    def load(self, tensor: Tensor, other: Any = 0) -> Vector:
        """Return the numbers of a tensor at the coordinates, in f32; ``other`` outside of the matrix."""
        return elements_at(tensor, self.coords).load(mask=self.inside, other=other).to(Float32)


@dataclass(frozen=True)
class Epilogue:
    """Steps one after the other; ``a >> b`` is a step behind another."""

    steps: tuple[Any, ...] = ()

    def __rshift__(self, other: Any) -> Epilogue:
        more = other.steps if isinstance(other, Epilogue) else (other,)
        for step in more:
            if not hasattr(step, "take"):
                raise DslTypeError(f"an epilogue is made of steps, got {describe(step)}", hint="fx.epilogue.Apply(fn)")
        return Epilogue((*self.steps, *more))

    def __call__(self, values: Vector, coords: Tensor, shape: Any) -> Vector:
        """Run the steps on accumulators; what the last of them gives."""
        place = Place(coords, inside(coords, shape), shape)
        for step in self.steps:
            values = step.take(values, place)
        return values


class Step:
    """One step: ``take(values, place)`` gives the values of the next one."""

    def take(self, values: Vector, place: Place) -> Vector:
        raise NotImplementedError

    def __rshift__(self, other: Any) -> Epilogue:
        return Epilogue((self,)) >> other

    def __call__(self, values: Vector, coords: Tensor, shape: Any) -> Vector:
        """Run this step alone."""
        return Epilogue((self,))(values, coords, shape)


def _spread(tensor: Tensor, along: int) -> Tensor:
    """Return a vector of numbers as a matrix that is the same along the other mode."""
    if tensor.rank != 1:
        raise DslTypeError(f"a scale or bias along one mode is a tensor of one mode, got {tensor}")
    many = 1 << 30
    stride = apply("get_stride", tensor)
    strides = (stride, 0) if along == 0 else (0, stride)
    shape = (tensor.shape, many) if along == 0 else (many, tensor.shape)
    return make_view(apply("get_iter", tensor), make_layout(shape, strides))


@dataclass(frozen=True)
class Scale(Step):
    """Times a number."""

    factor: Any

    def take(self, values: Vector, place: Place) -> Vector:
        return values * self.factor


@dataclass(frozen=True)
class RowScale(Step):
    """Times a number a row."""

    scales: Tensor

    def take(self, values: Vector, place: Place) -> Vector:
        return values * place.load(_spread(self.scales, 0))


@dataclass(frozen=True)
class ColumnScale(Step):
    """Times a number a column."""

    scales: Tensor

    def take(self, values: Vector, place: Place) -> Vector:
        return values * place.load(_spread(self.scales, 1))


@dataclass(frozen=True)
class BlockScale(Step):
    """Times a number a block of the matrix: ``scales`` is (blocks of rows, blocks of columns)."""

    scales: Tensor
    block: tuple[int, int]

    def take(self, values: Vector, place: Place) -> Vector:
        return values * place.load(_blocked(self.scales, self.block))


def _blocked(tensor: Tensor, block: tuple[int, int]) -> Tensor:
    """Return a tensor of blocks as one of elements: the coordinate inside of a block does not matter."""
    rows, columns = (apply("get", apply("get_shape", tensor), mode=(i,)) for i in (0, 1))
    down, right = (apply("get", apply("get_stride", tensor), mode=(i,)) for i in (0, 1))
    shape = ((block[0], rows), (block[1], columns))
    return make_view(apply("get_iter", tensor), make_layout(shape, ((0, down), (0, right))))


@dataclass(frozen=True)
class Bias(Step):
    """Plus a number a column."""

    bias: Tensor

    def take(self, values: Vector, place: Place) -> Vector:
        return values + place.load(_spread(self.bias, 1))


@dataclass(frozen=True)
class Residual(Step):
    """Plus ``factor`` times another matrix."""

    matrix: Tensor
    factor: Any = 1.0

    def take(self, values: Vector, place: Place) -> Vector:
        return values + place.load(self.matrix) * self.factor


@dataclass(frozen=True)
class Apply(Step):
    """A function of the vector, such as an activation."""

    function: Callable[[Vector], Vector]

    def take(self, values: Vector, place: Place) -> Vector:
        return self.function(values)


@dataclass(frozen=True)
class Quantise(Step):
    """Times the inverse of a scale, kept in the range of a type of few bits, and converted to it."""

    dtype: Any
    scale: Any
    most: float

    def take(self, values: Vector, place: Place) -> Vector:
        scaled = values * (1.0 / self.scale)
        kept = (scaled > self.most).select(Vector.filled_like(scaled, self.most), scaled)
        kept = (kept < -self.most).select(Vector.filled_like(scaled, -self.most), kept)
        return kept.to(self.dtype)


@dataclass(frozen=True)
class Store(Step):
    """Converted to the matrix's type and written to it, inside of the shape only."""

    matrix: Tensor

    def take(self, values: Vector, place: Place) -> Vector:
        elements_at(self.matrix, place.coords).store(values, mask=place.inside)
        return values


WIDE = 128
"""Bits of the widest access."""


@dataclass(frozen=True)
class StoreByRows(Step):
    """Converted to the matrix's type and written by way of shared memory: whole rows side by side, 16 bytes a thread.

    ``space`` points to ``elements(tile, dtype)`` elements of the matrix's type in shared memory, aligned to 16 bytes.
    It may be a tile that was multiplied: all ``threads`` of the block meet before they write to it. ``partition`` is
    what gave the coordinates (``mine.partition_C``) of tile number ``at``.
    """

    matrix: Tensor
    space: Any
    tile: tuple[int, int]
    at: tuple[Any, Any]
    partition: Callable[[Tensor], Tensor]
    threads: int

    @staticmethod
    def elements(tile: tuple[int, int], dtype: Any) -> int:
        """Elements of shared memory for a tile; rows are 16 bytes apart, so that columns meet different banks."""
        return tile[0] * (tile[1] + WIDE // dtype.width)

    def take(self, values: Vector, place: Place) -> Vector:
        (rows, columns), dtype = self.tile, self.matrix.dtype
        wide = WIDE // dtype.width
        across = columns // wide
        if columns % wide or self.threads % across or rows % (self.threads // across):
            raise DslValueError(
                f"{self.threads} threads of {wide} elements each do not cover whole rows of {rows} x {columns}",
                hint=f"columns are a multiple of {wide} whose pieces divide the threads, and rows of what they cover",
            )
        held = make_view(self.space, make_layout(self.tile, (columns + wide, 1)))
        barrier()
        self.partition(held).store(values.to(dtype))
        barrier()
        pieces = make_tiled_copy_tv(
            make_copy_atom(UniversalCopy128b(), dtype), make_layout((self.threads // across, across), (across, 1)),
            make_layout((1, wide), (wide, 1)),
        )  # fmt: skip
        mine = pieces.get_slice(thread_idx.x)
        coords = mine.partition_D(tile_coordinates(self.tile, self.at))
        row = elements_at(self.matrix, coords)
        row.store(mine.partition_S(held).load(), mask=inside(coords, place.shape))
        return values


__all__ = [
    "Apply", "Bias", "BlockScale", "ColumnScale", "Epilogue", "Place", "Quantise", "Residual", "RowScale", "Scale",
    "Step", "Store", "StoreByRows",
]  # fmt: skip
