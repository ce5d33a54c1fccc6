"""What the GEMMs of RDNA decide on the host: a checked choice of tiles, and a model that makes the choice."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import flydsl.expr as fx
from flydsl.kernels.blocks.limits import require, require_multiple

BLOCK = 16
"""Rows, columns and depth of the matrix instruction."""
LANES = 32
PIECE = 8
"""Elements of a 16-byte access."""
LDS_BYTES = 64 * 1024
REGISTERS = 256
"""Of a lane; what does not fit goes to memory."""
REGISTERS_OF_ALL = 4 * 1536
"""Of a lane of all waves of a block: four SIMDs work on it."""
ADDRESSES = 24
"""Registers of a lane for addresses and the like. November 2026: the kernels of `tests/codegen` need no more."""

LAYOUTS = ("exchange", "pad", "kblock")
IN_DTYPES: dict[str, Any] = {"bf16": fx.BFloat16, "f16": fx.Float16, "fp16": fx.Float16}
OUT_DTYPES: dict[str, Any] = {**IN_DTYPES, "f32": fx.Float32, "fp32": fx.Float32}


@dataclass(frozen=True)
class RdnaPlan:
    """Sizes, tiles and options of one f16 kernel; an ``m`` of 0 is told when it is launched."""

    m: int
    n: int
    k: int
    in_dtype: str = "bf16"
    out_dtype: str = "bf16"
    reg_m: int = 4
    reg_n: int = 4
    reg_k: int = 2
    waves_m: int = 2
    waves_n: int = 2
    group_m: int = 8
    rounding: str = "rn"
    lda: int = 0
    ldb: int = 0
    ldc: int = 0
    persistent: int = 0
    layout: str = "exchange"
    """Of a tile in LDS: pieces exchanged by the row's number; rows with a pad behind them; or blocks along K."""
    pads: tuple[int, int] = (0, 0)
    """Elements behind a row of A and of B in LDS, in a layout that has them."""
    scheduled: bool = True
    """Whether the compiler is kept from moving loads of one step along K among those of others."""

    def __post_init__(self) -> None:
        require("in_dtype", self.in_dtype, IN_DTYPES)
        require("out_dtype", self.out_dtype, OUT_DTYPES)
        require("rounding", self.rounding, ("rn", "rs"))
        require("reg_k", self.reg_k, (1, 2, 4, 8))
        require("lds_layout", self.layout, LAYOUTS)
        for name, pad in zip(("a_k_pad", "b_k_pad"), self.pads, strict=True):
            if pad % PIECE or pad < 0:
                raise ValueError(f"{name} is a multiple of {PIECE} elements, which an access takes; got {pad}")
        for name in ("n", "reg_m", "reg_n", "waves_m", "waves_n", "group_m"):
            require_multiple(name.upper() if len(name) == 1 else name, getattr(self, name), 1)
        require_multiple("K", self.k, PIECE)
        if self.rounding == "rs" and self.out_dtype != "bf16":
            raise ValueError(f"rounding='rs' is for out_dtype='bf16', got {self.out_dtype!r}")
        for name, least in (("lda", self.k), ("ldb", self.k), ("ldc", self.n)):
            given = getattr(self, name)
            object.__setattr__(self, name, given or least)
            if given and (given < least or (name != "ldc" and given % PIECE)):
                raise ValueError(
                    f"{name} is at least {least}" + (f" and a multiple of {PIECE}" * (name != "ldc")) + f", got {given}"
                )
        self._check_tile()

    def _check_tile(self) -> None:
        if self.threads > 1024:
            raise ValueError(f"waves_m * waves_n must be at most 32, got {self.waves_m} * {self.waves_n}")
        for name, reg, waves in (
            ("reg_m * reg_k", self.reg_m, self.waves_n),
            ("reg_n * reg_k", self.reg_n, self.waves_m),
        ):
            if reg * self.reg_k % waves:
                other = "waves_n" if name.startswith("reg_m") else "waves_m"
                raise ValueError(
                    f"{name} must be a multiple of {other}, so that every thread fetches as much; "
                    f"got {reg} * {self.reg_k} and {waves}"
                )
        if self.lds_bytes > LDS_BYTES:
            raise ValueError(
                f"tiles of {self.tile_m} x {self.tile_k} and {self.tile_n} x {self.tile_k} take "
                f"{self.lds_bytes} bytes of LDS, and {LDS_BYTES} are there: lower reg_k, or the waves"
            )
        there = min(REGISTERS, REGISTERS_OF_ALL // (self.waves_m * self.waves_n))
        if self.registers >= there:
            raise ValueError(
                f"{self.reg_m} x {self.reg_n} x {self.reg_k} instructions of a wave take about {self.registers} "
                f"registers of a lane, and {there} are there: lower reg_m, reg_n or reg_k"
            )

    @property
    def tile_m(self) -> int:
        return BLOCK * self.reg_m * self.waves_m

    @property
    def tile_n(self) -> int:
        return BLOCK * self.reg_n * self.waves_n

    @property
    def tile_k(self) -> int:
        return BLOCK * self.reg_k

    @property
    def threads(self) -> int:
        return LANES * self.waves_m * self.waves_n

    @property
    def lds_bytes(self) -> int:
        rows = ((self.tile_m, self.pads[0]), (self.tile_n, self.pads[1]))
        return 2 * sum(count * (self.tile_k + pad) for count, pad in rows)

    @property
    def registers(self) -> int:
        """Of a lane: sums, columns of a step and two blocks of rows (half as many on gfx12), what is fetched, and where
        its pieces come from and go to.

        November 2026: of 120 random tiles LLVM spilled three, which this refuses.
        """
        fetched = (self.tile_m + self.tile_n) * self.tile_k // (2 * self.threads)
        return 8 * self.reg_m * self.reg_n + 8 * (self.reg_n + 2) + fetched + fetched // 2 + ADDRESSES

    @property
    def grid(self) -> tuple[int, int]:
        """Tiles along M and N."""
        return self.grid_of(self.m)

    def grid_of(self, rows: Any) -> tuple[Any, int]:
        """Tiles along M and N of so many rows."""
        return (rows + self.tile_m - 1) // self.tile_m, -(-self.n // self.tile_n)

    def blocks_of(self, rows: Any) -> Any:
        grid_m, grid_n = self.grid_of(rows)
        return min(self.persistent, grid_m * grid_n) if self.persistent else grid_m * grid_n

    @property
    def iterations(self) -> int:
        """Tiles along K."""
        return -(-self.k // self.tile_k)

    @property
    def loops(self) -> int:
        """Iterations of the loop: all tiles that whole ones follow two further on."""
        return max(self.k // self.tile_k - 2, 0)


# The choice of a tile --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Chip:
    """What the model knows of a GPU."""

    units: int
    """Compute units."""
    matrix_clocks: int
    """Of an instruction, on one of a unit's two SIMDs."""
    operand_bytes: int
    """That an instruction's operand of 16 x 16 reads from LDS."""


CHIPS = {
    "gfx1100": Chip(96, 32, 1024),
    "gfx1151": Chip(40, 32, 1024),
    "gfx1200": Chip(32, 16, 512),
    "gfx1201": Chip(64, 16, 512),
}
"""The largest GPU of each kind; AMD's product pages, and 512 (gfx11) and 1024 (gfx12) operations in f16 a clock."""
SIMDS = 2
FETCH_BYTES = 64
"""Of a unit a clock, from L2."""
LDS_BYTES_A_CLOCK = 128
START_CLOCKS = 1200
"""Before a block's first product and behind its last: two trips to memory."""
TILES: tuple[tuple[int, int, int, int, int], ...] = (
    (4, 4, 2, 2, 2), (4, 4, 2, 2, 4), (4, 4, 2, 4, 2), (4, 2, 4, 2, 2), (2, 4, 4, 2, 2), (2, 2, 4, 2, 2),
    (2, 2, 2, 2, 2), (2, 2, 4, 1, 4), (1, 2, 4, 1, 4), (1, 4, 2, 1, 2), (1, 2, 4, 1, 2), (2, 2, 4, 4, 1),
    (2, 1, 4, 4, 1), (1, 1, 4, 2, 2),
)  # fmt: skip
"""(reg_m, reg_n, reg_k, waves_m, waves_n) to choose from."""


def estimated_clocks(plan: RdnaPlan, chip: Chip) -> int:
    """Return the model: rounds of blocks over the units, each as long as its products and reads of LDS, or as its
    traffic.

    A unit works on one block at a time as if it had all its SIMDs; a block with fewer waves than SIMDs uses as many.
    """
    rounds = -(-plan.grid[0] * plan.grid[1] // chip.units)
    waves, steps = plan.waves_m * plan.waves_n, plan.iterations * plan.reg_k
    products = plan.reg_m * plan.reg_n * waves * chip.matrix_clocks // min(SIMDS, waves)
    reads = (plan.reg_m + plan.reg_n) * waves * chip.operand_bytes // LDS_BYTES_A_CLOCK
    traffic = (plan.tile_m + plan.tile_n) * BLOCK * 2 // FETCH_BYTES
    result = plan.tile_m * plan.tile_n * 2 // FETCH_BYTES
    return rounds * (steps * max(products + reads, traffic) + result + START_CLOCKS)


def ranked_tiles(M: int, N: int, K: int, arch: str = "gfx1100") -> list[dict[str, int]]:
    """Return the options of `create_wmma_gemm_module` for every tile, what `estimated_clocks` finds shortest first."""
    require("arch", arch, CHIPS)
    names = ("reg_m", "reg_n", "reg_k", "waves_m", "waves_n")
    choices = [dict(zip(names, tile, strict=True)) for tile in TILES]
    return sorted(choices, key=lambda choice: estimated_clocks(RdnaPlan(M, N, K, **choice), CHIPS[arch]))


@lru_cache(1024)
def pick_tile(M: int, N: int, K: int, arch: str = "gfx1100") -> dict[str, int]:
    """Return the first of `ranked_tiles`; of tiles that are alike to the model, the first of `TILES`."""
    return ranked_tiles(M, N, K, arch)[0]
