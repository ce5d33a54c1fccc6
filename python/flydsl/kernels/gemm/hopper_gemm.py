"""GEMM on Hopper: persistent, warp-specialised, with TMA and wgmma. C = act(alpha * A * B + bias).

One warpgroup of each block loads: a single thread of it keeps a ring of shared-memory stages filled with tiles of A
and B by TMA. Two warpgroups multiply: each waits for a stage, issues wgmma on its half of the rows straight from
shared memory, and gives a stage back when the products that read it are done. Results leave through shared memory
and TMA while the next tile is under way. Blocks stay for the whole launch and take one output tile after the other;
those of a cluster work on neighbouring rows and share their tile of B by multicast.

A is (M, K) with K contiguous. B is (N, K) with K contiguous, or (K, N) with N contiguous. C is (M, N). Extents are
free; TMA wants rows that are multiples of 16 bytes.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import cache
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.blocks.activation import ACTIVATIONS

WARPGROUP = 128
CONSUMERS = 2
THREADS = (1 + CONSUMERS) * WARPGROUP
LOAD_REGISTERS, MATH_REGISTERS = 40, 232
ROW_BYTES = 128
"""Bytes of a swizzled row: K of a stage of A and B, and the width of a box of C."""
K_BLOCKS = ROW_BYTES // 32
"""Products of wgmma, 32 bytes of K each, in a stage."""
HALF_ROWS = 64
"""Rows of the tile that one warpgroup multiplies."""
C_BOXES = 2
"""Boxes of C, of `HALF_ROWS` by `ROW_BYTES`, that a warpgroup has in shared memory."""


@dataclass(frozen=True)
class GemmConfig:
    """Extents of a block's tile, stages of the ring, blocks of a cluster, tile rows that share an L2 window, and in
    how many parts K is split. B is given as (N, K) or, ``b_rows_are_k``, as (K, N)."""

    tile_n: int = 256
    stages: int = 4
    cluster: int = 2
    group: int = 8
    splits: int = 1
    b_rows_are_k: bool = False
    activation: str = "none"


# The order of tiles --------------------------------------------------------------------------------


def tile_at(index, rows, columns, group):
    """(row, column, split). Bands of ``group`` rows, column by column inside a band, so that neighbours share L2."""
    split = index // (rows * columns)
    index = index - split * rows * columns
    band = index // (group * columns)
    first = band * group
    height = fx.min(rows - first, fx.Int32(group))
    inside = index - first * columns
    return first + inside % height, inside // height, split


def k_range(split, k_steps, splits):
    """The steps of K that a split covers; none where there are fewer steps than splits."""
    return split * k_steps // splits, (split + 1) * k_steps // splits


# The kernel ----------------------------------------------------------------------------------------


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def gemm_kernel(
    map_a: Any, map_b: Any, out: Any, bias: Any, alpha: fx.Float32, extents: Any, dtype: fx.Constexpr,
    out_dtype: fx.Constexpr, config: fx.Constexpr,
):  # fmt: skip
    """``out`` is a tensor map of C or, with several splits, a workspace (splits, M, N) of f32."""
    bn, stages, cluster, *_ = config
    bm, bk = CONSUMERS * HALF_ROWS, ROW_BYTES * 8 // dtype.width
    m, n, k = extents
    smem = fx.SharedAllocator(1024, static=False)
    a_ptr = smem.allocate(fx.Array[dtype, stages * bm * bk, 1024]).ptr
    b_ptr = smem.allocate(fx.Array[dtype, stages * bn * bk, 1024]).ptr
    c_ptr = smem.allocate(fx.Array[out_dtype, C_BOXES * bm * ROW_BYTES * 8 // out_dtype.width, 1024]).ptr
    pipe = fx.nvvm.Pipeline(smem, stages=stages, consumers=CONSUMERS, cluster=cluster)

    thread = fx.thread_idx.x
    warpgroup = fx.nvvm.warp_uniform(thread // WARPGROUP)
    if thread == 0:
        pipe.init()
    fx.nvvm.cluster_sync()
    # The launch may begin while the one before it ends; from here on memory is read and written.
    fx.nvvm.griddepcontrol_launch_dependents()
    fx.nvvm.griddepcontrol_wait()

    rank = fx.nvvm.block_rank_in_cluster()
    rows, columns = fx.ceildiv(m, bm * cluster), fx.ceildiv(n, bn)
    work = (fx.block_idx.x // cluster, fx.grid_dim.x // cluster, rows, columns, fx.ceildiv(k, bk))
    ring = (pipe, a_ptr, b_ptr)
    if warpgroup == 0:
        fx.nvvm.setmaxnreg(LOAD_REGISTERS, increase=False)
        if thread == 0:
            load(map_a, map_b, ring, work, rank, bk, config)
    else:
        fx.nvvm.setmaxnreg(MATH_REGISTERS, increase=True)
        swizzle = map_a.swizzle
        multiply(out, bias, alpha, c_ptr, ring, work, extents, rank, swizzle, dtype, out_dtype, config)
    fx.nvvm.cluster_sync()


@flyc.jit
def load(map_a, map_b, ring, work, rank, bk, config):
    """The loading thread: fill each stage as soon as its consumers, in all blocks of the cluster, are done with it."""
    bn, _, cluster, group, splits, b_rows_are_k, *_ = config
    pipe, a_ptr, b_ptr = ring
    first, step, rows, columns, k_steps = work
    bm, share = CONSUMERS * HALF_ROWS, bn // cluster
    width = map_b.box[1] if b_rows_are_k else share
    mask = None if cluster == 1 else (1 << cluster) - 1
    arriving = map_a.bytes + bn // width * map_b.bytes
    state = pipe.producer_start()
    for tile in range(first, rows * columns * splits, step):
        m, n, split = tile_at(tile, rows, columns, group)
        row, column = (m * cluster + rank) * bm, n * bn + rank * share
        k_first, k_last = k_range(split, k_steps, splits)
        for k in range(k_first, k_last):
            pipe.acquire(state, arriving)
            fx.nvvm.tma_load(map_a, (row, k * bk), a_ptr + state.stage * (bm * bk), pipe.full(state))
            for box in fx.range_constexpr(share // width):
                part = b_ptr + (state.stage * (bn * bk) + rank * (share * bk) + box * (width * bk))
                at = (k * bk, column + box * width) if b_rows_are_k else (column, k * bk)
                fx.nvvm.tma_load(map_b, at, part, pipe.full(state), multicast=mask)
            state = pipe.advance(state)


def tiles_of(ptr, swizzle, rows, bk, stages, along_rows):
    """Stages of a tile (rows, K) as wgmma reads it: K contiguous, or blocks of rows contiguous (``along_rows``)."""
    pointer = fx.apply_swizzle(ptr, swizzle)
    if not along_rows:
        return fx.make_view(pointer, fx.make_layout((rows, bk, stages), (bk, 1, rows * bk)))
    shape, stride = ((bk, rows // bk), bk, stages), ((1, bk * bk), bk, rows * bk)
    return fx.make_view(pointer, fx.make_layout(shape, stride))


@flyc.jit
def multiply(out, bias, alpha, c_ptr, ring, work, extents, rank, swizzle, dtype, out_dtype, config):
    """A warpgroup that multiplies. A stage goes back one step late, so that two groups of wgmma are in flight."""
    bn, stages, cluster, group, splits, b_rows_are_k, activation = config
    pipe, a_ptr, b_ptr = ring
    first, step, rows, columns, k_steps = work
    bm, bk = CONSUMERS * HALF_ROWS, ROW_BYTES * 8 // dtype.width
    thread = fx.thread_idx.x - WARPGROUP
    major = "mn" if b_rows_are_k else "k"
    atom = fx.make_mma_atom(fx.nvvm.Wgmma(bn, 256 // dtype.width, dtype, fx.Float32, major_b=major))
    tiled = fx.make_tiled_mma(atom, fx.make_layout((CONSUMERS, 1, 1), (1, 0, 0)))
    part = tiled.get_slice(thread)
    a_part = part.partition_A(tiles_of(a_ptr, swizzle, bm, bk, stages, False))
    b_part = part.partition_B(tiles_of(b_ptr, swizzle, bn, bk, stages, b_rows_are_k))
    acc = tiled.make_fragment_C(fx.make_view(c_ptr, fx.make_layout((bm, bn), (bn, 1))))
    leader = thread % WARPGROUP == 0

    state = before = pipe.consumer_start()
    for tile in range(first, rows * columns * splits, step):
        m, n, split = tile_at(tile, rows, columns, group)
        k_first, k_last = k_range(split, k_steps, splits)
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
        row, column = (m * cluster + rank) * bm, n * bn
        if fx.const_expr(splits > 1):
            store_part(out, acc, split, row, column, thread, extents, k_last > k_first)
        else:
            finish(acc, bias, alpha, column, extents[1], thread, activation)
            store(out, acc, c_ptr, row, column, thread, out_dtype, bn)
    if leader:
        fx.nvvm.tma_wait_group(0, read=True)  # shared memory must outlive the copies that read it


# The epilogue --------------------------------------------------------------------------------------


@flyc.jit
def finish(acc, bias, alpha, column, n, thread, activation):
    """acc = act(alpha * acc + bias). A thread holds two neighbouring columns of every eight, in two rows."""
    values = acc.load() * alpha
    if fx.const_expr(bias is not None):
        terms = []
        for block in fx.range_constexpr(values.numel // 4):
            at = column + block * 8 + thread % 4 * 2
            pair = [fx.Float32(bias[fx.min(at + i, n - 1)]) for i in range(2)]
            terms += pair + pair
        values = values + fx.Vector.from_elements(terms, fx.Float32).reshape(values.shape)
    acc.store(ACTIVATIONS[activation](values))


@flyc.jit
def store(map_c, acc, c_ptr, row, column, thread, out_dtype, bn):
    """Accumulators to C, box by box: registers, swizzled shared memory, TMA.

    Two boxes take turns, so that one is filled while the other leaves.
    """
    warpgroup, lane, warp = thread // WARPGROUP, thread % 32, thread % WARPGROUP // 32
    box = map_c.box[1]
    words = acc.load().to(out_dtype).bitcast(fx.Int32)
    # Lane 8 * i + r names row r of matrix i: two matrices below each other, then the two to their right.
    place = (warp * 16 + lane // 8 % 2 * 8 + lane % 8) * box
    leader = thread % WARPGROUP == 0
    for part in fx.range_constexpr(bn // box):
        mine = c_ptr + (warpgroup * C_BOXES + part % C_BOXES) * (HALF_ROWS * box)
        if leader:
            fx.nvvm.tma_wait_group(C_BOXES - 1, read=True)
        fx.nvvm.barrier_sync(1 + warpgroup, WARPGROUP)
        for pair in fx.range_constexpr(box // 16):
            chunk = (pair * 2 + lane // 16) ^ (lane % 8)
            base = (part * box // 8 + pair * 2) * 2
            fx.nvvm.stmatrix(mine + (place + chunk * 8), [words[base + i] for i in range(4)])
        fx.nvvm.fence_proxy_async()
        fx.nvvm.barrier_sync(1 + warpgroup, WARPGROUP)
        if leader:
            fx.nvvm.tma_store(map_c, mine, (row + warpgroup * HALF_ROWS, column + part * box))
            fx.nvvm.tma_commit_group()


@flyc.jit
def store_part(workspace, acc, split, row, column, thread, extents, has_steps):
    """Accumulators of one split to the workspace, in f32; `reduce_kernel` adds them up."""
    m, n, _ = extents
    lane, warp = thread % 32, thread // 32
    values = acc.load()
    values = has_steps.select(values, fx.zeros_like(values))
    for half in fx.range_constexpr(2):
        r = row + warp * 16 + half * 8 + lane // 4
        for block in fx.range_constexpr(values.numel // 4):
            for i in fx.range_constexpr(2):
                c = column + block * 8 + lane % 4 * 2 + i
                if (r < m) & (c < n):
                    workspace[split, r, c] = values[block * 4 + half * 2 + i]


@flyc.kernel(known_block_size=(256, 1, 1))
def reduce_kernel(
    workspace: fx.Tensor, C: fx.Tensor, bias: Any, alpha: fx.Float32, n: fx.Int32, splits: fx.Constexpr,
    activation: fx.Constexpr,
):  # fmt: skip
    """C = act(alpha * (sum of the splits) + bias), split by split, so that a run is the same every time."""
    row, column = fx.block_idx.x, fx.block_idx.y * 256 + fx.thread_idx.x
    if column < n:
        total = fx.Float32(0.0)
        for split in fx.range_constexpr(splits):
            total = total + workspace[split, row, column]
        total = total * alpha
        if fx.const_expr(bias is not None):
            total = total + fx.Float32(bias[column])
        C[row, column] = C.dtype(ACTIVATIONS[activation](total))


# Launching -----------------------------------------------------------------------------------------


DEFAULT = GemmConfig()


def check_config(dtype: Any, out_dtype: Any, config: GemmConfig) -> None:
    """The only statement of what the kernel can be built for."""
    if dtype.width not in (8, 16) or out_dtype.width != 16:
        raise ValueError(f"A and B have 8 or 16 bits and C has 16, got {dtype.__name__} and {out_dtype.__name__}")
    if dtype.width == 8 and config.b_rows_are_k:
        raise ValueError("8-bit matrices are multiplied with K contiguous: give B as (N, K), or as its transpose")
    if config.tile_n not in (128, 256) or config.cluster not in (1, 2):
        raise ValueError(f"tiles have 128 or 256 columns and clusters 1 or 2 blocks, got {config}")
    if config.splits < 1 or config.stages < 2 or config.group < 1:
        raise ValueError(f"at least one split, two stages and a group of one row are needed, got {config}")
    if config.activation not in ACTIVATIONS:
        raise ValueError(f"activation must be one of {', '.join(ACTIVATIONS)}, got {config.activation!r}")


@cache
def build_hopper_gemm(
    dtype: Any, out_dtype: Any = None, config: GemmConfig = DEFAULT, *, has_bias: bool = False, sms: int = 132
) -> Any:
    """A jit function ``gemm(A, B, C, [bias], [workspace], alpha, stream)`` for C = act(alpha * A * B + bias).

    It takes ``bias``, a vector of N numbers, if ``has_bias``, and ``workspace``, (splits, M, N) of f32, if K is split.
    `kernels.gemm.hopper_matmul` chooses all this by itself.
    """
    out_dtype = out_dtype or (dtype if dtype.width == 16 else fx.BFloat16)
    check_config(dtype, out_dtype, config)
    bk, shape = ROW_BYTES * 8 // dtype.width, astuple(config)

    def launch(A, B, C, bias, workspace, alpha, stream):
        m, k = (fx.get_scalar(fx.get_(A.shape, i)) for i in range(2))
        n = fx.get_scalar(fx.get_(C.shape, 1))
        map_a = fx.nvvm.make_tensor_map(A, (CONSUMERS * HALF_ROWS, bk))
        box_b = (bk, bk) if config.b_rows_are_k else (config.tile_n // config.cluster, bk)
        map_b = fx.nvvm.make_tensor_map(B, box_b)
        split = config.splits > 1
        out = workspace if split else fx.nvvm.make_tensor_map(C, (HALF_ROWS, ROW_BYTES * 8 // out_dtype.width))
        extents = (fx.Int32(m), fx.Int32(n), fx.Int32(k))
        rows = fx.ceildiv(extents[0], CONSUMERS * HALF_ROWS * config.cluster)
        tiles = rows * fx.ceildiv(extents[1], config.tile_n) * config.splits
        # No more clusters than the rounds of tiles need: multiprocessors left idle leave their power to the others.
        rounds = fx.max(fx.ceildiv(tiles, sms // config.cluster), fx.Int32(1))
        blocks = fx.ceildiv(tiles, rounds) * config.cluster
        gemm_kernel(map_a, map_b, out, bias, alpha, extents, dtype, out_dtype, shape).launch(
            grid=(blocks, 1, 1), block=(THREADS, 1, 1), cluster=(config.cluster, 1, 1), stream=stream, pdl=True
        )
        if split:
            reduce_kernel(workspace, C, bias, alpha, extents[1], config.splits, config.activation).launch(
                grid=(extents[0], fx.ceildiv(extents[1], 256), 1), block=(256, 1, 1), stream=stream
            )

    if has_bias and config.splits > 1:

        @flyc.jit
        def gemm(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, bias: fx.Tensor, workspace: fx.Tensor, alpha: fx.Float32,
                 stream: fx.Stream = fx.Stream(None)):  # fmt: skip
            launch(A, B, C, bias, workspace, alpha, stream)

    elif has_bias:

        @flyc.jit
        def gemm(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, bias: fx.Tensor, alpha: fx.Float32,
                 stream: fx.Stream = fx.Stream(None)):  # fmt: skip
            launch(A, B, C, bias, None, alpha, stream)

    elif config.splits > 1:

        @flyc.jit
        def gemm(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, workspace: fx.Tensor, alpha: fx.Float32,
                 stream: fx.Stream = fx.Stream(None)):  # fmt: skip
            launch(A, B, C, None, workspace, alpha, stream)

    else:

        @flyc.jit
        def gemm(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, alpha: fx.Float32,
                 stream: fx.Stream = fx.Stream(None)):  # fmt: skip
            launch(A, B, C, None, None, alpha, stream)

    return gemm
