"""FlyDSL's names for attention: builders over flattened (batch, tokens, heads, d) tensors, a function of plain ones.

Arguments that tune the original's kernels (waves, schedules, block sizes) are taken and have no effect: plans are
chosen by `attention`. Others that it does not know are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flydsl.kernels.attention.attention import attention
from flydsl.kernels.blocks.inputs import on_stream, refuse_unheard, written_as

DTYPES = {"f16": "float16", "bf16": "bfloat16"}
TUNING = frozenset({
    "waves_per_eu", "flat_work_group_size", "block_m", "block_n", "unsafe_fp_math", "fast_fp_math", "daz", "path_tag",
    "cross_seqlen", "cross_attn", "tail_mask", "num_kv_splits", "max_seqlen_kv", "kv_cache_layout", "debug_counts",
    "dualwave_swp_lazy_rescale", "dualwave_swp_setprio", "dualwave_swp_debug_lazy_counts",
    "dualwave_swp_enable_stagger",
})  # fmt: skip
"""What changes how the original computes, and not what."""


def build_flash_attn_func_module(
    num_heads: int, head_dim: int, causal: bool = True, dtype_str: str = "f16", sm_scale: float | None = None,
    *tuning: Any, num_kv_heads: int | None = None, cu_seqlens_q: Any = None, cu_seqlens_kv: Any = None,
    **more_tuning: Any,
) -> Callable[..., None]:  # fmt: skip
    """``fn(Q, K, V, O, batch, seq_len, stream=None)`` over flattened tensors; with starts, tokens of all sequences."""
    if dtype_str not in DTYPES:
        raise ValueError(f"dtype_str must be one of {', '.join(DTYPES)}, got {dtype_str!r}")
    refuse_unheard("build_flash_attn_func_module", more_tuning, TUNING)
    kv_heads = num_kv_heads or num_heads

    def run(Q: Any, K: Any, V: Any, O: Any, batch: int, seq_len: int, stream: Any = None) -> None:  # noqa: E741
        _check_type(Q, dtype_str)
        shapes = ((Q, num_heads), (K, kv_heads), (V, kv_heads))
        if cu_seqlens_q is None:
            q, k, v = (x.reshape(batch, -1, heads, head_dim).swapaxes(1, 2) for x, heads in shapes)
            if q.shape[2] != seq_len:
                raise ValueError(f"Q has {q.shape[2]} tokens for each of {batch} sequences, and seq_len is {seq_len}")
            out = written_as("O", O, batch, -1, num_heads, head_dim).swapaxes(1, 2)
            attention(q, k, v, out=out, is_causal=causal, scale=sm_scale, stream=stream)
            return
        q, k, v = (x.reshape(-1, heads, head_dim) for x, heads in shapes)
        out = written_as("O", O, -1, num_heads, head_dim)
        starts = {
            "cu_seqlens_q": cu_seqlens_q,
            "cu_seqlens_k": cu_seqlens_q if cu_seqlens_kv is None else cu_seqlens_kv,
        }
        attention(q, k, v, out=out, is_causal=causal, scale=sm_scale, stream=stream, max_seqlen_q=seq_len, **starts)

    return run


build_flash_attn_func_module_primary = build_flash_attn_func_module


def flydsl_flash_attn_func(
    q: Any, k: Any, v: Any, *, causal: bool = True, num_kv_heads: int | None = None, cu_seqlens_q: Any = None,
    cu_seqlens_kv: Any = None, max_seqlen_q: int | None = None, bias: Any = None, alibi_slopes: Any = None,
    sink: Any = None, out: Any = None, return_lse: bool = False, stream: Any = None,
    softmax_scale: float | None = None, **tuning: Any,
) -> Any:  # fmt: skip
    """Attention of (batch, tokens, heads, d), or of (tokens, heads, d) with starts of sequences; returns (out, lse)."""
    if tuning.get("block_table") is not None:
        raise NotImplementedError("block_table is not supported here; paged caches have flydsl.kernels.attention.paged")
    refuse_unheard("flydsl_flash_attn_func", tuning, TUNING)
    heads = k.shape[-2]
    if num_kv_heads not in (None, heads):
        raise ValueError(f"num_kv_heads is {num_kv_heads}, and k has {heads} heads")
    varied = cu_seqlens_q is not None
    tensors = [x if varied or x is None else x.swapaxes(1, 2) for x in (q, k, v, out)]
    found = attention(
        *tensors[:3], out=tensors[3], is_causal=causal, attn_mask=bias, alibi_slopes=alibi_slopes, sinks=sink,
        cu_seqlens_q=cu_seqlens_q, cu_seqlens_k=cu_seqlens_kv, max_seqlen_q=max_seqlen_q, return_lse=return_lse,
        scale=softmax_scale, stream=stream,
    )  # fmt: skip
    result, lse = found if return_lse else (found, None)
    result = result if varied else result.swapaxes(1, 2)
    return (result, lse) if return_lse else result


def build_gqa_attn(
    *, ATTN_B: int = 16, ATTN_H: int = 64, ATTN_H_KV: int = 8, ATTN_D: int = 128, waves_per_eu: int = 2,
    sliding_window: tuple[int, int] | None = None,
) -> Callable[..., None]:  # fmt: skip
    """``fn(Q, K, V, O, q_stride, k_stride, v_stride, o_stride, seq_q, seq_kv, stream=None)``; strides are of tokens.

    Query i sees keys i - left to i + right of ``sliding_window``, counted from the first key.
    """
    left, right = sliding_window or (None, None)

    def run(
        Q: Any, K: Any, V: Any, O: Any, q_stride: int, k_stride: int, v_stride: int, o_stride: int, seq_q: int,  # noqa: E741
        seq_kv: int, stream: Any = None,
    ) -> None:  # fmt: skip
        given = zip((Q, K, V, O), (seq_q, seq_kv, seq_kv, seq_q), (q_stride, k_stride, v_stride, o_stride),
                    (ATTN_H, ATTN_H_KV, ATTN_H_KV, ATTN_H), strict=True)  # fmt: skip
        tensors = []
        written_as("O", O, -1)
        for tensor, length, stride, heads in given:
            rows = tensor.reshape(-1)[: ATTN_B * length * stride].reshape(ATTN_B, length, stride)
            tensors.append(rows[..., : heads * ATTN_D].reshape(ATTN_B, length, heads, ATTN_D).swapaxes(1, 2))
        q, k, v, out = tensors
        # Keys that the last query does not see, and queries that do not see the last key, would be outside the window.
        keys = seq_kv if right is None else min(seq_kv, seq_q + right)
        queries = seq_q if left is None else min(seq_q, keys + left)
        with on_stream(out, stream):
            out[:, :, queries:] = 0
        q, k, v, out = q[:, :, :queries], k[:, :, :keys], v[:, :, :keys], out[:, :, :queries]
        # `attention` counts from the last key: the difference of lengths moves the window.
        shift = keys - queries
        window = (None if left is None else left + shift, None if right is None else right - shift)
        attention(q, k, v, out=out, window=window, stream=stream)

    return run


def _check_type(tensor: Any, dtype_str: str) -> None:
    found = str(tensor.dtype).removeprefix("torch.")
    if found != DTYPES[dtype_str]:
        raise ValueError(f"this module was built for {dtype_str}, and Q is {found}")
