"""A matrix product of 8-bit floats (E4M3) on gfx12, with a scale for every row of A and every column of B.

gemm = compile_fp8_gemm(M=32, N=4096, K=4096)
gemm(C, A.view(f32), preshuffle_b_fp8(B).view(f32), scale_a, scale_b, stream)

C[m, n] = (sum over k of A[m, k] * B[k, n]) * scale_a[m] * scale_b[n] in bf16. A is [M, K] and contiguous, B[K, N] is
in the order of `preshuffle_b_fp8`: blocks of 16 columns by 16 elements of K, with what each half of a wave holds in one
piece.

Rows of A pass through LDS, once for all waves of a block, which lie side by side along N; columns of B go straight to
the wave that takes them. A lane fetches and reads 16 bytes of a row of A for two instructions, and the 8 bytes of B
that match each: the sum may be taken in any order as long as both agree on it. Two neighbouring columns of B lie
together, so that 16 bytes feed two instructions there too. Several tiles along K are on their way at once, each into
registers of its own.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import buffer_ops, rocdl
from flydsl.kernels.blocks.inputs import require_elements, require_type
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.limits import require_multiple, require_target
from flydsl.kernels.gemm.wmma.rdna_fp8_plan import DEPTH, PLACES, THREADS, TURNS, WAVES, Fp8Plan
from flydsl.kernels.gemm.wmma.rdna_plan import BLOCK, LANES, OUT_DTYPES
from flydsl.kernels.gemm.wmma.wmma_result import EIGHT, OfColumns, ResultRows
from flydsl.kernels.quant.formats import quantize_per_token
from flydsl.kernels.quant.shuffles import preshuffle_b_fp8

WHERE = ("this product of 8-bit floats", ("gfx1200", "gfx1201"),
         "gfx11 has no instruction for them, gfx1250 has compile_fp8fp4_gemm, gfx9 compile_fp8_gemm_4w")  # fmt: skip
FP8 = fx.Float8E4M3FN


class RowsInLds:
    """Rows of A on their way from memory through registers and LDS to the registers of the instruction.

    In LDS lies what a wave reads at once, 16 rows of 32 elements, in the order of its lanes: neither reads nor writes
    meet in a bank. Such blocks are shared out among the waves that fetch them.
    """

    def __init__(self, plan: Fp8Plan, tiled: Any, rows: Any, thread: Any) -> None:
        self.plan = plan
        down, across = plan.waves_down, WAVES // plan.waves_down
        lanes = fx.make_layout(((BLOCK, down), (2, across)), ((1, LANES), (BLOCK, LANES * down)))
        kinds = (rocdl.BufferCopy128b(), fx.UniversalCopy128b())
        self.wide, self.plain = (fx.make_copy_atom(kind, FP8) for kind in kinds)
        fetch, stage = (fx.make_tiled_copy_tv(atom, lanes, fx.make_layout((1, 16), (0, 1))).get_slice(thread)
                        for atom in (self.wide, self.plain))  # fmt: skip
        read = fx.make_tiled_copy_B(self.plain, tiled).get_slice(thread)
        allocator = fx.SharedAllocator()
        places = [self.place(allocator) for _ in range(PLACES)]
        self.in_memory = fetch.partition_S(rows)
        self.fetched = [fx.make_fragment_like(self.in_memory) for _ in range(plan.slabs_ahead)]
        self.to_lds = [stage.partition_D(place) for place in places]
        self.in_lds = [read.partition_S(place) for place in places]
        block = fx.make_identity_tensor((BLOCK, DEPTH))
        self.fragments = [fx.make_fragment_like(tiled.make_fragment_B(block), dtype=FP8) for _ in range(2 * TURNS)]
        self.targets = [read.retile(fragment) for fragment in self.fragments]

    def place(self, allocator: Any) -> Any:
        """Return one of the places of a slab in LDS."""
        plan, block = self.plan, BLOCK * DEPTH
        blocks = plan.slab // DEPTH
        start = allocator.allocate(fx.Array[FP8, plan.tile_m * plan.slab], 128).peek().ptr
        shape = ((BLOCK, plan.tile_m // BLOCK), (16, 2, blocks))
        return fx.make_view(start, fx.make_layout(shape, ((16, block * blocks), (1, 16 * BLOCK, block))))

    def fetch(self, slab: int, after: fx.Int32 | int) -> None:
        """Fetch a slab, counted from ``after`` elements along K."""
        target = self.fetched[slab % self.plan.slabs_ahead]
        fx.copy(self.wide, self.in_memory, target, soffset=after + slab * self.plan.slab)

    def stage(self, slab: int) -> None:
        """Put a slab that was fetched into LDS."""
        fx.copy(self.plain, self.fetched[slab % self.plan.slabs_ahead], self.to_lds[slab % PLACES])

    def read(self, slab: int, number: int) -> None:
        """Read a block of a slab: blocks of a tile follow each other, those of its rows first."""
        plan = self.plan
        tile, block = divmod(number, plan.blocks)
        step, row = divmod(block, plan.tile_m // BLOCK)
        source = self.in_lds[slab % PLACES][None, row, tile * (plan.tile_k // DEPTH) + step]
        fx.copy(self.plain, source, self.targets[number % len(self.targets)][None, 0, 0])

    def held(self, number: int) -> Any:
        """Return a block that was read, as the instruction takes it."""
        return self.fragments[number % len(self.fragments)]


class Fp8Pipeline:
    """The registers of a thread for one tile of C, and how they are filled."""

    def __init__(self, plan: Fp8Plan, A: fx.Tensor, B: fx.Tensor, m: Any, row: fx.Int32, column: fx.Int32) -> None:
        self.plan, self.m = plan, m
        atom = fx.make_mma_atom(rocdl.rdna4.WMMA(BLOCK, BLOCK, BLOCK, FP8))
        along_k = fx.make_layout((8, 2, 2), (1, BLOCK, 8))  # an instruction takes half of each lane's 16 bytes
        along_n = fx.make_layout((BLOCK, WAVES, 2), (2, 2 * BLOCK, 1)) if plan.together == 2 else None
        self.tiled = fx.make_tiled_mma(atom, fx.make_layout((WAVES, 1, 1), (1, 0, 0)), (along_n, None, along_k))
        weights = self.weights_of(B, column)
        self.rows = RowsInLds(plan, self.tiled, self.rows_of(A, row), fx.thread_idx.x)
        self.narrow = fx.make_copy_atom(rocdl.BufferCopy(64 * plan.together), FP8)
        fetch = fx.make_tiled_copy_A(self.narrow, self.tiled).get_slice(fx.thread_idx.x)
        self.in_memory = fetch.partition_S(weights)
        self.columns = [self.tiled.make_fragment_A(weights) for _ in range(plan.unroll)]
        self.fetched = [fetch.retile(columns) for columns in self.columns]
        self.total = self.tiled.make_fragment_C(fx.make_identity_tensor((plan.tile_n, plan.tile_m)))
        self.total.fill(0)

    def rows_of(self, A: fx.Tensor, row: fx.Int32) -> Any:
        """Return a slab of A, through a descriptor that ends with the tile's last row."""
        plan = self.plan
        inside = fx.min(fx.Int32(self.m) - row * plan.tile_m, fx.Int32(plan.tile_m))
        start = fx.recast_iter(FP8, fx.get_iter(A)) + fx.Int64(row) * (plan.tile_m * plan.k)
        pointer = rocdl.make_buffer_ptr(start, fx.Int64(inside) * plan.k)
        return fx.make_view(pointer, fx.make_layout((plan.tile_m, plan.slab), (plan.k, 1)))

    def weights_of(self, B: fx.Tensor, column: fx.Int32) -> Any:
        """Return a tile of the shuffled B as (n, k), through a descriptor that ends with its last block."""
        plan = self.plan
        inside = fx.min(fx.Int32(plan.n) - column * plan.tile_n, fx.Int32(plan.tile_n))
        start = fx.recast_iter(FP8, fx.get_iter(B)) + fx.Int64(column) * (plan.tile_n * plan.k)
        pointer = rocdl.make_buffer_ptr(start, fx.Int64(inside) * plan.k)
        shape = ((BLOCK, plan.tile_n // BLOCK), (8, 2, plan.tile_k // BLOCK))
        return fx.make_view(pointer, fx.make_layout(shape, ((8, BLOCK * plan.k), (1, 128, 256))))

    def fetch_columns(self, tile: int, after: fx.Int32 | int = 0) -> None:
        """Fetch B's tile, counted from ``after`` elements along K; a step passes the 16 columns of a block."""
        at = (after + tile * self.plan.tile_k) * BLOCK
        fx.copy(self.narrow, self.in_memory, self.fetched[tile % self.plan.unroll], soffset=at)

    def start(self) -> None:
        """The first slab of A into LDS, others and the first tiles of B on their way."""
        plan = self.plan
        for slab in range(min(plan.slabs_ahead, -(-plan.iterations // plan.staged))):
            self.rows.fetch(slab, 0)
        for tile in range(min(plan.unroll, plan.iterations)):
            self.fetch_columns(tile)
        self.rows.stage(0)
        if plan.slabs_ahead * plan.staged < plan.iterations:
            self.rows.fetch(plan.slabs_ahead, 0)
        rocdl.lds_barrier()

    def multiply_slab(self, slab: int, after: fx.Int32 | int, left: int) -> None:
        """Multiply a slab, which begins with ``left`` tiles to go; what takes the place of its operands is fetched.

        Beside the products of some blocks of A the next ones are read. Before the last products everyone has read the
        slab: half of a barrier stands before them, the other half behind.
        """
        plan, more = self.plan, left > self.plan.staged
        blocks = min(plan.staged, left) * plan.blocks
        for number in range(min(TURNS, blocks)):
            self.rows.read(slab, number)
        for first in range(0, blocks, TURNS):
            for number in range(first + TURNS, min(first + 2 * TURNS, blocks)):
                self.rows.read(slab, number)
            if more and first + TURNS >= blocks:
                self.rows.stage(slab + 1)
                if left > plan.staged * (1 + plan.slabs_ahead):
                    self.rows.fetch(slab + 1 + plan.slabs_ahead, after)
                rocdl.lds_barrier_signal()
            rocdl.sched_barrier(0)
            numbers = range(first, min(first + TURNS, blocks))
            self.multiply(slab, numbers)
            rocdl.sched_barrier(0)
            for tile in [number // plan.blocks for number in numbers if (number + 1) % plan.blocks == 0]:
                if left - tile > plan.unroll:
                    self.fetch_columns(slab * plan.staged + tile + plan.unroll, after)
        if more:
            rocdl.lds_barrier_wait()

    def multiply(self, slab: int, numbers: range) -> None:
        """The products of some blocks of A, half of their depth after the other: sums come again after the others."""
        plan = self.plan
        for half in range(2):
            for number in numbers:
                tile, block = divmod(number, plan.blocks)
                step, row = divmod(block, plan.tile_m // BLOCK)
                columns = self.columns[(slab * plan.staged + tile) % plan.unroll]
                a = fx.coalesce(self.rows.held(number)[None, 0, half])
                for column in range(plan.tile_n // (BLOCK * WAVES)):
                    total = fx.coalesce(self.total[None, column, row])
                    b = fx.coalesce(columns[None, column, 2 * step + half])
                    fx.gemm(self.tiled, total, b, a, total)

    def eight(self, j: int, i: int, part: int) -> Any:
        """Return sums of eight neighbouring columns, the first of which is ``part`` columns behind the instruction's
        first: instructions that have neighbours take turns."""
        together = self.plan.together
        taken = [self.total[None, j + turn, i].load() for turn in range(together)]
        taken = [values.reshape(values.numel) for values in taken]
        places = range(part, part + EIGHT)
        return fx.Vector.from_elements([taken[at % together][at // together] for at in places], fx.Float32)


@flyc.jit
def multiply_all(pipeline: Any, plan: Fp8Plan) -> None:
    """The loop over K; the last slabs, with less or nothing to fetch, follow it."""
    pipeline.start()
    for number in range(plan.loops):
        for slab in fx.range_constexpr(plan.turn):
            pipeline.multiply_slab(slab, number * (plan.turn * plan.slab), plan.iterations)
    done = plan.loops * plan.turn * plan.staged
    for slab in fx.range_constexpr(-(-(plan.iterations - done) // plan.staged)):
        pipeline.multiply_slab(slab, done * plan.tile_k, plan.iterations - done - slab * plan.staged)


@flyc.jit
def multiply_tile(C: Any, A: Any, B: Any, extras: Any, m: Any, plan: Fp8Plan) -> None:
    """One block: a tile of C, in bands of ``group_m`` rows of tiles."""
    row, column = fx.schedule.bands(fx.block_idx.x, *plan.grid_of(m), plan.group_m)
    pipeline = Fp8Pipeline(plan, A, B, m, row, column)
    multiply_all(pipeline, plan)
    rocdl.sched_barrier(0)  # scales would come beside the last products, in registers of their own
    store_tile(pipeline, C, extras, row, column)


def store_tile(
    pipeline: Fp8Pipeline, C: fx.Tensor, extras: tuple[Any, Any, Any], row: fx.Int32, column: fx.Int32
) -> None:
    """Scaled sums, 16 rows of a wave after the other; what a descriptor does not reach reads as zero.

    ``extras`` are scales of rows and columns, and a bias of columns or None.
    """
    plan, first, start = pipeline.plan, row * pipeline.plan.tile_m, column * pipeline.plan.tile_n
    (scale_a, scale_b, bias), m_there, out = extras, pipeline.m, OUT_DTYPES[plan.out]
    inside = fx.min(fx.Int32(m_there) - first, fx.Int32(plan.tile_m))
    rows = ResultRows(C, first, inside, plan.n, plan.n)
    coords = pipeline.tiled.get_slice(fx.thread_idx.x).partition_C(fx.make_identity_tensor((plan.tile_n, plan.tile_m)))
    of_rows = buffer_ops.create_buffer_resource(scale_a, max_size=False, num_records_bytes=4 * m_there)
    of_columns, of_bias = OfColumns(scale_b, plan.n), None if bias is None else OfColumns(bias, plan.n)
    firsts = range(0, plan.tile_n // (BLOCK * WAVES), plan.together)
    places = [(j, part, fx.get_scalar(fx.get_(coords[0, j, 0], 0)) + part) for j in firsts
              for part in range(0, EIGHT * plan.together, EIGHT)]  # fmt: skip
    columns = [(*place, of_columns[start + place[-1]]) for place in places]
    for i in range(plan.tile_m // BLOCK):
        m = fx.get_scalar(fx.get_(coords[0, 0, i], 1))
        of_row = buffer_ops.buffer_load(of_rows, first + m, vec_width=1, dtype=fx.Float32)
        for j, part, n, of_column in columns:
            values = pipeline.eight(j, i, part) * of_column * of_row
            values = values if of_bias is None else values + of_bias[start + n]
            rows.store(values.to(out), m, start + n, plan.n % plan.tile_n != 0)
        rocdl.sched_barrier(0)


def require_operands(C: Any, A: Any, B: Any, scale_a: Any, scale_b: Any, m: Any, plan: Fp8Plan) -> None:
    """Have a launch refuse arrays of less elements than it uses; A and B are bytes in any type."""
    rows = fx.Int64(m)
    require_type((scale_a, scale_b), fx.Float32)
    require_type((C,), OUT_DTYPES[plan.out])
    require_elements(
        ("C", C, rows * plan.n), ("A", A, rows * plan.k * 8 // A.dtype.width), ("scale_a", scale_a, rows),
        ("B_shuffled", B, plan.n * plan.k * 8 // B.dtype.width), ("scale_b", scale_b, plan.n),
    )  # fmt: skip


@kept
def compile_fp8_gemm(
    *, M: int, N: int, K: int, tile_m: int = 32, tile_n: int | None = None, tile_k: int = DEPTH,
    k_unroll: int | None = None, group_m: int = 8,
) -> Any:  # fmt: skip
    """Return the launcher ``gemm(C, A, B_shuffled, scale_a, scale_b, stream)``; A and B are the bytes, as any type."""
    require_multiple("M", M, 1)
    plan = Fp8Plan(M, N, K, tile_m, tile_n or 128, tile_k, k_unroll or 0, group_m)
    blocks = prod(plan.grid_of(M))

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def fp8_gemm_kernel(C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, scale_a: fx.Tensor, scale_b: fx.Tensor):
        multiply_tile(C, A, B, (scale_a, scale_b, None), M, plan)

    @flyc.jit
    def fp8_gemm(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, scale_a: fx.Tensor, scale_b: fx.Tensor,
        stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        require_target(*WHERE)
        require_operands(C, A, B, scale_a, scale_b, M, plan)
        fp8_gemm_kernel(C, A, B, scale_a, scale_b).launch(grid=(blocks, 1, 1), block=(THREADS, 1, 1), stream=stream)

    return fp8_gemm


@kept
def biased_launcher(plan: Fp8Plan, biased: bool = True) -> Any:
    """``fn(C, A, B_shuffled, scale_a, scale_b, bias, M, stream)``; the bias is f32."""

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def fp8_linear_kernel(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, scale_a: fx.Tensor, scale_b: fx.Tensor, bias: fx.Tensor, m: fx.Int32
    ):
        multiply_tile(C, A, B, (scale_a, scale_b, bias if biased else None), m, plan)

    @flyc.jit
    def fp8_linear(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, scale_a: fx.Tensor, scale_b: fx.Tensor, bias: fx.Tensor, M: fx.Int32,
        stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        require_target(*WHERE)
        require_operands(C, A, B, scale_a, scale_b, M, plan)
        if biased:
            require_elements(("bias", bias, plan.n))
        rows, columns = plan.grid_of(M)
        fp8_linear_kernel(C, A, B, scale_a, scale_b, bias, M).launch(
            grid=(rows * columns, 1, 1), block=(THREADS, 1, 1), stream=stream
        )

    return fp8_linear


def fp8_quantize_per_token(x: Any) -> tuple[Any, Any]:
    """Return (A in E4M3, the scale of each row) of a matrix [M, K]."""
    q, scale = quantize_per_token(x, "fp8")
    return q, scale.reshape(-1)


def fp8_quantize_per_channel(x: Any) -> tuple[Any, Any]:
    """Return (B in E4M3, the scale of each column) of a matrix [K, N]."""
    q, scale = quantize_per_token(np.asarray(x).T, "fp8")
    return np.ascontiguousarray(q.T), scale.reshape(-1)


__all__ = ["compile_fp8_gemm", "fp8_quantize_per_channel", "fp8_quantize_per_token", "preshuffle_b_fp8"]
