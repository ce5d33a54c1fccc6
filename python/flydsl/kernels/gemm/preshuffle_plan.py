"""What the preshuffle GEMM decides on the host: the order of the weights, and a checked choice of tiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import flydsl.expr as fx
from flydsl.kernels.blocks.activation import ACTIVATIONS

THREADS, WAVES = 256, 4
ACCESS_BYTES = 16
ACCESS_LANES = 4
"""Lanes that lie side by side along K in a matrix instruction of 16 rows."""
BLOCK = 16
"""Rows of a matrix instruction, and of a block of shuffled weights."""
SCALED_DEPTH = 128
"""K of gfx950's instruction for 8-bit floats with block scales."""
UNIT_SCALES = 0x7F7F7F7F
"""Four scales of 1 in E8M0."""
LEAD = 1
"""Tiles of rows, beside the one at hand, whose products follow the last access of a chunk: time for it to arrive.
November 2026: one more takes 170 registers instead of 166 for 128 x 128 x 64 in f16, and a wave less fits on a SIMD."""

IN_DTYPES: dict[str, tuple[Any, ...]] = {
    "fp16": (fx.Float16,),
    "bf16": (fx.BFloat16,),
    "fp8": (fx.Float8E4M3FNUZ, fx.Float8E4M3FN),
    "int8": (fx.Int8,),
    "int4": (fx.Int8,),
}
"""Element types of A by name: of 8-bit floats the one that the target multiplies. "int4" names the weights' type."""

OUT_DTYPES: dict[str, Any] = {"fp16": fx.Float16, "bf16": fx.BFloat16}
EPILOGUES = (*ACTIVATIONS, "bias", *(f"bias_{name}" for name in ACTIVATIONS if name != "none"))


def shuffle_weight(weight: Any, layout: tuple[int, int] = (BLOCK, BLOCK)) -> Any:
    """B[n, k] in the order of the kernel's loads: [N/16][K/Kp][16][Kp], where Kp elements fill 16 bytes.

    Takes an array of NumPy or a tensor of PyTorch and gives a new one of the same shape.
    """
    if tuple(layout) != (BLOCK, BLOCK):
        raise ValueError(f"weights are shuffled in blocks of (16, 16), got {layout}")
    if len(weight.shape) != 2 or weight.shape[0] % BLOCK or weight.shape[1] % 32:
        raise ValueError(f"a weight has rows in blocks of 16 and columns in blocks of 32; its shape is {weight.shape}")
    n, k = weight.shape
    piece = ACCESS_BYTES // weight.itemsize
    return weight.reshape(n // BLOCK, BLOCK, k // piece, piece).swapaxes(1, 2).reshape(n, k)


@dataclass(frozen=True)
class GemmPlan:
    """Tiles and options of one kernel; the only place that decides sizes."""

    n: int
    k: int
    tile_m: int
    tile_n: int
    tile_k: int
    in_dtype: str
    out_dtype: str
    epilogue: str = "none"
    scheduled: bool = True
    lds_stages: int = 2
    preload: bool = True
    xcds: int = 0
    accesses: int = 1
    """16-byte accesses of a lane that feed one instruction; the target's instruction decides."""

    def __post_init__(self) -> None:
        for name, value, known in (
            ("in_dtype", self.in_dtype, IN_DTYPES),
            ("out_dtype", self.out_dtype, OUT_DTYPES),
            ("epilogue", self.epilogue, EPILOGUES),
            ("lds_stage", self.lds_stages, (1, 2)),
        ):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(map(str, known))}, got {value!r}")
        for name, value, step in self._multiples():
            if value <= 0 or value % step:
                raise ValueError(f"{name} must be a positive multiple of {step}, got {value}")
        pieces = self.row_bytes // ACCESS_BYTES
        if pieces & (pieces - 1) or pieces > THREADS:
            raise ValueError(
                f"tile_k = {self.tile_k} makes rows of {pieces} accesses of 16 bytes; "
                f"that must be a power of two, at most {THREADS}"
            )
        if self.xcds < 0:
            raise ValueError(f"xcd_swizzle is a number of chiplets, or 0; got {self.xcds}")

    def _multiples(self) -> tuple[tuple[str, int, int], ...]:
        return (
            ("tile_m", self.tile_m, BLOCK),
            ("tile_n", self.tile_n, BLOCK * WAVES),
            ("tile_k * bytes of an element", self.row_bytes, ACCESS_LANES * ACCESS_BYTES),
            ("tile_m * tile_k * bytes of an element", self.tile_m * self.row_bytes, THREADS * ACCESS_BYTES),
            ("N", self.n, self.tile_n),
            ("K", self.k, self.tile_k),
        )

    def require_columns(self, n: int) -> None:
        """Refuse a call for another number of columns than was compiled for."""
        if self.n != n:
            raise ValueError(f"this kernel was compiled for N = {self.n}, and is called with N = {n}")

    def blocks(self, rows: Any) -> tuple[Any, Any, int]:
        """The grid that covers so many rows."""
        return self.n // self.tile_n, fx.ceildiv(rows, self.tile_m), 1

    @property
    def packed(self) -> bool:
        """Whether two weights share a byte."""
        return self.in_dtype == "int4"

    # Sizes -----------------------------------------------------------------------------------------

    @property
    def elem_bytes(self) -> int:
        return IN_DTYPES[self.in_dtype][0].width // 8

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of a tile of A."""
        return self.tile_k * self.elem_bytes

    @property
    def piece(self) -> int:
        """Elements of one 16-byte access."""
        return ACCESS_BYTES // self.elem_bytes

    @property
    def b_depth(self) -> int:
        """Elements in memory of a row of B."""
        return self.k // 2 if self.packed else self.k

    @property
    def b_piece(self) -> int:
        """Elements in memory of one access to B."""
        return self.piece // 2 if self.packed else self.piece

    @property
    def chunk(self) -> int:
        """Elements along K that the lanes' accesses for one instruction cover."""
        return ACCESS_LANES * self.piece * self.accesses

    @property
    def chunks(self) -> int:
        return self.tile_k // self.chunk

    @property
    def turns(self) -> int:
        """Tiles along K."""
        return self.k // self.tile_k

    @property
    def pairs(self) -> int:
        """Turns of the loop, which multiplies two tiles a turn, one from either tile of LDS."""
        return self.turns // 2

    @property
    def row_tiles(self) -> int:
        """Matrix instructions along M."""
        return self.tile_m // BLOCK

    # What a thread does ----------------------------------------------------------------------------

    @property
    def a_loads(self) -> int:
        """16-byte loads of a thread for a tile of A."""
        return self.tile_m * self.row_bytes // (THREADS * ACCESS_BYTES)

    @property
    def b_loads(self) -> int:
        """16-byte loads of a thread for a chunk of B."""
        return self.column_tiles * self.accesses

    @property
    def column_tiles(self) -> int:
        """Matrix instructions along N of a wave."""
        return self.tile_n // (BLOCK * WAVES)

    @property
    def staging_chunk(self) -> int:
        """The chunk with which A goes into LDS: the first if another tile of LDS is free, else the last."""
        return 0 if self.lds_stages == 2 else self.chunks - 1

    def in_flight(self, chunk: int) -> int:
        """Loads that may be outstanding when a chunk of B is needed: those issued after it."""
        after_b = self.b_loads * (self.chunks - 1)
        a_is_later = chunk > 0 if self.lds_stages == 2 else chunk < self.chunks - 1
        return min(after_b + (self.a_loads if a_is_later else 0), MAX_IN_FLIGHT)

    @property
    def scaled(self) -> bool:
        return self.elem_bytes == 1

    @property
    def biased(self) -> bool:
        return self.epilogue.startswith("bias")

    @property
    def activation(self) -> str:
        return self.epilogue.removeprefix("bias").removeprefix("_") or "none"


MAX_IN_FLIGHT = 63
"""The most that a wait can leave outstanding."""
