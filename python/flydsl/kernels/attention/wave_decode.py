"""Attention of a few new tokens over a paged cache by waves: `wave_forward` over pages, keys in parts.

The query heads that share a kv head are rows of one tile, with all new tokens. Sequences are cut into parts as in
`hopper_decode`; the block that ends the last part of a sequence puts all together. A cache of 8 bits becomes 16 bits on
its way to shared memory.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.parts import Parts, keys_in, merge, part_at
from flydsl.kernels.attention.scores import factor_of, softmax_end
from flydsl.kernels.attention.tiles import start_of
from flydsl.kernels.attention.wave_forward import attend
from flydsl.kernels.attention.waves import (
    TURNED_PAD,
    WavePlan,
    Waves,
    choose_instruction,
    keys_of,
    splits,
    spread_of,
    threads_of,
)
from flydsl.kernels.blocks.reduce import LOWEST

BLOCK = 64
"""Keys that parts are counted in: the most that a target takes at a time."""
ROWS = 64
"""Rows of a tile: new tokens, times the heads that share keys."""


def decode_plan(plan: Any) -> WavePlan:
    """Tiles of `ROWS` rows, waves without rows of their own sharing the results of others."""
    held = plan.d + plan.dv
    instruction = choose_instruction(plan.dtype, held)
    spread = spread_of(instruction, plan.dv, ROWS // instruction.queries)
    return WavePlan(plan.dtype, plan.d, plan.dv, ROWS, keys_of(instruction, held), plan.features, plan.group, spread,
                    splits(instruction, plan.d, spread))  # fmt: skip


class PagedWaves(Waves):
    """Waves whose keys lie in pages: ``sources`` are (pages, tokens of a page, d) of one kv head."""

    def __init__(self, q_tile, sources, table, page, numbers, plan):
        super().__init__(q_tile, sources, (None, None, None), numbers, plan)
        self.table, self.page, self.done = table, page, self.allocator.allocate(fx.Int32)

    def piece(self):
        """Four tokens, which caches in blocks have side by side."""
        return 4, 4

    def turned_rows(self):
        """The rows of 32 lanes are the same four, so that scalar instructions find their pages."""
        return self.instruction.turned if fx.num_warp_threads() == 64 else 1

    def turned_layout(self):
        """Rows that lanes write at the same time, four apart, begin in different banks, and so do those that they read,
        neighbours. Waves of 32 write 16 rows of the same tokens, waves of 64 four of 16 tokens."""
        keys, dv = self.plan.keys, self.plan.dv
        if fx.num_warp_threads() == 32:
            across = keys + TURNED_PAD
            return (16, dv // 16), (dv // 16 * across + TURNED_PAD, across)
        if self.instruction.depth == 32:
            return (2, 2, 2, 2, dv // 16), (2 * keys, 8 * keys + 24, keys, 4 * keys + 16, 16 * keys + 40)
        return super().turned_layout()

    def turned_read(self):
        return 4

    def meet(self):
        fx.barrier()  # where kernels wait for counters LLVM takes memory for written, and makes no scalar loads

    def places(self, piece, block):
        """What gives page and token of a row of a block; one beyond the end is the last one, and nobody sees it.

        The page that the block begins in is found once; lanes divide by no number. A row lies on that page or the next,
        or pages are so short that a product finds its quotient: row * page stays below 2^16.
        """
        keys, page = self.plan.keys, self.page
        before = block * keys // page
        inside = block * keys - before * page
        last = fx.max(piece.band.length - 1 - before * page, fx.Int32(0))
        part = (1 << 16) // page + 1

        def place(row):
            at = fx.min(inside + row, last)
            next_page = (at >= page).select(fx.Int32(1), fx.Int32(0))
            further = (page >= keys).select(next_page, at * part >> 16)
            found = fx.min(
                self.table[before + further], fx.Int32(self.sources[0].shape[0]) - 1
            )  # reads nothing outside
            return fx.max(found, fx.Int32(0)), at - further * page

        return place

    def start(self, piece, block):
        return self.load(self.rows_of(piece, block))

    def arrive(self, piece, block, held):
        self.meet()
        self.fill_tiles(*held)
        self.meet()
        return self.start(piece, fx.max(block - 1, piece.begin)), self.reads()

    def rows_of(self, piece, block):
        """What gives elements of a row of K, and of V, of a block."""
        place = self.places(piece, block)

        def taker(tensor):
            by_page, by_token, _ = (fx.Int32(fx.get_scalar(leaf)) for leaf in fx.get_leaves(tensor.stride))

            def take(row, column, count, behind=0):
                page, token = place(row + behind)
                start = fx.get_iter(tensor) + fx.Int64(page) * fx.Int64(by_page)
                line = fx.make_view(start + (token * by_token + column), fx.make_layout(count, 1))
                return self.converted(line, 0, count)

            return take

        return [taker(tensor) for tensor in self.sources]

    def converted(self, line, column, count):
        """Neighbouring elements, in the type of the products."""
        stored = line.dtype
        found = fx.Vector.load(fx.Vector.make_type(count, stored), line, [column], alignment=count * stored.width // 8)
        return found if stored is self.plan.dtype else found.to(self.plan.dtype)


class BlockedWaves(PagedWaves):
    """Waves over caches in blocks of 16: keys (pages, tokens, (16, d / 16)), values (pages, dv, (16, tokens / 16)).

    ``scales`` are those of each token, (pages, tokens) of keys and of values, or None. Values of four neighbouring
    tokens lie together and go to shared memory as they are; what lies behind the last token counts as zero.
    """

    def __init__(self, q_tile, sources, table, page, numbers, plan, scales):
        super().__init__(q_tile, sources, table, page, numbers, plan)
        self.scales = scales

    def start(self, piece, block):
        plan, (K, V), wide = self.plan, self.sources, fx.Float32
        keys, values, place = [], [], self.places(piece, block)
        for row, column in self.shares(plan.d, (1, 8)):
            page, token = place(row)
            eight = self.converted(K[page, token, (None, column // 16)], column % 16, 8)
            if self.scales is not None:
                eight = (eight.to(wide) * self.scales[0][page, token]).to(plan.dtype)
            keys.append(eight)
        for row, column in self.shares(plan.dv, (4, 4)):
            first = block * plan.keys + row
            page, token = place(row)
            token = token // 4 * 4  # the last token's own four, where the first is behind it
            weights = [(first + i < piece.band.length).select(fx.Float32(1.0), 0.0) for i in range(4)]
            if self.scales is not None:
                weights = [(first + i < piece.band.length).select(self.scales[1][page, token + i], fx.Float32(0.0))
                           for i in range(4)]  # fmt: skip
            weight = fx.Vector.from_elements(weights, wide)
            for i in fx.range_constexpr(4):
                four = self.converted(V[page, column + i, (None, token // 16)], token % 16, 4).to(wide)
                values.append((weight == 0.0).select(fx.zeros_like(weight), four * weight).to(plan.dtype))
        return keys, values

    def store_values(self, row, column, four):
        for i in fx.range_constexpr(4):
            four[i].store(self.v_tile, [column + i, row], alignment=8)


@flyc.kernel
def wave_decode_kernel(
    Q: Any, K: Any, V: Any, out: Any, tables: Any, lengths: Any, sinks: Any, partial: Any, numbers: Any, parts: Any,
    v_scale: Any, scales: Any, plan: fx.Constexpr, blocked: fx.Constexpr = False,
):  # fmt: skip
    """``partial`` has results and logarithms of parts, and counters of those that are done.

    Caches are (pages, tokens, kv heads, d), or ``blocked``: those of `BlockedWaves`, with kv heads behind pages.
    ``tables`` are (batch, pages), or a list of pages and where each sequence's begin. ``v_scale`` is what values are
    multiplied by: a number, or tensors of one element for keys and values, or None where ``scales`` are by token.
    """
    pages, starts = tables if isinstance(tables, tuple) else (tables, None)
    piece, count, first = part_at(parts, fx.block_idx.x, lengths, plan, starts)
    weight = fx.Float32(1.0) if fx.const_expr(v_scale is None) else v_scale
    if fx.const_expr(isinstance(v_scale, tuple)):
        numbers, weight = (numbers[0] * v_scale[0][0], *numbers[1:]), v_scale[1][0]
    if piece.queries > 0:
        (by_batch, by_token, by_head, _) = (fx.get_scalar(leaf) for leaf in fx.get_leaves(Q.stride))
        start = fx.get_iter(Q) + (piece.batch * by_batch + piece.head * (plan.group * by_head))

        # A lane has one row: a token and a head.
        def q_tile(row):
            row = fx.min(row, piece.queries - 1)
            mine = start + (row // plan.group * by_token + row % plan.group * by_head)
            return fx.make_view(mine, fx.make_layout((plan.queries, plan.d), (0, 1)))

        if fx.const_expr(starts is not None):
            begin = start_of(starts, piece.batch, fx.Int32(pages.shape[0]) - 1)
            table = fx.make_view(fx.get_iter(pages) + begin, fx.make_layout(1 << 24, 1))
        else:
            table = pages[piece.batch, None]
        if fx.const_expr(blocked):
            sources = (K[None, piece.head, None, None], V[None, piece.head, None, None])
            own = None if scales is None else [scale[None, piece.head, None] for scale in scales]
            mine = BlockedWaves(q_tile, sources, table, parts.page, numbers, plan, own)
        else:
            sources = (K[None, None, piece.head, None], V[None, None, piece.head, None])
            mine = PagedWaves(q_tile, sources, table, parts.page, numbers, plan)
        tops, sums = attend(mine, piece)
        store(mine, piece, tops, sums, count, first, weight, out, sinks, partial, parts)


@flyc.jit
def store(mine, piece, tops, sums, count, first, v_scale, out, sinks, partial, parts):
    """A lane's row, divided by its sum: to memory if its part is the only one, else to where parts are put together."""
    rows, plan = mine.o_rows, mine.plan
    results, logarithms, counters = partial
    sequence, alone = piece.batch * parts.kv_heads + piece.head, count == 1
    row = rows.query
    head = piece.head * plan.group + fx.min(row, piece.queries - 1) % plan.group
    level = None
    if fx.const_expr(sinks is not None):
        level = alone.select(fx.Float32(sinks[head]), fx.Float32(LOWEST))
    scale, logarithm = softmax_end(tops[0], sums[0], mine.distances, level)
    values = rows.split(mine.o.load())[0]
    kept = (scale == 0.0).select(fx.zeros_like(values), values * (scale * v_scale))
    if row < piece.queries:
        for start in fx.range_constexpr(0, kept.numel, 4):
            four, column = kept.shuffle(kept, range(start, start + 4)), rows.column + rows.columns[0][start]
            if alone:
                line = out[piece.batch, row // plan.group, head, None]
                four.to(plan.dtype).store(line, [column], alignment=8)
            else:
                four.store(results[sequence, piece.query_start, row, None], [column], alignment=16)
        if rows.column == 0:
            if count > 1:
                logarithms[sequence, piece.query_start, row] = logarithm
    if count > 1:
        fx.fence("device")
        fx.barrier()
        if fx.thread_idx.x == 0:
            before = fx.atomic("add", counters, 1, at=sequence, order="acq_rel", scope="device")
            mine.done.poke((before == count - 1).select(fx.Int32(1), 0))
        fx.barrier()
        if mine.done.peek() == 1:
            fx.fence("device")
            threads = (fx.thread_idx.x, mine.threads)
            merge(piece, first, count, out, sinks, results, logarithms, sequence, plan, threads)
            if fx.thread_idx.x == 0:
                counters[sequence] = 0  # for the next launch


@flyc.jit
def wave_decode(
    Q: fx.Tensor, K: fx.Tensor, V: fx.Tensor, out: fx.Tensor, tables: fx.Tensor, lengths: fx.Tensor,
    sinks: fx.Tensor | None, results: fx.Tensor, logarithms: fx.Tensor, counters: fx.Tensor, scale: fx.Float32,
    v_scale: fx.Float32, cap: fx.Float32, left: fx.Int32, splits: fx.Int32, part: fx.Int32, tokens: fx.Int32,
    plan: fx.Constexpr, stream: fx.Stream = fx.Stream(None),
):  # fmt: skip
    """Launch the kernel. Q is (batch, tokens, heads, d); ``part`` is in blocks of `BLOCK` keys."""
    mine, page = decode_plan(plan), fx.Int32(K.shape[1])
    rest = (splits, part * (BLOCK // mine.keys), tokens, left, page, keys_in(tables, page))
    parts = Parts(fx.Int32(Q.shape[0]), fx.Int32(K.shape[2]), *rest)
    wave_decode_kernel(
        Q, K, V, out, tables, lengths, sinks, (results, logarithms, counters),
        (factor_of(scale, plan.features), scale, cap), parts, v_scale, None, mine,
    ).launch(
        grid=(parts.batches * parts.kv_heads * splits, 1, 1), block=(threads_of(mine), 1, 1), stream=stream
    )  # fmt: skip
