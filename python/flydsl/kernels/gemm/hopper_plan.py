"""How the Hopper GEMM is built for a product: kinds, configurations, and a model that chooses among them."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import Any

import flydsl.expr as fx
from flydsl.kernels.blocks.activation import ACTIVATIONS

WARPGROUP = 128
WARP_ROWS = 16
"""Rows of a block of 64 that a warp has accumulators of."""
BLOCK_ROWS = 64
"""Rows of one wgmma."""
ROW_BYTES = 128
"""Bytes of a swizzled line of A and B: K of a stage, where K is contiguous."""
STORE_BYTES = 2048
"""Bytes of a box of C that a warp sends off: 16 rows of 128 bytes."""
SHARED_BYTES = 232448
"""Shared memory of a block on Hopper."""


FITTING_SUMS = {1: 256, 2: 96, 3: 64}
"""Warpgroups that multiply to the sums a thread has room for in its equal share of the registers."""


@dataclass(frozen=True)
class GemmKind:
    """What is multiplied: types, which mode of each matrix is contiguous, and what happens to the sums.

    Types and modes are the kernel's: where they are ``swapped``, its A is the caller's B, and its C is transposed.
    ``wide_store`` says that lines of C are multiples of 16 bytes; they are stored element by element otherwise.
    """

    a: Any
    b: Any
    c: Any
    a_along_k: bool = True
    b_along_k: bool = True
    c_along_n: bool = True
    wide_store: bool = True
    swapped: bool = False
    batched: bool = False
    activation: str = "none"

    @property
    def size(self) -> int:
        """Bytes of an element of A and B."""
        return self.a.width // 8

    @property
    def bk(self) -> int:
        """K of a stage."""
        return ROW_BYTES // self.size

    @property
    def acc(self) -> Any:
        return fx.Int32 if self.a.is_integer else fx.Float32


@dataclass(frozen=True)
class GemmConfig:
    """Extents of a block's tile, warpgroups that multiply, stages of the ring, and what a cluster's blocks share.

    ``along`` says how they lie: below each other ("m", sharing B), beside each other ("n", sharing A), or one behind
    the other ("k", each with a part of K of the same tile). ``band`` is how many tile rows share an L2 window.
    """

    tile_m: int = 128
    tile_n: int = 256
    consumers: int = 2
    stages: int = 4
    cluster: int = 1
    along: str = "m"
    band: int = 8

    def sharing(self, mode: str) -> int:
        """How many blocks of a cluster lie along a mode."""
        return self.cluster if self.along == mode else 1

    @property
    def splits(self) -> int:
        """In how many parts K is."""
        return self.sharing("k")

    def store_box(self, kind: GemmKind) -> tuple[int, int]:
        """Rows and columns of C that a warp sends off at once."""
        size = kind.c.width // 8
        if kind.c_along_n:
            return WARP_ROWS, gcd(self.tile_n, ROW_BYTES // size)
        return WARP_ROWS, gcd(self.tile_n, STORE_BYTES // WARP_ROWS // size)

    @property
    def warps(self) -> int:
        """Warps that multiply."""
        return self.consumers * WARPGROUP // 32

    @property
    def threads(self) -> int:
        return (1 + self.consumers) * WARPGROUP

    @property
    def is_large(self) -> bool:
        """Whether products, and not memory, take the time of a tile."""
        return self.accumulators >= 64

    @property
    def accumulators(self) -> int:
        """Registers of a thread that sums are in."""
        return self.tile_m * self.tile_n // (self.consumers * WARPGROUP)

    @property
    def moves_registers(self) -> bool:
        """Whether sums leave too little of an equal share of the registers, so that loading threads give up theirs."""
        return self.accumulators > FITTING_SUMS[self.consumers]

    def stage_bytes(self) -> int:
        return (self.tile_m + self.tile_n) * ROW_BYTES

    def shared_bytes(self) -> int:
        """All shared memory of a block."""
        boxes = self.consumers * (WARPGROUP // 32) * STORE_BYTES
        return self.stages * (self.stage_bytes() + 16) + boxes + 1024


def check_config(kind: GemmKind, config: GemmConfig) -> None:
    """The only statement of what the kernel can be built for."""
    return
