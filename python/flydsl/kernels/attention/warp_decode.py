"""Attention of a few new tokens over a paged cache on Hopper: a warp's own products, keys in parts.

The time of a launch is that of reading the cache. Warps multiply, not the warpgroup, and take the operands of
`mma.sync` from registers: blocks of threads are small, so that several share a multiprocessor and short sequences take
little, and elements of a cache of 8 bits, which is half as long, do not pass through shared memory again once they have
16. A lane reads 16 neighbouring bytes of shared memory; of 8 bits it makes f16 by one instruction for two, queries
become f16 as well, and must not be beyond 65504. Sums do not mind an order: products see heads through layouts that
have a lane's elements side by side (`key_columns`, `value_columns`), and so queries are read and results are stored.

A block has four warps, with a quarter of every block of keys each, and one that loads as in `hopper_decode`. What the
four found is put together in shared memory; parts of a sequence are as there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.fp8_forward import transposed
from flydsl.kernels.attention.head_tiles import chunk_of
from flydsl.kernels.attention.hopper_decode import cache_map, load_block, places_of
from flydsl.kernels.attention.hopper_forward import ROW_LANES
from flydsl.kernels.attention.parts import (
    EIGHT,
    Parts,
    launch_merge,
    nothing,
    part_at,
    parts_in,
    put_together,
    shares_of,
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
    held = max(values_at + plan.stages * plan.keys * plan.dv, rows * plan.dv * 4 // (stored.width // 8))
    ring = smem.allocate(fx.Array[stored, held, 1024]).ptr
    found = smem.allocate(fx.Array[fx.Float32, rows * 2, 16]).ptr
    pipe = fx.nvvm.Pipeline(smem, stages=plan.stages, consumers=WARPS)
    done = smem.allocate(fx.Int32)
    if fx.thread_idx.x == 0:
        pipe.init()
    fx.barrier()
    # The launch may begin while the one before it ends; from here on memory is read and written.
    fx.nvvm.griddepcontrol_launch_dependents()
    fx.nvvm.griddepcontrol_wait()
    piece, count, first = part_at(parts, fx.block_idx.x, lengths, plan)
    warp = fx.nvvm.warp_uniform(fx.thread_idx.x // 32)
    if piece.queries > 0:
        if warp == WARPS:
            load(maps, (ring, ring + values_at), pipe, piece, tables, page, stored.width, plan, box)
        else:
            mine = Warp(Q, (ring, ring + values_at), pipe, piece, numbers, stored, plan)
            tops, sums = attend(mine, piece)
            store(mine, piece, tops, sums, ring, found)
            fx.nvvm.barrier_sync(1, 32 * WARPS)
            sequence = piece.batch * parts.kv_heads + piece.head - parts.whole
            gather(piece, ring, found, sequence, count, out, sinks, partial, v_scale, plan)
            if fx.const_expr(not apart):
                if count > 1:
                    threads = fx.thread_idx.x, 32 * WARPS
                    put_together(piece, first, count, out, sinks, partial, sequence, plan, done, threads)


@flyc.jit
def load(maps, places, pipe, piece, tables, page, width, plan, box):
    """The loading warp: a block of keys and its values, from the last to the first."""
    lane, state = fx.lane_id(), pipe.producer_start()
    here = places_of(tables, piece, piece.end - 1, lane, page, plan.keys, box)
    for i in range(piece.end - piece.begin):
        after = places_of(tables, piece, fx.max(piece.end - 2 - i, piece.begin), lane, page, plan.keys, box)
        pipe.acquire(state)
        if lane == 0:
            fx.nvvm.mbarrier_arrive_expect_tx(pipe.full(state), plan.keys * (plan.d + plan.dv) * width // 8)
        for tensor_map, ptr, d in zip(maps, places, (plan.d, plan.dv), strict=True):
            load_block(tensor_map, here, piece.head, lane, pipe, state, ptr, (plan.keys, d), chunk_of(d, width), box)
        state = pipe.advance(state)
        here = after


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


def cache_tiles(ptr, keys, d, stages, width):
    """Stages of a tile (keys, d) in columns of `chunk_of` elements, as TMA swizzles them.

    The swizzle is a part of the layout, not of the pointer: so what it does to constant steps is found while compiling.
    """
    chunk, piece = chunk_of(d, width), 128 // width
    swizzle = fx.static(fx.SwizzleType.get((chunk // piece).bit_length() - 1, piece.bit_length() - 1, 3))
    layout = fx.make_layout((keys, (chunk, d // chunk), stages), (chunk, (1, keys * chunk), keys * d))
    return fx.make_view(ptr, fx.make_composed_layout(swizzle, layout))


class Warp:
    """A computing warp: its 16 queries, its fragments, and its share of the keys of a block.

    Products have the elements of heads in the orders of `key_columns` and `value_columns`: views say where they lie.
    """

    def __init__(self, Q, places, pipe, piece, numbers, stored, plan):
        self.pipe, self.numbers, self.stored, self.plan = pipe, numbers, stored, plan
        self.dtype = fx.Float16 if stored.width == 8 else stored
        warp = fx.nvvm.warp_uniform(fx.thread_idx.x // 32)
        self.number, self.side = warp // plan.side_by_side, warp % plan.side_by_side
        self.keys = plan.keys // plan.shares
        atom = fx.make_mma_atom(fx.nvvm.MmaSync(TILE, 8, TILE, self.dtype, fx.Float32))
        tiled = self.tiled = fx.make_tiled_mma(atom, fx.make_layout((1, 1, 1), (1, 1, 1)))
        self.own = tiled.get_slice(fx.lane_id())
        scores, results, where = (TILE, self.keys), (TILE, plan.dv), fx.make_identity_tensor
        self.s, self.o = (tiled.make_fragment_C(where(shape)) for shape in (scores, results))
        self.p, self.q = (tiled.make_fragment_A(where(shape)) for shape in (scores, (TILE, plan.d)))
        self.k, self.v = (tiled.make_fragment_B(where(shape)) for shape in ((self.keys, plan.d), (plan.dv, self.keys)))
        self.s_rows, self.o_rows = (FragmentRows(tiled, fx.lane_id(), shape) for shape in (scores, results))
        for rows in (self.s_rows, self.o_rows):
            rows.query = rows.query + self.side * TILE
        orders = key_columns(plan.d, stored.width), value_columns(plan.dv, stored.width)
        keys, turned = (
            self.share_of(cache_tiles(ptr, plan.keys, d, plan.stages, stored.width), order)
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

    def multiply(self, accumulators, a, b, steps):
        for step in fx.range_constexpr(steps):
            fx.gemm(self.tiled, accumulators, a[None, None, step], b[None, None, step], accumulators)


@flyc.jit
def attend(mine, piece):
    """A part: this warp's keys of every block, from the last to the first. Levels and sums of its rows."""
    state, own = mine.pipe.consumer_start(), replace(mine.plan, keys=mine.keys)
    tops = [fx.Float32(LOWEST) for _ in mine.s_rows.rows]
    sums = [fx.Float32(0.0) for _ in mine.s_rows.rows]
    mine.o.fill(0.0)
    for i in range(piece.end - piece.begin):
        block = piece.end - 1 - i
        mine.pipe.wait(state)
        mine.read_keys(state.stage)
        mine.s.fill(0.0)
        mine.multiply(mine.s, mine.q, mine.k, mine.plan.d // TILE)
        quarter = block * mine.plan.shares + mine.number
        scores = scores_of(mine.s.load(), mine.s_rows, piece, quarter, (None, None, None), mine.numbers, own, True)
        mine.read_values(state.stage, piece.band.length - quarter * mine.keys)
        step = softmax_step(scores, tops, sums, mine.numbers[0], ROW_LANES, mine.dtype)
        powers, moved, shrink, tops, sums = step
        if moved:
            mine.o_rows.scale(mine.o, shrink)
        mine.take(powers)
        mine.multiply(mine.o, mine.p, mine.v, mine.keys // TILE)
        if fx.lane_id() == 0:
            mine.pipe.release(state)
        state = mine.pipe.advance(state)
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
    """Results of (row, element, share of the keys), and levels and sums of (row, which, share)."""
    shapes = ((plan.queries, plan.dv, plan.shares), (plan.queries, 2, plan.shares))
    layouts = [fx.make_layout(shape, (shape[1], 1, shape[0] * shape[1])) for shape in shapes]
    return fx.make_view(fx.recast_iter(fx.Float32, ring), layouts[0]), fx.make_view(found, layouts[1])


@flyc.jit
def gather(piece, ring, found, sequence, count, out, sinks, partial, v_scale, plan):
    """The results of all shares as one, to memory if the part is the only one, else to where parts are put together."""
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
        kept = shares_of(sums, total, v_scale)
        if count == 1:
            kept.to(plan.dtype).store(out[piece.batch, row // plan.group, head, None], [column], alignment=16)
        else:
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
    tokens: fx.Constexpr, apart: fx.Constexpr, box: fx.Constexpr, plan: fx.Constexpr,
    stream: fx.Stream = fx.Stream(None),
):  # fmt: skip
    """Launch the kernel, and that which puts parts together if they are ``apart``. Q is (batch, tokens, heads, d);
    ``box`` as of `box_of`; ``part`` is in blocks of keys."""
    page = fx.Int32(K.shape[1])
    rows = min(rows for rows in (TILE, 2 * TILE, WARPS * TILE) if rows >= tokens * plan.group)
    plan = WarpPlan(plan.dtype, plan.d, plan.dv, rows, plan.keys, plan.stages, plan.features, plan.group)
    maps = tuple(cache_map(cache, d, box) for cache, d in ((K, plan.d), (V, plan.dv)))
    parts = Parts(fx.Int32(Q.shape[0]), fx.Int32(K.shape[2]), splits, part, fx.Int32(tokens), left, page, whole)
    warp_decode_kernel(
        maps, Q, out, tables, lengths, sinks, (results, logarithms, counters),
        (factor_of(scale, plan.features), scale, cap), v_scale, parts, page, K.dtype, plan, box, apart,
    ).launch(
        grid=(parts_in(parts), 1, 1), block=(THREADS, 1, 1), stream=stream, pdl=True
    )  # fmt: skip
    if apart:
        launch_merge(out, lengths, sinks, (results, logarithms), parts, tokens * plan.group, plan, stream)
