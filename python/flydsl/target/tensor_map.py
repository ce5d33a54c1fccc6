"""Tensor maps: what TMA must know of a tensor and of the boxes it moves, checked before a driver sees them.

Limits: "CUDA Driver API", `cuTensorMapEncodeTiled`.
"""

from __future__ import annotations

from typing import Literal

from flydsl.base.errors import DslValueError
from flydsl.base.records import dataclass
from flydsl.target.dtype import storage_bytes
from flydsl.target.mma_warpgroup import SWIZZLE_MODES

MAP_BYTES = 128
MAP_ALIGN = 64
MAX_RANK = 5
MAX_BOX = 256
ALIGN = 16
"""Bytes that the address and the strides of a tensor are multiples of."""
MAX_EXTENT = 1 << 32
"""Elements a mode has at most."""
STRIDE_LIMIT = 1 << 40
"""Bytes that strides stay below."""

# CUtensorMapDataType, CUtensorMapSwizzle and CUtensorMapL2promotion of the driver's header.
DATA_TYPES = {
    "i8": 0, "ui8": 0, "f8E4M3FN": 0, "f8E5M2": 0, "i16": 1, "ui16": 1, "ui32": 2, "i32": 3, "ui64": 4, "i64": 5,
    "f16": 6, "f32": 7, "f64": 8, "bf16": 9,
}  # fmt: skip
REDUCTIONS = {
    "add": ("ui32", "i32", "ui64", "f16", "bf16", "f32", "f64"),
    "min": ("ui32", "i32", "ui64", "i64", "f16", "bf16"),
    "max": ("ui32", "i32", "ui64", "i64", "f16", "bf16"),
}
"""What cp.reduce.async.bulk and its form for tensors combine (PTX ISA 9.7.9.25.4.2 and 9.7.9.25.5.3)."""
SwizzleMode = Literal["none", "32B", "64B", "128B"]
SWIZZLES: dict[SwizzleMode, int] = {"none": 0, "32B": 1, "64B": 2, "128B": 3}
L2Promotion = Literal["none", "64B", "128B", "256B"]
L2_PROMOTIONS: dict[L2Promotion, int] = {"none": 0, "64B": 1, "128B": 2, "256B": 3}
"""How much L2 reads of memory at least where a copy misses it."""


@dataclass(frozen=True)
class TensorMapFacts:
    """Element, box (fastest mode first) and swizzle of a map. Extents and strides are known at the launch."""

    elem: str
    box: tuple[int, ...]
    swizzle: SwizzleMode

    def __post_init__(self) -> None:
        if self.elem not in DATA_TYPES:
            raise DslValueError(f"TMA does not copy {self.elem}", hint="it copies " + ", ".join(DATA_TYPES))
        if self.swizzle not in SWIZZLES:
            raise DslValueError(f"unknown swizzle mode '{self.swizzle}'", hint="use " + ", ".join(SWIZZLES))
        if not 1 <= len(self.box) <= MAX_RANK:
            raise DslValueError(f"TMA moves boxes of 1 to {MAX_RANK} modes, got {len(self.box)}")
        for extent in self.box:
            if not 1 <= extent <= MAX_BOX:
                raise DslValueError(f"a TMA box spans 1 to {MAX_BOX} elements a mode, got {self.box}")
        row = self.row_bytes
        if row % 16:
            raise DslValueError(f"a TMA box row is {row} bytes; it must be a multiple of 16", hint="widen the box")
        limit = SWIZZLE_MODES[self.swizzle].row_bytes
        if self.swizzle != "none" and row != limit:  # shorter rows lie in shared memory as no layout of ours says
            raise DslValueError(
                f"a box row of {row} bytes does not fit the {self.swizzle} swizzle, whose rows have {limit} bytes",
                hint=f"use a box of {limit // storage_bytes(self.elem)} elements in its fastest mode, and more copies",
            )

    @property
    def rank(self) -> int:
        return len(self.box)

    @property
    def row_bytes(self) -> int:
        return self.box[0] * storage_bytes(self.elem)

    @property
    def bytes(self) -> int:
        """Bytes that one copy moves."""
        total = storage_bytes(self.elem)
        for extent in self.box:
            total *= extent
        return total
