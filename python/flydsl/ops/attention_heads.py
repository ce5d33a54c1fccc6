"""`flydsl.ops.attention`, and `scaled_dot_product_attention` as torch has it."""

from __future__ import annotations

from typing import Any

from flydsl.kernels.attention import backward
from flydsl.kernels.attention.attention import MAX_HEAD, MAX_STEP
from flydsl.kernels.attention.attention import attention as run_attention
from flydsl.kernels.blocks.inputs import Array, in_a_row, strides
from flydsl.ops import arrays
from flydsl.ops.op import Arguments, Constant, Op, Ordered, all_there, fall_back, numpy_only, one_place, same_kind

WITHOUT_ATTENTION = ("gfx1100", "gfx1151", "gfx1250")
"""Targets whose matrix instructions `kernels/attention/waves.py` has none of."""
_NUMBERS = (
    "bool causal, float scale, SymInt left, SymInt right, float softcap, SymInt most_q, SymInt most_k, "
    "bool deterministic"
)
"""What is asked for, as torch's schemas have it; -1 where nothing is."""


def _asked(numbers: Arguments) -> dict[str, Any]:
    """Return the numbers of the schema as arguments of the kernels' functions."""
    causal, scale, *limits, softcap, most_q, most_k, _ = numbers
    left, right, most_q, most_k = (None if number < 0 else number for number in (*limits, most_q, most_k))
    longest = {"max_seqlen_q": most_q, "max_seqlen_k": most_k}
    return {"is_causal": causal, "scale": scale, "window": (left, right), "softcap": softcap, **longest}


def _allocate(q: Array, k: Array, v: Array, *rest: Any) -> Arguments:
    rows = (q.shape[1], q.shape[0]) if len(q.shape) == 3 else tuple(q.shape[:3])
    return *_allocate_result(q, k, v), arrays.empty(q, rows, "f32")


def _allocate_result(q: Array, k: Array, v: Array, *rest: Any) -> Arguments:
    """Return the result without the logarithms, which gradients need."""
    return (arrays.empty(q, (*q.shape[:-1], v.shape[-1])),)


def _launch(arguments: Arguments, results: Arguments) -> None:
    (q, k, v, mask, slopes, sinks, starts, key_starts), numbers = arguments[:8], arguments[8:]
    out, lse = (*results, None)[:2]
    run_attention(
        *map(in_heads, (q, k, v)), out=out, lse=lse, attn_mask=mask, alibi_slopes=in_a_row(slopes),
        sinks=in_a_row(sinks), cu_seqlens_q=in_a_row(starts), cu_seqlens_k=in_a_row(key_starts),
        stream=arrays.stream_of(q), **_asked(numbers),
    )  # fmt: skip


def in_heads(x: Array) -> Array:
    """Return a tensor with contiguous heads that lie at multiples of 16 bytes, forward and not too far apart: itself,
    or a copy."""
    *steps, last = strides(x)
    apart = all(step >= 0 and step * x.dtype.itemsize % arrays.ALIGNMENT == 0 for step in steps)
    return x if last == 1 and apart and steps[-1] < MAX_STEP and arrays.begins_well(x) else arrays.copied(x)


def _allocate_gradients(dout: Array, q: Array, k: Array, v: Array, *rest: Any) -> Arguments:
    return tuple(arrays.empty(x, tuple(x.shape)) for x in (q, k, v))


def _launch_gradients(arguments: Arguments, results: Arguments) -> None:
    (dout, q, k, v, out, lse, mask, slopes, starts, key_starts), numbers = arguments[:10], arguments[10:]
    dout, q, k, v = map(in_heads, (dout, q, k, v))
    backward.attention_backward(
        dout, q, k, v, out, lse, attn_mask=mask, alibi_slopes=in_a_row(slopes),
        cu_seqlens_q=in_a_row(starts), cu_seqlens_k=in_a_row(key_starts),
        deterministic=numbers[-1], grads=results, stream=arrays.stream_of(q), **_asked(numbers),
    )  # fmt: skip


BACKWARD = Op(
    "attention_backward",
    "Tensor dout, Tensor q, Tensor k, Tensor v, Tensor out, Tensor lse, Tensor? mask, Tensor? slopes, "
    f"Tensor? starts, Tensor? key_starts, {_NUMBERS}",
    _allocate_gradients, _launch_gradients, outputs=3, results=3, tensors=10,
)  # fmt: skip
ATTENTION = Op(
    "attention",
    "Tensor q, Tensor k, Tensor v, Tensor? mask, Tensor? slopes, Tensor? sinks, Tensor? starts, Tensor? key_starts, "
    f"{_NUMBERS}",
    _allocate, _launch, results=2, tensors=8, gradient=BACKWARD, spread=(0, 1, 2), strided=True,
    bare=_allocate_result,
    saved=lambda a, results: ((*a[:3], *results, *a[3:5], *a[6:8]), a[8:]),
)  # fmt: skip


def no_attention(query: Array) -> str | None:
    """Return why the target of a tensor has no kernels of attention, or None; not known where torch traces."""
    arch = "" if arrays.is_traced() else arrays.arch_of(query)
    return f"attention has no kernel for {arch}" if arch in WITHOUT_ATTENTION else None


def _why_not(query: Array, key: Array, value: Array, *others: Any) -> str | None:
    """Return why the kernels do not take tensors, or None; ``others`` are tensors of which there is no gradient."""
    all_there(key=key, value=value)
    one_place(query, key, value, *others)
    if not (query.shape and key.shape and value.shape):
        return "tensors are (batch, heads, tokens, d)"
    if arrays.type_name(query) not in ("f16", "bf16"):
        return f"attention is for f16 and bf16, and the query is {query.dtype}"
    if (reason := no_attention(query)) is not None:
        return reason
    if any(length % 32 or not 0 < length <= MAX_HEAD for length in (query.shape[-1], value.shape[-1])):
        return f"heads are multiples of 32 up to {MAX_HEAD} long, got {query.shape[-1]} and {value.shape[-1]}"
    if arrays.wants_gradient(*others):
        return "gradients are those of queries, keys and values alone"
    return same_kind(query, key, value)


# As torch has it -------------------------------------------------------------------------------------


def why_not(
    query: Array, key: Array, value: Array, attn_mask: Array = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> str | None:  # fmt: skip
    """Return why a call is left to torch, or None."""
    reason = _why_not(query, key, value, attn_mask)
    if reason is not None:
        return reason
    if dropout_p:
        return "dropout has no kernel"
    if not (len(query.shape) == len(key.shape) == len(value.shape) == 4):
        return "tensors are (batch, heads, tokens, d)"
    if not arrays.is_array(query) and not _fits(query, key, value):
        return "shapes differ, which torch broadcasts or refuses"
    if attn_mask is not None and "int" in str(attn_mask.dtype):
        return f"a mask has booleans or numbers that are added, got {attn_mask.dtype}"
    if is_causal and attn_mask is not None:
        return "a mask and is_causal=True exclude each other"
    if is_causal and query.shape[2] != key.shape[2]:
        return "torch aligns a causal mask at the first key, the kernel at the last; they differ for these lengths"
    if query.shape[1] != key.shape[1] and not enable_gqa:
        return "heads differ without enable_gqa=True"
    return None


def _fits(query: Array, key: Array, value: Array) -> bool:
    """Return whether shapes go together without being broadcast, and there are heads."""
    same = key.shape[:3] == value.shape[:3] and query.shape[3] == key.shape[3]
    return same and query.shape[0] == key.shape[0] and query.shape[1] > 0 and key.shape[1] > 0


@ATTENTION.answers(
    "query", "key", "value", "attn_mask", *[Constant(None)] * 4, "dropout_p", "is_causal", "scale", "enable_gqa",
    Ordered(),
)  # fmt: skip
def scaled_dot_product_attention(
    query: Array, key: Array, value: Array, attn_mask: Array = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """softmax(scale * q kᵀ + mask) v, as `torch.nn.functional.scaled_dot_product_attention`.

    Takes f16 and bf16, (batch, heads, tokens, d) with heads of 32 to 256, fewer heads of keys with
    ``enable_gqa``, and masks of booleans (True is seen) or of numbers that are added. Sums in f32; results
    are within 1e-3 (f16) and 8e-3 (bf16) of the largest value of a head. A query that sees no key gets zeros.
    """
    ordered = False
    if not arrays.is_followed():
        ordered = arrays.is_ordered()
        found = ATTENTION.lanes.again(
            query, key, value, attn_mask, None, None, None, None, dropout_p, is_causal, scale, enable_gqa, ordered
        )
        if found is not None:
            return found
    reason = why_not(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
    if reason is None:
        numbers = _numbers(query, is_causal, scale, (None, None), 0.0, None, None, None)
        known = (dropout_p, is_causal, scale, enable_gqa, ordered)
        return ATTENTION(query, key, value, attn_mask, None, None, None, None, *numbers, key=known)
    if arrays.is_array(query):
        numpy_only("scaled_dot_product_attention", reason)
    function = arrays.met_torch().nn.functional.scaled_dot_product_attention
    return fall_back(
        "scaled_dot_product_attention", reason,
        lambda: function(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa),
    )  # fmt: skip


def _numbers(
    query: Array, causal: bool, scale: float | None, window: tuple[int | None, int | None], softcap: float,
    most_q: int | None, most_k: int | None, deterministic: bool | None,
) -> Arguments:  # fmt: skip
    """Return the numbers of the schema."""
    factor = query.shape[-1] ** -0.5 if scale is None else float(scale)
    sides = (-1 if side is None else side for side in window)
    return (
        causal,
        factor,
        *sides,
        softcap,
        *(-1 if n is None else n for n in (most_q, most_k)),
        _ordered(deterministic),
    )


# With all features -----------------------------------------------------------------------------------


@ATTENTION.answers(
    "q", "k", "v", "attn_mask", "alibi_slopes", "sinks", "cu_seqlens_q", "cu_seqlens_k", "is_causal", "scale", "window",
    "softcap", "max_seqlen_q", "max_seqlen_k", Ordered("deterministic"),
)  # fmt: skip
def attention(
    q: Array, k: Array, v: Array, *, attn_mask: Array = None, is_causal: bool = False, scale: float | None = None,
    window: tuple[int | None, int | None] = (None, None), softcap: float = 0.0, alibi_slopes: Array = None,
    sinks: Array = None, cu_seqlens_q: Array = None, cu_seqlens_k: Array = None, max_seqlen_q: int | None = None,
    max_seqlen_k: int | None = None, deterministic: bool | None = None,
) -> Any:  # fmt: skip
    """Attention with every feature of `flydsl.kernels.attention.attention.attention`, and gradients of q, k and v.

    ``deterministic`` gradients have the same bits each time; None follows torch's
    ``use_deterministic_algorithms``. What has no kernel is refused. ``max_seqlen_q`` and ``max_seqlen_k`` promise that
    no sequence is longer: rows behind have no results, and no gradients. Starts on the host are looked at for it.
    """
    ordered = deterministic
    if not arrays.is_followed():
        ordered = arrays.is_ordered() if deterministic is None else deterministic
        found = ATTENTION.lanes.again(
            q, k, v, attn_mask, alibi_slopes, sinks, cu_seqlens_q, cu_seqlens_k, is_causal, scale, window, softcap,
            max_seqlen_q, max_seqlen_k, ordered,
        )  # fmt: skip
        if found is not None:
            return found
    numpy_only("attention", _why_not(q, k, v, attn_mask, alibi_slopes, sinks))  # torch has nothing to leave it to
    if not isinstance(window, tuple | list) or len(window) != 2 or any(n is not None and n < 0 for n in window):
        raise ValueError(f"window is (left, right), each None or not negative, got {window}")
    one_place(q, cu_seqlens_q, cu_seqlens_k)
    numbers = _numbers(q, is_causal, scale, window, softcap, max_seqlen_q, max_seqlen_k, deterministic)
    given = (q, k, v, attn_mask, alibi_slopes, sinks, cu_seqlens_q, cu_seqlens_k)
    known = (is_causal, scale, window, softcap, max_seqlen_q, max_seqlen_k, ordered)  # more than the other function has
    return ATTENTION(*given, *numbers, key=known)


def _ordered(deterministic: bool | None) -> bool:
    """Return whether sums have an order: without a word on it, where torch is there and asked for one."""
    return arrays.asked_for_order() if deterministic is None else deterministic
