"""`flydsl.ops.paged_attention` and `mla_decode`: new tokens over paged caches, for inference."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from flydsl.kernels.attention import paged
from flydsl.kernels.blocks.counters import counters_of
from flydsl.kernels.blocks.inputs import contiguous, on_host
from flydsl.ops import arrays
from flydsl.ops.attention_heads import in_heads, no_attention
from flydsl.ops.op import Arguments, Op, all_there, host_numbers, numpy_only, one_place, same_kind


def _allocate(q: Any, k_cache: Any, v_cache: Any, *rest: Any) -> Arguments:
    return (arrays.empty(q, (*q.shape[:-1], v_cache.shape[-1])),)


def _launch(arguments: Arguments, results: Arguments) -> None:
    q, k_cache, v_cache, tables, lengths, sinks, scale, window, softcap, k_scale, v_scale = arguments
    paged.paged_attention(
        in_heads(q), k_cache, v_cache, contiguous(tables), contiguous(lengths), out=results[0], scale=scale,
        window=None if window < 0 else window,
        softcap=softcap, sinks=sinks, k_scale=k_scale, v_scale=v_scale, stream=arrays.stream_of(q),
        counters=counters_of(q, prod(q.shape[:-1])),
    )  # fmt: skip


PAGED = Op(
    "paged_attention",
    "Tensor q, Tensor k_cache, Tensor v_cache, Tensor tables, Tensor lengths, Tensor? sinks, float scale, int window, "
    "float softcap, float k_scale, float v_scale",
    _allocate, _launch, tensors=6,
    check=lambda _, k_cache, __, tables, lengths, *___: _check_places(k_cache, on_host(tables), on_host(lengths)),
)  # fmt: skip


def _launch_latent(arguments: Arguments, results: Arguments) -> None:
    q, kv_cache, tables, lengths, dv, scale, kv_scale = arguments
    caches = paged.latent_caches(kv_cache, dv)
    _launch((q, *caches, tables, lengths, None, scale, -1, 0.0, kv_scale, kv_scale), results)


LATENT = Op(
    "mla_decode",
    "Tensor q, Tensor kv_cache, Tensor tables, Tensor lengths, int dv, float scale, float kv_scale",
    lambda q, kv_cache, tables, lengths, dv, *_: (arrays.empty(q, (*q.shape[:-1], dv)),), _launch_latent, tensors=4,
    check=lambda _, kv_cache, tables, lengths, dv, *__: _check_places(
        paged.latent_caches(kv_cache, dv)[0], on_host(tables), on_host(lengths)
    ),
)  # fmt: skip


def why_not(q: Any, *others: Any) -> str | None:
    """Return why a call is refused, or None: torch has nothing to leave it to."""
    one_place(q, *others)
    if arrays.type_name(q) not in ("f16", "bf16"):
        return f"attention is for f16 and bf16, and the query is {q.dtype}"
    return no_attention(q) or same_kind(q)


@PAGED.answers(
    "q", "k_cache", "v_cache", "block_tables", "context_lens", "sinks", "scale", "window", "softcap", "k_scale",
    "v_scale",
)  # fmt: skip
def paged_attention(
    q: Any, k_cache: Any, v_cache: Any, block_tables: Any, context_lens: Any, *, scale: float | None = None,
    window: int | None = None, softcap: float = 0.0, sinks: Any = None, k_scale: float = 1.0, v_scale: float = 1.0,
) -> Any:  # fmt: skip
    """Attention of new tokens over the keys of each sequence, in pages that a table names.

    q is (batch, heads, d) or (batch, new tokens, heads, d); caches are (pages, tokens, kv heads, d), of q's type or
    of 8 bits with their scales. Nothing is read back: calls can be captured into graphs.
    """
    if not arrays.is_followed():
        found = PAGED.lanes.again(
            q, k_cache, v_cache, block_tables, context_lens, sinks, scale, window, softcap, k_scale, v_scale
        )
        if found is not None:
            return found
    key = (scale, window, softcap, k_scale, v_scale)
    all_there(k_cache=k_cache, v_cache=v_cache, block_tables=block_tables, context_lens=context_lens)
    numpy_only("paged_attention", why_not(q, k_cache, v_cache, block_tables, context_lens, sinks))
    _check_places(k_cache, host_numbers(block_tables), host_numbers(context_lens))
    paged.check_window(window)
    numbers = (q.shape[-1] ** -0.5 if scale is None else float(scale), -1 if window is None else window)
    return PAGED(q, k_cache, v_cache, block_tables, context_lens, sinks, *numbers, softcap, k_scale, v_scale, key=key)


def _check_places(cache: Any, pages: Any, counts: Any) -> None:
    """Refuse pages that a cache does not have, and lengths that tables do not; None are not known, as those on a GPU,
    which are not read for it."""
    if pages is None or counts is None or len(cache.shape) != 4 or pages.ndim != 2 or len(pages) != counts.size:
        return
    tokens = cache.shape[1]
    most = pages.shape[1] * tokens
    if counts.size and not (counts.min() >= 0 and counts.max() <= most):
        raise IndexError(f"context_lens are 0 to {most}, the tokens of a table's pages; got {counts.min()} to "
                         f"{counts.max()}")  # fmt: skip
    used = pages[np.arange(pages.shape[1]) * tokens < counts.reshape(-1, 1)]
    wrong = used[(used < 0) | (used >= len(cache))]
    if wrong.size:
        raise IndexError(f"page {wrong[0]} is out of bounds: the cache has {len(cache)}")


@LATENT.answers("q", "kv_cache", "block_tables", "context_lens", "dv", "scale", "kv_scale")
def mla_decode(
    q: Any, kv_cache: Any, block_tables: Any, context_lens: Any, *, dv: int = 512, scale: float | None = None,
    kv_scale: float = 1.0,
) -> Any:  # fmt: skip
    """Attention over a latent cache (pages, tokens, d), whose first ``dv`` elements are values too."""
    if not arrays.is_followed():
        found = LATENT.lanes.again(q, kv_cache, block_tables, context_lens, dv, scale, kv_scale)
        if found is not None:
            return found
    all_there(kv_cache=kv_cache, block_tables=block_tables, context_lens=context_lens)
    numpy_only("mla_decode", why_not(q, kv_cache, block_tables, context_lens))
    cache, _ = paged.latent_caches(kv_cache, dv)
    _check_places(cache, host_numbers(block_tables), host_numbers(context_lens))
    paged.check_scale("kv_scale", kv_scale)
    factor = q.shape[-1] ** -0.5 if scale is None else float(scale)
    return LATENT(q, kv_cache, block_tables, context_lens, dv, factor, float(kv_scale), key=(dv, scale, kv_scale))
