"""Attention of a few new tokens over a paged cache on Hopper: a warp's own products, keys in parts.

The time of a launch is that of reading the cache. Warps multiply, not the warpgroup, and take the operands of
`mma.sync` from registers: blocks of threads are small, so that several share a multiprocessor and short sequences take
little, and elements of a cache of 8 bits, which is half as long, do not pass through shared memory again once they have
16. A lane reads 16 neighbouring bytes of shared memory; of 8 bits it makes f16 by one instruction for two, queries
become f16 as well, and must not be beyond 65504. Sums do not mind an order: products see heads through layouts that
have a lane's elements side by side (`key_columns`, `value_columns`), and so queries are read and results are stored.

A block has four warps, with a quarter of every block of keys each, and one that loads. What the four found is put
together in shared memory; parts of a sequence are as in `hopper_decode`, or those of a cluster.

Short sequences take as long as one read waits for another: what can be computed is, before the launch may read, and
where keys lie is read beside the length of the sequence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.fp8_forward import transposed
from flydsl.kernels.attention.head_tiles import chunk_of, swizzle_of
from flydsl.kernels.attention.hopper_forward import ROW_LANES
from flydsl.kernels.attention.parts import (
    EIGHT,
    PAD,
    Parts,
    count_of,
    cut_of,
    keys_in,
    launch_merge,
    merge_cluster,
    nothing,
    parts_in,
    piece_of,
    put_together,
    shares_of,
    spot_of,
    weighted,
)
from flydsl.kernels.attention.scores import (
    Features,
    factor_of,
    over_lanes,
    softmax_step,
)
from flydsl.kernels.attention.tiles import FragmentRows, scores_of
from flydsl.kernels.blocks.activation import LN_2
from flydsl.kernels.blocks.reduce import LOWEST, add

WARPS = 4
THREADS = 32 * (WARPS + 1)
TILE = 16
"""Rows of a product, and keys of a step of the second one."""


@dataclass(frozen=True)
class WarpPlan:
    """Type of queries and results, head sizes, rows of the tile, keys of a block, stages of the ring, what is asked."""

    dtype: Any
    d: int
    dv: int
    queries: int
    keys: int
    stages: int
    features: Features
    group: int
    cluster: int = 1
    """Blocks of threads that have the parts of a sequence, and put them together; one if that is done otherwise."""

    @property
    def side_by_side(self) -> int:
        """Warps that have the same keys, and different rows: a warp has no registers for more than 16."""
        return min(self.queries // TILE, WARPS)

    @property
    def shares(self) -> int:
        """Parts into which the keys of a block are cut."""
        return WARPS // self.side_by_side


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def warp_decode_kernel(
    maps: Any, Q: Any, out: Any, tables: Any, lengths: Any, sinks: Any, partial: Any, numbers: Any, v_scale: Any,
    parts: Any, page: fx.Int32, stored: fx.Constexpr, plan: fx.Constexpr, box: fx.Constexpr, apart: fx.Constexpr,
):  # fmt: skip
    """``maps`` are those of K and V, whose elements are ``stored``; other arguments as of `decode_kernel`."""
    smem = fx.SharedAllocator(1024, static=False)
    values_at, rows = plan.stages * plan.keys * plan.d, plan.shares * plan.queries
    held = max(values_at + plan.stages * plan.keys * plan.dv, rows * (plan.dv + PAD) * 4 // (stored.width // 8))
    ring = smem.allocate(fx.Array[stored, held, 1024]).ptr
    found = smem.allocate(fx.Array[fx.Float32, (rows + plan.queries) * 2, 16]).ptr
    pipes = [fx.nvvm.Pipeline(smem, stages=plan.stages, consumers=WARPS) for _ in maps]
    done = smem.allocate(fx.Int32)
    if fx.thread_idx.x == 0:
        for pipe, tensor_map in zip(pipes, maps, strict=True):
            pipe.init()
            fx.nvvm.prefetch_tensor_map(tensor_map)
    index = fx.Int32(fx.block_idx.x)
    if fx.const_expr(plan.cluster > 1):
        index = fx.nvvm.block_rank_in_cluster() * cut_of(parts) + index // plan.cluster
    spot = spot_of(parts, index)
    boxes = Boxes(maps, (ring, ring + values_at), pipes, tables, spot, page, stored.width, plan, box)
    fx.barrier()
    # The launch may begin while the one before it ends; from here on memory is read and written.
    fx.nvvm.griddepcontrol_launch_dependents()
    fx.nvvm.griddepcontrol_wait()
    entries, length = boxes.entries(boxes.first), lengths[spot.batch]
    entries = [(boxes.same(number), row) for number, row in entries]
    piece, blocks = piece_of(parts, spot, length, plan)
    count, first = count_of(blocks, spot)
    warp = fx.nvvm.warp_uniform(fx.thread_idx.x // 32)
    if warp == WARPS:
        load(boxes, entries, piece)
    elif piece.queries > 0:
        mine = Warp(Q, (ring, ring + values_at), pipes, piece, numbers, stored, plan, box)
        count, first = fx.nvvm.warp_uniform(count), fx.nvvm.warp_uniform(first)  # found while keys are on their way
        tops, sums = attend(mine, piece)
        store(mine, piece, tops, sums, ring, found)
        fx.nvvm.barrier_sync(1, 32 * WARPS)
        sequence = piece.batch * parts.kv_heads + piece.head - parts.whole
        gather(piece, ring, found, sequence, count, out, sinks, partial, v_scale, plan)
        if fx.const_expr(not apart and plan.cluster == 1):
            if count > 1:
                threads = fx.thread_idx.x, 32 * WARPS
                put_together(piece, first, count, out, sinks, partial, sequence, plan, done, threads)
    if fx.const_expr(plan.cluster > 1):
        if count > 1:
            fx.nvvm.cluster_sync()
            if warp < WARPS:
                values_of, levels_of = shared_results(ring, found, plan)
                places, rows = (values_of[None, None, 0], levels_of[None, None, plan.shares]), parts.tokens * plan.group
                threads = fx.thread_idx.x, 32 * WARPS
                merge_cluster(piece, (count, first), out, sinks, places, rows, plan, plan.cluster, threads)
            fx.nvvm.cluster_sync(relaxed=True)  # others may still read this block's shared memory


class Boxes:
    """Boxes of tokens that the loading warp sends for, each with all columns of a head: lane i has every 32nd, from the
    i-th on, so that one read of a table does for several blocks of keys.

    The first read does not wait for the length of the sequence: parts begin where they do whatever that is, unless a
    window leaves blocks out.
    """

    def __init__(self, maps, places, pipes, tables, spot, page, width, plan, box):
        self.sides = [*zip(maps, places, pipes, (plan.d, plan.dv), strict=True)]
        self.width, self.plan = width, plan
        self.tables, self.batch, self.page, self.box = tables, spot.batch, page, box
        self.of_block, self.lane = plan.keys // box, fx.lane_id()
        self.blocks = max(32 // self.of_block, 1)
        columns = self.columns(spot.split * spot.size)
        self.first = [(self.same(column), row) for column, row in columns]

    def same(self, number):
        """The same number. Compilers move no exchange between lanes behind a branch, nor what is exchanged: a division
        stays where the launch does not wait yet, and a read before what depends on another one."""
        return fx.gpu.shuffle_idx(number, self.lane, 32)

    def columns(self, block):
        """Columns of the table and rows of pages of this lane's boxes, from a block of keys on."""
        tokens = [(block * self.of_block + self.lane + i) * self.box for i in range(0, self.of_block, 32)]
        columns = [token // self.page for token in tokens]
        return [(column, token - column * self.page) for token, column in zip(tokens, columns, strict=True)]

    def entries(self, columns):
        """Pages and rows of boxes. What is beyond the table is not sent for."""
        last = fx.Int32(self.tables.shape[1]) - 1
        return [(self.tables[self.batch, fx.min(column, last)], row) for column, row in columns]

    @flyc.jit
    def send(self, entries, turn, keys, head, state):
        """Send for boxes of a block, the one with number ``turn`` of those that were read together, up to so many keys:
        nobody looks at others. Keys and values have barriers of their own, so that products of keys begin before."""
        for tensor_map, ptr, pipe, d in self.sides:
            if self.lane == 0:
                fx.nvvm.mbarrier_arrive_expect_tx(pipe.full(state), keys * (d * self.width // 8))
            for i in fx.range_constexpr(len(entries)):
                number, row = entries[i]
                at = self.lane + 32 * i - turn * self.of_block
                if (at >= 0) & (at * self.box < keys):
                    to = ptr + (state.stage * self.plan.keys + at * self.box) * d
                    fx.nvvm.tma_load(tensor_map, (number, head, 0, row, 0), to, pipe.full(state), l2="evict_first")


@flyc.jit
def load(boxes, entries, piece):
    """The loading warp: blocks of keys and their values, from the first to the last."""
    plan, box, pipe = boxes.plan, boxes.box, boxes.sides[1][2]
    if fx.const_expr(plan.features.left):
        entries = boxes.entries(boxes.columns(piece.begin))
    state, here = pipe.producer_start(), entries
    for i in range((piece.queries > 0).select(piece.end - piece.begin, 0)):
        block, turn = piece.begin + i, i % boxes.blocks
        if turn == 0:
            here = entries
        keys = fx.min(fx.ceildiv(fx.max(piece.band.length - block * plan.keys, 0), box) * box, plan.keys)
        pipe.acquire(state)  # whoever has read the values has read the keys
        boxes.send(here, turn, keys, piece.head, state)
        state = pipe.advance(state)
        if turn == 0:
            entries = boxes.entries(boxes.columns(block + boxes.blocks))


def cache_map(cache, d, box):
    """Return a map of (pages, tokens, kv heads, d) for boxes of tokens, all columns of `chunk_of` elements of a head.

    A cache is read once: L2 reads lines of 128 bytes, as in `hopper_decode.cache_map`.
    """
    (pages, tokens, heads, _), (by_page, by_token, by_head, _) = (
        [fx.get_scalar(leaf) for leaf in fx.get_leaves(mode)] for mode in (cache.shape, cache.stride)
    )
    width = cache.dtype.width
    chunk = chunk_of(d, width)
    layout = fx.make_layout((pages, heads, d // chunk, tokens, chunk), (by_page, by_head, chunk, by_token, 1))
    view, boxes = fx.make_view(fx.get_iter(cache), layout), (1, 1, d // chunk, box, chunk)
    return fx.nvvm.make_tensor_map(view, boxes, swizzle_of(chunk, width), l2_promotion="128B")


def key_columns(d, width):
    """Elements of a head in the order of the first product: of its steps, a lane has 8 or 16 neighbours in memory.

    Each of a step's 16 places is (one of two, lane of a row, first or second half).
    """
    run = 16 if d % 64 == 0 and width == 8 else 8
    return fx.make_layout(((2, 4, 2), (run // 4, d // (4 * run))), ((1, run, 2), (4, 4 * run)))


def value_columns(dv, width):
    """Elements of a value in the order of the second product: of its tiles of 8, a lane has up to 16 bytes of
    neighbours."""
    run = gcd(dv // 8, 128 // width)
    return fx.make_layout((8, (run, dv // (8 * run))), (run, (1, 8 * run)))


def cache_tiles(ptr, keys, d, stages, width, box):
    """Stages of a tile (keys, d): boxes of tokens one behind the other, each in columns of `chunk_of` elements, as TMA
    swizzles them.

    The swizzle is a part of the layout, not of the pointer: so what it does to constant steps is found while compiling.
    """
    chunk, piece = chunk_of(d, width), 128 // width
    swizzle = fx.static(fx.SwizzleType.get((chunk // piece).bit_length() - 1, piece.bit_length() - 1, 3))
    shape, stride = ((box, keys // box), (chunk, d // chunk), stages), ((chunk, box * d), (1, box * chunk), keys * d)
    return fx.make_view(ptr, fx.make_composed_layout(swizzle, fx.make_layout(shape, stride)))


class Warp:
    """A computing warp: its 16 queries, its fragments, and its share of the keys of a block.

    Products have the elements of heads in the orders of `key_columns` and `value_columns`: views say where they lie.
    """

    def __init__(self, Q, places, pipes, piece, numbers, stored, plan, box):
        self.pipes, self.numbers, self.stored, self.plan = pipes, numbers, stored, plan
        self.dtype = fx.Float16 if stored.width == 8 else stored
        warp = fx.nvvm.warp_uniform(fx.thread_idx.x // 32)
        self.number, self.side = warp // plan.side_by_side, warp % plan.side_by_side
        self.keys = plan.keys // plan.shares
        atom = fx.make_mma_atom(fx.nvvm.MmaSync(TILE, 8, TILE, self.dtype, fx.Float32))
        tiled = self.tiled = fx.make_tiled_mma(atom, fx.make_layout((1, 1, 1), (1, 1, 1)))
        self.own = tiled.get_slice(fx.lane_id())
        scores, results, where = (TILE, self.keys), (TILE, plan.dv), fx.make_identity_tensor
        *self.s, self.o = (tiled.make_fragment_C(where(shape)) for shape in (scores, scores, results))
        self.p, self.q = (tiled.make_fragment_A(where(shape)) for shape in (scores, (TILE, plan.d)))
        self.k, self.v = (tiled.make_fragment_B(where(shape)) for shape in ((self.keys, plan.d), (plan.dv, self.keys)))
        self.s_rows, self.o_rows = (FragmentRows(tiled, fx.lane_id(), shape) for shape in (scores, results))
        for rows in (self.s_rows, self.o_rows):
            rows.query = rows.query + self.side * TILE
        orders = key_columns(plan.d, stored.width), value_columns(plan.dv, stored.width)
        keys, turned = (
            self.share_of(cache_tiles(ptr, plan.keys, d, plan.stages, stored.width, box), order)
            for ptr, d, order in zip(places, (plan.d, plan.dv), orders, strict=True)
        )
        self.k_part, self.v_part = self.own.partition_B(keys), self.own.partition_B(fx.select(turned, [1, 0, 2]))
        self.v_places = self.own.partition_B(where((plan.dv, self.keys)))
        self.read_queries(Q, piece)

    def share_of(self, tile, columns):
        """This warp's keys of a tile (keys, elements, stage), with the elements in an order of columns."""
        shares = fx.make_layout((self.keys, self.plan.shares), (1, self.keys))
        return fx.composition(tile, (shares, columns, self.plan.stages))[(None, self.number), None, None]

    def read_queries(self, Q, piece):
        """Rows of queries; those that there are not are zeros."""
        plan, columns = self.plan, key_columns(self.plan.d, self.stored.width)
        for i, row in enumerate(self.s_rows.rows):
            place = self.s_rows.query + row
            inside = fx.min(place, piece.queries - 1)
            line = Q[piece.batch, inside // plan.group, piece.head * plan.group + inside % plan.group, None]
            same = fx.make_layout((TILE, columns.shape), (0, columns.stride))  # a lane's rows are lines of their own
            part = self.own.partition_A(fx.make_view(fx.get_iter(line).aligned(16), same))
            found = part[(None, 0, None), 0, None].load().to(self.dtype)
            self.q[(None, i, None), 0, None].store((place < piece.queries).select(found, fx.zeros_like(found)))

    def pairs(self, codes):
        """Elements of 8 bits as f16, two in each word."""
        codes = codes.bitcast(fx.Int16)
        return [fx.nvvm.cvt_f16x2(codes[i], self.stored).bitcast(fx.Int32)[0] for i in range(codes.numel)]

    def turned(self, words):
        """Return words of two keys' elements, as the second product takes them, of four words: neighbouring elements
        of a key each."""
        if self.stored.width == 8:
            return [pair for four in transposed(words)
                    for pair in self.pairs(fx.Vector.from_elements([four], fx.Int32))]  # fmt: skip
        keys = [fx.Vector.from_elements([word], fx.Int32).bitcast(fx.Int16) for word in words]
        return [keys[i].shuffle(keys[i + 1], order).bitcast(fx.Int32)[0] for order in ([0, 2], [1, 3]) for i in (0, 2)]

    def read_keys(self, stage):
        found = self.k_part[None, None, None, stage].load()
        self.fill(self.k, self.pairs(found) if self.stored.width == 8 else list(found.bitcast(fx.Int32)))

    def read_values(self, stage, seen):
        """Each lane has neighbours of four keys, and turns them: those beyond the first ``seen`` keys are zero."""
        found = []
        for step in range(self.keys // TILE):
            words = []
            for pair, one in ((0, 0), (0, 1), (1, 0), (1, 1)):
                some = self.v_part[(one, pair), None, step, stage].load().bitcast(fx.Int32)
                _, key = fx.get_leaves(self.v_places[(one, pair), 0, step])
                words.append((fx.Int32(key) < seen).select(some, fx.zeros_like(some)))
            for i in range(self.plan.dv * self.stored.width // 256):
                found += self.turned([word[i] for word in words])
        self.fill(self.v, found)

    def fill(self, fragment, words):
        flat = fx.Vector.from_elements(words, fx.Int32).bitcast(self.dtype)
        fragment.store(flat.reshape(fragment.shape))

    def take(self, powers):
        """p = powers: neighbouring tiles of eight keys are the two halves of a step."""
        self.p.store(self.s_rows.join(powers).reshape(self.p.shape))

    def first_product(self):
        """q k^T, as two sums: half as many products wait for each other."""
        for sums in self.s:
            sums.fill(0.0)
        for step in fx.range_constexpr(self.plan.d // TILE):
            self.multiply(self.s[step % 2], self.q, self.k, step)
        return self.s[0].load() + self.s[1].load()

    def multiply(self, accumulators, a, b, step):
        fx.gemm(self.tiled, accumulators, a[None, None, step], b[None, None, step], accumulators)


@flyc.jit
def attend(mine, piece):
    """A part: this warp's keys of every block, from the first to the last. Levels and sums of its rows."""
    (keys, values), own = mine.pipes, replace(mine.plan, keys=mine.keys)
    state = values.consumer_start()
    tops = [fx.Float32(LOWEST) for _ in mine.s_rows.rows]
    sums = [fx.Float32(0.0) for _ in mine.s_rows.rows]
    mine.o.fill(0.0)
    for i in range(piece.end - piece.begin):
        block = piece.begin + i
        keys.wait(state)
        mine.read_keys(state.stage)
        found = mine.first_product()
        quarter = block * mine.plan.shares + mine.number
        scores = scores_of(found, mine.s_rows, piece, quarter, (None, None, None), mine.numbers, own, True)
        values.wait(state)
        mine.read_values(state.stage, piece.band.length - quarter * mine.keys)
        step = softmax_step(scores, tops, sums, mine.numbers[0], ROW_LANES, mine.dtype)
        powers, moved, shrink, tops, sums = step
        if moved & (i > 0):
            mine.o_rows.scale(mine.o, shrink)
        mine.take(powers)
        for step in fx.range_constexpr(mine.keys // TILE):
            mine.multiply(mine.o, mine.p, mine.v, step)
        if fx.lane_id() == 0:
            values.release(state)
        state = values.advance(state)
    return tops, sums


@flyc.jit
def store(mine, piece, tops, sums, ring, found):
    """What a warp has, to shared memory, when all of them have read their keys there."""
    rows, plan = mine.o_rows, mine.plan
    results, levels = shared_results(ring, found, plan)
    sides = fx.make_layout((TILE, plan.side_by_side), (1, TILE))
    columns = value_columns(plan.dv, mine.stored.width)
    own = fx.composition(results, (sides, columns, plan.shares))[(None, mine.side), None, mine.number]
    part = mine.own.partition_C(own)
    fx.nvvm.barrier_sync(1, 32 * WARPS)
    for i, values in enumerate(rows.split(mine.o.load())):
        row = rows.query + rows.rows[i]
        total = over_lanes(sums[i], add, ROW_LANES)
        if row < piece.queries:
            part[(None, i), 0, None].store(values)
            if rows.column == 0:
                levels[row, 0, mine.number] = tops[i]
                levels[row, 1, mine.number] = total


def shared_results(ring, found, plan):
    """Results of (row, element, share of the keys), and levels and sums of (row, which, share): those of all shares
    together are last."""
    line = plan.dv + PAD
    layouts = (
        fx.make_layout((plan.queries, plan.dv, plan.shares), (line, 1, plan.queries * line)),
        fx.make_layout((plan.queries, 2, plan.shares + 1), (2, 1, plan.queries * 2)),
    )
    return fx.make_view(fx.recast_iter(fx.Float32, ring), layouts[0]), fx.make_view(found, layouts[1])


@flyc.jit
def gather(piece, ring, found, sequence, count, out, sinks, partial, v_scale, plan):
    """The results of all shares as one, to memory if the part is the only one, else to where parts are put together:
    the place of the first share, for a cluster."""
    results, logarithms, _ = partial
    values_of, levels_of = shared_results(ring, found, plan)
    places = fx.zipped_divide(fx.make_identity_tensor((plan.dv, plan.queries)), (EIGHT, 1))[(0, 0), None]
    for item in range(fx.thread_idx.x, piece.queries * (plan.dv // EIGHT), 32 * WARPS):
        column, row = (fx.Int32(part) for part in fx.get_leaves(places[item]))
        head = piece.head * plan.group + row % plan.group
        none, one, sink = nothing(sinks, head)
        if fx.const_expr(sinks is not None):
            sink = (count == 1).select(sink, fx.Float32(LOWEST))
        lines = [values_of[row, None, share] for share in range(plan.shares)]
        values = [fx.Vector.load(fx.Float32x8, line, [column], alignment=16) for line in lines]
        others = [(some, levels_of[row, 1, share], levels_of[row, 0, share]) for share, some in enumerate(values)]
        sums, total, level = weighted((none, one, sink), others)
        if count == 1:
            kept = shares_of(sums, total, v_scale).to(plan.dtype)
            kept.store(out[piece.batch, row // plan.group, head, None], [column], alignment=16)
        elif fx.const_expr(plan.cluster > 1):
            (sums * v_scale).store(values_of[row, None, 0], [column], alignment=16)
            if column == 0:
                levels_of[row, 0, plan.shares], levels_of[row, 1, plan.shares] = level, total
        else:
            kept = shares_of(sums, total, v_scale)
            kept.store(results[sequence, piece.query_start, row, None], [column], alignment=16)
            if column == 0:
                empty = total == 0.0
                logarithms[sequence, piece.query_start, row] = empty.select(
                    fx.Float32(LOWEST), (level + fx.math.log2(total)) * LN_2
                )


@flyc.jit
def warp_decode(
    Q: fx.Tensor, K: fx.Tensor, V: fx.Tensor, out: fx.Tensor, tables: fx.Tensor, lengths: fx.Tensor,
    sinks: fx.Tensor | None, results: fx.Tensor, logarithms: fx.Tensor, counters: fx.Tensor, scale: fx.Float32,
    v_scale: fx.Float32, cap: fx.Float32, left: fx.Int32, splits: fx.Int32, part: fx.Int32, whole: fx.Int32,
    tokens: fx.Constexpr, apart: fx.Constexpr, box: fx.Constexpr, plan: fx.Constexpr, cluster: fx.Constexpr = 1,
    stream: fx.Stream = fx.Stream(None),
):  # fmt: skip
    """Launch the kernel, and that which puts parts together if they are ``apart``. Q is (batch, tokens, heads, d);
    ``box`` as of `box_of`; ``part`` is in blocks of keys."""
    page = fx.Int32(K.shape[1])
    rows = min(rows for rows in (TILE, 2 * TILE, WARPS * TILE) if rows >= tokens * plan.group)
    shape = (plan.dtype, plan.d, plan.dv, rows, plan.keys, plan.stages)
    plan = WarpPlan(*shape, plan.features, plan.group, cluster)
    maps = tuple(cache_map(cache, d, box) for cache, d in ((K, plan.d), (V, plan.dv)))
    rest = (splits, part, fx.Int32(tokens), left, page, keys_in(tables, page), whole)
    parts = Parts(fx.Int32(Q.shape[0]), fx.Int32(K.shape[2]), *rest)
    blocks = parts_in(parts) if cluster == 1 else cut_of(parts) * cluster
    warp_decode_kernel(
        maps, Q, out, tables, lengths, sinks, (results, logarithms, counters),
        (factor_of(scale, plan.features), scale, cap), v_scale, parts, page, K.dtype, plan, box, apart,
    ).launch(
        grid=(blocks, 1, 1), block=(THREADS, 1, 1), cluster=(cluster, 1, 1) if cluster > 1 else None, stream=stream,
        pdl=True,
    )  # fmt: skip
    if apart:
        launch_merge(out, lengths, sinks, (results, logarithms), parts, tokens * plan.group, plan, stream)
