"""Attention of a few new tokens over a paged cache of 8 bits on Hopper: a warp's own products, keys in parts.

A cache of 8 bits is half as long, and the time of a launch is that of reading it: elements must not pass through shared
memory again once they have 16 bits. So warps multiply, not the warpgroup, and take the operands of `mma.sync` from
registers. A lane reads neighbouring bytes of shared memory, and turns them into f16 by one instruction for two; queries
become f16 as well, and must not be beyond 65504. Sums do not mind an order: queries have their elements in that of the
bytes, and results get theirs back when they are stored.

A block has four warps, with a quarter of every block of keys each, and one that loads as in `hopper_decode`. What the
four found is put together in shared memory; parts of a sequence are, as there, by the block that ends last.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from math import gcd
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.fp8_forward import transposed
from flydsl.kernels.attention.hopper_decode import Parts, cache_map, load_block, part_at, places_of, put_together
from flydsl.kernels.attention.hopper_forward import ROW_LANES, chunk_of
from flydsl.kernels.attention.scores import (
    LN_2,
    LOG2_E,
    LOWEST,
    Features,
    add,
    factor_of,
    over_lanes,
    powers_of_two,
    softmax_step,
)
from flydsl.kernels.attention.tiles import FragmentRows, scores_of

WARPS = 4
THREADS = 32 * (WARPS + 1)
TILE = 16
"""Rows of a product, and keys of a step of the second one."""
EIGHT = 8
"""Elements of a row that a thread puts together."""


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

    @property
    def rows(self) -> int:
        """Rows of a warp."""
        return self.queries // self.side_by_side


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def warp_decode_kernel(
    maps: Any, Q: Any, out: Any, tables: Any, lengths: Any, sinks: Any, partial: Any, numbers: Any, v_scale: Any,
    parts: Any, page: fx.Int32, stored: fx.Constexpr, plan: fx.Constexpr, box: fx.Constexpr,
):  # fmt: skip
    """``maps`` are those of K and V, whose elements are ``stored``; other arguments as of `decode_kernel`."""
    smem = fx.SharedAllocator(1024, static=False)
    values_at, rows = plan.stages * plan.keys * plan.d, plan.shares * plan.queries
    held = max(values_at + plan.stages * plan.keys * plan.dv, rows * plan.dv * 4)
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
            load(maps, (ring, ring + values_at), pipe, piece, tables, page, plan, box)
        else:
            mine = Warp(Q, (ring, ring + values_at), pipe, piece, numbers, stored, plan)
            tops, sums = attend(mine, piece)
            store(mine, piece, tops, sums, ring, found)
            fx.nvvm.barrier_sync(1, 32 * WARPS)
            sequence = piece.batch * parts.kv_heads + piece.head
            gather(piece, ring, found, sequence, count, out, sinks, partial, v_scale, plan)
            if count > 1:
                put_together(
                    piece, first, count, out, sinks, partial, sequence, plan, done, (fx.thread_idx.x, 32 * WARPS)
                )


@flyc.jit
def load(maps, places, pipe, piece, tables, page, plan, box):
    """The loading warp: a block of keys and its values, from the last to the first."""
    lane, state = fx.thread_idx.x % 32, pipe.producer_start()
    here = places_of(tables, piece, piece.end - 1, lane, page, plan.keys, box)
    for i in range(piece.end - piece.begin):
        after = places_of(tables, piece, fx.max(piece.end - 2 - i, piece.begin), lane, page, plan.keys, box)
        pipe.acquire(state)
        if lane == 0:
            fx.nvvm.mbarrier_arrive_expect_tx(pipe.full(state), plan.keys * (plan.d + plan.dv))
        for tensor_map, ptr, d in zip(maps, places, (plan.d, plan.dv), strict=True):
            load_block(tensor_map, here, piece.head, lane, pipe, state, ptr, (plan.keys, d), chunk_of(d, 8), box)
        state = pipe.advance(state)
        here = after


class Warp:
    """A computing warp: its queries, its fragments, and its part of the rows and of the keys of a block."""

    def __init__(self, Q, places, pipe, piece, numbers, stored, plan):
        self.places, self.pipe, self.numbers, self.stored, self.plan = places, pipe, numbers, stored, plan
        self.lane = fx.thread_idx.x % 32
        warp = fx.nvvm.warp_uniform(fx.thread_idx.x // 32)
        self.number, self.first_row = warp // plan.side_by_side, warp % plan.side_by_side * plan.rows
        self.keys = plan.keys // plan.shares
        atom = fx.make_mma_atom(fx.nvvm.MmaSync(TILE, 8, TILE, fx.Float16, fx.Float32))
        self.tiled = fx.make_tiled_mma(atom, fx.make_layout((1, 1, 1), (1, 1, 1)))
        scores, results = (plan.rows, self.keys), (plan.rows, plan.dv)
        self.s, self.o = (self.tiled.make_fragment_C(fx.make_identity_tensor(shape)) for shape in (scores, results))
        self.p = self.tiled.make_fragment_A(fx.make_identity_tensor(scores))
        self.q = self.tiled.make_fragment_A(fx.make_identity_tensor((plan.rows, plan.d)))
        self.k = self.tiled.make_fragment_B(fx.make_identity_tensor((self.keys, plan.d)))
        self.v = self.tiled.make_fragment_B(fx.make_identity_tensor((plan.dv, self.keys)))
        self.s_rows, self.o_rows = (FragmentRows(self.tiled, self.lane, shape) for shape in (scores, results))
        for rows in (self.s_rows, self.o_rows):
            rows.query = rows.query + self.first_row
        self.read_queries(Q, piece)

    @property
    def run(self):
        """Neighbouring elements of a key that a lane has: four for each step of the first product."""
        return 16 if self.plan.d % 64 == 0 else 8

    @property
    def piece(self):
        """Neighbouring elements of a value that a lane has, 16 at most."""
        return gcd(self.plan.dv // 8, 16)

    def read_queries(self, Q, piece):
        """Rows of queries, in the order of `read_keys`; rows that there are not are zeros."""
        plan, run = self.plan, self.run
        kind = fx.Vector.make_type(run, plan.dtype)
        lines = {}
        for row in range(0, plan.rows, 8):
            place = self.first_row + row + self.lane // 4
            inside = fx.min(place, piece.queries - 1)
            line = Q[piece.batch, inside // plan.group, piece.head * plan.group + inside % plan.group, None]
            for start in range(0, plan.d, 4 * run):
                some = fx.Vector.load(kind, line, [start + self.lane % 4 * run], alignment=16).to(fx.Float16)
                lines[row // 8, start // (4 * run)] = (place < piece.queries).select(some, fx.zeros_like(some))
        # Of a step: two neighbours, then those of the row eight below, then both again for two more elements.
        found = [
            lines[2 * tile + below, step // (run // 4)][step % (run // 4) * 4 + 2 * more + i]
            for step in range(plan.d // TILE)
            for tile in range(plan.rows // TILE)
            for more in range(2)
            for below in range(2)
            for i in range(2)
        ]
        self.q.store(fx.Vector.from_elements(found, fx.Float16).reshape(self.q.load().shape))

    def words(self, which, stage, row, column, count):
        """``count`` elements of a row of a tile in shared memory, as words; swizzled as TMA wrote them."""
        d = (self.plan.d, self.plan.dv)[which]
        chunk = chunk_of(d, 8)
        at = column // chunk * (self.plan.keys * chunk) + row * chunk + column % chunk
        at = at ^ ((at >> 7 & (chunk // 16 - 1)) << 4)
        tile = fx.recast_iter(fx.Int32, self.places[which] + stage * (self.plan.keys * d))
        view = fx.make_view(tile, fx.make_layout(self.plan.keys * d // 4, 1))
        return fx.Vector.load(fx.Vector.make_type(count // 4, fx.Int32), view, [at // 4], alignment=count)

    def pairs(self, word):
        """Four elements as f16, two in each word."""
        codes = fx.Vector.from_elements([word], fx.Int32).bitcast(fx.Int16)
        return [fx.nvvm.cvt_f16x2(codes[i], self.stored).bitcast(fx.Int32)[0] for i in range(2)]

    def read_keys(self, stage):
        """Each lane has neighbours of a key: four are what a step takes of it."""
        plan, run, first = self.plan, self.run, self.number * self.keys
        fours = {}
        for tile in range(self.keys // 8):
            for part in range(plan.d // (4 * run)):
                row, column = first + tile * 8 + self.lane // 4, part * 4 * run + self.lane % 4 * run
                words = self.words(0, stage, row, column, run)
                for i in range(run // 4):
                    fours[part * (run // 4) + i, tile] = self.pairs(words[i])
        steps, tiles = range(plan.d // TILE), range(self.keys // 8)
        self.fill(self.k, [word for step in steps for tile in tiles for word in fours[step, tile]])

    def read_values(self, stage, seen):
        """Each lane has neighbours of four keys, and turns them: those beyond the first ``seen`` keys are zero."""
        plan, first, count = self.plan, self.number * self.keys, self.piece
        found = []
        for step in range(self.keys // TILE):
            rows = [first + step * TILE + self.lane % 4 * 2 + i for i in (0, 1, 8, 9)]
            for start in range(0, plan.dv, 8 * count):
                some = [self.words(1, stage, row, start + self.lane // 4 * count, count) for row in rows]
                some = [(row < seen).select(word, fx.zeros_like(word)) for row, word in zip(rows, some, strict=True)]
                for i in range(count // 4):
                    fours = transposed([word[i] for word in some])
                    found += [pair for four in fours for pair in self.pairs(four)]
        self.fill(self.v, found)

    def fill(self, fragment, words):
        flat = fx.Vector.from_elements(words, fx.Int32).bitcast(fx.Float16)
        fragment.store(flat.reshape(fragment.load().shape))

    def take(self, powers):
        """p = powers: neighbouring tiles of eight keys are the two halves of a step."""
        flat, tiles = self.s_rows.join(powers), self.plan.rows // TILE
        order = [
            i + 2 * (below + 2 * (tile + tiles * (2 * step + more)))
            for step in range(self.keys // TILE)
            for tile in range(tiles)
            for more in range(2)
            for below in range(2)
            for i in range(2)
        ]
        self.p.store(flat.shuffle(flat, order).reshape(self.p.load().shape))

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
        mine.read_values(state.stage, piece.band.length - block * mine.plan.keys)
        step = softmax_step(scores, tops, sums, mine.numbers[0], ROW_LANES, fx.Float16)
        powers, moved, shrink, tops, sums = step
        if moved:
            o = mine.o.load()
            mine.o.store(o * mine.o_rows.spread(shrink).reshape(o.shape))
        mine.take(powers)
        mine.multiply(mine.o, mine.p, mine.v, mine.keys // TILE)
        if mine.lane == 0:
            mine.pipe.release(state)
        state = mine.pipe.advance(state)
    return tops, sums


@flyc.jit
def store(mine, piece, tops, sums, ring, found):
    """What a warp has, to shared memory, when all of them have read their keys there: (warp, row, elements)."""
    rows, plan = mine.o_rows, mine.plan
    results, levels = shared_results(ring, found, plan)
    fx.nvvm.barrier_sync(1, 32 * WARPS)
    for i, values in enumerate(rows.split(mine.o.load())):
        row = rows.query + rows.rows[i]
        total = over_lanes(sums[i], add, ROW_LANES)
        if row < piece.queries:
            for half in fx.range_constexpr(2):
                for tile in fx.range_constexpr(0, plan.dv // 8, 4):
                    # Tiles of results have neighbouring elements of each lane's piece of values.
                    four = values.shuffle(values, [rows.columns[i].index(8 * (tile + j) + half) for j in range(4)])
                    column = tile // mine.piece * 8 * mine.piece + (rows.column + half) * mine.piece + tile % mine.piece
                    four.store(results, [mine.number, row, column], alignment=16)
            if mine.lane % 4 == 0:
                levels[mine.number, row, 0] = tops[i]
                levels[mine.number, row, 1] = total


def shared_results(ring, found, plan):
    """Results of (share of the keys, row, element), and levels and sums of (share, row, which)."""
    shapes = ((plan.shares, plan.queries, plan.dv), (plan.shares, plan.queries, 2))
    layouts = [fx.make_layout(shape, (shape[1] * shape[2], shape[2], 1)) for shape in shapes]
    return fx.make_view(fx.recast_iter(fx.Float32, ring), layouts[0]), fx.make_view(found, layouts[1])


@flyc.jit
def gather(piece, ring, found, sequence, count, out, sinks, partial, v_scale, plan):
    """The results of all shares as one, to memory if the part is the only one, else to where parts are put together."""
    results, logarithms, _ = partial
    values_of, levels_of = shared_results(ring, found, plan)
    pieces = plan.dv // EIGHT
    for item in range(fx.thread_idx.x, piece.queries * pieces, 32 * WARPS):
        row, column = item // pieces, item % pieces * EIGHT
        head = piece.head * plan.group + row % plan.group
        levels = [levels_of[share, row, 0] for share in range(plan.shares)]
        sink = fx.Float32(LOWEST)
        if fx.const_expr(sinks is not None):
            sink = (count == 1).select(fx.Float32(sinks[head]) * LOG2_E, sink)
        highest = reduce(fx.maxnumf, levels, sink)
        shift = (highest == LOWEST).select(fx.Float32(0.0), highest)
        total, values = powers_of_two(sink - shift), fx.full(EIGHT, 0.0, fx.Float32)
        for share in fx.range_constexpr(plan.shares):
            weight = powers_of_two(levels[share] - shift)
            total = total + levels_of[share, row, 1] * weight
            values = values + fx.Vector.load(fx.Float32x8, values_of, [share, row, column], alignment=16) * weight
        scale = (total == 0.0).select(fx.Float32(0.0), v_scale / total)
        kept = (scale == 0.0).select(fx.zeros_like(values), values * scale)
        if count == 1:
            kept.to(plan.dtype).store(out[piece.batch, row // plan.group, head, None], [column], alignment=16)
        else:
            kept.store(results[sequence, piece.query_start, row, None], [column], alignment=16)
            if column == 0:
                empty = total == 0.0
                logarithms[sequence, piece.query_start, row] = empty.select(
                    fx.Float32(LOWEST), (shift + fx.math.log2(total)) * LN_2
                )


@flyc.jit
def warp_decode(
    Q: fx.Tensor, K: fx.Tensor, V: fx.Tensor, out: fx.Tensor, tables: fx.Tensor, lengths: fx.Tensor,
    sinks: fx.Tensor | None, results: fx.Tensor, logarithms: fx.Tensor, counters: fx.Tensor, scale: fx.Float32,
    v_scale: fx.Float32, cap: fx.Float32, left: fx.Int32, splits: fx.Int32, part: fx.Int32,
    tokens: fx.Constexpr, box: fx.Constexpr, plan: fx.Constexpr, stream: fx.Stream = fx.Stream(None),
):  # fmt: skip
    """Launch the kernel. Q is (batch, tokens, heads, d); ``box`` as of `box_of`; ``part`` is in blocks of keys."""
    page = fx.Int32(K.shape[1])
    rows = min(rows for rows in (TILE, 2 * TILE, WARPS * TILE) if rows >= tokens * plan.group)
    plan = WarpPlan(plan.dtype, plan.d, plan.dv, rows, plan.keys, plan.stages, plan.features, plan.group)
    maps = tuple(cache_map(cache, d, box) for cache, d in ((K, plan.d), (V, plan.dv)))
    parts = Parts(fx.Int32(Q.shape[0]), fx.Int32(K.shape[2]), splits, part, fx.Int32(tokens), left, page)
    warp_decode_kernel(
        maps, Q, out, tables, lengths, sinks, (results, logarithms, counters),
        (factor_of(scale, plan.features), scale, cap), v_scale, parts, page, K.dtype, plan, box,
    ).launch(
        grid=(parts.batches * parts.kv_heads * splits, 1, 1), block=(THREADS, 1, 1), stream=stream, pdl=True
    )  # fmt: skip
