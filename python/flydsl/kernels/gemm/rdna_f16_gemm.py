"""A matrix product of f16 or bf16 on RDNA's matrix instructions: gfx11 and gfx120x, whose registers differ.

gemm, tile_m, tile_n, tile_k = create_wmma_gemm_module(M, N, K, "bf16", "bf16")
gemm(C, A, B_T, stream)

C[m, n] = sum over k of A[m, k] * B_T[n, k]; A, B_T and C have contiguous rows. M and N are any, K a multiple of 8.

Tiles of A and B go from global memory through registers into LDS, where the 16-byte pieces of a row are exchanged by
the number of the row, so that neither reads nor writes of a wave meet in a bank. While a tile is multiplied, the next
one is on its way to registers. It takes the same place in LDS before the last products of the tile: two places would
take the room of another block on the unit. What lies beyond the last row reads as zero because the buffer descriptors
end there.

The instruction gets B as its first operand and A as its second: a lane ends with eight columns of one row of C. On
gfx12 they are neighbours. On gfx11 a lane has every second one, so the rows of B come into the tile in an order that
makes neighbours of them (`column_order`).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.autotune import Config, autotune
from flydsl.expr import rocdl
from flydsl.kernels.blocks.inputs import require_elements, require_pitch, require_room
from flydsl.kernels.blocks.kept_launchers import kept
from flydsl.kernels.blocks.limits import hint_waves, refuse, require_multiple
from flydsl.kernels.gemm.wmma.rdna_plan import (
    BLOCK,
    IN_DTYPES,
    LANES,
    OUT_DTYPES,
    PIECE,
    RdnaPlan,
    pick_tile,
    ranked_tiles,
)
from flydsl.kernels.gemm.wmma.wmma_result import OfColumns, ResultRows, rounded_at_random

TRIED = 4
"""Tiles that a search measures."""
IN_ORDER = (BLOCK, 1)
"""The `column_order` of rows that stand for the columns of their own number."""

# The instruction -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Instruction:
    """The matrix instruction over the waves of a block, and what differs between the two generations."""

    tiled: Any
    column_order: tuple[Any, Any]
    """Shape and stride of the column, of 16 of C, that each row of the first operand stands for."""
    tiles: int
    """That an iteration of the loop multiplies; with two on gfx11, LLVM spills."""

    def ordered(self, tile: fx.Tensor) -> Any:
        """Return a tile with the columns of C as its first mode, in the order of the first operand's rows."""
        shape, stride = self.column_order
        columns, others = (fx.get_scalar(fx.size(mode)) for mode in tile.shape)
        order = fx.make_layout((shape, columns // BLOCK), (stride, BLOCK))
        return fx.composition(tile, (order, fx.make_layout(others, 1)))


def tiled_instruction(plan: RdnaPlan) -> Instruction:
    """Return the instruction of the target being compiled for; waves lie along N first."""
    dtype = IN_DTYPES[plan.in_dtype]
    waves = fx.make_layout((plan.waves_n, plan.waves_m, 1), (1, plan.waves_n, 0))
    with suppress(ValueError):
        atom = fx.make_mma_atom(rocdl.rdna4.WMMA(BLOCK, BLOCK, BLOCK, dtype))
        return Instruction(fx.make_tiled_mma(atom, waves), IN_ORDER, 2)
    with suppress(ValueError):
        atom = fx.make_mma_atom(rocdl.rdna3.WMMA(BLOCK, BLOCK, BLOCK, dtype))
        return Instruction(fx.make_tiled_mma(atom, waves), ((2, 8), (8, 1)), 1)
    raise RuntimeError(
        "this kernel is for gfx11 and gfx120x; gfx1250 has compile_wmma_gemm_tdm, gfx9 the preshuffle GEMM"
    )


# Memory ----------------------------------------------------------------------------------------------


def is_whole(rows: Any, tile: int) -> bool:
    """Return whether tiles are known to end with the last row."""
    return isinstance(rows, int) and rows % tile == 0


def rows_of(tensor: Any, first: fx.Int32, rows: Any, tile: int, stride: int, plan: RdnaPlan) -> Any:
    """``tile`` rows of a matrix of ``rows``, one tile wide, through a descriptor that ends with the last row."""
    inside = fx.Int32(tile) if is_whole(rows, tile) else fx.min(fx.Int32(rows) - first, fx.Int32(tile))
    records = (fx.Int64(inside - 1) * stride + plan.k) * (tensor.dtype.width // 8)
    start = rocdl.make_buffer_ptr(fx.get_iter(tensor) + fx.Int64(first) * stride, records)
    return fx.make_view(start, fx.make_layout((tile, plan.tile_k), (stride, 1)))


def lds_tile(allocator: Any, plan: RdnaPlan, rows: int, pad: int, dtype: Any) -> Any:
    """Return the place of a tile in LDS: with the pieces of a row exchanged by its number, padded, or in blocks along
    K."""
    pieces, line = plan.tile_k // PIECE, plan.tile_k + pad
    start = allocator.allocate(fx.Array[dtype, rows * line], 128).peek().ptr
    if plan.layout == "kblock":
        layout = fx.make_layout((rows, (PIECE, pieces)), (PIECE, (1, rows * PIECE)))
        return fx.make_view(start, layout)
    layout = fx.make_layout((rows, plan.tile_k), (line, 1))
    if plan.layout == "exchange":
        bits = pieces.bit_length() - 1
        swizzle = fx.static(fx.SwizzleType.get(min(bits, 3), PIECE.bit_length() - 1, max(bits, 3)))
        layout = fx.make_composed_layout(swizzle, layout)
    return fx.make_view(start, layout)


class Operand:
    """A matrix on its way from global memory through registers and LDS to the registers of the instruction."""

    def __init__(
        self, allocator: Any, plan: RdnaPlan, rows: Any, pad: int, fragments: list[Any], read: Any, apart: int
    ) -> None:
        """``rows`` are a tile's rows in global memory, ``read`` what a lane reads of LDS; steps along K take
        ``fragments`` by turns. Rows ``apart`` elements from each other are told apart by scalar offsets, if not 0."""
        tile, thread = fx.get_scalar(fx.size(rows.shape[0])), fx.thread_idx.x
        place = lds_tile(allocator, plan, tile, pad, rows.dtype)
        self.fetch_by = fx.make_copy_atom(rocdl.BufferCopy128b(), rows.dtype)
        self.plain = fx.make_copy_atom(fx.UniversalCopy128b(), rows.dtype)
        across = plan.tile_k // PIECE
        lanes = fx.make_layout((plan.threads // across, across), (across, 1))
        fetch, stage = (
            fx.make_tiled_copy_tv(atom, lanes, fx.make_layout((1, PIECE), (0, 1))).get_slice(thread)
            for atom in (self.fetch_by, self.plain)
        )
        self.in_memory = fetch.partition_S(rows)
        self.places = fetch.partition_S(fx.make_identity_tensor((tile, plan.tile_k)))
        self.fetched = fx.make_fragment_like(self.in_memory)
        self.pieces, self.further = fx.get_scalar(fx.size(self.fetched.shape[1])), plan.threads // across * apart
        self.to_lds = stage.partition_D(place)
        self.in_lds, self.fragments = read.partition_S(place), fragments
        self.targets = [read.retile(fragment) for fragment in fragments]

    def fetch(self, at: fx.Int32 | int) -> None:
        """Fetch the tile that begins ``at`` along K."""
        for piece in range(self.pieces):
            self.fetch_piece(piece, at)

    def fetch_piece(self, piece: int, at: fx.Int32 | int) -> None:
        source = self.in_memory[None, 0 if self.further else piece, None]
        fx.copy(self.fetch_by, source, self.fetched[None, piece, None], soffset=at + piece * self.further)

    def stage(self, width: int) -> None:
        """Put it into LDS; columns from ``width`` on belong to the next row, and zeros take their place."""
        if width:
            inside = fx.get_scalar(fx.get_(self.places[0], 1)) < width  # a thread's pieces lie in one column
            values = self.fetched.load()
            self.fetched.store(inside.select(values, fx.Vector.zeros_like(values)))
        fx.copy(self.plain, self.fetched, self.to_lds)

    def exchange(self, at: fx.Int32 | int) -> None:
        """Put a whole tile into LDS piece by piece, and fetch of the next one what takes its registers."""
        for piece in range(self.pieces):
            fx.copy(self.plain, self.fetched[None, piece, None], self.to_lds[None, piece, None])
            rocdl.sched_barrier(0)  # not before they are free
            self.fetch_piece(piece, at)
            rocdl.sched_barrier(0)

    def read(self, step: int, block: int) -> None:
        """Read what a step along K takes of 16 rows."""
        target = self.targets[step % len(self.targets)]
        fx.copy(self.plain, self.in_lds[None, block, step], target[None, block, 0])

    def held(self, step: int, block: int) -> Any:
        """Return what was read of 16 rows for a step, as the instruction takes it."""
        return fx.coalesce(self.fragments[step % len(self.fragments)][None, block, 0])


def scalar_distances(plan: RdnaPlan, instruction: Instruction, m: Any) -> tuple[int, int]:
    """Return the distance of rows of A and of B in elements where scalar offsets tell a thread's rows apart, else 0.

    On gfx12 both operands are fetched by the same offsets of lanes. On gfx11 those of B are in another order, and would
    take registers of their own. A scalar offset must not lie beyond the last row: the hardware compares with the size
    less this offset.
    """
    alike = instruction.column_order == IN_ORDER
    if alike or plan.threads * PIECE // plan.tile_k % BLOCK:
        return 0, 0
    return is_whole(m, plan.tile_m) * plan.lda, is_whole(plan.n, plan.tile_n) * plan.ldb


# The pipeline ----------------------------------------------------------------------------------------


class Pipeline:
    """The copies and registers of a thread for one tile of C; steps along K are 16 deep.

    A step multiplies the wave's columns of B with 16 rows of A after the other. The next rows are read beside them, and
    beside the last rows the columns of the next step, each once its predecessor has been used: so operands take few
    registers.
    """

    def __init__(
        self, plan: RdnaPlan, instruction: Instruction, A: fx.Tensor, B: fx.Tensor, m: Any, row: fx.Int32,
        column: fx.Int32,
    ) -> None:  # fmt: skip
        self.plan, self.tiled, self.m = plan, instruction.tiled, m
        self.wave = rocdl.readfirstlane(fx.Int32(fx.thread_idx.x // LANES))
        tiled, dtype = self.tiled, IN_DTYPES[plan.in_dtype]
        for name, tensor in (("A", A), ("B_T", B)):
            if tensor.dtype is not dtype:
                raise ValueError(
                    f"{name} must hold {dtype.__name__} for in_dtype={plan.in_dtype!r}, not {tensor.dtype.__name__}"
                )
        plain = fx.make_copy_atom(fx.UniversalCopy128b(), dtype)
        a_tile, b_tile = (fx.make_identity_tensor((rows, BLOCK)) for rows in (plan.tile_m, plan.tile_n))
        a_rows = rows_of(A, row * plan.tile_m, m, plan.tile_m, plan.lda, plan)
        b_rows = rows_of(B, column * plan.tile_n, plan.n, plan.tile_n, plan.ldb, plan)
        b_rows = instruction.ordered(b_rows)
        a_fragments = [fx.make_fragment_like(tiled.make_fragment_B(a_tile), dtype=dtype) for _ in range(2)]
        b_fragments = [fx.make_fragment_like(tiled.make_fragment_A(b_tile), dtype=dtype)]
        allocator, thread = fx.SharedAllocator(), self.wave * LANES + fx.lane_id()
        reads = [make(plain, tiled).get_slice(thread) for make in (fx.make_tiled_copy_B, fx.make_tiled_copy_A)]
        apart = scalar_distances(plan, instruction, m)
        self.a = Operand(allocator, plan, a_rows, plan.pads[0], a_fragments, reads[0], apart[0])
        self.b = Operand(allocator, plan, b_rows, plan.pads[1], b_fragments, reads[1], apart[1])
        self.total = tiled.make_fragment_C(fx.make_identity_tensor((plan.tile_n, plan.tile_m)))
        self.total.fill(0)

    def fetch(self, tile: int, after: fx.Int32 | int = 0) -> None:
        """Fetch a tile of both operands, counted from ``after`` elements along K."""
        for operand in (self.a, self.b):
            operand.fetch(after + tile * self.plan.tile_k)

    def stage(self, is_last: bool) -> None:
        for operand in (self.a, self.b):
            operand.stage(self.plan.k % self.plan.tile_k if is_last else 0)

    def hold_order(self) -> None:
        """Keep the compiler from moving loads ahead, for which there are not the registers."""
        if self.plan.scheduled:
            rocdl.sched_barrier(0)

    def start(self) -> None:
        """The first tile into LDS, the second on its way."""
        self.fetch(0)
        self.stage(self.plan.iterations == 1)
        if self.plan.iterations > 1:
            self.fetch(1)
        rocdl.lds_barrier()

    def iteration(self, tile: int, after: fx.Int32 | int, left: int) -> None:
        """Multiply a tile; ``left`` is how many follow it, as far as that matters (2 or more are alike)."""
        plan = self.plan
        for column in range(plan.reg_n):
            self.b.read(0, column)
        self.a.read(0, 0)
        for step in range(plan.reg_k):
            for row in range(plan.reg_m):
                is_last = (step, row) == (plan.reg_k - 1, plan.reg_m - 1)
                if not is_last:
                    self.a.read(*divmod(step * plan.reg_m + row + 1, plan.reg_m))
                if is_last and left >= 1:
                    self.hand_over(tile, after, left)
                self.hold_order()
                self.multiply(step, row)
        if left >= 1:
            rocdl.lds_barrier()

    def hand_over(self, tile: int, after: fx.Int32 | int, left: int) -> None:
        """The next tile into LDS once everyone has read the one that is there, and the one behind it on its way."""
        rocdl.lds_barrier()
        rocdl.s_waitcnt(vmcnt=0)  # once, and not for every access: all were sent for together
        if left == 1:
            self.stage(True)
            return
        for operand in (self.a, self.b):
            operand.exchange(after + (tile + 2) * self.plan.tile_k)

    def multiply(self, step: int, row: int) -> None:
        """The products of 16 rows; columns of the next step take the place of those that nobody needs any more."""
        plan = self.plan
        for column in range(plan.reg_n):
            total = fx.coalesce(self.total[None, column, row])
            fx.gemm(self.tiled, total, self.b.held(step, column), self.a.held(step, row), total)
            if row == plan.reg_m - 1 and step < plan.reg_k - 1:
                self.hold_order()
                self.b.read(step + 1, column)
        self.hold_order()


@flyc.jit
def multiply_all(pipeline: Any, plan: RdnaPlan, together: int) -> None:
    """The loop over K, ``together`` tiles an iteration; the last tiles, with less or nothing to fetch, follow it."""
    pipeline.start()
    for number in range(plan.loops // together):
        for tile in fx.range_constexpr(together):
            pipeline.iteration(tile, number * (together * plan.tile_k), 2)
    done = plan.loops // together * together
    for tile in fx.range_constexpr(plan.iterations - done):
        pipeline.iteration(tile, done * plan.tile_k, plan.iterations - done - 1 - tile)


# The result ------------------------------------------------------------------------------------------


def store_tile(
    pipeline: Pipeline, instruction: Instruction, C: fx.Tensor, bias: Any, row: fx.Int32, column: fx.Int32,
    seed: fx.Int32,
) -> None:  # fmt: skip
    """16 rows of a wave after the other; a ``bias`` is that of the columns, or None."""
    plan, out = pipeline.plan, OUT_DTYPES[pipeline.plan.out_dtype]
    if C.dtype is not out:
        raise ValueError(f"C must hold {out.__name__} for out_dtype={plan.out_dtype!r}, not {C.dtype.__name__}")
    first, start = row * plan.tile_m, column * plan.tile_n
    rows = ResultRows(C, first, fx.min(fx.Int32(pipeline.m) - first, fx.Int32(plan.tile_m)), plan.n, plan.ldc)
    of_columns = None if bias is None else OfColumns(bias, plan.n)
    tile = instruction.ordered(fx.make_identity_tensor((plan.tile_n, plan.tile_m)))
    # The thread's number anew: the one of before would be kept in registers while tiles are multiplied.
    coords = pipeline.tiled.get_slice(pipeline.wave * LANES + rocdl.mbcnt(fx.gpu.ballot(True))).partition_C(tile)
    for i in range(plan.reg_m):
        for j in range(plan.reg_n):
            n, m = (fx.get_scalar(fx.get_(coords[0, j, i], mode)) for mode in range(2))
            values = pipeline.total[None, j, i].load()
            values = values.reshape(values.numel)
            if of_columns is not None:
                values = values + of_columns[start + n]
            if plan.rounding == "rs":
                values = rounded_at_random(values, first + m, start + n, seed)
            rows.store(values.to(out), m, start + n, plan.n % plan.tile_n != 0)
        rocdl.sched_barrier(0)


# The kernel ------------------------------------------------------------------------------------------


@flyc.jit
def multiply_tile(C: Any, A: Any, B: Any, bias: Any, m: Any, index: Any, seed: Any, plan: RdnaPlan) -> None:
    """The tile of C with this number, in bands of ``group_m`` rows of tiles."""
    instruction = tiled_instruction(plan)
    row, column = fx.schedule.bands(index, *plan.grid_of(m), plan.group_m)
    pipeline = Pipeline(plan, instruction, A, B, m, row, column)
    multiply_all(pipeline, plan, instruction.tiles)
    store_tile(pipeline, instruction, C, bias, row, column, seed)


@kept
def kernel_of(plan: RdnaPlan) -> Any:
    """Return the kernel of a plan whose M is known."""
    tiles = plan.grid[0] * plan.grid[1]

    @flyc.kernel(known_block_size=(plan.threads, 1, 1))
    def rdna_gemm_kernel(C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, seed: fx.Int32):
        if fx.const_expr(plan.persistent):
            for index in range(*fx.schedule.persistent(fx.block_idx.x, plan.blocks_of(plan.m), tiles)):
                multiply_tile(C, A, B, None, plan.m, index, seed, plan)
                rocdl.lds_barrier()  # everyone has read LDS
        else:
            multiply_tile(C, A, B, None, plan.m, fx.block_idx.x, seed, plan)

    return rdna_gemm_kernel


def require_matrices(C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, m: Any, plan: RdnaPlan) -> None:
    """Have a launch refuse matrices that do not lie as the plan has them, or have less elements."""
    rows = fx.Int64(m)
    require_room(("C", C, rows * plan.n), ("A", A, rows * plan.k), ("B_T", B, plan.n * plan.k))
    for matrix, pitch, least in ((C, plan.ldc, plan.n), (A, plan.lda, plan.k), (B, plan.ldb, plan.k)):
        require_pitch(matrix, pitch, least)


@kept
def biased_launcher(plan: RdnaPlan, biased: bool = True) -> Any:
    """``fn(C, A, B_T, bias, M, stream)``; the bias has the type of A, or is f32."""

    @flyc.kernel(known_block_size=(plan.threads, 1, 1))
    def rdna_linear_kernel(C: fx.Tensor, A: fx.Tensor, B: fx.Tensor, bias: fx.Tensor, m: fx.Int32):
        multiply_tile(C, A, B, bias if biased else None, m, fx.block_idx.x, fx.Int32(0), plan)

    @flyc.jit
    def rdna_linear(
        C: fx.Tensor, A: fx.Tensor, B_T: fx.Tensor, bias: fx.Tensor, M: fx.Int32, stream: fx.Stream = fx.Stream(None)
    ):
        require_matrices(C, A, B_T, M, plan)
        if biased:
            require_elements(("bias", bias, plan.n))
        rdna_linear_kernel(C, A, B_T, bias, M).launch(
            grid=(plan.blocks_of(M), 1, 1), block=(plan.threads, 1, 1), stream=stream
        )

    return rdna_linear


@kept
def _launcher(plan: RdnaPlan, waves_per_eu: int | None) -> Any:
    @flyc.jit
    def rdna_gemm(
        C: fx.Tensor, A: fx.Tensor, B_T: fx.Tensor, stream: fx.Stream = fx.Stream(None), sr_seed: fx.Int32 = 0
    ):
        require_matrices(C, A, B_T, plan.m, plan)
        kernel = kernel_of(plan)(C, A, B_T, sr_seed)
        kernel.launch(grid=(plan.blocks_of(plan.m), 1, 1), block=(plan.threads, 1, 1), stream=stream)

    return hint_waves(rdna_gemm, waves_per_eu)


def create_wmma_gemm_module(
    M: int, N: int, K: int, in_dtype: str = "bf16", out_dtype: str = "bf16", *, reg_m: int = 4, reg_n: int = 4,
    reg_k: int = 2, waves_m: int = 2, waves_n: int = 2, group_m: int = 8, a_k_pad: int | None = None,
    b_k_pad: int | None = None, rounding: str = "rn", lda: int = 0, ldb: int = 0, ldc: int = 0,
    persistent_wgs: int = 0, waves_per_eu: int | None = None, lds_layout: str | None = None, sched_hint: bool = True,
    stagger: int = 0,
) -> tuple[Any, int, int, int]:  # fmt: skip
    """Return the launcher ``gemm(C, A, B_T, stream, sr_seed=0)``, and the tile of a block: rows, columns, depth.

    A wave makes ``reg_m`` by ``reg_n`` products of 16 x 16 in ``reg_k`` steps a tile; ``pick_tile(M, N, K)`` gives
    these numbers for a shape. ``rounding="rs"`` rounds to bf16 at random, by ``sr_seed``. ``lda``, ``ldb`` and ``ldc``
    are distances between rows where those are longer than the matrix is wide, ``persistent_wgs`` a number of blocks
    that stay and go from tile to tile. Tiles lie in LDS with pieces of rows exchanged, which costs no room;
    ``lds_layout="pad"`` leaves ``a_k_pad`` and ``b_k_pad`` elements behind rows instead (8 where none are given), and
    "kblock" puts what is fetched of all rows at once side by side. ``sched_hint=False`` lets the compiler move loads
    among products as it likes.
    """
    require_multiple("M", M, 1)
    refuse("stagger", stagger, 0, "blocks begin in bands of tiles that share what they read; see group_m")
    padded = a_k_pad is not None or b_k_pad is not None
    layout = lds_layout or ("pad" if padded else "exchange")
    if padded and layout != "pad":
        raise ValueError(f"a_k_pad and b_k_pad are of lds_layout='pad', and it is {layout!r}; leave one of them out")
    pads = tuple(PIECE if pad is None else pad for pad in (a_k_pad, b_k_pad)) if layout == "pad" else (0, 0)
    plan = RdnaPlan(M, N, K, in_dtype, out_dtype, reg_m, reg_n, reg_k, waves_m, waves_n, group_m, rounding, lda, ldb,
                    ldc, persistent_wgs, layout, pads, sched_hint)  # fmt: skip
    return _launcher(plan, waves_per_eu), plan.tile_m, plan.tile_n, plan.tile_k


@cache
def _tuned(shape: tuple[int, int, int], in_dtype: str, out_dtype: str) -> Any:
    """Return the tiles that the model finds best, of which a search takes the fastest; without one, the first."""
    configs = [Config(**tile) for tile in ranked_tiles(*shape)[:TRIED]]

    @autotune(configs=configs, key=[], default=configs[0])
    @flyc.jit
    def tuned_gemm(
        C: fx.Tensor, A: fx.Tensor, B_T: fx.Tensor, stream: fx.Stream, reg_m: fx.Constexpr[int],
        reg_n: fx.Constexpr[int], reg_k: fx.Constexpr[int], waves_m: fx.Constexpr[int], waves_n: fx.Constexpr[int],
    ):  # fmt: skip
        plan = RdnaPlan(*shape, in_dtype, out_dtype, reg_m, reg_n, reg_k, waves_m, waves_n)
        require_matrices(C, A, B_T, plan.m, plan)
        kernel = kernel_of(plan)(C, A, B_T, 0)
        kernel.launch(grid=(plan.blocks_of(plan.m), 1, 1), block=(plan.threads, 1, 1), stream=stream)

    return tuned_gemm


def rdna3_gemm_autotuned(
    C: Any, A: Any, B_T: Any, stream: Any = None, *, in_dtype: str = "bf16", out_dtype: str = "bf16"
) -> None:
    """C = A * B_T^T by the tile that the model prefers, or with FLYDSL_AUTOTUNE=1 by the fastest of several."""
    (m, k), n = A.shape, B_T.shape[0]
    _tuned((int(m), int(n), int(k)), in_dtype, out_dtype)(C, A, B_T, stream)


__all__ = ["create_wmma_gemm_module", "pick_tile", "rdna3_gemm_autotuned"]
