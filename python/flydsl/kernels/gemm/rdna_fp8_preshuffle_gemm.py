"""A matrix product of 8-bit floats (E4M3) on gfx12, with a scale for every row of A and every column of B.

gemm = compile_fp8_gemm(M=32, N=4096, K=4096)
gemm(C, A.view(f32), preshuffle_b_fp8(B).view(f32), scale_a, scale_b, stream)

C[m, n] = (sum over k of A[m, k] * B[k, n]) * scale_a[m] * scale_b[n] in bf16. A is [M, K] and contiguous, B[K, N] is
in the order of `preshuffle_b_fp8`: blocks of 16 columns by 16 elements of K, with what each half of a wave holds in one
piece.

Nothing goes through LDS. A lane fetches 16 bytes of a row of A for two instructions, and the 8 bytes of B that match
each: the sum may be taken in any order as long as both agree on it. Two neighbouring columns of B lie together, so that
16 bytes feed two instructions there too. Several tiles along K are on their way at once,
each into registers of its own. Waves lie side by side along N and fetch the same rows of A, which are in the first
cache then.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

import numpy as np

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import buffer_ops, rocdl
from flydsl.kernels.blocks.inputs import require_whole
from flydsl.kernels.blocks.limits import require_multiple, require_target
from flydsl.kernels.gemm.wmma.rdna_plan import ADDRESSES, BLOCK, LANES, OUT_DTYPES, REGISTERS
from flydsl.kernels.gemm.wmma.wmma_result import EIGHT, OfColumns, ResultRows
from flydsl.kernels.quant.formats import quantize_per_token
from flydsl.kernels.quant.shuffles import preshuffle_b_fp8

DEPTH = 32
"""Elements of K that a lane's 16-byte access to A and its partner's cover: two instructions."""
WAVES = 4
THREADS = LANES * WAVES
WHERE = ("this product of 8-bit floats", ("gfx1200", "gfx1201"),
         "gfx11 has no instruction for them, gfx1250 has compile_fp8fp4_gemm, gfx9 compile_fp8_gemm_4w")  # fmt: skip
FP8 = fx.Float8E4M3FN


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
    """Tiles along K that an iteration multiplies, and that are on their way; 0 takes what registers allow."""
    group_m: int = 8
    out: str = "bf16"

    def __post_init__(self) -> None:
        for name, value, step in (
            ("N", self.n, BLOCK), ("tile_m", self.tile_m, BLOCK),
            ("tile_n", self.tile_n, BLOCK * WAVES), ("tile_k", self.tile_k, DEPTH), ("K", self.k, self.tile_k),
            ("group_m", self.group_m, 1),
        ):  # fmt: skip
            require_multiple(name, value, step)
        there = REGISTERS - ADDRESSES
        room = max((there - self.sums) // self.held, 0)
        if not self.unroll:
            object.__setattr__(self, "unroll", max(min(4, room, self.iterations), 1))
        if not 1 <= self.unroll <= room:
            what = f"k_unroll can be {room} at most, got {self.unroll}" if room else "take a smaller tile"
            raise ValueError(
                f"a tile of {self.tile_m} x {self.tile_n} x {self.tile_k} takes {self.sums} registers of a lane for "
                f"its sums, {self.held} for each tile on its way, and {there} are there: {what}"
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
        """Registers of a lane for the operands of one tile along K."""
        return (self.tile_m + self.tile_n // WAVES) * self.tile_k // (LANES * 4)

    @property
    def iterations(self) -> int:
        """Tiles along K."""
        return self.k // self.tile_k

    @property
    def loops(self) -> int:
        """Iterations of the loop: all that have a tile to fetch for each that they multiply."""
        return max(self.iterations - self.unroll, 0) // self.unroll

    def grid_of(self, rows: Any) -> tuple[Any, int]:
        """Tiles along M and N of so many rows."""
        return (rows + self.tile_m - 1) // self.tile_m, -(-self.n // self.tile_n)


class Fp8Pipeline:
    """The registers of a thread for one tile of C, and how they are filled."""

    def __init__(self, plan: Fp8Plan, A: fx.Tensor, B: fx.Tensor, m: Any, row: fx.Int32, column: fx.Int32) -> None:
        self.plan, self.m = plan, m
        atom = fx.make_mma_atom(rocdl.rdna4.WMMA(BLOCK, BLOCK, BLOCK, FP8))
        along_k = fx.make_layout((8, 2, 2), (1, BLOCK, 8))  # an instruction takes half of each lane's 16 bytes
        along_n = fx.make_layout((BLOCK, WAVES, 2), (2, 2 * BLOCK, 1)) if plan.together == 2 else None
        self.tiled = fx.make_tiled_mma(atom, fx.make_layout((WAVES, 1, 1), (1, 0, 0)), (along_n, None, along_k))
        rows, weights = self.rows_of(A, row), self.weights_of(B, column)
        self.wide = fx.make_copy_atom(rocdl.BufferCopy128b(), FP8)
        self.narrow = fx.make_copy_atom(rocdl.BufferCopy(64 * plan.together), FP8)
        fetch_a = fx.make_tiled_copy_B(self.wide, self.tiled).get_slice(fx.thread_idx.x)
        fetch_b = fx.make_tiled_copy_A(self.narrow, self.tiled).get_slice(fx.thread_idx.x)
        self.a_in_memory, self.b_in_memory = fetch_a.partition_S(rows), fetch_b.partition_S(weights)
        sets = range(plan.unroll)
        self.a = [self.tiled.make_fragment_B(rows) for _ in sets]
        self.b = [self.tiled.make_fragment_A(weights) for _ in sets]
        self.a_fetched = [fetch_a.retile(a) for a in self.a]
        self.b_fetched = [fetch_b.retile(b) for b in self.b]
        self.total = self.tiled.make_fragment_C(fx.make_identity_tensor((plan.tile_n, plan.tile_m)))
        self.total.fill(0)

    def rows_of(self, A: fx.Tensor, row: fx.Int32) -> Any:
        """Return a tile of A, through a descriptor that ends with its last row."""
        plan = self.plan
        inside = fx.min(fx.Int32(self.m) - row * plan.tile_m, fx.Int32(plan.tile_m))
        start = fx.recast_iter(FP8, fx.get_iter(A)) + fx.Int64(row) * (plan.tile_m * plan.k)
        pointer = rocdl.make_buffer_ptr(start, fx.Int64(inside) * plan.k)
        return fx.make_view(pointer, fx.make_layout((plan.tile_m, plan.tile_k), (plan.k, 1)))

    def weights_of(self, B: fx.Tensor, column: fx.Int32) -> Any:
        """Return a tile of the shuffled B as (n, k), through a descriptor that ends with its last block."""
        plan = self.plan
        inside = fx.min(fx.Int32(plan.n) - column * plan.tile_n, fx.Int32(plan.tile_n))
        start = fx.recast_iter(FP8, fx.get_iter(B)) + fx.Int64(column) * (plan.tile_n * plan.k)
        pointer = rocdl.make_buffer_ptr(start, fx.Int64(inside) * plan.k)
        shape = ((BLOCK, plan.tile_n // BLOCK), (8, 2, plan.tile_k // BLOCK))
        return fx.make_view(pointer, fx.make_layout(shape, ((8, BLOCK * plan.k), (1, 128, 256))))

    def fetch(self, tile: int, after: fx.Int32 | int = 0) -> None:
        """Fetch a tile, counted from ``after`` elements along K; a step passes the 16 columns of a block of B."""
        at, held = after + tile * self.plan.tile_k, tile % self.plan.unroll
        fx.copy(self.wide, self.a_in_memory, self.a_fetched[held], soffset=at)
        fx.copy(self.narrow, self.b_in_memory, self.b_fetched[held], soffset=at * BLOCK)

    def eight(self, j: int, i: int, part: int) -> Any:
        """Return sums of eight neighbouring columns, the first of which is ``part`` columns behind the instruction's
        first: instructions that have neighbours take turns."""
        together = self.plan.together
        taken = [self.total[None, j + turn, i].load() for turn in range(together)]
        taken = [values.reshape(values.numel) for values in taken]
        places = range(part, part + EIGHT)
        return fx.Vector.from_elements([taken[at % together][at // together] for at in places], fx.Float32)

    def multiply(self, tile: int) -> None:
        held = tile % self.plan.unroll
        fx.gemm(self.tiled, self.total, self.b[held], self.a[held], self.total)


@flyc.jit
def multiply_all(pipeline: Any, plan: Fp8Plan) -> None:
    """The loop over K: what is multiplied makes room for the tile ``unroll`` further on."""
    for tile in fx.range_constexpr(min(plan.unroll, plan.iterations)):
        pipeline.fetch(tile)
    for iteration in range(plan.loops):
        for tile in fx.range_constexpr(plan.unroll):
            pipeline.multiply(tile)
            pipeline.fetch(tile + plan.unroll, iteration * (plan.unroll * plan.tile_k))
            rocdl.sched_barrier(0)
    done = plan.loops * plan.unroll
    for tile in fx.range_constexpr(plan.iterations - done):
        pipeline.multiply(tile)
        if fx.const_expr(done + tile + plan.unroll < plan.iterations):
            pipeline.fetch(tile + plan.unroll, done * plan.tile_k)


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


@cache
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
        require_whole(C, A, B)
        fp8_gemm_kernel(C, A, B, scale_a, scale_b).launch(grid=(blocks, 1, 1), block=(THREADS, 1, 1), stream=stream)

    return fp8_gemm


@cache
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
