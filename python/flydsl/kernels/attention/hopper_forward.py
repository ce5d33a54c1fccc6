"""Attention forward on Hopper: softmax(scale * Q K^T) V, persistent and warp-specialised, with TMA and wgmma.

A block works on a tile of queries. One thread of its first warpgroup keeps rings of tiles of K and V filled by TMA.
Each of the other warpgroups has 64 queries: it multiplies them with a block of keys from shared memory, takes the
scores into its running softmax, and multiplies the powers with V straight from registers.

Matrix units and the rest of a warpgroup work at the same time: the product of scores with V runs on while the next
scores become powers. And warpgroups take turns, by named barriers, so that one multiplies while the other has its
softmax. Blocks of keys go from the last to the first: those that need a mask come first, then those that do not.

Q is (batch, heads, queries, d), K and V are (batch, kv heads, keys, d), each with d contiguous and any strides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention import linear_powers
from flydsl.kernels.attention.forward_order import Work, load, parts_of, store
from flydsl.kernels.attention.head_tiles import head_map, tiles_of
from flydsl.kernels.attention.scores import PLAIN, Features, found_anew, softmax_start, softmax_step
from flydsl.kernels.attention.tiles import ROW_LANES, WARPGROUP, FragmentRows, Tickets, hidden, rows_of, scores_of

ROWS = 64
"""Queries of a warpgroup."""
REGISTERS = {1: (56, 256), 2: (24, 240), 3: (32, 160)}
"""A thread's registers where it loads and where it computes, by the number of computing warpgroups."""
LEAST = 2.0**-100
"""Scales of blocks are this at least: zero times the minus infinity of what a query does not see would be NaN."""
SHARED_BYTES = 232448 - 1024
"""Of a block, less what barriers and alignment take."""


@dataclass(frozen=True)
class ForwardPlan:
    """Head sizes, keys of a block, stages of the rings of K and V, warpgroups that compute, and what is asked for.

    A tile may have the rows of ``group`` heads that share keys: row i is query i // group. Where something else than
    zeros may lie behind a sequence's last value, ``shared_rows`` has it taken out: zero times NaN would be NaN.
    """

    dtype: Any
    d: int
    dv: int
    keys: int = 128
    stages: int = 2
    consumers: int = 2
    ping_pong: bool = True
    features: Features = PLAIN
    group: int = 1
    shared_rows: bool = False
    scaled: str = ""
    """How 8-bit elements are scaled: each ``"head"``, or each ``"block"`` of 128 rows."""
    wide: bool = False
    """Whether powers and values have 16 bits where queries and keys have 8."""
    joint: bool = False
    """Whether keys and values of a block share a stage: a block then waits at one barrier, and not at two."""

    @property
    def values(self) -> Any:
        """The type of powers and values."""
        return fx.Float16 if self.wide else self.dtype

    @property
    def linear(self) -> bool:
        """Whether powers have 8 bits, of blocks of 32, 64 or 128 keys (`linear_powers`)."""
        return self.values.width == 8

    @property
    def columns(self) -> int:
        """Columns of the second product, with those that add powers up."""
        return self.dv + linear_powers.ONES if self.linear else self.dv

    @property
    def result(self) -> Any:
        """The type of results."""
        return self.dtype if self.dtype.width == 16 else fx.BFloat16

    @property
    def queries(self) -> int:
        return self.consumers * ROWS

    @property
    def q_stages(self) -> int:
        """Tiles of queries in shared memory: the next one too, where there is room."""
        return 2 if self.shared_bytes(2) <= SHARED_BYTES else 1

    def shared_bytes(self, tiles: int) -> int:
        """Return what rings take, with so many tiles of queries."""
        keys = self.stages * self.keys
        bits = (tiles * self.queries + keys) * self.d * self.dtype.width + keys * self.columns * self.values.width
        return bits // 8

    @property
    def threads(self) -> int:
        return (1 + self.consumers) * WARPGROUP

    @property
    def rounds_early(self) -> bool:
        """Whether powers are rounded beside `ex2` and wait there for the product before: where products of a block take
        less than twice as long as its `ex2`, at 4096 operations and 16 of these a clock."""
        return self.dtype.width == 16 and self.d + self.dv < 256

    @property
    def cuts_several(self) -> bool:
        """Whether the last keys that the queries of a warpgroup see are usually in several blocks.

        Otherwise they are in the first block of its tile, and others are cut only where there are more keys than
        queries, or fewer, by no multiple of a block.
        """
        return self.features.right and self.keys % ROWS != 0


def at_entry(threads: int) -> dict[str, int]:
    """Return the attribute of a kernel that says how many registers its threads begin with, all that there are.

    Where ptxas cannot tell, it leaves `setmaxnreg` out, and what computes has no more registers than what loads.
    """
    return {"fly.maxnreg": min(65536 // threads // 8 * 8, 255)}


def scale_at(scale: Any, *place: Any) -> Any:
    """Return the scale of a place, where a mode of one element is that of all."""
    return scale[tuple(fx.min(fx.Int32(i), fx.Int32(extent) - 1) for i, extent in zip(place, scale.shape, strict=True))]


# The kernel ----------------------------------------------------------------------------------------


@flyc.kernel
def forward_kernel(
    maps: Any, out: Any, lse: Any, extras: Any, scales: Any, lengths: Any, numbers: Any, work: Any, extents: Any,
    window: Any, plan: fx.Constexpr,
):  # fmt: skip
    """``maps`` are those of Q, K, V; ``extras`` are bias, slopes and sinks, each may be None.

    ``scales`` are those of Q, K, V and of a head of V at most, or None: (batch, heads, blocks).
    """
    smem = fx.SharedAllocator(1024, static=False)
    q_ptr = smem.allocate(fx.Array[plan.dtype, plan.q_stages * plan.queries * plan.d, 1024]).ptr
    k_ptr = smem.allocate(fx.Array[plan.dtype, plan.stages * plan.keys * plan.d, 1024]).ptr
    v_ptr = smem.allocate(fx.Array[plan.values, plan.stages * plan.keys * plan.columns, 1024]).ptr
    pipe_q = fx.nvvm.Pipeline(smem, stages=plan.q_stages, consumers=plan.consumers)
    pipe_k = fx.nvvm.Pipeline(smem, stages=plan.stages, consumers=plan.consumers)
    pipe_v = pipe_k if plan.joint else fx.nvvm.Pipeline(smem, stages=plan.stages, consumers=plan.consumers)
    pipes, places = (pipe_q, pipe_k, pipe_v), (q_ptr, k_ptr, v_ptr)
    tickets = Tickets(smem, plan.q_stages)
    if fx.thread_idx.x == 0:
        for pipe in dict.fromkeys(pipes):
            pipe.init()
    if fx.const_expr(plan.linear):
        linear_powers.write_ones(v_ptr, plan)
    fx.barrier()
    # The launch may begin while the one before it ends; from here on memory is read and written.
    fx.nvvm.griddepcontrol_launch_dependents()
    fx.nvvm.griddepcontrol_wait()
    warpgroup = fx.nvvm.warp_uniform(fx.thread_idx.x // WARPGROUP)
    few, many = REGISTERS[plan.consumers]
    if warpgroup == 0:
        fx.nvvm.setmaxnreg(few, increase=False)
        if fx.thread_idx.x == 0:
            load(maps, places, pipes, tickets, work, (lengths, extents, window), plan)
    else:
        fx.nvvm.setmaxnreg(many, increase=True)
        mine = Warpgroup(places, pipes, [one.swizzle for one in maps], extras, numbers, plan, scales, work)
        compute(mine, tickets, lambda *results: store(*results, out, lse))


class Warpgroup:
    """A computing warpgroup: its products, its fragments, and its part of the tiles in shared memory."""

    def __init__(self, places, pipes, swizzles, extras, numbers, plan, scales=None, work=None, first=WARPGROUP):
        """``first`` is the number of the first thread that computes."""
        self.q_ptr, k_ptr, v_ptr = places
        self.pipe_q, self.pipe_k, self.pipe_v = pipes
        self.extras, self.numbers, self.plan, self.scales, self.work = extras, numbers, plan, scales, work
        thread = fx.thread_idx.x - first
        self.number = fx.nvvm.warp_uniform(thread // WARPGROUP)
        self.leader = thread % WARPGROUP == 0
        layout = fx.make_layout((plan.consumers, 1, 1), (1, 0, 0))
        wgmma, width, turned = fx.nvvm.Wgmma, plan.dtype.width, plan.linear
        self.q_depth, self.v_depth = 256 // width, 256 // plan.values.width  # elements of a sum in one step
        scores = wgmma(plan.keys, self.q_depth, plan.dtype, fx.Float16 if plan.linear else fx.Float32)
        self.qk = fx.make_tiled_mma(fx.make_mma_atom(scores), layout)
        major = "k" if turned else "mn"  # products of 8 bits sum along contiguous elements
        values = wgmma(plan.columns, self.v_depth, plan.values, fx.Float32, "register", major_b=major)
        self.pv = fx.make_tiled_mma(fx.make_mma_atom(values), layout)
        place = self.number * WARPGROUP if plan.linear else thread  # the same for all lanes: fewer instructions
        scorer, summer = self.qk.get_slice(place), self.pv.get_slice(place)
        tiles = self.pipe_q.stages
        self.q_part = scorer.partition_A(tiles_of(self.q_ptr, swizzles[0], plan.queries, plan.d, tiles, width=width))
        self.k_part = scorer.partition_B(tiles_of(k_ptr, swizzles[1], plan.keys, plan.d, plan.stages, width=width))
        sizes = (plan.columns, plan.keys) if turned else (plan.keys, plan.dv)
        self.v_tiles = tiles_of(v_ptr, swizzles[2], *sizes, plan.stages, not turned, plan.values.width)
        self.v_part = summer.partition_B(self.v_tiles)
        scores, results = (plan.queries, plan.keys), (plan.queries, plan.columns)
        self.s = self.qk.make_fragment_C(fx.make_identity_tensor(scores))
        self.p = self.pv.make_fragment_A(fx.make_identity_tensor(scores))
        self.o = self.pv.make_fragment_C(fx.make_identity_tensor(results))
        self.s_rows = FragmentRows(self.qk, thread, scores)
        self.o_rows = FragmentRows(self.pv, thread, results)
        self.total = self.pv.make_fragment_C(fx.make_identity_tensor(results)) if plan.linear else None

    def multiply_scores(self, tile, stage):
        """s = q k, asynchronously."""
        for k in fx.range_constexpr(self.plan.d // self.q_depth):
            a, b = self.q_part[None, None, k, tile], self.k_part[None, None, k, stage]
            fx.gemm(self.qk, self.s, a, b, self.s, scale_d=int(k > 0))
        fx.nvvm.wgmma_commit_group()

    def multiply_values(self, stage, turn):
        """o += p v, asynchronously; the first ``turn`` drops what o held."""
        for k in fx.range_constexpr(self.plan.keys // self.v_depth):
            a, b = self.p[None, None, k], self.v_part[None, None, k, stage]
            fx.gemm(self.pv, self.o, a, b, self.o, scale_d=(turn == 0).select(0, 1) if k == 0 else 1)
        fx.nvvm.wgmma_commit_group()

    def shrink(self, by):
        """o, and what earlier runs have, times a factor for each row."""
        for held in (self.o, self.total) if self.plan.linear else (self.o,):
            self.o_rows.scale(held, by)

    def release(self, pipe, state):
        if self.leader:
            pipe.release(state)

    def finish_values(self, state_v):
        """Wait for the product with values, whose registers for powers are free behind it."""
        fx.nvvm.wgmma_wait_group(0, self.o)
        self.release(self.pipe_v, state_v)

    def release_keys(self, state_k):
        """Release keys that have been multiplied, unless their values share the stage and are still needed."""
        if not self.plan.joint:
            self.release(self.pipe_k, state_k)

    def wait_for_values(self, state_v):
        """Wait for values, unless they came with their keys."""
        if not self.plan.joint:
            self.pipe_v.wait(state_v)

    def advance(self, state_k, state_v):
        """Where the next keys are, and the values of the block that is a step behind them."""
        return self.pipe_k.advance(state_k), state_k if self.plan.joint else self.pipe_v.advance(state_v)

    def pass_stage(self, pipe, state):
        """Release a stage that is not read, when all warps of this warpgroup have seen that it was filled.

        Else a warp that comes late could wait for it when it has been filled again. The phase that the warp waits for
        then looks as if it had not come yet, and it waits for ever.
        """
        pipe.wait(state)
        fx.nvvm.barrier_sync(8 + self.number, WARPGROUP)
        self.release(pipe, state)

    def wait_for_turn(self):
        if fx.const_expr(self.plan.ping_pong):
            fx.nvvm.barrier_sync(1 + self.number, 2 * WARPGROUP)

    def pass_turn_on(self):
        if fx.const_expr(self.plan.ping_pong):
            following = (self.number == self.plan.consumers - 1).select(fx.Int32(0), self.number + 1)
            fx.nvvm.barrier_arrive(1 + following, 2 * WARPGROUP)

    def scores(self, piece, block, side=None):
        """The scores of a block as rows, as they go into the softmax, masked on one side, on both or on none."""
        found = scores_of(self.s.load(), self.s_rows, piece, block, self.extras, self.numbers, self.plan, False)
        return found if side is None else hidden(found, self.s_rows, piece, block, self.plan, side)

    def cut(self, scores, piece, block):
        """Scores of a block that has to be masked after all.

        LLVM cannot see through the block's number here: else every turn of the loop would keep count of the columns
        that each row sees, for a mask that hardly any needs.
        """
        return hidden(scores, self.s_rows, piece, fx.nvvm.warp_uniform(block), self.plan)

    def scale_of(self, which, piece, block):
        """The scale of a block of Q, K, V or, at most, of a head of V; one where there is none."""
        if self.scales[which] is None:
            return fx.Float32(1.0)
        head = piece.head if which == 0 else piece.head // self.work.queries_per_kv
        return scale_at(self.scales[which], piece.batch, head, block)

    def factor_of(self, piece):
        """What this warpgroup's scores are multiplied by, inside the exponent, but for the scale of a block of keys;
        rows of a tile may have two scales, a warpgroup's have one."""
        factor = self.numbers[0]
        if self.plan.scaled:
            block = (piece.first + self.number * ROWS) // 128 if self.plan.scaled == "block" else 0
            factor = factor * self.scale_of(0, piece, block)
        return factor * self.scale_of(1, piece, 0) if self.plan.scaled == "head" else factor

    def factor_at(self, piece, block, factor):
        """The factor of a block of keys; values have been multiplied by theirs."""
        if self.plan.scaled != "block":
            return factor
        return fx.max(factor * self.scale_of(1, piece, block * self.plan.keys // 128), LEAST)

    def clear_values(self, piece, state_v):
        """Zeros for the values behind the end of a sequence, which is in the block that comes first."""
        seen = piece.band.length - (piece.end - 1) * self.plan.keys
        if seen < self.plan.keys:
            self.pipe_v.wait(state_v)
            seen = fx.max(seen, fx.Int32(0))
            for i in range(fx.thread_idx.x % WARPGROUP, (self.plan.keys - seen) * self.plan.dv, WARPGROUP):
                self.v_tiles[i % self.plan.dv, seen + i // self.plan.dv, state_v.stage] = 0
            fx.nvvm.fence_proxy_async()
            fx.nvvm.barrier_sync(8 + self.number, WARPGROUP)

    def take(self, powers):
        """p = powers: accumulators of one product are, two by two, what another takes as its first operand.

        In 8 bits it takes four neighbours, and gets four of every 16 keys: values lie in that order (`fp8_forward`).
        Those words are put together behind the product that reads the ones before.
        """
        flat = linear_powers.words_of(powers).bitcast(self.plan.dtype) if self.plan.linear else self.s_rows.join(powers)
        self.p.store(flat.reshape(self.p.shape))


@flyc.jit
def compute(mine, tickets, finish):
    """A computing warpgroup goes through the tiles that the loading thread names; ``finish`` stores their results."""
    states = [pipe.consumer_start() for pipe in (mine.pipe_q, mine.pipe_k, mine.pipe_v)]
    if fx.const_expr(mine.plan.ping_pong):
        if mine.number == mine.plan.consumers - 1:
            mine.pass_turn_on()
    mine.pipe_q.wait(states[0])
    piece = tickets.at(states[0]).peek()
    while piece.queries > 0:
        states = attend(mine, piece, states, finish)
        mine.pipe_q.wait(states[0])
        piece = tickets.at(states[0]).peek()
    if fx.const_expr(mine.plan.ping_pong):
        if mine.number == 0:
            mine.wait_for_turn()  # the last turn that was passed on


@flyc.jit
def attend(mine, piece, states, finish):
    """One tile: its blocks of keys from the last to the first, and the results.

    A warpgroup takes the blocks that its own 64 queries see, and passes those by that only others need.
    """
    state_q, state_k, state_v = states
    tile, whole, larger = state_q.stage, piece, None
    if fx.const_expr(mine.plan.linear):
        tile = fx.nvvm.warp_uniform(tile)
        mine.total.store(fx.zeros_like(mine.total.load()))
        larger = linear_powers.fit_queries(mine, tile)
    if fx.const_expr(mine.plan.consumers > 1):
        piece = rows_of(whole, mine.number, mine.plan)
        state_k, state_v = pass_by(mine, whole.end - piece.end, state_k, state_v)
    if fx.const_expr(mine.plan.joint):
        state_v = state_k
    begin, end = piece.begin, piece.end
    mine.pipe_k.wait(state_k)
    fx.nvvm.wgmma_fence()
    mine.multiply_scores(tile, state_k.stage)
    fx.nvvm.wgmma_wait_group(0, mine.s)
    mine.release_keys(state_k)
    state_k = mine.pipe_k.advance(state_k)
    factor = mine.factor_of(piece)
    scores = mine.scores(piece, end - 1, "right")
    if fx.const_expr(mine.plan.features.left):
        if end <= piece.plain_begin:  # the first keys of a short window are in the same block
            scores = hidden(scores, mine.s_rows, piece, end - 1, mine.plan, "left")
    here = mine.factor_at(piece, end - 1, factor)
    if fx.const_expr(mine.plan.linear):
        powers, tops, sums = linear_powers.linear_start(scores, here, larger)
    else:
        powers, tops, sums = softmax_start(scores, here, ROW_LANES, mine.plan.values)
    mine.take(powers)
    if fx.const_expr(mine.plan.shared_rows):
        mine.clear_values(piece, state_v)
    carried = (state_k, state_v, tops, sums)
    low, high = begin, end - 1
    if fx.const_expr(mine.plan.cuts_several):
        high = fx.max(fx.min(piece.plain_end, high), begin)
        carried = blocks_before(mine, piece, end - 1, end - 1 - high, carried, (tile, larger), factor, "both")
    if fx.const_expr(mine.plan.features.left):
        low = fx.min(fx.max(piece.plain_begin, begin), high)
    carried = blocks_before(mine, piece, high, high - low, carried, (tile, larger), factor, None)
    if fx.const_expr(mine.plan.features.left):
        carried = blocks_before(mine, piece, low, low - begin, carried, (tile, larger), factor, "left")
    state_k, state_v, tops, sums = carried
    mine.release(mine.pipe_q, state_q)
    mine.wait_for_values(state_v)
    fx.nvvm.wgmma_fence()
    mine.multiply_values(state_v.stage, fx.Int32(0) if mine.plan.linear else end - 1 - begin)
    fx.nvvm.wgmma_wait_group(0, mine.o)
    mine.release(mine.pipe_v, state_v)
    if fx.const_expr(mine.plan.linear):
        mine.o.store(mine.o.load() + mine.total.load())
    finish(mine, piece, tops, sums)
    state_v = mine.pipe_v.advance(state_v)
    if fx.const_expr(mine.plan.consumers > 1 and mine.plan.features.left):
        state_k, state_v = pass_by(mine, begin - whole.begin, state_k, state_v)
    return [mine.pipe_q.advance(state_q), state_k, state_v]


@flyc.jit
def pass_by(mine, count, state_k, state_v):
    """Blocks of keys that none of this warpgroup's rows sees."""
    for _ in range(count):
        mine.wait_for_turn()
        mine.pass_turn_on()
        mine.pass_stage(mine.pipe_k, state_k)
        if fx.const_expr(not mine.plan.joint):
            mine.pass_stage(mine.pipe_v, state_v)
        state_k, state_v = mine.advance(state_k, state_v)
    return state_k, state_v


@flyc.jit
def blocks_before(mine, piece, end, count, carried, tile, factor, side):
    """So many blocks before one, in runs where their products are of 8 bits."""
    if fx.const_expr(mine.plan.linear):
        run = linear_powers.RUN // mine.plan.keys
        for start in range(0, count, run):
            for i in range(fx.min(count - start, run)):
                carried = next_block(mine, piece, end - 1 - start - i, i, carried, tile, factor, side)
            mine.total.store(mine.total.load() + mine.o.load())
    else:
        for i in range(count):
            carried = next_block(mine, piece, end - 1 - i, piece.end - 1 - end + i, carried, tile, factor, side)
    return carried


@flyc.jit
def next_block(mine, piece, block, turn, carried, tile, factor, side):
    """Scores of a block and, beside them, the product of the powers before with their values.

    A block that is masked on no ``side``, or the left one, and has to be cut on the right after all is taken as one
    whose powers do not fit. A second loop for such blocks alone would take 1.4 times as long to compile; with a mask in
    a branch of one loop, heads of 128 had 657 TFLOP/s instead of 694 (2 x 8192 tokens, causal), on an H200 on
    2026-11-16.
    """
    state_k, state_v, tops, sums = carried
    here = mine.factor_at(piece, block, factor)  # read while products run
    tile, larger = tile
    mine.pipe_k.wait(state_k)
    mine.wait_for_turn()
    fx.nvvm.wgmma_fence()
    mine.multiply_scores(tile, state_k.stage)
    mine.wait_for_values(state_v)
    mine.multiply_values(state_v.stage, turn)
    mine.pass_turn_on()
    fx.nvvm.wgmma_wait_group(1, mine.s)
    mine.release_keys(state_k)
    scores = mine.scores(piece, block, side)
    cut = None
    if fx.const_expr(mine.plan.features.right and not mine.plan.cuts_several):
        cut = (block >= piece.plain_end, lambda rows: mine.cut(rows, piece, block))
    early = None
    if fx.const_expr(mine.plan.rounds_early):
        early = (lambda: mine.finish_values(state_v), lambda powers: found_anew(powers, piece.head >> 31))
    if fx.const_expr(mine.plan.linear):
        step = linear_powers.linear_step(scores, tops, sums, here, larger, cut)
    else:
        wild = mine.plan.dtype.width == 16
        step = softmax_step(scores, tops, sums, here, ROW_LANES, mine.plan.values, cut=cut, wild=wild, early=early)
    powers, moved, shrink, tops, sums = step
    if fx.const_expr(early is None):
        mine.finish_values(state_v)
    if moved:
        mine.shrink(shrink)
    mine.take(powers)
    return *mine.advance(state_k, state_v), tops, sums


# Launching -----------------------------------------------------------------------------------------


def hopper_forward(
    Q: Any, K: Any, V: Any, out: Any, lse: Any, extras: Any, lengths: Any, numbers: Any, window: Any, batches: Any,
    longest: Any, group: Any, blocks: Any, plan: Any, stream: Any, scales: Any = None,
) -> None:  # fmt: skip
    """Launch the kernel, in a jit function: ``longest`` queries at most in each of ``batches`` sequences.

    ``blocks`` blocks at most take tiles in turns, those of ``group`` heads before those of the next.
    """
    values = (V, plan.dv, plan.keys) if plan.linear else (V, plan.keys, plan.dv)
    maps = tuple(head_map(*box) for box in ((Q, plan.queries, plan.d), (K, plan.keys, plan.d), values))
    heads, kv_heads = fx.Int32(Q.shape[1]), fx.Int32(K.shape[1])
    tiles = fx.ceildiv(longest, plan.queries)
    total = tiles * heads * batches
    blocks = fx.min(blocks, total)
    # The first tiles of a window see fewer keys than others, and come last.
    smaller = window[0] // plan.queries * heads * batches if plan.features.left else fx.Int32(0)
    work = Work(tiles, heads, batches, group, heads // kv_heads, parts_of(total, blocks, plan, smaller))
    extents = (fx.Int32(Q.shape[2]), fx.Int32(K.shape[2]))
    forward_kernel(maps, out, lse, extras, scales, lengths, numbers, work, extents, window, plan).launch(
        grid=(blocks, 1, 1), block=(plan.threads, 1, 1), stream=stream, pdl=True,
        value_attrs=at_entry(plan.threads),
    )  # fmt: skip
