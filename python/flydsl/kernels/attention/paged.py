"""Attention of new tokens over a paged cache: `paged_attention` checks the tensors and chooses how keys are cut.

    out = paged_attention(q, k_cache, v_cache, block_tables, context_lens)

q is (batch, heads, d), or (batch, new tokens, heads, d); caches are (pages, tokens of a page, kv heads, d), with the
new tokens already in them. ``block_tables`` (batch, pages of a sequence at most) are int32, as are ``context_lens``.
Nothing is read back to the host: calls can be captured into graphs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flydsl.kernels.attention.hopper_decode import ROWS, box_of, decode
from flydsl.kernels.attention.hopper_forward import ForwardPlan
from flydsl.kernels.attention.inputs import empty_beside, multiprocessors, stream_of, strides, type_of
from flydsl.kernels.attention.scores import Features

START = 2
"""What beginning a part costs, in blocks of keys; so does putting parts together."""


def paged_attention(
    q: Any, k_cache: Any, v_cache: Any, block_tables: Any, context_lens: Any, *, out: Any = None,
    scale: float | None = None, window: int | None = None, softcap: float = 0.0, sinks: Any = None,
    workspace: tuple[Any, Any, Any] | None = None, plan: ForwardPlan | None = None, stream: Any = None,
) -> Any:  # fmt: skip
    """softmax(scale * q k^T) v over each sequence's own keys; new token i of n sees all but the last n - 1 - i of them.

    ``window`` is how many keys before its own a token sees. ``workspace`` is that of `paged_workspace`, for calls that
    must not allocate; calls that run at the same time need one each.
    """
    tokens = 1 if len(q.shape) == 3 else int(q.shape[1])
    queries = q[:, None] if len(q.shape) == 3 else q
    dtype = type_of(q, k_cache, v_cache)
    _check(queries, k_cache, v_cache, block_tables, context_lens, sinks)
    out = empty_beside(q, (*q.shape[:-1], v_cache.shape[-1])) if out is None else out
    results = out[:, None] if len(q.shape) == 3 else out
    heads, kv_heads, d, dv = queries.shape[2], k_cache.shape[2], queries.shape[3], v_cache.shape[3]
    scale = d**-0.5 if scale is None else float(scale)
    features = Features(window is not None, tokens > 1, softcap > 0, softcap > 0 or scale <= 0)
    plan = plan or ForwardPlan(dtype, d, dv, 128 if d <= 192 else 64)
    plan = replace(
        plan,
        dtype=dtype,
        d=d,
        dv=dv,
        consumers=1,
        ping_pong=False,
        features=features,
        group=heads // kv_heads,
        shared_rows=True,
    )
    if 0 in results.shape:
        return out
    page = int(k_cache.shape[1])
    blocks = -(-max(int(block_tables.shape[1]) * page, 1) // plan.keys)
    part = choose_part(int(q.shape[0]) * kv_heads, blocks, multiprocessors(q))
    splits = -(-blocks // part)
    partial, logarithms, counters = workspace or paged_workspace(q, k_cache, v_cache, splits)
    decode(
        queries, k_cache, v_cache, results, block_tables, context_lens, sinks, partial, logarithms, counters, scale,
        softcap, window or 0, splits, part, multiprocessors(q), tokens, box_of(page, plan.keys), plan,
        stream_of(q, stream),
    )  # fmt: skip
    return out


def choose_part(sequences: int, blocks: int, multiprocessors: int) -> int:
    """Blocks of keys in a part: as many as end soonest, if parts go to multiprocessors in turns."""

    def end(part: int) -> float:
        splits = -(-blocks // part)
        return -(-sequences * splits // multiprocessors) * (part + START) + (START if splits > 1 else 0)

    return min(sorted({-(-blocks // splits) for splits in range(1, blocks + 1)}, reverse=True), key=end)


def paged_workspace(q: Any, k_cache: Any, v_cache: Any, splits: int) -> tuple[Any, Any, Any]:
    """Room for the results of parts and their logarithms, and counters, which are zero before and after a call."""
    sequences, tokens = int(q.shape[0]) * int(k_cache.shape[2]), 1 if len(q.shape) == 3 else int(q.shape[1])
    rows = tokens * int(q.shape[-2]) // int(k_cache.shape[2])
    counters = empty_beside(q, (sequences,), "int32")
    counters[...] = 0
    return (
        empty_beside(q, (sequences, splits, rows, int(v_cache.shape[3])), "float32"),
        empty_beside(q, (sequences, splits, rows), "float32"),
        counters,
    )


def _check(q: Any, k: Any, v: Any, tables: Any, lengths: Any, sinks: Any) -> None:
    for name, tensor in (("k_cache", k), ("v_cache", v)):
        if len(tensor.shape) != 4:
            raise ValueError(f"{name} is (pages, tokens, kv heads, d), and its shape is {tuple(tensor.shape)}")
    batch, tokens, heads, d = q.shape
    if tuple(k.shape[:3]) != tuple(v.shape[:3]) or k.shape[3] != d:
        raise ValueError(f"shapes do not fit: q {tuple(q.shape)}, k_cache {tuple(k.shape)}, v_cache {tuple(v.shape)}")
    kv_heads = k.shape[2]
    if kv_heads == 0 or heads % kv_heads:
        raise ValueError(f"{heads} query heads cannot share {kv_heads} key heads: the one must divide the other")
    if tokens * heads // kv_heads > ROWS:
        raise ValueError(
            f"{tokens} new tokens of {heads // kv_heads} heads each that share keys are {tokens * heads // kv_heads} "
            f"rows; {ROWS} fit"
        )
    for name, extent in (("q and k_cache", d), ("v_cache", v.shape[3])):
        if extent % 32 or not 32 <= extent <= 256:
            raise ValueError(f"heads have a multiple of 32 elements up to 256, those of {name} have {extent}")
    for name, tensor in (("q", q), ("k_cache", k), ("v_cache", v)):
        *steps, last = strides(tensor)
        if 0 not in tensor.shape and (last != 1 or any(step % 8 for step in steps)):
            raise ValueError(
                f"{name} must have contiguous heads, multiples of 8 elements apart, and its strides are "
                f"{(*steps, last)}"
            )
    for name, tensor, shape in (("block_tables", tables, (batch, "pages")), ("context_lens", lengths, (batch,))):
        if len(tensor.shape) != len(shape) or tensor.shape[0] != batch or not str(tensor.dtype).endswith("int32"):
            raise ValueError(f"{name} must be {shape} of int32, got {tuple(tensor.shape)} of {tensor.dtype}")
    if sinks is not None and tuple(sinks.shape) != (heads,):
        raise ValueError(f"sinks must be {(heads,)}, got {tuple(sinks.shape)}")
