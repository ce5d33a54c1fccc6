"""Attention of a few new tokens over a paged cache on Hopper, keys in parts.

Caches are (pages, tokens of a page, kv heads, d); a table says which pages a sequence has. The query heads that share
a kv head are rows of one tile, with all new tokens: the cache is read once for all of them. A warp loads, each lane its
own pages by TMA; a warpgroup computes as in `hopper_forward`. Long sequences are cut into parts. The block that ends
the last part of a sequence puts all together, or a dependent launch does where that is much (`parts`); nothing is
planned on the host.
"""

from __future__ import annotations

from math import gcd
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.head_tiles import chunk_of, swizzle_of
from flydsl.kernels.attention.hopper_forward import ROW_LANES, WARPGROUP, Warpgroup, compute
from flydsl.kernels.attention.parts import (
    PAD,
    Parts,
    cut_of,
    keys_in,
    launch_merge,
    merge_cluster,
    part_at,
    parts_in,
    put_together,
)
from flydsl.kernels.attention.scores import factor_of, over_lanes, softmax_end
from flydsl.kernels.attention.tiles import Tickets, whole_lines
from flydsl.kernels.blocks.reduce import LOWEST, add

ROWS = 64
"""Rows of a tile: new tokens times the query heads of a kv head at most."""
THREADS = 2 * WARPGROUP
"""A warpgroup computes, and the first warp of the other one loads."""
BOX = 16
"""Tokens that one copy moves at most, of caches of 16 bits: of 64 sequences of 8192 keys in pages of 64, copies of 16
took 504 us, of 32 508, of 64 512 and of 8 670, on an H200 on 2026-11-17."""


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def decode_kernel(
    maps: Any, out: Any, tables: Any, lengths: Any, sinks: Any, partial: Any, numbers: Any, v_scale: Any, parts: Any,
    page: fx.Int32, plan: fx.Constexpr, box: fx.Constexpr, apart: fx.Constexpr, cluster: fx.Constexpr,
):  # fmt: skip
    """``partial`` has results and logarithms of parts, and counters of those that are done; ``box`` as of `box_of`;
    a launch of its own puts parts together if they are ``apart``, or blocks of a ``cluster`` of more than one."""
    smem = fx.SharedAllocator(1024, static=False)
    q_ptr = smem.allocate(fx.Array[plan.dtype, ROWS * plan.d, 1024]).ptr
    k_ptr = smem.allocate(fx.Array[plan.dtype, plan.stages * plan.keys * plan.d, 1024]).ptr
    v_ptr = smem.allocate(fx.Array[plan.dtype, plan.stages * plan.keys * plan.dv, 1024]).ptr
    pipe_q = fx.nvvm.Pipeline(smem, stages=1, consumers=1)
    pipe_k, pipe_v = (fx.nvvm.Pipeline(smem, stages=plan.stages, consumers=1) for _ in range(2))
    pipes, places = (pipe_q, pipe_k, pipe_v), (q_ptr, k_ptr, v_ptr)
    tickets, done = Tickets(smem, 1), smem.allocate(fx.Int32)
    levels = smem.allocate(fx.Array[fx.Float32, ROWS * 2, 16]).ptr
    shared = (
        fx.make_view(fx.recast_iter(fx.Float32, k_ptr), fx.make_layout((ROWS, plan.dv), (plan.dv + PAD, 1))),
        fx.make_view(levels, fx.make_layout((ROWS, 2), (2, 1))),
    )
    thread = fx.thread_idx.x
    if thread == 0:
        for pipe in pipes:
            pipe.init()
    begin(q_ptr, plan.d, THREADS)
    index = fx.Int32(fx.block_idx.x)
    if fx.const_expr(cluster > 1):
        index = fx.nvvm.block_rank_in_cluster() * cut_of(parts) + index // cluster
        own, *blocks_of_parts = part_at(parts, index, lengths, plan)
    warp = fx.nvvm.warp_uniform(thread // 32)
    if warp == WARPGROUP // 32:
        load(maps, places, pipes, tickets, (tables, lengths), parts, index, page, plan, box, partial[2])
    if warp < WARPGROUP // 32:
        swizzles = [tensor_map.swizzle for tensor_map in maps]
        mine = Warpgroup(places, pipes, swizzles, (None, None, sinks), numbers, plan, first=0)
        results = (out, sinks, lengths, partial, parts, v_scale, done, apart, shared if cluster > 1 else None)
        compute(mine, tickets, lambda *found: store(*found, *results))
    if fx.const_expr(cluster > 1):
        if blocks_of_parts[0] > 1:
            fx.nvvm.cluster_sync()
            if warp < WARPGROUP // 32:
                rows, threads = parts.tokens * plan.group, (thread, WARPGROUP)
                merge_cluster(own, blocks_of_parts, out, sinks, shared, rows, plan, cluster, threads)
            fx.nvvm.cluster_sync(relaxed=True)  # others may still read this block's shared memory


@flyc.jit
def part_behind(index, parts, counters, lane):
    """The part that this block takes when it has ended one; lane 0 has its number.

    Where some sequences are whole, blocks take parts as they come: some multiprocessors read faster than others. For
    each part the next one is counted, behind the counters of sequences. It is known when the part has been loaded.
    """
    following = index + fx.grid_dim.x
    if parts.whole > 0:
        if lane == 0:
            following = fx.atomic("add", counters, 1, at=cut_of(parts), scope="device") + fx.grid_dim.x
    return following


@flyc.jit
def begin(q_ptr, d, threads):
    """Clear the tile of queries, and wait until memory may be read and written: the launch before may still end.

    Rows that no query has are multiplied too: by zeros, not by what happens to lie there.
    """
    words = fx.make_view(fx.recast_iter(fx.Int32, q_ptr), fx.make_layout(ROWS * d // 2, 1))
    for i in range(fx.thread_idx.x, ROWS * d // 8, threads):
        fx.full(4, 0, fx.Int32).store(words, [4 * i], alignment=16)
    fx.nvvm.fence_proxy_async()
    fx.barrier()
    fx.nvvm.griddepcontrol_launch_dependents()
    fx.nvvm.griddepcontrol_wait()


@flyc.jit
def load(maps, places, pipes, tickets, sequence, parts, index, page, plan, box, counters):
    """The loading warp. Lanes take boxes of a block in turn; those beyond the sequence's end are boxes of zeros."""
    map_q, map_k, map_v = maps
    q_ptr, k_ptr, v_ptr = places
    pipe_q, pipe_k, pipe_v = pipes
    tables, lengths = sequence
    lane = fx.thread_idx.x % 32
    state_q, state_k, state_v = pipe_q.producer_start(), pipe_k.producer_start(), pipe_v.producer_start()
    while index < parts_in(parts):
        following = part_behind(index, parts, counters, lane)
        piece, _, _ = part_at(parts, index, lengths, plan)
        blocks = (piece.queries > 0).select(piece.end - piece.begin, 0)
        # Where a block lies is read while the one before it waits for its stage.
        here = before = places_of(tables, piece, piece.end - 1, lane, page, plan.keys, box)
        for i in range((blocks > 0).select(blocks + 1, 0)):
            after = places_of(tables, piece, fx.max(piece.end - 2 - i, piece.begin), lane, page, plan.keys, box)
            if i < blocks:
                keys = (plan.keys, plan.d)
                load_tile(map_k, here, piece.head, lane, pipe_k, state_k, k_ptr, keys, box)
                state_k = pipe_k.advance(state_k)
            if i == 1:
                # Queries wait for the end of the part before; its last products need no more than that of the ring of
                # keys, and the first keys of this part come meanwhile.
                pipe_q.acquire(state_q)
                if lane == 0:
                    tickets.at(state_q).poke(piece)
                    load_queries(map_q, piece, q_ptr, pipe_q.full(state_q), plan)
                state_q = pipe_q.advance(state_q)
            if i > 0:
                values = (plan.keys, plan.dv)
                load_tile(map_v, before, piece.head, lane, pipe_v, state_v, v_ptr, values, box)
                state_v = pipe_v.advance(state_v)
            before, here = here, after
        index = fx.nvvm.warp_uniform(following)
    pipe_q.acquire(state_q)
    if lane == 0:
        if (parts.whole > 0) & (index == parts_in(parts) - 1 + fx.grid_dim.x):  # the last that is counted
            counters[cut_of(parts)] = 0
        tickets.at(state_q).queries.poke(0)
        pipe_q.commit(state_q)


@flyc.jit
def load_queries(tensor_map, piece, ptr, full, plan):
    """The rows of a tile, in columns of `chunk_of` elements; by one thread."""
    chunk = chunk_of(plan.d)
    fx.nvvm.mbarrier_arrive_expect_tx(full, tensor_map.bytes * (plan.d // chunk))
    for part in fx.range_constexpr(plan.d // chunk):
        at = (piece.batch, piece.head, 0, 0, part * chunk)
        fx.nvvm.tma_load(tensor_map, at, ptr + part * (ROWS * chunk), full)


@flyc.jit
def places_of(tables, piece, block, lane, page, keys, box):
    """Row and page of each of this lane's boxes of a block of keys; beyond the end of a sequence, outside the cache."""
    boxes, outside = keys // box, fx.Int32(1 << 30)
    places = []
    for iteration in fx.range_constexpr(-(-boxes // 32)):
        token = block * keys + (lane + iteration * 32) * box
        inside = (token < piece.band.length) & (lane + iteration * 32 < boxes)
        number = inside.select(tables[piece.batch, inside.select(token // page, 0)], outside)
        places.append((token % page, number))
    return places


@flyc.jit
def load_tile(tensor_map, places, head, lane, pipe, state, ptr, tile, box):
    """A block of keys or values to a stage of its own."""
    pipe.acquire(state)
    if lane == 0:
        fx.nvvm.mbarrier_arrive_expect_tx(pipe.full(state), tile[0] * tile[1] * 2)
    load_block(tensor_map, places, head, lane, pipe, state, ptr, tile, chunk_of(tile[1]), box)


@flyc.jit
def load_block(tensor_map, places, head, lane, pipe, state, ptr, tile, chunk, box):
    """A block of keys or values: each box of tokens in columns of ``chunk`` elements, as the tile has them."""
    keys, d = tile
    boxes = keys // box
    for iteration in fx.range_constexpr(-(-boxes // 32)):
        row, number = places[iteration]
        if lane + iteration * 32 < boxes:
            for part in fx.range_constexpr(d // chunk):
                to = ptr + (state.stage * (keys * d) + part * (keys * chunk) + (lane + iteration * 32) * (box * chunk))
                fx.nvvm.tma_load(tensor_map, (number, head, row, part * chunk), to, pipe.full(state), l2="evict_first")


@flyc.jit
def store(mine, piece, tops, sums, out, sinks, lengths, partial, parts, v_scale, done, apart, shared):
    """A part's rows, divided by their sums: to memory if it is the only one, else to where parts are put together. In
    ``shared`` memory, where that is, they are not divided."""
    rows, plan = mine.o_rows, mine.plan
    sequence = piece.batch * parts.kv_heads + piece.head
    _, count, first = part_at(parts, sequence, lengths, plan)
    alone = count == 1
    results, logarithms, _ = partial
    place = sequence - parts.whole
    for i, values in enumerate(rows.split(mine.o.load())):
        row = rows.query + rows.rows[i]
        head = piece.head * plan.group + fx.min(row, piece.queries - 1) % plan.group
        level = None
        if fx.const_expr(sinks is not None):
            level = alone.select(fx.Float32(sinks[head]), fx.Float32(LOWEST))
        scale, logarithm = softmax_end(tops[i], sums[i], ROW_LANES, level)
        total = over_lanes(sums[i], add, ROW_LANES) if fx.const_expr(shared is not None) else None
        kept = (scale == 0.0).select(fx.zeros_like(values), values * (scale * v_scale))
        lines = whole_lines(kept.to(plan.dtype).bitcast(fx.Int32), rows.column // 2)
        if row < piece.queries:
            if alone:
                line = out[piece.batch, row // plan.group, head, None]
                for block, words in enumerate(lines):
                    words.bitcast(plan.dtype).store(line, [block * 32 + rows.column * 4], alignment=16)
            elif fx.const_expr(shared is not None):
                store_shared(shared, row, rows, i, values * v_scale, tops[i], total)
            else:
                line = results[place, piece.query_start, row, None]
                for pair in fx.range_constexpr(kept.numel // 2):
                    two = kept.shuffle(kept, [2 * pair, 2 * pair + 1])
                    two.store(line, [rows.column + rows.columns[i][2 * pair]], alignment=8)
                if rows.column == 0:
                    logarithms[place, piece.query_start, row] = logarithm
    if fx.const_expr(not apart and shared is None):
        if count > 1:
            put_together(piece, first, count, out, sinks, partial, place, plan, done, (fx.thread_idx.x, WARPGROUP))


@flyc.jit
def store_shared(shared, row, rows, i, values, level, total):
    """A row of a part, to where the blocks of a cluster put parts together."""
    values_of, levels_of = shared
    for pair in fx.range_constexpr(values.numel // 2):
        two = values.shuffle(values, [2 * pair, 2 * pair + 1])
        two.store(values_of[row, None], [rows.column + rows.columns[i][2 * pair]], alignment=8)
    if rows.column == 0:
        levels_of[row, 0], levels_of[row, 1] = level, total


# Launching -----------------------------------------------------------------------------------------


def box_of(page: int, keys: int) -> int:
    """Tokens that one copy moves: they lie in one page, and a block of keys has a whole number of such boxes."""
    return gcd(page, keys)


@flyc.jit
def decode(
    Q: fx.Tensor, K: fx.Tensor, V: fx.Tensor, out: fx.Tensor, tables: fx.Tensor, lengths: fx.Tensor,
    sinks: fx.Tensor | None, results: fx.Tensor, logarithms: fx.Tensor, counters: fx.Tensor, scale: fx.Float32,
    v_scale: fx.Float32, cap: fx.Float32, left: fx.Int32, splits: fx.Int32, part: fx.Int32, whole: fx.Int32,
    blocks: fx.Int32, tokens: fx.Constexpr, apart: fx.Constexpr, box: fx.Constexpr, plan: fx.Constexpr,
    cluster: fx.Constexpr, stream: fx.Stream = fx.Stream(None),
):  # fmt: skip
    """Launch the kernel, and that which puts parts together if they are ``apart``. Q is (batch, tokens, heads, d);
    ``box`` as of `box_of`; ``part`` is in blocks of keys."""
    (batches, _, _, _), (by_batch, by_token, by_head, _) = (
        [fx.get_scalar(leaf) for leaf in fx.get_leaves(mode)] for mode in (Q.shape, Q.stride)
    )
    kv_heads, page = K.shape[2], fx.Int32(K.shape[1])
    chunk, group = chunk_of(plan.d), plan.group
    shape = (batches, fx.get_scalar(kv_heads), tokens, group, plan.d)
    packed = fx.make_layout(shape, (by_batch, by_head * group, by_token, by_head, 1))
    swizzle = swizzle_of(chunk)
    map_q = fx.nvvm.make_tensor_map(fx.make_view(fx.get_iter(Q), packed), (1, 1, tokens, group, chunk), swizzle)
    map_k, map_v = (cache_map(cache, d, box) for cache, d in ((K, plan.d), (V, plan.dv)))
    rest = (splits, part, fx.Int32(tokens), left, page, keys_in(tables, page), whole)
    parts = Parts(fx.Int32(batches), fx.Int32(kv_heads), *rest)
    used = fx.min(blocks, parts_in(parts)) if cluster == 1 else cut_of(parts) * cluster
    decode_kernel(
        (map_q, map_k, map_v), out, tables, lengths, sinks, (results, logarithms, counters),
        (factor_of(scale, plan.features), scale, cap), v_scale, parts, page, plan, box, apart, cluster,
    ).launch(
        grid=(used, 1, 1), block=(THREADS, 1, 1), cluster=(cluster, 1, 1) if cluster > 1 else None, stream=stream,
        pdl=True,
    )  # fmt: skip
    if apart:
        launch_merge(out, lengths, sinks, (results, logarithms), parts, tokens * group, plan, stream)


def cache_map(cache: Any, d: int, box: int) -> Any:
    """Return a map of (pages, tokens, kv heads, d) for boxes of tokens, a column of `chunk_of` elements each.

    A cache is read once, and lines of 128 bytes are what a copy asks for. Of 64 sequences of 8192 keys in pages of 16 a
    launch took 490 us, 500 where L2 read 256 bytes; 128 of 1024 keys took 128 and 132, on an H200 on 2026-11-17.
    """
    (pages, tokens, heads, _), (by_page, by_token, by_head, _) = (
        [fx.get_scalar(leaf) for leaf in fx.get_leaves(mode)] for mode in (cache.shape, cache.stride)
    )
    layout = fx.make_layout((pages, heads, tokens, d), (by_page, by_head, by_token, 1))
    width = cache.dtype.width
    chunk = chunk_of(d, width)
    view = fx.make_view(fx.get_iter(cache), layout)
    return fx.nvvm.make_tensor_map(view, (1, 1, box, chunk), swizzle_of(chunk, width), l2_promotion="128B")
