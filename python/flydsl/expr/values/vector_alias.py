"""Vector types by name, `fx.Float32x4`: the names come from a rule, not from a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flydsl.base.errors import DslValueError
from flydsl.base.records import dataclass
from flydsl.expr.numbers.numeric_types import FORMATS
from flydsl.expr.numeric import Numeric, class_of
from flydsl.expr.values.ir_types import IrType, vector_type
from flydsl.expr.values.vector_value import Vector


@dataclass(frozen=True)
class VectorAlias:
    """A number type and a lane count. Calling it spreads a number or packs a list."""

    dtype: type[Numeric]
    lanes: int

    @property
    def ir_type(self) -> IrType:
        """The IR type."""
        return vector_type(self.lanes, self.dtype.ir_type)

    @property
    def width(self) -> int:
        """Total width in bits."""
        return self.lanes * self.dtype.width

    def __call__(self, value: Any) -> Vector:
        if isinstance(value, Vector):
            return self._checked(value.to(self.dtype))
        if isinstance(value, Sequence):
            return self._checked(Vector.from_elements(value, self.dtype))
        return Vector.filled(self.lanes, value, self.dtype)

    def _checked(self, vector: Vector) -> Vector:
        if vector.numel != self.lanes:
            raise DslValueError(f"{self} holds {self.lanes} elements, not {vector.numel}")
        return vector

    def __str__(self) -> str:
        return f"{self.dtype}x{self.lanes}"


# By element width: sub-byte elements start at a full byte, wide ones stop at 256 bits.
_LANES: dict[int, tuple[int, ...]] = {
    4: (2, 4, 8, 16, 32),
    8: (1, 2, 4, 8, 16),
    16: (1, 2, 4, 8, 16),
    32: (1, 2, 4, 8),
    64: (1, 2, 4),
    128: (1,),
}

ALIASES: dict[str, VectorAlias] = {
    f"{fmt.name}x{lanes}": VectorAlias(class_of(fmt), lanes)
    for fmt in FORMATS
    if not fmt.is_index
    for lanes in _LANES.get(fmt.width, ())
}
