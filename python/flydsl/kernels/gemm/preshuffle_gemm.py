"""A matrix product whose weights are shuffled ahead of time, for AMD's matrix cores (gfx90a, gfx942, gfx950).

gemm = compile_preshuffle_gemm(N=4096, K=4096, tile_m=128, tile_n=128, tile_k=64, in_dtype="fp16", out_dtype="fp16")
gemm(C, A, shuffle_weight(B), scale_a, scale_b, bias, M, N, stream)

C[m, n] = act((sum of A[m, k] * B[n, k] over k) * scale_a[m] * scale_b[n] + bias[n]). A, B and C are contiguous. Scales
are read for 8-bit inputs, the bias where the epilogue names it; what is not read may be any array. M differs per call.
With in_dtype="int4" A is int8 and B holds two weights a byte: pack_int4(shuffle_weight(B)).

A goes from global memory into one of two tiles of LDS, where the 16-byte pieces of a row are exchanged by the number of
the row so that banks do not collide. B was put in the order in which lanes want it, so it
goes from global memory straight to registers. What lies beyond the last row of A reads as zero, and is not stored to C:
the buffer descriptors end there.

The instruction gets B as its first operand and A as its second, so that a lane ends with four neighbouring columns of
one row of C.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.kernels.blocks.activation import ACTIVATIONS
from flydsl.kernels.blocks.inputs import require_elements
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.limits import hint_waves
from flydsl.kernels.gemm.lds_operands import Loader, exchange_of
from flydsl.kernels.gemm.lds_plan import LANES
from flydsl.kernels.gemm.matrix_cores import ACCESS_BYTES, BLOCK, Instruction, instruction_for
from flydsl.kernels.gemm.preshuffle.registers import of_tile, require_registers
from flydsl.kernels.gemm.preshuffle.rows import WINDOW, multiply_row, step_by_rows
from flydsl.kernels.gemm.preshuffle.tile_store import rows_from, store_tile
from flydsl.kernels.gemm.preshuffle.weights import FourBitWeights, Weights, weights_from
from flydsl.kernels.gemm.preshuffle_plan import (
    CHIPLETS,
    LEAD,
    THREADS,
    WAVES,
    GemmPlan,
    shuffle_weight,
)
from flydsl.kernels.quant.shuffles import pack_int4

# Memory ----------------------------------------------------------------------------------------------


def row_exchange(plan: GemmPlan) -> Any:
    """Pieces of 16 bytes of a row, exchanged by its number."""
    bits = (plan.row_bytes // ACCESS_BYTES).bit_length() - 1
    return fx.static(fx.SwizzleType.get(bits, plan.piece.bit_length() - 1, bits))


def lds_tiles(plan: GemmPlan, storage: Any, rows: int, swizzle: Any) -> list[Any]:
    """Rows of the tiles of A in LDS, (row, k) for each stage, with the pieces of a row exchanged."""
    layout = fx.make_layout((rows, plan.tile_k, plan.lds_stages), (plan.tile_k, 1, plan.staged_rows * plan.tile_k))
    tiles = fx.make_view(storage, fx.make_composed_layout(swizzle, layout))
    return [tiles[None, None, stage] for stage in range(plan.lds_stages)]


def row_copy(atom: Any, plan: GemmPlan) -> Any:
    """Neighbouring threads take neighbouring 16-byte pieces of a row of a tile of A."""
    across = plan.row_bytes // ACCESS_BYTES
    threads = fx.make_layout((THREADS // across, across), (across, 1))
    return fx.make_tiled_copy_tv(atom, threads, fx.make_layout((1, plan.piece), (0, 1)))


def tiled_instruction(plan: GemmPlan) -> Instruction:
    """Return the instruction of a plan. Waves lie side by side along N, its first mode."""
    return instruction_for(plan.in_dtype, fx.make_layout((WAVES, 1, 1), (1, 0, 0)), plan.tile_k)


# The pipeline ----------------------------------------------------------------------------------------


class Pipeline:
    """A thread's copies and registers.

    A tile is multiplied in chunks of 64 bytes along K. While a chunk is multiplied, A's next chunk comes from LDS and
    the same chunk of B's next tile from global memory; the tile of A after the next is on its way to registers
    meanwhile. Places along K are ``after``, a scalar of the loop, plus a tile counted from there: both go into the
    scalar offset of a load, so that no lane adds anything. The last iteration fetches nothing where no tile is left:
    such loads lie beyond the buffer's end.
    """

    BY_ROWS: ClassVar[bool] = True
    """Whether tiles that one instruction covers along K are multiplied block of rows by block of rows."""
    WINDOW: ClassVar[int] = WINDOW
    """Blocks of rows that are held then."""
    scale_loads = 0
    """Loads of a tile's scales, before those of its part of B."""

    def __init__(self, plan: GemmPlan, A: Any, B: Any, m: Any, column: Any, row: Any) -> None:
        self.instruction = tiled_instruction(plan)
        dtype, self.tiled = self.instruction.dtype, self.instruction.tiled
        plan = replace(plan, accesses=self.instruction.accesses)
        self.plan, self.thread = plan, fx.thread_idx.x
        self.wave = rocdl.readfirstlane(fx.Int32(fx.thread_idx.x // LANES))
        self.check(A, B, dtype)
        self.allocator = fx.SharedAllocator()
        self.lds = self.allocator.allocate(fx.Array[dtype, plan.lds_elements], ACCESS_BYTES * 8).peek().ptr
        self.swizzle = exchange_of(plan.copied_rows) if plan.copied else row_exchange(plan)
        slots = lds_tiles(plan, self.lds, plan.tile_m, self.swizzle)

        self.b = self.weights_of(B, column, dtype)
        # The next chunk of A is read while one is multiplied; if there is but one, it belongs to the next tile.
        self.by_rows = plan.copied and plan.chunks == 1 and not plan.packed and self.BY_ROWS
        sets = range(2 if plan.chunks == 1 and not self.by_rows else 1)
        self.a = [self.tiled.make_fragment_B(slots[0]) for _ in sets]
        self.total = self.tiled.make_fragment_C(fx.make_identity_tensor((plan.tile_n, plan.tile_m)))
        self.total.fill(0)

        self.buffer = fx.make_copy_atom(rocdl.BufferCopy128b(), dtype)
        self.plain = fx.make_copy_atom(fx.UniversalCopy128b(), dtype)
        stage = row_copy(self.plain, plan).get_slice(self.thread)
        read = fx.make_tiled_copy_B(self.plain, self.tiled).get_slice(self.thread)
        staged = lds_tiles(plan, self.lds, plan.staged_rows, self.swizzle)
        self.a_to_lds = [stage.partition_D(slot) for slot in staged]
        self.fetched = fx.make_fragment_like(self.a_to_lds[0])
        self.find_rows(A, m, row)
        self.a_in_lds = [read.partition_S(slot) for slot in self.read_slots(slots)]
        self.a_read = [read.retile(a) for a in self.a]

    def registers(self, plan: GemmPlan) -> int:
        """Return the registers of a lane that a plan takes in this pipeline."""
        return of_tile(plan, min(self.WINDOW, plan.row_tiles) if self.by_rows else 0)

    def check(self, A: Any, B: Any, dtype: Any) -> None:
        check_elements(A, B, dtype, fx.Int8 if self.plan.packed or self.plan.halved else dtype)

    def weights_of(self, B: Any, column: Any, dtype: Any) -> Any:
        """Return what holds the block's columns of B."""
        plan = self.plan
        self.b_end = plan.tile_n * plan.k
        view = weights_from(B, column * plan.tile_n, plan)
        return (FourBitWeights if plan.packed else Weights)(plan, view, self.tiled, dtype)

    def find_rows(self, A: Any, m: Any, row: Any) -> None:
        """Where the thread's part of the block's rows of A is, and where A ends, in elements from there."""
        plan = self.plan
        self.a_end = fx.min(m - row * plan.tile_m, fx.Int32(plan.tile_m)) * plan.k
        if plan.copied:
            starts = [self.lds + stage * plan.staged_rows * plan.tile_k for stage in range(plan.lds_stages)]
            self.loader = Loader(plan, plan.copied_rows, A, starts, (row * plan.tile_m, m))
            return
        rows = rows_from(A, row * plan.tile_m, m, plan.tile_m, plan.k)
        rows = fx.zipped_divide(rows, (plan.tile_m, plan.tile_k))[None, (0, 0)]
        self.a_in_memory = row_copy(self.buffer, plan).get_slice(self.thread).partition_S(rows)

    def read_slots(self, slots: list[Any]) -> list[Any]:
        """Return the tiles of A as they are read from LDS."""
        return slots

    def along_k(self, tile: int, place: int, after: Any, scale: int, end: Any) -> Any:
        """Return the scalar offset of a place in a tile, ``scale`` elements a step along K.

        Where the last iteration has no such tile, it is the buffer's end, and no more than that: the hardware
        compares with the size less this offset.
        """
        plan = self.plan
        at = after + (tile * plan.tile_k + place)
        if isinstance(after, int) or 2 * (plan.pairs - 1) + tile < plan.iterations:
            return at * scale
        return (at < plan.k).select(at * scale, end)

    def load_a(self, tile: int, after: Any = 0) -> None:
        """Fetch a tile of A: to registers, or straight into its tile of LDS."""
        at = self.along_k(tile, 0, after, 1, self.a_end)
        if self.plan.copied:
            for copy in self.loader.copies_at(tile % self.plan.lds_stages, at):
                copy()
        else:
            self.fetch_rows(at)

    def fetch_rows(self, at: Any) -> None:
        """The thread's part of a tile of A from the scalar offset ``at``."""
        fx.copy(self.buffer, self.a_in_memory, self.fetched, soffset=at)

    def stage_a(self, tile: int) -> None:
        """Put the fetched tile of A into LDS."""
        if not self.plan.copied:
            fx.copy(self.plain, self.fetched, self.a_to_lds[tile % self.plan.lds_stages])

    def read_a(self, tile: int, chunk: int) -> None:
        """A chunk of A from LDS to registers."""
        source, target = self.a_in_lds[tile % self.plan.lds_stages], self.a_read[tile % len(self.a)]
        fx.copy(self.plain, source[None, None, chunk], target[None, None, chunk])

    def read_rows(self, tile: int, number: int) -> None:
        """16 rows of A over the depth of a tile from LDS to registers."""
        source, target = self.a_in_lds[tile % self.plan.lds_stages], self.a_read[0]
        fx.copy(self.plain, source[None, number, None], target[None, number, None])

    def load_b(self, tile: int, chunk: int, after: Any = 0) -> None:
        """Fetch a chunk of a tile of B. A step along K passes the 16 rows of a block."""
        plan = self.plan
        at = self.along_k(tile, chunk * plan.chunk, after, BLOCK, self.b_end)
        self.b.load(tile, chunk, at // 2 if plan.packed or plan.halved else at)

    def along(self, chunk: int, steps: int) -> Any:
        """Return the coordinate of a chunk along K in a fragment whose accesses feed so many instructions."""
        return None if self.plan.chunks == 1 else chunk if steps == 1 else (None, chunk)

    def multiply(self, tile: int, chunk: int) -> None:
        """Row tile by row tile, so that the registers of A become free one after the other."""
        along_k = self.along(chunk, self.instruction.steps)
        a, b = self.a[tile % len(self.a)][None, None, along_k], self.b.chunk(tile, along_k)
        self.add_products(a, b, tile, chunk)

    def add_products(self, a: Any, b: Any, tile: int, chunk: int) -> None:
        """The products of a chunk, added to the sums."""
        fx.gemm(self.tiled, self.total, b, a, self.total, traversal_order="MKN", **dict(self.instruction.state))

    def multiply_row(self, tile: int, row: int) -> None:
        """The products of 16 rows over the depth of a tile, added to the sums."""
        multiply_row(self, self.total, tile, row)

    def results(self) -> Any:
        """Return this thread's sums: a vector, or registers that are stored piece by piece."""
        return self.total.load()

    def start(self) -> None:
        """The first tile into LDS and registers, the second of A on its way."""
        self.load_a(0)
        self.stage_a(0)
        if self.plan.iterations > 1:
            self.load_a(1)
        rocdl.sched_barrier(0)  # the loop counts on the order of these loads
        for chunk in range(self.plan.chunks):
            self.load_b(0, chunk)
            rocdl.sched_barrier(0)
        if self.plan.copied:
            rocdl.s_waitcnt(vmcnt=0 if self.by_rows else self.plan.b_loads * self.plan.chunks)
        self.meet()
        self.read_a(0, 0)

    def meet(self) -> None:
        """A barrier; where copies into LDS are under way one that does not wait for them."""
        if self.plan.copied:
            rocdl.s_waitcnt(lgkmcnt=0)
            rocdl.s_barrier()
        else:
            fx.barrier()

    def step(self, tile: int, after: Any, last: bool = False) -> None:
        """Multiply one tile, and prepare for the next two unless this is the last."""
        plan = self.plan
        if self.by_rows:
            step_by_rows(self, tile, after, last)
            return
        for chunk in range(plan.chunks):
            if not last:
                rocdl.s_waitcnt(vmcnt=plan.in_flight(chunk), lgkmcnt=0)
                rocdl.sched_barrier(0)
            if not last and chunk == plan.staging_chunk and not plan.copied:
                self.hand_over(tile, after)
            if chunk < plan.chunks - 1:
                self.read_a(tile, chunk + 1)
            elif not last:
                self.meet()
                if plan.copied:  # everyone has read this tile, in whose place the one after the next goes
                    self.load_a(tile + 2, after)
                    rocdl.sched_barrier(0)  # the waits count on these copies before B's loads
                self.read_a(tile + 1, 0)
            if not last:
                self.load_b(tile + 1, chunk, after)
            self.multiply(tile, chunk)
            if not last and plan.scheduled:
                self.schedule(chunk)
            rocdl.sched_barrier(0)

    def hand_over(self, tile: int, after: Any) -> None:
        """The next tile of A into LDS, and the one behind it on its way."""
        if self.plan.lds_stages == 1:
            fx.barrier()  # everyone has read the tile that is there
        self.stage_a(tile + 1)
        self.load_a(tile + 2, after)

    def schedule(self, chunk: int) -> None:
        """Spread a chunk's memory accesses over its matrix instructions, the last some instructions before the end."""
        plan = self.plan
        staged = plan.a_loads if chunk == plan.staging_chunk and not plan.copied else 0
        accesses = ((rocdl.sched_dswr, staged), (rocdl.sched_vmem, plan.b_loads + staged),
                    (rocdl.sched_dsrd, plan.row_tiles * plan.accesses))  # fmt: skip
        slots, before = max(plan.row_tiles - LEAD, 1), dict(zip((rocdl.sched_dsrd, rocdl.sched_vmem), plan.ahead))
        first = [(ask, min(before.get(ask, 0), count)) for ask, count in accesses]
        for ask, count in first:
            if count:
                ask(count)
        accesses = [(ask, count - early) for (ask, count), (_, early) in zip(accesses, first, strict=True)]
        for slot in range(plan.row_tiles):
            for ask, count in accesses:
                share = count * min(slot + 1, slots) // slots - count * min(slot, slots) // slots
                if share:
                    ask(share)
            rocdl.sched_mfma(plan.column_tiles * self.instruction.steps)

    def step_alone(self, after: Any) -> None:
        """A tile fetched, staged and multiplied, nothing at the same time."""
        plan = self.plan
        self.load_a(0, after)
        for chunk in range(plan.chunks):
            self.load_b(0, chunk, after)
        fx.barrier()
        self.stage_a(0)
        fx.barrier()
        for chunk in range(plan.chunks):
            self.read_a(0, chunk)
            self.multiply(0, chunk)

    def find_thread(self) -> None:
        """The thread's number anew: the one of before would be kept in registers while tiles are multiplied.

        Its bits are said to be few, or LLVM divides it as a signed number.
        """
        self.thread = (self.wave * LANES + rocdl.mbcnt(fx.gpu.ballot(True))) & (THREADS - 1)


def check_elements(A: Any, B: Any, a_dtype: Any, b_dtype: Any) -> None:
    for tensor, name, dtype in ((A, "A", a_dtype), (B, "B", b_dtype)):
        if tensor.dtype is not dtype:
            raise ValueError(
                f"{name} must hold {dtype.__name__} for this target and in_dtype, not {tensor.dtype.__name__}"
            )


# The kernel ------------------------------------------------------------------------------------------


def block_tile(plan: GemmPlan) -> tuple[Any, Any]:
    """Column and row of this block's tile. Blocks of one chiplet get neighbouring tiles, in bands of rows."""
    column, row, _ = fx.block_idx
    if not plan.band:
        return column, row
    columns, rows, _ = (fx.Int32(extent) for extent in fx.grid_dim)
    moved = fx.schedule.by_die(row * columns + column, rows * columns, CHIPLETS)
    row, column = fx.schedule.bands(moved, rows, columns, plan.band)
    return column, row


@flyc.jit
def multiply_all(pipeline: Any, plan: GemmPlan) -> None:
    """The loop over K, two tiles an iteration."""
    if fx.const_expr(plan.preload):
        pipeline.start()
        for pair in range(plan.pairs):
            pipeline.step(0, pair * (2 * plan.tile_k))
            pipeline.step(1, pair * (2 * plan.tile_k))
        if fx.const_expr(plan.iterations % 2 == 1):
            pipeline.step(0, plan.pairs * (2 * plan.tile_k), last=True)
        if fx.const_expr(plan.copied):
            rocdl.s_waitcnt(vmcnt=0)  # copies must not land in LDS that is somebody else's by then
    else:
        for iteration in range(plan.iterations):
            pipeline.step_alone(iteration * plan.tile_k)


@flyc.jit
def multiply_tiles(C: Any, A: Any, B: Any, scale_a: Any, scale_b: Any, bias: Any, m: Any, plan: GemmPlan) -> None:
    """One block: a tile of C."""
    column, row = block_tile(plan)
    pipeline = Pipeline(plan, A, B, m, column, row)
    require_registers(pipeline.plan, pipeline.registers)
    multiply_all(pipeline, plan)
    if fx.const_expr(plan.shuffled_store):
        pipeline.find_thread()
    store_tile(pipeline, C, finished(pipeline, scale_a, scale_b, bias, m, column, row), m, column, row)


@flyc.jit
def multiply_in_blocks(
    kind: Any, C: Any, A: Any, B: Any, scales: Any, m: Any, plan: GemmPlan, loop: Any = multiply_all
) -> None:
    """One block: a tile of C, by a kind of pipeline that scales blocks of K itself, without an epilogue."""
    column, row = block_tile(plan)
    pipeline = kind(plan, A, B, scales, m, (column, row))
    require_registers(pipeline.plan, pipeline.registers)
    loop(pipeline, plan)
    pipeline.find_thread()
    store_tile(pipeline, C, pipeline.results(), m, column, row)


def finished(pipeline: Pipeline, scale_a: Any, scale_b: Any, bias: Any, m: Any, column: Any, row: Any) -> Any:
    """Return the epilogue on this thread's sums, as a vector of f32."""
    plan, total = pipeline.plan, pipeline.total
    values = total.load().to(fx.Float32)
    if plan.packed:
        values = values * (1 / 16)  # the weights were widened to 16 times their value
    if plan.scaled:
        rows = rows_from(scale_a, row * plan.tile_m, m, plan.tile_m, 1)
        values = values * along(pipeline, rows, 1).load() * along(pipeline, columns_of(scale_b, plan, column), 0).load()
    if plan.biased:
        values = values + along(pipeline, columns_of(bias, plan, column), 0).load()
    return ACTIVATIONS[plan.activation](values)


def columns_of(vector: Any, plan: GemmPlan, column: Any) -> Any:
    """Return the numbers of a block's columns."""
    return fx.make_view(fx.get_iter(vector) + column * plan.tile_n, fx.make_layout((plan.tile_n, 1), (1, 0)))


def along(pipeline: Pipeline, vector: Any, mode: int) -> Any:
    """Numbers of a tile's columns (mode 0) or rows (mode 1), spread over registers as this thread's sums are."""
    plan = pipeline.plan
    shape, strides = (plan.tile_n, plan.tile_m), ((1, 0), (0, 1))[mode]
    part = pipeline.tiled.get_slice(pipeline.thread).partition_C(
        fx.make_view(fx.get_iter(vector), fx.make_layout(shape, strides))
    )
    spread = fx.make_fragment_like(pipeline.total, dtype=fx.Float32)
    values, columns, rows = (fx.get_scalar(fx.size(extent)) for extent in spread.shape)
    for i in range(columns if mode == 0 else rows):
        for v in range(values if mode == 0 else 1):
            number = fx.Float32(part[(v, i, 0) if mode == 0 else (0, 0, i)])
            for other in range(rows if mode == 0 else columns):
                for w in range(1 if mode == 0 else values):
                    spread[(v, i, other) if mode == 0 else (w, other, i)] = number
    return spread


@kept
def compile_preshuffle_gemm(
    *, N: int, K: int, tile_m: int = 128, tile_n: int = 128, tile_k: int = 64, in_dtype: str = "fp16",
    out_dtype: str = "bf16", epilogue: str = "none", waves_per_eu: int | None = None, enable_scheduler: bool = True,
    use_async_copy: bool = False, xcd_swizzle: int = 0, lds_stage: int = 2, preload: Any = True,
    use_cshuffle_epilog: bool = False,
) -> Any:  # fmt: skip
    """Return the launcher ``gemm(C, A, B_shuffled, scale_a, scale_b, bias, M, N, stream)``; M may differ per call.

    ``epilogue`` is an activation (relu, silu, gelu), "bias", or both: "bias_relu". ``lds_stage`` is the number of tiles
    of A in LDS, ``preload=False`` gives up fetching ahead, a ``preload`` of two counts puts so many reads of LDS and
    loads of a chunk before its first product. ``xcd_swizzle`` is how many rows of tiles the blocks of a chiplet work
    through together. ``use_async_copy`` brings A into LDS without registers, ``use_cshuffle_epilog`` stores C by way of
    LDS, in rows.
    """
    if in_dtype.startswith("int4_"):
        raise ValueError("16-bit floats with weights of four bits have compile_preshuffle_gemm_w4a16")
    if not isinstance(preload, bool | None) and not is_pair(preload):
        raise ValueError(f"preload is True, False, or a pair of counts that are not negative; got {preload!r}")
    ahead = tuple(preload) if is_pair(preload) else (0, 0)
    plan = GemmPlan(N, K, tile_m, tile_n, tile_k, in_dtype, out_dtype, epilogue, enable_scheduler, lds_stage,
                    preload is not False, xcd_swizzle, copied=use_async_copy, shuffled_store=use_cshuffle_epilog,
                    ahead=ahead)  # fmt: skip

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def preshuffle_gemm_kernel(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, scale_a: fx.Tensor, scale_b: fx.Tensor, bias: fx.Tensor, m: fx.Int32
    ):
        multiply_tiles(C, A, B, scale_a, scale_b, bias, m, plan)

    @flyc.jit
    def preshuffle_gemm(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, scale_a: fx.Tensor, scale_b: fx.Tensor, bias: fx.Tensor, M: fx.Int32,
        N: fx.Constexpr[int], stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        plan.require_call(N)
        require_elements(*plan.matrices(C, A, B, M), *plan.vectors(scale_a, scale_b, bias, M))
        preshuffle_gemm_kernel(C, A, B, scale_a, scale_b, bias, M).launch(
            grid=plan.blocks(M), block=(THREADS, 1, 1), stream=stream
        )

    return hint_waves(preshuffle_gemm, waves_per_eu)


def is_pair(counts: Any) -> bool:
    return isinstance(counts, tuple | list) and len(counts) == 2 and all(type(x) is int and x >= 0 for x in counts)


__all__ = ["compile_preshuffle_gemm", "pack_int4", "shuffle_weight"]
