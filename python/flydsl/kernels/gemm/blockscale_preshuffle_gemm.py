"""The preshuffle GEMM of fp8 with a scale for every 128 elements of K, for AMD's matrix cores (gfx942, gfx950).

gemm = compile_blockscale_preshuffle_gemm(M=0, N=7168, K=2304, tile_m=64, tile_n=128, tile_k=128)
gemm(C, A, shuffle_weight(B), scale_a, scale_b, M, N, stream)

C[m, n] = sum over blocks kb of (sum of A[m, k] * B[n, k] over the k of kb) * scale_a[kb, m] * scale_b[n / 128, kb].
``scale_a`` is f32 of shape [K/128][M], a row for each block, with the M of the call; ``scale_b`` f32 [N/128][K/128].

It is the pipeline of `preshuffle_gemm` with sums of one block at a time, begun at zero and added to the total with
their scale. The scales of a tile are fetched while the tile before it is multiplied.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import buffer_ops, rocdl
from flydsl.kernels.blocks.inputs import require_whole
from flydsl.kernels.blocks.limits import hint_waves
from flydsl.kernels.gemm.matrix_cores import BLOCK
from flydsl.kernels.gemm.preshuffle.rows import multiply_row
from flydsl.kernels.gemm.preshuffle_gemm import Pipeline, multiply_in_blocks, tiled_instruction
from flydsl.kernels.gemm.preshuffle_plan import THREADS, WAVES, GemmPlan

SCALE_BLOCK = 128
"""Elements of K, and columns of B, that share a scale."""
FEW_SUMS = 32
"""Of a lane. November 2026: 154 vector registers on gfx942 if three waves are asked for, and with twice as many sums
spills; 124 on gfx950 if four are."""
LDS_BYTES = 64 * 1024
"""Of a unit of gfx942."""


class BlockSums:
    """What makes a pipeline add up the products of a block of K before it scales them."""

    def make_sums(self: Any) -> None:
        """Registers for the sums of a block, and for the scales of two tiles."""
        plan = self.plan
        self.blocks = plan.tile_k // SCALE_BLOCK
        self.sums = self.tiled.make_fragment_C(fx.make_identity_tensor((plan.tile_n, plan.tile_m)))
        self.number = fx.make_copy_atom(rocdl.BufferCopy32b(), fx.Float32)
        self.row_scales = [fx.make_rmem_tensor((plan.row_tiles, self.blocks), fx.Float32) for _ in range(2)]
        self.column_scales = [fx.make_rmem_tensor((plan.column_tiles, self.blocks), fx.Float32) for _ in range(2)]

    def fetch_scales(self: Any, tile: int, block: int, at: Any) -> None:
        """The scales of a block of a tile, which is block ``at`` along K."""
        raise NotImplementedError

    def load_b(self: Any, tile: int, chunk: int, after: Any = 0) -> None:
        if chunk == 0:
            self.load_scales(tile, after)
        super().load_b(tile, chunk, after)  # pyright: ignore[reportAttributeAccessIssue]

    def load_scales(self: Any, tile: int, after: Any) -> None:
        """Fetch the scales of a tile; where there is none they are those of the last, which nobody uses."""
        last = self.plan.k // SCALE_BLOCK - 1
        for block in range(self.blocks):
            at = fx.min(fx.Int32((after + tile * self.plan.tile_k) // SCALE_BLOCK + block), fx.Int32(last))
            self.fetch_scales(tile, block, at)

    def multiply(self: Any, tile: int, chunk: int) -> None:
        block, place = divmod(chunk * self.plan.chunk, SCALE_BLOCK)
        if place == 0:
            self.sums.fill(0.0)
        super().multiply(tile, chunk)  # pyright: ignore[reportAttributeAccessIssue]
        if place + self.plan.chunk == SCALE_BLOCK:
            self.add_block(tile, block)

    def add_products(self: Any, a: Any, b: Any, tile: int, chunk: int) -> None:
        state = dict(self.instruction.state)
        fx.gemm(self.tiled, self.sums, b, a, self.sums, traversal_order="MKN", **state)

    def multiply_row(self: Any, tile: int, row: int) -> None:
        """Sums of 16 rows are scaled beside the products of the next, which take as long as they need to be there."""
        last = self.plan.row_tiles - 1
        self.sums[None, None, row].fill(0.0)
        multiply_row(self, self.sums, tile, row)
        for done in ((row - 1,) if row else ()) + ((row,) if row == last else ()):
            self.add_row(tile, done, 0)

    def add_block(self: Any, tile: int, block: int) -> None:
        """The sums of a block, scaled, to the total."""
        for row in range(self.plan.row_tiles):
            self.add_row(tile, row, block)

    def add_row(self: Any, tile: int, row: int, block: int) -> None:
        rows, columns = self.row_scales[tile % 2], self.column_scales[tile % 2]
        for j in range(self.plan.column_tiles):
            part, total = self.sums[None, j, row], self.total[None, j, row]
            total.store(fx.math.fma(part.load(), rows[row, block] * columns[j, block], total.load()))


class BlockScaledPipeline(BlockSums, Pipeline):
    """The preshuffle GEMM's pipeline with sums of blocks."""

    WINDOW = 2  # with three there is room for one wave less on a SIMD

    def __init__(self, plan: GemmPlan, A: Any, B: Any, scales: tuple[Any, Any], m: Any, at: tuple[Any, Any]) -> None:
        column, row = at
        super().__init__(plan, A, B, m, column, row)
        plan = self.plan
        self.make_sums()
        self.m, self.row, self.scale_loads = m, row, plan.row_tiles
        numbers = -(-plan.n // SCALE_BLOCK) * (plan.k // SCALE_BLOCK)
        self.scale_b = buffer_ops.create_buffer_resource(scales[1], max_size=False, num_records_bytes=4 * numbers)
        records = fx.Int64(m) * (plan.k // SCALE_BLOCK * 4)
        rows = fx.make_view(
            rocdl.make_buffer_ptr(fx.get_iter(scales[0]), records),
            fx.make_layout((plan.tile_n, plan.tile_m), (0, 1)),
        )
        self.a_scales = self.tiled.get_slice(self.thread).partition_C(rows)[0, 0, None]
        columns = [column * plan.tile_n + BLOCK * WAVES * j for j in range(plan.column_tiles)]
        self.rows_of_b = [first // SCALE_BLOCK * (plan.k // SCALE_BLOCK) for first in columns]

    def fetch_scales(self, tile: int, block: int, at: Any) -> None:
        offset = at * self.m + self.row * self.plan.tile_m
        fx.copy(self.number, self.a_scales, self.row_scales[tile % 2][None, block], soffset=offset)
        for j, first in enumerate(self.rows_of_b):
            # Beside copies into LDS a scalar load would wait for them: it writes a register that they read.
            found = buffer_ops.buffer_load(self.scale_b, first + at, 1, fx.Float32, is_scalar=not self.plan.copied)
            self.column_scales[tile % 2][j, block] = found


def waves_beside(plan: GemmPlan) -> dict[str, int]:
    """Return how many waves are to share a SIMD where a lane has 32 sums: one more than LLVM leaves room for by itself.

    They are four where an instruction covers a block, A is copied, so that few rows of it are in registers at once, and
    a wave has no more than 32 columns; and three where several instructions cover a block.
    """
    waves = 3 if tiled_instruction(plan).chunk < SCALE_BLOCK else 4 if plan.copied and plan.column_tiles <= 2 else 0
    few = plan.tile_k == SCALE_BLOCK and plan.tile_m * plan.tile_n == FEW_SUMS * THREADS
    fits = waves * plan.lds_elements * plan.elem_bytes <= LDS_BYTES
    return {"rocdl.waves_per_eu": waves} if waves and few and fits else {}


@cache
def compile_blockscale_preshuffle_gemm(
    *, M: int = 0, N: int, K: int, tile_m: int, tile_n: int, tile_k: int, scale_block_k: int = SCALE_BLOCK,
    out_dtype: str = "bf16", use_cshuffle_epilog: bool = False, waves_per_eu: int | None = None,
    use_async_copy: bool = False,
) -> Any:  # fmt: skip
    """Return the launcher ``gemm(C, A, B_shuffled, scale_a, scale_b, M, N, stream)``; ``M`` here is a hint, and may
    differ.

    ``use_async_copy`` brings A into LDS without registers, ``use_cshuffle_epilog`` stores C in rows, by way of LDS.
    """
    if scale_block_k != SCALE_BLOCK:
        raise ValueError(f"scale_block_k must be {SCALE_BLOCK}, got {scale_block_k}")
    for name, value in (("tile_k", tile_k), ("K", K)):
        if value <= 0 or value % SCALE_BLOCK:
            raise ValueError(f"{name} must be a positive multiple of {SCALE_BLOCK}, a block of scales; got {value}")
    plan = GemmPlan(N, K, tile_m, tile_n, tile_k, "fp8", out_dtype, scheduled=False, copied=use_async_copy,
                    shuffled_store=use_cshuffle_epilog)  # fmt: skip

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def blockscale_gemm_kernel(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, scale_a: fx.Tensor, scale_b: fx.Tensor, m: fx.Int32
    ):
        multiply_in_blocks(BlockScaledPipeline, C, A, B, (scale_a, scale_b), m, plan)

    @flyc.jit
    def blockscale_gemm(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, scale_a: fx.Tensor, scale_b: fx.Tensor, M: fx.Int32,
        N: fx.Constexpr[int], stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        plan.require_call(N, ("gfx942", "gfx950"))
        require_whole(C, A, B)
        beside = waves_beside(plan) if waves_per_eu is None else {}
        blockscale_gemm_kernel(C, A, B, scale_a, scale_b, M, value_attrs=beside).launch(
            grid=plan.blocks(M), block=(THREADS, 1, 1), stream=stream
        )

    return hint_waves(blockscale_gemm, waves_per_eu)
