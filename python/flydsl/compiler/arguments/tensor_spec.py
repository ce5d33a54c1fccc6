"""TensorSpec: an array described without data, for compiling ahead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flydsl.base.errors import DslTypeError, DslValueError
from flydsl.expr.numeric import Numeric
from flydsl.expr.tensors.element import element_name


class TensorSpec:
    """Shape, element type and place of an array that need not exist: ``flyc.TensorSpec((8, 64), fx.Float16)``.

    ``dtype`` is an `fx` number type, or the element type of NumPy or torch, or its name. ``strides`` count elements;
    without them the array is row-major. ``device`` is ``"host"``, ``"cuda"``, ``"cuda:1"`` or ``"rocm"``; without it,
    the device new work goes to.
    """

    __slots__ = ("device", "dtype", "elem", "shape", "strides")

    def __init__(
        self, shape: Sequence[int], dtype: Any, *, strides: Sequence[int] | None = None, device: str | None = None
    ) -> None:
        self.shape = _extents(shape, "shape")
        if any(extent < 0 for extent in self.shape):
            raise DslValueError(f"the shape {self.shape} has a negative extent")
        self.dtype = dtype
        self.elem = _element(dtype)
        self.strides = row_major(self.shape) if strides is None else _extents(strides, "strides")
        if len(self.strides) != len(self.shape):
            raise DslValueError(f"the shape {self.shape} and the strides {self.strides} differ in rank")
        self.device = _place(device)

    def __repr__(self) -> str:
        return f"TensorSpec({self.shape}, {self.elem})"


def _extents(values: Sequence[int], what: str) -> tuple[int, ...]:
    if isinstance(values, int) or not all(type(value) is int for value in values):
        raise DslTypeError(f"{what} must be a tuple of ints, got {values!r}")
    return tuple(values)


def _element(dtype: Any) -> str:
    if isinstance(dtype, type) and issubclass(dtype, Numeric):
        return element_name(dtype)
    from flydsl.compiler.arguments.array_view import element_of

    text = getattr(dtype, "__name__", None) or getattr(dtype, "name", None) or str(dtype)
    return element_of(text.removeprefix("torch."))


def _place(device: str | None) -> tuple[str, int] | None:
    if device is None:
        return None
    kind, _, index = str(device).partition(":")
    if kind not in ("host", "cpu", "cuda", "rocm") or (index and not index.isdigit()):
        raise DslValueError(f"unknown device {device!r}", hint='write "host", "cuda", "cuda:1" or "rocm"')
    return ("host", 0) if kind in ("host", "cpu") else (kind, int(index or 0))


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of an array whose last dimension is contiguous.

    An extent of 0 counts as 64, so that an empty array has as many strides of 1 as its fellows with elements.
    """
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent or 64
    return tuple(reversed(strides))
