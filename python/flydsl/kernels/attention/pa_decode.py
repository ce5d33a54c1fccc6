"""FlyDSL's names for decoding over paged caches in blocks of 16, on AMD: `pa_decode_tile`, `pa_decode_ps_launch`.

Keys are (pages, kv heads, d / 16, tokens, 16), values (pages, kv heads, d, tokens) or, turned, (pages, kv heads,
tokens / 16, d, 16); both of 8 bits, or of the query's type. Scales are numbers, one f32, or one for each token, (pages,
kv heads, tokens). Arguments that plan or tune the original's kernels, and its scratch memory, are taken and have no
effect: sequences are cut by shapes alone. Others that it does not know are refused.
"""

from __future__ import annotations

from typing import Any

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.kernels.attention.hopper_forward import ForwardPlan
from flydsl.kernels.attention.parts import Parts, Sizes, choose_cut, keys_in, room_for
from flydsl.kernels.attention.scores import Features
from flydsl.kernels.attention.wave_decode import BLOCK, ROWS, decode_plan, wave_decode_kernel
from flydsl.kernels.attention.waves import threads_of
from flydsl.kernels.blocks.activation import LOG2_E
from flydsl.kernels.blocks.inputs import (
    Array,
    empty_beside,
    is_for_cuda,
    multiprocessors,
    on_given_stream,
    refuse_unheard,
    require_whole,
    stream_of,
    type_name,
    type_of,
)

GRAIN = 16
"""Elements of a head, or tokens, that lie together."""
SMALL_BLOCK = 256
TUNING = frozenset({
    "num_partitions", "pmax", "psum", "pout", "metadata", "max_context_partition_num", "exp_sums", "max_logits",
    "temporary_output",
})  # fmt: skip
"""Plans and scratch memory of the original's."""


@flyc.jit
def decode_blocks(
    Q: fx.Tensor, K: fx.Tensor, V: fx.Tensor, out: fx.Tensor, tables: fx.Tensor, starts: fx.Tensor | None,
    lengths: fx.Tensor, k_scale: fx.Tensor, v_scale: fx.Tensor, results: fx.Tensor, logarithms: fx.Tensor,
    counters: fx.Tensor, scale: fx.Float32, left: fx.Int32, splits: fx.Int32, part: fx.Int32, tokens: fx.Int32,
    page: fx.Constexpr, plan: fx.Constexpr, stream: fx.Stream = fx.Stream(None),
):  # fmt: skip
    """Launch `wave_decode_kernel` over caches in blocks. Q is (batch, tokens, heads, d)."""
    require_whole(K, V)
    mine = decode_plan(plan)
    pages, kv_heads = (fx.get_scalar(leaf) for leaf in fx.get_leaves(K.shape)[:2])
    d, whole = plan.d, plan.d * page
    keys_layout = fx.make_layout(
        (pages, kv_heads, page, (GRAIN, d // GRAIN)), (kv_heads * whole, whole, GRAIN, (1, page * GRAIN))
    )
    turned = len(fx.get_leaves(V.shape)) == 5
    by_row, by_tokens = (GRAIN, d * GRAIN) if turned else (page, GRAIN)
    values_layout = fx.make_layout(
        (pages, kv_heads, d, (GRAIN, page // GRAIN)), (kv_heads * whole, whole, by_row, (1, by_tokens))
    )
    caches = (fx.make_view(fx.get_iter(cache), layout) for cache, layout in ((K, keys_layout), (V, values_layout)))
    rest = (splits, part * (BLOCK // mine.keys), tokens, left, fx.Int32(page), keys_in(tables, page))
    parts = Parts(fx.Int32(Q.shape[0]), fx.Int32(kv_heads), *rest)
    by_token = plan.scaled == "token"
    factor = scale * LOG2_E
    wave_decode_kernel(
        Q, *caches, out, tables if starts is None else (tables, starts), lengths, None, (results, logarithms, counters),
        (factor, scale, fx.Float32(0.0)), parts, None if by_token else (k_scale, v_scale),
        (k_scale, v_scale) if by_token else None, mine, True,
    ).launch(
        grid=(parts.batches * parts.kv_heads * splits, 1, 1), block=(threads_of(mine), 1, 1), stream=stream
    )  # fmt: skip


def pa_decode_tile(
    output: Array, query: Array, key_cache: Array, value_cache: Array, block_tables: Array, context_lengths: Array,
    key_scale: Array,
    value_scale: Array, softmax_scale: float | None = None, stream: Any = None, **tuning: Any,
) -> None:  # fmt: skip
    """New tokens over the pages that ``block_tables`` (batch, pages) name; queries are (batch * tokens, heads, d)."""
    refuse_unheard("pa_decode_tile", tuning, TUNING)
    _decode(output, query, (key_cache, value_cache), block_tables, None, context_lengths, (key_scale, value_scale),
            softmax_scale, 0, stream)  # fmt: skip


def pa_decode_ps_launch(
    output: Array, query: Array, key_cache: Array, value_cache: Array, context_lengths: Array, kv_page_indices: Array,
    kv_indptr: Array, softmax_scale: float | None = None, key_scale: Array = None, value_scale: Array = None, *,
    sliding_window: int = 0, block_tables: Array = None, stream: Any = None, **scratch: Any,
) -> str:  # fmt: skip
    """Return the same over a list of pages, of which sequence i has those from ``kv_indptr[i]`` on, or over a table.

    ``sliding_window`` is how many keys before its own a token sees, 0 for all. The name of the way is returned.
    """
    refuse_unheard("pa_decode_ps_launch", scratch, TUNING)
    tables = (block_tables, None) if block_tables is not None else (kv_page_indices, kv_indptr)
    _decode(output, query, (key_cache, value_cache), *tables, context_lengths, (key_scale, value_scale), softmax_scale,
            sliding_window, stream)  # fmt: skip
    return "ps_small_block" if int(key_cache.shape[3]) < SMALL_BLOCK else "ps_split_reduce"


@on_given_stream
def _decode(
    output: Array, query: Array, caches: tuple[Any, Any], tables: Array, starts: Array, lengths: Array,
    scales: tuple[Any, Any], scale: float | None, window: int, stream: Any,
) -> None:  # fmt: skip
    batch, heads, d = int(lengths.shape[0]), int(query.shape[1]), int(query.shape[2])
    page, kv_heads = _check(output, query, caches, batch)
    if window < 0:
        raise ValueError(f"sliding_window is 0 for all keys, or how many are seen before a token's own; got {window}")
    if int(tables.shape[0] if starts is None else starts.shape[0] - 1) < batch:
        raise ValueError(f"{batch} sequences have {tuple(tables.shape if starts is None else starts.shape)} tables")
    tokens = int(query.shape[0]) // max(batch, 1)
    if 0 in query.shape:
        return
    by_token = any(len(getattr(one, "shape", ())) > 1 for one in scales)
    given = [_scale(query, one, caches[0], by_token) for one in scales]
    features = Features(window > 0, tokens > 1)
    kind = "token" if by_token else "tensor"
    plan = ForwardPlan(type_of(query, query, query), d, d, features=features, group=heads // kv_heads, scaled=kind)
    queries, out = (x.reshape(batch, tokens, heads, d) for x in (query, output))
    blocks = -(-int(tables.shape[-1]) * page // BLOCK)
    sizes = Sizes(BLOCK, 2 * d * caches[0].dtype.itemsize, 4 * tokens * heads // kv_heads * d)
    cut = choose_cut(batch * kv_heads, blocks, multiprocessors(query), sizes)
    space = room_for(query, batch * kv_heads, cut, tokens * heads // kv_heads, d)
    decode_blocks(
        queries, *caches, out, tables, starts, lengths, *given, *space, d**-0.5 if scale is None else float(scale),
        window, cut.splits, cut.part, tokens, page, plan, stream_of(query, stream),
    )  # fmt: skip


def _scale(query: Array, scale: Any, cache: Array, by_token: bool) -> Any:
    """f32 with one element or, by token, (pages, kv heads, tokens)."""
    shape = (int(cache.shape[0]), int(cache.shape[1]), int(cache.shape[3])) if by_token else (1,)
    if scale is not None and len(getattr(scale, "shape", ())) > 0 and (by_token == (len(scale.shape) > 1)):
        return scale.reshape(shape)
    found = empty_beside(query, shape, "float32")
    found[...] = 1.0 if scale is None else scale
    return found


def _check(output: Array, query: Array, caches: tuple[Any, Any], batch: int) -> tuple[int, int]:
    """Return (tokens of a page, kv heads)."""
    if is_for_cuda(query):
        raise NotImplementedError("caches in blocks are for AMD; flydsl.ops.paged_attention has others for Hopper")
    keys, values = caches
    if len(keys.shape) != 5 or keys.shape[4] != GRAIN:
        raise ValueError(f"key_cache is (pages, kv heads, d / 16, tokens, 16), and its shape is {tuple(keys.shape)}")
    pages, kv_heads, grains, page, _ = (int(extent) for extent in keys.shape)
    heads, d = int(query.shape[1]), int(query.shape[2])
    shapes = ((pages, kv_heads, d, page), (pages, kv_heads, page // GRAIN, d, GRAIN))
    if d != grains * GRAIN or tuple(values.shape) not in shapes or page % GRAIN:
        raise ValueError(
            f"shapes do not fit: query {tuple(query.shape)}, key_cache {tuple(keys.shape)}, value_cache "
            f"{tuple(values.shape)}; pages have a multiple of {GRAIN} tokens"
        )
    if heads % kv_heads or (batch and query.shape[0] % batch):
        raise ValueError(
            f"{heads} query heads cannot share {kv_heads} key heads, or {query.shape[0]} rows {batch} sequences"
        )
    if int(query.shape[0]) // max(batch, 1) * heads // kv_heads > ROWS:
        raise ValueError(f"new tokens times heads that share keys are at most {ROWS}")
    if d % 32 or d > 256 or tuple(output.shape) != tuple(query.shape) or type_name(output) != type_name(query):
        raise ValueError(
            f"output must be as query, with heads of a multiple of 32 elements up to 256: {tuple(output.shape)} of "
            f"{type_name(output)}, {tuple(query.shape)} of {type_name(query)}"
        )
    return page, kv_heads
