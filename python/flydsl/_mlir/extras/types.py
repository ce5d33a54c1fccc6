"""Types as functions: ``T.i32()``, ``T.vector(4, T.f32())``, ``T.memref(64, T.f32(), memory_space=3)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl._mlir.types import IntegerType, MemRefType, VectorType
from flydsl.base.errors import DslTypeError
from flydsl.expr.values.ir_types import IrType
from flydsl.target.dtype import FLOAT_WIDTHS

i = IntegerType.get_signless


def _function(text: str) -> Callable[[], IrType]:
    def get() -> IrType:
        return IrType(text)

    get.__name__ = get.__qualname__ = text
    get.__doc__ = f"The type {text}."
    return get


bool = _function("i1")
globals().update({f"i{width}": _function(f"i{width}") for width in (1, 4, 8, 16, 32, 64, 128)})
globals().update({text: _function(text) for text in ("index", *FLOAT_WIDTHS)})


def vector(*shape_and_element: Any) -> IrType:
    """Return the vector type of extents, followed by the element type."""
    *shape, element = shape_and_element
    return VectorType.get(shape, element)


def memref(*shape_and_element: Any, memory_space: Any = None) -> IrType:
    """Return the memref type of extents, followed by the element type."""
    *shape, element = shape_and_element
    if not all(isinstance(extent, int) for extent in shape):
        raise DslTypeError(f"the extents of a memref are ints, got {shape}")
    return MemRefType.get(shape, element, memory_space=memory_space)


def __getattr__(name: str) -> Any:
    raise AttributeError(f"extras.types has no '{name}'", name=name)
