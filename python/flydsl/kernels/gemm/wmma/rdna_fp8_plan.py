"""What the GEMM of 8-bit floats on gfx12 decides on the host: its tile, what is on its way, and what lies in LDS."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, lcm
from typing import Any

from flydsl.kernels.blocks.limits import require_multiple
from flydsl.kernels.gemm.wmma.rdna_plan import ADDRESSES, BLOCK, LANES, LDS_BYTES, REGISTERS

DEPTH = 32
"""Elements of K that a lane's 16-byte access to A and its partner's cover: two instructions."""
WAVES = 4
THREADS = LANES * WAVES
PLACES = 2
"""Of LDS: one is read while the other is filled."""
TURNS = 2
"""Blocks of 16 rows of A whose products take turns, so that a sum does not wait for the instruction before."""
READ = 4 * 2 * TURNS
"""Registers of a lane for these blocks, 32 deep, and as many that are read meanwhile."""
MOST_READ = 4
"""Times 32 elements of K that LLVM reads ahead. November 2026: it spills 41 registers of 96 x 192 x 128 otherwise."""
SHARED_REGISTERS = 192
"""Of a lane, with which eight waves share a SIMD."""


@dataclass(frozen=True)
class Fp8Plan:
    """Sizes and tiles of one kernel; an ``m`` of 0 is told when it is launched."""

    m: int
    n: int
    k: int
    tile_m: int = 32
    tile_n: int = 128
    tile_k: int = DEPTH
    unroll: int = 0
    """Tiles along K that are on their way; 0 takes four, or two where four leave no room for eight waves of a SIMD."""
    group_m: int = 8
    out: str = "bf16"

    def __post_init__(self) -> None:
        for name, value, step in (
            ("N", self.n, BLOCK), ("tile_m", self.tile_m, BLOCK),
            ("tile_n", self.tile_n, BLOCK * WAVES), ("tile_k", self.tile_k, DEPTH), ("K", self.k, self.tile_k),
            ("group_m", self.group_m, 1),
        ):  # fmt: skip
            require_multiple(name, value, step)
        there = REGISTERS - ADDRESSES - READ * min(self.tile_k // DEPTH, MOST_READ)
        room = max((there - self.sums) // self.held, 0)
        if not self.unroll:
            roomy = self.sums + 4 * self.held + READ + ADDRESSES <= SHARED_REGISTERS
            object.__setattr__(self, "unroll", max(min(4 if roomy else 2, room, self.iterations), 1))
        if not 1 <= self.unroll <= room:
            what = f"k_unroll can be {room} at most, got {self.unroll}" if room else "take a smaller tile"
            raise ValueError(
                f"a tile of {self.tile_m} x {self.tile_n} x {self.tile_k} takes {self.sums} registers of a lane for "
                f"its sums, {self.held} for each tile on its way, and {there} are there: {what}"
            )
        if self.lds_bytes > LDS_BYTES:
            raise ValueError(
                f"two tiles of {self.tile_m} x {self.slab} take {self.lds_bytes} bytes of LDS, and {LDS_BYTES} are "
                "there: lower tile_m or tile_k"
            )

    @property
    def together(self) -> int:
        """Neighbouring columns of a lane, one for either of two instructions: one access fetches 8 bytes of both."""
        return 2 if self.tile_n % (2 * BLOCK * WAVES) == 0 else 1

    @property
    def sums(self) -> int:
        """Registers of a lane for its sums."""
        return self.tile_m * self.tile_n // (LANES * WAVES)

    @property
    def held(self) -> int:
        """Registers of a lane for one tile along K that is on its way: a wave's columns of B, and its part of A."""
        return -(-(self.tile_m + self.tile_n) * self.tile_k // (THREADS * 4))

    @property
    def waves_down(self) -> int:
        """Waves that fetch different rows of A; others fetch what lies further along K."""
        return gcd(WAVES, self.tile_m // BLOCK)

    @property
    def staged(self) -> int:
        """Tiles along K whose rows of A come into LDS together, so that every lane fetches 16 bytes."""
        across = WAVES // self.waves_down
        return across // gcd(across, self.tile_k // DEPTH)

    @property
    def slab(self) -> int:
        """Elements along K of A that come into LDS together."""
        return self.staged * self.tile_k

    @property
    def lds_bytes(self) -> int:
        return PLACES * self.tile_m * self.slab

    @property
    def slabs_ahead(self) -> int:
        """Slabs of A on their way, about as far ahead as B."""
        return max(self.unroll // self.staged, 1)

    @property
    def iterations(self) -> int:
        """Tiles along K."""
        return self.k // self.tile_k

    @property
    def blocks(self) -> int:
        """Blocks of 16 rows and 32 elements of a tile of A."""
        return self.tile_m // BLOCK * (self.tile_k // DEPTH)

    @property
    def turn(self) -> int:
        """Slabs that an iteration of the loop multiplies: after them registers and places of LDS come again."""
        return lcm(PLACES, self.slabs_ahead, self.unroll // gcd(self.unroll, self.staged))

    @property
    def loops(self) -> int:
        """Iterations of the loop: all that have something to fetch for each tile that they multiply."""
        fetching = self.iterations - max(self.unroll, self.staged * self.slabs_ahead + 1)
        return max(fetching, 0) // (self.turn * self.staged)

    def grid_of(self, rows: Any) -> tuple[Any, int]:
        """Tiles along M and N of so many rows."""
        return (rows + self.tile_m - 1) // self.tile_m, -(-self.n // self.tile_n)
