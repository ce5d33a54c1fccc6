"""What a stage of a mixture of experts decides on the host, and the rows of a block on the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import flydsl.expr as fx
from flydsl.kernels.gemm.preshuffle_plan import BLOCK, LANE_COLUMNS, SCALE_BLOCK, WAVES, GemmPlan
from flydsl.kernels.gemm.result_tile import GroupTile, ResultTile
from flydsl.kernels.moe.references import SLOT_SHIFT, SWIGLU_LIMIT, TOKEN_MASK

IN_DTYPES = {
    "fp8": "fp8", "fp16": "fp16", "bf16": "bf16", "int8": "int8", "int8smooth": "int8", "int4": "int4",
    "int4_bf16": "bf16",
}  # fmt: skip
"""Kind of a stage -> elements that the GEMM multiplies."""
MIXED_DTYPES = {**IN_DTYPES, "mxfp4_bf16": "bf16"}
"""With those that only `a16w4` builds."""
OUT_DTYPES: dict[str, Any] = {"f16": fx.Float16, "fp16": fx.Float16, "bf16": fx.BFloat16, "f32": fx.Float32}
QUANTISED = {"fp4": "mxfp4", "fp8": "mxfp8", "fp8_whole": "mxfp8_whole"}
"""Results with a scale for 32 elements, by the names of their formats: FlyDSL's, and one that cuts nothing off."""
MX_GROUP = 32
"""Elements of a row that share a scale in the MX formats."""
GATES = ("silu", "swiglu", "situv2")
FAR_BYTES = 2**31 - 4096
"""An offset behind the end of every array of rows, which therefore has fewer bytes."""


@dataclass(frozen=True)
class StagePlan(GemmPlan):
    """Tiles and options of one stage: the GEMM of a block of rows with the weights of their expert.

    A gated stage has twice the columns in its GEMM: blocks of 16 of the gate and of the up projection alternate so that
    a lane holds both for its columns of the result.
    """

    experts: int = 1
    topk: int = 1
    depth: int = 0
    """Elements of a row in memory, of which the GEMM multiplies ``k``."""
    gated: bool = False
    weighted: bool = False
    by_slot: bool = False
    """Whether there is a row of A for each slot of a token: before the other rows of its token, or behind all of it."""
    smooth: bool = False
    out: str = "f16"
    accumulate: bool = False
    act: str = "silu"
    limit: float = 0.0
    betas: tuple[float, float] = (1.0, 1.0)
    """Where "situv2" bends gate and up."""
    biased_rows: bool = False
    nibbles: str = ""
    """What four-bit weights hold that are widened to the rows' type, where they are."""
    group: int = 0
    """Elements along K of weights that share a scale; 0 if all of a row do."""
    group_scales: str = "columns"
    """How scales of groups lie, see `nibble_weights`."""
    scaled_blocks: bool = False
    """Whether sums are scaled before they are complete."""
    mx: tuple[str, str] = ("", "")
    """Formats of rows and weights with a scale for 32 elements, if they have such: fp4 or fp8."""
    unit_rows: bool = False
    """Whether such scales of rows are all 1."""
    interleaved: bool = False
    """Whether blocks of 16 rows of gate and up weights alternate in memory."""
    row_scales: str = ""
    """Where scales of a quantised result go that do not lie in the order: "apart", or "behind" the codes of a row."""
    k_batch: int = 1
    scales_by_row: bool = False
    """Whether a row's scales of blocks lie side by side, and not those of a block."""
    rows_in_order: bool = False
    """Whether rows of A lie as the order lists them."""
    result_in_order: bool = False
    unit: int = 0
    """Entries of the order that share an expert, if they are more than a tile's."""

    def __post_init__(self) -> None:
        super().__post_init__()
        outs = (*OUT_DTYPES, *QUANTISED) if self.gated or self.row_scales else OUT_DTYPES
        for name, value, known in (("out_dtype", self.out, outs), ("act", self.act, GATES)):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
        for name, value in (("experts", self.experts), ("topk", self.topk)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        if self.group and (not self.nibbles or self.group != self.chunk or self.depth % (2 * self.group)):
            raise ValueError(
                f"group_size must be -1, or {self.chunk} where four-bit weights meet 16-bit rows of a multiple of "
                f"{2 * self.chunk}; got {self.group}"
            )
        if self.block_rows % self.tile_m:
            raise ValueError(f"a tile of {self.tile_m} rows must divide the {self.block_rows} that share an expert")

    def _multiples(self) -> tuple[tuple[str, int, int], ...]:
        by_name = {name: (name, value, step) for name, value, step in super()._multiples()}
        del by_name["tile_m * tile_k * bytes of an element"]  # rows are gathered, and LDS is padded to whole passes
        columns = "inter_dim" if self.gated else "model_dim"
        by_name["tile_n"] = ("tile_n", self.tile, BLOCK * WAVES)
        by_name["N"] = (columns, self.columns, self.tile)
        by_name["K"] = ("the other dimension, or its part of a batch,", self.k, self.tile_k)
        return tuple(by_name.values())

    @property
    def columns(self) -> int:
        """Columns of the result."""
        return self.n // self.parts

    @property
    def tile(self) -> int:
        """Columns of a block's result."""
        return self.tile_n // self.parts

    @property
    def parts(self) -> int:
        """Products that a number of the result is made of."""
        return 2 if self.gated else 1

    @property
    def scaled(self) -> bool:
        """Whether sums are scaled, by rows or columns."""
        return not self.scaled_blocks and (self.elem_bytes == 1 or (bool(self.nibbles) and not self.group))

    @property
    def b_loads(self) -> int:
        return self.column_tiles * (2 if self.group else 1) if self.nibbles else super().b_loads

    @property
    def b_depth(self) -> int:
        return self.depth // 2 if self.packed or self.mx == ("fp8", "fp4") else self.depth

    @property
    def block_rows(self) -> int:
        return self.unit or self.tile_m

    @property
    def split(self) -> bool:
        """Whether several blocks along K add to the same sums."""
        return self.k_batch > 1

    @property
    def quantised(self) -> bool:
        """Whether the result has a scale for 32 elements."""
        return self.out in QUANTISED

    @property
    def exchanged(self) -> bool:
        """Whether results pass through LDS, so that lanes store neighbours."""
        return not self.split and self.out != "f32"

    @property
    def exchange(self) -> ResultTile:
        """How results lie in LDS on their way."""
        if self.quantised:
            return GroupTile(self.tile, fx.Float32, LANE_COLUMNS)
        return ResultTile(self.tile, OUT_DTYPES[self.out], LANE_COLUMNS)

    @property
    def lds_elements(self) -> int:
        needed = self.tile_m * self.exchange.row_bytes if self.exchanged else 0
        return max(super().lds_elements, needed // self.elem_bytes)

    @property
    def out_row_bytes(self) -> int:
        """Bytes from a row of codes to the next: behind them an eighth of as many is for scales, where they are."""
        codes = self.columns // 2 if self.out == "fp4" else self.columns
        return codes + codes // 8 if self.row_scales == "behind" else codes

    @property
    def source_bytes(self) -> int:
        """Of a row of A."""
        return self.depth * self.elem_bytes

    @property
    def source_scales(self) -> int:
        """Scales of a row of A that lie as the rows do."""
        if self.scaled_blocks:
            return 0 if self.mx[0] else self.depth // SCALE_BLOCK
        return 1 if self.scaled and self.elem_bytes == 1 else 0

    @property
    def weight_bytes(self) -> int:
        """Of all experts."""
        row = self.depth // 2 if self.nibbles else self.b_depth * self.elem_bytes
        return self.experts * self.n * row

    @property
    def weight_scales(self) -> int:
        """Of all experts; 0 where weights have none."""
        if self.mx[0]:
            return self.experts * self.n * (self.depth * (2 if self.mx[0] == "fp4" else 1) // MX_GROUP)
        if self.scaled_blocks:
            return self.experts * (self.n // SCALE_BLOCK) * (self.depth // SCALE_BLOCK)
        of_row = self.depth // self.group if self.group else int(self.scaled)
        return self.experts * self.n * of_row

    @property
    def byte_scales(self) -> bool:
        """Whether scales are exponents of a byte each, in arrays of any type."""
        return bool(self.mx[0]) or self.group_scales == "e8m0"

    @property
    def swiglu_limit(self) -> float:
        return self.limit or SWIGLU_LIMIT

    def stage_blocks(self, blocks: Any) -> tuple[Any, int, int]:
        """Return the grid: columns of a block of rows side by side, parts of K in the third dimension."""
        tiles = self.block_rows // self.tile_m
        return blocks * (tiles * (self.columns // self.tile)), 1, self.k_batch


class Entry(NamedTuple):
    """An entry of the order: which expert of which token it is, and where it stands."""

    token: fx.Int32
    slot: Any
    place: fx.Int32


class Rows:
    """The rows of a block, as the order lists them. A row of padding is none: it loads and stores nothing."""

    def __init__(self, plan: Any, ids: Any, weights: Any, block: Any, tokens: Any) -> None:
        self.plan, self.ids, self.weights, self.tokens = plan, ids, weights, tokens
        self.first = block * plan.tile_m

    def entry(self, row: fx.Int32) -> tuple[Entry, Any]:
        """Return the entry of a row, and whether it is one."""
        place = self.first + row
        word = fx.Int32(self.ids[place])
        token, slot = word & TOKEN_MASK, word >> SLOT_SHIFT
        return Entry(token, slot, place), (token < self.tokens) & (slot >= 0) & (slot < self.plan.topk)

    @property
    def sources(self) -> Any:
        """Rows of A that may be read."""
        if self.plan.rows_in_order:
            return self.first + self.plan.tile_m  # none behind this block is read
        return self.tokens * self.plan.topk if self.plan.by_slot else self.tokens

    def source(self, entry: Entry) -> Any:
        """Return the row of A of an entry."""
        if self.plan.rows_in_order or not self.plan.by_slot:
            return entry.place if self.plan.rows_in_order else entry.token
        if self.plan.smooth:
            return entry.slot * self.tokens + entry.token
        return entry.token * self.plan.topk + entry.slot

    def target(self, entry: Entry) -> Any:
        """Return the row of the result of an entry."""
        if self.plan.result_in_order:
            return entry.place
        return entry.token if self.plan.accumulate else entry.token * self.plan.topk + entry.slot

    def weight(self, row: fx.Int32, valid: Any) -> Any:
        return valid.select(fx.Float32(self.weights[self.first + row]), fx.Float32(0))
