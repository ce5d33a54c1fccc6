"""GEMM on Hopper: warp-specialised, with TMA and wgmma. C = act(alpha * A * B^T * scales + biases + beta * D).

One warpgroup of each block loads: a single thread of it keeps a ring of shared-memory stages filled with tiles of A
and B by TMA. One to three warpgroups multiply: each waits for a stage, issues wgmma on its rows straight from shared
memory, and gives a stage back when the products that read it are done. Each of their warps writes its own results
through shared memory while the loads of the next tile are under way.

Blocks stay for the whole launch and take one tile after the other. The blocks of a cluster lie below each other and
share their tile of B, or beside each other and share that of A, by multicast; or they have one tile together, a part
of K each, and add up through distributed shared memory, in the same order in every run.

A is (M, K), B is (N, K), C and D are (M, N), each with either mode contiguous. Extents are free; TMA wants lines of A
and B that are multiples of 16 bytes, and C is stored faster if its lines are, too. Results leave by `hopper_epilogue`;
`hopper_plan` has the configurations and chooses among them, `hopper_matmul` is how to call all this.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.gemm.hopper_epilogue import Epilogue
from flydsl.kernels.gemm.hopper_plan import ROW_BYTES, WARPGROUP, GemmConfig, GemmKind, check_config, resident_clusters

K_BLOCKS = ROW_BYTES // 32
"""Products of wgmma, 32 bytes of K each, in a stage."""
LOAD_REGISTERS = 40
MATH_REGISTERS = {2: 232, 3: 152}
"""Registers a thread has in a warpgroup that loads and, by their number, in those that multiply."""


# Operands and the order of tiles --------------------------------------------------------------------


class Operand:
    """Tiles of A or B, (rows, K): where they are in global memory and in the stages of the ring.

    ``sharers`` blocks of a cluster load a part of each tile and send it to all of them.
    """

    def __init__(self, map_: Any, ptr: Any, rows: int, bk: int, along_k: bool, sharers: int) -> None:
        self.map, self.ptr, self.rows, self.bk = map_, ptr, rows, bk
        self.along_k, self.sharers = along_k, sharers
        self.bytes = map_.bytes * (1 if along_k else rows // bk) * sharers

    @staticmethod
    def box(rows: int, bk: int, along_k: bool, sharers: int) -> tuple[int, int]:
        """What one copy moves: rows of K or, where rows are contiguous, a square of them."""
        return (rows // sharers, bk) if along_k else (bk, bk // sharers)

    def load(self, batch: tuple[Any, ...], row: Any, k: Any, stage: Any, barrier: Any, rank: Any) -> None:
        """Send for this block's part of a tile."""
        mask = None if self.sharers == 1 else (1 << self.sharers) - 1
        part = rank if self.sharers > 1 else 0
        start = self.ptr + stage * (self.rows * self.bk)
        if self.along_k:
            share = self.rows // self.sharers
            at = (*batch, row + part * share, k)
            fx.nvvm.tma_load(self.map, at, start + part * (share * self.bk), barrier, multicast=mask)
            return
        share = self.bk // self.sharers
        for box in range(self.rows // self.bk):
            place = start + (box * self.bk + part * share) * self.bk
            at = (*batch, row + box * self.bk, k + part * share)
            fx.nvvm.tma_load(self.map, at, place, barrier, multicast=mask)

    def tiles(self, stages: int) -> Any:
        """All stages as wgmma reads them: (rows, K, stage)."""
        rows, bk = self.rows, self.bk
        pointer = fx.apply_swizzle(self.ptr, self.map.swizzle)
        if self.along_k:
            return fx.make_view(pointer, fx.make_layout((rows, bk, stages), (bk, 1, rows * bk)))
        shape, stride = ((bk, rows // bk), bk, stages), ((1, bk * bk), bk, rows * bk)
        return fx.make_view(pointer, fx.make_layout(shape, stride))


class Schedule:
    """Which tiles this block computes: bands of rows, column by column inside a band, so that neighbours share L2."""

    def __init__(self, extents: tuple[Any, ...], rank: Any, kind: GemmKind, config: GemmConfig) -> None:
        m, n, k, batches = extents
        self.rank, self.config, self.batched = rank, config, kind.batched
        self.rows = fx.ceildiv(m, config.tile_m * config.sharing("m"))
        self.columns = fx.ceildiv(n, config.tile_n * config.sharing("n"))
        self.steps = fx.ceildiv(k, kind.bk)
        self.tiles = self.rows * self.columns * batches

    def range(self) -> Any:
        """The numbers of this block's tiles."""
        cluster = self.config.cluster
        return fx.block_idx.x // cluster, self.tiles, fx.grid_dim.x // cluster

    def at(self, tile: Any) -> tuple[tuple[Any, ...], Any, Any]:
        """(batch, first row, first column) of a tile."""
        config, each = self.config, self.rows * self.columns
        batch = tile // each if self.batched else 0
        tile = tile - batch * each
        first = tile // (config.band * self.columns) * config.band
        height = fx.min(self.rows - first, fx.Int32(config.band))
        inside = tile - first * self.columns
        row, column = first + inside % height, inside // height
        row = row * config.cluster + self.rank if config.along == "m" else row
        column = column * config.cluster + self.rank if config.along == "n" else column
        return (batch,) if self.batched else (), row * config.tile_m, column * config.tile_n

    def k_range(self) -> tuple[Any, Any]:
        """The steps of K that this block takes: all, or its part; none where there are fewer steps than parts."""
        parts = self.config.splits
        if parts == 1:
            return fx.Int32(0), self.steps
        return self.rank * self.steps // parts, (self.rank + 1) * self.steps // parts


# The kernel ----------------------------------------------------------------------------------------


@flyc.kernel
def gemm_kernel(
    map_a: Any, map_b: Any, C: Any, extras: Any, factors: Any, extents: Any, kind: fx.Constexpr, config: fx.Constexpr
):  # fmt: skip
    """``extras`` are (scale_m, scale_n, bias_m, bias_n, D), each of which may be None; ``factors`` (alpha, beta)."""
    stages, bk = config.stages, kind.bk
    smem = fx.SharedAllocator(1024, static=False)
    a_ptr = smem.allocate(fx.Array[kind.a, stages * config.tile_m * bk, 1024]).ptr
    b_ptr = smem.allocate(fx.Array[kind.b, stages * config.tile_n * bk, 1024]).ptr
    A = Operand(map_a, a_ptr, config.tile_m, bk, kind.a_along_k, config.sharing("n"))
    B = Operand(map_b, b_ptr, config.tile_n, bk, kind.b_along_k, config.sharing("m"))
    epilogue = Epilogue(C, extras, factors, extents, kind, config, smem)
    sharers = config.sharing("m") * config.sharing("n")
    pipe = fx.nvvm.Pipeline(smem, stages=stages, consumers=config.consumers, cluster=sharers)
    parts = PartialSums(smem, kind.acc, config) if config.splits > 1 else None

    thread = fx.thread_idx.x
    warpgroup = fx.nvvm.warp_uniform(thread // WARPGROUP)
    if thread == 0:
        fx.nvvm.prefetch_tensor_map(map_a)
        fx.nvvm.prefetch_tensor_map(map_b)
        pipe.init()
        if fx.const_expr(parts is not None):
            parts.init()
    if fx.const_expr(config.cluster > 1):
        fx.nvvm.cluster_sync(relaxed=True)  # the pipeline's barriers have a fence of their own
    else:
        fx.barrier()
    # The launch may begin while the one before it ends; from here on memory is read and written.
    fx.nvvm.griddepcontrol_launch_dependents()
    fx.nvvm.griddepcontrol_wait()

    schedule = Schedule(extents, fx.nvvm.block_rank_in_cluster(), kind, config)
    if warpgroup == 0:
        if fx.const_expr(config.moves_registers):
            fx.nvvm.setmaxnreg(LOAD_REGISTERS, increase=False)
        if thread == 0:
            load(A, B, pipe, schedule)
    else:
        if fx.const_expr(config.moves_registers):
            fx.nvvm.setmaxnreg(MATH_REGISTERS[config.consumers], increase=True)
        multiply(A, B, pipe, schedule, parts, epilogue, kind, config)
    if fx.const_expr(config.cluster > 1):
        fx.nvvm.cluster_sync(relaxed=True)  # others may still arrive at, or read from, this block's shared memory


@flyc.jit
def load(A, B, pipe, schedule):
    """The loading thread: fill each stage as soon as its consumers, in all blocks that share it, are done with it."""
    state = pipe.producer_start()
    first, last, step = schedule.range()
    for tile in range(first, last, step):
        batch, row, column = schedule.at(tile)
        k_first, k_last = schedule.k_range()
        for k in range(k_first, k_last):
            pipe.acquire(state, A.bytes + B.bytes)
            A.load(batch, row, k * A.bk, state.stage, pipe.full(state), schedule.rank)
            B.load(batch, column, k * B.bk, state.stage, pipe.full(state), schedule.rank)
            state = pipe.advance(state)


@flyc.jit
def multiply(A, B, pipe, schedule, parts, epilogue, kind, config):
    """A warpgroup that multiplies. A stage goes back one step late, so that two groups of wgmma are in flight."""
    thread = fx.thread_idx.x - WARPGROUP
    majors = {"major_a": "k" if kind.a_along_k else "mn", "major_b": "k" if kind.b_along_k else "mn"}
    atom = fx.make_mma_atom(fx.nvvm.Wgmma(config.tile_n, 32 // kind.size, (kind.a, kind.b), kind.acc, **majors))
    tiled = fx.make_tiled_mma(atom, fx.make_layout((config.consumers, 1, 1), (1, 0, 0)))
    part = tiled.get_slice(fx.nvvm.warp_uniform(thread // WARPGROUP) * WARPGROUP)  # operands are the warpgroup's
    a_part, b_part = part.partition_A(A.tiles(config.stages)), part.partition_B(B.tiles(config.stages))
    acc = tiled.make_fragment_C(fx.make_view(A.ptr, fx.make_layout((A.rows, B.rows), (B.rows, 1))))
    leader = thread % WARPGROUP == 0

    state = before = pipe.consumer_start()
    phase = fx.Int32(0)
    first, last, step = schedule.range()
    for tile in range(first, last, step):
        k_first, k_last = schedule.k_range()
        for k in range(k_first, k_last):
            pipe.wait(state)
            fx.nvvm.wgmma_fence()
            for block in fx.range_constexpr(K_BLOCKS):
                # The first product of a tile drops what the accumulators held.
                a, b = (part[None, None, block, state.stage] for part in (a_part, b_part))
                fx.gemm(tiled, acc, a, b, acc, scale_d=fx.Int32(k > k_first) if block == 0 else 1)
            fx.nvvm.wgmma_commit_group()
            fx.nvvm.wgmma_wait_group(1, acc)
            if leader & (k > k_first):
                pipe.release(before)
            before = state
            state = pipe.advance(state)
        fx.nvvm.wgmma_wait_group(0, acc)
        if leader & (k_last > k_first):
            pipe.release(before)
        values = acc.load().reshape((config.accumulators,))
        if fx.const_expr(parts is not None):
            values = (k_last > k_first).select(values, fx.zeros_like(values))
            values, warp = parts.sum(values, schedule.rank, phase)
            phase = phase ^ 1
            if warp < config.warps:
                epilogue.store(values, warp, schedule.at(tile))
        else:
            epilogue.store(values, thread // 32, schedule.at(tile))


class PartialSums:
    """Accumulators that the blocks of a cluster, each with a part of K, show each other in shared memory.

    *ready* completes when every block has written a tile's sums, *free* when every block has read them.
    """

    def __init__(self, smem: Any, dtype: Any, config: GemmConfig) -> None:
        self.config, self.dtype, self.threads = config, dtype, config.consumers * WARPGROUP
        self.fours = config.accumulators // 4
        layout = fx.make_layout((4, self.threads, self.fours), (1, 4, 4 * self.threads))
        self.sums = fx.make_view(smem.allocate(fx.Array[dtype, config.tile_m * config.tile_n, 1024]).ptr, layout)
        self.ready, self.free = (smem.allocate(fx.Array[fx.Int64, 1]).ptr for _ in range(2))

    def init(self) -> None:
        for barrier in (self.ready, self.free):
            fx.nvvm.mbarrier_init(barrier, self.config.splits)
        fx.nvvm.fence_mbarrier_init()

    @flyc.jit
    def tell(self, barrier: Any) -> None:
        """Arrive at the barriers of all blocks, once every thread of this one came here."""
        fx.fence("cluster")
        fx.nvvm.barrier_sync(1, self.threads)
        if fx.thread_idx.x == WARPGROUP:
            for block in range(self.config.splits):
                fx.nvvm.mbarrier_arrive(barrier, block)

    @flyc.jit
    def sum(self, values: Any, rank: Any, phase: Any) -> Any:
        """The sums over all parts of one warp's accumulators, part by part, and which warp's.

        Each block takes an equal share of the warps; those left over get a number that no warp has.
        """
        config, thread = self.config, fx.thread_idx.x - WARPGROUP
        fx.nvvm.mbarrier_wait(self.free, phase ^ 1)  # nobody reads the sums of the tile before
        for i in fx.range_constexpr(self.fours):
            part = fx.Vector.from_elements([values[i * 4 + j] for j in range(4)], self.dtype)
            self.sums[None, thread, i].store(part)
        self.tell(self.ready)
        fx.nvvm.mbarrier_wait(self.ready, phase)
        fx.fence("cluster")
        share, own = config.warps // config.splits, thread // 32
        warp = (own < share).select(rank * share + own, fx.Int32(config.warps))
        source = fx.min(warp, fx.Int32(config.warps - 1)) * 32 + thread % 32
        vector = fx.Float32x4 if self.dtype is fx.Float32 else fx.Int32x4
        total = []
        for i in fx.range_constexpr(self.fours):
            place = self.sums[None, source, i]
            parts = [fx.nvvm.cluster_load(place, block, vector) for block in range(config.splits)]
            total += list(sum(parts[1:], parts[0]))
        self.tell(self.free)
        return fx.Vector.from_elements(total, self.dtype), warp


# Launching -----------------------------------------------------------------------------------------


def transposed(matrix: Any) -> Any:
    """The last two modes exchanged."""
    rank = len(matrix.shape)
    return fx.select(matrix, [*range(rank - 2), rank - 1, rank - 2])


@cache
def build_hopper_gemm(kind: GemmKind, config: GemmConfig, sms: int = 132) -> Any:
    """A jit function ``gemm(A, B, C, row_scale, column_scale, bias, D, alpha, beta, stream)``.

    It writes C = act(alpha * row_scale * (A @ B) * column_scale + bias + beta * D): A is (M, K), B is (K, N), C and D
    are (M, N), with a batch in front if the kind has one; C has half the columns if they are gated. Scales and the
    bias, which belongs to columns, are vectors of an element for each, or of one for all. They, D and alpha may be
    None.
    """
    check_config(kind, config)

    @flyc.jit
    def gemm(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, row_scale: fx.Tensor | None, column_scale: fx.Tensor | None,
             bias: fx.Tensor | None, D: fx.Tensor | None, alpha: fx.Float32 | None, beta: fx.Float32,
             stream: fx.Stream = fx.Stream(None)):  # fmt: skip
        X, Y, extras = A, transposed(B), (row_scale, column_scale, None, bias, D)
        if config.swapped:  # C^T = B^T * A^T: the columns of C are the rows of the kernel
            C, X, Y = transposed(C), Y, X
            extras = (column_scale, row_scale, bias, None, None if D is None else transposed(D))
        one = (1,) * kind.batched
        m, n, k = (fx.Int32(fx.get_scalar(fx.get_(t.shape, kind.batched + i))) for t, i in ((X, 0), (Y, 0), (X, 1)))
        batches = fx.Int32(fx.get_scalar(fx.get_(C.shape, 0))) if kind.batched else fx.Int32(1)
        box_x = Operand.box(config.tile_m, kind.bk, kind.a_along_k, config.sharing("n"))
        box_y = Operand.box(config.tile_n, kind.bk, kind.b_along_k, config.sharing("m"))
        map_x, map_y = (fx.nvvm.make_tensor_map(t, (*one, *box)) for t, box in ((X, box_x), (Y, box_y)))
        rows = fx.ceildiv(m, config.tile_m * config.sharing("m"))
        clusters = rows * fx.ceildiv(n, config.tile_n * config.sharing("n")) * batches
        # Large tiles take turns in rounds that are all full: multiprocessors left idle leave others their power.
        most = fx.Int32(resident_clusters(config, sms))
        clusters = fx.ceildiv(clusters, fx.ceildiv(clusters, most)) if config.is_large else fx.min(clusters, most)
        gemm_kernel(map_x, map_y, C, extras, (alpha, beta), (m, n, k, batches), kind, config).launch(
            grid=(clusters * config.cluster, 1, 1), block=(config.threads, 1, 1), stream=stream, pdl=True,
            cluster=(config.cluster, 1, 1) if config.cluster > 1 else None,
        )  # fmt: skip

    return gemm
