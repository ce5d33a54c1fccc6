"""Attention of new tokens over a paged cache: `paged_attention` checks the tensors and chooses how keys are cut.

    out = paged_attention(q, k_cache, v_cache, block_tables, context_lens)

q is (batch, heads, d), or (batch, new tokens, heads, d); caches are (pages, tokens of a page, kv heads, d), with the
new tokens already in them. ``block_tables`` (batch, pages of a sequence at most) are int32, as are ``context_lens``.
Nothing is read back to the host: calls can be captured into graphs.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd, isfinite, prod
from operator import index
from typing import Any

from flydsl.kernels.attention.attention import result_of
from flydsl.kernels.attention.head_tiles import chunk_of
from flydsl.kernels.attention.hopper_decode import BOX, ROWS, box_of, decode
from flydsl.kernels.attention.hopper_forward import SHARED_BYTES, ForwardPlan
from flydsl.kernels.attention.latent_decode import latent_attention, latent_workspace, shares_elements
from flydsl.kernels.attention.parts import Cut, Sizes, parts_of, room_for, space_for, turns_of
from flydsl.kernels.attention.scores import Features, check_softcap, is_scaled_first
from flydsl.kernels.attention.warp_decode import warp_decode
from flydsl.kernels.attention.wave_decode import BLOCK as WAVE_BLOCK
from flydsl.kernels.attention.wave_decode import ROWS as WAVE_ROWS
from flydsl.kernels.attention.wave_decode import wave_decode
from flydsl.kernels.blocks.inputs import (
    Array,
    check_start,
    in_a_row,
    is_for_cuda,
    multiprocessors,
    on_given_stream,
    stream_of,
    strides,
    type_name,
    type_of,
)

CACHES = {
    False: ("float8_e4m3fn", "float8_e5m2"),
    True: ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"),
}
"""Types of caches that are converted on their way, on Hopper and by waves."""
MOST_KEYS = 1 << 30
"""That a window reaches back, so that sums with it fit 32 bits."""
LONG_HEAD, MANY_ROWS, SHORT = 128, 32, 512
"""Elements of a head that a warp has registers for, rows that two of them have side by side, and keys up to which
sequences are short."""
MARGIN = 4096
"""Bytes of shared memory that warps need beside their ring."""
LIMITS = {False: (ROWS, 256), True: (WAVE_ROWS, 576)}
"""Rows of a tile, and elements of a head, on Hopper and by waves."""


@on_given_stream
def paged_attention(
    q: Array, k_cache: Array, v_cache: Array, block_tables: Array, context_lens: Array, *, out: Array = None,
    scale: float | None = None, window: int | None = None, softcap: float = 0.0, sinks: Array = None,
    k_scale: float = 1.0, v_scale: float = 1.0, workspace: tuple[Any, Any, Any] | None = None, counters: Array = None,
    plan: ForwardPlan | None = None, stream: Any = None,
) -> Any:  # fmt: skip
    """softmax(scale * q k^T) v over each sequence's own keys; new token i of n sees all but the last n - 1 - i of them.

    ``window`` is how many keys before its own a token sees. Caches may be of 8 bits, keys and values times their scale.
    ``workspace`` is that of `paged_workspace`, for calls that must not allocate; calls that run at the same time
    need one each. ``counters``, of int32, are all that is given of one then: as many zeros as there are queries'
    heads, which are zeros again after the call.
    """
    by_waves = not is_for_cuda(q)
    check_window(window)
    left = 0 if window is None else min(index(window), MOST_KEYS)
    scale = q.shape[-1] ** -0.5 if scale is None else float(scale)
    _check_numbers(scale, softcap, k_scale, v_scale)
    if not by_waves and shares_elements(k_cache, v_cache):
        numbers = (scale, None if window is None else left, softcap, k_scale, v_scale)
        return latent_attention(
            q, k_cache, v_cache, block_tables, context_lens, out, sinks, numbers, workspace, counters, stream
        )
    tokens = 1 if len(q.shape) == 3 else int(q.shape[1])
    queries = q[:, None] if len(q.shape) == 3 else q
    dtype = _type_of(q, k_cache, v_cache, by_waves)
    _check(queries, k_cache, v_cache, block_tables, context_lens, sinks, LIMITS[by_waves])
    check_start("q", q)
    context_lens, sinks = map(in_a_row, (context_lens, sinks))
    if not by_waves:
        _check_boxes(k_cache, v_cache)
    by_warps = not by_waves and is_for_warps(q, k_cache, block_tables)
    out = result_of(q, int(v_cache.shape[3]), out)
    results = out[:, None] if len(q.shape) == 3 else out
    heads, kv_heads, d, dv = queries.shape[2], k_cache.shape[2], queries.shape[3], v_cache.shape[3]
    scale = scale * k_scale
    features = Features(window is not None, tokens > 1, softcap > 0, is_scaled_first(scale, softcap))
    plan = plan or _plan_of(dtype, q, k_cache, v_cache, block_tables, by_waves, by_warps)
    plan = replace(
        plan, dtype=dtype, d=d, dv=dv, consumers=1, ping_pong=False, features=features, group=heads // kv_heads,
        shared_rows=True,
    )  # fmt: skip
    if 0 in results.shape:
        return out
    sizes = sizes_of(q, k_cache, v_cache, plan)
    sequences = int(q.shape[0]) * kv_heads
    cut = (parts_of if by_waves else turns_of)(q, sequences, k_cache, block_tables, sizes)
    space = space_for(workspace, q, sequences, cut, tokens * heads // kv_heads, dv, counters)
    tensors = (queries, k_cache, v_cache, results, block_tables, context_lens, sinks, *space)
    numbers = (scale, float(v_scale), softcap, left, cut.splits, cut.part)
    if by_warps:
        short = k_cache.dtype.itemsize == 1 and d <= LONG_HEAD
        box = gcd(box_of(int(k_cache.shape[1]), plan.keys), plan.keys if short else BOX)
        warp_decode(*tensors, *numbers, cut.whole, tokens, cut.apart, box, plan, cut.cluster, stream_of(q, stream))
    elif by_waves:
        wave_decode(*tensors, *numbers, tokens, plan, stream_of(q, stream))
    else:
        box = gcd(box_of(int(k_cache.shape[1]), plan.keys), BOX)
        numbers = (*numbers, cut.whole, multiprocessors(q), tokens, cut.apart)
        decode(*tensors, *numbers, box, plan, cut.cluster, stream_of(q, stream))
    return out


def check_window(window: Any) -> None:
    """Refuse what is no number of keys: a token that is new sees none behind its own, so there is one side only."""
    if window is not None and (not hasattr(window, "__index__") or window < 0):
        raise ValueError(f"window is a number of keys before a token's own, or None for all, got {window}")


def _type_of(q: Array, k_cache: Array, v_cache: Array, by_waves: bool) -> Any:
    """Return the type of the products: that of queries. Caches may be of 8 bits where they are converted on their
    way."""
    if type_name(k_cache) in CACHES[by_waves]:
        if type_name(v_cache) != type_name(k_cache):
            raise ValueError(
                f"k_cache is {type_name(k_cache)} and v_cache {type_name(v_cache)}: give both the same type"
            )
        return type_of(q, q, q)
    return type_of(q, k_cache, v_cache)


def _plan_of(dtype: Any, q: Array, k: Array, v: Array, tables: Array, by_waves: bool, by_warps: bool) -> ForwardPlan:
    """Return what `choose_decode_plan` says of these arrays."""
    sequences = int(q.shape[0]) * int(k.shape[2])
    narrow, longest, waiting = type_name(k) in CACHES[by_waves], longest_of(k, tables), sequences / multiprocessors(q)
    plan = choose_decode_plan(dtype, q.shape[-1], v.shape[3], by_waves, by_warps, waiting, narrow, longest)
    if by_warps and not narrow:
        cut = turns_of(q, sequences, k, tables, sizes_of(q, k, v, plan))
        plan = lengthen_ring(plan, cut, sequences * max(cut.splits, cut.cluster) <= multiprocessors(q))
    return plan


def lengthen_ring(plan: ForwardPlan, cut: Cut, alone: bool) -> ForwardPlan:
    """Return a plan of warps with twice as many stages, where that has room for all that blocks of threads load, and
    these are no more than multiprocessors: then no two of them share one, while others have none. 112 sequences of 65
    keys, 8 rows each, took 3.7 us instead of 4.3 so, and 8 of 4096 in 16 parts 8.1 instead of 8.9; 80 of 900, which do
    not fit, would take 16.4 instead of 14.0, on an H200 on 2026-11-18."""
    stages = 2 * plan.stages
    fits = stages * plan.keys * (plan.d + plan.dv) * 2 + MARGIN <= SHARED_BYTES
    return replace(plan, stages=stages) if alone and fits and cut.part <= stages else plan


def choose_decode_plan(
    dtype: Any, d: int, dv: int, by_waves: bool, by_warps: bool, waiting: float, narrow: bool = False, longest: int = 0
) -> ForwardPlan:
    """Keys of a block, and stages of what is loaded ahead; ``waiting`` are sequences and kv heads for each
    multiprocessor, ``narrow`` caches of 8 bits, ``longest`` as of `longest_of`.

    Where many sequences wait, three small blocks of warps, for caches of 8 bits, share a multiprocessor: while one
    begins, the others load. Else a block loads much ahead. On an H200 on 2026-11-16, 64 heads that share 8 of 128: 128
    sequences of 1024 keys took 80.8 us with small blocks and 93.3 with large ones, 16 of 2048 keys 26.2 and 21.1, one
    of 4096 9.7 and 8.2. Lanes have no registers for more keys of heads of 256: 5 sequences of 8271 took 44.4 us in
    three stages of 64 keys and 50.0 of 128, in boxes of 16 tokens, and 71 in boxes of 64.

    Of caches of 16 bits two blocks with rings of 96 KB share a multiprocessor: 128 sequences of 1024 keys took
    128.5 us in three stages of 64 keys, 131.8 in two, 150.2 in six and 147.5 in three of 128; of heads of 64, 280
    sequences of 4306 keys took 78.6 us in stages of 128 and 89.8 of 64, and 720 of 68 12.9 and 9.6, on 2026-11-18.

    What a warpgroup multiplies has three stages where shared memory has room for them: 128 sequences of 1024 keys in
    pages of 64 took 134.0 us and 135.7 with two, where cuDNN took 128.7 without pages. Where sequences are no more than
    multiprocessors, blocks of 64 keys leave room for the next launch to begin in, and cut sequences evenly: 4
    sequences of 9000 keys with 64 rows of queries took 13.2 us instead of 15.8, 8 of 3000 with 32 10.7 instead of 15.0.
    """
    if by_warps and narrow and d > LONG_HEAD:
        return ForwardPlan(dtype, d, dv, 64, 3)
    if by_warps and narrow:
        return ForwardPlan(dtype, d, dv, 64, 4) if waiting >= 3 else ForwardPlan(dtype, d, dv, 128, 3)
    if by_warps:
        return ForwardPlan(dtype, d, dv, 128 if d + dv <= LONG_HEAD and longest > SHORT else 64, 3)
    keys = WAVE_BLOCK if by_waves else 64 if d > 192 or waiting <= 1 else 128
    three_fit = not by_waves and 2 * (ROWS * d + 3 * keys * (d + dv)) <= SHARED_BYTES
    return ForwardPlan(dtype, d, dv, keys, stages=3 if three_fit else 2)


def is_for_warps(q: Array, k_cache: Array, tables: Array) -> bool:
    """Return whether warps multiply, and not a warpgroup, on Hopper: of 8 bits, and where queries are a few rows.
    Blocks of threads are small then, so that several share a multiprocessor and begin at once: 12 sequences of 75
    keys, 4 heads of 128, took 4.6 us instead of 7.7, 720 of 68 keys of 64 9.6 instead of 21.5, 200 of 400 keys with 24
    rows 20.3 instead of 25.6, on an H200 on 2026-11-18. A warp has 16 rows, so that more are read from shared memory
    again, and long heads do not fit its registers: that costs more than it gains where sequences are long, too. 14 of
    4678 keys of 256 took 30.2 us instead of 26.8, and 23 of 74 6.2 instead of 11.7; 4 of 9000 keys of 128 with 64 rows
    33.6 instead of 25.8, and 8 of 100 with 32 5.7 instead of 6.6."""
    if type_name(k_cache) in CACHES[False] or longest_of(k_cache, tables) <= SHORT:
        return True
    rows = prod(q.shape[1:-1]) // int(k_cache.shape[2])
    return rows <= MANY_ROWS and q.shape[-1] <= LONG_HEAD


def longest_of(k_cache: Array, tables: Array) -> int:
    """Return how many keys a sequence has at most."""
    return int(tables.shape[1]) * int(k_cache.shape[1])


def paged_workspace(
    q: Array, k_cache: Array, v_cache: Array, block_tables: Array, plan: ForwardPlan | None = None
) -> tuple[Any, Any, Any]:
    """Return what calls with tensors of these shapes need beside their results, to have it once for all of them."""
    by_waves = not is_for_cuda(q)
    if not by_waves and shares_elements(k_cache, v_cache):
        return latent_workspace(q, k_cache, v_cache, block_tables)
    by_warps = not by_waves and is_for_warps(q, k_cache, block_tables)
    kind = _type_of(q, k_cache, v_cache, by_waves)
    plan = plan or _plan_of(kind, q, k_cache, v_cache, block_tables, by_waves, by_warps)
    kv_heads, dv = int(k_cache.shape[2]), int(v_cache.shape[3])
    sequences, rows = int(q.shape[0]) * kv_heads, prod(q.shape[1:-1]) // kv_heads
    sizes = sizes_of(q, k_cache, v_cache, plan)
    cut = (parts_of if by_waves else turns_of)(q, sequences, k_cache, block_tables, sizes)
    return room_for(q, sequences, cut, rows, dv)


def sizes_of(q: Array, k_cache: Array, v_cache: Array, plan: ForwardPlan) -> Sizes:
    """Return what cutting sequences into parts depends on."""
    rows, dv = prod(q.shape[1:-1]) // int(k_cache.shape[2]), int(v_cache.shape[3])
    return Sizes(plan.keys, (int(q.shape[-1]) + dv) * k_cache.dtype.itemsize, 4 * rows * dv)


@on_given_stream
def mla_decode(
    q: Array, kv_cache: Array, block_tables: Array, context_lens: Array, *, dv: int = 512, out: Array = None,
    scale: float | None = None, kv_scale: float = 1.0, stream: Any = None,
) -> Any:  # fmt: skip
    """Attention of new tokens over a latent cache, (pages, tokens, d), whose first ``dv`` elements are values too.

    q is (batch, heads, d), or (batch, new tokens, heads, d), with 576 elements for DeepSeek's models: 512 and 64 that
    are rotated. All heads share the cache. ``scale`` is that of the model's own heads, not 1/sqrt(d).
    """
    check_scale("kv_scale", kv_scale)
    k_cache, v_cache = latent_caches(kv_cache, dv)
    return paged_attention(
        q, k_cache, v_cache, block_tables, context_lens, out=out, scale=scale, k_scale=kv_scale, v_scale=kv_scale,
        stream=stream,
    )  # fmt: skip


def latent_caches(kv_cache: Array, dv: int) -> tuple[Any, Any]:
    """Return a latent cache as one of keys and one of values, each of one head."""
    if len(kv_cache.shape) != 3 or not 0 < dv <= kv_cache.shape[2]:
        raise ValueError(f"kv_cache is (pages, tokens, d) with d of {dv} at least, got {tuple(kv_cache.shape)}")
    k_cache = kv_cache[:, :, None]
    return k_cache, k_cache[..., :dv]


def _check_boxes(*caches: Array) -> None:
    """Refuse pages whose rows of shared memory begin where TMA cannot write: at no multiple of 128 bytes."""
    for cache in caches:
        page, d, size = int(cache.shape[1]), int(cache.shape[3]), cache.dtype.itemsize
        tokens = 128 // (chunk_of(d, 8 * size) * size)
        if page % tokens:
            raise ValueError(
                f"pages of {page} tokens do not do for heads of {d} elements of {8 * size} bits on Hopper: give pages "
                f"a multiple of {tokens} tokens"
            )


def _check_numbers(scale: float, softcap: float, k_scale: float, v_scale: float) -> None:
    for name, number in (("scale", scale), ("k_scale", k_scale), ("v_scale", v_scale)):
        check_scale(name, number)
    check_softcap(softcap)


def check_scale(name: str, number: Any) -> None:
    """Refuse what is no finite number for all of a cache."""
    if getattr(number, "shape", ()):
        raise ValueError(
            f"{name} is one number, and its shape is {tuple(number.shape)}; scales of tokens are for caches in blocks, "
            "with pa_decode_tile"
        )
    if not isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}")


def _check(q: Array, k: Array, v: Array, tables: Array, lengths: Array, sinks: Array, limits: tuple[int, int]) -> None:
    rows, longest = limits
    for name, tensor in (("k_cache", k), ("v_cache", v)):
        if len(tensor.shape) != 4:
            raise ValueError(f"{name} is (pages, tokens, kv heads, d), and its shape is {tuple(tensor.shape)}")
    if len(q.shape) != 4:
        raise ValueError("q is (batch, heads, d) or (batch, new tokens, heads, d)")
    batch, tokens, heads, d = q.shape
    if tuple(k.shape[:3]) != tuple(v.shape[:3]) or k.shape[3] != d:
        raise ValueError(f"shapes do not fit: q {tuple(q.shape)}, k_cache {tuple(k.shape)}, v_cache {tuple(v.shape)}")
    kv_heads = k.shape[2]
    if kv_heads == 0 or heads % kv_heads:
        raise ValueError(f"{heads} query heads cannot share {kv_heads} key heads: the one must divide the other")
    if tokens * heads // kv_heads > rows:
        raise ValueError(
            f"{tokens} new tokens of {heads // kv_heads} heads each that share keys are {tokens * heads // kv_heads} "
            f"rows; {rows} fit"
        )
    for name, extent in (("q and k_cache", d), ("v_cache", v.shape[3])):
        if extent % 32 or not 32 <= extent <= longest:
            raise ValueError(f"heads have a multiple of 32 elements up to {longest}, those of {name} have {extent}")
    for name, tensor in (("q", q), ("k_cache", k), ("v_cache", v)):
        *steps, last = strides(tensor)
        if max(steps, default=0) >= 1 << 31 or tensor.shape[1] * steps[1] >= 1 << 31:
            raise ValueError(
                f"{name} has the shape {tuple(tensor.shape)} and strides of {(*steps, last)} elements; they, and what "
                "tokens of a page span, must stay below 2^31"
            )
        most = 16 // tensor.dtype.itemsize
        if 0 not in tensor.shape and (last != 1 or any(step % most for step in steps)):
            raise ValueError(
                f"{name} must have contiguous heads, multiples of {most} elements apart, and its strides are "
                f"{(*steps, last)}"
            )
    for name, tensor, shape in (("block_tables", tables, (batch, "pages")), ("context_lens", lengths, (batch,))):
        if len(tensor.shape) != len(shape) or tensor.shape[0] != batch or not str(tensor.dtype).endswith("int32"):
            raise ValueError(f"{name} must be {shape} of int32, got {tuple(tensor.shape)} of {tensor.dtype}")
    if batch and 0 in (tables.shape[1], *k.shape[:2]):
        raise ValueError(
            f"there is no page to read: block_tables {tuple(tables.shape)}, k_cache {tuple(k.shape)}; give one at least"
        )
    if sinks is not None and tuple(sinks.shape) != (heads,):
        raise ValueError(f"sinks must be {(heads,)}, got {tuple(sinks.shape)}")
