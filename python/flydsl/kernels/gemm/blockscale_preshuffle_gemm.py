"""The preshuffle GEMM of fp8 with a scale for every 128 elements of K, for AMD's matrix cores (gfx942, gfx950).

gemm = compile_blockscale_preshuffle_gemm(M=0, N=7168, K=2304, tile_m=64, tile_n=128, tile_k=128)
gemm(C, A, shuffle_weight(B), scale_a, scale_b, M, N, stream)

C[m, n] = sum over blocks kb of (sum of A[m, k] * B[n, k] over the k of kb) * scale_a[kb, m] * scale_b[n / 128, kb].
``scale_a`` is f32 of shape [K/128][M], a row for each block, with the M of the call; ``scale_b`` f32 [N/128][K/128].

It is the pipeline of `preshuffle_gemm` with sums of one block at a time, begun at zero and added to the total with
their scale. The scales of a tile are fetched while the tile before it is multiplied.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import buffer_ops, rocdl
from flydsl.kernels.blocks.inputs import require_elements, require_type
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.limits import hint_waves
from flydsl.kernels.gemm.matrix_cores import BLOCK
from flydsl.kernels.gemm.preshuffle.rows import multiply_row, steps_of
from flydsl.kernels.gemm.preshuffle_gemm import Pipeline, multiply_all, multiply_in_blocks, tiled_instruction
from flydsl.kernels.gemm.preshuffle_plan import SCALE_BLOCK, THREADS, WAVES, GemmPlan

FEW_SUMS = 32
"""Of a lane. November 2026: 126 vector registers on gfx942 and 124 on gfx950 if four waves are asked for, and with
twice as many sums spills."""
OWN_OFFSETS = 1 << 12
"""Bytes that the offset of a load's instruction may say, beside its registers."""
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
    TWO_ROWS = False
    """Whether sums of two blocks of 16 rows are held, and not of all."""

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

    def results(self) -> Any:
        return self.total

    def registers(self, plan: GemmPlan) -> int:
        """Return the registers of a lane, with the sums of a block, or of two blocks of rows, and two tiles' scales."""
        sums = plan.sums * 2 // plan.row_tiles if self.by_rows or self.TWO_ROWS else plan.sums
        return super().registers(plan) + sums + 2 * self.blocks * (plan.row_tiles + plan.column_tiles)

    def fetch_scales(self, tile: int, block: int, at: Any) -> None:
        offset = at * self.m + self.row * self.plan.tile_m
        fx.copy(self.number, self.a_scales, self.row_scales[tile % 2][None, block], soffset=offset)
        for j, first in enumerate(self.rows_of_b):
            # Beside copies into LDS a scalar load would wait for them: it writes a register that they read.
            found = buffer_ops.buffer_load(self.scale_b, first + at, 1, fx.Float32, is_scalar=not self.plan.copied)
            self.column_scales[tile % 2][j, block] = found


class RowBlockPipeline(BlockScaledPipeline):
    """Tiles one block of scales deep, multiplied 16 rows at a time, where A passes through registers on its way to LDS.

    Sums of two blocks of rows are there, not of all: they are scaled beside the products of the rows behind them, those
    of a tile's last rows in the next tile. What is fetched comes where registers are free: the second half of B's next
    tile once A is in LDS, and A's beside the last products.

    Places along K are offsets of lanes that grow with the loop, one for an access of a thread. What tells tiles and
    chunks apart is constant, and a part of instructions. The loop ends before the last tiles, with less or nothing to
    fetch, so that it has nothing to choose.
    """

    TWO_ROWS = True

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.last = self.plan.row_tiles - 1
        self.alike = SCALE_BLOCK // (BLOCK * WAVES) if self.plan.tile_n % SCALE_BLOCK == 0 else 1
        """Blocks of a wave's columns, side by side, that have the same scale."""
        self.behind = fx.make_rmem_tensor((self.plan.column_tiles,), fx.Float32)
        """The scales of the last rows of the tile before, of whose sums the total has nothing yet."""
        self.behind.fill(0.0)
        self.sums.fill(0.0)
        self.next_columns = fx.make_rmem_tensor((self.plan.column_tiles,), fx.Float32)

    def load_a(self, tile: int, after: Any = 0) -> None:
        fx.copy(self.buffer, moved(self.a_in_memory, after + tile * self.plan.tile_k), self.fetched)

    def load_b(self, tile: int, chunk: int, after: Any = 0) -> None:
        plan, at = self.plan, after * BLOCK
        far, near = divmod((tile * plan.tile_k + chunk * plan.chunk) * BLOCK, OWN_OFFSETS)
        # Of a number that LLVM does not know to grow with the loop it makes no registers of all places.
        at = at if isinstance(at, int) else rocdl.readfirstlane(fx.Int32(at))
        view = moved(self.b.in_memory[None, 0, 0], at + near)
        for column in range(plan.column_tiles):
            offset = far * OWN_OFFSETS + column * (WAVES * BLOCK * plan.k)
            fx.copy(self.b.access, view, self.b.fetched[tile % 2][None, column, chunk], soffset=offset)

    def load_scales_of(self, tile: int, after: Any, left: int) -> None:
        """Fetch the scales of a tile behind which ``left`` are; of columns those of an even one with the one before."""
        at = after // SCALE_BLOCK
        rows = moved(self.a_scales, self.row * self.plan.tile_m + at * self.m)
        fx.copy(self.number, rows, self.row_scales[tile % 2][None, 0], soffset=self.m * tile)
        for j, first in enumerate(self.rows_of_b):
            if tile == 2:
                self.column_scales[0][j, 0] = self.next_columns[j]
            elif tile == 1 and left:
                four = buffer_ops.buffer_load(self.scale_b, first + at + tile, 4, fx.Float32, is_scalar=True)
                self.column_scales[1][j, 0], self.next_columns[j] = four[0], four[1]
            else:
                one = buffer_ops.buffer_load(self.scale_b, first + at + tile, 1, fx.Float32, is_scalar=True)
                self.column_scales[tile][j, 0] = one

    def start(self) -> None:
        plan = self.plan
        self.load_a(0)
        for chunk in range(plan.chunks):
            self.load_b(0, chunk)
        rocdl.sched_barrier(0)  # the loop counts on the order of loads
        self.stage_a(0)
        self.load_scales_of(0, 0, 0)
        rocdl.sched_barrier(0)
        if plan.iterations > 1:
            self.load_a(1)
        self.meet()
        for row in range(self.WINDOW):
            self.read_rows(0, row)

    def step_rows(self, tile: int, after: Any, left: int) -> None:
        """Multiply a tile behind which ``left`` are; the next goes to LDS and to registers, of the one behind it A."""
        plan, rows, window = self.plan, self.plan.row_tiles, self.WINDOW
        reads = plan.chunks * plan.accesses  # of 16 rows
        staging = max(rows - window - 1, 0)
        if left:
            self.load_b(tile + 1, 0, after)
            rocdl.sched_barrier(0)
        behind_b = self.scale_loads + (plan.a_loads + plan.b_loads if left else 0)
        for row in range(rows):
            later = reads + (plan.a_loads if row - 1 == staging else 0) if row < rows - 1 or left else 0
            rocdl.s_waitcnt(lgkmcnt=later, **({"vmcnt": behind_b} if row == 0 else {}))
            rocdl.sched_barrier(0)
            fetch = row == self.last and left > 1
            self.multiply_row(tile, row, (lambda: self.load_a(tile + 2, after)) if fetch else None)
            if row == staging and left:
                rocdl.s_waitcnt(vmcnt=plan.b_loads)
                self.stage_a(tile + 1)
                rocdl.sched_barrier(0)
                for chunk in range(1, plan.chunks):
                    self.load_b(tile + 1, chunk, after)
            if row == rows - window and left:
                self.meet()
                self.load_scales_of(tile + 1, after, left - 1)
            if row + window < rows:
                self.read_rows(tile, row + window)
            elif left:
                self.read_rows(tile + 1, row + window - rows)
        for j in range(0, plan.column_tiles, self.alike):
            self.behind[j] = self.row_scales[tile % 2][self.last, 0] * self.column_scales[tile % 2][j, 0]
        if not left:
            self.add_last()

    def multiply_row(self, tile: int, row: int, fetch: Any = None) -> None:
        """The products of 16 rows; before the last step the rows in front of them are scaled, and ``fetch`` is called.

        So many products before that their sums are there.
        """
        steps = steps_of(self)
        before = max(len(steps) - 1, 1)
        self.sums[None, None, row].fill(0.0)
        multiply_row(self, self.sums, tile, row, steps[:before])
        rocdl.sched_barrier(0)
        if row == 0:
            self.add_last()
        else:
            self.add_row(tile, row - 1, 0)
        rocdl.sched_barrier(0)
        if fetch is not None:
            fetch()
            rocdl.sched_barrier(0)
        multiply_row(self, self.sums, tile, row, steps[before:])
        rocdl.sched_barrier(0)

    def add_last(self) -> None:
        """The sums of a tile's last rows to the total."""
        for j in range(self.plan.column_tiles):
            part, total = self.sums[None, j, self.last], self.total[None, j, self.last]
            total.store(fx.math.fma(part.load(), self.behind[j // self.alike * self.alike], total.load()))


def takes_rows(plan: GemmPlan) -> bool:
    """Return whether several instructions cover a tile that is a block deep, and A passes through registers."""
    alone = plan.tile_k == SCALE_BLOCK and not plan.copied and plan.row_tiles >= RowBlockPipeline.WINDOW
    return alone and tiled_instruction(plan).chunk < SCALE_BLOCK


def moved(view: Any, by: Any) -> Any:
    """Return a view so many elements behind another."""
    return fx.make_view(fx.get_iter(view) + by, view.layout)


@flyc.jit
def multiply_rows(pipeline: RowBlockPipeline, plan: GemmPlan) -> None:
    """The loop over K, two tiles an iteration, and the two or three last tiles."""
    pipeline.start()
    pairs = max(plan.iterations - 2, 0) // 2
    for pair in range(pairs):
        for tile in fx.range_constexpr(2):
            pipeline.step_rows(tile, pair * (2 * plan.tile_k), 2)
    tiles = plan.iterations - 2 * pairs
    for tile in fx.range_constexpr(tiles):
        pipeline.step_rows(tile, pairs * (2 * plan.tile_k), tiles - 1 - tile)


def waves_beside(plan: GemmPlan) -> dict[str, int]:
    """Return how many waves are to share a SIMD where a lane has 32 sums: one more than LLVM leaves room for by itself.

    They are four where few rows of A and of sums are in registers at once, and a wave has no more than 32 columns; and
    three where several instructions cover a block otherwise.
    """
    deep = tiled_instruction(plan).chunk == SCALE_BLOCK
    waves = 4 if ((deep and plan.copied) or takes_rows(plan)) and plan.column_tiles <= 2 else 0 if deep else 3
    few = plan.tile_k == SCALE_BLOCK and plan.tile_m * plan.tile_n == FEW_SUMS * THREADS
    fits = waves * plan.lds_elements * plan.elem_bytes <= LDS_BYTES
    return {"rocdl.waves_per_eu": waves} if waves and few and fits else {}


@kept
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
        kind, loop = (RowBlockPipeline, multiply_rows) if takes_rows(plan) else (BlockScaledPipeline, multiply_all)
        multiply_in_blocks(kind, C, A, B, (scale_a, scale_b), m, plan, loop)

    @flyc.jit
    def blockscale_gemm(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, scale_a: fx.Tensor, scale_b: fx.Tensor, M: fx.Int32,
        N: fx.Constexpr[int], stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        plan.require_call(N, ("gfx942", "gfx950"))
        blocks = K // SCALE_BLOCK
        scales = ("scale_a", scale_a, fx.Int64(M) * blocks), ("scale_b", scale_b, -(-N // SCALE_BLOCK) * blocks)
        require_type((scale_a, scale_b), fx.Float32)
        require_elements(*plan.matrices(C, A, B, M), *scales)
        beside = waves_beside(plan) if waves_per_eu is None else {}
        blockscale_gemm_kernel(C, A, B, scale_a, scale_b, M, value_attrs=beside).launch(
            grid=plan.blocks(M), block=(THREADS, 1, 1), stream=stream
        )

    return hint_waves(blockscale_gemm, waves_per_eu)
