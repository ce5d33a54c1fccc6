"""What the GEMMs of gfx1250 decide on the host: a checked choice of tiles, waves, stages and clusters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import gcd
from typing import Any

import flydsl.expr as fx
from flydsl.kernels.blocks.inputs import require_bytes
from flydsl.kernels.blocks.limits import require, require_multiple

BLOCK = 16
"""Rows and columns of the matrix instruction."""
LANES = 32
ACCESS_BYTES = 16
LDS_BYTES = 320 * 1024
BANKS_BYTES = 256
"""Of LDS: what all banks give at once."""
MOST_ROW_BYTES = 1024
"""Of a tile: the widest row behind which the tensor data mover can leave a gap."""
MOST_SUMS = 512
"""Registers of a lane for sums, half of all."""
SCALE_GROUP = 32
"""Elements of K that share a scale."""
SCALE_BLOCK = 128
"""Elements of K, and rows of B, of a block with one scale."""


@dataclass(frozen=True)
class Format:
    """Elements of an operand, and the instruction that takes them: its depth, and bytes of a row in that depth."""

    dtype: Any
    depth: int
    step_bytes: int


FORMATS: dict[str, Format] = {
    "f16": Format(fx.Float16, 32, 64),
    "bf16": Format(fx.BFloat16, 32, 64),
    "fp8": Format(fx.Float8E4M3FN, 128, 128),
    "fp4": Format(fx.Float4E2M1FN, 128, 64),
}
OUT_DTYPES: dict[str, Any] = {"f32": fx.Float32, "bf16": fx.BFloat16, "f16": fx.Float16}


@dataclass(frozen=True)
class TilePlan:
    """Sizes, tiles and options of one kernel; M, N and the distances between rows are given when it is launched.

    ``scales`` says how scales come: "none", "rows" (f32 of each row and column, behind the product), "warp" and "32x4"
    (E8M0 for every 32 of K, in two orders), "straight" (the former, past LDS), "blocks" (E8M0 for every 128 of K and,
    in B, of N).
    """

    k: int
    a_format: str
    b_format: str
    out_dtype: str
    tile_m: int
    tile_n: int
    tile_k: int
    m_warp: int
    n_warp: int
    stages: int = 2
    cluster_m: int = 1
    cluster_n: int = 1
    split_k: int = 1
    scales: str = "none"
    specialised: bool = False
    """Whether each matrix has a wave that fetches it, instead of all waves sharing each."""
    store_by_tiles: bool = True
    """Whether C goes through LDS and the tensor data mover."""
    prefetch: int = 0
    """How many tiles ahead of the one that is sent for the caches are told of one; 0 tells them nothing."""
    expert: bool = True
    """Whether waits for results are the compiler's and not the hardware's (WAVE_SCHED_MODE)."""
    opsel: bool = False
    """Whether a register holds the scales of two blocks of 16 rows, of which an instruction picks one."""
    b_rows: bool = False
    """Whether B of 16 bits is [N, K], as weights are, and not [K, N]."""
    biased: bool = False
    """Whether a number for each column is added to the sums."""

    def __post_init__(self) -> None:
        require("out_dtype", self.out_dtype, OUT_DTYPES)
        require("num_buffers", self.stages, (2, 3, 4))
        depth = self.a.depth
        for name, value, step in (
            ("m_warp", self.m_warp, 1), ("n_warp", self.n_warp, 1), ("tile_m", self.tile_m, BLOCK * self.m_warp),
            ("tile_n", self.tile_n, BLOCK * self.n_warp), ("tile_k", self.tile_k, depth), ("split_k", self.split_k, 1),
            ("K", self.k, self.tile_k * self.split_k), ("cluster_m", self.cluster_m, 1),
            ("cluster_n", self.cluster_n, 1),
        ):  # fmt: skip
            require_multiple(name, value, step)
        if self.tile_k & (self.tile_k - 1) or self.row_bytes > MOST_ROW_BYTES:
            raise ValueError(
                f"tile_k = {self.tile_k} makes rows of {self.row_bytes} bytes; take a power of two, and rows of at "
                f"most {MOST_ROW_BYTES} bytes"
            )
        self._check_limits()

    def _check_limits(self) -> None:
        if self.cluster_m * self.cluster_n > 16:
            raise ValueError(f"a cluster has at most 16 workgroups, got {self.cluster_m} x {self.cluster_n}")
        if self.threads > 1024:
            raise ValueError(f"a workgroup has at most 32 waves, got {self.m_warp} x {self.n_warp}")
        if self.iterations < self.stages:
            raise ValueError(
                f"K / split_k = {self.k // self.split_k} has {self.iterations} tiles of {self.tile_k}, and "
                f"num_buffers = {self.stages} want as many: take a smaller tile_k, or fewer"
            )
        if not self.specialised and (self.waves & (self.waves - 1) or self.tile_m % self.waves):
            raise ValueError(
                f"{self.waves} waves share the rows of a tile evenly if they are a power of two that divides tile_m = "
                f"{self.tile_m}; give wave_specialized_tdm=True, or other waves"
            )
        sums = self.tile_m * self.tile_n // self.threads
        if sums > MOST_SUMS:
            raise ValueError(
                f"a tile of {self.tile_m} x {self.tile_n} by {self.waves} waves takes {sums} registers of a lane for "
                f"its sums, and {MOST_SUMS} leave room for the rest: take more waves, or a smaller tile"
            )
        if type(self.prefetch) is not int or self.prefetch < 0:
            raise ValueError(f"l2_prefetch_distance is a number of tiles, or 0; got {self.prefetch!r}")
        if self.opsel and (self.scales != "warp" or self.m_reps % 2 or self.n_reps % 2):
            raise ValueError(
                "use_scale_opsel puts scales of two blocks of 16 rows into a register: it takes scale_mode='mxscale' "
                f"and waves of multiples of 32 rows and columns, got {self.wave_m} x {self.wave_n}"
            )
        if self.specialised and self.waves < self.copies:
            raise ValueError(f"wave_specialized_tdm takes a wave for each of {self.copies} matrices, got {self.waves}")
        if self.split_k > 1 and self.store_by_tiles:
            raise ValueError("split_k adds to C by atomics: give use_tdm_store=False")
        if self.lds_bytes > LDS_BYTES:
            raise ValueError(
                f"{self.stages} stages take {self.lds_bytes} bytes of LDS, and {LDS_BYTES} are there: take a smaller "
                "tile, or fewer"
            )

    @property
    def a(self) -> Format:
        return FORMATS[self.a_format]

    @property
    def b(self) -> Format:
        return FORMATS[self.b_format]

    @property
    def waves(self) -> int:
        return self.m_warp * self.n_warp

    @property
    def threads(self) -> int:
        return LANES * self.waves

    @property
    def steps(self) -> int:
        """Instructions along K of a tile."""
        return self.tile_k // self.a.depth

    @property
    def iterations(self) -> int:
        """Tiles along K of a workgroup."""
        return self.k // (self.tile_k * self.split_k)

    @property
    def loops(self) -> int:
        """Iterations of the loop, a tile in each stage, with a tile to fetch for each that is multiplied."""
        return max(self.iterations - (self.stages - 1), 0) // self.stages

    @property
    def row_bytes(self) -> int:
        """Of a row of A in a tile."""
        return self.steps * self.a.step_bytes

    @property
    def b_row_bytes(self) -> int:
        """Along K of a column of B in a tile."""
        return self.steps * self.b.step_bytes

    @property
    def wave_m(self) -> int:
        return self.tile_m // self.m_warp

    @property
    def wave_n(self) -> int:
        return self.tile_n // self.n_warp

    @property
    def m_reps(self) -> int:
        """Instructions of a wave along M."""
        return self.wave_m // BLOCK

    @property
    def n_reps(self) -> int:
        return self.wave_n // BLOCK

    @property
    def blocks(self) -> int:
        """Blocks of 16 columns that an instruction takes: two of fp4, in the time of one (LLVM's scheduling model)."""
        return 2 if self.a_format == self.b_format == "fp4" and self.n_reps % 2 == 0 else 1

    @property
    def scaled_by_groups(self) -> bool:
        """Whether scales come with the tiles, through LDS."""
        return self.scales in ("warp", "32x4")

    @property
    def scale_tiles(self) -> tuple[tuple[int, int], ...]:
        """Rows of a tile of A and of B, and the waves along them."""
        return (self.tile_m, self.m_warp), (self.tile_n, self.n_warp)

    @property
    def block_step(self) -> int:
        """Blocks of 16 columns from the first to the second that an instruction takes. Where the scales of a row's
        blocks are neighbours, half of a wave's blocks lie between them: so are then those that a lane reads."""
        return self.n_reps // 2 if self.scales == "warp" and self.blocks == 2 else 1

    def rows_to_a_gap(self, rows: int, row_bytes: int) -> int:
        """Rows of a tile in LDS that share the gap behind them: those that fill all banks, which meet in none, and no
        more than a wave fetches."""
        fetched = rows if self.specialised else rows // self.waves if rows % self.waves == 0 else 1
        return gcd(max(BANKS_BYTES // row_bytes, 1), fetched)

    @property
    def woven(self) -> bool:
        """Whether rows of a B of 16 bits that are eight apart are neighbours in LDS: those that fill all banks. Eight
        rows that are read together, 32 bytes of each, are two gaps apart then."""
        fetched = self.tile_k if self.specialised else self.tile_k // self.waves
        return not self.b_rows and 2 * self.tile_n == BANKS_BYTES and fetched % BLOCK == 0

    @property
    def b_gap(self) -> int:
        """Bytes behind rows of a B of 16 bits that fill all banks."""
        return ACCESS_BYTES if self.woven else 2 * ACCESS_BYTES

    def ring_bytes(self, rows: int, row_bytes: int, gap: int) -> int:
        """Of the tiles of a matrix in LDS, with the gaps between them."""
        return self.stages * (rows * row_bytes + rows // self.rows_to_a_gap(rows, row_bytes) * gap) - gap

    def scale_bytes(self, rows: int, warps: int) -> int:
        """Of the scales of a lane's rows in a tile, which lie together."""
        return self.steps * (rows // (warps * BLOCK)) * 4

    def scale_gap(self, rows: int, warps: int) -> int:
        """Bytes behind a lane's scales in LDS: without them, rows of 32 bytes or more begin in the same banks.

        The engine leaves gaps behind powers of two, and a wave fetches whole rows then.
        """
        width = self.scale_bytes(rows, warps)
        whole = self.specialised or warps * BLOCK % self.waves == 0
        return ACCESS_BYTES if width >= 32 and not width & (width - 1) and whole else 0

    @property
    def scales_together(self) -> bool:
        """Whether half of the waves fetch the scales of rows, half those of columns, in tiles alike."""
        (rows, m_warp), (columns, n_warp) = self.scale_tiles
        alike = rows == columns and m_warp == n_warp and 2 * m_warp * BLOCK % self.waves == 0 == self.waves % 2
        return self.scales == "warp" and alike and not self.specialised and not self.clustered

    @property
    def copies(self) -> int:
        """Tiles that a wave has a part of, or asks for alone, in every iteration."""
        return 3 if self.scales_together else 4 if self.scaled_by_groups else 2

    @property
    def attributes(self) -> dict[str, Any]:
        """What LLVM is told of the kernel."""
        return {"passthrough": [["amdgpu-expert-scheduling-mode", "true"]]} if self.expert else {}

    @property
    def clustered(self) -> bool:
        return self.cluster_m * self.cluster_n > 1

    @property
    def lds_bytes(self) -> int:
        """Of the ring, or of C on its way out."""
        half = self.a.depth == 32
        a = self.ring_bytes(self.tile_m, self.row_bytes, ACCESS_BYTES)
        b = self.ring_bytes(self.tile_n, self.b_row_bytes, ACCESS_BYTES if self.b_rows else 0)
        if half and not self.b_rows:
            b = self.ring_bytes(self.tile_k, 2 * self.tile_n, self.b_gap)
        scales = 0
        if self.scales == "warp":
            scales = sum(
                self.ring_bytes(warps * BLOCK, self.scale_bytes(rows, warps), self.scale_gap(rows, warps))
                for rows, warps in self.scale_tiles
            )
        elif self.scaled_by_groups:
            scales = self.stages * (self.tile_m + self.tile_n) * self.tile_k // SCALE_GROUP
        ring = a + b + scales
        out = self.tile_m * (self.tile_n * OUT_DTYPES[self.out_dtype].width // 8 + ACCESS_BYTES * self.n_warp)
        return max(ring, out if self.store_by_tiles else 0)

    def require_scales(self, scales: tuple[Any, Any], sizes: tuple[Any, int], ascale: int) -> None:
        """Have a launch refuse too few scales of bytes: those of groups lie in rows of a wave, or of 32."""
        if self.scales == "blocks":
            (sa, sb), (m, n), depth = scales, sizes, self.k // SCALE_BLOCK
            there = fx.Int64(fx.get_scalar(fx.cosize(sa))) * (sa.dtype.width // 8)
            fx.require(
                there >= fx.Int64(m) + (depth - 1) * ascale, "scale_a has {} bytes, and the kernel uses {}", there,
                fx.Int64(m) + (depth - 1) * ascale, hint="pass all of it, or the extents that it has",
            )  # fmt: skip
            return require_bytes(("scale_b", sb, -(-n // SCALE_BLOCK) * depth))
        if self.scales in ("none", "rows"):
            return
        units = (32, 32) if self.scales == "32x4" else (self.wave_m, self.wave_n)
        for name, array, rows, unit in zip(("scale_a", "scale_b"), scales, sizes, units, strict=True):
            padded = (fx.Int64(rows) + (unit - 1)) // unit * unit
            require_bytes((name, array, padded * (self.k // SCALE_GROUP)))


# The choice of a tile --------------------------------------------------------------------------------

UNITS = 256
"""Compute units, each of which works on a block at a time: what gfx950 has, since nothing is published of gfx1250."""
SIMDS = 4
MATRIX_CLOCKS = {"f16": 8, "bf16": 8, "fp8": 16, "fp4": 16}
"""Of an instruction of 16 x 16 on a SIMD: LLVM's scheduling model of gfx1250."""
FETCH_BYTES, LDS_BYTES_A_CLOCK, START_CLOCKS = 64, 128, 2000
"""Of a unit a clock, from L2 and from LDS; and before a block's first product and behind its last."""
CHOICES = ((256, 256, 2, 4, 2), (128, 256, 2, 4, 2), (128, 128, 2, 2, 3), (64, 128, 2, 2, 3), (64, 64, 2, 2, 3),
           (32, 64, 2, 2, 3), (16, 64, 1, 2, 3))  # fmt: skip
"""(tile_m, tile_n, m_warp, n_warp, num_buffers) to choose from."""


def estimated_clocks(plan: TilePlan, m: int, n: int) -> float:
    """Return the model: rounds of blocks over the units, each step as long as its products and reads of LDS, or
    traffic."""
    rounds = -(-(-(-m // plan.tile_m) * -(-n // plan.tile_n)) // UNITS)
    products = plan.m_reps * plan.n_reps * plan.waves * MATRIX_CLOCKS[plan.a_format] / min(SIMDS, plan.waves)
    operands = (plan.m_reps * plan.a.step_bytes + plan.n_reps * plan.b.step_bytes) * BLOCK * plan.waves
    traffic = (plan.tile_m * plan.a.step_bytes + plan.tile_n * plan.b.step_bytes) / FETCH_BYTES
    step = max(products + operands / LDS_BYTES_A_CLOCK, traffic)
    result = plan.tile_m * plan.tile_n * OUT_DTYPES[plan.out_dtype].width / 8 / FETCH_BYTES
    return rounds * (plan.iterations * plan.steps * step + result + START_CLOCKS)


@lru_cache(1024)
def ranked_plans(m: int, n: int, k: int, kind: str, out: str, **options: Any) -> list[tuple[float, TilePlan]]:
    """Plans for a product of one kind of elements with their clocks, the fewest first; K has two tiles at least."""
    found: list[tuple[float, TilePlan]] = []
    depth = FORMATS[kind].depth
    for tile_m, tile_n, m_warp, n_warp, stages in CHOICES:
        for tile_k in (4 * depth, 2 * depth, depth):
            if k % tile_k or k // tile_k < stages:
                continue
            try:
                plan = TilePlan(k, kind, kind, out, tile_m, tile_n, tile_k, m_warp, n_warp, stages, **options)
            except ValueError:  # more LDS or wider rows than there are
                continue
            found.append((estimated_clocks(plan, m, n), plan))
    least = TilePlan(k, kind, kind, out, 32, 64, depth, 2, 2, 2, **options)
    return sorted([*found, (estimated_clocks(least, m, n), least)], key=lambda one: one[0])
