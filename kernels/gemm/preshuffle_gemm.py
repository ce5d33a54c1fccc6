"""A matrix product whose weights are shuffled ahead of time, for AMD's matrix cores.

gemm = compile_preshuffle_gemm(N=4096, K=4096, tile_m=128, tile_n=128, tile_k=64, in_dtype="fp16")
gemm(C, A, shuffle_weight(B), scale_a, scale_b, bias, M, N, stream)

C[m, n] = act((sum of A[m, k] * B[n, k] over k) * scale_a[m] * scale_b[n] + bias[n]). Scales are read for 8-bit
inputs, the bias where the epilogue names it. M is any number, and differs per call.

A goes from global memory through registers into one of two tiles of LDS, where the 16-byte pieces of a row are exchanged
by the number of the row so that banks do not collide. B was put on the host in the order in which lanes want it, so it goes
from global memory straight to registers. While one tile is multiplied, the next tiles of both are on their way. What lies
beyond the last row of A reads as zero, and is not stored to C: the buffer descriptors end there.

The instruction gets B as its first operand and A as its second, so that a lane ends with four neighbouring columns of one
row of C.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import rocdl

THREADS, WAVES = 256, 4
ACCESS_BYTES = 16
ACCESS_LANES = 4
"""Lanes that lie side by side along K in a matrix instruction of 16 rows."""

IN_DTYPES: dict[str, tuple[Any, ...]] = {
    "fp16": (fx.Float16,),
    "bf16": (fx.BFloat16,),
    "fp8": (fx.Float8E4M3FNUZ, fx.Float8E4M3FN),
    "int8": (fx.Int8,),
}
"""Element types by name; the 8-bit float is the one that the target multiplies."""

OUT_DTYPES: dict[str, Any] = {"fp16": fx.Float16, "bf16": fx.BFloat16}
ACTIVATIONS = {
    "none": lambda x: x,
    "relu": lambda x: fx.maximum(x, 0.0),
    "silu": lambda x: x / (1.0 + fx.math.exp(-x)),
    "gelu": lambda x: 0.5 * x * (1.0 + fx.math.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))),
}


# On the host -----------------------------------------------------------------------------------------


def shuffle_weight(weight: Any) -> Any:
    """B[n, k] in the order of the kernel's loads: [N/16][K/Kp][16][Kp], where Kp elements fill 16 bytes."""
    n, k = weight.shape
    piece = ACCESS_BYTES // weight.itemsize
    if n % 16 or k % 32 or k % piece:
        raise ValueError(f"a weight is shuffled in blocks of 16 x 32, and its shape is {n} x {k}")
    blocks = weight.reshape(n // 16, 16, k // piece, piece)
    return blocks.swapaxes(1, 2).reshape(n, k).copy()


# The plan --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GemmPlan:
    """A checked choice of tiles; the only place that decides sizes."""

    n: int
    k: int
    tile_m: int
    tile_n: int
    tile_k: int
    in_dtype: str
    out_dtype: str
    epilogue: str
    scheduled: bool
    lds_stages: int

    def __post_init__(self) -> None:
        for name, value, known in (
            ("in_dtype", self.in_dtype, IN_DTYPES),
            ("out_dtype", self.out_dtype, OUT_DTYPES),
            ("epilogue", self.epilogue, EPILOGUES),
            ("lds_stage", self.lds_stages, (1, 2)),
        ):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(map(str, known))}, got {value!r}")
        for name, value, step in self._steps():
            if value <= 0 or value % step:
                raise ValueError(f"{name} = {value} must be a positive multiple of {step}")
        pieces = self.row_bytes // ACCESS_BYTES
        if pieces & (pieces - 1):
            raise ValueError(f"tile_k = {self.tile_k} makes {pieces} pieces of 16 bytes a row; it must be a power of two")

    def _steps(self) -> tuple[tuple[str, int, int], ...]:
        return (
            ("tile_m", self.tile_m, 16),
            ("tile_n", self.tile_n, 16 * WAVES),
            ("tile_k * bytes of an element", self.row_bytes, ACCESS_LANES * ACCESS_BYTES),
            ("tile_m * tile_k * bytes of an element", self.tile_m * self.row_bytes, THREADS * ACCESS_BYTES),
            ("N (tile_n divides it)", self.n, self.tile_n),
            ("K (tile_k divides it)", self.k, self.tile_k),
        )

    @property
    def elem_bytes(self) -> int:
        return IN_DTYPES[self.in_dtype][0].width // 8

    @property
    def row_bytes(self) -> int:
        return self.tile_k * self.elem_bytes

    @property
    def piece(self) -> int:
        """Elements of one 16-byte access."""
        return ACCESS_BYTES // self.elem_bytes

    @property
    def chunks(self) -> int:
        """Parts of a tile along K that the lanes' 16-byte accesses cover at once."""
        return self.row_bytes // (ACCESS_LANES * ACCESS_BYTES)

    @property
    def a_loads(self) -> int:
        """16-byte loads of a thread for a tile of A."""
        return self.tile_m * self.row_bytes // (THREADS * ACCESS_BYTES)

    @property
    def b_loads(self) -> int:
        """16-byte loads of a thread for a chunk of B: one for every 16 columns of its wave."""
        return self.tile_n // (16 * WAVES)

    def in_flight(self, chunk: int) -> int:
        """Loads that may be outstanding when a chunk of B is needed: those issued after it."""
        return self.b_loads * (self.chunks - 1) + (self.a_loads if chunk else 0)

    @property
    def turns(self) -> int:
        return self.k // self.tile_k

    @property
    def scaled(self) -> bool:
        return self.elem_bytes == 1

    @property
    def biased(self) -> bool:
        return self.epilogue.startswith("bias")

    @property
    def activation(self) -> str:
        return self.epilogue.removeprefix("bias").removeprefix("_") or "none"


EPILOGUES = ("none", "relu", "silu", "gelu", "bias", "bias_relu", "bias_silu", "bias_gelu")


# The instruction -------------------------------------------------------------------------------------


def tiled_instruction(plan: GemmPlan) -> tuple[Any, Any, int]:
    """The element type, the deepest instruction of 16 rows that the target has, and how many one access feeds.

    Waves lie side by side along N. K is permuted so that the elements of a lane's 16-byte access stay in the lane.
    """
    accumulator = fx.Int32 if plan.in_dtype == "int8" else fx.Float32
    for dtype in IN_DTYPES[plan.in_dtype]:
        for depth in (32, 16):
            try:
                atom = fx.make_mma_atom(rocdl.MFMA(16, 16, depth, dtype, accumulator))
            except ValueError:  # this target has no such instruction
                continue
            run = depth // ACCESS_LANES
            steps = plan.piece // run
            along_k = fx.make_layout((run, ACCESS_LANES, steps), (1, plan.piece, run))
            waves = fx.make_layout((WAVES, 1, 1), (1, 0, 0))
            return dtype, fx.make_tiled_mma(atom, waves, (None, None, along_k)), steps
    raise ValueError(f"this target has no matrix instruction of 16 rows for {plan.in_dtype}")


# The kernel ------------------------------------------------------------------------------------------


def rows_from(tensor: Any, first: Any, rows: Any, tile: int, layout: Any) -> Any:
    """A block of a row-major matrix through a descriptor that ends with its last row."""
    columns = fx.get_scalar(fx.cosize(layout)) // tile
    start = fx.get_iter(tensor) + fx.Int64(first) * columns
    inside = fx.min(rows - first, fx.Int32(tile))
    size = tensor.dtype.width // 8
    return fx.make_view(rocdl.make_buffer_ptr(start, fx.Int64(inside) * (columns * size)), layout)


def weights_from(tensor: Any, first: Any, plan: GemmPlan) -> Any:
    """The columns of a block in the shuffled B, as (n, k)."""
    piece = plan.piece
    shape = ((16, plan.tile_n // 16), (piece, plan.k // piece))
    layout = fx.make_layout(shape, ((piece, 16 * plan.k), (1, 16 * piece)))
    start = fx.get_iter(tensor) + fx.Int64(first) * plan.k
    return fx.make_view(rocdl.make_buffer_ptr(start, plan.tile_n * plan.k * plan.elem_bytes), layout)


def lds_tiles(plan: GemmPlan, dtype: Any) -> Any:
    """The tiles of A in LDS, (rows, K, stage), with the pieces of a row exchanged by its number."""
    shape = (plan.tile_m, plan.tile_k, plan.lds_stages)
    bits = (plan.row_bytes // ACCESS_BYTES).bit_length() - 1
    swizzle = fx.static(fx.SwizzleType.get(bits, plan.piece.bit_length() - 1, bits))
    storage = fx.SharedAllocator().allocate(fx.Array[dtype, shape[0] * shape[1] * shape[2]], ACCESS_BYTES * 8)
    layout = fx.make_layout(shape, (plan.tile_k, 1, plan.tile_m * plan.tile_k))
    return fx.make_view(storage.peek().ptr, fx.make_composed_layout(swizzle, layout))


def row_copy(atom: Any, plan: GemmPlan) -> Any:
    """Neighbouring threads take neighbouring 16-byte pieces of a row of a tile of A."""
    across = plan.row_bytes // ACCESS_BYTES
    threads = fx.make_layout((THREADS // across, across), (across, 1))
    return fx.make_tiled_copy_tv(atom, threads, fx.make_layout((1, plan.piece), (0, 1)))


class Pipeline:
    """A thread's copies and registers.

    A tile is multiplied in chunks of 64 bytes along K. While a chunk is multiplied, A's next chunk comes from LDS and the
    same chunk of B's next tile from global memory; the tile of A after the next is on its way to registers meanwhile.
    """

    def __init__(self, plan: GemmPlan, A: Any, B: Any, m: Any, column: Any, row: Any) -> None:
        self.plan, self.thread = plan, fx.thread_idx.x
        dtype, self.tiled, self.instructions = tiled_instruction(plan)
        weights = weights_from(B, column * plan.tile_n, plan)
        rows = rows_from(A, row * plan.tile_m, m, plan.tile_m, fx.make_layout((plan.tile_m, plan.k), (plan.k, 1)))
        self.weights = fx.zipped_divide(weights, (plan.tile_n, plan.tile_k))
        self.rows = fx.zipped_divide(rows, (plan.tile_m, plan.tile_k))
        self.lds = lds_tiles(plan, dtype)

        through_buffer = fx.make_copy_atom(rocdl.BufferCopy128b(), dtype)
        plain = fx.make_copy_atom(fx.UniversalCopy128b(), dtype)
        self.fetch_rows, self.stage_rows = row_copy(through_buffer, plan), row_copy(plain, plan)
        self.fetch_weights = fx.make_tiled_copy_A(through_buffer, self.tiled)
        self.read_rows = fx.make_tiled_copy_B(plain, self.tiled)

        self.fetched = fx.make_fragment_like(self.fetch_rows.get_slice(self.thread).partition_S(self.rows[None, (0, 0)]))
        self.b = [self.tiled.make_fragment_A(self.weights[None, (0, 0)]) for _ in range(2)]
        self.a = self.tiled.make_fragment_B(self.lds[None, None, 0])
        self.total = self.tiled.make_fragment_C(fx.make_identity_tensor((plan.tile_n, plan.tile_m)))
        self.total.fill(0)

    def load_a(self, tile: int, after: Any = 0) -> None:
        """Fetch a tile of A, counted from ``after`` elements along K."""
        mine = self.fetch_rows.get_slice(self.thread)
        fx.copy(self.fetch_rows, mine.partition_S(self.rows[None, (0, tile)]), self.fetched, soffset=after)

    def stage_a(self, slot: int) -> None:
        """Put the fetched tile of A into LDS."""
        mine = self.stage_rows.get_slice(self.thread)
        fx.copy(self.stage_rows, self.fetched, mine.partition_D(self.lds[None, None, slot]))

    def read_a(self, slot: int, chunk: int) -> None:
        """A chunk of A from LDS to registers."""
        mine = self.read_rows.get_slice(self.thread)
        source, target = mine.partition_S(self.lds[None, None, slot]), mine.retile(self.a)
        fx.copy(self.read_rows, source[None, None, chunk], target[None, None, chunk])

    def load_b(self, tile: int, chunk: int, after: Any = 0) -> None:
        """Fetch a chunk of a tile of B. A step along K passes 16 rows of the shuffled B."""
        mine = self.fetch_weights.get_slice(self.thread)
        source, target = mine.partition_S(self.weights[None, (0, tile)]), mine.retile(self.b[tile % 2])
        fx.copy(self.fetch_weights, source[None, None, chunk], target[None, None, chunk], soffset=16 * after)

    def multiply(self, tile: int, chunk: int) -> None:
        at = (None, None, chunk if self.instructions == 1 else (None, chunk))
        fx.gemm(self.tiled, self.total, self.b[tile % 2][at], self.a[at], self.total, traversal_order="MKN")

    def start(self) -> None:
        """The first tile into LDS and registers, the second of A on its way."""
        self.load_a(0)
        self.stage_a(0)
        if self.plan.turns > 1:
            self.load_a(1)
        rocdl.sched_barrier(0)
        for chunk in range(self.plan.chunks):
            self.load_b(0, chunk)
            rocdl.sched_barrier(0)
        fx.barrier()
        self.read_a(0, 0)

    def step(self, tile: int, after: Any, left: int) -> None:
        """Multiply one tile, ``left`` more follow. ``tile`` is counted from ``after`` elements along K."""
        plan, last = self.plan, self.plan.chunks - 1
        now, following = tile % plan.lds_stages, (tile + 1) % plan.lds_stages
        for chunk in range(plan.chunks):
            if left > 1:
                rocdl.s_waitcnt(vmcnt=plan.in_flight(chunk), lgkmcnt=0)
                rocdl.sched_barrier(0)
            if chunk == 0 and left:
                self.stage_a(following)
                if left > 1:
                    self.load_a(tile + 2, after)
            if chunk < last:
                self.read_a(now, chunk + 1)
            elif left:
                fx.barrier()
                self.read_a(following, 0)
            if left:
                self.load_b(tile + 1, chunk, after)
            self.multiply(tile, chunk)
            if left > 1:
                self.hint(chunk)
            rocdl.sched_barrier(0)

    def hint(self, chunk: int) -> None:
        """Spread a chunk's memory accesses over its matrix instructions."""
        plan, tiles = self.plan, self.plan.tile_m // 16
        LEAD = int(os.environ.get("LEAD", "0"))
        writes, loads, reads = (plan.a_loads if chunk == 0 else 0), plan.b_loads + (plan.a_loads if chunk == 0 else 0), tiles
        if os.environ.get("NOHINT"): return
        slots = tiles - LEAD
        for slot in range(tiles):
            at = min(slot, slots), min(slot + 1, slots)
            for ask, count in ((rocdl.sched_dswr, writes), (rocdl.sched_vmem, loads), (rocdl.sched_dsrd, reads)):
                share = count * at[1] // slots - count * at[0] // slots
                if share:
                    ask(share)
            rocdl.sched_mfma(plan.b_loads * self.instructions)


@flyc.jit
def multiply_tiles(C: Any, A: Any, B: Any, scale_a: Any, scale_b: Any, bias: Any, m: Any, plan: GemmPlan) -> None:
    """One block: the tile of C at (block y, block x)."""
    column, row, _ = fx.block_idx
    pipeline = Pipeline(plan, A, B, m, column, row)
    pipeline.start()
    pairs = max(plan.turns - 2, 0) // 2
    for pair in range(pairs):
        pipeline.step(0, pair * (2 * plan.tile_k), 2)
        pipeline.step(1, pair * (2 * plan.tile_k), 2)
    for tile in fx.range_constexpr(plan.turns - 2 * pairs):
        pipeline.step(tile, pairs * (2 * plan.tile_k), plan.turns - 2 * pairs - 1 - tile)
    store_tile(pipeline, C, m, column, row)


def store_tile(pipeline: Pipeline, C: Any, m: Any, column: Any, row: Any) -> None:
    plan = pipeline.plan
    rows = rows_from(C, row * plan.tile_m, m, plan.tile_m, fx.make_layout((plan.tile_m, plan.n), (plan.n, 1)))
    block = fx.zipped_divide(fx.select(rows, [1, 0]), (plan.tile_n, plan.tile_m))[None, (column, 0)]
    out_dtype = OUT_DTYPES[plan.out_dtype]
    place = pipeline.tiled.get_slice(fx.thread_idx.x).partition_C(block)
    result = fx.make_fragment_like(place)
    result.store(pipeline.total.load().to(out_dtype))
    fx.copy(fx.make_copy_atom(rocdl.BufferCopy64b(), out_dtype), result, place)


@cache
def compile_preshuffle_gemm(
    *, N: int, K: int, tile_m: int = 128, tile_n: int = 128, tile_k: int = 64, in_dtype: str = "fp16",
    out_dtype: str = "fp16", epilogue: str = "none", enable_scheduler: bool = True, lds_stage: int = 2,
) -> Any:  # fmt: skip
    plan = GemmPlan(N, K, tile_m, tile_n, tile_k, in_dtype, out_dtype, epilogue, enable_scheduler, lds_stage)

    @flyc.kernel(known_block_size=(THREADS, 1, 1))
    def preshuffle_gemm_kernel(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, scale_a: fx.Tensor, scale_b: fx.Tensor, bias: fx.Tensor, m: fx.Int32
    ):
        multiply_tiles(C, A, B, scale_a, scale_b, bias, m, plan)

    @flyc.jit
    def preshuffle_gemm(
        C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, scale_a: fx.Tensor, scale_b: fx.Tensor, bias: fx.Tensor, M: fx.Int32,
        N: fx.Int32, stream: fx.Stream = fx.Stream(None),
    ):  # fmt: skip
        blocks = (plan.n // plan.tile_n, fx.ceildiv(M, plan.tile_m), 1)
        preshuffle_gemm_kernel(C, A, B, scale_a, scale_b, bias, M).launch(
            grid=blocks, block=(THREADS, 1, 1), stream=stream
        )

    return preshuffle_gemm
