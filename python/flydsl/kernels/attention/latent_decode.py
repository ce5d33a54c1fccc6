"""Attention of new tokens over a paged latent cache on Hopper: values are the first elements of keys.

A block of keys is loaded once, and both products take it from shared memory: scores as keys, with their elements along
the sum, and results as values, with the keys along it. All heads share the cache; 64 of them, or of their new tokens,
are the rows of a tile. Results of 64 rows are too long for one warpgroup: two have half of their elements each, and
make the same scores. While one turns scores into powers, the other multiplies. Results of a part are long, 128 KB of 64
rows: a dependent launch always puts the parts together, with all multiprocessors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.attention import result_of
from flydsl.kernels.attention.head_tiles import chunk_of, swizzle_of, tiles_of
from flydsl.kernels.attention.hopper_decode import (
    begin,
    box_of,
    cache_map,
    load_queries,
    load_tile,
    places_of,
)
from flydsl.kernels.attention.hopper_forward import ROW_LANES, ROWS, WARPGROUP, at_entry
from flydsl.kernels.attention.parts import (
    Cut,
    Parts,
    Sizes,
    keys_in,
    launch_merge,
    part_at,
    parts_of,
    room_for,
    space_for,
)
from flydsl.kernels.attention.scores import (
    PLAIN,
    Features,
    factor_of,
    is_scaled_first,
    softmax_end,
    softmax_start,
    softmax_step,
)
from flydsl.kernels.attention.tiles import FragmentRows, scores_of, whole_lines
from flydsl.kernels.blocks.inputs import Array, address_of, in_a_row, stream_of, strides, type_of

SHARES = 2
"""Warpgroups that compute: each has so much of the results."""
THREADS = (1 + SHARES) * WARPGROUP
MOST = 576
"""Elements of a key: shared memory has room for queries and two blocks of keys of so many."""
REGISTERS = (40, 232)
"""Of a thread that loads, and of one that computes."""


@dataclass(frozen=True)
class LatentPlan:
    """Type, elements of a key and of a value, keys of a block, stages of the ring, heads of a tile, what is asked."""

    dtype: Any
    d: int
    dv: int
    keys: int = 64
    stages: int = 2
    group: int = 1
    features: Features = PLAIN


@flyc.kernel(known_block_size=(THREADS, 1, 1))
def latent_kernel(
    maps: Any, out: Any, tables: Any, lengths: Any, partial: Any, numbers: Any, parts: Any, page: fx.Int32,
    plan: fx.Constexpr, box: fx.Constexpr,
):  # fmt: skip
    """``maps`` are those of queries and of the cache, ``partial`` has results and logarithms of parts; other arguments
    as of `decode_kernel`. A block has one part."""
    smem = fx.SharedAllocator(1024, static=False)
    q_ptr = smem.allocate(fx.Array[plan.dtype, ROWS * plan.d, 1024]).ptr
    k_ptr = smem.allocate(fx.Array[plan.dtype, plan.stages * plan.keys * plan.d, 1024]).ptr
    pipe_q = fx.nvvm.Pipeline(smem, stages=1, consumers=SHARES)
    pipe = fx.nvvm.Pipeline(smem, stages=plan.stages, consumers=SHARES)
    thread = fx.thread_idx.x
    if thread == 0:
        pipe_q.init()
        pipe.init()
    begin(q_ptr, plan.d, THREADS)
    piece, count, _ = part_at(parts, fx.block_idx.x, lengths, plan)
    warp = fx.nvvm.warp_uniform(thread // 32)
    if warp < WARPGROUP // 32:
        fx.nvvm.setmaxnreg(REGISTERS[0], increase=False)
        if (warp == 0) & (piece.queries > 0):
            load(maps, (q_ptr, k_ptr), (pipe_q, pipe), piece, tables, page, plan, box)
    else:
        fx.nvvm.setmaxnreg(REGISTERS[1], increase=True)
        if piece.queries > 0:
            mine = Share((q_ptr, k_ptr), (pipe_q, pipe), [one.swizzle for one in maps], numbers, plan)
            tops, sums = attend(mine, piece)
            store(mine, piece, tops, sums, out, partial, parts, count)


@flyc.jit
def load(maps, places, pipes, piece, tables, page, plan, box):
    """The loading warp: the queries, and blocks of keys from the last to the first."""
    map_q, map_k = maps
    q_ptr, k_ptr = places
    pipe_q, pipe = pipes
    lane = fx.lane_id()
    state_q, state = pipe_q.producer_start(), pipe.producer_start()
    if lane == 0:
        load_queries(map_q, piece, q_ptr, pipe_q.full(state_q), plan)
    here = places_of(tables, piece, piece.end - 1, lane, page, plan.keys, box)
    for i in range(piece.end - piece.begin):
        after = places_of(tables, piece, fx.max(piece.end - 2 - i, piece.begin), lane, page, plan.keys, box)
        load_tile(map_k, here, fx.Int32(0), lane, pipe, state, k_ptr, (plan.keys, plan.d), box)
        state = pipe.advance(state)
        here = after


class Share:
    """A computing warpgroup: all scores of a tile, and its part of the elements of results."""

    def __init__(self, places, pipes, swizzles, numbers, plan):
        q_ptr, k_ptr = places
        self.pipe_q, self.pipe = pipes
        self.numbers, self.plan, self.dv = numbers, plan, plan.dv // SHARES
        thread = fx.thread_idx.x % WARPGROUP
        self.number = fx.nvvm.warp_uniform(fx.thread_idx.x // WARPGROUP) - 1
        self.leader = thread == 0
        alone, wgmma = fx.make_layout((1, 1, 1), (1, 1, 1)), fx.nvvm.Wgmma
        self.qk = fx.make_tiled_mma(fx.make_mma_atom(wgmma(plan.keys, 16, plan.dtype, fx.Float32)), alone)
        values = wgmma(self.dv, 16, plan.dtype, fx.Float32, "register", major_b="mn")
        self.pv = fx.make_tiled_mma(fx.make_mma_atom(values), alone)
        scorer, summer = self.qk.get_slice(thread), self.pv.get_slice(thread)
        self.q_part = scorer.partition_A(tiles_of(q_ptr, swizzles[0], ROWS, plan.d, 1))
        self.k_part = scorer.partition_B(tiles_of(k_ptr, swizzles[1], plan.keys, plan.d, plan.stages))
        chunk = chunk_of(plan.d)
        mine = fx.make_layout(
            ((chunk, self.dv // chunk), plan.keys, plan.stages), ((1, plan.keys * chunk), chunk, plan.keys * plan.d)
        )
        own = k_ptr + self.number * (self.dv * plan.keys)
        self.v_tiles = fx.make_view(fx.apply_swizzle(own, swizzles[1]), mine)
        self.v_part = summer.partition_B(self.v_tiles)
        scores, results = (ROWS, plan.keys), (ROWS, self.dv)
        self.s = self.qk.make_fragment_C(fx.make_identity_tensor(scores))
        self.p = self.pv.make_fragment_A(fx.make_identity_tensor(scores))
        self.o = self.pv.make_fragment_C(fx.make_identity_tensor(results))
        self.s_rows, self.o_rows = FragmentRows(self.qk, thread, scores), FragmentRows(self.pv, thread, results)

    def multiply_scores(self, stage):
        """s = q k, asynchronously."""
        for step in fx.range_constexpr(self.plan.d // 16):
            a, b = self.q_part[None, None, step, 0], self.k_part[None, None, step, stage]
            fx.gemm(self.qk, self.s, a, b, self.s, scale_d=int(step > 0))
        fx.nvvm.wgmma_commit_group()

    def multiply_values(self, stage):
        """o += p v, asynchronously."""
        for step in fx.range_constexpr(self.plan.keys // 16):
            fx.gemm(self.pv, self.o, self.p[None, None, step], self.v_part[None, None, step, stage], self.o)
        fx.nvvm.wgmma_commit_group()

    def scores(self, piece, block):
        """The scores of a block as rows, as they go into the softmax."""
        extras, numbers = (None, None, None), self.numbers[:3]
        return scores_of(self.s.load(), self.s_rows, piece, block, extras, numbers, self.plan, True)

    def take(self, powers):
        """p = powers."""
        self.p.store(self.s_rows.join(powers).reshape(self.p.shape))

    def clear_values(self, seen, stage):
        """Zeros for the values behind the end of a sequence. As keys they are masked, whatever they are."""
        if seen < self.plan.keys:
            seen = fx.max(seen, fx.Int32(0))
            for i in range(fx.thread_idx.x % WARPGROUP, (self.plan.keys - seen) * self.dv, WARPGROUP):
                self.v_tiles[i % self.dv, seen + i // self.dv, stage] = 0
            fx.nvvm.fence_proxy_async()
            fx.nvvm.barrier_sync(2 + self.number, WARPGROUP)


@flyc.jit
def attend(mine, piece):
    """A part: blocks of keys from the last to the first. Levels and sums of the rows."""
    plan, state = mine.plan, mine.pipe.consumer_start()
    mine.o.fill(0.0)
    mine.pipe_q.wait(mine.pipe_q.consumer_start())
    mine.pipe.wait(state)
    fx.nvvm.wgmma_fence()
    mine.multiply_scores(state.stage)
    fx.nvvm.wgmma_wait_group(0, mine.s)
    powers, tops, sums = softmax_start(mine.scores(piece, piece.end - 1), mine.numbers[0], ROW_LANES, plan.dtype)
    mine.take(powers)
    mine.clear_values(piece.band.length - (piece.end - 1) * plan.keys, state.stage)
    carried = (state, tops, sums)
    for i in range(piece.end - 1 - piece.begin):
        carried = next_block(mine, piece, piece.end - 2 - i, carried)
    state, tops, sums = carried
    fx.nvvm.wgmma_fence()
    mine.multiply_values(state.stage)
    fx.nvvm.wgmma_wait_group(0, mine.o)
    return tops, sums


@flyc.jit
def next_block(mine, piece, block, carried):
    """The product of the powers before with their values, which does not wait for these keys, and their powers.

    Both products end before the block does: ptxas runs one wgmma after the other if one is in flight where a loop
    goes back.
    """
    before, tops, sums = carried
    state = mine.pipe.advance(before)
    fx.nvvm.wgmma_fence()
    mine.multiply_values(before.stage)
    mine.pipe.wait(state)
    fx.nvvm.wgmma_fence()
    mine.multiply_scores(state.stage)
    fx.nvvm.wgmma_wait_group(1, mine.o)
    if mine.leader:
        mine.pipe.release(before)
    fx.nvvm.wgmma_wait_group(0, mine.s)
    step = softmax_step(mine.scores(piece, block), tops, sums, mine.numbers[0], ROW_LANES, mine.plan.dtype)
    powers, moved, shrink, tops, sums = step
    if moved:
        mine.o_rows.scale(mine.o, shrink)
    mine.take(powers)
    return state, tops, sums


@flyc.jit
def store(mine, piece, tops, sums, out, partial, parts, count):
    """A share of a part's rows, divided by their sums: to memory, or to where parts are put together."""
    rows, plan, alone = mine.o_rows, mine.plan, count == 1
    results, logarithms = partial
    sequence, start = piece.batch * parts.kv_heads + piece.head, mine.number * mine.dv
    for i, values in enumerate(rows.split(mine.o.load())):
        row = rows.query + rows.rows[i]
        head = piece.head * plan.group + fx.min(row, piece.queries - 1) % plan.group
        scale, logarithm = softmax_end(tops[i], sums[i], ROW_LANES, None)
        kept = (scale == 0.0).select(fx.zeros_like(values), values * (scale * mine.numbers[3]))
        lines = whole_lines(kept.to(plan.dtype).bitcast(fx.Int32), rows.column // 2)
        if row < piece.queries:
            if alone:
                line = out[piece.batch, row // plan.group, head, None]
                for block, words in enumerate(lines):
                    words.bitcast(plan.dtype).store(line, [start + block * 32 + rows.column * 4], alignment=16)
            else:
                line = results[sequence, piece.query_start, row, None]
                for pair in fx.range_constexpr(kept.numel // 2):
                    two = kept.shuffle(kept, [2 * pair, 2 * pair + 1])
                    two.store(line, [start + rows.column + rows.columns[i][2 * pair]], alignment=8)
                if (rows.column == 0) & (mine.number == 0):
                    logarithms[sequence, piece.query_start, row] = logarithm


@flyc.jit
def latent_decode(
    Q: fx.Tensor, K: fx.Tensor, out: fx.Tensor, tables: fx.Tensor, lengths: fx.Tensor, results: fx.Tensor,
    logarithms: fx.Tensor, scale: fx.Float32, v_scale: fx.Float32, cap: fx.Float32,
    left: fx.Int32, splits: fx.Int32, part: fx.Int32, tokens: fx.Constexpr, apart: fx.Constexpr, box: fx.Constexpr,
    plan: fx.Constexpr, stream: fx.Stream = fx.Stream(None),
):  # fmt: skip
    """Launch the kernels. Q is (batch, tokens, heads, d), K is (pages, tokens of a page, 1, d)."""
    (batches, _, heads, _), (by_batch, by_token, by_head, _) = (
        [fx.get_scalar(leaf) for leaf in fx.get_leaves(mode)] for mode in (Q.shape, Q.stride)
    )
    chunk, group, page = chunk_of(plan.d), plan.group, fx.Int32(K.shape[1])
    tiles = fx.Int32(heads) // group
    shape = (batches, tiles, tokens, group, plan.d)
    packed = fx.make_layout(shape, (by_batch, by_head * group, by_token, by_head, 1))
    view = fx.make_view(fx.get_iter(Q), packed)
    map_q = fx.nvvm.make_tensor_map(view, (1, 1, tokens, group, chunk), swizzle_of(chunk))
    parts = Parts(fx.Int32(batches), tiles, splits, part, fx.Int32(tokens), left, page, keys_in(tables, page))
    numbers = (factor_of(scale, plan.features), scale, cap, v_scale)
    latent_kernel(
        (map_q, cache_map(K, plan.d, box)), out, tables, lengths, (results, logarithms), numbers, parts, page,
        plan, box,
    ).launch(
        grid=(parts.batches * parts.kv_heads * splits, 1, 1), block=(THREADS, 1, 1), stream=stream, pdl=True,
        value_attrs=at_entry(THREADS),
    )  # fmt: skip
    if apart:
        launch_merge(out, lengths, None, (results, logarithms), parts, tokens * group, plan, stream)


# Launching -----------------------------------------------------------------------------------------


def shares_elements(k_cache: Array, v_cache: Array) -> bool:
    """Return whether values are the first elements of keys, as in a latent cache."""
    if len(k_cache.shape) != 4 or tuple(k_cache.shape[2:3]) != (1,) or v_cache.shape[:3] != k_cache.shape[:3]:
        return False
    together = address_of(k_cache) == address_of(v_cache) and strides(k_cache) == strides(v_cache)
    return k_cache.shape[3] > 256 and together


def latent_attention(
    q: Array, k_cache: Array, v_cache: Array, tables: Array, lengths: Array, out: Array, sinks: Array, numbers: Any,
    workspace: tuple[Any, Any, Any] | None, counters: Array, stream: Any,
) -> Any:  # fmt: skip
    """`paged_attention` where values are the first elements of keys; ``numbers`` are its scale, window and so on."""
    scale, window, softcap, k_scale, v_scale = numbers
    queries = q[:, None] if len(q.shape) == 3 else q
    _check(queries, k_cache, v_cache, tables, lengths, sinks)
    lengths = in_a_row(lengths)
    (_, tokens, _, d), dv = (int(extent) for extent in queries.shape), int(v_cache.shape[3])
    out = result_of(q, dv, out)
    results = out[:, None] if len(q.shape) == 3 else out
    if 0 in results.shape:
        return out
    scale = (d**-0.5 if scale is None else float(scale)) * k_scale
    features = Features(window is not None, tokens > 1, softcap > 0, is_scaled_first(scale, softcap))
    plan = LatentPlan(type_of(q, k_cache, v_cache), d, dv, group=group_of(queries), features=features)
    sequences, cut = cut_of_latent(queries, k_cache, dv, tables, plan.group)
    found, logarithms, _ = space_for(workspace, q, sequences, cut, tokens * plan.group, dv, counters)
    latent_decode(
        queries, k_cache, results, tables, lengths, found, logarithms, scale, float(v_scale), softcap, window or 0,
        cut.splits, cut.part, tokens, cut.apart, box_of(int(k_cache.shape[1]), plan.keys), plan, stream_of(q, stream),
    )  # fmt: skip
    return out


def group_of(q: Array) -> int:
    """Return how many heads are rows of a tile, with all of their new tokens."""
    tokens, heads = int(q.shape[1]), int(q.shape[2])
    return max(count for count in range(1, heads + 1) if heads % count == 0 and count * tokens <= ROWS)


def cut_of_latent(q: Array, k_cache: Array, dv: int, tables: Array, group: int) -> tuple[int, Cut]:
    """Return (sequences and tiles of heads, how they are cut)."""
    batch, tokens, heads, d = (int(extent) for extent in q.shape)
    sequences, sizes = batch * (heads // group), Sizes(LatentPlan.keys, 2 * d, 4 * tokens * group * dv)
    return sequences, parts_of(q, sequences, k_cache, tables, sizes, apart=True)


def latent_workspace(q: Array, k_cache: Array, v_cache: Array, tables: Array) -> tuple[Any, Any, Any]:
    """Return what calls with tensors of these shapes need beside their results."""
    queries, dv = q[:, None] if len(q.shape) == 3 else q, int(v_cache.shape[3])
    group = group_of(queries)
    sequences, cut = cut_of_latent(queries, k_cache, dv, tables, group)
    return room_for(q, sequences, cut, int(queries.shape[1]) * group, dv)


def _check(q: Array, k_cache: Array, v_cache: Array, tables: Array, lengths: Array, sinks: Array) -> None:
    if len(q.shape) != 4 or q.shape[3] != k_cache.shape[3]:
        raise ValueError(f"shapes do not fit: q {tuple(q.shape)}, cache {tuple(k_cache.shape)}")
    batch, tokens, _, d = q.shape
    if sinks is not None:
        raise ValueError("latent caches are for attention without sinks")
    if d % 64 or d > MOST or v_cache.shape[3] % (64 * SHARES) or v_cache.shape[3] > 256 * SHARES:
        raise ValueError(
            f"keys of a latent cache have a multiple of 64 elements up to {MOST}, values one of {64 * SHARES} up to "
            f"{256 * SHARES}; got {d} and {v_cache.shape[3]}"
        )
    if tokens > ROWS:
        raise ValueError(f"{tokens} new tokens are too many: {ROWS} fit")
    for name, tensor in (("q", q), ("the cache", k_cache)):
        *steps, last = strides(tensor)
        if 0 not in tensor.shape and (last != 1 or any(step % 8 for step in steps)):
            raise ValueError(
                f"{name} must have contiguous heads, multiples of 8 elements apart: strides {(*steps, last)}"
            )
    for name, tensor, shape in (("block_tables", tables, (batch, "pages")), ("context_lens", lengths, (batch,))):
        if len(tensor.shape) != len(shape) or tensor.shape[0] != batch or not str(tensor.dtype).endswith("int32"):
            raise ValueError(f"{name} must be {shape} of int32, got {tuple(tensor.shape)} of {tensor.dtype}")
