"""What a stage of experts on gfx1250 decides on the host: the tiles of its product, and what becomes of the sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flydsl.kernels.gemm.result_tile import ResultTile
from flydsl.kernels.gemm.wmma.gfx1250_plan import ACCESS_BYTES, SCALE_GROUP, TilePlan
from flydsl.kernels.moe.moe_gemm_2stage.stage_plan import OUT_DTYPES
from flydsl.kernels.moe.references import SWIGLU_LIMIT

IN_DTYPES = {"fp16": ("f16", "f16"), "f16": ("f16", "f16"), "bf16": ("bf16", "bf16"), "fp4": ("fp4", "fp4"),
             "fp8": ("fp8", "fp8"), "a8w4": ("fp8", "fp4")}  # fmt: skip
"""Kind of a stage -> elements of rows and of weights."""
GATHERED = 8
"""Rows that the tensor data mover fetches by one descriptor of 32-bit numbers."""
EIGHT = 8
"""Neighbouring columns of one row that a lane has of an instruction."""
SCALE_ROWS = 32
"""Rows of weights whose scales lie together."""


@dataclass(frozen=True)
class ExpertPlan(TilePlan):
    """Tiles and options of one stage: a block of rows with the weights of their expert.

    A gated stage has twice the columns in its product: a wave has the same columns of gate and up.
    """

    experts: int = 1
    topk: int = 1
    columns: int = 0
    """Of the result."""
    gated: bool = False
    weighted: bool = False
    by_slot: bool = False
    """Whether there is a row of A for each slot of a token."""
    out: str = "f16"
    accumulate: bool = False
    act: str = "silu"
    smooth: bool = False
    rows_in_order: bool = False
    result_in_order: bool = False
    quantised: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.columns <= 0 or self.columns % self.tile:
            name = "inter_dim" if self.gated else "model_dim"
            raise ValueError(f"{name} must be a positive multiple of tile_n = {self.tile}, got {self.columns}")
        if self.scaled_by_groups and self.tile % SCALE_ROWS:
            raise ValueError(f"tile_n must be a multiple of {SCALE_ROWS}, whose scales lie together; got {self.tile}")
        for name, value in (("experts", self.experts), ("topk", self.topk)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")

    @property
    def n(self) -> int:
        """Rows of an expert's weights."""
        return self.columns * self.parts

    @property
    def parts(self) -> int:
        """Products that a number of the result is made of."""
        return 2 if self.gated else 1

    @property
    def tile(self) -> int:
        """Columns of a block's result."""
        return self.tile_n // self.parts

    @property
    def part_reps(self) -> int:
        """Instructions of a wave along N in one part."""
        return self.n_reps // self.parts

    @property
    def blocks(self) -> int:
        return super().blocks if self.part_reps % 2 == 0 else 1

    @property
    def wave_rows(self) -> int:
        """Rows of a tile that a wave fetches."""
        return self.tile_m // self.waves

    @property
    def copies(self) -> int:
        """What a wave asks of the tensor data mover for every iteration: its rows, and weights with their scales."""
        return -(-self.wave_rows // GATHERED) + self.parts * (2 if self.scaled_by_groups else 1)

    @property
    def split(self) -> bool:
        return self.split_k > 1

    @property
    def exchanged(self) -> bool:
        """Whether results pass through LDS, so that lanes store neighbours."""
        return not self.split and self.out != "f32"

    @property
    def exchange(self) -> ResultTile:
        """How results lie in LDS on their way."""
        return ResultTile(self.tile, OUT_DTYPES[self.out], EIGHT)

    @property
    def source_bytes(self) -> int:
        """Of a row of A."""
        return self.k // self.a.depth * self.a.step_bytes

    @property
    def source_scales(self) -> int:
        return self.k // SCALE_GROUP if self.scaled_by_groups else 0

    @property
    def weight_bytes(self) -> int:
        """Of all experts."""
        return self.experts * self.n * (self.k // self.b.depth * self.b.step_bytes)

    @property
    def weight_scales(self) -> int:
        return self.experts * self.n * self.source_scales

    @property
    def byte_scales(self) -> bool:
        return self.scaled_by_groups

    @property
    def swiglu_limit(self) -> float:
        return SWIGLU_LIMIT

    @property
    def lds_bytes(self) -> int:
        scales = self.tile_n * self.tile_k // SCALE_GROUP if self.scaled_by_groups else 0
        ring = self.stages * (self.tile_m * (self.row_bytes + ACCESS_BYTES) + self.tile_n * self.b_row_bytes + scales)
        return max(ring, self.tile_m * self.exchange.row_bytes if self.exchanged else 0)

    def grid(self, blocks: Any) -> tuple[Any, int, int]:
        """Blocks of rows, tiles of columns, parts of K."""
        return blocks, self.columns // self.tile, self.split_k
