"""Attention backward on Hopper: gradients of Q, K and V from that of the result, by TMA and wgmma.

With P = exp(scale * Q K^T - lse) and delta = rowsum(dO * O), which `backward_rows` has found before,

    dV = P^T dO        dS = P * (dO V^T - delta)        dK = scale * dS^T Q        dQ = scale * dS K

A block has a tile of keys and goes through the tiles of queries that see it, of all heads that share its keys: dK and
dV stay in registers from the first to the last. Those of heads of more than 128 elements are too many: there one launch
finds dK and dQ, and another one dV (`hopper_backward_values`), which is a product less than if each found a half of all
columns. Where tiles of keys are few, several blocks have a part each of one's queries, and
`backward_rows` adds up their dK and dV. Scores are computed transposed, K Q^T, so that the powers and what becomes of
them go into the next products straight from registers. Only dS also goes through shared memory: dQ sums over all keys
of the tile, which are in the registers of several warpgroups.

Blocks add their parts of dQ up in f32 in memory, by TMA; `backward_rows` turns the sums into dQ. Sums in any order
differ in their last bits: where the same bits are wanted each time, blocks add in the order of their keys.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.backward_tiles import (
    BackwardPlan,
    gradients_of_scores,
    piece_at,
    powers_of_scores,
    queries_of,
    span_of,
)
from flydsl.kernels.attention.head_tiles import head_map, tiles_of
from flydsl.kernels.attention.hopper_backward_values import compute_values
from flydsl.kernels.attention.hopper_forward import REGISTERS, WARPGROUP, at_entry
from flydsl.kernels.attention.scores import end_of_keys, first_key
from flydsl.kernels.attention.tiles import FragmentRows, whole_lines

LINE = 256
"""Numbers in a row of the tensor of sums, as TMA sees it."""


def sums_of_queries(plan: BackwardPlan) -> Any:
    """Return the product that makes dQ, or dQ^T."""
    op = fx.nvvm.Wgmma
    if plan.transposed:
        atom = op(plan.queries, 16, plan.dtype, fx.Float32, major_a="mn")
    else:
        atom = op(plan.sums, 16, plan.dtype, fx.Float32, major_b="mn")
    return fx.make_tiled_mma(fx.make_mma_atom(atom), fx.make_layout((plan.consumers, 1, 1), (1, 0, 0)))


def order_of_sums(plan: BackwardPlan) -> Any:
    """Return where the sums of a piece of dQ lie, as (four of a thread, which four, thread): those that threads write
    at the same time are neighbours."""
    fours = plan.share // WARPGROUP // 4
    return fx.make_layout((4, fours, (WARPGROUP, plan.consumers)), (1, 4 * WARPGROUP, (4, plan.share)))


# Which keys ----------------------------------------------------------------------------------------


@fx.struct
class Work:
    """Tiles of keys of a launch, of ``section`` heads and batches at a time, each for ``parts`` blocks."""

    tiles: fx.Int32
    kv_heads: fx.Int32
    batches: fx.Int32
    per_kv: fx.Int32
    section: fx.Int32
    parts: fx.Int32


@flyc.jit
def tile_at(index, work, plan):
    """(tile, kv head, batch) of a block, or of those who share the tile.

    Blocks start in their order. The first keys are seen by most queries: they start first, so that all end together.
    Where blocks wait for those of later keys, whatever their part, these start first.
    """
    first = index // (work.section * work.tiles) * work.section
    height = fx.min(work.kv_heads * work.batches - first, work.section)
    inside = index - first * work.tiles
    row, tile = first + inside % height, inside // height
    if fx.const_expr(plan.last_keys_first):
        tile = work.tiles - 1 - tile
    return tile, row % work.kv_heads, row // work.kv_heads


@flyc.jit
def own_queries(part, work, span):
    """(the first, the end) of the tiles of queries of a part, of those of all heads that share the keys."""
    count = fx.max(span.end - span.begin, fx.Int32(0)) * work.per_kv
    ends = (count * part // work.parts, count * (part + 1) // work.parts)
    return tuple(fx.nvvm.warp_uniform(end) for end in ends)  # with fewer spills


# The kernel ----------------------------------------------------------------------------------------


@flyc.kernel
def backward_kernel(
    maps: Any, sums: Any, stats: Any, counters: Any, grads: Any, extras: Any, lengths: Any, numbers: Any, extents: Any,
    window: Any, work: Any, plan: fx.Constexpr,
):  # fmt: skip
    """``maps`` are those of Q, K, V, dO; ``sums`` is that of the sums for dQ; ``grads`` are dK and dV, or their parts.

    ``stats`` has the logarithms and deltas of each tile of queries; ``counters`` orders blocks, or is None.
    """
    smem = fx.SharedAllocator(1024, static=False)
    places = places_of(smem, plan)
    rings = [fx.nvvm.Pipeline(smem, stages=plan.stages, consumers=plan.consumers) for _ in range(2)]
    pipes = (*rings, *(fx.nvvm.Pipeline(smem, stages=1, consumers=1) for _ in range(2)))
    if fx.thread_idx.x == 0:
        for pipe in pipes:
            pipe.init()
    fx.barrier()
    # The launch for dV needs nothing of the one for dQ and dK before it, and fills what its last blocks leave free. It
    # may begin when that one's blocks all have what came before them both.
    if fx.const_expr(plan.finds_keys):
        fx.nvvm.griddepcontrol_wait()
    fx.nvvm.griddepcontrol_launch_dependents()
    index, in_parts = fx.block_idx.x, grads[0].rank == 5
    if fx.const_expr(in_parts):
        index, part = index // work.parts, index % work.parts
    tile, kv, batch = tile_at(index, work, plan)
    span, slot = span_of(tile, kv * work.per_kv, batch, lengths, extents, window, plan)
    slots = (slot, work.kv_heads * work.per_kv, work.per_kv, own_queries(part, work, span) if in_parts else None)
    warpgroup = fx.nvvm.warp_uniform(fx.thread_idx.x // WARPGROUP)
    few, many = REGISTERS[plan.consumers]
    shift_registers = plan.consumers > 1  # one computing warpgroup has all it can get
    if tile * plan.keys < span.band.length:
        if warpgroup == 0:
            if fx.const_expr(shift_registers):
                fx.nvvm.setmaxnreg(few, increase=False)
            if fx.thread_idx.x == 0:
                load(maps, places, pipes, stats, span, tile, slots, lengths, plan)
        else:
            if fx.const_expr(shift_registers):
                fx.nvvm.setmaxnreg(many, increase=True)
            mine = Warpgroup(places, pipes, [one.swizzle for one in maps], (sums, counters), extras, numbers, plan)
            if fx.const_expr(plan.finds_keys):
                compute(mine, span, tile, slots)
            else:
                compute_values(mine, span, tile, slots)
            if fx.const_expr(in_parts):
                grads = [parts[part, None, None, None, None] for parts in grads]
            store(mine, span, tile, kv, grads)
    if fx.const_expr(not plan.finds_keys):
        fx.nvvm.griddepcontrol_wait()  # what follows is to wait for both


def places_of(smem: Any, plan: BackwardPlan) -> list[Any]:
    """Return where tiles of Q, K, V, dO and dS, the sums for dQ, and the numbers of rows lie in shared memory."""
    counts, places = plan.shared_elements, []
    for name in ("q", "k", "v", "do", "ds", "sums", "rows"):
        dtype, align = (fx.Float32, 128) if name == "rows" else (fx.Float32 if name == "sums" else plan.dtype, 1024)
        places.append(smem.allocate(fx.Array[dtype, counts[name], align]).ptr if counts[name] else None)
    return places


@flyc.jit
def load(maps, places, pipes, stats, span, tile, slots, lengths, plan):
    """The loading thread: the tile of keys and their values, then tiles of queries and of dO."""
    map_q, map_k, map_v, map_o = maps
    q_ptr, k_ptr, v_ptr, o_ptr, _, _, stats_ptr = places
    pipe_q, pipe_o, pipe_k, pipe_v = pipes
    slot, heads, per_kv, own = slots
    batch = span.batch if fx.const_expr(lengths is None) else 0
    state_q, state_o = pipe_q.producer_start(), pipe_o.producer_start()
    at = (batch, span.head // per_kv, 0, span.key_start + tile * plan.keys, 0)
    for pipe, tensor_map, ptr in ((pipe_k, map_k, k_ptr), (pipe_v, map_v, v_ptr))[: 1 + plan.finds_keys]:
        state = pipe.producer_start()
        pipe.acquire(state, tensor_map.bytes)
        fx.nvvm.tma_load(tensor_map, at, ptr, pipe.full(state))
    # Logarithms and deltas of a tile, or the logarithms of each tile of a pair.
    tiles = 1 if plan.finds_keys else plan.pair
    numbers = (2 if plan.finds_keys else 1) * plan.queries
    for head in range(span.head, span.head + per_kv):
        begin, end = queries_of(span, head, own)
        for i in range(begin, end):
            at = (batch, head, 0, span.query_start + i * plan.queries, 0)
            pipe_q.acquire(state_q, map_q.bytes + numbers * 4)
            fx.nvvm.tma_load(map_q, at, q_ptr + state_q.stage * (plan.queries * plan.d), pipe_q.full(state_q))
            for part in fx.range_constexpr(tiles):
                row = fx.get_iter(stats[((slot + i) * tiles + part) * heads + head, None])
                place = stats_ptr + (state_q.stage * (2 * plan.queries) + part * (numbers // tiles))
                fx.nvvm.bulk_load(row, place, numbers // tiles * 4, pipe_q.full(state_q))
            pipe_o.acquire(state_o, map_o.bytes)
            fx.nvvm.tma_load(map_o, at, o_ptr + state_o.stage * (plan.queries * plan.dv), pipe_o.full(state_o))
            state_q, state_o = pipe_q.advance(state_q), pipe_o.advance(state_o)


class Warpgroup:
    """A computing warpgroup: its five products, their operands in shared memory, and its fragments."""

    def __init__(self, places, pipes, swizzles, sums, extras, numbers, plan):
        q_ptr, k_ptr, v_ptr, o_ptr, ds_ptr, dq_ptr, stats_ptr = places
        self.pipe_q, self.pipe_o, self.pipe_k, self.pipe_v = pipes
        self.sums, self.counters = sums
        self.extras, self.numbers, self.plan = extras, numbers, plan
        self.thread = thread = fx.thread_idx.x - WARPGROUP
        self.number = fx.nvvm.warp_uniform(thread // WARPGROUP)
        self.leader = thread % WARPGROUP == 0
        queries, keys, stages = plan.queries, plan.keys, plan.stages
        op, layout = fx.nvvm.Wgmma, fx.make_layout((plan.consumers, 1, 1), (1, 0, 0))

        def product(n, *sources, **majors):
            return fx.make_tiled_mma(fx.make_mma_atom(op(n, 16, plan.dtype, fx.Float32, *sources, **majors)), layout)

        self.scorer = product(queries)
        self.to_keys, self.to_values = (product(n, "register", major_b="mn") for n in (plan.d, plan.dv))
        self.to_queries = sums_of_queries(plan)
        of_q, of_k, of_v, of_o = zip(
            (q_ptr, k_ptr, v_ptr, o_ptr), swizzles, (queries, keys, keys, queries),
            (plan.d, plan.d, plan.dv, plan.dv), (stages, 1, 1, stages), strict=True,
        )  # fmt: skip
        self.tiles = tuple(tiles_of(*of) if of[0] is not None else None for of in (of_q, of_k, of_v, of_o))

        def turned(of, first=0, columns=None):
            ptr, swizzle, rows, *others = of
            return tiles_of(ptr + first * rows, swizzle, rows, *others, transposed=True, columns=columns)

        part, where = self.scorer.get_slice(thread), fx.make_identity_tensor
        self.q_part, self.o_part = (part.partition_B(self.tiles[i]) for i in (0, 3))
        self.q_turned = self.to_keys.get_slice(thread).partition_B(turned(of_q))
        self.o_turned = self.to_values.get_slice(thread).partition_B(turned(of_o))
        self.s, self.dp = (self.scorer.make_fragment_C(where((keys, queries))) for _ in range(2))
        self.p, self.ds = (self.to_keys.make_fragment_A(where((keys, queries))) for _ in range(2))
        self.dk, self.dv = (
            tiled.make_fragment_C(where((keys, n))) for tiled, n in ((self.to_keys, plan.d), (self.to_values, plan.dv))
        )
        self.rows = FragmentRows(self.scorer, thread, (keys, queries), queries=1)
        self.stats = fx.make_view(stats_ptr, fx.make_layout((queries, 2, stages), (1, queries, 2 * queries)))
        if not plan.finds_keys:
            return
        swizzle = fx.make_swizzle(3, 4, 3)  # rows of 128 bytes
        self.ds_tile = tiles_of(ds_ptr, swizzle, queries, keys, stages)
        layout = fx.make_layout((8, queries, (8, keys // 64), stages), (1, 64, (8, queries * 64), queries * keys))
        permuted = fx.make_composed_layout(fx.static(fx.SwizzleType.get(3, 3, 3)), layout)  # counted in elements
        self.ds_pieces = fx.make_view(ds_ptr, permuted)
        # Rows behind those of K^T are whatever lies there, and so are their sums, which nobody reads.
        self.k_turned = [turned(of_k, first, plan.sums) for first, _ in plan.pieces]
        sums = (plan.sums, queries) if plan.transposed else (queries, plan.sums)
        self.dq = [self.to_queries.make_fragment_C(where(sums)) for _ in plan.pieces]
        self.dq_ptr = dq_ptr + self.number * plan.share
        self.dq_place = fx.make_view(dq_ptr, order_of_sums(plan))[None, None, thread]

    def multiply(self, tiled, accumulators, a, b, steps, add=False):
        """accumulators (+)= a b, asynchronously; ``a`` and ``b`` give the operands of a step."""
        for k in fx.range_constexpr(steps):
            fx.gemm(tiled, accumulators, a(k), b(k), accumulators, scale_d=int(add or k > 0))
        fx.nvvm.wgmma_commit_group()

    def start_scores(self, stage, first):
        """s = k q^T. Here as below ``first`` is the warp's first thread."""
        part = self.scorer.get_slice(first).partition_A(self.tiles[1])
        a, b = (lambda k: part[None, None, k, 0]), (lambda k: self.q_part[None, None, k, stage])
        self.multiply(self.scorer, self.s, a, b, self.plan.d // 16)

    def start_gradients_of_powers(self, stage, first):
        """dp = v do^T."""
        part = self.scorer.get_slice(first).partition_A(self.tiles[2])
        a, b = (lambda k: part[None, None, k, 0]), (lambda k: self.o_part[None, None, k, stage])
        self.multiply(self.scorer, self.dp, a, b, self.plan.dv // 16)

    def start_values(self, stage):
        """dv += p^T do."""
        a, b = (lambda k: self.p[None, None, k]), (lambda k: self.o_turned[None, None, k, stage])
        self.multiply(self.to_values, self.dv, a, b, self.plan.queries // 16, add=True)

    def start_keys(self, stage):
        """dk += ds^T q."""
        a, b = (lambda k: self.ds[None, None, k]), (lambda k: self.q_turned[None, None, k, stage])
        self.multiply(self.to_keys, self.dk, a, b, self.plan.queries // 16, add=True)

    def start_queries(self, piece, stage, first):
        """dq = ds k, over the keys of all warpgroups."""
        part, turned, keys = self.to_queries.get_slice(first), self.plan.transposed, self.k_turned[piece]
        left, right = (keys, self.ds_tile) if turned else (self.ds_tile, keys)
        left, right, (i, j) = part.partition_A(left), part.partition_B(right), (0, stage) if turned else (stage, 0)
        a, b = (lambda k: left[None, None, k, i]), (lambda k: right[None, None, k, j])
        self.multiply(self.to_queries, self.dq[piece], a, b, self.plan.keys // 16)

    def numbers_of(self, which, stage):
        """A number for each of this thread's queries, which come two by two."""
        pair, found = fx.Vector.make_type(2, fx.Float32), []
        for row in self.rows.rows[::2]:
            two = fx.Vector.load(pair, self.stats[None, which, stage], [self.rows.query + row], alignment=8)
            found += [two[0], two[1]]
        return found

    def keep(self, values, stage):
        """ds to shared memory as (queries, keys), by blocks of 8 x 8 that are turned on the way.

        The instruction's own layout says which row of a block a lane names. Blocks are stored one by one: by `fx.copy`,
        with places known from tile to tile, fewer powers were computed beside products, and 16 heads of 128 took 2571
        us instead of 2520 at 8192 tokens, on an H200 on 2026-11-16.
        """
        plan, words = self.plan, values.bitcast(fx.Int32)
        atom = fx.make_copy_atom(fx.nvvm.StMatrix(4, transposed=True), plan.dtype)
        lanes = fx.make_tiled_copy_C(atom, self.scorer).get_slice(self.thread)
        places = lanes.partition_D(fx.make_identity_tensor((plan.keys, plan.queries)))
        key, query = (fx.Int32(part) for part in fx.get_leaves(places[0]))
        for first in fx.range_constexpr(0, plan.queries, 16):
            four = [words[first // 4 + i] for i in range(4)]
            fx.nvvm.stmatrix(self.ds_pieces[None, first + query, key // 8, stage], four, transposed=True)

    def release(self, pipe, state):
        if self.leader:
            pipe.release(state)

    def clear(self, which, count, stage):
        """Zeros for the rows of a tile behind the first ``count``: others' rows may hold anything, and 0 * NaN is NaN.

        ``which`` is the tile's number: of Q, K, V or dO.
        """
        plan, threads = self.plan, self.plan.consumers * WARPGROUP
        rows, width = plan.queries if which in (0, 3) else plan.keys, plan.d if which < 2 else plan.dv
        if count < rows:
            for i in range(self.thread, (rows - count) * width, threads):
                self.tiles[which][count + i // width, i % width, stage] = 0
            fx.nvvm.fence_proxy_async()
            fx.nvvm.barrier_sync(1, threads)


@flyc.jit
def compute(mine, span, tile, slots):
    """Through this block's tiles of queries of all heads that share the keys."""
    slot, heads, per_kv, own = slots
    state_q, state_o = mine.pipe_q.consumer_start(), mine.pipe_o.consumer_start()
    mine.dk.fill(0.0)
    if fx.const_expr(mine.plan.finds_values):
        mine.dv.fill(0.0)
    mine.pipe_k.wait(mine.pipe_k.consumer_start())
    mine.pipe_v.wait(mine.pipe_v.consumer_start())
    if fx.const_expr(mine.plan.shared_rows):
        count = span.band.length - tile * mine.plan.keys
        mine.clear(1, count, 0)
        mine.clear(2, count, 0)
    line, pieces = fx.Int32(-1), len(mine.plan.pieces)
    for head in range(span.head, span.head + per_kv):
        begin, end = queries_of(span, head, own)
        for i in range(begin, end):
            piece = piece_at(span, head, i, mine.plan)
            plain = (i >= span.plain_begin) & (i < span.plain_end)
            next_tile(mine, piece, tile, plain, state_q, state_o, line)
            for number in fx.range_constexpr(pieces):
                if fx.const_expr(number > 0):
                    finish_sums(mine, line)
                    fx.nvvm.barrier_sync(2 + mine.number, WARPGROUP)
                line = (((slot + i) * heads + head) * pieces + number) * mine.plan.consumers + mine.number
                add_up(mine, piece, tile, number, line)
            fx.nvvm.wgmma_wait_group(0, mine.dk)
            mine.release(mine.pipe_q, state_q)
            state_q, state_o = mine.pipe_q.advance(state_q), mine.pipe_o.advance(state_o)
    finish_sums(mine, line, last=True)


@flyc.jit
def next_tile(mine, piece, tile, plain, state_q, state_o, line):
    """One tile of queries: scores, what they weigh, and all three gradients; that of keys is still under way.

    ``line`` is where sums went before.
    """
    plan = mine.plan
    mine.pipe_q.wait(state_q)
    if fx.const_expr(plan.shared_rows):
        mine.pipe_o.wait(state_o)
        mine.clear(0, piece.queries - piece.first, state_q.stage)
        mine.clear(3, piece.queries - piece.first, state_o.stage)
    fx.nvvm.wgmma_fence()
    # Asked anew for each tile: places of operands are then made in uniform registers, where they are needed. Those of
    # all products, made once, took so many registers that some were spilled.
    first = fx.nvvm.warp_uniform(mine.thread)
    mine.start_scores(state_q.stage, first)
    mine.pipe_o.wait(state_o)
    mine.start_gradients_of_powers(state_o.stage, first)
    fx.nvvm.wgmma_wait_group(1, mine.s)
    levels, deltas = (mine.numbers_of(which, state_q.stage) for which in range(2))
    powers, slopes = powers_of_scores(
        mine.s.load(), mine.rows, piece, tile, plain, levels, mine.extras, mine.numbers, plan
    )  # fmt: skip
    fx.nvvm.wgmma_wait_group(0, mine.dp)
    if fx.const_expr(not plan.finds_values):
        mine.release(mine.pipe_o, state_o)
    ds = gradients_of_scores(powers, mine.rows.split(mine.dp.load()), deltas, slopes)
    ds = mine.rows.join(ds).to(plan.dtype)
    if fx.const_expr(plan.finds_values):
        mine.p.store(mine.rows.join(powers).to(plan.dtype).reshape(mine.p.shape))
    mine.ds.store(ds.reshape(mine.ds.shape))
    mine.keep(ds, state_q.stage)
    finish_sums(mine, line)
    fx.nvvm.fence_proxy_async()
    fx.nvvm.wgmma_fence()
    if fx.const_expr(plan.finds_values):
        mine.start_values(state_o.stage)
    fx.nvvm.barrier_sync(1, plan.consumers * WARPGROUP)
    for number in fx.range_constexpr(len(plan.pieces)):
        mine.start_queries(number, state_q.stage, first)
    if fx.const_expr(plan.finds_values):
        fx.nvvm.wgmma_wait_group(len(plan.pieces), mine.dv)
        mine.release(mine.pipe_o, state_o)
    fx.nvvm.wgmma_fence()
    mine.start_keys(state_q.stage)


@flyc.jit
def add_up(mine, piece, tile, number, line):
    """A piece of dq to shared memory, in the order of this thread's registers, and from there added to what others
    found. Products of later pieces, and of dk, go on."""
    plan = mine.plan
    fx.nvvm.wgmma_wait_group(len(plan.pieces) - number, mine.dq[number])
    mine.dq_place.store(mine.dq[number].load())
    fx.nvvm.fence_proxy_async()
    fx.nvvm.barrier_sync(2 + mine.number, WARPGROUP)
    if mine.leader:
        if fx.const_expr(plan.deterministic):
            turn = turn_of(piece, tile, plan)
            while fx.atomic("add", mine.counters, 0, at=line, order="acquire", scope="device") != turn:
                pass
        fx.nvvm.tma_reduce(mine.sums, mine.dq_ptr, (line * (plan.share // LINE), 0))
        fx.nvvm.tma_commit_group()


def turn_of(piece, tile, plan):
    """How many blocks add their part of a tile of queries before this one."""
    if plan.last_keys_first:
        last = fx.min(piece.first + plan.queries, piece.queries) - 1
        return (end_of_keys(piece.band, plan.features, last) - 1) // plan.keys - tile
    return tile - first_key(piece.band, plan.features, piece.first) // plan.keys


@flyc.jit
def finish_sums(mine, line, last=False):
    """The sums of the tile before have left shared memory; where there is an order, the next block may add its own."""
    if mine.leader:
        if fx.const_expr(mine.plan.deterministic):
            fx.nvvm.tma_wait_group(0)
            fx.fence("device")
            if line >= 0:
                fx.atomic("add", mine.counters, 1, at=line, order="release", scope="device")
        else:
            fx.nvvm.tma_wait_group(0, read=not last)


# Results -------------------------------------------------------------------------------------------


@flyc.jit
def store(mine, span, tile, kv, grads):
    """dK and dV to memory, eight neighbouring elements of a row at a time, or two of those of a part."""
    plan, scale = mine.plan, mine.numbers[1]
    batch = span.batch if grads[0].shape[0] != 1 else 0
    values = (mine.to_values, mine.dv, grads[1], 1.0, plan.dv)
    keys = (mine.to_keys, mine.dk, grads[0], scale, plan.d)
    for tiled, found, out, factor, count in (values,) * plan.finds_values + (keys,) * plan.finds_keys:
        rows = FragmentRows(tiled, mine.thread, (plan.keys, count))
        for i, values in enumerate(rows.split(found.load())):
            key, values = tile * plan.keys + rows.query + rows.rows[i], values * factor
            if fx.const_expr(out.dtype.width == 32):
                pairs = [(rows.columns[i][at] + rows.column, values.shuffle(values, [at, at + 1]))
                         for at in range(0, values.numel, 2)]  # fmt: skip
            else:
                lines = whole_lines(values.to(plan.dtype).bitcast(fx.Int32), rows.column // 2)
                pairs = [(block * 32 + rows.column * 4, words.bitcast(plan.dtype)) for block, words in enumerate(lines)]
            if key < span.band.length:
                line = out[batch, kv, span.key_start + key, None]
                for column, neighbours in pairs:
                    neighbours.store(line, [column], alignment=neighbours.numel * out.dtype.width // 8)


# Launching -----------------------------------------------------------------------------------------


def hopper_backward(
    tensors: Any, grads: Any, space: Any, extras: Any, lengths: Any, numbers: Any, window: Any, batches: Any,
    longest: Any, section: Any, plan: Any, stream: Any,
) -> None:  # fmt: skip
    """Launch the kernel, in a jit function. ``tensors`` are Q, K, V, dO; ``space`` is that of `backward_rows`.

    ``grads`` are dK and dV, or their parts. ``longest`` is how many keys a sequence has at most, ``section`` as of
    `Work`.
    """
    Q, K, _, _ = tensors
    sums, stats, counters = space
    extents = ((plan.queries, plan.d), (plan.keys, plan.d), (plan.keys, plan.dv), (plan.queries, plan.dv))
    maps = tuple(head_map(tensor, *extent) for tensor, extent in zip(tensors, extents, strict=True))
    lines = fx.make_layout((fx.get_scalar(fx.size(sums)) // LINE, LINE), (LINE, 1))
    sums_map = fx.nvvm.make_tensor_map(fx.make_view(fx.get_iter(sums), lines), (plan.share // LINE, LINE), "none")
    heads, kv_heads = fx.Int32(Q.shape[1]), fx.Int32(K.shape[1])
    parts = fx.Int32(grads[0].shape[0]) if grads[0].rank == 5 else fx.Int32(1)
    work = Work(fx.ceildiv(longest, plan.keys), kv_heads, batches, heads // kv_heads, section, parts)
    given = (extras, lengths, numbers, (fx.Int32(Q.shape[2]), fx.Int32(K.shape[2])), window, work)
    backward_kernel(maps, sums_map, stats, counters, grads, *given, plan).launch(
        grid=(work.tiles * kv_heads * batches * parts, 1, 1), block=(plan.threads, 1, 1), stream=stream, pdl=True,
        value_attrs=at_entry(plan.threads),
    )  # fmt: skip
