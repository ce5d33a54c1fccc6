"""Row-major views addressed by coordinates: `GTensor` of global memory through a buffer, `STensor` of LDS."""

from __future__ import annotations

from math import prod
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx


class TensorView:
    """A row-major array of a shape, whose elements begin ``start`` elements behind a base."""

    def __init__(
        self, dtype: Any, shape: tuple[Any, ...], strides: tuple[Any, ...] | None = None, start: Any = 0
    ) -> None:
        if not shape:
            raise ValueError("a view has at least one mode")
        if any(extent is None for extent in shape[1:]):
            raise ValueError(f"only the first extent of a view may be left open, got {shape}")
        self.dtype, self.shape, self.start = dtype, tuple(shape), start
        self.strides = strides or tuple(prod(shape[i + 1 :]) for i in range(len(shape)))

    def offset(self, coord: Any) -> Any:
        """Elements from the base to a coordinate; one number counts over the whole view."""
        if not isinstance(coord, tuple):
            return self.start + coord
        if len(coord) != len(self.shape):
            raise ValueError(f"the coordinate {coord} does not fit the shape {self.shape}")
        return self.start + sum(c * s for c, s in zip(coord, self.strides))

    def tile(self, shape: tuple[int, ...], coord: tuple[Any, ...]) -> Any:
        """Return the part of a shape at a coordinate counted in parts, as a view of the same memory."""
        start = self.offset(tuple(c * extent for c, extent in zip(coord, shape, strict=True)))
        found = object.__new__(type(self))
        found.__dict__.update(self.__dict__)
        TensorView.__init__(found, self.dtype, shape, self.strides, start)
        return found

    def vec_load(self, coord: Any, width: int) -> Any:
        """``width`` neighbours along the last mode, as a vector; one comes as a number."""
        raise NotImplementedError

    def vec_store(self, coord: Any, value: Any) -> None:
        """Store a vector's elements along the last mode."""
        raise NotImplementedError

    def __getitem__(self, coord: Any) -> Any:
        return self.vec_load(coord, 1)

    def __setitem__(self, coord: Any, value: Any) -> None:
        self.vec_store(coord, self.dtype(value))


class GTensor(TensorView):
    """Global memory behind a descriptor that ends with the tensor: beyond it loads give zero and stores do nothing."""

    def __init__(self, tensor: Any, dtype: Any = None, shape: tuple[Any, ...] = (None,)) -> None:
        """``dtype`` is the tensor's unless it is given; the first extent may be None."""
        super().__init__(tensor.dtype if dtype is None else dtype, shape)
        self.resource = fx.buffer_ops.create_buffer_resource(tensor, max_size=False)

    def vec_load(self, coord: Any, width: int) -> Any:
        return fx.buffer_ops.buffer_load(self.resource, self.offset(coord), width, self.dtype)

    def vec_store(self, coord: Any, value: Any) -> None:
        fx.buffer_ops.buffer_store(value, self.resource, self.offset(coord))


class STensor(TensorView):
    """Shared memory from a pointer on."""

    def __init__(self, pointer: Any, dtype: Any = None, shape: tuple[Any, ...] = (None,)) -> None:
        pointer = fx.get_iter(pointer) if isinstance(pointer, fx.Tensor) else pointer
        super().__init__(pointer.dtype if dtype is None else dtype, shape)
        self.pointer = pointer if dtype is None else fx.recast_iter(dtype, pointer)

    def vec_load(self, coord: Any, width: int) -> Any:
        place = self.pointer + self.offset(coord)
        if width == 1:
            return place[0]
        return fx.make_view(place.aligned(width * self.dtype.width // 8), fx.make_layout(width, 1)).load()

    def vec_store(self, coord: Any, value: Any) -> None:
        place = self.pointer + self.offset(coord)
        if not isinstance(value, fx.Vector):
            place[0] = value
            return
        width = value.numel
        fx.make_view(place.aligned(width * self.dtype.width // 8), fx.make_layout(width, 1)).store(value)


def TorchTensor(tensor: Any) -> Any:
    """Return a tensor of PyTorch as an argument whose extents and strides are left open."""
    return flyc.from_torch_tensor(tensor).mark_layout_dynamic()


def _run_compiled(function: Any, *args: Any) -> Any:
    """Call a jit function, which compiles for arguments that it has not seen yet and launches otherwise."""
    return function(*args)
