"""`flydsl.ops.scaled_dot_product_attention`."""

from __future__ import annotations

from typing import Any

from flydsl.kernels.attention.attention import MAX_HEAD, attention
from flydsl.ops import arrays
from flydsl.ops.op import Arguments, Op, fall_back, numpy_only, same_kind


def _allocate(q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: float) -> Arguments:
    return (arrays.empty(q, (*q.shape[:-1], v.shape[-1])),)


def _launch(arguments: Arguments, results: Arguments) -> None:
    q, k, v, mask, causal, scale = arguments
    attention(q, k, v, out=results[0], attn_mask=mask, is_causal=causal, scale=scale, stream=arrays.stream_of(q))


ATTENTION = Op(
    "scaled_dot_product_attention", "Tensor q, Tensor k, Tensor v, Tensor? mask, bool causal, float scale",
    _allocate, _launch, tensors=4,
)  # fmt: skip


def why_not(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> str | None:  # fmt: skip
    """Why a call is left to torch, or None."""
    if not (arrays.is_array(query) or arrays.is_tensor(query)):
        raise TypeError(f"expected a tensor of torch or an array of NumPy, got {type(query).__name__}")
    if arrays.type_name(query) not in ("f16", "bf16"):
        return f"attention is for f16 and bf16, and the query is {query.dtype}"
    if dropout_p:
        return "dropout has no kernel"
    if not (len(query.shape) == len(key.shape) == len(value.shape) == 4):
        return "tensors are (batch, heads, tokens, d)"
    if not arrays.is_array(query) and any(t.requires_grad for t in (query, key, value)):
        return "its gradient has no kernel yet"
    if is_causal and attn_mask is not None:
        return "a mask and is_causal=True exclude each other"
    if is_causal and query.shape[2] != key.shape[2]:
        return "torch aligns a causal mask at the first key, the kernel at the last; they differ for these lengths"
    if query.shape[1] != key.shape[1] and not enable_gqa:
        return "heads differ without enable_gqa=True"
    if query.shape[-1] % 32 or value.shape[-1] % 32 or max(query.shape[-1], value.shape[-1]) > MAX_HEAD:
        return f"heads are multiples of 32 up to {MAX_HEAD} long, got {query.shape[-1]} and {value.shape[-1]}"
    return same_kind(query, key, value)


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """softmax(scale * q kᵀ + mask) v, as `torch.nn.functional.scaled_dot_product_attention`; for inference.

    Takes f16 and bf16, (batch, heads, tokens, d) with heads of 32 to 256, fewer heads of keys with ``enable_gqa``, and
    masks of booleans (True is seen) or of numbers that are added. Sums in f32; results are within 1e-3 (f16) and 8e-3
    (bf16) of the largest value of a head. A query that sees no key gets zeros.
    """
    given = (query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
    reason = why_not(*given)
    if reason is None:
        factor = query.shape[-1] ** -0.5 if scale is None else float(scale)
        return ATTENTION(query, key, value, attn_mask, is_causal, factor)
    if arrays.is_array(query):
        numpy_only("scaled_dot_product_attention", reason)
    function = arrays.met_torch().nn.functional.scaled_dot_product_attention
    return fall_back(
        "scaled_dot_product_attention", reason,
        lambda: function(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa),
    )  # fmt: skip
